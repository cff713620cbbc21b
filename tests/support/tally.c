#include "tests/support/tally.h"

#include <stdarg.h>
#include <stdio.h>

void tally_pass(struct tally *tally)
{
	tally->passed++;
}

void tally_fail(struct tally *tally, const char *test, const char *format, ...)
{
	tally->failed++;
	printf("%s: %s: ", tally->family, test);
	va_list list;
	va_start(list, format);
	vprintf(format, list);
	va_end(list);
	putchar('\n');
}

int tally_skip(const struct tally *tally)
{
	printf("%s: skipped, its folder is missing\n", tally->family);
	return 0;
}

int tally_end(const struct tally *tally)
{
	printf("%s: %d passed, %d failed\n", tally->family, tally->passed, tally->failed);
	return tally->failed != 0;
}
