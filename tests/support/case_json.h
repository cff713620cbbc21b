#ifndef SUPPORT_CASE_JSON_H
#define SUPPORT_CASE_JSON_H

#include <jansson.h>
#include <stdint.h>

/* Fields of a reference case's record; what is missing is 0, `otherwise`, or "". */
int64_t case_integer(const json_t *object, const char *key);
int64_t case_integer_or(const json_t *object, const char *key, int64_t otherwise);
const char *case_text(const json_t *object, const char *key);

#endif
