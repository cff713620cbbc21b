#include "tests/support/mechanisms.h"

#include "base/arena.h"
#include "tests/support/spyre.h"

static void set_turn(struct arch *arch)
{
	arch->levels[arch->hbm].storage.turn = (struct ratio){1, 64};
	arch->levels[arch->hbm].storage.turn_repeated = (struct ratio){1, 128};
	arch->levels[arch->hbm].storage.turn_restickify = (struct ratio){3, 128};
	arch->levels[arch->hbm].storage.plane_span = 1024;
}

static void set_write_span(struct arch *arch)
{
	arch->levels[arch->hbm].storage.write_span = 512;
	arch->levels[arch->hbm].storage.write_far = (struct ratio){1, 128};
}

static void set_lanes(struct arch *arch)
{
	arch->lane_cores = 4;
	arch->lane_rate = (struct ratio){64, 1};
}

/* Two lanes that slow nothing themselves. */
static void set_lone_lane(struct arch *arch)
{
	arch->levels[arch->hbm].storage.turn = (struct ratio){1, 64};
	arch->levels[arch->hbm].storage.turn_repeated = (struct ratio){1, 32};
	arch->levels[arch->hbm].storage.turn_restickify = (struct ratio){1, 16};
	arch->lane_cores = 4;
}

static void set_plane(struct arch *arch)
{
	arch->levels[arch->hbm].storage.plane_span = 256;
	arch->levels[arch->hbm].storage.plane = (struct ratio){1, 64};
}

static void set_run(struct arch *arch)
{
	arch->levels[arch->hbm].storage.run =
		(struct ratio){840, 1}; /* whole parts for 1 to 8 cores */
	arch->levels[arch->hbm].storage.run_bytes = 1024;
}

static void set_pages(struct arch *arch)
{
	struct level *hbm = &arch->levels[arch->hbm];
	hbm->storage.run = (struct ratio){840, 1};
	hbm->storage.run_bytes = 256;
	hbm->storage.page = (struct ratio){1, 1};
	hbm->storage.page_bytes = 1024;
	hbm->storage.open_planes = 1;
}

/* No run is too short, so that only blocks find closed pages. */
static void set_blocks(struct arch *arch)
{
	struct level *hbm = &arch->levels[arch->hbm];
	set_pages(arch);
	hbm->storage.run_bytes = 128;
	hbm->storage.page_bytes = 128;
}

static void set_tile(struct arch *arch)
{
	arch->levels[arch->compute].compute.tile_cycles = 17;
}

static void set_streams(struct arch *arch)
{
	arch->levels[arch->compute].compute.operand_rate = (struct ratio){1, 1};
}

static void set_restickify(struct arch *arch)
{
	arch->levels[arch->compute].compute.restickify_rate = (struct ratio){1, 4};
}

static void set_strided(struct arch *arch)
{
	arch->levels[arch->compute].compute.strided_mac_rate = (struct ratio){1, 16};
}

static void set_reduction(struct arch *arch)
{
	arch->levels[arch->compute].compute.reduction_rate = (struct ratio){1, 4};
}

static void set_bus(struct arch *arch)
{
	arch->levels[arch->hbm].storage.store.shared_rate = (struct ratio){16, 1};
}

static void set_reads(struct arch *arch)
{
	arch->levels[arch->hbm].storage.store.read_rate = (struct ratio){16, 1};
	arch->levels[arch->hbm].storage.store.shared = false;
}

static void set_writes(struct arch *arch)
{
	arch->levels[arch->hbm].storage.store.write_rate = (struct ratio){16, 1};
	arch->levels[arch->hbm].storage.store.shared = false;
}

static void set_port(struct arch *arch)
{
	arch->levels[arch->lx].storage.fill_rate = (struct ratio){32, 1};
}

static void set_lx_reads(struct arch *arch)
{
	arch->levels[arch->lx].storage.store.read_rate = (struct ratio){16, 1};
}

static void set_lx_writes(struct arch *arch)
{
	arch->levels[arch->lx].storage.store.write_rate = (struct ratio){16, 1};
}

static void set_lx_shared(struct arch *arch)
{
	arch->levels[arch->lx].storage.store.shared = true;
	arch->levels[arch->lx].storage.store.shared_rate = (struct ratio){16, 1};
}

/* Rates that reductions and restickify have if they have none of their own, and maps beside that of their operands. */
static void set_arithmetic(struct arch *arch)
{
	struct level *array = &arch->levels[arch->compute];
	array->compute.mac_rate = (struct ratio){1, 4};
	array->compute.vector_rate = (struct ratio){1, 5};
	array->compute.operand_rate = (struct ratio){1, 2};
}

/* Each operand in strides slows the array as the first one does. */
static void set_slower(struct arch *arch)
{
	arch->levels[arch->compute].compute.mac_rate = (struct ratio){1, 4};
	arch->levels[arch->compute].compute.strided_mac_rate = (struct ratio){1, 12};
}

/* An element comes out of LX as fast as it is computed. */
static void set_beside(struct arch *arch)
{
	arch->levels[arch->compute].compute.mac_rate = (struct ratio){1, 4};
	arch->levels[arch->compute].compute.vector_rate = (struct ratio){1, 5};
	arch->levels[arch->lx].storage.store.read_rate = (struct ratio){1, 4};
}

static void set_ring(struct arch *arch)
{
	arch->reduce_ring.rate = (struct ratio){32, 1};
}

const struct mechanism mechanisms[] = {
	{"turn", set_turn, 100, false, false, false},
	{"writes by size", set_write_span, 100, false, false, false},
	{"lanes", set_lanes, 90, false, false, false},
	{"turns on one lane", set_lone_lane, 100, false, false, false},
	{"planes", set_plane, 100, false, false, false},
	{"runs", set_run, 98, false, false, false},
	{"blocks", set_blocks, 100, false, true, true},
	{"pages", set_pages, 98, false, true, false},
	{"tiles", set_tile, 100, false, false, false},
	{"strides", set_strided, 100, false, false, true},
	{"reductions", set_reduction, 100, false, false, true},
	{"streams of maps", set_streams, 100, false, false, false},
	{"restickify", set_restickify, 100, false, false, true},
	{"bus", set_bus, 100, false, false, false},
	{"reads of HBM", set_reads, 100, false, false, false},
	{"writes of HBM", set_writes, 100, false, false, false},
	{"port of a core", set_port, 100, false, false, false},
	{"reads of LX", set_lx_reads, 100, false, false, false},
	{"writes of LX", set_lx_writes, 100, false, false, false},
	{"one port of LX", set_lx_shared, 100, false, false, false},
	{"arithmetic", set_arithmetic, 100, false, false, false},
	{"strides beside arithmetic", set_slower, 100, false, false, false},
	{"arithmetic beside LX", set_beside, 90, true, false, false},
	{"reduce ring", set_ring, 90, true, false, true},
};
const int mechanism_count = sizeof mechanisms / sizeof *mechanisms;

struct arch *ideal_arch(struct arena *arena, int cores)
{
	const struct ratio unlimited = {0, 1};
	struct arch *arch = arena_copy(arena, spyre_arch(arena, cores), sizeof *arch);
	struct level *hbm = &arch->levels[arch->hbm], *lx = &arch->levels[arch->lx];
	hbm->storage.store.shared_rate = unlimited;
	lx->storage.store.read_rate = lx->storage.store.write_rate = lx->storage.fill_rate =
		unlimited;
	arch->levels[arch->compute].compute.mac_rate =
		arch->levels[arch->compute].compute.vector_rate = unlimited;
	arch->bundle_cycles = arch->core_cycles = 0;
	arch->reduce_ring.rate = arch->data_ring.rate = unlimited;
	for (int i = 0; i <= RING_PARTS_MOST - RING_PARTS_LEAST; i++)
		arch->data_ring.run_cycles[i] = unlimited;
	return arch;
}

const struct arch *mechanisms_arch(struct arena *arena, int cores)
{
	struct arch *arch = arena_copy(arena, spyre_arch(arena, cores), sizeof *arch);
	for (int m = 0; mechanisms[m].set != set_bus; m++)
		mechanisms[m].set(arch);
	/* Faster by far than alone: transfers count beside them. */
	struct level *array = &arch->levels[arch->compute];
	array->compute.strided_mac_rate = (struct ratio){16, 1};
	array->compute.restickify_rate = array->compute.reduction_rate = (struct ratio){4, 1};
	return arch;
}
