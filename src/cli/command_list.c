#include "base/arena.h"
#include "base/array.h"
#include "base/fatal.h"
#include "base/number.h"
#include "base/text.h"
#include "cli/kind.h"
#include "cli/settings.h"
#include "constraints/constraints.h"
#include "constraints/kind.h"
#include "model/machine/arch_draft.h"
#include "model/machine/layout.h"
#include "report/run/json.h"
#include "report/run/pareto.h"
#include "spec/sheet.h"

#include <stdio.h>
#include <string.h>

/*
 * `list`: solvers, objectives, kinds of constraints and of inputs, and the JSON schema of spec files, draft 7, for
 * editors.  The schema is spec_schema.json with additions from the tables of the program: settings, solvers,
 * objectives, kinds of constraints, attributes, keys of files.
 */
EMBED(spec_schema_frame, "src/cli/spec_schema.json");
extern const char spec_schema_frame[];

struct schema {
	struct arena *arena;
	json_t *root;
};

/* The properties of a definition; of the whole file for NULL. */
static json_t *properties_of(const struct schema *schema, const char *definition)
{
	json_t *at = schema->root;
	if (definition)
		at = json_object_get(json_object_get(at, "definitions"), definition);
	json_t *properties = json_object_get(at, "properties");
	if (!properties)
		BUG("the schema has no '%s'", definition ? definition : "properties");
	return properties;
}

/* Adds a key unless the frame has it. */
static void add_key(json_t *properties, const char *key, json_t *value)
{
	if (json_object_get(properties, key))
		json_decref(value);
	else
		json_object_set_new(properties, key, value);
}

static json_t *words_of(const char *const *words)
{
	json_t *list = json_array();
	for (size_t i = 0; words[i]; i++)
		json_array_append_new(list, json_string(words[i]));
	return json_pack("{s:o}", "enum", list);
}

/* --- settings */

/* An objective by name, or the accesses of a level; or several, in a list or with commas. */
static json_t *objectives(struct arena *arena)
{
	struct text one = text_open(arena);
	for (size_t i = 0; objective_names[i]; i++)
		text_add(&one, "%s%s", i ? "|" : "", objective_names[i]);
	const char *name = arena_format(arena, "(%s)(:[^,]+)?", text_read(&one));
	return json_pack("{s:[{s:s,s:s},{s:s,s:{s:s,s:s}}]}", "anyOf", "type", "string", "pattern",
		arena_format(arena, "^ *%s( *, *%s)* *$", name, name), "type", "array", "items",
		"type", "string", "pattern", arena_format(arena, "^%s$", name));
}

/* For each stage the names of its solvers. */
static json_t *solver_choices(void)
{
	json_t *stages = json_object();
	for (int s = 0; s < STAGE_COUNT; s++) {
		json_t *names = json_array();
		for (size_t i = 0; solvers[i]; i++)
			if ((int)solvers[i]->stage == s)
				json_array_append_new(names, json_string(solvers[i]->name));
		json_object_set_new(stages, stage_names[s], json_pack("{s:o}", "enum", names));
	}
	return json_pack(
		"{s:s,s:b,s:o}", "type", "object", "additionalProperties", 0, "properties", stages);
}

static json_t *setting_value(struct arena *arena, const struct option *setting)
{
	if (text_equal(setting->key, "solver"))
		return solver_choices();
	if (setting->words == objective_names)
		return objectives(arena);
	if (setting->type == OPTION_WORD)
		return words_of(setting->words);
	if (setting->type == OPTION_COUNT)
		return json_pack("{s:[s,s],s:I}", "type", "integer", "string", "minimum",
			(json_int_t)setting->least);
	return json_object();
}

static void add_settings(const struct schema *schema)
{
	json_t *properties = properties_of(schema, "search");
	const struct option *setting;
	for (size_t i = 0; (setting = settings_at(i)); i++) {
		if (!setting->key)
			continue;
		const char *kinds = settings_kinds(schema->arena, setting);
		json_t *value = setting_value(schema->arena, setting);
		json_object_set_new(value, "description",
			json_string(
				kinds ? arena_format(schema->arena, "%s [%s]", setting->help, kinds)
				      : setting->help));
		add_key(properties, setting->key, value);
	}
}

/* --- constraints, attributes, keys of files */

static void add_constraints(const struct schema *schema)
{
	static const char *const places[] = {"kinds", "asked", "constraint", NULL};
	for (size_t p = 0; places[p]; p++) {
		json_t *properties = properties_of(schema, places[p]);
		for (size_t i = 0; constraint_kinds[i]; i++)
			add_key(properties, constraint_kinds[i]->key,
				json_pack("{s:s}", "description", constraint_kinds[i]->summary));
		for (size_t i = 0; constraint_older_name(i); i++)
			add_key(properties, constraint_older_name(i), json_object());
	}
}

/* A '-' is as good as a '_'.  Each may have its source. */
static void add_attributes(const struct schema *schema)
{
	json_t *properties = properties_of(schema, "attributes"), *value;
	json_t *sources = properties_of(schema, "sources");
	const char *key;
	for (size_t i = 0; (key = arch_keys_at(i)); i++) {
		char *other = arena_text(schema->arena, key);
		add_key(properties, key, json_object());
		for (char *at = other; *at; at++)
			*at = *at == '_' ? '-' : *at;
		add_key(properties, other, json_object());
	}
	json_object_foreach(properties, key, value)
		add_key(sources, key, json_object());
}

static void add_keys(const struct schema *schema)
{
	json_t *properties = properties_of(schema, NULL);
	for (size_t i = 0; sheet_key_at(i); i++)
		add_key(properties, sheet_key_at(i), json_object());
	for (size_t k = 0; input_kinds[k]; k++)
		if (input_kinds[k]->key)
			add_key(properties, input_kinds[k]->key, json_object());
}

static const char *spec_schema(struct arena *arena)
{
	json_error_t error;
	struct schema schema = {arena, json_loads(spec_schema_frame, 0, &error)};
	if (!schema.root)
		BUG("spec_schema.json:%d: %s", error.line, error.text);
	add_settings(&schema);
	add_constraints(&schema);
	add_attributes(&schema);
	add_keys(&schema);
	json_object_set_new(
		json_object_get(schema.root, "definitions"), "dtype", words_of(dtype_names));
	return arena_format(arena, "%s\n", json_dump(arena, schema.root, JSON_INDENT(1)));
}

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
	if (schema && !arguments->count) {
		command_print(spec_schema(arena));
		return EXIT_FOUND;
	}
	if (schema || arguments->count != 1) {
		utf8_print(stderr, "lxplore: list wants one of: %s\n", text_read(&all));
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
