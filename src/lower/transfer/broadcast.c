#include "lower/transfer/broadcast.h"

#include "base/array.h"

#include <string.h>

const char *const copy_queue_names[] = {"in", "out", "vector"};

bool copy_moves(enum copy_kind kind)
{
	return kind == COPY_LOAD || kind == COPY_STORE || kind == COPY_COMBINE;
}

static int64_t chunks_of(const struct broadcast *b)
{
	const int64_t *shape = broadcast_block(b);
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
	const int64_t *shape = broadcast_block(broadcast);
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
	struct arena *arena;
	struct array(struct copy_instruction) list;
};

static void copy_writer_add(struct writer *writer, struct copy_instruction instruction)
{
	*array_add(writer->arena, &writer->list) = instruction;
}

static void write_flag(struct writer *writer, enum copy_kind kind, int flag)
{
	copy_writer_add(writer, (struct copy_instruction){.kind = kind, .flag = flag});
}

/* The program while it is written. */
struct copy_draft {
	const struct broadcast *broadcast;
	struct arena *arena;
	struct array(struct copy_stream) streams;
	struct array(struct copy_buffer) buffers;
	struct array(struct copy_tile) tiles;
	struct array(int) signals;
	int flags;
	int64_t chunks;
	const int64_t *order; /* NULL: as they are numbered */
};

static void end_stream(
	struct copy_draft *draft, int rank, enum copy_queue queue, const struct writer *writer)
{
	*array_add(draft->arena, &draft->streams) =
		(struct copy_stream){rank, queue, writer->list.count, writer->list.at};
}

/* So many tiles of a rank, at the same places everywhere; the number of the first. */
static int copy_draft_add_tiles(struct copy_draft *draft, int64_t rank, int64_t count)
{
	const struct broadcast *b = draft->broadcast;
	int first = (int)draft->tiles.count;
	for (int64_t t = 0; t < count; t++)
		*array_add(draft->arena, &draft->tiles) = (struct copy_tile){
			.rank = (int)rank,
			.offset = b->offsets[t],
			.pitch = b->tile.cols * element_bytes(b->tile.element),
			.size = broadcast_tile_bytes(b),
		};
	return first;
}

static void copy_draft_add_buffer(struct copy_draft *draft, int64_t rank,
	const struct rank_tensor *tensor, bool written, const char *name)
{
	struct copy_buffer *buffer = array_add(draft->arena, &draft->buffers);
	*buffer = (struct copy_buffer){.rank = (int)rank, .written = written, .name = name};
	memcpy(buffer->shape, tensor->shape, sizeof buffer->shape);
	memcpy(buffer->stride, tensor->stride, sizeof buffer->stride);
}

/* Chunks out of one buffer into others. */
struct copy_leg {
	int from, to, count; /* to, to + 1, .. */
	int64_t load_shift, store_shift;
};

static const struct copy_leg *list_legs(const struct copy_draft *draft, int64_t *count)
{
	const struct broadcast *b = draft->broadcast;
	bool pulls = operation_pulls(b->operation);
	*count = operation_splits(b->operation) ? b->ranks : 1;
	struct copy_leg *legs = arena_array(draft->arena, struct copy_leg, *count);
	for (int r = 0; r < *count; r++) {
		int64_t shift = r * broadcast_block(b)[3];
		legs[r] = (struct copy_leg){.from = pulls ? 1 + r : 0,
			.to = pulls ? 0 : 1 + r,
			.count = 1,
			.load_shift = pulls ? 0 : shift,
			.store_shift = pulls ? shift : 0};
	}
	if (b->operation == OPERATION_BROADCAST)
		legs[0].count = (int)b->ranks;
	return legs;
}

/* Two flags of each tile. */
enum { FULL, FREE, FLAGS_OF_TILE };

static void write_load(
	struct writer *in, const struct copy_leg *leg, int tile, int64_t chunk, int full)
{
	copy_writer_add(in, (struct copy_instruction){.kind = COPY_LOAD,
				    .buffer = leg->from,
				    .tile = tile,
				    .chunk = chunk,
				    .shift = leg->load_shift});
	write_flag(in, COPY_SET, full);
}

static void write_store(
	struct writer *out, const struct copy_leg *leg, int i, int tile, int64_t chunk)
{
	copy_writer_add(out, (struct copy_instruction){.kind = COPY_STORE,
				     .buffer = leg->to + i,
				     .tile = tile,
				     .chunk = chunk,
				     .shift = leg->store_shift});
}

/* One tile: a flag after each store, all waited for at the end. */
static void write_once(
	struct copy_draft *draft, const struct copy_leg *leg, struct writer *in, struct writer *out)
{
	int flags = draft->flags, tile = 0;
	draft->flags += FLAGS_OF_TILE;
	write_load(in, leg, tile, 0, flags + FULL);
	write_flag(out, COPY_WAIT, flags + FULL);
	for (int i = 0; i < leg->count; i++) {
		write_store(out, leg, i, tile, 0);
		write_flag(out, COPY_SET, flags + FREE);
		write_flag(in, COPY_WAIT, flags + FREE);
	}
}

/* The chunks of all legs, one after the other, through the tiles in turn. */
static void write_legs(struct copy_draft *draft, const struct copy_leg *legs, int64_t leg_count,
	int tiles, struct writer *in, struct writer *out)
{
	int64_t staging = draft->broadcast->staging, all = leg_count * draft->chunks;
	int flags = draft->flags;
	draft->flags += (int)staging * FLAGS_OF_TILE;
	for (int64_t i = 0; i < all; i++) {
		const struct copy_leg *leg = &legs[i / draft->chunks];
		int64_t turn = i % draft->chunks, chunk = draft->order ? draft->order[turn] : turn;
		int tile = tiles + (int)(i % staging);
		int full = flags + (int)(i % staging) * FLAGS_OF_TILE, free = full + FREE;
		if (i >= staging)
			write_flag(in, COPY_WAIT, free);
		write_load(in, leg, tile, chunk, full);
		write_flag(out, COPY_WAIT, full);
		for (int to = 0; to < leg->count; to++)
			write_store(out, leg, to, tile, chunk);
		write_flag(out, COPY_SET, free);
	}
	for (int64_t i = number_max(0, all - staging); i < all; i++)
		write_flag(in, COPY_WAIT, flags + (int)(i % staging) * FLAGS_OF_TILE + FREE);
}

/* The ranks of a reduction that come after the root's own block. */
static int other_rank(const struct broadcast *b, int64_t i)
{
	return (int)(i < b->root ? i : i + 1);
}

static void write_reduce(struct copy_draft *draft, int tiles, struct writer *in, struct writer *out,
	struct writer *vector)
{
	const struct broadcast *b = draft->broadcast;
	int64_t staging = b->staging, others = b->ranks - 1, turn = 0;
	int flags = draft->flags, done = flags + (int)staging * FLAGS_OF_TILE, stored = done + 1;
	const struct copy_leg result = {0};
	draft->flags = stored + 1;
	for (int64_t chunk = 0; chunk < draft->chunks; chunk++) {
		const struct copy_leg own = {.from = 1 + (int)b->root};
		if (chunk)
			write_flag(in, COPY_WAIT, stored);
		copy_writer_add(in, (struct copy_instruction){.kind = COPY_LOAD,
					    .buffer = own.from,
					    .tile = tiles,
					    .chunk = chunk});
		for (int64_t i = 0; i < others; i++, turn++) {
			const struct copy_leg leg = {.from = 1 + other_rank(b, i)};
			int slot = (int)(turn % staging), tile = tiles + 1 + slot;
			int full = flags + slot * FLAGS_OF_TILE, free = full + FREE;
			if (turn >= staging)
				write_flag(in, COPY_WAIT, free);
			write_load(in, &leg, tile, chunk, full);
			write_flag(vector, COPY_WAIT, full);
			copy_writer_add(vector, (struct copy_instruction){.kind = COPY_COMBINE,
							.tile = tiles,
							.other = tile,
							.chunk = chunk});
			write_flag(vector, COPY_SET, free);
		}
		write_flag(vector, COPY_SET, done);
		write_flag(out, COPY_WAIT, done);
		write_store(out, &result, 0, tiles, chunk);
		write_flag(out, COPY_SET, stored);
	}
	for (int64_t i = number_max(0, turn - staging); i < turn; i++)
		write_flag(in, COPY_WAIT, flags + (int)(i % staging) * FLAGS_OF_TILE + FREE);
	write_flag(in, COPY_WAIT, stored);
}

static bool shakes_hands(const struct broadcast *b)
{
	return (b->handshake.notifies || b->handshake.waits) && broadcast_notifiers(b) > 0;
}

static int64_t group_rank(const struct broadcast *b, int64_t i)
{
	return operation_is_pair(b->operation) ? b->peer : i;
}

static int64_t group_count(const struct broadcast *b)
{
	return operation_is_pair(b->operation) ? 1 : b->ranks;
}

/* The root notifies each rank, which then loads the data. */
static void write_readers(struct copy_draft *draft, struct writer *out)
{
	const struct broadcast *b = draft->broadcast;
	for (int64_t i = 0; i < group_count(b); i++) {
		int64_t rank = group_rank(b, i);
		struct writer in = {.arena = draft->arena};
		int signal = (int)draft->signals.count;
		if (rank == b->root)
			continue;
		*array_add(draft->arena, &draft->signals) = (int)rank;
		if (b->handshake.notifies)
			write_flag(out, COPY_NOTIFY, signal);
		if (b->handshake.waits)
			write_flag(&in, COPY_AWAIT, signal);
		int tile = copy_draft_add_tiles(draft, rank, 1);
		for (int64_t chunk = 0; chunk < draft->chunks; chunk++)
			copy_writer_add(&in, (struct copy_instruction){.kind = COPY_LOAD,
						     .buffer = 1 + (int)i,
						     .tile = tile,
						     .chunk = chunk});
		end_stream(draft, (int)rank, QUEUE_IN, &in);
	}
}

/* Each rank writes its block and notifies the root. */
static void write_writers(struct copy_draft *draft)
{
	const struct broadcast *b = draft->broadcast;
	*array_add(draft->arena, &draft->signals) = (int)b->root;
	for (int64_t i = 0; i < group_count(b); i++) {
		int64_t rank = group_rank(b, i);
		struct writer in = {.arena = draft->arena}, out = in;
		if (rank == b->root)
			continue;
		struct copy_leg leg = {
			.from = (int)draft->buffers.count, .to = 1 + (int)i, .count = 1};
		copy_draft_add_buffer(draft, rank, &b->source, false, "block");
		write_legs(
			draft, &leg, 1, copy_draft_add_tiles(draft, rank, b->staging), &in, &out);
		if (b->handshake.notifies)
			write_flag(&out, COPY_NOTIFY, 0);
		end_stream(draft, (int)rank, QUEUE_IN, &in);
		end_stream(draft, (int)rank, QUEUE_OUT, &out);
	}
}

static void list_buffers(struct copy_draft *draft)
{
	const struct broadcast *b = draft->broadcast;
	bool pulls = operation_pulls(b->operation), hands = shakes_hands(b);
	struct rank_tensor own = *broadcast_own(b);
	size_t count;
	const struct rank_tensor *group = broadcast_group(b, &count);
	if (b->operation == OPERATION_GATHER)
		own.shape[3] = b->ranks * broadcast_block(b)[3];
	copy_draft_add_buffer(draft, b->root, &own, pulls, pulls ? "dst" : "src");
	for (int64_t i = 0; i < group_count(b); i++) {
		int64_t rank = group_rank(b, i);
		copy_draft_add_buffer(draft, rank, group, !pulls || (hands && rank != b->root),
			pulls ? "src" : "dst");
		draft->buffers.at[1 + i].adds = b->adds;
	}
}

static void write_root(struct copy_draft *draft, int tiles)
{
	const struct broadcast *b = draft->broadcast;
	struct writer in = {.arena = draft->arena}, out = in, vector = in;
	bool pulls = operation_pulls(b->operation);
	int64_t leg_count;
	const struct copy_leg *legs = list_legs(draft, &leg_count);
	if (pulls && shakes_hands(b) && b->handshake.waits)
		write_flag(&in, COPY_AWAIT, 0);
	if (b->operation == OPERATION_REDUCE && b->ranks > 1)
		write_reduce(draft, tiles, &in, &out, &vector);
	else if (b->operation == OPERATION_BROADCAST && broadcast_path(b) != PATH_CHUNKED)
		write_once(draft, legs, &in, &out);
	else
		write_legs(draft, legs, leg_count, tiles, &in, &out);
	if (!pulls && shakes_hands(b))
		write_readers(draft, &out);
	end_stream(draft, (int)b->root, QUEUE_IN, &in);
	end_stream(draft, (int)b->root, QUEUE_OUT, &out);
	if (vector.list.count)
		end_stream(draft, (int)b->root, QUEUE_VECTOR, &vector);
}

const struct copy_program *broadcast_lower(
	const struct broadcast *broadcast, const int64_t *order, int64_t most, struct arena *arena)
{
	struct copy_draft draft = {.broadcast = broadcast, .arena = arena, .order = order};
	const struct chunk *chunks = broadcast_chunks(
		broadcast, most / (3 * broadcast->ranks + 5), arena, &draft.chunks);
	if (!chunks)
		return NULL;
	list_buffers(&draft);
	if (draft.chunks) {
		int tiles =
			copy_draft_add_tiles(&draft, broadcast->root, broadcast_tiles(broadcast));
		if (operation_pulls(broadcast->operation) && shakes_hands(broadcast))
			write_writers(&draft);
		write_root(&draft, tiles);
	}
	struct copy_program *program = arena_new(arena, struct copy_program);
	*program = (struct copy_program){
		.element = broadcast->source.element,
		.topology = topology_of(arena, &broadcast->copying, (int)broadcast->ranks,
			(int)broadcast->root, broadcast->columns),
		.ticks = copying_ticks(&broadcast->copying),
		.reduction = broadcast->reduction,
		.broadcast = broadcast,
		.handshake = draft.signals.count ? &broadcast->handshake : NULL,
		.flag_count = draft.flags,
		.buffer_count = (int)draft.buffers.count,
		.tile_count = (int)draft.tiles.count,
		.signal_count = (int)draft.signals.count,
		.signals = draft.signals.at,
		.buffers = draft.buffers.at,
		.tiles = draft.tiles.at,
		.chunk_count = draft.chunks,
		.chunks = chunks,
		.stream_count = draft.streams.count,
		.streams = draft.streams.at,
	};
	return program;
}
