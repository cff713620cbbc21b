/*
 * The inputs on which Timeloop aborts, hangs, ignores a constraint or finds nothing without saying
 * why, and exactly what `check` says of each.  tests/check/<name>.yaml begins with what it is and
 * what Timeloop does, as comments; <name>.txt is all that
 *
 *	lxplore check machine.yaml problem.yaml <name>.yaml
 *
 * prints (of mapping_good with --format json), run in tests/check, and its exit status.  specs/proofs.md
 * has a table of them, and one of the texts in full.  ACCEPT=1 (make accept) writes the texts and the
 * end of that section.
 */
#include "base/arena.h"
#include "base/text.h"
#include "tests/support/shell.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/test.h"

static const char *const names[] = {
	"bounds_contradict",
	"product_too_small",
	"factor_does_not_divide",
	"given_twice",
	"tile_too_large",
	"least_factors_too_large",
	"parallelism_unreachable",
	"unknown_names",
	"no_fanout",
	/* beyond the table */
	"factor_too_large",
	"fanout_too_small",
	"mapping_broken",
	"mapping_good",
};
enum { NAMES = sizeof names / sizeof *names, ROWS = 9, SHOWN = 4 /* in full */ };

#define MANUAL "specs/proofs.md"

static const char head[] = "| input | Timeloop | lxplore check | exit |\n|---|---|---|---|\n";

static const char *read_named(struct arena *arena, const char *name, const char *suffix)
{
	const char *text =
		text_of_file(arena, arena_format(arena, "tests/check/%s%s", name, suffix));
	return text ? text : "";
}

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "wb");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static void says_what_is_expected(void **state)
{
	const char *name = *state;
	struct arena *arena = arena_open();
	struct ended ended = shell(arena,
		"cd tests/check && \"$LXPLORE\" check machine.yaml problem.yaml %s.yaml%s", name,
		text_equal(name, "mapping_good") ? " --format json" : "");
	const char *said =
		arena_format(arena, "%s%sexit status %d\n", ended.err, ended.out, ended.status);
	if (getenv("ACCEPT"))
		write_file(arena_format(arena, "tests/check/%s.txt", name), said);
	assert_string_equal(said, read_named(arena, name, ".txt"));
	arena_close(arena);
}

/* Line `number` of a text, from 0, without its first `skip` characters. */
static const char *line_of(struct arena *arena, const char *text, int number, size_t skip)
{
	for (; number > 0; number--)
		text += strcspn(text, "\n") + 1;
	return arena_format(arena, "%.*s", (int)(strcspn(text, "\n") - skip), text + skip);
}

/* Returns the errors of an output, or its verdict and first reason. */
static const char *summary_of(struct arena *arena, const char *said)
{
	struct text text = text_open(arena);
	for (const char *line = said; *line; line += strcspn(line, "\n") + 1) {
		int length = (int)strcspn(line, "\n");
		const char *error = strstr(line, ": error: ");
		if (error && error < line + length)
			text_add(&text, "%s%.*s", text.length ? "<br>" : "", length, line);
	}
	if (text.length)
		return text_read(&text);
	return arena_format(arena, "%s:%s", line_of(arena, said, 0, strlen("infeasible: ")),
		line_of(arena, said, 1, 1));
}

static const char *status_of(struct arena *arena, const char *said)
{
	const char *status = strstr(said, "exit status ");
	return status ? line_of(arena, status, 0, strlen("exit status ")) : "";
}

static const char *table_of(struct arena *arena)
{
	struct text table = text_open(arena);
	text_add(&table, "%s", head);
	for (int i = 0; i < ROWS; i++) {
		const char *yaml = read_named(arena, names[i], ".yaml");
		const char *said = read_named(arena, names[i], ".txt");
		text_add(&table, "| [%s](../tests/check/%s.yaml) | %s | %s | %s |\n",
			line_of(arena, yaml, 0, 2), names[i], line_of(arena, yaml, 1, 2),
			summary_of(arena, said), status_of(arena, said));
	}
	text_add(&table, "\nThis is all that it says about %s.yaml:\n\n", names[SHOWN]);
	const char *said = read_named(arena, names[SHOWN], ".txt");
	for (; *said && strncmp(said, "exit", 4) != 0; said += strcspn(said, "\n") + 1)
		text_add(&table, "    %s\n", line_of(arena, said, 0, 0));
	return text_read(&table);
}

/* Puts the table where the manual has one: it ends a section, or the page. */
static void accept_table(struct arena *arena, const char *manual, const char *table)
{
	const char *old = strstr(manual, head);
	assert_non_null(old);
	const char *end = strstr(old, "\n## ");
	write_file(MANUAL, arena_format(arena, "%.*s%s%s", (int)(old - manual), manual, table,
				   end ? end : ""));
}

static void table_of_the_manual_is_what_is_said(void **state)
{
	struct arena *arena = arena_open();
	const char *table = table_of(arena);
	if (getenv("ACCEPT"))
		accept_table(arena, text_of_file(arena, MANUAL), table);
	const char *manual = text_of_file(arena, MANUAL);
	assert_non_null(manual);
	if (!strstr(manual, table))
		fail_msg(MANUAL " does not have this table:\n%s", table);
	arena_close(arena);
}

int main(void)
{
	struct CMUnitTest tests[NAMES + 1];
	for (int i = 0; i < NAMES; i++)
		tests[i] = (struct CMUnitTest){.name = names[i],
			.test_func = says_what_is_expected,
			.initial_state = (void *)(uintptr_t)names[i]};
	tests[NAMES] = (struct CMUnitTest){.name = "table_of_the_manual_is_what_is_said",
		.test_func = table_of_the_manual_is_what_is_said};
	setenv("LC_ALL", "C", 1);
	const char *given = getenv("LXPLORE");
	char path[PATH_MAX];
	if (!realpath(given ? given : "build/release/lxplore", path)) {
		fprintf(stderr, "program '%s' is missing\n", given ? given : "");
		return 4;
	}
	setenv("LXPLORE", path, 1);
	return run_table("check", tests, NAMES + 1);
}
