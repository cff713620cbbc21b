#include "search/graph/op_map.h"

#include "base/arena.h"
#include "base/text.h"
#include "search/engine/kept.h"
#include "search/graph/options.h"
#include "search/graph/stream.h"

#include <string.h>

/* --- the question, as what its answer depends on */

static void op_key_put(struct text *key, int64_t value)
{
	text_bytes(key, (const char *)&value, sizeof value);
}

static void put_operand(struct text *key, const struct op_question *question, int operand)
{
	const struct access *access = op_operand(question->op, operand);
	const struct layout *layout = &question->workload->tensors[access->tensor].layout;
	op_key_put(key, layout->dtype);
	op_key_put(key, layout->host_rank << 8 | layout->rank);
	op_key_put(key, layout->per_stick);
	op_key_put(key, access->pad);
	for (int d = 0; d < layout->rank; d++) {
		op_key_put(key, layout->size[d]);
		op_key_put(key, (int64_t)layout->part[d] << 32 | (layout->host_dim[d] + 1));
	}
	for (int h = 0; h < layout->host_rank; h++) {
		op_key_put(key, access->host[h].offset);
		op_key_put(key, layout->host_size[h]);
		for (int l = 0; l < question->op->loop_count; l++)
			op_key_put(key, access->host[h].coefficient[l]);
	}
}

static const char *op_question_key(
	const struct op_question *question, bool all, bool brief, struct arena *arena, size_t *size)
{
	const struct op *op = question->op;
	struct text key = text_open(arena);
	op_key_put(&key, op->primitive->kind << 8 | op->primitive->unit);
	op_key_put(&key, op_copies_sticks(question->workload, op)); /* it may be a move */
	op_key_put(&key, op->primitive->work << 1 | brief);
	op_key_put(&key, op->loop_count << 16 | op->read_count << 8 | (int)question->price << 2 |
				 all << 1 | question->by_rule);
	op_key_put(&key, (int64_t)question->in_lx << 32 | question->arriving.operands);
	op_key_put(&key, question->arriving.again);
	for (int i = 0; i < op->read_count; i++)
		if (question->arriving.operands >> i & 1) {
			op_key_put(&key, question->arriving.lanes[i].of);
			op_key_put(&key, question->arriving.lanes[i].all);
			op_key_put(&key, question->arriving.follows[i]);
		}
	op_key_put(&key, question->moved.hbm);
	op_key_put(&key, question->moved.fill);
	for (int64_t i = 0; i < arch_lanes(question->arch, arch_cores(question->arch)); i++)
		op_key_put(&key, question->moved.lanes.of[i]);
	op_key_put(&key, arch_stream_capacity(question->arch));
	op_key_put(&key, (int64_t)(intptr_t)question->constraints);
	for (int l = 0; l < op->loop_count; l++) {
		op_key_put(&key, op->loops[l].extent << 1 | op->loops[l].reduction);
		op_key_put(&key, mapping_split(question->arch, question->mapping, l));
	}
	for (int i = 0; i < op_operands(op); i++)
		put_operand(&key, question, i);
	*size = key.length;
	return text_read(&key);
}

/* --- the choice of each goal */

int64_t op_value_latency(const struct op_value *value, enum price price)
{
	return price == PRICE_ESTIMATE ? value->estimate : value->cycles;
}

/* True if a tiling is in question for a goal at all. */
static bool may_serve(enum tile_goal goal, enum price price, const struct op_value *value,
	const struct op_value *published)
{
	int64_t own = op_value_latency(value, price);
	int64_t most = op_value_latency(published, price);
	if (goal == TILES_ALL)
		return own <= most && value->energy_pj <= published->energy_pj &&
		       value->hbm_bytes <= published->hbm_bytes;
	if (goal == TILES_LATENCY)
		return own <= most;
	if (goal == TILES_EDP)
		return value->energy_pj * (double)own <= published->energy_pj * (double)most;
	return true;
}

static double op_value_worth(enum tile_goal goal, const struct op_value *value)
{
	switch (goal) {
	case TILES_ENERGY:
		return value->energy_pj;
	case TILES_HBM_BYTES:
		return (double)value->hbm_bytes;
	case TILES_EDP:
		return value->energy_pj * (double)value->estimate;
	default:
		return 0;
	}
}

/* Returns the largest estimate that counts as fast as the least. */
static int64_t as_fast(int64_t least)
{
	return least + least / OP_MAP_AS_FAST;
}

/* Options in the order of tiles: the published ones, then the first that is as fast as any. */
static const struct op_option *op_option_choose(enum tile_goal goal, enum price price,
	const struct op_option *published, const struct op_front *front)
{
	double best = op_value_worth(goal, &published->value);
	int64_t least = published->value.estimate;
	for (size_t i = 0; i < front->count; i++) {
		const struct op_value *value = &front->at[i].value;
		double own = op_value_worth(goal, value);
		if (!may_serve(goal, price, value, &published->value) || own > best)
			continue;
		least = own < best ? value->estimate : number_min(least, value->estimate);
		best = own;
	}
	if (op_value_worth(goal, &published->value) <= best &&
		published->value.estimate <= as_fast(least))
		return published;
	for (size_t i = 0; i < front->count; i++) {
		const struct op_value *value = &front->at[i].value;
		if (may_serve(goal, price, value, &published->value) &&
			op_value_worth(goal, value) <= best && value->estimate <= as_fast(least))
			return &front->at[i];
	}
	return published;
}

static uint8_t op_answer_keep(struct op_answer *answer, const struct op_option *option)
{
	for (size_t i = 0; i < answer->count; i++)
		if (!memcmp(&answer->at[i], option, sizeof *option))
			return (uint8_t)i;
	answer->at[answer->count] = *option;
	return (uint8_t)answer->count++;
}

/* Prices the op with the published tiles. */
static bool price_published(const struct op_question *question,
	const struct stream_answer *published, struct arena *arena, struct op_option *out)
{
	struct traffic_op *traffic = arena_new(arena, struct traffic_op);
	traffic_open(traffic, question->arch, question->workload, question->op, question->mapping,
		question->in_lx);
	traffic->arriving = question->arriving;
	*out = (struct op_option){0};
	for (int l = 0; l < question->op->loop_count; l++) {
		loopnest_tile(&traffic->nest, l, published->tiles[l]);
		traffic->nest.order[l] = published->order[l];
		out->tiles[l] = (uint32_t)published->tiles[l];
		out->order[l] = (uint8_t)published->order[l];
	}
	return op_value_find(traffic, question, &out->value);
}

/* Slices that differ from core to core may be slowest on another core than the moves of their phase. */
static bool may_choose(const struct op_question *question, struct arena *arena)
{
	struct traffic_op *traffic = arena_new(arena, struct traffic_op);
	traffic_open(traffic, question->arch, question->workload, question->op, question->mapping,
		question->in_lx);
	return !question->moved.fill || traffic_is_even(traffic);
}

/* Each goal's tiles by the price with an ideal array. */
static void choose_all(const struct op_option *published, const struct op_front *front,
	enum price price, struct op_answer *answer)
{
	answer->count = 0;
	for (int goal = 0; goal < TILE_GOALS; goal++)
		answer->choice[goal] = op_answer_keep(answer,
			goal == TILES_PUBLISHED
				? published
				: op_option_choose((enum tile_goal)goal, price, published, front));
}

enum objective op_map_objective(const struct arch *arch, enum tile_goal goal)
{
	if (goal == TILES_LATENCY)
		return OBJECTIVE_LATENCY;
	if (goal == TILES_HBM_BYTES && !arch_moves_boxes(arch))
		return OBJECTIVE_HBM_BYTES;
	return goal == TILES_ENERGY || goal == TILES_HBM_BYTES ? OBJECTIVE_ENERGY : OBJECTIVE_EDP;
}

void op_map_nest(const struct arch *arch, const struct mapping *nest, struct mapping *mapping)
{
	uint32_t inside = ~((2u << arch->lx) - 1);
	struct mapping_row *home = &mapping->rows[arch->hbm];
	const struct mapping_row *own = &nest->rows[arch->lx];
	memcpy(home->temporal, own->temporal, sizeof home->temporal);
	memcpy(home->temporal_order, own->temporal_order, sizeof home->temporal_order);
	for (int r = arch->lx + 1; r < arch->level_count; r++)
		mapping->rows[r] = nest->rows[r];
	for (int i = 0; i <= OP_READS_MOST; i++)
		mapping->residency[i] =
			(mapping->residency[i] & ~inside) | (nest->residency[i] & inside);
}

struct mapping op_map_mapping(const struct op_question *question, const uint32_t *tiles,
	const uint8_t *order, const struct mapping *nest)
{
	struct mapping mapping = *question->mapping;
	struct mapping_row *row = &mapping.rows[question->arch->lx];
	memcpy(row->temporal, tiles, sizeof row->temporal);
	memcpy(row->temporal_order, order, sizeof row->temporal_order);
	if (nest)
		op_map_nest(question->arch, nest, &mapping);
	return mapping;
}

/* Tiles with their nest, and what both cost; false, and answer->why, if there is none. */
static bool op_question_add_nest(const struct op_question *question,
	const struct nests_wanted *wanted, const struct op_option *tiles, struct arena *arena,
	struct op_answer *answer, struct op_option *out)
{
	struct mapping mapping = op_map_mapping(question, tiles->tiles, tiles->order, NULL);
	struct inner_question inner = {.arch = question->arch,
		.workload = question->workload,
		.op = question->op,
		.mapping = &mapping,
		.in_lx = question->in_lx};
	const struct nest_answer *nest = nests_ask(&inner, wanted, arena);
	answer->why = nest->why;
	if (nest->why)
		return false;
	op_map_nest(question->arch, &nest->mapping, &mapping);
	struct traffic_op *traffic = arena_new(arena, struct traffic_op);
	traffic_open_nest(traffic, &inner, arena);
	traffic->arriving = question->arriving;
	*out = *tiles;
	out->nest = &nest->mapping;
	answer->why = traffic->inner ? traffic->inner->why : NULL;
	return !answer->why && op_value_find(traffic, question, &out->value);
}

/* The tiles that goals chose, each with a nest of least energy x latency, and the one for its own goal. */
static void choose_nests(const struct op_question *question, const struct nests_wanted *wanted,
	struct arena *arena, struct op_answer *answer)
{
	static const enum tile_goal goals[] = {TILES_EDP, TILES_LATENCY, TILES_ENERGY};
	struct op_option options[TILE_GOALS * 3], published = {0};
	struct op_front front = {.at = options};
	const struct op_answer ideal = *answer;
	for (size_t i = 0; i < ideal.count; i++)
		for (int g = 0; g < (question->by_rule ? 1 : 3); g++) {
			struct nests_wanted asked = *wanted;
			if (g > 0 && ideal.choice[goals[g]] != i)
				continue;
			asked.objective = op_map_objective(question->arch, goals[g]);
			if (!op_question_add_nest(question, &asked, &ideal.at[i], arena, answer,
				    &options[front.count]))
				continue;
			if (i == ideal.choice[TILES_PUBLISHED] && !published.nest)
				published = options[front.count];
			front.count++;
		}
	if (!published.nest && !question->by_rule) { /* constraints may leave other tiles some */
		front = op_map_front(question, wanted, OP_MAP_EVALUATIONS, arena);
		if (front.count)
			published = front.at[0];
	}
	answer->found = published.nest;
	if (!answer->found)
		return;
	answer->why = NULL;
	choose_all(&published, &front, question->price, answer);
}

/* Returns the options by rule and by price, the published tiles first; *front as the array that follows. */
static struct op_answer ask_all(const struct op_question *question, bool brief, struct arena *arena,
	struct op_option *first, struct op_front *front)
{
	struct stream_answer published = stream_tiles(question, arena);
	struct op_answer answer = {.found = published.found,
		.least_room = published.least_room,
		.why = published.constrained ? "no streaming tiles keep the constraints" : NULL,
		.evaluations = published.evaluations};
	*front = (struct op_front){0};
	if (!published.found)
		return answer;
	if (price_published(question, &published, arena, first) && !question->by_rule &&
		may_choose(question, arena)) {
		*front = op_map_front(
			question, NULL, brief ? OP_BRIEF_EVALUATIONS : OP_MAP_EVALUATIONS, arena);
		answer.cut = !front->proven;
	}
	answer.proven = front->proven;
	answer.evaluations += front->evaluations;
	return answer;
}

static struct op_answer op_answer_find(
	const struct op_question *question, const struct nests_wanted *wanted, struct arena *arena)
{
	struct op_option first;
	struct op_front front;
	struct op_answer answer = ask_all(question, wanted->brief, arena, &first, &front);
	if (!answer.found)
		return answer;
	choose_all(&first, &front, question->price, &answer);
	if (op_has_inner_nest(question->arch, question->op)) {
		answer.proven = false;
		answer.cut = true;
		choose_nests(question, wanted, arena, &answer);
	}
	return answer;
}

const struct op_answer *op_map(
	const struct nests_wanted *wanted, const struct op_question *question, struct arena *arena)
{
	size_t size;
	const char *key = op_question_key(question, false, wanted->brief, arena, &size);
	const struct op_answer *known = kept_find(wanted->kept, key, size);
	if (known)
		return known;
	struct arena_mark mark = arena_mark(arena);
	struct op_answer answer = op_answer_find(question, wanted, arena);
	arena_release(arena, mark);
	if (stopper_stops(&wanted->stopper))
		return arena_copy(arena, &answer, sizeof answer);
	return kept_add(wanted->kept, key, size, &answer, sizeof answer, answer.evaluations);
}

/* Tiles that are nests: those that goals chose. */
static const struct op_choices *list_nests(
	const struct nests_wanted *wanted, const struct op_question *question, struct arena *arena)
{
	const struct op_answer *answer = op_map(wanted, question, arena);
	size_t count = answer->found ? answer->count : 0;
	struct op_choices *choices =
		arena_alloc(arena, sizeof *choices + count * sizeof *choices->at);
	*choices = (struct op_choices){
		.why = answer->why, .proven = answer->proven, .cut = answer->cut, .count = count};
	memcpy(choices->at, answer->at, count * sizeof *choices->at);
	return choices;
}

const struct op_choices *op_map_all(
	const struct nests_wanted *wanted, const struct op_question *question, struct arena *arena)
{
	if (op_has_inner_nest(question->arch, question->op))
		return list_nests(wanted, question, arena);
	size_t size;
	const char *key = op_question_key(question, true, wanted->brief, arena, &size);
	const struct op_choices *known = kept_find(wanted->kept, key, size);
	if (known)
		return known;
	struct arena_mark mark = arena_mark(arena);
	struct op_option first;
	struct op_front front;
	struct op_answer answer = ask_all(question, wanted->brief, arena, &first, &front);
	size_t count = answer.found ? front.count + 1 : 0;
	size_t bytes = sizeof(struct op_choices) + count * sizeof(struct op_option);
	struct op_choices *choices = arena_alloc(arena, bytes);
	*choices = (struct op_choices){
		.why = answer.why, .proven = answer.proven, .cut = answer.cut, .count = count};
	if (count)
		choices->at[0] = first;
	if (front.count)
		memcpy(&choices->at[1], front.at, front.count * sizeof *front.at);
	const struct op_choices *kept =
		kept_add(wanted->kept, key, size, choices, bytes, answer.evaluations);
	arena_release(arena, mark);
	return kept;
}
