#include "report/graph/plan_check_report.h"

#include "base/arena.h"
#include "base/text.h"

#include <inttypes.h>

const char *plan_check_text(struct arena *arena, const struct outcome *outcome)
{
	return arena_format(arena,
		"plan: %d steps, %" PRId64 " cycles, %" PRId64 " simulated, %" PRIu64
		" events, no fault, counts agree%s\n",
		outcome->plan->step_count, outcome->cost.score.cycles, outcome->sim.cycles,
		outcome->sim.events,
		outcome->mode == SIM_COUNT
			? " (contents are not followed in more than 1 GiB of tensors)"
			: "");
}

/* The loop that walks a host dimension in the first op that uses the tensor; NULL. */
static const char *name_dimension(const struct workload *workload, int tensor, int h)
{
	for (size_t o = 0; o < workload->op_count; o++) {
		const struct op *op = &workload->ops[o];
		for (int i = 0; i < op_operands(op); i++) {
			const struct access *access = op_operand(op, i);
			int l = access->tensor == tensor && op_is_tiled(op)
					? affine_loop(&access->host[h], op->loop_count)
					: -1;
			if (l >= 0)
				return op->loops[l].name;
		}
	}
	return NULL;
}

static void add_layout(struct text *text, const struct workload *workload, int tensor)
{
	const struct layout *layout = &workload->tensors[tensor].layout;
	text_add(text, "%-20s", workload->tensors[tensor].name);
	for (int d = 0; d < layout->rank; d++) {
		int h = layout->host_dim[d];
		const char *name = h < 0 ? NULL : name_dimension(workload, tensor, h);
		text_add(text, "  %s%d: %" PRId64, d + 1 == layout->rank ? "stick " : "", d,
			layout->size[d]);
		if (h < 0)
			continue;
		text_add(text, " of %s", name ? name : arena_format(text->arena, "axis %d", h));
		if (layout->part[d] == PART_STICK_OUTER)
			text_add(text, "/%d", layout->per_stick);
	}
	text_add(text, "\n");
}

const char *layouts_text(struct arena *arena, const struct workload *workload)
{
	struct text text = text_open(arena);
	text_add(&text, "%-20s  %s\n", "tensor",
		"its device dimensions, as views and messages count them");
	for (size_t t = 0; t < workload->tensor_count; t++)
		add_layout(&text, workload, (int)t);
	return text_read(&text);
}

json_t *plan_check_json(const struct workload *workload, const struct outcome *outcome)
{
	const struct plan *plan = outcome->plan;
	return json_pack("{s:s, s:I, s:s, s:I, s:I, s:{s:i, s:I, s:I, s:I, s:b}}", "architecture",
		plan->arch->name, "cores", (json_int_t)arch_cores(plan->arch), "workload",
		workload->name, "ops", (json_int_t)workload->op_count, "tensors",
		(json_int_t)workload->tensor_count, "plan", "steps", plan->step_count, "cycles",
		(json_int_t)outcome->cost.score.cycles, "sim_cycles",
		(json_int_t)outcome->sim.cycles, "events", (json_int_t)outcome->sim.events,
		"contents_followed", outcome->mode != SIM_COUNT);
}

static const char *const answers[] = {"holds", "rejected", "undecided"};

const char *claim_report_text(struct arena *arena, const struct plan_claim *claim)
{
	struct text text = text_open(arena);
	text_add(&text, "certificate  %s\n", answers[claim->answer]);
	text_add(&text, "claim        %s\n", claim->claim);
	if (claim->options)
		text_add(&text, "work         %" PRIu64 " states, %zu options of ops\n",
			claim->states, claim->options);
	if (claim->answer == VERDICT_OPEN && claim->options)
		text_add(&text, "verified     no plan is below %.17g\n", claim->bound);
	if (claim->why)
		text_add(&text, "because      %s\n", claim->why);
	return text_read(&text);
}

json_t *claim_report_json(const struct plan_claim *claim)
{
	return json_pack("{s:s, s:s, s:I, s:I, s:o, s:s?}", "certificate", answers[claim->answer],
		"claim", claim->claim, "states", (json_int_t)claim->states, "options",
		(json_int_t)claim->options, "bound",
		claim->options ? json_real(claim->bound) : json_null(), "why", claim->why);
}
