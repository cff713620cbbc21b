#include "base/amount.h"
#include "base/arena.h"
#include "base/random.h"
#include "base/text.h"
#include "tests/support/folder.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"

/* Amounts for people: what they look like, that they are read as what they were, and the same rule on the page. */
enum { DRAWS = 100000 };

FOLDER_TEST(amounts_keep_their_powers_of_ten)
{
	static const struct {
		enum amount kind;
		double value;
		const char *text;
	} rows[] = {
		{AMOUNT_ENERGY, 1.274e10, "12740 uJ"},
		{AMOUNT_NUMBER, 1.0753e20, "1.0753e+20"},
		{AMOUNT_NUMBER, 1e20, "1e+20"},
		{AMOUNT_NUMBER, 12740, "12740"},
		{AMOUNT_NUMBER, 1e14, "100000000000000"},
		{AMOUNT_NUMBER, 99999.6, "100000"},
		{AMOUNT_NUMBER, 0.000123456, "0.00012346"},
		{AMOUNT_NUMBER, 9.99996e-5, "0.0001"},
		{AMOUNT_NUMBER, 0.00001, "1e-5"},
		{AMOUNT_NUMBER, 12344.5, "12345"},
		{AMOUNT_NUMBER, -2.5, "-2.5"},
		{AMOUNT_NUMBER, 0, "0"},
		{AMOUNT_NUMBER, INFINITY, "inf"},
		{AMOUNT_TIME, 15030, "15.03 us"},
		{AMOUNT_TIME, 5, "5 ns"},
		{AMOUNT_TIME, 2e9, "2000 ms"},
		{AMOUNT_BYTES, 2097152, "2048 KiB"},
		{AMOUNT_BYTES, 131277, "128.2 KiB"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		assert_string_equal(amount_text(arena, rows[i].kind, rows[i].value), rows[i].text);
	assert_string_equal(amount_title(arena, "sim_energy_pj", amount_unit(AMOUNT_ENERGY, 2e7)),
		"sim energy (uJ)");
	assert_string_equal(
		amount_title(arena, "hbm_bytes", amount_unit(AMOUNT_BYTES, 2)), "hbm bytes (B)");
}

/* Values of all sizes; each third is a whole number, each third has few digits and so may be a tie. */
static double draw(struct random *random, int i)
{
	double size = pow(10, (double)random_below(random, 300) / 10 - 8);
	double value = size * ((double)random_below(random, 1 << 30) / (1 << 30) + 1e-3);
	return i % 3 == 1 ? round(value) : i % 3 == 2 ? ldexp(round(value * 64), -6) : value;
}

FOLDER_TEST(amounts_are_read_as_what_they_were)
{
	struct random random = random_open(1, 0);
	struct arena_mark mark = arena_mark(arena);
	for (int i = 0; i < DRAWS; i++, arena_release(arena, mark)) {
		enum amount kind = (enum amount)random_below(&random, AMOUNT_COUNT), as;
		double value = draw(&random, i), read;
		const char *text = amount_text(arena, kind, value);
		assert_true(amount_read(text, &as, &read));
		if (as != kind || fabs(read - value) > 5.0001e-5 * fabs(value))
			fail_msg("%.17g is written '%s'", value, text);
	}
}

FOLDER_TEST(the_page_has_the_same_rule)
{
	struct random random = random_open(2, 0);
	struct arena_mark mark = arena_mark(arena);
	if (folder_run("command -v node").status) {
		print_message("skip: amounts of the page (no node)\n");
		return;
	}
	FILE *file = fopen(folder_put("values", ""), "w");
	assert_non_null(file);
	for (int i = 0; i < DRAWS; i++, arena_release(arena, mark)) {
		enum amount kind = (enum amount)random_below(&random, AMOUNT_COUNT);
		double value = draw(&random, i);
		fprintf(file, "%d %.17g %s\n", kind, value, amount_text(arena, kind, value));
	}
	assert_int_equal(fclose(file), 0);
	struct ended ended = folder_run(
		"$program explore -q $OLDPWD/specs/arch/three_level.yaml $OLDPWD/specs/problems/gemm_16.yaml "
		"$OLDPWD/specs/constraints/keep_all.yaml -o run && $program report --html run && "
		"node $OLDPWD/tests/page/amounts.mjs run/report.html values");
	if (ended.status)
		fail_msg("%s%s", ended.out, ended.err);
}
