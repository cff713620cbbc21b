#include "model/nest/nest_mapping.h"

#include "base/arena.h"
#include "base/number.h"
#include "base/text.h"
#include "model/machine/mapping.h"
#include "model/nest/constraint.h"
#include "spec/field.h"
#include "spec/node.h"

#include <string.h>

/* Returns the mapping that a text without parts stands for. */
static struct mapping nest_mapping_undivided(const struct arch *arch, const struct shape *shape)
{
	return mapping_undivided(
		arch, shape->dimension_count, shape->space_count, mapping_storages(arch));
}

struct mapping nest_mapping_make(const struct arch *arch, const struct shape *shape)
{
	struct mapping mapping = nest_mapping_undivided(arch, shape);
	int r = domain_outermost(arch);
	for (int d = 0; r >= 0 && d < shape->dimension_count; d++)
		mapping.rows[r].temporal[d] = (uint32_t)shape->dimensions[d].extent;
	return mapping;
}

/* The bounds of one dimension from the innermost outwards; `units` are what is left to cover. */
const char *nest_mapping_check_bounds(struct arena *arena, const struct arch *arch,
	const struct shape *shape, const struct mapping *mapping, int d, bool *perfect)
{
	const struct loop *dimension = &shape->dimensions[d];
	int64_t units = dimension->extent, product = 1;
	bool fits = true, countable = true;
	for (int r = arch->level_count - 1; r >= 0; r--)
		for (int spatial = 0; spatial <= 1; spatial++) {
			const struct mapping_row *row = &mapping->rows[r];
			int64_t bound = spatial ? row->spatial[d] : row->temporal[d];
			if (!bound)
				return arena_format(arena,
					"a factor of dimension '%s' at '%s' is 0", dimension->name,
					arch->levels[r].name);
			countable &= number_mul(product, bound, &product);
			fits &= bound <= units;
			units = number_ceil_div(units, bound);
		}
	*perfect = countable && product == dimension->extent;
	if (fits && units == 1)
		return NULL;
	if (!countable)
		return arena_format(arena,
			"the factors of dimension '%s' multiply to more than an int64_t, not to its "
			"extent %lld",
			dimension->name, (long long)dimension->extent);
	return arena_format(arena,
		"the factors of dimension '%s' multiply to %lld, not to its extent %lld",
		dimension->name, (long long)product, (long long)dimension->extent);
}

static const char *check_row(struct arena *arena, const struct arch *arch,
	const struct shape *shape, const struct mapping *mapping, int r)
{
	const struct level *level = &arch->levels[r];
	const struct mapping_row *row = &mapping->rows[r];
	for (int d = 0; d < shape->dimension_count; d++) {
		if (row->spatial[d] > 1 && domain_fanout(arch, r) == 1)
			return arena_format(arena,
				"'%s' has a spatial factor of dimension '%s' and no fan-out",
				level->name, shape->dimensions[d].name);
		if (row->temporal[d] > 1 && !domain_iterates(arch, r))
			return arena_format(arena,
				"'%s' has a temporal factor of dimension '%s' and is not a storage",
				level->name, shape->dimensions[d].name);
	}
	for (int t = 0; t < shape->space_count; t++)
		if (level->kind != LEVEL_STORAGE && mapping->residency[t] >> r & 1)
			return arena_format(arena, "'%s' keeps '%s' and is not a storage",
				level->name, shape->spaces[t].name);
	return NULL;
}

const char *nest_mapping_check(struct arena *arena, const struct arch *arch,
	const struct shape *shape, const struct mapping *mapping, bool *perfect)
{
	if (mapping->loop_count != shape->dimension_count ||
		mapping->level_count != arch->level_count)
		return "it is a mapping of another problem";
	const char *why = NULL;
	*perfect = true;
	for (int d = 0; !why && d < shape->dimension_count; d++) {
		bool divides = false;
		why = nest_mapping_check_bounds(arena, arch, shape, mapping, d, &divides);
		*perfect &= divides;
	}
	for (int r = 0; !why && r < arch->level_count; r++)
		why = check_row(arena, arch, shape, mapping, r);
	return why;
}

/* Loops along X before those along Y. */
static void sort_axes(struct mapping *mapping)
{
	for (int r = 0; r < mapping->level_count; r++) {
		struct mapping_row *row = &mapping->rows[r];
		uint8_t sorted[OP_LOOPS_MOST];
		int count = 0;
		for (int y = 0; y <= 1; y++)
			for (int i = 0; i < mapping->loop_count; i++)
				if ((row->spatial_y >> row->spatial_order[i] & 1) == y)
					sorted[count++] = row->spatial_order[i];
		memcpy(row->spatial_order, sorted, (size_t)count);
	}
}

static struct mapping_notation notation_of(
	struct arena *arena, const struct arch *arch, const struct shape *shape)
{
	struct mapping_notation notation = {
		.arch = arch,
		.owner = arena_format(arena, "problem '%s'", shape->name),
		.loop_word = "dimension",
		.operand_word = "dataspace",
		.factor_wanted = "'M8' is a loop over dimension M of 8 iterations",
		.operands_wanted = "names of dataspaces",
		.loop_count = shape->dimension_count,
		.operand_count = shape->space_count,
		.kept_by_default = mapping_storages(arch),
	};
	for (int d = 0; d < shape->dimension_count; d++) {
		notation.loops[d] = shape->dimensions[d].name;
		notation.extents[d] = shape->dimensions[d].extent;
	}
	for (int t = 0; t < shape->space_count; t++)
		notation.operands[t] = shape->spaces[t].name;
	return notation;
}

const char *nest_mapping_print(struct arena *arena, const struct arch *arch,
	const struct shape *shape, const struct mapping *mapping)
{
	struct mapping_notation notation = notation_of(arena, arch, shape);
	return notation_print(arena, &notation, mapping);
}

const char *nest_mapping_parse(struct arena *arena, const struct arch *arch,
	const struct shape *shape, const char *text, struct mapping *out)
{
	struct mapping_notation notation = notation_of(arena, arch, shape);
	struct mapping mapping = nest_mapping_undivided(arch, shape);
	bool perfect;
	const char *why = notation_parse(arena, &notation, text, &mapping);
	for (int r = 0; !why && r < arch->level_count; r++)
		why = check_row(arena, arch, shape, &mapping, r);
	if (!why)
		why = nest_mapping_check(arena, arch, shape, &mapping, &perfect);
	if (why)
		return why;
	sort_axes(&mapping);
	*out = mapping;
	return NULL;
}

enum directive_type {
	TYPE_SPATIAL,
	TYPE_TEMPORAL,
	TYPE_DATASPACE,
	TYPE_DATATYPE,
	TYPE_BYPASS,
	TYPE_BYPASSING,
	TYPE_SKEW
};
static const char *const type_names[] = {
	"spatial", "temporal", "dataspace", "datatype", "bypass", "bypassing", "skew", NULL};

/* One loop bound as written. */
struct bound {
	bool given;
	int64_t factor, last; /* last: 0 when not written */
	struct span span;
};

/* The loops of one row, as far as directives give them. */
struct read_loops {
	bool bounded, ordered, split;
	struct span span; /* of the directive that said it */
	struct directive_order order;
	int64_t first_y;
};

/* State of reading one mapping. */
struct directives {
	const struct reading *reading;
	const struct arch *arch;
	const struct shape *shape;
	struct mapping mapping;
	struct span span;
	/* [row][spatial] */
	struct read_loops loops[ARCH_LEVELS_MOST][2];
	struct bound bounds[ARCH_LEVELS_MOST][2][SHAPE_DIMENSIONS_MOST];
	/* [row][dataspace] */
	bool placed[ARCH_LEVELS_MOST][SHAPE_SPACES_MOST];
	struct span places[ARCH_LEVELS_MOST][SHAPE_SPACES_MOST];
};

#define WRONG(directives, span, ...) diag_error((directives)->reading->diag, span, __VA_ARGS__)

/* Warns of a key that is given twice: Timeloop takes the last. */
static void warn_twice(
	const struct directives *directives, struct span span, struct span first, const char *what)
{
	diag_warning(
		directives->reading->diag, span, "%s twice; as in Timeloop, this is taken", what);
	diag_note(directives->reading->diag, first, "this is ignored");
}

static void directives_set_bounds(struct directives *directives,
	const struct constraint_factor *factors, int count, struct bound *bounds)
{
	for (int i = 0; i < count; i++) {
		const struct constraint_factor *factor = &factors[i];
		struct bound *bound = &bounds[factor->dimension];
		const char *name = directives->shape->dimensions[factor->dimension].name;
		int64_t extent = directives->shape->dimensions[factor->dimension].extent;
		if (factor->relation != RELATION_EQUAL) {
			WRONG(directives, factor->span,
				"a mapping's factors are exact: '%s=%lld', not '%s'", name,
				(long long)factor->bound, relation_text(factor->relation));
		} else if (factor->bound > extent) {
			WRONG(directives, factor->span,
				"a factor of %lld exceeds the extent of dimension '%s', %lld",
				(long long)factor->bound, name, (long long)extent);
		} else {
			if (bound->given)
				warn_twice(directives, factor->span, bound->span,
					arena_format(directives->reading->arena,
						"the factor of dimension '%s' is given", name));
			*bound = (struct bound){true, factor->bound, factor->tail, factor->span};
		}
	}
}

/* Lists the names that spatial directives may have. */
static const char *list_fanouts(const struct directives *directives)
{
	const struct arch *arch = directives->arch;
	struct text text = text_open(directives->reading->arena);
	for (int r = 0; r < arch->level_count; r++)
		if (domain_fanout(arch, r) > 1)
			text_add(&text, "%s'%s'", text.length ? ", " : "a spatial directive names ",
				nest_target_name(arch, r));
	return text.length ? text_read(&text) : "this machine has none";
}

/* Returns the bounds that a directive sets; NULL after complaining. */
static struct bound *open_row(struct directives *directives, const struct nest_target *target,
	bool spatial, struct span span, struct bound *scratch)
{
	if (spatial && target->block_row < 0) {
		WRONG(directives, span, "no fan-out lies %s '%s'; %s",
			directives->arch->tree ? "below" : "at", target->name,
			list_fanouts(directives));
		return NULL;
	}
	int r = spatial ? target->block_row : target->row;
	if (r < 0 || (!spatial && !domain_iterates(directives->arch, r)))
		return scratch;
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

/* Dimensions that are not listed stand outside the listed ones. */
static void mapping_row_set_order(
	struct mapping_row *row, bool spatial, const struct read_loops *loops, int dimensions)
{
	const struct directive_order *listed = &loops->order;
	int split = spatial && loops->split ? (int)loops->first_y : dimensions;
	uint8_t *order = spatial ? row->spatial_order : row->temporal_order;
	uint32_t seen = 0;
	int count = 0;
	for (int i = 0; i < listed->count; i++)
		seen |= 1u << (order[count++] = listed->at[i]);
	for (int i = 0; i < listed->suffix_count; i++)
		seen |= 1u << listed->suffix[i];
	for (int d = 0; d < dimensions; d++)
		if (!(seen >> d & 1))
			order[count++] = (uint8_t)d;
	for (int i = 0; i < listed->suffix_count; i++)
		order[count++] = listed->suffix[i];
	for (int i = split; spatial && i < count; i++)
		row->spatial_y |= (uint16_t)(1u << order[i]);
}

/* Factors, an order and a split are taken from the last directive that says any. */
static void merge_loops(struct directives *directives, const struct nest_target *target,
	bool spatial, const struct read_loops *said)
{
	int r = spatial ? target->block_row : target->row;
	struct read_loops *loops = &directives->loops[r][spatial];
	bool again = (loops->bounded && said->bounded) || (loops->ordered && said->ordered) ||
		     (loops->split && said->split);
	if (again)
		warn_twice(directives, said->span, loops->span,
			arena_format(directives->reading->arena, "the %s loops of '%s' are given",
				spatial ? "spatial" : "temporal", target->name));
	if (loops->bounded && said->bounded)
		memset(directives->bounds[r][spatial], 0, sizeof directives->bounds[r][spatial]);
	if (said->ordered)
		loops->order = said->order;
	if (said->split)
		loops->first_y = said->first_y;
	loops->bounded |= said->bounded;
	loops->ordered |= said->ordered;
	loops->split |= said->split;
	loops->span = said->span;
}

struct directive_form {
	int type; /* -1: unknown */
	const struct node *target, *factors, *permutation, *split, *keep, *bypass;
};

/* The last ones are constraints that may stand in a mapping; read with them. */
static const struct field directive_fields[] = {
	{"target", FIELD_ANY, .required = true, KEEP_ANY(struct directive_form, target)},
	{"type", FIELD_CHOICE, .required = true, .words = type_names,
		INTO(struct directive_form, type)},
	{"factors", FIELD_ANY, KEEP_ANY(struct directive_form, factors)},
	{"permutation", FIELD_ANY, KEEP_ANY(struct directive_form, permutation)},
	{"split", FIELD_ANY, KEEP_ANY(struct directive_form, split)},
	{"keep", FIELD_ANY, KEEP_ANY(struct directive_form, keep)},
	{"bypass", FIELD_ANY, KEEP_ANY(struct directive_form, bypass)},
	{"no_reuse", FIELD_ANY, .read = field_skip},
	{"no_temporal_reuse", FIELD_ANY, .read = field_skip},
	{"no_link_transfer", FIELD_ANY, .read = field_skip},
	{"no_multicast_no_reduction", FIELD_ANY, .read = field_skip},
	{"rmw_first_update", FIELD_ANY, .read = field_skip},
	{"rmw_on_first_writeback", FIELD_ANY, .read = field_skip},
	{"no_coalesce", FIELD_ANY, .read = field_skip},
	{"passthrough", FIELD_ANY, .read = field_skip},
	{0},
};
static const struct noun directive_noun = {.name = "directive", .fields = directive_fields};

static void read_loops(struct directives *directives, struct span span,
	const struct directive_form *form, const struct nest_target *target, bool spatial)
{
	const struct reading *reading = directives->reading;
	const struct shape *shape = directives->shape;
	struct bound idle[SHAPE_DIMENSIONS_MOST] = {0};
	struct read_loops said = {.span = span};
	const struct constraint_factor *list = NULL;
	int count = 0;
	if (spatial && form->split)
		said.split = directive_split(reading, form->split, shape, &said.first_y);
	struct bound *bounds = open_row(directives, target, spatial, span, idle);
	if (!bounds)
		return;
	if (form->factors)
		directive_factors(reading, form->factors, shape, &list, &count);
	if (form->permutation)
		directive_order(reading, form->permutation, shape, &said.order);
	said.bounded = count > 0;
	said.ordered = said.order.count > 0 || said.order.suffix_count > 0;
	if (bounds == idle) {
		directives_set_bounds(directives, list, count, idle);
		check_idle(directives, idle, target->name);
		return;
	}
	merge_loops(directives, target, spatial, &said);
	directives_set_bounds(directives, list, count, bounds);
}

static void directives_place(struct directives *directives, const struct nest_target *target, int t,
	bool keep, struct span span)
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
	if (directives->placed[r][t] && keep != (*kept >> r & 1))
		warn_twice(directives, span, directives->places[r][t],
			arena_format(directives->reading->arena, "whether '%s' keeps '%s' is given",
				target->name, name));
	directives->placed[r][t] = true;
	directives->places[r][t] = span;
	*kept = keep ? *kept | 1u << r : *kept & ~(1u << r);
}

static void read_places(struct directives *directives, const struct node *node,
	const struct nest_target *target, bool keep)
{
	uint32_t spaces;
	if (!node || !directive_spaces(directives->reading, node, directives->shape, &spaces))
		return;
	for (int t = 0; t < directives->shape->space_count; t++)
		if (spaces >> t & 1)
			directives_place(directives, target, t, keep, node->span);
}

/* Warns of a key that belongs to directives of another type: it is not used. */
static void pass_over(
	struct directives *directives, const char *key, const struct node *node, int type)
{
	if (node)
		diag_warning(directives->reading->diag, node->span,
			"'%s' has no effect in a directive of type %s, as in Timeloop", key,
			type_names[type]);
}

static void read_directive(struct directives *directives, const struct node *node)
{
	struct reader map;
	struct nest_target target;
	struct directive_form form = {.type = -1};
	if (!noun_open(&map, directives->reading, node, "directive", &directive_noun))
		return;
	fields_read(&map, &directive_noun, &form, NULL);
	if (form.type < 0 || !form.target ||
		!nest_target_read(directives->reading, form.target, directives->arch, &target))
		return;
	if (form.type == TYPE_SKEW) {
		WRONG(directives, node->span, "a 'skew' is not supported: loops run straight");
		return;
	}
	bool spatial = form.type == TYPE_SPATIAL;
	if (spatial || form.type == TYPE_TEMPORAL) {
		read_loops(directives, node->span, &form, &target, spatial);
		pass_over(directives, "keep", form.keep, form.type);
		pass_over(directives, "bypass", form.bypass, form.type);
	} else {
		read_places(directives, form.keep, &target, true);
		read_places(directives, form.bypass, &target, false);
		pass_over(directives, "factors", form.factors, form.type);
		pass_over(directives, "permutation", form.permutation, form.type);
	}
	if (!spatial)
		pass_over(directives, "split", form.split, form.type);
	reader_done_lenient(&map);
}

/* --- constraints inside the components of `nodes:` */

/* Exact factors, the order and the split of a row's loops, as far as no directive gives them. */
static void complete_loops(struct directives *directives, const struct reading *silent,
	const struct node *map, int r, bool spatial)
{
	const struct shape *shape = directives->shape;
	struct read_loops *loops = &directives->loops[r][spatial];
	const struct node *factors = node_find(map, "factors"), *split = node_find(map, "split");
	const struct node *permutation = node_find(map, "permutation");
	const struct constraint_factor *list = NULL;
	int count = 0;
	if (!node_is_empty(factors))
		directive_factors(silent, factors, shape, &list, &count);
	for (int i = 0; i < count; i++) {
		struct bound *bound = &directives->bounds[r][spatial][list[i].dimension];
		int64_t extent = shape->dimensions[list[i].dimension].extent;
		if (!bound->given && list[i].relation == RELATION_EQUAL)
			*bound = (struct bound){true, number_min(list[i].bound, extent),
				list[i].tail, list[i].span};
	}
	if (!loops->ordered && !node_is_empty(permutation))
		directive_order(silent, permutation, shape, &loops->order);
	if (spatial && !loops->split && !node_is_empty(split))
		loops->split = directive_split(silent, split, shape, &loops->first_y);
}

static void complete_places(
	struct directives *directives, const struct reading *silent, const struct node *map, int r)
{
	static const char *const keys[] = {"bypass", "keep"};
	for (int keep = 0; keep < 2; keep++) {
		const struct node *node = node_find(map, keys[keep]);
		uint32_t spaces, *kept;
		if (node_is_empty(node) ||
			!directive_spaces(silent, node, directives->shape, &spaces))
			continue;
		for (int t = 0; t < directives->shape->space_count; t++) {
			kept = &directives->mapping.residency[t];
			if (spaces >> t & 1 && !directives->placed[r][t])
				*kept = keep ? *kept | 1u << r : *kept & ~(1u << r);
		}
	}
}

/* Timeloop's front end joins the directives of a mapping with the constraints inside components, so
 * these give what no directive gives.  A constraint that cannot be read is complained about where
 * constraints are read. */
static void directives_complete(struct directives *directives)
{
	struct reading silent = *directives->reading;
	silent.diag = diag_open(silent.arena);
	for (int r = 0; r < directives->arch->level_count; r++) {
		const struct node *group = directives->arch->levels[r].constraints;
		const struct node *part[3] = {NULL};
		static const char *const names[] = {"temporal", "spatial", "dataspace"};
		for (int i = 0; i < 3 && !node_is_empty(group); i++) {
			const struct node *map = node_find(group, names[i]);
			part[i] = map && map->kind == NODE_MAP ? map : NULL;
		}
		if (part[0] && domain_iterates(directives->arch, r))
			complete_loops(directives, &silent, part[0], r, false);
		if (part[1] && domain_fanout(directives->arch, r) > 1)
			complete_loops(directives, &silent, part[1], r, true);
		if (part[2] && directives->arch->levels[r].kind == LEVEL_STORAGE)
			complete_places(directives, &silent, part[2], r);
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
}

/* An imperfect bound says how many iterations its last round has, and says it right. */
static void check_last_rounds(struct directives *directives, int d)
{
	const struct loop *dimension = &directives->shape->dimensions[d];
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
static struct span directive_span(const struct directives *directives, int d)
{
	for (int r = 0; r < directives->arch->level_count; r++)
		for (int spatial = 1; spatial >= 0; spatial--)
			if (directives->bounds[r][spatial][d].given &&
				directives->bounds[r][spatial][d].factor != 1)
				return directives->bounds[r][spatial][d].span;
	return directives->span;
}

static void set_orders(struct directives *directives)
{
	for (int r = 0; r < directives->arch->level_count; r++)
		for (int spatial = 1; spatial >= 0; spatial--)
			mapping_row_set_order(&directives->mapping.rows[r], spatial,
				&directives->loops[r][spatial], directives->shape->dimension_count);
}

static void finish_dimension(struct directives *directives, int d)
{
	bool perfect;
	set_factors(directives, d);
	const char *why = nest_mapping_check_bounds(directives->reading->arena, directives->arch,
		directives->shape, &directives->mapping, d, &perfect);
	if (why)
		WRONG(directives, directive_span(directives, d), "%s", why);
	else
		check_last_rounds(directives, d);
}

static bool directives_read_line(const struct reading *reading, const struct node *node,
	const struct arch *arch, const struct shape *shape, struct mapping *out)
{
	const char *why = nest_mapping_parse(reading->arena, arch, shape, node->text, out);
	return !why || reading_refuse(reading, node, "%s", why);
}

bool nest_mapping_read(const struct reading *reading, const struct node *node,
	const struct arch *arch, const struct shape *shape, struct mapping *out)
{
	if (node->kind == NODE_SCALAR)
		return directives_read_line(reading, node, arch, shape, out);
	struct directives *directives = arena_new(reading->arena, struct directives);
	size_t errors = diag_errors(reading->diag);
	directives->reading = reading;
	directives->arch = arch;
	directives->shape = shape;
	directives->span = node->span;
	directives->mapping = nest_mapping_make(arch, shape);
	if (node_find(node, "node-type"))
		return reading_refuse(reading, node,
			"'node-type' begins a tree of tiles, as in TileFlow, which is not read: a "
			"mapping is a list of directives");
	if (node->kind != NODE_LIST)
		return reading_refuse(reading, node, "a mapping is a list of directives, not %s",
			node_kind_name(node));
	for (size_t i = 0; i < node->count; i++)
		read_directive(directives, node->items[i]);
	directives_complete(directives);
	set_orders(directives);
	if (diag_errors(reading->diag) == errors)
		for (int d = 0; d < shape->dimension_count; d++)
			finish_dimension(directives, d);
	if (diag_errors(reading->diag) != errors)
		return false;
	*out = directives->mapping;
	return true;
}

static void write_head(struct text *text, const char *target, const char *type)
{
	text_add(text, "- target: ");
	quote_yaml(text, target);
	text_add(text, "\n  type: %s\n", type);
}

/* Names of one letter stand together, as Timeloop wants them; longer ones in a list. */
static void write_order(struct text *text, const struct shape *shape, const uint8_t *order)
{
	bool letters = true;
	for (int d = 0; d < shape->dimension_count; d++)
		letters &= strlen(shape->dimensions[d].name) == 1;
	text_add(text, letters ? "  permutation: \"" : "  permutation: [");
	for (int i = 0; i < shape->dimension_count; i++)
		text_add(text, "%s%s", letters || !i ? "" : ", ", shape->dimensions[order[i]].name);
	text_add(text, letters ? "\"\n" : "]\n");
}

static void write_factors(struct text *text, const struct shape *shape,
	const struct mapping *mapping, int r, bool spatial)
{
	const struct mapping_row *row = &mapping->rows[r];
	text_add(text, "  factors: ");
	for (int d = 0; d < shape->dimension_count; d++) {
		long long factor = spatial ? row->spatial[d] : row->temporal[d];
		long long last =
			mapping_last_round(mapping, r, spatial, d, shape->dimensions[d].extent);
		text_add(text, "%s%s=%lld", d ? " " : "", shape->dimensions[d].name, factor);
		if (last != factor)
			text_add(text, ",%lld", last);
	}
	text_add(text, "\n");
}

/* The loops along X first, then those along Y; split is how many the first are. */
static void write_spatial(struct text *text, const struct arch *arch, const struct shape *shape,
	const struct mapping *mapping, int r)
{
	const struct mapping_row *row = &mapping->rows[r];
	uint8_t order[SHAPE_DIMENSIONS_MOST];
	int count = 0, split = 0;
	for (int y = 0; y <= 1; y++) {
		for (int i = 0; i < shape->dimension_count; i++)
			if ((row->spatial_y >> row->spatial_order[i] & 1) == y)
				order[count++] = row->spatial_order[i];
		split = y ? split : count;
	}
	write_head(text, nest_target_name(arch, r), "spatial");
	write_factors(text, shape, mapping, r, true);
	write_order(text, shape, order);
	text_add(text, "  split: %d\n", split);
}

static void write_places(struct text *text, const struct shape *shape,
	const struct mapping *mapping, int r, bool keep)
{
	int count = 0;
	text_add(text, keep ? "  keep: [" : "  bypass: [");
	for (int t = 0; t < shape->space_count; t++)
		if ((mapping->residency[t] >> r & 1) == keep)
			text_add(text, "%s%s", count++ ? ", " : "", shape->spaces[t].name);
	text_add(text, "]\n");
}

const char *nest_mapping_write(struct arena *arena, const struct arch *arch,
	const struct shape *shape, const struct mapping *mapping)
{
	struct text text = text_open(arena);
	text_add(&text, "mapping:\n");
	for (int r = 0; r < arch->level_count; r++) {
		const struct level *level = &arch->levels[r];
		if (domain_fanout(arch, r) > 1)
			write_spatial(&text, arch, shape, mapping, r);
		if (!domain_iterates(arch, r))
			continue;
		write_head(&text, level->name, "temporal");
		write_factors(&text, shape, mapping, r, false);
		write_order(&text, shape, mapping->rows[r].temporal_order);
		/* Timeloop keeps all that is not bypassed, at dummy levels too. */
		write_head(&text, level->name, "bypass");
		write_places(&text, shape, mapping, r, true);
		write_places(&text, shape, mapping, r, false);
	}
	return text_read(&text);
}
