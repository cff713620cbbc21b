#ifndef SUPPORT_SANITIZED_H
#define SUPPORT_SANITIZED_H

#include <stdbool.h>
#include <stdio.h>

#if !defined(__has_feature)
#define __has_feature(name) 0
#endif

/* Tests of limits of the system: sanitizers reserve more than any such limit, and need larger stacks.
 * The one for threads has files, too, and cannot start where those must be small. */
#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
enum { SANITIZED = 1, THREADS_WATCHED = 1 };
#elif defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
enum { SANITIZED = 1, THREADS_WATCHED = 0 };
#else
enum { SANITIZED = 0, THREADS_WATCHED = 0 };
#endif

/* Says that a test is skipped, and why. */
static inline bool is_skipped(bool why, const char *text)
{
	if (why)
		printf("skip: %s\n", text);
	return why;
}

#endif
