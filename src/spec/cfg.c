#include "spec/cfg.h"

#include "base/arena.h"
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

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '*';
}

/* Behind blanks and comments. */
static size_t skip(const char *text, size_t length, size_t at)
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

/* `a = ` and `a: { b = ` are no YAML. */
static bool begins_with_setting(const struct source *source)
{
	const char *text = source->bytes;
	size_t length = source->length, at = skip(text, length, 0);
	for (;;) {
		size_t from = at;
		while (at < length && is_name(text[at]))
			at++;
		bool named = at > from && isalpha((unsigned char)text[from]);
		at = skip(text, length, at);
		if (!named || at >= length)
			return false;
		if (text[at] == '=')
			return true;
		if (text[at] != ':')
			return false;
		at = skip(text, length, at + 1);
		while (at < length && (text[at] == '(' || text[at] == '{'))
			at = skip(text, length, at + 1);
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

/* Where the name of a setting stands, behind all that was composed; goes behind its ':' or '='. */
static struct span find_name(struct cfg_builder *b, const config_setting_t *setting)
{
	const char *name = config_setting_name(setting);
	size_t size = strlen(name);
	int line = (int)config_setting_source_line(setting);
	size_t from = source_offset(b->source, line, 1);
	for (size_t at = from > b->at ? from : b->at; at + size < b->source->length; at++) {
		if (strncmp(b->text + at, name, size) != 0 || (at && is_name(b->text[at - 1])))
			continue;
		size_t behind = skip(b->text, b->source->length, at + size);
		if (b->text[behind] != '=' && b->text[behind] != ':')
			continue;
		b->at = behind + 1;
		return source_span(b->source, at, at + size);
	}
	return (struct span){b->source, line, 1, line, 1};
}

/* True if a text is the number that libconfig read. */
static bool is_number(const config_setting_t *setting, const char *text)
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
	if (is_number(setting, written))
		return written;
	if (config_setting_type(setting) == CONFIG_TYPE_FLOAT)
		return arena_format(b->arena, "%.17g", config_setting_get_float(setting));
	return arena_format(b->arena, "%lld", config_setting_get_int64(setting));
}

static const struct node *compose_scalar(struct cfg_builder *b, const config_setting_t *setting)
{
	size_t from = skip(b->text, b->source->length, b->at);
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

static void weigh(struct node *parent, const struct node *child)
{
	parent->weight += child->weight;
	if (parent->height < child->height + 1)
		parent->height = child->height + 1;
}

static const struct node *compose_group(struct cfg_builder *b, const config_setting_t *setting)
{
	size_t from = skip(b->text, b->source->length, b->at);
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
		weigh(node, value);
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

static bool refuse(const struct cfg_builder *b, size_t from, size_t to, const char *why)
{
	diag_error(b->diag, source_span(b->source, from, to), "%s", why);
	return false;
}

/* What libconfig would read from elsewhere, take wrong, or take too long over. */
static bool check_text(const struct cfg_builder *b)
{
	size_t settings = 0, depth = 0, length = b->source->length;
	if (length > CFG_BYTES_MOST)
		return refuse(b, 0, 0, "a libconfig file has at most 64 KiB");
	for (size_t at = 0; at < length; at++) {
		char c = b->text[at];
		size_t digits = isdigit((unsigned char)c) ? strspn(b->text + at, "0123456789") : 0;
		settings += c == '=' || c == ':' || c == ',';
		depth += c == '{' || c == '(' || c == '[';
		depth -= depth && (c == '}' || c == ')' || c == ']');
		if (strncmp(b->text + at, "@include", 8) == 0)
			return refuse(b, at, at + 8,
				"'@include' is not followed; give that file as an argument too");
		if (digits > DIGITS_MOST && !(at && b->text[at - 1] == '.'))
			return refuse(b, at, at + digits, "the number is too large");
		if (depth > DEPTH_MOST)
			return refuse(b, at, at + 1, "nested too deep");
		if (settings > CFG_SETTINGS_MOST)
			return refuse(b, at, at + 1, "a libconfig file has at most 5000 settings");
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
			b.ended = !refuse(&b, 0, 0, "has no settings");
	}
	config_destroy(&config);
	arena_close(scratch);
	return b.ended ? NULL : root;
}
