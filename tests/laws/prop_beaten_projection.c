#include "base/arena.h"
#include "base/number.h"
#include "search/recurrence/project_search.h"
#include "tests/support/attacks.h"
#include "tests/support/draws.h"
#include "tests/support/random_recurrence.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"

/*
 * An adversary of proven projections: entries of allocations and schedules change by one, rows are added to each
 * other, change places or signs.  A projection inside the ranges that were searched, legal for the checker and for a walk over all
 * points, must not be better than all points of a proven frontier, and none may be legal where none is proven.
 */
enum {
	QUESTIONS = 60,
	MUTANTS = 300,
	CHANGES_MOST = 3,
	POINTS_MOST = 6 * 6 * 6,
	PAIRS_MOST = 100000
};

static const enum objective objectives[] = {
	OBJECTIVE_LATENCY, OBJECTIVE_PES, OBJECTIVE_REGISTERS, OBJECTIVE_WIRE, OBJECTIVE_PORTS};
enum { OBJECTIVES = sizeof objectives / sizeof *objectives };

struct attack {
	struct random *random;
	const struct project_search *search;
	const struct frontier *claimed;
	double slack; /* values of the claim are raised by this part, for a claim that is too high */
};

/* --- what a projection is worth, by a walk over all points */

static int64_t dot(const int64_t *row, const int64_t *point, int loops)
{
	int64_t sum = 0;
	for (int i = 0; i < loops; i++)
		sum += row[i] * point[i];
	return sum;
}

static int compare_keys(const void *left, const void *right)
{
	const int64_t *a = left, *b = right;
	return (*a > *b) - (*a < *b);
}

static int64_t count_different(int64_t *keys, int64_t count)
{
	int64_t different = 0;
	qsort(keys, (size_t)count, sizeof *keys, compare_keys);
	for (int64_t i = 0; i < count; i++)
		different += !i || keys[i] != keys[i - 1];
	return different;
}

/* The largest delay of each stream; false if a value is late, or used in its step without a wire. */
static bool walk_delays(const struct recurrence *recurrence, const struct projection *projection,
	const int64_t *point, int64_t *depth)
{
	int64_t producer[RECURRENCE_LOOPS_MOST];
	for (int d = 0; d < recurrence->dependence_count; d++) {
		const struct dependence *dependence = &recurrence->dependences[d];
		int64_t delay =
			dot(projection->time[0], dependence->vector, recurrence->loop_count);
		if (!recurrence_producer(recurrence, dependence, point, producer))
			continue;
		if (delay < 0 || (!delay && !(projection->wires >> dependence->stream & 1)))
			return false;
		if (delay > depth[dependence->stream])
			depth[dependence->stream] = delay;
	}
	return true;
}

/* Keys below 1,000 an entry: rows of at most four small entries over extents of at most six. */
static bool walk(const struct recurrence *recurrence, const struct projection *projection,
	struct score *score)
{
	static int64_t pes[POINTS_MOST], pairs[POINTS_MOST];
	int64_t point[RECURRENCE_LOOPS_MOST], depth[RECURRENCE_STREAMS_MOST] = {0}, count = 0;
	int64_t first = INT64_MAX, last = INT64_MIN;
	for (bool more = recurrence_first(recurrence, point); more;
		more = recurrence_next(recurrence, point)) {
		int64_t key = 0, time = dot(projection->time[0], point, recurrence->loop_count);
		for (int r = 0; r < projection->space_count; r++)
			key = key * 1000 + 500 +
			      dot(projection->space[r], point, recurrence->loop_count);
		pes[count] = key;
		pairs[count++] = key * 1000 + 500 + time;
		first = time < first ? time : first;
		last = time > last ? time : last;
		if (!walk_delays(recurrence, projection, point, depth))
			return false;
	}
	score->cycles = count ? last - first + 1 : 0;
	score->pes = count_different(pes, count);
	score->registers = 0;
	for (int s = 0; s < recurrence->stream_count; s++)
		score->registers += depth[s] * score->pes;
	return count_different(pairs, count) == count;
}

/* True if the value that some point of the domain needs is one of another point. */
static bool is_used(const struct recurrence *recurrence, const struct dependence *dependence)
{
	int64_t point[RECURRENCE_LOOPS_MOST], producer[RECURRENCE_LOOPS_MOST];
	bool more = recurrence_first(recurrence, point);
	while (more && !recurrence_producer(recurrence, dependence, point, producer))
		more = recurrence_next(recurrence, point);
	return more;
}

/* Wires of the dependences that the schedule delays by nothing; false if those beside the declared ones are too many. */
static bool add_wires(const struct space_time *spec, struct projection *projection)
{
	const struct recurrence *recurrence = &spec->recurrence;
	int count = 0;
	projection->wires = spec->projection.wires;
	for (int d = 0; d < recurrence->dependence_count; d++) {
		const struct dependence *dependence = &recurrence->dependences[d];
		if (dot(projection->time[0], dependence->vector, recurrence->loop_count) ||
			!is_used(recurrence, dependence))
			continue;
		count += !(spec->projection.wires >> dependence->stream & 1);
		projection->wires |= UINT32_C(1) << dependence->stream;
	}
	return count <= spec->wires_most;
}

static bool is_inside(const struct space_time *spec, const struct projection *projection)
{
	for (int i = 0; i < spec->recurrence.loop_count; i++) {
		if (projection->time[0][i] < spec->time_range.least ||
			projection->time[0][i] > spec->time_range.most)
			return false;
		for (int r = 0; r < projection->space_count; r++)
			if (projection->space[r][i] < spec->space_range.least ||
				projection->space[r][i] > spec->space_range.most)
				return false;
	}
	return true;
}

static bool price(const struct attack *attack, struct projection *projection, struct score *score)
{
	const struct space_time *spec = attack->search->spec;
	const struct recurrence *recurrence = &spec->recurrence;
	struct score walked = {0};
	if (!is_inside(spec, projection) || !add_wires(spec, projection) ||
		!walk(recurrence, projection, &walked))
		return false;
	struct projection_facts facts = projection_facts(recurrence, projection, spec);
	int64_t ports = projection_ports(recurrence, projection, &facts, NULL);
	*score = project_score(recurrence, projection, &facts, ports);
	if (facts.fault != PROJECTION_FINE)
		return false;
	assert_int_equal(score->cycles, walked.cycles);
	assert_int_equal(score->pes, walked.pes);
	assert_int_equal(score->registers, walked.registers);
	return true;
}

/* --- changes */

static int draw(const struct attack *attack, int bound)
{
	return (int)draw_below(attack->random, bound);
}

static void mutate(const struct attack *attack, struct projection *projection)
{
	int loops = attack->search->spec->recurrence.loop_count;
	int rows = projection->space_count;
	for (int n = 1 + draw(attack, CHANGES_MOST); n > 0; n--) {
		int64_t *row = draw(attack, rows + 1) && rows
				       ? projection->space[draw(attack, rows)]
				       : projection->time[0];
		int64_t *other = rows ? projection->space[draw(attack, rows)] : row;
		int i = draw(attack, loops), k = draw(attack, loops), way = draw(attack, 8);
		int64_t kept = row[i], sign = draw_chance(attack->random, 2) ? 1 : -1;
		if (way < 5) {
			row[i] += sign;
		} else if (way == 5) {
			row[i] = row[k];
			row[k] = kept;
		} else {
			for (int l = 0; l < loops; l++)
				row[l] = row == other ? -row[l] : row[l] + sign * other[l];
		}
	}
}

/* --- the attack */

/* True if no point of the frontier is as good in all objectives. */
static bool beats(const struct attack *attack, const struct score *score, bool *equals)
{
	const struct objectives *of = &attack->search->wishes.objectives;
	bool beaten = true;
	*equals = false;
	for (size_t p = 0; p < attack->claimed->count; p++) {
		bool as_good = true, equal = true;
		for (size_t o = 0; o < of->count; o++) {
			double claim =
				objective_value(of->at[o], &attack->claimed->points[p].score);
			double value = objective_value(of->at[o], score);
			as_good &= claim * (1 + attack->slack) + attack->slack <= value;
			equal &= claim == value;
		}
		beaten &= !as_good;
		*equals |= equal;
	}
	return beaten;
}

static void show(const struct attack *attack, const struct projection *projection,
	const struct score *score, struct arena *arena)
{
	print_message("beaten by %s: %" PRId64 " cycles, %" PRId64 " PEs, %" PRId64
		      " registers, wire %" PRId64 ", %" PRId64 " ports\n",
		project_text(arena, &attack->search->spec->recurrence, projection), score->cycles,
		score->pes, score->registers, score->wire, score->ports);
}

static bool attack_projection(const struct attack *attack, const struct projection *start,
	struct arena *arena, struct attack_tally *tally)
{
	struct projection at = *start;
	bool won = false;
	for (int n = 0; n < MUTANTS; n++) {
		struct projection mutant = draw_chance(attack->random, 3) ? *start : at;
		struct score score;
		bool equals;
		mutate(attack, &mutant);
		tally->mutants++;
		if (!price(attack, &mutant, &score)) {
			/* sometimes through what is not legal */
			if (is_inside(attack->search->spec, &mutant) &&
				draw_chance(attack->random, 2))
				at = mutant;
			continue;
		}
		bool found = beats(attack, &score, &equals);
		tally->valid++;
		tally->equal += equals;
		tally->better += found;
		if (found && !won && !attack->slack)
			show(attack, &mutant, &score, arena);
		won |= found;
		at = mutant;
	}
	tally->attacked++;
	tally->won += won;
	return won;
}

static struct projection_range draw_range(struct random *random, int64_t least, int64_t most)
{
	int64_t from = least + draw_below(random, 2);
	return (struct projection_range){from, number_max(from, most - draw_below(random, 2))};
}

static void draw_spec(struct arena *arena, struct random *random, struct space_time *spec)
{
	*spec = (struct space_time){0};
	struct recurrence *recurrence = &spec->recurrence;
	do
		random_recurrence(arena, random, recurrence);
	while (recurrence->loop_count < 2 || recurrence_box(recurrence) > POINTS_MOST);
	spec->space_rows = 1 + (int)draw_below(random, recurrence->loop_count > 2 ? 2 : 1);
	spec->space_range = draw_range(random, -1, 1);
	spec->time_range = draw_range(random, recurrence->loop_count > 3 ? -1 : -2, 3);
	spec->wires_most = draw_chance(random, 2) ? 0 : 1 + (int)draw_below(random, 2);
	if (draw_chance(random, 3))
		spec->projection.wires = (uint32_t)random_below(random, 8);
	if (draw_chance(random, 4))
		spec->reach = 1;
	if (draw_chance(random, 4))
		spec->stays = (uint32_t)random_below(random, 8);
	for (int r = 0; r < spec->space_rows; r++) {
		spec->array[r] = draw_chance(random, 4) ? 2 + draw_below(random, 8) : 0;
		spec->projection.lanes[r] = draw_chance(random, 6) ? 2 + draw_below(random, 8) : 0;
		spec->no_links[r] = draw_chance(random, 6) ? (uint32_t)random_below(random, 8) : 0;
		spec->no_wires[r] = draw_chance(random, 6) ? (uint32_t)random_below(random, 8) : 0;
	}
	spec->projection.shuffles = (uint32_t)random_below(random, 8);
}

static void draw_objectives(struct random *random, struct objectives *out)
{
	int first = (int)draw_below(random, OBJECTIVES);
	int second = (int)draw_below(random, OBJECTIVES);
	*out = (struct objectives){1, {objectives[first]}};
	if (second != first)
		out->at[out->count++] = objectives[second];
}

/* Attacks the claim of one search; one that is too high by a quarter. */
static bool challenge(
	struct random *random, const struct attacks *attacks, struct attack_tally *tally)
{
	struct arena *arena = arena_open();
	struct space_time spec;
	draw_spec(arena, random, &spec);
	struct project_search search = {.spec = &spec,
		.solver = solver_find(STAGE_PROJECT, "exhaustive"),
		.wishes.seed = 1,
		.wishes.budget = PAIRS_MOST,
		.wishes.simulate = SIMULATE_NONE};
	draw_objectives(random, &search.wishes.objectives);
	struct explored found = project_explore(&search, arena);
	struct attack attack = {random, &search, &found.frontier, attacks->worse ? 0.25 : 0};
	struct projection start = spec.projection;
	bool won = false;
	start.space_count = spec.space_rows;
	start.time_count = 1;
	tally->drawn++;
	if (found.complete && (found.frontier.count || !attacks->worse)) {
		if (found.frontier.count) {
			size_t p = random_below(random, found.frontier.count);
			const struct project_found *point = found.frontier.points[p].payload;
			start = point->projection;
		}
		tally->proven += found.frontier.count > 0;
		won = attack_projection(&attack, &start, arena, tally);
		if (won && !attacks->worse)
			print_message("objectives %s and %s\n",
				objective_names[search.wishes.objectives.at[0]],
				objective_names[search.wishes.objectives
							.at[search.wishes.objectives.count - 1]]);
	}
	arena_close(arena);
	return won;
}

static void attack_searches(bool worse, uint64_t seed)
{
	attack_all(&(struct attacks){.what = worse ? "worse frontiers" : "frontiers",
		.by_default = QUESTIONS,
		.seed = seed,
		.worse = worse,
		.valid_most = 50,
		.challenge = challenge});
}

TEST(no_projection_beats_a_frontier)
{
	attack_searches(false, 35);
}

/* A frontier whose values are a quarter too high. */
TEST(worse_claims_are_beaten)
{
	attack_searches(true, 36);
}
