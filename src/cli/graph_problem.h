#ifndef CLI_GRAPH_PROBLEM_H
#define CLI_GRAPH_PROBLEM_H

#include "cli/graph_inputs.h"

/*
 * What Timeloop's users write beside a `problem` that becomes a graph of one op (graph_inputs.h): its
 * mapping, its mapper, and constraints of its mapspace.  What they mean where tiles move in boxes is in
 * model/graph/box_nest.h.  All complain.
 */
struct constraints;
struct shape;

/* A `mapping:` as the plan of the op, all tensors in HBM. */
void graph_problem_mapping(struct inputs *inputs, struct graph_inputs *own,
	const struct shape *shape, const struct node *mapping);

/* The objectives of a `mapper:` and its budget; what steers Timeloop's draws is refused by name. */
void graph_problem_mapper(
	struct inputs *inputs, struct graph_inputs *own, const struct node *mapper);

/* Whether the constraints of mappings go together, into constraints->problem; flags are refused. */
void graph_problem_agree(struct inputs *inputs, const struct arch *arch, const struct shape *shape,
	struct constraints *constraints);

#endif
