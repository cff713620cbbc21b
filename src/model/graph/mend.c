#include "model/graph/op_draft.h"

#include "base/text.h"
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
