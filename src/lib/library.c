#include "lib/library.h"

#include "base/arena.h"
#include "base/fatal.h"
#include "search/engine/parallel.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Guards what follows, and the ends of calls. */
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;
static char failure[1024]; /* "": none */

struct library_thread {
	struct lxplore *run;
	struct library_task task;
	enum lxplore_status status;
	bool done;
};

/* The thread that cannot go on stays where it is; who waits for any work goes on without it. */
static void fail(const char *text)
{
	pthread_mutex_lock(&gate);
	if (!failure[0])
		snprintf(failure, sizeof failure, "lxplore: %s\n", text);
	pthread_cond_broadcast(&ended);
	pthread_mutex_unlock(&gate);
	for (;;)
		pause();
}

const char *library_failure(void)
{
	pthread_mutex_lock(&gate);
	bool failed = failure[0];
	pthread_mutex_unlock(&gate);
	return failed ? failure : NULL; /* it is written once */
}

static void *run_call(void *context)
{
	struct library_thread *call = context;
	call->status = call->task.run(call->run, &call->task);
	pthread_mutex_lock(&gate);
	call->done = true;
	pthread_cond_broadcast(&ended);
	pthread_mutex_unlock(&gate);
	return NULL;
}

/* True if it came to its end. */
static bool wait_for(const struct library_thread *call)
{
	pthread_mutex_lock(&gate);
	while (!call->done && !failure[0])
		pthread_cond_wait(&ended, &gate);
	bool done = call->done;
	pthread_mutex_unlock(&gate);
	return done;
}

/* What is at work after a failure keeps its call. */
static enum lxplore_status call_apart(struct lxplore *run, struct library_task task)
{
	pthread_t thread;
	enum lxplore_status status = LXPLORE_FAILED;
	struct library_thread *call = calloc(1, sizeof *call);
	if (!call)
		return LXPLORE_FAILED;
	*call = (struct library_thread){.run = run, .task = task};
	fatal_tell(fail);
	if (parallel_apart(&thread, run_call, call) == 0) {
		if (!wait_for(call)) {
			pthread_detach(thread);
			return LXPLORE_FAILED;
		}
		pthread_join(thread, NULL);
		status = call->status;
	}
	free(call);
	return status;
}

enum lxplore_status library_call(struct lxplore *run, struct library_task task)
{
	if (library_failure())
		return LXPLORE_FAILED;
	if (atomic_flag_test_and_set(&run->busy))
		return LXPLORE_BUSY;
	atomic_store(&run->stopped, false);
	atomic_store(&run->working, true);
	enum lxplore_status status = call_apart(run, task);
	atomic_store(&run->working, false);
	atomic_flag_clear(&run->busy);
	return status;
}

struct arena *library_renew(struct lxplore *run)
{
	arena_close(run->arena);
	free(run->write_message);
	run->write_message = NULL;
	run->arena = arena_open();
	run->output = run->message = "";
	run->complaint_count = 0;
	run->points = (struct library_table){0};
	run->files = NULL;
	return run->arena;
}

/* --- handles */

const char *lxplore_version(void)
{
	return LXPLORE_VERSION;
}

struct lxplore *lxplore_open(void)
{
	struct lxplore *run = calloc(1, sizeof *run);
	if (!run)
		return NULL;
	atomic_flag_clear(&run->busy);
	run->specs.end = &run->specs.first;
	run->settings.end = &run->settings.first;
	run->output = run->message = "";
	return run;
}

static void free_items(struct library_item *item)
{
	while (item) {
		struct library_item *next = item->next;
		free(item);
		item = next;
	}
}

void lxplore_close(struct lxplore *run)
{
	if (!run || library_failure())
		return; /* threads that stay where they are may know it */
	free_items(run->specs.first);
	free_items(run->settings.first);
	free(run->write_message);
	arena_close(run->arena);
	free(run);
}

/* --- what is asked */

/* An item of two texts, each with a NUL behind it; `length` is that of the second. */
static struct library_item *make_item(
	const char *name, size_t name_length, const char *text, size_t length)
{
	if (length > SIZE_MAX / 4 || name_length > SIZE_MAX / 4)
		return NULL;
	struct library_item *item = malloc(sizeof *item + name_length + 1 + length + 1);
	if (!item)
		return NULL;
	*item = (struct library_item){.name = item->bytes,
		.length = length,
		.text = text ? item->bytes + name_length + 1 : NULL};
	memcpy(item->bytes, name, name_length);
	item->bytes[name_length] = '\0';
	if (text)
		memcpy(item->bytes + name_length + 1, text, length);
	item->bytes[name_length + 1 + length] = '\0';
	return item;
}

static enum lxplore_status add(
	struct lxplore *run, struct library_list *list, struct library_item *item)
{
	if (!item)
		return LXPLORE_FAILED;
	if (atomic_flag_test_and_set(&run->busy)) {
		free(item);
		return LXPLORE_BUSY;
	}
	*list->end = item;
	list->end = &item->next;
	atomic_flag_clear(&run->busy);
	return LXPLORE_FOUND;
}

enum lxplore_status lxplore_add(struct lxplore *run, const char *path)
{
	return add(run, &run->specs, make_item(path, strlen(path), NULL, 0));
}

enum lxplore_status lxplore_add_text(
	struct lxplore *run, const char *name, const char *text, size_t length)
{
	return add(run, &run->specs, make_item(name, strlen(name), text, length));
}

enum lxplore_status lxplore_set(struct lxplore *run, const char *name, const char *value)
{
	size_t length = value ? strlen(value) : 0;
	return add(run, &run->settings, make_item(name, strlen(name), value, length));
}

enum lxplore_status lxplore_on_progress(struct lxplore *run,
	void (*tell)(void *context, const struct lxplore_progress *progress), void *context)
{
	if (atomic_flag_test_and_set(&run->busy))
		return LXPLORE_BUSY;
	run->tell = tell;
	run->context = context;
	atomic_flag_clear(&run->busy);
	return LXPLORE_FOUND;
}

void lxplore_stop(struct lxplore *run)
{
	if (atomic_load(&run->working))
		atomic_store(&run->stopped, true);
}
