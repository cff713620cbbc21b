#include "sim/graph/tile.h"

#include "sim/graph/data.h"
#include "sim/machine/kernel.h"

#include <string.h>

enum { OPERANDS_MOST = OP_READS_MOST + 1 };

bool tile_open(const struct workload *workload, const struct op *op, const struct compute *compute,
	int operand, struct tile_operand *out)
{
	*out = (struct tile_operand){.size = 1};
	if (!touch_make(workload, op, compute, operand, &out->touch))
		return false;
	for (int h = out->touch.layout->host_rank - 1; h >= 0; h--) {
		out->stride[h] = out->size;
		out->size *= out->touch.to[h] - out->touch.from[h] + 1;
	}
	return true;
}

struct tile_lanes tile_find(const struct tile_operand *operand, int64_t stick)
{
	const struct touch *touch = &operand->touch;
	const struct layout *layout = touch->layout;
	struct image_stick at = image_find(layout, stick);
	struct tile_lanes lanes = {.count = at.lanes, .step = 1};
	for (int h = 0; h < layout->host_rank; h++) {
		int64_t first = at.coordinates[h];
		if (h == layout->stick_dim) {
			int64_t last = number_min(first + at.lanes - 1, touch->to[h]);
			int64_t begin = number_max(first, touch->from[h]);
			lanes.lane = (int)(begin - first);
			lanes.count = (int)number_max(0, last - begin + 1);
			lanes.step = operand->stride[h];
			first = begin;
		} else if (first < touch->from[h] || first > touch->to[h]) {
			return (struct tile_lanes){.step = 1};
		}
		lanes.at += (first - touch->from[h]) * operand->stride[h];
	}
	return lanes;
}

void tile_start(const struct op *op, struct tile_operand *output)
{
	for (int64_t i = 0; i < output->size; i++)
		output->values[i] = op->primitive->start;
}

float tile_finish(const struct op *op, float value)
{
	if (!op->primitive->mean)
		return value;
	int64_t elements = 1;
	for (int l = 0; l < op->loop_count; l++)
		elements *= op->loops[l].reduction ? op->loops[l].extent : 1;
	return value / (float)elements;
}

/* The loops that run, outermost first, and how far each moves in every operand's values. */
struct nest {
	int loop_count, operand_count; /* the output is the last operand */
	int64_t count[OP_LOOPS_MOST];
	int64_t stride[OP_LOOPS_MOST][OPERANDS_MOST];
	float *at[OPERANDS_MOST];
	kernel_function kernel;
};

static void add_operand(struct nest *nest, const struct op *op, const struct compute *compute,
	int operand, const struct tile_operand *tile)
{
	int number = nest->operand_count++, at = 0;
	const struct access *access = op_operand(op, operand);
	int64_t base = 0;
	for (int h = 0; h < tile->touch.layout->host_rank; h++) {
		int64_t first = access->host[h].offset;
		for (int l = 0; l < op->loop_count; l++)
			first += access->host[h].loop[l] * compute->first[l];
		base += (first - tile->touch.from[h]) * tile->stride[h];
	}
	nest->at[number] = tile->values + base;
	for (int l = 0; l < op->loop_count; l++) {
		if (compute->count[l] == 1)
			continue;
		int64_t stride = 0;
		for (int h = 0; h < tile->touch.layout->host_rank; h++)
			stride += access->host[h].loop[l] * tile->stride[h];
		nest->count[at] = compute->count[l];
		nest->stride[at++][number] = stride;
	}
	nest->loop_count = at;
}

/* How well a loop does as the innermost: elements side by side, and none that wait for a sum. */
static int rank_loop(const struct nest *nest, int l)
{
	int rank = nest->stride[l][nest->operand_count - 1] != 0;
	for (int o = 0; o < nest->operand_count; o++)
		rank += 2 * (nest->stride[l][o] == 0 || nest->stride[l][o] == 1);
	return rank;
}

static void move_best_inside(struct nest *nest)
{
	int best = nest->loop_count - 1, last = nest->loop_count - 1;
	for (int l = 0; l < last; l++) {
		int more = rank_loop(nest, l) - rank_loop(nest, best);
		if (more > 0 || (more == 0 && nest->count[l] > nest->count[best]))
			best = l;
	}
	if (last < 0 || best == last)
		return;
	int64_t count = nest->count[best], stride[OPERANDS_MOST];
	memcpy(stride, nest->stride[best], sizeof stride);
	for (int l = best; l < last; l++) {
		nest->count[l] = nest->count[l + 1];
		memcpy(nest->stride[l], nest->stride[l + 1], sizeof stride);
	}
	nest->count[last] = count;
	memcpy(nest->stride[last], stride, sizeof stride);
}

static void multiply_row(int64_t n, const float *restrict a, int64_t a_step,
	const float *restrict b, int64_t b_step, float *restrict out, int64_t step)
{
	if (step == 0) {
		float sum = *out;
		for (int64_t i = 0; i < n; i++)
			sum += a[i * a_step] * b[i * b_step];
		*out = sum;
	} else if (step == 1 && a_step == 0 && b_step == 1) {
		float factor = *a;
		for (int64_t i = 0; i < n; i++)
			out[i] += factor * b[i];
	} else {
		for (int64_t i = 0; i < n; i++)
			out[i * step] += a[i * a_step] * b[i * b_step];
	}
}

static void einsum_row(const struct nest *nest, int64_t n, const int64_t *stride)
{
	int reads = nest->operand_count - 1;
	if (reads == 2) {
		multiply_row(
			n, nest->at[0], stride[0], nest->at[1], stride[1], nest->at[2], stride[2]);
		return;
	}
	for (int64_t i = 0; i < n; i++) {
		float product = nest->at[0][i * stride[0]];
		for (int o = 1; o < reads; o++)
			product *= nest->at[o][i * stride[o]];
		nest->at[reads][i * stride[reads]] += product;
	}
}

static void map_row(const struct op *op, const struct nest *nest, int64_t n, const int64_t *stride)
{
	const float *a = nest->at[0], *b = nest->at[1];
	int reads = nest->operand_count - 1;
	float *out = nest->at[reads], constant = (float)op->constant;
	for (int64_t i = 0; i < n; i++) {
		float second = reads > 1 ? b[i * stride[1]] : constant;
		out[i * stride[reads]] = nest->kernel(op->primitive, a[i * stride[0]], second);
	}
}

static void reduce_row(
	const struct op *op, const struct nest *nest, int64_t n, const int64_t *stride)
{
	const float *in = nest->at[0];
	float *out = nest->at[1];
	for (int64_t i = 0; i < n; i++)
		out[i * stride[1]] =
			nest->kernel(op->primitive, out[i * stride[1]], in[i * stride[0]]);
}

static void run_row(const struct op *op, const struct nest *nest, int64_t n, const int64_t *stride)
{
	if (op->primitive->kind == OP_EINSUM)
		einsum_row(nest, n, stride);
	else if (op->primitive->kind == OP_REDUCE)
		reduce_row(op, nest, n, stride);
	else
		map_row(op, nest, n, stride);
}

static void run_loops(const struct op *op, struct nest *nest, int l)
{
	static const int64_t still[OPERANDS_MOST];
	if (nest->loop_count == 0) {
		run_row(op, nest, 1, still);
		return;
	}
	if (l + 1 == nest->loop_count) {
		run_row(op, nest, nest->count[l], nest->stride[l]);
		return;
	}
	for (int64_t i = 0; i < nest->count[l]; i++) {
		run_loops(op, nest, l + 1);
		for (int o = 0; o < nest->operand_count; o++)
			nest->at[o] += nest->stride[l][o];
	}
	for (int o = 0; o < nest->operand_count; o++)
		nest->at[o] -= nest->stride[l][o] * nest->count[l];
}

void tile_run(const struct op *op, const struct compute *compute, const struct tile_operand *reads,
	struct tile_operand *output, kernel_function kernel)
{
	struct nest nest = {.kernel = kernel};
	for (int i = 0; i < op->read_count; i++)
		add_operand(&nest, op, compute, i, &reads[i]);
	add_operand(&nest, op, compute, op->read_count, output);
	move_best_inside(&nest);
	run_loops(op, &nest, 0);
}
