#include "base/arena.h"
#include "base/text.h"
#include "tests/support/shell.h"
#include "tests/support/tally.h"

#include <glob.h>
#include <string.h>

/*
 * Family captures: joint problems of a compiler with its answers.  Every case must be proven within
 * 10 s, at half of the footprint and at the LX of the 32-core chip; an independent script checks the
 * answers, and that no published one that is legal has a lower cost.
 */
enum { SECONDS = 10 };

static const char *const capacities[] = {"50%", "1612185"};

static void check(struct arena *arena, const char *folder, const char *path, const char *capacity,
	struct tally *tally)
{
	const char *test = arena_format(arena, "%s at %s", strrchr(path, '/') + 1, capacity);
	struct ended placed =
		shell(arena, "\"$LXPLORE\" place '%s' --capacity %s --time-limit %d -o %s/out.json",
			path, capacity, SECONDS, folder);
	struct ended checked =
		shell(arena, "scripts/capture-check %s %s/out.json '%s'", capacity, folder, path);
	struct ended open = shell(arena, "grep -o '\"proof\":\"bound\"' %s/out.json", folder);
	if (placed.status != 0)
		tally_fail(tally, test, "status %d: %s", placed.status, placed.err);
	else if (checked.status != 0)
		tally_fail(tally, test, "%s%s", checked.out, checked.err);
	else if (open.status == 0)
		tally_fail(tally, test, "not all are proven: %s", placed.err);
	else
		tally_pass(tally);
}

int main(int argc, char **argv)
{
	struct tally tally = {.family = "captures"};
	struct arena *arena = arena_open();
	const char *root = argc > 1 ? argv[1] : "../shared/cases";
	glob_t found;
	if (glob(arena_format(arena, "%s/captures/*.json", root), 0, NULL, &found) != 0) {
		arena_close(arena);
		return tally_skip(&tally);
	}
	const char *folder = shell_folder(arena);
	for (size_t i = 0; i < found.gl_pathc; i++)
		for (size_t c = 0; c < sizeof capacities / sizeof *capacities; c++)
			check(arena, folder, found.gl_pathv[i], capacities[c], &tally);
	shell_remove(folder);
	globfree(&found);
	arena_close(arena);
	return tally_end(&tally);
}
