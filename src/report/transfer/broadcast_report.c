#include "report/transfer/broadcast_report.h"

#include "base/amount.h"
#include "base/arena.h"
#include "base/text.h"
#include "report/run/json.h"
#include "report/run/listing.h"
#include "report/run/pareto.h"

#include <inttypes.h>

static json_int_t to_cycles(const struct broadcast_outcome *outcome, int64_t ticks)
{
	return (json_int_t)number_ceil_div(ticks, outcome->times.per_cycle);
}

static void add_execution(json_t *object, const struct execution *execution)
{
	json_object_update_new(object,
		json_pack("{s:s, s:b, s:I, s:b, s:s*}", "executed", sim_mode_names[execution->mode],
			"finished", execution->finished, "steps", (json_int_t)execution->events,
			"agrees", execution->agrees, "fault", execution->fault));
}

static void add_published(json_t *object, const struct broadcast_outcome *outcome)
{
	const struct broadcast *b = outcome->broadcast;
	const struct broadcast_counts *counts = &outcome->counts;
	const struct broadcast_times *times = &outcome->times;
	json_t *offsets = json_array();
	for (size_t i = 0; i < b->offset_count; i++)
		json_array_append_new(offsets, json_integer((json_int_t)b->offsets[i]));
	json_object_update_new(object,
		json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "chunks",
			(json_int_t)counts->chunks, "loads", (json_int_t)counts->loads, "stores",
			(json_int_t)counts->stores, "flags", (json_int_t)counts->flags,
			"bytes_loaded", (json_int_t)counts->bytes_loaded, "bytes_stored",
			(json_int_t)counts->bytes_stored, "offsets", offsets));
	if (counts->combines)
		json_object_set_new(object, "combines", json_integer((json_int_t)counts->combines));
	if (!copying_takes_time(&b->copying))
		return;
	json_object_set_new(object, "cycles_by_tiles",
		json_pack("{s:I, s:I, s:I, s:I}", "single", to_cycles(outcome, times->single),
			"ping_pong", to_cycles(outcome, times->ping_pong), "unlimited",
			to_cycles(outcome, times->unlimited), "bound",
			to_cycles(outcome, times->bound)));
}

json_t *broadcast_json(struct arena *arena, const struct broadcast_outcome *outcome,
	double clock_ns, bool simulated)
{
	const struct broadcast *b = outcome->broadcast;
	const struct score *score = &outcome->score;
	int64_t cycles = simulated ? outcome->execution.cycles : score->cycles;
	int64_t link_bytes = simulated ? outcome->execution.link_bytes : score->link_bytes;
	json_t *object = json_pack("{s:b, s:s, s:s, s:s}", "feasible", 1, "op",
		broadcast_line(arena, b), "way", broadcast_way(arena, b), "path",
		broadcast_path_names[outcome->counts.path]);
	if (copying_takes_time(&b->copying))
		json_object_update_new(
			object, json_pack("{s:I, s:f, s:I}", "cycles", (json_int_t)cycles,
					"latency_ns", (double)cycles * clock_ns, "bound_cycles",
					(json_int_t)outcome->bound));
	json_object_update_new(object,
		json_pack("{s:I, s:I, s:I}", "link_bytes", (json_int_t)link_bytes, "buffer_bytes",
			(json_int_t)score->buffer_bytes, "rounds", (json_int_t)score->rounds));
	if (outcome->rounds_bound)
		json_object_set_new(
			object, "bound_rounds", json_integer((json_int_t)outcome->rounds_bound));
	if (!outcome->schedule)
		add_published(object, outcome);
	if (simulated)
		add_execution(object, &outcome->execution);
	return object;
}

const char *broadcast_text(struct arena *arena, const json_t *tree)
{
	static const struct result_row rows[] = {
		{"", "{op}", NULL},
		{"",
			"{way}, path {path}: {latency_ns?{cycles} cycles, {latency_ns}, no way below "
			"{bound_cycles}|no copy takes time}",
			NULL},
		{"",
			"{chunks} chunks, {loads} loads, {stores} stores, {flags} flags"
			"{cycles_by_tiles?; one tile {cycles_by_tiles.single}, two "
			"{cycles_by_tiles.ping_pong}, any number {cycles_by_tiles.unlimited} cycles}",
			NULL},
		{"",
			"{rounds} rounds{optimal? (optimal)|{bound_rounds? (none in fewer than "
			"{bound_rounds})}}, {link_bytes#} bytes over links, {buffer_bytes#} bytes of "
			"staging",
			NULL},
		{"",
			"executed ({executed}): "
			"{agrees?as the model says|{fault?{fault}|not as the model says}}",
			NULL},
		{NULL, NULL, NULL},
	};
	struct text text = text_open(arena);
	json_t *shown = json_copy((json_t *)tree);
	const json_t *bound = json_object_get(tree, "bound_rounds");
	json_object_set_new(shown, "optimal",
		json_boolean(bound && json_equal(bound, json_object_get(tree, "rounds"))));
	result_rows(&text, shown, rows);
	json_decref(shown);
	return text_read(&text);
}

static void complete_row(const void *clock_ns, const struct point *point, struct arena *arena,
	struct pareto_row *row)
{
	const struct broadcast_found *found = point->payload;
	row->groups = PARETO_LINKS | PARETO_ROUNDS;
	if (copying_takes_time(&found->outcome.broadcast->copying))
		row->groups |= PARETO_TIME | PARETO_CLOCKED;
	row->nanoseconds = (double)point->score.cycles * *(const double *)clock_ns;
	row->mapping = broadcast_way(arena, found->outcome.broadcast);
}

const char *broadcast_pareto_csv(
	struct arena *arena, const struct explored *explored, double clock_ns)
{
	return pareto_csv(arena, &explored->frontier, complete_row, &clock_ns);
}

const char *broadcast_table(struct arena *arena, const struct explored *explored, double clock_ns)
{
	static const char *const titles[] = {"point", "latency", "speedup", "of bound", "staging B",
		"link B", "rounds", "executed", "<way", NULL};
	struct listing *listing = listing_open(arena, titles);
	const struct broadcast_outcome *known = explored->more;
	double given = known ? (double)known->score.cycles : 0;
	for (size_t i = 0; i < explored->frontier.count; i++) {
		const struct point *point = &explored->frontier.points[i];
		const struct broadcast_found *found = point->payload;
		const struct broadcast_outcome *outcome = &found->outcome;
		const struct execution *run = &found->common.execution;
		double cycles = (double)point->score.cycles;
		listing_cell(listing, "%zu", i + 1);
		bool timed = copying_takes_time(&outcome->broadcast->copying);
		listing_cell(listing, "%s",
			timed ? amount_text(arena, AMOUNT_TIME, cycles * clock_ns) : "-");
		listing_cell(listing, "%s",
			!known || !timed
				? "-"
				: arena_format(arena, "%.2f", cycles > 0 ? given / cycles : 1));
		listing_cell(listing, "%s",
			timed ? arena_format(arena, "%.2f",
					outcome->bound ? cycles / (double)outcome->bound : 1)
			      : "-");
		listing_cell(listing, "%" PRId64, point->score.buffer_bytes);
		listing_cell(listing, "%" PRId64, point->score.link_bytes);
		listing_cell(listing, "%" PRId64, point->score.rounds);
		listing_cell(listing, "%s",
			!run->finished ? "-"
			: !run->agrees ? "disagrees"
				       : execution_name(run));
		listing_cell(listing, "%s", broadcast_way(arena, outcome->broadcast));
	}
	return listing_text(listing);
}

const char *broadcast_plan_yaml(struct arena *arena, const struct point *point)
{
	const struct broadcast_outcome *outcome =
		&((const struct broadcast_found *)point->payload)->outcome;
	const char *time = "no copy takes time";
	if (copying_takes_time(&outcome->broadcast->copying))
		time = arena_format(arena, "%" PRId64 " cycles, no way below %" PRId64,
			point->score.cycles, outcome->bound);
	return arena_format(
		arena, "# %s: %s\n%s", broadcast_way(arena, outcome->broadcast), time, point->key);
}

const char *broadcast_run_json(
	struct arena *arena, const struct run_record *record, const struct explored *explored)
{
	json_t *root = run_head(record, arena);
	json_object_set_new(root, "counters", run_counters(&explored->effort));
	const struct broadcast_outcome *given = explored->more;
	if (given)
		json_object_set_new(root, "given",
			json_pack("{s:s, s:o*}", "way", broadcast_way(arena, given->broadcast),
				"cycles",
				copying_takes_time(&given->broadcast->copying)
					? json_integer((json_int_t)given->score.cycles)
					: NULL));
	return json_text(arena, root);
}

struct trace_drawing {
	struct text text;
	const struct broadcast_outcome *outcome;
	double us_per_tick;
	bool *named; /* by link: its thread has a name */
	struct routes routes;
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
	for (int after = to, link; (link = routes_last(&drawing->routes, from, &to)) >= 0;
		after = to) {
		if (!drawing->named[link]) {
			drawing->named[link] = true;
			trace_thread(&drawing->text, topology->ranks, link,
				arena_format(drawing->text.arena, "%d > %d", to, after));
		}
		add_event(drawing, name, topology->ranks, link, start, end, json_object());
	}
}

static const char *instruction_name(struct arena *arena, const struct copy_program *program,
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
	const struct copy_stream *stream, size_t i, const struct run_time *time)
{
	const struct copy_instruction *instruction = &stream->instructions[i];
	const char *name = instruction_name(drawing->text.arena, program, instruction);
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
			const struct run_time *time = &trace->times[s][i];
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
		const struct run_time *time = &trace->sends[i];
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
		arena_array(arena, bool, topology->link_count + 1), routes_open(topology, arena)};
	for (int r = 0; r < topology->ranks; r++)
		trace_process(&drawing.text, r, arena_format(arena, "rank %d", r));
	trace_process(&drawing.text, topology->ranks, "links");
	if (trace->program)
		add_program(&drawing, trace);
	else
		add_schedule(&drawing, trace);
	return trace_end(&drawing.text);
}
