#include "base/arena.h"
#include "base/text.h"
#include "cost/nest/nest.h"
#include "sim/nest/nest.h"
#include "tests/support/nest_line.h"

#include <stdio.h>

#include "tests/test.h"

/* Times worked out by hand.  A setting is "level what number/number": read, write and shared
 * words per cycle, buffers, the words of A that count as one, latencies of fill and drain. */
static const struct timed {
	const char *name, *levels, *mapping; /* of Z[m] = A[m,k], m=2 k=2 */
	const char *settings[4];
	int64_t fill, stall, drain; /* besides 4 cycles of products */
	int64_t stall_by_level[3];  /* innermost first */
} times[] = {
	{
		.name = "unlimited ports take no time",
		.levels = "DRAM Buf MAC",
		.mapping = "DRAM: m2 | Buf: k2",
	},
	{
		/* 2 words, 2 products, 2 words, 2 products */
		.name = "work waits for each fill",
		.levels = "DRAM Buf MAC",
		.mapping = "DRAM: m2 | Buf: k2",
		.settings = {"DRAM read 1/1"},
		.fill = 2,
		.stall = 2,
		.stall_by_level = {2},
	},
	{
		.name = "but the first, with two buffers",
		.levels = "DRAM Buf MAC",
		.mapping = "DRAM: m2 | Buf: k2",
		.settings = {"DRAM read 1/1", "Buf buffers 2/1"},
		.fill = 2,
	},
	{
		/* the second tile takes 4 cycles, there is work for 2 */
		.name = "too slow a fill for the work",
		.levels = "DRAM Buf MAC",
		.mapping = "DRAM: m2 | Buf: k2",
		.settings = {"DRAM read 1/2", "Buf buffers 2/1"},
		.fill = 4,
		.stall = 2,
		.stall_by_level = {2},
	},
	{
		/* a word drains in 3 cycles */
		.name = "and for each drain",
		.levels = "DRAM Buf MAC",
		.mapping = "DRAM: m2 | Buf: k2",
		.settings = {"DRAM read 1/1", "DRAM write 1/3"},
		.fill = 2,
		.stall = 5,
		.drain = 3,
		.stall_by_level = {5},
	},
	{
		/* the first drain ends a cycle after the last product, the second follows */
		.name = "a drain in the background ends after the work",
		.levels = "DRAM Buf MAC",
		.mapping = "DRAM: m2 | Buf: k2",
		.settings = {"DRAM read 1/1", "DRAM write 1/3", "Buf buffers 2/1"},
		.fill = 2,
		.drain = 4,
	},
	{
		.name = "one port for both",
		.levels = "DRAM Buf MAC",
		.mapping = "DRAM: m2 | Buf: k2",
		.settings = {"DRAM shared 1/1"},
		.fill = 2,
		.stall = 3,
		.drain = 1,
		.stall_by_level = {3},
	},
	{
		/* products 2 and 4 read a sum besides: two words, two cycles; and the sum drains in one */
		.name = "multipliers wait for their level",
		.levels = "DRAM Buf MAC",
		.mapping = "DRAM: m2 | Buf: k2",
		.settings = {"Buf read 1/1"},
		.stall = 3,
		.drain = 1,
		.stall_by_level = {3},
	},
	{
		/* 4/3 of a cycle, 2 cycles, 4/3, 2: 20/3 */
		.name = "parts of cycles",
		.levels = "DRAM Buf MAC",
		.mapping = "DRAM: m2 | Buf: k2",
		.settings = {"DRAM read 3/2"},
		.fill = 2,
		.stall = 1,
		.stall_by_level = {1},
	},
	{
		.name = "words that count for half",
		.levels = "DRAM Buf MAC",
		.mapping = "DRAM: m2 | Buf: k2",
		.settings = {"DRAM read 1/1", "DRAM scale 1/2"},
		.fill = 1,
		.stall = 1,
		.stall_by_level = {1},
	},
	{
		.name = "the network's latency",
		.levels = "DRAM Buf MAC",
		.mapping = "DRAM: m2 | Buf: k2",
		.settings = {"Buf fill 5/1", "Buf drain 7/1"},
		.fill = 5,
		.stall = 12,
		.drain = 7,
		.stall_by_level = {12},
	},
	{
		.name = "the home's network takes its time, too",
		.levels = "DRAM Buf MAC",
		.mapping = "DRAM: m2 | Buf: k2",
		.settings = {"DRAM fill 5/1", "DRAM drain 7/1"},
		.drain = 12,
	},
	{
		.name = "is seen in part with two buffers",
		.levels = "DRAM Buf MAC",
		.mapping = "DRAM: m2 | Buf: k2",
		.settings = {"Buf fill 5/1", "Buf drain 7/1", "Buf buffers 2/1"},
		.fill = 5,
		.stall = 3,
		.drain = 7,
		.stall_by_level = {3},
	},
	{
		/* 2 words, then 1; the third product's word waits until its tile is there; the first sum
		 * drains while the last products are made, the second after them */
		.name = "nothing fills in advance from a tile that changes",
		.levels = "DRAM GLB RF MAC",
		.mapping = "DRAM: m2 | GLB: k2",
		.settings = {"DRAM read 1/1", "GLB read 1/1", "GLB buffers 2/1", "RF buffers 2/1"},
		.fill = 3,
		.stall = 1,
		.drain = 1,
		.stall_by_level = {1},
	},
};

static void set_time(struct nest_case *nest, const char *setting)
{
	char name[40], what[40];
	long long num, den;
	assert_int_equal(sscanf(setting, "%39s %39s %lld/%lld", name, what, &num, &den), 4);
	struct nest_level *level = nest_line_level(nest, name);
	struct ratio rate = {num, den};
	if (text_equal(what, "read"))
		level->store.read_rate = rate;
	else if (text_equal(what, "write"))
		level->store.write_rate = rate;
	else if (text_equal(what, "shared"))
		level->store.shared_rate = rate;
	else if (text_equal(what, "buffers"))
		level->store.multiple_buffering = ratio_double(rate);
	else if (text_equal(what, "scale"))
		level->rate_scale[shape_space(&nest->shape, "A")] = ratio_double(rate);
	else if (text_equal(what, "fill"))
		level->store.fill_cycles = num;
	else if (text_equal(what, "drain"))
		level->store.drain_cycles = num;
	else
		fail_msg("no setting '%s'", what);
}

static void times_are_the_hand_s(void **state)
{
	const struct timed *row = *state;
	struct arena *arena = arena_open();
	struct nest_case *nest =
		nest_line(arena, row->levels, "Z[m] = A[m,k], m=2 k=2", row->mapping);
	for (int i = 0; i < 4 && row->settings[i]; i++)
		set_time(nest, row->settings[i]);
	struct nest_sim_options options = {.timing = true};
	struct nest_sim sim =
		nest_simulate(&nest->hierarchy, &nest->shape, &nest->mapping, &options, arena);
	assert_true(sim.finished);
	assert_int_equal(sim.fill_cycles, row->fill);
	assert_int_equal(sim.stall_cycles, row->stall);
	assert_int_equal(sim.drain_cycles, row->drain);
	assert_int_equal(sim.cycles, row->fill + 4 + row->stall + row->drain);
	for (int i = 0; i < 3; i++)
		assert_int_equal(sim.stall_by_level[i], row->stall_by_level[i]);
	arena_close(arena);
}

/* One level, every step alike: nothing to fill, nothing to wait for but the ports. */
static void without_moves_the_time_is_the_model_s(void **state)
{
	static const char *const settings[] = {
		"Buf read 1/1", "Buf read 3/2", "Buf read 7/1", "Buf write 2/5", "Buf shared 4/3"};
	struct arena *arena = arena_open();
	for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
		struct nest_case *nest = nest_line(arena, "Buf (MACs:2x2) MAC",
			"Z[m,n] = A[m] B[n], m=8 n=6", "Buf: m4 n3 | MACs: m2 n2@y");
		set_time(nest, settings[i]);
		const struct nest_model *model =
			nest_model_make(arena, &nest->hierarchy, &nest->shape, COUNTING_EXACT);
		struct nest_counts counts;
		struct nest_score score;
		assert_int_equal(nest_evaluate(model, &nest->mapping, &counts, &score), NEST_FITS);
		struct nest_sim_options options = {.timing = true};
		struct nest_sim sim = nest_simulate(
			&nest->hierarchy, &nest->shape, &nest->mapping, &options, arena);
		assert_int_equal(sim.fill_cycles, 0);
		assert_int_equal(sim.drain_cycles, 0);
		assert_int_equal(sim.cycles, score.cycles);
		assert_true(sim.cycles >= 12);
	}
	arena_close(arena);
}

int main(void)
{
	enum { COUNT = sizeof times / sizeof *times };
	struct CMUnitTest tests[1 + COUNT] = {
		cmocka_unit_test(without_moves_the_time_is_the_model_s),
	};
	for (int i = 0; i < COUNT; i++)
		tests[1 + i] = (struct CMUnitTest){.name = times[i].name,
			.test_func = times_are_the_hand_s,
			.initial_state = (void *)&times[i]};
	return run_table("nest_clock", tests, 1 + COUNT);
}
