#ifndef SEARCH_PARALLEL_H
#define SEARCH_PARALLEL_H

#include <pthread.h>
#include <stddef.h>

/*
 * The one place that starts threads, by OpenMP.  Their stacks have 8 MiB under any environment and the
 * limits of the process say.  Threads that cannot be had end the program (base/fatal.h).
 *
 * parallel_each calls run(context, i, thread) for every i below count, in any order, on up to `jobs` threads, and
 * done(context, i) after each, one at a time.  `thread` is below jobs and selects only the scratch memory: nothing
 * that depends on it may reach a result.  A function that runs alone may call this again; one that runs beside
 * others gets no more threads.
 */
struct parallel {
	void *context;
	void (*run)(void *context, size_t i, int thread);
	void (*done)(void *context, size_t i);
};

void parallel_each(const struct parallel *work, size_t count, int jobs);

/* The first call of `main`: calls run(context) where the stack has those 8 MiB, here if it has, else
 * on a thread.  May start the program again, without the settings of stacks in the environment. */
void parallel_main(char **argv, void *(*run)(void *context), void *context);

/* In a process that is not ours: calls run(context) on a thread of its own, whose stack has those 8 MiB.  0, or the
 * error of the system. */
int parallel_apart(pthread_t *thread, void *(*run)(void *context), void *context);

/* Returns how many of these threads may run there, because stacks must not be smaller: all, or one. */
int parallel_apart_jobs(int jobs);

/* Returns the number of threads that OpenMP would start: the cores, or OMP_NUM_THREADS. */
int parallel_cores(void);

#endif
