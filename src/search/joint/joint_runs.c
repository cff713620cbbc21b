#include "base/arena.h"
#include "base/number.h"
#include "model/graph/box_nest.h"
#include "model/graph/run.h"
#include "model/packing/buffer.h"
#include "search/drive/solver.h"
#include "search/graph/lx.h"
#include "search/graph/op_map.h"
#include "search/joint/joint_making.h"

#include <stdlib.h>
#include <string.h>

/* Numbers of tiles of the shared loops. */
struct tried_tiles {
	struct run_factors tiles;
	int64_t need; /* bytes of all parts together at one step, at most */
	int64_t coarser; /* the least need of tiles that are a coarsening of these; INT64_MAX: of none */
	int64_t iterations;
};

/* A run of ops while its tiles and divisions are tried. */
struct trying {
	struct joint_making *making;
	struct plan plan; /* whose steps are the ops; its only run is the one that is tried */
	struct tile_run run;
	struct arena *arena; /* of the tiles that are tried */
	const struct tried_tiles *tiles;
	int64_t most;         /* cores that the shared loops allow with these tiles */
	struct workload part; /* of the first iteration */
	struct run_division division;
};

/* True if only steps of the run make and read a tensor. */
static inline bool joint_run_is_inside(const struct trying *trying, int tensor)
{
	return plan_inside(&trying->plan, &trying->making->users, tensor) != NULL;
}

/* One division for all ops of a run, and where that leaves what they use. */

/* --- parts */

static struct residency stay_inside(const struct trying *trying, int tensor)
{
	struct residency stay = {.tensor = tensor, .place = PLACE_LX, .in_place_of = -1};
	users_life(&trying->making->users, tensor, &stay.from, &stay.to);
	return stay;
}

/* The workload of the first iteration: ops with parts of their loops, and parts of what lives inside. */
static void make_part(struct trying *trying)
{
	const struct workload *whole = trying->making->question->workload;
	struct arena *arena = trying->arena;
	struct op *ops = arena_copy(arena, whole->ops, whole->op_count * sizeof *ops);
	struct tensor *tensors =
		arena_copy(arena, whole->tensors, whole->tensor_count * sizeof *tensors);
	for (int o = trying->run.first; o < trying->run.end; o++)
		ops[o] = *run_op(arena, whole, &whole->ops[o], &trying->run, 0);
	for (int o = trying->run.first; o < trying->run.end; o++) {
		int t = whole->ops[o].writes[0].tensor;
		struct residency stay = stay_inside(trying, t);
		if (joint_run_is_inside(trying, t))
			tensors[t].layout = plan_stay_layout(&trying->plan, &stay);
	}
	trying->part = *whole;
	trying->part.ops = ops;
	trying->part.tensors = tensors;
}

/* --- what one division leads to */

/* By constraints; those of spans mean whole ops, which no run has. */
static bool is_allowed(
	const struct trying *trying, const struct op *op, const struct mapping *mapping)
{
	const struct joint_question *question = trying->making->question;
	const struct constraints *constraints = question->planning->constraints;
	return mapping_cores(question->arch, mapping) <= graph_cores(constraints, op) &&
	       graph_span(constraints, op) == INT64_MAX;
}

static bool make_mappings(struct trying *trying, struct mapping *mappings)
{
	const struct arch *arch = trying->making->question->arch;
	for (int o = trying->run.first; o < trying->run.end; o++) {
		const struct op *op = &trying->part.ops[o];
		struct mapping *mapping = &mappings[o - trying->run.first];
		*mapping = mapping_make(arch, op);
		struct mapping_row *row = &mapping->rows[arch->core];
		int at = 0;
		uint32_t split = 0;
		for (int i = 0; i < trying->division.order_count; i++) {
			int l = run_loop(op, &trying->run, trying->division.order[i]);
			row->spatial[l] =
				(uint32_t)trying->division.splits.at[trying->division.order[i]];
			row->spatial_order[at++] = (uint8_t)l;
			split |= 1u << l;
		}
		for (int l = 0; l < op->loop_count; l++)
			if (!(split >> l & 1))
				row->spatial_order[at++] = (uint8_t)l;
		if (mapping_check(trying->arena, arch, &trying->part, op, mapping) ||
			!is_allowed(trying, op, mapping))
			return false;
	}
	return true;
}

static bool find_view(const struct trying *trying, const struct mapping *mappings, int o, int i,
	struct view *view)
{
	const char *why;
	const struct op *op = &trying->part.ops[o];
	return joint_may_lie(trying->making, op_operand(op, i)->tensor) &&
	       lx_view(trying->making->question->arch, &trying->part, op,
		       &mappings[o - trying->run.first], i, trying->arena, view, &why);
}

/* True if what lives inside is found by its readers where it is left. */
static bool parts_meet(
	const struct trying *trying, const struct mapping *mappings, int tensor, struct view *view)
{
	const struct users *users = &trying->making->users;
	int producer = trying->part.tensors[tensor].producer;
	if (!find_view(trying, mappings, producer, trying->part.ops[producer].read_count, view))
		return false;
	for (size_t u = users->first[tensor]; u < users->first[tensor + 1]; u++) {
		struct view asked;
		if (!find_view(trying, mappings, users->at[u].op, users->at[u].operand, &asked) ||
			!view_equal(&asked, view))
			return false;
	}
	return true;
}

/* The least room in which all that lives inside fits, in place of each other where it may. */
static bool pack_insides(struct trying *trying, struct joint_run *run)
{
	struct arena *arena = trying->arena;
	const struct joint_question *question = trying->making->question;
	struct buffer *buffers = arena_array(arena, struct buffer, run->inside_count);
	int *parents = arena_array(arena, int, run->inside_count);
	for (int i = 0; i < run->inside_count; i++) {
		const struct joint_inside *inside = &run->inside[i];
		const struct tensor *tensor = &trying->part.tensors[inside->tensor];
		struct residency stay = stay_inside(trying, inside->tensor);
		buffers[i] = (struct buffer){.name = tensor->name,
			.size = view_bytes(&tensor->layout, &inside->view),
			.start = stay.from,
			.end = stay.to};
		for (int k = 0; k < i && !buffers[i].parent_count; k++) {
			const struct op *op = &trying->part.ops[stay.from];
			if (buffers[k].end != stay.from + 1 || buffers[k].size < buffers[i].size ||
				!joint_may_take_over(
					trying->making, &trying->part, op, run->inside[k].tensor) ||
				!view_equal(&run->inside[k].view, &inside->view))
				continue;
			parents[i] = k;
			buffers[i].parents = &parents[i];
			buffers[i].parent_count = 1;
		}
	}
	struct packing packing = {.capacity = question->planning->lx_capacity,
		.alignment = arch_lx(question->arch)->alignment,
		.goal = PACKING_PEAK,
		.count = (size_t)run->inside_count,
		.buffers = buffers};
	struct problem problem = {.stage = STAGE_PLACE, .op = -1, .packing = &packing};
	struct answer answer =
		solve(solver_for(STAGE_PLACE, FOR_PACKINGS), &problem, 100000, 0, arena);
	if (!answer.candidate_count)
		return false;
	const struct placement *placement = answer.candidates[answer.candidate_count - 1].placement;
	struct packing_fault fault = packing_check(&packing, placement);
	if (fault.a >= 0)
		return false;
	run->room = 0;
	for (int i = 0; i < run->inside_count; i++) {
		int parent = placement->in_place_of[i];
		run->inside[i].offset = placement->addresses[i];
		run->inside[i].in_place_of = parent < 0 ? 0 : 1 + run->inside[parent].tensor;
		run->room = number_max(run->room, placement->addresses[i] + buffers[i].size);
	}
	return true;
}

/* True if no op behind the run reads a tensor. */
static bool run_is_last(const struct trying *trying, int tensor)
{
	int from, to;
	users_life(&trying->making->users, tensor, &from, &to);
	return to <= trying->run.end;
}

/* Adds a tensor that the run uses from outside, or makes for later ops. */
static void add_outer(
	struct trying *trying, const struct mapping *mappings, struct joint_run *run, int o, int i)
{
	struct joint_making *making = trying->making;
	const struct op *op = &trying->part.ops[o];
	int tensor = op_operand(op, i)->tensor, n = 0;
	bool writes = i == op->read_count;
	struct view view;
	if (joint_run_is_inside(trying, tensor))
		return;
	while (n < run->outer_count && run->outers[n].tensor != tensor)
		n++;
	struct joint_outer *outer = &run->outers[n];
	if (n == run->outer_count) {
		run->outer_count++;
		*outer = (struct joint_outer){.tensor = tensor,
			.made = writes,
			.dies = !writes && run_is_last(trying, tensor),
			.view = -1};
	}
	if (!find_view(trying, mappings, o, i, &view)) {
		outer->never = true;
		return;
	}
	int v = joint_views_add(making, tensor, &view, writes ? -1 : run->loops.first);
	if (writes)
		outer->view = v;
	else if (outer->asked_count < JOINT_ASKED_MOST)
		outer->asked[outer->asked_count++] = v;
	else
		outer->never = true;
}

static int count_operands(const struct trying *trying)
{
	int count = 0;
	for (int o = trying->run.first; o < trying->run.end; o++)
		count += op_operands(&trying->part.ops[o]);
	return count;
}

/* Adds the run with the tiles and the division at hand, if it can be carried out. */
static void joint_run_add_run(struct trying *trying)
{
	struct joint_making *making = trying->making;
	struct arena *arena = trying->arena;
	int ops = trying->run.end - trying->run.first;
	struct joint_run run = {.loops = trying->run, .division = trying->division};
	struct mapping *mappings = arena_array(arena, struct mapping, ops);
	if (!make_mappings(trying, mappings))
		return;
	run.cores = mapping_cores(making->question->arch, &mappings[0]);
	run.inside = arena_array(arena, struct joint_inside, ops);
	run.outers = arena_array(arena, struct joint_outer, count_operands(trying));
	for (int o = trying->run.first; o < trying->run.end; o++) {
		int tensor = trying->part.ops[o].writes[0].tensor;
		struct view view;
		if (!joint_run_is_inside(trying, tensor))
			continue;
		if (!parts_meet(trying, mappings, tensor, &view))
			return;
		run.inside[run.inside_count++] =
			(struct joint_inside){.tensor = tensor, .view = view};
	}
	if (!pack_insides(trying, &run))
		return;
	for (int o = trying->run.first; o < trying->run.end; o++)
		for (int i = 0; i < op_operands(&trying->part.ops[o]); i++)
			add_outer(trying, mappings, &run, o, i);
	run.inside = arena_copy(
		making->scratch, run.inside, (size_t)run.inside_count * sizeof *run.inside);
	run.outers = arena_copy(
		making->scratch, run.outers, (size_t)run.outer_count * sizeof *run.outers);
	*array_add(making->scratch, &making->runs) = run;
}

/* --- divisions */

static int64_t units_of(const struct trying *trying, int k)
{
	const struct workload *workload = &trying->part;
	int64_t units = 0;
	for (int o = trying->run.first; o < trying->run.end; o++) {
		const struct op *op = &workload->ops[o];
		units = number_gcd(units, op_units(workload, op, run_loop(op, &trying->run, k)));
	}
	return units;
}

/* All orders of the loops that are split. */
static void joint_run_order_loops(struct trying *trying, int at)
{
	if (at == trying->division.order_count) {
		joint_run_add_run(trying);
		return;
	}
	int end =
		joint_is_free(trying->making, KIND_ORDERS) ? trying->division.order_count : at + 1;
	for (int i = at; i < end; i++) {
		int first = trying->division.order[at];
		trying->division.order[at] = trying->division.order[i];
		trying->division.order[i] = first;
		joint_run_order_loops(trying, at + 1);
		trying->division.order[i] = trying->division.order[at];
		trying->division.order[at] = first;
	}
}

/* The most cores that a division by the shared loops from k on takes, of those left. */
static int64_t joint_run_most_cores(const struct trying *trying, int k, int64_t left)
{
	int64_t most = 0;
	if (k == trying->run.loop_count)
		return 1;
	struct divisors divisors = number_divisors(trying->arena, units_of(trying, k));
	for (size_t i = 0; i < divisors.count && divisors.at[i] <= left; i++)
		most = number_max(most, divisors.at[i] * joint_run_most_cores(trying, k + 1,
								 left / divisors.at[i]));
	return most;
}

/* True if the tiles leave the parts all of LX on so many cores, a half or a quarter, and coarser ones do not. */
static bool are_tiles_few(const struct trying *trying, int64_t cores)
{
	const struct planning *planning = trying->making->question->planning;
	int64_t capacity = planning->lx_capacity;
	cores = joint_is_free(trying->making, KIND_NARROW_RUNS) ? cores : planning->cores;
	for (int part = 1; part <= 4; part *= 2)
		if (trying->tiles->need <= cores * (capacity / part) &&
			trying->tiles->coarser > cores * (capacity / part))
			return true;
	return false;
}

static bool are_ever_few(const struct trying *trying)
{
	int64_t most = trying->making->question->planning->cores;
	for (int64_t cores = 1; cores <= most; cores++)
		if (are_tiles_few(trying, cores))
			return true;
	return false;
}

/* Divisions by the shared loops from k on, those before it over `cores`. */
static void trying_divide(struct trying *trying, int k, int64_t cores, int64_t least)
{
	if (k == trying->run.loop_count) {
		trying->division.order_count = 0;
		for (int i = 0; i < k; i++)
			if (trying->division.splits.at[i] > 1)
				trying->division.order[trying->division.order_count++] = i;
		bool many = trying->division.order_count > 1;
		if (cores >= least && are_tiles_few(trying, cores) &&
			(!many || joint_is_free(trying->making, KIND_MANY_LOOPS)))
			joint_run_order_loops(trying, 0);
		return;
	}
	int64_t most = trying->making->question->planning->cores / cores;
	struct divisors divisors = number_divisors(trying->arena, units_of(trying, k));
	for (size_t i = 0; i < divisors.count && divisors.at[i] <= most; i++) {
		trying->division.splits.at[k] = divisors.at[i];
		trying_divide(trying, k + 1, cores * divisors.at[i], least);
	}
}

/* Adds the run with its tiles in each division that can be carried out. */
static void joint_run_divide(struct trying *trying)
{
	struct arena *arena = trying->arena;
	bool few = joint_is_free(trying->making, KIND_FEW_CORES);
	trying->arena = arena_open();
	make_part(trying);
	trying->most = joint_run_most_cores(trying, 0, trying->making->question->planning->cores);
	trying_divide(trying, 0, 1,
		few && joint_is_free(trying->making, KIND_NARROW_RUNS) ? 1 : trying->most);
	arena_close(trying->arena);
	trying->arena = arena;
}

/*
 * Enumerates the runs of ops:
 *
 *	ops    any that share a loop and follow each other: all in small graphs, where KIND_SMALL_RUNS is free;
 *	       else where LX is short while one of them runs (is_short), or from one that makes what
 *	       LX cannot hold whole (is_big), up to the last reader of all such tensors or any op behind it;
 *	cores  one division for all ops, by shared loops in any order;
 *	tiles  of the loops that all share: as few as leave all parts room in LX on these cores, a half, or a
 *	       quarter of it;
 *	parts  of what lives inside are all in LX, in place of each other where they may be
 */
enum { VECTORS_MOST = 4096 };

/* --- tiles */

/* Bytes that all parts together take at most at one step. */
static int64_t joint_run_find_need(struct trying *trying)
{
	const struct workload *whole = trying->making->question->workload;
	int64_t most = 0;
	for (int o = trying->run.first; o < trying->run.end; o++) {
		int64_t sum = 0;
		for (int other = trying->run.first; other <= o; other++) {
			int t = whole->ops[other].writes[0].tensor;
			struct residency stay = stay_inside(trying, t);
			if (!joint_run_is_inside(trying, t) || stay.to <= o)
				continue;
			bool dies = other < o && stay.to == o + 1 &&
				    joint_may_take_over(trying->making, whole, &whole->ops[o], t);
			if (!dies)
				sum += plan_stay_layout(&trying->plan, &stay).bytes;
		}
		most = number_max(most, sum);
	}
	return most;
}

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
		tried.need = joint_run_find_need(trying);
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

/* The least need of other tiles that are a coarsening of these. */
static int64_t find_coarser(const struct tiles_list *list, size_t i, int loops)
{
	const struct tried_tiles *own = &list->all.at[i];
	int64_t least = INT64_MAX;
	for (size_t j = 0; j < list->all.count; j++) {
		const struct tried_tiles *other = &list->all.at[j];
		bool coarser = j != i && other->need < least;
		for (int k = 0; coarser && k < loops; k++)
			coarser = own->tiles.at[k] % other->tiles.at[k] == 0;
		if (coarser)
			least = other->need;
	}
	return least;
}

/* The run in all tiles that are few for some division, in each such division. */
static void try_run(struct joint_making *making, struct trying *trying)
{
	struct tiles_list list = {{0}};
	trying->arena = making->scratch;
	list_tiles(trying, 0, &list);
	for (size_t i = 0; i < list.all.count; i++) {
		struct tried_tiles *tiles = &list.all.at[i];
		if (tiles->iterations == 1)
			continue;
		tiles->coarser = find_coarser(&list, i, trying->run.loop_count);
		trying->tiles = tiles;
		if (!are_ever_few(trying))
			continue;
		for (int k = 0; k < trying->run.loop_count; k++)
			trying->run.loops[k].tiles = tiles->tiles.at[k];
		joint_run_divide(trying);
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
static bool joint_run_find_loops(struct trying *trying)
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
		if (joint_run_find_loops(&trying)) {
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
	int most = making->question->aim.brief ? RUN_BRIEF_OPS : ops;
	bool all = joint_is_free(making, KIND_SMALL_RUNS) &&
		   making->question->workload->op_count <= SMALL_RUNS_OPS_MOST;
	for (int first = 0; first < ops; first++)
		for (int last = first + 1; last <= number_min(first + most, ops); last++) {
			struct trying trying;
			open_trying(making, first, last, &trying);
			if (!joint_run_find_loops(&trying) ||
				stopper_stops(&making->question->planning->stopper))
				break;
			bool is_for_big = big[first] && last >= big[first];
			if (is_for_big ||
				(last > first + 1 && (all || is_short(making, first, last))))
				try_run(making, &trying);
		}
}

void joint_run_open(struct joint_making *making, struct joint_run *run, bool known,
	struct workload *part, struct arena *arena)
{
	struct trying trying;
	open_trying(making, run->loops.first, run->loops.end, &trying);
	trying.run = run->loops;
	trying.arena = arena;
	trying.division = run->division;
	trying.part = *part;
	if (!known)
		make_part(&trying);
	*part = trying.part;
	run->mappings = arena_array(arena, struct mapping, run->loops.end - run->loops.first);
	make_mappings(&trying, run->mappings);
}
