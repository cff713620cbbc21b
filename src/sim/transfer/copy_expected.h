#ifndef SIM_COPY_EXPECTED_H
#define SIM_COPY_EXPECTED_H

#include "sim/transfer/copy_state.h"

/*
 * What an element of a written buffer must be at the end, as the operation's page says it, element
 * by element out of the values that were there at first: nothing is asked of the program's
 * instructions.  `out` has room for an element.
 */
void copy_expected(
	const struct copy_run *run, int buffer, const int64_t at[BROADCAST_RANK], uint8_t *out);

#endif
