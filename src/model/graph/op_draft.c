#include "model/graph/op_draft.h"

#include <inttypes.h>
#include <string.h>

static struct diag *diag_of(const struct op_draft *draft_op)
{
	return draft_op->draft->reading->diag;
}

static struct span word_span(const struct op_draft *draft_op, struct word word)
{
	return node_part(draft_op->text, word.at, word.end);
}

static bool fail(const struct op_draft *draft_op, struct word place, const char *text)
{
	diag_error(diag_of(draft_op), word_span(draft_op, place), "%s", text);
	return false;
}

static int find_dimension(const struct op_draft *draft_op, struct word word)
{
	int d = names_find(&draft_op->draft->dimension_names, word.text);
	if (d < 0)
		diag_error(diag_of(draft_op), word_span(draft_op, word), "unknown dimension '%s'%s",
			word.text, draft_near_dimension(draft_op->draft, word.text));
	return d;
}

static int find_use(const struct op_draft *draft_op, int dimension)
{
	for (int u = 0; u < draft_op->count; u++) {
		if (draft_op->uses[u].dimension == dimension)
			return u;
	}
	return -1;
}

/* Enters a dimension of the op; a loop if its extent is above 1. */
static bool add_use(struct op_draft *draft_op, struct word word, bool reduction)
{
	int d = find_dimension(draft_op, word);
	if (d < 0)
		return false;
	struct named_extent *dimension = &draft_op->draft->dimensions.at[d];
	dimension->used = true;
	if (find_use(draft_op, d) >= 0) {
		diag_error(diag_of(draft_op), word_span(draft_op, word),
			reduction ? "dimension '%s' is reduced, but indexes the output or is "
				    "listed twice"
				  : "dimension '%s' indexes the output twice",
			word.text);
		return false;
	}
	int loop = -1;
	if (dimension->extent > 1) {
		if (draft_op->op->loop_count == OP_LOOPS_MOST) {
			diag_error(diag_of(draft_op), word_span(draft_op, word),
				"an op has at most %d loops", OP_LOOPS_MOST);
			return false;
		}
		loop = draft_op->op->loop_count++;
		draft_op->op->loops[loop] =
			(struct loop){dimension->name, dimension->extent, reduction};
	}
	draft_op->uses[draft_op->count].dimension = d;
	draft_op->uses[draft_op->count++].loop = loop;
	return true;
}

static bool is_bare(const struct einsum_index *index)
{
	return index->term_count == 1 && index->terms[0].dimension.text &&
	       index->terms[0].factor == 1;
}

static bool is_zero(const struct einsum_index *index)
{
	return index->term_count == 1 && !index->terms[0].dimension.text &&
	       index->terms[0].factor == 0;
}

bool op_draft_enter_loops(struct op_draft *draft_op, const struct einsum_operand *output,
	const struct word *reductions, int reduction_count)
{
	bool good = true;
	for (int h = 0; h < output->index_count; h++) {
		const struct einsum_index *index = &output->indices[h];
		if (is_bare(index)) {
			good &= add_use(draft_op, index->terms[0].dimension, false);
		} else if (!is_zero(index)) {
			diag_error(diag_of(draft_op),
				node_part(draft_op->text, index->at, index->end),
				"dimensions index a tensor here, or 0 where it has one element");
			good = false;
		}
	}
	for (int r = 0; r < reduction_count; r++)
		good &= add_use(draft_op, reductions[r], true);
	return good;
}

/* A term's dimension in an index; *reach is the most that it adds. */
static bool build_term(struct op_draft *draft_op, const struct einsum_term *term, unsigned *seen,
	struct affine *affine, int64_t *reach)
{
	struct word word = term->dimension;
	int d = find_dimension(draft_op, word), u = d < 0 ? -1 : find_use(draft_op, d);
	if (d < 0)
		return false;
	const char *complaint =
		u < 0              ? "dimension '%s' indexes no output here; is it to be reduced?"
		: *seen >> u & 1   ? "dimension '%s' indexes this tensor twice"
		: term->factor < 0 ? "an index cannot fall while '%s' grows"
				   : NULL;
	if (complaint) {
		diag_error(diag_of(draft_op), word_span(draft_op, word), complaint, word.text);
		return false;
	}
	*seen |= 1u << u;
	if (draft_op->uses[u].loop >= 0)
		affine->loop[draft_op->uses[u].loop] = term->factor;
	return number_mul(term->factor, draft_op->draft->dimensions.at[d].extent - 1, reach) ||
	       (*reach = INT64_MAX);
}

/* One index of an operand over the op's loops, and the greatest value that it takes. */
static bool build_index(struct op_draft *draft_op, const struct einsum_index *index, unsigned *seen,
	bool pad, struct affine *affine, int64_t *most)
{
	struct word place = {"", index->at, index->end};
	*most = 0;
	for (int i = 0; i < index->term_count; i++) {
		const struct einsum_term *term = &index->terms[i];
		int64_t reach = term->factor;
		if (term->dimension.text && !build_term(draft_op, term, seen, affine, &reach))
			return false;
		if (!number_add(*most, reach, most) || *most >= EXTENT_MOST ||
			*most <= -EXTENT_MOST)
			return fail(draft_op, place, "this index runs past 2^31");
		if (!term->dimension.text)
			affine->offset += reach;
	}
	return affine->offset >= 0 || pad || fail(draft_op, place, "this index starts below 0");
}

/* The tensor's shape, if this is where it first appears. */
static void take_shape(
	struct sketch *sketch, const struct einsum_operand *operand, const int64_t *most)
{
	sketch->rank = operand->index_count;
	for (int h = 0; h < sketch->rank; h++) {
		const struct einsum_index *index = &operand->indices[h];
		sketch->size[h] = most[h] + 1;
		sketch->names[h] = is_bare(index) ? index->terms[0].dimension.text : NULL;
	}
}

static void note_shape(const struct op_draft *draft_op, int t)
{
	const struct tensor *tensor = &draft_op->draft->tensors.at[t];
	diag_note(diag_of(draft_op), draft_place(draft_op->draft, t), "'%s' gets its shape here",
		tensor->name);
}

/* Does what an index runs over fit the tensor?  Only a shape that the spec
 * gives may be read in part by a bare dimension; no output is written in
 * part. */
static bool check_extent(struct op_draft *draft_op, const struct einsum_operand *operand, int h,
	int64_t need, bool write)
{
	int t = names_find(&draft_op->draft->tensor_names, operand->tensor.text);
	const struct sketch *sketch = &draft_op->draft->sketches.at[t];
	const struct einsum_index *index = &operand->indices[h];
	bool in_part = !write && (!is_bare(index) || sketch->shape_given);
	if (operand->pad || need == sketch->size[h] || (need < sketch->size[h] && in_part))
		return true;
	struct span at = node_part(draft_op->text, index->at, index->end);
	if (is_bare(index))
		diag_error(diag_of(draft_op), at,
			"'%s' runs over %" PRId64 ", but dimension %d of '%s' has %" PRId64
			" elements",
			index->terms[0].dimension.text, need, h, operand->tensor.text,
			sketch->size[h]);
	else
		diag_error(diag_of(draft_op), at,
			"this index reaches %" PRId64 ", but dimension %d of '%s' ends at %" PRId64,
			need - 1, h, operand->tensor.text, sketch->size[h] - 1);
	note_shape(draft_op, t);
	return false;
}

static bool check_shape(struct op_draft *draft_op, const struct einsum_operand *operand, int t,
	const int64_t *most, bool write)
{
	struct sketch *sketch = &draft_op->draft->sketches.at[t];
	bool good = true;
	if (sketch->rank == operand->index_count) {
		for (int h = 0; h < sketch->rank; h++)
			good &= check_extent(draft_op, operand, h, most[h] + 1, write);
		return good;
	}
	diag_error(diag_of(draft_op), node_part(draft_op->text, operand->at, operand->end),
		"'%s' is indexed by %d dimension%s, but has %d", operand->tensor.text,
		operand->index_count, operand->index_count == 1 ? "" : "s", sketch->rank);
	note_shape(draft_op, t);
	return false;
}

/* A tensor without indices must have shown its shape before. */
static bool find_whole(
	struct op_draft *draft_op, const struct einsum_operand *operand, struct access *out)
{
	const char *name = operand->tensor.text;
	out->tensor = names_find(&draft_op->draft->tensor_names, name);
	if (out->tensor >= 0 && draft_op->draft->sketches.at[out->tensor].rank >= 0) {
		draft_op->draft->sketches.at[out->tensor].used = true;
		return true;
	}
	diag_error(diag_of(draft_op), word_span(draft_op, operand->tensor),
		"'%s' needs its dimensions where it first appears, as in '%s[k]'%s", name, name,
		draft_near_tensor(draft_op->draft, name));
	return false;
}

/* An operand's access, except for the linear index, which waits for the layout. */
static bool build_access(struct op_draft *draft_op, const struct einsum_operand *operand,
	bool write, struct access *out)
{
	int64_t most[LAYOUT_HOST_RANK_MOST];
	unsigned seen = 0;
	bool good = true;
	if (operand->index_count < 0)
		return find_whole(draft_op, operand, out);
	out->pad = operand->pad;
	for (int h = 0; h < operand->index_count; h++)
		good &= build_index(draft_op, &operand->indices[h], &seen, operand->pad,
			&out->host[h], &most[h]);
	if (!good)
		return false;
	out->tensor = draft_tensor(draft_op->draft, operand->tensor.text, draft_op->text->span);
	struct sketch *sketch = &draft_op->draft->sketches.at[out->tensor];
	sketch->used = true;
	if (sketch->rank < 0 && operand->pad) {
		diag_error(diag_of(draft_op), node_part(draft_op->text, operand->at, operand->end),
			"'%s' is padded, so its index does not tell its shape; give it 'shape: [..]' "
			"under tensors, or let an op before this one write it",
			operand->tensor.text);
		return false;
	}
	if (sketch->rank >= 0)
		return check_shape(draft_op, operand, out->tensor, most, write);
	take_shape(sketch, operand, most);
	sketch->text = draft_op->text;
	sketch->place = (struct word){NULL, operand->at, operand->end};
	return true;
}

void op_draft_linearise(const struct draft *draft, struct access *access)
{
	const struct layout *layout = &draft->tensors.at[access->tensor].layout;
	for (int h = 0; h < layout->host_rank; h++) {
		for (int l = 0; l < OP_LOOPS_MOST; l++)
			access->linear.loop[l] += access->host[h].loop[l] * layout->host_stride[h];
		if (!access->pad)
			access->linear.offset += access->host[h].offset * layout->host_stride[h];
	}
}

bool op_draft_read(struct op_draft *draft_op, const struct einsum_operand *operand)
{
	struct draft *draft = draft_op->draft;
	struct access *access = &draft_op->op->reads[draft_op->op->read_count];
	*access = (struct access){0};
	if (!build_access(draft_op, operand, false, access))
		return false;
	if (draft->tensors.at[access->tensor].layout.rank == 0 &&
		!draft_lay_out(draft, access->tensor, NULL, 0))
		return false;
	op_draft_linearise(draft, access);
	if (draft->sketches.at[access->tensor].reader < 0)
		draft->sketches.at[access->tensor].reader = (int)draft->ops.count;
	draft_op->op->read_count++;
	return true;
}

/* Nobody may have written it, or read it, before. */
static bool check_written_once(
	struct op_draft *draft_op, int t, const struct einsum_operand *operand)
{
	const struct draft *draft = draft_op->draft;
	const struct tensor *tensor = &draft->tensors.at[t];
	int other = tensor->producer >= 0 ? tensor->producer : draft->sketches.at[t].reader;
	if (other < 0)
		return true;
	bool twice = tensor->producer >= 0;
	diag_error(diag_of(draft_op), node_part(draft_op->text, operand->at, operand->end),
		twice ? "tensor '%s' is written twice" : "tensor '%s' is read before it is written",
		tensor->name);
	if (other < (int)draft->ops.count)
		diag_note(diag_of(draft_op), draft->ops.at[other].span,
			twice ? "first written here" : "read here");
	return false;
}

bool op_draft_write(
	struct op_draft *draft_op, const struct einsum_operand *operand, struct access *out)
{
	struct draft *draft = draft_op->draft;
	if (!build_access(draft_op, operand, true, out) ||
		!check_written_once(draft_op, out->tensor, operand))
		return false;
	draft->tensors.at[out->tensor].producer = (int)draft->ops.count;
	return true;
}
