#include "base/arena.h"
#include "base/number.h"
#include "base/random.h"
#include "model/nest/nest_mapping.h"
#include "tests/support/draws.h"
#include "tests/support/nest_text.h"

#include <string.h>

#include "tests/test.h"

/*
 * Whatever a mapping is, its line and its directives say it: read back, it is the
 * same, in both forms of architectures.
 */
static const char *const machines[] = {
	"DRAM MAC",
	"(system) DRAM GLB (PE:8x4) RF MAC",
	"DRAM GLB:2 L1:1x4 L0 MAC:16",
	"(system) DRAM (chip:4) L2 L1 (column:7) (row:1x12) ifmap weights psums MAC:2x2",
};

/* Trees have no containers that fan out beside each other. */
static const char *const trees[] = {
	"DRAM MAC",
	"(system) DRAM GLB RF:8x4 MAC",
	"DRAM GLB:2 L1:1x4 L0 MAC:16",
	"(system) DRAM L2 (PE:4x3) ifmap weights psums MAC:2x2",
};

static const char problem[] = "problem:\n"
			      "  shape:\n"
			      "    dimensions: [C, M, Rows, S2, P]\n"
			      "    data_spaces:\n"
			      "    - {name: Weights, projection: [C, M, Rows, S2]}\n"
			      "    - {name: Inputs, projection: [C, Rows + P, S2]}\n"
			      "    - {name: Outputs, projection: [M, P], read_write: true}\n"
			      "  instance: {C: 1, M: 1, Rows: 1, S2: 1, P: 1}\n";

/* Bounds from the innermost outwards that cover the extent, the outermost one the rest. */
static void draw_bounds(struct random *random, const struct arch *arch, struct mapping *mapping,
	int d, int64_t extent)
{
	int outermost = 0;
	while (arch->levels[outermost].kind != LEVEL_STORAGE)
		outermost++;
	for (int r = arch->level_count - 1; r >= outermost; r--) {
		const struct level *level = &arch->levels[r];
		struct mapping_row *row = &mapping->rows[r];
		for (int spatial = 0; spatial <= 1; spatial++) {
			bool open = spatial ? level->fanout.x * level->fanout.y > 1
					    : level->kind == LEVEL_STORAGE;
			if (!open || (r == outermost && !spatial) || random_below(random, 2))
				continue;
			int64_t bound = 1 + (int64_t)random_below(random, (uint64_t)extent);
			if (random_below(random, 2))
				bound = number_gcd(bound, extent);
			(spatial ? row->spatial : row->temporal)[d] = (uint32_t)bound;
			if (spatial && bound > 1 && random_below(random, 2))
				row->spatial_y |= (uint16_t)(1u << d);
			extent = number_ceil_div(extent, bound);
		}
	}
	mapping->rows[outermost].temporal[d] = (uint32_t)extent;
}

/* Loops along X stand before those along Y. */
static void draw_orders(struct random *random, struct mapping *mapping)
{
	for (int r = 0; r < mapping->level_count; r++) {
		struct mapping_row *row = &mapping->rows[r];
		uint8_t sorted[OP_LOOPS_MOST];
		int count = 0;
		draw_shuffle(random, row->temporal_order, mapping->loop_count);
		draw_shuffle(random, row->spatial_order, mapping->loop_count);
		for (int y = 0; y <= 1; y++)
			for (int i = 0; i < mapping->loop_count; i++)
				if ((row->spatial_y >> row->spatial_order[i] & 1) == y)
					sorted[count++] = row->spatial_order[i];
		memcpy(row->spatial_order, sorted, (size_t)count);
	}
}

static void draw(struct random *random, const struct arch *arch, struct shape *shape,
	struct mapping *mapping)
{
	for (int d = 0; d < shape->dimension_count; d++) {
		bool large = random_below(random, 8) == 0;
		shape->dimensions[d].extent =
			1 + (int64_t)random_below(random, large ? 1u << 31 : 60);
	}
	*mapping = nest_mapping_make(arch, shape);
	for (int d = 0; d < shape->dimension_count; d++) {
		for (int r = 0; r < arch->level_count; r++)
			mapping->rows[r].temporal[d] = 1;
		draw_bounds(random, arch, mapping, d, shape->dimensions[d].extent);
	}
	draw_orders(random, mapping);
	for (int t = 0; t < shape->space_count; t++)
		mapping->residency[t] &= (uint32_t)random_next(random);
}

static void check(struct arena *arena, const struct arch *arch, const struct shape *shape,
	const struct mapping *mapping, bool *imperfect)
{
	struct mapping again;
	const char *complaints;
	bool perfect;
	const char *why = nest_mapping_check(arena, arch, shape, mapping, &perfect);
	const char *text = nest_mapping_print(arena, arch, shape, mapping);
	if (why)
		fail_msg("%s: %s", text, why);
	*imperfect |= !perfect;
	why = nest_mapping_parse(arena, arch, shape, text, &again);
	if (why)
		fail_msg("%s: %s", text, why);
	if (!mapping_equal(mapping, &again))
		fail_msg("%s\ncame back as\n%s", text,
			nest_mapping_print(arena, arch, shape, &again));
	const char *yaml = nest_mapping_write(arena, arch, shape, mapping);
	if (!nest_mapping_of_text(arena, arch, shape, yaml, &again, &complaints))
		fail_msg("%s\n%s", yaml, complaints);
	if (!mapping_equal(mapping, &again))
		fail_msg("%s\ncame back as\n%s", yaml,
			nest_mapping_write(arena, arch, shape, &again));
}

TEST(mappings_survive_text_and_directives)
{
	uint64_t seed = draws_seed(1);
	long count = draws(400);
	bool imperfect = false;
	for (long i = 0; i < count; i++) {
		struct arena_mark mark = arena_mark(arena);
		struct random random = random_open(seed, (uint64_t)i);
		bool tree = random_below(&random, 2);
		const char *machine = (tree ? trees : machines)[random_below(&random, 4)];
		const struct arch *arch = level_path(arena, machine, tree);
		struct shape shape = *problem_of_text(arena, problem, NULL);
		struct mapping mapping;
		draw(&random, arch, &shape, &mapping);
		check(arena, arch, &shape, &mapping, &imperfect);
		arena_release(arena, mark);
	}
	assert_true(imperfect || !draws_are_many(count));
}
