#include "search/parallel.h"

#include "base/fatal.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { STACK_BYTES = 8 << 20, THREADS_MOST = 1024 };

/* Whether this thread runs beside others: it starts no more. */
static _Thread_local bool is_beside;

struct team {
	const struct parallel *work;
	pthread_mutex_t taking; /* of `next`; held until all threads are there */
	pthread_mutex_t ending; /* one call of `done` at a time */
	size_t next, count;
};

struct member {
	struct team *team;
	int number;
	pthread_t thread;
};

static bool take(struct team *team, size_t *out)
{
	pthread_mutex_lock(&team->taking);
	*out = team->next;
	bool is_there = team->next < team->count;
	team->next += is_there;
	pthread_mutex_unlock(&team->taking);
	return is_there;
}

static void *take_part(void *context)
{
	const struct member *member = context;
	struct team *team = member->team;
	is_beside = true;
	for (size_t i; take(team, &i);) {
		team->work->run(team->work->context, i, member->number);
		pthread_mutex_lock(&team->ending);
		team->work->done(team->work->context, i);
		pthread_mutex_unlock(&team->ending);
	}
	return NULL;
}

/* 0, or the error of the system. */
static int start_thread(pthread_t *thread, void *(*run)(void *), void *context)
{
	pthread_attr_t attributes;
	int error = pthread_attr_init(&attributes);
	if (error)
		return error;
	error = pthread_attr_setstacksize(&attributes, STACK_BYTES);
	if (!error)
		error = pthread_create(thread, &attributes, run, context);
	pthread_attr_destroy(&attributes);
	return error;
}

/* The caller is the first of them.  All or none: nothing runs before the last one is there. */
static void run_beside(const struct parallel *work, size_t count, int threads)
{
	struct team team = {work, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, 0, count};
	struct member members[THREADS_MOST];
	int there = 1, error = 0;
	pthread_mutex_lock(&team.taking);
	for (; there < threads && !error; there += !error) {
		members[there] = (struct member){.team = &team, .number = there};
		error = start_thread(&members[there].thread, take_part, &members[there]);
	}
	if (error)
		team.next = count;
	pthread_mutex_unlock(&team.taking);
	members[0] = (struct member){.team = &team};
	take_part(&members[0]);
	is_beside = false;
	for (int k = 1; k < there; k++)
		pthread_join(members[k].thread, NULL);
	if (error)
		fatal("cannot start thread %d of %d: %s; '--jobs' asks for fewer", there + 1,
			threads, strerror(error));
}

void parallel_each(const struct parallel *work, size_t count, int jobs)
{
	int threads = jobs < THREADS_MOST ? jobs : THREADS_MOST;
	if (count < (size_t)threads)
		threads = (int)count;
	if (threads > 1 && !is_beside) {
		run_beside(work, count, threads);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		work->run(work->context, i, 0);
		work->done(work->context, i);
	}
}

int parallel_cores(void)
{
	cpu_set_t set;
	if (sched_getaffinity(0, sizeof set, &set) == 0)
		return CPU_COUNT(&set);
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	return cores < 1 ? 1 : cores > THREADS_MOST ? THREADS_MOST : (int)cores;
}

void parallel_alone(void *(*run)(void *context), void *context)
{
	struct rlimit limit;
	pthread_t thread;
	if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur >= STACK_BYTES) {
		run(context);
		return;
	}
	int error = start_thread(&thread, run, context);
	if (error)
		fatal("the stack is limited to %llu bytes, and a thread with %d cannot be "
		      "started: %s",
			(unsigned long long)limit.rlim_cur, STACK_BYTES, strerror(error));
	pthread_join(thread, NULL);
}
