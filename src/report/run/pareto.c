#include "report/run/pareto.h"

#include "base/arena.h"
#include "base/text.h"

#include <inttypes.h>

const char pareto_header[] =
	"point,latency_cycles,latency_ns,energy_pj,edp,hbm_bytes,lx_peak_bytes,cores,utilization,"
	"sim_cycles,sim_energy_pj,sim_hbm_bytes,sim_agrees,sim_ratio,executed,proof,gap,solver,"
	"mapping,plan,pes,registers,ports,wire,link_bytes,buffer_bytes,rounds";

const char *pareto_plan_path(struct arena *arena, size_t i)
{
	return arena_format(arena, "plans/point-%03zu.yaml", i + 1);
}

/* Never below 1: the model is a lower bound of the machine. */
static void add_row(struct text *text, const struct arch *arch, const struct point *point, size_t i)
{
	const struct score *score = &point->score;
	const struct found *found = point->payload;
	const struct execution *execution = &found->execution;
	text_add(text,
		"%zu,%" PRId64 ",%.17g,%.17g,%.17g,%" PRId64 ",%" PRId64 ",%" PRId64 ",%.17g,",
		i + 1, score->cycles, arch_nanoseconds(arch, score->cycles), score->energy_pj,
		score->energy_pj * (double)score->cycles, score->hbm_bytes, score->lx_peak_bytes,
		score->cores, score->utilization);
	if (execution->finished)
		text_add(text, "%" PRId64 ",%.17g,%" PRId64 ",%s,%.17g,%s,", execution->cycles,
			execution->energy_pj, execution->hbm_bytes,
			execution->agrees ? "true" : "false",
			execution_ratio(execution, score->cycles), execution_name(execution));
	else
		text_add(text, ",,,,,,");
	text_add(text, "%s,", proof_names[found->proof]);
	if (found->proof == PROOF_OPTIMAL)
		text_add(text, "0,");
	else if (found->proof == PROOF_BOUND)
		text_add(text, "%.17g,", found->gap);
	else
		text_add(text, ",");
	text_add(text, "%s,,%s,,,,,", found->solver, pareto_plan_path(text->arena, i));
	if (score->buffer_bytes)
		text_add(
			text, "%" PRId64 ",%" PRId64 ",\n", score->link_bytes, score->buffer_bytes);
	else
		text_add(text, ",,\n");
}

const char *pareto_csv(
	struct arena *arena, const struct arch *arch, const struct frontier *frontier)
{
	struct text text = text_open(arena);
	text_add(&text, "%s\n", pareto_header);
	for (size_t i = 0; i < frontier->count; i++)
		add_row(&text, arch, &frontier->points[i], i);
	return text_read(&text);
}

static const char *print_bytes(struct arena *arena, int64_t count)
{
	if (count < 10 << 10)
		return arena_format(arena, "%" PRId64 " B", count);
	if (count < 10 << 20)
		return arena_format(arena, "%.1f KiB", (double)count / 1024);
	return arena_format(arena, "%.1f MiB", (double)count / (1 << 20));
}

const char *pareto_table(
	struct arena *arena, const struct arch *arch, const struct frontier *frontier)
{
	struct text text = text_open(arena);
	text_add(&text, "%5s %12s %12s %11s %11s %5s %9s %9s  %s\n", "point", "latency", "energy",
		"HBM", "LX peak", "cores", "sim/model", "executed", "solver");
	for (size_t i = 0; i < frontier->count; i++) {
		const struct point *point = &frontier->points[i];
		const struct found *found = point->payload;
		const struct execution *execution = &found->execution;
		const char *sim = "-", *how = "-";
		if (execution->finished) {
			sim = arena_format(arena, "%.3f%s",
				execution_ratio(execution, point->score.cycles),
				execution->agrees ? "" : " !");
			how = execution_name(execution);
		}
		text_add(&text, "%5zu %9.2f us %9.3f uJ %11s %11s %5" PRId64 " %9s %9s  %s\n",
			i + 1, arch_nanoseconds(arch, point->score.cycles) / 1e3,
			point->score.energy_pj / 1e6, print_bytes(arena, point->score.hbm_bytes),
			print_bytes(arena, point->score.lx_peak_bytes), point->score.cores, sim,
			how, found->solver);
	}
	for (size_t i = 0; i < frontier->count; i++) {
		const struct found *found = frontier->points[i].payload;
		if (found->execution.why_longer)
			text_add(&text, "point %zu, simulated against modelled: %s\n", i + 1,
				found->execution.why_longer);
	}
	return text_read(&text);
}
