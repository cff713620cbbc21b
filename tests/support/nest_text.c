#include "tests/support/nest_text.h"

#include "base/arena.h"
#include "model/nest/network_graph.h"
#include "spec/reader.h"
#include "spec/sheet.h"
#include "tests/support/complaints.h"

#include <stdlib.h>
#include <string.h>

static void add_level(struct arena *arena, struct arch *arch, char *word)
{
	struct level *level = &arch->levels[arch->level_count];
	int64_t outside = arch->level_count ? level[-1].instances : 1;
	bool container = *word == '(';
	char *fanout = strchr(word, ':');
	word += container;
	word[strcspn(word, ":)")] = '\0';
	*level = (struct level){.name = arena_text(arena, word),
		.device = container ? NULL : "SRAM",
		.fanout = {.x = 1, .y = 1}};
	level_set_kind(level, container ? LEVEL_CONTAINER : LEVEL_STORAGE);
	if (fanout) {
		char *rest;
		level->fanout.x = strtoll(fanout + 1, &rest, 10);
		level->fanout.y = *rest == 'x' ? strtoll(rest + 1, NULL, 10) : 1;
	}
	level->instances = outside * level->fanout.x * level->fanout.y;
	arch->level_count++;
}

const struct arch *level_path(struct arena *arena, const char *levels, bool tree)
{
	struct arch *arch = arena_new(arena, struct arch);
	char *words = arena_text(arena, levels), *rest = NULL;
	*arch = (struct arch){.name = "path",
		.clock_hz = {1000000000, 1},
		.tree = tree,
		.hbm = -1,
		.core = -1,
		.lx = -1};
	for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		add_level(arena, arch, word);
	arch->compute = arch->vector = arch->level_count - 1;
	level_set_kind(&arch->levels[arch->compute], LEVEL_COMPUTE);
	arch->levels[arch->compute].device = "intmac";
	return arch;
}

static const struct node *open_text(struct arena *arena, struct diag *diag, const char *yaml,
	const char *key, struct reading *reading)
{
	struct sheet *sheet = sheet_open(arena, diag);
	const struct node *root = node_read_text(arena, "p.yaml", yaml, strlen(yaml), diag);
	if (root)
		sheet_add(sheet, root);
	*reading = sheet_reading(sheet);
	return sheet_find(sheet, key);
}

const struct shape *problem_of_text(struct arena *arena, const char *yaml, const char **complaints)
{
	struct diag *diag = diag_open(arena);
	struct reading reading;
	const struct node *node = open_text(arena, diag, yaml, "problem", &reading);
	const struct shape *shape = node ? shape_read(&reading, node) : NULL;
	unread_note(arena, reading.unread, diag);
	if (complaints)
		*complaints = complaints_text(arena, diag);
	return shape;
}

const struct network *network_of_text(
	struct arena *arena, const char *yaml, const char **complaints)
{
	struct diag *diag = diag_open(arena);
	struct reading reading;
	const struct node *node = open_text(arena, diag, yaml, "network", &reading);
	const struct network *network = node ? network_read(&reading, node) : NULL;
	*complaints = complaints_text(arena, diag);
	return network;
}

const char *network_graph_of_text(struct arena *arena, const char *yaml, const char **complaints)
{
	struct diag *diag = diag_open(arena);
	struct reading reading;
	const struct node *node = open_text(arena, diag, yaml, "network", &reading);
	const struct network *network = node ? network_read(&reading, node) : NULL;
	const char *text = network ? network_graph(&reading, network) : NULL;
	*complaints = complaints_text(arena, diag);
	return text;
}

bool nest_mapping_of_text(struct arena *arena, const struct arch *arch, const struct shape *shape,
	const char *yaml, struct mapping *out, const char **complaints)
{
	struct diag *diag = diag_open(arena);
	struct reading reading;
	const struct node *node = open_text(arena, diag, yaml, "mapping", &reading);
	bool good = node && nest_mapping_read(&reading, node, arch, shape, out);
	if (complaints)
		*complaints = complaints_text(arena, diag);
	return good;
}
