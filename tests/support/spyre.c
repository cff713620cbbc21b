#include "tests/support/spyre.h"

#include "base/arena.h"
#include "base/fatal.h"
#include "model/machine/layout.h"

/* Levels in the order of the file. */
enum { SYSTEM, HBM, CORE, LX, ARRAY, LEVELS };

static struct ratio ratio(int64_t num, int64_t den)
{
	struct ratio made;
	if (!ratio_make(num, den, &made))
		BUG("%lld/%lld is not a ratio", (long long)num, (long long)den);
	return made;
}

static struct level level(const char *name, enum level_class kind, int64_t instances)
{
	struct level made = {.name = name, .fanout = {.x = 1, .y = 1}, .instances = instances};
	level_set_kind(&made, kind);
	return made;
}

const struct arch *spyre_arch(struct arena *arena, int cores)
{
	static const struct primitive *const reductions[] = {
		&primitive_sum, &primitive_max, &primitive_min, NULL};
	struct arch *arch = arena_new(arena, struct arch);
	*arch = (struct arch){
		.name = "spyre32_published",
		.clock_hz = ratio(1500000000, 1),
		.level_count = LEVELS,
		.hbm = HBM,
		.core = CORE,
		.lx = LX,
		.vector = ARRAY,
		.compute = ARRAY,
		.span_limit = 256 << 20,
		.bundle_tensors = 6,
		.ranks = 1,
		.bundle_cycles = 125,
		.core_cycles = 498,
		.data_ring = {.present = true,
			.rate = ratio(547, 6),
			.pj = 1.5,
			.run_cycles = {ratio(417, 100), ratio(1521, 200), ratio(201, 20),
				ratio(597, 50), ratio(2697, 200), ratio(1479, 100),
				ratio(1593, 100)}},
		.reduce_ring = {.present = true,
			.rate = ratio(32, 1),
			.pj = 1.5,
			.reductions = reductions},
	};
	struct level *levels = arch->levels;
	levels[SYSTEM] = level("system", LEVEL_CONTAINER, 1);
	levels[HBM] = level("HBM", LEVEL_STORAGE, 1);
	levels[HBM].device = "DRAM";
	levels[HBM].storage.alignment = 128;
	levels[HBM].storage.stick = STICK_BYTES;
	levels[HBM].storage.store.shared = true;
	levels[HBM].storage.store.shared_rate = ratio(1024, 15);
	levels[HBM].storage.read_pj = levels[HBM].storage.write_pj = 162.5;
	levels[CORE] = level("core", LEVEL_CONTAINER, cores);
	levels[CORE].fanout.x = cores;
	levels[LX] = level("LX", LEVEL_STORAGE, cores);
	levels[LX].device = "SRAM";
	levels[LX].storage.capacity = 2 << 20;
	levels[LX].storage.reserve = (2 << 20) - 1677721;
	levels[LX].storage.scratchpad = levels[LX].storage.boxes = true;
	levels[LX].storage.alignment = 128;
	levels[LX].storage.store.read_rate = levels[LX].storage.store.write_rate = ratio(64, 1);
	levels[LX].storage.fill_rate = ratio(128, 1);
	levels[LX].storage.read_pj = levels[LX].storage.write_pj = 12.5;
	levels[ARRAY] = level("array", LEVEL_COMPUTE, cores);
	levels[ARRAY].device = "fp16_array";
	levels[ARRAY].compute.mac_rate = ratio(1024, 1);
	levels[ARRAY].compute.vector_rate = ratio(64, 1);
	levels[ARRAY].compute.mac_pj = 1.5;
	levels[ARRAY].compute.vector_pj = 1.1;
	return arch;
}
