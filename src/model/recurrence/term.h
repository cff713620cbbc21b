#ifndef MODEL_RECURRENCE_TERM_H
#define MODEL_RECURRENCE_TERM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What stands on the right side of a recurrence, as a tree: arithmetic over loop variables,
 * numbers and streams read at affine places.
 *
 *	select(q == 0, 0, Z(q - 1, c)) + x(c + q) * w(q)
 *
 * From loosest to tightest: or ||, and &&, not !, == != < <= > >=, + -, * / // %, a sign; min and max
 * of two, and select(condition, then[, else]).  A condition is 1 or 0, and what is not 0 holds.
 */
enum { TERM_LOOPS_MOST = 8, TERM_HEIGHT_MOST = 200 };

enum term_kind {
	TERM_NUMBER,
	TERM_LOOP,   /* a loop variable */
	TERM_STREAM, /* a stream, read at `place` */
	TERM_NEGATE,
	TERM_NOT,
	TERM_ADD,
	TERM_SUBTRACT,
	TERM_MULTIPLY,
	TERM_DIVIDE,
	TERM_FLOOR,     /* of a quotient: -1 // 2 is -1 */
	TERM_REMAINDER, /* what // leaves: -1 % 2 is 1 */
	TERM_MIN,
	TERM_MAX,
	TERM_EQUAL,
	TERM_UNEQUAL,
	TERM_LESS,
	TERM_AT_MOST,
	TERM_AND,
	TERM_OR,
	TERM_SELECT, /* of[0] ? of[1] : of[2]; without of[2] there is no value */
};

/* constant + at[0] * loop 0 + at[1] * loop 1 ...  Loops lie within 2^32 of zero: within these, sums
 * of eight products fit. */
#define LOOP_SUM_FACTOR_MOST ((int64_t)1 << 27)
#define LOOP_SUM_CONSTANT_MOST ((int64_t)1 << 33)
struct loop_sum {
	int64_t constant, at[TERM_LOOPS_MOST];
};

struct term {
	enum term_kind kind;
	double number; /* TERM_NUMBER */
	int index;     /* TERM_LOOP: the loop; TERM_STREAM: the stream */
	int place_count;
	const struct loop_sum *place; /* TERM_STREAM: one for each of its axes */
	const struct term *of[3];
	int height;      /* of the tree, at most TERM_HEIGHT_MOST */
	size_t from, to; /* where it stands in its text, in bytes */
};

struct arena;

/* What names mean while a text is read: a loop, else a variable of the spec. */
struct reading;
struct term_names {
	const struct reading *reading;
	const char *const *loops; /* by number; NULL ends them */
	void *user;
	/* By number, made when it is new; -1: it cannot be.  NULL: all are number 0. */
	int (*stream)(void *user, const char *name);
};

/* A number that the spec's variables give. */
bool term_variable(const struct reading *reading, const char *name, double *out);

struct term_fault {
	size_t from, to;
	const char *text;
};

/* Reads the term at *at of a text, up to where it ends; NULL after filling in the fault. */
const struct term *term_parse(struct arena *arena, const char *text, size_t *at,
	const struct term_names *names, struct term_fault *fault);

/* Reads `name(affine, ...)` at *at: the left side of an equation.  Answers a TERM_STREAM. */
const struct term *term_parse_place(struct arena *arena, const char *text, size_t *at,
	const struct term_names *names, struct term_fault *fault);

/* What a term is worth at a point.  `read` gives the value of a stream at a place. */
struct term_values {
	const int64_t *point; /* by loop */
	void *user;
	double (*read)(void *user, int stream, const int64_t *place);
};
double term_value(const struct term *term, const struct term_values *values);

/* True if a condition without streams holds at a point; NULL always holds. */
bool term_holds(const struct term *condition, const int64_t *point);

bool term_has_stream(const struct term *term);

/* Parts of a term that no text gave; heights are counted. */
const struct term *term_make(struct arena *arena, enum term_kind kind, const struct term *a,
	const struct term *b, const struct term *c);
const struct term *term_number(struct arena *arena, double value);
const struct term *term_loop(struct arena *arena, int loop);

/* Both, NULL for no condition. */
const struct term *term_and(struct arena *arena, const struct term *left, const struct term *right);
const struct term *term_not(struct arena *arena, const struct term *of);

int64_t loop_sum_value(const struct loop_sum *affine, int loops, const int64_t *point);

/* As it would be written with these names: "c + 2*q - 1". */
const char *loop_sum_text(
	struct arena *arena, const struct loop_sum *affine, int loops, const char *const *names);

#endif
