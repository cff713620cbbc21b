#include "base/arena.h"
#include "base/text.h"
#include "model/nest/directive.h"
#include "model/nest/domain.h"
#include "model/nest/nest_mapping.h"
#include "spec/reader.h"

#include <stdlib.h>
#include <string.h>

/* What the older form can aim at: storages, and the stand-ins that its front end adds. */
static bool is_parent(const struct level *level)
{
	return level->kind == LEVEL_STORAGE || (level->device && level->device[0]);
}

/* The block below a level of the older form; a container with a fan-out stands for its own. */
static int block_below(const struct arch *arch, int r)
{
	if (!is_parent(&arch->levels[r]))
		return domain_fanout(arch, r) > 1 ? r : -1;
	for (int i = r + 1; i < arch->level_count; i++) {
		if (domain_fanout(arch, i) > 1)
			return i;
		if (is_parent(&arch->levels[i]))
			return -1;
	}
	return -1;
}

const char *nest_target_name(const struct arch *arch, int block_row)
{
	if (arch->tree)
		for (int r = block_row - 1; r >= 0; r--)
			if (block_below(arch, r) == block_row)
				return arch->levels[r].name;
	return arch->levels[block_row].name;
}

/* NAME of inter_NAME_spatial, or NULL. */
static const char *alias_of(struct arena *arena, const char *name)
{
	static const char before[] = "inter_", after[] = "_spatial";
	size_t length = strlen(name), extra = sizeof before + sizeof after - 2;
	if (length <= extra || strncmp(name, before, sizeof before - 1) ||
		!text_equal(name + length - (sizeof after - 1), after))
		return NULL;
	return arena_format(arena, "%.*s", (int)(length - extra), name + sizeof before - 1);
}

static void aim_at_row(const struct arch *arch, int row, struct nest_target *out)
{
	out->row = row;
	out->name = arch->levels[row].name;
	out->block_row = arch->tree                     ? block_below(arch, row)
			 : domain_fanout(arch, row) > 1 ? row
							: -1;
}

/* Timeloop's level number `left` from the innermost storage outwards; its front end gives what fans
 * out in v0.4 a level around it. */
static bool aim_at_number(
	struct arena *arena, const struct arch *arch, int64_t left, struct nest_target *out)
{
	for (int r = arch->level_count - 1; r >= 0; r--) {
		const struct level *level = &arch->levels[r];
		if (domain_iterates(arch, r) && left-- == 0) {
			aim_at_row(arch, r, out);
			return true;
		}
		if (!arch->tree && domain_fanout(arch, r) > 1 && left-- == 0) {
			*out = (struct nest_target){level->kind == LEVEL_CONTAINER ? r : -1, r,
				arena_format(arena, "inter_%s_spatial", level->name)};
			return true;
		}
	}
	return false;
}

static bool is_number(const char *text)
{
	return *text && !text[strspn(text, "0123456789")] && strlen(text) < 10;
}

bool nest_target_read(const struct reading *reading, const struct node *node,
	const struct arch *arch, struct nest_target *out)
{
	const char *name;
	*out = (struct nest_target){.row = -1, .block_row = -1};
	if (!node_text(reading, node, "a target", &name))
		return false;
	int row = arch_level(arch, name);
	if (row >= 0) {
		aim_at_row(arch, row, out);
		return true;
	}
	if (is_number(name)) {
		if (aim_at_number(reading->arena, arch, atoi(name), out))
			return true;
		return reading_refuse(reading, node,
			"there is no level %s; levels are counted from the innermost storage, 0",
			name);
	}
	out->name = name;
	const char *inner = alias_of(reading->arena, name);
	int r = inner ? arch_level(arch, inner) : -1;
	if (r >= 0) {
		out->block_row = domain_fanout(arch, r) > 1 ? r : -1;
		return true;
	}
	const char *known[ARCH_LEVELS_MOST + 1] = {0};
	for (int i = 0; i < arch->level_count; i++)
		known[i] = arch->levels[i].name;
	return directive_refuse(reading, node->span, "level", name, known);
}
