#ifndef MODEL_DRAFT_H
#define MODEL_DRAFT_H

#include "base/array.h"
#include "model/graph/op_line.h"
#include "model/graph/workload.h"
#include "model/machine/arch.h"
#include "spec/reader.h"

/*
 * A workload while it is read: the facts that the ops so far have shown.  Private to the readers
 * of a workload: workload_read.c (the map, tensors, a problem that becomes one) and op_read.c (ops).
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

/* Facts of a tensor that struct tensor does not have. */
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

/* The place in the file that gave the tensor its shape.  Reads the file again: for complaints only. */
struct span draft_place(const struct draft *draft, int tensor);

/*
 * Lays out a tensor whose shape is known: as the spec says, else in `order` (0
 * entries: by default).  False after complaining.
 */
bool draft_lay_out(struct draft *draft, int tensor, const int *order, int order_count);

/* One entry of `ops:`. */
extern const struct noun op_noun;
void draft_read_op(struct draft *draft, const struct node *node);

/* Adds the op that an entry gives; `line`: the op itself, and the entry is its place.  NULL: as the entry says. */
void draft_add_op(struct draft *draft, const struct node *node, const struct op_line *line);

/*
 * An op in the making: its loops and the accesses of its operands, from the
 * parsed notation.  All functions return false after complaining.
 */
struct op_draft {
	struct draft *draft;
	const struct node *text; /* the scalar that was parsed */
	struct op *op;
	int count;
	struct {
		int dimension;
		int loop; /* -1: extent 1 */
	} uses[LAYOUT_HOST_RANK_MOST + OP_LOOPS_MOST];
};

/*
 * Complains about an operand whose stick does not fit, and says what would
 * mend it.  `spelled` is the operand as written in the op's text.
 */
struct stick_misfit;
void op_draft_complain_misfit(struct op_draft *draft_op, const struct stick_misfit *misfit,
	const struct line_operand *spelled);

/*
 * `layouts: auto`: chooses the layout of an op's output, of inputs that no op has read yet, and restickifies of
 * other operands, so that all sticks fit and the fewest bytes are copied.  Outputs are tried in their default
 * layout first, then with the stick along each of their dimensions, then sparse.  The op has its accesses, and its
 * output no layout yet.  Restickifies come before it in the draft.  False after complaining: no layout fits.
 */
bool op_fit(struct op_draft *draft_op, const struct op_line *line);

#endif
