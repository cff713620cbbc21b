#include "constraints/graph.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/number.h"
#include "base/text.h"
#include "constraints/constraints.h"
#include "model/graph/box_nest.h"
#include "model/nest/constraint.h"

extern const struct constraint_kind constraint_cores, constraint_span, constraint_residency;

bool graph_means(const struct constraint *constraint, const struct op *op)
{
	if (!constraint->subject)
		return !op->move;
	return text_equal(constraint->subject, op->name);
}

/* The least number that a kind asks for. */
static int64_t least_of(const struct constraints *constraints, const struct constraint_kind *kind,
	const struct op *op)
{
	int64_t least = INT64_MAX;
	for (size_t i = 0; constraints && i < constraints->count; i++) {
		const struct constraint *constraint = &constraints->at[i];
		if (constraint->kind == kind && graph_means(constraint, op))
			least = number_min(least, constraint->number);
	}
	return least;
}

int64_t graph_cores(const struct constraints *constraints, const struct op *op)
{
	return least_of(constraints, &constraint_cores, op);
}

int64_t graph_span(const struct constraints *constraints, const struct op *op)
{
	return least_of(constraints, &constraint_span, op);
}

int graph_meant(const struct workload *workload, int tensor)
{
	tensor = tensor_origin(workload, tensor);
	int producer = workload->tensors[tensor].producer;
	return producer >= 0 && workload->ops[producer].move
		       ? workload->ops[producer].reads[0].tensor
		       : tensor;
}

const enum stay *graph_stays(
	struct arena *arena, const struct constraints *constraints, const struct workload *workload)
{
	enum stay *stays = arena_array(arena, enum stay, workload->tensor_count);
	struct names wanted = {0}; /* the first wish about a tensor counts */
	for (size_t i = 0; constraints && i < constraints->count; i++) {
		const struct constraint *constraint = &constraints->at[i];
		if (constraint->kind == &constraint_residency &&
			names_find(&wanted, constraint->subject) < 0)
			names_add(arena, &wanted, constraint->subject,
				constraint->lx ? STAY_LX : STAY_HBM);
	}
	for (int t = 0; wanted.count && t < (int)workload->tensor_count; t++) {
		const char *name = workload->tensors[graph_meant(workload, t)].name;
		int stay = names_find(&wanted, name);
		stays[t] = stay < 0 ? STAY_ANYWHERE : (enum stay)stay;
	}
	return stays;
}

bool graph_asks_lx(const struct constraint *constraint)
{
	return constraint->kind == &constraint_residency && constraint->lx;
}

const char *graph_check_one(const struct constraints *constraints, size_t i,
	const struct plan *plan, struct arena *arena)
{
	const struct constraint *constraint = &constraints->at[i];
	const struct domain *domain = constraints->problem;
	if (constraint->kind->check_plan)
		return constraint->kind->check_plan(constraint, plan, arena);
	for (int s = 0; s < plan->step_count; s++) {
		const struct op *op = &plan->workload->ops[plan->steps[s].op];
		if (op->move)
			continue;
		struct mapping nest = box_nest(
			plan->arch, plan->workload, op, domain->shape, &plan->steps[s].mapping);
		const char *why = constraints_check_one(constraints, i, domain, &nest, arena);
		if (why)
			return why;
	}
	return NULL;
}

const struct constraint *graph_check(const struct constraints *constraints, const struct plan *plan,
	struct arena *arena, const char **why)
{
	for (size_t i = 0; constraints && i < constraints->count; i++) {
		*why = graph_check_one(constraints, i, plan, arena);
		if (*why)
			return &constraints->at[i];
	}
	return NULL;
}

bool graph_read_op(const struct constraint_context *context, struct constraint *out)
{
	const struct workload *workload = context->workload;
	const struct reading *reading = context->reading;
	out->subject = NULL;
	if (!context->target)
		return true;
	const char *name;
	if (!node_text(reading, context->target, "an op", &name))
		return false;
	if (text_equal(name, "*"))
		return true;
	out->subject = name;
	if (workload_op(workload, name) >= 0)
		return true;
	const char **known = arena_array(reading->arena, const char *, workload->op_count + 1);
	for (size_t o = 0; o < workload->op_count; o++)
		known[o] = workload->ops[o].name;
	return directive_refuse(reading, context->target->span, "op", name, known);
}

bool graph_read_tensor(
	const struct constraint_context *context, const struct node *value, struct constraint *out)
{
	const struct workload *workload = context->workload;
	const struct reading *reading = context->reading;
	if (!context->target)
		return reading_refuse(reading, value, "a residency wants a tensor as its target");
	if (!node_text(reading, context->target, "a tensor", &out->subject))
		return false;
	if (workload_tensor(workload, out->subject) >= 0)
		return true;
	const char **known = arena_array(reading->arena, const char *, workload->tensor_count + 1);
	for (size_t t = 0; t < workload->tensor_count; t++)
		known[t] = workload->tensors[t].name;
	return directive_refuse(reading, context->target->span, "tensor", out->subject, known);
}

const char *graph_subject(struct arena *arena, const struct constraint *constraint)
{
	return constraint->subject ? arena_format(arena, "op '%s'", constraint->subject)
				   : "every op";
}
