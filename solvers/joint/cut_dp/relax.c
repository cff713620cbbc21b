#include "solvers/joint/cut_dp/relax.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/number.h"
#include "search/drive/solver.h"
#include "solvers/joint/cut_dp/layer.h"
#include "solvers/joint/cut_dp/options.h"
#include "solvers/joint/cut_dp/step.h"
#include "solvers/joint/cut_dp/toll.h"

#include <stdlib.h>
#include <string.h>

/* What became of a state.  DROPPED: it ends above the limit; LESS: it has less in LX than one that is kept. */
enum fate { DROPPED, KEPT, LESS };

struct relax_node {
	int64_t *costs; /* to come here; NULL: nobody has */
	int64_t *tolls; /* still to come; NULL: not known yet */
	uint8_t fate;
	bool waits; /* to be looked at again */
};

struct nodes array(struct relax_node);
struct list array(uint32_t);

/* What a relaxation is of. */
struct ground {
	struct blur blur;
	struct steps *steps;
	bool relays; /* states may be reached by relays that come earlier than a lazy one */
};

struct relaxation {
	struct run *run;
	const struct ground *ground;
	const struct frame *frame;
	size_t count; /* of tolls */
	struct relaxation *coarser;
	struct arena *arena;
	size_t width;
	int64_t limit, floor;
	bool is_free;                   /* the budget counts, but does not end it */
	int from, to;                   /* cuts */
	const struct gate *begin, *end; /* NULL: of a whole answer */
	struct cut_layer **layers;
	struct nodes *nodes; /* by cut, then state */
	struct list *kept;   /* by cut: the cheapest first, then those of evictions and relays */
	int64_t *nothing;

	/* what is looked at */
	int cut;
	uint32_t state;
	struct list waiting;
	int64_t *tolls;
};

static struct relax_node *node_of(const struct relaxation *relaxation, int cut, uint32_t state)
{
	return &relaxation->nodes[cut].at[state];
}

static const int64_t *coarse_tolls(struct relaxation *relaxation, int cut, const uint16_t *codes)
{
	return relaxation->coarser ? relax_tolls(relaxation->coarser, cut, codes)
				   : relaxation->nothing;
}

static const int64_t *coarse_of(struct relaxation *relaxation, int cut, uint32_t state)
{
	return coarse_tolls(relaxation, cut, layer_codes(relaxation->layers[cut], state));
}

/* --- forward */

static bool spend(const struct relaxation *relaxation)
{
	return relaxation->is_free ? run_count(relaxation->run, 1) : run_spend(relaxation->run, 1);
}

static struct toll_step toll_step_of(const struct cut_step *step)
{
	return (struct toll_step){.value = step->value,
		.cores = step->cores,
		.fresh = step->fresh,
		.ends_bundle = step->ends_bundle};
}

/* The node of a state; it is added if it is new. */
static uint32_t find_node(struct relaxation *relaxation, int cut, const uint16_t *codes)
{
	uint32_t state = layer_state(relaxation->layers[cut], codes);
	if (relaxation->nodes[cut].count == state)
		array_add(relaxation->arena, &relaxation->nodes[cut]);
	return state;
}

static int64_t *new_tolls(struct relaxation *relaxation, int64_t value)
{
	int64_t *tolls = arena_array(relaxation->arena, int64_t, relaxation->count);
	toll_set(relaxation->frame, tolls, value);
	return tolls;
}

static bool reach(void *context, const struct cut_step *step)
{
	struct relaxation *relaxation = context;
	const struct frame *frame = relaxation->frame;
	struct toll_step toll = toll_step_of(step);
	const int64_t *costs = node_of(relaxation, relaxation->cut, relaxation->state)->costs;
	const int64_t *coarse = coarse_tolls(relaxation, step->cut, step->codes);
	if (!coarse || toll_least(frame, costs, &toll, coarse) > relaxation->limit)
		return spend(relaxation);
	uint32_t state = find_node(relaxation, step->cut, step->codes);
	struct relax_node *to = node_of(relaxation, step->cut, state);
	if (!to->costs)
		to->costs = new_tolls(relaxation, TOLL_NEVER);
	bool cheaper = toll_pay(frame, costs, &toll, to->costs);
	if (step->cut == relaxation->cut && !to->waits && cheaper) {
		to->waits = true;
		*array_add(relaxation->arena, &relaxation->waiting) = state;
	}
	return spend(relaxation);
}

struct ranked {
	int64_t bound;
	uint32_t state;
};

static int compare_ranked(const void *left, const void *right)
{
	const struct ranked *a = left, *b = right;
	if (a->bound != b->bound)
		return a->bound < b->bound ? -1 : 1;
	return a->state < b->state ? -1 : a->state > b->state;
}

/* Where there are too many, the limit falls. */
static void keep_cheapest(struct relaxation *relaxation, int cut)
{
	struct arena *scratch = arena_open();
	size_t count = relaxation->nodes[cut].count;
	struct ranked *ranked = arena_array(scratch, struct ranked, count);
	for (uint32_t s = 0; s < count; s++) {
		int64_t *costs = node_of(relaxation, cut, s)->costs;
		toll_spread(relaxation->frame, costs);
		ranked[s].bound =
			toll_least(relaxation->frame, costs, NULL, coarse_of(relaxation, cut, s));
		ranked[s].state = s;
	}
	if (count)
		qsort(ranked, count, sizeof *ranked, compare_ranked);
	for (size_t i = 0; i < count && ranked[i].bound <= relaxation->limit; i++) {
		if (relaxation->kept[cut].count == relaxation->width) {
			relaxation->limit = ranked[i].bound - 1;
			break;
		}
		node_of(relaxation, cut, ranked[i].state)->fate = KEPT;
		*array_add(relaxation->arena, &relaxation->kept[cut]) = ranked[i].state;
	}
	arena_close(scratch);
}

static bool take_steps(
	struct relaxation *relaxation, uint32_t state, bool changes, step_visit *visit)
{
	const struct cut_layer *layer = relaxation->layers[relaxation->cut];
	relaxation->state = state;
	return (changes ? steps_changes : steps_options)(relaxation->ground->steps, relaxation->cut,
		layer_codes(layer, state), layer_bytes(layer, state), visit, relaxation);
}

/* Evictions and relays, until they make nothing cheaper. */
static bool keep_changed(struct relaxation *relaxation)
{
	struct list *kept = &relaxation->kept[relaxation->cut];
	size_t arrived = kept->count;
	relaxation->waiting.count = 0;
	for (size_t k = 0; k < arrived; k++)
		if (!take_steps(relaxation, kept->at[k], true, reach))
			return false;
	for (size_t i = 0; i < relaxation->waiting.count; i++) {
		uint32_t state = relaxation->waiting.at[i];
		struct relax_node *node = node_of(relaxation, relaxation->cut, state);
		node->waits = false;
		toll_spread(relaxation->frame, node->costs);
		if (node->fate != KEPT)
			*array_add(relaxation->arena, kept) = state;
		node->fate = KEPT;
		if (!take_steps(relaxation, state, true, reach))
			return false;
	}
	return true;
}

/* --- states that have less in LX */

struct lesser {
	struct relaxation *relaxation;
	int cut;
	uint32_t of;
};

static void add_lesser(void *context, const uint16_t *codes)
{
	const struct lesser *lesser = context;
	struct relax_node *node = node_of(
		lesser->relaxation, lesser->cut, find_node(lesser->relaxation, lesser->cut, codes));
	if (node->fate == DROPPED)
		node->fate = LESS;
}

/* No less is still to come than from what has more. */
static void lower_lesser(void *context, const uint16_t *codes)
{
	const struct lesser *lesser = context;
	struct relaxation *relaxation = lesser->relaxation;
	struct relax_node *node =
		node_of(relaxation, lesser->cut, find_node(relaxation, lesser->cut, codes));
	const int64_t *tolls = node_of(relaxation, lesser->cut, lesser->of)->tolls;
	if (node->fate != LESS)
		return;
	if (!node->tolls)
		node->tolls = new_tolls(relaxation, TOLL_NEVER);
	for (size_t i = 0; i < relaxation->count; i++)
		node->tolls[i] = number_min(node->tolls[i], tolls[i]);
}

static void visit_lessers(struct relaxation *relaxation, int cut, blur_visit *visit)
{
	const struct list *kept = &relaxation->kept[cut];
	struct lesser lesser = {.relaxation = relaxation, .cut = cut};
	for (size_t k = 0; k < kept->count; k++) {
		lesser.of = kept->at[k];
		blur_less(&relaxation->ground->blur, cut,
			layer_codes(relaxation->layers[cut], lesser.of), visit, &lesser);
	}
}

static bool go_forward(struct relaxation *relaxation, int cut)
{
	const struct list *kept = &relaxation->kept[cut];
	relaxation->cut = cut;
	keep_cheapest(relaxation, cut);
	if (!keep_changed(relaxation))
		return false;
	for (size_t k = 0; k < kept->count && cut < relaxation->to; k++)
		if (!take_steps(relaxation, kept->at[k], false, reach))
			return false;
	visit_lessers(relaxation, cut, add_lesser);
	return true;
}

/* --- backward */

static bool look_back(void *context, const struct cut_step *step)
{
	struct relaxation *relaxation = context;
	struct toll_step toll = toll_step_of(step);
	const int64_t *behind = relax_tolls(relaxation, step->cut, step->codes);
	if (behind)
		toll_take(relaxation->frame, relaxation->tolls, &toll, behind);
	return run_go_on(relaxation->run, 1);
}

/* Evictions and relays, until they make nothing cheaper. */
static bool look_at_changes(struct relaxation *relaxation)
{
	const struct list *kept = &relaxation->kept[relaxation->cut];
	size_t size = relaxation->count * sizeof(int64_t);
	for (bool again = true; again;) {
		again = false;
		for (size_t k = kept->count; k-- > 0;) {
			struct relax_node *node = node_of(relaxation, relaxation->cut, kept->at[k]);
			memcpy(relaxation->tolls, node->tolls, size);
			if (!take_steps(relaxation, kept->at[k], true, look_back))
				return false;
			toll_close(relaxation->frame, relaxation->tolls);
			again |= memcmp(relaxation->tolls, node->tolls, size) != 0;
			memcpy(node->tolls, relaxation->tolls, size);
		}
	}
	return true;
}

/* What is still to come where the relaxation ends. */
static void set_last(struct relaxation *relaxation, uint32_t state)
{
	const uint16_t *codes = layer_codes(relaxation->layers[relaxation->to], state);
	if (relaxation->end)
		memcpy(relaxation->tolls, gate_find(relaxation->end, codes),
			relaxation->count * sizeof *relaxation->tolls);
	else if (frame_is_complete(relaxation->frame, codes))
		toll_set(relaxation->frame, relaxation->tolls, 0);
}

static bool go_backward(struct relaxation *relaxation, int cut)
{
	const struct list *kept = &relaxation->kept[cut];
	bool last = cut == relaxation->to;
	relaxation->cut = cut;
	for (size_t k = 0; k < kept->count; k++) {
		struct relax_node *node = node_of(relaxation, cut, kept->at[k]);
		toll_set(relaxation->frame, relaxation->tolls, TOLL_NEVER);
		if (last)
			set_last(relaxation, kept->at[k]);
		if (!last && !take_steps(relaxation, kept->at[k], false, look_back))
			return false;
		toll_close(relaxation->frame, relaxation->tolls);
		node->tolls = arena_copy(relaxation->arena, relaxation->tolls,
			relaxation->count * sizeof *relaxation->tolls);
	}
	if (!look_at_changes(relaxation))
		return false;
	visit_lessers(relaxation, cut, lower_lesser);
	return true;
}

struct ground *ground_open(const struct blur *blur, struct arena *arena)
{
	struct ground *ground = arena_new(arena, struct ground);
	ground->blur = *blur;
	ground->steps = steps_open(blur->frame, arena);
	steps_be_lazy(ground->steps, true, true);
	ground->relays = frame_relays(blur->frame);
	return ground;
}

void ground_close(struct ground *ground)
{
	steps_close(ground->steps);
}

struct relaxation *relax_open(struct run *run, const struct ground *ground,
	struct relaxation *coarser, int64_t floor, struct arena *arena)
{
	struct relaxation *relaxation = arena_new(arena, struct relaxation);
	const struct frame *frame = ground->blur.frame;
	relaxation->run = run;
	relaxation->ground = ground;
	relaxation->frame = frame;
	relaxation->count = toll_count(frame);
	relaxation->coarser = coarser;
	relaxation->floor = floor;
	relaxation->arena = arena;
	relaxation->to = frame->space->op_count;
	relaxation->tolls = arena_array(arena, int64_t, relaxation->count);
	relaxation->nothing = arena_array(arena, int64_t, relaxation->count);
	relaxation->nodes = arena_array(arena, struct nodes, frame->cut_count);
	relaxation->kept = arena_array(arena, struct list, frame->cut_count);
	relaxation->layers = arena_array(arena, struct cut_layer *, frame->cut_count);
	for (int c = 0; c < frame->cut_count; c++)
		relaxation->layers[c] = layer_open(frame, c, arena);
	return relaxation;
}

void relax_between(struct relaxation *relaxation, int from, int to, const struct gate *costs,
	const struct gate *tolls)
{
	const struct blur *blur = &relaxation->ground->blur;
	relaxation->from = from;
	relaxation->to = to;
	relaxation->begin = gate_blur(costs, blur, relaxation->arena);
	relaxation->end = gate_blur(tolls, blur, relaxation->arena);
	gate_lower(relaxation->end, blur);
}

static void begin_at(struct relaxation *relaxation, const uint16_t *codes, const int64_t *costs)
{
	if (!coarse_tolls(relaxation, relaxation->from, codes))
		return;
	struct relax_node *node = node_of(
		relaxation, relaxation->from, find_node(relaxation, relaxation->from, codes));
	node->costs = new_tolls(relaxation, TOLL_NEVER);
	if (costs)
		memcpy(node->costs, costs, relaxation->count * sizeof *costs);
	else
		toll_start(relaxation->frame, node->costs);
}

static void begin(struct relaxation *relaxation)
{
	const struct gate *gate = relaxation->begin;
	uint16_t codes[CUT_SLOTS_MOST];
	for (size_t s = 0; gate && s < gate_count(gate); s++)
		begin_at(relaxation, gate_codes(gate, s), gate_row(gate, s));
	frame_start(relaxation->frame, codes);
	if (!gate)
		begin_at(relaxation, codes, NULL);
}

bool relax_run(struct relaxation *relaxation, size_t width, int64_t limit, bool is_free)
{
	relaxation->width = width;
	relaxation->limit = limit;
	relaxation->is_free = is_free;
	begin(relaxation);
	for (int c = relaxation->from; c <= relaxation->to; c++) {
		if (!go_forward(relaxation, c))
			return false;
		if (relaxation->limit < relaxation->floor)
			return true;
	}
	for (int c = relaxation->to; c >= relaxation->from; c--)
		if (!go_backward(relaxation, c))
			return false;
	return true;
}

size_t relax_toll_count(const struct relaxation *relaxation)
{
	return relaxation->count;
}

int64_t relax_limit(const struct relaxation *relaxation)
{
	return relaxation->limit;
}

int64_t relax_least(const struct relaxation *relaxation)
{
	const struct nodes *nodes = &relaxation->nodes[relaxation->from];
	int64_t least = cut_add(relaxation->limit, 1);
	for (size_t n = 0; n < nodes->count; n++)
		if (nodes->at[n].costs && nodes->at[n].tolls)
			least = number_min(least, toll_least(relaxation->frame, nodes->at[n].costs,
							  NULL, nodes->at[n].tolls));
	return least;
}

const int64_t *relax_tolls(struct relaxation *relaxation, int cut, const uint16_t *codes)
{
	uint16_t blurred[CUT_SLOTS_MOST];
	uint32_t state;
	blur_codes(&relaxation->ground->blur, cut, codes, blurred);
	bool known = layer_find(relaxation->layers[cut], blurred, &state);
	if (known && node_of(relaxation, cut, state)->fate != DROPPED)
		return node_of(relaxation, cut, state)->tolls;
	return relaxation->ground->relays ? coarse_tolls(relaxation, cut, codes) : NULL;
}
