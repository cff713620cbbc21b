#include "solvers/map/nest_label.h"

#include <math.h>

/* Sums of doubles err by less: a cycle is not counted, energies that differ by less are equal. */
#define CYCLES_MARGIN (1 - 1e-9)
#define ENERGY_MARGIN (1 + 1e-12)

/* What a level does at least: words of all instances, and their energy. */
struct least {
	double reads[ARCH_LEVELS_MOST], writes[ARCH_LEVELS_MOST]; /* scaled, for the ports */
	double pj[ARCH_LEVELS_MOST];                              /* of one dataspace */
};

static double touched(
	const struct nest_frame *frame, int t, const double *extent, const double *inside)
{
	const struct nest_space *space = &frame->spaces[t];
	double words = 1;
	for (int r = 0; r < frame->search->shape->spaces[t].rank_count; r++) {
		double reach = 1;
		for (uint32_t own = space->own[r]; own; own &= own - 1) {
			int d = __builtin_ctz(own);
			reach += extent[d] * inside[d] - 1;
		}
		words *= reach;
	}
	return words;
}

/* Words that cross the label's boundary as instances of level j see them. */
static double crossing(const struct nest_view *view, const struct nest_label *label, int t, int j)
{
	double words = label->times[t] *
		       touched(view->frame, t, label->extent[t], view->served_inside[t][j]);
	double all = view->served_instances[t][j] * words;
	if (view->frame->timeloop && !view->frame->spaces[t].plain)
		all -= view->instances[j]; /* rounded averages */
	return all > 0 ? all : 0;
}

static int parent_of(const struct nest_view *view, int t, int j)
{
	for (int k = 1; k < view->chain_count[t]; k++)
		if (view->chain[t][k] == j)
			return view->chain[t][k - 1];
	return -1;
}

struct nest_label nest_label_first(const struct nest_view *view)
{
	const struct shape *shape = view->frame->search->shape;
	struct nest_label label = {.boundary = view->frame->count - 1, .outside = 1};
	for (int t = 0; t < shape->space_count; t++) {
		label.times[t] = 1;
		label.counted_to[t] = -1;
		for (int d = 0; d < shape->dimension_count; d++)
			label.extent[t][d] = (double)view->temporal[d];
	}
	return label;
}

void nest_label_enter(const struct nest_view *view, const struct nest_label *from,
	const int64_t *bounds, const int64_t *left, const uint32_t *within, struct nest_label *out)
{
	const struct shape *shape = view->frame->search->shape;
	uint32_t busy = 0;
	out->boundary = from->boundary - 1;
	out->outside = from->outside;
	out->loose = !within;
	for (int d = 0; d < shape->dimension_count; d++) {
		busy |= (uint32_t)(bounds[d] > 1) << d;
		out->outside *= (double)bounds[d];
	}
	for (int t = 0; t < shape->space_count; t++) {
		uint32_t moving = view->frame->spaces[t].alone & busy;
		uint32_t inside = within ? within[t] : busy & ~moving;
		out->times[t] = moving ? from->outside : from->times[t];
		for (int d = 0; d < shape->dimension_count; d++) {
			bool in = inside >> d & 1;
			if (!moving) {
				out->extent[t][d] = from->extent[t][d];
				continue;
			}
			out->extent[t][d] = (double)(left[d] * (in ? bounds[d] : 1));
			if (!in)
				out->times[t] *= (double)bounds[d];
		}
		int parent = parent_of(view, t, out->boundary);
		if (parent >= 0) {
			out->served[t][out->boundary] = crossing(view, out, t, parent);
			out->filled[t][out->boundary] = crossing(view, out, t, out->boundary);
		}
	}
}

static void read_only(const struct nest_view *view, const struct nest_label *label, int t,
	double multiplied, struct least *least)
{
	const struct nest_frame *frame = view->frame;
	int last = view->chain_count[t] - 1;
	for (int k = 0; k <= last; k++) {
		int j = view->chain[t][k], child = k < last ? view->chain[t][k + 1] : -1;
		double reads = multiplied, fills = 0;
		if (child >= 0)
			reads = child >= label->boundary ? label->served[t][child]
							 : crossing(view, label, t, j);
		if (k > 0)
			fills = j >= label->boundary ? label->filled[t][j]
						     : crossing(view, label, t, j);
		double scale = frame->search->hierarchy->levels[frame->level[j]].rate_scale[t];
		least->reads[j] += reads * scale;
		least->writes[j] += fills * scale;
		least->pj[j] = reads * view->pj[j][NEST_READ] + fills * view->pj[j][NEST_FILL];
	}
}

/*
 * Partial sums: a level's updates are what its children drain; but for first visits it
 * reads as many.  In `exact` counting a visit is the first wherever the sum did not come
 * from the parent.  How many such visits there are is known where nothing adds up in
 * space on the way, or where the boundary has been passed with a known order; else reads
 * count nothing: more visits would mean fewer of them.
 */
static void written(const struct nest_view *view, const struct nest_label *label, int t,
	double multiplied, struct least *least)
{
	const struct nest_frame *frame = view->frame;
	int last = view->chain_count[t] - 1;
	double first = view->first[t][view->chain[t][0]], returned = 0;
	for (int k = 0; k <= last; k++) {
		int j = view->chain[t][k], child = k < last ? view->chain[t][k + 1] : -1;
		double updates = multiplied, entered = 0;
		if (child >= 0) {
			bool passed = child >= label->boundary;
			updates = passed ? label->served[t][child] : crossing(view, label, t, j);
			entered =
				passed ? label->filled[t][child] : crossing(view, label, t, child);
		}
		double reads = fmax(updates - first, 0), fills = returned;
		if (child >= 0 && frame->timeloop) {
			first = view->first[t][child];
			returned = fmax(entered - first, 0);
		} else if (child >= 0) {
			bool known = child > label->boundary ||
				     (child == label->boundary && !label->loose) ||
				     (first < INFINITY && entered <= updates * (1 + 1e-12));
			returned = reads;
			first = known ? entered - returned : INFINITY;
		}
		double scale = frame->search->hierarchy->levels[frame->level[j]].rate_scale[t];
		least->reads[j] += reads * scale;
		least->writes[j] += (fills + updates) * scale;
		least->pj[j] = reads * view->pj[j][NEST_READ] + fills * view->pj[j][NEST_FILL] +
			       updates * view->pj[j][NEST_UPDATE];
	}
}

/* Words that the innermost level serves to multipliers. */
static double to_multipliers(
	const struct nest_view *view, const struct nest_label *label, int t, int j)
{
	static const double once[SHAPE_DIMENSIONS_MOST] = {
		1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
	double words = crossing(view, label, t, j);
	if (!view->direct)
		return words;
	double all = view->cycles * view->served_instances[t][j] *
		     touched(view->frame, t, once, view->served_inside[t][j]);
	if (view->frame->timeloop && !view->frame->spaces[t].plain)
		all -= view->instances[j];
	return fmax(words, all);
}

static double space_pj(
	const struct nest_view *view, const struct nest_label *label, int t, struct least *least)
{
	const struct nest_frame *frame = view->frame;
	const struct dataspace *space = &frame->search->shape->spaces[t];
	if (frame->flagged || (space->written && !frame->spaces[t].plain))
		return 0;
	int last = view->chain[t][view->chain_count[t] - 1];
	double multiplied = to_multipliers(view, label, t, last);
	(space->written ? written : read_only)(view, label, t, multiplied, least);
	double pj = 0, inner = 0;
	for (int k = 0; k < view->chain_count[t]; k++) {
		int j = view->chain[t][k];
		pj += least->pj[j];
		inner += j <= label->counted_to[t] ? least->pj[j] : 0;
	}
	return label->counted_to[t] < 0 ? pj : fmax(pj, label->counted_pj[t] + inner);
}

static double port_cycles(double words, double instances, struct ratio rate)
{
	return rate.num ? words * (double)rate.den / (instances * (double)rate.num) : 0;
}

struct score nest_label_bound(const struct nest_view *view, const struct nest_label *label)
{
	const struct nest_search *search = view->frame->search;
	const struct hierarchy *hierarchy = search->hierarchy;
	struct least least = {.reads = {0}, .writes = {0}};
	double macs = view->cycles * view->multipliers, pj = macs * hierarchy->compute_pj;
	double cycles = view->cycles, waiting = 0;
	for (int t = 0; t < search->shape->space_count; t++)
		pj += space_pj(view, label, t, &least);
	for (int j = 0; j < view->frame->count; j++) {
		const struct nest_level *level = &hierarchy->levels[view->frame->level[j]];
		double all = view->instances[j], reads = least.reads[j], writes = least.writes[j];
		waiting = fmax(waiting, port_cycles(reads, all, level->read_rate));
		waiting = fmax(waiting, port_cycles(writes, all, level->write_rate));
		waiting = fmax(waiting, port_cycles(reads + writes, all, level->shared_rate));
	}
	cycles = fmax(cycles, ceil(waiting * CYCLES_MARGIN));
	for (int i = 0; i < hierarchy->level_count; i++) {
		cycles += (double)(hierarchy->levels[i].fill_cycles +
				   hierarchy->levels[i].drain_cycles);
	}
	for (int i = 0; i < hierarchy->level_count; i++)
		pj += hierarchy->levels[i].leak_pj * cycles *
		      view->utilized[hierarchy->levels[i].gated_at];
	return (struct score){.feasible = true,
		.cycles = cycles < 0x1p62 ? (int64_t)cycles : INT64_MAX / 2,
		.energy_pj = pj * ENERGY_MARGIN};
}
