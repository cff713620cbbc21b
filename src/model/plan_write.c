#include "base/arena.h"
#include "model/plan_file.h"
#include "spec/quote.h"

#include <inttypes.h>
#include <string.h>

const char *const proof_names[] = {
	[PROOF_NONE] = "none",
	[PROOF_OPTIMAL] = "optimal",
	[PROOF_BOUND] = "bound",
	[PROOF_INFEASIBLE] = "infeasible",
	[PROOF_BUDGET] = "budget",
	NULL,
};

const char *plan_name(const struct plan *plan, int tensor)
{
	return plan->workload->tensors[tensor_origin(plan->workload, tensor)].name;
}

int plan_arguments(const struct plan *plan, int first, int end, int *tensors)
{
	int count = 0;
	for (int step = first; step < end; step++) {
		const struct op *op = &plan->workload->ops[plan->steps[step].op];
		for (int i = 0; i < op_operands(op); i++) {
			int tensor = op_operand(op, i)->tensor, at = 0;
			int home = tensor_home(plan->workload, tensor);
			while (at < count && tensors[at] != home)
				at++;
			if (at == count && plan_is_argument(plan, step, i))
				tensors[count++] = home;
		}
	}
	return count;
}

static void write_word(struct text *text, const char *key, const char *word)
{
	text_add(text, "%s: ", key);
	quote_yaml(text, word);
}

static const char *tensor_name(const struct plan *plan, int tensor)
{
	return plan->workload->tensors[tensor].name;
}

static void write_staging(struct text *text, const struct staging *staging)
{
	text_add(text,
		", staging: {rows: %" PRId64 ", sticks: %" PRId64 ", size: %" PRId64
		", addresses: [",
		staging->rows, staging->sticks, staging_bytes(staging));
	for (int k = 0; k < staging->count; k++)
		text_add(text, "%s%" PRId64, k ? ", " : "", staging->addresses[k]);
	text_add(text, "]}");
}

static void write_step(struct text *text, const struct plan *plan, const struct step *step)
{
	const struct op *op = &plan->workload->ops[step->op];
	text_add(text, "  - {");
	if (op->move) {
		write_word(text, "move", op->type);
		write_word(text, ", tensor", plan_name(plan, op->reads[0].tensor));
		if (op->move == MOVE_CLONE)
			write_word(text, ", as", op->name);
	} else {
		write_word(text, "op", op->name);
	}
	text_add(text, ", bundle: %d, ", step->bundle);
	write_word(text, "mapping", mapping_print(text->arena, plan->arch, op, &step->mapping));
	if (step->staging)
		write_staging(text, step->staging);
	text_add(text, "}\n");
}

static void write_bundles(struct text *text, const struct plan *plan)
{
	int *tensors = arena_array(text->arena, int, plan->workload->tensor_count);
	text_add(text, "  bundles:\n");
	for (int first = 0, end; first < plan->step_count; first = end) {
		int bundle = plan->steps[first].bundle;
		for (end = first; end < plan->step_count && plan->steps[end].bundle == bundle;)
			end++;
		int count = plan_arguments(plan, first, end, tensors);
		text_add(text, "  - {bundle: %d, arguments: [", bundle);
		for (int i = 0; i < count; i++) {
			text_add(text, "%s", i ? ", " : "");
			quote_yaml(text, plan_name(plan, tensors[i]));
		}
		text_add(text, "]}\n");
	}
}

static void write_stay(struct text *text, const struct plan *plan, const struct residency *stay)
{
	text_add(text, "    - {where: %s, ", stay->place == PLACE_LX ? "LX" : "HBM");
	if (stay->place == PLACE_LX) {
		write_word(text, "view", view_print(text->arena, &stay->view));
		text_add(text, ", address: %" PRId64 ", size: %" PRId64 ", ", stay->address,
			stay->size);
	}
	text_add(text, "from: %d, to: %d", stay->from, stay->to);
	if (stay->place == PLACE_LX && stay->in_place_of >= 0)
		write_word(text, ", in_place_of", plan_name(plan, stay->in_place_of));
	text_add(text, "}\n");
}

/* The stays of a tensor, and of what came of it. */
static void write_tensor(struct text *text, const struct plan *plan, int tensor)
{
	bool named = false;
	for (int i = 0; i < plan->residency_count; i++) {
		if (tensor_origin(plan->workload, plan->residencies[i].tensor) != tensor)
			continue;
		/* libyaml takes keys of up to 1024 characters without a '?' */
		bool is_long = strlen(tensor_name(plan, tensor)) > 160;
		if (!named) {
			text_add(text, is_long ? "    ? " : "    ");
			quote_yaml(text, tensor_name(plan, tensor));
			text_add(text, is_long ? "\n    :\n" : ":\n");
		}
		named = true;
		write_stay(text, plan, &plan->residencies[i]);
	}
}

static bool is_inserted(const struct workload *workload, int tensor)
{
	int producer = workload->tensors[tensor].producer;
	return producer >= 0 && workload->ops[producer].move != MOVE_NONE;
}

/* The workload's own tensors by number; then those of moves by step, whose
 * numbers depend on who inserted them first. */
static void write_tensors(struct text *text, const struct plan *plan)
{
	const struct workload *workload = plan->workload;
	text_add(text, plan->residency_count ? "  tensors:\n" : "  tensors: {}\n");
	for (int t = 0; t < (int)workload->tensor_count; t++) {
		if (!is_inserted(workload, t))
			write_tensor(text, plan, t);
	}
	for (int step = 0; step < plan->step_count; step++) {
		const struct op *op = &workload->ops[plan->steps[step].op];
		for (int i = 0; op->move == MOVE_CLONE && i < op->write_count; i++)
			write_tensor(text, plan, op->writes[i].tensor);
	}
}

static void write_proof(struct text *text, const struct proof *proof)
{
	text_add(text, "  proof: {status: %s", proof_names[proof->status]);
	if (proof->method)
		write_word(text, ", method", proof->method);
	if (proof->space)
		write_word(text, ", space", proof->space);
	if (proof->status != PROOF_NONE)
		text_add(text, ", value: %.17g, bound: %.17g", proof->value, proof->bound);
	text_add(text, "}\n");
}

void plan_write(const struct plan *plan, struct text *text)
{
	text_add(text, "plan:\n  version: 1\n");
	if (plan->workload->name)
		write_word(text, "  workload", plan->workload->name);
	if (plan->workload->name)
		text_add(text, "\n");
	write_word(text, "  architecture", plan->arch->name);
	text_add(text, "\n  cores: %d\n  steps:%s\n", plan->cores, plan->step_count ? "" : " []");
	for (int i = 0; i < plan->step_count; i++)
		write_step(text, plan, &plan->steps[i]);
	write_bundles(text, plan);
	write_tensors(text, plan);
	write_proof(text, &plan->proof);
}
