#include "tests/support/random_graph.h"

#include "base/arena.h"
#include "base/text.h"
#include "search/drive/solver.h"
#include "tests/support/random_plan.h"
#include "tests/support/workload_text.h"

static const char *draw_text(struct random *random, bool clones, struct arena *arena)
{
	static const int sizes_m[] = {4, 8, 32, 64}, sizes_n[] = {64, 128, 256, 96};
	struct text text = text_open(arena);
	text_add(&text, "workload:\n dimensions: {m: %d, n: %d, k: %d}\n ops:\n",
		sizes_m[random_below(random, 4)], sizes_n[random_below(random, 4)],
		sizes_n[random_below(random, 2)]);
	int wide[12] = {0}, wide_count = 1, narrow[12], narrow_count = 0;
	int ops = 2 + (int)random_below(random, 6);
	for (int t = 1; t <= ops; t++) {
		int a = wide[random_below(random, (uint64_t)wide_count)];
		int b = wide[random_below(random, (uint64_t)wide_count)];
		int c = narrow_count ? narrow[random_below(random, (uint64_t)narrow_count)] : -1;
		switch (random_below(random, 7)) {
		case 0:
			text_add(&text, " - r%d[n] = max(m) t%d[m,n]\n", t, a);
			text_add(&text, " - t%d[m,n] = t%d[m,n] - r%d[n]\n", t, b, t);
			break;
		case 1:
			text_add(&text, " - r%d[m] = sum(n) t%d[m,n]\n", t, a);
			text_add(&text, " - t%d[m,n] = t%d[m,n] - r%d[m]\n", t, b, t);
			break;
		case 2:
			text_add(&text, " - t%d[m,n] = t%d[m,n] + t%d[m,n]\n", t, a, b);
			break;
		case 3:
			text_add(&text, " - h%d[m,k] = sum(n) t%d[m,n] * w[n,k]\n", t, a);
			narrow[narrow_count++] = t;
			continue;
		case 4:
			if (c >= 0) {
				text_add(&text, " - h%d[m,k] = relu(h%d[m,k])\n", t, c);
				narrow[narrow_count++] = t;
				continue;
			}
			/* fall through */
		default:
			text_add(&text, " - t%d[m,n] = %s(t%d[m,n])\n", t,
				clones && !random_below(random, 3) ? "clone" : "neg", a);
		}
		wide[wide_count++] = t;
	}
	return text_read(&text);
}

const struct workload *random_graph(struct random *random, struct arena *arena)
{
	return workload_given(arena, draw_text(random, false, arena));
}

const struct workload *random_graph_with_clones(struct random *random, struct arena *arena)
{
	return workload_given(arena, draw_text(random, true, arena));
}

const struct mapping *random_division(struct random *random, const struct arch *arch,
	const struct workload *workload, const struct planning *planning, struct arena *arena)
{
	struct problem problem = {.stage = STAGE_DIVIDE,
		.arch = arch,
		.workload = workload,
		.planning = planning,
		.op = -1};
	const struct mapping *published =
		solve(solver_find(STAGE_DIVIDE, "spyre"), &problem, 0, 1, arena)
			.candidates[0]
			.mappings;
	struct mapping *mappings =
		arena_copy(arena, published, workload->op_count * sizeof *mappings);
	uint64_t wild = random_below(random, 3); /* how many of the ops leave the published way */
	for (size_t o = 0; o < workload->op_count; o++)
		if (random_below(random, 3) < wild)
			mappings[o] = random_mapping(
				random, arch, planning->cores, workload, &workload->ops[o], arena);
	return mappings;
}
