#include "solvers/joint/cut_dp/beam.h"

#include "base/arena.h"
#include "base/number.h"
#include "search/joint/joint_plan.h"
#include "solvers/joint/cut_dp/layer.h"
#include "solvers/joint/cut_dp/step.h"
#include "solvers/joint/cut_dp/toll.h"

#include <string.h>

/* False: no answer that goes on from the label is looked for. */
static bool find_bound(const struct search *search, int cut, struct label *label)
{
	const uint16_t *codes = layer_codes(search->layers[cut], label->state);
	const int64_t *tolls = relax_tolls(search->relaxation, cut, codes);
	int64_t rest = !tolls ? TOLL_NEVER
		       : label->bundle.args == LABEL_CLOSED
			       ? tolls[relax_toll_count(search->relaxation) - 1]
			       : tolls[toll_index(
					 search->frame, label->bundle.args, label->bundle.widest)];
	label->bound = cut_add(label->cost, rest);
	return rest < TOLL_NEVER && label->bound <= search->limit;
}

/* A label behind a step: in its parent's bundle, or in a new one. */
static bool enter(const struct search *search, const struct label *from,
	const struct cut_step *step, bool begins, struct label *out)
{
	const struct frame *frame = search->frame;
	const struct bundle *before = &from->bundle;
	if (!begins && (step->alone || before->args == LABEL_CLOSED))
		return false;
	uint64_t in_hbm = begins ? 0 : before->in_hbm;
	int args = begins ? 0 : before->args;
	int widest = begins ? step->cores : before->widest;
	if (step->cores > widest)
		widest = step->cores;
	args += step->args - __builtin_popcountll(in_hbm & step->args_before);
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
	if (!enter(search, layer_label(layer, parent), &step, begins, &label))
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
	if (enter(search, layer_label(search->layers[search->cut], parent), step, begins, &label) &&
		find_bound(search, step->cut, &label) &&
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
	return label.cost != JOINT_NEVER && find_bound(search, step->cut, &label);
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

/* The cheapest that has addresses.  What has none leaves a gap: other paths to its state were not kept. */
static void find_best(struct search *search)
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

int64_t beam_limit(const struct search *search)
{
	return search->best ? search->best->value - 1 : TOLL_NEVER - 1;
}

bool beam_run(struct search *search)
{
	struct label first = {.bundle = {.args = LABEL_CLOSED}, .parent = LABEL_NONE};
	for (int c = 0; c < search->frame->cut_count; c++)
		layer_clear(search->layers[c]);
	search->dropped = JOINT_NEVER;
	search->limit = number_min(relax_limit(search->relaxation), beam_limit(search));
	if (search->limit < beam_limit(search))
		search->dropped = search->limit + 1;
	if (find_bound(search, 0, &first))
		layer_add(search->layers[0], &first);
	if (search->limit < TOLL_NEVER - 1 || first.bound <= search->limit)
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
	find_best(search);
	return true;
}
