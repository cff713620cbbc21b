#include "sim/graph/audit_access.h"

#include "base/arena.h"
#include "sim/graph/touch.h"

#include <inttypes.h>

static bool check_homes(const struct program *program, struct faults *faults)
{
	const struct workload *workload = program->workload;
	for (size_t t = 0; t < workload->tensor_count; t++) {
		int64_t bytes = workload->tensors[t].layout.bytes, home = program->hbm[t];
		int64_t unit = arch_moves_boxes(program->arch) ? STICK_BYTES : 1;
		if (home == -1 || (home >= 0 && home % unit == 0 && bytes <= program->hbm_bytes &&
					  home <= program->hbm_bytes - bytes))
			continue;
		fault_add_step(faults, FAULT_BOUNDS, -1, FAULT_IN_HBM, home,
			"'%s' has no place in the %" PRId64 " bytes of HBM",
			workload->tensors[t].name, program->hbm_bytes);
		return false;
	}
	return true;
}

struct audit *audit_open(const struct program *program, int rank, struct race *race,
	const struct nests *nests, const struct sim_options *options, struct faults *faults,
	struct arena *arena)
{
	if (!check_homes(program, faults))
		return NULL;
	struct audit *audit = arena_new(arena, struct audit);
	const struct arch *arch = program->arch;
	audit->program = program;
	audit->rank = rank;
	audit->faults = faults;
	audit->race = race;
	audit->shadow = shadow_open(program, rank, race, faults, arena);
	audit->cover = cover_open(program->workload, arena);
	audit->allotments = allotment_index_make(program, arena);
	audit->lx_bytes = arch->lx < 0 ? 0 : arch->levels[arch->lx].capacity;
	if (!arch_moves_boxes(arch))
		audit->whole = audit_whole_open(program, arena);
	if (rank == 0)
		allotment_check(program, faults, arena);
	if (options->mode == SIM_IDENTITY && rank == 0)
		audit->sample =
			sample_open(program, nests, options->seed, audit->shadow, faults, arena);
	return audit;
}

/* A tensor's sticks have their own places in HBM. */
static void check_home(struct audit *audit, const struct box *box)
{
	struct box_walk walk = box_first(box);
	int64_t home = audit->program->hbm[box->tensor];
	do {
		if (home >= 0 && walk.address == home + walk.stick * STICK_BYTES)
			continue;
		fault_add(audit->faults, FAULT_BOUNDS, audit->current, FAULT_IN_HBM, walk.address,
			"stick %" PRId64 " of '%s' does not belong there", walk.stick,
			audit_name(audit, box->tensor));
		return;
	} while (box_next(box, &walk));
}

/* Which of its memories a rank has to do with in a transfer. */
struct audit_part {
	bool hbm, lx;
};

static struct audit_part find_part(struct audit *audit)
{
	const struct instruction *instruction = audit->instruction;
	const struct op *op = program_broadcast(audit->program, instruction);
	bool root = !op || op->root == audit->rank;
	int to = op && instruction->engine == ENGINE_DMA_OUT ? instruction->transfer->rank
							     : audit->rank;
	if (to < 0 || to >= audit->program->ranks)
		fault_add(audit->faults, FAULT_BOUNDS, audit->current, FAULT_IN_HBM,
			instruction->transfer->hbm.address, "there is no rank %d", to);
	if (op && instruction->engine == ENGINE_DMA_IN)
		return (struct audit_part){root, root};
	return (struct audit_part){to == audit->rank, root};
}

static bool run_transfer(struct audit *audit)
{
	const struct instruction *instruction = audit->instruction;
	const struct transfer *transfer = instruction->transfer;
	struct audit_part part = find_part(audit);
	bool in = instruction->engine == ENGINE_DMA_IN, right = true;
	size_t tensors = audit->program->workload->tensor_count;
	struct box hbm, lx[PROGRAM_CORES_MOST];
	if (transfer->lx_tensor < 0 || (size_t)transfer->lx_tensor >= tensors) {
		fault_add(audit->faults, FAULT_BOUNDS, audit->current, FAULT_IN_HBM,
			transfer->hbm.address, "the transfer is of no tensor");
		return false;
	}
	if (!audit_hbm_box(audit, &transfer->box->region, &transfer->hbm, &hbm))
		return false;
	for (uint64_t mask = part.lx ? instruction->mask : 0; mask; mask &= mask - 1) {
		int core = __builtin_ctzll(mask);
		right &= audit_lx_box(audit, &transfer->box->region, &transfer->box->lx, core,
			transfer->lx_tensor, STICK_BYTES, &lx[core]);
	}
	if (!right || instruction->mask == 0)
		return right;
	if (in && part.hbm)
		audit_read(audit, &hbm, FAULT_IN_HBM, hbm.tensor);
	for (uint64_t mask = part.lx ? instruction->mask : 0; mask; mask &= mask - 1) {
		int core = __builtin_ctzll(mask);
		if (in) {
			audit_write(audit, &lx[core], core, transfer->lx_tensor);
			continue;
		}
		audit_read(audit, &lx[core], core, transfer->lx_tensor);
	}
	if (!in && part.hbm) {
		audit_write(audit, &hbm, FAULT_IN_HBM, hbm.tensor);
		check_home(audit, &hbm);
	}
	return true;
}

static void complain_box(struct audit *audit, int core, const struct operand_box *operand)
{
	fault_add(audit->faults, FAULT_BOUNDS, audit->current, core, operand->lx.address,
		"the tile's loops touch other sticks of '%s' than the box that it %s",
		audit_name(audit, operand->region.tensor),
		operand == audit->instruction->compute->write ? "writes" : "reads");
}

/* The boxes of a compute. */
struct audit_boxes {
	struct box reads[OP_READS_MOST], write, accumulator;
};

static bool make_reads(
	struct audit *audit, const struct op *op, int core, struct audit_boxes *boxes)
{
	const struct compute *compute = audit->instruction->compute;
	bool right = true;
	for (int i = 0; i < compute->read_count; i++) {
		const struct operand_box *read = compute->reads[i];
		struct touch touch;
		if (!audit_lx_box(audit, &read->region, &read->lx, core, read->region.tensor,
			    STICK_BYTES, &boxes->reads[i])) {
			right = false;
			continue;
		}
		if (!touch_make(audit->program->workload, op, compute, read->operand, &touch) ||
			!touch_within(&touch, &read->region)) {
			complain_box(audit, core, read);
			right = false;
		}
	}
	return right;
}

static bool check_written(struct audit *audit, const struct op *op, int core)
{
	const struct compute *compute = audit->instruction->compute;
	const struct operand_box *write = compute->write;
	struct touch touch;
	if (!touch_make(audit->program->workload, op, compute, write->operand, &touch) ||
		!touch_equals(&touch, &write->region)) {
		complain_box(audit, core, write);
		return false;
	}
	if (touch_elements(&touch) < touch_stick_elements(&touch))
		fault_add(audit->faults, FAULT_STALE, audit->current, core, write->lx.address,
			"the tile computes %" PRId64 " of the %" PRId64
			" elements in the sticks of '%s' that it writes",
			touch_elements(&touch), touch_stick_elements(&touch),
			audit_name(audit, write->region.tensor));
	return true;
}

static bool make_written(
	struct audit *audit, const struct op *op, int core, struct audit_boxes *boxes)
{
	const struct compute *compute = audit->instruction->compute;
	const struct operand_box *write = compute->write;
	bool right = true;
	if (compute->finish)
		right &= audit_lx_box(audit, &write->region, &write->lx, core, write->region.tensor,
			STICK_BYTES, &boxes->write);
	bool accumulates = compute->accumulator_read || compute->accumulator_write;
	if (accumulates && !compute->accumulator) {
		fault_add(audit->faults, FAULT_BOUNDS, audit->current, core, 0,
			"the tile has no accumulator");
		return false;
	}
	if (right && accumulates) {
		const struct tensor *tensor =
			&audit->program->workload->tensors[write->region.tensor];
		right &= audit_lx_box(audit, &write->region, compute->accumulator, core,
			write->region.tensor, box_accumulator_unit(&tensor->layout),
			&boxes->accumulator);
	}
	return right && check_written(audit, op, core);
}

static bool run_compute(struct audit *audit)
{
	const struct compute *compute = audit->instruction->compute;
	const struct op *op = &audit->program->workload->ops[compute->op];
	int core = __builtin_ctzll(audit->instruction->mask);
	struct audit_boxes boxes;
	if (!touch_loops(op, compute)) {
		fault_add(audit->faults, FAULT_BOUNDS, audit->current, core, 0,
			"the tile's loops leave those of the op");
		return false;
	}
	bool right = make_reads(audit, op, core, &boxes);
	if (!make_written(audit, op, core, &boxes) || !right)
		return false;
	for (int i = 0; i < compute->read_count; i++)
		audit_read(audit, &boxes.reads[i], core, boxes.reads[i].tensor);
	uint64_t part = cover_part(audit->cover, compute);
	if (compute->accumulator_read)
		part += audit_read_accumulator(audit, &boxes.accumulator, core);
	if (compute->finish)
		audit_check_whole(audit, compute->op, &boxes.write, core, part);
	if (audit->sample)
		sample_compute(audit->sample, audit->current, boxes.reads, &boxes.write);
	if (compute->accumulator_write)
		audit_write_accumulator(audit, &boxes.accumulator, core, part);
	if (compute->finish)
		audit_write(audit, &boxes.write, core, boxes.write.tensor);
	return true;
}

/* An opaque op reads all of its operands in HBM, and writes all of its results there. */
static bool run_opaque(struct audit *audit)
{
	const struct compute *compute = audit->instruction->compute;
	const struct workload *workload = audit->program->workload;
	const struct op *op = &workload->ops[compute->op];
	for (int i = 0; i < op_operands(op); i++) {
		int tensor = op_operand(op, i)->tensor;
		int64_t address = compute->whole[i].address;
		if (address < 0 || address != audit->program->hbm[tensor]) {
			fault_add(audit->faults, FAULT_BOUNDS, audit->current, FAULT_IN_HBM,
				address, "'%s' does not belong there", audit_name(audit, tensor));
			return false;
		}
		struct content content = {.tensor = tensor_home(workload, tensor)};
		int64_t sticks = workload->tensors[tensor].layout.sticks;
		for (; content.stick < sticks; content.stick++, address += STICK_BYTES) {
			uint64_t part;
			if (i < op->read_count)
				shadow_read(
					audit->shadow, FAULT_IN_HBM, address, 0, &content, &part);
			else
				shadow_write(audit->shadow, FAULT_IN_HBM, address, &content);
		}
	}
	return true;
}

/* A core that is not in the mask never sends: those after it wait for ever. */
static bool check_chain(struct audit *audit)
{
	const struct combine *combine = audit->instruction->combine;
	for (int k = 0; k < combine->core_count; k++) {
		int core = combine->cores[k];
		if (core >= 0 && core < PROGRAM_CORES_MOST && audit->instruction->mask >> core & 1)
			continue;
		fault_add(audit->faults, FAULT_DEADLOCK, audit->current,
			core < 0 || core >= PROGRAM_CORES_MOST ? 0 : core,
			combine->accumulator.address,
			"core %d has a part in the ring but never comes to it", core);
		return false;
	}
	return combine->core_count > 0;
}

static bool run_combine(struct audit *audit)
{
	const struct combine *combine = audit->instruction->combine;
	int owner, tensor = combine->region.tensor;
	struct box accumulator, output;
	uint64_t sum = 0;
	if (!check_chain(audit))
		return false;
	owner = combine->cores[combine->core_count - 1];
	if (!audit_lx_box(
		    audit, &combine->region, &combine->output, owner, tensor, STICK_BYTES, &output))
		return false;
	int64_t unit = box_accumulator_unit(&audit->program->workload->tensors[tensor].layout);
	for (int k = 0; k < combine->core_count; k++) {
		if (!audit_lx_box(audit, &combine->region, &combine->accumulator, combine->cores[k],
			    tensor, unit, &accumulator))
			return false;
		sum += audit_read_accumulator(audit, &accumulator, combine->cores[k]);
	}
	audit_check_whole(audit, combine->op, &output, owner, sum);
	if (audit->sample)
		sample_combine(audit->sample, audit->current, &output);
	audit_write(audit, &output, owner, tensor);
	return true;
}

static bool run(struct audit *audit)
{
	switch (audit->instruction->engine) {
	case ENGINE_DMA_IN:
	case ENGINE_DMA_OUT:
		return run_transfer(audit);
	case ENGINE_COMPUTE:
		if (audit->whole)
			return audit_whole_run(audit);
		if (audit->instruction->mask == 0)
			return false;
		return audit->instruction->compute->whole ? run_opaque(audit) : run_compute(audit);
	case ENGINE_RING:
		return audit->instruction->mask != 0 && run_combine(audit);
	case ENGINE_UP:
	case ENGINE_DOWN:
		return audit->instruction->mask != 0 && audit_send(audit);
	case ENGINE_SYNC:
	case ENGINE_COUNT:
		break;
	}
	return true;
}

bool audit_run(struct audit *audit, uint32_t i)
{
	audit->current = i;
	audit->instruction = &audit->program->instructions[i];
	return run(audit);
}

static void check_tensor(struct audit *audit, int tensor)
{
	const struct program *program = audit->program;
	const struct layout *layout = &program->workload->tensors[tensor].layout;
	int home = tensor_home(program->workload, tensor);
	for (int64_t stick = 0; stick < layout->sticks; stick++) {
		int64_t address = program->hbm[tensor] + stick * STICK_BYTES;
		struct content found = shadow_find(audit->shadow, FAULT_IN_HBM, address);
		if (found.tensor == home && found.stick == stick && found.piece == 0)
			continue;
		int step = program->step_count;
		while (step-- > 0) {
			if (program->step_ops[step] == program->workload->tensors[tensor].producer)
				break;
		}
		fault_add_step(audit->faults, FAULT_UNWRITTEN, step, FAULT_IN_HBM, address,
			"at the end stick %" PRId64 " of '%s' is not there", stick,
			audit_name(audit, tensor));
		return;
	}
}

void audit_end(struct audit *audit)
{
	const struct program *program = audit->program;
	if (audit->whole) {
		audit_whole_end(audit);
		return;
	}
	for (size_t t = 0; t < program->workload->tensor_count; t++) {
		if (program->hbm[t] >= 0 && program->workload->tensors[t].producer >= 0)
			check_tensor(audit, (int)t);
	}
}

int audit_sampled(const struct audit *audit)
{
	return audit->sample ? sample_count(audit->sample) : 0;
}
