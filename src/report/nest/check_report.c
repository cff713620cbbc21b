#include "report/nest/check_report.h"

#include "base/arena.h"
#include "base/number.h"
#include "base/text.h"
#include "model/nest/nest_mapping.h"
#include "report/run/json.h"

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
		block_name(check, shortage->level), level->fanout_x, level->fanout_y);
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

const char *shortage_text(
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

const char *const *conflict_machine(struct arena *arena, const struct mapspace_check *check)
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
					block_name(check, i), level->fanout_x, level->fanout_y);
	}
	for (int d = 0; d < check->shape->dimension_count; d++)
		if (conflict->extents >> d & 1)
			list[count++] = arena_format(arena, "the extent of %s is %" PRId64,
				check->shape->dimensions[d].name,
				check->shape->dimensions[d].extent);
	return list;
}

/* --- the text */

static void add_reasons(struct text *text, const struct mapspace_check *check)
{
	text_add(text, "infeasible: no mapping fits\n");
	for (size_t i = 0; i < check->shortages.count; i++)
		text_add(
			text, "  %s\n", shortage_text(text->arena, check, &check->shortages.at[i]));
	if (check->shortages.count == 0 && !check->shortages.open)
		text_add(text, "  no change of a single limit would do\n");
	if (check->shortages.open)
		text_add(
			text, "  (a question about the limits was too hard; one may be missing)\n");
}

static void add_conflict(struct text *text, const struct mapspace_check *check)
{
	const struct infeasible_set *conflict = &check->conflict;
	size_t chosen = 0;
	for (size_t i = 0; i < conflict->members.count; i++)
		chosen += conflict->chosen[i];
	if (!conflict->found)
		return;
	if (chosen == 0)
		text_add(text, "no constraint takes part in this\n");
	else if (conflict->open)
		text_add(text, "these cannot be met together (perhaps fewer would do):\n");
	else if (chosen == 1)
		text_add(text, "this cannot be met; without it a mapping fits:\n");
	else
		text_add(text, "these cannot be met together; without any one of them a mapping "
			       "fits:\n");
	for (size_t i = 0; i < conflict->members.count; i++) {
		const struct constraint *member = &conflict->members.at[i];
		struct span span = source_told(member->span);
		if (!conflict->chosen[i])
			continue;
		text_add(text, "  ");
		if (span.source)
			text_add(text, "%s:%d:%d: ", span.source->name, span.line, span.column);
		text_add(text, "%s\n", check->explained[i]);
	}
	const char *const *machine = conflict_machine(text->arena, check);
	text_add(text, machine[0] ? "what takes part of machine and problem:\n" : "");
	for (int i = 0; machine[i]; i++)
		text_add(text, "  %s\n", machine[i]);
}

static int width_of(int width, const char *text)
{
	return (int)number_max(width, (int64_t)strlen(text));
}

static void add_row(struct text *text, const char *name, const char *machine,
	const char *constrained, const char *narrowed, const int *widths)
{
	text_add(text, "  %-*s  %*s", widths[0], name, widths[1], machine);
	text_add(text, "  %*s  %*s\n", widths[2], constrained, widths[3], narrowed);
}

static void add_sizes(struct text *text, const struct mapspace_check *check)
{
	const struct space_sizes *a = &check->machine, *b = &check->constrained,
				 *c = &check->narrowed;
	int widths[4] = {9, width_of(7, a->all), width_of(11, b->all), width_of(8, c->all)};
	for (int d = 0; d < check->shape->dimension_count; d++)
		widths[0] = width_of(widths[0],
			arena_format(text->arena, "  of %s", check->shape->dimensions[d].name));
	text_add(text, "mapspace\n");
	add_row(text, "", "machine", "constraints", "fan-outs", widths);
	for (int i = 0; i < CHOICE_COUNT; i++) {
		add_row(text, space_choice_names[i], a->choices[i], b->choices[i], c->choices[i],
			widths);
		for (int d = 0; i == CHOICE_FACTORS && d < check->shape->dimension_count; d++)
			add_row(text,
				arena_format(
					text->arena, "  of %s", check->shape->dimensions[d].name),
				a->dimensions[d], b->dimensions[d], c->dimensions[d], widths);
	}
	add_row(text, "mappings", a->all, b->all, c->all, widths);
}

static void add_mapping(struct text *text, const struct mapspace_check_report *report)
{
	if (!report->why[0])
		text_add(text, "mapping: fits and meets every constraint\n");
	else
		text_add(text, "mapping: cannot be\n");
	for (int i = 0; report->why[i]; i++)
		text_add(text, "  %s\n", report->why[i]);
}

const char *mapspace_conflict_text(struct arena *arena, const struct mapspace_check *check)
{
	struct text text = text_open(arena);
	add_reasons(&text, check);
	add_conflict(&text, check);
	return text_read(&text);
}

const char *mapspace_check_text(struct arena *arena, const struct mapspace_check_report *report)
{
	struct text text = text_open(arena);
	const struct mapspace_check *check = report->check;
	if (check->contradictory)
		text_add(&text, "infeasible: constraints contradict each other\n");
	else if (check->feasible.verdict == VERDICT_YES)
		text_add(&text, "feasible, for example: %s\n",
			nest_mapping_print(
				arena, check->arch, check->shape, &check->feasible.witness));
	else if (check->feasible.verdict == VERDICT_OPEN)
		text_add(&text, "whether any mapping fits was not decided in %" PRIu64 " steps\n",
			check->feasible.work);
	else
		text_add(&text, "%s", mapspace_conflict_text(arena, check));
	if (report->mapping)
		add_mapping(&text, report);
	if (!check->contradictory)
		add_sizes(&text, check);
	return text_read(&text);
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
	for (size_t i = 0; i < check->shortages.count; i++)
		json_array_append_new(reasons, make_reason(arena, check, &check->shortages.at[i]));
	json_object_set_new(root, "reasons", reasons);
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
