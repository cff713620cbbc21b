#ifndef SEARCH_PARALLEL_H
#define SEARCH_PARALLEL_H

#include <stddef.h>

/*
 * The one place with threads.  Calls run(context, i, thread) for every i below
 * count, in any order, on up to `jobs` threads, and done(context, i) after each,
 * one at a time.  `thread` is below jobs and tells only which scratch memory to
 * use: nothing that depends on it may reach a result.  What runs alone may call this again; what
 * runs beside others gets no more threads.
 */
struct parallel {
	void *context;
	void (*run)(void *context, size_t i, int thread);
	void (*done)(void *context, size_t i);
};

void parallel_each(const struct parallel *work, size_t count, int jobs);

#endif
