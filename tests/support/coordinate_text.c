#include "tests/support/coordinate_text.h"

#include "base/random.h"

#include <stdlib.h>
#include <string.h>

/* A quotient; `over` is positive. */
struct value {
	int64_t of, over;
};

struct reading {
	const char *at;
	const struct op *op;
	const int64_t *loops; /* their values */
	bool wrong;
};

static struct value read_sum(struct reading *reading);

static int64_t floor_of(struct value value)
{
	return value.of / value.over - (value.of % value.over < 0);
}

static bool take(struct reading *reading, const char *text)
{
	while (*reading->at == ' ')
		reading->at++;
	if (strncmp(reading->at, text, strlen(text)) != 0)
		return false;
	reading->at += strlen(text);
	return true;
}

static void need(struct reading *reading, const char *text)
{
	if (!take(reading, text))
		reading->wrong = true;
}

static struct value read_loop(struct reading *reading)
{
	size_t length = strspn(reading->at, "abcdefghijklmnopqrstuvwxyz_0123456789");
	for (int l = 0; l < reading->op->loop_count; l++) {
		const char *name = reading->op->loops[l].name;
		if (strlen(name) != length || strncmp(name, reading->at, length) != 0)
			continue;
		reading->at += length;
		return (struct value){reading->loops[l], 1};
	}
	reading->wrong = true;
	return (struct value){0, 1};
}

static struct value read_mod(struct reading *reading)
{
	struct value of = read_sum(reading);
	need(reading, ",");
	struct value modulus = read_sum(reading);
	need(reading, ")");
	if (of.over != 1 || modulus.over != 1 || of.of < 0 || modulus.of < 1) {
		reading->wrong = true;
		return of;
	}
	return (struct value){of.of % modulus.of, 1};
}

static struct value read_factor(struct reading *reading)
{
	if (take(reading, "floor(")) {
		struct value of = read_sum(reading);
		need(reading, ")");
		return (struct value){floor_of(of), 1};
	}
	if (take(reading, "Mod("))
		return read_mod(reading);
	if (take(reading, "(")) {
		struct value inner = read_sum(reading);
		need(reading, ")");
		return inner;
	}
	if (*reading->at >= '0' && *reading->at <= '9') {
		char *end;
		struct value number = {strtoll(reading->at, &end, 10), 1};
		reading->at = end;
		return number;
	}
	return read_loop(reading);
}

static struct value read_product(struct reading *reading)
{
	struct value product = read_factor(reading);
	while (!reading->wrong) {
		bool times = take(reading, "*");
		if (!times && !take(reading, "/"))
			break;
		struct value factor = read_factor(reading);
		if (!times && factor.of < 1)
			reading->wrong = true;
		product.of *= times ? factor.of : factor.over;
		product.over *= times || reading->wrong ? factor.over : factor.of;
	}
	return product;
}

static struct value read_sum(struct reading *reading)
{
	struct value sum = read_product(reading);
	while (!reading->wrong) {
		int64_t sign = take(reading, "+") ? 1 : take(reading, "-") ? -1 : 0;
		if (!sign)
			break;
		struct value term = read_product(reading);
		sum.of = sum.of * term.over + sign * term.of * sum.over;
		sum.over *= term.over;
	}
	return sum;
}

static bool equal_at(const char *text, const struct op *op, const struct coordinate *coordinate,
	const int64_t *loops)
{
	int64_t count[OP_LOOPS_MOST];
	for (int l = 0; l < op->loop_count; l++)
		count[l] = loops[l] + 1;
	struct reading reading = {text, op, loops, false};
	struct value value = read_sum(&reading);
	return !reading.wrong && !*reading.at && value.over == 1 &&
	       value.of == coordinate_values(coordinate, count) - 1;
}

bool coordinate_text_tells(
	const char *text, const struct op *op, const struct coordinate *coordinate)
{
	enum { POINTS = 300 };
	struct random random = random_open(1, 0);
	for (int point = 0; point < POINTS; point++) {
		int64_t loops[OP_LOOPS_MOST];
		for (int l = 0; l < op->loop_count; l++) {
			int64_t extent = op->loops[l].extent;
			int64_t near = extent < 200 ? extent : 200;
			loops[l] = point == 0  ? extent - 1
				   : point & 1 ? (int64_t)random_below(&random, (uint64_t)extent)
					       : (int64_t)random_below(&random, (uint64_t)near);
		}
		if (!equal_at(text, op, coordinate, loops))
			return false;
	}
	return true;
}
