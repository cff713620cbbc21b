#include "cli/graph_inputs.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"
#include "cli/kind.h"
#include "cli/nest_inputs.h"
#include "constraints/constraints.h"
#include "constraints/graph.h"
#include "constraints/kind.h"
#include "model/graph/box_nest.h"
#include "model/graph/plan_check.h"
#include "model/graph/plan_file.h"
#include "model/graph/workload_read.h"
#include "model/nest/nest_mapping.h"
#include "model/nest/shape.h"
#include "search/graph/lx.h"
#include "search/graph/nests.h"
#include "search/graph/recipe.h"
#include "search/joint/joint_graph.h"

#include <stdio.h>
#include <string.h>

/*
 * Timeloop's keys beside a `problem` that becomes a graph of one op (graph_inputs.h): its
 * mapping, its mapper, and constraints of its mapspace.  model/graph/box_nest.h defines them for machines whose tiles
 * move in boxes.  All complain.
 */
struct constraints;
struct shape;

/* Flags say how words are counted, and here boxes are. */
static void refuse_flag(
	struct inputs *inputs, const struct arch *arch, const struct constraint *constraint)
{
	diag_error(inputs->diag, constraint->span,
		"'%s' is for levels that move single words; '%s' moves tiles in boxes: remove it",
		constraint->kind->key, arch->levels[arch->lx].name);
}

static struct plan *plan_of_op(
	struct inputs *inputs, const struct graph_inputs *own, const struct mapping *mapping)
{
	struct step *step = arena_new(inputs->arena, struct step);
	struct plan *plan = arena_new(inputs->arena, struct plan);
	*step = (struct step){.mapping = *mapping};
	*plan = (struct plan){.arch = own->arch,
		.workload = own->workload,
		.cores = (int)mapping_cores(own->arch, mapping),
		.step_count = 1,
		.steps = step,
		.proof = {.method = "mapping"}};
	return plan;
}

/* A `mapping:` as the plan of the op, all tensors in HBM. */
static void graph_problem_mapping(struct inputs *inputs, struct graph_inputs *own,
	const struct shape *shape, const struct node *node)
{
	const struct workload *workload = own->workload;
	struct arena *arena = inputs->arena;
	struct mapping nest, mapping;
	const struct constraint_context context = {
		.reading = &inputs->reading, .arch = own->arch, .shape = shape};
	if (!nest_mapping_read(&inputs->reading, node, own->arch, shape, &nest))
		return;
	struct constraints flags = constraints_of_mapping(&context, node);
	for (size_t i = 0; i < flags.count; i++)
		refuse_flag(inputs, own->arch, &flags.at[i]);
	const char *why =
		box_mapping(arena, own->arch, workload, &workload->ops[0], shape, &nest, &mapping);
	if (!why)
		why = mapping_check(arena, own->arch, workload, &workload->ops[0], &mapping);
	if (why) {
		diag_error(inputs->diag, node->span, "%s", why);
		return;
	}
	struct plan *plan = plan_of_op(inputs, own, &mapping);
	struct plan_faults faults = plan_check(plan, arena);
	for (size_t i = 0; i < faults.count; i++)
		diag_error(inputs->diag, node->span, "%s", faults.at[i].why);
	own->plan = plan;
	own->plan_span = node->span;
}

/* The objectives of a `mapper:` and its budget; what steers Timeloop's draws is refused by name. */
static void graph_problem_mapper(
	struct inputs *inputs, struct graph_inputs *own, const struct node *mapper)
{
	struct nest_inputs unused = {0};
	nest_inputs_mapper(inputs, &unused, mapper);
	nest_inputs_note_search(&unused,
		arena_format(inputs->arena,
			"tiles move in boxes on '%s', and divisions are enumerated",
			own->arch->name),
		inputs->diag);
}

/* Narrows the domain of mappings by the constraints, into constraints->problem; refuses flags. */
static void graph_problem_agree(struct inputs *inputs, const struct arch *arch,
	const struct shape *shape, struct constraints *constraints)
{
	struct arena *arena = inputs->arena;
	for (size_t i = 0; i < constraints->count; i++) {
		const struct constraint *constraint = &constraints->at[i];
		if (constraint->kind->flag && !constraint->kind->narrow)
			refuse_flag(inputs, arch, constraint);
		if (!constraint->kind->check_plan)
			constraints->problem = domain_make(arena, arch, shape, NULL);
	}
	struct domain *narrowed = domain_make(arena, arch, shape, NULL);
	narrowed->imperfect = UINT32_MAX; /* tiles of whole units need not divide an extent */
	constraints_narrow(constraints, narrowed, inputs->diag);
}

/* Default budgets of a search: of a plan, a whole plan, a placement. */
enum { JOINT_TICKS = 2000, PLAN_LABELS = 10000000, PLACE_TICKS_OF_MANY = 10000 };

static void set_defaults(struct exploration *exploration)
{
	*exploration = (struct exploration){
		.fixed = KIND_RELAY,
		.vary_k_fast = true,
		.vary_clones = true,
		.divide = portfolio_for(STAGE_DIVIDE, FOR_GRAPHS | FOR_OPS),
		.place = portfolio_for(STAGE_PLACE, FOR_GRAPHS),
		.joint = portfolio_for(STAGE_JOINT, FOR_GRAPHS),
		.joint_ticks = JOINT_TICKS,
		.plan_ticks = PLAN_LABELS,
		.place_ticks = PLACE_TICKS_OF_MANY,
	};
}

/* The first choice of a stage excludes its other solvers; divide and joint are chosen together.  The choices of
 * the command line replace those of the specs. */
static void inputs_choose(const struct inputs *inputs, struct graph_inputs *own)
{
	struct exploration *exploration = &own->exploration;
	bool place = false, divide = false, line = false;
	for (size_t i = 0; i < inputs->choice_count; i++) {
		const struct choice *choice = &inputs->choices[i];
		enum stage stage = choice->solver->stage;
		if (choice->line && !line)
			place = divide = false;
		line = choice->line;
		if (stage == STAGE_MAP) {
			exploration->map = choice->solver;
			continue;
		}
		if (stage == STAGE_PLACE && !place)
			exploration->place.count = 0;
		if (stage != STAGE_PLACE && !divide) {
			exploration->divide.count = exploration->joint.count = 0;
			own->chosen.divide = own->chosen.joint = false;
		}
		place |= stage == STAGE_PLACE;
		divide |= stage != STAGE_PLACE;
		own->chosen.place |= stage == STAGE_PLACE;
		own->chosen.divide |= stage == STAGE_DIVIDE;
		own->chosen.joint |= stage == STAGE_JOINT;
		portfolio_add(stage == STAGE_DIVIDE  ? &exploration->divide
			      : stage == STAGE_PLACE ? &exploration->place
						     : &exploration->joint,
			choice->solver);
	}
}

static bool has_key(const struct inputs *inputs, const char *key)
{
	return inputs->search.map && node_find(inputs->search.map, key);
}

static void inputs_leave_out(
	const struct inputs *inputs, const struct given_name *name, unsigned *fixed)
{
	int kind = 0;
	while (joint_kind_names[kind] && !text_equal(joint_kind_names[kind], name->text))
		kind++;
	if (joint_kind_names[kind])
		*fixed |= 1u << kind;
	else if (!text_equal(name->text, "nothing"))
		diag_error(inputs->diag, name->span, "whole plans have no decision '%s'%s",
			name->text,
			suggestion(inputs->arena, suggest(name->text, joint_kind_names), ""));
}

/* Reads the decisions that whole plans leave out; the command line's list replaces the specs'. */
static void read_without(struct inputs *inputs, unsigned *fixed)
{
	struct given_names names[2];
	inputs_names(inputs, "without", names);
	for (int n = 0; n < 2; n++) {
		*fixed = names[n].given ? 0 : *fixed;
		for (size_t i = 0; i < names[n].count; i++)
			inputs_leave_out(inputs, &names[n].at[i], fixed);
	}
}

static void read_settings(struct inputs *inputs, struct graph_inputs *own)
{
	struct exploration *exploration = &own->exploration;
	struct planning *planning = &exploration->planning;
	int all = planning->cores;
	planning_environment(planning, inputs->diag);
	if (inputs->search.map)
		planning_read(&inputs->search, planning);
	exploration->vary_k_fast = !has_key(inputs, "k_fast");
	exploration->vary_clones = !has_key(inputs, "clone_split");
	inputs_settings(inputs, NULL);
	inputs_count(inputs, "labels", &exploration->plan_ticks);
	read_without(inputs, &exploration->fixed);
	if (exploration->plan_ticks)
		portfolio_add(&exploration->joint, solver_for(STAGE_JOINT, FOR_PLANS));
	inputs_choose(inputs, own);
	inputs_settings_done(inputs);
	int64_t cores = planning->cores;
	int mode = planning->strict, tiles = planning->published_tiles;
	int price = (int)planning->price;
	option_integer(inputs->arguments, "cores", planning->machine_cores, inputs->diag, &cores);
	option_word(inputs->arguments, "mode", inputs->diag, &mode);
	option_word(inputs->arguments, "tiles", inputs->diag, &tiles);
	option_word(inputs->arguments, "price", inputs->diag, &price);
	own->cores_given =
		cores != all || has_key(inputs, "cores") || inputs_given(inputs, "cores");
	planning->cores = (int)cores;
	planning->strict = mode == PLANNING_STRICT;
	planning->published_tiles = tiles == 1;
	planning->price = (enum price)price;
}

/* Reads the constraints on single ops and tensors. */
static void read_constraints(struct inputs *inputs, struct graph_inputs *own,
	const struct node *const *lists, const struct shape *problem)
{
	const struct constraint_context context = {.reading = &inputs->reading,
		.arch = own->arch,
		.shape = problem,
		.workload = own->workload};
	struct constraints *constraints = arena_new(inputs->arena, struct constraints);
	*constraints = constraints_read(&context, lists);
	constraints_agree_on_graph(constraints, inputs->diag);
	if (problem)
		graph_problem_agree(inputs, own->arch, problem, constraints);
	own->exploration.planning.constraints = constraints;
}

static void set_cores(struct graph_inputs *own)
{
	struct exploration *exploration = &own->exploration;
	exploration->core_count = 1;
	exploration->cores[0] = exploration->planning.cores;
	if (!own->cores_given && arch_moves_boxes(own->arch))
		exploration->core_count =
			explore_cores(exploration->planning.cores, exploration->cores);
}

bool graph_inputs_check_plan(const struct inputs *inputs)
{
	const struct graph_inputs *own = inputs->own;
	const struct constraints *constraints = own->exploration.planning.constraints;
	for (size_t i = 0; own->plan && i < constraints->count; i++) {
		const char *why = graph_check_one(constraints, i, own->plan, inputs->arena);
		if (why)
			diag_error(inputs->diag, constraints->at[i].span, "%s", why);
	}
	for (int step = 0; own->plan && step < own->plan->step_count; step++)
		op_constraints_check(own->plan, step, inputs->diag, inputs->arena);
	return !diag_failed(inputs->diag);
}

/* Complains about missing keys of a graph, at a key that is read beside them. */
static void complain_missing(const struct inputs *inputs, const struct sheet *sheet,
	const struct node *arch, const struct node *workload)
{
	static const char *const of_problems[] = {"mapper", "mapping", "ERT", "energy"};
	if (!arch)
		diag_error(inputs->diag, (struct span){0},
			"no file has an 'architecture'; specs/arch/spyre32.yaml is one");
	if (!workload)
		diag_error(inputs->diag, (struct span){0},
			"no file has a 'workload', 'network', 'problem' or 'broadcast'; specs/workloads/ and "
			"specs/problems/ have examples");
	for (size_t i = 0; !workload && i < sizeof of_problems / sizeof *of_problems; i++)
		if (sheet_has(sheet, of_problems[i]))
			diag_note(inputs->diag, sheet_place(sheet, of_problems[i]),
				"'%s' is about a problem; give the file of the problem, too",
				of_problems[i]);
}

/* With several scratchpads no scratchpad has a tensor whole, and nests share nothing between steps. */
static void leave_home(struct inputs *inputs, struct graph_inputs *own)
{
	const struct level *lx = own->arch->lx < 0 ? NULL : &own->arch->levels[own->arch->lx];
	if (!lx || arch_moves_boxes(own->arch) || lx->instances == 1)
		return;
	diag_remark(inputs->diag, lx->span,
		"there are %lld of '%s': all tensors stay in '%s' between ops",
		(long long)lx->instances, lx->name, arch_home(own->arch)->name);
	struct arch *arch = arena_copy(inputs->arena, own->arch, sizeof *arch);
	arch->lx = -1;
	own->arch = arch;
}

/* Refuses settings of machines whose tiles move in boxes. */
static void refuse_division(struct inputs *inputs, const struct graph_inputs *own)
{
	if (arch_moves_boxes(own->arch))
		return;
	const struct portfolio *joint = &own->exploration.joint;
	bool divides = own->chosen.divide;
	for (size_t j = 0; own->chosen.joint && j < joint->count; j++)
		divides |= !joint->at[j]->plans_all;
	if (divides)
		diag_error(inputs->diag, (struct span){0},
			"steps on '%s' are whole nests, which stage 'map' finds: solvers of stage 'divide' are not used, and of 'joint' only those that plan whole graphs",
			own->arch->name);
	for (size_t o = 0; own->workload && o < own->workload->op_count; o++)
		if (own->workload->ops[o].primitive->kind == OP_BROADCAST)
			diag_error(inputs->diag, own->workload->ops[o].span,
				"broadcasts move sticks, and '%s' has none; a machine with 'stick: 128B' "
				"at home and 'transfer: box' runs them",
				own->arch->name);
}

static bool has_nests(const struct graph_inputs *own)
{
	bool has = false;
	for (size_t o = 0; own->workload && o < own->workload->op_count; o++)
		has |= op_has_inner_nest(own->arch, &own->workload->ops[o]);
	return has;
}

/* Refuses a solver of nests that would not run. */
static void refuse_map(struct inputs *inputs, const struct graph_inputs *own)
{
	if (own->exploration.map && !has_nests(own))
		diag_error(inputs->diag, (struct span){0},
			"the array of '%s' is ideal: no op of the graph has loops inside a tile that "
			"%s could find",
			own->arch->name, solver_label(inputs->arena, own->exploration.map));
}

/* Notes attributes without effect: if tiles move in boxes, home and scratchpad are not levels of a nest. */
static void note_unused(struct inputs *inputs, const struct arch *arch)
{
	const int rows[] = {arch->hbm, arch->lx};
	for (int k = 0; arch_moves_boxes(arch) && k < 2; k++) {
		const struct level *level = &arch->levels[rows[k]];
		const struct storage_level *memory = level_storage(level);
		/* the networks to a described array's scratchpad take their time for every tile */
		bool idle = k == 0 || arch_array_is_ideal(arch, arch->compute);
		const struct {
			const char *key;
			bool given;
		} keys[] = {
			{"multiple_buffering", memory->store.multiple_buffering != 1},
			{"min_utilization", memory->store.least_utilization != 0},
			{"network_fill_latency", idle && memory->store.fill_cycles},
			{"network_drain_latency", idle && memory->store.drain_cycles},
			{"per_dataspace_bandwidth_consumption_scale", memory->scales.count > 0},
			{"energy_per_hop", idle && level->network.hop_pj != 0},
			{"router_energy", idle && level->network.router_pj != 0},
			{"row_time", memory->store.row_cycles.num != 0},
			{"rows_along", memory->rows.count > 0},
			{"round_time", memory->store.round_cycles.num != 0},
		};
		for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
			if (keys[i].given)
				diag_remark(inputs->diag, level->span,
					"'%s' of '%s' is for nests; it is ignored because tiles move in boxes",
					keys[i].key, level->name);
	}
}

/* Everything but the machine and the workload. */
/* Prime factors up to this are small on any number of cores. */
enum { SMALL_PRIME = 31 };

/* The product of the prime factors above `most`. */
static int64_t find_rough(int64_t n, int64_t most)
{
	for (int64_t p = 2; p <= most && p <= n; p++)
		while (n % p == 0)
			n /= p;
	return n;
}

/* Warns of a dimension whose units have a prime factor above `most`: slices and tiles are whole multiples of it, or few
 * units.  The nearest extent without one is named. */
static void warn_prime(struct inputs *inputs, const struct workload *workload, const struct op *op,
	int l, int64_t most)
{
	int64_t primes[NUMBER_PRIMES_MOST], units = op_units(workload, op, l), padded = units;
	int64_t grain = op_grain(workload, op, l), extent = op->loops[l].extent;
	while (find_rough(padded, most) > 1)
		padded++;
	int64_t largest = primes[number_primes(units, primes) - 1];
	double more = 100 * ((double)(padded * grain) / (double)extent - 1);
	const char *in_units = grain == 1 ? ""
					  : arena_format(inputs->arena, ", %lld sticks of %lld,",
						    (long long)units, (long long)grain);
	diag_warning(inputs->diag, op->span,
		"dimension '%s' of %lld%s has the prime factor %lld, so few slices and tiles divide "
		"it; if the plan is slow, pad it to %lld (%.2g %% more)",
		op->loops[l].name, (long long)extent, in_units, (long long)largest,
		(long long)(padded * grain), more);
}

/* Of dimensions that have too few divisors for the cores, each name once. */
static void warn_primes(struct inputs *inputs, const struct graph_inputs *own)
{
	const struct workload *workload = own->workload;
	int64_t cores = own->exploration.planning.cores, most = number_max(cores, SMALL_PRIME);
	struct names told = {0};
	for (size_t o = 0; o < workload->op_count && arch_moves_boxes(own->arch); o++) {
		const struct op *op = &workload->ops[o];
		for (int l = 0; l < op->loop_count && op_is_tiled(op); l++) {
			const char *name = op->loops[l].name;
			int64_t units = op_units(workload, op, l), rough = find_rough(units, most);
			if (rough == 1 || units / rough >= cores || names_find(&told, name) >= 0)
				continue;
			names_add(inputs->arena, &told, name, l);
			warn_prime(inputs, workload, op, l, most);
		}
	}
}

static bool read_rest(struct inputs *inputs, struct graph_inputs *own, const struct node *plan,
	const struct node *const *constraints, const struct shape *problem)
{
	struct exploration *exploration = &own->exploration;
	if (!own->arch || !arch_fits_graphs(own->arch, inputs->diag))
		return false;
	leave_home(inputs, own);
	note_unused(inputs, own->arch);
	set_defaults(exploration);
	exploration->planning = planning_default(own->arch);
	read_settings(inputs, own);
	refuse_division(inputs, own);
	refuse_map(inputs, own);
	if (own->workload)
		inner_nests_fit_words(own->arch, own->workload, inputs->diag);
	if (own->workload && has_nests(own)) {
		if (!problem)
			own->arch = op_constraints_take(&inputs->reading, own->arch, constraints);
		own->workload =
			op_constraints_flag(own->arch, own->workload, inputs->diag, inputs->arena);
		if (problem)
			own->arch = op_constraints_take(&inputs->reading, own->arch, constraints);
	}
	if (own->workload)
		read_constraints(inputs, own, constraints, problem);
	if (diag_failed(inputs->diag) || !own->workload)
		return false;
	own->arch = planning_arch(inputs->arena, own->arch, &exploration->planning);
	if (!broadcasts_fit(own->arch, own->workload, inputs->diag))
		return false;
	if (workload_has_broadcast(own->workload))
		exploration->planning.menus = staging_menus(own->arch, own->workload,
			exploration->planning.staging_tiles, inputs->arena);
	exploration->arch = own->arch;
	exploration->workload = own->workload;
	set_cores(own);
	if (plan) {
		own->plan = plan_read(&inputs->reading, plan, own->arch, own->workload);
		own->plan_span = plan->span;
	}
	warn_primes(inputs, own);
	inputs->own = own;
	inputs->name = own->workload->name;
	return true;
}

bool graph_inputs_read(struct inputs *inputs, struct sheet *sheet)
{
	struct graph_inputs *own = arena_new(inputs->arena, struct graph_inputs);
	const struct node *arch = sheet_find(sheet, "architecture");
	const struct node *workload = sheet_find(sheet, "workload");
	const struct node *plan = sheet_find(sheet, "plan");
	const struct node *const *constraints = constraints_lists(sheet, inputs->arena);
	complain_missing(inputs, sheet, arch, workload);
	if (arch)
		own->arch = inputs_machine(sheet, &inputs->reading, arch);
	if (workload)
		sheet_done(sheet); /* else it is not known yet what reads the other keys */
	if (workload)
		own->workload = workload_read(
			&inputs->reading, workload, own->arch ? arch_home(own->arch) : NULL);
	return read_rest(inputs, own, plan, constraints, NULL);
}

bool graph_inputs_read_problem(struct inputs *inputs, struct sheet *sheet, const struct arch *arch)
{
	static const char *const keys[] = {"workload", NULL};
	struct graph_inputs *own = arena_new(inputs->arena, struct graph_inputs);
	const struct node *problem = sheet_find(sheet, "problem");
	const struct node *plan = sheet_find(sheet, "plan");
	const struct node *mapping = sheet_find(sheet, "mapping");
	const struct node *mapper = sheet_find(sheet, "mapper");
	const struct node *const *constraints = constraints_lists(sheet, inputs->arena);
	inputs_refuse_keys(inputs, sheet, keys);
	if (plan && mapping)
		diag_error(inputs->diag, mapping->span,
			"'mapping' and 'plan' are both given; remove one");
	sheet_done(sheet);
	const struct shape *shape = shape_read(&inputs->reading, problem);
	own->arch = arch;
	if (shape)
		nest_inputs_density(shape, COUNTING_EXACT, inputs->diag);
	if (shape && arch_home(arch))
		own->workload = workload_of_problem(&inputs->reading, shape, arch_home(arch));
	inputs->kind = &graph_kind;
	inputs->wishes.objectives = graph_kind.objectives;
	if (!node_is_empty(mapper))
		graph_problem_mapper(inputs, own, mapper);
	if (!read_rest(inputs, own, plan, constraints, shape))
		return false;
	if (mapping && (mapping->kind != NODE_LIST || mapping->count))
		graph_problem_mapping(inputs, own, shape, mapping);
	return !diag_failed(inputs->diag);
}

/* Why the solvers that were named cannot all be asked for one plan; NULL if they can. */
static const char *find_surplus(const struct inputs *inputs)
{
	const struct graph_inputs *own = inputs->own;
	const struct exploration *exploration = &own->exploration;
	const struct portfolio *divide = &exploration->divide;
	for (size_t i = 0; own->chosen.divide && i < divide->count; i++)
		if (divide->at[i]->sharing == SHARING_ENUMERATION)
			return arena_format(inputs->arena,
				"%s divides one op of a plan at a time; only explore asks it",
				solver_label(inputs->arena, divide->at[i]));
	if ((own->chosen.divide && divide->count > 1) ||
		(own->chosen.place && exploration->place.count > 1) ||
		(own->chosen.joint && exploration->joint.count > 1))
		return "one plan is made by one solver of each stage; only explore asks several";
	return NULL;
}

struct recipe_result graph_inputs_plan(const struct inputs *inputs)
{
	const struct graph_inputs *own = inputs->own;
	const struct exploration *exploration = &own->exploration;
	if (own->plan) {
		struct plan *copy = arena_copy(inputs->arena, own->plan, sizeof *copy);
		return (struct recipe_result){.plan = copy};
	}
	const char *why = find_surplus(inputs);
	if (why)
		return (struct recipe_result){.why = why};
	const struct solver *joint = NULL;
	if (own->chosen.joint)
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
		.map = exploration->map,
		.joint_ticks = exploration->joint_ticks,
		.plan_ticks = exploration->plan_ticks,
		.aim = {.fixed = exploration->fixed},
		.seed = inputs->wishes.seed,
	};
	return recipe_plan(&recipe, inputs->arena);
}

void graph_inputs_illegal(
	const struct inputs *inputs, const struct plan *plan, int step, const char *why)
{
	const struct graph_inputs *own = inputs->own;
	struct span span = own->plan ? own->plan_span : (struct span){0};
	struct diag *diag = diag_open(inputs->arena);
	if (step >= 0 && plan->steps[step].span.source)
		span = plan->steps[step].span;
	diag_error(diag, span, "illegal plan: %s", why);
	diag_print(diag, command_people());
}

bool graph_inputs_price(
	const struct inputs *inputs, const struct plan *plan, struct outcome *outcome)
{
	const struct graph_inputs *own = inputs->own;
	*outcome = own->plan ? evaluate_given(plan, EVALUATE_STEPS_MOST, inputs->arena)
			     : evaluate_cost(plan, inputs->arena);
	outcome->cost.score.price = own->exploration.planning.price;
	if (outcome->why)
		graph_inputs_illegal(inputs, plan, outcome->why_step, outcome->why);
	return !outcome->why;
}

bool graph_inputs_believe(const struct inputs *inputs, const struct recipe_result *made)
{
	const struct graph_inputs *own = inputs->own;
	struct diag *diag = inputs->diag;
	for (size_t i = 0; i < made->complaint_count; i++) {
		const struct complaint *complaint = &made->complaints[i];
		struct span span = {0};
		if (complaint->op >= 0)
			span = own->workload->ops[complaint->op].span;
		if (complaint->error)
			diag_error(diag, span, "%s", complaint->text);
		else
			diag_warning(diag, span, "%s", complaint->text);
	}
	if (!made->plan && !diag_failed(diag))
		diag_error(diag, made->broken ? made->broken->span : (struct span){0}, "%s",
			made->why);
	diag_print(diag, command_people());
	return made->plan != NULL;
}
