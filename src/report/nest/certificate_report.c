#include "report/nest/certificate_report.h"

#include "base/arena.h"
#include "base/text.h"

#include <inttypes.h>

static const char *const answers[] = {"holds", "rejected", "undecided"};

static const char *objectives_text(struct arena *arena, const struct nest_search *search,
	const struct certificate *certificate)
{
	struct text text = text_open(arena);
	for (size_t k = 0; k < certificate->objectives.count; k++)
		text_add(&text, "%s%s", k ? ", " : "",
			nest_objective_text(
				arena, certificate->objectives.at[k], search->hierarchy));
	return text_read(&text);
}

/* The claim in words. */
static const char *claim_text(struct arena *arena, const struct nest_search *search,
	const struct certificate *certificate)
{
	const char *names = objectives_text(arena, search, certificate);
	const char *within = arena_format(arena, "to %.3g of it", certificate->epsilon);
	if (!certificate->point_count)
		return "no mapping meets the constraints and fits";
	if (certificate->claim == PROOF_BOUND)
		return arena_format(arena, "%s %.17g; no mapping has less than %.17g, %s", names,
			certificate->points[0].values[0], certificate->bound, within);
	if (certificate->objectives.count == 1)
		return arena_format(arena, "no mapping has less %s than %.17g, %s", names,
			certificate->points[0].values[0], within);
	return arena_format(arena, "%zu points, and every mapping is beaten by one in %s, %s",
		certificate->point_count, names, within);
}

const char *certificate_report_text(struct arena *arena, const struct nest_search *search,
	const struct certificate *certificate, const struct certificate_result *result)
{
	struct text text = text_open(arena);
	text_add(&text, "certificate  %s\n", answers[result->answer]);
	text_add(&text, "claim        %s (%s counting)\n", claim_text(arena, search, certificate),
		counting_names[search->counting]);
	text_add(&text,
		"choices      %" PRIu64 " of %" PRIu64 " decided, %" PRIu64
		" of them by one bound\n",
		result->done, result->choices, result->excluded);
	text_add(&text,
		"work         %" PRIu64 " bounds and mappings, %" PRIu64
		" of them counted by the model\n",
		result->steps, result->evaluated);
	if (result->why)
		text_add(&text, "because      %s\n", result->why);
	return text_read(&text);
}

json_t *certificate_report_json(struct arena *arena, const struct nest_search *search,
	const struct certificate *certificate, const struct certificate_result *result)
{
	return json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:s*}", "certificate",
		answers[result->answer], "claim", claim_text(arena, search, certificate),
		"counting", counting_names[search->counting], "choices",
		(json_int_t)result->choices, "decided", (json_int_t)result->done, "by_one_bound",
		(json_int_t)result->excluded, "steps", (json_int_t)result->steps, "evaluated",
		(json_int_t)result->evaluated, "because", result->why);
}
