#ifndef MODEL_LAYOUT_H
#define MODEL_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Element types, and the layouts of tensors on a device; the maxima of ops that all nouns share.
 */

/* Fixed maxima of every op, so that a mapping is a value of fixed size; beyond is a clear error. */
enum {
	OP_LOOPS_MOST = 16,
	OP_READS_MOST = 7, /* with the output: 8 dataspaces */
};

/*
 * Element types.  A device stores elements in sticks of STICK_BYTES; it keeps
 * bool as fp16 and int64 as int32 (torch-spyre, SpyreTensorLayout), so
 * the bytes of the host's element and of the stored element can differ.
 */
enum { STICK_BYTES = 128 };

enum dtype {
	DTYPE_FP16,
	DTYPE_BF16,
	DTYPE_FP32,
	DTYPE_INT8,
	DTYPE_INT32,
	DTYPE_BOOL,
	DTYPE_INT64,
	DTYPE_FP8, /* E4M3 */
	DTYPE_COUNT,
};

extern const char *const dtype_names[]; /* in the order of the enum, NULL ends them */

int dtype_host_bytes(enum dtype dtype);   /* of one element in a host array */
int dtype_stored_bytes(enum dtype dtype); /* of one element in a stick */
int dtype_per_stick(enum dtype dtype);    /* STICK_BYTES / stored bytes */

/* Finds the default type of a word of 8, 16 or 32 bits (int8, fp16, fp32); false for other widths. */
bool dtype_of_word(int64_t bits, enum dtype *out);

/*
 * A device layout is the place on the device of each element of a host array.
 *
 * The host array is row-major over host_size[]; its elements have a linear
 * index = sum over dims of coordinate * host_stride.  On the device the array
 * is row-major over device_size[], whose last dimension is one stick.  A device
 * dimension walks a host dimension whole, or its sticks (PART_STICK_OUTER:
 * floor(h / per_stick)), or the lanes of one stick (PART_STICK_INNER: h mod
 * per_stick), or nothing (PART_SYNTHETIC: the stick of a sparse layout, which
 * stores one element per stick).  The rule is that of torch-spyre's
 * SpyreTensorLayout.
 *
 * A linear layout has no sticks: the host array itself, row by row, without padding.  Here its sticks are
 * its elements: every host dimension is walked whole, and the last device dimension is one element.
 *
 * stride_map[d] is the number of host elements advanced per step of device
 * dimension d, -1 for synthetic and size-1 dimensions.
 */
enum {
	LAYOUT_HOST_RANK_MOST = 8,
	LAYOUT_RANK_MOST = 10, /* device dimensions */
};

enum layout_part { PART_SYNTHETIC, PART_WHOLE, PART_STICK_OUTER, PART_STICK_INNER };

struct layout {
	enum dtype dtype;
	int host_rank;
	int rank;        /* of the device: the last dimension is the stick */
	int per_stick;   /* elements in a stick; 1: the layout is linear */
	int stick_bytes; /* STICK_BYTES, or those of an element of a linear layout */
	bool sparse;     /* one element per stick */
	int stick_dim;   /* host dimension along the stick; -1 if sparse, linear or rank 0 */
	int64_t host_size[LAYOUT_HOST_RANK_MOST];
	int64_t host_stride[LAYOUT_HOST_RANK_MOST]; /* elements */
	int64_t size[LAYOUT_RANK_MOST];             /* of the device dimensions */
	int64_t stride_map[LAYOUT_RANK_MOST];
	enum layout_part part[LAYOUT_RANK_MOST];
	int host_dim[LAYOUT_RANK_MOST]; /* which host dimension it walks; -1 synthetic */
	int64_t sticks;                 /* product of size[0 .. rank-2] */
	int64_t bytes;                  /* sticks * stick_bytes */
};

/*
 * The device layout for a host array.  `order` lists host dimensions, stick
 * dimension last; a last entry of -1 makes the layout sparse.  NULL means the
 * dimensions in order, sparse when the last of two or more has extent 1.  The
 * first dimension of `order` moves just inside the others: [512, 8, 240] fp16
 * is stored as [8, 4, 512, 64].  False on overflow or an order that is not a
 * permutation.
 */
bool layout_make(enum dtype dtype, const int64_t *host_size, int host_rank, const int *order,
	int order_count, struct layout *out);

/* The linear layout of a host array; false on overflow. */
bool layout_linear(enum dtype dtype, const int64_t *host_size, int host_rank, struct layout *out);

bool layout_is_linear(const struct layout *layout);

/* Elements of the host array. */
int64_t layout_elements(const struct layout *layout);

bool layout_equal(const struct layout *a, const struct layout *b); /* same bytes, same places */

#endif
