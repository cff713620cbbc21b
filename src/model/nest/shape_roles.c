#include "base/lattice.h"
#include "base/text.h"
#include "model/nest/shape.h"

const char *const shape_roles[] = {"Inputs", "Weights", "Outputs", NULL};

bool shape_is_role(const char *name)
{
	for (int i = 0; shape_roles[i]; i++)
		if (text_equal(shape_roles[i], name))
			return true;
	return false;
}

bool shape_lacks(const struct shape *shape, const char *role)
{
	bool of_graph = false;
	for (int t = 0; t < shape->space_count; t++)
		of_graph |= shape->spaces[t].role != NULL;
	return of_graph && shape_is_role(role) && shape_space(shape, role) < 0;
}

/* The dimension that one rank walks alone, step by step; -1: it is none such. */
static int lone_dimension(const struct shape *shape, const struct shape_rank *rank)
{
	return lattice_unit(rank->coefficient, shape->dimension_count);
}

static bool is_matrix(const struct shape *shape, const struct dataspace *space)
{
	if (space->rank_count != 2)
		return false;
	int row = lone_dimension(shape, &space->ranks[0]);
	int column = lone_dimension(shape, &space->ranks[1]);
	return row >= 0 && column >= 0 && row != column;
}

bool shape_multiplies(const struct shape *shape)
{
	bool sums = false;
	int reads = 0;
	uint32_t written = 0;
	for (int t = 0; t < shape->space_count; t++) {
		reads += !shape->spaces[t].written;
		written |= shape->spaces[t].written ? shape->spaces[t].relevant : 0;
	}
	for (int d = 0; d < shape->dimension_count; d++)
		sums |= !(written >> d & 1);
	return (reads > 1 && sums) || !shape->space_count;
}

/* As for ops of a graph: what is read first is Inputs, then Weights, and the result Outputs; of two operands at most. */
static void find_by_position(struct shape *shape)
{
	int reads = 0;
	for (int t = 0; t < shape->space_count; t++)
		if (shape_is_role(shape->spaces[t].name) || shape->space_count > 3)
			return;
	for (int t = 0; t < shape->space_count; t++) {
		struct dataspace *space = &shape->spaces[t];
		if (space->written)
			space->role = "Outputs";
		else
			space->role = shape_roles[reads++];
	}
}

static bool find_of_matrices(struct shape *shape)
{
	struct dataspace *result = NULL, *reads[2] = {NULL, NULL};
	int count = 0;
	if (shape->space_count != 3 || shape->dimension_count != 3)
		return false;
	for (int t = 0; t < 3; t++) {
		struct dataspace *space = &shape->spaces[t];
		if (shape_is_role(space->name) || !is_matrix(shape, space) ||
			(!space->written && count == 2))
			return false;
		if (space->written)
			result = space;
		else
			reads[count++] = space;
	}
	if (!result || count != 2 || reads[0]->relevant == reads[1]->relevant ||
		reads[0]->relevant == result->relevant || reads[1]->relevant == result->relevant)
		return false;
	int row = lone_dimension(shape, &result->ranks[0]);
	bool first = reads[0]->relevant >> row & 1;
	reads[!first]->role = "Inputs";
	reads[first]->role = "Weights";
	result->role = "Outputs";
	return true;
}

void shape_find_roles(struct shape *shape)
{
	if (!find_of_matrices(shape))
		find_by_position(shape);
}
