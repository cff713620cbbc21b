/*
 * The manuals keep their word: the examples in specs/README.md are read without a
 * complaint, what README.md shows is what the program writes, links lead to
 * files, and the man page knows every option.
 */
#include "base/arena.h"
#include "base/text.h"
#include "constraints/kind.h"
#include "tests/support/shell.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/test.h"

#define ARCH "specs/arch/spyre32.yaml"

static const char *read_manual(struct arena *arena, const char *path)
{
	const char *text = text_of_file(arena, path);
	if (!text)
		fail_msg("no file '%s'", path);
	return text;
}

/* The indented block of a manual that begins with a line: "    workload:". */
static const char *find_block(struct arena *arena, const char *manual, const char *first)
{
	struct text block = text_open(arena);
	const char *line =
		strstr(read_manual(arena, manual), arena_format(arena, "\n    %s", first));
	if (!line)
		fail_msg("no block '%s' in %s", first, manual);
	for (line++; strncmp(line, "    ", 4) == 0 || strncmp(line, "\n    ", 5) == 0;
		line += strcspn(line, "\n") + 1) {
		size_t indent = *line == '\n' ? 0 : 4;
		text_bytes(&block, line + indent, strcspn(line, "\n") + 1 - indent);
	}
	return text_read(&block);
}

/* Puts a block into a file of the folder. */
static const char *put_block(struct arena *arena, const char *folder, const char *name,
	const char *manual, const char *first)
{
	const char *path = arena_format(arena, "%s/%s", folder, name);
	FILE *file = fopen(path, "wb");
	assert_non_null(file);
	fputs(find_block(arena, manual, first), file);
	assert_int_equal(fclose(file), 0);
	return path;
}

static void examples_of_the_spec_manual_are_read(void **state)
{
	struct arena *arena = arena_open();
	const char *folder = shell_folder(arena);
	const char *manual = "specs/README.md";
	const char *arch = put_block(arena, folder, "arch.yaml", manual, "architecture:\n");
	const char *workload = put_block(arena, folder, "workload.yaml", manual, "workload:\n");
	const char *search = put_block(arena, folder, "search.yaml", manual, "search:\n");
	struct ended ended = shell(arena, "\"$LXPLORE\" check '%s' '%s'", arch, workload);
	assert_string_equal(ended.err, "");
	assert_int_equal(ended.status, 0);
	ended = shell(arena, "\"$LXPLORE\" check %s '%s' '%s'", ARCH, workload, search);
	assert_string_equal(ended.err, "");
	assert_int_equal(ended.status, 0);
	const char *kept =
		put_block(arena, folder, "graph.yaml", manual, "constraints: # of a graph\n");
	ended = shell(arena, "\"$LXPLORE\" check %s '%s' '%s'", ARCH, workload, kept);
	assert_string_equal(ended.err, "");
	assert_int_equal(ended.status, 0);
	kept = put_block(arena, folder, "problem.yaml", manual, "constraints:\n");
	ended = shell(arena,
		"\"$LXPLORE\" check specs/arch/three_level.yaml specs/problems/gemm_16.yaml '%s'",
		kept);
	assert_string_equal(ended.err, "");
	assert_int_equal(ended.status, 0);
	shell_remove(folder);
	arena_close(arena);
}

static void every_kind_of_constraint_is_in_the_manual(void **state)
{
	struct arena *arena = arena_open();
	const char *manual = read_manual(arena, "specs/README.md");
	for (int i = 0; constraint_kinds[i]; i++)
		if (!strstr(manual, arena_format(arena, "`%s`", constraint_kinds[i]->key)))
			fail_msg("specs/README.md does not tell of '%s'", constraint_kinds[i]->key);
	arena_close(arena);
}

static void the_problem_of_the_manual_is_executed(void **state)
{
	struct arena *arena = arena_open();
	const char *folder = shell_folder(arena);
	const char *problem =
		put_block(arena, folder, "problem.yaml", "specs/README.md", "problem:\n");
	struct ended ended =
		shell(arena, "\"$LXPLORE\" simulate specs/arch/three_level.yaml '%s'", problem);
	assert_string_equal(ended.err, "");
	assert_int_equal(ended.status, 0);
	assert_non_null(strstr(ended.out, "\"mapping\": \"DRAM: M2 P4 | GLB: C4 | PE: M4 | "
					  "RF: P4 R3 | keep DRAM,RF: Weights\""));
	shell_remove(folder);
	arena_close(arena);
}

static void the_network_of_the_manual_is_checked(void **state)
{
	struct arena *arena = arena_open();
	const char *folder = shell_folder(arena);
	const char *network =
		put_block(arena, folder, "network.yaml", "specs/README.md", "network:\n");
	struct ended ended =
		shell(arena, "\"$LXPLORE\" check specs/arch/gemmini.yaml '%s'", network);
	assert_string_equal(ended.err, "");
	assert_int_equal(ended.status, 0);
	assert_non_null(strstr(
		ended.out, "\ntwo_layers: 2 layers, 2 of them different, 13 with their counts\n"));
	shell_remove(folder);
	arena_close(arena);
}

static void the_broadcast_of_the_manual_is_executed(void **state)
{
	struct arena *arena = arena_open();
	const char *folder = shell_folder(arena);
	const char *broadcast =
		put_block(arena, folder, "broadcast.yaml", "specs/README.md", "broadcast:\n");
	struct ended ended =
		shell(arena, "\"$LXPLORE\" check specs/arch/a2a3.yaml '%s'", broadcast);
	assert_string_equal(ended.err, "");
	assert_int_equal(ended.status, 0);
	assert_non_null(strstr(ended.out, "executed (data): as the model says"));
	ended = shell(arena,
		"\"$LXPLORE\" check specs/arch/a2a3.yaml specs/broadcasts/weights_16MiB.yaml");
	assert_string_equal(ended.out, find_block(arena, "README.md", "tbroadcast %group"));
	shell_remove(folder);
	arena_close(arena);
}

static void the_wrong_file_of_the_readme_is_told_what_it_says(void **state)
{
	struct arena *arena = arena_open();
	const char *folder = shell_folder(arena);
	put_block(arena, folder, "my_workload.yaml", "README.md", "workload:\n");
	struct ended ended = shell(arena,
		"program=$(realpath \"$LXPLORE\") arch=$(realpath %s)\n"
		"cd '%s' && \"$program\" check \"$arch\" my_workload.yaml",
		ARCH, folder);
	assert_int_equal(ended.status, 2);
	assert_string_equal(ended.err, find_block(arena, "README.md", "my_workload.yaml:"));
	shell_remove(folder);
	arena_close(arena);
}

static void the_plan_of_the_readme_is_the_one_that_explore_writes(void **state)
{
	struct arena *arena = arena_open();
	const char *folder = shell_folder(arena);
	struct ended ended =
		shell(arena, "\"$LXPLORE\" explore %s specs/workloads/softmax_dim0.yaml -q -o '%s'",
			ARCH, folder);
	assert_int_equal(ended.status, 0);
	const char *plan =
		read_manual(arena, arena_format(arena, "%s/plans/point-001.yaml", folder));
	assert_string_equal(plan, find_block(arena, "README.md", "plan:\n"));
	shell_remove(folder);
	arena_close(arena);
}

static void the_layer_of_the_readme_is_counted_as_it_says(void **state)
{
#define LAYER "specs/arch/three_level.yaml specs/problems/gemm_16.yaml"
	struct arena *arena = arena_open();
	const char *folder = shell_folder(arena);
	struct ended ended = shell(arena,
		"\"$LXPLORE\" explore " LAYER " specs/constraints/keep_all.yaml -q -o '%s'",
		folder);
	assert_int_equal(ended.status, 0);
	assert_string_equal(ended.out, find_block(arena, "README.md", "point         cycles"));
	ended = shell(arena, "\"$LXPLORE\" score " LAYER " '%s/plans/point-001.yaml' --format text",
		folder);
	assert_string_equal(ended.out, find_block(arena, "README.md", "latency      1.024"));
	ended = shell(
		arena, "\"$LXPLORE\" score " LAYER " '%s/plans/point-001.yaml' --explain", folder);
	assert_non_null(strstr(ended.out, find_block(arena, "README.md", "Z[M, N], written")));
	shell_remove(folder);
	arena_close(arena);
}

static void the_certificate_of_the_readme_is_the_one_that_explore_writes(void **state)
{
#define DATAFLOW                                                                                   \
	"specs/arch/eyeriss.yaml specs/problems/resnet50_3x3.yaml "                                \
	"specs/constraints/row_stationary.yaml"
	struct arena *arena = arena_open();
	const char *folder = shell_folder(arena);
	struct ended ended = shell(arena,
		"\"$LXPLORE\" explore " DATAFLOW
		" --objective edp --solver map=exact --simulate none -q -o '%s'",
		folder);
	assert_int_equal(ended.status, 0);
	const char *certificate =
		read_manual(arena, arena_format(arena, "%s/certificate.yaml", folder));
	assert_string_equal(certificate, find_block(arena, "README.md", "certificate:\n"));
	ended = shell(arena, "\"$LXPLORE\" check " DATAFLOW " --certificate '%s/certificate.yaml'",
		folder);
	assert_int_equal(ended.status, 0);
	assert_string_equal(ended.out, find_block(arena, "README.md", "certificate  holds"));
	shell_remove(folder);
	arena_close(arena);
}

/* "[text](target)" leads to a file beside the manual. */
static void the_arrays_of_the_readme_are_those_that_explore_finds(void **state)
{
	struct arena *arena = arena_open();
	const char *folder = shell_folder(arena);
	struct ended ended = shell(
		arena, "\"$LXPLORE\" explore specs/space_time/matmul.yaml -q -o '%s'", folder);
	assert_int_equal(ended.status, 0);
	assert_string_equal(
		ended.out, find_block(arena, "README.md", "point     cycles        PEs"));
	const char *spec =
		put_block(arena, folder, "conv.yaml", "specs/space_time.md", "variables:");
	ended = shell(arena, "\"$LXPLORE\" simulate '%s'", spec);
	assert_int_equal(ended.status, 0);
	shell_remove(folder);
	arena_close(arena);
}

static void check_links(struct arena *arena, const char *manual, const char *folder)
{
	const char *at = read_manual(arena, manual);
	size_t count = 0;
	while ((at = strstr(at, "]("))) {
		at += 2;
		size_t length = strcspn(at, ")\n");
		if (strncmp(at, "http", 4) == 0)
			continue;
		const char *path = arena_format(arena, "%s%.*s", folder, (int)length, at);
		if (access(path, R_OK) != 0)
			fail_msg("%s links to '%s', which does not exist", manual, path);
		count++;
	}
	if (text_equal(folder, ""))
		assert_true(count > 0);
}

static void links_lead_to_files(void **state)
{
	struct arena *arena = arena_open();
	check_links(arena, "README.md", "");
	check_links(arena, "specs/README.md", "specs/");
	arena_close(arena);
}

/* Up to the number of nodes, which is no promise. */
static void check_beginning(const char *said, const char *shown)
{
	size_t length = strcspn(shown, ";");
	if (strncmp(said, shown, length) != 0)
		fail_msg("it says\n%sinstead of\n%s", said, shown);
}

static void the_placement_of_the_readme_is_what_place_says(void **state)
{
	struct arena *arena = arena_open();
	const char *table = "specs/buffers/attention.csv";
	assert_string_equal(find_block(arena, "README.md", "id,lower,upper,size,in_place"),
		read_manual(arena, table));
	struct ended least = shell(arena, "\"$LXPLORE\" place %s --minimize", table);
	check_beginning(least.err, find_block(arena, "README.md", "10 buffers, peak"));
	struct ended spilled =
		shell(arena, "\"$LXPLORE\" place %s --capacity 400KiB --spill", table);
	check_beginning(spilled.err, find_block(arena, "README.md", "8 of 10 buffers kept"));
	assert_non_null(strstr(spilled.out, "\nx,0,9,128KiB,,131072,w0;r1;r8,0-2@"));
	struct ended never = shell(arena, "\"$LXPLORE\" place %s --capacity 512KiB", table);
	assert_int_equal(never.status, 1);
	assert_string_equal(never.err, find_block(arena, "README.md", "from step 2 to 3"));
	arena_close(arena);
}

/* Hyphens as the man page writes them. */
static const char *escape(struct arena *arena, const char *option, size_t length)
{
	struct text text = text_open(arena);
	for (size_t i = 0; i < length; i++)
		text_add(&text, "%s%c", option[i] == '-' ? "\\" : "", option[i]);
	return text_read(&text);
}

static void the_man_page_knows_every_option(void **state)
{
	static const char *const commands[] = {
		"explore", "score", "simulate", "check", "place", "diff", "report", "list"};
	struct arena *arena = arena_open();
	const char *page = read_manual(arena, "scripts/lxplore.1");
	size_t known = 0;
	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
		if (!strstr(page, arena_format(arena, "\n.B %s ", commands[i])))
			fail_msg("the man page lacks '%s'", commands[i]);
		struct ended ended = shell(arena, "\"$LXPLORE\" %s --help", commands[i]);
		for (const char *line = ended.out; *line; line += strcspn(line, "\n") + 1) {
			size_t blanks = strspn(line, " ");
			const char *option = line + blanks;
			if (blanks < 2 || *option != '-')
				continue;
			option = strstr(option, "--") + 2;
			size_t length = strcspn(option, " \n");
			if (!strstr(page,
				    arena_format(arena, "\\-\\-%s", escape(arena, option, length))))
				fail_msg("the man page lacks '--%.*s' of '%s'", (int)length, option,
					commands[i]);
			known++;
		}
	}
	assert_true(known > 20);
	arena_close(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(examples_of_the_spec_manual_are_read),
		cmocka_unit_test(every_kind_of_constraint_is_in_the_manual),
		cmocka_unit_test(the_problem_of_the_manual_is_executed),
		cmocka_unit_test(the_network_of_the_manual_is_checked),
		cmocka_unit_test(the_broadcast_of_the_manual_is_executed),
		cmocka_unit_test(the_wrong_file_of_the_readme_is_told_what_it_says),
		cmocka_unit_test(the_plan_of_the_readme_is_the_one_that_explore_writes),
		cmocka_unit_test(the_layer_of_the_readme_is_counted_as_it_says),
		cmocka_unit_test(the_certificate_of_the_readme_is_the_one_that_explore_writes),
		cmocka_unit_test(the_arrays_of_the_readme_are_those_that_explore_finds),
		cmocka_unit_test(links_lead_to_files),
		cmocka_unit_test(the_placement_of_the_readme_is_what_place_says),
		cmocka_unit_test(the_man_page_knows_every_option),
	};
	return cmocka_run_group_tests_name("docs", tests, NULL, NULL);
}
