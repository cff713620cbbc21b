#include "tests/support/complaints.h"

#include "base/arena.h"
#include "base/fatal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *complaints_text(struct arena *arena, const struct diag *diag)
{
	char *text = NULL;
	size_t length;
	FILE *stream = open_memstream(&text, &length);
	if (!stream)
		fatal("cannot open a stream in memory");
	diag_print(diag, stream);
	fclose(stream);
	const char *kept = arena_text(arena, text);
	free(text);
	return kept;
}

const char *complaints_first(struct arena *arena, const struct diag *diag)
{
	char *text = arena_text(arena, complaints_text(arena, diag));
	text[strcspn(text, "\n")] = '\0';
	const char *error = strstr(text, "error: ");
	return error ? error : text;
}
