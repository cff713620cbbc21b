#ifndef MODEL_RECURRENCE_DERIVATION_H
#define MODEL_RECURRENCE_DERIVATION_H

#include "base/lattice.h"
#include "model/recurrence/recurrence_einsum.h"

/*
 * The directions in which the recurrences of an einsum hand on what they have: those along which an
 * operand that is read stays the same, and those along which the result is summed up.
 */
struct arena;
struct derivation {
	struct arena *arena;
	struct recurrence_einsum *einsum;
	struct recurrence *recurrence;
	int64_t least[RECURRENCE_LOOPS_MOST]; /* of the loops without what is shifted in before */
	int memories[SHAPE_SPACES_MOST];      /* by operand: the input that it comes from */
	const char *why;
};

/* Keeps the reason; false. */
bool derivation_refuse(struct derivation *to, const char *why);

/* The values of a loop, without what is shifted in before. */
int64_t derivation_steps(const struct derivation *to, int loop);

/* The directions along which an operand is carried.  False after refusing. */
bool derivation_carriers(
	struct derivation *to, const struct recurrence_operand *from, struct lattice *reuse);

/* Directions along which the result is summed up, innermost first: loops that do not index it, then
 * at most one that is no loop.  False after refusing. */
bool derivation_chain(
	struct derivation *to, const struct recurrence_operand *operand, struct lattice *chain);

#endif
