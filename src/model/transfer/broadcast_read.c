#include "base/arena.h"
#include "base/number.h"
#include "base/text.h"
#include "model/machine/arch.h"
#include "model/machine/topology.h"
#include "model/transfer/broadcast.h"
#include "spec/field.h"
#include "spec/node.h"
#include "spec/reader.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>

/* The line, and how far it is read. */
struct line_parse {
	const struct reading *reading;
	const struct node *node;
	const char *at;
	const char *example;
};

static bool line_refuse(struct line_parse *parse, const char *wanted)
{
	while (*parse->at == ' ')
		parse->at++;
	size_t from = (size_t)(parse->at - parse->node->text), length = 0;
	while (parse->at[length] && !strchr(" ,:<>()", parse->at[length]))
		length++;
	if (!length && *parse->at)
		length = 1;
	diag_error(parse->reading->diag, node_part(parse->node, from, from + length),
		"%s is expected here; the line is '%s'", wanted, parse->example);
	return false;
}

static bool line_parse_expect(struct line_parse *parse, const char *text)
{
	return scan_text(&parse->at, text) ||
	       line_refuse(parse, arena_format(parse->reading->arena, "'%s'", text));
}

/* %name */
static bool line_parse_read_operand(struct line_parse *parse)
{
	if (!scan_text(&parse->at, "%"))
		return line_refuse(parse, "an operand such as '%group'");
	size_t length = 0;
	while (isalnum((unsigned char)parse->at[length]) || parse->at[length] == '_')
		length++;
	parse->at += length;
	return length || line_refuse(parse, "the operand's name");
}

/* One of some words, of any case, up to '>'. */
static bool read_one_of(struct line_parse *parse, const char *const *words, int *out)
{
	size_t length = strcspn(parse->at, " >");
	for (int w = 0; words[w]; w++)
		if (strlen(words[w]) == length && !strncasecmp(words[w], parse->at, length)) {
			parse->at += length;
			*out = w;
			return true;
		}
	struct text wanted = text_open(parse->reading->arena);
	for (int w = 0; words[w]; w++)
		text_add(&wanted, "%s'%s'", !w ? "" : words[w + 1] ? ", " : " or ", words[w]);
	return line_refuse(parse, text_read(&wanted));
}

/* 1x1x1x128x32xf32 */
static bool line_parse_read_shape(struct line_parse *parse, struct assembly_type *type)
{
	int64_t extents[BROADCAST_RANK];
	int count = 0;
	while (isdigit((unsigned char)parse->at[strspn(parse->at, " ")])) {
		if (count == BROADCAST_RANK)
			return line_refuse(parse, "an element type after five extents");
		if (!scan_integer(&parse->at, &extents[count++]))
			return line_refuse(parse, "a smaller extent");
		if (*parse->at != 'x')
			return line_refuse(parse, "'x' and what follows it");
		parse->at++;
	}
	size_t length = strcspn(parse->at, " ,>");
	if (!count || !element_parse(parse->at, length, &type->element))
		return line_refuse(parse, count ? "an element type such as 'f32'" : "an extent");
	parse->at += length;
	for (int d = 0; d < BROADCAST_RANK; d++) {
		int given = d - (BROADCAST_RANK - count);
		type->shape[d] = given < 0 ? 1 : extents[given];
	}
	type->given = true;
	return true;
}

/* {op = #pto.reduce_op<Sum>} */
static bool read_attribute(struct line_parse *parse, const char *key, const char *type,
	const char *const *words, int *out)
{
	return line_parse_expect(parse, "{") && line_parse_expect(parse, key) &&
	       line_parse_expect(parse, "=") &&
	       line_parse_expect(parse, arena_format(parse->reading->arena, "#pto.%s<", type)) &&
	       read_one_of(parse, words, out) && line_parse_expect(parse, ">") &&
	       line_parse_expect(parse, "}");
}

/* !pto.group<4, 128x32xf32> or !pto.memref<128x32xf32> */
static bool read_type(struct line_parse *parse, int64_t *ranks, struct assembly_type *out)
{
	if (!line_parse_expect(parse, ranks ? "!pto.group<" : "!pto.memref<"))
		return false;
	if (scan_text(&parse->at, "..."))
		return line_parse_expect(parse, ">");
	if (ranks && !scan_integer(&parse->at, ranks))
		return line_refuse(parse, "the number of ranks");
	if (ranks && !line_parse_expect(parse, ","))
		return false;
	return line_parse_read_shape(parse, out) && line_parse_expect(parse, ">");
}

static bool read_end(struct line_parse *parse)
{
	return scan_end(&parse->at) || line_refuse(parse, "the end of the line");
}

/* In the order of the operations. */
static const char *const examples[] = {
	"tbroadcast %group, %src : (!pto.group<4, 1x1x1x128x32xf32>, "
	"!pto.memref<1x1x1x128x32xf32>)",
	"tgather %group, %dst : (!pto.group<4, 128x32xf32>, !pto.memref<512x32xf32>)",
	"tscatter %group, %src : (!pto.group<4, 128x32xf32>, !pto.memref<512x32xf32>)",
	"treduce %group, %dst {op = #pto.reduce_op<Sum>} : (!pto.group<4, 128x32xf32>, "
	"!pto.memref<128x32xf32>)",
	"tput %dst, %src : (!pto.memref<128x32xf32>, !pto.memref<128x32xf32>)",
	"tget %dst, %src : (!pto.memref<128x32xf32>, !pto.memref<128x32xf32>)",
};

/* The name of the line is that of the operation behind a `t`. */
static bool find_operation(struct line_parse *parse, enum operation *out)
{
	const char *from = parse->at;
	bool named = scan_text(&parse->at, "t");
	parse->example = examples[0];
	for (int o = 0; named && o < OPERATION_COUNT; o++)
		if (!strncmp(parse->at, operation_names[o], strlen(operation_names[o]))) {
			parse->at += strlen(operation_names[o]);
			parse->example = examples[o];
			*out = (enum operation)o;
			return true;
		}
	parse->at = from;
	return line_refuse(
		parse, "'tbroadcast', 'tgather', 'tscatter', 'treduce', 'tput' or 'tget'");
}

static bool broadcast_parse(
	const struct reading *reading, const struct node *text, struct assembly *out)
{
	struct line_parse parse = {reading, text, text->text, NULL};
	int reduction = REDUCTION_SUM;
	*out = (struct assembly){0};
	if (!find_operation(&parse, &out->operation) || !line_parse_read_operand(&parse) ||
		!line_parse_expect(&parse, ",") || !line_parse_read_operand(&parse))
		return false;
	if (out->operation == OPERATION_REDUCE &&
		!read_attribute(&parse, "op", "reduce_op", reduction_names, &reduction))
		return false;
	out->reduction = (enum reduction)reduction;
	int64_t *ranks = operation_is_pair(out->operation) ? NULL : &out->ranks;
	return line_parse_expect(&parse, ":") && line_parse_expect(&parse, "(") &&
	       read_type(&parse, ranks, &out->types[0]) && line_parse_expect(&parse, ",") &&
	       read_type(&parse, NULL, &out->types[1]) && line_parse_expect(&parse, ")") &&
	       read_end(&parse);
}

/* %signal, %value or %signal, 1 */
static bool read_signal(struct line_parse *parse, int64_t *value)
{
	if (!line_parse_read_operand(parse) || !line_parse_expect(parse, ","))
		return false;
	bool minus = scan_text(&parse->at, "-");
	if (!scan_integer(&parse->at, value))
		return minus ? line_refuse(parse, "a number") : line_parse_read_operand(parse);
	if (*value > INT32_MAX)
		return line_refuse(parse, "a 32-bit number");
	*value = minus ? -*value : *value;
	return true;
}

static bool read_signal_types(struct line_parse *parse)
{
	return line_parse_expect(parse, ":") && line_parse_expect(parse, "(") &&
	       line_parse_expect(parse, "!pto.memref<i32>") && line_parse_expect(parse, ",") &&
	       line_parse_expect(parse, "i32") && line_parse_expect(parse, ")") && read_end(parse);
}

/*
 *	tnotify %signal, %value {op = #pto.notify_op<Set>} : (!pto.memref<i32>, i32)
 *	twait %signal, %value {cmp = #pto.cmp<EQ>} : (!pto.memref<i32>, i32)
 *
 * A number in place of %value is the value; else that of `out` stays.
 */
static bool broadcast_parse_signal(
	const struct reading *reading, const struct node *text, bool waits, struct handshake *out)
{
	static const char *const ops[] = {"Set", "AtomicAdd", NULL};
	struct line_parse parse = {reading, text, text->text,
		waits ? "twait %signal, 1 {cmp = #pto.cmp<EQ>} : (!pto.memref<i32>, i32)"
		      : "tnotify %signal, 1 {op = #pto.notify_op<Set>} : (!pto.memref<i32>, i32)"};
	int word = 0;
	if (!line_parse_expect(&parse, waits ? "twait" : "tnotify") ||
		!read_signal(&parse, waits ? &out->wanted : &out->value) ||
		!read_attribute(&parse, waits ? "cmp" : "op", waits ? "cmp" : "notify_op",
			waits ? wait_cmp_names : ops, &word))
		return false;
	if (waits)
		out->cmp = (enum wait_cmp)word;
	else
		out->op = (enum notify_op)word;
	return read_signal_types(&parse);
}

static void add_type(struct text *text, const struct rank_tensor *tensor, int64_t ranks)
{
	if (ranks)
		text_add(text, "!pto.group<%" PRId64 ", ", ranks);
	else
		text_add(text, "!pto.memref<");
	for (int d = 0; d < BROADCAST_RANK; d++)
		text_add(text, "%" PRId64 "x", tensor->shape[d]);
	text_add(text, "%s>", element_short_name(tensor->element));
}

const char *broadcast_line(struct arena *arena, const struct broadcast *broadcast)
{
	static const char *const reductions[] = {"Sum", "Max", "Min"};
	enum operation operation = broadcast->operation;
	const char *example = examples[operation];
	struct text text = text_open(arena);
	size_t count;
	text_bytes(&text, example, strcspn(example, "{:"));
	if (operation == OPERATION_REDUCE)
		text_add(&text, "{op = #pto.reduce_op<%s>} ", reductions[broadcast->reduction]);
	text_add(&text, ": (");
	if (operation_is_pair(operation)) {
		add_type(&text, &broadcast->destinations[0], 0);
		text_add(&text, ", ");
		add_type(&text, &broadcast->source, 0);
	} else {
		add_type(&text, broadcast_group(broadcast, &count), broadcast->ranks);
		text_add(&text, ", ");
		add_type(&text, broadcast_own(broadcast), 0);
	}
	text_add(&text, ")");
	return text_read(&text);
}

static enum need need_of(const struct field *field)
{
	return field->required ? REQUIRED : OPTIONAL;
}

/* One to five numbers from 0 up, the last ones; false without or after complaining. */
static bool read_extents(struct reader *map, const struct field *field, int64_t most,
	int64_t out[BROADCAST_RANK], int *given)
{
	const char *key = field->key;
	const struct node *list = read_list(map, key, need_of(field));
	if (!list)
		return false;
	if (!list->count || list->count > BROADCAST_RANK)
		return reading_refuse(map->reading, list, "%s has %zu numbers; it can be 1 to %d",
			reader_place(map, key), list->count, BROADCAST_RANK);
	*given = (int)list->count;
	for (int i = 0; i < *given; i++)
		if (!node_integer(map->reading, list->items[i], reader_place(map, key), 0, most,
			    &out[BROADCAST_RANK - *given + i]))
			return false;
	return true;
}

static void read_tensor_shape(
	struct reader *map, const struct field *field, void *whole, const void *context)
{
	int given = 0;
	int64_t read[BROADCAST_RANK] = {1, 1, 1, 1, 1};
	if (read_extents(map, field, INT32_MAX, read, &given))
		memcpy(field_place(field, whole), read, sizeof read);
}

static void read_element(
	struct reader *map, const struct field *field, void *whole, const void *context)
{
	const char *word;
	if (!read_text(map, field->key, need_of(field), &word) ||
		element_parse(word, strlen(word), field_place(field, whole)))
		return;
	diag_error(map->reading->diag, node_find(map->map, field->key)->span,
		"unknown element type '%s'%s", word,
		suggestion(map->reading->arena, suggest(word, element_names), "; fp32 is one"));
}

static void read_strides(
	struct reader *map, const struct field *field, void *whole, const void *context)
{
	struct rank_tensor *tensor = whole;
	int given = 0;
	broadcast_dense(tensor->shape, tensor->stride);
	if (!read_extents(map, field, INT64_MAX, tensor->stride, &given))
		return;
	for (int d = BROADCAST_RANK - given - 1; d >= 0; d--)
		if (!number_mul(tensor->stride[d + 1],
			    tensor->shape[d + 1] ? tensor->shape[d + 1] : 1, &tensor->stride[d]))
			tensor->stride[d] = INT64_MAX;
}

static bool is_pair(const void *broadcast)
{
	return operation_is_pair(((const struct broadcast *)broadcast)->operation);
}

static bool is_put(const void *broadcast)
{
	return ((const struct broadcast *)broadcast)->operation == OPERATION_PUT;
}

/* The tile as it is written. */
struct tile_form {
	struct staging_tile tile;
	struct texts fixed;
};

#define OF_ANY_RANK .least = INT32_MIN, .most = INT32_MAX
#define MUST .required = true

/* Rows without a place are those that the line of assembly says in what is written. */
#define HAS(whole, member, how) .read = (how), .offset = offsetof(whole, member)

/* A tensor as one of a group has it, and the source of a push; that of a scatter has the rows of all ranks. */
enum { TENSOR_OF_GROUP = 1 << 0, TENSOR_PUSHED = 1 << 1, TENSOR_SCATTERED = 1 << 2 };

static const struct field source_rank_fields[] = {
	{"rank", FIELD_WHOLE, "where the source is", .usual = "the root", OF_ANY_RANK,
		INTO(struct broadcast, source_rank)},
	{0},
};
static const struct noun source_rank_noun = {.name = "source_rank", .fields = source_rank_fields};

static const struct field rank_tensor_fields[] = {
	{"shape", FIELD_ANY, .shape = SHAPE_LIST, .forms = TENSOR_OF_GROUP | TENSOR_SCATTERED,
		HAS(struct rank_tensor, shape, read_tensor_shape)},
	{"dtype", FIELD_TEXT, .forms = TENSOR_OF_GROUP,
		HAS(struct rank_tensor, element, read_element)},
	{"strides", FIELD_WHOLE, .shape = SHAPE_LIST, .read = read_strides,
		INTO(struct rank_tensor, stride), .count = BROADCAST_RANK},
	{"layout", FIELD_CHOICE, .words = tensor_layout_names, INTO(struct rank_tensor, layout)},
	{"live", FIELD_FLAG, .usual = "true", .forms = TENSOR_OF_GROUP, .omit = "true",
		INTO(struct rank_tensor, live)},
	{0},
};
static const struct noun *const rank_tensor_parts[] = {&source_rank_noun, NULL};
static const struct noun rank_tensor_noun = {
	.name = "rank_tensor", .fields = rank_tensor_fields, .parts = rank_tensor_parts};

static const struct field notify_fields[] = {
	{"op", FIELD_CHOICE, .words = notify_op_names, INTO(struct handshake, op)},
	{"value", FIELD_WHOLE, .usual = "1", OF_ANY_RANK, INTO(struct handshake, value)},
	{0},
};
static const struct noun notify_noun = {
	.name = "notify", .fields = notify_fields, .also = "string"};

static const struct field wait_fields[] = {
	{"cmp", FIELD_CHOICE, .words = wait_cmp_names, INTO(struct handshake, cmp)},
	{"value", FIELD_WHOLE, .usual = "1", OF_ANY_RANK, INTO(struct handshake, wanted)},
	{0},
};
static const struct noun wait_noun = {.name = "wait", .fields = wait_fields, .also = "string"};

static const struct field tile_fields[] = {
	{"rows", FIELD_WHOLE, MUST, INTO(struct tile_form, tile.rows), .least = 1,
		.most = INT32_MAX},
	{"cols", FIELD_WHOLE, MUST, INTO(struct tile_form, tile.cols), .least = 1,
		.most = INT32_MAX},
	{"valid_rows", FIELD_WHOLE, .usual = "`rows`", OF_ANY_RANK,
		INTO(struct tile_form, tile.valid_rows)},
	{"valid_cols", FIELD_WHOLE, .usual = "`cols`", OF_ANY_RANK,
		INTO(struct tile_form, tile.valid_cols)},
	{"dtype", FIELD_TEXT, HAS(struct tile_form, tile.element, read_element)},
	{"static", FIELD_TEXT, .shape = SHAPE_SOME, INTO(struct tile_form, fixed)},
	{0},
};
static const struct noun tile_noun = {.name = "staging_tile", .fields = tile_fields};

static const char *const staging_modes[] = {"single", "ping-pong", NULL};
static const char *const atomic_names[] = {"none", "add", NULL};

/* The keys that are not written as they are read: those of the line, of the tensor that it may describe, and of what
 * is read once the operation is known.  SHAPES is a tensor that the line does not describe. */
enum {
	BROADCAST_LINE = 1 << 0,
	BROADCAST_TENSOR = 1 << 1,
	BROADCAST_SHAPES = 1 << 2,
	BROADCAST_PUSHES = 1 << 3,
	BROADCAST_PULLS = 1 << 4,
	BROADCAST_REST = BROADCAST_PUSHES | BROADCAST_PULLS,
	BROADCAST_TILE = 1 << 5,
	BROADCAST_STAGING = 1 << 6,
	BROADCAST_WORDS = 1 << 7,
	BROADCAST_COUNTS = 1 << 8, /* ranks that the line does not count */
};

struct broadcast_form {
	const struct node *op;          /* NULL: there is none */
	int operation, reduction, mode; /* -1: not given */
	int64_t caller;                 /* INT64_MIN: not given */
	int64_t block[BROADCAST_RANK];
	enum element element;
	const struct node *source, *destinations, *notify, *wait, *links, *tile, *offsets;
};

#define WORD(member) .forms = BROADCAST_WORDS, INTO(struct broadcast_form, member)
#define TENSOR(member, how)                                                                        \
	.forms = BROADCAST_TENSOR | BROADCAST_SHAPES, .needed = BROADCAST_SHAPES,                  \
	HAS(struct broadcast_form, member, how)
#define STAGING(how, member) .forms = BROADCAST_STAGING, how(struct broadcast_form, member)
#define REST(how, member) .forms = BROADCAST_REST, how(struct broadcast_form, member)

static const struct field given_fields[] = {
	{"op", FIELD_TEXT, "a line of assembly", .forms = BROADCAST_LINE,
		KEEP(struct broadcast_form, op)},
	{"operation", FIELD_CHOICE, .usual = "broadcast", .words = operation_names,
		WORD(operation)},
	{"reduction", FIELD_CHOICE, .words = reduction_names, WORD(reduction)},
	{"shape", FIELD_ANY, "of the tensor, five extents", .shape = SHAPE_LIST,
		TENSOR(block, read_tensor_shape)},
	{"dtype", FIELD_TEXT, TENSOR(element, read_element)},
	{"caller", FIELD_WHOLE, .usual = "the root", OF_ANY_RANK, REST(INTO, caller)},
	{"source", FIELD_MAP, .noun = &rank_tensor_noun, .forms = BROADCAST_PUSHES,
		KEEP(struct broadcast_form, source)},
	{"source", FIELD_MAP, .shape = SHAPE_SOME, .noun = &rank_tensor_noun,
		.forms = BROADCAST_PULLS, KEEP(struct broadcast_form, source)},
	{"destinations", FIELD_MAP, .shape = SHAPE_SOME, .noun = &rank_tensor_noun,
		REST(KEEP, destinations)},
	{"notify", FIELD_MAP, .noun = &notify_noun, REST(KEEP_ANY, notify)},
	{"wait", FIELD_MAP, .noun = &wait_noun, REST(KEEP_ANY, wait)},
	{"links", FIELD_MAP, .noun = &links_noun, REST(KEEP, links)},
	{"tile", FIELD_MAP, MUST, .noun = &tile_noun, .forms = BROADCAST_TILE,
		KEEP(struct broadcast_form, tile)},
	{"mode", FIELD_CHOICE, .words = staging_modes, STAGING(INTO, mode)},
	{"offsets", FIELD_SIZE, "of the staging tiles", .shape = SHAPE_LIST,
		STAGING(KEEP, offsets)},
	{0},
};
static const struct noun given_noun = {.name = "broadcast_given", .fields = given_fields};

#define PUT(member) INTO(struct broadcast, member)

static const struct field broadcast_fields[] = {
	{"name", FIELD_TEXT, .usual = "broadcast", PUT(name)},
	{"ranks", FIELD_WHOLE, .most = RANKS_MOST, .needed = BROADCAST_COUNTS, PUT(ranks),
		.omit = "0"},
	{"root", FIELD_WHOLE, OF_ANY_RANK, PUT(root)},
	{"compat", FIELD_CHOICE, "the published operation whose rules hold", .words = compat_names,
		PUT(compat)},
	{"peer", FIELD_WHOLE, MUST, .has = is_pair, OF_ANY_RANK, PUT(peer)},
	{"atomic", FIELD_CHOICE, .has = is_put, .words = atomic_names, PUT(adds), .omit = "none"},
	{"staging", FIELD_WHOLE, "staging tiles", .usual = "1", .least = 1, .most = STAGING_MOST,
		PUT(staging)},
	{"order", FIELD_CHOICE, "of chunks", .words = chunk_order_names, PUT(order)},
	{"algorithm", .type = FIELD_TEXT, PUT(algorithm)},
	{"segments", FIELD_WHOLE, .usual = "1", .least = 1, .most = 1 << 20, PUT(segments),
		.omit = "1"},
	{0},
};
static const struct noun *const broadcast_parts[] = {&given_noun, &pipes_noun, NULL};
const struct noun broadcast_noun = {
	.name = "broadcast", .fields = broadcast_fields, .parts = broadcast_parts};

/* State of reading one broadcast. */
struct broadcast_draft {
	const struct reading *reading;
	struct broadcast *broadcast;
	struct reader map;
	struct broadcast_form form;
	struct assembly line;
	bool parsed; /* all of it */
	int64_t rows_of_all[BROADCAST_RANK];
};

static struct span broadcast_draft_span(
	struct broadcast_draft *draft, struct reader *map, const char *key)
{
	const struct node *node = read_node(map, key, OPTIONAL);
	return node ? node->span : draft->broadcast->spans.all;
}

/* The types of the line, by role: the line of a pull names what is read first. */
static const struct assembly_type *line_type(const struct broadcast_draft *draft, bool source)
{
	enum operation operation = draft->line.operation;
	bool first = operation == OPERATION_GATHER || operation == OPERATION_REDUCE;
	return &draft->line.types[source != first];
}

static bool is_typed(const struct broadcast_draft *draft, bool source)
{
	return draft->form.op && line_type(draft, source)->given;
}

/* Checks that keys do not contradict the line. */
static void check_line(struct broadcast_draft *draft)
{
	const struct broadcast *broadcast = draft->broadcast;
	const struct assembly_type *type =
		line_type(draft, broadcast->operation != OPERATION_SCATTER);
	const struct node *shape = node_find(draft->map.map, "shape");
	const struct node *dtype = node_find(draft->map.map, "dtype");
	const struct node *ranks = node_find(draft->map.map, "ranks");
	const struct node *operation = node_find(draft->map.map, "operation");
	struct diag *diag = draft->reading->diag;
	if (!draft->form.op)
		return;
	if (type->given && shape && memcmp(type->shape, draft->form.block, sizeof type->shape) != 0)
		diag_error(diag, shape->span,
			"'shape' is not that of the operand in 'op'; leave it out");
	if (type->given && dtype && type->element != broadcast->source.element)
		diag_error(diag, dtype->span,
			"'dtype' is not that of the operand in 'op'; leave it out");
	if (draft->line.ranks && ranks && draft->line.ranks != broadcast->ranks)
		diag_error(diag, ranks->span,
			"'ranks' is not that of the group in 'op'; leave it out");
	if (operation && draft->parsed && draft->line.operation != broadcast->operation)
		diag_error(diag, operation->span, "'operation' is not that of 'op'; leave it out");
}

static void read_operation(struct broadcast_draft *draft)
{
	struct broadcast *broadcast = draft->broadcast;
	struct broadcast_form *form = &draft->form;
	struct reader *map = &draft->map;
	const char *line;
	fields_read_form(map, &given_noun, BROADCAST_LINE, form, NULL);
	draft->parsed = form->op &&
			node_text(draft->reading, form->op, reader_place(map, "op"), &line) &&
			broadcast_parse(draft->reading, form->op, &draft->line);
	fields_read_form(map, &given_noun, BROADCAST_WORDS, form, NULL);
	broadcast->operation =
		form->operation < 0 ? draft->line.operation : (enum operation)form->operation;
	broadcast->reduction =
		form->reduction < 0 ? draft->line.reduction : (enum reduction)form->reduction;
	if (form->reduction >= 0 && broadcast->operation != OPERATION_REDUCE)
		diag_error(draft->reading->diag, node_find(map->map, "reduction")->span,
			"a %s has no reduction", operation_names[broadcast->operation]);
}

/* True if a key must say what the line does not; a line that cannot be read may say it: one complaint is enough. */
static bool broadcast_is_needed(const struct broadcast_draft *draft, bool typed)
{
	return !typed && (!draft->form.op || draft->parsed);
}

/* The block of each rank; where all of them lie in one tensor, that has their rows. */
static void read_tensor(struct broadcast_draft *draft)
{
	struct broadcast *broadcast = draft->broadcast;
	struct broadcast_form *form = &draft->form;
	struct rank_tensor *source = &broadcast->source;
	bool scatters = broadcast->operation == OPERATION_SCATTER;
	bool typed = is_typed(draft, !scatters);
	if (typed)
		memcpy(form->block, line_type(draft, !scatters)->shape, sizeof form->block);
	if (typed || is_typed(draft, true))
		form->element = line_type(draft, true)->element;
	fields_read_form(&draft->map, &given_noun,
		broadcast_is_needed(draft, typed) ? BROADCAST_SHAPES : BROADCAST_TENSOR, form,
		NULL);
	source->element = form->element;
	memcpy(draft->rows_of_all, form->block, sizeof form->block);
	if (!number_mul(form->block[3], broadcast->ranks, &draft->rows_of_all[3]))
		draft->rows_of_all[3] = INT64_MAX;
	memcpy(source->shape, scatters ? draft->rows_of_all : form->block, sizeof source->shape);
	if (is_typed(draft, true))
		memcpy(source->shape, line_type(draft, true)->shape, sizeof source->shape);
	source->span = broadcast->spans.all;
	source->live = true;
}

static void read_tensor_map(struct broadcast_draft *draft, const struct node *node,
	const char *what, struct rank_tensor *tensor)
{
	struct reader map;
	if (!noun_open(&map, draft->reading, node, what, &rank_tensor_noun))
		return;
	tensor->span = node->span;
	fields_read_form(&map, &rank_tensor_noun, TENSOR_OF_GROUP, tensor, NULL);
	reader_done(&map);
}

/* One for all, or by rank. */
static const struct rank_tensor *read_tensors(struct broadcast_draft *draft, const char *key,
	const struct node *node, const struct rank_tensor *given, size_t *count_out)
{
	size_t count = node && node->kind == NODE_LIST ? node->count : 1;
	struct rank_tensor *tensors =
		arena_array(draft->reading->arena, struct rank_tensor, count ? count : 1);
	tensors[0] = *given;
	for (size_t i = 1; i < count; i++)
		tensors[i] = *given;
	for (size_t i = 0; node && i < count; i++)
		read_tensor_map(
			draft, node->kind == NODE_LIST ? node->items[i] : node, key, &tensors[i]);
	*count_out = count;
	return tensors;
}

/* The one of a push lies on a rank of its own, the others are those of the ranks. */
static void read_source(struct broadcast_draft *draft)
{
	struct broadcast *broadcast = draft->broadcast;
	struct rank_tensor *source = &broadcast->source;
	struct reader own;
	broadcast->source_rank = broadcast->caller;
	broadcast_dense(source->shape, source->stride);
	if (operation_pulls(broadcast->operation)) {
		broadcast->sources = read_tensors(
			draft, "source", draft->form.source, source, &broadcast->source_count);
		*source = broadcast->sources[0];
		return;
	}
	const struct node *node = draft->form.source;
	broadcast->sources = source;
	broadcast->source_count = 1;
	if (!node || !noun_open(&own, draft->reading, node, "source", &rank_tensor_noun))
		return;
	source->span = broadcast->spans.source = node->span;
	fields_read(&own, &source_rank_noun, broadcast, NULL);
	if (reader_given(&own, "rank"))
		broadcast->spans.source = broadcast_draft_span(draft, &own, "rank");
	fields_read_form(&own, &rank_tensor_noun,
		broadcast->operation == OPERATION_SCATTER ? TENSOR_SCATTERED : TENSOR_PUSHED,
		source, NULL);
	reader_done(&own);
}

/* Reads the keys that have a place in the struct. */
static void read_plain(struct broadcast_draft *draft)
{
	struct broadcast *broadcast = draft->broadcast;
	struct reader *map = &draft->map;
	bool pair = is_pair(broadcast), typed = draft->line.ranks;
	broadcast->ranks = draft->line.ranks;
	fields_read_form(map, &broadcast_noun,
		broadcast_is_needed(draft, typed) ? BROADCAST_COUNTS : 0, broadcast, NULL);
	if (broadcast->ranks > RANKS_MOST)
		diag_error(draft->reading->diag, draft->form.op->span,
			"a group has at most %d ranks", RANKS_MOST);
	fields_read_form(map, &given_noun,
		operation_pulls(broadcast->operation) ? BROADCAST_PULLS : BROADCAST_PUSHES,
		&draft->form, NULL);
	broadcast->caller = draft->form.caller == INT64_MIN ? broadcast->root : draft->form.caller;
	broadcast->spans.ranks = broadcast_draft_span(draft, map, typed ? "op" : "ranks");
	broadcast->spans.root = broadcast_draft_span(draft, map, "root");
	broadcast->spans.caller = broadcast_draft_span(draft, map, "caller");
	broadcast->spans.peer =
		pair ? broadcast_draft_span(draft, map, "peer") : broadcast->spans.all;
}

static void read_destinations(struct broadcast_draft *draft)
{
	struct broadcast *broadcast = draft->broadcast;
	struct rank_tensor given = broadcast->source;
	given.live = true;
	given.span = broadcast->spans.all;
	memcpy(given.shape,
		broadcast->operation == OPERATION_GATHER ? draft->rows_of_all : draft->form.block,
		sizeof given.shape);
	if (is_typed(draft, false)) {
		memcpy(given.shape, line_type(draft, false)->shape, sizeof given.shape);
		given.element = line_type(draft, false)->element;
		given.span = draft->form.op->span;
	}
	broadcast_dense(given.shape, given.stride);
	broadcast->destinations = read_tensors(draft, "destinations", draft->form.destinations,
		&given, &broadcast->destination_count);
}

/* An assembly line, or `{op, value}` and `{cmp, value}`: whether it is there. */
static bool read_handshake_signal(struct broadcast_draft *draft, bool waits, struct span *span)
{
	struct handshake *handshake = &draft->broadcast->handshake;
	const char *key = waits ? "wait" : "notify";
	const struct node *node = waits ? draft->form.wait : draft->form.notify;
	struct reader map;
	const struct noun *noun = waits ? &wait_noun : &notify_noun;
	*span = node ? node->span : draft->broadcast->spans.all;
	if (node && node->kind == NODE_SCALAR) {
		broadcast_parse_signal(draft->reading, node, waits, handshake);
	} else if (node && noun_open(&map, draft->reading, node, key, noun)) {
		fields_read(&map, noun, handshake, NULL);
		reader_done(&map);
	}
	return node;
}

static void read_handshake(struct broadcast_draft *draft)
{
	struct handshake *handshake = &draft->broadcast->handshake;
	*handshake = (struct handshake){.value = 1, .wanted = 1};
	handshake->notifies = read_handshake_signal(draft, false, &handshake->notify_span);
	handshake->waits = read_handshake_signal(draft, true, &handshake->wait_span);
}

/* Checks the words of `static`. */
static void check_static(struct reader *map, const struct texts *fixed, struct staging_tile *tile)
{
	for (size_t i = 0; i < fixed->count; i++) {
		bool rows = text_equal(fixed->at[i], "rows"),
		     cols = text_equal(fixed->at[i], "cols");
		tile->static_rows |= rows;
		tile->static_cols |= cols;
		if (!rows && !cols)
			diag_error(map->reading->diag,
				node_item(node_find(map->map, "static"), i)->span,
				"'rows' and 'cols' can be static, not '%s'", fixed->at[i]);
	}
}

static void read_tile(struct broadcast_draft *draft)
{
	struct broadcast *broadcast = draft->broadcast;
	struct staging_tile *tile = &broadcast->tile;
	struct reader map;
	struct tile_form form = {.tile = {.element = broadcast->source.element,
					 .rows = 1,
					 .cols = 1,
					 .valid_rows = INT64_MIN,
					 .valid_cols = INT64_MIN}};
	*tile = form.tile;
	tile->span = broadcast->spans.all;
	fields_read_form(&draft->map, &given_noun, BROADCAST_TILE, &draft->form, NULL);
	const struct node *node = draft->form.tile;
	if (!node || !noun_open(&map, draft->reading, node, "tile", &tile_noun))
		return;
	fields_read(&map, &tile_noun, &form, NULL);
	*tile = form.tile;
	tile->span = broadcast->spans.valid_rows = broadcast->spans.valid_cols = node->span;
	if (tile->valid_rows != INT64_MIN)
		broadcast->spans.valid_rows = broadcast_draft_span(draft, &map, "valid_rows");
	else
		tile->valid_rows = tile->rows;
	if (tile->valid_cols != INT64_MIN)
		broadcast->spans.valid_cols = broadcast_draft_span(draft, &map, "valid_cols");
	else
		tile->valid_cols = tile->cols;
	check_static(&map, &form.fixed, tile);
	reader_done(&map);
}

/* One behind the other where nothing else is said. */
static void read_offsets(struct broadcast_draft *draft)
{
	struct broadcast *broadcast = draft->broadcast;
	const struct node *list = draft->form.offsets;
	int64_t bytes = number_min(broadcast_tile_bytes(broadcast), INT64_MAX / STAGING_MOST / 2);
	int64_t *offsets = arena_array(draft->reading->arena, int64_t, STAGING_MOST + 1);
	int64_t tiles = broadcast_tiles(broadcast);
	broadcast->spans.offsets = list ? list->span : broadcast->tile.span;
	broadcast->offsets = offsets;
	broadcast->offset_count = (size_t)tiles;
	for (int64_t i = 0; i < tiles; i++)
		offsets[i] = i * number_align_up(bytes, broadcast->scratchpad_alignment);
	if (!list)
		return;
	if (list->count > broadcast->offset_count) {
		diag_error(draft->reading->diag, list->span,
			"there are %zu offsets for %" PRId64 " staging tile%s; give one for each",
			list->count, tiles, tiles == 1 ? "" : "s");
		return;
	}
	broadcast->offset_count = list->count;
	for (size_t i = 0; i < list->count; i++)
		node_size(
			draft->reading, list->items[i], "an offset", 0, INT64_MAX / 2, &offsets[i]);
}

static void read_staging(struct broadcast_draft *draft)
{
	struct broadcast *broadcast = draft->broadcast;
	bool moded = reader_given(&draft->map, "mode");
	fields_read_form(&draft->map, &given_noun, BROADCAST_STAGING, &draft->form, NULL);
	broadcast->spans.staging =
		broadcast_draft_span(draft, &draft->map, moded ? "mode" : "staging");
	if (moded && reader_given(&draft->map, "staging"))
		diag_error(draft->reading->diag, broadcast->spans.staging,
			"'mode' and 'staging' both say how many staging tiles there are");
	else if (draft->form.mode >= 0)
		broadcast->staging = draft->form.mode + 1;
}

static void check_algorithm(struct broadcast_draft *draft)
{
	struct broadcast *broadcast = draft->broadcast;
	if (broadcast->order != ORDER_SLIDING && broadcast->operation != OPERATION_BROADCAST)
		diag_error(draft->reading->diag, node_find(draft->map.map, "order")->span,
			"the chunks of a %s slide", operation_names[broadcast->operation]);
	if (reader_given(&draft->map, "segments") && !broadcast->algorithm)
		diag_error(draft->reading->diag, node_find(draft->map.map, "segments")->span,
			"'segments' needs an 'algorithm'; the published operation has tiles");
}

static void read_columns(struct broadcast_draft *draft, const struct node *dims)
{
	struct broadcast *broadcast = draft->broadcast;
	const struct reading *reading = draft->reading;
	int64_t ranks = 1, extent = 0;
	bool mesh = broadcast->copying.topology == TOPOLOGY_MESH;
	if (mesh && !dims) {
		diag_error(reading->diag, broadcast->spans.all,
			"a mesh needs 'dims', such as 'links: {topology: mesh, dims: [2, 4]}'");
		return;
	}
	if (!dims)
		return;
	if (dims->count != (mesh ? 2U : 1U)) {
		diag_error(reading->diag, dims->span, "a %s has %d dimension%s, not %zu",
			topology_names[broadcast->copying.topology], mesh ? 2 : 1, mesh ? "s" : "",
			dims->count);
		return;
	}
	for (size_t i = 0; i < dims->count; i++) {
		if (!node_integer(reading, dims->items[i], "an extent of the links", 1, RANKS_MOST,
			    &extent))
			return;
		ranks *= extent;
	}
	if (ranks != broadcast->ranks)
		diag_error(reading->diag, dims->span,
			"the links join %" PRId64 " ranks, the group has %" PRId64, ranks,
			broadcast->ranks);
	else if (mesh)
		broadcast->columns = (int)extent;
}

static void read_machine(struct broadcast_draft *draft, const struct arch *arch)
{
	struct broadcast *broadcast = draft->broadcast;
	struct ratio clock = {1000000000, 1};
	broadcast->scratchpad_alignment = 32;
	if (arch) {
		clock = arch->clock_hz;
		broadcast->copying = arch->copying;
	}
	if (arch && arch->lx >= 0) {
		broadcast->scratchpad_bytes = arch_lx(arch)->capacity;
		broadcast->scratchpad_alignment = arch_lx(arch)->alignment;
	}
	fields_read(&draft->map, &pipes_noun, &broadcast->copying, &clock);
	read_columns(draft,
		copying_read_links(draft->reading, draft->form.links, clock, &broadcast->copying));
}

const struct broadcast *broadcast_read(
	const struct reading *reading, const struct node *node, const struct arch *arch)
{
	struct broadcast *broadcast = arena_new(reading->arena, struct broadcast);
	struct broadcast_draft draft = {.reading = reading,
		.broadcast = broadcast,
		.form = {.operation = -1, .reduction = -1, .mode = -1, .caller = INT64_MIN}};
	size_t errors = diag_errors(reading->diag);
	*broadcast = (struct broadcast){.name = "broadcast", .staging = 1, .segments = 1};
	if (!noun_open(&draft.map, reading, node, "broadcast", &broadcast_noun))
		return NULL;
	broadcast->spans.all = broadcast->spans.source = node->span;
	read_operation(&draft);
	read_plain(&draft);
	read_tensor(&draft);
	read_source(&draft);
	check_line(&draft);
	read_destinations(&draft);
	read_handshake(&draft);
	read_machine(&draft, arch);
	read_tile(&draft);
	read_staging(&draft);
	read_offsets(&draft);
	check_algorithm(&draft);
	reader_done(&draft.map);
	return diag_errors(reading->diag) == errors ? broadcast : NULL;
}

static void add_map(struct text *text, const char *key, const struct noun *noun, const void *whole)
{
	text_add(text, "\n  %s: {", key);
	fields_write(text, noun, whole, ", ");
	text_add(text, "}");
}

static void broadcast_add_tiles(struct text *text, const struct broadcast *b)
{
	static const char *const both[] = {"rows", "cols"};
	struct tile_form form = {b->tile,
		{both + !b->tile.static_rows, (size_t)b->tile.static_rows + b->tile.static_cols}};
	add_map(text, "tile", &tile_noun, &form);
	text_add(text, "\n  offsets: [");
	for (size_t i = 0; i < b->offset_count; i++)
		text_add(text, "%s%" PRId64, i ? ", " : "", b->offsets[i]);
	text_add(text, "]");
}

const char *broadcast_write(struct arena *arena, const struct broadcast *b)
{
	struct broadcast shown = *b;
	struct text text = text_open(arena);
	if (!is_pair(b)) /* the line says it */
		shown.ranks = 0;
	text_add(&text, "broadcast:\n  op: '%s'\n  ", broadcast_line(arena, b));
	fields_write(&text, &broadcast_noun, &shown, "\n  ");
	add_map(&text, "source", &rank_tensor_noun, &b->source);
	add_map(&text, "destinations", &rank_tensor_noun, b->destinations);
	if (b->handshake.notifies)
		add_map(&text, "notify", &notify_noun, &b->handshake);
	if (b->handshake.waits)
		add_map(&text, "wait", &wait_noun, &b->handshake);
	broadcast_add_tiles(&text, b);
	text_add(&text, "\n  ");
	fields_write(&text, &pipes_noun, &b->copying, "\n  ");
	text_add(&text, "\n  links: {");
	fields_write(&text, &links_noun, &b->copying, ", ");
	if (b->columns)
		text_add(&text, ", dims: [%" PRId64 ", %d]", b->ranks / b->columns, b->columns);
	text_add(&text, "}\n");
	return text_read(&text);
}
