#ifndef IMPORT_IMPORT_H
#define IMPORT_IMPORT_H

#include "import/model.h"

/*
 * Reads a model and writes the text of a workload, or of a network.  A model is a file whose name ends in .onnx, or in .mlir.
 * An op without a row becomes opaque with the bytes of its tensors; `strict` refuses it.
 */
struct import_wishes {
	struct dim_settings dims;
	bool strict;
	bool network; /* its convolutions and products as layers, in place of the graph */
};

struct import_summary {
	int calls;  /* of the model */
	int ops;    /* of the workload */
	int folded; /* calls that became views or constants */
	int opaque; /* calls */
	int copies; /* reshapes */
	int64_t convolution_macs, product_macs, weight_bytes;
	struct array(const char *) opaque_names; /* "TopK 2" */
	struct array(const char *) notes;
};

bool import_is_model(const char *path);

/* NULL after complaining. */
const char *import_file(struct arena *arena, const char *path, struct import_wishes *wishes,
	struct diag *diag, struct import_summary *summary);

#endif
