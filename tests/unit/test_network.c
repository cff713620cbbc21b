#include "base/arena.h"
#include "base/text.h"
#include "tests/support/nest_text.h"
#include "tests/support/set_up.h"

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

/* The complaints without the lines that they show. */
static const char *heads(struct arena *arena, const char *complaints)
{
	struct text text = text_open(arena);
	for (const char *line = complaints; *line; line += strcspn(line, "\n") + 1)
		if (strncmp(line, "p.yaml:", 7) == 0)
			text_bytes(&text, line, strcspn(line, "\n") + 1);
	return text_read(&text);
}

static void layers_are_problems_that_occur(void **state)
{
	const char *complaints;
	const struct network *network = read(*state,
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

static void what_is_written_of_a_shape_reads_alike(void **state)
{
	const char *complaints;
	const struct network *network = read(*state,
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
		const char *text = shape_write(*state, shape);
		const struct shape *again = problem_of_text(*state, text, &complaints);
		assert_string_equal(complaints, "");
		assert_string_equal(again->name, shape->name);
		if (!shape_equal(again, shape))
			fail_msg("%s", text);
	}
}

static void shapes_differ_in_every_part(void **state)
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
		const struct network *network = network_of_text(*state,
			arena_format(*state, "network:\n  layers:\n  - %s\n", layers[i]),
			&complaints);
		assert_string_equal(complaints, "");
		assert_string_equal(network->name, "network");
		read_shapes[i] = network->layers[0].shape;
		for (int k = 0; k <= i; k++)
			assert_int_equal(shape_equal(read_shapes[i], read_shapes[k]), i == k);
	}
}

#define INSTANCE "instance: {C: 2, M: 4, R: 3, P: 8}"

static void wrong_layers_are_told_all_at_once(void **state)
{
	const char *complaints;
	assert_null(read(*state,
		"  - {name: a, shape: cnv, " INSTANCE "}\n"
		"  - {nam: b, shape: conv, " INSTANCE "}\n"
		"  - {name: a/b, shape: conv, " INSTANCE "}\n"
		"  - {name: c, count: 0, shape: conv, " INSTANCE "}\n"
		"  - {name: c, count: 4294967296, shape: conv, " INSTANCE "}\n"
		"  - {name: d, shape: conv, instance: {C: 2, M: 4, R: 3}}\n"
		"  - word\n",
		&complaints));
	assert_string_equal(heads(*state, complaints),
		"p.yaml:12:22: error: unknown shape 'cnv'; did you mean 'conv'?\n"
		"p.yaml:13:5: error: layer has no 'name'\n"
		"p.yaml:13:6: note: did you mean 'name' here?\n"
		"p.yaml:14:12: error: 'a/b' is not a name of a layer: at most 100 letters, digits, "
		"'_', '-' and '.' make one, and it begins with none of the last two\n"
		"p.yaml:15:22: error: 'count' in layer 'c' is 0; it can be 1 to 2147483648\n"
		"p.yaml:16:12: error: two layers are called 'c'\n"
		"p.yaml:15:5: note: this is the first\n"
		"p.yaml:16:22: error: 'count' in layer 'c' is 4294967296; it can be 1 to "
		"2147483648\n"
		"p.yaml:17:38: error: instance has no 'P'\n"
		"p.yaml:18:5: error: layer is a word; a map is expected\n");
}

static void a_network_has_layers_and_not_too_many(void **state)
{
	const char *complaints;
	assert_null(network_of_text(*state, "network: {layers: []}\n", &complaints));
	assert_string_equal(heads(*state, complaints),
		"p.yaml:1:19: error: a network has 1 to 4096 layers, not 0\n");
	assert_null(network_of_text(*state, "network: {name: a}\n", &complaints));
	assert_string_equal(
		heads(*state, complaints), "p.yaml:1:10: error: network 'a' has no 'layers'\n");
	assert_null(network_of_text(*state, "network: [a]\n", &complaints));
	assert_string_equal(heads(*state, complaints),
		"p.yaml:1:10: error: network is a list; a map is expected\n");
	struct text many = text_open(*state);
	text_add(&many, "%s  - &a {name: a, shape: conv, " INSTANCE "}\n", shapes);
	for (int i = 0; i < 5000; i++)
		text_add(&many, "  - *a\n");
	assert_null(network_of_text(*state, text_read(&many), &complaints));
	assert_string_equal(heads(*state, complaints),
		"p.yaml:12:3: error: a network has 1 to 4096 layers, not 5001\n");
}

static void a_shape_that_nobody_has_is_told(void **state)
{
	const char *complaints;
	assert_non_null(network_of_text(*state,
		"network:\n  shapes: {conv: {}}\n  layers:\n"
		"  - {name: a, shape: {dimensions: [M], data_spaces: [{name: Z, projection: [M], "
		"read_write: true}]}, instance: {M: 3}}\n",
		&complaints));
	assert_string_equal(heads(*state, complaints),
		"p.yaml:2:12: warning: no layer has the shape 'conv'; it is not read\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(layers_are_problems_that_occur, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			what_is_written_of_a_shape_reads_alike, set_up, tear_down),
		cmocka_unit_test_setup_teardown(shapes_differ_in_every_part, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			wrong_layers_are_told_all_at_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_network_has_layers_and_not_too_many, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_shape_that_nobody_has_is_told, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
