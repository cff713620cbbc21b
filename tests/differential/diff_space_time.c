#include "base/arena.h"
#include "base/random.h"
#include "cost/recurrence/projection.h"
#include "sim/recurrence/systolic.h"
#include "tests/support/draws.h"
#include "tests/support/random_recurrence.h"
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

/*
 * Random domains, dependences, allocations and schedules.  The closed form says of each what a walk
 * over all points finds; a legal one, executed on its registers, gives the values of the sequential
 * order, bit by bit; an illegal one fails on the array too.
 */
enum { LOOPS = RANDOM_RECURRENCE_LOOPS, ROWS = RECURRENCE_LOOPS_MOST };

struct question {
	struct arena *arena;
	long draw;
	struct recurrence recurrence;
	struct projection projection;
};

#define agree(question, got, expected)                                                             \
	do {                                                                                       \
		long long a = (long long)(got), b = (long long)(expected);                         \
		if (a != b)                                                                        \
			fail_msg("draw %ld: %s is %lld, %s is %lld", (question)->draw, #got, a,    \
				#expected, b);                                                     \
	} while (0)

/* Findings of the walk for one point. */
struct seen {
	int64_t pe[ROWS], time;
};

struct walked {
	int64_t points, pes, pairs, first, last;
	bool causal;
	int64_t registers[RECURRENCE_STREAMS_MOST];
};

static int64_t dot(const int64_t *row, const int64_t *point, int loops)
{
	int64_t sum = 0;
	for (int i = 0; i < loops; i++)
		sum += row[i] * point[i];
	return sum;
}

/* Lexicographic time, each row after the one before by the range it has over the box. */
static int64_t time_of(const struct question *question, const int64_t *point)
{
	const struct recurrence *recurrence = &question->recurrence;
	int64_t time = 0;
	for (int r = 0; r < question->projection.time_count; r++) {
		const int64_t *row = question->projection.time[r];
		int64_t range = 1;
		for (int i = 0; i < recurrence->loop_count; i++)
			range += llabs(row[i]) * (recurrence->loops[i].extent - 1);
		time = time * range + dot(row, point, recurrence->loop_count);
	}
	return time;
}

static struct walked walk(const struct question *question)
{
	static struct seen seen[6 * 6 * 6 * 6];
	const struct recurrence *recurrence = &question->recurrence;
	struct walked walked = {.causal = true, .first = INT64_MAX, .last = INT64_MIN};
	int64_t point[LOOPS], producer[LOOPS];
	for (bool more = recurrence_first(recurrence, point); more;
		more = recurrence_next(recurrence, point)) {
		struct seen *now = &seen[walked.points];
		bool new_pe = true, new_pair = true;
		memset(now, 0, sizeof *now);
		for (int r = 0; r < question->projection.space_count; r++)
			now->pe[r] =
				dot(question->projection.space[r], point, recurrence->loop_count);
		now->time = time_of(question, point);
		for (int64_t k = 0; k < walked.points; k++) {
			bool same = memcmp(seen[k].pe, now->pe, sizeof now->pe) == 0;
			new_pe &= !same;
			new_pair &= !same || seen[k].time != now->time;
		}
		walked.pes += new_pe;
		walked.pairs += new_pair;
		walked.points++;
		walked.first = now->time < walked.first ? now->time : walked.first;
		walked.last = now->time > walked.last ? now->time : walked.last;
		for (int d = 0; d < recurrence->dependence_count; d++) {
			const struct dependence *dependence = &recurrence->dependences[d];
			int s = dependence->stream;
			for (int i = 0; i < recurrence->loop_count; i++)
				producer[i] = point[i] - dependence->vector[i];
			if (!recurrence_holds(recurrence, producer) ||
				!term_holds(dependence->when, point))
				continue;
			int64_t delay = now->time - time_of(question, producer);
			bool wire = question->projection.wires >> s & 1;
			walked.causal &= delay > 0 || (delay == 0 && wire);
			if (delay > walked.registers[s])
				walked.registers[s] = delay;
		}
	}
	return walked;
}

static double no_input(void *user, int stream, const int64_t *place)
{
	(void)user, (void)stream, (void)place;
	return 0;
}

/* Counts of each kind of question, so that none is missing unnoticed. */
struct kinds {
	int legal, late, clashing, circular, with_domain, wires;
};

static void compare_runs(const struct question *question, const struct projection_facts *facts,
	const struct walked *walked, struct kinds *kinds)
{
	const struct recurrence *recurrence = &question->recurrence;
	struct recurrence_inputs inputs = {NULL, no_input, NULL};
	struct recurrence_values expected = sequential_run(recurrence, &inputs, question->arena);
	struct systolic_result got =
		systolic_run(recurrence, &question->projection, &inputs, question->arena);
	int64_t box = recurrence_box(recurrence);
	if (facts->fault == PROJECTION_LATE || facts->fault == PROJECTION_CONFLICT) {
		/* Undeclared wires are wires all the same to the array. */
		bool wires = walked->pairs == walked->points;
		for (int d = 0; d < recurrence->dependence_count; d++)
			wires &= !facts->channels[d].is_live || facts->channels[d].delay >= 0;
		kinds->late += facts->fault == PROJECTION_LATE;
		kinds->clashing += walked->pairs != walked->points;
		if (!wires)
			agree(question, got.fault == SYSTOLIC_FINE, false);
		return;
	}
	agree(question, facts->fault, PROJECTION_FINE);
	if (expected.fault) { /* wires around in a circle: nothing can compute it */
		kinds->circular++;
		agree(question, got.fault, SYSTOLIC_CIRCLE);
		return;
	}
	agree(question, got.fault, SYSTOLIC_FINE);
	agree(question, got.points, facts->points);
	agree(question, got.pes, facts->pes);
	agree(question, got.cycles, facts->cycles);
	for (int s = 0; s < recurrence->stream_count; s++) {
		int64_t point[LOOPS];
		agree(question, got.registers[s], facts->registers[s]);
		for (bool more = recurrence_first(recurrence, point); more;
			more = recurrence_next(recurrence, point)) {
			int64_t at = s * box + recurrence_index(recurrence, point);
			agree(question, got.values[at] == expected.values[at], true);
		}
	}
	kinds->legal++;
	kinds->with_domain += recurrence->domain != NULL;
	kinds->wires += got.wire_reads > 0;
}

TEST(closed_form_walk_and_array_agree)
{
	long count = draws(400);
	uint64_t seed = draws_seed(71);
	struct kinds kinds = {0};
	for (long n = 0; n < count; n++) {
		struct random random = random_open(seed, (uint64_t)n);
		struct question question = {.arena = arena_open(), .draw = n};
		random_recurrence(question.arena, &random, &question.recurrence);
		random_projection(&random, &question.recurrence, &question.projection);
		struct walked walked = walk(&question);
		struct projection_facts facts =
			projection_facts(&question.recurrence, &question.projection, NULL);
		agree(&question, facts.points, walked.points);
		agree(&question, facts.pes, walked.pes);
		agree(&question, facts.causal, walked.causal);
		agree(&question, facts.conflicts, walked.points - walked.pairs);
		if (walked.points)
			agree(&question, facts.cycles, walked.last - walked.first + 1);
		for (int s = 0; s < question.recurrence.stream_count; s++)
			agree(&question, facts.registers[s], walked.registers[s]);
		compare_runs(&question, &facts, &walked, &kinds);
		arena_close(question.arena);
	}
	printf("legal %d (with a condition %d, with wires %d), late %d, clashing %d, circular %d\n",
		kinds.legal, kinds.with_domain, kinds.wires, kinds.late, kinds.clashing,
		kinds.circular);
	if (!draws_are_many(count))
		return;
	assert_true(kinds.legal > count / 50);
	assert_true(kinds.with_domain && kinds.wires && kinds.late && kinds.clashing);
}
