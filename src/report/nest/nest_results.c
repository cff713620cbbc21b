#include "report/nest/nest_results.h"

#include "base/amount.h"
#include "base/arena.h"
#include "base/text.h"
#include "model/nest/nest_mapping.h"
#include "report/run/json_text.h"
#include "report/run/listing.h"
#include "report/run/pareto.h"
#include "report/run/run_json.h"
#include "report/run/summary.h"
#include "search/drive/solver.h"

#include <inttypes.h>

void nest_row_add(struct text *text, const struct nest_search *search, size_t number,
	const struct nest_row *row)
{
	const struct objectives *objectives = &search->wishes.objectives;
	bool clocked = row->found->execution.mode == SIM_DATA;
	struct pareto_row common = {
		.groups = PARETO_TIME | PARETO_ENERGY | PARETO_USE | (clocked ? PARETO_CLOCKED : 0),
		.score = row->score,
		.found = row->found,
		.nanoseconds = (double)row->score->cycles * search->hierarchy->clock_ns,
		.solver = row->solver,
		.mapping = row->mapping,
		.plan = row->plan,
	};
	pareto_add(text, number, &common);
	for (size_t k = 0; k < objectives->count; k++)
		if (objectives->at[k] >= OBJECTIVE_ACCESSES)
			text_add(text, ",%" PRId64,
				row->score->accesses[objectives->at[k] - OBJECTIVE_ACCESSES]);
	text_add(text, "\n");
}

void nest_row_head(struct text *text, const struct nest_search *search)
{
	const struct objectives *objectives = &search->wishes.objectives;
	pareto_head(text);
	for (size_t k = 0; k < objectives->count; k++)
		if (objectives->at[k] >= OBJECTIVE_ACCESSES)
			text_add(text, ",%s",
				nest_objective_text(
					text->arena, objectives->at[k], search->hierarchy));
	text_add(text, "\n");
}

static struct nest_row row_of(const struct point *point, const char *plan)
{
	const struct found *found = point->payload;
	return (struct nest_row){&point->score, found, found->solver, point->key, plan};
}

const char *nest_pareto_csv(
	struct arena *arena, const struct nest_search *search, const struct explored *explored)
{
	struct text text = text_open(arena);
	nest_row_head(&text, search);
	for (size_t i = 0; i < explored->frontier.count; i++) {
		struct nest_row row =
			row_of(&explored->frontier.points[i], pareto_plan_path(arena, i));
		nest_row_add(&text, search, i + 1, &row);
	}
	return text_read(&text);
}

void nest_cells_add(struct listing *listing, struct arena *arena, size_t number,
	const struct score *score, const struct found *found)
{
	const struct execution *execution = &found->execution;
	const char *ratio = "-";
	if (execution->finished && execution->mode == SIM_DATA)
		ratio = arena_format(arena, "%.3f%s", execution_ratio(execution, score->cycles),
			execution->agrees ? "" : " !");
	listing_cell(listing, "%zu", number);
	listing_cell(listing, "%" PRId64, score->cycles);
	listing_cell(listing, "%s", amount_text(arena, AMOUNT_ENERGY, score->energy_pj));
	listing_cell(listing, "%.1f %%", 100 * score->utilization);
	listing_cell(listing, "%s", ratio);
	listing_cell(listing, "%s", execution->finished ? execution_name(execution) : "-");
	listing_cell(listing, "%s", proof_names[found->proof]);
}

const char *nest_pareto_table(struct arena *arena, const struct nest_search *search,
	const struct explored *explored, bool all)
{
	static const char *const titles[] = {NEST_TITLES, "<mapping", NULL};
	const struct frontier *frontier = &explored->frontier;
	struct listing *listing = listing_open(arena, titles);
	bool *shown = arena_array(arena, bool, frontier->count);
	summary_choose(frontier, shown);
	for (size_t i = 0; i < frontier->count; i++) {
		const struct point *point = &frontier->points[i];
		if (!all && !shown[i])
			continue;
		nest_cells_add(listing, arena, i + 1, &point->score, point->payload);
		listing_cell(listing, "%s", point->key);
	}
	const char *text = listing_text(listing);
	return all || frontier->count <= SUMMARY_ROWS
		       ? text
		       : arena_format(arena, "%s%zu more points: pareto.csv, or -v\n", text,
				 frontier->count - SUMMARY_ROWS);
}

/* The level, or the multipliers, that a mapping waits for. */
static const char *limit_of(const struct nest_search *search, const struct nest_found *found)
{
	const struct nest_score *score = &found->score;
	const char *name = "computes";
	int64_t most = found->counts.compute_cycles;
	for (int i = 0; i < search->hierarchy->level_count; i++)
		if (score->level_cycles[i] > most) {
			most = score->level_cycles[i];
			name = search->hierarchy->levels[i].name;
		}
	return name;
}

static struct summary_point point_at(struct arena *arena, const struct nest_search *search,
	const struct frontier *frontier, enum objective objective)
{
	size_t i = summary_least(frontier, objective);
	const struct point *point = &frontier->points[i];
	const struct nest_found *found = point->payload;
	return (struct summary_point){i + 1,
		(double)point->score.cycles * search->hierarchy->clock_ns, point->score.energy_pj,
		summary_proof(arena, &found->common,
			objective_value(frontier->objectives.at[0], &point->score)),
		limit_of(search, found)};
}

const char *nest_points_summary(
	struct arena *arena, const struct nest_search *search, const struct explored *explored)
{
	const struct frontier *frontier = &explored->frontier;
	struct summary_point fastest, leanest;
	if (!frontier->count || frontier->objectives.at[0] != OBJECTIVE_LATENCY)
		return NULL;
	fastest = point_at(arena, search, frontier, OBJECTIVE_LATENCY);
	leanest = point_at(arena, search, frontier, OBJECTIVE_ENERGY);
	return summary_text(arena, &fastest,
		objectives_have(&frontier->objectives, OBJECTIVE_ENERGY) ? &leanest : NULL);
}

const char *nest_plan_yaml(
	struct arena *arena, const struct nest_search *search, const struct point *point)
{
	const struct nest_found *found = point->payload;
	struct text key = text_open(arena);
	utf8_escape(&key, point->key);
	return arena_format(arena,
		"# %s\n# %" PRId64 " cycles, %.17g pJ (%s counting), by %s, proof: %s\n%s",
		text_read(&key), point->score.cycles, point->score.energy_pj,
		counting_names[search->counting], found->common.solver,
		proof_names[found->common.proof],
		nest_mapping_write(arena, search->arch, search->shape, &found->mapping));
}

static json_t *make_points(const struct explored *explored)
{
	json_t *list = json_array();
	for (size_t i = 0; i < explored->frontier.count; i++) {
		const struct point *point = &explored->frontier.points[i];
		const struct found *found = point->payload;
		json_t *entry = json_pack("{s:I, s:s, s:s}", "point", (json_int_t)i + 1, "solver",
			found->solver, "mapping", point->key);
		if (found->execution.finished)
			json_object_set_new(
				entry, "executed", json_string(execution_name(&found->execution)));
		json_array_append_new(list, entry);
	}
	return list;
}

/* Bounds of each objective alone; null where none is known, and where nothing better is left. */
static json_t *make_bounds(
	struct arena *arena, const struct nest_search *search, const struct explored *explored)
{
	const struct objectives *objectives = &search->wishes.objectives;
	const double *bounds = objectives->count > 1 ? explored->bounds : &explored->bound;
	json_t *object = json_object();
	for (size_t k = 0; k < objectives->count; k++)
		json_object_set_new(object,
			nest_objective_text(arena, objectives->at[k], search->hierarchy),
			!explored->complete && bounds[k] > 0 ? json_real(bounds[k]) : json_null());
	return object;
}

const char *nest_run_json(struct arena *arena, const struct run_record *record,
	const struct nest_search *search, const struct explored *explored)
{
	struct space_sizes sizes = space_sizes(search->space, arena);
	json_t *root = run_head(record, arena), *space = json_object();
	for (int c = 0; c < CHOICE_COUNT; c++)
		json_object_set_new(space, space_choice_names[c], json_string(sizes.choices[c]));
	json_object_set_new(space, "all", json_string(sizes.all));
	json_object_set_new(root, "mapspace", space);
	json_object_set_new(root, "energy_source", json_string(search->hierarchy->energy_source));
	json_object_set_new(root, "start",
		search->start ? json_string(nest_mapping_print(
					arena, search->arch, search->shape, search->start))
			      : json_null());
	json_object_set_new(root, "counters", run_counters(&explored->effort));
	json_object_set_new(root, "complete", json_boolean(explored->complete));
	json_object_set_new(root, "bounds", make_bounds(arena, search, explored));
	json_object_set_new(root, "certificate",
		record->certificate ? json_string(record->certificate) : json_null());
	json_object_set_new(root, "points", make_points(explored));
	return json_text(arena, root);
}
