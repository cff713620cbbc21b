#include "base/arena.h"
#include "model/nest/nest_mapping.h"
#include "tests/support/arch_text.h"
#include "tests/support/nest_text.h"

#include <string.h>

#include "tests/test.h"

/* Z[M, N] = sum over K of A[M, K] * B[K, N] */
struct fixture {
	struct arena *arena;
	const struct arch *nodes, *tree;
	const struct shape *shape;
};

static const char gemm[] = "problem:\n"
			   "  shape:\n"
			   "    name: gemm\n"
			   "    dimensions: [M, N, K]\n"
			   "    data_spaces:\n"
			   "    - {name: A, projection: [[[M]], [[K]]]}\n"
			   "    - {name: B, projection: [[[K]], [[N]]]}\n"
			   "    - {name: Z, projection: [[[M]], [[N]]], read_write: true}\n"
			   "  instance: {M: 7, N: 8, K: 16}\n";

static int set_up(void **state)
{
	struct arena *arena = arena_open();
	struct fixture *fixture = arena_new(arena, struct fixture);
	fixture->arena = arena;
	fixture->nodes = level_path(arena, "(system) DRAM GLB (PE:8x2) RF MAC", false);
	fixture->tree = level_path(arena, "(system) DRAM GLB RF:8x2 MAC", true);
	fixture->shape = problem_of_text(arena, gemm, NULL);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	arena_close(((struct fixture *)*state)->arena);
	return 0;
}

/* The one-line text of a mapping's directives. */
static const char *read_line(const struct fixture *f, const struct arch *arch, const char *yaml)
{
	struct mapping mapping;
	const char *complaints;
	yaml = arena_format(f->arena, "mapping:\n%s", yaml);
	if (!nest_mapping_of_text(f->arena, arch, f->shape, yaml, &mapping, &complaints) ||
		*complaints)
		fail_msg("%s\n%s", yaml, complaints);
	return nest_mapping_print(f->arena, arch, f->shape, &mapping);
}

static void a_fresh_mapping_runs_everything_outside(void **state)
{
	const struct fixture *f = *state;
	struct mapping mapping = nest_mapping_make(f->nodes, f->shape);
	bool perfect;
	assert_string_equal(
		nest_mapping_print(f->arena, f->nodes, f->shape, &mapping), "DRAM: K16 N8 M7");
	assert_null(nest_mapping_check(f->arena, f->nodes, f->shape, &mapping, &perfect));
	assert_true(perfect);
}

static void text_comes_back_the_same(void **state)
{
	static const char *const texts[] = {
		"DRAM: M7 N8 K16",
		"DRAM: K2 N2 | GLB: M7 | PE: N4 K2@y | RF: K4",
		"DRAM: N8 | GLB: M4 | PE: M=2,1 | RF: K16 | keep GLB: A Z; DRAM,RF: B",
		"DRAM: M7 | RF: N=3,2 K=6,4 | GLB: N3 K3 | keep nowhere: B",
	};
	const struct fixture *f = *state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct mapping mapping, again;
		const char *why =
			nest_mapping_parse(f->arena, f->nodes, f->shape, texts[i], &mapping);
		if (why)
			fail_msg("'%s': %s", texts[i], why);
		const char *text = nest_mapping_print(f->arena, f->nodes, f->shape, &mapping);
		assert_null(nest_mapping_parse(f->arena, f->nodes, f->shape, text, &again));
		assert_true(mapping_equal(&mapping, &again));
		if (i < 2)
			assert_string_equal(text, texts[i]);
	}
}

static void wrong_text_is_explained(void **state)
{
	static const char *const rows[][2] = {
		{"GLBB: M7", "no level 'GLBB'; did you mean 'GLB'?"},
		{"DRAM: Q7", "problem 'gemm' has no dimension 'Q'"},
		{"DRAM: M", "'M' is not a factor; 'M8' is a loop over dimension M of 8 iterations"},
		{"DRAM: M7,",
			"'M7,' is not a factor; 'M8' is a loop over dimension M of 8 iterations"},
		{"DRAM: M7 N8", "the factors of dimension 'K' multiply to 1, not to its extent 16"},
		{"DRAM: M2 N8 K16 | GLB: M2",
			"the factors of dimension 'M' multiply to 4, not to its extent 7"},
		{"DRAM: M8 N8 K16",
			"the factors of dimension 'M' multiply to 8, not to its extent 7"},
		{"DRAM: M2 N8 K16 | GLB: M=4,2",
			"the last round of 'M' at 'GLB' has 3 iterations, not 2"},
		{"DRAM: M7 N8 K8 | GLB spatial: K2",
			"'GLB' has a spatial factor of dimension 'K' and no fan-out"},
		{"DRAM: M7 N8 K8 | PE temporal: K2",
			"'PE' has a temporal factor of dimension 'K' and is not a storage"},
		{"DRAM: M7 N8 K16 | keep PE: A", "'PE' keeps 'A' and is not a storage"},
		{"DRAM: M7 N8 K16 | keep GLB: C", "problem 'gemm' has no dataspace 'C'"},
		{"DRAM: M7 N8 K16 | keep GLB: A; RF: A",
			"problem 'gemm' says twice where dataspace A is kept"},
		{"DRAM: M7 N8 | GLB: K4294967295 | RF: K4294967295 | PE: K4294967295",
			"the factors of dimension 'K' multiply to more than an int64_t, not to its "
			"extent 16"},
	};
	const struct fixture *f = *state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct mapping mapping;
		const char *why =
			nest_mapping_parse(f->arena, f->nodes, f->shape, rows[i][0], &mapping);
		if (!why || strcmp(why, rows[i][1]) != 0)
			fail_msg("'%s': %s", rows[i][0], why ? why : "accepted");
	}
}

static void factors_read_in_every_form(void **state)
{
	static const char *const forms[] = {
		"M=7 N=2 K=4",
		"M7 N2 K4",
		"'M=7,N=2,K=4'",
		"M = 7, N = 2 , K=4",
		"[M=7, N2, K=4]",
		"M=0 N2 K=4",
	};
	const struct fixture *f = *state;
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		const char *yaml = arena_format(f->arena,
			"- {target: DRAM, type: temporal, factors: N4 K4}\n"
			"- target: GLB\n  type: temporal\n  factors: %s\n",
			forms[i]);
		assert_string_equal(read_line(f, f->nodes, yaml), "DRAM: K4 N4 | GLB: K4 N2 M7");
	}
}

static void permutations_read_in_every_form(void **state)
{
	static const char *const forms[] = {
		"KNM", "K N M", "'K,N,M'", "[K, N, M]", "[K, N]", "K", "\"KN\""};
	const struct fixture *f = *state;
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		const char *yaml = arena_format(f->arena,
			"- target: DRAM\n  type: temporal\n  factors: M7 N8 K16\n"
			"  permutation: %s\n",
			forms[i]);
		bool partial = i == 5;
		assert_string_equal(read_line(f, f->nodes, yaml),
			partial ? "DRAM: N8 M7 K16" : "DRAM: M7 N8 K16");
	}
}

static void last_rounds_read(void **state)
{
	static const char *const forms[] = {
		"M=4,3 N=8", "'N=8,M=4,3'", "[\"M=4, 3\", N=8]", "M4,3 N8"};
	const struct fixture *f = *state;
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		const char *yaml = arena_format(f->arena,
			"- {target: DRAM, type: temporal, factors: K=0 M=2}\n"
			"- target: GLB\n  type: temporal\n  factors: %s\n",
			forms[i]);
		assert_string_equal(read_line(f, f->nodes, yaml), "DRAM: K16 M2 | GLB: N8 M=4,3");
	}
}

static void spatial_targets_are_the_node_or_its_parent(void **state)
{
	static const char form[] = "- {target: DRAM, type: temporal, factors: M7 K4}\n"
				   "- {target: %s, type: spatial, factors: N8 K2, split: %d,"
				   " permutation: NK}\n"
				   "- {target: RF, type: temporal, factors: K2}\n";
	static const struct {
		bool tree;
		const char *target;
	} rows[] = {{false, "PE"}, {false, "inter_PE_spatial"}, {true, "GLB"},
		{true, "inter_RF_spatial"}};
	const struct fixture *f = *state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		for (int split = 0; split <= 3; split++) {
			const struct arch *arch = rows[i].tree ? f->tree : f->nodes;
			const char *yaml = arena_format(f->arena, form, rows[i].target, split);
			const char *wanted =
				arena_format(f->arena, "DRAM: K4 M7 | %s: N8%s K2%s | RF: K2",
					rows[i].tree ? "RF spatial" : "PE", split < 1 ? "@y" : "",
					split < 2 ? "@y" : "");
			assert_string_equal(read_line(f, arch, yaml), wanted);
		}
}

static void levels_that_only_fan_out_may_say_so(void **state)
{
	const struct fixture *f = *state;
	assert_string_equal(read_line(f, f->nodes,
				    "- {target: inter_PE_spatial, type: datatype, keep: [], "
				    "bypass: [A, B, Z]}\n"
				    "- {target: inter_PE_spatial, type: temporal, factors: M1 K1}\n"
				    "- {target: PE, type: temporal, factors: M1}\n"
				    "- {target: GLB, type: bypass, keep: [A], bypass: [Z, B]}\n"
				    "- {target: RF, type: dataspace, bypass: \"*\"}\n"
				    "- {target: DRAM, type: temporal, factors: M0 N0 K0,"
				    " no_reuse: [A]}\n"),
		"DRAM: K16 N8 M7 | keep DRAM,GLB: A; DRAM: B Z");
}

static void a_line_is_a_mapping_too(void **state)
{
	const struct fixture *f = *state;
	static const char line[] = "DRAM: K2 N2 | GLB: M7 | PE: N4 K2@y | RF: K4";
	assert_string_equal(
		read_line(f, f->nodes, arena_format(f->arena, "  \"%s\"\n", line)), line);
}

static void names_may_be_long(void **state)
{
	const struct fixture *f = *state;
	const struct shape *shape = problem_of_text(f->arena,
		"problem:\n"
		"  shape:\n"
		"    dimensions: [Cin, C, K1]\n"
		"    data_spaces:\n"
		"    - {name: A, projection: [Cin, C]}\n"
		"    - {name: Z, projection: [K1], read_write: true}\n"
		"  instance: {Cin: 4, C: 8, K1: 6}\n",
		NULL);
	struct mapping mapping, again;
	const char *complaints;
	assert_true(nest_mapping_of_text(f->arena, f->nodes, shape,
		"mapping:\n"
		"- {target: DRAM, type: temporal, factors: Cin4 C2 K1=3, permutation: \"C Cin K1\"}\n"
		"- {target: GLB, type: temporal, factors: K1=2 C4, permutation: [K1, C]}\n",
		&mapping, &complaints));
	assert_string_equal(nest_mapping_print(f->arena, f->nodes, shape, &mapping),
		"DRAM: K1=3 Cin4 C2 | GLB: C4 K1=2");
	const char *yaml = nest_mapping_write(f->arena, f->nodes, shape, &mapping);
	assert_true(nest_mapping_of_text(f->arena, f->nodes, shape, yaml, &again, &complaints));
	assert_true(mapping_equal(&mapping, &again));
}

static void names_of_levels_may_have_blanks(void **state)
{
	const struct fixture *f = *state;
	const struct arch *arch = arch_of_text(f->arena,
		"architecture: {version: 0.3, subtree: [{name: s, local: [{name: DRAM, class: DRAM}, "
		"{name: big buf, class: SRAM}, {name: mac, class: intmac}]}]}\n",
		diag_open(f->arena));
	struct mapping mapping, again;
	const char *complaints;
	assert_non_null(arch);
	assert_true(nest_mapping_of_text(f->arena, arch, f->shape,
		"mapping:\n"
		"- {target: DRAM, type: temporal, factors: M7 N8}\n"
		"- {target: big buf, type: temporal, factors: K16}\n"
		"- {target: big buf, type: bypass, bypass: [A]}\n",
		&mapping, &complaints));
	const char *line = nest_mapping_print(f->arena, arch, f->shape, &mapping);
	assert_non_null(strstr(line, "DRAM: N8 M7 | \"big buf\": K16 | keep "));
	assert_null(nest_mapping_parse(f->arena, arch, f->shape, line, &again));
	assert_true(mapping_equal(&mapping, &again));
}

/* Mappings that Timeloop takes with a warning or in silence. */
static const struct {
	const char *yaml, *line;
} taken[] = {
	{"- {target: DRAM, type: temporal, factors: M=4 K=16 N=8 M=7}\n", "DRAM: K16 N8 M7"},
	{"- {target: DRAM, type: temporal, factors: M=4}\n"
	 "- {target: DRAM, type: temporal, factors: M=7 K=16 N=8}\n",
		"DRAM: K16 N8 M7"},
	{"- {target: DRAM, type: temporal, factors: M7 K16 N4}\n"
	 "- {target: PE, type: spatial, factors: K2}\n"
	 "- {target: inter_PE_spatial, type: spatial, factors: N2}\n",
		"DRAM: K16 N4 M7 | PE: N2"},
	{"- {target: DRAM, type: temporal, factors: M7 K16 N8}\n"
	 "- {target: DRAM, type: temporal, permutation: MKN}\n",
		"DRAM: N8 K16 M7"},
	{"- {target: DRAM, type: temporal, permutation: MKN}\n"
	 "- {target: DRAM, type: temporal, factors: M7 K4 N4, permutation: ''}\n"
	 "- {target: PE, type: spatial, factors: N2 K4, permutation: NKM}\n"
	 "- {target: PE, type: spatial, split: 1}\n",
		"DRAM: N4 K4 M7 | PE: N2 K4@y"},
	{"- {target: DRAM, type: temporal, factors: M7; K16;N8, permutation: MKNM}\n",
		"DRAM: N8 K16 M7"},
	{"- {target: DRAM, type: temporal, factors: M7 K16 N8}\n"
	 "- {target: GLB, type: datatype, keep: [A], bypass: [A]}\n",
		"DRAM: K16 N8 M7 | keep DRAM,RF: A"},
	{"- {target: DRAM, type: temporal, factors: M7 K16 N8, keep: [A], split: 1}\n",
		"DRAM: K16 N8 M7"},
	{"- {target: DRAM, type: temporal, factors: M7 K16 N8}\n"
	 "- {target: GLB, type: bypass, bypass: B, factors: M2}\n",
		"DRAM: K16 N8 M7 | keep DRAM,RF: B"},
};

static void what_timeloop_takes_is_read(void **state)
{
	const struct fixture *f = *state;
	for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
		struct mapping mapping;
		const char *complaints;
		const char *yaml = arena_format(f->arena, "mapping:\n%s", taken[i].yaml);
		if (!nest_mapping_of_text(
			    f->arena, f->nodes, f->shape, yaml, &mapping, &complaints))
			fail_msg("%s\n%s", yaml, complaints);
		assert_string_equal(
			nest_mapping_print(f->arena, f->nodes, f->shape, &mapping), taken[i].line);
	}
}

/* Each pair says the same. */
static void forms_of_all_years_read_alike(void **state)
{
	static const char all[] = "- {target: DRAM, type: temporal, factors: M7 K8 N4}\n"
				  "- {target: PE, type: spatial, factors: N2 K2, permutation: NKM, "
				  "split: 3}\n";
	static const char *const forms[] = {
		"- {target: DRAM, type: temporal, factors: 'M=7,K=8,N=4', permutation: ''}\n"
		"- {target: PE, type: spatial, factors: {N: 2, K: 2}, permutation: N KM}\n",
		"- {target: DRAM, type: temporal, factors: [M=7, {K: 8, N: 4}]}\n"
		"- {target: PE, type: spatial, factors: N=2 K=2, permutation: 'N, K, M', "
		"split: len(spec.problem.instance)}\n",
		"- {target: 3, type: temporal, factors: \"M 7 K = 8 # C=3\\n N4 # the rest\"}\n"
		"- {target: 1, type: spatial, factors: N2 K2, permutation: NKM, split: 7//2}\n"
		"- {target: 2, type: temporal, factors: }\n",
		"- {target: DRAM, type: temporal, factors: M7 K8 N4, note: none}\n"
		"- {target: inter_PE_spatial, type: spatial, factors: N2 K2, permutation: NKM}\n"
		"- {target: GLB, type: bypassing, keep: [A, B, Z], bypass: [], stream: []}\n"
		"- {target: RF, type: temporal, factors: '', permutation: }\n",
	};
	const struct fixture *f = *state;
	const char *line = read_line(f, f->nodes, all);
	assert_string_equal(line, "DRAM: K8 N4 M7 | PE: N2 K2");
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
		assert_string_equal(read_line(f, f->nodes, forms[i]), line);
}

/* Timeloop counts from the innermost storage; what fans out in v0.4 has a level around it. */
static void levels_have_numbers(void **state)
{
	static const char dram[] = "- {target: DRAM, type: temporal, factors: K16 N8}\n";
	const struct fixture *f = *state;
	const char *tree =
		arena_format(f->arena, "%s- {target: 1, type: temporal, factors: M7}\n", dram);
	assert_string_equal(read_line(f, f->tree, tree), "DRAM: K16 N8 | GLB: M7");
	const char *nodes =
		arena_format(f->arena, "%s- {target: 2, type: temporal, factors: M7}\n", dram);
	assert_string_equal(read_line(f, f->nodes, nodes), "DRAM: K16 N8 | GLB: M7");
	nodes = arena_format(f->arena,
		"%s- {target: 1, type: spatial, factors: M4}\n"
		"- {target: 0, type: temporal, factors: 'M2,1'}\n",
		dram);
	assert_string_equal(read_line(f, f->nodes, nodes), "DRAM: K16 N8 | PE: M4 | RF: M=2,1");
}

/* Timeloop's mapper writes temporal loops at levels that keep nothing. */
static void dummy_levels_have_loops(void **state)
{
	const struct fixture *f = *state;
	struct arch arch = *level_path(f->arena, "(system) DRAM GLB (hub:8) RF:2 MAC", true);
	int hub = arch_level(&arch, "hub");
	arch.levels[hub].device = "dummy_storage";
	const char *text = "DRAM: N8 | hub temporal: K2 M7 | hub: K8";
	struct mapping mapping, again;
	assert_null(nest_mapping_parse(f->arena, &arch, f->shape, text, &mapping));
	assert_string_equal(nest_mapping_print(f->arena, &arch, f->shape, &mapping),
		"DRAM: N8 | hub: K8 | hub temporal: K2 M7");
	const char *yaml = nest_mapping_write(f->arena, &arch, f->shape, &mapping);
	assert_non_null(
		strstr(yaml, "- target: hub\n  type: temporal\n  factors: M=7 N=1 K=2\n"
			     "  permutation: \"MKN\"\n"
			     "- target: hub\n  type: bypass\n  keep: []\n  bypass: [A, B, Z]\n"));
	assert_null(strstr(yaml, "dataspace"));
	const char *complaints;
	assert_true(nest_mapping_of_text(f->arena, &arch, f->shape, yaml, &again, &complaints));
	assert_string_equal(complaints, "");
	assert_true(mapping_equal(&mapping, &again));
}

static void directives_are_written_whole(void **state)
{
	const struct fixture *f = *state;
	struct mapping mapping;
	assert_null(nest_mapping_parse(f->arena, f->tree, f->shape,
		"DRAM: N2 K8 | GLB: M2 | RF spatial: M=4,3 K2@y | RF: N4 | keep DRAM,RF: B",
		&mapping));
	assert_string_equal(nest_mapping_write(f->arena, f->tree, f->shape, &mapping),
		"mapping:\n"
		"- target: DRAM\n  type: temporal\n  factors: M=1 N=2 K=8\n  permutation: \"KNM\"\n"
		"- target: DRAM\n  type: bypass\n  keep: [A, B, Z]\n  bypass: []\n"
		"- target: GLB\n  type: temporal\n  factors: M=2 N=1 K=1\n  permutation: \"MNK\"\n"
		"- target: GLB\n  type: bypass\n  keep: [A, Z]\n  bypass: [B]\n"
		"- target: GLB\n  type: spatial\n  factors: M=4,3 N=1 K=2\n  permutation: \"MNK\"\n"
		"  split: 2\n"
		"- target: RF\n  type: temporal\n  factors: M=1 N=4 K=1\n  permutation: \"NMK\"\n"
		"- target: RF\n  type: bypass\n  keep: [A, B, Z]\n  bypass: []\n");
}

int main(void)
{
#define FIXED(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		FIXED(a_fresh_mapping_runs_everything_outside),
		FIXED(text_comes_back_the_same),
		FIXED(wrong_text_is_explained),
		FIXED(factors_read_in_every_form),
		FIXED(permutations_read_in_every_form),
		FIXED(last_rounds_read),
		FIXED(spatial_targets_are_the_node_or_its_parent),
		FIXED(levels_that_only_fan_out_may_say_so),
		FIXED(a_line_is_a_mapping_too),
		FIXED(names_may_be_long),
		FIXED(names_of_levels_may_have_blanks),
		FIXED(what_timeloop_takes_is_read),
		FIXED(forms_of_all_years_read_alike),
		FIXED(levels_have_numbers),
		FIXED(dummy_levels_have_loops),
		FIXED(directives_are_written_whole),
	};
	return cmocka_run_group_tests_name("nest_mapping", tests, NULL, NULL);
}
