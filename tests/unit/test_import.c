/*
 * Models become workloads: MLIR text of both dialects, and ONNX that the test packs itself; what is wrong with a
 * model is said with its file and node or line.
 */
#include "base/arena.h"
#include "base/text.h"
#include "import/import.h"
#include "tests/support/folder.h"

#include <onnx.pb-c.h>
#include <string.h>

#include "tests/test.h"

static const char pretty[] =
	"module @m {\n"
	"  func.func public @main(%arg0: tensor<2x8x8x3xf32>, %w: tensor<3x3x3x64xf32>) -> tensor<2x4x4x64xf32> {\n"
	"    %cst = stablehlo.constant dense<0.0> : tensor<f32>\n"
	"    %0 = stablehlo.convolution(%arg0, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = "
	"{stride = [2, 2], pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, "
	"foreign.note = #foreign.x<\"a>b\">} : (tensor<2x8x8x3xf32>, tensor<3x3x3x64xf32>) -> tensor<2x4x4x64xf32>\n"
	"    %1 = call @relu(%0) : (tensor<2x4x4x64xf32>) -> tensor<2x4x4x64xf32>\n"
	"    %2 = stablehlo.reduce(%1 init: %cst) applies stablehlo.add across dimensions = [1, 2] : "
	"(tensor<2x4x4x64xf32>, tensor<f32>) -> tensor<2x64xf32>\n"
	"    %3 = \"stablehlo.reshape\"(%2) : (tensor<2x64xf32>) -> tensor<2x8x8xf32>\n"
	"    %4 = stablehlo.dot_general %3, %3, batching_dims = [0] x [0], contracting_dims = [2] x [2] : "
	"(tensor<2x8x8xf32>, tensor<2x8x8xf32>) -> tensor<2x8x8xf32>\n"
	"    %5 = stablehlo.slice %4 [0:2, 4:8, 0:8] : (tensor<2x8x8xf32>) -> tensor<2x4x8xf32>\n"
	"    %6 = other.mystery %5 {x = 3 : i32} : tensor<2x4x8xf32>\n"
	"    return %6 : tensor<2x4x8xf32>\n"
	"  }\n"
	"  func.func private @relu(%arg0: tensor<2x4x4x64xf32>) -> tensor<2x4x4x64xf32> {\n"
	"    %cst = stablehlo.constant dense<0.0> : tensor<f32>\n"
	"    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x4x4x64xf32>\n"
	"    %1 = stablehlo.maximum %arg0, %0 : tensor<2x4x4x64xf32>\n"
	"    return %1 : tensor<2x4x4x64xf32>\n"
	"  }\n"
	"}\n";

static void expect(const char *command, int status, const char *err)
{
	struct ended ended = folder_run(command);
	if (ended.status != status || !strstr(ended.err, err))
		fail_msg("%s: status %d\n%s%s", command, ended.status, ended.out, ended.err);
}

/* [1 2] [[1 -1] [.5 .25]] = [2 -.5] */
FOLDER_TEST(models_run_on_given_numbers)
{
	static const char run[] =
		"\"$program\" simulate \"$OLDPWD\"/specs/arch/spyre32.yaml m.mlir";
	folder_put("m.mlir",
		"func.func @main(%x: tensor<1x2xf32>, %w: tensor<2x2xf32>) -> tensor<1x2xf32> {\n"
		"  %y = stablehlo.dot %x, %w : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>\n"
		"  return %y : tensor<1x2xf32>\n}\n");
	folder_put("in", "x: 1 2\nw: 1 -1 .5 .25\n");
	expect(arena_format(arena, "%s --inputs in --outputs out && cat out >&2", run), 0,
		"y: 2 -0.5\n");
	folder_put("in", "x: 1 2 3\n");
	expect(arena_format(arena, "%s --inputs in", run), 2, "in:1:1: error: 'x' needs 2 numbers");
	folder_put("in", "\ny: 1 2\n");
	expect(arena_format(arena, "%s --inputs in", run), 2,
		"in:2:1: error: 'y' is not an input of the workload");
	folder_put("in", "x 1 2\n");
	expect(arena_format(arena, "%s --inputs in", run), 2, "in:1:1: error: the line is not");
}

FOLDER_TEST(text_of_mlir_becomes_a_workload)
{
	folder_put("m.mlir", pretty);
	struct ended ended = folder_run("\"$program\" import m.mlir");
	assert_int_equal(ended.status, 0);
	/* 2 * 4 * 4 * 64 outputs of 27 products, 2 * 8 * 8 of 8 */
	assert_non_null(
		strstr(ended.err, "multiply-adds: 55296 of convolutions, 1024 of products"));
	assert_non_null(strstr(ended.err, "opaque: 1: other.mystery 1"));
	assert_non_null(strstr(ended.out, " pad arg0["));
	assert_non_null(strstr(ended.out, "{opaque: other_mystery"));
	expect("\"$program\" check \"$OLDPWD\"/specs/arch/spyre32.yaml m.mlir", 0, "");
	expect("\"$program\" import --strict m.mlir", 2,
		"m.mlir:10:1: error: '%6' (other.mystery) would be opaque");
}

/* Halves of two dimensions that are put in turns, five times: 2 x 2 x 2 x 2 x 2 x 2 x 16 each; a tensor may have 8. */
FOLDER_TEST(reshapes_with_too_many_factors_copy)
{
	struct text text = text_open(arena);
	text_add(
		&text, "func.func @main(%%v0: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {\n");
	for (int i = 0; i < 10; i += 2)
		text_add(&text,
			"  %%a%d = stablehlo.reshape %%v%d : (tensor<1024x1024xf32>) -> tensor<2x512x2x512xf32>\n"
			"  %%b%d = stablehlo.transpose %%a%d, dims = [1, 0, 3, 2] : (tensor<2x512x2x512xf32>) -> tensor<512x2x512x2xf32>\n"
			"  %%v%d = stablehlo.reshape %%b%d : (tensor<512x2x512x2xf32>) -> tensor<1024x1024xf32>\n",
			i, i, i, i, i + 2, i);
	text_add(&text, "  %%y = stablehlo.abs %%v10 : tensor<1024x1024xf32>\n"
			"  return %%y : tensor<1024x1024xf32>\n}\n");
	folder_put("m.mlir", text_read(&text));
	expect("\"$program\" import --strict m.mlir", 0,
		"tensors would have more than 8 dimensions without it");
	expect("\"$program\" check \"$OLDPWD\"/specs/arch/spyre32.yaml m.mlir", 0, "");
}

/* Convolutions of the same loops are one layer with a count. */
FOLDER_TEST(models_are_networks_of_their_layers)
{
	static const char convolution[] =
		"  %%%d = stablehlo.convolution(%%%s, %%%s) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = "
		"{pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 4 : i64} : "
		"(tensor<1x8x8x4xf32>, tensor<3x3x1x4xf32>) -> tensor<1x8x8x4xf32>\n";
	struct text text = text_open(arena);
	text_add(&text, "func.func @main(%%x: tensor<1x8x8x4xf32>, %%v: tensor<3x3x1x4xf32>, %%w: "
			"tensor<3x3x1x4xf32>) -> tensor<8x4x4xf32> {\n");
	text_add(&text, convolution, 0, "x", "v");
	text_add(&text, convolution, 1, "0", "w");
	text_add(&text,
		"  %%2 = stablehlo.reshape %%1 : (tensor<1x8x8x4xf32>) -> tensor<8x8x4xf32>\n"
		"  %%3 = stablehlo.dot_general %%2, %%2, batching_dims = [0] x [0], contracting_dims = [1] x [1] : "
		"(tensor<8x8x4xf32>, tensor<8x8x4xf32>) -> tensor<8x4x4xf32>\n"
		"  return %%3 : tensor<8x4x4xf32>\n}\n");
	folder_put("m.mlir", text_read(&text));
	struct ended ended = folder_run("\"$program\" import m.mlir --as network");
	assert_int_equal(ended.status, 0);
	assert_non_null(strstr(ended.out, "count: 2, shape: conv1, instance: {N: 1, M: 4, P: 8, "
					  "Q: 8, R: 3, S: 3}"));
	assert_non_null(
		strstr(ended.out, "count: 1, shape: product2, instance: {B: 8, M: 4, N: 4, K: 8}"));
	assert_non_null(strstr(
		ended.out, "{name: Inputs, projection: [[[N]], [[M]], [[P], [R]], [[Q], [S]]]}"));
	expect("\"$program\" check \"$OLDPWD\"/specs/arch/gemmini.yaml m.mlir --as network", 0, "");
	folder_put("m.mlir",
		"func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
		"  %0 = stablehlo.abs %x : tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n");
	expect("\"$program\" import m.mlir --as network", 2,
		"the model has neither convolutions nor products");
}

/* The copy of a model in a results folder is its workload, by a name that says so. */
FOLDER_TEST(results_of_models_are_read_again)
{
	folder_put("m.mlir",
		"func.func @main(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {\n"
		"  %0 = stablehlo.abs %x : tensor<8x64xf32>\n  return %0 : tensor<8x64xf32>\n}\n");
	expect("\"$program\" explore \"$OLDPWD\"/specs/arch/spyre32.yaml m.mlir -q -o out", 0, "");
	expect("\"$program\" report out --explain", 0, "");
	expect("test -f out/specs/002-m.mlir.yaml", 0, "");
}

FOLDER_TEST(what_is_wrong_has_a_line)
{
	static const struct {
		const char *text, *said;
	} rows[] = {
		{"module {\n  func.func @main() {\n    return\n",
			"m.mlir:2:1: error: the brace that opens here is not closed"},
		{"module {\n}\n}\n", "m.mlir:3:1: error: a brace closes that nothing opened"},
		{"func.func @main(%a: tensor<4xf32>) {\n  %0 = stablehlo.abs %b : tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n",
			"m.mlir:2:1: error: '%b' is used before it has a value"},
		{"func.func @main(%a: tensor<?xf32>) {\n  return\n}\n",
			"error: a dimension is '?'"},
		{"func.func @main(%a: tensor<99999999999xf32>) {\n  return\n}\n",
			"error: a dimension is 0, or 2^31 or more"},
		{"func.func @f(%a: tensor<4xf32>) {\n  %0 = call @f(%a) : (tensor<4xf32>) -> tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n",
			"error: functions call each other more than 32 deep"},
		{"", "error: the file has no function with a body"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		folder_put("m.mlir", rows[i].text);
		expect("\"$program\" import m.mlir", 2, rows[i].said);
	}
	expect("\"$program\" import m.yaml", 2, "m.yaml: error: no such file");
	expect("\"$program\" import nowhere.onnx", 2, "cannot read 'nowhere.onnx'");
}

FOLDER_TEST(named_shapes_are_the_ops_that_they_stand_for)
{
	static const char head[] =
		"workload:\n  layouts: auto\n  dtype: fp32\n  dimensions: {h: 2, q: 8, k: 16, d: 32, n: 64, "
		"c: 8, o: 4, r: 3, s: 3, one: 1, t: 2}\n  tensors: {x: {shape: [one, c, 8, 16]}}\n  ops:\n";
	folder_put("w.yaml",
		arena_format(arena, "%s%s", head,
			"    - a[h,q,d] = attention(Q[h,q,d], K[h,k,d], V[h,k,d])\n"
			"    - y[q,n] = softmax(n) b[q,n]\n    - z[q,n] = layernorm(n) y[q,n]\n"
			"    - u[q,n] = rmsnorm(n) z[q,n]\n    - v[q,n] = swiglu(u[q,n], z[q,n])\n"
			"    - T[one,o,q,k] = conv2d(x[one,c,q,k], w[o,c,r,s])\n"
			"    - R[h,q,t,d] = rope(X[h,q,t,d], cos[q,d], sin[q,d])\n"));
	expect("\"$program\" simulate \"$OLDPWD\"/specs/arch/spyre32.yaml w.yaml --format text | grep -q 'agrees with the model'",
		0, "");
	folder_put("w.yaml",
		arena_format(arena,
			"%s    - y[q,n] = softmaks(n) b[q,n]\n    - z[q,n] = swiglu(y[q,n])\n",
			head));
	struct ended ended =
		folder_run("\"$program\" check \"$OLDPWD\"/specs/arch/spyre32.yaml w.yaml");
	assert_int_equal(ended.status, 2);
	assert_non_null(strstr(ended.err,
		"w.yaml:7:16: error: unknown function 'softmaks'; did you mean 'softmax'?"));
	assert_non_null(
		strstr(ended.err, "'swiglu' is written as 'y[m,f] = swiglu(gate[m,f], up[m,f])'"));
	expect("\"$program\" list ops | grep -q 'o\\[h,q,d\\] = attention'", 0, "");
}

/* (3, 4) turned by 90 degrees is (-4, 3), (1, 2) by 180 degrees (-1, -2). */
FOLDER_TEST(rope_turns_pairs)
{
	folder_put("w.yaml",
		"workload:\n  layouts: auto\n  dtype: fp32\n  dimensions: {s: 2, t: 2, d: 1}\n  ops:\n"
		"    - y[s,t,d] = rope(x[s,t,d], cos[s,d], sin[s,d])\n");
	folder_put("in", "x: 3 4 1 2\ncos: 0 -1\nsin: 1 0\n");
	expect("\"$program\" simulate \"$OLDPWD\"/specs/arch/spyre32.yaml w.yaml --inputs in --outputs out && cat out >&2",
		0, "y: -4 3 -1 -2\n");
	folder_put("w.yaml",
		"workload:\n  layouts: auto\n  dtype: fp32\n  dimensions: {s: 2, t: 3, d: 1}\n  ops:\n"
		"    - y[s,t,d] = rope(x[s,t,d], cos[s,d], sin[s,d])\n");
	expect("\"$program\" check \"$OLDPWD\"/specs/arch/spyre32.yaml w.yaml", 2,
		"rope takes x[..,t,d] with two t, cos[..,d] and sin[..,d]");
	expect("\"$program\" list ops | grep -q '^rope  *y\\[h,s,t,d\\] = rope'", 0, "");
}

/* --- ONNX that the test packs */

struct packed {
	Onnx__ModelProto model;
	Onnx__OperatorSetIdProto set, *sets[1];
	Onnx__GraphProto graph;
	Onnx__ValueInfoProto input, *inputs[1], output, *outputs[1];
	Onnx__TypeProto type;
	Onnx__TypeProto__Tensor tensor;
	Onnx__TensorShapeProto shape;
	Onnx__TensorShapeProto__Dimension dims[2], *dim_list[2];
	Onnx__NodeProto nodes[2], *node_list[2];
	char *names[2][2];
};

/* y = Relu(x), z = Exp(y), x of [batch, 64] */
static void pack(struct packed *p, int64_t batch)
{
	onnx__model_proto__init(&p->model);
	onnx__operator_set_id_proto__init(&p->set);
	onnx__graph_proto__init(&p->graph);
	onnx__value_info_proto__init(&p->input);
	onnx__value_info_proto__init(&p->output);
	onnx__type_proto__init(&p->type);
	onnx__type_proto__tensor__init(&p->tensor);
	onnx__tensor_shape_proto__init(&p->shape);
	for (int i = 0; i < 2; i++) {
		onnx__tensor_shape_proto__dimension__init(&p->dims[i]);
		onnx__node_proto__init(&p->nodes[i]);
		p->dim_list[i] = &p->dims[i];
		p->node_list[i] = &p->nodes[i];
		p->nodes[i].n_input = p->nodes[i].n_output = 1;
		p->nodes[i].input = &p->names[i][0];
		p->nodes[i].output = &p->names[i][1];
	}
	p->dims[0].value_case = batch ? ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE
				      : ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;
	p->dims[0].dim_value = batch;
	p->dims[1].value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
	p->dims[1].dim_value = 64;
	p->shape.n_dim = 2;
	p->shape.dim = p->dim_list;
	p->tensor.has_elem_type = 1;
	p->tensor.elem_type = 1;
	p->tensor.shape = &p->shape;
	p->type.value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
	p->type.tensor_type = &p->tensor;
	p->input.type = &p->type;
	p->inputs[0] = &p->input;
	p->outputs[0] = &p->output;
	p->sets[0] = &p->set;
	p->set.has_version = 1;
	p->set.version = 13;
	p->model.n_opset_import = 1;
	p->model.opset_import = p->sets;
	p->model.graph = &p->graph;
	p->graph.n_input = p->graph.n_output = 1;
	p->graph.input = p->inputs;
	p->graph.output = p->outputs;
	p->graph.n_node = 2;
	p->graph.node = p->node_list;
}

static void write_onnx(const struct packed *p, size_t cut)
{
	uint8_t bytes[1024];
	size_t length = onnx__model_proto__pack(&p->model, bytes);
	assert_true(length < sizeof bytes);
	FILE *file = fopen(run_folder_path("m.onnx"), "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, length - cut, file), length - cut);
	assert_int_equal(fclose(file), 0);
}

static void put_onnx(int64_t batch, const char *first, size_t cut)
{
	struct packed p;
	char x[] = "x", y[] = "y", z[] = "z", other[2] = {first[0], 0};
	char relu[] = "Relu", exp[] = "Exp", symbol[] = "batch";
	pack(&p, batch);
	p.nodes[0].op_type = relu;
	p.nodes[1].op_type = exp;
	if (!batch)
		p.dims[0].dim_param = symbol;
	p.input.name = x;
	p.output.name = z;
	p.names[0][0] = other;
	p.names[0][1] = p.names[1][0] = y;
	p.names[1][1] = z;
	write_onnx(&p, cut);
}

/* z = Exp(Concat(past, w)) of [length, 64] and [8, 64] */
FOLDER_TEST(an_empty_past_is_left_out)
{
	struct packed p;
	char past[] = "past", w[] = "w", y[] = "y", z[] = "z", symbol[] = "length";
	char concat[] = "Concat", exp[] = "Exp", *both[] = {past, w};
	int64_t extents[] = {8, 64};
	Onnx__TensorProto weight, *weights[] = {&weight};
	pack(&p, 0);
	onnx__tensor_proto__init(&weight);
	weight.name = w;
	weight.dims = extents;
	weight.n_dims = 2;
	weight.has_data_type = weight.data_type = 1;
	p.graph.initializer = weights;
	p.graph.n_initializer = 1;
	p.nodes[0].op_type = concat;
	p.nodes[0].n_input = 2;
	p.nodes[0].input = both;
	p.nodes[1].op_type = exp;
	p.dims[0].dim_param = symbol;
	p.input.name = past;
	p.output.name = p.names[1][1] = z;
	p.names[0][1] = p.names[1][0] = y;
	write_onnx(&p, 0);
	struct ended ended = folder_run("\"$program\" import m.onnx --dim length=0");
	assert_int_equal(ended.status, 0);
	assert_non_null(strstr(ended.out, "    - \"z[d8, d64] = exp(w[d8, d64])\"\n"));
	ended = folder_run("\"$program\" import m.onnx --dim length=4");
	assert_non_null(strstr(ended.out, "pad past[d12, d64] + pad w[d12 - 4, d64]"));
}

FOLDER_TEST(onnx_becomes_a_workload)
{
	put_onnx(0, "x", 0);
	expect("\"$program\" import m.onnx", 2,
		"m.onnx: error: dimension 0 of input 'x' has no extent; give '--dim batch=N'");
	expect("\"$program\" import m.onnx --dim batch=-1", 2, "is not a 'name=extent'");
	expect("\"$program\" import m.onnx --dim batch=0", 2, "dimension 0 would have 0 elements");
	struct ended ended = folder_run("\"$program\" import m.onnx --dim batch=32");
	assert_int_equal(ended.status, 0);
	assert_non_null(strstr(ended.out, "    - \"y[d32, d64] = relu(x[d32, d64])\"\n"));
	expect("\"$program\" simulate \"$OLDPWD\"/specs/arch/spyre32.yaml m.onnx --dim batch=32", 0,
		"");
}

FOLDER_TEST(broken_onnx_is_refused)
{
	put_onnx(-3, "x", 0);
	expect("\"$program\" import m.onnx", 2, "dimension 0 of tensor 'x' is -3");
	put_onnx(INT64_C(1) << 40, "x", 0);
	expect("\"$program\" import m.onnx", 2, "it must be below 2^31");
	put_onnx(8, "z", 0); /* Relu reads what Exp makes of it */
	expect("\"$program\" import m.onnx", 2,
		"'y' (Relu) uses 'z', which has no value there: a cycle");
	put_onnx(8, "x", 7);
	expect("\"$program\" import m.onnx", 2, "it is not an ONNX model, or truncated");
}
