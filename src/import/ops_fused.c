#include "base/text.h"
#include "import/ops.h"

#include <string.h>

/* Fused ops of com.microsoft that are neither attention nor quantised. */

/* Rows of a table in memory, which rows does not matter to a plan: an input of its own. */
static int rows_of(
	struct build *b, const struct model_call *call, int i, const struct model_shape *shape)
{
	int table = mean_input(b, call, i);
	if (table < 0)
		return -1;
	struct model_shape rows = *shape;
	const struct model_shape *from = &view_at(b, table)->shape;
	if (from->rank != 2)
		return build_fail(b, "an embedding that is not [rows, width]");
	rows.size[rows.rank++] = from->size[1];
	const char *name = view_at(b, table)->name;
	int made = view_stored(b, arena_format(b->arena, "%s_rows", name ? name : "table"),
		view_at(b, table)->dtype, &rows);
	if (made >= 0)
		b->views.at[made].weight = true;
	return made;
}

/* Words, segments, tables of words, positions and segments, scale, bias, mask: a norm of their sum. */
int mean_embedding_norm(struct build *b, const struct model_call *call, const char *argument)
{
	enum { SEGMENTS = 1, WORD_TABLE, PLACE_TABLE, SEGMENT_TABLE, SCALE, BIAS, MASK };
	int words = mean_input(b, call, 0);
	if (words < 0 || view_at(b, words)->shape.rank != 2)
		return build_fail(b, "words that are not [batch, sequence]");
	const struct model_shape shape = view_at(b, words)->shape;
	int sum = build_map2(b, "add", rows_of(b, call, WORD_TABLE, &shape),
		rows_of(b, call, PLACE_TABLE, &shape));
	if (mean_has(call, SEGMENT_TABLE))
		sum = build_map2(b, "add", sum, rows_of(b, call, SEGMENT_TABLE, &shape));
	if (mean_has(call, MASK))
		mean_give(b, call, 1, build_reduce(b, "sum", mean_input(b, call, MASK), 2, false));
	else
		mean_give(b, call, 1,
			view_splat(b, 0, "int32", &(struct model_shape){1, {shape.size[0]}}));
	mean_give(b, call, 2, sum);
	return build_norm(b, sum, 1 << 2, call_number(call, "epsilon", 1e-12), true,
		mean_input(b, call, SCALE), mean_input(b, call, BIAS));
}

/* (x + bias): the first half times gelu of the second. */
int mean_gated_gelu(struct build *b, const struct model_call *call, const char *argument)
{
	int v = build_map2(b, "add", mean_input(b, call, 0), mean_input(b, call, 1));
	int last = v < 0 ? -1 : view_at(b, v)->shape.rank - 1;
	if (last < 0 || view_at(b, v)->shape.size[last] % 2)
		return build_fail(b, "a width that is not two halves");
	int64_t half = view_at(b, v)->shape.size[last] / 2;
	return build_map2(b, "mul", mean_slice_one(b, v, last, 0, half),
		build_map(b, "gelu", mean_slice_one(b, v, last, half, half)));
}

/* The middle of a tensor; around what is too small lie zeros. */
int mean_centre_part(struct build *b, const struct model_call *call, const char *argument)
{
	int64_t sizes[MODEL_RANK_MOST], axes[MODEL_RANK_MOST], low[MODEL_RANK_MOST] = {0},
							       high[MODEL_RANK_MOST] = {0};
	int v = mean_input(b, call, 0), count = 0, axis_count = 0;
	if (v < 0)
		return -1;
	if (!mean_ints(b, call, NULL, 1, MODEL_RANK_MOST, sizes, &count))
		return build_fail(b, "sizes that are computed");
	if (!mean_ints(b, call, "axes", -1, MODEL_RANK_MOST, axes, &axis_count))
		for (axis_count = 0; axis_count < count; axis_count++)
			axes[axis_count] = axis_count;
	for (int i = 0; i < count && i < axis_count; i++) {
		int h = mean_axis(b, axes[i], view_at(b, v)->shape.rank);
		if (h < 0 || sizes[i] < 1)
			return build_fail(b, "sizes of other dimensions");
		int64_t more = sizes[i] - view_at(b, v)->shape.size[h];
		if (more < 0)
			v = mean_slice_one(b, v, h, -more / 2, sizes[i]);
		if (v < 0)
			return -1;
		low[h] = more > 0 ? more / 2 : 0;
		high[h] = more > 0 ? more - more / 2 : 0;
	}
	bool pads = false;
	for (int h = 0; h < MODEL_RANK_MOST; h++)
		pads |= low[h] || high[h];
	return pads ? build_pad(b, v, low, high) : v;
}

/* Ones on a diagonal, a table in memory. */
int mean_eye(struct build *b, const struct model_call *call, const char *argument)
{
	int v = mean_input(b, call, 0);
	if (v < 0)
		return -1;
	int made = view_stored(b, "eye", view_at(b, v)->dtype, &view_at(b, v)->shape);
	if (made >= 0)
		b->views.at[made].weight = true;
	return made;
}
