#include "base/amount.h"
#include "base/arena.h"
#include "base/number.h"
#include "base/text.h"
#include "cli/graph_inputs.h"
#include "cli/kind.h"
#include "model/graph/op_line.h"
#include "model/machine/primitives.h"
#include "model/nest/constraint.h"
#include "report/graph/choices.h"
#include "report/graph/plan_results.h"
#include "report/run/pareto.h"
#include "search/graph/evaluate.h"
#include "search/graph/lx.h"
#include "search/joint/options.h"

#include <inttypes.h>
#include <stdio.h>

enum { PAGE_STEPS_MOST = 1000000 }; /* of an execution for a page */

static struct simulation how_to_execute(
	const struct graph_inputs *own, const struct outcome *outcome)
{
	return (struct simulation){
		.mode = evaluate_mode(own->workload, own->arch, &outcome->cost.score),
		.steps_most = EVALUATE_STEPS_MOST};
}

/* --- score and simulate */

static void outcome_execute(
	const struct inputs *inputs, bool trace, void *const *given, struct outcome *outcome)
{
	const struct graph_inputs *own = inputs->own;
	struct simulation how = how_to_execute(own, outcome);
	struct truth truth;
	how.trace = trace;
	if (how.mode == SIM_DATA) {
		truth = evaluate_truth_of(
			own->workload, own->arch, inputs->wishes.seed, given, inputs->arena);
		how.truth = &truth;
	}
	evaluate_simulate(outcome, &how, inputs->arena);
}

/* Reads `--inputs`; false after complaining. */
static bool inputs_read_values(const struct inputs *inputs, void ***given)
{
	const struct graph_inputs *own = inputs->own;
	const struct option_value *file = option_find(inputs->arguments, "inputs");
	*given = file ? graph_values_read(inputs->arena, own->workload, file->text, inputs->diag)
		      : NULL;
	return *given || !file;
}

/* Writes `--outputs` of a run with data; false if there was none. */
static bool write_values(const struct inputs *inputs, const struct outcome *outcome)
{
	const struct option_value *file = option_find(inputs->arguments, "outputs");
	bool has_data = outcome->simulated && outcome->mode == SIM_DATA;
	if (file && has_data)
		command_write(inputs->arena, file->text,
			graph_values_text(inputs->arena, outcome->plan->workload,
				outcome->sim.rank_outputs[0]));
	return has_data;
}

/* Of the whole plan of least latency; without a joint solver where none is asked for. */
static struct recipe whole_recipe(const struct exploration *exploration, uint64_t labels)
{
	struct recipe recipe = {.arch = exploration->arch,
		.workload = exploration->workload,
		.planning = exploration->planning,
		.place = exploration->place.at[0],
		.map = exploration->map,
		.aim = {.cycles = 1, .fixed = exploration->fixed},
		.plan_ticks = labels};
	for (size_t j = 0; j < exploration->joint.count && !recipe.joint; j++)
		if (exploration->joint.at[j]->plans_all && exploration->workload->op_count > 1)
			recipe.joint = exploration->joint.at[j];
	return recipe;
}

/* The worth of each kind of decision, with the cores of a plan; none where no whole plans are asked for. */
static struct joint_worths solve_again(const struct inputs *inputs, const struct plan *plan)
{
	const struct graph_inputs *own = inputs->own;
	const struct exploration *exploration = &own->exploration;
	struct recipe recipe = whole_recipe(exploration, WORTH_LABELS);
	recipe.planning.cores = plan->cores;
	return recipe.joint ? joint_worths(&recipe, inputs->arena) : (struct joint_worths){0};
}

static int score(const struct inputs *inputs, enum format format, bool simulated)
{
	struct arena *arena = inputs->arena;
	const struct option_value *trace = option_find(inputs->arguments, "trace");
	void **given = NULL;
	if (!graph_inputs_check_plan(inputs) || (simulated && !inputs_read_values(inputs, &given)))
		return command_refuse(inputs->diag);
	struct recipe_result made = graph_inputs_plan(inputs);
	if (!graph_inputs_believe(inputs, &made))
		return EXIT_IMPOSSIBLE;
	struct outcome outcome;
	if (!graph_inputs_price(inputs, made.plan, &outcome))
		return EXIT_IMPOSSIBLE;
	if (simulated)
		outcome_execute(inputs, trace != NULL, given, &outcome);
	if (outcome.why) {
		graph_inputs_illegal(inputs, made.plan, outcome.why_step, outcome.why);
		return EXIT_IMPOSSIBLE;
	}
	if (outcome.too_long && !simulated)
		utf8_print(command_people(),
			"lxplore: %s: it was not checked that every core finds its slices\n",
			outcome.too_long);
	if (outcome.too_long && simulated) {
		utf8_print(command_people(), "lxplore: not executed: %s\n", outcome.too_long);
		return EXIT_NOTHING;
	}
	if (simulated && !write_values(inputs, &outcome) &&
		(given || option_find(inputs->arguments, "outputs"))) {
		utf8_print(command_people(),
			"lxplore: not executed with numbers: the tensors or the computes are too many\n");
		return EXIT_NOTHING;
	}
	if (option_find(inputs->arguments, "explain")) {
		const struct graph_inputs *own = inputs->own;
		struct joint_worths worths = {0};
		if (own->plan)
			worths = solve_again(inputs, made.plan);
		command_print(explain_text(arena, &outcome, &own->exploration.planning, &worths));
		return EXIT_FOUND;
	}
	if (trace)
		command_write(arena, trace->text,
			trace_json(arena, &outcome,
				option_find(inputs->arguments, "verbose") != NULL));
	json_t *tree = score_json(arena, &outcome, &made, simulated);
	command_print(format == FORMAT_TEXT ? score_text(arena, &outcome, tree)
					    : command_value(arena, format, json_incref(tree)));
	json_decref(tree);
	return simulated && !outcome.agrees ? EXIT_IMPOSSIBLE : EXIT_FOUND;
}

/* The score, when each engine worked on each step, and what the machine can do at most. */
static json_t *details(const struct inputs *inputs)
{
	if (!graph_inputs_check_plan(inputs))
		return NULL;
	struct recipe_result made = graph_inputs_plan(inputs);
	if (!made.plan)
		return NULL;
	struct outcome outcome;
	struct simulation how = {.mode = SIM_COUNT, .steps_most = PAGE_STEPS_MOST, .trace = true};
	if (!graph_inputs_price(inputs, made.plan, &outcome))
		return NULL;
	json_t *value = json_object();
	json_object_set_new(value, "score", score_json(inputs->arena, &outcome, &made, false));
	evaluate_simulate(&outcome, &how, inputs->arena);
	if (outcome.simulated)
		json_object_set_new(value, "timeline", timeline_json(inputs->arena, &outcome));
	json_object_set_new(value, "machine", timeline_machine(&outcome));
	return value;
}

/* --- check */

/* Runs the plan with identities in every stick, as far as memory allows: what is illegal shows. */
static int inputs_check_plan(const struct inputs *inputs, const struct recipe_result *made,
	enum format format, json_t *tree)
{
	const struct graph_inputs *own = inputs->own;
	struct outcome outcome;
	if (!graph_inputs_price(inputs, made->plan, &outcome))
		return EXIT_IMPOSSIBLE;
	struct simulation how = how_to_execute(own, &outcome);
	if (how.mode == SIM_DATA)
		how.mode = SIM_IDENTITY;
	evaluate_simulate(&outcome, &how, inputs->arena);
	if (outcome.why) {
		graph_inputs_illegal(inputs, made->plan, outcome.why_step, outcome.why);
		return EXIT_IMPOSSIBLE;
	}
	if (outcome.too_long) {
		utf8_print(command_people(), "lxplore: not executed: %s\n", outcome.too_long);
		return EXIT_NOTHING;
	}
	for (int i = 0; i < outcome.sim.fault_count && i < SIM_FAULTS_MOST; i++)
		graph_inputs_illegal(
			inputs, made->plan, outcome.sim.faults[i].step, outcome.sim.faults[i].text);
	if (!outcome.agrees) {
		if (!outcome.sim.fault_count)
			fprintf(command_people(),
				"lxplore: the simulator's counts are not the model's\n");
		return EXIT_IMPOSSIBLE;
	}
	plan_check_add(tree, &outcome);
	command_print(format == FORMAT_TEXT
			      ? plan_check_text(inputs->arena, tree)
			      : command_value(inputs->arena, format, json_incref(tree)));
	return EXIT_FOUND;
}

static int check(const struct inputs *inputs, enum format format)
{
	const struct graph_inputs *own = inputs->own;
	if (!graph_inputs_check_plan(inputs))
		return command_refuse(inputs->diag);
	json_t *tree = plan_check_json(own->arch, own->workload);
	if (format == FORMAT_TEXT)
		command_print(plan_check_text(inputs->arena, tree));
	if (format == FORMAT_TEXT && option_find(inputs->arguments, "verbose"))
		command_print(layouts_text(inputs->arena, own->workload));
	struct recipe_result made = graph_inputs_plan(inputs);
	int status = graph_inputs_believe(inputs, &made)
			     ? inputs_check_plan(inputs, &made, format, tree)
			     : EXIT_IMPOSSIBLE;
	json_decref(tree);
	return status;
}

static int check_claim(
	const struct inputs *inputs, uint64_t budget, int64_t seconds, enum format format)
{
	const struct graph_inputs *own = inputs->own;
	struct listener listener = listener_open(seconds, false, "states");
	if (!graph_inputs_check_plan(inputs))
		return command_refuse(inputs->diag);
	struct outcome outcome;
	if (own->plan && !graph_inputs_price(inputs, own->plan, &outcome))
		return EXIT_IMPOSSIBLE;
	struct plan_claim_question question = {.plan = own->plan,
		.arch = own->arch,
		.workload = own->workload,
		.planning = &own->exploration.planning,
		.budget = budget,
		.stopper = {&listener, listener_wait}};
	struct plan_claim claim = plan_claim_check(&question, inputs->arena);
	listener_clear(&listener);
	if (claim.answer == VERDICT_NO)
		diag_error(inputs->diag, own->plan_span, "rejected: %s", claim.why);
	diag_print(inputs->diag, command_people());
	json_t *tree = claim_report_json(&claim);
	command_print(format == FORMAT_TEXT
			      ? claim_report_text(inputs->arena, tree)
			      : command_value(inputs->arena, format, json_incref(tree)));
	json_decref(tree);
	return listener_status(claim.answer);
}

/* --- explore */

/* A search of a graph, with what its constraints of LX cost. */
struct graph_search {
	struct exploration exploration;
	struct lx_price price;
};

/* A plan that the specs bring is where the search starts, if it may. */
static void graph_take_start(const struct inputs *inputs, struct exploration *exploration)
{
	const struct graph_inputs *own = inputs->own;
	struct recipe recipe = {.arch = exploration->arch,
		.workload = exploration->workload,
		.planning = exploration->planning,
		.given = own->plan};
	struct recipe_result made = recipe_plan(&recipe, inputs->arena);
	const char *why = made.why;
	if (made.plan)
		why = evaluate_given(made.plan, EVALUATE_STEPS_MOST, inputs->arena).why;
	if (own->plan->cores > exploration->planning.cores)
		why = arena_format(inputs->arena, "it is for %d cores, the limit is %d",
			own->plan->cores, exploration->planning.cores);
	if (!why) {
		exploration->start = own->plan;
		return;
	}
	diag_warning(inputs->diag, own->plan_span, "the search starts without this plan: %s", why);
	if (made.broken)
		diag_note(inputs->diag, made.broken->span, "asked for here");
}

/* The joint search as an integer program, for the first objective that is a sum. */
static bool write_program(const struct exploring *exploring, const struct exploration *exploration)
{
	const struct inputs *inputs = exploring->inputs;
	const struct option_value *path = option_find(inputs->arguments, "write-lp");
	struct joint_aim aim = {0};
	struct planning planning = exploration->planning;
	const struct solver *solver = NULL;
	const char *why = "no joint solver is an integer program";
	for (size_t i = 0; solvers[i] && !solver; i++)
		if (solvers[i]->stage == STAGE_JOINT && solvers[i]->program)
			solver = solvers[i];
	for (size_t k = 0; k < exploration->wishes.objectives.count; k++) {
		enum objective objective = exploration->wishes.objectives.at[k];
		if (aim.cycles || aim.energy || aim.hbm_bytes)
			break;
		aim.cycles = objective == OBJECTIVE_LATENCY;
		aim.energy = objective == OBJECTIVE_ENERGY;
		aim.hbm_bytes = objective == OBJECTIVE_HBM_BYTES;
	}
	if (!path)
		return true;
	if (!aim.energy && !aim.hbm_bytes)
		aim.cycles = 1;
	planning.cores = exploration->cores[exploration->core_count - 1];
	struct problem problem = {.stage = STAGE_JOINT,
		.arch = exploration->arch,
		.workload = exploration->workload,
		.planning = &planning,
		.op = -1,
		.aim = &aim};
	const char *text = solver ? solver->program(&problem, exploring->arena, &why) : NULL;
	if (text)
		command_write(exploring->arena, path->text, text);
	else
		diag_error(inputs->diag, path->span, "no program is written: %s", why);
	return text != NULL;
}

static int prepare(struct exploring *exploring)
{
	const struct graph_inputs *own = exploring->inputs->own;
	struct graph_search *search = arena_new(exploring->arena, struct graph_search);
	struct exploration *exploration = &search->exploration;
	*exploration = own->exploration;
	exploration->wishes = exploring->wishes;
	if (own->plan)
		graph_take_start(exploring->inputs, exploration);
	exploring->search = search;
	if (!write_program(exploring, exploration))
		return exploration_refuse(exploring);
	return EXIT_FOUND;
}

/* The search begins with the plan that is best without `residency: lx`, if its tensors can be put into LX. */
static struct explored run_search(struct exploring *exploring)
{
	struct graph_search *search = exploring->search;
	struct recipe recipe = whole_recipe(&search->exploration, search->exploration.plan_ticks);
	recipe.planning.stopper = search->exploration.wishes.asker.stopper;
	if (recipe.joint)
		search->price = lx_price_find(&recipe, exploring->arena);
	if (search->price.free)
		search->exploration.free = &search->price.free->proof;
	if (search->price.start && !search->exploration.start)
		search->exploration.start = search->price.start;
	return explore(&search->exploration, exploring->arena);
}

static double plan_nanoseconds(const struct plan *plan, double cycles)
{
	return arch_nanoseconds(plan->arch, (int64_t)cycles);
}

/* The summary, and whether constraints of LX have a price or the search has failed. */
static const char *exploring_summarize(const struct exploring *exploring)
{
	const struct graph_search *search = exploring->search;
	const struct lx_price *price = &search->price;
	const struct frontier *frontier = &exploring->explored.frontier;
	struct arena *arena = exploring->arena;
	const char *summary = plan_summary(arena, search->exploration.arch, frontier);
	if (!price->tensors || !summary)
		return summary;
	if (!price->free)
		return arena_format(arena,
			"%s%s in LX: its price is not known: no plan without it was found\n",
			summary, price->tensors);
	const struct point *best = &frontier->points[summary_least(frontier, OBJECTIVE_LATENCY)];
	const struct found *found = best->payload;
	const struct proof *proof = &price->free->proof;
	double value = objective_value(OBJECTIVE_LATENCY, &best->score),
	       more = value - proof->value;
	const char *with = amount_text(arena, AMOUNT_TIME, plan_nanoseconds(price->free, value));
	const char *free =
		amount_text(arena, AMOUNT_TIME, plan_nanoseconds(price->free, proof->value));
	bool known = found->proof == PROOF_OPTIMAL && proof->status == PROOF_OPTIMAL;
	const char *what = more <= 0 ? "no price"
			   : known   ? "a price"
				     : "a price or a failed search (--labels)";
	return arena_format(arena, "%s%s in LX: %s\n  %s (%s), free %s (%s)\n", summary,
		price->tensors, what, with, summary_proof(arena, found, value), free,
		proof->status == PROOF_OPTIMAL ? "proven" : "not proven");
}

static const char *plan(const struct exploring *exploring, size_t i)
{
	return exploring->explored.frontier.points[i].key;
}

/* With how often something was known of an op already. */
static const char *tell_work(const struct exploring *exploring)
{
	const struct effort *effort = &exploring->explored.effort;
	return arena_format(exploring->arena,
		"%" PRIu64 " candidates, %.1f %% of %" PRIu64
		" questions about ops answered before",
		effort->offered,
		100 * (double)effort->known / (double)number_max(1, (int64_t)effort->asked),
		effort->asked);
}

static struct result_texts texts(const struct exploring *exploring)
{
	const struct graph_inputs *own = exploring->inputs->own;
	const struct explored *explored = &exploring->explored;
	struct arena *arena = exploring->arena;
	return (struct result_texts){
		.run = plan_run_json(arena, &exploring->record, own->arch, explored),
		.pareto = plan_pareto_csv(arena, own->arch, &explored->frontier),
		.table = plan_pareto_table(arena, own->arch, &explored->frontier,
			option_find(exploring->inputs->arguments, "verbose") != NULL),
		.work = tell_work(exploring),
		.summary = exploring_summarize(exploring),
	};
}

/* --- diff */

static bool has_plan(const struct inputs *inputs)
{
	const struct graph_inputs *own = inputs->own;
	graph_inputs_check_plan(inputs);
	return own->plan != NULL;
}

/* The score without what it repeats of the plan. */
static json_t *count_plan(
	struct arena *arena, const struct outcome *outcome, const struct recipe_result *made)
{
	size_t i;
	json_t *op, *root = score_json(arena, outcome, made, false);
	json_object_del(root, "tensors");
	json_object_del(root, "runs");
	json_object_del(root, "energy");
	json_array_foreach(json_object_get(root, "ops"), i, op)
		json_object_del(op, "nest");
	return root;
}

static bool fill_side(const struct inputs *inputs, struct diff_side *out)
{
	struct recipe_result made = graph_inputs_plan(inputs);
	struct outcome outcome;
	if (!graph_inputs_price(inputs, made.plan, &outcome))
		return false;
	out->choices = plan_choices(inputs->arena, made.plan);
	out->counts = count_plan(inputs->arena, &outcome, &made);
	return true;
}

static bool compare(const struct inputs *a, const struct inputs *b, struct diff *diff)
{
	bool good = fill_side(a, &diff->a);
	return fill_side(b, &diff->b) && good;
}

/* --- list */

/* Returns the notation of an op. */
static const char *primitive_syntax(struct arena *arena, const struct primitive *op)
{
	static const char *const signs[][2] = {
		{"add", "+"}, {"sub", "-"}, {"mul", "*"}, {"div", "/"}};
	if (op->kind == OP_REDUCE)
		return arena_format(arena, "out[..] = %s(k) a[..]", op->name);
	if (op->arity != 2)
		return arena_format(arena, "out[..] = %s(a[..])", op->name);
	for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
		if (text_equal(signs[i][0], op->name))
			return arena_format(arena, "out[..] = a[..] %s b[..]", signs[i][1]);
	return arena_format(arena, "out[..] = %s(a[..], b[..])", op->name);
}

static void list_ops(struct arena *arena, struct list_rows *rows)
{
	for (int i = 0; named_shapes[i].name; i++)
		*array_add(arena, rows) =
			(struct list_row){named_shapes[i].name, named_shapes[i].line};
	for (int i = 0; primitives[i]; i++) {
		const struct primitive *op = primitives[i];
		*array_add(arena, rows) = (struct list_row){
			op->name, op->summary ? op->summary : primitive_syntax(arena, op)};
	}
}

const struct input_kind graph_kind = {
	.name = "graph",
	.noun = "a workload graph",
	.plural = "workload graphs",
	.summary = "workload: ops over tensors, divided over cores and placed in their scratchpads",
	.key = "workload",
	.subject = SUBJECT_GRAPH,
	.objectives = {3, {OBJECTIVE_LATENCY, OBJECTIVE_ENERGY, OBJECTIVE_HBM_BYTES}},
	.stages = 1 << STAGE_DIVIDE | 1 << STAGE_PLACE | 1 << STAGE_JOINT | 1 << STAGE_MAP,
	.plan = "plan",
	.list = "ops",
	.read = graph_inputs_read,
	.explore = {.counted = "candidates",
		.found = "plan",
		.prepare = prepare,
		.run = run_search,
		.plan = plan,
		.texts = texts},
	.score = score,
	.details = details,
	.check = check,
	.check_claim = check_claim,
	.has_plan = has_plan,
	.compare = compare,
	.listed = list_ops,
};
