#ifndef BASE_STOPPER_H
#define BASE_STOPPER_H

#include <stdbool.h>

/*
 * Lets a caller cancel work that has no budget.  A NULL pointer, and one without `stop`, want
 * nothing.  `stop` may be called by any thread, and what it answers once it answers ever after.
 */
struct stopper {
	void *listener;
	bool (*stop)(void *listener);
};

static inline bool stopper_stops(const struct stopper *stopper)
{
	return stopper && stopper->stop && stopper->stop(stopper->listener);
}

#endif
