#include "cli/spec_schema.h"

#include "base/arena.h"
#include "base/fatal.h"
#include "base/text.h"
#include "cli/kind.h"
#include "cli/settings.h"
#include "constraints/constraints.h"
#include "constraints/kind.h"
#include "model/machine/arch_draft.h"
#include "model/machine/layout.h"
#include "report/run/json.h"
#include "spec/sheet.h"

#include <string.h>

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

/* What the frame says of a key stays. */
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

const char *spec_schema(struct arena *arena)
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
