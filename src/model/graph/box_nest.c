#include "model/graph/box_nest.h"

#include "base/arena.h"
#include "base/diag.h"
#include "base/number.h"
#include "model/graph/op_mapping.h"
#include "model/graph/run.h"
#include "model/nest/nest_mapping.h"

#include <math.h>
#include <string.h>

static bool read_operands(struct arena *arena, struct iteration *iteration, const char **why)
{
	const struct op *op = iteration->op;
	for (int i = 0; i < iteration->operand_count; i++) {
		const struct access *access = op_operand(op, i);
		const struct tensor *tensor = &iteration->workload->tensors[access->tensor];
		struct coordinates *coordinates = &iteration->coordinates[i];
		iteration->layouts[i] = &tensor->layout;
		*coordinates = coordinates_make(&tensor->layout, op, access);
		const struct coordinate *stick = &coordinates->dims[coordinates->rank - 1];
		if (coordinate_fits_stick(stick, tensor->layout.per_stick))
			continue;
		*why = arena_format(arena,
			"the stick of '%s' is walked by %s; a device can walk a loop, or a loop "
			"modulo %d",
			tensor->name, coordinate_print(arena, op, stick), tensor->layout.per_stick);
		return false;
	}
	return true;
}

static void convert_sticks(struct iteration *iteration)
{
	for (int i = 0; i < iteration->operand_count; i++) {
		const struct coordinates *coordinates = &iteration->coordinates[i];
		const struct coordinate *stick = &coordinates->dims[coordinates->rank - 1];
		if (stick->part_count == 0)
			continue;
		int64_t *elements = &iteration->stick[stick->parts[0].loop];
		*elements = number_max(*elements, iteration->layouts[i]->per_stick);
	}
	for (int l = 0; l < iteration->loop_count; l++)
		iteration->size[l] = iteration->stick[l] ? number_ceil_div(iteration->range[l],
								   iteration->stick[l])
							 : iteration->range[l];
}

static void find_output_loops(struct iteration *iteration)
{
	const struct coordinates *output = &iteration->coordinates[iteration->operand_count - 1];
	for (int d = 0; d < output->rank - 1; d++)
		iteration->output_loops |= coordinate_loops(&output->dims[d]);
	iteration->all_output_loops =
		iteration->output_loops | coordinate_loops(&output->dims[output->rank - 1]);
}

const struct iteration *iteration_make(
	struct arena *arena, const struct workload *workload, const struct op *op, const char **why)
{
	struct iteration *iteration = arena_new(arena, struct iteration);
	iteration->workload = workload;
	iteration->op = op;
	iteration->loop_count = op->loop_count;
	iteration->operand_count = op->read_count + 1;
	for (int l = 0; l < op->loop_count; l++)
		iteration->range[l] = op->loops[l].extent;
	if (!read_operands(arena, iteration, why))
		return NULL;
	convert_sticks(iteration);
	find_output_loops(iteration);
	return iteration;
}

const struct tensor *iteration_tensor(const struct iteration *iteration, int operand)
{
	return &iteration->workload->tensors[op_operand(iteration->op, operand)->tensor];
}

static void share(const struct iteration *iteration, const int64_t *splits, int64_t *count)
{
	for (int l = 0; l < iteration->loop_count; l++)
		count[l] = number_max(iteration->range[l] / splits[l], 1);
}

int iteration_span_dim(const struct iteration *iteration, int operand, const int64_t *splits)
{
	int64_t count[OP_LOOPS_MOST];
	share(iteration, splits, count);
	const struct coordinates *coordinates = &iteration->coordinates[operand];
	for (int d = 0; d < coordinates->rank - 1; d++)
		if (coordinate_values(&coordinates->dims[d], count) > 1)
			return d;
	return -1;
}

int64_t iteration_span(const struct iteration *iteration, int operand, const int64_t *splits)
{
	const struct layout *layout = iteration->layouts[operand];
	int64_t bytes = dtype_host_bytes(layout->dtype);
	int outermost = iteration_span_dim(iteration, operand, splits);
	if (outermost < 0)
		return bytes;
	int64_t count[OP_LOOPS_MOST];
	share(iteration, splits, count);
	const struct coordinate *dim = &iteration->coordinates[operand].dims[outermost];
	if (!number_mul(bytes, coordinate_values(dim, count), &bytes))
		return INT64_MAX;
	for (int d = outermost + 1; d < layout->rank; d++)
		if (!number_mul(bytes, layout->size[d], &bytes))
			return INT64_MAX;
	return bytes;
}

/* Loop l of the op is dimension `dimension[l]`, operand i dataspace `space[i]`. */
struct box_names {
	int dimension[OP_LOOPS_MOST], space[OP_READS_MOST + 1];
	int dimension_count, loop_count;
};

static struct box_names names_of(
	const struct workload *workload, const struct op *op, const struct shape *shape)
{
	struct box_names names = {
		.dimension_count = shape->dimension_count, .loop_count = op->loop_count};
	for (int l = 0; l < op->loop_count; l++)
		names.dimension[l] = shape_dimension(shape, op->loops[l].name);
	for (int i = 0; i < op_operands(op); i++)
		names.space[i] =
			shape_space(shape, workload->tensors[op_operand(op, i)->tensor].name);
	return names;
}

/* Dimensions of one iteration stand last. */
static void order_dimensions(const struct box_names *names, const uint8_t *loops, uint8_t *out)
{
	uint32_t seen = 0;
	int count = 0;
	for (int i = 0; i < names->loop_count; i++) {
		out[count] = (uint8_t)names->dimension[loops[i]];
		seen |= UINT32_C(1) << out[count++];
	}
	for (int d = 0; d < names->dimension_count; d++)
		if (!(seen >> d & 1))
			out[count++] = (uint8_t)d;
}

static void order_loops(const struct box_names *names, const uint8_t *dimensions, uint8_t *out)
{
	int count = 0;
	for (int i = 0; i < names->dimension_count; i++)
		for (int l = 0; l < names->loop_count; l++)
			if (names->dimension[l] == dimensions[i])
				out[count++] = (uint8_t)l;
}

static void nest_row(
	const struct box_names *names, const struct mapping_row *from, struct mapping_row *to)
{
	for (int l = 0; l < names->loop_count; l++) {
		to->temporal[names->dimension[l]] = from->temporal[l];
		to->spatial[names->dimension[l]] = from->spatial[l];
		to->spatial_y |= (uint16_t)((from->spatial_y >> l & 1) << names->dimension[l]);
	}
	order_dimensions(names, from->temporal_order, to->temporal_order);
	order_dimensions(names, from->spatial_order, to->spatial_order);
}

static void op_row(
	const struct box_names *names, const struct mapping_row *from, struct mapping_row *to)
{
	to->spatial_y = 0;
	for (int l = 0; l < names->loop_count; l++) {
		to->temporal[l] = from->temporal[names->dimension[l]];
		to->spatial[l] = from->spatial[names->dimension[l]];
		to->spatial_y |= (uint16_t)((from->spatial_y >> names->dimension[l] & 1) << l);
	}
	order_loops(names, from->temporal_order, to->temporal_order);
	order_loops(names, from->spatial_order, to->spatial_order);
}

/* Iterations of loop l that the rows inside the scratchpad run. */
static int64_t run_inside(const struct arch *arch, const struct mapping *mapping, int l)
{
	int64_t product = 1;
	for (int r = arch->lx + 1; r < arch->level_count; r++)
		product = mapping_times(product,
			mapping_times(mapping->rows[r].spatial[l], mapping->rows[r].temporal[l]));
	return product;
}

int64_t op_tile(const struct arch *arch, const struct workload *workload, const struct op *op,
	const struct mapping *mapping, int l)
{
	int64_t units = op_units(workload, op, l) / mapping_split(arch, mapping, l);
	return units / mapping->rows[arch->lx].temporal[l] * op_grain(workload, op, l);
}

struct mapping box_nest(const struct arch *arch, const struct workload *workload,
	const struct op *op, const struct shape *shape, const struct mapping *mapping)
{
	struct box_names names = names_of(workload, op, shape);
	struct mapping nest = nest_mapping_make(arch, shape);
	const struct mapping_row *tiles = &mapping->rows[arch->lx];
	struct mapping_row *home = &nest.rows[arch->hbm], *left = &nest.rows[arch->lx];
	for (int d = 0; d < shape->dimension_count; d++)
		home->temporal[d] = 1;
	for (int r = 0; r < arch->level_count; r++)
		if (r != arch->hbm && r != arch->lx)
			nest_row(&names, &mapping->rows[r], &nest.rows[r]);
	nest_row(&names, tiles, home);
	nest_row(&names, &mapping->rows[arch->hbm], left);
	for (int l = 0; l < op->loop_count; l++) {
		int64_t inside = run_inside(arch, mapping, l);
		int64_t elements =
			number_min(op_tile(arch, workload, op, mapping, l), op->loops[l].extent);
		left->temporal[names.dimension[l]] = (uint32_t)number_ceil_div(elements, inside);
	}
	for (int i = 0; i < op_operands(op); i++)
		nest.residency[names.space[i]] = mapping->residency[i];
	return nest;
}

/* The row of the home for one loop: the loops at the scratchpad inside a tile. */
static const char *fill_tile(struct arena *arena, const struct arch *arch,
	const struct workload *workload, const struct op *op, int l, int64_t left,
	struct mapping *out)
{
	const char *name = op->loops[l].name;
	int64_t units = op_units(workload, op, l), grain = op_grain(workload, op, l);
	int64_t tiles = mapping_split(arch, out, l) * out->rows[arch->lx].temporal[l];
	int64_t inside = run_inside(arch, out, l);
	if (units % tiles)
		return arena_format(arena,
			"%lld cores and tiles of '%s' do not divide its %lld units of %lld",
			(long long)tiles, name, (long long)units, (long long)grain);
	int64_t padded = op_tile(arch, workload, op, out, l);
	int64_t wanted = number_ceil_div(number_min(padded, op->loops[l].extent), inside);
	if (left != wanted)
		return arena_format(arena,
			"a tile has whole units: '%s' runs over %lld at '%s', not %lld", name,
			(long long)wanted, arch->levels[arch->lx].name, (long long)left);
	if (arch_array_is_ideal(arch, op_unit(arch, op)))
		return NULL;
	out->rows[arch->hbm].temporal[l] = (uint32_t)number_ceil_div(padded, inside);
	return NULL;
}

/* Loops inside a tile in their order; those over padding alone, of which directives say nothing, and all
 * of an ideal array outermost. */
static void order_left(const struct arch *arch, const struct op *op, const struct box_names *names,
	const struct mapping_row *left, struct mapping_row *home)
{
	bool ideal = arch_array_is_ideal(arch, op_unit(arch, op));
	uint8_t order[OP_LOOPS_MOST] = {0};
	int count = 0;
	for (int i = 0; i < op->loop_count; i++)
		if (!ideal && left->temporal[names->dimension[home->temporal_order[i]]] > 1)
			order[count++] = home->temporal_order[i];
	for (int l = 0; l < op->loop_count; l++)
		if (ideal || left->temporal[names->dimension[l]] == 1)
			order[count++] = (uint8_t)l;
	memcpy(home->temporal_order, order, sizeof order);
}

const char *box_mapping(struct arena *arena, const struct arch *arch,
	const struct workload *workload, const struct op *op, const struct shape *shape,
	const struct mapping *nest, struct mapping *out)
{
	struct box_names names = names_of(workload, op, shape);
	uint32_t through = 1u << arch->hbm | 1u << arch->lx;
	const char *why = NULL;
	*out = mapping_make(arch, op);
	for (int r = 0; r < arch->level_count; r++)
		if (r != arch->hbm && r != arch->lx)
			op_row(&names, &nest->rows[r], &out->rows[r]);
	op_row(&names, &nest->rows[arch->hbm], &out->rows[arch->lx]);
	op_row(&names, &nest->rows[arch->lx], &out->rows[arch->hbm]);
	for (int l = 0; l < op->loop_count; l++)
		out->rows[arch->hbm].temporal[l] = 1;
	for (int l = 0; l < op->loop_count && !why; l++)
		why = fill_tile(arena, arch, workload, op, l,
			nest->rows[arch->lx].temporal[names.dimension[l]], out);
	for (int i = 0; i < op_operands(op); i++) {
		out->residency[i] = nest->residency[names.space[i]];
		if (!why && (out->residency[i] & through) != through)
			why = arena_format(arena, "'%s' bypasses '%s', through which tiles move",
				shape->spaces[names.space[i]].name,
				arch->levels[out->residency[i] >> arch->lx & 1 ? arch->hbm
									       : arch->lx]
					.name);
	}
	order_left(arch, op, &names, &nest->rows[arch->lx], &out->rows[arch->hbm]);
	return why;
}

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
			int64_t word = level_compute(unit)->word_bits;
			int bits = 8 * dtype_stored_bytes(tensor->layout.dtype);
			if (told[t] || bits <= word)
				continue;
			told[t] = true;
			fit = false;
			diag_error(diag, tensor->span,
				"'%s' is %s, of %d bits, and '%s', which computes '%s', has words of "
				"%lld; give it a narrower 'dtype', or the machine's levels a "
				"'datawidth' of %d",
				tensor->name, dtype_names[tensor->layout.dtype], bits, unit->name,
				op->name, (long long)word, bits);
		}
	}
	arena_close(arena);
	return fit;
}

/* The extents of one tile, in whole units. */
static const struct shape *cut_tile(
	const struct inner_question *question, const struct shape *whole, struct arena *arena)
{
	struct shape *tile = arena_copy(arena, whole, sizeof *whole);
	for (int l = 0; l < question->op->loop_count; l++)
		tile->dimensions[l].extent = op_tile(
			question->arch, question->workload, question->op, question->mapping, l);
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
	scratchpad->store.read_rate = scratchpad->store.write_rate = scratchpad->store.shared_rate =
		(struct ratio){0, 1};
	scratchpad->size = scratchpad->store.entries = 0;
	scratchpad->store.least_utilization = 0;
}

/* Limits the scratchpad to the bytes that other tensors leave, in its words. */
static void limit_room(struct nest_level *scratchpad, int64_t bytes)
{
	int64_t words = number_min(bytes, INT64_MAX / 8) * 8 / scratchpad->store.word_bits;
	scratchpad->store.entries = words;
	scratchpad->size = (int64_t)floor((double)words / scratchpad->store.multiple_buffering);
	scratchpad->store.no_room = scratchpad->size == 0;
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
	nest.shape = op_nest_shape(arena, arch, question->workload, question->op);
	*why = "it is not a loop nest that an array can run";
	if (!nest.shape)
		return none;
	if (boxes)
		nest.shape = cut_tile(question, nest.shape, arena);
	struct machine_part part = {boxes ? arch->lx : arch->hbm, op_unit(arch, question->op),
		question->op->primitive->unit != UNIT_MAC};
	struct hierarchy *hierarchy = hierarchy_make_part(arena, arch, part, nest.shape, silent);
	*why = "the machine is not a hierarchy of levels for it";
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

/* Returns the bytes of the scratchpad without residents that are not operands of the step; of two operands in one
 * place one counts.  0: all of it. */
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
	return number_max(1, arch_lx(plan->arch)->capacity - others + shared);
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
