#include "search/transfer/broadcast_outcome.h"

#include "base/arena.h"
#include "lower/transfer/broadcast.h"
#include "search/drive/solver.h"
#include "search/transfer/broadcast_search.h"

#include <inttypes.h>

enum { SOLVER_TICKS = 1 << 22, INSTRUCTIONS_MOST = 1 << 26 };

static int64_t bytes_of(const struct broadcast *broadcast, const struct chunk *chunk)
{
	int64_t bytes = element_bytes(broadcast->source.element);
	for (int d = 0; d < BROADCAST_RANK; d++)
		bytes *= chunk->count[d];
	return bytes;
}

/* The chunks in the order that the broadcast asks for. */
static const int64_t *find_order(const struct broadcast *broadcast, const struct topology *topology,
	const struct chunk *chunks, int64_t count, struct arena *arena)
{
	struct chunk_job *jobs = arena_array(arena, struct chunk_job, count + 1);
	for (int64_t i = 0; i < count; i++) {
		int64_t bytes = bytes_of(broadcast, &chunks[i]);
		jobs[i].load = broadcast_load_time(broadcast, bytes);
		jobs[i].store = broadcast_time_of(broadcast, topology, 1, &bytes, 1) - jobs[i].load;
	}
	return broadcast->order == ORDER_JOHNSON ? order_johnson(jobs, count, arena)
						 : order_gilmore_gomory(jobs, count, arena);
}

/* Between the root and each rank, the way that bytes go; -1: there is none. */
static void find_distances(const struct broadcast *b, const struct topology *topology, int *out)
{
	if (operation_pulls(b->operation))
		topology_distances_to(topology, topology->root, out);
	else
		topology_distances(topology, topology->root, out);
}

static int64_t ceil_ticks(int64_t ticks, int64_t per_cycle)
{
	return number_ceil_div(ticks, per_cycle);
}

static int64_t time_of(int64_t bytes, struct ratio rate)
{
	int64_t ticks = 0;
	if (rate.num && !ratio_time(bytes, rate, &ticks))
		return INT64_MAX / 4;
	return ticks;
}

/* What no way over these links is below, while it is found. */
struct transfer_bound {
	struct copy_ticks ticks;
	struct ratio rate;
	int64_t latency, most;
};

/* Bytes that go by a number of ways. */
static void pass_through(struct transfer_bound *bound, int64_t ways, int64_t bytes)
{
	if (ways && bytes)
		bound->most = number_max(bound->most, bound->latency + bound->ticks.link_latency +
							      time_of(bytes, bound->rate) / ways);
}

/*
 * Whoever sends to whom: the last byte goes over as many links as lie between the root and the
 * farthest rank; what a rank gives or gets goes over its links or its port, and what the root
 * gives or gets over its own; with one port who has to do with it at most doubles with each
 * message.  The root stores its own part; what is combined, ranks combine at best all at once.
 */
static int64_t find_bound(const struct broadcast *b, const struct topology *topology, int64_t block,
	struct arena *arena)
{
	bool pulls = operation_pulls(b->operation), pair = operation_is_pair(b->operation);
	bool all = operation_splits(b->operation);
	bool to_root = all || b->operation == OPERATION_REDUCE;
	int *distances = arena_array(arena, int, topology->ranks);
	int64_t others = pair ? b->peer != b->root : b->ranks - 1, doublings = 0;
	struct transfer_bound bound = {.ticks = copying_ticks(&b->copying)};
	const struct copy_ticks *ticks = &bound.ticks;
	bool remote = b->operation == OPERATION_PUT && others;
	if (!block)
		return 0;
	bound.rate = ticks->link_rate.num ? ticks->link_rate : ticks->out_rate;
	bound.latency =
		pulls ? number_min(ticks->in_latency, ticks->out_latency) : ticks->out_latency;
	if (pulls && !ticks->link_rate.num)
		bound.rate = (struct ratio){0, 1};
	bound.most = remote ? ticks->in_latency + time_of(block, ticks->in_rate)
			    : ticks->out_latency + time_of(block, ticks->out_rate);
	find_distances(b, topology, distances);
	for (int r = 0; r < topology->ranks; r++) {
		if (r == topology->root || (pair && r != b->peer))
			continue;
		bound.most =
			number_max(bound.most, bound.latency + distances[r] * ticks->link_latency);
		pass_through(&bound, topology_ways(topology, r, !pulls), block);
	}
	if (to_root)
		pass_through(&bound, topology_ways(topology, topology->root, pulls),
			all ? others * block : block);
	while (topology->ports == PORTS_ONE && !pair && (1 << doublings) < topology->ranks)
		doublings++;
	bound.most = number_max(bound.most, doublings * (bound.latency + ticks->link_latency));
	if (b->operation == OPERATION_REDUCE)
		bound.most = number_max(
			bound.most, time_of(block, ticks->combine_rate) * others / b->ranks);
	return ceil_ticks(bound.most, ticks->per_cycle);
}

static const char *price_published(struct broadcast_outcome *out, struct arena *arena)
{
	const struct broadcast *b = out->broadcast;
	if (out->counts.chunks > BROADCAST_CHUNKS_MOST)
		return "it has more chunks than are looked at; take a larger tile";
	if (!broadcast_time(b, out->topology, b->staging, &out->times))
		return "its times are too large";
	out->ticks = out->times.tiles;
	if (b->order != ORDER_SLIDING && out->counts.chunks > 1) {
		int64_t count;
		const struct chunk *chunks =
			broadcast_chunks(b, BROADCAST_CHUNKS_MOST, arena, &count);
		int64_t *sizes = arena_array(arena, int64_t, count);
		out->order = find_order(b, out->topology, chunks, count, arena);
		for (int64_t i = 0; i < count; i++)
			sizes[i] = bytes_of(b, &chunks[out->order[i]]);
		out->ticks = broadcast_time_of(b, out->topology, b->staging, sizes, count);
	}
	out->score.link_bytes = out->counts.link_bytes;
	out->score.buffer_bytes = out->counts.staging_bytes;
	out->score.rounds = out->counts.chunks *
			    (operation_is_pair(b->operation) ? b->peer != b->root : b->ranks - 1);
	return NULL;
}

/* They were counted. */
static int64_t block_bytes(const struct broadcast *b)
{
	int64_t elements = 0;
	broadcast_elements(broadcast_block(b), &elements);
	return elements * element_bytes(b->source.element);
}

bool broadcast_stage(const struct broadcast *broadcast, enum stage *out)
{
	*out = operation_splits(broadcast->operation) ? STAGE_SCATTER : STAGE_BROADCAST;
	return !operation_is_pair(broadcast->operation);
}

/* What a schedule moves: each chunk of a gather or scatter is the block of a rank. */
static int64_t moved_bytes(const struct broadcast *b)
{
	return block_bytes(b) * (operation_splits(b->operation) ? b->ranks : 1);
}

/* A pull is what a push over links turned around is, turned around. */
static const struct send_schedule *find_schedule(struct broadcast_outcome *out,
	const struct solver *solver, const struct asker *asker, struct arena *arena)
{
	const struct broadcast *b = out->broadcast;
	bool pulls = operation_pulls(b->operation);
	const struct synthesis synthesis = {
		pulls ? topology_reverse(arena, out->topology) : out->topology,
		solver->stage == STAGE_SCATTER ? b->ranks : b->segments};
	const struct problem problem = {.stage = solver->stage, .synthesis = &synthesis};
	struct answer answer = solve_for(asker, solver, &problem, SOLVER_TICKS, 1, arena);
	if (!answer.candidate_count)
		return NULL;
	out->rounds_bound = solver->stage == STAGE_SCATTER ? scatter_bound(&synthesis, arena)
							   : rounds_bound(&synthesis, arena);
	if (answer.status == PROOF_OPTIMAL || answer.status == PROOF_BOUND)
		out->rounds_bound = number_max(out->rounds_bound, (int64_t)answer.bound);
	const struct send_schedule *schedule = answer.candidates[0].schedule;
	return pulls ? schedule_reverse(arena, schedule) : schedule;
}

static const char *price_algorithm(struct broadcast_outcome *out, const struct asker *asker,
	int64_t bytes, struct arena *arena)
{
	const struct broadcast *b = out->broadcast;
	struct copy_ticks ticks = copying_ticks(&b->copying);
	struct schedule_cost cost;
	enum stage stage;
	if (!broadcast_stage(b, &stage))
		return arena_format(arena, "a %s has no algorithms", operation_names[b->operation]);
	const struct solver *solver = solver_find(stage, b->algorithm);
	if (!solver)
		return arena_format(arena, "there is no algorithm '%s'", b->algorithm);
	if (stage == STAGE_SCATTER && b->segments > 1)
		return "blocks are not cut into segments";
	if (b->segments > bytes / element_bytes(b->source.element))
		return "it has more segments than elements";
	if (b->segments * b->ranks > BROADCAST_CHUNKS_MOST)
		return "it has more segments than are looked at";
	if (b->handshake.notifies || b->handshake.waits)
		return "signals are those of the published operation, not of an algorithm";
	out->schedule = find_schedule(out, solver, asker, arena);
	if (!out->schedule)
		return arena_format(arena, "'%s' does not go over these links", b->algorithm);
	if (!schedule_price(
		    out->schedule, &ticks, moved_bytes(b), element_bytes(b->source.element), &cost))
		return "its times are too large";
	if (b->scratchpad_bytes && cost.buffer_bytes > b->scratchpad_bytes)
		return "two segments do not fit into the scratchpad";
	out->times.per_cycle = ticks.per_cycle;
	out->ticks = cost.ticks;
	out->score.link_bytes = cost.link_bytes;
	out->score.buffer_bytes = cost.buffer_bytes;
	out->score.rounds = cost.rounds;
	return NULL;
}

/* NULL, or which rank cannot be come to. */
static const char *find_unreached(
	const struct broadcast *b, const struct topology *topology, struct arena *arena)
{
	int *distances = arena_array(arena, int, topology->ranks);
	find_distances(b, topology, distances);
	for (int r = 0; r < topology->ranks; r++) {
		bool pulls = operation_pulls(b->operation);
		int root = topology->root;
		if (distances[r] < 0 && (!operation_is_pair(b->operation) || r == b->peer))
			return arena_format(arena, "no way leads from rank %d to rank %d",
				pulls ? r : root, pulls ? root : r);
	}
	return NULL;
}

const char *broadcast_price(const struct broadcast *broadcast, const struct asker *asker,
	struct arena *arena, struct broadcast_outcome *out)
{
	static const struct asker nobody = {0};
	*out = (struct broadcast_outcome){.broadcast = broadcast};
	out->topology = topology_of(arena, &broadcast->copying, (int)broadcast->ranks,
		(int)broadcast->root, broadcast->columns);
	const char *why = find_unreached(broadcast, out->topology, arena);
	if (why)
		return why;
	if (!broadcast_count(broadcast, out->topology, &out->counts))
		return "it is too large to be counted";
	int64_t bytes = block_bytes(broadcast);
	bool published = !broadcast->algorithm || bytes == 0;
	why = published ? price_published(out, arena)
			: price_algorithm(out, asker ? asker : &nobody, bytes, arena);
	if (why)
		return why;
	out->score.feasible = true;
	out->score.cycles = ceil_ticks(out->ticks, out->times.per_cycle);
	out->bound = find_bound(broadcast, out->topology, bytes, arena);
	return NULL;
}

static void execute_published(struct broadcast_outcome *outcome, int64_t bytes_most, uint64_t seed,
	struct broadcast_trace *trace, const struct stopper *stopper, struct arena *arena)
{
	const struct broadcast_counts *counts = &outcome->counts;
	struct copy_options options = {.data = bytes_most > 0,
		.seed = seed,
		.bytes_most = bytes_most,
		.trace = trace,
		.stopper = stopper};
	const struct copy_program *program =
		broadcast_lower(outcome->broadcast, outcome->order, INSTRUCTIONS_MOST, arena);
	if (!program) {
		outcome->execution.fault = "it has more instructions than are executed";
		return;
	}
	struct copy_result run = copy_run(program, &options, arena);
	if (trace)
		*trace = (struct broadcast_trace){.program = program, .times = run.trace};
	outcome->execution = (struct execution){
		.finished = run.finished,
		.mode = run.data ? SIM_DATA : SIM_COUNT,
		.ticks = run.ticks,
		.cycles = run.cycles,
		.link_bytes = run.link_bytes,
		.events = run.instructions,
		.fault = run.fault_count ? run.faults[0].text : NULL,
		.agrees = !run.fault_count && run.ticks == outcome->ticks &&
			  run.loads == counts->loads && run.stores == counts->stores &&
			  run.combines == counts->combines && run.flags == counts->flags &&
			  run.bytes_loaded == counts->bytes_loaded &&
			  run.bytes_stored == counts->bytes_stored &&
			  run.link_bytes == counts->link_bytes &&
			  run.staging_bytes == counts->staging_bytes,
	};
}

static void execute_schedule(struct broadcast_outcome *outcome, int64_t bytes_most, uint64_t seed,
	struct broadcast_trace *trace, const struct stopper *stopper, struct arena *arena)
{
	const struct broadcast *b = outcome->broadcast;
	struct copy_ticks ticks = copying_ticks(&b->copying);
	int64_t bytes = moved_bytes(b);
	bool data = bytes <= bytes_most / b->ranks;
	struct schedule_result run = schedule_run(outcome->schedule, outcome->topology, &ticks,
		bytes, element_bytes(b->source.element), data, seed, stopper, arena);
	if (run.stopped)
		return;
	if (trace)
		*trace = (struct broadcast_trace){.sends = run.times};
	outcome->execution = (struct execution){
		.finished = true,
		.mode = data ? SIM_DATA : SIM_COUNT,
		.ticks = run.ticks,
		.cycles = run.cycles,
		.link_bytes = run.link_bytes,
		.events = run.messages,
		.fault = run.fault,
		.agrees = !run.fault && run.ticks == outcome->ticks &&
			  run.link_bytes == outcome->score.link_bytes &&
			  run.rounds == outcome->score.rounds &&
			  run.buffer_bytes == outcome->score.buffer_bytes,
	};
}

void broadcast_execute(struct broadcast_outcome *outcome, int64_t bytes_most, uint64_t seed,
	struct broadcast_trace *trace, const struct stopper *stopper, struct arena *arena)
{
	outcome->execution = (struct execution){0};
	if (outcome->schedule)
		execute_schedule(outcome, bytes_most, seed, trace, stopper, arena);
	else
		execute_published(outcome, bytes_most, seed, trace, stopper, arena);
}
