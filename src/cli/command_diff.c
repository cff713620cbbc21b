#include "base/arena.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/command_nest.h"
#include "cli/inputs.h"
#include "report/graph/choices.h"
#include "report/graph/diff.h"
#include "report/graph/score_json.h"
#include "search/graph/evaluate.h"

#include <stdio.h>
#include <string.h>

/* One of the two plans, with everything that it is about. */
struct side {
	const char *name;
	struct span span;
	struct inputs inputs;
};

/* The arguments, and their files, with one of the last two left out. */
static struct arguments leave_out(const struct arguments *arguments, size_t which,
	const struct node **files, struct arena *arena)
{
	struct arguments left = *arguments;
	size_t count = arguments->count - 1;
	const char **at = arena_array(arena, const char *, count);
	struct span *spans = arena_array(arena, struct span, count);
	for (size_t i = 0; i < count; i++) {
		at[i] = arguments->at[i + (i >= which)];
		files[i] = files[i + (i >= which)];
		spans[i] = arguments->spans[i + (i >= which)];
	}
	left.count = count;
	left.at = at;
	left.spans = spans;
	return left;
}

static bool has_plan(const struct side *side, struct diag *diag)
{
	const struct inputs *inputs = &side->inputs;
	if (inputs->nest ? inputs->nest->mapping != NULL : inputs->plan != NULL)
		return true;
	diag_error(diag, side->span, "'%s' brings no %s to compare", side->name,
		inputs->nest ? "mapping" : "plan");
	return false;
}

static bool read_side(struct arena *arena, const struct arguments *arguments,
	const struct node *const *all, size_t which, struct side *side, struct diag *diag)
{
	const struct node **files = arena_copy(arena, all, arguments->count * sizeof *files);
	struct arguments own = leave_out(arguments, arguments->count - 1 - which, files, arena);
	side->name = own.at[own.count - 1];
	side->span = own.spans[own.count - 1];
	struct diag *said = diag_open(arena);
	bool good = inputs_read_files(arena, &own, files, said, &side->inputs) &&
		    has_plan(side, said) && inputs_check_plan(&side->inputs, said);
	diag_take(diag, said);
	return good;
}

/* The sides are about the same things, by name; their sizes may differ. */
static bool check_alike(const struct side *a, const struct side *b, struct diag *diag)
{
	if (!a->inputs.nest != !b->inputs.nest) {
		diag_error(diag, b->span, "'%s' is of a problem, '%s' of a workload graph",
			a->inputs.nest ? a->name : b->name, a->inputs.nest ? b->name : a->name);
		return false;
	}
	if (!a->inputs.nest)
		return true;
	const struct nest_inputs *x = a->inputs.nest, *y = b->inputs.nest;
	bool alike = x->arch->level_count == y->arch->level_count &&
		     x->shape->dimension_count == y->shape->dimension_count &&
		     x->shape->space_count == y->shape->space_count;
	for (int r = 0; alike && r < x->arch->level_count; r++)
		alike = text_equal(x->arch->levels[r].name, y->arch->levels[r].name);
	for (int d = 0; alike && d < x->shape->dimension_count; d++)
		alike = text_equal(x->shape->dimensions[d].name, y->shape->dimensions[d].name);
	for (int t = 0; alike && t < x->shape->space_count; t++)
		alike = text_equal(x->shape->spaces[t].name, y->shape->spaces[t].name);
	if (!alike)
		diag_error(diag, b->span,
			"'%s' and '%s' have other levels, dimensions or dataspaces: there is "
			"nothing to compare",
			a->name, b->name);
	return alike;
}

static void fill_nests(
	struct arena *arena, const struct side *a, const struct side *b, struct diff *diff)
{
	const struct nest_inputs *x = a->inputs.nest, *y = b->inputs.nest;
	struct diag *diag = diag_open(arena);
	enum counting counting = command_nest_counting(x, arena, diag);
	if (counting == COUNTING_TIMELOOP)
		counting = command_nest_counting(y, arena, diag);
	diag_print(diag, stderr);
	struct nest_report of_a = command_nest_report(x, counting, arena);
	struct nest_report of_b = command_nest_report(y, counting, arena);
	diff->counting = counting_names[counting];
	diff->a.line = nest_mapping_print(arena, x->arch, x->shape, x->mapping);
	diff->b.line = nest_mapping_print(arena, y->arch, y->shape, y->mapping);
	diff->a.choices = nest_choices(arena, x->arch, x->shape, x->mapping, y->mapping);
	diff->b.choices = nest_choices(arena, y->arch, y->shape, y->mapping, x->mapping);
	diff->a.counts = nest_json_value(arena, &of_a);
	diff->b.counts = nest_json_value(arena, &of_b);
}

/* The score without what it repeats of the plan. */
static json_t *count_plan(
	struct arena *arena, const struct outcome *outcome, const struct recipe_result *made)
{
	size_t i;
	json_t *op, *root = score_json_value(arena, outcome, made, false);
	json_object_del(root, "tensors");
	json_array_foreach(json_object_get(root, "ops"), i, op)
		json_object_del(op, "nest");
	return root;
}

/* NULL, or why the plan cannot be priced. */
static const char *fill_graph(struct arena *arena, const struct side *side, struct diff_side *out)
{
	struct recipe_result made = inputs_plan(&side->inputs, arena);
	struct outcome outcome = evaluate_cost(made.plan, arena);
	if (outcome.why)
		return outcome.why;
	out->choices = plan_choices(arena, made.plan);
	out->counts = count_plan(arena, &outcome, &made);
	return NULL;
}

static void close_side(struct diff_side *side)
{
	json_decref(side->choices);
	json_decref(side->counts);
}

static int compare(struct arena *arena, const struct side *a, const struct side *b,
	const struct arguments *arguments, enum format format)
{
	struct diff diff = {
		.a.name = a->name, .b.name = b->name, .all = option_find(arguments, "all") != NULL};
	if (a->inputs.nest) {
		fill_nests(arena, a, b, &diff);
	} else {
		const char *why = fill_graph(arena, a, &diff.a);
		if (!why)
			why = fill_graph(arena, b, &diff.b);
		if (why) {
			close_side(&diff.a);
			fprintf(stderr, "lxplore: illegal plan: %s\n", why);
			return EXIT_INPUT;
		}
	}
	/* JSON is YAML as it stands. */
	command_print(format == FORMAT_TEXT  ? diff_text(arena, &diff)
		      : format == FORMAT_CSV ? diff_csv(arena, &diff)
					     : diff_json(arena, &diff));
	bool equal = diff_equal(arena, &diff);
	close_side(&diff.a);
	close_side(&diff.b);
	return equal ? EXIT_FOUND : EXIT_IMPOSSIBLE;
}

static int run(struct arena *arena, const struct arguments *arguments, struct diag *diag)
{
	struct side sides[2];
	int format = FORMAT_TEXT;
	bool good = option_word(arguments, "format", format_names, diag, &format);
	if (arguments->count < 2) {
		diag_error(diag, (struct span){0},
			"diff wants two plans, after the specs that both are for");
		return command_refuse(diag);
	}
	const struct node *const *files = inputs_files(arena, arguments, diag);
	if (diag_failed(diag))
		return command_refuse(diag);
	for (size_t i = 0; i < 2; i++)
		good &= read_side(arena, arguments, files, i, &sides[i], diag);
	if (!good || !check_alike(&sides[0], &sides[1], diag))
		return command_refuse(diag);
	diag_print(diag, stderr);
	return compare(arena, &sides[0], &sides[1], arguments, (enum format)format);
}

static const struct option options[] = {
	INPUT_OPTIONS,
	{"all", 'a', NULL, "show what is equal, too", false},
	{"format", 0, "text|csv|json|yaml", "of what is printed (default text)", false},
	{0},
};

const struct command command_diff = {
	.name = "diff",
	.usage = "[SPEC...] A B",
	.summary = "compares two plans, choice by choice and count by count",
	.manual =
		"A and B are plans of explore, mappings of Timeloop, lines; the specs before them are\n"
		"for both, and each may bring more of its own.  Of a problem: bounds by level and\n"
		"dimension, orders (outermost first), axes, what levels keep; then cycles, energies\n"
		"and the words that all instances together read, fill and update.  Of a graph: the\n"
		"ops' mappings, steps and bundles, the tensors' stays; then times and bytes.\n"
		"Exit status, as of diff: 0 no difference, 1 some, 2 the input is wrong.\n",
	.options = options,
	.reads_specs = true,
	.run = run,
};
