#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"
#include "cli/kind.h"
#include "constraints/kind.h"

#include <stdio.h>

static const char *list_solvers(struct arena *arena)
{
	struct text text = text_open(arena);
	for (size_t i = 0; solvers[i]; i++)
		text_add(&text, "%-18s %s\n",
			arena_format(
				arena, "%s/%s", stage_names[solvers[i]->stage], solvers[i]->name),
			solvers[i]->summary);
	return text_read(&text);
}

static const char *list_objectives(struct arena *arena)
{
	struct text text = text_open(arena);
	for (size_t i = 0; objective_names[i]; i++)
		text_add(&text, "%-14s %s\n", objective_names[i], objective_summaries[i]);
	return text_read(&text);
}

static const char *list_constraints(struct arena *arena)
{
	struct text text = text_open(arena);
	for (size_t i = 0; constraint_kinds[i]; i++)
		text_add(&text, "%-29s %s\n", constraint_kinds[i]->key,
			constraint_kinds[i]->summary);
	return text_read(&text);
}

static const char *list_kinds(struct arena *arena)
{
	struct text text = text_open(arena);
	for (size_t i = 0; input_kinds[i]; i++)
		text_add(&text, "%-12s %s\n", input_kinds[i]->name, input_kinds[i]->summary);
	return text_read(&text);
}

static const struct list {
	const char *name;
	const char *(*make)(struct arena *arena);
} lists[] = {
	{"solvers", list_solvers},
	{"constraints", list_constraints},
	{"objectives", list_objectives},
	{"kinds", list_kinds},
};
enum { LISTS = sizeof lists / sizeof *lists };

/* Ours, then those that kinds have. */
static struct list list_at(size_t i)
{
	if (i < LISTS)
		return lists[i];
	i -= LISTS;
	for (size_t k = 0; input_kinds[k]; k++)
		if (input_kinds[k]->list && i-- == 0)
			return (struct list){input_kinds[k]->list, input_kinds[k]->listed};
	return (struct list){0};
}

static int run(struct arena *arena, const struct arguments *arguments, struct diag *diag)
{
	struct array(const char *) names = {0};
	struct text all = text_open(arena);
	for (size_t i = 0; list_at(i).name; i++) {
		text_add(&all, "%s%s", i ? ", " : "", list_at(i).name);
		*array_add(arena, &names) = list_at(i).name;
	}
	*array_add(arena, &names) = NULL;
	if (arguments->count != 1) {
		fprintf(stderr, "lxplore: list wants one of: %s\n", text_read(&all));
		return EXIT_INPUT;
	}
	for (size_t i = 0; names.at[i]; i++)
		if (text_equal(names.at[i], arguments->at[0])) {
			command_print(list_at(i).make(arena));
			return EXIT_FOUND;
		}
	diag_error(diag, arguments->spans[0], "there is no list of '%s'%s", arguments->at[0],
		suggestion(arena, suggest(arguments->at[0], names.at),
			arena_format(arena, "; %s", text_read(&all))));
	return command_refuse(diag);
}

const struct command command_list = {
	.name = "list",
	.usage = "solvers|constraints|objectives|kinds|ops",
	.summary = "lists what there is to choose from",
	.manual = "",
	.run = run,
};
