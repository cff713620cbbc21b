#ifndef MODEL_NEST_NETWORK_GRAPH_H
#define MODEL_NEST_NETWORK_GRAPH_H

#include "model/nest/network.h"

/*
 * The graph of a network's layers: the text of a `workload:` with an op for each occurrence of each layer.  An operand
 * reads the result of the layer that `from` names, or without `from`, of the layer before if that one occurs as
 * often and the shapes agree; all others are inputs of the graph.
 *
 * Shapes agree if the ranks of the operand are those of the result, in order: of the same extent; as one that is a
 * product of the other's next ones; or as a window that leaves the result by less than the window (padding, half of
 * it in front, the odd one too) or the end of it by less than its stride.  Ranks of extent 1 are ignored.
 *
 * Consecutive layers of equal counts are written occurrence by occurrence.  A layer reads the same occurrence of an
 * earlier layer among these, the occurrence before of itself and later ones, and the last occurrence of others.  The
 * first occurrence of such a layer reads memory.
 *
 * Limits: NETWORK_OPS_MOST occurrences; each rank of a result is one dimension; a dimension that two operands split
 * (one dimension of 6 for ranks of 2 x 3) is split alike.  Others are errors with the layer's place.
 */
enum { NETWORK_OPS_MOST = 4096 };

/* Returns text in the arena of the reading; NULL after complaining.  Adds a remark that names the layers that read memory, and why. */
const char *network_graph(const struct reading *reading, const struct network *network);

#endif
