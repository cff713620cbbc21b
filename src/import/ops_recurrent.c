#include "base/text.h"
#include "import/ops.h"

#include <stdio.h>
#include <string.h>

/*
 * LSTM, GRU and RNN of ONNX, one step behind the other.  Products of the inputs are one op for all steps; the state
 * of each step is [batch, hidden].
 */
enum { STEPS_MOST = 64, DIRECTIONS_MOST = 2, FUNCTIONS_MOST = 3, FUNCTION_NAME_MOST = 16 };

struct recurrent_layer {
	int64_t steps, batch, hidden, gates;
	int input;   /* products of the inputs: [steps, batch, gates x hidden] */
	int weights; /* of the state: [gates x hidden, hidden] */
	int bias; /* that is added behind the product of the state: [1, gates x hidden]; -1: none */
	int state, cell;  /* [batch, hidden]; -1: zeros */
	bool reset_after; /* the gate of a GRU counts behind the product */
	const char *functions[FUNCTIONS_MOST];
};

typedef int layer_step(struct build *b, struct recurrent_layer *r, int input);

static int ops_recurrent_gate(struct build *b, const struct recurrent_layer *r, int v, int64_t k)
{
	return v < 0 ? -1 : mean_slice_one(b, v, 1, k * r->hidden, r->hidden);
}

/* a + c; -1 stands for zeros. */
static int ops_recurrent_plus(struct build *b, int a, int c)
{
	return a < 0 ? c : c < 0 ? a : build_map2(b, "add", a, c);
}

static int ops_recurrent_active(struct build *b, const struct recurrent_layer *r, int which, int v)
{
	return build_map(b, r->functions[which], v);
}

/* Products of the state with the first `gates` gates. */
static int ops_recurrent_recur(
	struct build *b, const struct recurrent_layer *r, int64_t from, int64_t gates, int state)
{
	return state < 0 ? -1
			 : build_contract(b, state, "bh",
				   mean_slice_one(
					   b, r->weights, 0, from * r->hidden, gates * r->hidden),
				   "gh", "bg");
}

/* Gates: input, output, forget, cell. */
static int step_lstm(struct build *b, struct recurrent_layer *r, int input)
{
	int all = ops_recurrent_plus(b, input, ops_recurrent_recur(b, r, 0, r->gates, r->state));
	int opens = ops_recurrent_active(b, r, 0, ops_recurrent_gate(b, r, all, 0)),
	    gives = ops_recurrent_active(b, r, 0, ops_recurrent_gate(b, r, all, 1)),
	    cell = ops_recurrent_active(b, r, 1, ops_recurrent_gate(b, r, all, 3));
	int kept =
		r->cell < 0
			? -1
			: build_map2(b, "mul",
				  ops_recurrent_active(b, r, 0, ops_recurrent_gate(b, r, all, 2)),
				  r->cell);
	r->cell = ops_recurrent_plus(b, kept, build_map2(b, "mul", opens, cell));
	r->state = build_map2(b, "mul", gives, ops_recurrent_active(b, r, 2, r->cell));
	return r->state;
}

/* Gates: update, reset, hidden. */
static int step_gru(struct build *b, struct recurrent_layer *r, int input)
{
	int64_t first = r->reset_after ? 3 : 2;
	int all = ops_recurrent_plus(b, ops_recurrent_recur(b, r, 0, first, r->state), r->bias);
	int update = ops_recurrent_active(b, r, 0,
		ops_recurrent_plus(b, ops_recurrent_gate(b, r, input, 0),
			all < 0 ? -1 : ops_recurrent_gate(b, r, all, 0)));
	int reset = all < 0 ? -1
			    : ops_recurrent_active(b, r, 0,
				      ops_recurrent_plus(b, ops_recurrent_gate(b, r, input, 1),
					      ops_recurrent_gate(b, r, all, 1)));
	int hidden = ops_recurrent_gate(b, r, input, 2);
	if (r->reset_after && all >= 0)
		hidden = ops_recurrent_plus(
			b, hidden, build_map2(b, "mul", reset, ops_recurrent_gate(b, r, all, 2)));
	else if (r->state >= 0)
		hidden = ops_recurrent_plus(b, hidden,
			ops_recurrent_recur(b, r, 2, 1, build_map2(b, "mul", reset, r->state)));
	hidden = ops_recurrent_active(b, r, 1, hidden);
	r->state = r->state < 0 ? build_map2(b, "sub", hidden, build_map2(b, "mul", update, hidden))
				: build_map2(b, "add", hidden,
					  build_map2(b, "mul", update,
						  build_map2(b, "sub", r->state, hidden)));
	return r->state;
}

static int step_rnn(struct build *b, struct recurrent_layer *r, int input)
{
	r->state = ops_recurrent_active(
		b, r, 0, ops_recurrent_plus(b, input, ops_recurrent_recur(b, r, 0, 1, r->state)));
	return r->state;
}

/* Part `at` of the first dimension, without it. */
static int recurrent_part(struct build *b, int v, int64_t at)
{
	if (v < 0)
		return -1;
	if (at >= view_at(b, v)->shape.size[0])
		return build_fail(b, "operands of fewer directions");
	return view_squeeze(b, mean_slice_one(b, v, 0, at, 1), 1);
}

/* An initial state; zeros count as none. */
static int ops_recurrent_initial(
	struct build *b, const struct model_call *call, int i, int64_t direction)
{
	int v = mean_has(call, i) ? mean_input(b, call, i) : -1;
	if (v < 0 || (view_at(b, v)->kind == VIEW_SPLAT && view_at(b, v)->splat == 0))
		return -1;
	return recurrent_part(b, v, direction);
}

/* Activations of one direction, those of the op where the call names none. */
static bool read_functions(struct build *b, const struct model_call *call,
	struct recurrent_layer *r, int64_t direction, const char *usual)
{
	static const char *const known[][2] = {
		{"Sigmoid", "sigmoid"}, {"Tanh", "tanh"}, {"Relu", "relu"}};
	const char *text = call_text(call, "activations");
	int count = 0, skip = 0;
	char word[FUNCTION_NAME_MOST];
	for (const char *at = usual; *at; at++)
		skip += *at == ' ';
	skip = text[0] ? (skip + 1) * (int)direction : 0;
	text = text[0] ? text : usual;
	for (int length = 0; sscanf(text, " %15s%n", word, &length) == 1 && count < FUNCTIONS_MOST;
		text += length) {
		const char *name = NULL;
		for (size_t i = 0; i < sizeof known / sizeof *known; i++)
			name = text_equal(known[i][0], word) ? known[i][1] : name;
		if (!name)
			return build_fail(b, "activation '%s'", word) >= 0;
		if (skip-- <= 0)
			r->functions[count++] = name;
	}
	return count > 0 || build_fail(b, "activations of one direction alone") >= 0;
}

/* Products of all inputs, their bias among them. */
static bool open_direction(struct build *b, const struct model_call *call,
	struct recurrent_layer *r, int64_t direction)
{
	int x = mean_input(b, call, 0), w = recurrent_part(b, mean_input(b, call, 1), direction);
	r->weights = recurrent_part(b, mean_input(b, call, 2), direction);
	r->state = ops_recurrent_initial(b, call, 5, direction);
	r->cell = ops_recurrent_initial(b, call, 6, direction);
	r->input = build_contract(b, x, "sbi", w, "gi", "sbg");
	r->bias = -1;
	if (b->why || !mean_has(call, 3))
		return !b->why;
	int64_t width = r->gates * r->hidden;
	int both = recurrent_part(b, mean_input(b, call, 3), direction);
	if (both < 0 || view_at(b, both)->shape.size[0] != 2 * width)
		return build_fail(b, "a bias of another width") >= 0;
	int own = mean_slice_one(b, both, 0, 0, width),
	    other = mean_slice_one(b, both, 0, width, width);
	r->input = build_map2(b, "add", r->input, own);
	if (r->reset_after)
		r->bias = view_reshape(b, other, &(struct model_shape){2, {1, width}});
	else
		r->input = build_map2(b, "add", r->input, other);
	return !b->why;
}

/* All steps of one direction: the states as [steps, 1, batch, hidden]; the last ones stay in *r. */
static int run_direction(struct build *b, struct recurrent_layer *r, layer_step *step, bool back)
{
	int states[STEPS_MOST];
	const struct model_shape one = {4, {1, 1, r->batch, r->hidden}};
	for (int64_t i = 0; i < r->steps && !b->why; i++) {
		int64_t at = back ? r->steps - 1 - i : i;
		states[at] = view_reshape(b, step(b, r, recurrent_part(b, r->input, at)), &one);
	}
	return b->why ? -1 : build_concat(b, states, (int)r->steps, 0);
}

static bool check_recurrence(
	struct build *b, const struct model_call *call, struct recurrent_layer *r)
{
	enum { LENGTHS = 4, PEEPHOLES = 7 };
	int x = mean_input(b, call, 0), w = mean_input(b, call, 2);
	if (x < 0 || w < 0 || view_at(b, x)->shape.rank != 3 || view_at(b, w)->shape.rank != 3)
		return build_fail(b, "operands that are not [steps, batch, inputs]") >= 0;
	const struct model_shape *shape = &view_at(b, x)->shape;
	r->steps = shape->size[0];
	r->batch = shape->size[1];
	r->hidden = view_at(b, w)->shape.size[2];
	r->reset_after = call_int(call, "linear_before_reset", 0);
	int64_t directions = view_at(b, w)->shape.size[0];
	if (view_at(b, w)->shape.size[1] != r->gates * r->hidden || directions > DIRECTIONS_MOST)
		return build_fail(b, "weights of another width") >= 0;
	mean_shape(b, call, 0,
		&(struct model_shape){4, {r->steps, directions, r->batch, r->hidden}},
		view_at(b, x)->dtype);
	for (int i = 1; i < 3; i++)
		mean_shape(b, call, i, &(struct model_shape){3, {directions, r->batch, r->hidden}},
			view_at(b, x)->dtype);
	const struct constant *lengths = mean_constant(b, call, LENGTHS);
	bool whole = !mean_has(call, LENGTHS) || lengths;
	for (size_t i = 0; lengths && i < lengths->count; i++)
		whole &= constant_int(lengths, i) == r->steps;
	if (r->steps > STEPS_MOST)
		return build_fail(b, "more than %d steps", STEPS_MOST) >= 0;
	if (!whole || mean_has(call, PEEPHOLES) || call_attribute(call, "clip") ||
		call_int(call, "input_forget", 0) || call_int(call, "layout", 0))
		return build_fail(b, "lengths, peepholes, a clip, or another layout") >= 0;
	return true;
}

/* The argument has the number of gates, and the activations of the op. */
int mean_recurrent(struct build *b, const struct model_call *call, const char *argument)
{
	struct recurrent_layer r = {.gates = argument[0] - '0'};
	layer_step *step = r.gates == 4 ? step_lstm : r.gates == 3 ? step_gru : step_rnn;
	int all[DIRECTIONS_MOST], last[DIRECTIONS_MOST], cells[DIRECTIONS_MOST], count = 0;
	if (!check_recurrence(b, call, &r))
		return -1;
	const struct model_shape one = {3, {1, r.batch, r.hidden}};
	const char *direction = call_text(call, "direction");
	count = text_equal(direction, "bidirectional") ? 2 : 1;
	if (view_at(b, mean_input(b, call, 2))->shape.size[0] != count)
		return build_fail(b, "weights of another number of directions");
	for (int d = 0; d < count; d++) {
		if (!read_functions(b, call, &r, d, argument + 2) ||
			!open_direction(b, call, &r, d))
			return -1;
		all[d] = run_direction(b, &r, step, d > 0 || text_equal(direction, "reverse"));
		last[d] = view_reshape(b, r.state, &one);
		cells[d] = r.gates == 4 ? view_reshape(b, r.cell, &one) : -1;
		if (b->why)
			return -1;
	}
	mean_give(b, call, 1, build_concat(b, last, count, 0));
	if (r.gates == 4)
		mean_give(b, call, 2, build_concat(b, cells, count, 0));
	return build_concat(b, all, count, 1);
}
