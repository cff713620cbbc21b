#include "model/graph/op_fit.h"

#include "base/number.h"
#include "base/text.h"
#include "model/graph/sticks.h"

#include <string.h>

enum { ORDER_MOST = LAYOUT_HOST_RANK_MOST + 1 };

/* One layout of the output, and what operands have to become for it. */
struct trial {
	struct layout output;
	struct layout reads[OP_READS_MOST];
	bool changed[OP_READS_MOST];
	int64_t bytes; /* copied */
};

static const struct tensor *read_tensor(const struct op_draft *draft_op, int i)
{
	return &draft_op->draft->tensors.at[draft_op->op->reads[i].tensor];
}

/* An input that this op reads first, and once, lies as it likes. */
static bool is_free(const struct op_draft *draft_op, int i)
{
	int t = draft_op->op->reads[i].tensor, times = 0;
	const struct sketch *sketch = &draft_op->draft->sketches.at[t];
	for (int k = 0; k < draft_op->op->read_count; k++)
		times += draft_op->op->reads[k].tensor == t;
	return draft_op->draft->tensors.at[t].producer < 0 && !sketch->layout && times == 1 &&
	       sketch->reader == (int)draft_op->draft->ops.count;
}

/* Host dimensions in the order of their own, that of the stick last; -1: sparse. */
static bool lay(const struct layout *like, int stick, struct layout *out)
{
	int order[ORDER_MOST], count = 0;
	for (int h = 0; h < like->host_rank; h++)
		if (h != stick)
			order[count++] = h;
	order[count++] = stick;
	return layout_make(like->dtype, like->host_size, like->host_rank, order, count, out);
}

/* The host dimension that loop l alone walks by steps of 1; -1 if none does. */
static int find_walked(const struct op_draft *draft_op, int i, int l)
{
	const struct access *access = &draft_op->op->reads[i];
	for (int h = 0; h < read_tensor(draft_op, i)->layout.host_rank; h++)
		if (affine_loop(&access->host[h], draft_op->op->loop_count) == l &&
			access->host[h].loop[l] == 1 &&
			access->host[h].offset % read_tensor(draft_op, i)->layout.per_stick == 0)
			return h;
	return -1;
}

/* The op on tensors of its own, one for each operand. */
static bool fits(
	const struct op_draft *draft_op, const struct trial *trial, struct stick_misfit *misfit)
{
	struct tensor tensors[OP_READS_MOST + 1];
	struct access output = draft_op->op->writes[0];
	struct op op = *draft_op->op;
	for (int i = 0; i < op.read_count; i++) {
		tensors[i] = (struct tensor){.name = "", .layout = trial->reads[i]};
		op.reads[i].tensor = i;
	}
	tensors[op.read_count] = (struct tensor){.name = "", .layout = trial->output};
	output.tensor = op.read_count;
	op.writes = &output;
	struct workload workload = {.tensor_count = (size_t)op.read_count + 1, .tensors = tensors};
	return sticks_fit(&workload, &op, misfit);
}

/* False: no layouts of the operands go with this output. */
static bool try_output(const struct op_draft *draft_op, struct trial *trial)
{
	struct stick_misfit misfit;
	for (int i = 0; i < draft_op->op->read_count; i++)
		trial->reads[i] = read_tensor(draft_op, i)->layout;
	for (int rounds = 0; !fits(draft_op, trial, &misfit); rounds++) {
		int i = misfit.operand,
		    stick = misfit.wanted < 0 ? -1 : find_walked(draft_op, i, misfit.wanted);
		bool again = trial->changed[i] && stick < 0;
		if (rounds > 2 * OP_READS_MOST || again ||
			!lay(&read_tensor(draft_op, i)->layout, stick, &trial->reads[i]))
			return false;
		trial->changed[i] = true;
	}
	for (int i = 0; i < draft_op->op->read_count; i++)
		if (trial->changed[i] && !is_free(draft_op, i) &&
			!number_add(trial->bytes, trial->reads[i].bytes, &trial->bytes))
			return false;
	return true;
}

/* The default, and then each dimension of the output along the stick, and none. */
static bool find_best(
	const struct op_draft *draft_op, const int *order, int count, struct trial *best)
{
	const struct sketch *sketch = &draft_op->draft->sketches.at[draft_op->op->writes[0].tensor];
	struct layout plain;
	bool found = false;
	if (!layout_make(sketch->dtype, sketch->size, sketch->rank, NULL, 0, &plain))
		return false;
	for (int c = -2; c <= sketch->rank && sketch->rank > 0; c++) {
		struct trial trial = {0};
		bool made = c == -2 ? layout_make(sketch->dtype, sketch->size, sketch->rank,
					      count ? order : NULL, count, &trial.output)
				    : lay(&plain,
					      c == -1             ? sketch->rank - 1
					      : c == sketch->rank ? -1
								  : c,
					      &trial.output);
		if (!made || trial.output.bytes >> TENSOR_BYTES_MOST_LOG2 ||
			!try_output(draft_op, &trial))
			continue;
		bool smaller =
			trial.bytes == best->bytes && trial.output.bytes < best->output.bytes;
		if (!found || trial.bytes < best->bytes || smaller)
			*best = trial;
		found = true;
	}
	return found;
}

/* A dimension of that extent that the op does not walk yet; a name of its own where there is none. */
static const char *name_loop(const struct draft *draft, const struct op *op, int64_t extent)
{
	for (size_t d = 0; d < draft->dimensions.count; d++) {
		bool used = draft->dimensions.at[d].extent != extent;
		for (int l = 0; l < op->loop_count; l++)
			used |= text_equal(op->loops[l].name, draft->dimensions.at[d].name);
		if (!used)
			return draft->dimensions.at[d].name;
	}
	return arena_format(draft->reading->arena, "copy_d%d", op->loop_count);
}

/* The copy of a tensor in that layout, if there is one already; -1. */
static int find_copy(const struct draft *draft, int t, const struct layout *layout)
{
	for (size_t o = 0; o < draft->ops.count; o++) {
		const struct op *op = &draft->ops.at[o];
		if (op->primitive == &primitive_restickify && op->read_count &&
			op->reads[0].tensor == t &&
			layout_equal(&draft->tensors.at[op->writes[0].tensor].layout, layout))
			return op->writes[0].tensor;
	}
	return -1;
}

static int add_copy(struct op_draft *draft_op, int t, const struct layout *layout)
{
	struct draft *draft = draft_op->draft;
	struct arena *arena = draft->reading->arena;
	const char *name = arena_format(arena, "%s_stick", draft->tensors.at[t].name);
	while (names_find(&draft->tensor_names, name) >= 0 ||
		names_find(&draft->op_names, name) >= 0)
		name = arena_format(arena, "%s_", name);
	int made = draft_tensor(draft, name, draft_op->text->span);
	struct sketch *sketch = &draft->sketches.at[made];
	*sketch = draft->sketches.at[t];
	sketch->layout = NULL;
	sketch->used = true;
	sketch->reader = -1;
	draft->tensors.at[made].layout = *layout;
	draft->tensors.at[made].producer = (int)draft->ops.count;
	struct op op = {.name = name,
		.type = primitive_restickify.name,
		.primitive = &primitive_restickify,
		.read_count = 1,
		.write_count = 1,
		.span = draft_op->text->span};
	struct access access = {.tensor = t};
	for (int h = 0; h < layout->host_rank; h++) {
		if (layout->host_size[h] == 1)
			continue;
		int l = op.loop_count;
		op.loops[l] = (struct loop){
			name_loop(draft, &op, layout->host_size[h]), layout->host_size[h], false};
		op.loop_count++;
		access.host[h].loop[l] = 1;
		access.linear.loop[l] = layout->host_stride[h];
	}
	op.reads[0] = access;
	access.tensor = made;
	op.writes = arena_copy(arena, &access, sizeof access);
	if (draft->sketches.at[t].reader < 0)
		draft->sketches.at[t].reader = (int)draft->ops.count;
	names_add(arena, &draft->op_names, name, (int)draft->ops.count);
	*array_add(arena, &draft->ops) = op;
	return made;
}

/* The op moves behind its copies. */
static void apply(struct op_draft *draft_op, const struct trial *trial)
{
	struct draft *draft = draft_op->draft;
	int number = (int)draft->ops.count;
	bool free_input[OP_READS_MOST];
	for (int i = 0; i < draft_op->op->read_count; i++)
		free_input[i] = is_free(draft_op, i);
	for (int i = 0; i < draft_op->op->read_count; i++) {
		struct access *access = &draft_op->op->reads[i];
		if (!trial->changed[i])
			continue;
		if (free_input[i]) {
			draft->tensors.at[access->tensor].layout = trial->reads[i];
			continue;
		}
		int copy = find_copy(draft, access->tensor, &trial->reads[i]);
		access->tensor =
			copy >= 0 ? copy : add_copy(draft_op, access->tensor, &trial->reads[i]);
	}
	int now = (int)draft->ops.count;
	for (int i = 0; i < draft_op->op->read_count; i++) {
		struct sketch *sketch = &draft->sketches.at[draft_op->op->reads[i].tensor];
		if (sketch->reader < 0 || sketch->reader == number)
			sketch->reader = now == number || sketch->reader < 0 ? now : sketch->reader;
	}
	draft->tensors.at[draft_op->op->writes[0].tensor].producer = now;
	draft->tensors.at[draft_op->op->writes[0].tensor].layout = trial->output;
}

bool op_fit(struct op_draft *draft_op, const struct einsum *einsum)
{
	struct draft *draft = draft_op->draft;
	int t = draft_op->op->writes[0].tensor, order[ORDER_MOST];
	struct sketch *sketch = &draft->sketches.at[t];
	struct workload workload = {
		.tensor_count = draft->tensors.count, .tensors = draft->tensors.at};
	struct trial best = {0};
	int count = sticks_order(&workload, draft_op->op, sketch->size, sketch->rank, order);
	if (sketch->rank > 0 && find_best(draft_op, order, count, &best)) {
		apply(draft_op, &best);
		return true;
	}
	if (!draft_lay_out(draft, t, order, count))
		return false;
	struct stick_misfit misfit;
	workload.tensors = draft->tensors.at;
	if (sticks_fit(&workload, draft_op->op, &misfit))
		return true;
	op_draft_complain_misfit(draft_op, &misfit, &einsum->reads[misfit.operand]);
	return false;
}
