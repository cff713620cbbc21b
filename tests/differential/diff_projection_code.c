#include "base/arena.h"
#include "base/text.h"
#include "report/recurrence/projection_report.h"
#include "tests/support/compiled.h"
#include "tests/support/draws.h"
#include "tests/support/random_recurrence.h"
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

/*
 * The C that is written for random legal projections, compiled and run: every value at every point
 * is that of the sequential order, bit by bit.  All functions are in one file, each under names of
 * its own.
 */
struct drawn {
	struct recurrence recurrence;
	struct projection projection;
	struct projection_facts facts;
};

static const char *const own_names[] = {
	"project", "floor_of", "least_of", "most_of", "remainder_of", "a_at", "b_at", "c_at", NULL};

static double no_input(void *user, int stream, const int64_t *place)
{
	(void)user, (void)stream, (void)place;
	return 0;
}

/* Every call prints what it was given. */
static void add_program(struct text *text, const char *code, const struct drawn *drawn, size_t n)
{
	for (int i = 0; own_names[i]; i++)
		text_add(text, "#define %s %s_%zu\n", own_names[i], own_names[i], n);
	text_add(text, "%s", code);
	for (int s = 0; s < drawn->recurrence.stream_count; s++) {
		text_add(text, "void %s_at(", drawn->recurrence.streams[s].name);
		for (int i = 0; i < drawn->recurrence.loop_count; i++)
			text_add(text, "long z%d, ", i);
		text_add(text, "double value)\n{\n\tprintf(\"%zu %d\"", n, s);
		for (int i = 0; i < drawn->recurrence.loop_count; i++)
			text_add(text, " \" %%ld\"");
		text_add(text, " \" %%a\\n\"");
		for (int i = 0; i < drawn->recurrence.loop_count; i++)
			text_add(text, ", z%d", i);
		text_add(text, ", value);\n}\n");
	}
	for (int i = 0; own_names[i]; i++)
		text_add(text, "#undef %s\n", own_names[i]);
}

/* The lines that one of them must print, in any order: each value once. */
static void check_lines(const struct drawn *drawn, size_t n, const char *out, struct arena *arena)
{
	const struct recurrence *recurrence = &drawn->recurrence;
	struct recurrence_inputs inputs = {NULL, no_input, NULL};
	struct recurrence_values expected = sequential_run(recurrence, &inputs, arena);
	int64_t box = recurrence_box(recurrence), found = 0;
	bool *seen = arena_array(arena, bool, box * recurrence->stream_count);
	assert_null(expected.fault);
	const char *start = arena_format(arena, "%zu ", n);
	for (const char *line = out; line && *line;
		line = strchr(line, '\n'), line += line != NULL) {
		int64_t point[RECURRENCE_LOOPS_MOST];
		char *at;
		if (strncmp(line, start, strlen(start)) != 0)
			continue;
		long stream = strtol(line + strlen(start), &at, 10);
		for (int i = 0; i < recurrence->loop_count; i++)
			point[i] = strtol(at, &at, 10);
		double value = strtod(at, &at);
		assert_true(recurrence_holds(recurrence, point));
		int64_t index = stream * box + recurrence_index(recurrence, point);
		assert_false(seen[index]);
		seen[index] = true;
		if (value != expected.values[index])
			fail_msg("draw %zu: %.*s", n, (int)strcspn(line, "\n"), line);
		found++;
	}
	assert_int_equal(found, drawn->facts.points * recurrence->stream_count);
}

/* Loops of time and space that would mostly run empty. */
static bool is_long(const struct drawn *drawn)
{
	int64_t steps = 1;
	for (int r = 0; r < drawn->projection.time_count; r++)
		steps *= drawn->facts.rows[r].extent;
	for (int r = 0; r < drawn->projection.space_count; r++)
		steps *= drawn->facts.space[r].extent;
	return steps > 100000;
}

TEST(generated_code_computes_the_sequential_values)
{
	long count = draws(50);
	uint64_t seed = draws_seed(72);
	struct drawn *drawn = arena_array(arena, struct drawn, count);
	struct text program = text_open(arena);
	long legal = 0, refused = 0, kinds[3] = {0};
	text_add(&program, "#include <stdio.h>\n");
	for (long n = 0; legal < count; n++) {
		struct drawn *at = &drawn[legal];
		struct random random = random_open(seed, (uint64_t)n);
		const char *why;
		random_recurrence(arena, &random, &at->recurrence);
		random_projection(&random, &at->recurrence, &at->projection);
		for (int r = 0; r < at->projection.space_count; r++)
			at->projection.lanes[r] = random_below(&random, 3) ? 0 : 100;
		at->projection.shuffles = 7;
		at->facts = projection_facts(&at->recurrence, &at->projection, NULL);
		struct recurrence_inputs inputs = {NULL, no_input, NULL};
		if (at->facts.fault != PROJECTION_FINE || !at->facts.points || is_long(at) ||
			sequential_run(&at->recurrence, &inputs, arena).fault)
			continue;
		const char *code =
			projection_code(arena, &at->recurrence, &at->projection, &at->facts, &why);
		if (!code) { /* wires both ways */
			refused++;
			continue;
		}
		struct reverse reverse = projection_reverse(&at->recurrence, &at->projection);
		for (int k = 0; k < reverse.step_count; k++)
			kinds[reverse.steps[k].kind]++;
		add_program(&program, code, at, (size_t)legal++);
	}
	const char *out = compiled_run(arena, &program, legal);
	for (long n = 0; n < legal; n++)
		check_lines(&drawn[n], (size_t)n, out, arena);
	printf("%ld projections; %ld with wires both ways; steps: %ld divisions, %ld digits, %ld scans\n",
		legal, refused, kinds[0], kinds[1], kinds[2]);
	if (draws_are_many(count))
		assert_true(kinds[0] && kinds[1] && kinds[2]);
}
