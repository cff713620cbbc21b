#include "base/text.h"
#include "import/build.h"
#include "import/statements.h"

#include <ctype.h>
#include <string.h>

/*
 * Convolutions and products of a model as layers of a network, for the mapper.  A layer has the loops of its op as
 * dimensions; layers of equal loops are one with a count.
 */
enum { LAYER_NAME_MOST = 60, SHAPE_OPERANDS = 2 };

struct network_layer {
	const char *name, *shape, *instance;
	int count;
};

struct layer_shape {
	const char *name, *text;
};

struct network_writing {
	struct build *b;
	struct names shape_names, layer_names, alike; /* of texts */
	struct array(struct layer_shape) shapes;
	struct array(struct network_layer) layers;
	int others; /* ops that are not layers */
};

/* Dimensions of the window of a convolution; 0: it is not one. */
static int window_of(const struct statement *statement)
{
	int sums = statement->loop_count - statement->output_loops;
	bool depthwise = statement->reads[1].index[1].term_count == 0;
	int spatial = depthwise ? sums : sums - 1, channels = statement->output_loops - spatial;
	bool known = strstr(statement->call->op, "onv") && spatial >= 1 && spatial <= 3 &&
		     channels >= 2 && channels <= 3;
	return known ? spatial : 0;
}

/* "N", "M", "P" .. of a convolution; of products the last two are M and N, those before B; sums are K. */
static const char *loop_name(struct build *b, const struct statement *statement, int l)
{
	static const char *const images[] = {"P", "Q", "O"}, *const windows[] = {"R", "S", "T"};
	int outputs = statement->output_loops, window = window_of(statement);
	int channels = outputs - window, first = statement->loop_count - window;
	if (window)
		return l >= first          ? windows[l - first]
		       : l >= outputs      ? "C"
		       : l >= channels     ? images[l - channels]
		       : l == 0            ? "N"
		       : l == channels - 1 ? "M"
					   : "G";
	if (l >= outputs)
		return l == outputs ? "K" : arena_format(b->arena, "K%d", l - outputs + 1);
	return l == outputs - 1   ? "N"
	       : l == outputs - 2 ? "M"
	       : l == 0           ? "B"
				  : arena_format(b->arena, "B%d", l + 1);
}

/* The ranks of what an operand reads; steps are coefficients by the name of their loop. */
static void write_ranks(struct build *b, const struct statement *statement,
	const struct view_read *read, int number, struct text *text, struct text *steps,
	struct text *values)
{
	int ranks = 0;
	for (int h = 0; h < view_at(b, read->view)->shape.rank; h++) {
		const struct view_index *index = &read->index[h];
		for (int t = 0; t < index->term_count; t++) {
			const char *loop = loop_name(b, statement, index->terms[t].loop);
			int64_t step = index->terms[t].factor;
			text_add(text, "%s[%s", t ? ", " : ranks++ ? ", [" : "[", loop);
			if (step != 1) {
				const char *name = arena_format(
					b->arena, "%sstep%s", loop, number ? "_w" : "");
				text_add(text, ", %s", name);
				text_add(steps, "%s{name: %s, default: 1}",
					steps->length ? ", " : "", name);
				text_add(values, ", %s: %lld", name, (long long)step);
			}
			text_add(text, "]%s", t + 1 == index->term_count ? "]" : "");
		}
	}
}

static const char *unique_name(struct network_writing *w, const char *hint)
{
	char *name = arena_format(w->b->arena, "%.*s", LAYER_NAME_MOST, hint);
	for (char *c = name; *c; c++)
		if (!isalnum((unsigned char)*c) && *c != '-' && *c != '.')
			*c = '_';
	while (*name == '_' || *name == '.' || *name == '-')
		name++;
	const char *unique = *name ? name : "layer";
	for (int i = 2; names_find(&w->layer_names, unique) >= 0; i++)
		unique = arena_format(w->b->arena, "%s_%d", *name ? name : "layer", i);
	names_add(w->b->arena, &w->layer_names, unique, 0);
	return unique;
}

/* The name of the shape with that text, "conv1" or "product2". */
static const char *name_shape(struct network_writing *w, const char *kind, const char *text)
{
	int known = names_find(&w->shape_names, text);
	if (known < 0) {
		known = (int)w->shapes.count;
		names_add(w->b->arena, &w->shape_names, text, known);
		*array_add(w->b->arena, &w->shapes) = (struct layer_shape){
			arena_format(w->b->arena, "%s%d", kind, known + 1), text};
	}
	return w->shapes.at[known].name;
}

static void network_writing_add_layer(struct network_writing *w, const struct statement *statement)
{
	struct build *b = w->b;
	struct text dimensions = text_open(b->arena), spaces = text_open(b->arena),
		    steps = text_open(b->arena), instance = text_open(b->arena);
	for (int l = 0; l < statement->loop_count; l++) {
		const char *name = loop_name(b, statement, l), *comma = l ? ", " : "";
		text_add(&dimensions, "%s%s", comma, name);
		text_add(&instance, "%s%s: %lld", comma, name,
			(long long)axes_find(&b->axes, statement->loops[l])->extent);
	}
	for (int i = SHAPE_OPERANDS - 1; i >= 0; i--) {
		text_add(&spaces, "      - {name: %s, projection: [", i ? "Weights" : "Inputs");
		write_ranks(b, statement, &statement->reads[i], i, &spaces, &steps, &instance);
		text_add(&spaces, "]}\n");
	}
	text_add(&spaces, "      - {name: Outputs, projection: [");
	for (int l = 0; l < statement->output_loops; l++)
		text_add(&spaces, "%s[[%s]]", l ? ", " : "", loop_name(b, statement, l));
	const char *shape = arena_format(b->arena,
		"      dimensions: [%s]\n%s%s%s      data_spaces:\n%s], read_write: true}\n",
		text_read(&dimensions), steps.length ? "      coefficients: [" : "",
		text_read(&steps), steps.length ? "]\n" : "", text_read(&spaces));
	const char *kind = window_of(statement) ? "conv" : "product";
	struct network_layer layer = {
		.shape = name_shape(w, kind, shape), .instance = text_read(&instance), .count = 1};
	const char *key = arena_format(b->arena, "%s %s", layer.shape, layer.instance);
	int known = names_find(&w->alike, key);
	if (known >= 0) {
		w->layers.at[known].count++;
		return;
	}
	names_add(b->arena, &w->alike, key, (int)w->layers.count);
	layer.name = unique_name(w, statement->call->name);
	*array_add(b->arena, &w->layers) = layer;
}

const char *build_network(struct build *b)
{
	struct network_writing w = {.b = b};
	struct text text = text_open(b->arena);
	for (size_t s = 0; s < b->statements.count; s++) {
		const struct statement *statement = &b->statements.at[s];
		if (statement->live && statement_multiplies(statement))
			network_writing_add_layer(&w, statement);
		else
			w.others += statement->live;
	}
	text_add(&text, "network:\n  name: \"%s\"\n  shapes:\n", b->model->name);
	for (size_t i = 0; i < w.shapes.count; i++)
		text_add(&text, "    %s:\n%s", w.shapes.at[i].name, w.shapes.at[i].text);
	text_add(&text, "  layers:\n");
	for (size_t i = 0; i < w.layers.count; i++)
		text_add(&text, "  - {name: %s, count: %d, shape: %s, instance: {%s}}\n",
			w.layers.at[i].name, w.layers.at[i].count, w.layers.at[i].shape,
			w.layers.at[i].instance);
	*array_add(b->arena, &b->notes) = arena_format(b->arena,
		"%d ops are neither convolutions nor products; the network leaves them out",
		w.others);
	return w.layers.count ? text_read(&text) : NULL;
}
