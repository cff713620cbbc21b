#include "tests/support/shell.h"

#include "base/arena.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

const char *shell_folder(struct arena *arena)
{
	const char *base = getenv("TMPDIR");
	char *path = arena_format(arena, "%s/lxplore-test-XXXXXX", base ? base : "/tmp");
	if (!mkdtemp(path))
		abort();
	return path;
}

void shell_remove(const char *folder)
{
	char command[4096];
	snprintf(command, sizeof command, "rm -rf '%s'", folder);
	if (system(command) != 0)
		abort();
}

struct ended shell(struct arena *arena, const char *format, ...)
{
	char words[8192];
	va_list list;
	va_start(list, format);
	vsnprintf(words, sizeof words, format, list);
	va_end(list);
	setenv("LXPLORE", "build/release/lxplore", 0);
	const char *folder = shell_folder(arena);
	const char *command = arena_format(
		arena, "{ %s\n} >'%s/out' 2>'%s/err' </dev/null", words, folder, folder);
	int status = system(command);
	struct ended ended = {
		.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
		.out = text_of_file(arena, arena_format(arena, "%s/out", folder)),
		.err = text_of_file(arena, arena_format(arena, "%s/err", folder)),
	};
	unlink(arena_format(arena, "%s/out", folder));
	unlink(arena_format(arena, "%s/err", folder));
	if (rmdir(folder) != 0)
		abort();
	return ended;
}
