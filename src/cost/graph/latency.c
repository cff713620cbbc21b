#include "cost/graph/latency.h"

#include "base/arena.h"
#include "base/number.h"
#include "base/wide.h"
#include "cost/graph/footprint.h"

#include <math.h>
#include <stdlib.h>

const char *const resource_names[] = {
	[RESOURCE_HBM] = "hbm",
	[RESOURCE_FILL] = "fill",
	[RESOURCE_LX_READ] = "lx_read",
	[RESOURCE_LX_WRITE] = "lx_write",
	[RESOURCE_LX] = "lx",
	[RESOURCE_COMPUTE] = "compute",
	[RESOURCE_RING] = "ring",
	[RESOURCE_DATA_RING] = "data_ring",
	[RESOURCE_LINKS] = "links",
	[RESOURCE_COUNT] = NULL,
};

int latency_phases(const struct plan *plan, struct arena *arena, struct phase_cost **out)
{
	struct phase_cost *phases = arena_array(arena, struct phase_cost, plan->step_count);
	int count = 0;
	for (int step = 0; step < plan->step_count; step++) {
		bool joins = count > 0 && step > 0 && plan_joins_next(plan, step - 1);
		if (!joins)
			phases[count++].first_step = step;
		phases[count - 1].end_step = step + 1;
	}
	*out = phases;
	return count;
}

/* Returns the mask of the loops that move an operand. */
static uint32_t moving_loops(const struct op *op, int i)
{
	return affine_loops(&op_operand(op, i)->linear);
}

/* Returns the loop of the rows of operand i: the longest that moves it, but neither its stick nor all operands; -1. */
static int row_loop(const struct workload *workload, const struct op *op, int i)
{
	const struct access *access = op_operand(op, i);
	int stick = workload->tensors[access->tensor].layout.stick_dim, longest = -1;
	uint32_t batch = UINT32_MAX;
	for (int k = 0; k < op_operands(op); k++)
		batch &= moving_loops(op, k);
	for (int l = 0; l < op->loop_count; l++) {
		if (!access->linear.coefficient[l] || batch >> l & 1 ||
			(stick >= 0 && access->host[stick].coefficient[l]))
			continue;
		if (longest < 0 || op->loops[l].extent > op->loops[longest].extent)
			longest = l;
	}
	return longest;
}

/* Returns the number of operands whose next stick in memory is not of the next row. */
static int strided_reads(const struct workload *workload, const struct op *op)
{
	int count = 0;
	for (int i = 0; i < op->read_count; i++) {
		int row = row_loop(workload, op, i);
		count += row >= 0 && !(access_row_loops(workload, op_operand(op, i)) >> row & 1);
	}
	return count;
}

/* Elements of 2 bytes run at the rate given, of 1 byte at twice, of 4 at half of it. */
static struct ratio array_rate(
	const struct compute_level *unit, const struct workload *workload, const struct op *op)
{
	int widest = 1;
	for (int i = 0; i < op->read_count; i++) {
		enum dtype dtype = workload->tensors[op->reads[i].tensor].layout.dtype;
		widest = (int)number_max(widest, dtype_stored_bytes(dtype));
	}
	struct ratio rate = unit->mac_rate, slower;
	int strided = unit->strided_mac_rate.num ? strided_reads(workload, op) : 0;
	if (strided && !rate.num)
		rate = unit->strided_mac_rate;
	else if (strided && ratio_div(unit->strided_mac_rate, rate, &slower))
		while (strided-- > 0)
			ratio_mul(rate, slower, &rate);
	ratio_mul(rate, (struct ratio){2, widest}, &rate);
	return rate;
}

/* Returns the elements per cycle of a map: each takes one of every operand that moves, and makes one. */
static struct ratio map_rate(const struct compute_level *unit, const struct op *op)
{
	struct ratio rate = unit->vector_rate, most = unit->operand_rate;
	int streams = 1;
	for (int i = 0; i < op->read_count; i++)
		streams += moving_loops(op, i) != 0;
	if (op->primitive->kind != OP_MAP || !most.num ||
		!ratio_div(most, (struct ratio){streams, 1}, &most))
		return rate;
	return rate.num && (wide)rate.num * most.den < (wide)most.num * rate.den ? rate : most;
}

struct ratio latency_rate(
	const struct arch *arch, const struct workload *workload, const struct op *op)
{
	const struct level *level = &arch->levels[op_unit(arch, op)];
	const struct compute_level *unit = level_compute(level);
	bool multiplies = op->primitive->unit == UNIT_MAC, nests = op_has_inner_nest(arch, op);
	struct ratio own = op->primitive->kind == OP_REDUCE       ? unit->reduction_rate
			   : op->primitive->kind == OP_RESTICKIFY ? unit->restickify_rate
								  : (struct ratio){0, 1};
	struct ratio rate = own.num       ? own
			    : !multiplies ? map_rate(unit, op)
			    : nests       ? unit->mac_rate
					  : array_rate(unit, workload, op);
	struct ratio units = {1, 1};
	if (ratio_make(level->instances, arch_cores(arch), &units))
		ratio_mul(rate, units, &rate);
	return rate;
}

/* Cycles at a rate; nothing takes time where no rate is given. */
static int64_t cycles_of(int64_t work, struct ratio rate, bool *fits)
{
	int64_t cycles = 0;
	if (rate.num > 0 && !ratio_time(work, rate, &cycles))
		*fits = false;
	return cycles;
}

/* Cycles of a memory's reads and writes: one port for both, or one for each. */
static void memory_cycles(const struct storage *store, int64_t read, int64_t written,
	int64_t *read_cycles, int64_t *write_cycles, bool *fits)
{
	struct storage_ports ports = storage_ports(store);
	if (ports.shared) {
		*read_cycles = cycles_of(checked_add(fits, read, written), ports.read, fits);
		*write_cycles = *read_cycles;
	} else {
		*read_cycles = cycles_of(read, ports.read, fits);
		*write_cycles = cycles_of(written, ports.write, fits);
	}
}

int64_t latency_lx(const struct arch *arch, int64_t read, int64_t written, bool *fits)
{
	int64_t read_cycles, write_cycles;
	memory_cycles(&arch_lx(arch)->store, read, written, &read_cycles, &write_cycles, fits);
	return number_max(read_cycles, write_cycles);
}

int64_t latency_hbm(const struct arch *arch, int64_t read, int64_t written, bool *fits)
{
	int64_t read_cycles, write_cycles;
	memory_cycles(&arch_hbm(arch)->store, read, written, &read_cycles, &write_cycles, fits);
	return number_max(read_cycles, write_cycles);
}

/* Whole cycles that have passed. */
static int64_t turn_cycles(int64_t bytes, struct ratio turn, bool *fits)
{
	int64_t cycles = 0;
	struct ratio all;
	if (!bytes)
		return 0;
	if (turn.num && !ratio_mul(turn, (struct ratio){bytes, 1}, &all))
		*fits = false;
	else if (turn.num)
		cycles = all.num / all.den;
	return cycles;
}

/* Bytes from one plane of a tensor to the next; 0: it has one plane. */
static int64_t planes_apart(const struct workload *workload, const struct access *access)
{
	const struct layout *layout = &workload->tensors[access->tensor].layout;
	return layout->rank > 2 ? layout->size[layout->rank - 2] * STICK_BYTES : 0;
}

/* True if an operand of a map is read again while another one goes on: one value for all elements only where the
 * planes of the result lie plane_span apart. */
static bool traffic_op_repeats(const struct traffic_op *op)
{
	const struct op *map = op->op;
	uint32_t all = 0, common = UINT32_MAX;
	bool single = false;
	for (int i = 0; i < map->read_count && map->primitive->kind == OP_MAP; i++) {
		uint32_t moved = moving_loops(map, i);
		single |= !moved;
		all |= moved;
		common &= moved ? moved : UINT32_MAX;
	}
	if (all & ~common)
		return true;
	return single && all &&
	       planes_apart(op->workload, &map->writes[0]) >= arch_hbm(op->arch)->plane_span;
}

/* Indices of device dimension d that a tile of operand i has at most. */
static int64_t tile_extent(const struct traffic_op *op, int i, const struct layout *layout, int d)
{
	const struct access *access = op_operand(op->op, i);
	int64_t span = 0, per = layout->part[d] == PART_STICK_OUTER ? layout->per_stick : 1;
	if (layout->host_dim[d] < 0)
		return 1;
	const struct affine *host = &access->host[layout->host_dim[d]];
	for (int l = 0; l < op->nest.loop_count; l++)
		span += llabs(host->coefficient[l]) * (op->nest.loops[l].chunk - 1);
	return number_min(layout->size[d], span / per + 1 + ((span + 1) % per != 0));
}

/* Sticks that lie in a row in a tile of operand i, at most; planes that such a row is one of, at least. */
static int64_t run_sticks(const struct traffic_op *op, int i, int64_t *planes)
{
	const struct layout *layout = &op->workload->tensors[op_operand(op->op, i)->tensor].layout;
	int64_t run = 1;
	*planes = layout->sticks;
	for (int d = layout->rank - 2; d >= 0; d--) {
		int64_t extent = tile_extent(op, i, layout, d);
		run *= extent;
		*planes /= layout->size[d];
		if (extent < layout->size[d])
			break;
	}
	return run;
}

/* Returns the mask of the loops that move device dimension d of operand i. */
static uint32_t dim_loops(const struct traffic_op *op, int i, int d)
{
	const struct access *access = op_operand(op->op, i);
	const struct layout *layout = &op->workload->tensors[access->tensor].layout;
	return layout->host_dim[d] < 0 ? 0 : affine_loops(&access->host[layout->host_dim[d]]);
}

/* Returns the mask of the loops that move the innermost dimension longer than 1 outside the sticks of operand i. */
static uint32_t inner_loops(const struct traffic_op *op, int i, int *dim)
{
	const struct layout *layout = &op->workload->tensors[op_operand(op->op, i)->tensor].layout;
	*dim = layout->rank - 2;
	while (*dim >= 0 && layout->size[*dim] == 1)
		--*dim;
	return *dim < 0 ? 0 : dim_loops(op, i, *dim);
}

/*
 * Returns the sticks of operand i in a block of a map that writes in another order than it reads; 0 if an operand has
 * the order of the result.  A block is a piece of the innermost dimension of the result, at most run_bytes long.
 * `planes`: blocks from one stick of an operand to its next one.
 */
static int64_t block_sticks(const struct traffic_op *op, int i, int64_t *planes)
{
	const struct storage_level *hbm = arch_hbm(op->arch);
	const struct layout *layout = &op->workload->tensors[op->op->writes[0].tensor].layout;
	int reads = op->op->read_count, inner, dim;
	uint32_t own = inner_loops(op, reads, &inner), others = 0;
	for (int k = 0; k < reads; k++)
		others |= inner_loops(op, k, &dim);
	if (!others || !own || own & others)
		return 0;
	*planes = 1;
	for (int d = inner - 1; d >= 0 && !(dim_loops(op, reads, d) & others); d--)
		*planes *= layout->size[d];
	if (i < reads && !(moving_loops(op->op, i) & own))
		return 1;
	return hbm->run_bytes ? number_min(layout->size[inner],
					number_max(1, hbm->run_bytes / STICK_BYTES))
			      : layout->size[inner];
}

/* Number of operands that a map reads over all planes of its result: more than one take each other's pages. */
static int streams_of(const struct traffic_op *op)
{
	const struct op *map = op->op;
	uint32_t planes = moving_loops(map, map->read_count) &
			  ~access_row_loops(op->workload, &map->writes[0]);
	int count = 0;
	for (int i = 0; i < map->read_count; i++)
		count += (moving_loops(map, i) & planes) != 0;
	return count;
}

/* Adds the runs and misses of operand i. */
static void load_runs(
	struct bus_load *load, const struct traffic_op *op, int i, int64_t sticks, bool *fits)
{
	const struct storage_level *hbm = arch_hbm(op->arch);
	int64_t planes = 1, block = hbm->page.num ? block_sticks(op, i, &planes) : 0;
	if (block) {
		load->misses = checked_add(
			fits, load->misses, arch_block_misses(op->arch, planes, sticks / block));
		return;
	}
	int64_t run = run_sticks(op, i, &planes);
	if (!hbm->run_bytes || run * STICK_BYTES < hbm->run_bytes)
		load->runs = checked_add(fits, load->runs, sticks / run);
	else if (run * STICK_BYTES < hbm->page_bytes && streams_of(op) > 1)
		load->misses = checked_add(
			fits, load->misses, arch_misses(op->arch, planes, sticks / run));
}

/* True if an op reads row by row, over all planes: no operand stays the same within a plane, but goes on with the
 * planes.  A map of one operand reads plane by plane. */
static bool crosses_planes(const struct traffic_op *op)
{
	enum op_kind kind = op->op->primitive->kind;
	uint32_t rows = access_row_loops(op->workload, &op->op->writes[0]), moved;
	for (int i = 0; i < op->op->read_count && kind == OP_MAP; i++)
		if ((moved = moving_loops(op->op, i)) && !(moved & rows))
			return false;
	return kind == OP_MAP ? op->op->read_count > 1 : kind != OP_RESTICKIFY;
}

void latency_load_lanes(
	struct lane_load *load, const struct traffic_op *op, int operand, int64_t bytes, bool *fits)
{
	const struct lane_shares *shares = &op->lanes[operand];
	int64_t lanes = shares->all ? arch_lanes(op->arch, op->nest.cores) : 0;
	for (int64_t i = 0; i < lanes; i++) {
		wide part = (wide)bytes * shares->of[i] / shares->all / LANE_PARTS;
		load->of[i] = checked_add(fits, load->of[i], (int64_t)part);
	}
}

void latency_load(
	struct bus_load *load, const struct traffic_op *op, int i, int64_t bytes, bool *fits)
{
	const struct storage_level *hbm = arch_hbm(op->arch);
	int64_t size = op->workload->tensors[op->op->writes[0].tensor].layout.bytes;
	if (!bytes || op->moves || op->op->move != MOVE_NONE)
		return;
	if (i < op->op->read_count)
		latency_load_lanes(&load->lanes, op, i, bytes, fits);
	if (hbm->run.num && op->op->primitive->kind == OP_MAP)
		load_runs(load, op, i, bytes / STICK_BYTES, fits);
	if (i == op->op->read_count && op->op->primitive->kind != OP_RESTICKIFY)
		load->doubled = checked_add(fits, load->doubled,
			checked_mul(fits, bytes, arch_write_doublings(op->arch, size)));
	if (i == op->op->read_count || !crosses_planes(op))
		return;
	int64_t apart = planes_apart(op->workload, &op->op->reads[i]);
	int64_t part = op->op->primitive->kind == OP_MAP ? bytes / 2 : bytes;
	load->far = checked_add(
		fits, load->far, checked_mul(fits, part, arch_plane_doublings(op->arch, apart)));
}

/* Returns whole cycles of waits: the cores of an op wait together, each for its share of `count`. */
static int64_t waiting_cycles(
	const struct traffic_op *op, int64_t count, struct ratio each, bool *fits)
{
	struct ratio share = each;
	if (!count)
		return 0;
	if (each.num && !ratio_div(each, (struct ratio){op->nest.cores, 1}, &share))
		*fits = false;
	return turn_cycles(count, share, fits);
}

int64_t latency_lanes(const struct arch *arch, int64_t read, int64_t cores, bool *fits)
{
	int64_t count = arch_lanes(arch, cores);
	struct ratio lanes;
	if (!count || !ratio_mul(arch->lane_rate, (struct ratio){count, 1}, &lanes))
		return 0;
	return cycles_of(read, lanes, fits);
}

/* Cycles of the lane that is longest at work. */
static int64_t lanes_cycles(const struct arch *arch, const struct lane_load *own,
	const struct lane_load *moved, bool *fits)
{
	int64_t lanes = arch_lanes(arch, arch_cores(arch)), most = 0;
	for (int64_t i = 0; i < lanes; i++)
		most = number_max(most, checked_add(fits, own ? own->of[i] : 0, moved->of[i]));
	return cycles_of(most, arch->lane_rate, fits);
}

void moved_add(
	struct moved *sum, const struct traffic_op *move, int64_t hbm, int64_t fill, bool *fits)
{
	sum->hbm = checked_add(fits, sum->hbm, hbm);
	sum->fill = checked_add(fits, sum->fill, fill);
	if (hbm)
		latency_load_lanes(&sum->lanes, move, 0, hbm, fits);
}

void moved_join(struct moved *sum, const struct moved *other, const struct arch *arch, bool *fits)
{
	int64_t lanes = arch_lanes(arch, arch_cores(arch));
	sum->hbm = checked_add(fits, sum->hbm, other->hbm);
	sum->fill = checked_add(fits, sum->fill, other->fill);
	for (int64_t i = 0; i < lanes; i++)
		sum->lanes.of[i] = checked_add(fits, sum->lanes.of[i], other->lanes.of[i]);
}

int64_t latency_moved(const struct arch *arch, const struct moved *moved, bool *fits)
{
	return number_max(latency_hbm(arch, moved->hbm, 0, fits),
		lanes_cycles(arch, NULL, &moved->lanes, fits));
}

/* Returns the time of a turn for each byte.  It hides in part behind the other lanes: the share of lanes that serve no
 * core of the op adds to it. */
static struct ratio traffic_op_find_turn(const struct traffic_op *op, bool *fits)
{
	const struct storage_level *hbm = arch_hbm(op->arch);
	struct ratio turn = traffic_op_repeats(op) ? hbm->turn_repeated : hbm->turn, more;
	if (op->op->primitive->kind == OP_RESTICKIFY)
		return hbm->turn_restickify;
	int64_t lanes = arch_lanes(op->arch, arch_cores(op->arch));
	int64_t idle = lanes - arch_lanes(op->arch, op->nest.cores);
	if (turn.num && idle &&
		(!ratio_make(lanes + idle, lanes, &more) || !ratio_mul(turn, more, &turn)))
		*fits = false;
	return turn;
}

int64_t latency_turns(const struct traffic_op *op, int64_t bytes, bool *fits)
{
	return bytes ? turn_cycles(bytes, traffic_op_find_turn(op, fits), fits) : 0;
}

int64_t latency_bus(const struct traffic_op *op, const struct bus_load *load, bool *fits)
{
	const struct arch *arch = op->arch;
	const struct storage_level *hbm = arch_hbm(arch);
	int64_t read = checked_add(fits, load->read, load->moved.hbm);
	int64_t cycles = latency_hbm(arch, read, load->written, fits);
	int64_t both = number_min(read, load->written);
	cycles = checked_add(fits, cycles, latency_turns(op, both, fits));
	cycles = checked_add(fits, cycles, turn_cycles(load->doubled, hbm->write_far, fits));
	cycles = checked_add(fits, cycles, turn_cycles(load->far, hbm->plane, fits));
	cycles = checked_add(fits, cycles, waiting_cycles(op, load->runs, hbm->run, fits));
	cycles = checked_add(fits, cycles, waiting_cycles(op, load->misses, hbm->page, fits));
	int64_t even = latency_lanes(arch, load->read, op->nest.cores, fits);
	return number_max(number_max(cycles, even),
		lanes_cycles(arch, &load->lanes, &load->moved.lanes, fits));
}

/* Cycles that fill and drain the array for each tile of an einsum. */
static int64_t tile_cycles(const struct traffic_op *op, bool *fits)
{
	const struct compute_level *unit =
		level_compute(&op->arch->levels[op_unit(op->arch, op->op)]);
	if (op->op->primitive->unit != UNIT_MAC || !unit->tile_cycles)
		return 0;
	return checked_mul(fits, loopnest_tiles(&op->nest, op->nest.all, fits), unit->tile_cycles);
}

static void add_share(struct core_work *work, const struct arch *arch, const struct traffic_op *op,
	const struct step_count *share, bool *fits)
{
	int64_t hops = loopnest_splits(&op->nest, op->nest.reductions) - 1;
	for (int i = 0; i <= OP_READS_MOST; i++) {
		const int64_t *bytes = share->bytes[i];
		work->fill = checked_add(fits, work->fill, bytes[TRAFFIC_LX_FILL]);
		work->fill = checked_add(fits, work->fill, bytes[TRAFFIC_LX_DRAIN]);
		work->lx_read = checked_add(fits, work->lx_read, bytes[TRAFFIC_LX_READ]);
		work->lx_write = checked_add(fits, work->lx_write, bytes[TRAFFIC_LX_WRITE]);
		if (hops > 0)
			work->link = checked_add(fits, work->link, bytes[TRAFFIC_RING] / hops);
	}
	if (op->inner)
		work->compute_cycles = checked_add(fits, work->compute_cycles,
			checked_mul(fits, op->inner->score.cycles, op->inner->tiles));
	else if (share->computes > 0)
		work->compute_cycles = checked_add(fits, work->compute_cycles,
			checked_add(fits, tile_cycles(op, fits),
				cycles_of(share->computes, op->rate, fits)));
}

void latency_add(struct core_work *work, const struct arch *arch, const struct traffic_op *op,
	int64_t core, bool *fits)
{
	struct step_count share;
	if (!traffic_count_core(op, core, &share))
		*fits = false;
	add_share(work, arch, op, &share, fits);
}

void latency_add_inside(struct core_work *work, const struct arch *arch,
	const struct traffic_op *op, int64_t core, bool *fits)
{
	struct step_count share;
	if (!traffic_count_inside(op, core, &share))
		*fits = false;
	add_share(work, arch, op, &share, fits);
}

static void latency_raise_to(int64_t *most, int64_t cycles)
{
	*most = number_max(*most, cycles);
}

void latency_raise(
	int64_t *resources, const struct arch *arch, const struct core_work *work, bool *fits)
{
	const struct storage_level *lx = arch_lx(arch);
	int64_t read, write;
	memory_cycles(&lx->store, work->lx_read, work->lx_write, &read, &write, fits);
	latency_raise_to(&resources[RESOURCE_FILL], cycles_of(work->fill, lx->fill_rate, fits));
	latency_raise_to(&resources[RESOURCE_LX_READ], read);
	latency_raise_to(&resources[RESOURCE_LX_WRITE], write);
	latency_raise_to(&resources[RESOURCE_COMPUTE], work->compute_cycles);
	latency_raise_to(
		&resources[RESOURCE_RING], cycles_of(work->link, arch->reduce_ring.rate, fits));
}

/* `last` is the op of the last step; NULL: one that nothing is known of. */
static void find_hbm(const struct plan *plan, const struct counts *counts,
	const struct traffic_op *ops, const struct traffic_op *last, struct phase_cost *phase,
	bool *fits)
{
	struct bus_load load = {0};
	for (int step = phase->first_step; step < phase->end_step; step++) {
		bool own = last && step + 1 == phase->end_step && !last->moves;
		const struct traffic_op *op = &ops[step - phase->first_step];
		for (int i = 0; i <= OP_READS_MOST; i++) {
			const int64_t *bytes = counts->steps[step].bytes[i];
			int64_t read = bytes[TRAFFIC_HBM_READ], written = bytes[TRAFFIC_HBM_WRITE];
			if (own)
				load.read = checked_add(fits, load.read, read);
			else
				moved_add(&load.moved, op, read, 0, fits);
			if (own && i < op_operands(op->op))
				latency_load(&load, op, i, read + written, fits);
			load.written = checked_add(fits, load.written, written);
		}
	}
	int64_t bus = last ? latency_bus(last, &load, fits)
			   : latency_hbm(plan->arch, load.moved.hbm, load.written, fits);
	phase->resource[RESOURCE_HBM] =
		number_max(bus, latency_moved(plan->arch, &load.moved, fits));
}

/* All cores, unless no slice can be larger than the first. */
static void find_cores(
	const struct plan *plan, const struct traffic_op *ops, struct phase_cost *phase, bool *fits)
{
	int steps = phase->end_step - phase->first_step;
	int64_t cores = 1;
	for (int i = 0; i < steps; i++)
		if (!traffic_is_even(&ops[i]))
			cores = number_max(cores, ops[i].nest.cores);
	for (int64_t core = 0; core < cores; core++) {
		struct core_work work = {0};
		for (int i = 0; i < steps; i++)
			latency_add(&work, plan->arch, &ops[i], core, fits);
		latency_raise(phase->resource, plan->arch, &work, fits);
	}
}

int64_t latency_nest(const struct traffic_op *op, bool *fits)
{
	return op->inner ? checked_mul(fits, op->inner->score.cycles, op->inner->tiles) : 0;
}

/*
 * Steps that are nests follow each other.  Home and scratchpad are listed if they are slower than the
 * multipliers, and all levels inside them count as the array.
 */
static int64_t find_nests(const struct traffic_op *ops, int steps, int64_t *resources, bool *fits)
{
	int64_t cycles = 0;
	for (int s = 0; s < steps; s++) {
		const struct inner_cost *inner = ops[s].inner;
		if (!inner || !inner->model)
			continue;
		int64_t inside = inner->counts.compute_cycles + inner->counts.array_cycles;
		for (int i = 0; i < inner->nest.hierarchy->level_count; i++) {
			int64_t level = inner->score.level_cycles[i];
			enum resource resource = i == inner->home         ? RESOURCE_HBM
						 : i == inner->scratchpad ? RESOURCE_LX
									  : RESOURCE_COMPUTE;
			if (resource == RESOURCE_COMPUTE)
				inside = number_max(inside, level);
			else if (level > inner->counts.compute_cycles)
				resources[resource] = checked_add(fits, resources[resource], level);
		}
		resources[RESOURCE_COMPUTE] =
			checked_add(fits, resources[RESOURCE_COMPUTE], inside);
		cycles = checked_add(fits, cycles, latency_nest(&ops[s], fits));
	}
	return cycles;
}

static void find_links(
	const struct plan *plan, struct phase_cost *phase, struct arena *arena, bool *fits)
{
	for (int s = phase->first_step; s < phase->end_step; s++) {
		const struct step *step = &plan->steps[s];
		int64_t cycles = 0;
		if (step->staging &&
			!staging_cycles(plan->arch, plan->workload, &plan->workload->ops[step->op],
				step->staging, arena, &cycles))
			*fits = false;
		phase->resource[RESOURCE_LINKS] =
			checked_add(fits, phase->resource[RESOURCE_LINKS], cycles);
	}
}

bool latency_phase(const struct plan *plan, const struct counts *counts,
	const struct traffic_op *ops, struct arena *arena, struct phase_cost *phase)
{
	bool fits = true;
	const struct traffic_op *own = &ops[phase->first_step], *last = &ops[phase->end_step - 1];
	phase->cycles = 0;
	if (own->relayout) {
		phase->resource[RESOURCE_DATA_RING] = own->relayout->cycles;
	} else if (arch_moves_boxes(plan->arch)) {
		find_hbm(plan, counts, own, op_is_tiled(last->op) ? last : NULL, phase, &fits);
		find_cores(plan, own, phase, &fits);
		find_links(plan, phase, arena, &fits);
	} else if (op_is_tiled(own->op)) {
		phase->cycles = find_nests(
			own, phase->end_step - phase->first_step, phase->resource, &fits);
	} else {
		find_hbm(plan, counts, own, NULL, phase, &fits);
	}
	for (int r = 0; r < RESOURCE_COUNT; r++)
		latency_raise_to(&phase->cycles, phase->resource[r]);
	return fits;
}
