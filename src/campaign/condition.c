#include "campaign/condition.h"

#include "base/arena.h"
#include "base/text.h"

#include <ctype.h>
#include <string.h>

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* The first place of a word in text[from..to), or of an operator, outside of parentheses; `to`
 * where there is none. */
static size_t find(const char *text, size_t from, size_t to, const char *word)
{
	size_t length = strlen(word);
	int depth = 0;
	for (size_t i = from; i + length <= to; i++) {
		depth += (text[i] == '(') - (text[i] == ')');
		if (depth || strncmp(text + i, word, length) != 0)
			continue;
		bool inside =
			is_name(*word) && ((i > from && is_name(text[i - 1])) ||
						  (i + length < to && is_name(text[i + length])));
		if (!inside)
			return i;
	}
	return to;
}

/* The next place of a word in a text, as a whole word; NULL. */
static const char *next_word(const char *from, const char *text, const char *word)
{
	size_t length = strlen(word);
	for (const char *at = from; (at = strstr(at, word)); at++)
		if ((at == text || !is_name(at[-1])) && !is_name(at[length]))
			return at;
	return NULL;
}

bool condition_misses(const struct setting_values *values, const char *text)
{
	for (size_t i = 0; values->absent && values->absent[i]; i++)
		if (next_word(text, text, values->absent[i]))
			return true;
	return false;
}

/* Part of a scalar, without blanks around it. */
struct when_clause {
	const struct setting_values *values;
	const struct node *scalar;
	size_t from, to;
};

static struct when_clause part(const struct when_clause *whole, size_t from, size_t to)
{
	const char *text = whole->scalar->text;
	while (from < to && isspace((unsigned char)text[from]))
		from++;
	while (to > from && isspace((unsigned char)text[to - 1]))
		to--;
	return (struct when_clause){whole->values, whole->scalar, from, to};
}

static const struct node *operand(const struct when_clause *clause)
{
	const char *text = arena_format(clause->values->arena, "%.*s",
		(int)(clause->to - clause->from), clause->scalar->text + clause->from);
	return node_scalar(
		clause->values->arena, text, node_part(clause->scalar, clause->from, clause->to));
}

static bool refuse(const struct when_clause *clause, const char *why)
{
	diag_error(clause->values->diag, node_part(clause->scalar, clause->from, clause->to),
		"'when': %s", why);
	return false;
}

/* The word that an operand is: of a parameter its value. */
static const char *word_of(const struct setting_values *values, const struct node *operand)
{
	const struct node *value = node_find(values->map, operand->text);
	const char *text = value ? value->text : operand->text;
	size_t length = strlen(text);
	bool quoted = length > 1 && (*text == '\'' || *text == '"') && text[length - 1] == *text;
	return quoted ? arena_format(values->arena, "%.*s", (int)length - 2, text + 1) : text;
}

/* A word that stands beside a parameter is one of those that the parameter can be. */
static bool check_word(
	const struct when_clause *clause, const struct node *parameter, const struct node *literal)
{
	const struct setting_values *values = clause->values;
	const char *const *words = values->words(values->context, parameter->text);
	const char *word = word_of(values, literal);
	if (!words || node_find(values->map, literal->text))
		return true;
	for (size_t i = 0; words[i]; i++)
		if (text_equal(words[i], word))
			return true;
	diag_error(values->diag, literal->span, "'when': '%s' is never '%s'%s", parameter->text,
		word, suggestion(values->arena, suggest(word, words), ""));
	return false;
}

static bool compare_words(const struct when_clause *clause, const struct node *a,
	const struct node *b, bool equal, bool *holds)
{
	*holds = text_equal(word_of(clause->values, a), word_of(clause->values, b)) == equal;
	return check_word(clause, a, b) && check_word(clause, b, a);
}

static const char *const operators[] = {"<=", ">=", "==", "!=", "<", ">"};
enum { OPERATORS = sizeof operators / sizeof *operators };

static bool judge(int sign, int which)
{
	const bool answers[OPERATORS] = {
		sign <= 0, sign >= 0, sign == 0, sign != 0, sign<0, sign> 0};
	return answers[which];
}

static bool compare(const struct when_clause *clause, size_t at, int which, bool *holds)
{
	const struct setting_values *values = clause->values;
	struct when_clause left = part(clause, clause->from, at);
	struct when_clause right = part(clause, at + strlen(operators[which]), clause->to);
	const struct node *a = operand(&left), *b = operand(&right);
	struct value x, y, rest;
	if (!*a->text || !*b->text)
		return refuse(clause, "a comparison has two sides");
	bool words = which == 2 || which == 3;
	struct diag *said = words ? diag_open(values->arena) : values->diag;
	bool good = expr_read(said, values->variables, a, "'when'", &x) &&
		    expr_read(said, values->variables, b, "'when'", &y);
	if (!good && words && (node_find(values->map, a->text) || node_find(values->map, b->text)))
		return compare_words(clause, a, b, which == 2, holds);
	if (!good && words) /* once more, aloud */
		good = expr_read(values->diag, values->variables, a, "'when'", &x) &&
		       expr_read(values->diag, values->variables, b, "'when'", &y);
	if (!good)
		return false;
	const char *why = value_sub(x, y, &rest);
	if (why)
		return refuse(clause, why);
	*holds = judge((rest.real > 0) - (rest.real < 0), which);
	return true;
}

static bool read_clause(const struct when_clause *clause, bool *holds)
{
	const char *text = clause->scalar->text;
	for (int joined = 0; joined < 2; joined++) {
		const char *word = joined ? "and" : "or";
		size_t at = find(text, clause->from, clause->to, word);
		if (at == clause->to)
			continue;
		bool rest = false;
		struct when_clause first = part(clause, clause->from, at);
		struct when_clause others = part(clause, at + strlen(word), clause->to);
		bool good = read_clause(&first, holds) && read_clause(&others, &rest);
		*holds = joined ? *holds && rest : *holds || rest;
		return good;
	}
	if (find(text, clause->from, clause->to, "not") == clause->from &&
		clause->from < clause->to) {
		struct when_clause rest = part(clause, clause->from + 3, clause->to);
		bool good = read_clause(&rest, holds);
		*holds = !*holds;
		return good;
	}
	size_t first = clause->to;
	int which = OPERATORS;
	for (int i = 0; i < OPERATORS; i++) {
		size_t at = find(text, clause->from, clause->to, operators[i]);
		if (at < first) {
			first = at;
			which = i;
		}
	}
	if (which < OPERATORS)
		return compare(clause, first, which, holds);
	if (clause->to > clause->from + 1 && text[clause->from] == '(' &&
		text[clause->to - 1] == ')') {
		struct when_clause inner = part(clause, clause->from + 1, clause->to - 1);
		return read_clause(&inner, holds);
	}
	return refuse(clause, "a comparison such as 'rows * columns <= 256' is expected");
}

bool condition_read(const struct setting_values *values, const struct node *node, bool *holds)
{
	*holds = true;
	if (node->kind == NODE_MAP) {
		diag_error(values->diag, node->span, "'when' is a map; a comparison is expected");
		return false;
	}
	for (size_t i = 0; i < (node->kind == NODE_LIST ? node->count : 1); i++) {
		const struct node *item = node_item(node, i);
		bool one = false;
		if (item->kind != NODE_SCALAR) {
			diag_error(values->diag, item->span,
				"'when' is %s; a comparison is expected", node_kind_name(item));
			return false;
		}
		struct when_clause clause = {values, item, 0, strlen(item->text)};
		clause = part(&clause, 0, clause.to);
		if (condition_misses(values, item->text))
			one = false;
		else if (!read_clause(&clause, &one))
			return false;
		*holds &= one;
	}
	return true;
}
