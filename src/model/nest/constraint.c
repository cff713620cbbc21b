#include "model/nest/constraint.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/number.h"
#include "base/text.h"

#include <string.h>

const char *const constraint_part_names[] = {
	"spatial", "temporal", "dataspace", "machine", "graph", 0};

bool directive_refuse(const struct reading *reading, struct span span, const char *what,
	const char *name, const char *const *known)
{
	struct text list = text_open(reading->arena);
	for (int i = 0; known[i]; i++)
		text_add(&list, "%s%s", i ? ", " : "", known[i]);
	diag_error(reading->diag, span, "unknown %s '%s' (there are %s)%s", what, name,
		text_read(&list), suggestion(reading->arena, suggest(name, known), ""));
	return false;
}

static bool refuse_dimension(const struct reading *reading, struct span span, const char *name,
	const struct shape *shape)
{
	const char *known[SHAPE_DIMENSIONS_MOST + 1] = {0};
	for (int d = 0; d < shape->dimension_count; d++)
		known[d] = shape->dimensions[d].name;
	return directive_refuse(reading, span, "dimension", name, known);
}

/* `factors:` and `factors: ''` name nothing. */
static bool constraint_is_blank(const struct node *node)
{
	return node->kind == NODE_SCALAR && !*node->text;
}

static bool is_gap(char c)
{
	return c && strchr(" \t\r\n,;", c);
}

const char *relation_text(enum relation relation)
{
	static const char *const texts[] = {"=", "<", "<=", ">", ">="};
	return texts[relation];
}

enum { FACTORS_MOST = 8 * SHAPE_DIMENSIONS_MOST };

/* One text with factors while it is taken apart. */
struct factor_scan {
	const struct reading *reading;
	const struct shape *shape;
	const struct node *node;
	const char *at;
	struct array(struct constraint_factor) found;
	bool good, ended;
};

static struct span scan_span(const struct factor_scan *scan, const char *from)
{
	return node_part(scan->node, (size_t)(from - scan->node->text),
		(size_t)(scan->at - scan->node->text));
}

static bool scan_relation(const char **at, enum relation *out)
{
	static const enum relation longest_first[] = {RELATION_AT_MOST, RELATION_AT_LEAST,
		RELATION_LESS, RELATION_GREATER, RELATION_EQUAL};
	*out = RELATION_EQUAL;
	for (int i = 0; i < 5; i++)
		if (scan_text(at, relation_text(longest_first[i]))) {
			*out = longest_first[i];
			return true;
		}
	return false;
}

static bool relation_follows(const char *at)
{
	at += strspn(at, " \t\n");
	return *at && strchr("=<>", *at);
}

/* The name that a word begins with: R of "R12", M0 of "M0<=4"; "" if there is none. */
static const char *factor_scan_name(struct factor_scan *scan)
{
	const char *from = scan->at;
	size_t length = strcspn(from, " \t\n,;=<>");
	bool whole = relation_follows(from + length);
	while (!whole && length > 0 && from[length - 1] >= '0' && from[length - 1] <= '9')
		length--;
	scan->at += length;
	return arena_format(scan->reading->arena, "%.*s", (int)length, from);
}

/* Skips the text between a factor and the next: a comment goes up to the end of its line. */
static void skip_gaps(struct factor_scan *scan)
{
	while (is_gap(*scan->at) || *scan->at == '#')
		scan->at += *scan->at == '#' ? strcspn(scan->at, "\n") : 1;
}

/* `P=4,3`: a comma before a digit belongs to the factor. */
static bool scan_tail(const char **at, int64_t *out)
{
	const char *before = *at;
	if (scan_text(at, ",") && scan_integer(at, out))
		return true;
	*at = before;
	return false;
}

static void check_factor(struct factor_scan *scan, struct constraint_factor *factor)
{
	int64_t extent = scan->shape->dimensions[factor->dimension].extent;
	if (factor->relation == RELATION_EQUAL && factor->bound == 0)
		factor->bound = extent;
	const char *wrong = NULL;
	if (factor->bound < (factor->relation == RELATION_LESS ? 2 : 1) &&
		factor->relation != RELATION_GREATER)
		wrong = "no bound is below 1";
	else if (factor->tail && factor->relation != RELATION_EQUAL)
		wrong = "only an exact factor has a last round";
	else if (factor->tail > factor->bound)
		wrong = "the last round is no longer than the others";
	if (!wrong)
		return;
	scan->good = false;
	diag_error(scan->reading->diag, factor->span, "factor %s%s%lld: %s",
		scan->shape->dimensions[factor->dimension].name, relation_text(factor->relation),
		(long long)factor->bound, wrong);
}

/* Dimensions may be bounded from both sides; a text with many more is none of factors. */
static bool is_ended(struct factor_scan *scan)
{
	if (scan->found.count == FACTORS_MOST && !scan->ended) {
		scan->ended = true;
		scan->good = reading_refuse(scan->reading, scan->node,
			"more than %d factors stand in one place", FACTORS_MOST);
	}
	return scan->ended || diag_full(scan->reading->diag);
}

static void scan_factor(struct factor_scan *scan)
{
	struct constraint_factor factor = {0};
	const char *from = scan->at;
	const char *name = factor_scan_name(scan);
	struct span span = scan_span(scan, from);
	scan_relation(&scan->at, &factor.relation);
	if (!scan_integer(&scan->at, &factor.bound) || !*name) {
		scan->at += strcspn(scan->at, " \t\n,;");
		if (scan->at == from)
			scan->at++;
		scan->good = false;
		diag_error(scan->reading->diag, scan_span(scan, from),
			"a factor is a dimension, a relation and a whole number, such as K<=16");
		return;
	}
	scan_tail(&scan->at, &factor.tail);
	factor.span = scan_span(scan, from);
	factor.dimension = shape_dimension(scan->shape, name);
	if (factor.dimension < 0) {
		scan->good = refuse_dimension(scan->reading, span, name, scan->shape);
		return;
	}
	check_factor(scan, &factor);
	*array_add(scan->reading->arena, &scan->found) = factor;
}

/* {K: 4, C: 16} */
static void scan_entries(struct factor_scan *scan, const struct node *map)
{
	for (size_t i = 0; i < map->count && !is_ended(scan); i++) {
		const struct node_entry *entry = &map->entries[i];
		struct constraint_factor factor = {
			.relation = RELATION_EQUAL, .span = entry->value->span};
		factor.dimension = shape_dimension(scan->shape, entry->key);
		if (factor.dimension < 0) {
			scan->good = refuse_dimension(
				scan->reading, entry->key_span, entry->key, scan->shape);
			continue;
		}
		if (!node_integer(
			    scan->reading, entry->value, "a factor", 0, INT64_MAX, &factor.bound)) {
			scan->good = false;
			continue;
		}
		check_factor(scan, &factor);
		*array_add(scan->reading->arena, &scan->found) = factor;
	}
}

bool directive_factors(const struct reading *reading, const struct node *node,
	const struct shape *shape, const struct constraint_factor **out, int *count)
{
	struct factor_scan scan = {.reading = reading, .shape = shape, .good = true};
	size_t items = node->kind == NODE_LIST ? node->count : 1;
	for (size_t i = 0; i < items && !scan.ended; i++) {
		const char *text;
		scan.node = node_item(node, i);
		if (scan.node->kind == NODE_MAP) {
			scan_entries(&scan, scan.node);
			continue;
		}
		if (constraint_is_blank(scan.node))
			continue;
		if (!node_text(reading, scan.node, "a factor", &text)) {
			scan.good = false;
			continue;
		}
		scan.at = scan.node->text;
		for (skip_gaps(&scan); *scan.at && !is_ended(&scan); skip_gaps(&scan))
			scan_factor(&scan);
	}
	*out = scan.found.at;
	*count = (int)scan.found.count;
	return scan.good;
}

struct order_scan {
	const struct reading *reading;
	const struct shape *shape;
	struct directive_order *out;
	bool suffix, good;
	uint32_t seen;
};

static void add_to_order(struct order_scan *scan, const char *name, struct span span)
{
	if (text_equal(name, "_")) {
		if (scan->suffix)
			diag_error(scan->reading->diag, span,
				"a permutation has one '_', where the free loops go");
		scan->good &= !scan->suffix;
		scan->suffix = true;
		return;
	}
	int d = shape_dimension(scan->shape, name);
	if (d < 0) {
		scan->good = refuse_dimension(scan->reading, span, name, scan->shape);
		return;
	}
	if (scan->seen == (UINT32_C(1) << scan->shape->dimension_count) - 1) {
		diag_warning(scan->reading->diag, span,
			"every dimension is in the permutation before this '%s', which is left out, "
			"as in Timeloop",
			name);
		return;
	}
	if (scan->seen >> d & 1) {
		scan->good = false;
		diag_error(scan->reading->diag, span,
			"dimension '%s' is given twice in the permutation", name);
		return;
	}
	scan->seen |= UINT32_C(1) << d;
	if (scan->suffix)
		scan->out->suffix[scan->out->suffix_count++] = (uint8_t)d;
	else
		scan->out->at[scan->out->count++] = (uint8_t)d;
}

/* A word is a name, or else letters that each are one. */
static void add_word(struct order_scan *scan, const struct node *node, size_t from, size_t to)
{
	struct arena *arena = scan->reading->arena;
	const char *word = arena_format(arena, "%.*s", (int)(to - from), node->text + from);
	bool letters = true;
	for (int d = 0; d < scan->shape->dimension_count; d++)
		letters &= scan->shape->dimensions[d].name[1] == '\0';
	if (!letters || shape_dimension(scan->shape, word) >= 0) {
		add_to_order(scan, word, node_part(node, from, to));
		return;
	}
	for (size_t i = from; i < to; i++)
		add_to_order(
			scan, arena_format(arena, "%c", node->text[i]), node_part(node, i, i + 1));
}

bool directive_order(const struct reading *reading, const struct node *node,
	const struct shape *shape, struct directive_order *out)
{
	*out = (struct directive_order){0};
	struct order_scan scan = {.reading = reading, .shape = shape, .out = out, .good = true};
	if (node->kind == NODE_MAP)
		return reading_refuse(reading, node, "a permutation is a list such as [P, Q, R]");
	size_t items = node->kind == NODE_LIST ? node->count : 1;
	for (size_t i = 0; i < items; i++) {
		const struct node *item = node_item(node, i);
		const char *text;
		if (constraint_is_blank(item))
			continue;
		if (!node_text(reading, item, "a dimension", &text)) {
			scan.good = false;
			continue;
		}
		for (size_t from = 0, to; item->text[from] && !diag_full(reading->diag);
			from = to) {
			to = from;
			while (item->text[to] && !is_gap(item->text[to]))
				to++;
			if (to == from)
				to++;
			else
				add_word(&scan, item, from, to);
		}
	}
	return scan.good;
}

bool directive_spaces(const struct reading *reading, const struct node *node,
	const struct shape *shape, uint32_t *out)
{
	*out = 0;
	if (node->kind == NODE_MAP)
		return reading_refuse(reading, node, "dataspaces are a list such as [Weights]");
	bool good = true;
	const char *known[SHAPE_SPACES_MOST + 1] = {0};
	for (int t = 0; t < shape->space_count; t++)
		known[t] = shape->spaces[t].name;
	size_t items = node->kind == NODE_LIST ? node->count : 1;
	for (size_t i = 0; i < items; i++) {
		const struct node *item = node_item(node, i);
		const char *name;
		if (constraint_is_blank(item))
			continue;
		if (!node_text(reading, item, "a dataspace", &name)) {
			good = false;
			continue;
		}
		int t = shape_space(shape, name);
		if (text_equal(name, "*"))
			*out |= (UINT32_C(1) << shape->space_count) - 1;
		else if (t >= 0)
			*out |= UINT32_C(1) << t;
		else if (shape_is_role(name) && !shape_lacks(shape, name))
			good = reading_refuse(reading, item,
				"no dataspace is called '%s': only products of two matrices have "
				"roles by themselves; name what is read Inputs and Weights, what is "
				"written Outputs",
				name);
		else if (!shape_is_role(name))
			good = directive_refuse(reading, item->span, "dataspace", name, known);
	}
	return good;
}

/* len(spec.problem.instance) and the like count the dimensions, or more; none is beyond them. */
static bool counts_dimensions(const char *text)
{
	static const char *const what[] = {"spec.problem.instance", "problem.instance",
		"spec.problem.shape.dimensions", "problem.shape.dimensions"};
	bool counts = false;
	for (size_t i = 0; i < sizeof what / sizeof *what; i++) {
		const char *at = text;
		counts |= scan_text(&at, "len") && scan_text(&at, "(") && scan_text(&at, what[i]) &&
			  scan_text(&at, ")") && scan_end(&at);
	}
	return counts;
}

bool directive_split(const struct reading *reading, const struct node *node,
	const struct shape *shape, int64_t *out)
{
	if (node->kind == NODE_SCALAR && counts_dimensions(node->text))
		*out = shape->dimension_count;
	else if (!node_integer(reading, node, "a split", 0, INT32_MAX, out))
		return false;
	*out = number_min(*out, shape->dimension_count);
	return true;
}

bool domain_stores(const struct arch *arch, int row)
{
	return arch->levels[row].kind == LEVEL_STORAGE;
}

bool domain_iterates(const struct arch *arch, int row)
{
	const struct level *level = &arch->levels[row];
	return level->kind == LEVEL_STORAGE || (level->kind == LEVEL_CONTAINER && level->device);
}

int domain_outermost(const struct arch *arch)
{
	for (int r = 0; r < arch->level_count; r++)
		if (domain_stores(arch, r))
			return r;
	return -1;
}

int64_t domain_fanout(const struct arch *arch, int row)
{
	return arch->levels[row].fanout.x * arch->levels[row].fanout.y;
}

static void open_row(struct domain *domain, int r)
{
	const struct arch *arch = domain->arch;
	const struct shape *shape = domain->shape;
	struct row_domain *row = &domain->rows[r];
	bool stores = domain_stores(arch, r);
	bool iterates = stores || (domain->hierarchy && domain->hierarchy->dummy_loops &&
					  domain_iterates(arch, r));
	int64_t across = number_max(arch->levels[r].fanout.x, arch->levels[r].fanout.y);
	for (int d = 0; d < shape->dimension_count; d++) {
		int64_t extent = shape->dimensions[d].extent;
		row->spatial[d] = (struct factor_domain){1, number_min(across, extent), -1, -1};
		row->temporal[d] = (struct factor_domain){1, iterates ? extent : 1, -1, -1};
	}
	row->spatial_order_by = row->temporal_order_by = -1;
	row->split = row->split_by = -1;
	uint32_t all = (UINT32_C(1) << shape->space_count) - 1;
	row->keep = r == domain_outermost(arch) ? all : 0;
	row->bypass = stores && !level_storage(&arch->levels[r])->store.no_room ? 0 : all;
	for (int t = 0; t < SHAPE_SPACES_MOST; t++)
		row->keep_by[t] = -1;
}

struct domain *domain_make(struct arena *arena, const struct arch *arch, const struct shape *shape,
	const struct hierarchy *hierarchy)
{
	struct domain *domain = arena_new(arena, struct domain);
	*domain = (struct domain){
		.arch = arch,
		.shape = shape,
		.hierarchy = hierarchy,
		.least_parallelism_by = -1,
	};
	for (int r = 0; r < arch->level_count; r++)
		open_row(domain, r);
	for (int i = 0; hierarchy && i < hierarchy->level_count; i++)
		if (hierarchy->levels[i].free)
			domain->rows[hierarchy->levels[i].row].keep =
				(1u << shape->space_count) - 1;
	return domain;
}
