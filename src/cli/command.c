#include "cli/command.h"

#include "base/arena.h"
#include "base/fatal.h"
#include "base/fit.h"
#include "base/text.h"
#include "cli/kind.h"
#include "cli/settings.h"
#include "report/run/folder.h"
#include "report/run/json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const format_names[] = {"text", "csv", "json", "yaml", NULL};
const char *const score_format_names[] = {"text", "csv", "json", "yaml", "timeloop", NULL};

static const struct command *const commands[] = {
	&command_explore,
	&command_score,
	&command_simulate,
	&command_check,
	&command_calibrate,
	&command_diff,
	&command_campaign,
	&command_report,
	&command_import,
	&command_init,
	&command_list,
	&command_manual,
};
enum { COMMANDS = sizeof commands / sizeof *commands };

const struct command *command_at(size_t i)
{
	if (i < COMMANDS)
		return commands[i];
	i -= COMMANDS;
	for (size_t k = 0; input_kinds[k]; k++)
		if (input_kinds[k]->command && i-- == 0)
			return input_kinds[k]->command;
	return NULL;
}

const struct command *command_find(const char *name)
{
	const struct command *at;
	for (size_t i = 0; (at = command_at(i)); i++)
		if (text_equal(at->name, name))
			return at;
	return NULL;
}

const char *command_help(struct arena *arena, const struct command *command)
{
	return arena_format(arena, "%s\n\nusage: lxplore %s %s\n\n%s%s%s", command->summary,
		command->name, command->usage, settings_help(arena, command->bit),
		command->manual[0] && command->bit ? "\n" : "", command->manual);
}

enum format command_usual_format(void)
{
	return isatty(STDOUT_FILENO) ? FORMAT_TEXT : FORMAT_JSON;
}

/* Data of this thread is text for people: command_format said so. */
static _Thread_local bool is_for_people;

bool command_format(const struct arguments *arguments, struct diag *diag, enum format *out)
{
	int format = (int)*out;
	bool good = option_word(arguments, "format", diag, &format);
	*out = (enum format)format;
	is_for_people = good && *out == FORMAT_TEXT;
	return good;
}

/* NULL: stdout, stderr. */
static _Thread_local FILE *data_stream, *people_stream;

void command_redirect(FILE *data, FILE *people)
{
	data_stream = data;
	people_stream = people;
}

static FILE *data(void)
{
	return data_stream ? data_stream : stdout;
}

FILE *command_people(void)
{
	return people_stream ? people_stream : stderr;
}

int command_refuse(const struct diag *diag)
{
	diag_print(diag, command_people());
	return diag_only_illegal(diag) ? EXIT_IMPOSSIBLE : EXIT_INPUT;
}

/* Names come from specs: a terminal must not obey them. */
static bool put(const char *text)
{
	struct arena *arena = arena_open();
	const char *shown = utf8_shown(arena, text);
	if (is_for_people)
		shown = fit_stream(arena, data(), shown);
	bool good = fputs(shown, data()) != EOF;
	arena_close(arena);
	return good;
}

void command_add(const char *text)
{
	if (!put(text))
		fatal("cannot write to stdout: %s", strerror(errno));
}

void command_print(const char *text)
{
	if (!put(text) || fflush(data()) == EOF)
		fatal("cannot write to stdout: %s", strerror(errno));
}

const char *command_value(struct arena *arena, enum format format, json_t *value)
{
	return format == FORMAT_CSV ? json_csv(arena, value) : json_text(arena, value);
}

void command_write(struct arena *arena, const char *path, const char *text)
{
	fatal_if(file_write(arena, path, text, strlen(text)));
}
