#include "spec/compose.h"

#include "base/array.h"
#include "base/text.h"
#include "spec/step.h"

#include <string.h>

enum { INDEX_FROM = 12 }; /* maps of this many keys are found by hashing */

struct anchor {
	const char *name;
	const struct node *node; /* NULL while its node is being read */
	struct span span;
};

/* Lists and maps grow in the scratch arena, which is used as a stack, and are
 * copied out when their length is known. */
struct builder {
	struct stepper steps;
	struct arena *arena, *scratch;
	struct diag *diag;
	bool ended; /* complained of something after which reading on makes no sense */
	int depth;
	size_t merged;           /* entries copied by `<<` so far */
	const char *top;         /* the top-level key that is read */
	struct node_entry again; /* the first key given twice that is passed over */
	size_t again_count;      /* how many there are of them */
	bool unfilled;           /* warned of a template */
	struct names names;
	struct array(struct anchor) anchors; /* by the number of the name */
};

#define COMPLAIN(b, ...) diag_error((b)->diag, __VA_ARGS__)
#define END(b, ...) (COMPLAIN(b, __VA_ARGS__), (b)->ended = true)

static bool next(struct builder *b, struct yaml_step *step)
{
	if (!b->ended && !stepper_next(&b->steps, step))
		b->ended = true;
	return !b->ended;
}

static const struct node *compose_node(struct builder *b, const struct yaml_step *step);

/* Adds what a child brings to the size of its parent; refuses what explodes. */
static void weigh(struct builder *b, struct node *parent, const struct node *child)
{
	struct span at = child->alias.source ? child->alias : child->span;
	parent->weight += child->weight;
	if (parent->height < child->height + 1)
		parent->height = child->height + 1;
	if (b->ended)
		return;
	if (parent->weight > SPEC_NODES_MOST)
		END(b, at, "more than %d nodes once aliases are followed", SPEC_NODES_MOST);
	else if (b->depth + 1 + child->height > SPEC_DEPTH_MOST)
		END(b, at, "nested more than %d deep once aliases are followed", SPEC_DEPTH_MOST);
}

static void close_span(struct node *node, const struct yaml_step *end, bool flow)
{
	if (!flow)
		return;
	node->span.end_line = end->span.end_line;
	node->span.end_column = end->span.end_column;
}

static void compose_list(struct builder *b, struct node *list, bool flow)
{
	struct array(const struct node *) items = {0};
	struct arena_mark mark = arena_mark(b->scratch);
	struct yaml_step step;
	list->kind = NODE_LIST;
	while (next(b, &step) && step.type != YAML_SEQUENCE_END_EVENT) {
		const struct node *item = compose_node(b, &step);
		if (b->ended)
			return;
		weigh(b, list, item);
		*array_add(b->scratch, &items) = item;
	}
	close_span(list, &step, flow);
	list->items = arena_copy(b->arena, items.at, items.count * sizeof *items.at);
	list->count = items.count;
	arena_release(b->scratch, mark);
}

/* A map under construction. */
struct entries {
	struct array(struct node_entry) list;
	struct names names;
	bool merges; /* some are merge words */
};

static const char merge_plainly[] = "<<", merge_deeply[] = "<<<", no_merge[] = "!nomerge";

static bool is_merge_word(const struct node_entry *entry)
{
	return entry->key == merge_plainly || entry->key == merge_deeply;
}

/* Timeloop's YAML library keeps both entries and finds the first one. */
static bool takes_the_first(const struct builder *b)
{
	static const char *const keys[] = {"arch", "architecture", "architecture_constraints",
		"ART", "components", "compound_components", "ERT", "mapper", "mapping", "mapspace",
		"mapspace_constraints", "problem", "sparse_optimizations", NULL};
	for (int i = 0; b->top && keys[i]; i++)
		if (text_equal(keys[i], b->top))
			return true;
	return false;
}

static void add_entry(struct builder *b, struct entries *entries, struct node_entry entry)
{
	int first = names_find(&entries->names, entry.key);
	if (first >= 0 && takes_the_first(b)) {
		if (!b->again_count++)
			b->again = entry;
		return;
	}
	if (first >= 0) {
		COMPLAIN(b, entry.key_span, "key '%s' is given twice", entry.key);
		diag_note(b->diag, entries->list.at[first].key_span, "first given here");
		return;
	}
	names_add(b->scratch, &entries->names, entry.key, (int)entries->list.count);
	*array_add(b->scratch, &entries->list) = entry;
}

static void take_entry(struct builder *b, struct entries *entries, const struct node *key,
	struct span key_span, const char *merge_word, const struct node *value)
{
	struct node_entry entry = {key->text, key_span, value, false};
	if (key->kind != NODE_SCALAR) {
		COMPLAIN(b, key_span, "%s cannot be a key; a key is a word", node_kind_name(key));
	} else if (key->tag) {
		COMPLAIN(b, key_span, "tag '%s' means nothing on a key", key->tag);
	} else if (merge_word) {
		entry.key = merge_word;
		entries->merges = true;
		*array_add(b->scratch, &entries->list) = entry;
	} else if (!*key->text && !key->quoted) {
		COMPLAIN(b, key_span, "a key is expected before ':'");
	} else {
		add_entry(b, entries, entry);
	}
}

static struct span use_of(const struct node *node)
{
	return node->alias.source ? node->alias : node->span;
}

/* Counts what merging copies, so that nobody doubles a file over and over. */
static bool may_merge(struct builder *b, size_t count, struct span used)
{
	b->merged += count;
	if (b->merged > SPEC_NODES_MOST && !b->ended)
		END(b, used, "more than %d entries copied by '<<'", SPEC_NODES_MOST);
	return !b->ended;
}

static bool has_no_merge(const struct node *node)
{
	return node->tag && text_equal(node->tag, no_merge);
}

static struct node *merged_list(const struct builder *b, const struct node *a, const struct node *c)
{
	struct node *list = arena_copy(b->arena, a, sizeof *a);
	const struct node **items = arena_array(b->arena, const struct node *, a->count + c->count);
	for (size_t i = 0; i < a->count + c->count; i++)
		items[i] = i < a->count ? a->items[i] : c->items[i - a->count];
	list->items = items;
	list->count = a->count + c->count;
	list->weight = a->weight + c->weight - 1;
	list->height = a->height > c->height ? a->height : c->height;
	return list;
}

static void index_keys(struct builder *b, struct node *map)
{
	map->index = NULL;
	if (map->count < INDEX_FROM)
		return;
	struct names *index = arena_new(b->arena, struct names);
	for (size_t i = 0; i < map->count; i++)
		names_add(b->arena, index, map->entries[i].key, (int)i);
	map->index = index;
}

/* What both say of one key: `own`, with what `other` adds to its maps and lists. */
static const struct node *merged_deeply(
	struct builder *b, const struct node *own, const struct node *other, struct span used)
{
	if (own->kind != other->kind || own->kind == NODE_SCALAR || has_no_merge(own) ||
		!may_merge(b, own->count + other->count, used))
		return own;
	if (own->kind == NODE_LIST)
		return merged_list(b, own, other);
	struct node *map = arena_copy(b->arena, own, sizeof *own);
	struct node_entry *entries =
		arena_array(b->arena, struct node_entry, own->count + other->count);
	map->weight = 1;
	for (size_t i = 0; i < own->count; i++)
		entries[i] = own->entries[i];
	for (size_t i = 0; i < other->count; i++) {
		int same = node_index(own, other->entries[i].key);
		if (same >= 0) {
			entries[same].value = merged_deeply(
				b, entries[same].value, other->entries[i].value, used);
			continue;
		}
		entries[map->count] = other->entries[i];
		entries[map->count++].merged = true;
	}
	for (size_t i = 0; i < map->count; i++) {
		map->weight += entries[i].value->weight;
		if (map->height < entries[i].value->height + 1)
			map->height = entries[i].value->height + 1;
	}
	map->entries = entries;
	index_keys(b, map);
	return map;
}

/* One map of `<<`: what `out` and the explicit entries lack; with `deeply`, what they share too. */
static void merge_map(struct builder *b, struct entries *out, const struct node *map,
	struct span used, const struct names *explicit, bool deeply)
{
	if (map->kind != NODE_MAP) {
		COMPLAIN(b, used, "'%s' takes a map or a list of maps; this is %s",
			deeply ? merge_deeply : merge_plainly, node_kind_name(map));
		return;
	}
	if (!may_merge(b, map->count, used))
		return;
	for (size_t i = 0; i < map->count && !b->ended; i++) {
		struct node_entry entry = map->entries[i];
		int there = names_find(&out->names, entry.key);
		entry.merged = true;
		if (there >= 0 && deeply)
			out->list.at[there].value =
				merged_deeply(b, out->list.at[there].value, entry.value, used);
		else if (there < 0 && names_find(explicit, entry.key) < 0)
			add_entry(b, out, entry);
	}
}

static void merge_value(struct builder *b, struct entries *out, const struct node_entry *entry,
	const struct names *explicit)
{
	const struct node *value = entry->value;
	bool deeply = entry->key == merge_deeply;
	if (value->kind != NODE_LIST) {
		merge_map(b, out, value, use_of(value), explicit, deeply);
		return;
	}
	for (size_t i = 0; i < value->count && !b->ended; i++)
		merge_map(b, out, value->items[i], use_of(value->items[i]), explicit, deeply);
}

/* Explicit keys win, then earlier merges; keys that `<<` brings stand where it stood. */
static void merge(struct builder *b, struct entries *entries)
{
	struct entries out = {0};
	for (size_t i = 0; i < entries->list.count && !b->ended; i++) {
		const struct node_entry *entry = &entries->list.at[i];
		if (is_merge_word(entry)) {
			if (entry->key == merge_plainly)
				merge_value(b, &out, entry, &entries->names);
			continue;
		}
		names_add(b->scratch, &out.names, entry->key, (int)out.list.count);
		*array_add(b->scratch, &out.list) = *entry;
	}
	for (size_t i = 0; i < entries->list.count && !b->ended; i++)
		if (entries->list.at[i].key == merge_deeply)
			merge_value(b, &out, &entries->list.at[i], &out.names);
	entries->list.at = out.list.at;
	entries->list.count = out.list.count;
}

static void freeze_map(struct builder *b, struct node *map, const struct entries *entries)
{
	map->count = entries->list.count;
	map->entries = arena_copy(b->arena, entries->list.at, map->count * sizeof *map->entries);
	for (size_t i = 0; i < map->count && !b->ended; i++)
		weigh(b, map, map->entries[i].value);
	index_keys(b, map);
}

static const char *merge_word_of(const struct yaml_step *step)
{
	if (step->type != YAML_SCALAR_EVENT || step->quoted)
		return NULL;
	return text_equal(step->text, merge_plainly)  ? merge_plainly
	       : text_equal(step->text, merge_deeply) ? merge_deeply
						      : NULL;
}

static void compose_map(struct builder *b, struct node *map, bool flow)
{
	struct entries entries = {0};
	struct arena_mark mark = arena_mark(b->scratch);
	struct yaml_step step;
	map->kind = NODE_MAP;
	while (next(b, &step) && step.type != YAML_MAPPING_END_EVENT) {
		struct span key_span = step.span;
		const char *merge_word = merge_word_of(&step);
		const struct node *key = compose_node(b, &step);
		if (b->depth == 1)
			b->top = key->text;
		if (b->ended || !next(b, &step))
			return;
		const struct node *value = compose_node(b, &step);
		if (b->ended)
			return;
		take_entry(b, &entries, key, key_span, merge_word, value);
	}
	if (b->ended)
		return;
	close_span(map, &step, flow);
	if (entries.merges)
		merge(b, &entries);
	freeze_map(b, map, &entries);
	arena_release(b->scratch, mark);
}

static void complain_undefined(struct builder *b, const struct yaml_step *step)
{
	const char *near = NULL;
	if (!diag_full(b->diag)) {
		struct arena_mark mark = arena_mark(b->scratch);
		const char **known = arena_array(b->scratch, const char *, b->anchors.count + 1);
		for (size_t i = 0; i < b->anchors.count; i++)
			known[i] = b->anchors.at[i].name;
		near = suggest(step->anchor, known);
		arena_release(b->scratch, mark);
	}
	COMPLAIN(b, step->span,
		near ? "no anchor '&%s' before this alias; did you mean '*%s'?"
		     : "no anchor '&%s' before this alias",
		step->anchor, near);
}

static const struct node *follow(struct builder *b, const struct yaml_step *step)
{
	struct node *copy = arena_new(b->arena, struct node);
	*copy = (struct node){.kind = NODE_MAP, .text = "", .span = step->span, .weight = 1};
	int number = names_find(&b->names, step->anchor);
	if (number < 0) {
		complain_undefined(b, step);
		return copy;
	}
	const struct anchor *anchor = &b->anchors.at[number];
	if (!anchor->node) {
		COMPLAIN(b, step->span, "alias '*%s' stands inside what it names", step->anchor);
		diag_note(b->diag, anchor->span, "'&%s' begins here", step->anchor);
		return copy;
	}
	*copy = *anchor->node;
	copy->alias = step->span;
	return copy;
}

static int open_anchor(struct builder *b, const struct yaml_step *step)
{
	int number = names_find(&b->names, step->anchor);
	if (number < 0) {
		number = (int)b->anchors.count;
		names_add(b->arena, &b->names, step->anchor, number);
		array_add(b->arena, &b->anchors);
	}
	b->anchors.at[number] = (struct anchor){step->anchor, NULL, step->span};
	return number;
}

/* Warns of `PE$x$`, which a script was to fill in; once a file. */
static void check_template(struct builder *b, const struct yaml_step *step)
{
	const char *text = step->text, *at = text ? strchr(text, '$') : NULL;
	for (; at && !b->unfilled; at = strchr(at + 1, '$')) {
		size_t length = strspn(
			at + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
		b->unfilled = length && at[length + 1] == '$';
		if (b->unfilled)
			diag_warning(b->diag, step->span,
				"'%.*s' looks like a template that is not filled in; it is read as "
				"it stands",
				(int)length + 2, at);
	}
}

static const struct node *compose_node(struct builder *b, const struct yaml_step *step)
{
	if (step->type == YAML_ALIAS_EVENT)
		return follow(b, step);
	struct node *node = arena_new(b->arena, struct node);
	check_template(b, step);
	*node = (struct node){.tag = step->tag,
		.text = step->text ? step->text : "",
		.quoted = step->quoted,
		.span = step->span,
		.weight = 1};
	int anchor = step->anchor ? open_anchor(b, step) : -1;
	if (++b->depth > SPEC_DEPTH_MOST)
		END(b, step->span, "nested more than %d deep", SPEC_DEPTH_MOST);
	else if (step->type == YAML_SEQUENCE_START_EVENT)
		compose_list(b, node, step->flow);
	else if (step->type == YAML_MAPPING_START_EVENT)
		compose_map(b, node, step->flow);
	b->depth--;
	if (anchor >= 0 && !b->ended)
		b->anchors.at[anchor].node = node;
	return node;
}

static bool is_nothing(const struct node *node)
{
	return node->kind == NODE_SCALAR && !node->quoted && !node->tag && !*node->text;
}

static const struct node *compose_document(struct builder *b)
{
	struct yaml_step step;
	if (!next(b, &step) || !next(b, &step))
		return NULL;
	const struct node *root = NULL;
	if (step.type == YAML_DOCUMENT_START_EVENT) {
		if (!next(b, &step))
			return NULL;
		root = compose_node(b, &step);
		if (!next(b, &step) || !next(b, &step))
			return NULL;
		if (step.type == YAML_DOCUMENT_START_EVENT)
			COMPLAIN(b, step.span, "a second document; give it as a file of its own");
	}
	if (!root || is_nothing(root))
		COMPLAIN(b, (struct span){.source = b->steps.source}, "is empty");
	return root;
}

const struct node *compose(struct arena *arena, const struct source *source, struct diag *diag)
{
	size_t before = diag_errors(diag);
	struct builder b = {.arena = arena, .scratch = arena_open(), .diag = diag};
	stepper_open(&b.steps, arena, source, diag);
	const struct node *root = compose_document(&b);
	if (b.again_count)
		diag_remark(diag, b.again.key_span,
			b.again_count > 1 ? "key '%s' is given twice, and so are %zu more; the "
					    "first counts, as in Timeloop"
					  : "key '%s' is given twice; the first counts, as in "
					    "Timeloop",
			b.again.key, b.again_count - 1);
	stepper_close(&b.steps);
	arena_close(b.scratch);
	return diag_errors(diag) == before ? root : NULL;
}
