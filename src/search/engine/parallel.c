#include "search/engine/parallel.h"

#include "base/fatal.h"

#include <errno.h>
#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { STACK_BYTES = 8 << 20 };

/* Threads that are being started; 0: they are there.  OpenMP's runtime ends the program, with a
 * status that means something else, where it cannot have them. */
static atomic_int starting;

static void say_no_threads(void)
{
	int threads = atomic_load(&starting);
	if (threads)
		fatal("cannot start %d threads; '--jobs' asks for fewer", threads);
}

void parallel_each(const struct parallel *work, size_t count, int jobs)
{
	int threads = count < (size_t)jobs ? (int)count : jobs;
	bool beside = threads > 1 && !omp_in_parallel();
	if (beside)
		atomic_store(&starting, threads);
#pragma omp parallel num_threads(threads) if (beside)
	{
		if (beside)
			atomic_store(&starting, 0);
#pragma omp for schedule(dynamic)
		for (size_t i = 0; i < count; i++) {
			work->run(work->context, i, beside ? omp_get_thread_num() : 0);
#pragma omp critical
			work->done(work->context, i);
		}
	}
}

int parallel_cores(void)
{
	return omp_get_max_threads();
}

/* OpenMP's runtime reads these before `main`: what they say of stacks is too late to change. */
static void drop_stack_sizes(char **argv)
{
	if (!getenv("OMP_STACKSIZE") && !getenv("GOMP_STACKSIZE"))
		return;
	unsetenv("OMP_STACKSIZE");
	unsetenv("GOMP_STACKSIZE");
	execv("/proc/self/exe", argv);
	fatal("OMP_STACKSIZE is set, and the program cannot be started again without it");
}

static bool have_stack_size(pthread_attr_t *attributes)
{
	return !pthread_attr_init(attributes) &&
	       !pthread_attr_setstacksize(attributes, STACK_BYTES);
}

static void set_stack_size(pthread_attr_t *attributes)
{
	if (!have_stack_size(attributes) || pthread_setattr_default_np(attributes))
		fatal("threads cannot have stacks of %d bytes", STACK_BYTES);
}

int parallel_apart(pthread_t *thread, void *(*run)(void *context), void *context)
{
	pthread_attr_t attributes;
	if (!have_stack_size(&attributes))
		return ENOMEM;
	int error = pthread_create(thread, &attributes, run, context);
	pthread_attr_destroy(&attributes);
	return error;
}

int parallel_apart_jobs(int jobs)
{
	pthread_attr_t usual;
	size_t bytes = 0;
	if (getenv("OMP_STACKSIZE") || getenv("GOMP_STACKSIZE") ||
		pthread_getattr_default_np(&usual))
		return 1;
	pthread_attr_getstacksize(&usual, &bytes);
	pthread_attr_destroy(&usual);
	return bytes < STACK_BYTES ? 1 : jobs;
}

void parallel_main(char **argv, void *(*run)(void *context), void *context)
{
	struct rlimit limit;
	pthread_attr_t attributes;
	pthread_t thread;
	drop_stack_sizes(argv);
	set_stack_size(&attributes);
	atexit(say_no_threads);
	if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur >= STACK_BYTES) {
		run(context);
	} else {
		int error = pthread_create(&thread, &attributes, run, context);
		if (error)
			fatal("the stack is limited to %llu bytes, and a thread with %d cannot be "
			      "started: %s",
				(unsigned long long)limit.rlim_cur, STACK_BYTES, strerror(error));
		pthread_join(thread, NULL);
	}
	pthread_attr_destroy(&attributes);
}
