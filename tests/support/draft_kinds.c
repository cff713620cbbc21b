#include "tests/support/draft_kinds.h"

#include "base/arena.h"
#include "base/number.h"
#include "model/graph/run.h"
#include "model/graph/workload.h"
#include "search/joint/joint_graph.h"

#include <string.h>

/* --- moves */

static bool is_early(const struct draft_move *move)
{
	return move->kind != MOVE_EVICT && !(move->readers >> move->before & 1);
}

/* True if the move stands before a run, of which no step uses it as that step asks for it. */
static bool is_before_run(const struct plan_draft *draft, const struct draft_move *move)
{
	const struct tile_run *run = draft_run(draft, move->before);
	const struct draft_stay *stay = &move->stay;
	uint32_t own = 0;
	for (int o = run ? run->first : 0; run && o < run->end; o++)
		own |= 1u << o;
	return run &&
	       (!(move->readers & own) || stay->rule != VIEW_OF_OP || !(own >> stay->op & 1));
}

/* True if the move ends a bundle, or stands before an evict or a relayout, or before the last op, which does not read
 * what it moves. */
static bool is_lone(const struct plan_draft *draft, int m)
{
	const struct draft_move *move = &draft->moves[m], *next = move + 1;
	if (move->kind == MOVE_EVICT || move->kind == MOVE_RELAYOUT)
		return false;
	if (is_before_run(draft, move) || move->before == (int)draft->workload->op_count)
		return true;
	if (m + 1 < draft->move_count && next->before == move->before)
		return next->begins_bundle || next->kind == MOVE_RELAYOUT ||
		       next->kind == MOVE_EVICT;
	return draft->ops[move->before].begins_bundle ||
	       (is_early(move) && move->before + 1 == (int)draft->workload->op_count);
}

/* The op right behind an early move reads the same tensor, from where it lay before. */
static bool is_streamed(const struct plan_draft *draft, const struct draft_move *move)
{
	if (!is_early(move) || move->before == (int)draft->workload->op_count)
		return false;
	const struct op *op = &draft->workload->ops[move->before];
	for (int i = 0; i < op->read_count; i++)
		if (op->reads[i].tensor == move->tensor)
			return true;
	return false;
}

/* True if ops behind the move still use the tensor under another view, where it was left or moved before. */
static bool is_second(const struct plan_draft *draft, int m)
{
	const struct draft_move *move = &draft->moves[m];
	int producer = draft->workload->tensors[move->tensor].producer;
	uint32_t behind = UINT32_MAX << move->before;
	uint32_t unmoved = draft_readers(draft->workload, move->tensor);
	for (int k = 0; k < draft->move_count; k++) {
		const struct draft_move *other = &draft->moves[k];
		if (other->tensor != move->tensor || k == m)
			continue;
		unmoved &= ~other->readers;
		if (k < m && other->stay.in_lx && other->readers & behind & ~move->readers)
			return move->kind == MOVE_CLONE || move->kind == MOVE_RELOAD;
	}
	return (move->kind == MOVE_CLONE || move->kind == MOVE_RELOAD) && producer >= 0 &&
	       draft->ops[producer].stay.in_lx && (unmoved & behind & ~move->readers);
}

/* True if a move has more lanes than it needs, perhaps: no reader asks for its view, and it is not one of several readers on
 * as many cores as the largest of them. */
static bool is_wide(const struct plan_draft *draft, const struct draft_move *move)
{
	const struct draft_stay *stay = &move->stay;
	int64_t cores = 0;
	if (!draft->arch->lane_cores || !stay->in_lx)
		return false;
	if (stay->rule == VIEW_OF_OP)
		return !(move->readers >> stay->op & 1);
	for (uint32_t left = move->readers; left; left &= left - 1)
		cores = number_max(cores,
			mapping_cores(draft->arch, &draft->ops[__builtin_ctz(left)].mapping));
	return stay->view.cores != cores || __builtin_popcount(move->readers) < 2;
}

static bool is_shared(const struct draft_stay *stay)
{
	return stay->in_lx && stay->rule != VIEW_OF_OP;
}

static unsigned move_kinds(const struct plan_draft *draft, int m)
{
	static const unsigned kinds[] = {[MOVE_CLONE] = KIND_CLONE,
		[MOVE_EVICT] = KIND_EVICT,
		[MOVE_RELOAD] = KIND_RELOAD,
		[MOVE_RELAYOUT] = KIND_RELAY};
	const struct draft_move *move = &draft->moves[m];
	unsigned found = kinds[move->kind];
	int early = 0;
	for (int k = 0; k < draft->move_count; k++)
		early += draft->moves[k].before == move->before && is_early(&draft->moves[k]);
	found |= is_early(move) ? KIND_EARLY : 0;
	found |= early > 2 ? KIND_OTHER_MOVES : 0;
	if (is_lone(draft, m) || is_streamed(draft, move) || is_second(draft, m) ||
		is_wide(draft, move))
		found |= KIND_OTHER_MOVES;
	return found | (is_shared(&move->stay) ? KIND_SHARED : 0);
}

/* --- runs */

/* A run with the ops of the workload as steps. */
struct judging {
	const struct plan_draft *draft;
	struct arena *arena;
	struct plan plan;
	struct tile_run run; /* as it is judged: of fewer tiles, or of one loop */
	struct users users;
};

static void open_judging(
	const struct plan_draft *draft, int r, struct arena *arena, struct judging *judging)
{
	int ops = (int)draft->workload->op_count;
	*judging = (struct judging){.draft = draft,
		.arena = arena,
		.run = draft->runs[r],
		.users = users_make(arena, draft->workload),
		.plan = {.arch = draft->arch,
			.workload = draft->workload,
			.cores = draft->cores,
			.step_count = ops,
			.run_count = 1,
			.steps = arena_array(arena, struct step, ops)}};
	judging->plan.runs = &judging->run;
	for (int o = 0; o < ops; o++)
		judging->plan.steps[o].op = o;
}

/* True if an op may write where it reads a tensor. */
static bool may_overwrite(const struct workload *workload, int o, int tensor)
{
	const struct op *op = &workload->ops[o];
	const struct layout *own = &workload->tensors[op->writes[0].tensor].layout;
	bool may = op->primitive->kind == OP_MAP &&
		   layout_equal(own, &workload->tensors[tensor].layout);
	for (int i = 0; i < op->read_count; i++)
		may &= op->reads[i].tensor != tensor ||
		       access_equal(op, &op->reads[i], &op->writes[0], own->host_rank);
	return may;
}

/* Bytes that parts take at most at one step, if what dies with a step leaves its bytes to what is made there. */
static int64_t find_need(const struct judging *judging)
{
	const struct workload *workload = judging->draft->workload;
	int64_t most = 0;
	for (int o = judging->run.first; o < judging->run.end; o++) {
		int64_t sum = 0;
		for (int other = judging->run.first; other <= o; other++) {
			struct residency stay = {
				.tensor = workload->ops[other].writes[0].tensor, .place = PLACE_LX};
			if (!plan_inside(&judging->plan, &judging->users, stay.tensor))
				continue;
			plan_life(
				&judging->plan, &judging->users, stay.tensor, &stay.from, &stay.to);
			bool leaves = other < o && stay.to == o + 1 &&
				      may_overwrite(workload, o, stay.tensor);
			if (stay.to > o && !leaves)
				sum += plan_stay_layout(&judging->plan, &stay).bytes;
		}
		most = number_max(most, sum);
	}
	return most;
}

/* The least need of the run in fewer tiles, of loops from k on; INT64_MAX: it has none. */
static int64_t find_coarser(struct judging *judging, int k, bool fewer)
{
	if (k == judging->run.loop_count)
		return fewer ? find_need(judging) : INT64_MAX;
	int64_t tiles = judging->run.loops[k].tiles, least = INT64_MAX;
	struct divisors divisors = number_divisors(judging->arena, tiles);
	for (size_t i = 0; i < divisors.count; i++) {
		judging->run.loops[k].tiles = divisors.at[i];
		least = number_min(
			least, find_coarser(judging, k + 1, fewer || divisors.at[i] < tiles));
	}
	judging->run.loops[k].tiles = tiles;
	return least;
}

/* True if the tiles are as few as leave evenly divided parts all of LX on the cores of the run, a half or a quarter. */
static bool has_few_tiles(struct judging *judging)
{
	const struct mapping *mapping = &judging->draft->ops[judging->run.first].mapping;
	int64_t room = arch_lx_capacity(judging->draft->arch);
	int64_t cores = mapping_cores(judging->draft->arch, mapping);
	int64_t need = find_need(judging), coarser = find_coarser(judging, 0, false);
	for (int part = 1; part <= 4; part *= 2)
		if (need <= cores * (room / part) && coarser > cores * (room / part))
			return true;
	return false;
}

/* True if a run could share a loop of that name. */
static bool can_share(const struct judging *judging, const char *name)
{
	int step;
	struct tile_run run = {.first = judging->run.first,
		.end = judging->run.end,
		.loop_count = 1,
		.loops = {{name, 1}}};
	struct plan plan = judging->plan;
	plan.runs = &run;
	return !plan_run_misfit(judging->arena, &plan, 0, &step);
}

/* Loops that are split, the fastest over the cores first. */
static int list_splits(const struct judging *judging, int o, struct run_loop *splits)
{
	const struct op *op = &judging->draft->workload->ops[o];
	const struct mapping_row *row =
		&judging->draft->ops[o].mapping.rows[judging->draft->arch->core];
	int count = 0;
	for (int i = 0; i < op->loop_count; i++) {
		int l = row->spatial_order[i];
		if (row->spatial[l] > 1)
			splits[count++] = (struct run_loop){op->loops[l].name, row->spatial[l]};
	}
	return count;
}

/* True if shared loops divide all ops alike. */
static bool is_divided_alike(const struct judging *judging)
{
	struct run_loop first[OP_LOOPS_MOST], own[OP_LOOPS_MOST];
	int count = list_splits(judging, judging->run.first, first);
	for (int i = 0; i < count; i++)
		if (!can_share(judging, first[i].name))
			return false;
	for (int o = judging->run.first; o < judging->run.end; o++) {
		bool alike = list_splits(judging, o, own) == count;
		for (int i = 0; alike && i < count; i++)
			alike = strcmp(own[i].name, first[i].name) == 0 &&
				own[i].tiles == first[i].tiles;
		if (!alike)
			return false;
	}
	return true;
}

/* True if parts are in LX as their ops leave them, and outputs of the graph are not. */
static bool is_placed_alike(const struct judging *judging)
{
	const struct workload *workload = judging->draft->workload;
	for (int o = judging->run.first; o < judging->run.end; o++) {
		const struct draft_op *op = &judging->draft->ops[o];
		int tensor = workload->ops[o].writes[0].tensor;
		bool inside = plan_inside(&judging->plan, &judging->users, tensor) != NULL;
		bool output = workload->tensors[tensor].role == TENSOR_OUTPUT;
		if (op->stay.in_lx ? output || op->stay.rule != VIEW_OF_OP : inside)
			return false;
	}
	return true;
}

/* True if an op finds in LX a tensor that it reads. */
static bool is_found(const struct plan_draft *draft, int o, int tensor)
{
	int producer = draft->workload->tensors[tensor].producer;
	bool found = producer >= 0 && draft->ops[producer].stay.in_lx;
	for (int m = 0; m < draft->move_count; m++)
		found |= draft->moves[m].tensor == tensor && draft->moves[m].kind != MOVE_EVICT &&
			 draft->moves[m].readers >> o & 1;
	return found;
}

/* True if joint spaces try every choice of places of the tensors that the run uses from outside: all are in HBM, or
 * they are few. */
static bool has_tried_places(const struct judging *judging)
{
	const struct workload *workload = judging->draft->workload;
	int outside = 0;
	bool found = false;
	for (int t = 0; t < (int)workload->tensor_count; t++) {
		bool reads = false;
		for (int o = judging->run.first; o < judging->run.end; o++)
			for (int i = 0; i < workload->ops[o].read_count; i++)
				if (workload->ops[o].reads[i].tensor == t) {
					reads = true;
					found |= workload->tensors[t].producer <
							 judging->run.first &&
						 is_found(judging->draft, o, t);
				}
		outside += reads && workload->tensors[t].producer < judging->run.first;
	}
	return !found || outside <= 4;
}

/* True if what some op of the run uses, divided evenly, is more than LX holds. */
static bool is_where_lx_is_short(const struct plan_draft *draft, const struct tile_run *run)
{
	bool is_short = false;
	for (int o = run->first; o < run->end; o++) {
		const struct op *op = &draft->workload->ops[o];
		int64_t bytes = 0;
		for (int i = 0; i < op_operands(op); i++) {
			bool again = false;
			for (int k = 0; k < i; k++)
				again |= op_operand(op, k)->tensor == op_operand(op, i)->tensor;
			if (!again)
				bytes += draft->workload->tensors[op_operand(op, i)->tensor]
						 .layout.bytes /
					 draft->cores;
		}
		is_short |= bytes > arch_lx_capacity(draft->arch);
	}
	return is_short;
}

/* A run of one op is named as an unlike one. */
static unsigned run_kinds(const struct plan_draft *draft, int r)
{
	const struct tile_run *run = &draft->runs[r];
	struct arena *arena = arena_open();
	struct judging judging;
	unsigned found = KIND_FUSION | (run->loop_count > 1 ? KIND_FUSED_LOOPS : 0);
	open_judging(draft, r, arena, &judging);
	if (!is_where_lx_is_short(draft, run))
		found |= KIND_SMALL_RUNS;
	if (run->end == run->first + 1 || !has_few_tiles(&judging) || !is_divided_alike(&judging) ||
		!is_placed_alike(&judging) || !has_tried_places(&judging))
		found |= KIND_UNLIKE_RUNS;
	arena_close(arena);
	return found;
}

unsigned draft_kinds(const struct plan_draft *draft)
{
	unsigned found = 0;
	for (int r = 0; r < draft->run_count; r++)
		found |= run_kinds(draft, r);
	for (int m = 0; m < draft->move_count; m++)
		found |= move_kinds(draft, m);
	for (int o = 0; o < (int)draft->workload->op_count; o++) {
		bool shared = is_shared(&draft->ops[o].stay);
		bool moves = op_copies_sticks(draft->workload, &draft->workload->ops[o]);
		found |= shared ? KIND_SHARED : 0;
		found |= shared && moves && draft->arch->lane_cores ? KIND_OTHER_MOVES : 0;
	}
	for (size_t t = 0; t < draft->workload->tensor_count; t++) {
		const struct tensor *tensor = &draft->workload->tensors[t];
		if (tensor->role == TENSOR_OUTPUT && draft->ops[tensor->producer].stay.in_lx)
			found |= KIND_BOTH;
	}
	return found;
}
