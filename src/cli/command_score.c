#include "base/arena.h"
#include "cli/kind.h"
#include "cli/listener.h"
#include "cli/settings.h"
#include "report/graph/choices.h"

#include <stdio.h>

void kind_listen(struct inputs *inputs, struct listener *listener)
{
	if (!inputs->kind->stops)
		return;
	*listener = listener_open(0, true, "steps");
	inputs->wishes.asker = (struct asker){.jobs = 1, .stopper = {listener, listener_stop}};
}

int kind_score(const struct inputs *inputs, enum format format, bool simulated)
{
	const struct input_kind *kind = inputs->kind;
	if (!kind->score)
		diag_error(inputs->diag, (struct span){0}, "%s has no score", kind->noun);
	else if (format == FORMAT_TIMELOOP && !kind->timeloop)
		diag_error(inputs->diag, (struct span){0},
			"'--format timeloop' is for problems, and this is %s", kind->noun);
	if (diag_failed(inputs->diag))
		return command_refuse(inputs->diag);
	return kind->score(inputs, format, simulated);
}

/* Everything up to the printing is the same for the model and the simulator. */
static int arguments_report(
	struct arena *arena, const struct arguments *arguments, struct diag *diag, bool simulated)
{
	struct inputs inputs;
	struct listener listener;
	enum format format = command_usual_format();
	bool good = inputs_read(arena, arguments, diag, &inputs);
	good &= command_format(arguments, diag, &format);
	if (!good)
		return command_refuse(diag);
	kind_listen(&inputs, &listener);
	return kind_score(&inputs, format, simulated);
}

static int score(struct arena *arena, const struct arguments *arguments, struct diag *diag)
{
	return arguments_report(arena, arguments, diag, false);
}

static int simulate(struct arena *arena, const struct arguments *arguments, struct diag *diag)
{
	return arguments_report(arena, arguments, diag, true);
}

const struct command command_score = {
	.name = "score",
	.usage = "SPEC... [PLAN] [OPTION...]",
	.summary = "the analytical model of a plan",
	.manual =
		"Without a plan file, of the plan that the default settings make.  A problem: the\n"
		"counts, time and energy of its mapping.  Exit status 1 when it cannot be.\n",
	.reads_specs = true,
	.bit = OF_SCORE,
	.run = score,
};

const struct command command_simulate = {
	.name = "simulate",
	.usage = "SPEC... [PLAN] [OPTION...]",
	.summary = "executes a plan with real bytes and compares with the model",
	.manual =
		"Without a plan file, the plan that the default settings make.  The mapping of a\n"
		"problem is executed with real numbers, and compared with a plain reference, too.\n"
		"Exit status 1 when the run shows a fault, its counts are not the model's, or a\n"
		"result is off by more than its op may be (specs/README.md); 3 when it would be\n"
		"too long.\n",
	.reads_specs = true,
	.bit = OF_SIMULATE,
	.run = simulate,
};

/* One of the two plans, with everything that it is about. */
struct side {
	struct arguments arguments;
	const char *name;
	struct span span;
	struct inputs inputs;
};

/* The arguments, and their files, with one of the last two left out. */
static struct arguments counts_leave_out(const struct arguments *arguments, size_t which,
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

static bool side_has_plan(const struct side *side)
{
	const struct inputs *inputs = &side->inputs;
	const struct input_kind *kind = inputs->kind;
	bool there = kind->has_plan && kind->has_plan(inputs);
	if (!there)
		diag_error(inputs->diag, side->span, "'%s' brings no %s to compare", side->name,
			kind->plan ? kind->plan : "plan");
	return there && !diag_failed(inputs->diag);
}

static bool read_side(struct arena *arena, const struct arguments *arguments,
	const struct node *const *all, size_t which, struct side *side, struct diag *diag)
{
	const struct node **files = arena_copy(arena, all, arguments->count * sizeof *files);
	size_t count = arguments->count - 1;
	side->arguments = counts_leave_out(arguments, count - which, files, arena);
	side->name = side->arguments.at[count - 1];
	side->span = side->arguments.spans[count - 1];
	struct diag *said = diag_open(arena);
	bool good = inputs_read_files(arena, &side->arguments, files, said, &side->inputs) &&
		    side_has_plan(side);
	diag_take(diag, said);
	return good;
}

/* Both are of one kind, and about the same things. */
static bool check_alike(const struct side *a, const struct side *b, struct diag *diag)
{
	const struct input_kind *kind = a->inputs.kind;
	const char *why = NULL;
	if (kind != b->inputs.kind)
		diag_error(diag, b->span, "'%s' is of %s, '%s' of %s", a->name, kind->noun, b->name,
			b->inputs.kind->noun);
	else if (kind->unlike)
		why = kind->unlike(&a->inputs, &b->inputs);
	if (why)
		diag_error(diag, b->span, "'%s' and '%s' %s", a->name, b->name, why);
	return !diag_failed(diag);
}

static void close_side(struct diff_side *side)
{
	json_decref(side->choices);
	json_decref(side->counts);
}

static int compare_sides(
	struct arena *arena, const struct side *a, const struct side *b, enum format format)
{
	struct diff diff = {
		.a.name = a->name, .b.name = b->name, .all = inputs_given(&a->inputs, "all")};
	if (!a->inputs.kind->compare(&a->inputs, &b->inputs, &diff)) {
		close_side(&diff.a);
		close_side(&diff.b);
		return EXIT_INPUT;
	}
	json_t *tree = diff_tree(arena, &diff);
	bool equal = json_is_true(json_object_get(tree, "equal"));
	const char *text = format == FORMAT_TEXT  ? diff_text(arena, &diff, tree)
			   : format == FORMAT_CSV ? diff_csv(arena, tree)
						  : json_text(arena, json_incref(tree));
	command_print(text);
	json_decref(tree);
	close_side(&diff.a);
	close_side(&diff.b);
	return equal ? EXIT_FOUND : EXIT_IMPOSSIBLE;
}

static int run(struct arena *arena, const struct arguments *arguments, struct diag *diag)
{
	struct side sides[2];
	enum format format = FORMAT_TEXT;
	bool good = command_format(arguments, diag, &format);
	if (arguments->count < 2) {
		diag_error(diag, (struct span){0},
			"diff needs two plans, after the specs that both are for");
		return command_refuse(diag);
	}
	const struct node *const *files = inputs_files(arena, arguments, diag);
	if (diag_failed(diag))
		return command_refuse(diag);
	for (size_t i = 0; i < 2; i++)
		good &= read_side(arena, arguments, files, i, &sides[i], diag);
	if (!good || !check_alike(&sides[0], &sides[1], diag)) {
		command_refuse(diag);
		return EXIT_INPUT; /* 1 would say that two legal plans differ */
	}
	diag_print(diag, stderr);
	return compare_sides(arena, &sides[0], &sides[1], format);
}

const struct command command_diff = {
	.name = "diff",
	.usage = "[SPEC...] A B",
	.summary = "compares two plans, choice by choice and count by count",
	.manual =
		"A and B are plans of explore, mappings of Timeloop, lines; the specs before them\n"
		"are for both, and each may bring more of its own.  A problem: bounds by level\n"
		"and dimension, orders (outermost first), axes, what levels keep; then cycles,\n"
		"energies and the words that all instances together read, fill and update.  A\n"
		"graph: the ops' mappings, steps and bundles, the tensors' stays; then times and\n"
		"bytes. Exit status as diff has it: 0 no difference, 1 some, 2 the input is\n"
		"wrong.\n",
	.reads_specs = true,
	.bit = OF_DIFF,
	.run = run,
};
