#include "model/recurrence/recurrence_invent.h"

#include "base/arena.h"
#include "model/recurrence/recurrence_term.h"

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
