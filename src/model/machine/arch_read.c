#include "model/machine/arch_read.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/number.h"
#include "base/text.h"
#include "model/machine/arch_draft.h"
#include "model/machine/ert.h"
#include "spec/sheet.h"

#include <string.h>
#include <strings.h>

static bool arch_text_contains(const char *word, const char *const *parts)
{
	for (int i = 0; parts[i]; i++) {
		if (strcasestr(word, parts[i]))
			return true;
	}
	return false;
}

/* The name of a class shows its kind, as in Accelergy's libraries. */
enum class_kind arch_class(const char *name)
{
	static const char *const networks[] = {
		"xy_noc", "legacy", "reductiontree", "simplemulticast", NULL};
	static const char *const storages[] = {"dram", "hbm", "sram", "reg", "storage", "buffer",
		"memory", "spad", "scratchpad", "cache", NULL};
	static const char *const computes[] = {
		"mac", "compute", "array", "alu", "adder", "multiplier", "vector", "scalar", NULL};
	if (text_equal(name, "dummy_storage"))
		return CLASS_DUMMY;
	if (arch_text_contains(name, networks))
		return CLASS_NETWORK;
	if (arch_text_contains(name, storages))
		return CLASS_STORAGE;
	return arch_text_contains(name, computes) ? CLASS_COMPUTE : CLASS_UNKNOWN;
}

/* As isBufferClass and isComputeClass of topology.cpp, which neglect all other components; classes
 * that only we take for multipliers compute in machines without others. */
enum class_kind arch_class_in_tree(const char *name)
{
	static const char *const storages[] = {
		"DRAM", "SRAM", "regfile", "smartbuffer", "storage", NULL};
	enum class_kind kind = arch_class(name);
	if (kind != CLASS_STORAGE)
		return kind;
	for (int i = 0; storages[i]; i++)
		if (strstr(name, storages[i]))
			return CLASS_STORAGE;
	return strstr(name, "mac") || strstr(name, "compute") ? CLASS_COMPUTE : CLASS_UNKNOWN;
}

bool arch_class_multiplies(const char *name)
{
	static const char *const multipliers[] = {"mac", "compute", NULL};
	return arch_class_in_tree(name) == CLASS_COMPUTE && arch_text_contains(name, multipliers);
}

void arch_draft_name(struct arch_draft *draft, int r, const char *name, struct span span)
{
	draft->arch->levels[r].name = name;
	if (strpbrk(name, "\"\t\n:|,;") || text_equal(name, "keep") || text_equal(name, "nowhere"))
		WRONG(draft, span,
			"'%s' cannot name a level: mappings use quotes, ':', '|', ',', ';' and the "
			"words 'keep' and 'nowhere' themselves",
			name);
	int other = arch_level(draft->arch, name);
	if (other == r || other < 0)
		return;
	WRONG(draft, span, "level '%s' is named twice", name);
	diag_note(draft->reading->diag, draft->arch->levels[other].span, "first named here");
}

int arch_draft_add(struct arch_draft *draft, struct span span)
{
	if (++draft->node_count > ARCH_LEVELS_MOST)
		return -1;
	int r = draft->arch->level_count++;
	draft->arch->levels[r] = (struct level){.name = "", .fanout = {1, 1, false}, .span = span};
	return r;
}

/* The machine is described once: what a container says of it no other one says. */
static void check_given_once(struct arch_draft *draft, int r)
{
	const struct node *own = draft->entries[r].own;
	for (size_t i = 0; own && i < own->count; i++) {
		if (!arch_key_of_machine(own->entries[i].key))
			continue;
		for (int outer = 0; outer < r; outer++) {
			const struct node *other = draft->entries[outer].own;
			int twin = other ? node_index(other, own->entries[i].key) : -1;
			if (twin < 0)
				continue;
			WRONG(draft, own->entries[i].key_span, "'%s' is given by '%s' and by '%s'",
				own->entries[i].key, draft->arch->levels[outer].name,
				draft->arch->levels[r].name);
			diag_note(draft->reading->diag, other->entries[twin].key_span,
				"first given here");
		}
	}
}

/* `clock` of a container, or Timeloop's `global_cycle_seconds` there or among the variables. */
static void read_clock(struct arch_draft *draft)
{
	static const char key[] = "global_cycle_seconds";
	struct arch *arch = draft->arch;
	const struct node *variable = variables_node(draft->reading->variables, key);
	const struct node_entry entry = {.key = key, .value = variable};
	const struct node variables = {.kind = NODE_MAP, .entries = &entry, .count = 1};
	struct reader reader;
	for (size_t i = 0; i < draft->clocks.count; i++) {
		if (!reader_open(&reader, draft->reading, draft->clocks.at[i].map, "level"))
			continue;
		reader.what = draft->clocks.at[i].what;
		if (attributes_clock(&reader, &arch->clock_hz))
			return;
	}
	if (variable && reader_open(&reader, draft->reading, &variables, "the variables"))
		attributes_clock(&reader, &arch->clock_hz);
}

static void add_note(struct arch_draft *draft, int r, const char *key, const char *source)
{
	*array_add(draft->reading->arena, &draft->notes) = (struct source_note){
		draft->arch->levels[r].name, key, source ? source : "no source given", source};
}

/* The sentence of every attribute given, and of the fan-out. */
static void read_sources(struct arch_draft *draft, int r)
{
	struct arch_entry *entry = &draft->entries[r];
	const struct node *node = entry->parts.sources;
	const struct node *given[] = {entry->own, node_find(entry->node.map, "spatial")};
	struct reader sources;
	const char *what = arena_format(
		draft->reading->arena, "the sources of '%s'", draft->arch->levels[r].name);
	bool has_sources = node && reader_open(&sources, draft->reading, node, what);
	for (int g = 0; g < 2; g++) {
		bool is_map = given[g] && given[g]->kind == NODE_MAP;
		for (size_t i = 0; is_map && i < given[g]->count; i++) {
			const char *source = NULL;
			if (has_sources)
				read_text(&sources, given[g]->entries[i].key, OPTIONAL, &source);
			add_note(draft, r, given[g]->entries[i].key, source);
		}
	}
	if (has_sources)
		reader_done(&sources);
}

/* Arrays of one PE, or of one row, are systolic too, where a mesh says so. */
static void check_systolic(
	struct arch_draft *draft, const struct arch_entry *entry, const struct level *level)
{
	const struct reader *attributes = &entry->attributes;
	if (!level->fanout.systolic || fanout_count(&level->fanout) > 1 ||
		node_find(entry->node.map, "spatial") || node_find(attributes->map, "meshX") ||
		node_find(attributes->map, "meshY"))
		return;
	WRONG(draft, node_find(attributes->map, "systolic")->span,
		"level '%s' is systolic, but does not fan out: a systolic array has PEs side by "
		"side",
		level->name);
}

static void read_attributes(struct arch_draft *draft, struct arch_entry *entry, struct level *level)
{
	struct reader *attributes = &entry->attributes;
	bool outside = level->kind == LEVEL_CONTAINER && !level->device;
	fields_read(attributes, &any_level_noun, level, NULL);
	fields_mark(attributes, &seconds_noun);
	check_systolic(draft, entry, level);
	if (outside) {
		fields_read(attributes, &network_energies_noun, level,
			NULL); /* the levels' inside, too */
		attributes_machine(attributes, draft->arch);
		return;
	}
	if (level->kind == LEVEL_STORAGE)
		attributes_storage(attributes, draft->arch, level);
	else if (level->kind == LEVEL_COMPUTE)
		attributes_compute(attributes, level);
	if (level->kind == LEVEL_STORAGE && level->storage.scratchpad)
		fields_read(attributes, &pipes_noun, &draft->arch->copying, &draft->arch->clock_hz);
	arch_keys_done(draft, attributes, entry->own);
}

/* Closes the attributes of containers, after the levels inside have read those that they inherit. */
static void close_containers(struct arch_draft *draft)
{
	for (size_t i = 0; i < draft->subtrees.count; i++) {
		struct arch_entry *entry = &draft->subtrees.at[i];
		attributes_machine(&entry->attributes, draft->arch);
		arch_keys_done(draft, &entry->attributes, entry->own);
	}
	for (int r = 0; r < draft->arch->level_count; r++) {
		struct arch_entry *entry = &draft->entries[r];
		if (draft->arch->levels[r].kind == LEVEL_CONTAINER &&
			!draft->arch->levels[r].device)
			arch_keys_done(draft, &entry->attributes, entry->own);
	}
}

/* Compression, gating and skipping are not modelled. */
static void refuse_sparsity(struct arch_draft *draft, const struct arch_entry *entry)
{
	const struct node *sparse = entry->parts.sparse;
	if (sparse && sheet_asks_for_sparsity(sparse))
		WRONG(draft, sparse->span,
			"'sparse_optimizations' in %s is not modelled: results would be those of "
			"dense data",
			entry->node.what);
}

/* A compute has nothing inside: what follows it stands beside it. */
static int64_t instances_around(const struct arch *arch, int r)
{
	while (r > 0 && arch->levels[r - 1].kind == LEVEL_COMPUTE)
		r--;
	return r ? arch->levels[r - 1].instances : 1;
}

static void read_level(struct arch_draft *draft, int r)
{
	struct arch_entry *entry = &draft->entries[r];
	struct level *level = &draft->arch->levels[r];
	int64_t outside = instances_around(draft->arch, r);
	if (!number_mul(outside, level->fanout.x, &level->instances) ||
		!number_mul(level->instances, level->fanout.y, &level->instances)) {
		WRONG(draft, level->span, "level '%s' has too many instances", level->name);
		level->instances = 1;
	}
	check_given_once(draft, r);
	read_attributes(draft, entry, level);
	read_sources(draft, r);
	refuse_sparsity(draft, entry);
	reader_done_lenient(&entry->node);
}

/* The forms of an architecture. */
enum arch_form { FORM_NODES = 1 << 0, FORM_TREE = 1 << 1, FORM_FLAT = 1 << 2 };

static enum arch_form form_of(const struct node *map)
{
	if (node_find(map, "nodes"))
		return FORM_NODES;
	return node_find(map, "subtree")                                   ? FORM_TREE
	       : node_find(map, "arithmetic") || node_find(map, "storage") ? FORM_FLAT
									   : FORM_NODES;
}

struct arch_parts {
	const char *version, *name;
	const struct node *nodes, *subtree, *arithmetic, *storage;
};

static const struct field architecture_fields[] = {
	{"version", FIELD_TEXT, INTO(struct arch_parts, version)},
	{"name", FIELD_TEXT, "of the machine", .usual = "that of the outermost node",
		INTO(struct arch_parts, name)},
	{"nodes", FIELD_MAP, "!Container fans out, !Component stores or computes; outermost first",
		.shape = SHAPE_LIST, .noun = &node_noun, .forms = FORM_NODES, .needed = FORM_NODES,
		KEEP(struct arch_parts, nodes)},
	{"subtree", FIELD_MAP, "the older form", .shape = SHAPE_LIST, .noun = &node_noun,
		.forms = FORM_TREE, .needed = FORM_TREE, KEEP(struct arch_parts, subtree)},
	{"arithmetic", FIELD_MAP, "the first form: the multipliers", .noun = &flat_noun,
		.forms = FORM_FLAT, .needed = FORM_FLAT, KEEP(struct arch_parts, arithmetic)},
	{"storage", FIELD_MAP, "the first form: storages, innermost first", .shape = SHAPE_LIST,
		.noun = &flat_noun, .forms = FORM_FLAT, .needed = FORM_FLAT,
		KEEP(struct arch_parts, storage)},
	{0},
};
const struct noun architecture_noun = {.name = "architecture", .fields = architecture_fields};

/* 0.1 and what is newer than 0.4 are other languages. */
static void check_version(
	struct arch_draft *draft, const struct reader *map, const char *version, bool tree)
{
	static const char *const versions[] = {"0.4", "0.3", "0.2", NULL};
	for (int i = 0; i < (tree ? 3 : 1); i++)
		if (text_equal(version, versions[i]))
			return;
	WRONG(draft, node_find(map->map, "version")->span,
		"architecture version %s; this program reads 0.4%s", version,
		tree ? ", and 0.2 and 0.3 of the 'subtree:' form" : "");
}

static bool open_form(struct arch_draft *draft, const struct arch_parts *parts)
{
	if (parts->nodes)
		return arch_nodes_open(draft, parts->nodes);
	return parts->subtree ? arch_tree_open(draft, parts->subtree)
			      : arch_flat_open(draft, parts->storage, parts->arithmetic);
}

static bool open_levels(struct arch_draft *draft, struct reader *map)
{
	struct arch *arch = draft->arch;
	enum arch_form form = form_of(map->map);
	struct arch_parts parts = {0};
	fields_read_form(map, &architecture_noun, form, &parts, NULL);
	if (parts.version && form != FORM_FLAT)
		check_version(draft, map, parts.version, form == FORM_TREE);
	draft->list = parts.nodes     ? parts.nodes
		      : parts.subtree ? parts.subtree
		      : parts.storage ? parts.storage
				      : map->map;
	bool good = open_form(draft, &parts);
	if (draft->node_count == 0 ? good : draft->node_count > ARCH_LEVELS_MOST) {
		WRONG(draft, draft->list->span, "an architecture has 1 to %d levels, not %zu",
			ARCH_LEVELS_MOST, draft->node_count);
		return false;
	}
	if (!good)
		return false;
	arch->name = parts.name ? parts.name : arch->name ? arch->name : arch->levels[0].name;
	reader_done_lenient(map);
	return true;
}

const struct arch *arch_read(const struct reading *reading, const struct node *node)
{
	struct arch *arch = arena_new(reading->arena, struct arch);
	struct arch_draft *draft = arena_new(reading->arena, struct arch_draft);
	struct reader map;
	size_t errors = diag_errors(reading->diag);
	const struct ratio cycle = {1000000000, 1};
	*draft = (struct arch_draft){.reading = reading, .arch = arch};
	if (!noun_open(&map, reading, node, "architecture", &architecture_noun))
		return NULL;
	arch->span = node->span;
	arch->ranks = 1;
	if (!open_levels(draft, &map))
		return NULL;
	read_clock(draft);
	if (diag_errors(reading->diag) > errors) /* of a wrong clock is complained once */
		arch->clock_hz = cycle;
	for (int r = 0; r < arch->level_count; r++)
		read_level(draft, r);
	if (!arch->clock_hz.num)
		arch->clock_hz = cycle;
	if (!arch->tree)
		arch_nodes_gate(draft);
	close_containers(draft);
	arch_keys_note(draft);
	arch_roles_find(draft, errors);
	arch->notes = draft->notes.at;
	arch->note_count = draft->notes.count;
	return diag_errors(reading->diag) == errors ? arch : NULL;
}
