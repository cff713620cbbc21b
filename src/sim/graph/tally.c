#include "sim/graph/tally.h"

#include "base/arena.h"

enum { FP32_BYTES = 4 };

struct tally tally_make(
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

static void add(int64_t *sum, int64_t bytes)
{
	*sum = number_plus(*sum, bytes);
}

static int64_t bytes_of(const struct region *region)
{
	return number_times(region->sticks, STICK_BYTES);
}

static int64_t accumulator_bytes(const struct tally *tally, const struct region *region)
{
	const struct layout *layout = &tally->program->workload->tensors[region->tensor].layout;
	return number_times(bytes_of(region), FP32_BYTES / dtype_stored_bytes(layout->dtype));
}

static void note_resident(
	struct tally *tally, const struct region *region, const struct location *lx)
{
	int64_t end = lx->address;
	if (end >= tally->resident_end)
		return;
	for (int d = 0; d < region->rank; d++)
		add(&end, number_times((int64_t)region->count[d] - 1, lx->stride[d]));
	add(&end, STICK_BYTES);
	tally->lx_peak = number_max(tally->lx_peak, end);
}

static void add_transfer(struct tally *tally, const struct instruction *instruction)
{
	const struct program *program = tally->program;
	const struct transfer *transfer = instruction->transfer;
	int64_t *bytes = tally->counts.steps[instruction->step].bytes[transfer->box->operand];
	const struct op *op = &program->workload->ops[program->step_ops[instruction->step]];
	int64_t cores = __builtin_popcountll(instruction->mask);
	int64_t moved = bytes_of(&transfer->box->region);
	bool in = instruction->engine == ENGINE_DMA_IN;
	int64_t links = op->primitive->kind == OP_BROADCAST && !in
				? hops_find(&tally->hops, op->root, transfer->rank)
				: 0;
	add(&bytes[TRAFFIC_LINK], number_times(moved, links));
	add(&bytes[in ? TRAFFIC_HBM_READ : TRAFFIC_HBM_WRITE], cores && !links ? moved : 0);
	add(&bytes[in ? TRAFFIC_LX_FILL : TRAFFIC_LX_DRAIN], number_times(moved, cores));
	note_resident(tally, &transfer->box->region, &transfer->box->lx);
}

static void add_nest(struct tally *tally, const struct instruction *instruction)
{
	const struct compute *compute = instruction->compute;
	const struct op *op = &tally->program->workload->ops[compute->op];
	struct step_count *step = &tally->counts.steps[instruction->step];
	struct nest_bytes bytes = nests_bytes(tally->nests, instruction->step, compute);
	for (int i = 0; i < compute->read_count; i++) {
		note_resident(tally, &compute->reads[i]->region, &compute->reads[i]->lx);
		add(&step->bytes[i][TRAFFIC_LX_READ], bytes.reads[i]);
	}
	if (compute->finish)
		note_resident(tally, &compute->write->region, &compute->write->lx);
	add(&step->bytes[op->read_count][TRAFFIC_LX_READ], bytes.again);
	add(&step->bytes[op->read_count][TRAFFIC_LX_WRITE], bytes.written);
	tally->nest_tiles[compute->nest->hierarchy->resumes][instruction->step]++;
}

static void add_opaque(const struct op *op, const struct compute *compute, struct step_count *step)
{
	for (int i = 0; i < op_operands(op); i++)
		add(&step->bytes[i][i < op->read_count ? TRAFFIC_HBM_READ : TRAFFIC_HBM_WRITE],
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
			add(&bytes[TRAFFIC_HBM_READ], number_times(home->reads, stored));
			add(&bytes[TRAFFIC_HBM_WRITE], number_times(home->fills, stored));
			add(&bytes[TRAFFIC_HBM_WRITE], number_times(home->updates, stored));
		}
		if (nest->scratchpad >= 0) {
			const struct nest_count *lx = &nest->sim.counts.at[nest->scratchpad][i];
			add(&bytes[TRAFFIC_LX_FILL], number_times(lx->fills, stored));
			add(&bytes[TRAFFIC_LX_READ], number_times(lx->reads, stored));
			add(&bytes[TRAFFIC_LX_WRITE], number_times(lx->updates, stored));
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
	add(&step->computes, computes);
	if (compute->nest) {
		if (compute->whole)
			add_whole(tally, instruction);
		else
			add_nest(tally, instruction);
		return;
	}
	for (int i = 0; i < compute->read_count; i++) {
		const struct operand_box *read = compute->reads[i];
		add(&step->bytes[read->operand][TRAFFIC_LX_READ], bytes_of(&read->region));
		note_resident(tally, &read->region, &read->lx);
	}
	int64_t *bytes = step->bytes[write->operand];
	if (compute->accumulator_read)
		add(&bytes[TRAFFIC_LX_READ], accumulator_bytes(tally, &write->region));
	if (compute->accumulator_write)
		add(&bytes[TRAFFIC_LX_WRITE], accumulator_bytes(tally, &write->region));
	if (compute->finish) {
		add(&bytes[TRAFFIC_LX_WRITE], bytes_of(&write->region));
		note_resident(tally, &write->region, &write->lx);
	}
}

static void add_combine(struct tally *tally, const struct instruction *instruction)
{
	const struct combine *combine = instruction->combine;
	const struct op *op = &tally->program->workload->ops[combine->op];
	int64_t *bytes = tally->counts.steps[instruction->step].bytes[op->read_count];
	int64_t accumulator = accumulator_bytes(tally, &combine->region);
	add(&bytes[TRAFFIC_LX_READ], number_times(accumulator, combine->core_count));
	add(&bytes[TRAFFIC_RING], number_times(accumulator, combine->core_count - 1));
	add(&bytes[TRAFFIC_LX_WRITE], bytes_of(&combine->region));
	note_resident(tally, &combine->region, &combine->output);
}

static void add_send(struct tally *tally, int core, bool up, int step, const struct send *send)
{
	int cores = (int)arch_cores(tally->program->arch), far = 0;
	struct step_count *count = &tally->counts.steps[step];
	if (!send->from)
		return;
	int64_t bytes = bytes_of(&send->from->region);
	for (uint64_t m = send->receivers; m; m &= m - 1) {
		int to = __builtin_ctzll(m);
		int way = (up ? to - core + cores : core - to + cores) % cores;
		far = way > far ? way : far;
	}
	add(&count->bytes[send->from->operand][TRAFFIC_LX_DRAIN], bytes);
	add(&count->bytes[send->to->operand][TRAFFIC_LX_FILL],
		number_times(bytes, __builtin_popcountll(send->receivers)));
	add(&count->bytes[send->to->operand][TRAFFIC_DATA_RING], number_times(bytes, far));
	note_resident(tally, &send->from->region, &send->from->lx);
	note_resident(tally, &send->to->region, &send->to->lx);
}

void tally_add(struct tally *tally, const struct instruction *instruction)
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
void tally_close(struct tally *tally, struct arena *arena)
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
