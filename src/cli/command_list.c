#include "base/arena.h"
#include "base/text.h"
#include "cli/command.h"
#include "constraints/kind.h"
#include "model/machine/primitive.h"
#include "search/drive/frontier.h"
#include "search/drive/solver.h"

#include <stdio.h>

static void list_solvers(struct text *text)
{
	for (size_t i = 0; solvers[i]; i++)
		text_add(text, "%-18s %s\n",
			arena_format(text->arena, "%s/%s", stage_names[solvers[i]->stage],
				solvers[i]->name),
			solvers[i]->summary);
}

static void list_objectives(struct text *text)
{
	for (size_t i = 0; objective_names[i]; i++)
		text_add(text, "%-14s %s\n", objective_names[i], objective_summaries[i]);
}

static void list_constraints(struct text *text)
{
	for (size_t i = 0; constraint_kinds[i]; i++)
		text_add(
			text, "%-29s %s\n", constraint_kinds[i]->key, constraint_kinds[i]->summary);
}

static void list_ops(struct text *text)
{
	for (int i = 0; primitives[i]; i++) {
		const struct primitive *op = primitives[i];
		const char *summary = op->summary             ? op->summary
				      : op->kind == OP_REDUCE ? "reduction: out[..] = name(k) a[..]"
				      : op->arity == 2        ? "map of two operands"
							      : "map of one operand";
		text_add(text, "%-12s %s\n", op->name, summary);
	}
}

static int run(struct arena *arena, const struct arguments *arguments, struct diag *diag)
{
	static const char *const what[] = {"solvers", "constraints", "objectives", "ops", NULL};
	static void (*const lists[])(struct text *) = {
		list_solvers, list_constraints, list_objectives, list_ops};
	if (arguments->count != 1) {
		fputs("lxplore: list wants one of: solvers, constraints, objectives, ops\n",
			stderr);
		return EXIT_INPUT;
	}
	struct text text = text_open(arena);
	for (size_t i = 0; what[i]; i++)
		if (text_equal(what[i], arguments->at[0])) {
			lists[i](&text);
			command_print(text_read(&text));
			return EXIT_FOUND;
		}
	const char *near = suggest(arguments->at[0], what);
	diag_error(diag, arguments->spans[0], "there is no list of '%s'%s%s%s", arguments->at[0],
		near ? "; did you mean '" : "; solvers, constraints, objectives, ops",
		near ? near : "", near ? "'?" : "");
	return command_refuse(diag);
}

static const struct option options[] = {{0}};

const struct command command_list = {
	.name = "list",
	.usage = "solvers|constraints|objectives|ops",
	.summary = "lists what there is to choose from",
	.manual = "",
	.options = options,
	.run = run,
};
