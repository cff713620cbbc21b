#ifndef SUPPORT_FUZZ_RUN_H
#define SUPPORT_FUZZ_RUN_H

#include "base/random.h"

#include <stdbool.h>

/*
 * Many inputs, each drawn, used and judged in a child process.  A child that dies of a signal, a
 * sanitizer, a leak, an exit or an input of more than this many seconds is a finding: what it said is
 * printed with the number of the input, its files are kept, and a new child goes on behind it.
 *
 *	N       inputs of a program
 *	SEED    other inputs
 *	FIRST   number of the first input, to repeat one with N=1
 *	KEEP    its files, also without a finding
 */
struct arena;

struct fuzz_input {
	struct arena *arena;   /* of this input alone */
	struct random *random; /* which makes all of it */
	const char *folder;    /* for its files; empty */
	long number;
};

/* True if the input got past reading.  Reports faults by fuzz_wrong. */
typedef bool fuzz_one(const struct fuzz_input *input);

/* Ends the input, and with it the child. */
_Noreturn void fuzz_wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Runs them, prints the seed and the counts; how many findings there were.  To be called outside of
 * cmocka, which would take the signals. */
long fuzz_run(const char *name, long by_default, fuzz_one *one);

/* Output of this process on stdout and stderr since the last call: all of it is kept in files. */
struct fuzz_said {
	const char *out, *err;
};
struct fuzz_said fuzz_said(struct arena *arena);

#endif
