#ifndef IMPORT_OPS_H
#define IMPORT_OPS_H

#include "import/build.h"

/*
 * The meanings of ops, by which the rows of the one table (op_table.c) call the builders.  A meaning answers the
 * view of the first output, -1 where the call cannot be said; `argument` is the row's.
 */
typedef int meaning(struct build *b, const struct model_call *call, const char *argument);

/* Operand i, a constant among them; -1 after failing where it is left out. */
int mean_input(struct build *b, const struct model_call *call, int i);
bool mean_has(const struct model_call *call, int i);
/* The numbers of operand i; NULL: they are not known. */
const struct constant *mean_constant(const struct build *b, const struct model_call *call, int i);
/* The integers of an attribute, or of operand i where i >= 0; false: neither is there. */
bool mean_ints(struct build *b, const struct model_call *call, const char *name, int i, int most,
	int64_t *out, int *count);
/* Reads the numbers of an ONNX constant; false: it has none, or too many. */
bool mean_literal_known(struct build *b, const struct model_call *call);
/* Returns the shape that the model declares for output i; NULL: none. */
const struct model_shape *mean_declared(
	const struct build *b, const struct model_call *call, int i);
/* Gives output i a shape if the model has none; the call stays opaque. */
void mean_shape(struct build *b, const struct model_call *call, int i,
	const struct model_shape *shape, const char *dtype);
void mean_give(struct build *b, const struct model_call *call, int i, int view);
/* An axis as Python counts it; -1 after failing. */
int mean_axis(struct build *b, int64_t axis, int rank);
/* Elements `from` up to from + length along one axis. */
int mean_slice_one(struct build *b, int v, int axis, int64_t from, int64_t length);
/* Elements of one axis in another order, one after the other. */
int mean_reorder(struct build *b, int v, int axis, const int64_t *order, int64_t count);
/* Copies one behind the other along a new dimension in front of the repeated one, or behind it. */
int mean_repeat_axis(struct build *b, int v, int axis, int64_t times, bool inside);
/* The elements of one axis in reverse; by - 1 zeros between them. */
int mean_turn(struct build *b, int v, int axis);
int mean_stretch(struct build *b, int v, int axis, int64_t by);
/* [C] as it stands along one axis of a tensor of that rank. */
int mean_along(struct build *b, int v, int axis, int rank);
/* The axes and `keepdims` of a reduction. */
bool mean_reduced_axes(struct build *b, const struct model_call *call, int rank, uint32_t *axes);
bool mean_keeps(const struct model_call *call);
/* A reduction of StableHLO begins with operand 1, which need not be neutral. */
int mean_with_first(struct build *b, const struct model_call *call, const char *function, int v);
/* a and c as [.., m, k] and [.., k, n], or turned, with batch dimensions that broadcast. */
int mean_product(struct build *b, int a, int c, bool a_turned, bool c_turned);
/* The window of an ONNX call over those operands; bias -1: none. */
int mean_convolve(struct build *b, const struct model_call *call, int x, int w, int bias);
bool mean_is_onnx(const struct model_call *call);
bool mean_is_ttir(const struct model_call *call);

meaning mean_map, mean_map2, mean_compare, mean_select, mean_clamp, mean_identity, mean_alone,
	mean_cast, mean_logic, mean_shift, mean_divide, mean_infinite, mean_power, mean_recipe,
	mean_leaky, mean_mod, mean_average;
meaning mean_reshape, mean_flatten, mean_squeeze, mean_unsqueeze, mean_transpose, mean_rearrange,
	mean_broadcast, mean_slice, mean_split, mean_concat, mean_pad, mean_literal, mean_filled,
	mean_iota, mean_gather, mean_cache, mean_dynamic_slice, mean_update_slice, mean_size,
	mean_repeat, mean_select_index, mean_upsample, mean_tile;
meaning mean_reduce, mean_softmax, mean_layer_norm, mean_batch_norm, mean_matmul, mean_gemm,
	mean_linear, mean_dot_general, mean_einsum, mean_attention, mean_local_response,
	mean_group_norm;
/* The pool of an ONNX call over that operand. */
int mean_pool_of(struct build *b, const struct model_call *call, int x, const char *function);

meaning mean_standard, mean_gemm_integer, mean_convolution_last, mean_embedding_norm,
	mean_gated_gelu, mean_centre_part, mean_eye;
meaning mean_convolution, mean_pool, mean_global_pool, mean_reduce_window;

meaning mean_reduce_pairs, mean_extreme_index, mean_reduce_product, mean_running_sum, mean_top,
	mean_found, mean_recurrent, mean_depth_to_space, mean_triangle, mean_reverse, mean_one_hot,
	mean_scatter, mean_lp;
meaning mean_requantize, mean_requantize_by, mean_quantize, mean_quantize_dynamic,
	mean_matmul_integer, mean_conv_integer, mean_quantized_pair, mean_quantized_one,
	mean_quantized_concat, mean_matmul_packed;
meaning mean_attention_fused, mean_attention_heads, mean_attention_groups, mean_rotary,
	mean_rotary_whole, mean_attention_decode, mean_split_heads, mean_join_heads,
	mean_matmul_scaled, mean_transposed;

#endif
