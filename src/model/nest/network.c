#include "model/nest/network.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"
#include "spec/field.h"
#include "spec/reader.h"

#include <string.h>

/* Names of layers are names of files and stand in tables. */
static bool is_layer_name(const char *name)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.";
	size_t length = strspn(name, letters);
	return length && !name[length] && length <= NETWORK_NAME_MOST && name[0] != '.' &&
	       name[0] != '-';
}

static void network_check_name(const struct reading *reading, const struct node *node,
	const struct network *network, struct names *names, struct layer *layer)
{
	int first = names_find(names, layer->name);
	if (!is_layer_name(layer->name)) {
		diag_error(reading->diag, node_find(node, "name")->span,
			"'%s' cannot name a layer; a name has at most %d letters, digits, '_', '-' and "
			"'.', and begins with neither of the last two",
			layer->name, NETWORK_NAME_MOST);
	} else if (first >= 0) {
		diag_error(reading->diag, node_find(node, "name")->span,
			"two layers are called '%s'", layer->name);
		diag_note(reading->diag, network->layers[first].span, "this is the first");
	} else {
		names_add(reading->arena, names, layer->name, (int)network->layer_count - 1);
	}
}

static const struct field layer_fields[] = {
	{"name", FIELD_TEXT, .required = true, INTO(struct layer, name)},
	{"count", FIELD_WHOLE, "how often the layer occurs", .usual = "1",
		INTO(struct layer, count), .least = 1, .most = NETWORK_COUNT_MOST},
	{"from", FIELD_ANY, "the layer whose result it reads, or dataspaces with such layers",
		.usual = "the layer before, if shapes agree", .read = field_skip},
	{0},
};
static const struct noun *const layer_parts[] = {&problem_noun, NULL};
static const struct noun layer_noun = {
	.name = "layer", .fields = layer_fields, .parts = layer_parts, .older = "instance"};

/* add_sources reads `from` when all layers have names. */
static void read_layer(const struct reading *reading, const struct node *node,
	const struct node *shapes, struct network *network, struct names *names)
{
	struct reader map;
	struct layer *layer = &network->layers[network->layer_count++];
	*layer = (struct layer){.count = 1, .span = node->span};
	if (!noun_open(&map, reading, node, "layer", &layer_noun))
		return;
	fields_read(&map, &layer_noun, layer, NULL);
	if (layer->name)
		network_check_name(reading, node, network, names, layer);
	layer->shape = shape_read_open(&map, shapes);
}

/* "; did you mean 'a'?", or nothing. */
static const char *nearest_layer(
	struct arena *arena, const struct network *network, const char *name)
{
	const char **known = arena_array(arena, const char *, network->layer_count + 1);
	for (size_t l = 0; l < network->layer_count; l++)
		known[l] = network->layers[l].name;
	return suggestion(arena, suggest(name, known), "");
}

/* The end of the layers of equal count that a layer is among: occurrences of these alternate. */
static size_t block_end(const struct network *network, size_t l)
{
	size_t end = l;
	while (end < network->layer_count && network->layers[end].count == network->layers[l].count)
		end++;
	return end;
}

/* One layer that `from` names, as the operand `space`. */
static void add_source(const struct reading *reading, const struct names *names,
	const struct network *network, struct layer *layer, int space, const struct node *node)
{
	const char *name;
	if (!node_text(reading, node, "'from' of a layer", &name))
		return;
	int found = names_find(names, name);
	size_t own = (size_t)(layer - network->layers);
	size_t end = layer->count > 1 ? block_end(network, own) : own;
	if (found < 0)
		reading_refuse(reading, node, "unknown layer '%s'%s", name,
			nearest_layer(reading->arena, network, name));
	else if ((size_t)found == own && layer->count == 1)
		reading_refuse(reading, node,
			"'%s' reads its own result; with a 'count' above 1 it reads that of the "
			"occurrence before",
			name);
	else if ((size_t)found >= end)
		reading_refuse(reading, node,
			"'%s' comes later; a layer reads the results of earlier ones: move '%s' in "
			"front",
			name, name);
	else
		layer->from.at[layer->from.count++] =
			(struct layer_source){space, (size_t)found, node->span};
}

/* "Inputs, Weights" */
static const char *operand_names(struct arena *arena, const struct shape *shape)
{
	struct text text = text_open(arena);
	for (int t = 0; t < shape->space_count; t++)
		if (!shape->spaces[t].written)
			text_add(&text, "%s%s", text.length ? ", " : "", shape->spaces[t].name);
	return text_read(&text);
}

static bool is_given(const struct layer_sources *from, int space)
{
	for (size_t i = 0; i < from->count; i++)
		if (from->at[i].space == space)
			return true;
	return false;
}

static void add_sources(const struct reading *reading, const struct names *names,
	const struct network *network, struct layer *layer, const struct node *from)
{
	const struct shape *shape = layer->shape;
	layer->from.given = true;
	layer->from.at = arena_array(reading->arena, struct layer_source, SHAPE_SPACES_MOST);
	if (from->kind != NODE_MAP) {
		add_source(reading, names, network, layer, -1, from);
		return;
	}
	for (size_t i = 0; i < from->count; i++) {
		const struct node_entry *entry = &from->entries[i];
		int space = shape_space(shape, entry->key);
		if (space < 0 || shape->spaces[space].written)
			diag_error(reading->diag, entry->key_span,
				"'%s' is not an operand of layer '%s'; it reads %s", entry->key,
				layer->name, operand_names(reading->arena, shape));
		else if (is_given(&layer->from, space))
			diag_error(reading->diag, entry->key_span,
				"'%s' is given twice, by its name and by its role; keep one",
				shape->spaces[space].name);
		else
			add_source(reading, names, network, layer, space, entry->value);
	}
}

static bool network_key_is_used(const struct node *layers, const char *name)
{
	for (size_t i = 0; i < layers->count; i++) {
		const struct node *shape = node_find(layers->items[i], "shape");
		if (shape && shape->kind == NODE_SCALAR && strcmp(shape->text, name) == 0)
			return true;
	}
	return false;
}

static void warn_unused(
	const struct reading *reading, const struct node *shapes, const struct node *layers)
{
	for (size_t i = 0; shapes && i < shapes->count; i++)
		if (!network_key_is_used(layers, shapes->entries[i].key))
			diag_warning(reading->diag, shapes->entries[i].key_span,
				"no layer has the shape '%s'; it is not read",
				shapes->entries[i].key);
}

/* Which layers are the same problem. */
static void find_same(struct network *network)
{
	for (size_t i = 0; i < network->layer_count; i++) {
		struct layer *layer = &network->layers[i];
		for (layer->same_as = 0; layer->same_as < i; layer->same_as++)
			if (shape_equal(network->layers[layer->same_as].shape, layer->shape))
				break;
		network->distinct += layer->same_as == i;
	}
}

int64_t network_occurrences(const struct network *network)
{
	int64_t count = 0;
	for (size_t l = 0; l < network->layer_count; l++)
		count += network->layers[l].count;
	return count;
}

bool network_flows(const struct network *network)
{
	for (size_t l = 0; l < network->layer_count; l++)
		if (network->layers[l].from.given)
			return true;
	return false;
}

struct network_form {
	const char *name;
	const struct node *shapes, *layers;
};

static const struct field network_fields[] = {
	{"name", FIELD_TEXT, .usual = "network", INTO(struct network_form, name)},
	{"shapes", FIELD_MAP, "shapes that several layers have, by name", .shape = SHAPE_NAMED,
		.noun = &shape_noun, KEEP(struct network_form, shapes)},
	{"layers", FIELD_MAP, "problems in their order", .shape = SHAPE_LIST, .required = true,
		.noun = &layer_noun, KEEP(struct network_form, layers)},
	{0},
};
const struct noun network_noun = {.name = "network", .fields = network_fields};

const struct network *network_read(const struct reading *reading, const struct node *node)
{
	struct network *network = arena_new(reading->arena, struct network);
	struct names names = {0};
	struct reader map;
	size_t errors = diag_errors(reading->diag);
	struct network_form form = {.name = "network"};
	network->span = node->span;
	if (!noun_open(&map, reading, node, "network", &network_noun))
		return NULL;
	fields_read(&map, &network_noun, &form, NULL);
	reader_done(&map);
	const struct node *shapes = form.shapes, *layers = form.layers;
	network->name = form.name;
	if (layers && (!layers->count || layers->count > NETWORK_LAYERS_MOST)) {
		diag_error(reading->diag, layers->span, "a network has 1 to %d layers, not %zu",
			NETWORK_LAYERS_MOST, layers->count);
		return NULL;
	}
	if (!layers)
		return NULL;
	network->layers = arena_array(reading->arena, struct layer, layers->count);
	for (size_t i = 0; i < layers->count && !diag_full(reading->diag); i++)
		read_layer(reading, layers->items[i], shapes, network, &names);
	if (diag_errors(reading->diag) != errors)
		return NULL;
	for (size_t l = 0; l < network->layer_count; l++) {
		const struct node *from = node_find(layers->items[l], "from");
		if (from)
			add_sources(reading, &names, network, &network->layers[l], from);
	}
	if (diag_errors(reading->diag) != errors)
		return NULL;
	warn_unused(reading, shapes, layers);
	find_same(network);
	return network;
}
