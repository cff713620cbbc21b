#ifndef PLACE_PACK_STRAND_H
#define PLACE_PACK_STRAND_H

#include "base/array.h"
#include "search/solver.h"
#include "solvers/place/pack_merge.h"
#include "solvers/place/pack_pairs.h"
#include "solvers/place/pack_tree.h"

/* What the parts of the weave share. */
enum { WASTES_MOST = 64, CHANGES_MOST = 3, GROUPS_MOST = 32 };

/* Sets of what ends at a wall, of which each lies together. */
struct way {
	int count;
	uint64_t *sets;
};

struct wall {
	int end_count, begin_count;
	int *ends, *begins; /* blocks */
	int64_t change;     /* of what is to spare */
	/* Of a wall at which nothing changes and little happens: all ways to part what ends there,
	 * and the section in which all of that lives.  The count is 0 if they say nothing. */
	int ready, way_count;
	struct way *ways;
	int pending_count, *pending; /* walls to come that have ways and are ready here */
};

/* How a strand crossed a wall: with wastes that end and begin, and the groups as bits of the ends
 * and then those wastes, of the beginnings and then those wastes. */
struct crossing {
	const struct crossing *before;
	int wall, out_count, in_count, group_count;
	int outs[CHANGES_MOST], ins[CHANGES_MOST]; /* leaves */
	struct pair *groups;
};

struct strand {
	const struct tree *tree; /* orders of what lives */
	double freedom;          /* logarithm of the orders of what lived before, less penalties */
	const struct crossing *last;
	int waste_count, wastes[WASTES_MOST]; /* leaves */
};

/* A strand that crossed one wall more, if it goes on. */
struct candidate_strand {
	double score, freedom;
	uint64_t hash; /* equal for those that are alike from now on */
	int parent;
	struct crossing crossing;
	int64_t in_sizes[CHANGES_MOST];
};

/* Pairs of a wall together with certain wastes. */
struct known_pairs {
	int out_count, in_count;
	int64_t sizes[2 * CHANGES_MOST];
	struct pairs pairs;
};

struct weave {
	struct arena *arena;
	struct merged merged;
	bool is_backwards;
	struct wall *walls; /* by the section after it; the first and the last are the ends */
	int *last;          /* by block: the wall where it ends */
	struct array(int64_t) sizes; /* of leaves: blocks, then wastes */
	bool *marked;                /* by leaf */
	size_t marked_room;
	int64_t *addresses; /* of items */
	struct run *run;
	uint64_t nodes, limit, charged;
	bool is_out;
	int width;
	bool is_bold;
	struct arena *known_arena; /* of one wall */
	struct array(struct known_pairs *) known;
	struct array(struct candidate_strand) candidates;
};

/* Whatever is done with a tree. */
static inline bool weave_spend(struct weave *weave)
{
	weave->nodes++;
	if (weave->nodes - weave->charged >= 64) {
		weave->is_out |= !run_spend(weave->run, weave->nodes - weave->charged);
		weave->charged = weave->nodes;
	}
	weave->is_out |= weave->limit && weave->nodes >= weave->limit;
	return !weave->is_out;
}

const struct tree *weave_leaf(const struct weave *weave, struct arena *arena, int leaf);

/* A leaf for a waste. */
int weave_waste(struct weave *weave, int64_t size);

/* The ends lie together, and the beginnings, if there are any, take their place. */
const struct tree *weave_join(struct weave *weave, struct arena *arena, const struct tree *tree,
	const int *ends, int end_count, const int *begins, int begin_count, double *freedom);

/* The same of all groups of a crossing; without `begins` the ends stay. */
const struct tree *weave_join_groups(struct weave *weave, struct arena *arena,
	const struct tree *tree, const struct crossing *crossing, bool begins);

/* The leaves of a part. */
int weave_part(const int *leaves, uint64_t part, int *out);

/* The leaves at the wall of a crossing. */
struct leaves {
	int end_count, begin_count;
	int ends[SIDE_MOST], begins[SIDE_MOST];
};
void weave_leaves(
	const struct weave *weave, const struct crossing *crossing, struct leaves *leaves);

/* Pairs of such leaves, of which those at the end of the lists are the wastes. */
const struct pairs *weave_pairs(
	struct weave *weave, const struct crossing *crossing, const struct leaves *leaves);

/* Adds all candidates that come of a strand (pack_cross.c). */
void weave_cross(struct weave *weave, const struct strand *strand, int parent, int wall);

/*
 * What wastes of so many bytes together begin at a wall: one; if one is bold, also two or three, all
 * but one of which are to end where so much ends at walls to come.  `less` is what it counts less.
 */
typedef void weave_split_listener(void *context, const int64_t *sizes, int count, double less);
void weave_split(const struct weave *weave, int wall, int64_t size, weave_split_listener *listener,
	void *context);

/* Lists what each wall's ends can be parted into (pack_outlook.c). */
void weave_look_out(struct weave *weave);

/* The tree after wall `wall`, with all that walls to come leave no choice about; NULL: one of
 * those cannot be crossed. */
const struct tree *weave_foresee(
	struct weave *weave, struct arena *arena, const struct tree *tree, int wall);

/* The first tree: all that lives in the first section, and these wastes. */
const struct tree *weave_begin(
	const struct weave *weave, struct arena *arena, const int *wastes, int count);

/* Addresses of all, from the last wall back to the first (pack_layout.c). */
void weave_lay_out(struct weave *weave, const struct crossing *last);

#endif
