#include "spec/sheet.h"

#include "base/arena.h"
#include "base/text.h"
#include "spec/unread.h"

#include <string.h>

/* What becomes of a key that nobody asked for. */
enum fate {
	UNREAD, /* an error: this version does not read it */
	NOTED,  /* a note: it changes no result */
	REFUSED /* an error as soon as it is seen */
};

struct key {
	const char *name;
	enum fate fate;
	bool adds_up;
};

static const struct key keys[] = {
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
	{"sparse_optimizations", REFUSED, false},
};
enum { KEYS = sizeof keys / sizeof *keys };

struct given {
	struct span span;
	const struct node *value; /* NULL: no file gives the key */
	bool used;
};

struct sheet {
	struct arena *arena;
	struct diag *diag;
	struct given given[KEYS];
	struct variables *variables;
	struct unread unread;
};

struct sheet *sheet_open(struct arena *arena, struct diag *diag)
{
	struct sheet *sheet = arena_new(arena, struct sheet);
	sheet->arena = arena;
	sheet->diag = diag;
	return sheet;
}

static int find_key(const char *name)
{
	for (int k = 0; k < KEYS; k++)
		if (text_equal(keys[k].name, name))
			return k;
	return -1;
}

static void complain_unknown(struct sheet *sheet, const struct node_entry *entry)
{
	const char *names[KEYS + 1] = {NULL};
	for (int k = 0; k < KEYS; k++)
		names[k] = keys[k].name;
	const char *near = diag_full(sheet->diag) ? NULL : suggest(entry->key, names);
	diag_error(sheet->diag, entry->key_span,
		near ? "unknown key '%s' at the top of the file; did you mean '%s'?"
		     : "unknown key '%s' at the top of the file; a spec has architecture, "
		       "workload, constraints, search ..",
		entry->key, near);
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

static void add_entry(struct sheet *sheet, const struct node_entry *entry)
{
	int k = find_key(entry->key);
	if (k < 0) {
		complain_unknown(sheet, entry);
		return;
	}
	struct given *given = &sheet->given[k];
	if (given->value && is_empty_list(entry->value))
		return;
	if (keys[k].fate == REFUSED) {
		diag_error(sheet->diag, entry->key_span,
			"'%s' is not modelled: results would be those of dense data", entry->key);
	} else if (!given->value || is_empty_list(given->value)) {
		*given = (struct given){entry->key_span, entry->value, false};
	} else if (keys[k].adds_up && can_add_up(given->value, entry->value)) {
		given->value = added_up(sheet->arena, given->value, entry->value);
	} else {
		diag_error(sheet->diag, entry->key_span, "key '%s' is given twice", entry->key);
		diag_note(sheet->diag, given->span, "first given here");
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
	return (struct reading){.arena = sheet->arena,
		.diag = sheet->diag,
		.variables = sheet->variables,
		.unread = &sheet->unread};
}

bool sheet_has(const struct sheet *sheet, const char *key)
{
	int k = find_key(key);
	return k >= 0 && sheet->given[k].value;
}

const struct node *sheet_find(struct sheet *sheet, const char *key)
{
	int k = find_key(key);
	if (k < 0)
		return NULL;
	sheet->given[k].used = true;
	return sheet->given[k].value;
}

void sheet_done(struct sheet *sheet)
{
	if (sheet->variables)
		variables_check(sheet->variables, sheet->diag);
	unread_note(sheet->arena, &sheet->unread, sheet->diag);
	for (int k = 0; k < KEYS; k++) {
		const struct given *given = &sheet->given[k];
		if (!given->value || given->used)
			continue;
		if (keys[k].fate == NOTED)
			diag_note(sheet->diag, given->span, "'%s' is not used", keys[k].name);
		else
			diag_error(sheet->diag, given->span,
				"'%s' is not read by this version; take it out to go on without it",
				keys[k].name);
	}
}
