#include "base/arena.h"
#include "base/array.h"
#include "base/stopper.h"
#include "search/drive/solver.h"
#include "solvers/menu/layer.h"
#include "solvers/menu/menu.h"

#include <assert.h>
#include <stdlib.h>

/*
 * Divisions, residency and addresses of a capture, by labels over the order in which buffers are
 * made.
 *
 *	state        for each live buffer: its division if it is in LX, else HBM.  The division of a
 *	             buffer in HBM restricts no reader, so the cheapest that its parents allow is taken
 *	label        the cheapest way into a state: costs add up, so of equal states one is kept
 *	relaxation   addresses are ignored: live bytes must not exceed the capacity
 *	lower bound  of the buffers to come: those that no division lets stay are spilled, all take the
 *	             most cores and the least squares of their menus
 *	passes       of growing width; a label is dropped if its lower bound does not beat the
 *	             incumbent, or if the pass has more labels than its width.  A pass that drops none
 *	             for its width proves the incumbent
 *	addresses    the packer places the buffers that the best label keeps.  A set that does not fit
 *	             becomes a no-good, and the pass is repeated: labels carry a bit for each no-good
 *	             that they still contain
 */
enum { WIDTH_FIRST = 300, WIDTH_TIMES = 10, WIDTH_MOST = 300000, NOGOODS_MOST = 64, IN_HBM = -1 };

/* Buffers that do not fit together in these sizes. */
struct nogood {
	size_t count;
	int last;       /* the one that is decided last, by place in the order */
	int64_t *bytes; /* by buffer; -1: it is not among them */
};

struct menu_search {
	struct run *run;
	struct arena *arena;
	struct menu_problem menu;
	struct array(struct nogood) nogoods;
	struct capture_answer best;  /* the incumbent */
	struct capture_cost dropped; /* least lower bound that this pass dropped for its width */
	struct capture_cost bound;   /* no answer is below */
	bool is_narrow;              /* this pass dropped labels for its width */
	int *hits;                   /* by division of one menu: parents in LX that allow it */
};

/* Everything in HBM, each op on the most cores: legal whatever the capacity. */
static void set_incumbent(struct menu_search *search)
{
	struct capture_answer *best = &search->best;
	best->divisions = arena_array(search->arena, int, search->menu.count);
	best->addresses = arena_array(search->arena, int64_t, search->menu.count);
	for (size_t b = 0; b < search->menu.count; b++) {
		const struct capture_buffer *buffer = search->menu.items[b].buffer;
		for (size_t d = 1; d < buffer->division_count; d++)
			if (menu_is_better(
				    &buffer->divisions[d], &buffer->divisions[best->divisions[b]]))
				best->divisions[b] = (int)d;
		best->addresses[b] = UNPLACED;
	}
	best->cost = capture_cost(search->menu.question->capture, best);
}

static void offer(struct menu_search *search)
{
	struct arena *arena = run_arena(search->run);
	struct capture_answer *answer = arena_copy(arena, &search->best, sizeof search->best);
	answer->divisions =
		arena_copy(arena, search->best.divisions, search->menu.count * sizeof(int));
	answer->addresses =
		arena_copy(arena, search->best.addresses, search->menu.count * sizeof(int64_t));
	struct candidate candidate = {.stage = STAGE_MENU, .menu = answer};
	run_offer(search->run, &candidate, (double)answer->cost.spilled);
}

/* --- one pass */

/* One label of the layer before, on its way through a step. */
struct expansion {
	struct menu_search *search;
	struct arena *scratch;
	size_t step;
	const struct menu_layer *from;
	struct menu_layer *to;
	int32_t label;
	const int *state; /* of the label */
	const int *place; /* by slot of `to`: the slot of `from`, or -1 for the new buffer */
	int64_t load;     /* live bytes in LX before the new buffer */
	int *next;        /* a state of `to` */
};

static int division_at(const struct expansion *at, int buffer)
{
	for (size_t s = 0; s < at->from->width; s++)
		if (at->from->slots[s] == buffer)
			return at->state[s];
	return IN_HBM;
}

/* True if buffer b may lie on a parent that ends as it begins. */
static bool may_share(const struct expansion *at, int b, int division)
{
	const struct menu_item *item = &at->search->menu.items[b];
	for (size_t e = 0; e < item->buffer->edge_count; e++) {
		const struct capture_edge *edge = &item->edges[e];
		const struct capture_buffer *parent = at->search->menu.items[edge->parent].buffer;
		if (!edge->is_in_place || parent->end != item->buffer->start + 1)
			continue;
		int of_parent = division_at(at, edge->parent);
		if (of_parent != IN_HBM &&
			capture_bytes(parent, of_parent) == capture_bytes(item->buffer, division))
			return true;
	}
	return false;
}

/* Live bytes at the start of the new buffer, without it: those that may share count once. */
static int64_t load_before(const struct expansion *at, int b)
{
	const struct menu_search *search = at->search;
	int64_t load = 0, start = search->menu.items[b].buffer->start;
	for (size_t s = 0; s < at->from->width; s++) {
		int other = at->from->slots[s];
		if (at->state[s] == IN_HBM || search->menu.items[other].buffer->end <= start)
			continue;
		if (search->menu.items[other].buffer->start == start &&
			may_share(at, other, at->state[s]))
			continue;
		load += menu_bytes(&search->menu, other, at->state[s]);
	}
	return load;
}

/* The no-goods that the label still contains after the choice; false if it contains one whole. */
static bool pass_nogoods(
	const struct menu_search *search, size_t step, bool stays, int division, uint64_t *alive)
{
	int b = search->menu.order[step];
	for (size_t n = 0; n < search->nogoods.count; n++) {
		const struct nogood *nogood = &search->nogoods.at[n];
		if (nogood->bytes[b] < 0 || !(*alive >> n & 1))
			continue;
		if (!stays ||
			capture_bytes(search->menu.items[b].buffer, division) != nogood->bytes[b])
			*alive &= ~(UINT64_C(1) << n);
		else if (nogood->last == (int)step)
			return false;
	}
	return true;
}

static void take_choice(struct expansion *at, bool stays, int division)
{
	struct menu_search *search = at->search;
	const struct menu_label *from = &at->from->labels.at[at->label];
	const struct menu_item *item = &search->menu.items[search->menu.order[at->step]];
	const struct capture_division *chosen = &item->buffer->divisions[division];
	struct capture_cost step = {
		stays ? 0 : item->buffer->cost, -chosen->cores, chosen->squares};
	struct menu_label label = {.cost = menu_add(&from->cost, &step),
		.nogoods = from->nogoods,
		.before = at->label,
		.division = division,
		.stays = stays};
	struct capture_cost bound = menu_add(&label.cost, &search->menu.rest[at->step + 1]);
	if (capture_compare(&bound, &search->best.cost) >= 0 ||
		!pass_nogoods(search, at->step, stays, division, &label.nogoods))
		return;
	for (size_t s = 0; s < at->to->width; s++) {
		const struct menu_item *kept = &search->menu.items[at->to->slots[s]];
		int known =
			at->place[s] < 0 ? (stays ? division : IN_HBM) : at->state[at->place[s]];
		at->next[s] = known == IN_HBM ? IN_HBM : kept->same[known];
	}
	layer_keep(at->scratch, at->to, &label, at->next);
}

/* Counts for each division of the new buffer the parents in LX that allow it; how many there are. */
static int count_hits(struct expansion *at, const struct menu_item *item)
{
	int parents = 0;
	for (size_t d = 0; d < item->buffer->division_count; d++)
		at->search->hits[d] = 0;
	for (size_t e = 0; e < item->buffer->edge_count; e++) {
		int division = division_at(at, item->edges[e].parent);
		if (division == IN_HBM)
			continue;
		size_t from, to;
		menu_row(&item->edges[e], division, &from, &to);
		for (size_t p = from; p < to; p++)
			at->search->hits[item->edges[e].pairs[p].own]++;
		parents++;
	}
	return parents;
}

static void expand(struct expansion *at)
{
	struct menu_search *search = at->search;
	int b = search->menu.order[at->step], best = -1;
	const struct menu_item *item = &search->menu.items[b];
	const struct capture_division *menu = item->buffer->divisions;
	int parents = count_hits(at, item);
	at->load = load_before(at, b);
	for (size_t d = 0; d < item->buffer->division_count; d++) {
		if (search->hits[d] < parents)
			continue;
		if (best < 0 || menu_is_better(&menu[d], &menu[best]))
			best = (int)d;
		int64_t bytes = may_share(at, b, (int)d) ? 0 : menu_bytes(&search->menu, b, (int)d);
		if (item->usable[d] && at->load + bytes <= search->menu.room)
			take_choice(at, true, (int)d);
	}
	if (best >= 0)
		take_choice(at, false, best);
}

/* The buffers that live after a step, and where each stood before. */
static void set_slots(struct menu_search *search, struct arena *arena, size_t step,
	const struct menu_layer *from, struct menu_layer *to, int **place)
{
	int64_t start = search->menu.items[search->menu.order[step]].buffer->start;
	int *slots = arena_array(arena, int, from->width + 1);
	*place = arena_array(arena, int, from->width + 1);
	for (size_t s = 0; s < from->width; s++) {
		if (search->menu.items[from->slots[s]].buffer->end <= start)
			continue;
		(*place)[to->width] = (int)s;
		slots[to->width++] = from->slots[s];
	}
	(*place)[to->width] = -1;
	slots[to->width++] = search->menu.order[step];
	to->slots = slots;
	for (size_t s = 0; s < to->width; s++)
		menu_merge(&search->menu, slots[s], step);
}

struct rank {
	struct capture_cost cost;
	size_t label;
};

static int compare_ranks(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;
	int order = capture_compare(&x->cost, &y->cost);
	return order ? order : (x->label > y->label) - (x->label < y->label);
}

/* Keeps the cheapest labels; of what goes, the least lower bound is noted. */
static void narrow_layer(struct menu_search *search, struct arena *scratch,
	struct menu_layer *layer, size_t width, size_t step)
{
	size_t count = layer->labels.count;
	if (count <= width)
		return;
	struct rank *ranks = arena_array(scratch, struct rank, count);
	for (size_t i = 0; i < count; i++)
		ranks[i] = (struct rank){layer->labels.at[i].cost, i};
	qsort(ranks, count, sizeof *ranks, compare_ranks);
	struct capture_cost first = menu_add(&ranks[width].cost, &search->menu.rest[step + 1]);
	if (!search->is_narrow || capture_compare(&first, &search->dropped) < 0)
		search->dropped = first;
	search->is_narrow = true;
	struct menu_label *labels = arena_array(scratch, struct menu_label, width);
	int *states = arena_array(scratch, int, width * layer->width);
	for (size_t i = 0; i < width; i++) {
		labels[i] = layer->labels.at[ranks[i].label];
		for (size_t s = 0; s < layer->width; s++)
			states[i * layer->width + s] =
				layer->states.at[ranks[i].label * layer->width + s];
	}
	layer->labels.at = labels;
	layer->labels.count = layer->labels.capacity = width;
	layer->states.at = states;
	layer->states.count = layer->states.capacity = width * layer->width;
}

/* Fills the layer of a step; false if the run is to end. */
static bool make_layer(struct menu_search *search, struct arena *scratch, size_t step,
	struct menu_layer *layers, size_t width)
{
	struct expansion at = {.search = search,
		.scratch = scratch,
		.step = step,
		.from = &layers[step],
		.to = &layers[step + 1]};
	int *place;
	set_slots(search, scratch, step, at.from, at.to, &place);
	at.place = place;
	at.next = arena_array(scratch, int, at.to->width);
	size_t menu = search->menu.items[search->menu.order[step]].buffer->division_count;
	for (size_t i = 0; i < at.from->labels.count; i++) {
		at.label = (int32_t)i;
		at.state = at.from->states.at + i * at.from->width;
		expand(&at);
		if (!run_spend(search->run, menu))
			return false;
	}
	narrow_layer(search, scratch, at.to, width, step);
	return true;
}

/* The best label of the last layer as an answer without addresses; false if there is none. */
static bool read_answer(struct menu_search *search, const struct menu_layer *layers,
	struct capture_answer *out, bool *stays)
{
	const struct menu_layer *last = &layers[search->menu.count];
	size_t best = 0;
	for (size_t i = 1; i < last->labels.count; i++)
		if (capture_compare(&last->labels.at[i].cost, &last->labels.at[best].cost) < 0)
			best = i;
	if (!last->labels.count)
		return false;
	out->cost = last->labels.at[best].cost;
	for (size_t step = search->menu.count; step > 0; step--) {
		const struct menu_label *label = &layers[step].labels.at[best];
		out->divisions[search->menu.order[step - 1]] = label->division;
		stays[search->menu.order[step - 1]] = label->stays;
		best = (size_t)label->before;
	}
	return true;
}

/* One pass of a width: the best answer below the incumbent, addresses aside.  *ended: by the run. */
static bool make_pass(struct menu_search *search, struct arena *scratch, size_t width,
	struct capture_answer *out, bool *stays, bool *ended)
{
	struct menu_layer *layers = arena_array(scratch, struct menu_layer, search->menu.count + 1);
	*array_add(scratch, &layers[0].labels) = (struct menu_label){.nogoods = UINT64_MAX};
	search->is_narrow = false;
	for (size_t step = 0; step < search->menu.count; step++)
		if (!make_layer(search, scratch, step, layers, width)) {
			*ended = true;
			return false;
		}
	return read_answer(search, layers, out, stays);
}

/* --- addresses */

/* The set does not fit: of all that the packer was given, or of the few that it names. */
static void add_nogood(struct menu_search *search, const struct menu_packing *kept,
	const struct capture_answer *answer, const struct answer *packed)
{
	struct nogood nogood = {.last = -1};
	size_t count = packed->core_count ? packed->core_count : kept->packing.count;
	nogood.bytes = arena_array(search->arena, int64_t, search->menu.count);
	for (size_t b = 0; b < search->menu.count; b++)
		nogood.bytes[b] = -1;
	for (size_t i = 0; i < count; i++) {
		int b = kept->buffers[packed->core_count ? packed->core[i] : (int)i];
		nogood.bytes[b] = capture_bytes(search->menu.items[b].buffer, answer->divisions[b]);
	}
	for (size_t step = 0; step < search->menu.count; step++)
		if (nogood.bytes[search->menu.order[step]] >= 0)
			nogood.last = (int)step;
	assert(nogood.last >= 0);
	nogood.count = count;
	*array_add(search->arena, &search->nogoods) = nogood;
}

/* Gives addresses to what the answer keeps: VERDICT_YES, the incumbent; VERDICT_NO, a no-good. */
static enum verdict place_answer(
	struct menu_search *search, struct capture_answer *answer, const bool *stays)
{
	struct menu_packing kept =
		menu_packing(search->arena, &search->menu, answer->divisions, stays);
	struct problem problem = {.stage = STAGE_PLACE, .packing = &kept.packing};
	struct answer packed = run_ask(
		search->run, solver_for(STAGE_PLACE, FOR_PACKINGS), &problem, 0, 1, search->arena);
	for (size_t b = 0; b < search->menu.count; b++)
		answer->addresses[b] = UNPLACED;
	if (packed.candidate_count) {
		for (size_t k = 0; k < kept.packing.count; k++)
			answer->addresses[kept.buffers[k]] =
				packed.candidates[0].placement->addresses[k];
		search->best = *answer;
		offer(search);
		return VERDICT_YES;
	}
	if (packed.status != PROOF_INFEASIBLE || search->nogoods.count == NOGOODS_MOST) {
		run_complain(search->run, false, -1,
			packed.status != PROOF_INFEASIBLE
				? "the packer left open whether the best set of buffers fits"
				: "%d sets of buffers have the least cost and no addresses; more are "
				  "not looked at",
			NOGOODS_MOST);
		return VERDICT_OPEN;
	}
	add_nogood(search, &kept, answer, &packed);
	return VERDICT_NO;
}

/* --- all passes */

static void raise_bound(struct menu_search *search, const struct capture_cost *bound)
{
	if (capture_compare(bound, &search->bound) > 0)
		search->bound = *bound;
}

/* After a pass that found nothing better: false if that proves the incumbent. */
static bool is_open(struct menu_search *search)
{
	if (!search->is_narrow)
		raise_bound(search, &search->best.cost);
	else
		raise_bound(search, capture_compare(&search->dropped, &search->best.cost) < 0
					    ? &search->dropped
					    : &search->best.cost);
	return capture_compare(&search->bound, &search->best.cost) < 0;
}

/* One pass, and addresses for what it found; false if no further pass is to be made. */
static bool improve(struct menu_search *search, size_t *width)
{
	bool ended = false, *stays = arena_array(search->arena, bool, search->menu.count);
	struct arena *scratch = arena_open();
	struct capture_answer answer = {
		.divisions = arena_array(search->arena, int, search->menu.count),
		.addresses = arena_array(search->arena, int64_t, search->menu.count)};
	bool found = make_pass(search, scratch, *width, &answer, stays, &ended);
	arena_close(scratch);
	enum verdict placed = found ? place_answer(search, &answer, stays) : VERDICT_NO;
	if (ended || placed == VERDICT_OPEN)
		return false;
	if (found && placed == VERDICT_NO) /* the same again, with one no-good more */
		return true;
	if (!is_open(search))
		return false;
	if (search->is_narrow && *width == WIDTH_MOST) {
		run_complain(search->run, false, -1,
			"a pass may have %d labels a step, and needs more: the bound is not exact",
			WIDTH_MOST);
		return false;
	}
	*width = *width * WIDTH_TIMES < WIDTH_MOST ? *width * WIDTH_TIMES : WIDTH_MOST;
	return true;
}

static void find_best(struct menu_search *search)
{
	size_t width = WIDTH_FIRST;
	while (improve(search, &width))
		;
}

static void run_live_dp(struct run *run, const struct problem *problem)
{
	struct menu_search search = {.run = run, .arena = arena_open()};
	search.menu = menu_open(search.arena, problem->menu);
	size_t menu = 1;
	for (size_t b = 0; b < search.menu.count; b++)
		if (search.menu.items[b].buffer->division_count > menu)
			menu = search.menu.items[b].buffer->division_count;
	search.hits = arena_array(search.arena, int, menu);
	set_incumbent(&search);
	offer(&search);
	search.bound = search.menu.rest[0];
	find_best(&search);
	bool optimal = capture_compare(&search.bound, &search.best.cost) >= 0;
	run_prove(run, optimal ? PROOF_OPTIMAL : PROOF_BOUND, (double)search.bound.spilled);
	arena_close(search.arena);
}

const struct solver menu_live_dp_solver = {
	.stage = STAGE_MENU,
	.name = "live_dp",
	.summary = "dynamic program over live buffers, addresses by place/exact; proves",
	.purposes = FOR_CAPTURES,
	.proves = true,
	.run = run_live_dp,
};
