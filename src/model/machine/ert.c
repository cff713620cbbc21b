#include "model/machine/ert.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/number.h"
#include "base/text.h"
#include "spec/field.h"

#include <string.h>
#include <strings.h>

static double block_of_dram(const struct storage *store)
{
	return 200 * (double)store->word_bits * (double)store->block_words / 16;
}

/* A row, the words of all instances of a cluster. */
static double row_of_sram(const struct storage *store)
{
	double block = (double)store->word_bits * (double)store->block_words;
	double row = block * (double)store->cluster_size;
	double rows = (double)number_ceil_div(store->entries, store->block_words);
	double kilobytes = rows * row / 8 / 1024;
	return (5 / 99.5 * (kilobytes - 0.5) + 1) * row / 16;
}

double energy_of_access(const struct level *level)
{
	const struct storage_level *memory = level_storage(level);
	bool dram = memory->dram || strcasestr(level->device, "dram") ||
		    strcasestr(level->device, "hbm");
	return dram ? block_of_dram(&memory->store) : row_of_sram(&memory->store);
}

double energy_of_access_timeloop(const struct level *level)
{
	const struct storage_level *memory = level_storage(level);
	const struct storage *store = &memory->store;
	if (memory->dram || strstr(level->device, "DRAM"))
		return block_of_dram(store);
	return store->entries ? row_of_sram(store) / (double)store->cluster_size : 0;
}

double energy_of_mac(const char *device, int64_t bits)
{
	bool floats = strstr(device, "fp") || strcasestr(device, "float");
	double part = (double)bits / 32;
	if (floats)
		return bits <= 16 ? 1.1 + 0.4 : (3.7 + 0.9) * part;
	return 3.1 * part * part + 0.1 * part;
}

double energy_of_mac_timeloop(int64_t bits)
{
	double part = (double)bits / 16;
	return part * part;
}

enum { ACTIONS_MOST = 16, LISTED_MOST = 8 };

/* The actions that price something.  All others count only as the dearest of their table. */
static const char *const action_names[ACTIONS_MOST] = {"random_read", "read", "random_fill", "fill",
	"random_update", "update", "random_write", "write", "leak", "mac_random", "mult_random",
	"mac", "mult", "compute", NULL};

struct ert_table {
	int level;
	double pj[ACTIONS_MOST]; /* by action_names; below 0: not listed */
	double most;             /* of any action; 0 without one */
};

struct ert {
	const struct node *listed; /* the tables, a list or a map */
	const struct reading *reading;
	const struct arch *arch;
	struct array(struct ert_table) tables; /* of levels */
	struct names by_name;                  /* whole names, to tables */
	struct array(const char *) others;     /* names of tables of no level */
	bool named[ARCH_LEVELS_MOST];          /* levels that have a table */
};

/*
 * A name ends behind its last dot; if that belongs to the two of a range, the range is cut off
 * first, with the two characters before them.
 */
static const char *ert_level_name(struct arena *arena, const char *path)
{
	const char *dot = strrchr(path, '.');
	size_t end = strlen(path);
	if (dot && dot - path >= 3 && dot[-1] == '.')
		end = (size_t)(dot - path) - 3;
	size_t begin = end;
	while (begin > 0 && path[begin - 1] != '.')
		begin--;
	return arena_format(arena, "%.*s", (int)(end - begin), path + begin);
}

/* The table of a name; NULL if no level of the machine has it. */
static struct ert_table *ert_find_table(struct ert *ert, const char *path)
{
	struct arena *arena = ert->reading->arena;
	int r = arch_level(ert->arch, ert_level_name(arena, path));
	if (r < 0) {
		*array_add(arena, &ert->others) = path;
		return NULL;
	}
	ert->named[r] = true;
	int known = names_find(&ert->by_name, path);
	if (known >= 0)
		return &ert->tables.at[known];
	names_add(arena, &ert->by_name, path, (int)ert->tables.count);
	struct ert_table *table = array_add(arena, &ert->tables);
	*table = (struct ert_table){.level = r};
	for (int a = 0; a < ACTIONS_MOST; a++)
		table->pj[a] = -1;
	return table;
}

static void add_action(struct ert_table *table, const char *name, double pj)
{
	if (!table)
		return;
	table->most = table->most < pj ? pj : table->most;
	for (int a = 0; action_names[a]; a++)
		if (text_equal(action_names[a], name) && table->pj[a] < pj)
			table->pj[a] = pj;
}

/* Has a name in the list form; in the map form the name is the key. */
enum { ACTION_LISTED = 1 << 0, ACTION_KEYED = 1 << 1 };

struct action_form {
	const char *name;
	double pj;
};

static const struct field action_fields[] = {
	{"name", FIELD_TEXT, "of an action in a list", .forms = ACTION_LISTED,
		.needed = ACTION_LISTED, INTO(struct action_form, name)},
	{"arguments", FIELD_ANY, "for which it holds; the dearest counts", .read = field_skip},
	{"energy", FIELD_ENERGY, "of one action", .required = true, INTO(struct action_form, pj)},
	{0},
};
static const struct noun action_noun = {.name = "action", .fields = action_fields};

struct table_form {
	const char *path;
	const struct node *actions;
};

static const struct field table_fields[] = {
	{"name", FIELD_TEXT, "path of the level", .required = true, INTO(struct table_form, path)},
	{"actions", FIELD_MAP, .shape = SHAPE_LIST, .noun = &action_noun, .required = true,
		KEEP(struct table_form, actions)},
	{0},
};
static const struct noun table_noun = {.name = "table", .fields = table_fields};

/* An action of the list form, or one set of arguments of the map form, which has its name. */
static void read_action(
	struct ert *ert, const struct node *node, const char *name, struct ert_table *table)
{
	struct reader map;
	struct action_form form = {name, 0};
	if (!noun_open(&map, ert->reading, node, "action", &action_noun))
		return;
	if (name && !node_find(node, "name"))
		map.what = arena_format(ert->reading->arena, "action '%s'", name);
	fields_read_form(&map, &action_noun, name ? ACTION_KEYED : ACTION_LISTED, &form, NULL);
	reader_done_lenient(&map);
	if (form.name)
		add_action(table, form.name, form.pj);
}

static void read_listed_table(struct ert *ert, const struct node *node)
{
	struct reader map;
	struct table_form form = {0};
	if (!noun_open(&map, ert->reading, node, "table", &table_noun))
		return;
	fields_read(&map, &table_noun, &form, NULL);
	reader_done_lenient(&map);
	struct ert_table *table = form.path ? ert_find_table(ert, form.path) : NULL;
	for (size_t i = 0; form.actions && i < form.actions->count; i++)
		read_action(ert, form.actions->items[i], NULL, table);
}

static void read_mapped_table(struct ert *ert, const struct node_entry *entry)
{
	const struct node *actions = entry->value;
	struct ert_table *table = ert_find_table(ert, entry->key);
	if (actions->kind != NODE_MAP) {
		reading_refuse(ert->reading, actions,
			"table '%s' in ERT is %s; a map of actions is expected", entry->key,
			node_kind_name(actions));
		return;
	}
	for (size_t i = 0; i < actions->count; i++) {
		const struct node_entry *action = &actions->entries[i];
		bool listed = action->value->kind == NODE_LIST;
		for (size_t k = 0; k < (listed ? action->value->count : 1); k++)
			read_action(ert, node_item(action->value, k), action->key, table);
	}
}

static void read_tables(struct ert *ert, const struct node *tables)
{
	if (tables->kind == NODE_SCALAR)
		reading_refuse(ert->reading, tables,
			"'tables' in ERT is %s; a list of tables is expected, or a map",
			node_kind_name(tables));
	for (size_t i = 0; i < tables->count; i++) {
		if (tables->kind == NODE_MAP)
			read_mapped_table(ert, &tables->entries[i]);
		else
			read_listed_table(ert, tables->items[i]);
	}
}

/* The energy of the first action asked for that the table has. */
static bool action_find(const struct ert_table *table, const char *const *names, double *pj)
{
	for (; *names; names++)
		for (int a = 0; action_names[a]; a++)
			if (text_equal(action_names[a], *names) && table->pj[a] >= 0) {
				*pj = table->pj[a];
				return true;
			}
	return false;
}

static const char *const accesses[NEST_ACTIONS][5] = {
	[NEST_READ] = {"random_read", "read"},
	[NEST_FILL] = {"random_fill", "random_write", "fill", "write"},
	[NEST_UPDATE] = {"random_update", "random_write", "update", "write"},
};
static const char *const leaks[] = {"leak", NULL};
static const char *const computes[] = {"mac_random", "mult_random", "mac", "mult", "compute", NULL};

static void apply_to_compute(const struct ert_table *table, struct level *level)
{
	struct compute_energy *exact = &level->compute.energies[COUNTING_EXACT];
	struct compute_energy *timeloop = &level->compute.energies[COUNTING_TIMELOOP];
	if (!action_find(table, computes, &exact->pj))
		exact->pj = table->most;
	exact->origin = ENERGY_ERT;
	if (action_find(table, computes, &timeloop->pj))
		timeloop->origin = ENERGY_ERT;
}

static void apply_exact(
	const struct ert_table *table, int64_t cluster_size, struct storage_energies *energies)
{
	action_find(table, leaks, &energies->leak_pj);
	if (energies->origin == ENERGY_OF_LEVEL)
		return;
	bool first = energies->origin != ENERGY_ERT;
	for (int a = 0; a < NEST_ACTIONS; a++)
		if (!action_find(table, accesses[a], &energies->pj[a]) && first)
			energies->pj[a] = table->most / (double)cluster_size;
	energies->origin = ENERGY_ERT;
}

static void apply_timeloop(const struct ert_table *table, struct storage_energies *energies)
{
	int found = 0;
	if (energies->origin == ENERGY_OF_LEVEL)
		return;
	action_find(table, leaks, &energies->leak_pj);
	for (int a = 0; a < NEST_ACTIONS; a++)
		found += action_find(table, accesses[a], &energies->pj[a]);
	if (found == NEST_ACTIONS)
		energies->origin = ENERGY_ERT;
	else if (found && energies->origin == ENERGY_BUILT_IN)
		energies->origin = ENERGY_ERT_PARTLY;
}

static void ert_apply(const struct ert_table *table, struct level *level)
{
	if (level->kind == LEVEL_COMPUTE) {
		apply_to_compute(table, level);
	} else {
		struct storage_energies *energies = level->storage.energies;
		apply_exact(
			table, level_storage(level)->store.cluster_size, &energies[COUNTING_EXACT]);
		apply_timeloop(table, &energies[COUNTING_TIMELOOP]);
	}
}

/* The names, quoted; those beyond LISTED_MOST are counted. */
static const char *ert_list(struct arena *arena, const char *const *names, size_t count)
{
	struct text text = text_open(arena);
	for (size_t i = 0; i < count && i < LISTED_MOST; i++)
		text_add(&text, "%s'%s'", i ? ", " : "", names[i]);
	if (count > LISTED_MOST)
		text_add(&text, " and %zu more", count - LISTED_MOST);
	return text_read(&text);
}

static bool has_energies(const struct level *level)
{
	return level->kind != LEVEL_CONTAINER;
}

static bool is_built_in(const struct level *level)
{
	return ENERGY_BUILT_IN ==
	       (level->kind == LEVEL_STORAGE
			       ? level_storage(level)->energies[COUNTING_EXACT].origin
			       : level_compute(level)->energies[COUNTING_EXACT].origin);
}

/* Levels without a table, and tables without a level, in one note; an error if no table has a
 * level. */
static void tell_rest(const struct ert *ert, struct span span)
{
	struct arena *arena = ert->reading->arena;
	const char *lacking[ARCH_LEVELS_MOST + 1] = {NULL};
	size_t count = 0, served = 0;
	for (int r = 0; r < ert->arch->level_count; r++) {
		const struct level *level = &ert->arch->levels[r];
		served += has_energies(level) && ert->named[r];
		if (has_energies(level) && !ert->named[r] && is_built_in(level))
			lacking[count++] = level->name;
	}
	const char *others = ert_list(arena, ert->others.at, ert->others.count);
	const char *near = NULL;
	for (size_t i = 0; i < ert->others.count && i < LISTED_MOST && !near; i++)
		near = suggest(ert_level_name(arena, ert->others.at[i]), lacking);
	const char *hint = suggestion(arena, near, "");
	if (ert->others.count && !served)
		diag_error(ert->reading->diag, span, "no table of the ERT names a level: %s%s",
			others, hint);
	else if (count && ert->others.count)
		diag_remark(ert->reading->diag, span,
			"the ERT has no table for %s: energies there are built in; tables of no "
			"level are skipped: %s%s",
			ert_list(arena, lacking, count), others, hint);
	else if (count)
		diag_remark(ert->reading->diag, span,
			"the ERT has no table for %s: energies there are built in",
			ert_list(arena, lacking, count));
	else if (ert->others.count)
		diag_remark(ert->reading->diag, span, "tables of no level are skipped: %s", others);
}

static const struct field keyed_action_fields[] = {
	{"*", FIELD_MAP, .shape = SHAPE_SOME, .noun = &action_noun},
	{0},
};
static const struct noun keyed_actions_noun = {.name = "actions", .fields = keyed_action_fields};

static const struct field keyed_table_fields[] = {
	{"*", FIELD_MAP, .noun = &keyed_actions_noun},
	{0},
};
static const struct noun tables_noun = {
	.name = "tables", .fields = keyed_table_fields, .items = &table_noun};

static const struct field ert_fields[] = {
	{"version", FIELD_TEXT, .read = field_skip},
	{"tables", FIELD_MAP, "energies of the actions of each level, a list or a map",
		.noun = &tables_noun, .required = true, KEEP_ANY(struct ert, listed)},
	{0},
};
const struct noun ert_noun = {.name = "ERT", .fields = ert_fields};

const struct arch *ert_read(
	const struct reading *reading, const struct node *node, const struct arch *arch)
{
	struct ert ert = {.reading = reading, .arch = arch};
	size_t errors = diag_errors(reading->diag);
	struct reader map;
	if (!noun_open(&map, reading, node, "ERT", &ert_noun))
		return NULL;
	fields_read(&map, &ert_noun, &ert, NULL);
	reader_done_lenient(&map);
	if (ert.listed)
		read_tables(&ert, ert.listed);
	if (diag_errors(reading->diag) == errors)
		tell_rest(&ert, ert.listed->span);
	if (diag_errors(reading->diag) > errors)
		return NULL;
	struct arch *other = arena_copy(reading->arena, arch, sizeof *arch);
	for (size_t i = 0; i < ert.tables.count; i++)
		if (has_energies(&other->levels[ert.tables.at[i].level]))
			ert_apply(&ert.tables.at[i], &other->levels[ert.tables.at[i].level]);
	return other;
}
