#include "model/recurrence/space_time_read.h"

#include "base/arena.h"
#include "base/scan.h"
#include "base/text.h"

#include <math.h>
#include <string.h>

struct transform_text {
	const struct reading *reading;
	const struct node *text;
	const struct recurrence *recurrence;
	struct projection *projection;
	size_t at;
};

static char look(struct transform_text *call)
{
	call->at += strspn(call->text->text + call->at, " \t\r\n");
	return call->text->text[call->at];
}

static bool refuse(struct transform_text *call, size_t from, size_t to, const char *why)
{
	diag_error(call->reading->diag, node_part(call->text, from, to), "%s", why);
	return false;
}

static bool take(struct transform_text *call, char wanted)
{
	if (look(call) != wanted)
		return false;
	call->at++;
	return true;
}

static bool expect(struct transform_text *call, char wanted, const char *where)
{
	char found = look(call);
	if (found == wanted) {
		call->at++;
		return true;
	}
	return refuse(call, call->at, call->at + (found != 0),
		arena_format(call->reading->arena, "'%c' is expected %s", wanted, where));
}

static const char *take_word(struct transform_text *call)
{
	look(call);
	size_t from = call->at;
	while (scan_is_letter(call->text->text[call->at]) ||
		scan_is_digit(call->text->text[call->at]))
		call->at++;
	if (call->at == from) {
		refuse(call, from, from + (call->text->text[from] != 0), "a name is expected here");
		return NULL;
	}
	return arena_format(
		call->reading->arena, "%.*s", (int)(call->at - from), call->text->text + from);
}

static bool parse_reverse(struct transform_text *call, int loop)
{
	const char *known[3 * RECURRENCE_LOOPS_MOST + 1];
	struct term_names names = {.reading = call->reading, .loops = known};
	struct term_fault fault;
	struct projection *projection = call->projection;
	int spaces = projection->space_count, times = projection->time_count;
	size_t from = call->at;
	memcpy(known, projection->space_names, sizeof *known * (size_t)spaces);
	memcpy(known + spaces, projection->time_names, sizeof *known * (size_t)times);
	recurrence_loop_names(call->recurrence, known + spaces + times);
	const struct term *term =
		term_parse(call->reading->arena, call->text->text, &call->at, &names, &fault);
	if (!term)
		return refuse(call, fault.from, fault.to, fault.text);
	if (term_has_stream(term))
		return refuse(call, from, call->at, "a reverse transform reads no streams");
	if (projection->reverse[loop])
		return refuse(call, from, call->at,
			arena_format(call->reading->arena, "'%s' has a reverse already",
				call->recurrence->loops[loop].name));
	projection->reverse[loop] = term;
	projection->reverse_order[projection->reverse_count++] = loop;
	return true;
}

bool space_time_reverse(const struct reading *reading, const struct node *text, size_t *at,
	const struct recurrence *recurrence, int loop, struct projection *projection)
{
	struct transform_text call = {reading, text, recurrence, projection, *at};
	bool good = parse_reverse(&call, loop);
	*at = call.at;
	if (good && look(&call))
		return refuse(&call, call.at, call.at + 1, "the value should end here");
	return good;
}

/* The loops that no row of time or space names, as rows of time outside all others. */
static void add_outer_loops(
	const struct recurrence *recurrence, uint32_t named, struct projection *projection)
{
	int outer = 0, count = projection->time_count;
	for (int i = 0; i < recurrence->loop_count; i++)
		outer += !(named >> i & 1);
	memmove(projection->time + outer, projection->time,
		sizeof *projection->time * (size_t)count);
	memmove(projection->time_names + outer, projection->time_names,
		sizeof *projection->time_names * (size_t)count);
	for (int i = 0, row = 0; i < recurrence->loop_count; i++) {
		if (named >> i & 1)
			continue;
		memset(projection->time[row], 0, sizeof projection->time[row]);
		projection->time[row][i] = 1;
		projection->time_names[row++] = recurrence->loops[i].name;
	}
	projection->time_count += outer;
}

/* {c, q} */
static bool parse_sources(struct transform_text *call, int *loops, int *count)
{
	uint32_t seen = 0;
	if (!expect(call, '{', "before the source loops"))
		return false;
	do {
		look(call);
		size_t from = call->at;
		const char *name = take_word(call);
		if (!name)
			return false;
		int loop = recurrence_loop_named(call->recurrence, name);
		if (loop < 0 || seen >> loop & 1) {
			const char *near =
				loop < 0 ? recurrence_loop_near(call->recurrence, name) : NULL;
			return refuse(call, from, call->at,
				arena_format(call->reading->arena, "'%s' is %s%s", name,
					loop < 0 ? "no loop" : "named twice",
					suggestion(call->reading->arena, near, "")));
		}
		seen |= UINT32_C(1) << loop;
		loops[(*count)++] = loop;
	} while (take(call, ','));
	return expect(call, '}', "after the source loops");
}

/* {k, t} */
static bool parse_rows(struct transform_text *call, int most)
{
	struct projection *projection = call->projection;
	const char *names[RECURRENCE_LOOPS_MOST];
	int count = 0;
	if (!expect(call, '{', "before the destination loops"))
		return false;
	do {
		look(call);
		size_t from = call->at;
		if (!(names[count] = take_word(call)))
			return false;
		for (int i = 0; i < count; i++)
			if (text_equal(names[i], names[count]))
				return refuse(call, from, call->at, "this name is taken");
		if (++count > most)
			return refuse(call, from, call->at,
				"there are more destination loops than source loops");
	} while (take(call, ','));
	projection->space_count = count - 1;
	projection->time_count = 1;
	memcpy(projection->space_names, names, sizeof *names * (size_t)(count - 1));
	projection->time_names[0] = names[count - 1];
	return expect(call, '}', "after the destination loops");
}

static bool parse_entry(struct transform_text *call, int64_t *out)
{
	bool negative = take(call, '-');
	look(call);
	size_t from = call->at;
	int64_t value = 0;
	const char *text = call->text->text;
	for (; text[call->at] >= '0' && text[call->at] <= '9'; call->at++)
		if (value < PROJECTION_ENTRY_MOST)
			value = 10 * value + (text[call->at] - '0');
	double number = (double)value;
	if (call->at == from) {
		const char *name = take_word(call);
		if (!name)
			return false;
		if (!term_variable(call->reading, name, &number) || number != floor(number))
			return refuse(call, from, call->at,
				arena_format(call->reading->arena,
					"'%s' is no variable with a whole number", name));
	}
	if (number > PROJECTION_ENTRY_MOST || number < -PROJECTION_ENTRY_MOST)
		return refuse(call, from, call->at, "entries go up to 1000000");
	*out = negative ? -(int64_t)number : (int64_t)number;
	return true;
}

/* {1, 1, 0, 1}: a row of all source loops for each destination loop. */
static bool parse_matrix(struct transform_text *call, const int *loops, int count)
{
	struct projection *projection = call->projection;
	int rows = projection->space_count + 1;
	if (!expect(call, '{', "before the matrix"))
		return false;
	for (int r = 0; r < rows; r++)
		for (int c = 0; c < count; c++) {
			int64_t *row = r < rows - 1 ? projection->space[r] : projection->time[0];
			if ((r || c) &&
				!expect(call, ',',
					arena_format(call->reading->arena,
						"here: the matrix has %d rows of %d", rows, count)))
				return false;
			if (!parse_entry(call, &row[loops[c]]))
				return false;
		}
	return expect(
		call, '}', arena_format(call->reading->arena, "after %d rows of %d", rows, count));
}

/* {q, t, c, k - q} */
static bool parse_reverses(struct transform_text *call)
{
	call->at++;
	do {
		look(call);
		size_t from = call->at;
		const char *name = take_word(call);
		if (!name)
			return false;
		int loop = recurrence_loop_named(call->recurrence, name);
		if (loop < 0)
			return refuse(call, from, call->at,
				arena_format(call->reading->arena, "'%s' is no source loop", name));
		if (!expect(call, ',', "between a source loop and its value") ||
			!parse_reverse(call, loop))
			return false;
	} while (take(call, ','));
	return expect(call, '}', "after the reverse transform");
}

static bool parse_flag(struct transform_text *call)
{
	look(call);
	size_t from = call->at;
	const char *name = take_word(call);
	if (!name)
		return false;
	if (text_equal(name, "SpaceTimeTransform")) {
		if (!expect(call, ':', "after SpaceTimeTransform") ||
			!expect(call, ':', "after SpaceTimeTransform") || !(name = take_word(call)))
			return false;
	}
	if (!text_equal(name, "NoCheckTime") && !text_equal(name, "CheckTime"))
		return refuse(call, from, call->at, "this is neither CheckTime nor NoCheckTime");
	return true;
}

bool space_time_call(const struct reading *reading, const struct node *text,
	const struct recurrence *recurrence, struct projection *out)
{
	struct transform_text call = {reading, text, recurrence, out, 0};
	int loops[RECURRENCE_LOOPS_MOST], count = 0;
	look(&call);
	size_t from = call.at;
	const char *name = take_word(&call);
	if (name && take(&call, '.')) { /* Z.space_time_transform(...) */
		look(&call);
		from = call.at;
		name = take_word(&call);
	}
	if (!name)
		return false;
	if (!text_equal(name, "space_time_transform"))
		return refuse(&call, from, call.at, "space_time_transform is expected here");
	out->span = text->span;
	if (!expect(&call, '(', "after space_time_transform") ||
		!parse_sources(&call, loops, &count) ||
		!expect(&call, ',', "after the source loops") || !parse_rows(&call, count) ||
		!expect(&call, ',', "after the destination loops") ||
		!parse_matrix(&call, loops, count))
		return false;
	uint32_t named = 0;
	for (int i = 0; i < count; i++)
		named |= UINT32_C(1) << loops[i];
	add_outer_loops(recurrence, named, out);
	while (take(&call, ','))
		if (look(&call) == '{' ? !parse_reverses(&call) : !parse_flag(&call))
			return false;
	if (!expect(&call, ')', "at the end"))
		return false;
	take(&call, ';');
	return !look(&call) || refuse(&call, call.at, call.at + 1, "the call should end here");
}
