#include "report/nest_results.h"

#include "base/arena.h"
#include "base/text.h"
#include "model/nest_mapping.h"
#include "model/plan_file.h"
#include "report/pareto.h"
#include "report/run_head.h"
#include "search/solver.h"

#include <inttypes.h>

static double find_ratio(const struct nest_found *found)
{
	int64_t cycles = found->score.cycles;
	return cycles ? (double)found->execution.cycles / (double)cycles : 1;
}

static const char *executed(const struct nest_execution *execution)
{
	return !execution->finished ? "" : execution->data ? "data" : "count";
}

static const char *word(bool value)
{
	return value ? "true" : "false";
}

static void add_row(
	struct text *text, const struct nest_search *search, const struct point *point, size_t i)
{
	const struct score *score = &point->score;
	const struct nest_found *found = point->payload;
	const struct nest_execution *execution = &found->execution;
	text_add(text, "%zu,%" PRId64 ",%.17g,%.17g,%.17g,%" PRId64 ",,,%.17g,", i + 1,
		score->cycles, (double)score->cycles * search->hierarchy->clock_ns,
		score->energy_pj, score->energy_pj * (double)score->cycles, score->hbm_bytes,
		score->utilization);
	if (execution->finished && execution->data)
		text_add(text, "%" PRId64 ",%.17g,%" PRId64 ",%s,%.17g,data,", execution->cycles,
			execution->energy_pj, execution->outer_bytes, word(execution->agrees),
			find_ratio(found));
	else if (execution->finished)
		text_add(text, ",%.17g,%" PRId64 ",%s,,count,", execution->energy_pj,
			execution->outer_bytes, word(execution->agrees));
	else
		text_add(text, ",,,,,,");
	text_add(text, "%s,", proof_names[found->proof]);
	if (found->proof == PROOF_OPTIMAL || found->proof == PROOF_BOUND)
		text_add(text, "%.17g", found->gap);
	text_add(text, ",%s,%s,%s,,,,,,,", found->solver, point->key,
		pareto_plan_path(text->arena, i));
	const struct objectives *objectives = &search->objectives;
	for (size_t k = 0; k < objectives->count; k++)
		if (objectives->at[k] >= OBJECTIVE_ACCESSES)
			text_add(text, ",%" PRId64,
				score->accesses[objectives->at[k] - OBJECTIVE_ACCESSES]);
	text_add(text, "\n");
}

const char *nest_pareto_csv(
	struct arena *arena, const struct nest_search *search, const struct nest_explored *explored)
{
	struct text text = text_open(arena);
	const struct objectives *objectives = &search->objectives;
	text_add(&text, "%s", pareto_header);
	for (size_t k = 0; k < objectives->count; k++)
		if (objectives->at[k] >= OBJECTIVE_ACCESSES)
			text_add(&text, ",%s",
				objective_text(arena, objectives->at[k], search->hierarchy));
	text_add(&text, "\n");
	for (size_t i = 0; i < explored->frontier.count; i++)
		add_row(&text, search, &explored->frontier.points[i], i);
	return text_read(&text);
}

const char *nest_pareto_table(
	struct arena *arena, const struct nest_search *search, const struct nest_explored *explored)
{
	struct text text = text_open(arena);
	text_add(&text, "%5s %14s %12s %7s %9s %9s %8s  %s\n", "point", "cycles", "energy", "use",
		"sim/model", "executed", "proof", "mapping");
	for (size_t i = 0; i < explored->frontier.count; i++) {
		const struct point *point = &explored->frontier.points[i];
		const struct nest_found *found = point->payload;
		const struct nest_execution *execution = &found->execution;
		const char *ratio = "-", *how = execution->finished ? executed(execution) : "-";
		if (execution->finished && execution->data)
			ratio = arena_format(
				arena, "%.3f%s", find_ratio(found), execution->agrees ? "" : " !");
		text_add(&text, "%5zu %14" PRId64 " %9.4g uJ %5.1f %% %9s %9s %8s  %s\n", i + 1,
			point->score.cycles, point->score.energy_pj / 1e6,
			100 * point->score.utilization, ratio, how, proof_names[found->proof],
			point->key);
	}
	return text_read(&text);
}

const char *nest_plan_yaml(
	struct arena *arena, const struct nest_search *search, const struct point *point)
{
	const struct nest_found *found = point->payload;
	return arena_format(arena,
		"# %s\n# %" PRId64 " cycles, %.17g pJ (%s counting), by %s, proof: %s\n%s",
		point->key, point->score.cycles, point->score.energy_pj,
		counting_names[search->counting], found->solver, proof_names[found->proof],
		nest_mapping_write(arena, search->arch, search->shape, &found->mapping));
}

static json_t *make_points(const struct nest_explored *explored)
{
	json_t *list = json_array();
	for (size_t i = 0; i < explored->frontier.count; i++) {
		const struct point *point = &explored->frontier.points[i];
		const struct nest_found *found = point->payload;
		json_t *entry = json_pack("{s:I, s:s, s:s}", "point", (json_int_t)i + 1, "solver",
			found->solver, "mapping", point->key);
		if (found->execution.finished)
			json_object_set_new(
				entry, "executed", json_string(executed(&found->execution)));
		json_array_append_new(list, entry);
	}
	return list;
}

const char *nest_run_json(struct arena *arena, const struct run_record *record,
	const struct nest_search *search, const struct nest_explored *explored)
{
	struct space_sizes sizes = space_sizes(search->space, arena);
	json_t *root = run_head(record, arena), *space = json_object();
	for (int c = 0; c < CHOICE_COUNT; c++)
		json_object_set_new(space, space_choice_names[c], json_string(sizes.choices[c]));
	json_object_set_new(space, "all", json_string(sizes.all));
	json_object_set_new(root, "mapspace", space);
	json_object_set_new(root, "energy_source", json_string(search->hierarchy->energy_source));
	json_object_set_new(root, "start",
		search->start ? json_string(nest_mapping_print(
					arena, search->arch, search->shape, search->start))
			      : json_null());
	json_object_set_new(root, "counters",
		json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "evaluated",
			(json_int_t)explored->evaluated, "ticks", (json_int_t)explored->ticks,
			"offered", (json_int_t)explored->offered, "refused",
			(json_int_t)explored->refused, "simulated", (json_int_t)explored->simulated,
			"not_simulated", (json_int_t)explored->unsimulated, "simulator_events",
			(json_int_t)explored->events, "disagreed",
			(json_int_t)explored->disagreed));
	json_object_set_new(root, "complete", json_boolean(explored->complete));
	json_object_set_new(root, "points", make_points(explored));
	return run_dump(arena, root);
}
