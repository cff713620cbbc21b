#include "search/claim/plan_claim.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/number.h"
#include "base/random.h"
#include "model/graph/box_nest.h"
#include "search/language/language.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum {
	TILINGS = 50,  /* of one option that are drawn */
	RUNS_PART = 4, /* of the steps: runs have more ops to price */
};

/* Options of the space with one op, by the places of their operands. */
struct options_alike {
	uint64_t places;
	struct array(const struct joint_option *) options;
};

struct completing {
	const struct plan_complete_question *question;
	const struct joint_space *space;
	const struct joint_graph *graph;
	const struct joint_question *asked;
	struct language language;
	struct arena *arena;   /* of the comparison */
	struct arena *scratch; /* of one step */
	bool **served;         /* by tensor, then asked * view_count + view; NULL: not known yet */
	struct array(struct options_alike) alike; /* of the op at hand */
	struct plan_complete *out;
};

static const struct tensor *completing_tensor_at(const struct completing *completing, int t)
{
	return &completing->asked->workload->tensors[t];
}

static const struct view *view_at(const struct completing *completing, int t, int view)
{
	return &completing->graph->views[t][view];
}

static bool completing_is_free(const struct completing *completing, enum joint_kind kind)
{
	return !(completing->asked->aim.fixed & kind);
}

/* The worth of a price in the unit of the space, energy rounded as for one option. */
static bool find_worth(
	const struct completing *completing, const struct language_price *price, int64_t *worth)
{
	const struct joint_aim *aim = &completing->asked->aim;
	int64_t cycles = completing->asked->planning->price == PRICE_ESTIMATE ? price->estimate
									      : price->cycles;
	double energy = price->energy_pj * 1024;
	bool fits = energy < 0x1p62;
	*worth = checked_mul(&fits, aim->cycles, cycles);
	if (fits && aim->energy)
		*worth = checked_add(
			&fits, *worth, checked_mul(&fits, aim->energy, llround(energy)));
	*worth = checked_add(&fits, *worth, checked_mul(&fits, aim->hbm_bytes, price->hbm_bytes));
	return fits;
}

/* Returns the error of a sum of energies that is added up in another order. */
static int64_t rounding_of(const struct completing *completing, int64_t worth)
{
	int64_t energy = completing->asked->aim.energy;
	return energy ? 2 * energy + worth / 1000000000 : 0;
}

/* --- limits and tensors */

static void completing_note_lack(struct completing *completing, const char *why)
{
	if (!completing->out->why)
		completing->out->why = why;
}

static void compare_limits(struct completing *completing)
{
	const struct joint_space *space = completing->space;
	const struct arch *arch = completing->asked->arch;
	struct language_price bundle = {
		.cycles = arch->bundle_cycles, .estimate = arch->bundle_cycles};
	struct language_price core = {.cycles = arch->core_cycles, .estimate = arch->core_cycles};
	int64_t bundle_value, core_value;
	if (space->capacity < completing->asked->planning->lx_capacity)
		completing_note_lack(
			completing, "its space has less room in LX than the claim names");
	if (space->bundle_most != arch->bundle_tensors)
		completing_note_lack(completing, "its space has other bundles than the machine");
	if (!find_worth(completing, &bundle, &bundle_value) ||
		!find_worth(completing, &core, &core_value) || space->bundle_value > bundle_value ||
		space->core_value > core_value)
		completing_note_lack(
			completing, "bundles cost more in its space than on the machine");
}

static bool is_left_under(const struct completing *completing, int t, int view)
{
	for (size_t i = 0; i < completing->space->option_count; i++) {
		const struct joint_option *option = &completing->space->options[i];
		for (int k = 0; k < option->out_count; k++)
			if (option->outs[k].tensor == t && option->outs[k].view == view)
				return true;
	}
	return false;
}

static void compare_evict(struct completing *completing, int t, int view)
{
	const struct joint_tensor *tensor = &completing->space->tensors[t];
	struct language_price price;
	int64_t worth;
	if (!completing_is_free(completing, KIND_EVICT) || !is_left_under(completing, t, view) ||
		completing->language.tensors[t].stay == STAY_LX ||
		!language_price_evict(&completing->language, t, view_at(completing, t, view),
			completing->scratch, &price) ||
		!find_worth(completing, &price, &worth))
		return;
	if (tensor->evict[view] > worth + rounding_of(completing, worth))
		completing_note_lack(completing,
			arena_format(completing->arena,
				"its space lacks an evict of '%s' from %s for %" PRId64,
				tensor->name,
				view_print(completing->arena, view_at(completing, t, view)),
				worth));
}

static void compare_tensor(struct completing *completing, int t)
{
	const struct joint_tensor *tensor = &completing->space->tensors[t];
	const struct language_tensor *own = &completing->language.tensors[t];
	const struct layout *layout = &completing_tensor_at(completing, t)->layout;
	const char *name = completing_tensor_at(completing, t)->name;
	int last = (int)number_max(own->last, completing_tensor_at(completing, t)->producer);
	if (tensor->producer != completing_tensor_at(completing, t)->producer ||
		tensor->last < last ||
		tensor->output != (completing_tensor_at(completing, t)->role == TENSOR_OUTPUT))
		completing_note_lack(completing,
			arena_format(completing->arena,
				"its space has '%s' for other ops than the graph", name));
	for (int v = 0; v < tensor->view_count; v++) {
		const struct view *view = view_at(completing, t, v);
		if (tensor->bytes[v] > view_bytes(layout, view))
			completing_note_lack(
				completing, arena_format(completing->arena,
						    "in its space '%s' is larger than under %s",
						    name, view_print(completing->arena, view)));
		for (int asked = 0; asked < tensor->view_count; asked++)
			if (!tensor->serves[v * tensor->view_count + asked] &&
				view_has(layout, view, view_at(completing, t, asked)))
				completing_note_lack(completing,
					arena_format(completing->arena,
						"its space lacks that '%s' under %s serves who "
						"asks for %s",
						name, view_print(completing->arena, view),
						view_print(completing->arena,
							view_at(completing, t, asked))));
		compare_evict(completing, t, v);
	}
}

/* --- options that are as good as a step */

static bool is_served(struct completing *completing, int t, int view, int asked)
{
	const struct joint_tensor *tensor = &completing->space->tensors[t];
	const struct language_tensor *own = &completing->language.tensors[t];
	bool **served = &completing->served[t];
	if (!*served) {
		const struct layout *layout = &completing_tensor_at(completing, t)->layout;
		size_t views = (size_t)tensor->view_count;
		*served = arena_array(completing->arena, bool, own->asked.count *views);
		for (size_t a = 0; a < own->asked.count; a++)
			for (size_t v = 0; v < views; v++)
				(*served)[a * views + v] = view_serves_asked(
					layout, view_at(completing, t, (int)v), &own->asked.at[a]);
	}
	return (*served)[asked * tensor->view_count + view];
}

static uint64_t add_place(uint64_t places, int tensor, int place)
{
	return hash_add(places, (uint64_t)(4 * tensor + place + 1));
}

/* Tensors in ascending order, each with its place. */
static uint64_t places_of_option(const struct joint_option *option)
{
	uint64_t places = HASH_START;
	for (int u = 0; u < option->use_count; u++)
		places = add_place(places, option->uses[u].tensor, option->uses[u].mode);
	return places;
}

static uint64_t places_of_step(const struct language_step *step)
{
	uint64_t places = 14695981039346656037u;
	static const enum joint_mode modes[] = {JOINT_HBM, JOINT_RESIDENT, JOINT_MOVED};
	for (int before = -1, next;; before = next) {
		const struct step_use *least = NULL;
		for (int u = 0; u < step->use_count; u++)
			if (step->uses[u].tensor > before &&
				(!least || step->uses[u].tensor < least->tensor))
				least = &step->uses[u];
		if (!least)
			return places;
		next = least->tensor;
		places = add_place(places, next, modes[least->place]);
	}
}

static void list_alike(struct completing *completing, int op)
{
	const struct joint_space *space = completing->space;
	completing->alike.count = completing->alike.capacity = 0;
	for (size_t i = space->first_option[op]; i < space->first_option[op + 1]; i++) {
		const struct joint_option *option = &space->options[i];
		uint64_t places = places_of_option(option);
		size_t at = 0;
		if (option->end != op + 1 || ((const struct joint_choice *)option->choice)->run)
			continue;
		while (at < completing->alike.count && completing->alike.at[at].places != places)
			at++;
		if (at == completing->alike.count)
			*array_add(completing->arena, &completing->alike) =
				(struct options_alike){.places = places};
		*array_add(completing->arena, &completing->alike.at[at].options) = option;
	}
}

/* True if what is found in LX for the step is found for the option, under every view of the space. */
static bool completing_finds(struct completing *completing, const struct step_use *use, int view)
{
	const struct joint_tensor *tensor = &completing->space->tensors[use->tensor];
	for (int held = 0; held < tensor->view_count; held++)
		if (is_served(completing, use->tensor, held, use->asked) &&
			!tensor->serves[held * tensor->view_count + view])
			return false;
	return true;
}

/* True if a view serves what later ops find under it. */
static bool serves_later(
	struct completing *completing, int t, int view, const int *later, int later_count)
{
	for (int i = 0; i < later_count; i++)
		if (!is_served(completing, t, view, later[i]))
			return false;
	return true;
}

static int64_t completing_bytes(const struct completing *completing, int t, const struct view *view)
{
	return view_bytes(&completing_tensor_at(completing, t)->layout, view);
}

/* Bytes of tensors that die with the step count together: they are there at the same time. */
static bool are_uses_as_good(struct completing *completing, const struct language_step *step,
	const struct joint_option *option)
{
	int64_t dying = 0;
	for (int u = 0; u < step->use_count; u++) {
		const struct step_use *use = &step->uses[u];
		const struct joint_use *own = joint_use_of(option, use->tensor);
		if (use->place == USE_HBM)
			continue;
		if (use->place == USE_RESIDENT) {
			if (!completing_finds(completing, use, own->view))
				return false;
			continue;
		}
		int64_t more = completing_bytes(completing, use->tensor,
				       view_at(completing, use->tensor, own->view)) -
			       completing_bytes(completing, use->tensor, use->view);
		bool dies = completing->language.tensors[use->tensor].last == step->op;
		dying += dies ? more : 0;
		if ((!dies && more > 0) || !serves_later(completing, use->tensor, own->view,
						   use->later, use->later_count))
			return false;
	}
	return dying <= 0;
}

static bool is_taken_over(const struct completing *completing, const struct language_step *step,
	const struct joint_option *option, const struct joint_out *out)
{
	if (step->in_place_of < 0)
		return true;
	if (out->in_place < 0)
		return false;
	const struct joint_use *own = &option->uses[out->in_place];
	const struct op *op = completing->language.ops[step->op].op;
	return own->tensor == step->uses[step->in_place_of].tensor &&
	       view_equal(view_at(completing, own->tensor, own->view),
		       &step->division->touches[op->read_count]->view);
}

static bool is_out_as_good(struct completing *completing, const struct language_step *step,
	const struct joint_option *option)
{
	const struct op *op = completing->language.ops[step->op].op;
	const struct joint_out *out = &option->outs[0];
	int t = op->writes[0].tensor;
	if (option->out_count != 1 || out->tensor != t || (out->view >= 0) != step->out_in_lx)
		return false;
	return !step->out_in_lx ||
	       (completing_bytes(completing, t, view_at(completing, t, out->view)) <=
			       completing_bytes(completing, t,
				       &step->division->touches[op->read_count]->view) &&
		       serves_later(
			       completing, t, out->view, step->out_later, step->out_later_count) &&
		       is_taken_over(completing, step, option, out));
}

/* Tensors that a step has in HBM: more than a bundle may have, and it has a bundle of its own. */
static bool completing_is_alone(
	const struct completing *completing, const struct language_step *step)
{
	int64_t most = completing->asked->arch->bundle_tensors;
	int count = !step->out_in_lx;
	for (int u = 0; u < step->use_count; u++)
		count += step->uses[u].place != USE_RESIDENT;
	return most > 0 && count > most;
}

static bool may_stand(const struct completing *completing, const struct language_step *step,
	const struct joint_option *option)
{
	bool alone = completing_is_alone(completing, step);
	return option->alone == alone && (!option->ends_bundle || alone) && !option->empties &&
	       !option->room && !option->argument_count;
}

/* Cores of the ops that find in LX what a step moves there: narrower moves are of a kind that no space has. */
static int64_t find_width(const struct completing *completing, const struct language_step *step)
{
	int64_t width = 0;
	for (int u = 0; u < step->use_count; u++) {
		const struct step_use *use = &step->uses[u];
		const struct asked *asked = completing->language.tensors[use->tensor].asked.at;
		for (int i = 0; use->place == USE_MOVED && i < use->later_count; i++)
			width = number_max(width, asked[use->later[i]].touches[0]->cores);
	}
	return width;
}

/* The value of an option where a step of so many cores could stand: its bundle may be wider by what it has more. */
static int64_t value_within(
	const struct completing *completing, const struct joint_option *option, int64_t cores)
{
	int64_t wider = number_max(0, option->cores - cores), more;
	return number_mul(completing->space->core_value, wider, &more) &&
			       more < JOINT_NEVER - option->value
		       ? option->value + more
		       : JOINT_NEVER;
}

/* The least value of all options that are as good as a step but for what they cost; JOINT_NEVER: there is none. */
static int64_t find_value(
	struct completing *completing, const struct language_step *step, int64_t cores)
{
	cores = number_max(cores, find_width(completing, step));
	uint64_t places = places_of_step(step);
	int64_t least = JOINT_NEVER;
	for (size_t i = 0; i < completing->alike.count; i++) {
		const struct options_alike *alike = &completing->alike.at[i];
		for (size_t k = 0; alike->places == places && k < alike->options.count; k++) {
			const struct joint_option *option = alike->options.at[k];
			int64_t value = value_within(completing, option, cores);
			if (value < least && may_stand(completing, step, option) &&
				is_out_as_good(completing, step, option) &&
				are_uses_as_good(completing, step, option))
				least = value;
		}
	}
	return least;
}

/* --- steps */

static void lack_step(struct completing *completing, const struct language_step *step,
	int64_t worth, int64_t value)
{
	const char *words = language_print(&completing->language, step, completing->arena);
	if (value == JOINT_NEVER)
		completing_note_lack(completing,
			arena_format(completing->arena,
				"its space lacks a step: %s; worth %" PRId64, words, worth));
	else
		completing_note_lack(
			completing, arena_format(completing->arena,
					    "its space has a step for no less than %" PRId64
					    " that costs %" PRId64 ": %s",
					    value, worth, words));
}

static bool price(struct completing *completing, const struct language_step *step, bool least,
	int64_t *worth, int64_t *cores)
{
	struct language_price price;
	completing->out->prices++;
	if (!language_price(&completing->language, step, least, completing->scratch, &price))
		return false;
	if (least) /* no tiles are faster than the bound of undivided ones */
		price.estimate = price.cycles;
	*cores = price.cores;
	return find_worth(completing, &price, worth);
}

/* Values are of tiles that the rules of this comparison choose as well. */
static bool are_values_compared(const struct completing *completing, int op)
{
	const struct joint_question *asked = completing->asked;
	return !asked->planning->published_tiles &&
	       completing_is_free(completing, KIND_CUT_TILES) &&
	       !op_has_inner_nest(asked->arch, &asked->workload->ops[op]);
}

/* True if a smaller view serves all who find what a move brings.  Such moves are of KIND_OTHER_MOVES where cores have
 * lanes: more of them take less time. */
static bool is_wider(const struct completing *completing, const struct step_use *use)
{
	const struct language_tensor *tensor = &completing->language.tensors[use->tensor];
	const struct layout *layout = &completing_tensor_at(completing, use->tensor)->layout;
	for (size_t v = 0; v < tensor->view_count; v++) {
		const struct view *view = &tensor->views[v];
		bool serves =
			view_has(layout, use->view, view) && !view_has(layout, view, use->view) &&
			(use->asked < 0 ||
				view_serves_asked(layout, view, &tensor->asked.at[use->asked]));
		for (int i = 0; serves && i < use->later_count; i++)
			serves = view_serves_asked(layout, view, &tensor->asked.at[use->later[i]]);
		if (serves)
			return true;
	}
	return false;
}

static bool moves_wider(const struct completing *completing, const struct language_step *step)
{
	for (int u = 0; completing->asked->arch->lane_cores && u < step->use_count; u++)
		if (step->uses[u].place == USE_MOVED && is_wider(completing, &step->uses[u]))
			return true;
	return false;
}

/* Compares what was chosen.  All that is chosen behind it are tiles. */
static void compare_step(
	struct completing *completing, struct choices *choices, struct language_step *step)
{
	int64_t least, worth, cores;
	if (!price(completing, step, true, &least, &cores))
		return;
	int64_t value = find_value(completing, step, cores);
	int64_t rounding = value == JOINT_NEVER ? 0 : rounding_of(completing, value);
	if (value != JOINT_NEVER &&
		(value <= least + rounding || !are_values_compared(completing, step->op)))
		return;
	language_tile(completing->asked->arch, completing->asked->workload,
		completing->language.ops[step->op].op, choices, &step->mapping);
	if (!price(completing, step, false, &worth, &cores))
		return;
	if (value > worth + rounding && !moves_wider(completing, step))
		lack_step(completing, step, worth, value);
}

/* A clone that the graph has itself is of one phase with what follows. */
static bool is_compared(
	const struct completing *completing, int op, const struct language_step *step)
{
	const struct workload *workload = completing->asked->workload;
	return !(op_copies_sticks(workload, &workload->ops[op]) && step->out_in_lx &&
		 step->uses[0].place != USE_RESIDENT);
}

typedef void looking(struct completing *completing, int op, struct choices *choices);

static void look_at_step(struct completing *completing, int op, struct choices *choices)
{
	struct language_step step;
	if (!language_choose(&completing->language, op, choices, &step) ||
		!is_compared(completing, op, &step))
		return;
	completing->out->steps++;
	compare_step(completing, choices, &step);
}

/* --- tiles of options */

/* The step that an option stands for; false: of another kind. */
static bool completing_take_step(const struct completing *completing,
	const struct joint_option *option, struct language_step *step)
{
	const struct joint_choice *choice = option->choice;
	const struct language_op *at = &completing->language.ops[option->first];
	size_t d = 0;
	while (d < at->division_count &&
		!mapping_equal(&at->divisions[d].mapping, choice->parts[0].mapping))
		d++;
	if (d == at->division_count || option->out_count != 1)
		return false;
	*step = (struct language_step){.op = option->first,
		.division = &at->divisions[d],
		.use_count = option->use_count,
		.out_in_lx = option->outs[0].view >= 0,
		.in_place_of = -1};
	for (int u = 0; u < option->use_count; u++) {
		const struct joint_use *own = &option->uses[u];
		struct step_use *use = &step->uses[u];
		*use = (struct step_use){.tensor = own->tensor, .asked = -1};
		use->place = own->mode == JOINT_HBM     ? USE_HBM
			     : own->mode == JOINT_MOVED ? USE_MOVED
							: USE_RESIDENT;
		if (use->place == USE_MOVED)
			use->view = view_at(completing, own->tensor, own->view);
		for (int i = 0; i < at->op->read_count; i++)
			if (at->op->reads[i].tensor == own->tensor)
				use->operands |= 1u << i;
	}
	step->mapping = step->division->mapping;
	return !step->out_in_lx || step->division->touches[at->op->read_count]->is_view;
}

/* Compares an option drawn of those of an op with other tiles of itself. */
static void look_at_tiles(struct completing *completing, int op, struct choices *choices)
{
	const struct joint_space *space = completing->space;
	size_t first = space->first_option[op];
	const struct joint_option *option =
		&space->options[first + (size_t)choose_below(choices,
						(int64_t)(space->first_option[op + 1] - first))];
	struct language_step step;
	int64_t worth, cores;
	if (option->end != op + 1 || !are_values_compared(completing, op) ||
		((const struct joint_choice *)option->choice)->run ||
		!completing_take_step(completing, option, &step) ||
		!is_compared(completing, op, &step))
		return;
	for (int i = 0; i < TILINGS; i++) {
		language_tile(completing->asked->arch, completing->asked->workload,
			completing->language.ops[op].op, choices, &step.mapping);
		if (price(completing, &step, false, &worth, &cores) &&
			option->value > worth + rounding_of(completing, worth))
			lack_step(completing, &step, worth, option->value);
	}
}

/* --- runs */

/* True if all that an option of some ops uses and makes is in HBM. */
static bool is_all_in_hbm(const struct joint_option *option, int end)
{
	if (option->end != end)
		return false;
	for (int u = 0; u < option->use_count; u++)
		if (option->uses[u].mode != JOINT_HBM)
			return false;
	for (int k = 0; k < option->out_count; k++)
		if (option->outs[k].view >= 0)
			return false;
	return true;
}

/* The value of the ops of a run one by one, each in a bundle of its own between those before and behind. */
static int64_t find_apart(const struct completing *completing, const struct language_run *run)
{
	const struct joint_space *space = completing->space;
	int64_t cores = completing->asked->planning->cores, sum;
	if (!number_mul(space->core_value, cores, &sum) ||
		!number_mul(space->bundle_value + sum, run->end - run->first + 1, &sum))
		return JOINT_NEVER;
	for (int o = run->first; o < run->end; o++) {
		int64_t least = JOINT_NEVER;
		for (size_t i = space->first_option[o]; i < space->first_option[o + 1]; i++)
			if (is_all_in_hbm(&space->options[i], o + 1))
				least = number_min(least, space->options[i].value);
		if (least >= JOINT_NEVER - sum)
			return JOINT_NEVER;
		sum += least;
	}
	return sum;
}

/* A run with all that comes from outside in HBM: some option is as good, or are its ops one by one. */
static void look_at_run(struct completing *completing, int op, struct choices *choices)
{
	const struct joint_space *space = completing->space;
	struct language_run run;
	struct language_price price;
	int64_t worth;
	if (!language_choose_run(&completing->language, op, choices, completing->scratch, &run) ||
		!language_price_run(&run, completing->scratch, &price) ||
		!find_worth(completing, &price, &worth))
		return;
	completing->out->runs++;
	completing->out->prices++;
	int64_t least = find_apart(completing, &run);
	for (size_t i = space->first_option[op]; i < space->first_option[op + 1]; i++) {
		const struct joint_option *option = &space->options[i];
		if (is_all_in_hbm(option, run.end) && option->room <= run.room)
			least = number_min(least, value_within(completing, option, run.cores));
	}
	if (least != JOINT_NEVER && (least <= worth + 8 * rounding_of(completing, worth) ||
					    !are_values_compared(completing, op)))
		return;
	completing_note_lack(completing,
		arena_format(completing->arena, "its space lacks a run for %" PRId64 ": %s", worth,
			language_print_run(&completing->language, &run, completing->arena)));
}

/* True if LX holds all tensors whole at once: then a run leaves nothing there that its ops, one by one, could not. */
static bool holds_all(const struct completing *completing)
{
	int64_t bytes = 0;
	for (size_t t = 0; t < completing->asked->workload->tensor_count; t++)
		bytes += completing_tensor_at(completing, (int)t)->layout.bytes;
	return bytes <= completing->asked->planning->lx_capacity;
}

/* Looks at up to `most` sequences of choices; true if these were all. */
static bool completing_walk(
	struct completing *completing, int op, looking *look, struct random *random, uint64_t most)
{
	struct choices *choices = arena_new(completing->arena, struct choices);
	choices->random = random;
	for (uint64_t i = 0; i < most && !completing->out->why; i++) {
		struct arena_mark mark = arena_mark(completing->scratch);
		look(completing, op, choices);
		arena_release(completing->scratch, mark);
		if (!random && !choices_next(choices))
			return true;
	}
	return false;
}

static void compare_op(struct completing *completing, int op)
{
	uint64_t most = completing->question->steps;
	struct random random = random_open(35, (uint64_t)op);
	list_alike(completing, op);
	most = most ? most : PLAN_COMPLETE_STEPS;
	if (!completing_walk(completing, op, look_at_step, NULL, most)) {
		completing->out->all = false;
		completing_walk(completing, op, look_at_step, &random, most);
		completing_walk(completing, op, look_at_tiles, &random, most / TILINGS);
	}
	if (completing_is_free(completing, KIND_FUSION) && !holds_all(completing)) {
		uint64_t runs = most / RUNS_PART;
		bool all = completing_walk(completing, op, look_at_run, NULL, runs);
		completing->out->all &= all;
		if (!all)
			completing_walk(completing, op, look_at_run, &random, runs);
	}
}

static void open_kinds(struct completing *completing)
{
	completing->language.kinds = (struct language_kinds){
		.evict = completing_is_free(completing, KIND_EVICT),
		.reload = completing_is_free(completing, KIND_RELOAD),
		.clone = completing_is_free(completing, KIND_CLONE),
		.few_cores = completing_is_free(completing, KIND_FEW_CORES),
		.reduction = completing_is_free(completing, KIND_REDUCTION),
		.many_loops = completing_is_free(completing, KIND_MANY_LOOPS),
		.orders = completing_is_free(completing, KIND_ORDERS),
		.owners = completing_is_free(completing, KIND_OWNERS),
		.early = completing_is_free(completing, KIND_EARLY),
		.both = completing_is_free(completing, KIND_BOTH),
		.shared = completing_is_free(completing, KIND_SHARED),
		.fused_loops = completing_is_free(completing, KIND_FUSED_LOOPS),
		.narrow_runs = completing_is_free(completing, KIND_NARROW_RUNS),
		.small_runs = completing_is_free(completing, KIND_SMALL_RUNS),
	};
}

struct plan_complete plan_complete_check(
	const struct plan_complete_question *question, struct arena *arena)
{
	const struct joint_graph *graph = question->space->graph;
	const struct joint_question *asked = &graph->question;
	struct plan_complete out = {.all = true};
	struct completing completing = {.question = question,
		.space = question->space,
		.graph = graph,
		.asked = asked,
		.language = {.arch = asked->arch,
			.workload = asked->workload,
			.planning = asked->planning},
		.arena = arena,
		.scratch = arena_open(),
		.served = arena_array(arena, bool *, asked->workload->tensor_count),
		.out = &out};
	open_kinds(&completing);
	if (!arch_moves_boxes(asked->arch) ||
		!language_open(&completing.language, arena, &out.why)) {
		arena_close(completing.scratch);
		out.all = false;
		return out;
	}
	compare_limits(&completing);
	for (int t = 0; t < (int)asked->workload->tensor_count; t++)
		compare_tensor(&completing, t);
	for (int o = 0; o < (int)asked->workload->op_count && !out.why; o++)
		if (!stopper_stops(&question->stopper) && op_is_tiled(&asked->workload->ops[o]))
			compare_op(&completing, o);
	arena_close(completing.scratch);
	return out;
}
