#include "cli/certificate_file.h"

#include "base/array.h"
#include "base/text.h"
#include "cli/objectives.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct span span_of(const struct reader *map, const char *key)
{
	const struct node *node = node_find(map->map, key);
	return node ? node->span : map->map->span;
}

/* To the last digit. */
static bool take_real(
	struct certificate_file *file, const struct node *node, const char *what, double *out)
{
	char *end = NULL;
	double value = node->kind == NODE_SCALAR ? strtod(node->text, &end) : 0;
	if (!end || end == node->text || *end || !isfinite(value) || value < 0)
		return reading_refuse(&file->reading, node,
			"%s is a number of 0 or more, as explore wrote it", what);
	*out = value;
	return true;
}

static bool read_real(
	struct certificate_file *file, struct reader *map, const char *key, double *out)
{
	const struct node *node = read_node(map, key, REQUIRED);
	return node && take_real(file, node, reader_place(map, key), out);
}

static bool read_hash(
	struct certificate_file *file, struct reader *map, const char *key, uint64_t *out)
{
	const char *text = NULL;
	if (!read_text(map, key, REQUIRED, &text))
		return false;
	if (strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16)
		return reading_refuse(&file->reading, node_find(map->map, key),
			"%s is a hash of 16 hexadecimal digits", reader_place(map, key));
	*out = strtoull(text, NULL, 16);
	return true;
}

static void read_sources(struct certificate_file *file)
{
	const struct node *list = read_list(&file->reader, "specs", REQUIRED);
	struct array(struct certificate_source) sources = {0};
	for (size_t i = 0; list && i < list->count; i++) {
		struct certificate_source source = {.span = list->items[i]->span};
		struct reader map;
		if (!reader_open(&map, &file->reading, list->items[i], "spec"))
			continue;
		read_text(&map, "path", REQUIRED, &source.path);
		read_hash(file, &map, "fnv1a", &source.hash);
		reader_done(&map);
		*array_add(file->reading.arena, &sources) = source;
	}
	file->certificate->sources = sources.at;
	file->certificate->source_count = sources.count;
}

/* Energies of the first version lack the reads of sums that drain: one sentence, not as many as
 * numbers. */
static bool read_version(struct certificate_file *file, const struct node *map)
{
	const struct node *node = node_find(map, "version");
	if (node && node->kind == NODE_SCALAR && text_equal(node->text, "1"))
		return reading_refuse(&file->reading, node,
			"a certificate of version 1 leaves out the reads of sums that drain: "
			"explore again, which writes one of version 3");
	return read_integer(&file->reader, "version", REQUIRED, 2, 3, &file->version);
}

bool certificate_file_open(
	struct arena *arena, const char *path, struct diag *diag, struct certificate_file *out)
{
	const struct node *root = node_read_file(arena, path, diag);
	struct reader file;
	int counting = 0;
	*out = (struct certificate_file){.reading = {.arena = arena, .diag = diag},
		.certificate = arena_new(arena, struct certificate)};
	if (!root || !reader_open(&file, &out->reading, root, "file"))
		return false;
	const struct node *map = read_map(&file, "certificate", REQUIRED);
	reader_done(&file);
	if (!map || !reader_open(&out->reader, &out->reading, map, "certificate"))
		return false;
	struct certificate *certificate = out->certificate;
	if (!read_version(out, map))
		return false;
	read_text(&out->reader, "program", REQUIRED, &certificate->program);
	read_text(&out->reader, "layer", OPTIONAL, &certificate->layer);
	read_sources(out);
	if (read_word(&out->reader, "counting", REQUIRED, counting_names, &counting))
		certificate->counting = (enum counting)counting;
	certificate->counting_span = span_of(&out->reader, "counting");
	return !diag_failed(diag);
}

static void read_objectives(struct certificate_file *file, const struct nest_search *search)
{
	struct certificate *certificate = file->certificate;
	struct objective_scope scope = {
		file->reading.arena, file->reading.diag, SUBJECT_PROBLEM, search->hierarchy};
	const struct node *list = read_list(&file->reader, "objectives", REQUIRED);
	for (size_t i = 0; list && i < list->count; i++) {
		const char *name;
		if (node_text(&file->reading, list->items[i], "an objective", &name))
			objectives_add(
				&certificate->objectives, name, list->items[i]->span, &scope);
	}
	for (size_t k = 0; k < certificate->objectives.count; k++)
		if (!nest_objective(certificate->objectives.at[k]))
			reading_refuse(&file->reading, list, "a problem has no objective '%s'",
				objective_names[certificate->objectives.at[k]]);
	if (list && !list->count)
		reading_refuse(&file->reading, list, "there is no objective");
}

static void read_claim(struct certificate_file *file)
{
	static const char *const claims[] = {"optimal", "bound", NULL};
	struct certificate *certificate = file->certificate;
	int claim = 0;
	read_word(&file->reader, "claim", REQUIRED, claims, &claim);
	read_real(file, &file->reader, "epsilon", &certificate->epsilon);
	certificate->claim = claim ? PROOF_BOUND : PROOF_OPTIMAL;
	if (claim) {
		read_real(file, &file->reader, "bound", &certificate->bound);
		read_real(file, &file->reader, "gap", &certificate->gap);
	}
	certificate->claim_span = span_of(&file->reader, "claim");
	certificate->bound_span = span_of(&file->reader, "bound");
	certificate->gap_span = span_of(&file->reader, "gap");
}

static const double *read_values(
	struct certificate_file *file, struct reader *map, const struct certificate *certificate)
{
	const struct node *list = read_list(map, "values", REQUIRED);
	size_t count = certificate->objectives.count;
	double *values = arena_array(file->reading.arena, double, count);
	if (list && list->count != count)
		reading_refuse(&file->reading, list, "there are %zu values of %zu objectives",
			list->count, count);
	for (size_t k = 0; list && k < list->count && k < count; k++)
		take_real(file, list->items[k], "a value", &values[k]);
	return values;
}

static void read_points(struct certificate_file *file)
{
	struct certificate *certificate = file->certificate;
	const struct node *list = read_list(&file->reader, "points", REQUIRED);
	struct array(struct certificate_point) points = {0};
	for (size_t i = 0; list && i < list->count; i++) {
		struct certificate_point point = {.mapping = "", .span = list->items[i]->span};
		struct reader map;
		if (!reader_open(&map, &file->reading, list->items[i], "point"))
			continue;
		read_integer(&map, "cycles", REQUIRED, 0, INT64_MAX, &point.cycles);
		read_real(file, &map, "energy_pj", &point.energy_pj);
		point.values = read_values(file, &map, certificate);
		read_text(&map, "mapping", REQUIRED, &point.mapping);
		reader_done(&map);
		*array_add(file->reading.arena, &points) = point;
	}
	certificate->points = points.at;
	certificate->point_count = points.count;
	certificate->points_span = span_of(&file->reader, "points");
}

/* The second version also told a hash of the problem and what the solver had looked into, which no check
 * needs. */
static void skip_record(struct reader *map)
{
	read_node(map, "problem", OPTIONAL);
	read_map(map, "choices", OPTIONAL);
	read_list(map, "residency", OPTIONAL);
	read_list(map, "cells", OPTIONAL);
}

bool certificate_file_read(struct certificate_file *file, const struct nest_search *search)
{
	read_objectives(file, search);
	read_claim(file);
	read_points(file);
	if (file->version == 2)
		skip_record(&file->reader);
	reader_done(&file->reader);
	return !diag_failed(file->reading.diag);
}
