#include "base/fatal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void fatal(const char *format, ...)
{
	va_list list;
	va_start(list, format);
	fputs("lxplore: ", stderr);
	vfprintf(stderr, format, list);
	fputc('\n', stderr);
	va_end(list);
	fflush(NULL);
	_exit(4); /* other threads may be at work, or at an end of their own */
}

void bug_at(const char *file, int line, const char *format, ...)
{
	va_list list;
	va_start(list, format);
	fprintf(stderr, "lxplore: bug at %s:%d: ", file, line);
	vfprintf(stderr, format, list);
	fputc('\n', stderr);
	va_end(list);
	abort();
}
