#ifndef REPORT_PROJECTION_CODE_STATE_H
#define REPORT_PROJECTION_CODE_STATE_H

#include "base/array.h"
#include "base/text.h"
#include "report/recurrence/projection_code.h"

/* What is being written, and how names and terms look in C. */
struct code {
	struct arena *arena;
	struct text text;
	const struct recurrence *recurrence;
	const struct projection *projection;
	const struct projection_facts *facts;
	struct reverse reverse;
	struct array(const char *) taken;            /* names in C, of all that has one */
	const char *loops[RECURRENCE_LOOPS_MOST];    /* likewise */
	const char *rows[2 * RECURRENCE_LOOPS_MOST]; /* space, then time */
	const char *streams[RECURRENCE_STREAMS_MOST];
	const char *shifted; /* a register while all shift */
	int order
		[RECURRENCE_LOOPS_MOST]; /* rows of space as their loops nest: lanes are innermost */
	bool down[RECURRENCE_LOOPS_MOST]; /* rows of space that run from their end */
	bool lanes_apart;                 /* no lane waits for another one within a step */
	int depth;
};

/* A name of the user's as an identifier that is still free. */
const char *code_name(struct code *code, const char *name);

/* A line at the depth that is open. */
#define code_line(code, ...)                                                                       \
	(code_indent(code), text_add(&(code)->text, __VA_ARGS__), text_add(&(code)->text, "\n"))
void code_indent(struct code *code);

/* A part of a sum: `by` times a name; a constant, "0" when it is alone. */
void code_part(struct text *text, int64_t by, const char *name);
void code_constant(struct text *text, int64_t value);

const char *code_sum(const struct code *code, const struct loop_sum *sum);

/* The PE that lies `move` before this one (NULL: this one), as indices of an array. */
const char *code_pe(const struct code *code, const int64_t *move);

const char *code_term(struct code *code, const struct term *term);

#endif
