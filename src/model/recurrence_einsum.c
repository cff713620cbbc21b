#include "model/recurrence_einsum.h"

#include "base/arena.h"
#include "base/lattice.h"
#include "base/text.h"
#include "model/recurrence_equations.h"
#include "model/recurrence_term.h"

#include <stdlib.h>
#include <string.h>

struct derivation {
	struct arena *arena;
	struct recurrence_einsum *einsum;
	struct recurrence *recurrence;
	int memories[SHAPE_SPACES_MOST]; /* by operand: the input that it comes from */
	const char *why;
};

static bool refuse(struct derivation *to, const char *why)
{
	to->why = why;
	return false;
}

/* Directions along which an operand stays the same, by loops that take more than one step. */
static bool find_reuse(
	struct derivation *to, const struct recurrence_operand *operand, struct lattice *out)
{
	int64_t matrix[LATTICE_MOST][LATTICE_MOST] = {0};
	int loops[RECURRENCE_LOOPS_MOST], count = 0;
	struct lattice kernel;
	for (int i = 0; i < to->recurrence->loop_count; i++)
		if (to->recurrence->loops[i].extent > 1)
			loops[count++] = i;
	bool fits = true;
	for (int k = 0; k < operand->rank; k++) {
		int64_t constant = operand->place[k].constant;
		fits &= constant >= -LOOP_SUM_CONSTANT_MOST && constant <= LOOP_SUM_CONSTANT_MOST;
		for (int i = 0; i < count; i++) {
			int64_t at = matrix[k][i] = operand->place[k].at[loops[i]];
			fits &= at >= -LOOP_SUM_FACTOR_MOST && at <= LOOP_SUM_FACTOR_MOST;
		}
	}
	if (!fits || !lattice_kernel(operand->rank, count, matrix, &kernel))
		return refuse(to, arena_format(to->arena, "the coefficients of '%s' are too large",
					  operand->name));
	*out = (struct lattice){.rank = kernel.rank, .columns = to->recurrence->loop_count};
	for (int r = 0; r < kernel.rank; r++)
		for (int i = 0; i < count; i++)
			out->rows[r][loops[i]] = kernel.rows[r][i];
	return true;
}

/* Whether two points of the loops lie so far from each other. */
static bool fits(const struct derivation *to, const int64_t *vector)
{
	for (int i = 0; i < to->recurrence->loop_count; i++)
		if (llabs(vector[i]) >= to->recurrence->loops[i].extent)
			return false;
	return true;
}

/* The one loop of a unit vector; -1. */
static int unit_of(const struct derivation *to, const int64_t *vector)
{
	int found = -1;
	for (int i = 0; i < to->recurrence->loop_count; i++) {
		if (!vector[i])
			continue;
		if (vector[i] != 1 || found >= 0)
			return -1;
		found = i;
	}
	return found;
}

/* A name that neither a loop nor a stream has. */
static const char *own_name(const struct derivation *to, const char *name)
{
	while (recurrence_loop_named(to->recurrence, name) >= 0 ||
		recurrence_stream_named(to->recurrence, name) >= 0)
		name = arena_format(to->arena, "%s_", name);
	return name;
}

static int add_stream(struct derivation *to, const struct recurrence_operand *operand,
	enum stream_kind kind, const char *name)
{
	struct recurrence *recurrence = to->recurrence;
	struct stream *stream = &recurrence->streams[recurrence->stream_count];
	*stream = (struct stream){.name = name,
		.kind = kind,
		.rank = kind == STREAM_RECURRENT ? recurrence->loop_count : operand->rank,
		.span = operand->span};
	return recurrence->stream_count++;
}

static bool depend(struct derivation *to, const struct recurrence_operand *operand, int stream,
	const int64_t *vector, const struct term *when)
{
	return recurrence_depend(to->arena, to->recurrence, stream, vector, when, operand->span) ||
	       refuse(to, "there are more than 64 dependences");
}

/* An element as it comes from memory; an operand that is read twice is one input. */
static const struct term *read_memory(struct derivation *to, int operand, const char *name)
{
	const struct recurrence_operand *from = &to->einsum->operands[operand];
	int memory = -1;
	for (int i = 0; i < operand; i++)
		if (text_equal(to->einsum->operands[i].name, from->name))
			memory = to->memories[i];
	if (memory < 0)
		memory = add_stream(to, from, STREAM_INPUT, own_name(to, name));
	to->memories[operand] = memory;
	struct term *term = arena_new(to->arena, struct term);
	*term = (struct term){.kind = TERM_STREAM,
		.index = memory,
		.place_count = from->rank,
		.place = from->place};
	return term;
}

/* What a point before has, or else what `rest` says. */
static const struct term *carry(struct derivation *to, int stream, const int64_t *vector,
	const struct term *inside, const struct term *rest)
{
	return term_make(to->arena, TERM_SELECT, inside,
		recurrence_read(to->arena, to->recurrence, stream, vector), rest);
}

/* An operand that is read, into its stream; *value is what a point has of it. */
static bool derive_read(struct derivation *to, int operand, const struct term **value)
{
	struct arena *arena = to->arena;
	const struct recurrence_operand *from = &to->einsum->operands[operand];
	const struct term *inside[RECURRENCE_LOOPS_MOST], *when = NULL;
	int64_t here[RECURRENCE_LOOPS_MOST] = {0};
	const int64_t *vectors[RECURRENCE_LOOPS_MOST];
	struct lattice reuse;
	int count = 0;
	if (!find_reuse(to, from, &reuse))
		return false;
	for (int r = 0; r < reuse.rank; r++)
		if (fits(to, reuse.rows[r]))
			vectors[count++] = reuse.rows[r];
	if (!count) {
		*value = read_memory(to, operand, from->name);
		to->einsum->streams[operand] = to->memories[operand];
		return true;
	}
	int stream = add_stream(to, from, STREAM_RECURRENT, own_name(to, from->name));
	to->einsum->streams[operand] = stream;
	for (int i = 0; i < count; i++) {
		inside[i] = recurrence_inside(arena, to->recurrence, vectors[i]);
		if (!depend(to, from, stream, vectors[i], term_and(arena, when, inside[i])))
			return false;
		when = term_and(arena, when, term_not(arena, inside[i]));
	}
	const struct term *body =
		read_memory(to, operand, arena_format(arena, "%s_in", from->name));
	for (int i = count - 1; i >= 0; i--)
		body = carry(to, stream, vectors[i], inside[i], body);
	to->recurrence->streams[stream].body = body;
	*value = recurrence_read(arena, to->recurrence, stream, here);
	return true;
}

/* A loop that the result does not see, once. */
static void add_unit(struct derivation *to, const struct lattice *reuse, int loop, uint32_t *done,
	struct lattice *chain)
{
	for (int r = 0; r < reuse->rank; r++)
		if (unit_of(to, reuse->rows[r]) == loop && !(*done >> loop & 1))
			memcpy(chain->rows[chain->rank++], reuse->rows[r], sizeof *chain->rows);
	*done |= UINT32_C(1) << loop;
}

/* Directions along which the result is summed up, innermost first: loops that do not index it, then
 * at most one that is no loop. */
static bool find_chain(
	struct derivation *to, const struct recurrence_operand *operand, struct lattice *chain)
{
	struct lattice reuse;
	int others = 0;
	if (!find_reuse(to, operand, &reuse))
		return false;
	for (int r = 0; r < reuse.rank; r++)
		others += unit_of(to, reuse.rows[r]) < 0;
	if (others > 1)
		return refuse(
			to, arena_format(to->arena,
				    "points of one element of '%s' lie along several "
				    "directions that are no loops, so that no chain sums them up",
				    operand->name));
	*chain = (struct lattice){.columns = reuse.columns};
	const struct recurrence_einsum *einsum = to->einsum;
	uint32_t done = 0;
	for (int i = einsum->order_count - 1; i >= 0; i--)
		add_unit(to, &reuse, einsum->order[i], &done, chain);
	for (int i = to->recurrence->loop_count - 1; i >= 0; i--)
		add_unit(to, &reuse, i, &done, chain);
	for (int r = 0; r < reuse.rank; r++)
		if (unit_of(to, reuse.rows[r]) < 0 && fits(to, reuse.rows[r]))
			memcpy(chain->rows[chain->rank++], reuse.rows[r], sizeof *chain->rows);
	return true;
}

/* The value that is written, and when it is complete. */
static bool derive_sum(struct derivation *to, const struct term *product)
{
	struct arena *arena = to->arena;
	struct recurrence *recurrence = to->recurrence;
	const struct recurrence_operand *operand =
		&to->einsum->operands[to->einsum->operand_count - 1];
	const struct term *last = NULL, *before;
	int64_t vector[RECURRENCE_LOOPS_MOST], here[RECURRENCE_LOOPS_MOST] = {0};
	struct lattice chain;
	if (!find_chain(to, operand, &chain))
		return false;
	int stream = add_stream(to, operand, STREAM_RECURRENT, own_name(to, operand->name));
	to->einsum->streams[to->einsum->operand_count - 1] = stream;
	before = to->einsum->sum == TERM_ADD ? term_number(arena, 0) : product;
	for (int r = chain.rank - 1; r >= 0; r--) {
		/* From the end of all inner loops to where they begin. */
		memcpy(vector, chain.rows[r], sizeof vector);
		for (int k = 0; k < r; k++) {
			int loop = unit_of(to, chain.rows[k]);
			vector[loop] = 1 - recurrence->loops[loop].extent;
		}
		const struct term *inside = recurrence_inside(arena, recurrence, vector);
		before = carry(to, stream, vector, inside, before);
		if (!depend(to, operand, stream, vector, inside))
			return false;
		for (int i = 0; i < recurrence->loop_count; i++)
			vector[i] = -chain.rows[r][i];
		last = term_and(
			arena, last, term_not(arena, recurrence_inside(arena, recurrence, vector)));
	}
	recurrence->streams[stream].body =
		chain.rank ? term_make(arena, to->einsum->sum, before, product, NULL) : product;
	int written = add_stream(to, operand, STREAM_OUTPUT,
		own_name(to, arena_format(arena, "%s_out", operand->name)));
	const struct term *sum = recurrence_read(arena, recurrence, stream, here);
	recurrence->streams[written].place = operand->place;
	recurrence->streams[written].body =
		last ? term_make(arena, TERM_SELECT, last, sum, NULL) : sum;
	return true;
}

bool recurrence_einsum(struct arena *arena, struct recurrence_einsum *einsum,
	struct recurrence *recurrence, const char **why)
{
	struct derivation to = {.arena = arena, .einsum = einsum, .recurrence = recurrence};
	const struct term *product = NULL, *value = NULL;
	bool good = true;
	for (int i = 0; good && i + 1 < einsum->operand_count; i++) {
		good = derive_read(&to, i, &value);
		product = product ? term_make(arena, TERM_MULTIPLY, product, value, NULL) : value;
	}
	good = good && derive_sum(&to, product ? product : term_number(arena, 1));
	recurrence->has_bodies = true;
	*why = to.why;
	return good;
}

static bool too_many(struct arena *arena, const char *name, int loops, const char **why)
{
	*why = arena_format(arena, "'%s' has %d loops, a recurrence at most %d", name, loops,
		RECURRENCE_LOOPS_MOST);
	return false;
}

bool recurrence_einsum_of_shape(struct arena *arena, const struct shape *shape,
	struct recurrence_einsum *einsum, struct recurrence *out, const char **why)
{
	*out = (struct recurrence){.loop_count = shape->dimension_count};
	*einsum = (struct recurrence_einsum){.sum = TERM_ADD};
	if (shape->dimension_count > RECURRENCE_LOOPS_MOST)
		return too_many(arena, shape->name, shape->dimension_count, why);
	for (int d = 0; d < shape->dimension_count; d++)
		out->loops[d] = (struct recurrence_loop){
			shape->dimensions[d].name, 0, shape->dimensions[d].extent};
	for (int written = 0; written < 2; written++)
		for (int t = 0; t < shape->space_count; t++) {
			const struct dataspace *space = &shape->spaces[t];
			if (space->written != written)
				continue;
			struct recurrence_operand *operand =
				&einsum->operands[einsum->operand_count++];
			*operand = (struct recurrence_operand){.name = space->name,
				.rank = space->rank_count,
				.span = space->span};
			for (int k = 0; k < space->rank_count; k++)
				memcpy(operand->place[k].at, space->ranks[k].coefficient,
					sizeof operand->place[k].at);
		}
	return true;
}

bool recurrence_of_shape(struct arena *arena, const struct shape *shape, struct recurrence *out,
	int *streams, const char **why)
{
	struct recurrence_einsum *einsum = arena_new(arena, struct recurrence_einsum);
	if (!recurrence_einsum_of_shape(arena, shape, einsum, out, why))
		return false;
	bool good = recurrence_einsum(arena, einsum, out, why);
	int next = 0;
	for (int written = 0; written < 2; written++)
		for (int t = 0; t < shape->space_count; t++)
			if (shape->spaces[t].written == written)
				streams[t] = einsum->streams[next++];
	return good;
}

bool recurrence_einsum_sum(
	enum op_kind kind, enum op_function function, bool has_constant, enum term_kind *out)
{
	bool reduces = kind == OP_REDUCE;
	*out = reduces && function == FUNCTION_MAX   ? TERM_MAX
	       : reduces && function == FUNCTION_MIN ? TERM_MIN
						     : TERM_ADD;
	return kind == OP_EINSUM || (reduces && function != FUNCTION_MEAN) ||
	       (kind == OP_MAP && !has_constant &&
		       (function == FUNCTION_MUL || function == FUNCTION_CLONE));
}

bool recurrence_einsum_of_op(struct arena *arena, const struct workload *workload,
	const struct op *op, struct recurrence_einsum *einsum, struct recurrence *out,
	const char **why)
{
	*einsum = (struct recurrence_einsum){0};
	*out = (struct recurrence){.loop_count = op->loop_count};
	if (!recurrence_einsum_sum(op->kind, op->function, op->has_constant, &einsum->sum)) {
		*why = arena_format(
			arena, "'%s' is no sum of products, and no sum, max or min", op->name);
		return false;
	}
	if (op->loop_count > RECURRENCE_LOOPS_MOST)
		return too_many(arena, op->name, op->loop_count, why);
	for (int l = 0; l < op->loop_count; l++)
		out->loops[l] = (struct recurrence_loop){op->loops[l].name, 0, op->loops[l].extent};
	einsum->operand_count = op_operands(op);
	for (int i = 0; i < einsum->operand_count; i++) {
		const struct access *access = op_operand(op, i);
		const struct tensor *tensor = &workload->tensors[access->tensor];
		struct recurrence_operand *operand = &einsum->operands[i];
		*operand = (struct recurrence_operand){
			.name = tensor->name, .rank = tensor->layout.host_rank, .span = op->span};
		for (int k = 0; k < operand->rank; k++) {
			operand->place[k].constant = access->host[k].offset;
			memcpy(operand->place[k].at, access->host[k].loop,
				sizeof operand->place[k].at);
		}
	}
	return true;
}
