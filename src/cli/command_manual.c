#include "base/text.h"
#include "cli/manual.h"

#include <stdio.h>

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
	fputs("lxplore: manual wants one of: man, bash, zsh\n", stderr);
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
