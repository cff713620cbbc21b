#include "model/graph/plan_file.h"

#include "base/arena.h"
#include "base/array.h"
#include "model/graph/plan_check.h"
#include "model/graph/run.h"
#include "spec/field.h"
#include "spec/node.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The one after it has a number, too. */
enum { BUNDLE_MOST = INT32_MAX - 1 };

struct written_stay {
	struct residency residency;
	struct span span;
	size_t order; /* in the file */
};

/* The tensor that carries on another's content, from the op on that makes it. */
struct version {
	int origin, producer, tensor;
};

/* A plan while its file is read: steps first, because the moves among them make
 * tensors; then where tensors are, the proof, and checks of the whole. */
struct plan_reading {
	const struct reading *reading;
	struct plan *plan;
	struct growing growing;          /* the workload as far as the steps go */
	const struct workload *workload; /* the same */
	int *origins;                    /* by tensor: where evictions and reloads began */
	int *in_lx, *in_hbm;             /* by tensor: what it is by now there after those */
	struct array(
		struct version) versions; /* by origin, then producer, once all steps are read */
	struct array(struct step) steps;
	struct array(struct tile_run) runs;
	struct array(struct written_stay) stays;
};

#define WRONG(file, span, ...) diag_error((file)->reading->diag, span, __VA_ARGS__)

/* The value of a key that the map has. */
static struct span span_of_key(const struct reader *map, const char *key)
{
	return node_find(map->map, key)->span;
}

/* The maps of a plan as they are written. */
struct step_form {
	const char *op, *tensor, *as, *mapping;
	int move, bundle; /* behind MOVE_CLONE; -1: an op */
	struct texts readers;
	const struct node *staging, *loop, *steps;
};

/* A step is one op or move, which may be a broadcast, or a run of steps that share loops. */
enum { STEP_ONE = 1 << 0, STEP_BROADCAST = 1 << 1, STEP_RUN = 1 << 2 };

struct staging_form {
	int64_t rows, sticks, size;
	struct numbers addresses;
};

struct stay_form {
	struct residency stay;
	const char *view, *in_place_of;
};

struct bundle_form {
	int bundle;
	struct texts arguments;
};

struct plan_form {
	const char *workload, *architecture;
	int version, cores;
	const struct node *steps, *tensors, *bundles, *proof;
};

static bool is_op(const void *step)
{
	return ((const struct step_form *)step)->move < 0;
}

static bool is_move(const void *step)
{
	return !is_op(step);
}

/* True if a step is a move that names its result. */
static bool names_result(const void *step)
{
	int move = ((const struct step_form *)step)->move + MOVE_CLONE;
	return is_move(step) && (move == MOVE_CLONE || move == MOVE_RELAYOUT);
}

static bool is_in_lx(const void *stay)
{
	return ((const struct stay_form *)stay)->stay.place == PLACE_LX;
}

static bool has_values(const void *proof)
{
	return ((const struct proof *)proof)->status != PROOF_NONE;
}

/* Reads the number of a step of a plan. */
static void read_place(
	struct reader *map, const struct field *field, void *whole, const void *context)
{
	const struct plan_reading *file = context;
	int64_t number = 0;
	read_integer(map, field->key, REQUIRED, 0, (int64_t)file->steps.count, &number);
	*(int *)field_place(field, whole) = (int)number;
}

/* %.17g as it was written: arithmetic on fractions could round it another way. */
static void read_double(
	struct reader *map, const struct field *field, void *whole, const void *context)
{
	const char *text;
	char *end;
	if (!read_text(map, field->key, REQUIRED, &text))
		return;
	*(double *)field_place(field, whole) = strtod(text, &end);
	if (*end || end == text)
		reader_refuse(map, field->key, "is '%s'; a number is expected", text);
}

#define STEP(member) .forms = STEP_ONE, INTO(struct step_form, member)
#define STEP_PART(form, member) .forms = (form), .needed = (form), KEEP(struct step_form, member)
#define STAY(member) INTO(struct stay_form, member)
#define MUST .required = true

static const struct field staging_fields[] = {
	{"rows", FIELD_WHOLE, "of a tile", MUST, INTO(struct staging_form, rows), .least = 1,
		.most = INT32_MAX},
	{"sticks", FIELD_WHOLE, "of a row", MUST, INTO(struct staging_form, sticks), .least = 1,
		.most = INT32_MAX},
	{"size", FIELD_SIZE, "of a tile", MUST, INTO(struct staging_form, size), .least = 1,
		.most = INT64_MAX},
	{"addresses", FIELD_SIZE, "of the tiles in LX", .shape = SHAPE_LIST, MUST,
		INTO(struct staging_form, addresses), .item = "an address", .most = INT64_MAX},
	{0},
};
static const struct noun staging_noun = {.name = "staging", .fields = staging_fields};

static const struct noun step_noun;

static const struct field step_fields[] = {
	{"op", FIELD_TEXT, "name of an op of the workload", MUST, .has = is_op, STEP(op)},
	{"move", FIELD_CHOICE, "instead of `op`", MUST, .has = is_move, STEP(move),
		.words = move_names + MOVE_CLONE},
	{"tensor", FIELD_TEXT, "tensor that a move takes elsewhere", MUST, .has = is_move,
		STEP(tensor)},
	{"as", FIELD_TEXT, "name of the result of a move", MUST, .has = names_result, STEP(as)},
	{"readers", FIELD_TEXT, "ops that read the result of a clone", .shape = SHAPE_SOME,
		.has = is_move, STEP(readers)},
	{"bundle", FIELD_WHOLE, "number of the bundle", .when = "steps", MUST, .most = BUNDLE_MOST,
		STEP(bundle)},
	{"mapping", FIELD_TEXT, "division over cores, tiles, nests", .when = "steps", MUST,
		STEP(mapping)},
	{"staging", FIELD_MAP, "tiles of a broadcast", .noun = &staging_noun,
		STEP_PART(STEP_BROADCAST, staging)},
	{"loop", FIELD_WHOLE, "loops that `steps` share, with their tiles", .shape = SHAPE_NAMED,
		STEP_PART(STEP_RUN, loop)},
	{"steps", FIELD_MAP, "steps that share a loop", .shape = SHAPE_LIST, .noun = &step_noun,
		STEP_PART(STEP_RUN, steps)},
	{0},
};
static const struct noun step_noun = {.name = "step", .fields = step_fields};

static const char *const place_words[] = {"HBM", "LX", NULL};

static const struct field stay_fields[] = {
	{"where", FIELD_CHOICE, MUST, .words = place_words, STAY(stay.place)},
	{"view", FIELD_TEXT, "parts of the cores, in LX", MUST, .has = is_in_lx, STAY(view)},
	{"address", FIELD_SIZE, "in LX of each core", MUST, .has = is_in_lx, .most = INT64_MAX,
		STAY(stay.address)},
	{"size", FIELD_SIZE, "of a core's part", MUST, .has = is_in_lx, .most = INT64_MAX,
		STAY(stay.size)},
	{"from", FIELD_WHOLE, "first step", MUST, .read = read_place, STAY(stay.from)},
	{"to", FIELD_WHOLE, "step behind the last", MUST, .read = read_place, STAY(stay.to)},
	{"in_place_of", FIELD_TEXT, "tensor whose place it takes", .has = is_in_lx,
		STAY(in_place_of)},
	{0},
};
static const struct noun stay_noun = {.name = "stay", .fields = stay_fields};

static const struct field proof_fields[] = {
	{"status", FIELD_CHOICE, MUST, .words = proof_names, INTO(struct proof, status)},
	{"method", FIELD_TEXT, "solver of the proof", INTO(struct proof, method)},
	{"space", FIELD_TEXT, "plans among which the claim holds", INTO(struct proof, space)},
	{"value", FIELD_NUMBER, "of the plan, as written", MUST, .has = has_values,
		.read = read_double, INTO(struct proof, value)},
	{"bound", FIELD_NUMBER, "lower bound, as written", MUST, .has = has_values,
		.read = read_double, INTO(struct proof, bound)},
	{0},
};
static const struct noun proof_noun = {.name = "proof", .fields = proof_fields};

static const struct field bundle_fields[] = {
	{"bundle", FIELD_WHOLE, "its number", MUST, .most = BUNDLE_MOST,
		INTO(struct bundle_form, bundle)},
	{"arguments", FIELD_TEXT, "its tensors in HBM", .shape = SHAPE_SOME, MUST,
		INTO(struct bundle_form, arguments)},
	{0},
};
static const struct noun bundle_noun = {.name = "bundle", .fields = bundle_fields};

static const struct field plan_fields[] = {
	{"version", FIELD_WHOLE, "1", MUST, .least = 1, .most = 1, INTO(struct plan_form, version)},
	{"workload", FIELD_TEXT, "its name", INTO(struct plan_form, workload)},
	{"architecture", FIELD_TEXT, "its name", INTO(struct plan_form, architecture)},
	{"cores", FIELD_WHOLE, "cores that it uses", MUST, .least = 1, .most = ARCH_CORES_MOST,
		INTO(struct plan_form, cores)},
	{"steps", FIELD_MAP, "ops, moves and runs in their order", .shape = SHAPE_LIST, MUST,
		.noun = &step_noun, KEEP(struct plan_form, steps)},
	{"tensors", FIELD_ANY, "lists of stays by name", .shape = SHAPE_NAMED, MUST,
		KEEP(struct plan_form, tensors)},
	{"bundles", FIELD_MAP, "arguments of the bundles", .shape = SHAPE_LIST, MUST,
		.noun = &bundle_noun, KEEP(struct plan_form, bundles)},
	{"proof", FIELD_MAP, "claim about the plan", .noun = &proof_noun,
		KEEP(struct plan_form, proof)},
	{0},
};
const struct noun plan_noun = {.name = "plan", .fields = plan_fields};

static const char *tensor_near(const struct plan_reading *file, const char *name)
{
	size_t count = file->workload->tensor_count;
	const char **known = arena_array(file->reading->arena, const char *, count + 1);
	for (size_t t = 0; t < count; t++)
		known[t] = file->workload->tensors[t].name;
	return suggest(name, known);
}

/* A tensor of the workload or of a move so far; -1 after complaining. */
static int find_tensor(struct plan_reading *file, const char *name, struct span span)
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

/* Finds the version of a tensor at a step, after evictions and reloads before it: the last that has begun.
 * All steps are read. */
static int find_version(const struct plan_reading *file, int tensor, int step)
{
	const struct version *versions = file->versions.at;
	size_t behind;
	bisect(behind, 0, file->versions.count,
		versions[behind].origin < tensor ||
			(versions[behind].origin == tensor && versions[behind].producer <= step));
	const struct version *last = behind ? &versions[behind - 1] : NULL;
	return last && last->origin == tensor ? last->tensor : tensor;
}

/* `readers: [fc2]`: later ops of the workload that use what is moved; NULL: all of them do. */
static bool find_readers(struct plan_reading *file, struct reader *map, const struct texts *names,
	int tensor, const int **list)
{
	const struct growing *growing = &file->growing;
	if (!names->at)
		return !node_find(map->map, "readers");
	int *readers = arena_array(file->reading->arena, int, names->count + 1);
	for (size_t i = 0; i < names->count; i++) {
		bool reads = false;
		int number = readers[i] = names_find(&growing->ops, names->at[i]);
		if (number < 0)
			complain_about_op(file, names->at[i], span_of_key(map, "readers"));
		else if (number < (int)growing->taken)
			WRONG(file, span_of_key(map, "readers"), "op '%s' runs before the move",
				names->at[i]);
		if (number < (int)growing->taken)
			return false;
		const struct op *op = &growing->from->ops[number];
		for (int k = 0; k < op->read_count; k++)
			reads |= op->reads[k].tensor == growing->first[tensor];
		if (!reads) {
			WRONG(file, span_of_key(map, "readers"), "op '%s' does not read '%s'",
				names->at[i], growing->from->tensors[growing->first[tensor]].name);
			return false;
		}
	}
	*list = readers;
	return true;
}

/* Notes the result of an evict or a reload under the name of its tensor; other moves name theirs. */
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

static bool read_add_move(struct plan_reading *file, struct reader *map,
	const struct step_form *form, enum move_kind kind, int from, const char *name)
{
	struct growing *growing = &file->growing;
	int to = (int)file->workload->tensor_count;
	const int *readers = NULL;
	if (!find_readers(file, map, &form->readers, from, &readers))
		return false;
	growing_reserve(growing, name, to);
	if (readers)
		growing_move_for(growing, kind, from, to, name, readers, form->readers.count);
	else
		growing_move(growing, kind, from, to, name);
	note_version(file, kind, from, to, !readers);
	return true;
}

/* `{move: clone, tensor: x, as: y}`: from here on y is read in place of x. */
static bool take_name(struct plan_reading *file, struct reader *map, const char *as)
{
	if (!as || !growing_has_name(&file->growing, as))
		return as;
	WRONG(file, span_of_key(map, "as"), "there is a tensor or an op '%s' already", as);
	return false;
}

/* True if an op before the move has written the tensor. */
static bool is_written(const struct plan_reading *file, int tensor)
{
	const struct growing *growing = &file->growing;
	return growing->from->tensors[growing->first[tensor]].producer < (int)growing->taken;
}

static bool take_move(struct plan_reading *file, struct reader *map, const struct step_form *form)
{
	if (!form->tensor)
		return false;
	int t = find_tensor(file, form->tensor, span_of_key(map, "tensor"));
	if (t < 0)
		return false;
	if (!is_written(file, t)) {
		WRONG(file, span_of_key(map, "tensor"), "'%s' is moved before an op writes it",
			form->tensor);
		return false;
	}
	enum move_kind kind = (enum move_kind)(form->move + MOVE_CLONE);
	const char *name = form->as;
	t = kind == MOVE_EVICT || kind == MOVE_RELAYOUT ? file->in_lx[t] : file->in_hbm[t];
	if (!names_result(form))
		name = growing_name(&file->growing, kind, t);
	else if (!take_name(file, map, name))
		return false;
	return read_add_move(file, map, form, kind, t, name);
}

static bool take_op(struct plan_reading *file, struct reader *map, const char *name)
{
	const struct growing *growing = &file->growing;
	if (!name)
		return false;
	if (!growing_is_whole(growing) && names_find(&growing->ops, name) == (int)growing->taken) {
		growing_take(&file->growing);
		return true;
	}
	complain_about_turn(file, name, span_of_key(map, "op"));
	return false;
}

static void take_mapping(
	struct plan_reading *file, struct reader *map, const char *text, struct step *step)
{
	const struct op *op = &file->workload->ops[step->op];
	step->mapping = mapping_make(file->plan->arch, op);
	const char *why = text ? mapping_parse(file->reading->arena, file->plan->arch, op, text,
					 &step->mapping)
			       : NULL;
	if (why)
		WRONG(file, span_of_key(map, "mapping"), "mapping of '%s': %s", op->name, why);
}

/* `{rows: 64, sticks: 4, size: 32768, addresses: [0, 32768]}`: the tiles of a broadcast. */
static void read_staging(struct plan_reading *file, const struct node *node, struct step *step)
{
	struct staging *staging = arena_new(file->reading->arena, struct staging);
	struct staging_form form = {0};
	struct reader fields;
	if (!node || !noun_open(&fields, file->reading, node, "staging", &staging_noun))
		return;
	fields_read(&fields, &staging_noun, &form, NULL);
	reader_done(&fields);
	staging->rows = form.rows;
	staging->sticks = form.sticks;
	staging->count = (int)form.addresses.count;
	for (size_t i = 0; i < form.addresses.count && i < STAGING_MOST; i++)
		staging->addresses[i] = form.addresses.at[i];
	bool good = form.size && form.rows && form.sticks;
	if (form.addresses.count > STAGING_MOST)
		WRONG(file, span_of_key(&fields, "addresses"),
			"a broadcast has at most %d staging tiles, not %zu", STAGING_MOST,
			form.addresses.count);
	if (good && form.rows > INT64_MAX / STICK_BYTES / form.sticks)
		WRONG(file, node->span, "a staging tile has more bytes than can be counted");
	else if (good && form.size != staging_bytes(staging))
		WRONG(file, span_of_key(&fields, "size"),
			"a tile of %" PRId64 " x %" PRId64 " sticks has %" PRId64
			" bytes, not %" PRId64,
			form.rows, form.sticks, staging_bytes(staging), form.size);
	step->staging = staging;
}

/* False when the steps after it cannot be made sense of. */
static bool read_step(struct plan_reading *file, const struct node *node)
{
	struct reader map;
	struct step_form form = {.move = -1};
	int number = (int)file->steps.count;
	if (!noun_open(&map, file->reading, node, "step", &step_noun))
		return false;
	if (node_find(node, "move"))
		form.move = MOVE_RELAYOUT - MOVE_CLONE;
	fields_read_form(&map, &step_noun, STEP_ONE, &form, NULL);
	if (!(is_op(&form) ? take_op(file, &map, form.op) : take_move(file, &map, &form)))
		return false;
	struct step *step = array_add(file->reading->arena, &file->steps);
	step->op = number;
	step->span = node->span;
	step->bundle = (int)form.bundle;
	take_mapping(file, &map, form.mapping, step);
	if (file->workload->ops[number].primitive->kind == OP_BROADCAST) {
		fields_read_form(&map, &step_noun, STEP_BROADCAST, &form, NULL);
		read_staging(file, form.staging, step);
	}
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
	struct step_form form = {0};
	struct tile_run run = {.first = (int)file->steps.count};
	if (!noun_open(&map, file->reading, node, "run", &step_noun))
		return false;
	fields_read_form(&map, &step_noun, STEP_RUN, &form, NULL);
	reader_done(&map);
	if (!form.loop || !form.steps)
		return false;
	read_loops(file, form.loop, &run);
	for (size_t i = 0; i < form.steps->count; i++)
		if (!read_run_step(file, form.steps->items[i]))
			return false;
	run.end = (int)file->steps.count;
	if (run.first == run.end)
		WRONG(file, node->span, "a run of steps has no steps");
	*array_add(file->reading->arena, &file->runs) = run;
	return true;
}

/* Steps and the workload that their moves make; false after complaining. */
static bool read_steps(struct plan_reading *file, const struct node *list)
{
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

/* Finds the version of the parent that the op reads which makes a tensor; without one, the version at the step. */
static int find_parent(const struct plan_reading *file, int tensor, int parent, int step)
{
	int producer = tensor < 0 ? -1 : file->workload->tensors[tensor].producer;
	const struct op *op = producer < 0 ? NULL : &file->workload->ops[producer];
	for (int i = 0; op && i < op->read_count; i++)
		if (file->origins[op->reads[i].tensor] == parent)
			return op->reads[i].tensor;
	return find_version(file, parent, step);
}

static void read_stay(struct plan_reading *file, const struct node *node, int tensor)
{
	struct stay_form form = {.stay = {.tensor = tensor, .in_place_of = -1}};
	struct residency *stay = &form.stay;
	struct reader map;
	if (!noun_open(&map, file->reading, node, "stay", &stay_noun))
		return;
	fields_read(&map, &stay_noun, &form, file);
	const char *why = form.view ? view_parse(form.view, &stay->view) : NULL;
	if (why)
		WRONG(file, span_of_key(&map, "view"), "%s", why);
	if (stay->tensor >= 0)
		stay->tensor = find_version(file, stay->tensor, stay->from);
	int parent = form.in_place_of
			     ? find_tensor(file, form.in_place_of, span_of_key(&map, "in_place_of"))
			     : -1;
	if (parent >= 0)
		stay->in_place_of = find_parent(file, stay->tensor, parent, stay->from);
	reader_done(&map);
	size_t order = file->stays.count;
	*array_add(file->reading->arena, &file->stays) =
		(struct written_stay){*stay, node->span, order};
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

static void read_proof(struct plan_reading *file, const struct node *node)
{
	struct reader fields;
	if (!node || !noun_open(&fields, file->reading, node, "proof", &proof_noun))
		return;
	fields_read(&fields, &proof_noun, &file->plan->proof, NULL);
	reader_done(&fields);
}

static void check_name(struct plan_reading *file, struct reader *map, const char *key,
	const char *name, const char *expected)
{
	if (name && expected && !text_equal(name, expected))
		WRONG(file, span_of_key(map, key), "the plan was made for %s '%s', not '%s'", key,
			name, expected);
}

static void check_head(struct plan_reading *file, struct reader *map, const struct plan_form *form)
{
	int64_t cores = arch_cores(file->plan->arch);
	check_name(file, map, "workload", form->workload, file->workload->name);
	check_name(file, map, "architecture", form->architecture, file->plan->arch->name);
	if (form->cores > cores)
		reader_refuse(map, "cores", "is %d; it can be 1 to %" PRId64, form->cores, cores);
	file->plan->cores = form->cores;
}

static void plan_finish(struct plan_reading *file)
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

/* Reports the faults that plan_check finds, at their places in the file. */
static void plan_reading_check(struct plan_reading *file, struct span whole)
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

/* Checks that the file lists the stays of the results; other tensors that are not listed lie in HBM. */
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
	struct bundle_form form = {0};
	struct reader map;
	if (!noun_open(&map, file->reading, node, "bundle", &bundle_noun))
		return;
	fields_read(&map, &bundle_noun, &form, NULL);
	reader_done(&map);
	int first = *step;
	while (*step < plan->step_count && plan->steps[*step].bundle == form.bundle)
		++*step;
	plan_arguments_clear(arguments);
	plan_arguments_add(arguments, first, *step);
	bool same = first < *step && (int)form.arguments.count == arguments->count;
	for (size_t i = 0; same && i < form.arguments.count; i++) {
		int tensor = file->origins[arguments->tensors[i]];
		same = text_equal(form.arguments.at[i], plan->workload->tensors[tensor].name);
	}
	if (form.arguments.at && !same)
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
	struct plan_form form = {0};
	struct reader map;
	plan->arch = arch;
	if (!noun_open(&map, reading, node, "plan", &plan_noun))
		return NULL;
	open_workload(&file, workload, node_find(node, "steps"));
	fields_read(&map, &plan_noun, &form, NULL);
	check_head(&file, &map, &form);
	if (read_steps(&file, form.steps) && form.tensors)
		read_tensors(&file, form.tensors);
	read_proof(&file, form.proof);
	reader_done(&map);
	diag_judge(reading->diag, true);
	if (diag_errors(reading->diag) == errors) {
		plan_finish(&file);
		plan_reading_check(&file, node->span);
	}
	if (diag_errors(reading->diag) == errors)
		check_outputs(&file, form.tensors);
	if (diag_errors(reading->diag) == errors)
		check_bundles(&file, form.bundles);
	diag_judge(reading->diag, false);
	return diag_errors(reading->diag) == errors ? plan : NULL;
}

struct name_array array(const char *);

/* State of writing a plan. */
struct writing {
	struct text *text;
	const struct plan *plan;
	const int *origins; /* by tensor */
	int *first, *at;    /* residencies by origin: at[first[t]] .. at[first[t + 1] - 1] */
	struct users users;
};

static struct writing writing_open(struct text *text, const struct plan *plan)
{
	struct arena *arena = text->arena;
	size_t tensors = plan->workload->tensor_count;
	struct writing writing = {.text = text,
		.plan = plan,
		.origins = tensor_origins(arena, plan->workload),
		.first = arena_array(arena, int, tensors + 2),
		.at = arena_array(arena, int, plan->residency_count),
		.users = users_make(arena, plan->workload)};
	for (int i = 0; i < plan->residency_count; i++)
		writing.first[writing.origins[plan->residencies[i].tensor] + 2]++;
	for (size_t t = 2; t < tensors + 2; t++)
		writing.first[t] += writing.first[t - 1];
	for (int i = 0; i < plan->residency_count; i++)
		writing.at[writing.first[writing.origins[plan->residencies[i].tensor] + 1]++] = i;
	return writing;
}

/* Returns the name of a tensor in a plan. */
static const char *plan_tensor_name(const struct writing *writing, int tensor)
{
	return writing->plan->workload->tensors[writing->origins[tensor]].name;
}

/* Adds the names of ops of the workload behind `step` that use a tensor, or what moves behind it make of that, but
 * for those of the move at `except`. */
static void list_readers(
	const struct writing *writing, int tensor, int step, int except, struct name_array *names)
{
	const struct workload *workload = writing->plan->workload;
	size_t first = writing->users.first[tensor], end = writing->users.first[tensor + 1];
	for (size_t i = first; i < end; i++) {
		int user = writing->users.at[i].op;
		const struct op *op = &workload->ops[user];
		if (user <= step || user == except ||
			writing->users.at[i].operand >= op->read_count ||
			(i > first && writing->users.at[i - 1].op == user))
			continue;
		if (op->move)
			list_readers(writing, op->writes[0].tensor, step, except, names);
		else
			*array_add(writing->text->arena, names) = op->name;
	}
}

/* The ops that use the result of a move, unless all ops behind it do. */
static struct texts readers_of(const struct writing *writing, int step)
{
	const struct op *op = &writing->plan->workload->ops[writing->plan->steps[step].op];
	struct name_array others = {0}, names = {0};
	list_readers(writing, op->reads[0].tensor, step, step, &others);
	if (!others.count)
		return (struct texts){0};
	list_readers(writing, op->writes[0].tensor, step, step, &names);
	return (struct texts){names.at ? names.at : others.at, names.count};
}

static void write_staging(struct text *text, const struct staging *staging)
{
	struct staging_form form = {staging->rows, staging->sticks, staging_bytes(staging),
		{staging->addresses, (size_t)staging->count}};
	text_add(text, ", staging: {");
	fields_write(text, &staging_noun, &form, ", ");
	text_add(text, "}");
}

static void write_step(const struct writing *writing, const struct step *step)
{
	struct text *text = writing->text;
	const struct plan *plan = writing->plan;
	const struct op *op = &plan->workload->ops[step->op];
	struct step_form form = {.op = op->name,
		.as = op->name,
		.mapping = mapping_print(text->arena, plan->arch, op, &step->mapping),
		.move = (int)op->move - MOVE_CLONE,
		.bundle = step->bundle};
	if (op->move) {
		form.tensor = plan_tensor_name(writing, op->reads[0].tensor);
		form.readers = readers_of(writing, (int)(step - plan->steps));
	}
	text_add(text, "- {");
	fields_write(text, &step_noun, &form, ", ");
	if (step->staging)
		write_staging(text, step->staging);
	text_add(text, "}\n");
}

/* Writes the text before a step: the loops of a run before its first one. */
static void write_indent(const struct writing *writing, int step)
{
	struct text *text = writing->text;
	const struct tile_run *run = plan_run(writing->plan, step);
	text_add(text, "  ");
	if (run && step == run->first) {
		text_add(text, "- loop: {");
		for (int k = 0; k < run->loop_count; k++) {
			text_add(text, "%s", k ? ", " : "");
			quote_yaml(text, run->loops[k].name);
			text_add(text, ": %" PRId64, run->loops[k].tiles);
		}
		text_add(text, "}\n    steps:\n  ");
	}
	text_add(text, "%s", run ? "  " : "");
}

static void write_bundles(const struct writing *writing)
{
	struct text *text = writing->text;
	const struct plan *plan = writing->plan;
	struct plan_arguments arguments = plan_arguments_open(plan, text->arena);
	text_add(text, "  bundles:\n");
	for (int first = 0, end; first < plan->step_count; first = end) {
		int bundle = plan->steps[first].bundle;
		for (end = first; end < plan->step_count && plan->steps[end].bundle == bundle;)
			end++;
		plan_arguments_clear(&arguments);
		plan_arguments_add(&arguments, first, end);
		const char **names =
			arena_array(text->arena, const char *, (size_t)arguments.count + 1);
		for (int i = 0; i < arguments.count; i++)
			names[i] = plan_tensor_name(writing, arguments.tensors[i]);
		struct bundle_form form = {bundle, {names, (size_t)arguments.count}};
		text_add(text, "  - {");
		fields_write(text, &bundle_noun, &form, ", ");
		text_add(text, "}\n");
	}
}

static void write_stay(const struct writing *writing, const struct residency *stay)
{
	struct text *text = writing->text;
	struct stay_form form = {*stay, NULL, NULL};
	if (stay->place == PLACE_LX)
		form.view = view_print(text->arena, &stay->view);
	if (stay->in_place_of >= 0)
		form.in_place_of = plan_tensor_name(writing, stay->in_place_of);
	text_add(text, "    - {");
	fields_write(text, &stay_noun, &form, ", ");
	text_add(text, "}\n");
}

/* The stays of a tensor, and of what came of it. */
static void write_tensor(const struct writing *writing, int tensor)
{
	struct text *text = writing->text;
	int first = writing->first[tensor], end = writing->first[tensor + 1];
	if (first == end)
		return;
	/* libyaml takes keys of up to 1024 characters without a '?' */
	const char *name = writing->plan->workload->tensors[tensor].name;
	bool is_long = strlen(name) > 160;
	text_add(text, is_long ? "    ? " : "    ");
	quote_yaml(text, name);
	text_add(text, is_long ? "\n    :\n" : ":\n");
	for (int i = first; i < end; i++)
		write_stay(writing, &writing->plan->residencies[writing->at[i]]);
}

static bool is_inserted(const struct workload *workload, int tensor)
{
	int producer = workload->tensors[tensor].producer;
	return producer >= 0 && workload->ops[producer].move != MOVE_NONE;
}

/* The workload's own tensors by number; then those of moves by step, whose
 * numbers depend on who inserted them first. */
static void write_tensors(const struct writing *writing)
{
	struct text *text = writing->text;
	const struct plan *plan = writing->plan;
	const struct workload *workload = plan->workload;
	text_add(text, plan->residency_count ? "  tensors:\n" : "  tensors: {}\n");
	for (int t = 0; t < (int)workload->tensor_count; t++) {
		if (!is_inserted(workload, t))
			write_tensor(writing, t);
	}
	for (int step = 0; step < plan->step_count; step++) {
		const struct op *op = &workload->ops[plan->steps[step].op];
		bool named = op->move == MOVE_CLONE || op->move == MOVE_RELAYOUT;
		for (int i = 0; named && i < op->write_count; i++)
			write_tensor(writing, op->writes[i].tensor);
	}
}

void plan_write(const struct plan *plan, struct text *text)
{
	struct writing writing = writing_open(text, plan);
	struct plan_form form = {.version = 1, .cores = plan->cores};
	form.workload = plan->workload->name;
	form.architecture = plan->arch->name;
	text_add(text, "plan:\n  ");
	fields_write(text, &plan_noun, &form, "\n  ");
	text_add(text, "\n  steps:%s\n", plan->step_count ? "" : " []");
	for (int i = 0; i < plan->step_count; i++) {
		write_indent(&writing, i);
		write_step(&writing, &plan->steps[i]);
	}
	write_bundles(&writing);
	write_tensors(&writing);
	text_add(text, "  proof: {");
	fields_write(text, &proof_noun, &plan->proof, ", ");
	text_add(text, "}\n");
}
