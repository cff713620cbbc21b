#include "tests/support/fuzz_command.h"

#include "base/arena.h"
#include "base/text.h"
#include "cli/settings.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void words_add(struct arena *arena, struct words *words, const char *format, ...)
{
	char text[4096];
	va_list list;
	va_start(list, format);
	vsnprintf(text, sizeof text, format, list);
	va_end(list);
	for (const char *at = text + strspn(text, " "); *at; at += strspn(at, " ")) {
		size_t length = strcspn(at, " ");
		if (words->count == WORDS_MOST)
			abort();
		words->at[words->count++] = arena_format(arena, "%.*s", (int)length, at);
		at += length;
	}
}

static const char *line_of(
	struct arena *arena, const struct command *command, const struct words *words)
{
	struct text line = text_open(arena);
	text_add(&line, "lxplore %s", command->name);
	for (int i = 0; i < words->count; i++)
		text_add(&line, " %s", words->at[i]);
	return text_read(&line);
}

struct did do_command(
	const struct fuzz_input *input, const struct command *command, const struct words *words)
{
	struct arena *arena = arena_open();
	struct diag *diag = diag_open(arena);
	struct arguments arguments;
	struct did did = {.line = line_of(input->arena, command, words)};
	if (option_parse(arena, settings_of(arena, command->bit), words->count, words->at, diag,
		    &arguments))
		did.status = command->run(arena, &arguments, diag);
	else
		did.status = command_refuse(diag);
	arena_close(arena);
	struct fuzz_said said = fuzz_said(input->arena);
	did.out = said.out;
	did.err = said.err;
	if (did.status < EXIT_FOUND || did.status > EXIT_NOTHING)
		fuzz_wrong("%s\nends with status %d\n%s", did.line, did.status, did.err);
	if (did.status == EXIT_INPUT && !did.err[0])
		fuzz_wrong("%s\nis refused without a reason", did.line);
	if (did.status != EXIT_FOUND && !did.err[0] && !did.out[0])
		fuzz_wrong("%s\nends with status %d and says nothing", did.line, did.status);
	return did;
}

int64_t integer_in(const char *json, const char *key)
{
	char wanted[64];
	snprintf(wanted, sizeof wanted, "\"%s\": ", key);
	const char *at = strstr(json, wanted);
	int64_t value;
	if (!at || sscanf(at + strlen(wanted), "%" SCNd64, &value) != 1)
		return -1;
	return value;
}
