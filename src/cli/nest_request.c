#include "cli/nest_request.h"

#include "base/arena.h"
#include "model/nest/nest_mapping.h"
#include "search/drive/solver.h"
#include "search/nest/feasible.h"

bool request_check(
	const struct nest_inputs *inputs, const struct objectives *objectives, struct diag *diag)
{
	for (size_t i = 0; i < objectives->count; i++)
		if (!nest_objective(objectives->at[i]))
			diag_error(diag, (struct span){0},
				"objective '%s' is for workload graphs; a problem has latency, "
				"energy, edp, hbm_bytes and accesses:LEVEL",
				objective_names[objectives->at[i]]);
	if (inputs->solver && inputs->solver->sharing != SHARING_DRAWS &&
		inputs->patience_span.source)
		diag_remark(diag, inputs->patience_span,
			"only map=%s ends by victory or timeout; map=%s does not",
			solver_sharing(STAGE_MAP, SHARING_DRAWS)->name, inputs->solver->name);
	nest_inputs_note_search(inputs,
		"the best mapping is searched for and proven; '--solver map=random' draws mappings "
		"as they say",
		diag);
	return !diag_failed(diag);
}

/* Under the flags of constraints alone: those of a mapping hold for no other one. */
static const struct hierarchy *unflag(
	const struct nest_inputs *inputs, struct arena *arena, struct diag *diag)
{
	if (!inputs->mapping_flags)
		return inputs->hierarchy;
	struct hierarchy *hierarchy = hierarchy_make(arena, inputs->arch, inputs->shape, diag);
	if (hierarchy) {
		hierarchy_price(hierarchy, arena, inputs->arch, inputs->counting);
		constraints_flag(inputs->constraints, hierarchy);
		hierarchy->dummy_loops = inputs->hierarchy->dummy_loops;
	}
	diag_warning(diag, inputs->mapping_span,
		"flags in the mapping (no_reuse, rmw_first_update, ...) are left aside: in a search "
		"only those of constraints hold");
	return hierarchy;
}

/* NULL when the constraints leave no mapping: that is told then.  *start: one that fits; NULL if
 * that was too much work to find out. */
static const struct domain *narrow(const struct nest_inputs *inputs,
	const struct hierarchy *hierarchy, struct factors_store *store,
	const struct mapping **start, struct diag *diag)
{
	struct arena *arena = store->arena;
	struct domain *domain = domain_make(arena, inputs->arch, inputs->shape, hierarchy);
	*start = NULL;
	domain->imperfect = inputs->imperfect;
	domain->whole_homes = inputs->counting == COUNTING_EXACT;
	if (!constraints_narrow(inputs->constraints, domain, diag))
		return NULL;
	struct feasible feasible = feasible_find_from(store, domain, 0, FEASIBLE_WORK_MOST);
	if (feasible.verdict == VERDICT_YES)
		*start = arena_copy(arena, &feasible.witness, sizeof feasible.witness);
	if (feasible.verdict != VERDICT_NO)
		return domain;
	diag_error(diag, inputs->shape->span, "no mapping fits the machine and the constraints");
	return NULL;
}

/* A proof is about the mapspace: what is not in it must not stand beside one. */
static const char *find_rest(
	const struct nest_search *search, const struct mapping *mapping, struct arena *arena)
{
	for (int d = 0; d < search->shape->dimension_count; d++) {
		bool perfect = true;
		if (search->domain->imperfect >> d & 1)
			continue;
		nest_mapping_check_bounds(arena, search->arch, search->shape, mapping, d, &perfect);
		if (!perfect)
			return arena_format(arena,
				"the factors of dimension %s do not divide, those of the mappings "
				"searched all do; --imperfect %s lets others in",
				search->shape->dimensions[d].name,
				search->shape->dimensions[d].name);
	}
	return NULL;
}

/* Why a search cannot start with the mapping of the specs; NULL if it can. */
static const char *find_fault(
	const struct nest_search *search, const struct mapping *mapping, struct arena *arena)
{
	struct nest_counts *counts = arena_new(arena, struct nest_counts);
	struct nest_score *score = arena_new(arena, struct nest_score);
	const char *why = find_rest(search, mapping, arena);
	if (!why)
		why = constraints_check(search->constraints, search->domain, mapping, arena);
	nest_evaluate(search->model, mapping, counts, score);
	return why ? why : nest_verdict_text(arena, search->hierarchy, search->shape, score);
}

/* A mapping that the specs bring is where the search starts, if it may. */
static void take_start(const struct nest_inputs *inputs, struct nest_search *search,
	struct arena *arena, struct diag *diag)
{
	if (!inputs->mapping)
		return;
	const char *why = find_fault(search, inputs->mapping, arena);
	if (why)
		diag_warning(diag, inputs->mapping_span,
			"the search starts without this mapping: %s", why);
	else
		search->start = inputs->mapping;
}

/* Proofs over perfect factors go on until they are made. */
static uint64_t budget_of(const struct nest_inputs *inputs, const struct wishes *wishes)
{
	if (wishes->budget)
		return wishes->budget;
	return inputs->solver && inputs->solver->proves && !inputs->imperfect ? 0 : NEST_BUDGET;
}

bool request_search(struct arena *arena, const struct nest_inputs *inputs,
	const struct wishes *wishes, struct diag *diag, struct nest_search *out)
{
	struct factors_store store = {.arena = arena, .stopper = wishes->asker.stopper};
	const struct mapping *start = NULL;
	const struct hierarchy *hierarchy = unflag(inputs, arena, diag);
	const struct domain *domain =
		hierarchy ? narrow(inputs, hierarchy, &store, &start, diag) : NULL;
	if (!domain)
		return false;
	const struct space *space = space_make_from(&store, arena, domain);
	if (!space) {
		diag_error(diag, inputs->shape->span,
			"the search was to end before its factors were counted");
		return false;
	}
	*out = (struct nest_search){
		.arch = inputs->arch,
		.shape = inputs->shape,
		.hierarchy = hierarchy,
		.constraints = inputs->constraints,
		.domain = domain,
		.space = space_listed(arena, space),
		.counting = inputs->counting,
		.model = nest_model_make(arena, hierarchy, inputs->shape, inputs->counting),
		.exact = nest_model_make(arena, hierarchy, inputs->shape, COUNTING_EXACT),
		.wishes = *wishes,
		.solver = inputs->solver,
		.start = start,
		.patience = inputs->patience,
		.epsilon = inputs->epsilon,
	};
	out->wishes.budget = budget_of(inputs, wishes);
	take_start(inputs, out, arena, diag);
	return true;
}
