#include "cli/objectives.h"

#include "base/arena.h"
#include "base/text.h"
#include "search/nest/nest_search.h"

#include <string.h>

static void add(struct objectives *objectives, enum objective objective, const char *name,
	struct span span, struct diag *diag)
{
	for (size_t k = 0; k < objectives->count; k++)
		if (objectives->at[k] == objective) {
			diag_error(diag, span, "objective '%s' is given twice", name);
			return;
		}
	objectives->at[objectives->count++] = objective;
}

void objectives_add_level(struct objectives *objectives, int level, struct span span,
	const struct objective_scope *scope)
{
	enum objective objective = (enum objective)(OBJECTIVE_ACCESSES + level);
	add(objectives, objective, nest_objective_text(scope->arena, objective, scope->hierarchy),
		span, scope->diag);
}

static void add_accesses(struct objectives *objectives, const char *name, struct span span,
	const struct objective_scope *scope)
{
	const char *known[ARCH_LEVELS_MOST + 1] = {0};
	int count = 0;
	for (int i = 0; i < scope->hierarchy->level_count; i++) {
		const struct nest_level *level = &scope->hierarchy->levels[i];
		if (level->storage && text_equal(level->name, name)) {
			objectives_add_level(objectives, i, span, scope);
			return;
		}
		if (level->storage)
			known[count++] = level->name;
	}
	const char *near = suggest(name, known);
	struct text all = text_open(scope->arena);
	for (int i = 0; i < count; i++)
		text_add(&all, "%s%s", i ? ", " : "", known[i]);
	diag_error(scope->diag, span,
		*name ? "no level '%s' keeps words; %s%s%s"
		      : "accesses:LEVEL wants a level that keeps words%s; %s%s%s",
		name, near ? "did you mean '" : "there are ", near ? near : text_read(&all),
		near ? "'?" : "");
}

void objectives_add(struct objectives *objectives, const char *name, struct span span,
	const struct objective_scope *scope)
{
	static const char accesses[] = "accesses";
	size_t length = sizeof accesses - 1;
	if (strncmp(name, accesses, length) == 0 && (!name[length] || name[length] == ':')) {
		if (scope->subject != SUBJECT_PROBLEM)
			diag_error(scope->diag, span,
				scope->subject == SUBJECT_GRAPH
					? "objective '%s' is for problems: a workload graph has "
					  "hbm_bytes and lx_peak"
					: "objective '%s' is for problems",
				name);
		else if (scope->hierarchy)
			add_accesses(
				objectives, name + length + (name[length] == ':'), span, scope);
		return;
	}
	for (int i = 0; objective_names[i]; i++)
		if (text_equal(objective_names[i], name)) {
			if (objective_applies((enum objective)i, scope->subject))
				add(objectives, (enum objective)i, name, span, scope->diag);
			else
				diag_error(scope->diag, span, "objective '%s' is not about %s",
					name, subject_names[scope->subject]);
			return;
		}
	diag_error(scope->diag, span, "unknown objective '%s'%s", name,
		suggestion(scope->arena, suggest(name, objective_names),
			"; lxplore list objectives shows them"));
}

void objectives_read(
	struct reader *search, struct objectives *objectives, const struct objective_scope *scope)
{
	const struct node *list = read_node(search, "objectives", OPTIONAL);
	const char *const *names;
	size_t count;
	if (!list || !read_texts(search, "objectives", OPTIONAL, &names, &count))
		return;
	objectives->count = 0;
	for (size_t i = 0; i < count; i++)
		objectives_add(objectives, names[i], node_item(list, i)->span, scope);
}

void objectives_take(const struct arguments *arguments, struct objectives *objectives,
	const struct objective_scope *scope)
{
	bool first = true;
	for (size_t i = 0; i < arguments->option_count; i++) {
		const struct option_value *value = &arguments->options[i];
		if (!text_equal(value->option->name, "objective"))
			continue;
		if (first)
			objectives->count = 0;
		first = false;
		char *names = arena_text(scope->arena, value->text), *rest = NULL;
		for (char *name = strtok_r(names, ",", &rest); name;
			name = strtok_r(NULL, ",", &rest))
			objectives_add(objectives, name, value->span, scope);
	}
	if (!objectives->count && !diag_failed(scope->diag))
		diag_error(scope->diag, (struct span){0}, "no objective is left");
}
