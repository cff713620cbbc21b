#include "tests/support/random_recurrence.h"

#include "base/arena.h"

static int64_t draw(struct random *random, int64_t least, int64_t most)
{
	return least + (int64_t)random_below(random, (uint64_t)(most - least + 1));
}

static const struct term *make(
	struct arena *arena, enum term_kind kind, const struct term *a, const struct term *b)
{
	struct term *term = arena_new(arena, struct term);
	*term = (struct term){.kind = kind, .of = {a, b}};
	return term;
}

/* Loop i, plus a number, is at most loop k. */
static const struct term *draw_condition(struct arena *arena, struct random *random, int loops)
{
	struct term *left = arena_new(arena, struct term), *right = arena_new(arena, struct term);
	struct term *number = arena_new(arena, struct term);
	*left = (struct term){
		.kind = TERM_LOOP, .index = (int)random_below(random, (uint64_t)loops)};
	*right = (struct term){
		.kind = TERM_LOOP, .index = (int)random_below(random, (uint64_t)loops)};
	*number = (struct term){.kind = TERM_NUMBER, .number = (double)draw(random, -3, 1)};
	return make(arena, TERM_AT_MOST, make(arena, TERM_ADD, left, number), right);
}

void random_recurrence(struct arena *arena, struct random *random, struct recurrence *recurrence)
{
	static const char *const names[] = {"i", "j", "k", "l"};
	static const char *const streams[] = {"a", "b", "c"};
	*recurrence = (struct recurrence){0};
	int loops = (int)draw(random, 1, RANDOM_RECURRENCE_LOOPS);
	recurrence->loop_count = loops;
	for (int i = 0; i < loops; i++)
		recurrence->loops[i] = (struct loop){.name = names[i],
			.least = draw(random, -3, 3),
			.extent = draw(random, 1, loops > 3 ? 4 : 6)};
	if (random_below(random, 3) == 0)
		recurrence->domain = draw_condition(arena, random, loops);
	recurrence->stream_count = (int)draw(random, 1, 3);
	for (int s = 0; s < recurrence->stream_count; s++) {
		recurrence->streams[s] = (struct stream){
			.name = streams[s], .kind = STREAM_RECURRENT, .rank = loops};
		for (int64_t left = draw(random, 1, 2); left > 0; left--) {
			struct dependence *to =
				&recurrence->dependences[recurrence->dependence_count++];
			*to = (struct dependence){.stream = s};
			bool any = false;
			for (int i = 0; i < loops; i++) {
				to->vector[i] = random_below(random, 2) ? draw(random, -1, 2) : 0;
				any |= to->vector[i] != 0;
			}
			if (!any)
				to->vector[0] = 1;
			if (random_below(random, 5) == 0)
				to->when = draw_condition(arena, random, loops);
		}
	}
	recurrence_invent(arena, recurrence);
}

void random_projection(
	struct random *random, const struct recurrence *recurrence, struct projection *projection)
{
	static const char *const names[] = {"p", "q", "r", "s", "t", "u", "v", "w"};
	*projection = (struct projection){0};
	int loops = recurrence->loop_count;
	projection->space_count = (int)draw(random, 0, loops - 1);
	projection->time_count = random_below(random, 4) ? 1 : (int)draw(random, 1, loops);
	for (int r = 0; r < projection->space_count; r++)
		projection->space_names[r] = names[r];
	for (int r = 0; r < projection->time_count; r++)
		projection->time_names[r] = names[4 + r];
	for (int r = 0; r < projection->space_count; r++)
		for (int i = 0; i < loops; i++)
			projection->space[r][i] = random_below(random, 2) ? draw(random, -1, 1) : 0;
	for (int r = 0; r < projection->time_count; r++)
		for (int i = 0; i < loops; i++)
			projection->time[r][i] = draw(random, -1, random_below(random, 3) ? 2 : 7);
	projection->wires = random_below(random, 3) ? (uint32_t)random_below(random, 8) : 7;
}
