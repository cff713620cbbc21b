#include "base/arena.h"
#include "base/text.h"
#include "cost/graph/cost.h"
#include "tests/support/lookups.h"
#include "tests/support/plan_text.h"
#include "tests/support/sample.h"
#include "tests/support/spyre.h"

#include <inttypes.h>
#include <math.h>

#include "tests/test.h"

#define MAP "{dimensions: {m: 4, n: 128}, ops: ['y[m,n] = exp(x[m,n])']}"
#define PRODUCT "{dimensions: {m: 4, n: 128, k: 128}, ops: ['c[m,n] = sum(k) a[m,k] * b[k,n]']}"
#define CHAIN                                                                                      \
	"{dimensions: {m: 4, n: 128}, ops: ['t[m,n] = clone(x[m,n])', 'y[m,n] = exp(t[m,n])']}"
#define NOTHING                                                                                    \
	{                                                                                          \
		NULL                                                                               \
	}

/* Sticks that every operand of the last step moves, counted by hand. */
static const struct {
	int cores;
	const char *workload;
	const char *mappings[4], *stays[4];
	const char *moved;
	int64_t computes;
} table[] = {
	{1, MAP, {""}, NOTHING,
		"x: hbm_read 8 lx_fill 8 lx_read 8; y: hbm_write 8 lx_drain 8 lx_write 8;", 512},
	{1, "{dimensions: {m: 4, n: 130}, ops: ['y[m,n] = exp(x[m,n])']}", {"LX: n3 m2"}, NOTHING,
		"x: hbm_read 12 lx_fill 12 lx_read 12; y: hbm_write 12 lx_drain 12 lx_write 12;",
		520},
	/* one transfer for all cores that want the same */
	{2, "{dimensions: {m: 4, n: 128}, ops: ['y[m,n] = x[m,n] + v[n]']}", {"core: m2"}, NOTHING,
		"x: hbm_read 8 lx_fill 8 lx_read 8; v: hbm_read 2 lx_fill 4 lx_read 4; "
		"y: hbm_write 8 lx_drain 8 lx_write 8;",
		512},
	{4, PRODUCT, {"core: m2 n2"}, NOTHING,
		"a: hbm_read 8 lx_fill 16 lx_read 16; b: hbm_read 256 lx_fill 512 lx_read 512; "
		"c: hbm_write 8 lx_drain 8 lx_write 8;",
		65536},
	/* what is fetched again depends on the order */
	{1, PRODUCT, {"LX: m2 n2"}, NOTHING,
		"a: hbm_read 8 lx_fill 8 lx_read 16; b: hbm_read 512 lx_fill 512 lx_read 512; "
		"c: hbm_write 8 lx_drain 8 lx_write 8;",
		65536},
	{1, PRODUCT, {"LX: n2 m2"}, NOTHING,
		"a: hbm_read 16 lx_fill 16 lx_read 16; b: hbm_read 256 lx_fill 256 lx_read 512; "
		"c: hbm_write 8 lx_drain 8 lx_write 8;",
		65536},
	/* two passes: fp32 accumulators between them */
	{1, PRODUCT, {"LX: k2"}, NOTHING,
		"a: hbm_read 8 lx_fill 8 lx_read 8; b: hbm_read 256 lx_fill 256 lx_read 256; "
		"c: hbm_write 8 lx_drain 8 lx_read 16 lx_write 24;",
		65536},
	/* a reduction over two cores: both write accumulators, the ring moves one */
	{2, PRODUCT, {"core: k2"}, NOTHING,
		"a: hbm_read 8 lx_fill 8 lx_read 8; b: hbm_read 256 lx_fill 256 lx_read 256; "
		"c: hbm_write 8 lx_drain 8 lx_read 32 lx_write 40 ring 16;",
		65536},
	/* resident operands do not move; a clone has no compute */
	{1, CHAIN, {"", ""}, {"t at 0 steps 0 2, cores 1"},
		"t: lx_read 8; y: hbm_write 8 lx_drain 8 lx_write 8;", 512},
	{1, "{dimensions: {m: 4, n: 128}, ops: ['y[m,n] = exp(x[m,n])', 't[m,n] = clone(x[m,n])']}",
		{"", "LX: m4"}, {"t at 0 steps 1 2, cores 1"}, "x: hbm_read 8 lx_fill 8; t:;", 0},
	/* windows overlap: 5 rows of 9 on each core; one row each for the last two tiles */
	{2,
		"{dimensions: {p: 4, r: 3, n: 64}, "
		"ops: ['o[p,n] = sum(r) i[2*p+r,n] * w[r,n]']}",
		{"core: p2"}, NOTHING,
		"i: hbm_read 10 lx_fill 10 lx_read 10; w: hbm_read 3 lx_fill 6 lx_read 6; "
		"o: hbm_write 4 lx_drain 4 lx_write 4;",
		768},
	{1, "{dimensions: {p: 2, r: 2, n: 64}, ops: ['o[p,n] = sum(r) i[p+r,n] * w[r,n]']}",
		{"LX: p2 r2"}, NOTHING,
		"i: hbm_read 3 lx_fill 3 lx_read 4; w: hbm_read 4 lx_fill 4 lx_read 4; "
		"o: hbm_write 2 lx_drain 2 lx_read 4 lx_write 6;",
		256},
	/* one element in a stick */
	{1, "{dimensions: {m: 4, n: 128}, ops: ['s[m] = sum(n) x[m,n]']}", {""}, NOTHING,
		"x: hbm_read 8 lx_fill 8 lx_read 8; s: hbm_write 4 lx_drain 4 lx_write 4;", 512},
	{1,
		"{dimensions: {m: 4, n: 128}, ops: ['y[m,n] = exp(x[m,n])', "
		"{opaque: sort, reads: [y], writes: ['z[m]']}]}",
		{"", ""}, NOTHING, "y: hbm_read 8; z: hbm_write 1;", 0},
};

static const char *print_moved(
	struct arena *arena, const struct plan *plan, int step, const struct step_count *count)
{
	const struct op *op = &plan->workload->ops[plan->steps[step].op];
	struct text text = text_open(arena);
	for (int i = 0; i < op_operands(op); i++) {
		text_add(&text, "%s%s:", i ? " " : "",
			plan->workload->tensors[op_operand(op, i)->tensor].name);
		for (int t = 0; t < TRAFFIC_COUNT; t++)
			if (count->bytes[i][t])
				text_add(&text, " %s %" PRId64, traffic_names[t],
					count->bytes[i][t] / STICK_BYTES);
		text_add(&text, ";");
	}
	return text_read(&text);
}

TEST(bytes_are_those_counted_by_hand)
{
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		const struct plan *plan = plan_text(arena, table[i].cores, table[i].workload,
			table[i].mappings, table[i].stays);
		struct counts counts;
		assert_true(cost_counts(plan, arena, &counts));
		int last = counts.step_count - 1;
		assert_string_equal(
			print_moved(arena, plan, last, &counts.steps[last]), table[i].moved);
		assert_int_equal(counts.steps[last].computes, table[i].computes);
	}
}

static struct plan_cost cost_of(struct arena *arena, int cores, const char *workload,
	const char *const *mappings, const char *const *stays)
{
	const struct plan *plan = plan_text(arena, cores, workload, mappings, stays);
	struct plan_cost cost;
	assert_true(cost_plan(plan, arena, &cost));
	return cost;
}

static const char *const nothing[] = {NULL};

/* 2 KiB over HBM at 2048/15 bytes a cycle, over the ports at a stick a cycle. */
TEST(a_phase_lasts_as_long_as_its_busiest_resource)
{
	struct plan_cost cost = cost_of(arena, 1, MAP, (const char *[]){"", NULL}, nothing);
	assert_int_equal(cost.phase_count, 1);
	assert_int_equal(cost.phases[0].resource[RESOURCE_HBM], 15);
	assert_int_equal(cost.phases[0].resource[RESOURCE_FILL], 16);
	assert_int_equal(cost.phases[0].resource[RESOURCE_LX_READ], 8);
	assert_int_equal(cost.phases[0].resource[RESOURCE_LX_WRITE], 8);
	assert_int_equal(cost.phases[0].resource[RESOURCE_COMPUTE], 8);
	assert_int_equal(cost.phases[0].resource[RESOURCE_RING], 0);
	assert_int_equal(cost.phases[0].cycles, 16);
	assert_int_equal(cost.overhead_cycles, 125 + 498);
	assert_int_equal(cost.score.cycles, 16 + 125 + 498);
	assert_int_equal(cost.score.hbm_bytes, 2048);
	assert_int_equal(cost.score.cores, 1);
	assert_true(cost.score.feasible);
	assert_true(cost.score.utilization > 8.0 / 639 - 1e-12);
	assert_true(cost.score.utilization < 8.0 / 639 + 1e-12);
}

/* 130 elements are three units; the core with the last one, of two elements, waits. */
TEST(the_busiest_core_counts)
{
	struct plan_cost cost =
		cost_of(arena, 4, "{dimensions: {m: 2, n: 130}, ops: ['y[m,n] = exp(x[m,n])']}",
			(const char *[]){"core: n3", NULL}, nothing);
	assert_int_equal(cost.phases[0].resource[RESOURCE_COMPUTE], 2);
	assert_int_equal(cost.phases[0].resource[RESOURCE_FILL], 4);
	assert_int_equal(cost.score.cores, 3);
	assert_int_equal(cost.overhead_cycles, 125 + 3 * 498);
}

TEST(a_clone_overlaps_the_next_step)
{
	static const char *const stays[] = {"t at 128 steps 0 2, cores 1", NULL};
	static const char *const mappings[] = {"", "", NULL};
	struct plan_cost apart = cost_of(arena, 1, CHAIN, mappings, nothing);
	struct plan_cost joined = cost_of(arena, 1, CHAIN, mappings, stays);
	assert_int_equal(apart.phase_count, 2);
	assert_int_equal(joined.phase_count, 1);
	assert_int_equal(joined.phases[0].first_step, 0);
	assert_int_equal(joined.phases[0].end_step, 2);
	assert_int_equal(joined.phases[0].resource[RESOURCE_HBM], 15);
	assert_int_equal(joined.phases[0].resource[RESOURCE_FILL], 16);
	assert_int_equal(joined.phases[0].resource[RESOURCE_COMPUTE], 8);
	assert_int_equal(joined.score.lx_peak_bytes, 128 + 1024);
	assert_int_equal(apart.score.lx_peak_bytes, 0);
}

TEST(a_phase_ends_with_its_bundle)
{
	static const char *const stays[] = {"t at 128 steps 0 2, cores 1", NULL};
	static const char *const mappings[] = {"", "", NULL};
	const struct plan *plan = plan_text(arena, 1, CHAIN, mappings, stays);
	struct plan_cost cost;
	plan->steps[1].bundle = 1;
	assert_true(cost_plan(plan, arena, &cost));
	assert_int_equal(cost.phase_count, 2);
	assert_int_equal(cost.overhead_cycles, 2 * (125 + 498));
}

/* 16 sticks of accumulators over a link of 32 bytes a cycle; three links work at once. */
TEST(a_split_reduction_uses_the_ring)
{
	struct plan_cost cost =
		cost_of(arena, 2, PRODUCT, (const char *[]){"core: k2", NULL}, nothing);
	assert_int_equal(cost.phases[0].resource[RESOURCE_RING], 16 * 128 / 32);
	assert_int_equal(cost.phases[0].resource[RESOURCE_COMPUTE], 65536 / 2 / 1024);
	cost = cost_of(arena, 4,
		"{dimensions: {m: 4, n: 128, k: 256}, ops: ['c[m,n] = sum(k) a[m,k] * b[k,n]']}",
		(const char *[]){"core: k4", NULL}, nothing);
	assert_int_equal(cost.phases[0].resource[RESOURCE_RING], 16 * 128 / 32);
	assert_int_equal(counts_total(&cost.counts, TRAFFIC_RING), 3 * 16 * 128);
}

TEST(totals_that_no_integer_holds_are_seen)
{
	struct step_count steps[2] = {0};
	struct counts counts = {2, steps};
	steps[0].bytes[1][TRAFFIC_LX_READ] = INT64_MAX - 1;
	steps[1].bytes[0][TRAFFIC_LX_READ] = 1;
	assert_true(counts_fit(&counts));
	assert_true(counts_total(&counts, TRAFFIC_LX_READ) == INT64_MAX);
	steps[1].bytes[2][TRAFFIC_LX_READ] = 1;
	assert_false(counts_fit(&counts));
}

TEST(without_a_ring_a_split_reduction_is_rejected)
{
	struct plan *plan =
		plan_text(arena, 2, PRODUCT, (const char *[]){"core: k2", NULL}, nothing);
	struct arch *arch = arena_copy(arena, plan->arch, sizeof *arch);
	struct score score;
	arch->reduce_ring.reductions = NULL;
	plan->arch = arch;
	assert_true(cost_score(plan, arena, &score));
	assert_false(score.feasible);
	assert_string_equal(
		score.rejected, "op 'c' splits a reduction over cores, and no ring can combine it");
}

/* 2 KiB of LX, of which a map in one tile wants 1 KiB for each operand, and a byte is missing. */
TEST(tiles_that_do_not_fit_are_rejected)
{
	struct plan *plan = plan_text(arena, 1, MAP, (const char *[]){"", NULL}, nothing);
	struct arch *arch = arena_copy(arena, plan->arch, sizeof *arch);
	struct score score;
	arch->levels[arch->lx].storage.capacity = arch->levels[arch->lx].storage.reserve = 2048;
	plan->arch = arch;
	assert_true(cost_score(plan, arena, &score));
	assert_true(score.feasible);
	arch->levels[arch->lx].storage.reserve--;
	assert_true(cost_score(plan, arena, &score));
	assert_false(score.feasible);
	assert_string_equal(score.rejected,
		"op 'y' has tile buffers of more than the 1920 bytes that LX keeps for them");
}

TEST(bundles_pay_for_their_widest_step)
{
	static const char *const apart[] = {"core: m2 / 0", "core: m4 / 1", NULL};
	static const char *const together[] = {"core: m2 / 0", "core: m4 / 0", NULL};
	struct plan_cost cost = cost_of(arena, 4, CHAIN, apart, nothing);
	assert_int_equal(cost.overhead_cycles, 2 * 125 + (2 + 4) * 498);
	cost = cost_of(arena, 4, CHAIN, together, nothing);
	assert_int_equal(cost.overhead_cycles, 125 + 4 * 498);
}

/* The array does twice as many multiply-adds of bytes, half as many of words. */
TEST(the_array_is_as_fast_as_its_elements_are_small)
{
	static const enum dtype dtypes[] = {DTYPE_FP8, DTYPE_FP16, DTYPE_FP32};
	static const int64_t cycles[] = {32, 64, 128};
	static const char *const mappings[] = {"", NULL};
	for (int i = 0; i < 3; i++) {
		const struct workload *workload = sample_op(
			arena, OP_EINSUM, dtypes[i], "mk,kn->mn", "mnk", (int64_t[]){4, 128, 128});
		struct plan_cost cost;
		assert_true(
			cost_plan(plan_of(arena, 1, workload, mappings, nothing), arena, &cost));
		assert_int_equal(cost.phases[0].resource[RESOURCE_COMPUTE], cycles[i]);
	}
}

/* HBM's cycles of a step on 2 cores, on the machine of spyre.h with closed pages, or with as slow writes. */
static int64_t measured_hbm(struct arena *arena, const char *workload, bool pages, bool writes)
{
	struct plan *plan =
		plan_text(arena, 2, workload, (const char *[]){"core: m2", NULL}, nothing);
	struct arch *arch = arena_copy(arena, plan->arch, sizeof *arch);
	struct level *hbm = &arch->levels[arch->hbm];
	struct plan_cost cost;
	plan->arch = arch;
	if (pages) {
		hbm->storage.run = hbm->storage.page = (struct ratio){3, 1};
		hbm->storage.run_bytes = hbm->storage.page_bytes = 256;
		hbm->storage.open_planes = 4;
	}
	if (writes) {
		hbm->storage.write_span = 1024;
		hbm->storage.write_far = (struct ratio){1, 64};
	}
	assert_true(cost_plan(plan, arena, &cost));
	return cost.phases[0].resource[RESOURCE_HBM];
}

/*
 * Sticks of y lie in the order m, n, t, those of x in the order n, m: 16 blocks of 2 and of 1 sticks, with 4 of them
 * from one row to the next.  A half of them find a page closed, of which each core waits for a half.  z has the order
 * of y.
 */
TEST(maps_in_another_order_wait_for_pages)
{
	static const char join[] =
		"{dimensions: {t: 2, m: 4, n: 256}, ops: ['y[t,m,n] = clone(x[m,n])']}";
	static const char same[] =
		"{dimensions: {t: 2, m: 4, n: 256}, ops: ['y[t,m,n] = x[m,n] + z[t,m,n]']}";
	assert_int_equal(measured_hbm(arena, join, true, false),
		measured_hbm(arena, join, false, false) + 3 * (8 + 8) / 2);
	assert_int_equal(
		measured_hbm(arena, same, true, false), measured_hbm(arena, same, false, false));
	/* 4 KiB: two doublings of 1 KiB */
	assert_int_equal(measured_hbm(arena, join, false, true),
		measured_hbm(arena, join, false, false) + 2 * 4096 / 64);
}

TEST(each_strided_operand_slows_the_array)
{
	static const struct {
		const char *a, *b;
		int64_t times;
	} rows[] = {{"a[m,h,k]", "b[k,h,n]", 1}, {"a[h,m,k]", "b[k,n]", 4},
		{"a[h,m,k]", "b[h,k,n]", 16}};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const char *workload = arena_format(arena,
			"{dimensions: {h: 2, m: 64, n: 64, k: 64}, ops: ['y[h,m,n] = sum(k) %s * %s']}",
			rows[i].a, rows[i].b);
		struct plan *plan =
			plan_text(arena, 1, workload, (const char *[]){"", NULL}, nothing);
		struct arch *arch = arena_copy(arena, plan->arch, sizeof *arch);
		struct compute_level *unit = &arch->levels[arch->compute].compute;
		struct plan_cost plain, strided;
		plan->arch = arch;
		assert_true(cost_plan(plan, arena, &plain));
		assert_true(
			ratio_div(unit->mac_rate, (struct ratio){4, 1}, &unit->strided_mac_rate));
		assert_true(cost_plan(plan, arena, &strided));
		assert_int_equal(strided.phases[0].resource[RESOURCE_COMPUTE],
			plain.phases[0].resource[RESOURCE_COMPUTE] * rows[i].times);
	}
}

/* 2048 bytes through HBM, 16 sticks into or out of LX by transfers, 16 by the compute, 512 exp. */
TEST(energy_is_counts_times_the_table)
{
	struct plan_cost cost = cost_of(arena, 1, MAP, (const char *[]){"", NULL}, nothing);
	double expected = 2048 * 162.5 + 4 * 1024 * 12.5 + 512 * 1.1;
	assert_true(cost.score.energy_pj > expected - 1e-6);
	assert_true(cost.score.energy_pj < expected + 1e-6);
}

/* A reduction over two cores: its ring and accumulators belong to the output, the multiply-adds to no tensor. */
TEST(energy_goes_to_levels_and_tensors)
{
	const struct plan *plan =
		plan_text(arena, 2, PRODUCT, (const char *[]){"core: k2", NULL}, nothing);
	struct plan_cost cost;
	assert_true(cost_plan(plan, arena, &cost));
	struct energy_parts parts = energy_parts(plan, &cost.counts, arena);
	const struct arch *arch = plan->arch;
	assert_int_equal(parts.row_count, 4);
	assert_true(energy_of_place(&parts, arch->hbm) == (8 + 256 + 8) * 128 * 162.5);
	assert_true(
		energy_of_place(&parts, arch->lx) == ((8 + 256) * 2 + 8 + 32 + 40) * 128 * 12.5);
	assert_true(energy_of_place(&parts, arch->compute) == 65536 * 1.5);
	assert_true(energy_of_place(&parts, ENERGY_REDUCE_RING) == 16 * 128 * 1.5);
	assert_true(energy_of_row(&parts, 0) == 8 * 128 * (162.5 + 2 * 12.5));
	assert_true(energy_of_row(&parts, 2) == 128 * (8 * 162.5 + 80 * 12.5 + 16 * 1.5));
	assert_true(energy_of_row(&parts, 3) == 65536 * 1.5);
	assert_string_equal(energy_place_name(&parts, ENERGY_REDUCE_RING), "reduce ring");
	assert_string_equal(energy_place_name(&parts, arch->lx), arch->levels[arch->lx].name);
	double sum = 0;
	for (size_t row = 0; row < parts.row_count; row++)
		sum += energy_of_row(&parts, row);
	assert_true(fabs(sum - cost.score.energy_pj) <= 1e-12 * sum);
}

TEST(counts_that_do_not_fit_are_refused)
{
	static const char *const mappings[] = {"", NULL};
	const struct workload *workload = sample_op(arena, OP_EINSUM, DTYPE_FP16, "mk,kn->mn",
		"mnk", (int64_t[]){1 << 28, 1 << 28, 1 << 28});
	struct counts counts;
	struct score score;
	const struct plan *plan = plan_of(arena, 1, workload, mappings, nothing);
	assert_false(cost_counts(plan, arena, &counts));
	assert_false(cost_score(plan, arena, &score));
}

TEST(streaming_needs_two_buffers_of_what_moves)
{
	static const char *const mappings[] = {"LX: m2", NULL};
	const struct plan *plan = plan_text(arena, 1, PRODUCT, mappings, nothing);
	const struct op *op = plan->workload->ops;
	int64_t hbm, room;
	/* a and c move by halves, b stays */
	assert_true(cost_stream(
		plan->arch, plan->workload, op, &plan->steps[0].mapping, 0, &hbm, &room));
	assert_int_equal(hbm, (8 + 256 + 8) * 128);
	assert_int_equal(room, (2 * 4 + 256 + 2 * 4) * 128);
	/* b is resident */
	assert_true(cost_stream(
		plan->arch, plan->workload, op, &plan->steps[0].mapping, 2, &hbm, &room));
	assert_int_equal(hbm, (8 + 8) * 128);
	assert_int_equal(room, (2 * 4 + 2 * 4) * 128);
}

/* Two of accumulators, too, where the ring reads one while the next output tile begins. */
TEST(streaming_needs_accumulators)
{
	static const struct {
		int cores;
		const char *mapping;
		int64_t room; /* of a, b, c and accumulators, in sticks */
	} rows[] = {
		{1, "LX: n2 k2", 2 * 4 + 2 * 64 + 2 * 4 + 8},
		{2, "core: k2", 4 + 128 + 8 + 16},
		{2, "core: k2 | LX: n2", 4 + 2 * 64 + 2 * 4 + 2 * 8},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct plan *plan = plan_text(arena, rows[i].cores, PRODUCT,
			(const char *[]){rows[i].mapping, NULL}, nothing);
		int64_t hbm, room;
		assert_true(cost_stream(plan->arch, plan->workload, plan->workload->ops,
			&plan->steps[0].mapping, 0, &hbm, &room));
		assert_int_equal(room, rows[i].room * 128);
	}
}
