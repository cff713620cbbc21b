#include "base/arena.h"
#include "base/text.h"
#include "tests/support/complaints.h"
#include "tests/support/constraint_case.h"

#include <string.h>

#include "tests/test.h"

/* Returns the explanation of every constraint, a line each. */
static const char *explained(const struct constraint_case *test)
{
	struct text text = text_open(test->arena);
	for (size_t i = 0; i < test->constraints.count; i++) {
		const struct constraint *constraint = &test->constraints.at[i];
		text_add(&text, "%s\n",
			constraint->kind->explain(test->domain, constraint, test->arena));
	}
	return text_read(&text);
}

/* The bounds and orders that are not what the machine allows, a row each. */
static void add_factors(struct text *text, const struct constraint_case *test,
	const struct factor_domain *now, const struct factor_domain *was)
{
	for (int d = 0; d < test->shape->dimension_count; d++) {
		const char *name = test->shape->dimensions[d].name;
		if (now[d].least == was[d].least && now[d].most == was[d].most)
			continue;
		if (now[d].least == now[d].most)
			text_add(text, " %s=%lld", name, (long long)now[d].least);
		else
			text_add(text, " %s=%lld..%lld", name, (long long)now[d].least,
				(long long)now[d].most);
	}
}

static void add_order(struct text *text, const struct constraint_case *test, const char *what,
	int count, const uint8_t *order)
{
	if (count)
		text_add(text, " %s", what);
	for (int i = 0; i < count; i++)
		text_add(text, "%s%s", i ? "" : " ", test->shape->dimensions[order[i]].name);
}

static void add_spaces(
	struct text *text, const struct constraint_case *test, const char *what, uint32_t spaces)
{
	if (spaces)
		text_add(text, " %s", what);
	for (int t = 0; t < test->shape->space_count; t++)
		if (spaces >> t & 1)
			text_add(text, " %s", test->shape->spaces[t].name);
}

static const char *narrowed(const struct constraint_case *test)
{
	struct text text = text_open(test->arena);
	const struct domain *was = domain_make(test->arena, &test->arch, test->shape, NULL);
	for (int r = 0; r < test->arch.level_count; r++) {
		const struct row_domain *row = &test->domain->rows[r], *old = &was->rows[r];
		struct text line = text_open(test->arena);
		add_factors(&line, test, row->temporal, old->temporal);
		add_order(&line, test, "inner", row->temporal_inner, row->temporal_order);
		add_order(&line, test, "outer", row->temporal_outer, row->temporal_last);
		struct text across = text_open(test->arena);
		add_factors(&across, test, row->spatial, old->spatial);
		add_order(&across, test, "inner", row->spatial_inner, row->spatial_order);
		add_order(&across, test, "outer", row->spatial_outer, row->spatial_last);
		if (row->split >= 0)
			text_add(&across, " split %d", row->split);
		if (row->least_usage > 0)
			text_add(&across, " usage %g", row->least_usage);
		if (across.length)
			text_add(&line, " spatial:%s", text_read(&across));
		if (row->keep != old->keep)
			add_spaces(&line, test, "keep", row->keep);
		if (row->bypass != old->bypass)
			add_spaces(&line, test, "bypass", row->bypass);
		if (line.length)
			text_add(&text, "%s:%s\n", test->arch.levels[r].name, text_read(&line));
	}
	if (test->domain->least_parallelism > 0)
		text_add(&text, "busy: %g\n", test->domain->least_parallelism);
	return text_read(&text);
}

/* A text to read; what it narrows and how it explains itself; a mapping that passes and one that
 * does not, with the reason. */
struct kind_case {
	const char *yaml, *narrowed, *explained;
	const char *passes, *breaks, *why;
};

#define AT "constraints.yaml:1:"

static const struct kind_case kind_cases[] = {
	{"[{target: GLB, type: temporal, factors: [M=3, N<=4, K>=2]}]", "GLB: M=3 N=1..4 K=2..6\n",
		"loop bounds at 'GLB' (temporal): M=3, N<=4, K>=2\n", "GLB: M3 N4 K6 | RF: M4 N2",
		"GLB: M3 N8 K6 | RF: M4", "'GLB' (temporal) has N=8, not N<=4"},
	{"[{target: GLB, type: temporal, factors: 'M=3,N<4 K>1'}]", "GLB: M=3 N=1..3 K=2..6\n",
		"loop bounds at 'GLB' (temporal): M=3, N<4, K>1\n", "GLB: M3 N2 K6 | RF: M4 N4",
		"GLB: M3 N2 | RF: M4 N4 K6", "'GLB' (temporal) has K=1, not K>1"},
	{"[{target: RF, type: temporal, factors: M0}]", "RF: M=12\n",
		"loop bounds at 'RF' (temporal): M=12\n", "DRAM: N8 K6 | RF: M12",
		"DRAM: N8 K6 M12", "'RF' (temporal) has M=1, not M=12"},
	{"[{target: PE, type: spatial, constraints: {factors_only: [M=4]}}]",
		"PE: spatial: M=4 N=1 K=1\n", "loop bounds at 'PE' (spatial): M=4, N=1, K=1\n",
		"DRAM: M3 N8 K6 | PE: M4", "DRAM: M3 N4 K6 | PE: M4 N2@y",
		"'PE' (spatial) has N=2, not N=1"},
	{"[{target: GLB, type: temporal, factors: [M=3], default_max_factor: 2}]",
		"GLB: M=3 N=1..2 K=1..2\n",
		"loop bounds at 'GLB' (temporal): M=3\n"
		"loop bounds at 'GLB' (temporal): N<=2, K<=2\n",
		"GLB: M3 N2 | RF: M4 N4 K6", "GLB: M3 N2 K6 | RF: M4 N4",
		"'GLB' (temporal) has K=6, not K<=2"},
	{"[{target: GLB, type: temporal, factors: [M=3], default_min_factor: 2}]",
		"GLB: M=3 N=2..8 K=2..6\n",
		"loop bounds at 'GLB' (temporal): M=3\n"
		"loop bounds at 'GLB' (temporal): N>=2, K>=2\n",
		"GLB: M3 N2 K6 | RF: M4 N4", "GLB: M3 N2 | RF: M4 N4 K6",
		"'GLB' (temporal) has K=1, not K>=2"},
	{"[{target: RF, type: temporal, no_iteration_over_dataspaces: [A]}]", "RF: M=1 K=1\n",
		"no iteration over A at 'RF' (temporal): M=1, K=1\n", "DRAM: M12 K6 | RF: N8",
		"DRAM: M12 N8 | RF: K6", "'RF' (temporal) has K=6, not K=1"},
	{"[{target: RF, type: temporal, must_iterate_over_dataspaces: [A, Z]}]", "",
		"'RF' (temporal) iterates over each of A (M, K), Z (M, N)\n",
		"DRAM: N8 K6 | RF: M12", "DRAM: M12 N8 | RF: K6",
		"'RF' (temporal) has no loop over Z"},
	{"[{target: RF, type: temporal, must_iterate_over_dataspaces: [B], factors: [K=1]}]",
		"RF: N=2..8 K=1\n",
		"'RF' (temporal) iterates over each of B (N, K)\n"
		"loop bounds at 'RF' (temporal): K=1\n",
		"DRAM: N4 K6 M12 | RF: N2", "DRAM: N8 K6 | RF: M12",
		"'RF' (temporal) has no loop over B"},
	{"[{target: GLB, type: temporal, permutation: [K, M]}]", "GLB: inner KM\n",
		"loop order at 'GLB' (temporal), innermost first: K M _\n", "GLB: N8 M12 K6",
		"GLB: N8 K6 M12",
		"'GLB' (temporal) has the loops M K N, innermost first, not in the order K M _"},
	{"[{target: GLB, type: temporal, permutation: N_K}]", "GLB: inner N outer K\n",
		"loop order at 'GLB' (temporal), innermost first: N _ K\n", "GLB: K6 M12 N8",
		"GLB: M12 K6 N8",
		"'GLB' (temporal) has the loops N K M, innermost first, not in the order N _ K"},
	{"[{target: PE, type: spatial, permutation: KNM, split: 1}]",
		"PE: spatial: inner KNM split 1\n", NULL, "DRAM: M6 N8 K3 | PE: K2 M2@y",
		"DRAM: M6 N8 K3 | PE: K2 M2",
		"'PE' (spatial) runs M along X; with split 1 it is along Y"},
	{"[{target: PE, type: spatial, split: 0}]", "PE: spatial: split 0\n",
		"the 0 innermost loops at 'PE' (spatial) run along X, the other 3 along Y\n",
		"DRAM: M6 N8 K6 | PE: M2@y", "DRAM: M6 N8 K6 | PE: M2",
		"'PE' (spatial) runs M along X; with split 0 it is along Y"},
	{"[{target: PE, type: spatial, maximize_dims: [[M, N]]}]", "PE: spatial: M=4 N=2\n",
		"'PE' (spatial) makes the most of a capacity of 8 with [M, N]\n",
		"DRAM: M3 N4 K6 | PE: M4 N2@y", "DRAM: M3 N8 K6 | PE: M4",
		"'PE' (spatial) has N=1; the most that its capacity 8 allows is N=2"},
	{"[{target: PE, type: spatial, maximize_dims: [[M, N]], split: 1}]",
		"PE: spatial: M=4 N=2 split 1\n", NULL, "DRAM: M3 N4 K6 | PE: M4 N2@y",
		"DRAM: M12 N8 K6",
		"'PE' (spatial) has M=1; the most that its capacity 8 allows is M=4"},
	{"[{target: RF, type: temporal, maximize_dims: [[M]], maximize_dims_capacity: 4}]",
		"RF: M=4\n", NULL, "DRAM: M3 N8 K6 | RF: M4", "DRAM: M2 N8 K6 | RF: M6",
		"'RF' (temporal) has M=6; the most that its capacity 4 allows is M=4"},
	{"[{target: GLB, type: dataspace, keep: [A], bypass: [Z]}]", "GLB: keep A bypass Z\n", NULL,
		"DRAM: M12 N8 K6 | keep DRAM: Z; GLB: A", "DRAM: M12 N8 K6",
		"'GLB' keeps Z, it must bypass it"},
	{"[{target: RF, type: bypass, keep: '*'}]", "RF: keep A B Z\n", "'RF' keeps A, B, Z\n",
		"DRAM: M12 N8 K6", "DRAM: M12 N8 K6 | keep DRAM,GLB: A",
		"'RF' bypasses A, it must keep it"},
	{"[{target: DRAM, type: datatype, bypass: [Z]}]", "DRAM: keep A B bypass Z\n",
		"'DRAM' bypasses Z\n", "DRAM: M12 N8 K6 | keep GLB,RF: Z", "DRAM: M12 N8 K6",
		"'DRAM' keeps Z, it must bypass it"},
	{"[{target: RF, type: dataspace, keep_only: [Z]}]", "RF: keep Z bypass A B\n",
		"'RF' keeps Z and bypasses A, B\n", "DRAM: M12 N8 K6 | keep DRAM,GLB: A B",
		"DRAM: M12 N8 K6", "'RF' keeps A, it must bypass it"},
	{"[{target: RF, type: dataspace, bypass_only: [Z]}]", "RF: keep A B bypass Z\n",
		"'RF' keeps A, B and bypasses Z\n", "DRAM: M12 N8 K6 | keep DRAM,GLB: Z",
		"DRAM: M12 N8 K6", "'RF' keeps Z, it must bypass it"},
	{"[{target: PE, type: spatial, min_usage: 0.75}]", "PE: spatial: usage 0.75\n",
		"at least 0.75 of the 8 instances of 'PE' are in use\n",
		"DRAM: M3 N4 K6 | PE: M4 N2@y", "DRAM: M3 N8 K6 | PE: M4",
		"'PE' has 4 of 8 instances in use, 0.75 of them must be"},
	{"[{type: utilization, min: 0.5}]", "busy: 0.5\n",
		"at least 0.5 of the 16 multipliers are busy\n", "DRAM: M3 N4 K6 | PE: M4 N2@y",
		"DRAM: M3 N8 K6 | PE: M4", "4 of 16 multipliers are busy, 0.5 of them must be"},
	{"[{type: parallelism, target: RF, constraints: {min: 0.25}}]", "busy: 0.25\n",
		"at least 0.25 of the 16 multipliers are busy\n", "DRAM: M3 N8 K6 | PE: M4",
		"DRAM: M6 N8 K6 | PE: M2", "2 of 16 multipliers are busy, 0.25 of them must be"},
};

static void kind_does_what_it_says(void **state)
{
	const struct kind_case *want = *state;
	struct arena *arena = arena_open();
	struct constraint_case test = constraint_case_open(arena);
	constraint_case_read(&test, want->yaml);
	assert_string_equal(complaints_text(arena, test.diag), "");
	assert_true(test.good);
	assert_string_equal(narrowed(&test), want->narrowed);
	if (want->explained)
		assert_string_equal(explained(&test), want->explained);
	struct mapping passes = constraint_case_mapping(&test, want->passes);
	struct mapping breaks = constraint_case_mapping(&test, want->breaks);
	assert_null(constraints_check(&test.constraints, test.domain, &passes, arena));
	const char *why = constraints_check(&test.constraints, test.domain, &breaks, arena);
	assert_non_null(why);
	assert_non_null(strstr(why, want->why));
	assert_true(strncmp(why, AT, strlen(AT)) == 0);
	arena_close(arena);
}

enum { KIND_CASES = sizeof kind_cases / sizeof *kind_cases };

int main(void)
{
	struct CMUnitTest tests[KIND_CASES];
	for (int i = 0; i < KIND_CASES; i++)
		tests[i] = (struct CMUnitTest){.name = kind_cases[i].yaml,
			.test_func = kind_does_what_it_says,
			.initial_state = (void *)&kind_cases[i]};
	return run_table("constraints", tests, KIND_CASES);
}
