#include "base/arena.h"
#include "base/scan.h"
#include "base/text.h"
#include "model/nest/shape.h"
#include "model/nest/shape_named.h"
#include "spec/reader.h"
#include "spec/unread.h"

#include <stdlib.h>
#include <string.h>

struct coefficient {
	const char *name;
	int64_t value;
	bool given;  /* has a default */
	bool stated; /* by the instance */
	struct span span;
};

/* What reading one problem knows so far. */
struct problem {
	const struct reading *reading;
	struct shape *shape;
	int coefficient_count;
	struct coefficient coefficients[SHAPE_COEFFICIENTS_MOST];
};

#define WRONG(problem, span, ...) diag_error((problem)->reading->diag, span, __VA_ARGS__)

/* Names stand in mappings and projections, where other characters have a meaning. */
static bool is_name(const char *name)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
	static const char more[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
	return *name && strchr(letters, *name) && name[strspn(name, more)] == '\0';
}

static struct coefficient *find_coefficient(struct problem *problem, const char *name)
{
	for (int i = 0; i < problem->coefficient_count; i++)
		if (text_equal(problem->coefficients[i].name, name))
			return &problem->coefficients[i];
	return NULL;
}

/* A new name of a dimension, coefficient or dataspace; false after complaining. */
static bool check_name(struct problem *problem, const char *name, struct span span)
{
	const struct shape *shape = problem->shape;
	if (!is_name(name)) {
		WRONG(problem, span, "'%s' is no name: letters, digits and '_' make one", name);
		return false;
	}
	const struct coefficient *coefficient = find_coefficient(problem, name);
	int d = shape_dimension(shape, name), t = shape_space(shape, name);
	if (!coefficient && d < 0 && t < 0)
		return true;
	WRONG(problem, span, "'%s' is named twice", name);
	diag_note(problem->reading->diag,
		coefficient ? coefficient->span
		: d >= 0    ? shape->dimensions[d].span
			    : shape->spaces[t].span,
		"first named here");
	return false;
}

static void read_dimensions(struct problem *problem, struct reader *map)
{
	struct shape *shape = problem->shape;
	const struct node *list = read_list(map, "dimensions", REQUIRED);
	if (list && (!list->count || list->count > SHAPE_DIMENSIONS_MOST)) {
		WRONG(problem, list->span, "a problem has 1 to %d dimensions, not %zu",
			SHAPE_DIMENSIONS_MOST, list->count);
		return;
	}
	for (size_t i = 0; list && i < list->count; i++) {
		const struct node *item = list->items[i];
		const char *name;
		if (node_text(problem->reading, item, "a dimension", &name) &&
			check_name(problem, name, item->span))
			shape->dimensions[shape->dimension_count++] =
				(struct dimension){name, 0, item->span};
	}
}

static void read_coefficients(struct problem *problem, struct reader *map)
{
	const struct node *list = read_list(map, "coefficients", OPTIONAL);
	if (list && list->count > SHAPE_COEFFICIENTS_MOST) {
		WRONG(problem, list->span, "a problem has at most %d coefficients, not %zu",
			SHAPE_COEFFICIENTS_MOST, list->count);
		return;
	}
	for (size_t i = 0; list && i < list->count; i++) {
		struct reader item;
		struct coefficient new = {.span = list->items[i]->span};
		if (!reader_open(&item, problem->reading, list->items[i], "coefficient"))
			continue;
		bool named = read_text(&item, "name", REQUIRED, &new.name);
		new.given =
			read_integer(&item, "default", OPTIONAL, 0, SHAPE_EXTENT_MOST, &new.value);
		reader_done_lenient(&item);
		if (named && check_name(problem, new.name, new.span))
			problem->coefficients[problem->coefficient_count++] = new;
	}
}

/* The nearest of what an instance may say and has not said yet. */
static const char *near_missing(struct problem *problem, const char *word)
{
	const char *missing[SHAPE_DIMENSIONS_MOST + SHAPE_COEFFICIENTS_MOST + 1];
	size_t count = 0;
	for (int d = 0; d < problem->shape->dimension_count; d++)
		if (!problem->shape->dimensions[d].extent)
			missing[count++] = problem->shape->dimensions[d].name;
	for (int i = 0; i < problem->coefficient_count; i++)
		if (!problem->coefficients[i].stated)
			missing[count++] = problem->coefficients[i].name;
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

/* `densities` by dataspace, `commonDensity` one for all. */
static void check_densities(struct problem *problem, struct reader *map)
{
	const struct node *common = read_node(map, "commonDensity", OPTIONAL);
	const struct node *node = read_node(map, "densities", OPTIONAL);
	if (common && !is_dense(common))
		node = common;
	else if (node && are_dense(node))
		return;
	if (node)
		WRONG(problem, node->span,
			"densities are given; sparse problems are not supported, every element "
			"counts");
}

/* Keys that are no part of the shape, such as the W and H of an input, are not read. */
static void pass_unused(
	struct problem *problem, const struct reader *map, const struct node_entry *entry)
{
	const struct reading *reading = problem->reading;
	const char *near = near_missing(problem, entry->key);
	if (near)
		WRONG(problem, entry->key_span,
			"the shape has no dimension or coefficient '%s'; did you mean '%s'?",
			entry->key, near);
	else if (reading->unread)
		unread_add(reading->arena, reading->unread, entry, map->what);
	else
		diag_warning(reading->diag, entry->key_span,
			"'%s' is no dimension or coefficient of the shape and is not used",
			entry->key);
}

static void read_extents(struct problem *problem, struct reader *map)
{
	struct shape *shape = problem->shape;
	struct coefficient *coefficients = problem->coefficients;
	for (int d = 0; d < shape->dimension_count; d++) {
		struct dimension *dimension = &shape->dimensions[d];
		if (!read_integer(map, dimension->name, REQUIRED, 1, SHAPE_EXTENT_MOST,
			    &dimension->extent))
			dimension->extent = node_find(map->map, dimension->name) ? 1 : 0;
	}
	for (int i = 0; i < problem->coefficient_count; i++) {
		struct coefficient *coefficient = &coefficients[i];
		read_integer(map, coefficient->name, coefficient->given ? OPTIONAL : REQUIRED, 0,
			SHAPE_EXTENT_MOST, &coefficient->value);
		coefficient->stated = node_find(map->map, coefficient->name) != NULL;
	}
	check_densities(problem, map);
}

static void read_unused(struct problem *problem, const struct reader *map)
{
	for (size_t i = 0; i < map->map->count; i++) {
		const struct node_entry *entry = &map->map->entries[i];
		bool known = false;
		for (size_t k = 0; k < map->known_count; k++)
			known |= text_equal(map->known[k], entry->key);
		if (!known)
			pass_unused(problem, map, entry);
	}
}

/* Where a word of a projection stands: bytes `from` to `to` of the node's text, or all of it. */
struct place {
	const struct node *node;
	size_t from, to;
};

static struct span place_span(const struct place *place)
{
	return place->to ? node_part(place->node, place->from, place->to) : place->node->span;
}

/* One factor of a term into its dimension or its multiplier. */
static bool multiply(struct problem *problem, const char *word, struct place place, int *dimension,
	int64_t *multiplier)
{
	const char *digits = word;
	int64_t number;
	int d = shape_dimension(problem->shape, word);
	const struct coefficient *coefficient = find_coefficient(problem, word);
	if (d >= 0 && *dimension >= 0) {
		WRONG(problem, place_span(&place),
			"a term of a projection has one dimension, not '%s' and '%s'",
			problem->shape->dimensions[*dimension].name, word);
		return false;
	}
	if (d >= 0) {
		*dimension = d;
		return true;
	}
	if (coefficient)
		number = coefficient->value;
	else if (!scan_integer(&digits, &number) || *digits) {
		const char *known[SHAPE_DIMENSIONS_MOST + SHAPE_COEFFICIENTS_MOST + 1];
		size_t count = 0;
		for (int i = 0; i < problem->shape->dimension_count; i++)
			known[count++] = problem->shape->dimensions[i].name;
		for (int i = 0; i < problem->coefficient_count; i++)
			known[count++] = problem->coefficients[i].name;
		known[count] = NULL;
		const char *near = suggest(word, known);
		WRONG(problem, place_span(&place),
			"'%s' is neither a dimension nor a coefficient%s%s%s", word,
			near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
		return false;
	}
	if (number_mul(*multiplier, number, multiplier))
		return true;
	WRONG(problem, place_span(&place),
		"the coefficients of a term multiply to more than an int64_t");
	return false;
}

static void add_term(struct problem *problem, struct shape_rank *rank, int dimension,
	int64_t multiplier, struct span span)
{
	if (dimension < 0)
		WRONG(problem, span, "a term of a projection needs a dimension");
	else if (!number_add(
			 rank->coefficient[dimension], multiplier, &rank->coefficient[dimension]))
		WRONG(problem, span, "a rank's coefficients add up to more than an int64_t");
}

/* "R*dilation + stride*P" */
static void read_text_terms(
	struct problem *problem, const struct node *scalar, struct shape_rank *rank)
{
	const char *text = scalar->text;
	size_t at = 0;
	bool more = true;
	while (more) {
		int dimension = -1;
		int64_t multiplier = 1;
		bool good = true, factor = true;
		while (factor) {
			at += strspn(text + at, " \t");
			size_t length = strcspn(text + at, " \t*+");
			const char *word = arena_format(
				problem->reading->arena, "%.*s", (int)length, text + at);
			if (!length) {
				WRONG(problem, scalar->span,
					"'%s' is no sum of dimensions with coefficients, such as "
					"'R + stride*P'",
					text);
				return;
			}
			good &= multiply(problem, word, (struct place){scalar, at, at + length},
				&dimension, &multiplier);
			at += length;
			at += strspn(text + at, " \t");
			factor = text[at] == '*';
			at += factor;
		}
		if (good)
			add_term(problem, rank, dimension, multiplier, scalar->span);
		more = text[at] == '+';
		at += more;
	}
	if (text[at])
		WRONG(problem, node_part(scalar, at, strlen(text)),
			"a projection adds and multiplies; '%s' does neither", text + at);
}

/* [P, stride] */
static void read_term(struct problem *problem, const struct node *list, struct shape_rank *rank)
{
	int dimension = -1;
	int64_t multiplier = 1;
	bool good = true;
	for (size_t i = 0; i < list->count; i++) {
		const char *word;
		good &= node_text(problem->reading, list->items[i],
				"a dimension or coefficient of a projection", &word) &&
			multiply(problem, word, (struct place){list->items[i], 0, 0}, &dimension,
				&multiplier);
	}
	if (good)
		add_term(problem, rank, dimension, multiplier, list->span);
}

/* [P, stride] is a term; [R, P], [[R], P] and [[R], [P, stride]] are sums. */
static bool is_term(struct problem *problem, const struct node *list)
{
	int dimensions = 0;
	for (size_t i = 0; i < list->count; i++) {
		if (list->items[i]->kind != NODE_SCALAR)
			return false;
		dimensions += shape_dimension(problem->shape, list->items[i]->text) >= 0;
	}
	return list->count > 1 && dimensions < (int)list->count;
}

static void read_rank(struct problem *problem, const struct node *node, struct shape_rank *rank)
{
	if (node->kind == NODE_SCALAR)
		read_text_terms(problem, node, rank);
	else if (node->kind == NODE_MAP || !node->count)
		WRONG(problem, node->span,
			"a rank of a projection is a list of terms, not %s; [[R], [P, stride]] "
			"is R + P*stride",
			node->kind == NODE_MAP ? "a map" : "empty");
	else if (is_term(problem, node))
		read_term(problem, node, rank);
	else
		for (size_t i = 0; i < node->count; i++) {
			if (node->items[i]->kind == NODE_LIST)
				read_term(problem, node->items[i], rank);
			else
				read_rank(problem, node->items[i], rank);
		}
}

/* Indices must stay inside an int64_t, sums of them too. */
static void check_rank(struct problem *problem, const struct node *node, const char *space,
	const struct shape_rank *rank)
{
	int64_t highest = 0, part;
	for (int d = 0; d < problem->shape->dimension_count; d++) {
		int64_t last = problem->shape->dimensions[d].extent - 1;
		if (last > 0 &&
			(!number_mul(last, rank->coefficient[d], &part) ||
				!number_add(highest, part, &highest) || highest > INT64_MAX / 2)) {
			WRONG(problem, node->span, "the indices of a rank of '%s' grow too large",
				space);
			return;
		}
	}
}

static void read_projection(
	struct problem *problem, const struct node *node, struct dataspace *space)
{
	if (node->kind == NODE_SCALAR || node->count > SHAPE_RANKS_MOST) {
		WRONG(problem, node->span,
			"the projection of '%s' is a list of at most %d ranks, such as [[[C]], "
			"[[R], [P]]]",
			space->name, SHAPE_RANKS_MOST);
		return;
	}
	space->rank_count = (int)node->count;
	for (size_t k = 0; k < node->count; k++) {
		const struct node *rank =
			node->kind == NODE_MAP ? node->entries[k].value : node->items[k];
		read_rank(problem, rank, &space->ranks[k]);
		check_rank(problem, rank, space->name, &space->ranks[k]);
	}
}

/* The name that v0.4 gives a key, and the older one. */
static const char *either(const struct reader *map, const char *key, const char *older)
{
	return !node_find(map->map, key) && node_find(map->map, older) ? older : key;
}

static void read_space(struct problem *problem, const struct node *node)
{
	struct shape *shape = problem->shape;
	struct dataspace space = {.span = node->span};
	struct reader map;
	if (!reader_open(&map, problem->reading, node, "data space"))
		return;
	bool good = read_text(&map, "name", REQUIRED, &space.name);
	const struct node *projection = read_node(&map, "projection", REQUIRED);
	read_bool(&map, either(&map, "read_write", "read-write"), OPTIONAL, &space.written);
	reader_done_lenient(&map);
	if (!good || !check_name(problem, space.name, node->span))
		return;
	if (projection)
		read_projection(problem, projection, &space);
	shape->spaces[shape->space_count++] = space;
}

static void check_written(struct problem *problem, struct span span)
{
	const struct shape *shape = problem->shape;
	int written = -1;
	for (int t = 0; t < shape->space_count; t++) {
		if (!shape->spaces[t].written)
			continue;
		if (written >= 0) {
			WRONG(problem, shape->spaces[t].span,
				"'%s' and '%s' are both read_write; a problem writes one dataspace",
				shape->spaces[written].name, shape->spaces[t].name);
			return;
		}
		written = t;
	}
	if (written < 0)
		WRONG(problem, span, "no dataspace is written; one needs 'read_write: true'");
}

static void read_spaces(struct problem *problem, struct reader *map)
{
	const struct node *list =
		read_list(map, either(map, "data_spaces", "data-spaces"), REQUIRED);
	if (!list)
		return;
	if (!list->count || list->count > SHAPE_SPACES_MOST) {
		WRONG(problem, list->span, "a problem has 1 to %d data spaces, not %zu",
			SHAPE_SPACES_MOST, list->count);
		return;
	}
	size_t errors = diag_errors(problem->reading->diag);
	for (size_t i = 0; i < list->count; i++)
		read_space(problem, list->items[i]);
	if (diag_errors(problem->reading->diag) == errors)
		check_written(problem, list->span);
}

static void read_version(struct problem *problem, struct reader *map)
{
	static const char *const known[] = {"0.4", "0.3", "0.2", NULL};
	const char *version;
	if (!read_text(map, "version", OPTIONAL, &version))
		return;
	for (int i = 0; known[i]; i++)
		if (text_equal(known[i], version))
			return;
	WRONG(problem, node_find(map->map, "version")->span,
		"problem version %s; this program reads 0.4 and older", version);
}

/* The map with the extents: `instance`, or the problem itself in the older form. */
static struct reader *open_instance(
	struct problem *problem, struct reader *map, struct reader *instance)
{
	const struct node *node = read_node(map, "instance", OPTIONAL);
	if (!node)
		return map;
	if (!reader_open(instance, problem->reading, node, "instance"))
		return NULL;
	return instance;
}

/* The shape of a problem: under `shape`, or its keys beside the instance, or, where a problem may
 * go without both, the one that Timeloop takes.  NULL after complaining. */
static struct reader *open_shape(struct problem *problem, struct reader *map,
	const struct node *shapes, bool may_lack, struct reader *inner)
{
	static const char *const own[] = {"dimensions", "data_spaces", "data-spaces"};
	const struct reading *reading = problem->reading;
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

static void refuse_flattening(struct problem *problem, struct reader *form)
{
	const struct node *flatten = read_node(form, "flatten", OPTIONAL);
	if (flatten && (flatten->count || *flatten->text))
		WRONG(problem, flatten->span, "'flatten' is not supported: dimensions stay apart");
}

static const struct shape *read_shape(struct reader *map, const struct node *shapes, bool may_lack)
{
	const struct reading *reading = map->reading;
	struct problem *problem = arena_new(reading->arena, struct problem);
	struct shape *shape = problem->shape = arena_new(reading->arena, struct shape);
	struct reader inner, instance;
	const struct node *name;
	size_t errors = diag_errors(reading->diag);
	problem->reading = reading;
	shape->span = map->map->span;
	shape->name = "problem";
	read_version(problem, map);
	const struct node *ops = may_lack ? node_find(map->map, "ops") : NULL;
	if (ops)
		WRONG(problem, ops->span,
			"'ops', several operations in one problem, and 'node-type' in a mapping are "
			"TileFlow's and not read; give the dimensions, data_spaces and instance of "
			"one of them");
	if (ops && !node_find(map->map, "dimensions"))
		return NULL;
	struct reader *form = open_shape(problem, map, shapes, may_lack, &inner);
	if (!form)
		return NULL;
	if (form != map)
		read_version(problem, form);
	name = read_node(form, "name", OPTIONAL);
	if (name && (name->kind != NODE_SCALAR || *name->text))
		read_text(form, "name", OPTIONAL, &shape->name);
	read_dimensions(problem, form);
	read_coefficients(problem, form);
	refuse_flattening(problem, form);
	struct reader *extents = open_instance(problem, map, &instance);
	if (extents)
		read_extents(problem, extents);
	read_spaces(problem, form);
	if (extents)
		read_unused(problem, extents);
	if (form != extents)
		reader_done_lenient(form);
	if (map != form && map != extents)
		reader_done_lenient(map);
	shape_finish(shape);
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
