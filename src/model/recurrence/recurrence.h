#ifndef MODEL_RECURRENCE_H
#define MODEL_RECURRENCE_H

#include "base/text.h"
#include "model/nest/affine.h"
#include "spec/reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The right side of a recurrence, as a tree: arithmetic over loop variables, numbers and streams
 * read at affine places.
 *
 *	select(q == 0, 0, Z(q - 1, c)) + x(c + q) * w(q)
 *
 * From loosest to tightest: or ||, and &&, not !, == != < <= > >=, + -, * / // %, a sign; min and max
 * of two, and select(condition, then[, else]).  A condition is 1 or 0, and any value but 0 holds.
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
	TERM_SELECT, /* of[0] ? of[1] : of[2]; without of[2] the rest has no value */
};

/* The most of an index.  Loops lie within 2^32 of zero, so that sums of eight products fit. */
#define AFFINE_FACTOR_MOST ((int64_t)1 << 27)
#define AFFINE_CONSTANT_MOST ((int64_t)1 << 33)

struct term {
	enum term_kind kind;
	double number; /* TERM_NUMBER */
	int index;     /* TERM_LOOP: the loop; TERM_STREAM: the stream */
	int place_count;
	const struct affine *place; /* TERM_STREAM: one for each of its axes */
	const struct term *of[3];
	int height;      /* of the tree, at most TERM_HEIGHT_MOST */
	size_t from, to; /* where it stands in its text, in bytes */
};

struct arena;

/* The meaning of names while a text is read: a loop, else a variable of the spec. */
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

/* Reads the term at *at of a text, up to where it ends; NULL after filling in the fault. */
const struct term *term_parse(struct arena *arena, const char *text, size_t *at,
	const struct term_names *names, struct scan_fault *fault);

/* Reads `name(affine, ...)` at *at: the left side of an equation.  Returns a TERM_STREAM. */
const struct term *term_parse_place(struct arena *arena, const char *text, size_t *at,
	const struct term_names *names, struct scan_fault *fault);

/* A point at which terms have a value.  `read` returns the value of a stream at a place. */
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

/*
 * Uniform recurrences over a domain, and how one is laid out in space and time.
 *
 * A point z of the domain is one iteration.  A stream has one value at each point (a recurrent
 * stream), or is given (an input) or asked for (an output).  A dependence says that the value of a
 * stream at z - vector is used at z: the vector goes from the producer to the consumer.
 */
enum {
	RECURRENCE_LOOPS_MOST = TERM_LOOPS_MOST,
	RECURRENCE_STREAMS_MOST = 16,
	RECURRENCE_DEPENDENCES_MOST = 64,
	PROJECTION_ENTRY_MOST = 1000000,
};

/* Loops may lie anywhere within this, so that sums of eight products fit. */
#define RECURRENCE_EXTENT_MOST ((int64_t)1 << 31)

enum stream_kind { STREAM_RECURRENT, STREAM_INPUT, STREAM_OUTPUT };

struct stream {
	const char *name;
	enum stream_kind kind;
	int rank;
	const struct term *body;    /* of recurrent streams and outputs */
	const struct affine *place; /* of an output: where the value at a point goes, by axis */
	struct span span;
};

struct dependence {
	int stream;
	int64_t vector[RECURRENCE_LOOPS_MOST];
	const struct term *when; /* it holds at consumers where this does; NULL: at all */
	struct span span;
};

struct recurrence {
	int loop_count;
	struct loop loops[RECURRENCE_LOOPS_MOST];
	const struct term *domain; /* points of the box where this holds; NULL: all */
	int stream_count, dependence_count;
	struct stream streams[RECURRENCE_STREAMS_MOST];
	struct dependence dependences[RECURRENCE_DEPENDENCES_MOST];
	bool has_bodies; /* as the user wrote them; else they are made up (recurrence_invent) */
};

/*
 * Point z runs on PE P z at time s z.  Several rows of time nest, outermost first: the times of
 * the inner rows are numbered from 0, and time is flattened over their extents.
 */
struct projection {
	int space_count, time_count;
	int64_t space[RECURRENCE_LOOPS_MOST][RECURRENCE_LOOPS_MOST]; /* by row, then loop */
	int64_t time[RECURRENCE_LOOPS_MOST][RECURRENCE_LOOPS_MOST];
	const char *space_names[RECURRENCE_LOOPS_MOST], *time_names[RECURRENCE_LOOPS_MOST];
	/* By row of space: lanes of one vector unit, which work in lock step, at most this many; 0: PEs. */
	int64_t lanes[RECURRENCE_LOOPS_MOST];
	uint32_t shuffles; /* by stream: registers may move from lane to lane */
	uint32_t wires;    /* by stream: values may be used in the step that makes them */
	/* By loop: its value from the space and time rows, numbered as they nest (space first), then
	 * the loops; NULL: none is given.  In the order of `reverse_order`. */
	const struct term *reverse[RECURRENCE_LOOPS_MOST];
	int reverse_count, reverse_order[RECURRENCE_LOOPS_MOST];
	struct span span;
};

/* Range of coefficients that a search may use; both ends count. */
struct projection_range {
	int64_t least, most;
};

/* The `space_time:` key. */
struct recurrence_einsum;
struct shape;
struct space_time {
	struct recurrence recurrence;
	/* The einsum that it is derived from; the same before a search splits its loops; NULL. */
	const struct recurrence_einsum *einsum;
	const struct shape *whole;
	uint32_t
		folds; /* a search folds the einsum in these orders (bits of enum fold_order); 0: not */
	struct projection projection; /* what is given of it */
	bool has_space, has_time;
	int space_rows; /* wanted where space is searched */
	struct projection_range space_range, time_range;
	bool by_vectors; /* allocations with one projection vector each, of vector_range */
	struct projection_range vector_range;
	int wires_most; /* a search may use this many beside those declared */
	int64_t reach;  /* a value moves at most so far in each axis of space a step; 0: any */
	int64_t array[RECURRENCE_LOOPS_MOST]; /* PEs along each axis that there are; 0: any */
	uint32_t stays;                       /* by stream: it must not move */
	/* By row of space, streams: registers do not move along it; it has no wires, to neither
	 * multicast nor reduce. */
	uint32_t no_links[RECURRENCE_LOOPS_MOST], no_wires[RECURRENCE_LOOPS_MOST];
};

/* Other keys that it depends on; each may be NULL. */
struct workload;
struct space_time_beside {
	const struct node *plan; /* a `projection:` key, which explore writes */
	const struct shape *problem;
	const struct workload *workload;
	const struct node *const *targets; /* of constraints; NULL ends them */
};

/* `beside` may be NULL.  False after complaining. */
extern const struct noun space_time_noun;
bool space_time_read(const struct reading *reading, const struct node *node,
	const struct space_time_beside *beside, struct space_time *out);

/* A stream by name; -1. */
int recurrence_stream_named(const struct recurrence *recurrence, const char *name);

/* Points in lexicographic order: the first; the next, in place.  False when there is none. */
bool recurrence_first(const struct recurrence *recurrence, int64_t *point);
bool recurrence_next(const struct recurrence *recurrence, int64_t *point);
bool recurrence_holds(const struct recurrence *recurrence, const int64_t *point);

/* Points of the box; INT64_MAX if they are more. */
int64_t recurrence_box(const struct recurrence *recurrence);

/* True if some row of space, known or searched, is of lanes. */
bool projection_has_lanes(const struct projection *projection);

/* Recurrent streams that hand values on as they are, as bits: nothing is computed on the way. */
uint32_t recurrence_copies(const struct recurrence *recurrence);

/* True if an output gets a value at a point: it need not where it is a select without an else. */
bool recurrence_writes(const struct stream *output, const int64_t *point);

/* Finds the producer of a dependence; true if consumer and producer are in the domain and `when`
 * holds. */
bool recurrence_producer(const struct recurrence *recurrence, const struct dependence *dependence,
	const int64_t *consumer, int64_t *producer);

/* A recurrent stream, read at the point that lies `vector` before. */
const struct term *recurrence_read(struct arena *arena, const struct recurrence *recurrence,
	int stream, const int64_t *vector);

/* The condition on a point under which the point that lies `vector` before is in the domain; NULL: it
 * always is. */
const struct term *recurrence_inside(
	struct arena *arena, const struct recurrence *recurrence, const int64_t *vector);

/*
 * Bodies for a recurrence of which only the dependences are known, so that it can be executed: a
 * value is a sum over the loops that differs from point to point, and a part of every value that it
 * depends on, no two parts alike.  Values stay small; a value from a wrong place is noticed.
 */
void recurrence_invent(struct arena *arena, struct recurrence *recurrence);

/*
 * A large array on a small one: each row of space that is a loop runs over at most that many PEs.
 *
 * In tiles (locally parallel, globally sequential) neighbours stay neighbours, and tiles of the
 * array follow each other: the loop is split, its outer part becomes the outermost loop of time, and
 * what passes from tile to tile waits.  In blocks (locally sequential, globally parallel) a PE takes
 * neighbours one after the other: its inner part becomes the innermost loop of time.
 *
 * Both are recurrences with one more loop each, and projections like any other.
 */
enum fold_order { FOLD_TILES, FOLD_BLOCKS };

struct fold {
	enum fold_order order;
	int row_count;                        /* 0: none */
	int64_t sizes[RECURRENCE_LOOPS_MOST]; /* PEs along each row of space */
};

/* For a spec whose allocation and schedule are known; false and *why if a row of space is not a
 * loop, or the loops are too many. */
bool recurrence_fold(
	struct arena *arena, const struct fold *fold, struct space_time *spec, const char **why);

#endif
