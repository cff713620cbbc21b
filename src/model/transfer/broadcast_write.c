#include "base/text.h"
#include "model/transfer/broadcast.h"
#include "spec/quote.h"

#include <inttypes.h>
#include <string.h>

static void add_list(struct text *text, const char *before, const int64_t *at, size_t count)
{
	text_add(text, "%s[", before);
	for (size_t i = 0; i < count; i++)
		text_add(text, "%s%" PRId64, i ? ", " : "", at[i]);
	text_add(text, "]");
}

static void add_ratio(struct text *text, const char *before, struct ratio ratio)
{
	text_add(text, "%s%" PRId64, before, ratio.num);
	if (ratio.num && ratio.den != 1)
		text_add(text, "/%" PRId64, ratio.den);
}

static void add_speed(struct text *text, const char *before, const struct copy_speed *speed)
{
	add_ratio(text, before, speed->latency);
	if (speed->rate.num)
		add_ratio(text, ", bandwidth: ", speed->rate);
	text_add(text, "}\n");
}

static void add_tensor(struct text *text, const struct rank_tensor *tensor)
{
	add_list(text, "strides: ", tensor->stride, BROADCAST_RANK);
	text_add(text, ", layout: %s}\n", tensor_layout_names[tensor->layout]);
}

static void add_tiles(struct text *text, const struct broadcast *b)
{
	const struct staging_tile *tile = &b->tile;
	const char *fixed = tile->static_rows   ? tile->static_cols ? "rows, cols" : "rows"
			    : tile->static_cols ? "cols"
						: "";
	text_add(text,
		"  tile: {rows: %" PRId64 ", cols: %" PRId64 ", valid_rows: %" PRId64
		", valid_cols: %" PRId64 ", static: [%s]}\n  staging: %" PRId64 "\n",
		tile->rows, tile->cols, tile->valid_rows, tile->valid_cols, fixed, b->staging);
	add_list(text, "  offsets: ", b->offsets, b->offset_count);
	text_add(text, "\n  order: %s\n", chunk_order_names[b->order]);
}

static void add_handshake(struct text *text, const struct handshake *handshake)
{
	if (handshake->notifies)
		text_add(text, "  notify: {op: %s, value: %" PRId64 "}\n",
			notify_op_names[handshake->op], handshake->value);
	if (handshake->waits)
		text_add(text, "  wait: {cmp: %s, value: %" PRId64 "}\n",
			wait_cmp_names[handshake->cmp], handshake->wanted);
}

const char *broadcast_write(struct arena *arena, const struct broadcast *b)
{
	const struct copying *copying = &b->copying;
	struct text text = text_open(arena);
	text_add(&text, "broadcast:\n  name: ");
	quote_yaml(&text, b->name);
	text_add(&text, "\n  op: '%s'\n  root: %" PRId64 "\n  compat: %s\n",
		broadcast_line(arena, b), b->root, compat_names[b->compat]);
	text_add(&text, "  source: {");
	add_tensor(&text, &b->source);
	text_add(&text, "  destinations: {");
	add_tensor(&text, &b->destinations[0]);
	if (operation_is_pair(b->operation))
		text_add(&text, "  ranks: %" PRId64 "\n  peer: %" PRId64 "\n", b->ranks, b->peer);
	if (b->adds)
		text_add(&text, "  atomic: add\n");
	add_handshake(&text, &b->handshake);
	if (b->algorithm)
		text_add(&text, "  algorithm: %s\n  segments: %" PRId64 "\n", b->algorithm,
			b->segments);
	add_tiles(&text, b);
	add_speed(&text, "  copy_in: {latency: ", &copying->in);
	add_speed(&text, "  copy_out: {latency: ", &copying->out);
	add_speed(&text, "  combine: {latency: ", &copying->combine);
	add_ratio(&text, "  copy_sync: ", copying->sync);
	text_add(&text, "\n  links: {topology: %s, ports: %s, ", topology_names[copying->topology],
		port_count_names[copying->ports]);
	if (copying->channels > 1)
		text_add(&text, "channels: %d, ", copying->channels);
	if (b->columns)
		text_add(&text, "dims: [%" PRId64 ", %d], ", b->ranks / b->columns, b->columns);
	add_speed(&text, "latency: ", &copying->link);
	return text_read(&text);
}
