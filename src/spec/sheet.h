#ifndef SPEC_SHEET_H
#define SPEC_SHEET_H

#include "spec/reader.h"

/*
 * All spec files of one run as one map: their top-level keys together, in any
 * order.  A key given twice is an error that shows both places; the constraint
 * keys are the exception, their targets add up, and so are the keys that nothing
 * reads.  An empty list says nothing.  `arch` is Timeloop's older word for
 * `architecture`.
 *
 *	struct sheet *sheet = sheet_open(arena, diag);
 *	for each file: sheet_add_file(sheet, path);
 *	struct reading reading = sheet_reading(sheet);
 *	const struct node *node = sheet_find(sheet, "architecture");
 *	..
 *	sheet_done(sheet);
 *	.. reads all that it found ..
 *	sheet_note(sheet);
 *
 * `sheet_done` refuses every known key that was not read: a spec is
 * obeyed or refused, never ignored.  Keys that cannot change a result, and
 * unknown keys beside a problem, which Timeloop ignores, go into the one
 * note of the run (reader.h).
 */
struct sheet;

struct sheet *sheet_open(struct arena *arena, struct diag *diag);

/* True if a key may stand at the top of any spec. */
bool sheet_key_is(const char *key);

/* Those keys one after the other; NULL after the last. */
const char *sheet_key_at(size_t i);

/* A key that specs may have besides; before the first file. */
void sheet_know(struct sheet *sheet, const char *key);

/* Both complain. */
void sheet_add_file(struct sheet *sheet, const char *path);
void sheet_add(struct sheet *sheet, const struct node *root);

/* Returns the state for typed reads, with the variables of the `variables:` key.  To be called after the last file:
 * complains about keys that no spec has. */
struct reading sheet_reading(struct sheet *sheet);

/* The value of a top-level key, marked as used; NULL if no file gives it. */
const struct node *sheet_find(struct sheet *sheet, const char *key);

/* True if any file gives the key; does not mark it. */
bool sheet_has(const struct sheet *sheet, const char *key);

/* Returns the place of a key that sheet_has. */
struct span sheet_place(const struct sheet *sheet, const char *key);

void sheet_done(struct sheet *sheet);

/* True if a `sparse_optimizations:` asks for any; `{targets: []}` does not. */
bool sheet_asks_for_sparsity(const struct node *node);

/* The one note about all keys that nothing reads; after the last read. */
void sheet_note(struct sheet *sheet);

#endif
