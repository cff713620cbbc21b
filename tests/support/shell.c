#include "tests/support/shell.h"

#include "base/arena.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

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

const char *shell_read(struct arena *arena, const char *path)
{
	FILE *file = fopen(path, "rb");
	if (!file)
		return NULL;
	struct text text = text_open(arena);
	char bytes[4096];
	size_t count;
	while ((count = fread(bytes, 1, sizeof bytes, file)) > 0)
		text_bytes(&text, bytes, count);
	fclose(file);
	return text_read(&text);
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
		.out = shell_read(arena, arena_format(arena, "%s/out", folder)),
		.err = shell_read(arena, arena_format(arena, "%s/err", folder)),
	};
	shell_remove(folder);
	return ended;
}
