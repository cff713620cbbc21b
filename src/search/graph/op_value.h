#ifndef SEARCH_OP_VALUE_H
#define SEARCH_OP_VALUE_H

#include "cost/graph/traffic.h"
#include "search/graph/op_map.h"

/* Finds the costs that an op adds to a plan with the tiles and the order that are set; false if they cannot be
 * counted. */
bool op_value_find(
	const struct traffic_op *traffic, const struct op_question *question, struct op_value *out);

/* The same in two parts: first all but what the cores take, so that cycles and estimate are lower bounds, then
 * these raised to the slowest core's, which takes longest to count where slices differ from core to core. */
bool op_value_least_cycles(
	const struct traffic_op *traffic, const struct op_question *question, struct op_value *out);
bool op_value_raise(const struct traffic_op *traffic, const struct op_question *question,
	struct op_value *value);

/*
 * For tiles whose computes are nests, with what `value` is worth: what no nest of a tile is below that is
 * no faster and needs no less energy by itself (search/nest/nest_search.h), whatever it moves in the
 * scratchpad.  There a plan counts bytes and accumulators, a nest words.  False if that is not known.
 */
bool op_value_least(struct traffic_op *traffic, const struct op_question *question,
	const struct op_value *value, struct op_value *out);

#endif
