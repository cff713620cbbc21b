#include "base/arena.h"
#include "base/random.h"
#include "tests/support/draws.h"
#include "tests/support/mutated_text.h"
#include "tests/support/nest_text.h"
#include "tests/support/workload_text.h"

#include <string.h>

#include "tests/test.h"

/*
 * Problems, and mappings in both of their forms, with something changed: read or
 * refused with a complaint, and what is read keeps its promises.
 */
static const char *const problems[] = {
	"  shape:\n    name: conv\n    dimensions: [C, M, R, P]\n"
	"    coefficients: [{name: stride, default: 1}, {name: dilation}]\n"
	"    data_spaces:\n    - {name: Weights, projection: [[[C]], [[M]], [[R]]]}\n"
	"    - {name: Inputs, projection: [[[C]], [[R, dilation], [P, stride]]]}\n"
	"    - {name: Outputs, projection: [[[M]], [[P]]], read_write: true}\n"
	"  instance: {C: 4, M: 2**3, R: 3, P: 16, dilation: 2, densities: {}}\n",
	"  dimensions: [Rows, K1]\n  data-spaces:\n"
	"  - {name: A, projection: [Rows, \"2*K1 + Rows\"]}\n"
	"  - {name: Z, projection: {one: Rows}, read-write: True}\n"
	"  version: 0.3\n  Rows: 2147483648\n  K1: 12\n",
};

static const char *const mappings[] = {
	"- {target: DRAM, type: temporal, factors: M=2 P=4, permutation: PM}\n"
	"- {target: GLB, type: temporal, factors: C=4, no_reuse: [Inputs]}\n"
	"- {target: PE, type: spatial, factors: M=4, split: 1, permutation: [M, C]}\n"
	"- {target: RF, type: temporal, factors: R=3 P4, permutation: RP}\n"
	"- {target: GLB, type: dataspace, keep: [Inputs], bypass: [Weights]}\n",
	"- {target: DRAM, type: temporal, factors: \"C2,M0,R=1,P=3\"}\n"
	"- {target: inter_PE_spatial, type: spatial, factors: \"C=2\", split: 0}\n"
	"- {target: RF, type: temporal, factors: [\"P=6,4\", R=3]}\n"
	"- {target: RF, type: datatype, keep: \"*\"}\n",
};

static const char *const lines[] = {
	"DRAM: M2 P4 | GLB: C4 | PE: M4@y | RF: P4 R3 | keep DRAM,RF: Weights",
	"DRAM: M8 P=4,4 R3 C4 | PE: P2 | RF: P=3,2 | keep nowhere: Inputs; GLB: Weights Outputs",
};

static void check_shape(const struct shape *shape)
{
	int written = 0;
	assert_in_range(shape->dimension_count, 1, SHAPE_DIMENSIONS_MOST);
	assert_in_range(shape->space_count, 1, SHAPE_SPACES_MOST);
	for (int d = 0; d < shape->dimension_count; d++) {
		assert_int_equal(shape_dimension(shape, shape->dimensions[d].name), d);
		assert_in_range(shape->dimensions[d].extent, 1, SHAPE_EXTENT_MOST);
	}
	for (int t = 0; t < shape->space_count; t++) {
		const struct dataspace *space = &shape->spaces[t];
		assert_int_equal(shape_space(shape, space->name), t);
		assert_in_range(space->rank_count, 0, SHAPE_RANKS_MOST);
		assert_int_equal(space->relevant >> shape->dimension_count, 0);
		written += space->written;
	}
	assert_int_equal(written, 1);
}

static const char network[] =
	"  name: small\n"
	"  shapes: {conv: {dimensions: [C, M, R, P], coefficients: [{name: stride, default: 1}],\n"
	"    data_spaces: [{name: Weights, projection: [C, M, R]},\n"
	"    {name: Inputs, projection: [C, [R, [P, stride]]]},\n"
	"    {name: Outputs, projection: [M, P], read_write: true}]}}\n"
	"  layers:\n"
	"  - &a {name: a, count: 2**4, shape: conv, instance: {C: 4, M: 8, R: 3, P: 16}}\n"
	"  - {<<: *a, name: b, count: 2147483648}\n"
	"  - {name: c-2, shape: {dimensions: [M], data_spaces: [\n"
	"    {name: Z, projection: [M], read_write: true}]}, instance: {M: 2147483648}}\n";

static const char flow[] =
	"  name: flow\n"
	"  shapes: {conv: {dimensions: [C, M, R, P], coefficients: [{name: stride, default: 1}],\n"
	"    data_spaces: [{name: Weights, projection: [C, M, R]},\n"
	"    {name: Inputs, projection: [C, [R, [P, stride]]]},\n"
	"    {name: Outputs, projection: [M, P], read_write: true}]}}\n"
	"  layers:\n"
	"  - &a {name: a, count: 3, from: b, shape: conv, instance: {C: 8, M: 4, R: 3, P: 16}}\n"
	"  - {name: b, count: 3, from: a, shape: conv, instance: {C: 4, M: 8, R: 3, P: 16}}\n"
	"  - {name: c, from: {Inputs: b}, shape: conv, instance: {C: 8, M: 6, R: 3, P: 8, stride: 2}}\n"
	"  - {name: d, from: {B: c, A: a}, shape: {dimensions: [X, Y], data_spaces: [\n"
	"    {name: A, projection: [X]}, {name: B, projection: [Y]},\n"
	"    {name: Z, projection: [], read_write: true}]}, instance: {X: 64, Y: 48}}\n";

BARE_TEST(changed_networks_are_read_or_refused)
{
	uint64_t seed = draws_seed(4);
	long count = draws(3000), read = 0;
	for (long i = 0; i < count; i++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)i);
		const char *complaints, *body = mutated_text(arena, &random, network);
		const struct network *made = network_of_text(
			arena, arena_format(arena, "network:\n%s", body), &complaints);
		if (!made && !strstr(complaints, "error: "))
			fail_msg("draw %ld is refused without a reason:\n%s", i, body);
		for (size_t l = 0; made && l < made->layer_count; l++) {
			const struct layer *layer = &made->layers[l];
			check_shape(layer->shape);
			assert_true(layer->count >= 1 && layer->count <= NETWORK_COUNT_MOST);
			assert_true(layer->same_as <= l);
			assert_true(shape_equal(layer->shape, made->layers[layer->same_as].shape));
		}
		read += made != NULL;
		arena_close(arena);
	}
	mutated_tell(count, read);
	assert_true(!draws_are_many(count) || (read > 0 && read < count));
}

/* The graph of a network reads as a workload of as many ops, or is refused for what graphs do not have, such as the
 * diagonal of a tensor; at most one in twenty is. */
BARE_TEST(graphs_of_changed_networks_are_workloads)
{
	uint64_t seed = draws_seed(5);
	long count = draws(1000), read = 0, refused = 0;
	const struct level home = {.kind = LEVEL_STORAGE,
		.storage.store.word_bits = 16}; /* a device layout does not have all views */
	for (long i = 0; i < count; i++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)i);
		const char *complaints;
		const char *body = i ? mutated_text(arena, &random, flow) : flow;
		const char *yaml = arena_format(arena, "network:\n%s", body);
		const char *text = network_graph_of_text(arena, yaml, &complaints);
		if (!text && !strstr(complaints, "error: "))
			fail_msg("draw %ld is refused without a reason:\n%s", i, body);
		const struct workload *workload =
			text ? workload_at_home(arena, text, &home, &complaints) : NULL;
		refused += text && !workload;
		if (text && !workload && (!i || !strstr(complaints, "error: ")))
			fail_msg("draw %ld: %s\n%s\n%s", i, complaints, text, body);
		if (workload)
			assert_int_equal(workload->op_count,
				network_occurrences(network_of_text(arena, yaml, &complaints)));
		read += text != NULL;
		arena_close(arena);
	}
	mutated_tell(count, read);
	assert_true(refused * 20 <= read);
	assert_true(!draws_are_many(count) || (read > 0 && read < count));
}

BARE_TEST(changed_problems_are_read_or_refused)
{
	uint64_t seed = draws_seed(1);
	long count = draws(3000), read = 0;
	for (long i = 0; i < count; i++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)i);
		const char *complaints;
		const char *body = mutated_text(arena, &random, problems[i % 2]);
		const struct shape *shape = problem_of_text(
			arena, arena_format(arena, "problem:\n%s", body), &complaints);
		if (shape)
			check_shape(shape);
		else if (!strstr(complaints, "error: "))
			fail_msg("draw %ld is refused without a reason:\n%s", i, body);
		read += shape != NULL;
		arena_close(arena);
	}
	mutated_tell(count, read);
	assert_true(!draws_are_many(count) || (read > 0 && read < count));
}

static const struct shape *conv(struct arena *arena)
{
	return problem_of_text(arena, arena_format(arena, "problem:\n%s", problems[0]), NULL);
}

/* It is one, and its line says all of it. */
static void check_mapping(struct arena *arena, const struct arch *arch, const struct shape *shape,
	const struct mapping *mapping)
{
	struct mapping again;
	bool perfect;
	assert_null(nest_mapping_check(arena, arch, shape, mapping, &perfect));
	const char *line = nest_mapping_print(arena, arch, shape, mapping);
	assert_null(nest_mapping_parse(arena, arch, shape, line, &again));
	assert_true(mapping_equal(mapping, &again));
}

BARE_TEST(changed_directives_are_read_or_refused)
{
	uint64_t seed = draws_seed(2);
	long count = draws(3000), read = 0;
	for (long i = 0; i < count; i++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)i);
		const struct arch *arch = level_path(arena, "DRAM GLB (PE:4x4) RF MAC", false);
		const struct shape *shape = conv(arena);
		struct mapping mapping;
		const char *complaints;
		const char *body = mutated_text(arena, &random, mappings[i % 2]);
		bool good = nest_mapping_of_text(arena, arch, shape,
			arena_format(arena, "mapping:\n%s", body), &mapping, &complaints);
		if (good)
			check_mapping(arena, arch, shape, &mapping);
		else if (!strstr(complaints, "error: "))
			fail_msg("draw %ld is refused without a reason:\n%s", i, body);
		read += good;
		arena_close(arena);
	}
	mutated_tell(count, read);
	assert_true(!draws_are_many(count) || (read > 0 && read < count));
}

BARE_TEST(changed_lines_are_parsed_or_refused)
{
	uint64_t seed = draws_seed(3);
	long count = draws(3000), parsed = 0;
	for (long i = 0; i < count; i++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)i);
		const struct arch *arch = level_path(arena, "DRAM GLB (PE:4x4) RF MAC", false);
		const struct shape *shape = conv(arena);
		struct mapping mapping;
		const char *line = mutated_text(arena, &random, lines[i % 2]);
		const char *why = nest_mapping_parse(arena, arch, shape, line, &mapping);
		if (!why)
			check_mapping(arena, arch, shape, &mapping);
		else if (!*why)
			fail_msg("draw %ld is refused without a reason: %s", i, line);
		parsed += !why;
		arena_close(arena);
	}
	mutated_tell(count, parsed);
	assert_true(!draws_are_many(count) || (parsed > 0 && parsed < count));
}
