#include "base/arena.h"
#include "base/number.h"
#include "cost/transfer/broadcast.h"
#include "search/transfer/broadcast_search.h"
#include "sim/transfer/schedule.h"
#include "tests/support/attacks.h"
#include "tests/support/broadcast_case.h"
#include "tests/support/draws.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "tests/test.h"

/*
 * An adversary of proofs about broadcasts and reductions, scatters and gathers: sends of a schedule change senders,
 * chunks and rounds, and schedules are played again from some round on, in random order.  No schedule that keeps the
 * rules below may have fewer rounds than are proven, or take fewer cycles than the bound.
 *
 * A schedule of a reduction or gather is attacked turned around in time and over links turned around.
 */
enum {
	QUESTIONS = 60,
	MUTANTS = 500,
	RANKS_ATTACKED = 8,
	CHUNKS_ATTACKED = 8,
	ROUNDS_ATTACKED = 64,
	SENDS_ATTACKED = 128,
	CHANGES_MOST = 3,
};

struct sends {
	int count, rounds;
	struct message at[SENDS_ATTACKED];
};

struct attack {
	struct random *random;
	struct arena *arena;
	const struct broadcast_outcome *outcome;
	bool pulls, splits;
	int ranks, root, chunks;
	bool linked[RANKS_ATTACKED][RANKS_ATTACKED];
	int64_t rounds, cycles; /* claimed: no schedule is below */
};

/* --- the rules */

struct state {
	bool has[RANKS_ATTACKED][CHUNKS_ATTACKED];
	int comes[RANKS_ATTACKED][CHUNKS_ATTACKED]; /* in this round */
	int on_link[RANKS_ATTACKED][RANKS_ATTACKED], out[RANKS_ATTACKED], in[RANKS_ATTACKED];
};

static void begin(const struct attack *attack, struct state *state)
{
	memset(state, 0, sizeof *state);
	for (int c = 0; c < attack->chunks; c++)
		state->has[attack->root][c] = true;
}

static void end_round(struct state *state)
{
	for (int r = 0; r < RANKS_ATTACKED; r++)
		for (int c = 0; c < CHUNKS_ATTACKED; c++)
			state->has[r][c] |= state->comes[r][c] > 0;
	memset(state->comes, 0, sizeof state->comes);
	memset(state->on_link, 0, sizeof state->on_link);
	memset(state->out, 0, sizeof state->out);
	memset(state->in, 0, sizeof state->in);
}

/* Sends a chunk in this round; false if a rule forbids it. */
static bool send(const struct attack *attack, struct state *state, int from, int to, int64_t chunk)
{
	const struct topology *topology = attack->outcome->topology;
	bool one = topology->ports == PORTS_ONE;
	if (!attack->linked[from][to] || state->on_link[from][to] >= topology->channels)
		return false;
	if (one && (state->out[from] || state->in[to]))
		return false;
	if (!state->has[from][chunk] || state->has[to][chunk] || state->comes[to][chunk])
		return false;
	state->on_link[from][to]++;
	state->out[from]++;
	state->in[to]++;
	state->comes[to][chunk] = 1;
	return true;
}

static bool is_over(const struct attack *attack, const struct state *state)
{
	for (int r = 0; r < attack->ranks; r++)
		for (int c = 0; c < attack->chunks; c++) {
			bool wanted = !attack->splits || (attack->root + c) % attack->ranks == r;
			if (wanted && !state->has[r][c])
				return false;
		}
	return true;
}

static bool is_valid(const struct attack *attack, const struct sends *sends)
{
	struct state state;
	begin(attack, &state);
	for (int round = 0; round < sends->rounds; round++) {
		for (int i = 0; i < sends->count; i++) {
			const struct message *m = &sends->at[i];
			if (m->round == round && !send(attack, &state, m->from, m->to, m->first))
				return false;
		}
		end_round(&state);
	}
	return is_over(attack, &state);
}

/* --- changes */

static int draw(const struct attack *attack, int bound)
{
	return (int)draw_below(attack->random, bound);
}

static void count_rounds(struct sends *sends)
{
	sends->rounds = 0;
	for (int i = 0; i < sends->count; i++)
		if (sends->at[i].round >= sends->rounds)
			sends->rounds = sends->at[i].round + 1;
}

/* A send gets another sender or round, or two sends exchange chunks or rounds. */
static void change_sends(const struct attack *attack, struct sends *sends)
{
	for (int n = 1 + draw(attack, CHANGES_MOST); n > 0; n--) {
		struct message *a = &sends->at[draw(attack, sends->count)];
		struct message *b = &sends->at[draw(attack, sends->count)];
		struct message kept = *a;
		switch (draw(attack, 4)) {
		case 0:
			a->from = draw(attack, attack->ranks);
			break;
		case 1:
			a->round = draw(attack, sends->rounds);
			break;
		case 2:
			a->round = b->round;
			b->round = kept.round;
			break;
		default:
			a->first = b->first;
			b->first = kept.first;
		}
	}
	count_rounds(sends);
}

static void note(struct sends *sends, int round, int from, int to, int64_t chunk)
{
	if (sends->count < SENDS_ATTACKED)
		sends->at[sends->count++] = (struct message){round, from, to, chunk, 1};
}

/* Sends at random what may be sent; a chunk of a scatter mostly to its own rank or one that needs it to pass it on. */
static void flood(const struct attack *attack, struct state *state, int round, struct sends *out)
{
	uint8_t ways[RANKS_ATTACKED * RANKS_ATTACKED];
	int count = attack->ranks * attack->ranks;
	for (int i = 0; i < count; i++)
		ways[i] = (uint8_t)i;
	draw_shuffle(attack->random, ways, count);
	for (int i = 0; i < count * attack->outcome->topology->channels; i++) {
		int from = ways[i % count] / attack->ranks, to = ways[i % count] % attack->ranks;
		int first = draw(attack, attack->chunks);
		for (int k = 0; k < attack->chunks; k++) {
			int chunk = (first + k) % attack->chunks;
			bool aimed =
				!attack->splits || (attack->root + chunk) % attack->ranks == to;
			if (!aimed && !draw_chance(attack->random, 3))
				continue;
			if (send(attack, state, from, to, chunk)) {
				note(out, round, from, to, chunk);
				break;
			}
		}
	}
}

/* Plays the sends again, the first rounds as they are, then each as soon as may be in an order that is nearly that of
 * rounds; with `adds`, others beside them. */
static void play_again(const struct attack *attack, struct sends *sends, bool adds)
{
	struct sends list = *sends;
	bool done[SENDS_ATTACKED] = {false};
	int frozen = draw(attack, sends->rounds + 1), noise = draw(attack, 6);
	int rank[SENDS_ATTACKED];
	struct state state;
	for (int i = 0; i < list.count; i++)
		rank[i] = list.at[i].round + draw(attack, noise + 1);
	begin(attack, &state);
	sends->count = 0;
	for (int round = 0; round < ROUNDS_ATTACKED && !is_over(attack, &state); round++) {
		for (int turn = 0; turn < ROUNDS_ATTACKED; turn++)
			for (int i = 0; i < list.count; i++) {
				const struct message *m = &list.at[i];
				bool now = round < frozen ? m->round == round : rank[i] == turn;
				if (done[i] || !now ||
					!send(attack, &state, m->from, m->to, m->first))
					continue;
				done[i] = true;
				note(sends, round, m->from, m->to, m->first);
			}
		if (adds && round >= frozen)
			flood(attack, &state, round, sends);
		end_round(&state);
	}
	count_rounds(sends);
}

/* Leaves out what the ranks of a valid scatter send to others than those on the way of a chunk. */
static void prune(const struct attack *attack, struct sends *sends)
{
	struct sends all = *sends;
	sends->count = 0;
	for (int c = 1; c < attack->chunks; c++)
		for (int to = (attack->root + c) % attack->ranks; to != attack->root;) {
			int i = 0;
			while (all.at[i].to != to || all.at[i].first != c)
				i++;
			sends->at[sends->count++] = all.at[i];
			to = all.at[i].from;
		}
	count_rounds(sends);
}

/* --- the attack */

static int64_t price(const struct attack *attack, const struct sends *sends)
{
	const struct broadcast *b = attack->outcome->broadcast;
	struct synthesis synthesis = {attack->outcome->topology, attack->chunks};
	struct messages messages = {0};
	for (int i = 0; i < sends->count; i++)
		*array_add(attack->arena, &messages) = sends->at[i];
	struct send_schedule schedule = *schedule_make(attack->arena, &synthesis, &messages);
	schedule.operation = attack->splits ? OPERATION_SCATTER : OPERATION_BROADCAST;
	const struct send_schedule *priced =
		attack->pulls ? schedule_reverse(attack->arena, &schedule) : &schedule;
	struct copy_ticks ticks = copying_ticks(&b->copying);
	struct schedule_cost cost;
	int64_t elements;
	broadcast_elements(broadcast_block(b), &elements);
	elements *= attack->splits ? attack->ranks : 1;
	assert_true(schedule_price(priced, &ticks, elements, 1, &cost));
	struct schedule_result run = schedule_run(priced, attack->outcome->topology, &ticks,
		elements, 1, false, 1, NULL, attack->arena);
	if (run.fault)
		fail_msg("a schedule that keeps the rules fails: %s", run.fault);
	return number_ceil_div(cost.ticks, ticks.per_cycle);
}

static bool attack_schedule(
	struct attack *attack, const struct sends *start, struct attack_tally *tally)
{
	struct sends at = *start;
	bool won = false;
	for (int n = 0; n < MUTANTS; n++) {
		struct arena_mark mark = arena_mark(attack->arena);
		struct sends mutant = draw_chance(attack->random, 3) ? *start : at;
		if (draw_chance(attack->random, 2))
			change_sends(attack, &mutant);
		if (draw_chance(attack->random, 2))
			play_again(attack, &mutant, draw_chance(attack->random, 2));
		tally->mutants++;
		if (mutant.count < SENDS_ATTACKED && is_valid(attack, &mutant)) {
			if (attack->splits)
				prune(attack, &mutant);
			bool faster = price(attack, &mutant) < attack->cycles;
			bool fewer = mutant.rounds < attack->rounds;
			tally->valid++;
			tally->equal += mutant.rounds == attack->rounds;
			tally->better += fewer || faster;
			won |= fewer || faster;
			if (mutant.rounds <= at.rounds || draw_chance(attack->random, 8))
				at = mutant;
		}
		arena_release(attack->arena, mark);
	}
	tally->attacked++;
	tally->won += won;
	return won;
}

static const char *draw_question(struct arena *arena, struct random *random)
{
	static const enum operation operations[] = {OPERATION_BROADCAST, OPERATION_BROADCAST,
		OPERATION_REDUCE, OPERATION_SCATTER, OPERATION_GATHER};
	static const char *const rates[] = {"8", "16", "58.6", "7/3", "1.5"};
	enum operation operation = operations[draw_below(random, 5)];
	int kind = (int)draw_below(random, TOPOLOGY_COUNT);
	int64_t ranks = 2 + draw_below(random, RANKS_ATTACKED - 1);
	int64_t segments = 1 + draw_below(random, 5), size = segments + draw_below(random, 60);
	bool splits = operation_splits(operation);
	if (operation_pulls(operation) && kind == TOPOLOGY_ROOT_ONLY)
		kind = TOPOLOGY_BIDIRECTIONAL_RING; /* no link leads to the root */
	const char *dims = "";
	if (kind == TOPOLOGY_MESH)
		dims = ranks % 2 ? arena_format(arena, ", dims: [1, %" PRId64 "]", ranks)
				 : arena_format(arena, ", dims: [2, %" PRId64 "]", ranks / 2);
	return arena_format(arena,
		"broadcast:\n  operation: %s\n  algorithm: %s\n  segments: %" PRId64 "\n"
		"  dtype: int8\n  shape: [%" PRId64 "]\n  ranks: %" PRId64 "\n  root: %" PRId64
		"\n  tile: {rows: 1, cols: 64}\n"
		"  copy_in: {latency: %d, bandwidth: %s}\n"
		"  copy_out: {latency: %d, bandwidth: %s}\n"
		"  links: {topology: %s, ports: %s, channels: %d, latency: %d, bandwidth: %s%s}\n",
		operation_names[operation], splits ? "shortest_tree" : "exact",
		splits ? 1 : segments, size, ranks, draw_below(random, ranks),
		(int)draw_below(random, 3) * 10, rates[draw_below(random, 5)],
		(int)draw_below(random, 3) * 10, rates[draw_below(random, 5)], topology_names[kind],
		draw_chance(random, 2) ? "one" : "all", 1 + (int)draw_below(random, 2),
		(int)draw_below(random, 3) * 10, rates[draw_below(random, 5)], dims);
}

/* The schedule of an answer as one that pushes; with `serial`, one send a round. */
static void take_schedule(struct attack *attack, bool serial, struct sends *out)
{
	const struct send_schedule *schedule = attack->outcome->schedule;
	*out = (struct sends){.count = (int)schedule->message_count};
	assert_true(schedule->message_count < SENDS_ATTACKED);
	for (int i = 0; i < out->count; i++) {
		struct message m = schedule->messages[attack->pulls ? out->count - 1 - i : i];
		assert_int_equal(m.count, 1);
		if (attack->pulls)
			m = (struct message){
				schedule->rounds - 1 - m.round, m.to, m.from, m.first, 1};
		if (serial)
			m.round = i;
		out->at[i] = m;
	}
	count_rounds(out);
}

static void open_attack(struct attack *attack)
{
	const struct topology *topology = attack->outcome->topology;
	const struct broadcast *b = attack->outcome->broadcast;
	attack->pulls = operation_pulls(b->operation);
	attack->splits = operation_splits(b->operation);
	attack->ranks = topology->ranks;
	attack->root = topology->root;
	attack->chunks = (int)(attack->splits ? b->ranks : b->segments);
	attack->rounds = attack->outcome->rounds_bound;
	attack->cycles = attack->outcome->bound;
	for (size_t l = 0; l < topology->link_count; l++) {
		struct link link = topology->links[l];
		if (attack->pulls)
			attack->linked[link.to][link.from] = true;
		else
			attack->linked[link.from][link.to] = true;
	}
}

/* Attacks the bounds of one question; a claim that is too high from one send a round on. */
static bool challenge(
	struct random *random, const struct attacks *attacks, struct attack_tally *tally)
{
	struct arena *arena = arena_open();
	const char *why, *text = draw_question(arena, random);
	const struct broadcast *broadcast = broadcast_of_text(arena, text, NULL, &why);
	struct broadcast_outcome outcome;
	struct sends start;
	bool won = false;
	if (!broadcast)
		fail_msg("%s\n%s", why, text);
	if (!broadcast_price(broadcast, NULL, arena, &outcome)) {
		struct attack attack = {.random = random, .arena = arena, .outcome = &outcome};
		open_attack(&attack);
		take_schedule(&attack, false, &start);
		assert_true(is_valid(&attack, &start));
		tally->drawn++;
		tally->proven += start.rounds == attack.rounds;
		if (attacks->worse) {
			attack.rounds = start.rounds + 1 + start.rounds / 4;
			take_schedule(&attack, true, &start);
		}
		won = attack_schedule(&attack, &start, tally);
		if (won && !attacks->worse)
			print_message("a bound of %" PRId64 " rounds or %" PRId64
				      " cycles is beaten\n%s\n",
				attack.rounds, attack.cycles, text);
	}
	arena_close(arena);
	return won;
}

static void attack_bounds(bool worse, uint64_t seed)
{
	attack_all(&(struct attacks){.what = worse ? "worse rounds" : "rounds and cycles",
		.by_default = QUESTIONS,
		.seed = seed,
		.worse = worse,
		.valid_most = 10,
		.challenge = challenge});
}

TEST(no_schedule_beats_a_bound)
{
	attack_bounds(false, 35);
}

/* A claim of a quarter more rounds, and one, than are needed is refuted from the slowest schedule on. */
TEST(worse_claims_are_beaten)
{
	attack_bounds(true, 36);
}
