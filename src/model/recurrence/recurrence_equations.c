#include "model/recurrence/recurrence_equations.h"

#include "base/arena.h"
#include "base/text.h"

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

static bool refuse(const struct equations_draft *draft, size_t from, size_t to, const char *why)
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
	return refuse(draft, term->from, term->to, why);
}

/* The loop that an index is, plus *constant; -1. */
static int plain_loop(
	const struct recurrence *recurrence, const struct loop_sum *index, int64_t *constant)
{
	int loop = -1;
	for (int i = 0; i < recurrence->loop_count; i++) {
		if (!index->at[i])
			continue;
		if (loop >= 0 || index->at[i] != 1)
			return -1;
		loop = i;
	}
	*constant = index->constant;
	return loop;
}

/* True if the left side lists every loop once: then *axes are the loops. */
static bool lists_loops(const struct recurrence *recurrence, const struct term *left, int *axes)
{
	uint32_t seen = 0;
	int64_t constant = 0;
	if (left->place_count != recurrence->loop_count)
		return false;
	for (int i = 0; i < left->place_count; i++) {
		axes[i] = plain_loop(recurrence, &left->place[i], &constant);
		if (axes[i] < 0 || constant || seen >> axes[i] & 1)
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
	struct term_fault fault;
	recurrence_loop_names(draft->recurrence, loops);
	const struct term *left = term_parse_place(arena, text, at, &names, &fault);
	if (!left)
		return refuse(draft, fault.from, fault.to, fault.text);
	while (text[*at] == ' ' || text[*at] == '\t')
		++*at;
	if (text[*at] != '=')
		return refuse(draft, *at, *at + (text[*at] != 0),
			"'=' is expected after the left side of an equation");
	++*at;
	const struct term *right = term_parse(arena, text, at, &names, &fault);
	if (!right)
		return refuse(draft, fault.from, fault.to, fault.text);
	while (text[*at] == ' ' || text[*at] == '\t' || text[*at] == '\r')
		++*at;
	if (text[*at] && text[*at] != '\n' && text[*at] != ';')
		return refuse(draft, *at, *at + 1, "the equation should end here");
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
	struct loop_sum *place = arena_array(arena, struct loop_sum, recurrence->loop_count);
	int64_t vector[RECURRENCE_LOOPS_MOST] = {0}, point[RECURRENCE_LOOPS_MOST];
	bool moves = false;
	for (int i = 0; i < term->place_count; i++) {
		int64_t constant = 0;
		if (plain_loop(recurrence, &term->place[i], &constant) != axes[i]) {
			refuse_term(draft, term,
				arena_format(arena,
					"not a uniform recurrence: index %d of '%s' must be '%s' "
					"plus a number",
					i + 1, stream->name, recurrence->loops[axes[i]].name));
			return NULL;
		}
		place[axes[i]] = term->place[i];
		vector[axes[i]] = -constant;
		moves |= constant != 0;
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
			if (term->place[i].constant)
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
		return refuse(&draft, 0, strlen(bytes),
			"no equation has all loops on its left side, so there is no recurrence");
	for (int i = 0; i < recurrence->stream_count; i++)
		if (is_circular(recurrence, i, states))
			return refuse_term(&draft, draft.equations[i].left,
				arena_format(reading->arena,
					"'%s' is needed to compute itself at the same point",
					recurrence->streams[i].name));
	recurrence->has_bodies = true;
	return true;
}
