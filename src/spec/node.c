#include "spec/node.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/fatal.h"
#include "base/text.h"
#include "spec/file.h"
#include "spec/foreign.h"

#include <string.h>
#include <strings.h>
#include <yaml.h>

const struct node *node_scalar(struct arena *arena, const char *text, struct span span)
{
	struct node *node = arena_new(arena, struct node);
	*node = (struct node){.kind = NODE_SCALAR, .text = text, .span = span};
	return node;
}

bool node_is_empty(const struct node *node)
{
	return !node || (node->kind == NODE_MAP && !node->count) ||
	       (node->kind == NODE_SCALAR && !node->quoted &&
		       (!*node->text || text_equal(node->text, "~") ||
			       text_equal(node->text, "null")));
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

const struct node *node_item(const struct node *node, size_t i)
{
	return node->kind == NODE_LIST ? node->items[i] : node;
}

const char *node_kind_name(const struct node *node)
{
	static const char *const names[] = {"a word", "a list", "a map"};
	return node->kind == NODE_SCALAR && !*node->text ? "empty" : names[node->kind];
}

/* Returns the beginning, in the source, of the text's line that holds byte `from`.  A text of
 * several lines is a block, whose lines follow its header; what escapes or
 * folding changed is not found. */
static const char *find_line(
	const struct node *scalar, const char *line, size_t length, size_t lines_before)
{
	const struct source *source = scalar->span.source;
	size_t at = source_offset(source, scalar->span.line, scalar->span.column);
	size_t end = source_offset(source, scalar->span.end_line, scalar->span.end_column);
	size_t skip = strchr(scalar->text, '\n') ? lines_before + 1 : 0;
	while (skip > 0 && at < end)
		skip -= source->bytes[at++] == '\n';
	return memmem(source->bytes + at, end - at, line, length);
}

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
	const char *found = find_line(scalar, text + begin, length, lines);
	if (!found || to < from || to > begin + length)
		return scalar->span;
	size_t start = (size_t)(found - source->bytes);
	return source_span(source, start + from - begin, start + to - begin);
}

/* Letters, digits, '_', '.', '-' and '/' in words that begin with a letter or '_'. */
static bool is_plain(const char *word)
{
	static const char *const reserved[] = {"null", "true", "false", "yes", "no", "on", "off"};
	static const char first[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_/.-0123456789";
	if (!*word || strspn(word, first) != strlen(word) || strspn(word, "/.-0123456789") > 0)
		return false;
	for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++) {
		if (strcasecmp(word, reserved[i]) == 0)
			return false;
	}
	return true;
}

void quote_yaml(struct text *text, const char *word)
{
	if (is_plain(word)) {
		text_add(text, "%s", word);
		return;
	}
	const char *at = word;
	text_add(text, "\"");
	while (*at) {
		unsigned number;
		size_t length = utf8_special(at, &number);
		if (length)
			text_add(text, "\\u%04x", number);
		else if (*at == '"' || *at == '\\')
			text_add(text, "\\%c", *at);
		else
			text_bytes(text, at, 1);
		at += length ? length : 1;
	}
	text_add(text, "\"");
}

/*
 * Events of libyaml, one after the other, as steps in memory of an arena.  Tags of the default types (`!!int`, `!!map`)
 * are dropped; `!!str` and `!` make a scalar count as quoted.
 */
struct yaml_step {
	yaml_event_type_t type;
	const char *anchor, *tag; /* NULL when none is written */
	const char *text;         /* of a scalar */
	bool quoted, flow;
	struct span span;
};

struct stepper {
	yaml_parser_t parser;
	const struct source *source;
	struct span end; /* of the text: libyaml's marks may lie behind it */
	struct arena *arena;
	struct diag *diag;
};

static void stepper_open(
	struct stepper *s, struct arena *arena, const struct source *source, struct diag *diag)
{
	s->source = source;
	s->end = source_span(source, source->length, source->length);
	s->arena = arena;
	s->diag = diag;
	if (!yaml_parser_initialize(&s->parser))
		fatal("out of memory in the YAML parser");
	yaml_parser_set_encoding(&s->parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(
		&s->parser, (const unsigned char *)source->bytes, source->length);
}

static void stepper_close(struct stepper *s)
{
	yaml_parser_delete(&s->parser);
}

static void stepper_position(const struct stepper *s, yaml_mark_t mark, int *line, int *column)
{
	bool behind = mark.line >= (size_t)s->end.line;
	*line = behind ? s->end.line : (int)mark.line + 1;
	*column = behind ? s->end.column : (int)mark.column + 1;
}

static struct span stepper_span(const struct stepper *s, yaml_mark_t from, yaml_mark_t to)
{
	struct span span = {.source = s->source};
	stepper_position(s, from, &span.line, &span.column);
	stepper_position(s, to, &span.end_line, &span.end_column);
	return span;
}

static struct span span_at(const struct stepper *stepper, yaml_mark_t mark)
{
	struct span at = stepper_span(stepper, mark, mark);
	at.end_column++;
	return at;
}

/* A problem and a context as libyaml words them, our error, and our note about the context. */
struct wording {
	const char *problem, *context;
	const char *error, *note;
	bool at_context; /* the beginning is the better place for the error */
};

static const struct wording wordings[] = {
	{"found unexpected end of stream", "quoted scalar",
		"the quotes that open here are never closed", NULL, true},
	{"found unexpected document indicator", "quoted scalar",
		"the quotes that open here are not closed before the document ends", NULL, true},
	{"found unknown escape character", "quoted scalar",
		"this '\\' begins no escape; write '\\\\' or use single quotes", NULL, false},
	{"did not find expected hexdecimal number", "quoted scalar",
		"an escape needs hexadecimal digits: \\xNN, \\uNNNN", NULL, false},
	{"did not find expected key", "block mapping",
		"a key is expected here; the indentation differs from the map's",
		"the map begins here", false},
	{"did not find expected '-' indicator", "block collection",
		"'-' is expected here; the indentation differs from the list's",
		"the list begins here", false},
	{"did not find expected ',' or '}'", "flow mapping", "',' or '}' is expected here",
		"for the '{' that opens here", false},
	{"did not find expected ',' or ']'", "flow sequence", "',' or ']' is expected here",
		"for the '[' that opens here", false},
	{"could not find expected ':'", "simple key", "this line has no ':' that ends its key",
		NULL, true},
	{"mapping values are not allowed in this context", "",
		"a second ': ' cannot stand here; check the indentation, or quote the text", NULL,
		false},
	{"block sequence entries are not allowed in this context", "",
		"'- ' cannot stand here; begin the list on a line of its own", NULL, false},
	{"mapping keys are not allowed in this context", "", "a key cannot stand here", NULL,
		false},
	{"did not find expected <document start>", "",
		"this cannot follow what stands before it; check the indentation", NULL, false},
	{"did not find expected node content", "", "a value is expected here", NULL, false},
	{"did not find expected alphabetic or numeric character", "anchor",
		"'&' needs the name of an anchor", NULL, true},
	{"did not find expected alphabetic or numeric character", "alias",
		"'*' at the beginning names an anchor; quote the text if it is none", NULL, true},
	{"found a tab character that violates indentation", "",
		"a tab in the indentation; YAML indents with spaces", NULL, false},
	{"found a tab character where an indentation space is expected", "",
		"a tab in the indentation; YAML indents with spaces", NULL, false},
	{"found undefined tag handle", "", "this tag has an undefined handle", NULL, false},
	{"found duplicate %YAML directive", "", "a second %YAML directive", NULL, false},
	{"found incompatible YAML document", "", "only YAML 1.1 and 1.2 are read", NULL, false},
};

static bool text_has_part(const char *text, const char *part)
{
	return strstr(text ? text : "", part) != NULL;
}

static char character_at(const struct source *source, struct span at)
{
	size_t offset = source_offset(source, at.line, at.column);
	return offset < source->length ? source->bytes[offset] : ' ';
}

/* Reports errors that the character at the place explains better than the parser's message. */
static bool report_character(
	const struct source *source, struct span at, const char *problem, struct diag *diag)
{
	char c = character_at(source, at);
	bool no_token = text_has_part(problem, "found character that cannot start any token");
	if (no_token && c == '\t')
		diag_error(diag, at, "a tab in the indentation; YAML indents with spaces");
	else if (no_token)
		diag_error(diag, at, "'%c' cannot begin a value; put the text in quotes", c);
	else if ((c == '[' || c == '{') && text_has_part(problem, "did not find expected ',' or"))
		diag_error(diag, at, "'%c' cannot stand in a text inside [ ] or { }; quote it", c);
	else if (c == ':' &&
		 (text_has_part(problem, "expected key") || text_has_part(problem, "node content")))
		diag_error(diag, at, "a key is expected before ':'");
	else
		return false;
	return true;
}

/* Complains about what stopped the YAML parser, in words for its users. */
static void report_problem(const struct stepper *stepper)
{
	const yaml_parser_t *parser = &stepper->parser;
	struct diag *diag = stepper->diag;
	if (parser->error == YAML_MEMORY_ERROR)
		fatal("out of memory in the YAML parser");
	const char *problem = parser->problem ? parser->problem : "not YAML";
	struct span at = span_at(stepper, parser->problem_mark);
	struct span from = span_at(stepper, parser->context_mark);
	if (report_character(stepper->source, at, problem, diag))
		return;
	for (size_t i = 0; i < sizeof wordings / sizeof *wordings; i++) {
		const struct wording *w = &wordings[i];
		if (!text_has_part(problem, w->problem) ||
			!text_has_part(parser->context, w->context))
			continue;
		diag_error(diag, w->at_context ? from : at, "%s", w->error);
		if (w->note)
			diag_note(diag, from, "%s", w->note);
		return;
	}
	diag_error(diag, at, "%s%s%s", parser->context ? parser->context : "",
		parser->context ? ": " : "", problem);
}

static const char *node_copied(struct arena *arena, const yaml_char_t *text)
{
	return text ? arena_text(arena, (const char *)text) : NULL;
}

static void simplify_tag(struct yaml_step *step)
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

/* An anchor or tag stands before the text of a scalar; its span is that of the text. */
static void take_scalar(struct stepper *s, const yaml_event_t *event, struct yaml_step *step)
{
	const char *value = (const char *)event->data.scalar.value;
	size_t length = event->data.scalar.length;
	step->anchor = node_copied(s->arena, event->data.scalar.anchor);
	step->tag = node_copied(s->arena, event->data.scalar.tag);
	step->text = arena_text(s->arena, value);
	step->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
	if (strlen(step->text) != length)
		diag_error(s->diag, step->span, "a text with a NUL character");
	bool decorated = step->anchor || step->tag;
	if (decorated && !step->quoted && length && step->span.line == step->span.end_line)
		step->span.column = step->span.end_column - (int)utf8_count(value, length);
}

/* Reads the next step; false at the end and after complaining about text that is not YAML. */
static bool stepper_next(struct stepper *s, struct yaml_step *step)
{
	yaml_event_t event;
	*step = (struct yaml_step){0};
	if (!yaml_parser_parse(&s->parser, &event)) {
		report_problem(s);
		return false;
	}
	step->type = event.type;
	step->span = stepper_span(s, event.start_mark, event.end_mark);
	if (event.type == YAML_SCALAR_EVENT) {
		take_scalar(s, &event, step);
	} else if (event.type == YAML_ALIAS_EVENT) {
		step->anchor = node_copied(s->arena, event.data.alias.anchor);
	} else if (event.type == YAML_SEQUENCE_START_EVENT) {
		step->anchor = node_copied(s->arena, event.data.sequence_start.anchor);
		step->tag = node_copied(s->arena, event.data.sequence_start.tag);
		step->flow = event.data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE;
	} else if (event.type == YAML_MAPPING_START_EVENT) {
		step->anchor = node_copied(s->arena, event.data.mapping_start.anchor);
		step->tag = node_copied(s->arena, event.data.mapping_start.tag);
		step->flow = event.data.mapping_start.style == YAML_FLOW_MAPPING_STYLE;
	}
	yaml_event_delete(&event);
	simplify_tag(step);
	return true;
}

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
	bool ended; /* after an error that cannot be recovered from */
	int depth;
	size_t merged;           /* entries copied by `<<` so far */
	const char *top;         /* the top-level key that is read */
	struct node_entry again; /* the first repeated key that is ignored */
	size_t again_count;      /* number of ignored keys */
	bool unfilled;           /* warned of a template */
	struct names names;
	struct array(struct anchor) anchors; /* by the number of the name */
};

#define COMPLAIN(b, ...) diag_error((b)->diag, __VA_ARGS__)
#define END(b, ...) (COMPLAIN(b, __VA_ARGS__), (b)->ended = true)

static bool builder_next(struct builder *b, struct yaml_step *step)
{
	if (!b->ended && !stepper_next(&b->steps, step))
		b->ended = true;
	return !b->ended;
}

static const struct node *compose_node(struct builder *b, const struct yaml_step *step);

/* Adds what a child brings to the size of its parent; refuses what explodes. */
static void node_weigh(struct builder *b, struct node *parent, const struct node *child)
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
	while (builder_next(b, &step) && step.type != YAML_SEQUENCE_END_EVENT) {
		const struct node *item = compose_node(b, &step);
		if (b->ended)
			return;
		node_weigh(b, list, item);
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
		COMPLAIN(b, key_span, "tag '%s' has no meaning on a key", key->tag);
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

/* Counts what merging copies, so that repeated doubling fails early. */
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

/* Returns the merged value of one key: `own`, with the entries that `other` adds to its maps and lists. */
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
static void builder_merge(struct builder *b, struct entries *entries)
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
		node_weigh(b, map, map->entries[i].value);
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
	while (builder_next(b, &step) && step.type != YAML_MAPPING_END_EVENT) {
		struct span key_span = step.span;
		const char *merge_word = merge_word_of(&step);
		const struct node *key = compose_node(b, &step);
		if (b->depth == 1)
			b->top = key->text;
		if (b->ended || !builder_next(b, &step))
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
		builder_merge(b, &entries);
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

static const struct node *builder_follow(struct builder *b, const struct yaml_step *step)
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
				"'%.*s' looks like a template that is not filled in; it is read as plain text",
				(int)length + 2, at);
	}
}

static const struct node *compose_node(struct builder *b, const struct yaml_step *step)
{
	if (step->type == YAML_ALIAS_EVENT)
		return builder_follow(b, step);
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
	if (!builder_next(b, &step) || !builder_next(b, &step))
		return NULL;
	const struct node *root = NULL;
	if (step.type == YAML_DOCUMENT_START_EVENT) {
		if (!builder_next(b, &step))
			return NULL;
		root = compose_node(b, &step);
		if (!builder_next(b, &step) || !builder_next(b, &step))
			return NULL;
		if (step.type == YAML_DOCUMENT_START_EVENT)
			COMPLAIN(b, step.span, "a second document; give it as a file of its own");
	}
	if (!root || is_nothing(root))
		COMPLAIN(b, (struct span){.source = b->steps.source}, "is empty");
	return root;
}

/* The tree of a YAML text, aliases and `<<` resolved; NULL after complaining. */
static const struct node *node_compose(
	struct arena *arena, const struct source *source, struct diag *diag)
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

const struct node *node_read_source(
	struct arena *arena, const struct source *source, struct diag *diag)
{
	if (cfg_is(source))
		return file_check_characters(source, diag) ? cfg_compose(arena, source, diag)
							   : NULL;
	if (!file_check(source, diag))
		return NULL;
	if (file_says_nothing(source)) {
		struct node *map = arena_new(arena, struct node);
		diag_warning(diag, (struct span){.source = source},
			source->length ? "is empty but for comments and blank lines" : "is empty");
		*map = (struct node){.kind = NODE_MAP,
			.text = "",
			.span = source_span(source, 0, 0),
			.weight = 1};
		return map;
	}
	return loop_nest_is(source) ? loop_nest_read(arena, source, diag)
				    : node_compose(arena, source, diag);
}

const struct node *node_read_file_within(
	struct arena *arena, const char *path, const char *const *folders, struct diag *diag)
{
	const struct source *source = file_read(arena, path, diag);
	source = source ? file_include(arena, source, folders, diag) : NULL;
	return source ? node_read_source(arena, source, diag) : NULL;
}

const struct node *node_read_file(struct arena *arena, const char *path, struct diag *diag)
{
	return node_read_file_within(arena, path, NULL, diag);
}

const struct node *node_read_text(
	struct arena *arena, const char *name, const char *text, size_t length, struct diag *diag)
{
	const struct source *source = file_of_text(arena, name, text, length, diag);
	return source ? node_read_source(arena, source, diag) : NULL;
}
