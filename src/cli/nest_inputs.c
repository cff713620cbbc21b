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
#include "spec/field.h"

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
static void objectives_add_number(int number, struct span span, struct objectives *objectives,
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
			objectives_add_number(number, span, objectives, scope);
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

/* The arguments of the functions that read rows of a mapper. */
struct mapper_context {
	struct objectives *objectives;
	const struct objective_scope *scope;
	struct text *unused;
};

static void read_metrics(
	struct reader *mapper, const struct field *field, void *whole, const void *context)
{
	const struct mapper_context *own = context;
	const struct node *list = read_node(mapper, field->key, OPTIONAL);
	const char *const *names;
	size_t count;
	if (!list || !read_texts(mapper, field->key, OPTIONAL, &names, &count) || !count)
		return;
	own->objectives->count = 0;
	for (size_t i = 0; i < count; i++)
		add_metric(names[i], node_item(list, i)->span, own->objectives, own->scope);
}

/* Lists a key of Timeloop's threads and logs. */
static void list_unused(
	struct reader *mapper, const struct field *field, void *whole, const void *context)
{
	struct text *unused = ((const struct mapper_context *)context)->unused;
	if (read_node(mapper, field->key, OPTIONAL))
		text_add(unused, "%s%s", unused->length ? ", " : "", field->key);
}

static const char *const algorithms[] = {"random", "hybrid", "random_pruned", "random-pruned",
	"linear_pruned", "linear-pruned", "exhaustive", "linear", NULL};

/* Keys of how Timeloop searches: the algorithm, and what ends its draws.  A search here proves, so they are
 * kept for a solver that draws as Timeloop does. */
enum { MAPPER_SEARCH = 1 };

#define SEARCH(key, member, to)                                                                    \
	.spellings = (key), INTO(struct mapper_search, member), .most = (to), .marks = MAPPER_SEARCH
#define UNUSED(key)                                                                                \
	{                                                                                          \
		key, FIELD_ANY, .spellings = (key), .read = list_unused                            \
	}

/* Before 2022 Timeloop wrote the keys with '-'. */
static const struct field mapper_fields[] = {
	{"version", FIELD_TEXT, .read = field_check},
	{"optimization_metric", FIELD_TEXT, "objectives", .spellings = "optimization_metric",
		.shape = SHAPE_SOME, .read = read_metrics},
	{"optimization_metrics", FIELD_TEXT,
		"objectives: delay, energy, edp, last_level_accesses, "
		"accesses-N, ordered-accesses",
		.spellings = "optimization_metrics", .shape = SHAPE_SOME, .read = read_metrics},
	{"algorithm", FIELD_CHOICE, "how Timeloop searches; for map=random", .words = algorithms,
		.read = field_check, .marks = MAPPER_SEARCH},
	{"victory_condition", FIELD_WHOLE, "mappings in a row that fit and are no better",
		SEARCH("victory_condition", patience.victory, INT64_MAX)},
	{"timeout", FIELD_WHOLE, "mappings in a row that do not fit",
		SEARCH("timeout", patience.timeout, INT64_MAX)},
	{"num_threads", FIELD_WHOLE, "sequences of draws",
		SEARCH("num_threads", patience.sequences, NEST_SEQUENCES_MOST)},
	{"search_size", FIELD_WHOLE, "mappings", .usual = "no limit",
		SEARCH("search_size", size, INT64_MAX)},
	UNUSED("live_status"),
	UNUSED("max_permutations_per_if_visit"),
	UNUSED("out_prefix"),
	UNUSED("sync_interval"),
	UNUSED("log_interval"),
	UNUSED("log_oaves"),
	UNUSED("log_oaves_mappings"),
	UNUSED("log_stats"),
	UNUSED("log_suboptimal"),
	UNUSED("log_all"),
	UNUSED("diagnostics"),
	UNUSED("penalize_consecutive_bypass_fails"),
	UNUSED("emit_whoop_nest"),
	UNUSED("max_temporal_loops_in_a_mapping"),
	UNUSED("filter_revisits"),
	UNUSED("mapper_timeout"),
	{0},
};
const struct noun mapper_noun = {.name = "mapper", .fields = mapper_fields};

/* Lists the keys of a mapper that say how Timeloop searches. */
static void list_search(const struct reader *mapper, struct mapper_search *search)
{
	struct text given = text_open(mapper->reading->arena);
	int count = 0;
	for (const struct field *field = mapper_fields; field->key; field++) {
		const char *key = field_given(mapper, field);
		const struct node *node = node_find(mapper->map, key);
		if (field->marks & MAPPER_SEARCH && reader_given(mapper, key) &&
			!node_is_empty(node))
			text_add(&given, "%s'%s'", count++ ? ", " : "", key);
	}
	search->keys = count ? text_read(&given) : NULL;
	search->file = (struct span){.source = mapper->map->span.source};
	search->several = count > 1;
}

void nest_inputs_mapper(struct inputs *inputs, struct nest_inputs *own, const struct node *node)
{
	struct objective_scope scope = {
		inputs->arena, inputs->diag, inputs->kind->subject, own->hierarchy};
	struct text unused = text_open(inputs->arena);
	struct mapper_context context = {&inputs->wishes.objectives, &scope, &unused};
	struct reader mapper;
	if (!noun_open(&mapper, &inputs->reading, node, "mapper", &mapper_noun))
		return;
	fields_read(&mapper, &mapper_noun, &own->mapper, &context);
	list_search(&mapper, &own->mapper);
	if (unused.length)
		diag_remark(inputs->diag, node->span,
			"these settings of the mapper have no meaning here: %s",
			text_read(&unused));
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
	struct given_names names[2];
	inputs_names(inputs, "imperfect", names);
	for (int n = 0; n < 2; n++) {
		own->imperfect = names[n].given ? 0 : own->imperfect;
		for (size_t i = 0; i < names[n].count; i++)
			allow_imperfect(
				own, names[n].at[i].text, names[n].at[i].span, &inputs->reading);
	}
}

/* When draws end by themselves, and how many sequences there are. */
static void read_patience(struct inputs *inputs, struct nest_inputs *own)
{
	static const char *const names[] = {"victory", "timeout", "sequences"};
	struct patience *patience = &own->patience;
	uint64_t *const out[] = {&patience->victory, &patience->timeout, &patience->sequences};
	const char *what;
	for (int i = 0; i < 3; i++) {
		const struct node *node = inputs_node(inputs, names[i], &what);
		inputs_count(inputs, names[i], out[i]);
		own->patience_span = node ? node->span : own->patience_span;
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
	int counting = (int)own->counting;
	if (mapper && !node_is_empty(mapper))
		nest_inputs_mapper(inputs, own, mapper);
	inputs_settings(inputs, own->hierarchy);
	own->solver = inputs_one_solver(inputs, NULL);
	nest_inputs_draw(inputs, own);
	read_patience(inputs, own);
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
static const struct hierarchy *nest_inputs_unflag(
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
static const struct domain *nest_inputs_narrow(const struct nest_inputs *inputs,
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
static void nest_take_start(const struct nest_inputs *inputs, struct nest_search *search,
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
	const struct hierarchy *hierarchy = nest_inputs_unflag(inputs, arena, diag);
	const struct domain *domain =
		hierarchy ? nest_inputs_narrow(inputs, hierarchy, &store, &start, diag) : NULL;
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
	nest_take_start(inputs, out, arena, diag);
	return true;
}
