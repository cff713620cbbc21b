#include "base/arena.h"
#include "base/random.h"
#include "base/text.h"
#include "report/recurrence/projection_report.h"
#include "search/recurrence/project_search.h"
#include "spec/node.h"
#include "tests/support/complaints.h"
#include "tests/support/draws.h"
#include "tests/support/mutated_text.h"
#include "tests/support/projection_bounds.h"
#include "tests/test.h"

#include <string.h>

/*
 * Recurrences and projections with something changed, and absurd ones: read or refused at a place;
 * accepted ones are judged, and executed if they are small.
 */
static const char *const seeds[] = {
	"  loops: {q: 4, c: 8}\n  equations: |\n"
	"    Z(q, c) = select(q == 0, 0, Z(q - 1, c)) + x(c + q) * w(q); // sum\n"
	"    out(c) = select(q == 4 - 1, Z(q, c));\n"
	"  transform: |\n    Z.space_time_transform({c, q}, {k, t}, {1, 1, 0, 1},\n"
	"                           {q, t, c, k - q}, SpaceTimeTransform::NoCheckTime);\n",
	"  loops: {i: 4, j: [1, 5], k: 4}\n  equations: |\n"
	"    a(i, j, k) = select(j == 1, A(i, k), a(i, j - 1, k));\n"
	"    b(i, j, k) = select(i == 0, B(k, j), b(i - 1, j, k));\n"
	"    c(i, j, k) = select(k == 0, 0, c(i, j, k - 1)) + a(i, j, k) * b(i, j, k);\n"
	"    C(i, j) = select(k == 4 - 1, c(i, j, k));\n"
	"  allocation: [[1, 0, 0], [0, 1, 0]]\n  schedule: [1, 1, 1]\n"
	"  fold: {array: [2, 3], order: blocks}\n",
	"  loops: {i: 5, j: 5, k: 5}\n  domain: i >= k and j >= k\n"
	"  dependences: {A: [0, 1, 0], h: [[1, 0, 0], [0, 0, 1]], z: [{vector: [1, -1, 1], when: i > "
	"0}]}\n"
	"  allocation: [[1, 0, 0], [0, 1, 0]]\n  schedule: [[2, 1, 1]]\n  wires: [z]\n  reach: 1\n",
	"  loops: {m: 2, j: [-3, 4], k: 3}\n  equations: |\n"
	"    a(m, j, k) = select(j >= 0 and k > 0, a(m, j - 1, k - 1), min(A(m, j + 2*k), j % 3) // 2)\n"
	"    o(m) = select(j == 3 and k == 2 && !(m < 0), a(m, j, k))\n"
	"  allocation: [0, 0, 1]\n  schedule: [[1, 0, 0], [0, 1, 1]]\n"
	"  reverse: {k: p, m: t1}\n  array: [3]\n  stays: []\n",
	"  loops: {p: 4, q: 3, r: 2}\n  einsum: Y[p] = sum(q, r) X[p + 2*r - 1, q] * W[r,q]\n"
	"  allocation: [[1, 0, 0]]\n  schedule: [1, 1, 3]\n  wires: [X]\n",
	"  loops: {m: 5, n: 4, k: 3}\n  einsum: C[m,n] = sum(k) A[m,k] * B[k,n]\n"
	"  split: {n: 2, k: 2}\n  sum: [k_tile, k]\n  reread: [n_tile, k_tile]\n"
	"  load: {B: [k, m]}\n  allocation: [[0, 0, 1, 0, 0], [0, 1, 0, 0, 0]]\n"
	"  schedule: [[0, 0, 0, 0, 1], [0, 0, 0, 1, 0], [1, 1, 1, 0, 0]]\n",
};

static const char *const searched[] = {
	"  loops: {m: 3, n: 2, k: 3}\n  einsum: C[m,n] = sum(k) A[m,k] * B[k,n]\n"
	"  array: [2, 1]\n  no_link_transfer: {p1: A}\n  lanes: {p2: 3}\n"
	"  search: {fold: [tiles, blocks], wires: 1}\n",
	"  loops: {i: 3, j: 3, k: 3}\n  dependences: {A: [0, 1, 0], B: [1, 0, 0], C: [0, 0, 1]}\n"
	"  search: {allocation: [-1, 1], schedule: [1, 2], rows: 2, wires: 1}\n",
	"  loops: {i: 4, k: 4}\n  domain: i >= k\n  dependences: {A: [1, 0], C: [1, 1]}\n"
	"  search: {vector: [-1, 1], schedule: [0, 2]}\n  reach: 1\n",
};

/* The spec under its key; NULL after complaints, each of which has a place. */
static bool read_spec(struct arena *arena, const char *body, struct space_time *out)
{
	struct diag *diag = diag_open(arena);
	const char *text = arena_format(arena, "space_time:\n%s", body);
	const struct node *node = node_read_text(arena, "spec.yaml", text, strlen(text), diag);
	struct reading reading = {.arena = arena, .diag = diag};
	const struct node *key =
		node && node->kind == NODE_MAP ? node_find(node, "space_time") : NULL;
	if (node && !key)
		return false;
	bool good = key && space_time_read(&reading, key, NULL, out);
	const char *complaints = complaints_text(arena, diag);
	if (!good && (!strstr(complaints, "error: ") || strncmp(complaints, "spec.yaml:", 10) != 0))
		fail_msg("refused without a reason at a place: %s\n%s", complaints, body);
	return good;
}

enum { SMALL = 20000 };

static bool is_small(const struct recurrence *recurrence)
{
	return recurrence_box(recurrence) <= SMALL;
}

/* Runs every check of a given projection; true if it is legal. */
static bool judge(struct arena *arena, const struct space_time *spec, const char *body)
{
	const struct recurrence *recurrence = &spec->recurrence;
	struct project_search search = {.spec = spec, .wishes.seed = 7};
	struct project_found found = {.spec = spec,
		.projection = spec->projection,
		.facts = projection_facts(recurrence, &spec->projection, spec)};
	const struct projection_facts *facts = &found.facts;
	const char *why = projection_fault_text(arena, spec, &spec->projection, facts), *no_code;
	assert_int_equal(facts->fault == PROJECTION_FINE, why == NULL);
	if (is_small(recurrence)) {
		project_count_ports(&search, &found);
		json_t *tree = projection_json(&found);
		projection_text(arena, &found, tree);
		json_decref(tree);
	}
	if (why)
		return false;
	if (!projection_code(arena, recurrence, &spec->projection, facts, &no_code))
		assert_non_null(no_code);
	if (!is_small(recurrence))
		return true;
	int64_t widest = projection_widest(recurrence, facts->schedule);
	if (widest > facts->pes)
		fail_msg("%lld PEs for a step of %lld points:\n%s", (long long)facts->pes,
			(long long)widest, body);
	project_execute(&search, &found, arena);
	if (found.common.execution.finished && !found.common.execution.agrees)
		fail_msg("the array disagrees with the model:\n%s", body);
	return true;
}

static void changed_projections_are_judged_or_refused(void **state)
{
	(void)state;
	uint64_t seed = draws_seed(5);
	long count = draws(600), read = 0, legal = 0;
	for (long i = 0; i < count; i++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)i);
		const char *body = mutated_text(
			arena, &random, seeds[i % (long)(sizeof seeds / sizeof *seeds)]);
		struct space_time spec;
		if (read_spec(arena, body, &spec)) {
			read++;
			if (spec.has_space && spec.has_time)
				legal += judge(arena, &spec, body);
		}
		arena_close(arena);
	}
	print_message("%ld legal\n", legal);
	mutated_tell(count, read);
	assert_true(!draws_are_many(count) || (legal > 0 && read < count));
}

static int64_t width(const struct projection_range *range)
{
	return range->most - range->least + 1;
}

/* Nothing that takes long. */
static bool is_searchable(const struct space_time *spec)
{
	const struct projection_range *space =
		spec->by_vectors ? &spec->vector_range : &spec->space_range;
	return spec->recurrence.loop_count <= 3 && spec->space_rows <= 2 &&
	       recurrence_box(&spec->recurrence) <= 1000 && width(&spec->time_range) <= 4 &&
	       width(space) <= 3;
}

static void changed_searches_end(void **state)
{
	(void)state;
	uint64_t seed = draws_seed(6);
	long count = draws(120), complete = 0;
	for (long i = 0; i < count; i++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)i);
		struct space_time spec;
		const char *body = mutated_text(arena, &random, searched[i % 3]);
		if (read_spec(arena, body, &spec) && is_searchable(&spec)) {
			struct project_search search = {.spec = &spec,
				.wishes.objectives = {3,
					{OBJECTIVE_LATENCY, OBJECTIVE_PES, OBJECTIVE_PORTS}},
				.solver = solver_for(
					STAGE_PROJECT, spec.folds ? FOR_FOLDINGS : FOR_RECURRENCES),
				.wishes.simulate = SIMULATE_ALL,
				.wishes.budget = 500};
			struct explored explored = project_explore(&search, arena);
			if (explored.effort.disagreed)
				fail_msg("%s\n%s", explored.fault, body);
			complete += explored.complete;
		}
		arena_close(arena);
	}
	assert_true(!draws_are_many(count) || complete > 0);
}

/* A piece of text said so often, between two others. */
static const char *repeated(
	struct arena *arena, const char *before, const char *piece, int times, const char *after)
{
	struct text text = text_open(arena);
	text_add(&text, "%s", before);
	for (int i = 0; i < times; i++)
		text_add(&text, "%s", piece);
	text_add(&text, "%s", after);
	return text_read(&text);
}

/* A sum of this many guarded reads, in pairs of pairs: wide, but not high. */
static const char *balanced(struct arena *arena, int height)
{
	const char *tree = "select(i == 0, 0, a(i - 1))";
	for (int i = 0; i < height; i++)
		tree = arena_format(arena, "(%s + %s)", tree, tree);
	return arena_format(arena, "  loops: {i: 4}\n  equations: a(i) = %s\n", tree);
}

static void check_hostile(struct arena *arena, const char *body)
{
	struct space_time spec;
	if (read_spec(arena, body, &spec) && spec.has_space && spec.has_time)
		judge(arena, &spec, body);
}

static void hostile_texts_are_refused(void **state)
{
	(void)state;
	static const struct {
		const char *before, *piece, *after;
	} rows[] = {
		{"  loops: {i: 4}\n  equations: a(i) = ", "(", "1\n"},
		{"  loops: {i: 4}\n  equations: a(i) = ", "min(1, ", "1\n"},
		{"  loops: {i: 4}\n  equations: a(i) = ", "select(i == 0, 0, ", "1\n"},
		{"  loops: {i: 4}\n  equations: a(i) = ", "- ", "1\n"},
		{"  loops: {i: 4}\n  equations: a(i) = ", "not ", "1\n"},
		{"  loops: {i: 4}\n  equations: a(i) = 1", " + 1", "\n"},
		{"  loops: {i: 4}\n  equations: a(i) = 1", " and 1", "\n"},
		{"  loops: {i: 4}\n  equations: a(i) = b(i", " + i", ")\n"},
		{"  loops: {i: 4}\n  equations: a(i) = b(", "i, ", "i)\n"},
		{"  loops: {i: 4}\n  domain: ", "(", "i\n  dependences: {a: [1]}\n"},
		{"  loops: {i: 4}\n  dependences: {a: [", "[1], ", "[2]]}\n"},
		{"  loops: {i: 4}\n  dependences: {a: [1]}\n  transform: '"
		 "space_time_transform({i}, {t}, {1}, {i, ",
			"(", "t})'\n"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct arena *arena = arena_open();
		check_hostile(arena,
			repeated(arena, rows[i].before, rows[i].piece, 20000, rows[i].after));
		check_hostile(
			arena, repeated(arena, rows[i].before, rows[i].piece, 150, rows[i].after));
		arena_close(arena);
	}
	struct arena *arena = arena_open();
	struct space_time spec;
	assert_false(read_spec(arena, balanced(arena, 12), &spec));
	/* Every value waits for the next one within one step. */
	check_hostile(arena,
		repeated(arena,
			"  loops: {j: 9000}\n  allocation: [1]\n  schedule: [0]\n  wires: a\n"
			"  equations: a(j) = select(j == 8999, 1, ",
			"- ", 150, "a(j + 1))\n"));
	arena_close(arena);
}

static void hostile_numbers_are_judged(void **state)
{
	(void)state;
#define BIG "2147483648"
#define EIGHT "a: 2, b: 2, c: 2, d: 2, e: 2, f: 2, g: 2, h: 2"
#define VAST "a: " BIG ", b: " BIG ", c: " BIG ", d: " BIG
	static const char *const rows[] = {
		"  loops: {" VAST "}\n  dependences: {A: [1, 0, 0, 0], B: [0, 1, 0, -1000000]}\n"
		"  allocation: [1000000, -1000000, 1, 0]\n  schedule: [1000000, 1000000, 1, 1]\n",
		"  loops: {" VAST "}\n  dependences: {A: [1000000, 0, 0, 0]}\n"
		"  allocation: []\n  schedule: [[1000000, 1, 0, 0], [-1000000, 0, 1, 0],"
		" [1000000, 0, 0, 1]]\n",
		"  loops: {a: " BIG ", b: " BIG ", c: 2}\n  dependences: {A: [1, 0, 0]}\n"
		"  allocation: []\n  schedule: [1, 1, 1]\n",
		"  loops: {a: [-2147483648, 0], b: [2147483647, 2147483650], c: 4}\n"
		"  domain: a > b\n  dependences: {A: [1, 0, 0]}\n"
		"  allocation: [0, 1, 0]\n  schedule: [1, 1, 1]\n",
		"  loops: {a: " BIG ", b: 3}\n"
		"  dependences: {A: {vector: [1, 0], when: a < 0}, B: {vector: [0, 1], when: b > 5}}\n"
		"  allocation: [0, 1]\n  schedule: [1, 1]\n",
		"  loops: {a: 1, b: 1, c: 2147483648}\n  dependences: {A: [1000000, 1, 0]}\n"
		"  allocation: [1000000, 1, 0]\n"
		"  schedule: [[-1000000, 0, 1], [0, 1, 1000000], [-524288, 0, 1]]\n",
		"  loops: {" EIGHT "}\n  dependences: {A: [1, 1, 1, 1, 1, 1, 1, 1]}\n"
		"  allocation: [[1000000, 999983, 1, 0, 0, 0, 0, 0], [0, 0, 0, 1, 2, 3, 4, 5]]\n"
		"  schedule: [999979, 0, 1, -1, 999961, 1, 1, 1000000]\n",
		"  loops: {" EIGHT "}\n  dependences: {A: [1, 1, 1, 1, 1, 1, 1, 1]}\n"
		"  allocation: [[1, 0, 0, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0, 0, 0],"
		" [0, 0, 1, 0, 0, 0, 0, 0], [0, 0, 0, 1, 0, 0, 0, 0], [0, 0, 0, 0, 1, 0, 0, 0],"
		" [0, 0, 0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 0, 0, 1, 0], [0, 0, 0, 0, 0, 0, 0, 1]]\n"
		"  schedule: [1, 1, 1, 1, 1, 1, 1, 1]\n",
		"  loops: {i: 4000}\n  dependences: {A: [1]}\n  allocation: []\n  schedule: [1000000]\n",
		"  loops: {i: 4, j: 9000}\n  dependences: {A: [0, -1]}\n"
		"  allocation: [[0, 1]]\n  schedule: [1, 0]\n  wires: A\n",
		"  loops: {i: 4}\n  equations: a(i) = b(9999999999 * i + 1e300) + b(0.5)\n",
		"  loops: {i: 4}\n  equations: |\n    a(i) = b(134217728 * i + 8589934592)\n"
		"    b(i) = 1\n",
		"  loops: {i: 4, j: 4}\n  equations: |\n"
		"    a(i, j) = select(i > 0, b(i - 1, j), c(i, j))\n"
		"    b(i, j) = select(j > 0, c(i, j - 1), a(i, j))\n"
		"    c(i, j) = select(i > 2, a(i - 1, j), b(i, j))\n"
		"  allocation: [1, 0]\n  schedule: [1, 1]\n",
		"  loops: {i: 4, j: 4}\n  dependences: {a: [1, -1], b: [-1, 1], c: [[1, 0], [-1, 0]]}\n"
		"  allocation: [1, 0]\n  schedule: [0, 0]\n  wires: [a, b, c]\n",
		"  loops: {" VAST
		"}\n  einsum: O[a] = sum(b, c, d) X[99999999 a - 134217728 b] * Y[c]\n"
		"  allocation: [1, 0, 0, 0]\n  schedule: [1, 1000000, 1, 1]\n",
		"  loops: {i: 4}\n  einsum: O[] = sum(i) X[9223372036854775807 i - 9223372036854775807 "
		"i]\n",
		"  loops: {i: 4}\n  einsum: O[i] = X[i - 9223372036854775807]\n",
		"  loops: {i: 1000000, j: 1000000}\n  dependences: {a: [1, 0]}\n"
		"  allocation: [0, 1]\n  schedule: [1, 0]\n"
		"  fold: {array: [1], order: blocks}\n",
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct arena *arena = arena_open();
		check_hostile(arena, rows[i]);
		arena_close(arena);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(changed_projections_are_judged_or_refused),
		cmocka_unit_test(changed_searches_end),
		cmocka_unit_test(hostile_texts_are_refused),
		cmocka_unit_test(hostile_numbers_are_judged),
	};
	return cmocka_run_group_tests_name("fuzz_space_time", tests, NULL, NULL);
}
