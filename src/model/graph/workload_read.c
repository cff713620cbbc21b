#include "model/graph/workload_read.h"

#include "base/fatal.h"
#include "base/text.h"
#include "model/graph/draft.h"
#include "model/graph/workload.h"
#include "model/nest/shape.h"
#include "spec/field.h"

#include <string.h>

enum { LISTED_MOST = 8 };

static const char *near_text(const struct draft *draft, const char *name, const char *const *known)
{
	return suggestion(draft->reading->arena, suggest(name, known), "");
}

/* True if further complaints are not printed: then suggestions, which take time, are of no use. */
static bool is_quiet(const struct draft *draft)
{
	return diag_full(draft->reading->diag);
}

const char *draft_near_dimension(const struct draft *draft, const char *name)
{
	if (is_quiet(draft))
		return "";
	const char **known =
		arena_array(draft->reading->arena, const char *, draft->dimensions.count + 1);
	for (size_t i = 0; i < draft->dimensions.count; i++)
		known[i] = draft->dimensions.at[i].name;
	const char *near = near_text(draft, name, known);
	if (*near || !draft->dimensions.count || draft->dimensions.count > LISTED_MOST)
		return near;
	struct text list = text_open(draft->reading->arena);
	for (size_t i = 0; i < draft->dimensions.count; i++)
		text_add(&list, "%s%s", i ? ", " : "; the dimensions are ", known[i]);
	return text_read(&list);
}

const char *draft_near_tensor(const struct draft *draft, const char *name)
{
	if (is_quiet(draft))
		return "";
	size_t count = 0;
	const char **known =
		arena_array(draft->reading->arena, const char *, draft->tensors.count + 1);
	for (size_t t = 0; t < draft->tensors.count; t++) {
		if (draft->sketches.at[t].used && !text_equal(draft->tensors.at[t].name, name))
			known[count++] = draft->tensors.at[t].name;
	}
	return near_text(draft, name, known);
}

int draft_tensor(struct draft *draft, const char *name, struct span at)
{
	struct arena *arena = draft->reading->arena;
	int t = names_find(&draft->tensor_names, name);
	if (t >= 0)
		return t;
	t = (int)draft->tensors.count;
	name = arena_text(arena, name);
	*array_add(arena, &draft->tensors) =
		(struct tensor){.name = name, .producer = -1, .span = at};
	*array_add(arena, &draft->sketches) =
		(struct sketch){.dtype = draft->dtype, .rank = -1, .reader = -1};
	names_add(arena, &draft->tensor_names, name, t);
	return t;
}

struct span draft_place(const struct draft *draft, int tensor)
{
	const struct sketch *sketch = &draft->sketches.at[tensor];
	return sketch->text ? node_part(sketch->text, sketch->place.at, sketch->place.end)
			    : draft->tensors.at[tensor].span;
}

/* An entry of `shape:`: a dimension's name or a number. */
static bool read_extent(
	struct draft *draft, const struct node *node, int64_t *extent, const char **name)
{
	int d = node->kind == NODE_SCALAR ? names_find(&draft->dimension_names, node->text) : -1;
	*name = NULL;
	if (d < 0)
		return node_integer(draft->reading, node, "extent", 1, EXTENT_MOST, extent);
	draft->dimensions.at[d].used = true;
	*extent = draft->dimensions.at[d].extent;
	*name = draft->dimensions.at[d].name;
	return true;
}

static void read_shape(
	struct draft *draft, const struct node *list, const char *name, struct sketch *sketch)
{
	if (list->count > LAYOUT_HOST_RANK_MOST) {
		diag_error(draft->reading->diag, list->span,
			"tensor '%s' has %zu dimensions; at most %d", name, list->count,
			LAYOUT_HOST_RANK_MOST);
		return;
	}
	for (size_t h = 0; h < list->count; h++) {
		if (!read_extent(draft, list->items[h], &sketch->size[h], &sketch->names[h]))
			return;
	}
	sketch->rank = (int)list->count;
	sketch->shape_given = true;
}

struct tensor_form {
	int dtype; /* -1: none */
	const struct node *shape, *layout;
};

static const struct field tensor_fields[] = {
	{"dtype", FIELD_CHOICE, .usual = "that of the workload", .words = dtype_names,
		INTO(struct tensor_form, dtype)},
	{"shape", FIELD_ANY, "its dimensions, by name or extent", .shape = SHAPE_LIST,
		KEEP(struct tensor_form, shape)},
	{"layout", FIELD_ANY, "its dimensions in the memory, stick last", .shape = SHAPE_LIST,
		KEEP(struct tensor_form, layout)},
	{0},
};
static const struct noun tensor_noun = {.name = "tensor", .fields = tensor_fields};

static void read_tensor(struct draft *draft, const struct node_entry *entry)
{
	struct reader reader;
	struct tensor_form form = {.dtype = -1};
	int t = draft_tensor(draft, entry->key, entry->key_span);
	struct sketch *sketch = &draft->sketches.at[t];
	const char *what = arena_format(draft->reading->arena, "tensor '%s'", entry->key);
	if (!noun_open(&reader, draft->reading, entry->value, what, &tensor_noun))
		return;
	fields_read(&reader, &tensor_noun, &form, NULL);
	/* a machine of words has what it has, whatever the model was trained in */
	if (form.dtype >= 0 && !(draft->fits && draft->linear))
		sketch->dtype = (enum dtype)form.dtype;
	if (form.shape)
		read_shape(draft, form.shape, entry->key, sketch);
	sketch->layout = form.layout;
	reader_done(&reader);
}

/* `tensors:` of the spec. */
static void draft_read_tensors(struct draft *draft, const struct node *map)
{
	for (size_t i = 0; i < map->count; i++)
		read_tensor(draft, &map->entries[i]);
}

/* "[h, k, d]": a tensor's dimensions by name, by number where they have none. */
static const char *list_dimensions(struct draft *draft, const struct sketch *sketch)
{
	struct text text = text_open(draft->reading->arena);
	for (int h = 0; h < sketch->rank; h++) {
		text_add(&text, h ? ", " : "");
		if (sketch->names[h])
			text_add(&text, "%s", sketch->names[h]);
		else
			text_add(&text, "%d", h);
	}
	return text_read(&text);
}

/* Which host dimension a word of `layout:` means; -1 for the last word "sparse". */
static bool find_host_dimension(
	struct draft *draft, int tensor, const struct node *node, bool last, int *out)
{
	const struct sketch *sketch = &draft->sketches.at[tensor];
	if (last && node->kind == NODE_SCALAR && text_equal(node->text, "sparse")) {
		*out = -1;
		return true;
	}
	for (int h = 0; h < sketch->rank && node->kind == NODE_SCALAR; h++) {
		const char *number = arena_format(draft->reading->arena, "%d", h);
		if ((sketch->names[h] && text_equal(sketch->names[h], node->text)) ||
			text_equal(number, node->text)) {
			*out = h;
			return true;
		}
	}
	diag_error(draft->reading->diag, node->span,
		"the layout of '%s' lists its dimensions %s, stick last, or sparse after them",
		draft->tensors.at[tensor].name, list_dimensions(draft, sketch));
	return false;
}

/* The order that `layout:` gives; its length, -1 after complaining. */
static int read_layout(struct draft *draft, int tensor, int *order)
{
	const struct sketch *sketch = &draft->sketches.at[tensor];
	const struct node *list = sketch->layout;
	unsigned seen = 0, all = (1u << sketch->rank) - 1;
	size_t most = (size_t)sketch->rank + 1;
	for (size_t i = 0; i < list->count && i < most; i++) {
		bool last = i + 1 == list->count;
		if (!find_host_dimension(draft, tensor, list->items[i], last, &order[i]))
			return -1;
		seen |= order[i] < 0 ? 0 : 1u << order[i];
	}
	size_t named = list->count -
		       (list->count > 0 && list->count <= most && order[list->count - 1] < 0);
	if (seen == all && named == (size_t)sketch->rank)
		return (int)list->count;
	diag_error(draft->reading->diag, list->span,
		"the layout of '%s' must list each of its dimensions %s once, stick last",
		draft->tensors.at[tensor].name, list_dimensions(draft, sketch));
	return -1;
}

/* Row by row, whatever the spec wants. */
static bool lay_out_linear(struct draft *draft, int tensor)
{
	struct sketch *sketch = &draft->sketches.at[tensor];
	struct layout *out = &draft->tensors.at[tensor].layout;
	if (sketch->layout)
		diag_error(draft->reading->diag, sketch->layout->span,
			"'%s' has a device layout, and '%s' has no sticks: arrays lie there row by row; "
			"leave 'layout' out, or give '%s' 'stick: 128B' and the scratchpad 'transfer: "
			"box'",
			draft->tensors.at[tensor].name, draft->linear->name, draft->linear->name);
	sketch->layout = NULL; /* said once */
	return layout_linear(sketch->dtype, sketch->size, sketch->rank, out);
}

/* In the order given, or that of `layout:`. */
static bool lay_out_in_sticks(struct draft *draft, int tensor, const int *order, int order_count)
{
	struct sketch *sketch = &draft->sketches.at[tensor];
	struct tensor *out = &draft->tensors.at[tensor];
	int given[LAYOUT_HOST_RANK_MOST + 1];
	if (sketch->layout) {
		order = given;
		order_count = read_layout(draft, tensor, given);
		out->layout_given = true;
		if (order_count < 0) {
			sketch->layout = NULL; /* said once */
			order_count = 0;
		}
	}
	return layout_make(sketch->dtype, sketch->size, sketch->rank, order_count ? order : NULL,
		order_count, &out->layout);
}

bool draft_lay_out(struct draft *draft, int tensor, const int *order, int order_count)
{
	struct tensor *out = &draft->tensors.at[tensor];
	if ((draft->linear ? lay_out_linear(draft, tensor)
			   : lay_out_in_sticks(draft, tensor, order, order_count)) &&
		out->layout.bytes >> TENSOR_BYTES_MOST_LOG2 == 0)
		return true;
	diag_error(draft->reading->diag, draft_place(draft, tensor),
		"tensor '%s' takes more than 2^%d bytes on the device", out->name,
		TENSOR_BYTES_MOST_LOG2);
	layout_make(draft->sketches.at[tensor].dtype, NULL, 0, NULL, 0,
		&out->layout); /* something to go on with */
	return false;
}

/* The restickify that would mend a misfit: the host dimension that belongs along the stick. */
struct mend {
	struct op_draft *draft_op;
	const struct sketch *sketch;
	const char *tensor;                 /* the operand's */
	const struct line_operand *spelled; /* in the op's text */
	int stick;                          /* host dimension; -1: sparse */
	const char *fresh;                  /* the restickified tensor */
};

static const char *loop_name(const struct op_draft *draft_op, int l)
{
	return draft_op->op->loops[l].name;
}

static struct text open_text(const struct op_draft *draft_op)
{
	return text_open(draft_op->draft->reading->arena);
}

/* A name that no tensor has: "K_k", "K_sparse", with underscores added until it is free. */
static const char *name_fresh(const struct op_draft *draft_op, const char *tensor, int wanted)
{
	struct text name = open_text(draft_op);
	text_add(&name, "%s_%s", tensor, wanted >= 0 ? loop_name(draft_op, wanted) : "sparse");
	while (names_find(&draft_op->draft->tensor_names, text_read(&name)) >= 0)
		text_add(&name, "_");
	return text_read(&name);
}

static bool has_all_names(const struct sketch *sketch)
{
	for (int h = 0; h < sketch->rank; h++) {
		if (!sketch->names[h])
			return false;
	}
	return true;
}

static void add_dimension(const struct mend *mend, struct text *text, int h)
{
	if (mend->sketch->names[h])
		text_add(text, "%s", mend->sketch->names[h]);
	else
		text_add(text, "%d", h);
}

static void add_index(const struct mend *mend, struct text *text, int h)
{
	const struct affine_sum *index = &mend->spelled->indices[h];
	if (index->end) /* of a problem, which has no text, indices are plain here */
		text_bytes(text, mend->draft_op->text->text + index->at, index->end - index->at);
	else
		text_add(text, "%s", index->terms[0].name.text);
}

/* The tensor's dimensions with `stick` last, each as `add` writes it. */
static const char *list_moved(const struct mend *mend, const char *separator,
	void (*add)(const struct mend *, struct text *, int))
{
	struct text text = open_text(mend->draft_op);
	const char *between = "";
	for (int i = 0; i <= mend->sketch->rank; i++) {
		int h = i < mend->sketch->rank ? i : mend->stick;
		if (h < 0 || (h == mend->stick && i < mend->sketch->rank))
			continue;
		text_add(&text, "%s", between);
		add(mend, &text, h);
		between = separator;
	}
	return text_read(&text);
}

static void note_restickify(const struct mend *mend, struct span at)
{
	struct mend in_order = *mend;
	in_order.stick = -1;
	const char *layout = "";
	if (mend->stick < 0)
		layout = arena_format(mend->draft_op->draft->reading->arena,
			" with '%s: {layout: [%s, sparse]}' under tensors", mend->fresh,
			list_moved(mend, ", ", add_dimension));
	diag_note(mend->draft_op->draft->reading->diag, at,
		"write '%s[%s] = restickify %s[%s]' before this op%s, and here %s[%s]", mend->fresh,
		list_moved(mend, ",", add_dimension), mend->tensor,
		list_moved(&in_order, ",", add_dimension), layout, mend->fresh,
		list_moved(mend, ",", add_index));
}

static void note_layout(const struct mend *mend, struct span at)
{
	diag_note(mend->draft_op->draft->reading->diag, at,
		"%sgive input '%s' another layout: '%s: {layout: [%s%s]}' under tensors",
		has_all_names(mend->sketch) ? "or " : "", mend->tensor, mend->tensor,
		list_moved(mend, ", ", add_dimension), mend->stick < 0 ? ", sparse" : "");
}

/* "the stick of 'K' runs along 'd' here; it has to run along 'k'" */
static const char *describe(
	const struct op_draft *draft_op, const struct stick_misfit *misfit, const char *tensor)
{
	struct text text = open_text(draft_op);
	if (misfit->loop >= 0)
		text_add(&text, "the stick of '%s' runs along '%s'", tensor,
			loop_name(draft_op, misfit->loop));
	else if (misfit->loop == -1)
		text_add(&text, "'%s' is sparse, its stick runs along nothing", tensor);
	else
		text_add(&text,
			"the stick of '%s' is read shifted, by steps, or along several dimensions",
			tensor);
	if (misfit->wanted >= 0)
		text_add(&text, ", but this op needs it along '%s'",
			loop_name(draft_op, misfit->wanted));
	else
		text_add(&text, ", but this op needs one element per stick (sparse)");
	return text_read(&text);
}

/* The host dimension that the wanted loop alone walks by steps of 1; -1 if none. */
static int find_bare(
	const struct op_draft *draft_op, const struct access *access, int rank, int wanted)
{
	for (int h = 0; h < rank; h++)
		if (affine_walker(&access->host[h], draft_op->op->loop_count) == wanted &&
			access->host[h].offset == 0)
			return h;
	return -1;
}

void op_draft_complain_misfit(struct op_draft *draft_op, const struct stick_misfit *misfit,
	const struct line_operand *spelled)
{
	const struct access *access = &draft_op->op->reads[misfit->operand];
	const struct tensor *tensor = &draft_op->draft->tensors.at[access->tensor];
	struct span at = node_part(draft_op->text, spelled->at, spelled->end);
	struct mend mend = {.draft_op = draft_op,
		.sketch = &draft_op->draft->sketches.at[access->tensor],
		.tensor = tensor->name,
		.spelled = spelled,
		.stick = -1,
		.fresh = name_fresh(draft_op, tensor->name, misfit->wanted)};
	diag_error(
		draft_op->draft->reading->diag, at, "%s", describe(draft_op, misfit, tensor->name));
	if (misfit->wanted >= 0) {
		mend.stick = find_bare(draft_op, access, mend.sketch->rank, misfit->wanted);
		if (mend.stick < 0) {
			diag_note(draft_op->draft->reading->diag, at,
				"no layout of '%s' can; give the output a stick along another "
				"dimension",
				tensor->name);
			return;
		}
	}
	if (has_all_names(mend.sketch))
		note_restickify(&mend, at);
	if (tensor->producer < 0)
		note_layout(&mend, at);
}

static void read_dimensions(struct draft *draft, const struct node *map)
{
	struct arena *arena = draft->reading->arena;
	for (size_t i = 0; map && i < map->count; i++) {
		const struct node_entry *entry = &map->entries[i];
		struct named_extent dimension = {
			.name = entry->key, .extent = 1, .span = entry->key_span};
		const char *what = arena_format(arena, "dimension '%s'", entry->key);
		node_integer(draft->reading, entry->value, what, 1, EXTENT_MOST, &dimension.extent);
		names_add(arena, &draft->dimension_names, entry->key, (int)draft->dimensions.count);
		*array_add(arena, &draft->dimensions) = dimension;
	}
}

static void read_ops(struct draft *draft, const struct node *list)
{
	for (size_t i = 0; list && i < list->count; i++) {
		if (diag_errors(draft->reading->diag) > DIAG_MOST)
			return;
		draft_read_op(draft, list->items[i]);
	}
	if (list && list->count == 0)
		diag_error(draft->reading->diag, list->span, "a workload needs at least one op");
}

/* Gives the tensors that `list` names a role; they must have a producer, or none. */
static void assign_roles(
	struct draft *draft, const struct node *list, enum tensor_role role, const char *complaint)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct node *item = list->items[i];
		const char *name;
		if (!node_text(draft->reading, item, "tensor", &name))
			continue;
		int t = names_find(&draft->tensor_names, name);
		if (t < 0 || !draft->sketches.at[t].used)
			diag_error(draft->reading->diag, item->span, "no op has a tensor '%s'%s",
				name, draft_near_tensor(draft, name));
		else if ((draft->tensors.at[t].producer < 0) != (role == TENSOR_INPUT))
			diag_error(draft->reading->diag, item->span, complaint, name);
		else
			draft->tensors.at[t].role = role;
	}
}

/* Without `inputs:`, what no op writes; without `outputs:`, what no op reads. */
static void find_roles(struct draft *draft, const struct node *inputs, const struct node *outputs)
{
	for (size_t t = 0; t < draft->tensors.count; t++) {
		struct tensor *tensor = &draft->tensors.at[t];
		tensor->role = TENSOR_INTERMEDIATE;
		if (!inputs && tensor->producer < 0)
			tensor->role = TENSOR_INPUT;
		if (!outputs && tensor->producer >= 0 && draft->sketches.at[t].reader < 0)
			tensor->role = TENSOR_OUTPUT;
	}
	if (inputs)
		assign_roles(draft, inputs, TENSOR_INPUT, "an op writes '%s': it is not an input");
	if (outputs)
		assign_roles(draft, outputs, TENSOR_OUTPUT, "no op writes the output '%s'");
}

/* Complains about tensors that are declared and not used, or used and neither written nor inputs. */
static void check_uses(struct draft *draft)
{
	struct diag *diag = draft->reading->diag;
	for (size_t t = 0; t < draft->tensors.count; t++) {
		const struct tensor *tensor = &draft->tensors.at[t];
		if (!draft->sketches.at[t].used)
			diag_error(diag, tensor->span, "no op has a tensor '%s'%s", tensor->name,
				draft_near_tensor(draft, tensor->name));
		else if (tensor->producer < 0 && tensor->role != TENSOR_INPUT)
			diag_error(diag, draft_place(draft, (int)t),
				"no op writes '%s', and it is not among the inputs%s", tensor->name,
				draft_near_tensor(draft, tensor->name));
		else if (tensor->role == TENSOR_INTERMEDIATE && draft->sketches.at[t].reader < 0)
			diag_warning(diag, draft_place(draft, (int)t),
				"no op reads '%s', and it is not among the outputs", tensor->name);
	}
	for (size_t d = 0; d < draft->dimensions.count; d++) {
		if (!draft->dimensions.at[d].used)
			diag_warning(diag, draft->dimensions.at[d].span,
				"dimension '%s' is not used", draft->dimensions.at[d].name);
	}
}

/* Checks that no other op reads a graph input that a broadcast reads, which lies on its root alone. */
static void check_roots(struct draft *draft)
{
	int *roots = arena_array(draft->reading->arena, int, draft->tensors.count); /* op + 1 */
	for (size_t o = 0; o < draft->ops.count; o++)
		if (draft->ops.at[o].primitive->kind == OP_BROADCAST &&
			!roots[draft->ops.at[o].reads[0].tensor])
			roots[draft->ops.at[o].reads[0].tensor] = (int)o + 1;
	for (size_t o = 0; o < draft->ops.count; o++) {
		const struct op *op = &draft->ops.at[o];
		for (int i = 0; i < op->read_count; i++) {
			int t = op->reads[i].tensor;
			const struct op *from = roots[t] ? &draft->ops.at[roots[t] - 1] : op;
			bool same = op->primitive->kind == OP_BROADCAST && op->root == from->root;
			if (from == op || same || draft->tensors.at[t].producer >= 0)
				continue;
			diag_error(draft->reading->diag, op->span,
				"'%s' lies on rank %d alone, but '%s' reads it %s",
				draft->tensors.at[t].name, from->root, op->name,
				op->primitive->kind == OP_BROADCAST ? "on another"
								    : "on all ranks");
			diag_note(draft->reading->diag, from->span, "its broadcast");
		}
	}
}

static const struct workload *freeze(const struct draft *draft, const char *name)
{
	struct workload *workload = arena_new(draft->reading->arena, struct workload);
	*workload = (struct workload){.name = name,
		.tensor_count = draft->tensors.count,
		.op_count = draft->ops.count,
		.tensors = draft->tensors.at,
		.ops = draft->ops.at};
	return workload;
}

/* The workload, after the last op; with `inputs:` and `outputs:` of the spec, or NULL.  NULL where
 * there have been more than `errors`. */
static const struct workload *draft_finish(struct draft *draft, const char *name,
	const struct node *inputs, const struct node *outputs, size_t errors)
{
	/* roles need all ops: after an error they would only echo it */
	if (diag_errors(draft->reading->diag) == errors) {
		find_roles(draft, inputs, outputs);
		check_uses(draft);
		check_roots(draft);
	}
	return diag_errors(draft->reading->diag) == errors ? freeze(draft, name) : NULL;
}

/* For tensors that say nothing; given -1: the workload says nothing either. */
static void choose_dtype(struct draft *draft, int given, const struct level *home)
{
	draft->dtype = given < 0 ? DTYPE_FP16 : (enum dtype)given;
	if (given >= 0)
		return;
	if (home && !dtype_of_word(level_storage(home)->store.word_bits, &draft->dtype))
		diag_error(draft->reading->diag, home->span,
			"no dtype has the %lld bits of a word of '%s'; give '%s' a 'datawidth' of 8, "
			"16 or 32, or the workload a 'dtype'",
			(long long)level_storage(home)->store.word_bits, home->name, home->name);
}

static const char *const layouts_names[] = {"given", "auto", NULL};

struct workload_form {
	const char *name;
	int dtype; /* -1: none */
	bool fits;
	const struct node *dimensions, *tensors, *inputs, *outputs, *ops;
};

static const struct field workload_fields[] = {
	{"name", FIELD_TEXT, .usual = "workload", INTO(struct workload_form, name)},
	{"dimensions", FIELD_WHOLE, "extents by name", .shape = SHAPE_NAMED, .required = true,
		KEEP(struct workload_form, dimensions)},
	{"dtype", FIELD_CHOICE, .usual = "fp16, or the machine's words", .words = dtype_names,
		INTO(struct workload_form, dtype)},
	{"layouts", FIELD_CHOICE, "`auto`: those that fit the machine", .usual = "`given`",
		.words = layouts_names, INTO(struct workload_form, fits)},
	{"tensors", FIELD_MAP, "dtypes, shapes and layouts by name", .shape = SHAPE_NAMED,
		.noun = &tensor_noun, KEEP(struct workload_form, tensors)},
	{"inputs", FIELD_TEXT, .usual = "tensors that no op writes", .shape = SHAPE_LIST,
		KEEP(struct workload_form, inputs)},
	{"outputs", FIELD_TEXT, .usual = "tensors that no op reads", .shape = SHAPE_LIST,
		KEEP(struct workload_form, outputs)},
	{"ops", FIELD_MAP, "`h[t,f] = sum(d) x[t,d] * w[d,f]`, or a map with more",
		.shape = SHAPE_LIST, .required = true, .noun = &op_noun,
		KEEP(struct workload_form, ops)},
	{0},
};
const struct noun workload_noun = {.name = "workload", .fields = workload_fields};

const struct workload *workload_read(
	const struct reading *reading, const struct node *node, const struct level *home)
{
	struct reader reader;
	struct draft draft = {
		.reading = reading, .linear = home && !level_storage(home)->stick ? home : NULL};
	struct workload_form form = {.name = "workload", .dtype = -1};
	size_t errors = diag_errors(reading->diag);
	if (!noun_open(&reader, reading, node, "workload", &workload_noun))
		return NULL;
	fields_read(&reader, &workload_noun, &form, NULL);
	draft.fits = form.fits;
	read_dimensions(&draft, form.dimensions);
	choose_dtype(&draft, form.dtype, home);
	if (form.tensors)
		draft_read_tensors(&draft, form.tensors);
	read_ops(&draft, form.ops);
	reader_done(&reader);
	return draft_finish(&draft, form.name, form.inputs, form.outputs, errors);
}

#define CANNOT(of, space, ...) diag_error((of)->reading->diag, (space)->span, __VA_ARGS__)

/* A problem that becomes a workload of one op. */
struct rewriting {
	const struct reading *reading;
	const struct shape *shape;
	const struct level *home;
	enum dtype dtype;
};

static void check_extents(struct rewriting *of)
{
	for (int d = 0; d < of->shape->dimension_count; d++) {
		const struct loop *dimension = &of->shape->dimensions[d];
		if (dimension->extent >= EXTENT_MOST)
			CANNOT(of, dimension,
				"dimension '%s' has %lld iterations; where tiles move in boxes less "
				"than 2^31 are allowed",
				dimension->name, (long long)dimension->extent);
	}
}

/* The sum of dimensions that a rank is; where none indexes it, 0. */
static void add_terms(const struct rewriting *of, const struct dataspace *space,
	const struct affine *rank, struct affine_sum *index)
{
	int terms = 0;
	for (int d = 0; d < of->shape->dimension_count; d++) {
		int64_t coefficient = rank->coefficient[d];
		if (!coefficient)
			continue;
		if (space->written && (terms || coefficient != 1))
			CANNOT(of, space,
				"a rank of '%s' is more than one dimension; where tiles move in boxes a "
				"result is indexed by dimensions alone",
				space->name);
		if (terms < AFFINE_TERMS_MOST)
			index->terms[terms] = (struct affine_term){
				.factor = coefficient, .name.text = of->shape->dimensions[d].name};
		terms++;
	}
	if (terms > AFFINE_TERMS_MOST)
		CANNOT(of, space,
			"a rank of '%s' adds %d dimensions; where tiles move in boxes %d are the most",
			space->name, terms, AFFINE_TERMS_MOST);
	index->term_count = terms ? terms : 1;
}

/* Each dimension indexes a tensor once. */
static void check_ranks(const struct rewriting *of, const struct dataspace *space)
{
	for (int d = 0; d < of->shape->dimension_count; d++) {
		int ranks = 0;
		for (int k = 0; k < space->rank_count; k++)
			ranks += space->ranks[k].coefficient[d] != 0;
		if (ranks > 1)
			CANNOT(of, space,
				"'%s' indexes '%s' in %d ranks; where tiles move in boxes it may in one",
				of->shape->dimensions[d].name, space->name, ranks);
	}
}

static void add_operand(
	const struct rewriting *of, const struct dataspace *space, struct line_operand *operand)
{
	operand->tensor.text = space->name;
	operand->index_count = space->rank_count;
	for (int k = 0; k < space->rank_count; k++)
		add_terms(of, space, &space->ranks[k], &operand->indices[k]);
	check_ranks(of, space);
}

/* Sums over every loop that does not index the output. */
static void add_reductions(
	const struct rewriting *of, const struct dataspace *output, struct op_line *op)
{
	const struct shape *shape = of->shape;
	for (int d = 0; d < shape->dimension_count; d++) {
		uint32_t readers = 0;
		for (int t = 0; t < shape->space_count; t++)
			readers |= shape->spaces[t].relevant >> d & 1;
		if (output->relevant >> d & 1)
			continue;
		if (!readers && shape->dimensions[d].extent > 1)
			CANNOT(of, &shape->dimensions[d],
				"dimension '%s' indexes no dataspace; where tiles move in boxes each does",
				shape->dimensions[d].name);
		op->reductions[op->reduction_count++].text = shape->dimensions[d].name;
	}
}

/* Outputs[M,N] = sum(K) Inputs[M,K] * Weights[K,N]: weights come last. */
static const struct op_line *make_op(const struct rewriting *of)
{
	const struct shape *shape = of->shape;
	const struct dataspace *output = shape_result(shape);
	struct op_line *op = arena_new(of->reading->arena, struct op_line);
	add_operand(of, output, &op->output);
	add_reductions(of, output, op);
	for (int second = 0; second < 2; second++)
		for (int t = 0; t < shape->space_count; t++) {
			const struct dataspace *space = &shape->spaces[t];
			bool weights = space->role && text_equal(space->role, "Weights");
			if (space != output && weights == second)
				add_operand(of, space, &op->reads[op->read_count++]);
		}
	if (!op->read_count)
		CANNOT(of, output,
			"only '%s' is there; where tiles move in boxes an op reads something",
			output->name);
	op->primitive = op->read_count > 2 ? &primitive_einsum
			: op->reduction_count
				? (op->read_count == 1 ? &primitive_sum : &primitive_einsum)
			: op->read_count == 1 ? &primitive_clone
					      : &primitive_mul;
	return op;
}

/* The rank of a dataspace that a dimension walks alone, step by step; -1 if none is. */
static int find_rank(const struct shape *shape, const struct dataspace *space, int d)
{
	for (int k = 0; k < space->rank_count && shape->dimensions[d].extent > 1; k++)
		if (affine_walker(&space->ranks[k], shape->dimension_count) == d)
			return k;
	return -1;
}

/* The dimension that the output's stick runs along: of its last rank, if every operand that it indexes can
 * have its stick there, too; else of another.  -1 if none is such. */
static int find_stick_dimension(const struct shape *shape, const struct dataspace *output)
{
	for (int k = output->rank_count - 1; k >= 0; k--)
		for (int d = 0; d < shape->dimension_count; d++) {
			bool fits = find_rank(shape, output, d) == k;
			for (int t = 0; t < shape->space_count; t++)
				fits &= !(shape->spaces[t].relevant >> d & 1) ||
					find_rank(shape, &shape->spaces[t], d) >= 0;
			if (fits)
				return d;
		}
	return -1;
}

/* The last rank that one reduced dimension walks; -1 if there is none. */
static int find_reduced(
	const struct shape *shape, const struct dataspace *output, const struct dataspace *space)
{
	int last = -1;
	for (int d = 0; d < shape->dimension_count; d++)
		if (!(output->relevant >> d & 1) && find_rank(shape, space, d) > last)
			last = find_rank(shape, space, d);
	return last;
}

/* `layout:` with a rank last, -1: sparse. */
static const struct node *write_layout(
	const struct rewriting *of, const struct dataspace *space, int stick)
{
	struct arena *arena = of->reading->arena;
	struct node *list = arena_new(arena, struct node);
	const struct node **items = arena_array(arena, const struct node *, space->rank_count + 1);
	*list = (struct node){.kind = NODE_LIST, .items = items, .span = space->span};
	for (int i = 0; i <= space->rank_count; i++) {
		int k = i < space->rank_count ? i : stick;
		if (i < space->rank_count && k == stick)
			continue;
		items[list->count++] = node_scalar(
			arena, k < 0 ? "sparse" : arena_format(arena, "%d", k), space->span);
	}
	return list;
}

/* Layouts whose sticks fit each other (sticks_fit), as far as there are any. */
static void fit_layouts(const struct rewriting *of, struct draft *draft)
{
	const struct shape *shape = of->shape;
	const struct dataspace *output = shape_result(shape);
	int d = find_stick_dimension(shape, output);
	bool product = shape->space_count > 2;
	for (int t = 0; d >= 0 && t < shape->space_count; t++) {
		const struct dataspace *space = &shape->spaces[t];
		int stick = space->relevant >> d & 1 ? find_rank(shape, space, d)
			    : product                ? find_reduced(shape, output, space)
						     : -1;
		draft->sketches.at[names_find(&draft->tensor_names, space->name)].layout =
			write_layout(of, space, stick);
	}
}

static const struct workload *read_op(const struct rewriting *of, const struct reading *reading,
	const struct op_line *op, bool fit)
{
	struct draft draft = {.reading = reading,
		.dtype = of->dtype,
		.linear = level_storage(of->home)->stick ? NULL : of->home};
	const struct shape *shape = of->shape;
	size_t errors = diag_errors(reading->diag);
	for (int d = 0; d < shape->dimension_count; d++) {
		const struct loop *dimension = &shape->dimensions[d];
		names_add(reading->arena, &draft.dimension_names, dimension->name, d);
		*array_add(reading->arena, &draft.dimensions) = (struct named_extent){
			.name = dimension->name,
			.extent = dimension->extent,
			.span = dimension->span,
			.used = true,
		};
	}
	for (int written = 0; written < 2; written++)
		for (int t = 0; t < shape->space_count; t++)
			if (shape->spaces[t].written == written)
				draft_tensor(&draft, shape->spaces[t].name, shape->spaces[t].span);
	if (fit)
		fit_layouts(of, &draft);
	draft_add_op(&draft, node_scalar(reading->arena, shape->name, shape->span), op);
	return draft_finish(&draft, shape->name, NULL, NULL, errors);
}

const struct workload *workload_of_problem(
	const struct reading *reading, const struct shape *shape, const struct level *home)
{
	struct rewriting of = {.reading = reading, .shape = shape, .home = home};
	struct reading silent = *reading;
	size_t errors = diag_errors(reading->diag);
	if (!dtype_of_word(level_storage(home)->store.word_bits, &of.dtype))
		diag_error(reading->diag, home->span,
			"no dtype has the %lld bits of a word of '%s'; give '%s' a 'datawidth' of 8, 16 or "
			"32",
			(long long)level_storage(home)->store.word_bits, home->name, home->name);
	check_extents(&of);
	const struct op_line *op = make_op(&of);
	if (diag_errors(reading->diag) != errors)
		return NULL;
	silent.diag = diag_open(reading->arena);
	const struct workload *workload = read_op(&of, &silent, op, false);
	return workload ? workload : read_op(&of, reading, op, true);
}
