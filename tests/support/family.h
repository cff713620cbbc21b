#ifndef SUPPORT_FAMILY_H
#define SUPPORT_FAMILY_H

#include "base/text.h"
#include "tests/support/tally.h"

#include <jansson.h>
#include <stdbool.h>

/*
 * A reference family whose expectations are JSON, compared with the results. A case is one pass or
 * one failure, however many values differ in it. Values that a case does not record are not
 * compared; a case that records none of the compared values is a failure.
 */
struct family {
	struct tally tally;
	struct arena *arena; /* of the open case */
	const char *open;    /* the case; NULL when none is */
	struct text differences;
	int compared;
};

/* False if the folder is missing, after saying so. */
bool family_open(struct family *family, const char *name, const char *root, const char *folder);

/* The JSON of a file below the root; NULL after counting a failure that names it. */
json_t *family_file(struct family *family, const char *root, const char *file);

void family_case(struct family *family, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Objects are compared without order.  Takes over `got`, not `expected` (NULL: not recorded). */
void family_expect(struct family *family, const char *what, const json_t *expected, json_t *got);

/* A difference that is not a value; none for NULL. */
void family_note(struct family *family, const char *what, const char *text);

/*
 * Visits the files of every case's folder that are wanted, by name; without `wanted` the folder
 * itself, once, with file NULL.  `folder` is the family's, below the root.
 */
typedef void family_visit(
	struct family *family, const char *root, const char *name, const char *file);
void family_each(struct family *family, const char *root, const char *folder,
	bool (*wanted)(const char *file), family_visit *visit);

/* Prints the closing line; the exit status of the program. */
int family_close(struct family *family);

#endif
