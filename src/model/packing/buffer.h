#ifndef MODEL_BUFFER_H
#define MODEL_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Packing puts buffers with lifetimes into one address range; placements, their check and their sums.
 *
 * Two buffers whose lifetimes [start, end) meet may not share bytes.  As an exception, a child may take
 * the very address of a declared parent that is not smaller and ends in the child's first step
 * (parent.end == child.start + 1).
 */
struct use {
	int64_t at;     /* the step; the buffer is there in [at, at + 1) */
	bool write;     /* its bytes become new; else they are read */
	int64_t weight; /* of this transfer; 0: as the buffer says */
};

struct buffer {
	const char *name;
	int64_t size;       /* bytes, >= 0 */
	int64_t start, end; /* half-open */
	size_t parent_count;
	const int *parents;  /* indices of buffers whose slot it may take over */
	bool must_take_over; /* one of them, if it is placed at all */
	int64_t alignment;   /* of its address, > 0; 0: the packing's */
	bool is_fixed;       /* it may only lie at `address` */
	int64_t address;
	bool has_hint; /* it may well lie at `hint` */
	int64_t hint;
	/*
	 * Savings of keeping it: without uses, `weight` for its whole life.  With uses, `weight` for each
	 * transfer that does not happen: a read that finds it since the use before, and the write back
	 * after a write, if all reads up to the next write find it.  A use may give the weight of its
	 * transfer.
	 */
	int64_t weight;
	size_t use_count;
	const struct use *uses; /* by step, all different, inside [start, end) */
};

/* Savings if the transfer of a use does not happen. */
static inline int64_t use_weight(const struct buffer *buffer, const struct use *use)
{
	return use->weight ? use->weight : buffer->weight;
}

struct byte_range {
	int64_t from, to; /* half-open */
};

enum packing_goal {
	PACKING_SPILL, /* place those that save most; the published solvers place what they can */
	PACKING_FIT,   /* place all, or prove that they do not fit */
	PACKING_PEAK,  /* place all at the least peak; the capacity is a limit */
};

struct packing {
	int64_t capacity, alignment; /* bytes; addresses are multiples of the alignment */
	size_t count;
	const struct buffer *buffers;
	enum packing_goal goal;
	size_t reserved_count;
	const struct byte_range *reserved; /* bytes that no buffer may touch */
};

/* The most that all sizes and alignments of a packing add up to, and the most of its capacity and of
 * each fixed address: sums of any two do not overflow. */
#define PACKING_BYTES_MOST (INT64_C(1) << 61)

/* Above this number of buffers solvers do not try to prove anything. */
enum { PACKING_MANY = 5000 };

enum { UNPLACED = -1 };

/* A buffer with uses that is there for a part of its life. */
struct residence_part {
	int buffer;
	int64_t from, to; /* half-open, from one use to the step after another */
	int64_t address;
};

struct placement {
	size_t count;       /* of buffers, as in the packing */
	int64_t *addresses; /* bytes, for its whole life; UNPLACED: not there, or in parts */
	int *in_place_of;   /* the parent whose address it took; -1 */
	size_t part_count;
	const struct residence_part *parts; /* by buffer, then time; apart from each other */
};

struct packing_fault {
	int a, b; /* buffers; b is -1 when the fault is a's alone */
	const char *why;
};

/* True if the child names the parent. */
bool packing_declares(const struct packing *packing, size_t child, size_t parent);

/* True if the child may lie on the parent: declared, no larger, its first step the parent's last. */
bool packing_may_take(const struct packing *packing, size_t child, size_t parent);

/*
 * The independent checker: every placed buffer aligned, inside the
 * capacity, off the reserved bytes, at its fixed address, in a parent's place if it must be; parts
 * of lives from use to use; no two live buffers share bytes unless the one takes the other's
 * place lawfully.  Returns a fault, or a == -1 for none.  Time: n log n.
 */
struct packing_fault packing_check(
	const struct packing *packing, const struct placement *placement);

struct arena;

/* Bytes that live from a step on. */
struct load_step {
	int64_t from, bytes;
};

/*
 * The load over time: of all buffers, or of those that a placement keeps.  A child that may take
 * a place, or does, counts from its second step on.  Steps rise; the last has no bytes.
 */
struct load_curve {
	size_t count;
	const struct load_step *steps;
	size_t most; /* the first step of the highest load; count: nothing lives */
};

struct load_curve load_curve(
	struct arena *arena, const struct packing *packing, const struct placement *placement);

/* True if a buffer is counted in the load of all at a step. */
bool packing_counts_at(const struct packing *packing, size_t buffer, int64_t step);

/* The *count ranges reserved below the capacity, by address; ranges that touch are one. */
struct byte_range *packing_reserved(
	struct arena *arena, const struct packing *packing, int64_t capacity, size_t *count);

/* Bytes of the capacity that are not reserved. */
int64_t packing_room(struct arena *arena, const struct packing *packing);

/* The first declared parent of buffer i, no smaller, that lies at this address; -1. */
int packing_parent_at(const struct packing *packing, const struct placement *placement, size_t i,
	int64_t address);

/* Notes who took whose place, of those that are there for their whole life. */
void placement_note(const struct packing *packing, struct placement *placement);

/* The highest end of what is placed; 0: nothing is. */
int64_t placement_peak(const struct packing *packing, const struct placement *placement);

/* Buffers that are placed, at least for a part of their lives. */
size_t placement_count(const struct placement *placement);

/*
 * Savings: the weight of a buffer without uses that is placed; of another, its weight for each read
 * that finds it since the use before, and for each write whose value is read, if all those reads
 * find it.
 */
int64_t placement_saved(const struct packing *packing, const struct placement *placement);

/* The same if everything were kept. */
int64_t packing_weights(const struct packing *packing);

#endif
