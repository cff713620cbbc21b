#include "report/nest/nest_report.h"

#include "base/arena.h"
#include "base/fatal.h"
#include "base/number.h"
#include "base/text.h"
#include "model/machine/mapping.h"
#include "model/nest/constraint.h"
#include "model/nest/nest_score.h"
#include "report/run/json.h"
#include "report/run/listing.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const char *const axes[] = {"X", "Y"};

static json_t *nest_report_make_loops(const struct nest_report *report)
{
	const struct nest_projection *projection = report->projection;
	json_t *list = json_array();
	for (int k = 0; k < projection->loop_count; k++) {
		const struct nest_projected_loop *loop = &projection->loops[k];
		json_array_append_new(list,
			json_pack("{s:s, s:s, s:I, s:[I, I], s:I}", "dimension",
				report->shape->dimensions[loop->dimension].name, "level",
				report->arch->levels[loop->row].name, "bound",
				(json_int_t)loop->bound, "allocation", (json_int_t)loop->space[0],
				(json_int_t)loop->space[1], "schedule", (json_int_t)loop->time));
	}
	return list;
}

static json_t *make_channels(const struct nest_report *report)
{
	json_t *object = json_object();
	for (int t = 0; t < report->shape->space_count; t++) {
		json_t *along = json_array();
		for (int y = 0; y < 2; y++)
			if (report->projection->spaces[t].along[y])
				json_array_append_new(along, json_string(axes[y]));
		json_object_set_new(object, report->shape->spaces[t].name,
			json_pack("{s:s, s:o}", "kind",
				nest_channel_names[report->projection->spaces[t].channel], "along",
				along));
	}
	return object;
}

/*
 * The projection of a mapping on a systolic array.  As JSON:
 *
 *	{pes: [X, Y], passes, overlap, steps, cycles_per_step, skew_cycles, load_cycles,
 *	 loops: [{dimension, level, bound, allocation: [X, Y], schedule}], innermost first
 *	 channels: {A: {kind: stationary | systolic | direct, along: [X, Y]}}}
 */
static json_t *nest_array_json(const struct nest_report *report)
{
	const struct nest_projection *projection = report->projection;
	return json_pack("{s:[I, I], s:I, s:b, s:I, s:I, s:I, s:I, s:o, s:o}", "pes",
		(json_int_t)projection->extent[0], (json_int_t)projection->extent[1], "passes",
		(json_int_t)projection->passes, "overlap", projection->overlap, "steps",
		(json_int_t)projection->steps, "cycles_per_step", (json_int_t)projection->rate,
		"skew_cycles", (json_int_t)projection->skew_cycles, "load_cycles",
		(json_int_t)projection->load_cycles, "loops", nest_report_make_loops(report),
		"channels", make_channels(report));
}

enum { ROW_RUN, ROW_MULTIPLIERS, ROW_LEVELS }; /* from the last one on two for each level */

/* True if the loop is in a sum: of an axis (0, 1), else of time. */
static bool is_of(const struct nest_projected_loop *loop, int axis)
{
	return axis < 2 ? loop->space[axis] > 0 : !loop->space[0] && !loop->space[1];
}

/* Loops of the same dimension that its name could mean: anything in space, if it is of time. */
static int count_named(const struct nest_projection *projection, int k)
{
	const struct nest_projected_loop *loop = &projection->loops[k];
	int count = 0;
	for (int i = 0; i < projection->loop_count; i++)
		count += projection->loops[i].dimension == loop->dimension &&
			 (is_of(loop, 2) || !is_of(&projection->loops[i], 2));
	return count;
}

static void nest_report_add_term(struct text *text, bool *any, int64_t factor)
{
	text_add(text, *any ? " + " : " ");
	if (factor != 1)
		text_add(text, "%" PRId64 " ", factor);
	*any = true;
}

/* "X = N", "t = 4 K@buffer + K@register + X". */
static void nest_report_add_sum(struct text *text, const struct nest_report *report, int axis)
{
	const struct nest_projection *projection = report->projection;
	bool any = false, skewed[2] = {false, false};
	text_add(text, "%s =", axis < 2 ? axes[axis] : "t");
	for (int k = projection->loop_count - 1; k >= 0; k--) {
		const struct nest_projected_loop *loop = &projection->loops[k];
		for (int y = 0; y < 2; y++)
			skewed[y] |= loop->space[y] > 0 && loop->time > 0;
		if (!is_of(loop, axis))
			continue;
		nest_report_add_term(text, &any, axis < 2 ? loop->space[axis] : loop->time);
		text_add(text, "%s", report->shape->dimensions[loop->dimension].name);
		if (count_named(projection, k) > 1)
			text_add(text, "@%s", report->arch->levels[loop->row].name);
	}
	for (int y = 0; axis == 2 && y < 2; y++)
		if (skewed[y]) {
			nest_report_add_term(text, &any, 1);
			text_add(text, "%s", axes[y]);
		}
	if (!any)
		text_add(text, " 0");
}

/* "X = N; Y = M; t = 4 K@buffer + K@register + X". */
static const char *sums_text(struct arena *arena, const struct nest_report *report)
{
	struct text text = text_open(arena);
	for (int axis = 0; axis < 3; axis++) {
		nest_report_add_sum(&text, report, axis);
		text_add(&text, axis < 2 ? "; " : "");
	}
	return text_read(&text);
}

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
	return json_pack("{s:I, s:I, s:I}", "fill",
		(json_int_t)hierarchy->levels[i].store.fill_cycles, "drain",
		(json_int_t)hierarchy->levels[i].store.drain_cycles, "skew",
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

static void add_run_json(json_t *root, const struct nest_report *report)
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
		add_run_json(root, report);
	if (report->counted)
		add_counts(arena, root, report);
	return root;
}

static void add_blanks(struct text *text, int count)
{
	text_add(text, "%*s", count, "");
}

/* One loop: "for K in 0..2", with the length of a shorter last round. */
static void nest_report_add_loop(
	struct text *text, const struct nest_report *report, int r, bool spatial, int d, int depth)
{
	const struct mapping_row *row = &report->mapping->rows[r];
	const struct loop *dimension = &report->shape->dimensions[d];
	int64_t bound = spatial ? row->spatial[d] : row->temporal[d];
	int64_t last = mapping_last_round(report->mapping, r, spatial, d, dimension->extent);
	add_blanks(text, 2 * depth);
	text_add(text, "%s %s in 0..%" PRId64, spatial ? "at once" : "for", dimension->name, bound);
	if (spatial)
		text_add(text, row->spatial_y >> d & 1 ? " along Y" : " along X");
	if (last != bound)
		text_add(text, ", %" PRId64 " in the last round", last);
	text_add(text, "\n");
}

/* The loops of a row from the outermost to the innermost; the depth after them. */
static int add_loops(
	struct text *text, const struct nest_report *report, int r, bool spatial, int depth)
{
	const struct mapping_row *row = &report->mapping->rows[r];
	for (int i = report->mapping->loop_count - 1; i >= 0; i--) {
		int d = spatial ? row->spatial_order[i] : row->temporal_order[i];
		if ((spatial ? row->spatial[d] : row->temporal[d]) > 1)
			nest_report_add_loop(text, report, r, spatial, d, depth++);
	}
	return depth;
}

static void add_level_name(struct text *text, const struct nest_report *report, int r, int depth)
{
	add_blanks(text, 2 * depth);
	text_add(text, "%s keeps", report->arch->levels[r].name);
	int count = 0;
	for (int t = 0; t < report->shape->space_count; t++)
		if (report->mapping->residency[t] >> r & 1) {
			text_add(text, "%s %s", count ? "," : "", report->shape->spaces[t].name);
			count++;
		}
	text_add(text, count ? "\n" : " nothing\n");
}

static void nest_report_add_nest(struct text *text, const struct nest_report *report)
{
	int depth = 0;
	text_add(text, "\n");
	for (int r = 0; r < report->mapping->level_count; r++) {
		depth = add_loops(text, report, r, true, depth);
		if (domain_stores(report->arch, r) || mapping_has_loops(report->mapping, r))
			add_level_name(text, report, r, depth);
		depth = add_loops(text, report, r, false, depth);
	}
	add_blanks(text, 2 * depth);
	text_add(text, "%s\n", report->hierarchy->compute_name);
}

void nest_text_levels(struct text *text, const json_t *levels)
{
	static const struct result_column columns[] = {
		{"<level", "{name}", "  {.}"},
		{"instances", "{utilized_instances} of {instances}", NULL},
		{"cycles", "{cycles}", NULL},
		{"capacity", "", "{utilized_capacity}"},
		{"reads", "", "{reads}"},
		{"fills", "", "{fills}"},
		{"updates", "", "{updates}"},
		{"energy", "{energy_pj}", "{energy_pj}"},
		{NULL, NULL, NULL},
	};
	text_add(text, "\n");
	result_table(text, levels, columns, "dataspaces");
}

static const struct result_row nest_rows[] = {
	{"infeasible", "{why}", NULL},
	{"latency", "{latency_ns} ({cycles} cycles)", NULL},
	{"energy", "{energy_pj} ({energy_source})", NULL},
	{"computes", "{computes}", NULL},
	{"utilization", "{utilization%}", NULL},
	{"projection", "{sums}", NULL},
	{"channel", "{.} {kind}{along? along {along}}", "projection.channels"},
	{"array", "{projection.pes.0} x {projection.pes.1} PEs", NULL},
	{"passes",
		"{projection.passes}{projection.overlap?, overlapping}; steps in each: "
		"{projection.steps}; cycles in each step: {projection.cycles_per_step}",
		NULL},
	{"skew",
		"{projection.skew_cycles} cycles{projection.overlap? once| in each pass}; "
		"{projection.load_cycles} cycles of loading in all",
		NULL},
	{"counting", "{counting}", NULL},
	{"executed", "{finished?|no: {wrong}}", NULL},
	{"executed", "{events} events; the model {agrees?agrees|does not agree}", NULL},
	{"result", "{events?{right?{computed?right|not computed}|wrong: {wrong}}}", NULL},
	{"timing",
		"{timing.cycles} cycles: {timing.fill_cycles} before the first multiply-add, "
		"{timing.drain_cycles} after the last",
		NULL},
	{"waiting", "{timing.stall_cycles} cycles in between", NULL},
	{"", "{} of them for {.}", "timing.stalls_by_level"},
	{NULL, NULL, NULL},
};

const char *nest_text(struct arena *arena, const struct nest_report *report, const json_t *tree)
{
	struct text text = text_open(arena);
	json_t *shown = json_copy((json_t *)tree);
	if (report->projection)
		json_object_set_new(shown, "sums", json_string(sums_text(arena, report)));
	result_rows(&text, shown, nest_rows);
	nest_report_add_nest(&text, report);
	if (report->counted)
		nest_text_levels(&text, json_object_get(tree, "levels"));
	json_decref(shown);
	return text_read(&text);
}

static int nest_span_row(const struct nest_span *span)
{
	return span->work == NEST_COMPUTES
		       ? ROW_MULTIPLIERS
		       : ROW_LEVELS + 2 * span->level + (span->work == NEST_TILE);
}

/* Rows without anything in them are not named, and so not shown. */
static void name_rows(
	struct text *text, const struct hierarchy *hierarchy, const struct nest_trace *trace)
{
	bool used[ROW_LEVELS + 2 * ARCH_LEVELS_MOST] = {[ROW_RUN] = true};
	for (size_t i = 0; i < trace->spans.count; i++)
		used[nest_span_row(&trace->spans.at[i])] = true;
	trace_process(text, 0, "problem");
	trace_thread(text, 0, ROW_RUN, "run");
	trace_thread(text, 0, ROW_MULTIPLIERS, hierarchy->compute_name);
	for (int i = 0; i < hierarchy->level_count; i++) {
		const char *name = hierarchy->levels[i].name;
		if (used[ROW_LEVELS + 2 * i])
			trace_thread(text, 0, ROW_LEVELS + 2 * i, name);
		if (used[ROW_LEVELS + 2 * i + 1])
			trace_thread(text, 0, ROW_LEVELS + 2 * i + 1,
				arena_format(text->arena, "%s tiles", name));
	}
}

const char *nest_trace_json(struct arena *arena, const struct hierarchy *hierarchy,
	const struct nest_trace *trace, int64_t cycles)
{
	static const char *const names[] = {"compute", "fill", "drain", "wait", "tile"};
	struct text text = trace_open(arena);
	double us = hierarchy->clock_ns / 1e3, us_per_tick = us / (double)trace->ticks_per_cycle;
	name_rows(&text, hierarchy, trace);
	trace_event(&text, "run", 0, ROW_RUN, 0, (double)cycles * us,
		json_pack("{s:I}", "cycles", (json_int_t)cycles));
	for (size_t i = 0; i < trace->spans.count; i++) {
		const struct nest_span *span = &trace->spans.at[i];
		trace_event(&text, names[span->work], 0, nest_span_row(span),
			(double)span->from * us_per_tick,
			(double)(span->to - span->from) * us_per_tick, json_object());
	}
	return trace_end(&text);
}

/* Counts of a dataspace in one utilized instance; averages if instances differ. */
struct instance_share {
	double reads, fills, updates, accesses, cycles, clusters, instances;
};

static double nest_report_part(int64_t total, double instances)
{
	return floor((double)total / instances + 0.5);
}

static struct instance_share share_of(const struct nest_report *report, int i, int t)
{
	const struct nest_count *count = &report->counts->at[i][t];
	const struct nest_level *level = &report->hierarchy->levels[i];
	double instances = (double)number_max(1, report->counts->utilized[i]);
	struct instance_share share = {.reads = nest_report_part(count->reads, instances),
		.fills = nest_report_part(count->fills, instances),
		.updates = nest_report_part(count->updates, instances),
		.cycles = (double)number_max(1, report->score->level_cycles[i]),
		.clusters = ceil(instances / (double)number_max(1, level->store.cluster_size)),
		.instances = instances};
	share.accesses = share.reads + share.fills + share.updates;
	return share;
}

static const char *size_text(struct arena *arena, int64_t words)
{
	return words ? arena_format(arena, "%" PRId64, words) : "-";
}

static const char *rate_text(struct arena *arena, const struct ratio *rate)
{
	return rate->num ? arena_format(arena, "%.2f", ratio_double(*rate)) : "-";
}

static const char *instances_text(struct arena *arena, int64_t x, int64_t y)
{
	return arena_format(arena, "%" PRId64 " (%" PRId64 "*%" PRId64 ")", x * y, x, y);
}

/* --- levels */

static void add_title(struct text *text, int number, const char *name)
{
	const char *level = arena_format(text->arena, "Level %d", number);
	text_add(text, "%s\n%.*s\n=== %s ===\n\n    SPECS\n    -----\n", level, (int)strlen(level),
		"--------------------", name);
}

static void add_multipliers(struct text *text, const struct nest_report *report)
{
	const struct hierarchy *hierarchy = report->hierarchy;
	const struct level *row = &report->arch->levels[hierarchy->compute_row];
	add_title(text, 0, hierarchy->compute_name);
	text_add(text, "    Word bits             : %" PRId64 "\n", level_compute(row)->word_bits);
	text_add(text, "    Instances             : %s\n",
		instances_text(text->arena, hierarchy->compute_mesh_x, hierarchy->compute_mesh_y));
	text_add(text, "    Compute energy        : %.2f pJ\n", hierarchy->compute_pj);
	text_add(text, "\n    STATS\n    -----\n");
	text_add(text, "    Utilized instances      : %" PRId64 "\n",
		report->counts->utilized_computes);
	text_add(text, "    Computes (total)        : %" PRId64 "\n", report->counts->computes);
	text_add(text, "    Cycles                  : %" PRId64 "\n",
		report->counts->compute_cycles);
	text_add(text, "    Energy (total)          : %.2f pJ\n", report->score->compute_pj);
	text_add(text, "    Area (total)            : 0.00 um^2\n\n");
}

static void add_specs(struct text *text, const struct nest_report *report, int i)
{
	const struct nest_level *level = &report->hierarchy->levels[i];
	const struct nest_level *gate = &report->hierarchy->levels[level->gated_at];
	struct arena *arena = text->arena;
	int64_t instances = level->mesh_x * level->mesh_y, gates = gate->mesh_x * gate->mesh_y;
	bool endless = !level->store.entries && !level->store.no_room;
	double most = fmax(level->energies.pj[NEST_READ],
		fmax(level->energies.pj[NEST_FILL], level->energies.pj[NEST_UPDATE]));
	const char *const lines[][2] = {
		{"Technology", endless ? "DRAM" : "SRAM"},
		{"Size", endless ? "-" : arena_format(arena, "%" PRId64, level->store.entries)},
		{"Word bits", arena_format(arena, "%" PRId64, level->store.word_bits)},
		{"Block size", arena_format(arena, "%" PRId64, level->store.block_words)},
		{"Cluster size", arena_format(arena, "%" PRId64, level->store.cluster_size)},
		{"Instances", instances_text(arena, level->mesh_x, level->mesh_y)},
		{"Shared bandwidth", rate_text(arena, &level->store.shared_rate)},
		{"Read bandwidth", rate_text(arena, &level->store.read_rate)},
		{"Write bandwidth", rate_text(arena, &level->store.write_rate)},
		{"Multiple buffering",
			arena_format(arena, "%.2f", level->store.multiple_buffering)},
		{"Effective size", size_text(arena, level->size)},
		{"Min utilization", arena_format(arena, "%.2f", level->store.least_utilization)},
		{"Vector access energy",
			arena_format(arena, "%.2f pJ",
				most / (double)number_max(1, level->store.cluster_size))},
		{"Vector access energy source", level->energy_source ? level->energy_source : "-"},
		{"Per-instance-cycle leakage",
			arena_format(arena, "%.2f pJ", level->energies.leak_pj)},
		{"Instances sharing power gating",
			arena_format(
				arena, "%.2f", (double)instances / (double)number_max(1, gates))},
		{"Non-power-gated utilization",
			arena_format(arena, "%.2f%%",
				level->gated_at == i
					? 100
					: 100 * (double)report->counts->utilized[level->gated_at] /
						  (double)number_max(1, gates))},
		{"Leakage energy (total)",
			arena_format(arena, "%.2f pJ", report->score->leak_pj[i])},
		{"Area", "0.00 um^2"},
	};
	for (size_t k = 0; k < sizeof lines / sizeof *lines; k++)
		text_add(text, "        %-31s : %s\n", lines[k][0], lines[k][1]);
}

static void add_count(struct text *text, const char *name, double count)
{
	text_add(text, "        %-40s : %.0f\n", name, count);
}

static void add_energy(struct text *text, const char *name, double pj)
{
	text_add(text, "        %-40s : %.2f pJ\n", name, pj);
}

/* Words each cycle of one instance and of all. */
static void add_rate(
	struct text *text, const char *name, double words, const struct instance_share *share)
{
	double rate = words / share->cycles;
	text_add(text, "        %-40s : %.2f words/cycle\n",
		arena_format(text->arena, "%s (per-instance)", name), rate);
	text_add(text, "        %-40s : %.2f words/cycle\n",
		arena_format(text->arena, "%s (total)", name), rate * share->instances);
}

static void add_space_timeloop(struct text *text, const struct nest_report *report, int i, int t)
{
	const struct dataspace *space = &report->shape->spaces[t];
	struct instance_share share = share_of(report, i, t);
	double pj = report->score->space_pj[i][t];
	text_add(text, "    %s:\n", space->name);
	add_count(text, "Utilized capacity", (double)report->counts->at[i][t].capacity);
	add_count(text, "Utilized instances (max)", share.instances);
	add_count(text, "Utilized clusters (max)", share.clusters);
	add_count(text, "Scalar reads (per-instance)", share.reads);
	add_count(text, "Scalar fills (per-instance)", share.fills);
	add_count(text, "Scalar updates (per-instance)", share.updates);
	add_count(text, "Temporal reductions (per-instance)", space->written ? share.reads : 0);
	add_count(text, "Address generations (per-cluster)",
		share.fills + (space->written ? share.updates : share.reads));
	add_energy(text, "Energy (per-scalar-access)",
		share.accesses > 0 ? pj / share.instances / share.accesses : 0);
	add_energy(text, "Energy (per-instance)", pj / share.instances);
	add_energy(text, "Energy (total)", pj);
	add_energy(text, "Temporal Reduction Energy (per-instance)", 0);
	add_energy(text, "Temporal Reduction Energy (total)", 0);
	add_energy(text, "Address Generation Energy (per-cluster)", 0);
	add_energy(text, "Address Generation Energy (total)", 0);
	text_add(text, "        %-40s : %.2f\n", "Bandwidth Consumption Scale",
		report->hierarchy->levels[i].rate_scale[t]);
	add_rate(text, "Shared Bandwidth", share.accesses, &share);
	add_rate(text, "Read Bandwidth", share.reads, &share);
	add_rate(text, "Write Bandwidth", share.fills + share.updates, &share);
}

static void add_level_timeloop(
	struct text *text, const struct nest_report *report, int i, int number)
{
	const struct nest_score *score = report->score;
	const struct nest_level *level = &report->hierarchy->levels[i];
	add_title(text, number, level->name);
	add_specs(text, report, i);
	text_add(text, "\n    STATS\n    -----\n");
	text_add(text, "    Cycles               : %" PRId64 "\n", score->level_cycles[i]);
	text_add(text, "    Bandwidth throttling : %.2f\n",
		fmin(1, (double)report->counts->compute_cycles /
				(double)number_max(1, score->level_cycles[i])));
	for (int t = 0; t < report->shape->space_count; t++)
		if (report->mapping->residency[t] >> level->row & 1)
			add_space_timeloop(text, report, i, t);
	text_add(text, "\n");
}

/* --- networks and sums */

static const char *network_name(struct arena *arena, const struct nest_report *report, int i)
{
	const struct hierarchy *hierarchy = report->hierarchy;
	return arena_format(arena, "%s <==> %s",
		i ? hierarchy->levels[i - 1].name : hierarchy->compute_name,
		hierarchy->levels[i].name);
}

static void add_networks(struct text *text, const struct nest_report *report)
{
	int number = 0;
	text_add(text, "Networks\n--------\n");
	for (int i = 0; i < report->hierarchy->level_count; i++)
		if (report->score->network_pj[i] != 0)
			text_add(text,
				"Network %d\n---------\n%s\n\n    STATS\n    -----\n"
				"    Energy (total) : %.2f pJ\n\n",
				number++, network_name(text->arena, report, i),
				report->score->network_pj[i]);
	text_add(text, "\n");
}

/* Elements of a dataspace: ranks are independent of each other here, as in Timeloop. */
static double shape_words(const struct shape *shape, int t)
{
	double words = 1;
	for (int r = 0; r < shape->spaces[t].rank_count; r++) {
		double extent = 1;
		for (int d = 0; d < shape->dimension_count; d++)
			extent += (double)shape->spaces[t].ranks[r].coefficient[d] *
				  (double)(shape->dimensions[d].extent - 1);
		words *= extent;
	}
	return words;
}

/* Operations a byte as Timeloop has them: in single precision, of whole bytes.  0.155 prints 0.16. */
static double per_byte(double ops, double words, const struct nest_level *level)
{
	return (double)((float)ops / (float)floor(words * (double)level->store.word_bits / 8));
}

/* Additions of products, without the first of each sum; the answer is all operations. */
static double add_operations(struct text *text, const struct nest_report *report)
{
	const struct hierarchy *hierarchy = report->hierarchy;
	const struct nest_level *outer = &hierarchy->levels[hierarchy->level_count - 1];
	double computes = (double)report->counts->computes, reductions = computes, words = 0;
	for (int t = 0; t < report->shape->space_count; t++) {
		words += shape_words(report->shape, t);
		reductions -= report->shape->spaces[t].written ? shape_words(report->shape, t) : 0;
	}
	text_add(text, "Operational Intensity Stats\n---------------------------\n");
	text_add(text, "    Total elementwise ops                   : %.0f\n", computes);
	text_add(text, "    Total reduction ops                     : %.0f\n", reductions);
	text_add(text, "    Total ops                               : %.0f\n",
		computes + reductions);
	text_add(text, "    Total memory accesses required          : %.0f\n", words);
	text_add(text, "    Optimal Op per Byte                     : %.2f\n\n",
		per_byte(computes + reductions, words, outer));
	return computes + reductions;
}

static void add_intensity(struct text *text, const struct nest_report *report, int i, double ops)
{
	const struct nest_level *level = &report->hierarchy->levels[i];
	double accesses = 0;
	text_add(text, "=== %s ===\n", level->name);
	for (int t = 0; t < report->shape->space_count; t++)
		if (report->mapping->residency[t] >> level->row & 1) {
			const struct nest_count *count = &report->counts->at[i][t];
			accesses += (double)count->reads + (double)count->fills +
				    (double)count->updates;
		}
	if (accesses <= 0)
		return;
	text_add(text, "    Total scalar accesses                   : %.0f\n", accesses);
	text_add(text, "    Op per Byte                             : %.2f\n",
		per_byte(ops, accesses, level));
}

/* Energies of a compute, of each part and together; names stand in a column as wide as the longest of a network. */
static void add_energies(struct text *text, const struct nest_report *report)
{
	const struct hierarchy *hierarchy = report->hierarchy;
	const struct nest_score *score = report->score;
	double computes = (double)number_max(1, report->counts->computes) / 1e3;
	int wide = (int)strlen(hierarchy->compute_name);
	for (int i = 0; i < hierarchy->level_count; i++)
		wide = (int)number_max(wide, (int64_t)strlen(network_name(text->arena, report, i)));
	text_add(text, "Computes = %" PRId64 "\nfJ/Compute\n", report->counts->computes);
	text_add(text, "    %-*s = %.2f\n", wide, hierarchy->compute_name,
		score->compute_pj / computes);
	for (int i = 0; i < hierarchy->level_count; i++)
		if (nest_report_shows(report, i))
			text_add(text, "    %-*s = %.2f\n", wide, hierarchy->levels[i].name,
				score->level_pj[i] / computes);
	for (int i = 0; i < hierarchy->level_count; i++)
		if (score->network_pj[i] != 0)
			text_add(text, "    %-*s = %.2f\n", wide,
				network_name(text->arena, report, i),
				score->network_pj[i] / computes);
	text_add(text, "    %-*s = %.2f\n\n", wide, "Total", score->energy_pj / computes);
}

const char *nest_timeloop(struct arena *arena, const struct nest_report *report)
{
	struct text text = text_open(arena);
	const struct nest_score *score = report->score;
	text_add(&text, "Buffer and Arithmetic Levels\n----------------------------\n");
	add_multipliers(&text, report);
	for (int i = 0, number = 0; i < report->hierarchy->level_count; i++) {
		number++;
		if (nest_report_shows(report, i))
			add_level_timeloop(&text, report, i, number);
	}
	add_networks(&text, report);
	double ops = add_operations(&text, report);
	for (int i = 0; i < report->hierarchy->level_count; i++)
		add_intensity(&text, report, i, ops);
	text_add(&text, "\n\nSummary Stats\n-------------\n");
	text_add(&text, "GFLOPs (@1GHz): %.2f\n",
		(double)((float)ops / (float)number_max(1, score->cycles)));
	text_add(&text, "Utilization: %.2f%%\n", 100 * score->utilization);
	text_add(&text, "Cycles: %" PRId64 "\n", score->cycles);
	text_add(&text, "Energy: %.2f uJ\n", score->energy_pj / 1e6);
	text_add(&text, "EDP(J*cycle): %.2e\n",
		(double)(float)score->cycles * score->energy_pj / 1e12);
	text_add(&text, "Area: 0.00 mm^2\n\n");
	add_energies(&text, report);
	return text_read(&text);
}
