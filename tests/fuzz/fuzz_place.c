/*
 * `place` on changed tables of buffers: it ends with every table; a layout that it prints is
 * right when it is read again, a proof that it writes holds, and two threads find what one finds.
 *
 *	N=100000 SEED=7 fuzz_place     more inputs, or others
 *	N=1 FIRST=1234 fuzz_place      one again
 */
#include "base/arena.h"
#include "base/text.h"
#include "tests/support/draws.h"
#include "tests/support/fuzz_command.h"
#include "tests/support/mutated_text.h"

#include <stdio.h>
#include <string.h>

#include "tests/test.h"

static const char *const tables[] = {"tests/fuzz/corpus/buffers.csv",
	"tests/fuzz/corpus/offsets.csv", "specs/buffers/attention.csv",
	"specs/buffers/twisted.csv"};
static const char *const solvers_of_place[] = {
	"exact", "ilp", "boxes", "greedy", "firstfit", "bestfit"};
enum { TABLES = sizeof tables / sizeof *tables, SOLVERS = 6 };

struct question {
	const struct fuzz_input *input;
	const char *table, *text; /* its path, what it says */
	const char *capacity;
	struct words words; /* without the jobs */
	bool spill, minimize;
};

static const char *table_at(const struct fuzz_input *input, const char *path)
{
	const char *text = text_of_file(input->arena, path);
	if (!text)
		fuzz_wrong("%s is missing", path);
	return text;
}

static const char *put(const struct fuzz_input *input, const char *name, const char *text)
{
	const char *path = arena_format(input->arena, "%s/%s", input->folder, name);
	FILE *file = fopen(path, "wb");
	if (!file || fputs(text, file) < 0 || fclose(file) != 0)
		fuzz_wrong("cannot write %s", path);
	return path;
}

static const char *draw_table(const struct fuzz_input *input)
{
	struct random *random = input->random;
	const char *text = table_at(input, tables[random_below(random, TABLES)]);
	const char *other = table_at(input, tables[random_below(random, TABLES)]);
	text = mutated_with(input->arena, random, text, other);
	return draw_chance(random, 6) ? mutated_with(input->arena, random, text, other) : text;
}

static const char *draw_capacity(const struct fuzz_input *input)
{
	static const char *const some[] = {"5", "6", "700", "896", "1280", "2KiB", "256KiB", "1MiB",
		"786432", "0", "9223372036854775807", "1e3", "-1"};
	return some[random_below(input->random, sizeof some / sizeof *some)];
}

static struct question draw_question(const struct fuzz_input *input)
{
	struct random *random = input->random;
	struct question question = {
		.input = input, .text = draw_table(input), .capacity = draw_capacity(input)};
	question.table = put(input, "b.csv", question.text);
	question.minimize = draw_chance(random, 4);
	question.spill = !question.minimize && draw_chance(random, 3);
	words_add(input->arena, &question.words, "%s --budget %d", question.table,
		draw_chance(random, 4) ? 2000 : 100);
	if (!question.minimize)
		words_add(input->arena, &question.words, "--capacity %s", question.capacity);
	words_add(input->arena, &question.words, "%s",
		question.minimize ? "--minimize"
		: question.spill  ? "--spill"
				  : "");
	if (draw_chance(random, 3))
		words_add(input->arena, &question.words, "--alignment %d",
			draw_chance(random, 2) ? 128 : 3);
	if (draw_chance(random, 6))
		words_add(input->arena, &question.words, "--reserve 64-128 --reserve 0x200-1KiB");
	if (!draw_chance(random, 3))
		words_add(input->arena, &question.words, "--solver %s",
			solvers_of_place[random_below(random, SOLVERS)]);
	return question;
}

/* Adds the options that decide if a layout or a proof is right, without those of the search. */
static void add_room(const struct question *question, struct words *words)
{
	for (int i = 1; i < question->words.count; i++)
		if (strstr("--capacity --alignment --reserve", question->words.at[i]))
			words_add(question->input->arena, words, "%s %s", question->words.at[i],
				question->words.at[i + 1]);
}

/* Checks the printed layout, as a table. */
static void check_layout(const struct question *question, const struct did *did)
{
	const struct fuzz_input *input = question->input;
	struct words words = {0};
	words_add(input->arena, &words, "%s --check", put(input, "found.csv", did->out));
	add_room(question, &words);
	struct did check = do_command(input, command_find("place"), &words);
	if (check.status != EXIT_FOUND)
		fuzz_wrong("%s\nends with status %d of what was found by\n%s\n%s%s", check.line,
			check.status, did->line, check.err, did->out);
}

static void check_proof(const struct question *question, const char *path)
{
	const struct fuzz_input *input = question->input;
	struct words words = {0};
	if (!text_of_file(input->arena, path))
		return;
	words_add(input->arena, &words, "%s --check-certificate %s", question->table, path);
	add_room(question, &words);
	struct did check = do_command(input, command_find("place"), &words);
	if (check.status != EXIT_FOUND)
		fuzz_wrong("%s\nends with status %d of a proof that was found\n%s%s", check.line,
			check.status, check.err, check.out);
}

static bool try_table(const struct fuzz_input *input)
{
	struct question question = draw_question(input);
	struct words words = question.words;
	const char *proof = arena_format(input->arena, "%s/proof.yaml", input->folder);
	if (!question.minimize && !question.spill)
		words_add(input->arena, &words, "--certificate %s", proof);
	struct words again = words;
	words_add(input->arena, &words, "--jobs 1");
	struct did did = do_command(input, command_find("place"), &words);
	if (did.status == EXIT_INPUT)
		return false;
	if (did.status == EXIT_FOUND)
		check_layout(&question, &did);
	check_proof(&question, proof);
	if (draw_chance(input->random, 16)) {
		words_add(input->arena, &again, "--jobs 2");
		struct did twice = do_command(input, command_find("place"), &again);
		if (twice.status != did.status || !text_equal(twice.out, did.out))
			fuzz_wrong("%s\nfinds other things with two jobs:\n%s%s", did.line, did.out,
				twice.out);
	}
	return true;
}

static void nothing_is_found(void **state)
{
	assert_int_equal(*(long *)*state, 0);
}

int main(void)
{
	long findings = fuzz_run("fuzz_place", 300, try_table);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate(nothing_is_found, &findings),
	};
	return cmocka_run_group_tests_name("fuzz_place", tests, NULL, NULL);
}
