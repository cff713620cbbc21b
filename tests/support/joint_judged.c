#include "tests/support/joint_judged.h"

#include "base/arena.h"
#include "cost/graph/cost.h"
#include "model/graph/plan_check.h"
#include "model/graph/plan_file.h"
#include "model/graph/planning.h"
#include "search/joint/joint_plan.h"
#include "spec/sheet.h"
#include "tests/support/complaints.h"
#include "tests/support/draws.h"
#include "tests/support/executed.h"
#include "tests/support/joint_walk.h"
#include "tests/support/mechanisms.h"
#include "tests/support/random_graph.h"
#include "tests/support/spyre.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "tests/test.h"

enum { PACK_TICKS = 100000 };

static const struct joint_aim aims[] = {{.cycles = 1}, {.energy = 1}, {.hbm_bytes = 1}};

struct joint_question joint_question_draw(
	struct random *random, const int *cores, int core_counts, struct arena *arena)
{
	int count = cores[draw_below(random, core_counts)];
	struct planning *planning = arena_new(arena, struct planning);
	static const int bundle_tensors[] = {6, 6, 2, 3};
	const struct arch *drawn =
		draw_chance(random, 3) ? mechanisms_arch(arena, count) : spyre_arch(arena, count);
	struct arch *arch = arena_copy(arena, drawn, sizeof *arch);
	arch->bundle_tensors = bundle_tensors[draw_below(random, 4)];
	*planning = planning_default(arch);
	planning->published_tiles = draw_chance(random, 2);
	planning->price = draw_chance(random, 2) ? PRICE_BOUND : PRICE_ESTIMATE;
	if (draw_chance(random, 2))
		planning->lx_capacity = 1024 * (1 + draw_below(random, 16));
	return (struct joint_question){.arch = planning_arch(arena, arch, planning),
		.workload = random_graph_with_clones(random, arena),
		.planning = planning,
		.aim = aims[draw_below(random, 3)]};
}

const struct plan *joint_walked_plan(
	struct random *random, const struct joint_space *space, struct arena *arena, int64_t *value)
{
	struct joint_answer answer = joint_walk(random, space, arena);
	const char *why = NULL;
	*value = answer.count ? joint_value(space, &answer, arena, &why) : JOINT_NEVER;
	if (*value == JOINT_NEVER)
		return NULL;
	struct joint_packing packing = joint_pack(space, &answer, NULL, PACK_TICKS, arena);
	assert_null(packing.why);
	return packing.status == VERDICT_YES ? joint_build(space, &answer, &packing, arena) : NULL;
}

/* Returns the value of the plan's score. */
static double worth(const struct joint_question *question, const struct score *score)
{
	int64_t cycles =
		question->planning->price == PRICE_BOUND ? score->cycles : score->estimate_cycles;
	return (double)question->aim.cycles * (double)cycles +
	       (double)question->aim.energy * score->energy_pj * 1024 +
	       (double)question->aim.hbm_bytes * (double)score->hbm_bytes;
}

/* Reads the text of a plan and writes it again: NULL, or what is wrong. */
static const char *read_again(
	const struct joint_question *question, const char *yaml, struct arena *arena)
{
	struct diag *diag = diag_open(arena);
	struct sheet *sheet = sheet_open(arena, diag);
	const struct node *root = node_read_text(arena, "p.yaml", yaml, strlen(yaml), diag);
	struct text text = text_open(arena);
	if (root)
		sheet_add(sheet, root);
	struct reading reading = sheet_reading(sheet);
	const struct plan *plan = root ? plan_read(&reading, sheet_find(sheet, "plan"),
						 question->arch, question->workload)
				       : NULL;
	if (!plan)
		return complaints_text(arena, diag);
	plan_write(plan, &text);
	return text_equal(text_read(&text), yaml) ? NULL : "it is another when it is read";
}

const char *joint_judge_value(const struct joint_question *question, const struct plan *plan,
	int64_t value, struct arena *arena)
{
	struct plan_faults faults = plan_check(plan, arena);
	struct plan_cost cost;
	struct text text = text_open(arena);
	plan_write(plan, &text);
	if (faults.count)
		return arena_format(arena, "%s\n%s", faults.at[0].why, text_read(&text));
	if (!cost_plan(plan, arena, &cost))
		return "it cannot be counted";
	if (cost.score.rejected)
		return arena_format(arena, "%s\n%s", cost.score.rejected, text_read(&text));
	double own = worth(question, &cost.score);
	double energy = (double)question->aim.energy,
	       off = energy ? energy * plan->step_count + 1e-12 * own : 0;
	if (fabs(own - (double)value) > off)
		return arena_format(arena, "the plan is worth %.17g, the answer %" PRId64 "\n%s",
			own, value, text_read(&text));
	const char *why = read_again(question, text_read(&text), arena);
	return why ? arena_format(arena, "%s\n%s", why, text_read(&text)) : NULL;
}

const char *joint_judge(const struct joint_question *question, const struct plan *plan,
	int64_t value, uint64_t seed, struct arena *arena)
{
	struct text text = text_open(arena);
	const char *why = joint_judge_value(question, plan, value, arena);
	if (why)
		return why;
	why = execute_exactly(plan, seed, arena);
	plan_write(plan, &text);
	return why ? arena_format(arena, "%s\n%s", why, text_read(&text)) : NULL;
}
