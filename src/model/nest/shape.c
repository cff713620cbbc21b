#include "model/nest/shape.h"

#include "base/arena.h"
#include "base/lattice.h"
#include "base/number.h"
#include "base/text.h"
#include "model/nest/shape_read.h"
#include "spec/reader.h"

#include <string.h>

int shape_dimension(const struct shape *shape, const char *name)
{
	for (int d = 0; d < shape->dimension_count; d++)
		if (text_equal(shape->dimensions[d].name, name))
			return d;
	return -1;
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

bool shape_computes(const struct shape *shape, int64_t *out)
{
	int64_t product = 1;
	for (int d = 0; d < shape->dimension_count; d++)
		if (!number_mul(product, shape->dimensions[d].extent, &product))
			return false;
	*out = product;
	return true;
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

uint32_t shape_rank_dimensions(const struct shape_rank *rank)
{
	uint32_t dimensions = 0;
	for (int d = 0; d < SHAPE_DIMENSIONS_MOST; d++)
		dimensions |= (uint32_t)(rank->coefficient[d] != 0) << d;
	return dimensions;
}

void shape_finish(struct shape *shape)
{
	for (int t = 0; t < shape->space_count; t++) {
		struct dataspace *space = &shape->spaces[t];
		space->relevant = 0;
		for (int k = 0; k < space->rank_count; k++)
			space->relevant |= shape_rank_dimensions(&space->ranks[k]);
	}
}

bool dataspace_slides(const struct dataspace *space)
{
	bool slides = false;
	for (int k = 0; k < space->rank_count; k++) {
		uint32_t dimensions = shape_rank_dimensions(&space->ranks[k]);
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

const char *const shape_named_names[] = {"cnn-layer", "gemm-ABZ", "gemm", NULL};
const char *const shape_named_default = "cnn-layer";

/* In the order of shape_named_names. */
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

const struct node *shape_named(const struct reading *reading, const char *name)
{
	const char *plain = plain_name(reading->arena, name);
	for (int i = 0; shape_named_names[i]; i++)
		if (text_equal(shape_named_names[i], plain))
			return node_read_text(reading->arena,
				arena_format(reading->arena, "shape %s", shape_named_names[i]),
				texts[i], strlen(texts[i]), reading->diag);
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
	for (int i = 0; shape_named_names[i]; i++) {
		names[count++] = shape_named_names[i];
		text_add(&list, "%s%s", i ? ", " : "", shape_named_names[i]);
	}
	const char *near = diag_full(reading->diag) ? NULL : suggest(written->text, names);
	reading_refuse(reading, written, "unknown shape '%s'; %s%s%s", written->text,
		near ? "did you mean '"
		     : "write its dimensions and data_spaces here, or name one of ",
		near ? near : text_read(&list), near ? "'?" : "");
}

const struct node *shape_named_find(
	const struct reading *reading, const struct node *written, const struct node *shapes)
{
	if (written->kind != NODE_SCALAR)
		return written;
	const struct node *found = node_find(shapes, written->text);
	if (!found)
		found = shape_named(reading, written->text);
	if (!found)
		refuse_shape(reading, written, shapes);
	return found;
}

struct shape_coefficient *shape_draft_coefficient(struct shape_draft *draft, const char *name)
{
	for (int i = 0; i < draft->coefficient_count; i++)
		if (text_equal(draft->coefficients[i].name, name))
			return &draft->coefficients[i];
	return NULL;
}

/* Where a word of a projection stands: bytes `from` to `to` of the node's text, or all of it. */
struct factor_place {
	const struct node *node;
	size_t from, to;
};

static struct span place_span(const struct factor_place *place)
{
	return place->to ? node_part(place->node, place->from, place->to) : place->node->span;
}

/* One factor of a term into its dimension or its multiplier. */
static bool multiply(struct shape_draft *draft, const char *word, struct factor_place place,
	int *dimension, int64_t *multiplier)
{
	const char *digits = word;
	int64_t number;
	int d = shape_dimension(draft->shape, word);
	const struct shape_coefficient *coefficient = shape_draft_coefficient(draft, word);
	if (d >= 0 && *dimension >= 0) {
		SHAPE_WRONG(draft, place_span(&place),
			"a term of a projection has one dimension, not '%s' and '%s'",
			draft->shape->dimensions[*dimension].name, word);
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
		for (int i = 0; i < draft->shape->dimension_count; i++)
			known[count++] = draft->shape->dimensions[i].name;
		for (int i = 0; i < draft->coefficient_count; i++)
			known[count++] = draft->coefficients[i].name;
		known[count] = NULL;
		SHAPE_WRONG(draft, place_span(&place),
			"'%s' is neither a dimension nor a coefficient%s", word,
			suggestion(draft->reading->arena, suggest(word, known), ""));
		return false;
	}
	if (number_mul(*multiplier, number, multiplier))
		return true;
	SHAPE_WRONG(draft, place_span(&place),
		"the coefficients of a term multiply to more than an int64_t");
	return false;
}

static void add_term(struct shape_draft *draft, struct shape_rank *rank, int dimension,
	int64_t multiplier, struct span span)
{
	if (dimension < 0)
		SHAPE_WRONG(draft, span, "a term of a projection needs a dimension");
	else if (!number_add(
			 rank->coefficient[dimension], multiplier, &rank->coefficient[dimension]))
		SHAPE_WRONG(draft, span, "a rank's coefficients add up to more than an int64_t");
}

/* "R*dilation + stride*P" */
static void read_text_terms(
	struct shape_draft *draft, const struct node *scalar, struct shape_rank *rank)
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
			const char *word =
				arena_format(draft->reading->arena, "%.*s", (int)length, text + at);
			if (!length) {
				SHAPE_WRONG(draft, scalar->span,
					"'%s' is no sum of dimensions with coefficients, such as "
					"'R + stride*P'",
					text);
				return;
			}
			good &= multiply(draft, word,
				(struct factor_place){scalar, at, at + length}, &dimension,
				&multiplier);
			at += length;
			at += strspn(text + at, " \t");
			factor = text[at] == '*';
			at += factor;
		}
		if (good)
			add_term(draft, rank, dimension, multiplier, scalar->span);
		more = text[at] == '+';
		at += more;
	}
	if (text[at])
		SHAPE_WRONG(draft, node_part(scalar, at, strlen(text)),
			"a projection adds and multiplies; '%s' does neither", text + at);
}

/* [P, stride] */
static void read_term(struct shape_draft *draft, const struct node *list, struct shape_rank *rank)
{
	int dimension = -1;
	int64_t multiplier = 1;
	bool good = true;
	for (size_t i = 0; i < list->count; i++) {
		const char *word;
		good &= node_text(draft->reading, list->items[i],
				"a dimension or coefficient of a projection", &word) &&
			multiply(draft, word, (struct factor_place){list->items[i], 0, 0},
				&dimension, &multiplier);
	}
	if (good)
		add_term(draft, rank, dimension, multiplier, list->span);
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

static void read_rank(struct shape_draft *draft, const struct node *node, struct shape_rank *rank)
{
	if (node->kind == NODE_SCALAR)
		read_text_terms(draft, node, rank);
	else if (node->kind == NODE_MAP || !node->count)
		SHAPE_WRONG(draft, node->span,
			"a rank of a projection is a list of terms, not %s; [[R], [P, stride]] "
			"is R + P*stride",
			node->kind == NODE_MAP ? "a map" : "empty");
	else if (is_term(draft, node))
		read_term(draft, node, rank);
	else
		for (size_t i = 0; i < node->count; i++) {
			if (node->items[i]->kind == NODE_LIST)
				read_term(draft, node->items[i], rank);
			else
				read_rank(draft, node->items[i], rank);
		}
}

/* Indices must stay inside an int64_t, sums of them too. */
static void check_rank(struct shape_draft *draft, const struct node *node, const char *space,
	const struct shape_rank *rank)
{
	int64_t highest = 0, part;
	for (int d = 0; d < draft->shape->dimension_count; d++) {
		int64_t last = draft->shape->dimensions[d].extent - 1;
		if (last > 0 &&
			(!number_mul(last, rank->coefficient[d], &part) ||
				!number_add(highest, part, &highest) || highest > INT64_MAX / 2)) {
			SHAPE_WRONG(draft, node->span,
				"the indices of a rank of '%s' grow too large", space);
			return;
		}
	}
}

void shape_projection_read(
	struct shape_draft *draft, const struct node *node, struct dataspace *space)
{
	if (node->kind == NODE_SCALAR || node->count > SHAPE_RANKS_MOST) {
		SHAPE_WRONG(draft, node->span,
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

/* The dimension that one rank walks alone, step by step; -1: it is none such. */
static int lone_dimension(const struct shape *shape, const struct shape_rank *rank)
{
	return lattice_unit(rank->coefficient, shape->dimension_count);
}

static bool is_matrix(const struct shape *shape, const struct dataspace *space)
{
	if (space->rank_count != 2)
		return false;
	int row = lone_dimension(shape, &space->ranks[0]);
	int column = lone_dimension(shape, &space->ranks[1]);
	return row >= 0 && column >= 0 && row != column;
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
	struct dataspace *result = NULL, *reads[2] = {NULL, NULL};
	int count = 0;
	if (shape->space_count != 3 || shape->dimension_count != 3)
		return false;
	for (int t = 0; t < 3; t++) {
		struct dataspace *space = &shape->spaces[t];
		if (shape_is_role(space->name) || !is_matrix(shape, space) ||
			(!space->written && count == 2))
			return false;
		if (space->written)
			result = space;
		else
			reads[count++] = space;
	}
	if (!result || count != 2 || reads[0]->relevant == reads[1]->relevant ||
		reads[0]->relevant == result->relevant || reads[1]->relevant == result->relevant)
		return false;
	int row = lone_dimension(shape, &result->ranks[0]);
	bool first = reads[0]->relevant >> row & 1;
	reads[!first]->role = "Inputs";
	reads[first]->role = "Weights";
	result->role = "Outputs";
	return true;
}

void shape_find_roles(struct shape *shape)
{
	if (!find_of_matrices(shape))
		find_by_position(shape);
}
