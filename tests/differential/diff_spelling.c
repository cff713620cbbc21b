/*
 * The same op, written as a problem and as a workload: read by the real readers, mapped the same way,
 * every count of every level and operand is the same integer, cycles and energy are the same numbers,
 * model and simulator agree, and the result is the einsum's.  Broken in one spelling alone, it shows.
 */
#include "base/arena.h"
#include "cost/graph/cost.h"
#include "cost/nest/nest.h"
#include "model/graph/box_nest.h"
#include "model/graph/plan_file.h"
#include "model/graph/workload_read.h"
#include "model/machine/arch_read.h"
#include "model/nest/nest_mapping.h"
#include "sim/nest/nest.h"
#include "spec/sheet.h"
#include "tests/support/complaints.h"
#include "tests/support/draws.h"
#include "tests/support/executed.h"
#include "tests/support/random_plan.h"
#include "tests/support/spelling_case.h"

#include <inttypes.h>
#include <string.h>

#include "tests/test.h"

/* For arrays that are executed multiplier by multiplier, padding included. */
enum { COMPUTES_MOST = 50000 };

/* Faults that are put into one spelling: it ignores or mistakes something. */
enum broken { SOUND, RATE_IGNORED, UNIT_SWAPPED, DRAIN_DROPPED, BROKEN };

/* Result of a spelling; the counts are its own, dataspaces in the problem's order. */
struct spelled {
	const char *why; /* it cannot be: both spellings are to say the same */
	const struct nest_counts *counts;
	int64_t cycles;
	double energy_pj;
};

/* --- reading */

static const struct node *find(struct sheet *sheet, const char *key)
{
	return sheet_find(sheet, key);
}

static struct sheet *open_sheet(struct arena *arena, struct diag *diag, const char *const *texts)
{
	struct sheet *sheet = sheet_open(arena, diag);
	for (int i = 0; texts[i]; i++)
		sheet_add(sheet, node_read_text(arena, "text", texts[i], strlen(texts[i]), diag));
	return sheet;
}

/* The text with every occurrence of a word followed by something else. */
static const char *replace(
	struct arena *arena, const char *text, const char *word, const char *with)
{
	struct text out = text_open(arena);
	const char *at;
	while ((at = strstr(text, word))) {
		text_bytes(&out, text, (size_t)(at - text));
		text_add(&out, "%s", with);
		text = at + strlen(word);
	}
	text_add(&out, "%s", text);
	return text_read(&out);
}

/* The machine as one spelling is to see it. */
static const char *break_machine(const struct spelling_case *test, enum broken broken)
{
	if (broken == RATE_IGNORED)
		return replace(test->arena, test->machine,
			test->boxes ? "mac_rate: " : "read_bandwidth: ",
			test->boxes ? "mac_rate: 8" : "read_bandwidth: 9");
	if (broken == UNIT_SWAPPED)
		return replace(test->arena, test->machine,
			test->boxes ? "read_energy_per_byte: " : "vector_access_energy: ",
			test->boxes ? "read_energy_per_byte: 8" : "vector_access_energy: 8");
	return test->machine;
}

/* --- as a problem on a machine that moves words */

static const char *simulate(const struct hierarchy *hierarchy, const struct shape *shape,
	const struct mapping *mapping, const struct nest_counts *counts, enum broken broken,
	struct arena *arena)
{
	struct nest_sim_options options = {.data = true,
		.seed = 7,
		.fault = broken == DRAIN_DROPPED ? NEST_SIM_DRAIN_LOST : NEST_SIM_SOUND};
	struct nest_sim sim = nest_simulate(hierarchy, shape, mapping, &options, arena);
	if (!sim.finished || !sim.right)
		return sim.wrong ? sim.wrong : "the simulator finds no reason";
	return nest_counts_equal(hierarchy, shape, counts, &sim.counts)
		       ? NULL
		       : "the simulator counts the problem otherwise";
}

/* NULL, or what is wrong in itself. */
static const char *spell_problem(
	const struct spelling_case *test, enum broken broken, struct spelled *out)
{
	struct arena *arena = test->arena;
	struct diag *diag = diag_open(arena);
	struct sheet *sheet = open_sheet(arena, diag,
		(const char *const[]){test->machine, test->problem,
			arena_format(arena, "mapping: \"%s\"\n", test->mapping), NULL});
	struct reading reading = sheet_reading(sheet);
	const struct arch *arch = arch_read(&reading, find(sheet, "architecture"));
	const struct shape *shape = shape_read(&reading, find(sheet, "problem"));
	struct hierarchy *hierarchy =
		arch && shape ? hierarchy_make(arena, arch, shape, diag) : NULL;
	struct mapping mapping;
	if (!hierarchy ||
		!nest_mapping_read(&reading, find(sheet, "mapping"), arch, shape, &mapping))
		return complaints_text(arena, diag);
	hierarchy_price(hierarchy, arena, arch, COUNTING_EXACT);
	struct nest_counts *counts = arena_new(arena, struct nest_counts);
	struct nest_score score;
	const struct nest_model *model = nest_model_make(arena, hierarchy, shape, COUNTING_EXACT);
	nest_evaluate(model, &mapping, counts, &score);
	*out = (struct spelled){.why = nest_verdict_text(arena, hierarchy, shape, &score),
		.counts = counts,
		.cycles = score.cycles,
		.energy_pj = score.energy_pj};
	return out->why ? NULL : simulate(hierarchy, shape, &mapping, counts, broken, arena);
}

/* --- as a workload */

static const char *write_plan(const struct spelling_case *test, const char *step)
{
	const struct shape *shape = &test->shape;
	struct text arguments = text_open(test->arena), stays = text_open(test->arena);
	for (int t = 0; t < shape->space_count; t++) {
		text_add(&arguments, "%s%s", t ? ", " : "", shape->spaces[t].name);
		text_add(&stays, "    %s: [{where: HBM, from: 0, to: 1}]\n", shape->spaces[t].name);
	}
	return arena_format(test->arena,
		"plan:\n  version: 1\n  workload: case\n  architecture: machine\n  cores: %d\n  steps:\n"
		"  - {op: %s, bundle: 0, mapping: \"%s\"}\n"
		"  bundles: [{bundle: 0, arguments: [%s]}]\n  tensors:\n%s"
		"  proof: {status: none, method: hand}\n",
		test->cores, shape->spaces[shape->space_count - 1].name, *step ? step : "undivided",
		text_read(&arguments), text_read(&stays));
}

/* NULL, and the plan; or what is wrong in itself. */
static const char *read_plan(const struct spelling_case *test, const char *machine,
	const char *step, const struct plan **out)
{
	struct arena *arena = test->arena;
	struct diag *diag = diag_open(arena);
	struct sheet *sheet = open_sheet(arena, diag,
		(const char *const[]){machine, test->workload, write_plan(test, step), NULL});
	struct reading reading = sheet_reading(sheet);
	const struct arch *arch = arch_read(&reading, find(sheet, "architecture"));
	const struct workload *workload =
		arch ? workload_read(&reading, find(sheet, "workload"), arch_home(arch)) : NULL;
	*out = workload ? plan_read(&reading, find(sheet, "plan"), arch, workload) : NULL;
	return *out ? NULL : complaints_text(arena, diag);
}

static const char *spell_workload(
	const struct spelling_case *test, enum broken broken, struct spelled *out)
{
	struct arena *arena = test->arena;
	const struct plan *plan;
	struct plan_cost *cost = arena_new(arena, struct plan_cost);
	const char *wrong = read_plan(test, break_machine(test, broken), test->step, &plan);
	if (wrong)
		return wrong;
	bool counted = cost_plan(plan, arena, cost);
	const struct score *score = &cost->score;
	*out = (struct spelled){.why = counted && score->feasible ? NULL
				       : counted                  ? score->rejected
								  : "no cost",
		.counts = counted ? cost->counts.steps[0].nests : NULL,
		.cycles = score->cycles,
		.energy_pj = score->energy_pj};
	return out->why || broken ? NULL : execute_exactly(plan, 7, arena);
}

static const char *compare(
	const struct spelling_case *test, const struct spelled *a, const struct spelled *b)
{
	struct arena *arena = test->arena;
	if (!a->why != !b->why)
		return arena_format(arena, "as a problem: %s; as a workload: %s",
			a->why ? a->why : "it fits", b->why ? b->why : "it fits");
	if (a->why)
		return NULL;
	if (!b->counts || !nest_totals_equal(a->counts, b->counts))
		return "the counts differ";
	if (a->cycles != b->cycles)
		return arena_format(arena,
			"%" PRId64 " cycles as a problem, %" PRId64 " as a workload", a->cycles,
			b->cycles);
	if (a->energy_pj != b->energy_pj)
		return arena_format(arena, "%.17g pJ as a problem, %.17g as a workload",
			a->energy_pj, b->energy_pj);
	return NULL;
}

/* NULL, or what differs; *fits: the mapping can be carried out. */
static const char *words_differ(const struct spelling_case *test, enum broken broken, bool *fits)
{
	struct spelled a = {0}, b = {0};
	const char *why = spell_problem(test, broken, &a);
	if (!why)
		why = spell_workload(test, broken, &b);
	*fits = !a.why;
	return why ? why : compare(test, &a, &b);
}

/* --- on a machine that moves boxes: a problem is a workload when it is read */

/* The problem's plan, from its mapping as the directives of Timeloop would say it. */
static const char *plan_problem(const struct spelling_case *test, const char *machine,
	const struct mapping *nest, struct plan *out)
{
	struct arena *arena = test->arena;
	struct diag *diag = diag_open(arena);
	struct sheet *sheet =
		open_sheet(arena, diag, (const char *const[]){machine, test->problem, NULL});
	struct reading reading = sheet_reading(sheet);
	const struct arch *arch = arch_read(&reading, find(sheet, "architecture"));
	const struct shape *shape = shape_read(&reading, find(sheet, "problem"));
	const struct workload *workload =
		arch && shape ? workload_of_problem(&reading, shape, arch_home(arch)) : NULL;
	if (!workload)
		return complaints_text(arena, diag);
	const char *text = arena_format(
		arena, "mapping: \"%s\"\n", nest_mapping_print(arena, arch, shape, nest));
	sheet = open_sheet(arena, diag, (const char *const[]){text, NULL});
	struct mapping read;
	struct step *step = arena_new(arena, struct step);
	if (!nest_mapping_read(&reading, find(sheet, "mapping"), arch, shape, &read))
		return complaints_text(arena, diag);
	const char *why =
		box_mapping(arena, arch, workload, &workload->ops[0], shape, &read, &step->mapping);
	*out = (struct plan){.arch = arch,
		.workload = workload,
		.cores = (int)mapping_cores(arch, &step->mapping),
		.step_count = 1,
		.steps = step};
	return why;
}

static int64_t draw_divisor(struct random *random, int64_t of, int64_t most)
{
	int64_t divisor = 1 + draw_below(random, number_min(of, most));
	while (of % divisor)
		divisor--;
	return divisor;
}

/* Loops over the PEs and their registers; the rest of a tile runs at the scratchpad. */
static void fill_array(struct random *random, const struct plan *plan, struct mapping *mapping)
{
	const struct arch *arch = plan->arch;
	const struct op *op = &plan->workload->ops[0];
	struct mapping_row *pes = &mapping->rows[arch_level(arch, "PE")];
	struct mapping_row *registers = &mapping->rows[arch_level(arch, "RF")];
	int64_t room = arch->levels[arch_level(arch, "PE")].fanout.x;
	for (int l = 0; l < op->loop_count; l++) {
		int64_t tiles =
			mapping_split(arch, mapping, l) * mapping->rows[arch->lx].temporal[l];
		int64_t padded =
			op_units(plan->workload, op, l) / tiles * op_grain(plan->workload, op, l);
		int64_t left = number_min(padded, op->loops[l].extent);
		int64_t across = draw_divisor(random, left, room);
		int64_t inside = draw_divisor(random, left / across, 4);
		room /= across;
		pes->spatial[l] = (uint32_t)across;
		registers->temporal[l] = (uint32_t)inside;
		mapping->rows[arch->hbm].temporal[l] =
			(uint32_t)number_ceil_div(padded, across * inside);
	}
	for (int i = 0; i < op_operands(op); i++)
		mapping->residency[i] |= 1u << arch_level(arch, "RF");
	draw_shuffle(random, registers->temporal_order, op->loop_count);
	draw_shuffle(random, mapping->rows[arch->hbm].temporal_order, op->loop_count);
}

/* A random division and tiling of the op, as the workload has it. */
static const char *draw_step(
	struct spelling_case *test, struct random *random, struct mapping *nest)
{
	const struct plan *plan;
	struct arena *arena = test->arena;
	const char *wrong = read_plan(test, test->machine, "undivided", &plan);
	if (wrong)
		return wrong;
	const struct op *op = &plan->workload->ops[0];
	struct mapping mapping = random_mapping(
		random, plan->arch, (int)arch_cores(plan->arch), plan->workload, op, arena);
	if (mapping_check(arena, plan->arch, plan->workload, op, &mapping))
		mapping = mapping_make(plan->arch, op);
	if (test->described) {
		/* directives do not say where a loop over padding alone stands */
		fill_array(random, plan, &mapping);
		struct mapping said =
			box_nest(plan->arch, plan->workload, op, &test->shape, &mapping);
		wrong = box_mapping(
			arena, plan->arch, plan->workload, op, &test->shape, &said, &mapping);
		if (wrong)
			return wrong;
	}
	test->step = mapping_print(arena, plan->arch, op, &mapping);
	*nest = box_nest(plan->arch, plan->workload, op, &test->shape, &mapping);
	return NULL;
}

/* True if no layout of the default ones fits: the workload would have to say another. */
static bool is_misfit(const char *why)
{
	return strstr(why, "but this op needs") != NULL;
}

static const char *boxes_differ(
	struct spelling_case *test, struct random *random, enum broken broken, bool *fits)
{
	struct arena *arena = test->arena;
	struct plan of_problem;
	const struct plan *of_workload;
	struct mapping nest;
	struct plan_cost a, b;
	*fits = false;
	const char *why = draw_step(test, random, &nest);
	if (why)
		return is_misfit(why) ? NULL : why;
	why = plan_problem(test, test->machine, &nest, &of_problem);
	if (!why)
		why = read_plan(test, break_machine(test, broken), test->step, &of_workload);
	if (why)
		return why;
	if (!cost_plan(&of_problem, arena, &a) || !cost_plan(of_workload, arena, &b))
		return "no cost";
	*fits = a.score.feasible && b.score.feasible;
	if (!mapping_equal(&of_problem.steps[0].mapping, &of_workload->steps[0].mapping))
		return "the mappings differ";
	if (!counts_equal(&a.counts, &b.counts))
		return "the counts differ";
	if (a.score.cycles != b.score.cycles || a.score.energy_pj != b.score.energy_pj ||
		a.score.feasible != b.score.feasible)
		return "the prices differ";
	const struct nest_counts *nests = a.counts.steps[0].nests;
	bool quick = !nests || nests->computes <= COMPUTES_MOST;
	return *fits && !broken && quick ? execute_exactly(&of_problem, 7, arena) : NULL;
}

/* --- all of it */

static const char *differ(uint64_t seed, long draw, enum broken broken, bool *fits,
	struct spelling_case *test, struct arena *arena)
{
	struct random random = random_open(seed, (uint64_t)draw);
	*test = spelling_case_draw(arena, &random, draw % 2);
	return test->boxes ? boxes_differ(test, &random, broken, fits)
			   : words_differ(test, broken, fits);
}

static const char *tell(const struct spelling_case *test)
{
	return arena_format(test->arena, "%s%s%smapping: \"%s\"\nstep: \"%s\"", test->machine,
		test->problem, test->workload, test->mapping ? test->mapping : "",
		test->step ? test->step : "");
}

BARE_TEST(both_spellings_are_the_same)
{
	uint64_t seed = draws_seed(23);
	long count = draws(600), fitting = 0, all = count > 2400 ? 2400 : count;
	for (long i = 0; i < all; i++) {
		struct arena *arena = arena_open();
		struct spelling_case test;
		bool fits = false;
		const char *why = differ(seed, i, SOUND, &fits, &test, arena);
		if (why)
			fprintf(stderr, "draw %ld: %s\n%s\n", i, why, tell(&test));
		assert_null(why);
		fitting += fits;
		arena_close(arena);
	}
	if (draws_are_many(all))
		assert_true(fitting > all / 2);
}

/* Each break shows, on machines of both kinds that have what breaks. */
static void assert_shows(enum broken broken, int kinds)
{
	uint64_t seed = draws_seed(24);
	for (int boxes = 0; boxes < 2; boxes++) {
		bool shown = false;
		for (long i = 0; i < 60 && !shown && kinds >> boxes & 1; i++) {
			struct arena *arena = arena_open();
			struct spelling_case test;
			bool fits;
			shown = !differ(seed, 2 * i + boxes, SOUND, &fits, &test, arena) &&
				differ(seed, 2 * i + boxes, broken, &fits, &test, arena);
			arena_close(arena);
		}
		assert_true(shown || !(kinds >> boxes & 1));
	}
}

TEST(a_rate_ignored_shows)
{
	assert_shows(RATE_IGNORED, 3);
}

TEST(a_unit_swapped_shows)
{
	assert_shows(UNIT_SWAPPED, 3);
}

TEST(a_drain_dropped_shows)
{
	assert_shows(DRAIN_DROPPED, 1);
}
