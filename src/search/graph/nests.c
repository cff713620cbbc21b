#include "search/graph/nests.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"
#include "cost/graph/cost.h"
#include "cost/graph/floor.h"
#include "model/graph/box_nest.h"
#include "model/nest/nest_mapping.h"
#include "search/drive/solver.h"
#include "search/engine/kept.h"
#include "search/graph/options.h"
#include "search/nest/feasible.h"
#include "search/nest/nest_search.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* A question about the constraints of one shape. */
struct inner_constraints {
	struct reading reading;
	struct constraint_context context;
};

static const struct constraint_context *open_inner(struct inner_constraints *inner,
	const struct arch *arch, const struct shape *shape, struct diag *diag, struct arena *arena)
{
	inner->reading = (struct reading){.arena = arena, .diag = diag};
	inner->context = (struct constraint_context){
		.reading = &inner->reading, .arch = arch, .shape = shape};
	return &inner->context;
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

/* Returns the constraints of a shape from one entry of a file. */
static struct constraints read_entry(const struct constraint_context *context, size_t i)
{
	const struct node *one[] = {context->arch->constraints[i], NULL};
	return constraints_read_lists(context, one);
}

static bool arch_understands(const struct arch *arch, const struct shape *shape, size_t i)
{
	struct arena *arena = arena_open();
	struct diag *silent = diag_open(arena);
	struct inner_constraints inner;
	read_entry(open_inner(&inner, arch, shape, silent, arena), i);
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

/* Returns the constraints of an op's nest alone. Complains about inline constraints that the op cannot have. */
static struct constraints op_constraints_read(const struct arch *arch,
	const struct inner_nest *nest, struct diag *diag, struct arena *arena)
{
	const struct shape *shape = nest->shape;
	size_t count = count_entries(arch), kept = 0;
	const struct node **lists = arena_array(arena, const struct node *, count + 1);
	for (size_t i = 0; i < count; i++)
		if (arch_understands(arch, shape, i))
			lists[kept++] = arch->constraints[i];
	/* constraints point at what they were read with */
	struct constraints read = constraints_read(
		open_inner(arena_new(arena, struct inner_constraints), arch, shape, diag, arena),
		lists);
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
			"'%s' is set at '%s', and plans have nests only inside '%s'; around it a "
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
	struct inner_constraints inner;
	for (size_t o = 0; o < workload->op_count; o++) {
		if (!shapes[o])
			continue;
		any = any ? any : shapes[o];
		if (arch_understands(arch, shapes[o], i)) {
			judge = judge ? judge : shapes[o];
			continue;
		}
		first_without = first_without ? first_without : &workload->ops[o];
		without++;
	}
	if (!any)
		return;
	struct constraints read =
		read_entry(open_inner(&inner, arch, judge ? judge : any, diag, arena), i);
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

/* The mapspace of one op. */
struct mapspace {
	struct inner_nest nest;
	struct constraints constraints;
	struct domain *domain; /* NULL: the machine's constraints leave nothing */
};

/* A result may stay in the scratchpad wherever its sums are kept: it leaves for the storage that is marked
 * as its place. */
static void let_result_stay(const struct inner_question *question, struct constraints *constraints)
{
	uint32_t result = question->in_lx & 1u << question->op->read_count;
	struct constraint *at = (struct constraint *)constraints->at;
	for (size_t i = 0; i < constraints->count; i++) {
		if (at[i].part != PART_DATASPACE || at[i].row != question->arch->lx)
			continue;
		if (text_equal(at[i].kind->key, "keep_only"))
			at[i].spaces |= result;
		else if (text_equal(at[i].kind->key, "bypass") ||
			 text_equal(at[i].kind->key, "bypass_only"))
			at[i].spaces &= ~result;
	}
}

/* A resident operand has its home in the scratchpad.  False: it may not be kept there. */
static bool place_homes(const struct inner_question *question, struct domain *domain)
{
	const struct arch *arch = question->arch;
	uint32_t in_lx = arch_moves_boxes(arch) ? 0 : question->in_lx;
	for (int r = 0; in_lx && r < arch->lx; r++) {
		domain->rows[r].keep &= ~in_lx;
		domain->rows[r].bypass |= in_lx;
	}
	if (!in_lx)
		return true;
	if (domain->rows[arch->lx].bypass & in_lx)
		return false;
	domain->rows[arch->lx].keep |= in_lx;
	return true;
}

/* Rows outside the part have no loops and keep nothing; the outermost storage of it keeps everything. */
static void cut_rows(struct domain *domain)
{
	const struct hierarchy *hierarchy = domain->hierarchy;
	uint32_t all = (1u << domain->shape->space_count) - 1, rows = 0, blocks = 0;
	int home = -1;
	for (int i = 0; i < hierarchy->level_count; i++) {
		rows |= 1u << hierarchy->levels[i].row;
		blocks |= 1u << hierarchy->levels[i].block_row;
		if (hierarchy->levels[i].storage)
			home = hierarchy->levels[i].row;
	}
	for (int r = 0; r < domain->arch->level_count; r++) {
		struct row_domain *row = &domain->rows[r];
		for (int d = 0; d < domain->shape->dimension_count; d++) {
			if (!(rows >> r & 1))
				row->temporal[d].most = 1;
			if (!(blocks >> r & 1))
				row->spatial[d].most = 1;
		}
		if (rows >> r & 1)
			continue;
		row->keep = 0;
		row->bypass = all;
	}
	domain->rows[home].keep = all;
}

/* The machine of a graph does not know how much of its blocks constraints ask for. */
static void use_blocks(struct mapspace *space, struct domain *domain, struct arena *arena)
{
	struct hierarchy *own = arena_copy(arena, space->nest.hierarchy, sizeof *own);
	for (int i = 0; i < own->level_count; i++)
		own->levels[i].least_usage = domain->rows[own->levels[i].block_row].least_usage;
	space->nest.hierarchy = domain->hierarchy = own;
}

/* NULL, or why the op has none. */
static const char *open_mapspace(
	const struct inner_question *question, struct mapspace *space, struct arena *arena)
{
	struct diag *silent = diag_open(arena);
	const char *why;
	space->nest = inner_nest_make(question, arena, &why);
	if (!space->nest.hierarchy)
		return why ? why : "it has no nest";
	space->constraints = op_constraints_read(question->arch, &space->nest, silent, arena);
	let_result_stay(question, &space->constraints);
	struct domain *domain =
		domain_make(arena, question->arch, space->nest.shape, space->nest.hierarchy);
	domain->whole_homes = true;
	if (arch_moves_boxes(question->arch))
		cut_rows(domain);
	if (!constraints_narrow(&space->constraints, domain, silent))
		return "the constraints leave it no mapping";
	use_blocks(space, domain, arena);
	if (!place_homes(question, domain))
		return "the machine's constraints keep an operand out of the scratchpad";
	space->domain = domain;
	return NULL;
}

/* The order of answers: the objective, then energy x latency. */
struct nest_value {
	double first, then;
};

static struct nest_value nest_value_of(
	const struct nest_search *search, enum objective objective, const struct mapping *mapping)
{
	struct nest_counts counts;
	struct nest_score score;
	nest_evaluate(search->model, mapping, &counts, &score);
	struct score summary = nest_summary(search, &counts, &score);
	return (struct nest_value){
		objective_value(objective, &summary), objective_value(OBJECTIVE_EDP, &summary)};
}

/* All the work is one share. */
static void nest_search_share(
	const struct nest_search *search, const struct solver *solver, struct problem *problem)
{
	if (solver->sharing == SHARING_ENUMERATION)
		problem->end = space_factors_count(search->space);
	else if (solver->sharing == SHARING_DRAWS)
		problem->end = NEST_STEP_TICKS;
	else
		problem->end = 1;
}

/* The best so far, and what it is worth in the objective that is wanted. */
struct leader {
	const struct mapping *best; /* NULL: none yet */
	struct nest_value worth;
};

static void take_better(const struct nest_search *search, enum objective objective,
	const struct answer *answer, struct leader *leader)
{
	for (size_t i = 0; i < answer->candidate_count; i++) {
		const struct mapping *other = answer->candidates[i].mappings;
		struct nest_value worth = nest_value_of(search, objective, other),
				  least = leader->worth;
		bool better = worth.first < least.first ||
			      (worth.first == least.first && worth.then < least.then);
		if (!leader->best || better)
			*leader = (struct leader){other, worth};
	}
}

/* Returns the solver that looks at a mapspace: one that proves, unless it is to be brief. */
static const struct solver *solver_of(const struct nests_wanted *wanted, bool brief)
{
	if (wanted->solver)
		return wanted->solver;
	return solver_for(STAGE_MAP, brief ? FOR_STARTS : FOR_PROBLEMS);
}

/* True if a proof of a mapspace would only list its branches within the ticks, and the graph has too many ops for
 * that to be done for each of them. */
static bool is_too_large(
	const struct nest_search *search, const struct workload *workload, uint64_t ticks)
{
	return !arch_moves_boxes(search->arch) && workload->op_count > PLANS_BRIEF_OPS &&
	       ticks <= NEST_FEW_TICKS && space_factors_count(search->space) > NEST_LARGE_FACTORS;
}

/* The best that the solver finds, or the witness that it began with.  A proof of one objective says
 * nothing of the others, so the best in energy x latency is a candidate, too. */
static const struct mapping *ask_solver(const struct nest_search *search,
	const struct nests_wanted *wanted, struct nest_answer *out, struct arena *arena)
{
	const enum objective asked[] = {wanted->objective, OBJECTIVE_EDP};
	uint64_t ticks = wanted->brief                    ? NEST_BRIEF_TICKS
			 : arch_moves_boxes(search->arch) ? NEST_TILE_TICKS
							  : NEST_STEP_TICKS;
	const struct solver *solver = solver_of(wanted, wanted->brief);
	struct leader leader = {.best = search->start};
	if (leader.best)
		leader.worth = nest_value_of(search, wanted->objective, leader.best);
	bool both = wanted->objective != OBJECTIVE_EDP && !wanted->brief;
	for (int k = 0; k < 1 + both; k++) {
		struct nest_search own = *search;
		struct problem problem = {.stage = STAGE_MAP, .nest = &own, .op = -1};
		struct asker asker = {.jobs = 1, .stopper = wanted->stopper};
		own.wishes.objectives = (struct objectives){1, {asked[k]}};
		nest_search_share(&own, solver, &problem);
		struct answer answer = solve_for(&asker, solver, &problem, ticks, 1, arena);
		out->ticks += answer.ticks;
		if (k == 0)
			out->proven = answer.status == PROOF_OPTIMAL;
		take_better(search, wanted->objective, &answer, &leader);
	}
	return leader.best;
}

/* The search of an op's mapspace; false, and *why, where there is nothing to search. */
static bool open_search(const struct inner_question *question, const struct nests_wanted *wanted,
	struct nest_search *out, struct arena *arena, const char **why)
{
	struct mapspace *mapspace = arena_new(arena, struct mapspace);
	*why = open_mapspace(question, mapspace, arena);
	if (*why)
		return false;
	struct factors_store store = {.arena = arena, .stopper = wanted->stopper};
	struct feasible feasible = feasible_find_from(&store, mapspace->domain, 0, NEST_STEP_TICKS);
	*why = "no mapping fits the machine";
	if (feasible.verdict == VERDICT_NO)
		return false;
	const struct space *space = space_make_from(&store, arena, mapspace->domain);
	*why = "it was asked to stop";
	if (!space)
		return false;
	const struct nest_model *model = nest_model_make(
		arena, mapspace->nest.hierarchy, mapspace->nest.shape, COUNTING_EXACT);
	*out = (struct nest_search){
		.wishes = {.budget = NEST_STEP_TICKS, .seed = 1},
		.arch = question->arch,
		.shape = mapspace->nest.shape,
		.hierarchy = mapspace->nest.hierarchy,
		.constraints = &mapspace->constraints,
		.domain = mapspace->domain,
		.space = space_listed(arena, space),
		.counting = COUNTING_EXACT,
		.model = model,
		.exact = model,
		.start = feasible.verdict == VERDICT_YES
				 ? arena_copy(arena, &feasible.witness, sizeof feasible.witness)
				 : NULL,
	};
	*why = NULL;
	return true;
}

static const struct mapping *find_nest(const struct inner_question *question,
	const struct nests_wanted *wanted, struct nest_answer *answer, struct arena *arena,
	const char **why)
{
	struct nest_search search;
	if (!open_search(question, wanted, &search, arena, why))
		return NULL;
	const struct mapping *best = ask_solver(&search, wanted, answer, arena);
	*why = best ? NULL : "no mapping was found that fits the machine";
	return best;
}

/* Returns the extent of a loop in a nest: all of it, or a tile in whole units. */
static int64_t inner_question_extent(const struct inner_question *question, int l)
{
	if (!arch_moves_boxes(question->arch))
		return question->op->loops[l].extent;
	return op_tile(question->arch, question->workload, question->op, question->mapping, l);
}

/* All that an answer depends on but the machine, as a text. */
static const char *inner_nest_describe(
	const struct inner_question *question, const char *wish, struct arena *arena)
{
	struct text text = text_open(arena);
	const struct op *op = question->op;
	text_add(&text, "%s %d %" PRIu32 " %" PRId64 " %d", wish, op_unit(question->arch, op),
		arch_moves_boxes(question->arch) ? 0 : question->in_lx, question->room,
		question->resumes);
	bool named = op_constraints_any(question->arch); /* by loop and by tensor */
	for (int l = 0; l < op->loop_count; l++)
		text_add(&text, " %" PRId64 "%s%s", inner_question_extent(question, l),
			op->loops[l].reduction ? "r" : "", named ? op->loops[l].name : "");
	for (int i = 0; i < op_operands(op); i++) {
		const struct access *access = op_operand(op, i);
		const struct layout *layout = &question->workload->tensors[access->tensor].layout;
		const char *role = op_role(op, i);
		text_add(&text, "|%d %s %s", (int)layout->dtype, role ? role : "-",
			named ? question->workload->tensors[access->tensor].name : "");
		for (int h = 0; h < layout->host_rank; h++)
			for (int l = 0; l < op->loop_count; l++)
				if (access->host[h].coefficient[l])
					text_add(&text, " %d.%d.%" PRId64, h, l,
						access->host[h].coefficient[l]);
	}
	return text_read(&text);
}

const struct nest_answer *nests_ask(const struct inner_question *question,
	const struct nests_wanted *wanted, struct arena *arena)
{
	const char *wish =
		arena_format(arena, "%d%s", (int)wanted->objective, wanted->brief ? " brief" : "");
	const char *key = inner_nest_describe(question, wish, arena);
	size_t size = strlen(key) + 1;
	const struct nest_answer *known = wanted->kept ? kept_find(wanted->kept, key, size) : NULL;
	if (known)
		return known;
	struct nest_answer answer = {0};
	struct arena *scratch = arena_open();
	const struct mapping *found = find_nest(question, wanted, &answer, scratch, &answer.why);
	if (found)
		answer.mapping = *found;
	arena_close(scratch);
	if (!wanted->kept || stopper_stops(&wanted->stopper))
		return arena_copy(arena, &answer, sizeof answer);
	return kept_add(wanted->kept, key, size, &answer, sizeof answer, answer.ticks);
}

/* Returns the frontier of the solver's offers and of the witness that it began with. */
static struct frontier ask_front(struct nest_search *search, const struct workload *workload,
	const struct nests_wanted *wanted, struct nest_front *out, struct arena *arena)
{
	const struct solver *solver =
		solver_of(wanted, wanted->brief || is_too_large(search, workload, out->ticks));
	struct frontier frontier = nest_frontier(search);
	struct problem problem = {.stage = STAGE_MAP, .nest = search, .op = -1};
	struct asker asker = {.jobs = 1, .stopper = wanted->stopper};
	nest_search_share(search, solver, &problem);
	struct answer answer = solve_for(&asker, solver, &problem, out->ticks, 1, arena);
	out->proven = answer.status == PROOF_OPTIMAL;
	out->ticks = answer.ticks;
	for (size_t i = 0; i <= answer.candidate_count; i++) {
		struct nest_counts counts;
		struct nest_score score;
		const struct mapping *mapping =
			i < answer.candidate_count ? answer.candidates[i].mappings : search->start;
		if (!mapping || nest_evaluate(search->model, mapping, &counts, &score) != NEST_FITS)
			continue;
		struct point point = {.score = nest_summary(search, &counts, &score),
			.key = nest_mapping_print(arena, search->arch, search->shape, mapping),
			.payload = (void *)(uintptr_t)mapping};
		frontier_add(&frontier, arena, point);
	}
	return frontier;
}

/* Prices a nest as a step of a plan; false if it cannot be counted. */
static bool price_choice(const struct inner_question *question, const struct mapping *mapping,
	struct nest_choice *out, struct arena *arena)
{
	struct inner_question priced = *question;
	struct op_price price;
	*out = (struct nest_choice){.mapping = *mapping};
	if (arch_moves_boxes(question->arch)) /* of a tile: the step has its price */
		return true;
	priced.mapping = mapping;
	if (!op_price(&priced, arena, &price) || price.why)
		return false;
	*out = (struct nest_choice){
		*mapping, price.bound, price.hbm_bytes, price.room, price.energy_pj};
	return true;
}

static const struct nest_front *find_front(const struct inner_question *question,
	const struct nests_wanted *wanted, const struct objectives *objectives, uint64_t ticks,
	struct arena *arena)
{
	struct nest_search search;
	struct nest_front head = {.ticks = ticks};
	struct frontier found = {0};
	if (open_search(question, wanted, &search, arena, &head.why)) {
		search.wishes.objectives = *objectives;
		search.wishes.budget = ticks;
		found = ask_front(&search, question->workload, wanted, &head, arena);
	} else {
		head.proven = !stopper_stops(&wanted->stopper);
	}
	struct nest_front *front =
		arena_alloc(arena, sizeof head + found.count * sizeof *front->at);
	*front = head;
	for (size_t i = 0; i < found.count; i++)
		front->count += price_choice(
			question, found.points[i].payload, &front->at[front->count], arena);
	if (!front->why && !front->count)
		front->why = "no mapping was found that fits the machine";
	return front;
}

const struct nest_front *nests_front(const struct inner_question *question,
	const struct nests_wanted *wanted, const struct objectives *objectives, uint64_t ticks,
	struct arena *arena)
{
	struct text wish = text_open(arena);
	/* is_too_large() asks this of the graph. */
	bool many = question->workload->op_count > PLANS_BRIEF_OPS;
	text_add(&wish, "front %" PRIu64 "%s", ticks, many ? " of many ops" : "");
	for (size_t i = 0; i < objectives->count; i++)
		text_add(&wish, ",%d", (int)objectives->at[i]);
	const char *key = inner_nest_describe(question, text_read(&wish), arena);
	size_t size = strlen(key) + 1;
	const struct nest_front *known = kept_find(wanted->kept, key, size);
	if (known)
		return known;
	struct arena *scratch = arena_open();
	const struct nest_front *front = find_front(question, wanted, objectives, ticks, scratch);
	size_t bytes = sizeof *front + front->count * sizeof *front->at;
	const struct nest_front *answer =
		stopper_stops(&wanted->stopper)
			? arena_copy(arena, front, bytes)
			: kept_add(wanted->kept, key, size, front, bytes, front->ticks);
	arena_close(scratch);
	return answer;
}

/* Those of a plan of one nest that the nest decides. */
static struct objectives objectives_of(const struct objectives *asked)
{
	struct objectives own = {0};
	for (size_t i = 0; i < asked->count; i++)
		if (nest_objective(asked->at[i]))
			own.at[own.count++] = asked->at[i];
	return own.count ? own : (struct objectives){1, {OBJECTIVE_LATENCY}};
}

/* True if plans of one nest are in the order of their nests: cores and bundles add time, words of other
 * widths are other bytes. */
static bool keep_order(const struct nest_search *search, const struct objectives *asked)
{
	const struct arch *arch = search->arch;
	bool narrow = false;
	for (int t = 0; t < search->shape->space_count; t++)
		narrow |= search->shape->spaces[t].word_bits != 0;
	return !(narrow && objectives_have(asked, OBJECTIVE_HBM_BYTES)) &&
	       !(arch->bundle_cycles && objectives_have(asked, OBJECTIVE_EDP)) &&
	       (arch_cores(arch) == 1 ||
		       (!arch->core_cycles && !objectives_have(asked, OBJECTIVE_CORES)));
}

struct explored nests_explore(const struct inner_question *question,
	const struct nests_wanted *wanted, const struct wishes *wishes, struct arena *arena,
	const char **why)
{
	struct nest_search search;
	struct explored explored = {0};
	if (!open_search(question, wanted, &search, arena, why))
		return explored;
	search.wishes = *wishes;
	search.wishes.objectives = objectives_of(&wishes->objectives);
	search.wishes.simulate = SIMULATE_NONE;
	search.solver = wanted->solver;
	search.wishes.budget = search.solver && search.solver->proves ? 0 : NEST_BUDGET;
	explored = nest_explore(&search, arena);
	bool proves = keep_order(&search, &wishes->objectives);
	explored.complete &= proves;
	if (!proves || search.wishes.objectives.at[0] != wishes->objectives.at[0])
		explored.bound = explored.within = 0;
	if (!explored.frontier.count)
		*why = "no mapping was found that fits the machine";
	return explored;
}

/* Returns the cycles in which the outermost storage of a nest moves the inputs and outputs of the graph. */
static double home_floor(const struct hierarchy *hierarchy, const struct workload *workload)
{
	const struct nest_level *home = &hierarchy->levels[hierarchy->level_count - 1];
	const struct ratio rates[] = {
		home->store.read_rate, home->store.write_rate, home->store.shared_rate};
	double words[] = {0, 0, 0}, most = 0;
	bool whole = home->storage; /* else there are several of it */
	for (int t = 0; t < SHAPE_SPACES_MOST; t++)
		whole &= home->rate_scale[t] >= 1;
	if (!whole)
		return 0;
	for (int t = 0; t < (int)workload->tensor_count; t++) {
		const struct tensor *tensor = &workload->tensors[t];
		double own = latency_compulsory_bytes(workload, t) /
			     dtype_stored_bytes(tensor->layout.dtype);
		words[tensor->role == TENSOR_OUTPUT] += own;
		words[2] += own;
	}
	for (int k = 0; k < 3; k++)
		if (rates[k].num)
			most = fmax(most, words[k] / ratio_double(rates[k]));
	return most;
}

int64_t nests_floor(const struct arch *arch, const struct workload *workload)
{
	struct arena *arena = arena_open();
	double cycles = 0, moved = 0;
	for (size_t o = 0; o < workload->op_count; o++) {
		const char *why;
		struct mapping blank = mapping_make(arch, &workload->ops[o]);
		struct inner_question question = {.arch = arch,
			.workload = workload,
			.op = &workload->ops[o],
			.mapping = &blank};
		struct inner_nest nest = {0};
		if (op_is_tiled(question.op))
			nest = inner_nest_make(&question, arena, &why);
		const struct nest_search search = {
			.hierarchy = nest.hierarchy, .shape = nest.shape};
		if (!nest.hierarchy)
			continue;
		cycles += floor(nest_floor(&search, OBJECTIVE_LATENCY));
		if (moved <= 0)
			moved = home_floor(nest.hierarchy, workload);
	}
	arena_close(arena);
	cycles = fmax(cycles, floor(moved));
	return cycles < 0x1p53 ? (int64_t)cycles : 0;
}

const char *nests_home(const struct arch *arch, const struct workload *workload,
	const struct op *op, uint32_t in_lx, struct arena *arena)
{
	struct arena *scratch = arena_open();
	struct mapping blank = mapping_make(arch, op);
	struct inner_question question = {
		.arch = arch, .workload = workload, .op = op, .mapping = &blank, .in_lx = in_lx};
	struct mapspace mapspace = {0};
	const char *why = open_mapspace(&question, &mapspace, scratch);
	if (why)
		why = arena_format(arena, "'%s': %s", op->name, why);
	arena_close(scratch);
	return why;
}

/* Operands of a step that no nest has room for go back to their home; false: none was away. */
static bool send_home(struct plan *plan, int step)
{
	const struct op *op = &plan->workload->ops[plan->steps[step].op];
	bool any = false;
	for (int i = 0; i < op_operands(op); i++) {
		int t = op_operand(op, i)->tensor;
		for (int r = 0; r < plan->residency_count; r++) {
			struct residency *stay = &plan->residencies[r];
			if (stay->in_place_of == t)
				stay->in_place_of = -1;
			if (stay->tensor != t || stay->place != PLACE_LX)
				continue;
			*stay = (struct residency){.tensor = t,
				.place = PLACE_HBM,
				.from = stay->from,
				.to = stay->to,
				.in_place_of = -1};
			any = true;
		}
	}
	return any;
}

bool nests_plan(
	struct plan *plan, const struct nests_wanted *asked, struct arena *arena, const char **why)
{
	struct nests_wanted wanted = *asked;
	struct kept *own = wanted.kept ? NULL : kept_open();
	bool found = true;
	if (own)
		wanted.kept = own;
	for (int step = 0; found && step < plan->step_count && !stopper_stops(&wanted.stopper);
		step++) {
		struct inner_question question = inner_nest_question(arena, plan, step);
		if (!op_is_tiled(question.op))
			continue;
		const struct nest_answer *answer = nests_ask(&question, &wanted, arena);
		plan->steps[step].mapping = answer->mapping;
		found = !answer->why;
		if (!found && !arch_moves_boxes(plan->arch) && !plan->run_count &&
			send_home(plan, step)) {
			found = true;
			step = -1; /* steps before may have had one of them in the scratchpad */
			continue;
		}
		if (!found)
			*why = arena_format(arena, "op '%s': %s", question.op->name, answer->why);
	}
	kept_close(own);
	return found;
}
