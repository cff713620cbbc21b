#ifndef NEST_NEST_RUN_H
#define NEST_NEST_RUN_H

#include "base/arena.h"
#include "model/nest/shape.h"
#include "sim/nest/nest.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/*
 * Words of one dataspace: boxes over its ranks, and sets that are a box less a box, which is
 * all that ever enters or leaves a level.  The number of ranks is the caller's to say.
 */
struct nest_box {
	int64_t low[SHAPE_RANKS_MOST], high[SHAPE_RANKS_MOST]; /* low <= index < high */
	int64_t words;                                         /* 0: an empty box */
};

/* The words in the hull and not in the hole.  Equal sets have equal hulls and holes: the hull is
 * the least box around the set, the hole lies in it. */
struct nest_words {
	struct nest_box hull, hole;
	int64_t count;
};

/* Counts the words of a box whose sides are given; false if they do not fit. */
bool nest_box_finish(int ranks, struct nest_box *box);

bool nest_box_equal(int ranks, const struct nest_box *a, const struct nest_box *b);

/* Only the ranks that there are: boxes move often. */
static inline void nest_box_copy(int ranks, struct nest_box *to, const struct nest_box *from)
{
	to->words = from->words;
	for (int r = 0; r < ranks; r++) {
		to->low[r] = from->low[r];
		to->high[r] = from->high[r];
	}
}

void nest_box_meet(
	int ranks, const struct nest_box *a, const struct nest_box *b, struct nest_box *out);

/* box \ hole; a hole of NULL is an empty one. */
void nest_words_without(
	int ranks, const struct nest_box *box, const struct nest_box *hole, struct nest_words *out);

bool nest_words_equal(int ranks, const struct nest_words *a, const struct nest_words *b);
uint64_t nest_words_hash(int ranks, const struct nest_words *words);

/* True if every word of the set lies in the box. */
bool nest_words_inside(int ranks, const struct nest_words *words, const struct nest_box *box);

/*
 * Word after word, the last rank fastest:
 *
 *	for (struct nest_walk walk = nest_walk_first(ranks, &words); walk.any;
 *		nest_walk_next(ranks, &words, &walk))
 *		use(walk.at);
 */
struct nest_walk {
	bool any; /* at is one of them */
	int64_t at[SHAPE_RANKS_MOST];
};

struct nest_walk nest_walk_first(int ranks, const struct nest_words *words);
void nest_walk_next(int ranks, const struct nest_words *words, struct nest_walk *walk);

/* All words of a box. */
static inline struct nest_words nest_words_of(const struct nest_box *box)
{
	return (struct nest_words){.hull = *box, .count = box->words};
}

/*
 * A picture of all that a machine's future depends on, as bytes: two states have equal pictures exactly
 * if the machine goes on alike from both.  Its parts are added in the same order every time.
 */
struct nest_picture {
	struct arena *arena;
	uint8_t *at;
	size_t count, room;
};

/* Numbers that grow by as much in each period as in the one before. */
struct nest_numbers {
	int64_t *at;
	size_t count;
};

static inline void nest_picture_add(struct nest_picture *picture, const void *bytes, size_t size)
{
	if (picture->count + size > picture->room) {
		size_t room = 2 * (picture->count + size);
		uint8_t *grown = arena_array(picture->arena, uint8_t, room);
		if (picture->count)
			memcpy(grown, picture->at, picture->count);
		picture->at = grown;
		picture->room = room;
	}
	memcpy(picture->at + picture->count, bytes, size);
	picture->count += size;
}

static inline void nest_picture_number(struct nest_picture *picture, int64_t number)
{
	nest_picture_add(picture, &number, sizeof number);
}

static inline bool nest_picture_equal(const struct nest_picture *a, const struct nest_picture *b)
{
	return a->count == b->count && memcmp(a->at, b->at, a->count) == 0;
}

/*
 * The arithmetic of multipliers, and of joining two sums: products and sums of doubles, in which those of small integers are exact, or a primitive in fp32 as
 * machines compute it.
 */
struct nest_arithmetic {
	const struct nest_values *values; /* NULL: products and sums of doubles */
	const struct primitive *joins;    /* two sums */
	double neutral;                   /* joined with anything, it changes nothing */
};

struct nest_arithmetic nest_arithmetic_make(const struct nest_values *values);

/* Returns the contribution of a point of the nest. */
double nest_arithmetic_point(
	const struct nest_arithmetic *arithmetic, const double *words, int count);

double nest_arithmetic_join_values(const struct nest_arithmetic *arithmetic, double a, double b);

static inline double nest_arithmetic_join(
	const struct nest_arithmetic *arithmetic, double a, double b)
{
	return arithmetic->values ? nest_arithmetic_join_values(arithmetic, a, b) : a + b;
}

/*
 * When things happen.  All instances go in step, so one clock is enough; it runs in ticks,
 * a cycle being enough of them that every rate takes a whole number per word (rounded up where
 * that would be more than 2^20).
 *
 * - A transfer is what one level moves at one move step, in one direction.  It takes each port
 *   (read and write, or one for both) of each level ceil(words / rate) ticks, the most of its
 *   instances; it lasts as long as the slowest port, and the latency of the networks between
 *   the level and its parent.
 * - A step of the multipliers lasts a cycle, or as long as the slowest port needs for what they
 *   read and update.  It begins when all transfers of its step are done.
 * - At a level without double buffering (multiple_buffering < 2) work stops while a tile drains
 *   and while the next one fills.
 * - With it, both are in the background: the next tile fills while there is work on the present
 *   one, and the last one drains then.  The time between two move steps of the level, its window,
 *   is as long as the work in it, and as what the slowest port has to do in it altogether; what is
 *   in the background takes a port as soon as that is free.  Where the parent's own tile changes
 *   at the same step, there is nothing to fill from or drain into in advance: then it is as
 *   without double buffering.
 * - A row of a tile that is read takes the read port its time besides, or the one for both.
 * - A round of a level, from when its tiles are there, lasts its least time: work stops until then.
 * - The first tiles fill one level after the other, the last ones drain so.
 *
 * Ports are never used for two things at once, so the time is never less than the words of an
 * instance over their rate.
 */
struct arena;
struct nest_clock;

/* `trace` keeps the times of events; NULL: none are kept. */
struct nest_clock *nest_clock_open(const struct hierarchy *hierarchy, const int64_t *instances,
	struct nest_trace *trace, struct arena *arena);

/* Words that the transfer or step under way moves at an instance. */
void nest_clock_charge(struct nest_clock *clock, int level, int64_t instance, int space,
	enum nest_action action, int64_t words);

/* Rows of tiles that the transfer under way reads at an instance. */
void nest_clock_charge_rows(struct nest_clock *clock, int level, int64_t instance, int64_t rows);

/* A round of a level begins: the one before it, unless it is the first, has lasted its least time. */
void nest_clock_round(struct nest_clock *clock, int level, bool first);

/* The transfer under way is that of `level`, with that latency. */
enum nest_transfer { NEST_FILLS, NEST_DRAINS };
void nest_clock_transfer(struct nest_clock *clock, int level, enum nest_transfer transfer,
	bool background, int64_t latency);

/* Level's tiles have changed: its next window begins. */
void nest_clock_turn(struct nest_clock *clock, int level);

/* Work stops for this many cycles, because of a level. */
void nest_clock_wait(struct nest_clock *clock, int level, int64_t cycles);

/* The multipliers have done a step. */
void nest_clock_step(struct nest_clock *clock);

/* Adds all that the time of further periods (sim/nest/nest_moves.c) depends on, in each of which the windows
 * of the levels `turning` and the rounds of `rounds` begin again; returns the numbers that grow alike with each of them. */
void nest_clock_draw(const struct nest_clock *clock, uint32_t turning, uint32_t rounds,
	struct nest_picture *picture);
struct nest_numbers nest_clock_numbers(struct nest_clock *clock);

/* The end: cycles, fill, drain, stalls; false if a number does not fit. */
bool nest_clock_close(struct nest_clock *clock, struct nest_sim *out);

/*
 * A nest while it runs: its loops, the places of all instances, the buffers.
 * Levels are numbered as in the hierarchy; the multipliers are level -1.
 */
struct nest_array;
struct nest_tensors;

enum { MULTIPLIERS = -1 };

/* A temporal loop with a bound above 1. */
struct nest_round {
	int level, dimension;
	int64_t bound, stride;
};

/* All instances of one level, numbered as specs/counting.md says. */
struct nest_site {
	int64_t instances;
	int64_t block, block_x; /* of them in one instance of the level above; along X */
	int outside;            /* temporal loops outside the level */
	int64_t span[SHAPE_DIMENSIONS_MOST]; /* indices of all loops inside and its own */
	int64_t *shift; /* instances x dimensions: what the spatial loops outside add to an index */
};

/*
 * The partners with which the instances of a level exchange one dataspace's words.  Groups are found among
 * the children of one instance of the parent, which have consecutive numbers.
 */
struct nest_feed {
	struct nest_store *parent; /* NULL: these are the home */
	int64_t children;          /* of one instance of the parent */
	/* By child, from 0: those with different numbers share nothing; NULL: all may. */
	int64_t *apart;
	int pass_count;
	int pass[ARCH_LEVELS_MOST];      /* levels in between that only count what passes */
	int64_t below[ARCH_LEVELS_MOST]; /* children below one instance of it */
};

enum {
	WORD_SUM = 1,   /* holds a partial sum */
	WORD_FRESH = 2, /* entered without one, and nothing was added since */
};

/* One dataspace kept at one level: a buffer in each instance. */
struct nest_store {
	struct nest_store *after; /* in the list of all */
	int space, level, ranks;
	bool written, home, links;
	bool refetch;     /* no temporal reuse: everything leaves and enters again */
	bool reads_first; /* rmw_first_update */
	int pace;         /* number of the loop; -1: one move, at the start */
	int tile_pace;    /* the same with temporal reuse: the tile changes there */
	bool *stays; /* by instance, with `refetch`: without work at a step that changes no tile */
	bool moving; /* at this step */
	struct nest_feed feed;
	struct nest_box *held, *next; /* by instance: what it holds, and shall hold */
	struct nest_words *entered;   /* links: what entered at the move step before */
	/* A word's place in a buffer is the sum of (index - held.low) * stride over the ranks. */
	int64_t room, stride[SHAPE_RANKS_MOST];
	double **value, **spare_value;  /* by instance, words; NULL without data */
	uint8_t **state, **spare_state; /* the same, of WORD_ bits; NULL if only read */
};

struct nest_run {
	const struct hierarchy *hierarchy;
	const struct shape *shape;
	const struct mapping *mapping;
	const struct nest_sim_options *options;
	struct arena *arena;

	int round_count; /* outermost first */
	struct nest_round rounds[ARCH_LEVELS_MOST * SHAPE_DIMENSIONS_MOST];
	int64_t index[ARCH_LEVELS_MOST * SHAPE_DIMENSIONS_MOST];
	int64_t base[SHAPE_DIMENSIONS_MOST]; /* what they add to an index now */
	int64_t step;

	struct nest_site sites[ARCH_LEVELS_MOST + 1]; /* site_of */
	int64_t furthest[SHAPE_DIMENSIONS_MOST];      /* the largest shift of a multiplier */
	struct nest_store *first_store;               /* of all */
	/* By level, dataspace; NULL: not kept there, or only counted as it passes. */
	struct nest_store *stores[ARCH_LEVELS_MOST][SHAPE_SPACES_MOST];
	struct nest_feed multiplier_feed[SHAPE_SPACES_MOST];

	struct nest_counts counts;
	int64_t events;
	bool overflow;
	const char *wrong;            /* the first move that could not be done */
	struct nest_clock *clock;     /* NULL without timing */
	uint32_t latencies[2];        /* by transfer: levels whose networks have taken their time */
	struct nest_array *array;     /* NULL: the machine has none */
	uint64_t work;                /* steps x multipliers that were executed */
	struct stop_poll poll;        /* of steps */
	struct nest_tensors *tensors; /* NULL without data */
	struct nest_arithmetic arithmetic;
	uint64_t faults; /* occasions for options->fault so far */
};

static inline struct nest_site *site_of(struct nest_run *run, int level)
{
	return &run->sites[level + 1];
}

/* The box between the words of two points of the iteration space, both included. */
void nest_run_project(const struct dataspace *space, int dimensions, const int64_t *low,
	const int64_t *high, struct nest_box *out);

/* All words of a dataspace. */
struct nest_box nest_whole(const struct shape *shape, int space);

/* The step of an iteration of loop k in the indices of a rank. */
int64_t nest_run_step(const struct nest_run *run, int space, int rank, int k);

/* True if an instance has work at this step. */
bool nest_run_works(struct nest_run *run, int level, int64_t instance);

/* The tile of a store's instance at this step; empty without work. */
void nest_run_tile(struct nest_run *run, const struct nest_store *store, int64_t instance,
	struct nest_box *out);

/* Counts a move of `words` words and charges the instance's ports with it. */
void nest_run_count(struct nest_run *run, int level, int64_t instance, int space,
	enum nest_action action, int64_t words);

/* Counts the rows of a set that an instance serves, and charges its read port with the time that each takes besides
 * its words; nothing if the level's rows take none. */
void nest_run_rows(struct nest_run *run, int level, int64_t instance, int space,
	const struct nest_words *words);

/* Counts words that come to a level which only counts them, as a fill or an update, and are read
 * there to go on. */
void nest_run_pass(struct nest_run *run, int level, int64_t instance, int space,
	enum nest_action comes, int64_t words);

/* Counts sums that are read because others come from inside, or they themselves leave. */
void nest_run_drain(struct nest_run *run, int level, int64_t instance, int space, int64_t words);

/* Adds a number to the sum at a place, or makes it one; the caller counts the update itself, and the read
 * of the sum before. */
void nest_store_add(struct nest_run *run, struct nest_store *store, int64_t instance, int64_t place,
	double value);

/* Remembers the first move that could not be done. */
void nest_run_wrong(struct nest_run *run, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* True if it is now that the fault asked for shall happen, this being an occasion for it. */
bool nest_run_fault(struct nest_run *run, enum nest_sim_fault fault);

/* The first word of a set as "A[1, 2]", for sentences. */
const char *nest_run_word(struct nest_run *run, int space, const struct nest_words *words);

/* True if its tiles change as loop k goes on. */
static inline bool nest_store_moves_in(const struct nest_store *store, int k)
{
	return !store->home && store->pace >= k;
}

/* The place of a word in an instance's buffer, which holds it. */
static inline int64_t nest_store_place(
	const struct nest_store *store, const struct nest_box *held, const int64_t at[])
{
	int64_t place = 0;
	for (int r = 0; r < store->ranks; r++)
		place += (at[r] - held->low[r]) * store->stride[r];
	return place;
}

/*
 * A nest before it runs, and after: the places of loops, instances and buffers, the words of homes,
 * groups of instances that move the same words, and the numbers.
 *
 * Homes of dataspaces: before the run the words that their first instance needs, found by marking them
 * tile after tile; after it the instances that have a part of one sum.
 */

/* The loops of one dimension as seen from a level: indices in its tile, and what temporal loops
 * outside add, those of other instances being 0. */
struct nest_reach {
	int64_t tile, extent;
	int count;
	int64_t bound[ARCH_LEVELS_MOST], stride[ARCH_LEVELS_MOST];
};

/* Distinct words of all tiles that the loops make of a dataspace.  NEST_FITS; NEST_UNCOUNTABLE:
 * too many to mark. */
enum nest_verdict nest_homes_mark(
	const struct shape *shape, int space, const struct nest_reach *reaches, int64_t *words);

/* True if two instances of a home that no ring joins have a part of the same sum, after the last
 * drain. */
bool nest_homes_apart(struct nest_run *run);

/*
 * Lays out a mapping on its machine: the temporal loops in order, the instances of all levels
 * with their places, and for each dataspace where it is kept, who its parent is, and when it
 * moves.
 */
enum { NEST_MULTIPLIER_BYTES = 512 }; /* of each, for each dataspace; about */

/* Returns NULL, or the reason: more instances than EXECUTION_BYTES_MOST can take. */
const char *nest_run_lay_out(struct nest_run *run);

/*
 * Opens the buffers of all instances that a nest was laid out for; empty, but for the homes, which hold
 * the words that they need from the start.  Returns NULL, or the reason: they need more than
 * EXECUTION_BYTES_MOST.
 */
const char *nest_buffers_open(struct nest_run *run);

/*
 * Children of one parent instance, by number from 0, that move the identical set of words at the same
 * time.  A group is a chain of children, lowest first.
 */
struct nest_groups {
	int64_t *leader; /* by child: the lowest of its group; -1: in none */
	int64_t *behind; /* by child: the next of its group; -1: the last */
	int64_t words;   /* of all groups, each once */
	int64_t *tail;
	int64_t *slots; /* hash table: leaders, or -1 */
	int64_t slot_count;
};

void nest_groups_open(struct nest_groups *groups, int64_t children, struct arena *arena);

/* Children whose set is empty or whose bit in `without` (NULL: of none) is set are in no group;
 * those with different numbers in `apart` (NULL: all the same) are in different ones. */
void nest_groups_find(struct nest_groups *groups, int ranks, const struct nest_words *sets,
	int64_t children, const int64_t *apart, const bool *without);

/*
 * The numbers: those of the options (struct nest_values), or whole dataspaces as doubles that hold
 * small integers, so that sums are exact in any order, and the einsum by plain loops over the
 * dimensions.
 */

/* Returns tensors of the sizes of a shape; their memory comes with the buffers.  `values` (NULL: drawn from
 * {-2 .. 2}) take the place of the tensors that are read. */
struct nest_tensors *nest_tensors_name(
	const struct shape *shape, const struct nest_values *values, struct arena *arena);

/* Checks drawn tensors: computes the einsum, adds up the homes' instances, and complains about the first
 * element that differs.  Of given values: returns the results to their owner. */
void nest_tensors_end(struct nest_run *run);

/*
 * The systolic array of a machine while a nest runs.  Its PEs have no wires but those to the PE
 * before and the one after along X and Y.  A word that several of them need at one step enters at
 * the first of them; each of the others takes it from the PE before it that has it, along X
 * if there is one, else along Y, a cycle per PE on the way.  Sums go the same ways, from PE to PE,
 * and leave the array at the last.  What PEs need of their own passes through those before them:
 * a link carries what one PE needs in a step in a cycle, so that steps take as long as the links of a
 * row, or of a column if that is sooner, are busy with them.
 *
 * Every PE has a clock of its own: it does a step when it has done the one before, what it takes has
 * come, and the PE before it, along an axis on which anything is handed on, has begun that
 * step.  Between passes it waits for all others, or, where PEs buffer tiles twice, goes on: then the
 * next ones come during a pass, and a pass that has fewer steps takes as long as others.  Tiles that are to stay enter each column at its
 * head, a word per cycle, and go on from PE to PE; each takes what is its own.
 */

/* NULL: the machine has none. */
struct nest_array *nest_array_open(struct nest_run *run);

/* All PEs do a step. */
void nest_array_step(struct nest_array *array);

/* Tiles move: if any that PEs hold does, the pass ends, and those that come are loaded. */
void nest_array_turn(struct nest_array *array);

/* Periods of loop k (sim/nest/nest_moves.c): what the next ones depend on; the numbers that grow alike with
 * each; whether they grow so `times` more, after one since they were so. */
void nest_array_draw(const struct nest_array *array, int k, struct nest_picture *picture);
struct nest_numbers nest_array_numbers(struct nest_array *array);
bool nest_array_goes_on(const struct nest_array *array, const int64_t *since, int k, int64_t times);

/* Cycles so far beyond one for each step. */
int64_t nest_array_lag(const struct nest_array *array);

/*
 * The multipliers at one step: operands are read, products add up in the network and into the
 * level that they belong to.  Two multipliers whose words are the same at one step have the
 * same at every step, as all take the same steps: their groups are found once.
 */
struct nest_multipliers;

struct nest_multipliers *nest_multipliers_open(struct nest_run *run);
void nest_multipliers_step(struct nest_multipliers *multipliers);

/*
 * Moves between a level and its parent at a move step.  All levels' tiles are planned first.  Then
 * words that leave are drained from the innermost level outwards, and words that enter are filled
 * from the outermost inwards.  So every sum has left before it is needed again, and every tile finds
 * its parent's tile in place.
 */
struct nest_sim_moves;

struct nest_sim_moves *nest_moves_open(struct nest_run *run);

/* The outermost loop that went on, or one of these. */
enum { NEST_START = -1, NEST_END = -2 };

/* Decides whether the store moves at this step, and what its instances shall hold then: their
 * tiles; at the end nothing. */
void nest_moves_plan(struct nest_sim_moves *moves, struct nest_store *store, int changed);

/* Written words that leave add up in the network and into the parent. */
void nest_moves_drain(struct nest_sim_moves *moves, struct nest_store *store);

/* Words enter, from the parent or a neighbour; sums return. */
void nest_moves_fill(struct nest_sim_moves *moves, struct nest_store *store);

/*
 * Iterations of a loop that are alike, while a nest only counts: one of them is executed, and the others
 * count as much.  They are alike where the machine's states at the beginnings of two that
 * follow each other are equal, words and times taken relative to the iteration: the tiles in all
 * buffers that move in the loop, the sums in them, the sums in the buffers around them that the two touch,
 * what multipliers wait for and how far the ports are; where the sums that the others will touch are as those
 * that this one touches; and where no tile of theirs reaches beyond an extent.
 *
 * Work: where an iteration begins, once more the words of tiles that move in it, and comparisons of as many
 * numbers as there are instances.
 */
struct nest_periods;

/* NULL: every step is to be executed. */
struct nest_periods *nest_periods_open(struct nest_run *run);

/*
 * Loop k has gone on.  True: it goes on once more now, since the iteration that begins here and all that are
 * alike, the next ones, have been counted; the run is as it is at the end of the last of them.
 */
bool nest_periods_skip(struct nest_periods *periods, int k);

#endif
