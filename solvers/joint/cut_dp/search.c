#include "solvers/joint/cut_dp/search.h"

#include "base/arena.h"
#include "search/drive/solver.h"
#include "search/joint/joint_plan.h"
#include "solvers/joint/cut_dp/layer.h"
#include "solvers/joint/cut_dp/step.h"

#include <string.h>

struct search {
	struct run *run;
	const struct frame *frame;
	struct arena *arena;
	struct steps *steps;
	struct layer **layers; /* by cut */

	/* what is being expanded */
	int cut;
	uint32_t state;
	uint32_t label; /* LABEL_NONE: all of the state */
};

/* A label behind a step: in its parent's bundle, or in a new one. */
static bool enter(const struct search *search, const struct label *from, const struct step *step,
	bool begins, struct label *out)
{
	const struct frame *frame = search->frame;
	const struct bundle *before = &from->bundle;
	if (!begins && before->args == LABEL_CLOSED)
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

static void go_from(struct search *search, uint32_t parent, const struct step *step, uint32_t state)
{
	const struct label *from = layer_label(search->layers[search->cut], parent);
	for (int begins = 0; begins < 2; begins++) {
		struct label label = {.parent_cut = (uint16_t)search->cut,
			.parent = parent,
			.kind = (uint8_t)step->kind,
			.step = step->which,
			.view = (uint16_t)step->view,
			.state = state};
		if (enter(search, from, step, begins, &label))
			layer_add(search->layers[step->cut], &label);
	}
}

static bool take_step(void *context, const struct step *step)
{
	struct search *search = context;
	struct layer *here = search->layers[search->cut];
	uint32_t state = layer_state(search->layers[step->cut], step->codes);
	if (search->label != LABEL_NONE) {
		go_from(search, search->label, step, state);
	} else {
		for (uint32_t i = layer_first(here, search->state); i != LABEL_NONE;
			i = layer_label(here, i)->next)
			go_from(search, i, step, state);
	}
	return run_spend(search->run, 1);
}

static bool expand_cut(struct search *search, int cut)
{
	struct layer *layer = search->layers[cut];
	search->cut = cut;
	for (uint32_t i = 0; i < layer_label_count(layer); i++) {
		const struct label *label = layer_label(layer, i);
		search->label = i;
		if (!label->dominated &&
			!steps_changes(search->steps, cut, layer_codes(layer, label->state),
				layer_bytes(layer, label->state), take_step, search))
			return false;
	}
	search->label = LABEL_NONE;
	for (uint32_t s = 0; s < layer_state_count(layer) && cut < search->frame->space->op_count;
		s++) {
		search->state = s;
		if (!steps_options(search->steps, cut, layer_codes(layer, s), layer_bytes(layer, s),
			    take_step, search))
			return false;
	}
	return true;
}

static bool is_complete(const struct search *search, uint32_t state)
{
	const struct frame *frame = search->frame;
	int end = frame->space->op_count;
	const struct cut *cut = &frame->cuts[end];
	const uint16_t *codes = layer_codes(search->layers[end], state);
	for (int s = 0; s < cut->slot_count; s++)
		if (frame->space->tensors[cut->tensors[s]].output && !(codes[s] & CUT_VALID))
			return false;
	return true;
}

static struct joint_answer *trace(const struct search *search, uint32_t at)
{
	struct arena *arena = run_arena(search->run);
	struct joint_answer *answer = arena_new(arena, struct joint_answer);
	int cut = search->frame->space->op_count;
	const struct label *label = layer_label(search->layers[cut], at);
	answer->value = label->cost;
	for (const struct label *l = label; l->parent != LABEL_NONE;
		l = layer_label(search->layers[l->parent_cut], l->parent))
		answer->count++;
	struct joint_step *steps = arena_array(arena, struct joint_step, answer->count);
	for (size_t i = answer->count; i-- > 0;
		label = layer_label(search->layers[label->parent_cut], label->parent))
		steps[i] = (struct joint_step){.kind = label->kind,
			.begins_bundle = label->begins_bundle,
			.option = label->kind == JOINT_OPTION ? label->step : 0,
			.tensor = label->kind == JOINT_OPTION ? 0 : (int)label->step,
			.view = label->view};
	answer->steps = steps;
	return answer;
}

static uint32_t find_best(const struct search *search)
{
	struct layer *layer = search->layers[search->frame->space->op_count];
	uint32_t best = LABEL_NONE;
	for (uint32_t i = 0; i < layer_label_count(layer); i++) {
		const struct label *label = layer_label(layer, i);
		if (!label->dominated && is_complete(search, label->state) &&
			(best == LABEL_NONE || label->cost < layer_label(layer, best)->cost))
			best = i;
	}
	return best;
}

void search(struct run *run, const struct frame *frame)
{
	struct arena *arena = arena_open();
	struct search search = {.run = run,
		.frame = frame,
		.arena = arena,
		.steps = steps_open(frame, arena),
		.layers = arena_array(arena, struct layer *, frame->cut_count)};
	for (int c = 0; c < frame->cut_count; c++)
		search.layers[c] = layer_open(frame, c, arena);
	uint16_t codes[CUT_SLOTS_MOST];
	for (int s = 0; s < frame->cuts[0].slot_count; s++)
		codes[s] =
			cut_code(frame->space->tensors[frame->cuts[0].tensors[s]].producer < 0, -1);
	struct label first = {.bundle = {.args = LABEL_CLOSED},
		.parent = LABEL_NONE,
		.state = layer_state(search.layers[0], codes)};
	layer_add(search.layers[0], &first);
	bool done = true;
	for (int c = 0; c < frame->cut_count && done; c++)
		done = expand_cut(&search, c);
	uint32_t best = done ? find_best(&search) : LABEL_NONE;
	if (best != LABEL_NONE) {
		struct joint_answer *answer = trace(&search, best);
		bool packed = joint_plan_offer(run, frame->space, answer);
		joint_plan_prove(run, frame->space, packed ? PROOF_OPTIMAL : PROOF_BOUND,
			(double)answer->value);
	} else if (done) {
		run_prove(run, PROOF_INFEASIBLE, 0);
	}
	arena_close(arena);
}
