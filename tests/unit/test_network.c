#include "base/arena.h"
#include "base/text.h"
#include "tests/support/nest_text.h"

#include <string.h>

#include "tests/test.h"

static const char shapes[] = "network:\n"
			     "  name: small\n"
			     "  shapes:\n"
			     "    conv:\n"
			     "      dimensions: [C, M, R, P]\n"
			     "      coefficients: [{name: stride, default: 1}]\n"
			     "      data_spaces:\n"
			     "      - {name: Weights, projection: [C, M, R]}\n"
			     "      - {name: Inputs, projection: [C, [R, [P, stride]]]}\n"
			     "      - {name: Outputs, projection: [M, P], read_write: true}\n"
			     "  layers:\n";

static const struct network *read(struct arena *arena, const char *layers, const char **complaints)
{
	return network_of_text(arena, arena_format(arena, "%s%s", shapes, layers), complaints);
}

TEST(layers_are_problems_that_occur)
{
	const char *complaints;
	const struct network *network = read(arena,
		"  - {name: a, shape: conv, instance: {C: 2, M: 4, R: 3, P: 8, stride: 2}}\n"
		"  - {name: b.1, count: 2**5, shape: conv, instance: {C: 2, M: 4, R: 3, P: 8}}\n"
		"  - {name: c-1, shape: conv, instance: {C: 2, M: 4, R: 3, P: 8, stride: 2}}\n"
		"  - name: d\n"
		"    shape:\n"
		"      name: own\n"
		"      dimensions: [M, K]\n"
		"      data_spaces:\n"
		"      - {name: A, projection: [M, K]}\n"
		"      - {name: Z, projection: [M], read_write: true}\n"
		"    instance: {M: 3, K: 5}\n"
		"  - {name: e, version: 0.4, shape: conv, C: 2, M: 4, R: 3, P: 8, stride: 1}\n",
		&complaints);
	assert_string_equal(complaints, "");
	assert_string_equal(network->name, "small");
	assert_int_equal(network->layer_count, 5);
	assert_int_equal(network->distinct, 3);
	static const struct {
		const char *name;
		int64_t count;
		size_t same_as;
	} rows[] = {{"a", 1, 0}, {"b.1", 32, 1}, {"c-1", 1, 0}, {"d", 1, 3}, {"e", 1, 1}};
	for (size_t i = 0; i < 5; i++) {
		assert_string_equal(network->layers[i].name, rows[i].name);
		assert_int_equal(network->layers[i].count, rows[i].count);
		assert_int_equal(network->layers[i].same_as, rows[i].same_as);
	}
	const struct shape *shape = network->layers[0].shape;
	assert_int_equal(shape->spaces[1].ranks[1].coefficient[3], 2);
	assert_int_equal(network->layers[3].shape->dimension_count, 2);
}

TEST(what_is_written_of_a_shape_reads_alike)
{
	const char *complaints;
	const struct network *network = read(arena,
		"  - {name: a, shape: conv, instance: {C: 2, M: 4, R: 3, P: 8, stride: 3}}\n"
		"  - {name: b, shape: conv, instance: {C: 1, M: 1, R: 3, P: 1, stride: 0}}\n"
		"  - name: c\n"
		"    shape:\n"
		"      name: \"a: name\"\n"
		"      dimensions: [y, No]\n"
		"      coefficients: [{name: none, default: 0}]\n"
		"      data_spaces:\n"
		"      - {name: on, projection: [[[y, none]], [[y], [No]], y]}\n"
		"      - {name: off, projection: [], read_write: true}\n"
		"    instance: {y: 3, No: 2147483648}\n",
		&complaints);
	assert_string_equal(complaints, "");
	for (size_t i = 0; i < network->layer_count; i++) {
		const struct shape *shape = network->layers[i].shape;
		const char *text = shape_write(arena, shape);
		const struct shape *again = problem_of_text(arena, text, &complaints);
		assert_string_equal(complaints, "");
		assert_string_equal(again->name, shape->name);
		if (!shape_equal(again, shape))
			fail_msg("%s", text);
	}
}

TEST(shapes_differ_in_every_part)
{
	static const char *const layers[] = {
		"{name: a, shape: {dimensions: [M, K], data_spaces: [{name: A, projection: [M, K]},"
		" {name: Z, projection: [M], read_write: true}]}, instance: {M: 3, K: 5}}",
		"{name: a, shape: {dimensions: [K, M], data_spaces: [{name: A, projection: [M, K]},"
		" {name: Z, projection: [M], read_write: true}]}, instance: {M: 3, K: 5}}",
		"{name: a, shape: {dimensions: [M, K], data_spaces: [{name: B, projection: [M, K]},"
		" {name: Z, projection: [M], read_write: true}]}, instance: {M: 3, K: 5}}",
		"{name: a, shape: {dimensions: [M, K], data_spaces: [{name: A, projection: [K, M]},"
		" {name: Z, projection: [M], read_write: true}]}, instance: {M: 3, K: 5}}",
		"{name: a, shape: {dimensions: [M, K], data_spaces: [{name: A, projection: [M]},"
		" {name: Z, projection: [M], read_write: true}]}, instance: {M: 3, K: 5}}",
		"{name: a, shape: {dimensions: [M, K], data_spaces: [{name: A, projection: [M, K],"
		" read_write: true}, {name: Z, projection: [M]}]}, instance: {M: 3, K: 5}}",
		"{name: a, shape: {dimensions: [M, K], data_spaces: [{name: A, projection: [M, K]},"
		" {name: Z, projection: [M], read_write: true}]}, instance: {M: 3, K: 6}}",
	};
	enum { COUNT = sizeof layers / sizeof *layers };
	const struct shape *read_shapes[COUNT];
	for (int i = 0; i < COUNT; i++) {
		const char *complaints;
		const struct network *network = network_of_text(arena,
			arena_format(arena, "network:\n  layers:\n  - %s\n", layers[i]),
			&complaints);
		assert_string_equal(complaints, "");
		assert_string_equal(network->name, "network");
		read_shapes[i] = network->layers[0].shape;
		for (int k = 0; k <= i; k++)
			assert_int_equal(shape_equal(read_shapes[i], read_shapes[k]), i == k);
	}
}
