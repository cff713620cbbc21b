#include "sim/graph/sim.h"

#include "base/arena.h"
#include "base/text.h"
#include "model/graph/plan.h"
#include "sim/graph/chip.h"
#include "sim/transfer/schedule.h"

/*
 * Counts bytes from the boxes that executed instructions move, and energy from
 * those bytes; of nests what they did.  An opaque op counts in HBM alone.  Of several
 * ranks it counts what a root has and does, as if one were the root of all broadcasts.
 */
struct arena;

struct tally {
	const struct program *program;
	const struct nests *nests;
	int64_t *nest_tiles[2]; /* by step: computes that carried out its nest; that resumed sums */
	struct counts counts;
	int64_t resident_end; /* tile buffers begin here */
	struct hops hops;     /* of several ranks */
	int64_t lx_peak;      /* end of the highest bytes below it that were used */
};

static struct tally tally_make(
	const struct program *program, const struct nests *nests, struct arena *arena)
{
	struct tally tally = {.program = program, .nests = nests, .resident_end = INT64_MAX};
	tally.counts.step_count = program->step_count;
	if (program->ranks > 1)
		tally.hops = hops_open(program, arena);
	tally.counts.steps = arena_array(arena, struct step_count, program->step_count);
	for (int resumes = 0; resumes < 2; resumes++)
		tally.nest_tiles[resumes] = arena_array(arena, int64_t, program->step_count);
	for (size_t a = 0; a < program->allotment_count; a++) {
		const struct allotment *allotment = &program->allotments[a];
		if (allotment->tensor < 0)
			tally.resident_end = number_min(tally.resident_end, allotment->address);
	}
	return tally;
}

static void bytes_sum(int64_t *sum, int64_t bytes)
{
	*sum = number_plus(*sum, bytes);
}

static int64_t region_bytes(const struct region *region)
{
	return number_times(region->sticks, STICK_BYTES);
}

static int64_t accumulator_bytes(const struct tally *tally, const struct region *region)
{
	const struct layout *layout = &tally->program->workload->tensors[region->tensor].layout;
	return number_times(region_bytes(region), FP32_BYTES / dtype_stored_bytes(layout->dtype));
}

static void note_resident(
	struct tally *tally, const struct region *region, const struct location *lx)
{
	int64_t end = lx->address;
	if (end >= tally->resident_end)
		return;
	for (int d = 0; d < region->rank; d++)
		bytes_sum(&end, number_times((int64_t)region->count[d] - 1, lx->stride[d]));
	bytes_sum(&end, STICK_BYTES);
	tally->lx_peak = number_max(tally->lx_peak, end);
}

static void add_transfer(struct tally *tally, const struct instruction *instruction)
{
	const struct program *program = tally->program;
	const struct transfer *transfer = instruction->transfer;
	int64_t *bytes = tally->counts.steps[instruction->step].bytes[transfer->box->operand];
	const struct op *op = &program->workload->ops[program->step_ops[instruction->step]];
	int64_t cores = __builtin_popcountll(instruction->mask);
	int64_t moved = region_bytes(&transfer->box->region);
	bool in = instruction->engine == ENGINE_DMA_IN;
	int64_t links = op->primitive->kind == OP_BROADCAST && !in
				? hops_find(&tally->hops, op->root, transfer->rank)
				: 0;
	bytes_sum(&bytes[TRAFFIC_LINK], number_times(moved, links));
	bytes_sum(&bytes[in ? TRAFFIC_HBM_READ : TRAFFIC_HBM_WRITE], cores && !links ? moved : 0);
	bytes_sum(&bytes[in ? TRAFFIC_LX_FILL : TRAFFIC_LX_DRAIN], number_times(moved, cores));
	note_resident(tally, &transfer->box->region, &transfer->box->lx);
}

static void tally_add_nest(struct tally *tally, const struct instruction *instruction)
{
	const struct compute *compute = instruction->compute;
	const struct op *op = &tally->program->workload->ops[compute->op];
	struct step_count *step = &tally->counts.steps[instruction->step];
	struct nest_bytes bytes = nests_bytes(tally->nests, instruction->step, compute);
	for (int i = 0; i < compute->read_count; i++) {
		note_resident(tally, &compute->reads[i]->region, &compute->reads[i]->lx);
		bytes_sum(&step->bytes[i][TRAFFIC_LX_READ], bytes.reads[i]);
	}
	if (compute->finish)
		note_resident(tally, &compute->write->region, &compute->write->lx);
	bytes_sum(&step->bytes[op->read_count][TRAFFIC_LX_READ], bytes.again);
	bytes_sum(&step->bytes[op->read_count][TRAFFIC_LX_WRITE], bytes.written);
	tally->nest_tiles[compute->nest->hierarchy->resumes][instruction->step]++;
}

static void add_opaque(const struct op *op, const struct compute *compute, struct step_count *step)
{
	for (int i = 0; i < op_operands(op); i++)
		bytes_sum(
			&step->bytes[i][i < op->read_count ? TRAFFIC_HBM_READ : TRAFFIC_HBM_WRITE],
			compute->whole[i].bytes);
}

/* Words at the home and at the scratchpad, as bytes of what is stored. */
static void add_whole(struct tally *tally, const struct instruction *instruction)
{
	const struct compute *compute = instruction->compute;
	const struct workload *workload = tally->program->workload;
	const struct op *op = &workload->ops[compute->op];
	const struct executed_nest *nest = nests_of(tally->nests, instruction->step, compute);
	for (int i = 0; i < op_operands(op); i++) {
		const struct whole_operand *operand = &compute->whole[i];
		int64_t *bytes = tally->counts.steps[instruction->step].bytes[i];
		int64_t stored =
			dtype_stored_bytes(workload->tensors[operand->tensor].layout.dtype);
		if (nest->home >= 0) {
			const struct nest_count *home = &nest->sim.counts.at[nest->home][i];
			bytes_sum(&bytes[TRAFFIC_HBM_READ], number_times(home->reads, stored));
			bytes_sum(&bytes[TRAFFIC_HBM_WRITE], number_times(home->fills, stored));
			bytes_sum(&bytes[TRAFFIC_HBM_WRITE], number_times(home->updates, stored));
		}
		if (nest->scratchpad >= 0) {
			const struct nest_count *lx = &nest->sim.counts.at[nest->scratchpad][i];
			bytes_sum(&bytes[TRAFFIC_LX_FILL], number_times(lx->fills, stored));
			bytes_sum(&bytes[TRAFFIC_LX_READ], number_times(lx->reads, stored));
			bytes_sum(&bytes[TRAFFIC_LX_WRITE], number_times(lx->updates, stored));
		}
		if (operand->in_lx)
			tally->lx_peak =
				number_max(tally->lx_peak, operand->address + operand->bytes);
	}
	tally->nest_tiles[compute->nest->hierarchy->resumes][instruction->step]++;
}

static void add_compute(struct tally *tally, const struct instruction *instruction)
{
	const struct compute *compute = instruction->compute;
	const struct op *op = &tally->program->workload->ops[compute->op];
	struct step_count *step = &tally->counts.steps[instruction->step];
	const struct operand_box *write = compute->write;
	if (op->primitive->kind == OP_OPAQUE) {
		add_opaque(op, compute, step);
		return;
	}
	int64_t computes = op->primitive->work;
	for (int l = 0; l < op->loop_count; l++)
		computes = number_times(computes, compute->count[l]);
	bytes_sum(&step->computes, computes);
	if (compute->nest) {
		if (compute->whole)
			add_whole(tally, instruction);
		else
			tally_add_nest(tally, instruction);
		return;
	}
	for (int i = 0; i < compute->read_count; i++) {
		const struct operand_box *read = compute->reads[i];
		bytes_sum(
			&step->bytes[read->operand][TRAFFIC_LX_READ], region_bytes(&read->region));
		note_resident(tally, &read->region, &read->lx);
	}
	int64_t *bytes = step->bytes[write->operand];
	if (compute->accumulator_read)
		bytes_sum(&bytes[TRAFFIC_LX_READ], accumulator_bytes(tally, &write->region));
	if (compute->accumulator_write)
		bytes_sum(&bytes[TRAFFIC_LX_WRITE], accumulator_bytes(tally, &write->region));
	if (compute->finish) {
		bytes_sum(&bytes[TRAFFIC_LX_WRITE], region_bytes(&write->region));
		note_resident(tally, &write->region, &write->lx);
	}
}

static void add_combine(struct tally *tally, const struct instruction *instruction)
{
	const struct combine *combine = instruction->combine;
	const struct op *op = &tally->program->workload->ops[combine->op];
	int64_t *bytes = tally->counts.steps[instruction->step].bytes[op->read_count];
	int64_t accumulator = accumulator_bytes(tally, &combine->region);
	bytes_sum(&bytes[TRAFFIC_LX_READ], number_times(accumulator, combine->core_count));
	bytes_sum(&bytes[TRAFFIC_RING], number_times(accumulator, combine->core_count - 1));
	bytes_sum(&bytes[TRAFFIC_LX_WRITE], region_bytes(&combine->region));
	note_resident(tally, &combine->region, &combine->output);
}

static void add_send(struct tally *tally, int core, bool up, int step, const struct send *send)
{
	int cores = (int)arch_cores(tally->program->arch), far = 0;
	struct step_count *count = &tally->counts.steps[step];
	if (!send->from)
		return;
	int64_t bytes = region_bytes(&send->from->region);
	for (uint64_t m = send->receivers; m; m &= m - 1) {
		int to = __builtin_ctzll(m);
		int way = (up ? to - core + cores : core - to + cores) % cores;
		far = way > far ? way : far;
	}
	bytes_sum(&count->bytes[send->from->operand][TRAFFIC_LX_DRAIN], bytes);
	bytes_sum(&count->bytes[send->to->operand][TRAFFIC_LX_FILL],
		number_times(bytes, __builtin_popcountll(send->receivers)));
	bytes_sum(&count->bytes[send->to->operand][TRAFFIC_DATA_RING], number_times(bytes, far));
	note_resident(tally, &send->from->region, &send->from->lx);
	note_resident(tally, &send->to->region, &send->to->lx);
}

static void tally_add(struct tally *tally, const struct instruction *instruction)
{
	if (instruction->mask == 0)
		return;
	switch (instruction->engine) {
	case ENGINE_DMA_IN:
	case ENGINE_DMA_OUT:
		add_transfer(tally, instruction);
		break;
	case ENGINE_COMPUTE:
		add_compute(tally, instruction);
		break;
	case ENGINE_RING:
		add_combine(tally, instruction);
		break;
	case ENGINE_UP:
	case ENGINE_DOWN:
		add_send(tally, __builtin_ctzll(instruction->mask),
			instruction->engine == ENGINE_UP, instruction->step, instruction->send);
		break;
	case ENGINE_SYNC:
	case ENGINE_COUNT:
		break;
	}
}

/* A sum that does not fit is as wrong as the model's. */
static void tally_close(struct tally *tally, struct arena *arena)
{
	for (int s = 0; s < tally->program->step_count; s++) {
		struct nest_counts *all = NULL;
		for (int resumes = 0; resumes < 2; resumes++) {
			const struct executed_nest *nest = nests_find(tally->nests, s, resumes);
			if (!nest)
				continue;
			all = all ? all : arena_new(arena, struct nest_counts);
			nest_counts_add(all, &nest->sim.counts, tally->nest_tiles[resumes][s]);
		}
		tally->counts.steps[s].nests = all;
	}
}

const char *const sim_mode_names[] = {"count", "identity", "data", NULL};

enum { STUCK_MOST = 8, STOP_EVENTS = 256 };

struct machine_run {
	const struct program *program;
	const struct sim_options *options;
	struct order order;
	const struct nests *nests;
	struct machine *machine;
	struct tally tally;
	struct faults faults;
	struct stop_poll poll;
	struct race *race;
	struct audit **audits; /* by rank; NULL in counting mode */
	struct data **data;    /* by rank; NULL but in data mode */
};

/* Memories for every rank; none after a fault, when nothing can be said about them. */
static void open_ranks(struct machine_run *run, struct arena *arena)
{
	const struct program *program = run->program;
	struct audit **audits = arena_array(arena, struct audit *, program->ranks);
	run->race = race_make(program, &run->order, arena);
	for (int r = 0; r < program->ranks; r++) {
		run->faults.rank = r;
		audits[r] = audit_open(program, r, run->race, run->nests, run->options,
			&run->faults, &run->poll, arena);
		if (!audits[r])
			return;
	}
	run->audits = audits;
	if (run->options->mode != SIM_DATA)
		return;
	run->data = arena_array(arena, struct data *, program->ranks);
	for (int r = 0; r < program->ranks; r++)
		run->data[r] = data_open(program, r, run->nests, run->options, arena);
}

/* Reports the faults of nests, once for all tiles of a step. */
static void check_nests(struct machine_run *run)
{
	for (int i = 0; i < 2 * run->program->step_count && !faults_full(&run->faults); i++) {
		int step = i / 2;
		const struct executed_nest *nest = nests_find(run->nests, step, i % 2);
		const char *why = nest ? nests_wrong(run->nests, nest) : NULL;
		if (why)
			fault_add_step(&run->faults, FAULT_VALUE, step, 0, 0, "%s", why);
	}
}

static void machine_run_open_run(
	struct machine_run *run, struct sim_result *result, struct arena *arena)
{
	const struct program *program = run->program;
	run->order = order_make(program, arena);
	run->machine = machine_open(program, run->nests, arena);
	run->tally = tally_make(program, run->nests, arena);
	run->faults = (struct faults){
		.program = program,
		.arena = arena,
		.at = result->faults,
	};
	check_nests(run);
	if (run->options->mode != SIM_COUNT)
		open_ranks(run, arena);
	if (run->options->trace)
		order_keep_times(&run->order);
}

/* One walk over the program while its parts come in the order of memory. */
static void machine_run_prepare(struct machine_run *run)
{
	for (uint32_t i = 0; i < run->order.count; i++) {
		machine_add(run->machine, &run->program->instructions[i]);
		tally_add(&run->tally, &run->program->instructions[i]);
	}
}

/* Counts again a run that was cut off: only the instructions that ran. */
static void tally_again(struct machine_run *run, struct arena *arena)
{
	run->tally = tally_make(run->program, run->nests, arena);
	for (uint32_t i = 0; i < run->order.count; i++) {
		if (run->order.done[i])
			tally_add(&run->tally, &run->program->instructions[i]);
	}
}

static const int64_t *find_step_ends(const struct machine_run *run, struct arena *arena)
{
	const int64_t *ticks = machine_step_ends(run->machine);
	int64_t *cycles = arena_array(arena, int64_t, run->program->step_count);
	for (int s = 0; s < run->program->step_count; s++)
		cycles[s] = number_ceil_div(ticks[s], machine_ticks(run->machine));
	return cycles;
}

static void compute_data(struct machine_run *run, uint32_t i, int rank)
{
	const struct instruction *instruction = &run->program->instructions[i];
	const char *why = data_run(run->data[rank], instruction);
	if (why)
		fault_add(&run->faults, FAULT_VALUE, i, __builtin_ctzll(instruction->mask), 0,
			"its nest cannot be carried out with values: %s", why);
}

/* Follows an instruction on the memories. */
static void machine_run_examine(struct machine_run *run, struct order_event event)
{
	uint32_t i = event.instruction;
	const struct instruction *instruction = &run->program->instructions[i];
	const struct op *broadcast = program_broadcast(run->program, instruction);
	bool all = true;
	run->faults.cycle = event.time / machine_ticks(run->machine);
	race_begin(run->race, i);
	for (int r = 0; r < run->program->ranks; r++) {
		run->faults.rank = r;
		bool right = audit_run(run->audits[r], i);
		all &= right;
		if (right && run->data && !broadcast)
			compute_data(run, i, r);
	}
	race_end(run->race);
	if (!broadcast || !all || !run->data)
		return;
	if (instruction->engine == ENGINE_DMA_OUT)
		data_store(run->data[broadcast->root], run->data[instruction->transfer->rank],
			instruction);
	else
		data_run(run->data[broadcast->root], instruction);
}

static void machine_run_execute(struct machine_run *run, struct order_event event)
{
	uint32_t i = event.instruction;
	int64_t end = machine_run(run->machine, i, event.time);
	if (run->audits)
		machine_run_examine(run, event);
	order_end(&run->order, event, end, machine_delay(run->machine, i));
}

/* True when nothing was cut off. */
static bool run_events(struct machine_run *run)
{
	uint64_t most = run->options->steps_most ? run->options->steps_most : UINT64_MAX;
	struct order_event event;
	order_start(&run->order);
	while (order_next(&run->order, &event)) {
		if (run->order.ran == most || faults_full(&run->faults))
			return false;
		if (stop_poll_ends(&run->poll, 1))
			return false;
		machine_run_execute(run, event);
		/* An instruction can be a whole op, which the audit leaves early. */
		if (run->poll.stopped)
			return false;
	}
	return true;
}

static void explain_deadlock(struct machine_run *run, struct arena *arena)
{
	uint32_t stuck[STUCK_MOST];
	int count = order_stuck(run->program, &run->order, arena, STUCK_MOST, stuck);
	const struct instruction *first = &run->program->instructions[stuck[0]];
	int core = first->mask ? __builtin_ctzll(first->mask) : 0;
	run->faults.cycle = run->order.end / machine_ticks(run->machine);
	if (count == 1) {
		fault_add(&run->faults, FAULT_DEADLOCK, stuck[0], core, 0,
			"instruction %u waits for itself or for one that does not exist", stuck[0]);
		return;
	}
	struct text text = text_open(arena);
	for (int k = 1; k < count && k < STUCK_MOST; k++)
		text_add(&text, "%u, which waits for ", stuck[k]);
	fault_add(&run->faults, FAULT_DEADLOCK, stuck[0], core, 0,
		"instruction %u waits for %s%s%u", stuck[0], text_read(&text),
		count > STUCK_MOST ? "others, which wait for " : "", stuck[0]);
}

static void end_ranks(struct machine_run *run)
{
	for (int r = 0; r < run->program->ranks; r++) {
		run->faults.rank = r;
		audit_end(run->audits[r]);
	}
}

struct sim_result sim_run(
	const struct program *program, const struct sim_options *options, struct arena *arena)
{
	struct sim_result result = {0};
	struct machine_run run = {.program = program,
		.options = options,
		.poll = {options->stopper, .every = STOP_EVENTS}};
	struct nests *nests = nests_open(program, options, arena);
	result.nests = nests->count;
	result.nest_tiles = nests->tiles;
	result.too_long = nests->too_long;
	if (nests->too_long)
		return result;
	run.nests = nests;
	machine_run_open_run(&run, &result, arena);
	machine_run_prepare(&run);
	bool whole = (run.audits || options->mode == SIM_COUNT) && run_events(&run);
	if (whole && run.order.ran < run.order.count)
		explain_deadlock(&run, arena);
	else if (whole && run.audits)
		end_ranks(&run);

	result.finished = run.order.ran == run.order.count;
	if (!result.finished)
		tally_again(&run, arena);
	tally_close(&run.tally, arena);
	result.events = run.order.ran;
	result.ticks_per_cycle = machine_ticks(run.machine);
	result.cycles =
		number_ceil_div(run.order.end, result.ticks_per_cycle) + program->overhead_cycles;
	result.step_ends = find_step_ends(&run, arena);
	result.counts = run.tally.counts;
	result.lx_peak_bytes = run.tally.lx_peak;
	result.tiles_computed = run.audits ? audit_sampled(run.audits[0]) : 0;
	result.trace = run.order.times;
	if (run.data) {
		result.rank_outputs = arena_array(arena, void **, program->ranks);
		result.rank_made = arena_array(arena, void **, program->ranks);
		for (int r = 0; r < program->ranks; r++) {
			result.rank_outputs[r] = data_outputs(run.data[r], arena);
			result.rank_made[r] = data_made(run.data[r]);
		}
		result.outputs = result.rank_outputs[0];
	}
	result.fault_count = run.faults.count;
	return result;
}
