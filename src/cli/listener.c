#include "cli/listener.h"

#include "base/arena.h"
#include "cli/command.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Seconds that may pass after a stop with the last layers of a network. */
static const double grace = 0.3;

/* Part of the time limit that may pass after it with the execution of what was found. */
static const double margin = 0.5;

/* Seconds between lines of progress that do not go to a terminal. */
static const double apart_elsewhere = 60;

/* Of a terminal of 80 columns; the cursor takes one. */
enum { LINE_WIDTH = 79 };

/* Seconds within which two signals are one. */
static const double twice = 0.1;

static _Atomic(double) interrupted_at; /* 0: not */

static double now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* The first SIGINT or SIGTERM ends the search, the second the program; some senders
 * send the first one twice at once. */
static void on_interrupt(int signal_number)
{
	double first = atomic_load(&interrupted_at), time = now();
	if (first <= 0) {
		atomic_store(&interrupted_at, time);
	} else if (time - first > twice) {
		signal(signal_number, SIG_DFL);
		raise(signal_number);
		return;
	}
	signal(signal_number, on_interrupt);
}

bool listener_stop(void *at)
{
	struct listener *listener = at;
	if (listener->limit > 0 && now() - listener->start > listener->limit)
		listener->late = true;
	return listener_stopped(listener) || listener->late;
}

bool listener_stop_execution(void *at)
{
	struct listener *listener = at;
	double end = listener->start + (1 + margin) * listener->limit;
	bool over = listener->limit > 0 && now() > end;
	if (over)
		listener->late = true;
	return listener_stopped(listener) || over;
}

bool listener_hurry(void *at)
{
	struct listener *listener = at;
	double time = now() - grace;
	if (listener->late && time - listener->start > listener->limit)
		return true;
	return listener_stopped(listener) && time > atomic_load(&interrupted_at);
}

/* A line of progress: what has no room any more is left out, so the parts come in the order of their worth. */
struct status_line {
	char text[LINE_WIDTH + 1];
	size_t length;
};

static void status_line_add(struct status_line *line, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void status_line_add(struct status_line *line, const char *format, ...)
{
	char part[2 * LINE_WIDTH];
	va_list list;
	va_start(list, format);
	size_t length = (size_t)vsnprintf(part, sizeof part, format, list);
	va_end(list);
	size_t between = line->length ? 2 : 0;
	if (line->length + between + length > LINE_WIDTH)
		return;
	memcpy(line->text + line->length, ", ", between);
	memcpy(line->text + line->length + between, part, length + 1);
	line->length += between + length;
}

/* On a terminal one line, which is rewritten; elsewhere a line a minute. */
static void listener_show(struct listener *listener, const struct status_line *line)
{
	listener->shown = now();
	if (listener->terminal)
		fprintf(stderr, "\r\033[K%s", line->text);
	else
		fprintf(stderr, "lxplore: %s\n", line->text);
	fflush(stderr);
}

/* True if it is time for people to see something: ten times a second on a terminal, or at once. */
static bool is_due(const struct listener *listener, bool at_once)
{
	double apart = now() - fmax(listener->shown, listener->start);
	if (listener->quiet || listener->host)
		return false;
	return listener->terminal ? at_once || listener->shown <= 0 || apart >= 0.1
				  : apart >= apart_elsewhere;
}

bool listener_wait(void *at)
{
	struct listener *listener = at;
	double time = now();
	if (is_due(listener, false) && time - fmax(listener->shown, listener->start) >= 1) {
		struct status_line line = {.length = 0};
		status_line_add(&line, "%.0f s so far", time - listener->start);
		listener_show(listener, &line);
	}
	return listener_stop(listener);
}

void listener_clear(const struct listener *listener)
{
	if (listener->terminal && listener->shown > 0)
		fputs("\r\033[K", stderr);
}

static void add_best(
	struct status_line *line, const struct listener *listener, double best, double bound)
{
	struct arena *arena = arena_open();
	if (best > 0)
		status_line_add(
			line, "best %s", objective_value_text(arena, listener->objective, best));
	if (bound > 0 && bound <= best)
		status_line_add(line, "gap %.2f %%", 100 * (best - bound) / best);
	arena_close(arena);
}

/* True if the listener is a program; reports progress to it at most ten times a second. */
static bool tell_host(struct listener *listener, const struct progress *progress)
{
	const struct listener_host *host = listener->host;
	double time = now();
	if (!host || time - listener->shown < 0.1)
		return host != NULL;
	listener->shown = time;
	host->progress(host->context, time - listener->start, progress);
	return true;
}

void listener_progress(void *at, const struct progress *progress)
{
	struct listener *listener = at;
	bool end = progress->round && progress->done == progress->tasks;
	struct status_line line = {.length = 0};
	if (tell_host(listener, progress) || !is_due(listener, end))
		return;
	double spent = now() - listener->start;
	add_best(&line, listener, progress->best, progress->bound);
	status_line_add(&line, "%.0f s", spent);
	if (progress->round && progress->tasks)
		status_line_add(&line, "round %d: %zu of %zu tasks", progress->round,
			progress->done, progress->tasks);
	if (progress->round && progress->done && !end)
		status_line_add(&line, "< %.0f s left",
			spent / (double)progress->done *
				(double)(progress->tasks - progress->done));
	status_line_add(&line, "%" PRIu64 " %s", progress->count, listener->what);
	listener_show(listener, &line);
}

void listener_layers(void *at, const struct progress *progress)
{
	struct listener *listener = at;
	struct status_line line = {.length = 0};
	bool end = progress->round > 1 && progress->done == progress->tasks;
	if (tell_host(listener, progress) || !progress->round || !is_due(listener, end))
		return;
	add_best(&line, listener, progress->best, progress->bound);
	status_line_add(&line, "%.0f s", now() - listener->start);
	if (progress->round == 2)
		status_line_add(&line, "layer %zu of %zu done", progress->done, progress->tasks);
	status_line_add(&line, "%" PRIu64 " %s", progress->count, listener->what);
	listener_show(listener, &line);
}

struct listener listener_open(int64_t limit_seconds, bool quiet, const char *what)
{
	signal(SIGINT, on_interrupt);
	signal(SIGTERM, on_interrupt);
	return (struct listener){.start = now(),
		.limit = (double)limit_seconds,
		.quiet = quiet,
		.terminal = !quiet && isatty(STDERR_FILENO),
		.objective = -1,
		.what = what};
}

struct listener listener_hosted(int64_t limit_seconds, const struct listener_host *host)
{
	return (struct listener){.start = now(), .limit = (double)limit_seconds, .host = host};
}

struct asker listener_asker(struct listener *listener, int jobs)
{
	return (struct asker){.jobs = jobs,
		.stopper = {listener, listener_stop},
		.progress = listener_progress,
		.execution = {listener, listener_stop_execution}};
}

bool listener_interrupted(void)
{
	return atomic_load(&interrupted_at) > 0;
}

bool listener_stopped(const struct listener *listener)
{
	const struct listener_host *host = listener->host;
	return listener_interrupted() || (host && host->stop(host->context));
}

const char *listener_limit(const struct listener *listener)
{
	if (listener_stopped(listener))
		return "interrupted";
	return listener->late ? "time limit" : NULL;
}

int listener_status(enum verdict verdict)
{
	if (verdict == VERDICT_OPEN && listener_interrupted())
		return EXIT_INTERRUPTED;
	return verdict == VERDICT_YES  ? EXIT_FOUND
	       : verdict == VERDICT_NO ? EXIT_IMPOSSIBLE
				       : EXIT_NOTHING;
}

double listener_seconds(const struct listener *listener)
{
	return now() - listener->start;
}
