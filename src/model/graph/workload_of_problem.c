#include "base/text.h"
#include "model/graph/draft.h"
#include "model/graph/workload_read.h"
#include "model/nest/shape.h"

#define CANNOT(of, space, ...) diag_error((of)->reading->diag, (space)->span, __VA_ARGS__)

/* A problem that becomes a workload, and the notation of its op. */
struct rewriting {
	const struct reading *reading;
	const struct shape *shape;
	const struct level *home;
	enum dtype dtype;
	struct text op;
};

static void check_extents(struct rewriting *of)
{
	for (int d = 0; d < of->shape->dimension_count; d++) {
		const struct dimension *dimension = &of->shape->dimensions[d];
		if (dimension->extent >= EXTENT_MOST)
			CANNOT(of, dimension,
				"dimension '%s' has %lld iterations; where tiles move in boxes less "
				"than 2^31 are allowed",
				dimension->name, (long long)dimension->extent);
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
	of->op = text_open(of->reading->arena);
	add_operand(of, output);
	text_add(&of->op, " = ");
	add_reductions(of, output);
	for (int second = 0; second < 2; second++)
		for (int t = 0; t < shape->space_count; t++) {
			const struct dataspace *space = &shape->spaces[t];
			bool weights = space->role && text_equal(space->role, "Weights");
			if (space == output || weights != second)
				continue;
			text_add(&of->op, "%s", count++ ? " * " : "");
			add_operand(of, space);
		}
	if (!count)
		CANNOT(of, output,
			"only '%s' is there; where tiles move in boxes an op reads something",
			output->name);
	return text_read(&of->op);
}

/* The rank of a dataspace that a dimension walks alone, step by step; -1 if none is. */
static int find_rank(const struct shape *shape, const struct dataspace *space, int d)
{
	for (int k = 0; k < space->rank_count; k++) {
		bool alone = space->ranks[k].coefficient[d] == 1 && shape->dimensions[d].extent > 1;
		for (int e = 0; e < shape->dimension_count; e++)
			alone &= e == d || !space->ranks[k].coefficient[e];
		if (alone)
			return k;
	}
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

/* Layouts whose sticks fit each other (model/graph/sticks.h), as far as there are any. */
static void fit_layouts(const struct rewriting *of, struct draft *draft)
{
	const struct shape *shape = of->shape;
	const struct dataspace *output = find_written(shape);
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

static const struct workload *read_op(
	const struct rewriting *of, const struct reading *reading, const char *op, bool fit)
{
	struct draft draft = {.reading = reading,
		.dtype = of->dtype,
		.linear = of->home->stick ? NULL : of->home};
	const struct shape *shape = of->shape;
	size_t errors = diag_errors(reading->diag);
	for (int d = 0; d < shape->dimension_count; d++) {
		const struct dimension *dimension = &shape->dimensions[d];
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
	draft_read_op(&draft, node_scalar(reading->arena, op, shape->span));
	return draft_finish(&draft, shape->name, NULL, NULL, errors);
}

const struct workload *workload_of_problem(
	const struct reading *reading, const struct shape *shape, const struct level *home)
{
	struct rewriting of = {.reading = reading, .shape = shape, .home = home};
	struct reading silent = *reading;
	size_t errors = diag_errors(reading->diag);
	if (!dtype_of_word(home->word_bits, &of.dtype))
		diag_error(reading->diag, home->span,
			"no dtype has the %lld bits of a word of '%s'; give '%s' a 'datawidth' of 8, 16 or "
			"32",
			(long long)home->word_bits, home->name, home->name);
	check_extents(&of);
	const char *op = write_op(&of);
	if (diag_errors(reading->diag) != errors)
		return NULL;
	silent.diag = diag_open(reading->arena);
	const struct workload *workload = read_op(&of, &silent, op, false);
	return workload ? workload : read_op(&of, reading, op, true);
}
