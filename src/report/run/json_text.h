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

/* A number, a word or a truth value as it stands in a CSV, not yet quoted. */
const char *json_leaf_text(struct arena *arena, const json_t *leaf);

/* A field of a CSV, RFC 4180: quoted if it has a comma, a quote or a line end.  A text that a spreadsheet
 * would take for a formula is quoted and has an apostrophe in front, which csv_cells takes off. */
struct text;
void csv_field(struct text *text, const char *value);

/* The text of a JSON value, indented or not as jansson's flags say, with its escapes for what would
 * end a line in YAML.  Takes the value over; NULL if there is none. */
const char *json_dump(struct arena *arena, json_t *value, size_t flags);

/* A number; "infinite" where it is, for which JSON has none. */
json_t *json_real_or_infinite(double value);

#endif
