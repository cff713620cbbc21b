#include "tests/support/edits.h"

#include "base/arena.h"
#include "base/text.h"
#include "tests/support/draws.h"
#include "tests/support/sanitized.h"
#include "tests/support/shell.h"
#include "tests/support/transcript.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/test.h"

#define PROMPT "$ "
#define MORE "> "
#define WHOLE "= "
#define SAID "-> "

enum { WRONG = 2 /* exit status for wrong input */ };

/* The command and the good spec that edits are made to. */
struct base {
	struct arena *arena;
	const char *path, *folder;
	const char *command, *spec;
	const char *file; /* the spec is written there, as the command names it */
};

static bool begins(const char *line, const char *with)
{
	return strncmp(line, with, strlen(with)) == 0;
}

static const char *next_line(const char *line)
{
	line += strcspn(line, "\n");
	return *line ? line + 1 : line;
}

static const char *line_at(struct arena *arena, const char *line)
{
	return arena_format(arena, "%.*s", (int)strcspn(line, "\n"), line);
}

static bool is_edit(const char *line)
{
	return line[0] == 's' && ispunct((unsigned char)line[1]);
}

static bool is_spec(const char *line)
{
	return is_edit(line) || begins(line, WHOLE);
}

/* True for a message and for an exit status. */
static bool is_said(const char *line)
{
	return begins(line, SAID) || (line[0] == '[' && isdigit((unsigned char)line[1]));
}

/* Returns the text up to `end` with the characters that its escapes stand for. */
static const char *unescape(struct arena *arena, const char *at, const char *end)
{
	struct text text = text_open(arena);
	for (; at < end; at++) {
		char c = *at;
		if (c == '\\' && at + 1 < end) {
			c = *++at;
			if (c == 'x' && at + 2 < end) {
				c = (char)strtol(arena_format(arena, "%.2s", at + 1), NULL, 16);
				at += 2;
			} else {
				c = c == 'n' ? '\n' : c == 't' ? '\t' : c;
			}
		}
		text_bytes(&text, &c, 1);
	}
	return text_read(&text);
}

/* Returns a spec with one edit made. */
static const char *edited(const struct base *base, const char *spec, const char *edit)
{
	const char *line = line_at(base->arena, edit), *from = line + 2;
	const char *to = strchr(from, line[1]), *end = to ? strchr(to + 1, line[1]) : NULL;
	if (!end || end[1])
		fail_msg("%s: '%s' is not s/from/to/", base->path, line);
	from = unescape(base->arena, from, to);
	const char *place = strstr(spec, from);
	if (!place)
		fail_msg("%s: '%s' changes nothing", base->path, line);
	return arena_format(base->arena, "%.*s%s%s", (int)(place - spec), spec,
		unescape(base->arena, to + 1, end), place + strlen(from));
}

/* Returns the spec of some lines: changes of the good one, or all of it. */
static const char *spec_of(const struct base *base, const char *line, const char *end)
{
	struct arena *arena = base->arena;
	const char *spec = base->spec;
	struct text whole = text_open(arena);
	for (; line < end; line = next_line(line)) {
		if (is_edit(line)) {
			spec = edited(base, spec, line);
			continue;
		}
		line += strlen(WHOLE);
		text_add(&whole, "%s\n", unescape(arena, line, line + strcspn(line, "\n")));
		spec = text_read(&whole);
	}
	return spec;
}

/* Returns the number of marked characters if two lines show the place of a message, or 0. */
static size_t marked_by(const char *line, long number)
{
	char *bar;
	if (*line != ' ' || strtol(line, &bar, 10) != number || !begins(bar, " | "))
		return 0;
	const char *marks = next_line(line);
	marks += strspn(marks, " ");
	if (*marks != '|')
		return 0;
	marks += 1 + strspn(marks + 1, " ");
	size_t length = strcspn(marks, "\n");
	return *marks == '^' && strspn(marks + 1, "~") == length - 1 ? length : 0;
}

/* Adds what was printed, a line for each message. */
static void add_said(struct text *text, const char *said)
{
	while (*said) {
		const char *next = next_line(said);
		const char *colon = strchr(said, ':');
		char *end = NULL;
		long line = colon && colon < next ? strtol(colon + 1, &end, 10) : 0;
		long column = line && *end == ':' ? strtol(end + 1, &end, 10) : 0;
		size_t marked = column ? marked_by(next, line) : 0;
		text_add(text, SAID);
		if (marked) {
			text_bytes(text, said, (size_t)(end - said));
			if (marked > 1)
				text_add(text, "-%ld", column + (long)marked - 1);
			said = end;
			next = next_line(next_line(next));
		}
		text_add(text, "%.*s\n", (int)strcspn(said, "\n"), said);
		said = next;
	}
}

/* True if a command is the program and words, with nothing for a shell to do. */
static bool is_plain(const char *command)
{
	return begins(command, "lxplore ") && !strpbrk(command, ";|<>'\"$*");
}

/* Runs such a command without a shell, which would take longer than the program; what it prints on stdout is dropped. */
static struct ended run_plain(const struct base *base)
{
	enum { WORDS_MOST = 32 };
	char *words[WORDS_MOST + 1] = {NULL}, *rest = arena_text(base->arena, base->command);
	const char *err = arena_format(base->arena, "%s/bin/err", base->folder);
	for (int w = 0; w < WORDS_MOST && (words[w] = strtok_r(rest, " ", &rest)); w++)
		;
	pid_t child = fork();
	if (child == 0) {
		int dropped = open("/dev/null", O_RDWR);
		int said = open(err, O_WRONLY | O_CREAT | O_TRUNC, 0666);
		if (dup2(dropped, 0) < 0 || dup2(dropped, 1) < 0 || dup2(said, 2) < 0 ||
			chdir(base->folder) != 0)
			_exit(127);
		execv("bin/lxplore", words);
		_exit(127);
	}
	int status = 0;
	assert_true(child > 0 && waitpid(child, &status, 0) == child);
	return (struct ended){
		.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
		.out = "",
		.err = text_of_file(base->arena, err)};
}

/* Runs the command; `spec`, if not NULL, is in its file. */
static struct ended run(const struct base *base, const char *spec)
{
	if (spec) {
		FILE *file =
			fopen(arena_format(base->arena, "%s/%s", base->folder, base->file), "wb");
		assert_non_null(file);
		fputs(spec, file);
		assert_int_equal(fclose(file), 0);
	}
	if (is_plain(base->command))
		return run_plain(base);
	return shell(base->arena, "cd '%s' && PATH=\"$PWD/bin:$PATH\" && %s", base->folder,
		base->command);
}

/* Reads the command at a line and its spec; returns the line after them. */
static const char *read_base(struct base *base, const char *line)
{
	struct text spec = text_open(base->arena);
	base->command = line_at(base->arena, line + strlen(PROMPT));
	base->file = base->command;
	for (const char *word = base->command; *word; word += strspn(word, " ")) {
		size_t length = strcspn(word, " ");
		if (memchr(word, '.', length) && !memchr(word, '/', length))
			base->file = arena_format(base->arena, "%.*s", (int)length, word);
		word += length;
	}
	for (line = next_line(line); begins(line, MORE); line = next_line(line))
		text_add(&spec, "%s\n", line_at(base->arena, line + strlen(MORE)));
	base->spec = text_read(&spec);
	if (*base->spec) {
		struct ended ended = run(base, base->spec);
		if (ended.status != 0)
			fail_msg("%s: the spec of '%s' is wrong:\n%s", base->path, base->command,
				ended.err);
	}
	return line;
}

/* Returns the text with what is said now. */
static const char *edits_run(struct base *base, const char *text)
{
	struct text now = text_open(base->arena);
	long apart = SANITIZED ? draws_apart(1) : 1, cases = 0;
	for (const char *line = text; *line;) {
		const char *next = next_line(line), *spec = NULL;
		if (begins(line, PROMPT))
			next = read_base(base, line);
		else if (is_spec(line)) {
			while (is_spec(next))
				next = next_line(next);
			spec = spec_of(base, line, next);
		}
		text_bytes(&now, line, (size_t)(next - line));
		bool is_case = spec || (begins(line, PROMPT) && is_said(next));
		if (is_case && cases++ % apart == 0) {
			struct ended ended = run(base, spec);
			add_said(&now, ended.err);
			if (ended.status != WRONG)
				text_add(&now, "[%d]\n", ended.status);
			while (is_said(next))
				next = next_line(next);
		}
		line = next;
	}
	return text_read(&now);
}

void edits_check(struct arena *arena, const char *path)
{
	struct base base = {.arena = arena, .path = path, .folder = shell_folder(arena)};
	const char *text = text_of_file(arena, path);
	assert_non_null(text);
	struct ended ended = shell(arena,
		"mkdir '%s/bin' && ln -s \"$(realpath \"$LXPLORE\")\" '%s/bin/lxplore' && "
		"ln -s \"$PWD/specs\" '%s/specs' && ln -s \"$PWD/tests/bad/good\" '%s/good'",
		base.folder, base.folder, base.folder, base.folder);
	assert_int_equal(ended.status, 0);
	const char *now = edits_run(&base, text);
	shell_remove(base.folder);
	transcript_settle(path, text, now);
}
