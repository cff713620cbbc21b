#include "sim/transfer/copy.h"

#include "base/arena.h"
#include "base/wide.h"
#include "sim/transfer/copy_state.h"

#include <inttypes.h>
#include <stdio.h>

const char *const copy_fault_names[] = {"deadlock", "race", "unwritten", "twice", "missing",
	"value", "bounds", "flag", "link", NULL};

void copy_fault(struct copy_run *run, enum copy_fault_kind kind, size_t stream, size_t instruction,
	const char *format, ...)
{
	struct copy_result *result = &run->result;
	char sentence[256];
	for (int f = 0; f < result->fault_count; f++)
		if (result->faults[f].kind == kind && result->faults[f].stream == stream &&
			result->faults[f].instruction == instruction && kind != COPY_MISSING &&
			kind != COPY_VALUE)
			return;
	if (result->fault_count == COPY_FAULTS_MOST)
		return;
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(sentence, sizeof sentence, format, arguments);
	va_end(arguments);
	const struct copy_stream *at = &run->program->streams[stream];
	bool nowhere = kind == COPY_MISSING || kind == COPY_VALUE;
	const char *text =
		nowhere ? arena_text(run->arena, sentence)
			: arena_format(run->arena, "rank %d, queue %s, instruction %zu: %s",
				  at->rank, copy_queue_names[at->queue], instruction, sentence);
	result->faults[result->fault_count++] =
		(struct copy_fault){kind, stream, instruction, text};
}

enum { STEPS_UNASKED = 1 << 14 };

bool copy_go_on(struct copy_run *run, uint64_t steps)
{
	run->unasked += steps;
	if (run->unasked >= STEPS_UNASKED) {
		run->unasked = 0;
		run->stopped = run->stopped || stopper_stops(run->options->stopper);
	}
	return !run->stopped;
}

int64_t copy_chunk_rows(const struct chunk *chunk)
{
	return chunk->count[0] * chunk->count[1] * chunk->count[2] * chunk->count[3];
}

int64_t copy_chunk_bytes(const struct copy_program *program, const struct chunk *chunk)
{
	return copy_chunk_rows(chunk) * chunk->count[4] * element_bytes(program->element);
}

struct copy_machine {
	struct copy_run run;
	size_t *next;  /* by stream: the instruction at its head */
	int64_t *free; /* by stream: when that one may begin */
	int64_t *link_free;
	int64_t *sends, *receives; /* by rank: when its port is free; NULL: as many as links */
	struct routes routes;
	struct copy_time **trace;
};

static int64_t bytes_time(int64_t bytes, struct ratio rate)
{
	if (!rate.num)
		return 0;
	wide work = (wide)bytes * rate.den;
	return (int64_t)(work / rate.num) + (work % rate.num != 0);
}

/* What a transfer needs: how long, between which ranks. */
struct transfer_need {
	int from, to; /* ranks; equal: no link */
	int64_t time;
};

/* False after a fault: no way leads there. */
static bool find_need(struct copy_machine *machine, size_t s,
	const struct copy_instruction *instruction, struct transfer_need *need)
{
	const struct copy_program *program = machine->run.program;
	const struct copy_ticks *ticks = &program->ticks;
	int64_t bytes = copy_chunk_bytes(program, &program->chunks[instruction->chunk]);
	bool load = instruction->kind == COPY_LOAD;
	int own = program->streams[s].rank, other = own;
	struct ratio rate = load ? ticks->in_rate : ticks->out_rate;
	if (instruction->kind == COPY_COMBINE) {
		*need = (struct transfer_need){
			own, own, ticks->combine_latency + bytes_time(bytes, ticks->combine_rate)};
		return true;
	}
	other = program->buffers[instruction->buffer].rank;
	need->from = load ? other : own;
	need->to = load ? own : other;
	need->time = load ? ticks->in_latency : ticks->out_latency;
	if (other != own) {
		int hops = routes_hops(&machine->routes, need->from, need->to);
		if (hops < 0) {
			copy_fault(&machine->run, COPY_LINK, s, machine->next[s],
				"no way leads from rank %d to rank %d", need->from, need->to);
			return false;
		}
		need->time += hops * ticks->link_latency;
		if (ticks->link_rate.num)
			rate = ticks->link_rate;
		machine->run.result.link_bytes += bytes * hops;
	}
	need->time += bytes_time(bytes, rate);
	return true;
}

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* When links and ports of a transfer are free. */
static int64_t ways_free(struct copy_machine *machine, int from, int to)
{
	int64_t at = 0;
	int rank = to, link;
	if (from == to)
		return 0;
	while ((link = routes_last(&machine->routes, from, &rank)) >= 0)
		at = later(at, machine->link_free[link]);
	if (machine->sends)
		at = later(at, later(machine->sends[from], machine->receives[to]));
	return at;
}

static void take_ways(struct copy_machine *machine, const struct transfer_need *need, int64_t end)
{
	int rank = need->to, link;
	if (need->from == need->to)
		return;
	while ((link = routes_last(&machine->routes, need->from, &rank)) >= 0)
		machine->link_free[link] = end;
	if (machine->sends)
		machine->sends[need->from] = machine->receives[need->to] = end;
}

/* When the head of a stream can begin; -1: not until something else has happened. */
static int64_t begins(struct copy_machine *machine, size_t s)
{
	const struct copy_program *program = machine->run.program;
	const struct copy_stream *stream = &program->streams[s];
	const struct copy_instruction *head = &stream->instructions[machine->next[s]];
	if (head->kind == COPY_WAIT) {
		int64_t seen = copy_flag_seen(machine->run.sync, head->flag);
		return seen < 0 ? -1 : later(machine->free[s], seen);
	}
	if (head->kind == COPY_AWAIT)
		return copy_signal_passes(machine->run.sync, head->flag, machine->free[s]);
	if (head->kind != COPY_LOAD && head->kind != COPY_STORE)
		return machine->free[s];
	int other = program->buffers[head->buffer].rank;
	bool load = head->kind == COPY_LOAD;
	return later(machine->free[s],
		ways_free(machine, load ? other : stream->rank, load ? stream->rank : other));
}

/* A signal takes no port, and no link from others. */
static void notify(struct copy_machine *machine, size_t s, int signal, int64_t start)
{
	const struct copy_program *program = machine->run.program;
	int from = program->streams[s].rank, to = program->signals[signal];
	int hops = routes_hops(&machine->routes, from, to);
	if (hops < 0) {
		copy_fault(&machine->run, COPY_LINK, s, machine->next[s],
			"no way leads from rank %d to rank %d", from, to);
		return;
	}
	machine->free[s] = start + program->ticks.out_latency + hops * program->ticks.link_latency;
	copy_signal_notify(machine->run.sync, signal, s, machine->free[s]);
}

static void transfer(struct copy_machine *machine, size_t s,
	const struct copy_instruction *instruction, int64_t start)
{
	const struct copy_program *program = machine->run.program;
	struct copy_result *result = &machine->run.result;
	int64_t bytes = copy_chunk_bytes(program, &program->chunks[instruction->chunk]);
	struct transfer_need need;
	if (instruction->kind == COPY_LOAD) {
		result->loads++;
		result->bytes_loaded += bytes;
	} else if (instruction->kind == COPY_STORE) {
		result->stores++;
		result->bytes_stored += bytes;
	} else {
		result->combines++;
	}
	if (!find_need(machine, s, instruction, &need))
		return;
	machine->free[s] = start + need.time;
	take_ways(machine, &need, start + need.time);
	if (machine->run.memory)
		copy_memory_run(&machine->run, s, machine->next[s], instruction);
}

static void run_head(struct copy_machine *machine, size_t s, int64_t start)
{
	const struct copy_instruction *head =
		&machine->run.program->streams[s].instructions[machine->next[s]];
	machine->free[s] = start;
	copy_sync_step(machine->run.sync, s);
	switch (head->kind) {
	case COPY_SET:
		copy_flag_set(machine->run.sync, head->flag, s, machine->next[s],
			start + machine->run.program->ticks.sync);
		machine->run.result.flags++;
		break;
	case COPY_WAIT:
		copy_flag_wait(machine->run.sync, head->flag, s);
		break;
	case COPY_NOTIFY:
		notify(machine, s, head->flag, start);
		break;
	case COPY_AWAIT:
		/* That one more notice would have been too many is a matter of time, too. */
		if (!copy_signal_await(machine->run.sync, head->flag, s))
			copy_fault(&machine->run, COPY_DEADLOCK, s, machine->next[s],
				"may miss the value of signal %d that it waits for", head->flag);
		break;
	case COPY_LOAD:
	case COPY_STORE:
	case COPY_COMBINE:
		transfer(machine, s, head, start);
		break;
	}
	if (machine->trace)
		machine->trace[s][machine->next[s]] = (struct copy_time){start, machine->free[s]};
	machine->run.result.ticks = later(machine->run.result.ticks, machine->free[s]);
	machine->run.result.instructions++;
	machine->next[s]++;
}

/* The stream whose head begins first, of several the first; false when none can. */
static bool choose(struct copy_machine *machine, size_t *stream, int64_t *start)
{
	const struct copy_program *program = machine->run.program;
	bool found = false;
	for (size_t s = 0; s < program->stream_count; s++) {
		if (machine->next[s] == program->streams[s].count)
			continue;
		int64_t at = begins(machine, s);
		if (at < 0 || (found && at >= *start))
			continue;
		found = true;
		*stream = s;
		*start = at;
	}
	return found;
}

static bool all_ran(struct copy_machine *machine)
{
	const struct copy_program *program = machine->run.program;
	bool all = true;
	for (size_t s = 0; s < program->stream_count; s++) {
		const struct copy_stream *stream = &program->streams[s];
		if (machine->next[s] == stream->count)
			continue;
		all = false;
		copy_fault(&machine->run, COPY_DEADLOCK, s, machine->next[s],
			stream->instructions[machine->next[s]].kind == COPY_AWAIT
				? "waits for a value of signal %d that it will not have"
				: "waits for flag %d, which nobody will set",
			stream->instructions[machine->next[s]].flag);
	}
	return all;
}

static struct copy_machine open_machine(
	const struct copy_program *program, const struct copy_options *options, struct arena *arena)
{
	const struct topology *topology = program->topology;
	struct copy_machine machine = {
		.run = {.program = program, .options = options, .arena = arena},
		.next = arena_array(arena, size_t, program->stream_count),
		.free = arena_array(arena, int64_t, program->stream_count),
		.link_free = arena_array(arena, int64_t, topology->link_count),
		.routes = routes_open(topology, arena),
	};
	if (topology->ports == PORTS_ONE) {
		machine.sends = arena_array(arena, int64_t, topology->ranks);
		machine.receives = arena_array(arena, int64_t, topology->ranks);
	}
	if (options->trace) {
		machine.trace = arena_array(arena, struct copy_time *, program->stream_count);
		for (size_t s = 0; s < program->stream_count; s++) {
			size_t count = program->streams[s].count;
			machine.trace[s] = arena_array(arena, struct copy_time, count);
			for (size_t i = 0; i < count; i++)
				machine.trace[s][i].end = -1;
		}
	}
	return machine;
}

/* The most of any rank. */
static int64_t staging_bytes(const struct copy_program *program, struct arena *arena)
{
	int64_t *sums = arena_array(arena, int64_t, program->topology->ranks), most = 0;
	for (int t = 0; t < program->tile_count; t++) {
		int64_t *sum = &sums[program->tiles[t].rank];
		*sum += program->tiles[t].size;
		most = number_max(most, *sum);
	}
	return most;
}

struct copy_result copy_run(
	const struct copy_program *program, const struct copy_options *options, struct arena *arena)
{
	struct copy_machine machine = open_machine(program, options, arena);
	struct copy_run *run = &machine.run;
	int64_t start = 0;
	size_t s = 0, i = 0;
	run->memory = options->data ? copy_memory_open(run) : NULL;
	run->sync = copy_sync_open(program, run->memory, arena);
	run->result.data = run->memory != NULL;
	while (choose(&machine, &s, &start)) {
		if ((options->most && run->result.instructions == options->most) ||
			!copy_go_on(run, program->stream_count))
			return run->result;
		run_head(&machine, s, start);
	}
	if (run->stopped)
		return run->result;
	run->result.finished = all_ran(&machine);
	for (int f = 0; f < program->flag_count; f++)
		if (copy_flag_left(run->sync, f, &s, &i))
			copy_fault(run, COPY_FLAG, s, i, "flag %d is set and never waited for", f);
	run->result.staging_bytes = staging_bytes(program, arena);
	run->result.cycles = number_ceil_div(run->result.ticks, program->ticks.per_cycle);
	run->result.trace = machine.trace;
	if (run->memory)
		copy_memory_end(run);
	run->result.finished &= !run->stopped;
	return run->result;
}
