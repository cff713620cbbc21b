#include "cost/streaming.h"

#include "cost/checked.h"

void streaming_open(struct streaming *streaming, const struct arch *arch,
	const struct workload *workload, const struct op *op, const struct mapping *mapping,
	uint32_t in_lx, uint32_t arriving)
{
	streaming->arch = arch;
	streaming->arriving = arriving;
	traffic_open(&streaming->traffic, arch, workload, op, mapping, in_lx);
}

static int64_t bytes_of(int64_t sticks, bool *fits)
{
	return checked_mul(fits, sticks, STICK_BYTES);
}

static void add(int64_t *sum, int64_t value, bool *fits)
{
	*sum = checked_add(fits, *sum, value);
}

/* Buffers begin at aligned addresses. */
static void add_buffers(const struct streaming *streaming, int64_t bytes, bool two,
	struct streaming_cost *out, bool *fits)
{
	int64_t alignment = streaming->arch->levels[streaming->arch->lx].alignment;
	int64_t blocks = number_ceil_div(bytes, alignment);
	int64_t room = checked_mul(fits, blocks, alignment);
	add(&out->stream_bytes, checked_mul(fits, room, two ? 2 : 1), fits);
}

static void cost_read(
	const struct streaming *streaming, int i, struct streaming_cost *out, bool *fits)
{
	const struct footprint *footprint = &streaming->traffic.operands[i];
	if (streaming->traffic.in_lx >> i & 1) {
		if (!(streaming->arriving >> i & 1))
			return;
		add(&out->moved_bytes, bytes_of(footprint_least(footprint, fits), fits), fits);
	} else {
		int64_t read = bytes_of(footprint_fetch(footprint, NULL, fits).transfers, fits);
		add(&out->hbm_bytes, read, fits);
		add(&out->moved_bytes, read, fits);
		if (!streaming->traffic.moves)
			add_buffers(streaming, bytes_of(footprint_largest(footprint, fits), fits),
				footprint_moves(footprint), out, fits);
	}
	add(&out->exposed_bytes, bytes_of(footprint_first(footprint, fits).transfers, fits), fits);
}

static void cost_write(const struct streaming *streaming, struct streaming_cost *out, bool *fits)
{
	const struct traffic_op *traffic = &streaming->traffic;
	const struct loopnest *nest = &traffic->nest;
	const struct footprint *footprint = &traffic->operands[traffic->op->read_count];
	int64_t largest = footprint_largest(footprint, fits);
	int64_t split = loopnest_splits(nest, nest->reductions);
	bool two = traffic_output_tiles(traffic, fits) > 1;
	if (split > 1 || traffic_passes(traffic, fits) > 1)
		add_buffers(streaming, traffic_accumulator(traffic, largest, fits),
			two && split > 1, out, fits);
	if (traffic->in_lx >> traffic->op->read_count & 1)
		return;
	int64_t written =
		bytes_of(footprint_sum(footprint, nest->all & ~nest->reductions, NULL, fits), fits);
	add(&out->hbm_bytes, written, fits);
	add(&out->moved_bytes, written, fits);
	add(&out->exposed_bytes, bytes_of(footprint_first(footprint, fits).transfers, fits), fits);
	add_buffers(streaming, bytes_of(largest, fits), two, out, fits);
}

bool streaming_cost(const struct streaming *streaming, struct streaming_cost *out)
{
	bool fits = true;
	*out = (struct streaming_cost){0};
	for (int i = 0; i < streaming->traffic.op->read_count; i++)
		cost_read(streaming, i, out, &fits);
	if (!streaming->traffic.moves)
		cost_write(streaming, out, &fits);
	return fits;
}

bool streaming_least(const struct streaming *streaming, int64_t *hbm_bytes)
{
	const struct traffic_op *traffic = &streaming->traffic;
	bool fits = true;
	int64_t least = 0;
	for (int i = 0; i <= traffic->op->read_count; i++)
		if (!(traffic->in_lx >> i & 1))
			add(&least, footprint_least(&traffic->operands[i], &fits), &fits);
	*hbm_bytes = bytes_of(least, &fits);
	return fits;
}
