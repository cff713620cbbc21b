#include "base/arena.h"
#include "base/text.h"
#include "report/recurrence/projection_report.h"
#include "tests/support/compiled.h"
#include "tests/support/draws.h"
#include "tests/support/space_time_text.h"
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

/*
 * The C that is written for einsums folded onto arrays, with operands that are shifted in and tiles
 * that are padded, compiled and run: its outputs are those of the einsum in sequential order.
 */
static const char *const own_names[] = {"project", "floor_of", "least_of", "most_of",
	"remainder_of", "A_in", "B_in", "A", "B", "C_out", NULL};

/* The same in the program: see add_input. */
static double read_input(void *user, int stream, const int64_t *place)
{
	const struct recurrence *recurrence = user;
	const struct stream *of = &recurrence->streams[stream];
	int64_t sum = of->name[0];
	for (int i = 0; i < of->rank; i++)
		sum += (7 + 4 * i) * place[i];
	return (double)(sum % 9 - 4);
}

static void add_input(struct text *text, const struct stream *stream)
{
	text_add(text, "double %s(", stream->name);
	for (int i = 0; i < stream->rank; i++)
		text_add(text, "%slong z%d", i ? ", " : "", i);
	text_add(text, ")\n{\n\tlong sum = '%c';\n", stream->name[0]);
	for (int i = 0; i < stream->rank; i++)
		text_add(text, "\tsum += %d * z%d;\n", 7 + 4 * i, i);
	text_add(text, "\treturn (double)(sum %% 9 - 4);\n}\n");
}

struct written {
	struct arena *arena;
	struct project_search search;
	struct text text;
	int met, every, count;
};

static bool add_folding(void *user, const struct folding *folding)
{
	struct written *program = user;
	struct project_found found;
	struct score score;
	const char *why = NULL;
	if (program->met++ % program->every ||
		!project_fold(&program->search, folding, false, program->arena, &found, &score))
		return true;
	const struct recurrence *recurrence = &found.spec->recurrence;
	const char *code =
		projection_code(program->arena, recurrence, &found.projection, &found.facts, &why);
	if (!code)
		fail_msg("no code: %s", why);
	int n = program->count++;
	struct text *text = &program->text;
	for (int i = 0; own_names[i]; i++)
		text_add(text, "#define %s %s_%d\n", own_names[i], own_names[i], n);
	text_add(text, "%s", code);
	for (int s = 0; s < recurrence->stream_count; s++) {
		const struct stream *stream = &recurrence->streams[s];
		if (stream->kind == STREAM_INPUT)
			add_input(text, stream);
		if (stream->kind == STREAM_OUTPUT)
			text_add(text,
				"void %s(long z0, long z1, double value)\n{\n"
				"\tprintf(\"%d %%ld %%ld %%a\\n\", z0, z1, value);\n}\n",
				stream->name, n);
	}
	for (int i = 0; own_names[i]; i++)
		text_add(text, "#undef %s\n", own_names[i]);
	return true;
}

/* Each output once, with its value. */
static void check_lines(
	const struct recurrence_values *expected, int n, const char *out, struct arena *arena)
{
	const char *start = arena_format(arena, "%d ", n);
	size_t found = 0;
	for (const char *line = out; line && *line;
		line = strchr(line, '\n'), line += line != NULL) {
		char *at;
		if (strncmp(line, start, strlen(start)) != 0)
			continue;
		long row = strtol(line + strlen(start), &at, 10), column = strtol(at, &at, 10);
		double value = strtod(at, &at);
		bool met = false;
		for (size_t i = 0; i < expected->output_count; i++)
			met |= expected->outputs[i].place[0] == row &&
			       expected->outputs[i].place[1] == column &&
			       expected->outputs[i].value == value;
		if (!met)
			fail_msg("folding %d: %.*s", n, (int)strcspn(line, "\n"), line);
		found++;
	}
	assert_int_equal(found, expected->output_count);
}

BARE_TEST(generated_code_computes_folded_einsums)
{
	static const struct {
		const char *text;
		int all; /* foldings that there are */
	} rows[] = {
		{"loops: {m: 5, n: 4, k: 3}\n  einsum: C[m,n] = sum(k) A[m,k] * B[k,n]\n"
		 "  array: [2, 3]\n",
			832},
		{"loops: {p: 5, c: 4, k: 3, r: 2}\n"
		 "  einsum: C[k,p] = sum(r, c) A[k,c,r] * B[c, p + r]\n  array: [2, 2]\n",
			5184},
	};
	int count = (int)draws(10);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct arena *arena = arena_open();
		struct space_time spec = space_time_alone(arena,
			arena_format(arena,
				"space_time:\n  %s  search: {fold: [tiles, blocks], wires: 1}\n",
				rows[i].text));
		struct written program = {.arena = arena,
			.search = {.spec = &spec, .solver = solver_find(STAGE_PROJECT, "folds")},
			.text = text_open(arena),
			.every = rows[i].all / (2 * count) + 1};
		struct recurrence_inputs inputs = {&spec.recurrence, read_input, NULL};
		struct recurrence_values expected =
			sequential_run(&spec.recurrence, &inputs, arena);
		text_add(&program.text, "#include <stdio.h>\n");
		assert_true(foldings_visit(&spec, add_folding, &program));
		const char *out = compiled_run(arena, &program.text, program.count);
		for (int n = 0; n < program.count; n++)
			check_lines(&expected, n, out, arena);
		printf("%d foldings of %d\n", program.count, program.met);
		assert_true(program.count > 0 || count < 10);
		arena_close(arena);
	}
}
