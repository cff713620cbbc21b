#include "base/arena.h"
#include "model/graph/planning.h"
#include "model/machine/arch.h"
#include "spec/reader.h"
#include "tests/support/complaints.h"
#include "tests/support/spyre.h"

#include <stdlib.h>
#include <string.h>

#include "tests/test.h"

static const char *const variables[] = {
	"SENCORES", "LX_PLANNING", "DXP_LX_FRAC_AVAIL", "CO_OPTIMIZING_LX_PLANNING"};

static int set_up(void **state)
{
	*state = arena_open();
	for (int i = 0; i < 4; i++)
		unsetenv(variables[i]);
	return 0;
}

static int tear_down(void **state)
{
	for (int i = 0; i < 4; i++)
		unsetenv(variables[i]);
	arena_close(*state);
	return 0;
}

static struct planning of_cores(struct arena *arena, int cores)
{
	return planning_default(spyre_arch(arena, cores));
}

static void defaults_are_those_of_the_machine(void **state)
{
	struct planning planning = of_cores(*state, 32);
	assert_int_equal(planning.cores, 32);
	assert_true(planning.strict && planning.k_fast && planning.lx_planning);
	assert_false(planning.co_optimize);
	assert_int_equal(planning.clones, CLONE_READERS);
	assert_int_equal(planning.lx_capacity, 1677721);
	assert_int_equal(planning.span_limit, 256 << 20);
	assert_true(planning.eligible.all && planning.in_place.all);
	assert_int_equal(of_cores(*state, 64).cores, 32);
	assert_int_equal(of_cores(*state, 4).cores, 4);
}

static void the_lists_have_names(void **state)
{
	struct name_list eligible, in_place;
	assert_true(planning_lists("published", &eligible, &in_place));
	assert_true(name_list_has(&eligible, "amax") && !name_list_has(&eligible, "mm"));
	assert_true(name_list_has(&in_place, "exp") && !name_list_has(&in_place, "mul"));
	assert_true(planning_lists("extended", &eligible, &in_place));
	assert_true(name_list_has(&eligible, "mm") && !name_list_has(&eligible, "gelu"));
	assert_true(name_list_has(&in_place, "mul"));
	assert_true(planning_lists("all", &eligible, &in_place));
	assert_true(name_list_has(&eligible, "gelu"));
	assert_false(planning_lists("some", &eligible, &in_place));
}

static bool read_environment(struct arena *arena, const char *name, const char *value,
	struct planning *planning, const char **complaint)
{
	struct diag *diag = diag_open(arena);
	setenv(name, value, 1);
	bool good = planning_environment(planning, diag);
	unsetenv(name);
	*complaint = complaints_first(arena, diag);
	assert_int_equal(good, !diag_failed(diag));
	return good;
}

static void the_environment_wins_over_the_defaults(void **state)
{
	struct planning planning = of_cores(*state, 32);
	const char *complaint;
	assert_true(read_environment(*state, "SENCORES", "4", &planning, &complaint));
	assert_true(read_environment(*state, "LX_PLANNING", "0", &planning, &complaint));
	assert_true(
		read_environment(*state, "CO_OPTIMIZING_LX_PLANNING", "1", &planning, &complaint));
	assert_true(read_environment(*state, "DXP_LX_FRAC_AVAIL", "0.5", &planning, &complaint));
	assert_int_equal(planning.cores, 4);
	assert_false(planning.lx_planning);
	assert_true(planning.co_optimize);
	assert_int_equal(planning.lx_capacity, 1 << 20);
}

static void fractions_are_exact(void **state)
{
	static const struct {
		const char *text;
		int64_t capacity;
	} rows[] = {{"0.2", 1677721}, {".2", 1677721}, {"0", 2 << 20}, {"1", 0}, {"1.0", 0},
		{"0.25", 1572864}, {"0.300", 1468006}};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct planning planning = of_cores(*state, 32);
		const char *complaint;
		assert_true(read_environment(
			*state, "DXP_LX_FRAC_AVAIL", rows[i].text, &planning, &complaint));
		assert_int_equal(planning.lx_capacity, rows[i].capacity);
	}
}

static bool read_search(
	struct arena *arena, const char *yaml, struct planning *planning, const char **complaint)
{
	struct diag *diag = diag_open(arena);
	const struct node *node = node_read_text(arena, "s.yaml", yaml, strlen(yaml), diag);
	struct reading reading = {.arena = arena, .diag = diag};
	struct reader search;
	assert_non_null(node);
	assert_true(reader_open(&search, &reading, node, "search"));
	bool good = planning_read(&search, planning);
	reader_done(&search);
	*complaint = complaints_first(arena, diag);
	return good && !diag_failed(diag);
}

static void the_spec_wins_over_the_environment(void **state)
{
	struct planning planning = of_cores(*state, 32);
	const char *complaint;
	assert_true(read_environment(*state, "SENCORES", "4", &planning, &complaint));
	assert_true(read_search(*state,
		"{cores: 16, mode: compatible, k_fast: no, lx_planning: false, co_optimize: yes, "
		"clone_split: none, lx_reserve: 1MiB, span_limit: 1GiB, eligible: published, "
		"in_place: [mul, add]}",
		&planning, &complaint));
	assert_int_equal(planning.cores, 16);
	assert_false(planning.strict || planning.k_fast || planning.lx_planning);
	assert_true(planning.co_optimize);
	assert_int_equal(planning.clones, CLONE_NONE);
	assert_int_equal(planning.lx_capacity, 1 << 20);
	assert_int_equal(planning.span_limit, 1 << 30);
	assert_true(name_list_has(&planning.eligible, "clone"));
	assert_false(name_list_has(&planning.eligible, "mm"));
	assert_true(name_list_has(&planning.in_place, "add"));
	assert_false(name_list_has(&planning.in_place, "exp"));
}

static void what_the_spec_leaves_out_stays(void **state)
{
	struct planning before = of_cores(*state, 32), planning = before;
	const char *complaint;
	assert_true(read_search(*state, "{eligible: all, lx_reserve: 0.5}", &planning, &complaint));
	assert_true(name_list_has(&planning.eligible, "anything"));
	assert_int_equal(planning.lx_capacity, 1 << 20);
	assert_int_equal(planning.cores, before.cores);
	assert_int_equal(planning.clones, before.clones);
	assert_int_equal(planning.span_limit, before.span_limit);
}

static void the_machine_gets_the_reserve_that_was_asked_for(void **state)
{
	const struct arch *arch = spyre_arch(*state, 4);
	struct planning planning = planning_default(arch);
	const char *complaint;
	assert_true(read_search(*state, "{lx_reserve: 0.5}", &planning, &complaint));
	const struct arch *other = planning_arch(*state, arch, &planning);
	assert_int_equal(arch_lx_capacity(other), planning.lx_capacity);
	assert_int_equal(arch_stream_address(other), 1 << 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_are_those_of_the_machine),
		cmocka_unit_test(the_lists_have_names),
		cmocka_unit_test(the_environment_wins_over_the_defaults),
		cmocka_unit_test(fractions_are_exact),
		cmocka_unit_test(the_spec_wins_over_the_environment),
		cmocka_unit_test(what_the_spec_leaves_out_stays),
		cmocka_unit_test(the_machine_gets_the_reserve_that_was_asked_for),
	};
	return cmocka_run_group_tests_name("planning", tests, set_up, tear_down);
}
