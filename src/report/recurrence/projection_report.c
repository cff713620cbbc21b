#include "report/recurrence/projection_report.h"

#include "base/amount.h"
#include "base/arena.h"
#include "base/text.h"
#include "report/run/json.h"
#include "report/run/listing.h"
#include "report/run/pareto.h"
#include "search/recurrence/project_search.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static json_t *projection_report_numbers(const int64_t *at, int count)
{
	json_t *list = json_array();
	for (int i = 0; i < count; i++)
		json_array_append_new(list, json_integer(at[i]));
	return list;
}

static json_t *bounds_value(const char *name, struct bounds bounds, int64_t lanes)
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
		json_array_append_new(list,
			json_pack("{s:s, s:o, s:o, s:I, s:s, s:b}", "stream",
				recurrence->streams[dependence->stream].name, "dependence",
				projection_report_numbers(
					dependence->vector, recurrence->loop_count),
				"moves",
				projection_report_numbers(channel->move, projection->space_count),
				"delay", (json_int_t)channel->delay, "channel",
				channel_names[channel->kind], "live", channel->is_live));
	}
	return list;
}

static json_t *vectors_of(const struct recurrence *recurrence, const struct projection_facts *facts)
{
	json_t *list = json_array();
	for (int i = 0; i < facts->vector_count; i++)
		json_array_append_new(list, json_pack("{s:o, s:I}", "vector",
						    projection_report_numbers(facts->vectors[i],
							    recurrence->loop_count),
						    "period", (json_int_t)facts->busy[i]));
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
	struct score score = project_found_score(found);
	json_t *space = json_array(), *time = json_array(), *registers = json_object();
	for (int r = 0; r < projection->space_count; r++)
		json_array_append_new(space, bounds_value(projection->space_names[r],
						     facts->space[r], projection->lanes[r]));
	for (int r = 0; r < projection->time_count; r++)
		json_array_append_new(
			time, bounds_value(projection->time_names[r], facts->rows[r], 0));
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
		projection_report_numbers(facts->schedule, recurrence->loop_count),
		"projection_vectors", vectors_of(recurrence, facts), "registers_per_pe", registers,
		"channels", channels_of(recurrence, projection, facts));
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

static const char *projection_report_tuple(struct arena *arena, const int64_t *at, int count)
{
	struct text text = text_open(arena);
	text_add(&text, "(");
	for (int i = 0; i < count; i++)
		text_add(&text, "%s%" PRId64, i ? ", " : "", at[i]);
	text_add(&text, ")");
	return text_read(&text);
}

static void projected_place(const struct recurrence *recurrence,
	const struct projection *projection, const int64_t *schedule, const int64_t *point,
	int64_t *pe, int64_t *time)
{
	*time = 0;
	for (int i = 0; i < recurrence->loop_count; i++)
		*time += schedule[i] * point[i];
	for (int r = 0; r < projection->space_count; r++) {
		pe[r] = 0;
		for (int i = 0; i < recurrence->loop_count; i++)
			pe[r] += projection->space[r][i] * point[i];
	}
}

static const char *dependence_text(
	struct arena *arena, const struct recurrence *recurrence, int index)
{
	const struct dependence *dependence = &recurrence->dependences[index];
	return arena_format(arena, "dependence '%s' %s",
		recurrence->streams[dependence->stream].name,
		projection_report_tuple(arena, dependence->vector, recurrence->loop_count));
}

static const char *late_text(struct arena *arena, const struct recurrence *recurrence,
	const struct projection_facts *facts)
{
	int64_t delay = facts->channels[facts->dependence].delay;
	const char *name =
		recurrence->streams[recurrence->dependences[facts->dependence].stream].name;
	return arena_format(arena,
		"%s is used %" PRId64
		" steps after it is made, first at %s; it needs at least one%s%s%s",
		dependence_text(arena, recurrence, facts->dependence), delay,
		projection_report_tuple(arena, facts->late.at, recurrence->loop_count),
		delay ? "" : ", or 'wires: [", delay ? "" : name,
		delay ? "" : "]' if a wire may carry it within the step");
}

static const char *conflict_text(struct arena *arena, const struct recurrence *recurrence,
	const struct projection *projection, const struct projection_facts *facts)
{
	int64_t pe[RECURRENCE_LOOPS_MOST], time;
	int loops = recurrence->loop_count;
	projected_place(recurrence, projection, facts->schedule, facts->meeting[0].at, pe, &time);
	return arena_format(arena, "points %s and %s both run on PE %s at time %" PRId64,
		projection_report_tuple(arena, facts->meeting[0].at, loops),
		projection_report_tuple(arena, facts->meeting[1].at, loops),
		projection_report_tuple(arena, pe, projection->space_count), time);
}

const char *projection_fault_text(struct arena *arena, const struct space_time *spec,
	const struct projection *projection, const struct projection_facts *facts)
{
	const struct recurrence *recurrence = &spec->recurrence;
	int d = facts->dependence;
	switch (facts->fault) {
	case PROJECTION_FINE:
		return NULL;
	case PROJECTION_LATE:
		return late_text(arena, recurrence, facts);
	case PROJECTION_CONFLICT:
		return conflict_text(arena, recurrence, projection, facts);
	case PROJECTION_FAR:
		return arena_format(arena,
			"%s moves by %s in %" PRId64 " steps; links reach %" PRId64 " in one",
			dependence_text(arena, recurrence, d),
			projection_report_tuple(
				arena, facts->channels[d].move, projection->space_count),
			facts->channels[d].delay, spec->reach);
	case PROJECTION_MOVES:
		return arena_format(arena, "%s moves by %s; it is to stay",
			dependence_text(arena, recurrence, d),
			projection_report_tuple(
				arena, facts->channels[d].move, projection->space_count));
	case PROJECTION_SHUFFLE:
		return arena_format(arena,
			"%s moves by %s between registers of lanes '%s'; 'shuffle: [%s]' lets it",
			dependence_text(arena, recurrence, d),
			projection_report_tuple(
				arena, facts->channels[d].move, projection->space_count),
			projection->space_names[facts->axis],
			recurrence->streams[recurrence->dependences[d].stream].name);
	case PROJECTION_LANES:
		return arena_format(arena,
			"'%s' needs %" PRId64 " lanes, a vector unit has %" PRId64,
			projection->space_names[facts->axis], facts->space[facts->axis].extent,
			projection->lanes[facts->axis]);
	case PROJECTION_LINK:
	case PROJECTION_WIRE:
		return arena_format(arena, "%s moves by %s, and %s along '%s'",
			dependence_text(arena, recurrence, d),
			projection_report_tuple(
				arena, facts->channels[d].move, projection->space_count),
			facts->fault == PROJECTION_LINK
				? "no link hands its stream on (no_link_transfer)"
				: "no wire multicasts or reduces its stream (no_reuse)",
			projection->space_names[facts->axis]);
	case PROJECTION_LARGE:
		return arena_format(arena,
			"row %d of the allocation needs %" PRId64 " PEs, the array has %" PRId64,
			facts->axis + 1, facts->space[facts->axis].extent,
			spec->array[facts->axis]);
	case PROJECTION_REVERSE:
		return arena_format(arena, "the reverse transform gives another '%s' at point %s",
			recurrence->loops[facts->axis].name,
			projection_report_tuple(arena, facts->astray.at, recurrence->loop_count));
	case PROJECTION_UNKNOWN:
		break;
	}
	return "whether it is legal is not known: there are too many points or PEs to count";
}

const char *systolic_fault_text(struct arena *arena, const struct recurrence *recurrence,
	const struct systolic_result *result)
{
	int loops = recurrence->loop_count;
	const char *name = result->stream >= 0 ? recurrence->streams[result->stream].name : "";
	const char *at = projection_report_tuple(arena, result->point, loops);
	const char *other = projection_report_tuple(arena, result->other, loops);
	switch (result->fault) {
	case SYSTOLIC_FINE:
		return NULL;
	case SYSTOLIC_CLASH:
		return arena_format(arena, "points %s and %s are on one PE in one step", other, at);
	case SYSTOLIC_STALE:
		return arena_format(arena,
			"point %s does not find '%s' of point %s in the register where it looks",
			at, name, other);
	case SYSTOLIC_EARLY:
		return arena_format(arena, "point %s needs '%s' of point %s before it is made", at,
			name, other);
	case SYSTOLIC_CIRCLE:
		return arena_format(
			arena, "'%s' at point %s is needed to make itself in one step", name, at);
	case SYSTOLIC_LANES:
		return arena_format(arena,
			"point %s needs '%s' of point %s, which is in another lane and is not shuffled",
			at, name, other);
	case SYSTOLIC_OUTPUT:
		return "an output gets two values at one place";
	case SYSTOLIC_STOPPED:
		return "it was stopped";
	case SYSTOLIC_LARGE:
		break;
	}
	return "there are too many points, PEs or registers to execute";
}

const char *projection_text(
	struct arena *arena, const struct project_found *found, const json_t *tree)
{
	static const struct result_row rows[] = {
		{"", "{line}", NULL},
		{"",
			"{computes} points, {pes} PEs, {cycles} cycles, {utilization%} busy, "
			"{registers} registers, {ports} ports",
			NULL},
		{"", "{vector_units} vector units, {vector_steps} vector steps of {lanes_each} lanes each",
			NULL},
		{"", "{lanes?lane|PE} {name}: {extent} from {least} on", "space"},
		{"", "time {name}: {extent} from {least} on", "time"},
		{"", "projection vector ({vector}): a point every {period} steps",
			"projection_vectors"},
		{NULL, NULL, NULL},
	};
	static const struct result_column channels[] = {
		{"<stream", "{stream}", NULL},
		{"<dependence", "({dependence})", NULL},
		{"<moves", "({moves})", NULL},
		{"delay", "{delay}", NULL},
		{"<channel", "{live?{channel}|not used by any point}", NULL},
		{NULL, NULL, NULL},
	};
	static const struct result_row executed[] = {
		{"",
			"executed: {executed.points} points on {executed.pes} PEs in {executed.cycles} "
			"cycles, every value "
			"{executed.agrees?as in sequential order|compared: NOT the same}",
			NULL},
		{NULL, NULL, NULL},
	};
	const struct projection_facts *facts = &found->facts;
	struct text text = text_open(arena);
	json_t *shown = json_copy((json_t *)tree);
	json_object_set_new(shown, "line",
		json_string(project_text(arena, &found->spec->recurrence, &found->projection)));
	if (facts->issues > 0)
		json_object_set_new(shown, "lanes_each",
			json_real((double)facts->points / (double)facts->issues));
	result_rows(&text, shown, rows);
	json_decref(shown);
	result_table(&text, json_object_get(tree, "channels"), channels, NULL);
	result_rows(&text, tree, executed);
	return text_read(&text);
}

const char *projection_check_text(struct arena *arena, const json_t *tree)
{
	static const struct result_row rows[] = {
		{"",
			"specs: {loops} loops, {points} points in their box, {streams} streams, "
			"{dependences} dependences",
			NULL},
		{"", "{projection?|projection: explore searches it}", NULL},
		{NULL, NULL, NULL},
	};
	struct text text = text_open(arena);
	result_rows(&text, tree, rows);
	return text_read(&text);
}

static const char *executed_text(const struct project_found *found)
{
	return !found->common.execution.finished ? "-"
	       : found->common.execution.agrees  ? "data"
						 : "WRONG";
}

/* The rows of a table of foldings: what stays, rounds, and who is better. */
static void add_classical(struct text *text, const struct explored *explored)
{
	bool any = false;
	for (size_t i = 0; i < explored->beside_count; i++)
		any |= explored->beside[i].payload != NULL;
	if (!any)
		return;
	static const char *const titles[] = {
		"<dataflow", "folds", "cycles", "registers", "use", "executed", "<beaten by", NULL};
	struct listing *listing = listing_open(text->arena, titles);
	for (size_t i = 0; i < explored->beside_count; i++) {
		const struct point *point = &explored->beside[i];
		const struct project_found *found = point->payload;
		struct text better = text_open(text->arena);
		if (!found)
			continue;
		for (size_t k = 0; k < explored->frontier.count; k++) {
			const struct score *other = &explored->frontier.points[k].score;
			if (other->cycles < point->score.cycles && other->pes <= point->score.pes &&
				other->registers <= point->score.registers)
				text_add(&better, "%s%zu", better.length ? ", " : "", k + 1);
		}
		listing_cell(listing, "%s", found->name);
		listing_cell(listing, "%" PRId64, found->folds);
		listing_cell(listing, "%" PRId64, point->score.cycles);
		listing_cell(listing, "%" PRId64, point->score.registers);
		listing_cell(listing, "%s", amount_share(text->arena, point->score.utilization));
		listing_cell(listing, "%s", executed_text(found));
		listing_cell(listing, "%s",
			better.length ? text_read(&better)
				      : "none in all of cycles, PEs, registers");
	}
	text_add(text, "\n%s", listing_text(listing));
}

const char *projection_pareto_table(struct arena *arena, const struct explored *explored)
{
	bool folded = explored->beside_count > 0;
	const char *const titles[] = {"point", "cycles", "PEs", "registers", "ports", "wire", "use",
		"executed", folded ? "<what stays, projection" : "<projection", NULL};
	struct listing *listing = listing_open(arena, titles);
	for (size_t i = 0; i < explored->frontier.count; i++) {
		const struct point *point = &explored->frontier.points[i];
		const struct project_found *found = point->payload;
		const struct score *score = &point->score;
		listing_cell(listing, "%zu", i + 1);
		listing_cell(listing, "%" PRId64, score->cycles);
		listing_cell(listing, "%" PRId64, score->pes);
		listing_cell(listing, "%" PRId64, score->registers);
		listing_cell(listing, "%" PRId64, score->ports);
		listing_cell(listing, "%" PRId64, score->wire);
		listing_cell(listing, "%s", amount_share(arena, score->utilization));
		listing_cell(listing, "%s", executed_text(found));
		listing_cell(listing, "%s%s%s", folded ? found->name : "", folded ? ": " : "",
			point->key);
	}
	struct text text = text_open(arena);
	text_add(&text, "%s", listing_text(listing));
	if (folded)
		add_classical(&text, explored);
	return text_read(&text);
}

enum { PROCESS_RUN, PROCESS_ARRAY };

/* "[1, 0]" */
static const char *place_text(struct arena *arena, const int64_t *place, int count)
{
	struct text text = text_open(arena);
	for (int i = 0; i < count; i++)
		text_add(&text, "%s%" PRId64, i ? ", " : "[", place[i]);
	text_add(&text, count ? "]" : "[]");
	return text_read(&text);
}

/* The place of a PE by its number in the box. */
static const char *pe_text(struct arena *arena, const struct visits *visits, int64_t pe)
{
	int64_t place[RECURRENCE_LOOPS_MOST];
	int rows = visits->projection->space_count;
	for (int r = rows - 1; r >= 0; r--) {
		place[r] = visits->least[r] + pe % visits->extents[r];
		pe /= visits->extents[r];
	}
	return arena_format(arena, "PE %s", place_text(arena, place, rows));
}

const char *projection_trace_json(struct arena *arena, const struct project_found *found)
{
	const struct visits *visits = found->execution.visits;
	struct text text = trace_open(arena);
	if (!visits || visits->count > PROJECTION_TRACE_MOST)
		return NULL;
	bool *named = arena_array(arena, bool, visits->pe_count);
	int64_t point[RECURRENCE_LOOPS_MOST];
	trace_process(&text, PROCESS_RUN, "run");
	trace_process(&text, PROCESS_ARRAY, "array");
	trace_event(&text, "run", PROCESS_RUN, 0, 0, (double)found->execution.cycles,
		json_pack("{s:I}", "cycles", (json_int_t)found->execution.cycles));
	for (size_t i = 0; i < visits->count; i++) {
		const struct visit *visit = &visits->at[i];
		if (!named[visit->pe])
			trace_thread(
				&text, PROCESS_ARRAY, visit->pe, pe_text(arena, visits, visit->pe));
		named[visit->pe] = true;
		visits_point(visits, visit->index, point);
		trace_event(&text, place_text(arena, point, found->spec->recurrence.loop_count),
			PROCESS_ARRAY, visit->pe, (double)(visit->time - visits->at[0].time), 1,
			json_object());
	}
	return trace_end(&text);
}
