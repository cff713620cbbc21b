#include "cli/schema.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"
#include "campaign/sweep.h"
#include "cli/nest_inputs.h"
#include "cli/settings.h"
#include "constraints/constraints.h"
#include "model/graph/plan_file.h"
#include "model/graph/planning.h"
#include "model/graph/workload_read.h"
#include "model/machine/arch_draft.h"
#include "model/machine/arch_read.h"
#include "model/machine/ert.h"
#include "model/nest/network.h"
#include "model/nest/shape.h"
#include "model/recurrence/space_time_read.h"
#include "model/transfer/broadcast.h"
#include "report/run/json.h"
#include "spec/field.h"
#include "spec/sheet.h"

#include <string.h>

struct schema {
	struct arena *arena;
	json_t *definitions;
};

static json_t *schema_reference(const char *name)
{
	return json_pack("{s:o}", "$ref", json_sprintf("#/definitions/%s", name));
}

static json_t *schema_words(const char *const *words)
{
	json_t *list = json_array();
	for (size_t i = 0; words[i]; i++)
		json_array_append_new(list, json_string(words[i]));
	return json_pack("{s:o}", "enum", list);
}

static json_t *any_of(json_t *first, json_t *second)
{
	return json_pack("{s:[o,o]}", "anyOf", first, second);
}

static void schema_define(const struct schema *schema, const struct noun *noun);

/* A noun's keys, with a sentence each. */
static json_t *noun_sentences(const struct noun *noun)
{
	struct field field;
	json_t *properties = json_object();
	for (size_t i = 0; noun_field(noun, i, &field); i++)
		json_object_set_new(properties, field.key, schema_reference("word"));
	return json_pack("{s:s,s:b,s:o}", "type", "object", "additionalProperties", 0, "properties",
		properties);
}

static json_t *one_value(const struct schema *schema, const struct field *field)
{
	switch (field->type) {
	case FIELD_ANY:
		return json_object();
	case FIELD_TEXT:
		return schema_reference("word");
	case FIELD_FLAG:
		return schema_reference("flag");
	case FIELD_CHOICE:
		return schema_words(field->words);
	case FIELD_SENTENCES:
		return noun_sentences(field->noun);
	case FIELD_MAP:
		if (!field->noun)
			return json_pack("{s:s}", "type", "object");
		schema_define(schema, field->noun);
		return schema_reference(field->noun->name);
	case FIELD_WHOLE:
	case FIELD_SIZE:
	case FIELD_NUMBER:
	case FIELD_RATIO:
	case FIELD_RATE:
	case FIELD_CLOCK:
	case FIELD_TIME:
	case FIELD_ENERGY:
		break;
	}
	return schema_reference("number");
}

/* The constraints beside the attributes of a level belong to a layer above the machine. */
static json_t *inline_constraints(const struct schema *schema)
{
	schema_define(schema, &inline_constraints_noun);
	return schema_reference(inline_constraints_noun.name);
}

static json_t *schema_field_value(const struct schema *schema, const struct field *field)
{
	json_t *one = one_value(schema, field), *value = one;
	switch (field->shape) {
	case SHAPE_ONE:
		break;
	case SHAPE_LIST:
		value = json_pack("{s:[s,s],s:o}", "type", "array", "null", "items", one);
		break;
	case SHAPE_SOME:
		value = json_pack("{s:[O,{s:s,s:o}]}", "anyOf", one, "type", "array", "items", one);
		break;
	case SHAPE_NAMED:
		value = json_pack("{s:s,s:o}", "type", "object", "additionalProperties", one);
	}
	if (field->help)
		json_object_set_new(value, "description", json_string(field->help));
	return value;
}

/* All spellings of a key with '_', and with '-'. */
static void add_spellings(
	const struct schema *schema, json_t *properties, const struct field *field, json_t *value)
{
	const char *spelling;
	for (int i = 0; (spelling = field_spelling_at(schema->arena, field, i)); i++) {
		char *other = arena_text(schema->arena, spelling);
		json_object_set(properties, spelling, value);
		for (char *at = other; field->spellings && (at = strchr(at, '_'));)
			*at = '-';
		json_object_set(properties, other, value);
	}
	json_decref(value);
}

/* `string null` as a list of types, `object` first. */
static json_t *types_of(struct arena *arena, const char *also)
{
	json_t *types = json_pack("[s]", "object");
	for (const char *at = also; at && *at; at += *at == ' ') {
		size_t length = strcspn(at, " ");
		json_array_append_new(
			types, json_string(arena_format(arena, "%.*s", (int)length, at)));
		at += length;
	}
	return types;
}

static json_t *map_of(const struct schema *schema, const struct noun *noun)
{
	struct field field;
	json_t *properties = json_object(), *patterns = json_object(), *required = json_array();
	if (noun->older)
		json_array_append_new(required, json_string(noun->older));
	for (size_t i = 0; noun_field(noun, i, &field); i++) {
		size_t length = strcspn(field.key, "*");
		bool apart = noun == &node_noun && text_equal(field.key, "constraints");
		json_t *value =
			apart ? inline_constraints(schema) : schema_field_value(schema, &field);
		if (field.required && !field.when && !field.has)
			json_array_append_new(required, json_string(field.key));
		if (field.key[length])
			json_object_set_new(patterns,
				arena_format(schema->arena, "^%.*s", (int)length, field.key),
				value);
		else
			add_spellings(schema, properties, &field, value);
	}
	return json_pack("{s:o,s:b,s:o,s:o,s:o}", "type", types_of(schema->arena, noun->also),
		"additionalProperties", 0, "properties", properties, "patternProperties", patterns,
		"required", required);
}

/* Adds the definition of a noun, and those of all that its fields name, once. */
static void schema_define(const struct schema *schema, const struct noun *noun)
{
	if (json_object_get(schema->definitions, noun->name))
		return;
	json_object_set_new(schema->definitions, noun->name, json_object());
	json_t *value = map_of(schema, noun);
	if (noun->older)
		value = any_of(value, json_pack("{s:s,s:{s:[s]}}", "type", "object", "not",
					      "required", noun->older));
	if (noun->items) {
		schema_define(schema, noun->items);
		value = any_of(value, json_pack("{s:s,s:o}", "type", "array", "items",
					      schema_reference(noun->items->name)));
	}
	json_object_set_new(schema->definitions, noun->name, value);
}

/* An objective by name, or the accesses of a level; or several, in a list or with commas. */
static json_t *schema_objectives(struct arena *arena)
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

static json_t *setting_value(const struct schema *schema, const struct option *setting)
{
	const struct field *planned = noun_find(&planning_noun, setting->key);
	if (planned)
		return schema_field_value(schema, planned);
	if (text_equal(setting->key, "solver"))
		return solver_choices();
	if (setting->words == objective_names)
		return schema_objectives(schema->arena);
	if (setting->type == OPTION_WORD)
		return schema_words(setting->words);
	if (setting->type == OPTION_COUNT)
		return json_pack("{s:[s,s],s:I}", "type", "integer", "string", "minimum",
			(json_int_t)setting->least);
	return json_object();
}

/* `search:` has the keys of the table of settings. */
static void define_search(const struct schema *schema)
{
	json_t *properties = json_object();
	const struct option *setting;
	for (size_t i = 0; (setting = settings_at(i)); i++) {
		if (!setting->key || json_object_get(properties, setting->key))
			continue;
		const char *kinds = settings_kinds(schema->arena, setting);
		json_t *value = setting_value(schema, setting);
		json_object_set_new(value, "description",
			json_string(
				kinds ? arena_format(schema->arena, "%s [%s]", setting->help, kinds)
				      : setting->help));
		json_object_set_new(properties, setting->key, value);
	}
	json_object_set_new(schema->definitions, "search",
		json_pack("{s:s,s:b,s:o}", "type", "object", "additionalProperties", 0,
			"properties", properties));
}

/* The nouns of the keys at the top of a file; other keys may have any value. */
static const struct {
	const char *key;
	const struct noun *noun;
} tops[] = {
	{"architecture", &architecture_noun},
	{"arch", &architecture_noun},
	{"workload", &workload_noun},
	{"plan", &plan_noun},
	{"problem", &problem_noun},
	{"network", &network_noun},
	{"constraints", &constraints_noun},
	{"architecture_constraints", &constraints_noun},
	{"arch_constraints", &constraints_noun},
	{"mapspace_constraints", &constraints_noun},
	{"mapspace", &constraints_noun},
	{"ERT", &ert_noun},
	{"mapper", &mapper_noun},
	{"space_time", &space_time_noun},
	{"broadcast", &broadcast_noun},
	{"sweep", &sweep_noun},
};
enum { TOPS = sizeof tops / sizeof *tops };

static json_t *top_properties(const struct schema *schema)
{
	json_t *properties = json_object();
	for (size_t i = 0; sheet_key_at(i); i++)
		json_object_set_new(properties, sheet_key_at(i), json_object());
	for (size_t k = 0; input_kinds[k]; k++)
		if (input_kinds[k]->key)
			json_object_set_new(properties, input_kinds[k]->key, json_object());
	for (size_t i = 0; i < TOPS; i++) {
		schema_define(schema, tops[i].noun);
		json_object_set_new(properties, tops[i].key, schema_reference(tops[i].noun->name));
	}
	define_search(schema);
	json_object_set_new(properties, "search", schema_reference("search"));
	return properties;
}

const char *schema_text(struct arena *arena)
{
	struct schema schema = {arena,
		json_pack("{s:{s:[s,s],s:s},s:{s:[s,s,s]},s:{s:[s,s]}}", "number", "type", "number",
			"string", "description",
			"A number, with a unit such as 64KiB, 1.5GHz, 204.8GB/s, 12pJ, 250ns, or "
			"arithmetic over variables",
			"word", "type", "string", "number", "boolean", "flag", "type", "boolean",
			"string")};
	json_t *properties = top_properties(&schema);
	return arena_format(arena, "%s\n",
		json_dump(arena,
			json_pack("{s:s,s:s,s:s,s:b,s:o,s:o}", "$schema",
				"http://json-schema.org/draft-07/schema#", "title",
				"Specs of lxplore", "type", "object", "additionalProperties", 0,
				"properties", properties, "definitions", schema.definitions),
			JSON_INDENT(1)));
}

static const struct noun *const listed[] = {
	&machine_noun, &storage_noun, &compute_noun, &any_level_noun};
enum { LISTED = sizeof listed / sizeof *listed };

/* "a whole number from 1 to 4096" */
static const char *type_text(struct arena *arena, const struct field *field)
{
	static const char *const names[] = {
		[FIELD_ANY] = "value",
		[FIELD_TEXT] = "word",
		[FIELD_FLAG] = "true or false",
		[FIELD_WHOLE] = "whole number",
		[FIELD_SIZE] = "size",
		[FIELD_NUMBER] = "number",
		[FIELD_RATIO] = "number",
		[FIELD_RATE] = "rate",
		[FIELD_CLOCK] = "clock",
		[FIELD_TIME] = "time",
		[FIELD_ENERGY] = "energy",
		[FIELD_CHOICE] = "word",
		[FIELD_MAP] = "map",
		[FIELD_SENTENCES] = "map",
	};
	struct text text = text_open(arena);
	struct field inner;
	text_add(&text, "%s%s", field->shape == SHAPE_LIST ? "list of: " : "", names[field->type]);
	if (field->most && field->most < INT32_MAX)
		text_add(&text, " from %lld to %lld", (long long)field->least,
			(long long)field->most);
	for (int w = 0; field->words && field->words[w]; w++)
		text_add(&text, "%s`%s`", w ? ", " : ": ", field->words[w]);
	for (size_t i = 0; field->noun && noun_field(field->noun, i, &inner); i++)
		text_add(&text, "%s`%s`", i ? ", " : ": ", inner.key);
	return text_read(&text);
}

/* "also `word_bits`, `data_width`" */
static const char *spellings_text(struct arena *arena, const struct field *field)
{
	struct text text = text_open(arena);
	const char *spelling;
	for (int i = 0, count = 0; (spelling = field_spelling_at(arena, field, i)); i++)
		if (!text_equal(spelling, field->key))
			text_add(&text, "%s`%s`", count++ ? ", " : "; also ", spelling);
	return text_read(&text);
}

void schema_list_attributes(struct arena *arena, struct list_rows *rows)
{
	struct field field;
	for (size_t n = 0; n < LISTED; n++)
		for (size_t i = 0; noun_field(listed[n], i, &field); i++)
			if (field.help)
				*array_add(arena, rows) = (struct list_row){
					field.key, arena_format(arena, "%s%s%s: %s%s%s%s",
							   listed[n]->name, field.when ? ", " : "",
							   field.when ? field.when : "", field.help,
							   field.usual ? " (default " : "",
							   field.usual ? field.usual : "",
							   field.usual ? ")" : "")};
}

const char *schema_attributes_markdown(struct arena *arena)
{
	struct text text = text_open(arena);
	struct field field;
	text_add(&text, "| of | attribute | value | what | default |\n|---|---|---|---|---|\n");
	for (size_t n = 0; n < LISTED; n++)
		for (size_t i = 0; noun_field(listed[n], i, &field); i++)
			if (field.help)
				text_add(&text, "| %s%s%s | `%s` | %s | %s%s | %s |\n",
					listed[n]->name, field.when ? ", " : "",
					field.when ? field.when : "", field.key,
					type_text(arena, &field), field.help,
					spellings_text(arena, &field),
					field.usual ? field.usual : "");
	return text_read(&text);
}
