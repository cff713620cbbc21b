#include "tests/support/constraint_case.h"

#include "base/arena.h"
#include "base/fatal.h"
#include "model/nest/nest_mapping.h"

#include <string.h>

static const char problem[] = "shape:\n"
			      "  name: gemm\n"
			      "  dimensions: [M, N, K]\n"
			      "  data_spaces:\n"
			      "  - {name: A, projection: [[[M]], [[K]]]}\n"
			      "  - {name: B, projection: [[[K]], [[N]]]}\n"
			      "  - {name: Z, projection: [[[M]], [[N]]], read_write: true}\n"
			      "instance: {M: 12, N: 8, K: 6}\n";

static void set_arch(struct arch *arch)
{
	static const struct level levels[] = {
		{.name = "DRAM", .kind = LEVEL_STORAGE, .device = "DRAM"},
		{.name = "GLB", .kind = LEVEL_STORAGE, .device = "SRAM"},
		{.name = "PE", .kind = LEVEL_CONTAINER, .fanout = {.x = 4, .y = 2}},
		{.name = "RF", .kind = LEVEL_STORAGE, .device = "regfile"},
		{.name = "mac", .kind = LEVEL_COMPUTE, .device = "intmac", .fanout.x = 2},
	};
	arch->level_count = sizeof levels / sizeof *levels;
	int64_t instances = 1;
	for (int r = 0; r < arch->level_count; r++) {
		struct level *level = &arch->levels[r];
		*level = levels[r];
		level->fanout.x = level->fanout.x ? level->fanout.x : 1;
		level->fanout.y = level->fanout.y ? level->fanout.y : 1;
		instances *= level->fanout.x * level->fanout.y;
		level->instances = instances;
	}
}

struct constraint_case constraint_case_open(struct arena *arena)
{
	struct constraint_case test = {.arena = arena, .diag = diag_open(arena)};
	test.reading = (struct reading){.arena = arena, .diag = test.diag};
	set_arch(&test.arch);
	const struct node *node =
		node_read_text(arena, "problem.yaml", problem, strlen(problem), test.diag);
	test.shape = shape_read(&test.reading, node);
	test.good = test.shape != NULL;
	return test;
}

void constraint_case_read(struct constraint_case *test, const char *yaml)
{
	const struct node *lists[2] = {0};
	lists[0] = node_read_text(test->arena, "constraints.yaml", yaml, strlen(yaml), test->diag);
	test->context = (struct constraint_context){.reading = &test->reading,
		.arch = &test->arch,
		.shape = test->shape,
		.timeloop = test->context.timeloop};
	test->constraints = constraints_read(&test->context, lists);
	test->domain = domain_make(test->arena, &test->arch, test->shape, NULL);
	test->good = !diag_failed(test->diag) &&
		     constraints_narrow(&test->constraints, test->domain, test->diag);
}

struct mapping constraint_case_mapping(const struct constraint_case *test, const char *text)
{
	struct mapping mapping;
	bool perfect;
	const char *why = nest_mapping_parse(test->arena, &test->arch, test->shape, text, &mapping);
	if (!why)
		why = nest_mapping_check(test->arena, &test->arch, test->shape, &mapping, &perfect);
	if (why)
		BUG("%s: %s", text, why);
	return mapping;
}
