#include "base/text.h"
#include "import/ops.h"

#include <string.h>

/* The one table of ops: their names in ONNX, StableHLO, CHLO and TTIR, what they mean, and its argument. */
static const struct {
	const char *names;
	meaning *meaning;
	const char *argument;
} rows[] = {
	{"Exp stablehlo.exponential ttir.exp", mean_map, "exp"},
	{"Log stablehlo.log ttir.log", mean_map, "log"},
	{"Sqrt stablehlo.sqrt ttir.sqrt", mean_map, "sqrt"},
	{"stablehlo.rsqrt ttir.rsqrt", mean_map, "rsqrt"},
	{"Reciprocal ttir.reciprocal", mean_map, "reciprocal"},
	{"Neg stablehlo.negate ttir.neg", mean_map, "neg"},
	{"Abs stablehlo.abs ttir.abs", mean_map, "abs"},
	{"Relu ttir.relu", mean_map, "relu"},
	{"Sigmoid stablehlo.logistic ttir.sigmoid", mean_map, "sigmoid"},
	{"Silu Swish ttir.silu", mean_map, "silu"},
	{"Tanh stablehlo.tanh ttir.tanh", mean_map, "tanh"},
	{"Gelu ttir.gelu", mean_map, "gelu"},
	{"Erf chlo.erf ttir.erf", mean_map, "erf"},
	{"HardSwish ttir.hardswish", mean_map, "hardswish"},
	{"Sin stablehlo.sine ttir.sin", mean_map, "sin"},
	{"Cos stablehlo.cosine ttir.cos", mean_map, "cos"},
	{"Tan stablehlo.tan ttir.tan chlo.tan", mean_map, "tan"},
	{"Atan ttir.atan chlo.atan", mean_map, "atan"},
	{"Floor stablehlo.floor ttir.floor", mean_map, "floor"},
	{"Ceil stablehlo.ceil ttir.ceil", mean_map, "ceil"},
	{"Round stablehlo.round_nearest_even ttir.round", mean_map, "round"},
	{"stablehlo.round_nearest_afz", mean_recipe, "x abs 0.5 add floor x sign mul"},
	{"Sign stablehlo.sign ttir.sign", mean_map, "sign"},
	{"stablehlo.cbrt ttir.cbrt", mean_map, "cbrt"},
	{"Softplus com.microsoft.Softplus", mean_recipe, "x relu x abs neg exp 1 add log add"},
	{"stablehlo.log_plus_one ttir.log1p", mean_recipe, "x 1 add log"},
	{"stablehlo.exponential_minus_one ttir.expm1", mean_recipe, "x exp 1 sub"},
	{"chlo.square ttir.square", mean_recipe, "x x mul"},
	{"Mish ttir.mish", mean_recipe, "x x relu x abs neg exp 1 add log add tanh mul"},
	{"Elu ttir.elu", mean_recipe, "x relu x 0 minimum exp 1 sub @alpha=1 mul add"},
	{"Celu", mean_recipe, "x relu x 0 minimum @alpha=1 div exp 1 sub @alpha=1 mul add"},
	{"Selu", mean_recipe,
		"x relu x 0 minimum exp 1 sub @alpha=1.6732632423543772 mul add @gamma=1.0507009873554805 mul"},
	{"PRelu", mean_recipe, "x relu x 0 minimum y mul add"},
	{"LeakyRelu ttir.leaky_relu", mean_leaky, ""},
	{"HardSigmoid", mean_recipe, "x @alpha=0.2 mul @beta=0.5 add relu 1 minimum"},
	{"ttir.hardsigmoid", mean_recipe, "x 0.16666666666666667 mul 0.5 add relu 1 minimum"},
	{"ttir.relu6", mean_recipe, "x relu 6 minimum"},
	{"Softsign", mean_recipe, "x x abs 1 add div"},
	{"ThresholdedRelu", mean_recipe, "x @alpha=1 gt x where"},
	{"com.microsoft.FastGelu com.microsoft.BiasGelu com.microsoft.Gelu", mean_recipe,
		"x ?y gelu"},
	{"com.microsoft.QuickGelu", mean_recipe, "x x @alpha=1.702 mul sigmoid mul"},
	{"Sinh chlo.sinh", mean_recipe, "x exp x neg exp sub 0.5 mul"},
	{"Cosh chlo.cosh", mean_recipe, "x exp x neg exp add 0.5 mul"},
	{"Asinh chlo.asinh ttir.asinh", mean_recipe, "x abs x x mul 1 add sqrt add log x sign mul"},
	{"Acosh chlo.acosh ttir.acosh", mean_recipe, "x x x mul 1 sub sqrt add log"},
	{"Atanh chlo.atanh ttir.atanh", mean_recipe, "1 x add 1 x sub div log 0.5 mul"},
	{"Asin chlo.asin ttir.asin", mean_recipe, "x 1 x x mul sub sqrt div atan"},
	{"Acos chlo.acos ttir.acos", mean_recipe,
		"1.5707963267948966 x 1 x x mul sub sqrt div atan sub"},
	{"IsNaN", mean_recipe, "x x ne"},
	{"IsInf chlo.is_inf", mean_infinite, ""},
	{"chlo.is_pos_inf", mean_infinite, "+"},
	{"chlo.is_neg_inf", mean_infinite, "-"},
	{"chlo.erfc ttir.erfc", mean_recipe, "1 x erf sub"},
	{"stablehlo.atan2 chlo.broadcast_atan2 ttir.atan2", mean_recipe,
		"x 0 ne x y div atan where y 0 lt x sign 0.5 add sign 3.141592653589793 mul where add"},
	{"stablehlo.is_finite ttir.isfinite", mean_recipe, "x x sub 0 eq"},

	{"Add stablehlo.add ttir.add chlo.broadcast_add", mean_map2, "add"},
	{"Sub stablehlo.subtract ttir.subtract chlo.broadcast_subtract", mean_map2, "sub"},
	{"Mul stablehlo.multiply ttir.multiply chlo.broadcast_multiply", mean_map2, "mul"},
	{"Div stablehlo.divide ttir.div chlo.broadcast_divide", mean_divide, ""},
	{"Max stablehlo.maximum ttir.maximum chlo.broadcast_maximum", mean_map2, "maximum"},
	{"Min stablehlo.minimum ttir.minimum chlo.broadcast_minimum", mean_map2, "minimum"},
	{"Sum", mean_map2, "add"},
	{"Mean", mean_average, ""},
	{"Mod", mean_mod, ""},
	{"stablehlo.remainder chlo.broadcast_remainder ttir.remainder", mean_mod, "cut"},
	{"Pow stablehlo.power ttir.pow ttir.pow_tensor ttir.pow_scalar chlo.broadcast_power",
		mean_power, ""},
	{"Equal ttir.eq", mean_compare, "eq"},
	{"ttir.ne", mean_compare, "ne"},
	{"Less ttir.lt", mean_compare, "lt"},
	{"LessOrEqual ttir.le", mean_compare, "le"},
	{"Greater ttir.gt", mean_compare, "gt"},
	{"GreaterOrEqual ttir.ge", mean_compare, "ge"},
	{"stablehlo.compare chlo.broadcast_compare", mean_compare, ""},
	{"And BitwiseAnd stablehlo.and chlo.broadcast_and ttir.logical_and ttir.bitwise_and",
		mean_logic, "and"},
	{"Or BitwiseOr stablehlo.or chlo.broadcast_or ttir.logical_or ttir.bitwise_or", mean_logic,
		"or"},
	{"Xor BitwiseXor stablehlo.xor chlo.broadcast_xor ttir.logical_xor ttir.bitwise_xor",
		mean_logic, "xor"},
	{"Not BitwiseNot stablehlo.not ttir.logical_not ttir.bitwise_not", mean_logic, "not"},
	{"stablehlo.shift_left chlo.broadcast_shift_left ttir.logical_left_shift", mean_shift,
		"left"},
	{"stablehlo.shift_right_logical stablehlo.shift_right_arithmetic ttir.logical_right_shift",
		mean_shift, "right"},
	{"Where stablehlo.select chlo.broadcast_select ttir.where", mean_select, ""},
	{"Clip stablehlo.clamp ttir.clamp_scalar ttir.clamp_tensor", mean_clamp, ""},
	{"Identity Dropout ttir.dropout com.microsoft.BitmaskDropout stablehlo.optimization_barrier ttir.barrier @Sharding @SPMDFullToShardShape",
		mean_identity, ""},
	{"@xla.sdy.FuncResultSharding ttir.mark_argument ttir.sharding_constraint", mean_identity,
		""},
	{"@SPMDShardToFullShape stablehlo.all_reduce ttir.all_reduce ttir.mesh_shard ttir.to_layout ttir.assign ttir.view_layout sdy.sharding_constraint",
		mean_identity, ""},
	{"stablehlo.all_gather stablehlo.reduce_scatter stablehlo.all_to_all stablehlo.collective_permute stablehlo.collective_broadcast",
		mean_alone, ""},
	{"ttir.all_gather ttir.reduce_scatter ttir.all_to_all ttir.collective_permute ttir.collective_broadcast ttir.mesh_partition",
		mean_alone, ""},
	{"stablehlo.real stablehlo.reduce_precision stablehlo.annotate @annotate_device_placement",
		mean_identity, ""},
	{"Cast CastLike stablehlo.convert ttir.typecast stablehlo.bitcast_convert", mean_cast, ""},

	{"Constant stablehlo.constant ttir.constant arith.constant", mean_literal, ""},
	{"ConstantOfShape ttir.full ttir.zeros ttir.ones chlo.constant", mean_filled, ""},
	{"Range stablehlo.iota ttir.arange stablehlo.dynamic_iota ttir.rand stablehlo.rng stablehlo.rng_bit_generator RandomNormal RandomUniform",
		mean_iota, ""},
	{"Reshape stablehlo.reshape stablehlo.dynamic_reshape ttir.reshape", mean_reshape, ""},
	{"Flatten", mean_flatten, ""},
	{"Squeeze ttir.squeeze", mean_squeeze, ""},
	{"Unsqueeze ttir.unsqueeze", mean_unsqueeze, ""},
	{"Transpose stablehlo.transpose ttir.permute ttir.transpose", mean_transpose, ""},
	{"Expand stablehlo.broadcast_in_dim stablehlo.dynamic_broadcast_in_dim stablehlo.broadcast ttir.broadcast",
		mean_broadcast, ""},
	{"ttir.rearrange", mean_rearrange, ""},
	{"Tile ttir.repeat", mean_tile, ""},
	{"ttir.repeat_interleave", mean_repeat, ""},
	{"Slice stablehlo.slice ttir.slice ttir.slice_static", mean_slice, ""},
	{"ttir.index ttir.select ttir.index_select", mean_select_index, ""},
	{"stablehlo.reverse ttir.reverse", mean_reverse, ""},
	{"Split ttir.split", mean_split, ""},
	{"Concat stablehlo.concatenate ttir.concat", mean_concat, ""},
	{"Pad stablehlo.pad ttir.pad", mean_pad, ""},
	{"Gather Embedding stablehlo.gather ttir.gather ttir.embedding stablehlo.torch_index_select",
		mean_gather, ""},
	{"GatherND GatherElements ttir.slice_dynamic ttir.gather_dim stablehlo.dynamic_gather",
		mean_gather, ""},
	{"stablehlo.dynamic_slice", mean_dynamic_slice, ""},
	{"stablehlo.dynamic_update_slice", mean_update_slice, ""},
	{"ttir.fill_cache ttir.update_cache ttir.paged_update_cache ttir.paged_fill_cache",
		mean_cache, ""},
	{"stablehlo.get_dimension_size ttir.get_dimension_size", mean_size, ""},
	{"stablehlo.partition_id stablehlo.replica_id", mean_filled, ""},
	{"Upsample Resize ttir.upsample2d", mean_upsample, ""},

	{"ReduceSum ttir.sum", mean_reduce, "sum"},
	{"ReduceMean ttir.mean", mean_reduce, "mean"},
	{"ReduceMax ttir.max ttir.reduce_or", mean_reduce, "max"},
	{"ReduceMin ttir.min ttir.reduce_and", mean_reduce, "min"},
	{"ReduceSumSquare", mean_reduce, "sumsquare"},
	{"ReduceL1", mean_reduce, "l1"},
	{"ReduceL2", mean_reduce, "l2"},
	{"ReduceLogSumExp", mean_reduce, "logsumexp"},
	{"stablehlo.reduce", mean_reduce, ""},
	{"Softmax ttir.softmax", mean_softmax, ""},
	{"LogSoftmax", mean_softmax, "log"},
	{"LayerNormalization ttir.layer_norm", mean_layer_norm, "layer"},
	{"SimplifiedLayerNormalization RMSNormalization ttir.rms_norm", mean_layer_norm, "rms"},
	{"com.microsoft.SkipLayerNormalization", mean_layer_norm, "skip"},
	{"com.microsoft.SkipSimplifiedLayerNormalization SkipSimplifiedLayerNormalization",
		mean_layer_norm, "skip rms"},
	{"BatchNormalization stablehlo.batch_norm_inference ttir.batch_norm ttir.batch_norm_inference",
		mean_batch_norm, ""},
	{"stablehlo.batch_norm_training", mean_batch_norm, "training"},
	{"InstanceNormalization GroupNormalization ttir.group_norm", mean_group_norm, ""},
	{"LRN", mean_local_response, ""},
	{"MatMul ttir.matmul", mean_matmul, ""},
	{"Gemm", mean_gemm, ""},
	{"ttir.linear", mean_linear, ""},
	{"stablehlo.dot_general ttir.dot_general stablehlo.dot", mean_dot_general, ""},
	{"Einsum", mean_einsum, ""},
	{"stablehlo.einsum stablehlo.unary_einsum", mean_einsum, "einsum_config"},
	{"Attention", mean_attention, ""},
	{"ttir.scaled_dot_product_attention", mean_attention, "causal"},
	{"ttir.scaled_dot_product_attention_decode", mean_attention_decode, ""},
	{"ttir.paged_scaled_dot_product_attention_decode", mean_attention_decode, "paged"},
	{"ttir.split_query_key_value_and_split_heads", mean_split_heads, ""},
	{"Conv stablehlo.convolution ttir.convolution com.microsoft.FusedConv", mean_convolution,
		""},
	{"ttir.conv2d ttir.conv3d", mean_convolution, "images"},
	{"MaxPool ttir.max_pool2d ttir.max_pool2d_with_indices", mean_pool, "max"},
	{"AveragePool ttir.avg_pool2d", mean_pool, "mean"},
	{"GlobalAveragePool ttir.global_avg_pool2d", mean_global_pool, "mean"},
	{"GlobalMaxPool", mean_global_pool, "max"},
	{"stablehlo.reduce_window", mean_reduce_window, ""},
	{"ttir.pooling", mean_reduce_window, "pooling_method"},
	{"ArgMax ttir.argmax", mean_extreme_index, "max"},
	{"ArgMin", mean_extreme_index, "min"},
	{"ReduceProd ttir.prod", mean_reduce_product, ""},
	{"CumSum ttir.cumsum", mean_running_sum, ""},
	{"TopK ttir.topk chlo.top_k chlo.topk", mean_top, ""},
	{"MeanVarianceNormalization", mean_standard, ""},
	{"Shrink", mean_recipe,
		"x neg @lambd=0.5 gt x @bias=0 add where x @lambd=0.5 gt x @bias=0 sub where add"},
	{"ReduceLogSum", mean_reduce, "logsum"},
	{"LpPool", mean_pool, "norm"},
	{"EyeLike", mean_eye, ""},
	{"CenterCropPad", mean_centre_part, ""},
	{"com.microsoft.GroupNorm", mean_group_norm, "fused"},
	{"com.microsoft.NhwcConv", mean_convolution_last, ""},
	{"com.microsoft.EmbedLayerNormalization", mean_embedding_norm, ""},
	{"com.microsoft.BiasSplitGelu", mean_gated_gelu, ""},
	{"com.microsoft.BiasAdd", mean_recipe, "x ?y ?z"},
	{"com.microsoft.QLinearSoftmax", mean_quantized_one, "softmax"},
	{"com.microsoft.QLinearAveragePool", mean_quantized_one, "pool"},
	{"com.microsoft.QGemm", mean_gemm_integer, ""},
	{"LSTM", mean_recurrent, "4 Sigmoid Tanh Tanh"},
	{"GRU", mean_recurrent, "3 Sigmoid Tanh"},
	{"RNN", mean_recurrent, "1 Tanh"},
	{"NonZero", mean_found, "places"},
	{"NonMaxSuppression", mean_found, "suppressed"},
	{"GridSample com.microsoft.GridSample", mean_found, "grid"},
	{"RoiAlign MaxRoiPool", mean_found, "regions"},
	{"DepthToSpace", mean_depth_to_space, ""},
	{"SpaceToDepth", mean_depth_to_space, "back"},
	{"Trilu", mean_triangle, ""},
	{"OneHot", mean_one_hot, ""},
	{"ScatterND ScatterElements Scatter stablehlo.scatter ttir.scatter ttir.scatter_in_dim",
		mean_scatter, ""},
	{"LpNormalization", mean_lp, ""},
	{"GlobalLpPool", mean_lp, "pool"},
	{"QuantizeLinear com.microsoft.QuantizeLinear ttir.quantize_unrolled", mean_quantize, ""},
	{"DequantizeLinear com.microsoft.DequantizeLinear ttir.dequantize_unrolled", mean_quantize,
		"back"},
	{"ttir.requantize_unrolled", mean_requantize_by, ""},
	{"ttir.quantize ttir.dequantize ttir.requantize stablehlo.uniform_quantize stablehlo.uniform_dequantize",
		mean_requantize, ""},
	{"DynamicQuantizeLinear", mean_quantize_dynamic, ""},
	{"MatMulInteger", mean_matmul_integer, ""},
	{"com.microsoft.MatMulIntegerToFloat", mean_matmul_integer, "float"},
	{"QLinearMatMul com.microsoft.QLinearMatMul", mean_matmul_integer, "scaled"},
	{"ConvInteger", mean_conv_integer, ""},
	{"QLinearConv", mean_conv_integer, "scaled"},
	{"com.microsoft.QLinearAdd", mean_quantized_pair, "add"},
	{"com.microsoft.QLinearMul", mean_quantized_pair, "mul"},
	{"com.microsoft.QLinearSigmoid", mean_quantized_one, "sigmoid"},
	{"com.microsoft.QLinearLeakyRelu", mean_quantized_one, "leaky"},
	{"com.microsoft.QLinearGlobalAveragePool", mean_quantized_one, "mean"},
	{"com.microsoft.QLinearConcat", mean_quantized_concat, ""},
	{"com.microsoft.MatMulNBits", mean_matmul_packed, ""},
	{"com.microsoft.FusedMatMul com.microsoft.TransposeMatMul", mean_matmul_scaled, ""},
	{"com.microsoft.Attention", mean_attention_fused, ""},
	{"com.microsoft.MultiHeadAttention", mean_attention_heads, ""},
	{"com.microsoft.GroupQueryAttention", mean_attention_groups, ""},
	{"com.microsoft.RotaryEmbedding", mean_rotary, ""},
	{"RotaryEmbedding", mean_rotary, "last"},
	{"ttir.rotary_embedding", mean_rotary_whole, ""},
	{"ttir.concatenate_heads", mean_join_heads, ""},
	{"ConvTranspose ttir.conv_transpose2d", mean_transposed, ""},
};

static bool has_name(const char *names, const char *op)
{
	size_t length = strlen(op);
	for (const char *at = names; (at = strstr(at, op)); at += length)
		if ((at == names || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
			return true;
	return false;
}

/* Other spellings of one dialect, and names without the domain of an operator set that has no rows. */
static const char *plain_name(struct build *b, const struct model_call *call)
{
	const char *op = call->op, *dot = strrchr(op, '.');
	if (!strncmp(op, "mhlo.", 5))
		return arena_format(b->arena, "stablehlo.%s", op + 5);
	/* custom calls of a compiler's own ops */
	if (!strncmp(op, "@tt.", 4))
		return arena_format(b->arena, "ttir.%s", op + 4);
	if (!strncmp(op, "@mhlo.", 6))
		return arena_format(b->arena, "chlo.%s", op + 6);
	/* without its decomposition in the file: "tenstorrent.rms_norm" */
	if (text_equal(op, "stablehlo.composite")) {
		const char *name = call_text(call, call_attribute(call, "name") ? "name" : "");
		const char *last = strrchr(name, '.');
		return arena_format(b->arena, "ttir.%s", last ? last + 1 : name);
	}
	/* an operator set without rows: its ops are read as ONNX ops of the same name */
	if (mean_is_onnx(call) && dot && strncmp(op, "com.microsoft.", 14))
		return dot + 1;
	return op;
}

/* True if the shape that the builders made is the one that MLIR declares. */
static bool check_declared(struct build *b, const struct model_call *call, int view)
{
	const struct model_shape *declared = mean_declared(b, call, 0);
	const struct model_shape *made = &view_at(b, view)->shape;
	if (call->version || !declared)
		return true;
	bool same = declared->rank == made->rank;
	for (int h = 0; same && h < made->rank; h++)
		same = declared->size[h] == made->size[h];
	if (!same)
		build_fail(b, "its result has another shape than its operands give");
	return same;
}

/* Other outputs that something reads must have been made. */
static bool outputs_made(struct build *b, const struct model_call *call)
{
	const struct model *model = b->model;
	for (int i = 1; i < call->output_count; i++) {
		int v = call->outputs[i];
		bool read = false;
		if (v < 0 || b->of_value[v] >= 0 || model->values.at[v].constant)
			continue;
		for (size_t k = 0; k < model->calls.count && !read; k++)
			for (int n = 0; n < model->calls.at[k].input_count; n++)
				read |= model->calls.at[k].inputs[n] == v;
		for (size_t k = 0; k < model->outputs.count; k++)
			read |= model->outputs.at[k] == v;
		if (read)
			return build_fail(b, "output %d is read, and it cannot be said", i) >= 0;
	}
	return true;
}

bool build_call(struct build *b, const struct model_call *call)
{
	const char *op = plain_name(b, call);
	for (size_t i = 0; op[0] && i < sizeof rows / sizeof *rows; i++) {
		if (!has_name(rows[i].names, op))
			continue;
		int view = rows[i].meaning(b, call, rows[i].argument);
		if (view < 0 || b->why)
			return false;
		if (!call->output_count)
			return true;
		if (!check_declared(b, call, view))
			return false;
		const char *dtype =
			call->outputs[0] >= 0 ? b->model->values.at[call->outputs[0]].dtype : NULL;
		struct model_view *made = &b->views.at[view];
		if (dtype && made->kind == VIEW_STORED && made->written)
			made->dtype = dtype;
		mean_give(b, call, 0, view);
		return outputs_made(b, call);
	}
	return false;
}
