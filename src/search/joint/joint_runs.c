#include "search/joint/joint_runs.h"

#include "base/arena.h"
#include "base/number.h"

/*
 * Which runs of ops there are to choose from, before what they cost (joint_run_options.c):
 *
 *	ops    any that share a loop and follow each other: all in small graphs, where KIND_SMALL_RUNS is free;
 *	       else where LX is short while one of them runs (is_short), or from one that makes what
 *	       LX cannot hold whole (is_big), up to the last reader of all such tensors or any op behind it
 *	tiles  of the loops that all share: as few as leave all parts room in LX, a half, or a quarter of it
 *	cores  one division for all ops, by shared loops in any order, over as many cores as they allow
 *	parts  of what lives inside are all in LX, in place of each other where they may be
 */
enum { VECTORS_MOST = 4096 };

/* --- tiles */

/* Bytes on a core that all parts together take at most at one step, if they are divided evenly. */
static int64_t find_need(struct trying *trying)
{
	const struct workload *whole = trying->making->question->workload;
	int64_t cores = trying->making->question->planning->cores, most = 0;
	for (int o = trying->run.first; o < trying->run.end; o++) {
		int64_t sum = 0;
		for (int other = trying->run.first; other <= o; other++) {
			int t = whole->ops[other].writes[0].tensor;
			struct residency stay = stay_inside(trying, t);
			if (!is_inside(trying, t) || stay.to <= o)
				continue;
			bool dies = other < o && stay.to == o + 1 &&
				    joint_may_take_over(trying->making, whole, &whole->ops[o], t);
			if (!dies)
				sum += plan_stay_layout(&trying->plan, &stay).bytes / cores;
		}
		most = number_max(most, sum);
	}
	return most;
}

struct tried_tiles {
	struct run_factors tiles;
	int64_t need, iterations;
};

struct tiles_list {
	struct array(struct tried_tiles) all;
};

/* True if as many loops may be cut as are. */
static bool are_free(const struct trying *trying)
{
	int cut = 0;
	for (int k = 0; k < trying->run.loop_count; k++)
		cut += trying->run.loops[k].tiles > 1;
	return cut <= 1 || joint_is_free(trying->making, KIND_FUSED_LOOPS);
}

static void list_tiles(struct trying *trying, int k, struct tiles_list *list)
{
	int step;
	struct tile_run *run = &trying->run;
	const struct workload *whole = trying->making->question->workload;
	if (list->all.count >= VECTORS_MOST)
		return;
	if (k == run->loop_count) {
		struct tried_tiles tried = {.iterations = run_iterations(run)};
		if (plan_run_misfit(trying->arena, &trying->plan, 0, &step) || !are_free(trying))
			return;
		for (int i = 0; i < k; i++)
			tried.tiles.at[i] = run->loops[i].tiles;
		tried.need = find_need(trying);
		*array_add(trying->arena, &list->all) = tried;
		return;
	}
	const struct op *op = &whole->ops[run->first];
	struct divisors divisors =
		number_divisors(trying->arena, op_units(whole, op, run_loop(op, run, k)));
	for (size_t i = 0; i < divisors.count; i++) {
		run->loops[k].tiles = divisors.at[i];
		list_tiles(trying, k + 1, list);
	}
	run->loops[k].tiles = 1;
}

/* True if other tiles that fit are a coarsening of these. */
static bool is_finer(const struct tiles_list *list, size_t i, int loops, int64_t most)
{
	const struct tried_tiles *own = &list->all.at[i];
	for (size_t j = 0; j < list->all.count; j++) {
		const struct tried_tiles *other = &list->all.at[j];
		bool coarser = j != i && other->need <= most;
		for (int k = 0; coarser && k < loops; k++)
			coarser = own->tiles.at[k] % other->tiles.at[k] == 0;
		if (coarser)
			return true;
	}
	return false;
}

static void try_tiles(struct trying *trying, const struct run_factors *tiles)
{
	for (int k = 0; k < trying->run.loop_count; k++)
		trying->run.loops[k].tiles = tiles->at[k];
	joint_run_divide(trying);
}

/* As few tiles as fit into all of LX, a half, and a quarter of it. */
static void try_run(struct joint_making *making, struct trying *trying)
{
	struct tiles_list list = {{0}};
	int64_t capacity = making->question->planning->lx_capacity;
	trying->arena = making->scratch;
	list_tiles(trying, 0, &list);
	for (size_t i = 0; i < list.all.count; i++) {
		bool wanted = false;
		for (int part = 1; part <= 4; part *= 2)
			wanted |= list.all.at[i].need <= capacity / part &&
				  !is_finer(&list, i, trying->run.loop_count, capacity / part);
		if (wanted && list.all.at[i].iterations > 1)
			try_tiles(trying, &list.all.at[i].tiles);
	}
}

/* --- runs */

static void open_trying(struct joint_making *making, int first, int end, struct trying *trying)
{
	*trying = (struct trying){.making = making, .run = {.first = first, .end = end}};
	trying->plan = joint_steps(making, making->question->planning->cores);
	trying->plan.run_count = 1;
	trying->plan.runs = &trying->run;
}

/* The loops that all ops of the run can share; false if there is none. */
static bool find_loops(struct trying *trying)
{
	struct joint_making *making = trying->making;
	const struct op *op = &making->question->workload->ops[trying->run.first];
	struct tile_run found = trying->run;
	int step;
	for (int l = 0; l < op->loop_count && found.loop_count < RUN_LOOPS_MOST; l++) {
		trying->run.loop_count = 1;
		trying->run.loops[0] = (struct run_loop){op->loops[l].name, 1};
		if (!plan_run_misfit(making->scratch, &trying->plan, 0, &step))
			found.loops[found.loop_count++] = trying->run.loops[0];
	}
	trying->run = found;
	return found.loop_count > 0;
}

/* Too large to lie in LX whole, beside anything else. */
static bool is_big(const struct joint_making *making, int tensor)
{
	const struct joint_question *question = making->question;
	const struct tensor *at = &question->workload->tensors[tensor];
	return at->role == TENSOR_INTERMEDIATE && joint_may_lie(making, tensor) &&
	       at->layout.bytes / 2 / question->planning->cores >=
		       question->planning->lx_capacity / 2;
}

/* True if a tensor may be in LX while an op runs: what it uses, and what is made before and read behind it. */
static bool is_about(const struct joint_making *making, int t, int o)
{
	int from, to;
	const struct tensor *tensor = &making->question->workload->tensors[t];
	users_life(&making->users, t, &from, &to);
	return joint_may_lie(making, t) && to > o && (tensor->producer < 0 || from <= o);
}

/* True if all that may be in LX while some op of the run runs, divided evenly, is more than LX holds. */
static bool is_short(const struct joint_making *making, int first, int end)
{
	const struct joint_question *question = making->question;
	const struct workload *workload = question->workload;
	for (int o = first; o < end; o++) {
		int64_t bytes = 0;
		for (int t = 0; t < (int)workload->tensor_count; t++)
			if (is_about(making, t, o))
				bytes += workload->tensors[t].layout.bytes /
					 question->planning->cores;
		if (bytes > question->planning->lx_capacity)
			return true;
	}
	return false;
}

/* By op, how far a run goes at least that begins with it, for tensors that LX cannot hold; 0: none does. */
static int *find_big_ends(struct joint_making *making)
{
	const struct workload *workload = making->question->workload;
	int ops = (int)workload->op_count, *ends = arena_array(making->scratch, int, ops);
	struct trying trying;
	for (int first = 0; first < ops; first++) {
		int end = first, from, to;
		for (int o = first; o < ops && (o == first || o < end); o++) {
			int t = workload->ops[o].writes[0].tensor;
			if (!is_big(making, t))
				continue;
			users_life(&making->users, t, &from, &to);
			end = (int)number_max(end, to);
		}
		if (end == first)
			continue;
		open_trying(making, first, end, &trying);
		if (find_loops(&trying)) {
			ends[first] = end;
			first = end - 1;
		}
	}
	return ends;
}

void joint_runs_find(struct joint_making *making)
{
	int ops = (int)making->question->workload->op_count;
	const int *big = find_big_ends(making);
	bool all = joint_is_free(making, KIND_SMALL_RUNS) &&
		   making->question->workload->op_count <= SMALL_RUNS_OPS_MOST;
	for (int first = 0; first < ops; first++)
		for (int last = first + 1; last <= ops; last++) {
			struct trying trying;
			open_trying(making, first, last, &trying);
			if (!find_loops(&trying) ||
				stopper_stops(&making->question->planning->stopper))
				break;
			bool is_for_big = big[first] && last >= big[first];
			if (is_for_big ||
				(last > first + 1 && (all || is_short(making, first, last))))
				try_run(making, &trying);
		}
}
