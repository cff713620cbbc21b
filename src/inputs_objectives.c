#include "inputs_objectives.h"

#include "base/arena.h"
#include "base/text.h"

#include <string.h>

void objectives_add(
	struct objectives *objectives, const char *name, struct span span, struct diag *diag)
{
	for (int i = 0; objective_names[i]; i++) {
		if (!text_equal(objective_names[i], name))
			continue;
		for (size_t k = 0; k < objectives->count; k++)
			if (objectives->at[k] == (enum objective)i) {
				diag_error(diag, span, "objective '%s' is given twice", name);
				return;
			}
		objectives->at[objectives->count++] = (enum objective)i;
		return;
	}
	const char *near = suggest(name, objective_names);
	diag_error(diag, span, "unknown objective '%s'%s%s%s", name,
		near ? "; did you mean '" : "; lxplore list objectives shows them",
		near ? near : "", near ? "'?" : "");
}

void objectives_read(struct reader *search, struct objectives *objectives)
{
	const struct node *list = read_node(search, "objectives", OPTIONAL);
	const char *const *names;
	size_t count;
	if (!list || !read_texts(search, "objectives", OPTIONAL, &names, &count))
		return;
	objectives->count = 0;
	for (size_t i = 0; i < count; i++)
		objectives_add(
			objectives, names[i], node_item(list, i)->span, search->reading->diag);
}

void objectives_take(const struct arguments *arguments, struct objectives *objectives,
	struct arena *arena, struct diag *diag)
{
	bool first = true;
	for (size_t i = 0; i < arguments->option_count; i++) {
		const struct option_value *value = &arguments->options[i];
		if (!text_equal(value->option->name, "objective"))
			continue;
		if (first)
			objectives->count = 0;
		first = false;
		char *names = arena_text(arena, value->text), *rest = NULL;
		for (char *name = strtok_r(names, ",", &rest); name;
			name = strtok_r(NULL, ",", &rest))
			objectives_add(objectives, name, value->span, diag);
	}
	if (!objectives->count && !diag_failed(diag))
		diag_error(diag, (struct span){0}, "no objective is left");
}
