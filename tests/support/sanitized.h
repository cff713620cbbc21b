#ifndef SUPPORT_SANITIZED_H
#define SUPPORT_SANITIZED_H

#include <stdbool.h>
#include <stdio.h>

/* Tests of limits of the system: sanitizers reserve more than any such limit, and need larger stacks. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SANITIZED = 1 };
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif
#else
enum { SANITIZED = 0 };
#endif

/* LLVM's OpenMP runtime maps a file as it starts, on the caller's stack, and ends the process itself where it
 * cannot have its threads; GCC's does not. */
#if defined(__clang__)
enum { LLVM_OPENMP = 1 };
#else
enum { LLVM_OPENMP = 0 };
#endif
#define LLVM_OPENMP_TEXT "the limits of LLVM's OpenMP runtime are its own"

/* Says that a test is skipped, and why. */
static inline bool is_skipped(bool why, const char *text)
{
	if (why)
		printf("skip: %s\n", text);
	return why;
}

#endif
