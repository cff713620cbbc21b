#include "search/broadcast_search.h"

#include "base/arena.h"
#include "base/text.h"
#include "search/solver.h"

#include <inttypes.h>

enum {
	TILES_MOST = 4,
	CHUNKS_TRIED = 1 << 16,
	MESSAGES_TRIED = 1 << 18,
	MESSAGES_KEPT = 1 << 12,
	PROVEN_SEGMENTS = 8, /* solvers that prove take no more in a time that anyone waits */
};
#define DATA_BYTES ((int64_t)1 << 26)

struct hunt {
	const struct broadcast_search *search;
	struct broadcast_explored *explored;
	struct asker asker;
	struct arena *arena;
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

static void execute(
	struct hunt *hunt, struct broadcast_outcome *outcome, int64_t bytes, struct arena *arena)
{
	struct broadcast_explored *explored = hunt->explored;
	uint64_t most = hunt->search->wishes->simulate_budget;
	if (most && steps_of(outcome) > most) {
		explored->unsimulated++;
		return;
	}
	broadcast_execute(outcome, bytes, hunt->search->wishes->seed, NULL, arena);
	explored->simulated++;
	explored->steps += outcome->execution.steps;
	if (outcome->execution.agrees)
		return;
	explored->disagreed++;
	if (!explored->fault)
		explored->fault = arena_format(hunt->arena, "%s: %s",
			broadcast_way(arena, outcome->broadcast),
			outcome->execution.fault ? outcome->execution.fault : "the counts differ");
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
static struct broadcast_outcome keep(const struct broadcast_outcome *outcome, struct arena *arena)
{
	struct broadcast_outcome kept = *outcome;
	kept.topology = NULL;
	kept.order = NULL;
	kept.schedule = keep_schedule(outcome->schedule, arena);
	if (kept.execution.fault)
		kept.execution.fault = arena_text(arena, kept.execution.fault);
	return kept;
}

static bool is_stopped(struct hunt *hunt)
{
	const struct exploration *wishes = hunt->search->wishes;
	struct broadcast_explored *explored = hunt->explored;
	if (!explored->stopped && wishes->stop)
		explored->stopped = wishes->stop(wishes->listener);
	return explored->stopped;
}

/* False once the budget is spent or someone asked to stop. */
static bool goes_on(struct hunt *hunt)
{
	const struct exploration *wishes = hunt->search->wishes;
	struct broadcast_explored *explored = hunt->explored;
	is_stopped(hunt);
	if (wishes->budget && explored->evaluated >= wishes->budget)
		explored->cut = true;
	return !explored->stopped && !explored->cut;
}

static bool attempt(struct hunt *hunt, const struct broadcast *variant)
{
	struct broadcast_explored *explored = hunt->explored;
	struct broadcast_outcome outcome;
	if (!goes_on(hunt))
		return false;
	struct arena *scratch = arena_open();
	explored->evaluated++;
	if (broadcast_price(variant, &hunt->asker, scratch, &outcome)) {
		explored->refused++;
		arena_close(scratch);
		return true;
	}
	if (hunt->search->wishes->simulate == SIMULATE_ALL)
		execute(hunt, &outcome, 0, scratch);
	const char *key = broadcast_write(scratch, variant);
	if (!frontier_beats(&explored->frontier, &outcome.score, key)) {
		struct broadcast *own = arena_copy(hunt->arena, variant, sizeof *own);
		own->offsets = arena_copy(hunt->arena, variant->offsets,
			(variant->offset_count + 1) * sizeof *own->offsets);
		outcome.broadcast = own;
		struct broadcast_outcome *kept = arena_new(hunt->arena, struct broadcast_outcome);
		*kept = keep(&outcome, hunt->arena);
		frontier_add(&explored->frontier, hunt->arena,
			(struct point){.score = kept->score,
				.key = arena_text(hunt->arena, key),
				.payload = kept});
	}
	arena_close(scratch);
	return true;
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

static bool try_orders(struct hunt *hunt, struct broadcast *variant)
{
	const int64_t *shape = broadcast_block(variant);
	bool tails = shape[3] % variant->tile.rows || shape[4] % variant->tile.cols;
	bool orders = tails && variant->operation == OPERATION_BROADCAST;
	variant->order = ORDER_SLIDING;
	if (!attempt(hunt, variant))
		return false;
	variant->order = variant->staging > 2 ? ORDER_JOHNSON : ORDER_GILMORE_GOMORY;
	return !orders || variant->staging < 2 || attempt(hunt, variant);
}

/* Half as many, in whole units; 0 after the last. */
static int64_t halve(int64_t count, int64_t unit)
{
	return count <= unit ? 0 : number_align_up(number_ceil_div(count, 2), unit);
}

static void try_tiles(struct hunt *hunt)
{
	struct broadcast variant = *hunt->search->broadcast;
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
				if (lay(&variant, offsets, rows, cols, k) &&
					!try_orders(hunt, &variant))
					return;
		}
}

/* 1, 2, 3, 4, 6, 8, 12, 16, .. */
static int64_t next_segments(int64_t segments)
{
	if (segments < 2)
		return segments + 1;
	return segments & (segments - 1) ? segments / 3 * 4 : segments / 2 * 3;
}

static void try_algorithm(struct hunt *hunt, const struct solver *solver)
{
	struct broadcast variant = *hunt->search->broadcast;
	int64_t elements = 0, most = MESSAGES_TRIED / variant.ranks;
	broadcast_elements(broadcast_block(&variant), &elements);
	most = number_min(most, elements);
	if (solver->stage == STAGE_SCATTER)
		most = 1;
	if (solver->proves)
		most = number_min(most, PROVEN_SEGMENTS);
	variant.algorithm = solver->name;
	variant.order = ORDER_SLIDING;
	for (int64_t segments = 1; segments <= most; segments = next_segments(segments)) {
		variant.segments = segments;
		if (!attempt(hunt, &variant))
			return;
	}
}

/* Points run again, with bytes where they are few enough; until someone asks to stop. */
static void execute_points(struct hunt *hunt)
{
	struct frontier *frontier = &hunt->explored->frontier;
	for (size_t i = 0; i < frontier->count && !is_stopped(hunt); i++) {
		struct broadcast_outcome *kept = frontier->points[i].payload, outcome = *kept;
		struct arena *scratch = arena_open();
		if (kept->schedule)
			outcome.topology = topology_of(scratch, &kept->broadcast->copying,
				(int)kept->broadcast->ranks, (int)kept->broadcast->root,
				kept->broadcast->columns);
		else
			broadcast_price(kept->broadcast, NULL, scratch, &outcome);
		execute(hunt, &outcome, DATA_BYTES, scratch);
		kept->execution = outcome.execution;
		if (kept->execution.fault)
			kept->execution.fault = arena_text(hunt->arena, kept->execution.fault);
		arena_close(scratch);
	}
}

struct broadcast_explored broadcast_explore(
	const struct broadcast_search *search, struct arena *arena)
{
	struct broadcast_explored explored = {
		.frontier = frontier_open(search->wishes->objectives)};
	const struct exploration *wishes = search->wishes;
	struct hunt hunt = {
		search, &explored, {.listener = wishes->listener, .stop = wishes->stop}, arena};
	struct arena *scratch = arena_open();
	struct broadcast_outcome given;
	if (!broadcast_price(search->broadcast, &hunt.asker, scratch, &given))
		explored.given = keep(&given, arena);
	arena_close(scratch);
	if (!search->algorithm) {
		attempt(&hunt, search->broadcast);
		try_tiles(&hunt);
	}
	enum stage stage;
	bool has_algorithms = broadcast_stage(search->broadcast, &stage);
	for (size_t s = 0; has_algorithms && solvers[s]; s++)
		if (solvers[s]->stage == stage &&
			(search->algorithm ? text_equal(search->algorithm, solvers[s]->name)
					   : !solvers[s]->proves))
			try_algorithm(&hunt, solvers[s]);
	if (search->wishes->simulate != SIMULATE_NONE)
		execute_points(&hunt);
	return explored;
}
