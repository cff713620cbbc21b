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

static void expect(const char *command, int status, const char *err)
{
	struct ended ended = folder_run(command);
	if (ended.status != status || !strstr(ended.err, err))
		fail_msg("%s: status %d\n%s%s", command, ended.status, ended.out, ended.err);
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
