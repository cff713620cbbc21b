#include "model/ert.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"

#include <string.h>

struct action {
	const char *name;
	double pj;
};

struct table {
	struct array(struct action) actions;
	struct span span; /* line 0: the level has no table */
};

static void read_action(const struct reading *reading, const struct node *node, struct table *table)
{
	struct reader map;
	const char *name = NULL;
	double pj = 0;
	if (!reader_open(&map, reading, node, "action"))
		return;
	bool named = read_text(&map, "name", REQUIRED, &name);
	read_node(&map, "arguments", OPTIONAL);
	bool known = read_picojoules(&map, "energy", REQUIRED, &pj);
	reader_done(&map);
	if (!named || !known)
		return;
	for (size_t i = 0; i < table->actions.count; i++) {
		struct action *action = &table->actions.at[i];
		if (!text_equal(action->name, name))
			continue;
		action->pj = action->pj < pj ? pj : action->pj;
		return;
	}
	*array_add(reading->arena, &table->actions) = (struct action){name, pj};
}

/* "a.b.Level[1..4]" is Level. */
static const char *level_name(struct arena *arena, const char *path)
{
	const char *bracket = strrchr(path, '[');
	size_t end = bracket ? (size_t)(bracket - path) : strlen(path), begin = end;
	while (begin > 0 && path[begin - 1] != '.')
		begin--;
	return arena_format(arena, "%.*s", (int)(end - begin), path + begin);
}

static void read_table(const struct reading *reading, const struct node *node,
	const struct arch *arch, struct table *tables)
{
	struct reader map;
	const char *path;
	struct table table = {.span = node->span};
	if (!reader_open(&map, reading, node, "table"))
		return;
	bool named = read_text(&map, "name", REQUIRED, &path);
	const struct node *actions = read_list(&map, "actions", REQUIRED);
	reader_done(&map);
	for (size_t i = 0; actions && i < actions->count; i++)
		read_action(reading, actions->items[i], &table);
	if (!named)
		return;
	struct span span = node_find(node, "name")->span;
	const char *name = level_name(reading->arena, path);
	int r = arch_level(arch, name);
	if (r < 0) {
		const char *names[ARCH_LEVELS_MOST + 1] = {NULL};
		for (int i = 0; i < arch->level_count; i++)
			names[i] = arch->levels[i].name;
		const char *near = suggest(name, names);
		diag_warning(reading->diag, span, "no level is named '%s'%s%s%s", name,
			near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	} else if (tables[r].span.line) {
		diag_error(reading->diag, span, "the ERT has two tables for level '%s'", name);
		diag_note(reading->diag, tables[r].span, "the first is here");
	} else {
		tables[r] = table;
	}
}

/* Of the first action listed that the table has; `otherwise` if it has none. */
static double find(const struct table *table, const char *const *names, double otherwise)
{
	for (; *names; names++)
		for (size_t i = 0; i < table->actions.count; i++)
			if (text_equal(table->actions.at[i].name, *names))
				return table->actions.at[i].pj;
	return otherwise;
}

static void apply(const struct table *table, struct level *level)
{
	static const char *const reads[] = {"random_read", "read", NULL};
	static const char *const fills[] = {"random_fill", "random_write", "fill", "write", NULL};
	static const char *const updates[] = {
		"random_update", "random_write", "update", "write", NULL};
	static const char *const leaks[] = {"leak", NULL}, *const computes[] = {"compute", NULL};
	struct action_energies *pj = &level->pj;
	double most = 0;
	for (size_t i = 0; i < table->actions.count; i++)
		most = most < table->actions.at[i].pj ? table->actions.at[i].pj : most;
	pj->leak = find(table, leaks, 0);
	if (pj->given)
		return;
	pj->given = true;
	pj->compute = find(table, computes, most);
	most /= (double)level->cluster_size;
	pj->read = find(table, reads, most);
	pj->fill = find(table, fills, most);
	pj->update = find(table, updates, most);
}

const struct arch *ert_read(
	const struct reading *reading, const struct node *node, const struct arch *arch)
{
	struct table *tables = arena_array(reading->arena, struct table, ARCH_LEVELS_MOST);
	struct arch *other = arena_copy(reading->arena, arch, sizeof *arch);
	size_t errors = diag_errors(reading->diag);
	struct reader map;
	if (!reader_open(&map, reading, node, "ERT"))
		return NULL;
	read_node(&map, "version", OPTIONAL);
	const struct node *list = read_list(&map, "tables", REQUIRED);
	reader_done(&map);
	for (size_t i = 0; list && i < list->count; i++)
		read_table(reading, list->items[i], arch, tables);
	if (diag_errors(reading->diag) > errors)
		return NULL;
	for (int r = 0; r < other->level_count; r++) {
		struct level *level = &other->levels[r];
		if (tables[r].span.line)
			apply(&tables[r], level);
		else if (level->kind != LEVEL_CONTAINER && !level->pj.given)
			diag_warning(reading->diag, list->span,
				"no table names level '%s': it has built-in energies", level->name);
	}
	other->energy_source = "ERT";
	return other;
}
