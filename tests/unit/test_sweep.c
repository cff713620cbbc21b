/*
 * Sweeps: the points that a `sweep:` comes down to, and their trees.
 */
#include "base/arena.h"
#include "base/text.h"
#include "campaign/expand.h"
#include "tests/support/complaints.h"

#include <string.h>

#include "tests/test.h"

static const char base[] = "architecture:\n"
			   "  nodes:\n"
			   "  - !Component {name: DRAM, attributes: {width: 64}}\n"
			   "  - !Component {name: GLB, attributes: {depth: 512, width: 32}}\n"
			   "  - !Container {name: 'PE[0..3]', spatial: {meshX: 4}}\n"
			   "variables: {unit: 8}\n"
			   "problem: {instance: {K: 16, M: 32}}\n";

/* `text` stands under `sweep:`, two blanks in. */
static const struct sweep_spec *read_sweep(struct arena *arena, const char *text, struct diag *diag)
{
	struct text whole = text_open(arena);
	text_add(&whole, "sweep:\n");
	for (const char *line = text; *line; line += *line == '\n') {
		text_add(&whole, "  %.*s\n", (int)strcspn(line, "\n"), line);
		line += strcspn(line, "\n");
	}
	const struct node *files[] = {
		node_read_text(arena, "base.yaml", base, strlen(base), diag),
		node_read_text(arena, "s.yaml", text_read(&whole), whole.length, diag),
	};
	assert_non_null(files[0]);
	assert_non_null(files[1]);
	return sweep_read(arena, files, 2, diag);
}

/* "name: label label;" for each point; "-" where it has no value. */
static const char *points_of(struct arena *arena, const char *text, const char **complaints)
{
	struct diag *diag = diag_open(arena);
	const struct sweep_spec *sweep = read_sweep(arena, text, diag);
	struct sweep_expansion expansion;
	struct text lines = text_open(arena);
	if (sweep && expand(arena, sweep, "", &expansion)) {
		struct expander *expander = expander_open(arena, sweep);
		for (size_t p = 0; p < expansion.point_count; p++) {
			struct sweep_point point;
			assert_int_equal(expander_point(expander, expansion.combinations[p], arena,
						 diag, &point),
				POINT_THERE);
			text_add(&lines, "%s%s%s", p ? "; " : "", point.name,
				*point.name ? ":" : "");
			for (size_t t = 0; t < sweep->target_count; t++)
				text_add(&lines, "%s%s", t || *point.name ? " " : "",
					point.labels[t] ? point.labels[t] : "-");
		}
	}
	*complaints = complaints_text(arena, diag);
	return text_read(&lines);
}

static const struct {
	const char *sweep, *points;
} rows[] = {
	{"vary: {problem.instance.K: [1, 2], problem.instance.M: [3, 4]}", "1 3; 1 4; 2 3; 2 4"},
	{"vary: {problem.instance.K: 5}", "5"},
	{"vary: {problem.instance.K: {from: 1, to: 7, step: 3}}", "1; 4; 7"},
	{"vary: {problem.instance.K: {from: 3, to: 1, step: -1}}", "3; 2; 1"},
	{"vary: {problem.instance.K: {from: 1, to: 3}}", "1; 2; 3"},
	{"vary: {problem.instance.K: {from: 2, to: 2}}", "2"},
	{"vary: {architecture.GLB.depth: {from: 16KiB, to: 64KiB, factor: 2}}",
		"16384B; 32768B; 65536B"},
	{"vary: {problem.instance.K: {from: 1, to: 1000, count: 4}}", "1; 10; 100; 1000"},
	{"vary: {problem.instance.K: {from: 1, to: 4, count: 9}}", "1; 2; 3; 4"},
	{"vary: {problem.instance.K: {from: 0.5, to: 1, step: 0.25}}", "0.5; 0.75; 1"},
	{"vary: {search.clock: {from: 1GHz, to: 4GHz, factor: 2}}", "1GHz; 2GHz; 4GHz"},
	{"vary: {search.objectives: [latency, [latency, energy]]}", "latency; [latency, energy]"},
	{"zip: {problem.instance.K: [1, 2], problem.instance.M: [3, 4]}", "1 3; 2 4"},
	{"zip: [{problem.instance.K: [1, 2]}, {problem.instance.M: [3, 4]}]", "1 3; 1 4; 2 3; 2 4"},
	{"points: {a: {problem.instance.K: 1}, b: {problem.instance.M: 2}}", "a: 1 -; b: - 2"},
	{"points: {a: {k: 1}, b: {k: 2}}\nvary: {m: [1, 2]}\nset: {problem.instance.K: k * m}",
		"a: 1 1 1; a: 1 2 2; b: 2 1 2; b: 2 2 4"},
	{"vary: {k: [3, 4]}\nset: {problem.instance.K: 2 ** k * unit, problem.instance.M: '7'}",
		"3 64 7; 4 128 7"},
	{"vary: {mode: [fast, slow]}\nset: {search.solver.map: mode}", "fast fast; slow slow"},
	{"vary: {problem.instance.K: [1, 2, 3]}\nset: {problem.instance.M: problem.instance.K + 1}",
		"1 2; 2 3; 3 4"},
	{"vary: {problem.instance.K: [1, 2], problem.instance.M: [1, 2]}\n"
	 "when: problem.instance.K < problem.instance.M or problem.instance.M == 1",
		"1 1; 1 2; 2 1"},
	{"vary: {k: [1, 2, 3, 4]}\nset: {problem.instance.K: k}\nwhen: [k > 1, not k == 3]",
		"2 2; 4 4"},
	{"vary: {k: [1, 2, 3, 4]}\nset: {problem.instance.K: k}\n"
	 "when: (k < 2 or k > 3) and k % 2 == 0",
		"4 4"},
	{"vary: {s: [ilp, random], n: {values: [1, 2], when: s == random}}\n"
	 "set: {search.solver.map: s, search.seed: n}",
		"ilp - ilp -; random 1 random 1; random 2 random 2"},
	{"vary: {architecture.PE.meshX: [8]}", "8"},
	{"vary: {architecture.nodes.1.attributes.width: [8]}", "8"},
};

TEST(points_are_as_written)
{
	const char *complaints;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		assert_string_equal(points_of(arena, rows[i].sweep, &complaints), rows[i].points);
		assert_string_equal(complaints, "");
	}
}

static const struct sweep_spec *expand_text(
	struct arena *arena, const char *text, struct sweep_expansion *out)
{
	struct diag *diag = diag_open(arena);
	const struct sweep_spec *sweep = read_sweep(arena, text, diag);
	assert_non_null(sweep);
	assert_true(expand(arena, sweep, "", out));
	assert_string_equal(complaints_text(arena, diag), "");
	return sweep;
}

/* The tree of a point is that of the specs but for the values that are set. */
TEST(values_are_in_the_tree)
{
	struct sweep_expansion expansion;
	const struct sweep_spec *sweep = expand_text(arena,
		"vary: {architecture.GLB.depth: [7], search.solver.map: [ilp], architecture.PE.meshX: "
		"[2]}",
		&expansion);
	struct sweep_point point;
	assert_int_equal(expander_point(expander_open(arena, sweep), 0, arena, sweep->diag, &point),
		POINT_THERE);
	struct text text = text_open(arena);
	for (size_t i = 0; i < point.file_count; i++)
		text_add(&text, "%s\n", canon_text(arena, point.files[i]));
	assert_string_equal(text_read(&text),
		"{architecture: {nodes: [!Component {name: DRAM, attributes: {width: 64}}, "
		"!Component {name: GLB, attributes: {depth: 7, width: 32}}, !Container {name: "
		"\"PE[0..3]\", spatial: {meshX: 2}}]}, variables: {unit: 8}, problem: {instance: {K: "
		"16, M: 32}}}\n{}\n{search: {solver: {map: ilp}}}\n");
}

/* Layers that are equal but for their names, and values that are what was there, are one task. */
TEST(equal_trees_are_one_task)
{
	struct sweep_expansion expansion;
	expand_text(arena,
		"vary: {problem: {layers: specs/workloads/resnet50.yaml, only: [conv2_x_1x1b, "
		"conv2_1_down, conv1]}}",
		&expansion);
	assert_int_equal(expansion.point_count, 3);
	assert_int_equal(expansion.task_count, 2);
	expand_text(arena, "vary: {k: [1, 2, 3, 4]}\nset: {problem.instance.K: 16 + k // 3}",
		&expansion);
	assert_int_equal(expansion.point_count, 4);
	assert_int_equal(expansion.task_count, 2);
	assert_int_equal(expansion.task_of[0], expansion.task_of[1]);
}

/* Ends, then the middle, then quarters; among these the smaller problem. */
TEST(ends_come_first)
{
	struct sweep_expansion expansion;
	expand_text(arena, "vary: {problem.instance.K: {from: 1, to: 9}}", &expansion);
	static const size_t order[] = {0, 8, 4, 2, 6, 1, 3, 5, 7};
	for (size_t r = 0; r < 9; r++)
		assert_int_equal(expansion.tasks[r].first, order[r]);
	expand_text(
		arena, "vary: {search.solver.map: [x, y], problem.instance.K: [9, 1]}", &expansion);
	static const size_t cheap[] = {1, 3, 0, 2};
	for (size_t r = 0; r < 4; r++)
		assert_int_equal(expansion.tasks[r].first, cheap[r]);
}

/* The sweeps that come along have as many points as their pages say. */
TEST(shipped_sweeps_expand)
{
	static const struct {
		const char *path;
		size_t points;
	} shipped[] = {{"specs/sweeps/machine_sizes.yaml", 512},
		{"specs/sweeps/workloads_cores.yaml", 18}};
	for (size_t i = 0; i < sizeof shipped / sizeof *shipped; i++) {
		struct diag *diag = diag_open(arena);
		struct sweep_expansion expansion;
		const struct node *file = node_read_file(arena, shipped[i].path, diag);
		const struct sweep_spec *sweep = sweep_read(arena, &file, 1, diag);
		assert_string_equal(complaints_text(arena, diag), "");
		assert_true(expand(arena, sweep, "", &expansion));
		assert_int_equal(expansion.point_count, shipped[i].points);
	}
}

/* Settings, values and names are part of the fingerprint of a store. */
TEST(fingerprints_tell_sweeps_apart)
{
	static const char *const texts[] = {"vary: {problem.instance.K: [1, 2]}",
		"vary: {problem.instance.K: [2, 1]}", "vary: {problem.instance.K: [1, 2, 3]}",
		"vary: {problem.instance.M: [1, 2]}",
		"points: {a: {problem.instance.K: 1}, b: {problem.instance.K: 2}}"};
	struct sweep_expansion expansions[5], other;
	for (int i = 0; i < 5; i++) {
		const struct sweep_spec *sweep = expand_text(arena, texts[i], &expansions[i]);
		for (int k = 0; k < i; k++)
			assert_false(expansions[k].fingerprint == expansions[i].fingerprint);
		assert_true(expand(arena, sweep, "", &other));
		assert_true(other.fingerprint == expansions[i].fingerprint);
		assert_true(expand(arena, sweep, "--seed=2", &other));
		assert_false(other.fingerprint == expansions[i].fingerprint);
		assert_false(other.tasks[0].spec == expansions[i].tasks[0].spec);
	}
}
