#ifndef BASE_BISECT_H
#define BASE_BISECT_H

#include <stddef.h>

/*
 * Binary search.  Sets `at` to the first index from `from` on for which `before`, an expression of `at`, does
 * not hold, or to `end` if it holds for all; where it does not hold it holds for no later index:
 *
 *	size_t at;
 *	bisect(at, 0, count, names[at].number < number);
 */
#define bisect(at, from, end, before)                                                              \
	do {                                                                                       \
		size_t bisect_low = (size_t)(from), bisect_high = (size_t)(end);                   \
		while (bisect_low < bisect_high) {                                                 \
			(at) = bisect_low + (bisect_high - bisect_low) / 2;                        \
			if (before)                                                                \
				bisect_low = (at) + 1;                                             \
			else                                                                       \
				bisect_high = (at);                                                \
		}                                                                                  \
		(at) = bisect_low;                                                                 \
	} while (0)

#endif
