#include "tests/support/copy_waits.h"

#include "base/arena.h"

#include <string.h>

enum { NODES_MOST = 400 };

/* Every instruction is a node; reach[a][b]: a is before b. */
struct order {
	const struct copy_program *program;
	int count;
	struct {
		size_t stream;
		const struct copy_instruction *instruction;
	} nodes[NODES_MOST];
	bool reach[NODES_MOST][NODES_MOST];
};

static bool is(const struct order *order, int node, enum copy_kind kind, int flag)
{
	const struct copy_instruction *instruction = order->nodes[node].instruction;
	return instruction->kind == kind && instruction->flag == flag;
}

/* The n-th set goes before the n-th wait. */
static void add_flag(struct order *order, int flag)
{
	int wait = 0;
	for (int set = 0; set < order->count; set++) {
		if (!is(order, set, COPY_SET, flag))
			continue;
		while (wait < order->count && !is(order, wait, COPY_WAIT, flag))
			wait++;
		if (wait < order->count)
			order->reach[set][wait++] = true;
	}
}

/* All that notify a signal go before those that wait for it: none of them can be missed. */
static void add_signal(struct order *order, int signal)
{
	for (int a = 0; a < order->count; a++)
		for (int b = 0; b < order->count; b++)
			order->reach[a][b] |= is(order, a, COPY_NOTIFY, signal) &&
					      is(order, b, COPY_AWAIT, signal);
}

static bool find_order(const struct copy_program *program, struct order *order)
{
	*order = (struct order){.program = program};
	for (size_t s = 0; s < program->stream_count; s++)
		for (size_t i = 0; i < program->streams[s].count; i++) {
			if (order->count == NODES_MOST)
				return false;
			order->nodes[order->count].stream = s;
			order->nodes[order->count++].instruction =
				&program->streams[s].instructions[i];
		}
	for (int a = 0; a + 1 < order->count; a++)
		order->reach[a][a + 1] = order->nodes[a].stream == order->nodes[a + 1].stream;
	for (int flag = 0; flag < program->flag_count; flag++)
		add_flag(order, flag);
	for (int signal = 0; signal < program->signal_count; signal++)
		add_signal(order, signal);
	for (int m = 0; m < order->count; m++)
		for (int a = 0; a < order->count; a++)
			for (int b = 0; order->reach[a][m] && b < order->count; b++)
				order->reach[a][b] |= order->reach[m][b];
	return true;
}

static bool writes(const struct copy_instruction *instruction, int tile)
{
	return (instruction->kind == COPY_LOAD || instruction->kind == COPY_COMBINE) &&
	       instruction->tile == tile;
}

static bool touches(const struct copy_instruction *instruction, int tile)
{
	return copy_moves(instruction->kind) &&
	       (instruction->tile == tile ||
		       (instruction->kind == COPY_COMBINE && instruction->other == tile));
}

/* The same elements: chunks of one operation are the same or apart. */
static bool brings(const struct copy_instruction *store, const struct copy_instruction *load)
{
	return store->kind == COPY_STORE && load->kind == COPY_LOAD &&
	       store->buffer == load->buffer && store->chunk == load->chunk &&
	       store->shift == load->shift;
}

int copy_needs_order(const struct copy_program *program)
{
	static struct order order;
	if (!find_order(program, &order))
		return -1;
	for (int a = 0; a < order.count; a++)
		for (int b = 0; b < order.count; b++) {
			const struct copy_instruction *one = order.nodes[a].instruction;
			const struct copy_instruction *two = order.nodes[b].instruction;
			bool either = order.reach[a][b] || order.reach[b][a];
			if (brings(one, two) && !order.reach[a][b])
				return 1;
			for (int t = 0; t < program->tile_count && a != b && !either; t++)
				if (writes(one, t) && touches(two, t))
					return 1;
		}
	return 0;
}

static bool is_wait(const struct copy_instruction *instruction)
{
	return instruction->kind == COPY_WAIT || instruction->kind == COPY_AWAIT;
}

bool copy_without_wait(
	struct arena *arena, const struct copy_program *program, int n, struct copy_program *out)
{
	struct copy_stream *streams =
		arena_copy(arena, program->streams, program->stream_count * sizeof *streams);
	*out = *program;
	out->streams = streams;
	for (size_t s = 0; s < program->stream_count; s++)
		for (size_t i = 0; i < streams[s].count; i++) {
			if (!is_wait(&streams[s].instructions[i]) || n-- > 0)
				continue;
			struct copy_instruction *left = arena_copy(
				arena, streams[s].instructions, streams[s].count * sizeof *left);
			memmove(&left[i], &left[i + 1], (--streams[s].count - i) * sizeof *left);
			streams[s].instructions = left;
			return true;
		}
	return false;
}
