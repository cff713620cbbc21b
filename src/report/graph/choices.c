#include "report/graph/choices.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"
#include "model/machine/mapping.h"
#include "model/nest/constraint.h"
#include "report/run/json.h"

#include <inttypes.h>
#include <string.h>

struct listed_choices {
	struct arena *arena;
	const struct arch *arch;
	const struct shape *shape;
	const struct mapping *mapping, *other;
};

static int64_t loop_bound(const struct mapping *mapping, int r, bool spatial, int d)
{
	const struct mapping_row *row = &mapping->rows[r];
	return spatial ? row->spatial[d] : row->temporal[d];
}

static bool runs_along_y(const struct mapping *mapping, int r, int d)
{
	return mapping->rows[r].spatial_y >> d & 1;
}

static bool loops_in_both(const struct listed_choices *of, int r, bool spatial, int d)
{
	return loop_bound(of->mapping, r, spatial, d) > 1 &&
	       loop_bound(of->other, r, spatial, d) > 1;
}

static json_t *make_bound(const struct listed_choices *of, int r, bool spatial, int d)
{
	int64_t bound = loop_bound(of->mapping, r, spatial, d);
	int64_t last =
		mapping_last_round(of->mapping, r, spatial, d, of->shape->dimensions[d].extent);
	if (last == bound)
		return json_integer(bound);
	return json_string(arena_format(of->arena, "%" PRId64 ",%" PRId64, bound, last));
}

/* Spatial loops are listed along one axis at a time: loops of different axes have no order. */
static void add_order(
	struct text *text, const struct listed_choices *of, int r, bool spatial, bool y)
{
	const struct mapping_row *row = &of->mapping->rows[r];
	for (int i = of->mapping->loop_count - 1; i >= 0; i--) {
		int d = spatial ? row->spatial_order[i] : row->temporal_order[i];
		if (!loops_in_both(of, r, spatial, d))
			continue;
		if (spatial && (runs_along_y(of->mapping, r, d) != y ||
				       runs_along_y(of->other, r, d) != y))
			continue;
		text_add(text, "%s%s", text->length ? " " : "", of->shape->dimensions[d].name);
	}
}

static json_t *listed_choices_make_loops(const struct listed_choices *of, int r, bool spatial)
{
	json_t *object = json_object();
	struct text order = text_open(of->arena);
	for (int d = 0; d < of->shape->dimension_count; d++)
		json_object_set_new(
			object, of->shape->dimensions[d].name, make_bound(of, r, spatial, d));
	for (int d = 0; d < of->shape->dimension_count && spatial; d++)
		if (loops_in_both(of, r, spatial, d))
			json_object_set_new(object,
				arena_format(of->arena, "%s along", of->shape->dimensions[d].name),
				json_string(runs_along_y(of->mapping, r, d) ? "Y" : "X"));
	add_order(&order, of, r, spatial, false);
	if (spatial)
		add_order(&order, of, r, spatial, true);
	if (order.length)
		json_object_set_new(object, "order of loops", json_string(text_read(&order)));
	return object;
}

static json_t *make_kept(const struct listed_choices *of, int r)
{
	struct text text = text_open(of->arena);
	for (int t = 0; t < of->shape->space_count; t++)
		if (of->mapping->residency[t] >> r & 1)
			text_add(&text, "%s%s", text.length ? " " : "", of->shape->spaces[t].name);
	return json_string(text.length ? text_read(&text) : "nothing");
}

json_t *nest_choices(struct arena *arena, const struct arch *arch, const struct shape *shape,
	const struct mapping *mapping, const struct mapping *other)
{
	const struct listed_choices of = {arena, arch, shape, mapping, other};
	json_t *root = json_object();
	for (int r = 0; r < mapping->level_count; r++) {
		const struct level *level = &arch->levels[r];
		bool stores = level->kind == LEVEL_STORAGE;
		if (level->fanout.x > 1 || level->fanout.y > 1)
			json_object_set_new(root,
				domain_iterates(arch, r)
					? arena_format(arena, "%s spatial", level->name)
					: level->name,
				listed_choices_make_loops(&of, r, true));
		if (!stores && !mapping_has_loops(mapping, r) && !mapping_has_loops(other, r))
			continue;
		json_t *loops = listed_choices_make_loops(&of, r, false);
		if (stores)
			json_object_set_new(loops, "keeps words of", make_kept(&of, r));
		json_object_set_new(root, level->name, loops);
	}
	return root;
}

static json_t *make_ops(struct arena *arena, const struct plan *plan)
{
	json_t *object = json_object();
	for (int s = 0; s < plan->step_count; s++) {
		const struct op *op = &plan->workload->ops[plan->steps[s].op];
		json_object_set_new(object, op->name,
			json_pack("{s:i, s:i, s:s}", "step", s, "bundle", plan->steps[s].bundle,
				"mapping",
				mapping_print(arena, plan->arch, op, &plan->steps[s].mapping)));
	}
	return object;
}

static void choices_add_stay(
	struct text *text, const struct plan *plan, const struct residency *stay)
{
	text_add(text, "%s%s %d..%d", text->length ? "; " : "",
		stay->place == PLACE_LX ? "LX" : "HBM", stay->from, stay->to);
	if (stay->place != PLACE_LX)
		return;
	text_add(text, " at %" PRId64 " size %" PRId64 ", %s", stay->address, stay->size,
		view_print(text->arena, &stay->view));
	if (stay->in_place_of >= 0)
		text_add(text, ", in place of %s", plan->workload->tensors[stay->in_place_of].name);
}

static json_t *make_tensors(struct arena *arena, const struct plan *plan)
{
	json_t *object = json_object();
	for (int r = 0; r < plan->residency_count;) {
		struct text text = text_open(arena);
		int tensor = plan->residencies[r].tensor;
		for (; r < plan->residency_count && plan->residencies[r].tensor == tensor; r++)
			choices_add_stay(&text, plan, &plan->residencies[r]);
		json_object_set_new(object, plan->workload->tensors[tensor].name,
			json_pack("{s:s}", "stays", text_read(&text)));
	}
	return object;
}

/* By the first op of each: "q 4 up to P". */
static json_t *make_runs(struct arena *arena, const struct plan *plan)
{
	json_t *object = json_object();
	const struct op *ops = plan->workload->ops;
	for (int r = 0; r < plan->run_count; r++) {
		const struct tile_run *run = &plan->runs[r];
		struct text text = text_open(arena);
		for (int k = 0; k < run->loop_count; k++)
			text_add(&text, "%s %" PRId64 " ", run->loops[k].name, run->loops[k].tiles);
		text_add(&text, "up to %s", ops[plan->steps[run->end - 1].op].name);
		json_object_set_new(object, ops[plan->steps[run->first].op].name,
			json_string(text_read(&text)));
	}
	return object;
}

json_t *plan_choices(struct arena *arena, const struct plan *plan)
{
	json_t *root = json_pack("{s:i, s:o, s:o}", "cores", plan->cores, "ops",
		make_ops(arena, plan), "tensors", make_tensors(arena, plan));
	if (plan->run_count)
		json_object_set_new(root, "runs", make_runs(arena, plan));
	return root;
}

/* A number or a word that either side has. */
struct diff_rows {
	struct arena *arena;
	bool counts; /* with ratios */
	bool all;    /* equal ones, too */
	size_t unlike;
	json_t *list;
};

/* Names of things that only hold others: a path is as clear without them. */
static bool is_container(const char *key)
{
	static const char *const keys[] = {
		"levels", "dataspaces", "ops", "tensors", "operands", "bytes", NULL};
	for (int i = 0; keys[i]; i++)
		if (text_equal(keys[i], key))
			return true;
	return false;
}

static const char *choices_join(struct arena *arena, const char *path, const char *key)
{
	if (is_container(key))
		return path;
	return *path ? arena_format(arena, "%s.%s", path, key) : key;
}

/* The name of an element of a list; its number, from 1, if it has none. */
static const char *element_name(struct arena *arena, const json_t *list, size_t at)
{
	static const char *const keys[] = {"name", "op", "tensor", NULL};
	const json_t *element = json_array_get(list, at);
	for (int i = 0; keys[i]; i++) {
		const char *name = json_string_value(json_object_get(element, keys[i]));
		if (name)
			return name;
	}
	return arena_format(arena, "%zu", at + 1);
}

/* An op may read a tensor twice: elements before this one that have its name. */
static size_t choices_find_turn(struct arena *arena, const json_t *list, size_t at)
{
	const char *name = element_name(arena, list, at);
	size_t turn = 0;
	for (size_t i = 0; i < at; i++)
		turn += text_equal(element_name(arena, list, i), name);
	return turn;
}

/* The element of a list that has a name, after this many others that have it; NULL if none. */
static json_t *find_element(struct arena *arena, const json_t *list, const char *name, size_t turn)
{
	size_t count = json_array_size(list);
	for (size_t i = 0; i < count; i++)
		if (text_equal(element_name(arena, list, i), name) && turn-- == 0)
			return json_array_get(list, i);
	return NULL;
}

/* True if a score repeats the choices or itself under this key.  Counts of one instance do not compare if the numbers
 * of instances differ. */
static bool is_repeated(const char *key)
{
	static const char *const keys[] = {"name", "op", "tensor", "type", "mapping", "bundle",
		"problem", "counting", "energy_source", "reads", "fills", "updates", NULL};
	for (int i = 0; keys[i]; i++)
		if (text_equal(keys[i], key))
			return true;
	return false;
}

static bool is_leaf(const json_t *value)
{
	return value && !json_is_object(value) && !json_is_array(value);
}

/* Adds a value that both sides have, or one of them; an equal one only if all are shown. */
static void diff_rows_add_row(struct diff_rows *rows, const char *path, json_t *a, json_t *b)
{
	bool equal = a && b && json_equal(a, b);
	double base = json_number_value(a);
	rows->unlike += !equal;
	if (equal && !rows->all)
		return;
	json_t *row = json_pack("{s:s, s:O?, s:O?}", "what", path, "a", a, "b", b);
	if (rows->counts && base != 0 && json_is_number(b))
		json_object_set_new(row, "ratio", json_real(json_number_value(b) / base));
	json_array_append_new(rows->list, row);
}

static void compare_choices(struct diff_rows *rows, const char *path, json_t *a, json_t *b);

/* The parts of one side, in its order.  `second`: it is B, and what A has too is compared already. */
static void compare_parts(
	struct diff_rows *rows, const char *path, json_t *whole, json_t *other, bool second)
{
	const char *key;
	json_t *value;
	size_t i;
	json_array_foreach(whole, i, value) {
		key = element_name(rows->arena, whole, i);
		json_t *twin = find_element(
			rows->arena, other, key, choices_find_turn(rows->arena, whole, i));
		if (!second || !twin)
			compare_choices(rows, choices_join(rows->arena, path, key),
				second ? twin : value, second ? value : twin);
	}
	json_object_foreach(whole, key, value) {
		if (rows->counts && is_leaf(value) && is_repeated(key))
			continue;
		json_t *twin = json_object_get(other, key);
		if (!second || !twin)
			compare_choices(rows, choices_join(rows->arena, path, key),
				second ? twin : value, second ? value : twin);
	}
}

static void compare_choices(struct diff_rows *rows, const char *path, json_t *a, json_t *b)
{
	if (is_leaf(a) || is_leaf(b)) {
		diff_rows_add_row(rows, path, a, b);
		return;
	}
	compare_parts(rows, path, a, b, false);
	compare_parts(rows, path, b, a, true);
}

json_t *diff_tree(struct arena *arena, const struct diff *diff)
{
	struct diff_rows choices = {arena, false, diff->all, 0, json_array()};
	struct diff_rows counts = {arena, true, diff->all, 0, json_array()};
	compare_choices(&choices, "", diff->a.choices, diff->b.choices);
	compare_choices(&counts, "", diff->a.counts, diff->b.counts);
	json_t *root = json_pack("{s:b, s:s, s:s}", "equal", !choices.unlike && !counts.unlike, "a",
		diff->a.name, "b", diff->b.name);
	if (diff->counting)
		json_object_set_new(root, "counting", json_string(diff->counting));
	json_object_set_new(root, "choices", choices.list);
	json_object_set_new(root, "counts", counts.list);
	return root;
}

/* The value of a side of a row. */
static const char *choices_value_text(struct arena *arena, const json_t *row, const char *side)
{
	const json_t *value = json_object_get(row, side);
	if (json_is_null(value))
		return "-";
	if (json_is_real(value))
		return arena_format(arena, "%.10g", json_real_value(value));
	return json_leaf_text(arena, value);
}

static void choices_widen(int *width, const char *text)
{
	int length = (int)strlen(text);
	if (*width < length)
		*width = length;
}

static void add_table(struct text *text, const char *title, const json_t *rows, bool ratios)
{
	struct arena *arena = text->arena;
	int widths[3] = {16, 12, 12};
	const json_t *row;
	size_t i;
	if (!json_array_size(rows))
		return;
	json_array_foreach(rows, i, row) {
		choices_widen(&widths[0], json_string_value(json_object_get(row, "what")));
		choices_widen(&widths[1], choices_value_text(arena, row, "a"));
		choices_widen(&widths[2], choices_value_text(arena, row, "b"));
	}
	text_add(text, "\n%-*s  %*s  %*s%s\n", widths[0], title, widths[1], "A", widths[2], "B",
		ratios ? "     B / A" : "");
	json_array_foreach(rows, i, row) {
		const json_t *ratio = json_object_get(row, "ratio");
		text_add(text, "%-*s  %*s  %*s", widths[0],
			json_string_value(json_object_get(row, "what")), widths[1],
			choices_value_text(arena, row, "a"), widths[2],
			choices_value_text(arena, row, "b"));
		if (ratio)
			text_add(text, "  %8.3f", json_real_value(ratio));
		text_add(text, "\n");
	}
}

static void add_side(struct text *text, const char *letter, const struct diff_side *side)
{
	text_add(text, "%s  %s\n", letter, side->name);
	if (side->line)
		text_add(text, "   %s\n", side->line);
}

const char *diff_text(struct arena *arena, const struct diff *diff, const json_t *tree)
{
	struct text text = text_open(arena);
	add_side(&text, "A", &diff->a);
	add_side(&text, "B", &diff->b);
	if (diff->counting)
		text_add(&text, "counting  %s\n", diff->counting);
	add_table(&text, "choice", json_object_get(tree, "choices"), false);
	add_table(&text, "count", json_object_get(tree, "counts"), true);
	if (json_is_true(json_object_get(tree, "equal")))
		text_add(&text, "\nno difference\n");
	return text_read(&text);
}

static void add_csv_rows(struct text *text, const char *kind, const json_t *rows)
{
	static const char *const sides[] = {"a", "b"};
	const json_t *row;
	size_t i;
	json_array_foreach(rows, i, row) {
		const json_t *ratio = json_object_get(row, "ratio");
		text_add(text, "%s,", kind);
		csv_field(text, json_string_value(json_object_get(row, "what")));
		for (int side = 0; side < 2; side++) {
			const json_t *value = json_object_get(row, sides[side]);
			text_add(text, ",");
			csv_field(text,
				json_is_null(value) ? "" : json_leaf_text(text->arena, value));
		}
		text_add(text, ",");
		if (ratio)
			text_add(text, "%.17g", json_real_value(ratio));
		text_add(text, "\n");
	}
}

const char *diff_csv(struct arena *arena, const json_t *tree)
{
	struct text text = text_open(arena);
	text_add(&text, "kind,what,a,b,ratio\n");
	add_csv_rows(&text, "choice", json_object_get(tree, "choices"));
	add_csv_rows(&text, "count", json_object_get(tree, "counts"));
	return text_read(&text);
}
