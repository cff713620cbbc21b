#include "cli/manual.h"

#include "base/arena.h"
#include "base/text.h"
#include "cli/kind.h"
#include "cli/settings.h"

#include <string.h>

static const char head[] =
	".TH LXPLORE 1 \"\" \"lxplore " LXPLORE_VERSION "\" \"User Commands\"\n"
	".SH NAME\n"
	"lxplore \\- design-space explorer for tiled AI accelerators\n"
	".SH SYNOPSIS\n"
	".B lxplore\n"
	".I command\n"
	".RI [ option ...]\n"
	".RI [ file ...]\n"
	".SH DESCRIPTION\n"
	"Reads an architecture, a workload and settings in YAML, divides every op over the cores of\n"
	"the chip, places tensors in the scratchpads (LX), prices each candidate with an analytical\n"
	"model, executes it on the included simulator, and writes the frontier of latency, energy,\n"
	"HBM bytes and cores as CSV together with one plan per point.\n"
	".PP\n"
	"Any number of spec files is read as one; their order does not matter. What they are about\n"
	"decides their kind:\n";

static const char tail[] =
	".SH ENVIRONMENT\n"
	".TP\n"
	".B SENCORES\n"
	"Cores to use, 1 to 32.\n"
	".TP\n"
	".B LX_PLANNING\n"
	"0 keeps every tensor in HBM.\n"
	".TP\n"
	".B DXP_LX_FRAC_AVAIL\n"
	"Fraction of LX that planners leave to streaming tiles.\n"
	".TP\n"
	".B CO_OPTIMIZING_LX_PLANNING\n"
	"1 makes score and simulate search splits and placement together.\n"
	".PP\n"
	"The spec wins over the environment, the command line over both.\n"
	".SH EXIT STATUS\n"
	"0 done; 1 impossible or illegal; 2 wrong input; 3 nothing found; 4 the system failed; 130\n"
	"interrupted, what was found is written. diff: 1 when the plans differ.\n";

/* As it stands: hyphens and backslashes are escaped, and so is a dot that begins a line. */
static void add_escaped(struct text *text, const char *words)
{
	for (const char *at = words; *at; at++) {
		bool begins = at == words || at[-1] == '\n';
		if (begins && (*at == '.' || *at == '\''))
			text_add(text, "\\&");
		text_add(text, *at == '-' ? "\\-" : *at == '\\' ? "\\e" : "%c", *at);
	}
}

static void add_kinds(struct text *text)
{
	for (size_t k = 0; input_kinds[k]; k++) {
		text_add(text, ".TP\n.B ");
		add_escaped(text, input_kinds[k]->name);
		text_add(text, "\n");
		add_escaped(text, input_kinds[k]->summary);
		text_add(text, "\n");
	}
}

/* Paragraphs of a command's manual; lines that are indented stand as they are. */
static void add_command(struct text *text, const struct command *command)
{
	text_add(text, ".SS ");
	add_escaped(text, arena_format(text->arena, "%s %s", command->name, command->usage));
	text_add(text, "\n");
	add_escaped(text, command->summary);
	text_add(text, ".\n");
	if (command->manual[0])
		text_add(text, ".PP\n");
	for (const char *at = command->manual; *at;) {
		size_t length = strcspn(at, "\n");
		if (length)
			add_escaped(text, arena_format(text->arena, "%.*s", (int)length, at));
		text_add(text, length ? "\n" : ".PP\n");
		at += length + (at[length] == '\n');
	}
}

/* ", for problems and networks; explore, score" */
static const char *scope_text(struct arena *arena, const struct option *setting)
{
	struct text text = text_open(arena);
	const char *kinds = settings_kinds(arena, setting);
	const struct command *command;
	int count = 0;
	if (kinds)
		text_add(&text, " For %s.", kinds);
	for (size_t i = 0; (command = command_at(i)); i++)
		if (command->bit & setting->commands)
			text_add(&text, "%s%s", count++ ? ", " : " Commands: ", command->name);
	if (count)
		text_add(&text, ".");
	if (setting->key && setting->commands)
		text_add(&text, " Key in search: %s.", setting->key);
	return text_read(&text);
}

static void add_setting(struct text *text, const struct option *setting)
{
	const char *usage = option_usage(text->arena, setting);
	text_add(text, ".TP\n.B ");
	if (setting->commands)
		add_escaped(text, usage + strspn(usage, " "));
	else
		add_escaped(
			text, arena_format(text->arena, "%s: %s", setting->key, setting->argument));
	text_add(text, "\n");
	add_escaped(text, arena_format(text->arena, "%s.%s", setting->help,
				  scope_text(text->arena, setting)));
	text_add(text, "\n");
}

const char *manual_page(struct arena *arena)
{
	struct text text = text_open(arena);
	const struct command *command;
	const struct option *setting;
	text_add(&text, "%s", head);
	add_kinds(&text);
	text_add(&text, ".SH COMMANDS\n"
			".B lxplore \\fIcommand\\fR \\fB\\-\\-help\n"
			"lists the options of a command;\n"
			".B lxplore \\-\\-version\n"
			"prints the version.\n");
	for (size_t i = 0; (command = command_at(i)); i++)
		add_command(&text, command);
	text_add(&text, ".SH OPTIONS\n");
	for (size_t i = 0; (setting = settings_at(i)); i++)
		if (setting->commands)
			add_setting(&text, setting);
	text_add(&text, ".SH KEYS OF search:\n"
			"Settings that specs alone can have, in the map \\fBsearch:\\fR.\n");
	for (size_t i = 0; (setting = settings_at(i)); i++)
		if (!setting->commands)
			add_setting(&text, setting);
	text_add(&text, "%s", tail);
	return text_read(&text);
}
