#include "model/nest/shape_read.h"

#include "base/arena.h"
#include "base/text.h"
#include "model/nest/shape.h"
#include "spec/reader.h"
#include "spec/step.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Names stand in mappings and projections, where other characters have a meaning. */
static bool is_name(const char *name)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
	static const char more[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
	return *name && strchr(letters, *name) && name[strspn(name, more)] == '\0';
}

/* A new name of a dimension, coefficient or dataspace; false after complaining. */
static bool check_name(struct shape_draft *draft, const char *name, struct span span)
{
	const struct shape *shape = draft->shape;
	if (!is_name(name)) {
		SHAPE_WRONG(draft, span, "'%s' is no name: letters, digits and '_' make one", name);
		return false;
	}
	const struct shape_coefficient *coefficient = shape_draft_coefficient(draft, name);
	int d = shape_dimension(shape, name), t = shape_space(shape, name);
	if (!coefficient && d < 0 && t < 0)
		return true;
	SHAPE_WRONG(draft, span, "'%s' is named twice", name);
	diag_note(draft->reading->diag,
		coefficient ? coefficient->span
		: d >= 0    ? shape->dimensions[d].span
			    : shape->spaces[t].span,
		"first named here");
	return false;
}

static void read_dimensions(struct shape_draft *draft, struct reader *map)
{
	struct shape *shape = draft->shape;
	const struct node *list = read_list(map, "dimensions", REQUIRED);
	if (list && (!list->count || list->count > SHAPE_DIMENSIONS_MOST)) {
		SHAPE_WRONG(draft, list->span, "a problem has 1 to %d dimensions, not %zu",
			SHAPE_DIMENSIONS_MOST, list->count);
		return;
	}
	for (size_t i = 0; list && i < list->count; i++) {
		const struct node *item = list->items[i];
		const char *name;
		if (node_text(draft->reading, item, "a dimension", &name) &&
			check_name(draft, name, item->span))
			shape->dimensions[shape->dimension_count++] =
				(struct dimension){name, 0, item->span};
	}
}

static void read_coefficients(struct shape_draft *draft, struct reader *map)
{
	const struct node *list = read_list(map, "coefficients", OPTIONAL);
	if (list && list->count > SHAPE_COEFFICIENTS_MOST) {
		SHAPE_WRONG(draft, list->span, "a problem has at most %d coefficients, not %zu",
			SHAPE_COEFFICIENTS_MOST, list->count);
		return;
	}
	for (size_t i = 0; list && i < list->count; i++) {
		struct reader item;
		struct shape_coefficient new = {.span = list->items[i]->span};
		if (!reader_open(&item, draft->reading, list->items[i], "coefficient"))
			continue;
		bool named = read_text(&item, "name", REQUIRED, &new.name);
		new.given =
			read_integer(&item, "default", OPTIONAL, 0, SHAPE_EXTENT_MOST, &new.value);
		reader_done_lenient(&item);
		if (named && check_name(draft, new.name, new.span))
			draft->coefficients[draft->coefficient_count++] = new;
	}
}

/* The nearest of what an instance may say and has not said yet. */
static const char *near_missing(struct shape_draft *draft, const char *word)
{
	const char *missing[SHAPE_DIMENSIONS_MOST + SHAPE_COEFFICIENTS_MOST + 1];
	size_t count = 0;
	for (int d = 0; d < draft->shape->dimension_count; d++)
		if (!draft->shape->dimensions[d].extent)
			missing[count++] = draft->shape->dimensions[d].name;
	for (int i = 0; i < draft->coefficient_count; i++)
		if (!draft->coefficients[i].stated)
			missing[count++] = draft->coefficients[i].name;
	missing[count] = NULL;
	return suggest_misspelt(word, missing);
}

static bool is_one(const struct node *node)
{
	char *end;
	return node && node->kind == NODE_SCALAR && strtod(node->text, &end) == 1 && !*end;
}

/* `1.0`, or a map whose density is that; of what is dense everywhere no distribution matters. */
static bool is_dense(const struct node *node)
{
	const struct node *density = node_find(node, "density");
	return is_one(node) || is_one(density ? density : node_find(node, "average_density"));
}

static bool are_dense(const struct node *densities)
{
	for (size_t i = 0; densities->kind == NODE_MAP && i < densities->count; i++)
		if (!is_dense(densities->entries[i].value))
			return false;
	return densities->kind == NODE_MAP;
}

/* `densities` by dataspace, `commonDensity` one for all: what is sparse is kept for shape->sparse. */
static void check_densities(struct shape_draft *draft, struct reader *map)
{
	const struct node *common = read_node(map, "commonDensity", OPTIONAL);
	const struct node *node = read_node(map, "densities", OPTIONAL);
	if (common && !is_dense(common))
		node = common;
	else if (node && are_dense(node))
		return;
	if (node)
		draft->shape->sparse = node->span;
}

/* Keys that are no part of the shape, such as the W and H of an input, are not read. */
static void pass_unused(
	struct shape_draft *draft, const struct reader *map, const struct node_entry *entry)
{
	const struct reading *reading = draft->reading;
	const char *near = near_missing(draft, entry->key);
	if (near)
		SHAPE_WRONG(draft, entry->key_span,
			"the shape has no dimension or coefficient '%s'; did you mean '%s'?",
			entry->key, near);
	else if (reading->unread)
		unread_add(reading->arena, reading->unread, entry, map->what);
	else
		diag_warning(reading->diag, entry->key_span,
			"'%s' is no dimension or coefficient of the shape and is not used",
			entry->key);
}

static void read_extents(struct shape_draft *draft, struct reader *map)
{
	struct shape *shape = draft->shape;
	struct shape_coefficient *coefficients = draft->coefficients;
	for (int d = 0; d < shape->dimension_count; d++) {
		struct dimension *dimension = &shape->dimensions[d];
		if (!read_integer(map, dimension->name, REQUIRED, 1, SHAPE_EXTENT_MOST,
			    &dimension->extent))
			dimension->extent = node_find(map->map, dimension->name) ? 1 : 0;
	}
	for (int i = 0; i < draft->coefficient_count; i++) {
		struct shape_coefficient *coefficient = &coefficients[i];
		read_integer(map, coefficient->name, coefficient->given ? OPTIONAL : REQUIRED, 0,
			SHAPE_EXTENT_MOST, &coefficient->value);
		coefficient->stated = node_find(map->map, coefficient->name) != NULL;
	}
	check_densities(draft, map);
}

static void read_unused(struct shape_draft *draft, const struct reader *map)
{
	for (size_t i = 0; i < map->map->count; i++) {
		const struct node_entry *entry = &map->map->entries[i];
		bool known = false;
		for (size_t k = 0; k < map->known_count; k++)
			known |= text_equal(map->known[k], entry->key);
		if (!known)
			pass_unused(draft, map, entry);
	}
}

/* The name that v0.4 gives a key, and the older one. */
static const char *either(const struct reader *map, const char *key, const char *older)
{
	return !node_find(map->map, key) && node_find(map->map, older) ? older : key;
}

static void read_space(struct shape_draft *draft, const struct node *node)
{
	struct shape *shape = draft->shape;
	struct dataspace space = {.span = node->span};
	struct reader map;
	if (!reader_open(&map, draft->reading, node, "data space"))
		return;
	bool good = read_text(&map, "name", REQUIRED, &space.name);
	const struct node *projection = read_node(&map, "projection", REQUIRED);
	read_bool(&map, either(&map, "read_write", "read-write"), OPTIONAL, &space.written);
	reader_done_lenient(&map);
	if (!good || !check_name(draft, space.name, node->span))
		return;
	if (projection)
		shape_projection_read(draft, projection, &space);
	shape->spaces[shape->space_count++] = space;
}

static void check_written(struct shape_draft *draft, struct span span)
{
	const struct shape *shape = draft->shape;
	int written = -1;
	for (int t = 0; t < shape->space_count; t++) {
		if (!shape->spaces[t].written)
			continue;
		if (written >= 0) {
			SHAPE_WRONG(draft, shape->spaces[t].span,
				"'%s' and '%s' are both read_write; a problem writes one dataspace",
				shape->spaces[written].name, shape->spaces[t].name);
			return;
		}
		written = t;
	}
	if (written < 0)
		SHAPE_WRONG(draft, span, "no dataspace is written; one needs 'read_write: true'");
}

static void read_spaces(struct shape_draft *draft, struct reader *map)
{
	const struct node *list =
		read_list(map, either(map, "data_spaces", "data-spaces"), REQUIRED);
	if (!list)
		return;
	if (!list->count || list->count > SHAPE_SPACES_MOST) {
		SHAPE_WRONG(draft, list->span, "a problem has 1 to %d data spaces, not %zu",
			SHAPE_SPACES_MOST, list->count);
		return;
	}
	size_t errors = diag_errors(draft->reading->diag);
	for (size_t i = 0; i < list->count; i++)
		read_space(draft, list->items[i]);
	if (diag_errors(draft->reading->diag) == errors)
		check_written(draft, list->span);
}

static void read_version(struct shape_draft *draft, struct reader *map)
{
	static const char *const known[] = {"0.4", "0.3", "0.2", NULL};
	const char *version;
	if (!read_text(map, "version", OPTIONAL, &version))
		return;
	for (int i = 0; known[i]; i++)
		if (text_equal(known[i], version))
			return;
	SHAPE_WRONG(draft, node_find(map->map, "version")->span,
		"problem version %s; this program reads 0.4 and older", version);
}

/* The map with the extents: `instance`, or the problem itself in the older form. */
static struct reader *open_instance(
	struct shape_draft *draft, struct reader *map, struct reader *instance)
{
	const struct node *node = read_node(map, "instance", OPTIONAL);
	if (!node)
		return map;
	if (!reader_open(instance, draft->reading, node, "instance"))
		return NULL;
	return instance;
}

/* The shape of a problem: under `shape`, or its keys beside the instance, or, where a problem may
 * go without both, the one that Timeloop takes.  NULL after complaining. */
static struct reader *open_shape(struct shape_draft *draft, struct reader *map,
	const struct node *shapes, bool may_lack, struct reader *inner)
{
	static const char *const own[] = {"dimensions", "data_spaces", "data-spaces"};
	const struct reading *reading = draft->reading;
	const struct node *found = NULL, *written = read_node(map, "shape", OPTIONAL);
	bool flat = !may_lack;
	for (int i = 0; i < 3; i++)
		flat |= node_find(map->map, own[i]) != NULL;
	if (!written && flat)
		return map;
	if (written) {
		found = shape_named_find(reading, written, shapes);
	} else {
		found = shape_named(reading, shape_named_default);
		diag_remark(reading->diag, map->map->span,
			"no shape is given: it is that of %s, as in Timeloop", shape_named_default);
	}
	return found && reader_open(inner, reading, found, "shape") ? inner : NULL;
}

static void refuse_flattening(struct shape_draft *draft, struct reader *form)
{
	const struct node *flatten = read_node(form, "flatten", OPTIONAL);
	if (flatten && (flatten->count || *flatten->text))
		SHAPE_WRONG(
			draft, flatten->span, "'flatten' is not supported: dimensions stay apart");
}

static const struct shape *read_shape(struct reader *map, const struct node *shapes, bool may_lack)
{
	const struct reading *reading = map->reading;
	struct shape_draft *draft = arena_new(reading->arena, struct shape_draft);
	struct shape *shape = draft->shape = arena_new(reading->arena, struct shape);
	struct reader inner, instance;
	const struct node *name;
	size_t errors = diag_errors(reading->diag);
	draft->reading = reading;
	shape->span = map->map->span;
	shape->name = "problem";
	read_version(draft, map);
	const struct node *ops = may_lack ? node_find(map->map, "ops") : NULL;
	if (ops)
		SHAPE_WRONG(draft, ops->span,
			"'ops', several operations in one problem, and 'node-type' in a mapping are "
			"TileFlow's and not read; give the dimensions, data_spaces and instance of "
			"one of them");
	if (ops && !node_find(map->map, "dimensions"))
		return NULL;
	struct reader *form = open_shape(draft, map, shapes, may_lack, &inner);
	if (!form)
		return NULL;
	if (form != map)
		read_version(draft, form);
	name = read_node(form, "name", OPTIONAL);
	if (name && (name->kind != NODE_SCALAR || *name->text))
		read_text(form, "name", OPTIONAL, &shape->name);
	read_dimensions(draft, form);
	read_coefficients(draft, form);
	refuse_flattening(draft, form);
	struct reader *extents = open_instance(draft, map, &instance);
	if (extents)
		read_extents(draft, extents);
	read_spaces(draft, form);
	if (extents)
		read_unused(draft, extents);
	if (form != extents)
		reader_done_lenient(form);
	if (map != form && map != extents)
		reader_done_lenient(map);
	shape_finish(shape);
	shape_find_roles(shape);
	return diag_errors(reading->diag) == errors ? shape : NULL;
}

const struct shape *shape_read_open(struct reader *map, const struct node *shapes)
{
	return read_shape(map, shapes, false);
}

const struct shape *shape_read(const struct reading *reading, const struct node *node)
{
	struct reader map;
	return reader_open(&map, reading, node, "problem") ? read_shape(&map, NULL, true) : NULL;
}

/* [[R], [P, 2]]; a rank that nothing walks along is a dimension times 0. */
static void write_rank(struct text *text, const struct shape *shape, const struct shape_rank *rank)
{
	int terms = 0;
	text_add(text, "[");
	for (int d = 0; d < shape->dimension_count; d++) {
		if (!rank->coefficient[d])
			continue;
		text_add(text, terms++ ? ", [" : "[");
		quote_yaml(text, shape->dimensions[d].name);
		if (rank->coefficient[d] != 1)
			text_add(text, ", %" PRId64, rank->coefficient[d]);
		text_add(text, "]");
	}
	if (!terms) {
		text_add(text, "[");
		quote_yaml(text, shape->dimensions[0].name);
		text_add(text, ", 0]");
	}
	text_add(text, "]");
}

static void write_space(struct text *text, const struct shape *shape, const struct dataspace *space)
{
	text_add(text, "    - {name: ");
	quote_yaml(text, space->name);
	text_add(text, ", projection: [");
	for (int k = 0; k < space->rank_count; k++) {
		text_add(text, k ? ", " : "");
		write_rank(text, shape, &space->ranks[k]);
	}
	text_add(text, "]%s}\n", space->written ? ", read_write: true" : "");
}

const char *shape_write(struct arena *arena, const struct shape *shape)
{
	struct text text = text_open(arena);
	text_add(&text, "problem:\n  version: 0.4\n  shape:\n    name: ");
	quote_yaml(&text, shape->name);
	text_add(&text, "\n    dimensions: [");
	for (int d = 0; d < shape->dimension_count; d++) {
		text_add(&text, d ? ", " : "");
		quote_yaml(&text, shape->dimensions[d].name);
	}
	text_add(&text, "]\n    data_spaces:\n");
	for (int t = 0; t < shape->space_count; t++)
		write_space(&text, shape, &shape->spaces[t]);
	text_add(&text, "  instance: {");
	for (int d = 0; d < shape->dimension_count; d++) {
		text_add(&text, d ? ", " : "");
		quote_yaml(&text, shape->dimensions[d].name);
		text_add(&text, ": %" PRId64, shape->dimensions[d].extent);
	}
	text_add(&text, "}\n");
	return text_read(&text);
}
