#include "sim/nest/nest_homes.h"

#include "base/arena.h"

/* Bits of marks and tiles that are marked, at most. */
enum { BITS_MOST = 1 << 28, TILES_MOST = 1 << 26 };

/* Ranks that have dimensions in common, directly or through others, marked together. */
struct home_sheet {
	const struct shape *shape;
	const struct dataspace *space;
	const struct nest_reach *reaches;
	uint32_t ranks, dimensions;
	struct nest_box whole; /* dataspace */
	int64_t low[SHAPE_DIMENSIONS_MOST];
	uint64_t *marks;
	int64_t tiles, marked;
	bool out; /* of room */
};

static void mark_tile(struct home_sheet *sheet, int rank, int64_t place)
{
	while (rank < sheet->space->rank_count && !(sheet->ranks >> rank & 1))
		rank++;
	if (rank == sheet->space->rank_count) {
		uint64_t bit = UINT64_C(1) << place % 64;
		sheet->marked += !(sheet->marks[place / 64] & bit);
		sheet->marks[place / 64] |= bit;
		return;
	}
	int64_t from = 0, to = 0;
	for (int d = 0; d < sheet->shape->dimension_count; d++) {
		int64_t last = number_min(sheet->low[d] + sheet->reaches[d].tile,
				       sheet->reaches[d].extent) -
			       1;
		from += sheet->space->ranks[rank].coefficient[d] * sheet->low[d];
		to += sheet->space->ranks[rank].coefficient[d] * last;
	}
	for (int64_t at = from; at <= to; at++)
		mark_tile(sheet, rank + 1, place * sheet->whole.high[rank] + at);
}

/* All tuples of the loops of dimensions from d on, from loop k of it inwards. */
static void go_through(struct home_sheet *sheet, int d, int k)
{
	while (d < sheet->shape->dimension_count &&
		(!(sheet->dimensions >> d & 1) || k == sheet->reaches[d].count)) {
		d++;
		k = 0;
	}
	if (d == sheet->shape->dimension_count) {
		sheet->out |= ++sheet->tiles > TILES_MOST;
		if (!sheet->out)
			mark_tile(sheet, 0, 0);
		return;
	}
	const struct nest_reach *reach = &sheet->reaches[d];
	int64_t before = sheet->low[d];
	for (int64_t n = 0; n < reach->bound[k] && sheet->low[d] < reach->extent && !sheet->out;
		n++, sheet->low[d] += reach->stride[k])
		go_through(sheet, d, k + 1);
	sheet->low[d] = before;
}

static bool mark_ranks(struct home_sheet *sheet)
{
	int64_t bits = 1;
	for (int r = 0; r < sheet->space->rank_count; r++) {
		if (!(sheet->ranks >> r & 1))
			continue;
		if (!number_mul(bits, sheet->whole.high[r], &bits) || bits > BITS_MOST)
			return false;
	}
	struct arena *arena = arena_open();
	sheet->marks = arena_array(arena, uint64_t, bits / 64 + 1);
	go_through(sheet, 0, 0);
	arena_close(arena);
	return !sheet->out;
}

enum nest_verdict nest_homes_mark(
	const struct shape *shape, int space, const struct nest_reach *reaches, int64_t *words)
{
	uint32_t done = 0;
	*words = 1;
	for (int first = 0; first < shape->spaces[space].rank_count; first++) {
		struct home_sheet sheet = {.shape = shape,
			.space = &shape->spaces[space],
			.reaches = reaches,
			.whole = nest_whole(shape, space)};
		if (done >> first & 1)
			continue;
		sheet.ranks = 1u << first;
		sheet.dimensions = shape_rank_dimensions(&sheet.space->ranks[first]);
		for (int r = first + 1; r < sheet.space->rank_count; r++) {
			uint32_t dimensions = shape_rank_dimensions(&sheet.space->ranks[r]);
			if (sheet.ranks >> r & 1 || !(dimensions & sheet.dimensions))
				continue;
			sheet.ranks |= 1u << r;
			sheet.dimensions |= dimensions;
			r = first; /* it may bring others in */
		}
		done |= sheet.ranks;
		if (!mark_ranks(&sheet))
			return NEST_UNCOUNTABLE;
		if (!number_mul(*words, sheet.marked, words))
			return NEST_OVERFLOW;
	}
	return NEST_FITS;
}

/* The same for all instances that rings join. */
static int64_t joined_number(struct nest_run *run, int level, int64_t instance)
{
	int64_t number = 0, scale = 1;
	for (int i = level; i + 1 < run->hierarchy->level_count; i++) {
		int64_t block = site_of(run, i)->block;
		if (!run->hierarchy->levels[i + 1].ring)
			number += instance % block * scale;
		instance /= block;
		scale *= block;
	}
	return number;
}

double nest_homes_bytes(const struct nest_run *run, const struct nest_store *home)
{
	return (double)nest_whole(run->shape, home->space).words * sizeof(int64_t);
}

static bool parts_meet(struct nest_run *run, const struct nest_store *home)
{
	int64_t instances = site_of(run, home->level)->instances;
	struct nest_box whole = nest_whole(run->shape, home->space);
	struct arena *arena = arena_open();
	int64_t *owner = arena_array(arena, int64_t, whole.words); /* number + 1 */
	bool meet = true;
	for (int64_t n = 0; n < instances && meet; n++) {
		int64_t number = joined_number(run, home->level, n) + 1;
		struct nest_words all = nest_words_of(&home->held[n]);
		for (struct nest_walk walk = nest_walk_first(home->ranks, &all); walk.any;
			nest_walk_next(home->ranks, &all, &walk)) {
			int64_t place = 0;
			if (!(home->state[n][nest_store_place(home, &home->held[n], walk.at)] &
				    WORD_SUM))
				continue;
			for (int r = 0; r < home->ranks; r++)
				place = place * whole.high[r] + walk.at[r];
			meet &= !owner[place] || owner[place] == number;
			owner[place] = number;
		}
	}
	arena_close(arena);
	return meet;
}

bool nest_homes_apart(struct nest_run *run)
{
	bool apart = false;
	for (const struct nest_store *store = run->first_store; store; store = store->after)
		if (store->home && store->written && site_of(run, store->level)->instances > 1)
			apart |= !parts_meet(run, store);
	return apart;
}
