#include "model/nest/network_graph.h"

#include "base/arena.h"
#include "base/number.h"
#include "base/text.h"
#include "spec/reader.h"

#include <inttypes.h>
#include <string.h>

enum { NAMED_MOST = 8 }; /* layers that the remark names */

/* One rank of a result: the ranks of the operand that walk it, one inside the other, or a part of one. */
struct rank_match {
	int first, count; /* ranks of the operand; count 0: the result's rank has extent 1 */
	int part;         /* of the one dimension of `first`; -1: all of it */
	int64_t low;      /* padding in front of a window */
};

/* Dimensions of a layer that walk several ranks of a result: the extents of their parts. */
struct dimension_parts {
	int count; /* 0: the dimension is one */
	int64_t extents[SHAPE_RANKS_MOST];
};

struct operand_match {
	bool leaves; /* a window leaves the result */
	struct rank_match ranks[SHAPE_RANKS_MOST];
	struct dimension_parts dimensions[SHAPE_DIMENSIONS_MOST];
};

/* The operands of a layer. */
struct layer_flow {
	int layers[SHAPE_SPACES_MOST]; /* whose result each is; -1: memory */
	struct operand_match *matches[SHAPE_SPACES_MOST];
	const char *why; /* no operand is a result; NULL: some are */
};

struct graph_writing {
	struct arena *arena;
	struct diag *diag;
	const struct network *network;
	struct layer_flow *flows;
	const char **results; /* tensors of the last occurrence of each layer; NULL: none yet */
	struct names names, dimensions;
	struct text extents, tensors, ops;
};

static int64_t rank_extent(const struct shape *shape, const struct affine *rank)
{
	int64_t last = 0;
	for (int d = 0; d < shape->dimension_count; d++)
		last += rank->coefficient[d] * (shape->dimensions[d].extent - 1);
	return last + 1;
}

/* The dimension that a rank walks alone, step by step; -1: there is none. */
static int find_plain(const struct shape *shape, const struct affine *rank)
{
	int plain = -1;
	for (int d = 0; d < shape->dimension_count; d++) {
		if (!rank->coefficient[d] || shape->dimensions[d].extent == 1)
			continue;
		if (plain >= 0 || rank->coefficient[d] != 1)
			return -1;
		plain = d;
	}
	return plain;
}

static bool is_called(const struct dataspace *space, const char *role)
{
	return text_equal(space->role ? space->role : space->name, role);
}

/* A window over a rank of this extent: true if it keeps to it but for padding or a rest. */
static bool match_window(
	const struct shape *shape, const struct affine *rank, int64_t extent, int64_t *low)
{
	int64_t span = rank_extent(shape, rank) - 1, widest = 0, stride = 1;
	for (int d = 0; d < shape->dimension_count; d++) {
		int64_t reach = rank->coefficient[d] * (shape->dimensions[d].extent - 1);
		if (reach > widest) {
			widest = reach;
			stride = rank->coefficient[d];
		}
	}
	int64_t over = span + 1 - extent;
	*low = over > 0 ? (over + 1) / 2 : 0;
	return over > 0 ? over <= span - widest : -over < stride;
}

/* Several ranks of the operand for one of the result; returns how many, 0: they do not agree. */
static int match_group(
	const struct shape *shape, const struct dataspace *space, int first, int64_t extent)
{
	int64_t product = 1;
	for (int i = first; i < space->rank_count && product < extent; i++) {
		if (find_plain(shape, &space->ranks[i]) < 0 &&
			rank_extent(shape, &space->ranks[i]) > 1)
			return 0;
		if (!number_mul(product, rank_extent(shape, &space->ranks[i]), &product))
			return 0;
		if (product == extent)
			return i + 1 - first;
	}
	return 0;
}

/* One dimension of the operand, which does not index the layer's own result, for several ranks of the result from `o`
 * on; returns how many, 0: they do not agree. */
static int match_parts(const struct shape *given, const struct dataspace *result, int o,
	int64_t extent, struct dimension_parts *parts)
{
	int64_t product = 1;
	parts->count = 0;
	for (int i = o; i < result->rank_count && product < extent; i++) {
		int64_t part = rank_extent(given, &result->ranks[i]);
		parts->extents[parts->count++] = part;
		if (!number_mul(product, part, &product))
			return 0;
		if (product == extent)
			return i + 1 - o;
	}
	return 0;
}

/* Matches ranks of the result from `o` on with the rank `i` of the operand; returns how many of the result, 0: they
 * do not agree, and sets *i behind those of the operand. */
static int match_rank(const struct shape *shape, const struct dataspace *space,
	const struct shape *given, const struct dataspace *result, int o, int *i,
	struct operand_match *out)
{
	const struct affine *rank = &space->ranks[*i];
	int64_t extent = rank_extent(given, &result->ranks[o]), own = rank_extent(shape, rank);
	int plain = find_plain(shape, rank), taken = 1;
	struct rank_match *match = &out->ranks[o];
	*match = (struct rank_match){.first = *i, .count = 1, .part = -1};
	if (plain < 0) {
		if (!match_window(shape, rank, extent, &match->low))
			return 0;
		out->leaves |= own > extent;
	} else if (own < extent) {
		match->count = match_group(shape, space, *i, extent);
		taken = match->count > 0;
	} else if (own > extent) {
		if (shape_result(shape)->relevant >> plain & 1)
			return 0;
		taken = match_parts(given, result, o, own, &out->dimensions[plain]);
		for (int p = 0; p < taken; p++)
			out->ranks[o + p] = (struct rank_match){.first = *i, .count = 1, .part = p};
	}
	*i += match->count;
	return taken;
}

/* True if an operand of one layer can be the result of another. */
static bool match_operand(const struct shape *shape, const struct dataspace *space,
	const struct shape *given, struct operand_match *out)
{
	const struct dataspace *result = shape_result(given);
	int i = 0;
	*out = (struct operand_match){0};
	for (int o = 0; o < result->rank_count;) {
		if (rank_extent(given, &result->ranks[o]) == 1) {
			out->ranks[o++] = (struct rank_match){.part = -1};
			continue;
		}
		while (i < space->rank_count && rank_extent(shape, &space->ranks[i]) == 1)
			i++;
		int taken = i < space->rank_count
				    ? match_rank(shape, space, given, result, o, &i, out)
				    : 0;
		if (!taken)
			return false;
		o += taken;
	}
	while (i < space->rank_count && rank_extent(shape, &space->ranks[i]) == 1)
		i++;
	return i == space->rank_count;
}

/* "64 x 56 x 56" */
static const char *extents_text(
	struct arena *arena, const struct shape *shape, const struct dataspace *space)
{
	struct text text = text_open(arena);
	for (int k = 0; k < space->rank_count; k++)
		text_add(&text, "%s%" PRId64, k ? " x " : "", rank_extent(shape, &space->ranks[k]));
	return space->rank_count ? text_read(&text) : "1";
}

static const char *disagreement(
	struct arena *arena, const struct layer *layer, int t, const struct layer *giver)
{
	const struct dataspace *space = &layer->shape->spaces[t];
	const struct dataspace *result = shape_result(giver->shape);
	return arena_format(arena, "its '%s' is %s, and the result of '%s' is %s", space->name,
		extents_text(arena, layer->shape, space), giver->name,
		extents_text(arena, giver->shape, result));
}

/* The operand that a layer before gives: Inputs, or the first one that is not Weights; -1: there is none. */
static int find_operand(const struct shape *shape)
{
	int found = -1;
	for (int t = shape->space_count - 1; t >= 0; t--)
		if (!shape->spaces[t].written && !is_called(&shape->spaces[t], "Weights"))
			found = t;
	for (int t = 0; t < shape->space_count; t++)
		if (!shape->spaces[t].written && is_called(&shape->spaces[t], "Inputs"))
			found = t;
	return found;
}

static const char *times_text(struct arena *arena, int64_t count)
{
	return count == 1 ? "once" : arena_format(arena, "%" PRId64 " times", count);
}

/* Without `from`: the layer before, or why not. */
static void flow_before(struct graph_writing *w, size_t l, struct layer_flow *flow)
{
	const struct layer *layer = &w->network->layers[l], *before = layer - 1;
	struct operand_match *match = arena_new(w->arena, struct operand_match);
	int t = find_operand(layer->shape);
	if (l == 0)
		flow->why = "it is the first";
	else if (t < 0)
		flow->why = "it has no operand but weights";
	else if (layer->count != before->count)
		flow->why = arena_format(w->arena, "it occurs %s and '%s' %s",
			times_text(w->arena, layer->count), before->name,
			times_text(w->arena, before->count));
	else if (!match_operand(layer->shape, &layer->shape->spaces[t], before->shape, match))
		flow->why = disagreement(w->arena, layer, t, before);
	if (flow->why)
		return;
	flow->layers[t] = (int)l - 1;
	flow->matches[t] = match;
}

/* "2 x 3" */
static const char *parts_text(struct arena *arena, const struct dimension_parts *parts)
{
	struct text text = text_open(arena);
	for (int p = 0; p < parts->count; p++)
		text_add(&text, "%s%" PRId64, p ? " x " : "", parts->extents[p]);
	return text_read(&text);
}

static bool parts_equal(const struct dimension_parts *a, const struct dimension_parts *b)
{
	bool equal = a->count == b->count;
	for (int p = 0; equal && p < a->count; p++)
		equal = a->extents[p] == b->extents[p];
	return equal;
}

/* Complains if the operand `t` and another one split a dimension in different ways. */
static void check_parts(struct graph_writing *w, const struct layer *layer,
	const struct layer_flow *flow, int t, struct span span)
{
	const struct shape *shape = layer->shape;
	for (int other = 0; other < shape->space_count; other++)
		for (int d = 0; flow->layers[other] >= 0 && d < shape->dimension_count; d++) {
			const struct dimension_parts *parts = &flow->matches[t]->dimensions[d];
			const struct dimension_parts *known = &flow->matches[other]->dimensions[d];
			if (parts->count && known->count && !parts_equal(parts, known))
				diag_error(w->diag, span,
					"'%s' splits '%s' into %s and '%s' into %s; read one of them "
					"from memory, without a 'from'",
					shape->spaces[t].name, shape->dimensions[d].name,
					parts_text(w->arena, parts), shape->spaces[other].name,
					parts_text(w->arena, known));
		}
}

/* By `from`; complains about shapes that do not agree. */
static void flow_from(struct graph_writing *w, const struct layer *layer, struct layer_flow *flow)
{
	flow->why = "its 'from' says so";
	for (size_t i = 0; i < layer->from.count; i++) {
		const struct layer_source *source = &layer->from.at[i];
		const struct layer *giver = &w->network->layers[source->layer];
		struct operand_match *match = arena_new(w->arena, struct operand_match);
		int t = source->space < 0 ? find_operand(layer->shape) : source->space;
		if (t < 0)
			diag_error(w->diag, source->span, "'%s' has no operand but weights",
				layer->name);
		else if (!match_operand(
				 layer->shape, &layer->shape->spaces[t], giver->shape, match))
			diag_error(w->diag, source->span,
				"'%s' cannot read '%s': %s; 'from: {}' reads memory", layer->name,
				giver->name, disagreement(w->arena, layer, t, giver));
		else {
			flow->layers[t] = (int)source->layer;
			flow->matches[t] = match;
			flow->why = NULL;
			check_parts(w, layer, flow, t, source->span);
		}
	}
}

static void find_flows(struct graph_writing *w)
{
	const struct network *network = w->network;
	w->flows = arena_array(w->arena, struct layer_flow, network->layer_count);
	for (size_t l = 0; l < network->layer_count; l++) {
		struct layer_flow *flow = &w->flows[l];
		for (int t = 0; t < SHAPE_SPACES_MOST; t++)
			flow->layers[t] = -1;
		if (network->layers[l].from.given)
			flow_from(w, &network->layers[l], flow);
		else
			flow_before(w, l, flow);
	}
}

/* --- the text */

/* Declares a dimension once; returns its name. */
static const char *name_dimension(struct graph_writing *w, const char *name, int64_t extent)
{
	if (names_find(&w->dimensions, name) < 0) {
		text_add(&w->extents, "%s%s: %" PRId64, w->dimensions.count ? ", " : "", name,
			extent);
		names_add(w->arena, &w->dimensions, name, (int)w->dimensions.count);
	}
	return name;
}

/* "C_64": dimensions of equal names and extents are one in all layers. */
static const char *name_whole(struct graph_writing *w, const struct loop *dimension)
{
	return name_dimension(w,
		arena_format(w->arena, "%s_%" PRId64, dimension->name, dimension->extent),
		dimension->extent);
}

/* Parts of the dimensions of a layer, those of all operands together. */
static const struct dimension_parts *parts_of(const struct layer_flow *flow, int d)
{
	static const struct dimension_parts none;
	for (int t = 0; t < SHAPE_SPACES_MOST; t++)
		if (flow->layers[t] >= 0 && flow->matches[t]->dimensions[d].count)
			return &flow->matches[t]->dimensions[d];
	return &none;
}

/* "K_6_2a": part a of K, with 2 of its 6; whole dimensions end in a digit. */
static const char *name_part(struct graph_writing *w, const struct loop *dimension,
	const struct dimension_parts *parts, int part)
{
	return name_dimension(w,
		arena_format(w->arena, "%s_%" PRId64 "_%" PRId64 "%c", dimension->name,
			dimension->extent, parts->extents[part], 'a' + part),
		parts->extents[part]);
}

/* Adds `factor` times a dimension, " + " in front unless it is the first term. */
static void add_scaled(struct text *text, bool *first, int64_t factor, const char *name)
{
	text_add(text, "%s", *first ? "" : " + ");
	*first = false;
	if (factor != 1)
		text_add(text, "%" PRId64 " * ", factor);
	text_add(text, "%s", name);
}

static void add_rank(struct graph_writing *w, struct text *text, const struct shape *shape,
	const struct layer_flow *flow, const struct affine *rank, int64_t times, bool *first)
{
	for (int d = 0; d < shape->dimension_count; d++) {
		const struct dimension_parts *parts = parts_of(flow, d);
		if (!rank->coefficient[d])
			continue;
		/* any factor will do for a dimension of one point; a large one could overflow */
		int64_t factor = shape->dimensions[d].extent > 1 ? times * rank->coefficient[d] : 1;
		if (!parts->count)
			add_scaled(text, first, factor, name_whole(w, &shape->dimensions[d]));
		for (int p = parts->count - 1; p >= 0; p--) {
			add_scaled(
				text, first, factor, name_part(w, &shape->dimensions[d], parts, p));
			factor *= parts->extents[p];
		}
	}
}

/* The index of one rank of a result that an operand reads. */
static void add_match(struct graph_writing *w, struct text *text, const struct layer *layer,
	const struct layer_flow *flow, int t, const struct rank_match *match)
{
	const struct shape *shape = layer->shape;
	const struct dataspace *space = &shape->spaces[t];
	bool first = true;
	int64_t times = 1;
	if (match->part >= 0) {
		int d = find_plain(shape, &space->ranks[match->first]);
		text_add(text, "%s",
			name_part(w, &shape->dimensions[d], parts_of(flow, d), match->part));
		return;
	}
	for (int k = match->count - 1; k >= 0; k--) {
		const struct affine *rank = &space->ranks[match->first + k];
		add_rank(w, text, shape, flow, rank, times, &first);
		times *= rank_extent(shape, rank);
	}
	text_add(text, "%s", first ? "0" : "");
	if (match->low)
		text_add(text, " - %" PRId64, match->low);
}

/* Declares the tensor of a dataspace with the shape that its indices have. */
static void declare(struct graph_writing *w, const char *name, const struct layer *layer,
	const struct dataspace *space)
{
	text_add(&w->tensors, "    %s: {shape: [", name);
	for (int k = 0; k < space->rank_count; k++)
		text_add(&w->tensors, "%s%" PRId64, k ? ", " : "",
			rank_extent(layer->shape, &space->ranks[k]));
	text_add(&w->tensors, "]}\n");
}

/* "conv1[N_1, M_64, P_56]": an operand or the result; inputs of the graph are declared. */
static void add_operand(struct graph_writing *w, const struct layer *layer,
	const struct layer_flow *flow, int t, const char *result)
{
	const struct dataspace *space = &layer->shape->spaces[t];
	const char *given = flow->layers[t] >= 0 ? w->results[flow->layers[t]] : NULL;
	const struct operand_match *match = given ? flow->matches[t] : NULL;
	const char *name = space->written ? result
			   : given        ? given
					  : names_add_like(w->arena, &w->names,
						    arena_format(w->arena, "%s_%s", result, space->name));
	int ranks = space->rank_count;
	if (given)
		ranks = shape_result(w->network->layers[flow->layers[t]].shape)->rank_count;
	else
		declare(w, name, layer, space);
	text_add(&w->ops, "%s%s[", match && match->leaves ? "pad " : "", name);
	for (int k = 0; k < ranks; k++) {
		bool first = true;
		text_add(&w->ops, "%s", k ? ", " : "");
		if (match)
			add_match(w, &w->ops, layer, flow, t, &match->ranks[k]);
		else
			add_rank(w, &w->ops, layer->shape, flow, &space->ranks[k], 1, &first);
		text_add(&w->ops, "%s", !match && first ? "0" : "");
	}
	text_add(&w->ops, "]");
}

/* "sum(C_64, R_3) ", of all dimensions that do not index the result. */
static void add_sum(
	struct graph_writing *w, const struct shape *shape, const struct layer_flow *flow)
{
	const struct dataspace *result = shape_result(shape);
	int count = 0;
	for (int d = 0; d < shape->dimension_count; d++) {
		const struct dimension_parts *parts = parts_of(flow, d);
		if (result->relevant >> d & 1)
			continue;
		for (int p = 0; p < (parts->count ? parts->count : 1); p++)
			text_add(&w->ops, "%s%s", count++ ? ", " : "sum(",
				parts->count ? name_part(w, &shape->dimensions[d], parts, p)
					     : name_whole(w, &shape->dimensions[d]));
	}
	text_add(&w->ops, "%s", count ? ") " : "");
}

/* True if the op says which operand is Weights: a product of few loops may be one of matrices, whose Weights op_role
 * finds by the rows of the result. */
static bool needs_roles(const struct shape *shape)
{
	int loops = 0, reads = 0;
	bool named = false;
	for (int d = 0; d < shape->dimension_count; d++)
		loops += shape->dimensions[d].extent > 1;
	for (int t = 0; t < shape->space_count; t++) {
		reads += !shape->spaces[t].written;
		named |= is_called(&shape->spaces[t], "Weights");
	}
	return loops <= 3 && reads == 2 && named;
}

static void add_op(struct graph_writing *w, size_t l)
{
	const struct layer *layer = &w->network->layers[l];
	const struct layer_flow *flow = &w->flows[l];
	const struct shape *shape = layer->shape;
	const char *name = names_add_like(w->arena, &w->names, layer->name);
	int reads = 0;
	if (!w->results[l])
		text_add(&w->ops, "    # %s%s%s\n", layer->name,
			flow->why ? ": from memory, because " : "", flow->why ? flow->why : "");
	text_add(&w->ops, needs_roles(shape) ? "    - {op: \"" : "    - \"");
	add_operand(w, layer, flow, (int)(shape_result(shape) - shape->spaces), name);
	text_add(&w->ops, " = ");
	add_sum(w, shape, flow);
	for (int weights = 0; weights < 2; weights++)
		for (int t = 0; t < shape->space_count; t++) {
			const struct dataspace *space = &shape->spaces[t];
			if (space->written || is_called(space, "Weights") != weights)
				continue;
			text_add(&w->ops, "%s", reads++ ? " * " : "");
			add_operand(w, layer, flow, t, name);
		}
	text_add(&w->ops, needs_roles(shape) ? "\", roles: [Inputs, Weights, Outputs]}\n" : "\"\n");
	w->results[l] = name;
}

/* An op of a graph reads a tensor, and each rank of its result is one dimension. */
static void check_layers(struct graph_writing *w)
{
	for (size_t l = 0; l < w->network->layer_count; l++) {
		const struct layer *layer = &w->network->layers[l];
		if (layer->shape->space_count < 2)
			diag_error(w->diag, layer->span,
				"layer '%s' reads nothing; add a dataspace that is not written",
				layer->name);
		const struct dataspace *result = shape_result(layer->shape);
		bool simple = true;
		for (int k = 0; k < result->rank_count; k++)
			simple &= rank_extent(layer->shape, &result->ranks[k]) == 1 ||
				  find_plain(layer->shape, &result->ranks[k]) >= 0;
		if (!simple)
			diag_error(w->diag, result->span,
				"a rank of '%s' is not one dimension; give each rank of the result "
				"of an op one, without a factor",
				result->name);
	}
}

static void remark(struct graph_writing *w)
{
	const struct network *network = w->network;
	struct text text = text_open(w->arena);
	size_t alone = 0;
	for (size_t l = 0; l < network->layer_count; l++) {
		if (!w->flows[l].why)
			continue;
		if (alone++ < NAMED_MOST)
			text_add(&text, "; '%s': %s", network->layers[l].name, w->flows[l].why);
	}
	if (alone > NAMED_MOST)
		text_add(&text, "; and %zu more", alone - NAMED_MOST);
	diag_remark(w->diag, network->span,
		"a graph of %" PRId64 " ops: %zu of %zu layers read another one, %zu read memory%s",
		network_occurrences(network), network->layer_count - alone, network->layer_count,
		alone, text_read(&text));
}

static void add_ops(struct graph_writing *w)
{
	const struct network *network = w->network;
	for (size_t first = 0, end; first < network->layer_count; first = end) {
		int64_t count = network->layers[first].count;
		for (end = first;
			end < network->layer_count && network->layers[end].count == count;)
			end++;
		for (int64_t k = 0; k < count; k++)
			for (size_t l = first; l < end; l++)
				add_op(w, l);
	}
}

const char *network_graph(const struct reading *reading, const struct network *network)
{
	struct arena *arena = reading->arena;
	struct graph_writing w = {.arena = arena,
		.diag = reading->diag,
		.network = network,
		.results = arena_array(arena, const char *, network->layer_count),
		.extents = text_open(arena),
		.tensors = text_open(arena),
		.ops = text_open(arena)};
	if (network_occurrences(network) > NETWORK_OPS_MOST)
		diag_error(w.diag, network->span,
			"the layers occur %" PRId64 " times; a graph has %d ops at most",
			network_occurrences(network), NETWORK_OPS_MOST);
	check_layers(&w);
	find_flows(&w);
	if (diag_failed(w.diag))
		return NULL;
	add_ops(&w);
	if (diag_failed(w.diag))
		return NULL;
	remark(&w);
	struct text text = text_open(arena);
	text_add(&text, "workload:\n  name: ");
	quote_yaml(&text, network->name);
	text_add(&text, "\n  layouts: auto\n  dimensions: {%s}\n  tensors:\n%s  ops:\n%s",
		text_read(&w.extents), text_read(&w.tensors), text_read(&w.ops));
	return text_read(&text);
}
