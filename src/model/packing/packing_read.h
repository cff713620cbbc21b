#ifndef MODEL_PACKING_READ_H
#define MODEL_PACKING_READ_H

#include "base/array.h"
#include "model/packing/packing_file.h"
#include "spec/reader.h"
#include "spec/table.h"

/*
 * What packing_read.c and packing_sums.c share: a table of buffers half
 * read.
 */
enum packing_column {
	COLUMN_ID,
	COLUMN_LOWER,
	COLUMN_UPPER,
	COLUMN_SIZE,
	COLUMN_ALIGNMENT,
	COLUMN_PARENTS,
	COLUMN_IN_PLACE,
	COLUMN_WEIGHT,
	COLUMN_USES,
	COLUMN_ADDRESS,
	COLUMN_HINT,
	COLUMN_GAPS,
	COLUMN_OFFSET,
	COLUMN_COUNT
};

/* The parents of a buffer, to be found when all ids are known. */
struct family {
	int child;
	const char *text;
	struct span span;
};

/* The offset of a buffer, likewise. */
struct packing_reading {
	struct reading reading;
	struct table table;
	int at[COLUMN_COUNT]; /* the table's column; -1: it has none */
	bool end_is_last;     /* upper is the last step */
	int64_t alignment, bytes, weights;
	bool offsets;
	struct names ids;
	struct array(struct buffer) buffers;
	struct array(struct packing_row) rows;
	struct array(struct family) families;
	struct array(int64_t) addresses;
	struct array(struct residence_part) parts;
};

/* The cell of a column in the row at hand; NULL if it is empty or there is none. */
const char *packing_cell(const struct packing_reading *r, enum packing_column column);
struct span packing_cell_span(const struct packing_reading *r, enum packing_column column);

/* The next word of a list `a;b;c`; false at its end.  `word` has room for all of the list. */
bool packing_next_word(const char **list, char *word);

/* `w3;r5;r9` of the buffer; complains. */
void packing_read_uses(struct packing_reading *r, struct buffer *buffer);

/* Finds the parents of all; complains. */
void packing_find_parents(struct packing_reading *r);

/* Where the row says that its buffer lies; complains. */
void packing_read_offset(struct packing_reading *r, int buffer);

/* The placement that the offsets say, and who takes whose place in it. */
struct placement *packing_placed(struct packing_reading *r, const struct packing *packing);

#endif
