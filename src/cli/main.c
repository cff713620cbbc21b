#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/settings.h"
#include "cli/spec_files.h"
#include "search/engine/parallel.h"

#include <signal.h>
#include <stdio.h>

static void print_help(struct arena *arena)
{
	struct text text = text_open(arena);
	text_add(&text, "lxplore explores how to run tensor programs on tiled accelerators.\n\n");
	text_add(&text, "usage: lxplore COMMAND [OPTION...] [FILE...]\n\n");
	const struct command *at;
	for (size_t i = 0; (at = command_at(i)); i++)
		text_add(&text, "  %-10s %s\n", at->name, at->summary);
	text_add(&text,
		"\nlxplore COMMAND --help tells more; lxplore --version the version.\n"
		"Spec files are YAML and may come in any number and order; a folder means its\n"
		"*.yaml files; specs/.. that is not here is one of the installed specs.\n"
		"Exit status: 0 done, 1 impossible or illegal, 2 wrong input, 3 nothing found,\n"
		"4 the system failed, 130 interrupted (what was found is written).\n");
	command_print(text_read(&text));
}

static int main_complain_unknown(struct arena *arena, const char *name)
{
	struct array(const char *) names = {0};
	const struct command *at;
	for (size_t i = 0; (at = command_at(i)); i++)
		*array_add(arena, &names) = at->name;
	*array_add(arena, &names) = NULL;
	utf8_print(stderr, "lxplore: unknown command '%s'%s\n", name,
		suggestion(arena, suggest(name, names.at), "; lxplore --help lists them"));
	return EXIT_INPUT;
}

static int program_run(struct arena *arena, int argc, char **argv)
{
	if (argc < 2) {
		print_help(arena);
		return EXIT_INPUT;
	}
	if (text_equal(argv[1], "--help") || text_equal(argv[1], "-h") ||
		text_equal(argv[1], "help")) {
		const struct command *command = argc > 2 ? command_find(argv[2]) : NULL;
		if (command)
			command_print(command_help(arena, command));
		else
			print_help(arena);
		return EXIT_FOUND;
	}
	if (text_equal(argv[1], "--version")) {
		command_print("lxplore " LXPLORE_VERSION "\n");
		return EXIT_FOUND;
	}
	const struct command *command = command_find(argv[1]);
	if (!command)
		return main_complain_unknown(arena, argv[1]);

	for (int i = 2; i < argc; i++)
		if (text_equal(argv[i], "--help") || text_equal(argv[i], "-h")) {
			command_print(command_help(arena, command));
			return EXIT_FOUND;
		}
	struct diag *diag = diag_open(arena);
	struct arguments arguments;
	const struct option *options = settings_of(arena, command->bit);
	if (!option_parse(arena, options, argc - 2, argv + 2, diag, &arguments))
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
	call->status = program_run(arena, call->argc, call->argv);
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
