#include "model/recurrence/space_time_read.h"

#include "base/arena.h"
#include "base/text.h"

/* Streams by name, as bits. */
static bool node_streams(const struct reading *reading, const struct node *list, const char *key,
	const struct recurrence *recurrence, uint32_t *out)
{
	size_t count = !list ? 0 : list->kind == NODE_LIST ? list->count : 1;
	bool good = true;
	for (size_t i = 0; i < count; i++) {
		const char *name = NULL, *known[RECURRENCE_STREAMS_MOST + 1] = {0};
		const struct node *item = node_item(list, i);
		if (!node_text(reading, item, key, &name)) {
			good = false;
			continue;
		}
		for (int k = 0; k < recurrence->stream_count; k++)
			known[k] = recurrence->streams[k].name;
		int stream = recurrence_stream_named(recurrence, name);
		if (stream >= 0) {
			*out |= UINT32_C(1) << stream;
			continue;
		}
		good = reading_refuse(reading, item, "'%s' is no stream%s", name,
			suggestion(reading->arena, suggest(name, known), ""));
	}
	return good;
}

bool space_time_streams(
	struct reader *map, const char *key, const struct recurrence *recurrence, uint32_t *out)
{
	return node_streams(map->reading, read_node(map, key, OPTIONAL), key, recurrence, out);
}

static int row_count(const struct space_time *spec)
{
	return spec->has_space ? spec->projection.space_count : spec->space_rows;
}

/* A row of space by name; -1 after complaining. */
static int find_row(const struct reading *reading, struct span span, const char *name,
	const struct space_time *spec)
{
	const char *known[RECURRENCE_LOOPS_MOST + 1] = {0};
	struct text all = text_open(reading->arena);
	for (int r = 0; r < row_count(spec); r++) {
		known[r] = spec->projection.space_names[r];
		text_add(&all, "%s%s", r ? ", " : "", known[r]);
		if (text_equal(known[r], name))
			return r;
	}
	const char *near = suggest(name, known);
	diag_error(reading->diag, span,
		near ? "'%s' is no row of space; did you mean '%s'?"
		     : "'%s' is no row of space; there are: %s",
		name, near ? near : text_read(&all));
	return -1;
}

/* Rows of the array that hand nothing on in one way. */
struct ban {
	const char *key, *older;
	size_t at; /* of the streams by row, in struct space_time */
};

static const struct ban bans[] = {
	{"no_link_transfer", "no_link_transfer", offsetof(struct space_time, no_links)},
	{"no_reuse", "no_multicast_no_reduction", offsetof(struct space_time, no_wires)},
};

enum { BANS = sizeof bans / sizeof *bans };

static uint32_t *banned(const struct ban *ban, struct space_time *spec)
{
	return (uint32_t *)((char *)spec + ban->at);
}

/* `[A]`: along all rows; `{p1: [A]}`. */
static void read_ban(struct reader *map, const struct ban *ban, struct space_time *out)
{
	const struct reading *reading = map->reading;
	const struct node *node = read_node(map, ban->key, OPTIONAL);
	uint32_t all = 0;
	if (!node)
		node = read_node(map, ban->older, OPTIONAL);
	if (!node)
		return;
	for (size_t i = 0; node->kind == NODE_MAP && i < node->count; i++) {
		const struct node_entry *entry = &node->entries[i];
		int row = find_row(reading, entry->key_span, entry->key, out);
		if (row >= 0)
			node_streams(reading, entry->value, ban->key, &out->recurrence,
				&banned(ban, out)[row]);
	}
	if (node->kind == NODE_MAP ||
		!node_streams(reading, node, ban->key, &out->recurrence, &all))
		return;
	for (int r = 0; r < row_count(out); r++)
		banned(ban, out)[r] |= all;
}

/* The kinds that a target of constraints may have, in the map that states them. */
static void read_kinds(
	struct reader *map, const char *name, const struct node *target, struct space_time *out)
{
	int row = target ? find_row(map->reading, target->span, name, out) : -1;
	for (int k = 0; k < BANS; k++)
		for (int older = 0; older < 2; older++) {
			const char *key = older ? bans[k].older : bans[k].key;
			const struct node *node = read_node(map, key, OPTIONAL);
			if (node && row >= 0)
				node_streams(map->reading, node, key, &out->recurrence,
					&banned(&bans[k], out)[row]);
		}
}

/* {target: p1, type: spatial, constraints: {no_link_transfer: [A]}}, or the kinds beside the
 * type, or under `constraints: {spatial: ..}` without one. */
static void read_target(
	const struct reading *reading, const struct node *node, struct space_time *out)
{
	static const char *const types[] = {"spatial", NULL};
	struct reader map, inner, spatial;
	const char *name = NULL;
	int type = 0;
	if (!reader_open(&map, reading, node, "constraint"))
		return;
	const struct node *target = read_node(&map, "target", REQUIRED);
	if (!target || !node_text(reading, target, "target", &name))
		return;
	const struct node *nested = read_map(&map, "constraints", OPTIONAL);
	if (node_find(node, "type") && !read_word(&map, "type", OPTIONAL, types, &type))
		return;
	if (!nested) {
		read_kinds(&map, name, target, out);
	} else if (reader_open(&inner, reading, nested, "constraint")) {
		const struct node *group = read_map(&inner, "spatial", OPTIONAL);
		if (group && reader_open(&spatial, reading, group, "constraint")) {
			read_kinds(&spatial, name, target, out);
			reader_done(&spatial);
		}
		if (!group)
			read_kinds(&inner, name, target, out);
		reader_done(&inner);
	}
	reader_done(&map);
}

/* `lanes: 16`: the last row of space; `lanes: {k: 16}`. */
static void read_lanes(struct reader *map, struct space_time *out)
{
	const struct reading *reading = map->reading;
	const struct node *node = read_node(map, "lanes", OPTIONAL);
	int64_t *lanes = out->projection.lanes;
	int rows = row_count(out);
	if (!node)
		return;
	if (!rows) {
		reading_refuse(reading, node, "the allocation has no row that could be lanes");
		return;
	}
	if (node->kind != NODE_MAP) {
		node_integer(reading, node, "lanes", 1, RECURRENCE_EXTENT_MOST, &lanes[rows - 1]);
		return;
	}
	for (size_t i = 0; i < node->count; i++) {
		const struct node_entry *entry = &node->entries[i];
		int row = find_row(reading, entry->key_span, entry->key, out);
		if (row >= 0)
			node_integer(reading, entry->value, entry->key, 1, RECURRENCE_EXTENT_MOST,
				&lanes[row]);
	}
}

void space_time_limits(
	struct reader *map, const struct node *const *targets, struct space_time *out)
{
	const struct reading *reading = map->reading;
	read_integer(map, "reach", OPTIONAL, 0, PROJECTION_ENTRY_MOST, &out->reach);
	space_time_streams(map, "stays", &out->recurrence, &out->stays);
	const struct node *array = read_list(map, "array", OPTIONAL);
	if (array && array->count <= RECURRENCE_LOOPS_MOST)
		space_time_vector(reading, array, "'array'", (int)array->count, 1,
			RECURRENCE_EXTENT_MOST, out->array);
	else if (array)
		reading_refuse(reading, array, "'array' has at most 8 sizes");
	for (int k = 0; k < BANS; k++)
		read_ban(map, &bans[k], out);
	for (int i = 0; targets && targets[i]; i++)
		read_target(reading, targets[i], out);
	space_time_streams(map, "shuffle", &out->recurrence, &out->projection.shuffles);
	read_lanes(map, out);
}

void space_time_skip_limits(struct reader *map)
{
	static const char *const keys[] = {"reach", "stays", "array", "shuffle", "lanes"};
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		read_node(map, keys[i], OPTIONAL);
	for (int k = 0; k < BANS; k++) {
		read_node(map, bans[k].key, OPTIONAL);
		read_node(map, bans[k].older, OPTIONAL);
	}
}
