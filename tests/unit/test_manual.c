/*
 * Output of `lxplore manual`: the man page and the completions know every option that --help shows,
 * the man page is a page for man, and a real bash completes with what it is given.
 */
#include "base/arena.h"
#include "base/text.h"
#include "tests/support/shell.h"

#include <string.h>

#include "tests/test.h"

static const char *const commands[] = {"explore", "score", "simulate", "check", "place", "diff",
	"campaign", "report", "init", "list"};
enum { COMMANDS = sizeof commands / sizeof *commands };

static const char *print(struct arena *arena, const char *form)
{
	struct ended ended = shell(arena, "\"$LXPLORE\" manual %s", form);
	assert_int_equal(ended.status, 0);
	assert_string_equal(ended.err, "");
	return ended.out;
}

/* Hyphens as the man page writes them. */
static const char *escape(struct arena *arena, const char *option, size_t length)
{
	struct text text = text_open(arena);
	for (size_t i = 0; i < length; i++)
		text_add(&text, "%s%c", option[i] == '-' ? "\\" : "", option[i]);
	return text_read(&text);
}

TEST(every_option_is_in_every_form)
{
	const char *page = print(arena, "man"), *bash = print(arena, "bash"),
		   *zsh = print(arena, "zsh");
	size_t known = 0;
	for (size_t i = 0; i < COMMANDS; i++) {
		struct ended help = shell(arena, "\"$LXPLORE\" %s --help", commands[i]);
		if (!strstr(page, arena_format(arena, "\n.SS %s ", commands[i])))
			fail_msg("the man page lacks '%s'", commands[i]);
		for (const char *line = help.out; *line;) {
			size_t blanks = strspn(line, " "), length = strcspn(line, "\n");
			const char *option = line + blanks;
			line += length + (line[length] == '\n');
			if (blanks < 2 || *option != '-')
				continue;
			option = strstr(option, "--") + 2;
			int letters = (int)strcspn(option, " \n");
			const char *word = arena_format(arena, "--%.*s", letters, option);
			const char *man = escape(arena, word, strlen(word));
			if (!strstr(page, man) || !strstr(bash, word) || !strstr(zsh, word))
				fail_msg("not everywhere: '%s' of '%s'", word, commands[i]);
			known++;
		}
	}
	assert_true(known > 20);
}

/* Returns bash's completions of the words of a command line, the last one incomplete. */
static const char *complete(struct arena *arena, const char *words, int last)
{
	struct ended ended = shell(arena,
		"bash -c 'source <(\"$LXPLORE\" manual bash); COMP_WORDS=(%s); COMP_CWORD=%d; "
		"_lxplore; echo \"${COMPREPLY[*]}\"'",
		words, last);
	assert_string_equal(ended.err, "");
	return ended.out;
}

TEST(bash_completes)
{
	assert_string_equal(complete(arena, "lxplore exp", 1), "explore\n");
	assert_string_equal(complete(arena, "lxplore explore --epsi", 2), "--epsilon\n");
	assert_string_equal(complete(arena, "lxplore explore --simulate fr", 3), "frontier\n");
	assert_string_equal(
		complete(arena, "lxplore explore specs/arch/eyer", 2), "specs/arch/eyeriss.yaml\n");
	assert_string_equal(complete(arena, "lxplore place --solver firs", 3), "firstfit\n");
	assert_string_equal(complete(arena, "lxplore campaign st", 2), "status\n");
	assert_string_equal(complete(arena, "lxplore campaign run specs/sweeps/mach", 3),
		"specs/sweeps/machine_sizes.yaml\n");
}

TEST(the_page_is_for_man)
{
	struct ended ended = shell(arena,
		"command -v groff >/dev/null || exit 9; \"$LXPLORE\" manual man | groff -man -Tascii -ww");
	if (ended.status != 9) {
		assert_string_equal(ended.err, "");
		assert_non_null(strstr(ended.out, "3 nothing found"));
	}
	ended = shell(arena, "\"$LXPLORE\" manual fish");
	assert_int_equal(ended.status, 2);
	assert_string_equal(ended.err, "lxplore: manual needs one of: man, bash, zsh\n");
}
