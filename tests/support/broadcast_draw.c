#include "tests/support/broadcast_draw.h"

#include "base/arena.h"
#include "base/text.h"
#include "model/transfer/broadcast.h"

#include <inttypes.h>

struct draw {
	struct arena *arena;
	struct random *random;
};

static int64_t pick(struct draw *draw, int64_t least, int64_t most)
{
	return least + (int64_t)random_below(draw->random, (uint64_t)(most - least + 1));
}

static bool chance(struct draw *draw, int64_t in)
{
	return pick(draw, 1, in) == 1;
}

static void add_list(struct text *text, const char *key, const int64_t *at, int count)
{
	text_add(text, "  %s: [", key);
	for (int i = 0; i < count; i++)
		text_add(text, "%s%" PRId64, i ? ", " : "", at[i]);
	text_add(text, "]\n");
}

/* Rows with gaps between them, or planes in another order. */
static void draw_strides(struct draw *draw, const int64_t *shape, int64_t *stride)
{
	int order[] = {4, 3, 2, 1, 0};
	int64_t below = 1;
	if (chance(draw, 3)) {
		int a = (int)pick(draw, 0, 4), b = (int)pick(draw, 0, 4), kept = order[a];
		order[a] = order[b];
		order[b] = kept;
	}
	for (int i = 0; i < BROADCAST_RANK; i++) {
		stride[order[i]] = below;
		below *= number_max(shape[order[i]], 1) + (chance(draw, 3) ? pick(draw, 0, 3) : 0);
	}
}

static void add_speed(struct draw *draw, struct text *text, const char *key)
{
	static const char *const rates[] = {"8", "16", "128", "58.6", "7/3", "1.5"};
	text_add(text, "  %s: {latency: %s, ", key,
		chance(draw, 3)   ? "0"
		: chance(draw, 2) ? "12.5"
				  : "100");
	text_add(text, "bandwidth: %s}\n", rates[pick(draw, 0, 5)]);
}

static void add_links(struct draw *draw, struct text *text, int64_t ranks, bool pulls)
{
	int kind = (int)pick(draw, 0, TOPOLOGY_COUNT - 1);
	if (pulls && kind == TOPOLOGY_ROOT_ONLY)
		kind = TOPOLOGY_FULL; /* a pull needs links to the root */
	text_add(text, "  links: {topology: %s, ports: %s, latency: %" PRId64 ", bandwidth: %s",
		topology_names[kind], chance(draw, 2) ? "one" : "all",
		chance(draw, 2) ? 0 : pick(draw, 1, 40), chance(draw, 2) ? "16" : "3.2");
	if (kind == TOPOLOGY_MESH) {
		int64_t rows = ranks % 2 == 0 && chance(draw, 2) ? 2 : 1;
		text_add(text, ", dims: [%" PRId64 ", %" PRId64 "]", rows, ranks / rows);
	}
	text_add(text, "}\n");
}

/* A notice, and a wait for as many of them as come. */
static void add_handshake(struct draw *draw, struct text *text, int64_t notices)
{
	static const char *const exact[] = {"eq", "ge"};
	if (notices == 1 && chance(draw, 2))
		text_add(text, "  notify: {op: set, value: 7}\n  wait: {cmp: %s, value: 7}\n",
			exact[pick(draw, 0, 1)]);
	else if (chance(draw, 2))
		text_add(text,
			"  notify: {op: add, value: 3}\n  wait: {cmp: %s, value: %" PRId64 "}\n",
			exact[pick(draw, 0, 1)], 3 * notices);
	else
		text_add(text,
			"  notify: {op: add, value: -2}\n  wait: {cmp: lt, value: %" PRId64 "}\n",
			1 - 2 * notices);
}

static void add_operation(
	struct draw *draw, struct text *text, enum operation operation, int64_t ranks)
{
	bool pulls = operation_pulls(operation);
	text_add(text, "  operation: %s\n", operation_names[operation]);
	if (operation_is_pair(operation))
		text_add(text, "  peer: %" PRId64 "\n", pick(draw, 0, ranks - 1));
	if (operation == OPERATION_PUT && chance(draw, 2))
		text_add(text, "  atomic: add\n");
	if (operation == OPERATION_REDUCE)
		text_add(text, "  reduction: %s\n", reduction_names[pick(draw, 0, 2)]);
	if (chance(draw, 3))
		add_handshake(draw, text,
			pulls && !operation_is_pair(operation) ? number_max(ranks - 1, 1) : 1);
}

const char *broadcast_draw(struct arena *arena, struct random *random, int64_t alignment)
{
	struct draw *draw = &(struct draw){arena, random};
	struct text text = text_open(draw->arena);
	int64_t shape[BROADCAST_RANK], stride[BROADCAST_RANK], offsets[8];
	enum operation operation = chance(draw, 2)
					   ? OPERATION_BROADCAST
					   : (enum operation)pick(draw, 1, OPERATION_COUNT - 1);
	enum element element = (enum element)pick(draw, 0, ELEMENT_COUNT - 1);
	int64_t bytes = element_bytes(element), unit = number_max(1, alignment / bytes);
	int64_t ranks = pick(draw, 1, 5);
	for (int d = 0; d < BROADCAST_RANK; d++)
		shape[d] = d < 3 ? pick(draw, 1, chance(draw, 2) ? 3 : 1) : pick(draw, 1, 40);
	if (chance(draw, 40))
		shape[pick(draw, 0, 4)] = 0;
	int64_t rows = pick(draw, 1, 16), cols = unit * pick(draw, 1, 96 / bytes / unit);
	int64_t valid_rows = chance(draw, 3) ? pick(draw, 1, rows) : rows;
	int64_t valid_cols = chance(draw, 3) ? pick(draw, 1, cols) : cols;
	int64_t staging = pick(draw, 1, 4), tile = rows * cols * bytes, at = 0;
	text_add(&text, "broadcast:\n  dtype: %s\n", element_names[element]);
	add_list(&text, "shape", shape, BROADCAST_RANK);
	text_add(&text, "  ranks: %" PRId64 "\n  root: %" PRId64 "\n", ranks,
		pick(draw, 0, ranks - 1));
	add_operation(draw, &text, operation, ranks);
	shape[3] *= operation == OPERATION_SCATTER ? ranks : 1;
	draw_strides(draw, shape, stride);
	add_list(&text, "source:\n    strides", stride, BROADCAST_RANK);
	shape[3] /= operation == OPERATION_SCATTER ? ranks : 1;
	shape[3] *= operation == OPERATION_GATHER ? ranks : 1;
	draw_strides(draw, shape, stride);
	shape[3] /= operation == OPERATION_GATHER ? ranks : 1;
	add_list(&text, "destinations:\n    strides", stride, BROADCAST_RANK);
	text_add(&text,
		"  tile: {rows: %" PRId64 ", cols: %" PRId64 ", valid_rows: %" PRId64
		", valid_cols: %" PRId64 "%s}\n  staging: %" PRId64 "\n",
		rows, cols, valid_rows, valid_cols,
		shape[3] % valid_rows == 0 && chance(draw, 2) ? ", static: rows" : "", staging);
	int64_t tiles = staging + (operation == OPERATION_REDUCE);
	for (int64_t t = tiles - 1; t >= 0; t--, at += tile + alignment * pick(draw, 0, 2))
		offsets[t] = at;
	add_list(&text, "offsets", offsets, (int)tiles);
	add_speed(draw, &text, "copy_in");
	add_speed(draw, &text, "copy_out");
	if (operation == OPERATION_REDUCE)
		add_speed(draw, &text, "combine");
	add_links(draw, &text, ranks, operation_pulls(operation));
	if (chance(draw, 2))
		text_add(&text, "  copy_sync: %" PRId64 "\n", pick(draw, 0, 30));
	return text_read(&text);
}
