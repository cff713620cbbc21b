#include "base/arena.h"
#include "base/array.h"
#include "model/graph/plan_check.h"
#include "model/graph/plan_file.h"
#include "model/graph/plan_reading.h"
#include "model/graph/run.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static void read_slice(struct plan_reading *file, struct reader *map, struct residency *stay)
{
	const char *view, *parent;
	if (read_text(map, "view", REQUIRED, &view)) {
		const char *why = view_parse(view, &stay->view);
		if (why)
			WRONG(file, plan_span_of(map, "view"), "%s", why);
	}
	read_size(map, "address", REQUIRED, 0, INT64_MAX, &stay->address);
	read_size(map, "size", REQUIRED, 0, INT64_MAX, &stay->size);
	if (read_text(map, "in_place_of", OPTIONAL, &parent))
		stay->in_place_of =
			plan_find_tensor(file, parent, plan_span_of(map, "in_place_of"));
}

/* What the op that makes a tensor reads of the other; if it does not, what that is by then. */
static int find_parent(const struct plan_reading *file, int tensor, int parent, int step)
{
	int producer = tensor < 0 ? -1 : file->workload->tensors[tensor].producer;
	const struct op *op = producer < 0 ? NULL : &file->workload->ops[producer];
	for (int i = 0; op && i < op->read_count; i++)
		if (file->origins[op->reads[i].tensor] == parent)
			return op->reads[i].tensor;
	return plan_find_version(file, parent, step);
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
		stay.tensor = plan_find_version(file, stay.tensor, stay.from);
	if (stay.in_place_of >= 0)
		stay.in_place_of = find_parent(file, stay.tensor, stay.in_place_of, stay.from);
	reader_done(&map);
	size_t order = file->stays.count;
	*array_add(file->reading->arena, &file->stays) =
		(struct written_stay){stay, node->span, order};
}

static int compare_stays(const void *left, const void *right)
{
	const struct written_stay *a = left, *b = right;
	if (a->residency.tensor != b->residency.tensor)
		return a->residency.tensor < b->residency.tensor ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static void read_tensors(struct plan_reading *file, const struct node *tensors)
{
	for (size_t i = 0; i < tensors->count; i++) {
		const struct node_entry *entry = &tensors->entries[i];
		int tensor = plan_find_tensor(file, entry->key, entry->key_span);
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
		WRONG(file, plan_span_of(map, key), "'%s' in %s is '%s'; a number is expected", key,
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
		WRONG(file, plan_span_of(map, key), "the plan was made for %s '%s', not '%s'", key,
			name, expected);
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
	plan->runs = file->runs.at;
	plan->run_count = (int)file->runs.count;
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
			WRONG(file, plan->steps[fault->step].span, "'%s': %s",
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
		plan_life(plan, &users, t, &from, &to);
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
	file->in_lx = arena_array(arena, int, workload->tensor_count + moves);
	file->in_hbm = arena_array(arena, int, workload->tensor_count + moves);
	for (size_t t = 0; t < workload->tensor_count; t++)
		file->origins[t] = file->in_lx[t] = file->in_hbm[t] = (int)t;
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
	if (plan_read_steps(&file, &map) && tensors)
		read_tensors(&file, tensors);
	read_proof(&file, &map);
	reader_done(&map);
	diag_judge(reading->diag, true);
	if (diag_errors(reading->diag) == errors) {
		finish(&file);
		check(&file, node->span);
	}
	if (diag_errors(reading->diag) == errors)
		check_outputs(&file, tensors);
	if (diag_errors(reading->diag) == errors)
		check_bundles(&file, bundles);
	diag_judge(reading->diag, false);
	return diag_errors(reading->diag) == errors ? plan : NULL;
}

struct span plan_span_of(const struct reader *map, const char *key)
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

int plan_find_tensor(struct plan_reading *file, const char *name, struct span span)
{
	int tensor = names_find(&file->growing.tensors, name);
	if (tensor >= 0)
		return tensor;
	WRONG(file, span, "no tensor '%s'%s", name,
		suggestion(file->reading->arena, tensor_near(file, name), " in the workload"));
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

static void complain_about_op(struct plan_reading *file, const char *name, struct span span)
{
	WRONG(file, span, "no op '%s'%s", name,
		suggestion(file->reading->arena, op_near(file, name), " in the workload"));
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
	complain_about_op(file, name, span);
}

static int compare_versions(const void *left, const void *right)
{
	const struct version *a = left, *b = right;
	if (a->origin != b->origin)
		return a->origin < b->origin ? -1 : 1;
	return a->producer < b->producer ? -1 : a->producer > b->producer;
}

/* What a tensor is at a step after evictions and reloads: the last that has begun. */
int plan_find_version(const struct plan_reading *file, int tensor, int step)
{
	const struct version *versions = file->versions.at;
	size_t behind;
	bisect(behind, 0, file->versions.count,
		versions[behind].origin < tensor ||
			(versions[behind].origin == tensor && versions[behind].producer <= step));
	const struct version *last = behind ? &versions[behind - 1] : NULL;
	return last && last->origin == tensor ? last->tensor : tensor;
}

/* `readers: [fc2]`: later ops of the workload that use what is moved; *list NULL: all of them do. */
static bool read_readers(
	struct plan_reading *file, struct reader *map, int tensor, const int **list, size_t *count)
{
	const struct growing *growing = &file->growing;
	const char *const *names;
	if (!read_texts(map, "readers", OPTIONAL, &names, count))
		return !node_find(map->map, "readers");
	int *readers = arena_array(file->reading->arena, int, *count + 1);
	for (size_t i = 0; i < *count; i++) {
		bool reads = false;
		int number = readers[i] = names_find(&growing->ops, names[i]);
		if (number < 0)
			complain_about_op(file, names[i], plan_span_of(map, "readers"));
		else if (number < (int)growing->taken)
			WRONG(file, plan_span_of(map, "readers"), "op '%s' runs before the move",
				names[i]);
		if (number < (int)growing->taken)
			return false;
		const struct op *op = &growing->from->ops[number];
		for (int k = 0; k < op->read_count; k++)
			reads |= op->reads[k].tensor == growing->first[tensor];
		if (!reads) {
			WRONG(file, plan_span_of(map, "readers"), "op '%s' does not read '%s'",
				names[i], growing->from->tensors[growing->first[tensor]].name);
			return false;
		}
	}
	*list = readers;
	return true;
}

/* What an evict or a reload makes goes by the name of its tensor; others have one of their own. */
static void note_version(
	struct plan_reading *file, enum move_kind kind, int from, int to, bool for_all)
{
	int origin = file->origins[from];
	file->in_lx[to] = file->in_hbm[to] = file->origins[to] = to;
	if (kind == MOVE_CLONE || kind == MOVE_RELAYOUT)
		return;
	file->origins[to] = origin;
	if (for_all || kind == MOVE_RELOAD)
		file->in_lx[origin] = to;
	if (for_all || kind == MOVE_EVICT)
		file->in_hbm[origin] = to;
	*array_add(file->reading->arena, &file->versions) =
		(struct version){origin, (int)file->steps.count, to};
}

static bool add_move(struct plan_reading *file, struct reader *map, enum move_kind kind, int from,
	const char *name)
{
	struct growing *growing = &file->growing;
	int to = (int)file->workload->tensor_count;
	const int *readers = NULL;
	size_t count = 0;
	if (!read_readers(file, map, from, &readers, &count))
		return false;
	growing_reserve(growing, name, to);
	if (readers)
		growing_move_for(growing, kind, from, to, name, readers, count);
	else
		growing_move(growing, kind, from, to, name);
	note_version(file, kind, from, to, !readers);
	return true;
}

/* `{move: clone, tensor: x, as: y}`: from here on y is read in place of x. */
static bool read_step_name(struct plan_reading *file, struct reader *map, const char **as)
{
	if (!read_text(map, "as", REQUIRED, as))
		return false;
	if (!growing_has_name(&file->growing, *as))
		return true;
	WRONG(file, plan_span_of(map, "as"), "there is a tensor or an op '%s' already", *as);
	return false;
}

/* What is moved has been written before: an op of the workload that had its turn did that. */
static bool is_written(const struct plan_reading *file, int tensor)
{
	const struct growing *growing = &file->growing;
	return growing->from->tensors[growing->first[tensor]].producer < (int)growing->taken;
}

static bool read_move(struct plan_reading *file, struct reader *map)
{
	const char *tensor, *name;
	int move;
	bool word = read_word(map, "move", REQUIRED, move_names + MOVE_CLONE, &move);
	if (!read_text(map, "tensor", REQUIRED, &tensor) || !word)
		return false;
	int t = plan_find_tensor(file, tensor, plan_span_of(map, "tensor"));
	if (t < 0)
		return false;
	if (!is_written(file, t)) {
		WRONG(file, plan_span_of(map, "tensor"), "'%s' is moved before an op writes it",
			tensor);
		return false;
	}
	enum move_kind kind = (enum move_kind)(move + MOVE_CLONE);
	t = kind == MOVE_EVICT || kind == MOVE_RELAYOUT ? file->in_lx[t] : file->in_hbm[t];
	if (kind == MOVE_EVICT || kind == MOVE_RELOAD)
		name = growing_name(&file->growing, kind, t);
	else if (!read_step_name(file, map, &name))
		return false;
	return add_move(file, map, kind, t, name);
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
	complain_about_turn(file, name, plan_span_of(map, "op"));
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
		WRONG(file, plan_span_of(map, "mapping"), "mapping of '%s': %s", op->name, why);
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
		WRONG(file, plan_span_of(&fields, "size"),
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
	step->span = node->span;
	read_integer(&map, "bundle", REQUIRED, 0, BUNDLE_MOST, &bundle);
	step->bundle = (int)bundle;
	read_mapping(file, &map, step);
	if (file->workload->ops[number].primitive->kind == OP_BROADCAST)
		read_staging(file, &map, step);
	reader_done(&map);
	return true;
}

static void read_loops(struct plan_reading *file, const struct node *loops, struct tile_run *run)
{
	if (loops->count > RUN_LOOPS_MOST)
		WRONG(file, loops->span, "the steps of a run share at most %d loops, not %zu",
			RUN_LOOPS_MOST, loops->count);
	for (size_t i = 0; i < loops->count && i < RUN_LOOPS_MOST; i++) {
		struct run_loop *loop = &run->loops[run->loop_count++];
		loop->name = loops->entries[i].key;
		node_integer(file->reading, loops->entries[i].value,
			arena_format(file->reading->arena, "the tiles of loop '%s'", loop->name), 1,
			UINT32_MAX, &loop->tiles);
	}
}

static bool read_run_step(struct plan_reading *file, const struct node *node)
{
	if (node->kind == NODE_MAP && node_find(node, "move")) {
		WRONG(file, node->span, "a run has no moves; put it before 'loop'");
		return false;
	}
	return read_step(file, node);
}

/* `{loop: {q: 8}, steps: [...]}`: steps that share a loop. */
static bool read_run(struct plan_reading *file, const struct node *node)
{
	struct reader map;
	if (!reader_open(&map, file->reading, node, "run"))
		return false;
	const struct node *loops = read_map(&map, "loop", REQUIRED);
	const struct node *steps = read_list(&map, "steps", REQUIRED);
	reader_done(&map);
	if (!loops || !steps)
		return false;
	struct tile_run run = {.first = (int)file->steps.count};
	read_loops(file, loops, &run);
	for (size_t i = 0; i < steps->count; i++)
		if (!read_run_step(file, steps->items[i]))
			return false;
	run.end = (int)file->steps.count;
	if (run.first == run.end)
		WRONG(file, node->span, "a run of steps has no steps");
	*array_add(file->reading->arena, &file->runs) = run;
	return true;
}

bool plan_read_steps(struct plan_reading *file, struct reader *map)
{
	const struct node *list = read_list(map, "steps", REQUIRED);
	if (!list)
		return false;
	for (size_t i = 0; i < list->count; i++) {
		const struct node *item = list->items[i];
		bool is_run = item->kind == NODE_MAP && node_find(item, "loop");
		if (!(is_run ? read_run(file, item) : read_step(file, item)))
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
