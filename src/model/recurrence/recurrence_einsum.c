#include "model/recurrence/recurrence_einsum.h"

#include "base/arena.h"
#include "base/lattice.h"
#include "base/number.h"
#include "base/text.h"
#include "model/graph/op_mapping.h"

#include <stdlib.h>
#include <string.h>

struct equation {
	const struct term *left, *right;
};

struct equations_draft {
	const struct reading *reading;
	const struct node *text;
	struct recurrence *recurrence;
	struct equation equations[RECURRENCE_STREAMS_MOST]; /* by stream */
	int64_t looked; /* points, for reads outside the domain */
	int axes[RECURRENCE_STREAMS_MOST][RECURRENCE_LOOPS_MOST]; /* recurrent: the loop of each */
};

static int find_stream(void *user, const char *name)
{
	struct equations_draft *draft = user;
	struct recurrence *recurrence = draft->recurrence;
	int at = recurrence_stream_named(recurrence, name);
	if (at >= 0 || recurrence->stream_count == RECURRENCE_STREAMS_MOST)
		return at;
	recurrence->streams[recurrence->stream_count] = (struct stream){
		.name = name, .kind = STREAM_INPUT, .rank = -1, .span = draft->text->span};
	return recurrence->stream_count++;
}

static bool refuse_equation(
	const struct equations_draft *draft, size_t from, size_t to, const char *why)
{
	struct diag *diag = draft->reading->diag;
	/* a complaint that is only counted needs no place in the text */
	diag_error(diag, diag_full(diag) ? draft->text->span : node_part(draft->text, from, to),
		"%s", why);
	return false;
}

static bool refuse_term(
	const struct equations_draft *draft, const struct term *term, const char *why)
{
	return refuse_equation(draft, term->from, term->to, why);
}

/* The loop that an index is, plus an offset; -1. */
static int plain_loop(const struct recurrence *recurrence, const struct affine *index)
{
	return lattice_unit(index->coefficient, recurrence->loop_count);
}

/* True if the left side lists every loop once: then *axes are the loops. */
static bool lists_loops(const struct recurrence *recurrence, const struct term *left, int *axes)
{
	uint32_t seen = 0;
	if (left->place_count != recurrence->loop_count)
		return false;
	for (int i = 0; i < left->place_count; i++) {
		axes[i] = plain_loop(recurrence, &left->place[i]);
		if (axes[i] < 0 || left->place[i].offset || seen >> axes[i] & 1)
			return false;
		seen |= UINT32_C(1) << axes[i];
	}
	return true;
}

static bool parse_line(struct equations_draft *draft, size_t *at)
{
	struct arena *arena = draft->reading->arena;
	const char *text = draft->text->text;
	const char *loops[RECURRENCE_LOOPS_MOST + 1];
	struct term_names names = {draft->reading, loops, draft, find_stream};
	struct scan_fault fault;
	loop_names(draft->recurrence->loops, draft->recurrence->loop_count, loops);
	const struct term *left = term_parse_place(arena, text, at, &names, &fault);
	if (!left)
		return refuse_equation(draft, fault.from, fault.to, fault.text);
	while (text[*at] == ' ' || text[*at] == '\t')
		++*at;
	if (text[*at] != '=')
		return refuse_equation(draft, *at, *at + (text[*at] != 0),
			"'=' is expected after the left side of an equation");
	++*at;
	const struct term *right = term_parse(arena, text, at, &names, &fault);
	if (!right)
		return refuse_equation(draft, fault.from, fault.to, fault.text);
	while (text[*at] == ' ' || text[*at] == '\t' || text[*at] == '\r')
		++*at;
	if (text[*at] && text[*at] != '\n' && text[*at] != ';')
		return refuse_equation(draft, *at, *at + 1, "the equation should end here");
	struct stream *stream = &draft->recurrence->streams[left->index];
	if (draft->equations[left->index].left)
		return refuse_term(draft, left,
			arena_format(arena, "'%s' has an equation already", stream->name));
	draft->equations[left->index] = (struct equation){left, right};
	stream->rank = left->place_count;
	stream->span = node_part(draft->text, left->from, left->to);
	bool recurrent = lists_loops(draft->recurrence, left, draft->axes[left->index]);
	stream->kind = recurrent ? STREAM_RECURRENT : STREAM_OUTPUT;
	stream->place = recurrent ? NULL : left->place;
	return true;
}

/* A condition is looked at by recursion; each read of a vector adds to that of its dependence. */
enum { CONDITION_HEIGHT_MOST = 2000 };

struct dependence *recurrence_depend(struct arena *arena, struct recurrence *recurrence, int stream,
	const int64_t *vector, const struct term *when, struct span span)
{
	size_t size = sizeof *vector * (size_t)recurrence->loop_count;
	for (int i = 0; i < recurrence->dependence_count; i++) {
		struct dependence *old = &recurrence->dependences[i];
		if (old->stream != stream || memcmp(old->vector, vector, size) != 0)
			continue;
		if (old->when == when ||
			(old->when && old->when->kind == TERM_OR && old->when->of[1] == when))
			return old;
		old->when =
			old->when && when ? term_make(arena, TERM_OR, old->when, when, NULL) : NULL;
		return old->when && old->when->height > CONDITION_HEIGHT_MOST ? NULL : old;
	}
	if (recurrence->dependence_count == RECURRENCE_DEPENDENCES_MOST)
		return NULL;
	struct dependence *new = &recurrence->dependences[recurrence->dependence_count++];
	*new = (struct dependence){.stream = stream, .when = when, .span = span};
	memcpy(new->vector, vector, size);
	return new;
}

/* Points beyond this many of a read, and of all together, are not looked at for reads outside the
 * domain. */
enum { READ_LOOKED_AT = 1000000, READS_LOOKED_AT = 20000000 };

/* The first point that would read a stream outside the domain; false: none was found. */
static bool reads_outside(struct equations_draft *draft, const int64_t *vector,
	const struct term *when, int64_t *point)
{
	const struct recurrence *recurrence = draft->recurrence;
	if (!recurrence_first(recurrence, point))
		return false;
	for (int looked = 0; looked < READ_LOOKED_AT && draft->looked < READS_LOOKED_AT; looked++) {
		draft->looked++;
		int64_t producer[RECURRENCE_LOOPS_MOST];
		for (int i = 0; i < recurrence->loop_count; i++)
			producer[i] = point[i] - vector[i];
		if (term_holds(when, point) && !recurrence_holds(recurrence, producer))
			return true;
		if (!recurrence_next(recurrence, point))
			return false;
	}
	return false;
}

static const char *point_text(
	struct arena *arena, const struct recurrence *recurrence, const int64_t *point)
{
	struct text text = text_open(arena);
	for (int i = 0; i < recurrence->loop_count; i++)
		text_add(&text, "%s%s = %lld", i ? ", " : "", recurrence->loops[i].name,
			(long long)point[i]);
	return text_read(&text);
}

/* The read of a recurrent stream with its indices by loop; NULL after complaining. */
static const struct term *read_recurrent(
	struct equations_draft *draft, const struct term *term, const struct term *when)
{
	struct arena *arena = draft->reading->arena;
	struct recurrence *recurrence = draft->recurrence;
	const struct stream *stream = &recurrence->streams[term->index];
	const int *axes = draft->axes[term->index];
	struct affine *place = arena_array(arena, struct affine, recurrence->loop_count);
	int64_t vector[RECURRENCE_LOOPS_MOST] = {0}, point[RECURRENCE_LOOPS_MOST];
	bool moves = false;
	for (int i = 0; i < term->place_count; i++) {
		if (plain_loop(recurrence, &term->place[i]) != axes[i]) {
			refuse_term(draft, term,
				arena_format(arena,
					"not a uniform recurrence: index %d of '%s' must be '%s' "
					"plus a number",
					i + 1, stream->name, recurrence->loops[axes[i]].name));
			return NULL;
		}
		place[axes[i]] = term->place[i];
		vector[axes[i]] = -term->place[i].offset;
		moves |= term->place[i].offset != 0;
	}
	struct term *read = arena_new(arena, struct term);
	*read = *term;
	read->place = place;
	if (!moves)
		return read;
	if (reads_outside(draft, vector, when, point)) {
		refuse_term(draft, term,
			arena_format(arena,
				"'%s' is read where it has no value, at %s; guard it with select",
				stream->name, point_text(arena, recurrence, point)));
		return NULL;
	}
	int before = recurrence->dependence_count;
	struct dependence *dependence =
		recurrence_depend(arena, recurrence, term->index, vector, when, draft->text->span);
	if (!dependence) {
		refuse_term(draft, term, "more than 64 dependences, or too many reads of one");
		return NULL;
	}
	if (recurrence->dependence_count > before)
		dependence->span = node_part(draft->text, term->from, term->to);
	return read;
}

/* The body with its reads checked and put in the order of loops; NULL after complaining. */
static const struct term *settle(
	struct equations_draft *draft, const struct term *term, const struct term *when)
{
	struct arena *arena = draft->reading->arena;
	if (term->kind == TERM_STREAM) {
		struct stream *stream = &draft->recurrence->streams[term->index];
		if (stream->rank < 0)
			stream->rank = term->place_count;
		const char *why = NULL;
		if (stream->kind == STREAM_OUTPUT)
			why = arena_format(arena, "the output '%s' cannot be read", stream->name);
		else if (stream->rank != term->place_count)
			why = arena_format(
				arena, "'%s' has %d indices elsewhere", stream->name, stream->rank);
		if (why) {
			refuse_term(draft, term, why);
			return NULL;
		}
		return stream->kind == STREAM_RECURRENT ? read_recurrent(draft, term, when) : term;
	}
	struct term *settled = arena_new(arena, struct term);
	*settled = *term;
	if (term->kind == TERM_SELECT && term_has_stream(term->of[0])) {
		refuse_term(draft, term->of[0],
			"the condition of select may depend on loops alone, not on streams");
		return NULL;
	}
	for (int i = 0; i < 3 && term->of[i]; i++) {
		const struct term *there = when;
		if (term->kind == TERM_SELECT && i > 0)
			there = term_and(
				arena, when, i == 1 ? term->of[0] : term_not(arena, term->of[0]));
		settled->of[i] = settle(draft, term->of[i], there);
		if (!settled->of[i])
			return NULL;
	}
	return settled;
}

/* A select without an else may only be the whole of an output. */
static bool check_selects(const struct equations_draft *draft, const struct term *term, bool may)
{
	if (!term)
		return true;
	if (term->kind == TERM_SELECT && !term->of[2] && !may)
		return refuse_term(draft, term,
			"select needs a third value here; only an output can do without");
	return check_selects(draft, term->of[0], false) &&
	       check_selects(draft, term->of[1], false) && check_selects(draft, term->of[2], false);
}

/* True if stream `at` reads, at the same point, a stream that reads it; states: 1 open, 2 done. */
static bool is_circular(const struct recurrence *recurrence, int at, int *states);

static bool reads_open(const struct recurrence *recurrence, const struct term *term, int *states)
{
	if (!term)
		return false;
	if (term->kind == TERM_STREAM &&
		recurrence->streams[term->index].kind == STREAM_RECURRENT) {
		for (int i = 0; i < term->place_count; i++)
			if (term->place[i].offset)
				return false;
		return is_circular(recurrence, term->index, states);
	}
	return reads_open(recurrence, term->of[0], states) ||
	       reads_open(recurrence, term->of[1], states) ||
	       reads_open(recurrence, term->of[2], states);
}

static bool is_circular(const struct recurrence *recurrence, int at, int *states)
{
	if (states[at])
		return states[at] == 1;
	states[at] = 1;
	bool circular = reads_open(recurrence, recurrence->streams[at].body, states);
	states[at] = 2;
	return circular;
}

bool recurrence_equations(
	const struct reading *reading, const struct node *text, struct recurrence *recurrence)
{
	struct equations_draft draft = {.reading = reading, .text = text, .recurrence = recurrence};
	const char *bytes = text->text;
	bool good = true;
	for (size_t at = 0; bytes[at];) {
		size_t end = at + strcspn(bytes + at, "\n");
		at += strspn(bytes + at, " \t\r");
		bool empty = at >= end || bytes[at] == '#' || bytes[at] == ';';
		if (!empty)
			good &= parse_line(&draft, &at);
		at = end + (bytes[end] == '\n');
	}
	if (!good)
		return false;
	int recurrent = 0, states[RECURRENCE_STREAMS_MOST] = {0};
	for (int i = 0; i < recurrence->stream_count; i++) {
		struct equation *equation = &draft.equations[i];
		if (!equation->right)
			continue;
		recurrent += recurrence->streams[i].kind == STREAM_RECURRENT;
		bool fine = check_selects(
			&draft, equation->right, recurrence->streams[i].kind == STREAM_OUTPUT);
		const struct term *body = fine ? settle(&draft, equation->right, NULL) : NULL;
		good &= body != NULL;
		recurrence->streams[i].body = body;
	}
	if (!good)
		return false;
	if (!recurrent)
		return refuse_equation(&draft, 0, strlen(bytes),
			"no equation has all loops on its left side, so they are not a recurrence");
	for (int i = 0; i < recurrence->stream_count; i++)
		if (is_circular(recurrence, i, states))
			return refuse_term(&draft, draft.equations[i].left,
				arena_format(reading->arena,
					"'%s' is needed to compute itself at the same point",
					recurrence->streams[i].name));
	recurrence->has_bodies = true;
	return true;
}

struct derivation {
	struct arena *arena;
	struct recurrence_einsum *einsum;
	struct recurrence *recurrence;
	int64_t least[RECURRENCE_LOOPS_MOST]; /* of the loops without what is shifted in before */
	int memories[SHAPE_SPACES_MOST];      /* by operand: the input that it comes from */
	const char *why;
};

/* Keeps the reason; false. */
static bool derivation_refuse(struct derivation *to, const char *why)
{
	to->why = why;
	return false;
}

/* The tiles of a split loop that an operand sees: they alone lead to no element again, as a tile is
 * left for another element. */
static bool is_seen_tile(const struct derivation *to, const struct dataspace *operand, int loop)
{
	bool seen = false;
	for (int i = 0; i < to->einsum->split_count; i++)
		for (int k = 0; k < operand->rank_count; k++)
			seen |= to->einsum->splits[i].tiles == loop &&
				operand->ranks[k].coefficient[loop];
	return seen;
}

/* Directions along which an operand stays the same, by loops that take more than one step. */
static bool find_reuse(struct derivation *to, const struct dataspace *operand, struct lattice *out)
{
	int64_t matrix[LATTICE_MOST][LATTICE_MOST] = {0};
	int loops[RECURRENCE_LOOPS_MOST], count = 0;
	struct lattice kernel;
	for (int i = 0; i < to->recurrence->loop_count; i++)
		if (to->recurrence->loops[i].extent > 1 && !is_seen_tile(to, operand, i))
			loops[count++] = i;
	bool fits = true;
	for (int k = 0; k < operand->rank_count; k++) {
		int64_t constant = operand->ranks[k].offset;
		fits &= constant >= -AFFINE_CONSTANT_MOST && constant <= AFFINE_CONSTANT_MOST;
		for (int i = 0; i < count; i++) {
			int64_t at = matrix[k][i] = operand->ranks[k].coefficient[loops[i]];
			fits &= at >= -AFFINE_FACTOR_MOST && at <= AFFINE_FACTOR_MOST;
		}
	}
	if (!fits || !lattice_kernel(operand->rank_count, count, matrix, &kernel))
		return derivation_refuse(
			to, arena_format(to->arena, "the coefficients of '%s' are too large",
				    operand->name));
	*out = (struct lattice){.rank = kernel.rank, .columns = to->recurrence->loop_count};
	for (int r = 0; r < kernel.rank; r++)
		for (int i = 0; i < count; i++)
			out->rows[r][loops[i]] = kernel.rows[r][i];
	return true;
}

/* The values of a loop, without what is shifted in before. */
static int64_t steps_of(const struct derivation *to, int loop)
{
	const struct loop *at = &to->recurrence->loops[loop];
	return at->extent - (to->least[loop] - at->least);
}

/* True if two points of the loops lie so far from each other. */
static bool vector_fits(const struct derivation *to, const int64_t *vector)
{
	for (int i = 0; i < to->recurrence->loop_count; i++)
		if (llabs(vector[i]) >= steps_of(to, i))
			return false;
	return true;
}

/* True if a direction that is not a loop leads into the padding of a last tile and out of it. */
static bool crosses_padding(const struct derivation *to, const int64_t *vector)
{
	bool crosses = false;
	for (int i = 0; i < to->einsum->split_count; i++) {
		const struct recurrence_split *split = &to->einsum->splits[i];
		crosses |= split->extent % split->size &&
			   (vector[split->loop] || vector[split->tiles]);
	}
	return crosses && lattice_unit(vector, to->recurrence->loop_count) < 0;
}

/* The directions along which an operand is carried.  False after refusing. */
static bool find_carriers(
	struct derivation *to, const struct dataspace *from, struct lattice *reuse)
{
	int count = 0;
	if (!find_reuse(to, from, reuse))
		return false;
	for (int r = 0; r < reuse->rank; r++) {
		bool again =
			!vector_fits(to, reuse->rows[r]) || crosses_padding(to, reuse->rows[r]);
		for (int i = 0; i < to->recurrence->loop_count; i++)
			again |= reuse->rows[r][i] && to->einsum->reread >> i & 1;
		if (!again)
			memmove(reuse->rows[count++], reuse->rows[r], sizeof *reuse->rows);
	}
	reuse->rank = count;
	return true;
}

/* A loop that the result does not see, once. */
static void add_unit(struct derivation *to, const struct lattice *reuse, int loop, uint32_t *done,
	struct lattice *chain)
{
	for (int r = 0; r < reuse->rank; r++)
		if (lattice_unit(reuse->rows[r], to->recurrence->loop_count) == loop &&
			!(*done >> loop & 1))
			memcpy(chain->rows[chain->rank++], reuse->rows[r], sizeof *chain->rows);
	*done |= UINT32_C(1) << loop;
}

/* True if an element of the result says in which step of a split loop it is: one of its indices is
 * that loop alone. */
static bool is_told(const struct dataspace *operand, const struct recurrence_split *split)
{
	bool seen = false, told = false;
	for (int k = 0; k < operand->rank_count; k++) {
		bool others = false;
		for (int i = 0; i < RECURRENCE_LOOPS_MOST; i++)
			others |= operand->ranks[k].coefficient[i] && i != split->loop &&
				  i != split->tiles;
		seen |= operand->ranks[k].coefficient[split->loop] != 0;
		told |= operand->ranks[k].coefficient[split->loop] && !others;
	}
	return told || !seen;
}

/* Directions along which the result is summed up, innermost first: loops that do not index it, then at most
 * one that is not a loop.  False after refusing. */
static bool find_chain(
	struct derivation *to, const struct dataspace *operand, struct lattice *chain)
{
	struct lattice reuse;
	int others = 0;
	for (int i = 0; i < to->einsum->split_count; i++)
		if (!is_told(operand, &to->einsum->splits[i]))
			return derivation_refuse(to,
				arena_format(to->arena,
					"'%s' is summed up along '%s' and others at once, which cannot be "
					"split",
					operand->name,
					to->recurrence->loops[to->einsum->splits[i].loop].name));
	if (!find_reuse(to, operand, &reuse))
		return false;
	for (int r = 0; r < reuse.rank; r++)
		others += lattice_unit(reuse.rows[r], to->recurrence->loop_count) < 0;
	if (others > 1)
		return derivation_refuse(to,
			arena_format(to->arena,
				"no chain can sum up '%s': the points of one element lie along several directions that are not loops",
				operand->name));
	*chain = (struct lattice){.columns = reuse.columns};
	const struct recurrence_einsum *einsum = to->einsum;
	uint32_t done = 0;
	for (int i = einsum->order_count - 1; i >= 0; i--)
		add_unit(to, &reuse, einsum->order[i], &done, chain);
	for (int i = to->recurrence->loop_count - 1; i >= 0; i--)
		add_unit(to, &reuse, i, &done, chain);
	for (int r = 0; r < reuse.rank; r++)
		if (lattice_unit(reuse.rows[r], to->recurrence->loop_count) < 0 &&
			vector_fits(to, reuse.rows[r]))
			memcpy(chain->rows[chain->rank++], reuse.rows[r], sizeof *chain->rows);
	return true;
}

/* A name that neither a loop nor a stream has. */
static const char *own_name(const struct derivation *to, const char *name)
{
	while (loop_named(to->recurrence->loops, to->recurrence->loop_count, name) >= 0 ||
		recurrence_stream_named(to->recurrence, name) >= 0)
		name = arena_format(to->arena, "%s_", name);
	return name;
}

static int add_stream(struct derivation *to, const struct dataspace *operand, enum stream_kind kind,
	const char *name)
{
	struct recurrence *recurrence = to->recurrence;
	struct stream *stream = &recurrence->streams[recurrence->stream_count];
	*stream = (struct stream){.name = name,
		.kind = kind,
		.rank = kind == STREAM_RECURRENT ? recurrence->loop_count : operand->rank_count,
		.span = operand->span};
	return recurrence->stream_count++;
}

static bool depend(struct derivation *to, const struct dataspace *operand, int stream,
	const int64_t *vector, const struct term *when)
{
	return recurrence_depend(to->arena, to->recurrence, stream, vector, when, operand->span) ||
	       derivation_refuse(to, "there are more than 64 dependences");
}

/* The term of an index. */
static const struct term *sum_of(struct arena *arena, const struct affine *sum)
{
	const struct term *all = term_number(arena, (double)sum->offset);
	for (int i = 0; i < RECURRENCE_LOOPS_MOST; i++)
		if (sum->coefficient[i])
			all = term_make(arena, TERM_ADD, all,
				term_make(arena, TERM_MULTIPLY,
					term_number(arena, (double)sum->coefficient[i]),
					term_loop(arena, i), NULL),
				NULL);
	return all;
}

/* The condition that a loop is past the steps that shift in before it; NULL: it has none. */
static const struct term *has_begun(struct derivation *to, int loop)
{
	if (to->least[loop] == to->recurrence->loops[loop].least)
		return NULL;
	return term_make(to->arena, TERM_AT_MOST, term_number(to->arena, (double)to->least[loop]),
		term_loop(to->arena, loop), NULL);
}

/* The point that lies `vector` before is one of the loops', and neither that nor this one comes before
 * a loop that the vector goes along begins. */
static const struct term *is_inside(struct derivation *to, const int64_t *vector)
{
	const struct term *all = NULL;
	for (int i = 0; i < to->recurrence->loop_count; i++) {
		const struct term *begun = vector[i] ? has_begun(to, i) : NULL;
		if (begun && vector[i] > 0)
			begun = term_make(to->arena, TERM_AT_MOST,
				term_number(to->arena, (double)(to->least[i] + vector[i])),
				term_loop(to->arena, i), NULL);
		all = term_and(to->arena, all, begun);
	}
	return term_and(to->arena, all, recurrence_inside(to->arena, to->recurrence, vector));
}

/* A sum with another one in place of a loop. */
static void replace(struct affine *sum, int loop, const struct affine *instead)
{
	int64_t by = sum->coefficient[loop];
	sum->coefficient[loop] = 0;
	sum->offset += by * instead->offset;
	for (int i = 0; i < RECURRENCE_LOOPS_MOST; i++)
		sum->coefficient[i] += by * instead->coefficient[i];
}

/* The condition that the loops in `seen` are at an element, if tiles are padded or loops begin
 * early; `instead` stands for loop `replaced`.  NULL: always. */
static const struct term *is_real(
	struct derivation *to, uint32_t seen, int replaced, const struct affine *instead)
{
	const struct recurrence_einsum *einsum = to->einsum;
	const struct term *all = NULL;
	for (int i = 0; i < einsum->split_count; i++) {
		const struct recurrence_split *split = &einsum->splits[i];
		struct affine whole = {0};
		whole.coefficient[split->loop] = 1;
		whole.coefficient[split->tiles] = split->size;
		if (replaced >= 0 && whole.coefficient[replaced])
			replace(&whole, replaced, instead);
		if (split->extent % split->size && seen >> split->loop & 1)
			all = term_and(to->arena, all,
				term_make(to->arena, TERM_LESS, sum_of(to->arena, &whole),
					term_number(to->arena, (double)split->extent), NULL));
	}
	for (int i = 0; i < to->recurrence->loop_count; i++)
		if (seen >> i & 1 && i != replaced)
			all = term_and(to->arena, all, has_begun(to, i));
	return all;
}

/* An element as it comes from memory, or 0 where there is none; an operand that is read twice is
 * one input.  `instead` stands for loop `replaced`; -1: for none. */
static const struct term *read_memory(struct derivation *to, int operand, const char *name,
	int replaced, const struct affine *instead)
{
	struct arena *arena = to->arena;
	const struct dataspace *from = &to->einsum->shape.spaces[operand];
	struct affine *place = arena_copy(arena, from->ranks, sizeof from->ranks);
	int memory = -1;
	for (int i = 0; i < operand; i++)
		if (text_equal(to->einsum->shape.spaces[i].name, from->name))
			memory = to->memories[i];
	if (memory < 0)
		memory = add_stream(to, from, STREAM_INPUT, own_name(to, name));
	to->memories[operand] = memory;
	for (int k = 0; k < from->rank_count && replaced >= 0; k++)
		replace(&place[k], replaced, instead);
	struct term *term = arena_new(arena, struct term);
	*term = (struct term){.kind = TERM_STREAM,
		.index = memory,
		.place_count = from->rank_count,
		.place = place};
	const struct term *real = is_real(to, dataspace_loops(from), replaced, instead);
	return real ? term_make(arena, TERM_SELECT, real, term, term_number(arena, 0)) : term;
}

/* The value of the point before, or else of `rest`. */
static const struct term *carry(struct derivation *to, int stream, const int64_t *vector,
	const struct term *inside, const struct term *rest)
{
	return term_make(to->arena, TERM_SELECT, inside,
		recurrence_read(to->arena, to->recurrence, stream, vector), rest);
}

/* An operand that is shifted in along a loop, from its end on, and then stays. */
static bool derive_load(struct derivation *to, const struct recurrence_load *load, int stream)
{
	struct arena *arena = to->arena;
	struct recurrence *recurrence = to->recurrence;
	const struct dataspace *from = &to->einsum->shape.spaces[load->operand];
	const struct term *begun = has_begun(to, load->before);
	int64_t stay[RECURRENCE_LOOPS_MOST] = {0}, shift[RECURRENCE_LOOPS_MOST] = {0};
	const struct loop *along = &recurrence->loops[load->along];
	/* The value that enters in the step before the loop begins stays at the first place. */
	struct affine entering = {
		.offset = along->least + to->least[load->before] - 1, .coefficient = {0}};
	entering.coefficient[load->before] = -1;
	stay[load->before] = shift[load->before] = shift[load->along] = 1;
	const struct term *inside = recurrence_inside(arena, recurrence, shift);
	const struct term *beside = term_make(arena, TERM_LESS,
		term_number(arena, (double)along->least), term_loop(arena, load->along), NULL);
	/* Nothing of a shorter operand comes in at first. */
	const struct term *there = term_make(arena, TERM_LESS, sum_of(arena, &entering),
		term_number(arena, (double)(along->least + along->extent)), NULL);
	const struct term *body =
		term_make(arena, TERM_SELECT, term_and(arena, term_not(arena, beside), there),
			read_memory(to, load->operand, arena_format(arena, "%s_in", from->name),
				load->along, &entering),
			term_number(arena, 0));
	body = carry(to, stream, shift, inside, body);
	recurrence->streams[stream].body = carry(to, stream, stay, begun, body);
	return depend(to, from, stream, stay, begun) &&
	       depend(to, from, stream, shift, term_and(arena, term_not(arena, begun), inside));
}

/* An operand that is read, into its stream; *value is what a point has of it. */
static bool derive_read(struct derivation *to, int operand, const struct term **value)
{
	struct arena *arena = to->arena;
	const struct recurrence_einsum *einsum = to->einsum;
	const struct dataspace *from = &einsum->shape.spaces[operand];
	const struct term *inside[RECURRENCE_LOOPS_MOST], *when = NULL;
	int64_t here[RECURRENCE_LOOPS_MOST] = {0};
	const struct recurrence_load *load = NULL;
	struct lattice reuse;
	for (int i = 0; i < einsum->load_count; i++)
		if (einsum->loads[i].operand == operand)
			load = &einsum->loads[i];
	if (!find_carriers(to, from, &reuse))
		return false;
	if (!reuse.rank && !load) {
		*value = read_memory(to, operand, from->name, -1, NULL);
		to->einsum->streams[operand] = to->memories[operand];
		return true;
	}
	int stream = add_stream(to, from, STREAM_RECURRENT, own_name(to, from->name));
	to->einsum->streams[operand] = stream;
	*value = recurrence_read(arena, to->recurrence, stream, here);
	if (load)
		return derive_load(to, load, stream);
	for (int i = 0; i < reuse.rank; i++) {
		inside[i] = is_inside(to, reuse.rows[i]);
		if (!depend(to, from, stream, reuse.rows[i], term_and(arena, when, inside[i])))
			return false;
		when = term_and(arena, when, term_not(arena, inside[i]));
	}
	const struct term *body =
		read_memory(to, operand, arena_format(arena, "%s_in", from->name), -1, NULL);
	for (int i = reuse.rank - 1; i >= 0; i--)
		body = carry(to, stream, reuse.rows[i], inside[i], body);
	to->recurrence->streams[stream].body = body;
	return true;
}

/* The value that is written, and when it is complete. */
static bool derive_sum(struct derivation *to, const struct term *product)
{
	struct arena *arena = to->arena;
	struct recurrence *recurrence = to->recurrence;
	const struct dataspace *operand =
		&to->einsum->shape.spaces[to->einsum->shape.space_count - 1];
	const struct term *last = NULL, *before;
	int64_t vector[RECURRENCE_LOOPS_MOST], here[RECURRENCE_LOOPS_MOST] = {0};
	struct lattice chain;
	if (!find_chain(to, operand, &chain))
		return false;
	int stream = add_stream(to, operand, STREAM_RECURRENT, own_name(to, operand->name));
	to->einsum->streams[to->einsum->shape.space_count - 1] = stream;
	before = to->einsum->sum == TERM_ADD ? term_number(arena, 0) : product;
	for (int r = chain.rank - 1; r >= 0; r--) {
		/* From the end of all inner loops to where they begin. */
		memcpy(vector, chain.rows[r], sizeof vector);
		for (int k = 0; k < r; k++) {
			int loop = lattice_unit(chain.rows[k], to->recurrence->loop_count);
			vector[loop] = 1 - steps_of(to, loop);
		}
		const struct term *inside = is_inside(to, vector);
		before = carry(to, stream, vector, inside, before);
		if (!depend(to, operand, stream, vector, inside))
			return false;
		for (int i = 0; i < recurrence->loop_count; i++)
			vector[i] = -chain.rows[r][i];
		last = term_and(arena, last, term_not(arena, is_inside(to, vector)));
	}
	const struct term *body =
		chain.rank ? term_make(arena, to->einsum->sum, before, product, NULL) : product;
	const struct term *real = is_real(to, ~dataspace_loops(operand), -1, NULL);
	/* Padding adds nothing to a sum. */
	if (real && chain.rank)
		body = term_make(arena, TERM_SELECT, real, body, before);
	recurrence->streams[stream].body = body;
	int written = add_stream(to, operand, STREAM_OUTPUT,
		own_name(to, arena_format(arena, "%s_out", operand->name)));
	const struct term *sum = recurrence_read(arena, recurrence, stream, here);
	last = term_and(arena, last, is_real(to, dataspace_loops(operand), -1, NULL));
	for (int i = 0; i < recurrence->loop_count; i++)
		if (!(dataspace_loops(operand) >> i & 1))
			last = term_and(arena, last, has_begun(to, i));
	recurrence->streams[written].place = operand->ranks;
	recurrence->streams[written].body =
		last ? term_make(arena, TERM_SELECT, last, sum, NULL) : sum;
	return true;
}

/* Loops begin as much earlier as the longest way in takes. */
static bool begin_early(struct derivation *to)
{
	struct recurrence *recurrence = to->recurrence;
	for (int i = 0; i < recurrence->loop_count; i++)
		to->least[i] = recurrence->loops[i].least;
	for (int i = 0; i < to->einsum->load_count; i++) {
		const struct recurrence_load *load = &to->einsum->loads[i];
		struct loop *before = &recurrence->loops[load->before];
		uint32_t seen = dataspace_loops(&to->einsum->shape.spaces[load->operand]);
		int64_t more = recurrence->loops[load->along].extent -
			       (to->least[load->before] - before->least);
		if (load->along == load->before || seen >> load->before & 1 ||
			!(seen >> load->along & 1) || to->einsum->sum != TERM_ADD)
			return derivation_refuse(to,
				arena_format(to->arena,
					"'%s' cannot be shifted in along '%s' before '%s': it sees the "
					"first of them, not the second, and is summed up",
					to->einsum->shape.spaces[load->operand].name,
					recurrence->loops[load->along].name, before->name));
		if (more > 0) {
			before->least -= more;
			before->extent += more;
		}
	}
	return true;
}

bool recurrence_einsum(struct arena *arena, struct recurrence_einsum *einsum,
	struct recurrence *recurrence, const char **why)
{
	const struct shape *shape = &einsum->shape;
	struct derivation to = {.arena = arena, .einsum = einsum, .recurrence = recurrence};
	const struct term *product = NULL, *value = NULL;
	*recurrence = (struct recurrence){.loop_count = shape->dimension_count};
	memcpy(recurrence->loops, shape->dimensions,
		(size_t)shape->dimension_count * sizeof *shape->dimensions);
	bool good = begin_early(&to);
	for (int i = 0; good && i + 1 < shape->space_count; i++) {
		good = derive_read(&to, i, &value);
		product = product ? term_make(arena, TERM_MULTIPLY, product, value, NULL) : value;
	}
	good = good && derive_sum(&to, product ? product : term_number(arena, 1));
	recurrence->has_bodies = true;
	*why = to.why;
	return good;
}

/* Moves the dataspace that is written behind the others. */
static void write_last(struct shape *shape)
{
	for (int t = 0; t + 1 < shape->space_count; t++)
		if (shape->spaces[t].written) {
			struct dataspace written = shape->spaces[t];
			shape->spaces[t] = shape->spaces[t + 1];
			shape->spaces[t + 1] = written;
		}
}

bool recurrence_einsum_of_shape(struct arena *arena, const struct shape *shape,
	struct recurrence_einsum *out, const char **why)
{
	if (shape->dimension_count > RECURRENCE_LOOPS_MOST) {
		*why = arena_format(arena, "'%s' has %d loops, a recurrence at most %d",
			shape->name, shape->dimension_count, RECURRENCE_LOOPS_MOST);
		return false;
	}
	*out = (struct recurrence_einsum){.shape = *shape, .sum = TERM_ADD};
	write_last(&out->shape);
	return true;
}

bool recurrence_einsum_sum(
	const struct primitive *primitive, bool has_constant, enum term_kind *out)
{
	*out = primitive == &primitive_max   ? TERM_MAX
	       : primitive == &primitive_min ? TERM_MIN
					     : TERM_ADD;
	return primitive->kind == OP_EINSUM || primitive == &primitive_sum || *out != TERM_ADD ||
	       (!has_constant && (primitive == &primitive_mul || primitive == &primitive_clone));
}

bool recurrence_einsum_of_op(struct arena *arena, const struct workload *workload,
	const struct op *op, struct recurrence_einsum *out, const char **why)
{
	enum term_kind sum;
	if (!recurrence_einsum_sum(op->primitive, op->has_constant, &sum)) {
		*why = arena_format(
			arena, "'%s' is not a sum of products, a sum, a max or a min", op->name);
		return false;
	}
	if (!recurrence_einsum_of_shape(arena, op_shape(arena, workload, op), out, why))
		return false;
	out->sum = sum;
	for (int i = 0; i < out->shape.space_count; i++)
		out->shape.spaces[i].span = op->span;
	return true;
}

void recurrence_einsum_squeeze(struct recurrence_einsum *einsum)
{
	struct shape *shape = &einsum->shape;
	int kept = 0;
	for (int i = 0; i < shape->dimension_count; i++) {
		const struct loop loop = shape->dimensions[i];
		/* The last one stays: a recurrence has a loop. */
		bool goes = loop.extent == 1 && shape->dimension_count - i + kept > 1;
		for (int t = 0; t < shape->space_count; t++)
			for (int k = 0; k < shape->spaces[t].rank_count; k++) {
				struct affine *place = &shape->spaces[t].ranks[k];
				int64_t by = place->coefficient[i];
				place->coefficient[i] = 0;
				if (goes)
					place->offset += by * loop.least;
				else
					place->coefficient[kept] = by;
			}
		if (!goes)
			shape->dimensions[kept++] = loop;
	}
	shape->dimension_count = kept;
	shape_finish(shape);
}

bool recurrence_einsum_split(struct arena *arena, struct recurrence_einsum *einsum, int loop,
	int64_t size, const char **why)
{
	struct shape *shape = &einsum->shape;
	struct loop *inner = &shape->dimensions[loop];
	int tiles = shape->dimension_count;
	int64_t extent = inner->extent, least = inner->least;
	if (tiles == RECURRENCE_LOOPS_MOST) {
		*why = "splitting makes a loop more, and there are eight at most";
		return false;
	}
	shape->dimensions[shape->dimension_count++] =
		(struct loop){.name = arena_format(arena, "%s_tile", inner->name),
			.extent = number_ceil_div(extent, size)};
	*inner = (struct loop){.name = inner->name, .extent = size};
	einsum->splits[einsum->split_count++] =
		(struct recurrence_split){loop, tiles, size, extent};
	for (int i = 0; i < shape->space_count; i++)
		for (int k = 0; k < shape->spaces[i].rank_count; k++) {
			struct affine *place = &shape->spaces[i].ranks[k];
			place->offset += place->coefficient[loop] * least;
			place->coefficient[tiles] = place->coefficient[loop] * size;
		}
	shape_finish(shape);
	return true;
}
