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

static bool is_in_lx(const struct streaming *streaming, int operand)
{
	return streaming->traffic.in_lx >> operand & 1;
}

static const struct footprint *output_of(const struct streaming *streaming)
{
	return &streaming->traffic.operands[streaming->traffic.op->read_count];
}

static bool in_bytes(int64_t sticks, bool *fits, int64_t *bytes)
{
	*bytes = checked_mul(fits, sticks, STICK_BYTES);
	return *fits;
}

bool streaming_hbm(const struct streaming *streaming, int64_t *bytes)
{
	const struct loopnest *nest = &streaming->traffic.nest;
	int reads = streaming->traffic.op->read_count;
	bool fits = true;
	int64_t sticks = 0;
	for (int i = 0; i < reads; i++)
		if (!is_in_lx(streaming, i))
			sticks = checked_add(&fits, sticks,
				footprint_fetch(&streaming->traffic.operands[i], NULL, &fits)
					.transfers);
	if (!is_in_lx(streaming, reads))
		sticks = checked_add(&fits, sticks,
			footprint_sum(
				output_of(streaming), nest->all & ~nest->reductions, NULL, &fits));
	return in_bytes(sticks, &fits, bytes);
}

bool streaming_least(const struct streaming *streaming, int64_t *bytes)
{
	bool fits = true;
	int64_t sticks = 0;
	for (int i = 0; i <= streaming->traffic.op->read_count; i++)
		if (!is_in_lx(streaming, i))
			sticks = checked_add(&fits, sticks,
				footprint_least(&streaming->traffic.operands[i], &fits));
	return in_bytes(sticks, &fits, bytes);
}

/* Buffers begin at aligned addresses. */
static int64_t buffers(const struct streaming *streaming, int64_t bytes, int count, bool *fits)
{
	int64_t alignment = streaming->arch->levels[streaming->arch->lx].alignment;
	int64_t blocks = number_ceil_div(bytes, alignment);
	return checked_mul(fits, checked_mul(fits, blocks, alignment), count);
}

static int64_t tile_buffers(const struct streaming *streaming, int operand, bool *fits)
{
	const struct footprint *footprint = &streaming->traffic.operands[operand];
	if (is_in_lx(streaming, operand))
		return 0;
	int64_t largest = checked_mul(fits, footprint_largest(footprint, fits), STICK_BYTES);
	return buffers(streaming, largest, footprint_moves(footprint) ? 2 : 1, fits);
}

/* A ring still reads one accumulator while the next output tile begins in another. */
static int64_t accumulators(const struct streaming *streaming, bool *fits)
{
	const struct traffic_op *traffic = &streaming->traffic;
	bool ring = loopnest_splits(&traffic->nest, traffic->nest.reductions) > 1;
	if (!ring && traffic_passes(traffic, fits) == 1)
		return 0;
	int64_t largest = footprint_largest(output_of(streaming), fits);
	return buffers(streaming, traffic_accumulator(traffic, largest, fits),
		ring && traffic_output_tiles(traffic, fits) > 1 ? 2 : 1, fits);
}

bool streaming_room(const struct streaming *streaming, int64_t *bytes)
{
	bool fits = true;
	*bytes = 0;
	if (streaming->traffic.moves)
		return true;
	for (int i = 0; i <= streaming->traffic.op->read_count; i++)
		*bytes = checked_add(&fits, *bytes, tile_buffers(streaming, i, &fits));
	*bytes = checked_add(&fits, *bytes, accumulators(streaming, &fits));
	return fits;
}

bool streaming_exposed(const struct streaming *streaming, int64_t *bytes)
{
	bool fits = true;
	int64_t sticks = 0;
	for (int i = 0; i <= streaming->traffic.op->read_count; i++)
		if (!is_in_lx(streaming, i) || streaming->arriving >> i & 1)
			sticks = checked_add(&fits, sticks,
				footprint_first(&streaming->traffic.operands[i], &fits).transfers);
	return in_bytes(sticks, &fits, bytes);
}

bool streaming_arriving(const struct streaming *streaming, int64_t *bytes)
{
	bool fits = true;
	int64_t sticks = 0;
	for (int i = 0; i < streaming->traffic.op->read_count; i++)
		if (streaming->arriving >> i & 1)
			sticks = checked_add(&fits, sticks,
				footprint_least(&streaming->traffic.operands[i], &fits));
	return in_bytes(sticks, &fits, bytes);
}
