#include "report/recurrence/projection_report.h"

#include "base/arena.h"
#include "base/text.h"
#include "report/run/json_text.h"
#include "report/run/pareto.h"
#include "report/run/run_json.h"

#include <inttypes.h>
#include <string.h>

static json_t *numbers(const int64_t *at, int count)
{
	json_t *list = json_array();
	for (int i = 0; i < count; i++)
		json_array_append_new(list, json_integer(at[i]));
	return list;
}

static json_t *bounds_of(const char *name, struct bounds bounds, int64_t lanes)
{
	json_t *all = json_pack("{s:s, s:I, s:I}", "name", name, "least", (json_int_t)bounds.least,
		"extent", (json_int_t)bounds.extent);
	if (lanes)
		json_object_set_new(all, "lanes", json_integer((json_int_t)lanes));
	return all;
}

static json_t *channels_of(const struct recurrence *recurrence, const struct projection *projection,
	const struct projection_facts *facts)
{
	json_t *list = json_array();
	for (int d = 0; d < recurrence->dependence_count; d++) {
		const struct dependence *dependence = &recurrence->dependences[d];
		const struct channel *channel = &facts->channels[d];
		json_array_append_new(
			list, json_pack("{s:s, s:o, s:o, s:I, s:s, s:b}", "stream",
				      recurrence->streams[dependence->stream].name, "dependence",
				      numbers(dependence->vector, recurrence->loop_count), "moves",
				      numbers(channel->move, projection->space_count), "delay",
				      (json_int_t)channel->delay, "channel",
				      channel_names[channel->kind], "live", channel->is_live));
	}
	return list;
}

static json_t *vectors_of(const struct recurrence *recurrence, const struct projection_facts *facts)
{
	json_t *list = json_array();
	for (int i = 0; i < facts->vector_count; i++)
		json_array_append_new(
			list, json_pack("{s:o, s:I}", "vector",
				      numbers(facts->vectors[i], recurrence->loop_count), "period",
				      (json_int_t)facts->busy[i]));
	return list;
}

static json_t *execution_of(const struct recurrence *recurrence, const struct project_found *found)
{
	const struct systolic_result *result = &found->execution;
	json_t *registers = json_object();
	for (int s = 0; s < recurrence->stream_count; s++)
		if (recurrence->streams[s].kind == STREAM_RECURRENT)
			json_object_set_new(registers, recurrence->streams[s].name,
				json_integer(result->registers[s]));
	json_t *all = json_pack("{s:b, s:I, s:I, s:I, s:o, s:I, s:I, s:I, s:I, s:I, s:I}", "agrees",
		found->common.execution.agrees, "points", (json_int_t)result->points, "pes",
		(json_int_t)result->pes, "cycles", (json_int_t)result->cycles, "registers",
		registers, "register_reads", (json_int_t)result->register_reads, "register_writes",
		(json_int_t)result->register_writes, "link_moves", (json_int_t)result->link_moves,
		"wire_reads", (json_int_t)result->wire_reads, "input_reads",
		(json_int_t)result->input_reads, "output_writes",
		(json_int_t)result->output_writes);
	if (result->units) {
		json_object_set_new(all, "vector_steps", json_integer((json_int_t)result->issues));
		json_object_set_new(
			all, "lane_multicasts", json_integer((json_int_t)result->lane_multicasts));
		json_object_set_new(
			all, "lane_shuffles", json_integer((json_int_t)result->lane_shuffles));
	}
	return all;
}

json_t *projection_json(const struct project_found *found)
{
	const struct recurrence *recurrence = &found->spec->recurrence;
	const struct projection *projection = &found->projection;
	const struct projection_facts *facts = &found->facts;
	struct score score = project_found_score(found, true);
	json_t *space = json_array(), *time = json_array(), *registers = json_object();
	for (int r = 0; r < projection->space_count; r++)
		json_array_append_new(space, bounds_of(projection->space_names[r], facts->space[r],
						     projection->lanes[r]));
	for (int r = 0; r < projection->time_count; r++)
		json_array_append_new(
			time, bounds_of(projection->time_names[r], facts->rows[r], 0));
	for (int s = 0; s < recurrence->stream_count; s++)
		if (recurrence->streams[s].kind == STREAM_RECURRENT)
			json_object_set_new(registers, recurrence->streams[s].name,
				json_integer(facts->registers[s]));
	json_t *root = json_pack(
		"{s:b, s:I, s:I, s:f, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o}",
		"feasible", facts->fault == PROJECTION_FINE, "cycles", (json_int_t)facts->cycles,
		"computes", (json_int_t)score.computes, "utilization", score.utilization, "pes",
		(json_int_t)facts->pes, "registers", (json_int_t)score.registers, "ports",
		(json_int_t)score.ports, "wire", (json_int_t)score.wire, "conflicts",
		(json_int_t)facts->conflicts, "space", space, "time", time, "schedule",
		numbers(facts->schedule, recurrence->loop_count), "projection_vectors",
		vectors_of(recurrence, facts), "registers_per_pe", registers, "channels",
		channels_of(recurrence, projection, facts));
	if (facts->units) {
		json_object_set_new(root, "vector_units", json_integer((json_int_t)facts->units));
		json_object_set_new(root, "vector_steps", json_integer((json_int_t)facts->issues));
	}
	if (found->common.execution.finished)
		json_object_set_new(root, "executed", execution_of(recurrence, found));
	return root;
}

json_t *projection_check_json(
	const struct recurrence *recurrence, const struct project_found *found)
{
	return json_pack("{s:i, s:I, s:i, s:i, s:o}", "loops", recurrence->loop_count, "points",
		(json_int_t)recurrence_box(recurrence), "streams", recurrence->stream_count,
		"dependences", recurrence->dependence_count, "projection",
		found ? projection_json(found) : json_null());
}

static void complete_row(
	const void *self, const struct point *point, struct arena *arena, struct pareto_row *row)
{
	row->groups = PARETO_USE | PARETO_CLOCKED | PARETO_ARRAY;
}

const char *projection_pareto_csv(struct arena *arena, const struct explored *explored)
{
	return pareto_csv(arena, &explored->frontier, complete_row, NULL);
}

const char *projection_plan_yaml(struct arena *arena, const struct point *point)
{
	const struct project_found *found = point->payload;
	const struct recurrence *recurrence = &found->spec->recurrence;
	const struct projection *projection = &found->projection;
	struct text text = text_open(arena);
	text_add(&text,
		"# %" PRId64 " cycles, %" PRId64 " PEs, by %s\nprojection:\n  %sallocation:",
		point->score.cycles, point->score.pes, found->common.solver,
		found->name ? project_tiles_text(arena, found->spec, "\n  ") : "");
	text_add(&text, "%s", projection->space_count ? "\n" : " []\n");
	for (int r = 0; r < projection->space_count + projection->time_count; r++) {
		bool space = r < projection->space_count;
		const int64_t *row = space ? projection->space[r]
					   : projection->time[r - projection->space_count];
		if (r == projection->space_count)
			text_add(&text, "  schedule:\n");
		text_add(&text, "    - [");
		for (int i = 0; i < recurrence->loop_count; i++)
			text_add(&text, "%s%" PRId64, i ? ", " : "", row[i]);
		text_add(&text, "]\n");
	}
	text_add(&text, "  wires: [");
	for (int s = 0, count = 0; s < recurrence->stream_count; s++)
		if (projection->wires >> s & 1)
			text_add(&text, "%s%s", count++ ? ", " : "", recurrence->streams[s].name);
	text_add(&text, "]\n");
	return text_read(&text);
}

static void add_folds(json_t *entry, const struct project_found *found)
{
	if (!found->name)
		return;
	json_object_set_new(entry, "dataflow", json_string(found->name));
	json_object_set_new(entry, "folds", json_integer((json_int_t)found->folds));
}

static json_t *dataflows_of(const struct explored *explored)
{
	json_t *list = json_array();
	for (size_t i = 0; i < explored->beside_count; i++) {
		const struct project_found *found = explored->beside[i].payload;
		if (!found)
			continue;
		json_t *entry = projection_json(found);
		json_object_set_new(entry, "projection", json_string(explored->beside[i].key));
		add_folds(entry, found);
		json_array_append_new(list, entry);
	}
	return list;
}

const char *projection_run_json(
	struct arena *arena, const struct run_record *record, const struct explored *explored)
{
	json_t *root = run_head(record, arena), *points = json_array();
	json_object_set_new(root, "counters", run_counters(&explored->effort));
	json_object_set_new(root, "complete", json_boolean(explored->complete));
	for (size_t i = 0; i < explored->frontier.count; i++) {
		const struct point *point = &explored->frontier.points[i];
		const struct project_found *found = point->payload;
		json_t *entry = projection_json(found);
		json_object_set_new(entry, "point", json_integer((json_int_t)i + 1));
		json_object_set_new(entry, "projection", json_string(point->key));
		add_folds(entry, found);
		json_array_append_new(points, entry);
	}
	json_object_set_new(root, "points", points);
	if (explored->beside_count)
		json_object_set_new(root, "dataflows", dataflows_of(explored));
	return json_text(arena, root);
}
