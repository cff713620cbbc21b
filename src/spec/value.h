#ifndef SPEC_VALUE_H
#define SPEC_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A number with a unit.  Exact while numerator and denominator fit an int64_t;
 * what does not fit for want of digits goes on as a double, what is too large
 * is refused.  Units are powers of byte, nanosecond and picojoule: a clock is
 * time ^ -1, so that 1 GHz is 1, and a rate is bytes / time.
 *
 * The operations answer NULL, or what is wrong in words.
 */
struct value {
	bool exact;
	int64_t num, den; /* exact: in lowest terms, den > 0 */
	double real;      /* the same, or the nearest we have */
	signed char bytes, time, energy;
};

/* A quantity: what the powers of a value make of it. */
enum quantity {
	QUANTITY_BARE,
	QUANTITY_SIZE,
	QUANTITY_TIME,
	QUANTITY_CLOCK,
	QUANTITY_RATE,
	QUANTITY_ENERGY,
	QUANTITY_OTHER,
};

struct value value_whole(int64_t n);
struct value value_real(double real);                             /* not exact */
bool value_fraction(int64_t num, int64_t den, struct value *out); /* den > 0 */

enum quantity value_quantity(struct value a);
const char *quantity_name(enum quantity quantity); /* "a size", "a clock", .. */

const char *value_add(struct value a, struct value b, struct value *out);
const char *value_sub(struct value a, struct value b, struct value *out);
const char *value_mul(struct value a, struct value b, struct value *out);
const char *value_div(struct value a, struct value b, struct value *out);
const char *value_floor_div(struct value a, struct value b, struct value *out);
const char *value_mod(struct value a, struct value b, struct value *out); /* sign of b */
const char *value_pow(struct value a, struct value b, struct value *out);
const char *value_min(struct value a, struct value b, struct value *out);
const char *value_max(struct value a, struct value b, struct value *out);
const char *value_ceil(struct value a, struct value *out);
const char *value_floor(struct value a, struct value *out);
const char *value_log2(struct value a, struct value *out);
const char *value_sqrt(struct value a, struct value *out);

/* The value of a unit such as "KiB" or "GB/s"; the longest unit that text
 * begins with is *length bytes long.  False if it begins with none. */
bool unit_read(const char *text, size_t *length, struct value *out);

/* The unit whose name is nearest to the word, or NULL. */
const char *unit_suggest(const char *word);

#endif
