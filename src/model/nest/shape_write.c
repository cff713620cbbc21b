#include "base/text.h"
#include "model/nest/shape.h"
#include "spec/quote.h"

#include <inttypes.h>

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
