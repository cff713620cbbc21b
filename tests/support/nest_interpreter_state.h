#ifndef SUPPORT_NEST_INTERPRETER_STATE_H
#define SUPPORT_NEST_INTERPRETER_STATE_H

#include "base/arena.h"
#include "tests/support/nest_interpreter.h"

/*
 * The interpreter's machine.  Tier 0 are the multipliers, tier i + 1 the instances of level i;
 * block b lies between tier b + 1 and tier b.  Instances of a tier are numbered through the
 * machine, so that instance n of tier b is in instance n / (size of block b) of tier b + 1.
 */
enum { TIERS_MOST = ARCH_LEVELS_MOST + 1 };

struct words { /* elements of one dataspace, ascending */
	int count;
	int *at;
};

/* A temporal loop. */
struct turn {
	int level, dimension;
	int64_t bound, stride;
	int64_t at; /* where it stands */
};

/* The instances that a block's spatial loops make. */
struct mesh {
	int64_t size, x_size;
};

/* One dataspace at one tier. */
struct store {
	bool kept;
	bool moves;    /* kept, and not passed by: things are held here */
	bool passed;   /* kept, but everything passes: no_coalesce */
	int parent;    /* tier; 0: none */
	int pace;      /* turn; -1: none */
	int tile_pace; /* the same without no_reuse */
	bool no_reuse;
	bool links;
	struct words *held, *entering, *before, *leaving; /* by instance */
	int *leader; /* by instance: the first of its group; -1: asks for nothing */
	bool home;
	bool *touched; /* of a home: by instance and element, whether it ever was in the tile */
	/* partial sums of the written dataspace, by instance and element */
	int64_t *sum;
	bool *has, *fresh; /* fresh: entered without a sum, not updated since */
};

struct interpreter {
	const struct hierarchy *hierarchy;
	const struct shape *shape;
	enum nest_rule broken;
	struct arena *arena;
	struct nest_counts *counts;
	bool right, apart;

	int tiers;
	struct mesh blocks[TIERS_MOST];
	int instances[TIERS_MOST];
	int64_t *base[TIERS_MOST]; /* indices from spatial loops, [instance][dimension] */
	bool *worked[TIERS_MOST];
	int64_t inside[TIERS_MOST][SHAPE_DIMENSIONS_MOST]; /* indices that a tile runs over */

	int turn_count;
	struct turn turns[ARCH_LEVELS_MOST * SHAPE_DIMENSIONS_MOST];

	int64_t rank_size[SHAPE_SPACES_MOST][SHAPE_RANKS_MOST];
	int elements[SHAPE_SPACES_MOST];
	struct store stores[TIERS_MOST][SHAPE_SPACES_MOST];
};

/* Loops, instances and elements of a nest. */
void nest_lay_out(struct interpreter *machine, const struct mapping *mapping);

/* The lowest indices of an instance, loops inside it at 0; it has work where they exist. */
void find_indices(const struct interpreter *machine, int tier, int n, int64_t *index);
bool has_work(const struct interpreter *machine, const int64_t *index);

int element_of(const struct interpreter *machine, int space, const int64_t *index);

/* The elements of a tile whose indices begin at `low`; nothing where those do not exist.  With
 * room for none (NULL) they are only counted. */
int find_tile(const struct interpreter *machine, int tier, int space, const int64_t *low, int *at);

/* The number at an outer tier of the instance that instance n of a tier is in. */
int instance_above(const struct interpreter *machine, int tier, int n, int outer);

bool words_equal(const struct words *a, const struct words *b);

/* Read-only words that the instances of a tier enter (multipliers: read) come from the parent or
 * from neighbours. */
void words_come(struct interpreter *machine, int tier, int space);

/* Partial sums return to, drain from, or are updated by the instances of a tier. */
void sums_return(struct interpreter *machine, int tier, int space);
void sums_drain(struct interpreter *machine, int tier, int space);
void sums_update(struct interpreter *machine, int space, const int64_t *products);

#endif
