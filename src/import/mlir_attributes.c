#include "import/mlir_parser.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool mlir_fail(struct mlir_parser *p, int line, const char *text)
{
	if (!p->failed)
		diag_error(p->model->diag, model_place(p->model, line), "%s", text);
	p->failed = true;
	return false;
}

bool mlir_fail_here(struct mlir_parser *p, const char *text)
{
	return mlir_fail(p, p->scan.token.line, text);
}

bool mlir_ended(const struct mlir_parser *p)
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

/* The inside of tensor<32x1xf32, #encoding>, in the text itself: "32x1xf32" is no token. */
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
void mlir_skip_balanced(struct mlir_parser *p, int line)
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

/* One type; what is no tensor has no dtype. */
bool mlir_read_type(struct mlir_parser *p, struct mlir_type *out)
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

void mlir_skip_location(struct mlir_parser *p)
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

void mlir_gather_number(struct mlir_parser *p, struct gathering *g)
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

void mlir_end_key(
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

void mlir_gather_word(struct mlir_parser *p, struct mlir_call *call, struct gathering *g)
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
void mlir_gather_inside(
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
