#include "report/certificate_yaml.h"

#include "base/arena.h"
#include "base/fatal.h"
#include "base/text.h"
#include "model/nest_mapping.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>

/* Strings of JSON are strings of YAML. */
static void add_word(struct text *text, const char *word)
{
	json_t *string = json_string(word);
	char *dumped = string ? json_dumps(string, JSON_ENCODE_ANY) : NULL;
	if (!dumped)
		fatal("certificate.yaml could not be made");
	text_add(text, "%s", dumped);
	free(dumped);
	json_decref(string);
}

static void add_head(
	struct text *text, const struct nest_search *search, const struct certificate *certificate)
{
	text_add(text, "certificate:\n  version: 1\n  program: ");
	add_word(text, certificate->program);
	text_add(text, "\n  specs:\n");
	for (size_t i = 0; i < certificate->source_count; i++) {
		text_add(text, "  - {path: ");
		add_word(text, certificate->sources[i].path);
		text_add(text, ", fnv1a: \"%016" PRIx64 "\"}\n", certificate->sources[i].hash);
	}
	text_add(text, "  problem: \"%016" PRIx64 "\"\n  counting: %s\n  objectives: [",
		certificate->problem, counting_names[certificate->counting]);
	for (size_t k = 0; k < certificate->objectives.count; k++) {
		text_add(text, "%s", k ? ", " : "");
		add_word(text, objective_text(text->arena, certificate->objectives.at[k],
				       search->hierarchy));
	}
	text_add(text, "]\n");
}

static void add_points(struct text *text, const struct certificate *certificate)
{
	text_add(text, "  points:%s\n", certificate->point_count ? "" : " []");
	for (size_t i = 0; i < certificate->point_count; i++) {
		const struct certificate_point *point = &certificate->points[i];
		text_add(text, "  - {cycles: %" PRId64 ", energy_pj: %.17g, values: [",
			point->cycles, point->energy_pj);
		for (size_t k = 0; k < certificate->objectives.count; k++)
			text_add(text, "%s%.17g", k ? ", " : "", point->values[k]);
		text_add(text, "], mapping: ");
		add_word(text, point->mapping);
		text_add(text, "}\n");
	}
}

static void add_line(struct text *text, const struct nest_search *search,
	const struct certificate *certificate, const struct certificate_line *line)
{
	struct mapping mapping = search->space->blank;
	struct cell cell = line->cell;
	const char *end = "";
	if (line->extent == LINE_CELL)
		cell_set(search->space, &cell, &mapping);
	else
		cell_set_residency(search->space, cell.residency, &mapping);
	text_add(text, "  - {");
	if (line->extent != LINE_SPACE) {
		text_add(text, line->extent == LINE_CELL ? "choice: " : "residency: ");
		add_word(text,
			nest_mapping_print(text->arena, search->arch, search->shape, &mapping));
		end = ", ";
	}
	if (line->extent != LINE_CELL) {
		text_add(text, "%sopened: %" PRIu64, end, line->opened);
		end = ", ";
	}
	if (certificate->objectives.count == 1)
		text_add(text, "%sleast: %.17g", end, line->least);
	text_add(text, "}\n");
}

const char *certificate_yaml(struct arena *arena, const struct nest_search *search,
	const struct certificate *certificate)
{
	struct text text = text_open(arena);
	add_head(&text, search, certificate);
	bool bound = certificate->claim == PROOF_BOUND;
	text_add(&text, "  claim: %s\n  epsilon: %.17g\n", bound ? "bound" : "optimal",
		certificate->epsilon);
	if (bound)
		text_add(&text, "  bound: %.17g\n  gap: %.17g\n", certificate->bound,
			certificate->gap);
	add_points(&text, certificate);
	text_add(&text, "  choices: {all: %" PRIu64 ", opened: %" PRIu64 ", rest: %" PRIu64 "}\n",
		certificate->choices, certificate->opened, certificate->rest);
	text_add(&text, "  cells:%s\n", certificate->line_count ? "" : " []");
	for (size_t i = 0; i < certificate->line_count; i++)
		add_line(&text, search, certificate, &certificate->lines[i]);
	return text_read(&text);
}
