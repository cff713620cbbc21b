#include "base/arena.h"
#include "base/text.h"
#include "tests/support/shell.h"
#include "tests/support/tally.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Family placement: tables of buffers.  One whose name ends in a capacity, NAME.CAPACITY.csv, has
 * to fit into it; of another a layout must be found whose peak is within 1 % of the load.  `place
 * --check` must agree.
 */
enum { SECONDS = 20 };

/* 12 of "input.12.csv"; 0: the name has none. */
static long long capacity_of(const char *path)
{
	const char *end = strrchr(path, '.'), *at = end;
	while (at > path && at[-1] >= '0' && at[-1] <= '9')
		at--;
	return at < end && at > path && at[-1] == '.' ? atoll(at) : 0;
}

/* The number behind a word of the closing line; -1: it is not there. */
static long long number_after(const char *text, const char *word)
{
	const char *at = strstr(text, word);
	return at ? atoll(at + strlen(word)) : -1;
}

static void check(struct arena *arena, const char *folder, const char *path, struct tally *tally)
{
	const char *name = strrchr(path, '/') + 1;
	long long capacity = capacity_of(path);
	const char *wish =
		capacity ? arena_format(arena, "--capacity %lld", capacity) : "--minimize";
	struct ended placed =
		shell(arena, "\"$LXPLORE\" place '%s' %s --time-limit %d -o %s/out.csv", path, wish,
			SECONDS, folder);
	if (placed.status != 0) {
		tally_fail(tally, name, "status %d: %s", placed.status, placed.err);
		return;
	}
	struct ended checked = shell(
		arena, "\"$LXPLORE\" place %s/out.csv --check %s", folder, capacity ? wish : "");
	long long load = number_after(placed.err, "load ");
	long long peak = number_after(checked.out, "peak ");
	if (checked.status != 0)
		tally_fail(tally, name, "the layout is wrong: %s", checked.err);
	else if (!capacity && (peak < load || (peak - load) * 100 > load))
		tally_fail(tally, name, "peak %lld, load %lld", peak, load);
	else
		tally_pass(tally);
}

int main(int argc, char **argv)
{
	struct tally tally = {.family = "placement"};
	struct arena *arena = arena_open();
	const char *root = argc > 1 ? argv[1] : "../shared/cases";
	glob_t found;
	if (glob(arena_format(arena, "%s/placement/*.csv", root), 0, NULL, &found) != 0) {
		arena_close(arena);
		return tally_skip(&tally);
	}
	const char *folder = shell_folder(arena);
	for (size_t i = 0; i < found.gl_pathc; i++)
		check(arena, folder, found.gl_pathv[i], &tally);
	shell_remove(folder);
	globfree(&found);
	arena_close(arena);
	return tally_end(&tally);
}
