#include "base/arena.h"
#include "model/graph/plan.h"
#include "model/graph/plan_check.h"
#include "model/machine/score.h"
#include "tests/support/case_graph.h"
#include "tests/support/spyre.h"

#include "tests/test.h"

/* c = clone(x); s = exp(c); t = clone(s); y = neg(t), all [64, 128] fp16. */
static const char graph[] =
	"{'buffers': [{'name': 'x', 'dtype': 'fp16', 'host_size': [64, 128]},"
	"             {'name': 'c', 'dtype': 'fp16', 'host_size': [64, 128]},"
	"             {'name': 's', 'dtype': 'fp16', 'host_size': [64, 128]},"
	"             {'name': 't', 'dtype': 'fp16', 'host_size': [128, 64]},"
	"             {'name': 'y', 'dtype': 'fp16', 'host_size': [64, 128]},"
	"             {'name': 'unused', 'dtype': 'fp16', 'host_size': [64]}],"
	" 'ops': [{'op': 'clone', 'kind': 'pointwise', 'out': 'c', 'ranges': {'m': 64, 'n': 128},"
	"           'reads': [['x', {'m': 128, 'n': 1}]], 'write': {'m': 128, 'n': 1}},"
	"         {'op': 'exp', 'kind': 'pointwise', 'out': 's', 'ranges': {'m': 64, 'n': 128},"
	"           'reads': [['c', {'m': 128, 'n': 1}]], 'write': {'m': 128, 'n': 1}},"
	"         {'op': 'clone', 'kind': 'pointwise', 'out': 't', 'ranges': {'m': 64, 'n': 128},"
	"           'reads': [['s', {'m': 128, 'n': 1}]], 'write': {'m': 1, 'n': 64}},"
	"         {'op': 'neg', 'kind': 'pointwise', 'out': 'y', 'ranges': {'m': 64, 'n': 128},"
	"           'reads': [['s', {'m': 128, 'n': 1}]], 'write': {'m': 128, 'n': 1}}]}";

enum { X, C, S, T, Y, UNUSED };

static const struct workload *make_workload(struct arena *arena)
{
	char *text = arena_text(arena, graph);
	for (char *at = text; *at; at++) {
		if (*at == '\'')
			*at = '"';
	}
	json_t *json = json_loads(text, 0, NULL);
	assert_non_null(json);
	const char *why;
	const struct workload *workload = case_graph(
		arena, json_object_get(json, "buffers"), json_object_get(json, "ops"), NULL, &why);
	assert_null(why);
	json_decref(json);
	return workload;
}

static struct plan make_plan(struct arena *arena, struct residency *stays, int count)
{
	const struct workload *workload = make_workload(arena);
	struct plan plan = {
		.arch = spyre_arch(arena, 32),
		.workload = workload,
		.step_count = (int)workload->op_count,
		.steps = arena_array(arena, struct step, workload->op_count),
		.residencies = stays,
		.residency_count = count,
	};
	for (int i = 0; i < plan.step_count; i++) {
		plan.steps[i].op = i;
		plan.steps[i].mapping = mapping_make(plan.arch, &workload->ops[i]);
	}
	return plan;
}

TEST(a_tensor_lives_from_first_to_last_use)
{
	static const int lives[][3] = {
		{X, 0, 1}, {C, 0, 2}, {S, 1, 4}, {T, 2, 3}, {Y, 3, 4}, {UNUSED, 0, 0}};
	const struct workload *workload = make_workload(arena);
	struct users users = users_make(arena, workload);
	for (size_t i = 0; i < sizeof lives / sizeof *lives; i++) {
		int from = -1, to = -1;
		users_life(&users, lives[i][0], &from, &to);
		assert_int_equal(from, lives[i][1]);
		assert_int_equal(to, lives[i][2]);
	}
}

TEST(a_stay_covers_its_half_open_steps)
{
	struct residency stays[] = {
		{.tensor = S, .place = PLACE_LX, .from = 1, .to = 3},
		{.tensor = S, .place = PLACE_HBM, .from = 3, .to = 4},
		{.tensor = T, .place = PLACE_LX, .from = 3, .to = 4},
	};
	struct plan plan = make_plan(arena, stays, 3);
	assert_null(plan_lx(&plan, S, 0));
	assert_ptr_equal(plan_lx(&plan, S, 1), &stays[0]);
	assert_ptr_equal(plan_lx(&plan, S, 2), &stays[0]);
	assert_null(plan_lx(&plan, S, 3));
	assert_ptr_equal(plan_lx(&plan, T, 3), &stays[2]);
	assert_null(plan_lx(&plan, X, 0));
}

TEST(only_plain_copies_into_lx_are_moves)
{
	struct residency stays[] = {
		{.tensor = X, .place = PLACE_LX, .from = 0, .to = 1},
		{.tensor = C, .place = PLACE_LX, .from = 0, .to = 2},
		{.tensor = S, .place = PLACE_LX, .from = 1, .to = 2},
		{.tensor = T, .place = PLACE_LX, .from = 2, .to = 3},
	};
	struct plan plan = make_plan(arena, stays + 1, 3);
	assert_true(plan_is_move(&plan, 0));
	assert_false(plan_is_move(&plan, 1)); /* no clone */
	assert_false(plan_is_move(&plan, 2)); /* transposes */
	plan.residencies = stays;
	plan.residency_count = 4;
	assert_false(plan_is_move(&plan, 0)); /* its input is in LX */
	plan.residency_count = 0;
	assert_false(plan_is_move(&plan, 0)); /* stays in HBM */
}

TEST(counts_are_compared_and_added_exactly)
{
	struct step_count steps[2] = {0}, others[2] = {0};
	struct counts a = {2, steps}, b = {2, others};
	steps[0].bytes[0][TRAFFIC_HBM_READ] = others[0].bytes[0][TRAFFIC_HBM_READ] = 256;
	steps[1].bytes[OP_READS_MOST][TRAFFIC_HBM_READ] = 1;
	assert_false(counts_equal(&a, &b));
	others[1].bytes[OP_READS_MOST][TRAFFIC_HBM_READ] = 1;
	assert_true(counts_equal(&a, &b));
	others[1].computes = 1;
	assert_false(counts_equal(&a, &b));
	b.step_count = 1;
	assert_false(counts_equal(&a, &b));
	assert_int_equal(counts_total(&a, TRAFFIC_HBM_READ), 257);
	assert_int_equal(counts_total(&a, TRAFFIC_RING), 0);
	assert_string_equal(traffic_names[TRAFFIC_LX_DRAIN], "lx_drain");
}
