#ifndef MODEL_NEST_NETWORK_H
#define MODEL_NEST_NETWORK_H

#include "model/nest/shape.h"

/*
 * A list of layers, each one problem that occurs a number of times:
 *
 *	network:
 *	  name: small
 *	  shapes:
 *	    conv:
 *	      dimensions: [C, M, R, P]
 *	      data_spaces: [...]
 *	  layers:
 *	  - {name: first, shape: conv, instance: {C: 3, M: 16, R: 3, P: 32}}
 *	  - {name: more, count: 4, shape: conv, instance: {C: 16, M: 16, R: 3, P: 32}}
 *
 * A layer has the keys of a `problem:` (model/nest/shape.h), and `name`, `count` and `from`; its `shape` may
 * be a word, a key of `shapes`.  Layers of equal shape and extents are one problem under any
 * name.  `from` is the layer whose result it reads, or a map of its dataspaces to such layers, and matters to the
 * graph of the layers only (model/nest/network_graph.h): as problems they are independent.
 */
enum { NETWORK_LAYERS_MOST = 4096, NETWORK_NAME_MOST = 100 };
#define NETWORK_COUNT_MOST ((int64_t)1 << 31)

/* An operand of a layer that is another one's result. */
struct layer_source {
	int space; /* the dataspace; -1: `from` does not say */
	size_t layer;
	struct span span;
};

struct layer_sources {
	bool given;
	size_t count;
	struct layer_source *at;
};

struct layer {
	const char *name; /* letters, digits, '_', '-', '.'; of one layer only */
	int64_t count;    /* how often it occurs: 1 .. 2^31 */
	const struct shape *shape;
	struct layer_sources from;
	size_t same_as; /* the first layer that is the same problem; itself if it is the first */
	struct span span;
};

struct network {
	const char *name;
	size_t layer_count;
	struct layer *layers;
	size_t distinct; /* layers that are the same as none before */
	struct span span;
};

/* NULL after complaining. */
extern const struct noun network_noun;
const struct network *network_read(const struct reading *reading, const struct node *node);

/* Sums over all layers. */
int64_t network_occurrences(const struct network *network);

/* True if some layer has a `from`. */
bool network_flows(const struct network *network);

#endif
