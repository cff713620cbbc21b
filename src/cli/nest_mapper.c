#include "cli/nest_inputs.h"

#include "base/arena.h"
#include "base/text.h"
#include "cli/kind.h"
#include "cli/objectives.h"
#include "search/drive/solver.h"

#include <stdio.h>
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
