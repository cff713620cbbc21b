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
