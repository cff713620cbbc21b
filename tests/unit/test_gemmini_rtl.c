#include "base/arena.h"
#include "tests/support/folder.h"

#include <stdlib.h>
#include <string.h>

#include "tests/test.h"

/*
 * scripts/gemmini-rtl on rows whose cycles follow from the machine by hand: the error printed is the one to the
 * cycles given, and rows that cannot be read are named.
 */
static const char head[] = "mapping,C,K,N,P,Q,R,S,stride,cycles\n";

/* Its language may be missing, as for other scripts. */
static int set_up(void **state)
{
	folder_set_up(state);
	return shell(arena, "command -v python3").status == 0
		       ? 0
		       : (print_message("no python3\n"), exit(0), 0);
}

static struct ended compare(const char *rows)
{
	folder_put("rows.csv", arena_format(arena, "%s%s", head, rows));
	return shell(arena, "scripts/gemmini-rtl CASES=%s/rows.csv $LXPLORE", folder);
}

/* The number in a column of a line. */
static double column(const char *text, const char *line, int number)
{
	const char *at = strstr(text, line);
	if (!at)
		fail_msg("no %s in %s", line, text);
	at += strlen(line);
	double value = 0;
	for (int i = 0; i <= number; i++) {
		char *end;
		value = strtod(at, &end);
		at = end + strspn(end, " %");
	}
	return value;
}

/* Cycles of a round of the shipped machine. */
static int round_cycles(void)
{
	return atoi(shell(arena,
		"sed -n 's/^ *round_time: \\([0-9]*\\)ns.*/\\1/p' specs/arch/gemmini_rtl.yaml")
			    .out);
}

/* 8 rounds, all else being less. */
static const char small[] = "L3[WIO] K4 C2 - L2[WI] N1 K4X - L1[O] Q2 C2X - L0[W] P2,"
			    "4,16,1,2,2,1,1,1,%d\n";

FOLDER_TEST(errors_are_those_of_the_cycles)
{
	int cycles = 8 * round_cycles();
	assert_true(cycles > 0);
	struct ended ended = compare(arena_format(arena, small, cycles));
	assert_int_equal(ended.status, 0);
	assert_float_equal(column(ended.out, "odd kernels  calibrated", 0), 1, 0);
	assert_float_equal(column(ended.out, "calibrated", 1), 0, 0.01);
	/* Half the cycles: an error of 100 %. */
	ended = compare(arena_format(arena, small, cycles / 2));
	assert_float_equal(column(ended.out, "calibrated", 1), 100, 0.1);
	/* Without rounds all is far less. */
	assert_true(column(ended.out, "analytical", 1) > 90);
}

/* A layer of 4 x 2 runs as one of 4 x 4. */
FOLDER_TEST(layers_run_as_squares)
{
	struct ended ended = compare(arena_format(arena,
		"L3[WIO] K4 C2 - L2[WI] N1 K4X - L1[O] Q2 C2X - L0[W] P4,4,16,1,4,2,1,1,1,%d\n",
		16 * round_cycles()));
	assert_float_equal(column(ended.out, "calibrated", 1), 0, 0.01);
}

/* 128 x 256 x 16 on an array of 16 x 16: tiles of 16 in each dimension, 128 cycles each. */
FOLDER_TEST(products_run_in_blocks)
{
	struct ended ended = compare(arena_format(arena,
		"L3[WIO] K16 C32 - L2[WI] N1 K8X - L1[O] N1 C8X - L0[W] P16,256,128,1,16,1,1,1,1,%d\n",
		16 * 8 * 8 * 128));
	assert_int_equal(ended.status, 0);
	assert_float_equal(
		column(ended.out, "products                       calibrated", 1), 0, 0.01);
}

FOLDER_TEST(the_machine_is_that_of_the_row)
{
	folder_put("rows.csv",
		arena_format(arena, "arch.meshX,target.cycle,mapping.mapping,prob.C,prob.K,prob.N,"
				    "prob.P,prob.Q,prob.R,prob.S,prob.Hstride\n"
				    "2,2176,L3[WIO] K4 C2 - L2[WI] N1 K4X - L1[O] Q2 C2X - L0[W] "
				    "P2,4,16,1,2,2,1,1,1\n"));
	struct ended ended = shell(arena, "scripts/gemmini-rtl CASES=%s/rows.csv $LXPLORE", folder);
	assert_int_equal(ended.status, 0);
	/* Four columns do not fit into two. */
	assert_null(strstr(ended.out, "odd kernels  "));
	assert_non_null(strstr(ended.err, "has no prediction"));
}

FOLDER_TEST(bad_rows_are_named)
{
	struct ended ended = compare(arena_format(arena,
		"%sL3[WIO] K4 - L2[WI] N1 - L1[O] N1,4,4,1,1,1,1,1,1,5\n"
		"L3[WIO] K4 - L2[WI] N1 - L1[O] N1 - L0[W] N1,1,8,1,1,1,1,1,1,5\n"
		"L3[WIO] K4 - L2[WI] N1 - L1[O] N1 - L0[W] N1,1,4,1,1,1,1,1,1,-5\n",
		arena_format(arena, small, 2176)));
	assert_int_equal(ended.status, 0);
	assert_non_null(
		strstr(ended.err, "rows.csv:3: skipped: a mapping has the levels L3 to L0"));
	assert_non_null(strstr(ended.err, ":4: skipped: the factors of K multiply to 4, not to 8"));
	assert_non_null(strstr(ended.err, ":5: skipped: cycles are -5"));
	assert_float_equal(column(ended.out, "calibrated", 0), 1, 0);
	assert_int_equal(compare("").status, 1);
}

FIXTURE(set_up, folder_tear_down);
