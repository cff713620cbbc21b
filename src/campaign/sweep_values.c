#include "campaign/sweep.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"
#include "campaign/canon.h"
#include "campaign/range.h"
#include "spec/expr.h"

#include <string.h>

const struct node *sweep_file(struct sweep_reading *reading, const struct node *name)
{
	struct arena *arena = reading->reading.arena;
	const char *own = reading->sweep->map->span.source->name;
	const char *slash = strrchr(own, '/');
	if (name->kind != NODE_SCALAR || !*name->text) {
		reading_refuse(
			&reading->reading, name, "%s is no name of a file", node_kind_name(name));
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
		reading_refuse(&reading->reading, node, "a map is no name of a file");
	out->files = files;
	out->label = text_read(&label);
	return good;
}

bool sweep_value(struct sweep_reading *reading, size_t target, const struct node *node,
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

static bool is_number(const struct sweep_reading *reading, const struct node *node)
{
	struct value value;
	struct diag *silent = diag_open(reading->reading.arena);
	return node->kind == NODE_SCALAR && !node->quoted &&
	       expr_read(silent, reading->sweep->variables, node, "", &value);
}

static bool take(struct sweep_reading *reading, size_t target, const struct node *const *nodes,
	size_t count, struct values_draft *draft)
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

/* The layers of one network; `many`: of several, whose names tell them apart. */
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

static bool take_layers(struct sweep_reading *reading, struct reader *map, size_t target,
	const struct node *names, struct values_draft *draft)
{
	struct arena *arena = reading->reading.arena;
	const struct node *only = read_node(map, "only", OPTIONAL);
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
	return node->kind == NODE_LIST ? take(reading, target, node->items, node->count, draft)
				       : take(reading, target, &node, 1, draft);
}

static bool take_map(struct sweep_reading *reading, size_t target, const struct node *node,
	struct values_draft *draft, struct sweep_axis *out)
{
	struct reader map;
	size_t count = 0;
	const char *what = arena_format(
		reading->reading.arena, "'%s'", reading->sweep->targets[target].path.text);
	if (!reader_open(&map, &reading->reading, node, what))
		return false;
	bool good, range = range_is(node);
	const struct node *layers = read_node(&map, "layers", OPTIONAL);
	const struct node *const *nodes = range ? range_read(&map, &count) : NULL;
	if (range)
		good = nodes && take(reading, target, nodes, count, draft);
	else if (layers)
		good = take_layers(reading, &map, target, layers, draft);
	else {
		const struct node *values = read_node(&map, "values", OPTIONAL);
		good = values && take_list(reading, target, values, draft);
		if (!values && !node_find(node, "to"))
			reading_refuse(&reading->reading, node,
				"%s has no 'values', 'from' or 'layers'; a map that is a value stands in a list",
				what);
		else if (!values)
			read_node(&map, "from", REQUIRED);
	}
	out->when = read_node(&map, "when", OPTIONAL);
	reader_done(&map);
	return good;
}

bool sweep_values(struct sweep_reading *reading, size_t target, const struct node *node,
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
		out->ordered =
			out->ordered && draft.at[i].node && is_number(reading, draft.at[i].node);
	}
	out->count = draft.count;
	out->options = options;
	return good;
}
