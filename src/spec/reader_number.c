#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"
#include "spec/reader.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a field holds, and the unit of a bare number in it. */
struct field {
	enum quantity quantity;
	int64_t num, den; /* what a value is multiplied by to be in the field's unit */
	const char *unit; /* "bytes", "Hz"; "" for bare numbers */
	const char *expected;
};

static const struct field bare = {QUANTITY_BARE, 1, 1, "", "a number without a unit"};
static const struct field size = {QUANTITY_SIZE, 1, 1, " bytes", "a size such as 64KiB"};
static const struct field clock_rate = {
	QUANTITY_CLOCK, 1000000000, 1, " Hz", "a clock such as 1.5GHz"};
static const struct field rate = {QUANTITY_RATE, 1000000000, 1, " B/s", "a rate such as 204.8GB/s"};
static const struct field energy = {QUANTITY_ENERGY, 1, 1, " pJ", "an energy such as 12pJ"};
static const struct field duration = {QUANTITY_TIME, 1, 1, " ns", "a time such as 250ns"};

static bool compute(const struct reading *reading, const struct node *node, const char *what,
	const struct field *field, struct value *out)
{
	struct value value, scaled;
	if (node->kind != NODE_SCALAR)
		return reading_refuse(reading, node, "%s is %s; %s is expected", what,
			node_kind_name(node), field->expected);
	if (!expr_read(reading->diag, reading->variables, node, what, &value))
		return false;
	enum quantity quantity = value_quantity(value);
	if (quantity == QUANTITY_BARE && field->quantity != QUANTITY_BARE) {
		*out = value;
		return true;
	}
	if (quantity != field->quantity)
		return reading_refuse(reading, node, "%s is %s; %s is expected", what,
			quantity_name(quantity), field->expected);
	value.bytes = value.time = value.energy = 0;
	if (value_mul(value, value_whole(field->num), &scaled))
		return reading_refuse(reading, node, "%s is too large", what);
	*out = scaled;
	return true;
}

/*
 * Bare numbers that are hardly what was meant: by the key, in the unit of bare numbers.  Below or above, a
 * warning names the units, two at most, in which the number would be likely, and the one that it has: a number
 * with a unit is taken as it is.
 */
static const struct plausible {
	const char *map, *key; /* the first word of what the map is called */
	const struct field *field;
	const char *own;      /* the unit of a bare number */
	double least, most;   /* what a bare number may well be */
	double likely, limit; /* what the number may well be with another unit */
	struct {
		const char *name;
		double size;
	} units[3];
} plausible[] = {
	{"level", "clock", &clock_rate, "Hz", 1e6, 1e11, 5e7, 2e10,
		{{"GHz", 1e9}, {"MHz", 1e6}, {"kHz", 1e3}}},
	{"level", "size", &size, "B", 16, 1e18, 1024, 1e12, {{"KiB", 1024}, {"MiB", 1048576}}},
	{"level", "span_limit", &size, "B", 128, 1e18, 4096, 1e12,
		{{"KiB", 1024}, {"MiB", 1048576}}},
	{"search", "staging", &size, "B", 128, 1e18, 1024, 1e9, {{"KiB", 1024}, {"MiB", 1048576}}},
	{"level", "bundle_overhead", &duration, "ns", 1e-3, 1e9, 0.1, 1e6,
		{{"s", 1e9}, {"ms", 1e6}}},
	{"level", "core_overhead", &duration, "ns", 1e-3, 1e9, 0.1, 1e6, {{"s", 1e9}, {"ms", 1e6}}},
};

/* "1.2GHz or 1.2MHz" */
static const char *print_likely(
	struct arena *arena, const struct plausible *row, double number, const char *text)
{
	const char *said = NULL;
	for (size_t u = 0; u < 3 && row->units[u].name; u++) {
		double value = number * row->units[u].size;
		if (value < row->likely || value > row->limit)
			continue;
		said = said ? arena_format(arena, "%s or %s%s", said, text, row->units[u].name)
			    : arena_format(arena, "%s%s", text, row->units[u].name);
	}
	return said;
}

/* Units of 10^3 bytes beside powers of two: K of what memories are made of is 1024. */
static void note_decimal(const struct reading *reading, const struct node *node)
{
	char *unit;
	double number = strtod(node->text, &unit);
	double decimal = text_equal(unit, "KB") || text_equal(unit, "kB") ? 1e3
			 : text_equal(unit, "MB")                         ? 1e6
									  : 0;
	int exponent;
	if (decimal > 0 && frexp(number, &exponent) <= 0.5 && number >= 1)
		diag_remark(reading->diag, node->span,
			"%s are %.0f bytes: %s is 10^%d; write %.0f%ciB for %.0f", node->text,
			number * decimal, unit, decimal > 1e3 ? 6 : 3, number,
			decimal > 1e3 ? 'M' : 'K', number * (decimal > 1e3 ? 1048576 : 1024));
}

static void weigh(
	struct reader *reader, const char *key, const struct node *node, const struct field *field)
{
	struct arena *arena = reader->reading->arena;
	char *end;
	if (node->kind != NODE_SCALAR)
		return;
	double number = strtod(node->text, &end);
	if (end != node->text && *end && field == &size)
		note_decimal(reader->reading, node);
	for (size_t i = 0; end != node->text && !*end && i < sizeof plausible / sizeof *plausible;
		i++) {
		const struct plausible *row = &plausible[i];
		if (row->field != field || !text_equal(row->key, key) || number <= 0 ||
			strncmp(reader->what, row->map, strlen(row->map)) != 0 ||
			(number >= row->least && number <= row->most))
			continue;
		const char *likely = print_likely(arena, row, number, node->text);
		diag_warning(reader->reading->diag, node->span,
			"%s is %s%s, a bare number%s%s%s%s write %s%s if that is meant",
			reader_place(reader, key), node->text, field->unit,
			likely ? "; did you mean " : "", likely ? likely : "", likely ? "?" : "",
			likely ? "" : ";", node->text, row->own);
	}
}

/* Doubles that are whole count as whole: log2 and powers may end there. */
static bool take_whole(struct value value, int64_t *out)
{
	if (value.exact && value.den == 1) {
		*out = value.num;
		return true;
	}
	if (value.exact || value.real != floor(value.real) || fabs(value.real) > 9007199254740992.0)
		return false;
	*out = (int64_t)value.real;
	return true;
}

static const char *print_range(struct arena *arena, int64_t least, int64_t most)
{
	if (most == INT64_MAX)
		return arena_format(arena, "at least %" PRId64, least);
	if (least == INT64_MIN)
		return arena_format(arena, "at most %" PRId64, most);
	if (least == most)
		return arena_format(arena, "only %" PRId64, least);
	return arena_format(arena, "%" PRId64 " to %" PRId64, least, most);
}

static bool compute_whole(const struct reading *reading, const struct node *node, const char *what,
	const struct field *field, int64_t least, int64_t most, int64_t *out)
{
	struct value value;
	int64_t n;
	if (!compute(reading, node, what, field, &value))
		return false;
	bool taken = take_whole(value, &n);
	if (!taken && !value.exact && value.real == floor(value.real))
		return reading_refuse(reading, node, "%s is %.10g%s; it can be %s", what,
			value.real, field->unit, print_range(reading->arena, least, most));
	if (!taken)
		return reading_refuse(reading, node, "%s is %.10g%s; a whole number%s is expected",
			what, value.real, field->unit, *field->unit ? " of bytes" : "");
	if (n < least || n > most)
		return reading_refuse(reading, node, "%s is %" PRId64 "%s; it can be %s", what, n,
			field->unit, print_range(reading->arena, least, most));
	*out = n;
	return true;
}

static bool compute_ratio(const struct reading *reading, const struct node *node, const char *what,
	const struct field *field, bool zero, struct ratio *out)
{
	struct value value;
	if (!compute(reading, node, what, field, &value))
		return false;
	if (value.real < 0 || (!zero && value.real == 0))
		return reading_refuse(reading, node, "%s is %.10g%s; it must be %s", what,
			value.real, field->unit, zero ? "at least 0" : "more than 0");
	if (!value.exact)
		return reading_refuse(reading, node,
			"%s is %.17g%s; a fraction of fewer digits is expected", what, value.real,
			field->unit);
	return ratio_make(value.num, value.den, out);
}

static bool compute_real(const struct reading *reading, const struct node *node, const char *what,
	const struct field *field, bool negative, double *out)
{
	struct value value;
	if (!compute(reading, node, what, field, &value))
		return false;
	if (value.real < 0 && !negative)
		return reading_refuse(reading, node, "%s is %.10g%s; it must be at least 0", what,
			value.real, field->unit);
	*out = value.real;
	return true;
}

bool node_integer(const struct reading *reading, const struct node *node, const char *what,
	int64_t least, int64_t most, int64_t *out)
{
	return compute_whole(reading, node, what, &bare, least, most, out);
}

bool node_size(const struct reading *reading, const struct node *node, const char *what,
	int64_t least, int64_t most, int64_t *bytes)
{
	return compute_whole(reading, node, what, &size, least, most, bytes);
}

bool node_number(
	const struct reading *reading, const struct node *node, const char *what, double *out)
{
	return compute_real(reading, node, what, &bare, true, out);
}

bool read_integer(struct reader *reader, const char *key, enum need need, int64_t least,
	int64_t most, int64_t *out)
{
	const struct node *node = read_node(reader, key, need);
	return node && compute_whole(reader->reading, node, reader_place(reader, key), &bare, least,
			       most, out);
}

bool read_size(struct reader *reader, const char *key, enum need need, int64_t least, int64_t most,
	int64_t *bytes)
{
	const struct node *node = read_node(reader, key, need);
	bool good = node && compute_whole(reader->reading, node, reader_place(reader, key), &size,
				    least, most, bytes);
	if (good)
		weigh(reader, key, node, &size);
	return good;
}

bool read_number(struct reader *reader, const char *key, enum need need, double *out)
{
	const struct node *node = read_node(reader, key, need);
	return node &&
	       compute_real(reader->reading, node, reader_place(reader, key), &bare, true, out);
}

bool read_picojoules(struct reader *reader, const char *key, enum need need, double *out)
{
	const struct node *node = read_node(reader, key, need);
	if (!node || !compute_real(
			     reader->reading, node, reader_place(reader, key), &energy, false, out))
		return false;
	return *out <= PICOJOULES_MOST ||
	       reader_refuse(
		       reader, key, "is %.10g pJ; it must be at most %g pJ", *out, PICOJOULES_MOST);
}

bool read_ratio(struct reader *reader, const char *key, enum need need, struct ratio *out)
{
	const struct node *node = read_node(reader, key, need);
	return node &&
	       compute_ratio(reader->reading, node, reader_place(reader, key), &bare, true, out);
}

bool read_hertz(struct reader *reader, const char *key, enum need need, struct ratio *out)
{
	const struct node *node = read_node(reader, key, need);
	bool good = node && compute_ratio(reader->reading, node, reader_place(reader, key),
				    &clock_rate, false, out);
	if (good)
		weigh(reader, key, node, &clock_rate);
	return good;
}

bool read_rate(struct reader *reader, const char *key, enum need need, struct ratio *bytes_per_s)
{
	const struct node *node = read_node(reader, key, need);
	return node && compute_ratio(reader->reading, node, reader_place(reader, key), &rate, false,
			       bytes_per_s);
}

bool read_nanoseconds(struct reader *reader, const char *key, enum need need, struct ratio *out)
{
	const struct node *node = read_node(reader, key, need);
	bool good = node && compute_ratio(reader->reading, node, reader_place(reader, key),
				    &duration, true, out);
	if (good)
		weigh(reader, key, node, &duration);
	return good;
}

bool node_nanoseconds(
	const struct reading *reading, const struct node *node, const char *what, struct ratio *out)
{
	return compute_ratio(reading, node, what, &duration, true, out);
}
