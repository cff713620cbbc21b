#include "solvers/map/exact/label.h"

#include "solvers/map/exact/skew.h"

#include <string.h>

/* Sums of doubles err by less: a cycle is not counted, energies that differ by less are equal.  What
 * is said to be a bound stays within what its certificate allows (search/certificate/certificate.h). */
#define CYCLES_MARGIN (1 - 1e-9)
#define ENERGY_MARGIN (1 + 5e-13)

/* Words that an instance may hold where nobody knows: more than any union has. */
#define UNKNOWN 0x1p62

static int space_count(const struct nest_view *view)
{
	return view->frame->search->shape->space_count;
}

static void add(const struct nest_view *view, struct nest_sums *to, const struct nest_sums *price,
	double factor)
{
	nest_lanes by = {factor, factor, factor, factor};
	for (int g = 0; g < view->frame->group_count; g++)
		to->at[g] += price->at[g] * by;
}

static const struct nest_slide still = {
	.times = 1,
	.pending = 1,
	.rank = -1,
	.run = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
	.lone_times = 1,
	.since = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
};

struct nest_label nest_label_first(const struct nest_view *view)
{
	struct nest_label label = {
		.boundary = view->frame->count - 1, .innermost = -1, .outside = 1, .passes = 1};
	for (int t = 0; t < space_count(view); t++) {
		label.irrelevant[t] = 1;
		label.reload[t] = 1;
		label.slides[t] = still;
	}
	return label;
}

/* Words of the union of tiles, as an instance with these spatial loops inside sees them. */
static double united(const struct nest_view *view, int t, const int64_t *left, const double *loops,
	const double *inside)
{
	const struct nest_space *space = &view->frame->spaces[t];
	double words = 1;
	for (int r = 0; r < view->frame->search->shape->spaces[t].rank_count; r++) {
		double reach = 1;
		for (uint32_t own = space->own[r]; own; own &= own - 1) {
			int d = __builtin_ctz(own);
			reach += (double)left[d] * loops[d] * inside[d] - 1;
		}
		words *= reach;
	}
	return words;
}

static double crossing(const struct nest_view *view, int t, const int64_t *left,
	const struct nest_slide *slide, const double *inside, double held)
{
	double run = 0, lone = 0;
	const struct nest_space *space = &view->frame->spaces[t];
	if (space->simple)
		run = slide->times * (united(view, t, left, slide->run, inside) - held);
	if (!space->simple || !view->frame->timeloop)
		lone = slide->lone_times * united(view, t, left, slide->since, inside);
	return run > lone ? run : lone;
}

/* One more loop inside all those before; `outside` is the product of them. */
static void slide_append(const struct nest_space *space, int d, double bound, double outside,
	struct nest_slide *slide)
{
	bool slides = space->paired >> d & 1;
	if (!(space->relevant >> d & 1)) {
		slide->pending *= bound;
		return;
	}
	if (space->alone >> d & 1) {
		slide->lone_times = outside * bound;
		for (int k = 0; k < SHAPE_DIMENSIONS_MOST; k++)
			slide->since[k] = 1;
	} else {
		slide->since[d] *= bound;
	}
	int rank = space->rank_of[d];
	bool again = slides && slide->rank == rank;
	if (!again || slide->pending > 1) {
		slide->times = again ? slide->times * slide->pending : outside;
		for (int k = 0; k < SHAPE_DIMENSIONS_MOST; k++)
			slide->run[k] = 1;
	}
	slide->rank = slides ? rank : -1;
	if (slides)
		slide->run[d] *= bound;
	else
		slide->times *= bound;
	slide->pending = 1;
}

static void slide_over(const struct nest_view *view, int t, const struct nest_label *from,
	const struct nest_order *order, const int64_t *bounds, struct nest_slide *slide)
{
	const struct nest_space *space = &view->frame->spaces[t];
	double outside = from->outside;
	for (int n = order->count - 1; n >= 0; n--) {
		int d = order->at[n];
		slide_append(space, d, (double)bounds[d], outside, slide);
		outside *= (double)bounds[d];
	}
}

/* Adds what a window costs at least at crossing k. */
static void weigh_crossing(const struct nest_view *view, int t, const int64_t *left,
	const struct nest_slide *slide, bool rough, bool apart, int k, struct nest_sums *sums)
{
	const struct nest_crossing *to = &view->chains[t].crossings[k];
	double more = rough && !view->frame->timeloop ? UNKNOWN : 0;
	double words = crossing(view, t, left, slide, to->inside, to->held + more);
	add(view, sums, apart ? &to->apart : &to->price, words);
	if (!apart || to->uneven)
		add(view, sums, &to->rounding, 1);
	if (to->united && !apart)
		add(view, sums, &to->parent_price,
			crossing(view, t, left, slide, to->parent_inside, to->parent_held + more));
}

/* And at all from k on, the first of them perhaps without links. */
static void weigh_slide(const struct nest_view *view, int t, const int64_t *left,
	const struct nest_slide *slide, bool rough, bool apart, int k, struct nest_sums *sums)
{
	for (; k < view->chains[t].crossing_count; k++, apart = false)
		weigh_crossing(view, t, left, slide, rough, apart, k, sums);
}

/* Whether neighbours cannot hand on the words of a window: the innermost loop outside them does
 * not slide it. */
static bool stand_apart(const struct nest_space *space, int innermost)
{
	return space->simple && (innermost < 0 || !(space->paired >> innermost & 1));
}

/* The least of all orders for one window alone: irrelevant loops inside, and outside of them those
 * of one rank, unless no rank that slides is busy. */
static void weigh_loose(const struct nest_view *view, int t, const struct nest_label *from,
	const struct nest_order *order, const int64_t *bounds, const int64_t *left, int k,
	struct nest_sums *sums)
{
	const struct nest_space *space = &view->frame->spaces[t];
	const struct nest_slide *before = &from->slides[t];
	struct nest_sums least;
	uint32_t tried = 0;
	bool any = false;
	struct nest_slide slide = *before;
	double relevant = 1, alone = 1;
	uint32_t busy = 0;
	for (int n = 0; n < order->count; n++) {
		int d = order->at[n];
		if (!(space->relevant >> d & 1))
			continue;
		busy |= 1u << d;
		relevant *= (double)bounds[d];
		alone *= space->alone >> d & 1 ? (double)bounds[d] : 1;
	}
	if (busy & space->alone) {
		slide.lone_times = from->outside * alone;
		for (int d = 0; d < SHAPE_DIMENSIONS_MOST; d++)
			slide.since[d] = 1;
	}
	for (uint32_t rest = busy & ~space->alone; rest; rest &= rest - 1) {
		int d = __builtin_ctz(rest);
		slide.since[d] *= (double)bounds[d];
	}
	for (uint32_t rest = busy & space->paired; rest; rest &= rest - 1) {
		int rank = space->rank_of[__builtin_ctz(rest)];
		if (tried >> rank & 1)
			continue;
		tried |= 1u << rank;
		double inside = 1;
		uint32_t mine = busy & space->own[rank];
		bool on = mine == busy && before->rank == rank;
		bool whole = on && before->pending == 1;
		for (int d = 0; d < SHAPE_DIMENSIONS_MOST; d++)
			slide.run[d] = whole ? before->run[d] : 1;
		for (uint32_t own = mine; own; own &= own - 1) {
			int d = __builtin_ctz(own);
			inside *= (double)bounds[d];
			slide.run[d] *= (double)bounds[d];
		}
		slide.times = whole ? before->times
			      : on  ? before->times * before->pending
				    : from->outside * (relevant / inside);
		struct nest_sums one;
		memset(&one, 0, sizeof one);
		weigh_slide(view, t, left, &slide, order->rough, false, k, &one);
		if (!any)
			least = one;
		for (int g = 0; g < view->frame->group_count && any; g++)
			for (int i = 0; i < METER_LANES; i++)
				if (one.at[g][i] < least.at[g][i])
					least.at[g][i] = one.at[g][i];
		any = true;
	}
	if (any) {
		for (int g = 0; g < view->frame->group_count; g++)
			sums->at[g] += least.at[g];
		return;
	}
	if (busy) {
		slide.times = from->outside * relevant;
		for (int d = 0; d < SHAPE_DIMENSIONS_MOST; d++)
			slide.run[d] = 1;
	}
	weigh_slide(view, t, left, &slide, order->rough, false, k, sums);
}

/* The irrelevant loops of a level that stand outside a relevant one; false if all are irrelevant. */
static bool reloads(const struct nest_space *space, const struct nest_order *order,
	const int64_t *bounds, double *out)
{
	bool relevant = false;
	*out = 1;
	for (int n = 0; n < order->count; n++) {
		int d = order->at[n];
		if (space->relevant >> d & 1)
			relevant = true;
		else if (relevant && !order->loose)
			*out *= (double)bounds[d];
	}
	return relevant;
}

static void weigh_plain(
	const struct nest_view *view, int t, double reload, int k, struct nest_sums *sums)
{
	const struct nest_chain *chain = &view->chains[t];
	if (k == chain->crossing_count)
		return;
	double x = chain->words * reload;
	add(view, sums, &chain->crossings[k].rest, x);
	if (chain->sags)
		add(view, sums, &chain->crossings[k].sag, view->cycles - x);
}

void nest_cost_finish(const struct nest_view *view, struct nest_cost *cost)
{
	const struct nest_frame *frame = view->frame;
	double cycles = view->cycles + cost->array_cycles, waiting = 0;
	for (int m = frame->port_first; m < frame->meter_count; m++) {
		double port = nest_meter(&cost->sums, m);
		waiting = port > waiting ? port : waiting;
	}
	waiting *= CYCLES_MARGIN;
	if (waiting > cycles) {
		cycles = waiting < 0x1p62 ? (double)(int64_t)waiting : 0x1p62;
		cycles += cycles < waiting;
	}
	cost->cycles = cycles + view->network_cycles;
	double leaking = view->frame->timeloop ? cycles : cost->cycles;
	cost->energy_pj = (nest_meter(&cost->sums, 0) + view->leak_pj * leaking) * ENERGY_MARGIN;
}

void nest_label_start(const struct nest_view *view, int space, struct nest_sums *sums)
{
	for (int g = 0; g < view->frame->group_count; g++)
		sums->at[g] += view->chains[space].base.at[g];
	if (view->frame->spaces[space].plain)
		weigh_plain(view, space, 1, 0, sums);
	else
		weigh_slide(view, space, view->temporal, &still, false, false, 0, sums);
}

void nest_label_weigh(const struct nest_view *view, const struct nest_label *from,
	const struct nest_order *order, const int64_t *bounds, const int64_t *left,
	struct nest_cost *out)
{
	struct nest_sums *sums = &out->sums;
	for (int g = 0; g < view->frame->group_count; g++)
		sums->at[g] = view->base.at[g] + from->passed.at[g];
	for (int t = 0; t < space_count(view); t++) {
		const struct nest_space *space = &view->frame->spaces[t];
		int k = view->chains[t].next[from->boundary];
		if (space->plain) {
			double here;
			bool closes = reloads(space, order, bounds, &here);
			weigh_plain(view, t, closes ? from->irrelevant[t] * here : from->reload[t],
				k, sums);
			continue;
		}
		for (int g = 0; g < view->frame->group_count; g++)
			sums->at[g] += from->counted[t].at[g];
		if (k == view->chains[t].crossing_count)
			continue;
		if (order->loose) {
			weigh_loose(view, t, from, order, bounds, left, k, sums);
			continue;
		}
		struct nest_slide slide = from->slides[t];
		slide_over(view, t, from, order, bounds, &slide);
		int innermost = order->count ? order->at[0] : from->innermost;
		bool here = view->chains[t].crossings[k].level == from->boundary - 1;
		weigh_slide(view, t, left, &slide, order->rough,
			here && stand_apart(space, innermost), k, sums);
	}
	out->array_cycles = nest_skew_bound(view, from, order, bounds);
	nest_cost_finish(view, out);
}

void nest_label_enter(const struct nest_view *view, const struct nest_label *from,
	const struct nest_order *order, const int64_t *bounds, struct nest_label *out)
{
	out->boundary = from->boundary - 1;
	out->linked = from->linked;
	out->outside = from->outside;
	out->passed = from->passed;
	out->innermost = order->count ? order->at[0] : from->innermost;
	for (int n = 0; n < order->count; n++)
		out->outside *= (double)bounds[order->at[n]];
	for (int t = 0; t < space_count(view); t++) {
		const struct nest_space *space = &view->frame->spaces[t];
		out->counted[t] = from->counted[t];
		out->irrelevant[t] = from->irrelevant[t];
		out->reload[t] = from->reload[t];
		double here;
		if (reloads(space, order, bounds, &here))
			out->reload[t] = from->irrelevant[t] * here;
		for (int n = 0; n < order->count; n++)
			if (!(space->relevant >> order->at[n] & 1))
				out->irrelevant[t] *= (double)bounds[order->at[n]];
		if (!space->plain) {
			out->slides[t] = from->slides[t];
			slide_over(view, t, from, order, bounds, &out->slides[t]);
			continue;
		}
		const struct nest_chain *chain = &view->chains[t];
		int k = chain->next[from->boundary];
		if (k < chain->crossing_count && chain->crossings[k].level == out->boundary)
			add(view, &out->passed, &chain->crossings[k].price,
				chain->words * out->reload[t]);
	}
	out->passes = from->passes;
	out->load_cycles = from->load_cycles;
	nest_skew_enter(view, out);
}

void nest_label_estimate(
	const struct nest_view *view, int space, const int64_t *left, struct nest_label *label)
{
	const struct nest_chain *chain = &view->chains[space];
	int k = chain->next[label->boundary + 1];
	if (k == chain->crossing_count || chain->crossings[k].level != label->boundary)
		return;
	bool apart = view->frame->spaces[space].simple && !label->linked;
	weigh_crossing(
		view, space, left, &label->slides[space], false, apart, k, &label->counted[space]);
}

void nest_label_bound(const struct nest_view *view, const struct nest_label *label,
	const int64_t *left, struct nest_cost *out)
{
	struct nest_sums *sums = &out->sums;
	for (int g = 0; g < view->frame->group_count; g++)
		sums->at[g] = view->base.at[g] + label->passed.at[g];
	for (int t = 0; t < space_count(view); t++) {
		int k = view->chains[t].next[label->boundary];
		if (view->frame->spaces[t].plain) {
			weigh_plain(view, t, label->reload[t], k, sums);
			continue;
		}
		for (int g = 0; g < view->frame->group_count; g++)
			sums->at[g] += label->counted[t].at[g];
		weigh_slide(view, t, left, &label->slides[t], false, false, k, sums);
	}
	out->array_cycles = nest_skew_bound(view, label, NULL, NULL);
	nest_cost_finish(view, out);
}

double nest_cost_value(
	const struct nest_view *view, const struct nest_cost *cost, enum objective objective)
{
	switch (objective) {
	case OBJECTIVE_LATENCY:
		return cost->cycles;
	case OBJECTIVE_ENERGY:
		return cost->energy_pj;
	case OBJECTIVE_EDP:
		return cost->energy_pj * cost->cycles;
	default:
		return view->frame->objective_meter[objective]
			       ? nest_meter(&cost->sums, view->frame->objective_meter[objective]) *
					 (1 - 1e-12)
			       : 0;
	}
}
