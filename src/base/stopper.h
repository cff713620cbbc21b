#ifndef BASE_STOPPER_H
#define BASE_STOPPER_H

#include <stdbool.h>

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
 * The answer of a search that decides a question, such as "is there a solution?".  A search that
 * minimises has an enum proof_status instead (model/machine/score.h).
 */
enum verdict {
	VERDICT_YES,  /* with a witness */
	VERDICT_NO,   /* proven */
	VERDICT_OPEN, /* undecided: stopped, or at a limit */
};

#endif
