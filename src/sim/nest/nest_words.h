#ifndef SIM_NEST_WORDS_H
#define SIM_NEST_WORDS_H

#include "model/nest/shape.h"

/*
 * Words of one dataspace: boxes over its ranks, and sets that are a box less a box, which is
 * all that ever enters or leaves a level.  The number of ranks is the caller's to say.
 */
struct nest_box {
	int64_t low[SHAPE_RANKS_MOST], high[SHAPE_RANKS_MOST]; /* low <= index < high */
	int64_t words;                                         /* 0: an empty box */
};

/* What is in the hull and not in the hole.  Equal sets have equal hulls and holes: the hull is
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

#endif
