#include "sim/graph/chip.h"

#include "base/arena.h"
#include "lower/graph/program.h"

#include <inttypes.h>
#include <string.h>

/*
 * State of the data ring: the runs that each core has set up for the step, and those of the boxes that
 * it has sent and received since, which may not be more.
 */
struct audit;
struct audit_runs {
	int step[PROGRAM_CORES_MOST]; /* plus 1; 0: nothing is set up */
	int64_t set_up[PROGRAM_CORES_MOST], sent[PROGRAM_CORES_MOST], received[PROGRAM_CORES_MOST];
};

struct audit {
	const struct program *program;
	int rank;
	struct faults *faults;
	struct shadow *shadow;
	struct cover *cover;
	struct sample *sample;     /* NULL in data mode */
	struct audit_whole *whole; /* NULL where tiles move in boxes */
	struct allotment_index allotments;
	struct audit_runs runs;
	int64_t lx_bytes;
	uint32_t current;
	const struct instruction *instruction; /* the current one */
	struct stop_poll *poll;                /* of the run: an op can have millions of rows */
};

static const char *audit_name(const struct audit *audit, int tensor)
{
	return audit->program->workload->tensors[tensor].name;
}

static bool audit_make_box(struct audit *audit, const struct region *region,
	const struct location *location, int core, int64_t unit, struct box *box)
{
	int64_t at;
	int64_t size = core == FAULT_IN_HBM ? audit->program->hbm_bytes : audit->lx_bytes;
	const char *why =
		box_make(audit->program->workload, region, location, unit, size, box, &at);
	if (why)
		fault_add(audit->faults, FAULT_BOUNDS, audit->current, core, at, "%s", why);
	return !why;
}

static bool audit_lx_box(struct audit *audit, const struct region *region,
	const struct location *location, int core, int tensor, int64_t unit, struct box *box)
{
	if (!audit_make_box(audit, region, location, core, unit, box))
		return false;
	const struct allotment *allotment = allotment_find(
		&audit->allotments, audit->instruction->step, core, tensor, box->low, box->high);
	if (allotment)
		box->since = allotment->from;
	else
		fault_add(audit->faults, FAULT_BOUNDS, audit->current, core, box->low,
			"bytes %" PRId64 " to %" PRId64
			" of LX are neither allotted to '%s' nor to tile buffers",
			box->low, box->high, audit_name(audit, tensor));
	return true;
}

/* The sticks of a box, as those of a tensor. */
static void audit_read(struct audit *audit, const struct box *box, int core, int tensor)
{
	struct box_walk walk = box_first(box);
	uint64_t part;
	if (core == FAULT_IN_HBM)
		tensor = tensor_home(audit->program->workload, tensor);
	do {
		struct content expected = {.tensor = tensor, .stick = walk.stick};
		shadow_read(audit->shadow, core, walk.address, box->since, &expected, &part);
	} while (box_next(box, &walk));
}

static void audit_write(struct audit *audit, const struct box *box, int core, int tensor)
{
	struct box_walk walk = box_first(box);
	do {
		struct content content = {.tensor = tensor, .stick = walk.stick};
		shadow_write(audit->shadow, core, walk.address, &content);
	} while (box_next(box, &walk));
}

static void audit_set_up(struct audit *audit, int core)
{
	struct audit_runs *runs = &audit->runs;
	runs->step[core] = audit->instruction->step + 1;
	runs->set_up[core] = audit->instruction->send->runs;
	runs->sent[core] = runs->received[core] = 0;
}

/* Rows of sticks that follow each other in both places. */
static int64_t count_runs(const struct box *from, const struct box *to)
{
	int64_t row = 1, runs = 1;
	for (int d = from->rank - 1; d >= 0; d--) {
		if (from->count[d] == 1)
			continue;
		if (runs == 1 && from->stride[d] == row * STICK_BYTES &&
			to->stride[d] == row * STICK_BYTES)
			row *= from->count[d];
		else
			runs *= from->count[d];
	}
	return runs;
}

static void use_runs(struct audit *audit, int core, int64_t *used, int64_t runs, int64_t address)
{
	bool known = audit->runs.step[core] == audit->instruction->step + 1;
	int64_t most = known ? audit->runs.set_up[core] : 0;
	*used += runs;
	if (*used > most)
		fault_add(audit->faults, FAULT_BOUNDS, audit->current, core, address,
			"core %d moves %" PRId64 " runs over the data ring and has set up %" PRId64,
			core, *used, most);
}

/* The current instruction sets runs up or sends a box; false when it cannot be carried out at all. */
static bool audit_send(struct audit *audit)
{
	const struct send *send = audit->instruction->send;
	int sender = __builtin_ctzll(audit->instruction->mask);
	uint64_t cores = arch_cores(audit->program->arch) >= 64
				 ? UINT64_MAX
				 : (UINT64_C(1) << arch_cores(audit->program->arch)) - 1;
	struct box from, to;
	if (!send->from) {
		audit_set_up(audit, sender);
		return true;
	}
	if (!region_equal(&send->from->region, &send->to->region) || send->receivers & ~cores) {
		fault_add(audit->faults, FAULT_BOUNDS, audit->current, sender,
			send->from->lx.address,
			"it sends other sticks than arrive, or to cores that are not there");
		return false;
	}
	if (!audit_lx_box(audit, &send->from->region, &send->from->lx, sender,
		    send->from->region.tensor, STICK_BYTES, &from))
		return false;
	audit_read(audit, &from, sender, from.tensor);
	for (uint64_t m = send->receivers; m; m &= m - 1) {
		int core = __builtin_ctzll(m);
		if (!audit_lx_box(audit, &send->to->region, &send->to->lx, core,
			    send->to->region.tensor, STICK_BYTES, &to))
			return false;
		audit_write(audit, &to, core, to.tensor);
		use_runs(audit, core, &audit->runs.received[core], count_runs(&from, &to), to.low);
	}
	if (send->receivers)
		use_runs(
			audit, sender, &audit->runs.sent[sender], count_runs(&from, &to), from.low);
	return true;
}

/*
 * The memories of a machine whose tiles do not move in boxes: HBM and one scratchpad hold arrays row by
 * row, and the scratchpad the parts of arrays that iterations of a run have.  A compute writes rows, of
 * which others may have overwritten parts.
 */
struct audit_whole {
	struct pieces *hbm, *lx;
};

/* The rows of what a compute touches of an operand: bytes that follow each other in the tensor's host array
 * and where they lie. */
struct touched_rows {
	struct touch touch;
	const struct whole_operand *operand;
	int outer; /* host dimensions that go from row to row; those behind the next are whole */
	int64_t at[LAYOUT_HOST_RANK_MOST];
	int64_t bytes; /* of a row */
};

/* HBM with the graph's inputs in it. */
static struct audit_whole *audit_whole_open(const struct program *program, struct arena *arena)
{
	struct audit_whole *whole = arena_new(arena, struct audit_whole);
	whole->hbm = pieces_open(arena);
	whole->lx = pieces_open(arena);
	for (size_t t = 0; t < program->workload->tensor_count; t++) {
		const struct tensor *tensor = &program->workload->tensors[t];
		int64_t home = program->hbm[t];
		if (tensor->producer < 0 && home >= 0)
			pieces_write(whole->hbm,
				(struct written_piece){
					home, home + tensor->layout.bytes, home, (int)t, -1, 0});
	}
	return whole;
}

/* The first byte of the array that is not there, and what lies in its place: NULL, nothing. */
static int64_t pieces_find_missing(struct pieces *memory, const struct written_piece *wanted,
	int since, const struct written_piece **found)
{
	int64_t at = wanted->low;
	while (at < wanted->high) {
		*found = pieces_find(memory, at);
		if (!*found || (*found)->tensor != wanted->tensor ||
			(*found)->base != wanted->base || (*found)->part != wanted->part ||
			((*found)->step >= 0 && (*found)->step < since))
			return at;
		at = (*found)->high;
	}
	return -1;
}

/* Checks the place of an operand; false after a fault.  *since: the step from which its bytes are its own. */
static bool check_place(struct audit *audit, const struct whole_operand *operand, int *since)
{
	const struct program *program = audit->program;
	int64_t end = operand->address + operand->bytes;
	*since = 0;
	if (!operand->in_lx) {
		bool inside = operand->address >= 0 && end <= program->hbm_bytes;
		if (!inside || operand->address != program->hbm[operand->tensor])
			fault_add(audit->faults, FAULT_BOUNDS, audit->current, FAULT_IN_HBM,
				operand->address, "'%s' does not belong there",
				audit_name(audit, operand->tensor));
		return inside;
	}
	bool inside = operand->address >= 0 && end <= audit->lx_bytes;
	const struct allotment *allotment =
		inside ? allotment_find(&audit->allotments, audit->instruction->step, 0,
				 operand->tensor, operand->address, end)
		       : NULL;
	if (!allotment)
		fault_add(audit->faults, FAULT_BOUNDS, audit->current, 0, operand->address,
			"bytes %" PRId64 " to %" PRId64
			" of the scratchpad are not allotted to '%s'",
			operand->address, end, audit_name(audit, operand->tensor));
	*since = allotment ? allotment->from : 0;
	return inside;
}

static bool open_rows(struct audit *audit, int operand, struct touched_rows *rows)
{
	const struct compute *compute = audit->instruction->compute;
	const struct workload *workload = audit->program->workload;
	const struct op *op = &workload->ops[compute->op];
	const struct whole_operand *whole = &compute->whole[operand];
	const struct layout *layout = &workload->tensors[whole->tensor].layout;
	bool inside = true;
	*rows = (struct touched_rows){.operand = whole, .bytes = dtype_stored_bytes(layout->dtype)};
	if (op->primitive->kind == OP_OPAQUE)
		rows->touch = (struct touch){.layout = layout};
	for (int h = 0; op->primitive->kind == OP_OPAQUE && h < layout->host_rank; h++)
		rows->touch.high[h] = layout->host_size[h] - 1;
	if (op->primitive->kind != OP_OPAQUE)
		inside = touch_loops(op, compute) &&
			 touch_make(workload, op, compute, operand, &rows->touch);
	for (int h = 0; inside && h < layout->host_rank; h++)
		inside = rows->touch.low[h] >= whole->first[h] &&
			 rows->touch.high[h] < whole->first[h] + whole->size[h];
	if (!inside) {
		fault_add(audit->faults, FAULT_BOUNDS, audit->current,
			whole->in_lx ? 0 : FAULT_IN_HBM, whole->address,
			"its loops reach beyond the part of '%s' that is there",
			audit_name(audit, whole->tensor));
		return false;
	}
	int h = layout->host_rank;
	while (h > 0) {
		h--;
		int64_t count = rows->touch.high[h] - rows->touch.low[h] + 1;
		rows->bytes *= count;
		if (count < whole->size[h] || whole->size[h] < layout->host_size[h])
			break;
	}
	rows->outer = h;
	memcpy(rows->at, rows->touch.low, sizeof rows->at);
	return true;
}

static bool next_row(struct touched_rows *rows)
{
	return touch_next(rows->outer, rows->touch.low, rows->touch.high, rows->at);
}

static struct written_piece row_piece(
	const struct audit *audit, const struct touched_rows *rows, uint64_t part)
{
	const struct whole_operand *operand = rows->operand;
	const struct layout *layout = rows->touch.layout;
	int64_t there = 0, element = 0, stored = dtype_stored_bytes(layout->dtype);
	for (int h = 0; h < layout->host_rank; h++) {
		there = there * operand->size[h] + rows->at[h] - operand->first[h];
		element = element * layout->host_size[h] + rows->at[h];
	}
	int64_t low = operand->address + there * stored;
	return (struct written_piece){low, low + rows->bytes, low - element * stored,
		operand->in_lx ? operand->tensor
			       : tensor_home(audit->program->workload, operand->tensor),
		audit->instruction->step, part};
}

static struct pieces *memory_of(const struct audit *audit, const struct touched_rows *rows)
{
	return rows->operand->in_lx ? audit->whole->lx : audit->whole->hbm;
}

/* True if the run is to end. */
static bool is_stopped(struct audit *audit)
{
	return stop_poll_ends(audit->poll, 1);
}

static bool audit_read_row(
	struct audit *audit, const struct touched_rows *rows, int since, uint64_t part)
{
	struct written_piece wanted = row_piece(audit, rows, part);
	bool in_lx = rows->operand->in_lx;
	struct pieces *memory = memory_of(audit, rows);
	const struct written_piece *found;
	int core = in_lx ? 0 : FAULT_IN_HBM;
	int64_t at = pieces_find_missing(memory, &wanted, since, &found);
	const char *name = audit_name(audit, rows->operand->tensor);
	if (at < 0)
		return true;
	int64_t byte = at - wanted.base;
	if (!found)
		fault_add(audit->faults, FAULT_UNWRITTEN, audit->current, core, at,
			"it reads byte %" PRId64 " of '%s' that was never written", byte, name);
	else
		fault_add(audit->faults, FAULT_STALE, audit->current, core, at,
			"it reads byte %" PRId64 " of '%s' and finds byte %" PRId64
			" of '%s' of step %d",
			byte, name, at - found->base, audit_name(audit, found->tensor),
			found->step);
	return false;
}

/* Finds the part of the reduction in the sums that the current compute adds to; all must have the same. */
static bool read_sums(struct audit *audit, struct touched_rows *rows, int since, uint64_t *part)
{
	struct written_piece first = row_piece(audit, rows, 0);
	const struct written_piece *found = pieces_find(memory_of(audit, rows), first.low);
	*part = found ? found->part : 0;
	bool right = audit_read_row(audit, rows, since, *part);
	while (right && !is_stopped(audit) && next_row(rows))
		right = audit_read_row(audit, rows, since, *part);
	return right;
}

/* The part of the reduction that the output has after the current compute, 0 if that finishes it. */
static uint64_t find_part(struct audit *audit, const struct whole_operand *written, uint64_t before)
{
	const struct compute *compute = audit->instruction->compute;
	if (audit->program->workload->ops[compute->op].primitive->kind == OP_OPAQUE)
		return 0;
	uint64_t part = before + cover_part(audit->cover, compute);
	if (!compute->finish)
		return part;
	if (part != cover_whole(audit->cover, compute->op))
		fault_add(audit->faults, FAULT_STALE, audit->current,
			written->in_lx ? 0 : FAULT_IN_HBM, written->address,
			"'%s' is finished with a part of its reduction missing or taken twice",
			audit_name(audit, written->tensor));
	return 0;
}

static bool write_output(struct audit *audit, int operand, int since)
{
	const struct compute *compute = audit->instruction->compute;
	struct touched_rows rows;
	uint64_t part = 0;
	bool right = open_rows(audit, operand, &rows);
	struct touched_rows again = rows;
	if (right && compute->accumulator_read)
		right = read_sums(audit, &again, since, &part);
	if (!right)
		return false;
	part = find_part(audit, rows.operand, part);
	do
		pieces_write(memory_of(audit, &rows), row_piece(audit, &rows, part));
	while (!is_stopped(audit) && next_row(&rows));
	return true;
}

/* The current instruction of the audit reads its operands and writes its output; false when it
 * cannot be carried out at all. */
static bool audit_whole_run(struct audit *audit)
{
	const struct compute *compute = audit->instruction->compute;
	const struct op *op = &audit->program->workload->ops[compute->op];
	bool right = true;
	int since[OP_READS_MOST + 1], operands = op_operands(op);
	for (int i = 0; i < operands; i++) {
		int own;
		right &= check_place(audit, &compute->whole[i], &own);
		if (i <= OP_READS_MOST)
			since[i] = own;
	}
	struct touched_rows rows;
	for (int i = 0; right && i < op->read_count; i++) {
		right = open_rows(audit, i, &rows);
		while (right && audit_read_row(audit, &rows, since[i], 0) && !is_stopped(audit) &&
			next_row(&rows))
			;
	}
	if (op->primitive->kind == OP_OPAQUE)
		pieces_clear(audit->whole->lx); /* an opaque op may leave anything there */
	for (int i = op->read_count; right && i < operands; i++)
		right = write_output(audit, i, i <= OP_READS_MOST ? since[i] : 0);
	return right;
}

/* After the last: every tensor that belongs in HBM is there. */
static void audit_whole_end(struct audit *audit)
{
	const struct program *program = audit->program;
	for (size_t t = 0; t < program->workload->tensor_count; t++) {
		const struct tensor *tensor = &program->workload->tensors[t];
		int64_t home = program->hbm[t];
		const struct written_piece *found;
		struct written_piece wanted = {home, home + tensor->layout.bytes, home,
			tensor_home(program->workload, (int)t), -1, 0};
		if (home < 0 || tensor->producer < 0 ||
			pieces_find_missing(audit->whole->hbm, &wanted, 0, &found) < 0)
			continue;
		fault_add_step(audit->faults, FAULT_UNWRITTEN, -1, FAULT_IN_HBM, home,
			"at the end '%s' is not there", tensor->name);
	}
}

/* False after a fault: such a box must not be walked. */
static bool audit_hbm_box(struct audit *audit, const struct region *region,
	const struct location *location, struct box *box)
{
	return audit_make_box(audit, region, location, FAULT_IN_HBM, STICK_BYTES, box);
}

/* The part of the reduction that all units of an accumulator hold. */
static uint64_t audit_read_accumulator(struct audit *audit, const struct box *box, int core)
{
	struct box_walk walk = box_first(box);
	uint64_t all = 0, part;
	bool first = true, known = true;
	do {
		for (int64_t at = 0; at < box->unit; at += STICK_BYTES) {
			struct content expected = {.tensor = box->tensor,
				.piece = 1 + (int)(at / STICK_BYTES),
				.stick = walk.stick};
			known &= shadow_read(audit->shadow, core, walk.address + at, box->since,
				&expected, &part);
			all = first ? part : all;
			first = false;
			if (known && part != all)
				fault_add(audit->faults, FAULT_STALE, audit->current, core,
					walk.address + at,
					"the accumulator of stick %" PRId64
					" of '%s' holds another part of the reduction than "
					"those before it",
					walk.stick, audit_name(audit, box->tensor));
		}
	} while (box_next(box, &walk));
	return all;
}

static void audit_write_accumulator(
	struct audit *audit, const struct box *box, int core, uint64_t part)
{
	struct box_walk walk = box_first(box);
	do {
		for (int64_t at = 0; at < box->unit; at += STICK_BYTES) {
			struct content content = {.tensor = box->tensor,
				.piece = 1 + (int)(at / STICK_BYTES),
				.stick = walk.stick,
				.part = part};
			shadow_write(audit->shadow, core, walk.address + at, &content);
		}
	} while (box_next(box, &walk));
}

/* Checks that a finished output holds the whole reduction. */
static void audit_check_whole(
	struct audit *audit, int op, const struct box *box, int core, uint64_t part)
{
	if (part == cover_whole(audit->cover, op))
		return;
	fault_add(audit->faults, FAULT_STALE, audit->current, core, box->address,
		"stick %" PRId64 " of '%s' is finished with a part of its reduction missing or "
		"taken twice",
		box->stick, audit_name(audit, box->tensor));
}

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
	struct stop_poll *poll, struct arena *arena)
{
	if (!check_homes(program, faults))
		return NULL;
	struct audit *audit = arena_new(arena, struct audit);
	const struct arch *arch = program->arch;
	audit->program = program;
	audit->rank = rank;
	audit->faults = faults;
	audit->shadow = shadow_open(program, rank, race, faults, arena);
	audit->cover = cover_open(program->workload, arena);
	audit->allotments = allotment_index_make(program, arena);
	audit->poll = poll;
	audit->lx_bytes = arch->lx < 0 ? 0 : arch_lx(arch)->capacity;
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

static struct audit_part find_transfer_part(struct audit *audit)
{
	const struct instruction *instruction = audit->instruction;
	const struct op *op = program_broadcast(audit->program, instruction);
	bool root = !op || op->root == audit->rank;
	int to = op && instruction->engine == ENGINE_DMA_OUT ? instruction->transfer->rank
							     : audit->rank;
	if (to < 0 || to >= audit->program->ranks)
		fault_add(audit->faults, FAULT_BOUNDS, audit->current, FAULT_IN_HBM,
			instruction->transfer->hbm.address, "rank %d does not exist", to);
	if (op && instruction->engine == ENGINE_DMA_IN)
		return (struct audit_part){root, root};
	return (struct audit_part){to == audit->rank, root};
}

static bool audit_run_transfer(struct audit *audit)
{
	const struct instruction *instruction = audit->instruction;
	const struct transfer *transfer = instruction->transfer;
	struct audit_part part = find_transfer_part(audit);
	bool in = instruction->engine == ENGINE_DMA_IN, right = true;
	size_t tensors = audit->program->workload->tensor_count;
	struct box hbm, lx[PROGRAM_CORES_MOST];
	if (transfer->lx_tensor < 0 || (size_t)transfer->lx_tensor >= tensors) {
		fault_add(audit->faults, FAULT_BOUNDS, audit->current, FAULT_IN_HBM,
			transfer->hbm.address, "the transfer names no tensor");
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

static bool audit_run_compute(struct audit *audit)
{
	const struct compute *compute = audit->instruction->compute;
	const struct op *op = &audit->program->workload->ops[compute->op];
	int core = __builtin_ctzll(audit->instruction->mask);
	struct audit_boxes boxes;
	if (!touch_loops(op, compute)) {
		fault_add(audit->faults, FAULT_BOUNDS, audit->current, core, 0,
			"the tile's loops reach beyond those of the op");
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

static bool audit_run_combine(struct audit *audit)
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

static bool audit_engine(struct audit *audit)
{
	switch (audit->instruction->engine) {
	case ENGINE_DMA_IN:
	case ENGINE_DMA_OUT:
		return audit_run_transfer(audit);
	case ENGINE_COMPUTE:
		if (audit->whole)
			return audit_whole_run(audit);
		if (audit->instruction->mask == 0)
			return false;
		return audit->instruction->compute->whole ? run_opaque(audit)
							  : audit_run_compute(audit);
	case ENGINE_RING:
		return audit->instruction->mask != 0 && audit_run_combine(audit);
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
	return audit_engine(audit);
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
