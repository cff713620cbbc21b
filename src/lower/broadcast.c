#include "lower/broadcast.h"

#include "base/arena.h"

#include <string.h>

static int64_t chunks_of(const struct broadcast *b)
{
	const int64_t *shape = b->source.shape;
	switch (broadcast_path(b)) {
	case PATH_EMPTY:
		return 0;
	case PATH_SINGLE_RANK:
	case PATH_SINGLE_TILE:
		return 1;
	case PATH_CHUNKED:
		break;
	}
	int64_t count = number_ceil_div(shape[3], b->tile.valid_rows);
	if (!number_mul(count, number_ceil_div(shape[4], b->tile.valid_cols), &count))
		return INT64_MAX;
	for (int d = 0; d < 3; d++)
		if (!number_mul(count, shape[d], &count))
			return INT64_MAX;
	return count;
}

const struct chunk *broadcast_chunks(
	const struct broadcast *broadcast, int64_t most, struct arena *arena, int64_t *count)
{
	const int64_t *shape = broadcast->source.shape;
	int64_t rows = broadcast->tile.valid_rows, cols = broadcast->tile.valid_cols;
	*count = chunks_of(broadcast);
	if (*count > most)
		return NULL;
	struct chunk *chunks = arena_array(arena, struct chunk, *count + 1), *chunk = chunks;
	if (*count == 1 && broadcast_path(broadcast) != PATH_CHUNKED) {
		memcpy(chunk->count, shape, sizeof chunk->count);
		return chunks;
	}
	for (int64_t i = 0; i < *count; chunk++, i++) {
		int64_t rest = i, across = number_ceil_div(shape[4], cols);
		int64_t down = number_ceil_div(shape[3], rows);
		int64_t *at = chunk->at;
		*chunk = (struct chunk){.count = {1, 1, 1, rows, cols}};
		at[4] = rest % across * cols;
		rest /= across;
		at[3] = rest % down * rows;
		rest /= down;
		for (int d = 2; d >= 0; rest /= shape[d], d--)
			at[d] = rest % shape[d];
		for (int d = 3; d < BROADCAST_RANK; d++)
			chunk->count[d] = number_min(chunk->count[d], shape[d] - at[d]);
	}
	return chunks;
}

/* A stream while it is written. */
struct writer {
	struct copy_instruction *at;
	size_t count;
};

static void write(struct writer *writer, struct copy_instruction instruction)
{
	writer->at[writer->count++] = instruction;
}

static void write_flag(struct writer *writer, enum copy_kind kind, int flag)
{
	write(writer, (struct copy_instruction){.kind = kind, .flag = flag});
}

enum { FULL, FREE, FLAGS_OF_TILE };

static int flag_of(int64_t tile, int which)
{
	return (int)tile * FLAGS_OF_TILE + which;
}

/* One tile: a flag after each store, all waited for at the end. */
static void write_once(const struct broadcast *b, struct writer *in, struct writer *out)
{
	write(in, (struct copy_instruction){.kind = COPY_LOAD});
	write_flag(in, COPY_SET, flag_of(0, FULL));
	write_flag(out, COPY_WAIT, flag_of(0, FULL));
	for (int r = 0; r < b->ranks; r++) {
		write(out, (struct copy_instruction){.kind = COPY_STORE, .buffer = 1 + r});
		write_flag(out, COPY_SET, flag_of(0, FREE));
		write_flag(in, COPY_WAIT, flag_of(0, FREE));
	}
}

static void write_chunks(const struct broadcast *b, const int64_t *order, int64_t count,
	struct writer *in, struct writer *out)
{
	int64_t staging = b->staging;
	for (int64_t i = 0; i < count; i++) {
		int64_t chunk = order ? order[i] : i, tile = i % staging;
		if (i >= staging)
			write_flag(in, COPY_WAIT, flag_of(tile, FREE));
		write(in, (struct copy_instruction){
				  .kind = COPY_LOAD, .tile = (int)tile, .chunk = chunk});
		write_flag(in, COPY_SET, flag_of(tile, FULL));
		write_flag(out, COPY_WAIT, flag_of(tile, FULL));
		for (int r = 0; r < b->ranks; r++)
			write(out, (struct copy_instruction){.kind = COPY_STORE,
					   .buffer = 1 + r,
					   .tile = (int)tile,
					   .chunk = chunk});
		write_flag(out, COPY_SET, flag_of(tile, FREE));
	}
	for (int64_t i = number_max(0, count - staging); i < count; i++)
		write_flag(in, COPY_WAIT, flag_of(i % staging, FREE));
}

static const struct copy_buffer *list_buffers(const struct broadcast *b, struct arena *arena)
{
	struct copy_buffer *buffers = arena_array(arena, struct copy_buffer, 1 + b->ranks);
	const struct rank_tensor *destination = &b->destinations[0];
	buffers[0] = (struct copy_buffer){.rank = (int)b->root, .name = "src"};
	memcpy(buffers[0].shape, b->source.shape, sizeof buffers[0].shape);
	memcpy(buffers[0].stride, b->source.stride, sizeof buffers[0].stride);
	for (int r = 0; r < b->ranks; r++) {
		struct copy_buffer *buffer = &buffers[1 + r];
		*buffer = (struct copy_buffer){.rank = r, .written = true, .name = "dst"};
		memcpy(buffer->shape, destination->shape, sizeof buffer->shape);
		memcpy(buffer->stride, destination->stride, sizeof buffer->stride);
	}
	return buffers;
}

static const struct copy_tile *list_tiles(const struct broadcast *b, struct arena *arena)
{
	struct copy_tile *tiles = arena_array(arena, struct copy_tile, b->staging);
	for (int64_t t = 0; t < b->staging; t++)
		tiles[t] = (struct copy_tile){
			.rank = (int)b->root,
			.offset = b->offsets[t],
			.pitch = b->tile.cols * element_bytes(b->tile.element),
			.size = broadcast_tile_bytes(b),
		};
	return tiles;
}

const struct copy_program *broadcast_lower(
	const struct broadcast *broadcast, const int64_t *order, int64_t most, struct arena *arena)
{
	int64_t count, per_chunk = broadcast->ranks + 5;
	const struct chunk *chunks = broadcast_chunks(broadcast, most / per_chunk, arena, &count);
	if (!chunks)
		return NULL;
	int64_t once = 2 * broadcast->ranks + 2;
	struct writer in = {
		arena_array(arena, struct copy_instruction, 3 * count + once + broadcast->staging),
		0};
	struct writer out = {
		arena_array(arena, struct copy_instruction, count * (broadcast->ranks + 2) + once),
		0};
	if (broadcast_path(broadcast) == PATH_CHUNKED)
		write_chunks(broadcast, order, count, &in, &out);
	else if (count)
		write_once(broadcast, &in, &out);
	struct copy_stream *streams = arena_array(arena, struct copy_stream, 2);
	streams[0] = (struct copy_stream){(int)broadcast->root, QUEUE_IN, in.count, in.at};
	streams[1] = (struct copy_stream){(int)broadcast->root, QUEUE_OUT, out.count, out.at};
	struct copy_program *program = arena_new(arena, struct copy_program);
	*program = (struct copy_program){
		.element = broadcast->source.element,
		.topology =
			topology_make(arena, broadcast->copying.topology, broadcast->copying.ports,
				(int)broadcast->ranks, (int)broadcast->root, broadcast->columns),
		.ticks = copying_ticks(&broadcast->copying),
		.flag_count = FLAGS_OF_TILE * (int)broadcast->staging,
		.buffer_count = 1 + (int)broadcast->ranks,
		.tile_count = count ? (int)broadcast->staging : 0,
		.buffers = list_buffers(broadcast, arena),
		.tiles = list_tiles(broadcast, arena),
		.chunk_count = count,
		.chunks = chunks,
		.stream_count = 2,
		.streams = streams,
	};
	return program;
}
