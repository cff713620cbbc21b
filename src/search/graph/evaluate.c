#include "search/graph/evaluate.h"

#include "base/arena.h"
#include "base/number.h"
#include "lower/graph/lower.h"
#include "lower/graph/program.h"
#include "search/graph/options.h"
#include "sim/graph/reference.h"

#include <inttypes.h>
#include <math.h>

/*
 * Adds the simulator's part.  SIM_DATA needs the truth: its inputs are what the machine is given, and worst_ulps
 * becomes the largest difference of any tensor left in HBM of any rank from it, in units of the last place of that
 * tensor's largest element.  A tensor may be off by the units that reference_ulps states for its op, and by twice
 * what the truth is off by when every result on the way to it is moved by its own.  Each op by itself may be off by
 * what its arithmetic allows, given the operands that the machine has (reference_misfit), at up to OPS_POINTS_MOST
 * points of the loops of all ops.
 */
enum { OPS_POINTS_MOST = 1 << 23 };

/*
 * Returns the mode in which a run of a plan should be simulated: SIM_DATA up to
 * EVALUATE_DATA_COMPUTES scalar operations and EXECUTION_BYTES_OF_MANY of tensors, of all ranks,
 * SIM_IDENTITY up to EXECUTION_BYTES_MOST, SIM_COUNT above.  Both kinds of
 * contents take memory in proportion to the tensors.
 */
#define EVALUATE_DATA_COMPUTES INT64_C(200000000)

/*
 * Why a plan takes longer on the simulator than in the model: the phase that
 * loses most, what it waits for before its first compute, and what follows its
 * last.
 */
#define GAP_RATIO 1.15

#define GAP_NANOSECONDS 50e3

struct outcome evaluate_cost(const struct plan *plan, struct arena *arena)
{
	struct outcome outcome = {.plan = plan, .worst_ulps = -1, .why_step = -1};
	if (!cost_plan(plan, arena, &outcome.cost))
		outcome.why = "a count does not fit into 64 bits";
	else if (!outcome.cost.score.feasible)
		outcome.why = outcome.cost.score.rejected;
	return outcome;
}

static const struct program *outcome_lower(
	struct outcome *outcome, uint64_t most, struct arena *arena)
{
	struct lower_refusal refusal;
	const struct program *program =
		lower_within(outcome->plan, most ? most : UINT64_MAX, arena, &refusal);
	outcome->too_long = NULL;
	if (refusal.why) {
		outcome->why = refusal.why;
		outcome->why_step = refusal.step;
	} else if (!program) {
		outcome->too_long =
			most ? arena_format(arena,
				       "the plan has more than %" PRIu64 " instructions", most)
			     : "the plan has more instructions than can be numbered";
	}
	return program;
}

struct outcome evaluate_given(const struct plan *plan, uint64_t steps_most, struct arena *arena)
{
	struct outcome outcome = evaluate_cost(plan, arena);
	struct arena *scratch = arena_open();
	outcome_lower(&outcome, steps_most, scratch);
	if (outcome.why)
		outcome.why = arena_text(arena, outcome.why);
	if (outcome.too_long)
		outcome.too_long = arena_text(arena, outcome.too_long);
	arena_close(scratch);
	return outcome;
}

enum sim_mode evaluate_mode(
	const struct workload *workload, const struct arch *arch, const struct score *score)
{
	int64_t bytes = 0, ranks = workload_ranks(workload, arch);
	for (size_t t = 0; t < workload->tensor_count; t++)
		if (!number_add(bytes, workload->tensors[t].layout.bytes, &bytes))
			return SIM_COUNT;
	if (bytes > EXECUTION_BYTES_MOST / ranks)
		return SIM_COUNT;
	if (bytes > EXECUTION_BYTES_OF_MANY / ranks ||
		score->computes > EVALUATE_DATA_COMPUTES / ranks)
		return SIM_IDENTITY;
	return SIM_DATA;
}

/* Tensors that no op makes are the machine's own. */
static void find_most(struct truth *truth, uint64_t seed)
{
	const struct workload *workload = truth->workload;
	struct arena *arena = arena_open();
	void ***moved = arena_array(arena, void **, truth->ranks);
	for (int r = 0; r < truth->ranks; r++) {
		moved[r] = arena_array(arena, void *, workload->tensor_count);
		for (size_t t = 0; t < workload->tensor_count; t++) {
			int producer = workload->tensors[t].producer;
			if (producer < 0 || workload->ops[producer].primitive->kind == OP_OPAQUE)
				moved[r][t] = truth->arrays[r][t];
		}
	}
	reference_run_moved(workload, truth->ranks, seed, arena, moved);
	for (size_t t = 0; t < workload->tensor_count; t++) {
		const struct tensor *tensor = &workload->tensors[t];
		double grown = 0;
		if (tensor->producer < 0 ||
			workload->ops[tensor->producer].primitive->kind == OP_OPAQUE)
			continue;
		for (int r = 0; r < truth->ranks; r++)
			grown = fmax(
				grown, reference_compare(tensor, truth->arrays[r][t], moved[r][t])
					       .worst_of_largest);
		truth->ulps_most[t] =
			reference_ulps(workload, &workload->ops[tensor->producer]) + 2 * grown;
	}
	arena_close(arena);
}

struct truth evaluate_truth(const struct workload *workload, const struct arch *arch, uint64_t seed,
	struct arena *arena)
{
	return evaluate_truth_of(workload, arch, seed, NULL, arena);
}

struct truth evaluate_truth_of(const struct workload *workload, const struct arch *arch,
	uint64_t seed, void *const *given, struct arena *arena)
{
	struct truth truth = {.workload = workload, .ranks = workload_ranks(workload, arch)};
	for (size_t t = 0; t < workload->tensor_count; t++)
		names_add(arena, &truth.names, workload->tensors[t].name, (int)t);
	truth.arrays = arena_array(arena, void **, truth.ranks);
	for (int r = 0; r < truth.ranks; r++) {
		truth.arrays[r] = arena_array(arena, void *, workload->tensor_count);
		reference_inputs(workload, reference_seed(seed, r), false, arena, truth.arrays[r]);
		for (size_t t = 0; given && t < workload->tensor_count; t++)
			if (given[t])
				truth.arrays[r][t] = given[t];
	}
	reference_run_ranks(workload, truth.ranks, arena, truth.arrays);
	truth.ulps_most = arena_array(arena, double, workload->tensor_count);
	find_most(&truth, seed);
	return truth;
}

static void *find_array(const struct truth *truth, int rank, const struct tensor *tensor)
{
	int t = names_find(&truth->names, tensor->name);
	return t < 0 ? NULL : truth->arrays[rank][t];
}

/* Lists the data that the machine is given: graph inputs and outputs of opaque ops. */
static void **list_supplied(
	const struct truth *truth, int rank, const struct workload *workload, struct arena *arena)
{
	void **arrays = arena_array(arena, void *, workload->tensor_count);
	for (size_t t = 0; t < workload->tensor_count; t++) {
		const struct tensor *tensor = &workload->tensors[t];
		if (tensor->producer < 0 ||
			workload->ops[tensor->producer].primitive->kind == OP_OPAQUE)
			arrays[t] = find_array(truth, rank, tensor);
	}
	return arrays;
}

static void compare_with_truth(struct outcome *outcome, const struct truth *truth, int rank)
{
	const struct workload *workload = outcome->plan->workload;
	for (size_t t = 0; t < workload->tensor_count; t++) {
		const struct tensor *tensor = &workload->tensors[t];
		const void *expected = find_array(truth, rank, tensor);
		const void *got = outcome->sim.rank_outputs[rank][t];
		if (tensor->role == TENSOR_INPUT || !got || !expected)
			continue;
		struct comparison comparison = reference_compare(tensor, expected, got);
		if (comparison.worst_of_largest > outcome->worst_ulps) {
			outcome->worst_ulps = comparison.worst_of_largest;
			outcome->worst_tensor = tensor->name;
		}
		double most = truth->ulps_most[workload_tensor(truth->workload, tensor->name)];
		if (comparison.worst_of_largest > most &&
			(!outcome->off_tensor || comparison.worst_of_largest / most >
							 outcome->off_ulps / outcome->off_most)) {
			outcome->off_tensor = tensor->name;
			outcome->off_ulps = comparison.worst_of_largest;
			outcome->off_most = most;
		}
	}
}

/* Returns the machine's data of a tensor: the result of its op or, of a copy, the original. */
static void *find_had(const struct workload *workload, void *const *made, void *const *given, int t)
{
	while (!made[t] && !given[t]) {
		int producer = workload->tensors[t].producer;
		if (producer < 0 || !op_copies_sticks(workload, &workload->ops[producer]))
			return NULL;
		t = workload->ops[producer].reads[0].tensor;
	}
	return made[t] ? made[t] : given[t];
}

/* Each op by itself, given what the machine has as its operands. */
static void compare_ops(struct outcome *outcome, int rank, void *const *given, struct arena *arena)
{
	const struct workload *workload = outcome->plan->workload;
	void *const *made = outcome->sim.rank_made[rank];
	void **had = arena_array(arena, void *, workload->tensor_count);
	double worst = 1;
	for (size_t t = 0; t < workload->tensor_count; t++)
		had[t] = find_had(workload, made, given, (int)t);
	for (size_t o = 0; o < workload->op_count; o++) {
		const struct op *op = &workload->ops[o];
		bool has_all = op_is_tiled(op) && made[op->writes[0].tensor];
		for (int i = 0; has_all && i < op->read_count; i++)
			has_all = had[op->reads[i].tensor] != NULL;
		if (!has_all)
			continue;
		struct misfit misfit = reference_misfit(workload, op, had,
			made[op->writes[0].tensor], OPS_POINTS_MOST / (int64_t)workload->op_count);
		if (misfit.part <= worst)
			continue;
		worst = misfit.part;
		outcome->off_tensor = workload->tensors[op->writes[0].tensor].name;
		outcome->off_ulps = misfit.ulps;
		outcome->off_most = misfit.ulps_most;
	}
}

/* Returns the steps of multipliers that an execution may take: whole nests of a graph are few and executed once
 * each, so every op has as many as NEST_EXECUTION_TIMES mappings of a problem. */
static uint64_t steps_of_nests(const struct plan *plan, uint64_t most)
{
	int64_t steps = number_times((int64_t)most, NEST_EXECUTION_TIMES);
	if (arch_moves_boxes(plan->arch))
		return most;
	return (uint64_t)number_times(steps, (int64_t)plan->step_count);
}

void evaluate_simulate(struct outcome *outcome, const struct simulation *how, struct arena *arena)
{
	outcome->program = outcome_lower(outcome, how->steps_most, arena);
	if (!outcome->program)
		return;
	int ranks = outcome->program->ranks;
	struct sim_options options = {.mode = how->mode,
		.steps_most = how->steps_most,
		.trace = how->trace,
		.stopper = how->stopper,
		.kernel = how->kernel};
	void *const **inputs = arena_array(arena, void *const *, ranks);
	for (int r = 0; how->mode == SIM_DATA && r < ranks; r++)
		inputs[r] = list_supplied(how->truth, r, outcome->plan->workload, arena);
	if (how->mode == SIM_DATA)
		options.rank_inputs = inputs;
	else
		options.steps_most = steps_of_nests(outcome->plan, how->steps_most);
	outcome->sim = sim_run(outcome->program, &options, arena);
	if (outcome->sim.too_long && options.mode == SIM_DATA) {
		options.mode = SIM_IDENTITY; /* which carries out each nest once */
		options.steps_most = steps_of_nests(outcome->plan, how->steps_most);
		options.rank_inputs = NULL;
		outcome->sim = sim_run(outcome->program, &options, arena);
	}
	outcome->mode = options.mode;
	outcome->sim_energy_pj = energy_of_counts(outcome->plan, &outcome->sim.counts, arena);
	outcome->too_long = outcome->sim.too_long;
	outcome->simulated = outcome->sim.finished;
	outcome->agrees = outcome->simulated && outcome->sim.fault_count == 0 &&
			  counts_equal(&outcome->cost.counts, &outcome->sim.counts);
	if (outcome->simulated && outcome->mode == SIM_DATA)
		outcome->worst_ulps = 0;
	for (int r = 0; outcome->simulated && outcome->mode == SIM_DATA && r < ranks; r++)
		compare_with_truth(outcome, how->truth, r);
	for (int r = 0; outcome->simulated && outcome->mode == SIM_DATA && r < ranks; r++)
		compare_ops(outcome, r, inputs[r], arena);
	outcome->agrees &= !outcome->off_tensor;
}

void evaluate_execution(const struct outcome *outcome, struct execution *out, struct arena *arena)
{
	const struct sim_result *sim = &outcome->sim;
	*out = (struct execution){
		.finished = outcome->simulated,
		.mode = outcome->mode,
		.agrees = outcome->agrees,
		.events = sim->events,
		.fault = sim->fault_count ? sim->faults[0].text : NULL,
		.worst_ulps = outcome->worst_ulps,
		.worst_tensor = outcome->worst_tensor,
		.off_tensor = outcome->off_tensor,
		.off_ulps = outcome->off_ulps,
		.off_most = outcome->off_most,
	};
	if (!out->fault && outcome->off_tensor)
		out->fault =
			arena_format(arena, "'%s' is off by %.3g ulps, and at most %.3g are stated",
				outcome->off_tensor, outcome->off_ulps, outcome->off_most);
	if (!outcome->simulated)
		return;
	out->cycles = sim->cycles;
	out->energy_pj = outcome->sim_energy_pj;
	out->hbm_bytes = counts_total(&sim->counts, TRAFFIC_HBM_READ) +
			 counts_total(&sim->counts, TRAFFIC_HBM_WRITE);
}

struct energy_parts evaluate_energy(
	const struct outcome *outcome, bool from_simulator, struct arena *arena)
{
	return energy_parts(outcome->plan,
		from_simulator ? &outcome->sim.counts : &outcome->cost.counts, arena);
}

/* Ticks of one phase, of all iterations in a run. */
struct phase_time {
	int64_t took, before, after; /* before its first compute and after its last */
};

/* The phase once. */
struct instance {
	bool open;
	int64_t begin, end;
	int64_t first_compute, last_compute; /* start of the first, end of the last */
};

bool gap_is_large(const struct arch *arch, int64_t cycles, int64_t simulated_cycles)
{
	return arch_nanoseconds(arch, cycles) > GAP_NANOSECONDS &&
	       (double)simulated_cycles > GAP_RATIO * (double)cycles;
}

static void close_instance(struct instance *instance, struct phase_time *time)
{
	int64_t took = instance->end - instance->begin;
	if (!instance->open)
		return;
	instance->open = false;
	time->took += took;
	time->before += instance->last_compute ? instance->first_compute - instance->begin : took;
	time->after += instance->last_compute ? instance->end - instance->last_compute : 0;
}

static struct phase_time find_phase_time(const struct outcome *ran, const struct phase_cost *phase)
{
	struct phase_time time = {0};
	struct instance instance = {0};
	int64_t end = 0; /* of what came before */
	for (size_t i = 0; i < ran->program->instruction_count; i++) {
		const struct instruction *instruction = &ran->program->instructions[i];
		const struct run_time *run = &ran->sim.trace[i];
		if (instruction->step < phase->first_step || instruction->step >= phase->end_step) {
			close_instance(&instance, &time);
			end = number_max(end, run->end);
			continue;
		}
		if (!instance.open)
			instance = (struct instance){true, end, end, INT64_MAX, 0};
		end = instance.end = number_max(instance.end, run->end);
		if (instruction->engine != ENGINE_COMPUTE)
			continue;
		instance.first_compute = number_min(instance.first_compute, run->start);
		instance.last_compute = number_max(instance.last_compute, run->end);
	}
	close_instance(&instance, &time);
	return time;
}

const char *gap_explain(const struct outcome *outcome, struct arena *arena)
{
	struct outcome ran = *outcome;
	struct simulation how = {.mode = SIM_COUNT, .trace = true};
	evaluate_simulate(&ran, &how, arena);
	if (ran.why || !ran.simulated)
		return NULL;
	const struct plan_cost *cost = &outcome->cost;
	int64_t tick = ran.sim.ticks_per_cycle, most = -1;
	int64_t cycles = 0, before = 0, after = 0;
	const struct phase_cost *worst = NULL;
	for (int p = 0; p < cost->phase_count; p++) {
		const struct phase_cost *phase = &cost->phases[p];
		struct phase_time time = find_phase_time(&ran, phase);
		int64_t took = time.took / tick;
		if (took - phase->cycles > most) {
			most = took - phase->cycles;
			worst = phase;
			cycles = took;
			before = time.before / tick;
			after = time.after / tick;
		}
	}
	if (!worst)
		return NULL;
	const struct plan *plan = outcome->plan;
	return arena_format(arena,
		"most of it in op '%s': %" PRId64 " cycles against %" PRId64
		" of its slowest resource; %" PRId64
		" pass before its first compute has its operands, %" PRId64 " after its last",
		plan->workload->ops[plan->steps[worst->end_step - 1].op].name, cycles,
		worst->cycles, before, after);
}
