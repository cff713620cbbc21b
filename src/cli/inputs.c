#include "cli/inputs.h"
#include "cli/inputs_broadcast.h"
#include "cli/inputs_nest.h"
#include "cli/inputs_network.h"
#include "cli/inputs_objectives.h"
#include "cli/inputs_space_time.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"
#include "constraints/constraints.h"
#include "model/graph/plan_file.h"
#include "model/graph/workload_read.h"
#include "model/machine/arch_read.h"
#include "model/nest/nest_score.h"
#include "search/drive/solver.h"
#include "search/graph/lx_staging.h"
#include "search/graph/recipe.h"
#include "spec/sheet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIMULATE_BUDGET = 1000000, JOINT_TICKS = 2000, PLACE_TICKS_OF_MANY = 10000 };

static const char *const mode_names[] = {"strict", "compatible", NULL};

static void set_defaults(struct exploration *exploration)
{
	*exploration = (struct exploration){
		.wishes.objectives = {4, {OBJECTIVE_LATENCY, OBJECTIVE_ENERGY, OBJECTIVE_HBM_BYTES,
						 OBJECTIVE_CORES}},
		.vary_k_fast = true,
		.vary_clones = true,
		.divide = portfolio_for(STAGE_DIVIDE, FOR_GRAPHS | FOR_OPS),
		.place = portfolio_for(STAGE_PLACE, FOR_GRAPHS),
		.joint = portfolio_for(STAGE_JOINT, FOR_GRAPHS),
		.wishes.simulate = SIMULATE_ALL,
		.wishes.simulate_budget = SIMULATE_BUDGET,
		.joint_ticks = JOINT_TICKS,
		.place_ticks = PLACE_TICKS_OF_MANY,
		.wishes.seed = 1,
	};
}

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

/* The first choice of a stage leaves nobody else in play; divide and joint are chosen together. */
static void choose(struct inputs *inputs, const char *stage, const char *name, struct span span,
	struct diag *diag)
{
	struct exploration *exploration = &inputs->exploration;
	int s = 0;
	while (s < STAGE_COUNT && !text_equal(stage_names[s], stage))
		s++;
	if (s != STAGE_DIVIDE && s != STAGE_PLACE && s != STAGE_JOINT) {
		diag_error(
			diag, span, "unknown stage '%s'; it can be divide, place or joint", stage);
		return;
	}
	const struct solver *solver = inputs_solver((enum stage)s, name, span, diag);
	if (!solver)
		return;
	if (s == STAGE_PLACE && !inputs->chosen.place)
		exploration->place.count = 0;
	if (s != STAGE_PLACE && !inputs->chosen.divide && !inputs->chosen.joint)
		exploration->divide.count = exploration->joint.count = 0;
	inputs->chosen.divide |= s == STAGE_DIVIDE;
	inputs->chosen.place |= s == STAGE_PLACE;
	inputs->chosen.joint |= s == STAGE_JOINT;
	portfolio_add(s == STAGE_DIVIDE  ? &exploration->divide
		      : s == STAGE_PLACE ? &exploration->place
					 : &exploration->joint,
		solver);
}

static void read_solvers(
	const struct reading *reading, const struct node *map, struct inputs *inputs)
{
	if (!map)
		return;
	if (map->kind != NODE_MAP) {
		diag_error(reading->diag, map->span,
			"'solver' wants a map of stages, such as {place: bestfit}");
		return;
	}
	for (size_t i = 0; i < map->count; i++) {
		const struct node_entry *entry = &map->entries[i];
		const char *name;
		if (node_text(reading, entry->value, "a solver", &name))
			choose(inputs, entry->key, name, entry->value->span, reading->diag);
	}
}

static void read_search(
	const struct reading *reading, const struct node *node, struct inputs *inputs)
{
	struct exploration *exploration = &inputs->exploration;
	struct reader search;
	if (!node || !reader_open(&search, reading, node, "search"))
		return;
	int cores = exploration->planning.cores, counting = 0;
	bool k_fast = node_find(node, "k_fast") != NULL;
	bool clones = node_find(node, "clone_split") != NULL;
	planning_read(&search, &exploration->planning);
	inputs->cores_given |= node_find(node, "cores") || exploration->planning.cores != cores;
	exploration->vary_k_fast &= !k_fast;
	exploration->vary_clones &= !clones;

	struct objective_scope scope = {.arena = reading->arena, .diag = reading->diag};
	objectives_read(&search, &exploration->wishes.objectives, &scope);
	read_solvers(reading, read_node(&search, "solver", OPTIONAL), inputs);
	int64_t budget = 0, seed = (int64_t)exploration->wishes.seed;
	if (read_integer(&search, "budget", OPTIONAL, 1, INT64_MAX, &budget))
		exploration->wishes.budget = (uint64_t)budget;
	if (read_integer(&search, "seed", OPTIONAL, 0, INT64_MAX, &seed))
		exploration->wishes.seed = (uint64_t)seed;
	const struct node *epsilon = read_node(&search, "epsilon", OPTIONAL);
	if (epsilon)
		diag_error(reading->diag, epsilon->span,
			"'epsilon' is about the proof of a problem; this is a workload graph");
	const struct node *imperfect = read_node(&search, "imperfect", OPTIONAL);
	if (imperfect)
		diag_error(reading->diag, imperfect->span,
			"'imperfect' is about the factors of a problem; this is a workload graph");
	if (read_word(&search, "counting", OPTIONAL, counting_names, &counting) && counting)
		diag_error(reading->diag, read_node(&search, "counting", OPTIONAL)->span,
			"workload graphs are counted exactly; 'timeloop' counting is for a "
			"single problem and its mapping");
	reader_done(&search);
}

/* What the command line names stands in place of what the specs do, stage by stage. */
static void take_solvers(const struct arguments *arguments, struct inputs *inputs,
	struct arena *arena, struct diag *diag)
{
	struct inputs before = *inputs;
	inputs->chosen.divide = inputs->chosen.place = inputs->chosen.joint = false;
	for (size_t i = 0; i < arguments->option_count; i++) {
		const struct option_value *value = &arguments->options[i];
		if (!text_equal(value->option->name, "solver"))
			continue;
		const char *equals = strchr(value->text, '=');
		if (!equals) {
			diag_error(diag, value->span,
				"'--solver' wants STAGE=NAME, such as place=bestfit");
			continue;
		}
		choose(inputs,
			arena_format(arena, "%.*s", (int)(equals - value->text), value->text),
			equals + 1, value->span, diag);
	}
	inputs->chosen.place |= before.chosen.place;
	if (inputs->chosen.divide || inputs->chosen.joint)
		return;
	inputs->chosen.divide = before.chosen.divide;
	inputs->chosen.joint = before.chosen.joint;
}

static void take_options(const struct arguments *arguments, struct inputs *inputs,
	struct arena *arena, struct diag *diag)
{
	struct exploration *exploration = &inputs->exploration;
	struct planning *planning = &exploration->planning;
	int64_t cores = planning->cores, seed = (int64_t)exploration->wishes.seed;
	int64_t budget = (int64_t)exploration->wishes.budget;
	int64_t events = (int64_t)exploration->wishes.simulate_budget;
	int mode = !planning->strict, counting = 0, simulate = SIMULATE_ALL;
	network_limits_refuse(arguments, "a workload graph", diag);
	option_integer(arguments, "cores", 1, planning->machine_cores, diag, &cores);
	option_integer(arguments, "seed", 0, INT64_MAX, diag, &seed);
	option_integer(arguments, "budget", 1, INT64_MAX, diag, &budget);
	option_integer(arguments, "simulate-budget", 1, INT64_MAX, diag, &events);
	option_word(arguments, "mode", mode_names, diag, &mode);
	option_word(arguments, "simulate", simulate_names, diag, &simulate);
	const struct option_value *epsilon = option_find(arguments, "epsilon");
	if (epsilon)
		diag_error(diag, epsilon->span,
			"'--epsilon' is for a problem; this is a workload graph");
	const struct option_value *imperfect = option_find(arguments, "imperfect");
	if (imperfect)
		diag_error(diag, imperfect->span,
			"'--imperfect' is for a problem; this is a workload graph");
	option_word(arguments, "counting", counting_names, diag, &counting);
	if (counting)
		diag_error(diag, option_find(arguments, "counting")->span,
			"workload graphs are counted exactly; 'timeloop' counting is for a "
			"single problem and its mapping");
	inputs->cores_given |= option_find(arguments, "cores") != NULL;
	planning->cores = (int)cores;
	planning->strict = mode == 0;
	exploration->wishes.seed = (uint64_t)seed;
	exploration->wishes.budget = (uint64_t)budget;
	exploration->wishes.simulate_budget = (uint64_t)events;
	exploration->wishes.simulate = (enum simulate)simulate;
	struct objective_scope scope = {.arena = arena, .diag = diag};
	objectives_take(arguments, &exploration->wishes.objectives, &scope);
	take_solvers(arguments, inputs, arena, diag);
}

static void set_cores(struct inputs *inputs)
{
	struct exploration *exploration = &inputs->exploration;
	if (inputs->cores_given) {
		exploration->core_count = 1;
		exploration->cores[0] = exploration->planning.cores;
	} else {
		exploration->core_count =
			explore_cores(exploration->planning.cores, exploration->cores);
	}
}

const struct node *const *inputs_files(
	struct arena *arena, const struct arguments *arguments, struct diag *diag)
{
	const struct node **files = arena_array(arena, const struct node *, arguments->count);
	for (size_t i = 0; i < arguments->count; i++)
		files[i] = node_read_file(arena, arguments->at[i], diag);
	return files;
}

/* The sheet of all files, which are the sources, too. */
static struct sheet *open_sheet(struct arena *arena, const struct arguments *arguments,
	const struct node *const *files, struct diag *diag, struct inputs *out)
{
	struct sheet *sheet = sheet_open(arena, diag);
	struct run_source *sources = arena_array(arena, struct run_source, arguments->count);
	for (size_t i = 0; i < arguments->count; i++) {
		sources[i].path = arguments->at[i];
		if (!files[i])
			continue;
		sources[i].hash = files[i]->span.source->hash;
		sheet_add(sheet, files[i]);
	}
	out->sources = sources;
	out->source_count = arguments->count;
	return sheet;
}

/* What the specs ask of single ops and tensors. */
static void read_constraints(struct inputs *inputs, const struct node *const *lists)
{
	const struct constraint_context context = {
		.reading = &inputs->reading, .arch = inputs->arch, .workload = inputs->workload};
	struct constraints *constraints = arena_new(inputs->reading.arena, struct constraints);
	*constraints = constraints_read(&context, lists);
	constraints_agree_on_graph(constraints, inputs->reading.diag);
	inputs->exploration.planning.constraints = constraints;
}

bool inputs_check_plan(const struct inputs *inputs, struct diag *diag)
{
	const struct constraints *constraints = inputs->exploration.planning.constraints;
	for (size_t i = 0; inputs->plan && i < constraints->count; i++) {
		const struct constraint *constraint = &constraints->at[i];
		const char *why = constraint->kind->check_plan(
			constraint, inputs->plan, inputs->reading.arena);
		if (why)
			diag_error(diag, constraint->span, "%s", why);
	}
	return !diag_failed(diag);
}

/* What the specs are about is missing; a key that is read beside it shows what it should be. */
static void tell_missing(const struct sheet *sheet, struct diag *diag)
{
	static const char *const of_problems[] = {"mapper", "mapping", "ERT", "energy"};
	diag_error(diag, (struct span){0},
		"no file has a 'workload', 'network', 'problem' or 'broadcast'; specs/workloads/ and "
		"specs/problems/ have examples");
	for (size_t i = 0; i < sizeof of_problems / sizeof *of_problems; i++)
		if (sheet_has(sheet, of_problems[i]))
			diag_note(diag, sheet_place(sheet, of_problems[i]),
				"'%s' is about a problem: its file is wanted, too", of_problems[i]);
}

static bool read_sheet(struct sheet *sheet, struct arena *arena, const struct arguments *arguments,
	struct diag *diag, struct inputs *out)
{
	out->reading = sheet_reading(sheet);
	if (diag_failed(diag))
		return false;
	if (sheet_has(sheet, "space_time")) {
		out->space_time =
			space_time_inputs_read(sheet, &out->reading, arguments, &out->exploration);
		return out->space_time && !diag_failed(diag);
	}
	if (sheet_has(sheet, "broadcast") && !sheet_has(sheet, "workload")) {
		out->broadcast =
			broadcast_inputs_read(sheet, &out->reading, arguments, &out->exploration);
		return out->broadcast && !diag_failed(diag);
	}
	if (sheet_has(sheet, "network")) {
		out->network =
			network_inputs_read(sheet, &out->reading, arguments, &out->exploration);
		return out->network && !diag_failed(diag);
	}
	if (sheet_has(sheet, "problem")) {
		out->nest = nest_inputs_read(sheet, &out->reading, arguments, &out->exploration);
		return out->nest && !diag_failed(diag);
	}
	const struct node *arch = sheet_find(sheet, "architecture");
	const struct node *workload = sheet_find(sheet, "workload");
	const struct node *search = sheet_find(sheet, "search");
	const struct node *plan = sheet_find(sheet, "plan");
	const struct node *const *constraints = constraints_lists(sheet, arena);
	if (workload)
		sheet_done(sheet); /* else it is not known yet what reads the other keys */
	if (!arch)
		diag_error(diag, (struct span){0},
			"no file has an 'architecture'; specs/arch/spyre32.yaml is one");
	if (!workload)
		tell_missing(sheet, diag);
	if (arch)
		out->arch = arch_read(&out->reading, arch);
	if (workload)
		out->workload = workload_read(&out->reading, workload);
	if (!out->arch || !arch_fits_graphs(out->arch, diag))
		return false;

	out->exploration.planning = planning_default(out->arch);
	int cores = out->exploration.planning.cores;
	planning_environment(&out->exploration.planning, diag);
	out->cores_given = out->exploration.planning.cores != cores;
	read_search(&out->reading, search, out);
	if (out->workload)
		read_constraints(out, constraints);
	take_options(arguments, out, arena, diag);
	if (diag_failed(diag) || !out->workload)
		return false;
	out->arch = planning_arch(arena, out->arch, &out->exploration.planning);
	out->exploration.arch = out->arch;
	if (!broadcasts_fit(out->arch, out->workload, diag))
		return false;
	if (workload_has_broadcast(out->workload))
		out->exploration.planning.menus = staging_menus(
			out->arch, out->workload, out->exploration.planning.staging_tiles, arena);
	out->exploration.workload = out->workload;
	set_cores(out);
	if (plan) {
		out->plan = plan_read(&out->reading, plan, out->arch, out->workload);
		out->plan_span = plan->span;
	}
	return !diag_failed(diag);
}

bool inputs_read_files(struct arena *arena, const struct arguments *arguments,
	const struct node *const *files, struct diag *diag, struct inputs *out)
{
	*out = (struct inputs){0};
	set_defaults(&out->exploration);
	if (!arguments->count) {
		diag_error(diag, (struct span){0},
			"no spec file is given; try specs/arch/spyre32.yaml and a file of "
			"specs/workloads/");
		return false;
	}
	struct sheet *sheet = open_sheet(arena, arguments, files, diag, out);
	bool good = read_sheet(sheet, arena, arguments, diag, out);
	sheet_note(sheet);
	return good;
}

bool inputs_read(struct arena *arena, const struct arguments *arguments, struct diag *diag,
	struct inputs *out)
{
	const struct node *const *files = inputs_files(arena, arguments, diag);
	return inputs_read_files(arena, arguments, files, diag, out);
}

/* Why the solvers that were named cannot all be asked for one plan; NULL if they can. */
static const char *find_surplus(const struct inputs *inputs, struct arena *arena)
{
	const struct exploration *exploration = &inputs->exploration;
	const struct portfolio *divide = &exploration->divide;
	for (size_t i = 0; inputs->chosen.divide && i < divide->count; i++)
		if (divide->at[i]->sharing == SHARING_ENUMERATION)
			return arena_format(arena,
				"%s divides one op of a plan at a time; only explore asks it",
				solver_label(arena, divide->at[i]));
	if ((inputs->chosen.divide && divide->count > 1) ||
		(inputs->chosen.place && exploration->place.count > 1) ||
		(inputs->chosen.joint && exploration->joint.count > 1))
		return "one plan is made by one solver of each stage; only explore asks several";
	return NULL;
}

struct recipe_result inputs_plan(const struct inputs *inputs, struct arena *arena)
{
	const struct exploration *exploration = &inputs->exploration;
	if (inputs->plan) {
		struct plan *copy = arena_copy(arena, inputs->plan, sizeof *copy);
		return (struct recipe_result){.plan = copy};
	}
	const char *why = find_surplus(inputs, arena);
	if (why)
		return (struct recipe_result){.why = why};
	const struct solver *joint = NULL;
	if (inputs->chosen.joint)
		joint = exploration->joint.at[0];
	else if (exploration->planning.co_optimize)
		joint = solver_for(STAGE_JOINT, FOR_GRAPHS);
	struct recipe recipe = {
		.arch = exploration->arch,
		.workload = exploration->workload,
		.planning = exploration->planning,
		.divide = explore_dividers(exploration).at[0],
		.joint = joint,
		.place = exploration->place.at[0],
		.joint_ticks = exploration->joint_ticks,
		.seed = exploration->wishes.seed,
	};
	return recipe_plan(&recipe, arena);
}

bool inputs_believe(
	const struct inputs *inputs, const struct recipe_result *made, struct diag *diag)
{
	for (size_t i = 0; i < made->complaint_count; i++) {
		const struct complaint *complaint = &made->complaints[i];
		struct span span = {0};
		if (complaint->op >= 0)
			span = inputs->workload->ops[complaint->op].span;
		if (complaint->error)
			diag_error(diag, span, "%s", complaint->text);
		else
			diag_warning(diag, span, "%s", complaint->text);
	}
	if (!made->plan && !diag_failed(diag))
		diag_error(diag, made->broken ? made->broken->span : (struct span){0}, "%s",
			made->why);
	diag_print(diag, stderr);
	return made->plan != NULL;
}
