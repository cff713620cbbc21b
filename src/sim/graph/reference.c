#include "sim/graph/reference.h"

#include "base/arena.h"
#include "base/fatal.h"
#include "base/random.h"
#include "sim/machine/kernel.h"

#include <math.h>

static void *stored_element(const struct tensor *tensor, void *array, int64_t i)
{
	return (char *)array + i * dtype_stored_bytes(tensor->layout.dtype);
}

static void *tensor_allot(const struct tensor *tensor, struct arena *arena)
{
	return arena_alloc_array(arena, (size_t)layout_elements(&tensor->layout),
		(size_t)dtype_stored_bytes(tensor->layout.dtype));
}

static bool is_integer(enum dtype dtype)
{
	return dtype == DTYPE_INT8 || dtype == DTYPE_INT32 || dtype == DTYPE_INT64;
}

static void workload_draw(
	const struct workload *workload, int t, uint64_t seed, bool small, void *array)
{
	const struct tensor *tensor = &workload->tensors[t];
	enum dtype dtype = tensor->layout.dtype;
	struct random random = random_open(seed, (uint64_t)t);
	int64_t count = layout_elements(&tensor->layout);
	for (int64_t i = 0; i < count; i++) {
		float value;
		if (dtype == DTYPE_BOOL)
			value = (float)random_below(&random, 2);
		else if (small || is_integer(dtype))
			value = (float)random_below(&random, 5) - 2;
		else
			value = ((float)random_below(&random, 1 << 19) - (1 << 18)) / (1 << 20);
		kernel_store(dtype, stored_element(tensor, array, i), value);
	}
}

/* An opaque op's outputs are small integers always. */
static void draw_opaque(
	const struct workload *workload, const struct op *op, uint64_t seed, void **arrays)
{
	for (int w = 0; w < op->write_count; w++) {
		int t = op->writes[w].tensor;
		workload_draw(workload, t, seed, true, arrays[t]);
	}
}

void reference_inputs(const struct workload *workload, uint64_t seed, bool small_integers,
	struct arena *arena, void **arrays)
{
	for (size_t t = 0; t < workload->tensor_count; t++) {
		const struct tensor *tensor = &workload->tensors[t];
		arrays[t] = NULL;
		if (tensor->producer >= 0 &&
			workload->ops[tensor->producer].primitive->kind != OP_OPAQUE)
			continue;
		arrays[t] = tensor_allot(tensor, arena);
		if (tensor->producer < 0)
			workload_draw(workload, (int)t, seed, small_integers, arrays[t]);
	}
	for (size_t o = 0; o < workload->op_count; o++) {
		if (workload->ops[o].primitive->kind == OP_OPAQUE)
			draw_opaque(workload, &workload->ops[o], seed, arrays);
	}
}

/* An op's arrays as fp64, the order of its loops, outermost first, and where they stand in each array. */
struct reference_walk {
	const struct op *op;
	int order[OP_LOOPS_MOST];
	double *reads[OP_READS_MOST], *write;
	int64_t at[OP_READS_MOST + 1]; /* linear index of each operand, the output last */
	int64_t step[OP_READS_MOST + 1][OP_LOOPS_MOST];
};

static double *tensor_widen(const struct tensor *tensor, void *array, struct arena *arena)
{
	int64_t count = layout_elements(&tensor->layout);
	double *wide = arena_array(arena, double, count);
	for (int64_t i = 0; i < count; i++)
		wide[i] =
			(double)kernel_load(tensor->layout.dtype, stored_element(tensor, array, i));
	return wide;
}

/* The value that an op reads if a padded index leaves the tensor. */
static double outside_value(const struct op *op)
{
	return op->primitive->kind == OP_REDUCE ? (double)op->primitive->start : 0;
}

/* All that a padded index runs over, with the identity outside of the tensor, and how loops walk it. */
static void widen_padded(struct reference_walk *walk, int i, const struct tensor *tensor,
	void *array, struct arena *arena)
{
	const struct access *access = &walk->op->reads[i];
	const struct layout *layout = &tensor->layout;
	int64_t low[LAYOUT_HOST_RANK_MOST], count[LAYOUT_HOST_RANK_MOST], size = 1;
	for (int h = layout->host_rank - 1; h >= 0; h--) {
		low[h] = access->host[h].offset;
		count[h] = 1;
		for (int l = 0; l < walk->op->loop_count; l++) {
			count[h] +=
				access->host[h].coefficient[l] * (walk->op->loops[l].extent - 1);
			walk->step[i][l] += access->host[h].coefficient[l] * size;
		}
		size *= count[h];
	}
	walk->reads[i] = arena_array(arena, double, size);
	walk->at[i] = 0;
	for (int64_t e = 0; e < size; e++) {
		int64_t rest = e, linear = 0, stride = 1;
		bool inside = true;
		for (int h = layout->host_rank - 1; h >= 0; h--) {
			int64_t index = low[h] + rest % count[h];
			rest /= count[h];
			inside &= index >= 0 && index < layout->host_size[h];
			linear += index * stride;
			stride *= layout->host_size[h];
		}
		walk->reads[i][e] = inside ? (double)kernel_load(layout->dtype,
						     stored_element(tensor, array, linear))
					   : outside_value(walk->op);
	}
}

/* Adds the contribution of one point of the nest to the output's element. */
static void reference_visit(const struct reference_walk *walk)
{
	const struct op *op = walk->op;
	double *out = &walk->write[walk->at[op->read_count]];
	double value = walk->reads[0][walk->at[0]];
	if (op->primitive->kind == OP_EINSUM) {
		for (int i = 1; i < op->read_count; i++)
			value *= walk->reads[i][walk->at[i]];
		*out += value;
	} else if (op->primitive->kind == OP_REDUCE) {
		*out = op->primitive->reference(*out, value);
	} else {
		double second = op->has_constant ? (double)(float)op->constant : 0;
		if (op->read_count > 1)
			second = walk->reads[1][walk->at[1]];
		*out = op->primitive->reference(value, second);
	}
}

/* The innermost loop; a product of two is most of what a graph computes. */
static void run_row(struct reference_walk *walk, int l)
{
	const struct op *op = walk->op;
	int64_t extent = op->loops[l].extent, step[OP_READS_MOST + 1];
	for (int o = 0; o <= op->read_count; o++)
		step[o] = walk->step[o][l];
	if (op->primitive->kind == OP_EINSUM && op->read_count == 2) {
		const double *a = &walk->reads[0][walk->at[0]], *b = &walk->reads[1][walk->at[1]];
		double *out = &walk->write[walk->at[2]];
		for (int64_t i = 0; i < extent; i++)
			out[i * step[2]] += a[i * step[0]] * b[i * step[1]];
		return;
	}
	for (int64_t i = 0; i < extent; i++) {
		reference_visit(walk);
		for (int o = 0; o <= op->read_count; o++)
			walk->at[o] += step[o];
	}
	for (int o = 0; o <= op->read_count; o++)
		walk->at[o] -= extent * step[o];
}

static void run_loops(struct reference_walk *walk, int place)
{
	const struct op *op = walk->op;
	if (op->loop_count == 0) {
		reference_visit(walk);
		return;
	}
	int l = walk->order[place];
	if (place + 1 == op->loop_count) {
		run_row(walk, l);
		return;
	}
	for (int64_t i = 0; i < op->loops[l].extent; i++) {
		run_loops(walk, place + 1);
		for (int o = 0; o <= op->read_count; o++)
			walk->at[o] += walk->step[o][l];
	}
	for (int o = 0; o <= op->read_count; o++)
		walk->at[o] -= op->loops[l].extent * walk->step[o][l];
}

/* The last loop that is not a reduction runs innermost: rows of most operands are contiguous then, and each
 * element still meets its contributions in the order of the op's loops. */
static void reference_walk_order_loops(struct reference_walk *walk)
{
	int count = walk->op->loop_count, inner = count - 1, place = 0;
	while (inner >= 0 && walk->op->loops[inner].reduction)
		inner--;
	inner = inner < 0 ? count - 1 : inner;
	for (int l = 0; l < count; l++)
		if (l != inner)
			walk->order[place++] = l;
	if (count)
		walk->order[place] = inner;
}

static double reduced_elements(const struct op *op)
{
	double product = 1;
	for (int l = 0; l < op->loop_count; l++) {
		if (op->loops[l].reduction)
			product *= (double)op->loops[l].extent;
	}
	return product;
}

static void run_op(
	const struct workload *workload, const struct op *op, struct arena *arena, void **arrays)
{
	int t = op->writes[0].tensor;
	const struct tensor *output = &workload->tensors[t];
	int64_t count = layout_elements(&output->layout);
	struct reference_walk walk = {.op = op};
	arrays[t] = tensor_allot(output, arena);
	struct arena_mark mark = arena_mark(arena);
	for (int o = 0; o <= op->read_count; o++) {
		walk.at[o] = op_operand(op, o)->linear.offset;
		for (int l = 0; l < op->loop_count && !op_operand(op, o)->pad; l++)
			walk.step[o][l] = op_operand(op, o)->linear.coefficient[l];
	}
	for (int i = 0; i < op->read_count; i++) {
		int read = op->reads[i].tensor;
		if (op->reads[i].pad)
			widen_padded(&walk, i, &workload->tensors[read], arrays[read], arena);
		else
			walk.reads[i] = tensor_widen(&workload->tensors[read], arrays[read], arena);
	}
	walk.write = arena_array(arena, double, count);
	for (int64_t i = 0; i < count; i++)
		walk.write[i] = (double)op->primitive->start;
	reference_walk_order_loops(&walk);
	run_loops(&walk, 0);
	double divisor = op->primitive->mean ? reduced_elements(op) : 1;
	for (int64_t i = 0; i < count; i++)
		kernel_store(output->layout.dtype, stored_element(output, arrays[t], i),
			(float)(walk.write[i] / divisor));
	arena_release(arena, mark);
}

/* Stored. */
static const int fraction_bits[DTYPE_COUNT] = {
	[DTYPE_FP16] = 10, [DTYPE_BF16] = 7, [DTYPE_FP32] = 23, [DTYPE_BOOL] = 10, [DTYPE_FP8] = 3};

/* The unit in the last place of a finite value in a dtype. */
static double last_place(enum dtype dtype, double value)
{
	static const int least[DTYPE_COUNT] = {/* exponents of the least normal numbers */
		[DTYPE_FP16] = -14,
		[DTYPE_BF16] = -126,
		[DTYPE_FP32] = -126,
		[DTYPE_BOOL] = -14,
		[DTYPE_FP8] = -6};
	if (is_integer(dtype))
		return 1;
	int exponent = value == 0 ? least[dtype] : ilogb(value);
	if (exponent < least[dtype])
		exponent = least[dtype];
	return ldexp(1, exponent - fraction_bits[dtype]);
}

double reference_ulps(const struct workload *workload, const struct op *op)
{
	enum dtype dtype = workload->tensors[op->writes[0].tensor].layout.dtype;
	if (!op->primitive->rounds || is_integer(dtype))
		return 1;
	return 1 + ldexp(2 * sqrt(reduced_elements(op)), fraction_bits[dtype] - 23);
}

/* Every element goes up or down by this many units of its own last place. */
static void move_by_ulps(
	const struct workload *workload, const struct op *op, uint64_t seed, void *array)
{
	int t = op->writes[0].tensor;
	const struct tensor *tensor = &workload->tensors[t];
	enum dtype dtype = tensor->layout.dtype;
	double ulps = reference_ulps(workload, op);
	struct random random = random_open(seed, (uint64_t)t);
	if (is_integer(dtype) || dtype == DTYPE_BOOL)
		return;
	for (int64_t i = 0; i < layout_elements(&tensor->layout); i++) {
		double value = (double)kernel_load(dtype, stored_element(tensor, array, i));
		double by = random_next(&random) & 1 ? ulps : -ulps;
		if (isfinite(value))
			kernel_store(dtype, stored_element(tensor, array, i),
				(float)(value + by * last_place(dtype, value)));
	}
}

uint64_t reference_seed(uint64_t seed, int rank)
{
	struct random random = random_open(seed, (uint64_t)rank);
	return rank ? random_next(&random) : seed;
}

/* Op by op, since ranks go on with what a broadcast brought from one of them.  `seed` NULL: as it
 * is. */
static void run_ranks(const struct workload *workload, int ranks, const uint64_t *seed,
	struct arena *arena, void **const *arrays)
{
	for (size_t o = 0; o < workload->op_count; o++) {
		const struct op *op = &workload->ops[o];
		int root = op->root < ranks ? op->root : 0;
		for (int r = 0; r < ranks && op->primitive->kind != OP_OPAQUE; r++) {
			int made = op->writes[0].tensor;
			if (arrays[r][made])
				continue;
			if (op->primitive->kind == OP_BROADCAST)
				arrays[r][made] = arrays[root][op->reads[0].tensor];
			else
				run_op(workload, op, arena, arrays[r]);
			if (seed && op->primitive->kind != OP_BROADCAST)
				move_by_ulps(
					workload, op, reference_seed(*seed, r), arrays[r][made]);
		}
	}
}

void reference_run_ranks(
	const struct workload *workload, int ranks, struct arena *arena, void **const *arrays)
{
	run_ranks(workload, ranks, NULL, arena, arrays);
}

void reference_run_moved(const struct workload *workload, int ranks, uint64_t seed,
	struct arena *arena, void **const *arrays)
{
	run_ranks(workload, ranks, &seed, arena, arrays);
}

void reference_run(const struct workload *workload, struct arena *arena, void **arrays)
{
	reference_run_ranks(workload, 1, arena, &arrays);
}

/* Infinite when one side has no number there. */
static double reference_distance(double expected, double got)
{
	if (expected == got || (isnan(expected) && isnan(got)))
		return 0;
	if (!isfinite(expected) || !isfinite(got))
		return INFINITY;
	return fabs(expected - got);
}

struct comparison reference_compare(
	const struct tensor *tensor, const void *expected, const void *got)
{
	enum dtype dtype = tensor->layout.dtype;
	struct comparison result = {.elements = layout_elements(&tensor->layout)};
	size_t bytes = (size_t)dtype_stored_bytes(dtype);
	const char *one = expected, *other = got;
	for (int64_t i = 0; i < result.elements; i++) {
		double e = (double)kernel_load(dtype, one + (size_t)i * bytes);
		if (isfinite(e))
			result.largest = fmax(result.largest, fabs(e));
	}
	double unit = last_place(dtype, result.largest);
	for (int64_t i = 0; i < result.elements; i++) {
		double e = (double)kernel_load(dtype, one + (size_t)i * bytes);
		double g = (double)kernel_load(dtype, other + (size_t)i * bytes);
		double off = reference_distance(e, g);
		if (off == 0)
			continue;
		double ulps = isfinite(off) ? off / last_place(dtype, e) : off;
		result.different++;
		if (ulps > result.worst_ulps) {
			result.worst_ulps = ulps;
			result.worst_at = i;
		}
		result.worst_of_largest = fmax(result.worst_of_largest, off / unit);
	}
	return result;
}

/* --- one op by itself */

/* The linear index of a padded operand; -1 outside of the tensor. */
static int64_t padded_index(const struct op_point *point, const struct access *access)
{
	const struct layout *layout = &point->workload->tensors[access->tensor].layout;
	int64_t linear = 0;
	for (int h = 0; h < layout->host_rank; h++) {
		int64_t index = affine_value(&access->host[h], point->op->loop_count, point->index);
		if (index < 0 || index >= layout->host_size[h])
			return -1;
		linear = linear * layout->host_size[h] + index;
	}
	return linear;
}

static double op_point_read_operand(const struct op_point *point, int i)
{
	const struct access *access = &point->op->reads[i];
	int64_t at = access->pad ? padded_index(point, access) : point->at[i];
	return at < 0 ? outside_value(point->op) : point->read(point->from, access->tensor, at);
}

static double op_point_apply(const struct op_point *point, double a, double b)
{
	const struct primitive *primitive = point->op->primitive;
	return point->in_fp32 ? (double)primitive->kernel((float)a, (float)b)
			      : primitive->reference(a, b);
}

static void op_point_add_term(struct op_point *point)
{
	const struct op *op = point->op;
	double value = op_point_read_operand(point, 0), second = (double)(float)op->constant;
	if (op->primitive->kind == OP_EINSUM) {
		for (int i = 1; i < op->read_count; i++)
			value *= op_point_read_operand(point, i);
		point->value += value;
		point->magnitude += fabs(value);
	} else if (op->primitive->kind == OP_REDUCE) {
		point->value = op_point_apply(point, point->value, value);
		point->magnitude = op_point_apply(point, point->magnitude, fabs(value));
	} else {
		if (!op->has_constant)
			second = op->read_count > 1 ? op_point_read_operand(point, 1) : 0;
		point->value = op_point_apply(point, value, second);
		point->magnitude = fmax(fabs(point->value), fmax(fabs(value), fabs(second)));
	}
}

/* All terms of an element, from reduction loop l on. */
static void op_point_add_terms(struct op_point *point, int l)
{
	const struct op *op = point->op;
	while (l < op->loop_count && !op->loops[l].reduction)
		l++;
	if (l == op->loop_count) {
		op_point_add_term(point);
		return;
	}
	for (int64_t i = 0; i < op->loops[l].extent; i++) {
		point->index[l] = i;
		op_point_add_terms(point, l + 1);
		for (int o = 0; o < op->read_count; o++)
			point->at[o] += op->reads[o].linear.coefficient[l];
	}
	for (int o = 0; o < op->read_count; o++)
		point->at[o] -= op->loops[l].extent * op->reads[o].linear.coefficient[l];
}

void op_point_compute(struct op_point *point)
{
	const struct op *op = point->op;
	for (int l = 0; l < op->loop_count; l++)
		if (op->loops[l].reduction)
			point->index[l] = 0;
	for (int o = 0; o <= op->read_count; o++)
		point->at[o] =
			affine_value(&op_operand(op, o)->linear, op->loop_count, point->index);
	point->value = point->magnitude = (double)op->primitive->start;
	op_point_add_terms(point, 0);
}

/* Host arrays of a workload's tensors. */
struct host_arrays {
	const struct workload *workload;
	void *const *at;
};

static double read_array(const void *from, int tensor, int64_t at)
{
	const struct host_arrays *arrays = from;
	enum dtype dtype = arrays->workload->tensors[tensor].layout.dtype;
	return (double)kernel_load(
		dtype, (const char *)arrays->at[tensor] + at * dtype_stored_bytes(dtype));
}

/* Finds the indices of element number i of the output's loops. */
static void find_point(struct op_point *point, int64_t i)
{
	const struct op *op = point->op;
	for (int l = op->loop_count - 1; l >= 0; l--) {
		if (op->loops[l].reduction)
			continue;
		point->index[l] = i % op->loops[l].extent;
		i /= op->loops[l].extent;
	}
}

/* The error that an element may have, apart from its own rounding. */
static double arithmetic_error(const struct op_point *point, double terms)
{
	const struct primitive *primitive = point->op->primitive;
	double error = ldexp(primitive->rounds ? 2 * sqrt(terms) + 2 : 8, -24) * point->magnitude;
	return primitive->mean ? error / terms : error;
}

static void judge_point(const struct op_point *point, enum dtype dtype, const char *got,
	double terms, struct misfit *worst)
{
	_Alignas(8) char stored[8];
	int64_t at = point->at[point->op->read_count];
	double value = point->value / (point->op->primitive->mean ? terms : 1);
	kernel_store(dtype, stored, (float)value);
	double had = (double)kernel_load(dtype, got + at * dtype_stored_bytes(dtype));
	double expected = (double)kernel_load(dtype, stored);
	if (reference_distance(expected, had) == 0)
		return;
	double off = reference_distance(
		is_integer(dtype) || !isfinite(expected) ? expected : value, had);
	double unit = last_place(dtype, isfinite(expected) ? expected : 0);
	double most = is_integer(dtype) ? 1 : unit / 2 + arithmetic_error(point, terms);
	if (off / most <= worst->part)
		return;
	*worst = (struct misfit){
		.part = off / most, .at = at, .ulps = off / unit, .ulps_most = most / unit};
}

struct misfit reference_misfit(const struct workload *workload, const struct op *op,
	void *const *arrays, const void *got, int64_t work_most)
{
	struct misfit worst = {0};
	struct host_arrays from = {workload, arrays};
	struct op_point point = {.workload = workload, .op = op, .read = read_array, .from = &from};
	double terms = reduced_elements(op);
	int64_t points = 1;
	for (int l = 0; l < op->loop_count; l++)
		points *= op->loops[l].reduction ? 1 : op->loops[l].extent;
	int64_t apart = (int64_t)((double)points * terms / (double)work_most) | 1;
	for (int64_t i = 0; i < points; i += apart) {
		find_point(&point, i);
		op_point_compute(&point);
		judge_point(&point, workload->tensors[op->writes[0].tensor].layout.dtype, got,
			terms, &worst);
	}
	return worst;
}
