#include "spec/sheet.h"

#include "base/arena.h"
#include "base/text.h"
#include "spec/reader.h"

#include <string.h>

/* Treatment of a key that was not read. */
enum fate {
	UNREAD, /* an error: this version does not read it */
	NOTED,  /* it changes no result: one of the run's note */
	SPARSE, /* an error as soon as it says something */
};

struct key {
	const char *name;
	enum fate fate;
	bool adds_up;
};

static const struct key known_keys[] = {
	{"architecture", UNREAD, false},
	{"workload", UNREAD, false},
	{"problem", UNREAD, false},
	{"network", UNREAD, false},
	{"constraints", UNREAD, true},
	{"architecture_constraints", UNREAD, true},
	{"arch_constraints", UNREAD, true},
	{"mapspace_constraints", UNREAD, true},
	{"mapspace", UNREAD, true},
	{"ERT", UNREAD, false},
	{"energy", UNREAD, false},
	{"mapping", UNREAD, false},
	{"plan", UNREAD, false},
	{"mapper", UNREAD, false},
	{"search", UNREAD, false},
	{"space_time", UNREAD, false},
	{"projection", UNREAD, false},
	{"broadcast", UNREAD, false},
	{"sweep", UNREAD, false},
	{"variables", NOTED, false},
	{"ART", NOTED, false},
	{"components", NOTED, false},
	{"compound_components", NOTED, false},
	{"globals", NOTED, false},
	{"dumped_by_timeloop_front_end", NOTED, false},
	{"ERT_summary", NOTED, false},
	{"ART_summary", NOTED, false},
	{"sparse_optimizations", SPARSE, false},
};
enum { KEYS = sizeof known_keys / sizeof *known_keys, KEYS_MOST = KEYS + 16 };

static const char top[] = "the file";

struct given {
	struct node_entry entry; /* value NULL: no file gives the key */
	bool used;
};

struct sheet {
	struct arena *arena;
	struct diag *diag;
	int key_count;
	struct key keys[KEYS_MOST];
	struct given given[KEYS_MOST];
	struct array(struct node_entry) unknown;
	struct variables *variables;
	struct unread unread;
};

bool sheet_key_is(const char *key)
{
	for (int k = 0; k < KEYS; k++)
		if (text_equal(known_keys[k].name, key))
			return true;
	return false;
}

const char *sheet_key_at(size_t i)
{
	return i < KEYS ? known_keys[i].name : NULL;
}

struct sheet *sheet_open(struct arena *arena, struct diag *diag)
{
	struct sheet *sheet = arena_new(arena, struct sheet);
	sheet->arena = arena;
	sheet->diag = diag;
	sheet->key_count = KEYS;
	memcpy(sheet->keys, known_keys, sizeof known_keys);
	return sheet;
}

static int find_key(const struct sheet *sheet, const char *name)
{
	if (text_equal(name, "arch"))
		name = "architecture";
	for (int k = 0; k < sheet->key_count; k++)
		if (text_equal(sheet->keys[k].name, name))
			return k;
	return -1;
}

void sheet_know(struct sheet *sheet, const char *key)
{
	if (find_key(sheet, key) < 0 && sheet->key_count < KEYS_MOST)
		sheet->keys[sheet->key_count++] = (struct key){key, UNREAD, false};
}

static void sheet_complain_unknown(
	struct sheet *sheet, const struct node_entry *entry, const char *near)
{
	diag_error(sheet->diag, entry->key_span,
		near ? "unknown key '%s' at the top of the file; did you mean '%s'?"
		     : "unknown key '%s' at the top of the file; a spec has architecture, "
		       "workload, constraints, search ..",
		entry->key, near);
}

/* Timeloop passes by what it does not know, and its users' files are full of it. */
static void judge_unknown(struct sheet *sheet)
{
	const char *names[KEYS_MOST + 1] = {NULL}, *missing[KEYS_MOST + 1] = {NULL};
	size_t absent = 0;
	bool lenient = sheet_has(sheet, "problem");
	for (int k = 0; k < sheet->key_count; k++) {
		names[k] = sheet->keys[k].name;
		if (!sheet->given[k].entry.value)
			missing[absent++] = sheet->keys[k].name;
	}
	for (size_t i = 0; i < sheet->unknown.count; i++) {
		const struct node_entry *entry = &sheet->unknown.at[i];
		const char *near = diag_full(sheet->diag) ? NULL
				   : lenient              ? suggest_misspelt(entry->key, missing)
							  : suggest(entry->key, names);
		if (lenient && !near)
			unread_add(sheet->arena, &sheet->unread, entry, top);
		else
			sheet_complain_unknown(sheet, entry, near);
	}
	sheet->unknown.count = 0;
}

/* The targets of a constraints value: the list itself, or that under `targets` or, in a mapspace,
 * `constraints`. */
static const struct node *targets_of(const struct node *value)
{
	const struct node *targets = node_find(value, "targets");
	if (!targets)
		targets = node_find(value, "constraints");
	return value->kind == NODE_MAP && targets ? targets : value;
}

static bool can_add_up(const struct node *a, const struct node *b)
{
	return targets_of(a)->kind == NODE_LIST && targets_of(b)->kind == NODE_LIST;
}

/* The targets of both as one list; what else is beside `targets` stays in it. */
static const struct node *added_up(struct arena *arena, const struct node *a, const struct node *b)
{
	const struct node *first = targets_of(a), *second = targets_of(b);
	struct node *list = arena_new(arena, struct node);
	*list = *first;
	list->count = first->count + second->count;
	list->weight = first->weight + second->weight;
	const struct node **items = arena_array(arena, const struct node *, list->count);
	for (size_t i = 0; i < list->count; i++)
		items[i] = i < first->count ? first->items[i] : second->items[i - first->count];
	list->items = items;
	return list;
}

/* `mapping: []` says nothing: a front end writes it where there is none. */
static bool is_empty_list(const struct node *node)
{
	return node->kind == NODE_LIST && node->count == 0;
}

static bool is_empty(const struct node *node)
{
	return node->kind == NODE_SCALAR ? !*node->text && !node->quoted : node->count == 0;
}

bool sheet_asks_for_sparsity(const struct node *node)
{
	if (node->kind != NODE_MAP)
		return !is_empty(node);
	for (size_t i = 0; i < node->count; i++)
		if (!text_equal(node->entries[i].key, "version") &&
			!is_empty(node->entries[i].value))
			return true;
	return false;
}

/* True if some node of a list has one of the tags. */
static bool has_tag(const struct node *list, const char *const *tags)
{
	for (size_t i = 0; list && list->kind == NODE_LIST && i < list->count; i++)
		for (int k = 0; tags[k] && list->items[i]->tag; k++)
			if (text_equal(list->items[i]->tag, tags[k]))
				return true;
	return false;
}

/* Names the system whose file this is, where it shares a key with ours and nothing else. */
static bool refuse_foreign(struct sheet *sheet, const struct node_entry *entry)
{
	static const char *const nodes[] = {
		"!Memory", "!Compute", "!Toll", "!Hierarchical", "!Fork", "!Network", NULL};
	static const char *const steps[] = {
		"!Storage", "!Temporal", "!Spatial", "!Sequential", "!Pipeline", "!Split", NULL};
	const struct node *value = entry->value;
	const struct node *inner = node_find(value, "nodes");
	const char *why = NULL;
	if (text_equal(entry->key, "problem") && value->kind == NODE_LIST && value->count)
		why = "a list of problems is LoopTree's, and not read; write them as ops of a "
		      "'workload' (specs/graphs.md), or give each as a 'problem' in a run of its own";
	else if (text_equal(entry->key, "workload") &&
		 (node_find(value, "einsums") || node_find(value, "rank_sizes")))
		why = "'einsums' and 'rank_sizes' are AccelForge's, and not read; write the einsums as "
		      "'ops' with 'dimensions' (specs/graphs.md)";
	else if (find_key(sheet, entry->key) == 0 && has_tag(inner, nodes))
		why = "these nodes are AccelForge's, and not read; write each as a !Component with a "
		      "class and attributes (specs/README.md)";
	else if (text_equal(entry->key, "mapping") &&
		 (has_tag(inner, steps) || (inner && value->kind == NODE_MAP)))
		why = "a tree of nodes is a mapping of LoopTree or AccelForge, and not read; write "
		      "directives (specs/problems.md), or a plan with loops (specs/graphs.md)";
	if (why)
		diag_error(sheet->diag, entry->key_span, "%s", why);
	return why != NULL;
}

static void add_entry(struct sheet *sheet, const struct node_entry *entry)
{
	int k = find_key(sheet, entry->key);
	if (refuse_foreign(sheet, entry))
		return;
	if (k < 0) {
		*array_add(sheet->arena, &sheet->unknown) = *entry;
		return;
	}
	struct given *given = &sheet->given[k];
	if (given->entry.value && is_empty_list(entry->value))
		return;
	if (sheet->keys[k].fate == SPARSE && sheet_asks_for_sparsity(entry->value)) {
		diag_error(sheet->diag, entry->key_span,
			"'%s' is not modelled: results would be those of dense data", entry->key);
	} else if (!given->entry.value || is_empty_list(given->entry.value)) {
		*given = (struct given){*entry, false};
	} else if (sheet->keys[k].adds_up && can_add_up(given->entry.value, entry->value)) {
		given->entry.value = added_up(sheet->arena, given->entry.value, entry->value);
	} else if (sheet->keys[k].fate == UNREAD || text_equal(entry->key, "variables")) {
		diag_error(sheet->diag, entry->key_span, "key '%s' is given twice", entry->key);
		diag_note(sheet->diag, given->entry.key_span, "first given here");
	}
}

void sheet_add(struct sheet *sheet, const struct node *root)
{
	if (root->kind != NODE_MAP) {
		diag_error(sheet->diag, root->span,
			"the file is %s; a map with keys such as 'architecture:' is expected",
			node_kind_name(root));
		return;
	}
	for (size_t i = 0; i < root->count; i++)
		add_entry(sheet, &root->entries[i]);
}

void sheet_add_file(struct sheet *sheet, const char *path)
{
	const struct node *root = node_read_file(sheet->arena, path, sheet->diag);
	if (root)
		sheet_add(sheet, root);
}

struct reading sheet_reading(struct sheet *sheet)
{
	const struct node *map = sheet_find(sheet, "variables");
	if (map && !sheet->variables)
		sheet->variables = variables_read(sheet->arena, sheet->diag, map);
	judge_unknown(sheet);
	return (struct reading){.arena = sheet->arena,
		.diag = sheet->diag,
		.variables = sheet->variables,
		.unread = &sheet->unread};
}

bool sheet_has(const struct sheet *sheet, const char *key)
{
	int k = find_key(sheet, key);
	return k >= 0 && sheet->given[k].entry.value;
}

struct span sheet_place(const struct sheet *sheet, const char *key)
{
	return sheet->given[find_key(sheet, key)].entry.key_span;
}

const struct node *sheet_find(struct sheet *sheet, const char *key)
{
	int k = find_key(sheet, key);
	if (k < 0)
		return NULL;
	sheet->given[k].used = true;
	return sheet->given[k].entry.value;
}

void sheet_done(struct sheet *sheet)
{
	if (sheet->variables)
		variables_check(sheet->variables, sheet->diag);
	for (int k = 0; k < sheet->key_count; k++) {
		const struct given *given = &sheet->given[k];
		if (!given->entry.value || given->used)
			continue;
		if (sheet->keys[k].fate != UNREAD)
			unread_add(sheet->arena, &sheet->unread, &given->entry, top);
		else
			diag_error(sheet->diag, given->entry.key_span,
				"'%s' is not read by this version; remove it to continue",
				sheet->keys[k].name);
	}
}

void sheet_note(struct sheet *sheet)
{
	unread_note(sheet->arena, &sheet->unread, sheet->diag);
}
