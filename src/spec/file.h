#ifndef SPEC_FILE_H
#define SPEC_FILE_H

#include "base/diag.h"

/*
 * The bytes of a spec before YAML sees them, without a byte order mark.
 * `file_read` reads a file whole, or stdin for "-", and refuses what is too
 * large without reading it; `file_of_text` does so with text in memory.
 * `file_check` finds what a YAML parser would explain badly: broken UTF-8,
 * control characters, Jinja templates, nothing at all.
 */
struct arena;

const struct source *file_read(struct arena *arena, const char *path, struct diag *diag);
const struct source *file_of_text(
	struct arena *arena, const char *name, const char *text, size_t length, struct diag *diag);
bool file_check(const struct source *source, struct diag *diag);

#endif
