#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"
#include "cli/kind.h"
#include "cli/settings.h"
#include "cli/spec_schema.h"
#include "constraints/kind.h"
#include "report/run/json_text.h"

#include <stdio.h>
#include <string.h>

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

/* As a list of objects, or a table, of the first word of each line and the rest. */
static void print(struct arena *arena, const char *lines, enum format format)
{
	struct text table = text_open(arena);
	json_t *list = json_array();
	text_add(&table, "name,summary\n");
	for (const char *at = lines, *end; *at && format != FORMAT_TEXT;
		at = end + (*end == '\n')) {
		end = at + strcspn(at, "\n");
		int name = (int)strcspn(at, " \n"), gap = (int)strspn(at + name, " ");
		const char *rest = at + name + gap;
		json_array_append_new(list, json_pack("{s:s%, s:s%}", "name", at, (size_t)name,
						    "summary", rest, (size_t)(end - rest)));
		text_add(&table, "%.*s,", name, at);
		csv_field(&table, arena_format(arena, "%.*s", (int)(end - rest), rest));
		text_add(&table, "\n");
	}
	command_print(format == FORMAT_TEXT  ? lines
		      : format == FORMAT_CSV ? text_read(&table)
					     : json_text(arena, json_incref(list)));
	json_decref(list);
}

static int run(struct arena *arena, const struct arguments *arguments, struct diag *diag)
{
	enum format format = FORMAT_TEXT;
	struct array(const char *) names = {0};
	struct text all = text_open(arena);
	for (size_t i = 0; list_at(i).name; i++) {
		text_add(&all, "%s%s", i ? ", " : "", list_at(i).name);
		*array_add(arena, &names) = list_at(i).name;
	}
	*array_add(arena, &names) = NULL;
	bool schema = option_find(arguments, "schema") != NULL;
	if (schema && !arguments->count) {
		command_print(spec_schema(arena));
		return EXIT_FOUND;
	}
	if (schema || arguments->count != 1) {
		fprintf(stderr, "lxplore: list wants one of: %s\n", text_read(&all));
		return EXIT_INPUT;
	}
	if (!command_format(arguments, diag, &format))
		return command_refuse(diag);
	for (size_t i = 0; names.at[i]; i++)
		if (text_equal(names.at[i], arguments->at[0])) {
			print(arena, list_at(i).make(arena), format);
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
	.manual =
		"With --schema instead: what editors with a YAML language server complete and\n"
		"check spec files by.  It refuses attributes that nothing reads, which lxplore\n"
		"only notes.\n"
		"\n"
		"example: lxplore list --schema > lxplore.schema.json, and in a spec's first line\n"
		"         # yaml-language-server: $schema=lxplore.schema.json\n",
	.bit = OF_LIST,
	.run = run,
};
