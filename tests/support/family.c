#include "tests/support/family.h"

#include "base/arena.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool family_open(struct family *family, const char *name, const char *root, const char *folder)
{
	char path[1024];
	snprintf(path, sizeof path, "%s/%s", root, folder);
	*family = (struct family){.tally = {.family = name}};
	setvbuf(stdout, NULL, _IOLBF, 0); /* failures so far are out however the program ends */
	if (access(path, R_OK | X_OK) == 0)
		return true;
	printf("%s: skipped, no %s\n", name, path);
	return false;
}

static void end_case(struct family *family)
{
	if (!family->open)
		return;
	if (!family->compared && !family->differences.length)
		family_note(family, "expectations", "nothing is recorded to compare with");
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
	family->compared = 0;
}

static void add(struct family *family, const char *what)
{
	text_add(&family->differences, "%s%s: ", family->differences.length ? "; " : "", what);
}

void family_note(struct family *family, const char *what, const char *text)
{
	if (!text)
		return;
	add(family, what);
	text_add(&family->differences, "%s", text);
}

void family_expect(struct family *family, const char *what, const json_t *expected, json_t *got)
{
	family->compared += expected != NULL;
	if (expected && !json_equal(expected, got)) {
		char *left = json_dumps(expected, JSON_ENCODE_ANY | JSON_COMPACT);
		char *right = json_dumps(got, JSON_ENCODE_ANY | JSON_COMPACT);
		add(family, what);
		text_add(&family->differences, "expected %s, got %s", left,
			right ? right : "nothing");
		free(left);
		free(right);
	}
	json_decref(got);
}

/* Names in a folder, by name; NULL where it cannot be read. */
static struct dirent **list(const char *path, int *count)
{
	struct dirent **names = NULL;
	*count = scandir(path, &names, NULL, alphasort);
	return names;
}

static void each_file(struct family *family, const char *root, const char *folder, const char *name,
	bool (*wanted)(const char *file), family_visit *visit)
{
	char path[1024];
	int count;
	snprintf(path, sizeof path, "%s/%s/%s", root, folder, name);
	struct dirent **names = list(path, &count);
	for (int i = 0; i < count; i++) {
		if (wanted(names[i]->d_name))
			visit(family, root, name, names[i]->d_name);
		free(names[i]);
	}
	free(names);
}

void family_each(struct family *family, const char *root, const char *folder,
	bool (*wanted)(const char *file), family_visit *visit)
{
	char path[1024];
	int count;
	snprintf(path, sizeof path, "%s/%s", root, folder);
	struct dirent **names = list(path, &count);
	for (int i = 0; i < count; i++) {
		const char *name = names[i]->d_name;
		bool is_case = !strchr(name, '.');
		if (is_case && wanted)
			each_file(family, root, folder, name, wanted, visit);
		else if (is_case)
			visit(family, root, name, NULL);
		free(names[i]);
	}
	free(names);
}

int family_close(struct family *family)
{
	end_case(family);
	return tally_end(&family->tally);
}

json_t *family_file(struct family *family, const char *root, const char *file)
{
	char path[1024];
	snprintf(path, sizeof path, "%s/%s", root, file);
	json_t *all = json_load_file(path, 0, NULL);
	if (!all) {
		family_case(family, "%s", path);
		family_note(family, "json", "it cannot be read");
	}
	return all;
}
