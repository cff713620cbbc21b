#include "search/transfer/broadcast_search.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/number.h"
#include "base/text.h"
#include "lower/transfer/broadcast.h"
#include "search/drive/solver.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

/*
 * One way to carry out a broadcast, priced and executed.  As published, the root stores every
 * chunk to every rank; with an algorithm ranks send segments on, in rounds.  An algorithm of the
 * stage `broadcast` is one for reductions, too, over links and time turned around; one of the stage
 * `scatter` also one for gathers.
 */
enum { BROADCAST_CHUNKS_MOST = 1 << 20 };

enum { SOLVER_TICKS = 1 << 22, INSTRUCTIONS_MOST = 1 << 26 };

static int64_t broadcast_bytes(const struct broadcast *broadcast, const struct chunk *chunk)
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
		int64_t bytes = broadcast_bytes(broadcast, &chunks[i]);
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

static int64_t bytes_time(int64_t bytes, struct ratio rate)
{
	int64_t ticks = 0;
	if (rate.num && !ratio_time(bytes, rate, &ticks))
		return INT64_MAX / 4;
	return ticks;
}

/* Data of the lower bound of transfers over some links. */
struct transfer_bound {
	struct copy_ticks ticks;
	struct ratio rate;
	int64_t latency, most;
};

/* Bytes that go by a number of ways. */
static void pass_through(struct transfer_bound *bound, int64_t ways, int64_t bytes)
{
	if (ways && bytes)
		bound->most =
			number_max(bound->most, bound->latency + bound->ticks.link_latency +
							bytes_time(bytes, bound->rate) / ways);
}

/*
 * Holds for every schedule: the last byte goes over as many links as lie between the root and the farthest rank;
 * the bytes that a rank sends or receives go over its links or its port, and those of the root over its own; with
 * one port the ranks that have a byte at most double with each message.  The root stores its own part; what is
 * combined, ranks combine at best all at once.
 */
static int64_t broadcast_bound(const struct broadcast *b, const struct topology *topology,
	int64_t block, struct arena *arena)
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
	bound.most = remote ? ticks->in_latency + bytes_time(block, ticks->in_rate)
			    : ticks->out_latency + bytes_time(block, ticks->out_rate);
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
			bound.most, bytes_time(block, ticks->combine_rate) * others / b->ranks);
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
			sizes[i] = broadcast_bytes(b, &chunks[out->order[i]]);
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

/* Returns the bytes that a schedule moves: each chunk of a gather or scatter is the block of a rank. */
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
		return arena_format(arena, "unknown algorithm '%s'", b->algorithm);
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
			return arena_format(arena, "no path leads from rank %d to rank %d",
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
	out->bound = broadcast_bound(broadcast, out->topology, bytes, arena);
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

/* Something to sort: by key, then by number. */
struct sort_entry {
	int64_t key, number;
};

static int by_key(const void *left, const void *right)
{
	const struct sort_entry *a = left, *b = right;
	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

const int64_t *order_johnson(const struct chunk_job *jobs, int64_t count, struct arena *arena)
{
	struct sort_entry *entries = arena_array(arena, struct sort_entry, count + 1);
	int64_t *order = arena_array(arena, int64_t, count + 1), first = 0;
	for (int64_t i = 0; i < count; i++)
		if (jobs[i].load < jobs[i].store)
			entries[first++] = (struct sort_entry){jobs[i].load, i};
	int64_t next = first;
	for (int64_t i = 0; i < count; i++)
		if (jobs[i].load >= jobs[i].store)
			entries[next++] = (struct sort_entry){-jobs[i].store, i};
	qsort(entries, (size_t)first, sizeof *entries, by_key);
	qsort(entries + first, (size_t)(count - first), sizeof *entries, by_key);
	for (int64_t i = 0; i < count; i++)
		order[i] = entries[i].number;
	return order;
}

/*
 * Jobs and one of no load and no store, where the tour begins and ends.  Places are by growing
 * store: the one of place k is followed by that of place after[k].  At first the k-th store is
 * followed by the k-th load, which is cheapest but may be several cycles; those are joined
 * by exchanging what follows places k and k + 1, at the least cost first.
 */
struct tour {
	int64_t count; /* with the one of nothing */
	const struct sort_entry *stores,
		*loads; /* sorted; the number of the one of nothing is -1 */
	int64_t *after, *cycle;
};

static int64_t find_cycle(struct tour *tour, int64_t place)
{
	while (tour->cycle[place] != place)
		place = tour->cycle[place] = tour->cycle[tour->cycle[place]];
	return place;
}

static bool tour_join(struct tour *tour, int64_t a, int64_t b)
{
	a = find_cycle(tour, a);
	b = find_cycle(tour, b);
	tour->cycle[a] = b;
	return a != b;
}

static void tour_exchange(struct tour *tour, int64_t place)
{
	int64_t kept = tour->after[place];
	tour->after[place] = tour->after[place + 1];
	tour->after[place + 1] = kept;
}

/* Lists the costs of an exchange at each place, sorted. */
static struct sort_entry *list_exchanges(const struct tour *tour, struct arena *arena)
{
	const struct sort_entry *b = tour->stores, *a = tour->loads;
	struct sort_entry *exchanges = arena_array(arena, struct sort_entry, tour->count);
	for (int64_t k = 0; k + 1 < tour->count; k++) {
		int64_t low = number_max(b[k].key, a[k].key);
		int64_t high = number_min(b[k + 1].key, a[k + 1].key);
		exchanges[k] = (struct sort_entry){number_max(0, high - low), k};
	}
	qsort(exchanges, (size_t)(tour->count - 1), sizeof *exchanges, by_key);
	return exchanges;
}

/* Those of the places chosen whose load is no less than their store from the last to the first,
 * then the others from the first to the last. */
static void exchange_all(struct tour *tour, const bool *chosen)
{
	for (int64_t k = tour->count - 2; k >= 0; k--)
		if (chosen[k] && tour->stores[k].key <= tour->loads[k].key)
			tour_exchange(tour, k);
	for (int64_t k = 0; k + 1 < tour->count; k++)
		if (chosen[k] && tour->stores[k].key > tour->loads[k].key)
			tour_exchange(tour, k);
}

static struct sort_entry *chunk_job_sorted(
	const struct chunk_job *jobs, int64_t count, bool stores, struct arena *arena)
{
	struct sort_entry *entries = arena_array(arena, struct sort_entry, count + 1);
	for (int64_t i = 0; i < count; i++)
		entries[i] = (struct sort_entry){stores ? jobs[i].store : jobs[i].load, i};
	entries[count] = (struct sort_entry){0, -1};
	qsort(entries, (size_t)count + 1, sizeof *entries, by_key);
	return entries;
}

const int64_t *order_gilmore_gomory(
	const struct chunk_job *jobs, int64_t count, struct arena *arena)
{
	struct tour tour = {.count = count + 1,
		.stores = chunk_job_sorted(jobs, count, true, arena),
		.loads = chunk_job_sorted(jobs, count, false, arena),
		.after = arena_array(arena, int64_t, count + 1),
		.cycle = arena_array(arena, int64_t, count + 1)};
	int64_t *place = arena_array(arena, int64_t, count + 1); /* by number + 1 */
	bool *chosen = arena_array(arena, bool, count + 1);
	int64_t *order = arena_array(arena, int64_t, count + 1);
	for (int64_t k = 0; k <= count; k++) {
		place[tour.stores[k].number + 1] = k;
		tour.cycle[k] = k;
	}
	for (int64_t k = 0; k <= count; k++) {
		tour.after[k] = place[tour.loads[k].number + 1];
		tour_join(&tour, k, tour.after[k]);
	}
	const struct sort_entry *exchanges = list_exchanges(&tour, arena);
	for (int64_t i = 0; i < count; i++) {
		int64_t k = exchanges[i].number;
		chosen[k] = tour_join(&tour, k, k + 1);
	}
	exchange_all(&tour, chosen);
	int64_t at = tour.after[place[0]];
	for (int64_t i = 0; i < count; i++, at = tour.after[at])
		order[i] = tour.stores[at].number;
	return order;
}

/* The least rounds in which all chunks can come to a rank: a link brings none before one can be
 * where it begins. */
static int64_t synthesis_arrival(const struct synthesis *synthesis, const int *distances, int rank)
{
	const struct topology *topology = synthesis->topology;
	int ways = topology_ways(topology, rank, true);
	int64_t rounds = distances[rank] - 1 + number_ceil_div(synthesis->chunks, ways),
		missing = 1;
	while (topology->ports == PORTS_ALL && missing > 0) {
		missing = synthesis->chunks;
		for (int l = topology->back_first[rank]; l < topology->back_first[rank + 1]; l++)
			missing -= topology->channels *
				   number_max(0, rounds - distances[topology->back[l].to]);
		rounds += missing > 0 ? number_ceil_div(missing, ways) : 0;
	}
	return rounds;
}

/* The ranks that a relay leads to, while they are found: all but the relay, part by part. */
struct relay {
	const struct topology *topology;
	int rank;
	int *marks; /* by rank: its part; 0: none yet */
	int *queue; /* ranks that are marked */
};

static void mark_next(struct relay *relay, const struct link *links, const int *first, int at,
	int mark, int *count)
{
	for (int l = first[at]; l < first[at + 1]; l++) {
		int to = links[l].to;
		if (to == relay->rank || relay->marks[to])
			continue;
		relay->marks[to] = mark;
		relay->queue[(*count)++] = to;
	}
}

/* Marks a rank and all that links lead to from there, either way if they may be taken back. */
static void mark_from(struct relay *relay, int from, bool backwards, int mark)
{
	const struct topology *topology = relay->topology;
	int count = 1;
	if (from == relay->rank)
		return;
	relay->marks[from] = mark;
	relay->queue[0] = from;
	for (int i = 0; i < count; i++) {
		int at = relay->queue[i];
		mark_next(relay, topology->links, topology->first, at, mark, &count);
		if (backwards)
			mark_next(relay, topology->back, topology->back_first, at, mark, &count);
	}
}

/* Rounds after a chunk has come into a part in which all of it gets to know: by the way to its
 * farthest rank, and by doubling, with the relay too where it has several links into the part. */
static int relay_is_inside(const struct relay *relay, const int *distances, int mark)
{
	const struct topology *topology = relay->topology;
	int far = 0, size = 0, links = 0, doublings = 0;
	for (int r = 0; r < topology->ranks; r++) {
		if (relay->marks[r] != mark)
			continue;
		far = distances[r] > far ? distances[r] : far;
		links += topology_link(topology, relay->rank, r) >= 0;
		size++;
	}
	while ((1 << doublings) < size + (links > 1))
		doublings++;
	doublings -= links > 1;
	return far - 1 > doublings ? far - 1 : doublings;
}

/* Rounds that a rank with one port needs at least to serve the parts that only it leads to. */
static int64_t relay_rounds(
	const struct synthesis *synthesis, int rank, const int *from_root, struct arena *arena)
{
	const struct topology *topology = synthesis->topology;
	struct arena_mark before = arena_mark(arena);
	struct relay relay = {topology, rank, arena_array(arena, int, topology->ranks),
		arena_array(arena, int, topology->ranks)};
	int *distances = arena_array(arena, int, topology->ranks), parts = 0, least = 0;
	mark_from(&relay, topology->root, false, 1);
	topology_distances(topology, rank, distances);
	for (int r = 0; r < topology->ranks; r++) {
		if (relay.marks[r] || r == rank)
			continue;
		int mark = 2 + parts++;
		mark_from(&relay, r, true, mark);
		int rest = relay_is_inside(&relay, distances, mark);
		if (parts == 1 || rest < least)
			least = rest;
	}
	arena_release(arena, before);
	return parts ? from_root[rank] + parts * synthesis->chunks + least : 0;
}

/* The ranks that a shortest way to another one leads through: without any other rank all the rest
 * is still reached, so that only these can be relays. */
static bool *find_between(
	const struct topology *topology, const int *distances, struct arena *arena)
{
	bool *between = arena_array(arena, bool, topology->ranks);
	for (int r = 0; r < topology->ranks; r++) {
		int before = topology_before(topology, distances, r);
		if (before >= 0)
			between[before] = true;
	}
	between[topology->root] = true;
	return between;
}

int64_t rounds_bound(const struct synthesis *synthesis, struct arena *arena)
{
	const struct topology *topology = synthesis->topology;
	int *distances = arena_array(arena, int, topology->ranks);
	int64_t chunks = synthesis->chunks, alone = 0, bound = 0;
	if (topology->ranks == 1 || chunks == 0)
		return 0;
	topology_distances(topology, topology->root, distances);
	for (int r = 0; r < topology->ranks; r++) {
		if (r == topology->root)
			continue;
		alone = number_max(alone, distances[r]);
		bound = number_max(bound, synthesis_arrival(synthesis, distances, r));
	}
	for (int q = 0; topology->ports == PORTS_ONE && (1 << q) < topology->ranks; q++)
		alone = number_max(alone, q + 1);
	int leaving = topology_ways(topology, topology->root, false);
	bound = number_max(bound, number_ceil_div(chunks, leaving) - 1 + alone);
	const bool *between = find_between(topology, distances, arena);
	for (int r = 0; topology->ports == PORTS_ONE && r < topology->ranks; r++)
		if (between[r])
			bound = number_max(bound, relay_rounds(synthesis, r, distances, arena));
	return bound;
}

int64_t scatter_bound(const struct synthesis *synthesis, struct arena *arena)
{
	const struct synthesis one = {synthesis->topology, 1};
	return rounds_bound(&one, arena);
}

/* Rounds of messages of several chunks are other rounds. */
static bool one_by_one(const struct send_schedule *schedule)
{
	for (size_t i = 0; i < schedule->message_count; i++)
		if (schedule->messages[i].count != 1)
			return false;
	return true;
}

const struct send_schedule *schedule_best(struct run *run, const struct synthesis *synthesis)
{
	const struct problem problem = {.stage = STAGE_BROADCAST, .synthesis = synthesis};
	const struct send_schedule *best = NULL;
	const struct portfolio usual = portfolio_for(STAGE_BROADCAST, FOR_SCHEDULES);
	for (size_t s = 0; s < usual.count; s++) {
		struct answer answer = solve(usual.at[s], &problem, 1 << 20, 1, run_arena(run));
		if (!run_spend(run, answer.ticks))
			break;
		for (size_t i = 0; i < answer.candidate_count; i++) {
			const struct send_schedule *schedule = answer.candidates[i].schedule;
			if (one_by_one(schedule) && (!best || schedule->rounds < best->rounds))
				best = schedule;
		}
	}
	return best;
}

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

static uint64_t broadcast_outcome_steps(const struct broadcast_outcome *outcome)
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

/* Copies the parts of an outcome that outlive its arena. */
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
static bool broadcast_lay(
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
static int64_t broadcast_search_halve(int64_t count, int64_t unit)
{
	return count <= unit ? 0 : number_align_up(number_ceil_div(count, 2), unit);
}

static void broadcast_ways_add_tiles(struct broadcast_ways *ways)
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
	for (int64_t cols = number_align_up(shape[4], unit); cols;
		cols = broadcast_search_halve(cols, unit))
		for (int64_t rows = most; rows; rows = broadcast_search_halve(rows, 1)) {
			/* after all rows together those of one slice */
			if (rows < most && rows > shape[3] &&
				broadcast_search_halve(rows, 1) < shape[3])
				rows = shape[3];
			for (int64_t k = 1; k <= TILES_MOST; k++)
				if (broadcast_lay(&variant, offsets, rows, cols, k))
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
	if (!search->solvers.count) {
		add_way(ways, search->broadcast);
		broadcast_ways_add_tiles(ways);
	}
	if (broadcast_stage(search->broadcast, &stage)) {
		const struct portfolio asked = search->solvers.count
						       ? search->solvers
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
	if (!copying_takes_time(&outcome->broadcast->copying))
		return NULL;
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
	if (wishes->simulate_budget && broadcast_outcome_steps(&outcome) > wishes->simulate_budget)
		return NULL;
	struct stopper stopper = {slot->drive, drive_stops};
	bool thorough = last && !slot->drive->hurried;
	broadcast_execute(&outcome, thorough ? EXECUTION_BYTES_OF_MANY : 0, wishes->seed, NULL,
		&stopper, slot->scratch);
	found->execution = outcome.execution;
	if (found->execution.finished && !found->execution.agrees && !found->execution.fault)
		found->execution.fault = "the counts differ";
	return NULL;
}

static const struct drive_kind broadcasts = {
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
