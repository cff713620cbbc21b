#ifndef REPORT_JSON_TEXT_H
#define REPORT_JSON_TEXT_H

#include <jansson.h>

/*
 * A JSON value as the text that is printed; both take it over.  As CSV it has
 * one line for each number or word in it: "levels.0.name,LX".
 */
struct arena;
const char *json_text(struct arena *arena, json_t *root);
const char *json_csv(struct arena *arena, json_t *root);

#endif
