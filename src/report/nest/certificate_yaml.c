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
