#include "tests/support/family.h"

#include "base/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

bool family_open(struct family *family, const char *name, const char *root, const char *folder)
{
	char path[1024];
	snprintf(path, sizeof path, "%s/%s", root, folder);
	*family = (struct family){.tally = {.family = name}};
	if (access(path, R_OK | X_OK) == 0)
		return true;
	printf("%s: skipped, no %s\n", name, path);
	return false;
}

static void end_case(struct family *family)
{
	if (!family->open)
		return;
	if (family->differences.length)
		tally_fail(&family->tally, family->open, "%s", text_read(&family->differences));
	else
		tally_pass(&family->tally);
	arena_close(family->arena);
	family->open = NULL;
}

void family_case(struct family *family, const char *format, ...)
{
	char name[256];
	va_list list;
	va_start(list, format);
	vsnprintf(name, sizeof name, format, list);
	va_end(list);
	end_case(family);
	family->arena = arena_open();
	family->open = arena_text(family->arena, name);
	family->differences = text_open(family->arena);
}

void family_expect(struct family *family, const char *what, const json_t *expected, json_t *got)
{
	if (expected != got && !json_equal(expected, got)) {
		char *left = json_dumps(expected, JSON_ENCODE_ANY | JSON_COMPACT);
		char *right = json_dumps(got, JSON_ENCODE_ANY | JSON_COMPACT);
		text_add(&family->differences, "%s%s: expected %s, got %s",
			family->differences.length ? "; " : "", what, left ? left : "nothing",
			right ? right : "nothing");
		free(left);
		free(right);
	}
	json_decref(got);
}

int family_close(struct family *family)
{
	end_case(family);
	return tally_end(&family->tally);
}
