#include "base/arena.h"
#include "base/random.h"
#include "base/text.h"
#include "constraints/maximize_dims.h"
#include "model/machine/arch_read.h"
#include "spec/reader.h"
#include "tests/support/arch_text.h"
#include "tests/support/complaints.h"
#include "tests/support/constraint_case.h"
#include "tests/support/draws.h"

#include <string.h>

#include "tests/test.h"

/* Every constraint as "row part key", a line each. */
static const char *listed(const struct constraint_case *test)
{
	struct text text = text_open(test_arena);
	for (size_t i = 0; i < test->constraints.count; i++) {
		const struct constraint *constraint = &test->constraints.at[i];
		text_add(&text, "%s %s %s\n",
			constraint->row < 0 ? "-" : test->arch.levels[constraint->row].name,
			constraint_part_names[constraint->part], constraint->kind->key);
	}
	return text_read(&text);
}

static void expect(const char *yaml, const char *list)
{
	struct constraint_case test = constraint_case_open(test_arena);
	constraint_case_read(&test, yaml);
	assert_string_equal(complaints_text(test_arena, test.diag), "");
	assert_string_equal(listed(&test), list);
}

TEST(lists_have_many_forms)
{
	static const char *const same[] = {
		"[{target: GLB, type: temporal, factors: [M=4], permutation: [M]}]",
		"{targets: [{target: GLB, type: temporal, factors: [M=4], permutation: [M]}]}",
		"{version: 0.4, targets: [{target: GLB, type: temporal, constraints: {factors: M4, "
		"permutation: M}}]}",
		"{template: uber, targets: [{target: GLB, constraints: {temporal: {factors: M=4, "
		"permutation: M}, spatial: {}, dataspace: ~}}]}",
		/* as Timeloop has had it since 2019 */
		"{template: ruby, constraints: [{target: GLB, type: temporal, factors: 'M 4 # N=2', "
		"permutation: M}]}",
		"{constraints: os, constraints_os: [{target: GLB, type: temporal, factors: M4, "
		"permutation: M}], targets: }",
		"[{name: GLB, type: temporal, factors: {M: 4}, permutation: M}]",
		"[{target: 3, type: temporal, attributes: {factors: M=4, permutation: M}}]",
		"{targets: [{name: GLB, constraints: [{type: temporal, attributes: {factors: M=4}}, "
		"{type: temporal, permutation: M}, {type: datatype, attributes: }]}]}",
	};
	for (size_t i = 0; i < sizeof same / sizeof *same; i++)
		expect(same[i], "GLB temporal factors\nGLB temporal permutation\n");
	expect("{targets: []}", "");
	expect("[]", "");
	expect("~", "");
	expect("{targets: }", "");
	expect("{constraints: }", "");
	expect("[{target: GLB, constraints: []}, {target: GLB, constraints: }]", "");
	expect("[{target: GLB, type: temporal, factors: '', permutation: ''}]",
		"GLB temporal factors\nGLB temporal permutation\n");
	expect("[{target: GLB, type: temporal, factors: ~, permutation: }]", "");
	expect("[{target: GLB, constraints: {max_overbooked_proportion: {}, temporal: {}}}]", "");
}

TEST(flags_may_be_types)
{
	expect("[{target: PE, type: no_link_transfer, datatypes: [A]}, {target: PE, type: "
	       "no_multicast_no_reduction, attributes: {datatypes: [B]}}, {target: PE, type: "
	       "no_multicast, datatypes: [B]}]",
		"PE spatial no_link_transfer\nPE spatial no_reuse\nPE spatial no_reuse\n");
}

/* Timeloop has `split` beside the type, and the rest in `attributes`. */
TEST(a_split_stands_beside_attributes)
{
	expect("[{target: PE, type: spatial, split: len(spec.problem.instance), attributes: "
	       "{factors: M4}}, {target: PE, type: spatial, attributes: {split: 7//2}}]",
		"PE spatial factors\nPE spatial split\nPE spatial split\n");
	struct constraint_case test = constraint_case_open(test_arena);
	constraint_case_read(
		&test, "[{target: PE, type: spatial, split: len(spec.problem.instance)}]");
	assert_int_equal(test.constraints.at[0].number, 3);
}

/* Timeloop takes the extent, and says so. */
TEST(factors_above_the_extent_are_cut)
{
	struct constraint_case test = constraint_case_open(test_arena);
	constraint_case_read(&test, "[{target: GLB, type: temporal, factors: N=2 M=64 K<=99}, "
				    "{target: RF, type: temporal, factors_only: [K=7]}]");
	assert_true(test.good);
	assert_int_equal(test.constraints.at[0].factors[1].bound, 12);
	assert_int_equal(test.domain->rows[1].temporal[0].least, 12);
	assert_int_equal(test.domain->rows[3].temporal[2].most, 6);
	const char *said = complaints_text(test_arena, test.diag);
	assert_non_null(strstr(said, "constraints.yaml:1:45: warning: factor M=64 is above the "
				     "extent 12; as in Timeloop, M=12 is taken\n"));
	assert_non_null(strstr(said, "warning: factor K=7 is above the extent 6;"));
	assert_null(strstr(said, "factor K<=99"));
}

/* Keys that Timeloop ignores are noted; a key that may be a typing error is refused. */
TEST(unknown_keys_are_noted)
{
	struct constraint_case test = constraint_case_open(test_arena);
	struct unread unread = {0};
	test.reading.unread = &unread;
	constraint_case_read(&test,
		"{verbose: 1, targets: [{target: GLB, type: temporal, factors: M4, stream: []}]}");
	assert_string_equal(complaints_text(test_arena, test.diag), "");
	assert_int_equal(unread.keys.count, 2);
	test = constraint_case_open(test_arena);
	test.reading.unread = &unread;
	constraint_case_read(&test, "[{target: GLB, type: temporal, factor: M4}]");
	assert_non_null(strstr(complaints_text(test_arena, test.diag),
		"error: unknown key 'factor' in constraint; did you mean 'factors'?"));
}

TEST(a_fan_out_has_two_names)
{
	static const char *const names[] = {"PE", "inter_PE_spatial"};
	for (int i = 0; i < 2; i++)
		expect(arena_format(test_arena,
			       "[{target: %s, type: spatial, factors: M=4}, {target: %s, type: "
			       "temporal, factors: M=1}, {target: %s, type: bypass, bypass: [A]}]",
			       names[i], names[i], names[i]),
			"PE spatial factors\nPE temporal factors\nPE dataspace bypass\n");
}

TEST(the_older_tree_names_the_parent)
{
	struct constraint_case test = constraint_case_open(test_arena);
	test.arch.tree = true;
	constraint_case_read(&test, "[{target: GLB, type: spatial, factors: M=4}, {target: RF, "
				    "type: spatial, factors: N=2}]");
	assert_string_equal(complaints_text(test_arena, test.diag), "");
	assert_string_equal(listed(&test), "PE spatial factors\nmac spatial factors\n");
}

TEST(older_names_mean_the_same)
{
	expect("[{target: PE, type: spatial, no_multicast_no_reduction: [A], no_link_transfer: A}, "
	       "{target: GLB, type: temporal, no_temporal_reuse: [A], rmw_on_first_writeback: [Z]}, "
	       "{target: GLB, type: datatype, passthrough: [B]}]",
		"PE spatial no_reuse\nPE spatial no_link_transfer\nGLB temporal no_reuse\n"
		"GLB temporal rmw_first_update\nGLB dataspace no_coalesce\n");
}

TEST(flags_go_to_the_levels_they_name)
{
	struct constraint_case test = constraint_case_open(test_arena);
	constraint_case_read(&test,
		"[{target: PE, type: spatial, no_reuse: [A], no_link_transfer: [B]}, {target: GLB, "
		"type: temporal, no_reuse: [B], rmw_first_update: [Z]}, {target: RF, type: "
		"dataspace, no_coalesce: '*'}, {type: utilization, min: 0.75}]");
	assert_string_equal(complaints_text(test_arena, test.diag), "");
	/* innermost first: RF with the multipliers below, the PEs, GLB, DRAM */
	struct hierarchy hierarchy = {.level_count = 4,
		.levels = {{.row = 3, .block_row = 4}, {.row = 2, .block_row = 2},
			{.row = 1, .block_row = -1}, {.row = 0, .block_row = 1}}};
	constraints_flag(&test.constraints, &hierarchy);
	assert_int_equal(hierarchy.levels[0].no_coalesce, 7);
	assert_int_equal(hierarchy.levels[1].no_spatial_reuse, 1);
	assert_int_equal(hierarchy.levels[1].no_link_transfer, 2);
	assert_int_equal(hierarchy.levels[2].no_temporal_reuse, 2);
	assert_int_equal(hierarchy.levels[2].rmw_first_update, 4);
	assert_int_equal(hierarchy.levels[2].no_spatial_reuse, 0);
	assert_true(hierarchy.least_parallelism == 0.75);
}

TEST(a_mapping_carries_flags)
{
	static const char yaml[] =
		"[{target: GLB, type: temporal, factors: M4, permutation: MNK, rmw_first_update: "
		"[Z]}, {target: PE, type: spatial, factors: M4, split: 1, no_reuse: [A]}, {target: "
		"RF, type: bypass, keep: [A], bypass: [B]}]";
	struct constraint_case test = constraint_case_open(test_arena);
	const struct constraint_context context = {
		.reading = &test.reading, .arch = &test.arch, .shape = test.shape};
	test.constraints = constraints_of_mapping(&context,
		node_read_text(test_arena, "mapping.yaml", yaml, strlen(yaml), test.diag));
	assert_string_equal(complaints_text(test_arena, test.diag), "");
	assert_string_equal(listed(&test), "GLB temporal rmw_first_update\nPE spatial no_reuse\n");
}

static const char nodes_yaml[] =
	"architecture:\n"
	"  nodes:\n"
	"  - !Component\n"
	"    name: DRAM\n"
	"    class: DRAM\n"
	"    attributes: {width: 64, datawidth: 16}\n"
	"    constraints: {temporal: {permutation: [K, M, N]}}\n"
	"  - !Container\n"
	"    name: PE\n"
	"    spatial: {meshX: 4, meshY: 2}\n"
	"    constraints: {spatial: {factors: [M=4], split: 1}, utilization: {min: 0.25}}\n"
	"  - !Parallel\n"
	"    nodes:\n"
	"    - !Component\n"
	"      name: spad_a\n"
	"      class: smartbuffer_RF\n"
	"      attributes: {depth: 64, width: 16, datawidth: 16}\n"
	"      constraints: {dataspace: {keep: [%s]}}\n"
	"    - !Component\n"
	"      name: spad_z\n"
	"      class: smartbuffer_RF\n"
	"      attributes: {depth: 64, width: 16, datawidth: 16}\n"
	"      constraints: {dataspace: {keep: [%s]}}\n"
	"    - !Nothing {constraints: {dataspace: {keep: [%s]}}}\n"
	"  - !Component\n"
	"    name: mac\n"
	"    class: intmac\n";

static struct constraint_case nodes_case(const char *a, const char *z, const char *nothing)
{
	struct constraint_case test = constraint_case_open(test_arena);
	const struct arch *arch = arch_of_text(
		test_arena, arena_format(test_arena, nodes_yaml, a, z, nothing), test.diag);
	assert_string_equal(complaints_text(test_arena, test.diag), "");
	test.arch = *arch;
	constraint_case_read(&test, "[]");
	return test;
}

TEST(architectures_have_them_inline)
{
	struct constraint_case test = nodes_case("A", "Z", "B");
	assert_string_equal(complaints_text(test_arena, test.diag), "");
	assert_string_equal(listed(&test),
		"DRAM temporal permutation\nPE spatial factors\nPE spatial split\n"
		"PE machine utilization\nspad_a dataspace keep\nspad_z dataspace keep\n"
		"- dataspace keep\n");
	for (size_t i = 0; i < test.constraints.count; i++)
		assert_true(test.constraints.at[i].architecture);
}

TEST(a_branch_bypasses_what_another_keeps)
{
	struct constraint_case test = nodes_case("A", "Z", "B");
	assert_true(test.good);
	const struct row_domain *a = &test.domain->rows[2], *z = &test.domain->rows[3];
	assert_int_equal(a->keep, 1);
	assert_int_equal(a->bypass, 6);
	assert_int_equal(z->keep, 4);
	assert_int_equal(z->bypass, 3);
}

TEST(nothing_has_no_loops)
{
	struct constraint_case test = nodes_case(
		"A", "Z", "B]}, temporal: {factors: [M=2], permutation: [M], no_reuse: [A");
	assert_false(test.good);
	const char *complaints = complaints_text(test_arena, test.diag);
	assert_non_null(strstr(complaints,
		"error: '!Nothing' has no loops and no words of its own: 'factors' cannot be met "
		"there"));
	assert_non_null(strstr(complaints,
		"warning: '!Nothing' has no loops and no words of its own: 'permutation' changes "
		"nothing there"));
}

TEST(every_dataspace_has_one_branch)
{
	struct constraint_case test = nodes_case("A", "Z", "A");
	assert_false(test.good);
	const char *complaints = complaints_text(test_arena, test.diag);
	assert_non_null(strstr(complaints,
		"A is kept in two branches of one !Parallel, by spad_a and by !Nothing"));
	assert_non_null(strstr(complaints,
		"no branch of this !Parallel keeps B; one that stores nothing would be - !Nothing "
		"{constraints: {dataspace: {keep: [B]}}}"));
}

TEST(timeloop_reads_must_iterate_otherwise)
{
	struct constraint_case test = constraint_case_open(test_arena);
	test.context.timeloop = true;
	constraint_case_read(
		&test, "[{target: GLB, type: temporal, must_iterate_over_dataspaces: [A]}]");
	assert_true(test.good);
	struct mapping only_m = constraint_case_mapping(&test, "GLB: M12 | RF: N8 K6");
	struct mapping none = constraint_case_mapping(&test, "RF: M12 N8 K6");
	struct mapping also_n = constraint_case_mapping(&test, "GLB: M12 N8 | RF: K6");
	assert_null(constraints_check(&test.constraints, test.domain, &only_m, test_arena));
	assert_null(constraints_check(&test.constraints, test.domain, &none, test_arena));
	assert_string_equal(constraints_check(&test.constraints, test.domain, &also_n, test_arena),
		"constraints.yaml:1:62: 'GLB' (temporal) has N=8, not N=1");
}

TEST(a_subset_agrees_or_not)
{
	struct constraint_case test = constraint_case_open(test_arena);
	constraint_case_read(&test, "[{target: GLB, type: temporal, factors: M=6}, {target: RF, "
				    "type: temporal, factors: M=4}, {target: RF, type: temporal, "
				    "permutation: M}]");
	assert_false(test.good);
	for (int without = 0; without < 3; without++) {
		bool chosen[] = {without != 0, without != 1, without != 2};
		struct domain *domain = domain_make(test_arena, &test.arch, test.shape, NULL);
		assert_int_equal(constraints_agree(&test.constraints, chosen, domain, test_arena),
			without < 2);
	}
}

TEST(imperfect_bounds_go_together_where_they_may)
{
	static const struct {
		const char *yaml;
		uint32_t imperfect;
		bool good;
	} cases[] = {
		{"[{target: GLB, type: temporal, factors: M=5}]", 0, false},
		{"[{target: GLB, type: temporal, factors: M=5}]", 1, true},
		{"[{target: GLB, type: temporal, factors: M=5}]", 2, false},
		{"[{target: GLB, type: temporal, factors: 'M=5,2'}]", 0, true},
		{"[{target: GLB, type: temporal, factors: M=3}, {target: RF, type: temporal, "
		 "factors: M=5}]",
			1, true},
		{"[{target: GLB, type: temporal, factors: M=5}, {target: RF, type: temporal, "
		 "factors: M=3}]",
			1, false},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct constraint_case test = constraint_case_open(test_arena);
		constraint_case_read(&test, "[]");
		const struct node *lists[2] = {node_read_text(test_arena, "constraints.yaml",
			cases[i].yaml, strlen(cases[i].yaml), test.diag)};
		test.constraints = constraints_read(&test.context, lists);
		test.domain->imperfect = cases[i].imperfect;
		assert_int_equal(constraints_narrow(&test.constraints, test.domain, test.diag),
			cases[i].good);
	}
}

/* The documented rule, without a memory; num / den iterations. */
struct best {
	int64_t num, den, bounds[3];
};

static bool is_more(const struct best *a, const struct best *b)
{
	return a->num * b->den > b->num * a->den;
}

static struct best try_all(int count, const int64_t *sizes, int64_t capacity)
{
	struct best best = {1, 1, {1, 1, 1}};
	for (int k = 0; k < count && capacity > 1; k++) {
		int64_t rounds = (sizes[k] + capacity - 1) / capacity;
		int64_t bound = (sizes[k] + rounds - 1) / rounds;
		struct best cut = {sizes[k], rounds, {1, 1, 1}};
		cut.bounds[k] = bound;
		if (rounds > 1 && is_more(&cut, &best))
			best = cut;
		for (int64_t prime = 2; prime <= sizes[k] && prime <= capacity; prime++) {
			bool is_prime = sizes[k] % prime == 0;
			for (int64_t i = 2; i < prime; i++)
				is_prime &= prime % i != 0;
			if (!is_prime)
				continue;
			int64_t left[3];
			memcpy(left, sizes, sizeof left);
			left[k] /= prime;
			struct best inner = try_all(count, left, capacity / prime);
			inner.num *= prime;
			inner.bounds[k] *= prime;
			if (is_more(&inner, &best))
				best = inner;
		}
	}
	return best;
}

TEST(the_most_of_a_capacity_is_found)
{
	struct random random = random_open(draws_seed(1), 0);
	long imperfect = 0, count = draws(2000);
	for (long i = 0; i < count; i++) {
		struct greedy greedy = {.count = 1 + (int)random_below(&random, 3)};
		for (int k = 0; k < 3; k++)
			greedy.sizes[k] = 1 + (int64_t)random_below(&random, 40);
		int64_t capacity = 1 + (int64_t)random_below(&random, 40);
		struct best best = try_all(greedy.count, greedy.sizes, capacity);
		assert_true(greedy_maximize(&greedy, capacity));
		for (int k = 0; k < greedy.count; k++) {
			assert_int_equal(greedy.bounds[k], best.bounds[k]);
			imperfect += greedy.sizes[k] % greedy.bounds[k] != 0;
		}
	}
	assert_true(imperfect > 0);
}

TEST(large_dimensions_are_maximized)
{
	struct greedy greedy = {.count = 3, .sizes = {1 << 30, 1 << 30, INT64_C(2147483647)}};
	assert_true(greedy_maximize(&greedy, 1 << 20));
	assert_int_equal(greedy.bounds[0], 1 << 20);
	assert_int_equal(greedy.bounds[1], 1);
	struct greedy huge = {
		.count = 3, .sizes = {INT64_C(1) << 31, INT64_C(1) << 31, INT64_C(2147483647)}};
	assert_true(greedy_maximize(&huge, INT64_MAX));
	assert_true(huge.bounds[0] == INT64_C(1) << 31);
	assert_int_equal(huge.bounds[1], 2); /* as much as the prime leaves room for */
	assert_int_equal(huge.bounds[2], 2147483647);
	struct greedy example = {.count = 2, .sizes = {8, 8}}; /* of the document */
	assert_true(greedy_maximize(&example, 16));
	assert_int_equal(example.bounds[0], 8);
	assert_int_equal(example.bounds[1], 2);
}

/* All spatial ones from the inside outwards, then the temporal ones, of what is left. */
TEST(rows_are_maximized_one_after_another)
{
	struct constraint_case test = constraint_case_open(test_arena);
	constraint_case_read(&test,
		"[{target: RF, type: temporal, maximize_dims: [[M], [K]], maximize_dims_capacity: 6}, "
		"{target: PE, type: spatial, maximize_dims: [K, M]}, {target: mac, type: spatial, "
		"maximize_dims: [[M]]}, {target: GLB, type: temporal, factors: [K=3]}]");
	assert_string_equal(complaints_text(test_arena, test.diag), "");
	const struct row_domain *rows = test.domain->rows;
	assert_int_equal(rows[4].spatial[0].least, 2);  /* of 12 */
	assert_int_equal(rows[2].spatial[0].least, 3);  /* of 6 */
	assert_int_equal(rows[2].spatial[2].least, 2);  /* of 2 */
	assert_int_equal(rows[3].temporal[0].least, 2); /* of 2 */
	assert_int_equal(rows[3].temporal[2].least, 1); /* of 1 */
}
