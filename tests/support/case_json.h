#ifndef SUPPORT_CASE_JSON_H
#define SUPPORT_CASE_JSON_H

#include "solvers/divide/coefficients.h"

#include <jansson.h>

/* Reading and answering the JSON of reference cases. */

/* A file of a family, parsed; NULL if it is missing.  BUG if it is not JSON. */
json_t *case_file(const char *root, const char *family, const char *name);

int64_t case_integer(const json_t *object, const char *key);
const char *case_text(const json_t *object, const char *key); /* BUG if there is none */

/* {coefficient: split} */
json_t *case_keyed(const struct keyed_split *list, int count);

#endif
