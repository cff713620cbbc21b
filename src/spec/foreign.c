#include "spec/foreign.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"

#include <ctype.h>
#include <libconfig.h>
#include <stdlib.h>
#include <string.h>

/* libconfig takes more digits for another number, and brackets may stand in strings. */
enum { DIGITS_MOST = 18, DEPTH_MOST = 4 * SPEC_DEPTH_MOST };

#ifdef __SANITIZE_ADDRESS__
/* libconfig 1.5 loses the string that it was in when it finds an error; its leaks are not ours. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libconfig\n";
}

const char *__lsan_default_options(void);
const char *__lsan_default_options(void)
{
	return "print_suppressions=0";
}
#endif

struct cfg_builder {
	struct arena *arena;
	const struct source *source;
	struct diag *diag;
	const char *text; /* the source with a NUL behind it */
	size_t at;        /* everything before it has been composed */
	int depth;
	bool ended; /* complained of something after which going on makes no sense */
};

static bool foreign_is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '*';
}

/* Behind blanks and comments. */
static size_t foreign_skip(const char *text, size_t length, size_t at)
{
	while (at < length) {
		const char *end = NULL;
		size_t left = length - at;
		if (isspace((unsigned char)text[at])) {
			at++;
			continue;
		}
		if (text[at] == '#' || (left > 1 && memcmp(text + at, "//", 2) == 0))
			end = memchr(text + at, '\n', left);
		else if (left > 1 && memcmp(text + at, "/*", 2) == 0)
			end = memmem(text + at + 2, left - 2, "*/", 2);
		else
			return at;
		at = end ? (size_t)(end - text) + 1 + (*end == '*') : length;
	}
	return at;
}

/* `a = ` and `a: { b = ` are not YAML. */
static bool begins_with_setting(const struct source *source)
{
	const char *text = source->bytes;
	size_t length = source->length, at = foreign_skip(text, length, 0);
	for (;;) {
		size_t from = at;
		while (at < length && foreign_is_name(text[at]))
			at++;
		bool named = at > from && isalpha((unsigned char)text[from]);
		at = foreign_skip(text, length, at);
		if (!named || at >= length)
			return false;
		if (text[at] == '=')
			return true;
		if (text[at] != ':')
			return false;
		at = foreign_skip(text, length, at + 1);
		while (at < length && (text[at] == '(' || text[at] == '{'))
			at = foreign_skip(text, length, at + 1);
	}
}

bool cfg_is(const struct source *source)
{
	const char *end = strrchr(source->name, '.');
	return (end && text_equal(end, ".cfg")) || begins_with_setting(source);
}

static struct node *add_node(struct cfg_builder *b, enum node_kind kind, size_t from, size_t to)
{
	struct node *node = arena_new(b->arena, struct node);
	*node = (struct node){
		.kind = kind, .text = "", .span = source_span(b->source, from, to), .weight = 1};
	return node;
}

/* Returns the span of the next setting's name, and advances behind its ':' or '='. */
static struct span find_name(struct cfg_builder *b, const config_setting_t *setting)
{
	const char *name = config_setting_name(setting);
	size_t size = strlen(name);
	int line = (int)config_setting_source_line(setting);
	size_t from = source_offset(b->source, line, 1);
	for (size_t at = from > b->at ? from : b->at; at + size < b->source->length; at++) {
		if (strncmp(b->text + at, name, size) != 0 ||
			(at && foreign_is_name(b->text[at - 1])))
			continue;
		size_t behind = foreign_skip(b->text, b->source->length, at + size);
		if (b->text[behind] != '=' && b->text[behind] != ':')
			continue;
		b->at = behind + 1;
		return source_span(b->source, at, at + size);
	}
	return (struct span){b->source, line, 1, line, 1};
}

/* True if a text is the number that libconfig read. */
static bool foreign_is_number(const config_setting_t *setting, const char *text)
{
	char *end;
	if (config_setting_type(setting) == CONFIG_TYPE_FLOAT)
		return strtod(text, &end) == config_setting_get_float(setting) && !*end;
	bool based = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	return strtoll(text, &end, based ? 16 : 10) == config_setting_get_int64(setting) && !*end &&
	       (based || text[0] != '0' || !text[1]);
}

/* A number as it is written, for a double has fewer digits; else as libconfig has it. */
static const char *number_text(struct cfg_builder *b, const config_setting_t *setting, size_t from)
{
	const char *text = b->text + from;
	size_t length = strspn(text, "+-.0123456789abcdefxABCDEFX");
	const char *written = arena_format(b->arena, "%.*s", (int)length, text);
	b->at = from + length + strspn(text + length, "L");
	if (foreign_is_number(setting, written))
		return written;
	if (config_setting_type(setting) == CONFIG_TYPE_FLOAT)
		return arena_format(b->arena, "%.17g", config_setting_get_float(setting));
	return arena_format(b->arena, "%lld", config_setting_get_int64(setting));
}

static const struct node *compose_scalar(struct cfg_builder *b, const config_setting_t *setting)
{
	size_t from = foreign_skip(b->text, b->source->length, b->at);
	struct node *node = add_node(b, NODE_SCALAR, from, from + 1);
	const char *text = "";
	switch (config_setting_type(setting)) {
	case CONFIG_TYPE_INT:
	case CONFIG_TYPE_INT64:
	case CONFIG_TYPE_FLOAT:
		text = number_text(b, setting, from);
		break;
	case CONFIG_TYPE_BOOL:
		text = config_setting_get_bool(setting) ? "true" : "false";
		b->at = from + strlen(text);
		break;
	default:
		text = config_setting_get_string(setting);
		text = arena_text(b->arena, text ? text : "");
		node->quoted = true;
		b->at = from + 1 + strlen(text);
		if (b->at < b->source->length && b->text[b->at] == '"')
			b->at++;
	}
	if (b->at > b->source->length)
		b->at = b->source->length;
	node->text = text;
	node->span = source_span(b->source, from, b->at > from ? b->at : from);
	return node;
}

static const struct node *compose_setting(struct cfg_builder *b, const config_setting_t *setting);

static void cfg_weigh(struct node *parent, const struct node *child)
{
	parent->weight += child->weight;
	if (parent->height < child->height + 1)
		parent->height = child->height + 1;
}

static const struct node *compose_group(struct cfg_builder *b, const config_setting_t *setting)
{
	size_t from = foreign_skip(b->text, b->source->length, b->at);
	bool map = config_setting_is_group(setting), root = config_setting_is_root(setting);
	struct node *node = add_node(b, map ? NODE_MAP : NODE_LIST, from, from + !root);
	size_t count = (size_t)config_setting_length(setting);
	struct node_entry *entries = arena_array(b->arena, struct node_entry, map ? count : 0);
	const struct node **items = arena_array(b->arena, const struct node *, map ? 0 : count);
	b->at = from + !root;
	for (size_t i = 0; i < count && !b->ended; i++) {
		const config_setting_t *inside = config_setting_get_elem(setting, (unsigned)i);
		struct span span = {0};
		if (map)
			span = find_name(b, inside);
		else if (i)
			b->at += strspn(b->text + b->at, " \t\r\n,");
		const struct node *value = compose_setting(b, inside);
		if (map)
			entries[i] = (struct node_entry){
				arena_text(b->arena, config_setting_name(inside)), span, value,
				false};
		else
			items[i] = value;
		cfg_weigh(node, value);
	}
	b->at += strspn(b->text + b->at, " \t\r\n;");
	if (!root && b->text[b->at] && strchr("})]", b->text[b->at]))
		b->at++;
	node->entries = map ? entries : NULL;
	node->items = map ? NULL : items;
	node->count = count;
	return node;
}

static const struct node *compose_setting(struct cfg_builder *b, const config_setting_t *setting)
{
	if (!config_setting_is_aggregate(setting))
		return compose_scalar(b, setting);
	if (b->depth++ >= SPEC_DEPTH_MOST) {
		b->ended = true;
		diag_error(b->diag,
			(struct span){.source = b->source,
				.line = (int)config_setting_source_line(setting),
				.column = 1},
			"nested more than %d deep", SPEC_DEPTH_MOST);
		return add_node(b, NODE_LIST, 0, 0);
	}
	const struct node *node = compose_group(b, setting);
	b->depth--;
	return node;
}

static bool cfg_refuse(const struct cfg_builder *b, size_t from, size_t to, const char *why)
{
	diag_error(b->diag, source_span(b->source, from, to), "%s", why);
	return false;
}

/* Refuses text that libconfig would read from another file, misread, or need too long for. */
static bool check_text(const struct cfg_builder *b)
{
	size_t settings = 0, depth = 0, length = b->source->length;
	if (length > CFG_BYTES_MOST)
		return cfg_refuse(b, 0, 0, "a libconfig file has at most 64 KiB");
	for (size_t at = 0; at < length; at++) {
		char c = b->text[at];
		size_t digits = isdigit((unsigned char)c) ? strspn(b->text + at, "0123456789") : 0;
		settings += c == '=' || c == ':' || c == ',';
		depth += c == '{' || c == '(' || c == '[';
		depth -= depth && (c == '}' || c == ')' || c == ']');
		if (strncmp(b->text + at, "@include", 8) == 0)
			return cfg_refuse(b, at, at + 8,
				"'@include' is not followed; give that file as an argument too");
		if (digits > DIGITS_MOST && !(at && b->text[at - 1] == '.'))
			return cfg_refuse(b, at, at + digits, "the number is too large");
		if (depth > DEPTH_MOST)
			return cfg_refuse(b, at, at + 1, "nested too deep");
		if (settings > CFG_SETTINGS_MOST)
			return cfg_refuse(
				b, at, at + 1, "a libconfig file has at most 5000 settings");
		at += digits ? digits - 1 : 0;
	}
	return true;
}

const struct node *cfg_compose(struct arena *arena, const struct source *source, struct diag *diag)
{
	struct arena *scratch = arena_open();
	struct cfg_builder b = {.arena = arena,
		.source = source,
		.diag = diag,
		.text = arena_format(scratch, "%.*s", (int)source->length, source->bytes)};
	const struct node *root = NULL;
	config_t config;
	config_init(&config);
	if (!check_text(&b)) {
		b.ended = true;
	} else if (!config_read_string(&config, b.text)) {
		int line = config_error_line(&config);
		diag_error(diag, (struct span){source, line, 1, line, 1},
			"libconfig finds a %s here; settings are 'name = value;'",
			config_error_text(&config));
		b.ended = true;
	} else {
		root = compose_setting(&b, config_root_setting(&config));
		if (!root->count)
			b.ended = !cfg_refuse(&b, 0, 0, "has no settings");
	}
	config_destroy(&config);
	arena_close(scratch);
	return b.ended ? NULL : root;
}

static const char compute[] = "<< Compute >>"; /* ends what versions since 2022 print */
static const char loop_line[] = "\n|";         /* begins a line with a loop */

enum {
	MOST = 64
}; /* levels, and dataspaces and loops of a level; no machine and no problem has more */

/* One loop of a level. */
struct printed_loop {
	const char *name, *factor; /* "K", "K=4,3" */
	enum { ALONG_TIME, ALONG_X, ALONG_Y } along;
	struct span span;
};

/* One level with its loops, outermost first. */
struct printed_level {
	const char *name;
	struct span span;
	struct array(const struct node *) kept;
	struct array(struct printed_loop) loops;
};

struct printing {
	struct arena *arena;
	const struct source *source;
	struct diag *diag;
	struct names spaces; /* of all levels */
	struct array(const char *) space_list;
	struct array(struct printed_level) levels;
	size_t at, end; /* of the line that is read, without blanks around it */
	bool good, ended;
};

static bool next_line(const struct source *source, size_t *at, size_t *end)
{
	while (*at < source->length && strchr(" \t\r\n", source->bytes[*at]))
		++*at;
	*end = *at;
	while (*end < source->length && source->bytes[*end] != '\n')
		++*end;
	size_t line = *end;
	while (*end > *at && strchr(" \t\r", source->bytes[*end - 1]))
		--*end;
	return line > *at;
}

/* NAME [ .. ] */
static bool is_level(const struct source *source, size_t at, size_t end)
{
	const char *line = source->bytes + at;
	const char *open = memchr(line, '[', end - at);
	return open && open > line && open[-1] == ' ' && line[end - at - 1] == ']' &&
	       !memchr(line, ':', (size_t)(open - line)) && *line != '-' && *line != '#';
}

bool loop_nest_is(const struct source *source)
{
	size_t at = 0, end;
	return next_line(source, &at, &end) && is_level(source, at, end) &&
	       memmem(source->bytes, source->length, loop_line, sizeof loop_line - 1);
}

static const struct node *foreign_scalar(
	const struct printing *printing, const char *text, struct span span)
{
	struct node *node = arena_new(printing->arena, struct node);
	*node = (struct node){
		.kind = NODE_SCALAR, .text = text, .quoted = true, .span = span, .weight = 1};
	return node;
}

static const struct node *foreign_list(const struct printing *printing,
	const struct node *const *items, size_t count, struct span span)
{
	struct node *node = arena_new(printing->arena, struct node);
	*node = (struct node){.kind = NODE_LIST,
		.text = "",
		.span = span,
		.items = items,
		.count = count,
		.weight = count + 1};
	return node;
}

static const struct node *map(const struct printing *printing, const struct node_entry *entries,
	size_t count, struct span span)
{
	struct node *node = arena_new(printing->arena, struct node);
	*node = (struct node){.kind = NODE_MAP,
		.text = "",
		.span = span,
		.entries = arena_copy(printing->arena, entries, count * sizeof *entries),
		.count = count,
		.weight = count + 1};
	return node;
}

/* Up to one of `stops`, or the end of the line. */
static const char *foreign_take_word(struct printing *printing, const char *stops)
{
	const char *bytes = printing->source->bytes;
	size_t from = printing->at;
	while (printing->at < printing->end && !strchr(stops, bytes[printing->at]))
		printing->at++;
	return arena_format(printing->arena, "%.*s", (int)(printing->at - from), bytes + from);
}

static bool printing_take(struct printing *printing, const char *text)
{
	size_t length = strlen(text);
	while (printing->at < printing->end && printing->source->bytes[printing->at] == ' ')
		printing->at++;
	if (printing->end - printing->at < length ||
		memcmp(printing->source->bytes + printing->at, text, length) != 0)
		return false;
	printing->at += length;
	return true;
}

static void foreign_complain(struct printing *printing, struct span span)
{
	printing->good = false;
	diag_error(printing->diag, span,
		"this is not a line of a loop nest: a level 'GLB [ Weights:96 ]' or a loop "
		"'| for K in [0:16)' is expected");
}

/* The rest of the file is not read. */
static void refuse_more(struct printing *printing, const char *what)
{
	printing->good = false;
	printing->ended = true;
	diag_error(printing->diag, source_span(printing->source, printing->at, printing->end),
		"a loop nest has at most %d %s", MOST, what);
}

/* "Weights:96 (96) Inputs:18 (18) ]" */
static void foreign_read_kept(struct printing *printing, struct printed_level *level)
{
	while (!printing_take(printing, "]") && printing->at < printing->end) {
		if (printing_take(printing, "(")) {
			foreign_take_word(printing, ")");
			printing_take(printing, ")");
			continue;
		}
		size_t from = printing->at;
		const char *name = foreign_take_word(printing, ":( ]");
		struct span span = source_span(printing->source, from, printing->at);
		if (!*name) {
			foreign_complain(printing, level->span);
			return;
		}
		if (printing->space_list.count == MOST || level->kept.count == MOST) {
			refuse_more(printing, "dataspaces");
			return;
		}
		if (names_find(&printing->spaces, name) < 0) {
			names_add(printing->arena, &printing->spaces, name,
				(int)printing->space_list.count);
			*array_add(printing->arena, &printing->space_list) = name;
		}
		*array_add(printing->arena, &level->kept) = foreign_scalar(printing, name, span);
		if (printing_take(printing, ":"))
			foreign_take_word(printing, " ]");
	}
}

static void read_level(struct printing *printing)
{
	if (printing->levels.count == MOST) {
		refuse_more(printing, "levels");
		return;
	}
	struct printed_level *level = array_add(printing->arena, &printing->levels);
	size_t from = printing->at;
	const char *name = foreign_take_word(printing, "[");
	size_t length = strlen(name);
	while (length && name[length - 1] == ' ')
		length--;
	*level = (struct printed_level){
		.name = arena_format(printing->arena, "%.*s", (int)length, name),
		.span = source_span(printing->source, from, from + length)};
	printing_take(printing, "[");
	foreign_read_kept(printing, level);
}

/* "for K in [0:16)", "for K in [0:4,3) (Spatial-X)" */
static void read_loop(struct printing *printing)
{
	if (printing->levels.count &&
		printing->levels.at[printing->levels.count - 1].loops.count == MOST) {
		refuse_more(printing, "loops at a level");
		return;
	}
	struct span span = source_span(printing->source, printing->at, printing->end);
	struct printed_loop loop = {.span = span};
	bool good = printing->levels.count && printing_take(printing, "for ") &&
		    !printing_take(printing, "in ");
	if (good) {
		printing_take(printing, "");
		loop.name = foreign_take_word(printing, " ");
		good = *loop.name && printing_take(printing, "in") &&
		       printing_take(printing, "[0:");
	}
	if (good) {
		const char *bound = foreign_take_word(printing, ")");
		loop.factor = arena_format(printing->arena, "%s=%s", loop.name, bound);
		good = *bound && !bound[strspn(bound, "0123456789,")] &&
		       printing_take(printing, ")");
	}
	if (good && printing_take(printing, "(Spatial-X)"))
		loop.along = ALONG_X;
	else if (good && printing_take(printing, "(Spatial-Y)"))
		loop.along = ALONG_Y;
	if (!good || printing->at != printing->end)
		foreign_complain(printing, span);
	else
		*array_add(printing->arena,
			&printing->levels.at[printing->levels.count - 1].loops) = loop;
}

/* True at the end of the nest. */
static bool foreign_read_line(struct printing *printing)
{
	const char *line = printing->source->bytes + printing->at;
	size_t rule = 0, length = printing->end - printing->at;
	while (rule < length && line[rule] == '-')
		rule++;
	if (rule == length)
		return false;
	if (printing_take(printing, "|")) {
		if (printing_take(printing, compute))
			return true;
		read_loop(printing);
	} else if (is_level(printing->source, printing->at, printing->end)) {
		read_level(printing);
	} else {
		foreign_complain(
			printing, source_span(printing->source, printing->at, printing->end));
	}
	return false;
}

static struct node_entry foreign_word(const struct printing *printing,
	const struct printed_level *level, const char *key, const char *text)
{
	return (struct node_entry){.key = key,
		.key_span = level->span,
		.value = foreign_scalar(printing, text, level->span)};
}

static struct node_entry foreign_words(const struct printing *printing,
	const struct printed_level *level, const char *key, const struct node *const *items,
	size_t count)
{
	return (struct node_entry){.key = key,
		.key_span = level->span,
		.value = foreign_list(printing, items, count, level->span)};
}

/* The loops of one kind, innermost first: factors, permutation, and how many run along X. */
static const struct node *foreign_make_loops(
	const struct printing *printing, const struct printed_level *level, bool spatial)
{
	struct array(const struct node *) factors = {0}, order = {0};
	int along_x = 0;
	for (size_t axis = 0; axis < (spatial ? 2 : 1); axis++)
		for (size_t i = level->loops.count; i-- > 0;) {
			const struct printed_loop *loop = &level->loops.at[i];
			if (loop->along != (spatial ? ALONG_X + axis : ALONG_TIME))
				continue;
			*array_add(printing->arena, &factors) =
				foreign_scalar(printing, loop->factor, loop->span);
			*array_add(printing->arena, &order) =
				foreign_scalar(printing, loop->name, loop->span);
			along_x += loop->along == ALONG_X;
		}
	if (!factors.count)
		return NULL;
	const char *split = arena_format(printing->arena, "%d", along_x);
	const struct node_entry entries[] = {
		foreign_word(printing, level, "target", level->name),
		foreign_word(printing, level, "type", spatial ? "spatial" : "temporal"),
		foreign_words(printing, level, "factors", factors.at, factors.count),
		foreign_words(printing, level, "permutation", order.at, order.count),
		foreign_word(printing, level, "split", split),
	};
	return map(printing, entries, spatial ? 5 : 4, level->span);
}

static bool printed_level_keeps(const struct printed_level *level, const char *space)
{
	for (size_t i = 0; i < level->kept.count; i++)
		if (text_equal(level->kept.at[i]->text, space))
			return true;
	return false;
}

static const struct node *make_places(
	const struct printing *printing, const struct printed_level *level)
{
	struct array(const struct node *) bypassed = {0};
	for (size_t i = 0; i < printing->space_list.count; i++)
		if (!printed_level_keeps(level, printing->space_list.at[i]))
			*array_add(printing->arena, &bypassed) =
				foreign_scalar(printing, printing->space_list.at[i], level->span);
	const struct node_entry entries[] = {
		foreign_word(printing, level, "target", level->name),
		foreign_word(printing, level, "type", "bypass"),
		foreign_words(printing, level, "keep", level->kept.at, level->kept.count),
		foreign_words(printing, level, "bypass", bypassed.at, bypassed.count),
	};
	return map(printing, entries, 4, level->span);
}

static const struct node *make_mapping(const struct printing *printing)
{
	struct array(const struct node *) directives = {0};
	struct span span = source_span(printing->source, 0, 0);
	for (size_t i = 0; i < printing->levels.count; i++) {
		const struct printed_level *level = &printing->levels.at[i];
		*array_add(printing->arena, &directives) = make_places(printing, level);
		for (int spatial = 0; spatial < 2; spatial++) {
			const struct node *loops = foreign_make_loops(printing, level, spatial);
			if (loops)
				*array_add(printing->arena, &directives) = loops;
		}
	}
	const struct node_entry entry = {.key = "mapping",
		.key_span = span,
		.value = foreign_list(printing, directives.at, directives.count, span)};
	return map(printing, &entry, 1, span);
}

const struct node *loop_nest_read(
	struct arena *arena, const struct source *source, struct diag *diag)
{
	struct printing *printing = arena_new(arena, struct printing);
	*printing = (struct printing){.arena = arena, .source = source, .diag = diag, .good = true};
	size_t at = 0, end;
	while (!diag_full(diag) && next_line(source, &at, &end)) {
		printing->at = at;
		printing->end = end;
		if (foreign_read_line(printing) || printing->ended)
			break;
		at = end;
	}
	return printing->good ? make_mapping(printing) : NULL;
}
