#ifndef BASE_SCAN_H
#define BASE_SCAN_H

#include <stdbool.h>
#include <stdint.h>

static inline bool scan_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Letters of ASCII and '_'. */
static inline bool scan_is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/*
 * Taking a line of text apart.  Each function skips blanks, and moves *at past
 * what it found; when it finds nothing it answers false and leaves *at alone.
 */
bool scan_text(const char **at, const char *text);
bool scan_integer(const char **at, int64_t *out); /* decimal digits, no sign */
bool scan_end(const char **at);                   /* nothing but blanks is left */

#endif
