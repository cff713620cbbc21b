#include "tests/support/nest_line.h"

#include "base/arena.h"
#include "base/fatal.h"
#include "base/text.h"
#include "tests/support/complaints.h"
#include "tests/support/nest_text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The next name of lower- and upper-case letters. */
static const char *take_name(struct arena *arena, const char **at)
{
	size_t length = 0;
	while (isalpha((unsigned char)(*at)[length]))
		length++;
	char *name = arena_text(arena, *at);
	name[length] = '\0';
	*at += length;
	return name;
}

static int find_dimension(struct shape *shape, const char *name)
{
	int d = shape_dimension(shape, name);
	if (d >= 0)
		return d;
	shape->dimensions[shape->dimension_count].name = name;
	return shape->dimension_count++;
}

/* "I[2p+r,c]" */
static void take_space(struct arena *arena, const char **at, struct shape *shape)
{
	struct dataspace *space = &shape->spaces[shape->space_count];
	space->name = take_name(arena, at);
	space->written = shape->space_count++ == 0;
	for (char end = *(*at)++; end != ']'; end = *(*at)++) {
		if (end != '+')
			space->rank_count++;
		struct affine *rank = &space->ranks[space->rank_count - 1];
		char *rest;
		int64_t coefficient = strtoll(*at, &rest, 10);
		if (rest == *at)
			coefficient = 1;
		*at = rest;
		rank->coefficient[find_dimension(shape, take_name(arena, at))] = coefficient;
	}
}

static void take_shape(struct arena *arena, const char *einsum, struct shape *shape)
{
	shape->name = "line";
	for (; *einsum != ','; einsum += strspn(einsum, " ="))
		take_space(arena, &einsum, shape);
	for (einsum += strspn(einsum, ", "); *einsum; einsum += strspn(einsum, " ")) {
		struct loop *dimension =
			&shape->dimensions[find_dimension(shape, take_name(arena, &einsum))];
		char *rest;
		dimension->extent = strtoll(einsum + 1, &rest, 10);
		einsum = rest;
	}
	shape_finish(shape);
}

struct nest_case *nest_line(
	struct arena *arena, const char *levels, const char *einsum, const char *mapping)
{
	struct nest_case *nest = arena_new(arena, struct nest_case);
	const struct arch *arch = level_path(arena, levels, false);
	struct diag *diag = diag_open(arena);
	take_shape(arena, einsum, &nest->shape);
	const struct hierarchy *hierarchy = hierarchy_make(arena, arch, &nest->shape, diag);
	if (!hierarchy)
		BUG("%s: %s", levels, complaints_text(arena, diag));
	nest->hierarchy = *hierarchy;
	const char *why = nest_mapping_parse(arena, arch, &nest->shape, mapping, &nest->mapping);
	if (why)
		BUG("%s: %s", mapping, why);
	return nest;
}

struct nest_level *nest_line_level(struct nest_case *nest, const char *level)
{
	for (int i = 0; i < nest->hierarchy.level_count; i++) {
		if (text_equal(nest->hierarchy.levels[i].name, level))
			return &nest->hierarchy.levels[i];
	}
	BUG("no level '%s'", level);
}

uint8_t nest_line_space(const struct nest_case *nest, const char *space)
{
	return (uint8_t)(1 << shape_space(&nest->shape, space));
}

void nest_line_flag(struct nest_case *nest, const char *flag)
{
	char words[3][40];
	if (sscanf(flag, "%39s %39s %39s", words[0], words[1], words[2]) != 3)
		BUG("'%s' is not a level, flag and dataspace", flag);
	struct nest_level *level = nest_line_level(nest, words[0]);
	uint8_t bit = nest_line_space(nest, words[2]);
	const struct {
		const char *name;
		uint8_t *bits;
	} flags[] = {
		{"no_temporal_reuse", &level->no_temporal_reuse},
		{"rmw_first_update", &level->rmw_first_update},
		{"no_coalesce", &level->no_coalesce},
		{"no_spatial_reuse", &level->no_spatial_reuse},
		{"no_link_transfer", &level->no_link_transfer},
	};
	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
		if (text_equal(flags[i].name, words[1])) {
			*flags[i].bits |= bit;
			return;
		}
	}
	BUG("no flag '%s'", words[1]);
}

const char *nest_line_counts(
	struct arena *arena, const struct nest_case *nest, const struct nest_counts *counts)
{
	struct text text = text_open(arena);
	for (int i = nest->hierarchy.level_count - 1; i >= 0; i--) {
		const struct nest_level *level = &nest->hierarchy.levels[i];
		if (!level->storage)
			continue;
		text_add(&text, "%s%s", text.length ? "; " : "", level->name);
		for (int t = 0; t < nest->shape.space_count; t++) {
			const struct nest_count *count = &counts->at[i][t];
			text_add(&text, " %s %" PRId64 "/%" PRId64 "/%" PRId64,
				nest->shape.spaces[t].name, count->reads, count->fills,
				count->updates);
			if (count->links)
				text_add(&text, "+%" PRId64, count->links);
		}
	}
	return text_read(&text);
}
