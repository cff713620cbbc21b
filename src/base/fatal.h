#ifndef BASE_FATAL_H
#define BASE_FATAL_H

/*
 * Two ways to end at once.  `fatal`: for failures of the environment (disk, memory),
 * one line on stderr, exit status 4.  `BUG` is for our own mistakes: file and
 * line, then abort.  Wrong input is neither: it goes to diag.h.
 */
_Noreturn void fatal(const char *format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void bug_at(const char *file, int line, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Ends with the message `why`; returns if it is NULL. */
void fatal_if(const char *why);

/* Lets a library report instead of ending the program of its caller: both functions call `tell`, on the thread that
 * cannot go on, and `tell` does not return.  NULL restores the default. */
void fatal_tell(void (*tell)(const char *text));

#define BUG(...) bug_at(__FILE__, __LINE__, __VA_ARGS__)

#endif
