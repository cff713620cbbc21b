#include "import/mlir.h"

#include "base/text.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum mlir_token_kind {
	MLIR_END,
	MLIR_WORD,
	MLIR_VALUE,
	MLIR_SYMBOL,
	MLIR_NUMBER,
	MLIR_STRING,
	MLIR_SIGN,
	MLIR_ARROW
};

struct mlir_token {
	enum mlir_token_kind kind;
	char sign;        /* of MLIR_SIGN */
	const char *text; /* WORD, VALUE, SYMBOL, STRING: not terminated */
	size_t length;
	int line;
	bool begins_line;
};

struct mlir_scan {
	const char *text;
	size_t at;
	int line;
	struct mlir_token token; /* the next one */
};

static bool mlir_is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '$';
}

static void skip_space(struct mlir_scan *scan)
{
	for (;; scan->at++) {
		char c = scan->text[scan->at];
		if (c == '/' && scan->text[scan->at + 1] == '/') {
			while (scan->text[scan->at + 1] && scan->text[scan->at + 1] != '\n')
				scan->at++;
		} else if (c == '\n') {
			scan->line++;
			scan->token.begins_line = true;
		} else if (c != ' ' && c != '\t' && c != '\r') {
			return;
		}
	}
}

static void take_string(struct mlir_scan *scan)
{
	size_t from = ++scan->at;
	while (scan->text[scan->at] && scan->text[scan->at] != '"') {
		if (scan->text[scan->at] == '\\' && scan->text[scan->at + 1])
			scan->at++;
		scan->line += scan->text[scan->at] == '\n';
		scan->at++;
	}
	scan->token.text = scan->text + from;
	scan->token.length = scan->at - from;
	if (scan->text[scan->at])
		scan->at++;
}

static void take_name(struct mlir_scan *scan, size_t from, bool hash)
{
	while (mlir_is_name(scan->text[scan->at]) || (hash && scan->text[scan->at] == '#'))
		scan->at++;
	scan->token.text = scan->text + from;
	scan->token.length = scan->at - from;
}

/* "12", "-1.5e-3", "0xFF80"; of "32x1xf32" the caller takes the rest. */
static void mlir_take_number(struct mlir_scan *scan)
{
	size_t from = scan->at;
	const char *t = scan->text;
	scan->at += t[scan->at] == '-';
	if (t[scan->at] == '0' && t[scan->at + 1] == 'x' &&
		isxdigit((unsigned char)t[scan->at + 2])) {
		scan->at += 2;
		while (isxdigit((unsigned char)t[scan->at]))
			scan->at++;
	} else {
		while (isdigit((unsigned char)t[scan->at]))
			scan->at++;
		if (t[scan->at] == '.' && isdigit((unsigned char)t[scan->at + 1]))
			for (scan->at++; isdigit((unsigned char)t[scan->at]);)
				scan->at++;
		size_t e = scan->at;
		if (t[e] == 'e' || t[e] == 'E') {
			e += 1 + (t[e + 1] == '-' || t[e + 1] == '+');
			if (isdigit((unsigned char)t[e]))
				for (scan->at = e; isdigit((unsigned char)t[scan->at]);)
					scan->at++;
		}
	}
	scan->token.text = t + from;
	scan->token.length = scan->at - from;
}

static void mlir_advance(struct mlir_scan *scan)
{
	const char *t = scan->text;
	scan->token = (struct mlir_token){0};
	scan->token.begins_line = scan->at == 0;
	skip_space(scan);
	scan->token.line = scan->line;
	char c = t[scan->at], next = c ? t[scan->at + 1] : '\0';
	scan->token.text = t + scan->at;
	if (!c)
		return;
	if (c == '"') {
		scan->token.kind = MLIR_STRING;
		take_string(scan);
	} else if (c == '%' || c == '@') {
		scan->token.kind = c == '%' ? MLIR_VALUE : MLIR_SYMBOL;
		scan->at++;
		if (next == '"')
			take_string(scan);
		else
			take_name(scan, scan->at, c == '%');
	} else if (isalpha((unsigned char)c) || c == '_') {
		scan->token.kind = MLIR_WORD;
		take_name(scan, scan->at, false);
	} else if (isdigit((unsigned char)c) || (c == '-' && isdigit((unsigned char)next))) {
		scan->token.kind = MLIR_NUMBER;
		mlir_take_number(scan);
	} else if (c == '-' && next == '>') {
		scan->token.kind = MLIR_ARROW;
		scan->at += 2;
	} else {
		scan->token.kind = MLIR_SIGN;
		scan->token.sign = c;
		scan->at++;
	}
}

static bool mlir_is(const struct mlir_scan *scan, char sign)
{
	return scan->token.kind == MLIR_SIGN && scan->token.sign == sign;
}

static bool mlir_is_word(const struct mlir_scan *scan, const char *word)
{
	return scan->token.kind == MLIR_WORD && scan->token.length == strlen(word) &&
	       !memcmp(scan->token.text, word, scan->token.length);
}

static const char *mlir_text(struct arena *arena, const struct mlir_token *token)
{
	return arena_format(
		arena, "%.*s", (int)(token->length > 4000 ? 4000 : token->length), token->text);
}

/* The state of the parser, and the types and attributes inside its calls.  What answers false has complained. */
enum { NESTING_MOST = 64 };

/* The words and numbers between two keys of one call, while they are collected. */
struct gathering {
	const char *key;
	struct array(int64_t) ints;
	struct array(double) numbers;
	bool fraction, hex;
	size_t count;     /* of numbers, those past CONSTANT_MOST too */
	struct text text; /* words and strings */
	struct mlir_type type;
};

struct mlir_parser {
	struct model *model;
	struct arena *arena;
	struct mlir_scan scan;
	struct mlir_functions *functions;
	struct mlir_function *function; /* in work; NULL outside of functions */
	bool failed;
	int depth;
};

static bool mlir_fail(struct mlir_parser *p, int line, const char *text)
{
	if (!p->failed)
		diag_error(p->model->diag, model_place(p->model, line), "%s", text);
	p->failed = true;
	return false;
}

static bool mlir_fail_here(struct mlir_parser *p, const char *text)
{
	return mlir_fail(p, p->scan.token.line, text);
}

static bool mlir_ended(const struct mlir_parser *p)
{
	return p->failed || p->scan.token.kind == MLIR_END;
}

/* --- types */

static const char *dtype_of(const char *text, size_t length)
{
	static const char *const rows[][2] = {{"f16", "fp16"}, {"bf16", "bf16"}, {"f32", "fp32"},
		{"f64", "fp32"}, {"i1", "bool"}, {"i4", "int8"}, {"i8", "int8"}, {"ui8", "int8"},
		{"si8", "int8"}, {"i16", "int32"}, {"ui16", "int32"}, {"si16", "int32"},
		{"i32", "int32"}, {"ui32", "int32"}, {"si32", "int32"}, {"i64", "int64"},
		{"ui64", "int64"}, {"si64", "int64"}, {"index", "int64"}};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (strlen(rows[i][0]) == length && !memcmp(rows[i][0], text, length))
			return rows[i][1];
	return length > 2 && text[0] == 'f' && text[1] == '8' ? "fp8" : "fp32";
}

/* Limits of the stored integers: those in the type, or all of its bits. */
static const char *read_limits(const char *at, struct quantization *out)
{
	bool is_unsigned = *at == 'u';
	at += is_unsigned || *at == 's';
	long bits = *at == 'i' ? strtol(at + 1, (char **)&at, 10) : 8;
	bits = bits < 1 || bits > 32 ? 32 : bits;
	out->low = is_unsigned ? 0 : -(INT64_C(1) << (bits - 1));
	out->high = (INT64_C(1) << (is_unsigned ? bits : bits - 1)) - 1;
	if (*at == '<') {
		out->low = strtoll(at + 1, (char **)&at, 10);
		out->high = *at == ':' ? strtoll(at + 1, (char **)&at, 10) : out->high;
		at += *at == '>';
	}
	return at;
}

/* "i8<-128:127>:f32:1, {0.1:3, 0.2}>", behind "!quant.uniform<"; NULL: it is something else. */
static const struct quantization *read_quantization(struct mlir_parser *p, const char *at)
{
	struct quantization *made = arena_new(p->arena, struct quantization);
	struct array(double) scales = {0}, zeros = {0};
	*made = (struct quantization){.axis = -1};
	at = read_limits(at, made);
	at += *at == ':';
	while (isalnum((unsigned char)*at))
		at++;
	if (*at == ':')
		made->axis = (int)strtol(at + 1, (char **)&at, 10);
	for (; *at && *at != '>' && made->count < CONSTANT_MOST; at++) {
		char *end;
		double scale = strtod(at, &end);
		if (end == at || strchr(" ,{}", *at))
			continue;
		*array_add(p->arena, &scales) = scale;
		*array_add(p->arena, &zeros) = *end == ':' ? strtod(end + 1, &end) : 0;
		made->count++;
		at = end - 1;
	}
	made->scales = scales.at;
	made->zeros = zeros.at;
	return made->count ? made : NULL;
}

/* The inside of tensor<32x1xf32, #encoding>, in the text itself: "32x1xf32" is not a token. */
static bool read_tensor_type(struct mlir_parser *p, struct mlir_type *out)
{
	const char *t = p->scan.text;
	size_t at = p->scan.at;
	int nesting = 1, line = p->scan.line;
	*out = (struct mlir_type){0};
	while (t[at] == '?' || isdigit((unsigned char)t[at])) {
		int64_t size = 0;
		if (t[at] == '?')
			return mlir_fail(
				p, line, "a dimension is '?'; give the model static shapes");
		for (; isdigit((unsigned char)t[at]); at++)
			size = size > INT64_C(1) << 50 ? size : size * 10 + (t[at] - '0');
		if (t[at] != 'x' || out->shape.rank == MODEL_RANK_MOST)
			return mlir_fail(p, line,
				"a tensor type is not '2x3xf32', or has too many dimensions");
		if (size < 1 || size >> DIM_MOST_LOG2)
			return mlir_fail(p, line, "a dimension is 0, or 2^31 or more");
		out->shape.size[out->shape.rank++] = size;
		at++;
	}
	size_t from = at;
	while (isalnum((unsigned char)t[at]))
		at++;
	out->dtype = dtype_of(t + from, at - from);
	static const char quantized[] = "!quant.uniform<";
	if (!strncmp(t + at, quantized, sizeof quantized - 1)) {
		const char *inside = t + at + sizeof quantized - 1;
		out->quantization = read_quantization(p, inside);
		out->dtype = strstr(inside, "i32") == inside ? "int32" : "int8";
	}
	for (; nesting > 0; at++) {
		if (!t[at])
			return mlir_fail(p, line, "a type ends without '>'");
		bool arrow = t[at] == '-' && t[at + 1] == '>';
		at += arrow;
		nesting += !arrow && t[at] == '<' ? 1 : !arrow && t[at] == '>' ? -1 : 0;
		p->scan.line += t[at] == '\n';
	}
	p->scan.at = at;
	mlir_advance(&p->scan);
	return true;
}

/* The rest of a bracket that is open, with the brackets inside it. */
static void mlir_skip_balanced(struct mlir_parser *p, int line)
{
	int nesting = 1;
	while (nesting > 0) {
		if (mlir_ended(p)) {
			mlir_fail(p, line, "a bracket that opens here is not closed");
			return;
		}
		if (p->scan.token.kind == MLIR_SIGN && strchr("([{<", p->scan.token.sign))
			nesting++;
		else if (p->scan.token.kind == MLIR_SIGN && strchr(")]}>", p->scan.token.sign))
			nesting--;
		mlir_advance(&p->scan);
	}
}

/* One type; other types than tensors have no dtype. */
static bool mlir_read_type(struct mlir_parser *p, struct mlir_type *out)
{
	*out = (struct mlir_type){0};
	if (mlir_is_word(&p->scan, "tensor")) {
		if (p->scan.text[p->scan.at] != '<')
			return mlir_fail_here(p, "'tensor' without '<'");
		p->scan.at++;
		return read_tensor_type(p, out);
	}
	if (mlir_is(&p->scan, '!'))
		mlir_advance(&p->scan);
	int line = p->scan.token.line;
	if (mlir_is(&p->scan, '(')) { /* a function or nothing */
		mlir_advance(&p->scan);
		mlir_skip_balanced(p, line);
		return !p->failed;
	}
	if (p->scan.token.kind != MLIR_WORD)
		return mlir_fail_here(p, "a type is missing");
	mlir_advance(&p->scan);
	if (mlir_is(&p->scan, '<')) {
		mlir_advance(&p->scan);
		mlir_skip_balanced(p, line);
	}
	return !p->failed;
}

static void mlir_skip_location(struct mlir_parser *p)
{
	int line = p->scan.token.line;
	if (!mlir_is_word(&p->scan, "loc"))
		return;
	mlir_advance(&p->scan);
	if (mlir_is(&p->scan, '(')) {
		mlir_advance(&p->scan);
		mlir_skip_balanced(p, line);
	}
}

/* --- attributes */

static double number_of_bits(uint64_t bits, const char *digits, size_t length, const char *dtype)
{
	float small;
	double large;
	uint32_t word = (uint32_t)bits;
	(void)digits;
	if (length >= 18) {
		memcpy(&large, &bits, sizeof large);
		return large;
	}
	if (dtype && text_equal(dtype, "bf16"))
		word <<= 16;
	else if (dtype && text_equal(dtype, "fp16")) {
		int exponent = (int)(bits >> 10 & 31), mantissa = (int)(bits & 1023);
		large = exponent == 31 ? (mantissa ? NAN : INFINITY)
				       : ldexp(exponent ? 1024 + mantissa : mantissa,
						 (exponent ? exponent : 1) - 25);
		return bits >> 15 & 1 ? -large : large;
	}
	memcpy(&small, &word, sizeof small);
	return (double)small;
}

static void mlir_gather_number(struct mlir_parser *p, struct gathering *g)
{
	char digits[64];
	size_t length =
		p->scan.token.length < sizeof digits ? p->scan.token.length : sizeof digits - 1;
	memcpy(digits, p->scan.token.text, length);
	digits[length] = '\0';
	if (g->text.length < 200)
		text_add(&g->text, "%s%s", g->text.length ? " " : "", digits);
	if (g->count++ >= CONSTANT_MOST)
		return;
	bool hex = strncmp(digits, "0x", 2) == 0;
	g->hex |= hex;
	g->fraction |= !hex && strpbrk(digits, ".eE") != NULL;
	*array_add(p->arena, &g->ints) =
		hex ? (int64_t)strtoull(digits, NULL, 16) : strtoll(digits, NULL, 10);
	*array_add(p->arena, &g->numbers) = hex ? (double)length : strtod(digits, NULL);
}

/* Numbers written as bits have the value that their type gives them. */
static void settle_bits(struct gathering *g)
{
	const char *dtype = g->type.dtype;
	bool floating = dtype && !strstr(dtype, "int") && !text_equal(dtype, "bool");
	for (size_t i = 0; g->hex && floating && i < g->numbers.count; i++)
		g->numbers.at[i] = number_of_bits(
			(uint64_t)g->ints.at[i], NULL, (size_t)g->numbers.at[i], dtype);
	g->fraction |= floating;
}

static void mlir_end_key(
	struct mlir_parser *p, struct mlir_call *call, struct gathering *g, const char *next)
{
	settle_bits(g);
	struct attribute made = {.name = g->key,
		.ints = g->ints.at,
		.int_count = g->ints.count,
		.numbers = g->numbers.at,
		.number_count = g->numbers.count,
		.text = g->text.length ? text_read(&g->text) : NULL,
		.shape = g->type.shape,
		.dtype = g->type.dtype};
	if (g->count && g->count <= CONSTANT_MOST) {
		struct constant *constant = arena_new(p->arena, struct constant);
		*constant =
			(struct constant){g->count, g->fraction ? NULL : g->ints.at, g->numbers.at};
		made.constant = constant;
	}
	if (g->count || g->text.length || g->type.dtype || g->key[0])
		*array_add(p->arena, &call->attributes) = made;
	*g = (struct gathering){.key = next, .text = text_open(p->arena)};
}

static void mlir_gather_word(struct mlir_parser *p, struct mlir_call *call, struct gathering *g)
{
	struct mlir_token word = p->scan.token;
	bool truth = mlir_is_word(&p->scan, "true"), lie = mlir_is_word(&p->scan, "false");
	mlir_advance(&p->scan);
	if (mlir_is(&p->scan, '=') && word.kind == MLIR_WORD) {
		mlir_end_key(p, call, g, mlir_text(p->arena, &word));
		mlir_advance(&p->scan);
		return;
	}
	if (truth || lie) {
		if (g->count++ < CONSTANT_MOST) {
			*array_add(p->arena, &g->ints) = truth;
			*array_add(p->arena, &g->numbers) = truth;
		}
		return;
	}
	if (g->text.length < 200)
		text_add(&g->text, "%s%s", g->text.length ? " " : "", mlir_text(p->arena, &word));
}

/* Everything inside a bracket that was opened: keys and their values. */
static void mlir_gather_inside(
	struct mlir_parser *p, struct mlir_call *call, struct gathering *g, int line)
{
	int nesting = 1;
	while (nesting > 0) {
		if (mlir_ended(p)) {
			mlir_fail(p, line, "a bracket that opens here is not closed");
			return;
		}
		enum mlir_token_kind kind = p->scan.token.kind;
		if (mlir_is_word(&p->scan, "tensor") && p->scan.text[p->scan.at] == '<') {
			mlir_read_type(p, &g->type);
			continue;
		}
		if (kind == MLIR_WORD || kind == MLIR_STRING || kind == MLIR_SYMBOL) {
			mlir_gather_word(p, call, g);
			continue;
		}
		if (kind == MLIR_NUMBER)
			mlir_gather_number(p, g);
		else if (kind == MLIR_SIGN && strchr("([{<", p->scan.token.sign))
			nesting++;
		else if (kind == MLIR_SIGN && strchr(")]}>", p->scan.token.sign))
			nesting--;
		else if (kind == MLIR_SIGN && !g->key[0] && strchr(":,", p->scan.token.sign) &&
			 g->text.length < 200)
			text_add(&g->text, " %c", p->scan.token.sign);
		mlir_advance(&p->scan);
	}
}

static bool parse_block(struct mlir_parser *p, int line, struct mlir_call *owner);

static bool parse_region(struct mlir_parser *p, int line, struct mlir_call *owner)
{
	struct mlir_function *outer = p->function, *region = array_add(p->arena, &owner->regions);
	*region = (struct mlir_function){.line = line, .name = ""};
	if (outer)
		p->function = region;
	bool good = parse_block(p, line, owner);
	p->function = outer;
	return good;
}

/* The result types: after "->" if there is one, else the last of the list. */
static bool read_signature(struct mlir_parser *p, struct mlir_call *call)
{
	struct mlir_type type;
	mlir_advance(&p->scan);
	for (;;) {
		if (mlir_is(&p->scan, '(')) {
			int line = p->scan.token.line;
			mlir_advance(&p->scan);
			while (!mlir_is(&p->scan, ')')) {
				if (mlir_ended(p))
					return mlir_fail(
						p, line, "a bracket that opens here is not closed");
				if (!mlir_read_type(p, &type))
					return false;
				*array_add(p->arena, &call->types) = type;
				mlir_skip_location(p);
				if (mlir_is(&p->scan, '{')) {
					mlir_advance(&p->scan);
					mlir_skip_balanced(p, line);
				}
				if (mlir_is(&p->scan, ','))
					mlir_advance(&p->scan);
			}
			mlir_advance(&p->scan);
		} else {
			if (!mlir_read_type(p, &type))
				return false;
			*array_add(p->arena, &call->types) = type;
		}
		if (p->scan.token.kind == MLIR_ARROW)
			call->types.count = 0;
		else if (!mlir_is(&p->scan, ','))
			break;
		mlir_advance(&p->scan);
	}
	size_t results = call->results.count;
	if (call->types.count > results && results == 1) {
		call->types.at[0] = call->types.at[call->types.count - 1];
		call->types.count = 1;
	}
	return true;
}

static bool opens_region(const struct mlir_parser *p)
{
	size_t at = p->scan.at;
	while (isspace((unsigned char)p->scan.text[at]))
		at++;
	return p->scan.text[at] == '{';
}

/* "%a", or of "%i = %a" first the argument of a region. */
static void mlir_add_operand(struct mlir_parser *p, struct mlir_call *call)
{
	const char *name = mlir_text(p->arena, &p->scan.token);
	size_t at = p->scan.at;
	while (isspace((unsigned char)p->scan.text[at]))
		at++;
	if (p->scan.text[at] == '=')
		*array_add(p->arena, &call->starts) = name;
	else
		*array_add(p->arena, &call->operands) = name;
}

/* A list of operands or regions: "(%a, %b)", "({ .. })". */
static bool mlir_read_operands(struct mlir_parser *p, struct mlir_call *call, struct gathering *g)
{
	int line = p->scan.token.line;
	bool region = opens_region(p);
	mlir_advance(&p->scan);
	if (!region) {
		int nesting = 1;
		while (nesting > 0) {
			if (mlir_ended(p))
				return mlir_fail(
					p, line, "a bracket that opens here is not closed");
			if (p->scan.token.kind == MLIR_VALUE)
				mlir_add_operand(p, call);
			else if (p->scan.token.kind == MLIR_NUMBER)
				mlir_gather_number(p, g);
			else if (mlir_is_word(&p->scan, "tensor") &&
				 p->scan.text[p->scan.at] == '<') {
				struct mlir_type type;
				if (!mlir_read_type(p, &type))
					return false;
				continue;
			}
			nesting += mlir_is(&p->scan, '(') - mlir_is(&p->scan, ')');
			mlir_advance(&p->scan);
		}
		return true;
	}
	while (!mlir_is(&p->scan, ')')) {
		if (mlir_ended(p))
			return mlir_fail(p, line, "a bracket that opens here is not closed");
		if (mlir_is(&p->scan, '{')) {
			int opened = p->scan.token.line;
			mlir_advance(&p->scan);
			if (!parse_region(p, opened, call))
				return false;
		} else {
			mlir_advance(&p->scan);
		}
	}
	mlir_advance(&p->scan);
	return true;
}

/* "reducer(%a, %b) { .. }", "cond { .. } do { .. }" */
static bool read_trailing_regions(struct mlir_parser *p, struct mlir_call *call)
{
	while (mlir_is_word(&p->scan, "reducer") || mlir_is_word(&p->scan, "cond") ||
		mlir_is_word(&p->scan, "do") || mlir_is_word(&p->scan, "else")) {
		mlir_advance(&p->scan);
		int line = p->scan.token.line;
		while (mlir_is(&p->scan, '(')) {
			mlir_advance(&p->scan);
			mlir_skip_balanced(p, line);
		}
		mlir_skip_location(p);
		if (!mlir_is(&p->scan, '{'))
			return mlir_fail_here(p, "a region without '{'");
		mlir_advance(&p->scan);
		if (!parse_region(p, line, call))
			return false;
	}
	return true;
}

/* Everything between the name of an op and the end of its line or its signature. */
static bool read_rest(struct mlir_parser *p, struct mlir_call *call)
{
	struct gathering g = {.key = "", .text = text_open(p->arena)};
	bool first = true;
	while (!mlir_ended(p) && !(p->scan.token.begins_line && !first)) {
		int line = p->scan.token.line;
		first = false;
		if (mlir_is(&p->scan, '}'))
			break;
		if (mlir_is(&p->scan, '(')) {
			if (!mlir_read_operands(p, call, &g))
				return false;
		} else if (mlir_is(&p->scan, '{') || mlir_is(&p->scan, '[') ||
			   mlir_is(&p->scan, '<')) {
			mlir_advance(&p->scan);
			mlir_gather_inside(p, call, &g, line);
			if (p->failed)
				return false;
		} else if (mlir_is(&p->scan, ':')) {
			if (!g.hex)
				mlir_end_key(p, call, &g, "");
			if (!read_signature(p, call))
				return false;
			if (g.hex && !g.type.dtype && call->types.count) /* bits of a number */
				g.type = call->types.at[0];
		} else if (mlir_is_word(&p->scan, "loc")) {
			mlir_skip_location(p);
		} else if (p->scan.token.kind == MLIR_VALUE) {
			*array_add(p->arena, &call->operands) = mlir_text(p->arena, &p->scan.token);
			mlir_advance(&p->scan);
		} else if (p->scan.token.kind == MLIR_SYMBOL) {
			if (!call->symbol)
				call->symbol = mlir_text(p->arena, &p->scan.token);
			mlir_advance(&p->scan);
		} else if (p->scan.token.kind == MLIR_WORD || p->scan.token.kind == MLIR_STRING) {
			mlir_gather_word(p, call, &g);
		} else {
			if (p->scan.token.kind == MLIR_NUMBER)
				mlir_gather_number(p, &g);
			mlir_advance(&p->scan);
		}
	}
	mlir_end_key(p, call, &g, "");
	return !p->failed && read_trailing_regions(p, call);
}

static void end_line(struct mlir_parser *p)
{
	mlir_advance(&p->scan);
	while (!mlir_ended(p) && !p->scan.token.begins_line && !mlir_is(&p->scan, '}')) {
		int line = p->scan.token.line;
		bool opens = p->scan.token.kind == MLIR_SIGN && strchr("([{<", p->scan.token.sign);
		mlir_advance(&p->scan);
		if (opens)
			mlir_skip_balanced(p, line);
	}
}

/* The name of an op, and the direction of a comparison. */
static const char *describe_op(struct mlir_parser *p, const struct mlir_call *call)
{
	const char *text = "";
	if (!strstr(call->op, "compare"))
		return call->op;
	for (size_t i = 0; i < call->attributes.count; i++) {
		const struct attribute *found = &call->attributes.at[i];
		if (found->text &&
			(!found->name[0] || text_equal(found->name, "comparison_direction")))
			text = found->text;
	}
	const char *word = strstr(text, "comparison_direction ");
	return arena_format(
		p->arena, "compare %s", word ? word + strlen("comparison_direction ") : text);
}

/* "%0 = op ..", "%a, %b = op ..", "%0:2 = op ..", "op .." */
static bool mlir_parse_call(struct mlir_parser *p, struct mlir_call *owner)
{
	struct mlir_call call = {.line = p->scan.token.line};
	while (p->scan.token.kind == MLIR_VALUE) {
		const char *name = mlir_text(p->arena, &p->scan.token);
		*array_add(p->arena, &call.results) = name;
		mlir_advance(&p->scan);
		if (mlir_is(&p->scan, ':')) {
			mlir_advance(&p->scan);
			int count = atoi(mlir_text(p->arena, &p->scan.token));
			call.results.count--;
			for (int i = 0; i < count && i < 64; i++)
				*array_add(p->arena, &call.results) =
					arena_format(p->arena, "%s#%d", name, i);
			mlir_advance(&p->scan);
		}
		if (mlir_is(&p->scan, ','))
			mlir_advance(&p->scan);
	}
	if (call.results.count) {
		if (!mlir_is(&p->scan, '='))
			return mlir_fail_here(p, "'=' is missing after a value");
		mlir_advance(&p->scan);
	}
	if (p->scan.token.kind != MLIR_WORD && p->scan.token.kind != MLIR_STRING)
		return mlir_fail_here(p, "the name of an op is missing");
	call.op = mlir_text(p->arena, &p->scan.token);
	mlir_advance(&p->scan);
	bool same_line = p->scan.token.line == call.line && !p->scan.token.begins_line;
	if (same_line && !read_rest(p, &call))
		return false;
	if (owner && !owner->body)
		owner->body = describe_op(p, &call);
	if (p->function) {
		const char *dot = strrchr(call.op, '.');
		bool returns = text_equal(dot ? dot + 1 : call.op, "return");
		for (size_t i = 0; returns && i < call.operands.count; i++)
			*array_add(p->arena, &p->function->returns) = call.operands.at[i];
		if (!returns)
			*array_add(p->arena, &p->function->calls) = call;
	}
	return true;
}

/* "%arg0: tensor<..> {attributes} loc(..)" */
static bool read_argument(struct mlir_parser *p, struct mlir_function *function)
{
	struct mlir_call facts = {0};
	struct gathering g = {.key = "", .text = text_open(p->arena)};
	struct mlir_type type;
	int line = p->scan.token.line;
	*array_add(p->arena, &function->arguments) = mlir_text(p->arena, &p->scan.token);
	mlir_advance(&p->scan);
	if (!mlir_is(&p->scan, ':'))
		return mlir_fail_here(p, "an argument without a type");
	mlir_advance(&p->scan);
	if (!mlir_read_type(p, &type))
		return false;
	*array_add(p->arena, &function->types) = type;
	if (mlir_is(&p->scan, '{')) {
		mlir_advance(&p->scan);
		mlir_gather_inside(p, &facts, &g, line);
		mlir_end_key(p, &facts, &g, "");
	}
	mlir_skip_location(p);
	const char *label = NULL;
	bool parameter = false;
	for (size_t i = 0; i < facts.attributes.count; i++) {
		const struct attribute *fact = &facts.attributes.at[i];
		if (text_equal(fact->name, "ttir.name"))
			label = fact->text;
		parameter |= fact->text &&
			     (strstr(fact->text, "parameter") || strstr(fact->text, "constant"));
	}
	*array_add(p->arena, &function->labels) = label;
	*array_add(p->arena, &function->parameters) = parameter;
	return !p->failed;
}

static bool parse_function(struct mlir_parser *p)
{
	int line = p->scan.token.line;
	struct mlir_function *function = array_add(p->arena, p->functions);
	*function = (struct mlir_function){.line = line, .name = "", .external = true};
	while (!mlir_ended(p) && p->scan.token.kind != MLIR_SYMBOL)
		mlir_advance(&p->scan);
	function->name = mlir_text(p->arena, &p->scan.token);
	mlir_advance(&p->scan);
	if (!mlir_is(&p->scan, '('))
		return mlir_fail(p, line, "a function without '('");
	mlir_advance(&p->scan);
	while (!mlir_is(&p->scan, ')')) {
		if (mlir_ended(p))
			return mlir_fail(
				p, line, "the list of arguments that opens here is not closed");
		if (p->scan.token.kind == MLIR_VALUE) {
			if (!read_argument(p, function))
				return false;
		} else {
			mlir_advance(&p->scan);
		}
	}
	mlir_advance(&p->scan);
	while (!mlir_ended(p) && !mlir_is(&p->scan, '{') && !mlir_is(&p->scan, '}')) {
		int opened = p->scan.token.line;
		bool skips = mlir_is_word(&p->scan, "attributes") || mlir_is(&p->scan, '(');
		if (p->scan.token.begins_line)
			return true;                    /* a declaration */
		if (mlir_is_word(&p->scan, "tensor")) { /* of a result; it may hold braces */
			struct mlir_type type;
			if (!mlir_read_type(p, &type))
				return false;
			continue;
		}
		bool attributes = mlir_is_word(&p->scan, "attributes");
		mlir_advance(&p->scan);
		if (attributes && mlir_is(&p->scan, '{'))
			mlir_advance(&p->scan);
		if (skips)
			mlir_skip_balanced(p, opened);
	}
	if (!mlir_is(&p->scan, '{'))
		return !p->failed;
	line = p->scan.token.line;
	mlir_advance(&p->scan);
	function->external = false;
	p->function = function;
	bool good = parse_block(p, line, NULL);
	p->function = NULL;
	return good;
}

/* "module @name attributes {..} { .. }" */
static bool parse_container(struct mlir_parser *p)
{
	int line = p->scan.token.line;
	mlir_advance(&p->scan);
	while (!mlir_ended(p) && !mlir_is(&p->scan, '{')) {
		bool attributes = mlir_is_word(&p->scan, "attributes");
		mlir_advance(&p->scan);
		if (attributes && mlir_is(&p->scan, '{')) {
			mlir_advance(&p->scan);
			mlir_skip_balanced(p, line);
		}
	}
	if (!mlir_is(&p->scan, '{'))
		return mlir_fail(p, line, "a module without '{'");
	line = p->scan.token.line;
	mlir_advance(&p->scan);
	return parse_block(p, line, NULL);
}

static bool is_container(const struct mlir_parser *p)
{
	size_t length = p->scan.token.length;
	return p->scan.token.kind == MLIR_WORD && length >= 6 &&
	       !memcmp(p->scan.token.text + length - 6, "module", 6);
}

/* "^bb0(%a: tensor<..>, %b: tensor<..>):" */
static bool read_block_arguments(struct mlir_parser *p)
{
	struct mlir_type type;
	mlir_advance(&p->scan);
	mlir_advance(&p->scan);
	while (!mlir_ended(p) && !mlir_is(&p->scan, ')') && !p->scan.token.begins_line) {
		if (mlir_is_word(&p->scan, "tensor")) {
			if (!mlir_read_type(p, &type))
				return false;
			continue;
		}
		if (p->scan.token.kind == MLIR_VALUE)
			*array_add(p->arena, &p->function->arguments) =
				mlir_text(p->arena, &p->scan.token);
		mlir_advance(&p->scan);
	}
	if (!p->scan.token.begins_line)
		end_line(p);
	return !p->failed;
}

/* One thing in a block, or at the top of the file. */
static bool parse_item(struct mlir_parser *p, struct mlir_call *owner)
{
	if (mlir_is_word(&p->scan, "func.func") || mlir_is_word(&p->scan, "func"))
		return parse_function(p);
	if (is_container(p))
		return parse_container(p);
	if (mlir_is(&p->scan, '^') && owner && p->function)
		return read_block_arguments(p);
	if (mlir_is(&p->scan, '^') || mlir_is(&p->scan, '#') || mlir_is(&p->scan, '!') ||
		mlir_is(&p->scan, ')')) {
		end_line(p);
		return !p->failed;
	}
	if (mlir_is_word(&p->scan, "loc")) {
		mlir_skip_location(p);
		return !p->failed;
	}
	return mlir_parse_call(p, owner);
}

static bool parse_block(struct mlir_parser *p, int line, struct mlir_call *owner)
{
	if (++p->depth > NESTING_MOST)
		return mlir_fail(p, line, "blocks are nested more than 64 deep");
	while (!mlir_is(&p->scan, '}')) {
		if (p->failed)
			return false;
		if (p->scan.token.kind == MLIR_END)
			return mlir_fail(p, line, "the brace that opens here is not closed");
		if (!parse_item(p, owner))
			return false;
	}
	mlir_advance(&p->scan);
	mlir_skip_location(p);
	p->depth--;
	return !p->failed;
}

bool mlir_parse(struct model *model, const char *text, struct mlir_functions *out)
{
	struct mlir_parser parser = {.model = model,
		.arena = model->arena,
		.functions = out,
		.scan = {.text = text, .line = 1}};
	mlir_advance(&parser.scan);
	while (!mlir_ended(&parser)) {
		if (mlir_is(&parser.scan, '}'))
			return mlir_fail_here(&parser, "a brace closes that nothing opened");
		if (!parse_item(&parser, NULL))
			return false;
	}
	return !parser.failed;
}
