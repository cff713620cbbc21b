#include "campaign/path.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

bool path_parse(struct arena *arena, const char *text, struct span span, struct diag *diag,
	struct path *out)
{
	*out = (struct path){.text = text, .span = span};
	for (const char *at = text;; at++) {
		size_t length = strcspn(at, ".");
		if (!length || out->count == PATH_WORDS_MOST) {
			diag_error(diag, span,
				length ? "path '%s' has more than %d words"
				       : "path '%s' has an empty word",
				text, PATH_WORDS_MOST);
			return false;
		}
		out->words[out->count++] = arena_format(arena, "%.*s", (int)length, at);
		at += length;
		if (!*at)
			return true;
	}
}

size_t path_file(const struct path *path, const struct node *const *files, size_t count)
{
	size_t i = 0;
	while (i < count && node_index(files[i], path->words[0]) < 0)
		i++;
	return i;
}

/* --- looking below a node */

static const struct node *child(const struct node *node, size_t i)
{
	return node->kind == NODE_MAP ? node->entries[i].value : node->items[i];
}

static size_t children(const struct node *node)
{
	return node->kind == NODE_SCALAR ? 0 : node->count;
}

/* What a map says that it is called; NULL. */
static const char *name_of(const struct node *node)
{
	const struct node *name = node_find(node, "name");
	return name && name->kind == NODE_SCALAR && *name->text ? name->text : NULL;
}

static bool is_called(const struct node *node, const char *word)
{
	const char *name = name_of(node);
	size_t length = strlen(word);
	return name && strncmp(name, word, length) == 0 && (!name[length] || name[length] == '[');
}

static bool is_number(const char *word, size_t i)
{
	char *end;
	return isdigit((unsigned char)*word) && strtoull(word, &end, 10) == i && !*end;
}

/* One word of a path, looked for below a node. */
struct word_hunt {
	const char *word;
	struct trail *trail; /* so far */
	const struct node *start;
	struct trail found; /* the first */
	int hits;
	struct span second;
};

static bool hits(const struct word_hunt *hunt, const struct node *node, size_t i)
{
	if (node->kind == NODE_MAP && text_equal(node->entries[i].key, hunt->word))
		return true;
	if (is_called(child(node, i), hunt->word))
		return true;
	return node->kind == NODE_LIST && node == hunt->start && is_number(hunt->word, i);
}

/* All hits that are `depth` steps below a node. */
static void hunt_at(struct word_hunt *hunt, const struct node *node, int depth)
{
	struct trail *trail = hunt->trail;
	if (node->height < depth && node->weight)
		return;
	for (size_t i = 0; i < children(node) && trail->count < TRAIL_MOST; i++) {
		trail->at[trail->count] = node;
		trail->index[trail->count++] = i;
		if (depth > 1) {
			hunt_at(hunt, child(node, i), depth - 1);
		} else if (hits(hunt, node, i)) {
			if (!hunt->hits++)
				hunt->found = *trail;
			else
				hunt->second = child(node, i)->span;
		}
		trail->count--;
	}
}

struct near_words array(const char *);

static void list_words(struct arena *arena, const struct node *node, struct near_words *known)
{
	for (size_t i = 0; i < children(node); i++) {
		if (node->kind == NODE_MAP)
			*array_add(arena, known) = node->entries[i].key;
		if (name_of(child(node, i)))
			*array_add(arena, known) = name_of(child(node, i));
		list_words(arena, child(node, i), known);
	}
}

/* "; there are a, b, c and 4 more": each word once, the first WORDS_SHOWN of them. */
static const char *list_known(struct arena *arena, const struct near_words *known)
{
	enum { WORDS_SHOWN = 12 };
	struct text text = text_open(arena);
	size_t shown = 0, more = 0;
	for (size_t i = 0; i < known->count && known->at[i]; i++) {
		bool again = false;
		for (size_t k = 0; k < i && !again; k++)
			again = text_equal(known->at[k], known->at[i]);
		if (again)
			continue;
		if (shown < WORDS_SHOWN)
			text_add(&text, "%s%s", shown++ ? ", " : "; there are ", known->at[i]);
		else
			more++;
	}
	if (more)
		text_add(&text, " and %zu more", more);
	return text_read(&text);
}

/* Nothing below has this word. */
static void complain(struct arena *arena, const struct path *path, int word,
	const struct node *const *nodes, size_t count, struct diag *diag)
{
	struct near_words known = {0};
	for (size_t i = 0; i < count; i++) {
		if (word)
			list_words(arena, nodes[i], &known);
		for (size_t k = 0; !word && k < nodes[i]->count; k++)
			*array_add(arena, &known) = nodes[i]->entries[k].key;
	}
	*array_add(arena, &known) = NULL;
	const char *near = diag_full(diag) ? NULL : suggest(path->words[word], known.at);
	const char *where =
		word ? arena_format(arena, "'%s' has no", path->words[word - 1]) : "no spec has a";
	diag_error(diag, path->span, "path '%s' hits nothing: %s '%s'%s", path->text, where,
		path->words[word], suggestion(arena, near, list_known(arena, &known)));
}

/* The words from the second on, below the value of the first. */
static bool find_below(struct arena *arena, const struct path *path, struct trail *trail,
	const struct node *node, struct diag *diag)
{
	for (int w = 1; w < path->count; w++) {
		struct trail walk = *trail;
		struct word_hunt hunt = {.word = path->words[w], .trail = &walk, .start = node};
		for (int depth = 1; !hunt.hits && depth <= SPEC_DEPTH_MOST; depth++)
			hunt_at(&hunt, node, depth);
		if (!hunt.hits) {
			complain(arena, path, w, &node, 1, diag);
			return false;
		}
		if (hunt.hits > 1) {
			const struct trail *found = &hunt.found;
			diag_error(diag, path->span,
				"path '%s' hits %d things: '%s' is ambiguous; the key before it "
				"tells which is meant",
				path->text, hunt.hits, path->words[w]);
			diag_note(diag,
				child(found->at[found->count - 1], found->index[found->count - 1])
					->span,
				"one is here");
			diag_note(diag, hunt.second, "one is here");
			return false;
		}
		*trail = hunt.found;
		node = child(trail->at[trail->count - 1], trail->index[trail->count - 1]);
	}
	return true;
}

bool path_find(struct arena *arena, const struct path *path, const struct node *const *files,
	size_t count, struct diag *diag, struct trail *out)
{
	size_t first = path_file(path, files, count);
	if (first == count) {
		complain(arena, path, 0, files, count, diag);
		return false;
	}
	/* of several files with the key, whose values add up, the first that has the rest */
	for (size_t i = first; i < count; i++) {
		int index = node_index(files[i], path->words[0]);
		if (index < 0)
			continue;
		*out = (struct trail){.file = i, .count = 1};
		out->at[0] = files[i];
		out->index[0] = (size_t)index;
		if (find_below(arena, path, out, files[i]->entries[index].value, diag_open(arena)))
			return true;
	}
	*out = (struct trail){.file = first};
	return find_below(arena, path, out, node_find(files[first], path->words[0]), diag);
}

/* --- setting */

static const struct node *with_child(
	struct arena *arena, const struct node *node, size_t i, const struct node *value)
{
	struct node *copy = arena_copy(arena, node, sizeof *node);
	copy->weight = 0;
	if (node->kind == NODE_MAP) {
		struct node_entry *entries =
			arena_copy(arena, node->entries, node->count * sizeof *entries);
		entries[i].value = value;
		copy->entries = entries;
	} else {
		const struct node **items =
			arena_copy(arena, node->items, node->count * sizeof *items);
		items[i] = value;
		copy->items = items;
	}
	return copy;
}

const struct node *trail_replace(
	struct arena *arena, const struct trail *trail, const struct node *value)
{
	for (int i = trail->count; i-- > 0;)
		value = with_child(arena, trail->at[i], trail->index[i], value);
	return value;
}

static const struct node *with_entry(struct arena *arena, const struct node *map, const char *key,
	struct span span, const struct node *value)
{
	struct node *copy = arena_copy(arena, map, sizeof *map);
	struct node_entry *entries = arena_array(arena, struct node_entry, map->count + 1);
	for (size_t i = 0; i < map->count; i++)
		entries[i] = map->entries[i];
	entries[map->count] = (struct node_entry){.key = key, .key_span = span, .value = value};
	copy->entries = entries;
	copy->count++;
	copy->weight = 0;
	copy->index = NULL;
	return copy;
}

static const struct node *create(struct arena *arena, const struct node *map,
	const struct path *path, int word, const struct node *value)
{
	const struct node empty = {.kind = NODE_MAP, .text = "", .span = path->span};
	if (word == path->count)
		return value;
	if (!map || map->kind != NODE_MAP)
		map = &empty;
	int i = node_index(map, path->words[word]);
	value = create(arena, i < 0 ? NULL : map->entries[i].value, path, word + 1, value);
	return i < 0 ? with_entry(arena, map, path->words[word], path->span, value)
		     : with_child(arena, map, (size_t)i, value);
}

const struct node *path_create(struct arena *arena, const struct node *root,
	const struct path *path, const struct node *value)
{
	return create(arena, root, path, 0, value);
}
