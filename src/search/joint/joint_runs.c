#include "base/arena.h"
#include "base/number.h"
#include "model/graph/run.h"
#include "model/packing/buffer.h"
#include "search/drive/solver.h"
#include "search/graph/lx.h"
#include "search/graph/op_map.h"
#include "search/joint/joint_making.h"

#include <stdlib.h>
#include <string.h>

/* A run of ops while its tiles and divisions are tried. */
struct trying {
	struct joint_making *making;
	struct plan plan; /* whose steps are the ops; its only run is the one that is tried */
	struct tile_run run;
	struct arena *arena;  /* of the tiles that are tried */
	struct workload part; /* of the first iteration */
	struct run_division division;
};

/* True if only steps of the run make and read a tensor. */
static inline bool is_inside(const struct trying *trying, int tensor)
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
		if (is_inside(trying, t))
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
		.alignment = question->arch->levels[question->arch->lx].alignment,
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

/* Adds a tensor that the run uses from outside, or makes for later ops. */
static void add_outer(
	struct trying *trying, const struct mapping *mappings, struct joint_run *run, int o, int i)
{
	struct joint_making *making = trying->making;
	const struct op *op = &trying->part.ops[o];
	int tensor = op_operand(op, i)->tensor, n = 0;
	bool writes = i == op->read_count;
	struct view view;
	if (is_inside(trying, tensor))
		return;
	while (n < run->outer_count && run->outers[n].tensor != tensor)
		n++;
	struct joint_outer *outer = &run->outers[n];
	if (n == run->outer_count) {
		run->outer_count++;
		*outer = (struct joint_outer){.tensor = tensor, .made = writes, .view = -1};
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
static void add_run(struct trying *trying)
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
		if (!is_inside(trying, tensor))
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

typedef void division_function(struct trying *trying);

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
static void order_loops(struct trying *trying, int at, division_function *use)
{
	if (at == trying->division.order_count) {
		use(trying);
		return;
	}
	int end =
		joint_is_free(trying->making, KIND_ORDERS) ? trying->division.order_count : at + 1;
	for (int i = at; i < end; i++) {
		int first = trying->division.order[at];
		trying->division.order[at] = trying->division.order[i];
		trying->division.order[i] = first;
		order_loops(trying, at + 1, use);
		trying->division.order[i] = trying->division.order[at];
		trying->division.order[at] = first;
	}
}

static int64_t most_cores(const struct trying *trying, int k, int64_t left)
{
	int64_t most = 0;
	if (k == trying->run.loop_count)
		return 1;
	struct divisors divisors = number_divisors(trying->arena, units_of(trying, k));
	for (size_t i = 0; i < divisors.count && divisors.at[i] <= left; i++)
		most = number_max(
			most, divisors.at[i] * most_cores(trying, k + 1, left / divisors.at[i]));
	return most;
}

/* Divisions over `left` cores by the shared loops from k on. */
static void divide(struct trying *trying, int k, int64_t left, division_function *use)
{
	if (k == trying->run.loop_count) {
		trying->division.order_count = 0;
		for (int i = 0; i < k; i++)
			if (trying->division.splits.at[i] > 1)
				trying->division.order[trying->division.order_count++] = i;
		bool many = trying->division.order_count > 1;
		if (left == 1 && (!many || joint_is_free(trying->making, KIND_MANY_LOOPS)))
			order_loops(trying, 0, use);
		return;
	}
	struct divisors divisors = number_divisors(trying->arena, units_of(trying, k));
	for (size_t i = 0; i < divisors.count; i++) {
		if (left % divisors.at[i])
			continue;
		trying->division.splits.at[k] = divisors.at[i];
		divide(trying, k + 1, left / divisors.at[i], use);
	}
}

/* Adds the run with its tiles in each division that can be carried out. */
static void joint_run_divide(struct trying *trying)
{
	struct arena *arena = trying->arena;
	trying->arena = arena_open();
	make_part(trying);
	divide(trying, 0, most_cores(trying, 0, trying->making->question->planning->cores),
		add_run);
	arena_close(trying->arena);
	trying->arena = arena;
}

/*
 * Enumerates the runs of ops; their prices follow below:
 *
 *	ops    any that share a loop and follow each other: all in small graphs, where KIND_SMALL_RUNS is free;
 *	       else where LX is short while one of them runs (is_short), or from one that makes what
 *	       LX cannot hold whole (is_big), up to the last reader of all such tensors or any op behind it;
 *	tiles  of the loops that all share: as few as leave all parts room in LX, a half, or a quarter of it;
 *	cores  one division for all ops, by shared loops in any order, over as many cores as they allow;
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
	int most = making->question->aim.brief ? RUN_BRIEF_OPS : ops;
	bool all = joint_is_free(making, KIND_SMALL_RUNS) &&
		   making->question->workload->op_count <= SMALL_RUNS_OPS_MOST;
	for (int first = 0; first < ops; first++)
		for (int last = first + 1; last <= number_min(first + most, ops); last++) {
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

/* Prices the runs that begin with one op, for every choice of homes of the tensors that they use. */
enum {
	ALL_PLACES_MOST = 4
}; /* tensors that may lie in LX of which every choice of places is tried */

/* Sums over steps and iterations. */
struct run_sums {
	int64_t cycles, hbm_bytes, fill;
	double energy_pj;
};

struct run_choosing {
	struct joint_making *making;
	struct arena *arena; /* of parts and mappings, until drafts are kept */
	struct joint_run *run;
	struct workload part; /* of the first iteration: its ops, and parts of what lives inside */
	struct joint_use *uses; /* by outer: of what is read, where it is */
	int *outs;              /* by outer: of what is made, the view under which it is left; -1 */
	bool fixed;             /* places are those of `uses`: not all are tried */
	struct joint_drafts drafts;
};

/* --- the price */

static bool is_in_lx(const struct run_choosing *choosing, int tensor)
{
	const struct joint_run *run = choosing->run;
	for (int i = 0; i < run->inside_count; i++)
		if (run->inside[i].tensor == tensor)
			return true;
	for (int n = 0; n < run->outer_count; n++)
		if (run->outers[n].tensor == tensor)
			return run->outers[n].made ? choosing->outs[n] >= 0
						   : choosing->uses[n].mode != JOINT_HBM;
	return false;
}

/* All iterations of one op, with the tiles that are best for the first. */
static bool add_op(
	struct run_choosing *choosing, int o, struct op_option *tiles, struct run_sums *sums)
{
	struct joint_making *making = choosing->making;
	const struct joint_question *asked = making->question;
	const struct joint_run *run = choosing->run;
	const struct op *whole = &asked->workload->ops[o];
	struct mapping mapping = run->mappings[o - run->loops.first];
	struct op_question question = {.arch = asked->arch,
		.workload = &choosing->part,
		.op = &choosing->part.ops[o],
		.mapping = &mapping,
		.by_rule = asked->planning->published_tiles};
	int64_t worth;
	bool fits = true;
	for (int i = 0; i < op_operands(whole); i++)
		if (is_in_lx(choosing, op_operand(whole, i)->tensor))
			question.in_lx |= 1u << i;
	if (!joint_tiles(making, &question, 0, tiles, &worth))
		return false;
	/* Parts have layouts of their own, but sticks are copied as they are. */
	bool moves = question.in_lx == 2 && op_copies_sticks(asked->workload, whole);
	memcpy(mapping.rows[asked->arch->lx].temporal, tiles->tiles,
		whole->loop_count * sizeof *tiles->tiles);
	memcpy(mapping.rows[asked->arch->lx].temporal_order, tiles->order,
		(size_t)whole->loop_count);
	if (tiles->nest)
		op_map_nest(asked->arch, tiles->nest, &mapping);
	struct run_classes classes =
		run_classes(making->scratch, asked->workload, whole, &run->loops);
	for (size_t c = 0; c < classes.count; c++) {
		struct op_value value = tiles->value;
		if (classes.at[c].iteration > 0 || moves) {
			struct traffic_op *traffic = arena_new(making->scratch, struct traffic_op);
			question.op = run_op(making->scratch, asked->workload, whole, &run->loops,
				classes.at[c].iteration);
			struct inner_question inner = {.arch = asked->arch,
				.workload = moves ? asked->workload : &choosing->part,
				.op = question.op,
				.mapping = &mapping,
				.in_lx = question.in_lx};
			traffic_open_nest(traffic, &inner, making->scratch);
			if (!op_value_find(traffic, &question, &value))
				return false;
		}
		if (moves) /* nothing is computed behind what comes */
			value.estimate = value.cycles;
		int64_t times = classes.at[c].count;
		sums->cycles = checked_add(&fits, sums->cycles,
			checked_mul(
				&fits, op_value_latency(&value, asked->planning->price), times));
		sums->hbm_bytes = checked_add(
			&fits, sums->hbm_bytes, checked_mul(&fits, value.hbm_bytes, times));
		sums->energy_pj += value.energy_pj * (double)times;
	}
	return fits;
}

/* Adds the moves into LX right before the run, which are one phase. */
static bool add_moves(struct run_choosing *choosing, struct run_sums *sums, int64_t *cores)
{
	const struct joint_run *run = choosing->run;
	int64_t bytes = 0, fill = 0;
	bool fits = true;
	for (int n = 0; n < run->outer_count; n++) {
		const struct joint_use *use = &choosing->uses[n];
		if (run->outers[n].made || use->mode != JOINT_MOVED)
			continue;
		const struct joint_transfer *in =
			joint_move_in(choosing->making, use->tensor, use->view);
		bytes = checked_add(&fits, bytes, in->hbm_bytes);
		fill = checked_add(&fits, fill, in->fill);
		sums->energy_pj += in->energy_pj;
		*cores = number_max(*cores, in->cores);
		fits &= in->possible;
	}
	int64_t cycles = joint_moves_cycles(choosing->making, bytes, fill, &fits);
	sums->cycles = checked_add(&fits, sums->cycles, cycles);
	sums->hbm_bytes = checked_add(&fits, sums->hbm_bytes, bytes);
	return fits;
}

/* Adds what is chosen, if it can be carried out. */
static void price_run(struct run_choosing *choosing)
{
	struct joint_making *making = choosing->making;
	struct joint_run *run = choosing->run;
	int ops = run->loops.end - run->loops.first;
	struct run_sums sums = {0};
	int64_t cores = run->cores;
	struct op_option *tiles = arena_array(making->scratch, struct op_option, ops);
	for (int o = run->loops.first; o < run->loops.end; o++)
		if (!add_op(choosing, o, &tiles[o - run->loops.first], &sums))
			return;
	if (!add_moves(choosing, &sums, &cores))
		return;
	struct joint_use *uses = arena_array(making->scratch, struct joint_use, run->outer_count);
	struct joint_out *outs = arena_array(making->scratch, struct joint_out, run->outer_count);
	struct joint_part *parts = arena_array(making->scratch, struct joint_part, ops);
	struct joint_draft draft = {.run = run,
		.number = choosing->drafts.count,
		.parts = parts,
		.option = {.first = run->loops.first,
			.end = run->loops.end,
			.value = joint_worth(making, sums.cycles, sums.energy_pj, sums.hbm_bytes),
			.room = run->room,
			.cores = (int)cores,
			.uses = uses,
			.outs = outs}};
	for (int n = 0; n < run->outer_count; n++)
		if (run->outers[n].made)
			outs[draft.option.out_count++] =
				(struct joint_out){run->outers[n].tensor, choosing->outs[n], -1};
		else
			uses[draft.option.use_count++] = choosing->uses[n];
	qsort(uses, (size_t)draft.option.use_count, sizeof *uses, joint_by_tensor);
	qsort(outs, (size_t)draft.option.out_count, sizeof *outs, joint_by_tensor);
	for (int i = 0; i < ops; i++)
		parts[i] = (struct joint_part){.mapping = &run->mappings[i], .tiles = &tiles[i]};
	if (draft.option.value < JOINT_NEVER)
		*array_add(making->scratch, &choosing->drafts) = draft;
}

/* --- where tensors are */

static bool run_serves_all(
	const struct joint_views *views, const struct joint_outer *outer, int view)
{
	for (int a = 0; a < outer->asked_count; a++)
		if (!joint_serves(views, view, outer->asked[a]))
			return false;
	return true;
}

/* The view that serves all ops of the run that read the tensor, the smallest of those that none of them asks for;
 * -1. */
static int find_served(const struct joint_views *views, const struct joint_outer *outer)
{
	int least = -1;
	if (outer->never || !outer->asked_count)
		return -1;
	for (int a = 0; a < outer->asked_count; a++)
		if (run_serves_all(views, outer, outer->asked[a]))
			return outer->asked[a];
	for (int view = views->direct; view < views->count; view++)
		if (run_serves_all(views, outer, view) &&
			(least < 0 || joint_serves(views, least, view)))
			least = view;
	return least;
}

/* The view under which what the run makes can be left in LX; -1. */
static int find_left(const struct joint_making *making, const struct joint_run *run,
	const struct joint_outer *outer)
{
	const struct joint_views *views = &making->views[outer->tensor];
	bool wanted = false;
	if (outer->never || outer->view < 0 ||
		making->question->workload->tensors[outer->tensor].role == TENSOR_OUTPUT)
		return -1;
	for (int a = 0; a < outer->asked_count; a++)
		if (!joint_serves(views, outer->view, outer->asked[a]))
			return -1;
	for (int v = 0; v < views->count; v++)
		wanted |= views->asked[v] >= run->loops.end && joint_serves(views, outer->view, v);
	return wanted ? outer->view : -1;
}

static void choose_outer(struct run_choosing *choosing, int n);

static void choose_made(struct run_choosing *choosing, int n)
{
	struct joint_making *making = choosing->making;
	const struct joint_outer *outer = &choosing->run->outers[n];
	int left = find_left(making, choosing->run, outer);
	choosing->outs[n] = -1;
	if (making->stays[outer->tensor] != STAY_LX || left < 0)
		choose_outer(choosing, n + 1);
	if (left < 0)
		return;
	joint_note_made(making, outer->tensor, left, choosing->run->loops.first);
	choosing->outs[n] = left;
	choose_outer(choosing, n + 1);
}

static void choose_outer(struct run_choosing *choosing, int n)
{
	struct joint_making *making = choosing->making;
	if (n == choosing->run->outer_count) {
		price_run(choosing);
		return;
	}
	const struct joint_outer *outer = &choosing->run->outers[n];
	struct joint_use *use = &choosing->uses[n];
	if (outer->made) {
		choose_made(choosing, n);
		return;
	}
	if (choosing->fixed) {
		choose_outer(choosing, n + 1);
		return;
	}
	int view = find_served(&making->views[outer->tensor], outer);
	int first = choosing->run->loops.first;
	*use = (struct joint_use){outer->tensor, JOINT_HBM, -1};
	if (making->stays[outer->tensor] != STAY_LX)
		choose_outer(choosing, n + 1);
	if (view < 0)
		return;
	if (joint_may_be_found(making, outer->tensor, view, first)) {
		*use = (struct joint_use){outer->tensor, JOINT_RESIDENT, view};
		choose_outer(choosing, n + 1);
	}
	if (joint_may_be_moved(making, outer->tensor)) {
		*use = (struct joint_use){outer->tensor, JOINT_MOVED, view};
		choose_outer(choosing, n + 1);
		joint_note_made(making, outer->tensor, view, first);
	}
}

/* An outer tensor by what it costs to have it in LX. */
struct ranked_tile {
	int outer;
	int64_t bytes;
};

static int compare_ranked(const void *left, const void *right)
{
	const struct ranked_tile *a = left, *b = right;
	int order = (a->bytes > b->bytes) - (a->bytes < b->bytes);
	return order ? order : a->outer - b->outer;
}

/* With many tensors: those that take least of LX are there, one more each time. */
static void choose_by_rank(struct run_choosing *choosing, struct ranked_tile *ranked, int count)
{
	struct joint_making *making = choosing->making;
	const struct joint_run *run = choosing->run;
	int first = run->loops.first;
	choosing->fixed = true;
	qsort(ranked, (size_t)count, sizeof *ranked, compare_ranked);
	for (int n = 0; n < run->outer_count; n++)
		choosing->uses[n] = (struct joint_use){run->outers[n].tensor, JOINT_HBM, -1};
	for (int moved = 0; moved <= count; moved++) {
		bool all = true;
		for (int n = 0; n < run->outer_count; n++)
			all &= run->outers[n].made || choosing->uses[n].mode != JOINT_HBM ||
			       making->stays[run->outers[n].tensor] != STAY_LX;
		if (all)
			choose_outer(choosing, 0);
		if (moved == count)
			break;
		const struct joint_outer *outer = &run->outers[ranked[moved].outer];
		int view = find_served(&making->views[outer->tensor], outer);
		bool found = making->question->workload->tensors[outer->tensor].producer >= 0 &&
			     joint_may_be_found(making, outer->tensor, view, first);
		choosing->uses[ranked[moved].outer] = (struct joint_use){
			outer->tensor, found ? JOINT_RESIDENT : JOINT_MOVED, view};
		if (!found)
			joint_note_made(making, outer->tensor, view, first);
	}
	choosing->fixed = false;
}

static void choose_run(struct run_choosing *choosing)
{
	struct joint_making *making = choosing->making;
	const struct joint_run *run = choosing->run;
	struct arena *scratch = making->scratch;
	choosing->uses = arena_array(scratch, struct joint_use, run->outer_count);
	choosing->outs = arena_array(scratch, int, run->outer_count);
	struct ranked_tile *ranked = arena_array(scratch, struct ranked_tile, run->outer_count);
	int count = 0;
	for (int n = 0; n < run->outer_count; n++) {
		const struct joint_outer *outer = &run->outers[n];
		const struct joint_views *views = &making->views[outer->tensor];
		int view = outer->made ? -1 : find_served(views, outer);
		if (view < 0 ||
			(!joint_may_be_found(making, outer->tensor, view, run->loops.first) &&
				!joint_may_be_moved(making, outer->tensor)))
			continue;
		ranked[count++] = (struct ranked_tile){
			n, view_bytes(&making->question->workload->tensors[outer->tensor].layout,
				   &views->at[view])};
	}
	if (count > ALL_PLACES_MOST)
		choose_by_rank(choosing, ranked, count);
	else
		choose_outer(choosing, 0);
}

static bool have_same_loops(const struct tile_run *a, const struct tile_run *b)
{
	bool same = a->first == b->first && a->end == b->end && a->loop_count == b->loop_count;
	for (int k = 0; k < a->loop_count && same; k++)
		same = a->loops[k].tiles == b->loops[k].tiles &&
		       a->loops[k].name == b->loops[k].name;
	return same;
}

/* Makes the mappings of a run again, and its part if it is not that of the run before. */
static void open_run(struct run_choosing *choosing, struct joint_run *run)
{
	struct trying trying;
	open_trying(choosing->making, run->loops.first, run->loops.end, &trying);
	trying.run = run->loops;
	trying.arena = choosing->arena;
	trying.division = run->division;
	trying.part = choosing->part;
	if (!choosing->run || !have_same_loops(&choosing->run->loops, &run->loops))
		make_part(&trying);
	choosing->run = run;
	choosing->part = trying.part;
	run->mappings =
		arena_array(choosing->arena, struct mapping, run->loops.end - run->loops.first);
	make_mappings(&trying, run->mappings);
}

void joint_runs_make(struct joint_making *making, int op)
{
	struct run_choosing choosing = {.making = making, .arena = arena_open()};
	for (size_t r = 0; r < making->runs.count; r++) {
		if (making->runs.at[r].loops.first != op ||
			stopper_stops(&making->question->planning->stopper))
			continue;
		open_run(&choosing, &making->runs.at[r]);
		choose_run(&choosing);
	}
	joint_drafts_keep(making, &choosing.drafts);
	arena_close(choosing.arena);
}
