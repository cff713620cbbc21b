#include "sim/transfer/copy.h"

#include "base/arena.h"
#include "base/number.h"
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

/* Steps between two calls of the stopper. */
enum { STOP_STEPS = 1 << 14 };

bool copy_go_on(struct copy_run *run, uint64_t steps)
{
	return !stop_poll_ends(&run->poll, steps);
}

int64_t copy_chunk_rows(const struct chunk *chunk)
{
	return chunk->count[0] * chunk->count[1] * chunk->count[2] * chunk->count[3];
}

static int64_t copy_chunk_bytes(const struct copy_program *program, const struct chunk *chunk)
{
	return copy_chunk_rows(chunk) * chunk->count[4] * element_bytes(program->element);
}

/* A flag while a program runs. */
struct copy_flag {
	int64_t set, waited; /* how often */
	size_t stream, i;    /* which instruction has set it last */
};

/* A signal: notices of the whole program, and the times at which those so far land, in order. */
struct copy_signal {
	int64_t all;
	struct array(int64_t) landed;
};

struct copy_machine {
	struct copy_run run;
	size_t *next;      /* by stream: the instruction at its head */
	uint32_t *streams; /* by instruction */
	int64_t *link_free;
	int64_t *sends, *receives; /* by rank: when its port is free; NULL: as many as links */
	struct routes routes;
	struct copy_flag *flags;
	struct copy_signal *signals;
};

int64_t copy_time(int64_t latency, int64_t bytes, struct ratio rate)
{
	int64_t moving = 0;
	if (rate.num)
		ratio_time(bytes, rate, &moving);
	return latency + moving;
}

/* Time and ranks of a transfer. */
struct transfer_need {
	int from, to; /* ranks; equal: no link */
	int64_t time;
};

/* False after a fault: no way leads there. */
static bool copy_machine_find_need(struct copy_machine *machine, size_t s,
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
			own, own, copy_time(ticks->combine_latency, bytes, ticks->combine_rate)};
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
				"no path leads from rank %d to rank %d", need->from, need->to);
			return false;
		}
		need->time += hops * ticks->link_latency;
		if (ticks->link_rate.num)
			rate = ticks->link_rate;
		machine->run.result.link_bytes += bytes * hops;
	}
	need->time = copy_time(need->time, bytes, rate);
	return true;
}

/* When links and ports of a transfer are free. */
static int64_t ways_free(struct copy_machine *machine, int from, int to)
{
	int64_t at = 0;
	int rank = to, link;
	if (from == to)
		return 0;
	while ((link = routes_last(&machine->routes, from, &rank)) >= 0)
		at = number_max(at, machine->link_free[link]);
	if (machine->sends)
		at = number_max(at, number_max(machine->sends[from], machine->receives[to]));
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

/* Returns the first time from `from` on at which a wait for a signal goes on, by the notices so far; -1: none. */
static int64_t signal_passes(const struct copy_machine *machine, int number, int64_t from)
{
	const struct handshake *handshake = machine->run.program->handshake;
	const struct copy_signal *signal = &machine->signals[number];
	size_t count = 0;
	while (count < signal->landed.count && signal->landed.at[count] <= from)
		count++;
	if (handshake_passes(handshake, (int64_t)count))
		return from;
	for (; count < signal->landed.count; count++)
		if (handshake_passes(handshake, (int64_t)count + 1))
			return signal->landed.at[count];
	return -1;
}

/* When the head of a stream, which waits only for the clock since `ready`, can begin; -1: not until something else has
 * happened. */
static int64_t copy_machine_begins(struct copy_machine *machine, size_t s, int64_t ready)
{
	const struct copy_program *program = machine->run.program;
	const struct copy_stream *stream = &program->streams[s];
	const struct copy_instruction *head = &stream->instructions[machine->next[s]];
	if (head->kind == COPY_AWAIT)
		return signal_passes(machine, head->flag, ready);
	if (head->kind != COPY_LOAD && head->kind != COPY_STORE)
		return ready;
	int other = program->buffers[head->buffer].rank;
	bool load = head->kind == COPY_LOAD;
	return number_max(ready,
		ways_free(machine, load ? other : stream->rank, load ? stream->rank : other));
}

/* Heads that wait for a signal can begin at another time since a notice more lands. */
static void copy_machine_wake(struct copy_machine *machine, int signal)
{
	const struct copy_program *program = machine->run.program;
	struct order *order = &machine->run.order;
	for (size_t s = 0; s < program->stream_count; s++) {
		const struct copy_stream *stream = &program->streams[s];
		uint32_t i = machine->run.first[s] + (uint32_t)machine->next[s];
		if (machine->next[s] == stream->count || order->nodes[i].waiting)
			continue;
		const struct copy_instruction *head = &stream->instructions[machine->next[s]];
		if (head->kind == COPY_AWAIT && head->flag == signal)
			order_again(order, (struct order_event){order->nodes[i].ready, i});
	}
}

/* A signal takes no port, and no link from others.  Returns when it lands. */
static int64_t copy_machine_notify(
	struct copy_machine *machine, size_t s, int number, int64_t start)
{
	const struct copy_program *program = machine->run.program;
	struct copy_signal *signal = &machine->signals[number];
	int from = program->streams[s].rank, to = program->signals[number];
	int hops = routes_hops(&machine->routes, from, to);
	if (hops < 0) {
		copy_fault(&machine->run, COPY_LINK, s, machine->next[s],
			"no path leads from rank %d to rank %d", from, to);
		return start;
	}
	int64_t lands = start + program->ticks.out_latency + hops * program->ticks.link_latency;
	array_add(machine->run.arena, &signal->landed);
	size_t at = signal->landed.count - 1;
	for (; at > 0 && signal->landed.at[at - 1] > lands; at--)
		signal->landed.at[at] = signal->landed.at[at - 1];
	signal->landed.at[at] = lands;
	copy_machine_wake(machine, number);
	return lands;
}

/* Returns its end. */
static int64_t copy_machine_transfer(struct copy_machine *machine, size_t s,
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
	if (!copy_machine_find_need(machine, s, instruction, &need))
		return start;
	take_ways(machine, &need, start + need.time);
	if (machine->run.memory)
		copy_memory_run(&machine->run, s, machine->next[s], instruction);
	return start + need.time;
}

static void set_flag(struct copy_machine *machine, size_t s, int number)
{
	struct copy_flag *flag = &machine->flags[number];
	flag->set++;
	flag->stream = s;
	flag->i = machine->next[s];
	machine->run.result.flags++;
}

/* That one more notice would have been too many is a matter of time, too. */
static void check_signal(struct copy_machine *machine, size_t s, int signal)
{
	if (handshake_least(machine->run.program->handshake, machine->signals[signal].all) < 0)
		copy_fault(&machine->run, COPY_DEADLOCK, s, machine->next[s],
			"may miss the value of signal %d that it waits for", signal);
}

/* Runs the head of a stream; returns its end. */
static int64_t run_head(struct copy_machine *machine, size_t s, int64_t start)
{
	const struct copy_instruction *head =
		&machine->run.program->streams[s].instructions[machine->next[s]];
	switch (head->kind) {
	case COPY_SET:
		set_flag(machine, s, head->flag);
		return start;
	case COPY_WAIT:
		machine->flags[head->flag].waited++;
		return start;
	case COPY_NOTIFY:
		return copy_machine_notify(machine, s, head->flag, start);
	case COPY_AWAIT:
		check_signal(machine, s, head->flag);
		return start;
	case COPY_LOAD:
	case COPY_STORE:
	case COPY_COMBINE:
		return copy_machine_transfer(machine, s, head, start);
	}
	return start;
}

/* An instruction runs from the time of an event on; what waits for a flag sees that late. */
static void copy_machine_execute(struct copy_machine *machine, struct order_event event)
{
	struct copy_run *run = &machine->run;
	size_t s = machine->streams[event.instruction];
	if (run->race)
		race_begin(run->race, event.instruction);
	int64_t end = run_head(machine, s, event.time);
	if (run->race)
		race_end(run->race);
	machine->next[s]++;
	order_end(&run->order, event, end, run->program->ticks.sync);
}

/* False when a limit or the stopper has cut the run off. */
static bool run_events(struct copy_machine *machine)
{
	struct copy_run *run = &machine->run;
	struct order_event event;
	order_start(&run->order);
	while (order_next(&run->order, &event)) {
		if (run->order.done[event.instruction])
			continue; /* two notices, two events */
		int64_t start = copy_machine_begins(
			machine, machine->streams[event.instruction], event.time);
		if (start > event.time)
			order_again(&run->order, (struct order_event){start, event.instruction});
		if (start != event.time)
			continue;
		if (run->options->most && run->order.ran == run->options->most)
			return false;
		if (!copy_go_on(run, 1))
			return false;
		copy_machine_execute(machine, event);
	}
	return true;
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

/* Instructions of one kind with a flag or signal, in the order of streams. */
struct copy_uses array(uint32_t);

static struct copy_uses *list_uses(const struct copy_run *run, enum copy_kind kind, int count)
{
	const struct copy_program *program = run->program;
	struct copy_uses *uses = arena_array(run->arena, struct copy_uses, count);
	for (size_t s = 0; count && s < program->stream_count; s++)
		for (size_t i = 0; i < program->streams[s].count; i++) {
			const struct copy_instruction *at = &program->streams[s].instructions[i];
			if (at->kind == kind)
				*array_add(run->arena, &uses[at->flag]) =
					run->first[s] + (uint32_t)i;
		}
	return uses;
}

/* The n-th wait for a flag goes on after the n-th set. */
static void order_flags(struct copy_run *run)
{
	int count = run->program->flag_count;
	const struct copy_uses *sets = list_uses(run, COPY_SET, count);
	const struct copy_uses *waits = list_uses(run, COPY_WAIT, count);
	for (int f = 0; f < count; f++)
		for (size_t n = 0; n < waits[f].count; n++)
			if (n < sets[f].count)
				order_edge(&run->order, sets[f].at[n], waits[f].at[n], true);
			else
				order_block(&run->order, waits[f].at[n]);
}

/*
 * A wait for a signal goes on after the notices without which all others are too few, in whichever order they come: of
 * a stream with so many, the first ones.
 */
static void order_signals(struct copy_machine *machine)
{
	struct copy_run *run = &machine->run;
	int count = run->program->signal_count;
	const struct copy_uses *notices = list_uses(run, COPY_NOTIFY, count);
	const struct copy_uses *waits = list_uses(run, COPY_AWAIT, count);
	for (int g = 0; g < count; g++) {
		int64_t all = (int64_t)notices[g].count;
		int64_t least = handshake_least(run->program->handshake, all);
		machine->signals[g].all = all;
		for (size_t n = 0, end; n < notices[g].count; n = end) {
			uint32_t stream = machine->streams[notices[g].at[n]];
			for (end = n; end < notices[g].count &&
				      machine->streams[notices[g].at[end]] == stream;)
				end++;
			int64_t surely = least - (all - (int64_t)(end - n));
			for (size_t w = 0; surely > 0 && w < waits[g].count; w++)
				order_edge(&run->order, notices[g].at[n + (size_t)surely - 1],
					waits[g].at[w], false);
		}
	}
}

/* Numbers the instructions, and finds what each waits for: the one before it, flags and signals. */
static void open_order(struct copy_machine *machine)
{
	struct copy_run *run = &machine->run;
	const struct copy_program *program = run->program;
	size_t count = 0, edges = 0;
	run->first = arena_array(run->arena, uint32_t, program->stream_count);
	for (size_t s = 0; s < program->stream_count; s++) {
		run->first[s] = (uint32_t)count;
		count += program->streams[s].count;
		for (size_t i = 0; i < program->streams[s].count; i++)
			edges += program->streams[s].instructions[i].kind == COPY_AWAIT
					 ? 1 + program->stream_count
					 : 2;
	}
	run->order = order_open(count, edges, run->arena);
	machine->streams = arena_array(run->arena, uint32_t, count);
	for (size_t s = 0; s < program->stream_count; s++)
		for (uint32_t i = 0; i < program->streams[s].count; i++) {
			machine->streams[run->first[s] + i] = (uint32_t)s;
			if (i)
				order_edge(&run->order, run->first[s] + i - 1, run->first[s] + i,
					false);
		}
	order_flags(run);
	order_signals(machine);
}

static void open_race(struct copy_run *run)
{
	const struct copy_program *program = run->program;
	run->race = race_open(&run->order, (uint32_t)program->stream_count, run->arena);
	for (size_t s = 0; s < program->stream_count; s++)
		for (uint32_t i = 0; i < program->streams[s].count; i++)
			race_seat(run->race, run->first[s] + i, (uint32_t)s, i + 1);
}

static struct copy_machine open_machine(
	const struct copy_program *program, const struct copy_options *options, struct arena *arena)
{
	const struct topology *topology = program->topology;
	struct copy_machine machine = {
		.run = {.program = program,
			.options = options,
			.poll = {options->stopper, .every = STOP_STEPS},
			.arena = arena},
		.next = arena_array(arena, size_t, program->stream_count),
		.link_free = arena_array(arena, int64_t, topology->link_count),
		.routes = routes_open(topology, arena),
		.flags = arena_array(arena, struct copy_flag, program->flag_count),
		.signals = arena_array(arena, struct copy_signal, program->signal_count),
	};
	if (topology->ports == PORTS_ONE) {
		machine.sends = arena_array(arena, int64_t, topology->ranks);
		machine.receives = arena_array(arena, int64_t, topology->ranks);
	}
	open_order(&machine);
	return machine;
}

/* Keeps when each instruction runs, by stream. */
static void keep_times(struct copy_run *run)
{
	size_t streams = run->program->stream_count;
	struct run_time **trace = arena_array(run->arena, struct run_time *, streams);
	order_keep_times(&run->order);
	for (size_t s = 0; s < streams; s++)
		trace[s] = &run->order.times[run->first[s]];
	run->result.trace = trace;
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
	run->memory = options->data ? copy_memory_open(run) : NULL;
	run->result.data = run->memory != NULL;
	if (run->memory)
		open_race(run);
	if (options->trace)
		keep_times(run);
	bool whole = run_events(&machine);
	run->result.instructions = run->order.ran;
	run->result.ticks = run->order.end;
	if (!whole || run->poll.stopped)
		return run->result;
	run->result.finished = all_ran(&machine);
	for (int f = 0; f < program->flag_count; f++)
		if (machine.flags[f].set > machine.flags[f].waited)
			copy_fault(run, COPY_FLAG, machine.flags[f].stream, machine.flags[f].i,
				"flag %d is set and never waited for", f);
	run->result.staging_bytes = staging_bytes(program, arena);
	run->result.cycles = number_ceil_div(run->result.ticks, program->ticks.per_cycle);
	if (run->memory)
		copy_memory_end(run);
	run->result.finished &= !run->poll.stopped;
	return run->result;
}
