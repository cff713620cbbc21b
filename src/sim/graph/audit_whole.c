#include "sim/graph/audit_whole.h"

#include "base/arena.h"
#include "base/array.h"
#include "sim/graph/audit_access.h"
#include "sim/graph/cover.h"
#include "sim/graph/touch.h"

#include <inttypes.h>
#include <string.h>

/* Bytes [low, high) of a memory: of the array of a tensor that begins at `base`, or would if all of it were
 * there: of a part of a tensor each row has a base of its own. */
struct written_piece {
	int64_t low, high, base;
	int tensor, step; /* who wrote it; -1: it was there before */
	uint64_t part; /* of the reduction that is in it (sim/graph/cover.h); 0: it is finished */
};

struct audit_whole {
	struct arena *arena;
	struct pieces {
		struct array(struct written_piece) list;
	} hbm, lx;
};

static void add_piece(struct audit_whole *whole, struct pieces *memory, struct written_piece piece)
{
	struct written_piece *last =
		memory->list.count ? &memory->list.at[memory->list.count - 1] : NULL;
	if (last && last->high == piece.low && last->base == piece.base &&
		last->tensor == piece.tensor && last->step == piece.step &&
		last->part == piece.part)
		last->high = piece.high;
	else if (piece.low < piece.high)
		*array_add(whole->arena, &memory->list) = piece;
}

/* What lies in its bytes no longer does. */
static void overwrite(struct audit_whole *whole, struct pieces *memory, struct written_piece piece)
{
	size_t count = memory->list.count;
	for (size_t i = 0; i < count; i++) {
		struct written_piece *old = &memory->list.at[i], rest = *old;
		if (old->high <= piece.low || old->low >= piece.high)
			continue;
		rest.low = piece.high;
		old->high = number_max(old->low, number_min(old->high, piece.low));
		add_piece(whole, memory, rest);
	}
	size_t kept = 0;
	for (size_t i = 0; i < memory->list.count; i++)
		if (memory->list.at[i].low < memory->list.at[i].high)
			memory->list.at[kept++] = memory->list.at[i];
	memory->list.count = kept;
	add_piece(whole, memory, piece);
}

static const struct written_piece *find_piece(const struct pieces *memory, int64_t address)
{
	for (size_t i = 0; i < memory->list.count; i++)
		if (memory->list.at[i].low <= address && address < memory->list.at[i].high)
			return &memory->list.at[i];
	return NULL;
}

struct audit_whole *audit_whole_open(const struct program *program, struct arena *arena)
{
	struct audit_whole *whole = arena_new(arena, struct audit_whole);
	whole->arena = arena;
	for (size_t t = 0; t < program->workload->tensor_count; t++) {
		const struct tensor *tensor = &program->workload->tensors[t];
		int64_t home = program->hbm[t];
		if (tensor->producer < 0 && home >= 0)
			add_piece(whole, &whole->hbm,
				(struct written_piece){
					home, home + tensor->layout.bytes, home, (int)t, -1, 0});
	}
	return whole;
}

/* The first byte of the array that is not there, and what lies in its place: NULL, nothing. */
static int64_t find_missing(const struct pieces *memory, const struct written_piece *wanted,
	int since, const struct written_piece **found)
{
	int64_t at = wanted->low;
	while (at < wanted->high) {
		*found = find_piece(memory, at);
		if (!*found || (*found)->tensor != wanted->tensor ||
			(*found)->base != wanted->base || (*found)->part != wanted->part ||
			((*found)->step >= 0 && (*found)->step < since))
			return at;
		at = (*found)->high;
	}
	return -1;
}

/* Where an operand may lie; false after a fault.  *since: the step from which its bytes are its own. */
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

/* The rows of what a compute touches of an operand: bytes that follow each other in the tensor's host array
 * and where they lie. */
struct rows {
	struct touch touch;
	const struct whole_operand *operand;
	int outer; /* host dimensions that go from row to row; those behind the next are whole */
	int64_t at[LAYOUT_HOST_RANK_MOST];
	int64_t bytes; /* of a row */
};

static bool open_rows(struct audit *audit, int operand, struct rows *rows)
{
	const struct compute *compute = audit->instruction->compute;
	const struct workload *workload = audit->program->workload;
	const struct op *op = &workload->ops[compute->op];
	const struct whole_operand *whole = &compute->whole[operand];
	const struct layout *layout = &workload->tensors[whole->tensor].layout;
	bool inside = true;
	*rows = (struct rows){.operand = whole, .bytes = dtype_stored_bytes(layout->dtype)};
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
			"its loops leave what is there of '%s'", audit_name(audit, whole->tensor));
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

static bool next_row(struct rows *rows)
{
	for (int h = rows->outer - 1; h >= 0; h--) {
		if (++rows->at[h] <= rows->touch.high[h])
			return true;
		rows->at[h] = rows->touch.low[h];
	}
	return false;
}

static struct written_piece row_piece(
	const struct audit *audit, const struct rows *rows, uint64_t part)
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

static struct pieces *memory_of(const struct audit *audit, const struct rows *rows)
{
	return rows->operand->in_lx ? &audit->whole->lx : &audit->whole->hbm;
}

static bool read_row(struct audit *audit, const struct rows *rows, int since, uint64_t part)
{
	struct written_piece wanted = row_piece(audit, rows, part);
	bool in_lx = rows->operand->in_lx;
	const struct pieces *memory = memory_of(audit, rows);
	const struct written_piece *found;
	int core = in_lx ? 0 : FAULT_IN_HBM;
	int64_t at = find_missing(memory, &wanted, since, &found);
	const char *name = audit_name(audit, rows->operand->tensor);
	if (at < 0)
		return true;
	int64_t byte = at - wanted.base;
	if (!found)
		fault_add(audit->faults, FAULT_UNWRITTEN, audit->current, core, at,
			"it reads byte %" PRId64 " of '%s' where nobody wrote", byte, name);
	else
		fault_add(audit->faults, FAULT_STALE, audit->current, core, at,
			"it reads byte %" PRId64 " of '%s' and finds byte %" PRId64
			" of '%s' of step %d",
			byte, name, at - found->base, audit_name(audit, found->tensor),
			found->step);
	return false;
}

/* What is in the sums that the current compute adds to; all of them must have the same. */
static bool read_sums(struct audit *audit, struct rows *rows, int since, uint64_t *part)
{
	struct written_piece first = row_piece(audit, rows, 0);
	const struct written_piece *found = find_piece(memory_of(audit, rows), first.low);
	*part = found ? found->part : 0;
	bool right = read_row(audit, rows, since, *part);
	while (right && next_row(rows))
		right = read_row(audit, rows, since, *part);
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
	struct rows rows;
	uint64_t part = 0;
	bool right = open_rows(audit, operand, &rows);
	struct rows again = rows;
	if (right && compute->accumulator_read)
		right = read_sums(audit, &again, since, &part);
	if (!right)
		return false;
	part = find_part(audit, rows.operand, part);
	do
		overwrite(audit->whole, memory_of(audit, &rows), row_piece(audit, &rows, part));
	while (next_row(&rows));
	return true;
}

bool audit_whole_run(struct audit *audit)
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
	struct rows rows;
	for (int i = 0; right && i < op->read_count; i++) {
		right = open_rows(audit, i, &rows);
		while (right && read_row(audit, &rows, since[i], 0) && next_row(&rows))
			;
	}
	if (op->primitive->kind == OP_OPAQUE)
		audit->whole->lx.list.count = 0; /* nobody knows what it leaves there */
	for (int i = op->read_count; right && i < operands; i++)
		right = write_output(audit, i, i <= OP_READS_MOST ? since[i] : 0);
	return right;
}

void audit_whole_end(struct audit *audit)
{
	const struct program *program = audit->program;
	for (size_t t = 0; t < program->workload->tensor_count; t++) {
		const struct tensor *tensor = &program->workload->tensors[t];
		int64_t home = program->hbm[t];
		const struct written_piece *found;
		struct written_piece wanted = {home, home + tensor->layout.bytes, home,
			tensor_home(program->workload, (int)t), -1, 0};
		if (home < 0 || tensor->producer < 0 ||
			find_missing(&audit->whole->hbm, &wanted, 0, &found) < 0)
			continue;
		fault_add_step(audit->faults, FAULT_UNWRITTEN, -1, FAULT_IN_HBM, home,
			"at the end '%s' is not there", tensor->name);
	}
}
