#ifndef MODEL_RECURRENCE_RECURRENCE_EINSUM_H
#define MODEL_RECURRENCE_RECURRENCE_EINSUM_H

#include "model/graph/workload.h"
#include "model/nest/shape.h"
#include "model/recurrence/recurrence.h"

/*
 * Equations, one a line:
 *
 *	Z(q, c) = select(q == 0, 0, Z(q - 1, c)) + x(c + q) * w(q);
 *	out(c) = select(q == Q - 1, Z(q, c));
 *
 * A stream with all loops on the left is recurrent, one with fewer is an output, one that is only
 * read is an input.  What follows a semicolon, or a # at the beginning of a line, is a remark.
 *
 * Adds the streams and their dependences to a recurrence whose loops and domain are known.  False
 * after complaining.
 */
bool recurrence_equations(
	const struct reading *reading, const struct node *text, struct recurrence *recurrence);

/* The dependence for a stream's vector; made when it is new.  Both conditions count when there is
 * one already.  NULL when there are too many. */
struct dependence *recurrence_depend(struct arena *arena, struct recurrence *recurrence, int stream,
	const int64_t *vector, const struct term *when, struct span span);

/* A loop of `size` steps, and of its tiles; the last tile may be padded. */
struct recurrence_split {
	int loop, tiles;
	int64_t size, extent; /* of the loop before it was split */
};

/* An operand that does not see the loop `before` is shifted in along the loop `along` in as many
 * steps as that has, which come before the loop, and then stays. */
struct recurrence_load {
	int operand, along, before;
};

/*
 * An einsum as uniform recurrences that compute it.
 *
 * An operand that is read is the same at two points whose difference its indices send to zero.  Of
 * these differences a basis (lattice_kernel) carries it from point to point: a loop that does not
 * index it gives that loop's unit vector, and p + r gives (1, -1).  Where the first of them leads out
 * of the loops the next is asked, and where all do the element is read from memory.
 *
 * The result is summed up along the loops that do not index it, innermost first, in the order of the
 * loops unless another is given: at the end of one the sum is carried on to the beginning of the next
 * round of the one around it, by the vector (1, 1 - N).  Beside loops, one more direction may lead to
 * the same element, as p + r does in out[p + r].
 *
 * A stream that carries an operand has its name; memory is NAME_in and NAME_out.  An operand that no
 * two points share is an input of its own name.
 */
struct recurrence_einsum {
	/* Loops and operands.  The last operand is written; those that are read are multiplied.  Coefficients may be
	 * negative, and loops begin where they like. */
	struct shape shape;
	enum term_kind sum; /* TERM_ADD; TERM_MAX, TERM_MIN */
	/* Loops in the order in which the sum goes through them, outermost first; those that are not
	 * listed come before, as the loops stand. */
	int order_count, order[RECURRENCE_LOOPS_MOST];
	uint32_t reread; /* loops along which nothing is carried: what is read is read again */
	int split_count, load_count;
	struct recurrence_split splits[RECURRENCE_LOOPS_MOST];
	struct recurrence_load loads[SHAPE_SPACES_MOST];
	int streams[SHAPE_SPACES_MOST]; /* what comes out: the stream of each operand's name */
};

/* Derives the recurrence of an einsum.  False and *why if it has none; then *out is of no use. */
bool recurrence_einsum(struct arena *arena, struct recurrence_einsum *einsum,
	struct recurrence *out, const char **why);

/*
 * Splits a loop of an einsum that is not derived yet: the loop has `size` steps, its tiles are a loop
 * more, after all others, called NAME_tile.  A last tile that is not full is padded: its points read
 * zeros and write nothing.  False and *why if there are too many loops.
 */
bool recurrence_einsum_split(struct arena *arena, struct recurrence_einsum *einsum, int loop,
	int64_t size, const char **why);

/* Takes the loops of one step out of an einsum that is not derived yet. */
void recurrence_einsum_squeeze(struct recurrence_einsum *einsum);

/* Makes a shape a sum of products, with the written dataspace last, in the order of the dimensions.  False and *why
 * if it has too many. */
bool recurrence_einsum_of_shape(struct arena *arena, const struct shape *shape,
	struct recurrence_einsum *out, const char **why);

/* Finds the sum of an op: of products, of one tensor, max or min, a copy; false: it is none of these. */
bool recurrence_einsum_sum(
	const struct primitive *primitive, bool has_constant, enum term_kind *out);

/* The same of such an op of a graph, by its shape (op_shape). */
bool recurrence_einsum_of_op(struct arena *arena, const struct workload *workload,
	const struct op *op, struct recurrence_einsum *out, const char **why);

#endif
