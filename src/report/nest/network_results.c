#include "report/nest/network_results.h"

#include "base/text.h"
#include "report/nest/nest_results.h"
#include "report/run/pareto.h"
#include "spec/quote.h"

#include <inttypes.h>

static const struct nest_search *first_search(const struct network_explored *explored)
{
	return explored->search->layers[0];
}

static const struct nest_search *search_of(const struct network_explored *explored, size_t l)
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
	const struct nest_search *search = search_of(explored, l);
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
			nest_row_add(&text, search_of(explored, l), i + 1, &row);
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
