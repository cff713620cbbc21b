#include "spec/parser.h"

#include "base/arena.h"
#include "base/names.h"
#include "base/text.h"

#include <string.h>

enum state { UNTRIED, OPEN, KNOWN, WRONG };

struct variable {
	enum state state;
	struct value value;
	size_t user; /* OPEN: the variable that asked for it */
};

struct variables {
	struct arena *arena;
	const struct node *map;
	struct variable *at; /* as the entries of the map */
	const char **known;  /* the names; NULL ends them */
	size_t open;         /* the variable being computed; the count of all: none */
};

static struct variables *make(struct arena *arena, const struct node *map)
{
	struct variables *variables = arena_new(arena, struct variables);
	*variables = (struct variables){.arena = arena,
		.map = map,
		.at = arena_array(arena, struct variable, map->count),
		.known = arena_array(arena, const char *, map->count + 1),
		.open = map->count};
	for (size_t i = 0; i < map->count; i++)
		variables->known[i] = map->entries[i].key;
	return variables;
}

struct variables *variables_read(struct arena *arena, struct diag *diag, const struct node *map)
{
	if (map->kind != NODE_MAP) {
		diag_error(diag, map->span,
			"'variables' is %s; a map of names to values is expected",
			node_kind_name(map));
		return NULL;
	}
	return make(arena, map);
}

struct variables *variables_with(
	struct arena *arena, const struct variables *outer, const struct node *map)
{
	const struct node none = {.kind = NODE_MAP}, *first = outer ? outer->map : &none;
	size_t count = first->count;
	struct node *both = arena_new(arena, struct node);
	struct node_entry *entries = arena_array(arena, struct node_entry, count + map->count);
	struct names *index = arena_new(arena, struct names);
	for (size_t i = 0; i < count; i++) {
		entries[i] = first->entries[i];
		names_add(arena, index, entries[i].key, (int)i);
	}
	for (size_t i = 0; i < map->count; i++) {
		if (names_find(index, map->entries[i].key) >= 0)
			continue;
		names_add(arena, index, map->entries[i].key, (int)count);
		entries[count++] = map->entries[i];
	}
	*both = (struct node){.kind = NODE_MAP,
		.span = map->span,
		.entries = entries,
		.count = count,
		.index = index};
	return make(arena, both);
}

const struct node *variables_node(const struct variables *variables, const char *name)
{
	return variables ? node_find(variables->map, name) : NULL;
}

bool variables_have(const struct variables *variables, const char *name)
{
	return variables && node_index(variables->map, name) >= 0;
}

bool variables_used(const struct variables *variables, const char *name)
{
	int i = variables ? node_index(variables->map, name) : -1;
	return i >= 0 && variables->at[i].state != UNTRIED;
}

const char *variables_suggest(const struct variables *variables, const char *name)
{
	return variables ? suggest(name, variables->known) : NULL;
}

/* "a -> b -> a": from variable `from`, along who asked for whom, back to it. */
static const char *chain(const struct variables *variables, size_t from)
{
	enum { SHOWN = 6 };
	struct text text = text_open(variables->arena);
	size_t links[EXPR_DEPTH_MOST + 1], count = 0;
	for (size_t i = variables->open; count < EXPR_DEPTH_MOST; i = variables->at[i].user) {
		links[count++] = i;
		if (i == from)
			break;
	}
	for (size_t i = count; i-- > 0;) {
		size_t done = count - 1 - i;
		if (done < SHOWN || i == 0)
			text_add(&text, "%s -> ", variables->known[links[i]]);
		else if (done == SHOWN)
			text_add(&text, "... -> ");
	}
	text_add(&text, "%s", variables->known[from]);
	return text_read(&text);
}

static bool compute(struct variables *variables, size_t i, struct diag *diag, int depth)
{
	struct variable *variable = &variables->at[i];
	const struct node *node = variables->map->entries[i].value;
	const char *what = arena_format(variables->arena, "variable '%s'", variables->known[i]);
	struct parser inner = {.diag = diag,
		.variables = variables,
		.scalar = node,
		.text = node->text,
		.what = what,
		.depth = depth};
	variable->state = OPEN;
	variable->user = variables->open;
	variables->open = i;
	bool fine = false;
	if (node->kind == NODE_SCALAR)
		fine = parse_text(&inner, &variable->value);
	else
		diag_error(diag, node->span, "%s is %s; a number is expected", what,
			node_kind_name(node));
	variables->open = variable->user;
	variable->state = fine ? KNOWN : WRONG;
	return fine;
}

bool variables_find(const struct parser *p, const char *name, size_t from, struct value *out)
{
	struct variables *variables = p->variables;
	size_t i = (size_t)node_index(variables->map, name);
	struct variable *variable = &variables->at[i];
	if (variable->state == OPEN) {
		diag_error(p->diag, parser_place(p, from, from + strlen(name)),
			"variable '%s' needs itself: %s", name, chain(variables, i));
		return false;
	}
	if (variable->state == UNTRIED)
		compute(variables, i, p->diag, p->depth);
	*out = variable->value;
	return variable->state == KNOWN;
}

/* Lists, functions and conditions of Python, which nothing here computes. */
static bool is_python(const char *text)
{
	return strpbrk(text, "[]{}'\"=<>:") || strstr(text, " if ") || strstr(text, "lambda");
}

static bool is_text(const struct variables *variables, const struct node *node)
{
	return node->quoted || node->tag || is_python(node->text) ||
	       (strcspn(node->text, " ()*/%+") == strlen(node->text) &&
		       !variables_have(variables, node->text));
}

void variables_check(struct variables *variables, struct diag *diag)
{
	for (size_t i = 0; i < variables->map->count; i++) {
		const struct node *node = variables->map->entries[i].value;
		if (variables->at[i].state == UNTRIED && node->kind == NODE_SCALAR &&
			!is_text(variables, node))
			compute(variables, i, diag, 0);
	}
}
