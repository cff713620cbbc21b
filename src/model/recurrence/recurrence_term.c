#include "model/recurrence/recurrence_term.h"

#include "base/arena.h"

const struct term *recurrence_read(
	struct arena *arena, const struct recurrence *recurrence, int stream, const int64_t *vector)
{
	struct loop_sum *place = arena_array(arena, struct loop_sum, recurrence->loop_count);
	for (int i = 0; i < recurrence->loop_count; i++) {
		place[i].at[i] = 1;
		place[i].constant = -vector[i];
	}
	struct term *term = arena_new(arena, struct term);
	*term = (struct term){.kind = TERM_STREAM,
		.index = stream,
		.place_count = recurrence->loop_count,
		.place = place};
	return term;
}

/* A condition, asked at the point that lies `vector` before. */
static const struct term *shifted(
	struct arena *arena, const struct term *term, const int64_t *vector)
{
	if (term->kind == TERM_LOOP)
		return term_make(arena, TERM_SUBTRACT, term,
			term_number(arena, (double)vector[term->index]), NULL);
	struct term *copy = arena_new(arena, struct term);
	*copy = *term;
	for (int i = 0; i < 3 && term->of[i]; i++)
		copy->of[i] = shifted(arena, term->of[i], vector);
	return copy;
}

const struct term *recurrence_inside(
	struct arena *arena, const struct recurrence *recurrence, const int64_t *vector)
{
	const struct term *all = NULL;
	for (int i = 0; i < recurrence->loop_count; i++) {
		const struct recurrence_loop *range = &recurrence->loops[i];
		double first = (double)(range->least + vector[i]);
		double end = (double)(range->least + range->extent + vector[i]);
		if (vector[i] > 0)
			all = term_and(arena, all,
				term_make(arena, TERM_AT_MOST, term_number(arena, first),
					term_loop(arena, i), NULL));
		if (vector[i] < 0)
			all = term_and(arena, all,
				term_make(arena, TERM_LESS, term_loop(arena, i),
					term_number(arena, end), NULL));
	}
	return recurrence->domain ? term_and(arena, all, shifted(arena, recurrence->domain, vector))
				  : all;
}

void recurrence_invent(struct arena *arena, struct recurrence *recurrence)
{
	for (int s = 0; s < recurrence->stream_count; s++) {
		const struct term *sum = term_number(arena, 1 + s);
		for (int i = 0; i < recurrence->loop_count; i++)
			sum = term_make(arena, TERM_ADD, sum,
				term_make(arena, TERM_MULTIPLY, term_number(arena, 2 * i + 3),
					term_loop(arena, i), NULL),
				NULL);
		for (int d = 0; d < recurrence->dependence_count; d++) {
			const struct dependence *dependence = &recurrence->dependences[d];
			if (dependence->stream != s)
				continue;
			/* No two weights are alike, and they add up to less than one. */
			const struct term *weighted = term_make(arena, TERM_DIVIDE,
				recurrence_read(arena, recurrence, s, dependence->vector),
				term_number(arena, recurrence->dependence_count + 1 + d), NULL);
			const struct term *there = term_and(arena, dependence->when,
				recurrence_inside(arena, recurrence, dependence->vector));
			if (there)
				weighted = term_make(
					arena, TERM_SELECT, there, weighted, term_number(arena, 0));
			sum = term_make(arena, TERM_ADD, sum, weighted, NULL);
		}
		recurrence->streams[s].body = sum;
	}
}
