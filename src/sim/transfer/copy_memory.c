#include "base/arena.h"
#include "base/random.h"
#include "model/machine/score.h"
#include "sim/transfer/copy.h"
#include "sim/transfer/copy_state.h"

#include <inttypes.h>
#include <string.h>

/*
 * A scratchpad is looked at in units: rows of tiles are whole numbers of them, so that no two tiles
 * share one.  A mark of each may have a reader in every queue of its rank.
 */
enum {
	UNIT_BYTES_MOST = 32,
	MARK_BYTES_MOST = sizeof(struct race_mark) + 8 * QUEUE_COUNT,
};

/* The bytes of a scratchpad, or of a buffer with its elements at their places. */
struct held_bytes {
	int64_t bytes;
	uint8_t *at;
	bool *filled; /* by byte of a scratchpad, element of a buffer */
	struct race_mark *
		marks; /* by unit of a scratchpad, element of a buffer: with readers where stores add */
	uint8_t *given; /* of a buffer where stores add: what it held at first */
};

struct copy_memory {
	int element;
	int64_t unit;              /* bytes */
	struct held_bytes *pads;   /* by rank */
	struct held_bytes *places; /* by buffer */
};

static int64_t copy_buffer_reach(const struct copy_buffer *buffer)
{
	int64_t last = 0, step;
	for (int d = 0; d < BROADCAST_RANK; d++) {
		if (!buffer->shape[d])
			return 0;
		if (!number_mul(buffer->shape[d] - 1, buffer->stride[d], &step) ||
			!number_add(last, step, &last))
			return INT64_MAX;
	}
	return last + 1;
}

/* Coordinates of the row-major i-th element of a box. */
static void copy_memory_unravel(
	const int64_t count[BROADCAST_RANK], int64_t i, int64_t at[BROADCAST_RANK])
{
	for (int d = BROADCAST_RANK - 1; d >= 0; d--) {
		at[d] = i % count[d];
		i /= count[d];
	}
}

static int64_t copy_buffer_place(const struct copy_buffer *buffer, const int64_t at[BROADCAST_RANK])
{
	int64_t place = 0;
	for (int d = 0; d < BROADCAST_RANK; d++)
		place += at[d] * buffer->stride[d];
	return place;
}

static int64_t elements_of(const struct copy_buffer *buffer)
{
	int64_t elements = 0;
	broadcast_elements(buffer->shape, &elements);
	return elements;
}

/* The largest power of two that divides where all rows of tiles begin. */
static int64_t copy_program_find_unit(const struct copy_program *program)
{
	int64_t bits = UNIT_BYTES_MOST;
	for (int t = 0; t < program->tile_count; t++)
		bits |= program->tiles[t].offset | program->tiles[t].pitch;
	return bits & -bits;
}

static bool copies_fit(const struct copy_run *run)
{
	int64_t most = run->options->bytes_most ? run->options->bytes_most : EXECUTION_BYTES_MOST;
	int64_t total = 0;
	int64_t each = element_bytes(run->program->element) + 1 + (int64_t)sizeof(struct race_mark);
	for (int b = 0; b < run->program->buffer_count; b++) {
		int64_t bytes;
		if (!number_mul(copy_buffer_reach(&run->program->buffers[b]), each, &bytes) ||
			!number_add(total, bytes, &total))
			return false;
	}
	/* more than a byte of a scratchpad takes with its flag and its part of a unit */
	each = 3 + MARK_BYTES_MOST / copy_program_find_unit(run->program);
	for (int t = 0; t < run->program->tile_count; t++) {
		const struct copy_tile *tile = &run->program->tiles[t];
		if (tile->offset > most / each || tile->size > most / each ||
			!number_add(total, each * (tile->offset + tile->size), &total))
			return false;
	}
	return total <= most;
}

static void open_bytes(struct arena *arena, struct held_bytes *held, int64_t parts, int64_t marks)
{
	held->at = arena_alloc(arena, (size_t)held->bytes);
	held->filled = arena_array(arena, bool, parts);
	held->marks = arena_array(arena, struct race_mark, marks);
}

/* Draws the elements of a buffer. */
static void copy_run_fill(struct copy_run *run, int b, struct held_bytes *place)
{
	const struct copy_buffer *buffer = &run->program->buffers[b];
	struct random random = random_open(run->options->seed, (uint64_t)b);
	int bytes = run->memory->element;
	int64_t count = elements_of(buffer), at[BROADCAST_RANK];
	const struct broadcast *broadcast = run->program->broadcast;
	bool reduces = broadcast && (broadcast->operation == OPERATION_REDUCE || broadcast->adds);
	for (int64_t i = 0; i < count && copy_go_on(run, 1); i++) {
		uint64_t value = random_next(&random);
		copy_memory_unravel(buffer->shape, i, at);
		int64_t element = copy_buffer_place(buffer, at);
		if (reduces)
			copy_draw(run->program->element, value, &place->at[element * bytes]);
		else
			memcpy(&place->at[element * bytes], &value, (size_t)bytes);
		place->filled[element] = true;
	}
}

struct copy_memory *copy_memory_open(struct copy_run *run)
{
	const struct copy_program *program = run->program;
	struct arena *arena = run->arena;
	if (!copies_fit(run))
		return NULL;
	struct copy_memory *memory = run->memory = arena_new(arena, struct copy_memory);
	memory->element = element_bytes(program->element);
	memory->unit = copy_program_find_unit(program);
	memory->pads = arena_array(arena, struct held_bytes, program->topology->ranks);
	memory->places = arena_array(arena, struct held_bytes, program->buffer_count);
	for (int t = 0; t < program->tile_count; t++) {
		const struct copy_tile *tile = &program->tiles[t];
		struct held_bytes *pad = &memory->pads[tile->rank];
		pad->bytes = number_max(pad->bytes, tile->offset + tile->size);
	}
	for (int r = 0; r < program->topology->ranks; r++) {
		struct held_bytes *pad = &memory->pads[r];
		open_bytes(arena, pad, pad->bytes, pad->bytes / memory->unit + 1);
	}
	for (int b = 0; b < program->buffer_count; b++) {
		struct held_bytes *place = &memory->places[b];
		int64_t elements = copy_buffer_reach(&program->buffers[b]);
		place->bytes = elements * memory->element;
		open_bytes(arena, place, elements, elements);
		if (!program->buffers[b].written || program->buffers[b].adds)
			copy_run_fill(run, b, place);
		if (program->buffers[b].adds)
			place->given = arena_copy(arena, place->at, (size_t)place->bytes);
	}
	return memory;
}

/* The instruction at hand. */
struct memory_step {
	struct copy_run *run;
	size_t stream, i;
	const struct copy_instruction *instruction;
	const struct chunk *chunk;
	const struct copy_buffer *buffer;
	struct held_bytes *place;
};

#define FAULT(step, kind, ...) copy_fault((step)->run, kind, (step)->stream, (step)->i, __VA_ARGS__)

static void touch_units(
	struct memory_step *step, struct held_bytes *pad, int64_t from, int64_t bytes, bool write)
{
	int64_t size = step->run->memory->unit;
	for (int64_t u = from / size; u <= (from + bytes - 1) / size; u++) {
		struct race_conflict found = {.reader = RACE_NONE};
		if (write)
			found = race_write(step->run->race, &pad->marks[u]);
		else
			found.writer = race_read(step->run->race, &pad->marks[u]);
		if (found.writer == RACE_NONE && found.reader == RACE_NONE)
			continue;
		FAULT(step, COPY_RACE, "%s byte %" PRId64 " of the scratchpad, unordered with %s",
			write ? "writes" : "reads", u * size,
			found.writer == RACE_NONE ? "a read" : "a write");
	}
}

/* Bytes of a row of a tile; NULL after a fault. */
static uint8_t *tile_find_row(
	struct memory_step *step, int tile, int64_t row, int64_t bytes, bool write, bool **filled)
{
	const struct copy_tile *t = &step->run->program->tiles[tile];
	struct held_bytes *pad = &step->run->memory->pads[t->rank];
	if (bytes > t->pitch || (row + 1) * t->pitch > t->size) {
		FAULT(step, COPY_BOUNDS, "row %" PRId64 " of %" PRId64 " bytes leaves tile %d", row,
			bytes, tile);
		return NULL;
	}
	int64_t from = t->offset + row * t->pitch;
	touch_units(step, pad, from, bytes, write);
	*filled = &pad->filled[from];
	return &pad->at[from];
}

static void load_element(struct memory_step *step, int64_t element, uint8_t *to, bool *filled)
{
	int bytes = step->run->memory->element;
	if (!step->place->filled[element])
		FAULT(step, COPY_UNWRITTEN, "loads element %" PRId64 " of %s on rank %d", element,
			step->buffer->name, step->buffer->rank);
	struct race_mark *mark = &step->place->marks[element];
	uint32_t writer = step->buffer->adds ? race_read(step->run->race, mark)
					     : race_unordered_writer(step->run->race, mark);
	if (writer != RACE_NONE)
		FAULT(step, COPY_RACE,
			"loads element %" PRId64 " of %s on rank %d, unordered with its write",
			element, step->buffer->name, step->buffer->rank);
	memcpy(to, &step->place->at[element * bytes], (size_t)bytes);
	memset(filled, true, (size_t)bytes);
}

static void store_element(
	struct memory_step *step, int64_t element, const uint8_t *from, bool *filled)
{
	int bytes = step->run->memory->element;
	if (!filled[0])
		FAULT(step, COPY_UNWRITTEN, "stores bytes that no load brought");
	if (race_writer(&step->place->marks[element]) != RACE_NONE)
		FAULT(step, COPY_TWICE, "writes element %" PRId64 " of %s on rank %d again",
			element, step->buffer->name, step->buffer->rank);
	if (race_write(step->run->race, &step->place->marks[element]).reader != RACE_NONE)
		FAULT(step, COPY_RACE,
			"writes element %" PRId64 " of %s on rank %d, unordered with a read",
			element, step->buffer->name, step->buffer->rank);
	if (step->buffer->adds)
		copy_combine(step->run->program->element, REDUCTION_SUM,
			&step->place->at[element * bytes], from, 1);
	else
		memcpy(&step->place->at[element * bytes], from, (size_t)bytes);
	step->place->filled[element] = true;
}

static bool chunk_is_inside(const struct memory_step *step)
{
	for (int d = 0; d < BROADCAST_RANK; d++) {
		int64_t at = step->chunk->at[d] + (d == 3 ? step->instruction->shift : 0);
		if (at < 0 || at + step->chunk->count[d] > step->buffer->shape[d])
			return false;
	}
	return true;
}

static void move_chunk(struct memory_step *step)
{
	const struct chunk *chunk = step->chunk;
	int element = step->run->memory->element;
	int64_t rows = copy_chunk_rows(chunk), at[BROADCAST_RANK];
	bool load = step->instruction->kind == COPY_LOAD, *filled;
	if (!chunk_is_inside(step)) {
		FAULT(step, COPY_BOUNDS, "the chunk leaves %s on rank %d", step->buffer->name,
			step->buffer->rank);
		return;
	}
	for (int64_t row = 0; row < rows; row++) {
		if (!copy_go_on(step->run, (uint64_t)chunk->count[4]))
			return;
		uint8_t *bytes = tile_find_row(step, step->instruction->tile, row,
			chunk->count[4] * element, load, &filled);
		if (!bytes)
			return;
		copy_memory_unravel(chunk->count, row * chunk->count[4], at);
		for (int d = 0; d < BROADCAST_RANK; d++)
			at[d] += chunk->at[d];
		at[3] += step->instruction->shift;
		int64_t place = copy_buffer_place(step->buffer, at);
		for (int64_t c = 0; c < chunk->count[4]; c++, place += step->buffer->stride[4]) {
			if (load)
				load_element(
					step, place, &bytes[c * element], &filled[c * element]);
			else
				store_element(
					step, place, &bytes[c * element], &filled[c * element]);
		}
	}
}

/* Row by row: both tiles must be full, and no other instruction may touch the first. */
static void combine_tiles(struct memory_step *step)
{
	int element = step->run->memory->element;
	int64_t width = step->chunk->count[4], rows = copy_chunk_rows(step->chunk);
	bool *into_filled, *with_filled;
	for (int64_t row = 0; row < rows && copy_go_on(step->run, (uint64_t)width); row++) {
		uint8_t *into = tile_find_row(
			step, step->instruction->tile, row, width * element, true, &into_filled);
		uint8_t *with = tile_find_row(
			step, step->instruction->other, row, width * element, false, &with_filled);
		if (!into || !with)
			return;
		for (int64_t at = 0; at < width * element; at += element)
			if (!into_filled[at] || !with_filled[at])
				FAULT(step, COPY_UNWRITTEN, "combines bytes that no load brought");
		copy_combine(step->run->program->element, step->run->program->reduction, into, with,
			width);
	}
}

void copy_memory_run(
	struct copy_run *run, size_t stream, size_t i, const struct copy_instruction *instruction)
{
	struct memory_step step = {
		.run = run,
		.stream = stream,
		.i = i,
		.instruction = instruction,
		.chunk = &run->program->chunks[instruction->chunk],
		.buffer = &run->program->buffers[instruction->buffer],
		.place = &run->memory->places[instruction->buffer],
	};
	if (instruction->kind == COPY_COMBINE)
		combine_tiles(&step);
	else
		move_chunk(&step);
}

/* The element of a buffer at these coordinates, as it is now. */
static const uint8_t *element_at(
	const struct copy_run *run, int buffer, const int64_t at[BROADCAST_RANK])
{
	int64_t place = copy_buffer_place(&run->program->buffers[buffer], at);
	return &run->memory->places[buffer].at[place * run->memory->element];
}

/* An element of a buffer that had values at first. */
static void initial_element(const struct copy_run *run, int buffer,
	const int64_t at[BROADCAST_RANK], int64_t shift, uint8_t *out)
{
	int64_t shifted[BROADCAST_RANK];
	memcpy(shifted, at, sizeof shifted);
	shifted[3] += shift;
	memcpy(out, element_at(run, buffer, shifted), (size_t)element_bytes(run->program->element));
}

/* The source of the block of a member of the group: the buffer copied into it, or itself. */
static int copy_run_block(const struct copy_run *run, int member)
{
	const struct copy_program *program = run->program;
	int group = operation_is_pair(program->broadcast->operation)
			    ? 1
			    : (int)program->broadcast->ranks;
	int buffer = 1 + member;
	if (!program->buffers[buffer].written)
		return buffer;
	for (int other = 1 + group; other < program->buffer_count; other++)
		if (program->buffers[other].rank == program->buffers[buffer].rank)
			return other;
	return buffer;
}

static void copy_run_reduce(
	const struct copy_run *run, const int64_t at[BROADCAST_RANK], uint8_t *out)
{
	const struct broadcast *b = run->program->broadcast;
	uint8_t value[8];
	initial_element(run, copy_run_block(run, (int)b->root), at, 0, out);
	for (int r = 0; r < b->ranks; r++) {
		if (r == b->root)
			continue;
		initial_element(run, copy_run_block(run, r), at, 0, value);
		copy_combine(run->program->element, b->reduction, out, value, 1);
	}
}

/*
 * The value that an element of a written buffer must have at the end, by the operation's page, element
 * by element out of the values at the start, without the program's instructions.  `out` has room for an element.
 */
static void find_result(
	const struct copy_run *run, int buffer, const int64_t at[BROADCAST_RANK], uint8_t *out)
{
	const struct broadcast *b = run->program->broadcast;
	int64_t rows = broadcast_block(b)[3];
	if (buffer > 0 && operation_pulls(b->operation))
		initial_element(run, copy_run_block(run, buffer - 1), at, 0, out);
	else if (buffer > 0)
		initial_element(run, 0, at,
			b->operation == OPERATION_SCATTER ? (buffer - 1) * rows : 0, out);
	else if (b->operation == OPERATION_REDUCE)
		copy_run_reduce(run, at, out);
	else if (b->operation == OPERATION_GATHER)
		initial_element(run, copy_run_block(run, (int)(at[3] / rows)), at,
			-(at[3] / rows * rows), out);
	else
		initial_element(run, copy_run_block(run, 0), at, 0, out);
	if (buffer > 0 && b->adds)
		copy_combine(run->program->element, REDUCTION_SUM, out,
			&run->memory->places[buffer]
				 .given[copy_buffer_place(&run->program->buffers[buffer], at) *
					 run->memory->element],
			1);
}

/* The values that belong into a buffer: by the operation, or of the first buffer with values. */
static void find_expected(
	const struct copy_run *run, int b, const int64_t at[BROADCAST_RANK], uint8_t *out)
{
	const struct copy_program *program = run->program;
	size_t bytes = (size_t)run->memory->element;
	int first = 0;
	if (program->broadcast) {
		find_result(run, b, at, out);
	} else {
		while (program->buffers[first].written)
			first++;
		memcpy(out, element_at(run, first, at), bytes);
	}
}

static void check_buffer(struct copy_run *run, int b)
{
	const struct copy_buffer *buffer = &run->program->buffers[b];
	const struct held_bytes *place = &run->memory->places[b];
	int bytes = run->memory->element;
	int64_t count = elements_of(buffer), missing = 0, wrong = 0, at[BROADCAST_RANK];
	uint8_t expected[8];
	for (int64_t i = 0; i < count && copy_go_on(run, 1); i++) {
		copy_memory_unravel(buffer->shape, i, at);
		int64_t element = copy_buffer_place(buffer, at);
		find_expected(run, b, at, expected);
		bool came = race_writer(&place->marks[element]) != RACE_NONE;
		missing += !came;
		wrong += came && memcmp(&place->at[element * bytes], expected, (size_t)bytes) != 0;
	}
	if (run->poll.stopped)
		return;
	if (missing)
		copy_fault(run, COPY_MISSING, 0, 0,
			"%" PRId64 " of %" PRId64 " elements of %s never arrived at rank %d",
			missing, count, buffer->name, buffer->rank);
	if (wrong)
		copy_fault(run, COPY_VALUE, 0, 0,
			"%" PRId64 " of %" PRId64 " elements of %s on rank %d are wrong", wrong,
			count, buffer->name, buffer->rank);
}

void copy_memory_end(struct copy_run *run)
{
	for (int b = 0; b < run->program->buffer_count; b++)
		if (run->program->buffers[b].written)
			check_buffer(run, b);
}
