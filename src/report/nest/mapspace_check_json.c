#include "base/arena.h"
#include "model/nest/nest_mapping.h"
#include "report/nest/mapspace_check_report.h"
#include "report/run/json_text.h"

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
