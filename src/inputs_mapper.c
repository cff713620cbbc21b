#include "inputs_nest.h"

#include "base/text.h"
#include "inputs_objectives.h"

/* Timeloop's metrics, and the objectives that they are. */
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

static void add_metric(const struct reading *reading, const char *name, struct span span,
	struct objectives *objectives)
{
	const char *known[METRICS + 1] = {0};
	for (int i = 0; i < METRICS; i++) {
		known[i] = metrics[i].metric;
		if (text_equal(metrics[i].metric, name)) {
			objectives_add(objectives, objective_names[metrics[i].objective], span,
				reading->diag);
			return;
		}
	}
	const char *near = suggest(name, known);
	diag_error(reading->diag, span,
		near ? "unknown metric '%s'; did you mean '%s'?"
		     : "unknown metric '%s'; a mapper minimizes delay, energy, edp or "
		       "last_level_accesses",
		name, near);
}

static void read_metrics(struct reader *mapper, const char *key, struct objectives *objectives)
{
	const char *const *names;
	size_t count;
	const struct node *list = read_node(mapper, key, OPTIONAL);
	if (!list || !read_texts(mapper, key, OPTIONAL, &names, &count) || !count)
		return;
	objectives->count = 0;
	for (size_t i = 0; i < count; i++)
		add_metric(mapper->reading, names[i], node_item(list, i)->span, objectives);
}

/* Which of ours does what an algorithm does. */
static void read_algorithm(struct reader *mapper, struct nest_inputs *inputs)
{
	static const char *const names[] = {
		"random", "hybrid", "random_pruned", "linear_pruned", "exhaustive", "linear", NULL};
	int algorithm;
	if (read_word(mapper, "algorithm", OPTIONAL, names, &algorithm))
		inputs->solver = algorithm < 3 ? "random" : "linear";
}

/* What steers Timeloop's threads, its patience and its logs. */
static void note_unused(struct reader *mapper)
{
	static const char *const keys[] = {"live_status", "num_threads", "timeout",
		"victory_condition", "max_permutations_per_if_visit", "out_prefix", "sync_interval",
		"log_interval", "log_oaves", "log_oaves_mappings", "log_stats", "log_suboptimal",
		"log_all", "diagnostics", "penalize_consecutive_bypass_fails", "emit_whoop_nest",
		"max_temporal_loops_in_a_mapping", "filter_revisits", "mapper-timeout", NULL};
	struct text text = text_open(mapper->reading->arena);
	for (int i = 0; keys[i]; i++)
		if (read_node(mapper, keys[i], OPTIONAL))
			text_add(&text, "%s%s", text.length ? ", " : "", keys[i]);
	if (text.length)
		diag_note(mapper->reading->diag, mapper->map->span,
			"of the mapper these have no meaning here: %s", text_read(&text));
}

void nest_inputs_mapper(const struct reading *reading, const struct node *node,
	struct nest_inputs *inputs, struct exploration *exploration)
{
	struct reader mapper;
	const char *version;
	int64_t size = 0;
	if (!reader_open(&mapper, reading, node, "mapper"))
		return;
	read_text(&mapper, "version", OPTIONAL, &version);
	read_metrics(&mapper, "optimization_metric", &exploration->objectives);
	read_metrics(&mapper, "optimization_metrics", &exploration->objectives);
	read_algorithm(&mapper, inputs);
	if (read_integer(&mapper, "search_size", OPTIONAL, 0, INT64_MAX, &size) && size > 0)
		exploration->budget = (uint64_t)size;
	note_unused(&mapper);
	reader_done(&mapper);
}
