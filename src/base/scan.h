#ifndef BASE_SCAN_H
#define BASE_SCAN_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Taking a line of text apart.  Each function skips blanks, and moves *at past
 * what it found; when it finds nothing it answers false and leaves *at alone.
 */
bool scan_text(const char **at, const char *text);
bool scan_integer(const char **at, int64_t *out); /* decimal digits, no sign */
bool scan_end(const char **at);                   /* nothing but blanks is left */

#endif
