#include "campaign/range.h"

#include "base/arena.h"
#include "base/array.h"
#include "spec/expr.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* --- text */

/* The fewest digits that are read as the same number. */
static const char *real_text(struct arena *arena, double real)
{
	for (int digits = 6; digits < 17; digits++) {
		const char *text = arena_format(arena, "%.*g", digits, real);
		if (strtod(text, NULL) == real)
			return text;
	}
	return arena_format(arena, "%.17g", real);
}

static bool ends_in_decimals(int64_t den)
{
	while (den % 2 == 0)
		den /= 2;
	while (den % 5 == 0)
		den /= 5;
	return den == 1;
}

const char *value_text(struct arena *arena, struct value value)
{
	static const char *const units[] = {
		[QUANTITY_BARE] = "",
		[QUANTITY_SIZE] = "B",
		[QUANTITY_TIME] = "ns",
		[QUANTITY_CLOCK] = "GHz",
		[QUANTITY_RATE] = "GB/s",
		[QUANTITY_ENERGY] = "pJ",
		[QUANTITY_OTHER] = NULL,
	};
	const char *unit = units[value_quantity(value)];
	if (!unit)
		return NULL;
	if (!value.exact)
		return arena_format(arena, "%s%s", real_text(arena, value.real), unit);
	if (value.den == 1)
		return arena_format(arena, "%" PRId64 "%s", value.num, unit);
	if (ends_in_decimals(value.den) && fabs(value.real) < 1e9 && value.den <= 1000000)
		return arena_format(arena, "%s%s", real_text(arena, value.real), unit);
	return arena_format(arena, "%" PRId64 "/%" PRId64 "%s%s", value.num, value.den,
		*unit ? " * " : "", unit);
}

/* --- values */

struct range_draft {
	const struct node *map;
	const struct reading *reading;
	struct value from, to;
	struct array(const struct node *) values;
};

bool range_is(const struct node *node)
{
	return node->kind == NODE_MAP && node_find(node, "from");
}

static bool read_value(struct reader *reader, const char *key, enum need need, struct value *out)
{
	const struct node *node = read_node(reader, key, need);
	return node && expr_read(reader->reading->diag, reader->reading->variables, node,
			       reader_place(reader, key), out);
}

static bool refuse(const struct range_draft *range, const char *why)
{
	return reading_refuse(range->reading, range->map, "the range %s", why);
}

/* Below, at or above 0: a - b.  What is wrong in words, or NULL. */
static const char *compare(struct value a, struct value b, int *sign)
{
	struct value rest;
	const char *why = value_sub(a, b, &rest);
	if (!why)
		*sign = (rest.real > 0) - (rest.real < 0);
	return why;
}

static bool add(struct range_draft *range, struct value value)
{
	struct arena *arena = range->reading->arena;
	const char *text = value_text(arena, value);
	if (!text)
		return refuse(range, "is of no unit that has a name");
	if (range->values.count == RANGE_MOST)
		return refuse(range, "has more than a million values");
	*array_add(arena, &range->values) = node_scalar(arena, text, range->map->span);
	return true;
}

/* from, next(from), .. while it is on this side of `to`. */
static bool walk(struct range_draft *range, struct value by,
	const char *(*next)(struct value, struct value, struct value *))
{
	int way = 0, side = 0, moved = 0;
	struct value at = range->from, after;
	const char *why = compare(range->to, range->from, &way);
	while (!why) {
		why = compare(range->to, at, &side);
		if (why || (side && side != way))
			break;
		if (!add(range, at))
			return false;
		why = next(at, by, &after);
		if (!why)
			why = compare(after, at, &moved);
		if (!why && moved != way && way)
			return refuse(range, "never reaches its end by such steps");
		if (!way)
			break;
		at = after;
	}
	return why ? refuse(range, why) : true;
}

static bool is_whole(struct value value)
{
	return value.exact && value.den == 1;
}

static bool spread(struct range_draft *range, int64_t count)
{
	struct value ratio = {0};
	const char *why = range->from.real > 0 && range->to.real > 0
				  ? value_div(range->to, range->from, &ratio)
				  : "wants ends above 0 for equal ratios";
	if (!why && value_quantity(ratio) != QUANTITY_BARE)
		why = "has ends of different units";
	double last = 0;
	bool whole = is_whole(range->from) && is_whole(range->to);
	for (int64_t i = 0; !why && i < count; i++) {
		double real = range->from.real *
			      pow(ratio.real, count > 1 ? (double)i / (double)(count - 1) : 0);
		struct value value = i + 1 == count && count > 1 ? range->to : value_real(real);
		if (whole && !value.exact)
			value = value_whole((int64_t)llround(real));
		value.bytes = range->from.bytes;
		value.time = range->from.time;
		value.energy = range->from.energy;
		if (i && value.real == last) /* whole numbers lie too close */
			continue;
		last = value.real;
		if (!add(range, value))
			return false;
	}
	return why ? refuse(range, why) : true;
}

const struct node *const *range_read(struct reader *reader, size_t *count)
{
	struct range_draft range = {.map = reader->map, .reading = reader->reading};
	struct value by = value_whole(1);
	int64_t parts = 0;
	bool good = read_value(reader, "from", REQUIRED, &range.from);
	good &= read_value(reader, "to", REQUIRED, &range.to);
	const struct node *step = read_node(reader, "step", OPTIONAL);
	const struct node *factor = read_node(reader, "factor", OPTIONAL);
	const struct node *points = read_node(reader, "count", OPTIONAL);
	if (!good)
		return NULL;
	if ((step != NULL) + (factor != NULL) + (points != NULL) > 1) {
		refuse(&range, "has one of 'step', 'factor' and 'count'");
		return NULL;
	}
	if (points)
		good = read_integer(reader, "count", REQUIRED, 1, RANGE_MOST, &parts) &&
		       spread(&range, parts);
	else if (factor)
		good = read_value(reader, "factor", REQUIRED, &by) && walk(&range, by, value_mul);
	else
		good = (!step || read_value(reader, "step", REQUIRED, &by)) &&
		       walk(&range, by, value_add);
	*count = range.values.count;
	return good ? range.values.at : NULL;
}
