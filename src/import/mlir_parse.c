#include "import/mlir_parser.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool parse_block(struct mlir_parser *p, int line, struct mlir_call *owner);

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

/* A list of operands or regions: "(%a, %b)", "({ .. })". */
static bool read_operands(struct mlir_parser *p, struct mlir_call *call, struct gathering *g)
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
				*array_add(p->arena, &call->operands) =
					mlir_text(p->arena, &p->scan.token);
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
			if (!parse_block(p, opened, call))
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
		if (!parse_block(p, line, call))
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
			if (!read_operands(p, call, &g))
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
static bool parse_call(struct mlir_parser *p, struct mlir_call *owner)
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
	if (owner) {
		if (!owner->body)
			owner->body = describe_op(p, &call);
	} else if (p->function) {
		bool returns = text_equal(call.op, "return") || text_equal(call.op, "func.return");
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

/* One thing in a block, or at the top of the file. */
static bool parse_item(struct mlir_parser *p, struct mlir_call *owner)
{
	if (mlir_is_word(&p->scan, "func.func") || mlir_is_word(&p->scan, "func"))
		return parse_function(p);
	if (is_container(p))
		return parse_container(p);
	if (mlir_is(&p->scan, '^') || mlir_is(&p->scan, '#') || mlir_is(&p->scan, '!') ||
		mlir_is(&p->scan, ')')) {
		end_line(p);
		return !p->failed;
	}
	if (mlir_is_word(&p->scan, "loc")) {
		mlir_skip_location(p);
		return !p->failed;
	}
	return parse_call(p, owner);
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
