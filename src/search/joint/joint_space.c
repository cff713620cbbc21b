#include "search/joint/joint_space.h"

#include "base/arena.h"
#include "base/fatal.h"
#include "base/number.h"
#include "model/packing/buffer.h"
#include "search/drive/solver.h"

#include <string.h>

/*
 * An answer, followed step by step.  It does not say when a tensor is dropped: a stay in LX ends with the
 * last step that needs it, which leaves the most room and breaks no rule that a later drop keeps.
 */
struct valuing {
	const struct joint_space *space;
	const struct joint_answer *answer;
	struct arena *arena;
	const char *why;
	bool fits;
	size_t step;

	bool *valid;  /* by tensor: in HBM */
	size_t *held; /* by tensor: its stay + 1; 0: none */
	struct joint_stay *stays;
	size_t stay_count;

	/* of the bundle */
	bool *used; /* by tensor */
	int used_count, widest;
	bool must_begin, is_alone;
	int64_t value;
};

static bool valuing_refuse(struct valuing *valuing, int tensor, const char *why)
{
	valuing->why =
		arena_format(valuing->arena, "step %zu: tensor %d %s", valuing->step, tensor, why);
	return false;
}

static bool refuse_step(struct valuing *valuing, const char *why)
{
	valuing->why = arena_format(valuing->arena, "step %zu %s", valuing->step, why);
	return false;
}

static void valuing_add_value(struct valuing *valuing, int64_t value)
{
	valuing->value = checked_add(&valuing->fits, valuing->value, value);
}

static struct joint_stay *valuing_stay(const struct valuing *valuing, int tensor)
{
	size_t held = valuing->held[tensor];
	return held ? &valuing->stays[held - 1] : NULL;
}

static void open_stay(struct valuing *valuing, int tensor, int view)
{
	valuing->stays[valuing->stay_count++] = (struct joint_stay){.tensor = tensor,
		.view = view,
		.from = valuing->step,
		.to = valuing->step,
		.in_place_of = -1};
	valuing->held[tensor] = valuing->stay_count;
}

static bool joint_tensor_serves(const struct joint_tensor *tensor, int held, int asked)
{
	return tensor->serves[held * tensor->view_count + asked];
}

/* --- bundles */

static void use_in_hbm(struct valuing *valuing, int tensor)
{
	valuing->used_count += !valuing->used[tensor];
	valuing->used[tensor] = true;
}

static void end_bundle(struct valuing *valuing)
{
	if (valuing->step) {
		valuing_add_value(valuing, valuing->space->bundle_value);
		valuing_add_value(valuing,
			checked_mul(&valuing->fits, valuing->space->core_value, valuing->widest));
	}
	memset(valuing->used, 0, sizeof *valuing->used * (size_t)valuing->space->tensor_count);
	valuing->used_count = valuing->widest = 0;
	valuing->must_begin = valuing->is_alone = false;
}

static bool in_bundle(struct valuing *valuing, int cores)
{
	int most = valuing->space->bundle_most;
	if (cores > valuing->widest)
		valuing->widest = cores;
	if (most && valuing->used_count > most && !valuing->is_alone)
		return refuse_step(valuing, "has more tensors in HBM than a bundle may use");
	return true;
}

/* --- steps */

static bool take_use(struct valuing *valuing, const struct joint_use *use)
{
	const struct joint_tensor *tensor = &valuing->space->tensors[use->tensor];
	struct joint_stay *stay = valuing_stay(valuing, use->tensor);
	if (use->mode == JOINT_RESIDENT) {
		if (!stay)
			return valuing_refuse(valuing, use->tensor, "is not in LX");
		if (!joint_tensor_serves(tensor, stay->view, use->view))
			return valuing_refuse(valuing, use->tensor,
				"is in LX under a view that the op cannot use");
		stay->to = valuing->step;
		return true;
	}
	if (!valuing->valid[use->tensor])
		return valuing_refuse(valuing, use->tensor, "is not in HBM");
	use_in_hbm(valuing, use->tensor);
	if (use->mode == JOINT_MOVED)
		open_stay(valuing, use->tensor, use->view);
	return true;
}

static bool take_out(
	struct valuing *valuing, const struct joint_option *option, const struct joint_out *out)
{
	if (out->view < 0) {
		valuing->valid[out->tensor] = true;
		use_in_hbm(valuing, out->tensor);
		return true;
	}
	open_stay(valuing, out->tensor, out->view);
	if (out->in_place < 0)
		return true;
	const struct joint_use *use = &option->uses[out->in_place];
	struct joint_stay *stay = valuing_stay(valuing, use->tensor);
	struct joint_stay *made = valuing_stay(valuing, out->tensor);
	if (use->mode == JOINT_HBM)
		return valuing_refuse(
			valuing, use->tensor, "is streamed and has no bytes to take over");
	if (stay->passed_on && stay->passed_at == valuing->step)
		return valuing_refuse(valuing, use->tensor, "has its bytes taken over twice");
	stay->passed_on = stay->view == use->view;
	stay->passed_at = valuing->step;
	if (stay->passed_on)
		made->in_place_of = stay - valuing->stays;
	return true;
}

static bool walk_option(struct valuing *valuing, size_t index)
{
	const struct joint_option *option = &valuing->space->options[index];
	valuing_add_value(valuing, option->value);
	for (int u = 0; u < option->use_count; u++)
		if (!take_use(valuing, &option->uses[u]))
			return false;
	for (int o = 0; o < option->out_count; o++)
		if (!take_out(valuing, option, &option->outs[o]))
			return false;
	for (int a = 0; a < option->argument_count; a++)
		use_in_hbm(valuing, option->arguments[a]);
	return in_bundle(valuing, option->cores);
}

static bool take_relay(struct valuing *valuing, int t, int view)
{
	const struct joint_tensor *tensor = &valuing->space->tensors[t];
	struct joint_stay *stay = valuing_stay(valuing, t);
	if (!stay)
		return valuing_refuse(valuing, t, "is not in LX");
	if (view < 0 || view >= tensor->view_count || view == stay->view)
		return valuing_refuse(valuing, t, "cannot be relayed to such a view");
	int64_t value = tensor->relay[stay->view * tensor->view_count + view];
	int cores = tensor->cores[stay->view] > tensor->cores[view] ? tensor->cores[stay->view]
								    : tensor->cores[view];
	if (value == JOINT_NEVER)
		return valuing_refuse(valuing, t, "cannot be relayed to this view");
	stay->to = valuing->step;
	open_stay(valuing, t, view);
	valuing_add_value(valuing, value);
	return in_bundle(valuing, cores);
}

static bool take_evict(struct valuing *valuing, int t)
{
	const struct joint_tensor *tensor = &valuing->space->tensors[t];
	struct joint_stay *stay = valuing_stay(valuing, t);
	if (!stay)
		return valuing_refuse(valuing, t, "is not in LX");
	if (tensor->evict[stay->view] == JOINT_NEVER)
		return valuing_refuse(valuing, t, "cannot be evicted from this view");
	if (valuing->valid[t])
		return valuing_refuse(valuing, t, "is evicted, and valid in HBM already");
	stay->to = valuing->step;
	valuing->valid[t] = true;
	use_in_hbm(valuing, t);
	valuing_add_value(valuing, tensor->evict[stay->view]);
	return in_bundle(valuing, tensor->cores[stay->view]);
}

static bool valuing_take_step(struct valuing *valuing, const struct joint_step *step, int *at)
{
	const struct joint_space *space = valuing->space;
	if (step->begins_bundle)
		end_bundle(valuing);
	else if (valuing->must_begin)
		return refuse_step(valuing, "must begin a bundle");
	if (step->kind != JOINT_OPTION && (step->tensor < 0 || step->tensor >= space->tensor_count))
		return refuse_step(valuing, "is of no tensor");
	if (step->kind == JOINT_RELAY)
		return take_relay(valuing, step->tensor, step->view);
	if (step->kind == JOINT_EVICT)
		return take_evict(valuing, step->tensor);
	if (step->option >= space->option_count || space->options[step->option].first != *at)
		return refuse_step(valuing, "is not an option of the next op");
	*at = space->options[step->option].end;
	valuing->must_begin = space->options[step->option].ends_bundle;
	valuing->is_alone = space->options[step->option].alone;
	if (valuing->is_alone && !step->begins_bundle)
		return refuse_step(valuing, "needs a bundle of its own");
	return walk_option(valuing, step->option);
}

/* --- room */

/* Returns the bytes of a stay that outs of its last step take over: they count once. */
static int64_t taken_over(const struct valuing *valuing, const struct joint_stay *stay)
{
	const struct joint_space *space = valuing->space;
	if (!stay->passed_on || stay->passed_at != stay->to)
		return 0;
	const struct joint_option *option =
		&space->options[valuing->answer->steps[stay->to].option];
	int64_t held = space->tensors[stay->tensor].bytes[stay->view];
	for (int o = 0; o < option->out_count; o++) {
		const struct joint_out *out = &option->outs[o];
		if (out->view < 0 || out->in_place < 0 ||
			option->uses[out->in_place].tensor != stay->tensor)
			continue;
		int64_t made = space->tensors[out->tensor].bytes[out->view];
		return made < held ? made : held;
	}
	return 0;
}

static bool valuing_check_step(struct valuing *valuing, int64_t room, int stays)
{
	const struct joint_space *space = valuing->space;
	const struct joint_step *step = &valuing->answer->steps[valuing->step];
	const struct joint_option *option =
		step->kind == JOINT_OPTION ? &space->options[step->option] : NULL;
	if (option)
		room = checked_add(&valuing->fits, room, option->room);
	if (option && option->empties && stays)
		return refuse_step(valuing, "needs an empty LX");
	if (room > space->capacity)
		return refuse_step(valuing, "needs more room than LX has");
	return true;
}

static bool check_room(struct valuing *valuing)
{
	size_t count = valuing->answer->count;
	int64_t *room = arena_array(valuing->arena, int64_t, count);
	int *stays = arena_array(valuing->arena, int, count);
	for (size_t s = 0; s < valuing->stay_count; s++) {
		const struct joint_stay *stay = &valuing->stays[s];
		int64_t bytes = valuing->space->tensors[stay->tensor].bytes[stay->view];
		for (size_t i = stay->from; i <= stay->to; i++) {
			room[i] = checked_add(&valuing->fits, room[i], bytes);
			stays[i]++;
		}
		room[stay->to] -= taken_over(valuing, stay);
	}
	for (valuing->step = 0; valuing->step < count; valuing->step++)
		if (!valuing_check_step(valuing, room[valuing->step], stays[valuing->step]))
			return false;
	return true;
}

static bool valuing_follow(struct valuing *valuing)
{
	const struct joint_space *space = valuing->space;
	const struct joint_answer *answer = valuing->answer;
	int at = 0;
	for (valuing->step = 0; valuing->step < answer->count; valuing->step++)
		if (!valuing_take_step(valuing, &answer->steps[valuing->step], &at))
			return false;
	end_bundle(valuing);
	if (at < space->op_count)
		return refuse_step(valuing, "is missing: not all ops were carried out");
	for (int t = 0; t < space->tensor_count; t++)
		if (space->tensors[t].output && !valuing->valid[t])
			return valuing_refuse(valuing, t, "is an output and not in HBM at the end");
	if (valuing->fits && !check_room(valuing))
		return false;
	if (!valuing->fits)
		valuing->why = "the sum is more than can be counted";
	return valuing->fits;
}

/* Stays that an answer can begin: one for each use and out, one for each relay. */
static size_t stays_most(const struct joint_space *space, const struct joint_answer *answer)
{
	size_t most = 0;
	for (size_t i = 0; i < answer->count; i++) {
		const struct joint_step *step = &answer->steps[i];
		bool option = step->kind == JOINT_OPTION && step->option < space->option_count;
		most += option ? (size_t)space->options[step->option].use_count +
					 (size_t)space->options[step->option].out_count
			       : 1;
	}
	return most;
}

static bool open_walk(struct valuing *valuing, const struct joint_space *space,
	const struct joint_answer *answer, struct arena *arena)
{
	size_t tensors = (size_t)space->tensor_count;
	*valuing = (struct valuing){.space = space,
		.answer = answer,
		.arena = arena,
		.fits = true,
		.must_begin = true,
		.valid = arena_array(arena, bool, tensors),
		.held = arena_array(arena, size_t, tensors),
		.used = arena_array(arena, bool, tensors),
		.stays = arena_array(arena, struct joint_stay, stays_most(space, answer))};
	for (size_t t = 0; t < tensors; t++)
		valuing->valid[t] = space->tensors[t].producer < 0;
	return valuing_follow(valuing);
}

int64_t joint_value(const struct joint_space *space, const struct joint_answer *answer,
	struct arena *arena, const char **why)
{
	struct valuing valuing;
	bool good = open_walk(&valuing, space, answer, arena);
	if (why)
		*why = good ? NULL : valuing.why;
	return good ? valuing.value : JOINT_NEVER;
}

struct joint_stays joint_stays(const struct joint_space *space, const struct joint_answer *answer,
	struct arena *arena, const char **why)
{
	struct valuing valuing;
	bool good = open_walk(&valuing, space, answer, arena);
	*why = good ? NULL : valuing.why;
	return (struct joint_stays){good ? valuing.stay_count : 0, valuing.stays};
}

static int64_t room_of(
	const struct joint_space *space, const struct joint_answer *answer, size_t step)
{
	const struct joint_step *at = &answer->steps[step];
	return at->kind == JOINT_OPTION ? space->options[at->option].room : 0;
}

/* The stays, and behind them the rooms. */
static struct packing list_items(const struct joint_space *space, const struct joint_answer *answer,
	const struct joint_stays *stays, struct arena *arena)
{
	struct buffer *buffers = arena_array(arena, struct buffer, stays->count + answer->count);
	int *parents = arena_array(arena, int, stays->count);
	size_t count = stays->count;
	for (size_t i = 0; i < stays->count; i++) {
		const struct joint_stay *stay = &stays->at[i];
		const struct joint_tensor *tensor = &space->tensors[stay->tensor];
		parents[i] = (int)stay->in_place_of;
		buffers[i] = (struct buffer){.name = tensor->name,
			.size = tensor->bytes[stay->view],
			.start = (int64_t)stay->from,
			.end = (int64_t)stay->to + 1};
		if (stay->in_place_of < 0)
			continue;
		buffers[i].parents = &parents[i];
		buffers[i].parent_count = 1;
	}
	for (size_t s = 0; s < answer->count; s++)
		if (room_of(space, answer, s) > 0)
			buffers[count++] = (struct buffer){.name = "room",
				.size = room_of(space, answer, s),
				.start = (int64_t)s,
				.end = (int64_t)s + 1};
	return (struct packing){.capacity = space->capacity,
		.alignment = space->alignment,
		.goal = PACKING_FIT,
		.count = count,
		.buffers = buffers};
}

static void take_packing(const struct packing *packing, const struct placement *placement,
	const struct joint_answer *answer, struct joint_packing *out, struct arena *arena)
{
	struct packing_fault fault = packing_check(packing, placement);
	if (fault.a >= 0)
		BUG("items %d and %d of a joint answer: %s", fault.a, fault.b, fault.why);
	int64_t *rooms = arena_array(arena, int64_t, answer->count);
	for (size_t i = out->stays.count; i < packing->count; i++)
		rooms[packing->buffers[i].start] = placement->addresses[i];
	out->status = VERDICT_YES;
	out->addresses = placement->addresses;
	out->in_place_of = placement->in_place_of;
	out->rooms = rooms;
}

struct joint_packing joint_pack(const struct joint_space *space, const struct joint_answer *answer,
	struct run *run, uint64_t ticks, struct arena *arena)
{
	struct joint_packing out = {.status = VERDICT_OPEN};
	out.stays = joint_stays(space, answer, arena, &out.why);
	if (out.why)
		return out;
	struct packing packing = list_items(space, answer, &out.stays, arena);
	const struct solver *solver = solver_for(STAGE_PLACE, FOR_PACKINGS);
	struct problem problem = {.stage = STAGE_PLACE, .op = -1, .packing = &packing};
	struct answer found = run ? run_ask(run, solver, &problem, ticks, 0, arena)
				  : solve(solver, &problem, ticks, 0, arena);
	out.item_count = packing.count;
	out.ticks = found.ticks;
	if (found.candidate_count) {
		take_packing(&packing, found.candidates[found.candidate_count - 1].placement,
			answer, &out, arena);
	} else if (found.status == PROOF_INFEASIBLE) {
		out.status = VERDICT_NO;
		out.core_count = found.core_count;
		out.core = found.core;
	}
	return out;
}

const struct joint_use *joint_use_of(const struct joint_option *option, int tensor)
{
	for (int u = 0; u < option->use_count; u++)
		if (option->uses[u].tensor == tensor)
			return &option->uses[u];
	return NULL;
}
