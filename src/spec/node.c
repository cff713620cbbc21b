#include "spec/node.h"

#include "base/array.h"
#include "base/fatal.h"
#include "base/names.h"
#include "base/text.h"
#include "base/utf8.h"
#include "spec/file.h"
#include "spec/problem.h"

#include <yaml.h>

enum { INDEX_FROM = 12 }; /* maps of so many keys are found by hashing */

struct anchor {
	const char *name;
	const struct node *node; /* NULL while its node is being read */
	struct span span;
};

struct builder {
	yaml_parser_t parser;
	const struct source *source;
	struct arena *arena;
	struct diag *diag;
	bool broken; /* complained: there will be no tree */
	bool ended;  /* of that kind after which reading on makes no sense */
	int depth;
	size_t merged; /* entries copied by `<<` so far */
	struct names names;
	struct array(struct anchor) anchors; /* by the number of the name */
};

/* An event of libyaml in our own memory. */
struct step {
	yaml_event_type_t type;
	const char *anchor, *tag, *text;
	bool quoted, flow;
	struct span span;
};

/* Complaints after which reading goes on, and after which it does not. */
#define REFUSE(b, at, ...) (diag_error((b)->diag, (at), __VA_ARGS__), (b)->broken = true)
#define END(b, at, ...) (REFUSE(b, at, __VA_ARGS__), (b)->ended = true)

static struct span span_of(const struct source *source, yaml_mark_t from, yaml_mark_t to)
{
	return (struct span){source, (int)from.line + 1, (int)from.column + 1, (int)to.line + 1,
		(int)to.column + 1};
}

static const char *copied(struct arena *arena, const yaml_char_t *text)
{
	return text ? arena_text(arena, (const char *)text) : NULL;
}

/* Tags that only say what we read anyway are dropped; a text stays a text. */
static void simplify_tag(struct step *step)
{
	static const char standard[] = "tag:yaml.org,2002:";
	if (!step->tag)
		return;
	bool ours = strncmp(step->tag, standard, sizeof standard - 1) != 0;
	const char *name = ours ? step->tag : step->tag + sizeof standard - 1;
	static const char *const dropped[] = {"int", "float", "bool", "null", "seq", "map"};
	if (text_equal(name, ours ? "!" : "str")) {
		step->quoted = true;
		step->tag = NULL;
		return;
	}
	for (size_t i = 0; !ours && i < sizeof dropped / sizeof *dropped; i++)
		if (text_equal(name, dropped[i]))
			step->tag = NULL;
}

static void take_scalar(struct builder *b, const yaml_event_t *event, struct step *step)
{
	const char *value = (const char *)event->data.scalar.value;
	size_t length = event->data.scalar.length;
	step->anchor = copied(b->arena, event->data.scalar.anchor);
	step->tag = copied(b->arena, event->data.scalar.tag);
	step->text = arena_text(b->arena, value);
	step->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
	if (strlen(step->text) != length)
		REFUSE(b, step->span, "a text with a NUL character");
	bool decorated = step->anchor || step->tag;
	if (decorated && !step->quoted && length && step->span.line == step->span.end_line)
		step->span.column = step->span.end_column - (int)utf8_count(value, length);
}

static bool next(struct builder *b, struct step *step)
{
	yaml_event_t event;
	*step = (struct step){0};
	if (!yaml_parser_parse(&b->parser, &event)) {
		problem_report(&b->parser, b->source, b->diag);
		b->broken = b->ended = true;
		return false;
	}
	step->type = event.type;
	step->span = span_of(b->source, event.start_mark, event.end_mark);
	if (event.type == YAML_SCALAR_EVENT) {
		take_scalar(b, &event, step);
	} else if (event.type == YAML_ALIAS_EVENT) {
		step->anchor = copied(b->arena, event.data.alias.anchor);
	} else if (event.type == YAML_SEQUENCE_START_EVENT) {
		step->anchor = copied(b->arena, event.data.sequence_start.anchor);
		step->tag = copied(b->arena, event.data.sequence_start.tag);
		step->flow = event.data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE;
	} else if (event.type == YAML_MAPPING_START_EVENT) {
		step->anchor = copied(b->arena, event.data.mapping_start.anchor);
		step->tag = copied(b->arena, event.data.mapping_start.tag);
		step->flow = event.data.mapping_start.style == YAML_FLOW_MAPPING_STYLE;
	}
	yaml_event_delete(&event);
	simplify_tag(step);
	return !b->ended;
}

static const struct node *compose(struct builder *b, const struct step *step);

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
	else if (b->depth + child->height > SPEC_DEPTH_MOST)
		END(b, at, "nested more than %d deep once aliases are followed", SPEC_DEPTH_MOST);
}

static void close_span(struct node *node, const struct step *end, bool flow)
{
	if (!flow)
		return;
	node->span.end_line = end->span.end_line;
	node->span.end_column = end->span.end_column;
}

static void compose_list(struct builder *b, struct node *list, bool flow)
{
	struct array(const struct node *) items = {0};
	struct step step;
	list->kind = NODE_LIST;
	while (next(b, &step) && step.type != YAML_SEQUENCE_END_EVENT) {
		const struct node *item = compose(b, &step);
		if (b->ended)
			return;
		weigh(b, list, item);
		*array_add(b->arena, &items) = item;
	}
	close_span(list, &step, flow);
	list->items = items.at;
	list->count = items.count;
}

/* A map under construction. */
struct entries {
	struct array(struct node_entry) list;
	struct names names;
	bool merges; /* some are `<<`, with a NULL key */
};

static void add_entry(struct builder *b, struct entries *entries, struct node_entry entry)
{
	int first = names_find(&entries->names, entry.key);
	if (first >= 0) {
		REFUSE(b, entry.key_span, "key '%s' is given twice", entry.key);
		diag_note(b->diag, entries->list.at[first].key_span, "first given here");
		return;
	}
	names_add(b->arena, &entries->names, entry.key, (int)entries->list.count);
	*array_add(b->arena, &entries->list) = entry;
}

static void take_entry(struct builder *b, struct entries *entries, const struct node *key,
	struct span key_span, bool merge_word, const struct node *value)
{
	struct node_entry entry = {key->text, key_span, value};
	if (key->kind != NODE_SCALAR) {
		REFUSE(b, key_span, "%s cannot be a key; a key is a word", node_kind_name(key));
	} else if (merge_word) {
		entry.key = NULL;
		entries->merges = true;
		*array_add(b->arena, &entries->list) = entry;
	} else if (!*key->text && !key->quoted) {
		REFUSE(b, key_span, "a key is expected before ':'");
	} else {
		add_entry(b, entries, entry);
	}
}

static void merge_map(struct builder *b, struct entries *out, const struct node *map,
	struct span used, const struct names *explicit)
{
	if (map->kind != NODE_MAP) {
		REFUSE(b, used, "'<<' takes a map or a list of maps; this is %s",
			node_kind_name(map));
		return;
	}
	b->merged += map->count;
	if (b->merged > SPEC_NODES_MOST && !b->ended)
		END(b, used, "more than %d entries copied by '<<'", SPEC_NODES_MOST);
	for (size_t i = 0; i < map->count && !b->ended; i++) {
		const char *key = map->entries[i].key;
		if (names_find(explicit, key) < 0 && names_find(&out->names, key) < 0)
			add_entry(b, out, map->entries[i]);
	}
}

static struct span use_of(const struct node *node)
{
	return node->alias.source ? node->alias : node->span;
}

/* Explicit keys win, then earlier merges; merged keys stand where `<<` stood. */
static void merge(struct builder *b, struct entries *entries)
{
	struct entries out = {0};
	for (size_t i = 0; i < entries->list.count && !b->ended; i++) {
		const struct node_entry *entry = &entries->list.at[i];
		if (entry->key) {
			*array_add(b->arena, &out.list) = *entry;
			continue;
		}
		const struct node *value = entry->value;
		if (value->kind != NODE_LIST) {
			merge_map(b, &out, value, use_of(value), &entries->names);
			continue;
		}
		for (size_t j = 0; j < value->count && !b->ended; j++)
			merge_map(
				b, &out, value->items[j], use_of(value->items[j]), &entries->names);
	}
	entries->list.at = out.list.at;
	entries->list.count = out.list.count;
}

static void freeze_map(struct builder *b, struct node *map, const struct entries *entries)
{
	map->entries = entries->list.at;
	map->count = entries->list.count;
	for (size_t i = 0; i < map->count && !b->ended; i++)
		weigh(b, map, map->entries[i].value);
	if (map->count < INDEX_FROM)
		return;
	struct names *index = arena_new(b->arena, struct names);
	for (size_t i = 0; i < map->count; i++)
		names_add(b->arena, index, map->entries[i].key, (int)i);
	map->index = index;
}

static void compose_map(struct builder *b, struct node *map, bool flow)
{
	struct entries entries = {0};
	struct step step;
	map->kind = NODE_MAP;
	while (next(b, &step) && step.type != YAML_MAPPING_END_EVENT) {
		struct span key_span = step.span;
		bool merge_word = step.type == YAML_SCALAR_EVENT && !step.quoted &&
				  text_equal(step.text, "<<");
		const struct node *key = compose(b, &step);
		if (b->ended || !next(b, &step))
			return;
		const struct node *value = compose(b, &step);
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
}

static const struct node *follow(struct builder *b, const struct step *step)
{
	struct node *copy = arena_new(b->arena, struct node);
	*copy = (struct node){.text = "", .span = step->span, .weight = 1};
	int number = names_find(&b->names, step->anchor);
	if (number < 0) {
		const char **known = arena_array(b->arena, const char *, b->anchors.count + 1);
		for (size_t i = 0; i < b->anchors.count; i++)
			known[i] = b->anchors.at[i].name;
		const char *near = suggest(step->anchor, known);
		REFUSE(b, step->span,
			near ? "no anchor '&%s' before this alias; did you mean '*%s'?"
			     : "no anchor '&%s' before this alias",
			step->anchor, near);
		return copy;
	}
	const struct anchor *anchor = &b->anchors.at[number];
	if (!anchor->node) {
		REFUSE(b, step->span, "alias '*%s' stands inside what it names", step->anchor);
		diag_note(b->diag, anchor->span, "'&%s' begins here", step->anchor);
		return copy;
	}
	*copy = *anchor->node;
	copy->alias = step->span;
	return copy;
}

static int open_anchor(struct builder *b, const struct step *step)
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

static const struct node *compose(struct builder *b, const struct step *step)
{
	if (step->type == YAML_ALIAS_EVENT)
		return follow(b, step);
	struct node *node = arena_new(b->arena, struct node);
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

static const struct node *compose_document(struct builder *b)
{
	struct step step;
	if (!next(b, &step) || !next(b, &step))
		return NULL;
	if (step.type == YAML_STREAM_END_EVENT || !next(b, &step)) {
		if (!b->ended)
			END(b, (struct span){.source = b->source}, "is empty");
		return NULL;
	}
	const struct node *root = compose(b, &step);
	if (b->ended || !next(b, &step) || !next(b, &step))
		return NULL;
	if (step.type == YAML_DOCUMENT_START_EVENT)
		REFUSE(b, step.span, "a second document; give it as a file of its own");
	return b->broken ? NULL : root;
}

static const struct node *read_source(
	struct arena *arena, const struct source *source, struct diag *diag)
{
	if (!file_check(source, diag))
		return NULL;
	struct builder b = {.source = source, .arena = arena, .diag = diag};
	if (!yaml_parser_initialize(&b.parser))
		fatal("out of memory in the YAML parser");
	yaml_parser_set_encoding(&b.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(
		&b.parser, (const unsigned char *)source->bytes, source->length);
	const struct node *root = compose_document(&b);
	yaml_parser_delete(&b.parser);
	return root;
}

const struct node *node_read_file(struct arena *arena, const char *path, struct diag *diag)
{
	const struct source *source = file_read(arena, path, diag);
	return source ? read_source(arena, source, diag) : NULL;
}

const struct node *node_read_text(
	struct arena *arena, const char *name, const char *text, size_t length, struct diag *diag)
{
	const struct source *source = file_of_text(arena, name, text, length, diag);
	return source ? read_source(arena, source, diag) : NULL;
}

int node_index(const struct node *map, const char *key)
{
	if (!map || map->kind != NODE_MAP)
		return -1;
	if (map->index)
		return names_find(map->index, key);
	for (size_t i = 0; i < map->count; i++)
		if (text_equal(map->entries[i].key, key))
			return (int)i;
	return -1;
}

const struct node *node_find(const struct node *map, const char *key)
{
	int i = node_index(map, key);
	return i < 0 ? NULL : map->entries[i].value;
}

const char *node_kind_name(const struct node *node)
{
	static const char *const names[] = {"a word", "a list", "a map"};
	return names[node->kind];
}

/* The line of the text that holds the bytes, and the line it is in. */
struct span node_part(const struct node *scalar, size_t from, size_t to)
{
	const struct source *source = scalar->span.source;
	if (scalar->kind != NODE_SCALAR || !source || !scalar->span.line)
		return scalar->span;
	const char *text = scalar->text;
	size_t begin = from, lines = 0;
	while (begin > 0 && text[begin - 1] != '\n')
		begin--;
	for (size_t i = 0; i < begin; i++)
		lines += text[i] == '\n';
	size_t length = strcspn(text + begin, "\n");
	size_t at = source_offset(source, scalar->span.line, scalar->span.column);
	size_t end = source_offset(source, scalar->span.end_line, scalar->span.end_column);
	for (bool header = lines > 0 || end > source->length; header && lines > 0; lines--)
		while (at < end && source->bytes[at++] != '\n')
			;
	const char *found = memmem(source->bytes + at, end - at, text + begin, length);
	if (!found || to < from || to > begin + length)
		return scalar->span;
	size_t start = (size_t)(found - source->bytes) - begin;
	return source_span(source, start + from, start + to);
}
