#include "model/arch_read.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"
#include "model/arch_attributes.h"

#include <string.h>
#include <strings.h>

/* One node of the list while it is read. */
struct entry {
	struct reader node, attributes;
	bool has_attributes;
};

struct draft {
	const struct reading *reading;
	struct arch *arch;
	struct entry entries[ARCH_LEVELS_MOST];
	struct array(struct source_note) notes;
};

#define WRONG(draft, span, ...) diag_error((draft)->reading->diag, span, __VA_ARGS__)

static bool contains(const char *word, const char *const *parts)
{
	for (int i = 0; parts[i]; i++) {
		if (strcasestr(word, parts[i]))
			return true;
	}
	return false;
}

/* Whether a class stores or computes shows in its name, as in Accelergy's libraries. */
static void read_class(struct draft *draft, struct reader *node, struct level *level)
{
	static const char *const storages[] = {"dram", "hbm", "sram", "reg", "storage", "buffer",
		"memory", "spad", "scratchpad", "cache", NULL};
	static const char *const computes[] = {
		"mac", "compute", "array", "alu", "adder", "multiplier", NULL};
	if (!read_text(node, "class", REQUIRED, &level->device))
		return;
	if (contains(level->device, storages))
		level->kind = LEVEL_STORAGE;
	else if (contains(level->device, computes))
		level->kind = LEVEL_COMPUTE;
	else
		WRONG(draft, node_find(node->map, "class")->span,
			"class '%s' shows neither storage (DRAM, SRAM, regfile, ...) nor compute "
			"(mac, array, ...)",
			level->device);
}

static void read_name(struct draft *draft, struct reader *node, struct level *level)
{
	if (!read_text(node, "name", REQUIRED, &level->name))
		return;
	struct span span = node_find(node->map, "name")->span;
	if (strpbrk(level->name, " \t\n:|,;") || text_equal(level->name, "keep") ||
		text_equal(level->name, "nowhere"))
		WRONG(draft, span,
			"'%s' cannot name a level: mappings use blanks, ':', '|', ',', ';' and the "
			"words 'keep' and 'nowhere' themselves",
			level->name);
	int other = arch_level(draft->arch, level->name);
	if (draft->arch->levels + other == level || other < 0)
		return;
	WRONG(draft, span, "level '%s' is named twice", level->name);
	diag_note(draft->reading->diag, draft->arch->levels[other].span, "first named here");
}

static void read_fanout(struct reader *node, const struct reading *reading, struct level *level)
{
	const struct node *spatial = read_map(node, "spatial", OPTIONAL);
	struct reader mesh;
	level->fanout_x = level->fanout_y = 1;
	if (!spatial || !reader_open(&mesh, reading, spatial, node->what))
		return;
	mesh.what = node->what;
	read_integer(&mesh, "meshX", OPTIONAL, 1, INT32_MAX, &level->fanout_x);
	read_integer(&mesh, "meshY", OPTIONAL, 1, INT32_MAX, &level->fanout_y);
	reader_done(&mesh);
}

static bool read_tag(struct draft *draft, const struct node *node, struct level *level)
{
	static const char *const known[] = {
		"!Container", "!Component", "!Parallel", "!Pipelined", "!Nothing", NULL};
	const char *tag = node->tag ? node->tag : "";
	if (text_equal(tag, known[0]) || text_equal(tag, known[1])) {
		level->kind = text_equal(tag, known[0]) ? LEVEL_CONTAINER : LEVEL_STORAGE;
		return true;
	}
	const char *near = suggest(tag, known);
	if (near && text_equal(near, tag))
		WRONG(draft, node->span,
			"%s is not read yet: the levels of an architecture are one path", tag);
	else if (near)
		WRONG(draft, node->span, "unknown tag '%s'; did you mean '%s'?", tag, near);
	else
		WRONG(draft, node->span, "a node of an architecture is !Container or !Component");
	return false;
}

/* Everything of a node but what its attributes mean. */
static bool open_node(struct draft *draft, const struct node *item, int r)
{
	struct entry *entry = &draft->entries[r];
	struct level *level = &draft->arch->levels[r];
	*level = (struct level){
		.name = "", .alignment = 1, .word_bits = 16, .block_words = 1, .span = item->span};
	if (!read_tag(draft, item, level) ||
		!reader_open(&entry->node, draft->reading, item, "level"))
		return false;
	draft->arch->level_count = r + 1;
	read_name(draft, &entry->node, level);
	if (level->kind != LEVEL_CONTAINER)
		read_class(draft, &entry->node, level);
	read_fanout(&entry->node, draft->reading, level);
	const struct node *attributes = read_map(&entry->node, "attributes", OPTIONAL);
	entry->has_attributes =
		attributes && reader_open(&entry->attributes, draft->reading, attributes, "level");
	entry->attributes.what = entry->node.what;
	return true;
}

static bool open_nodes(struct draft *draft, const struct node *list)
{
	bool good = true;
	if (list->count == 0 || list->count > ARCH_LEVELS_MOST) {
		WRONG(draft, list->span, "an architecture has 1 to %d levels, not %zu",
			ARCH_LEVELS_MOST, list->count);
		return false;
	}
	for (size_t i = 0; i < list->count; i++)
		good &= open_node(draft, list->items[i], (int)i);
	return good;
}

/* Overheads, rings and limits are said of the machine as a whole, in one of its containers. */
static void check_given_once(struct draft *draft, int r)
{
	const struct node *map = draft->entries[r].attributes.map;
	for (int outer = 0; outer < r; outer++) {
		const struct entry *other = &draft->entries[outer];
		if (draft->arch->levels[outer].kind != LEVEL_CONTAINER || !other->has_attributes)
			continue;
		for (size_t i = 0; i < map->count; i++) {
			int twin = node_index(other->attributes.map, map->entries[i].key);
			if (twin < 0)
				continue;
			WRONG(draft, map->entries[i].key_span, "'%s' is given by '%s' and by '%s'",
				map->entries[i].key, draft->arch->levels[outer].name,
				draft->arch->levels[r].name);
			diag_note(draft->reading->diag,
				other->attributes.map->entries[twin].key_span, "first given here");
		}
	}
}

static bool read_clock(struct draft *draft, struct span span)
{
	bool found = false;
	size_t errors = diag_errors(draft->reading->diag);
	for (int r = 0; r < draft->arch->level_count; r++) {
		struct entry *entry = &draft->entries[r];
		if (draft->arch->levels[r].kind != LEVEL_CONTAINER || !entry->has_attributes)
			continue;
		check_given_once(draft, r);
		found |= attributes_clock(&entry->attributes, &draft->arch->clock_hz);
	}
	if (!found && diag_errors(draft->reading->diag) == errors)
		WRONG(draft, span,
			"no container says how fast the machine runs; one needs 'clock', such as "
			"'clock: 1.5GHz'");
	return found;
}

static void add_note(struct draft *draft, int r, const char *key, const char *source)
{
	*array_add(draft->reading->arena, &draft->notes) =
		(struct source_note){draft->arch->levels[r].name, key, source};
}

/* The sentence of every attribute given, and of the fan-out. */
static void read_sources(struct draft *draft, int r)
{
	struct entry *entry = &draft->entries[r];
	const struct node *node = read_map(&entry->node, "sources", OPTIONAL);
	const struct node *given[] = {entry->has_attributes ? entry->attributes.map : NULL,
		node_find(entry->node.map, "spatial")};
	struct reader sources;
	bool has_sources = node && reader_open(&sources, draft->reading, node, "level");
	for (int g = 0; g < 2; g++) {
		for (size_t i = 0; given[g] && i < given[g]->count; i++) {
			const char *source = NULL;
			if (has_sources)
				read_text(&sources, given[g]->entries[i].key, OPTIONAL, &source);
			add_note(draft, r, given[g]->entries[i].key,
				source ? source : "no source given");
		}
	}
	if (!has_sources)
		return;
	sources.what = arena_format(
		draft->reading->arena, "the sources of '%s'", draft->arch->levels[r].name);
	reader_done(&sources);
}

static void read_level(struct draft *draft, int r)
{
	struct entry *entry = &draft->entries[r];
	struct level *level = &draft->arch->levels[r];
	int64_t outside = r ? draft->arch->levels[r - 1].instances : 1;
	if (!number_mul(outside, level->fanout_x, &level->instances) ||
		!number_mul(level->instances, level->fanout_y, &level->instances)) {
		WRONG(draft, level->span, "level '%s' has too many instances", level->name);
		level->instances = 1;
	}
	if (entry->has_attributes) {
		attributes_read(&entry->attributes, draft->arch, level);
		reader_done(&entry->attributes);
	}
	read_sources(draft, r);
	reader_done(&entry->node);
}

/* The levels that graphs are planned for. */
static void find_roles(struct draft *draft)
{
	struct arch *arch = draft->arch;
	arch->hbm = arch->core = arch->lx = arch->compute = -1;
	for (int r = 0; r < arch->level_count; r++) {
		const struct level *level = &arch->levels[r];
		if (level->kind == LEVEL_COMPUTE)
			arch->compute = r;
		if (level->kind != LEVEL_STORAGE)
			continue;
		if (arch->hbm < 0 &&
			(strcasestr(level->device, "dram") || strcasestr(level->device, "hbm")))
			arch->hbm = r;
		if (!level->scratchpad)
			continue;
		if (arch->lx >= 0)
			WRONG(draft, level->span, "'%s' and '%s' are both scratchpads of plans",
				arch->levels[arch->lx].name, level->name);
		arch->lx = r;
	}
	int inside = arch->lx;
	for (int r = arch->lx; r > arch->hbm && arch->core < 0; r--) {
		if (arch->levels[r].fanout_x * arch->levels[r].fanout_y > 1)
			arch->core = r;
		else if (arch->levels[r].kind == LEVEL_CONTAINER && inside == arch->lx)
			inside = r;
	}
	if (arch->core < 0)
		arch->core = inside;
}

static void read_version(struct draft *draft, struct reader *map)
{
	const char *version;
	if (read_text(map, "version", OPTIONAL, &version) && !text_equal(version, "0.4"))
		WRONG(draft, node_find(map->map, "version")->span,
			"architecture version %s; this program reads 0.4", version);
	if (node_find(map->map, "subtree")) {
		read_node(map, "subtree", OPTIONAL);
		WRONG(draft, node_find(map->map, "subtree")->span,
			"the older 'subtree:' form is not read; list the levels under 'nodes:'");
	}
}

const struct arch *arch_read(const struct reading *reading, const struct node *node)
{
	struct arch *arch = arena_new(reading->arena, struct arch);
	struct draft *draft = arena_new(reading->arena, struct draft);
	struct reader map;
	size_t errors = diag_errors(reading->diag);
	*draft = (struct draft){.reading = reading, .arch = arch};
	if (!reader_open(&map, reading, node, "architecture"))
		return NULL;
	arch->span = node->span;
	read_version(draft, &map);
	const struct node *nodes = read_list(&map, "nodes", REQUIRED);
	if (!nodes || !open_nodes(draft, nodes))
		return NULL;
	arch->name = arch->levels[0].name;
	read_text(&map, "name", OPTIONAL, &arch->name);
	reader_done(&map);
	if (!read_clock(draft, node->span))
		return NULL;
	for (int r = 0; r < arch->level_count; r++)
		read_level(draft, r);
	find_roles(draft);
	arch->notes = draft->notes.at;
	arch->note_count = draft->notes.count;
	return diag_errors(reading->diag) == errors ? arch : NULL;
}
