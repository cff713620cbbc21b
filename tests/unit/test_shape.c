#include "base/arena.h"
#include "model/graph/op_mapping.h"
#include "tests/support/nest_text.h"
#include "tests/support/sample.h"
#include "tests/support/spyre.h"

#include <string.h>

#include "tests/test.h"

static const char head[] = "problem:\n"
			   "  version: 0.4\n"
			   "  shape:\n"
			   "    name: conv\n"
			   "    dimensions: [C, K, R, P]\n"
			   "    coefficients:\n"
			   "    - {name: stride, default: 1}\n"
			   "    - {name: dilation}\n"
			   "    data_spaces:\n"
			   "    - {name: Weights, projection: [[[C]], [[K]], [[R]]]}\n";
static const char tail[] = "    - {name: Outputs, projection: [[[K]], [[P]]], read_write: true}\n"
			   "  instance: {C: 2, K: 4, R: 3, P: 16, stride: 2, dilation: 3}\n";

static void check_conv(const struct shape *shape)
{
	static const uint32_t relevant[] = {7, 13, 10};
	assert_int_equal(shape->dimension_count, 4);
	assert_int_equal(shape->space_count, 3);
	assert_int_equal(shape->dimensions[shape_dimension(shape, "P")].extent, 16);
	for (int t = 0; t < 3; t++) {
		assert_int_equal(shape->spaces[t].relevant, relevant[t]);
		assert_int_equal(shape->spaces[t].written, t == 2);
	}
	const struct dataspace *inputs = &shape->spaces[shape_space(shape, "Inputs")];
	assert_int_equal(inputs->rank_count, 2);
	assert_int_equal(inputs->ranks[0].coefficient[0], 1);
	assert_int_equal(inputs->ranks[1].coefficient[2], 3);
	assert_int_equal(inputs->ranks[1].coefficient[3], 2);
	assert_int_equal(inputs->ranks[1].coefficient[0], 0);
	assert_false(shape_writes_overlap(shape));
	int64_t computes;
	assert_true(shape_computes(shape, &computes));
	assert_int_equal(computes, 2 * 4 * 3 * 16);
}

TEST(every_nesting_of_a_projection_reads_alike)
{
	static const char *const inputs[] = {
		"    - {name: Inputs, projection: [[[C]], [[R, dilation], [P, stride]]]}\n",
		"    - {name: Inputs, projection: [[C], [[R, dilation], [P, stride]]]}\n",
		"    - {name: Inputs, projection: [C, [[dilation, R], [stride, P]]]}\n",
		"    - {name: Inputs, projection: [C, \"R*dilation + P * stride\"]}\n",
		"    - {name: Inputs, projection: {C: C, H: [\"stride*P\", [R, 3]]}}\n",
		("    - name: Inputs\n      projection:\n      - - - C\n      - - - R\n"
		 "          - dilation\n        - - P\n          - stride\n"),
	};
	for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
		const char *complaints;
		const char *yaml = arena_format(arena, "%s%s%s", head, inputs[i], tail);
		const struct shape *shape = problem_of_text(arena, yaml, &complaints);
		if (!shape || *complaints)
			fail_msg("%s\n%s", yaml, complaints);
		check_conv(shape);
	}
}

TEST(older_forms_read)
{
	static const char *const texts[] = {
		"problem:\n  shape:\n    dimensions: [C, K, R, P]\n"
		"    coefficients: [{name: s, default: 1}, {name: d, default: 3}]\n"
		"    data-spaces:\n"
		"    - {name: Weights, projection: [[[C]], [[K]], [[R]]]}\n"
		"    - {name: Inputs, projection: [[[C]], [[R, d], [P, s]]]}\n"
		"    - {name: Outputs, projection: [[[K]], [[P]]], read-write: True}\n"
		"  C: 2\n  K: 4\n  R: 3\n  P: 16\n  s: 2\n  commonDensity: 1.0\n"
		"  densities: {Inputs: 1.0, Weights: {density: 1, distribution: fixed-structured}}\n",
		"problem:\n  dimensions: [C, K, R, P]\n"
		"  data_spaces:\n"
		"  - {name: Weights, projection: [C, K, R]}\n"
		"  - {name: Inputs, projection: [C, 3*R+2*P]}\n"
		"  - {name: Outputs, projection: [K, P], read_write: True}\n"
		"  instance: {C: 2, K: 2*2, R: 3, P: 2**4}\n",
	};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		const char *complaints;
		const struct shape *shape = problem_of_text(arena, texts[i], &complaints);
		if (!shape || *complaints)
			fail_msg("%s\n%s", texts[i], complaints);
		check_conv(shape);
	}
}

TEST(names_may_be_long_and_extents_large)
{
	const struct shape *shape = problem_of_text(arena,
		"problem:\n"
		"  shape:\n"
		"    dimensions: [Rows, in_channels, K1]\n"
		"    data_spaces:\n"
		"    - {name: A_0, projection: [[[Rows]], [[in_channels]]]}\n"
		"    - {name: Z, projection: [[[Rows], [K1]]], read_write: true}\n"
		"  instance: {Rows: 2147483648, in_channels: 2147483648, K1: 2147483648}\n",
		NULL);
	int64_t computes;
	assert_non_null(shape);
	assert_int_equal(shape->dimensions[0].extent, 2147483648);
	assert_true(shape_writes_overlap(shape));
	assert_false(shape_computes(shape, &computes));
}

TEST(what_no_dimension_is_gets_a_note)
{
	const char *complaints;
	const char *yaml = arena_format(arena, "%s%s", head, tail);
	const struct shape *shape = problem_of_text(arena,
		"problem:\n"
		"  shape:\n"
		"    dimensions: [P]\n"
		"    data_spaces: [{name: Z, projection: [[[P]]], read_write: true}]\n"
		"  instance: {P: 4, Hpad: 1}\n",
		&complaints);
	assert_non_null(shape);
	assert_non_null(strstr(
		complaints, "p.yaml:5:20: note: not read, as in Timeloop: 'Hpad' in instance\n"));
	assert_non_null(problem_of_text(arena, yaml, NULL));
}

/* The shapes of Timeloop's folder problem-shapes, from whose files these are written out. */
TEST(shapes_have_names)
{
	static const char cnn[] =
		"problem:\n"
		"  shape:\n"
		"    dimensions: [R, S, P, Q, C, K, N]\n"
		"    coefficients: [{name: Ws}, {name: Hs}, {name: Wd}, {name: Hd}]\n"
		"    data_spaces:\n"
		"    - {name: Weights, projection: [[[C]], [[K]], [[R]], [[S]]]}\n"
		"    - name: Inputs\n"
		"      projection: [[[N]], [[C]], [[R, Wd], [P, Ws]], [[S, Hd], [Q, Hs]]]\n"
		"    - {name: Outputs, projection: [[[N]], [[K]], [[Q]], [[P]]], read_write: true}\n"
		"  instance: {R: 3, S: 5, P: 6, Q: 7, C: 8, K: 9, N: 2, Ws: 2, Hs: 3, Wd: 1, Hd: 4}\n";
	static const char extents[] =
		"R: 3, S: 5, P: 6, Q: 7, C: 8, K: 9, N: 2, Wstride: 2, Hstride: 3, Hdilation: 4";
	static const char *const forms[] = {
		"problem: {shape: cnn-layer, %s}\n",
		"problem: {shape: cnn_layer, instance: {%s}}\n",
		"problem: {shape: cnn-layer.yaml, instance: {%s}}\n",
		"problem: {version: 0.3, %s}\n",
		"problem: {instance: {%s}}\n",
	};
	const struct shape *written = problem_of_text(arena, cnn, NULL);
	assert_non_null(written);
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		const char *complaints;
		char yaml[512];
		snprintf(yaml, sizeof yaml, forms[i], extents);
		const struct shape *named = problem_of_text(arena, yaml, &complaints);
		if (!named || !shape_equal(named, written))
			fail_msg("%s\n%s", yaml, complaints);
		assert_string_equal(named->name, "CNN-Layer");
		assert_int_equal(!*complaints, i < 3);
		if (i >= 3)
			assert_non_null(strstr(complaints,
				"note: no shape is given: it is that of cnn-layer, as in Timeloop"));
	}
	const struct shape *gemm = problem_of_text(
		arena, "problem: {shape: gemm_ABZ, instance: {M: 2, N: 3, K: 4}}\n", NULL);
	assert_int_equal(gemm->space_count, 3);
	assert_string_equal(gemm->spaces[2].name, "Z");
	assert_int_equal(gemm->spaces[1].relevant, 2 | 4);
	gemm = problem_of_text(
		arena, "problem: {shape: gemm, instance: {M: 2, N: 3, K: 4}}\n", NULL);
	assert_int_equal(gemm->space_count, 4);
	assert_true(gemm->spaces[3].written);
	assert_int_equal(gemm->spaces[2].relevant, 1 | 2);
	const char *complaints;
	assert_null(problem_of_text(arena, "problem: {R: 3, S: 3, P: 4}\n", &complaints));
	assert_non_null(strstr(complaints, "error: problem has no 'Q'"));
}

/* An empty name counts as missing, and all keys that Timeloop ignores are listed in one note. */
TEST(what_timeloop_passes_by_is_read)
{
	const char *complaints;
	const struct shape *shape = problem_of_text(arena,
		"problem:\n"
		"  comment: hello\n"
		"  shape:\n"
		"    name: ''\n"
		"    note: x\n"
		"    dimensions: [P]\n"
		"    data_spaces: [{name: Z, projection: [[[P]]], read_write: true, size: 3}]\n"
		"  instance: {P: 4, W: 7}\n",
		&complaints);
	assert_non_null(shape);
	assert_string_equal(shape->name, "problem");
	assert_non_null(strstr(complaints,
		"p.yaml:7:68: note: not read, as in Timeloop: 'size' in data space 'Z', 'W' in "
		"instance, 'note' in shape, 'comment' in problem\n"));
	assert_null(strstr(strstr(complaints, "note: ") + 1, "note: "));
}

TEST(an_op_is_a_nest_of_its_loops)
{
	const struct arch *arch = spyre_arch(arena, 32);
	const struct workload *workload = sample_op(
		arena, OP_EINSUM, DTYPE_FP16, "mk,kn->mn", "mnk", (int64_t[]){512, 2048, 1000});
	const struct op *op = &workload->ops[0];
	const struct shape *whole = op_nest_shape(arena, arch, workload, op);
	assert_int_equal(whole->space_count, 3);
	assert_int_equal(whole->dimensions[shape_dimension(whole, "k")].extent, 1000);
	assert_string_equal(whole->spaces[2].name, "o");
	assert_true(whole->spaces[2].written && !whole->spaces[0].written);
	assert_int_equal(whole->spaces[0].word_bits, 16);
	assert_int_equal(whole->spaces[0].relevant, 1 | 4);
}

/* The operand of a product of two matrices with the result's rows is Inputs, in any order; of others the one
 * that is written first, and none where names say it. */
TEST(products_of_matrices_have_roles)
{
	static const struct {
		const char *spaces, *roles[3];
	} cases[] = {
		{"A, projection: [M, K]}, {name: B, projection: [K, N]}, {name: Z, projection: [M, N]",
			{"Inputs", "Weights", "Outputs"}},
		{"B, projection: [N, K]}, {name: A, projection: [K, M]}, {name: Z, projection: [M, N]",
			{"Weights", "Inputs", "Outputs"}},
		{"A, projection: [M, K]}, {name: Weights, projection: [K, N]}, {name: Z, "
		 "projection: [M, N]",
			{NULL, NULL, NULL}},
		{"A, projection: [M, K]}, {name: B, projection: [M, K]}, {name: Z, projection: [M, N]",
			{"Inputs", "Weights", "Outputs"}},
		{"A, projection: [M, K]}, {name: B, projection: [K, [[N], [M]]]}, {name: Z, "
		 "projection: [M, N]",
			{"Inputs", "Weights", "Outputs"}},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *complaints;
		const struct shape *shape = problem_of_text(arena,
			arena_format(arena,
				"problem:\n  shape:\n    name: mm\n    dimensions: [M, N, K]\n"
				"    data_spaces: [{name: %s, read_write: true}]\n"
				"  instance: {M: 4, N: 4, K: 4}\n",
				cases[i].spaces),
			&complaints);
		assert_string_equal(complaints, "");
		for (int t = 0; t < 3; t++)
			if (cases[i].roles[t])
				assert_string_equal(shape->spaces[t].role, cases[i].roles[t]);
			else
				assert_null(shape->spaces[t].role);
	}
}
