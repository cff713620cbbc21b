#include "search/graph/stream.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/number.h"
#include "cost/graph/streaming.h"
#include "cost/graph/traffic.h"
#include "model/graph/run.h"
#include "search/engine/kept.h"
#include "search/graph/tile_walk.h"

#include <inttypes.h>
#include <string.h>

/*
 * Tilings are tried by ascending number of tiles, then passes, then factors.
 * Among those with the fewest HBM bytes so far, only the ones that are faster than
 * all before are worth keeping: the answer is the first that is fast enough, and
 * for every meaning of that, it is one of these.
 */
struct tile_record {
	int64_t tiles[OP_LOOPS_MOST];
	int order[OP_LOOPS_MOST];
	int64_t cycles, tile_count;
};

struct tile_search {
	struct tile_walk walk;
	int64_t room, least_room;
	int64_t least_hbm, best_hbm;
	int64_t hbm; /* the fewest bytes of the tiles that are set */
	int *order;  /* where that order goes */
	uint64_t evaluations;
	struct array(struct tile_record) records;
};

static bool price_tiling(void *context)
{
	struct tile_search *search = context;
	const struct traffic_op *traffic = &search->walk.traffic;
	int64_t hbm;
	search->evaluations++;
	if (!streaming_hbm(traffic, &hbm))
		return true;
	if (hbm < search->hbm) {
		search->hbm = hbm;
		memcpy(search->order, traffic->nest.order, sizeof traffic->nest.order);
	}
	return search->hbm > search->least_hbm;
}

/* The least order of the fewest HBM bytes for the tiles that are set. */
static int64_t find_order(struct tile_search *search, int *order)
{
	search->hbm = INT64_MAX;
	search->order = order;
	tile_walk_orders(&search->walk, price_tiling, search);
	return search->hbm;
}

static bool is_faster(const struct tile_search *search, int64_t cycles)
{
	size_t count = search->records.count;
	return count == 0 || cycles < search->records.at[count - 1].cycles;
}

static void try_vector(struct tile_search *search, const struct tile_vector *vector)
{
	struct tile_record record = {.tile_count = vector->tile_count};
	int64_t room;
	tile_walk_set(&search->walk, vector->tiles);
	memcpy(record.tiles, vector->tiles, sizeof record.tiles);
	search->evaluations++;
	if (!streaming_room(&search->walk.traffic, &room))
		return;
	search->least_room = number_min(search->least_room, room);
	if (room > search->room)
		return;
	if (search->best_hbm <= search->least_hbm &&
		(!streaming_estimate(&search->walk.traffic, search->best_hbm, &record.cycles) ||
			!is_faster(search, record.cycles)))
		return;
	int64_t hbm = find_order(search, record.order);
	if (hbm == INT64_MAX || hbm > search->best_hbm)
		return;
	memcpy(search->walk.traffic.nest.order, record.order, sizeof record.order);
	if (!streaming_estimate(&search->walk.traffic, hbm, &record.cycles))
		return;
	if (hbm < search->best_hbm) {
		search->best_hbm = hbm;
		search->records.count = 0;
	}
	if (is_faster(search, record.cycles))
		*array_add(search->walk.arena, &search->records) = record;
}

/* Cycles of the step if everything overlapped; 0: not countable. */
static int64_t tile_search_find_bound(struct tile_search *search)
{
	int64_t cycles;
	tile_walk_set(&search->walk, NULL);
	return streaming_bound(&search->walk.traffic, search->best_hbm, &cycles) ? cycles : 0;
}

static bool tile_search_is_settled(struct tile_search *search)
{
	if (search->records.count == 0 || search->best_hbm > search->least_hbm)
		return false;
	int64_t bound = tile_search_find_bound(search);
	return !is_faster(search, bound + bound / 8);
}

static const struct tile_record *choose_tiling(struct tile_search *search)
{
	size_t count = search->records.count, i = 0;
	if (count == 0)
		return NULL;
	int64_t bound = tile_search_find_bound(search), most = bound + bound / 8;
	if (search->records.at[count - 1].cycles > most)
		most = search->records.at[count - 1].cycles + bound / 16;
	while (search->records.at[i].cycles > most)
		i++;
	return &search->records.at[i];
}

static bool visit_tiling(void *context, const struct tile_vector *vector)
{
	struct tile_search *search = context;
	if (!vector)
		return !tile_search_is_settled(search);
	try_vector(search, vector);
	return true;
}

struct stream_answer stream_tiles(const struct op_question *question, struct arena *arena)
{
	struct arena_mark mark = arena_mark(arena);
	struct tile_search *search = arena_new(arena, struct tile_search);
	struct stream_answer answer = {.least_room = INT64_MAX};
	const struct tile_record *record = NULL;
	search->room = arch_stream_capacity(question->arch);
	search->least_room = search->best_hbm = INT64_MAX;
	tile_walk_open(&search->walk, question, arena);
	if (streaming_least(&search->walk.traffic, &search->least_hbm)) {
		tile_walk_each(&search->walk, visit_tiling, search);
		record = choose_tiling(search);
	}
	answer.least_room = search->least_room;
	answer.evaluations = search->evaluations;
	answer.constrained = search->walk.constrained;
	if (record) {
		answer.found = true;
		answer.hbm_bytes = search->best_hbm;
		answer.cycles = record->cycles;
		answer.tile_count = record->tile_count;
		memcpy(answer.tiles, record->tiles, sizeof answer.tiles);
		memcpy(answer.order, record->order, sizeof answer.order);
	}
	arena_release(arena, mark);
	return answer;
}

static const struct op *op_at(const struct plan *plan, int step)
{
	return &plan->workload->ops[plan->steps[step].op];
}

static void set_tiles(struct plan *plan, int step, const uint32_t *tiles, const uint8_t *order)
{
	struct mapping *mapping = &plan->steps[step].mapping;
	struct mapping_row *row = &mapping->rows[plan->arch->lx];
	memcpy(row->temporal, tiles, mapping->loop_count * sizeof *tiles);
	memcpy(row->temporal_order, order, mapping->loop_count * sizeof *order);
}

/* Finds the operands that the clones just before a step bring, and the bytes that these move. */
static void find_moves(
	const struct plan *plan, int step, struct op_question *question, struct arena *arena)
{
	const struct op *op = op_at(plan, step);
	struct arena_mark mark = arena_mark(arena);
	struct traffic_op *move = arena_new(arena, struct traffic_op);
	bool fits = true;
	for (int before = step - 1; before >= 0 && plan_is_move(plan, before); before--) {
		struct step_count all, core;
		struct arrival_share share = arrival_share(plan->arch, plan->workload,
			op_at(plan, before), &plan->steps[before].mapping);
		traffic_open_step(move, plan, before, arena);
		share.lanes = traffic_lane_part(move, 0);
		arrivals_add(&question->arriving, op_at(plan, before)->writes[0].tensor, &share,
			plan->arch, plan->workload, op, question->mapping, false);
		if (!traffic_count(move, &all) || !traffic_count_core(move, 0, &core))
			continue;
		moved_add(&question->moved, move, all.bytes[0][TRAFFIC_HBM_READ],
			core.bytes[0][TRAFFIC_LX_FILL], &fits);
	}
	arena_release(arena, mark);
}

/* Returns the question about the op of a step. */
static struct op_question question_of(const struct plan *plan, int step, bool by_rule,
	enum price price, const struct constraints *constraints, struct arena *arena)
{
	const struct op *op = op_at(plan, step);
	struct op_question question = {
		.arch = plan->arch,
		.workload = plan->workload,
		.op = op,
		.mapping = &plan->steps[step].mapping,
		.by_rule = by_rule,
		.price = price,
		.constraints = constraints,
	};
	find_moves(plan, step, &question, arena);
	for (int i = 0; i < op_operands(op); i++)
		if (plan_lx(plan, op_operand(op, i)->tensor, step))
			question.in_lx |= 1u << i;
	return question;
}

static const char *op_question_refuse(
	const struct op_question *question, const struct op_answer *answer, struct arena *arena)
{
	if (answer->why)
		return arena_format(arena, "op '%s': %s", question->op->name, answer->why);
	return arena_format(arena,
		"op '%s': its smallest tile buffers take %" PRId64 " bytes of a core's LX; %" PRId64
		" are kept for them",
		question->op->name, answer->least_room, arch_stream_capacity(question->arch));
}

/* Finds the loop of the reader for each loop of a clone: same dimension, same share; else -1. */
static void match_loops(const struct plan *plan, int clone, int reader, int read, int *matches)
{
	const struct op *op = op_at(plan, clone);
	struct arrival_share share =
		arrival_share(plan->arch, plan->workload, op, &plan->steps[clone].mapping);
	for (int h = 0; h < plan->workload->tensors[op->writes[0].tensor].layout.host_rank; h++) {
		int other = arrival_partner(&share, h, plan->arch, plan->workload,
			op_at(plan, reader), read, &plan->steps[reader].mapping);
		if (other >= 0)
			matches[share.loops[h]] = other;
	}
}

static bool stream_contains(const uint8_t *list, int count, int value)
{
	for (int i = 0; i < count; i++)
		if (list[i] == value)
			return true;
	return false;
}

/* True if an op that fetches nothing itself sends its result to HBM. */
static bool only_sends(const struct plan *plan, int step)
{
	const struct op *op = op_at(plan, step);
	bool fetches = false;
	for (int i = 0; i < op->read_count; i++)
		fetches |= !plan_lx(plan, op->reads[i].tensor, step);
	return !fetches && !plan_lx(plan, op->writes[0].tensor, step);
}

/* Returns the number of output tiles of a step on each core. */
static int64_t count_outputs(const struct plan *plan, int step)
{
	const struct op *op = op_at(plan, step);
	int64_t count = 1;
	for (int l = 0; l < op->loop_count; l++)
		if (!op->loops[l].reduction)
			count *= plan->steps[step].mapping.rows[plan->arch->lx].temporal[l];
	return count;
}

/*
 * Cuts a clone in as many pieces as there are output tiles, if its share of a core has so many units: an output tile on
 * its way to HBM waits for a piece, not for all that comes.  Returns the number of loops that are cut for it: the first
 * ones of `order`.
 */
static int cut_clone(
	const struct plan *plan, int step, int64_t outputs, uint32_t *tiles, uint8_t *order)
{
	const struct op *op = op_at(plan, step);
	int64_t pieces = 1;
	int count = 0;
	for (int l = 0; l < op->loop_count; l++)
		pieces *= tiles[l];
	for (int l = 0; l < op->loop_count && pieces < outputs; l++) {
		int64_t units = op_units(plan->workload, op, l) /
				mapping_split(plan->arch, &plan->steps[step].mapping, l);
		int64_t cut = number_min(number_ceil_div(outputs, pieces), units);
		if (tiles[l] > 1 || cut < 2)
			continue;
		while (units % cut)
			cut++;
		tiles[l] = (uint32_t)cut;
		order[count++] = (uint8_t)l;
		pieces *= cut;
	}
	return count;
}

/* Tiles a clone as its reader is, in the same order.  `last`: the op of its phase; -1: none, and one tile. */
static void tile_clone(struct plan *plan, int step, int last)
{
	const struct op *op = op_at(plan, step);
	uint32_t tiles[OP_LOOPS_MOST];
	uint8_t order[OP_LOOPS_MOST];
	int matches[OP_LOOPS_MOST], count = 0;
	for (int l = 0; l < op->loop_count; l++)
		matches[l] = -1;
	for (int i = 0; last >= 0 && i < op_at(plan, last)->read_count; i++) {
		if (op_at(plan, last)->reads[i].tensor == op->writes[0].tensor)
			match_loops(plan, step, last, i, matches);
	}
	for (int l = 0; l < op->loop_count; l++)
		tiles[l] = matches[l] < 0 ? 1
					  : plan->steps[last]
						    .mapping.rows[plan->arch->lx]
						    .temporal[matches[l]];
	if (last >= 0 && only_sends(plan, last))
		count = cut_clone(plan, step, count_outputs(plan, last), tiles, order);
	for (int i = 0; last >= 0 && i < op_at(plan, last)->loop_count; i++) {
		int other = plan->steps[last].mapping.rows[plan->arch->lx].temporal_order[i];
		for (int l = 0; l < op->loop_count; l++)
			if (matches[l] == other && !stream_contains(order, count, l))
				order[count++] = (uint8_t)l;
	}
	for (int l = 0; l < op->loop_count; l++)
		if (!stream_contains(order, count, l))
			order[count++] = (uint8_t)l;
	set_tiles(plan, step, tiles, order);
}

/* True if an op's tiles are its own choice. */
static bool is_asked(const struct plan *plan, int step)
{
	return op_is_tiled(op_at(plan, step)) && !plan_only_moves(plan, step);
}

const struct stream_choices *stream_ask(const struct plan *plan, bool by_rule,
	const struct nests_wanted *asked, struct arena *arena, const char **why)
{
	struct nests_wanted wanted = *asked;
	struct kept *own = wanted.kept ? NULL : kept_open();
	struct stream_choices *choices = arena_new(arena, struct stream_choices);
	if (own)
		wanted.kept = own;
	choices->at = arena_array(arena, const struct op_answer *, plan->step_count);
	for (int step = 0; choices && step < plan->step_count && !stopper_stops(&wanted.stopper);
		step++) {
		if (!is_asked(plan, step))
			continue;
		struct op_question question =
			question_of(plan, step, by_rule, wanted.price, wanted.constraints, arena);
		const struct op_answer *answer = op_map(&wanted, &question, arena);
		choices->at[step] = answer;
		if (!answer->found) {
			*why = op_question_refuse(&question, answer, arena);
			choices = NULL;
		}
	}
	kept_leave(own, arena);
	return choices;
}

struct op_front stream_front(const struct plan *plan, int step, const struct nests_wanted *wanted,
	uint64_t evaluations_most, struct arena *arena)
{
	struct op_question question =
		question_of(plan, step, false, PRICE_BOUND, wanted->constraints, arena);
	bool nests = op_has_inner_nest(plan->arch, question.op);
	return op_map_front(&question, nests ? wanted : NULL, evaluations_most, arena);
}

void stream_take(struct plan *plan, int step, const struct op_option *option)
{
	set_tiles(plan, step, option->tiles, option->order);
	if (option->nest)
		op_map_nest(plan->arch, option->nest, &plan->steps[step].mapping);
}

void stream_choose(struct plan *plan, const struct stream_choices *choices, enum tile_goal goal)
{
	int reader = -1;
	for (int step = plan->step_count - 1; step >= 0; step--) {
		const struct op_answer *answer = choices->at[step];
		if (answer) {
			stream_take(plan, step, &answer->at[answer->choice[goal]]);
			reader = plan_run(plan, step) ? -1 : step; /* a move joins no run */
		} else if (!op_is_tiled(op_at(plan, step))) {
			reader = -1;
		} else if (plan_is_move(plan, step)) {
			tile_clone(plan, step, reader);
		} else {
			tile_clone(plan, step, -1);
			reader = -1;
		}
	}
}

struct op_value stream_value(
	const struct plan *plan, const struct stream_choices *choices, enum tile_goal goal)
{
	struct op_value sum = {0};
	bool fits = true;
	for (int step = 0; step < plan->step_count; step++) {
		const struct op_answer *answer = choices->at[step];
		if (!answer)
			continue;
		const struct op_value *value = &answer->at[answer->choice[goal]].value;
		sum.cycles = checked_add(&fits, sum.cycles, value->cycles);
		sum.estimate = checked_add(&fits, sum.estimate, value->estimate);
		sum.hbm_bytes = checked_add(&fits, sum.hbm_bytes, value->hbm_bytes);
		sum.energy_pj += value->energy_pj;
	}
	return sum;
}

bool stream_plan(
	struct plan *plan, const struct stopper *stopper, struct arena *arena, const char **why)
{
	const struct nests_wanted wanted = {.stopper = stopper ? *stopper : (struct stopper){0}};
	const struct stream_choices *choices = stream_ask(plan, true, &wanted, arena, why);
	if (choices)
		stream_choose(plan, choices, TILES_PUBLISHED);
	return choices;
}
