#include "constraints/constraints.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"
#include "model/nest/nest_mapping.h"
#include "spec/field.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const struct constraint_kind *constraint_kind_find(const char *key)
{
	for (int i = 0; constraint_kinds[i]; i++)
		if (text_equal(constraint_kinds[i]->key, key))
			return constraint_kinds[i];
	return NULL;
}

struct clash *clash_add(
	struct clashes *clashes, int self, int by, struct span span, const char *format, ...)
{
	va_list list;
	va_start(list, format);
	const char *text = arena_format_list(clashes->arena, format, list);
	va_end(list);
	struct clash *clash = array_add(clashes->arena, clashes);
	*clash = (struct clash){.self = self, .by = by, .span = span, .text = text};
	return clash;
}

const char *place_text(
	struct arena *arena, const struct domain *domain, const struct constraint *constraint)
{
	if (constraint->row < 0)
		return constraint->part == PART_DATASPACE ? "!Nothing" : "the machine";
	const char *name = domain->arch->levels[constraint->row].name;
	if (constraint->part == PART_DATASPACE)
		return arena_format(arena, "'%s'", name);
	return arena_format(arena, "'%s' (%s)", name, constraint_part_names[constraint->part]);
}

struct factor_domain *place_factor(
	struct domain *domain, const struct constraint *constraint, int d)
{
	struct row_domain *row = &domain->rows[constraint->row];
	return constraint->part == PART_SPATIAL ? &row->spatial[d] : &row->temporal[d];
}

int64_t place_bound(const struct mapping *mapping, const struct constraint *constraint, int d)
{
	const struct mapping_row *row = &mapping->rows[constraint->row];
	return constraint->part == PART_SPATIAL ? row->spatial[d] : row->temporal[d];
}

const char *place_dimensions(struct arena *arena, const struct shape *shape, uint32_t mask)
{
	struct text text = text_open(arena);
	for (int d = 0; d < shape->dimension_count; d++)
		if (mask >> d & 1)
			text_add(&text, "%s%s", text.length ? ", " : "", shape->dimensions[d].name);
	return text_read(&text);
}

const char *place_use(const struct level *level)
{
	return level->kind == LEVEL_COMPUTE ? "computes" : "fans out";
}

const char *place_spaces(struct arena *arena, const struct shape *shape, uint32_t mask)
{
	struct text text = text_open(arena);
	for (int t = 0; t < shape->space_count; t++)
		if (mask >> t & 1)
			text_add(&text, "%s%s", text.length ? ", " : "", shape->spaces[t].name);
	return text_read(&text);
}

enum { ROUNDS = 3 };

static bool uses_row(const struct hierarchy *hierarchy, int row)
{
	for (int i = 0; i < hierarchy->level_count; i++)
		if (hierarchy->levels[i].row == row || hierarchy->levels[i].block_row == row)
			return true;
	return row < 0 || row == hierarchy->compute_row;
}

void constraints_keep_used(
	struct constraints *constraints, const struct hierarchy *hierarchy, const struct arch *arch)
{
	struct constraint *at = (struct constraint *)constraints->at;
	size_t all = constraints->count;
	if (!hierarchy->vector || arch->vector == arch->compute)
		return;
	constraints->count = 0;
	for (size_t i = 0; i < all; i++)
		if (uses_row(hierarchy, at[i].row))
			at[constraints->count++] = at[i];
}

void constraints_flag(const struct constraints *constraints, struct hierarchy *hierarchy)
{
	for (size_t i = 0; i < constraints->count; i++) {
		const struct constraint *constraint = &constraints->at[i];
		if (constraint->kind->flag)
			constraint->kind->flag(hierarchy, constraint);
	}
}

/* True if `a` narrows first.  Kinds of round 1 go spatial before temporal, from the innermost row outwards; all others
 * in the order of the files. */
static bool goes_before(const struct constraint *a, const struct constraint *b)
{
	if (a->kind->round != 1)
		return false;
	return a->part != b->part ? a->part < b->part : a->row > b->row;
}

static void narrow_round(const struct constraints *constraints, const bool *chosen, int round,
	struct domain *domain, struct clashes *clashes)
{
	size_t *order = arena_array(clashes->arena, size_t, constraints->count), count = 0;
	for (size_t i = 0; i < constraints->count; i++) {
		const struct constraint *constraint = &constraints->at[i];
		if (constraint->kind->round != round || !constraint->kind->narrow ||
			(chosen && !chosen[i]))
			continue;
		size_t to = count++;
		for (; to > 0 && goes_before(constraint, &constraints->at[order[to - 1]]); to--)
			order[to] = order[to - 1];
		order[to] = i;
	}
	for (size_t k = 0; k < count; k++) {
		const struct constraint *constraint = &constraints->at[order[k]];
		constraint->kind->narrow(domain, constraint, (int)order[k], clashes);
	}
}

/* Branch `branch` of a !Parallel, and the constraint that keeps a dataspace there. */
struct keeper {
	int branch, by;
	const char *name;
};

static bool constraint_keeps(const struct constraint *constraint, int t)
{
	return (text_equal(constraint->kind->key, "keep") ||
		       text_equal(constraint->kind->key, "keep_only")) &&
	       constraint->spaces >> t & 1;
}

/* Finds the dataspaces that a constraint keeps in a !Parallel; false if there are none. */
static bool find_keeper(const struct domain *domain, int by, int parallel, struct keeper *out)
{
	const struct arch *arch = domain->arch;
	const struct constraint *constraint = &domain->constraints->at[by];
	if (constraint->row >= 0) {
		const struct level *level = &arch->levels[constraint->row];
		*out = (struct keeper){level->branch, by, level->name};
		return level->parallel == parallel;
	}
	const struct nothing *nothing = &arch->nothings[constraint->number];
	*out = (struct keeper){nothing->branch, by, "!Nothing"};
	return nothing->parallel == parallel;
}

/* The rows of all other branches. */
static void bypass_others(struct domain *domain, int parallel, const struct keeper *home, int t)
{
	uint32_t bit = UINT32_C(1) << t;
	for (int r = 0; r < domain->arch->level_count; r++) {
		const struct level *level = &domain->arch->levels[r];
		struct row_domain *row = &domain->rows[r];
		if (level->parallel != parallel || level->branch == home->branch ||
			row->bypass & bit)
			continue;
		row->keep &= ~bit;
		row->bypass |= bit;
		row->keep_by[t] = home->by;
	}
}

/* Returns the place where a !Parallel begins. */
static struct span parallel_span(const struct arch *arch, int parallel)
{
	for (int r = 0; r < arch->level_count; r++)
		if (arch->levels[r].parallel == parallel)
			return arch->levels[r].span;
	return (struct span){0};
}

static void narrow_space(
	struct domain *domain, const bool *chosen, int parallel, int t, struct clashes *clashes)
{
	const struct constraints *all = domain->constraints;
	const char *name = domain->shape->spaces[t].name;
	struct keeper home = {.by = -1}, other;
	for (size_t i = 0; i < all->count; i++) {
		if ((chosen && !chosen[i]) || !constraint_keeps(&all->at[i], t) ||
			!find_keeper(domain, (int)i, parallel, &other))
			continue;
		if (home.by >= 0 && home.branch != other.branch) {
			clash_add(clashes, (int)i, home.by, all->at[i].span,
				"%s is kept in two branches of one !Parallel, by %s and by %s",
				name, home.name, other.name);
			return;
		}
		home = other;
	}
	if (home.by >= 0)
		bypass_others(domain, parallel, &home, t);
	else if (!chosen)
		clash_add(clashes, -1, -1, parallel_span(domain->arch, parallel),
			"no branch of this !Parallel keeps %s; one that stores nothing would be "
			"- !Nothing {constraints: {dataspace: {keep: [%s]}}}",
			name, name);
}

/* The branches of a !Parallel: every dataspace is kept in exactly one of them, by a constraint, and the
 * levels of the others bypass it.  Constraints outside of `chosen` do not count; a dataspace may then be without a
 * branch. */
static void narrow_branches(struct domain *domain, const bool *chosen, struct clashes *clashes)
{
	int most = 0;
	for (int r = 0; r < domain->arch->level_count; r++)
		if (domain->arch->levels[r].parallel > most)
			most = domain->arch->levels[r].parallel;
	for (int parallel = 1; parallel <= most; parallel++)
		for (int t = 0; t < domain->shape->space_count; t++)
			narrow_space(domain, chosen, parallel, t, clashes);
}

/* `chosen` NULL: all of them. */
static void constraints_narrow_chosen(const struct constraints *constraints, const bool *chosen,
	struct domain *domain, struct clashes *clashes)
{
	domain->constraints = constraints;
	for (int round = 0; round < ROUNDS; round++)
		narrow_round(constraints, chosen, round, domain, clashes);
	if (!clashes->count)
		narrow_branches(domain, chosen, clashes);
	if (!clashes->count)
		product_check(domain, clashes);
}

bool constraints_narrow(
	const struct constraints *constraints, struct domain *domain, struct diag *diag)
{
	struct arena *arena = arena_open();
	struct clashes clashes = {.arena = arena};
	constraints_narrow_chosen(constraints, NULL, domain, &clashes);
	for (size_t i = 0; i < clashes.count; i++) {
		const struct clash *clash = &clashes.at[i];
		diag_error(diag, clash->span, "%s", clash->text);
		if (clash->by >= 0 && clash->by != clash->self)
			diag_note(diag, constraints->at[clash->by].span, "the other one is here");
		for (int k = 0; k < clash->more_count; k++)
			diag_note(diag, constraints->at[clash->more[k]].span, "this takes part");
	}
	arena_close(arena);
	return !clashes.count;
}

bool constraints_agree(const struct constraints *constraints, const bool *chosen,
	struct domain *domain, struct arena *arena)
{
	struct arena_mark mark = arena_mark(arena);
	struct clashes clashes = {.arena = arena};
	constraints_narrow_chosen(constraints, chosen, domain, &clashes);
	bool agree = !clashes.count;
	arena_release(arena, mark);
	return agree;
}

bool constraints_agree_on_graph(const struct constraints *constraints, struct diag *diag)
{
	bool agree = true;
	for (size_t i = 0; i < constraints->count; i++)
		for (size_t k = 0; k < i; k++) {
			const struct constraint *a = &constraints->at[i], *b = &constraints->at[k];
			if (a->kind != b->kind || a->lx == b->lx ||
				!text_equal(a->subject, b->subject))
				continue;
			agree = false;
			diag_error(diag, a->span, "'%s' cannot live both in LX and in HBM",
				a->subject);
			diag_note(diag, b->span, "the other one is here");
		}
	return agree;
}

const char *constraints_check_one(const struct constraints *constraints, size_t i,
	const struct domain *domain, const struct mapping *mapping, struct arena *arena)
{
	const struct constraint *constraint = &constraints->at[i];
	if (!constraint->kind->check)
		return NULL;
	/* some kinds look at their neighbours */
	if (domain->constraints != constraints) {
		struct domain *same = arena_copy(arena, domain, sizeof *domain);
		same->constraints = constraints;
		domain = same;
	}
	return constraint->kind->check(domain, constraint, mapping, arena);
}

const char *constraints_check(const struct constraints *constraints, const struct domain *domain,
	const struct mapping *mapping, struct arena *arena)
{
	for (size_t i = 0; i < constraints->count; i++) {
		const char *why = constraints_check_one(constraints, i, domain, mapping, arena);
		if (!why)
			continue;
		struct span span = source_told(constraints->at[i].span);
		return arena_format(
			arena, "%s:%d:%d: %s", span.source->name, span.line, span.column, why);
	}
	return NULL;
}

/* The kinds of constraints, by their keys. */
static bool kind_field(size_t i, struct field *field)
{
	const struct constraint_kind *kind = constraint_kinds[i];
	*field =
		(struct field){.key = kind ? kind->key : NULL, .help = kind ? kind->summary : NULL};
	return kind;
}

static bool older_field(size_t i, struct field *field)
{
	*field = (struct field){.key = constraint_older_name(i)};
	return field->key;
}

static const struct noun kind_keys_noun = {.name = "kind_keys", .more = kind_field};
static const struct noun *const with_kind_keys[] = {&kind_keys_noun, NULL};
static const struct noun kinds_noun = {
	.name = "kinds", .parts = with_kind_keys, .more = older_field, .also = "null"};

struct group_form {
	const struct node *spatial, *temporal, *dataspace, *overbooked;
};

static const struct field part_fields[] = {
	{"spatial", FIELD_MAP, .noun = &kinds_noun, KEEP(struct group_form, spatial)},
	{"temporal", FIELD_MAP, .noun = &kinds_noun, KEEP(struct group_form, temporal)},
	{"dataspace", FIELD_MAP, .noun = &kinds_noun, KEEP(struct group_form, dataspace)},
	{"max_overbooked_proportion", .type = FIELD_ANY, KEEP(struct group_form, overbooked)},
	{0},
};
const struct noun inline_constraints_noun = {.name = "inline_constraints",
	.fields = part_fields,
	.parts = with_kind_keys,
	.also = "null"};

static const struct noun constraint_noun;

/* The key beside the type that a constraint needs. */
enum { ASIDE_LEAST = 1 << 0, ASIDE_SPACES = 1 << 1 };

struct aside_form {
	const struct node *least, *spaces;
};

static const struct field aside_fields[] = {
	{"min", FIELD_NUMBER, "least part", .forms = ASIDE_LEAST, .needed = ASIDE_LEAST,
		KEEP(struct aside_form, least)},
	{"datatypes", FIELD_TEXT, "dataspaces", .shape = SHAPE_SOME, .forms = ASIDE_SPACES,
		.needed = ASIDE_SPACES, KEEP(struct aside_form, spaces)},
	{0},
};
static const struct noun aside_noun = {.name = "aside", .fields = aside_fields};
static const struct noun *const with_kinds[] = {&aside_noun, &kinds_noun, NULL};
static const struct noun *const with_parts[] = {
	&aside_noun, &inline_constraints_noun, &kinds_noun, NULL};
static const struct noun asked_noun = {
	.name = "asked", .parts = with_parts, .also = "null", .items = &constraint_noun};

/* The rows of a constraint, as they are read one after the other: its type, what it is about, and the map that has
 * its kinds. */
enum {
	WITH_TYPE = 1 << 0,
	WITH_TARGET = 1 << 1,
	MAYBE_TARGET = 1 << 2,
	OF_GRAPH = 1 << 3,
	OF_SEVERAL = 1 << 4,
	WITH_ATTRIBUTES = 1 << 5,
	WITH_NESTED = 1 << 6,
};

struct constraint_form {
	const char *type;
	const struct node *target, *attributes, *nested;
};

static const struct field constraint_fields[] = {
	{"target", FIELD_TEXT, .forms = OF_GRAPH | OF_SEVERAL,
		KEEP(struct constraint_form, target)},
	{"name", FIELD_TEXT, .forms = OF_SEVERAL, .read = field_skip},
	{"target", FIELD_TEXT, "a level, an op or a tensor; `name` is an older word for levels",
		.spellings = "target name", .forms = WITH_TARGET | MAYBE_TARGET,
		.needed = WITH_TARGET, KEEP(struct constraint_form, target)},
	{"type", FIELD_TEXT, "spatial, temporal, dataspace, utilization; of graphs: graph",
		.forms = WITH_TYPE, .needed = WITH_TYPE, INTO(struct constraint_form, type)},
	{"attributes", FIELD_MAP, .noun = &asked_noun, .forms = WITH_ATTRIBUTES,
		KEEP_ANY(struct constraint_form, attributes)},
	{"constraints", FIELD_MAP, .noun = &asked_noun, .forms = WITH_NESTED,
		KEEP_ANY(struct constraint_form, nested)},
	{0},
};
static const struct noun constraint_noun = {
	.name = "constraint", .fields = constraint_fields, .parts = with_kinds};

/* Reads the rows of one or more of the forms above. */
static struct constraint_form read_constraint(struct reader *map, unsigned form)
{
	struct constraint_form read = {0};
	fields_read_form(map, &constraint_noun, form, &read, NULL);
	return read;
}

static const char *const template_names[] = {"uber", "ruby", NULL};

struct constraints_form {
	const struct node *targets, *named;
};

static const struct field constraints_fields[] = {
	{"version", FIELD_TEXT, .read = field_skip},
	{"template", FIELD_CHOICE, .words = template_names, .read = field_check},
	{"targets", FIELD_MAP, .shape = SHAPE_LIST, .noun = &constraint_noun,
		.read = field_read_filled, KEEP(struct constraints_form, targets)},
	{"constraints", FIELD_ANY, "the same, or the ending of the key of a list",
		KEEP_ANY(struct constraints_form, named)},
	{"constraints_*", FIELD_MAP, .shape = SHAPE_LIST, .noun = &constraint_noun},
	{0},
};
const struct noun constraints_noun = {.name = "constraints",
	.fields = constraints_fields,
	.also = "null",
	.items = &constraint_noun};

/* The list that a key holds, NULL if it is empty or none. */
static const struct node *read_targets(struct reader *map, const char *key)
{
	const struct node *list = read_node(map, key, OPTIONAL);
	return node_is_empty(list) ? NULL : read_list(map, key, OPTIONAL);
}

const struct node *constraints_targets(const struct reading *reading, const struct node *list)
{
	if (node_is_empty(list))
		return NULL;
	if (list->kind == NODE_LIST)
		return list;
	struct reader map;
	if (!noun_open(&map, reading, list, "constraints", &constraints_noun))
		return NULL;
	struct constraints_form form = {0};
	fields_read(&map, &constraints_noun, &form, NULL);
	const struct node *named = form.named;
	const char *key = "constraints";
	/* `constraints: rowstationary` means the list under constraints_rowstationary. */
	if (named && named->kind == NODE_SCALAR && !node_is_empty(named))
		key = arena_format(reading->arena, "constraints_%s", named->text);
	const struct node *chosen = read_targets(&map, key);
	if (named && key[strlen("constraints")] && !node_find(list, key))
		reading_refuse(reading, named, "'%s' is missing here", key);
	reader_done_lenient(&map);
	return chosen ? chosen : form.targets;
}

bool constraints_want_imperfect(const struct node *const *lists)
{
	bool ruby = false;
	for (int i = 0; lists[i]; i++) {
		const struct node *name = node_find(lists[i], "template");
		ruby |= name && name->kind == NODE_SCALAR && text_equal(name->text, "ruby");
	}
	return ruby;
}

const struct node *const *constraints_lists(struct sheet *sheet, struct arena *arena)
{
	static const char *const keys[] = {"constraints", "arch_constraints",
		"architecture_constraints", "mapspace_constraints", "mapspace", NULL};
	const struct node **lists = arena_array(arena, const struct node *, 6);
	int count = 0;
	for (int i = 0; keys[i]; i++) {
		const struct node *list = sheet_find(sheet, keys[i]);
		if (list)
			lists[count++] = list;
	}
	return lists;
}

bool constraints_is_of_graph(const struct node *entry)
{
	const struct node *type = entry->kind == NODE_MAP ? node_find(entry, "type") : NULL;
	return type && type->kind == NODE_SCALAR && text_equal(type->text, "graph");
}

/* Names that older files use for the same kinds. */
static const struct {
	const char *name, *key;
	unsigned parts;
} older_names[] = {
	{"no_temporal_reuse", "no_reuse", 1u << PART_TEMPORAL},
	{"no_multicast_no_reduction", "no_reuse", 1u << PART_SPATIAL},
	{"rmw_on_first_writeback", "rmw_first_update", 1u << PART_TEMPORAL},
	{"passthrough", "no_coalesce", 1u << PART_DATASPACE},
};

enum { OLDER_NAMES = sizeof older_names / sizeof *older_names };

const char *constraint_older_name(size_t i)
{
	return i < OLDER_NAMES ? older_names[i].name : NULL;
}

/* Values of `type:`.  For some the rest of the map is the value of one kind. */
static const struct {
	const char *name;
	enum constraint_part part;
	const char *kind; /* `datatypes:` is the value of that kind; NULL: none */
} types[] = {
	{"spatial", PART_SPATIAL, NULL},
	{"temporal", PART_TEMPORAL, NULL},
	{"dataspace", PART_DATASPACE, NULL},
	{"datatype", PART_DATASPACE, NULL},
	{"bypass", PART_DATASPACE, NULL},
	{"bypassing", PART_DATASPACE, NULL},
	{"utilization", PART_MACHINE, NULL},
	{"parallelism", PART_MACHINE, NULL},
	{"no_link_transfer", PART_SPATIAL, "no_link_transfer"},
	{"no_multicast", PART_SPATIAL, "no_reuse"},
	{"no_reduction", PART_SPATIAL, "no_reuse"},
	{"no_multicast_no_reduction", PART_SPATIAL, "no_reuse"},
	{"graph", PART_GRAPH, NULL},
};

enum { TYPES = sizeof types / sizeof *types };

/* Constraints as they are found. */
struct constraint_finding {
	struct constraint_context context;
	bool architecture;
	bool flags_only; /* of a mapping: what else stands there is read by others */
	struct array(struct constraint) found;
};

/* A row, a branch without one, or the machine: what constraints are said of. */
struct aim {
	const char *name;
	int row, block_row;
	int nothing; /* of arch.nothings; -1 */
};

static const struct aim the_machine = {"the machine", -1, -1, -1};

/* True if bounds of 1 are all that it asks for. */
static bool holds_undivided(const struct constraint *constraint)
{
	bool holds = !text_equal(constraint->kind->key, "must_iterate_over_dataspaces") ||
		     !constraint->spaces;
	for (int i = 0; i < constraint->factor_count; i++) {
		const struct constraint_factor *factor = &constraint->factors[i];
		bool above = factor->relation == RELATION_GREATER ||
			     (factor->bound > 1 && (factor->relation == RELATION_EQUAL ||
							   factor->relation == RELATION_AT_LEAST));
		holds &= !above;
	}
	return holds;
}

/* No loops and no words where there is one instance, or nothing: all bounds are 1, and that may be
 * what is asked. */
static void refuse_no_loops(struct constraint_finding *finding, const struct constraint *constraint)
{
	const struct reading *reading = finding->context.reading;
	const struct arch *arch = finding->context.arch;
	const char *lacks =
		constraint->part == PART_SPATIAL ? "fan-out" : "loops and no words of its own";
	struct text text = text_open(reading->arena);
	for (int r = 0; r < arch->level_count && constraint->part == PART_SPATIAL; r++)
		if (domain_fanout(arch, r) > 1)
			text_add(&text, "%s'%s'", text.length ? ", " : "; what fans out is ",
				nest_target_name(arch, r));
	if (!holds_undivided(constraint))
		diag_error(reading->diag, constraint->span,
			"'%s' has no %s: '%s' cannot be met there%s", constraint->target, lacks,
			constraint->kind->key, text_read(&text));
	else if (!constraint->factor_count)
		diag_warning(reading->diag, constraint->span,
			"'%s' has no %s: '%s' changes nothing there%s", constraint->target, lacks,
			constraint->kind->key, text_read(&text));
}

static void constraint_append(struct constraint_finding *finding,
	const struct constraint_kind *kind, enum constraint_part part, const struct aim *aim,
	const struct node *value)
{
	struct constraint constraint = {
		.kind = kind,
		.part = part,
		.row = part == PART_SPATIAL ? aim->block_row : aim->row,
		.target = aim->name,
		.span = value->span,
		.architecture = finding->architecture,
		.number = aim->nothing,
	};
	if (!kind->read(&finding->context, value, &constraint))
		return;
	/* A fan-out has no words and no temporal loops of its own; its stand-in may say so. */
	if (part != PART_SPATIAL && constraint.row < 0)
		constraint.row = aim->block_row;
	bool of_row = part == PART_SPATIAL || part == PART_TEMPORAL ||
		      (part == PART_DATASPACE && aim->nothing < 0);
	if (of_row && constraint.row < 0)
		refuse_no_loops(finding, &constraint);
	else
		*array_add(finding->context.reading->arena, &finding->found) = constraint;
}

/* A kind under its own key or an older one. */
static const struct constraint_kind *constraints_kind(const char *key, enum constraint_part part)
{
	for (int i = 0; i < OLDER_NAMES; i++)
		if (text_equal(older_names[i].name, key) && older_names[i].parts >> part & 1)
			key = older_names[i].key;
	return constraint_kind_find(key);
}

/* Says where a kind would belong that does not belong here. */
static void refuse_part(struct constraint_finding *finding, const struct node_entry *entry,
	const struct constraint_kind *kind, enum constraint_part part)
{
	struct text text = text_open(finding->context.reading->arena);
	for (int p = 0; p < PART_COUNT; p++)
		if (kind->parts >> p & 1)
			text_add(
				&text, "%s%s", text.length ? " or " : "", constraint_part_names[p]);
	diag_error(finding->context.reading->diag, entry->key_span,
		"'%s' is a %s constraint, not a %s one", entry->key, text_read(&text),
		constraint_part_names[part]);
}

/* The keys of a map that are kinds of a part; marks them as known. */
static void read_part(struct constraint_finding *finding, struct reader *map,
	enum constraint_part part, const struct aim *aim)
{
	const struct node *node = map->map;
	finding->context.beside = node;
	for (int i = 0; constraint_kinds[i]; i++)
		if (constraint_kinds[i]->parts >> part & 1)
			read_node(map, constraint_kinds[i]->key, OPTIONAL);
	for (size_t i = 0; i < node->count; i++) {
		const struct node_entry *entry = &node->entries[i];
		const struct constraint_kind *kind = constraints_kind(entry->key, part);
		if (!kind || (finding->flags_only && !kind->flag))
			continue;
		/* `type: bypass` has a key that is a kind as well */
		read_node(map, entry->key, OPTIONAL);
		if (node_is_empty(entry->value))
			continue;
		if (kind->parts >> part & 1)
			constraint_append(finding, kind, part, aim, entry->value);
		else if (!finding->flags_only)
			refuse_part(finding, entry, kind, part);
	}
}

static void refuse_sparse(const struct reading *reading, struct span span)
{
	diag_error(reading->diag, span,
		"max_overbooked_proportion is about sparse data, which lxplore does not model");
}

/* {spatial: .., temporal: .., dataspace: ..} */
static void read_group(
	struct constraint_finding *finding, const struct node *node, const struct aim *aim)
{
	static const enum constraint_part parts[] = {PART_SPATIAL, PART_TEMPORAL, PART_DATASPACE};
	const struct reading *reading = finding->context.reading;
	struct group_form form = {0};
	struct reader group, map;
	if (node_is_empty(node) ||
		!noun_open(&group, reading, node, "constraints", &inline_constraints_noun))
		return;
	fields_read(&group, &inline_constraints_noun, &form, NULL);
	const struct node *const values[] = {form.spatial, form.temporal, form.dataspace};
	for (int p = 0; p < 3; p++) {
		const char *name = constraint_part_names[parts[p]];
		if (!values[p] || !noun_open(&map, reading, values[p], name, &kinds_noun))
			continue;
		read_part(finding, &map, parts[p], aim);
		reader_done(&map);
	}
	read_part(finding, &group, PART_MACHINE, aim);
	if (!node_is_empty(form.overbooked))
		refuse_sparse(reading, form.overbooked->span);
	reader_done(&group);
}

/* The type of a target; -1 after complaining. */
static int read_type(struct constraint_finding *finding, struct reader *map)
{
	const char *names[TYPES + 1] = {0};
	const struct reading *reading = finding->context.reading;
	const char *text = read_constraint(map, WITH_TYPE).type;
	if (!text)
		return -1;
	struct span span = node_find(map->map, "type")->span;
	int found = TYPES;
	for (int i = TYPES - 1; i >= 0; i--)
		if (text_equal(names[i] = types[i].name, text))
			found = i;
	const struct constraint_context *context = &finding->context;
	bool graph = context->workload != NULL;
	if (found < TYPES && (types[found].part == PART_GRAPH ? graph : context->shape != NULL))
		return found;
	if (found < TYPES) {
		diag_error(reading->diag, span,
			graph ? "'%s' is a constraint of a single problem; a workload graph has "
				"type: graph, with cores, span and residency"
			      : "'%s' is a constraint of a workload graph; a single problem has "
				"spatial, temporal, dataspace and utilization",
			text);
		return -1;
	}
	if (text_equal(text, "max_overbooked_proportion")) {
		refuse_sparse(reading, span);
		return -1;
	}
	diag_error(reading->diag, span,
		"unknown type of constraint '%s' (there are spatial, temporal, dataspace, "
		"utilization and graph)%s",
		text, suggestion(reading->arena, suggest(text, names), ""));
	return -1;
}

/* `target:`, in constraints of the mapspace `name:` too. */
static bool read_aim(
	struct constraint_finding *finding, struct reader *map, bool needed, struct aim *aim)
{
	const struct reading *reading = finding->context.reading;
	struct nest_target target = {.row = -1, .block_row = -1};
	const struct node *name = read_constraint(map, needed ? WITH_TARGET : MAYBE_TARGET).target;
	*aim = the_machine;
	if (!name)
		return !needed;
	if (!nest_target_read(reading, name, finding->context.arch, &target))
		return false;
	*aim = (struct aim){target.name, target.row, target.block_row, -1};
	return true;
}

/* No constraint of a problem is among them. */
static bool is_of_graph(const struct constraint_context *context)
{
	return context->workload && !context->shape;
}

/* Timeloop's formats may have keys that nothing reads; ours of graphs have none. */
static void finish_map(const struct constraint_finding *finding, struct reader *map)
{
	if (is_of_graph(&finding->context))
		reader_done(map);
	else
		reader_done_lenient(map);
}

/* {min: 0.5} beside the type, or {type: no_link_transfer, datatypes: [Inputs]} */
static void read_aside(
	struct constraint_finding *finding, struct reader *map, int type, const struct aim *aim)
{
	struct aside_form form = {0};
	bool spaces = types[type].kind;
	fields_read_form(map, &aside_noun, spaces ? ASIDE_SPACES : ASIDE_LEAST, &form, NULL);
	if (form.spaces)
		constraint_append(finding, constraint_kind_find(types[type].kind), types[type].part,
			aim, form.spaces);
	else if (form.least)
		constraint_append(finding, constraint_kind_find(types[type].name), PART_MACHINE,
			&the_machine, map->map);
}

/* Reads the keys of a map that belong to a type. */
static void read_body(
	struct constraint_finding *finding, struct reader *map, int type, const struct aim *aim)
{
	if (types[type].kind || types[type].part == PART_MACHINE)
		read_aside(finding, map, type, aim);
	else
		read_part(finding, map, types[type].part, aim);
}

/* The kinds of one type: in the entry itself, and in `attributes:` or `constraints:` inside it.
 * `around` is the map with the target, mostly the entry itself. */
static void read_typed(struct constraint_finding *finding, struct reader *map,
	struct reader *around, const struct node *nested)
{
	struct reader inner;
	struct aim aim = the_machine;
	int type = read_type(finding, map);
	enum constraint_part part = type < 0 ? PART_MACHINE : types[type].part;
	if (part == PART_GRAPH)
		finding->context.target = read_constraint(map, OF_GRAPH).target;
	else if (!read_aim(finding, around, part != PART_MACHINE, &aim))
		return;
	if (type < 0)
		return;
	const struct node *body =
		part == PART_GRAPH ? NULL : read_constraint(map, WITH_ATTRIBUTES).attributes;
	body = nested ? nested : body;
	bool apart = !node_is_empty(body);
	if (apart && noun_open(&inner, finding->context.reading, body, "constraint", &asked_noun)) {
		read_body(finding, &inner, type, &aim);
		finish_map(finding, &inner);
	}
	/* Timeloop has the split beside the type. */
	if (!apart || (part != PART_MACHINE && !types[type].kind))
		read_body(finding, map, type, &aim);
	finish_map(finding, map);
}

/* Timeloop's `constraints: [{type: .., attributes: {..}}]` inside a target; they may be none. */
static void read_several(
	struct constraint_finding *finding, struct reader *around, const struct node *list)
{
	read_constraint(around, OF_SEVERAL);
	for (size_t i = 0; i < list->count; i++) {
		struct reader map;
		if (noun_open(&map, finding->context.reading, list->items[i], "constraint",
			    &constraint_noun))
			read_typed(finding, &map, around, NULL);
	}
	finish_map(finding, around);
}

static void read_one(struct constraint_finding *finding, const struct node *node)
{
	struct reader map;
	struct aim aim;
	if (!noun_open(&map, finding->context.reading, node, "constraint", &constraint_noun))
		return;
	const struct node *nested = node_find(node, "constraints");
	read_constraint(&map, WITH_NESTED);
	if (!nested || node_find(node, "type") || is_of_graph(&finding->context)) {
		read_typed(finding, &map, &map, node_is_empty(nested) ? NULL : nested);
		return;
	}
	if (nested->kind == NODE_LIST || node_is_empty(nested)) {
		read_several(finding, &map, nested);
		return;
	}
	if (read_aim(finding, &map, true, &aim))
		read_group(finding, nested, &aim);
	finish_map(finding, &map);
}

static void read_inline(struct constraint_finding *finding)
{
	const struct arch *arch = finding->context.arch;
	finding->architecture = true;
	for (int r = 0; r < arch->level_count; r++) {
		const struct aim aim = {
			arch->levels[r].name, r, domain_fanout(arch, r) > 1 ? r : -1, -1};
		read_group(finding, arch->levels[r].constraints, &aim);
	}
	for (int i = 0; i < arch->nothing_count; i++) {
		const struct aim aim = {"!Nothing", -1, -1, i};
		read_group(finding, arch->nothings[i].constraints, &aim);
	}
	finding->architecture = false;
}

/* Entries that the machine has for the nests of a graph are not about the graph. */
static void read_lists(struct constraint_finding *finding, const struct node *const *lists)
{
	const struct constraint_context *context = &finding->context;
	bool left = is_of_graph(context) && context->arch->constraints;
	for (int i = 0; lists && lists[i]; i++) {
		const struct node *targets = constraints_targets(context->reading, lists[i]);
		for (size_t k = 0; targets && k < targets->count; k++)
			if (!left || constraints_is_of_graph(targets->items[k]))
				read_one(finding, targets->items[k]);
	}
}

static struct constraints constraints_found(const struct constraint_finding *finding)
{
	return (struct constraints){.count = finding->found.count, .at = finding->found.at};
}

struct constraints constraints_read(
	const struct constraint_context *context, const struct node *const *lists)
{
	struct constraint_finding finding = {.context = *context};
	if (!is_of_graph(context))
		read_inline(&finding);
	read_lists(&finding, lists);
	return constraints_found(&finding);
}

struct constraints constraints_read_lists(
	const struct constraint_context *context, const struct node *const *lists)
{
	struct constraint_finding finding = {.context = *context};
	read_lists(&finding, lists);
	return constraints_found(&finding);
}

struct constraints constraints_of_mapping(
	const struct constraint_context *context, const struct node *mapping)
{
	struct constraint_finding finding = {.context = *context, .flags_only = true};
	for (size_t i = 0; mapping && mapping->kind == NODE_LIST && i < mapping->count; i++) {
		struct reader map;
		struct aim aim;
		/* The mapping itself was read before: what is wrong with it is known. */
		struct reading silent = *context->reading;
		silent.diag = diag_open(silent.arena);
		if (!reader_open(&map, &silent, mapping->items[i], "directive"))
			continue;
		const struct reading *loud = finding.context.reading;
		finding.context.reading = &silent;
		int type = read_type(&finding, &map);
		bool good = type >= 0 && read_aim(&finding, &map, true, &aim);
		finding.context.reading = loud;
		map.reading = loud;
		if (good && types[type].part != PART_MACHINE)
			read_part(&finding, &map, types[type].part, &aim);
	}
	return constraints_found(&finding);
}
