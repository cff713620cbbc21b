#include "sim/transfer/copy.h"

#include "base/arena.h"
#include "base/wide.h"
#include "sim/machine/kernel.h"
#include "sim/transfer/copy_state.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool find_float(enum element element, enum dtype *out)
{
	switch (element) {
	case ELEMENT_FP32:
		*out = DTYPE_FP32;
		return true;
	case ELEMENT_FP16:
		*out = DTYPE_FP16;
		return true;
	case ELEMENT_BF16:
		*out = DTYPE_BF16;
		return true;
	default:
		return false;
	}
}

static int64_t choose_value(bool most, int64_t a, int64_t b)
{
	return most == (a > b) ? a : b;
}

static bool has_sign(enum element element)
{
	return element == ELEMENT_INT32 || element == ELEMENT_INT16 || element == ELEMENT_INT8;
}

static int64_t load_integer(enum element element, const void *at)
{
	int bits = 8 * element_bytes(element);
	uint32_t value = 0;
	memcpy(&value, at, (size_t)element_bytes(element));
	int64_t sign = has_sign(element) ? (int64_t)1 << (bits - 1) : 0;
	return ((int64_t)value ^ sign) - sign;
}

static void combine_float(enum dtype dtype, enum reduction reduction, void *into, const void *with)
{
	float a = kernel_load(dtype, into), b = kernel_load(dtype, with);
	if (reduction == REDUCTION_SUM)
		a += b;
	else if ((reduction == REDUCTION_MAX) == (b > a))
		a = b;
	kernel_store(dtype, into, a);
}

/* Sums do not depend on the sign. */
static void add_words(int bytes, uint8_t *into, const uint8_t *with, int64_t count)
{
	for (int64_t i = 0; i < count * bytes; i += bytes) {
		uint32_t a = 0, b = 0;
		memcpy(&a, &into[i], (size_t)bytes);
		memcpy(&b, &with[i], (size_t)bytes);
		a += b;
		memcpy(&into[i], &a, (size_t)bytes);
	}
}

static void add_integers(enum element element, uint8_t *into, const uint8_t *with, int64_t count)
{
	switch (element_bytes(element)) {
	case 1:
		add_words(1, into, with, count);
		break;
	case 2:
		add_words(2, into, with, count);
		break;
	default:
		add_words(4, into, with, count);
	}
}

void copy_combine(
	enum element element, enum reduction reduction, void *into, const void *with, int64_t count)
{
	int bytes = element_bytes(element);
	enum dtype dtype;
	bool is_float = find_float(element, &dtype);
	if (!is_float && reduction == REDUCTION_SUM) {
		add_integers(element, into, with, count);
		return;
	}
	for (int64_t i = 0; i < count; i++) {
		uint8_t *a = (uint8_t *)into + i * bytes;
		const uint8_t *b = (const uint8_t *)with + i * bytes;
		if (is_float) {
			combine_float(dtype, reduction, a, b);
			continue;
		}
		uint32_t value = (uint32_t)choose_value(reduction == REDUCTION_MAX,
			load_integer(element, a), load_integer(element, b));
		memcpy(a, &value, (size_t)bytes);
	}
}

void copy_draw(enum element element, uint64_t bits, void *out)
{
	enum dtype dtype;
	if (find_float(element, &dtype))
		kernel_store(dtype, out, (float)((int64_t)(bits % 4001) - 2000) / 16);
	else
		memcpy(out, &bits, (size_t)element_bytes(element));
}

/* An event of one stream that others see from a time on, with the clock of the stream at that time. */
struct notice {
	struct notice *next;
	int64_t at;
	size_t stream, i;
	uint32_t known[]; /* by stream: instructions; none without an order */
};

struct notices {
	struct notice *first, *last;
};

struct signal {
	struct notices landed; /* by time, all of them */
	int64_t all;           /* over the whole program; by stream */
	int64_t *by;
};

/*
 * The flags and signals of a copy program while it runs, and the instructions that each stream knows to be
 * done: vector clocks (C. J. Fidge, Timestamps in message-passing systems that preserve the partial
 * ordering, 1988).  Each stream counts its own instructions.  A flag hands on the clock of the stream that
 * set it; a signal those of the streams without whose notices a wait for it cannot go on, whichever order
 * they come in.
 */
struct copy_sync {
	const struct copy_program *program;
	struct arena *arena;
	size_t streams;        /* that knowledge is kept of: all or none */
	uint32_t *known;       /* by stream: of each stream, how many instructions */
	struct notices *flags; /* set and not waited for, in order */
	struct signal *signals;
	struct notice *spare;
};

/* Counts how often each stream will notify each signal. */
static void count_notices(struct copy_sync *sync)
{
	const struct copy_program *program = sync->program;
	for (int i = 0; i < program->signal_count; i++)
		sync->signals[i].by = arena_array(sync->arena, int64_t, program->stream_count);
	for (size_t s = 0; program->signal_count && s < program->stream_count; s++)
		for (size_t i = 0; i < program->streams[s].count; i++) {
			const struct copy_instruction *instruction =
				&program->streams[s].instructions[i];
			if (instruction->kind != COPY_NOTIFY)
				continue;
			sync->signals[instruction->flag].by[s]++;
			sync->signals[instruction->flag].all++;
		}
}

/* `ordered`: also keeps who knows of what; else only when flags and signals are seen. */
static struct copy_sync *copy_sync_open(
	const struct copy_program *program, bool ordered, struct arena *arena)
{
	struct copy_sync *sync = arena_new(arena, struct copy_sync);
	size_t streams = ordered ? program->stream_count : 0;
	*sync = (struct copy_sync){.program = program,
		.arena = arena,
		.streams = streams,
		.known = arena_array(arena, uint32_t, streams * streams),
		.flags = arena_array(arena, struct notices, program->flag_count),
		.signals = arena_array(arena, struct signal, program->signal_count)};
	count_notices(sync);
	return sync;
}

static uint32_t *known_by(const struct copy_sync *sync, size_t stream)
{
	return &sync->known[stream * sync->streams];
}

/* The next instruction of the stream begins. */
static void copy_sync_step(struct copy_sync *sync, size_t stream)
{
	if (sync->streams)
		known_by(sync, stream)[stream]++;
}

/* Behind all that are seen no later. */
static void add_notice(
	struct copy_sync *sync, struct notices *notices, size_t stream, size_t i, int64_t at)
{
	size_t bytes = sync->streams * sizeof(uint32_t);
	struct notice *notice = sync->spare, **link = &notices->first;
	if (notice)
		sync->spare = notice->next;
	else
		notice = arena_alloc(sync->arena, sizeof *notice + bytes);
	notice->at = at;
	notice->stream = stream;
	notice->i = i;
	if (bytes)
		memcpy(notice->known, known_by(sync, stream), bytes);
	if (notices->first && notices->last->at <= at)
		link = &notices->last->next;
	while (*link && (*link)->at <= at)
		link = &(*link)->next;
	notice->next = *link;
	*link = notice;
	if (!notice->next)
		notices->last = notice;
}

static void learn(struct copy_sync *sync, size_t stream, const struct notice *notice)
{
	uint32_t *known = known_by(sync, stream);
	for (size_t s = 0; s < sync->streams; s++)
		if (notice->known[s] > known[s])
			known[s] = notice->known[s];
}

/* Sets a flag: instruction i of the stream does, and the flag is seen from time `at` on. */
static void copy_flag_set(struct copy_sync *sync, int flag, size_t stream, size_t i, int64_t at)
{
	add_notice(sync, &sync->flags[flag], stream, i, at);
}

/* Returns the time at which a wait for the flag can go on; -1: it is not set. */
static int64_t copy_flag_seen(const struct copy_sync *sync, int flag)
{
	const struct notice *notice = sync->flags[flag].first;
	return notice ? notice->at : -1;
}

/* Lets a wait for a flag go on. */
static void copy_flag_wait(struct copy_sync *sync, int flag, size_t stream)
{
	struct notice *notice = sync->flags[flag].first;
	assert(notice);
	sync->flags[flag].first = notice->next;
	learn(sync, stream, notice);
	notice->next = sync->spare;
	sync->spare = notice;
}

/* Finds the last set of a flag that no wait has taken; false: there is none. */
static bool copy_flag_left(const struct copy_sync *sync, int flag, size_t *stream, size_t *i)
{
	const struct notices *notices = &sync->flags[flag];
	if (!notices->first)
		return false;
	*stream = notices->last->stream;
	*i = notices->last->i;
	return true;
}

/* Adds a notice of a signal, which lands at a time. */
static void copy_signal_notify(struct copy_sync *sync, int signal, size_t stream, int64_t lands)
{
	add_notice(sync, &sync->signals[signal].landed, stream, 0, lands);
}

/* Returns the first time from `from` on at which a wait goes on, by the notices so far; -1: none. */
static int64_t copy_signal_passes(const struct copy_sync *sync, int signal, int64_t from)
{
	const struct handshake *handshake = sync->program->handshake;
	const struct notice *notice = sync->signals[signal].landed.first;
	int64_t count = 0;
	for (; notice && notice->at <= from; notice = notice->next)
		count++;
	if (handshake_passes(handshake, count))
		return from;
	for (; notice; notice = notice->next)
		if (handshake_passes(handshake, ++count))
			return notice->at;
	return -1;
}

/* Without a stream's n-th notice the others are too few: it has come. */
/* Lets a wait go on; false if at other times of its notices it might wait for good. */
static bool copy_signal_await(struct copy_sync *sync, int number, size_t stream)
{
	const struct signal *signal = &sync->signals[number];
	int64_t least = handshake_least(sync->program->handshake, signal->all);
	for (size_t s = 0; least >= 0 && s < sync->streams; s++) {
		int64_t surely = least - (signal->all - signal->by[s]);
		const struct notice *notice = signal->landed.first;
		for (; surely > 0; notice = notice->next)
			if (notice->stream == s && --surely == 0)
				learn(sync, stream, notice);
	}
	return least >= 0;
}

struct copy_touch copy_sync_now(const struct copy_sync *sync, size_t stream)
{
	return (struct copy_touch){(uint32_t)stream, known_by(sync, stream)[stream]};
}

bool copy_sync_before(const struct copy_sync *sync, struct copy_touch touch, size_t stream)
{
	return touch.at <= known_by(sync, stream)[touch.stream];
}

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

/* Elements of a chunk; its rows, over all dimensions but the last. */
static int64_t copy_chunk_bytes(const struct copy_program *program, const struct chunk *chunk)
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

/* Time and ranks of a transfer. */
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
				: "waits for flag %d, which no queue will set",
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
