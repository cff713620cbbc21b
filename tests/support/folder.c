#include "tests/support/folder.h"

#include "base/arena.h"
#include "base/text.h"

#include <stdio.h>

#include "tests/test.h"

struct arena *arena;
const char *folder;

int folder_set_up(void **state)
{
	(void)state;
	arena = arena_open();
	folder = shell_folder(arena);
	return 0;
}

int folder_tear_down(void **state)
{
	(void)state;
	shell_remove(folder);
	arena_close(arena);
	return 0;
}

const char *run_folder_path(const char *name)
{
	return arena_format(arena, "%s/%s", folder, name);
}

const char *folder_put(const char *name, const char *text)
{
	const char *path = run_folder_path(name);
	FILE *file = fopen(path, "wb");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
	return path;
}

bool folder_has(const char *name)
{
	return text_of_file(arena, run_folder_path(name)) != NULL;
}

const char *folder_text(const char *name)
{
	const char *text = text_of_file(arena, run_folder_path(name));
	if (!text)
		fail_msg("%s is missing", name);
	return text;
}

struct ended folder_run(const char *command)
{
	return shell(arena, "program=$(realpath \"$LXPLORE\") && cd %s && %s", folder, command);
}
