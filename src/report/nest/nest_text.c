#include "base/amount.h"
#include "base/arena.h"
#include "base/text.h"
#include "model/machine/mapping_notation.h"
#include "model/nest/domain.h"
#include "report/nest/nest_array_report.h"

#include <inttypes.h>

static void add_blanks(struct text *text, int count)
{
	text_add(text, "%*s", count, "");
}

/* One loop: "for K in 0..2", with the length of a shorter last round. */
static void add_loop(
	struct text *text, const struct nest_report *report, int r, bool spatial, int d, int depth)
{
	const struct mapping_row *row = &report->mapping->rows[r];
	const struct dimension *dimension = &report->shape->dimensions[d];
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
			add_loop(text, report, r, spatial, d, depth++);
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

static bool has_loops(const struct nest_report *report, int r)
{
	bool any = false;
	for (int d = 0; d < report->shape->dimension_count; d++)
		any |= report->mapping->rows[r].temporal[d] > 1;
	return any;
}

static void add_nest(struct text *text, const struct nest_report *report)
{
	int depth = 0;
	text_add(text, "\n");
	for (int r = 0; r < report->mapping->level_count; r++) {
		depth = add_loops(text, report, r, true, depth);
		if (domain_stores(report->arch, r) || has_loops(report, r))
			add_level_name(text, report, r, depth);
		depth = add_loops(text, report, r, false, depth);
	}
	add_blanks(text, 2 * depth);
	text_add(text, "%s\n", report->hierarchy->compute_name);
}

static void add_space(struct text *text, const struct nest_report *report, int level, int t)
{
	const struct nest_count *count = &report->counts->at[level][t];
	int64_t instances = number_max(1, report->counts->utilized[level]);
	struct arena *arena = text->arena;
	text_add(text, "  %-14s %10s %12" PRId64 " %12s %12s %12s %14.1f\n",
		report->shape->spaces[t].name, "", count->capacity,
		nest_share_text(arena, count->reads, instances),
		nest_share_text(arena, count->fills, instances),
		nest_share_text(arena, count->updates, instances),
		report->score->space_pj[level][t]);
}

static void add_level(struct text *text, const struct nest_report *report, int i)
{
	const struct nest_level *level = &report->hierarchy->levels[i];
	const struct nest_score *score = report->score;
	text_add(text, "%-16s %4" PRId64 " of %-4" PRId64 " %10" PRId64 " cycles %34s %14.1f\n",
		level->name, report->counts->utilized[i], level->mesh_x * level->mesh_y,
		score->level_cycles[i], "", score->level_pj[i]);
	for (int t = 0; t < report->shape->space_count; t++)
		if (report->mapping->residency[t] >> level->row & 1)
			add_space(text, report, i, t);
}

void nest_text_levels(struct text *text, const struct nest_report *report)
{
	const struct hierarchy *hierarchy = report->hierarchy;
	text_add(text, "\n%-16s %10s %12s %12s %12s %12s %14s\n", "level", "instances", "capacity",
		"reads", "fills", "updates", "pJ");
	text_add(text, "%-16s %4" PRId64 " of %-4" PRId64 " %10" PRId64 " cycles %34s %14.1f\n",
		hierarchy->compute_name, report->counts->utilized_computes,
		hierarchy->compute_mesh_x * hierarchy->compute_mesh_y,
		report->counts->compute_cycles, "", report->score->compute_pj);
	for (int i = 0; i < hierarchy->level_count; i++)
		if (nest_report_shows(report, i))
			add_level(text, report, i);
}

static void add_totals(struct text *text, const struct nest_report *report)
{
	const struct nest_score *score = report->score;
	text_add(text, "latency      %s (%" PRId64 " cycles)\n",
		amount_text(text->arena, AMOUNT_TIME,
			(double)score->cycles * report->hierarchy->clock_ns),
		score->cycles);
	text_add(text, "energy       %s (%s)\n",
		amount_text(text->arena, AMOUNT_ENERGY, score->energy_pj),
		report->hierarchy->energy_source);
	text_add(text, "computes     %" PRId64 "\n", report->counts->computes);
	text_add(text, "utilization  %.1f %%\n", 100 * score->utilization);
	if (report->projection)
		nest_array_text(text, report);
}

static void add_run(struct text *text, const struct nest_report *report)
{
	const struct nest_outcome *run = report->run;
	if (!run->finished) {
		text_add(text, "executed     no: %s\n", run->wrong);
		return;
	}
	text_add(text, "executed     %" PRIu64 " events; the model %s\n", run->events,
		run->agrees ? "agrees" : "does not agree");
	if (run->right)
		text_add(text, "result       %s\n", run->data ? "right" : "not computed");
	else
		text_add(text, "result       wrong: %s\n", run->wrong);
	text_add(text,
		"timing       %" PRId64 " cycles: %" PRId64
		" before the first multiply-add, %" PRId64 " after the last, %" PRId64
		" waiting between\n",
		run->cycles, run->fill_cycles, run->drain_cycles, run->stall_cycles);
}

const char *nest_text(struct arena *arena, const struct nest_report *report)
{
	struct text text = text_open(arena);
	if (report->why)
		text_add(&text, "infeasible   %s\n", report->why);
	if (report->counted)
		add_totals(&text, report);
	text_add(&text, "counting     %s\n", counting_names[report->counting]);
	if (report->run)
		add_run(&text, report);
	add_nest(&text, report);
	if (report->counted)
		nest_text_levels(&text, report);
	return text_read(&text);
}
