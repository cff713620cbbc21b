#include "report/nest/check_report.h"

#include "base/arena.h"
#include "base/text.h"
#include "model/nest/nest_mapping.h"
#include "report/run/json.h"
#include "report/run/listing.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* --- sentences */

/* The node that fans out. */
static const char *block_name(const struct mapspace_check *check, int level)
{
	return check->arch->levels[check->hierarchy->levels[level].block_row].name;
}

/* "M16 N16: A 256 + Z 256" */
static const char *tile_text(
	struct arena *arena, const struct mapspace_check *check, const struct shortage *shortage)
{
	struct text text = text_open(arena);
	const struct shape *shape = check->shape;
	text_add(&text, "a tile of");
	for (int d = 0; d < shape->dimension_count; d++)
		text_add(&text, "%s %s=%" PRId64, d ? "," : "", shape->dimensions[d].name,
			shortage->tile[d]);
	int count = 0;
	for (int t = 0; t < shape->space_count; t++)
		if (shortage->words[t])
			text_add(&text, "%s %s %" PRId64, count++ ? " +" : " has",
				shape->spaces[t].name, shortage->words[t]);
	return text_read(&text);
}

static const char *factors_text(
	struct arena *arena, const struct mapspace_check *check, int dimension)
{
	const struct loop *of = &check->shape->dimensions[dimension];
	return arena_format(arena,
		"no bounds that are allowed for %s make up its extent of %" PRId64, of->name,
		of->extent);
}

static const char *capacity_text(
	struct arena *arena, const struct mapspace_check *check, const struct shortage *shortage)
{
	const char *name = check->hierarchy->levels[shortage->level].name;
	const char *tile = tile_text(arena, check, shortage);
	if (shortage->alone < 0)
		return arena_format(arena,
			"'%s' has %" PRId64 " words; with %" PRId64
			" and all else as it is a mapping would fit: %s",
			name, shortage->given, shortage->enough, tile);
	return arena_format(arena,
		"'%s' has %" PRId64
		" words, but the smallest tile that it can be given has %" PRId64 "%s: %s",
		name, shortage->given, shortage->alone,
		shortage->enough < 0 ? ""
		: shortage->enough == shortage->alone
			? ", which would do"
			: arena_format(arena, "; %" PRId64 " would do", shortage->enough),
		tile);
}

static const char *fanout_text(
	struct arena *arena, const struct mapspace_check *check, const struct shortage *shortage)
{
	const struct nest_level *level = &check->hierarchy->levels[shortage->level];
	char axis = shortage->kind == SHORTAGE_FANOUT_X ? 'X' : 'Y';
	const char *start = arena_format(arena, "the fan-out of '%s' is %" PRId64 " x %" PRId64,
		block_name(check, shortage->level), level->fanout.x, level->fanout.y);
	if (shortage->alone < 0)
		return arena_format(arena,
			"%s; with %" PRId64 " along %c and all else as it is a mapping would fit",
			start, shortage->enough, axis);
	if (shortage->enough == shortage->alone)
		return arena_format(arena,
			"%s, but the least that the bounds leave is %" PRId64
			" along %c, which would do",
			start, shortage->alone, axis);
	return arena_format(arena,
		"%s, but the least that the bounds leave is %" PRId64 " along %c%s", start,
		shortage->alone, axis,
		shortage->enough >= 0
			? arena_format(arena, "; %" PRId64 " would do", shortage->enough)
			: "");
}

static const char *most_text(
	struct arena *arena, const struct mapspace_check *check, const struct shortage *shortage)
{
	int64_t most = shortage->enough >= 0 ? shortage->enough : shortage->alone;
	const char *where = shortage->enough >= 0 ? "" : " even without other limits";
	if (shortage->kind == SHORTAGE_PARALLELISM)
		return arena_format(arena,
			"%" PRId64 " multipliers must be busy, but at most %" PRId64 " can be%s",
			shortage->given, most, where);
	return arena_format(arena,
		"'%s' must be filled with %" PRId64 " words, but at most %" PRId64 " can be had%s",
		check->hierarchy->levels[shortage->level].name, shortage->given, most, where);
}

static const char *shortage_text(
	struct arena *arena, const struct mapspace_check *check, const struct shortage *shortage)
{
	switch (shortage->kind) {
	case SHORTAGE_FACTORS:
		return factors_text(arena, check, shortage->dimension);
	case SHORTAGE_HOME:
		return arena_format(arena, "every level bypasses %s: it lives nowhere",
			check->shape->spaces[shortage->space].name);
	case SHORTAGE_CAPACITY:
		return capacity_text(arena, check, shortage);
	case SHORTAGE_FANOUT_X:
	case SHORTAGE_FANOUT_Y:
		return fanout_text(arena, check, shortage);
	default:
		return most_text(arena, check, shortage);
	}
}

/* Lists what of the machine takes part in a conflict; NULL ends the list. */
static const char *const *conflict_machine(struct arena *arena, const struct mapspace_check *check)
{
	const struct infeasible_set *conflict = &check->conflict;
	enum { MOST = 3 * ARCH_LEVELS_MOST + SHAPE_DIMENSIONS_MOST };
	const char **list = arena_array(arena, const char *, MOST + 1);
	int count = 0;
	for (int i = 0; i < check->hierarchy->level_count; i++) {
		const struct nest_level *level = &check->hierarchy->levels[i];
		if (conflict->sizes >> i & 1)
			list[count++] = arena_format(
				arena, "'%s' has %" PRId64 " words", level->name, level->size);
		if (conflict->fills >> i & 1)
			list[count++] = arena_format(arena, "'%s' must be %g full", level->name,
				level->store.least_utilization);
		if (conflict->fanouts >> i & 1)
			list[count++] =
				arena_format(arena, "the fan-out of '%s' is %" PRId64 " x %" PRId64,
					block_name(check, i), level->fanout.x, level->fanout.y);
	}
	for (int d = 0; d < check->shape->dimension_count; d++)
		if (conflict->extents >> d & 1)
			list[count++] = arena_format(arena, "the extent of %s is %" PRId64,
				check->shape->dimensions[d].name,
				check->shape->dimensions[d].extent);
	return list;
}

static const char *const kind_names[] = {
	[SHORTAGE_FACTORS] = "factors",
	[SHORTAGE_HOME] = "home",
	[SHORTAGE_CAPACITY] = "capacity",
	[SHORTAGE_FANOUT_X] = "fanout_x",
	[SHORTAGE_FANOUT_Y] = "fanout_y",
	[SHORTAGE_UTILIZATION] = "utilization",
	[SHORTAGE_PARALLELISM] = "parallelism",
};

static json_t *make_texts(const char *const *texts)
{
	json_t *list = json_array();
	for (int i = 0; texts[i]; i++)
		json_array_append_new(list, json_string(texts[i]));
	return list;
}

static json_t *make_reason(
	struct arena *arena, const struct mapspace_check *check, const struct shortage *shortage)
{
	json_t *reason = json_pack("{s:s, s:s, s:I, s:I, s:I}", "kind", kind_names[shortage->kind],
		"text", shortage_text(arena, check, shortage), "given", (json_int_t)shortage->given,
		"alone", (json_int_t)shortage->alone, "enough", (json_int_t)shortage->enough);
	if (shortage->level >= 0)
		json_object_set_new(reason, "level",
			json_string(check->hierarchy->levels[shortage->level].name));
	if (shortage->dimension >= 0)
		json_object_set_new(reason, "dimension",
			json_string(check->shape->dimensions[shortage->dimension].name));
	if (shortage->space >= 0)
		json_object_set_new(reason, "dataspace",
			json_string(check->shape->spaces[shortage->space].name));
	return reason;
}

static json_t *make_conflict(struct arena *arena, const struct mapspace_check *check)
{
	const struct infeasible_set *conflict = &check->conflict;
	json_t *members = json_array();
	for (size_t i = 0; i < conflict->members.count; i++) {
		const struct constraint *member = &conflict->members.at[i];
		if (!conflict->chosen[i])
			continue;
		json_t *object = json_object();
		struct span span = source_told(member->span);
		if (span.source)
			json_object_update_new(
				object, json_pack("{s:s, s:i, s:i}", "file", span.source->name,
						"line", span.line, "column", span.column));
		json_object_set_new(object, "text", json_string(check->explained[i]));
		json_array_append_new(members, object);
	}
	return json_pack("{s:b, s:o, s:o}", "minimal", !conflict->open, "constraints", members,
		"machine", make_texts(conflict_machine(arena, check)));
}

static json_t *make_sizes(const struct mapspace_check *check, const struct space_sizes *sizes)
{
	json_t *object = json_object(), *dimensions = json_object();
	for (int d = 0; d < check->shape->dimension_count; d++)
		json_object_set_new(dimensions, check->shape->dimensions[d].name,
			json_string(sizes->dimensions[d]));
	json_object_set_new(object, "dimensions", dimensions);
	for (int i = 0; i < CHOICE_COUNT; i++)
		json_object_set_new(object, space_choice_names[i], json_string(sizes->choices[i]));
	json_object_set_new(object, "all", json_string(sizes->all));
	return object;
}

json_t *mapspace_check_json(struct arena *arena, const struct mapspace_check_report *report)
{
	const struct mapspace_check *check = report->check;
	enum verdict verdict = check->contradictory ? VERDICT_NO : check->feasible.verdict;
	json_t *root = json_object(), *mapspace = json_object(), *reasons = json_array();
	json_object_set_new(root, "feasible",
		verdict == VERDICT_OPEN ? json_null() : json_boolean(verdict == VERDICT_YES));
	if (verdict == VERDICT_YES)
		json_object_set_new(root, "witness",
			json_string(nest_mapping_print(
				arena, check->arch, check->shape, &check->feasible.witness)));
	if (verdict == VERDICT_OPEN)
		json_object_set_new(
			root, "undecided_steps", json_integer((json_int_t)check->feasible.work));
	if (check->contradictory)
		json_object_set_new(root, "contradictory", json_true());
	for (size_t i = 0; i < check->shortages.count; i++)
		json_array_append_new(reasons, make_reason(arena, check, &check->shortages.at[i]));
	json_object_set_new(root, "reasons", reasons);
	if (check->shortages.open)
		json_object_set_new(root, "reasons_open", json_true());
	if (check->conflict.found)
		json_object_set_new(root, "conflict", make_conflict(arena, check));
	json_object_set_new(mapspace, "machine", make_sizes(check, &check->machine));
	if (!check->contradictory) {
		json_object_set_new(
			mapspace, "constraints", make_sizes(check, &check->constrained));
		json_object_set_new(mapspace, "fanouts", make_sizes(check, &check->narrowed));
	}
	json_object_set_new(root, "mapspace", mapspace);
	if (report->mapping)
		json_object_set_new(root, "mapping",
			json_pack("{s:b, s:o}", "feasible", !report->why[0], "why",
				make_texts(report->why)));
	return root;
}

/* --- the text */

/* Sizes are texts of digits, of which a table shows those that matter. */
static json_t *size_value(const json_t *size)
{
	return size ? json_real(strtod(json_string_value(size), NULL)) : json_null();
}

/* A row of the table of sizes: those of a choice, and of each dimension of it. */
static json_t *make_size_row(const json_t *mapspace, const char *name, const char *key)
{
	json_t *dimensions = json_object(), *sizes, *size;
	json_t *row = json_pack("{s:s, s:o}", "name", name, "dimensions", dimensions);
	const char *space, *dimension;
	json_object_foreach((json_t *)mapspace, space, sizes) {
		json_object_set_new(row, space, size_value(json_object_get(sizes, key)));
		json_object_foreach(json_object_get(sizes, "dimensions"), dimension, size) {
			if (!text_equal(key, space_choice_names[CHOICE_FACTORS]))
				break;
			if (!json_object_get(dimensions, dimension))
				json_object_set_new(dimensions, dimension, json_object());
			json_object_set_new(
				json_object_get(dimensions, dimension), space, size_value(size));
		}
	}
	return row;
}

/* Adds the number of mappings on the machine, under the constraints, and after their fan-outs were narrowed. */
static void add_sizes(struct text *text, const json_t *mapspace)
{
	static const struct result_column columns[] = {
		{"<mapspace", "{name}", "  of {.}"},
		{"machine", "{machine}", "{machine}"},
		{"constraints", "{constraints}", "{constraints}"},
		{"fan-outs", "{fanouts}", "{fanouts}"},
		{NULL, NULL, NULL},
	};
	json_t *rows = json_array();
	for (int c = 0; c < CHOICE_COUNT; c++)
		json_array_append_new(rows,
			make_size_row(mapspace, space_choice_names[c], space_choice_names[c]));
	json_array_append_new(rows, make_size_row(mapspace, "mappings", "all"));
	result_table(text, rows, columns, "dimensions");
	json_decref(rows);
}

static const struct result_row infeasible_rows[] = {
	{"", "infeasible: no mapping fits", NULL},
	{"", "  {text}", "reasons"},
	{"", "{reasons?|{reasons_open?|  no change of a single limit would do}}", NULL},
	{"", "{reasons_open?  (a question about the limits was too hard; one may be missing)}",
		NULL},
	{"", "{one?this cannot be met; without it a mapping fits:}", NULL},
	{"", "{set?these cannot be met together; without any one of them a mapping fits:}", NULL},
	{"", "{superset?these cannot be met together (perhaps fewer would do):}", NULL},
	{"", "{unconstrained?no constraint takes part in this}", NULL},
	{"", "  {file?{file}:{line}:{column}: }{text}", "conflict.constraints"},
	{"", "{conflict.machine?what takes part of machine and problem:}", NULL},
	{"", "  {}", "conflict.machine"},
	{NULL, NULL, NULL},
};

const char *mapspace_conflict_text(struct arena *arena, const json_t *tree)
{
	struct text text = text_open(arena);
	json_t *shown = json_copy((json_t *)tree);
	const json_t *conflict = json_object_get(tree, "conflict");
	size_t members = json_array_size(json_object_get(conflict, "constraints"));
	bool minimal = json_is_true(json_object_get(conflict, "minimal"));
	json_object_update_new(
		shown, json_pack("{s:b, s:b, s:b, s:b}", "one", minimal && members == 1, "set",
			       minimal && members > 1, "superset", members && !minimal,
			       "unconstrained", conflict && !members));
	result_rows(&text, shown, infeasible_rows);
	json_decref(shown);
	return text_read(&text);
}

const char *mapspace_check_text(struct arena *arena, const json_t *tree)
{
	static const struct result_row rows[] = {
		{"", "{contradictory?infeasible: constraints contradict each other}", NULL},
		{"", "feasible, for example: {witness}", NULL},
		{"", "whether any mapping fits was not decided in {undecided_steps} steps", NULL},
		{NULL, NULL, NULL},
	};
	static const struct result_row mapping[] = {
		{"", "{mapping?mapping: {mapping.feasible?fits and meets every constraint|cannot be}}",
			NULL},
		{"", "  {}", "mapping.why"},
		{NULL, NULL, NULL},
	};
	struct text text = text_open(arena);
	bool contradictory = json_object_get(tree, "contradictory") != NULL;
	result_rows(&text, tree, rows);
	if (json_is_false(json_object_get(tree, "feasible")) && !contradictory)
		text_add(&text, "%s", mapspace_conflict_text(arena, tree));
	result_rows(&text, tree, mapping);
	if (!contradictory)
		add_sizes(&text, json_object_get(tree, "mapspace"));
	return text_read(&text);
}

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

const char *certificate_report_text(struct arena *arena, const json_t *tree)
{
	static const struct result_row rows[] = {
		{"certificate", "{certificate}", NULL},
		{"claim", "{claim} ({counting} counting)", NULL},
		{"choices", "{decided} of {choices} decided, {by_one_bound} of them by one bound",
			NULL},
		{"work", "{steps} bounds and mappings, {evaluated} of them counted by the model",
			NULL},
		{"because", "{because}", NULL},
		{NULL, NULL, NULL},
	};
	struct text text = text_open(arena);
	result_rows(&text, tree, rows);
	return text_read(&text);
}

json_t *certificate_report_json(struct arena *arena, const struct nest_search *search,
	const struct certificate *certificate, const struct certificate_result *result)
{
	return json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:s*}", "certificate",
		certificate_answers[result->answer], "claim",
		claim_text(arena, search, certificate), "counting",
		counting_names[search->counting], "choices", (json_int_t)result->choices, "decided",
		(json_int_t)result->done, "by_one_bound", (json_int_t)result->excluded, "steps",
		(json_int_t)result->steps, "evaluated", (json_int_t)result->evaluated, "because",
		result->why);
}
