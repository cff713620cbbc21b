#include "tests/support/mechanisms.h"

#include "base/arena.h"
#include "tests/support/spyre.h"

static void set_turn(struct arch *arch)
{
	arch->levels[arch->hbm].turn = (struct ratio){1, 64};
	arch->levels[arch->hbm].turn_repeated = (struct ratio){1, 128};
	arch->levels[arch->hbm].turn_restickify = (struct ratio){3, 128};
	arch->levels[arch->hbm].plane_span = 1024;
}

static void set_write_span(struct arch *arch)
{
	arch->levels[arch->hbm].write_span = 512;
	arch->levels[arch->hbm].write_far = (struct ratio){1, 128};
}

static void set_lanes(struct arch *arch)
{
	arch->lane_cores = 4;
	arch->lane_rate = (struct ratio){64, 1};
}

/* Two lanes that slow nothing themselves. */
static void set_lone_lane(struct arch *arch)
{
	arch->levels[arch->hbm].turn = (struct ratio){1, 64};
	arch->levels[arch->hbm].turn_repeated = (struct ratio){1, 32};
	arch->levels[arch->hbm].turn_restickify = (struct ratio){1, 16};
	arch->lane_cores = 4;
}

static void set_plane(struct arch *arch)
{
	arch->levels[arch->hbm].plane_span = 256;
	arch->levels[arch->hbm].plane = (struct ratio){1, 64};
}

static void set_run(struct arch *arch)
{
	arch->levels[arch->hbm].run = (struct ratio){2, 1};
	arch->levels[arch->hbm].run_bytes = 1024;
}

static void set_pages(struct arch *arch)
{
	struct level *hbm = &arch->levels[arch->hbm];
	hbm->run = (struct ratio){2, 1};
	hbm->run_bytes = 256;
	hbm->page = (struct ratio){1, 1};
	hbm->page_bytes = 4096;
	hbm->open_planes = 1;
}

/* No run is too short, so that only blocks find closed pages. */
static void set_blocks(struct arch *arch)
{
	struct level *hbm = &arch->levels[arch->hbm];
	set_pages(arch);
	hbm->run_bytes = 128;
	hbm->page_bytes = 128;
}

static void set_tile(struct arch *arch)
{
	arch->levels[arch->compute].tile_cycles = 17;
}

static void set_streams(struct arch *arch)
{
	arch->levels[arch->compute].operand_rate = (struct ratio){1, 1};
}

static void set_restickify(struct arch *arch)
{
	arch->levels[arch->compute].restickify_rate = (struct ratio){4, 1};
}

static void set_strided(struct arch *arch)
{
	arch->levels[arch->compute].strided_mac_rate = (struct ratio){16, 1};
}

static void set_reduction(struct arch *arch)
{
	arch->levels[arch->compute].reduction_rate = (struct ratio){4, 1};
}

const struct mechanism mechanisms[] = {
	{"turn", set_turn, 100, false},
	{"writes by size", set_write_span, 100, false},
	{"lanes", set_lanes, 50, false},
	{"turns on one lane", set_lone_lane, 100, false},
	{"planes", set_plane, 100, false},
	{"runs", set_run, 82, false},
	{"blocks", set_blocks, 94, true},
	{"pages", set_pages, 82, false},
	{"tiles", set_tile, 100, false},
	{"strides", set_strided, 90, true},
	{"reductions", set_reduction, 95, true},
	{"streams of maps", set_streams, 90, false},
	{"restickify", set_restickify, 90, true},
};
const int mechanism_count = sizeof mechanisms / sizeof *mechanisms;

const struct arch *mechanisms_arch(struct arena *arena, int cores)
{
	struct arch *arch = arena_copy(arena, spyre_arch(arena, cores), sizeof *arch);
	for (int m = 0; m < mechanism_count; m++)
		mechanisms[m].set(arch);
	return arch;
}
