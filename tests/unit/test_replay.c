/*
 * Plans replay: what explore says of a point, score and simulate say of its file, and
 * the examples of specs/replay.md count as they say.
 */
#include "base/arena.h"
#include "base/text.h"
#include "tests/support/draws.h"
#include "tests/support/folder.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "tests/test.h"

/* A convolution that is executed with numbers in no time. */
static const char layer[] =
	"problem:\n"
	"  shape:\n"
	"    name: small\n"
	"    dimensions: [C, M, R, S, N, P, Q]\n"
	"    data_spaces:\n"
	"    - {name: Weights, projection: [[[C]], [[M]], [[R]], [[S]]]}\n"
	"    - {name: Inputs, projection: [[[N]], [[C]], [[R], [P]], [[S], [Q]]]}\n"
	"    - {name: Outputs, projection: [[[N]], [[M]], [[P]], [[Q]]], read_write: true}\n"
	"  instance: {C: 4, M: 8, R: 3, S: 3, N: 1, P: 6, Q: 6}\n";

static const char flags[] =
	"constraints:\n"
	"  targets:\n"
	"  - {target: GLB, type: temporal, constraints: {rmw_first_update: [Outputs]}}\n"
	"  - {target: PE, type: spatial, constraints: {no_reuse: [Weights]}}\n";

static double number(json_t *root, const char *key)
{
	json_t *value = json_object_get(root, key);
	if (!json_is_number(value))
		fail_msg("no '%s'", key);
	return json_number_value(value);
}

/* One row of pareto.csv and its plan. */
static void check_row(const char *specs, const char *counting, int point, const char *row)
{
	const char *words = arena_format(arena, "%s %s/out/plans/point-%03d.yaml --counting %s",
		specs, folder, point, counting);
	struct ended scored = shell(arena, "$LXPLORE score %s", words);
	struct ended run = shell(arena, "$LXPLORE simulate %s", words);
	double cycles, nanoseconds, energy;
	assert_int_equal(sscanf(row, "%*d,%lf,%lf,%lf,", &cycles, &nanoseconds, &energy), 3);
	assert_int_equal(scored.status, 0);
	assert_int_equal(run.status, 0);
	assert_string_equal(scored.err, "");
	json_t *score = json_loads(scored.out, 0, NULL), *executed = json_loads(run.out, 0, NULL);
	assert_true(number(score, "cycles") == cycles);
	assert_true(number(score, "energy_pj") == energy);
	assert_true(number(executed, "cycles") == cycles);
	assert_true(number(executed, "energy_pj") == energy);
	assert_true(json_is_true(json_object_get(executed, "agrees")));
	assert_true(json_is_true(json_object_get(executed, "right")));
	json_decref(score);
	json_decref(executed);
}

FOLDER_TEST(plans_of_a_run_replay)
{
	static const char *const machines[] = {
		"specs/arch/three_level.yaml specs/constraints/keep_all.yaml",
		"specs/arch/eyeriss.yaml specs/constraints/row_stationary.yaml",
		"specs/arch/simba.yaml", "specs/arch/eyeriss.yaml"};
	static const char *const countings[] = {"exact", "timeloop"};
	const char *problem = folder_put("layer.yaml", layer),
		   *flagged = folder_put("flags.yaml", flags);
	for (size_t i = 0; i < 2 * sizeof machines / sizeof *machines;
		i += (size_t)draws_apart(1)) {
		const char *machine = machines[i / 2], *counting = countings[i % 2];
		const char *specs = arena_format(
			arena, "%s %s %s", machine, problem, i / 2 == 3 ? flagged : "");
		struct ended ended = shell(arena,
			"$LXPLORE explore %s -q --solver map=random --budget 400 --counting %s "
			"--format csv -o %s/out",
			specs, counting, folder);
		assert_int_equal(ended.status, 0);
		assert_string_equal(ended.err, "");
		int point = 0;
		for (const char *row = strchr(ended.out, '\n') + 1; *row;
			row = strchr(row, '\n') + 1)
			check_row(specs, counting, ++point, row);
		assert_true(point > 0);
	}
}

/* The indented block of a section that begins with these words, without the indent. */
static const char *find_block(const char *section, const char *first)
{
	struct text block = text_open(arena);
	const char *line = strstr(section, arena_format(arena, "\n    %s", first));
	if (!line)
		fail_msg("no block '%s'", first);
	for (line++; strncmp(line, "    ", 4) == 0; line += strcspn(line, "\n") + 1)
		text_bytes(&block, line + 4, strcspn(line, "\n") - 3);
	return text_read(&block);
}

/* Counts the example of a section of the page. */
static void check_example(const char *heading, bool executed)
{
	const char *page = text_of_file(arena, "specs/replay.md");
	assert_non_null(page);
	const char *section = strstr(page, heading);
	assert_non_null(section);
	const char *specs = arena_format(arena, "%s %s %s",
		folder_put("machine.yaml", find_block(section, "architecture:")),
		folder_put("problem.yaml", find_block(section, "problem:")),
		folder_put("mapping.yaml", find_block(section, "mapping:")));
	struct ended ended = shell(arena, "$LXPLORE score %s --format text", specs);
	assert_string_equal(ended.err, "");
	assert_int_equal(ended.status, 0);
	const char *said = strstr(ended.out, "level  ");
	assert_non_null(said);
	assert_string_equal(find_block(section, "level  "), said);
	if (executed)
		assert_int_equal(shell(arena, "$LXPLORE simulate %s", specs).status, 0);
}

FOLDER_TEST(what_zigzag_says_is_counted)
{
	check_example("\n## ZigZag\n", true);
}

FOLDER_TEST(what_cosa_says_is_counted)
{
	check_example("\n## CoSA\n", false); /* seconds: its multiplications are many */
}

FIXTURE(folder_set_up, folder_tear_down);
