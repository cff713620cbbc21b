#include "cost/graph/relayout.h"

#include "base/checked.h"
#include "cost/graph/energy.h"
#include "cost/graph/latency.h"

#include <string.h>

enum { CORES_MOST = ARCH_CORES_MOST, FAR_NONE = -1 };

/* What the cores hold under a view. */
struct holding {
	int64_t size[LAYOUT_RANK_MOST];
	int64_t first[CORES_MOST][LAYOUT_RANK_MOST];
	int leader[CORES_MOST]; /* the least core with the same slice; -1: it holds nothing */
	int copies[CORES_MOST]; /* by leader: cores with its slice */
};

struct relaying {
	const struct layout *layout;
	int cores; /* of the ring */
	struct holding from, to;
	/* by sender and leader of the receivers: how far the box goes each way; FAR_NONE: not that way */
	int8_t up[CORES_MOST][CORES_MOST], down[CORES_MOST][CORES_MOST];
	/* by core, in sticks; of link i, from core i to i + 1 and back */
	int64_t link_up[CORES_MOST + 1], link_down[CORES_MOST + 1];
	int64_t read[CORES_MOST], written[CORES_MOST];
	int64_t sent[CORES_MOST], received[CORES_MOST]; /* runs */
	int cut[CORES_MOST]; /* by leader of senders: boxes that its slice is cut into */
	int64_t parts, drain, fill, crossed;
	bool fits;
};

static bool same_slice(const struct layout *layout, const struct holding *holding, int a, int b)
{
	for (int d = 0; d + 1 < layout->rank; d++)
		if (holding->first[a][d] != holding->first[b][d])
			return false;
	return true;
}

static void hold(
	struct holding *holding, const struct layout *layout, const struct view *view, int cores)
{
	for (int d = 0; d + 1 < layout->rank; d++)
		holding->size[d] = view_size(layout, view, d);
	for (int c = 0; c < cores; c++) {
		holding->leader[c] = -1;
		if (!view_holds(view, c))
			continue;
		for (int d = 0; d + 1 < layout->rank; d++)
			holding->first[c][d] = view_first(layout, view, d, c);
		for (int k = 0; holding->leader[c] < 0; k++)
			if (k == c ||
				(holding->leader[k] == k && same_slice(layout, holding, k, c)))
				holding->leader[c] = k;
		holding->copies[holding->leader[c]]++;
	}
}

/* The box that is in the slices of both, in sticks, and its runs; 0: there is none. */
static int64_t overlap(const struct relaying *relaying, int sender, int receiver, int64_t *runs)
{
	const struct holding *from = &relaying->from, *to = &relaying->to;
	int64_t sticks = 1;
	bool whole = true; /* in all dimensions further in: rows follow each other */
	*runs = 1;
	for (int d = relaying->layout->rank - 2; d >= 0; d--) {
		int64_t low = number_max(from->first[sender][d], to->first[receiver][d]);
		int64_t high = number_min(from->first[sender][d] + from->size[d],
			to->first[receiver][d] + to->size[d]);
		if (low >= high)
			return 0;
		sticks *= high - low; /* of one slice */
		if (!whole)
			*runs *= high - low;
		whole = whole && high - low == from->size[d] && high - low == to->size[d];
	}
	return sticks;
}

static int way_up(const struct relaying *relaying, int sender, int receiver)
{
	int up = receiver - sender;
	return up < 0 ? up + relaying->cores : up;
}

/* The nearest of those with the same slice as `leader`, the least of those. */
static int find_sender(const struct relaying *relaying, int leader, int receiver)
{
	int best = leader, least = relaying->cores;
	if (relaying->from.copies[leader] == 1)
		return leader;
	for (int c = leader; c < relaying->cores; c++) {
		int up = way_up(relaying, c, receiver);
		int distance = up <= relaying->cores - up ? up : relaying->cores - up;
		if (relaying->from.leader[c] == leader && distance < least) {
			best = c;
			least = distance;
		}
	}
	return best;
}

/* Boxes of a receiver: who sends them, and how far they go.  False: it does not get all of its slice. */
static bool receive(struct relaying *relaying, int receiver)
{
	int leader = relaying->to.leader[receiver], boxes = 0;
	int64_t missing = 1;
	for (int d = 0; d + 1 < relaying->layout->rank; d++)
		missing *= relaying->to.size[d];
	for (int p = 0; p < relaying->cores; p++) {
		int64_t runs, sticks;
		if (relaying->from.leader[p] != p)
			continue;
		sticks = overlap(relaying, p, receiver, &runs);
		if (sticks == 0)
			continue;
		missing -= sticks;
		boxes++;
		relaying->cut[p] += leader == receiver;
		relaying->received[receiver] += runs;
		relaying->written[receiver] += sticks;
		relaying->fill += sticks;
		int sender = find_sender(relaying, p, receiver);
		int up = way_up(relaying, sender, receiver), down = relaying->cores - up;
		int8_t *far = up <= down ? &relaying->up[sender][leader]
					 : &relaying->down[sender][leader];
		*far = (int8_t)number_max(*far, up <= down ? up : down);
	}
	relaying->parts = number_max(relaying->parts, boxes);
	return missing == 0;
}

/* One box goes one way, to the furthest of its receivers, over `far` links from the first on: where it begins to
 * be on links counts, and where it ends to be. */
static void send(
	struct relaying *relaying, int sender, int64_t sticks, int64_t runs, int far, bool up)
{
	if (far == FAR_NONE)
		return;
	relaying->drain += sticks;
	relaying->read[sender] += sticks;
	relaying->sent[sender] += runs;
	relaying->crossed = checked_add(
		&relaying->fits, relaying->crossed, checked_mul(&relaying->fits, sticks, far));
	int64_t *link = up ? relaying->link_up : relaying->link_down;
	int first = up ? sender : sender - far, end = first + far;
	if (first < 0) {
		link[first + relaying->cores] += sticks;
		link[relaying->cores] -= sticks;
		first = 0;
	}
	if (end > relaying->cores) {
		link[0] += sticks;
		link[end - relaying->cores] -= sticks;
		end = relaying->cores;
	}
	link[first] += sticks;
	link[end] -= sticks;
}

/* From where boxes begin and end to what is on each link. */
static void add_up(int64_t *link, int cores)
{
	for (int c = 1; c < cores; c++)
		link[c] += link[c - 1];
}

static void send_all(struct relaying *relaying)
{
	for (int s = 0; s < relaying->cores; s++) {
		for (int q = 0; q < relaying->cores; q++) {
			int64_t runs, sticks;
			int up = relaying->up[s][q], down = relaying->down[s][q];
			if (up == FAR_NONE && down == FAR_NONE)
				continue;
			sticks = overlap(relaying, s, q, &runs);
			send(relaying, s, sticks, runs, up, true);
			send(relaying, s, sticks, runs, down, false);
		}
	}
	add_up(relaying->link_up, relaying->cores);
	add_up(relaying->link_down, relaying->cores);
}

static int64_t most(const int64_t *values, int count)
{
	int64_t found = 0;
	for (int i = 0; i < count; i++)
		found = number_max(found, values[i]);
	return found;
}

static int64_t cycles_of(int64_t sticks, struct ratio rate, bool *fits)
{
	int64_t cycles = 0, bytes = checked_mul(fits, sticks, STICK_BYTES);
	if (rate.num > 0 && !ratio_time(bytes, rate, &cycles))
		*fits = false;
	return cycles;
}

static bool find_price(
	struct relaying *relaying, const struct arch *arch, struct relayout_price *out)
{
	bool fits = relaying->fits;
	struct ratio per_run = ring_run(&arch->data_ring, relaying->parts), rate;
	int64_t *drained = out->counts.bytes[0], *filled = out->counts.bytes[1];
	out->parts = relaying->parts;
	out->runs = number_max(
		most(relaying->sent, relaying->cores), most(relaying->received, relaying->cores));
	out->link = cycles_of(number_max(most(relaying->link_up, relaying->cores),
				      most(relaying->link_down, relaying->cores)),
		arch->data_ring.rate, &fits);
	for (int c = 0; c < relaying->cores; c++)
		out->port = number_max(out->port,
			latency_lx(arch, checked_mul(&fits, relaying->read[c], STICK_BYTES),
				checked_mul(&fits, relaying->written[c], STICK_BYTES), &fits));
	if (per_run.num > 0 && (!ratio_div((struct ratio){1, 1}, per_run, &rate) ||
				       !ratio_time(out->runs, rate, &out->setup)))
		fits = false;
	out->cycles = checked_add(&fits, number_max(out->link, out->port), out->setup);
	drained[TRAFFIC_LX_DRAIN] = checked_mul(&fits, relaying->drain, STICK_BYTES);
	filled[TRAFFIC_LX_FILL] = checked_mul(&fits, relaying->fill, STICK_BYTES);
	filled[TRAFFIC_DATA_RING] = checked_mul(&fits, relaying->crossed, STICK_BYTES);
	out->energy_pj = energy_of_traffic(arch, drained) + energy_of_traffic(arch, filled);
	return out->fits = fits;
}

bool relayout_price(const struct arch *arch, const struct layout *layout, const struct view *from,
	const struct view *to, struct relayout_price *out)
{
	struct relaying relaying = {.layout = layout, .cores = (int)arch_cores(arch), .fits = true};
	*out = (struct relayout_price){0};
	if (!arch->data_ring.present || arch->lx < 0 || relaying.cores > CORES_MOST)
		return false;
	memset(relaying.up, FAR_NONE, sizeof relaying.up);
	memset(relaying.down, FAR_NONE, sizeof relaying.down);
	hold(&relaying.from, layout, from, relaying.cores);
	hold(&relaying.to, layout, to, relaying.cores);
	for (int c = 0; c < relaying.cores; c++)
		if (relaying.to.leader[c] >= 0 && !receive(&relaying, c))
			return false;
	send_all(&relaying);
	for (int c = 0; c < relaying.cores; c++)
		relaying.parts = number_max(relaying.parts, relaying.cut[c]);
	return find_price(&relaying, arch, out);
}
