#include "campaign/expand.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"
#include "campaign/condition.h"
#include "campaign/range.h"
#include "spec/expr.h"

#include <string.h>

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

static void bind(struct point_making *making, const struct sweep_option *option)
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

/* What conditions and arithmetic see: the parameters that are bound, and derived ones. */
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
			bind(making, &sweep->axes[a].options[chosen[a]]);
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
			bind(making, &sweep->axes[a].options[chosen[a]]);
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
static bool set(struct point_making *making, size_t target, const struct node *value)
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
			good &= set(making, t, making->nodes[t]);
	}
	return good;
}

/* What a rule makes of the parameters; NULL: nothing, or a failure. */
static const struct node *derive(struct point_making *making, const struct sweep_rule *rule)
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
			diag_error(
				making->diag, node->span, "%s is of no unit that has a name", what);
	} else if (same && same != node && !variables_node(making->sweep->variables, same->text)) {
		return same; /* a word */
	} else {
		expr_read(making->diag, making->values.variables, node, what, &value); /* aloud */
		diag_note(
			making->diag, node->span, "a word that is meant as it is stands in quotes");
	}
	making->failed |= !text;
	return text ? node_scalar(making->arena, text, node->span) : NULL;
}

static void derive_all(struct point_making *making)
{
	for (size_t r = 0; r < making->sweep->rule_count; r++) {
		const struct sweep_rule *rule = &making->sweep->rules[r];
		const struct node *node = derive(making, rule);
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
