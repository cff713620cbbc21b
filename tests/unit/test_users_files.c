#include "base/arena.h"
#include "tests/support/folder.h"

#include <string.h>

#include "tests/test.h"

/*
 * Contents of files of Timeloop's users beside plain YAML: text of other files, keys of the
 * enclosing container, densities, templates with unfilled places, and files of other systems.
 */
static const char machine[] =
	"architecture:\n"
	"  version: 0.4\n"
	"  nodes:\n"
	"  - !Container {name: %s, attributes: {datawidth: 16, width: 32}}\n"
	"  - !Component {name: DRAM, class: DRAM, attributes: {%s}}\n"
	"  - !Component {name: MAC, class: intmac, attributes: {datawidth: 8}}\n";
static const char problem[] = "problem: {shape: gemm-ABZ, instance: {M: 2, N: 2, K: 4%s}}\n"
			      "mapping: 'DRAM: K4 M2 N2 | keep DRAM: A B Z'\n";

static void put(const char *name, const char *attributes, const char *more)
{
	folder_put("arch.yaml", arena_format(arena, machine, name, attributes));
	folder_put("problem.yaml", arena_format(arena, problem, more));
}

static struct ended run(const char *command)
{
	return folder_run(arena_format(arena, "$program %s", command));
}

static void expect(struct ended ended, int status, const char *text)
{
	if (ended.status != status || !strstr(ended.status == 2 ? ended.err : ended.out, text))
		fail_msg("%d\n%s%s", ended.status, ended.out, ended.err);
}

FOLDER_TEST(text_of_other_files_is_included)
{
	put("system", "width: 16", "");
	folder_run("mkdir -p sub other");
	folder_put("sub/base.yaml", "base: &base\n  shape: gemm-ABZ\n");
	folder_put("other/extents.yaml", "instance: {M: 2, N: 2, K: 4}");
	folder_put("sub/given.yaml", "{{include_text('base.yaml')}}\n"
				     "problem:\n"
				     "  <<: *base\n"
				     "  {{ include_text(\"extents.yaml\") }}\n");
	folder_put("other/map.yaml", "mapping: 'DRAM: K4 M2 N2 | keep DRAM: A B Z'\n");
	static const char score[] = "score arch.yaml sub/given.yaml other/map.yaml --format text";
	expect(run(score), 0, "for K in 0..4");
	/* An error is reported at its own line and column. */
	folder_put("other/extents.yaml", "instance: {M: 2, N: 2,\n  K: four}");
	expect(run(score), 2, "other/extents.yaml:2:6: error: ");
	folder_put("sub/base.yaml", "base: &base\n  {{include_text('given.yaml')}}\n");
	expect(run(score), 2, "files include files more than 16 deep");
	folder_run("rm sub/base.yaml");
	expect(run(score), 2, "sub/given.yaml:1:1: error: no file 'base.yaml' to include");
	folder_put("sub/given.yaml", "{{add_to_path('..')}}\n");
	expect(run(score), 2, "sub/given.yaml:1:1: error: a Jinja template");
	folder_put("sub/given.yaml", "a: {{include_text('a' + 'b')}}\n");
	expect(run(score), 2, "sub/given.yaml:1:4: error: a Jinja template");
	folder_put("sub/given.yaml", "{{include_text('../problem.yaml')}}\n");
	struct ended ended = run("check arch.yaml problem.yaml sub/given.yaml");
	assert_non_null(strstr(ended.err, "is given, and included in 'sub/given.yaml'"));
}

FOLDER_TEST(a_word_may_mean_that_of_the_container)
{
	put("system", "width: width, datawidth: datawidth", "");
	expect(run("score arch.yaml problem.yaml --format timeloop"), 0,
		"Word bits                       : 16");
	put("system", "width: 32, word-bits: datawidth", "");
	expect(run("score arch.yaml problem.yaml --format timeloop"), 0,
		"Word bits                       : 16");
	put("system", "width: 32, depth: depth", "");
	expect(run("score arch.yaml problem.yaml"), 2, "depth");
}

FOLDER_TEST(densities_count_as_dense_under_timeloop)
{
	put("system", "width: 16", "");
	struct ended dense = run("score arch.yaml problem.yaml --counting timeloop");
	put("system", "width: 16", ", densities: {A: 0.5}");
	struct ended ended = run("score arch.yaml problem.yaml --counting timeloop");
	assert_int_equal(ended.status, 0);
	assert_string_equal(ended.out, dense.out);
	assert_non_null(strstr(ended.err, "warning: densities are given"));
	expect(run("score arch.yaml problem.yaml"), 2,
		"'--counting timeloop' counts every element");
	folder_put("sparse.yaml", "sparse_optimizations: {targets: [{name: DRAM}]}\n");
	expect(run("score arch.yaml problem.yaml sparse.yaml --counting timeloop"), 2,
		"'sparse_optimizations' is not modelled");
}

FOLDER_TEST(a_template_is_told)
{
	put("CHIP$x$", "width: 16", "");
	struct ended ended = run("score arch.yaml problem.yaml");
	assert_int_equal(ended.status, 0);
	assert_non_null(strstr(ended.err, "arch.yaml:4:23: warning: '$x$' looks like a template"));
	put("CHIP$x", "width: 16", "");
	assert_null(strstr(run("score arch.yaml problem.yaml").err, "template"));
}

FOLDER_TEST(other_systems_are_named)
{
	static const struct {
		const char *file, *name;
	} rows[] = {
		{"problem:\n- {shape: {name: Fc1, dimensions: [P1]}}\n", "LoopTree"},
		{"workload: {rank_sizes: {M: 4}, einsums: []}\n", "AccelForge"},
		{"arch: {nodes: [!Memory {name: M}]}\n", "AccelForge"},
		{"mapping: {nodes: [!Storage {tensors: [T0]}]}\n", "AccelForge"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		folder_put("other.yaml", rows[i].file);
		struct ended ended = run("check other.yaml");
		expect(ended, 2, rows[i].name);
		assert_non_null(strstr(ended.err, "other.yaml:1:1: error: "));
		assert_null(strstr(strstr(ended.err, "error: ") + 1, "error: "));
	}
}

FIXTURE(folder_set_up, folder_tear_down);
