#include "search/graph/lx_staging.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"
#include "cost/graph/footprint.h"

#include <inttypes.h>
#include <stdlib.h>

enum { TILES_TRIED = 3, CHUNKS_TRIED = 4096 };

/* The menu of one broadcast in the making. */
struct cooking {
	const struct arch *arch;
	const struct workload *workload;
	const struct op *op;
	const struct sliding sliding;
	int tiles; /* 0: any number */
	struct arena *arena;
	struct array(struct staging_option) options;
};

static void try_tile(struct cooking *cooking, int64_t rows, int64_t sticks)
{
	int64_t alignment = cooking->arch->levels[cooking->arch->lx].alignment;
	struct staging staging = {.rows = rows, .sticks = sticks};
	int64_t chunks = staging_chunks(&cooking->sliding, &staging);
	if (chunks > CHUNKS_TRIED)
		return;
	int most = (int)number_min(cooking->tiles ? cooking->tiles : TILES_TRIED, chunks);
	for (int count = cooking->tiles ? most : 1; count <= most; count++) {
		struct staging_option option = {.rows = rows, .sticks = sticks, .count = count};
		option.bytes = count * number_align_up(staging_bytes(&staging), alignment);
		staging.count = count;
		if (staging_cycles(cooking->arch, cooking->workload, cooking->op, &staging,
			    cooking->arena, &option.cycles))
			*array_add(cooking->arena, &cooking->options) = option;
	}
}

/* n, half of it, .. 1, all rounded up. */
static int64_t halve(int64_t n)
{
	return n > 1 ? number_ceil_div(n, 2) : 0;
}

static int compare_options(const void *left, const void *right)
{
	const struct staging_option *a = left, *b = right;
	if (a->bytes != b->bytes)
		return a->bytes < b->bytes ? -1 : 1;
	if (a->cycles != b->cycles)
		return a->cycles < b->cycles ? -1 : 1;
	if (a->count != b->count)
		return a->count < b->count ? -1 : 1;
	return (a->rows < b->rows) - (a->rows > b->rows);
}

static struct staging_menu cook(const struct arch *arch, const struct workload *workload,
	const struct op *op, int tiles, struct arena *arena)
{
	const struct layout *layout = &workload->tensors[op->reads[0].tensor].layout;
	struct cooking cooking = {arch, workload, op, sliding_make(layout), tiles, arena, {0}};
	const struct sliding *sliding = &cooking.sliding;
	try_tile(&cooking, sliding->outer * sliding->rows, sliding->sticks);
	for (int64_t rows = sliding->rows; rows; rows = halve(rows))
		for (int64_t sticks = sliding->sticks; sticks; sticks = halve(sticks))
			if (sliding->outer > 1 || rows < sliding->rows || sticks < sliding->sticks)
				try_tile(&cooking, rows, sticks);
	struct staging_option *options = cooking.options.at;
	size_t kept = 0;
	if (cooking.options.count)
		qsort(options, cooking.options.count, sizeof *options, compare_options);
	for (size_t i = 0; i < cooking.options.count; i++)
		if (!kept || options[i].cycles < options[kept - 1].cycles)
			options[kept++] = options[i];
	return (struct staging_menu){op->name, kept, options};
}

const struct staging_menu *staging_menus(
	const struct arch *arch, const struct workload *workload, int tiles, struct arena *arena)
{
	struct staging_menu *menus =
		arena_array(arena, struct staging_menu, workload->op_count + 1);
	size_t count = 0;
	for (size_t o = 0; o < workload->op_count; o++)
		if (workload->ops[o].primitive->kind == OP_BROADCAST &&
			!broadcast_misfit(arena, arch, &workload->ops[o]))
			menus[count++] = cook(arch, workload, &workload->ops[o], tiles, arena);
	return menus;
}

static const struct staging_menu *find_menu(const struct staging_menu *menus, const char *op)
{
	while (menus->op && !text_equal(menus->op, op))
		menus++;
	return menus;
}

static bool allows(const struct planning *planning, const struct staging_option *option)
{
	int64_t most = planning->lx_capacity;
	if (planning->staging_bytes)
		most = number_min(most, planning->staging_bytes);
	return option->bytes <= most;
}

/* The last that fits is the fastest. */
static const struct staging_option *choose(
	const struct staging_menu *menu, const struct planning *planning)
{
	const struct staging_option *chosen = NULL;
	for (size_t i = 0; i < menu->count; i++)
		if (allows(planning, &menu->options[i]))
			chosen = &menu->options[i];
	return chosen;
}

size_t staging_option_count(const struct planning *planning, const char *op)
{
	return planning->menus ? find_menu(planning->menus, op)->count : 0;
}

const struct staging_menu *staging_menus_with(const struct planning *planning,
	const struct planning *limits, const char *op, size_t option, struct arena *arena)
{
	size_t count = 0;
	while (planning->menus[count].op)
		count++;
	struct staging_menu *menus = arena_array(arena, struct staging_menu, count + 1);
	for (size_t i = 0; i < count; i++) {
		const struct staging_menu *menu = &planning->menus[i];
		const struct staging_option *now = choose(menu, planning), *taken = now;
		if (text_equal(menu->op, op))
			taken = &menu->options[option];
		if (!taken || (taken == now && text_equal(menu->op, op)) || !allows(limits, taken))
			return NULL;
		menus[i] =
			(struct staging_menu){menu->op, 1, arena_copy(arena, taken, sizeof *taken)};
	}
	return menus;
}

bool staging_limits_alike(const struct planning *planning, int64_t bytes, int64_t other)
{
	struct planning one = *planning, two = *planning;
	one.staging_bytes = bytes;
	two.staging_bytes = other;
	for (const struct staging_menu *menu = planning->menus; menu->op; menu++)
		if (choose(menu, &one) != choose(menu, &two))
			return false;
	return true;
}

const char *lx_staging_choose(struct lx_graph *graph)
{
	const struct workload *workload = graph->workload;
	const struct planning *planning = graph->planning;
	graph->stagings = arena_array(graph->arena, struct staging *, workload->op_count);
	if (!workload_has_broadcast(workload))
		return NULL;
	const struct staging_menu *menus = planning->menus;
	if (!menus)
		menus = staging_menus(graph->arch, workload, planning->staging_tiles, graph->arena);
	for (size_t o = 0; o < workload->op_count; o++) {
		const struct op *op = &workload->ops[o];
		if (op->primitive->kind != OP_BROADCAST)
			continue;
		const char *why = broadcast_misfit(graph->arena, graph->arch, op);
		if (why)
			return why;
		const struct staging_option *option = choose(find_menu(menus, op->name), planning);
		if (!option)
			return arena_format(graph->arena,
				"broadcast '%s': no staging tiles that are worth trying fit into "
				"the %" PRId64 " bytes of LX for them",
				op->name,
				planning->staging_bytes
					? number_min(planning->staging_bytes, planning->lx_capacity)
					: planning->lx_capacity);
		struct staging *staging = arena_new(graph->arena, struct staging);
		*staging = (struct staging){option->rows, option->sticks, option->count, {0}};
		graph->stagings[o] = staging;
	}
	return NULL;
}

static size_t count_tiles(const struct lx_graph *graph)
{
	size_t count = 0;
	for (size_t o = 0; o < graph->workload->op_count; o++)
		if (graph->stagings[o])
			count += (size_t)graph->stagings[o]->count;
	return count;
}

void lx_staging_ask(const struct lx_graph *graph, struct lx_buffers *buffers)
{
	size_t tensors = buffers->packing.count, tiles = count_tiles(graph);
	struct buffer *all = arena_array(graph->arena, struct buffer, tensors + tiles);
	int64_t sum = 1;
	buffers->tensor_count = tensors;
	if (!tiles)
		return;
	for (size_t b = 0; b < tensors; b++) {
		all[b] = buffers->packing.buffers[b];
		all[b].weight = all[b].size;
		sum += all[b].size;
	}
	size_t b = tensors;
	for (size_t o = 0; o < graph->workload->op_count; o++) {
		const struct staging *staging = graph->stagings[o];
		for (int k = 0; staging && k < staging->count; k++)
			all[b++] = (struct buffer){
				.name = arena_format(graph->arena, "staging %d of %s", k,
					graph->workload->ops[o].name),
				.size = staging_bytes(staging),
				.start = (int64_t)o,
				.end = (int64_t)o + 1,
				.weight = sum,
			};
	}
	buffers->packing.buffers = all;
	buffers->packing.count = b;
}

static int64_t pitch_of(const struct lx_graph *graph, const struct staging *staging)
{
	int64_t alignment = graph->arch->levels[graph->arch->lx].alignment;
	return number_align_up(staging_bytes(staging), alignment);
}

int64_t lx_staging_most(const struct lx_graph *graph)
{
	int64_t most = 0;
	for (size_t o = 0; o < graph->workload->op_count; o++) {
		const struct staging *staging = graph->stagings[o];
		if (staging)
			most = number_max(most, staging->count * pitch_of(graph, staging));
	}
	return most;
}

void lx_staging_stack(const struct lx_graph *graph, int64_t base)
{
	for (size_t o = 0; o < graph->workload->op_count; o++) {
		struct staging *staging = graph->stagings[o];
		for (int k = 0; staging && k < staging->count; k++)
			staging->addresses[k] = base + k * pitch_of(graph, staging);
	}
}

void lx_staging_take(const struct lx_graph *graph, const int64_t *addresses)
{
	for (size_t o = 0; o < graph->workload->op_count; o++) {
		struct staging *staging = graph->stagings[o];
		for (int k = 0; staging && k < staging->count; k++)
			staging->addresses[k] = *addresses++;
	}
}
