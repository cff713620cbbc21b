#include "base/arena.h"
#include "base/scan.h"
#include "base/text.h"
#include "model/nest/shape_draft.h"

#include <string.h>

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
