#include "constraints/constraints.h"

#include "base/arena.h"
#include "base/text.h"

#include <string.h>

/* The list that a key holds, NULL if it is empty or none. */
static const struct node *read_targets(struct reader *map, const char *key)
{
	const struct node *list = read_node(map, key, OPTIONAL);
	return node_is_empty(list) ? NULL : read_list(map, key, OPTIONAL);
}

static void read_template(struct reader *map)
{
	static const char *const names[] = {"uber", "ruby", NULL};
	int index;
	read_word(map, "template", OPTIONAL, names, &index);
}

const struct node *constraints_targets(const struct reading *reading, const struct node *list)
{
	if (node_is_empty(list))
		return NULL;
	if (list->kind == NODE_LIST)
		return list;
	struct reader map;
	if (!reader_open(&map, reading, list, "constraints"))
		return NULL;
	read_node(&map, "version", OPTIONAL);
	read_template(&map);
	const struct node *targets = read_targets(&map, "targets");
	const struct node *named = read_node(&map, "constraints", OPTIONAL);
	const char *key = "constraints";
	/* `constraints: rowstationary` means the list under constraints_rowstationary. */
	if (named && named->kind == NODE_SCALAR && !node_is_empty(named))
		key = arena_format(reading->arena, "constraints_%s", named->text);
	const struct node *chosen = read_targets(&map, key);
	if (named && key[strlen("constraints")] && !node_find(list, key))
		reading_refuse(reading, named, "there is no '%s' here", key);
	reader_done_lenient(&map);
	return chosen ? chosen : targets;
}

bool constraints_want_imperfect(const struct node *const *lists)
{
	bool ruby = false;
	for (int i = 0; lists[i]; i++) {
		const struct node *name = node_find(lists[i], "template");
		ruby |= name && name->kind == NODE_SCALAR && text_equal(name->text, "ruby");
	}
	return ruby;
}

const struct node *const *constraints_lists(struct sheet *sheet, struct arena *arena)
{
	static const char *const keys[] = {"constraints", "arch_constraints",
		"architecture_constraints", "mapspace_constraints", "mapspace", NULL};
	const struct node **lists = arena_array(arena, const struct node *, 6);
	int count = 0;
	for (int i = 0; keys[i]; i++) {
		const struct node *list = sheet_find(sheet, keys[i]);
		if (list)
			lists[count++] = list;
	}
	return lists;
}

bool constraints_is_of_graph(const struct node *entry)
{
	const struct node *type = entry->kind == NODE_MAP ? node_find(entry, "type") : NULL;
	return type && type->kind == NODE_SCALAR && text_equal(type->text, "graph");
}
