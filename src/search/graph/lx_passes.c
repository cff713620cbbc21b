#include "search/graph/lx.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"
#include "cost/graph/footprint.h"
#include "model/graph/op_mapping.h"
#include "model/graph/plan_file.h"
#include "model/graph/run.h"
#include "model/graph/workload.h"
#include "search/graph/nests.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Finds users and stays of the workload that the graph has now. */
static void lx_graph_look(struct lx_graph *graph)
{
	graph->users = users_make(graph->arena, graph->workload);
	graph->stays = graph_stays(graph->arena, graph->planning->constraints, graph->workload);
}

struct lx_graph lx_graph_open(const struct arch *arch, const struct workload *workload,
	const struct mapping *mappings, const struct planning *planning, struct arena *arena)
{
	struct lx_graph graph = {.arch = arch,
		.planning = planning,
		.arena = arena,
		.workload = workload,
		.mappings = mappings,
		.reasons = arena_array(arena, const char *, workload->tensor_count)};
	lx_graph_look(&graph);
	return graph;
}

/* True if a tensor is a clone that the planner put in and may lay out as its readers need. */
static bool lx_is_moved(const struct lx_graph *graph, int tensor)
{
	int producer = graph->workload->tensors[tensor].producer;
	if (producer < 0 || graph->planning->clones != CLONE_READERS)
		return false;
	const struct op *op = &graph->workload->ops[producer];
	return op->move && op->primitive == &primitive_clone;
}

struct clone_fitting {
	int64_t bytes; /* on each core */
	struct view view;
};

/* Can the input be cloned, and at what price?  The answer is why not. */
static const char *lx_graph_fit(const struct lx_graph *graph, int t, const struct lx_uses *uses,
	int64_t budget, struct clone_fitting *out)
{
	const struct tensor *tensor = &graph->workload->tensors[t];
	const char *why;
	enum stay stay = graph->stays[t];
	if (stay == STAY_HBM)
		return "a constraint keeps it in HBM";
	if (users_root(graph->workload, &graph->users, t) >= 0)
		return "it lies on the root of a broadcast alone";
	if (uses->count == 0 || (uses->count == 1 && stay != STAY_LX))
		return "it is a graph input, read once";
	if (graph->planning->clones == CLONE_READERS) {
		if (!lx_residence(graph->arch, graph->workload, graph->mappings, uses, true,
			    graph->arena, &out->view, &why))
			return arena_format(
				graph->arena, "it is a graph input, not cloned: %s", why);
		out->bytes = view_bytes(&tensor->layout, &out->view);
	} else {
		int64_t cores = lx_core_count(uses, graph->planning->cores);
		if (cores == LX_MISMATCH)
			return "it is a graph input, not cloned: its readers are divided "
			       "differently";
		out->bytes = tensor->layout.bytes / cores;
	}
	if (out->bytes > budget)
		return arena_format(graph->arena,
			"it is a graph input, not cloned: %lld bytes per core exceed the %lld left "
			"for clones",
			(long long)out->bytes, (long long)budget);
	return NULL;
}

/* A clone to be, in the order of inputs. */
struct wanted_clone {
	int tensor, before; /* its first reader */
	int number;         /* of the clone among tensors */
	const char *name;
	struct view view;
};

/* Before the op that reads them first, in the order of inputs. */
static int compare_clones(const void *left, const void *right)
{
	const struct wanted_clone *a = left, *b = right;
	if (a->before != b->before)
		return a->before < b->before ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

struct cloning {
	struct lx_graph *graph;
	struct array(struct wanted_clone) clones;
};

static void cloning_add_wish(
	struct cloning *cloning, int tensor, int before, const struct clone_fitting *fitting)
{
	struct lx_graph *graph = cloning->graph;
	size_t number = graph->workload->tensor_count + cloning->clones.count;
	*array_add(graph->arena, &cloning->clones) = (struct wanted_clone){
		.tensor = tensor, .before = before, .number = (int)number, .view = fitting->view};
}

static void copy_inputs(struct cloning *cloning)
{
	struct lx_graph *graph = cloning->graph;
	struct arena *arena = graph->arena;
	const struct workload *from = graph->workload;
	struct wanted_clone *clones = cloning->clones.at;
	size_t count = cloning->clones.count, c = 0;
	struct growing growing = growing_open(arena, from, count);
	struct mapping *mappings = arena_array(arena, struct mapping, from->op_count + count);
	for (size_t i = 0; i < count; i++) {
		clones[i].name = growing_name(&growing, MOVE_CLONE, clones[i].tensor);
		growing_reserve(&growing, clones[i].name, clones[i].number);
	}
	qsort(clones, count, sizeof *clones, compare_clones);
	for (int o = 0; o < (int)from->op_count; o++) {
		for (; c < count && clones[c].before == o; c++) {
			growing_move(&growing, MOVE_CLONE, clones[c].tensor, clones[c].number,
				clones[c].name);
			const struct op *op = &growing.workload->ops[o + (int)c];
			mappings[o + (int)c] = graph->planning->clones == CLONE_READERS
						       ? move_mapping(graph->arch, growing.workload,
								 op, &clones[c].view)
						       : mapping_make(graph->arch, op);
		}
		growing_take(&growing);
		mappings[o + (int)c] = graph->mappings[o];
	}
	const char **reasons = arena_array(arena, const char *, from->tensor_count + count);
	memcpy(reasons, graph->reasons, from->tensor_count * sizeof *reasons);
	graph->workload = growing.workload;
	graph->mappings = mappings;
	graph->reasons = reasons;
	lx_graph_look(graph);
}

void lx_clone_inputs(struct lx_graph *graph)
{
	struct cloning cloning = {.graph = graph};
	const struct workload *workload = graph->workload;
	int64_t budget = graph->planning->lx_capacity;
	bool wanted = graph->planning->clones != CLONE_OFF && arch_moves_boxes(graph->arch) &&
		      name_list_has(&graph->planning->eligible, primitive_clone.name);
	for (int t = 0; t < (int)workload->tensor_count; t++) {
		if (workload->tensors[t].producer >= 0)
			continue;
		struct clone_fitting fitting = {0};
		graph->reasons[t] = "it is a graph input";
		if (!wanted || stopper_stops(&graph->planning->stopper))
			continue;
		struct lx_uses uses = lx_uses(
			graph->arch, workload, &graph->users, graph->mappings, t, graph->arena);
		graph->reasons[t] = lx_graph_fit(graph, t, &uses, budget, &fitting);
		if (graph->reasons[t])
			continue;
		cloning_add_wish(&cloning, t, uses.at[0].op, &fitting);
		graph->reasons[t] = "it is a graph input; its clone takes its place";
		budget -= fitting.bytes;
	}
	if (cloning.clones.count && !stopper_stops(&graph->planning->stopper))
		copy_inputs(&cloning);
}

enum { TILES_TRIED = 3, CHUNKS_TRIED = 4096 };

/* The menu of one broadcast in the making. */
struct staging_gathering {
	const struct arch *arch;
	const struct workload *workload;
	const struct op *op;
	const struct sliding sliding;
	int tiles; /* 0: any number */
	struct arena *arena;
	struct array(struct staging_option) options;
};

static void try_tile(struct staging_gathering *gathering, int64_t rows, int64_t sticks)
{
	int64_t alignment = arch_lx(gathering->arch)->alignment;
	struct staging staging = {.rows = rows, .sticks = sticks};
	int64_t chunks = staging_chunks(&gathering->sliding, &staging);
	if (chunks > CHUNKS_TRIED)
		return;
	int most = (int)number_min(gathering->tiles ? gathering->tiles : TILES_TRIED, chunks);
	for (int count = gathering->tiles ? most : 1; count <= most; count++) {
		struct staging_option option = {.rows = rows, .sticks = sticks, .count = count};
		option.bytes = count * number_align_up(staging_bytes(&staging), alignment);
		staging.count = count;
		if (staging_cycles(gathering->arch, gathering->workload, gathering->op, &staging,
			    gathering->arena, &option.cycles))
			*array_add(gathering->arena, &gathering->options) = option;
	}
}

/* n, half of it, .. 1, all rounded up. */
static int64_t lx_passes_halve(int64_t n)
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

static struct staging_menu gather_menu(const struct arch *arch, const struct workload *workload,
	const struct op *op, int tiles, struct arena *arena)
{
	const struct layout *layout = &workload->tensors[op->reads[0].tensor].layout;
	struct staging_gathering gathering = {
		arch, workload, op, sliding_make(layout), tiles, arena, {0}};
	const struct sliding *sliding = &gathering.sliding;
	try_tile(&gathering, sliding->outer * sliding->rows, sliding->sticks);
	for (int64_t rows = sliding->rows; rows; rows = lx_passes_halve(rows))
		for (int64_t sticks = sliding->sticks; sticks; sticks = lx_passes_halve(sticks))
			if (sliding->outer > 1 || rows < sliding->rows || sticks < sliding->sticks)
				try_tile(&gathering, rows, sticks);
	struct staging_option *options = gathering.options.at;
	size_t kept = 0;
	if (gathering.options.count)
		qsort(options, gathering.options.count, sizeof *options, compare_options);
	for (size_t i = 0; i < gathering.options.count; i++)
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
			menus[count++] =
				gather_menu(arch, workload, &workload->ops[o], tiles, arena);
	return menus;
}

static const struct staging_menu *find_menu(const struct staging_menu *menus, const char *op)
{
	while (menus->op && !text_equal(menus->op, op))
		menus++;
	return menus;
}

static bool planning_allows(const struct planning *planning, const struct staging_option *option)
{
	int64_t most = planning->lx_capacity;
	if (planning->staging_bytes)
		most = number_min(most, planning->staging_bytes);
	return option->bytes <= most;
}

/* The last that fits is the fastest. */
static const struct staging_option *choose_staging(
	const struct staging_menu *menu, const struct planning *planning)
{
	const struct staging_option *chosen = NULL;
	for (size_t i = 0; i < menu->count; i++)
		if (planning_allows(planning, &menu->options[i]))
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
		const struct staging_option *now = choose_staging(menu, planning), *taken = now;
		if (text_equal(menu->op, op))
			taken = &menu->options[option];
		if (!taken || (taken == now && text_equal(menu->op, op)) ||
			!planning_allows(limits, taken))
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
		if (choose_staging(menu, &one) != choose_staging(menu, &two))
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
		const struct staging_option *option =
			choose_staging(find_menu(menus, op->name), planning);
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

static size_t lx_graph_count_tiles(const struct lx_graph *graph)
{
	size_t count = 0;
	for (size_t o = 0; o < graph->workload->op_count; o++)
		if (graph->stagings[o])
			count += (size_t)graph->stagings[o]->count;
	return count;
}

static int64_t pitch_of(const struct lx_graph *graph, const struct staging *staging)
{
	int64_t alignment = arch_lx(graph->arch)->alignment;
	return number_align_up(staging_bytes(staging), alignment);
}

/* Adds the tiles behind the tensors; they weigh more than all of these. */
static void lx_staging_ask(const struct lx_graph *graph, struct lx_buffers *buffers)
{
	size_t tensors = buffers->packing.count, tiles = lx_graph_count_tiles(graph);
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

struct buffer_gathering {
	const struct lx_graph *graph;
	size_t count;
	struct buffer *buffers;
	int *tensors;
	struct view *views;
	int *buffer_of;      /* by tensor; -1 */
	int *opaque;         /* by step: the first opaque op from there on */
	int *resident_steps; /* by step: those before in which a tensor lives that must live in LX */
};

/* Finds the first opaque op from each step on, and the steps in which a tensor lives that must live in LX. */
static void look_ahead(struct buffer_gathering *gathering)
{
	const struct lx_graph *graph = gathering->graph;
	const struct workload *workload = graph->workload;
	int ops = (int)workload->op_count, from, to;
	gathering->opaque = arena_array(graph->arena, int, ops + 1);
	gathering->resident_steps = arena_array(graph->arena, int, ops + 1);
	gathering->opaque[ops] = ops;
	for (int o = ops - 1; o >= 0; o--)
		gathering->opaque[o] = workload->ops[o].primitive->kind == OP_OPAQUE
					       ? o
					       : gathering->opaque[o + 1];
	for (int t = 0; t < (int)workload->tensor_count; t++) {
		users_life(&graph->users, t, &from, &to);
		gathering->resident_steps[from] += graph->stays[t] == STAY_LX;
		gathering->resident_steps[to] -= graph->stays[t] == STAY_LX;
	}
	/* Sums: how many live; then how many of the steps before have one. */
	for (int o = 0, living = 0, steps = 0; o <= ops; o++) {
		living += gathering->resident_steps[o];
		gathering->resident_steps[o] = steps;
		steps += living > 0;
	}
}

/* An opaque op at work while the tensor lives; NULL if there is none. */
static const struct op *find_opaque(const struct buffer_gathering *gathering, int from, int to)
{
	int o = gathering->opaque[from];
	return o < to ? &gathering->graph->workload->ops[o] : NULL;
}

/* True if a tensor lives while one does that must live in LX. */
static bool stands_in_way(const struct buffer_gathering *gathering, int t)
{
	int from, to;
	users_life(&gathering->graph->users, t, &from, &to);
	return gathering->resident_steps[to] > gathering->resident_steps[from];
}

/* Why the machine keeps a tensor out of the scratchpad in one of its ops; NULL if it does not. */
static const char *find_unfit(const struct lx_graph *graph, int t)
{
	const struct users *users = &graph->users;
	const char *why = NULL;
	for (size_t i = users->first[t]; !why && i < users->first[t + 1]; i++) {
		const struct op *op = &graph->workload->ops[users->at[i].op];
		if (!arch_moves_boxes(graph->arch) && op_is_tiled(op))
			why = nests_home(graph->arch, graph->workload, op,
				1u << users->at[i].operand, graph->arena);
	}
	return why;
}

/* NULL if the op's output may live in LX, under *view. */
static const char *check_output(
	const struct buffer_gathering *gathering, const struct op *op, int t, struct view *view)
{
	const struct lx_graph *graph = gathering->graph;
	const struct workload *workload = graph->workload;
	if (op->primitive->kind == OP_OPAQUE)
		return arena_format(graph->arena, "the opaque op '%s' writes it", op->name);
	if (workload->tensors[t].role == TENSOR_OUTPUT)
		return "it is a graph output";
	enum stay stay = graph->stays[t];
	if (stay == STAY_HBM)
		return "a constraint keeps it in HBM";
	if (stay == STAY_ANYWHERE && graph->gives_way && stands_in_way(gathering, t))
		return "it gives way to tensors that must live in LX";
	if (!name_list_has(&graph->planning->eligible, op->type))
		return arena_format(graph->arena, "outputs of '%s' ops are not eligible", op->type);
	const char *why = NULL;
	struct arena_mark mark = arena_mark(graph->arena);
	struct lx_uses uses =
		lx_uses(graph->arch, workload, &graph->users, graph->mappings, t, graph->arena);
	if (!lx_residence(graph->arch, workload, graph->mappings, &uses, lx_is_moved(graph, t),
		    graph->arena, view, &why))
		return why;
	arena_release(graph->arena, mark);
	why = find_unfit(graph, t);
	if (why)
		return why;
	int from, to;
	users_life(&graph->users, t, &from, &to);
	const struct op *opaque = find_opaque(gathering, from, to);
	if (opaque)
		return arena_format(
			graph->arena, "it lives across the opaque op '%s'", opaque->name);
	return NULL;
}

static void buffer_gathering_add_buffer(
	struct buffer_gathering *gathering, int t, const struct view *view)
{
	const struct tensor *tensor = &gathering->graph->workload->tensors[t];
	int from, to;
	users_life(&gathering->graph->users, t, &from, &to);
	size_t b = gathering->count++;
	gathering->buffer_of[t] = (int)b;
	gathering->tensors[b] = t;
	gathering->views[b] = *view;
	gathering->buffers[b] = (struct buffer){.name = tensor->name,
		.size = view_bytes(&tensor->layout, view),
		.start = from,
		.end = to};
}

/* Does the op read the parent only where it writes the child? */
static bool reads_where_it_writes(const struct workload *workload, const struct op *op, int parent)
{
	int rank = workload->tensors[parent].layout.host_rank;
	for (int i = 0; i < op->read_count; i++)
		if (op->reads[i].tensor == parent &&
			!access_equal(op, &op->reads[i], &op->writes[0], rank))
			return false;
	return true;
}

static bool is_parent(
	const struct buffer_gathering *gathering, const struct op *op, size_t child, size_t b)
{
	const struct workload *workload = gathering->graph->workload;
	const struct buffer *ours = &gathering->buffers[child], *buffer = &gathering->buffers[b];
	int t = gathering->tensors[child], parent = gathering->tensors[b];
	return buffer->size == ours->size && buffer->end == ours->start + 1 &&
	       layout_equal(&workload->tensors[t].layout, &workload->tensors[parent].layout) &&
	       view_equal(&gathering->views[child], &gathering->views[b]) &&
	       reads_where_it_writes(workload, op, parent);
}

static void buffer_gathering_find_parents(struct buffer_gathering *gathering, size_t child)
{
	const struct lx_graph *graph = gathering->graph;
	const struct op *op =
		&graph->workload->ops[graph->workload->tensors[gathering->tensors[child]].producer];
	if (op->primitive->kind != OP_MAP || !name_list_has(&graph->planning->in_place, op->type))
		return;
	int *parents = arena_array(graph->arena, int, op->read_count);
	size_t count = 0;
	for (int i = 0; i < op->read_count; i++) {
		int b = gathering->buffer_of[op->reads[i].tensor];
		bool known = b < 0 || !is_parent(gathering, op, child, (size_t)b);
		for (size_t k = 0; k < count; k++)
			known |= parents[k] == b;
		if (!known)
			parents[count++] = b;
	}
	gathering->buffers[child].parents = parents;
	gathering->buffers[child].parent_count = count;
}

struct lx_buffers lx_buffers(const struct lx_graph *graph)
{
	const struct workload *workload = graph->workload;
	struct buffer_gathering gathering = {
		.graph = graph,
		.buffers = arena_array(graph->arena, struct buffer, workload->tensor_count),
		.tensors = arena_array(graph->arena, int, workload->tensor_count),
		.views = arena_array(graph->arena, struct view, workload->tensor_count),
		.buffer_of = arena_array(graph->arena, int, workload->tensor_count),
	};
	look_ahead(&gathering);
	memset(gathering.buffer_of, -1, workload->tensor_count * sizeof *gathering.buffer_of);
	for (size_t o = 0; o < workload->op_count; o++) {
		const struct op *op = &workload->ops[o];
		if (stopper_stops(&graph->planning->stopper))
			break;
		for (int i = 0; i < op->write_count; i++) {
			int t = op->writes[i].tensor;
			struct view view;
			graph->reasons[t] = check_output(&gathering, op, t, &view);
			if (!graph->reasons[t])
				buffer_gathering_add_buffer(&gathering, t, &view);
		}
	}
	for (size_t b = 0; b < gathering.count; b++)
		buffer_gathering_find_parents(&gathering, b);
	struct lx_buffers buffers = {
		.packing = {.capacity = graph->planning->lx_capacity,
			.alignment = arch_lx(graph->arch)->alignment,
			.count = gathering.count,
			.buffers = gathering.buffers},
		.tensors = gathering.tensors,
		.views = gathering.views,
	};
	lx_staging_ask(graph, &buffers);
	return buffers;
}

/* The end of what cannot be parted: moves and the op behind them. */
static int find_end(const struct plan *plan, int first)
{
	while (first < plan->step_count - 1 && plan_is_move(plan, first))
		first++;
	return first + 1;
}

void lx_bundle_steps(const struct lx_graph *graph, struct plan *plan)
{
	struct plan_arguments arguments = plan_arguments_open(plan, graph->arena);
	int64_t most = graph->arch->bundle_tensors;
	int bundle = 0, start = 0;
	for (int first = 0, end; first < plan->step_count; first = end) {
		end = find_end(plan, first);
		plan_arguments_add(&arguments, first, end);
		if (most > 0 && start < first && arguments.count > most) {
			bundle++;
			start = first;
			plan_arguments_clear(&arguments);
			plan_arguments_add(&arguments, first, end);
		}
		for (int step = first; step < end; step++)
			plan->steps[step].bundle = bundle;
		if (plan->workload->ops[plan->steps[end - 1].op].primitive->kind == OP_OPAQUE) {
			bundle++;
			start = end;
			plan_arguments_clear(&arguments);
		}
	}
}
