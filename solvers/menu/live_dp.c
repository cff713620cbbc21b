#include "base/arena.h"
#include "base/array.h"
#include "base/number.h"
#include "base/stopper.h"
#include "model/packing/capture.h"
#include "search/drive/solver.h"

#include <assert.h>
#include <stdlib.h>

/*
 * Divisions, residency and addresses of a capture, by labels over the order in which buffers are
 * made.
 *
 *	state        for each live buffer: its division if it is in LX, else HBM.  The division of a
 *	             buffer in HBM restricts no reader, so the cheapest that its parents allow is taken
 *	label        the cheapest way into a state: costs add up, so of equal states one is kept
 *	relaxation   addresses are ignored: live bytes must not exceed the capacity
 *	lower bound  of the buffers to come: those that no division lets stay are spilled, all take the
 *	             most cores and the least squares of their menus
 *	passes       of growing width; a label is dropped if its lower bound does not beat the
 *	             incumbent, or if the pass has more labels than its width.  A pass that drops none
 *	             for its width proves the incumbent
 *	addresses    the packer places the buffers that the best label keeps.  A set that does not fit
 *	             becomes a no-good, and the pass is repeated: labels carry a bit for each no-good
 *	             that they still contain
 */

/* An op that reads a buffer. */
struct menu_reader {
	const struct capture_edge *edge;
	size_t place; /* of the op in the order */
};

struct menu_item {
	const struct capture_buffer *buffer;
	size_t reader_count;
	struct menu_reader *readers;
	struct capture_edge *edges; /* those of the buffer, pairs by parent's division, then own */
	bool *usable; /* by division: each reader has one that finds it in LX, and it fits alone */
	bool is_usable; /* any of them */
	int *same;      /* by division: see menu_merge */
};

struct menu_problem {
	const struct capture_question *question;
	int64_t room; /* no more menu_bytes can live at once: the last buffer need not end aligned */
	size_t count;
	struct menu_item *items;   /* by buffer */
	int *order;                /* buffers by the step in which they are made */
	struct capture_cost *rest; /* lower bound of order[i] and all after it; count + 1 of them */
};

/* The buffers in LX, to be placed once divisions and residency are chosen. */
struct menu_packing {
	struct packing packing;
	int *buffers; /* of the capture, by buffer of the packing */
};

/* A label is kept until the pass ends, its state only until the next layer is made. */
struct menu_label {
	struct capture_cost cost;
	uint64_t nogoods; /* bits of those all of whose buffers so far it keeps */
	int32_t before;   /* label of the layer before */
	int32_t division;
	bool stays;
};

/* The labels after one step: of equal states and no-goods the cheapest is kept. */
struct menu_layer {
	size_t width;     /* slots of a state */
	const int *slots; /* buffers that are live after this step */
	struct array(struct menu_label) labels;
	struct array(int) states; /* width numbers for each label */
	size_t table_size;        /* a power of two */
	int32_t *table;           /* labels by state and no-goods; -1: free */
};

static struct capture_cost menu_add(const struct capture_cost *a, const struct capture_cost *b)
{
	return (struct capture_cost){
		a->spilled + b->spilled, a->idle + b->idle, a->squares + b->squares};
}

static int64_t menu_problem_align(const struct menu_problem *menu, int64_t bytes)
{
	int64_t step = menu->question->alignment;
	return bytes / step * step + (bytes % step ? step : 0);
}

/* Bytes of a buffer per core, up to a multiple of the alignment. */
static int64_t menu_bytes(const struct menu_problem *menu, int buffer, int division)
{
	return menu_problem_align(menu, capture_bytes(menu->items[buffer].buffer, division));
}

/* True if a has more cores than b, or as many and fewer squares. */
static bool menu_is_better(const struct capture_division *a, const struct capture_division *b)
{
	return a->cores > b->cores || (a->cores == b->cores && a->squares < b->squares);
}

static int compare_pairs(const void *a, const void *b)
{
	const struct capture_pair *x = a, *y = b;
	return x->parent != y->parent ? (x->parent > y->parent) - (x->parent < y->parent)
				      : (x->own > y->own) - (x->own < y->own);
}

static void sort_edges(struct arena *arena, struct menu_item *item)
{
	size_t count = item->buffer->edge_count;
	item->edges = arena_array(arena, struct capture_edge, count);
	for (size_t e = 0; e < count; e++) {
		struct capture_edge *edge = &item->edges[e];
		*edge = item->buffer->edges[e];
		struct capture_pair *pairs =
			arena_copy(arena, edge->pairs, edge->pair_count * sizeof *edge->pairs);
		qsort(pairs, edge->pair_count, sizeof *pairs, compare_pairs);
		size_t kept = 0;
		for (size_t p = 0; p < edge->pair_count; p++)
			if (!kept || compare_pairs(&pairs[kept - 1], &pairs[p]) != 0)
				pairs[kept++] = pairs[p];
		edge->pairs = pairs;
		edge->pair_count = kept;
	}
}

/* The pairs of an edge with one division of the parent: [*from, *to). */
static void menu_row(const struct capture_edge *edge, int division, size_t *from, size_t *to)
{
	size_t low = 0, high = edge->pair_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (edge->pairs[middle].parent < division)
			low = middle + 1;
		else
			high = middle;
	}
	*from = *to = low;
	while (*to < edge->pair_count && edge->pairs[*to].parent == division)
		++*to;
}

static bool is_row_empty(const struct capture_edge *edge, int division)
{
	size_t from, to;
	menu_row(edge, division, &from, &to);
	return from == to;
}

static bool are_rows_equal(const struct capture_edge *edge, int a, int b)
{
	size_t from_a, to_a, from_b, to_b;
	menu_row(edge, a, &from_a, &to_a);
	menu_row(edge, b, &from_b, &to_b);
	if (to_a - from_a != to_b - from_b)
		return false;
	for (size_t i = 0; i < to_a - from_a; i++)
		if (edge->pairs[from_a + i].own != edge->pairs[from_b + i].own)
			return false;
	return true;
}

/* Tells each buffer who reads it, in the order of ops. */
static void find_readers(struct arena *arena, struct menu_problem *menu)
{
	for (size_t b = 0; b < menu->count; b++)
		for (size_t e = 0; e < menu->items[b].buffer->edge_count; e++)
			menu->items[menu->items[b].edges[e].parent].reader_count++;
	for (size_t b = 0; b < menu->count; b++) {
		struct menu_item *item = &menu->items[b];
		item->readers = arena_array(arena, struct menu_reader, item->reader_count);
		item->reader_count = 0;
	}
	for (size_t i = 0; i < menu->count; i++) {
		const struct menu_item *item = &menu->items[menu->order[i]];
		for (size_t e = 0; e < item->buffer->edge_count; e++) {
			struct menu_item *parent = &menu->items[item->edges[e].parent];
			parent->readers[parent->reader_count++] =
				(struct menu_reader){&item->edges[e], i};
		}
	}
}

static void find_usable(struct arena *arena, struct menu_problem *menu, int b)
{
	struct menu_item *item = &menu->items[b];
	size_t count = item->buffer->division_count;
	item->usable = arena_array(arena, bool, count);
	item->same = arena_array(arena, int, count);
	for (size_t d = 0; d < count; d++) {
		bool usable = item->buffer->may_stay &&
			      capture_bytes(item->buffer, (int)d) <= menu->question->capacity;
		for (size_t r = 0; r < item->reader_count && usable; r++)
			usable = !is_row_empty(item->readers[r].edge, (int)d);
		item->usable[d] = usable;
		item->is_usable |= usable;
		item->same[d] = (int)d;
	}
}

static bool are_same(const struct menu_problem *menu, int b, size_t i, int x, int y)
{
	const struct menu_item *item = &menu->items[b];
	if (capture_bytes(item->buffer, x) != capture_bytes(item->buffer, y))
		return false;
	for (size_t r = 0; r < item->reader_count; r++)
		if (item->readers[r].place > i && !are_rows_equal(item->readers[r].edge, x, y))
			return false;
	return true;
}

/* Sets `same` of a buffer: the first usable division that is the same to
 * every reader after place i of the order and to the capacity. */
static void menu_merge(struct menu_problem *menu, int buffer, size_t i)
{
	struct menu_item *item = &menu->items[buffer];
	for (int d = 0; d < (int)item->buffer->division_count; d++) {
		item->same[d] = d;
		for (int k = 0; k < d && item->same[d] == d && item->usable[d]; k++)
			if (item->usable[k] && item->same[k] == k &&
				are_same(menu, buffer, i, k, d))
				item->same[d] = k;
	}
}

static void menu_problem_set_order(struct arena *arena, struct menu_problem *menu)
{
	menu->order = arena_array(arena, int, menu->count);
	for (size_t i = 0; i < menu->count; i++) {
		size_t at = i;
		int64_t start = menu->items[i].buffer->start;
		for (; at > 0 && menu->items[menu->order[at - 1]].buffer->start > start; at--)
			menu->order[at] = menu->order[at - 1];
		menu->order[at] = (int)i;
	}
}

static void menu_problem_set_bounds(struct arena *arena, struct menu_problem *menu)
{
	menu->rest = arena_array(arena, struct capture_cost, menu->count + 1);
	for (size_t i = menu->count; i-- > 0;) {
		const struct menu_item *item = &menu->items[menu->order[i]];
		const struct capture_division *divisions = item->buffer->divisions;
		struct capture_cost least = {item->is_usable ? 0 : item->buffer->cost,
			-divisions->cores, divisions->squares};
		for (size_t d = 1; d < item->buffer->division_count; d++) {
			least.idle = number_min(least.idle, -divisions[d].cores);
			least.squares = number_min(least.squares, divisions[d].squares);
		}
		menu->rest[i] = menu_add(&menu->rest[i + 1], &least);
	}
}

static struct menu_problem menu_open(struct arena *arena, const struct capture_question *question)
{
	const struct capture *capture = question->capture;
	struct menu_problem menu = {.question = question,
		.count = capture->count,
		.items = arena_array(arena, struct menu_item, capture->count)};
	menu.room = menu_problem_align(&menu, question->capacity);
	for (size_t b = 0; b < menu.count; b++) {
		menu.items[b].buffer = &capture->buffers[b];
		sort_edges(arena, &menu.items[b]);
	}
	menu_problem_set_order(arena, &menu);
	find_readers(arena, &menu);
	for (size_t b = 0; b < menu.count; b++)
		find_usable(arena, &menu, (int)b);
	menu_problem_set_bounds(arena, &menu);
	return menu;
}

/* The parents of a kept buffer whose address it may take. */
static void set_parents(struct arena *arena, const struct menu_problem *menu, const int *divisions,
	int b, const int *index, struct buffer *out)
{
	const struct menu_item *item = &menu->items[b];
	int *parents = arena_array(arena, int, item->buffer->edge_count);
	for (size_t e = 0; e < item->buffer->edge_count; e++) {
		int parent = item->edges[e].parent;
		const struct capture_buffer *other = menu->items[parent].buffer;
		if (item->edges[e].is_in_place && index[parent] >= 0 &&
			other->end == item->buffer->start + 1 &&
			capture_bytes(other, divisions[parent]) == out->size)
			parents[out->parent_count++] = index[parent];
	}
	out->parents = parents;
}

static struct menu_packing menu_packing(struct arena *arena, const struct menu_problem *menu,
	const int *divisions, const bool *stays)
{
	struct menu_packing kept = {.buffers = arena_array(arena, int, menu->count),
		.packing = {.capacity = menu->question->capacity,
			.alignment = menu->question->alignment,
			.goal = PACKING_FIT}};
	int *index = arena_array(arena, int, menu->count);
	for (size_t b = 0; b < menu->count; b++) {
		index[b] = stays[b] ? (int)kept.packing.count : -1;
		if (stays[b])
			kept.buffers[kept.packing.count++] = (int)b;
	}
	struct buffer *buffers = arena_array(arena, struct buffer, kept.packing.count);
	for (size_t k = 0; k < kept.packing.count; k++) {
		int b = kept.buffers[k];
		const struct capture_buffer *buffer = menu->items[b].buffer;
		buffers[k] = (struct buffer){.name = buffer->name,
			.size = capture_bytes(buffer, divisions[b]),
			.start = buffer->start,
			.end = buffer->end};
		set_parents(arena, menu, divisions, b, index, &buffers[k]);
	}
	kept.packing.buffers = buffers;
	return kept;
}

static uint64_t hash_state(const int *state, size_t width, uint64_t nogoods)
{
	uint64_t hash = nogoods * UINT64_C(0x9e3779b97f4a7c15);
	for (size_t s = 0; s < width; s++)
		hash = hash_add(hash, (uint64_t)(state[s] + 2));
	return hash ^ hash >> 29;
}

static bool is_state(
	const struct menu_layer *layer, size_t label, const int *state, uint64_t nogoods)
{
	const int *other = layer->states.at + label * layer->width;
	for (size_t s = 0; s < layer->width; s++)
		if (other[s] != state[s])
			return false;
	return layer->labels.at[label].nogoods == nogoods;
}

static void grow_table(struct menu_layer *layer, struct arena *arena)
{
	layer->table_size = layer->table_size ? layer->table_size * 2 : 64;
	layer->table = arena_array(arena, int32_t, layer->table_size);
	for (size_t i = 0; i < layer->table_size; i++)
		layer->table[i] = -1;
	for (size_t i = 0; i < layer->labels.count; i++) {
		size_t at = hash_state(layer->states.at + i * layer->width, layer->width,
			layer->labels.at[i].nogoods);
		while (layer->table[at &= layer->table_size - 1] >= 0)
			at++;
		layer->table[at] = (int32_t)i;
	}
}

/* Keeps the label if no cheaper one has its state: `width` numbers. */
static void layer_keep(struct arena *arena, struct menu_layer *layer,
	const struct menu_label *label, const int *state)
{
	if (layer->labels.count * 2 >= layer->table_size)
		grow_table(layer, arena);
	size_t at = hash_state(state, layer->width, label->nogoods);
	while (layer->table[at &= layer->table_size - 1] >= 0) {
		int32_t other = layer->table[at];
		if (is_state(layer, (size_t)other, state, label->nogoods)) {
			if (capture_compare(&label->cost, &layer->labels.at[other].cost) < 0)
				layer->labels.at[other] = *label;
			return;
		}
		at++;
	}
	layer->table[at] = (int32_t)layer->labels.count;
	*array_add(arena, &layer->labels) = *label;
	for (size_t s = 0; s < layer->width; s++)
		*array_add(arena, &layer->states) = state[s];
}

enum { WIDTH_FIRST = 300, WIDTH_TIMES = 10, WIDTH_MOST = 300000, NOGOODS_MOST = 64, IN_HBM = -1 };

/* Buffers that do not fit together in these sizes. */
struct nogood {
	size_t count;
	int last;       /* the one that is decided last, by place in the order */
	int64_t *bytes; /* by buffer; -1: it is not among them */
};

struct menu_search {
	struct run *run;
	struct arena *arena;
	struct menu_problem menu;
	struct array(struct nogood) nogoods;
	struct capture_answer best;  /* the incumbent */
	struct capture_cost dropped; /* least lower bound that this pass dropped for its width */
	struct capture_cost bound;   /* no answer is below */
	bool is_narrow;              /* this pass dropped labels for its width */
	int *hits;                   /* by division of one menu: parents in LX that allow it */
};

/* Everything in HBM, each op on the most cores: legal whatever the capacity. */
static void set_incumbent(struct menu_search *search)
{
	struct capture_answer *best = &search->best;
	best->divisions = arena_array(search->arena, int, search->menu.count);
	best->addresses = arena_array(search->arena, int64_t, search->menu.count);
	for (size_t b = 0; b < search->menu.count; b++) {
		const struct capture_buffer *buffer = search->menu.items[b].buffer;
		for (size_t d = 1; d < buffer->division_count; d++)
			if (menu_is_better(
				    &buffer->divisions[d], &buffer->divisions[best->divisions[b]]))
				best->divisions[b] = (int)d;
		best->addresses[b] = UNPLACED;
	}
	best->cost = capture_cost(search->menu.question->capture, best);
}

static void menu_offer(struct menu_search *search)
{
	struct arena *arena = run_arena(search->run);
	struct capture_answer *answer = arena_copy(arena, &search->best, sizeof search->best);
	answer->divisions =
		arena_copy(arena, search->best.divisions, search->menu.count * sizeof(int));
	answer->addresses =
		arena_copy(arena, search->best.addresses, search->menu.count * sizeof(int64_t));
	struct candidate candidate = {.stage = STAGE_MENU, .menu = answer};
	run_offer(search->run, &candidate, (double)answer->cost.spilled);
}

/* --- one pass */

/* One label of the layer before, on its way through a step. */
struct menu_expansion {
	struct menu_search *search;
	struct arena *scratch;
	size_t step;
	const struct menu_layer *from;
	struct menu_layer *to;
	int32_t label;
	const int *state; /* of the label */
	const int *place; /* by slot of `to`: the slot of `from`, or -1 for the new buffer */
	int64_t load;     /* live bytes in LX before the new buffer */
	int *next;        /* a state of `to` */
};

static int division_at(const struct menu_expansion *at, int buffer)
{
	for (size_t s = 0; s < at->from->width; s++)
		if (at->from->slots[s] == buffer)
			return at->state[s];
	return IN_HBM;
}

/* True if buffer b may lie on a parent that ends as it begins. */
static bool menu_expansion_may_share(const struct menu_expansion *at, int b, int division)
{
	const struct menu_item *item = &at->search->menu.items[b];
	for (size_t e = 0; e < item->buffer->edge_count; e++) {
		const struct capture_edge *edge = &item->edges[e];
		const struct capture_buffer *parent = at->search->menu.items[edge->parent].buffer;
		if (!edge->is_in_place || parent->end != item->buffer->start + 1)
			continue;
		int of_parent = division_at(at, edge->parent);
		if (of_parent != IN_HBM &&
			capture_bytes(parent, of_parent) == capture_bytes(item->buffer, division))
			return true;
	}
	return false;
}

/* Live bytes at the start of the new buffer, without it: those that may share count once. */
static int64_t load_before(const struct menu_expansion *at, int b)
{
	const struct menu_search *search = at->search;
	int64_t load = 0, start = search->menu.items[b].buffer->start;
	for (size_t s = 0; s < at->from->width; s++) {
		int other = at->from->slots[s];
		if (at->state[s] == IN_HBM || search->menu.items[other].buffer->end <= start)
			continue;
		if (search->menu.items[other].buffer->start == start &&
			menu_expansion_may_share(at, other, at->state[s]))
			continue;
		load += menu_bytes(&search->menu, other, at->state[s]);
	}
	return load;
}

/* The no-goods that the label still contains after the choice; false if it contains one whole. */
static bool pass_nogoods(
	const struct menu_search *search, size_t step, bool stays, int division, uint64_t *alive)
{
	int b = search->menu.order[step];
	for (size_t n = 0; n < search->nogoods.count; n++) {
		const struct nogood *nogood = &search->nogoods.at[n];
		if (nogood->bytes[b] < 0 || !(*alive >> n & 1))
			continue;
		if (!stays ||
			capture_bytes(search->menu.items[b].buffer, division) != nogood->bytes[b])
			*alive &= ~(UINT64_C(1) << n);
		else if (nogood->last == (int)step)
			return false;
	}
	return true;
}

static void take_choice(struct menu_expansion *at, bool stays, int division)
{
	struct menu_search *search = at->search;
	const struct menu_label *from = &at->from->labels.at[at->label];
	const struct menu_item *item = &search->menu.items[search->menu.order[at->step]];
	const struct capture_division *chosen = &item->buffer->divisions[division];
	struct capture_cost step = {
		stays ? 0 : item->buffer->cost, -chosen->cores, chosen->squares};
	struct menu_label label = {.cost = menu_add(&from->cost, &step),
		.nogoods = from->nogoods,
		.before = at->label,
		.division = division,
		.stays = stays};
	struct capture_cost bound = menu_add(&label.cost, &search->menu.rest[at->step + 1]);
	if (capture_compare(&bound, &search->best.cost) >= 0 ||
		!pass_nogoods(search, at->step, stays, division, &label.nogoods))
		return;
	for (size_t s = 0; s < at->to->width; s++) {
		const struct menu_item *kept = &search->menu.items[at->to->slots[s]];
		int known =
			at->place[s] < 0 ? (stays ? division : IN_HBM) : at->state[at->place[s]];
		at->next[s] = known == IN_HBM ? IN_HBM : kept->same[known];
	}
	layer_keep(at->scratch, at->to, &label, at->next);
}

/* Counts for each division of the new buffer the parents in LX that allow it; how many there are. */
static int count_hits(struct menu_expansion *at, const struct menu_item *item)
{
	int parents = 0;
	for (size_t d = 0; d < item->buffer->division_count; d++)
		at->search->hits[d] = 0;
	for (size_t e = 0; e < item->buffer->edge_count; e++) {
		int division = division_at(at, item->edges[e].parent);
		if (division == IN_HBM)
			continue;
		size_t from, to;
		menu_row(&item->edges[e], division, &from, &to);
		for (size_t p = from; p < to; p++)
			at->search->hits[item->edges[e].pairs[p].own]++;
		parents++;
	}
	return parents;
}

static void menu_expansion_expand(struct menu_expansion *at)
{
	struct menu_search *search = at->search;
	int b = search->menu.order[at->step], best = -1;
	const struct menu_item *item = &search->menu.items[b];
	const struct capture_division *menu = item->buffer->divisions;
	int parents = count_hits(at, item);
	at->load = load_before(at, b);
	for (size_t d = 0; d < item->buffer->division_count; d++) {
		if (search->hits[d] < parents)
			continue;
		if (best < 0 || menu_is_better(&menu[d], &menu[best]))
			best = (int)d;
		int64_t bytes = menu_expansion_may_share(at, b, (int)d)
					? 0
					: menu_bytes(&search->menu, b, (int)d);
		if (item->usable[d] && at->load + bytes <= search->menu.room)
			take_choice(at, true, (int)d);
	}
	if (best >= 0)
		take_choice(at, false, best);
}

/* The buffers that live after a step, and where each stood before. */
static void set_slots(struct menu_search *search, struct arena *arena, size_t step,
	const struct menu_layer *from, struct menu_layer *to, int **place)
{
	int64_t start = search->menu.items[search->menu.order[step]].buffer->start;
	int *slots = arena_array(arena, int, from->width + 1);
	*place = arena_array(arena, int, from->width + 1);
	for (size_t s = 0; s < from->width; s++) {
		if (search->menu.items[from->slots[s]].buffer->end <= start)
			continue;
		(*place)[to->width] = (int)s;
		slots[to->width++] = from->slots[s];
	}
	(*place)[to->width] = -1;
	slots[to->width++] = search->menu.order[step];
	to->slots = slots;
	for (size_t s = 0; s < to->width; s++)
		menu_merge(&search->menu, slots[s], step);
}

struct rank {
	struct capture_cost cost;
	size_t label;
};

static int compare_ranks(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;
	int order = capture_compare(&x->cost, &y->cost);
	return order ? order : (x->label > y->label) - (x->label < y->label);
}

/* Live buffers of a label that are in LX. */
static size_t count_kept(const struct menu_layer *layer, size_t label)
{
	size_t kept = 0;
	for (size_t s = 0; s < layer->width; s++)
		kept += layer->states.at[label * layer->width + s] != IN_HBM;
	return kept;
}

/* Puts first the ranks that stay: the cheapest ones, and the cheapest of each number of live buffers in LX, so that
 * a pass whose cheap labels all end in buffers without a common division still has an answer. Returns their number. */
static size_t choose_ranks(struct arena *scratch, const struct menu_layer *layer,
	struct rank *ranks, size_t width, struct capture_cost *first_dropped)
{
	size_t count = layer->labels.count, kept = 0, dropped = 0;
	bool *seen = arena_array(scratch, bool, layer->width + 1);
	for (size_t i = 0; i < count; i++) {
		size_t in_lx = count_kept(layer, ranks[i].label);
		if (i >= width && seen[in_lx]) {
			if (!dropped++)
				*first_dropped = ranks[i].cost;
			continue;
		}
		seen[in_lx] = true;
		ranks[kept++] = ranks[i];
	}
	return kept;
}

/* Keeps at most `width` labels, or a few more; of what goes, the least lower bound is noted. */
static void narrow_layer(struct menu_search *search, struct arena *scratch,
	struct menu_layer *layer, size_t width, size_t step)
{
	size_t count = layer->labels.count;
	if (count <= width)
		return;
	struct rank *ranks = arena_array(scratch, struct rank, count);
	for (size_t i = 0; i < count; i++)
		ranks[i] = (struct rank){layer->labels.at[i].cost, i};
	qsort(ranks, count, sizeof *ranks, compare_ranks);
	struct capture_cost first;
	size_t kept = choose_ranks(scratch, layer, ranks, width, &first);
	if (kept == count)
		return;
	first = menu_add(&first, &search->menu.rest[step + 1]);
	if (!search->is_narrow || capture_compare(&first, &search->dropped) < 0)
		search->dropped = first;
	search->is_narrow = true;
	struct menu_label *labels = arena_array(scratch, struct menu_label, kept);
	int *states = arena_array(scratch, int, kept * layer->width);
	for (size_t i = 0; i < kept; i++) {
		labels[i] = layer->labels.at[ranks[i].label];
		for (size_t s = 0; s < layer->width; s++)
			states[i * layer->width + s] =
				layer->states.at[ranks[i].label * layer->width + s];
	}
	layer->labels.at = labels;
	layer->labels.count = layer->labels.capacity = kept;
	layer->states.at = states;
	layer->states.count = layer->states.capacity = kept * layer->width;
}

/* Fills the layer of a step; false if the run is to end. */
static bool make_layer(struct menu_search *search, struct arena *scratch, size_t step,
	struct menu_layer *layers, size_t width)
{
	struct menu_expansion at = {.search = search,
		.scratch = scratch,
		.step = step,
		.from = &layers[step],
		.to = &layers[step + 1]};
	int *place;
	set_slots(search, scratch, step, at.from, at.to, &place);
	at.place = place;
	at.next = arena_array(scratch, int, at.to->width);
	size_t menu = search->menu.items[search->menu.order[step]].buffer->division_count;
	for (size_t i = 0; i < at.from->labels.count; i++) {
		at.label = (int32_t)i;
		at.state = at.from->states.at + i * at.from->width;
		menu_expansion_expand(&at);
		if (!run_spend(search->run, menu))
			return false;
	}
	narrow_layer(search, scratch, at.to, width, step);
	return true;
}

/* The best label of the last layer as an answer without addresses; false if there is none. */
static bool read_answer(struct menu_search *search, const struct menu_layer *layers,
	struct capture_answer *out, bool *stays)
{
	const struct menu_layer *last = &layers[search->menu.count];
	size_t best = 0;
	for (size_t i = 1; i < last->labels.count; i++)
		if (capture_compare(&last->labels.at[i].cost, &last->labels.at[best].cost) < 0)
			best = i;
	if (!last->labels.count)
		return false;
	out->cost = last->labels.at[best].cost;
	for (size_t step = search->menu.count; step > 0; step--) {
		const struct menu_label *label = &layers[step].labels.at[best];
		out->divisions[search->menu.order[step - 1]] = label->division;
		stays[search->menu.order[step - 1]] = label->stays;
		best = (size_t)label->before;
	}
	return true;
}

/* One pass of a width: the best answer below the incumbent, addresses aside.  *ended: by the run. */
static bool make_pass(struct menu_search *search, struct arena *scratch, size_t width,
	struct capture_answer *out, bool *stays, bool *ended)
{
	struct menu_layer *layers = arena_array(scratch, struct menu_layer, search->menu.count + 1);
	*array_add(scratch, &layers[0].labels) = (struct menu_label){.nogoods = UINT64_MAX};
	search->is_narrow = false;
	for (size_t step = 0; step < search->menu.count; step++)
		if (!make_layer(search, scratch, step, layers, width)) {
			*ended = true;
			return false;
		}
	return read_answer(search, layers, out, stays);
}

/* --- addresses */

/* The set does not fit: of all that the packer was given, or of the few that it names. */
static void add_nogood(struct menu_search *search, const struct menu_packing *kept,
	const struct capture_answer *answer, const struct answer *packed)
{
	struct nogood nogood = {.last = -1};
	size_t count = packed->core_count ? packed->core_count : kept->packing.count;
	nogood.bytes = arena_array(search->arena, int64_t, search->menu.count);
	for (size_t b = 0; b < search->menu.count; b++)
		nogood.bytes[b] = -1;
	for (size_t i = 0; i < count; i++) {
		int b = kept->buffers[packed->core_count ? packed->core[i] : (int)i];
		nogood.bytes[b] = capture_bytes(search->menu.items[b].buffer, answer->divisions[b]);
	}
	for (size_t step = 0; step < search->menu.count; step++)
		if (nogood.bytes[search->menu.order[step]] >= 0)
			nogood.last = (int)step;
	assert(nogood.last >= 0);
	nogood.count = count;
	*array_add(search->arena, &search->nogoods) = nogood;
}

/* Gives addresses to what the answer keeps: VERDICT_YES, the incumbent; VERDICT_NO, a no-good. */
static enum verdict place_answer(
	struct menu_search *search, struct capture_answer *answer, const bool *stays)
{
	struct menu_packing kept =
		menu_packing(search->arena, &search->menu, answer->divisions, stays);
	struct problem problem = {.stage = STAGE_PLACE, .packing = &kept.packing};
	struct answer packed = run_ask(
		search->run, solver_for(STAGE_PLACE, FOR_PACKINGS), &problem, 0, 1, search->arena);
	for (size_t b = 0; b < search->menu.count; b++)
		answer->addresses[b] = UNPLACED;
	if (packed.candidate_count) {
		for (size_t k = 0; k < kept.packing.count; k++)
			answer->addresses[kept.buffers[k]] =
				packed.candidates[0].placement->addresses[k];
		search->best = *answer;
		menu_offer(search);
		return VERDICT_YES;
	}
	if (packed.status != PROOF_INFEASIBLE || search->nogoods.count == NOGOODS_MOST) {
		run_complain(search->run, false, -1,
			packed.status != PROOF_INFEASIBLE
				? "the packer did not decide whether the best set of buffers fits"
				: "%d sets of buffers have the least cost and do not fit; no more are tried",
			NOGOODS_MOST);
		return VERDICT_OPEN;
	}
	add_nogood(search, &kept, answer, &packed);
	return VERDICT_NO;
}

/* --- all passes */

static void raise_bound(struct menu_search *search, const struct capture_cost *bound)
{
	if (capture_compare(bound, &search->bound) > 0)
		search->bound = *bound;
}

/* After a pass that found nothing better: false if that proves the incumbent. */
static bool is_open(struct menu_search *search)
{
	if (!search->is_narrow)
		raise_bound(search, &search->best.cost);
	else
		raise_bound(search, capture_compare(&search->dropped, &search->best.cost) < 0
					    ? &search->dropped
					    : &search->best.cost);
	return capture_compare(&search->bound, &search->best.cost) < 0;
}

/* One pass, and addresses for what it found; false if no further pass is to be made. */
static bool menu_search_improve(struct menu_search *search, size_t *width)
{
	bool ended = false, *stays = arena_array(search->arena, bool, search->menu.count);
	struct arena *scratch = arena_open();
	struct capture_answer answer = {
		.divisions = arena_array(search->arena, int, search->menu.count),
		.addresses = arena_array(search->arena, int64_t, search->menu.count)};
	bool found = make_pass(search, scratch, *width, &answer, stays, &ended);
	arena_close(scratch);
	enum verdict placed = found ? place_answer(search, &answer, stays) : VERDICT_NO;
	if (ended || placed == VERDICT_OPEN)
		return false;
	if (found && placed == VERDICT_NO) /* the same again, with one no-good more */
		return true;
	if (!is_open(search))
		return false;
	if (search->is_narrow && *width == WIDTH_MOST) {
		run_complain(search->run, false, -1,
			"a pass may have %d labels in a step and needs more; the bound is not exact",
			WIDTH_MOST);
		return false;
	}
	*width = *width * WIDTH_TIMES < WIDTH_MOST ? *width * WIDTH_TIMES : WIDTH_MOST;
	return true;
}

static void menu_search_find_best(struct menu_search *search)
{
	size_t width = WIDTH_FIRST;
	while (menu_search_improve(search, &width))
		;
}

static void run_live_dp(struct run *run, const struct problem *problem)
{
	struct menu_search search = {.run = run, .arena = arena_open()};
	search.menu = menu_open(search.arena, problem->menu);
	size_t menu = 1;
	for (size_t b = 0; b < search.menu.count; b++)
		if (search.menu.items[b].buffer->division_count > menu)
			menu = search.menu.items[b].buffer->division_count;
	search.hits = arena_array(search.arena, int, menu);
	set_incumbent(&search);
	menu_offer(&search);
	search.bound = search.menu.rest[0];
	menu_search_find_best(&search);
	bool optimal = capture_compare(&search.bound, &search.best.cost) >= 0;
	run_prove(run, optimal ? PROOF_OPTIMAL : PROOF_BOUND, (double)search.bound.spilled);
	arena_close(search.arena);
}

const struct solver menu_live_dp_solver = {
	.stage = STAGE_MENU,
	.name = "live_dp",
	.summary = "dynamic program over live buffers, addresses by place/exact; proves",
	.purposes = FOR_CAPTURES,
	.proves = true,
	.run = run_live_dp,
};
