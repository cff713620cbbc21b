#include "base/arena.h"
#include "base/random.h"
#include "base/text.h"
#include "search/recurrence/project_search.h"
#include "spec/sheet.h"
#include "tests/support/complaints.h"
#include "tests/support/dataflows.h"
#include "tests/support/draws.h"
#include "tests/test.h"

#include <string.h>

/*
 * The three classical dataflows of a matrix product on a fixed array, from their equations
 * (specs/space_time/): cycles are the published ones, fold by fold, and the array's outputs are the
 * product.
 */
/* The spec with other sizes; `schedule` in place of its own, or NULL. */
static struct space_time read_spec(
	struct arena *arena, const char *name, const struct product *shape, const char *schedule)
{
	const char *path = arena_format(arena, "specs/space_time/%s_stationary.yaml", name);
	const char *text = text_of_file(arena, path);
	assert_non_null(text);
	const char *variables = strstr(text, "\nvariables:"), *body;
	assert_non_null(variables);
	body = strchr(variables + 1, '\n');
	const char *last = strstr(body, "\n  schedule:");
	assert_non_null(last);
	text = arena_format(arena,
		"variables: {M: %d, N: %d, K: %d, R: %d, C: %d, KT: %d}%.*s\n  schedule: %s\n",
		(int)shape->m, (int)shape->n, (int)shape->k, (int)shape->r, (int)shape->c,
		(int)number_ceil_div(shape->k, shape->r), (int)(last - body), body,
		schedule ? schedule : last + strlen("\n  schedule:"));
	struct diag *diag = diag_open(arena);
	struct sheet *sheet = sheet_open(arena, diag);
	sheet_add(sheet, node_read_text(arena, path, text, strlen(text), diag));
	struct reading reading = sheet_reading(sheet);
	struct space_time spec;
	if (!space_time_read(&reading, sheet_find(sheet, "space_time"), NULL, &spec))
		fail_msg("%s", complaints_text(arena, diag));
	return spec;
}

static double input(const struct recurrence *recurrence, uint64_t *seed, const char *name,
	int64_t row, int64_t column)
{
	struct recurrence_inputs inputs = project_inputs(seed);
	int64_t place[RECURRENCE_LOOPS_MOST] = {row, column};
	for (int s = 0; s < recurrence->stream_count; s++)
		if (text_equal(recurrence->streams[s].name, name))
			return inputs.read(inputs.user, s, place);
	fail_msg("no stream '%s'", name);
	return 0;
}

/* Legal, executed, its outputs the product; answers its cycles. */
static int64_t run(struct arena *arena, const struct space_time *spec, const struct product *shape)
{
	struct projection_facts facts =
		projection_facts(&spec->recurrence, &spec->projection, spec);
	struct project_found found = {.spec = spec, .projection = spec->projection, .facts = facts};
	struct project_search search = {.spec = spec, .wishes.seed = 9};
	assert_int_equal(facts.fault, PROJECTION_FINE);
	project_execute(&search, &found, arena);
	assert_true(found.common.execution.finished && found.common.execution.agrees);
	assert_int_equal(facts.pes, shape->r * shape->c);
	assert_int_equal(found.execution.output_count, shape->m * shape->n);
	for (size_t i = 0; i < found.execution.output_count; i++) {
		const struct recurrence_output *output = &found.execution.outputs[i];
		double sum = 0;
		for (int64_t k = 0; k < shape->k; k++)
			sum += input(&spec->recurrence, &search.wishes.seed, "A", output->place[0],
				       k) *
			       input(&spec->recurrence, &search.wishes.seed, "B", k,
				       output->place[1]);
		assert_true(output->value == sum);
	}
	return found.execution.cycles;
}

/* Last tiles that are not full end as early as their last point does: here they are padded. */
BARE_TEST(folds_take_the_published_cycles)
{
	long count = draws(20);
	uint64_t seed = draws_seed(73);
	for (long n = 0; n < count; n++) {
		struct random random = random_open(seed, (uint64_t)n);
		struct arena *arena = arena_open();
		struct product s = product_draw(&random);
		struct space_time spec = read_spec(arena, "output", &s, NULL);
		assert_int_equal(run(arena, &spec, &s), dataflow_cycles(OUTPUT_STATIONARY, &s));
		spec = read_spec(arena, "weight", &s, NULL);
		assert_int_equal(run(arena, &spec, &s), dataflow_cycles(WEIGHT_STATIONARY, &s));
		spec = read_spec(arena, "input", &s, NULL);
		assert_int_equal(run(arena, &spec, &s), dataflow_cycles(INPUT_STATIONARY, &s));
		arena_close(arena);
	}
}

/* A schedule that lets a tile follow the one before without draining the array first: no PE ever
 * waits but at both ends. */
TEST(a_better_schedule_is_executed)
{
	struct product s = {8, 6, 5, 4, 3};
	struct space_time folded = read_spec(arena, "output", &s, NULL);
	struct space_time spec =
		read_spec(arena, "output", &s, "[\"ceil(N / C) * K\", K, 1, 1, 1]");
	int64_t tiles = 2 * 2;
	assert_int_equal(run(arena, &spec, &s), tiles * s.k + s.r + s.c - 2);
	assert_true(run(arena, &spec, &s) < run(arena, &folded, &s));
}
