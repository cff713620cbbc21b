#include "model/graph/workload_read.h"

#include "base/text.h"
#include "model/graph/draft.h"
#include "model/graph/op_read.h"
#include "model/graph/sticks.h"

#include <string.h>

/* What a restickify would have to do: which host dimension belongs along the stick. */
struct mend {
	struct op_draft *draft_op;
	const struct sketch *sketch;
	const char *tensor;                   /* the operand's */
	const struct einsum_operand *spelled; /* in the op's text */
	int stick;                            /* host dimension; -1: sparse */
	const char *fresh;                    /* the restickified tensor */
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
	const struct einsum_index *index = &mend->spelled->indices[h];
	text_bytes(text, mend->draft_op->text->text + index->at, index->end - index->at);
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
	for (int h = 0; h < rank; h++) {
		const struct affine *index = &access->host[h];
		if (affine_loop(index, draft_op->op->loop_count) == wanted &&
			index->loop[wanted] == 1 && index->offset == 0)
			return h;
	}
	return -1;
}

void op_draft_complain_misfit(struct op_draft *draft_op, const struct stick_misfit *misfit,
	const struct einsum_operand *spelled)
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
		assign_roles(draft, inputs, TENSOR_INPUT, "an op writes '%s': it is no input");
	if (outputs)
		assign_roles(draft, outputs, TENSOR_OUTPUT, "no op writes the output '%s'");
}

/* What is declared and not used, or used and neither written nor an input. */
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

/* What a broadcast reads of the graph's inputs lies on its root alone: no other op finds it. */
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

const struct workload *draft_finish(struct draft *draft, const char *name,
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

/* For tensors that say nothing. */
static void read_dtype(struct draft *draft, struct reader *reader, const struct level *home)
{
	int dtype;
	draft->dtype = DTYPE_FP16;
	if (read_word(reader, "dtype", OPTIONAL, dtype_names, &dtype))
		draft->dtype = (enum dtype)dtype;
	else if (home && !dtype_of_word(home->word_bits, &draft->dtype))
		diag_error(draft->reading->diag, home->span,
			"no dtype has the %lld bits of a word of '%s'; give '%s' a 'datawidth' of 8, "
			"16 or 32, or the workload a 'dtype'",
			(long long)home->word_bits, home->name, home->name);
}

const struct workload *workload_read(
	const struct reading *reading, const struct node *node, const struct level *home)
{
	struct reader reader;
	struct draft draft = {.reading = reading, .linear = home && !home->stick ? home : NULL};
	size_t errors = diag_errors(reading->diag);
	const char *name = "workload";
	if (!reader_open(&reader, reading, node, "workload"))
		return NULL;
	read_text(&reader, "name", OPTIONAL, &name);
	read_dimensions(&draft, read_map(&reader, "dimensions", REQUIRED));
	read_dtype(&draft, &reader, home);
	int layouts = 0;
	static const char *const layouts_names[] = {"given", "auto", NULL};
	read_word(&reader, "layouts", OPTIONAL, layouts_names, &layouts);
	draft.fits = layouts == 1;
	const struct node *tensors = read_map(&reader, "tensors", OPTIONAL);
	if (tensors)
		draft_read_tensors(&draft, tensors);
	const struct node *inputs = read_list(&reader, "inputs", OPTIONAL);
	const struct node *outputs = read_list(&reader, "outputs", OPTIONAL);
	read_ops(&draft, read_list(&reader, "ops", REQUIRED));
	reader_done(&reader);
	return draft_finish(&draft, name, inputs, outputs, errors);
}
