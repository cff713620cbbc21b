#include "base/arena.h"
#include "tests/support/family.h"
#include "tests/support/shell.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * Family loop-nest: the text of Timeloop's statistics (stats.txt), line by line.  Loop nests, partition sizes and
 * areas are not compared, for lxplore has none of them there; nor is where factors do not divide.
 */
static const char *next_line(const char *at)
{
	at += strcspn(at, "\n");
	return *at ? at + 1 : at;
}

static bool begins(const char *line, const char *word)
{
	line += strspn(line, " ");
	return strncmp(line, word, strlen(word)) == 0;
}

/* The lines that are compared; those of a loop nest end with an empty one. */
static const char *reduce(struct arena *arena, const char *statistics)
{
	struct text text = text_open(arena);
	for (const char *line = statistics, *end; *line; line = end) {
		end = next_line(line);
		if (begins(line, "MAPPING")) {
			while (*end && *end != '\n')
				end = next_line(end);
			end = next_line(end);
		} else if (!begins(line, "Area") && !begins(line, "Partition size")) {
			text_bytes(&text, line, (size_t)(end - line));
		}
	}
	return text_read(&text);
}

/* True if the line is a known exception: Timeloop's rules do not give the instances of its cluster
 * there. */
static bool is_known(const char *folder, const char *line)
{
	return strcmp(folder, "ref-ex-simba_like") == 0 && begins(line, "Utilized clusters");
}

static void compare(
	struct family *family, const char *folder, const char *expected, const char *got)
{
	while (*expected || *got) {
		const char *a = next_line(expected), *b = next_line(got);
		size_t length = (size_t)(a - expected);
		if ((length != (size_t)(b - got) || strncmp(expected, got, length) != 0) &&
			!is_known(folder, expected))
			family_note(family, "line",
				arena_format(family->arena, "%.*s is %.*s", (int)length, expected,
					(int)(b - got), got));
		expected = a;
		got = b;
	}
	family->compared++;
}

static void check(struct family *family, const char *root, const char *folder, const char *file)
{
	char name[1024];
	snprintf(name, sizeof name, "%s/loop-nest/%s/stats.txt", root, folder);
	if (access(name, R_OK) != 0 || strstr(folder, "imperfect"))
		return;
	family_case(family, "%s", folder);
	const char *expected = text_of_file(family->arena, name);
	const char *path = arena_format(family->arena, "%s/loop-nest/%s", root, folder);
	struct ended ended = shell(family->arena,
		"\"$LXPLORE\" score --counting timeloop --format timeloop %s/arch.yaml "
		"%s/problem.yaml %s/mapping.yaml %s/ERT.yaml",
		path, path, path, path);
	if (ended.status != 0)
		family_note(family, "refused", ended.err);
	else
		compare(family, folder, reduce(family->arena, expected),
			reduce(family->arena, ended.out));
}

int main(int argc, char **argv)
{
	const char *root = argc > 1 ? argv[1] : "../shared/cases";
	struct family family;
	if (!family_open(&family, "loop-nest/statistics", root, "loop-nest"))
		return 0;
	family_each(&family, root, "loop-nest", NULL, check);
	return family_close(&family);
}
