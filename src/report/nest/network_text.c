#include "base/amount.h"
#include "base/arena.h"
#include "base/text.h"
#include "report/nest/nest_results.h"
#include "report/nest/network_results.h"
#include "report/run/listing.h"
#include "report/run/summary.h"

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

static void add_layer(struct listing *listing, struct arena *arena,
	const struct network_explored *explored, size_t l)
{
	const struct network *network = explored->search->network;
	const struct layer *layer = &network->layers[l];
	const struct frontier *frontier = &explored->layers[l].frontier;
	const struct found *found = frontier->count ? frontier->points[0].payload : NULL;
	struct score least = frontier->count ? least_of(frontier) : (struct score){0};
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
		add_layer(listing, arena, explored, l);
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
