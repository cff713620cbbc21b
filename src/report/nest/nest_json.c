#include "report/nest/nest_array_report.h"

#include "base/arena.h"
#include "base/fatal.h"
#include "report/run/json_text.h"

#include <inttypes.h>

static json_t *make_share(struct arena *arena, int64_t total, int64_t instances)
{
	if (total % instances)
		return json_string(nest_share_text(arena, total, instances));
	return json_integer(total / instances);
}

static json_t *make_space(struct arena *arena, const struct nest_report *report, int level, int t)
{
	const struct nest_count *count = &report->counts->at[level][t];
	int64_t instances = number_max(1, report->counts->utilized[level]);
	json_t *object = json_pack("{s:I, s:o, s:o, s:o, s:I, s:I, s:I}", "utilized_capacity",
		(json_int_t)count->capacity, "reads", make_share(arena, count->reads, instances),
		"fills", make_share(arena, count->fills, instances), "updates",
		make_share(arena, count->updates, instances), "total_reads",
		(json_int_t)count->reads, "total_fills", (json_int_t)count->fills, "total_updates",
		(json_int_t)count->updates);
	if (count->links)
		json_object_set_new(object, "total_links", json_integer(count->links));
	return object;
}

static json_t *make_spaces(struct arena *arena, const struct nest_report *report, int level)
{
	int row = report->hierarchy->levels[level].row;
	json_t *object = json_object();
	for (int t = 0; t < report->shape->space_count; t++)
		if (report->mapping->residency[t] >> row & 1)
			json_object_set_new(object, report->shape->spaces[t].name,
				make_space(arena, report, level, t));
	return object;
}

/* Cycles before and after its work that a level adds, and those of a systolic array that it is the
 * next storage around. */
static json_t *make_latency(const struct nest_report *report, int i)
{
	const struct hierarchy *hierarchy = report->hierarchy;
	int around = hierarchy->array_end - 1;
	while (around >= 0 && !hierarchy->levels[around].storage)
		around++;
	return json_pack("{s:I, s:I, s:I}", "fill", (json_int_t)hierarchy->levels[i].fill_cycles,
		"drain", (json_int_t)hierarchy->levels[i].drain_cycles, "skew",
		(json_int_t)(i == around ? report->counts->array_cycles : 0));
}

static json_t *make_words(struct arena *arena, const struct nest_report *report, int i)
{
	const struct nest_level *level = &report->hierarchy->levels[i];
	return json_pack("{s:s, s:I, s:I, s:o}", "name", level->name, "instances",
		(json_int_t)(level->mesh_x * level->mesh_y), "utilized_instances",
		(json_int_t)report->counts->utilized[i], "dataspaces",
		make_spaces(arena, report, i));
}

json_t *nest_json_words(struct arena *arena, const struct nest_report *report)
{
	json_t *list = json_array();
	for (int i = 0; i < report->hierarchy->level_count; i++)
		if (report->hierarchy->levels[i].storage)
			json_array_append_new(list, make_words(arena, report, i));
	return list;
}

static void add_space_energies(json_t *spaces, const struct nest_report *report, int i)
{
	for (int t = 0; t < report->shape->space_count; t++) {
		json_t *space = json_object_get(spaces, report->shape->spaces[t].name);
		if (space)
			json_object_set_new(
				space, "energy_pj", json_real(report->score->space_pj[i][t]));
	}
}

static json_t *make_level(struct arena *arena, const struct nest_report *report, int i)
{
	const struct nest_score *score = report->score;
	json_t *object = make_words(arena, report, i);
	json_t *more = json_pack("{s:I, s:f, s:f, s:f, s:s, s:o}", "cycles",
		(json_int_t)score->level_cycles[i], "energy_pj", score->level_pj[i], "leak_pj",
		score->leak_pj[i], "network_pj", score->network_pj[i], "energy_source",
		report->hierarchy->levels[i].energy_source, "latency", make_latency(report, i));
	add_space_energies(json_object_get(object, "dataspaces"), report, i);
	json_object_update(object, more);
	json_decref(more);
	return object;
}

static json_t *make_multipliers(const struct nest_report *report)
{
	const struct hierarchy *hierarchy = report->hierarchy;
	return json_pack("{s:s, s:I, s:I, s:I, s:f, s:I, s:s, s:{}}", "name",
		hierarchy->compute_name, "instances",
		(json_int_t)(hierarchy->compute_mesh_x * hierarchy->compute_mesh_y),
		"utilized_instances", (json_int_t)report->counts->utilized_computes, "cycles",
		(json_int_t)report->counts->compute_cycles, "energy_pj", report->score->compute_pj,
		"computes", (json_int_t)report->counts->computes, "energy_source",
		hierarchy->compute_energy_source, "dataspaces");
}

bool nest_report_shows(const struct nest_report *report, int level)
{
	const struct nest_level *nest = &report->hierarchy->levels[level];
	bool keeps = false;
	for (int t = 0; t < report->shape->space_count; t++)
		keeps |= report->mapping->residency[t] >> nest->row & 1;
	return nest->storage && (keeps || report->score->level_pj[level] != 0);
}

json_t *nest_json_levels(struct arena *arena, const struct nest_report *report)
{
	json_t *list = json_array();
	json_array_append_new(list, make_multipliers(report));
	for (int i = 0; i < report->hierarchy->level_count; i++)
		if (nest_report_shows(report, i))
			json_array_append_new(list, make_level(arena, report, i));
	return list;
}

static void add_counts(struct arena *arena, json_t *root, const struct nest_report *report)
{
	const struct nest_score *score = report->score;
	json_t *numbers = json_pack("{s:I, s:f, s:I, s:f, s:f, s:s}", "cycles",
		(json_int_t)score->cycles, "latency_ns",
		(double)score->cycles * report->hierarchy->clock_ns, "computes",
		(json_int_t)report->counts->computes, "energy_pj", score->energy_pj, "utilization",
		score->utilization, "energy_source", report->hierarchy->energy_source);
	json_object_update(root, numbers);
	json_decref(numbers);
	if (report->projection)
		json_object_set_new(root, "projection", nest_array_json(report));
	json_object_set_new(root, "levels", nest_json_levels(arena, report));
}

static void add_run(json_t *root, const struct nest_report *report)
{
	const struct nest_outcome *run = report->run;
	json_object_set_new(root, "finished", json_boolean(run->finished));
	if (run->wrong)
		json_object_set_new(root, "wrong", json_string(run->wrong));
	if (!run->finished)
		return;
	json_t *stalls = json_object();
	for (int i = 0; i < report->hierarchy->level_count; i++)
		if (run->stall_by_level[i])
			json_object_set_new(stalls, report->hierarchy->levels[i].name,
				json_integer(run->stall_by_level[i]));
	json_t *object = json_pack("{s:b, s:b, s:b, s:I, s:{s:I, s:I, s:I, s:I, s:o}}", "agrees",
		run->agrees, "computed", run->data, "right", run->right, "events",
		(json_int_t)run->events, "timing", "cycles", (json_int_t)run->cycles, "fill_cycles",
		(json_int_t)run->fill_cycles, "drain_cycles", (json_int_t)run->drain_cycles,
		"stall_cycles", (json_int_t)run->stall_cycles, "stalls_by_level", stalls);
	json_object_update(root, object);
	json_decref(object);
}

json_t *nest_json(struct arena *arena, const struct nest_report *report)
{
	json_t *root = json_pack("{s:b, s:s, s:s, s:s}", "feasible", report->why == NULL, "problem",
		report->shape->name, "counting", counting_names[report->counting], "mapping",
		nest_mapping_print(arena, report->arch, report->shape, report->mapping));
	if (!root)
		fatal("the score could not be written");
	if (report->why)
		json_object_set_new(root, "why", json_string(report->why));
	if (report->run)
		add_run(root, report);
	if (report->counted)
		add_counts(arena, root, report);
	return root;
}
