#include "base/arena.h"
#include "base/number.h"
#include "base/random.h"
#include "search/graph/lx.h"
#include "tests/support/draws.h"
#include "tests/support/lookups.h"
#include "tests/support/random_graph.h"
#include "tests/support/random_plan.h"
#include "tests/support/spyre.h"

#include <string.h>

#include "tests/test.h"

/*
 * Random graphs under random divisions are planned; then every op is walked element by element on
 * every core.  The elements of a tensor in LX that it touches must be held by its own core, by the
 * tensor's view. The writers must have left all of them there. An op that takes over a tensor's
 * bytes must read each stick only where it writes it.
 */
struct plan_of {
	struct arena *arena;
	const struct arch *arch;
	struct plan *plan;
};

struct seen {
	long resident, in_place, broadcast, refused;
};

/* Device coordinates, without the stick, of what an access touches at one point of the loops. */
static int64_t touch(const struct workload *workload, const struct op *op,
	const struct access *access, const int64_t *point, int64_t *device)
{
	const struct layout *layout = &workload->tensors[access->tensor].layout;
	int64_t host[LAYOUT_HOST_RANK_MOST];
	for (int h = 0; h < layout->host_rank; h++) {
		host[h] = access->host[h].offset;
		for (int l = 0; l < op->loop_count; l++)
			host[h] += access->host[h].coefficient[l] * point[l];
	}
	int lane;
	int64_t stick = layout_stick(layout, host, &lane), rest = stick;
	for (int d = layout->rank - 2; d >= 0; d--) {
		device[d] = rest % layout->size[d];
		rest /= layout->size[d];
	}
	return stick;
}

/* The place of a stick in core c's slice; -1 if it is not there. */
static int64_t place_in_slice(const struct workload *workload, const struct residency *stay,
	int64_t core, const int64_t *device)
{
	const struct layout *layout = &workload->tensors[stay->tensor].layout;
	int64_t place = 0;
	if (core >= stay->view.cores)
		return -1;
	for (int d = 0; d < layout->rank - 1; d++) {
		int64_t at = device[d] - view_first(layout, &stay->view, d, core);
		int64_t size = view_size(layout, &stay->view, d);
		if (at < 0 || at >= size)
			return -1;
		place = place * size + at;
	}
	assert_true(place * STICK_BYTES < stay->size);
	return place;
}

/* The elements of each loop that one core computes: from first to before end. */
struct share {
	int loops;
	int64_t first[OP_LOOPS_MOST], end[OP_LOOPS_MOST];
};

static struct share share_of(
	const struct plan_of *of, const struct op *op, const struct mapping *mapping, int64_t core)
{
	struct share share = {.loops = op->loop_count};
	for (int l = 0; l < op->loop_count; l++) {
		int64_t units = op_units(of->plan->workload, op, l);
		int64_t size = units / mapping_split(of->arch, mapping, l) *
			       op_grain(of->plan->workload, op, l);
		share.first[l] = mapping_slot(of->arch, mapping, l, core) * size;
		share.end[l] = number_min(share.first[l] + size, op->loops[l].extent);
	}
	return share;
}

static bool next_point(const struct share *share, int64_t *point)
{
	for (int l = 0; l < share->loops; l++) {
		if (++point[l] < share->end[l])
			return true;
		point[l] = share->first[l];
	}
	return false;
}

/* One core's walk through one step; counts the sticks that it writes into LX. */
static int64_t walk_core(const struct plan_of *of, int step, int64_t core)
{
	const struct workload *workload = of->plan->workload;
	const struct op *op = &workload->ops[of->plan->steps[step].op];
	struct share share = share_of(of, op, &of->plan->steps[step].mapping, core);
	const struct residency *out = plan_lx(of->plan, op->writes[0].tensor, step);
	char *written = out ? arena_array(of->arena, char, out->size / STICK_BYTES) : NULL;
	int64_t point[OP_LOOPS_MOST], device[LAYOUT_RANK_MOST], count = 0;
	memcpy(point, share.first, sizeof point);
	do {
		int64_t at = -1;
		if (out) {
			touch(workload, op, &op->writes[0], point, device);
			at = place_in_slice(workload, out, core, device);
			assert_true(at >= 0);
			count += !written[at];
			written[at] = 1;
		}
		for (int i = 0; i < op->read_count; i++) {
			const struct residency *in = plan_lx(of->plan, op->reads[i].tensor, step);
			if (!in)
				continue;
			touch(workload, op, &op->reads[i], point, device);
			int64_t from = place_in_slice(workload, in, core, device);
			if (from < 0)
				fail_msg("core %lld does not hold what '%s' reads of '%s'",
					(long long)core, op->name,
					workload->tensors[in->tensor].name);
			if (out && out->in_place_of == in->tensor)
				assert_int_equal(from, at);
		}
	} while (next_point(&share, point));
	return count;
}

static void walk_step(const struct plan_of *of, int step, struct seen *seen)
{
	const struct op *op = &of->plan->workload->ops[of->plan->steps[step].op];
	if (op->primitive->kind == OP_OPAQUE)
		return;
	const struct residency *out = plan_lx(of->plan, op->writes[0].tensor, step);
	int64_t cores = mapping_cores(of->arch, &of->plan->steps[step].mapping);
	seen->refused += !out;
	if (out) {
		int64_t slices = 1;
		for (int i = 0; i < out->view.part_count; i++)
			slices *= out->view.parts[i].split;
		seen->resident++;
		seen->in_place += out->in_place_of >= 0;
		seen->broadcast += slices < out->view.cores;
	}
	if (plan_is_move(of->plan, step))
		return; /* a move leaves every slice where the view wants it */
	if (out) {
		assert_int_equal(out->view.cores, cores);
		assert_int_equal(
			mapping_reduction_split(of->arch, op, &of->plan->steps[step].mapping), 1);
	}
	for (int64_t core = 0; core < cores; core++) {
		int64_t written = walk_core(of, step, core);
		if (out)
			assert_int_equal(written * STICK_BYTES, out->size);
	}
}

static void plan_and_walk(struct random *random, const struct arch *arch,
	const struct workload *workload, struct arena *arena, struct seen *seen)
{
	static const char *const place[] = {"greedy", "firstfit", "bestfit"};
	static const enum clone_split clones[] = {CLONE_OFF, CLONE_NONE, CLONE_READERS};
	struct planning planning = planning_default(arch);
	planning_lists("all", &planning.eligible, &planning.in_place);
	planning.strict = false;
	planning.clones = clones[random_below(random, 3)];
	struct plan_of of = {.arena = arena, .arch = arch};
	of.plan = lx_plan(arch, workload, random_division(random, arch, workload, &planning, arena),
		&planning, solver_find(STAGE_PLACE, place[random_below(random, 3)]), arena)
			  .plan;
	assert_non_null(of.plan);
	for (int step = 0; step < of.plan->step_count; step++)
		walk_step(&of, step, seen);
}

static void print_seen(const struct seen *seen)
{
	print_message("%ld resident, %ld in place, %ld broadcast, %ld refused\n", seen->resident,
		seen->in_place, seen->broadcast, seen->refused);
}

BARE_TEST(every_core_finds_what_it_reads_in_its_own_lx)
{
	long count = draws(300);
	uint64_t seed = draws_seed(7);
	struct seen seen = {0};
	for (long draw = 0; draw < count; draw++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)draw);
		const struct arch *arch = spyre_arch(arena, 1 << random_below(&random, 6));
		const struct workload *workload = random_graph(&random, arena);
		plan_and_walk(&random, arch, workload, arena, &seen);
		arena_close(arena);
	}
	print_seen(&seen);
	if (!draws_are_many(count))
		return;
	assert_true(seen.resident > count / 2);
	assert_true(seen.in_place > count / 10);
	assert_true(count < 300 || seen.broadcast > 0); /* one in forty */
	assert_true(seen.refused > count / 10);
}

BARE_TEST(so_it_does_with_ragged_extents_windows_and_mixed_types)
{
	static const struct random_options options = {
		.elements_most = 20000, .legal = true, .opaque = true};
	long count = draws(300);
	uint64_t seed = draws_seed(8);
	struct seen seen = {0};
	for (long draw = 0; draw < count; draw++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)draw);
		const struct arch *arch = spyre_arch(arena, 1 << random_below(&random, 6));
		const struct workload *workload = random_workload(&random, &options, arena);
		plan_and_walk(&random, arch, workload, arena, &seen);
		arena_close(arena);
	}
	print_seen(&seen);
	if (!draws_are_many(count))
		return;
	assert_true(seen.resident > count / 20);
	assert_true(seen.refused > count / 10);
}
