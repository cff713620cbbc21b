/*
 * Wrong input, and exactly what is said about it.  tests/bad/<defect>.yaml, or a
 * folder <defect>/ of several files, goes with <defect>.err: all that
 *
 *	lxplore check <defect>.yaml
 *
 * prints on stderr, run in tests/bad; its exit status is 2.  A first line
 * "# lxplore check .." is the command instead; a line "# exit status 1" after it
 * says what to expect instead.  ACCEPT=1 (make accept) writes the .err files.
 */
#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"
#include "tests/support/shell.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/test.h"

enum { LEAST = 40 };

struct bad {
	const char *name, *command, *err;
	int status;
};

struct bads {
	struct arena *arena;
	struct array(struct bad) list;
	struct array(const char *) outputs; /* names of .err files */
};

/* The command in the first line of a file, or the usual one. */
static struct bad describe(struct arena *arena, const char *name, const char *files)
{
	const char *text = text_of_file(arena, files);
	if (!text)
		text = ""; /* a folder's files have no first line for all */
	size_t length = strcspn(text, "\n");
	const char *line = arena_format(arena, "%.*s", (int)length, text);
	const char *program = strstr(line, "lxplore check");
	if (strncmp(line, "# ", 2) != 0 || !program) {
		line = arena_format(arena, "# lxplore check -v %s", files);
		program = line + 2;
	}
	bool impossible = strncmp(text + length, "\n# exit status 1\n", 17) == 0;
	return (struct bad){
		.name = name,
		.command = arena_format(arena, "%.*s\"$LXPLORE\"%s", (int)(program - line - 2),
			line + 2, program + strlen("lxplore")),
		.err = arena_format(arena, "%s.err", name),
		.status = impossible ? 1 : 2,
	};
}

static void add_entry(struct bads *bads, const struct dirent *entry)
{
	const char *name = arena_text(bads->arena, entry->d_name);
	char *dot = strrchr(name, '.');
	if (name[0] == '.' || text_equal(name, "good"))
		return;
	if (dot && text_equal(dot, ".err")) {
		*dot = '\0';
		*array_add(bads->arena, &bads->outputs) = name;
		return;
	}
	const char *files = entry->d_name;
	if (!dot)
		files = arena_format(bads->arena, "%s/*.yaml", name);
	else
		*dot = '\0';
	*array_add(bads->arena, &bads->list) = describe(bads->arena, name, files);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct bad *)a)->name, ((const struct bad *)b)->name);
}

static void run_bad(void **state)
{
	const struct bad *bad = *state;
	struct arena *arena = arena_open();
	struct ended ended = shell(arena, "%s", bad->command);
	if (getenv("ACCEPT")) {
		FILE *file = fopen(bad->err, "wb");
		assert_non_null(file);
		fputs(ended.err, file);
		assert_int_equal(fclose(file), 0);
	}
	const char *expected = text_of_file(arena, bad->err);
	assert_string_equal(ended.err, expected ? expected : "");
	assert_int_equal(ended.status, bad->status);
	arena_close(arena);
}

static void messages_and_inputs_go_together(void **state)
{
	const struct bads *bads = *state;
	assert_true(bads->list.count >= LEAST);
	for (size_t i = 0; i < bads->outputs.count; i++) {
		size_t k = 0;
		while (k < bads->list.count &&
			!text_equal(bads->list.at[k].name, bads->outputs.at[i]))
			k++;
		if (k == bads->list.count)
			fail_msg("tests/bad/%s.err has no input", bads->outputs.at[i]);
	}
}

/* Removes the environment variables that the program reads. */
static void clean_environment(void)
{
	static const char *const variables[] = {
		"SENCORES", "LX_PLANNING", "DXP_LX_FRAC_AVAIL", "CO_OPTIMIZING_LX_PLANNING"};
	for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
		unsetenv(variables[i]);
	setenv("LC_ALL", "C", 1);
	const char *given = getenv("LXPLORE");
	char path[PATH_MAX];
	if (!given)
		given = "build/release/lxplore";
	if (!realpath(given, path)) {
		fprintf(stderr, "program '%s' is missing\n", given);
		exit(4);
	}
	setenv("LXPLORE", path, 1);
}

int main(void)
{
	clean_environment();
	DIR *folder = chdir("tests/bad") == 0 ? opendir(".") : NULL;
	if (!folder) {
		perror("tests/bad");
		return 4;
	}
	struct bads bads = {.arena = arena_open()};
	for (struct dirent *entry; (entry = readdir(folder));)
		add_entry(&bads, entry);
	closedir(folder);
	qsort(bads.list.at, bads.list.count, sizeof *bads.list.at, by_name);

	size_t count = bads.list.count + 1;
	struct CMUnitTest *tests = arena_array(bads.arena, struct CMUnitTest, count);
	for (size_t i = 0; i < bads.list.count; i++)
		tests[i] = (struct CMUnitTest){.name = bads.list.at[i].name,
			.test_func = run_bad,
			.initial_state = &bads.list.at[i]};
	tests[count - 1] = (struct CMUnitTest){.name = "messages_and_inputs_go_together",
		.test_func = messages_and_inputs_go_together,
		.initial_state = &bads};
	int failed = run_table("bad", tests, count);
	arena_close(bads.arena);
	return failed;
}
