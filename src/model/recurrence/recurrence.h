#ifndef MODEL_RECURRENCE_H
#define MODEL_RECURRENCE_H

#include "model/recurrence/term.h"
#include "spec/reader.h"

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

struct recurrence_loop {
	const char *name;
	int64_t least, extent; /* it runs over [least, least + extent), extent >= 1 */
};

enum stream_kind { STREAM_RECURRENT, STREAM_INPUT, STREAM_OUTPUT };

struct stream {
	const char *name;
	enum stream_kind kind;
	int rank;
	const struct term *body;      /* of recurrent streams and outputs */
	const struct loop_sum *place; /* of an output: where the value at a point goes, by axis */
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
	struct recurrence_loop loops[RECURRENCE_LOOPS_MOST];
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
struct space_time {
	struct recurrence recurrence;
	/* Where it is of an einsum: that, and its loops, before they were split; NULL. */
	const struct recurrence_einsum *einsum;
	const struct recurrence *loops;
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

/* What other keys say of it; each may be NULL. */
struct shape;
struct workload;
struct space_time_beside {
	const struct node *plan; /* a `projection:` key, which explore writes */
	const struct shape *problem;
	const struct workload *workload;
	const struct node *const *targets; /* of constraints; NULL ends them */
};

/* `beside` may be NULL.  False after complaining. */
bool space_time_read(const struct reading *reading, const struct node *node,
	const struct space_time_beside *beside, struct space_time *out);

/* A loop by name; -1.  A stream by name; -1.  The loop whose name is much like this one; NULL. */
int recurrence_loop_named(const struct recurrence *recurrence, const char *name);
int recurrence_stream_named(const struct recurrence *recurrence, const char *name);
const char *recurrence_loop_near(const struct recurrence *recurrence, const char *name);

/* All names of loops, in their order, and a NULL behind them. */
void recurrence_loop_names(const struct recurrence *recurrence, const char **out);

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

/* Where a dependence comes from, if it is there: consumer and producer in the domain, `when`
 * holds.  False else. */
bool recurrence_producer(const struct recurrence *recurrence, const struct dependence *dependence,
	const int64_t *consumer, int64_t *producer);

/* A recurrent stream, read at the point that lies `vector` before. */
const struct term *recurrence_read(struct arena *arena, const struct recurrence *recurrence,
	int stream, const int64_t *vector);

/* Whether the point that lies `vector` before is in the domain, as a condition on the point that
 * asks; NULL: it always is. */
const struct term *recurrence_inside(
	struct arena *arena, const struct recurrence *recurrence, const int64_t *vector);

/*
 * Bodies for a recurrence of which only the dependences are known, so that it can be executed: a
 * value is a sum over the loops that differs from point to point, and a part of every value that it
 * depends on, no two parts alike.  Values stay small; a value from a wrong place is noticed.
 */
void recurrence_invent(struct arena *arena, struct recurrence *recurrence);

#endif
