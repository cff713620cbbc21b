#include "cli/listener.h"

#include "cli/command.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* Seconds that may pass after a stop with the last layers of a network. */
static const double grace = 0.3;

/* Seconds within which two signals are one. */
static const double twice = 0.1;

static _Atomic(double) interrupted_at; /* 0: not */

static double now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* The first Ctrl-C, or wish to terminate, ends the search, the second the program; some senders
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

bool listener_hurry(void *at)
{
	struct listener *listener = at;
	double time = now() - grace;
	if (listener->late && time - listener->start > listener->limit)
		return true;
	return listener_stopped(listener) && time > atomic_load(&interrupted_at);
}

bool listener_wait(void *at)
{
	struct listener *listener = at;
	double time = now();
	if (listener->terminal && time - listener->shown >= 1) {
		listener->shown = time;
		fprintf(stderr, "\r\033[Ksearching, %.0f s", time - listener->start);
	}
	return listener_stop(listener);
}

void listener_clear(const struct listener *listener)
{
	if (listener->terminal && listener->shown > 0)
		fputs("\r\033[K", stderr);
}

static void tell_gap(double best, double bound)
{
	fprintf(stderr, "best %.6g, ", best);
	if (bound > 0 && bound <= best)
		fprintf(stderr, "gap %.2f %%, ", 100 * (best - bound) / best);
}

/* Whether a host is told, and not a person; ten times a second at most. */
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

/* Whether a person is told now: ten times a second at most, and what is said at an end always. */
static bool is_due(struct listener *listener, const struct progress *progress, bool end)
{
	double time = now();
	if (tell_host(listener, progress) || !listener->terminal ||
		(!end && time - listener->shown < 0.1))
		return false;
	listener->shown = time;
	fprintf(stderr, "\r\033[K");
	if (progress->best > 0)
		tell_gap(progress->best, progress->bound);
	return true;
}

void listener_progress(void *at, const struct progress *progress)
{
	struct listener *listener = at;
	bool end = progress->round && progress->done == progress->tasks;
	if (!is_due(listener, progress, end))
		return;
	double spent = now() - listener->start;
	if (progress->round)
		fprintf(stderr, "round %d: %zu of %zu tasks, ", progress->round, progress->done,
			progress->tasks);
	fprintf(stderr, "%" PRIu64 " %s, ", progress->count, listener->what);
	if (progress->round && !end)
		fprintf(stderr, "at most %.0f s left",
			spent / (double)progress->done *
				(double)(progress->tasks - progress->done));
	else
		fprintf(stderr, "%.0f s%s", spent, end ? "\n" : "");
}

void listener_layers(void *at, const struct progress *progress)
{
	struct listener *listener = at;
	if (!progress->round || !is_due(listener, progress, true))
		return;
	if (progress->round == 2)
		fprintf(stderr, "layer %zu of %zu done, ", progress->done, progress->tasks);
	fprintf(stderr, "%" PRIu64 " %s, %.0f s%s", progress->count, listener->what,
		now() - listener->start,
		progress->round > 1 && progress->done == progress->tasks ? "\n" : "");
}

struct listener listener_open(int64_t limit_seconds, bool quiet, const char *what)
{
	signal(SIGINT, on_interrupt);
	signal(SIGTERM, on_interrupt);
	return (struct listener){.start = now(),
		.limit = (double)limit_seconds,
		.terminal = !quiet && isatty(STDERR_FILENO),
		.what = what};
}

struct listener listener_hosted(int64_t limit_seconds, const struct listener_host *host)
{
	return (struct listener){.start = now(), .limit = (double)limit_seconds, .host = host};
}

struct asker listener_asker(struct listener *listener, int jobs)
{
	return (struct asker){
		.jobs = jobs, .stopper = {listener, listener_stop}, .progress = listener_progress};
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
