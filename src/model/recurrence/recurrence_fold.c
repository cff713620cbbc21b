#include "model/recurrence/recurrence_fold.h"

#include "base/arena.h"
#include "base/lattice.h"

#include <string.h>

/* One loop split in two: `outer` of steps of `size`, and itself. */
struct split {
	struct arena *arena;
	const struct recurrence *from; /* as it was; `outer` is a loop that it has not */
	int loop, outer;
	int64_t size, least;
};

/* Where the split loop stands: least + size * outer + inner. */
static const struct term *whole(const struct split *split)
{
	return term_make(split->arena, TERM_ADD, term_number(split->arena, split->least),
		term_make(split->arena, TERM_ADD,
			term_make(split->arena, TERM_MULTIPLY,
				term_number(split->arena, split->size),
				term_loop(split->arena, split->outer), NULL),
			term_loop(split->arena, split->loop), NULL),
		NULL);
}

static struct loop_sum split_sum(const struct split *split, const struct loop_sum *sum)
{
	struct loop_sum out = *sum;
	out.at[split->outer] = sum->at[split->loop] * split->size;
	out.constant += sum->at[split->loop] * split->least;
	return out;
}

/* A read of a recurrent stream: its vector, with `tiles` of it in the outer loop. */
static const struct term *read_at(const struct split *split, const struct term *term, int64_t tiles)
{
	int loops = split->from->loop_count + 1;
	struct loop_sum *place = arena_array(split->arena, struct loop_sum, loops);
	for (int i = 0; i < loops - 1; i++) {
		place[i] = term->place[i];
		place[i].at[split->outer] = 0;
	}
	place[split->loop].constant += tiles * split->size;
	place[split->outer] = (struct loop_sum){.constant = -tiles};
	place[split->outer].at[split->outer] = 1;
	struct term *read = arena_new(split->arena, struct term);
	*read = *term;
	read->place = place;
	read->place_count = loops;
	return read;
}

/* Tiles back that the producer of a loop's distance e lies, from the first inner index of a group
 * on: inner indices below e mod size reach one tile farther. */
static int64_t tiles_back(const struct split *split, int64_t distance)
{
	return distance / split->size - (distance % split->size < 0);
}

static int64_t rest_of(const struct split *split, int64_t distance)
{
	return distance - tiles_back(split, distance) * split->size;
}

/* The inner index is at least so much: there the producer is in the nearer tile. */
static const struct term *is_near(const struct split *split, int64_t rest)
{
	return term_make(split->arena, TERM_AT_MOST, term_number(split->arena, rest),
		term_loop(split->arena, split->loop), NULL);
}

static const struct term *split_term(const struct split *split, const struct term *term)
{
	if (!term)
		return NULL;
	if (term->kind == TERM_LOOP)
		return term->index == split->loop ? whole(split) : term;
	if (term->kind == TERM_STREAM &&
		split->from->streams[term->index].kind == STREAM_RECURRENT) {
		int64_t distance = -term->place[split->loop].constant;
		int64_t tiles = tiles_back(split, distance), rest = rest_of(split, distance);
		if (!rest)
			return read_at(split, term, tiles);
		return term_make(split->arena, TERM_SELECT, is_near(split, rest),
			read_at(split, term, tiles), read_at(split, term, tiles + 1));
	}
	struct term *out = arena_new(split->arena, struct term);
	*out = *term;
	if (term->kind == TERM_STREAM) {
		struct loop_sum *place =
			arena_array(split->arena, struct loop_sum, term->place_count);
		for (int i = 0; i < term->place_count; i++)
			place[i] = split_sum(split, &term->place[i]);
		out->place = place;
	}
	for (int i = 0; i < 3; i++) {
		out->of[i] = split_term(split, term->of[i]);
		if (out->of[i] && out->of[i]->height >= out->height)
			out->height = out->of[i]->height + 1;
	}
	return out;
}

static bool add_dependence(const struct split *split, struct recurrence *out,
	const struct dependence *from, int64_t tiles, const struct term *when)
{
	if (out->dependence_count == RECURRENCE_DEPENDENCES_MOST)
		return false;
	struct dependence *to = &out->dependences[out->dependence_count++];
	*to = *from;
	to->vector[split->loop] -= tiles * split->size;
	to->vector[split->outer] = tiles;
	to->when = term_and(split->arena, split_term(split, from->when), when);
	return true;
}

/* A dependence that crosses the seams of tiles is two. */
static bool split_dependences(const struct split *split, struct recurrence *out)
{
	out->dependence_count = 0;
	for (int d = 0; d < split->from->dependence_count; d++) {
		const struct dependence *from = &split->from->dependences[d];
		int64_t distance = from->vector[split->loop];
		int64_t tiles = tiles_back(split, distance), rest = rest_of(split, distance);
		const struct term *near = rest ? is_near(split, rest) : NULL;
		if (!add_dependence(split, out, from, tiles, near))
			return false;
		if (rest &&
			!add_dependence(split, out, from, tiles + 1, term_not(split->arena, near)))
			return false;
	}
	return true;
}

static bool split_loop(struct arena *arena, int index, int64_t size, struct recurrence *recurrence)
{
	struct recurrence *from = arena_copy(arena, recurrence, sizeof *recurrence);
	struct recurrence_loop *inner = &recurrence->loops[index];
	struct split split = {arena, from, index, from->loop_count, size, inner->least};
	int64_t extent = inner->extent, tiles = extent / size + (extent % size != 0);
	recurrence->loops[recurrence->loop_count++] =
		(struct recurrence_loop){arena_format(arena, "%s_tile", inner->name), 0, tiles};
	*inner = (struct recurrence_loop){inner->name, 0, size};
	recurrence->domain = split_term(&split, from->domain);
	if (extent % size)
		recurrence->domain = term_and(arena, recurrence->domain,
			term_make(split.arena, TERM_LESS, whole(&split),
				term_number(split.arena, split.least + extent), NULL));
	for (int s = 0; s < recurrence->stream_count; s++) {
		struct stream *stream = &recurrence->streams[s];
		stream->body = split_term(&split, from->streams[s].body);
		if (stream->kind == STREAM_RECURRENT)
			stream->rank = recurrence->loop_count;
		if (stream->kind != STREAM_OUTPUT)
			continue;
		struct loop_sum *place = arena_array(arena, struct loop_sum, stream->rank);
		for (int i = 0; i < stream->rank; i++)
			place[i] = split_sum(&split, &from->streams[s].place[i]);
		stream->place = place;
	}
	return split_dependences(&split, recurrence);
}

static void insert_time(struct projection *projection, int at, int loop, const char *name)
{
	size_t after = (size_t)(projection->time_count++ - at);
	memmove(projection->time + at + 1, projection->time + at, sizeof *projection->time * after);
	memmove(projection->time_names + at + 1, projection->time_names + at,
		sizeof *projection->time_names * after);
	memset(projection->time[at], 0, sizeof projection->time[at]);
	projection->time[at][loop] = 1;
	projection->time_names[at] = name;
}

bool recurrence_fold(
	struct arena *arena, const struct fold *fold, struct space_time *spec, const char **why)
{
	struct recurrence *recurrence = &spec->recurrence;
	struct projection *projection = &spec->projection;
	int rows = projection->space_count < fold->row_count ? projection->space_count
							     : fold->row_count;
	*why = NULL;
	for (int r = 0; r < rows && !*why; r++) {
		int loop = lattice_unit(projection->space[r], recurrence->loop_count);
		if (loop < 0)
			*why = "only rows of the allocation that are one loop can be folded";
		else if (recurrence->loops[loop].extent > fold->sizes[r] &&
			 (recurrence->loop_count == RECURRENCE_LOOPS_MOST ||
				 projection->time_count == RECURRENCE_LOOPS_MOST))
			*why = "folding needs a loop more for each row, and there are eight at most";
		if (*why || recurrence->loops[loop].extent <= fold->sizes[r])
			continue;
		int64_t extent = recurrence->loops[loop].extent, size = fold->sizes[r];
		int outer = recurrence->loop_count;
		if (fold->order ==
			FOLD_BLOCKS) /* a PE's block; blocks are as even as they can be */
			size = extent / fold->sizes[r] + (extent % fold->sizes[r] != 0);
		if (!split_loop(arena, loop, size, recurrence)) {
			*why = "folding makes more than 64 dependences";
			continue;
		}
		if (fold->order == FOLD_TILES) {
			/* Within a tile, time is as it was: the tile's own loop says when it runs. */
			insert_time(projection, 0, outer, recurrence->loops[outer].name);
			continue;
		}
		for (int t = 0; t < projection->time_count; t++)
			projection->time[t][outer] = projection->time[t][loop] * size;
		insert_time(projection, projection->time_count, loop,
			arena_format(arena, "%s_block", recurrence->loops[loop].name));
		memset(projection->space[r], 0, sizeof projection->space[r]);
		projection->space[r][outer] = 1;
	}
	projection->reverse_count = 0;
	memset(projection->reverse, 0, sizeof projection->reverse);
	return !*why;
}
