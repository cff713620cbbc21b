#include "base/arena.h"
#include "base/number.h"
#include "base/scan.h"
#include "base/text.h"
#include "model/mapping_notation.h"
#include "model/nest_mapping.h"
#include "spec/reader.h"

#include <string.h>

enum directive_type { TYPE_SPATIAL, TYPE_TEMPORAL, TYPE_DATASPACE, TYPE_DATATYPE, TYPE_BYPASS };
static const char *const type_names[] = {
	"spatial", "temporal", "dataspace", "datatype", "bypass", NULL};

/* One loop bound as written. */
struct bound {
	bool given, rest;     /* rest: written 0 */
	int64_t factor, last; /* last: 0 when not written */
	struct span span;
};

/* What reading one mapping knows so far. */
struct directives {
	const struct reading *reading;
	const struct arch *arch;
	const struct shape *shape;
	struct mapping mapping;
	struct span span;
	/* [row][spatial] */
	bool given[ARCH_LEVELS_MOST][2];
	struct span spans[ARCH_LEVELS_MOST][2];
	struct bound bounds[ARCH_LEVELS_MOST][2][SHAPE_DIMENSIONS_MOST];
	/* [row][dataspace] */
	bool placed[ARCH_LEVELS_MOST][SHAPE_SPACES_MOST];
	struct span places[ARCH_LEVELS_MOST][SHAPE_SPACES_MOST];
};

#define WRONG(directives, span, ...) diag_error((directives)->reading->diag, span, __VA_ARGS__)

static const char *list_names(struct arena *arena, const char *const *names)
{
	struct text text = text_open(arena);
	for (int i = 0; names[i]; i++)
		text_add(&text, "%s%s", i ? ", " : "", names[i]);
	return text_read(&text);
}

static void complain_unknown(struct directives *directives, const char *what, const char *name,
	struct span span, const char *const *known)
{
	const char *near = suggest(name, known);
	WRONG(directives, span,
		near ? "no %s '%s' (%ss: %s); did you mean '%s'?" : "no %s '%s' (%ss: %s)", what,
		name, what, list_names(directives->reading->arena, known), near);
}

static int find_dimension(struct directives *directives, const char *name, struct span span)
{
	int d = shape_dimension(directives->shape, name);
	if (d >= 0)
		return d;
	const char *known[SHAPE_DIMENSIONS_MOST + 1] = {0};
	for (int i = 0; i < directives->shape->dimension_count; i++)
		known[i] = directives->shape->dimensions[i].name;
	complain_unknown(directives, "dimension", name, span, known);
	return -1;
}

static void add_bound(
	struct directives *directives, struct bound *bounds, int d, const struct bound *bound)
{
	if (bounds[d].given) {
		WRONG(directives, bound->span, "the factor of dimension '%s' is given twice",
			directives->shape->dimensions[d].name);
		diag_note(directives->reading->diag, bounds[d].span, "first given here");
		return;
	}
	bounds[d] = *bound;
}

static bool is_separator(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == ',';
}

/* A number at *at; false if there is none, or one beyond every extent. */
static bool take_number(const char **at, int64_t *out)
{
	return *at[0] >= '0' && *at[0] <= '9' && scan_integer(at, out) && *out <= SHAPE_EXTENT_MOST;
}

/* "C=1 M8, P=4,3": a comma before a digit belongs to the factor before it. */
static void read_factor_text(
	struct directives *directives, const struct node *scalar, struct bound *bounds)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
	const char *text = scalar->text, *at = text;
	while (*at) {
		if (is_separator(*at)) {
			at++;
			continue;
		}
		const char *from = at;
		size_t length = strspn(at, letters);
		const char *end = at + length, *equals = end + strspn(end, " \t");
		struct bound bound = {.given = true};
		bool good = length > 0;
		if (*equals == '=') {
			at = equals + 1;
			at += strspn(at, " \t");
		} else {
			while (length > 0 && from[length - 1] >= '0' && from[length - 1] <= '9')
				length--;
			at = from + length;
		}
		good &= length > 0 && take_number(&at, &bound.factor);
		const char *comma = at + strspn(at, " \t");
		if (good && *comma == ',') {
			comma += 1 + strspn(comma + 1, " \t");
			if (take_number(&comma, &bound.last))
				at = comma;
		}
		if (!good || (*at && !is_separator(*at))) {
			at += strcspn(at, " \t\n,");
			WRONG(directives,
				node_part(scalar, (size_t)(from - text), (size_t)(at - text)),
				"'%.*s' is no factor; 'M=8' is a loop over dimension M of 8 "
				"iterations",
				(int)(at - from), from);
			continue;
		}
		bound.span = node_part(scalar, (size_t)(from - text), (size_t)(at - text));
		bound.rest = bound.factor == 0;
		const char *name =
			arena_format(directives->reading->arena, "%.*s", (int)length, from);
		int d = find_dimension(directives, name, bound.span);
		if (d >= 0)
			add_bound(directives, bounds, d, &bound);
	}
}

/* {M: 8, P: [4, 3]} */
static void read_factor_map(
	struct directives *directives, const struct node *map, struct bound *bounds)
{
	for (size_t i = 0; i < map->count; i++) {
		const struct node_entry *entry = &map->entries[i];
		const struct node *value = entry->value;
		struct bound bound = {.given = true, .span = entry->key_span};
		int d = find_dimension(directives, entry->key, entry->key_span);
		bool pair = value->kind == NODE_LIST && value->count == 2;
		bool good = node_integer(directives->reading, pair ? value->items[0] : value,
			"a factor", 0, SHAPE_EXTENT_MOST, &bound.factor);
		if (pair)
			good &= node_integer(directives->reading, value->items[1],
				"the iterations of the last round", 1, SHAPE_EXTENT_MOST,
				&bound.last);
		bound.rest = bound.factor == 0;
		if (good && d >= 0)
			add_bound(directives, bounds, d, &bound);
	}
}

static void read_factors(
	struct directives *directives, const struct node *node, struct bound *bounds)
{
	if (node->kind == NODE_SCALAR)
		read_factor_text(directives, node, bounds);
	else if (node->kind == NODE_MAP)
		read_factor_map(directives, node, bounds);
	else
		for (size_t i = 0; i < node->count; i++) {
			if (node->items[i]->kind == NODE_LIST)
				reading_refuse(directives->reading, node->items[i],
					"a factor is a word such as M=8, not a list");
			else
				read_factors(directives, node->items[i], bounds);
		}
}

struct order {
	int count;
	uint8_t at[SHAPE_DIMENSIONS_MOST];
	uint32_t seen;
};

/* The longest dimension's name that text begins with; -1 if none. */
static int longest_prefix(const struct shape *shape, const char *text, size_t *length)
{
	int best = -1;
	*length = 0;
	for (int d = 0; d < shape->dimension_count; d++) {
		size_t n = strlen(shape->dimensions[d].name);
		if (n > *length && strncmp(text, shape->dimensions[d].name, n) == 0) {
			best = d;
			*length = n;
		}
	}
	return best;
}

/* "PRK", "P,R,K", "Cin Cout": names one after the other. */
static void read_order_text(
	struct directives *directives, const struct node *scalar, struct order *order)
{
	const char *at = scalar->text;
	while (*at) {
		if (is_separator(*at)) {
			at++;
			continue;
		}
		size_t length, offset = (size_t)(at - scalar->text);
		int d = longest_prefix(directives->shape, at, &length);
		if (d < 0) {
			length = strcspn(at, " \t\n,");
			const char *name =
				arena_format(directives->reading->arena, "%.*s", (int)length, at);
			find_dimension(
				directives, name, node_part(scalar, offset, offset + length));
		} else if (order->seen >> d & 1) {
			WRONG(directives, node_part(scalar, offset, offset + length),
				"dimension '%s' stands twice in a permutation",
				directives->shape->dimensions[d].name);
		} else {
			order->seen |= 1u << d;
			order->at[order->count++] = (uint8_t)d;
		}
		at += length;
	}
}

static void read_order(struct directives *directives, const struct node *node, struct order *order)
{
	const char *word;
	for (size_t i = 0; node->kind == NODE_LIST && i < node->count; i++)
		if (node_text(directives->reading, node->items[i], "a permutation's dimension",
			    &word))
			read_order_text(directives, node->items[i], order);
	if (node->kind == NODE_SCALAR)
		read_order_text(directives, node, order);
	else if (node->kind == NODE_MAP)
		reading_refuse(directives->reading, node,
			"a permutation is a word such as PRK or a list, not a map");
}

/* Where a directive writes its loops; NULL after complaining. */
static struct bound *open_row(struct directives *directives, const struct nest_target *target,
	bool spatial, struct span span, struct bound *scratch)
{
	if (spatial && target->block_row < 0) {
		const char *where = directives->arch->tree ? "below" : "at";
		WRONG(directives, span, "there is no fan-out %s '%s'; a spatial directive %s",
			where, target->name,
			directives->arch->tree ? "names the level above a fan-out"
					       : "names the node that fans out");
		return NULL;
	}
	int r = spatial ? target->block_row : target->row;
	if (r < 0 || (!spatial && directives->arch->levels[r].kind != LEVEL_STORAGE))
		return scratch;
	if (directives->given[r][spatial]) {
		WRONG(directives, span, "the %s loops of '%s' are given twice",
			spatial ? "spatial" : "temporal", target->name);
		diag_note(directives->reading->diag, directives->spans[r][spatial],
			"first given here");
		return NULL;
	}
	directives->given[r][spatial] = true;
	directives->spans[r][spatial] = span;
	return directives->bounds[r][spatial];
}

/* A level that only fans out may say that nothing happens there. */
static void check_idle(struct directives *directives, const struct bound *bounds, const char *name)
{
	for (int d = 0; d < directives->shape->dimension_count; d++)
		if (bounds[d].given && bounds[d].factor != 1)
			WRONG(directives, bounds[d].span,
				"'%s' stores nothing and has no temporal loops", name);
}

static void read_loops(struct directives *directives, struct reader *map,
	const struct nest_target *target, bool spatial)
{
	struct bound idle[SHAPE_DIMENSIONS_MOST] = {0};
	struct order order = {0};
	int64_t split = directives->shape->dimension_count;
	const struct node *factors = read_node(map, "factors", OPTIONAL);
	const struct node *permutation = read_node(map, "permutation", OPTIONAL);
	if (spatial)
		read_integer(map, "split", OPTIONAL, 0, SHAPE_DIMENSIONS_MOST, &split);
	struct bound *bounds = open_row(directives, target, spatial, map->map->span, idle);
	if (!bounds)
		return;
	if (factors)
		read_factors(directives, factors, bounds);
	if (permutation)
		read_order(directives, permutation, &order);
	if (bounds == idle) {
		check_idle(directives, idle, target->name);
		return;
	}
	for (int d = 0; d < directives->shape->dimension_count; d++)
		if (!(order.seen >> d & 1))
			order.at[order.count++] = (uint8_t)d;
	struct mapping_row *row =
		&directives->mapping.rows[spatial ? target->block_row : target->row];
	memcpy(spatial ? row->spatial_order : row->temporal_order, order.at, (size_t)order.count);
	for (int i = (int)split; spatial && i < order.count; i++)
		row->spatial_y |= (uint16_t)(1u << order.at[i]);
}

static void place(struct directives *directives, const struct nest_target *target, int t, bool keep,
	struct span span)
{
	int r = target->row;
	const char *name = directives->shape->spaces[t].name;
	if (r < 0 || directives->arch->levels[r].kind != LEVEL_STORAGE) {
		if (keep)
			WRONG(directives, span, "'%s' stores nothing and cannot keep '%s'",
				target->name, name);
		return;
	}
	uint32_t *kept = &directives->mapping.residency[t];
	if (directives->placed[r][t]) {
		WRONG(directives, span, "it is said twice whether '%s' keeps '%s'", target->name,
			name);
		diag_note(directives->reading->diag, directives->places[r][t], "first said here");
		return;
	}
	directives->placed[r][t] = true;
	directives->places[r][t] = span;
	*kept = keep ? *kept | 1u << r : *kept & ~(1u << r);
}

static void read_places(struct directives *directives, struct reader *map,
	const struct nest_target *target, bool keep)
{
	const struct shape *shape = directives->shape;
	const char *const *names, *key = keep ? "keep" : "bypass";
	size_t count;
	if (!read_texts(map, key, OPTIONAL, &names, &count))
		return;
	const struct node *node = node_find(map->map, key);
	for (size_t i = 0; i < count; i++) {
		struct span span = node_item(node, i)->span;
		int t = shape_space(shape, names[i]);
		if (t >= 0) {
			place(directives, target, t, keep, span);
		} else if (text_equal(names[i], "*")) {
			for (t = 0; t < shape->space_count; t++)
				place(directives, target, t, keep, span);
		} else {
			const char *known[SHAPE_SPACES_MOST + 1] = {0};
			for (t = 0; t < shape->space_count; t++)
				known[t] = shape->spaces[t].name;
			complain_unknown(directives, "dataspace", names[i], span, known);
		}
	}
}

static void read_directive(struct directives *directives, const struct node *node)
{
	/* constraints that may stand in a mapping; read with them */
	static const char *const flags[] = {"no_reuse", "no_temporal_reuse", "no_link_transfer",
		"no_multicast_no_reduction", "rmw_first_update", "rmw_on_first_writeback",
		"no_coalesce", "passthrough", NULL};
	struct reader map;
	struct nest_target target;
	int type;
	if (!reader_open(&map, directives->reading, node, "directive"))
		return;
	const struct node *name = read_node(&map, "target", REQUIRED);
	bool good = read_word(&map, "type", REQUIRED, type_names, &type);
	if (!good || !name ||
		!nest_target_read(directives->reading, name, directives->arch, &target))
		return;
	if (type == TYPE_SPATIAL || type == TYPE_TEMPORAL) {
		read_loops(directives, &map, &target, type == TYPE_SPATIAL);
	} else {
		read_places(directives, &map, &target, true);
		read_places(directives, &map, &target, false);
	}
	for (int i = 0; flags[i]; i++)
		read_node(&map, flags[i], OPTIONAL);
	reader_done(&map);
}

/* Written 0: what the other factors of the dimension leave. */
static void fill_rest(struct directives *directives, int d)
{
	int64_t rest = directives->shape->dimensions[d].extent;
	struct bound *open = NULL;
	uint32_t *factor = NULL;
	for (int r = 0; r < directives->arch->level_count; r++)
		for (int spatial = 0; spatial <= 1; spatial++) {
			struct bound *bound = &directives->bounds[r][spatial][d];
			struct mapping_row *row = &directives->mapping.rows[r];
			if (!bound->rest) {
				rest = number_ceil_div(rest, bound->given ? bound->factor : 1);
				continue;
			}
			if (open) {
				WRONG(directives, bound->span,
					"two factors of dimension '%s' are 0, the rest of it",
					directives->shape->dimensions[d].name);
				diag_note(directives->reading->diag, open->span,
					"the other one is here");
			}
			open = bound;
			factor = spatial ? &row->spatial[d] : &row->temporal[d];
		}
	if (open) {
		*factor = (uint32_t)rest;
		open->factor = rest;
	}
}

static void set_factors(struct directives *directives, int d)
{
	for (int r = 0; r < directives->arch->level_count; r++) {
		struct mapping_row *row = &directives->mapping.rows[r];
		const struct bound *spatial = &directives->bounds[r][1][d];
		const struct bound *temporal = &directives->bounds[r][0][d];
		row->spatial[d] = spatial->given ? (uint32_t)spatial->factor : 1;
		row->temporal[d] = temporal->given ? (uint32_t)temporal->factor : 1;
		if (row->spatial[d] <= 1)
			row->spatial_y &= (uint16_t) ~(1u << d);
	}
	fill_rest(directives, d);
}

/* An imperfect bound says how many iterations its last round has, and says it right. */
static void check_last_rounds(struct directives *directives, int d)
{
	const struct dimension *dimension = &directives->shape->dimensions[d];
	for (int r = 0; r < directives->arch->level_count; r++)
		for (int spatial = 1; spatial >= 0; spatial--) {
			const struct bound *bound = &directives->bounds[r][spatial][d];
			if (!bound->given)
				continue;
			long long right = mapping_last_round(
				&directives->mapping, r, spatial, d, dimension->extent);
			if (bound->last && bound->last != right)
				WRONG(directives, bound->span,
					"the last round of '%s' at '%s' has %lld iterations, not "
					"%lld",
					dimension->name, directives->arch->levels[r].name, right,
					(long long)bound->last);
			else if (!bound->last && bound->factor != right)
				WRONG(directives, bound->span,
					"the factors of dimension '%s' multiply to more than its "
					"extent %lld; '%s=%lld,%lld' would have a shorter last "
					"round",
					dimension->name, (long long)dimension->extent,
					dimension->name, (long long)bound->factor, right);
		}
}

/* The first place that gives a factor of the dimension, or the mapping as a whole. */
static struct span place_of(const struct directives *directives, int d)
{
	for (int r = 0; r < directives->arch->level_count; r++)
		for (int spatial = 1; spatial >= 0; spatial--)
			if (directives->bounds[r][spatial][d].given &&
				directives->bounds[r][spatial][d].factor != 1)
				return directives->bounds[r][spatial][d].span;
	return directives->span;
}

static void finish_dimension(struct directives *directives, int d)
{
	bool perfect;
	set_factors(directives, d);
	const char *why = nest_mapping_check_bounds(directives->reading->arena, directives->arch,
		directives->shape, &directives->mapping, d, &perfect);
	if (why)
		WRONG(directives, place_of(directives, d), "%s", why);
	else
		check_last_rounds(directives, d);
}

bool nest_mapping_read(const struct reading *reading, const struct node *node,
	const struct arch *arch, const struct shape *shape, struct mapping *out)
{
	struct directives *directives = arena_new(reading->arena, struct directives);
	size_t errors = diag_errors(reading->diag);
	directives->reading = reading;
	directives->arch = arch;
	directives->shape = shape;
	directives->span = node->span;
	directives->mapping = nest_mapping_make(arch, shape);
	if (node->kind != NODE_LIST)
		return reading_refuse(reading, node, "a mapping is a list of directives, not %s",
			node_kind_name(node));
	for (size_t i = 0; i < node->count; i++)
		read_directive(directives, node->items[i]);
	if (diag_errors(reading->diag) == errors)
		for (int d = 0; d < shape->dimension_count; d++)
			finish_dimension(directives, d);
	if (diag_errors(reading->diag) != errors)
		return false;
	*out = directives->mapping;
	return true;
}
