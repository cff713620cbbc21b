#ifndef DIVIDE_TWO_PASS_H
#define DIVIDE_TWO_PASS_H

#include "model/graph/box_nest.h"
#include "model/graph/plan.h"
#include "model/graph/planning.h"
#include "model/graph/workload.h"

/*
 * A division as the published passes store it between them: by the coefficients
 * that loops have in the op's indices, not by loop, since loops are renamed.
 *
 * A loop that indexes the output is kept under its coefficient in the write, any other under its coefficient in the
 * first read; loops split once are left out.  This can lose splits: a reduction loop that the first read does not
 * know is forgotten, and of two loops with one coefficient the last is kept for both.
 */
struct keyed_split {
	int64_t coefficient, split;
};

struct keyed_splits {
	int output_count, reduction_count;
	struct keyed_split output[OP_LOOPS_MOST];
	struct keyed_split reduction[OP_LOOPS_MOST];
};

struct keyed_splits keyed_encode(
	int loop_count, const int64_t *write, const int64_t *read, const int64_t *splits);

/* Loops of extent 1, and those that nothing is stored for, are split once. */
void keyed_decode(const struct keyed_splits *keyed, int loop_count, const int64_t *range,
	const int64_t *write, const int64_t *read, int64_t *splits);

/*
 * The second published pass: gives all cores to the loops of one op.
 *
 * Loops that the first pass divided get just that.  The others get the largest
 * divisor of their size that the cores left over allow: output loops first, the
 * larger before the smaller, then at most one reduction loop, the one that can
 * use most cores, unless a reduction loop is divided already.  Sizes of stick
 * loops are in sticks.
 */
struct priorities {
	int output_count, reduction_count;
	int output[OP_LOOPS_MOST], reduction[OP_LOOPS_MOST];
};

struct distribution {
	int64_t splits[OP_LOOPS_MOST];
	int64_t cores;    /* their product */
	uint32_t dropped; /* loops whose least split no longer fitted on the cores */
};

/* The largest divisor of `size` that is at most `cores`; `cores` when size is 0. */
int64_t core_split(int64_t size, int64_t cores);

/* The loops with least[l] == 1 in the order in which they get cores. */
struct priorities priorities_make(
	int loop_count, const int64_t *size, uint32_t output_loops, const int64_t *least);

struct distribution distribute(int loop_count, const int64_t *size, uint32_t output_loops,
	const int64_t *least, int64_t cores);

/*
 * The first published pass: the least division that brings the span of every
 * operand under the limit of what a core can address.
 *
 * Operands are taken one after the other, reads first; of each the device
 * dimensions from the outermost inwards.  The loops of a dimension are divided
 * by divisors of their sizes, not below what earlier operands fixed; among all
 * combinations on at most `cores` cores the largest span within the limit wins
 * (fewest cores), else the smallest span above it.  What was chosen stays.  A
 * dimension of which a core still touches several elements ends an operand:
 * dividing dimensions inside it cannot shorten its span.
 */
struct span_search {
	int64_t splits[OP_LOOPS_MOST]; /* at least 1 */
	uint32_t considered;           /* loops that a choice was made for, 1 included */
	uint32_t reductions;           /* considered, and not in the output outside its stick */
	uint32_t unmet;                /* bit i: operand i is divided as far as it goes, in vain */
	uint64_t tried;                /* combinations */
};

/* More than one loop in `reductions` is beyond the machine: it can combine one. */
struct span_search span_search(
	struct arena *arena, const struct iteration *iteration, int64_t limit, int64_t cores);

/*
 * The smallest padding of one loop that brings the span of an operand under
 * the limit: the least larger size with a divisor that is large enough.  769
 * sticks are prime and cannot be shared at all; 770 can be, 2, 5, 7, ... ways.
 */
struct span_padding {
	int loop;       /* the loop that makes the span, padded or not; -1: none does */
	int64_t extent; /* elements after padding; 0: no padding of it helps */
	int64_t size;   /* the same, in sticks of a stick loop */
	int64_t split;  /* the division that it allows */
};

/* `least`: the division that the other loops need anyway. */
struct span_padding padding_find(struct arena *arena, const struct iteration *iteration,
	int operand, const int64_t *least, int64_t limit, int64_t cores);

/*
 * The published K-fast division.  A matrix product with few rows starves the
 * array when its rows are divided; dividing N and K instead keeps every row on
 * each core, and the cores that share a sum sit side by side on the reduce
 * ring.
 *
 * It divides products of two operands with one reduction loop K and two output loops, the larger of them called N,
 * all cores used: N n ways and K cores/n ways for the largest n that divides both.  It leaves alone: a K or M that
 * the span has divided; N or K of broken sticks; fewer than 1 or more than 16 rows of M per core, or more than 4
 * when N has a stick for every core; fewer sticks of K than cores.
 *
 * False when it does not apply; splits are then untouched.
 */
bool k_fast_divide(
	const struct iteration *iteration, const int64_t *least, int64_t cores, int64_t *splits);

/*
 * Returns the loop whose slot changes fastest with the core number,
 * if neighbouring cores share a reduction. -1: the order of the
 * loops, as published also of products with fewer than three.
 */
int k_fast_first(const struct op *op, const int64_t *splits);

/*
 * From a division to a mapping: splits become the spatial row of the core level.
 *
 * Cores are numbered with the first loop fastest; under the K-fast setting
 * the divided reduction of an einsum comes before all others.
 */

/* Ops that always run undivided: opaque ones and top-k. */
bool core_row_divisible(const struct op *op);

/* Cores that an op may use. */
int64_t core_row_cores(
	const struct arch *arch, const struct planning *planning, const struct op *op);

/* Bytes that an operand of it may span: by its constraints, and by the planning's limit if that
 * is asked for.  INT64_MAX: any number. */
int64_t core_row_span(const struct planning *planning, const struct op *op, bool limited);

struct mapping core_row_mapping(const struct arch *arch, const struct planning *planning,
	const struct op *op, const int64_t *splits);

/*
 * The published division of one op: the least division for the span, then
 * K-fast or the distribution of all cores, each stored by coefficients (and so
 * sometimes losing a split) before the next reads it.
 */
struct stored_splits {
	bool stored; /* false: all were 1, nothing was written */
	struct keyed_splits keyed;
	int64_t splits[OP_LOOPS_MOST]; /* as read back */
};

struct two_pass {
	struct span_search search;
	bool refused; /* two reduction loops would have to be divided: nothing below is set */
	struct stored_splits least;
	bool k_fast;
	int64_t given[OP_LOOPS_MOST]; /* the division before it was stored */
	uint32_t dropped;             /* least splits that did not fit on the cores */
	struct stored_splits final;
	uint32_t overlong; /* bit i: the span of operand i is above the limit in the end */
};

struct two_pass two_pass_divide(struct arena *arena, const struct iteration *iteration,
	int64_t limit, int64_t cores, bool k_fast);

#endif
