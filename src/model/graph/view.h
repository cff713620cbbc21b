#ifndef MODEL_GRAPH_VIEW_H
#define MODEL_GRAPH_VIEW_H

#include "model/graph/op_mapping.h"
#include "model/graph/workload.h"
#include "model/machine/layout.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Device coordinates of an access, as functions of the op's loops, by the
 * published rule: it sees only the linear index into the host array and the
 * stride map of the layout, so it works for views too.
 *
 * A loop with coefficient c and extent n takes steps of c host elements and
 * ends at c * (n - 1).  Among the device dimensions of more than one element it
 * walks the one with the largest stride not above c, and every dimension whose
 * stride is above c and not beyond that end.  On a dimension of stride s, where the next
 * larger stride is m, its part is
 *
 *	floor((c * v mod m) / s)
 *
 * without the modulo if the end lies before m.  Parts of several loops add
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

/* Returns the number of values that it takes while each loop l runs from 0 to count[l] - 1. */
int64_t coordinate_values(const struct coordinate *coordinate, const int64_t *count);

/* Bit l: loop l occurs. */
uint32_t coordinate_loops(const struct coordinate *coordinate);

/* A stick coordinate must be 0, a loop, or a loop modulo the stick. */
bool coordinate_fits_stick(const struct coordinate *coordinate, int per_stick);

/* "floor(k/64)", "Mod(n, 64)", "64*d0 + d1", "0" */
const char *coordinate_print(
	struct arena *arena, const struct op *op, const struct coordinate *coordinate);

/*
 * A view says which core holds which slice of a tensor: device dimension `dim`
 * is cut into `split` equal parts, and core c holds part floor(c / divisor) mod
 * split of it.  Cores 0 .. cores-1 hold something.  Where the product of
 * splits is below `cores`, slices are held by several cores (a broadcast), unless `only` says that some
 * hold nothing: then core c holds something if floor(c / only_divisor) mod only = 0.
 * The slice is stored dense: row-major over device sizes / splits.
 */
enum { VIEW_PARTS_MOST = LAYOUT_RANK_MOST };

struct view_part {
	int dim;
	int64_t split, divisor;
};

struct view {
	int64_t cores;
	int64_t only, only_divisor; /* 0 or 1: all cores hold something */
	int part_count;
	struct view_part parts[VIEW_PARTS_MOST]; /* by ascending dim */
};

/* The cut of a device dimension; NULL: it is whole. */
const struct view_part *view_part_of(const struct view *view, int d);

/* True if a core holds a slice. */
bool view_holds(const struct view *view, int64_t core);

/* True if every slice lies on some core. */
bool view_is_whole(const struct view *view);

/* The same slices on the same cores. */
bool view_equal(const struct view *a, const struct view *b);

/* Why a view does not fit a layout, or NULL: equal parts of dimensions outside the stick. */
struct arena;
const char *view_check(struct arena *arena, const struct layout *layout, const struct view *view);

/*
 * One line: "cores 8: dim 1 / 4 by 2, dim 2 / 2 by 1" cuts device dimension 1
 * into 4 parts, of which core c holds part c / 2 % 4; "cores 8 only / 2 by 4: ..." is on cores 0 to 3.
 * `parse` returns NULL, or
 * what is wrong with the text.
 */
const char *view_print(struct arena *arena, const struct view *view);
const char *view_parse(const char *text, struct view *out);

/* Bytes of one core's slice. */
int64_t view_bytes(const struct layout *layout, const struct view *view);

/* First index of core c's slice in device dimension d, and how many. */
int64_t view_first(const struct layout *layout, const struct view *view, int d, int64_t core);
int64_t view_size(const struct layout *layout, const struct view *view, int d);

#endif
