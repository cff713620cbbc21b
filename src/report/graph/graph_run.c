#include "report/graph/graph_run.h"

#include "report/run/json_text.h"
#include "report/run/run_head.h"

static json_t *make_points(const struct explored *explored)
{
	json_t *list = json_array();
	for (size_t i = 0; i < explored->frontier.count; i++) {
		const struct plan_found *found = explored->frontier.points[i].payload;
		const struct execution *execution = &found->common.execution;
		json_t *point = json_pack("{s:I, s:s, s:i, s:b}", "point", (json_int_t)i + 1,
			"solver", found->common.solver, "cores_allowed",
			found->recipe.planning.cores, "k_fast", found->recipe.planning.k_fast);
		if (execution->finished)
			json_object_set_new(
				point, "executed", json_string(execution_name(execution)));
		if (execution->finished && execution->mode == SIM_DATA)
			json_object_set_new(
				point, "worst_ulps", json_real_or_infinite(execution->worst_ulps));
		if (execution->worst_tensor)
			json_object_set_new(
				point, "worst_tensor", json_string(execution->worst_tensor));
		if (execution->off_tensor)
			json_object_set_new(point, "off",
				json_pack("{s:s, s:o, s:o}", "tensor", execution->off_tensor,
					"ulps", json_real_or_infinite(execution->off_ulps),
					"ulps_stated", json_real_or_infinite(execution->off_most)));
		if (execution->why_longer)
			json_object_set_new(
				point, "sim_ratio_because", json_string(execution->why_longer));
		json_array_append_new(list, point);
	}
	return list;
}

const char *graph_run_json(
	struct arena *arena, const struct run_record *record, const struct explored *explored)
{
	json_t *root = run_head(record, arena);
	json_object_set_new(root, "counters", run_counters(&explored->effort));
	json_object_set_new(root, "points", make_points(explored));
	json_object_set_new(root, "refusals",
		run_texts(refusals_lines(&explored->refusals, arena), explored->refusals.count));
	return run_dump(arena, root);
}
