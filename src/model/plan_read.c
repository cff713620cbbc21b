#include "base/arena.h"
#include "base/array.h"
#include "model/plan_check.h"
#include "model/plan_file.h"
#include "model/users.h"
#include "model/workload_move.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* The one after it has a number, too. */
enum { BUNDLE_MOST = INT32_MAX - 1 };

struct stay {
	struct residency residency;
	struct span span;
	size_t order; /* in the file */
};

/* What a tensor is from the op on that makes it. */
struct version {
	int origin, producer, tensor;
};

struct plan_reading {
	const struct reading *reading;
	struct plan *plan;
	struct growing growing;          /* the workload as far as the steps go */
	const struct workload *workload; /* the same */
	int *origins;                    /* by tensor: where evictions and reloads began */
	int *latest;                     /* by tensor: what it is by now after those */
	struct array(
		struct version) versions; /* by origin, then producer, once all steps are read */
	struct array(struct step) steps;
	struct array(struct span) step_spans;
	struct array(struct stay) stays;
};

#define WRONG(file, span, ...) diag_error((file)->reading->diag, span, __VA_ARGS__)

static struct span span_of(const struct reader *map, const char *key)
{
	return node_find(map->map, key)->span;
}

static const char *tensor_near(const struct plan_reading *file, const char *name)
{
	size_t count = file->workload->tensor_count;
	const char **known = arena_array(file->reading->arena, const char *, count + 1);
	for (size_t t = 0; t < count; t++)
		known[t] = file->workload->tensors[t].name;
	return suggest(name, known);
}

static int find_tensor(struct plan_reading *file, const char *name, struct span span)
{
	int tensor = names_find(&file->growing.tensors, name);
	if (tensor >= 0)
		return tensor;
	const char *near = tensor_near(file, name);
	if (near)
		WRONG(file, span, "no tensor '%s'; did you mean '%s'?", name, near);
	else
		WRONG(file, span, "no tensor '%s' in the workload", name);
	return -1;
}

/* Ops of the workload, and behind them those of moves. */
static const char *op_near(const struct plan_reading *file, const char *name)
{
	const struct workload *given = file->growing.from, *workload = file->workload;
	size_t count = 0;
	const char **known = arena_array(
		file->reading->arena, const char *, given->op_count + workload->op_count + 1);
	for (size_t o = 0; o < given->op_count; o++)
		known[count++] = given->ops[o].name;
	for (size_t o = 0; o < workload->op_count; o++)
		if (workload->ops[o].move)
			known[count++] = workload->ops[o].name;
	return suggest(name, known);
}

static void complain_about_turn(struct plan_reading *file, const char *name, struct span span)
{
	const struct growing *growing = &file->growing;
	if (names_find(&growing->ops, name) >= 0 || names_find(&growing->tensors, name) >= 0) {
		if (!growing_is_whole(growing))
			WRONG(file, span, "op '%s' is not next: the workload runs '%s' here", name,
				growing->from->ops[growing->taken].name);
		else
			WRONG(file, span, "op '%s' ran before", name);
		return;
	}
	const char *near = op_near(file, name);
	if (near)
		WRONG(file, span, "no op '%s'; did you mean '%s'?", name, near);
	else
		WRONG(file, span, "no op '%s' in the workload", name);
}

static int compare_versions(const void *left, const void *right)
{
	const struct version *a = left, *b = right;
	if (a->origin != b->origin)
		return a->origin < b->origin ? -1 : 1;
	return a->producer < b->producer ? -1 : a->producer > b->producer;
}

/* What a tensor is at a step after evictions and reloads: the last that has begun. */
static int find_version(const struct plan_reading *file, int tensor, int step)
{
	size_t first = 0, end = file->versions.count;
	while (first < end) {
		size_t middle = first + (end - first) / 2;
		const struct version *at = &file->versions.at[middle];
		if (at->origin < tensor || (at->origin == tensor && at->producer <= step))
			first = middle + 1;
		else
			end = middle;
	}
	const struct version *last = first ? &file->versions.at[first - 1] : NULL;
	return last && last->origin == tensor ? last->tensor : tensor;
}

static void add_move(struct plan_reading *file, enum move_kind kind, int from, const char *name)
{
	int to = (int)file->workload->tensor_count;
	growing_reserve(&file->growing, name, to);
	growing_move(&file->growing, kind, from, to, name);
	file->latest[to] = file->origins[to] = to;
	if (kind == MOVE_CLONE)
		return;
	file->origins[to] = file->origins[from];
	file->latest[file->origins[to]] = to;
	*array_add(file->reading->arena, &file->versions) =
		(struct version){file->origins[to], (int)file->steps.count, to};
}

/* `{move: clone, tensor: x, as: y}`: from here on y is read in place of x. */
static bool read_clone(struct plan_reading *file, struct reader *map, int t)
{
	const char *as;
	if (!read_text(map, "as", REQUIRED, &as))
		return false;
	if (growing_has_name(&file->growing, as)) {
		WRONG(file, span_of(map, "as"), "there is a tensor or an op '%s' already", as);
		return false;
	}
	add_move(file, MOVE_CLONE, t, as);
	return true;
}

/* What is moved has been written before: an op of the workload that had its turn did that. */
static bool is_written(const struct plan_reading *file, int tensor)
{
	const struct growing *growing = &file->growing;
	return growing->from->tensors[growing->first[tensor]].producer < (int)growing->taken;
}

static bool read_move(struct plan_reading *file, struct reader *map)
{
	const char *tensor;
	int move;
	bool word = read_word(map, "move", REQUIRED, move_names + MOVE_CLONE, &move);
	if (!read_text(map, "tensor", REQUIRED, &tensor) || !word)
		return false;
	int t = find_tensor(file, tensor, span_of(map, "tensor"));
	if (t < 0)
		return false;
	if (!is_written(file, t)) {
		WRONG(file, span_of(map, "tensor"), "'%s' is moved before an op writes it", tensor);
		return false;
	}
	t = file->latest[t];
	enum move_kind kind = (enum move_kind)(move + MOVE_CLONE);
	if (kind == MOVE_CLONE)
		return read_clone(file, map, t);
	add_move(file, kind, t, growing_name(&file->growing, kind, t));
	return true;
}

static bool read_op(struct plan_reading *file, struct reader *map)
{
	const struct growing *growing = &file->growing;
	const char *name;
	if (!read_text(map, "op", REQUIRED, &name))
		return false;
	if (!growing_is_whole(growing) && names_find(&growing->ops, name) == (int)growing->taken) {
		growing_take(&file->growing);
		return true;
	}
	complain_about_turn(file, name, span_of(map, "op"));
	return false;
}

static void read_mapping(struct plan_reading *file, struct reader *map, struct step *step)
{
	const struct op *op = &file->workload->ops[step->op];
	const char *text;
	step->mapping = mapping_make(file->plan->arch, op);
	if (!read_text(map, "mapping", REQUIRED, &text))
		return;
	const char *why =
		mapping_parse(file->reading->arena, file->plan->arch, op, text, &step->mapping);
	if (why)
		WRONG(file, span_of(map, "mapping"), "mapping of '%s': %s", op->name, why);
}

/* `{rows: 64, sticks: 4, size: 32768, addresses: [0, 32768]}`: the tiles of a broadcast. */
static void read_staging(struct plan_reading *file, struct reader *map, struct step *step)
{
	const struct reading *reading = file->reading;
	const struct node *node = read_map(map, "staging", REQUIRED);
	struct staging *staging = arena_new(reading->arena, struct staging);
	struct reader fields;
	int64_t size = 0;
	if (!node || !reader_open(&fields, reading, node, "staging"))
		return;
	bool good = read_integer(&fields, "rows", REQUIRED, 1, INT32_MAX, &staging->rows);
	good &= read_integer(&fields, "sticks", REQUIRED, 1, INT32_MAX, &staging->sticks);
	good &= read_size(&fields, "size", REQUIRED, 1, INT64_MAX, &size);
	const struct node *list = read_list(&fields, "addresses", REQUIRED);
	if (list && list->count > STAGING_MOST)
		WRONG(file, list->span, "a broadcast has at most %d staging tiles, not %zu",
			STAGING_MOST, list->count);
	for (size_t i = 0; list && i < list->count && i < STAGING_MOST; i++)
		node_size(reading, list->items[i], "an address", 0, INT64_MAX,
			&staging->addresses[i]);
	if (good && staging->rows > INT64_MAX / STICK_BYTES / staging->sticks)
		WRONG(file, node->span, "a staging tile has more bytes than can be counted");
	else if (good && size != staging_bytes(staging))
		WRONG(file, span_of(&fields, "size"),
			"a tile of %" PRId64 " x %" PRId64 " sticks has %" PRId64
			" bytes, not %" PRId64,
			staging->rows, staging->sticks, staging_bytes(staging), size);
	reader_done(&fields);
	staging->count = list ? (int)list->count : 0;
	step->staging = staging;
}

/* False when the steps after it cannot be made sense of. */
static bool read_step(struct plan_reading *file, const struct node *node)
{
	struct reader map;
	int64_t bundle = 0;
	int number = (int)file->steps.count;
	if (!reader_open(&map, file->reading, node, "step"))
		return false;
	bool is_move = node_find(node, "move");
	if (!(is_move ? read_move(file, &map) : read_op(file, &map)))
		return false;
	struct step *step = array_add(file->reading->arena, &file->steps);
	step->op = number;
	read_integer(&map, "bundle", REQUIRED, 0, BUNDLE_MOST, &bundle);
	step->bundle = (int)bundle;
	read_mapping(file, &map, step);
	if (file->workload->ops[number].kind == OP_BROADCAST)
		read_staging(file, &map, step);
	*array_add(file->reading->arena, &file->step_spans) = node->span;
	reader_done(&map);
	return true;
}

static bool read_steps(struct plan_reading *file, struct reader *map)
{
	const struct node *list = read_list(map, "steps", REQUIRED);
	if (!list)
		return false;
	for (size_t i = 0; i < list->count; i++) {
		if (!read_step(file, list->items[i]))
			return false;
	}
	if (file->versions.count)
		qsort(file->versions.at, file->versions.count, sizeof *file->versions.at,
			compare_versions);
	const struct growing *growing = &file->growing;
	if (growing_is_whole(growing))
		return true;
	WRONG(file, list->span, "the steps end before op '%s'",
		growing->from->ops[growing->taken].name);
	return false;
}

static void read_slice(struct plan_reading *file, struct reader *map, struct residency *stay)
{
	const char *view, *parent;
	if (read_text(map, "view", REQUIRED, &view)) {
		const char *why = view_parse(view, &stay->view);
		if (why)
			WRONG(file, span_of(map, "view"), "%s", why);
	}
	read_size(map, "address", REQUIRED, 0, INT64_MAX, &stay->address);
	read_size(map, "size", REQUIRED, 0, INT64_MAX, &stay->size);
	if (read_text(map, "in_place_of", OPTIONAL, &parent))
		stay->in_place_of = find_tensor(file, parent, span_of(map, "in_place_of"));
}

static void read_stay(struct plan_reading *file, const struct node *node, int tensor)
{
	static const char *const places[] = {"HBM", "LX", NULL};
	struct residency stay = {.tensor = tensor, .in_place_of = -1};
	struct reader map;
	int place = PLACE_HBM;
	int64_t from = 0, to = 0;
	if (!reader_open(&map, file->reading, node, "stay"))
		return;
	read_word(&map, "where", REQUIRED, places, &place);
	stay.place = (enum place)place;
	read_integer(&map, "from", REQUIRED, 0, (int64_t)file->steps.count, &from);
	read_integer(&map, "to", REQUIRED, 0, (int64_t)file->steps.count, &to);
	stay.from = (int)from;
	stay.to = (int)to;
	if (stay.place == PLACE_LX)
		read_slice(file, &map, &stay);
	if (stay.tensor >= 0)
		stay.tensor = find_version(file, stay.tensor, stay.from);
	if (stay.in_place_of >= 0)
		stay.in_place_of = find_version(file, stay.in_place_of, stay.from);
	reader_done(&map);
	size_t order = file->stays.count;
	*array_add(file->reading->arena, &file->stays) = (struct stay){stay, node->span, order};
}

static int compare_stays(const void *left, const void *right)
{
	const struct stay *a = left, *b = right;
	if (a->residency.tensor != b->residency.tensor)
		return a->residency.tensor < b->residency.tensor ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static void read_tensors(struct plan_reading *file, const struct node *tensors)
{
	for (size_t i = 0; i < tensors->count; i++) {
		const struct node_entry *entry = &tensors->entries[i];
		int tensor = find_tensor(file, entry->key, entry->key_span);
		if (entry->value->kind != NODE_LIST)
			WRONG(file, entry->value->span,
				"the stays of '%s' are %s; a list is expected", entry->key,
				node_kind_name(entry->value));
		for (size_t k = 0; entry->value->kind == NODE_LIST && k < entry->value->count; k++)
			read_stay(file, entry->value->items[k], tensor);
	}
	if (file->stays.count)
		qsort(file->stays.at, file->stays.count, sizeof *file->stays.at, compare_stays);
}

/* %.17g as it was written: arithmetic on fractions could round it another way. */
static void read_double(struct plan_reading *file, struct reader *map, const char *key, double *out)
{
	const char *text;
	char *end;
	if (!read_text(map, key, REQUIRED, &text))
		return;
	*out = strtod(text, &end);
	if (*end || end == text)
		WRONG(file, span_of(map, key), "'%s' in %s is '%s'; a number is expected", key,
			map->what, text);
}

static void read_proof(struct plan_reading *file, struct reader *map)
{
	struct proof *proof = &file->plan->proof;
	const struct node *node = read_map(map, "proof", OPTIONAL);
	struct reader fields;
	int status = PROOF_NONE;
	if (!node || !reader_open(&fields, file->reading, node, "proof"))
		return;
	read_word(&fields, "status", REQUIRED, proof_names, &status);
	proof->status = (enum proof_status)status;
	read_text(&fields, "method", OPTIONAL, &proof->method);
	read_text(&fields, "space", OPTIONAL, &proof->space);
	if (proof->status != PROOF_NONE) {
		read_double(file, &fields, "value", &proof->value);
		read_double(file, &fields, "bound", &proof->bound);
	}
	reader_done(&fields);
}

static void read_name(
	struct plan_reading *file, struct reader *map, const char *key, const char *expected)
{
	const char *name;
	if (read_text(map, key, OPTIONAL, &name) && expected && !text_equal(name, expected))
		WRONG(file, span_of(map, key), "the plan was made for %s '%s', not '%s'", key, name,
			expected);
}

static void read_head(struct plan_reading *file, struct reader *map)
{
	int64_t version, cores = 0;
	read_integer(map, "version", REQUIRED, 1, 1, &version);
	read_name(file, map, "workload", file->workload->name);
	read_name(file, map, "architecture", file->plan->arch->name);
	read_integer(map, "cores", REQUIRED, 1, arch_cores(file->plan->arch), &cores);
	file->plan->cores = (int)cores;
}

static void finish(struct plan_reading *file)
{
	struct plan *plan = file->plan;
	const struct growing *growing = &file->growing;
	plan->workload =
		file->workload->op_count > growing->from->op_count ? file->workload : growing->from;
	plan->steps = file->steps.at;
	plan->step_count = (int)file->steps.count;
	plan->residency_count = (int)file->stays.count;
	plan->residencies = arena_array(file->reading->arena, struct residency, file->stays.count);
	for (size_t i = 0; i < file->stays.count; i++)
		plan->residencies[i] = file->stays.at[i].residency;
}

/* What plan_check finds, where the file says it. */
static void check(struct plan_reading *file, struct span whole)
{
	const struct plan *plan = file->plan;
	struct plan_faults faults = plan_check(plan, file->reading->arena);
	for (size_t i = 0; i < faults.count; i++) {
		const struct plan_fault *fault = &faults.at[i];
		if (fault->residency >= 0)
			WRONG(file, file->stays.at[fault->residency].span, "'%s': %s",
				plan->workload->tensors[plan->residencies[fault->residency].tensor]
					.name,
				fault->why);
		else if (fault->step >= 0)
			WRONG(file, file->step_spans.at[fault->step], "'%s': %s",
				plan->workload->ops[plan->steps[fault->step].op].name, fault->why);
		else
			WRONG(file, whole, "%s", fault->why);
	}
}

/* What is not listed lies in HBM; but where the results end up a file says. */
static void check_outputs(struct plan_reading *file, const struct node *tensors)
{
	const struct plan *plan = file->plan;
	struct users users = users_make(file->reading->arena, plan->workload);
	bool *known = arena_array(file->reading->arena, bool, plan->workload->tensor_count);
	for (int i = 0; i < plan->residency_count; i++)
		known[plan->residencies[i].tensor] = true;
	for (int t = 0; t < (int)plan->workload->tensor_count; t++) {
		const struct tensor *tensor = &plan->workload->tensors[t];
		int from, to;
		users_life(&users, t, &from, &to);
		if (tensor->role == TENSOR_OUTPUT && !known[t])
			WRONG(file, tensors->span,
				"output '%s' has no stay: {where: HBM, from: %d, to: %d}",
				tensor->name, from, to);
	}
}

/* The arguments are written for others; here they only may not say something else. */
static void check_arguments(struct plan_reading *file, const struct node *node,
	struct plan_arguments *arguments, int *step)
{
	const struct plan *plan = file->plan;
	int64_t bundle = 0;
	const char *const *names = NULL;
	size_t count = 0;
	struct reader map;
	if (!reader_open(&map, file->reading, node, "bundle"))
		return;
	read_integer(&map, "bundle", REQUIRED, 0, BUNDLE_MOST, &bundle);
	bool given = read_texts(&map, "arguments", REQUIRED, &names, &count);
	reader_done(&map);
	int first = *step;
	while (*step < plan->step_count && plan->steps[*step].bundle == bundle)
		++*step;
	plan_arguments_clear(arguments);
	plan_arguments_add(arguments, first, *step);
	bool same = first < *step && (int)count == arguments->count;
	for (size_t i = 0; same && i < count; i++) {
		int tensor = file->origins[arguments->tensors[i]];
		same = text_equal(names[i], plan->workload->tensors[tensor].name);
	}
	if (given && !same)
		WRONG(file, node->span, "steps and tensors make other bundles or arguments");
}

static void check_bundles(struct plan_reading *file, const struct node *bundles)
{
	int step = 0;
	struct plan_arguments arguments = plan_arguments_open(file->plan, file->reading->arena);
	for (size_t i = 0; bundles && i < bundles->count; i++)
		check_arguments(file, bundles->items[i], &arguments, &step);
	if (bundles && step < file->plan->step_count)
		WRONG(file, bundles->span, "bundle %d is not listed",
			file->plan->steps[step].bundle);
}

static void open_workload(
	struct plan_reading *file, const struct workload *workload, const struct node *steps)
{
	struct arena *arena = file->reading->arena;
	size_t moves = 0;
	for (size_t i = 0; steps && steps->kind == NODE_LIST && i < steps->count; i++)
		moves += node_find(steps->items[i], "move") != NULL;
	file->growing = growing_open(arena, workload, moves);
	file->workload = file->growing.workload;
	file->origins = arena_array(arena, int, workload->tensor_count + moves);
	file->latest = arena_array(arena, int, workload->tensor_count + moves);
	for (size_t t = 0; t < workload->tensor_count; t++)
		file->origins[t] = file->latest[t] = (int)t;
}

const struct plan *plan_read(const struct reading *reading, const struct node *node,
	const struct arch *arch, const struct workload *workload)
{
	struct plan *plan = arena_new(reading->arena, struct plan);
	struct plan_reading file = {.reading = reading, .plan = plan};
	size_t errors = diag_errors(reading->diag);
	struct reader map;
	plan->arch = arch;
	if (!reader_open(&map, reading, node, "plan"))
		return NULL;
	open_workload(&file, workload, node_find(node, "steps"));
	read_head(&file, &map);
	const struct node *bundles = read_list(&map, "bundles", REQUIRED);
	const struct node *tensors = read_map(&map, "tensors", REQUIRED);
	if (read_steps(&file, &map) && tensors)
		read_tensors(&file, tensors);
	read_proof(&file, &map);
	reader_done(&map);
	if (diag_errors(reading->diag) == errors) {
		finish(&file);
		check(&file, node->span);
	}
	if (diag_errors(reading->diag) == errors)
		check_outputs(&file, tensors);
	if (diag_errors(reading->diag) == errors)
		check_bundles(&file, bundles);
	return diag_errors(reading->diag) == errors ? plan : NULL;
}
