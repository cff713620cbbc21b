#include "tests/support/copy_text.h"

#include "base/text.h"

#include <inttypes.h>

static void add_place(struct text *text, const struct copy_program *program,
	const struct copy_instruction *instruction)
{
	const struct copy_buffer *buffer = &program->buffers[instruction->buffer];
	const struct chunk *chunk = &program->chunks[instruction->chunk];
	text_add(text, "%s %d [", buffer->name, buffer->rank);
	for (int d = 0; d < BROADCAST_RANK; d++)
		text_add(text, "%s%" PRId64 "+%" PRId64, d ? " " : "",
			chunk->at[d] + (d == 3 ? instruction->shift : 0), chunk->count[d]);
	text_add(text, "]");
}

static void add_tile(struct text *text, const struct copy_program *program, int tile)
{
	text_add(text, "tile %d @%" PRId64, tile, program->tiles[tile].offset);
}

static void add_instruction(struct text *text, const struct copy_program *program,
	const struct copy_instruction *instruction)
{
	switch (instruction->kind) {
	case COPY_LOAD:
		text_add(text, "load ");
		add_place(text, program, instruction);
		text_add(text, " > ");
		add_tile(text, program, instruction->tile);
		break;
	case COPY_STORE:
		text_add(text, "store ");
		add_tile(text, program, instruction->tile);
		text_add(text, " > ");
		add_place(text, program, instruction);
		break;
	case COPY_COMBINE:
		text_add(text, "%s ", reduction_names[program->reduction]);
		add_tile(text, program, instruction->other);
		text_add(text, " > ");
		add_tile(text, program, instruction->tile);
		break;
	case COPY_SET:
		text_add(text, "set %d", instruction->flag);
		break;
	case COPY_WAIT:
		text_add(text, "wait %d", instruction->flag);
		break;
	case COPY_NOTIFY:
		text_add(text, "notify %d of rank %d", instruction->flag,
			program->signals[instruction->flag]);
		break;
	case COPY_AWAIT:
		text_add(text, "await %d", instruction->flag);
		break;
	}
}

const char *copy_text(struct arena *arena, const struct copy_program *program)
{
	struct text text = text_open(arena);
	for (size_t s = 0; s < program->stream_count; s++) {
		const struct copy_stream *stream = &program->streams[s];
		for (size_t i = 0; i < stream->count; i++) {
			text_add(&text, "%d %s: ", stream->rank, copy_queue_names[stream->queue]);
			add_instruction(&text, program, &stream->instructions[i]);
			text_add(&text, "\n");
		}
	}
	return text_read(&text);
}
