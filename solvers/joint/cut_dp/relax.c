#include "solvers/joint/cut_dp/cut_dp.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/number.h"
#include "search/drive/solver.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct completion_step {
	int64_t value;
	int cores, fresh;
	bool ends_bundle;
};

/* Tensors count where bundles do. */
static bool frame_counts_bundles(const struct frame *frame)
{
	return frame->args_most && frame->over[frame->width_most];
}

/* One row for each rank. */
static size_t row_size(const struct frame *frame)
{
	return frame_counts_bundles(frame) ? (size_t)frame->args_most + 1 : 1;
}

static size_t frame_ended_rows(const struct frame *frame)
{
	return (size_t)frame->rank_count * row_size(frame);
}

size_t condition_count(const struct frame *frame)
{
	return frame_ended_rows(frame) + 1;
}

/* all of them */
static void completion_set(const struct frame *frame, int64_t *bounds, int64_t value)
{
	for (size_t i = 0; i <= frame_ended_rows(frame); i++)
		bounds[i] = value;
}

size_t condition_index(const struct frame *frame, int args, int widest)
{
	return (size_t)frame->ranks[widest] * row_size(frame) +
	       (frame_counts_bundles(frame) ? (size_t)args : 0);
}

static int64_t frame_over_rank(const struct frame *frame, int rank)
{
	return frame->over[frame->widths[rank]];
}

static size_t fresh_of(const struct frame *frame, const struct completion_step *step)
{
	return frame_counts_bundles(frame) ? (size_t)step->fresh : 0;
}

/* Lowers the bounds before a step to its value and the bounds behind it; after all steps, completion_close. */
static void completion_take(const struct frame *frame, int64_t *bounds,
	const struct completion_step *step, const int64_t *behind)
{
	size_t size = row_size(frame), fresh = fresh_of(frame, step);
	if (step->value >= BOUND_NEVER || fresh >= size)
		return;
	for (int r = frame->ranks[step->cores]; r < frame->rank_count; r++) {
		int64_t *row = bounds + (size_t)r * size;
		const int64_t *from = behind + (size_t)r * size + fresh;
		for (size_t a = 0; a + fresh < size; a++)
			row[a] = number_min(row[a],
				step->value + (step->ends_bundle ? behind[frame_ended_rows(frame)]
								 : from[a]));
	}
}

static void completion_close(const struct frame *frame, int64_t *bounds)
{
	size_t size = row_size(frame), end = frame_ended_rows(frame);
	for (int r = frame->rank_count - 1; r >= 0; r--) {
		int64_t *row = bounds + (size_t)r * size;
		int64_t wider = r + 1 < frame->rank_count
					? frame_over_rank(frame, r + 1) - frame_over_rank(frame, r)
					: 0;
		for (size_t a = 0; a < size && r + 1 < frame->rank_count; a++)
			row[a] = number_min(row[a], row[a + size] + wider);
		bounds[end] = number_min(bounds[end], row[0] + frame_over_rank(frame, r));
	}
	for (size_t i = 0; i < end; i++)
		bounds[i] = number_min(bounds[i], bounds[end]);
}

static void completion_spread(const struct frame *frame, int64_t *costs)
{
	size_t size = row_size(frame), end = frame_ended_rows(frame);
	for (size_t i = 0; i < end; i++)
		costs[end] = number_min(costs[end], costs[i]);
	for (int r = 0; r < frame->rank_count; r++) {
		int64_t *row = costs + (size_t)r * size;
		int64_t wider = r ? frame_over_rank(frame, r) - frame_over_rank(frame, r - 1) : 0;
		row[0] = number_min(row[0], costs[end] + frame_over_rank(frame, r));
		for (size_t a = 0; a < size; a++) {
			if (a)
				row[a] = number_min(row[a], row[a - 1]);
			if (r)
				row[a] = number_min(row[a], row[a - size] + wider);
		}
	}
}

/*
 * Lowers the costs behind a step; has it made any cheaper?  After all steps, completion_spread: a bundle that is as
 * good as another one costs no more.
 */
static void completion_start(const struct frame *frame, int64_t *costs)
{
	completion_set(frame, costs, BOUND_NEVER);
	costs[frame_ended_rows(frame)] = 0;
}

static bool completion_pay(const struct frame *frame, const int64_t *costs,
	const struct completion_step *step, int64_t *behind)
{
	size_t size = row_size(frame), fresh = fresh_of(frame, step), end = frame_ended_rows(frame);
	bool is_cheaper = false;
	if (step->value >= BOUND_NEVER || fresh >= size)
		return false;
	for (int r = frame->ranks[step->cores]; r < frame->rank_count; r++) {
		const int64_t *row = costs + (size_t)r * size;
		int64_t *to = behind + (size_t)r * size + fresh;
		for (size_t a = 0; a + fresh < size; a++) {
			int64_t *at = step->ends_bundle ? &behind[end] : &to[a];
			int64_t cost = row[a] + step->value;
			is_cheaper |= cost < *at;
			*at = number_min(*at, cost);
		}
	}
	return is_cheaper;
}

static int64_t least_behind(const struct frame *frame, const int64_t *costs,
	const struct completion_step *step, const int64_t *behind)
{
	size_t size = row_size(frame), fresh = fresh_of(frame, step);
	int64_t least = BOUND_NEVER;
	if (step->value >= BOUND_NEVER || fresh >= size)
		return BOUND_NEVER;
	for (int r = frame->ranks[step->cores]; r < frame->rank_count; r++) {
		const int64_t *row = costs + (size_t)r * size;
		const int64_t *from = behind + (size_t)r * size + fresh;
		for (size_t a = 0; a + fresh < size; a++)
			least = number_min(
				least, row[a] + (step->ends_bundle ? behind[frame_ended_rows(frame)]
								   : from[a]));
	}
	return cut_add(least, step->value);
}

/* The least sum of what was paid, this step, if there is one, and what is still to come behind it. */
static int64_t completion_least(const struct frame *frame, const int64_t *costs,
	const struct completion_step *step, const int64_t *behind)
{
	int64_t least = BOUND_NEVER;
	if (step)
		return least_behind(frame, costs, step, behind);
	for (size_t i = 0; i < condition_count(frame); i++)
		least = number_min(least, costs[i] + behind[i]);
	return least;
}

/* Each choice of codes of slots from this one on; false: too many. */
static bool add_states(struct potential *potential, uint16_t *codes, int slot, size_t most)
{
	const struct cut *at = &potential->frame->cuts[potential->cut];
	if (slot == at->slot_count) {
		layer_state(potential->states, codes);
		return potential_count(potential) <= most;
	}
	int views = potential->frame->space->tensors[at->tensors[slot]].view_count;
	for (uint16_t code = 0; code < 2 * (views + 1); code++) {
		codes[slot] = code;
		if (at->kept[slot][code] == code && !add_states(potential, codes, slot + 1, most))
			return false;
	}
	return true;
}

static void make_rows(struct potential *potential, struct arena *arena)
{
	potential->bounds = arena_array(arena, int64_t, potential_size(potential));
	for (size_t i = 0; i < potential_size(potential); i++)
		potential->bounds[i] = BOUND_NEVER;
}

struct potential *potential_open(
	const struct frame *frame, int cut, size_t most, struct arena *arena)
{
	uint16_t codes[CUT_SLOTS_MOST];
	struct potential *potential = arena_new(arena, struct potential);
	*potential = (struct potential){.frame = frame, .cut = cut};
	potential->states = layer_open(frame, cut, arena);
	if (!add_states(potential, codes, 0, most))
		return NULL;
	make_rows(potential, arena);
	return potential;
}

struct potential_lowering {
	const struct potential *potential;
	int64_t *row;
};

/* NULL: no such state */
static const int64_t *potential_find(const struct potential *potential, const uint16_t *codes)
{
	uint32_t state;
	return layer_find(potential->states, codes, &state) ? potential_row(potential, state)
							    : NULL;
}

static void lower(void *context, const uint16_t *codes)
{
	const struct potential_lowering *lowering = context;
	const int64_t *row = potential_find(lowering->potential, codes);
	for (size_t i = 0; row && i < condition_count(lowering->potential->frame); i++)
		lowering->row[i] = number_min(lowering->row[i], row[i]);
}

/* A state has no more than those that have less in LX (coarse_less). */
static void potential_lower(const struct potential *potential, const struct coarse_space *coarse)
{
	for (size_t s = 0; potential && s < potential_count(potential); s++) {
		struct potential_lowering lowering = {potential, potential_row(potential, s)};
		coarse_less(
			coarse, potential->cut, potential_codes(potential, s), lower, &lowering);
	}
}

/* The states of an image space have each the least of those that belong to it.  NULL becomes NULL. */
static struct potential *potential_merge(
	const struct potential *potential, const struct coarse_space *coarse, struct arena *arena)
{
	uint16_t codes[CUT_SLOTS_MOST];
	if (!potential)
		return NULL;
	struct potential *image = arena_new(arena, struct potential);
	*image = (struct potential){.frame = coarse->frame, .cut = potential->cut};
	image->states = layer_open(coarse->frame, potential->cut, arena);
	for (size_t s = 0; s < potential_count(potential); s++) {
		coarse_codes(coarse, potential->cut, potential_codes(potential, s), codes);
		layer_state(image->states, codes);
	}
	make_rows(image, arena);
	for (size_t s = 0; s < potential_count(potential); s++) {
		coarse_codes(coarse, potential->cut, potential_codes(potential, s), codes);
		struct potential_lowering lowering = {
			potential, potential_row(image, layer_state(image->states, codes))};
		lower(&lowering, potential_codes(potential, s));
	}
	return image;
}

size_t potential_count(const struct potential *potential)
{
	return layer_state_count(potential->states);
}

size_t potential_size(const struct potential *potential)
{
	return potential_count(potential) * condition_count(potential->frame);
}

const uint16_t *potential_codes(const struct potential *potential, size_t state)
{
	return layer_codes(potential->states, (uint32_t)state);
}

int64_t *potential_row(const struct potential *potential, size_t state)
{
	return potential->bounds + state * condition_count(potential->frame);
}

/* The fate of a state. DROPPED: it ends above the limit; LESS: it has less in LX than one that is kept. */
enum relax_fate { DROPPED, KEPT, LESS };

struct relax_node {
	int64_t *costs;  /* to come here; NULL: not reached */
	int64_t *bounds; /* still to come; NULL: not known yet */
	uint8_t fate;
	bool waits; /* to be looked at again */
};

struct nodes array(struct relax_node);
struct node_list array(uint32_t);

/* The states that relaxations of one coarse space search, with their steps. */
struct state_space {
	struct coarse_space coarse;
	struct steps *steps;
	bool relays; /* states may be reached by relays that come earlier than a lazy one */
};

struct relaxation {
	struct run *run;
	const struct state_space *states;
	const struct frame *frame;
	size_t count; /* of bounds */
	struct relaxation *coarser;
	struct arena *arena;
	size_t width;
	int64_t limit, floor;
	bool is_free;                        /* the budget counts, but does not end it */
	int from, to;                        /* cuts */
	const struct potential *begin, *end; /* NULL: of a whole answer */
	struct cut_layer **layers;
	struct nodes *nodes;    /* by cut, then state */
	struct node_list *kept; /* by cut: the cheapest first, then those of evictions and relays */
	int64_t *nothing;

	/* what is looked at */
	int cut;
	uint32_t state;
	struct node_list waiting;
	int64_t *bounds;
};

static struct relax_node *node_of(const struct relaxation *relaxation, int cut, uint32_t state)
{
	return &relaxation->nodes[cut].at[state];
}

static const int64_t *coarser_bounds(struct relaxation *relaxation, int cut, const uint16_t *codes)
{
	return relaxation->coarser ? relax_bounds(relaxation->coarser, cut, codes)
				   : relaxation->nothing;
}

static const int64_t *coarse_of(struct relaxation *relaxation, int cut, uint32_t state)
{
	return coarser_bounds(relaxation, cut, layer_codes(relaxation->layers[cut], state));
}

/* --- forward */

static bool relaxation_spend(const struct relaxation *relaxation)
{
	return relaxation->is_free ? run_count(relaxation->run, 1) : run_spend(relaxation->run, 1);
}

static struct completion_step completion_step_of(const struct cut_step *step)
{
	return (struct completion_step){.value = step->value,
		.cores = step->cores,
		.fresh = step->fresh,
		.ends_bundle = step->ends_bundle};
}

/* The node of a state; it is added if it is new. */
static uint32_t find_node(struct relaxation *relaxation, int cut, const uint16_t *codes)
{
	uint32_t state = layer_state(relaxation->layers[cut], codes);
	if (relaxation->nodes[cut].count == state)
		array_add(relaxation->arena, &relaxation->nodes[cut]);
	return state;
}

static int64_t *new_bounds(struct relaxation *relaxation, int64_t value)
{
	int64_t *bounds = arena_array(relaxation->arena, int64_t, relaxation->count);
	completion_set(relaxation->frame, bounds, value);
	return bounds;
}

static bool cut_step_reach(void *context, const struct cut_step *step)
{
	struct relaxation *relaxation = context;
	const struct frame *frame = relaxation->frame;
	struct completion_step completion = completion_step_of(step);
	const int64_t *costs = node_of(relaxation, relaxation->cut, relaxation->state)->costs;
	const int64_t *coarse = coarser_bounds(relaxation, step->cut, step->codes);
	if (!coarse || completion_least(frame, costs, &completion, coarse) > relaxation->limit)
		return relaxation_spend(relaxation);
	uint32_t state = find_node(relaxation, step->cut, step->codes);
	struct relax_node *to = node_of(relaxation, step->cut, state);
	if (!to->costs)
		to->costs = new_bounds(relaxation, BOUND_NEVER);
	bool cheaper = completion_pay(frame, costs, &completion, to->costs);
	if (step->cut == relaxation->cut && !to->waits && cheaper) {
		to->waits = true;
		*array_add(relaxation->arena, &relaxation->waiting) = state;
	}
	return relaxation_spend(relaxation);
}

/* Keeps the cheapest states at a cut; if there are too many, the limit falls. */
static void keep_cheapest(struct relaxation *relaxation, int cut)
{
	struct arena *scratch = arena_open();
	size_t count = relaxation->nodes[cut].count;
	struct cut_ranked *ranked = arena_array(scratch, struct cut_ranked, count);
	for (uint32_t s = 0; s < count; s++) {
		int64_t *costs = node_of(relaxation, cut, s)->costs;
		completion_spread(relaxation->frame, costs);
		ranked[s].value = completion_least(
			relaxation->frame, costs, NULL, coarse_of(relaxation, cut, s));
		ranked[s].number = s;
	}
	cut_rank(ranked, count);
	for (size_t i = 0; i < count && ranked[i].value <= relaxation->limit; i++) {
		if (relaxation->kept[cut].count == relaxation->width) {
			assert(ranked[i].value <= relaxation->limit);
			relaxation->limit = ranked[i].value - 1;
			break;
		}
		node_of(relaxation, cut, ranked[i].number)->fate = KEPT;
		*array_add(relaxation->arena, &relaxation->kept[cut]) = ranked[i].number;
	}
	arena_close(scratch);
}

static bool take_steps(
	struct relaxation *relaxation, uint32_t state, bool changes, step_visit *visit)
{
	const struct cut_layer *layer = relaxation->layers[relaxation->cut];
	relaxation->state = state;
	return (changes ? steps_changes : steps_options)(relaxation->states->steps, relaxation->cut,
		layer_codes(layer, state), layer_bytes(layer, state), visit, relaxation);
}

/* Evictions and relays, until they make nothing cheaper. */
static bool keep_changed(struct relaxation *relaxation)
{
	struct node_list *kept = &relaxation->kept[relaxation->cut];
	size_t arrived = kept->count;
	relaxation->waiting.count = 0;
	for (size_t k = 0; k < arrived; k++)
		if (!take_steps(relaxation, kept->at[k], true, cut_step_reach))
			return false;
	for (size_t i = 0; i < relaxation->waiting.count; i++) {
		uint32_t state = relaxation->waiting.at[i];
		struct relax_node *node = node_of(relaxation, relaxation->cut, state);
		node->waits = false;
		completion_spread(relaxation->frame, node->costs);
		if (node->fate != KEPT)
			*array_add(relaxation->arena, kept) = state;
		node->fate = KEPT;
		if (!take_steps(relaxation, state, true, cut_step_reach))
			return false;
	}
	return true;
}

/* --- states that have less in LX */

struct lesser_state {
	struct relaxation *relaxation;
	int cut;
	uint32_t of;
};

static void add_lesser(void *context, const uint16_t *codes)
{
	const struct lesser_state *lesser_state = context;
	struct relax_node *node = node_of(lesser_state->relaxation, lesser_state->cut,
		find_node(lesser_state->relaxation, lesser_state->cut, codes));
	if (node->fate == DROPPED)
		node->fate = LESS;
}

/* No less is still to come than from what has more. */
static void lower_lesser(void *context, const uint16_t *codes)
{
	const struct lesser_state *lesser_state = context;
	struct relaxation *relaxation = lesser_state->relaxation;
	struct relax_node *node = node_of(
		relaxation, lesser_state->cut, find_node(relaxation, lesser_state->cut, codes));
	const int64_t *bounds = node_of(relaxation, lesser_state->cut, lesser_state->of)->bounds;
	if (node->fate != LESS)
		return;
	if (!node->bounds)
		node->bounds = new_bounds(relaxation, BOUND_NEVER);
	for (size_t i = 0; i < relaxation->count; i++)
		node->bounds[i] = number_min(node->bounds[i], bounds[i]);
}

static void visit_lessers(struct relaxation *relaxation, int cut, coarse_visit *visit)
{
	const struct node_list *kept = &relaxation->kept[cut];
	struct lesser_state lesser_state = {.relaxation = relaxation, .cut = cut};
	for (size_t k = 0; k < kept->count; k++) {
		lesser_state.of = kept->at[k];
		coarse_less(&relaxation->states->coarse, cut,
			layer_codes(relaxation->layers[cut], lesser_state.of), visit,
			&lesser_state);
	}
}

static bool go_forward(struct relaxation *relaxation, int cut)
{
	const struct node_list *kept = &relaxation->kept[cut];
	relaxation->cut = cut;
	keep_cheapest(relaxation, cut);
	if (!keep_changed(relaxation))
		return false;
	for (size_t k = 0; k < kept->count && cut < relaxation->to; k++)
		if (!take_steps(relaxation, kept->at[k], false, cut_step_reach))
			return false;
	visit_lessers(relaxation, cut, add_lesser);
	return true;
}

/* --- backward */

static bool look_back(void *context, const struct cut_step *step)
{
	struct relaxation *relaxation = context;
	struct completion_step completion = completion_step_of(step);
	const int64_t *behind = relax_bounds(relaxation, step->cut, step->codes);
	if (behind)
		completion_take(relaxation->frame, relaxation->bounds, &completion, behind);
	return run_go_on(relaxation->run, 1);
}

#ifndef NDEBUG
/* Asserts that the bounds at hand are within those before, and that none is above what one may pay to begin a wider
 * bundle, or any, and go on from there. */
static bool check_lowered(const struct relaxation *relaxation, const int64_t *before)
{
	const int64_t *bounds = relaxation->bounds;
	size_t end = frame_ended_rows(relaxation->frame);
	for (size_t i = 0; i <= end; i++) {
		assert(0 <= bounds[i] && bounds[i] <= before[i]);
		assert(bounds[i] <= bounds[end]);
	}
	for (int r = 0; r < relaxation->frame->rank_count; r++)
		assert(bounds[end] <= bounds[(size_t)r * row_size(relaxation->frame)] +
					      frame_over_rank(relaxation->frame, r));
	return true;
}
#endif

/* Evictions and relays, until they make nothing cheaper. */
static bool look_at_changes(struct relaxation *relaxation)
{
	const struct node_list *kept = &relaxation->kept[relaxation->cut];
	size_t size = relaxation->count * sizeof(int64_t);
	for (bool again = true; again;) {
		again = false;
		for (size_t k = kept->count; k-- > 0;) {
			struct relax_node *node = node_of(relaxation, relaxation->cut, kept->at[k]);
			memcpy(relaxation->bounds, node->bounds, size);
			if (!take_steps(relaxation, kept->at[k], true, look_back))
				return false;
			completion_close(relaxation->frame, relaxation->bounds);
			assert(check_lowered(relaxation, node->bounds));
			again |= memcmp(relaxation->bounds, node->bounds, size) != 0;
			memcpy(node->bounds, relaxation->bounds, size);
		}
	}
	return true;
}

/* Sets the completion bounds of a state of the last cut. */
static void set_last(struct relaxation *relaxation, uint32_t state)
{
	const uint16_t *codes = layer_codes(relaxation->layers[relaxation->to], state);
	if (relaxation->end)
		memcpy(relaxation->bounds, potential_find(relaxation->end, codes),
			relaxation->count * sizeof *relaxation->bounds);
	else if (frame_is_complete(relaxation->frame, codes))
		completion_set(relaxation->frame, relaxation->bounds, 0);
}

static bool go_backward(struct relaxation *relaxation, int cut)
{
	const struct node_list *kept = &relaxation->kept[cut];
	bool last = cut == relaxation->to;
	relaxation->cut = cut;
	for (size_t k = 0; k < kept->count; k++) {
		struct relax_node *node = node_of(relaxation, cut, kept->at[k]);
		completion_set(relaxation->frame, relaxation->bounds, BOUND_NEVER);
		if (last)
			set_last(relaxation, kept->at[k]);
		if (!last && !take_steps(relaxation, kept->at[k], false, look_back))
			return false;
		completion_close(relaxation->frame, relaxation->bounds);
		node->bounds = arena_copy(relaxation->arena, relaxation->bounds,
			relaxation->count * sizeof *relaxation->bounds);
	}
	if (!look_at_changes(relaxation))
		return false;
	visit_lessers(relaxation, cut, lower_lesser);
	return true;
}

static struct state_space *state_space_open(
	const struct coarse_space *coarse, const struct steps *own, struct arena *arena)
{
	struct state_space *states = arena_new(arena, struct state_space);
	states->coarse = *coarse;
	states->steps = steps_open(coarse->frame, own, arena);
	steps_be_lazy(states->steps, true, true);
	states->relays = frame_relays(coarse->frame);
	return states;
}

static void state_space_close(struct state_space *states)
{
	steps_close(states->steps);
}

struct relaxation *relax_open(struct run *run, const struct state_space *states,
	struct relaxation *coarser, int64_t floor, struct arena *arena)
{
	struct relaxation *relaxation = arena_new(arena, struct relaxation);
	const struct frame *frame = states->coarse.frame;
	relaxation->run = run;
	relaxation->states = states;
	relaxation->frame = frame;
	relaxation->count = condition_count(frame);
	relaxation->coarser = coarser;
	relaxation->floor = floor;
	relaxation->arena = arena;
	relaxation->to = frame->space->op_count;
	relaxation->bounds = arena_array(arena, int64_t, relaxation->count);
	relaxation->nothing = arena_array(arena, int64_t, relaxation->count);
	relaxation->nodes = arena_array(arena, struct nodes, frame->cut_count);
	relaxation->kept = arena_array(arena, struct node_list, frame->cut_count);
	relaxation->layers = arena_array(arena, struct cut_layer *, frame->cut_count);
	for (int c = 0; c < frame->cut_count; c++)
		relaxation->layers[c] = layer_open(frame, c, arena);
	return relaxation;
}

void relax_between(struct relaxation *relaxation, int from, int to, const struct potential *costs,
	const struct potential *bounds)
{
	const struct coarse_space *coarse = &relaxation->states->coarse;
	relaxation->from = from;
	relaxation->to = to;
	relaxation->begin = potential_merge(costs, coarse, relaxation->arena);
	relaxation->end = potential_merge(bounds, coarse, relaxation->arena);
	potential_lower(relaxation->end, coarse);
}

static void begin_at(struct relaxation *relaxation, const uint16_t *codes, const int64_t *costs)
{
	if (!coarser_bounds(relaxation, relaxation->from, codes))
		return;
	struct relax_node *node = node_of(
		relaxation, relaxation->from, find_node(relaxation, relaxation->from, codes));
	node->costs = new_bounds(relaxation, BOUND_NEVER);
	if (costs)
		memcpy(node->costs, costs, relaxation->count * sizeof *costs);
	else
		completion_start(relaxation->frame, node->costs);
}

static void relaxation_begin(struct relaxation *relaxation)
{
	const struct potential *potential = relaxation->begin;
	uint16_t codes[CUT_SLOTS_MOST];
	for (size_t s = 0; potential && s < potential_count(potential); s++)
		begin_at(relaxation, potential_codes(potential, s), potential_row(potential, s));
	frame_start(relaxation->frame, codes);
	if (!potential)
		begin_at(relaxation, codes, NULL);
}

bool relax_run(struct relaxation *relaxation, size_t width, int64_t limit, bool is_free)
{
	relaxation->width = width;
	relaxation->limit = limit;
	relaxation->is_free = is_free;
	relaxation_begin(relaxation);
	for (int c = relaxation->from; c <= relaxation->to; c++) {
		if (!go_forward(relaxation, c))
			return false;
		if (relaxation->limit < relaxation->floor)
			return true;
	}
	for (int c = relaxation->to; c >= relaxation->from; c--)
		if (!go_backward(relaxation, c))
			return false;
	return true;
}

size_t relax_condition_count(const struct relaxation *relaxation)
{
	return relaxation->count;
}

int64_t relax_limit(const struct relaxation *relaxation)
{
	return relaxation->limit;
}

int64_t relax_least(const struct relaxation *relaxation)
{
	const struct nodes *nodes = &relaxation->nodes[relaxation->from];
	int64_t least = cut_add(relaxation->limit, 1);
	for (size_t n = 0; n < nodes->count; n++)
		if (nodes->at[n].costs && nodes->at[n].bounds)
			least = number_min(
				least, completion_least(relaxation->frame, nodes->at[n].costs, NULL,
					       nodes->at[n].bounds));
	return least;
}

const int64_t *relax_bounds(struct relaxation *relaxation, int cut, const uint16_t *codes)
{
	uint16_t image[CUT_SLOTS_MOST];
	uint32_t state;
	coarse_codes(&relaxation->states->coarse, cut, codes, image);
	bool known = layer_find(relaxation->layers[cut], image, &state);
	if (known && node_of(relaxation, cut, state)->fate != DROPPED)
		return node_of(relaxation, cut, state)->bounds;
	return relaxation->states->relays ? coarser_bounds(relaxation, cut, codes) : NULL;
}

struct relaxations relaxations_open(
	const struct frame *frame, const struct steps *own, struct arena *arena)
{
	return (struct relaxations){.arena = arena,
		.own = own,
		.relaxed = frame_with_less_room(frame, arena),
		.before.distinct = -1,
		.states = 1};
}

static void relaxations_add_space(struct relaxations *relaxations)
{
	const struct coarse_space none = {.frame = relaxations->relaxed};
	int distinct = relaxations->before.distinct;
	while (relaxations->count < RELAXATIONS_MOST - 1 &&
		relaxations->before.distinct == distinct) {
		relaxations->before = coarse_make(relaxations->relaxed,
			relaxations->before.is_coarse ? &relaxations->before : NULL,
			relaxations->states, relaxations->arena);
		relaxations->states *= CUT_COARSE_TIMES;
	}
	relaxations->is_whole =
		relaxations->count == RELAXATIONS_MOST - 1 ||
		relaxations->before.distinct == relaxations->relaxed->space->tensor_count;
	relaxations->spaces[relaxations->count++] =
		state_space_open(relaxations->is_whole ? &none : &relaxations->before,
			relaxations->own, relaxations->arena);
}

const struct state_space *relaxations_space(struct relaxations *relaxations, int level)
{
	if (level == relaxations->count)
		relaxations_add_space(relaxations);
	return relaxations->spaces[level];
}

bool relaxations_ends(const struct relaxations *relaxations, int level)
{
	return relaxations->is_whole && level == relaxations->count - 1;
}

void relaxations_close(struct relaxations *relaxations)
{
	for (int g = 0; g < relaxations->count; g++)
		state_space_close(relaxations->spaces[g]);
}
