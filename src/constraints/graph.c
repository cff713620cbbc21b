#include "constraints/graph.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/number.h"
#include "base/text.h"
#include "constraints/constraints.h"
#include "model/graph/box_nest.h"
#include "model/graph/op_mapping.h"
#include "model/nest/constraint.h"

/*
 * Constraints of workload graphs: first the queries of planners and checkers, then the three kinds, `cores`, `span` and
 * `residency`.
 */
extern const struct constraint_kind constraint_cores, constraint_span, constraint_residency;

bool graph_means(const struct constraint *constraint, const struct op *op)
{
	if (!constraint->subject)
		return !op->move;
	return text_equal(constraint->subject, op->name);
}

/* The least number that a kind asks for. */
static int64_t graph_constraints_least(const struct constraints *constraints,
	const struct constraint_kind *kind, const struct op *op)
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
	return graph_constraints_least(constraints, &constraint_cores, op);
}

int64_t graph_span(const struct constraints *constraints, const struct op *op)
{
	return graph_constraints_least(constraints, &constraint_span, op);
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
	struct names wanted = {0}; /* the first constraint of a tensor counts */
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
		return reading_refuse(reading, value, "a residency needs a tensor as its target");
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

/* A limit above the cores of the machine is only a warning: one file may serve machines of several sizes. */
static bool read_cores(
	const struct constraint_context *context, const struct node *value, struct constraint *out)
{
	if (!graph_read_op(context, out) ||
		!node_integer(
			context->reading, value, "a number of cores", 1, INT32_MAX, &out->number))
		return false;
	if (out->number > arch_cores(context->arch))
		diag_warning(context->reading->diag, value->span,
			"the machine has %lld cores, so a limit of %lld limits nothing",
			(long long)arch_cores(context->arch), (long long)out->number);
	return true;
}

static const char *check_plan_cores(
	const struct constraint *constraint, const struct plan *plan, struct arena *arena)
{
	for (int i = 0; i < plan->step_count; i++) {
		const struct op *op = &plan->workload->ops[plan->steps[i].op];
		int64_t cores = mapping_cores(plan->arch, &plan->steps[i].mapping);
		if (graph_means(constraint, op) && cores > constraint->number)
			return arena_format(arena, "op '%s' uses %lld cores, more than %lld",
				op->name, (long long)cores, (long long)constraint->number);
	}
	return NULL;
}

static const char *explain_cores(
	const struct domain *domain, const struct constraint *constraint, struct arena *arena)
{
	return arena_format(arena, "%s uses at most %lld cores", graph_subject(arena, constraint),
		(long long)constraint->number);
}

const struct constraint_kind constraint_cores = {
	.key = "cores",
	.summary = "of a graph: cores that an op (target; all without) may use",
	.parts = 1u << PART_GRAPH,
	.read = read_cores,
	.check_plan = check_plan_cores,
	.explain = explain_cores,
};

static bool read_span(
	const struct constraint_context *context, const struct node *value, struct constraint *out)
{
	return graph_read_op(context, out) &&
	       node_size(context->reading, value, "a span", 1, INT64_MAX, &out->number);
}

static const char *constraint_check_step(const struct constraint *constraint,
	const struct plan *plan, const struct step *step, struct arena *arena)
{
	const struct op *op = &plan->workload->ops[step->op];
	const char *why;
	if (!op_is_tiled(op) || !graph_means(constraint, op))
		return NULL;
	const struct iteration *iteration = iteration_make(arena, plan->workload, op, &why);
	if (!iteration)
		return arena_format(arena, "the spans of op '%s' are unknown: %s", op->name, why);
	int64_t splits[OP_LOOPS_MOST];
	for (int l = 0; l < op->loop_count; l++)
		splits[l] = mapping_split(plan->arch, &step->mapping, l);
	for (int i = 0; i < iteration->operand_count; i++) {
		int64_t span = iteration_span(iteration, i, splits);
		if (span > constraint->number)
			return arena_format(arena,
				"op '%s': a core spans %lld bytes of '%s', more than %lld",
				op->name, (long long)span, iteration_tensor(iteration, i)->name,
				(long long)constraint->number);
	}
	return NULL;
}

static const char *check_plan_span(
	const struct constraint *constraint, const struct plan *plan, struct arena *arena)
{
	const char *why = NULL;
	for (int i = 0; i < plan->step_count && !why; i++)
		why = constraint_check_step(constraint, plan, &plan->steps[i], arena);
	return why;
}

static const char *explain_span(
	const struct domain *domain, const struct constraint *constraint, struct arena *arena)
{
	return arena_format(arena, "a core spans at most %lld bytes of an operand of %s",
		(long long)constraint->number, graph_subject(arena, constraint));
}

const struct constraint_kind constraint_span = {
	.key = "span",
	.summary =
		"of a graph: bytes of a tensor between the first and the last that a core of an op "
		"(target; all without) touches",
	.parts = 1u << PART_GRAPH,
	.read = read_span,
	.check_plan = check_plan_span,
	.explain = explain_span,
};

static bool read_residency(
	const struct constraint_context *context, const struct node *value, struct constraint *out)
{
	const char *word;
	if (!graph_read_tensor(context, value, out) ||
		!node_text(context->reading, value, "a residency", &word))
		return false;
	out->lx = text_equal(word, "lx");
	if (out->lx || text_equal(word, "hbm"))
		return true;
	return reading_refuse(context->reading, value, "a residency is lx or hbm, not '%s'", word);
}

/* The places of a tensor, of its clone, and of its copies after evictions and reloads. */
struct homes {
	bool hbm, lx; /* an input's own place does not count: its clone stands for it */
};

static struct homes find_homes(const struct plan *plan, int tensor)
{
	struct homes homes = {0};
	for (int i = 0; i < plan->residency_count; i++) {
		const struct residency *stay = &plan->residencies[i];
		if (graph_meant(plan->workload, stay->tensor) != tensor)
			continue;
		if (stay->place == PLACE_LX)
			homes.lx = true;
		else if (plan->workload->tensors[stay->tensor].producer >= 0)
			homes.hbm = true;
	}
	return homes;
}

static const char *check_plan_residency(
	const struct constraint *constraint, const struct plan *plan, struct arena *arena)
{
	int tensor = workload_tensor(plan->workload, constraint->subject);
	if (tensor < 0)
		return arena_format(arena, "the plan has no tensor '%s'", constraint->subject);
	struct homes homes = find_homes(plan, tensor);
	if (constraint->lx && (!homes.lx || homes.hbm))
		return arena_format(
			arena, "'%s' lives in HBM, it must live in LX", constraint->subject);
	if (!constraint->lx && homes.lx)
		return arena_format(
			arena, "'%s' lives in LX, it must live in HBM", constraint->subject);
	return NULL;
}

static const char *explain_residency(
	const struct domain *domain, const struct constraint *constraint, struct arena *arena)
{
	return arena_format(
		arena, "'%s' lives in %s", constraint->subject, constraint->lx ? "LX" : "HBM");
}

const struct constraint_kind constraint_residency = {
	.key = "residency",
	.summary = "of a graph: lx or hbm, where a tensor (target) must live",
	.parts = 1u << PART_GRAPH,
	.read = read_residency,
	.check_plan = check_plan_residency,
	.explain = explain_residency,
};
