#include "report/graph/claim_report.h"

#include "base/text.h"

#include <inttypes.h>

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
