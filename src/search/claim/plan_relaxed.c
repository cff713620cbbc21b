#include "search/claim/plan_relaxed.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/checked.h"

#include <string.h>

/* What an option asks of the places at its first cut, and makes of them at its last. */
struct relaxed_class {
	int end;
	uint8_t allowed[PLAN_RELAXED_MOST]; /* by tensor of the first cut: a set of places */
	int8_t after
		[PLAN_RELAXED_MOST]; /* by tensor of the last cut: a place; FROM + k: as tensor k was */
	int64_t cost;
};
enum { FROM = PLACE_COUNT, IN_ANY = 7 };

struct relaxing {
	struct plan_relaxed *relaxed;
	const struct joint_space *space;
	struct arena *arena;
	bool fits;
	const char *why;
};

int64_t plan_relaxed_share(const struct joint_space *space, int cores)
{
	return space->bundle_most ? space->bundle_value + space->core_value * cores : 0;
}

static int followed(const struct plan_cut *cut)
{
	return cut->count < PLAN_RELAXED_MOST ? cut->count : PLAN_RELAXED_MOST;
}

static int find_tensor(const struct plan_cut *cut, int tensor)
{
	for (int k = 0; k < followed(cut); k++)
		if (cut->tensors[k] == tensor)
			return k;
	return -1;
}

static size_t count_places(int tensors)
{
	size_t count = 1;
	for (int k = 0; k < tensors; k++)
		count *= PLACE_COUNT;
	return count;
}

/* --- what crosses the cuts */

static void note_use(struct plan_relaxed *relaxed, int t, const struct joint_option *option)
{
	if (option->end < relaxed->first_use[t])
		relaxed->first_use[t] = option->end;
	if (option->end - 1 > relaxed->last_use[t])
		relaxed->last_use[t] = option->end - 1;
}

static void find_uses(struct relaxing *relaxing)
{
	const struct joint_space *space = relaxing->space;
	struct plan_relaxed *relaxed = relaxing->relaxed;
	for (int t = 0; t < space->tensor_count; t++) {
		relaxed->first_use[t] = space->op_count + 1;
		relaxed->last_use[t] = space->tensors[t].last;
	}
	for (size_t o = 0; o < space->option_count; o++) {
		const struct joint_option *option = &space->options[o];
		for (int u = 0; u < option->use_count; u++)
			note_use(relaxed, option->uses[u].tensor, option);
		for (int a = 0; a < option->argument_count; a++)
			note_use(relaxed, option->arguments[a], option);
	}
}

static bool find_cuts(struct relaxing *relaxing)
{
	const struct joint_space *space = relaxing->space;
	for (int c = 0; c <= space->op_count; c++) {
		struct plan_cut *cut = &relaxing->relaxed->cuts[c];
		for (int t = 0; t < space->tensor_count; t++) {
			const struct joint_tensor *tensor = &space->tensors[t];
			int from = tensor->producer < 0 ? relaxing->relaxed->first_use[t]
							: tensor->producer + 1;
			int to = tensor->output ? space->op_count : relaxing->relaxed->last_use[t];
			if (from > c || to < c)
				continue;
			if (cut->count == PLAN_CROSSING_MOST) {
				relaxing->why = arena_format(relaxing->arena,
					"more than %d tensors are needed across one cut",
					PLAN_CROSSING_MOST);
				return false;
			}
			cut->tensors[cut->count++] = t;
		}
		cut->least = arena_array(relaxing->arena, int64_t, count_places(followed(cut)));
	}
	return true;
}

/* --- options */

/* Tensors that no step can have used before: inputs that no option uses that ends before this one begins,
 * what is written, what a run makes and leaves to itself. */
static bool is_new(const struct relaxing *relaxing, int t, const struct joint_option *option)
{
	int producer = relaxing->space->tensors[t].producer;
	return producer < 0 ? relaxing->relaxed->first_use[t] > option->first
			    : producer >= option->first;
}

static int count_new(const struct relaxing *relaxing, const struct joint_option *option)
{
	int count = 0;
	for (int u = 0; u < option->use_count; u++)
		count += option->uses[u].mode != JOINT_RESIDENT &&
			 is_new(relaxing, option->uses[u].tensor, option);
	for (int k = 0; k < option->out_count; k++)
		count += option->outs[k].view < 0;
	for (int a = 0; a < option->argument_count; a++)
		count += is_new(relaxing, option->arguments[a], option);
	return count;
}

static void class_of(
	struct relaxing *relaxing, const struct joint_option *option, struct relaxed_class *class)
{
	static const uint8_t allowed[] = {[JOINT_HBM] = 1 << PLACE_IN_HBM | 1 << PLACE_IN_BOTH,
		[JOINT_RESIDENT] = 1 << PLACE_IN_LX | 1 << PLACE_IN_BOTH,
		[JOINT_MOVED] = 1 << PLACE_IN_HBM | 1 << PLACE_IN_BOTH};
	const struct plan_cut *before = &relaxing->relaxed->cuts[option->first];
	const struct plan_cut *behind = &relaxing->relaxed->cuts[option->end];
	/* What is not followed may be anywhere. */
	int fresh = before->count > PLAN_RELAXED_MOST ? PLACE_IN_BOTH : PLACE_IN_HBM;
	memset(class, 0, sizeof *class);
	class->end = option->end;
	memset(class->allowed, IN_ANY, sizeof class->allowed);
	for (int k = 0; k < followed(behind); k++) {
		int was = find_tensor(before, behind->tensors[k]);
		class->after[k] = (int8_t)(was < 0 ? fresh : FROM + was);
	}
	for (int u = 0; u < option->use_count; u++) {
		const struct joint_use *use = &option->uses[u];
		int was = find_tensor(before, use->tensor), is = find_tensor(behind, use->tensor);
		if (was >= 0)
			class->allowed[was] = allowed[use->mode];
		if (is >= 0 && use->mode == JOINT_MOVED)
			class->after[is] = PLACE_IN_BOTH;
	}
	for (int k = 0; k < option->out_count; k++) {
		int is = find_tensor(behind, option->outs[k].tensor);
		int place = option->outs[k].view < 0 ? PLACE_IN_HBM : PLACE_IN_LX;
		bool both = k && option->outs[k - 1].tensor == option->outs[k].tensor;
		if (is >= 0)
			class->after[is] = (int8_t)(both ? PLACE_IN_BOTH : place);
	}
	int64_t own = checked_mul(&relaxing->fits, option->value, relaxing->relaxed->scale);
	class->cost = checked_add(&relaxing->fits, own,
		count_new(relaxing, option) * plan_relaxed_share(relaxing->space, option->cores));
}

static bool is_same(const struct relaxed_class *a, const struct relaxed_class *b)
{
	return a->end == b->end && !memcmp(a->allowed, b->allowed, sizeof a->allowed) &&
	       !memcmp(a->after, b->after, sizeof a->after);
}

struct relaxed_classes array(struct relaxed_class);

/* One of each kind, the cheapest. */
static struct relaxed_classes list_classes(struct relaxing *relaxing, int op)
{
	const struct joint_space *space = relaxing->space;
	struct relaxed_classes classes = {0};
	for (size_t o = space->first_option[op]; o < space->first_option[op + 1]; o++) {
		struct relaxed_class class;
		size_t i = 0;
		class_of(relaxing, &space->options[o], &class);
		while (i < classes.count && !is_same(&classes.at[i], &class))
			i++;
		if (i == classes.count)
			*array_add(relaxing->arena, &classes) = class;
		else if (class.cost < classes.at[i].cost)
			classes.at[i].cost = class.cost;
	}
	return classes;
}

/* --- backwards */

static int64_t after(
	struct relaxing *relaxing, const struct relaxed_class *class, const int *places, int count)
{
	const struct plan_cut *behind = &relaxing->relaxed->cuts[class->end];
	size_t index = 0, unit = 1;
	for (int k = 0; k < count; k++)
		if (!(class->allowed[k] >> places[k] & 1))
			return JOINT_NEVER;
	for (int k = 0; k < followed(behind); k++, unit *= PLACE_COUNT) {
		int place = class->after[k];
		index += unit * (size_t)(place < FROM ? place : places[place - FROM]);
	}
	int64_t rest = behind->least[index];
	return rest == JOINT_NEVER ? rest : checked_add(&relaxing->fits, rest, class->cost);
}

/* What bringing a tensor from LX into HBM costs at least. */
static int64_t evict_least(struct relaxing *relaxing, int t)
{
	const struct joint_tensor *tensor = &relaxing->space->tensors[t];
	int64_t least = JOINT_NEVER;
	for (int v = 0; v < tensor->view_count; v++) {
		if (tensor->evict[v] == JOINT_NEVER)
			continue;
		int64_t cost = checked_add(&relaxing->fits,
			checked_mul(&relaxing->fits, tensor->evict[v], relaxing->relaxed->scale),
			plan_relaxed_share(relaxing->space, tensor->cores[v]));
		if (cost < least)
			least = cost;
	}
	return least;
}

/* Evictions and drops at the cut: to both from LX alone, to HBM alone from both. */
static void close_cut(struct relaxing *relaxing, struct plan_cut *cut)
{
	size_t count = count_places(followed(cut)), unit = 1;
	for (int k = 0; k < followed(cut); k++, unit *= PLACE_COUNT) {
		int64_t evict = evict_least(relaxing, cut->tensors[k]);
		for (size_t i = 0; i < count; i++) {
			size_t hbm = i - 2 * unit;
			if (i / unit % PLACE_COUNT == PLACE_IN_BOTH &&
				cut->least[hbm] < cut->least[i])
				cut->least[i] = cut->least[hbm];
		}
		for (size_t i = 0; i < count; i++) {
			if (i / unit % PLACE_COUNT != PLACE_IN_LX || evict == JOINT_NEVER ||
				cut->least[i + unit] == JOINT_NEVER)
				continue;
			int64_t cost = checked_add(&relaxing->fits, evict, cut->least[i + unit]);
			if (cost < cut->least[i])
				cut->least[i] = cost;
		}
	}
}

static void fill_cut(struct relaxing *relaxing, int c)
{
	struct plan_cut *cut = &relaxing->relaxed->cuts[c];
	size_t count = count_places(followed(cut));
	struct relaxed_classes classes = list_classes(relaxing, c);
	for (size_t i = 0; i < count; i++) {
		int places[PLAN_RELAXED_MOST];
		size_t rest = i;
		for (int k = 0; k < followed(cut); k++, rest /= PLACE_COUNT)
			places[k] = (int)(rest % PLACE_COUNT);
		cut->least[i] = JOINT_NEVER;
		for (size_t j = 0; j < classes.count; j++) {
			int64_t cost = after(relaxing, &classes.at[j], places, followed(cut));
			if (cost < cut->least[i])
				cut->least[i] = cost;
		}
	}
	close_cut(relaxing, cut);
}

/* Behind the last op only outputs are there, which must be in HBM. */
static void fill_end(struct relaxing *relaxing)
{
	struct plan_cut *cut = &relaxing->relaxed->cuts[relaxing->space->op_count];
	size_t count = count_places(followed(cut));
	for (size_t i = 0; i < count; i++) {
		size_t rest = i;
		for (int k = 0; k < followed(cut); k++, rest /= PLACE_COUNT)
			if (rest % PLACE_COUNT == PLACE_IN_LX)
				cut->least[i] = JOINT_NEVER;
	}
	close_cut(relaxing, cut);
}

const struct plan_relaxed *plan_relaxed_make(
	const struct joint_space *space, struct arena *arena, const char **why)
{
	struct plan_relaxed *relaxed = arena_new(arena, struct plan_relaxed);
	struct relaxing relaxing = {relaxed, space, arena, true, NULL};
	relaxed->space = space;
	relaxed->scale = space->bundle_most ? space->bundle_most : 1;
	relaxed->first_use = arena_array(arena, int, space->tensor_count);
	relaxed->last_use = arena_array(arena, int, space->tensor_count);
	relaxed->cuts = arena_array(arena, struct plan_cut, space->op_count + 1);
	find_uses(&relaxing);
	if (find_cuts(&relaxing)) {
		fill_end(&relaxing);
		for (int c = space->op_count - 1; c >= 0; c--)
			fill_cut(&relaxing, c);
		if (!relaxing.fits)
			relaxing.why = "a sum does not fit into 64 bits";
	}
	*why = relaxing.why;
	return *why ? NULL : relaxed;
}
