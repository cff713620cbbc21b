#include "campaign/sweep.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"
#include "campaign/canon.h"
#include "campaign/expand.h"
#include "spec/expr.h"
#include "spec/field.h"
#include "spec/sheet.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct sweep_file {
	const char *path;
	const struct node *root; /* NULL: it was complained about */
};

struct sweep_reading {
	struct reading reading;
	struct sweep_spec *sweep;
	struct array(struct sweep_target) targets;
	struct array(struct sweep_file) files; /* that were read, each once */
};

/* A spec beside the sweep's file; NULL after complaining. */
static const struct node *sweep_file(struct sweep_reading *reading, const struct node *name)
{
	struct arena *arena = reading->reading.arena;
	const char *own = reading->sweep->map->span.source->name;
	const char *slash = strrchr(own, '/');
	if (name->kind != NODE_SCALAR || !*name->text) {
		reading_refuse(
			&reading->reading, name, "%s is not a file name", node_kind_name(name));
		return NULL;
	}
	const char *path =
		*name->text == '/' || !slash
			? name->text
			: arena_format(arena, "%.*s/%s", (int)(slash - own), own, name->text);
	for (size_t i = 0; i < reading->files.count; i++)
		if (text_equal(reading->files.at[i].path, path))
			return reading->files.at[i].root;
	struct sweep_file file = {path, node_read_file(arena, path, reading->reading.diag)};
	if (!file.root)
		diag_note(reading->reading.diag, name->span, "asked for here");
	if (file.root && file.root->kind != NODE_MAP) {
		reading_refuse(&reading->reading, file.root,
			"the file is %s; a map with keys such as 'architecture:' is expected",
			node_kind_name(file.root));
		file.root = NULL;
	}
	*array_add(arena, &reading->files) = file;
	return file.root;
}

/* One file, or a list of them. */
static bool read_files(
	struct sweep_reading *reading, const struct node *node, struct sweep_value *out)
{
	struct arena *arena = reading->reading.arena;
	struct text label = text_open(arena);
	bool good = node->kind != NODE_MAP;
	out->file_count = node->kind == NODE_LIST ? node->count : 1;
	const struct node **files = arena_array(arena, const struct node *, out->file_count);
	for (size_t i = 0; good && i < out->file_count; i++) {
		files[i] = sweep_file(reading, node_item(node, i));
		good = files[i] != NULL;
		if (good)
			text_add(&label, "%s%s", i ? ", " : "", node_item(node, i)->text);
	}
	if (node->kind == NODE_MAP)
		reading_refuse(&reading->reading, node, "a map is not a file name");
	out->files = files;
	out->label = text_read(&label);
	return good;
}

/* One value as it stands in a list. */
static bool sweep_value(struct sweep_reading *reading, size_t target, const struct node *node,
	struct sweep_value *out)
{
	*out = (struct sweep_value){.target = target, .label = "", .node = node};
	if (reading->sweep->targets[target].role == TARGET_FILES) {
		out->node = NULL;
		return read_files(reading, node, out);
	}
	out->label = canon_text(reading->reading.arena, node);
	return true;
}

/* --- axes of one target */

struct values_draft array(struct sweep_value);

static bool sweep_reading_is_number(const struct sweep_reading *reading, const struct node *node)
{
	struct value value;
	struct diag *silent = diag_open(reading->reading.arena);
	return node->kind == NODE_SCALAR && !node->quoted &&
	       expr_read(silent, reading->sweep->variables, node, "", &value);
}

static bool target_take(struct sweep_reading *reading, size_t target,
	const struct node *const *nodes, size_t count, struct values_draft *draft)
{
	bool good = true;
	for (size_t i = 0; i < count; i++)
		good &= sweep_value(
			reading, target, nodes[i], array_add(reading->reading.arena, draft));
	return good;
}

/* A layer of a network as a problem. */
static const struct node *make_problem(
	struct arena *arena, const struct node *network, const struct node *layer)
{
	struct node *problem = arena_copy(arena, layer, sizeof *layer);
	struct node_entry *entries = arena_array(arena, struct node_entry, layer->count);
	problem->count = 0;
	for (size_t i = 0; i < layer->count; i++) {
		struct node_entry entry = layer->entries[i];
		if (text_equal(entry.key, "name") || text_equal(entry.key, "count"))
			continue;
		const struct node *named = NULL;
		if (text_equal(entry.key, "shape") && entry.value->kind == NODE_SCALAR)
			named = node_find(node_find(network, "shapes"), entry.value->text);
		entry.value = named ? named : entry.value;
		entries[problem->count++] = entry;
	}
	problem->entries = entries;
	problem->index = NULL;
	return problem;
}

static bool is_wanted(const struct node *only, const char *name, bool *met)
{
	bool wanted = !only;
	for (size_t i = 0; only && i < (only->kind == NODE_LIST ? only->count : 1); i++)
		if (text_equal(node_item(only, i)->text, name))
			wanted = met[i] = true;
	return wanted;
}

/* The layers of one network; `many`: of several, distinguished by their names. */
static bool take_network(struct sweep_reading *reading, size_t target, const struct node *name,
	bool many, const struct node *only, bool *met, struct values_draft *draft)
{
	struct arena *arena = reading->reading.arena;
	const struct node *root = sweep_file(reading, name);
	const struct node *network = node_find(root, "network");
	const struct node *layers = node_find(network, "layers");
	if (!root)
		return false;
	if (!layers || layers->kind != NODE_LIST)
		return reading_refuse(&reading->reading, name,
			"'%s' has no 'network:' with 'layers:'", name->text);
	const struct node *called = node_find(network, "name");
	for (size_t i = 0; i < layers->count; i++) {
		const struct node *layer = layers->items[i], *label = node_find(layer, "name");
		if (layer->kind != NODE_MAP || !label || label->kind != NODE_SCALAR)
			return reading_refuse(
				&reading->reading, layer, "a layer is a map with a 'name'");
		if (!is_wanted(only, label->text, met))
			continue;
		*array_add(arena, draft) = (struct sweep_value){.target = target,
			.label = many && called
					 ? arena_format(arena, "%s.%s", called->text, label->text)
					 : label->text,
			.node = make_problem(arena, network, layer)};
	}
	return true;
}

struct axis_form {
	struct value_range range;
	const struct node *values, *layers, *only, *when;
};

/* True unless a map has the values of another key. */
static bool lists_values(const void *axis)
{
	const struct axis_form *form = axis;
	return !form->range.from.given && !form->layers;
}

static bool has_layers(const void *axis)
{
	const struct axis_form *form = axis;
	return !form->range.from.given && form->layers;
}

static const struct field axis_fields[] = {
	{"layers", FIELD_TEXT, "files of tables of layers", .shape = SHAPE_SOME,
		KEEP_ANY(struct axis_form, layers)},
	{"only", FIELD_TEXT, "names of layers", .shape = SHAPE_SOME, .has = has_layers,
		KEEP_ANY(struct axis_form, only)},
	{"values", .type = FIELD_ANY, .has = lists_values, KEEP_ANY(struct axis_form, values)},
	{"when", FIELD_TEXT, "conditions of the points that have the axis", .shape = SHAPE_SOME,
		KEEP_ANY(struct axis_form, when)},
	{0},
};
static const struct noun *const axis_parts[] = {&range_noun, NULL};
static const struct noun axis_noun = {.name = "axis",
	.fields = axis_fields,
	.parts = axis_parts,
	.also = "string number boolean array"};

static bool take_layers(struct sweep_reading *reading, size_t target, const struct axis_form *form,
	struct values_draft *draft)
{
	struct arena *arena = reading->reading.arena;
	const struct node *names = form->layers, *only = form->only;
	size_t wanted = only && only->kind == NODE_LIST ? only->count : only != NULL;
	bool *met = arena_array(arena, bool, wanted), good = true;
	if (!text_equal(reading->sweep->targets[target].path.text, "problem"))
		return reading_refuse(&reading->reading, names,
			"'layers' are values of 'problem', not of '%s'",
			reading->sweep->targets[target].path.text);
	bool many = names->kind == NODE_LIST && names->count > 1;
	for (size_t i = 0; i < (names->kind == NODE_LIST ? names->count : 1); i++)
		good &= take_network(reading, target, node_item(names, i), many, only, met, draft);
	for (size_t i = 0; good && i < wanted; i++)
		if (!met[i])
			good = reading_refuse(&reading->reading, node_item(only, i),
				"no network has a layer '%s'", node_item(only, i)->text);
	return good;
}

static bool take_list(struct sweep_reading *reading, size_t target, const struct node *node,
	struct values_draft *draft)
{
	return node->kind == NODE_LIST
		       ? target_take(reading, target, node->items, node->count, draft)
		       : target_take(reading, target, &node, 1, draft);
}

struct sweep_form {
	const char *name;
	const struct node *specs, *vary, *zip, *points, *set, *when;
};

static const struct field sweep_fields[] = {
	{"name", FIELD_TEXT, .usual = "campaign", INTO(struct sweep_form, name)},
	{"specs", FIELD_TEXT, "files of every point, relative to the file of the sweep",
		.shape = SHAPE_SOME, KEEP_ANY(struct sweep_form, specs)},
	{"vary", FIELD_MAP, "axes whose values are all combined", .shape = SHAPE_NAMED,
		.noun = &axis_noun, KEEP(struct sweep_form, vary)},
	{"zip", FIELD_ANY, "axes that change together, or a list of such",
		KEEP_ANY(struct sweep_form, zip)},
	{"points", FIELD_MAP, "points by name", .shape = SHAPE_NAMED,
		KEEP(struct sweep_form, points)},
	{"set", FIELD_MAP, "values that are the same in all points", KEEP(struct sweep_form, set)},
	{"when", FIELD_TEXT, "conditions of the points", .shape = SHAPE_SOME,
		KEEP_ANY(struct sweep_form, when)},
	{0},
};
const struct noun sweep_noun = {.name = "sweep", .fields = sweep_fields};

static bool take_map(struct sweep_reading *reading, size_t target, const struct node *node,
	struct values_draft *draft, struct sweep_axis *out)
{
	struct reader map;
	struct axis_form form = {0};
	size_t count = 0;
	bool good;
	const char *what = arena_format(
		reading->reading.arena, "'%s'", reading->sweep->targets[target].path.text);
	if (!noun_open(&map, &reading->reading, node, what, &axis_noun))
		return false;
	fields_read(&map, &range_noun, &form.range, NULL);
	fields_read(&map, &axis_noun, &form, NULL);
	out->when = form.when;
	if (form.range.from.given) {
		const struct node *const *nodes = range_values(&map, &form.range, &count);
		good = nodes && target_take(reading, target, nodes, count, draft);
	} else if (form.layers)
		good = take_layers(reading, target, &form, draft);
	else if (form.values)
		good = take_list(reading, target, form.values, draft);
	else
		good = reading_refuse(&reading->reading, node,
			"%s has no 'values', 'from' or 'layers'; a map that is a value stands in a list",
			what);
	reader_done(&map);
	return good;
}

/* The values of a target: a list, a range, {values, when}, {layers}.  False after complaining. */
static bool sweep_values(struct sweep_reading *reading, size_t target, const struct node *node,
	struct sweep_axis *out)
{
	struct arena *arena = reading->reading.arena;
	struct values_draft draft = {0};
	*out = (struct sweep_axis){.ordered = true};
	bool good = node->kind == NODE_MAP ? take_map(reading, target, node, &draft, out)
					   : take_list(reading, target, node, &draft);
	if (good && !draft.count)
		good = reading_refuse(&reading->reading, node, "'%s' has no value",
			reading->sweep->targets[target].path.text);
	struct sweep_option *options = arena_array(arena, struct sweep_option, draft.count);
	for (size_t i = 0; good && i < draft.count; i++) {
		options[i] = (struct sweep_option){.count = 1, .values = &draft.at[i]};
		out->ordered = out->ordered && draft.at[i].node &&
			       sweep_reading_is_number(reading, draft.at[i].node);
	}
	out->count = draft.count;
	out->options = options;
	return good;
}

struct axes_draft array(struct sweep_axis);
struct rules_draft array(struct sweep_rule);

/* --- targets */

static bool is_path(const struct sweep_spec *sweep, const struct path *path)
{
	return path->count > 1 || sheet_key_is(path->text) ||
	       path_file(path, sweep->files, sweep->file_count) < sweep->file_count;
}

static bool is_parameter(const char *name)
{
	size_t i = 0;
	while (isalnum((unsigned char)name[i]) || name[i] == '_')
		i++;
	return i && !name[i] && !isdigit((unsigned char)name[0]);
}

static bool find_target(const struct sweep_spec *sweep, const char *text, size_t *out)
{
	for (*out = 0; *out < sweep->target_count; ++*out)
		if (text_equal(sweep->targets[*out].path.text, text))
			return true;
	return false;
}

/* A new target, or that of another named point. */
static bool add_target(
	struct sweep_reading *reading, const char *text, struct span span, bool again, size_t *out)
{
	struct sweep_spec *sweep = reading->sweep;
	struct arena *arena = sweep->arena;
	if (find_target(sweep, text, out)) {
		if (again)
			return true;
		diag_error(sweep->diag, span, "'%s' has values twice", text);
		diag_note(sweep->diag, sweep->targets[*out].path.span, "first given here");
		return false;
	}
	struct sweep_target target = {.role = TARGET_PARAMETER};
	if (!path_parse(arena, text, span, sweep->diag, &target.path))
		return false;
	if (text_equal(text, "specs"))
		target.role = TARGET_FILES;
	else if (is_path(sweep, &target.path))
		target.role = TARGET_PATH;
	else if (!is_parameter(text)) {
		diag_error(sweep->diag, span,
			"'%s' is not a name of a parameter: it has letters, digits and '_'", text);
		return false;
	}
	*array_add(arena, &reading->targets) = target;
	sweep->targets = reading->targets.at;
	sweep->target_count = reading->targets.count;
	return true;
}

/* --- axes */

static void read_vary(
	struct sweep_reading *reading, const struct node *map, struct axes_draft *axes)
{
	for (size_t i = 0; map && i < map->count; i++) {
		const struct node_entry *entry = &map->entries[i];
		size_t target;
		struct sweep_axis axis;
		if (add_target(reading, entry->key, entry->key_span, false, &target) &&
			sweep_values(reading, target, entry->value, &axis))
			*array_add(reading->sweep->arena, axes) = axis;
	}
}

/* Option i is value i of all of them. */
static void read_zip(struct sweep_reading *reading, const struct node *map, struct axes_draft *axes)
{
	struct arena *arena = reading->sweep->arena;
	struct sweep_axis zipped = {.ordered = false};
	struct sweep_axis *parts = arena_array(arena, struct sweep_axis, map->count);
	for (size_t i = 0; i < map->count; i++) {
		const struct node_entry *entry = &map->entries[i];
		size_t target;
		if (!add_target(reading, entry->key, entry->key_span, false, &target) ||
			!sweep_values(reading, target, entry->value, &parts[i]))
			return;
		zipped.ordered |= parts[i].ordered;
		if (parts[i].when) {
			reading_refuse(&reading->reading, parts[i].when,
				"zipped values cannot have a 'when'; 'when:' of the sweep leaves points out");
			return;
		}
		if (parts[i].count != parts[0].count) {
			diag_error(reading->sweep->diag, entry->key_span,
				"'%s' has %zu values, '%s' %zu; zipped parameters need equally many values",
				entry->key, parts[i].count, map->entries[0].key, parts[0].count);
			return;
		}
	}
	struct sweep_option *options =
		arena_array(arena, struct sweep_option, map->count ? parts[0].count : 0);
	for (size_t o = 0; map->count && o < parts[0].count; o++) {
		struct sweep_value *values = arena_array(arena, struct sweep_value, map->count);
		for (size_t i = 0; i < map->count; i++)
			values[i] = parts[i].options[o].values[0];
		options[o] = (struct sweep_option){.count = map->count, .values = values};
	}
	zipped.count = map->count ? parts[0].count : 0;
	zipped.options = options;
	if (zipped.count)
		*array_add(arena, axes) = zipped;
}

static void read_zips(
	struct sweep_reading *reading, const struct node *node, struct axes_draft *axes)
{
	for (size_t i = 0; node && i < (node->kind == NODE_LIST ? node->count : 1); i++) {
		const struct node *map = node_item(node, i);
		if (map->kind == NODE_MAP)
			read_zip(reading, map, axes);
		else
			reading_refuse(&reading->reading, map,
				"'zip' is %s; a map of parameters to lists is expected",
				node_kind_name(map));
	}
}

static void read_points(
	struct sweep_reading *reading, const struct node *map, struct axes_draft *axes)
{
	struct arena *arena = reading->sweep->arena;
	size_t first = reading->sweep->target_count;
	if (!map || !map->count)
		return;
	struct sweep_option *options = arena_array(arena, struct sweep_option, map->count);
	for (size_t i = 0; i < map->count; i++) {
		const struct node *point = map->entries[i].value;
		if (point->kind != NODE_MAP) {
			reading_refuse(&reading->reading, point,
				"point '%s' is %s; a map of parameters to values is expected",
				map->entries[i].key, node_kind_name(point));
			return;
		}
		struct sweep_value *values = arena_array(arena, struct sweep_value, point->count);
		for (size_t k = 0; k < point->count; k++) {
			const struct node_entry *entry = &point->entries[k];
			size_t target;
			bool again =
				find_target(reading->sweep, entry->key, &target) && target >= first;
			if (!add_target(reading, entry->key, entry->key_span, again, &target) ||
				!sweep_value(reading, target, entry->value, &values[k]))
				return;
		}
		options[i] = (struct sweep_option){map->entries[i].key, point->count, values};
	}
	*array_add(arena, axes) = (struct sweep_axis){.count = map->count, .options = options};
}

/* --- rules and conditions */

static void read_set(
	struct sweep_reading *reading, const struct node *map, struct rules_draft *rules)
{
	for (size_t i = 0; map && i < map->count; i++) {
		const struct node_entry *entry = &map->entries[i];
		size_t target;
		if (!add_target(reading, entry->key, entry->key_span, false, &target))
			continue;
		if (reading->sweep->targets[target].role == TARGET_FILES)
			diag_error(reading->sweep->diag, entry->key_span,
				"'specs' cannot be derived; list the files under 'vary', 'zip' or 'points'");
		else
			*array_add(reading->sweep->arena, rules) =
				(struct sweep_rule){target, entry->value};
	}
}

/* Marks the parameters that a text names. */
static void mark_used(struct sweep_spec *sweep, const struct node *node)
{
	if (!node)
		return;
	for (size_t i = 0; node->kind == NODE_LIST && i < node->count; i++)
		mark_used(sweep, node->items[i]);
	for (size_t i = 0; node->kind == NODE_SCALAR && i < sweep->target_count; i++) {
		const char *names[] = {sweep->targets[i].path.text, NULL};
		struct setting_values one = {.absent = names};
		if (condition_misses(&one, node->text))
			sweep->targets[i].used = true;
	}
}

static void check_used(struct sweep_spec *sweep)
{
	struct array(const char *) known = {0};
	mark_used(sweep, sweep->when);
	for (size_t i = 0; i < sweep->axis_count; i++)
		mark_used(sweep, sweep->axes[i].when);
	for (size_t i = 0; i < sweep->rule_count; i++)
		mark_used(sweep, sweep->rules[i].value);
	for (size_t i = 0; i < sweep->file_count; i++)
		for (size_t k = 0; k < sweep->files[i]->count; k++)
			*array_add(sweep->arena, &known) = sweep->files[i]->entries[k].key;
	*array_add(sweep->arena, &known) = "specs";
	*array_add(sweep->arena, &known) = NULL;
	for (size_t i = 0; i < sweep->target_count; i++) {
		const struct sweep_target *target = &sweep->targets[i];
		if (target->role != TARGET_PARAMETER || target->used)
			continue;
		diag_error(sweep->diag, target->path.span,
			"parameter '%s' sets nothing: it is not a path, and neither 'set' nor 'when' "
			"uses it%s",
			target->path.text,
			suggestion(sweep->arena, suggest(target->path.text, known.at), ""));
	}
}

/* --- the whole */

static void read_specs(struct sweep_reading *reading, const struct node *node)
{
	struct sweep_spec *sweep = reading->sweep;
	size_t more = !node ? 0 : node->kind == NODE_LIST ? node->count : 1;
	const struct node **files =
		arena_array(sweep->arena, const struct node *, sweep->file_count + more);
	for (size_t i = 0; i < sweep->file_count; i++)
		files[i] = sweep->files[i];
	for (size_t i = 0; i < more; i++) {
		const struct node *file = sweep_file(reading, node_item(node, i));
		if (file)
			files[sweep->file_count++] = file;
	}
	sweep->files = files;
	for (size_t i = 0; i < sweep->file_count && !sweep->variables; i++) {
		const struct node *variables = node_find(files[i], "variables");
		if (variables)
			sweep->variables = variables_read(sweep->arena, sweep->diag, variables);
	}
}

static const struct node *node_without(struct arena *arena, const struct node *map, size_t entry)
{
	struct node *copy = arena_copy(arena, map, sizeof *map);
	struct node_entry *entries = arena_array(arena, struct node_entry, map->count);
	copy->count = 0;
	for (size_t i = 0; i < map->count; i++)
		if (i != entry)
			entries[copy->count++] = map->entries[i];
	copy->entries = entries;
	copy->index = NULL;
	return copy;
}

/* The map `sweep:`; the rest of the files are specs of all points. */
static const struct node *find_map(
	struct sweep_spec *sweep, const struct node *const *files, size_t count)
{
	const struct node *map = NULL;
	const struct node **rest = arena_array(sweep->arena, const struct node *, count);
	sweep->files = rest;
	for (size_t i = 0; i < count; i++) {
		int index = node_index(files[i], "sweep");
		rest[i] =
			index < 0 ? files[i] : node_without(sweep->arena, files[i], (size_t)index);
		if (files[i]->kind != NODE_MAP)
			diag_error(sweep->diag, files[i]->span,
				"the file is %s; a map with keys such as 'architecture:' is expected",
				node_kind_name(files[i]));
		if (index < 0)
			continue;
		if (map) {
			diag_error(sweep->diag, files[i]->entries[index].key_span,
				"key 'sweep' is given twice; a campaign has one");
			diag_note(sweep->diag, map->span, "first given here");
		}
		map = files[i]->entries[index].value;
	}
	if (!map)
		diag_error(sweep->diag, (struct span){0},
			"no file has a 'sweep:', which says what varies; try "
			"specs/sweeps/machine_sizes.yaml");
	return map;
}

const struct sweep_spec *sweep_read(
	struct arena *arena, const struct node *const *files, size_t count, struct diag *diag)
{
	struct sweep_spec *sweep = arena_new(arena, struct sweep_spec);
	struct sweep_reading reading = {.reading = {.arena = arena, .diag = diag}, .sweep = sweep};
	struct axes_draft axes = {0};
	struct rules_draft rules = {0};
	struct sweep_form form = {.name = "campaign"};
	struct reader map;
	*sweep = (struct sweep_spec){
		.arena = arena, .diag = diag, .file_count = count, .files = files};
	sweep->map = find_map(sweep, files, count);
	if (!sweep->map || diag_failed(diag) ||
		!noun_open(&map, &reading.reading, sweep->map, "sweep", &sweep_noun))
		return NULL;
	fields_read(&map, &sweep_noun, &form, NULL);
	sweep->name = form.name;
	sweep->when = form.when;
	read_specs(&reading, form.specs);
	read_points(&reading, form.points, &axes);
	read_vary(&reading, form.vary, &axes);
	read_zips(&reading, form.zip, &axes);
	read_set(&reading, form.set, &rules);
	reader_done(&map);
	sweep->axis_count = axes.count;
	sweep->axes = axes.at;
	sweep->rule_count = rules.count;
	sweep->rules = rules.at;
	if (!axes.count && !diag_failed(diag))
		diag_error(diag, sweep->map->span,
			"the sweep varies nothing; add 'vary', 'zip' or 'points'");
	if (!diag_failed(diag))
		check_used(sweep);
	return diag_failed(diag) ? NULL : sweep;
}

bool path_parse(struct arena *arena, const char *text, struct span span, struct diag *diag,
	struct path *out)
{
	*out = (struct path){.text = text, .span = span};
	for (const char *at = text;; at++) {
		size_t length = strcspn(at, ".");
		if (!length || out->count == PATH_WORDS_MOST) {
			diag_error(diag, span,
				length ? "path '%s' has more than %d words"
				       : "path '%s' has an empty word",
				text, PATH_WORDS_MOST);
			return false;
		}
		out->words[out->count++] = arena_format(arena, "%.*s", (int)length, at);
		at += length;
		if (!*at)
			return true;
	}
}

size_t path_file(const struct path *path, const struct node *const *files, size_t count)
{
	size_t i = 0;
	while (i < count && node_index(files[i], path->words[0]) < 0)
		i++;
	return i;
}

/* --- looking below a node */

static const struct node *node_child(const struct node *node, size_t i)
{
	return node->kind == NODE_MAP ? node->entries[i].value : node->items[i];
}

static size_t node_children(const struct node *node)
{
	return node->kind == NODE_SCALAR ? 0 : node->count;
}

/* Returns the `name:` of a map, or NULL. */
static const char *node_name(const struct node *node)
{
	const struct node *name = node_find(node, "name");
	return name && name->kind == NODE_SCALAR && *name->text ? name->text : NULL;
}

static bool is_called(const struct node *node, const char *word)
{
	const char *name = node_name(node);
	size_t length = strlen(word);
	return name && strncmp(name, word, length) == 0 && (!name[length] || name[length] == '[');
}

static bool is_number_path(const char *word, size_t i)
{
	char *end;
	return isdigit((unsigned char)*word) && strtoull(word, &end, 10) == i && !*end;
}

/* One word of a path, looked for below a node. */
struct word_search {
	const char *word;
	struct trail *trail; /* so far */
	const struct node *start;
	struct trail found; /* the first */
	int hits;
	struct span second;
};

static bool word_search_hits(const struct word_search *search, const struct node *node, size_t i)
{
	if (node->kind == NODE_MAP && text_equal(node->entries[i].key, search->word))
		return true;
	if (is_called(node_child(node, i), search->word))
		return true;
	return node->kind == NODE_LIST && node == search->start && is_number_path(search->word, i);
}

/* All hits that are `depth` steps below a node. */
static void search_at(struct word_search *search, const struct node *node, int depth)
{
	struct trail *trail = search->trail;
	if (node->height < depth && node->weight)
		return;
	for (size_t i = 0; i < node_children(node) && trail->count < TRAIL_MOST; i++) {
		trail->at[trail->count] = node;
		trail->index[trail->count++] = i;
		if (depth > 1) {
			search_at(search, node_child(node, i), depth - 1);
		} else if (word_search_hits(search, node, i)) {
			if (!search->hits++)
				search->found = *trail;
			else
				search->second = node_child(node, i)->span;
		}
		trail->count--;
	}
}

struct near_words array(const char *);

static void list_words(struct arena *arena, const struct node *node, struct near_words *known)
{
	for (size_t i = 0; i < node_children(node); i++) {
		if (node->kind == NODE_MAP)
			*array_add(arena, known) = node->entries[i].key;
		if (node_name(node_child(node, i)))
			*array_add(arena, known) = node_name(node_child(node, i));
		list_words(arena, node_child(node, i), known);
	}
}

/* "; there are a, b, c and 4 more": each word once, the first WORDS_SHOWN of them. */
static const char *list_known(struct arena *arena, const struct near_words *known)
{
	enum { WORDS_SHOWN = 12 };
	struct text text = text_open(arena);
	size_t shown = 0, more = 0;
	for (size_t i = 0; i < known->count && known->at[i]; i++) {
		bool again = false;
		for (size_t k = 0; k < i && !again; k++)
			again = text_equal(known->at[k], known->at[i]);
		if (again)
			continue;
		if (shown < WORDS_SHOWN)
			text_add(&text, "%s%s", shown++ ? ", " : "; there are ", known->at[i]);
		else
			more++;
	}
	if (more)
		text_add(&text, " and %zu more", more);
	return text_read(&text);
}

/* Nothing below has this word. */
static void sweep_path_complain(struct arena *arena, const struct path *path, int word,
	const struct node *const *nodes, size_t count, struct diag *diag)
{
	struct near_words known = {0};
	for (size_t i = 0; i < count; i++) {
		if (word)
			list_words(arena, nodes[i], &known);
		for (size_t k = 0; !word && k < nodes[i]->count; k++)
			*array_add(arena, &known) = nodes[i]->entries[k].key;
	}
	*array_add(arena, &known) = NULL;
	const char *near = diag_full(diag) ? NULL : suggest(path->words[word], known.at);
	const char *where =
		word ? arena_format(arena, "'%s' has no", path->words[word - 1]) : "no spec has a";
	diag_error(diag, path->span, "path '%s' matches nothing: %s '%s'%s", path->text, where,
		path->words[word], suggestion(arena, near, list_known(arena, &known)));
}

/* The words from the second on, below the value of the first. */
static bool find_below(struct arena *arena, const struct path *path, struct trail *trail,
	const struct node *node, struct diag *diag)
{
	for (int w = 1; w < path->count; w++) {
		struct trail walk = *trail;
		struct word_search search = {.word = path->words[w], .trail = &walk, .start = node};
		for (int depth = 1; !search.hits && depth <= SPEC_DEPTH_MOST; depth++)
			search_at(&search, node, depth);
		if (!search.hits) {
			sweep_path_complain(arena, path, w, &node, 1, diag);
			return false;
		}
		if (search.hits > 1) {
			const struct trail *found = &search.found;
			diag_error(diag, path->span,
				"path '%s' matches %d places: '%s' is ambiguous; put the key before it in front",
				path->text, search.hits, path->words[w]);
			diag_note(diag,
				node_child(
					found->at[found->count - 1], found->index[found->count - 1])
					->span,
				"one is here");
			diag_note(diag, search.second, "one is here");
			return false;
		}
		*trail = search.found;
		node = node_child(trail->at[trail->count - 1], trail->index[trail->count - 1]);
	}
	return true;
}

bool path_find(struct arena *arena, const struct path *path, const struct node *const *files,
	size_t count, struct diag *diag, struct trail *out)
{
	size_t first = path_file(path, files, count);
	if (first == count) {
		sweep_path_complain(arena, path, 0, files, count, diag);
		return false;
	}
	/* of several files with the key, whose values add up, the first that has the rest */
	for (size_t i = first; i < count; i++) {
		int index = node_index(files[i], path->words[0]);
		if (index < 0)
			continue;
		*out = (struct trail){.file = i, .count = 1};
		out->at[0] = files[i];
		out->index[0] = (size_t)index;
		if (find_below(arena, path, out, files[i]->entries[index].value, diag_open(arena)))
			return true;
	}
	*out = (struct trail){.file = first};
	return find_below(arena, path, out, node_find(files[first], path->words[0]), diag);
}

/* --- setting */

static const struct node *with_child(
	struct arena *arena, const struct node *node, size_t i, const struct node *value)
{
	struct node *copy = arena_copy(arena, node, sizeof *node);
	copy->weight = 0;
	if (node->kind == NODE_MAP) {
		struct node_entry *entries =
			arena_copy(arena, node->entries, node->count * sizeof *entries);
		entries[i].value = value;
		copy->entries = entries;
	} else {
		const struct node **items =
			arena_copy(arena, node->items, node->count * sizeof *items);
		items[i] = value;
		copy->items = items;
	}
	return copy;
}

const struct node *trail_replace(
	struct arena *arena, const struct trail *trail, const struct node *value)
{
	for (int i = trail->count; i-- > 0;)
		value = with_child(arena, trail->at[i], trail->index[i], value);
	return value;
}

static const struct node *with_entry(struct arena *arena, const struct node *map, const char *key,
	struct span span, const struct node *value)
{
	struct node *copy = arena_copy(arena, map, sizeof *map);
	struct node_entry *entries = arena_array(arena, struct node_entry, map->count + 1);
	for (size_t i = 0; i < map->count; i++)
		entries[i] = map->entries[i];
	entries[map->count] = (struct node_entry){.key = key, .key_span = span, .value = value};
	copy->entries = entries;
	copy->count++;
	copy->weight = 0;
	copy->index = NULL;
	return copy;
}

static const struct node *node_create(struct arena *arena, const struct node *map,
	const struct path *path, int word, const struct node *value)
{
	const struct node empty = {.kind = NODE_MAP, .text = "", .span = path->span};
	if (word == path->count)
		return value;
	if (!map || map->kind != NODE_MAP)
		map = &empty;
	int i = node_index(map, path->words[word]);
	value = node_create(arena, i < 0 ? NULL : map->entries[i].value, path, word + 1, value);
	return i < 0 ? with_entry(arena, map, path->words[word], path->span, value)
		     : with_child(arena, map, (size_t)i, value);
}

const struct node *path_create(struct arena *arena, const struct node *root,
	const struct path *path, const struct node *value)
{
	return node_create(arena, root, path, 0, value);
}
