#ifndef IMPORT_MODEL_H
#define IMPORT_MODEL_H

#include "base/array.h"
#include "base/diag.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * A model as a reader finds it: values, and calls of named ops in the order of execution.  Weights
 * have a shape and no data; constants of at most CONSTANT_MOST elements, and those whose elements are
 * all alike, keep their numbers.
 */
enum {
	MODEL_RANK_MOST = 12,
	CONSTANT_MOST = 4096,
	DIM_MOST_LOG2 = 31, /* an extent is below 2^31 */
};

struct model_shape {
	int rank; /* -1: unknown */
	int64_t size[MODEL_RANK_MOST];
};

/* Integers have `ints`, others `numbers`; one element that counts for all where it is a splat. */
struct constant {
	size_t count;
	const int64_t *ints;
	const double *numbers;
};

/* A number is (stored - zero point) * scale; one pair for all, or one for each element of an axis. */
struct quantization {
	size_t count; /* pairs */
	int axis;     /* -1: one pair for all */
	int64_t low, high;
	const double *scales, *zeros;
};

struct model_value {
	const char *name;
	const char *dtype; /* as a workload writes it; NULL: unknown */
	struct model_shape shape;
	bool input, weight, is_unsigned;
	const struct constant *constant;         /* NULL: not known */
	int line;                                /* of MLIR; 0: none */
	const struct quantization *quantization; /* NULL: none */
};

struct attribute {
	const char *name;
	size_t int_count, number_count;
	const int64_t *ints;
	const double *numbers;
	const char *text; /* of strings, with a blank between two; NULL: it has none */
	const struct constant *constant; /* of a tensor; NULL */
	struct model_shape shape;
	const char *dtype;
};

struct model_call {
	const char *op;   /* "Conv", "stablehlo.add" */
	const char *name; /* for messages */
	int line;
	int version; /* opset; 0: of MLIR */
	int input_count, output_count;
	const int *inputs; /* values; -1: left out */
	const int *outputs;
	size_t attribute_count;
	const struct attribute *attributes;
};

struct model {
	struct arena *arena;
	struct diag *diag;
	struct source *source;
	const char *name;
	struct array(struct model_value) values;
	struct array(struct model_call) calls;
	struct names names; /* of values */
	struct array(int) outputs;
	int64_t weight_bytes; /* of initializers and parameters */
};

/* The value of that name, made where there is none. */
int model_value(struct model *model, const char *name);

/* NULL: the call has none of that name. */
const struct attribute *call_attribute(const struct model_call *call, const char *name);
int64_t call_int(const struct model_call *call, const char *name, int64_t otherwise);
double call_number(const struct model_call *call, const char *name, double otherwise);
const char *call_text(const struct model_call *call, const char *name);

/* Counts the bytes of a weight. */
void model_add_weight(struct model *model, const struct model_value *value);

/* Elements; -1 where the shape is unknown or they are 2^62 or more. */
int64_t shape_elements(const struct model_shape *shape);
int64_t dtype_name_bytes(const char *dtype);

/* Element i of a constant, a splat's one for all. */
int64_t constant_int(const struct constant *constant, size_t i);

/* A constant of one whole number. */
const struct constant *constant_of_int(struct arena *arena, int64_t number);
double constant_number(const struct constant *constant, size_t i);

/* Returns the place that complaints about a call name: the file, and the line of MLIR. */
struct span model_place(const struct model *model, int line);

/* The readers: false after complaining.  `dims` gives symbolic dimensions their extents. */
struct dim_setting {
	const char *name;
	int64_t extent;
	struct span span;
	bool used;
};
struct dim_settings array(struct dim_setting);
bool onnx_read(struct model *model, const char *path, struct dim_settings *dims);
bool mlir_read(struct model *model, const char *text);

#endif
