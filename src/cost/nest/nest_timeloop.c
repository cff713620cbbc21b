#include "cost/nest/nest_timeloop.h"

#include "base/wide.h"
#include "cost/nest/nest_timeloop_block.h"

#include <math.h>

/* One dataspace at one level while its counts are made; words per instance. */
struct station {
	struct nest_served served; /* to the block below */
	double content;            /* words accessed for it */
	double share;              /* words from the parent */
	double links;              /* handed on among the children */
	double part;               /* share of the whole dataspace: read first, not refetched */
};

static bool has(uint8_t flags, int space)
{
	return flags >> space & 1;
}

static bool words_of(
	const struct dataspace *space, int dimension_count, const int64_t *extents, wide *out)
{
	int64_t words;
	if (!nest_words(space, dimension_count, extents, &words))
		return false;
	*out = words;
	return true;
}

/*
 * The part of a dataspace that is an instance's own, from the outermost level
 * inwards: part(i) = floor(part(i + 1) * tile(i) / tile of the whole block
 * below i + 1); a block without loops changes nothing.
 */
static bool find_parts(const struct nest_model *model, const struct nest_loops *loops, int t,
	struct station *stations)
{
	const struct dataspace *space = &model->shape->spaces[t];
	int dimension_count = model->shape->dimension_count;
	wide part, tile, spanned;
	int outermost = model->hierarchy->level_count - 1;
	if (!words_of(space, dimension_count, loops->tile[outermost], &part))
		return false;
	stations[outermost].part = (double)part;
	for (int i = outermost - 1; i >= 0; i--) {
		if (loops->fan[i + 1] > 1) {
			if (!words_of(space, dimension_count, loops->tile[i], &tile) ||
				!words_of(
					space, dimension_count, loops->block_tile[i + 1], &spanned))
				return false;
			part = part * tile / spanned;
		}
		stations[i].part = (double)part;
	}
	return true;
}

/*
 * What level `outer` serves in place of the level inside it: as many words per child as that one
 * served, at its own multicast.  The factor is rounded as Timeloop's is: 39 words in place of 77
 * become a little less than 39, and their routers are cut to 38.
 */
static void serve_instead(struct station *stations, int outer, int64_t fan)
{
	struct station *station = &stations[outer];
	double factor =
		stations[outer - 1].content * (double)fan / nest_served_delivered(&station->served);
	for (int k = 0; k < station->served.count; k++)
		station->served.at[k].words *= factor;
	station->links = 0;
	station->content = nest_served_words(&station->served);
}

/* Rounded; false for what no counter holds: a negative number, or one beyond exact doubles. */
static bool rounded(double words, int64_t *out)
{
	double whole = round(words);
	if (!(whole >= 0 && whole < 0x1p53))
		return false;
	*out = (int64_t)whole;
	return true;
}

/* Reads, fills and updates of one kept level, all instances. */
static bool take_counts(const struct nest_model *model, const struct nest_loops *loops, int t,
	int i, const struct station *stations, struct nest_count *out)
{
	const struct nest_level *level = &model->hierarchy->levels[i];
	const struct station *station = &stations[i];
	bool home = i == loops->home[t];
	double content = station->content, share = home ? 0 : station->share;
	double peer = home ? 0 : stations[i + 1].links / (double)loops->instances[i];
	int64_t reads, fills, updates = 0;
	bool fits;
	if (!model->shape->spaces[t].written) {
		fits = rounded(content + peer, &reads) && rounded(floor(share + peer), &fills);
	} else {
		bool elided = !has(level->rmw_first_update, t);
		double part = elided ? station->part : 0;
		bool passes = has(level->no_coalesce, t) && !home;
		double filled = home ? 0 : share + peer - part;
		fits = rounded(content, &updates) &&
		       rounded(content + peer - (passes ? 0 : part), &reads) &&
		       rounded(passes ? content + peer : filled, &fills);
	}
	int64_t links = 0;
	if (peer > 0)
		fits &= rounded(stations[i + 1].links, &links);
	int64_t instances = loops->instances[i];
	out->links = links;
	return fits && number_mul(reads, instances, &out->reads) &&
	       number_mul(fills, instances, &out->fills) &&
	       number_mul(updates, instances, &out->updates);
}

/* What level i serves to the block below it; the level inside keeps the dataspace or not. */
static bool serve_level(const struct nest_model *model, const struct nest_loops *loops, int t,
	int i, struct station *stations)
{
	const struct hierarchy *hierarchy = model->hierarchy;
	const struct nest_level *level = &hierarchy->levels[i];
	const struct dataspace *space = &model->shape->spaces[t];
	bool whole = i == 0 || has(hierarchy->levels[i - 1].no_temporal_reuse, t);
	struct timeloop_moves moves;
	nest_moves_find(loops, space, model->shape->dimension_count, i, whole, &moves);
	struct nest_served *served = &stations[i].served;
	if (!nest_block_serve(model, loops, space, i, &moves, !has(level->no_spatial_reuse, t),
		    !has(level->no_link_transfer, t), served))
		return false;
	stations[i].content = nest_served_words(served);
	stations[i].links = served->links;
	if (i == 0)
		return true;
	stations[i - 1].share = 0;
	for (int k = 0; k < served->count; k++)
		stations[i - 1].share += served->at[k].words * (double)served->at[k].children /
					 (double)loops->fan[i];
	return true;
}

/*
 * What passes the network below a level, whether it keeps the dataspace or not.  A word touches
 * one router more than whole hops.  Where a level cannot add to a sum, what comes up for it goes
 * down first, but for its part of the dataspace (none if it is passed by), and touches as many
 * routers as that.
 */
static void add_passage(const struct nest_model *model, int t, int i, const struct station *station,
	double part, int64_t instances, struct nest_counts *counts)
{
	bool twice = model->shape->spaces[t].written && !model->hierarchy->levels[i].reduces;
	double hops = station->links, routers = 0;
	for (int k = 0; k < station->served.count; k++) {
		double words = station->served.at[k].words, each = station->served.at[k].hops;
		double touching = twice ? 2 * words - part : words;
		hops += each * words;
		if (touching > 0)
			routers =
				floor(routers + (1 + floor(each * (words / touching))) * touching);
	}
	counts->hops[i] += hops * (double)instances;
	counts->routers[i] += (routers + 2 * station->links) * (double)instances;
}

/* From the innermost level to the home. */
static bool count_space(const struct nest_model *model, const struct nest_loops *loops, int t,
	struct nest_counts *counts)
{
	const struct hierarchy *hierarchy = model->hierarchy;
	struct station stations[ARCH_LEVELS_MOST];
	bool passed = false;
	for (int i = 0; i <= loops->home[t]; i++) {
		if (!serve_level(model, loops, t, i, stations))
			return false;
		if (passed)
			serve_instead(stations, i, loops->fan[i]);
		passed = !(loops->kept[i] >> t & 1) || has(hierarchy->levels[i].no_coalesce, t);
	}
	if (model->shape->spaces[t].written && !find_parts(model, loops, t, stations))
		return false;
	bool fits = true;
	for (int i = 0; i <= loops->home[t]; i++) {
		struct nest_count *count = &counts->at[i][t];
		/* Timeloop masks a level that does not coalesce, and takes its counts from the next
		 * one outside; a home has none. */
		if (i == loops->home[t] && has(hierarchy->levels[i].no_coalesce, t))
			*count = (struct nest_count){0};
		else if (loops->kept[i] >> t & 1)
			fits &= take_counts(model, loops, t, i, stations, count);
		if (model->priced_hops)
			add_passage(model, t, i, &stations[i],
				loops->kept[i] >> t & 1 ? stations[i].part : 0, loops->instances[i],
				counts);
	}
	return fits;
}

enum nest_verdict nest_timeloop_counts(const struct nest_model *model,
	const struct nest_loops *loops, uint32_t spaces, struct nest_counts *counts,
	struct nest_score *score)
{
	for (int i = 0; i < model->hierarchy->level_count; i++)
		counts->hops[i] = counts->routers[i] = 0;
	for (int t = 0; t < model->shape->space_count; t++)
		if (spaces >> t & 1 && !count_space(model, loops, t, counts)) {
			score->space = t;
			return NEST_MEANINGLESS;
		}
	int64_t cycles = 1;
	for (int l = 0; l < loops->count; l++)
		if (!loops->at[l].spatial)
			cycles *= loops->at[l].bound;
	counts->compute_cycles = cycles;
	counts->utilized_computes = loops->multipliers;
	for (int i = 0; i < model->hierarchy->level_count; i++)
		counts->utilized[i] = loops->instances[i];
	return NEST_FITS;
}
