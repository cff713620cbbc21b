#include "base/arena.h"
#include "base/array.h"
#include "base/number.h"
#include "base/text.h"
#include "cli/kind.h"
#include "cli/schema.h"
#include "cli/settings.h"
#include "constraints/kind.h"
#include "report/run/json.h"
#include "report/run/listing.h"

#include <stdio.h>
#include <string.h>

static void list_solvers(struct arena *arena, struct list_rows *rows)
{
	for (size_t i = 0; solvers[i]; i++)
		*array_add(arena, rows) =
			(struct list_row){solver_label(arena, solvers[i]), solvers[i]->summary};
}

static void list_objectives(struct arena *arena, struct list_rows *rows)
{
	for (size_t i = 0; objective_names[i]; i++)
		*array_add(arena, rows) =
			(struct list_row){objective_names[i], objective_summaries[i]};
}

static void list_constraints(struct arena *arena, struct list_rows *rows)
{
	for (size_t i = 0; constraint_kinds[i]; i++)
		*array_add(arena, rows) =
			(struct list_row){constraint_kinds[i]->key, constraint_kinds[i]->summary};
}

static void list_kinds(struct arena *arena, struct list_rows *rows)
{
	for (size_t i = 0; input_kinds[i]; i++)
		*array_add(arena, rows) =
			(struct list_row){input_kinds[i]->name, input_kinds[i]->summary};
}

static const struct list {
	const char *name;
	int width; /* of the names, as text */
	void (*fill)(struct arena *arena, struct list_rows *rows);
} lists[] = {
	{"solvers", 18, list_solvers},
	{"constraints", 29, list_constraints},
	{"objectives", 14, list_objectives},
	{"kinds", 12, list_kinds},
	{"attributes", 24, schema_list_attributes},
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
			return (struct list){input_kinds[k]->list, 12, input_kinds[k]->listed};
	return (struct list){0};
}

static const char *list_text(struct arena *arena, const struct list *list, enum format format)
{
	struct list_rows rows = {0};
	struct text text = text_open(arena);
	json_t *objects = json_array();
	list->fill(arena, &rows);
	text_add(&text, "%s", format == FORMAT_CSV ? "name,summary\n" : "");
	int width = list->width;
	for (size_t i = 0; i < rows.count; i++)
		width = (int)number_max(width, (int64_t)strlen(rows.at[i].name));
	for (size_t i = 0; i < rows.count; i++) {
		const struct list_row *row = &rows.at[i];
		json_array_append_new(objects,
			json_pack("{s:s, s:s}", "name", row->name, "summary", row->summary));
		if (format == FORMAT_TEXT) {
			text_add(&text, "%-*s ", width, row->name);
			listing_wrap(&text, row->summary, (size_t)width + 1);
			continue;
		}
		text_add(&text, "%s,", row->name);
		csv_field(&text, row->summary);
		text_add(&text, "\n");
	}
	const char *json = json_text(arena, objects);
	return format == FORMAT_TEXT || format == FORMAT_CSV ? text_read(&text) : json;
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
	if (option_find(arguments, "markdown")) {
		command_print(schema_attributes_markdown(arena));
		return EXIT_FOUND;
	}
	if (schema && !arguments->count) {
		command_print(schema_text(arena));
		return EXIT_FOUND;
	}
	if (schema || arguments->count != 1) {
		utf8_print(stderr, "lxplore: list needs one of: %s\n", text_read(&all));
		return EXIT_INPUT;
	}
	if (!command_format(arguments, diag, &format))
		return command_refuse(diag);
	for (size_t i = 0; names.at[i]; i++)
		if (text_equal(names.at[i], arguments->at[0])) {
			const struct list list = list_at(i);
			command_print(list_text(arena, &list, format));
			return EXIT_FOUND;
		}
	diag_error(diag, arguments->spans[0], "unknown list '%s'%s", arguments->at[0],
		suggestion(arena, suggest(arguments->at[0], names.at),
			arena_format(arena, "; %s", text_read(&all))));
	return command_refuse(diag);
}

const struct command command_list = {
	.name = "list",
	.usage = "solvers|constraints|objectives|kinds|attributes|ops",
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
