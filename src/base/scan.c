#include "base/scan.h"

#include "base/number.h"

#include <string.h>

static const char *skip_blanks(const char *at)
{
	return at + strspn(at, " \t");
}

bool scan_text(const char **at, const char *text)
{
	const char *from = skip_blanks(*at);
	size_t length = strlen(text);
	if (strncmp(from, text, length))
		return false;
	*at = from + length;
	return true;
}

bool scan_integer(const char **at, int64_t *out)
{
	const char *from = skip_blanks(*at);
	size_t length = strspn(from, "0123456789");
	int64_t value = 0;
	for (size_t i = 0; i < length; i++) {
		if (!number_mul(value, 10, &value) || !number_add(value, from[i] - '0', &value))
			return false;
	}
	if (!length)
		return false;
	*at = from + length;
	*out = value;
	return true;
}

bool scan_end(const char **at)
{
	const char *from = skip_blanks(*at);
	if (*from)
		return false;
	*at = from;
	return true;
}
