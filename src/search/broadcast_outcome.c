#include "search/broadcast_outcome.h"

#include "base/arena.h"
#include "lower/broadcast.h"
#include "search/chunk_order.h"
#include "search/solver.h"
#include "sim/copy.h"
#include "sim/schedule.h"

#include <inttypes.h>

enum { SOLVER_TICKS = 1 << 22 };

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

/*
 * Whatever is sent to whom: the last byte reaches the farthest rank over so many links; all of
 * it enters each rank over its links or its port; and with one port who has a part of it at most
 * doubles with each message.  The root stores its own copy.
 */
static int64_t find_bound(const struct broadcast *b, const struct topology *topology, int64_t bytes,
	struct arena *arena)
{
	struct copy_ticks ticks = copying_ticks(&b->copying);
	struct ratio rate = ticks.link_rate.num ? ticks.link_rate : ticks.out_rate;
	int *distances = arena_array(arena, int, topology->ranks);
	int64_t most = ticks.out_latency + time_of(bytes, ticks.out_rate), doublings = 0;
	topology_distances(topology, topology->root, distances);
	for (int r = 0; r < topology->ranks; r++) {
		int64_t entering = 0;
		for (size_t l = 0; l < topology->link_count; l++)
			entering += topology->links[l].to == r;
		if (r == topology->root || !bytes)
			continue;
		if (topology->ports == PORTS_ONE)
			entering = 1;
		most = number_max(most, ticks.out_latency + distances[r] * ticks.link_latency);
		most = number_max(most,
			ticks.out_latency + ticks.link_latency + time_of(bytes, rate) / entering);
	}
	while (topology->ports == PORTS_ONE && (1 << doublings) < topology->ranks)
		doublings++;
	if (bytes)
		most = number_max(most, doublings * (ticks.out_latency + ticks.link_latency));
	return ceil_ticks(bytes ? most : 0, ticks.per_cycle);
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
	out->score.rounds = out->counts.chunks * (b->ranks - 1);
	return NULL;
}

static const char *price_algorithm(
	struct broadcast_outcome *out, int64_t bytes, struct arena *arena)
{
	const struct broadcast *b = out->broadcast;
	const struct synthesis synthesis = {out->topology, b->segments};
	const struct problem problem = {.stage = STAGE_BROADCAST, .synthesis = &synthesis};
	const struct solver *solver = solver_find(STAGE_BROADCAST, b->algorithm);
	struct copy_ticks ticks = copying_ticks(&b->copying);
	struct schedule_cost cost;
	if (!solver)
		return arena_format(arena, "there is no algorithm '%s'", b->algorithm);
	if (b->segments > bytes / element_bytes(b->source.element))
		return "it has more segments than elements";
	if (b->segments * b->ranks > BROADCAST_CHUNKS_MOST)
		return "it has more segments than are looked at";
	struct answer answer = solve(solver, &problem, SOLVER_TICKS, 1, arena);
	if (!answer.candidate_count)
		return arena_format(arena, "'%s' does not go over these links", b->algorithm);
	out->schedule = answer.candidates[0].schedule;
	if (!schedule_price(out->schedule, &ticks, bytes, element_bytes(b->source.element), &cost))
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

const char *broadcast_price(
	const struct broadcast *broadcast, struct arena *arena, struct broadcast_outcome *out)
{
	*out = (struct broadcast_outcome){.broadcast = broadcast};
	out->topology = topology_make(arena, broadcast->copying.topology, broadcast->copying.ports,
		(int)broadcast->ranks, (int)broadcast->root, broadcast->columns);
	if (!broadcast_count(broadcast, out->topology, &out->counts))
		return "it is too large to be counted";
	int64_t bytes = out->counts.bytes_loaded;
	bool published = !broadcast->algorithm || bytes == 0;
	const char *why =
		published ? price_published(out, arena) : price_algorithm(out, bytes, arena);
	if (why)
		return why;
	out->score.feasible = true;
	out->score.cycles = ceil_ticks(out->ticks, out->times.per_cycle);
	out->bound = find_bound(broadcast, out->topology, bytes, arena);
	return NULL;
}

static void execute_published(
	struct broadcast_outcome *outcome, int64_t bytes_most, uint64_t seed, struct arena *arena)
{
	const struct broadcast_counts *counts = &outcome->counts;
	struct copy_options options = {
		.data = bytes_most > 0, .seed = seed, .bytes_most = bytes_most};
	const struct copy_program *program =
		broadcast_lower(outcome->broadcast, outcome->order, INT64_MAX / 4, arena);
	struct copy_result run = copy_run(program, &options, arena);
	outcome->execution = (struct broadcast_execution){
		.finished = run.finished,
		.data = run.data,
		.ticks = run.ticks,
		.cycles = run.cycles,
		.link_bytes = run.link_bytes,
		.steps = run.instructions,
		.fault = run.fault_count ? run.faults[0].text : NULL,
		.agrees = !run.fault_count && run.ticks == outcome->ticks &&
			  run.loads == counts->loads && run.stores == counts->stores &&
			  run.flags == counts->flags && run.bytes_loaded == counts->bytes_loaded &&
			  run.bytes_stored == counts->bytes_stored &&
			  run.link_bytes == counts->link_bytes &&
			  run.staging_bytes == counts->staging_bytes,
	};
}

static void execute_schedule(
	struct broadcast_outcome *outcome, int64_t bytes_most, uint64_t seed, struct arena *arena)
{
	const struct broadcast *b = outcome->broadcast;
	struct copy_ticks ticks = copying_ticks(&b->copying);
	int64_t bytes = outcome->counts.bytes_loaded;
	bool data = bytes <= bytes_most / b->ranks;
	struct schedule_result run = schedule_run(outcome->schedule, outcome->topology, &ticks,
		bytes, element_bytes(b->source.element), data, seed, arena);
	outcome->execution = (struct broadcast_execution){
		.finished = true,
		.data = data,
		.ticks = run.ticks,
		.cycles = run.cycles,
		.link_bytes = run.link_bytes,
		.steps = run.messages,
		.fault = run.fault,
		.agrees = !run.fault && run.ticks == outcome->ticks &&
			  run.link_bytes == outcome->score.link_bytes &&
			  run.rounds == outcome->score.rounds &&
			  run.buffer_bytes == outcome->score.buffer_bytes,
	};
}

void broadcast_execute(
	struct broadcast_outcome *outcome, int64_t bytes_most, uint64_t seed, struct arena *arena)
{
	if (outcome->schedule)
		execute_schedule(outcome, bytes_most, seed, arena);
	else
		execute_published(outcome, bytes_most, seed, arena);
}
