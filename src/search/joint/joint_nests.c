#include "search/joint/joint_nests.h"

#include "base/number.h"
#include "cost/graph/cost.h"
#include "search/engine/kept.h"
#include "search/graph/options.h"
#include "search/joint/options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A tensor that may lie in the scratchpad, and bytes that it takes. */
struct nest_tensor {
	int tensor;
	int64_t bytes;
	int64_t offset; /* of one inside: from the beginning of the option's room */
	bool in_lx;
};

/* Ops [first, end) as one option. */
struct nest_range {
	struct joint_making *making;
	struct arena *arena;     /* until the range is done */
	const struct plan *plan; /* whose step i is op i, with the run if there is one */
	int first, end;
	int64_t iterations;
	int outer_count;  /* used from outside, or handed on */
	int inside_count; /* only the run has to do with them */
	struct nest_tensor *outer, *inside;
	int64_t span; /* bytes of what is inside */
	int level_count;
	int64_t *levels; /* bytes of the scratchpad that others may leave to it, descending */
};

/* The nest of least value; its value, or JOINT_NEVER: none is known to fit. */
static int64_t joint_nest_ask(struct joint_making *making, const struct inner_question *question,
	uint64_t ticks, struct nest_choice *out)
{
	const struct joint_aim *aim = &making->question->aim;
	const struct nests_wanted wanted = {.solver = aim->map,
		.kept = making->kept,
		.stopper = making->question->planning->stopper};
	struct objectives objectives = {0};
	int64_t least = JOINT_NEVER;
	if (aim->cycles || aim->energy) /* one front for all weights */
		objectives = (struct objectives){2, {OBJECTIVE_LATENCY, OBJECTIVE_ENERGY}};
	if (aim->hbm_bytes)
		objectives.at[objectives.count++] = OBJECTIVE_HBM_BYTES;
	const struct nest_front *front =
		nests_front(question, &wanted, &objectives, ticks, making->scratch);
	making->unproven |= !front->why && !front->proven;
	for (size_t i = 0; i < front->count; i++) {
		const struct nest_choice *choice = &front->at[i];
		int64_t own =
			joint_worth(making, choice->cycles, choice->energy_pj, choice->hbm_bytes);
		if (own < least) {
			least = own;
			*out = *choice;
		}
	}
	return least;
}

static int64_t price_step(struct joint_making *making, const struct inner_question *question)
{
	struct op_price price;
	if (!op_price(question, making->scratch, &price) || price.why)
		return JOINT_NEVER;
	return joint_worth(making, price.bound, price.energy_pj, price.hbm_bytes);
}

/* Improves nests that need little room: they fit many plans, and are solved once. */
static void joint_nests_improve(struct joint_making *making, struct plan *plan, int step)
{
	struct inner_question question = inner_nest_question(making->scratch, plan, step);
	int64_t rooms[] = {0, question.room};
	if (!op_is_tiled(question.op))
		return;
	/* an op that adds up does so in most iterations */
	question.resumes = run_adds_up(question.op, plan_run(plan, step));
	int64_t least = price_step(making, &question);
	for (int i = 0; i < (question.room ? 2 : 1); i++) {
		struct nest_choice choice;
		struct inner_question asked = question;
		asked.room = rooms[i];
		if (joint_nest_ask(making, &asked, NEST_STEP_TICKS, &choice) == JOINT_NEVER)
			continue;
		asked.room = question.room;
		asked.mapping = &choice.mapping;
		int64_t own = price_step(making, &asked);
		if (own < least) {
			least = own;
			plan->steps[step].mapping = choice.mapping;
		}
		if (own < JOINT_NEVER)
			return;
	}
}

void joint_nests_polish(const struct joint_graph *graph, struct plan *plan, struct arena *arena)
{
	struct joint_making making = {
		.question = &graph->question, .arena = arena, .scratch = arena_open()};
	struct kept *own = graph->question.aim.kept ? NULL : kept_open();
	making.kept = own ? own : graph->question.aim.kept;
	bool brief = !arch_moves_boxes(plan->arch) && graph->unproven &&
		     !graph->question.aim.nest_ticks && !graph->question.aim.brief;
	for (int step = 0; brief && step < plan->step_count; step++)
		joint_nests_improve(&making, plan, step);
	kept_close(own);
	arena_close(making.scratch);
}

static const struct op *op_at(const struct joint_making *making, int op)
{
	return &making->question->workload->ops[op];
}

static bool may_lie(const struct joint_making *making, int tensor)
{
	const struct workload *workload = making->question->workload;
	const struct planning *planning = making->question->planning;
	const struct tensor *at = &workload->tensors[tensor];
	const struct users *users = &making->users;
	if (!planning->lx_planning || at->role != TENSOR_INTERMEDIATE ||
		making->stays[tensor] == STAY_HBM)
		return false;
	for (size_t i = users->first[tensor]; i < users->first[tensor + 1]; i++)
		if (!op_is_tiled(&workload->ops[users->at[i].op]))
			return false;
	return name_list_has(&planning->eligible, workload->ops[at->producer].type);
}

void joint_nests_views(struct joint_making *making, int o)
{
	const struct view whole = {.cores = 1};
	const struct op *op = op_at(making, o);
	for (int i = 0; i < op->write_count; i++)
		if (may_lie(making, op->writes[i].tensor))
			joint_views_add(making, op->writes[i].tensor, &whole, -1);
}

/* --- a range of ops */

/* Bytes of a tensor in the scratchpad, or of its part in the run. */
static int64_t find_bytes(const struct nest_range *range, int tensor)
{
	const struct arch *arch = range->making->question->arch;
	const struct residency stay = {.tensor = tensor, .place = PLACE_LX, .view = {.cores = 1}};
	struct residency at = stay;
	users_life(&range->making->users, tensor, &at.from, &at.to);
	struct layout layout = plan_stay_layout(range->plan, &at);
	return number_align_up(
		view_bytes(&layout, &at.view), number_max(1, arch_lx(arch)->alignment));
}

static bool is_listed(const struct nest_tensor *list, int count, int tensor)
{
	for (int i = 0; i < count; i++)
		if (list[i].tensor == tensor)
			return true;
	return false;
}

static void add_tensor(struct nest_range *range, int tensor)
{
	bool inside = plan_inside(range->plan, &range->making->users, tensor);
	struct nest_tensor *list = inside ? range->inside : range->outer;
	int *count = inside ? &range->inside_count : &range->outer_count;
	if (!range->making->views[tensor].count || is_listed(list, *count, tensor))
		return;
	list[(*count)++] = (struct nest_tensor){
		.tensor = tensor, .bytes = find_bytes(range, tensor), .in_lx = inside};
}

static bool live_together(const struct nest_range *range, int a, int b)
{
	int from, to, other_from, other_to;
	users_life(&range->making->users, a, &from, &to);
	users_life(&range->making->users, b, &other_from, &other_to);
	return from < other_to && other_from < to;
}

/* First fit: each part above those before it that are in its way. */
static void place_inside(struct nest_range *range)
{
	for (int i = 0; i < range->inside_count; i++) {
		struct nest_tensor *own = &range->inside[i];
		for (int k = 0; k < i; k++) {
			const struct nest_tensor *other = &range->inside[k];
			if (!live_together(range, own->tensor, other->tensor) ||
				own->offset >= other->offset + other->bytes ||
				other->offset >= own->offset + own->bytes)
				continue;
			own->offset = other->offset + other->bytes;
			k = -1;
		}
		range->span = number_max(range->span, own->offset + own->bytes);
	}
}

static int compare_levels(const void *left, const void *right)
{
	const int64_t *a = left, *b = right;
	return (*a < *b) - (*a > *b);
}

/* Lists the room that is left by each set of the tensors that live across the range and that it does not use. */
static void list_levels(struct nest_range *range)
{
	const struct joint_making *making = range->making;
	const struct users *users = &making->users;
	int64_t capacity = making->question->planning->lx_capacity, sizes[NEST_CROSSING_MOST + 1];
	int count = 0, from, to;
	for (int t = 0; t < (int)making->question->workload->tensor_count; t++) {
		users_life(users, t, &from, &to);
		if (making->views[t].count && from < range->first && to > range->end &&
			!is_listed(range->outer, range->outer_count, t) &&
			count < NEST_CROSSING_MOST)
			sizes[count++] = find_bytes(range, t);
	}
	range->levels = arena_array(range->arena, int64_t, 1 << count);
	for (int set = 0; set < 1 << count; set++) {
		int64_t level = capacity;
		for (int i = 0; i < count; i++)
			level -= set >> i & 1 ? sizes[i] : 0;
		if (level > 0)
			range->levels[range->level_count++] = level;
	}
	qsort(range->levels, (size_t)range->level_count, sizeof *range->levels, compare_levels);
}

/* The graph with a run, or without; steps are ops. */
static const struct plan *make_plan(const struct joint_making *making, const struct tile_run *run)
{
	struct plan *plan = arena_new(making->scratch, struct plan);
	*plan = joint_steps(making, 1);
	if (run) {
		plan->run_count = 1;
		plan->runs = arena_copy(making->scratch, run, sizeof *run);
	}
	return plan;
}

/* True if each op of a run makes or reads something inside. */
static bool is_joined(const struct nest_range *range)
{
	for (int o = range->first; o < range->end; o++) {
		const struct op *op = op_at(range->making, o);
		bool joined = false;
		for (int i = 0; i < op_operands(op); i++)
			joined |= is_listed(
				range->inside, range->inside_count, op_operand(op, i)->tensor);
		if (!joined)
			return false;
	}
	return true;
}

/* A run of them (NULL: a single op).  False: it is none that is worth a look, or its parts do not fit. */
static bool nest_range_open(struct joint_making *making, const struct tile_run *run, int first,
	int end, struct nest_range *out)
{
	struct arena *arena = making->scratch;
	int most = (end - first) * (OP_READS_MOST + 1), step;
	*out = (struct nest_range){.making = making,
		.arena = arena,
		.plan = make_plan(making, run),
		.first = first,
		.end = end,
		.iterations = run_iterations(run),
		.outer = arena_array(arena, struct nest_tensor, most),
		.inside = arena_array(arena, struct nest_tensor, most)};
	if (run && plan_run_misfit(arena, out->plan, 0, &step))
		return false;
	for (int o = first; o < end; o++)
		for (int i = 0; i < op_operands(op_at(making, o)); i++)
			add_tensor(out, op_operand(op_at(making, o), i)->tensor);
	if (run && !is_joined(out))
		return false;
	qsort(out->outer, (size_t)out->outer_count, sizeof *out->outer, joint_by_tensor);
	qsort(out->inside, (size_t)out->inside_count, sizeof *out->inside, joint_by_tensor);
	place_inside(out);
	list_levels(out);
	return out->span <= making->question->planning->lx_capacity;
}

/* --- one option */

/* The nest of a step, and bytes of the scratchpad.  Of one that adds up over iterations it is the best where sums
 * are there. */
struct nest_step {
	struct nest_choice choice; /* what it costs in one iteration */
	int64_t cycles, hbm_bytes; /* in all */
	double energy_pj;
	int64_t used;  /* of its own operands and tiles */
	int64_t extra; /* of that, without what its operands take */
	int64_t others;
};

static const struct nest_tensor *find_in_lx(const struct nest_range *range, int tensor)
{
	for (int i = 0; i < range->inside_count; i++)
		if (range->inside[i].tensor == tensor)
			return &range->inside[i];
	for (int i = 0; i < range->outer_count; i++)
		if (range->outer[i].tensor == tensor && range->outer[i].in_lx)
			return &range->outer[i];
	return NULL;
}

static bool reads_or_writes(const struct op *op, int tensor)
{
	for (int i = 0; i < op_operands(op); i++)
		if (op_operand(op, i)->tensor == tensor)
			return true;
	return false;
}

/* Bytes of what lies in the scratchpad during a step: its operands, or all but these. */
static int64_t bytes_at(const struct nest_range *range, int step, bool operands)
{
	const struct op *op = op_at(range->making, step);
	int64_t bytes = 0;
	int from, to;
	for (int i = 0; i < range->outer_count; i++)
		if (range->outer[i].in_lx &&
			reads_or_writes(op, range->outer[i].tensor) == operands)
			bytes += range->outer[i].bytes;
	for (int i = 0; i < range->inside_count; i++) {
		users_life(&range->making->users, range->inside[i].tensor, &from, &to);
		if (from <= step && step < to &&
			reads_or_writes(op, range->inside[i].tensor) == operands)
			bytes += range->inside[i].bytes;
	}
	return bytes;
}

/* Iterations in which a step begins sums; all others add to them. */
static int64_t count_begun(const struct nest_range *range, int step)
{
	int64_t begun = range->iterations;
	const struct tile_run *run = plan_run(range->plan, step);
	const struct op *op = op_at(range->making, step);
	for (int k = 0; run && k < run->loop_count; k++)
		if (op->loops[run_loop(op, run, k)].reduction)
			begun /= run->loops[k].tiles;
	return begun;
}

/* Prices the step's nest in all iterations. */
static bool price_alike(const struct nest_range *range, struct nest_step *step)
{
	bool fits = true;
	const struct nest_choice *one = &step->choice;
	step->cycles = checked_mul(&fits, range->iterations, one->cycles);
	step->hbm_bytes = checked_mul(&fits, range->iterations, one->hbm_bytes);
	step->energy_pj = (double)range->iterations * one->energy_pj;
	return fits;
}

/* The same where some begin sums and the others add to them. */
static bool price_sums(const struct nest_range *range, struct inner_question *question,
	int64_t begun, struct nest_step *step)
{
	const struct joint_making *making = range->making;
	struct step_count all = {.nests = NULL};
	struct nest_counts nests = {0};
	bool fits = true;
	step->cycles = step->hbm_bytes = 0;
	question->mapping = &step->choice.mapping;
	for (int begins = 0; begins < 2; begins++) {
		struct op_price price;
		int64_t times = begins ? begun : range->iterations - begun;
		question->resumes = !begins;
		if (!op_price(question, making->scratch, &price) || price.why)
			return false;
		fits &= nest_counts_add(&nests, price.counts.nests, times);
		step->cycles =
			checked_add(&fits, step->cycles, checked_mul(&fits, times, price.bound));
		step->hbm_bytes = checked_add(
			&fits, step->hbm_bytes, checked_mul(&fits, times, price.hbm_bytes));
	}
	all.nests = &nests;
	const struct inner_cost *inner = inner_cost_make(question, making->scratch);
	step->energy_pj =
		energy_add(0, question->arch, question->op, &all, inner ? inner->model : NULL);
	return fits;
}

static bool choose_step(
	const struct nest_range *range, int step, int64_t level, struct nest_step *out)
{
	const struct joint_question *asked = range->making->question;
	const struct arch *arch = asked->arch;
	const struct op *op = plan_step_op(range->making->scratch, range->plan, step);
	struct mapping blank = mapping_make(arch, op);
	struct inner_question question = {
		.arch = arch, .workload = asked->workload, .op = op, .mapping = &blank};
	uint64_t ticks = asked->aim.nest_ticks ? asked->aim.nest_ticks
			 : asked->aim.brief    ? NEST_BRIEF_TICKS
					       : NEST_JOINT_TICKS;
	int64_t begun = count_begun(range, step);
	question.resumes = begun < range->iterations;
	double buffers = number_max(1, arch_lx(arch)->store.multiple_buffering);
	int64_t own = bytes_at(range, step, true), whole = arch_lx(arch)->capacity;
	out->others = bytes_at(range, step, false);
	int64_t room = level - out->others;
	if (room <= 0)
		return false;
	for (int i = 0; i < op_operands(op); i++)
		if (find_in_lx(range, op_operand(op, i)->tensor))
			question.in_lx |= 1u << i;
	for (int tries = 0; tries < 2; tries++) { /* what needs little room leaves much */
		question.room = tries == 0 || room == whole ? 0 : room;
		if (joint_nest_ask(range->making, &question, ticks, &out->choice) == JOINT_NEVER)
			return false;
		out->used = (int64_t)ceil((double)(own + out->choice.room) * buffers);
		out->extra = out->used - own;
		if (out->used <= room)
			return question.resumes ? price_sums(range, &question, begun, out)
						: price_alike(range, out);
	}
	return false;
}

struct nest_option {
	int64_t value, room, used;
	struct nest_step *steps;
};

static bool choose_steps(const struct nest_range *range, int64_t level, struct nest_option *out)
{
	bool fits = true;
	int64_t cycles = 0, hbm_bytes = 0;
	double energy = 0;
	out->used = 0;
	out->room = range->span;
	for (int s = range->first; s < range->end; s++) {
		struct nest_step *step = &out->steps[s - range->first];
		if (!choose_step(range, s, level, step))
			return false;
		int64_t inside = bytes_at(range, s, true) + step->others;
		for (int i = 0; i < range->outer_count; i++)
			inside -= range->outer[i].in_lx ? range->outer[i].bytes : 0;
		out->room = number_max(out->room, inside + step->extra);
		out->used = number_max(out->used, step->others + step->used);
		cycles = checked_add(&fits, cycles, step->cycles);
		hbm_bytes = checked_add(&fits, hbm_bytes, step->hbm_bytes);
		energy += step->energy_pj;
	}
	out->value = fits ? joint_worth(range->making, cycles, energy, hbm_bytes) : JOINT_NEVER;
	return out->value < JOINT_NEVER;
}

/* Every tensor that is read from outside, made for outside, or at home between two of the ops. */
struct nest_uses {
	int use_count, out_count, argument_count;
	struct joint_use *uses;
	struct joint_out *outs;
	int *arguments;
};

static struct nest_uses list_places(const struct nest_range *range, struct arena *arena)
{
	const struct workload *workload = range->making->question->workload;
	int most = (range->end - range->first) * (OP_READS_MOST + 1);
	struct nest_uses places = {.uses = arena_array(arena, struct joint_use, most),
		.outs = arena_array(arena, struct joint_out, most),
		.arguments = arena_array(arena, int, most)};
	for (int t = 0; t < (int)workload->tensor_count; t++) {
		int producer = workload->tensors[t].producer;
		bool made = producer >= range->first && producer < range->end, used = made;
		bool in_lx = find_in_lx(range, t);
		for (int o = range->first; !used && o < range->end; o++)
			used = reads_or_writes(op_at(range->making, o), t);
		if (!used || is_listed(range->inside, range->inside_count, t))
			continue;
		if (!made)
			places.uses[places.use_count++] = (struct joint_use){
				t, in_lx ? JOINT_RESIDENT : JOINT_HBM, in_lx ? 0 : -1};
		else if (plan_inside(range->plan, &range->making->users, t))
			places.arguments[places.argument_count++] = t;
		else
			places.outs[places.out_count++] = (struct joint_out){t, in_lx ? 0 : -1, -1};
	}
	return places;
}

static const struct joint_choice *make_choice(
	const struct nest_range *range, const struct nest_option *option)
{
	struct arena *arena = range->making->arena;
	int count = range->end - range->first;
	struct joint_choice *choice = arena_new(arena, struct joint_choice);
	struct joint_part *parts = arena_array(arena, struct joint_part, count);
	struct joint_inside *inside = arena_array(arena, struct joint_inside, range->inside_count);
	for (int i = 0; i < count; i++)
		parts[i].mapping = arena_copy(arena, &option->steps[i].choice.mapping,
			sizeof option->steps[i].choice.mapping);
	for (int i = 0; i < range->inside_count; i++)
		inside[i] = (struct joint_inside){.tensor = range->inside[i].tensor,
			.view = {.cores = 1},
			.offset = range->inside[i].offset};
	*choice = (struct joint_choice){
		.parts = parts, .inside_count = range->inside_count, .inside = inside};
	if (range->plan->run_count)
		choice->run = arena_copy(arena, range->plan->runs, sizeof *choice->run);
	return choice;
}

static void keep_nest(const struct nest_range *range, const struct nest_option *option)
{
	struct joint_making *making = range->making;
	struct nest_uses places = list_places(range, making->arena);
	*array_add(making->growing, &making->options) = (struct joint_option){.first = range->first,
		.end = range->end,
		.value = option->value,
		.room = option->room,
		.cores = 1,
		.use_count = places.use_count,
		.out_count = places.out_count,
		.argument_count = places.argument_count,
		.uses = places.uses,
		.outs = places.outs,
		.arguments = places.arguments,
		.choice = make_choice(range, option)};
}

/* The best nests in all of the scratchpad, then in the most room that is less than those take, .. */
static void add_levels(struct nest_range *range)
{
	struct joint_making *making = range->making;
	struct nest_option option = {
		.steps = arena_array(range->arena, struct nest_step, range->end - range->first)};
	int64_t value = JOINT_NEVER, used = INT64_MAX;
	for (int i = 0; i < range->level_count; i++) {
		if (range->levels[i] >= used)
			continue;
		if (!choose_steps(range, range->levels[i], &option))
			return;
		used = option.used;
		if (option.value == value) /* the same in less room */
			making->options.count--;
		value = option.value;
		keep_nest(range, &option);
	}
}

static void choose_places(struct nest_range *range, int k)
{
	if (k == range->outer_count) {
		add_levels(range);
		return;
	}
	enum stay stay = range->making->stays[range->outer[k].tensor];
	for (int in_lx = stay == STAY_LX; in_lx < 2; in_lx++) {
		range->outer[k].in_lx = in_lx;
		choose_places(range, k + 1);
	}
}

static void nest_range_options(struct nest_range *range)
{
	choose_places(range, 0);
}

/* Loops that a run shares, while numbers of tiles are tried. */
struct trying_nests {
	struct joint_making *making;
	struct tile_run run;
	/* Numbers of tiles that are still wanted: from the fewest on; from the fewest on that leave room for
	 * all that the run uses from outside. */
	int few, roomy;
	bool last; /* the most tiles */
};

/* Loops of the first op that can be shared, extents that can be cut. */
static bool op_may_share(const struct op *op, int l)
{
	return !op->loops[l].reduction && op->loops[l].extent > 1;
}

/* True if the parts leave room for all that may lie in the scratchpad beside them. */
static bool is_roomy(const struct nest_range *range)
{
	int64_t room = range->making->question->planning->lx_capacity - range->span;
	for (int i = 0; i < range->outer_count; i++)
		room -= range->outer[i].bytes;
	return room >= 0;
}

static void try_nest_tiles(struct trying_nests *try)
{
	struct joint_making *making = try->making;
	struct nest_range range;
	struct arena_mark mark = arena_mark(making->scratch);
	if (nest_range_open(making, &try->run, try->run.first, try->run.end, &range)) {
		bool roomy = is_roomy(&range);
		if (try->last || try->few > 0 || (roomy && try->roomy > 0))
			nest_range_options(&range);
		try->few--;
		try->roomy -= roomy;
	}
	arena_release(making->scratch, mark);
}

/* Tiles of loop k and the ones inside it whose product is `all`. */
static void share_out(struct trying_nests *try, const int64_t *extents, int k, int64_t all)
{
	bool last = k + 1 == try->run.loop_count;
	for (int64_t tiles = last ? all : 2; tiles <= all; tiles++) {
		if (tiles < 2 || all % tiles || extents[k] % tiles)
			continue;
		try->run.loops[k].tiles = tiles;
		if (last)
			try_nest_tiles(try);
		else
			share_out(try, extents, k + 1, all / tiles);
	}
}

/* The fewest iterations first, then the fewest that leave room, then the most. */
static void try_loops(struct trying_nests *try, bool roomy)
{
	const struct op *op = &try->making->question->workload->ops[try->run.first];
	bool brief = !try->making->question->aim.nest_ticks;
	int64_t extents[RUN_LOOPS_MOST], most = 1;
	for (int k = 0; k < try->run.loop_count; k++) {
		extents[k] = op->loops[run_loop(op, &try->run, k)].extent;
		most *= extents[k];
	}
	try->few = (brief ? NEST_BRIEF_TILES : NEST_RUN_TILES) - 1;
	try->roomy = roomy ? NEST_ROOMY_TILES : 0;
	try->last = false;
	for (int64_t all = 2; all < most && (try->few > 0 || try->roomy > 0); all++)
		if (most % all == 0 && !stopper_stops(&try->making->question->planning->stopper))
			share_out(try, extents, 0, all);
	try->last = true;
	share_out(try, extents, 0, most);
}

/* True if the steps can share the loops, cut into single elements, or left whole: then what is inside fits
 * without a run, too.  *roomy: there is room for all that they use from outside. */
static bool can_share(const struct trying_nests *try, bool whole, bool *roomy)
{
	struct nest_range range;
	struct tile_run run = try->run;
	const struct op *op = &try->making->question->workload->ops[run.first];
	struct arena_mark mark = arena_mark(try->making->scratch);
	for (int k = 0; k < run.loop_count; k++)
		run.loops[k].tiles = whole ? 1 : op->loops[run_loop(op, &run, k)].extent;
	bool can = nest_range_open(try->making, &run, run.first, run.end, &range);
	*roomy = can && is_roomy(&range);
	arena_release(try->making->scratch, mark);
	return can;
}

/* Those of runs that begin with an op. */
static void joint_nests_runs(struct joint_making *making, int first)
{
	const struct workload *workload = making->question->workload;
	const struct op *op = &workload->ops[first];
	bool brief = !making->question->aim.nest_ticks;
	bool two = joint_is_free(making, KIND_FUSED_LOOPS) && !brief;
	struct trying_nests try = {.making = making, .run = {.first = first}};
	for (int end = first + 2; end <= first + NEST_RUN_OPS && end <= (int)workload->op_count;
		end++) {
		if (!op_is_tiled(&workload->ops[end - 1]))
			return;
		try.run.end = end;
		for (int a = 0; a < op->loop_count; a++)
			for (int b = a; b < (two ? op->loop_count : a + 1); b++) {
				if (!op_may_share(op, a) || !op_may_share(op, b))
					continue;
				try.run.loop_count = 1 + (b > a);
				try.run.loops[0].name = op->loops[a].name;
				try.run.loops[1].name = op->loops[b].name;
				bool roomy, whole;
				if (can_share(&try, false, &roomy) &&
					!(brief && can_share(&try, true, &whole)))
					try_loops(&try, roomy);
			}
	}
}

bool joint_nests_options(struct joint_making *making, int o)
{
	size_t before = making->options.count;
	struct arena_mark mark = arena_mark(making->scratch);
	struct nest_range range;
	if (nest_range_open(making, NULL, o, o + 1, &range))
		nest_range_options(&range);
	if (joint_is_free(making, KIND_FUSION))
		joint_nests_runs(making, o);
	arena_release(making->scratch, mark);
	if (stopper_stops(&making->question->planning->stopper))
		making->why = "it was asked to stop";
	else if (making->options.count == before)
		making->why = arena_format(making->arena,
			"op '%s' cannot be carried out: no nest of it fits",
			op_at(making, o)->name);
	return !making->why;
}
