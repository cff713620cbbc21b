#include "base/fatal.h"

#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void (*_Atomic teller)(const char *text);

void fatal_tell(void (*tell)(const char *text))
{
	teller = tell;
}

/* Works without memory: the text is cut. */
static void fatal_print(const char *start, const char *format, va_list list)
{
	char text[1024];
	void (*tell)(const char *text) = teller;
	int length = snprintf(text, sizeof text, "%s", start);
	vsnprintf(text + length, sizeof text - (size_t)length, format, list);
	if (tell)
		tell(text);
	fputs("lxplore: ", stderr);
	utf8_put(stderr, text);
	fputs("\n", stderr);
}

void fatal(const char *format, ...)
{
	va_list list;
	va_start(list, format);
	fatal_print("", format, list);
	va_end(list);
	fflush(NULL);
	_exit(4); /* other threads may be at work, or at an end of their own */
}

void fatal_if(const char *why)
{
	if (why)
		fatal("%s", why);
}

void bug_at(const char *file, int line, const char *format, ...)
{
	char start[256];
	va_list list;
	va_start(list, format);
	snprintf(start, sizeof start, "bug at %s:%d: ", file, line);
	fatal_print(start, format, list);
	va_end(list);
	abort();
}
