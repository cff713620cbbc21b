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
