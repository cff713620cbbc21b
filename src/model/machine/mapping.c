#include "model/machine/mapping.h"

#include "base/arena.h"
#include "base/fatal.h"
#include "base/number.h"
#include "base/text.h"

#include <string.h>

uint32_t mapping_storages(const struct arch *arch)
{
	uint32_t storages = 0;
	for (int r = 0; r < arch->level_count; r++)
		storages |= arch->levels[r].kind == LEVEL_STORAGE ? 1u << r : 0;
	return storages;
}

uint32_t mapping_kept_by_default(const struct arch *arch)
{
	return arch_moves_boxes(arch) ? 1u << arch->hbm | 1u << arch->lx : mapping_storages(arch);
}

struct mapping mapping_undivided(
	const struct arch *arch, int loop_count, int operand_count, uint32_t kept)
{
	struct mapping mapping = {
		.loop_count = (uint8_t)loop_count, .level_count = (uint8_t)arch->level_count};
	for (int i = 0; i < operand_count; i++)
		mapping.residency[i] = kept;
	for (int r = 0; r < arch->level_count; r++) {
		struct mapping_row *row = &mapping.rows[r];
		for (int l = 0; l < loop_count; l++) {
			row->spatial[l] = row->temporal[l] = 1;
			row->spatial_order[l] = row->temporal_order[l] = (uint8_t)l;
		}
	}
	return mapping;
}

bool mapping_has_loops(const struct mapping *mapping, int r)
{
	for (int l = 0; l < mapping->loop_count; l++)
		if (mapping->rows[r].temporal[l] > 1)
			return true;
	return false;
}

int64_t mapping_times(int64_t a, int64_t b)
{
	if (!number_mul(a, b, &a))
		BUG("a mapping's factors multiply to more than an int64_t");
	return a;
}

int64_t mapping_cores(const struct arch *arch, const struct mapping *mapping)
{
	int64_t cores = 1;
	for (int l = 0; l < mapping->loop_count; l++)
		cores = mapping_times(cores, mapping_split(arch, mapping, l));
	return cores;
}

int64_t mapping_split(const struct arch *arch, const struct mapping *mapping, int l)
{
	return arch->core < 0 ? 1 : mapping->rows[arch->core].spatial[l];
}

int64_t mapping_divisor(const struct arch *arch, const struct mapping *mapping, int l)
{
	if (arch->core < 0)
		return 1;
	const struct mapping_row *row = &mapping->rows[arch->core];
	int64_t divisor = 1;
	for (int i = 0; i < mapping->loop_count && row->spatial_order[i] != l; i++)
		divisor = mapping_times(divisor, row->spatial[row->spatial_order[i]]);
	return divisor;
}

/* The same factors, and those above 1 in the same order. */
static bool same_loops(const uint32_t *a_factors, const uint8_t *a_order, const uint32_t *b_factors,
	const uint8_t *b_order, int count)
{
	int j = 0;
	for (int i = 0; i < count; i++) {
		int l = a_order[i];
		if (a_factors[l] != b_factors[l])
			return false;
		if (a_factors[l] == 1)
			continue;
		while (j < count && b_factors[b_order[j]] == 1)
			j++;
		if (j == count || b_order[j++] != l)
			return false;
	}
	return true;
}

static bool same_axes(const struct mapping_row *a, const struct mapping_row *b, int count)
{
	for (int l = 0; l < count; l++) {
		if (a->spatial[l] > 1 && ((a->spatial_y ^ b->spatial_y) >> l & 1))
			return false;
	}
	return true;
}

bool mapping_equal(const struct mapping *a, const struct mapping *b)
{
	if (a->loop_count != b->loop_count || a->level_count != b->level_count)
		return false;
	for (int i = 0; i <= OP_READS_MOST; i++) {
		if (a->residency[i] != b->residency[i])
			return false;
	}
	for (int r = 0; r < a->level_count; r++) {
		const struct mapping_row *x = &a->rows[r], *y = &b->rows[r];
		if (!same_loops(x->spatial, x->spatial_order, y->spatial, y->spatial_order,
			    a->loop_count) ||
			!same_loops(x->temporal, x->temporal_order, y->temporal, y->temporal_order,
				a->loop_count) ||
			!same_axes(x, y, a->loop_count))
			return false;
	}
	return true;
}

static const char undivided[] = "undivided";

static bool is_spatial_by_default(const struct level *level)
{
	return level->kind != LEVEL_STORAGE;
}

int64_t mapping_last_round(
	const struct mapping *mapping, int row, bool spatial, int l, int64_t extent)
{
	int64_t units = extent;
	for (int r = mapping->level_count - 1; r > row; r--) {
		units = number_ceil_div(units, mapping->rows[r].temporal[l]);
		units = number_ceil_div(units, mapping->rows[r].spatial[l]);
	}
	const struct mapping_row *own = &mapping->rows[row];
	if (spatial)
		units = number_ceil_div(units, own->temporal[l]);
	return (units - 1) % (spatial ? own->spatial[l] : own->temporal[l]) + 1;
}

static void print_factor(struct text *text, const struct mapping_notation *notation,
	const struct mapping *mapping, int r, bool spatial, int l)
{
	const struct mapping_row *row = &mapping->rows[r];
	const char *name = notation->loops[l];
	int64_t factor = spatial ? row->spatial[l] : row->temporal[l], last = factor;
	if (notation->extents[l])
		last = mapping_last_round(mapping, r, spatial, l, notation->extents[l]);
	bool digit = *name && scan_is_digit(name[strlen(name) - 1]);
	text_add(text, " %s%s%lld", name, digit || last != factor ? "=" : "", (long long)factor);
	if (last != factor)
		text_add(text, ",%lld", (long long)last);
	if (spatial && row->spatial_y >> l & 1)
		text_add(text, "@y");
}

/* The factors of a row, as " n2 k16"; empty when all are 1. */
static const char *print_row(struct arena *arena, const struct mapping_notation *notation,
	const struct mapping *mapping, int r, bool spatial)
{
	const struct mapping_row *row = &mapping->rows[r];
	int count = notation->loop_count;
	struct text text = text_open(arena);
	for (int i = 0; i < count; i++) {
		int l = spatial ? row->spatial_order[i] : row->temporal_order[count - 1 - i];
		if ((spatial ? row->spatial[l] : row->temporal[l]) != 1)
			print_factor(&text, notation, mapping, r, spatial, l);
	}
	return text_read(&text);
}

/* A name with blanks stands in quotes. */
static const char *mapping_quoted(struct arena *arena, const char *name)
{
	return strchr(name, ' ') ? arena_format(arena, "\"%s\"", name) : name;
}

static void mapping_add_row(
	struct text *text, const struct level *level, const char *kind, const char *row)
{
	if (*row)
		text_add(text, "%s%s%s:%s", text->length ? " | " : "",
			mapping_quoted(text->arena, level->name), kind, row);
}

static void print_level(struct text *text, const struct mapping_notation *notation,
	const struct mapping *mapping, int r)
{
	const struct arch *arch = notation->arch;
	const struct level *level = &arch->levels[r];
	for (int spatial = 1; spatial >= 0; spatial--) {
		const char *kind = spatial ? " spatial" : " temporal";
		if (notation->inner && r == arch->hbm && !spatial)
			continue;
		mapping_add_row(text, level, spatial == is_spatial_by_default(level) ? "" : kind,
			print_row(text->arena, notation, mapping, r, spatial));
	}
	if (notation->inner && r == arch->lx)
		mapping_add_row(text, level, " inside",
			print_row(text->arena, notation, mapping, arch->hbm, false));
}

static const char *print_places(struct arena *arena, const struct arch *arch, uint32_t residency)
{
	struct text text = text_open(arena);
	for (int r = 0; r < arch->level_count; r++) {
		if (residency >> r & 1)
			text_add(&text, "%s%s", text.length ? "," : "",
				mapping_quoted(arena, arch->levels[r].name));
	}
	return text.length ? text_read(&text) : "nowhere";
}

/* Operands kept alike stand together, in the order of their first. */
static void print_residency(
	struct text *text, const struct mapping_notation *notation, const struct mapping *mapping)
{
	const char *before = text->length ? " | keep " : "keep ";
	uint32_t done = 0;
	for (int i = 0; i < notation->operand_count; i++) {
		uint32_t kept = mapping->residency[i];
		if (done >> i & 1 || kept == notation->kept_by_default)
			continue;
		text_add(text, "%s%s:", before, print_places(text->arena, notation->arch, kept));
		before = "; ";
		for (int j = i; j < notation->operand_count; j++) {
			if (mapping->residency[j] != kept)
				continue;
			text_add(text, " %s", notation->operands[j]);
			done |= 1u << j;
		}
	}
}

const char *notation_print(
	struct arena *arena, const struct mapping_notation *notation, const struct mapping *mapping)
{
	struct text text = text_open(arena);
	for (int r = 0; r < notation->arch->level_count; r++)
		print_level(&text, notation, mapping, r);
	print_residency(&text, notation, mapping);
	return text.length ? text_read(&text) : undivided;
}

/* State of parsing a mapping. */
struct notation_parse {
	struct arena *arena;
	const struct mapping_notation *notation;
	const char *at;
	const char *why; /* NULL while all is well */
	struct mapping mapping;
	uint64_t rows_given; /* bit 2r: temporal, 2r + 1: spatial row of level r */
	uint32_t operands_given;
	/* last rounds as written, 0 where none is: [level][spatial][loop] */
	uint32_t last[ARCH_LEVELS_MOST][2][OP_LOOPS_MOST];
};

/* Up to a blank or one of `stops`, or what stands in quotes. */
static const char *mapping_scan_name(struct notation_parse *parse, const char *stops)
{
	parse->at += strspn(parse->at, " \t");
	const char *end = *parse->at == '"' ? strchr(parse->at + 1, '"') : NULL;
	size_t length = end ? (size_t)(end - parse->at) - 1 : strcspn(parse->at, stops);
	parse->at += end != NULL;
	char *name = arena_alloc(parse->arena, length + 1);
	memcpy(name, parse->at, length);
	parse->at += length + (end != NULL);
	return name;
}

static int find_level(struct notation_parse *parse, const char *name)
{
	const struct arch *arch = parse->notation->arch;
	int r = arch_level(arch, name);
	if (r >= 0)
		return r;
	const char *known[ARCH_LEVELS_MOST + 1] = {0};
	for (int i = 0; i < arch->level_count; i++)
		known[i] = arch->levels[i].name;
	parse->why = arena_format(parse->arena, "no level '%s'%s", name,
		suggestion(parse->arena, suggest(name, known), ""));
	return -1;
}

static int find_word(
	struct notation_parse *parse, const char *name, const char *const *known, const char *what)
{
	for (int i = 0; known[i]; i++)
		if (text_equal(known[i], name))
			return i;
	parse->why = arena_format(parse->arena, "%s has no %s '%s'%s", parse->notation->owner, what,
		name, suggestion(parse->arena, suggest(name, known), ""));
	return -1;
}

struct notation_factor {
	uint32_t bound, last; /* last: 0 when not written */
	bool along_y;
};

/* A positive number of 32 bits that ends the word. */
static bool parse_count(const char *digits, uint32_t *out)
{
	int64_t value;
	if (!scan_is_digit(*digits) || !scan_integer(&digits, &value) || *digits || value < 1 ||
		value > UINT32_MAX)
		return false;
	*out = (uint32_t)value;
	return true;
}

/* "n8", "n8@y", "k1=4", "M=4,3": the loop, -1 after complaining. */
static int parse_factor(struct notation_parse *parse, struct notation_factor *factor)
{
	const struct mapping_notation *notation = parse->notation;
	const char *word = mapping_scan_name(parse, " \t|");
	char *number = arena_text(parse->arena, word);
	size_t length = strlen(number);
	factor->along_y = length > 2 && text_equal(number + length - 2, "@y");
	if (factor->along_y)
		number[length - 2] = '\0';
	char *comma = notation->extents[0] ? strchr(number, ',') : NULL;
	bool good = !comma || parse_count(comma + 1, &factor->last);
	if (comma)
		*comma = '\0';
	size_t name_length = strlen(number);
	while (name_length > 0 && scan_is_digit(number[name_length - 1]))
		name_length--;
	if (!good || !name_length || !parse_count(number + name_length, &factor->bound)) {
		parse->why = arena_format(
			parse->arena, "'%s' is not a factor; %s", word, notation->factor_wanted);
		return -1;
	}
	if (number[name_length - 1] == '=')
		name_length--;
	number[name_length] = '\0';
	return find_word(parse, number, notation->loops, notation->loop_word);
}

/* Loops as written, then the others by number. */
static void mapping_set_order(
	uint8_t *order, const int *written, int count, int loop_count, bool reversed)
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

static void parse_row(struct notation_parse *parse, int r, bool spatial)
{
	const struct mapping_notation *notation = parse->notation;
	struct mapping_row *row = &parse->mapping.rows[r];
	int written[OP_LOOPS_MOST], count = 0;
	uint32_t seen = 0;
	while (!scan_end(&parse->at) && !scan_text(&parse->at, "|")) {
		struct notation_factor factor = {1, 0, false};
		int l = parse_factor(parse, &factor);
		if (l < 0)
			return;
		if (seen >> l & 1 || (factor.along_y && !spatial)) {
			parse->why = arena_format(parse->arena,
				seen >> l & 1 ? "%s '%s' stands twice in the row of '%s'"
					      : "%s '%s' of '%s' is temporal: it has no Y",
				notation->loop_word, notation->loops[l],
				notation->arch->levels[r].name);
			return;
		}
		seen |= 1u << l;
		written[count++] = l;
		(spatial ? row->spatial : row->temporal)[l] = factor.bound;
		parse->last[r][spatial][l] = factor.last;
		if (factor.along_y)
			row->spatial_y |= (uint16_t)(1u << l);
	}
	mapping_set_order(spatial ? row->spatial_order : row->temporal_order, written, count,
		notation->loop_count, !spatial);
}

static bool parse_places(struct notation_parse *parse, uint32_t *residency)
{
	*residency = 0;
	if (scan_text(&parse->at, "nowhere"))
		return true;
	do {
		int r = find_level(parse, mapping_scan_name(parse, " \t,:;|"));
		if (r < 0)
			return false;
		*residency |= 1u << r;
	} while (scan_text(&parse->at, ","));
	return true;
}

static bool parse_operand(struct notation_parse *parse, uint32_t residency)
{
	const struct mapping_notation *notation = parse->notation;
	const char *name = mapping_scan_name(parse, " \t,:;|");
	int operand = find_word(parse, name, notation->operands, notation->operand_word);
	if (operand < 0)
		return false;
	if (parse->operands_given >> operand & 1) {
		parse->why = arena_format(parse->arena, "%s says twice where %s %s is kept",
			notation->owner, notation->operand_word, name);
		return false;
	}
	parse->operands_given |= 1u << operand;
	parse->mapping.residency[operand] = residency;
	return true;
}

static void parse_keep(struct notation_parse *parse)
{
	const char *wanted = parse->notation->operands_wanted;
	do {
		uint32_t residency;
		if (!parse_places(parse, &residency))
			return;
		if (!scan_text(&parse->at, ":")) {
			parse->why = arena_format(
				parse->arena, "after 'keep LEVEL' follow ':' and %s", wanted);
			return;
		}
		parse->at += strspn(parse->at, " \t");
		while (*parse->at && !strchr(",:;|", *parse->at)) {
			if (!parse_operand(parse, residency))
				return;
			parse->at += strspn(parse->at, " \t");
		}
	} while (scan_text(&parse->at, ";"));
	if (!scan_end(&parse->at) && !scan_text(&parse->at, "|"))
		parse->why = arena_format(parse->arena, "after 'keep LEVEL:' follow %s", wanted);
}

/* "core:", "LX spatial:", "keep" up to the end of the part. */
static void parse_part(struct notation_parse *parse)
{
	const char *name = mapping_scan_name(parse, " \t:|");
	if (text_equal(name, "keep")) {
		parse_keep(parse);
		return;
	}
	int r = find_level(parse, name);
	if (r < 0)
		return;
	const struct arch *arch = parse->notation->arch;
	bool inside = parse->notation->inner && r == arch->lx && scan_text(&parse->at, "inside");
	bool spatial = !inside && scan_text(&parse->at, "spatial");
	if (!inside && !spatial && !scan_text(&parse->at, "temporal"))
		spatial = is_spatial_by_default(&arch->levels[r]);
	if (parse->notation->inner && r == arch->hbm && !spatial)
		parse->why = arena_format(parse->arena,
			"'%s' has no loops of its own: its tiles stand at '%s', the loops inside a tile "
			"at '%s inside'",
			name, arch->levels[arch->lx].name, arch->levels[arch->lx].name);
	if (inside)
		r = arch->hbm;
	uint64_t bit = 1ull << (2 * r + spatial);
	if (parse->why)
		return;
	if (!scan_text(&parse->at, ":"))
		parse->why = arena_format(parse->arena, "after '%s' follow ':' and factors", name);
	else if (parse->rows_given & bit)
		parse->why = arena_format(parse->arena, "the row of '%s' is given twice", name);
	else
		parse_row(parse, r, spatial);
	parse->rows_given |= bit;
}

/* Last rounds depend on all bounds inside. */
static void check_last_rounds(struct notation_parse *parse)
{
	const struct mapping_notation *notation = parse->notation;
	for (int r = 0; r < notation->arch->level_count; r++)
		for (int spatial = 1; spatial >= 0; spatial--)
			for (int l = 0; l < notation->loop_count && !parse->why; l++) {
				int64_t given = parse->last[r][spatial][l];
				int64_t right = mapping_last_round(
					&parse->mapping, r, spatial, l, notation->extents[l]);
				if (given && given != right)
					parse->why = arena_format(parse->arena,
						"the last round of '%s' at '%s' has %lld "
						"iterations, not %lld",
						notation->loops[l], notation->arch->levels[r].name,
						(long long)right, (long long)given);
			}
}

const char *notation_parse(struct arena *arena, const struct mapping_notation *notation,
	const char *text, struct mapping *out)
{
	struct notation_parse *parse = arena_new(arena, struct notation_parse);
	parse->arena = arena;
	parse->notation = notation;
	parse->at = text;
	parse->mapping = *out;
	scan_text(&parse->at, undivided);
	while (!parse->why && !scan_end(&parse->at))
		parse_part(parse);
	if (!parse->why && notation->extents[0])
		check_last_rounds(parse);
	if (!parse->why)
		*out = parse->mapping;
	return parse->why;
}
