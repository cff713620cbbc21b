#include "base/arena.h"
#include "cost/graph/footprint.h"
#include "model/graph/plan.h"
#include "model/graph/plan_check.h"
#include "model/graph/plan_file.h"
#include "search/graph/lx.h"
#include "spec/sheet.h"
#include "tests/support/complaints.h"
#include "tests/support/draws.h"
#include "tests/support/executed.h"
#include "tests/support/random_plan.h"
#include "tests/support/random_view.h"
#include "tests/support/spyre.h"
#include "tests/support/workload_text.h"

#include <inttypes.h>
#include <string.h>

#include "tests/test.h"

/*
 * `a` is laid out again once or more often between the op that makes it and those that read it: the model and
 * the simulator count the same, results are right, the time is never below the model's, and the text of the
 * plan comes back the same.
 */
enum { A = 1, C = 3, STEPS = 3, WISHES_MOST = 3 };

static const struct workload *draw_workload(struct random *random, struct arena *arena)
{
	static const int extents[] = {2, 4, 6, 8, 12, 16, 32};
	static const int widths[] = {64, 128, 192, 256, 512, 1024};
	return workload_given(arena,
		arena_format(arena,
			"workload:\n  name: again\n  dimensions: {m: %d, n: %d}\n  dtype: fp16\n"
			"  ops:\n  - a[m, n] = neg(x[m, n])\n  - b[m, n] = neg(a[m, n])\n"
			"  - c[m, n] = a[m, n] + b[m, n]\n",
			extents[random_below(random, 7)], widths[random_below(random, 6)]));
}

/* A mapping under which every core has a slice of operand 0, which all its operands have alike. */
static struct mapping draw_mapping(struct random *random, const struct arch *arch, int cores,
	const struct workload *workload, int op, struct arena *arena, struct view *view)
{
	for (;;) {
		const char *why;
		struct mapping mapping =
			random_mapping(random, arch, cores, workload, &workload->ops[op], arena);
		if (lx_view(arch, workload, &workload->ops[op], &mapping, 0, arena, view, &why))
			return mapping;
	}
}

static int64_t place(
	struct residency *stay, const struct layout *layout, const struct view *view, int64_t top)
{
	stay->view = *view;
	stay->size = view_bytes(layout, view);
	stay->address = top;
	return number_align_up(top + stay->size, STICK_BYTES);
}

/* NULL: what lies in LX takes too much. */
static struct plan *draw_plan(struct random *random, const struct arch *arch, struct arena *arena)
{
	static const int readers[][2] = {{1, 2}, {2, 1}};
	const struct workload *workload = draw_workload(random, arena);
	const struct layout *layout = &workload->tensors[A].layout;
	struct plan *plan = arena_new(arena, struct plan);
	struct view views[STEPS];
	int cores = (int)arch_cores(arch);
	*plan = (struct plan){.arch = arch,
		.workload = workload,
		.cores = cores,
		.step_count = STEPS,
		.steps = arena_array(arena, struct step, STEPS),
		.residency_count = 2,
		.residencies = arena_array(arena, struct residency, 2)};
	for (int s = 0; s < STEPS; s++) {
		plan->steps[s].op = s;
		plan->steps[s].mapping =
			draw_mapping(random, arch, cores, workload, s, arena, &views[s]);
	}
	struct residency *stay = &plan->residencies[0];
	*stay = (struct residency){
		.tensor = A, .place = PLACE_LX, .from = 0, .to = STEPS, .in_place_of = -1};
	plan->residencies[1] =
		(struct residency){.tensor = C, .from = STEPS - 1, .to = STEPS, .in_place_of = -1};
	int64_t top = place(stay, layout, &views[0], 0);
	struct plan_wish wishes[WISHES_MOST] = {{0}};
	int count = 0, turns = (int)random_below(random, 2);
	/* now and then a way round; then to op 1 alone, or to both at once if they have one view */
	for (int i = 0; i < turns; i++) {
		struct view view = random_view(random, layout, cores);
		wishes[count].before = 1;
		top = place(&wishes[count++].stay, layout, &view, top);
	}
	bool both = view_equal(&views[1], &views[2]);
	wishes[count].before = 1;
	top = place(&wishes[count].stay, layout, &views[1], top);
	wishes[count].readers = both ? NULL : &readers[0][0];
	wishes[count++].reader_count = 1;
	if (!both) {
		wishes[count].before = 1 + (int)random_below(random, 2);
		top = place(&wishes[count].stay, layout, &views[2], top);
		wishes[count].readers = random_below(random, 2) ? &readers[0][1] : NULL;
		wishes[count++].reader_count = 1;
	}
	for (int i = 0; i < count; i++) {
		wishes[i].kind = MOVE_RELAYOUT;
		wishes[i].tensor = A;
	}
	return top > arch_lx_capacity(arch) ? NULL
					    : plan_with_moves(arena, plan, wishes, (size_t)count);
}

static const char *write(struct arena *arena, const struct plan *plan)
{
	struct text text = text_open(arena);
	plan_write(plan, &text);
	return text_read(&text);
}

static void check_text(const struct plan *plan, const struct workload *given, struct arena *arena)
{
	const char *text = write(arena, plan);
	struct diag *diag = diag_open(arena);
	struct sheet *sheet = sheet_open(arena, diag);
	sheet_add(sheet, node_read_text(arena, "p.yaml", text, strlen(text), diag));
	struct reading reading = sheet_reading(sheet);
	const struct plan *again =
		plan_read(&reading, sheet_find(sheet, "plan"), plan->arch, given);
	if (!again)
		fail_msg("%s%s", complaints_text(arena, diag), text);
	assert_string_equal(write(arena, again), text);
	for (int s = 0; s < plan->step_count; s++) {
		const struct op *op = &plan->workload->ops[s], *other = &again->workload->ops[s];
		for (int i = 0; i < op->read_count; i++)
			assert_string_equal(plan->workload->tensors[op->reads[i].tensor].name,
				again->workload->tensors[other->reads[i].tensor].name);
	}
}

struct nearness {
	int64_t relayouts, price, taken, bytes, two_views;
	double worst;
};

static void note_times(
	struct nearness *near, const struct plan *plan, const struct executed *executed)
{
	for (int s = 0; s < plan->step_count; s++) {
		if (!plan_is_relayout(plan, s))
			continue;
		int64_t price = 0, taken;
		for (int p = 0; p < executed->cost.phase_count; p++)
			if (executed->cost.phases[p].first_step == s)
				price = executed->cost.phases[p].cycles;
		taken = executed->result.step_ends[s] - executed->result.step_ends[s - 1];
		assert_true(taken >= price);
		double ratio = (double)taken / (double)price;
		near->relayouts++;
		near->price += price;
		near->taken += taken;
		near->worst = ratio > near->worst ? ratio : near->worst;
		near->bytes += executed->cost.counts.steps[s].bytes[1][TRAFFIC_DATA_RING];
	}
	near->two_views += plan_lx(plan, A, plan->step_count - 1) != NULL;
}

BARE_TEST(what_is_laid_out_anew_is_right)
{
	uint64_t seed = draws_seed(1);
	long count = draws(300);
	struct nearness near = {0};
	for (long i = 0; i < count; i++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)i);
		const struct arch *arch = spyre_arch(arena, 1 << (1 + random_below(&random, 5)));
		const struct plan *plan = draw_plan(&random, arch, arena);
		if (!plan) {
			arena_close(arena);
			continue;
		}
		struct plan_faults faults = plan_check(plan, arena);
		if (faults.count)
			fail_msg("draw %ld: step %d: %s\n%s", i, faults.at[0].step,
				faults.at[0].why, write(arena, plan));
		const char *why = execute_exactly(plan, seed + (uint64_t)i, arena);
		if (why)
			fail_msg("draw %ld: %s\n%s", i, why, write(arena, plan));
		struct executed executed = execute_plan(plan, 1, true, arena);
		note_times(&near, plan, &executed);
		struct diag *diag = diag_open(arena);
		assert_non_null(diag);
		struct random again = random_open(seed, (uint64_t)i);
		(void)random_below(&again, 5);
		check_text(plan, draw_workload(&again, arena), arena);
		arena_close(arena);
	}
	print_message("%" PRId64 " relayouts, %" PRId64 " bytes on links; %" PRId64
		      " cycles by the model, %" PRId64 " executed, at worst %.2f times\n",
		near.relayouts, near.bytes, near.price, near.taken, near.worst);
	assert_true(!draws_are_many(count) || near.relayouts > 100);
}
