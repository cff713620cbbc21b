#include "cli/nest_inputs.h"

#include "base/arena.h"
#include "base/text.h"
#include "cli/graph_inputs.h"
#include "cli/inputs.h"
#include "cli/kind.h"
#include "model/nest/constraint.h"
#include "model/nest/nest_mapping.h"
#include "search/drive/solver.h"
#include "search/nest/feasible.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Timeloop's metrics, and the objectives that they are; and accesses-N of its level number N, or
 * of all of them. */
static const struct {
	const char *metric;
	enum objective objective;
} metrics[] = {
	{"delay", OBJECTIVE_LATENCY},
	{"energy", OBJECTIVE_ENERGY},
	{"edp", OBJECTIVE_EDP},
	{"last_level_accesses", OBJECTIVE_HBM_BYTES},
	{"last-level-accesses", OBJECTIVE_HBM_BYTES},
};
enum { METRICS = sizeof metrics / sizeof *metrics };

/* Timeloop's number of a level, which counts fan-outs with a level of their own. */
static void add_number(int number, struct span span, struct objectives *objectives,
	const struct objective_scope *scope)
{
	const struct hierarchy *hierarchy = scope->hierarchy;
	struct text known = text_open(scope->arena);
	for (int i = 0; i < hierarchy->level_count; i++) {
		if (!hierarchy->levels[i].storage)
			continue;
		if (i == number) {
			objectives_add_level(objectives, i, span, scope);
			return;
		}
		text_add(&known, "%s%d (%s)", known.length ? ", " : "", i,
			hierarchy->levels[i].name);
	}
	diag_error(scope->diag, span, "no level %d keeps words; there are %s", number,
		text_read(&known));
}

/* "accesses-2", "ordered-accesses", or ours; false if it is none of these. */
static bool add_accesses(const char *name, struct span span, struct objectives *objectives,
	const struct objective_scope *scope)
{
	const struct hierarchy *hierarchy = scope->hierarchy;
	int number, end = 0;
	if (scope->subject == SUBJECT_GRAPH && strstr(name, "accesses") &&
		strncmp(name, "last", 4) != 0) {
		diag_error(scope->diag, span,
			"'%s' counts words of a level, and tiles move in boxes here; "
			"last_level_accesses are bytes of the DRAM",
			name);
		return true;
	}
	if (strncmp(name, "accesses:", 9) == 0) {
		objectives_add(objectives, name, span, scope);
		return true;
	}
	if (sscanf(name, "accesses%*1[-_]%2d%n", &number, &end) == 1 && !name[end]) {
		if (hierarchy)
			add_number(number, span, objectives, scope);
		return true;
	}
	if (!text_equal(name, "ordered-accesses") && !text_equal(name, "ordered_accesses"))
		return false;
	for (int i = hierarchy ? hierarchy->level_count - 1 : -1; i >= 0; i--)
		if (hierarchy->levels[i].storage)
			objectives_add_level(objectives, i, span, scope);
	return true;
}

static void add_metric(const char *name, struct span span, struct objectives *objectives,
	const struct objective_scope *scope)
{
	const char *known[METRICS + 1] = {0};
	if (add_accesses(name, span, objectives, scope))
		return;
	for (int i = 0; i < METRICS; i++) {
		known[i] = metrics[i].metric;
		if (text_equal(metrics[i].metric, name)) {
			objectives_add(
				objectives, objective_names[metrics[i].objective], span, scope);
			return;
		}
	}
	const char *near = suggest(name, known);
	diag_error(scope->diag, span,
		near ? "unknown metric '%s'; did you mean '%s'?"
		     : "unknown metric '%s'; a mapper minimizes delay, energy, edp, "
		       "last_level_accesses or accesses-N",
		name, near);
}

/* The key with '_', or with the '-' that Timeloop had before 2022. */
static const char *spelling(const struct reader *mapper, const char *key)
{
	char *dashed = arena_text(mapper->reading->arena, key);
	for (char *at = dashed; *at; at++)
		if (*at == '_')
			*at = '-';
	return !node_find(mapper->map, key) && node_find(mapper->map, dashed) ? dashed : key;
}

static void read_metrics(struct reader *mapper, const char *key, struct objectives *objectives,
	const struct objective_scope *scope)
{
	const char *const *names;
	size_t count;
	key = spelling(mapper, key);
	const struct node *list = read_node(mapper, key, OPTIONAL);
	if (!list || !read_texts(mapper, key, OPTIONAL, &names, &count) || !count)
		return;
	objectives->count = 0;
	for (size_t i = 0; i < count; i++)
		add_metric(names[i], node_item(list, i)->span, objectives, scope);
}

/* The algorithm, and what ends its draws: how Timeloop searches.  A search here is asked for a proof,
 * so these are kept for a solver that draws as Timeloop does. */
static void read_search(struct reader *mapper, struct nest_inputs *inputs)
{
	static const char *const names[] = {"random", "hybrid", "random_pruned", "random-pruned",
		"linear_pruned", "linear-pruned", "exhaustive", "linear", NULL};
	static const char *const keys[] = {
		"algorithm", "victory_condition", "timeout", "num_threads", "search_size"};
	struct mapper_search *search = &inputs->mapper;
	struct text given = text_open(mapper->reading->arena);
	int algorithm = 0, count = 0;
	int64_t size = 0;
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		const char *key = spelling(mapper, keys[i]);
		const struct node *node = read_node(mapper, key, OPTIONAL);
		if (node && !node_is_empty(node))
			text_add(&given, "%s'%s'", count++ ? ", " : "", key);
	}
	read_word(mapper, "algorithm", OPTIONAL, names, &algorithm);
	nest_inputs_patience(mapper,
		(const char *[]){spelling(mapper, "victory_condition"), spelling(mapper, "timeout"),
			spelling(mapper, "num_threads")},
		&search->patience, &(struct span){0});
	if (read_integer(mapper, spelling(mapper, "search_size"), OPTIONAL, 0, INT64_MAX, &size) &&
		size > 0)
		search->size = (uint64_t)size;
	search->keys = count ? text_read(&given) : NULL;
	search->file = (struct span){.source = mapper->map->span.source};
	search->several = count > 1;
}

/* Notes what steers Timeloop's threads and its logs. */
static void note_unused(struct reader *mapper)
{
	static const char *const keys[] = {"live_status", "max_permutations_per_if_visit",
		"out_prefix", "sync_interval", "log_interval", "log_oaves", "log_oaves_mappings",
		"log_stats", "log_suboptimal", "log_all", "diagnostics",
		"penalize_consecutive_bypass_fails", "emit_whoop_nest",
		"max_temporal_loops_in_a_mapping", "filter_revisits", "mapper_timeout", NULL};
	struct text text = text_open(mapper->reading->arena);
	for (int i = 0; keys[i]; i++) {
		const char *key = spelling(mapper, keys[i]);
		if (read_node(mapper, key, OPTIONAL))
			text_add(&text, "%s%s", text.length ? ", " : "", key);
	}
	if (text.length)
		diag_remark(mapper->reading->diag, mapper->map->span,
			"of the mapper these have no meaning here: %s", text_read(&text));
}

void nest_inputs_mapper(struct inputs *inputs, struct nest_inputs *own, const struct node *node)
{
	struct objectives *objectives = &inputs->wishes.objectives;
	struct reader mapper;
	const char *version;
	if (!reader_open(&mapper, &inputs->reading, node, "mapper"))
		return;
	read_text(&mapper, "version", OPTIONAL, &version);
	struct objective_scope scope = {
		inputs->arena, inputs->diag, inputs->kind->subject, own->hierarchy};
	read_metrics(&mapper, "optimization_metric", objectives, &scope);
	read_metrics(&mapper, "optimization_metrics", objectives, &scope);
	read_search(&mapper, own);
	note_unused(&mapper);
	reader_done_lenient(&mapper);
}

void nest_inputs_draw(struct inputs *inputs, struct nest_inputs *own)
{
	if (!own->solver || own->solver->sharing != SHARING_DRAWS)
		return;
	own->patience = own->mapper.patience;
	if (!inputs->wishes.budget)
		inputs->wishes.budget = own->mapper.size;
	own->mapper.keys = NULL;
}

void nest_inputs_note_search(const struct nest_inputs *own, const char *instead, struct diag *diag)
{
	const struct mapper_search *search = &own->mapper;
	if (search->keys)
		diag_note(diag, search->file, "%s %s Timeloop's search and %s: %s", search->keys,
			search->several ? "describe" : "describes",
			search->several ? "are not used" : "is not used", instead);
}

void nest_inputs_patience(struct reader *reader, const char *const names[3],
	struct patience *patience, struct span *span)
{
	static const int64_t most[] = {INT64_MAX, INT64_MAX, NEST_SEQUENCES_MOST};
	uint64_t *const out[] = {&patience->victory, &patience->timeout, &patience->sequences};
	for (int i = 0; i < 3; i++) {
		int64_t count;
		if (!read_integer(reader, names[i], OPTIONAL, 0, most[i], &count))
			continue;
		*out[i] = (uint64_t)count;
		*span = read_node(reader, names[i], OPTIONAL)->span;
	}
}

/* "all", or a dimension. */
static void allow_imperfect(struct nest_inputs *inputs, const char *name, struct span span,
	const struct reading *reading)
{
	const struct shape *shape = inputs->shape;
	const char *known[SHAPE_DIMENSIONS_MOST + 2] = {"all"};
	uint32_t dimensions = text_equal(name, "all") ? UINT32_MAX : 0;
	for (int d = 0; shape && d < shape->dimension_count; d++) {
		known[d + 1] = shape->dimensions[d].name;
		if (text_equal(name, known[d + 1]))
			dimensions |= UINT32_C(1) << d;
	}
	if (inputs->imperfect & dimensions)
		diag_error(reading->diag, span,
			dimensions == UINT32_MAX ? "'%s' stands alone"
						 : "dimension '%s' is given twice",
			name);
	inputs->imperfect |= dimensions;
	if (!dimensions)
		directive_refuse(reading, span, "dimension", name, known);
}

/* `imperfect: [M, N]`; "M,N" of the command line replaces it. */
static void read_imperfect(struct inputs *inputs, struct nest_inputs *own)
{
	struct reader *search = &inputs->search;
	const struct option_value *value = option_find(inputs->arguments, "imperfect");
	const struct node *list = search->map ? read_node(search, "imperfect", OPTIONAL) : NULL;
	const char *const *names;
	size_t count;
	if (list && read_texts(search, "imperfect", OPTIONAL, &names, &count))
		for (size_t i = 0; i < count; i++)
			allow_imperfect(own, names[i],
				list->kind == NODE_LIST ? node_item(list, i)->span : list->span,
				&inputs->reading);
	if (!value)
		return;
	own->imperfect = 0;
	for (const char *at = value->text; *at;) {
		size_t length = strcspn(at, ",");
		allow_imperfect(own, arena_format(inputs->arena, "%.*s", (int)length, at),
			value->span, &inputs->reading);
		at += length + (at[length] == ',');
	}
}

/* A part of the best value: 0.01 for a hundredth. */
static void read_epsilon(struct inputs *inputs, struct nest_inputs *own)
{
	const char *what;
	const struct node *node = inputs_node(inputs, "epsilon", &what);
	if (!node || !node_number(&inputs->reading, node, what, &own->epsilon))
		return;
	if (!(own->epsilon >= 0 && own->epsilon < NEST_EPSILON_MOST))
		diag_error(inputs->diag, node->span,
			"epsilon is a number of 0 or more and below %.0f, such as 0.01",
			NEST_EPSILON_MOST);
}

void nest_inputs_settings(struct inputs *inputs, struct nest_inputs *own, const struct node *mapper)
{
	static const char *const patience[] = {"victory", "timeout", "sequences"};
	int counting = (int)own->counting;
	if (mapper && !node_is_empty(mapper))
		nest_inputs_mapper(inputs, own, mapper);
	inputs_settings(inputs, own->hierarchy);
	own->solver = inputs_one_solver(inputs, NULL);
	nest_inputs_draw(inputs, own);
	if (inputs->search.map)
		nest_inputs_patience(
			&inputs->search, patience, &own->patience, &own->patience_span);
	inputs_word(inputs, "counting", &counting);
	own->counting = (enum counting)counting;
	read_imperfect(inputs, own);
	read_epsilon(inputs, own);
}

const struct arch *nest_inputs_machine(struct sheet *sheet, const struct reading *reading)
{
	const struct node *node = sheet_find(sheet, "architecture");
	if (!node) {
		diag_error(reading->diag, (struct span){0},
			"a problem needs an 'architecture' to run on; no file has one");
		return NULL;
	}
	return inputs_machine(sheet, reading, node);
}

void nest_inputs_density(const struct shape *shape, enum counting counting, struct diag *diag)
{
	if (!shape->sparse.source)
		return;
	if (counting == COUNTING_TIMELOOP)
		diag_warning(diag, shape->sparse,
			"densities are given, and every element counts, as in Timeloop without "
			"'sparse_optimizations'");
	else
		diag_error(diag, shape->sparse,
			"densities are given, and sparse data is not modelled; '--counting "
			"timeloop' counts every element, as Timeloop does without "
			"'sparse_optimizations'");
}

void nest_inputs_constraints(struct nest_inputs *inputs, struct hierarchy *hierarchy,
	const struct reading *reading, const struct node *const *lists, const struct node *mapping)
{
	struct constraint_context context = {.reading = reading,
		.arch = inputs->arch,
		.shape = inputs->shape,
		.timeloop = inputs->counting == COUNTING_TIMELOOP};
	struct constraints *constraints = arena_new(reading->arena, struct constraints);
	*constraints = constraints_read(&context, lists);
	constraints_keep_used(constraints, hierarchy, inputs->arch);
	inputs->constraints = constraints;
	nest_inputs_density(inputs->shape, inputs->counting, reading->diag);
	constraints_flag(constraints, hierarchy);
	hierarchy->dummy_loops = inputs->counting == COUNTING_TIMELOOP;
	struct domain *domain = domain_make(reading->arena, inputs->arch, inputs->shape, hierarchy);
	domain->imperfect = inputs->imperfect;
	domain->whole_homes = inputs->counting == COUNTING_EXACT;
	inputs->domain = domain;
	if (!mapping)
		return;
	struct constraints flags = constraints_of_mapping(&context, mapping);
	const struct hierarchy *before = arena_copy(reading->arena, hierarchy, sizeof *hierarchy);
	constraints_flag(&flags, hierarchy);
	inputs->mapping_flags = memcmp(before, hierarchy, sizeof *hierarchy) != 0;
}

static void read_mapping(
	struct nest_inputs *inputs, const struct reading *reading, const struct node *node)
{
	struct mapping *mapping = arena_new(reading->arena, struct mapping);
	if (nest_mapping_read(reading, node, inputs->arch, inputs->shape, mapping))
		inputs->mapping = mapping;
	inputs->mapping_span = node->span;
}

static bool is_empty_list(const struct node *node)
{
	return node->kind == NODE_LIST && node->count == 0;
}

/* Refuses keys of graphs beside a problem. */
static void refuse_graphs(struct inputs *inputs, struct sheet *sheet)
{
	static const char *const keys[] = {"workload", NULL};
	const struct node *plan = sheet_find(sheet, "plan");
	inputs_refuse_keys(inputs, sheet, keys);
	if (plan)
		diag_error(inputs->diag, plan->span,
			"a 'plan' is of a workload; a problem has a 'mapping'");
}

bool nest_inputs_read(struct inputs *inputs, struct sheet *sheet)
{
	const struct reading *reading = &inputs->reading;
	struct arena *arena = inputs->arena;
	struct nest_inputs *own = arena_new(arena, struct nest_inputs);
	own->arch = nest_inputs_machine(sheet, reading);
	if (own->arch && arch_moves_boxes(own->arch))
		return graph_inputs_read_problem(inputs, sheet, own->arch);
	const struct node *problem = sheet_find(sheet, "problem");
	const struct node *mapping = sheet_find(sheet, "mapping");
	const struct node *mapper = sheet_find(sheet, "mapper");
	const struct node *const *lists = constraints_lists(sheet, arena);
	if (mapping && is_empty_list(mapping))
		mapping = NULL;
	refuse_graphs(inputs, sheet);
	sheet_done(sheet);
	own->shape = shape_read(reading, problem);
	struct hierarchy *hierarchy = NULL;
	if (own->arch && own->shape)
		hierarchy = hierarchy_make(arena, own->arch, own->shape, reading->diag);
	own->hierarchy = hierarchy;
	nest_inputs_settings(inputs, own, mapper);
	inputs_settings_done(inputs);
	if (!own->imperfect && constraints_want_imperfect(lists))
		own->imperfect = UINT32_MAX;
	if (!hierarchy)
		return false;
	hierarchy_price(hierarchy, arena, own->arch, own->counting);
	if (mapping)
		read_mapping(own, reading, mapping);
	nest_inputs_constraints(own, hierarchy, reading, lists, own->mapping ? mapping : NULL);
	inputs->own = own;
	inputs->name = own->shape->name;
	return true;
}

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
		"flags in the mapping (no_reuse, rmw_first_update, ...) are ignored: in a search "
		"only those of constraints hold");
	return hierarchy;
}

/* Returns NULL after complaining if the constraints leave no mapping.  *start: a mapping that fits; NULL if none was
 * found within the limits. */
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
