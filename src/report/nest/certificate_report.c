#include "report/nest/certificate_report.h"

#include "base/arena.h"
#include "base/fatal.h"
#include "base/text.h"
#include "report/run/json_text.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>

/* Strings of JSON are strings of YAML. */
static void add_word(struct text *text, const char *word)
{
	const char *dumped = json_dump(text->arena, json_string(word), JSON_ENCODE_ANY);
	if (!dumped)
		fatal("certificate.yaml could not be made");
	text_add(text, "%s", dumped);
}

/* The shortest of both that reads as the same number. */
static const char *real_text(struct arena *arena, double value)
{
	const char *text = arena_format(arena, "%.15g", value);
	return strtod(text, NULL) == value ? text : arena_format(arena, "%.17g", value);
}

static void add_head(
	struct text *text, const struct nest_search *search, const struct certificate *certificate)
{
	text_add(text, "certificate:\n  version: 3\n  program: ");
	add_word(text, certificate->program);
	if (certificate->layer) {
		text_add(text, "\n  layer: ");
		add_word(text, certificate->layer);
	}
	text_add(text, "\n  specs:\n");
	for (size_t i = 0; i < certificate->source_count; i++) {
		text_add(text, "  - {path: ");
		add_word(text, certificate->sources[i].path);
		text_add(text, ", fnv1a: \"%016" PRIx64 "\"}\n", certificate->sources[i].hash);
	}
	text_add(text, "  counting: %s\n  objectives: [", counting_names[certificate->counting]);
	for (size_t k = 0; k < certificate->objectives.count; k++) {
		text_add(text, "%s", k ? ", " : "");
		add_word(text, nest_objective_text(text->arena, certificate->objectives.at[k],
				       search->hierarchy));
	}
	text_add(text, "]\n");
}

static void add_points(struct text *text, const struct certificate *certificate)
{
	text_add(text, "  points:%s\n", certificate->point_count ? "" : " []");
	for (size_t i = 0; i < certificate->point_count; i++) {
		const struct certificate_point *point = &certificate->points[i];
		text_add(text, "  - {cycles: %" PRId64 ", energy_pj: %s, values: [", point->cycles,
			real_text(text->arena, point->energy_pj));
		for (size_t k = 0; k < certificate->objectives.count; k++)
			text_add(text, "%s%s", k ? ", " : "",
				real_text(text->arena, point->values[k]));
		text_add(text, "], mapping: ");
		add_word(text, point->mapping);
		text_add(text, "}\n");
	}
}

const char *certificate_yaml(struct arena *arena, const struct nest_search *search,
	const struct certificate *certificate)
{
	struct text text = text_open(arena);
	add_head(&text, search, certificate);
	bool bound = certificate->claim == PROOF_BOUND;
	text_add(&text, "  claim: %s\n  epsilon: %s\n", bound ? "bound" : "optimal",
		real_text(arena, certificate->epsilon));
	if (bound)
		text_add(&text, "  bound: %s\n  gap: %s\n", real_text(arena, certificate->bound),
			real_text(arena, certificate->gap));
	add_points(&text, certificate);
	return text_read(&text);
}

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
