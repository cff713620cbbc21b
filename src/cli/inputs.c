#include "cli/inputs.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"
#include "cli/kind.h"
#include "cli/settings.h"
#include "cli/spec_files.h"
#include "import/import.h"
#include "model/machine/arch_read.h"
#include "model/machine/ert.h"
#include "search/nest/nest_search.h"

#include <string.h>
#include <sys/stat.h>

struct solver_choices array(struct choice);
struct given_array array(struct given_name);

bool kind_takes(const struct input_kind *kind, const struct option *setting)
{
	size_t length = strlen(kind->name);
	const char *at = setting->kinds;
	while (at && (at = strstr(at, kind->name))) {
		if ((at == setting->kinds || at[-1] == ' ') && (!at[length] || at[length] == ' '))
			return true;
		at += length;
	}
	return !setting->kinds;
}

/* --- what is for inputs of other kinds */

static void setting_refuse(const struct inputs *inputs, const struct option *setting,
	const char *called, struct span span)
{
	if (!kind_takes(inputs->kind, setting))
		diag_error(inputs->diag, span, "'%s' is for %s; this is %s", called,
			settings_kinds(inputs->arena, setting), inputs->kind->noun);
}

static void refuse_others(struct inputs *inputs)
{
	const struct arguments *arguments = inputs->arguments;
	const struct node *map = inputs->search.map;
	for (size_t i = 0; map && i < map->count; i++) {
		const char *key = map->entries[i].key;
		const struct option *setting = settings_find_key(key);
		if (!setting || kind_takes(inputs->kind, setting))
			continue;
		const struct node *value = read_node(&inputs->search, key, OPTIONAL);
		if (value)
			setting_refuse(inputs, setting, key, value->span);
	}
	for (size_t i = 0; i < arguments->option_count; i++) {
		const struct option_value *value = &arguments->options[i];
		setting_refuse(inputs, value->option,
			arena_format(inputs->arena, "--%s", value->option->name), value->span);
	}
}

/* --- values */

static const char *inputs_key(const struct inputs *inputs, const char *name)
{
	const struct option *at;
	for (size_t i = 0; inputs->search.map && (at = settings_at(i)); i++)
		if (at->key && text_equal(at->name, name))
			return at->key;
	return NULL;
}

void inputs_count(struct inputs *inputs, const char *name, uint64_t *out)
{
	const char *key = inputs_key(inputs, name);
	int64_t value = (int64_t)*out;
	if (key) {
		const struct option *setting = settings_find_key(key);
		read_integer(&inputs->search, key, OPTIONAL, setting->least,
			setting->most ? setting->most : INT64_MAX, &value);
	}
	option_integer(inputs->arguments, name, 0, inputs->diag, &value);
	*out = (uint64_t)value;
}

void inputs_word(struct inputs *inputs, const char *name, int *out)
{
	const char *key = inputs_key(inputs, name);
	if (key)
		read_word(&inputs->search, key, OPTIONAL, settings_find_key(key)->words, out);
	option_word(inputs->arguments, name, inputs->diag, out);
}

const struct node *inputs_node(struct inputs *inputs, const char *name, const char **what)
{
	const char *key = inputs_key(inputs, name);
	const struct node *node = key ? read_node(&inputs->search, key, OPTIONAL) : NULL;
	const struct option_value *value = option_find(inputs->arguments, name);
	if (node)
		*what = reader_place(&inputs->search, key);
	if (!value)
		return node;
	*what = arena_format(inputs->arena, "'--%s'", name);
	return node_scalar(inputs->arena, value->text, value->span);
}

/* Adds the names of a list that commas part. */
static void add_names(
	struct arena *arena, struct given_array *names, const struct option_value *value)
{
	char *rest = NULL, *list = arena_text(arena, value->text);
	for (char *name = strtok_r(list, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
		*array_add(arena, names) = (struct given_name){name, value->span};
}

void inputs_names(struct inputs *inputs, const char *name, struct given_names out[2])
{
	const char *key = inputs_key(inputs, name);
	const struct node *list = key ? read_node(&inputs->search, key, OPTIONAL) : NULL;
	const struct option_value *last = option_find(inputs->arguments, name);
	const char *const *texts;
	size_t count;
	struct given_array names[2] = {0};
	bool given = list && read_texts(&inputs->search, key, OPTIONAL, &texts, &count);
	for (size_t i = 0; given && i < count; i++)
		*array_add(inputs->arena, &names[0]) =
			(struct given_name){texts[i], node_item(list, i)->span};
	for (size_t i = 0; last && i < inputs->arguments->option_count; i++) {
		const struct option_value *value = &inputs->arguments->options[i];
		if (value == last || (value->option == last->option && last->option->many))
			add_names(inputs->arena, &names[1], value);
	}
	out[0] = (struct given_names){given, names[0].count, names[0].at};
	out[1] = (struct given_names){last != NULL, names[1].count, names[1].at};
}

bool inputs_given(const struct inputs *inputs, const char *name)
{
	return option_find(inputs->arguments, name) != NULL;
}

/* --- solvers */

const struct solver *inputs_solver(
	enum stage stage, const char *name, struct span span, struct diag *diag)
{
	const struct solver *found = solver_find(stage, name);
	const char *names[64];
	size_t count = 0;
	if (found)
		return found;
	for (size_t i = 0; solvers[i] && count < 63; i++)
		if (solvers[i]->stage == stage)
			names[count++] = solvers[i]->name;
	names[count] = NULL;
	const char *near = suggest(name, names);
	diag_error(diag, span, "stage '%s' has no solver '%s'%s%s%s", stage_names[stage], name,
		near ? "; did you mean '" : "; lxplore list solvers shows them", near ? near : "",
		near ? "'?" : "");
	return NULL;
}

static void refuse_stage(struct inputs *inputs, const char *stage, struct span span)
{
	struct text text = text_open(inputs->arena);
	int count = 0;
	for (int s = 0; s < STAGE_COUNT; s++)
		if (inputs->kind->stages >> s & 1)
			text_add(&text, "%s'%s'", count++ ? ", " : "", stage_names[s]);
	diag_error(inputs->diag, span, "%s has the %s %s, not '%s'", inputs->kind->noun,
		count == 1 ? "one stage" : "stages", text_read(&text), stage);
}

static void solver_choose(struct inputs *inputs, struct solver_choices *choices, const char *stage,
	const char *name, struct span span, bool line)
{
	int s = 0;
	while (s < STAGE_COUNT &&
		!(inputs->kind->stages >> s & 1 && text_equal(stage_names[s], stage)))
		s++;
	if (s == STAGE_COUNT) {
		refuse_stage(inputs, stage, span);
		return;
	}
	const struct solver *solver = inputs_solver((enum stage)s, name, span, inputs->diag);
	if (solver)
		*array_add(inputs->arena, choices) = (struct choice){solver, span, line};
}

static void read_solvers(struct inputs *inputs, struct solver_choices *choices)
{
	const struct node *map =
		inputs->search.map ? read_node(&inputs->search, "solver", OPTIONAL) : NULL;
	if (map && map->kind != NODE_MAP) {
		diag_error(inputs->diag, map->span,
			"'solver' needs a map of stages, such as {place: bestfit}");
		return;
	}
	for (size_t i = 0; map && i < map->count; i++) {
		const struct node_entry *entry = &map->entries[i];
		const char *name;
		if (node_text(&inputs->reading, entry->value, "a solver", &name))
			solver_choose(inputs, choices, entry->key, name, entry->value->span, false);
	}
}

static void take_solvers(struct inputs *inputs, struct solver_choices *choices)
{
	for (size_t i = 0; i < inputs->arguments->option_count; i++) {
		const struct option_value *value = &inputs->arguments->options[i];
		const char *equals = strchr(value->text, '=');
		if (!text_equal(value->option->name, "solver"))
			continue;
		if (equals)
			solver_choose(inputs, choices,
				arena_format(inputs->arena, "%.*s", (int)(equals - value->text),
					value->text),
				equals + 1, value->span, true);
		else
			diag_error(inputs->diag, value->span,
				"'--solver' needs STAGE=NAME, such as place=bestfit");
	}
}

const struct solver *inputs_one_solver(const struct inputs *inputs, const struct solver *usual)
{
	const struct choice *chosen = NULL;
	for (size_t i = 0; i < inputs->choice_count; i++) {
		const struct choice *choice = &inputs->choices[i];
		if (chosen && chosen->line == choice->line && chosen->solver != choice->solver)
			diag_error(inputs->diag, choice->span,
				"%s is searched by one solver: '%s' or '%s'", inputs->kind->noun,
				chosen->solver->name, choice->solver->name);
		chosen = choice;
	}
	return chosen ? chosen->solver : usual;
}

/* --- all of it */

static void read_objectives(struct inputs *inputs, const struct objective_scope *scope)
{
	struct objectives *objectives = &inputs->wishes.objectives;
	struct given_names names[2];
	inputs_names(inputs, "objective", names);
	for (int n = 0; n < 2; n++) {
		objectives->count = names[n].given ? 0 : objectives->count;
		for (size_t i = 0; i < names[n].count; i++)
			objectives_add(objectives, names[n].at[i].text, names[n].at[i].span, scope);
	}
	if (!objectives->count && !diag_failed(inputs->diag))
		diag_error(inputs->diag, (struct span){0}, "no objective is left");
}

void inputs_settings(struct inputs *inputs, const struct hierarchy *hierarchy)
{
	struct wishes *wishes = &inputs->wishes;
	struct objective_scope scope = {
		inputs->arena, inputs->diag, inputs->kind->subject, hierarchy};
	struct solver_choices choices = {0};
	int simulate = (int)wishes->simulate;
	refuse_others(inputs);
	read_objectives(inputs, &scope);
	read_solvers(inputs, &choices);
	take_solvers(inputs, &choices);
	inputs->choices = choices.at;
	inputs->choice_count = choices.count;
	inputs_count(inputs, "budget", &wishes->budget);
	inputs_count(inputs, "seed", &wishes->seed);
	inputs_count(inputs, "simulate-budget", &wishes->simulate_budget);
	inputs_word(inputs, "simulate", &simulate);
	wishes->simulate = (enum simulate)simulate;
}

void inputs_settings_done(struct inputs *inputs)
{
	if (inputs->search.map)
		reader_done(&inputs->search);
}

/* Returns the defaults of explorations of every kind. */
static struct wishes default_wishes(void)
{
	enum { SIMULATE_BUDGET = 1000000 };
	return (struct wishes){
		.simulate = SIMULATE_ALL, .simulate_budget = SIMULATE_BUDGET, .seed = 1};
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat one, other;
	return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev &&
	       one.st_ino == other.st_ino;
}

/* Warns of files that are given as arguments and included by one of them, too. */
static void warn_included(
	const struct arguments *arguments, const struct node *file, struct diag *diag)
{
	const struct source *source = file ? file->span.source : NULL;
	for (size_t p = 0; source && p < source->piece_count; p++)
		for (size_t i = 0; i < arguments->count; i++) {
			const struct source *piece = source->pieces[p].source;
			if (!text_equal(piece->name, source->name) &&
				is_same_file(piece->name, arguments->at[i]))
				diag_warning(diag, (struct span){.source = piece},
					"is given, and included in '%s' by Jinja's include_text, "
					"too; give it once",
					source->name);
		}
}

const struct node *const *inputs_files(
	struct arena *arena, const struct arguments *arguments, struct diag *diag)
{
	const struct node **files = arena_array(arena, const struct node *, arguments->count);
	const char **folders = arena_array(arena, const char *, arguments->count + 2);
	folders[0] = ".";
	for (size_t i = 0; i < arguments->count; i++) {
		const char *path = arguments->at[i], *slash = strrchr(path, '/');
		folders[i + 1] =
			slash ? arena_format(arena, "%.*s", (int)(slash - path), path) : ".";
	}
	for (size_t i = 0; i < arguments->count; i++)
		files[i] = model_or_spec(arena, arguments, arguments->at[i], folders, diag);
	for (size_t i = 0; i < arguments->count; i++)
		warn_included(arguments, files[i], diag);
	return files;
}

/* The name of the copy of a spec in the results folder: "specs/001-arch.yaml".  A copy of a copy has no
 * second number. */
static const char *copy_name(struct arena *arena, size_t i, const char *path)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	if (strspn(base, "0123456789") == 3 && base[3] == '-' && base[4])
		base += 4;
	/* of a model, the workload that was read */
	return arena_format(arena, "specs/%03zu-%s%s", i + 1,
		text_equal(base, "-") ? "stdin" : base, import_is_model(base) ? ".yaml" : "");
}

/* The sheet of all files, which are the sources, too. */
static struct sheet *open_sheet(struct inputs *inputs, const struct node *const *files)
{
	const struct arguments *arguments = inputs->arguments;
	struct sheet *sheet = sheet_open(inputs->arena, inputs->diag);
	struct run_source *sources =
		arena_array(inputs->arena, struct run_source, arguments->count);
	for (size_t k = 0; input_kinds[k]; k++)
		if (input_kinds[k]->key)
			sheet_know(sheet, input_kinds[k]->key);
	for (size_t i = 0; i < arguments->count; i++) {
		sources[i].path = arguments->at[i];
		if (!files[i])
			continue;
		const struct source *source = files[i]->span.source;
		sources[i].hash = source->hash;
		sources[i].text =
			arena_format(inputs->arena, "%.*s", (int)source->length, source->bytes);
		sources[i].copy = copy_name(inputs->arena, i, arguments->at[i]);
		sheet_add(sheet, files[i]);
	}
	inputs->sources = sources;
	inputs->source_count = arguments->count;
	return sheet;
}

/* The kind of the highest rank whose key is there; of the lowest, which complains of what is missing,
 * where none is. */
static const struct input_kind *find_kind(const struct sheet *sheet)
{
	const struct input_kind *found = NULL, *lowest = NULL;
	for (size_t k = 0; input_kinds[k]; k++) {
		const struct input_kind *kind = input_kinds[k];
		if (!kind->key)
			continue;
		if (!lowest || kind->rank < lowest->rank)
			lowest = kind;
		if (sheet_has(sheet, kind->key) && (!found || kind->rank > found->rank))
			found = kind;
	}
	return found ? found : lowest;
}

static bool read_sheet(struct inputs *inputs, struct sheet *sheet)
{
	inputs->reading = sheet_reading(sheet);
	if (diag_failed(inputs->diag))
		return false;
	inputs->kind = find_kind(sheet);
	inputs->wishes.objectives = inputs->kind->objectives;
	const struct node *search = sheet_find(sheet, "search");
	if (search && !reader_open(&inputs->search, &inputs->reading, search, "search"))
		inputs->search.map = NULL;
	return inputs->kind->read(inputs, sheet) && !diag_failed(inputs->diag);
}

bool inputs_read_files(struct arena *arena, const struct arguments *arguments,
	const struct node *const *files, struct diag *diag, struct inputs *out)
{
	*out = (struct inputs){
		.arena = arena, .diag = diag, .arguments = arguments, .wishes = default_wishes()};
	if (!arguments->count) {
		diag_error(diag, (struct span){0},
			"no spec file is given; try specs/arch/spyre32.yaml and a file of "
			"specs/workloads/");
		return false;
	}
	struct sheet *sheet = open_sheet(out, files);
	bool good = read_sheet(out, sheet);
	sheet_note(sheet);
	return good;
}

bool inputs_read(struct arena *arena, const struct arguments *arguments, struct diag *diag,
	struct inputs *out)
{
	const struct node *const *files = inputs_files(arena, arguments, diag);
	return inputs_read_files(arena, arguments, files, diag, out);
}

void inputs_refuse_keys(struct inputs *inputs, struct sheet *sheet, const char *const *keys)
{
	for (; *keys; keys++) {
		const struct node *node = sheet_find(sheet, *keys);
		if (node && (node->kind != NODE_LIST || node->count))
			diag_error(inputs->diag, node->span,
				"'%s' and '%s' are both given; a run is about one of them", *keys,
				inputs->kind->key);
	}
}

/* Accesses of nests have the energies of an ERT; boxes are priced by bytes. */
const struct arch *inputs_machine(
	struct sheet *sheet, const struct reading *reading, const struct node *node)
{
	const struct arch *arch = arch_read(reading, node);
	bool boxes = arch && arch_moves_boxes(arch);
	const struct node *ert = boxes ? NULL : sheet_find(sheet, "ERT");
	return arch && ert ? ert_read(reading, ert, arch) : arch;
}

static void objective_append(struct objectives *objectives, enum objective objective,
	const char *name, struct span span, struct diag *diag)
{
	for (size_t k = 0; k < objectives->count; k++)
		if (objectives->at[k] == objective) {
			diag_error(diag, span, "objective '%s' is given twice", name);
			return;
		}
	objectives->at[objectives->count++] = objective;
}

void objectives_add_level(struct objectives *objectives, int level, struct span span,
	const struct objective_scope *scope)
{
	enum objective objective = (enum objective)(OBJECTIVE_ACCESSES + level);
	objective_append(objectives, objective,
		nest_objective_text(scope->arena, objective, scope->hierarchy), span, scope->diag);
}

static void add_accesses(struct objectives *objectives, const char *name, struct span span,
	const struct objective_scope *scope)
{
	const char *known[ARCH_LEVELS_MOST + 1] = {0};
	int count = 0;
	for (int i = 0; i < scope->hierarchy->level_count; i++) {
		const struct nest_level *level = &scope->hierarchy->levels[i];
		if (level->storage && text_equal(level->name, name)) {
			objectives_add_level(objectives, i, span, scope);
			return;
		}
		if (level->storage)
			known[count++] = level->name;
	}
	const char *near = suggest(name, known);
	struct text all = text_open(scope->arena);
	for (int i = 0; i < count; i++)
		text_add(&all, "%s%s", i ? ", " : "", known[i]);
	diag_error(scope->diag, span,
		*name ? "no level '%s' keeps words; %s%s%s"
		      : "accesses:LEVEL needs a level that keeps words%s; %s%s%s",
		name, near ? "did you mean '" : "there are ", near ? near : text_read(&all),
		near ? "'?" : "");
}

void objectives_add(struct objectives *objectives, const char *name, struct span span,
	const struct objective_scope *scope)
{
	static const char accesses[] = "accesses";
	size_t length = sizeof accesses - 1;
	if (strncmp(name, accesses, length) == 0 && (!name[length] || name[length] == ':')) {
		if (scope->subject != SUBJECT_PROBLEM)
			diag_error(scope->diag, span,
				scope->subject == SUBJECT_GRAPH
					? "objective '%s' is for problems: a workload graph has "
					  "hbm_bytes and lx_peak"
					: "objective '%s' is for problems",
				name);
		else if (scope->hierarchy)
			add_accesses(
				objectives, name + length + (name[length] == ':'), span, scope);
		return;
	}
	int found = objective_find(name);
	if (found < 0)
		diag_error(scope->diag, span, "unknown objective '%s'%s", name,
			suggestion(scope->arena, suggest(name, objective_names),
				"; lxplore list objectives shows them"));
	else if (!objective_applies((enum objective)found, scope->subject))
		diag_error(scope->diag, span, "objective '%s' is not about %s", name,
			subject_names[scope->subject]);
	else
		objective_append(objectives, (enum objective)found, name, span, scope->diag);
}
