#include "model/recurrence/recurrence.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/lattice.h"
#include "base/number.h"
#include "base/text.h"
#include "spec/reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double term_value(const struct term *term, const struct term_values *values)
{
	const struct term *const *of = term->of;
	switch (term->kind) {
	case TERM_NUMBER:
		return term->number;
	case TERM_LOOP:
		return (double)values->point[term->index];
	case TERM_STREAM: {
		int64_t place[TERM_LOOPS_MOST] = {0};
		for (int i = 0; i < term->place_count; i++)
			place[i] = affine_value(&term->place[i], TERM_LOOPS_MOST, values->point);
		return values->read(values->user, term->index, place);
	}
	case TERM_NEGATE:
		return -term_value(of[0], values);
	case TERM_NOT:
		return term_value(of[0], values) == 0;
	case TERM_AND:
		return term_value(of[0], values) != 0 && term_value(of[1], values) != 0;
	case TERM_OR:
		return term_value(of[0], values) != 0 || term_value(of[1], values) != 0;
	case TERM_SELECT:
		if (term_value(of[0], values) != 0)
			return term_value(of[1], values);
		return of[2] ? term_value(of[2], values) : 0;
	default:
		break;
	}
	double a = term_value(of[0], values), b = term_value(of[1], values);
	switch (term->kind) {
	case TERM_ADD:
		return a + b;
	case TERM_SUBTRACT:
		return a - b;
	case TERM_MULTIPLY:
		return a * b;
	case TERM_DIVIDE:
		return a / b;
	case TERM_FLOOR:
		return floor(a / b);
	case TERM_REMAINDER:
		return a - b * floor(a / b);
	case TERM_MIN:
		return a < b ? a : b;
	case TERM_MAX:
		return a > b ? a : b;
	case TERM_EQUAL:
		return a == b;
	case TERM_UNEQUAL:
		return a != b;
	case TERM_LESS:
		return a < b;
	default:
		return a <= b;
	}
}

bool term_holds(const struct term *condition, const int64_t *point)
{
	struct term_values values = {.point = point};
	return !condition || term_value(condition, &values) != 0;
}

bool term_has_stream(const struct term *term)
{
	if (!term)
		return false;
	return term->kind == TERM_STREAM || term_has_stream(term->of[0]) ||
	       term_has_stream(term->of[1]) || term_has_stream(term->of[2]);
}

const struct term *term_make(struct arena *arena, enum term_kind kind, const struct term *a,
	const struct term *b, const struct term *c)
{
	struct term *term = arena_new(arena, struct term);
	*term = (struct term){.kind = kind, .of = {a, b, c}};
	for (int i = 0; i < 3; i++)
		if (term->of[i] && term->of[i]->height >= term->height)
			term->height = term->of[i]->height + 1;
	return term;
}

const struct term *term_number(struct arena *arena, double value)
{
	struct term *term = arena_new(arena, struct term);
	*term = (struct term){.kind = TERM_NUMBER, .number = value};
	return term;
}

const struct term *term_loop(struct arena *arena, int loop)
{
	struct term *term = arena_new(arena, struct term);
	*term = (struct term){.kind = TERM_LOOP, .index = loop};
	return term;
}

const struct term *term_and(struct arena *arena, const struct term *left, const struct term *right)
{
	if (!left || !right)
		return left ? left : right;
	return term_make(arena, TERM_AND, left, right, NULL);
}

const struct term *term_not(struct arena *arena, const struct term *of)
{
	return term_make(arena, TERM_NOT, of, NULL, NULL);
}

struct term_parser {
	struct scan scan;
	int depth;
	const struct term_names *names;
};

static const struct term *term_fail(struct term_parser *p, size_t from, size_t to, const char *text)
{
	scan_fail(&p->scan, from, to, text);
	return NULL;
}

static const struct term *fail_next(struct term_parser *p, const char *wanted)
{
	scan_fail_next(&p->scan, wanted);
	return NULL;
}

/* A sign such as "<=", or a word such as "and". */
static bool term_parser_take(struct term_parser *p, const char *sign)
{
	scan_next(&p->scan);
	size_t length = strlen(sign);
	if (strncmp(p->scan.text + p->scan.at, sign, length) != 0)
		return false;
	char next = p->scan.text[p->scan.at + length];
	if (scan_is_letter(sign[0]) ? scan_is_letter(next) || scan_is_digit(next)
				    : length == 1 && strchr("<>=!", sign[0]) && next == '=')
		return false;
	p->scan.at += length;
	return true;
}

static const struct term *make(struct term_parser *p, size_t from, enum term_kind kind,
	const struct term *a, const struct term *b, const struct term *c)
{
	int height = a->height;
	if (b && b->height > height)
		height = b->height;
	if (c && c->height > height)
		height = c->height;
	if (height == TERM_HEIGHT_MOST)
		return term_fail(p, from, p->scan.at, "this has more operators than can be read");
	struct term *term = arena_new(p->scan.arena, struct term);
	*term = (struct term){.kind = kind,
		.of = {a, b, c},
		.height = height + 1,
		.from = from,
		.to = p->scan.at};
	return term;
}

bool term_variable(const struct reading *reading, const char *name, double *out)
{
	const struct node *node = variables_node(reading->variables, name);
	return node && node_number(reading, node, name, out);
}

/* From the loosest to the tightest. */
enum operator_level { OR, AND, NOT, COMPARISON, SUM, PRODUCT, SIGN };

static const struct term *parse_level(struct term_parser *p, enum operator_level level);

/* The number of a loop; that of the end of the list: there is none of the name. */
static int find_loop(const struct term_names *names, const char *name)
{
	int loop = 0;
	while (names->loops[loop] && !text_equal(names->loops[loop], name))
		loop++;
	return loop;
}

static bool fail_name(
	struct scan *scan, const struct term_names *names, size_t from, const char *name)
{
	return scan_fail(scan, from, scan->at,
		arena_format(scan->arena, "'%s' is not a loop or a variable%s", name,
			suggestion(scan->arena, suggest(name, names->loops), "")));
}

static bool find_factor(
	struct scan *scan, const void *of, const struct word *name, int *loop, int64_t *number)
{
	const struct term_names *names = of;
	double value;
	*loop = find_loop(names, name->text);
	if (names->loops[*loop])
		return true;
	*loop = -1;
	if (!term_variable(names->reading, name->text, &value))
		return fail_name(scan, names, name->at, name->text);
	if (value != floor(value) || fabs(value) > (double)AFFINE_CONSTANT_MOST)
		return scan_fail(scan, name->at, name->end,
			"an index is a sum of loops, times whole numbers, and of whole numbers");
	*number = (int64_t)value;
	return true;
}

static bool parse_index(struct term_parser *p, struct affine *out)
{
	const struct affine_names names = {p->names, find_factor};
	struct affine_sum sum;
	*out = (struct affine){0};
	if (!affine_scan(&p->scan, &names, &sum) || !affine_add(&p->scan, &sum, out))
		return false;
	bool fits = out->offset <= AFFINE_CONSTANT_MOST && out->offset >= -AFFINE_CONSTANT_MOST;
	for (int i = 0; i < TERM_LOOPS_MOST; i++)
		fits &= out->coefficient[i] <= AFFINE_FACTOR_MOST &&
			out->coefficient[i] >= -AFFINE_FACTOR_MOST;
	return fits || scan_fail(&p->scan, sum.at, sum.end, "this index is too large");
}

static const struct term *parse_stream(struct term_parser *p, size_t from, const char *name)
{
	struct affine places[TERM_LOOPS_MOST];
	int count = 0;
	if (!term_parser_take(p, ")")) {
		do {
			if (count == TERM_LOOPS_MOST)
				return term_fail(p, from, p->scan.at, "more than 8 indices");
			if (!parse_index(p, &places[count++]))
				return NULL;
		} while (term_parser_take(p, ","));
		if (!term_parser_take(p, ")"))
			return fail_next(p, "',' or ')'");
	}
	int stream = p->names->stream ? p->names->stream(p->names->user, name) : 0;
	if (stream < 0)
		return term_fail(p, from, p->scan.at, "too many streams: at most 16");
	struct term *term = arena_new(p->scan.arena, struct term);
	*term = (struct term){.kind = TERM_STREAM,
		.index = stream,
		.place_count = count,
		.place = arena_copy(p->scan.arena, places, sizeof *places * (size_t)count),
		.from = from,
		.to = p->scan.at};
	return term;
}

static const struct term *parse_call(struct term_parser *p, size_t from, const char *name)
{
	bool select = text_equal(name, "select");
	if (!select && !text_equal(name, "min") && !text_equal(name, "max"))
		return parse_stream(p, from, name);
	const struct term *of[3] = {0};
	int count = 0, most = select ? 3 : 2;
	do {
		if (count == most)
			return fail_next(p, "')'");
		of[count] = parse_level(p, OR);
		if (!of[count++])
			return NULL;
	} while (term_parser_take(p, ","));
	if (!term_parser_take(p, ")"))
		return fail_next(p, count < most ? "',' or ')'" : "')'");
	if (count < 2)
		return term_fail(p, from, p->scan.at,
			select ? "select needs a condition and a value"
			       : "min and max need two values");
	return make(p, from,
		select                    ? TERM_SELECT
		: text_equal(name, "min") ? TERM_MIN
					  : TERM_MAX,
		of[0], of[1], of[2]);
}

static const struct term *parse_name(struct term_parser *p)
{
	size_t from = p->scan.at;
	const char *name = scan_word(&p->scan, "");
	if (term_parser_take(p, "("))
		return parse_call(p, from, name);
	struct term *term = arena_new(p->scan.arena, struct term);
	*term = (struct term){.kind = TERM_LOOP,
		.index = find_loop(p->names, name),
		.from = from,
		.to = p->scan.at};
	if (p->names->loops[term->index])
		return term;
	*term = (struct term){.kind = TERM_NUMBER, .index = -1, .from = from, .to = p->scan.at};
	if (term_variable(p->names->reading, name, &term->number))
		return term;
	fail_name(&p->scan, p->names, from, name);
	return NULL;
}

static const struct term *parse_primary(struct term_parser *p)
{
	char c = scan_next(&p->scan);
	size_t from = p->scan.at;
	if (term_parser_take(p, "(")) {
		const struct term *inner = parse_level(p, OR);
		if (inner && !term_parser_take(p, ")"))
			return fail_next(p, "')'");
		return inner;
	}
	if (scan_is_letter(c))
		return parse_name(p);
	if (!scan_is_digit(c) && c != '.')
		return fail_next(p, "a value");
	/* As strtod reads it, but neither hexadecimal nor infinite. */
	char *end;
	double number = strtod(p->scan.text + from, &end);
	size_t length = (size_t)(end - (p->scan.text + from));
	if (!length || memchr(p->scan.text + from, 'x', length) ||
		memchr(p->scan.text + from, 'X', length) || number > 1e300)
		return term_fail(p, from, from + (length ? length : 1), "this is not a number");
	p->scan.at = from + length;
	struct term *term = arena_new(p->scan.arena, struct term);
	*term = (struct term){
		.kind = TERM_NUMBER, .number = number, .from = from, .to = p->scan.at};
	return term;
}

static const struct term *parse_sign(struct term_parser *p)
{
	scan_next(&p->scan);
	size_t from = p->scan.at;
	if (++p->depth > TERM_HEIGHT_MOST)
		return term_fail(p, from, from + 1, "nested too deeply");
	const struct term *term;
	if (term_parser_take(p, "-")) {
		term = parse_sign(p);
		term = term ? make(p, from, TERM_NEGATE, term, NULL, NULL) : NULL;
	} else if (term_parser_take(p, "+")) {
		term = parse_sign(p);
	} else {
		term = parse_primary(p);
	}
	p->depth--;
	return term;
}

/* Operators by level, from left to right within one; a sign that another one begins with stands behind that. */
static const struct operator_sign {
	const char *sign;
	enum operator_level level;
	enum term_kind kind;
	bool swapped;
} signs[] = {
	{"||", OR, TERM_OR, false},
	{"or", OR, TERM_OR, false},
	{"&&", AND, TERM_AND, false},
	{"and", AND, TERM_AND, false},
	{"==", COMPARISON, TERM_EQUAL, false},
	{"!=", COMPARISON, TERM_UNEQUAL, false},
	{"<=", COMPARISON, TERM_AT_MOST, false},
	{">=", COMPARISON, TERM_AT_MOST, true},
	{"<", COMPARISON, TERM_LESS, false},
	{">", COMPARISON, TERM_LESS, true},
	{"+", SUM, TERM_ADD, false},
	{"-", SUM, TERM_SUBTRACT, false},
	{"*", PRODUCT, TERM_MULTIPLY, false},
	{"//", PRODUCT, TERM_FLOOR, false},
	{"/", PRODUCT, TERM_DIVIDE, false},
	{"%", PRODUCT, TERM_REMAINDER, false},
};

static const struct operator_sign *take_sign(struct term_parser *p, enum operator_level level)
{
	for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
		if (signs[i].level == level && term_parser_take(p, signs[i].sign))
			return &signs[i];
	return NULL;
}

static bool compares(const struct term *term)
{
	return term->kind >= TERM_EQUAL && term->kind <= TERM_AT_MOST;
}

/* a < b < c, which is (a < b) < c: what was written first is itself a comparison. */
static bool is_chain(const struct term_parser *p, const struct term *term)
{
	if (!compares(term) || p->scan.text[term->from] == '(')
		return false;
	return compares(term->of[0]->from < term->of[1]->from ? term->of[0] : term->of[1]);
}

static const struct term *parse_not(struct term_parser *p, size_t from)
{
	if (++p->depth > TERM_HEIGHT_MOST)
		return term_fail(p, from, from + 1, "nested too deeply");
	const struct term *inner = parse_level(p, NOT);
	p->depth--;
	return inner ? make(p, from, TERM_NOT, inner, NULL, NULL) : NULL;
}

static const struct term *parse_level(struct term_parser *p, enum operator_level level)
{
	scan_next(&p->scan);
	size_t from = p->scan.at;
	if (level == SIGN)
		return parse_sign(p);
	if (level == NOT && (term_parser_take(p, "!") || term_parser_take(p, "not")))
		return parse_not(p, from);
	const struct term *left = parse_level(p, level + 1);
	const struct operator_sign *sign = NULL;
	while (left && (sign = take_sign(p, level))) {
		const struct term *right = parse_level(p, level + 1);
		if (!right)
			return NULL;
		left = make(p, from, sign->kind, sign->swapped ? right : left,
			sign->swapped ? left : right, NULL);
	}
	if (left && level == COMPARISON && is_chain(p, left))
		return term_fail(p, left->from, left->to,
			"comparisons do not chain: write 'a <= b and b < c'");
	return left;
}

const struct term *term_parse(struct arena *arena, const char *text, size_t *at,
	const struct term_names *names, struct scan_fault *fault)
{
	struct term_parser p = {{arena, text, " \t", "equation", *at, fault}, 0, names};
	const struct term *term = parse_level(&p, OR);
	*at = p.scan.at;
	return term;
}

const struct term *term_parse_place(struct arena *arena, const char *text, size_t *at,
	const struct term_names *names, struct scan_fault *fault)
{
	struct term_parser p = {{arena, text, " \t", "equation", *at, fault}, 0, names};
	scan_next(&p.scan);
	size_t from = p.scan.at;
	const char *name = scan_word(&p.scan, "");
	const struct term *place;
	if (!name)
		place = fail_next(&p, "the name of a stream");
	else if (!term_parser_take(&p, "("))
		place = fail_next(&p, "'('");
	else
		place = parse_stream(&p, from, name);
	*at = p.scan.at;
	return place;
}

int recurrence_stream_named(const struct recurrence *recurrence, const char *name)
{
	for (int i = 0; i < recurrence->stream_count; i++)
		if (text_equal(recurrence->streams[i].name, name))
			return i;
	return -1;
}

bool recurrence_holds(const struct recurrence *recurrence, const int64_t *point)
{
	for (int i = 0; i < recurrence->loop_count; i++) {
		const struct loop *loop = &recurrence->loops[i];
		if (point[i] < loop->least || point[i] - loop->least >= loop->extent)
			return false;
	}
	return term_holds(recurrence->domain, point);
}

static bool step(const struct recurrence *recurrence, int64_t *point)
{
	for (int i = recurrence->loop_count - 1; i >= 0; i--) {
		const struct loop *loop = &recurrence->loops[i];
		if (++point[i] - loop->least < loop->extent)
			return true;
		point[i] = loop->least;
	}
	return false;
}

bool recurrence_first(const struct recurrence *recurrence, int64_t *point)
{
	for (int i = 0; i < recurrence->loop_count; i++)
		point[i] = recurrence->loops[i].least;
	return term_holds(recurrence->domain, point) || recurrence_next(recurrence, point);
}

bool recurrence_next(const struct recurrence *recurrence, int64_t *point)
{
	while (step(recurrence, point))
		if (term_holds(recurrence->domain, point))
			return true;
	return false;
}

int64_t recurrence_box(const struct recurrence *recurrence)
{
	int64_t points;
	bool fits = loops_points(recurrence->loops, recurrence->loop_count, &points);
	return fits ? points : INT64_MAX;
}

bool recurrence_producer(const struct recurrence *recurrence, const struct dependence *dependence,
	const int64_t *consumer, int64_t *producer)
{
	for (int i = 0; i < recurrence->loop_count; i++)
		producer[i] = consumer[i] - dependence->vector[i];
	return recurrence_holds(recurrence, consumer) && recurrence_holds(recurrence, producer) &&
	       term_holds(dependence->when, consumer);
}

bool recurrence_writes(const struct stream *output, const int64_t *point)
{
	const struct term *body = output->body;
	bool bare = body->kind == TERM_SELECT && !body->of[2];
	return !bare || term_holds(body->of[0], point);
}

/* Inputs and the stream itself at other points, one of them chosen by conditions. */
static bool is_copy(const struct recurrence *recurrence, int stream, const struct term *body)
{
	switch (body->kind) {
	case TERM_NUMBER:
		return true;
	case TERM_STREAM:
		return body->index == stream ||
		       recurrence->streams[body->index].kind == STREAM_INPUT;
	case TERM_SELECT:
		return is_copy(recurrence, stream, body->of[1]) &&
		       is_copy(recurrence, stream, body->of[2]);
	default:
		return false;
	}
}

uint32_t recurrence_copies(const struct recurrence *recurrence)
{
	uint32_t copies = 0;
	for (int s = 0; s < recurrence->stream_count; s++)
		if (recurrence->streams[s].kind == STREAM_RECURRENT &&
			is_copy(recurrence, s, recurrence->streams[s].body))
			copies |= UINT32_C(1) << s;
	return copies;
}

bool projection_has_lanes(const struct projection *projection)
{
	bool any = false;
	for (int r = 0; r < RECURRENCE_LOOPS_MOST; r++)
		any |= projection->lanes[r] != 0;
	return any;
}

const struct term *recurrence_read(
	struct arena *arena, const struct recurrence *recurrence, int stream, const int64_t *vector)
{
	struct affine *place = arena_array(arena, struct affine, recurrence->loop_count);
	for (int i = 0; i < recurrence->loop_count; i++) {
		place[i].coefficient[i] = 1;
		place[i].offset = -vector[i];
	}
	struct term *term = arena_new(arena, struct term);
	*term = (struct term){.kind = TERM_STREAM,
		.index = stream,
		.place_count = recurrence->loop_count,
		.place = place};
	return term;
}

/* A condition, asked at the point that lies `vector` before. */
static const struct term *shifted(
	struct arena *arena, const struct term *term, const int64_t *vector)
{
	if (term->kind == TERM_LOOP)
		return term_make(arena, TERM_SUBTRACT, term,
			term_number(arena, (double)vector[term->index]), NULL);
	struct term *copy = arena_new(arena, struct term);
	*copy = *term;
	for (int i = 0; i < 3 && term->of[i]; i++)
		copy->of[i] = shifted(arena, term->of[i], vector);
	return copy;
}

const struct term *recurrence_inside(
	struct arena *arena, const struct recurrence *recurrence, const int64_t *vector)
{
	const struct term *all = NULL;
	for (int i = 0; i < recurrence->loop_count; i++) {
		const struct loop *range = &recurrence->loops[i];
		double first = (double)(range->least + vector[i]);
		double end = (double)(range->least + range->extent + vector[i]);
		if (vector[i] > 0)
			all = term_and(arena, all,
				term_make(arena, TERM_AT_MOST, term_number(arena, first),
					term_loop(arena, i), NULL));
		if (vector[i] < 0)
			all = term_and(arena, all,
				term_make(arena, TERM_LESS, term_loop(arena, i),
					term_number(arena, end), NULL));
	}
	return recurrence->domain ? term_and(arena, all, shifted(arena, recurrence->domain, vector))
				  : all;
}

void recurrence_invent(struct arena *arena, struct recurrence *recurrence)
{
	for (int s = 0; s < recurrence->stream_count; s++) {
		const struct term *sum = term_number(arena, 1 + s);
		for (int i = 0; i < recurrence->loop_count; i++)
			sum = term_make(arena, TERM_ADD, sum,
				term_make(arena, TERM_MULTIPLY, term_number(arena, 2 * i + 3),
					term_loop(arena, i), NULL),
				NULL);
		for (int d = 0; d < recurrence->dependence_count; d++) {
			const struct dependence *dependence = &recurrence->dependences[d];
			if (dependence->stream != s)
				continue;
			/* No two weights are alike, and they add up to less than one. */
			const struct term *weighted = term_make(arena, TERM_DIVIDE,
				recurrence_read(arena, recurrence, s, dependence->vector),
				term_number(arena, recurrence->dependence_count + 1 + d), NULL);
			const struct term *there = term_and(arena, dependence->when,
				recurrence_inside(arena, recurrence, dependence->vector));
			if (there)
				weighted = term_make(
					arena, TERM_SELECT, there, weighted, term_number(arena, 0));
			sum = term_make(arena, TERM_ADD, sum, weighted, NULL);
		}
		recurrence->streams[s].body = sum;
	}
}

/* One loop split in two: `outer` of steps of `size`, and itself. */
struct split {
	struct arena *arena;
	const struct recurrence *from; /* as it was; `outer` is a loop that it has not */
	int loop, outer;
	int64_t size, least;
};

/* The value of the split loop: least + size * outer + inner. */
static const struct term *whole(const struct split *split)
{
	return term_make(split->arena, TERM_ADD, term_number(split->arena, split->least),
		term_make(split->arena, TERM_ADD,
			term_make(split->arena, TERM_MULTIPLY,
				term_number(split->arena, split->size),
				term_loop(split->arena, split->outer), NULL),
			term_loop(split->arena, split->loop), NULL),
		NULL);
}

static struct affine split_sum(const struct split *split, const struct affine *sum)
{
	struct affine out = *sum;
	out.coefficient[split->outer] = sum->coefficient[split->loop] * split->size;
	out.offset += sum->coefficient[split->loop] * split->least;
	return out;
}

/* A read of a recurrent stream: its vector, with `tiles` of it in the outer loop. */
static const struct term *read_at(const struct split *split, const struct term *term, int64_t tiles)
{
	int loops = split->from->loop_count + 1;
	struct affine *place = arena_array(split->arena, struct affine, loops);
	for (int i = 0; i < loops - 1; i++) {
		place[i] = term->place[i];
		place[i].coefficient[split->outer] = 0;
	}
	place[split->loop].offset += tiles * split->size;
	place[split->outer] = (struct affine){.offset = -tiles};
	place[split->outer].coefficient[split->outer] = 1;
	struct term *read = arena_new(split->arena, struct term);
	*read = *term;
	read->place = place;
	read->place_count = loops;
	return read;
}

/* Tiles back that the producer of a loop's distance e lies, from the first inner index of a group
 * on: inner indices below e mod size reach one tile farther. */
static int64_t tiles_back(const struct split *split, int64_t distance)
{
	return distance / split->size - (distance % split->size < 0);
}

static int64_t rest_of(const struct split *split, int64_t distance)
{
	return distance - tiles_back(split, distance) * split->size;
}

/* The inner index is at least so much: there the producer is in the nearer tile. */
static const struct term *is_near(const struct split *split, int64_t rest)
{
	return term_make(split->arena, TERM_AT_MOST, term_number(split->arena, rest),
		term_loop(split->arena, split->loop), NULL);
}

static const struct term *split_term(const struct split *split, const struct term *term)
{
	if (!term)
		return NULL;
	if (term->kind == TERM_LOOP)
		return term->index == split->loop ? whole(split) : term;
	if (term->kind == TERM_STREAM &&
		split->from->streams[term->index].kind == STREAM_RECURRENT) {
		int64_t distance = -term->place[split->loop].offset;
		int64_t tiles = tiles_back(split, distance), rest = rest_of(split, distance);
		if (!rest)
			return read_at(split, term, tiles);
		return term_make(split->arena, TERM_SELECT, is_near(split, rest),
			read_at(split, term, tiles), read_at(split, term, tiles + 1));
	}
	struct term *out = arena_new(split->arena, struct term);
	*out = *term;
	if (term->kind == TERM_STREAM) {
		struct affine *place = arena_array(split->arena, struct affine, term->place_count);
		for (int i = 0; i < term->place_count; i++)
			place[i] = split_sum(split, &term->place[i]);
		out->place = place;
	}
	for (int i = 0; i < 3; i++) {
		out->of[i] = split_term(split, term->of[i]);
		if (out->of[i] && out->of[i]->height >= out->height)
			out->height = out->of[i]->height + 1;
	}
	return out;
}

static bool add_dependence(const struct split *split, struct recurrence *out,
	const struct dependence *from, int64_t tiles, const struct term *when)
{
	if (out->dependence_count == RECURRENCE_DEPENDENCES_MOST)
		return false;
	struct dependence *to = &out->dependences[out->dependence_count++];
	*to = *from;
	to->vector[split->loop] -= tiles * split->size;
	to->vector[split->outer] = tiles;
	to->when = term_and(split->arena, split_term(split, from->when), when);
	return true;
}

/* A dependence that crosses the seams of tiles is two. */
static bool split_dependences(const struct split *split, struct recurrence *out)
{
	out->dependence_count = 0;
	for (int d = 0; d < split->from->dependence_count; d++) {
		const struct dependence *from = &split->from->dependences[d];
		int64_t distance = from->vector[split->loop];
		int64_t tiles = tiles_back(split, distance), rest = rest_of(split, distance);
		const struct term *near = rest ? is_near(split, rest) : NULL;
		if (!add_dependence(split, out, from, tiles, near))
			return false;
		if (rest &&
			!add_dependence(split, out, from, tiles + 1, term_not(split->arena, near)))
			return false;
	}
	return true;
}

static bool split_loop(struct arena *arena, int index, int64_t size, struct recurrence *recurrence)
{
	struct recurrence *from = arena_copy(arena, recurrence, sizeof *recurrence);
	struct loop *inner = &recurrence->loops[index];
	struct split split = {arena, from, index, from->loop_count, size, inner->least};
	int64_t extent = inner->extent, tiles = extent / size + (extent % size != 0);
	recurrence->loops[recurrence->loop_count++] =
		(struct loop){.name = arena_format(arena, "%s_tile", inner->name), .extent = tiles};
	*inner = (struct loop){.name = inner->name, .extent = size};
	recurrence->domain = split_term(&split, from->domain);
	if (extent % size)
		recurrence->domain = term_and(arena, recurrence->domain,
			term_make(split.arena, TERM_LESS, whole(&split),
				term_number(split.arena, split.least + extent), NULL));
	for (int s = 0; s < recurrence->stream_count; s++) {
		struct stream *stream = &recurrence->streams[s];
		stream->body = split_term(&split, from->streams[s].body);
		if (stream->kind == STREAM_RECURRENT)
			stream->rank = recurrence->loop_count;
		if (stream->kind != STREAM_OUTPUT)
			continue;
		struct affine *place = arena_array(arena, struct affine, stream->rank);
		for (int i = 0; i < stream->rank; i++)
			place[i] = split_sum(&split, &from->streams[s].place[i]);
		stream->place = place;
	}
	return split_dependences(&split, recurrence);
}

static void insert_time(struct projection *projection, int at, int loop, const char *name)
{
	size_t after = (size_t)(projection->time_count++ - at);
	memmove(projection->time + at + 1, projection->time + at, sizeof *projection->time * after);
	memmove(projection->time_names + at + 1, projection->time_names + at,
		sizeof *projection->time_names * after);
	memset(projection->time[at], 0, sizeof projection->time[at]);
	projection->time[at][loop] = 1;
	projection->time_names[at] = name;
}

bool recurrence_fold(
	struct arena *arena, const struct fold *fold, struct space_time *spec, const char **why)
{
	struct recurrence *recurrence = &spec->recurrence;
	struct projection *projection = &spec->projection;
	int rows = projection->space_count < fold->row_count ? projection->space_count
							     : fold->row_count;
	*why = NULL;
	for (int r = 0; r < rows && !*why; r++) {
		int loop = lattice_unit(projection->space[r], recurrence->loop_count);
		if (loop < 0)
			*why = "only rows of the allocation that are one loop can be folded";
		else if (recurrence->loops[loop].extent > fold->sizes[r] &&
			 (recurrence->loop_count == RECURRENCE_LOOPS_MOST ||
				 projection->time_count == RECURRENCE_LOOPS_MOST))
			*why = "folding needs a loop more for each row, and there are eight at most";
		if (*why || recurrence->loops[loop].extent <= fold->sizes[r])
			continue;
		int64_t extent = recurrence->loops[loop].extent, size = fold->sizes[r];
		int outer = recurrence->loop_count;
		if (fold->order ==
			FOLD_BLOCKS) /* a PE's block; blocks are as even as they can be */
			size = extent / fold->sizes[r] + (extent % fold->sizes[r] != 0);
		if (!split_loop(arena, loop, size, recurrence)) {
			*why = "folding makes more than 64 dependences";
			continue;
		}
		if (fold->order == FOLD_TILES) {
			/* Within a tile, time is as it was: the tile's own loop says when it runs. */
			insert_time(projection, 0, outer, recurrence->loops[outer].name);
			continue;
		}
		for (int t = 0; t < projection->time_count; t++)
			projection->time[t][outer] = projection->time[t][loop] * size;
		insert_time(projection, projection->time_count, loop,
			arena_format(arena, "%s_block", recurrence->loops[loop].name));
		memset(projection->space[r], 0, sizeof projection->space[r]);
		projection->space[r][outer] = 1;
	}
	projection->reverse_count = 0;
	memset(projection->reverse, 0, sizeof projection->reverse);
	return !*why;
}
