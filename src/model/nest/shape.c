#include "model/nest/shape.h"

#include "base/arena.h"
#include "base/number.h"
#include "base/text.h"

int shape_dimension(const struct shape *shape, const char *name)
{
	for (int d = 0; d < shape->dimension_count; d++)
		if (text_equal(shape->dimensions[d].name, name))
			return d;
	return -1;
}

int shape_space(const struct shape *shape, const char *name)
{
	for (int t = 0; t < shape->space_count; t++)
		if (text_equal(shape->spaces[t].name, name))
			return t;
	for (int t = 0; t < shape->space_count; t++)
		if (shape->spaces[t].role && text_equal(shape->spaces[t].role, name))
			return t;
	return -1;
}

bool shape_computes(const struct shape *shape, int64_t *out)
{
	int64_t product = 1;
	for (int d = 0; d < shape->dimension_count; d++)
		if (!number_mul(product, shape->dimensions[d].extent, &product))
			return false;
	*out = product;
	return true;
}

void dataspace_word(
	const struct dataspace *space, int dimension_count, const int64_t *point, int64_t *word)
{
	for (int r = 0; r < space->rank_count; r++) {
		word[r] = 0;
		for (int d = 0; d < dimension_count; d++)
			word[r] += space->ranks[r].coefficient[d] * point[d];
	}
}

uint32_t shape_rank_dimensions(const struct shape_rank *rank)
{
	uint32_t dimensions = 0;
	for (int d = 0; d < SHAPE_DIMENSIONS_MOST; d++)
		dimensions |= (uint32_t)(rank->coefficient[d] != 0) << d;
	return dimensions;
}

void shape_finish(struct shape *shape)
{
	for (int t = 0; t < shape->space_count; t++) {
		struct dataspace *space = &shape->spaces[t];
		space->relevant = 0;
		for (int k = 0; k < space->rank_count; k++)
			space->relevant |= shape_rank_dimensions(&space->ranks[k]);
	}
}

bool dataspace_slides(const struct dataspace *space)
{
	bool slides = false;
	for (int k = 0; k < space->rank_count; k++) {
		uint32_t dimensions = shape_rank_dimensions(&space->ranks[k]);
		slides |= (dimensions & (dimensions - 1)) != 0;
	}
	return slides;
}

bool shape_writes_overlap(const struct shape *shape)
{
	bool overlap = false;
	for (int t = 0; t < shape->space_count; t++)
		overlap |= shape->spaces[t].written && dataspace_slides(&shape->spaces[t]);
	return overlap;
}

static bool equal_spaces(
	const struct shape *shape, const struct dataspace *a, const struct dataspace *b)
{
	if (!text_equal(a->name, b->name) || a->written != b->written ||
		a->rank_count != b->rank_count || a->word_bits != b->word_bits)
		return false;
	for (int k = 0; k < a->rank_count; k++)
		for (int d = 0; d < shape->dimension_count; d++)
			if (a->ranks[k].coefficient[d] != b->ranks[k].coefficient[d])
				return false;
	return true;
}

bool shape_equal(const struct shape *a, const struct shape *b)
{
	if (a->dimension_count != b->dimension_count || a->space_count != b->space_count)
		return false;
	for (int d = 0; d < a->dimension_count; d++)
		if (a->dimensions[d].extent != b->dimensions[d].extent ||
			!text_equal(a->dimensions[d].name, b->dimensions[d].name))
			return false;
	for (int t = 0; t < a->space_count; t++)
		if (!equal_spaces(a, &a->spaces[t], &b->spaces[t]))
			return false;
	return true;
}
