#include "search/graph/op_constraints.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"

/* What is asked about constraints of one shape. */
struct asking {
	struct reading reading;
	struct constraint_context context;
};

static const struct constraint_context *ask(struct asking *asking, const struct arch *arch,
	const struct shape *shape, struct diag *diag, struct arena *arena)
{
	asking->reading = (struct reading){.arena = arena, .diag = diag};
	asking->context = (struct constraint_context){
		.reading = &asking->reading, .arch = arch, .shape = shape};
	return &asking->context;
}

static void refuse_ruby(const struct reading *reading, const struct node *list)
{
	const struct node *lists[] = {list, NULL};
	if (constraints_want_imperfect(lists))
		reading_refuse(reading, node_find(list, "template"),
			"'ruby' is about the mapspace of a single problem; factors of a graph's "
			"nests divide");
}

const struct arch *op_constraints_take(
	const struct reading *reading, const struct arch *arch, const struct node *const *lists)
{
	struct arena *arena = reading->arena;
	struct array(const struct node *) found = {0};
	for (int i = 0; lists[i]; i++) {
		const struct node *targets = constraints_targets(reading, lists[i]);
		refuse_ruby(reading, lists[i]);
		for (size_t k = 0; targets && k < targets->count; k++) {
			if (constraints_is_of_graph(targets->items[k]))
				continue;
			struct node *entry = arena_new(arena, struct node);
			*entry = (struct node){.kind = NODE_LIST,
				.span = targets->items[k]->span,
				.count = 1,
				.items = &targets->items[k]};
			*array_add(arena, &found) = entry;
		}
	}
	if (!found.count)
		return arch;
	*array_add(arena, &found) = NULL;
	struct arch *taken = arena_copy(arena, arch, sizeof *arch);
	taken->constraints = found.at;
	return taken;
}

/* What an entry of a file asks of a shape. */
static struct constraints read_entry(const struct constraint_context *context, size_t i)
{
	const struct node *one[] = {context->arch->constraints[i], NULL};
	return constraints_read_lists(context, one);
}

static bool understands(const struct arch *arch, const struct shape *shape, size_t i)
{
	struct arena *arena = arena_open();
	struct diag *silent = diag_open(arena);
	struct asking asking;
	read_entry(ask(&asking, arch, shape, silent, arena), i);
	bool good = !diag_failed(silent);
	arena_close(arena);
	return good;
}

static size_t count_entries(const struct arch *arch)
{
	size_t count = 0;
	while (arch->constraints && arch->constraints[count])
		count++;
	return count;
}

struct constraints op_constraints_read(const struct arch *arch, const struct inner_nest *nest,
	struct diag *diag, struct arena *arena)
{
	const struct shape *shape = nest->shape;
	size_t count = count_entries(arch), kept = 0;
	const struct node **lists = arena_array(arena, const struct node *, count + 1);
	for (size_t i = 0; i < count; i++)
		if (understands(arch, shape, i))
			lists[kept++] = arch->constraints[i];
	/* constraints point at what they were read with */
	struct constraints read = constraints_read(
		ask(arena_new(arena, struct asking), arch, shape, diag, arena), lists);
	struct constraint *at = (struct constraint *)read.at;
	size_t all = read.count;
	read.count = 0;
	for (size_t i = 0; i < all; i++)
		if (op_constraints_inside(arch, &at[i]))
			at[read.count++] = at[i];
	constraints_keep_used(&read, nest->hierarchy, arch);
	return read;
}

bool op_constraints_inside(const struct arch *arch, const struct constraint *constraint)
{
	if (!arch_moves_boxes(arch))
		return true;
	return constraint->row > arch->lx ||
	       (constraint->row == arch->lx && constraint->part == PART_TEMPORAL);
}

bool op_constraints_any(const struct arch *arch)
{
	bool any = arch->constraints || arch->nothing_count;
	for (int r = 0; r < arch->level_count; r++)
		any |= arch->levels[r].constraints != NULL;
	return any;
}

/* The nests of tiles begin in the scratchpad: what is around them is planned. */
static void refuse_outside(
	const struct arch *arch, const struct constraints *constraints, struct diag *diag)
{
	for (size_t k = 0; arch_moves_boxes(arch) && k < constraints->count; k++) {
		const struct constraint *constraint = &constraints->at[k];
		if (constraint->row > arch->lx)
			continue;
		diag_error(diag, constraint->span,
			"'%s' is said of '%s', and plans have nests only inside '%s'; around it a "
			"workload graph has type: graph, with cores, span and residency",
			constraint->kind->key, constraint->target, arch->levels[arch->lx].name);
	}
}

/* Complains as the first op that understands an entry would, or, where none does, the first one. */
static void judge_entry(const struct arch *arch, const struct workload *workload,
	const struct shape *const *shapes, size_t i, struct diag *diag, struct arena *arena)
{
	const struct op *first_without = NULL;
	const struct shape *judge = NULL, *any = NULL;
	size_t without = 0;
	struct asking asking;
	for (size_t o = 0; o < workload->op_count; o++) {
		if (!shapes[o])
			continue;
		any = any ? any : shapes[o];
		if (understands(arch, shapes[o], i)) {
			judge = judge ? judge : shapes[o];
			continue;
		}
		first_without = first_without ? first_without : &workload->ops[o];
		without++;
	}
	if (!any)
		return;
	struct constraints read =
		read_entry(ask(&asking, arch, judge ? judge : any, diag, arena), i);
	refuse_outside(arch, &read, diag);
	if (judge && without)
		diag_warning(diag, arch->constraints[i]->span,
			"op '%s'%s cannot have all of this, and %s without it", first_without->name,
			without > 1 ? arena_format(arena, " and %zu more", without - 1) : "",
			without > 1 ? "go" : "goes");
}

const struct workload *op_constraints_flag(const struct arch *arch, const struct workload *workload,
	struct diag *diag, struct arena *arena)
{
	struct workload *flagged = arena_copy(arena, workload, sizeof *workload);
	struct op *ops = arena_copy(arena, workload->ops, workload->op_count * sizeof *ops);
	const struct shape **shapes = arena_array(arena, const struct shape *, workload->op_count);
	flagged->ops = ops;
	for (size_t o = 0; o < workload->op_count && !diag_failed(diag); o++) {
		const char *why;
		struct mapping blank = mapping_make(arch, &ops[o]);
		struct inner_question question = {
			.arch = arch, .workload = workload, .op = &ops[o], .mapping = &blank};
		struct inner_nest nest = inner_nest_make(&question, arena, &why);
		if (!nest.hierarchy)
			continue;
		shapes[o] = nest.shape;
		struct constraints constraints = op_constraints_read(arch, &nest, diag, arena);
		/* what tiles leave of the extents is not known yet */
		if (arch->constraints && !arch_moves_boxes(arch))
			constraints_narrow(&constraints,
				domain_make(arena, arch, nest.shape, nest.hierarchy), diag);
		struct hierarchy *own = arena_copy(arena, nest.hierarchy, sizeof *own);
		constraints_flag(&constraints, own);
		if (hierarchy_flagged(own))
			ops[o].flagged = own;
	}
	size_t count = diag_failed(diag) ? 0 : count_entries(arch);
	for (size_t i = 0; i < count; i++)
		judge_entry(arch, workload, shapes, i, diag, arena);
	return flagged;
}

/* True if a constraint is about a nest: storage beside the op's unit is not in it, and what is resident has
 * its home in the scratchpad. */
static bool is_about(const struct constraint *constraint, const struct inner_question *question,
	const struct hierarchy *hierarchy)
{
	const struct arch *arch = question->arch;
	int row = constraint->row;
	if (constraint->part == PART_DATASPACE && question->in_lx && row <= arch->lx)
		return false;
	return row < 0 || arch->levels[row].kind != LEVEL_STORAGE ||
	       hierarchy_level(hierarchy, row) >= 0;
}

const char *op_constraints_check(
	const struct plan *plan, int step, struct diag *diag, struct arena *arena)
{
	const char *why, *first = NULL;
	const struct arch *arch = plan->arch;
	struct inner_question question = inner_nest_question(arena, plan, step);
	struct inner_nest nest = inner_nest_make(&question, arena, &why);
	if (!nest.hierarchy)
		return NULL;
	struct constraints constraints = op_constraints_read(arch, &nest, diag_open(arena), arena);
	const struct domain *domain = domain_make(arena, arch, nest.shape, nest.hierarchy);
	for (size_t i = 0; i < constraints.count; i++) {
		const struct constraint *constraint = &constraints.at[i];
		if (!is_about(constraint, &question, nest.hierarchy))
			continue;
		why = constraints_check_one(&constraints, i, domain, &nest.mapping, arena);
		if (!why)
			continue;
		if (diag)
			diag_error(diag, constraint->span, "op '%s': %s", question.op->name, why);
		if (!first)
			first = arena_format(arena, "op '%s': %s", question.op->name, why);
	}
	return first;
}
