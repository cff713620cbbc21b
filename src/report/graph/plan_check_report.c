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
