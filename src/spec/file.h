#ifndef SPEC_FILE_H
#define SPEC_FILE_H

#include "base/diag.h"

/*
 * The bytes of a spec before YAML sees them, or of a table, without a byte order mark.
 * `file_read` reads a spec whole, or stdin for "-", and refuses what is too
 * large, a regular file without reading it; it is opened once, so it may be a pipe; `file_of_text` does so with text in memory;
 * `file_read_table` reads what has a row for each of many things, up to TABLE_BYTES_MOST.
 * `file_check` finds what a YAML parser would explain badly: what file_check_characters
 * finds, Jinja templates.  `file_check_characters` finds broken UTF-8 and
 * control characters.
 */
struct arena;

enum { TABLE_BYTES_MOST = 1 << 26 };

const struct source *file_read(struct arena *arena, const char *path, struct diag *diag);
const struct source *file_read_table(struct arena *arena, const char *path, struct diag *diag);
const struct source *file_of_text(
	struct arena *arena, const char *name, const char *text, size_t length, struct diag *diag);

/*
 * Puts the text of other files where `{{include_text('FILE')}}` stands, as timeloopfe's macro does:
 * as it is, without indentation.  FILE is relative to the folder of the file that says so, or to one
 * of `folders` (NULL: none; NULL ends them), and may include others, up to INCLUDES_MOST deep.  The
 * answer has the name and hash of `source`, and knows where its pieces come from.  NULL after
 * complaining; `source` itself where nothing is included.
 */
enum { INCLUDES_MOST = 16 };
const struct source *file_include(struct arena *arena, const struct source *source,
	const char *const *folders, struct diag *diag);

bool file_check_characters(const struct source *source, struct diag *diag);
bool file_check(const struct source *source, struct diag *diag);

/* True if there is nothing in a YAML file but comments and blank lines. */
bool file_says_nothing(const struct source *source);

#endif
