#ifndef IMPORT_MLIR_H
#define IMPORT_MLIR_H

#include "import/model.h"

/*
 * MLIR text as functions of calls, before they are joined to one model.  Generic and pretty forms read alike:
 * an op's name, its operands, everything of the form `key = value` wherever it stands, a signature of types.
 * Dialects and unknown attributes are ignored.
 */
struct mlir_type {
	const char *dtype; /* NULL: it is not a tensor */
	struct model_shape shape;
	const struct quantization *quantization; /* NULL: none */
};

struct mlir_function;
struct mlir_functions array(struct mlir_function);

struct mlir_call {
	const char *op;
	int line;
	struct array(const char *) operands, results;
	struct array(const char *)
		starts; /* of "%i = %c": the argument of a region, operand of the same number */
	struct array(struct mlir_type) types; /* of the results */
	struct array(struct attribute) attributes;
	struct mlir_functions regions; /* without names */
	const char *body;              /* the first op of its first region; NULL */
	const char *symbol;            /* "@relu" without the @; NULL */
};

struct mlir_function {
	const char *name;
	int line;
	struct array(const char *) arguments, labels; /* labels: what the model calls them, NULL */
	struct array(bool) parameters;
	struct array(struct mlir_type) types;
	struct array(struct mlir_call) calls;
	struct array(const char *) returns;
	bool external; /* it has no body */
};

/* False after complaining. */
bool mlir_parse(struct model *model, const char *text, struct mlir_functions *out);

#endif
