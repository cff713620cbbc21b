#include "base/arena.h"
#include "base/fatal.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/spec_files.h"
#include "report/run/folder_files.h"
#include "search/engine/parallel.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const format_names[] = {"text", "csv", "json", "yaml", NULL};

static const struct command *const commands[] = {
	&command_explore,
	&command_score,
	&command_simulate,
	&command_check,
	&command_place,
	&command_diff,
	&command_report,
	&command_list,
	NULL,
};

int command_refuse(const struct diag *diag)
{
	diag_print(diag, stderr);
	return EXIT_INPUT;
}

int command_end(const char *fault, int status)
{
	if (!fault)
		return status;
	fprintf(stderr, "lxplore: the simulator disagrees with the model: %s\n", fault);
	return status == EXIT_INTERRUPTED ? status : EXIT_IMPOSSIBLE;
}

enum format command_format(void)
{
	return isatty(STDOUT_FILENO) ? FORMAT_TEXT : FORMAT_JSON;
}

void command_print(const char *text)
{
	if (fputs(text, stdout) == EOF || fflush(stdout) == EOF)
		fatal("cannot write to stdout: %s", strerror(errno));
}

void command_write(struct arena *arena, const char *path, const char *text)
{
	const char *why = file_write(arena, path, text, strlen(text));
	if (why)
		fatal("%s", why);
}

static void print_help(struct arena *arena)
{
	struct text text = text_open(arena);
	text_add(&text, "lxplore explores how to run tensor programs on tiled accelerators.\n\n");
	text_add(&text, "usage: lxplore COMMAND [OPTION...] [FILE...]\n\n");
	for (size_t i = 0; commands[i]; i++)
		text_add(&text, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
	text_add(&text,
		"\nlxplore COMMAND --help tells more; lxplore --version the version.\n"
		"Spec files are YAML and may come in any number and order; a folder means its\n"
		"*.yaml files.\n"
		"Exit status: 0 done, 1 impossible or illegal, 2 wrong input, 3 nothing found,\n"
		"4 the system failed, 130 interrupted (what was found is written).\n");
	command_print(text_read(&text));
}

static void print_command_help(struct arena *arena, const struct command *command)
{
	command_print(arena_format(arena, "%s\n\nusage: lxplore %s %s\n\n%s%s%s", command->summary,
		command->name, command->usage, option_help(arena, command->options),
		command->manual[0] ? "\n" : "", command->manual));
}

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; commands[i]; i++)
		if (text_equal(commands[i]->name, name))
			return commands[i];
	return NULL;
}

static int complain_unknown(struct arena *arena, const char *name)
{
	const char *names[sizeof commands / sizeof *commands];
	size_t count = 0;
	for (; commands[count]; count++)
		names[count] = commands[count]->name;
	names[count] = NULL;
	const char *near = suggest(name, names);
	fprintf(stderr, "lxplore: unknown command '%s'%s\n", name,
		near ? arena_format(arena, "; did you mean '%s'?", near)
		     : "; lxplore --help lists them");
	return EXIT_INPUT;
}

static int run(struct arena *arena, int argc, char **argv)
{
	if (argc < 2) {
		print_help(arena);
		return EXIT_INPUT;
	}
	if (text_equal(argv[1], "--help") || text_equal(argv[1], "-h") ||
		text_equal(argv[1], "help")) {
		const struct command *command = argc > 2 ? find_command(argv[2]) : NULL;
		if (command)
			print_command_help(arena, command);
		else
			print_help(arena);
		return EXIT_FOUND;
	}
	if (text_equal(argv[1], "--version")) {
		command_print("lxplore " LXPLORE_VERSION "\n");
		return EXIT_FOUND;
	}
	const struct command *command = find_command(argv[1]);
	if (!command)
		return complain_unknown(arena, argv[1]);

	for (int i = 2; i < argc; i++)
		if (text_equal(argv[i], "--help") || text_equal(argv[i], "-h")) {
			print_command_help(arena, command);
			return EXIT_FOUND;
		}
	struct diag *diag = diag_open(arena);
	struct arguments arguments;
	if (!option_parse(arena, command->options, argc - 2, argv + 2, diag, &arguments))
		return command_refuse(diag);
	if (!option_find(&arguments, "verbose"))
		diag_fold_remarks(diag);
	if (command->reads_specs)
		spec_files(arena, &arguments, diag);
	return diag_failed(diag) ? command_refuse(diag) : command->run(arena, &arguments, diag);
}

struct call {
	int argc;
	char **argv;
	int status;
};

static void *run_call(void *context)
{
	struct call *call = context;
	struct arena *arena = arena_open();
	call->status = run(arena, call->argc, call->argv);
	arena_close(arena);
	return NULL;
}

int main(int argc, char **argv)
{
	struct call call = {argc, argv, 0};
	signal(SIGXFSZ, SIG_IGN); /* a write beyond `ulimit -f` fails like one to a full disk */
	parallel_main(argv, run_call, &call);
	return call.status;
}
