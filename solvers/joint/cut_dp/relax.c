#include "solvers/joint/cut_dp/relax.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/number.h"
#include "search/drive/solver.h"
#include "solvers/joint/cut_dp/convert.h"
#include "solvers/joint/cut_dp/floor.h"
#include "solvers/joint/cut_dp/options.h"

#include <stdlib.h>
#include <string.h>

/* What became of a state; UNSEEN: the relaxation has not come here. */
enum fate { UNSEEN, KEPT, CONVERTED, DROPPED, GUESSED };

struct node {
	int64_t cost; /* to come here, relaxed */
	int64_t rest; /* KEPT, GUESSED: still to come */
	int64_t convert;
	uint32_t from; /* CONVERTED: from which, and at what cost */
	uint8_t fate;
	bool waits; /* to be looked at again */
};

struct nodes array(struct node);
struct list array(uint32_t);

struct relaxation {
	struct run *run;
	const struct frame *frame;
	struct steps *steps;
	struct layer *const *layers;
	struct arena *arena;
	struct converter *converter;
	struct floor *floor;
	size_t width;
	int64_t limit;
	struct nodes *nodes; /* by cut, then state */
	struct list *kept;   /* by cut: the cheapest first, then those of evictions and relays */

	/* what is looked at */
	int cut;
	uint32_t state;
	struct list waiting;
	int64_t least;
};

static struct node *node_of(struct relaxation *relaxation, int cut, uint32_t state)
{
	struct nodes *nodes = &relaxation->nodes[cut];
	while (nodes->count <= state)
		*array_add(relaxation->arena, nodes) =
			(struct node){.cost = JOINT_NEVER, .rest = JOINT_NEVER};
	return &nodes->at[state];
}

static int64_t floor_of(struct relaxation *relaxation, int cut, uint32_t state)
{
	return floor_rest(relaxation->floor, cut, layer_codes(relaxation->layers[cut], state));
}

/* In LX, as far as the relaxation counts them. */
static int64_t bytes_of(const struct relaxation *relaxation, int cut, uint32_t state)
{
	const struct cut *at = &relaxation->frame->cuts[cut];
	const uint16_t *codes = layer_codes(relaxation->layers[cut], state);
	int64_t bytes = 0;
	for (int s = 0; s < at->slot_count; s++)
		bytes += cut_bytes(&relaxation->frame->space->tensors[at->tensors[s]], codes[s]);
	return bytes;
}

/* --- forward */

static bool reach(void *context, const struct step *step)
{
	struct relaxation *relaxation = context;
	struct node *from = node_of(relaxation, relaxation->cut, relaxation->state);
	int64_t cost = cut_add(from->cost, step->relaxed);
	if (cut_add(cost, floor_rest(relaxation->floor, step->cut, step->codes)) >
		relaxation->limit)
		return run_spend(relaxation->run, 1);
	uint32_t state = layer_state(relaxation->layers[step->cut], step->codes);
	struct node *to = node_of(relaxation, step->cut, state);
	bool here = step->cut == relaxation->cut, cheaper = cost < to->cost;
	if (cheaper)
		to->cost = cost;
	/* What this step is a conversion to is gone on from after all. */
	if (here && !to->waits && (cheaper || (to->fate == CONVERTED && cost == to->cost))) {
		to->waits = true;
		*array_add(relaxation->arena, &relaxation->waiting) = state;
	}
	return run_spend(relaxation->run, 1);
}

struct ranked {
	int64_t bound;
	uint32_t state;
};

static int compare_ranked(const void *left, const void *right)
{
	const struct ranked *a = left, *b = right;
	if (a->bound != b->bound)
		return a->bound < b->bound ? -1 : 1;
	return a->state < b->state ? -1 : a->state > b->state;
}

/* Is there one among the cheapest that this state can be made of? */
static bool find_conversion(struct relaxation *relaxation, int cut, uint32_t state)
{
	struct node *node = node_of(relaxation, cut, state);
	const struct layer *layer = relaxation->layers[cut];
	const struct list *kept = &relaxation->kept[cut];
	for (size_t k = 0; k < kept->count && k < CUT_RIVALS_MOST; k++) {
		int64_t more = node->cost - node_of(relaxation, cut, kept->at[k])->cost;
		int64_t costs = convert(relaxation->converter, cut, layer_codes(layer, kept->at[k]),
			layer_codes(layer, state), more);
		if (costs > more)
			continue;
		node->fate = CONVERTED;
		node->from = kept->at[k];
		node->convert = costs;
		return true;
	}
	return false;
}

static void keep_cheapest(struct relaxation *relaxation, int cut)
{
	struct arena *scratch = arena_open();
	size_t count = relaxation->nodes[cut].count;
	struct ranked *ranked = arena_array(scratch, struct ranked, count);
	for (uint32_t s = 0; s < count; s++)
		ranked[s] = (struct ranked){
			cut_add(relaxation->nodes[cut].at[s].cost, floor_of(relaxation, cut, s)),
			s};
	if (count)
		qsort(ranked, count, sizeof *ranked, compare_ranked);
	for (size_t i = 0; i < count; i++) {
		bool drops = relaxation->kept[cut].count >= relaxation->width;
		if (ranked[i].bound > relaxation->limit)
			break;
		if (!drops && find_conversion(relaxation, cut, ranked[i].state))
			continue;
		node_of(relaxation, cut, ranked[i].state)->fate = drops ? DROPPED : KEPT;
		if (!drops)
			*array_add(relaxation->arena, &relaxation->kept[cut]) = ranked[i].state;
	}
	arena_close(scratch);
}

static bool follow_changes(struct relaxation *relaxation, uint32_t state)
{
	const struct layer *layer = relaxation->layers[relaxation->cut];
	relaxation->state = state;
	return steps_changes(relaxation->steps, relaxation->cut, layer_codes(layer, state),
		bytes_of(relaxation, relaxation->cut, state), reach, relaxation);
}

/* Evictions and relays, until they make nothing cheaper. */
static bool keep_changed(struct relaxation *relaxation)
{
	struct list *kept = &relaxation->kept[relaxation->cut];
	size_t arrived = kept->count;
	relaxation->waiting.count = 0;
	for (size_t k = 0; k < arrived; k++)
		if (!follow_changes(relaxation, kept->at[k]))
			return false;
	for (size_t i = 0; i < relaxation->waiting.count; i++) {
		uint32_t state = relaxation->waiting.at[i];
		struct node *node = node_of(relaxation, relaxation->cut, state);
		node->waits = false;
		if (node->fate != KEPT)
			*array_add(relaxation->arena, kept) = state;
		node->fate = KEPT;
		if (!follow_changes(relaxation, state))
			return false;
	}
	return true;
}

static bool go_forward(struct relaxation *relaxation, int cut)
{
	const struct layer *layer = relaxation->layers[cut];
	struct list *kept = &relaxation->kept[cut];
	relaxation->cut = cut;
	keep_cheapest(relaxation, cut);
	if (!keep_changed(relaxation))
		return false;
	for (size_t k = 0; k < kept->count && cut < relaxation->frame->space->op_count; k++) {
		relaxation->state = kept->at[k];
		if (!steps_options(relaxation->steps, cut, layer_codes(layer, kept->at[k]),
			    bytes_of(relaxation, cut, kept->at[k]), reach, relaxation))
			return false;
	}
	return true;
}

/* --- backward */

static int64_t rest_of(struct relaxation *relaxation, int cut, uint32_t state)
{
	const struct node *node = node_of(relaxation, cut, state);
	if (node->fate == KEPT || node->fate == GUESSED)
		return node->rest;
	int64_t floor = floor_of(relaxation, cut, state);
	if (node->fate != CONVERTED)
		return floor;
	int64_t rest = node_of(relaxation, cut, node->from)->rest;
	if (rest == JOINT_NEVER)
		return rest;
	return number_max(rest - node->convert, floor);
}

static bool look_back(void *context, const struct step *step)
{
	struct relaxation *relaxation = context;
	uint32_t state = layer_state(relaxation->layers[step->cut], step->codes);
	int64_t rest = cut_add(step->relaxed, rest_of(relaxation, step->cut, state));
	if (rest < relaxation->least)
		relaxation->least = rest;
	return run_go_on(relaxation->run, 1);
}

static bool is_complete(const struct relaxation *relaxation, uint32_t state)
{
	const struct frame *frame = relaxation->frame;
	const struct cut *end = &frame->cuts[frame->space->op_count];
	const uint16_t *codes = layer_codes(relaxation->layers[frame->space->op_count], state);
	for (int s = 0; s < end->slot_count; s++)
		if (frame->space->tensors[end->tensors[s]].output && !(codes[s] & CUT_VALID))
			return false;
	return true;
}

static bool go_backward(struct relaxation *relaxation, int cut)
{
	const struct layer *layer = relaxation->layers[cut];
	const struct list *kept = &relaxation->kept[cut];
	bool last = cut == relaxation->frame->space->op_count;
	relaxation->cut = cut;
	for (size_t k = 0; k < kept->count; k++) {
		uint32_t state = kept->at[k];
		relaxation->least = last && is_complete(relaxation, state) ? 0 : JOINT_NEVER;
		if (!last && !steps_options(relaxation->steps, cut, layer_codes(layer, state),
				     bytes_of(relaxation, cut, state), look_back, relaxation))
			return false;
		node_of(relaxation, cut, state)->rest = relaxation->least;
	}
	for (bool again = true; again;) {
		again = false;
		for (size_t k = kept->count; k-- > 0;) {
			uint32_t state = kept->at[k];
			int64_t before = relaxation->least = node_of(relaxation, cut, state)->rest;
			if (!steps_changes(relaxation->steps, cut, layer_codes(layer, state),
				    bytes_of(relaxation, cut, state), look_back, relaxation))
				return false;
			node_of(relaxation, cut, state)->rest = relaxation->least;
			again |= relaxation->least < before;
		}
	}
	return true;
}

struct relaxation *relax_open(struct run *run, const struct frame *frame, struct steps *steps,
	struct layer *const *layers, struct converter *converter, struct floor *floor,
	struct arena *arena)
{
	struct relaxation *relaxation = arena_new(arena, struct relaxation);
	relaxation->run = run;
	relaxation->frame = frame;
	relaxation->steps = steps;
	relaxation->layers = layers;
	relaxation->arena = arena;
	relaxation->converter = converter;
	relaxation->floor = floor;
	relaxation->nodes = arena_array(arena, struct nodes, frame->cut_count);
	relaxation->kept = arena_array(arena, struct list, frame->cut_count);
	return relaxation;
}

bool relax_run(struct relaxation *relaxation, size_t width, int64_t limit)
{
	relaxation->width = width;
	relaxation->limit = limit;
	node_of(relaxation, 0, 0)->cost = 0;
	for (int c = 0; c < relaxation->frame->cut_count; c++)
		if (!go_forward(relaxation, c))
			return false;
	for (int c = relaxation->frame->cut_count; c-- > 0;)
		if (!go_backward(relaxation, c))
			return false;
	return true;
}

/* From what it could be converted from. */
static int64_t guess(struct relaxation *relaxation, int cut, uint32_t state)
{
	const struct layer *layer = relaxation->layers[cut];
	const struct list *kept = &relaxation->kept[cut];
	int64_t best = floor_of(relaxation, cut, state);
	for (size_t k = 0; k < kept->count && k < CUT_RIVALS_MOST; k++) {
		int64_t rest = node_of(relaxation, cut, kept->at[k])->rest;
		if (rest <= best)
			continue;
		int64_t costs = convert(relaxation->converter, cut, layer_codes(layer, kept->at[k]),
			layer_codes(layer, state), JOINT_NEVER - 1);
		if (costs != JOINT_NEVER && rest == JOINT_NEVER)
			return JOINT_NEVER;
		if (costs < rest - best)
			best = rest - costs;
	}
	return best;
}

int64_t relax_rest(struct relaxation *relaxation, int cut, uint32_t state)
{
	struct node *node = node_of(relaxation, cut, state);
	if (node->fate == UNSEEN || node->fate == DROPPED) {
		int64_t rest = guess(relaxation, cut, state);
		node = node_of(relaxation, cut, state);
		node->rest = rest;
		node->fate = GUESSED;
	}
	return rest_of(relaxation, cut, state);
}
