#include "base/text.h"
#include "model/machine/mapping_notation.h"
#include "model/nest/domain.h"
#include "model/nest/nest_mapping.h"
#include "spec/quote.h"

#include <string.h>

static void write_head(struct text *text, const char *target, const char *type)
{
	text_add(text, "- target: ");
	quote_yaml(text, target);
	text_add(text, "\n  type: %s\n", type);
}

/* Names of one letter stand together, as Timeloop wants them; longer ones in a list. */
static void write_order(struct text *text, const struct shape *shape, const uint8_t *order)
{
	bool letters = true;
	for (int d = 0; d < shape->dimension_count; d++)
		letters &= strlen(shape->dimensions[d].name) == 1;
	text_add(text, letters ? "  permutation: \"" : "  permutation: [");
	for (int i = 0; i < shape->dimension_count; i++)
		text_add(text, "%s%s", letters || !i ? "" : ", ", shape->dimensions[order[i]].name);
	text_add(text, letters ? "\"\n" : "]\n");
}

static void write_factors(struct text *text, const struct shape *shape,
	const struct mapping *mapping, int r, bool spatial)
{
	const struct mapping_row *row = &mapping->rows[r];
	text_add(text, "  factors: ");
	for (int d = 0; d < shape->dimension_count; d++) {
		long long factor = spatial ? row->spatial[d] : row->temporal[d];
		long long last =
			mapping_last_round(mapping, r, spatial, d, shape->dimensions[d].extent);
		text_add(text, "%s%s=%lld", d ? " " : "", shape->dimensions[d].name, factor);
		if (last != factor)
			text_add(text, ",%lld", last);
	}
	text_add(text, "\n");
}

/* The loops along X first, then those along Y; split is how many the first are. */
static void write_spatial(struct text *text, const struct arch *arch, const struct shape *shape,
	const struct mapping *mapping, int r)
{
	const struct mapping_row *row = &mapping->rows[r];
	uint8_t order[SHAPE_DIMENSIONS_MOST];
	int count = 0, split = 0;
	for (int y = 0; y <= 1; y++) {
		for (int i = 0; i < shape->dimension_count; i++)
			if ((row->spatial_y >> row->spatial_order[i] & 1) == y)
				order[count++] = row->spatial_order[i];
		split = y ? split : count;
	}
	write_head(text, nest_target_name(arch, r), "spatial");
	write_factors(text, shape, mapping, r, true);
	write_order(text, shape, order);
	text_add(text, "  split: %d\n", split);
}

static void write_places(struct text *text, const struct shape *shape,
	const struct mapping *mapping, int r, bool keep)
{
	int count = 0;
	text_add(text, keep ? "  keep: [" : "  bypass: [");
	for (int t = 0; t < shape->space_count; t++)
		if ((mapping->residency[t] >> r & 1) == keep)
			text_add(text, "%s%s", count++ ? ", " : "", shape->spaces[t].name);
	text_add(text, "]\n");
}

const char *nest_mapping_write(struct arena *arena, const struct arch *arch,
	const struct shape *shape, const struct mapping *mapping)
{
	struct text text = text_open(arena);
	text_add(&text, "mapping:\n");
	for (int r = 0; r < arch->level_count; r++) {
		const struct level *level = &arch->levels[r];
		if (domain_fanout(arch, r) > 1)
			write_spatial(&text, arch, shape, mapping, r);
		if (!domain_iterates(arch, r))
			continue;
		write_head(&text, level->name, "temporal");
		write_factors(&text, shape, mapping, r, false);
		write_order(&text, shape, mapping->rows[r].temporal_order);
		/* What is not bypassed Timeloop keeps, at dummy levels too. */
		write_head(&text, level->name, "bypass");
		write_places(&text, shape, mapping, r, true);
		write_places(&text, shape, mapping, r, false);
	}
	return text_read(&text);
}
