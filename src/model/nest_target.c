#include "base/arena.h"
#include "base/text.h"
#include "model/directive.h"
#include "model/nest_mapping.h"
#include "spec/reader.h"

#include <string.h>

static bool fans_out(const struct level *level)
{
	return level->fanout_x > 1 || level->fanout_y > 1;
}

/* What the older form can aim at: storages, and the stand-ins that its front end adds. */
static bool is_parent(const struct level *level)
{
	return level->kind == LEVEL_STORAGE || (level->device && level->device[0]);
}

/* The block below a level of the older form; a container with a fan-out stands for its own. */
static int block_below(const struct arch *arch, int r)
{
	if (!is_parent(&arch->levels[r]))
		return fans_out(&arch->levels[r]) ? r : -1;
	for (int i = r + 1; i < arch->level_count; i++) {
		if (fans_out(&arch->levels[i]))
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

bool nest_target_read(const struct reading *reading, const struct node *node,
	const struct arch *arch, struct nest_target *out)
{
	const char *name;
	if (!node_text(reading, node, "a target", &name))
		return false;
	out->name = name;
	out->row = arch_level(arch, name);
	if (out->row >= 0) {
		out->block_row = arch->tree                          ? block_below(arch, out->row)
				 : fans_out(&arch->levels[out->row]) ? out->row
								     : -1;
		return true;
	}
	const char *inner = alias_of(reading->arena, name);
	int r = inner ? arch_level(arch, inner) : -1;
	if (r >= 0) {
		out->block_row = fans_out(&arch->levels[r]) ? r : -1;
		return true;
	}
	const char *known[ARCH_LEVELS_MOST + 1] = {0};
	for (int i = 0; i < arch->level_count; i++)
		known[i] = arch->levels[i].name;
	return directive_refuse(reading, node->span, "level", name, known);
}
