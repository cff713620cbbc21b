#include "model/graph/inner_nest.h"

#include "base/arena.h"
#include "base/diag.h"
#include "base/number.h"
#include "model/graph/op_shape.h"
#include "model/graph/run.h"
#include "model/nest/nest_mapping.h"

#include <math.h>
#include <string.h>

int op_unit(const struct arch *arch, const struct op *op)
{
	return op->primitive->unit == UNIT_MAC ? arch->compute : arch->vector;
}

bool op_has_inner_nest(const struct arch *arch, const struct op *op)
{
	if (!op_is_tiled(op))
		return false;
	return !arch_moves_boxes(arch) || (op->primitive->kind != OP_RESTICKIFY &&
						  !arch_array_is_ideal(arch, op_unit(arch, op)));
}

bool inner_nests_fit_words(
	const struct arch *arch, const struct workload *workload, struct diag *diag)
{
	struct arena *arena = arena_open();
	bool *told = arena_array(arena, bool, workload->tensor_count), fit = true;
	for (size_t o = 0; o < workload->op_count; o++) {
		const struct op *op = &workload->ops[o];
		for (int i = 0; op_has_inner_nest(arch, op) && i < op->read_count; i++) {
			int t = op->reads[i].tensor;
			const struct tensor *tensor = &workload->tensors[t];
			const struct level *unit = &arch->levels[op_unit(arch, op)];
			int bits = 8 * dtype_stored_bytes(tensor->layout.dtype);
			if (told[t] || bits <= unit->word_bits)
				continue;
			told[t] = true;
			fit = false;
			diag_error(diag, tensor->span,
				"'%s' is %s, of %d bits, and '%s', which computes '%s', has words of "
				"%lld; give it a narrower 'dtype', or the machine's levels a "
				"'datawidth' of %d",
				tensor->name, dtype_names[tensor->layout.dtype], bits, unit->name,
				op->name, (long long)unit->word_bits, bits);
		}
	}
	arena_close(arena);
	return fit;
}

/* The extents of one tile, in whole units. */
static const struct shape *cut_tile(
	const struct inner_question *question, const struct shape *whole, struct arena *arena)
{
	const struct mapping_row *tiles = &question->mapping->rows[question->arch->lx];
	struct shape *tile = arena_copy(arena, whole, sizeof *whole);
	for (int l = 0; l < question->op->loop_count; l++) {
		int64_t parts = mapping_split(question->arch, question->mapping, l);
		int64_t units = op_units(question->workload, question->op, l);
		tile->dimensions[l].extent = units / parts / tiles->temporal[l] *
					     op_grain(question->workload, question->op, l);
	}
	return tile;
}

/* The rows inside the scratchpad, and its own, which the home's stands in for. */
static struct mapping take_rows(const struct inner_question *question, const struct shape *shape)
{
	const struct arch *arch = question->arch;
	const struct mapping *mapping = question->mapping;
	struct mapping nest = nest_mapping_make(arch, shape);
	for (int l = 0; l < shape->dimension_count; l++)
		nest.rows[arch->hbm].temporal[l] = 1;
	struct mapping_row *own = &nest.rows[arch->lx];
	const struct mapping_row *home = &mapping->rows[arch->hbm];
	memcpy(own->temporal, home->temporal, sizeof own->temporal);
	memcpy(own->temporal_order, home->temporal_order, sizeof own->temporal_order);
	for (int r = arch->lx + 1; r < arch->level_count; r++)
		nest.rows[r] = mapping->rows[r];
	for (int i = 0; i < shape->space_count; i++)
		nest.residency[i] = (mapping->residency[i] & ~(1u << arch->hbm)) | 1u << arch->lx;
	return nest;
}

/* Resident operands live in the scratchpad, the others in the home. */
static struct mapping take_homes(const struct inner_question *question, const struct shape *shape)
{
	struct mapping nest = *question->mapping;
	int lx = question->arch->lx;
	for (int i = 0; i < shape->space_count; i++)
		if (question->in_lx >> i & 1) /* no place outside it, either */
			nest.residency[i] = (nest.residency[i] >> lx | 1u) << lx;
		else
			nest.residency[i] |= 1u << question->arch->hbm;
	return nest;
}

static void lift_limits(struct nest_level *scratchpad)
{
	scratchpad->read_rate = scratchpad->write_rate = scratchpad->shared_rate =
		(struct ratio){0, 1};
	scratchpad->size = scratchpad->entries = 0;
	scratchpad->least_utilization = 0;
}

/* What others leave of the scratchpad, in its words. */
static void limit_room(struct nest_level *scratchpad, int64_t bytes)
{
	int64_t words = number_min(bytes, INT64_MAX / 8) * 8 / scratchpad->word_bits;
	scratchpad->entries = words;
	scratchpad->size = (int64_t)floor((double)words / scratchpad->multiple_buffering);
	scratchpad->no_room = scratchpad->size == 0;
}

struct inner_nest inner_nest_make(
	const struct inner_question *question, struct arena *arena, const char **why)
{
	const struct arch *arch = question->arch;
	struct inner_nest none = {0}, nest = none;
	struct diag *silent = diag_open(arena);
	bool boxes = arch_moves_boxes(arch);
	*why = NULL;
	if (!op_has_inner_nest(arch, question->op))
		return none;
	nest.shape = shape_of_op(arena, arch, question->workload, question->op, NULL);
	*why = "it is no loop nest that an array can run";
	if (!nest.shape)
		return none;
	if (boxes)
		nest.shape = cut_tile(question, nest.shape, arena);
	struct machine_part part = {boxes ? arch->lx : arch->hbm, op_unit(arch, question->op),
		question->op->primitive->unit != UNIT_MAC};
	struct hierarchy *hierarchy = hierarchy_make_part(arena, arch, part, nest.shape, silent);
	*why = "the machine is no hierarchy of levels for it";
	if (!hierarchy)
		return none;
	if (question->op->flagged)
		hierarchy_copy_flags(hierarchy, question->op->flagged);
	hierarchy->resumes = question->resumes;
	int scratchpad = arch->lx < 0 ? -1 : hierarchy_level(hierarchy, arch->lx);
	if (scratchpad >= 0 && boxes)
		lift_limits(&hierarchy->levels[scratchpad]);
	else if (scratchpad >= 0 && question->room)
		limit_room(&hierarchy->levels[scratchpad], question->room);
	nest.hierarchy = hierarchy;
	nest.mapping = boxes ? take_rows(question, nest.shape) : take_homes(question, nest.shape);
	*why = NULL;
	return nest;
}

/* The scratchpad without residents that are no operands of the step; of two operands in one place one
 * counts.  0: all of it. */
static int64_t find_room(const struct plan *plan, int step, const struct op *op)
{
	int64_t others = 0, shared = 0;
	for (int i = 0; i < plan->residency_count; i++) {
		const struct residency *stay = &plan->residencies[i];
		bool is_operand = false;
		if (stay->place != PLACE_LX || stay->from > step || stay->to <= step)
			continue;
		for (int k = 0; k < op_operands(op); k++)
			is_operand |= op_operand(op, k)->tensor == stay->tensor;
		if (!is_operand)
			others += stay->size;
		else if (stay->from == step && stay->in_place_of >= 0)
			shared += stay->size;
	}
	if (others == shared)
		return 0;
	return number_max(1, plan->arch->levels[plan->arch->lx].capacity - others + shared);
}

struct inner_question inner_nest_question(struct arena *arena, const struct plan *plan, int step)
{
	const struct op *op = plan_step_op(arena, plan, step);
	struct inner_question question = {.arch = plan->arch,
		.workload = plan->workload,
		.op = op,
		.mapping = &plan->steps[step].mapping};
	for (int i = 0; op_is_tiled(op) && i < op_operands(op); i++)
		if (plan_lx(plan, op_operand(op, i)->tensor, step))
			question.in_lx |= 1u << i;
	if (op_is_tiled(op) && !arch_moves_boxes(plan->arch))
		question.room = find_room(plan, step, op);
	return question;
}
