#ifndef CLI_SCHEMA_H
#define CLI_SCHEMA_H

#include "cli/kind.h"

/*
 * The tables of the keys of specs (spec/field.h) as a JSON schema, draft 7, for editors, and as rows for people.
 */

/* The schema of spec files. */
const char *schema_text(struct arena *arena);

/* Rows of the attributes of machines, storages and computes. */
void schema_list_attributes(struct arena *arena, struct list_rows *rows);

/* The same as a table of Markdown. */
const char *schema_attributes_markdown(struct arena *arena);

#endif
