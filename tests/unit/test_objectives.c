#include "base/arena.h"
#include "tests/support/csv.h"
#include "tests/support/folder.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"

/* Traffic of a level as an objective: as options, `search:` and `mapper:` name it. */
#define SMALL                                                                                      \
	"specs/arch/three_level.yaml specs/problems/gemm_16.yaml "                                 \
	"specs/constraints/keep_all.yaml"

static struct ended explore(const char *words)
{
	return shell(arena, "$LXPLORE explore %s -q --simulate none -o %s", words, folder);
}

/* The column of the first point's row. */
static const char *column(const char *name)
{
	return csv_cell(arena, folder_text("pareto.csv"), 1, name);
}

/* Words of all dataspaces and instances at a level, as score counts them. */
static long long scored(const char *level)
{
	struct ended ended = shell(arena,
		"$LXPLORE score specs/arch/three_level.yaml specs/problems/gemm_16.yaml "
		"%s/plans/point-001.yaml",
		folder);
	json_t *root = json_loads(ended.out, 0, NULL), *at, *entry;
	size_t i;
	double words = 0;
	json_array_foreach(json_object_get(root, "levels"), i, at) {
		const char *name;
		if (strcmp(json_string_value(json_object_get(at, "name")), level) != 0)
			continue;
		double instances = json_number_value(json_object_get(at, "utilized_instances"));
		json_object_foreach(json_object_get(at, "dataspaces"), name, entry)
			words += instances *
				 (json_number_value(json_object_get(entry, "reads")) +
					 json_number_value(json_object_get(entry, "fills")) +
					 json_number_value(json_object_get(entry, "updates")));
	}
	json_decref(root);
	return (long long)(words + 0.5);
}

/* Every solver that proves says the same, and it is what score counts. */
FOLDER_TEST(proofs_agree_on_every_level)
{
	static const char *const levels[] = {"RF", "GLB", "DRAM"};
	for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
		const char *name = arena_format(arena, "accesses:%s", levels[i]), *value[2];
		for (int s = 0; s < 2; s++) {
			assert_int_equal(
				explore(arena_format(arena, SMALL " --objective %s --solver map=%s",
						name, s ? "exact" : "linear"))
					.status,
				0);
			assert_string_equal(column("proof"), "optimal");
			value[s] = column(name);
			assert_int_equal(atoll(value[s]), scored(levels[i]));
		}
		assert_string_equal(value[0], value[1]);
	}
}

FOLDER_TEST(several_levels_make_a_frontier)
{
	folder_put("more.yaml", "search: {objectives: [accesses:RF, accesses:DRAM, latency]}\n");
	assert_int_equal(explore(arena_format(arena, SMALL " %s/more.yaml", folder)).status, 0);
	long long words = atoll(column("accesses:RF"));
	assert_int_equal(words, scored("RF"));
	assert_int_equal(atoll(column("accesses:DRAM")), scored("DRAM"));
	assert_int_equal(explore(SMALL " --objective accesses:RF").status, 0);
	assert_int_equal(atoll(column("accesses:RF")), words);
}

FOLDER_TEST(metrics_of_a_mapper_are_such_objectives)
{
	static const struct {
		const char *metrics, *columns;
	} good[] = {
		{"[accesses-2]", ",accesses:GLB\n"},
		{"[accesses_0, energy]", ",accesses:RF\n"},
		{"[accesses:DRAM, delay]", ",accesses:DRAM\n"},
		{"[ordered-accesses]", ",accesses:DRAM,accesses:GLB,accesses:RF\n"},
	};
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		folder_put("more.yaml", arena_format(arena, "mapper: {optimization_metrics: %s}\n",
						good[i].metrics));
		assert_int_equal(
			explore(arena_format(arena, SMALL " %s/more.yaml", folder)).status, 0);
		const char *csv = folder_text("pareto.csv");
		if (!strstr(csv, good[i].columns))
			fail_msg("%s: %s", good[i].metrics, csv);
	}
}

FIXTURE(folder_set_up, folder_tear_down);
