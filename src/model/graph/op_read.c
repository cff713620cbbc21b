#include "model/graph/draft.h"

#include "base/number.h"
#include "model/graph/op_line.h"
#include "model/graph/workload.h"
#include "model/machine/topology.h"
#include "model/nest/shape.h"
#include "spec/field.h"
#include "spec/reader.h"

#include <inttypes.h>
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
		if (affine_walker(&access->host[h], draft_op->op->loop_count) == l &&
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

/* Returns the bytes of a layout of the output: copies of operands and the output itself, which in sparse sticks
 * takes many times its elements. */
static int64_t trial_bytes(const struct trial *trial)
{
	int64_t bytes;
	return number_add(trial->bytes, trial->output.bytes, &bytes) ? bytes : INT64_MAX;
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
		if (!found || trial_bytes(&trial) < trial_bytes(best))
			*best = trial;
		found = true;
	}
	return found;
}

/* A name for loop l: of a dimension of its extent that no loop before has, or one of its own. */
static const char *name_loop(const struct draft *draft, const struct op *op, int l)
{
	for (size_t d = 0; d < draft->dimensions.count; d++)
		if (draft->dimensions.at[d].extent == op->loops[l].extent &&
			loop_named(op->loops, l, draft->dimensions.at[d].name) < 0)
			return draft->dimensions.at[d].name;
	return arena_format(draft->reading->arena, "copy_d%d", l);
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
	struct op op = op_copying(arena, layout, t, made);
	op.name = name;
	op.type = primitive_restickify.name;
	op.primitive = &primitive_restickify;
	op.span = draft_op->text->span;
	for (int l = 0; l < op.loop_count; l++)
		op.loops[l].name = name_loop(draft, &op, l);
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

bool op_fit(struct op_draft *draft_op, const struct op_line *line)
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
	op_draft_complain_misfit(draft_op, &misfit, &line->reads[misfit.operand]);
	return false;
}

static struct diag *diag_of(const struct op_draft *draft_op)
{
	return draft_op->draft->reading->diag;
}

static struct span word_span(const struct op_draft *draft_op, struct word word)
{
	return node_part(draft_op->text, word.at, word.end);
}

static bool op_draft_fail(const struct op_draft *draft_op, struct word place, const char *text)
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
		draft_op->op->loops[loop] = (struct loop){.name = dimension->name,
			.extent = dimension->extent,
			.reduction = reduction};
	}
	draft_op->uses[draft_op->count].dimension = d;
	draft_op->uses[draft_op->count++].loop = loop;
	return true;
}

static bool is_bare(const struct affine_sum *index)
{
	return index->term_count == 1 && index->terms[0].name.text && index->terms[0].factor == 1;
}

static bool is_zero(const struct affine_sum *index)
{
	return index->term_count == 1 && !index->terms[0].name.text && index->terms[0].factor == 0;
}

/* The loops: the output's dimensions in order, then the reduced ones as written. */
static bool op_draft_enter_loops(struct op_draft *draft_op, const struct line_operand *output,
	const struct word *reductions, int reduction_count)
{
	bool good = true;
	for (int h = 0; h < output->index_count; h++) {
		const struct affine_sum *index = &output->indices[h];
		if (is_bare(index)) {
			good &= add_use(draft_op, index->terms[0].name, false);
		} else if (!is_zero(index)) {
			diag_error(diag_of(draft_op),
				node_part(draft_op->text, index->at, index->end),
				"an index is made of dimensions, or 0 for a rank of one element");
			good = false;
		}
	}
	for (int r = 0; r < reduction_count; r++)
		good &= add_use(draft_op, reductions[r], true);
	return good;
}

/* A term's dimension in an index; *reach is the most that it adds. */
static bool build_term(struct op_draft *draft_op, const struct affine_term *term, unsigned *seen,
	struct affine *affine, int64_t *reach)
{
	struct word word = term->name;
	int d = find_dimension(draft_op, word), u = d < 0 ? -1 : find_use(draft_op, d);
	if (d < 0)
		return false;
	const char *complaint =
		u < 0 ? "dimension '%s' indexes no output here; did you mean to reduce over it?"
		: *seen >> u & 1   ? "dimension '%s' indexes this tensor twice"
		: term->factor < 0 ? "an index cannot fall while '%s' grows"
				   : NULL;
	if (complaint) {
		diag_error(diag_of(draft_op), word_span(draft_op, word), complaint, word.text);
		return false;
	}
	*seen |= 1u << u;
	if (draft_op->uses[u].loop >= 0)
		affine->coefficient[draft_op->uses[u].loop] = term->factor;
	return number_mul(term->factor, draft_op->draft->dimensions.at[d].extent - 1, reach) ||
	       (*reach = INT64_MAX);
}

/* One index of an operand over the op's loops, and the greatest value that it takes. */
static bool build_index(struct op_draft *draft_op, const struct affine_sum *index, unsigned *seen,
	bool pad, struct affine *affine, int64_t *most)
{
	struct word place = {"", index->at, index->end};
	*most = 0;
	for (int i = 0; i < index->term_count; i++) {
		const struct affine_term *term = &index->terms[i];
		int64_t reach = term->factor;
		if (term->name.text && !build_term(draft_op, term, seen, affine, &reach))
			return false;
		if (!number_add(*most, reach, most) || *most >= EXTENT_MOST ||
			*most <= -EXTENT_MOST)
			return op_draft_fail(draft_op, place, "this index runs past 2^31");
		if (!term->name.text)
			affine->offset += reach;
	}
	return affine->offset >= 0 || pad ||
	       op_draft_fail(draft_op, place, "this index starts below 0");
}

/* The tensor's shape, if this is where it first appears. */
static void take_shape(
	struct sketch *sketch, const struct line_operand *operand, const int64_t *most)
{
	sketch->rank = operand->index_count;
	for (int h = 0; h < sketch->rank; h++) {
		const struct affine_sum *index = &operand->indices[h];
		sketch->size[h] = most[h] + 1;
		sketch->names[h] = is_bare(index) ? index->terms[0].name.text : NULL;
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
static bool check_extent(struct op_draft *draft_op, const struct line_operand *operand, int h,
	int64_t need, bool write)
{
	int t = names_find(&draft_op->draft->tensor_names, operand->tensor.text);
	const struct sketch *sketch = &draft_op->draft->sketches.at[t];
	const struct affine_sum *index = &operand->indices[h];
	bool in_part = !write && (!is_bare(index) || sketch->shape_given);
	if (operand->pad || need == sketch->size[h] || (need < sketch->size[h] && in_part))
		return true;
	struct span at = node_part(draft_op->text, index->at, index->end);
	if (is_bare(index))
		diag_error(diag_of(draft_op), at,
			"'%s' runs over %" PRId64 ", but dimension %d of '%s' has %" PRId64
			" elements",
			index->terms[0].name.text, need, h, operand->tensor.text, sketch->size[h]);
	else
		diag_error(diag_of(draft_op), at,
			"this index reaches %" PRId64 ", but dimension %d of '%s' ends at %" PRId64,
			need - 1, h, operand->tensor.text, sketch->size[h] - 1);
	note_shape(draft_op, t);
	return false;
}

static bool check_shape(struct op_draft *draft_op, const struct line_operand *operand, int t,
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
	struct op_draft *draft_op, const struct line_operand *operand, struct access *out)
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
static bool build_access(struct op_draft *draft_op, const struct line_operand *operand, bool write,
	struct access *out)
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

/* The linear index, once the tensor has its layout. */
static void op_draft_linearise(const struct draft *draft, struct access *access)
{
	const struct layout *layout = &draft->tensors.at[access->tensor].layout;
	for (int h = 0; h < layout->host_rank; h++) {
		for (int l = 0; l < OP_LOOPS_MOST; l++)
			access->linear.coefficient[l] +=
				access->host[h].coefficient[l] * layout->host_stride[h];
		if (!access->pad)
			access->linear.offset += access->host[h].offset * layout->host_stride[h];
	}
}

/* Adds an operand to the op's reads; a tensor that is new gets its shape and layout. */
static bool op_draft_read(struct op_draft *draft_op, const struct line_operand *operand)
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

/* True if no earlier op writes the operand, or reads it; complains. */
static bool check_written_once(struct op_draft *draft_op, int t, const struct line_operand *operand)
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

/* Makes the op the operand's only writer.  Its layout and linear index wait. */
static bool op_draft_write(
	struct op_draft *draft_op, const struct line_operand *operand, struct access *out)
{
	struct draft *draft = draft_op->draft;
	if (!build_access(draft_op, operand, true, out) ||
		!check_written_once(draft_op, out->tensor, operand))
		return false;
	draft->tensors.at[out->tensor].producer = (int)draft->ops.count;
	return true;
}

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

static bool find_constant(const struct op_draft *draft_op, const struct op_line *line, double *out)
{
	const struct reading *reading = draft_op->draft->reading;
	if (!line->variable.text) {
		*out = line->constant;
		return true;
	}
	const char *name = line->variable.text;
	const struct node *value = variables_node(reading->variables, name);
	if (value)
		return node_number(reading, value, name, out);
	diag_error(reading->diag, node_part(draft_op->text, line->variable.at, line->variable.end),
		"'%s' is not a variable; a tensor is written with its indices, as '%s[..]'", name,
		name);
	return false;
}

/* The number of iterations must fit an int64_t. */
static bool check_computes(const struct op_draft *draft_op)
{
	int64_t computes;
	if (loops_points(draft_op->op->loops, draft_op->op->loop_count, &computes))
		return true;
	diag_error(draft_op->draft->reading->diag, draft_op->text->span,
		"the op has more than 2^63 computes");
	return false;
}

/* The tensors so far, for questions about one op. */
static struct workload borrow_workload(const struct draft *draft)
{
	return (struct workload){
		.tensor_count = draft->tensors.count, .tensors = draft->tensors.at};
}

/* The output's layout, then whether all sticks fit. */
static bool lay_out(struct op_draft *draft_op, const struct op_line *line)
{
	struct op *op = draft_op->op;
	bool fits = draft_op->draft->fits && !draft_op->draft->linear && op_is_tiled(op) &&
		    !draft_op->draft->sketches.at[op->writes[0].tensor].layout;
	if (fits && op->primitive->kind != OP_RESTICKIFY) {
		bool good = op_fit(draft_op, line);
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
	op_draft_complain_misfit(draft_op, &misfit, &line->reads[misfit.operand]);
	return false;
}

/* A reduced dimension that no operand has would only multiply. */
static bool check_reductions(const struct op_draft *draft_op, const struct op_line *line)
{
	const struct op *op = draft_op->op;
	bool good = true;
	uint32_t read = 0;
	for (int i = 0; i < op->read_count; i++)
		read |= affine_loops(&op->reads[i].linear);
	for (int r = 0; r < line->reduction_count; r++) {
		const struct word *word = &line->reductions[r];
		int l = loop_named(op->loops, op->loop_count, word->text);
		if (l < 0 || read >> l & 1)
			continue;
		diag_error(draft_op->draft->reading->diag,
			node_part(draft_op->text, word->at, word->end),
			"dimension '%s' is reduced, but indexes no operand", word->text);
		good = false;
	}
	return good;
}

/* The first of an output's two indices: one dimension, or 0. */
static bool indices_alike(const struct affine_sum *to, const struct affine_sum *from)
{
	const struct affine_term *a = &to->terms[0], *b = &from->terms[0];
	return from->term_count == 1 && a->factor == b->factor &&
	       (a->name.text ? b->name.text && text_equal(a->name.text, b->name.text)
			     : !b->name.text);
}

/* A broadcast changes nothing: each element goes to where it was. */
static bool check_broadcast(const struct op_draft *draft_op, const struct op_line *line)
{
	const struct line_operand *to = &line->output, *from = &line->reads[0];
	bool same = to->index_count == from->index_count;
	for (int h = 0; same && h < to->index_count; h++)
		same = indices_alike(&to->indices[h], &from->indices[h]);
	if (line->primitive->kind != OP_BROADCAST || same)
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

/* Makes draft_op->op of what its notation says; false after complaining. */
static bool build_op(struct op_draft *draft_op, const struct op_line *line)
{
	struct op *op = draft_op->op;
	op->primitive = line->primitive;
	if (draft_op->draft->linear && op->primitive->kind == OP_RESTICKIFY)
		op->primitive = &primitive_clone;
	op->has_constant = line->has_constant;
	op->write_count = 1;
	op->writes = arena_new(draft_op->draft->reading->arena, struct access);
	if (!op_draft_enter_loops(draft_op, &line->output, line->reductions, line->reduction_count))
		return false;
	bool good = !op->has_constant || find_constant(draft_op, line, &op->constant);
	for (int i = 0; i < line->read_count; i++)
		good = op_draft_read(draft_op, &line->reads[i]) && good;
	good = good && check_reductions(draft_op, line) && check_computes(draft_op);
	if (!op_draft_write(draft_op, &line->output, &op->writes[0]))
		return false;
	if (good && check_broadcast(draft_op, line))
		return lay_out(draft_op, line) && check_broadcast_layout(draft_op);
	draft_lay_out(draft_op->draft, op->writes[0].tensor, NULL, 0);
	return false;
}

/* `kt[d,k] = restickify k[k,d]` and the like, into draft_op->op. */
static bool read_notation(struct op_draft *draft_op)
{
	struct op_line line;
	struct scan_fault fault;
	if (op_line_parse(draft_op->draft->reading->arena, draft_op->text->text, &line, &fault))
		return build_op(draft_op, &line);
	diag_error(diag_of(draft_op), node_part(draft_op->text, fault.from, fault.to), "%s",
		fault.text);
	return false;
}

/* A tensor of an opaque op, "idx[k]" or a known "idx": read or written whole, no loops. */
static bool read_opaque_operand(
	struct draft *draft, struct op *op, const struct node *node, bool write)
{
	const char *text;
	struct line_operand operand;
	struct scan_fault fault;
	struct op scratch = {0};
	struct op_draft draft_op = {.draft = draft, .text = node, .op = &scratch};
	struct diag *diag = draft->reading->diag;
	if (!node_text(draft->reading, node, "tensor", &text))
		return false;
	if (!line_operand_parse(draft->reading->arena, text, &operand, &fault)) {
		diag_error(diag, node_part(node, fault.from, fault.to), "%s", fault.text);
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

struct op_form {
	const char *name, *opaque, *op, *type;
	const struct node *root, *roles, *reads, *writes;
};

static bool is_opaque(const void *op)
{
	return ((const struct op_form *)op)->opaque != NULL;
}

static bool is_notation(const void *op)
{
	return !is_opaque(op);
}

static const struct field op_fields[] = {
	{"name", FIELD_TEXT, .usual = "its result's", INTO(struct op_form, name)},
	{"opaque", FIELD_TEXT, "the type of an op that only reads and writes",
		INTO(struct op_form, opaque)},
	{"op", FIELD_TEXT, "an einsum, a map or a reduction: `h[t,f] = sum(d) x[t,d] * w[d,f]`",
		.required = true, .has = is_notation, INTO(struct op_form, op)},
	{"type", FIELD_TEXT, "a name for reports and for lists of types", .has = is_notation,
		INTO(struct op_form, type)},
	{"root", FIELD_WHOLE, "rank of a broadcast's source", .usual = "0", .has = is_notation,
		KEEP_ANY(struct op_form, root)},
	{"roles", FIELD_CHOICE, "names of its operands in constraints of problems",
		.shape = SHAPE_LIST, .words = shape_roles, .has = is_notation,
		KEEP(struct op_form, roles)},
	{"reads", FIELD_ANY, "tensors of an opaque op", .shape = SHAPE_LIST, .has = is_opaque,
		KEEP(struct op_form, reads)},
	{"writes", FIELD_ANY, "tensors of an opaque op", .shape = SHAPE_LIST, .required = true,
		.has = is_opaque, KEEP(struct op_form, writes)},
	{0},
};
const struct noun op_noun = {.name = "op", .fields = op_fields, .also = "string"};

/* {opaque: topk, reads: [p], writes: ["idx[t,j]"]} */
static bool read_opaque(
	struct draft *draft, struct reader *reader, const struct op_form *form, struct op *op)
{
	const struct node *reads = form->reads, *writes = form->writes;
	size_t read_count = reads ? reads->count : 0;
	bool good = true;
	op->type = form->opaque;
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
static void read_root(
	struct draft *draft, struct reader *reader, const struct node *node, struct op *op)
{
	int64_t root = 0;
	if (node && op->primitive->kind != OP_BROADCAST)
		diag_error(draft->reading->diag, node->span, "only a broadcast has a root");
	else if (node)
		node_integer(draft->reading, node, reader_place(reader, "root"), 0, RANKS_MOST - 1,
			&root);
	op->root = (int)root;
}

/* Reads the names of operands in constraints: one of Inputs, Weights and Outputs each, in the order written. */
static void read_roles(struct draft *draft, const struct node *list, struct op *op)
{
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
				twice ? "two operands have the role '%s'"
				      : "unknown role '%s'; roles are Inputs, Weights and Outputs",
				roles[i]);
	}
	op->roles = roles;
}

static bool read_op_map(struct draft *draft, const struct node *node, struct op *op)
{
	struct reader reader;
	struct op_form form = {0};
	bool good;
	if (!noun_open(&reader, draft->reading, node, "op", &op_noun))
		return false;
	fields_read(&reader, &op_noun, &form, NULL);
	op->name = form.name;
	if (form.opaque) {
		good = read_opaque(draft, &reader, &form, op);
	} else {
		struct op_draft draft_op = {
			.draft = draft, .op = op, .text = node_find(node, "op")};
		op->type = form.type;
		good = form.op && read_notation(&draft_op);
		if (good) {
			read_root(draft, &reader, form.root, op);
			read_roles(draft, form.roles, op);
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

void draft_add_op(struct draft *draft, const struct node *node, const struct op_line *line)
{
	struct op op = {.span = node->span};
	struct op_draft draft_op = {.draft = draft, .text = node, .op = &op};
	bool good = line                        ? build_op(&draft_op, line)
		    : node->kind == NODE_SCALAR ? read_notation(&draft_op)
						: read_op_map(draft, node, &op);
	if (good) {
		name_op(draft, &op);
		if (!op.type)
			op.type = default_type(&op);
	}
	/* even a broken one: tensors know their op by number */
	*array_add(draft->reading->arena, &draft->ops) = op;
}

void draft_read_op(struct draft *draft, const struct node *node)
{
	if (!read_named_shape(draft, node))
		draft_add_op(draft, node, NULL);
}
