/* Counts that diff prints are those of score; commands/diff.txt has the rest. */
#include "base/arena.h"
#include "tests/support/folder.h"

#include <jansson.h>
#include <string.h>

#include "tests/test.h"

#define SPECS "specs/arch/three_level.yaml specs/problems/gemm_16.yaml"

static const char *put_line(const char *name, const char *line)
{
	return folder_put(name, arena_format(arena, "mapping: \"%s\"\n", line));
}

static struct ended diff(const char *words)
{
	return shell(arena, "$LXPLORE diff %s", words);
}

static json_t *score_of(const char *plan, const char *counting)
{
	struct ended ended =
		shell(arena, "$LXPLORE score " SPECS " %s --counting %s", plan, counting);
	json_t *root = json_loads(ended.out, 0, NULL);
	assert_non_null(root);
	return root;
}

/* The value of a path such as RF.A.total_reads, RF.cycles, cycles. */
static json_t *find(json_t *score, const char *path)
{
	size_t i;
	json_t *level;
	const char *dot = strchr(path, '.');
	if (!dot)
		return json_object_get(score, path);
	json_array_foreach(json_object_get(score, "levels"), i, level) {
		const char *name = json_string_value(json_object_get(level, "name"));
		if (strncmp(name, path, (size_t)(dot - path)) != 0 || name[dot - path])
			continue;
		const char *second = strchr(dot + 1, '.');
		if (!second)
			return json_object_get(level, dot + 1);
		const char *part = arena_format(arena, "%.*s", (int)(second - dot - 1), dot + 1);
		json_t *inner = json_object_get(json_object_get(level, "dataspaces"), part);
		return json_object_get(inner ? inner : json_object_get(level, part), second + 1);
	}
	return NULL;
}

static void check_side(json_t *row, const char *side, json_t *score)
{
	json_t *said = json_object_get(row, side);
	json_t *right = find(score, json_string_value(json_object_get(row, "what")));
	if (!json_equal(said, right ? right : json_null()))
		fail_msg("%s of %s", side, json_string_value(json_object_get(row, "what")));
}

FOLDER_TEST(counts_are_those_of_score)
{
	static const char *const countings[] = {"exact", "timeloop"};
	const char *a = put_line("a.yaml", "DRAM: M2 | GLB: N16 K2 | PE: K4 | RF: K2 M8");
	const char *b =
		put_line("b.yaml", "DRAM: N2 | GLB: K4 N8 | PE: M4 | RF: M4 K4 | keep DRAM,RF: A");
	for (int c = 0; c < 2; c++) {
		size_t i;
		json_t *row;
		struct ended ended = diff(arena_format(arena,
			SPECS " %s %s --all --format json --counting %s", a, b, countings[c]));
		json_t *root = json_loads(ended.out, 0, NULL);
		json_t *of_a = score_of(a, countings[c]), *of_b = score_of(b, countings[c]);
		assert_int_equal(ended.status, 1);
		assert_true(json_is_false(json_object_get(root, "equal")));
		assert_string_equal(
			json_string_value(json_object_get(root, "counting")), countings[c]);
		assert_true(json_array_size(json_object_get(root, "counts")) > 40);
		json_array_foreach(json_object_get(root, "counts"), i, row) {
			check_side(row, "a", of_a);
			check_side(row, "b", of_b);
		}
		json_decref(root);
		json_decref(of_a);
		json_decref(of_b);
	}
}

FIXTURE(folder_set_up, folder_tear_down);
