#include "report/graph/plan_results.h"

#include "base/amount.h"
#include "base/arena.h"
#include "base/number.h"
#include "base/text.h"
#include "report/run/json.h"
#include "report/run/listing.h"
#include "report/run/pareto.h"

#include <inttypes.h>
#include <math.h>

static void complete_row(
	const void *arch, const struct point *point, struct arena *arena, struct pareto_row *row)
{
	row->groups = PARETO_TIME | PARETO_ENERGY | PARETO_CORES | PARETO_USE | PARETO_CLOCKED |
		      PARETO_ESTIMATE | (point->score.buffer_bytes ? PARETO_LINKS : 0);
	row->nanoseconds = arch_nanoseconds(arch, point->score.cycles);
	row->estimate_nanoseconds = arch_nanoseconds(arch, point->score.estimate_cycles);
	row->mapping = "";
}

const char *plan_pareto_csv(
	struct arena *arena, const struct arch *arch, const struct frontier *frontier)
{
	return pareto_csv(arena, frontier, complete_row, arch);
}

/* Returns the proof of a point, or its gap to the proven bound, in words. */
static const char *proof_text(
	struct arena *arena, const struct point *point, enum objective objective)
{
	const struct found *found = point->payload;
	return summary_proof(arena, found, objective_value(objective, &point->score));
}

/* The one or two limiters that take most of the cycles of a point. */
static const char *limits_text(struct arena *arena, const struct plan_found *found)
{
	struct text text = text_open(arena);
	int64_t all = 0;
	int first = 0, second = -1;
	for (int l = 0; l < LIMITER_COUNT; l++)
		all += found->limits[l];
	for (int l = 1; l < LIMITER_COUNT; l++)
		if (found->limits[l] > found->limits[first])
			first = l;
	for (int l = 0; l < LIMITER_COUNT; l++)
		if (l != first && (second < 0 || found->limits[l] > found->limits[second]))
			second = l;
	for (int k = 0; k < 2; k++) {
		int l = k ? second : first;
		double part = all > 0 ? 100 * (double)found->limits[l] / (double)all : 0;
		if (part >= 1)
			text_add(&text, "%s%s %.0f %%", k ? ", " : "", limiter_names[l], part);
	}
	return text_read(&text);
}

static struct summary_point point_at(
	struct arena *arena, const struct arch *arch, const struct frontier *frontier, size_t i)
{
	const struct score *score = &frontier->points[i].score;
	bool estimated = score->price == PRICE_ESTIMATE;
	return (struct summary_point){i + 1,
		arch_nanoseconds(arch, estimated ? score->estimate_cycles : score->cycles),
		score->energy_pj,
		proof_text(arena, &frontier->points[i], frontier->objectives.at[0]),
		limits_text(arena, frontier->points[i].payload)};
}

const char *plan_summary(
	struct arena *arena, const struct arch *arch, const struct frontier *frontier)
{
	struct summary_point fastest, leanest;
	if (!frontier->count || frontier->objectives.at[0] != OBJECTIVE_LATENCY)
		return NULL;
	fastest = point_at(arena, arch, frontier, summary_least(frontier, OBJECTIVE_LATENCY));
	leanest = point_at(arena, arch, frontier, summary_least(frontier, OBJECTIVE_ENERGY));
	const char *assumed = arch_assumed_energies(arena, arch);
	return arena_format(arena, "%s%s%s%s",
		summary_text(arena, &fastest,
			objectives_have(&frontier->objectives, OBJECTIVE_ENERGY) ? &leanest : NULL),
		*assumed ? "energies are assumed, not measured: " : "", assumed,
		*assumed ? "\n" : "");
}

/* Adds a legend of the words behind the solvers. */
static void explain_proofs(struct text *text, const struct frontier *frontier)
{
	const struct objectives *objectives = &frontier->objectives;
	bool any = false;
	for (size_t i = 0; i < frontier->count; i++) {
		const struct found *found = frontier->points[i].payload;
		any |= found->proof == PROOF_OPTIMAL || found->proof == PROOF_BOUND;
	}
	if (!any)
		return;
	enum objective first = objectives->at[0];
	bool estimated =
		first == OBJECTIVE_LATENCY && frontier->points[0].score.price == PRICE_ESTIMATE;
	text_add(text, "proven: no plan of the space searched has less %s",
		estimated ? "estimated latency" : objective_names[first]);
	for (size_t k = 1; k < objectives->count; k++)
		text_add(text, "%s%s",
			k == 1                       ? "\nand no more "
			: k + 1 == objectives->count ? " or "
						     : ", ",
			objective_names[objectives->at[k]]);
	text_add(text, ";\nwithin N %%: none has more than N %% less;\n"
		       "'fixed' under proof_spaces in run.json names what that space leaves out\n");
}

/* The amounts of a point in the order of the columns of the table, and their kinds. */
enum { AMOUNTS = 5 };
static const enum amount amount_kinds[AMOUNTS] = {
	AMOUNT_TIME, AMOUNT_TIME, AMOUNT_ENERGY, AMOUNT_BYTES, AMOUNT_BYTES};

static double amount_at(const struct arch *arch, const struct score *score, int column)
{
	switch (column) {
	case 0:
		return arch_nanoseconds(arch, score->cycles);
	case 1:
		return arch_nanoseconds(arch, score->estimate_cycles);
	case 2:
		return score->energy_pj;
	case 3:
		return (double)score->hbm_bytes;
	default:
		return (double)score->lx_peak_bytes;
	}
}

static void find_units(
	const struct arch *arch, const struct frontier *frontier, const struct amount_unit **units)
{
	for (int k = 0; k < AMOUNTS; k++) {
		double most = 0;
		for (size_t i = 0; i < frontier->count; i++)
			most = fmax(most, amount_at(arch, &frontier->points[i].score, k));
		units[k] = amount_unit(amount_kinds[k], most);
	}
}

/* The latency is that of the price in force, then comes the other one. */
static void add_amounts(struct listing *listing, struct arena *arena, const struct arch *arch,
	const struct score *score, const struct amount_unit *const *units)
{
	for (int i = 0; i < AMOUNTS; i++) {
		int k = i < 2 && score->price == PRICE_ESTIMATE ? 1 - i : i;
		listing_cell(listing, "%s", amount_in(arena, amount_at(arch, score, k), units[k]));
	}
}

/* Why executions take longer than the model says: of each point, or how many there are. */
static void add_reasons(struct text *text, const struct frontier *frontier, bool all)
{
	size_t count = 0, last = 0;
	for (size_t i = 0; i < frontier->count; i++) {
		const struct found *found = frontier->points[i].payload;
		if (!found->execution.why_longer)
			continue;
		count++;
		last = i;
		if (all)
			text_add(text, "point %zu, simulated against modelled: %s\n", i + 1,
				found->execution.why_longer);
	}
	if (all || !count)
		return;
	if (count == 1)
		text_add(text, "point %zu takes longer when simulated; -v says why\n", last + 1);
	else
		text_add(text, "%zu points take longer when simulated; -v says why\n", count);
}

const char *plan_pareto_table(
	struct arena *arena, const struct arch *arch, const struct frontier *frontier, bool all)
{
	bool estimated = frontier->count && frontier->points[0].score.price == PRICE_ESTIMATE;
	const char *titles[] = {"point", "latency", estimated ? "bound" : "estimate", "energy",
		"HBM", "LX peak", "cores", "sim/model", "executed", "<solver", NULL};
	struct listing *listing = listing_open(arena, titles);
	struct text text = text_open(arena);
	const struct amount_unit *units[AMOUNTS];
	bool *shown = arena_array(arena, bool, frontier->count);
	find_units(arch, frontier, units);
	summary_choose(frontier, shown);
	for (size_t i = 0; i < frontier->count; i++) {
		if (!all && !shown[i])
			continue;
		const struct point *point = &frontier->points[i];
		const struct found *found = point->payload;
		const struct execution *execution = &found->execution;
		listing_cell(listing, "%zu", i + 1);
		add_amounts(listing, arena, arch, &point->score, units);
		listing_cell(listing, "%" PRId64, point->score.cores);
		if (execution->finished)
			listing_cell(listing, "%.3f%s",
				execution_ratio(execution, point->score.cycles),
				execution->agrees ? "" : " !");
		else
			listing_cell(listing, "-");
		listing_cell(listing, "%s", execution->finished ? execution_name(execution) : "-");
		listing_cell(listing, "%s%s%s", found->solver,
			found->proof == PROOF_NONE ? "" : ", ",
			found->proof == PROOF_NONE
				? ""
				: proof_text(arena, point, frontier->objectives.at[0]));
	}
	text_add(&text, "%s", listing_text(listing));
	if (!all && frontier->count > SUMMARY_ROWS)
		text_add(&text, "%zu more points: pareto.csv, or -v\n",
			frontier->count - SUMMARY_ROWS);
	explain_proofs(&text, frontier);
	add_reasons(&text, frontier, all);
	return text_read(&text);
}

static json_t *make_points(const struct explored *explored)
{
	json_t *list = json_array();
	for (size_t i = 0; i < explored->frontier.count; i++) {
		const struct plan_found *found = explored->frontier.points[i].payload;
		const struct execution *execution = &found->common.execution;
		json_t *point = json_pack("{s:I, s:s, s:i, s:b}", "point", (json_int_t)i + 1,
			"solver", found->common.solver, "cores_allowed",
			found->recipe.planning.cores, "k_fast", found->recipe.planning.k_fast);
		json_object_set_new(point, "proof", json_string(proof_names[found->common.proof]));
		if (found->common.proof == PROOF_BOUND)
			json_object_set_new(point, "bound", json_real(found->common.bound));
		if (execution->finished)
			json_object_set_new(
				point, "executed", json_string(execution_name(execution)));
		if (execution->finished && execution->mode == SIM_DATA)
			json_object_set_new(
				point, "worst_ulps", json_real_or_infinite(execution->worst_ulps));
		if (execution->worst_tensor)
			json_object_set_new(
				point, "worst_tensor", json_string(execution->worst_tensor));
		if (execution->off_tensor)
			json_object_set_new(point, "off",
				json_pack("{s:s, s:o, s:o}", "tensor", execution->off_tensor,
					"ulps", json_real_or_infinite(execution->off_ulps),
					"ulps_stated", json_real_or_infinite(execution->off_most)));
		if (execution->why_longer)
			json_object_set_new(
				point, "sim_ratio_because", json_string(execution->why_longer));
		json_array_append_new(list, point);
	}
	return list;
}

/* Which plans the proofs of points are about: a point may be proven by the bound of another plan's search. */
static json_t *proof_spaces(const struct explored *explored)
{
	const char *const *spaces = explored->more;
	json_t *list = json_array();
	for (; spaces && *spaces; spaces++)
		json_array_append_new(list, json_string(*spaces));
	return list;
}

const char *plan_run_json(struct arena *arena, const struct run_record *record,
	const struct arch *arch, const struct explored *explored)
{
	json_t *root = run_head(record, arena);
	json_object_set_new(
		root, "assumed_energies", json_string(arch_assumed_energies(arena, arch)));
	json_object_set_new(root, "counters", run_counters(&explored->effort));
	json_object_set_new(root, "points", make_points(explored));
	json_object_set_new(root, "proof_spaces", proof_spaces(explored));
	json_object_set_new(root, "refusals",
		run_texts(refusals_lines(&explored->refusals, arena), explored->refusals.count));
	return json_text(arena, root);
}

const char *plan_check_text(struct arena *arena, const json_t *tree)
{
	static const struct result_row specs[] = {
		{"", "specs: {architecture}, {cores} cores; {workload}, {ops} ops, {tensors} tensors",
			NULL},
		{NULL, NULL, NULL},
	};
	static const struct result_row plan[] = {
		{"",
			"plan: {plan.steps} steps, {plan.cycles} cycles, {plan.sim_cycles} simulated, "
			"{plan.events} events, no fault, counts agree{plan.contents_followed?| "
			"(contents are not followed in more than 1 GiB of tensors)}",
			NULL},
		{NULL, NULL, NULL},
	};
	struct text text = text_open(arena);
	result_rows(&text, tree, json_object_get(tree, "plan") ? plan : specs);
	return text_read(&text);
}

/* The loop that walks a host dimension in the first op that uses the tensor; NULL. */
static const char *loop_name_of_dimension(const struct workload *workload, int tensor, int h)
{
	for (size_t o = 0; o < workload->op_count; o++) {
		const struct op *op = &workload->ops[o];
		for (int i = 0; i < op_operands(op); i++) {
			const struct access *access = op_operand(op, i);
			int l = access->tensor == tensor && op_is_tiled(op)
					? affine_loop(&access->host[h], op->loop_count)
					: -1;
			if (l >= 0)
				return op->loops[l].name;
		}
	}
	return NULL;
}

static void add_layout(struct text *text, const struct workload *workload, int tensor)
{
	const struct layout *layout = &workload->tensors[tensor].layout;
	text_add(text, "%-20s", workload->tensors[tensor].name);
	for (int d = 0; d < layout->rank; d++) {
		int h = layout->host_dim[d];
		const char *name = h < 0 ? NULL : loop_name_of_dimension(workload, tensor, h);
		text_add(text, "  %s%d: %" PRId64, d + 1 == layout->rank ? "stick " : "", d,
			layout->size[d]);
		if (h < 0)
			continue;
		text_add(text, " of %s", name ? name : arena_format(text->arena, "axis %d", h));
		if (layout->part[d] == PART_STICK_OUTER)
			text_add(text, "/%d", layout->per_stick);
	}
	text_add(text, "\n");
}

const char *layouts_text(struct arena *arena, const struct workload *workload)
{
	struct text text = text_open(arena);
	text_add(&text, "%-20s  %s\n", "tensor",
		"its device dimensions, as views and messages count them");
	for (size_t t = 0; t < workload->tensor_count; t++)
		add_layout(&text, workload, (int)t);
	return text_read(&text);
}

json_t *plan_check_json(const struct arch *arch, const struct workload *workload)
{
	return json_pack("{s:s, s:I, s:s, s:I, s:I}", "architecture", arch->name, "cores",
		(json_int_t)arch_cores(arch), "workload", workload->name, "ops",
		(json_int_t)workload->op_count, "tensors", (json_int_t)workload->tensor_count);
}

void plan_check_add(json_t *tree, const struct outcome *outcome)
{
	json_object_set_new(tree, "plan",
		json_pack("{s:i, s:I, s:I, s:I, s:b}", "steps", outcome->plan->step_count, "cycles",
			(json_int_t)outcome->cost.score.cycles, "sim_cycles",
			(json_int_t)outcome->sim.cycles, "events", (json_int_t)outcome->sim.events,
			"contents_followed", outcome->mode != SIM_COUNT));
}

const char *claim_report_text(struct arena *arena, const json_t *tree)
{
	static const struct result_row rows[] = {
		{"certificate", "{certificate}", NULL},
		{"claim", "{claim}", NULL},
		{"work", "{states} states, {options+} options of ops", NULL},
		{"compared",
			"{compared+} steps and {compared_runs} runs of plans"
			"{compared_all?, all that there are|, some drawn}",
			NULL},
		{"verified", "{undecided?no plan is below {bound#}}", NULL},
		{"because", "{why}", NULL},
		{NULL, NULL, NULL},
	};
	struct text text = text_open(arena);
	json_t *shown = json_copy((json_t *)tree);
	const char *answer = json_string_value(json_object_get(tree, "certificate"));
	json_object_set_new(shown, "undecided",
		json_boolean(text_equal(answer, certificate_answers[VERDICT_OPEN])));
	result_rows(&text, shown, rows);
	json_decref(shown);
	return text_read(&text);
}

json_t *claim_report_json(const struct plan_claim *claim)
{
	return json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:b, s:o, s:s?}", "certificate",
		certificate_answers[claim->answer], "claim", claim->claim, "states",
		(json_int_t)claim->states, "options", (json_int_t)claim->options, "compared",
		(json_int_t)claim->compared.steps, "compared_runs",
		(json_int_t)claim->compared.runs, "compared_all", claim->compared.all, "bound",
		claim->options ? json_real(claim->bound) : json_null(), "why", claim->why);
}

struct work {
	int64_t from, to, busy; /* ticks */
	uint64_t cores;
};

static void add_work(
	struct work *work, const struct instruction *instruction, const struct run_time *time)
{
	bool first = !work->cores;
	work->from = first ? time->start : number_min(work->from, time->start);
	work->to = first ? time->end : number_max(work->to, time->end);
	work->busy += (time->end - time->start) * __builtin_popcountll(instruction->mask);
	work->cores |= instruction->mask;
}

json_t *timeline_json(struct arena *arena, const struct outcome *outcome)
{
	const struct program *program = outcome->program;
	double ns = arch_nanoseconds(outcome->plan->arch, 1) / (double)outcome->sim.ticks_per_cycle;
	struct work *works =
		arena_array(arena, struct work, (size_t)program->step_count * ENGINE_COUNT);
	json_t *list = json_array();
	for (size_t i = 0; i < program->instruction_count; i++) {
		const struct instruction *instruction = &program->instructions[i];
		const struct run_time *time = &outcome->sim.trace[i];
		if (instruction->engine != ENGINE_SYNC && time->end >= time->start)
			add_work(&works[(size_t)instruction->step * ENGINE_COUNT +
					 instruction->engine],
				instruction, time);
	}
	for (int step = 0; step < program->step_count; step++)
		for (int engine = 0; engine < ENGINE_COUNT; engine++) {
			const struct work *work = &works[(size_t)step * ENGINE_COUNT + engine];
			if (!work->cores)
				continue;
			double busy = (double)work->busy / __builtin_popcountll(work->cores);
			json_array_append_new(
				list, json_pack("{s:i, s:s, s:f, s:f, s:f}", "step", step, "engine",
					      engine_names[engine], "from", (double)work->from * ns,
					      "to", (double)work->to * ns, "busy", busy * ns));
		}
	return list;
}

json_t *timeline_machine(const struct outcome *outcome)
{
	const struct arch *arch = outcome->plan->arch;
	double ns = arch_nanoseconds(arch, 1);
	struct ratio read = storage_ports(&arch_hbm(arch)->store).read;
	const struct level *units[] = {&arch->levels[arch->compute], &arch->levels[arch->vector]};
	double fastest = 0; /* operations of all instances each cycle */
	for (int i = 0; i < 2; i++) {
		const struct compute_level *unit = level_compute(units[i]);
		double rate = (double)units[i]->instances *
			      ratio_double(i ? unit->vector_rate : unit->mac_rate);
		fastest = rate > fastest ? rate : fastest;
	}
	json_t *machine = json_pack("{s:s}", "name", arch->name);
	if (read.num > 0)
		json_object_set_new(
			machine, "hbm_bytes_per_ns", json_real(ratio_double(read) / ns));
	if (fastest > 0)
		json_object_set_new(machine, "computes_per_ns", json_real(fastest / ns));
	if (arch->lx >= 0)
		json_object_set_new(machine, "lx_bytes", json_integer(arch_lx_capacity(arch)));
	return machine;
}

/* Executions of an engine that are group: the same step and tile on several cores, each at its own time. */
struct trace_group {
	size_t first; /* the first instruction of them, whose time is shown */
	uint64_t cores;
	int64_t end;  /* of the last one to end */
	double ticks; /* of all cores together */
};

struct tracing {
	struct text text;
	const struct outcome *outcome;
	double us_per_tick;
	bool each_core;
	struct trace_group last[ENGINE_COUNT]; /* not yet written; no cores: none */
	uint64_t named[ENGINE_COUNT];          /* cores whose engine has a name */
	uint64_t processes;                    /* cores that have one */
};

/* "0-3 8" */
static const char *cores_text(struct arena *arena, uint64_t cores)
{
	struct text text = text_open(arena);
	for (int core = 0; core < 64; core++) {
		int end = core;
		if (!(cores >> core & 1))
			continue;
		while (end < 63 && cores >> (end + 1) & 1)
			end++;
		text_add(&text, "%s%d", text.length ? " " : "", core);
		if (end > core)
			text_add(&text, "-%d", end);
		core = end;
	}
	return text_read(&text);
}

static void name_row(struct tracing *tracing, int core, int engine)
{
	struct arena *arena = tracing->text.arena;
	if (!(tracing->processes >> core & 1))
		trace_process(&tracing->text, core, arena_format(arena, "core %d", core));
	if (!(tracing->named[engine] >> core & 1))
		trace_thread(&tracing->text, core, engine, engine_names[engine]);
	tracing->processes |= UINT64_C(1) << core;
	tracing->named[engine] |= UINT64_C(1) << core;
}

/* Writes what is group as one event, in the row of the lowest core. */
static void write_alike(struct tracing *tracing, int engine)
{
	const struct program *program = tracing->outcome->program;
	struct trace_group *last = &tracing->last[engine];
	if (!last->cores)
		return;
	const struct instruction *instruction = &program->instructions[last->first];
	const struct run_time *time = &tracing->outcome->sim.trace[last->first];
	int core = __builtin_ctzll(last->cores);
	name_row(tracing, core, engine);
	json_t *arguments = json_pack("{s:i, s:i, s:I, s:s}", "step", instruction->step, "tile",
		instruction->tile, "instruction", (json_int_t)last->first, "cores",
		cores_text(tracing->text.arena, last->cores));
	double each = (double)(time->end - time->start);
	if (last->end > time->end)
		json_object_set_new(arguments, "all_end_us",
			json_real((double)last->end * tracing->us_per_tick));
	if (last->ticks != each * __builtin_popcountll(last->cores))
		json_object_set_new(
			arguments, "all_busy_us", json_real(last->ticks * tracing->us_per_tick));
	trace_event(&tracing->text,
		program->workload->ops[program->step_ops[instruction->step]].name, core, engine,
		(double)time->start * tracing->us_per_tick, each * tracing->us_per_tick, arguments);
	last->cores = 0;
	last->ticks = 0;
}

static void tracing_add_run(struct tracing *tracing, size_t i)
{
	const struct program *program = tracing->outcome->program;
	const struct run_time *times = tracing->outcome->sim.trace, *time = &times[i];
	const struct instruction *instruction = &program->instructions[i];
	int engine = (int)instruction->engine;
	if (instruction->engine == ENGINE_SYNC || time->end < time->start)
		return;
	struct trace_group *last = &tracing->last[engine];
	const struct instruction *before = &program->instructions[last->first];
	bool same = last->cores && before->step == instruction->step &&
		    before->tile == instruction->tile && !(last->cores & instruction->mask);
	if (!same) {
		write_alike(tracing, engine);
		last->first = i;
		last->end = time->end;
	}
	last->cores |= instruction->mask;
	last->end = number_max(last->end, time->end);
	double each = (double)(time->end - time->start);
	last->ticks += each * __builtin_popcountll(instruction->mask);
	if (!tracing->each_core)
		return;
	for (uint64_t mask = instruction->mask; mask; mask &= mask - 1) {
		last->cores = mask & -mask;
		last->ticks = each;
		write_alike(tracing, engine);
	}
}

const char *trace_json(struct arena *arena, const struct outcome *outcome, bool each_core)
{
	struct tracing tracing = {.text = trace_open(arena),
		.outcome = outcome,
		.each_core = each_core,
		.us_per_tick = arch_nanoseconds(outcome->plan->arch, 1) / 1e3 /
			       (double)outcome->sim.ticks_per_cycle};
	for (size_t i = 0; i < outcome->program->instruction_count; i++)
		tracing_add_run(&tracing, i);
	for (int engine = 0; engine < ENGINE_COUNT; engine++)
		write_alike(&tracing, engine);
	return trace_end(&tracing.text);
}
