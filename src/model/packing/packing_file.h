#ifndef MODEL_PACKING_FILE_H
#define MODEL_PACKING_FILE_H

#include "base/diag.h"
#include "model/packing/buffer.h"

/*
 * Buffers as rows of a CSV, in the columns of minimalloc and some of our own, in any order:
 *
 *	id                 a name (or buffer, buffer_id)
 *	lower, upper       its life [lower, upper) (or start, begin; or `end`, its last step)
 *	size               bytes; 64KiB and arithmetic are fine
 *	alignment          of its address; empty: that of all
 *	in_place_parents   ids of which it may take the place, `a;b`
 *	in_place           may (or empty), must: it has to take one of them
 *	weight             what is saved by keeping it; empty: its size
 *	uses               when it is written and read, `w3;r5;r9`
 *	address            the one where it has to lie
 *	hint               a suggested address; empty or -1: none
 *	gaps               steps of its life without bytes, which are not read: must be empty
 *	offset             where it lies: ADDRESS, empty: nowhere, or FROM-TO@ADDRESS;.. in parts
 *
 * A parent that does not end in the child's first step, or is smaller, gets a warning and
 * is ignored.
 */
struct arena;
struct source;
struct text;

/* Bytes of the source: a row, and its offset in it (none: the row's end twice). */
struct packing_row {
	size_t from, to, offset_from, offset_to;
	int line;
};

struct packing_file {
	const struct source *source;
	struct packing packing; /* buffers alone; the rest is the reader's to fill */
	bool has_offsets;
	const struct packing_row *rows; /* the header, then one for each buffer */
	struct placement *placement;    /* where the offsets say, if they were asked for */
};

/* Reads a table.  `alignment` is that of buffers which give none.  False after complaining. */
bool packing_read(struct arena *arena, const struct source *source, int64_t alignment, bool offsets,
	struct diag *diag, struct packing_file *out);

/* The rows as they were, with the offsets of a placement. */
const char *packing_write(
	struct arena *arena, const struct packing_file *file, const struct placement *placement);

/* A buffer's offset as it is written: "", "64", "3-6@0;8-10@64". */
void packing_write_offset(
	struct text *text, const struct placement *placement, size_t buffer, size_t *part);

/* The place of a buffer in its file. */
struct span packing_span(const struct packing_file *file, size_t buffer);

#endif
