#ifndef IMPORT_BUILD_H
#define IMPORT_BUILD_H

#include "base/array.h"
#include "import/model.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Classes of axes that are split alike.  A split is a product of innermost factors: an axis of 2048
 * with the split 64 is 32 x 64.  The splits of a class divide one another, so that they have one
 * finest refinement.  A fixed class cannot be split: its index is more than one loop.
 */
enum { AXIS_SPLITS_MOST = 6 };

struct axis_class {
	int parent;
	int64_t extent;
	bool fixed;
	int split_count;
	int64_t splits[AXIS_SPLITS_MOST]; /* ascending, above 1 and below the extent */
	int split_by;                     /* the alignment that gave it the last one */
	int first;                        /* number of its first factor, once counted */
};

struct axis_classes {
	struct arena *arena;
	struct array(struct axis_class) at;
	int aligning; /* number of the alignment in work */
};

int axes_new(struct axis_classes *axes, int64_t extent);
struct axis_class *axes_find(struct axis_classes *axes, int axis);
/* Both have one extent; the caller sees to that. */
void axes_join(struct axis_classes *axes, int a, int b);
void axes_fix(struct axis_classes *axes, int a);

/* Factors of an axis, outermost first; an axis of extent 1 has none, a fixed one always one. */
int axes_factors(struct axis_classes *axes, int a, int64_t *sizes);

/* Refines two lists of axes with the same product so that the factors above 1 are the same.  False:
 * no refinement does it, nothing is changed.  *changed turns true where a class got a split. */
bool axes_align(struct axis_classes *axes, const int *a, int a_count, const int *b, int b_count,
	bool *changed);

/*
 * Views of stored tensors, and statements that each write one: the result of building a model.  A reshape, a
 * transpose, a slice or a broadcast is a view; what reads it indexes the stored tensor.  A reshape for
 * which the axes have no common refinement is a copy (axes.h).
 */
enum { LOOPS_MOST = 16, READS_MOST = 7, TERMS_MOST = 3 };

enum view_kind { VIEW_STORED, VIEW_RESHAPED, VIEW_MAPPED, VIEW_SPLAT };

struct view_source_axis {
	int axis; /* of the view; -1: always at the offset */
	int64_t step, offset;
};

struct model_view {
	enum view_kind kind;
	struct model_shape shape;
	int axis[MODEL_RANK_MOST]; /* classes */
	const char *dtype;
	int source;                                    /* of a reshaped or mapped view */
	bool copied;                                   /* a reshape that no refinement does */
	bool crowds;                                   /* its refinement has too many factors */
	struct view_source_axis from[MODEL_RANK_MOST]; /* by axis of the source */
	double splat;
	const char *name;               /* stored */
	const struct constant *numbers; /* of a stored one that is folded; NULL: not known */
	bool weight, written, lead;     /* lead: it has a first dimension of extent 1 besides */
	bool live, output;
};

struct index_term {
	int loop;
	int64_t factor;
};

/* A sum of multiples of loops; a loop alone by steps of one walks all factors of the axis. */
struct view_index {
	int term_count;
	struct index_term terms[TERMS_MOST];
	int64_t offset;
};

struct view_read {
	int view;
	bool pad;      /* it may leave the tensor */
	bool has_lead; /* indexes the dimension in front */
	struct view_index lead;
	struct view_index index[MODEL_RANK_MOST];
};

enum form { FORM_MAP, FORM_REDUCE, FORM_PRODUCT, FORM_OPAQUE, FORM_RESHAPE };

struct statement {
	enum form form;
	const char *function; /* a map's, a reduction's, the name of an opaque op */
	bool has_constant;
	double constant;
	int loop_count;
	int loops[LOOPS_MOST]; /* classes; those of the output first */
	int output_loops;
	int read_count;
	struct view_read reads[READS_MOST];
	int write_count, writes[READS_MOST]; /* views; an opaque op has several */
	const struct model_call *call;
	bool live;
};

/* The view of two tensors, one behind the other. */
struct appended_part {
	int all, part, axis, view;
};

struct build {
	struct arena *arena;
	struct model *model;
	struct axis_classes axes;
	struct array(struct model_view) views;
	struct array(struct statement) statements;
	int *of_value; /* view of each value of the model, -1: none yet */
	struct names names;
	const struct model_call *call; /* in work */
	const char *why;               /* why it cannot be said; NULL: it can */
	int folded;                    /* calls that became views or constants */
	int opaque;
	struct array(const char *) opaque_names;
	struct array(const char *) notes;
	struct array(struct appended_part) appended;
	bool strict;
};

/* Views.  -1 stands for an operand that cannot be said, and every builder hands it on. */
int view_stored(
	struct build *b, const char *hint, const char *dtype, const struct model_shape *shape);
int view_splat(struct build *b, double value, const char *dtype, const struct model_shape *shape);
int view_reshape(struct build *b, int v, const struct model_shape *shape);
int view_permute(struct build *b, int v, const int *order);
int view_broadcast(struct build *b, int v, const struct model_shape *shape, const int *axis_of);
int view_broadcast_to(struct build *b, int v, const struct model_shape *shape);
int view_slice(
	struct build *b, int v, const int64_t *start, const int64_t *length, const int64_t *step);
int view_squeeze(struct build *b, int v, uint32_t axes);
const struct model_view *view_at(const struct build *b, int v);
/* True if an index beyond the view along axis h is beyond the stored tensor as well. */
bool view_ends(const struct build *b, int v, int h);
/* The view, or a copy of it that can be read beyond its ends along axis h. */
int view_open_ended(struct build *b, int v, int h);

/* Statements; the view of what they write. */
int build_map(struct build *b, const char *function, int a);
int build_map2(struct build *b, const char *function, int a, int c);
int build_map_constant(struct build *b, const char *function, int a, double constant);
int build_reduce(struct build *b, const char *function, int a, uint32_t axes, bool keep);
int build_contract(struct build *b, int a, const char *a_labels, int c, const char *c_labels,
	const char *out_labels);
int build_copy(struct build *b, int v);
int build_pad(struct build *b, int v, const int64_t *low, const int64_t *high);
int build_concat(struct build *b, const int *views, int count, int axis);
int build_cast(struct build *b, int v, const char *dtype);

/* A sliding window: of a convolution, `w` its weights [K, C / groups, ..], or a pool (w -1).  x is [N, C, ..]. */
struct window {
	int spatial; /* dimensions */
	int64_t size[MODEL_RANK_MOST], stride[MODEL_RANK_MOST], dilation[MODEL_RANK_MOST];
	int64_t low[MODEL_RANK_MOST], high[MODEL_RANK_MOST];
	int64_t groups;
	bool ceil;
};
int build_convolution(struct build *b, int x, int w, const struct window *window);
int build_pool(struct build *b, int x, const char *function, const struct window *window);

int build_softmax(struct build *b, int v, int axis, bool logarithm);
int build_norm(
	struct build *b, int v, uint32_t axes, double epsilon, bool centre, int scale, int bias);

/* Fails the call in work: it becomes opaque. */
int build_fail(struct build *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The meanings of ops (op_table.c), and what they say of their outputs; false: unknown. */
bool build_call(struct build *b, const struct model_call *call);
/* Constant results of constant operands (fold.c); false: there are none. */
bool fold_call(struct build *b, const struct model_call *call);

/* The text of the workload. */
struct import_summary;
const char *build_write(struct build *b, struct import_summary *summary);
/* After build_write, the text of a network of its convolutions and products; NULL: it has none. */
const char *build_network(struct build *b);

#endif
