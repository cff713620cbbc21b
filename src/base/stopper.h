#ifndef BASE_STOPPER_H
#define BASE_STOPPER_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Lets a caller cancel work that has no budget.  A NULL pointer, and a stopper without `stop`, never cancel.  Any
 * thread may call `stop`; once it has returned true it returns true for ever.
 */
struct stopper {
	void *listener;
	bool (*stop)(void *listener);
};

static inline bool stopper_stops(const struct stopper *stopper)
{
	return stopper && stopper->stop && stopper->stop(stopper->listener);
}

/*
 * Polls a stopper from a loop, whose work is counted in units of its own: a stopper may look at a clock, which costs
 * more than a short step.
 */
struct stop_poll {
	const struct stopper *stopper; /* NULL: none */
	uint64_t every;                /* units of work between two calls of the stopper */
	uint64_t work;                 /* units since the last call */
	bool stopped;                  /* for ever, once the stopper has returned true */
};

/* Counts so many units of work, and calls the stopper if it is time.  True if the loop is to end. */
static inline bool stop_poll_ends(struct stop_poll *poll, uint64_t work)
{
	poll->work += work;
	if (poll->work < poll->every || poll->stopped)
		return poll->stopped;
	poll->work = 0;
	poll->stopped = stopper_stops(poll->stopper);
	return poll->stopped;
}

/*
 * The answer of a search that decides a question, such as "is there a solution?".  A search that
 * minimises has an enum proof_status instead (model/machine/score.h).
 */
enum verdict {
	VERDICT_YES,  /* with a witness */
	VERDICT_NO,   /* proven */
	VERDICT_OPEN, /* undecided: stopped, or at a limit */
};

#endif
