#include "model/nest/shape.h"

#include "base/arena.h"
#include "base/number.h"
#include "base/text.h"
#include "spec/field.h"
#include "spec/node.h"
#include "spec/reader.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

int shape_dimension(const struct shape *shape, const char *name)
{
	return loop_named(shape->dimensions, shape->dimension_count, name);
}

int shape_space(const struct shape *shape, const char *name)
{
	for (int t = 0; t < shape->space_count; t++)
		if (text_equal(shape->spaces[t].name, name))
			return t;
	for (int t = 0; t < shape->space_count; t++)
		if (shape->spaces[t].role && text_equal(shape->spaces[t].role, name))
			return t;
	return -1;
}

const struct dataspace *shape_result(const struct shape *shape)
{
	const struct dataspace *space = shape->spaces;
	while (!space->written)
		space++;
	return space;
}

bool shape_computes(const struct shape *shape, int64_t *out)
{
	return loops_points(shape->dimensions, shape->dimension_count, out);
}

double shape_work(const struct shape *shape)
{
	double product = 1;
	for (int d = 0; d < shape->dimension_count; d++)
		product *= (double)shape->dimensions[d].extent;
	return product;
}

void dataspace_word(
	const struct dataspace *space, int dimension_count, const int64_t *point, int64_t *word)
{
	for (int r = 0; r < space->rank_count; r++) {
		word[r] = 0;
		for (int d = 0; d < dimension_count; d++)
			word[r] += space->ranks[r].coefficient[d] * point[d];
	}
}

uint32_t dataspace_loops(const struct dataspace *space)
{
	return affines_loops(space->ranks, space->rank_count);
}

void shape_finish(struct shape *shape)
{
	for (int t = 0; t < shape->space_count; t++)
		shape->spaces[t].relevant = dataspace_loops(&shape->spaces[t]);
}

bool dataspace_slides(const struct dataspace *space)
{
	bool slides = false;
	for (int k = 0; k < space->rank_count; k++) {
		uint32_t dimensions = affine_loops(&space->ranks[k]);
		slides |= (dimensions & (dimensions - 1)) != 0;
	}
	return slides;
}

bool shape_writes_overlap(const struct shape *shape)
{
	bool overlap = false;
	for (int t = 0; t < shape->space_count; t++)
		overlap |= shape->spaces[t].written && dataspace_slides(&shape->spaces[t]);
	return overlap;
}

static bool equal_spaces(
	const struct shape *shape, const struct dataspace *a, const struct dataspace *b)
{
	if (!text_equal(a->name, b->name) || a->written != b->written ||
		a->rank_count != b->rank_count || a->word_bits != b->word_bits)
		return false;
	for (int k = 0; k < a->rank_count; k++)
		for (int d = 0; d < shape->dimension_count; d++)
			if (a->ranks[k].coefficient[d] != b->ranks[k].coefficient[d])
				return false;
	return true;
}

bool shape_equal(const struct shape *a, const struct shape *b)
{
	if (a->dimension_count != b->dimension_count || a->space_count != b->space_count)
		return false;
	for (int d = 0; d < a->dimension_count; d++)
		if (a->dimensions[d].extent != b->dimensions[d].extent ||
			!text_equal(a->dimensions[d].name, b->dimensions[d].name))
			return false;
	for (int t = 0; t < a->space_count; t++)
		if (!equal_spaces(a, &a->spaces[t], &b->spaces[t]))
			return false;
	return true;
}

const char *const shape_roles[] = {"Inputs", "Weights", "Outputs", NULL};

bool shape_is_role(const char *name)
{
	for (int i = 0; shape_roles[i]; i++)
		if (text_equal(shape_roles[i], name))
			return true;
	return false;
}

bool shape_lacks(const struct shape *shape, const char *role)
{
	bool of_graph = false;
	for (int t = 0; t < shape->space_count; t++)
		of_graph |= shape->spaces[t].role != NULL;
	return of_graph && shape_is_role(role) && shape_space(shape, role) < 0;
}

bool shape_multiplies(const struct shape *shape)
{
	bool sums = false;
	int reads = 0;
	uint32_t written = 0;
	for (int t = 0; t < shape->space_count; t++) {
		reads += !shape->spaces[t].written;
		written |= shape->spaces[t].written ? shape->spaces[t].relevant : 0;
	}
	for (int d = 0; d < shape->dimension_count; d++)
		sums |= !(written >> d & 1);
	return (reads > 1 && sums) || !shape->space_count;
}

/* As for ops of a graph: what is read first is Inputs, then Weights, and the result Outputs; of two operands at most. */
static void find_by_position(struct shape *shape)
{
	int reads = 0;
	for (int t = 0; t < shape->space_count; t++)
		if (shape_is_role(shape->spaces[t].name) || shape->space_count > 3)
			return;
	for (int t = 0; t < shape->space_count; t++) {
		struct dataspace *space = &shape->spaces[t];
		if (space->written)
			space->role = "Outputs";
		else
			space->role = shape_roles[reads++];
	}
}

static bool find_of_matrices(struct shape *shape)
{
	struct affine ranks[3][2];
	struct dataspace *spaces[3] = {NULL, NULL, NULL};
	for (int t = 0, reads = 0; t < shape->space_count; t++) {
		struct dataspace *space = &shape->spaces[t];
		int place = space->written ? 2 : reads++;
		if (shape_is_role(space->name) || space->rank_count != 2 || place > 2 ||
			spaces[place])
			return false;
		spaces[place] = space;
		memcpy(ranks[place], space->ranks, sizeof ranks[place]);
	}
	int weights = spaces[0] && spaces[1] && spaces[2]
			      ? affine_weights(ranks, shape->dimension_count)
			      : -1;
	if (weights < 0)
		return false;
	spaces[!weights]->role = "Inputs";
	spaces[weights]->role = "Weights";
	spaces[2]->role = "Outputs";
	return true;
}

/* Roles of a product of two matrices whose dataspaces have other names: affine_weights.  In other shapes of one or two
 * operands the first is Inputs, the second Weights; of more, and where a dataspace has such a name, none gets a role.
 * op_role says the same of ops of a graph. */
static void shape_find_roles(struct shape *shape)
{
	if (!find_of_matrices(shape))
		find_by_position(shape);
}

/*
 * The shapes that Timeloop ships in its folder problem-shapes and that a problem
 * may name: `shape: cnn-layer`.  As in Timeloop, a problem without any shape
 * has that of cnn-layer.
 */
static const char *const named_shapes[] = {"cnn-layer", "gemm-ABZ", "gemm", NULL};
static const char *const default_shape = "cnn-layer";

/* In the order of named_shapes. */
static const char *const texts[] = {
	"name: CNN-Layer\n"
	"dimensions: [R, S, P, Q, C, K, N]\n"
	"coefficients:\n"
	"- {name: Wstride, default: 1}\n"
	"- {name: Hstride, default: 1}\n"
	"- {name: Wdilation, default: 1}\n"
	"- {name: Hdilation, default: 1}\n"
	"data_spaces:\n"
	"- {name: Weights, projection: [C, K, R, S]}\n"
	"- {name: Inputs, projection: [N, C, R*Wdilation + P*Wstride, S*Hdilation + Q*Hstride]}\n"
	"- {name: Outputs, projection: [N, K, Q, P], read_write: true}\n",

	"name: gemm-ABZ\n"
	"dimensions: [M, N, K]\n"
	"data_spaces:\n"
	"- {name: A, projection: [M, K]}\n"
	"- {name: B, projection: [N, K]}\n"
	"- {name: Z, projection: [M, N], read_write: true}\n",

	"name: gemm\n"
	"dimensions: [M, N, K]\n"
	"data_spaces:\n"
	"- {name: A, projection: [M, K]}\n"
	"- {name: B, projection: [N, K]}\n"
	"- {name: C, projection: [M, N]}\n"
	"- {name: D, projection: [M, N], read_write: true}\n",
};

/* The name of the file without its ending, '-' for '_'. */
static const char *plain_name(struct arena *arena, const char *name)
{
	static const char *const endings[] = {".yaml", ".yml", ".cfg"};
	char *plain = arena_text(arena, name);
	size_t length = strlen(plain);
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
		size_t ending = strlen(endings[i]);
		if (length > ending && text_equal(plain + length - ending, endings[i])) {
			plain[length - ending] = '\0';
			break;
		}
	}
	for (char *at = plain; *at; at++)
		if (*at == '_')
			*at = '-';
	return plain;
}

/* The map that a `shape:` would hold; '-' counts as '_', and an ending .yaml, .yml or .cfg may
 * follow.  NULL: none has that name. */
static const struct node *find_named(const struct reading *reading, const char *name)
{
	const char *plain = plain_name(reading->arena, name);
	for (int i = 0; named_shapes[i]; i++)
		if (text_equal(named_shapes[i], plain))
			return node_read_text(reading->arena,
				arena_format(reading->arena, "shape %s", named_shapes[i]), texts[i],
				strlen(texts[i]), reading->diag);
	return NULL;
}

/* A word for a shape that is neither a key of `shapes` nor shipped with Timeloop. */
static void refuse_shape(
	const struct reading *reading, const struct node *written, const struct node *shapes)
{
	struct text list = text_open(reading->arena);
	const char **names =
		arena_array(reading->arena, const char *, 8 + (shapes ? shapes->count : 0));
	size_t count = 0;
	for (size_t i = 0; shapes && i < shapes->count; i++)
		names[count++] = shapes->entries[i].key;
	for (int i = 0; named_shapes[i]; i++) {
		names[count++] = named_shapes[i];
		text_add(&list, "%s%s", i ? ", " : "", named_shapes[i]);
	}
	const char *near = diag_full(reading->diag) ? NULL : suggest(written->text, names);
	reading_refuse(reading, written, "unknown shape '%s'; %s%s%s", written->text,
		near ? "did you mean '"
		     : "write its dimensions and data_spaces here, or name one of ",
		near ? near : text_read(&list), near ? "'?" : "");
}

/* The map that a `shape:` means: itself, or of a word the value of that key of `shapes` (NULL: there are
 * none), or else the shape of that name.  NULL after complaining. */
static const struct node *find_shape(
	const struct reading *reading, const struct node *written, const struct node *shapes)
{
	if (written->kind != NODE_SCALAR)
		return written;
	const struct node *found = node_find(shapes, written->text);
	if (!found)
		found = find_named(reading, written->text);
	if (!found)
		refuse_shape(reading, written, shapes);
	return found;
}

/*
 * A shape as far as it is read from a Timeloop problem (versions 0.2 to 0.4): its dimensions and
 * coefficients, by which the projections of its dataspaces are read.
 */
struct shape_coefficient {
	const char *name;
	int64_t value;
	bool given;  /* has a default */
	bool stated; /* by the instance */
	struct span span;
};

struct shape_draft {
	const struct reading *reading;
	struct shape *shape;
	int coefficient_count;
	struct shape_coefficient coefficients[SHAPE_COEFFICIENTS_MOST];
};

#define WRONG(draft, span, ...) diag_error((draft)->reading->diag, span, __VA_ARGS__)

static struct shape_coefficient *find_coefficient(struct shape_draft *draft, const char *name)
{
	for (int i = 0; i < draft->coefficient_count; i++)
		if (text_equal(draft->coefficients[i].name, name))
			return &draft->coefficients[i];
	return NULL;
}

/* Finds a dimension, or the value of a coefficient. */
static bool find_factor(
	struct scan *scan, const void *of, const struct word *name, int *loop, int64_t *number)
{
	struct shape_draft *draft = (struct shape_draft *)of;
	const struct shape_coefficient *coefficient = find_coefficient(draft, name->text);
	*loop = shape_dimension(draft->shape, name->text);
	if (coefficient && *loop < 0)
		*number = coefficient->value;
	if (coefficient || *loop >= 0)
		return true;
	const char *known[SHAPE_DIMENSIONS_MOST + SHAPE_COEFFICIENTS_MOST + 1];
	size_t count = 0;
	for (int i = 0; i < draft->shape->dimension_count; i++)
		known[count++] = draft->shape->dimensions[i].name;
	for (int i = 0; i < draft->coefficient_count; i++)
		known[count++] = draft->coefficients[i].name;
	known[count] = NULL;
	return scan_fail(scan, name->at, name->end,
		arena_format(scan->arena, "'%s' is neither a dimension nor a coefficient%s",
			name->text, suggestion(scan->arena, suggest(name->text, known), "")));
}

/* Adds terms to a rank, in which every term has a dimension that is counted upwards. */
static bool add_terms(struct scan *scan, const struct affine_sum *sum, struct affine *rank)
{
	for (int i = 0; i < sum->term_count; i++) {
		const struct affine_term *term = &sum->terms[i];
		if (!term->name.text)
			return scan_fail(scan, sum->at, sum->end,
				"a term of a projection needs a dimension");
		if (term->factor < 0)
			return scan_fail(scan, term->name.at, term->name.end,
				arena_format(scan->arena, "an index cannot fall while '%s' grows",
					term->name.text));
	}
	return affine_add(scan, sum, rank);
}

/* [P, stride], whose items are factors; or one scalar, "R*dilation + stride*P". */
static void read_terms(struct shape_draft *draft, const struct node *node, struct affine *rank)
{
	const struct affine_names names = {draft, find_factor};
	struct scan_fault fault;
	struct scan scan = {draft->reading->arena, "", " \t\n", "projection", 0, &fault};
	struct affine_sum sum = {.term_count = 1, .terms = {{.factor = 1, .loop = -1}}}, factor;
	const struct node *const *items = node->kind == NODE_LIST ? node->items : &node;
	size_t count = node->kind == NODE_LIST ? node->count : 1;
	for (size_t i = 0; i < count; i++) {
		if (!node_text(draft->reading, items[i],
			    "a dimension or coefficient of a projection", &scan.text))
			return;
		scan.at = 0;
		if (!affine_scan(&scan, &names, &factor) ||
			(scan_next(&scan) && !scan_fail_next(&scan, "'+', '*' or the end")) ||
			!affine_sum_times(&scan, &sum, &factor)) {
			WRONG(draft, node_part(items[i], fault.from, fault.to), "%s", fault.text);
			return;
		}
	}
	if (!add_terms(&scan, &sum, rank))
		WRONG(draft,
			node->kind == NODE_LIST ? node->span
						: node_part(node, fault.from, fault.to),
			"%s", fault.text);
}

/* [P, stride] is a term; [R, P], [[R], P] and [[R], [P, stride]] are sums. */
static bool is_term(struct shape_draft *draft, const struct node *list)
{
	int dimensions = 0;
	for (size_t i = 0; i < list->count; i++) {
		if (list->items[i]->kind != NODE_SCALAR)
			return false;
		dimensions += shape_dimension(draft->shape, list->items[i]->text) >= 0;
	}
	return list->count > 1 && dimensions < (int)list->count;
}

static void read_rank(struct shape_draft *draft, const struct node *node, struct affine *rank)
{
	if (node->kind == NODE_SCALAR)
		read_terms(draft, node, rank);
	else if (node->kind == NODE_MAP || !node->count)
		WRONG(draft, node->span,
			"a rank of a projection is a list of terms, not %s; [[R], [P, stride]] "
			"is R + P*stride",
			node->kind == NODE_MAP ? "a map" : "empty");
	else if (is_term(draft, node))
		read_terms(draft, node, rank);
	else
		for (size_t i = 0; i < node->count; i++) {
			if (node->items[i]->kind == NODE_LIST)
				read_terms(draft, node->items[i], rank);
			else
				read_rank(draft, node->items[i], rank);
		}
}

/* Indices must stay inside an int64_t, sums of them too. */
static void check_rank(struct shape_draft *draft, const struct node *node, const char *space,
	const struct affine *rank)
{
	int64_t highest = 0, part;
	for (int d = 0; d < draft->shape->dimension_count; d++) {
		int64_t last = draft->shape->dimensions[d].extent - 1;
		if (last > 0 &&
			(!number_mul(last, rank->coefficient[d], &part) ||
				!number_add(highest, part, &highest) || highest > INT64_MAX / 2)) {
			WRONG(draft, node->span, "the indices of a rank of '%s' grow too large",
				space);
			return;
		}
	}
}

/* The ranks of a dataspace: [[[C]], [[R], [P, stride]]], or sums in words, R + P*stride. */
static void read_projection(
	struct shape_draft *draft, const struct node *node, struct dataspace *space)
{
	if (node->kind == NODE_SCALAR || node->count > SHAPE_RANKS_MOST) {
		WRONG(draft, node->span,
			"the projection of '%s' is a list of at most %d ranks, such as [[[C]], "
			"[[R], [P]]]",
			space->name, SHAPE_RANKS_MOST);
		return;
	}
	space->rank_count = (int)node->count;
	for (size_t k = 0; k < node->count; k++) {
		const struct node *rank =
			node->kind == NODE_MAP ? node->entries[k].value : node->items[k];
		read_rank(draft, rank, &space->ranks[k]);
		check_rank(draft, rank, space->name, &space->ranks[k]);
	}
}

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
		WRONG(draft, span, "'%s' is not a name: letters, digits and '_' make one", name);
		return false;
	}
	const struct shape_coefficient *coefficient = find_coefficient(draft, name);
	int d = shape_dimension(shape, name), t = shape_space(shape, name);
	if (!coefficient && d < 0 && t < 0)
		return true;
	WRONG(draft, span, "'%s' is named twice", name);
	diag_note(draft->reading->diag,
		coefficient ? coefficient->span
		: d >= 0    ? shape->dimensions[d].span
			    : shape->spaces[t].span,
		"first named here");
	return false;
}

static void read_dimensions(struct shape_draft *draft, const struct node *list)
{
	struct shape *shape = draft->shape;
	if (list && (!list->count || list->count > SHAPE_DIMENSIONS_MOST)) {
		WRONG(draft, list->span, "a problem has 1 to %d dimensions, not %zu",
			SHAPE_DIMENSIONS_MOST, list->count);
		return;
	}
	for (size_t i = 0; list && i < list->count; i++) {
		const struct node *item = list->items[i];
		const char *name;
		if (node_text(draft->reading, item, "a dimension", &name) &&
			check_name(draft, name, item->span))
			shape->dimensions[shape->dimension_count++] =
				(struct loop){.name = name, .span = item->span};
	}
}

static const struct field coefficient_fields[] = {
	{"name", FIELD_TEXT, .required = true, INTO(struct shape_coefficient, name)},
	{"default", FIELD_WHOLE, INTO(struct shape_coefficient, value), .most = SHAPE_EXTENT_MOST},
	{0},
};
static const struct noun coefficient_noun = {.name = "coefficient", .fields = coefficient_fields};

struct space_form {
	struct dataspace space;
	const struct node *projection;
};

static const struct field space_fields[] = {
	{"name", FIELD_TEXT, .required = true, INTO(struct space_form, space.name)},
	{"projection", FIELD_ANY, "an index of each rank: `[[[P], [R]]]`", .required = true,
		KEEP_ANY(struct space_form, projection)},
	{"read_write", FIELD_FLAG, "the result", .usual = "false", .spellings = "read_write",
		INTO(struct space_form, space.written)},
	{0},
};
static const struct noun space_noun = {.name = "data_space", .fields = space_fields};

struct shape_form {
	const char *version, *name;
	const struct node *dimensions, *coefficients, *spaces, *flatten;
};

/* The form of a shape of its own: the keys of a problem may be those of a shape, or name one. */
enum { SHAPE_WHOLE = 1 };
#define LISTS(member) .shape = SHAPE_LIST, KEEP(struct shape_form, member)

static const struct field shape_fields[] = {
	{"version", FIELD_TEXT, INTO(struct shape_form, version)},
	{"name", FIELD_TEXT, .read = field_read_filled, INTO(struct shape_form, name)},
	{"dimensions", FIELD_TEXT, .needed = SHAPE_WHOLE, LISTS(dimensions)},
	{"coefficients", FIELD_MAP, .noun = &coefficient_noun, LISTS(coefficients)},
	{"data_spaces", FIELD_MAP, .spellings = "data_spaces", .noun = &space_noun,
		.needed = SHAPE_WHOLE, LISTS(spaces)},
	{"flatten", FIELD_ANY, KEEP_ANY(struct shape_form, flatten)},
	{0},
};
const struct noun shape_noun = {.name = "shape", .fields = shape_fields, .also = "string"};

struct densities_form {
	const struct node *common, *each;
};

static const struct field densities_fields[] = {
	{"commonDensity", FIELD_ANY, "one for all dataspaces; only 1, of dense data, is modelled",
		KEEP_ANY(struct densities_form, common)},
	{"densities", FIELD_ANY, "the same by dataspace", .shape = SHAPE_NAMED,
		KEEP_ANY(struct densities_form, each)},
	{0},
};
static const struct noun densities_noun = {.name = "densities", .fields = densities_fields};

static const struct field instance_fields[] = {
	{"*", FIELD_ANY, .help = "the extent of a dimension, or the value of a coefficient"},
	{0},
};
static const struct noun *const instance_parts[] = {&densities_noun, NULL};
static const struct noun instance_noun = {
	.name = "instance", .fields = instance_fields, .parts = instance_parts};

struct problem_form {
	const char *version;
	const struct node *shape, *instance;
};

static const struct field problem_fields[] = {
	{"version", FIELD_TEXT, INTO(struct problem_form, version)},
	{"shape", FIELD_MAP, "the name of a shape, or its map", .noun = &shape_noun,
		KEEP_ANY(struct problem_form, shape)},
	{"instance", FIELD_MAP, "the extent of each dimension, the values of coefficients",
		.noun = &instance_noun, KEEP_ANY(struct problem_form, instance)},
	{0},
};
static const struct noun *const problem_parts[] = {&shape_noun, NULL};
const struct noun problem_noun = {
	.name = "problem", .fields = problem_fields, .parts = problem_parts, .older = "instance"};

static void read_coefficients(struct shape_draft *draft, const struct node *list)
{
	if (list && list->count > SHAPE_COEFFICIENTS_MOST) {
		WRONG(draft, list->span, "a problem has at most %d coefficients, not %zu",
			SHAPE_COEFFICIENTS_MOST, list->count);
		return;
	}
	for (size_t i = 0; list && i < list->count; i++) {
		struct reader item;
		struct shape_coefficient new = {.span = list->items[i]->span};
		if (!noun_open(&item, draft->reading, list->items[i], "coefficient",
			    &coefficient_noun))
			continue;
		fields_read(&item, &coefficient_noun, &new, NULL);
		new.given = reader_given(&item, "default");
		reader_done_lenient(&item);
		if (new.name && check_name(draft, new.name, new.span))
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

/* Keeps the place of data that are sparse for shape->sparse. */
static void check_densities(struct shape_draft *draft, struct reader *map)
{
	struct densities_form form = {0};
	fields_read(map, &densities_noun, &form, NULL);
	const struct node *node = form.each;
	if (form.common && !is_dense(form.common))
		node = form.common;
	else if (node && are_dense(node))
		return;
	if (node)
		draft->shape->sparse = node->span;
}

/* Notes keys that are not part of the shape, such as the W and H of an input: they are not used. */
static void pass_unused(
	struct shape_draft *draft, const struct reader *map, const struct node_entry *entry)
{
	const struct reading *reading = draft->reading;
	const char *near = near_missing(draft, entry->key);
	if (near)
		WRONG(draft, entry->key_span,
			"the shape has no dimension or coefficient '%s'; did you mean '%s'?",
			entry->key, near);
	else if (reading->unread)
		unread_add(reading->arena, reading->unread, entry, map->what);
	else
		diag_warning(reading->diag, entry->key_span,
			"'%s' is not a dimension or coefficient of the shape and is not used",
			entry->key);
}

static void read_extents(struct shape_draft *draft, struct reader *map)
{
	struct shape *shape = draft->shape;
	struct shape_coefficient *coefficients = draft->coefficients;
	for (int d = 0; d < shape->dimension_count; d++) {
		struct loop *dimension = &shape->dimensions[d];
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

static void read_space(struct shape_draft *draft, const struct node *node)
{
	struct shape *shape = draft->shape;
	struct space_form form = {.space.span = node->span};
	struct reader map;
	if (!noun_open(&map, draft->reading, node, "data space", &space_noun))
		return;
	fields_read(&map, &space_noun, &form, NULL);
	reader_done_lenient(&map);
	if (!form.space.name || !check_name(draft, form.space.name, node->span))
		return;
	if (form.projection)
		read_projection(draft, form.projection, &form.space);
	shape->spaces[shape->space_count++] = form.space;
}

static void check_written(struct shape_draft *draft, struct span span)
{
	const struct shape *shape = draft->shape;
	int written = -1;
	for (int t = 0; t < shape->space_count; t++) {
		if (!shape->spaces[t].written)
			continue;
		if (written >= 0) {
			WRONG(draft, shape->spaces[t].span,
				"'%s' and '%s' are both read_write; a problem writes one dataspace",
				shape->spaces[written].name, shape->spaces[t].name);
			return;
		}
		written = t;
	}
	if (written < 0)
		WRONG(draft, span, "no dataspace is written; one needs 'read_write: true'");
}

static void read_spaces(struct shape_draft *draft, const struct node *list)
{
	if (!list)
		return;
	if (!list->count || list->count > SHAPE_SPACES_MOST) {
		WRONG(draft, list->span, "a problem has 1 to %d data spaces, not %zu",
			SHAPE_SPACES_MOST, list->count);
		return;
	}
	size_t errors = diag_errors(draft->reading->diag);
	for (size_t i = 0; i < list->count; i++)
		read_space(draft, list->items[i]);
	if (diag_errors(draft->reading->diag) == errors)
		check_written(draft, list->span);
}

static void check_version(struct shape_draft *draft, const struct reader *map, const char *version)
{
	static const char *const known[] = {"0.4", "0.3", "0.2", NULL};
	for (int i = 0; known[i]; i++)
		if (!version || text_equal(known[i], version))
			return;
	WRONG(draft, node_find(map->map, "version")->span,
		"problem version %s; this program reads 0.4 and older", version);
}

/* The map with the extents: `instance`, or the problem itself in the older form. */
static struct reader *open_instance(struct shape_draft *draft, struct reader *map,
	const struct node *node, struct reader *instance)
{
	if (!node)
		return map;
	return noun_open(instance, draft->reading, node, "instance", &instance_noun) ? instance
										     : NULL;
}

/* The shape of a problem: under `shape`, or its keys beside the instance, or, where a problem may
 * go without both, the one that Timeloop takes.  NULL after complaining. */
static struct reader *open_shape(struct shape_draft *draft, struct reader *map,
	const struct node *written, const struct node *shapes, bool may_lack, struct reader *inner)
{
	static const char *const own[] = {"dimensions", "data_spaces", "data-spaces"};
	const struct reading *reading = draft->reading;
	const struct node *found = NULL;
	bool flat = !may_lack;
	for (int i = 0; i < 3; i++)
		flat |= node_find(map->map, own[i]) != NULL;
	if (!written && flat)
		return map;
	if (written) {
		found = find_shape(reading, written, shapes);
	} else {
		found = find_named(reading, default_shape);
		diag_remark(reading->diag, map->map->span,
			"no shape is given: it is that of %s, as in Timeloop", default_shape);
	}
	return found && noun_open(inner, reading, found, "shape", &shape_noun) ? inner : NULL;
}

static void refuse_flattening(struct shape_draft *draft, const struct node *flatten)
{
	if (flatten && (flatten->count || *flatten->text))
		WRONG(draft, flatten->span, "'flatten' is not supported: dimensions stay apart");
}

static const struct shape *read_shape(struct reader *map, const struct node *shapes, bool may_lack)
{
	const struct reading *reading = map->reading;
	struct shape_draft *draft = arena_new(reading->arena, struct shape_draft);
	struct shape *shape = draft->shape = arena_new(reading->arena, struct shape);
	struct reader inner, instance;
	struct problem_form problem = {0};
	struct shape_form own = {.name = "problem"};
	size_t errors = diag_errors(reading->diag);
	draft->reading = reading;
	shape->span = map->map->span;
	fields_read(map, &problem_noun, &problem, NULL);
	check_version(draft, map, problem.version);
	const struct node *ops = may_lack ? node_find(map->map, "ops") : NULL;
	if (ops)
		WRONG(draft, ops->span,
			"'ops', several operations in one problem, and 'node-type' in a mapping are "
			"TileFlow's and not read; give the dimensions, data_spaces and instance of "
			"one of them");
	if (ops && !node_find(map->map, "dimensions"))
		return NULL;
	struct reader *form = open_shape(draft, map, problem.shape, shapes, may_lack, &inner);
	if (!form)
		return NULL;
	fields_read_form(form, &shape_noun, SHAPE_WHOLE, &own, NULL);
	shape->name = own.name;
	if (form != map)
		check_version(draft, form, own.version);
	read_dimensions(draft, own.dimensions);
	read_coefficients(draft, own.coefficients);
	refuse_flattening(draft, own.flatten);
	struct reader *extents = open_instance(draft, map, problem.instance, &instance);
	if (extents)
		read_extents(draft, extents);
	read_spaces(draft, own.spaces);
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
	return noun_open(&map, reading, node, "problem", &problem_noun)
		       ? read_shape(&map, NULL, true)
		       : NULL;
}

/* [[R], [P, 2]]; a rank that nothing walks along is a dimension times 0. */
static void write_rank(struct text *text, const struct shape *shape, const struct affine *rank)
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
