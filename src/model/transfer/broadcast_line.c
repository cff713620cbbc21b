#include "base/arena.h"
#include "base/scan.h"
#include "base/text.h"
#include "model/transfer/broadcast.h"
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

static bool refuse(struct line_parse *parse, const char *wanted)
{
	while (*parse->at == ' ')
		parse->at++;
	size_t from = (size_t)(parse->at - parse->node->text), length = 0;
	while (parse->at[length] && !strchr(" ,:<>()", parse->at[length]))
		length++;
	if (!length && *parse->at)
		length = 1;
	diag_error(parse->reading->diag, node_part(parse->node, from, from + length),
		"%s is wanted here; the line is '%s'", wanted, parse->example);
	return false;
}

static bool expect(struct line_parse *parse, const char *text)
{
	return scan_text(&parse->at, text) ||
	       refuse(parse, arena_format(parse->reading->arena, "'%s'", text));
}

/* %name */
static bool read_operand(struct line_parse *parse)
{
	if (!scan_text(&parse->at, "%"))
		return refuse(parse, "an operand such as '%group'");
	size_t length = 0;
	while (isalnum((unsigned char)parse->at[length]) || parse->at[length] == '_')
		length++;
	parse->at += length;
	return length || refuse(parse, "the operand's name");
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
	return refuse(parse, text_read(&wanted));
}

/* 1x1x1x128x32xf32 */
static bool read_shape(struct line_parse *parse, struct assembly_type *type)
{
	int64_t extents[BROADCAST_RANK];
	int count = 0;
	while (isdigit((unsigned char)parse->at[strspn(parse->at, " ")])) {
		if (count == BROADCAST_RANK)
			return refuse(parse, "an element type after five extents");
		if (!scan_integer(&parse->at, &extents[count++]))
			return refuse(parse, "a smaller extent");
		if (*parse->at != 'x')
			return refuse(parse, "'x' and what follows it");
		parse->at++;
	}
	size_t length = strcspn(parse->at, " ,>");
	if (!count || !element_parse(parse->at, length, &type->element))
		return refuse(parse, count ? "an element type such as 'f32'" : "an extent");
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
	return expect(parse, "{") && expect(parse, key) && expect(parse, "=") &&
	       expect(parse, arena_format(parse->reading->arena, "#pto.%s<", type)) &&
	       read_one_of(parse, words, out) && expect(parse, ">") && expect(parse, "}");
}

/* !pto.group<4, 128x32xf32> or !pto.memref<128x32xf32> */
static bool read_type(struct line_parse *parse, int64_t *ranks, struct assembly_type *out)
{
	if (!expect(parse, ranks ? "!pto.group<" : "!pto.memref<"))
		return false;
	if (scan_text(&parse->at, "..."))
		return expect(parse, ">");
	if (ranks && !scan_integer(&parse->at, ranks))
		return refuse(parse, "the number of ranks");
	if (ranks && !expect(parse, ","))
		return false;
	return read_shape(parse, out) && expect(parse, ">");
}

static bool read_end(struct line_parse *parse)
{
	return scan_end(&parse->at) || refuse(parse, "the end of the line");
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
	return refuse(parse, "'tbroadcast', 'tgather', 'tscatter', 'treduce', 'tput' or 'tget'");
}

bool broadcast_parse(const struct reading *reading, const struct node *text, struct assembly *out)
{
	struct line_parse parse = {reading, text, text->text, NULL};
	int reduction = REDUCTION_SUM;
	*out = (struct assembly){0};
	if (!find_operation(&parse, &out->operation) || !read_operand(&parse) ||
		!expect(&parse, ",") || !read_operand(&parse))
		return false;
	if (out->operation == OPERATION_REDUCE &&
		!read_attribute(&parse, "op", "reduce_op", reduction_names, &reduction))
		return false;
	out->reduction = (enum reduction)reduction;
	int64_t *ranks = operation_is_pair(out->operation) ? NULL : &out->ranks;
	return expect(&parse, ":") && expect(&parse, "(") &&
	       read_type(&parse, ranks, &out->types[0]) && expect(&parse, ",") &&
	       read_type(&parse, NULL, &out->types[1]) && expect(&parse, ")") && read_end(&parse);
}

/* %signal, %value or %signal, 1 */
static bool read_signal(struct line_parse *parse, int64_t *value)
{
	if (!read_operand(parse) || !expect(parse, ","))
		return false;
	bool minus = scan_text(&parse->at, "-");
	if (!scan_integer(&parse->at, value))
		return minus ? refuse(parse, "a number") : read_operand(parse);
	if (*value > INT32_MAX)
		return refuse(parse, "a 32-bit number");
	*value = minus ? -*value : *value;
	return true;
}

static bool read_signal_types(struct line_parse *parse)
{
	return expect(parse, ":") && expect(parse, "(") && expect(parse, "!pto.memref<i32>") &&
	       expect(parse, ",") && expect(parse, "i32") && expect(parse, ")") && read_end(parse);
}

bool broadcast_parse_signal(
	const struct reading *reading, const struct node *text, bool waits, struct handshake *out)
{
	static const char *const ops[] = {"Set", "AtomicAdd", NULL};
	struct line_parse parse = {reading, text, text->text,
		waits ? "twait %signal, 1 {cmp = #pto.cmp<EQ>} : (!pto.memref<i32>, i32)"
		      : "tnotify %signal, 1 {op = #pto.notify_op<Set>} : (!pto.memref<i32>, i32)"};
	int word = 0;
	if (!expect(&parse, waits ? "twait" : "tnotify") ||
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
