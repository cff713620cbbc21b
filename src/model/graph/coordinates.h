#ifndef MODEL_COORDINATES_H
#define MODEL_COORDINATES_H

#include "model/graph/workload.h"

/*
 * Device coordinates of an access, as functions of the op's loops, by the
 * published rule: it sees only the linear index into the host array and the
 * stride map of the layout, so it works for views too.
 *
 * A loop with coefficient c and extent n takes steps of c host elements and
 * stays below c * n.  Among the device dimensions of more than one element it
 * walks the one with the largest stride not above c, and every dimension whose
 * stride lies between c and c * n.  On a dimension of stride s, where the next
 * larger stride is m, its part is
 *
 *	floor((c * v mod m) / s)
 *
 * without the modulo if c * n does not exceed m.  Parts of several loops add
 * up.  A constant offset adds its place in every dimension, the largest stride
 * first.
 *
 * Example: v of [512, 1024] fp16, stored [16, 512, 64] with strides [64, 1024,
 * 1]: coefficient 1, extent 1024 gives floor(v/64) and v mod 64.
 */
struct coordinate_part {
	int loop;        /* -1: the constant 1 */
	int64_t step;    /* c */
	int64_t modulus; /* m; 0: none */
	int64_t stride;  /* s */
};

struct coordinate {
	int part_count;
	struct coordinate_part parts[OP_LOOPS_MOST + 1];
};

struct coordinates {
	int rank;
	struct coordinate dims[LAYOUT_RANK_MOST]; /* the last is the stick */
};

struct coordinates coordinates_make(
	const struct layout *layout, const struct op *op, const struct access *access);

/* How many values it takes while each loop l runs from 0 to count[l] - 1. */
int64_t coordinate_values(const struct coordinate *coordinate, const int64_t *count);

/* Bit l: loop l occurs. */
uint32_t coordinate_loops(const struct coordinate *coordinate);

/* A stick coordinate must be 0, a loop, or a loop modulo the stick. */
bool coordinate_fits_stick(const struct coordinate *coordinate, int per_stick);

/* "floor(k/64)", "Mod(n, 64)", "64*d0 + d1", "0" */
const char *coordinate_print(
	struct arena *arena, const struct op *op, const struct coordinate *coordinate);

#endif
