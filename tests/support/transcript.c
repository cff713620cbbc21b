#include "tests/support/transcript.h"

#include "base/arena.h"
#include "base/text.h"
#include "tests/support/shell.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"

#define INDENT "    "
#define PROMPT INDENT "$ "
#define MORE INDENT "> "

static bool begins(const char *line, const char *with)
{
	return strncmp(line, with, strlen(with)) == 0;
}

static const char *next_line(const char *line)
{
	line += strcspn(line, "\n");
	return *line ? line + 1 : line;
}

/* True if a line belongs to the output of the command above; blank lines between two of its lines do, too. */
static bool is_output(const char *line)
{
	while (*line == '\n')
		line++;
	return begins(line, INDENT) && !begins(line, PROMPT);
}

/* The length of a number of seconds at the end of a summary, which no run repeats: "0.3 s; lxplore report". */
static size_t seconds_at(const char *at)
{
	size_t length = strspn(at, "0123456789.");
	return length && begins(at + length, " s; lxplore report") ? length : 0;
}

/* Adds an output without the line ends behind its last line. */
static void add_output(struct text *text, const struct ended *ended)
{
	const char *end = ended->out + strlen(ended->out);
	while (end > ended->out && end[-1] == '\n')
		end--;
	for (const char *at = ended->out; at < end; at++) {
		if (*at != '\n' && (at == ended->out || at[-1] == '\n'))
			text_add(text, INDENT);
		size_t seconds = at > ended->out && at[-1] == ' ' ? seconds_at(at) : 0;
		text_bytes(text, seconds ? "N" : at, 1);
		at += seconds ? seconds - 1 : 0;
	}
	if (end > ended->out)
		text_add(text, "\n");
	if (ended->status)
		text_add(text, INDENT "[%d]\n", ended->status);
}

/* Runs the command of some lines: the first behind its prompt, the others behind `MORE`. */
static struct ended run_lines(
	struct arena *arena, const char *folder, const char *line, const char *end)
{
	struct text command = text_open(arena);
	for (; line < end; line = next_line(line))
		text_bytes(&command, line + strlen(PROMPT),
			(size_t)(next_line(line) - line) - strlen(PROMPT));
	const char *path = arena_format(arena, "%s/bin/command", folder);
	FILE *file = fopen(path, "wb");
	assert_non_null(file);
	fputs(text_read(&command), file);
	assert_int_equal(fclose(file), 0);
	return shell(arena, "cd '%s' && PATH=\"$PWD/bin:$PATH\" bash -o pipefail bin/command 2>&1",
		folder);
}

const char *transcript_run(struct arena *arena, const char *folder, const char *text)
{
	struct text now = text_open(arena);
	for (const char *line = text; *line;) {
		const char *next = next_line(line);
		if (begins(line, PROMPT)) {
			while (begins(next, MORE))
				next = next_line(next);
			text_bytes(&now, line, (size_t)(next - line));
			struct ended ended = run_lines(arena, folder, line, next);
			add_output(&now, &ended);
			while (*next && is_output(next))
				next = next_line(next);
		} else {
			text_bytes(&now, line, (size_t)(next - line));
		}
		line = next;
	}
	return text_read(&now);
}

/* Fails at the first line that differs. */
static void fail_at_difference(const char *path, const char *text, const char *now)
{
	int line = 1;
	while (*text && strcspn(text, "\n") == strcspn(now, "\n") &&
		!strncmp(text, now, strcspn(text, "\n"))) {
		text = next_line(text);
		now = next_line(now);
		line++;
	}
	fail_msg("%s:%d: '%.*s' is now '%.*s'; `make accept` writes it", path, line,
		(int)strcspn(text, "\n"), text, (int)strcspn(now, "\n"), now);
}

void transcript_settle(const char *path, const char *text, const char *now)
{
	if (getenv("ACCEPT")) {
		FILE *file = fopen(path, "wb");
		assert_non_null(file);
		fputs(now, file);
		assert_int_equal(fclose(file), 0);
	} else if (!text_equal(now, text)) {
		fail_at_difference(path, text, now);
	}
}

void transcript_check(struct arena *arena, const char *path)
{
	const char *folder = shell_folder(arena), *text = text_of_file(arena, path);
	assert_non_null(text);
	struct ended ended = shell(arena,
		"mkdir '%s/bin' && ln -s \"$(realpath \"$LXPLORE\")\" '%s/bin/lxplore' && "
		"ln -s \"$PWD/specs\" '%s/specs' && ln -s \"$PWD/tests/cases\" '%s/cases'",
		folder, folder, folder, folder);
	assert_int_equal(ended.status, 0);
	const char *now = transcript_run(arena, folder, text);
	shell_remove(folder);
	transcript_settle(path, text, now);
}
