#include "base/array.h"
#include "base/text.h"
#include "import/ops.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Scaling of scores x = q k': cap tanh(scale x / cap); cap 0: scale x. */
struct scoring {
	double scale, cap;
	int sink; /* a score besides, one for each head, that has no value; -1: none */
};

static int attention_scores(struct build *b, int x, struct scoring how)
{
	double inner = how.cap != 0 ? how.scale / how.cap : how.scale;
	if (inner != 1)
		x = build_map_constant(b, "mul", x, inner);
	return how.cap != 0 ? build_map_constant(b, "mul", build_map(b, "tanh", x), how.cap) : x;
}

/* exp(x) / (sum of exp(x) + exp(sink)) along the last dimension of [b, h, g, s, t] */
static int attention_weights(struct build *b, int x, int sink)
{
	if (x < 0 || sink < 0)
		return x < 0 ? -1 : build_softmax(b, x, 4, false);
	struct model_shape shape = view_at(b, x)->shape, heads = {5, {1, 1, 1, 1, 1}};
	heads.size[1] = shape.size[1];
	heads.size[2] = shape.size[2];
	if (shape_elements(&view_at(b, sink)->shape) != heads.size[1] * heads.size[2])
		return build_fail(b, "sinks that are not one for each head");
	sink = view_reshape(b, sink, &heads);
	int most = build_map2(b, "maximum", build_reduce(b, "max", x, 1 << 4, true), sink);
	int powers = build_map(b, "exp", build_map2(b, "sub", x, most));
	int sum = build_map2(b, "add", build_reduce(b, "sum", powers, 1 << 4, true),
		build_map(b, "exp", build_map2(b, "sub", sink, most)));
	return build_map2(b, "div", powers, sum);
}

/* softmax(score(q k') + mask) v over [b, h, s, d], with fewer heads of k and v if need be; mask -1: none */
static int ops_attention_attend(struct build *b, int q, int k, int v, int mask, struct scoring how)
{
	if (q < 0 || k < 0 || v < 0)
		return -1;
	const struct model_shape *shape = &view_at(b, q)->shape, *other = &view_at(b, k)->shape;
	if (shape->rank != 4 || other->rank != 4 || shape->size[1] % other->size[1])
		return build_fail(b, "operands that are not [batch, heads, sequence, depth]");
	int64_t heads = other->size[1], shared = shape->size[1] / heads;
	struct model_shape split = {5,
				   {shape->size[0], heads, shared, shape->size[2], shape->size[3]}},
			   whole = *shape;
	whole.size[3] = view_at(b, v)->shape.rank == 4 ? view_at(b, v)->shape.size[3] : 0;
	struct model_shape plain = {
		4, {shape->size[0], shape->size[1], shape->size[2], other->size[2]}};
	int scores = build_contract(b, view_reshape(b, q, &split), "bhgsd", k, "bhtd", "bhgst");
	scores = attention_scores(b, scores, how);
	if (mask >= 0 && scores >= 0) {
		struct model_shape again = view_at(b, scores)->shape;
		scores = view_reshape(
			b, build_map2(b, "add", view_reshape(b, scores, &plain), mask), &again);
	}
	int weights = attention_weights(b, scores, how.sink);
	return view_reshape(b, build_contract(b, weights, "bhgst", v, "bhtd", "bhgsd"), &whole);
}

static struct scoring scoring_of(const struct build *b, const struct model_call *call, int q)
{
	struct scoring how = {call_number(call, "scale", 0), call_number(call, "softcap", 0), -1};
	int rank = q < 0 ? 0 : view_at(b, q)->shape.rank;
	if (how.scale == 0 && rank > 0)
		how.scale = 1 / sqrt((double)view_at(b, q)->shape.size[rank - 1]);
	return how;
}

static const int heads_first[] = {0, 2, 1, 3};

/* [b, s, h d] as [b, h, s, d] */
static int part_heads(struct build *b, int v, int64_t heads)
{
	if (v < 0)
		return -1;
	const struct model_shape *from = &view_at(b, v)->shape;
	if (from->rank != 3 || heads < 1 || from->size[2] % heads)
		return build_fail(b, "operands that are not [batch, sequence, heads x depth]");
	return view_permute(b,
		view_reshape(b, v,
			&(struct model_shape){
				4, {from->size[0], from->size[1], heads, from->size[2] / heads}}),
		heads_first);
}

static int join_heads(struct build *b, int v)
{
	if (v < 0)
		return -1;
	struct model_shape s = view_at(b, v)->shape;
	if (s.rank != 4)
		return build_fail(b, "operands that are not [batch, heads, sequence, depth]");
	return view_reshape(b, view_permute(b, v, heads_first),
		&(struct model_shape){3, {s.size[0], s.size[2], s.size[1] * s.size[3]}});
}

/* The past keys or values with the new ones behind them along the sequence. */
static int ops_attention_append(
	struct build *b, const struct model_call *call, int past, int v, int output)
{
	if (v < 0)
		return -1;
	const struct constant *empty = mean_constant(b, call, past);
	if (mean_has(call, past) && !(empty && !empty->count)) {
		int both[2] = {mean_input(b, call, past), v};
		if (both[0] < 0)
			return -1;
		const struct model_shape *declared = mean_declared(b, call, output);
		bool shared = declared && declared->rank == 4 &&
			      declared->size[2] == view_at(b, both[0])->shape.size[2];
		v = shared ? both[0] : build_concat(b, both, 2, 2);
		if (shared && build_copy(b, both[1]) < 0)
			return -1;
	}
	mean_give(b, call, output, v);
	return v;
}

/* A table in memory, 0 where a row may look and -inf elsewhere. */
static int causal_mask(struct build *b, int q, int k)
{
	if (q < 0 || k < 0)
		return -1;
	int64_t rows = view_at(b, q)->shape.size[2], columns = view_at(b, k)->shape.size[2];
	int mask = view_stored(
		b, "causal_mask", view_at(b, q)->dtype, &(struct model_shape){2, {rows, columns}});
	if (mask >= 0)
		b->views.at[mask].weight = true;
	return mask;
}

/* 0, 1, 2 .. of the keys below the length of each row. */
static int mask_of_lengths(struct build *b, int lengths, int64_t keys)
{
	int numbers = view_stored(
		b, "count", view_at(b, lengths)->dtype, &(struct model_shape){2, {1, keys}});
	if (numbers < 0)
		return -1;
	b->views.at[numbers].weight = true;
	int64_t rows = view_at(b, lengths)->shape.size[0];
	return build_map2(
		b, "lt", numbers, view_reshape(b, lengths, &(struct model_shape){2, {rows, 1}}));
}

/*
 * 1 where a key counts, of [batch, keys] or [batch, queries, keys], or the lengths of [batch] rows, as what is added
 * to the scores: 0 and -10000.
 */
static int added_mask(struct build *b, int mask, int64_t keys)
{
	if (mask >= 0 && view_at(b, mask)->shape.rank == 1)
		mask = mask_of_lengths(b, mask, keys);
	if (mask < 0)
		return -1;
	struct model_shape from = view_at(b, mask)->shape;
	if (from.rank < 2 || from.rank > 3)
		return build_fail(b, "a mask that is not [batch, keys]");
	bool rows = from.rank == 3;
	int v = build_map_constant(b, "mul", build_cast(b, mask, "fp32"), 10000);
	v = build_map_constant(b, "add", v, -10000);
	return view_reshape(b, v,
		&(struct model_shape){
			4, {from.size[0], 1, rows ? from.size[1] : 1, from.size[from.rank - 1]}});
}

static int add_masks(struct build *b, int a, int c)
{
	return a < 0 ? c : c < 0 ? a : build_map2(b, "add", a, c);
}

/* One of the three parts of [.., q k v]. */
static int ops_attention_third(struct build *b, int v, int part)
{
	if (v < 0)
		return -1;
	int64_t all = view_at(b, v)->shape.size[2];
	return all % 3 ? build_fail(b, "a width that is not three parts")
		       : mean_slice_one(b, v, 2, part * (all / 3), all / 3);
}

/* Attention of com.microsoft: input, weights, bias, mask, past, what is added to the scores. */
int mean_attention_fused(struct build *b, const struct model_call *call, const char *argument)
{
	int v = mean_product(b, mean_input(b, call, 0), mean_input(b, call, 1), false, false);
	if (mean_has(call, 2))
		v = build_map2(b, "add", v, mean_input(b, call, 2));
	if (mean_has(call, 4) || call_attribute(call, "qkv_hidden_sizes") || v < 0)
		return build_fail(b, "an attention with a past, or parts of other widths");
	int64_t heads = call_int(call, "num_heads", 1);
	int q = part_heads(b, ops_attention_third(b, v, 0), heads),
	    k = part_heads(b, ops_attention_third(b, v, 1), heads);
	if (k < 0)
		return -1;
	int64_t keys = view_at(b, k)->shape.size[2];
	int mask = mean_has(call, 3) ? added_mask(b, mean_input(b, call, 3), keys) : -1;
	if (mean_has(call, 5))
		mask = add_masks(b, mask, mean_input(b, call, 5));
	if (call_int(call, "unidirectional", 0))
		mask = add_masks(b, mask, causal_mask(b, q, k));
	if (b->why)
		return -1;
	return join_heads(
		b, ops_attention_attend(b, q, k, part_heads(b, ops_attention_third(b, v, 2), heads),
			   mask, scoring_of(b, call, q)));
}

/* A part of a bias of q, k and v. */
static int add_bias_part(struct build *b, const struct model_call *call, int v, int64_t from)
{
	if (v < 0 || !mean_has(call, 3))
		return v;
	int bias = mean_input(b, call, 3);
	int64_t width = view_at(b, v)->shape.size[2];
	return bias < 0 ? -1 : build_map2(b, "add", v, mean_slice_one(b, bias, 0, from, width));
}

/* Part `at` of [batch, sequence, heads, parts, depth] as [batch, heads, sequence, depth]. */
static int packed_heads(struct build *b, const struct model_call *call, int v, int at)
{
	if (mean_has(call, 3) || at < 0 || at >= view_at(b, v)->shape.size[3])
		return build_fail(b, "packed operands with a bias");
	return view_permute(
		b, view_squeeze(b, mean_slice_one(b, v, 3, at, 1), UINT32_C(1) << 3), heads_first);
}

/* MultiHeadAttention: q, k, v (or q k v, or k v, packed), bias, mask of keys, what is added, past k, past v. */
int mean_attention_heads(struct build *b, const struct model_call *call, const char *argument)
{
	int64_t heads = call_int(call, "num_heads", 1);
	int parts[3];
	int64_t from = 0;
	for (int i = 0; i < 3; i++) {
		int v = mean_input(b, call, mean_has(call, i) ? i : mean_has(call, 1) ? 1 : 0);
		if (v >= 0 && view_at(b, v)->shape.rank == 5) {
			parts[i] = packed_heads(b, call, v, mean_has(call, 1) ? i - 1 : i);
			if (parts[i] < 0)
				return -1;
			continue;
		}
		if (!mean_has(call, i))
			return build_fail(b, "an attention without keys");
		if (v < 0)
			return -1;
		int64_t width = view_at(b, v)->shape.rank == 3 ? view_at(b, v)->shape.size[2] : 0;
		parts[i] = width ? part_heads(b, add_bias_part(b, call, v, from), heads) : v;
		from += width;
	}
	int k = ops_attention_append(b, call, 6, parts[1], 1),
	    v = ops_attention_append(b, call, 7, parts[2], 2);
	if (k < 0)
		return -1;
	int64_t keys = view_at(b, k)->shape.size[2];
	int mask = mean_has(call, 4) ? added_mask(b, mean_input(b, call, 4), keys) : -1;
	if (mean_has(call, 5))
		mask = add_masks(b, mask, mean_input(b, call, 5));
	if (call_int(call, "unidirectional", 0))
		mask = add_masks(b, mask, causal_mask(b, parts[0], k));
	return b->why ? -1
		      : join_heads(b, ops_attention_attend(b, parts[0], k, v, mask,
					      scoring_of(b, call, parts[0])));
}

/* x turned by angles, of which the halves (or neighbours) of the last dimension are the coordinates. */
static int ops_attention_turn(struct build *b, int x, int cosine, int sine, bool neighbours)
{
	if (x < 0 || cosine < 0 || sine < 0)
		return -1;
	struct model_shape whole = view_at(b, x)->shape, split = whole, half = whole;
	int last = whole.rank - 1, at = neighbours ? last + 1 : last, parts[2], turned[2];
	int rank = view_at(b, cosine)->shape.rank;
	int64_t depth = rank > 0 ? view_at(b, cosine)->shape.size[rank - 1] : 0;
	if (depth < 1 || last < 0 || whole.size[last] < 2 * depth ||
		whole.rank + 1 > MODEL_RANK_MOST)
		return build_fail(b, "angles of another depth");
	int rest = whole.size[last] == 2 * depth
			   ? -1
			   : mean_slice_one(b, x, last, 2 * depth, whole.size[last] - 2 * depth);
	if (whole.size[last] != 2 * depth)
		x = mean_slice_one(b, x, last, 0, 2 * depth);
	split.rank++;
	split.size[last] = neighbours ? depth : 2;
	split.size[last + 1] = neighbours ? 2 : depth;
	half.size[last] = depth;
	x = view_reshape(b, x, &split);
	for (int i = 0; i < 2; i++)
		parts[i] = x < 0 ? -1 : view_reshape(b, mean_slice_one(b, x, at, i, 1), &half);
	turned[0] = build_map2(b, "sub", build_map2(b, "mul", parts[0], cosine),
		build_map2(b, "mul", parts[1], sine));
	turned[1] = build_map2(b, "add", build_map2(b, "mul", parts[1], cosine),
		build_map2(b, "mul", parts[0], sine));
	if (turned[0] < 0 || turned[1] < 0)
		return -1;
	struct model_shape joined = half;
	joined.size[last] = 2 * depth;
	if (neighbours) {
		half.size[half.rank++] = 1;
		for (int i = 0; i < 2; i++)
			turned[i] = view_reshape(b, turned[i], &half);
	}
	if (b->why)
		return -1;
	int out = view_reshape(b, build_concat(b, turned, 2, at), &joined);
	int both[2] = {out, rest};
	return rest < 0 || out < 0 ? out : build_concat(b, both, 2, last);
}

/* The rows of a table of angles at the positions, [batch, 1, sequence, depth]. */
static int ops_attention_angles(
	struct build *b, const struct model_call *call, int i, const struct model_shape *x)
{
	int table = mean_input(b, call, i);
	if (table < 0)
		return -1;
	const struct model_shape *from = &view_at(b, table)->shape;
	if (from->rank < 1 || x->rank != 4)
		return build_fail(b, "a table of angles without a depth");
	struct model_shape shape = {4, {x->size[0], 1, x->size[2], from->size[from->rank - 1]}};
	if (from->rank == 3)
		return view_reshape(b, table, &shape);
	int rows = view_stored(
		b, arena_format(b->arena, "angles_%d", i), view_at(b, table)->dtype, &shape);
	if (rows >= 0)
		b->views.at[rows].weight = true;
	return rows;
}

/* RotaryEmbedding: x, positions, cosines, sines; of opset 23 x, cosines, sines, positions. */
int mean_rotary(struct build *b, const struct model_call *call, const char *argument)
{
	bool positions_last = argument[0] != 0;
	int x = mean_input(b, call, 0), at = positions_last ? 1 : 2;
	if (x < 0)
		return -1;
	int64_t heads = call_int(call, "num_heads", 0);
	bool parted = view_at(b, x)->shape.rank == 3;
	const struct model_value *table =
		&b->model->values.at[call->inputs[mean_has(call, at) ? at : 0]];
	if (parted && !heads && table->shape.rank > 0 &&
		table->shape.size[table->shape.rank - 1] > 0)
		heads = view_at(b, x)->shape.size[2] /
			(2 * table->shape.size[table->shape.rank - 1]);
	if (parted)
		x = part_heads(b, x, heads);
	if (x < 0)
		return -1;
	struct model_shape shape = view_at(b, x)->shape;
	int v = ops_attention_turn(b, x, ops_attention_angles(b, call, at, &shape),
		ops_attention_angles(b, call, at + 1, &shape), call_int(call, "interleaved", 0));
	return parted ? join_heads(b, v) : v;
}

/* GroupQueryAttention: q (or q k v), k, v, past k, past v, lengths, length, cosines, sines. */
int mean_attention_groups(struct build *b, const struct model_call *call, const char *argument)
{
	int64_t heads = call_int(call, "num_heads", 1), few = call_int(call, "kv_num_heads", 1);
	int x = mean_input(b, call, 0), parts[3] = {x};
	if (x < 0 || heads < 1 || few < 1 || view_at(b, x)->shape.rank != 3)
		return build_fail(b, "operands that are not [batch, sequence, heads x depth]");
	bool packed = !mean_has(call, 1);
	int64_t width = view_at(b, x)->shape.size[2],
		depth = packed ? width / (heads + 2 * few) : width / heads;
	if (packed && width != depth * (heads + 2 * few))
		return build_fail(b, "a width that is not that of its heads");
	for (int i = 0; i < 3; i++) {
		int64_t from = i == 0 ? 0 : heads + (i - 1) * few;
		if (packed)
			parts[i] = mean_slice_one(
				b, x, 2, from * depth, (i == 0 ? heads : few) * depth);
		else if (i)
			parts[i] = mean_input(b, call, i);
		parts[i] = part_heads(b, parts[i], i == 0 ? heads : few);
		if (parts[i] < 0)
			return -1;
	}
	for (int i = 0; i < 2 && call_int(call, "do_rotary", 0); i++) {
		struct model_shape shape = view_at(b, parts[i])->shape;
		parts[i] = ops_attention_turn(b, parts[i], ops_attention_angles(b, call, 7, &shape),
			ops_attention_angles(b, call, 8, &shape),
			call_int(call, "rotary_interleaved", 0));
	}
	int k = ops_attention_append(b, call, 3, parts[1], 1),
	    v = ops_attention_append(b, call, 4, parts[2], 2);
	if (call_int(call, "local_window_size", -1) > 0)
		*array_add(b->arena, &b->notes) = arena_format(b->arena,
			"'%s' (%s) looks at %" PRId64
			" keys; the others are in its mask, and are read and multiplied as well",
			call->name, call->op, call_int(call, "local_window_size", -1));
	if (b->why)
		return -1;
	return join_heads(b, ops_attention_attend(b, parts[0], k, v, causal_mask(b, parts[0], k),
				     scoring_of(b, call, parts[0])));
}

/* x cos + (-x2, x1) sin, the angles as wide as x */
int mean_rotary_whole(struct build *b, const struct model_call *call, const char *argument)
{
	int x = mean_input(b, call, 0), turned[2];
	if (x < 0)
		return -1;
	int last = view_at(b, x)->shape.rank - 1;
	int64_t depth = last < 0 ? 0 : view_at(b, x)->shape.size[last] / 2;
	if (depth < 1 || view_at(b, x)->shape.size[last] != 2 * depth)
		return build_fail(b, "an odd depth");
	turned[0] = build_map(b, "neg", mean_slice_one(b, x, last, depth, depth));
	turned[1] = mean_slice_one(b, x, last, 0, depth);
	if (b->why)
		return -1;
	return build_map2(b, "add", build_map2(b, "mul", x, mean_input(b, call, 1)),
		build_map2(b, "mul", build_concat(b, turned, 2, last), mean_input(b, call, 2)));
}

int mean_join_heads(struct build *b, const struct model_call *call, const char *argument)
{
	return join_heads(b, mean_input(b, call, 0));
}

/* The operand after `from` with one element for each key, and that with one for each head; -1: none. */
static void find_masks(struct build *b, const struct model_call *call, int from, int64_t keys,
	int64_t heads, int *mask, int *sink)
{
	*mask = *sink = -1;
	for (int i = from; i < call->input_count; i++) {
		int v = mean_has(call, i) ? mean_input(b, call, i) : -1;
		if (v < 0)
			continue;
		const struct model_shape *s = &view_at(b, v)->shape;
		if (s->rank == 4 && s->size[3] == keys)
			*mask = v;
		else if (s->rank > 1 && shape_elements(s) == heads)
			*sink = v;
	}
}

/* Attention over [batch, heads, sequence, depth]; with 0 and -inf as a table where it is causal. */
int mean_attention(struct build *b, const struct model_call *call, const char *argument)
{
	int q = mean_input(b, call, 0), k = mean_input(b, call, 1), v = mean_input(b, call, 2),
	    mask;
	if (q < 0 || k < 0 || v < 0)
		return -1;
	if (view_at(b, q)->shape.rank != 4 || view_at(b, k)->shape.rank != 4)
		return build_fail(b, "operands that are not [batch, heads, sequence, depth]");
	struct scoring how = scoring_of(b, call, q);
	find_masks(b, call, 3, view_at(b, k)->shape.size[2], view_at(b, q)->shape.size[1], &mask,
		&how.sink);
	if (call_int(call, "is_causal", argument[0] && mask < 0))
		mask = add_masks(b, mask, causal_mask(b, q, k));
	return b->why ? -1 : ops_attention_attend(b, q, k, v, mask, how);
}

/* The pages of [pages, heads, rows, depth] that a table of [batch, n] names, as [batch, heads, n rows, depth]. */
static int read_pages(struct build *b, const struct model_call *call, int i, int table)
{
	int v = mean_input(b, call, i);
	if (v < 0 || table < 0)
		return -1;
	const struct model_shape *from = &view_at(b, v)->shape, *by = &view_at(b, table)->shape;
	if (from->rank != 4 || by->rank != 2)
		return build_fail(b, "pages that are not [pages, heads, rows, depth]");
	struct model_shape shape = {
		4, {by->size[0], from->size[1], by->size[1] * from->size[2], from->size[3]}};
	int rows =
		view_stored(b, arena_format(b->arena, "pages_%d", i), view_at(b, v)->dtype, &shape);
	if (rows >= 0)
		b->views.at[rows].weight = true;
	return rows;
}

/* One query of each head, [1, batch, heads, depth]; keys as above, or pages that operand 3 names. */
int mean_attention_decode(struct build *b, const struct model_call *call, const char *argument)
{
	static const int in[] = {1, 2, 0, 3}, out[] = {2, 0, 1, 3}, turned[] = {0, 2, 1, 3};
	int q = mean_input(b, call, 0), mask;
	bool paged = argument[0] != 0;
	if (q >= 0 && view_at(b, q)->shape.rank != 4)
		return build_fail(b, "operands that are not [1, batch, heads, depth]");
	q = view_permute(b, q, in);
	int table = paged ? mean_input(b, call, 3) : -1;
	int k = paged ? read_pages(b, call, 1, table) : mean_input(b, call, 1),
	    v = paged ? read_pages(b, call, 2, table) : mean_input(b, call, 2);
	if (q < 0 || k < 0 || v < 0)
		return -1;
	if (view_at(b, k)->shape.rank != 4)
		return build_fail(b, "keys that are not [batch, heads, sequence, depth]");
	struct scoring how = scoring_of(b, call, q);
	int64_t batch = view_at(b, q)->shape.size[0], keys = view_at(b, k)->shape.size[2];
	find_masks(b, call, paged ? 4 : 3, keys, view_at(b, q)->shape.size[1], &mask, &how.sink);
	if (mask >= 0)
		mask = view_permute(b, mask, turned);
	if (call_int(call, "is_causal", mask < 0)) {
		int table_of_keys = view_stored(b, "causal_mask", view_at(b, q)->dtype,
			&(struct model_shape){4, {batch, 1, 1, keys}});
		if (table_of_keys >= 0)
			b->views.at[table_of_keys].weight = true;
		mask = add_masks(b, mask, table_of_keys);
	}
	return b->why ? -1 : view_permute(b, ops_attention_attend(b, q, k, v, mask, how), out);
}

/* [batch, sequence, q k v] as heads of queries, keys and values; keys and values may be a tensor of their own. */
int mean_split_heads(struct build *b, const struct model_call *call, const char *argument)
{
	static const int swapped[] = {0, 1, 3, 2};
	int v = mean_input(b, call, 0), parts[3];
	int64_t heads = call_int(call, "num_heads", 1), few = call_int(call, "num_kv_heads", heads);
	bool apart = mean_has(call, 1);
	if (v < 0 || view_at(b, v)->shape.rank != 3 || heads < 1 || few < 1)
		return build_fail(b, "operands that are not [batch, sequence, heads x depth]");
	int64_t width = view_at(b, v)->shape.size[2],
		depth = width / (apart ? heads : heads + 2 * few);
	for (int i = 0; i < 3; i++) {
		int from = i && apart ? mean_input(b, call, 1) : v;
		int64_t count = i ? few : heads,
			at = i == 0 ? 0 : (apart ? 0 : heads) + (i - 1) * few;
		parts[i] = from < 0 ? -1 : mean_slice_one(b, from, 2, at * depth, count * depth);
		parts[i] = part_heads(b, parts[i], count);
	}
	if (call_int(call, "transpose_key", 0))
		parts[1] = view_permute(b, parts[1], swapped);
	if (b->why)
		return -1;
	for (int i = 1; i < 3; i++)
		mean_give(b, call, i, parts[i]);
	return parts[0];
}
