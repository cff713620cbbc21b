#include "cli/manual.h"

#include "base/arena.h"
#include "base/text.h"
#include "cli/settings.h"
#include "search/drive/solver.h"

#include <string.h>

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

/* What a command takes where no option stands before it: its options, words of its usage such as
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

const char *manual_bash(struct arena *arena)
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

const char *manual_zsh(struct arena *arena)
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
