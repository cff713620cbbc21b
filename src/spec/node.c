#include "spec/node.h"

#include "base/arena.h"
#include "base/names.h"
#include "base/text.h"
#include "spec/cfg.h"
#include "spec/compose.h"
#include "spec/file.h"
#include "spec/loop_nest.h"

#include <string.h>

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
				    : compose(arena, source, diag);
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

/* Where the text's line that holds byte `from` begins in the source.  A text of
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
