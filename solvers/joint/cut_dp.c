#include "solvers/joint/cut_dp/cut_dp.h"
#include "base/arena.h"
#include "base/number.h"
#include "search/drive/solver.h"
#include "search/joint/joint_plan.h"

#include <assert.h>
#include <math.h>
#include <string.h>

struct run;

/* A search, and the beam that it is at: labels from cut to cut, of which those with the least bounds are gone on
 * from. */
struct search {
	struct run *run;
	const struct frame *frame;
	struct steps *steps;
	struct relaxations relaxations;
	struct joint_answer *best; /* NULL: none yet */
	int64_t bound;             /* proven */
	int64_t unpacked;          /* the least value of an answer without addresses */
	bool found;                /* an answer, with addresses or without, in this room */
	struct effort effort;      /* of the proof */

	/* one beam */
	struct arena *arena;
	struct cut_layer **layers; /* by cut */
	struct relaxation *relaxation;
	bool lazy;             /* step.h */
	bool is_free, goes_on; /* until an answer is found the budget counts, but does not end it */
	size_t width;          /* labels of a cut that are gone on from */
	int64_t limit;         /* bounds above it are not looked at */
	int64_t dropped;       /* the least bound of those that were not */

	/* what is being expanded */
	int cut;
	uint32_t state;
	bool changes; /* evictions and relays: of labels that are chosen */
};

/* False: no answer that goes on from the label is looked for. */
static bool cut_search_bound(const struct search *search, int cut, struct label *label)
{
	assert(label->state < layer_state_count(search->layers[cut]));
	const uint16_t *codes = layer_codes(search->layers[cut], label->state);
	const int64_t *bounds = relax_bounds(search->relaxation, cut, codes);
	int64_t rest = !bounds ? BOUND_NEVER
		       : label->bundle.args == LABEL_CLOSED
			       ? bounds[relax_condition_count(search->relaxation) - 1]
			       : bounds[condition_index(
					 search->frame, label->bundle.args, label->bundle.widest)];
	assert(rest >= 0);
	label->bound = cut_add(label->cost, rest);
	return rest < BOUND_NEVER && label->bound <= search->limit;
}

/* A label behind a step: in its parent's bundle, or in a new one. */
static bool cut_search_enter(const struct search *search, const struct label *from,
	const struct cut_step *step, bool begins, struct label *out)
{
	const struct frame *frame = search->frame;
	const struct bundle *before = &from->bundle;
	assert(step->value >= 0 && 0 <= step->cores && step->cores <= frame->width_most);
	if (!begins && (step->alone || before->args == LABEL_CLOSED))
		return false;
	uint64_t in_hbm = begins ? 0 : before->in_hbm;
	int args = begins ? 0 : before->args;
	int widest = begins ? step->cores : before->widest;
	if (step->cores > widest)
		widest = step->cores;
	args += step->args - __builtin_popcountll(in_hbm & step->args_before);
	assert(args >= (begins ? 0 : before->args));
	if (frame->args_most && args > frame->args_most)
		return false;
	in_hbm = steps_slots(search->steps, search->cut, step->cut, in_hbm) | step->args_after;
	out->bundle = (struct bundle){.widest = (uint16_t)widest};
	if (step->ends_bundle) {
		out->bundle.args = LABEL_CLOSED;
	} else if (frame->args_most) {
		out->bundle.args = (uint16_t)args;
		out->bundle.in_hbm = in_hbm & frame->cuts[step->cut].mentions;
	}
	int64_t wider =
		begins ? frame->over[widest] : frame->over[widest] - frame->over[before->widest];
	out->cost = cut_add(cut_add(from->cost, step->value), wider);
	out->begins_bundle = begins;
	assert(out->cost >= from->cost);
	assert(out->bundle.args == LABEL_CLOSED || !frame->args_most ||
		out->bundle.args <= frame->args_most);
	return out->cost != JOINT_NEVER;
}

/* A relay on the way to a lazy option: its label is part of a path, and not gone on from but by that. */
static uint32_t add_relay(struct search *search, uint32_t parent, const struct step_relay *relay,
	uint16_t *codes, bool begins)
{
	struct cut_layer *layer = search->layers[search->cut];
	struct cut_step step = {.kind = JOINT_RELAY,
		.value = relay->value,
		.cores = relay->cores,
		.cut = search->cut};
	struct label label = {.parent_cut = (uint16_t)search->cut,
		.parent = parent,
		.kind = JOINT_RELAY,
		.step = (uint32_t)search->frame->cuts[search->cut].tensors[relay->slot],
		.view = (uint16_t)relay->view};
	codes[relay->slot] = cut_code(codes[relay->slot] & CUT_VALID, relay->view);
	if (!cut_search_enter(search, layer_label(layer, parent), &step, begins, &label))
		return LABEL_NONE;
	label.state = layer_state(layer, codes);
	label.dominated = true;
	return layer_append(layer, &label);
}

static void add_option(struct search *search, uint32_t parent, const struct cut_step *step,
	uint32_t state, bool begins)
{
	struct label label = {.parent_cut = (uint16_t)search->cut,
		.parent = parent,
		.kind = (uint8_t)step->kind,
		.step = step->which,
		.view = (uint16_t)step->view,
		.state = state};
	if (cut_search_enter(search, layer_label(search->layers[search->cut], parent), step, begins,
		    &label) &&
		cut_search_bound(search, step->cut, &label) &&
		layer_add(search->layers[step->cut], &label) != LABEL_NONE) {
		search->effort.labels++;
		search->goes_on &=
			search->is_free ? run_count(search->run, 1) : run_spend(search->run, 1);
	}
}

/* The relays first; a bundle may begin with the first of them, or with the option. */
static void go_relaying(struct search *search, uint32_t parent, const struct cut_step *step,
	uint32_t state, bool first)
{
	struct cut_layer *layer = search->layers[search->cut];
	uint16_t codes[CUT_SLOTS_MOST];
	struct cut_step option = *step;
	memcpy(codes, layer_codes(layer, search->state),
		sizeof *codes * (size_t)search->frame->cuts[search->cut].slot_count);
	for (int r = 0; r < step->relay_count && parent != LABEL_NONE; r++) {
		option.value -= step->relays[r].value;
		parent = add_relay(search, parent, &step->relays[r], codes, first && r == 0);
	}
	if (parent == LABEL_NONE)
		return;
	add_option(search, parent, &option, state, false);
	if (!first || step->alone)
		add_option(search, parent, &option, state, true);
}

/* Is a label that takes the step, at the least, within what is searched? */
static bool is_worth(struct search *search, const struct label *from, const struct cut_step *step,
	uint32_t state)
{
	struct label label = {.cost = cut_add(from->cost, step->value), .state = state};
	label.bundle = from->bundle;
	label.bundle.args = 0;
	if (step->cores > label.bundle.widest)
		label.bundle.widest = (uint16_t)step->cores;
	return label.cost != JOINT_NEVER && cut_search_bound(search, step->cut, &label);
}

static void go_from(
	struct search *search, uint32_t parent, const struct cut_step *step, uint32_t state)
{
	if (step->relay_count) {
		if (!is_worth(
			    search, layer_label(search->layers[search->cut], parent), step, state))
			return;
		go_relaying(search, parent, step, state, false);
		go_relaying(search, parent, step, state, true);
	} else {
		add_option(search, parent, step, state, false);
		add_option(search, parent, step, state, true);
	}
}

static bool take_step(void *context, const struct cut_step *step)
{
	struct search *search = context;
	search->effort.edges++;
	struct cut_layer *here = search->layers[search->cut];
	uint32_t state = layer_state(search->layers[step->cut], step->codes);
	assert(search->changes ? step->cut == search->cut : step->cut > search->cut);
	assert(layer_bytes(search->layers[step->cut], state) <= search->frame->space->capacity);
	for (uint32_t i = layer_first(here, search->state), next; i != LABEL_NONE; i = next) {
		next = layer_label(here, i)->next;
		if (!search->changes || layer_label(here, i)->is_chosen)
			go_from(search, i, step, state);
	}
	return search->goes_on && run_go_on(search->run, 1);
}

/* The beam: of labels with equal bounds, those that came first are kept. */
static void drop_worst(struct search *search, struct cut_layer *layer)
{
	struct arena *scratch = arena_open();
	size_t count = 0;
	struct cut_ranked *ranked =
		arena_array(scratch, struct cut_ranked, layer_label_count(layer));
	for (uint32_t i = 0; i < layer_label_count(layer); i++)
		if (!layer_label(layer, i)->dominated)
			ranked[count++] = (struct cut_ranked){layer_label(layer, i)->bound, i};
	if (count > search->width) {
		cut_rank(ranked, count);
		assert(ranked[search->width - 1].value <= ranked[search->width].value);
		search->dropped = number_min(search->dropped, ranked[search->width].value);
		for (size_t i = search->width; i < count; i++)
			layer_label(layer, ranked[i].number)->dominated = true;
		layer_forget(layer);
	}
	arena_close(scratch);
}

/* Evictions and relays from all labels, also from those that they make. */
static bool expand_changes(struct search *search, struct cut_layer *layer)
{
	for (uint32_t i = 0; i < layer_label_count(layer); i++) {
		const struct label *label = layer_label(layer, i);
		uint32_t state = label->state;
		if (label->dominated || label->is_changed)
			continue;
		search->state = state;
		for (uint32_t k = layer_first(layer, state); k != LABEL_NONE;
			k = layer_label(layer, k)->next)
			layer_label(layer, k)->is_chosen = !layer_label(layer, k)->is_changed;
		if (!steps_changes(search->steps, search->cut, layer_codes(layer, state),
			    layer_bytes(layer, state), take_step, search))
			return false;
		for (uint32_t k = layer_first(layer, state); k != LABEL_NONE;
			k = layer_label(layer, k)->next)
			layer_label(layer, k)->is_changed |= layer_label(layer, k)->is_chosen;
	}
	return true;
}

static bool expand_cut(struct search *search, int cut)
{
	struct cut_layer *layer = search->layers[cut];
	search->cut = cut;
	search->changes = true;
	drop_worst(search, layer);
	if (!expand_changes(search, layer))
		return false;
	search->changes = false;
	drop_worst(search, layer);
	for (uint32_t s = 0; s < layer_state_count(layer) && cut < search->frame->space->op_count;
		s++) {
		search->state = s;
		if (layer_first(layer, s) == LABEL_NONE)
			continue;
		if (!steps_options(search->steps, cut, layer_codes(layer, s), layer_bytes(layer, s),
			    take_step, search))
			return false;
	}
	return true;
}

#ifndef NDEBUG
/* Asserts that no label on the way to an answer had a bound above it, or costs more than the next one. */
static bool check_path(const struct search *search, uint32_t at)
{
	const struct label *label = layer_label(search->layers[search->frame->space->op_count], at);
	int64_t value = label->cost;
	while (label->parent != LABEL_NONE) {
		const struct label *parent =
			layer_label(search->layers[label->parent_cut], label->parent);
		assert(parent->cost <= label->cost);
		assert(parent->bound <= value);
		label = parent;
	}
	assert(label->cost == 0);
	return true;
}
#endif

/* The cheapest that has addresses.  What has none leaves a gap: other paths to its state were not kept. */
static void search_find_best(struct search *search)
{
	struct arena *scratch = arena_open();
	struct cut_layer *layer = search->layers[search->frame->space->op_count];
	struct cut_ranked *all = arena_array(scratch, struct cut_ranked, layer_label_count(layer));
	size_t count = 0;
	for (uint32_t i = 0; i < layer_label_count(layer); i++) {
		const struct label *label = layer_label(layer, i);
		if (!label->dominated &&
			frame_is_complete(search->frame, layer_codes(layer, label->state)))
			all[count++] = (struct cut_ranked){label->cost, i};
	}
	cut_rank(all, count);
	search->found |= count > 0;
	for (size_t k = 0; k < count; k++) {
		struct joint_answer *answer = layers_trace(search->layers,
			search->frame->space->op_count, all[k].number, run_arena(search->run));
		assert(check_path(search, all[k].number));
		assert(!search->best || answer->value < search->best->value);
		if (joint_plan_offer(search->run, search->frame->space, answer)) {
			search->best = answer;
			break;
		}
		search->unpacked = number_min(search->unpacked, answer->value);
	}
	arena_close(scratch);
}

/* The least bound of what is left to be looked at from this cut on. */
static int64_t find_open(const struct search *search, int cut)
{
	int64_t least = search->dropped;
	if (search->best)
		least = number_min(least, search->best->value);
	for (int c = cut; c < search->frame->cut_count; c++)
		for (uint32_t i = 0; i < layer_label_count(search->layers[c]); i++) {
			const struct label *label = layer_label(search->layers[c], i);
			if (!label->dominated)
				least = number_min(least, label->bound);
		}
	return least;
}

/* Returns the limit of values: answers above it are not searched. */
static int64_t beam_limit(const struct search *search)
{
	return search->best ? search->best->value - 1 : BOUND_NEVER - 1;
}

/* All cuts, with at most `width` labels at each; false: the budget is spent. */
static bool beam_run(struct search *search)
{
	struct label first = {.bundle = {.args = LABEL_CLOSED}, .parent = LABEL_NONE};
	for (int c = 0; c < search->frame->cut_count; c++)
		layer_clear(search->layers[c]);
	search->dropped = JOINT_NEVER;
	search->limit = number_min(relax_limit(search->relaxation), beam_limit(search));
	if (search->limit < beam_limit(search))
		search->dropped = search->limit + 1;
	if (cut_search_bound(search, 0, &first))
		layer_add(search->layers[0], &first);
	if (search->limit < BOUND_NEVER - 1 || first.bound <= search->limit)
		search->bound =
			number_max(search->bound, number_min(first.bound, search->limit + 1));
	for (int c = 0; c < search->frame->cut_count; c++) {
		bool done = expand_cut(search, c);
		if (!search->lazy)
			search->bound = number_max(search->bound,
				find_open(search,
					done && c < search->frame->space->op_count ? c + 1 : c));
		if (!done)
			return false;
	}
	search_find_best(search);
	assert(!search->best || search->bound <= search->best->value);
	return true;
}

/* Opens the states, labels and relaxation of one beam. */
static void open_pass(struct search *search)
{
	const struct frame *frame = search->frame;
	search->arena = arena_open();
	search->layers = arena_array(search->arena, struct cut_layer *, frame->cut_count);
	for (int c = 0; c < frame->cut_count; c++)
		search->layers[c] = layer_open(frame, c, search->arena);
	uint16_t codes[CUT_SLOTS_MOST];
	frame_start(frame, codes);
	layer_state(search->layers[0], codes);
	search->relaxation = NULL;
}

static void close_pass(struct search *search)
{
	for (int c = 0; c < search->frame->cut_count; c++)
		search->effort.states += layer_state_count(search->layers[c]);
	arena_close(search->arena);
}

/* A beam, lazy or not. */
static bool run_lazy(struct search *search, bool lazy, size_t width)
{
	search->lazy = lazy;
	search->goes_on = true;
	search->width = width;
	steps_be_lazy(search->steps, lazy, false);
	bool done = beam_run(search);
	run_report(search->run, search->best ? (double)search->best->value : INFINITY,
		(double)search->bound);
	return done;
}

/* If tensors can be relayed, a beam is lazy until it drops nothing. */
static bool run_beams(struct search *search, size_t width)
{
	bool relays = frame_relays(search->frame);
	bool done = run_lazy(search, relays, width);
	if (done && relays && search->dropped == JOINT_NEVER)
		done = run_lazy(search, false, width);
	return done;
}

static bool is_through(const struct search *search)
{
	return (search->best && search->bound >= search->best->value) ||
	       (!search->lazy && search->dropped == JOINT_NEVER);
}

/* The next finer relaxation. */
static bool search_relax(struct search *search, int level, size_t width)
{
	int64_t limit = beam_limit(search);
	if (search->relaxation)
		limit = number_min(limit, relax_limit(search->relaxation));
	search->relaxation = relax_open(search->run, relaxations_space(&search->relaxations, level),
		search->relaxation, search->bound, search->arena);
	return relax_run(search->relaxation, level ? width : SIZE_MAX, limit, search->is_free);
}

/* Relaxations with a narrow beam behind each but the last.  One below a known bound is of no use. */
static bool run_pass(struct search *search, size_t width, bool is_first)
{
	bool done = true;
	open_pass(search);
	for (int g = 0, is_last = false; done && !is_last; g++) {
		search->is_free = (is_first && !g) || !(search->found || search->best);
		done = search_relax(search, g, width);
		is_last = relaxations_ends(&search->relaxations, g);
		if (!done || relax_limit(search->relaxation) < search->bound)
			break;
		if (g || is_first)
			done = run_beams(search, is_last ? width : CUT_BEAM_FIRST);
		if (done && is_through(search))
			break;
		if (done && !g && search->best)
			stack_bound(search->run, search->frame, &search->relaxations, width,
				&search->bound);
	}
	close_pass(search);
	return done;
}

/* Wider and wider, until nothing is dropped; false: the budget is spent. */
static bool search_widen(struct search *search)
{
	for (size_t width = CUT_WIDTH_FIRST;; width *= CUT_WIDTH_TIMES) {
		if (!run_pass(search, width, width == CUT_WIDTH_FIRST))
			return false;
		if (is_through(search))
			return true;
	}
}

static void search_prove(struct search *search, bool done)
{
	int64_t bound = number_min(search->bound, search->unpacked);
	run_looked(search->run, &search->effort);
	run_evaluated(search->run, search->effort.labels);
	if (done && !search->best && search->unpacked == JOINT_NEVER)
		run_prove(search->run, PROOF_INFEASIBLE, 0);
	else if (search->best && (bound >= search->best->value ||
					 (done && search->unpacked >= search->best->value)))
		joint_plan_prove(search->run, search->frame->space, PROOF_OPTIMAL,
			(double)search->best->value);
	else if (search->best ||
		 (bound > 0 && bound < JOINT_NEVER)) /* a bound stands without a plan, too */
		joint_plan_prove(search->run, search->frame->space, PROOF_BOUND, (double)bound);
}

/* If no answer that was found has addresses, one with less in LX may have some. */
static void leave_room(struct search *search)
{
	int64_t bound = search->bound;
	for (int part = CUT_ROOM_PARTS - 1; part >= 0 && !search->best; part--) {
		steps_leave_room(
			search->steps, search->frame->space->capacity / CUT_ROOM_PARTS * part);
		search->found = false;
		search_widen(search);
	}
	search->bound = bound;
}

/* Finds an answer by a first pass without relays: the search must find a better one. */
static void find_first(struct search *search, struct arena *arena)
{
	struct search lesser = {.run = search->run,
		.frame = frame_without_relays(search->frame, arena),
		.unpacked = JOINT_NEVER};
	lesser.steps = steps_open(lesser.frame, NULL, arena);
	lesser.relaxations = relaxations_open(lesser.frame, lesser.steps, arena);
	run_pass(&lesser, CUT_WIDTH_FIRST, true);
	search->best = lesser.best;
	search->effort = lesser.effort;
	relaxations_close(&lesser.relaxations);
	steps_close(lesser.steps);
}

static void search(struct run *run, const struct frame *frame)
{
	struct arena *arena = arena_open();
	struct search search = {.run = run, .frame = frame, .unpacked = JOINT_NEVER};
	search.steps = steps_open(frame, NULL, arena);
	search.relaxations = relaxations_open(frame, search.steps, arena);
	if (frame_relays(frame))
		find_first(&search, arena);
	bool done = search_widen(&search);
	if (!search.best && search.unpacked != JOINT_NEVER)
		leave_room(&search);
	search_prove(&search, done);
	steps_close(search.steps);
	relaxations_close(&search.relaxations);
	arena_close(arena);
}

static void cut_dp_run(struct run *run, const struct problem *problem)
{
	const char *why = NULL;
	const struct joint_space *space = joint_plan_space(run, problem);
	if (!space)
		return;
	const struct frame *frame = frame_make(space, run_arena(run), &why);
	if (frame)
		search(run, frame);
	else
		run_complain(run, false, -1, "cut_dp does not search this space: %s", why);
}

const struct solver joint_cut_dp_solver = {
	.stage = STAGE_JOINT,
	.name = "cut_dp",
	.summary =
		"shortest path over the cuts between ops: divisions, residency, movement, bundles at once",
	.purposes = FOR_PLANS,
	.proves = true,
	.plans_all = true,
	.run = cut_dp_run,
};
