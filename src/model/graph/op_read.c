#include "model/graph/op_draft.h"

#include "base/text.h"
#include "model/graph/named_shape.h"
#include "model/graph/op_fit.h"
#include "model/graph/sticks.h"
#include "model/machine/topology.h"
#include "model/nest/shape.h"

/* `type` unless the spec says so: as the published lists call ops. */
static const char *default_type(const struct op *op)
{
	const struct primitive *primitive = op->primitive;
	int reductions = 0;
	for (int l = 0; l < op->loop_count; l++)
		reductions += op->loops[l].reduction;
	if (primitive->kind != OP_EINSUM)
		return primitive->type ? primitive->type : primitive->name;
	if (reductions == 0)
		return primitive_mul.name;
	if (op->read_count != 2 || reductions != 1)
		return primitive->name;
	return op->loop_count <= 3 ? "mm" : "bmm";
}

static bool find_constant(const struct op_draft *draft_op, const struct einsum *einsum, double *out)
{
	const struct reading *reading = draft_op->draft->reading;
	if (!einsum->variable.text) {
		*out = einsum->constant;
		return true;
	}
	const char *name = einsum->variable.text;
	const struct node *value = variables_node(reading->variables, name);
	if (value)
		return node_number(reading, value, name, out);
	diag_error(reading->diag,
		node_part(draft_op->text, einsum->variable.at, einsum->variable.end),
		"'%s' is no variable; a tensor is written with its indices, as '%s[..]'", name,
		name);
	return false;
}

/* How many times the innermost statement runs must be a number. */
static bool check_computes(const struct op_draft *draft_op)
{
	int64_t product = 1;
	for (int l = 0; l < draft_op->op->loop_count; l++) {
		if (!number_mul(product, draft_op->op->loops[l].extent, &product)) {
			diag_error(draft_op->draft->reading->diag, draft_op->text->span,
				"the op has more than 2^63 computes");
			return false;
		}
	}
	return true;
}

/* The tensors so far, for questions about one op. */
static struct workload borrow_workload(const struct draft *draft)
{
	return (struct workload){
		.tensor_count = draft->tensors.count, .tensors = draft->tensors.at};
}

/* The output's layout, then whether all sticks fit. */
static bool lay_out(struct op_draft *draft_op, const struct einsum *einsum)
{
	struct op *op = draft_op->op;
	bool fits = draft_op->draft->fits && !draft_op->draft->linear && op_is_tiled(op) &&
		    !draft_op->draft->sketches.at[op->writes[0].tensor].layout;
	if (fits && op->primitive->kind != OP_RESTICKIFY) {
		bool good = op_fit(draft_op, einsum);
		op_draft_linearise(draft_op->draft, &op->writes[0]);
		return good;
	}
	int t = op->writes[0].tensor, order[LAYOUT_HOST_RANK_MOST + 1];
	const struct sketch *sketch = &draft_op->draft->sketches.at[t];
	struct workload workload = borrow_workload(draft_op->draft);
	struct stick_misfit misfit;
	int count = draft_op->draft->linear
			    ? 0
			    : sticks_order(&workload, op, sketch->size, sketch->rank, order);
	if (!draft_lay_out(draft_op->draft, t, order, count))
		return false;
	op_draft_linearise(draft_op->draft, &op->writes[0]);
	if (sticks_fit(&workload, op, &misfit))
		return true;
	op_draft_complain_misfit(draft_op, &misfit, &einsum->reads[misfit.operand]);
	return false;
}

/* A reduced dimension that no operand has would only multiply. */
static bool check_reductions(const struct op_draft *draft_op, const struct einsum *einsum)
{
	const struct op *op = draft_op->op;
	bool good = true;
	for (int r = 0; r < einsum->reduction_count; r++) {
		const struct word *word = &einsum->reductions[r];
		bool found = false, is_loop = false;
		for (int l = 0; l < op->loop_count; l++) {
			if (!text_equal(op->loops[l].name, word->text))
				continue;
			is_loop = true;
			for (int i = 0; i < op->read_count; i++)
				found |= op->reads[i].linear.loop[l] != 0;
		}
		if (found || !is_loop)
			continue;
		diag_error(draft_op->draft->reading->diag,
			node_part(draft_op->text, word->at, word->end),
			"dimension '%s' is reduced, but indexes no operand", word->text);
		good = false;
	}
	return good;
}

/* The first of an output's two indices: one dimension, or 0. */
static bool indices_alike(const struct einsum_index *to, const struct einsum_index *from)
{
	const struct einsum_term *a = &to->terms[0], *b = &from->terms[0];
	return from->term_count == 1 && a->factor == b->factor &&
	       (a->dimension.text ? b->dimension.text &&
					    text_equal(a->dimension.text, b->dimension.text)
				  : !b->dimension.text);
}

/* A broadcast changes nothing: each element goes to where it was. */
static bool check_broadcast(const struct op_draft *draft_op, const struct einsum *einsum)
{
	const struct einsum_operand *to = &einsum->output, *from = &einsum->reads[0];
	bool same = to->index_count == from->index_count;
	for (int h = 0; same && h < to->index_count; h++)
		same = indices_alike(&to->indices[h], &from->indices[h]);
	if (einsum->primitive->kind != OP_BROADCAST || same)
		return true;
	diag_error(draft_op->draft->reading->diag, node_part(draft_op->text, from->at, from->end),
		"a broadcast copies: '%s' and '%s' must have the same indices", to->tensor.text,
		from->tensor.text);
	return false;
}

static bool check_broadcast_layout(const struct op_draft *draft_op)
{
	const struct op *op = draft_op->op;
	const struct tensor *from = &draft_op->draft->tensors.at[op->reads[0].tensor];
	const struct tensor *to = &draft_op->draft->tensors.at[op->writes[0].tensor];
	if (op->primitive->kind != OP_BROADCAST ||
		(from->layout.dtype == to->layout.dtype &&
			layout_equal(&from->layout, &to->layout)))
		return true;
	diag_error(draft_op->draft->reading->diag, draft_op->text->span,
		"a broadcast copies whole sticks: '%s' and '%s' must have the same shape, dtype and "
		"layout",
		to->name, from->name);
	return false;
}

/* `kt[d,k] = restickify k[k,d]` and the like, into draft_op->op. */
static bool read_notation(struct op_draft *draft_op)
{
	struct arena *arena = draft_op->draft->reading->arena;
	struct op *op = draft_op->op;
	struct einsum einsum;
	struct einsum_fault fault;
	if (!einsum_parse(arena, draft_op->text->text, &einsum, &fault)) {
		diag_error(draft_op->draft->reading->diag,
			node_part(draft_op->text, fault.at, fault.end), "%s", fault.text);
		return false;
	}
	op->primitive = einsum.primitive;
	if (draft_op->draft->linear && op->primitive->kind == OP_RESTICKIFY)
		op->primitive = &primitive_clone;
	op->has_constant = einsum.has_constant;
	op->write_count = 1;
	op->writes = arena_new(arena, struct access);
	if (!op_draft_enter_loops(
		    draft_op, &einsum.output, einsum.reductions, einsum.reduction_count))
		return false;
	bool good = !op->has_constant || find_constant(draft_op, &einsum, &op->constant);
	for (int i = 0; i < einsum.read_count; i++)
		good = op_draft_read(draft_op, &einsum.reads[i]) && good;
	good = good && check_reductions(draft_op, &einsum) && check_computes(draft_op);
	if (!op_draft_write(draft_op, &einsum.output, &op->writes[0]))
		return false;
	if (good && check_broadcast(draft_op, &einsum))
		return lay_out(draft_op, &einsum) && check_broadcast_layout(draft_op);
	draft_lay_out(draft_op->draft, op->writes[0].tensor, NULL, 0);
	return false;
}

/* A tensor of an opaque op, "idx[k]" or a known "idx": read or written whole, no loops. */
static bool read_opaque_operand(
	struct draft *draft, struct op *op, const struct node *node, bool write)
{
	const char *text;
	struct einsum_operand operand;
	struct einsum_fault fault;
	struct op scratch = {0};
	struct op_draft draft_op = {.draft = draft, .text = node, .op = &scratch};
	struct diag *diag = draft->reading->diag;
	if (!node_text(draft->reading, node, "tensor", &text))
		return false;
	if (!einsum_parse_operand(draft->reading->arena, text, &operand, &fault)) {
		diag_error(diag, node_part(node, fault.at, fault.end), "%s", fault.text);
		return false;
	}
	if (!op_draft_enter_loops(&draft_op, &operand, NULL, 0))
		return false;
	struct access access = {0};
	if (write ? !op_draft_write(&draft_op, &operand, &access)
		  : !op_draft_read(&draft_op, &operand))
		return false;
	if (!write)
		access = scratch.reads[0];
	else if (!draft_lay_out(draft, access.tensor, NULL, 0))
		return false;
	struct access *out = write ? &op->writes[op->write_count++] : &op->reads[op->read_count++];
	*out = (struct access){.tensor = access.tensor};
	return true;
}

/* {opaque: topk, reads: [p], writes: ["idx[t,j]"]} */
static bool read_opaque(struct draft *draft, struct reader *reader, struct op *op)
{
	const struct node *reads = read_list(reader, "reads", OPTIONAL);
	const struct node *writes = read_list(reader, "writes", REQUIRED);
	size_t read_count = reads ? reads->count : 0;
	bool good = true;
	if (!writes)
		return false;
	if (writes->count == 0 || read_count + writes->count > OP_READS_MOST + 1 ||
		read_count > OP_READS_MOST) {
		diag_error(draft->reading->diag, reader->map->span,
			"an opaque op writes at least one tensor, and has at most %d in all",
			OP_READS_MOST + 1);
		return false;
	}
	op->primitive = &primitive_opaque;
	op->writes = arena_array(draft->reading->arena, struct access, writes->count);
	for (size_t i = 0; i < read_count; i++)
		good = read_opaque_operand(draft, op, reads->items[i], false) && good;
	for (size_t i = 0; i < writes->count; i++)
		good = read_opaque_operand(draft, op, writes->items[i], true) && good;
	return good;
}

/* The rank that a broadcast starts from. */
static void read_root(struct draft *draft, struct reader *reader, struct op *op)
{
	int64_t root = 0;
	const struct node *node = read_node(reader, "root", OPTIONAL);
	if (node && op->primitive->kind != OP_BROADCAST)
		diag_error(draft->reading->diag, node->span, "only a broadcast has a root");
	else if (node)
		read_integer(reader, "root", OPTIONAL, 0, RANKS_MOST - 1, &root);
	op->root = (int)root;
}

/* What constraints call the operands: one of Inputs, Weights and Outputs each, in the order written. */
static void read_roles(struct draft *draft, struct reader *reader, struct op *op)
{
	const struct node *list = read_list(reader, "roles", OPTIONAL);
	const char **roles = arena_array(draft->reading->arena, const char *, op_operands(op));
	if (!list)
		return;
	if (list->count != (size_t)op_operands(op)) {
		diag_error(draft->reading->diag, list->span,
			"'%s' has %d operands and %zu roles; each has one, the result the last",
			draft->tensors.at[op->writes[0].tensor].name, op_operands(op), list->count);
		return;
	}
	for (size_t i = 0; i < list->count; i++) {
		if (!node_text(draft->reading, list->items[i], "a role", &roles[i]))
			return;
		bool known = false, twice = false;
		for (int k = 0; shape_roles[k]; k++)
			known |= text_equal(roles[i], shape_roles[k]);
		for (size_t k = 0; k < i; k++)
			twice |= text_equal(roles[i], roles[k]);
		if (!known || twice)
			diag_error(draft->reading->diag, list->items[i]->span,
				twice ? "two operands are '%s'"
				      : "no machine calls an operand '%s'; there are Inputs, Weights "
					"and Outputs",
				roles[i]);
	}
	op->roles = roles;
}

static bool read_op_map(struct draft *draft, const struct node *node, struct op *op)
{
	struct reader reader;
	bool good;
	if (!reader_open(&reader, draft->reading, node, "op"))
		return false;
	read_text(&reader, "name", OPTIONAL, &op->name);
	if (read_text(&reader, "opaque", OPTIONAL, &op->type)) {
		good = read_opaque(draft, &reader, op);
	} else {
		struct op_draft draft_op = {.draft = draft, .op = op};
		const char *text;
		good = read_text(&reader, "op", REQUIRED, &text);
		draft_op.text = node_find(node, "op");
		read_text(&reader, "type", OPTIONAL, &op->type);
		good = good && read_notation(&draft_op);
		if (good) {
			read_root(draft, &reader, op);
			read_roles(draft, &reader, op);
		} else {
			read_node(&reader, "root", OPTIONAL);
			read_node(&reader, "roles", OPTIONAL);
		}
	}
	reader_done(&reader);
	return good;
}

/* Unique, or the output's. */
static void name_op(struct draft *draft, struct op *op)
{
	if (!op->name)
		op->name = draft->tensors.at[op->writes[0].tensor].name;
	int other = names_find(&draft->op_names, op->name);
	if (other < 0) {
		names_add(draft->reading->arena, &draft->op_names, op->name, (int)draft->ops.count);
		return;
	}
	diag_error(draft->reading->diag, op->span, "two ops are called '%s'", op->name);
	diag_note(draft->reading->diag, draft->ops.at[other].span, "the first one");
}

static long long extent_of(const void *of, const char *name)
{
	const struct draft *draft = of;
	int d = names_find(&draft->dimension_names, name);
	return d < 0 ? 0 : draft->dimensions.at[d].extent;
}

/* Ops in place of a line that names a shape; false: it names none. */
static bool read_named_shape(struct draft *draft, const struct node *node)
{
	struct arena *arena = draft->reading->arena;
	struct shape_lines lines = {0};
	const char *why;
	if (node->kind != NODE_SCALAR ||
		!named_shape_expand(arena, node->text, extent_of, draft, &lines, &why))
		return false;
	if (why)
		diag_error(draft->reading->diag, node->span, "%s", why);
	for (size_t i = 0; i < lines.count; i++)
		draft_read_op(draft, node_scalar(arena, lines.at[i], node->span));
	return true;
}

void draft_read_op(struct draft *draft, const struct node *node)
{
	if (read_named_shape(draft, node))
		return;
	struct op op = {.span = node->span};
	struct op_draft draft_op = {.draft = draft, .text = node, .op = &op};
	bool good = node->kind == NODE_SCALAR ? read_notation(&draft_op)
					      : read_op_map(draft, node, &op);
	if (good) {
		name_op(draft, &op);
		if (!op.type)
			op.type = default_type(&op);
	}
	/* even a broken one: tensors know their op by number */
	*array_add(draft->reading->arena, &draft->ops) = op;
}
