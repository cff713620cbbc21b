#ifndef SEARCH_OP_VALUE_H
#define SEARCH_OP_VALUE_H

#include "cost/graph/traffic.h"
#include "search/graph/op_map.h"

/* What an op adds to a plan with the tiles and the order that are set; false when it cannot be counted. */
bool op_value_find(
	const struct traffic_op *traffic, const struct op_question *question, struct op_value *out);

#endif
