#include "base/amount.h"
#include "base/arena.h"
#include "base/text.h"
#include "report/nest/nest_results.h"
#include "report/nest/network_results.h"

#include <inttypes.h>

/* Lines of a frontier that people are shown. */
enum { LINES_MOST = 20 };

/* What a layer's points have at least. */
static struct score least_of(const struct frontier *frontier)
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

static void add_layer(struct text *text, const struct network_explored *explored, size_t l)
{
	const struct network *network = explored->search->network;
	const struct layer *layer = &network->layers[l];
	const struct frontier *frontier = &explored->layers[l].frontier;
	text_add(text, "%-24s %6" PRId64 " %7zu ", layer->name, layer->count, frontier->count);
	if (!frontier->count) {
		text_add(text, "%14s %12s %8s", "-", "-", "-");
	} else {
		const struct found *found = frontier->points[0].payload;
		struct score least = least_of(frontier);
		text_add(text, "%14" PRId64 " %12s %8s", least.cycles,
			amount_text(text->arena, AMOUNT_ENERGY, least.energy_pj),
			proof_names[found->proof]);
	}
	if (layer->same_as != l)
		text_add(text, "  as %s", network->layers[layer->same_as].name);
	text_add(text, "\n");
}

static void add_point(
	struct text *text, const struct network_explored *explored, size_t i, size_t chosen)
{
	struct network_point point = network_point(explored, i, text->arena);
	nest_line_add(text, i + 1, &point.score, &point.common);
	text_add(text, "%s%s\n", i == explored->least_edp ? "  least edp" : "",
		i == chosen ? "  chosen" : "");
}

const char *network_table(
	struct arena *arena, const struct network_explored *explored, size_t chosen)
{
	const struct network *network = explored->search->network;
	struct text text = text_open(arena);
	text_add(&text, "%-24s %6s %7s %14s %12s %8s\n", "layer", "count", "points", "least cycles",
		"least energy", "proof");
	for (size_t l = 0; l < network->layer_count; l++)
		add_layer(&text, explored, l);
	if (!explored->sums.count)
		return text_read(&text);
	text_add(&text, "\n");
	nest_line_head(&text);
	text_add(&text, "\n");
	size_t shown = 0;
	for (size_t i = 0; i < explored->sums.count; i++)
		if (network_shows(explored, i, chosen, LINES_MOST)) {
			add_point(&text, explored, i, chosen);
			shown++;
		}
	if (shown < explored->sums.count)
		text_add(&text, "%zu of %zu points; pareto.csv has all\n", shown,
			explored->sums.count);
	return text_read(&text);
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
