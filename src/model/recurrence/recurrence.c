#include "model/recurrence/recurrence.h"

#include "base/arena.h"
#include "base/text.h"

int recurrence_loop_named(const struct recurrence *recurrence, const char *name)
{
	for (int i = 0; i < recurrence->loop_count; i++)
		if (text_equal(recurrence->loops[i].name, name))
			return i;
	return -1;
}

int recurrence_stream_named(const struct recurrence *recurrence, const char *name)
{
	for (int i = 0; i < recurrence->stream_count; i++)
		if (text_equal(recurrence->streams[i].name, name))
			return i;
	return -1;
}

void recurrence_loop_names(const struct recurrence *recurrence, const char **out)
{
	for (int i = 0; i < recurrence->loop_count; i++)
		out[i] = recurrence->loops[i].name;
	out[recurrence->loop_count] = NULL;
}

const char *recurrence_loop_near(const struct recurrence *recurrence, const char *name)
{
	const char *known[RECURRENCE_LOOPS_MOST + 1];
	recurrence_loop_names(recurrence, known);
	return suggest(name, known);
}

bool recurrence_holds(const struct recurrence *recurrence, const int64_t *point)
{
	for (int i = 0; i < recurrence->loop_count; i++) {
		const struct recurrence_loop *loop = &recurrence->loops[i];
		if (point[i] < loop->least || point[i] - loop->least >= loop->extent)
			return false;
	}
	return term_holds(recurrence->domain, point);
}

static bool step(const struct recurrence *recurrence, int64_t *point)
{
	for (int i = recurrence->loop_count - 1; i >= 0; i--) {
		const struct recurrence_loop *loop = &recurrence->loops[i];
		if (++point[i] - loop->least < loop->extent)
			return true;
		point[i] = loop->least;
	}
	return false;
}

bool recurrence_first(const struct recurrence *recurrence, int64_t *point)
{
	for (int i = 0; i < recurrence->loop_count; i++)
		point[i] = recurrence->loops[i].least;
	return term_holds(recurrence->domain, point) || recurrence_next(recurrence, point);
}

bool recurrence_next(const struct recurrence *recurrence, int64_t *point)
{
	while (step(recurrence, point))
		if (term_holds(recurrence->domain, point))
			return true;
	return false;
}

int64_t recurrence_box(const struct recurrence *recurrence)
{
	int64_t points = 1;
	for (int i = 0; i < recurrence->loop_count; i++)
		if (!number_mul(points, recurrence->loops[i].extent, &points))
			return INT64_MAX;
	return points;
}

bool recurrence_producer(const struct recurrence *recurrence, const struct dependence *dependence,
	const int64_t *consumer, int64_t *producer)
{
	for (int i = 0; i < recurrence->loop_count; i++)
		producer[i] = consumer[i] - dependence->vector[i];
	return recurrence_holds(recurrence, consumer) && recurrence_holds(recurrence, producer) &&
	       term_holds(dependence->when, consumer);
}

bool recurrence_writes(const struct stream *output, const int64_t *point)
{
	const struct term *body = output->body;
	bool bare = body->kind == TERM_SELECT && !body->of[2];
	return !bare || term_holds(body->of[0], point);
}

/* Inputs and the stream itself at other points, one of them chosen by conditions. */
static bool is_copy(const struct recurrence *recurrence, int stream, const struct term *body)
{
	switch (body->kind) {
	case TERM_NUMBER:
		return true;
	case TERM_STREAM:
		return body->index == stream ||
		       recurrence->streams[body->index].kind == STREAM_INPUT;
	case TERM_SELECT:
		return is_copy(recurrence, stream, body->of[1]) &&
		       is_copy(recurrence, stream, body->of[2]);
	default:
		return false;
	}
}

uint32_t recurrence_copies(const struct recurrence *recurrence)
{
	uint32_t copies = 0;
	for (int s = 0; s < recurrence->stream_count; s++)
		if (recurrence->streams[s].kind == STREAM_RECURRENT &&
			is_copy(recurrence, s, recurrence->streams[s].body))
			copies |= UINT32_C(1) << s;
	return copies;
}

bool projection_has_lanes(const struct projection *projection)
{
	bool any = false;
	for (int r = 0; r < RECURRENCE_LOOPS_MOST; r++)
		any |= projection->lanes[r] != 0;
	return any;
}

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
