/* What `score --explain` and `report --explain` say of a plan of a graph. */
#include "base/arena.h"
#include "tests/support/folder.h"
#include "tests/support/shell.h"

#include <string.h>

#include "tests/test.h"

#define ATTENTION "specs/arch/spyre32.yaml specs/workloads/attention.yaml"

static void expect(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("'%s' is not said in\n%s", part, text);
}

static void phases_and_tensors_are_explained(void **state)
{
	struct arena *memory = arena_open();
	struct ended ended = shell(memory, "$LXPLORE score " ATTENTION " --explain");
	assert_int_equal(ended.status, 0);
	expect(ended.out, "\nO                            3840         4176  hbm ");
	expect(ended.out, "\nbundles                                   16061 ");
	expect(ended.out, "an input that is read once: in LX it would be read from HBM as often");
	expect(ended.out, "mismatch: 'KT' writes it h/4 k/8 on 32 cores, 'S' reads it q/32");
	expect(ended.out, "an output that nobody reads: it must end in HBM");
	arena_close(memory);
}

static void the_first_plan_of_a_folder_is(void **state)
{
	struct arena *memory = arena_open();
	const char *results = shell_folder(memory);
	struct ended ended = shell(memory,
		"$LXPLORE explore " ATTENTION " --budget 2 --labels 0 --simulate none -q -o %s && "
		"$LXPLORE report %s --explain",
		results, results);
	assert_int_equal(ended.status, 0);
	expect(ended.out, "\nphase of ");
	expect(ended.out, "\nnot in LX ");
	ended = shell(memory, "rm %s/run.json; $LXPLORE report %s --explain", results, results);
	assert_int_equal(ended.status, 2);
	arena_close(memory);
}

/* The worth of a kind is the least latency that explore proves without it. */
static void the_worth_of_each_kind_is_solved_again(void **state)
{
	struct arena *memory = arena_open();
	const char *results = shell_folder(memory);
	struct ended ended = shell(memory,
		"$LXPLORE explore " ATTENTION " --objective latency --solver joint=cut_dp "
		"--without relay,few_cores --simulate none -q -o %s >%s.few && "
		"tail -1 %s/pareto.csv | rev | cut -d, -f2 | rev",
		results, results, results);
	assert_int_equal(ended.status, 0);
	expect(ended.out, "31081");
	ended = shell(memory,
		"$LXPLORE explore " ATTENTION " --objective latency --solver joint=cut_dp "
		"--simulate none -q -o %s >%s.all && $LXPLORE report %s --explain",
		results, results, results);
	assert_int_equal(ended.status, 0);
	expect(ended.out, "\namax                         1024         1024  lx_read, compute ");
	expect(ended.out, "\nlx_read, compute                 2         2048 ");
	expect(ended.out, "it could stay if cores read what they write, or with a relayout");
	expect(ended.out, "\nwith all kinds              27729     0.0%\n");
	expect(ended.out, "\nwithout few_cores           31081    12.1%\n");
	arena_close(memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(phases_and_tensors_are_explained),
		cmocka_unit_test(the_first_plan_of_a_folder_is),
		cmocka_unit_test(the_worth_of_each_kind_is_solved_again),
	};
	return cmocka_run_group_tests_name("explain", tests, NULL, NULL);
}
