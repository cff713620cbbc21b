#include "import/mlir.h"

#include <ctype.h>
#include <string.h>

static bool is_name(char c)
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
	while (is_name(scan->text[scan->at]) || (hash && scan->text[scan->at] == '#'))
		scan->at++;
	scan->token.text = scan->text + from;
	scan->token.length = scan->at - from;
}

/* "12", "-1.5e-3", "0xFF80"; of "32x1xf32" the caller takes the rest. */
static void take_number(struct mlir_scan *scan)
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

void mlir_advance(struct mlir_scan *scan)
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
		take_number(scan);
	} else if (c == '-' && next == '>') {
		scan->token.kind = MLIR_ARROW;
		scan->at += 2;
	} else {
		scan->token.kind = MLIR_SIGN;
		scan->token.sign = c;
		scan->at++;
	}
}

bool mlir_is(const struct mlir_scan *scan, char sign)
{
	return scan->token.kind == MLIR_SIGN && scan->token.sign == sign;
}

bool mlir_is_word(const struct mlir_scan *scan, const char *word)
{
	return scan->token.kind == MLIR_WORD && scan->token.length == strlen(word) &&
	       !memcmp(scan->token.text, word, scan->token.length);
}

const char *mlir_text(struct arena *arena, const struct mlir_token *token)
{
	return arena_format(
		arena, "%.*s", (int)(token->length > 4000 ? 4000 : token->length), token->text);
}
