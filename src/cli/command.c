#include "cli/command.h"

#include "base/arena.h"
#include "base/fatal.h"
#include "base/text.h"
#include "cli/kind.h"
#include "cli/settings.h"
#include "report/run/folder.h"
#include "report/run/json.h"
#include "search/drive/solver.h"

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
	*out = format == FORMAT_YAML ? FORMAT_JSON : (enum format)format;
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
static bool stdout_put(const char *text)
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
	if (!stdout_put(text))
		fatal("cannot write to stdout: %s", strerror(errno));
}

void command_print(const char *text)
{
	if (!stdout_put(text) || fflush(data()) == EOF)
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

/*
 * The man page and the completions of shells, made of the commands and of the table of settings.
 */
static const char *manual_page(struct arena *arena);
static const char *manual_bash(struct arena *arena);
static const char *manual_zsh(struct arena *arena);

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

static const char *manual_page(struct arena *arena)
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

/* The words that a command's first argument can be, of a usage such as `man|bash|zsh`; false: it is
 * something else. */
static bool add_first_words(struct text *text, const struct command *command)
{
	size_t length = strcspn(command->usage, " ");
	if (!memchr(command->usage, '|', length))
		return false;
	for (size_t i = 0; i < length; i++)
		text_add(text, "%c", command->usage[i] == '|' ? ' ' : command->usage[i]);
	return true;
}

/* --- bash */

static void add_words(struct text *text, const char *const *words)
{
	for (size_t i = 0; words[i]; i++)
		text_add(text, "%s%s", i ? " " : "", words[i]);
}

/* STAGE=NAME, or for `place` the bare names of its stage. */
static void add_solvers(struct text *text, const struct command *command)
{
	bool place = text_equal(command->name, "place");
	for (size_t i = 0; solvers[i]; i++)
		if (!place)
			text_add(text, "%s=%s ", stage_names[solvers[i]->stage], solvers[i]->name);
		else if (solvers[i]->stage == STAGE_PLACE)
			text_add(text, "%s ", solvers[i]->name);
}

/* The case of one option that takes a value: `COMMAND OPTION` is what stands before it. */
static void add_bash_value(
	struct text *text, const struct command *command, const struct option *option)
{
	text_add(text, "\t'%s --%s'", command->name, option->name);
	if (option->letter)
		text_add(text, "|'%s -%c'", command->name, option->letter);
	text_add(text, ") ");
	if (text_equal(option->name, "solver")) {
		text_add(text, "_lxplore_words '");
		add_solvers(text, command);
		text_add(text, "'");
	} else if (option->words) {
		text_add(text, "_lxplore_words '");
		add_words(text, option->words);
		text_add(text, "'");
	} else if (option->type == OPTION_FOLDER || option->type == OPTION_FILE) {
		text_add(text, "_lxplore_files -%c", option->type == OPTION_FILE ? 'f' : 'd');
	}
	text_add(text, " ;;\n");
}

/* Adds the completions of a command's arguments: its options, words of its usage such as
 * `man|bash|zsh`, or files. */
static void add_bash_command(struct text *text, const struct command *command)
{
	const struct option *option;
	text_add(text, "\t'%s -') _lxplore_words '--help", command->name);
	for (size_t i = 0; (option = settings_at(i)); i++)
		if (option->commands & command->bit)
			text_add(text, " --%s", option->name);
	text_add(text, "' ;;\n");
	struct text words = text_open(text->arena);
	if (add_first_words(&words, command))
		text_add(text,
			"\t'%s '*) if [ \"$at\" -eq 2 ]; then _lxplore_words '%s'; "
			"else _lxplore_files -f; fi ;;\n",
			command->name, text_read(&words));
}

/* Words complete what follows the last comma; bash itself splits words at '=', so that --format=te
 * are three of its words, and replaces what follows the last one. */
static const char bash_head[] =
	"# Completions of lxplore for bash, made by `lxplore manual bash`.\n"
	"_lxplore_words() {\n"
	"\tlocal last=${value##*,}\n"
	"\tlocal lead=${value%\"$last\"} strip=${value%\"${value##*=}\"}\n"
	"\tCOMPREPLY=($(compgen -W \"$1\" -- \"$last\"))\n"
	"\tCOMPREPLY=(\"${COMPREPLY[@]/#/$lead}\")\n"
	"\tCOMPREPLY=(\"${COMPREPLY[@]#\"$strip\"}\")\n"
	"}\n\n"
	"_lxplore_files() {\n"
	"\tcompopt -o filenames 2>/dev/null\n"
	"\tCOMPREPLY=($(compgen \"$1\" -- \"$value\"))\n"
	"}\n\n";

static const char bash_body[] =
	"_lxplore() {\n"
	"\tlocal at=$COMP_CWORD value=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} before=''\n"
	"\tCOMPREPLY=()\n"
	"\twhile [ \"$at\" -gt 2 ] && [[ ${COMP_WORDS[at]} = '=' || ${COMP_WORDS[at - 1]} = '=' ]]; do\n"
	"\t\tat=$((at - 1))\n"
	"\t\tvalue=${COMP_WORDS[at]}$value\n"
	"\tdone\n"
	"\tcase $value in\n"
	"\t--*=*) before=${value%%=*} value=${value#*=} ;;\n"
	"\t*) before=${COMP_WORDS[at - 1]} ;;\n"
	"\tesac\n"
	"\tif [ \"$at\" -eq 1 ]; then command='' before=''; fi\n"
	"\tcase \"$command $before\" in\n";

static const char *manual_bash(struct arena *arena)
{
	struct text text = text_open(arena);
	const struct command *command;
	const struct option *option;
	text_add(&text, "%s", bash_head);
	text_add(&text, "%s\t' ') _lxplore_words '--help --version", bash_body);
	for (size_t i = 0; (command = command_at(i)); i++)
		text_add(&text, " %s", command->name);
	text_add(&text, "'; return ;;\n");
	for (size_t i = 0; (command = command_at(i)); i++)
		for (size_t k = 0; (option = settings_at(k)); k++)
			if (option->commands & command->bit && option->argument)
				add_bash_value(&text, command, option);
	text_add(&text, "\t*)\n\tcase \"$command ${value:0:1}\" in\n");
	for (size_t i = 0; (command = command_at(i)); i++)
		add_bash_command(&text, command);
	text_add(&text, "\t*) _lxplore_files -f ;;\n\tesac ;;\n\tesac\n}\n"
			"complete -F _lxplore lxplore\n");
	return text_read(&text);
}

/* --- zsh */

/* In single quotes, with what _arguments reads otherwise escaped. */
static void add_quoted(struct text *text, const char *words)
{
	for (const char *at = words; *at; at++) {
		if (*at == '\'')
			text_add(text, "'\\''");
		else if (strchr("[]:\\", *at))
			text_add(text, "\\%c", *at);
		else
			text_add(text, "%c", *at);
	}
}

/* :DIR:_files -/ */
static void add_zsh_value(
	struct text *text, const struct command *command, const struct option *option)
{
	text_add(text, ":");
	add_quoted(text, option->argument);
	text_add(text, ":");
	if (text_equal(option->name, "solver")) {
		text_add(text, "(");
		add_solvers(text, command);
		text_add(text, ")");
	} else if (option->words) {
		text_add(text, "(");
		add_words(text, option->words);
		text_add(text, ")");
	} else if (option->type == OPTION_FOLDER) {
		text_add(text, "_files -/");
	} else if (option->type == OPTION_FILE) {
		text_add(text, "_files");
	}
}

static void add_zsh_option(
	struct text *text, const struct command *command, const struct option *option)
{
	text_add(text, " \\\n\t\t");
	if (option->letter)
		text_add(text, "'(-%c --%s)'{-%c+,--%s%s}'", option->letter, option->name,
			option->letter, option->name, option->argument ? "=" : "");
	else
		text_add(text, "'%s--%s%s", option->many ? "*" : "", option->name,
			option->argument ? "=" : "");
	text_add(text, "[");
	add_quoted(text, option->help);
	text_add(text, "]");
	if (option->argument)
		add_zsh_value(text, command, option);
	text_add(text, "'");
}

static void add_zsh_command(struct text *text, const struct command *command)
{
	const struct option *option;
	text_add(
		text, "\t%s)\n\t\t_arguments -S '--help[the options of a command]'", command->name);
	for (size_t i = 0; (option = settings_at(i)); i++)
		if (option->commands & command->bit)
			add_zsh_option(text, command, option);
	struct text words = text_open(text->arena);
	if (add_first_words(&words, command))
		text_add(text, " \\\n\t\t'1:what:(%s)'", text_read(&words));
	if (!words.length || command->bit)
		text_add(text, " \\\n\t\t'*:file:_files'");
	text_add(text, " ;;\n");
}

static const char *manual_zsh(struct arena *arena)
{
	struct text text = text_open(arena);
	const struct command *command;
	text_add(&text, "#compdef lxplore\n"
			"# Completions of lxplore for zsh, made by `lxplore manual zsh`.\n"
			"local -a commands\n"
			"commands=(\n");
	for (size_t i = 0; (command = command_at(i)); i++) {
		text_add(&text, "\t'%s:", command->name);
		add_quoted(&text, command->summary);
		text_add(&text, "'\n");
	}
	text_add(&text, ")\n"
			"if (( CURRENT == 2 )); then\n"
			"\t_describe command commands\n"
			"\treturn\n"
			"fi\n"
			"local command=$words[2]\n"
			"shift words\n"
			"(( CURRENT-- ))\n"
			"case $command in\n");
	for (size_t i = 0; (command = command_at(i)); i++)
		add_zsh_command(&text, command);
	text_add(&text, "esac\n");
	return text_read(&text);
}

static int run(struct arena *arena, const struct arguments *arguments, struct diag *diag)
{
	static const struct {
		const char *name;
		const char *(*make)(struct arena *arena);
	} forms[] = {{"man", manual_page}, {"bash", manual_bash}, {"zsh", manual_zsh}};
	for (size_t i = 0; arguments->count == 1 && i < sizeof forms / sizeof *forms; i++)
		if (text_equal(forms[i].name, arguments->at[0])) {
			command_print(forms[i].make(arena));
			return EXIT_FOUND;
		}
	fputs("lxplore: manual needs one of: man, bash, zsh\n", stderr);
	return EXIT_INPUT;
}

const struct command command_manual = {
	.name = "manual",
	.usage = "man|bash|zsh",
	.summary = "prints the man page, or what a shell needs to complete commands",
	.manual =
		"For bash: source <(lxplore manual bash).  For zsh, the file _lxplore of a folder\n"
		"of fpath.  make install puts all three where they are found.\n",
	.run = run,
};
