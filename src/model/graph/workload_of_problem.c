#include "base/text.h"
#include "model/graph/draft.h"
#include "model/graph/workload_read.h"
#include "model/nest/shape.h"

#define CANNOT(of, space, ...) diag_error((of)->draft.reading->diag, (space)->span, __VA_ARGS__)

/* A problem that becomes a workload, and the notation of its op. */
struct rewriting {
	const struct shape *shape;
	struct draft draft;
	struct text op;
};

static void add_dimensions(struct rewriting *of)
{
	for (int d = 0; d < of->shape->dimension_count; d++) {
		const struct dimension *dimension = &of->shape->dimensions[d];
		if (dimension->extent >= EXTENT_MOST)
			CANNOT(of, dimension,
				"dimension '%s' has %lld iterations; where tiles move in boxes less "
				"than 2^31 are allowed",
				dimension->name, (long long)dimension->extent);
		names_add(of->draft.reading->arena, &of->draft.dimension_names, dimension->name, d);
		*array_add(of->draft.reading->arena, &of->draft.dimensions) = (struct named_extent){
			.name = dimension->name,
			.extent = dimension->extent,
			.span = dimension->span,
			.used = true,
		};
	}
}

/* "p", "2*p + r"; where no dimension indexes the rank, "0". */
static void add_index(
	struct rewriting *of, const struct dataspace *space, const struct shape_rank *rank)
{
	int terms = 0;
	for (int d = 0; d < of->shape->dimension_count; d++) {
		const char *name = of->shape->dimensions[d].name;
		int64_t coefficient = rank->coefficient[d];
		if (!coefficient)
			continue;
		if (space->written && (terms || coefficient != 1))
			CANNOT(of, space,
				"a rank of '%s' is more than one dimension; where tiles move in boxes a "
				"result is indexed by dimensions alone",
				space->name);
		text_add(&of->op, "%s", terms++ ? " + " : "");
		if (coefficient != 1)
			text_add(&of->op, "%lld*", (long long)coefficient);
		text_add(&of->op, "%s", name);
	}
	if (terms > INDEX_TERMS_MOST)
		CANNOT(of, space,
			"a rank of '%s' adds %d dimensions; where tiles move in boxes %d are the most",
			space->name, terms, INDEX_TERMS_MOST);
	if (!terms)
		text_add(&of->op, "0");
}

/* Each dimension indexes a tensor once. */
static void check_ranks(struct rewriting *of, const struct dataspace *space)
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

static void add_operand(struct rewriting *of, const struct dataspace *space)
{
	text_add(&of->op, "%s[", space->name);
	for (int k = 0; k < space->rank_count; k++) {
		text_add(&of->op, "%s", k ? "," : "");
		add_index(of, space, &space->ranks[k]);
	}
	text_add(&of->op, "]");
	check_ranks(of, space);
}

static const struct dataspace *find_written(const struct shape *shape)
{
	const struct dataspace *space = shape->spaces;
	while (!space->written)
		space++;
	return space;
}

/* "sum(k,r) ", or nothing: over every loop that does not index the output. */
static void add_reductions(struct rewriting *of, const struct dataspace *output)
{
	const struct shape *shape = of->shape;
	int count = 0;
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
		text_add(&of->op, "%s%s", count++ ? "," : "sum(", shape->dimensions[d].name);
	}
	text_add(&of->op, "%s", count ? ") " : "");
}

/* "Outputs[M,N] = sum(K) Inputs[M,K] * Weights[K,N]" */
static const char *write_op(struct rewriting *of)
{
	const struct shape *shape = of->shape;
	const struct dataspace *output = find_written(shape);
	int count = 0;
	of->op = text_open(of->draft.reading->arena);
	add_operand(of, output);
	text_add(&of->op, " = ");
	add_reductions(of, output);
	for (int t = 0; t < shape->space_count; t++) {
		if (&shape->spaces[t] == output)
			continue;
		text_add(&of->op, "%s", count++ ? " * " : "");
		add_operand(of, &shape->spaces[t]);
	}
	if (!count)
		CANNOT(of, output,
			"only '%s' is there; where tiles move in boxes an op reads something",
			output->name);
	return text_read(&of->op);
}

const struct workload *workload_of_problem(
	const struct reading *reading, const struct shape *shape, int64_t word_bits)
{
	struct rewriting of = {.shape = shape, .draft.reading = reading};
	size_t errors = diag_errors(reading->diag);
	if (!dtype_of_word(word_bits, &of.draft.dtype))
		diag_error(reading->diag, shape->span,
			"the machine's words have %lld bits; where tiles move in boxes a problem's "
			"elements have 8, 16 or 32, as 'datawidth' of the DRAM says",
			(long long)word_bits);
	add_dimensions(&of);
	const char *op = write_op(&of);
	if (diag_errors(reading->diag) != errors)
		return NULL;
	for (int written = 0; written < 2; written++)
		for (int t = 0; t < shape->space_count; t++)
			if (shape->spaces[t].written == written)
				draft_tensor(
					&of.draft, shape->spaces[t].name, shape->spaces[t].span);
	draft_read_op(&of.draft, node_scalar(reading->arena, op, shape->span));
	return draft_finish(&of.draft, shape->name, NULL, NULL, errors);
}
