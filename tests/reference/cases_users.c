#include "base/arena.h"
#include "base/text.h"
#include "tests/support/case_json.h"
#include "tests/support/family.h"
#include "tests/support/shell.h"
#include "tests/support/users_score.h"

#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Family users: files of Timeloop's users as they wrote them.  What timeloop-model
 * scores is scored alike (`model`, and the published mappings of `mapper-input`);
 * what its mapper takes is read, and has a mapspace; what neither models is
 * refused by name.  Variants change one line of a small case.
 */

/* The files of a command, one a line, as words of the shell. */
static const char *files_of(struct family *family, const char *path)
{
	struct text words = text_open(family->arena);
	for (const char *line = text_of_file(family->arena, path); line && *line;) {
		size_t length = strcspn(line, "\n");
		if (length)
			text_add(&words, " '%.*s'", (int)length, line);
		line += length + (line[length] == '\n');
	}
	return text_read(&words);
}

static struct ended run(
	struct family *family, const char *folder, const char *command, const char *words)
{
	return shell(
		family->arena, "cd '%s' && timeout 120 \"$LXPLORE\" %s %s", folder, command, words);
}

static const char *first_error(struct family *family, const char *text)
{
	const char *error = strstr(text, "error: ");
	return error ? arena_format(family->arena, "%.*s", (int)strcspn(error, "\n"), error)
		     : "no error is told";
}

static void note_status(
	struct family *family, const char *command, const struct ended *ended, const char *expected)
{
	family_note(family, command,
		arena_format(family->arena, "exit status %d, expected %s; %s", ended->status,
			expected, first_error(family, ended->err)));
}

static void score(struct family *family, const char *folder, const char *words,
	const json_t *expected, bool infeasible_is_fine)
{
	struct ended ended = run(family, folder, "score --counting timeloop --format json", words);
	json_t *got = json_loads(ended.out, 0, NULL);
	family->compared++;
	if (!got)
		note_status(family, "score", &ended, "0");
	else if (!infeasible_is_fine || !json_is_false(json_object_get(got, "feasible")))
		users_score_compare(family, expected, got);
	json_decref(got);
}

/* Read without an error, and a mapping is not excluded; if `check` cannot decide, a search finds
 * one. */
static void expect_mapspace(struct family *family, const char *folder, const char *words)
{
	struct ended ended = run(family, folder, "check", words);
	family->compared++;
	if (ended.status == 3 || ended.status == 124) {
		const char *out = shell_folder(family->arena);
		ended = run(family, folder,
			arena_format(family->arena,
				"explore --budget 1 --simulate none -q -o '%s/r'", out),
			words);
		shell_remove(out);
	}
	if (ended.status != 0)
		note_status(family, "check", &ended, "0");
}

/* True if a pattern occurs in lines that are not notes. */
static bool is_named(const char *pattern, const char *text)
{
	regex_t compiled;
	bool found = false;
	if (regcomp(&compiled, pattern, REG_EXTENDED | REG_ICASE | REG_NOSUB) != 0)
		return false;
	while (*text && !found) {
		char line[2048];
		size_t length = strcspn(text, "\n");
		snprintf(line, sizeof line, "%.*s", (int)length, text);
		found = !strstr(line, "note: ") && regexec(&compiled, line, 0, NULL, 0) == 0;
		text += length + (text[length] == '\n');
	}
	regfree(&compiled);
	return found;
}

/* `feature`: what an error must name; NULL where any will do. */
static void expect_refusal(
	struct family *family, const char *folder, const char *words, const char *feature)
{
	struct ended ended = run(family, folder, "check", words);
	family->compared++;
	if (ended.status != 1 && ended.status != 2)
		note_status(family, "check", &ended, "1 or 2");
	else if (feature && !is_named(feature, ended.err) && !is_named(feature, ended.out))
		family_note(family, "refused without naming",
			arena_format(
				family->arena, "%s; %s", feature, first_error(family, ended.err)));
}

/* Whatever `check` says of what Timeloop refuses, it says it. */
static void expect_answer(struct family *family, const char *folder, const char *words)
{
	struct ended ended = run(family, folder, "check", words);
	family->compared++;
	if (ended.status > 3)
		note_status(family, "check", &ended, "0 to 3");
}

static bool is_record(const char *file)
{
	return strcmp(file, "expected.json") == 0;
}

static void check_case(struct family *family, const char *root, const char *name, const char *file)
{
	family_case(family, "%s", name);
	const char *folder = arena_format(family->arena, "%s/users/%s", root, name);
	json_t *expected =
		json_load_file(arena_format(family->arena, "%s/%s", folder, file), 0, NULL);
	const json_t *mapped = json_object_get(expected, "mapped");
	const char *kind = case_text(expected, "kind");
	const char *words = files_of(family, arena_format(family->arena, "%s/command.txt", folder));
	if (strcmp(kind, "model") == 0)
		score(family, folder, words, expected, false);
	else if (strcmp(kind, "refuse") == 0)
		expect_refusal(family, folder, words, case_text(expected, "feature"));
	else if (strcmp(kind, "mapper-input") == 0)
		expect_mapspace(family, folder, words);
	if (mapped)
		score(family, folder,
			files_of(family, arena_format(family->arena, "%s/%s", folder,
						 case_text(mapped, "command"))),
			mapped, false);
	json_decref(expected);
}

/* `text` with every `old` in it replaced. */
static const char *replaced(struct arena *arena, const char *text, const char *old, const char *new)
{
	struct text out = text_open(arena);
	size_t length = strlen(old);
	for (const char *at; length && (at = strstr(text, old)); text = at + length)
		text_add(&out, "%.*s%s", (int)(at - text), text, new);
	text_add(&out, "%s", text);
	return text_read(&out);
}

static const char *changed(struct arena *arena, const char *text, const json_t *change)
{
	const json_t *whole = json_object_get(change, "text");
	size_t i;
	json_t *pair;
	json_array_foreach(json_object_get(change, "replace"), i, pair)
		text = replaced(arena, text, json_string_value(json_array_get(pair, 0)),
			json_string_value(json_array_get(pair, 1)));
	return arena_format(arena, "%s%s%s", case_text(change, "before"),
		whole ? json_string_value(whole) : text, case_text(change, "after"));
}

/* Writes one file of a variant, and adds it to the words of its command. */
static void put(struct family *family, const char *folder, const char *name, const char *text,
	struct text *words)
{
	FILE *file = fopen(arena_format(family->arena, "%s/%s", folder, name), "wb");
	if (!file || fputs(text, file) < 0)
		family_note(family, name, "cannot be written");
	if (file)
		fclose(file);
	text_add(words, " '%s'", name);
}

/* The files of the base with what the variant changes, then those that it adds. */
static const char *put_variant(struct family *family, const char *base, const json_t *files,
	const json_t *change, const char *folder)
{
	struct arena *arena = family->arena;
	struct text words = text_open(arena);
	size_t i;
	json_t *file, *other;
	const char *name;
	json_array_foreach(files, i, file) {
		name = json_string_value(file);
		const char *text = text_of_file(arena, arena_format(arena, "%s/%s", base, name));
		put(family, folder, name,
			changed(arena, text ? text : "", json_object_get(change, name)), &words);
	}
	json_object_foreach((json_t *)change, name, other) {
		bool is_base = false;
		json_array_foreach(files, i, file)
			is_base |= strcmp(json_string_value(file), name) == 0;
		if (!is_base)
			put(family, folder, name, changed(arena, "", other), &words);
	}
	return text_read(&words);
}

static void check_variant(
	struct family *family, const char *base, const json_t *files, const json_t *variant)
{
	family_case(family, "%s", case_text(variant, "name"));
	const char *folder = shell_folder(family->arena);
	const char *words =
		put_variant(family, base, files, json_object_get(variant, "change"), folder);
	const char *sparse = json_string_value(json_object_get(variant, "sparse"));
	if (sparse || json_is_true(json_object_get(variant, "must_refuse")))
		expect_refusal(family, folder, words, sparse);
	else if (strcmp(case_text(variant, "head"), "refuses") != 0)
		score(family, folder, words, variant,
			json_is_true(json_object_get(variant, "constraints_only")));
	else
		expect_answer(family, folder, words);
	shell_remove(folder);
}

static void check_variants(struct family *family, const char *root)
{
	json_t *all = family_file(family, root, "users/variants.json");
	char base[1024];
	size_t i;
	json_t *variant;
	snprintf(base, sizeof base, "%s/users/%s", root, case_text(all, "base"));
	json_array_foreach(json_object_get(all, "variants"), i, variant)
		check_variant(family, base, json_object_get(all, "files"), variant);
	json_decref(all);
}

int main(int argc, char **argv)
{
	char *root = realpath(argc > 1 ? argv[1] : "../shared/cases", NULL);
	const char *given = getenv("LXPLORE");
	char *program = realpath(given ? given : "build/release/lxplore", NULL);
	struct family family;
	int status = 0;
	if (program)
		setenv("LXPLORE", program, 1);
	if (family_open(&family, "users/files", root ? root : "missing", "users")) {
		family_each(&family, root, "users", is_record, check_case);
		status = family_close(&family);
	}
	if (family_open(
		    &family, "users/variants", root ? root : "missing", "users/variants-base")) {
		check_variants(&family, root);
		status |= family_close(&family);
	}
	free(program);
	free(root);
	return status;
}
