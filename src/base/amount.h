#ifndef BASE_AMOUNT_H
#define BASE_AMOUNT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Amounts for people, the same on the terminal, on the page and in drawings: "15.03 us", "12740 uJ", "128.2 KiB".
 *
 * Digits: at least 5 that matter, all of the integer part, rounded to the nearest (ties away from zero), without
 * zeros at the end of a fraction; outside 1e-4 .. 1e15 with an exponent: "1.0753e+20".
 * Prefix: the first unit of the list of its kind that the value is below the limit of.  A column of a table
 * has one prefix, that of its largest value.
 * src/report/page/amount.js is the same rule on the page; test_amount compares both.
 */
struct arena;

enum amount {
	AMOUNT_NUMBER,
	AMOUNT_TIME,   /* in ns */
	AMOUNT_ENERGY, /* in pJ */
	AMOUNT_BYTES,
	AMOUNT_COUNT,
};

struct amount_unit {
	const char *name; /* "us"; "" of a number */
	double size;      /* ns, pJ or bytes in one */
	double below;     /* largest value that it is for, not included; infinite for the last */
};

/* The units of a kind, the smallest first; *count of them. */
const struct amount_unit *amount_units(enum amount kind, size_t *count);

/* The unit of a column whose largest value, without its sign, is `most`. */
const struct amount_unit *amount_unit(enum amount kind, double most);

/* Digits alone: "12740", "0.0127", "1.0753e+20", "inf". */
const char *amount_number(struct arena *arena, double value);

/* Digits and unit. */
const char *amount_in(struct arena *arena, double value, const struct amount_unit *unit);
const char *amount_text(struct arena *arena, enum amount kind, double value);

/* A share of 1 as a percentage: "12.3 %". */
const char *amount_share(struct arena *arena, double share);

/* The value that a text of amount_in stands for, in ns, pJ, bytes or as it is; false if it is none. */
bool amount_read(const char *text, enum amount *kind, double *value);

/* The kind of a column of pareto.csv by the end of its name: _ns, _pj, _bytes. */
enum amount amount_of_column(const char *name);

/* "latency (us)" of latency_ns; `unit` NULL: the words alone. */
const char *amount_title(struct arena *arena, const char *name, const struct amount_unit *unit);

#endif
