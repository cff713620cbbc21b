#include "search/transfer/broadcast_search.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"
#include "search/drive/solver.h"

#include <inttypes.h>

enum {
	TILES_MOST = 4,
	CHUNKS_TRIED = 1 << 16,
	MESSAGES_TRIED = 1 << 18,
	MESSAGES_KEPT = 1 << 12,
	PROVEN_SEGMENTS = 8, /* solvers that prove take no more in a time that anyone waits */
};

struct broadcast_ways {
	const struct broadcast_search *search;
	struct arena *arena;
	struct array(const struct broadcast *) list;
};

const char *broadcast_way(struct arena *arena, const struct broadcast *broadcast)
{
	if (broadcast->algorithm)
		return arena_format(
			arena, "%s in %" PRId64, broadcast->algorithm, broadcast->segments);
	return arena_format(arena, "%" PRId64 " x %" PRId64 " x %" PRId64 " %s",
		broadcast->tile.valid_rows, broadcast->tile.valid_cols, broadcast->staging,
		chunk_order_names[broadcast->order]);
}

static uint64_t steps_of(const struct broadcast_outcome *outcome)
{
	if (outcome->schedule)
		return outcome->schedule->message_count;
	return (uint64_t)(outcome->counts.loads + outcome->counts.stores +
			  outcome->counts.combines + 2 * outcome->counts.flags);
}

/* A small one, which may have taken long to find; a large one is made again. */
static const struct send_schedule *keep_schedule(
	const struct send_schedule *schedule, struct arena *arena)
{
	if (!schedule || schedule->message_count > MESSAGES_KEPT)
		return NULL;
	struct send_schedule *kept = arena_copy(arena, schedule, sizeof *kept);
	kept->messages = arena_copy(
		arena, schedule->messages, schedule->message_count * sizeof *kept->messages);
	return kept;
}

/* What is kept of an outcome once its arena is gone. */
static struct broadcast_outcome keep_outcome(
	const struct broadcast_outcome *outcome, struct arena *arena)
{
	struct broadcast_outcome kept = *outcome;
	kept.topology = NULL;
	kept.order = NULL;
	kept.schedule = keep_schedule(outcome->schedule, arena);
	return kept;
}

/* Tiles one behind the other; false when they do not fit or are too small to be of use. */
static bool lay(
	struct broadcast *variant, int64_t *offsets, int64_t rows, int64_t cols, int64_t staging)
{
	const int64_t *shape = broadcast_block(variant);
	int64_t chunks = number_ceil_div(shape[3], rows), bytes;
	variant->tile.rows = variant->tile.valid_rows = rows;
	variant->tile.cols = variant->tile.valid_cols = cols;
	variant->tile.static_rows = variant->tile.static_cols = false;
	variant->staging = staging;
	int64_t tiles = broadcast_tiles(variant);
	variant->offset_count = (size_t)tiles;
	variant->offsets = offsets;
	bytes = broadcast_tile_bytes(variant);
	if (variant->scratchpad_bytes && bytes > variant->scratchpad_bytes / tiles)
		return false;
	for (int64_t t = 0; t < tiles; t++)
		offsets[t] = t * bytes;
	if (!number_mul(chunks, number_ceil_div(shape[4], cols), &chunks))
		return false;
	for (int d = 0; d < 3; d++)
		if (!number_mul(chunks, shape[d], &chunks))
			return false;
	return chunks <= CHUNKS_TRIED;
}

static void add_way(struct broadcast_ways *ways, const struct broadcast *variant)
{
	struct broadcast *own = arena_copy(ways->arena, variant, sizeof *own);
	int64_t *offsets = arena_array(ways->arena, int64_t, variant->offset_count + 1);
	for (size_t i = 0; i < variant->offset_count; i++)
		offsets[i] = variant->offsets[i];
	own->offsets = offsets;
	*array_add(ways->arena, &ways->list) = own;
}

static void add_orders(struct broadcast_ways *ways, struct broadcast *variant)
{
	const int64_t *shape = broadcast_block(variant);
	bool tails = shape[3] % variant->tile.rows || shape[4] % variant->tile.cols;
	variant->order = ORDER_SLIDING;
	add_way(ways, variant);
	variant->order = variant->staging > 2 ? ORDER_JOHNSON : ORDER_GILMORE_GOMORY;
	if (tails && variant->operation == OPERATION_BROADCAST && variant->staging >= 2)
		add_way(ways, variant);
}

/* Half as many, in whole units; 0 after the last. */
static int64_t halve(int64_t count, int64_t unit)
{
	return count <= unit ? 0 : number_align_up(number_ceil_div(count, 2), unit);
}

static void add_tiles(struct broadcast_ways *ways)
{
	struct broadcast variant = *ways->search->broadcast;
	int64_t offsets[TILES_MOST + 1] = {0}, all = 0,
				     element = element_bytes(variant.source.element);
	int64_t unit = number_max(1, variant.scratchpad_alignment / element);
	const int64_t *shape = broadcast_block(&variant);
	variant.algorithm = NULL;
	if (!broadcast_rows(shape, &all) || !all || !shape[4])
		return;
	int64_t most = number_min(all, INT32_MAX);
	for (int64_t cols = number_align_up(shape[4], unit); cols; cols = halve(cols, unit))
		for (int64_t rows = most; rows; rows = halve(rows, 1)) {
			/* after all rows together those of one slice */
			if (rows < most && rows > shape[3] && halve(rows, 1) < shape[3])
				rows = shape[3];
			for (int64_t k = 1; k <= TILES_MOST; k++)
				if (lay(&variant, offsets, rows, cols, k))
					add_orders(ways, &variant);
		}
}

/* 1, 2, 3, 4, 6, 8, 12, 16, .. */
static int64_t next_segments(int64_t segments)
{
	if (segments < 2)
		return segments + 1;
	return segments & (segments - 1) ? segments / 3 * 4 : segments / 2 * 3;
}

static void add_algorithm(struct broadcast_ways *ways, const struct solver *solver)
{
	struct broadcast variant = *ways->search->broadcast;
	int64_t elements = 0, most = MESSAGES_TRIED / variant.ranks;
	broadcast_elements(broadcast_block(&variant), &elements);
	most = number_min(most, elements);
	if (solver->stage == STAGE_SCATTER)
		most = 1;
	if (solver->proves)
		most = number_min(most, PROVEN_SEGMENTS);
	variant.algorithm = solver->name;
	variant.order = ORDER_SLIDING;
	for (variant.segments = 1; variant.segments <= most;
		variant.segments = next_segments(variant.segments))
		add_way(ways, &variant);
}

static bool list_ways(void *self, int round, struct drive *drive, size_t *count)
{
	struct broadcast_ways *ways = self;
	const struct broadcast_search *search = ways->search;
	enum stage stage;
	if (round > 1)
		return false;
	if (!search->solver) {
		add_way(ways, search->broadcast);
		add_tiles(ways);
	}
	if (broadcast_stage(search->broadcast, &stage)) {
		const struct portfolio asked = search->solver ? portfolio_of(search->solver)
							      : portfolio_for(stage, FOR_SCHEDULES);
		for (size_t s = 0; s < asked.count; s++)
			add_algorithm(ways, asked.at[s]);
	}
	*count = ways->list.count;
	return true;
}

static void run(void *self, size_t i, struct slot *slot)
{
	struct broadcast_found found = {
		.outcome.broadcast = ((struct broadcast_ways *)self)->list.at[i]};
	drive_offer(slot, &found.common);
}

static const char *price(void *self, struct found *found, struct slot *slot, struct score *score)
{
	struct broadcast_outcome *outcome = &((struct broadcast_found *)found)->outcome;
	struct asker asker = drive_asker(slot->drive);
	asker.jobs = 1;
	slot->effort.evaluated++;
	const char *why = broadcast_price(outcome->broadcast, &asker, slot->scratch, outcome);
	if (why)
		return why;
	*score = outcome->score;
	found->proof = score->cycles == outcome->bound ? PROOF_OPTIMAL : PROOF_BOUND;
	found->bound = (double)outcome->bound;
	found->gap = (double)(score->cycles - outcome->bound);
	return NULL;
}

static const char *key(void *self, const struct found *found, struct arena *arena)
{
	return broadcast_write(arena, ((const struct broadcast_found *)found)->outcome.broadcast);
}

static const char *label(void *self, const struct found *found, struct arena *arena)
{
	return broadcast_way(arena, ((const struct broadcast_found *)found)->outcome.broadcast);
}

static struct found *keep(void *self, const struct found *found, struct arena *arena)
{
	struct broadcast_found *kept = arena_copy(arena, found, sizeof *kept);
	const char *algorithm = kept->outcome.broadcast->algorithm;
	enum stage stage;
	kept->outcome = keep_outcome(&kept->outcome, arena);
	kept->common.solver = "published";
	if (algorithm && broadcast_stage(kept->outcome.broadcast, &stage))
		kept->common.solver = arena_format(arena, "%s/%s", stage_names[stage], algorithm);
	return &kept->common;
}

/* In the last round with bytes where they are few enough; what was left out of a kept way is made
 * again. */
static const char *execute(void *self, struct found *found, struct slot *slot, bool last)
{
	const struct wishes *wishes = &((struct broadcast_ways *)self)->search->wishes;
	struct broadcast_outcome outcome = ((struct broadcast_found *)found)->outcome;
	const struct broadcast *broadcast = outcome.broadcast;
	if (last && outcome.schedule)
		outcome.topology = topology_of(slot->scratch, &broadcast->copying,
			(int)broadcast->ranks, (int)broadcast->root, broadcast->columns);
	else if (last)
		broadcast_price(broadcast, NULL, slot->scratch, &outcome);
	if (wishes->simulate_budget && steps_of(&outcome) > wishes->simulate_budget)
		return NULL;
	broadcast_execute(&outcome, last ? EXECUTION_BYTES_OF_MANY : 0, wishes->seed, NULL, slot->scratch);
	found->execution = outcome.execution;
	if (!found->execution.agrees && !found->execution.fault)
		found->execution.fault = "the counts differ";
	return NULL;
}

static const struct kind broadcasts = {
	.tasks = list_ways,
	.run = run,
	.price = price,
	.execute = execute,
	.key = key,
	.label = label,
	.keep = keep,
	.counts_offers = true,
};

static const struct broadcast_outcome *price_given(
	const struct broadcast_search *search, struct arena *arena)
{
	struct broadcast_outcome *given = NULL, outcome;
	struct arena *scratch = arena_open();
	if (!broadcast_price(search->broadcast, &search->wishes.asker, scratch, &outcome)) {
		given = arena_new(arena, struct broadcast_outcome);
		*given = keep_outcome(&outcome, arena);
	}
	arena_close(scratch);
	return given;
}

struct explored broadcast_explore(const struct broadcast_search *search, struct arena *arena)
{
	struct broadcast_ways ways = {.search = search, .arena = arena};
	const struct broadcast_outcome *given = price_given(search, arena);
	struct explored explored = drive_explore(&broadcasts, &ways, &search->wishes, arena);
	explored.more = given;
	return explored;
}
