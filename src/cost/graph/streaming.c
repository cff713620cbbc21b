#include "cost/graph/streaming.h"

#include "base/number.h"
#include "cost/graph/latency.h"

static bool is_in_lx(const struct traffic_op *traffic, int operand)
{
	return traffic->in_lx >> operand & 1;
}

static const struct footprint *output_of(const struct traffic_op *traffic)
{
	return &traffic->operands[traffic->op->read_count];
}

static bool in_bytes(int64_t sticks, bool *fits, int64_t *bytes)
{
	*bytes = checked_mul(fits, sticks, STICK_BYTES);
	return *fits;
}

bool streaming_hbm(const struct traffic_op *traffic, int64_t *bytes)
{
	const struct loopnest *nest = &traffic->nest;
	int reads = traffic->op->read_count;
	bool fits = true;
	int64_t sticks = 0;
	for (int i = 0; i < reads; i++)
		if (!is_in_lx(traffic, i))
			sticks = checked_add(&fits, sticks,
				footprint_fetch(&traffic->operands[i], NULL, &fits).transfers);
	if (!is_in_lx(traffic, reads))
		sticks = checked_add(&fits, sticks,
			footprint_sum(
				output_of(traffic), nest->all & ~nest->reductions, NULL, &fits));
	return in_bytes(sticks, &fits, bytes);
}

bool streaming_least(const struct traffic_op *traffic, int64_t *bytes)
{
	bool fits = true;
	int64_t sticks = 0;
	for (int i = 0; i <= traffic->op->read_count; i++)
		if (!is_in_lx(traffic, i))
			sticks = checked_add(
				&fits, sticks, footprint_least(&traffic->operands[i], &fits));
	return in_bytes(sticks, &fits, bytes);
}

/* Buffers begin at aligned addresses. */
static int64_t buffer_bytes(const struct traffic_op *traffic, int64_t bytes, int count, bool *fits)
{
	int64_t alignment = traffic->arch->levels[traffic->arch->lx].alignment;
	int64_t blocks = number_ceil_div(bytes, alignment);
	return checked_mul(fits, checked_mul(fits, blocks, alignment), count);
}

static int64_t tile_buffer_bytes(const struct traffic_op *traffic, int operand, bool *fits)
{
	const struct footprint *footprint = &traffic->operands[operand];
	if (is_in_lx(traffic, operand))
		return 0;
	int64_t largest = checked_mul(fits, footprint_largest(footprint, fits), STICK_BYTES);
	return buffer_bytes(traffic, largest, footprint_moves(footprint) ? 2 : 1, fits);
}

/* A ring still reads one accumulator while the next output tile begins in another. */
static int64_t accumulator_bytes(const struct traffic_op *traffic, bool *fits)
{
	bool ring = loopnest_splits(&traffic->nest, traffic->nest.reductions) > 1;
	struct inner_sums sums =
		traffic->inner ? inner_cost_sums(traffic->inner) : (struct inner_sums){0};
	if (!ring && traffic_passes(traffic, fits) == 1 && sums.updates <= sums.words)
		return 0;
	int64_t largest = footprint_largest(output_of(traffic), fits);
	return buffer_bytes(traffic, traffic_accumulator(traffic, largest, fits),
		ring && traffic_output_tiles(traffic, fits) > 1 ? 2 : 1, fits);
}

bool streaming_room(const struct traffic_op *traffic, int64_t *bytes)
{
	bool fits = true;
	*bytes = 0;
	if (traffic->moves || traffic->evicts)
		return true;
	for (int i = 0; i <= traffic->op->read_count; i++)
		*bytes = checked_add(&fits, *bytes, tile_buffer_bytes(traffic, i, &fits));
	*bytes = checked_add(&fits, *bytes, accumulator_bytes(traffic, &fits));
	return fits;
}

struct step_time {
	int64_t hbm, cores, ring; /* cycles of the whole step */
	int64_t first, last;      /* fetches of the first tile, drains of the last one */
};

/* Bytes of the operands that come in, or that leave, with every core's first tile. */
static int64_t first_bytes(const struct traffic_op *traffic, bool comes_in, bool *fits)
{
	int reads = traffic->op->read_count;
	int64_t sticks = 0;
	for (int i = comes_in ? 0 : reads; i < reads + !comes_in; i++)
		if (!is_in_lx(traffic, i) || traffic->arriving >> i & 1)
			sticks = checked_add(fits, sticks,
				footprint_first(&traffic->operands[i], fits).transfers);
	return checked_mul(fits, sticks, STICK_BYTES);
}

static int64_t arriving_sticks(const struct traffic_op *traffic, bool *fits)
{
	int64_t sticks = 0;
	for (int i = 0; i < traffic->op->read_count; i++)
		if (traffic->arriving >> i & 1)
			sticks = checked_add(
				fits, sticks, footprint_least(&traffic->operands[i], fits));
	return sticks;
}

/* What of the bytes read and written takes longer than others. */
static void load_bus(const struct traffic_op *traffic, struct bus_load *load, bool *fits)
{
	const struct level *hbm = &traffic->arch->levels[traffic->arch->hbm];
	if (!hbm->plane_span && !hbm->run.num && !hbm->write_span)
		return;
	for (int i = 0; i < traffic->op->read_count; i++) {
		if (is_in_lx(traffic, i))
			continue;
		int64_t sticks = footprint_fetch(&traffic->operands[i], NULL, fits).transfers;
		latency_load(load, traffic, i, checked_mul(fits, sticks, STICK_BYTES), fits);
	}
	latency_load(load, traffic, traffic->op->read_count, load->written, fits);
}

static struct step_time find_time(const struct traffic_op *traffic, int64_t hbm_bytes, bool *fits)
{
	const struct arch *arch = traffic->arch;
	const struct loopnest *nest = &traffic->nest;
	struct step_time time;
	int64_t resources[RESOURCE_COUNT] = {0}, written = 0;
	struct core_work work = {0};
	latency_add(&work, arch, traffic, 0, fits);
	latency_raise(resources, arch, &work, fits);
	if (!is_in_lx(traffic, traffic->op->read_count))
		written = checked_mul(fits, STICK_BYTES,
			footprint_sum(
				output_of(traffic), nest->all & ~nest->reductions, NULL, fits));
	int64_t arriving = checked_mul(fits, arriving_sticks(traffic, fits), STICK_BYTES);
	struct bus_load load = {.read = hbm_bytes - written, .written = written, .moved = arriving};
	load_bus(traffic, &load, fits);
	time.hbm = latency_bus(traffic, load, fits);
	time.cores = number_max(resources[RESOURCE_COMPUTE],
		number_max(resources[RESOURCE_LX_READ], resources[RESOURCE_LX_WRITE]));
	time.ring = resources[RESOURCE_RING];
	time.first = latency_hbm(arch, first_bytes(traffic, true, fits), 0, fits);
	time.last = latency_hbm(arch, 0, first_bytes(traffic, false, fits), fits);
	return time;
}

bool streaming_bound(const struct traffic_op *traffic, int64_t hbm_bytes, int64_t *cycles)
{
	bool fits = true;
	struct step_time time = find_time(traffic, hbm_bytes, &fits);
	*cycles = number_max(time.hbm, number_max(time.cores, time.ring));
	return fits;
}

bool streaming_estimate(const struct traffic_op *traffic, int64_t hbm_bytes, int64_t *cycles)
{
	bool fits = true;
	struct step_time time = find_time(traffic, hbm_bytes, &fits);
	int64_t outputs = traffic_output_tiles(traffic, &fits);
	int64_t tiles = checked_mul(&fits, outputs, traffic_passes(traffic, &fits));
	if (!fits)
		return false;
	int64_t ring = time.ring / outputs;
	int64_t by_hbm = time.hbm + time.cores / tiles + ring;
	int64_t by_cores = time.first + time.cores + ring + time.last;
	int64_t by_ring = time.first + time.cores / outputs + time.ring + time.last;
	*cycles = number_max(by_hbm, by_cores);
	if (time.ring > 0)
		*cycles = number_max(*cycles, by_ring);
	return true;
}

/* The cycles of the cores from the tile on that uses the last new box of an operand. */
static int64_t cycles_behind(const struct traffic_op *traffic, int operand, int64_t cycles)
{
	const struct loopnest *nest = &traffic->nest;
	const struct footprint *footprint = &traffic->operands[operand];
	double tiles = 1, before = 0;
	for (int i = 0; i < nest->loop_count; i++) {
		int l = nest->order[i];
		if ((footprint->simple | footprint->joint) >> l & 1)
			before += tiles * (double)(nest->loops[l].tiles - 1);
		tiles *= (double)nest->loops[l].tiles;
	}
	return (int64_t)((double)cycles * (1 - before / tiles));
}

/* The estimate of an op all of whose reads are in LX, some since this phase. */
static int64_t estimate_arrivals(
	const struct traffic_op *traffic, int64_t hbm_bytes, int64_t moved_bytes, bool *fits)
{
	const struct arch *arch = traffic->arch;
	struct step_time time = find_time(traffic, hbm_bytes, fits);
	int64_t moved = latency_hbm(arch, moved_bytes, 0, fits), start = moved, behind = 0;
	for (int i = 0; i < traffic->op->read_count; i++) {
		const struct footprint *footprint = &traffic->operands[i];
		if (!(traffic->arriving >> i & 1))
			continue;
		int64_t all = checked_mul(fits, footprint_least(footprint, fits), STICK_BYTES);
		int64_t first =
			checked_mul(fits, footprint_first(footprint, fits).transfers, STICK_BYTES);
		int64_t rest = latency_hbm(arch, number_max(0, all - first), 0, fits);
		start = number_min(start, number_max(0, moved - rest));
		behind = number_max(behind, cycles_behind(traffic, i, time.cores));
	}
	int64_t ring = time.ring / traffic_output_tiles(traffic, fits) + time.last;
	return number_max(start + time.cores, moved + behind) + ring;
}

bool streaming_phase(
	const struct traffic_op *traffic, int64_t hbm_bytes, int64_t moved_bytes, int64_t *cycles)
{
	bool streams = false, fits = true;
	for (int i = 0; i < traffic->op->read_count; i++)
		streams |= !is_in_lx(traffic, i);
	if (!moved_bytes || !streams) {
		if (!streaming_estimate(traffic, hbm_bytes, cycles))
			return false;
		if (moved_bytes)
			*cycles = number_max(
				*cycles, estimate_arrivals(traffic, hbm_bytes, moved_bytes, &fits));
		return fits;
	}
	struct traffic_op own = *traffic;
	own.arriving = 0;
	int64_t moved = latency_hbm(traffic->arch, moved_bytes, 0, &fits);
	if (!streaming_estimate(&own, hbm_bytes, cycles))
		return false;
	*cycles = checked_add(&fits, *cycles, moved);
	return fits;
}
