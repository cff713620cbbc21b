#include "cost/graph/streaming.h"

#include "base/number.h"
#include "base/wide.h"
#include "cost/graph/footprint.h"
#include "cost/graph/latency.h"

#include <math.h>

static bool traffic_op_is_in_lx(const struct traffic_op *traffic, int operand)
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

/* Sticks that an op writes to HBM. */
static int64_t sticks_written(const struct traffic_op *traffic, bool *fits)
{
	const struct loopnest *nest = &traffic->nest;
	if (traffic_op_is_in_lx(traffic, traffic->op->read_count))
		return 0;
	return footprint_sum(output_of(traffic), nest->all & ~nest->reductions, NULL, fits);
}

bool streaming_hbm(const struct traffic_op *traffic, int64_t *bytes)
{
	int reads = traffic->op->read_count;
	bool fits = true;
	int64_t sticks = 0;
	for (int i = 0; i < reads; i++)
		if (!traffic_op_is_in_lx(traffic, i))
			sticks = checked_add(&fits, sticks,
				footprint_fetch(&traffic->operands[i], NULL, &fits).transfers);
	sticks = checked_add(&fits, sticks, sticks_written(traffic, &fits));
	return in_bytes(sticks, &fits, bytes);
}

bool streaming_least(const struct traffic_op *traffic, int64_t *bytes)
{
	bool fits = true;
	int64_t sticks = 0;
	for (int i = 0; i <= traffic->op->read_count; i++)
		if (!traffic_op_is_in_lx(traffic, i))
			sticks = checked_add(
				&fits, sticks, footprint_least(&traffic->operands[i], &fits));
	return in_bytes(sticks, &fits, bytes);
}

/* Buffers begin at aligned addresses. */
static int64_t buffer_bytes(const struct traffic_op *traffic, int64_t bytes, int count, bool *fits)
{
	int64_t alignment = arch_lx(traffic->arch)->alignment;
	int64_t blocks = number_ceil_div(bytes, alignment);
	return checked_mul(fits, checked_mul(fits, blocks, alignment), count);
}

static int64_t tile_buffer_bytes(const struct traffic_op *traffic, int operand, bool *fits)
{
	const struct footprint *footprint = &traffic->operands[operand];
	if (traffic_op_is_in_lx(traffic, operand))
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

/* True if an operand arrives, by a move that no operand before it reads. */
static bool arrives_first(const struct traffic_op *traffic, int operand)
{
	return (traffic->arriving.operands & ~traffic->arriving.again) >> operand & 1;
}

struct step_time {
	int64_t hbm, cores, ring; /* cycles of the whole step */
	int64_t hops;             /* cycles from link to link of the ring for one output tile */
	int64_t first, last;      /* fetches of the first tile, drains of the last one */
};

/* Cycles of the bus and the lanes for bytes that come in, or for bytes that leave behind so many that came in: the bus
 * turns round for them. */
static int64_t one_way_cycles(
	const struct traffic_op *traffic, const struct bus_load *load, int64_t read, bool *fits)
{
	return checked_add(fits, latency_bus(traffic, load, fits),
		latency_turns(traffic, number_min(read, load->written), fits));
}

/* Cycles in which the boxes of every core's first tile come in, or those of its last one leave: on the bus, over the
 * lanes, or through its port. */
static int64_t cycles_of_boxes(
	const struct traffic_op *traffic, bool comes_in, int64_t read, bool *fits)
{
	struct ratio rate = arch_lx(traffic->arch)->fill_rate;
	int reads = traffic->op->read_count;
	struct bus_load load = {0};
	int64_t port = 0, cycles = 0;
	for (int i = comes_in ? 0 : reads; i < reads + !comes_in; i++) {
		if (traffic_op_is_in_lx(traffic, i) && !arrives_first(traffic, i))
			continue;
		struct footprint_fetch first = footprint_first(&traffic->operands[i], fits);
		int64_t bytes = checked_mul(fits, first.transfers, STICK_BYTES);
		int64_t *sum = traffic_op_is_in_lx(traffic, i) ? &load.moved.hbm
			       : comes_in                      ? &load.read
							       : &load.written;
		*sum = checked_add(fits, *sum, bytes);
		port = checked_add(fits, port, checked_mul(fits, first.fills, STICK_BYTES));
		if (!traffic_op_is_in_lx(traffic, i))
			latency_load(&load, traffic, i, bytes, fits);
	}
	int64_t bus = one_way_cycles(traffic, &load, read, fits);
	port /= traffic->nest.cores;
	if (rate.num > 0 && !ratio_time(port, rate, &cycles))
		*fits = false;
	return number_max(bus, cycles);
}

static int64_t arriving_bytes(const struct traffic_op *traffic, int operand, bool *fits)
{
	return checked_mul(fits, footprint_least(&traffic->operands[operand], fits), STICK_BYTES);
}

static int64_t all_arriving_bytes(const struct traffic_op *traffic, bool *fits)
{
	int64_t bytes = 0;
	for (int i = 0; i < traffic->op->read_count; i++)
		if (arrives_first(traffic, i))
			bytes = checked_add(fits, bytes, arriving_bytes(traffic, i, fits));
	return bytes;
}

/* Cycles in which a move brings bytes of an arriving operand: on the bus, or over the lanes of its cores. */
static int64_t arrival_time(
	const struct traffic_op *traffic, int operand, int64_t bytes, bool *fits)
{
	const struct arch *arch = traffic->arch;
	const struct lane_part *part = &traffic->arriving.lanes[operand];
	int64_t over = part->all ? (int64_t)((wide)bytes * part->of / part->all) : 0;
	return number_max(latency_hbm(arch, bytes, 0, fits), latency_lanes(arch, over, 1, fits));
}

/* Cycles until the first stick of an output tile is on the last link of the reduce ring: each link begins when
 * the one before has brought a stick, and the ring combines one tile at a time. */
static int64_t hop_cycles(const struct traffic_op *traffic, bool *fits)
{
	int64_t links = loopnest_splits(&traffic->nest, traffic->nest.reductions) - 1, cycles;
	if (links < 2 || traffic->arch->reduce_ring.rate.num <= 0)
		return 0;
	if (!ratio_time((links - 1) * STICK_BYTES, traffic->arch->reduce_ring.rate, &cycles))
		*fits = false;
	return *fits ? cycles : 0;
}

/*
 * Bytes read and written that take longer than others; `count`: what is counted already, or NULL.  If HBM moves the
 * fewest bytes, every operand does, whatever the order of the loops that is set now.
 */
static void load_bus(const struct traffic_op *traffic, const struct step_count *count,
	int64_t hbm_bytes, struct bus_load *load, bool *fits)
{
	const struct storage_level *hbm = arch_hbm(traffic->arch);
	int64_t least;
	if (!hbm->plane_span && !hbm->run.num && !hbm->write_span && !traffic->arch->lane_cores)
		return;
	bool fewest = !count && streaming_least(traffic, &least) && hbm_bytes == least;
	for (int i = 0; i < traffic->op->read_count; i++) {
		if (traffic_op_is_in_lx(traffic, i))
			continue;
		const struct footprint *footprint = &traffic->operands[i];
		int64_t bytes =
			count ? count->bytes[i][TRAFFIC_HBM_READ]
			      : checked_mul(fits, STICK_BYTES,
					fewest ? footprint_least(footprint, fits)
					       : footprint_fetch(footprint, NULL, fits).transfers);
		latency_load(load, traffic, i, bytes, fits);
	}
	latency_load(load, traffic, traffic->op->read_count, load->written, fits);
}

static struct step_time find_time(const struct traffic_op *traffic, const struct step_count *count,
	int64_t hbm_bytes, bool *fits)
{
	const struct arch *arch = traffic->arch;
	struct step_time time;
	int64_t resources[RESOURCE_COUNT] = {0};
	struct core_work work = {0};
	latency_add_inside(&work, arch, traffic, 0, fits);
	latency_raise(resources, arch, &work, fits);
	int64_t written = checked_mul(fits, STICK_BYTES, sticks_written(traffic, fits));
	int64_t arriving = all_arriving_bytes(traffic, fits);
	struct bus_load load = {
		.read = hbm_bytes - written, .written = written, .moved.hbm = arriving};
	load_bus(traffic, count, hbm_bytes, &load, fits);
	time.hbm = latency_bus(traffic, &load, fits);
	time.cores = number_max(resources[RESOURCE_COMPUTE],
		number_max(resources[RESOURCE_LX_READ], resources[RESOURCE_LX_WRITE]));
	time.ring = resources[RESOURCE_RING];
	time.hops = hop_cycles(traffic, fits);
	int64_t all_read = checked_add(fits, load.read, arriving);
	time.first = cycles_of_boxes(traffic, true, all_read, fits);
	time.last = cycles_of_boxes(traffic, false, all_read, fits);
	return time;
}

bool streaming_bound(const struct traffic_op *traffic, int64_t hbm_bytes, int64_t *cycles)
{
	bool fits = true;
	struct step_time time = find_time(traffic, NULL, hbm_bytes, &fits);
	*cycles = number_max(time.hbm, number_max(time.cores, time.ring));
	return fits;
}

/* Everything overlaps but the first and the last tile. */
static int64_t estimate_together(
	const struct step_time *time, int64_t tiles, int64_t outputs, bool *fits)
{
	int64_t ring = time->ring / outputs + time->hops;
	int64_t by_hbm = time->hbm + time->cores / tiles + ring;
	int64_t by_cores = time->first + time->cores + ring + time->last;
	int64_t rings = checked_add(fits, time->ring, checked_mul(fits, outputs, time->hops));
	int64_t by_ring = time->first + time->cores / outputs + rings + time->last;
	int64_t cycles = number_max(by_hbm, by_cores);
	return time->ring > 0 ? number_max(cycles, by_ring) : cycles;
}

bool streaming_estimate(const struct traffic_op *traffic, int64_t hbm_bytes, int64_t *cycles)
{
	bool fits = true;
	struct step_time time = find_time(traffic, NULL, hbm_bytes, &fits);
	int64_t outputs = traffic_output_tiles(traffic, &fits);
	int64_t tiles = checked_mul(&fits, outputs, traffic_passes(traffic, &fits));
	if (fits)
		*cycles = estimate_together(&time, tiles, outputs, &fits);
	return fits;
}

/* Cycles of the cores from the tile on that uses the last piece of an arriving operand. */
static int64_t cycles_behind(const struct traffic_op *traffic, int operand, int64_t cycles)
{
	const struct loopnest *nest = &traffic->nest;
	double tiles = 1, before = 0;
	for (int i = 0; i < nest->loop_count; i++) {
		int l = nest->order[i];
		if (traffic->arriving.follows[operand] >> l & 1)
			before += tiles * (double)(nest->loops[l].tiles - 1);
		tiles *= (double)nest->loops[l].tiles;
	}
	return (int64_t)((double)cycles * (1 - before / tiles));
}

/* Bytes of an arriving operand behind its first piece. */
static int64_t bytes_behind(const struct traffic_op *traffic, int operand, int64_t bytes)
{
	double pieces = 1;
	for (int l = 0; l < traffic->nest.loop_count; l++)
		if (traffic->arriving.follows[operand] >> l & 1)
			pieces *= (double)traffic->nest.loops[l].tiles;
	return bytes - (int64_t)ceil((double)bytes / pieces);
}

/* Cycles in which all that an op writes leaves, behind what arrives for it. */
static int64_t leaving_cycles(const struct traffic_op *traffic, bool *fits)
{
	struct bus_load load = {
		.written = checked_mul(fits, STICK_BYTES, sticks_written(traffic, fits))};
	if (!load.written)
		return 0;
	latency_load(&load, traffic, traffic->op->read_count, load.written, fits);
	return one_way_cycles(traffic, &load, all_arriving_bytes(traffic, fits), fits);
}

/*
 * The estimate of an op all of whose reads are in LX, some since this phase: they come in the order of the operands, and
 * moves that the op does not read come after them.  An op begins with the first piece of each, and goes on behind
 * the last; its results leave from the first tile on.
 */
static int64_t estimate_arrivals(
	const struct traffic_op *traffic, const struct step_time *time, bool *fits)
{
	int64_t start = 0, end = 0, arrival = 0;
	for (int i = 0; i < traffic->op->read_count; i++) {
		if (!(traffic->arriving.operands >> i & 1))
			continue;
		int64_t all = arriving_bytes(traffic, i, fits);
		if (arrives_first(traffic, i))
			arrival = checked_add(fits, arrival, arrival_time(traffic, i, all, fits));
		int64_t rest = arrival_time(traffic, i, bytes_behind(traffic, i, all), fits);
		start = number_max(start, arrival - rest);
		end = number_max(end, arrival + cycles_behind(traffic, i, time->cores));
	}
	int64_t outputs = traffic_output_tiles(traffic, fits);
	int64_t tiles = checked_mul(fits, outputs, traffic_passes(traffic, fits));
	int64_t rings = checked_add(fits, time->ring, checked_mul(fits, outputs, time->hops));
	if (!*fits)
		return 0;
	int64_t by_cores = number_max(start + time->cores, end) + rings / outputs + time->last;
	int64_t by_ring = start + time->cores / outputs + rings + time->last;
	int64_t by_bus =
		start + time->cores / tiles + rings / outputs + leaving_cycles(traffic, fits);
	return number_max(by_cores, number_max(by_ring, by_bus));
}

/* Bytes of one box of each operand in HBM, on average: on the bus, and through the port of a core; and the loops
 * that move it. */
struct box_bytes {
	double at[OP_READS_MOST + 1], port[OP_READS_MOST + 1];
	uint32_t loops[OP_READS_MOST + 1];
	int reads;
};

static struct box_bytes find_boxes(const struct traffic_op *traffic, const struct step_count *count)
{
	const struct loopnest *nest = &traffic->nest;
	struct box_bytes boxes = {.reads = traffic->op->read_count};
	for (int i = 0; i <= boxes.reads; i++) {
		const struct footprint *footprint = &traffic->operands[i];
		const int64_t *bytes = count->bytes[i];
		double moves = 1, times = 1;
		bool moved = false;
		boxes.loops[i] = footprint->simple | footprint->joint;
		for (int k = nest->loop_count - 1; k >= 0; k--)
			times *= (double)nest->loops[nest->order[k]].tiles;
		for (int k = 0; k < nest->loop_count; k++) {
			double tiles = (double)nest->loops[nest->order[k]].tiles;
			moved |= tiles > 1 && boxes.loops[i] >> nest->order[k] & 1;
			times /= tiles;
			moves += moved ? (tiles - 1) * times : 0;
		}
		boxes.at[i] = (double)(bytes[TRAFFIC_HBM_READ] + bytes[TRAFFIC_HBM_WRITE]) / moves;
		boxes.port[i] = (double)(bytes[TRAFFIC_LX_FILL] + bytes[TRAFFIC_LX_DRAIN]) / moves /
				(double)nest->cores;
	}
	return boxes;
}

/*
 * Tiles one by one.  While a tile computes, the boxes of the next one come in and the result of the one before leaves.
 * Their number depends on the outermost loop that goes on with the tile: a box moves with its own loops and with
 * those inside that begin again.  Boxes that do not move with every tile can also come while the tile before computes,
 * if that has time left.
 */
static int64_t tiles_in_turn(const struct traffic_op *traffic, const struct step_count *count,
	const struct step_time *time, double tiles, int64_t hbm_bytes)
{
	const struct loopnest *nest = &traffic->nest;
	struct box_bytes boxes = find_boxes(traffic, count);
	double cores = (double)time->cores / tiles, sum = cores, times = tiles, often = -1;
	double pace = hbm_bytes ? (double)time->hbm / (double)hbm_bytes : 0;
	double rate = ratio_double(arch_lx(traffic->arch)->fill_rate);
	uint32_t moved = 0;
	for (int k = 0; k < nest->loop_count; k++) {
		int l = nest->order[k];
		double own = (double)nest->loops[l].tiles, in = 0, out = 0, port = 0;
		if (own == 1)
			continue;
		moved |= 1u << l;
		times /= own;
		for (int i = 0; i <= boxes.reads; i++)
			if (boxes.loops[i] & moved) {
				*(i < boxes.reads ? &in : &out) += boxes.at[i] * pace;
				port += rate > 0 ? boxes.port[i] / rate : 0;
			}
		if (often < 0)
			often = in;
		double early = fmin(in - often, fmax(0, cores - often));
		double bus = in + out - early;
		sum += (own - 1) * times * fmax(fmax(bus, port), cores);
	}
	return time->first + (int64_t)sum + time->last - 1; /* both are rounded up */
}

static int64_t hbm_bytes_of(const struct step_count *count, bool *fits)
{
	int64_t bytes = 0;
	for (int i = 0; i <= OP_READS_MOST; i++) {
		bytes = checked_add(fits, bytes, count->bytes[i][TRAFFIC_HBM_READ]);
		bytes = checked_add(fits, bytes, count->bytes[i][TRAFFIC_HBM_WRITE]);
	}
	return bytes;
}

/* The estimate of an op by itself. */
static int64_t estimate_own(const struct traffic_op *traffic, const struct step_count *count,
	const struct step_time *time, int64_t hbm_bytes, bool *fits)
{
	int64_t outputs = traffic_output_tiles(traffic, fits);
	int64_t tiles = checked_mul(fits, outputs, traffic_passes(traffic, fits));
	if (!*fits)
		return 0;
	int64_t in_turn = tiles_in_turn(traffic, count, time, (double)tiles, hbm_bytes);
	return number_max(estimate_together(time, tiles, outputs, fits),
		in_turn + time->ring / outputs + time->hops);
}

bool streaming_phase(const struct traffic_op *traffic, const struct step_count *count,
	const struct moved *moved, int64_t *cycles)
{
	bool streams = false, fits = true;
	int64_t hbm_bytes = hbm_bytes_of(count, &fits);
	for (int i = 0; i < traffic->op->read_count; i++)
		streams |= !traffic_op_is_in_lx(traffic, i);
	if (!moved->hbm || !streams) {
		struct step_time time = find_time(traffic, count, hbm_bytes, &fits);
		*cycles = estimate_own(traffic, count, &time, hbm_bytes, &fits);
		if (moved->hbm)
			*cycles = number_max(*cycles, estimate_arrivals(traffic, &time, &fits));
		*cycles = number_max(*cycles, latency_moved(traffic->arch, moved, &fits));
		return fits;
	}
	struct traffic_op own = *traffic;
	own.arriving = (struct arrivals){0};
	struct step_time time = find_time(&own, count, hbm_bytes, &fits);
	*cycles = checked_add(&fits, estimate_own(&own, count, &time, hbm_bytes, &fits),
		latency_moved(traffic->arch, moved, &fits));
	return fits;
}
