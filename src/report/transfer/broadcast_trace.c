#include "report/transfer/broadcast_trace.h"

#include "base/arena.h"
#include "report/run/trace_lines.h"

#include <inttypes.h>

struct trace_drawing {
	struct text text;
	const struct broadcast_outcome *outcome;
	double us_per_tick;
	bool *named;     /* by link: its thread has a name */
	int **distances; /* by rank that something comes from, once asked for */
};

static void add_event(struct trace_drawing *drawing, const char *name, int64_t process,
	int64_t thread, int64_t start, int64_t end, json_t *arguments)
{
	trace_event(&drawing->text, name, process, thread, (double)start * drawing->us_per_tick,
		(double)(end - start) * drawing->us_per_tick, arguments);
}

/* On every link of the way. */
static void add_way(struct trace_drawing *drawing, const char *name, int from, int to,
	int64_t start, int64_t end)
{
	const struct topology *topology = drawing->outcome->topology;
	struct arena *arena = drawing->text.arena;
	int **distances = &drawing->distances[from];
	if (!*distances) {
		*distances = arena_array(arena, int, topology->ranks);
		topology_distances(topology, from, *distances);
	}
	for (int at = to; at != from;) {
		int before =
			(*distances)[at] == 1 ? from : topology_before(topology, *distances, at);
		int link = topology_link(topology, before, at);
		if (!drawing->named[link]) {
			drawing->named[link] = true;
			trace_thread(&drawing->text, topology->ranks, link,
				arena_format(arena, "%d > %d", before, at));
		}
		add_event(drawing, name, topology->ranks, link, start, end, json_object());
		at = before;
	}
}

static const char *name_of(struct arena *arena, const struct copy_program *program,
	const struct copy_instruction *instruction)
{
	const struct copy_buffer *buffer = &program->buffers[instruction->buffer];
	switch (instruction->kind) {
	case COPY_LOAD:
		return arena_format(arena, "load %s of %d", buffer->name, buffer->rank);
	case COPY_STORE:
		return arena_format(arena, "store %s of %d", buffer->name, buffer->rank);
	case COPY_COMBINE:
		return reduction_names[program->reduction];
	default:
		return arena_format(arena, "notify %d", program->signals[instruction->flag]);
	}
}

static void add_instruction(struct trace_drawing *drawing, const struct copy_program *program,
	const struct copy_stream *stream, size_t i, const struct copy_time *time)
{
	const struct copy_instruction *instruction = &stream->instructions[i];
	const char *name = name_of(drawing->text.arena, program, instruction);
	json_t *arguments = json_pack("{s:I}", "instruction", (json_int_t)i);
	if (copy_moves(instruction->kind)) {
		json_object_set_new(
			arguments, "chunk", json_integer((json_int_t)instruction->chunk));
		json_object_set_new(arguments, "tile", json_integer(instruction->tile));
	}
	add_event(drawing, name, stream->rank, (int64_t)stream->queue, time->start, time->end,
		arguments);
	if (instruction->kind != COPY_LOAD && instruction->kind != COPY_STORE)
		return;
	int other = program->buffers[instruction->buffer].rank;
	bool load = instruction->kind == COPY_LOAD;
	add_way(drawing, name, load ? other : stream->rank, load ? stream->rank : other,
		time->start, time->end);
}

static void add_program(struct trace_drawing *drawing, const struct broadcast_trace *trace)
{
	const struct copy_program *program = trace->program;
	for (size_t s = 0; s < program->stream_count; s++) {
		const struct copy_stream *stream = &program->streams[s];
		trace_thread(&drawing->text, stream->rank, (int64_t)stream->queue,
			copy_queue_names[stream->queue]);
		for (size_t i = 0; i < stream->count; i++) {
			enum copy_kind kind = stream->instructions[i].kind;
			const struct copy_time *time = &trace->times[s][i];
			if ((copy_moves(kind) || kind == COPY_NOTIFY) && time->end >= time->start)
				add_instruction(drawing, program, stream, i, time);
		}
	}
}

/* A message takes the sender's queue out and the receiver's queue in. */
static void add_schedule(struct trace_drawing *drawing, const struct broadcast_trace *trace)
{
	const struct send_schedule *schedule = drawing->outcome->schedule;
	struct arena *arena = drawing->text.arena;
	for (int r = 0; r < schedule->ranks; r++)
		for (int queue = QUEUE_IN; queue <= QUEUE_OUT; queue++)
			trace_thread(&drawing->text, r, queue, copy_queue_names[queue]);
	for (size_t i = 0; i < schedule->message_count; i++) {
		const struct message *message = &schedule->messages[i];
		const struct send_time *time = &trace->sends[i];
		int64_t last = message->first + message->count - 1;
		const char *name =
			last > message->first
				? arena_format(arena, "segments %" PRId64 " to %" PRId64,
					  message->first, last)
				: arena_format(arena, "segment %" PRId64, message->first);
		add_event(drawing, name, message->from, QUEUE_OUT, time->start, time->end,
			json_pack("{s:i, s:i}", "round", message->round, "to", message->to));
		add_event(drawing, name, message->to, QUEUE_IN, time->start, time->end,
			json_pack("{s:i, s:i}", "round", message->round, "from", message->from));
		add_way(drawing, name, message->from, message->to, time->start, time->end);
	}
}

const char *broadcast_trace_json(struct arena *arena, const struct broadcast_outcome *outcome,
	const struct broadcast_trace *trace, double clock_ns)
{
	const struct topology *topology = outcome->topology;
	struct copy_ticks ticks = copying_ticks(&outcome->broadcast->copying);
	struct trace_drawing drawing = {trace_open(arena), outcome,
		clock_ns / 1e3 / (double)ticks.per_cycle,
		arena_array(arena, bool, topology->link_count + 1),
		arena_array(arena, int *, topology->ranks)};
	for (int r = 0; r < topology->ranks; r++)
		trace_process(&drawing.text, r, arena_format(arena, "rank %d", r));
	trace_process(&drawing.text, topology->ranks, "links");
	if (trace->program)
		add_program(&drawing, trace);
	else
		add_schedule(&drawing, trace);
	return trace_end(&drawing.text);
}
