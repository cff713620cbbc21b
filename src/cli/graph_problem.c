#include "cli/graph_problem.h"

#include "base/arena.h"
#include "cli/kind.h"
#include "cli/nest_inputs.h"
#include "constraints/constraints.h"
#include "constraints/kind.h"
#include "model/graph/box_nest.h"
#include "model/graph/plan_check.h"
#include "model/nest/nest_mapping.h"

/* Flags say how words are counted, and here boxes are. */
static void refuse_flag(
	struct inputs *inputs, const struct arch *arch, const struct constraint *constraint)
{
	diag_error(inputs->diag, constraint->span,
		"'%s' is about words that move one by one; '%s' moves tiles in boxes, so take it out",
		constraint->kind->key, arch->levels[arch->lx].name);
}

static struct plan *plan_of_op(
	struct inputs *inputs, const struct graph_inputs *own, const struct mapping *mapping)
{
	struct step *step = arena_new(inputs->arena, struct step);
	struct plan *plan = arena_new(inputs->arena, struct plan);
	*step = (struct step){.mapping = *mapping};
	*plan = (struct plan){.arch = own->arch,
		.workload = own->workload,
		.cores = (int)mapping_cores(own->arch, mapping),
		.step_count = 1,
		.steps = step,
		.proof = {.method = "mapping"}};
	return plan;
}

void graph_problem_mapping(struct inputs *inputs, struct graph_inputs *own,
	const struct shape *shape, const struct node *node)
{
	const struct workload *workload = own->workload;
	struct arena *arena = inputs->arena;
	struct mapping nest, mapping;
	const struct constraint_context context = {
		.reading = &inputs->reading, .arch = own->arch, .shape = shape};
	if (!nest_mapping_read(&inputs->reading, node, own->arch, shape, &nest))
		return;
	struct constraints flags = constraints_of_mapping(&context, node);
	for (size_t i = 0; i < flags.count; i++)
		refuse_flag(inputs, own->arch, &flags.at[i]);
	const char *why =
		box_mapping(arena, own->arch, workload, &workload->ops[0], shape, &nest, &mapping);
	if (!why)
		why = mapping_check(arena, own->arch, workload, &workload->ops[0], &mapping);
	if (why) {
		diag_error(inputs->diag, node->span, "%s", why);
		return;
	}
	struct plan *plan = plan_of_op(inputs, own, &mapping);
	struct plan_faults faults = plan_check(plan, arena);
	for (size_t i = 0; i < faults.count; i++)
		diag_error(inputs->diag, node->span, "%s", faults.at[i].why);
	own->plan = plan;
	own->plan_span = node->span;
}

void graph_problem_mapper(
	struct inputs *inputs, struct graph_inputs *own, const struct node *mapper)
{
	struct nest_inputs unused = {0};
	nest_inputs_mapper(inputs, &unused, mapper);
	nest_inputs_note_search(&unused,
		arena_format(inputs->arena,
			"tiles move in boxes on '%s', and divisions are enumerated",
			own->arch->name),
		inputs->diag);
}

void graph_problem_agree(struct inputs *inputs, const struct arch *arch, const struct shape *shape,
	struct constraints *constraints)
{
	struct arena *arena = inputs->arena;
	for (size_t i = 0; i < constraints->count; i++) {
		const struct constraint *constraint = &constraints->at[i];
		if (constraint->kind->flag && !constraint->kind->narrow)
			refuse_flag(inputs, arch, constraint);
		if (!constraint->kind->check_plan)
			constraints->problem = domain_make(arena, arch, shape, NULL);
	}
	struct domain *narrowed = domain_make(arena, arch, shape, NULL);
	narrowed->imperfect = UINT32_MAX; /* tiles of whole units need not divide an extent */
	constraints_narrow(constraints, narrowed, inputs->diag);
}
