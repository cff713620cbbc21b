#include "campaign/expand.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"
#include "campaign/store_runner.h"
#include "report/run/json.h"
#include "spec/expr.h"
#include "spec/field.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- text */

static bool ends_in_decimals(int64_t den)
{
	while (den % 2 == 0)
		den /= 2;
	while (den % 5 == 0)
		den /= 5;
	return den == 1;
}

const char *value_text(struct arena *arena, struct value value)
{
	static const char *const units[] = {
		[QUANTITY_BARE] = "",
		[QUANTITY_SIZE] = "B",
		[QUANTITY_TIME] = "ns",
		[QUANTITY_CLOCK] = "GHz",
		[QUANTITY_RATE] = "GB/s",
		[QUANTITY_ENERGY] = "pJ",
		[QUANTITY_OTHER] = NULL,
	};
	const char *unit = units[value_quantity(value)];
	if (!unit)
		return NULL;
	if (!value.exact)
		return arena_format(arena, "%s%s", real_text(arena, value.real), unit);
	if (value.den == 1)
		return arena_format(arena, "%" PRId64 "%s", value.num, unit);
	if (ends_in_decimals(value.den) && fabs(value.real) < 1e9 && value.den <= 1000000)
		return arena_format(arena, "%s%s", real_text(arena, value.real), unit);
	return arena_format(arena, "%" PRId64 "/%" PRId64 "%s%s", value.num, value.den,
		*unit ? " * " : "", unit);
}

/* --- values */

struct range_draft {
	const struct node *map;
	const struct reading *reading;
	struct value from, to;
	struct array(const struct node *) values;
};

static bool is_range(const void *range)
{
	return ((const struct value_range *)range)->from.given;
}

static void read_value(
	struct reader *map, const struct field *field, void *whole, const void *context)
{
	struct range_value *out = field_place(field, whole);
	const struct node *node = read_node(map, field->key, field->required ? REQUIRED : OPTIONAL);
	out->given = node != NULL;
	if (node)
		expr_read(map->reading->diag, map->reading->variables, node,
			reader_place(map, field->key), &out->value);
}

#define VALUE(member) .read = read_value, INTO(struct value_range, member)

static const struct field range_fields[] = {
	{"from", FIELD_NUMBER, VALUE(from)},
	{"to", FIELD_NUMBER, .required = true, .has = is_range, VALUE(to)},
	{"step", FIELD_NUMBER, "distance of two values", .has = is_range, VALUE(step)},
	{"factor", FIELD_NUMBER, "ratio of two values", .has = is_range, VALUE(factor)},
	{"count", FIELD_WHOLE, "number of values", .has = is_range, .least = 1, .most = RANGE_MOST,
		INTO(struct value_range, count)},
	{0},
};
const struct noun range_noun = {.name = "range", .fields = range_fields};

static bool range_refuse(const struct range_draft *range, const char *why)
{
	return reading_refuse(range->reading, range->map, "the range %s", why);
}

/* Below, at or above 0: a - b.  What is wrong in words, or NULL. */
static const char *values_compare(struct value a, struct value b, int *sign)
{
	struct value rest;
	const char *why = value_sub(a, b, &rest);
	if (!why)
		*sign = (rest.real > 0) - (rest.real < 0);
	return why;
}

static bool range_append(struct range_draft *range, struct value value)
{
	struct arena *arena = range->reading->arena;
	const char *text = value_text(arena, value);
	if (!text)
		return range_refuse(range, "has a unit without a name");
	if (range->values.count == RANGE_MOST)
		return range_refuse(range, "has more than a million values");
	*array_add(arena, &range->values) = node_scalar(arena, text, range->map->span);
	return true;
}

/* from, next(from), .. while it is on this side of `to`. */
static bool range_draft_walk(struct range_draft *range, struct value by,
	const char *(*next)(struct value, struct value, struct value *))
{
	int way = 0, side = 0, moved = 0;
	struct value at = range->from, after;
	const char *why = values_compare(range->to, range->from, &way);
	while (!why) {
		why = values_compare(range->to, at, &side);
		if (why || (side && side != way))
			break;
		if (!range_append(range, at))
			return false;
		why = next(at, by, &after);
		if (!why)
			why = values_compare(after, at, &moved);
		if (!why && moved != way && way)
			return range_refuse(range, "does not reach its end by these steps");
		if (!way)
			break;
		at = after;
	}
	return why ? range_refuse(range, why) : true;
}

static bool value_is_whole(struct value value)
{
	return value.exact && value.den == 1;
}

static bool range_draft_spread(struct range_draft *range, int64_t count)
{
	struct value ratio = {0};
	const char *why = range->from.real > 0 && range->to.real > 0
				  ? value_div(range->to, range->from, &ratio)
				  : "needs ends above 0 for equal ratios";
	if (!why && value_quantity(ratio) != QUANTITY_BARE)
		why = "has ends of different units";
	double last = 0;
	bool whole = value_is_whole(range->from) && value_is_whole(range->to);
	for (int64_t i = 0; !why && i < count; i++) {
		double real = range->from.real *
			      pow(ratio.real, count > 1 ? (double)i / (double)(count - 1) : 0);
		struct value value = i + 1 == count && count > 1 ? range->to : value_real(real);
		if (whole && !value.exact)
			value = value_whole((int64_t)llround(real));
		value.bytes = range->from.bytes;
		value.time = range->from.time;
		value.energy = range->from.energy;
		if (i && value.real == last) /* whole numbers lie too close */
			continue;
		last = value.real;
		if (!range_append(range, value))
			return false;
	}
	return why ? range_refuse(range, why) : true;
}

const struct node *const *range_values(
	const struct reader *map, const struct value_range *range, size_t *count)
{
	struct range_draft draft = {.map = map->map,
		.reading = map->reading,
		.from = range->from.value,
		.to = range->to.value};
	const struct range_value *step = &range->step, *factor = &range->factor;
	bool good;
	if (diag_errors(map->reading->diag) > map->errors)
		return NULL;
	if (step->given + factor->given + (range->count > 0) > 1) {
		range_refuse(&draft, "has one of 'step', 'factor' and 'count'");
		return NULL;
	}
	if (range->count)
		good = range_draft_spread(&draft, range->count);
	else if (factor->given)
		good = range_draft_walk(&draft, factor->value, value_mul);
	else
		good = range_draft_walk(
			&draft, step->given ? step->value : value_whole(1), value_add);
	*count = draft.values.count;
	return good ? draft.values.at : NULL;
}

static const char *list_columns(struct arena *arena, const struct sweep_spec *sweep)
{
	json_t *list = json_array();
	for (size_t t = 0; t < sweep->target_count; t++)
		json_array_append_new(list, json_string(sweep->targets[t].path.text));
	return json_dump(arena, list, JSON_COMPACT);
}

static const char *list_labels(
	struct arena *arena, const struct sweep_spec *sweep, const struct sweep_point *point)
{
	json_t *list = json_array();
	for (size_t t = 0; t < sweep->target_count; t++)
		json_array_append_new(
			list, point->labels[t] ? json_string(point->labels[t]) : json_null());
	return json_dump(arena, list, JSON_COMPACT);
}

static void add_all(struct arena *arena, const struct sweep_spec *sweep,
	const struct sweep_expansion *expansion, struct store *store)
{
	char spec[DIGEST_TEXT];
	for (size_t r = 0; r < expansion->task_count; r++) {
		digest_print(expansion->tasks[r].spec, spec);
		struct store_task task = {spec, r, expansion->tasks[r].estimate};
		store_add_task(store, &task);
	}
	struct arena *scratch = arena_open();
	struct expander *expander = expander_open(arena, sweep);
	for (size_t p = 0; p < expansion->point_count; p++) {
		struct arena_mark mark = arena_mark(scratch);
		struct sweep_point point;
		expander_point(expander, expansion->combinations[p], scratch, sweep->diag, &point);
		digest_print(expansion->tasks[expansion->task_of[p]].spec, spec);
		struct store_point row = {
			p + 1, point.name, list_labels(scratch, sweep, &point), spec};
		store_add_point(store, &row);
		arena_release(scratch, mark);
	}
	arena_close(scratch);
}

/* True if a store has the points of an expansion, or of none. */
static bool is_filled(struct store *store, const struct sweep_expansion *expansion, bool *empty)
{
	struct store_head head;
	char fingerprint[DIGEST_TEXT];
	store_head(store, &head);
	digest_print(expansion->fingerprint, fingerprint);
	*empty = !head.fingerprint;
	return head.fingerprint && text_equal(head.fingerprint, fingerprint);
}

const char *campaign_join(struct arena *arena, const struct sweep_spec *sweep,
	const struct sweep_expansion *expansion, const char *version, struct store *store)
{
	char fingerprint[DIGEST_TEXT];
	bool empty;
	digest_print(expansion->fingerprint, fingerprint);
	store_begin(store);
	bool filled = is_filled(store, expansion, &empty);
	store_join(store, !filled && !empty);
	if (!filled) {
		struct store_head head = {
			sweep->name, fingerprint, version, list_columns(arena, sweep)};
		store_clear(store, &head);
		add_all(arena, sweep, expansion, store);
	}
	return store_commit(store);
}

struct expander {
	const struct sweep_spec *sweep;
	struct trail *trails;      /* by target: where its path led when it was last looked for */
	const char *const **words; /* by target: all it can be, for conditions; NULL ends them */
};

/* A point in the making. */
struct point_making {
	struct expander *expander;
	const struct sweep_spec *sweep;
	struct arena *arena;
	struct diag *diag;
	const struct node **nodes; /* by target */
	const char **labels;
	struct text name;
	struct setting_values values;
	const struct node **files;
	size_t file_count;
	const struct node *own; /* root of what no file has */
	bool failed;
};

struct expander *expander_open(struct arena *arena, const struct sweep_spec *sweep)
{
	struct expander *expander = arena_new(arena, struct expander);
	expander->sweep = sweep;
	expander->trails = arena_array(arena, struct trail, sweep->target_count);
	expander->words = arena_array(arena, const char *const *, sweep->target_count);
	for (size_t t = 0; t < sweep->target_count; t++) {
		struct array(const char *) words = {0};
		for (size_t a = 0; a < sweep->axis_count; a++)
			for (size_t o = 0; o < sweep->axes[a].count; o++) {
				const struct sweep_option *option = &sweep->axes[a].options[o];
				for (size_t v = 0; v < option->count; v++)
					if (option->values[v].target == t)
						*array_add(arena, &words) = option->values[v].label;
			}
		if (words.count)
			*array_add(arena, &words) = NULL;
		expander->words[t] = words.at;
	}
	return expander;
}

static const char *const *words_of(void *context, const char *parameter)
{
	const struct expander *expander = context;
	for (size_t t = 0; t < expander->sweep->target_count; t++)
		if (text_equal(expander->sweep->targets[t].path.text, parameter))
			return expander->words[t];
	return NULL;
}

uint64_t expand_combinations(const struct sweep_spec *sweep)
{
	enum { TRIED_MOST = 10 * POINTS_MOST };
	uint64_t count = 1;
	for (size_t a = 0; a < sweep->axis_count; a++) {
		count *= sweep->axes[a].count;
		if (count > TRIED_MOST) {
			diag_error(sweep->diag, sweep->map->span,
				"the sweep has more than %d combinations; campaigns have up to %d "
				"points",
				TRIED_MOST, POINTS_MOST);
			return 0;
		}
	}
	return count;
}

/* --- parameters */

static void point_making_bind(struct point_making *making, const struct sweep_option *option)
{
	for (size_t v = 0; v < option->count; v++) {
		const struct sweep_value *value = &option->values[v];
		making->nodes[value->target] = value->node;
		making->labels[value->target] = value->label;
		for (size_t i = 0; i < value->file_count; i++)
			making->files[making->file_count++] = value->files[i];
	}
	if (option->name)
		text_add(&making->name, "%s%s", making->name.length ? "/" : "", option->name);
}

/* Opens the values for conditions and arithmetic: bound and derived parameters. */
static void open_values(struct point_making *making)
{
	const struct sweep_spec *sweep = making->sweep;
	struct arena *arena = making->arena;
	struct node *map = arena_new(arena, struct node);
	struct node_entry *entries = arena_array(arena, struct node_entry, sweep->target_count);
	const char **absent = arena_array(arena, const char *, sweep->target_count + 1);
	size_t missing = 0;
	*map = (struct node){.kind = NODE_MAP, .text = "", .span = sweep->map->span};
	making->values = (struct setting_values){.arena = arena,
		.diag = making->diag,
		.map = map,
		.absent = absent,
		.words = words_of,
		.context = making->expander};
	for (size_t t = 0; t < sweep->target_count; t++) {
		const struct path *path = &sweep->targets[t].path;
		const struct node *node = making->nodes[t];
		if (sweep->targets[t].role == TARGET_FILES)
			continue;
		for (size_t r = 0; r < sweep->rule_count; r++)
			if (sweep->rules[r].target == t)
				node = sweep->rules[r].value;
		if (node)
			entries[map->count++] =
				(struct node_entry){path->text, path->span, node, false};
		else
			absent[missing++] = path->text;
	}
	map->entries = entries;
	struct variables *own = variables_read(arena, making->diag, map);
	const struct node *outer = NULL;
	for (size_t i = 0; i < sweep->file_count && !outer; i++)
		outer = node_find(sweep->files[i], "variables");
	making->values.variables = outer ? variables_with(arena, own, outer) : own;
}

/* Binds the options of the axes; false where a condition leaves the point out, or on failure. */
static bool bind_all(struct point_making *making, uint64_t combination, int *level)
{
	const struct sweep_spec *sweep = making->sweep;
	size_t *chosen = arena_array(making->arena, size_t, sweep->axis_count);
	bool conditions = false;
	for (size_t a = sweep->axis_count; a-- > 0; combination /= sweep->axes[a].count)
		chosen[a] = combination % sweep->axes[a].count;
	for (size_t a = 0; a < sweep->axis_count; a++) {
		conditions |= sweep->axes[a].when != NULL;
		if (!sweep->axes[a].when)
			point_making_bind(making, &sweep->axes[a].options[chosen[a]]);
	}
	open_values(making);
	for (size_t a = 0; conditions && a < sweep->axis_count; a++) {
		bool holds = true;
		if (!sweep->axes[a].when)
			continue;
		if (!condition_read(&making->values, sweep->axes[a].when, &holds)) {
			making->failed = true;
			return false;
		}
		if (!holds && chosen[a])
			return false;
		if (holds) {
			point_making_bind(making, &sweep->axes[a].options[chosen[a]]);
			open_values(making);
		}
	}
	*level = 0;
	for (size_t a = 0; a < sweep->axis_count; a++) {
		size_t from = 0, to = sweep->axes[a].count - 1, at = chosen[a];
		int depth = 0;
		for (; sweep->axes[a].ordered && at != from && at != to; depth++) {
			size_t middle = from + (to - from) / 2;
			if (at == middle) {
				depth++;
				break;
			}
			*(at < middle ? &to : &from) = middle;
		}
		*level = depth > *level ? depth : *level;
	}
	return true;
}

/* --- values into trees */

/* The same steps as before in a tree that may have other values. */
static bool walk_again(
	const struct trail *known, const struct node *const *files, struct trail *out)
{
	const struct node *node = files[known->file];
	*out = *known;
	for (int i = 0; i < known->count; i++) {
		size_t index = known->index[i];
		const struct node *before = known->at[i];
		if (node->kind != before->kind || node->count != before->count ||
			(node->kind == NODE_MAP &&
				node->entries[index].key != before->entries[index].key))
			return false;
		out->at[i] = node;
		node = node->kind == NODE_MAP ? node->entries[index].value : node->items[index];
	}
	return known->count > 0;
}

static bool set_below(struct point_making *making, size_t target, const struct node *value)
{
	const struct path *path = &making->sweep->targets[target].path;
	struct trail *known = &making->expander->trails[target], trail;
	if (!(known->count && known->file < making->sweep->file_count &&
		    known->at[0] == making->sweep->files[known->file] &&
		    walk_again(known, making->files, &trail))) {
		if (!path_find(making->arena, path, making->files, making->file_count, making->diag,
			    &trail))
			return false;
		/* trees of the sweep itself stay; copies do not */
		const struct node *const *stay = making->sweep->files;
		if (trail.file < making->sweep->file_count && !walk_again(&trail, stay, known))
			known->count = 0;
	}
	making->files[trail.file] = trail_replace(making->arena, &trail, value);
	return true;
}

/* The value of a target in the trees; settings, and keys at the top, need not be there before. */
static bool point_making_set(struct point_making *making, size_t target, const struct node *value)
{
	const struct path *path = &making->sweep->targets[target].path;
	size_t file = path_file(path, making->files, making->file_count);
	if (path->count > 1 && !text_equal(path->words[0], "search"))
		return set_below(making, target, value);
	const struct node **root = file < making->file_count ? &making->files[file] : &making->own;
	*root = path_create(making->arena, *root, path, value);
	return true;
}

static bool set_all(struct point_making *making, bool top)
{
	const struct sweep_spec *sweep = making->sweep;
	bool good = true;
	for (size_t t = 0; t < sweep->target_count; t++) {
		const struct sweep_target *target = &sweep->targets[t];
		if (target->role == TARGET_PATH && making->nodes[t] &&
			(target->path.count == 1) == top)
			good &= point_making_set(making, t, making->nodes[t]);
	}
	return good;
}

/* Returns the value of a rule; NULL without one or after a failure. */
static const struct node *point_making_derive(
	struct point_making *making, const struct sweep_rule *rule)
{
	const struct node *node = rule->value;
	const char *what =
		arena_format(making->arena, "'%s'", making->sweep->targets[rule->target].path.text);
	struct value value;
	if (node->kind != NODE_SCALAR || node->quoted)
		return node;
	if (condition_misses(&making->values, node->text))
		return NULL;
	const struct node *same = node_find(making->values.map, node->text);
	if (same && same != node && (same->kind != NODE_SCALAR || same->quoted))
		return same;
	struct diag *said = diag_open(making->arena);
	const char *text = NULL;
	if (expr_read(said, making->values.variables, node, what, &value)) {
		text = value_text(making->arena, value);
		if (!text)
			diag_error(making->diag, node->span, "%s has a unit without a name", what);
	} else if (same && same != node && !variables_node(making->sweep->variables, same->text)) {
		return same; /* a word */
	} else {
		expr_read(making->diag, making->values.variables, node, what, &value); /* aloud */
		diag_note(making->diag, node->span, "put a word that is not a parameter in quotes");
	}
	making->failed |= !text;
	return text ? node_scalar(making->arena, text, node->span) : NULL;
}

static void derive_all(struct point_making *making)
{
	for (size_t r = 0; r < making->sweep->rule_count; r++) {
		const struct sweep_rule *rule = &making->sweep->rules[r];
		const struct node *node = point_making_derive(making, rule);
		making->nodes[rule->target] = node;
		making->labels[rule->target] = node ? canon_text(making->arena, node) : NULL;
	}
}

static size_t most_files(const struct sweep_spec *sweep)
{
	size_t count = sweep->file_count + 1;
	for (size_t a = 0; a < sweep->axis_count; a++) {
		size_t most = 0;
		for (size_t o = 0; o < sweep->axes[a].count; o++) {
			size_t here = 0;
			for (size_t v = 0; v < sweep->axes[a].options[o].count; v++)
				here += sweep->axes[a].options[o].values[v].file_count;
			most = here > most ? here : most;
		}
		count += most;
	}
	return count;
}

enum point_fate expander_point(struct expander *expander, uint64_t combination, struct arena *arena,
	struct diag *diag, struct sweep_point *out)
{
	const struct sweep_spec *sweep = expander->sweep;
	struct node *own = arena_new(arena, struct node);
	bool holds = true;
	struct point_making making = {.expander = expander,
		.sweep = sweep,
		.arena = arena,
		.diag = diag,
		.nodes = arena_array(arena, const struct node *, sweep->target_count),
		.labels = arena_array(arena, const char *, sweep->target_count),
		.name = text_open(arena),
		.files = arena_array(arena, const struct node *, most_files(sweep)),
		.file_count = sweep->file_count,
		.own = own};
	*own = (struct node){.kind = NODE_MAP, .text = "", .span = sweep->map->span};
	if (sweep->file_count)
		memcpy(making.files, sweep->files, sweep->file_count * sizeof *making.files);
	if (!bind_all(&making, combination, &out->level))
		return making.failed ? POINT_WRONG : POINT_LEFT_OUT;
	if (sweep->when && !condition_read(&making.values, sweep->when, &holds))
		return POINT_WRONG;
	if (!holds)
		return POINT_LEFT_OUT;
	derive_all(&making);
	if (making.failed || !set_all(&making, true) || !set_all(&making, false))
		return POINT_WRONG;
	if (making.own->count)
		making.files[making.file_count++] = making.own;
	out->name = text_read(&making.name);
	out->labels = making.labels;
	out->file_count = making.file_count;
	out->files = making.files;
	return POINT_THERE;
}

/* --- what a point may cost */

static double node_extents(const struct node *problem)
{
	const struct node *instance = node_find(problem, "instance");
	double product = 1;
	for (size_t i = 0; instance && instance->kind == NODE_MAP && i < instance->count; i++) {
		const struct node *value = instance->entries[i].value;
		double extent = value->kind == NODE_SCALAR ? strtod(value->text, NULL) : 0;
		product *= extent > 1 ? extent : 1;
	}
	return product;
}

static double sweep_point_estimate(const struct sweep_point *point)
{
	double sum = 0, nodes = 0;
	for (size_t i = 0; i < point->file_count; i++) {
		const struct node *problem = node_find(point->files[i], "problem");
		const struct node *network = node_find(point->files[i], "network");
		const struct node *layers = node_find(network, "layers");
		if (problem)
			sum += node_extents(problem);
		for (size_t l = 0; layers && layers->kind == NODE_LIST && l < layers->count; l++)
			sum += node_extents(layers->items[l]);
		for (size_t k = 0; k < point->files[i]->count; k++)
			nodes += (double)point->files[i]->entries[k].value->weight;
	}
	return sum > 0 ? sum : nodes;
}

/* --- equal points */

struct task_table {
	struct arena *arena;
	struct array(struct expanded_task) tasks;
	struct names specs; /* tasks by their digests */
};

static size_t task_table_add_task(
	struct task_table *table, const struct expanded_task *task, const char *spec)
{
	int known = names_find(&table->specs, spec);
	if (known >= 0) {
		int *level = &table->tasks.at[known].level;
		*level = task->level < *level ? task->level : *level;
		return (size_t)known;
	}
	names_add(table->arena, &table->specs, arena_text(table->arena, spec),
		(int)table->tasks.count);
	*array_add(table->arena, &table->tasks) = *task;
	return table->tasks.count - 1;
}

static int compare_ranks(const void *a, const void *b)
{
	const struct expanded_task *x = a, *y = b;
	if (x->level != y->level)
		return x->level < y->level ? -1 : 1;
	if (x->estimate < y->estimate || x->estimate > y->estimate)
		return x->estimate < y->estimate ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

/* --- all points */

struct points_draft {
	struct array(uint64_t) combinations;
	struct array(size_t) tasks;
};

static bool sweep_spec_collect(struct arena *arena, const struct sweep_spec *sweep,
	const char *settings, struct task_table *table, struct points_draft *draft,
	digest *fingerprint)
{
	struct arena *scratch = arena_open();
	struct canon *canon = canon_open(arena);
	struct expander *expander = expander_open(arena, sweep);
	digest seed = digest_text(0, settings);
	uint64_t combinations = expand_combinations(sweep);
	*fingerprint = seed;
	for (uint64_t c = 0; c < combinations && !diag_full(sweep->diag); c++) {
		struct arena_mark mark = arena_mark(scratch);
		struct sweep_point point;
		enum point_fate fate = expander_point(expander, c, scratch, sweep->diag, &point);
		if (fate == POINT_THERE && draft->combinations.count == POINTS_MOST) {
			diag_error(sweep->diag, sweep->map->span,
				"the sweep has more than %d points", POINTS_MOST);
			break;
		}
		if (fate == POINT_THERE) {
			struct expanded_task task = {
				.spec = seed ^
					canon_digest_files(canon, point.files, point.file_count),
				.level = point.level,
				.estimate = sweep_point_estimate(&point),
				.first = draft->combinations.count};
			char text[DIGEST_TEXT];
			digest_print(task.spec, text);
			*fingerprint = digest_text(digest_text(*fingerprint, text), point.name);
			for (size_t t = 0; t < sweep->target_count; t++)
				*fingerprint = digest_text(
					*fingerprint, point.labels[t] ? point.labels[t] : "\n");
			*array_add(arena, &draft->combinations) = c;
			*array_add(arena, &draft->tasks) = task_table_add_task(table, &task, text);
		}
		arena_release(scratch, mark);
	}
	arena_close(scratch);
	return !diag_failed(sweep->diag);
}

bool expand(struct arena *arena, const struct sweep_spec *sweep, const char *settings,
	struct sweep_expansion *out)
{
	struct task_table table = {.arena = arena};
	struct points_draft draft = {0};
	*out = (struct sweep_expansion){0};
	if (!sweep_spec_collect(arena, sweep, settings, &table, &draft, &out->fingerprint))
		return false;
	if (!draft.combinations.count) {
		diag_error(sweep->diag, sweep->when ? sweep->when->span : sweep->map->span,
			"no point is left: 'when' never holds");
		return false;
	}
	for (size_t t = 0; t < sweep->target_count; t++)
		out->fingerprint = digest_text(out->fingerprint, sweep->targets[t].path.text);
	size_t *rank_of_point = arena_array(arena, size_t, draft.combinations.count);
	size_t *ranks = arena_array(arena, size_t, draft.combinations.count);
	size_t *first = arena_array(arena, size_t, table.tasks.count);
	for (size_t t = 0; t < table.tasks.count; t++)
		first[t] = table.tasks.at[t].first;
	qsort(table.tasks.at, table.tasks.count, sizeof *table.tasks.at, compare_ranks);
	for (size_t r = 0; r < table.tasks.count; r++)
		ranks[table.tasks.at[r].first] = r; /* each task is known by its first point */
	for (size_t p = 0; p < draft.combinations.count; p++)
		rank_of_point[p] = ranks[first[draft.tasks.at[p]]];
	out->point_count = draft.combinations.count;
	out->combinations = draft.combinations.at;
	out->task_of = rank_of_point;
	out->task_count = table.tasks.count;
	out->tasks = table.tasks.at;
	return true;
}

static bool expand_is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* The first place of a word in text[from..to), or of an operator, outside of parentheses; `to`
 * where there is none. */
static size_t word_find(const char *text, size_t from, size_t to, const char *word)
{
	size_t length = strlen(word);
	int depth = 0;
	for (size_t i = from; i + length <= to; i++) {
		depth += (text[i] == '(') - (text[i] == ')');
		if (depth || strncmp(text + i, word, length) != 0)
			continue;
		bool inside = expand_is_name(*word) &&
			      ((i > from && expand_is_name(text[i - 1])) ||
				      (i + length < to && expand_is_name(text[i + length])));
		if (!inside)
			return i;
	}
	return to;
}

/* The next place of a word in a text, as a whole word; NULL. */
static const char *next_word(const char *from, const char *text, const char *word)
{
	size_t length = strlen(word);
	for (const char *at = from; (at = strstr(at, word)); at++)
		if ((at == text || !expand_is_name(at[-1])) && !expand_is_name(at[length]))
			return at;
	return NULL;
}

bool condition_misses(const struct setting_values *values, const char *text)
{
	for (size_t i = 0; values->absent && values->absent[i]; i++)
		if (next_word(text, text, values->absent[i]))
			return true;
	return false;
}

/* Part of a scalar, without blanks around it. */
struct when_clause {
	const struct setting_values *values;
	const struct node *scalar;
	size_t from, to;
};

static struct when_clause when_clause_part(const struct when_clause *whole, size_t from, size_t to)
{
	const char *text = whole->scalar->text;
	while (from < to && isspace((unsigned char)text[from]))
		from++;
	while (to > from && isspace((unsigned char)text[to - 1]))
		to--;
	return (struct when_clause){whole->values, whole->scalar, from, to};
}

static const struct node *when_clause_operand(const struct when_clause *clause)
{
	const char *text = arena_format(clause->values->arena, "%.*s",
		(int)(clause->to - clause->from), clause->scalar->text + clause->from);
	return node_scalar(
		clause->values->arena, text, node_part(clause->scalar, clause->from, clause->to));
}

static bool refuse_condition(const struct when_clause *clause, const char *why)
{
	diag_error(clause->values->diag, node_part(clause->scalar, clause->from, clause->to),
		"'when': %s", why);
	return false;
}

/* The word that an operand is: of a parameter its value. */
static const char *word_of(const struct setting_values *values, const struct node *operand)
{
	const struct node *value = node_find(values->map, operand->text);
	const char *text = value ? value->text : operand->text;
	size_t length = strlen(text);
	bool quoted = length > 1 && (*text == '\'' || *text == '"') && text[length - 1] == *text;
	return quoted ? arena_format(values->arena, "%.*s", (int)length - 2, text + 1) : text;
}

/* A word that stands beside a parameter is one of those that the parameter can be. */
static bool check_word(
	const struct when_clause *clause, const struct node *parameter, const struct node *literal)
{
	const struct setting_values *values = clause->values;
	const char *const *words = values->words(values->context, parameter->text);
	const char *word = word_of(values, literal);
	if (!words || node_find(values->map, literal->text))
		return true;
	for (size_t i = 0; words[i]; i++)
		if (text_equal(words[i], word))
			return true;
	diag_error(values->diag, literal->span, "'when': '%s' is never '%s'%s", parameter->text,
		word, suggestion(values->arena, suggest(word, words), ""));
	return false;
}

static bool compare_words(const struct when_clause *clause, const struct node *a,
	const struct node *b, bool equal, bool *holds)
{
	*holds = text_equal(word_of(clause->values, a), word_of(clause->values, b)) == equal;
	return check_word(clause, a, b) && check_word(clause, b, a);
}

static const char *const operators[] = {"<=", ">=", "==", "!=", "<", ">"};
enum { OPERATORS = sizeof operators / sizeof *operators };

static bool expand_judge(int sign, int which)
{
	const bool answers[OPERATORS] = {
		sign <= 0, sign >= 0, sign == 0, sign != 0, sign<0, sign> 0};
	return answers[which];
}

static bool compare_condition(const struct when_clause *clause, size_t at, int which, bool *holds)
{
	const struct setting_values *values = clause->values;
	struct when_clause left = when_clause_part(clause, clause->from, at);
	struct when_clause right =
		when_clause_part(clause, at + strlen(operators[which]), clause->to);
	const struct node *a = when_clause_operand(&left), *b = when_clause_operand(&right);
	struct value x, y, rest;
	if (!*a->text || !*b->text)
		return refuse_condition(clause, "a comparison has two sides");
	bool words = which == 2 || which == 3;
	struct diag *said = words ? diag_open(values->arena) : values->diag;
	bool good = expr_read(said, values->variables, a, "'when'", &x) &&
		    expr_read(said, values->variables, b, "'when'", &y);
	if (!good && words && (node_find(values->map, a->text) || node_find(values->map, b->text)))
		return compare_words(clause, a, b, which == 2, holds);
	if (!good && words) /* once more, aloud */
		good = expr_read(values->diag, values->variables, a, "'when'", &x) &&
		       expr_read(values->diag, values->variables, b, "'when'", &y);
	if (!good)
		return false;
	const char *why = value_sub(x, y, &rest);
	if (why)
		return refuse_condition(clause, why);
	*holds = expand_judge((rest.real > 0) - (rest.real < 0), which);
	return true;
}

static bool read_clause(const struct when_clause *clause, bool *holds)
{
	const char *text = clause->scalar->text;
	for (int joined = 0; joined < 2; joined++) {
		const char *word = joined ? "and" : "or";
		size_t at = word_find(text, clause->from, clause->to, word);
		if (at == clause->to)
			continue;
		bool rest = false;
		struct when_clause first = when_clause_part(clause, clause->from, at);
		struct when_clause others = when_clause_part(clause, at + strlen(word), clause->to);
		bool good = read_clause(&first, holds) && read_clause(&others, &rest);
		*holds = joined ? *holds && rest : *holds || rest;
		return good;
	}
	if (word_find(text, clause->from, clause->to, "not") == clause->from &&
		clause->from < clause->to) {
		struct when_clause rest = when_clause_part(clause, clause->from + 3, clause->to);
		bool good = read_clause(&rest, holds);
		*holds = !*holds;
		return good;
	}
	size_t first = clause->to;
	int which = OPERATORS;
	for (int i = 0; i < OPERATORS; i++) {
		size_t at = word_find(text, clause->from, clause->to, operators[i]);
		if (at < first) {
			first = at;
			which = i;
		}
	}
	if (which < OPERATORS)
		return compare_condition(clause, first, which, holds);
	if (clause->to > clause->from + 1 && text[clause->from] == '(' &&
		text[clause->to - 1] == ')') {
		struct when_clause inner =
			when_clause_part(clause, clause->from + 1, clause->to - 1);
		return read_clause(&inner, holds);
	}
	return refuse_condition(clause, "a comparison such as 'rows * columns <= 256' is expected");
}

bool condition_read(const struct setting_values *values, const struct node *node, bool *holds)
{
	*holds = true;
	if (node->kind == NODE_MAP) {
		diag_error(values->diag, node->span, "'when' is a map; a comparison is expected");
		return false;
	}
	for (size_t i = 0; i < (node->kind == NODE_LIST ? node->count : 1); i++) {
		const struct node *item = node_item(node, i);
		bool one = false;
		if (item->kind != NODE_SCALAR) {
			diag_error(values->diag, item->span,
				"'when' is %s; a comparison is expected", node_kind_name(item));
			return false;
		}
		struct when_clause clause = {values, item, 0, strlen(item->text)};
		clause = when_clause_part(&clause, 0, clause.to);
		if (condition_misses(values, item->text))
			one = false;
		else if (!read_clause(&clause, &one))
			return false;
		*holds &= one;
	}
	return true;
}
