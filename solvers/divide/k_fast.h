#ifndef DIVIDE_K_FAST_H
#define DIVIDE_K_FAST_H

#include "model/graph/iteration.h"

/*
 * The published K-fast division.  A matrix product with few rows starves the
 * array when its rows are divided; dividing N and K instead keeps every row on
 * each core, and the cores that share a sum sit side by side on the reduce
 * ring.
 *
 * It divides products of two operands with one reduction loop K and two output
 * loops, the larger of them called N, all cores used: N n ways and K cores/n
 * ways for the largest n that divides both.  It leaves alone: a K or M that the
 * span has divided; N or K of broken sticks; fewer than 1 or more than 16 rows
 * of M per core, or more than 4 when N has a stick for every core; fewer sticks
 * of K than cores.
 *
 * False when it does not apply; splits are then untouched.
 */
bool k_fast_divide(
	const struct iteration *iteration, const int64_t *least, int64_t cores, int64_t *splits);

/*
 * Where neighbouring cores share a reduction: the loop whose slot changes
 * fastest with the core number.  -1 for the order of the loops, as published also of
 * products with less than three.
 */
int k_fast_first(const struct op *op, const int64_t *splits);

#endif
