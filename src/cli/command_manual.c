#include "cli/command.h"

static int run(struct arena *arena, const struct arguments *arguments, struct diag *diag)
{
	return EXIT_FOUND;
}

const struct command command_manual = {
	.name = "manual",
	.usage = "man|bash|zsh",
	.summary = "prints the man page, or what a shell needs to complete commands",
	.manual = "",
	.run = run,
};
