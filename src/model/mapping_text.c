#include "base/arena.h"
#include "base/scan.h"
#include "base/text.h"
#include "model/mapping.h"

#include <string.h>

static const char undivided[] = "undivided";

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_spatial_by_default(const struct level *level)
{
	return level->kind != LEVEL_STORAGE;
}

static void print_factor(struct text *text, const char *name, uint32_t factor, bool along_y)
{
	bool digit = *name && is_digit(name[strlen(name) - 1]);
	text_add(text, " %s%s%u%s", name, digit ? "=" : "", factor, along_y ? "@y" : "");
}

/* The factors of a row, as " n2 k16"; empty when all are 1. */
static const char *print_row(
	struct arena *arena, const struct op *op, const struct mapping_row *row, bool spatial)
{
	struct text text = text_open(arena);
	for (int i = 0; i < op->loop_count; i++) {
		int l = spatial ? row->spatial_order[i]
				: row->temporal_order[op->loop_count - 1 - i];
		uint32_t factor = spatial ? row->spatial[l] : row->temporal[l];
		if (factor != 1)
			print_factor(&text, op->loops[l].name, factor,
				spatial && row->spatial_y >> l & 1);
	}
	return text_read(&text);
}

static void print_level(struct text *text, const struct arch *arch, const struct op *op,
	const struct mapping *mapping, int r)
{
	const struct level *level = &arch->levels[r];
	for (int spatial = 1; spatial >= 0; spatial--) {
		const char *row = print_row(text->arena, op, &mapping->rows[r], spatial);
		const char *kind = spatial ? " spatial" : " temporal";
		if (*row)
			text_add(text, "%s%s%s:%s", text->length ? " | " : "", level->name,
				spatial == is_spatial_by_default(level) ? "" : kind, row);
	}
}

static const char *print_places(struct arena *arena, const struct arch *arch, uint32_t residency)
{
	struct text text = text_open(arena);
	for (int r = 0; r < arch->level_count; r++) {
		if (residency >> r & 1)
			text_add(&text, "%s%s", text.length ? "," : "", arch->levels[r].name);
	}
	return text.length ? text_read(&text) : "nowhere";
}

/* Operands kept alike stand together, in the order of their first. */
static void print_residency(struct text *text, const struct arch *arch, const struct op *op,
	const struct mapping *mapping)
{
	const char *before = text->length ? " | keep " : "keep ";
	uint32_t done = 0;
	for (int i = 0; i < op_operands(op) && i <= OP_READS_MOST; i++) {
		uint32_t kept = mapping->residency[i];
		if (done >> i & 1 || kept == mapping_kept_by_default(arch))
			continue;
		text_add(text, "%s%s:", before, print_places(text->arena, arch, kept));
		before = "; ";
		for (int j = i; j < op_operands(op) && j <= OP_READS_MOST; j++) {
			if (mapping->residency[j] != kept)
				continue;
			text_add(text, " %d", j);
			done |= 1u << j;
		}
	}
}

const char *mapping_print(struct arena *arena, const struct arch *arch, const struct op *op,
	const struct mapping *mapping)
{
	struct text text = text_open(arena);
	for (int r = 0; r < arch->level_count; r++)
		print_level(&text, arch, op, mapping, r);
	print_residency(&text, arch, op, mapping);
	return text.length ? text_read(&text) : undivided;
}

/* What parsing knows and has found so far. */
struct parse {
	struct arena *arena;
	const struct arch *arch;
	const struct op *op;
	const char *at;
	const char *why; /* NULL while all is well */
	struct mapping mapping;
	uint64_t rows_given; /* bit 2r: temporal, 2r + 1: spatial row of level r */
	uint32_t operands_given;
};

/* Up to a blank or one of `stops`. */
static const char *scan_name(struct parse *parse, const char *stops)
{
	parse->at += strspn(parse->at, " \t");
	size_t length = strcspn(parse->at, stops);
	char *name = arena_alloc(parse->arena, length + 1);
	memcpy(name, parse->at, length);
	parse->at += length;
	return name;
}

static const char *nearest(const char *word, const char *const *known)
{
	const char *near = suggest(word, known);
	return near ? near : "";
}

static int find_level(struct parse *parse, const char *name)
{
	int r = arch_level(parse->arch, name);
	if (r >= 0)
		return r;
	const char *known[ARCH_LEVELS_MOST + 1] = {0};
	for (int i = 0; i < parse->arch->level_count; i++)
		known[i] = parse->arch->levels[i].name;
	const char *near = nearest(name, known);
	parse->why = arena_format(parse->arena,
		*near ? "no level '%s'; did you mean '%s'?" : "no level '%s'%s", name, near);
	return -1;
}

static int find_loop(struct parse *parse, const char *name)
{
	const char *known[OP_LOOPS_MOST + 1] = {0};
	for (int l = 0; l < parse->op->loop_count; l++) {
		known[l] = parse->op->loops[l].name;
		if (text_equal(known[l], name))
			return l;
	}
	const char *near = nearest(name, known);
	parse->why = arena_format(parse->arena,
		*near ? "op '%s' has no loop '%s'; did you mean '%s'?"
		      : "op '%s' has no loop '%s'%s",
		parse->op->name, name, near);
	return -1;
}

/* "n8", "n8@y", "k1=4": the loop, -1 after complaining. */
static int parse_factor(struct parse *parse, uint32_t *factor, bool *along_y)
{
	const char *word = scan_name(parse, " \t|");
	size_t length = strlen(word);
	*along_y = length > 2 && text_equal(word + length - 2, "@y");
	if (*along_y)
		length -= 2;
	size_t name_length = length;
	while (name_length > 0 && is_digit(word[name_length - 1]))
		name_length--;
	const char *digits = word + name_length;
	int64_t value;
	if (name_length == 0 || !scan_integer(&digits, &value) || value < 1 || value > UINT32_MAX) {
		parse->why = arena_format(
			parse->arena, "'%s' is no factor; 'n8' divides loop n by 8", word);
		return -1;
	}
	*factor = (uint32_t)value;
	if (word[name_length - 1] == '=')
		name_length--;
	return find_loop(parse, arena_format(parse->arena, "%.*s", (int)name_length, word));
}

/* Loops as written, then the others by number. */
static void set_order(uint8_t *order, const int *written, int count, int loop_count, bool reversed)
{
	uint32_t seen = 0;
	int n = 0;
	for (int i = 0; i < count; i++) {
		int l = written[reversed ? count - 1 - i : i];
		order[n++] = (uint8_t)l;
		seen |= 1u << l;
	}
	for (int l = 0; l < loop_count; l++) {
		if (!(seen >> l & 1))
			order[n++] = (uint8_t)l;
	}
}

static void parse_row(struct parse *parse, int r, bool spatial)
{
	struct mapping_row *row = &parse->mapping.rows[r];
	int written[OP_LOOPS_MOST], count = 0;
	uint32_t seen = 0;
	while (!scan_end(&parse->at) && !scan_text(&parse->at, "|")) {
		uint32_t factor = 1;
		bool along_y = false;
		int l = parse_factor(parse, &factor, &along_y);
		if (l < 0)
			return;
		if (seen >> l & 1 || (along_y && !spatial)) {
			parse->why = arena_format(parse->arena,
				seen >> l & 1 ? "loop '%s' stands twice in the row of '%s'"
					      : "loop '%s' of '%s' is temporal: it has no Y",
				parse->op->loops[l].name, parse->arch->levels[r].name);
			return;
		}
		seen |= 1u << l;
		written[count++] = l;
		(spatial ? row->spatial : row->temporal)[l] = factor;
		if (along_y)
			row->spatial_y |= (uint16_t)(1u << l);
	}
	set_order(spatial ? row->spatial_order : row->temporal_order, written, count,
		parse->op->loop_count, !spatial);
}

static bool parse_places(struct parse *parse, uint32_t *residency)
{
	*residency = 0;
	if (scan_text(&parse->at, "nowhere"))
		return true;
	do {
		int r = find_level(parse, scan_name(parse, " \t,:;|"));
		if (r < 0)
			return false;
		*residency |= 1u << r;
	} while (scan_text(&parse->at, ","));
	return true;
}

static void parse_keep(struct parse *parse)
{
	do {
		uint32_t residency;
		int64_t operand;
		if (!parse_places(parse, &residency))
			return;
		if (!scan_text(&parse->at, ":")) {
			parse->why = "after 'keep LEVEL' follow ':' and numbers of operands";
			return;
		}
		while (scan_integer(&parse->at, &operand)) {
			if (operand >= op_operands(parse->op) || operand > OP_READS_MOST ||
				parse->operands_given >> operand & 1) {
				parse->why = arena_format(parse->arena,
					operand >= op_operands(parse->op)
						? "op '%s' has no operand %lld"
						: "op '%s' says twice where operand %lld is kept",
					parse->op->name, (long long)operand);
				return;
			}
			parse->operands_given |= 1u << operand;
			parse->mapping.residency[operand] = residency;
		}
	} while (scan_text(&parse->at, ";"));
	if (!scan_end(&parse->at) && !scan_text(&parse->at, "|"))
		parse->why = "after 'keep LEVEL:' follow numbers of operands";
}

/* "core:", "LX spatial:", "keep" up to the end of the part. */
static void parse_part(struct parse *parse)
{
	const char *name = scan_name(parse, " \t:|");
	if (text_equal(name, "keep")) {
		parse_keep(parse);
		return;
	}
	int r = find_level(parse, name);
	if (r < 0)
		return;
	bool spatial = scan_text(&parse->at, "spatial");
	if (!spatial && !scan_text(&parse->at, "temporal"))
		spatial = is_spatial_by_default(&parse->arch->levels[r]);
	uint64_t bit = 1ull << (2 * r + spatial);
	if (!scan_text(&parse->at, ":"))
		parse->why = arena_format(parse->arena, "after '%s' follow ':' and factors", name);
	else if (parse->rows_given & bit)
		parse->why = arena_format(parse->arena, "the row of '%s' is given twice", name);
	else
		parse_row(parse, r, spatial);
	parse->rows_given |= bit;
}

const char *mapping_parse(struct arena *arena, const struct arch *arch, const struct op *op,
	const char *text, struct mapping *out)
{
	struct parse parse = {
		.arena = arena,
		.arch = arch,
		.op = op,
		.at = text,
		.mapping = mapping_make(arch, op),
	};
	scan_text(&parse.at, undivided);
	while (!parse.why && !scan_end(&parse.at))
		parse_part(&parse);
	if (!parse.why)
		*out = parse.mapping;
	return parse.why;
}
