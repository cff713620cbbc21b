#include "report/nest/nest_results.h"

#include "base/amount.h"
#include "base/arena.h"
#include "base/number.h"
#include "base/text.h"
#include "model/nest/nest_mapping.h"
#include "report/run/json.h"
#include "report/run/listing.h"
#include "report/run/pareto.h"
#include "search/drive/solver.h"
#include "spec/node.h"

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

static struct nest_row point_row(const struct point *point, const char *plan)
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
			point_row(&explored->frontier.points[i], pareto_plan_path(arena, i));
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
	listing_cell(listing, "%s", amount_share(arena, score->utilization));
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

void nest_record_fill(
	struct run_record *record, const struct nest_search *search, struct arena *arena)
{
	record->objectives = nest_objectives_texts(arena, search);
	record->counting = counting_names[search->counting];
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

static json_t *make_layer(struct arena *arena, const struct network_explored *explored, size_t l)
{
	const struct network *network = explored->search->network;
	const struct layer *layer = &network->layers[l];
	const struct explored *found = &explored->layers[l];
	json_t *object = json_pack("{s:s, s:I, s:I, s:b}", "layer", layer->name, "count",
		(json_int_t)layer->count, "points", (json_int_t)found->frontier.count, "complete",
		found->complete);
	if (layer->same_as != l) {
		json_object_set_new(
			object, "same_as", json_string(network->layers[layer->same_as].name));
		return object;
	}
	struct space_sizes sizes = space_sizes(explored->search->layers[l]->space, arena);
	json_object_set_new(object, "mapspace", json_string(sizes.all));
	json_object_set_new(object, "counters", run_counters(&found->effort));
	return object;
}

const char *network_run_json(struct arena *arena, const struct run_record *record,
	const struct network_explored *explored, size_t chosen)
{
	const struct network *network = explored->search->network;
	json_t *root = run_head(record, arena), *layers = json_array();
	for (size_t l = 0; l < network->layer_count; l++)
		json_array_append_new(layers, make_layer(arena, explored, l));
	json_object_set_new(root, "network",
		json_pack("{s:s, s:I, s:I, s:I, s:I}", "name", network->name, "occurrences",
			(json_int_t)network_occurrences(network), "layers",
			(json_int_t)network->layer_count, "solved", (json_int_t)network->distinct,
			"cache_hits", (json_int_t)(network->layer_count - network->distinct)));
	json_object_set_new(root, "energy_source",
		json_string(explored->search->layers[0]->hierarchy->energy_source));
	json_object_set_new(root, "counters", run_counters(&explored->total.effort));
	json_object_set_new(root, "complete", json_boolean(explored->total.complete));
	json_object_set_new(root, "sums",
		json_pack("{s:I, s:I, s:f}", "formed", (json_int_t)explored->sums.formed, "points",
			(json_int_t)explored->sums.count, "excess", explored->sums.excess));
	if (explored->least_edp != SIZE_MAX)
		json_object_set_new(
			root, "least_edp", json_integer((json_int_t)explored->least_edp + 1));
	if (chosen != SIZE_MAX)
		json_object_set_new(root, "chosen", json_integer((json_int_t)chosen + 1));
	json_object_set_new(root, "layers", layers);
	return json_text(arena, root);
}

/* Lines of a frontier that people are shown. */
enum { LINES_MOST = 20 };

/* Returns the least value of each count over the points of a layer. */
static struct score frontier_least(const struct frontier *frontier)
{
	struct score least = frontier->points[0].score;
	for (size_t i = 1; i < frontier->count; i++) {
		const struct score *score = &frontier->points[i].score;
		least.cycles = number_min(least.cycles, score->cycles);
		if (score->energy_pj < least.energy_pj)
			least.energy_pj = score->energy_pj;
	}
	return least;
}

static void network_explored_add_layer(struct listing *listing, struct arena *arena,
	const struct network_explored *explored, size_t l)
{
	const struct network *network = explored->search->network;
	const struct layer *layer = &network->layers[l];
	const struct frontier *frontier = &explored->layers[l].frontier;
	const struct found *found = frontier->count ? frontier->points[0].payload : NULL;
	struct score least = frontier->count ? frontier_least(frontier) : (struct score){0};
	listing_cell(listing, "%s", layer->name);
	listing_cell(listing, "%" PRId64, layer->count);
	listing_cell(listing, "%zu", frontier->count);
	listing_cell(listing, "%s", found ? arena_format(arena, "%" PRId64, least.cycles) : "-");
	listing_cell(
		listing, "%s", found ? amount_text(arena, AMOUNT_ENERGY, least.energy_pj) : "-");
	listing_cell(listing, "%s", found ? proof_names[found->proof] : "-");
	listing_cell(listing, "%s",
		layer->same_as != l
			? arena_format(arena, "as %s", network->layers[layer->same_as].name)
			: "");
}

static const char *layers_table(struct arena *arena, const struct network_explored *explored)
{
	static const char *const titles[] = {
		"<layer", "count", "points", "least cycles", "least energy", "proof", "<", NULL};
	struct listing *listing = listing_open(arena, titles);
	for (size_t l = 0; l < explored->search->network->layer_count; l++)
		network_explored_add_layer(listing, arena, explored, l);
	return listing_text(listing);
}

const char *network_table(
	struct arena *arena, const struct network_explored *explored, size_t chosen)
{
	static const char *const titles[] = {NEST_TITLES, "<", NULL};
	struct text text = text_open(arena);
	text_add(&text, "%s", layers_table(arena, explored));
	if (!explored->sums.count)
		return text_read(&text);
	struct listing *listing = listing_open(arena, titles);
	size_t shown = 0;
	for (size_t i = 0; i < explored->sums.count; i++) {
		if (!network_shows(explored, i, chosen, LINES_MOST))
			continue;
		struct network_point point = network_point(explored, i, arena);
		nest_cells_add(listing, arena, i + 1, &point.score, &point.common);
		listing_cell(listing, "%s%s%s", i == explored->least_edp ? "least edp" : "",
			i == explored->least_edp && i == chosen ? ", " : "",
			i == chosen ? "chosen" : "");
		shown++;
	}
	text_add(&text, "\n%s", listing_text(listing));
	if (shown < explored->sums.count)
		text_add(&text, "%zu of %zu points; pareto.csv has all\n", shown,
			explored->sums.count);
	return text_read(&text);
}

/* Points are sorted by the first objective, and no two are equal in both. */
const char *network_summary(
	struct arena *arena, const struct network_explored *explored, size_t *proven)
{
	const struct nest_search *first = explored->search->layers[0];
	const struct objectives *objectives = &explored->search->wishes.objectives;
	struct summary_point points[2];
	bool latency = objectives->at[0] == OBJECTIVE_LATENCY;
	bool energy = objectives_have(objectives, OBJECTIVE_ENERGY);
	size_t count = explored->sums.count;
	struct arena *scratch = arena_open();
	*proven = 0;
	for (size_t i = 0; i < count; i++) {
		struct arena_mark mark = arena_mark(scratch);
		struct network_point point = network_point(explored, i, scratch);
		*proven += point.common.proof == PROOF_OPTIMAL;
		if (i == 0 || i + 1 == count)
			points[i > 0] = (struct summary_point){i + 1,
				(double)point.score.cycles * first->hierarchy->clock_ns,
				point.score.energy_pj,
				point.common.proof == PROOF_OPTIMAL ? "proven" : "not proven", ""};
		arena_release(scratch, mark);
	}
	arena_close(scratch);
	if (!count || !latency)
		return NULL;
	return summary_text(arena, &points[0], energy ? &points[count > 1] : NULL);
}

const char *network_choice_text(
	struct arena *arena, const struct network_explored *explored, size_t i)
{
	const struct network *network = explored->search->network;
	struct network_point point = network_point(explored, i, arena);
	struct text text = text_open(arena);
	text_add(&text, "%-24s %6s %7s %14s %12s  %s\n", "layer", "count", "point", "cycles",
		"energy", "mapping");
	for (size_t l = 0; l < network->layer_count; l++)
		for (size_t p = 0; p < explored->layers[l].frontier.count; p++) {
			const struct point *of = &explored->layers[l].frontier.points[p];
			if (point.taken[l][p])
				text_add(&text, "%-24s %6" PRId64 " %7zu %14" PRId64 " %12s  %s\n",
					network->layers[l].name, point.taken[l][p], p + 1,
					of->score.cycles,
					amount_text(arena, AMOUNT_ENERGY, of->score.energy_pj),
					of->key);
		}
	return text_read(&text);
}

static const struct nest_search *first_search(const struct network_explored *explored)
{
	return explored->search->layers[0];
}

static const struct nest_search *network_explored_search(
	const struct network_explored *explored, size_t l)
{
	return explored->search->layers[explored->search->network->layers[l].same_as];
}

const char *network_layer_path(
	struct arena *arena, const struct network_explored *explored, size_t l, size_t i)
{
	const struct network *network = explored->search->network;
	return arena_format(arena, "layers/%s-%03zu.yaml",
		network->layers[network->layers[l].same_as].name, i + 1);
}

const char *network_layer_yaml(
	struct arena *arena, const struct network_explored *explored, size_t l, size_t i)
{
	const struct nest_search *search = network_explored_search(explored, l);
	struct shape *shape = arena_copy(arena, search->shape, sizeof *shape);
	shape->name = explored->search->network->layers[l].name;
	return arena_format(arena, "%s%s",
		nest_plan_yaml(arena, search, &explored->layers[l].frontier.points[i]),
		shape_write(arena, shape));
}

const char *network_layers_csv(struct arena *arena, const struct network_explored *explored)
{
	const struct network *network = explored->search->network;
	struct text text = text_open(arena);
	text_add(&text, "layer,count,same_as,");
	nest_row_head(&text, first_search(explored));
	for (size_t l = 0; l < network->layer_count; l++) {
		const struct layer *layer = &network->layers[l];
		const struct frontier *frontier = &explored->layers[l].frontier;
		const char *same = layer->same_as == l ? "" : network->layers[layer->same_as].name;
		for (size_t i = 0; i < frontier->count; i++) {
			const struct point *point = &frontier->points[i];
			const struct found *found = point->payload;
			struct nest_row row = {&point->score, found, found->solver, point->key,
				network_layer_path(arena, explored, l, i)};
			text_add(&text, "%s,%" PRId64 ",%s,", layer->name, layer->count, same);
			nest_row_add(&text, network_explored_search(explored, l), i + 1, &row);
		}
	}
	return text_read(&text);
}

/* "conv1:1", "conv2:1*2+4*1" */
static const char *choice_of(struct arena *arena, const struct network_explored *explored,
	const struct network_point *point)
{
	const struct network *network = explored->search->network;
	struct text text = text_open(arena);
	for (size_t l = 0; l < network->layer_count; l++) {
		int64_t count = network->layers[l].count;
		const char *before = ":";
		text_add(&text, "%s%s", l ? " " : "", network->layers[l].name);
		for (size_t p = 0; p < explored->layers[l].frontier.count; p++) {
			int64_t times = point->taken[l][p];
			if (!times)
				continue;
			text_add(&text, "%s%zu", before, p + 1);
			if (times != count)
				text_add(&text, "*%" PRId64, times);
			before = "+";
		}
	}
	return text_read(&text);
}

bool network_shows(const struct network_explored *explored, size_t i, size_t chosen, size_t most)
{
	size_t count = explored->sums.count;
	if (count <= most || i == chosen || i == explored->least_edp)
		return true;
	/* the first of those that share one of `most` places; the last one is the last point */
	return i == 0 || i * (most - 1) / (count - 1) != (i - 1) * (most - 1) / (count - 1);
}

/* The solver of all points, or nothing where they are of several. */
static const char *solver_of(
	const struct network_explored *explored, const struct network_point *point)
{
	const char *solver = NULL;
	for (size_t l = 0; l < explored->search->network->layer_count; l++)
		for (size_t p = 0; p < explored->layers[l].frontier.count; p++) {
			const struct found *found = explored->layers[l].frontier.points[p].payload;
			if (!point->taken[l][p])
				continue;
			if (solver && !text_equal(solver, found->solver))
				return "";
			solver = found->solver;
		}
	return solver ? solver : "";
}

const char *network_pareto_csv(
	struct arena *arena, const struct network_explored *explored, size_t chosen)
{
	struct text text = text_open(arena);
	struct arena *scratch = arena_open();
	nest_row_head(&text, first_search(explored));
	for (size_t i = 0; i < explored->sums.count; i++) {
		struct arena_mark mark = arena_mark(scratch);
		struct network_point point = network_point(explored, i, scratch);
		struct nest_row row = {&point.score, &point.common, solver_of(explored, &point),
			choice_of(scratch, explored, &point),
			network_shows(explored, i, chosen, NETWORK_PLANS_MOST)
				? pareto_plan_path(scratch, i)
				: ""};
		nest_row_add(&text, first_search(explored), i + 1, &row);
		arena_release(scratch, mark);
	}
	arena_close(scratch);
	return text_read(&text);
}

const char *network_plan_yaml(
	struct arena *arena, const struct network_explored *explored, size_t i)
{
	const struct network *network = explored->search->network;
	struct network_point point = network_point(explored, i, arena);
	struct text text = text_open(arena);
	text_add(&text,
		"# %" PRId64 " cycles, %.17g pJ (%s counting), proof: %s\n"
		"plan:\n  version: 1\n  network: ",
		point.score.cycles, point.score.energy_pj,
		counting_names[first_search(explored)->counting], proof_names[point.common.proof]);
	quote_yaml(&text, network->name);
	text_add(&text, "\n  architecture: ");
	quote_yaml(&text, first_search(explored)->arch->name);
	text_add(&text, "\n  layers:\n");
	for (size_t l = 0; l < network->layer_count; l++)
		for (size_t p = 0; p < explored->layers[l].frontier.count; p++) {
			if (!point.taken[l][p])
				continue;
			text_add(&text, "  - {layer: ");
			quote_yaml(&text, network->layers[l].name);
			text_add(&text,
				", count: %" PRId64 ", point: %zu, file: ", point.taken[l][p],
				p + 1);
			quote_yaml(&text, network_layer_path(arena, explored, l, p));
			text_add(&text, ", mapping: ");
			quote_yaml(&text, explored->layers[l].frontier.points[p].key);
			text_add(&text, "}\n");
		}
	return text_read(&text);
}
