#include "base/arena.h"
#include "base/array.h"
#include "spec/reader.h"

#include <inttypes.h>
#include <math.h>

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
	return node && compute_whole(reader->reading, node, reader_place(reader, key), &size, least,
			       most, bytes);
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
	return node && compute_ratio(reader->reading, node, reader_place(reader, key), &clock_rate,
			       false, out);
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
	return node && compute_ratio(reader->reading, node, reader_place(reader, key), &duration,
			       true, out);
}

bool node_nanoseconds(
	const struct reading *reading, const struct node *node, const char *what, struct ratio *out)
{
	return compute_ratio(reading, node, what, &duration, true, out);
}
