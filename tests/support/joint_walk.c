#include "tests/support/joint_walk.h"

#include "base/array.h"
#include "tests/support/draws.h"

#include <string.h>

struct walking {
	const struct joint_space *space;
	struct random *random;
	struct arena *arena;
	bool *valid;
	int *held; /* by tensor; -1 */
	struct array(struct joint_step) steps;
};

static bool serves(const struct joint_tensor *tensor, int held, int asked)
{
	return tensor->serves[held * tensor->view_count + asked];
}

static bool may_evict(const struct walking *walking, int t)
{
	const struct joint_tensor *tensor = &walking->space->tensors[t];
	return walking->held[t] >= 0 && tensor->evict[walking->held[t]] != JOINT_NEVER;
}

/* A view that serves, and that what is held can be relayed to; -1. */
static int find_relay(const struct walking *walking, int t, int asked)
{
	const struct joint_tensor *tensor = &walking->space->tensors[t];
	int from = walking->held[t];
	for (int to = 0; from >= 0 && to < tensor->view_count; to++)
		if (to != from && serves(tensor, to, asked) &&
			tensor->relay[from * tensor->view_count + to] != JOINT_NEVER)
			return to;
	return -1;
}

/* True if a use finds its tensor, after a move if need be. */
static bool may_use(const struct walking *walking, const struct joint_use *use)
{
	int t = use->tensor, held = walking->held[t];
	const struct joint_tensor *tensor = &walking->space->tensors[t];
	if (use->mode != JOINT_RESIDENT)
		return walking->valid[t] || may_evict(walking, t);
	return held >= 0 &&
	       (serves(tensor, held, use->view) || find_relay(walking, t, use->view) >= 0);
}

static void add(struct walking *walking, struct joint_step step)
{
	step.begins_bundle = !walking->steps.count || draw_chance(walking->random, 2);
	*array_add(walking->arena, &walking->steps) = step;
}

static void evict(struct walking *walking, int t)
{
	add(walking, (struct joint_step){.kind = JOINT_EVICT, .tensor = t});
	walking->valid[t] = true;
}

static void prepare(struct walking *walking, const struct joint_use *use)
{
	int t = use->tensor;
	if (use->mode != JOINT_RESIDENT && !walking->valid[t])
		evict(walking, t);
	if (use->mode != JOINT_RESIDENT ||
		serves(&walking->space->tensors[t], walking->held[t], use->view))
		return;
	int to = find_relay(walking, t, use->view);
	add(walking, (struct joint_step){.kind = JOINT_RELAY, .tensor = t, .view = to});
	walking->held[t] = to;
}

static bool may_take(const struct walking *walking, const struct joint_option *option)
{
	bool may = true;
	for (int u = 0; u < option->use_count; u++)
		may &= may_use(walking, &option->uses[u]);
	return may;
}

static void take(struct walking *walking, size_t number)
{
	const struct joint_option *option = &walking->space->options[number];
	for (int u = 0; u < option->use_count; u++)
		prepare(walking, &option->uses[u]);
	for (int t = 0; option->empties && t < walking->space->tensor_count; t++)
		if (!walking->valid[t] && may_evict(walking, t))
			evict(walking, t);
	add(walking, (struct joint_step){.kind = JOINT_OPTION, .option = number});
	for (int t = 0; option->empties && t < walking->space->tensor_count; t++)
		walking->held[t] = -1;
	for (int u = 0; u < option->use_count; u++)
		if (option->uses[u].mode == JOINT_MOVED)
			walking->held[option->uses[u].tensor] = option->uses[u].view;
	for (int o = 0; o < option->out_count; o++) {
		if (option->outs[o].view < 0)
			walking->valid[option->outs[o].tensor] = true;
		else
			walking->held[option->outs[o].tensor] = option->outs[o].view;
	}
}

/* Evicts outputs of the graph that wait for it: all, or each now and then. */
static void evict_outputs(struct walking *walking, bool all)
{
	for (int t = 0; t < walking->space->tensor_count; t++)
		if (walking->space->tensors[t].output && !walking->valid[t] &&
			may_evict(walking, t) && (all || draw_chance(walking->random, 2)))
			evict(walking, t);
}

/*
 * One of those that may be taken; those that find something in LX or leave it there more often,
 * and most of all runs, which need the room.
 */
static size_t draw(const struct walking *walking, int op)
{
	const struct joint_space *space = walking->space;
	size_t chosen = SIZE_MAX;
	int64_t weights = 0;
	for (size_t i = space->first_option[op]; i < space->first_option[op + 1]; i++) {
		const struct joint_option *option = &space->options[i];
		if (!may_take(walking, option))
			continue;
		bool run = option->end > option->first + 1;
		int64_t weight = run ? 1024 : 1;
		for (int u = 0; u < option->use_count; u++)
			weight *=
				option->uses[u].mode == (run ? JOINT_HBM : JOINT_RESIDENT) ? 16 : 1;
		for (int o = 0; o < option->out_count; o++)
			weight *= option->outs[o].in_place >= 0 ? 8
				  : option->outs[o].view >= 0   ? 4
								: 1;
		weights += weight;
		if (draw_below(walking->random, weights) < weight)
			chosen = i;
	}
	return chosen;
}

struct joint_answer joint_walk(
	struct random *random, const struct joint_space *space, struct arena *arena)
{
	struct walking walking = {.space = space,
		.random = random,
		.arena = arena,
		.valid = arena_array(arena, bool, space->tensor_count),
		.held = arena_array(arena, int, space->tensor_count)};
	for (int t = 0; t < space->tensor_count; t++) {
		walking.valid[t] = space->tensors[t].producer < 0;
		walking.held[t] = -1;
	}
	for (int op = 0; op < space->op_count;) {
		size_t option = draw(&walking, op);
		if (option == SIZE_MAX)
			return (struct joint_answer){0};
		take(&walking, option);
		op = space->options[option].end;
		evict_outputs(&walking, op == space->op_count);
	}
	for (size_t i = 0; i + 1 < walking.steps.count; i++) {
		const struct joint_step *step = &walking.steps.at[i], *next = step + 1;
		walking.steps.at[i + 1].begins_bundle |=
			(step->kind == JOINT_OPTION && space->options[step->option].ends_bundle) ||
			(next->kind == JOINT_OPTION && space->options[next->option].alone);
	}
	return (struct joint_answer){.count = walking.steps.count, .steps = walking.steps.at};
}
