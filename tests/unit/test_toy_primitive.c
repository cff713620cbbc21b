#include "base/arena.h"
#include "base/text.h"
#include "tests/support/folder.h"

#include <stdlib.h>
#include <string.h>

#include "tests/test.h"

/*
 * A primitive is one row: lxplore_toys is lxplore and tests/toys/, where one file defines a map
 * `toy` and a reduction `toyprod`, which nothing else of it knows.
 */
#define TOYS "$(dirname $LXPLORE)/tests/lxplore_toys "
#define SPYRE "specs/arch/spyre32.yaml"

static const char *graph_of(const char *ops)
{
	return folder_put("graph.yaml",
		arena_format(arena, "workload:\n  dimensions: {m: 32, n: 64}\n  ops:\n%s", ops));
}

static const char *simulate(const char *arch, const char *ops)
{
	struct ended ended = shell(arena, TOYS "simulate %s %s", arch, graph_of(ops));
	if (ended.status != 0)
		fail_msg("%s: %s", ops, ended.err);
	return ended.out;
}

static double number_of(const char *json, const char *key)
{
	const char *at = strstr(json, arena_format(arena, "\"%s\": ", key));
	assert_non_null(at);
	return strtod(at + strlen(key) + 4, NULL);
}

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("'%s' is not in\n%s", part, text);
}

/* The machine of the specs with other words for what its ring can do. */
static const char *arch_with(const char *reductions)
{
	const char *path = run_folder_path("arch.yaml");
	struct ended ended =
		shell(arena, "sed 's/reductions: .sum, max, min./reductions: [%s]/' " SPYRE " > %s",
			reductions, path);
	assert_int_equal(ended.status, 0);
	return path;
}

FOLDER_TEST(it_is_listed)
{
	const char *listed = shell(arena, TOYS "list ops").out;
	assert_has(listed, "\ntoy          twice its operand and one\n");
	assert_has(listed, "\ntoyprod      out[..] = toyprod(k) a[..]\n");
	assert_null(strstr(shell(arena, "$LXPLORE list ops").out, "toy"));
}

/* It moves what neg moves; four steps of the array are what its row says. */
FOLDER_TEST(it_is_priced_by_its_row)
{
	const char *toy = simulate(SPYRE, "  - y[m,n] = toy(x[m,n])\n");
	const char *neg = simulate(SPYRE, "  - y[m,n] = neg(x[m,n])\n");
	double array_pj = 1.5, vector_pj = 1.1, points = 32 * 64;
	assert_true(number_of(toy, "hbm_bytes") == number_of(neg, "hbm_bytes"));
	assert_true(number_of(neg, "computes") == points);
	assert_true(number_of(toy, "computes") == 4 * points);
	double more = number_of(toy, "energy_pj") - number_of(neg, "energy_pj");
	assert_true(more > points * (4 * array_pj - vector_pj) - 1e-3);
	assert_true(more < points * (4 * array_pj - vector_pj) + 1e-3);
}

FOLDER_TEST(it_is_divided_and_computes_right_data)
{
	const char *json =
		simulate(SPYRE, "  - y[m,n] = toy(x[m,n])\n  - z[n] = toyprod(m) y[m,n]\n");
	assert_has(json, "\"executed\": \"data\"");
	assert_has(json, "\"agrees\": true");
	assert_has(json, "\"type\": \"toy\"");
	assert_has(json, "\"mapping\": \"core: m32\"");
}

/* If the machine's ring can reduce, cores share the reduction; otherwise one core has it. */
FOLDER_TEST(it_is_reduced_by_a_ring_that_can)
{
	static const char *const ops = "  - z[n] = toyprod(m) x[m,n]\n";
	const char *shared = simulate(arch_with("sum, toyprod"), ops);
	assert_has(shared, "\"mapping\": \"core: m32\"");
	assert_has(shared, "\"agrees\": true");
	assert_true(number_of(shared, "ring") > 0);
	assert_true(number_of(simulate(SPYRE, ops), "ring") == 0);
}

FOLDER_TEST(messages_know_it)
{
	static const struct {
		const char *op, *message;
	} table[] = {
		{"toi(x[m])", "unknown function 'toi'; did you mean 'toy'?"},
		{"toy(x[m], 2)", "'toy' takes one operand"},
		{"toyprod(x[m], x[m])",
			"'toyprod' reduces over dimensions, as in toyprod(k) x[m,k]"},
		{"toyprod(n) x[m,n] * w[n]",
			"only sum takes a product; give 'toyprod' a tensor that holds it"},
	};
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		const char *op = arena_format(arena, "  - 'y[m] = %s'\n", table[i].op);
		struct ended ended = shell(arena, TOYS "check " SPYRE " %s", graph_of(op));
		assert_int_equal(ended.status, 2);
		assert_has(ended.err, table[i].message);
	}
	struct ended ended = shell(arena, TOYS "check %s %s", arch_with("sum, mean"),
		graph_of("  - y[m] = toy(x[m])\n"));
	assert_int_equal(ended.status, 2);
	assert_has(ended.err, "a ring reduces by 'sum', 'max', 'min' and 'toyprod', not by 'mean'");
}

/* A primitive has its row and its arithmetic in one file, and no other file but the importer of models' ops
 * and of measured kernels knows its name. */
FOLDER_TEST(one_file_names_a_primitive)
{
	struct ended ended = shell(arena,
		"grep -rlE '\"gelu\"|[(]gelu,|primitive_gelu|GELU' src solvers scripts | "
		"grep -vE 'src/(import/(op_table|ops_fused)|calibrate/measured)[.]c'; "
		"grep -cE '[(]gelu,' src/model/machine/primitives.c");
	assert_string_equal(ended.out, "src/model/machine/primitives.c\n2\n");
}
