#ifndef MODEL_DRAFT_H
#define MODEL_DRAFT_H

#include "base/array.h"
#include "model/graph/einsum.h"
#include "model/graph/workload.h"
#include "model/machine/arch.h"
#include "spec/reader.h"

/*
 * A workload while it is read: what the ops so far have shown.  Private to the
 * readers of a workload: workload_read.c (the map), draft.c (tensors),
 * op_read.c (ops), and of a problem that becomes one: workload_of_problem.c.
 */
enum {
	EXTENT_MOST = INT32_MAX,     /* factors of a mapping count a loop's units in 32 bits */
	TENSOR_BYTES_MOST_LOG2 = 48, /* on the device */
};

struct named_extent {
	const char *name;
	int64_t extent;
	struct span span;
	bool used;
};

/* What is known of a tensor besides its struct tensor. */
struct sketch {
	enum dtype dtype;
	int rank; /* -1: not known yet */
	int64_t size[LAYOUT_HOST_RANK_MOST];
	const char *names[LAYOUT_HOST_RANK_MOST]; /* dimension that walks it; NULL: none alone */
	bool shape_given;
	bool used;                 /* by an op */
	int reader;                /* first op that reads it; -1 */
	const struct node *layout; /* as the spec gives it; NULL */
	const struct node *text;   /* where an op first shows it; NULL: `tensors:` gave its shape */
	struct word place;         /* in that text */
};

struct draft {
	const struct reading *reading;
	struct array(struct named_extent) dimensions;
	struct array(struct tensor) tensors;
	struct array(struct sketch) sketches; /* one per tensor */
	struct array(struct op) ops;
	struct names dimension_names, tensor_names, op_names;
	enum dtype dtype;
	bool fits;                  /* layouts: auto */
	const struct level *linear; /* the home without sticks, where layouts are linear; NULL */
};

/* The nearest dimension or tensor as "; did you mean 'x'?", or "". */
const char *draft_near_dimension(const struct draft *draft, const char *name);
const char *draft_near_tensor(const struct draft *draft, const char *name);

/* Index of the tensor; a new one gets the workload's dtype and no shape. */
int draft_tensor(struct draft *draft, const char *name, struct span at);

/* Where the tensor got its shape.  Takes a look at the file: for complaints only. */
struct span draft_place(const struct draft *draft, int tensor);

/* `tensors:` of the spec. */
void draft_read_tensors(struct draft *draft, const struct node *map);

/*
 * Lays out a tensor whose shape is known: as the spec says, else in `order` (0
 * entries: by default).  False after complaining.
 */
bool draft_lay_out(struct draft *draft, int tensor, const int *order, int order_count);

/* One entry of `ops:`. */
void draft_read_op(struct draft *draft, const struct node *node);

/* The workload, after the last op; with `inputs:` and `outputs:` of the spec, or NULL.  NULL where
 * there have been more than `errors`. */
const struct workload *draft_finish(struct draft *draft, const char *name,
	const struct node *inputs, const struct node *outputs, size_t errors);

#endif
