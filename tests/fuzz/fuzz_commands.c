/*
 * Whole runs of the program on changed specs: read, check, score, explore with any mapper, execute,
 * write plans and certificates and read them again.  The specs are those of specs/ and the small
 * ones of tests/fuzz.  What is read must be scored as it is executed, all that is found must hold
 * when it is read again, and one thread must write what two write.
 *
 *	N=100000 SEED=7 fuzz_commands     more inputs, or others
 *	N=1 FIRST=1234 fuzz_commands      one again
 */
#include "base/arena.h"
#include "base/text.h"
#include "tests/support/draws.h"
#include "tests/support/fuzz_command.h"
#include "tests/support/mutated_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"

enum { FILES_MOST = 6, CYCLES_MOST = 200000, COMPUTES_MOST = 20000, PLANS_MOST = 2 };

/* Files that belong together; what is not a path lies in tests/fuzz. */
struct specs {
	const char *files[FILES_MOST];
};

/* Some of the options of a line are taken. */
struct family {
	const char *name;
	const struct specs *specs;
	size_t count;
	const char *given;         /* `score` needs this key among the specs; NULL: it needs none */
	const char *plan_key;      /* of the specs, that a plan takes the place of */
	const char *const *always; /* one of them for `explore` */
	const char *const *solver; /* or none of them */
	const char *const *reads;  /* of `score` and `check` as well; or none */
};

#define OLD "old_machine.yaml", "old_problem.yaml"
#define NEW "new_machine.yaml", "new_problem.yaml"
#define THREE "specs/arch/three_level.yaml"
#define LAYER "specs/problems/resnet50_3x3.yaml"
static const struct specs nests[] = {
	{{OLD, "old_mapping.yaml", "old_ert.yaml"}},
	{{OLD, "old_constraints.yaml", "old_mapping.yaml"}},
	{{OLD, "old_constraints.yaml", "old_mapper.yaml", "old_ert.yaml"}},
	{{OLD, "dashed_mapper.yaml"}},
	{{"flat_machine.yaml"}},
	{{NEW, "new_mapping.yaml"}},
	{{NEW, "line.yaml", "search.yaml"}},
	{{NEW, "search.yaml"}},
	{{NEW}},
	{{THREE, "new_problem.yaml", "specs/constraints/keep_all.yaml"}},
	{{THREE, "tests/check/problem.yaml", "tests/check/mapping_good.yaml"}},
	{{THREE, "specs/problems/gemm_16.yaml"}},
	{{THREE, "specs/problems/mttkrp.yaml"}},
	{{THREE, "specs/problems/gemm_149.yaml"}},
	{{"specs/arch/eyeriss.yaml", "old_problem.yaml", "specs/constraints/residency_only.yaml"}},
	{{"specs/arch/eyeriss.yaml", LAYER, "specs/constraints/row_stationary.yaml"}},
	{{"specs/arch/gemmini.yaml", LAYER, "specs/constraints/weight_stationary.yaml"}},
	{{"specs/arch/output_stationary.yaml", "specs/problems/gemm_512.yaml",
		"specs/constraints/output_stationary.yaml"}},
	{{"specs/arch/weight_stationary.yaml", "old_problem.yaml"}},
	{{"specs/arch/systolic.yaml", "specs/problems/gemm_512.yaml"}},
	{{"specs/arch/simba.yaml", "old_problem.yaml"}},
	{{"specs/arch/tpu.yaml", "old_problem.yaml"}},
};

#define FOUR "graph_machine.yaml"
#define WORKLOAD "specs/workloads/"
#define SPYRE "specs/arch/spyre32.yaml"
static const struct specs graphs[] = {
	{{FOUR, "softmax.yaml", "settings.yaml"}},
	{{FOUR, "softmax.yaml", "specs/search/softmax_stage4.yaml"}},
	{{FOUR, "softmax.yaml", "specs/search/softmax_4core.yaml"}},
	{{FOUR, "softmax.yaml"}},
	{{FOUR, "block.yaml"}},
	{{FOUR, "block.yaml", "specs/search/softmax_stage1.yaml"}},
	{{"ranks_machine.yaml", "sent.yaml"}},
	{{"ranks_machine.yaml", "sent.yaml", "specs/search/staging_16KiB.yaml"}},
	{{FOUR, WORKLOAD "pattern_staircase.yaml"}},
	{{FOUR, WORKLOAD "pattern_gqa.yaml"}},
	{{FOUR, WORKLOAD "mlp.yaml"}},
	{{SPYRE, "softmax.yaml"}},
	{{SPYRE, "block.yaml", "specs/search/planner_32KiB.yaml"}},
	{{SPYRE, WORKLOAD "attention.yaml"}},
	{{SPYRE, "scores.yaml", "fused.yaml"}},
	{{SPYRE, WORKLOAD "layernorm.yaml"}},
	{{SPYRE, WORKLOAD "pattern_eviction.yaml", "specs/search/simple_eviction.yaml"}},
	{{SPYRE, WORKLOAD "pattern_moe_mlp.yaml"}},
	{{"specs/arch/spyre32x4.yaml", WORKLOAD "gpt_block_4ranks.yaml"}},
};

static const struct specs networks[] = {
	{{THREE, "network.yaml"}},
	{{THREE, "network.yaml", "search.yaml"}},
	{{"specs/arch/eyeriss.yaml", "network.yaml", "specs/constraints/residency_only.yaml"}},
	{{"old_machine.yaml", "network.yaml"}},
	{{"specs/arch/gemmini.yaml", WORKLOAD "alexnet.yaml"}},
	{{"specs/arch/eyeriss.yaml", WORKLOAD "bert_base_s512.yaml"}},
};

static const struct specs broadcasts[] = {
	{{"specs/arch/a2a3.yaml", "sends.yaml"}},
	{{"specs/arch/a5.yaml", "reduces.yaml"}},
	{{"specs/arch/kirin.yaml", "scatters.yaml"}},
	{{"specs/arch/a6.yaml", "sends.yaml"}},
	{{"specs/arch/a2a3.yaml", "specs/broadcasts/weights_16MiB.yaml"}},
	{{"specs/arch/a5.yaml", "specs/broadcasts/gather_activations.yaml"}},
	{{"specs/arch/a2a3.yaml", "specs/broadcasts/get_block.yaml"}},
	{{"specs/arch/a2a3.yaml", "specs/broadcasts/put_block.yaml"}},
};

#define PROJECTION "specs/space_time/"
static const struct specs projections[] = {
	{{"pair.yaml"}},
	{{"fold.yaml"}},
	{{"folded.yaml"}},
	{{PROJECTION "problem.yaml", "new_problem.yaml"}},
	{{PROJECTION "problem.yaml", "softmax.yaml"}},
	{{PROJECTION "array.yaml"}},
	{{PROJECTION "convolution.yaml"}},
	{{PROJECTION "convolution_2d.yaml"}},
	{{PROJECTION "convolution_lanes.yaml"}},
	{{PROJECTION "einsum.yaml"}},
	{{PROJECTION "input_stationary.yaml"}},
	{{PROJECTION "lu.yaml"}},
	{{PROJECTION "matmul.yaml"}},
	{{PROJECTION "output_stationary.yaml"}},
	{{PROJECTION "weight_stationary.yaml"}},
};

static const char *const nest_always[] = {"--budget 1", "--budget 8", "--budget 30",
	"--budget 20 --objective edp", "--budget 20 --objective latency,energy,hbm_bytes",
	"--budget 15 --objective energy --simulate frontier", NULL};
static const char *const nest_solver[] = {"--solver map=anneal", "--solver map=exact",
	"--solver map=ilp", "--solver map=linear", "--solver map=random", NULL};
static const char *const nest_reads[] = {"--counting timeloop", "--imperfect all", NULL};
static const char *const graph_always[] = {"--budget 1", "--budget 3",
	"--budget 4 --objective latency,lx_peak --simulate frontier", NULL};
static const char *const graph_solver[] = {"--solver place=firstfit", "--solver place=exact",
	"--solver place=greedy", "--solver place=boxes", "--solver joint=dimflip",
	"--solver divide=exhaustive", NULL};
static const char *const graph_reads[] = {"--cores 2", "--cores 1", "--mode compatible", NULL};
static const char *const network_always[] = {"--budget 2", "--budget 4 --objective latency,energy",
	"--budget 3 --objective edp", "--budget 3 --latency-budget 1000", NULL};
static const char *const network_reads[] = {"--counting timeloop", NULL};
static const char *const other_always[] = {"--budget 4", "--budget 12", "--budget 100", NULL};
static const char *const no_words[] = {NULL};

#define SPECS(list) list, sizeof list / sizeof *list
static const struct family families[] = {
	{"nest", SPECS(nests), "mapping", "mapping", nest_always, nest_solver, nest_reads},
	{"graph", SPECS(graphs), NULL, "plan", graph_always, graph_solver, graph_reads},
	{"network", SPECS(networks), "mapping", NULL, network_always, no_words, network_reads},
	{"broadcast", SPECS(broadcasts), NULL, "broadcast", other_always, no_words, no_words},
	{"projection", SPECS(projections), NULL, "space_time", other_always, no_words, no_words},
};

/* An input: where its files are, and what they say. */
struct trial {
	const struct fuzz_input *input;
	const struct family *family;
	int count;
	const char *paths[FILES_MOST], *texts[FILES_MOST];
	const char *reads; /* options of every command */
};

static const char *path_of(struct arena *arena, const char *file)
{
	return strchr(file, '/') ? file : arena_format(arena, "tests/fuzz/corpus/%s", file);
}

static const char *text_at(struct arena *arena, const char *path)
{
	const char *text = text_of_file(arena, path);
	if (!text)
		fuzz_wrong("%s is missing", path);
	return text;
}

/* Published tensors are large: a part of each size is enough here. */
static const char *small_text_at(struct arena *arena, const char *path)
{
	struct text made = text_open(arena);
	const char *text = text_at(arena, path);
	unsigned long part = strncmp(path, "specs/broadcasts/", 17) == 0  ? 32
			     : strncmp(path, "specs/workloads/", 16) == 0 ? 8
									  : 1;
	while (*text) {
		size_t other = strcspn(text, "0123456789");
		char *end;
		text_bytes(&made, text, other);
		unsigned long number = strtoul(text += other, &end, 10);
		if (end > text && number < 128)
			text_bytes(&made, text, (size_t)(end - text));
		else if (end > text)
			text_add(&made, "%lu", number / part);
		text = end;
	}
	return text_read(&made);
}

static const char *any_text(const struct trial *trial)
{
	const struct specs *specs =
		&trial->family->specs[random_below(trial->input->random, trial->family->count)];
	int count = 0;
	while (count < FILES_MOST && specs->files[count])
		count++;
	const char *file = specs->files[random_below(trial->input->random, (uint64_t)count)];
	return small_text_at(trial->input->arena, path_of(trial->input->arena, file));
}

static void change_file(struct trial *trial)
{
	struct random *random = trial->input->random;
	int i = (int)draw_below(random, trial->count);
	trial->texts[i] =
		mutated_with(trial->input->arena, random, trial->texts[i], any_text(trial));
}

static const char *put(const struct trial *trial, const char *name, const char *text)
{
	const char *path = arena_format(trial->input->arena, "%s/%s", trial->input->folder, name);
	FILE *file = fopen(path, "wb");
	if (!file || fputs(text, file) < 0 || fclose(file) != 0)
		fuzz_wrong("cannot write %s", path);
	return path;
}

static const char *any_word(struct random *random, const char *const *words)
{
	uint64_t count = 0;
	while (words[count])
		count++;
	return count ? words[random_below(random, count)] : "";
}

static struct trial draw_trial(const struct fuzz_input *input, const struct family *family)
{
	struct trial trial = {.input = input, .family = family};
	const struct specs *specs = &family->specs[random_below(input->random, family->count)];
	for (; trial.count < FILES_MOST && specs->files[trial.count]; trial.count++) {
		trial.paths[trial.count] = path_of(input->arena, specs->files[trial.count]);
		trial.texts[trial.count] = small_text_at(input->arena, trial.paths[trial.count]);
	}
	change_file(&trial);
	if (draw_chance(input->random, 6))
		change_file(&trial);
	for (int i = 0; i < trial.count; i++)
		trial.paths[i] =
			put(&trial, arena_format(input->arena, "%d.yaml", i), trial.texts[i]);
	trial.reads = draw_chance(input->random, 5) ? any_word(input->random, family->reads) : "";
	return trial;
}

static bool has_key(const char *text, const char *key)
{
	size_t length = strlen(key);
	for (const char *at = text; at; at = strchr(at, '\n'), at = at ? at + 1 : NULL)
		if (strncmp(at, key, length) == 0 && at[length] == ':')
			return true;
	return false;
}

static bool any_has_key(const struct trial *trial, const char *key)
{
	for (int i = 0; i < trial->count; i++)
		if (has_key(trial->texts[i], key))
			return true;
	return false;
}

/* The specs, without what has this key. */
static struct words words_of(const struct trial *trial, const char *without)
{
	struct words words = {0};
	for (int i = 0; i < trial->count; i++)
		if (!without || !has_key(trial->texts[i], without))
			words_add(trial->input->arena, &words, "%s", trial->paths[i]);
	words_add(trial->input->arena, &words, "%s", trial->reads);
	return words;
}

/* True if the work that `score` reports is small enough to be executed here. */
static bool is_small(const char *json)
{
	return integer_in(json, "cycles") <= CYCLES_MOST &&
	       integer_in(json, "computes") <= COMPUTES_MOST;
}

static void score_and_simulate(const struct trial *trial, const struct words *words, bool must)
{
	struct did score = do_command(trial->input, &command_score, words);
	if (must && score.status != EXIT_FOUND)
		fuzz_wrong("%s\nends with status %d of a plan that was found:\n%s", score.line,
			score.status, score.err);
	if (score.status != EXIT_FOUND || !is_small(score.out))
		return;
	struct did simulate = do_command(trial->input, &command_simulate, words);
	/* Only the execution of equations shows if they give an output one value. */
	if (strstr(simulate.err, "an output gets two values at one place"))
		return;
	if (simulate.status != EXIT_FOUND && simulate.status != EXIT_NOTHING)
		fuzz_wrong("%s\nends with status %d of what is scored:\n%s%s", simulate.line,
			simulate.status, simulate.err, simulate.out);
}

/* A cell of the first columns, which have no quotes. */
static const char *cell(struct arena *arena, const char *row, int column)
{
	for (; column > 0 && *row; column--)
		row += strcspn(row, ",\n") + (row[strcspn(row, ",\n")] == ',');
	return arena_format(arena, "%.*s", (int)strcspn(row, ",\n"), row);
}

static void check_rows(const struct trial *trial, const char *folder, const char *line)
{
	enum { SIM_CYCLES = 9, SIM_AGREES = 12 };
	struct arena *arena = trial->input->arena;
	const char *csv = text_at(arena, arena_format(arena, "%s/pareto.csv", folder));
	for (const char *row = strchr(csv, '\n'); row && row[1]; row = strchr(row + 1, '\n'))
		if (text_equal(cell(arena, row + 1, SIM_AGREES), "false"))
			fuzz_wrong("%s\nfinds what the simulator disagrees with:\n%s", line, csv);
}

/* Plans that were written are plans, and cost what the table says. */
static void check_plans(const struct trial *trial, const char *folder)
{
	struct arena *arena = trial->input->arena;
	const char *csv = text_at(arena, arena_format(arena, "%s/pareto.csv", folder));
	const char *row = strchr(csv, '\n');
	for (int i = 1; i <= PLANS_MOST && row && row[1]; i++, row = strchr(row + 1, '\n')) {
		struct words words = words_of(trial, trial->family->plan_key);
		words_add(arena, &words, "%s/plans/point-%03d.yaml", folder, i);
		struct did check = do_command(trial->input, &command_check, &words);
		if (check.status != EXIT_FOUND && check.status != EXIT_NOTHING)
			fuzz_wrong("%s\nends with status %d of a plan that was found:\n%s%s",
				check.line, check.status, check.err, check.out);
		score_and_simulate(trial, &words, true);
		struct did score = do_command(trial->input, &command_score, &words);
		const char *cycles =
			arena_format(arena, "%lld", (long long)integer_in(score.out, "cycles"));
		if (!text_equal(cycles, "-1") && !text_equal(cycles, cell(arena, row + 1, 1)))
			fuzz_wrong("%s\nsays %s cycles, the table %s", score.line, cycles,
				cell(arena, row + 1, 1));
	}
}

static void check_certificate(const struct trial *trial, const char *folder)
{
	struct arena *arena = trial->input->arena;
	const char *path = arena_format(arena, "%s/certificate.yaml", folder);
	struct words words = words_of(trial, NULL);
	if (!text_of_file(arena, path))
		return;
	words_add(arena, &words, "--budget 20000 --certificate %s", path);
	struct did did = do_command(trial->input, &command_check, &words);
	if (did.status != EXIT_FOUND && did.status != EXIT_NOTHING)
		fuzz_wrong("%s\nends with status %d of a proof that was found:\n%s%s", did.line,
			did.status, did.err, did.out);
}

/* Changes a found plan: it is read or refused, and one that `check` takes runs as it is priced. */
static void change_found(const struct trial *trial, const char *folder)
{
	struct arena *arena = trial->input->arena;
	const char *plan =
		text_of_file(arena, arena_format(arena, "%s/plans/point-001.yaml", folder));
	const char *proof = text_of_file(arena, arena_format(arena, "%s/certificate.yaml", folder));
	if (plan && trial->family->plan_key) {
		struct words words = words_of(trial, trial->family->plan_key);
		words_add(arena, &words, "%s",
			put(trial, "changed.yaml",
				mutated_text(arena, trial->input->random, plan)));
		if (do_command(trial->input, &command_check, &words).status == EXIT_FOUND)
			score_and_simulate(trial, &words, false);
	}
	if (proof) {
		struct words words = words_of(trial, NULL);
		words_add(arena, &words, "--budget 2000 --certificate %s",
			put(trial, "proof.yaml", mutated_text(arena, trial->input->random, proof)));
		do_command(trial->input, &command_check, &words);
	}
}

static const char *found_in(struct arena *arena, const char *folder)
{
	const char *csv = text_of_file(arena, arena_format(arena, "%s/pareto.csv", folder));
	const char *plan =
		text_of_file(arena, arena_format(arena, "%s/plans/point-001.yaml", folder));
	return arena_format(arena, "%s%s", csv ? csv : "", plan ? plan : "");
}

static void explore(const struct trial *trial)
{
	struct arena *arena = trial->input->arena;
	struct random *random = trial->input->random;
	const struct family *family = trial->family;
	struct words words = words_of(trial, NULL);
	const char *folder = arena_format(arena, "%s/found", trial->input->folder);
	words_add(arena, &words, "--simulate-budget 20000 %s", any_word(random, family->always));
	if (!draw_chance(random, 4))
		words_add(arena, &words, "%s", any_word(random, family->solver));
	struct words again = words;
	words_add(arena, &words, "--jobs 1 -o %s", folder);
	struct did did = do_command(trial->input, &command_explore, &words);
	if (strstr(did.err, "disagrees"))
		fuzz_wrong("%s\n%s", did.line, did.err);
	if (did.status == EXIT_FOUND)
		check_rows(trial, folder, did.line);
	if (did.status == EXIT_FOUND && family->plan_key)
		check_plans(trial, folder);
	if (did.status != EXIT_INPUT)
		check_certificate(trial, folder);
	if (did.status != EXIT_INPUT && draw_chance(random, 2))
		change_found(trial, folder);
	if (!draw_chance(random, 8))
		return;
	const char *other = arena_format(arena, "%s/again", trial->input->folder);
	words_add(arena, &again, "--jobs 2 -o %s", other);
	struct did twice = do_command(trial->input, &command_explore, &again);
	if (did.status != twice.status || !text_equal(did.out, twice.out) ||
		!text_equal(found_in(arena, folder), found_in(arena, other)))
		fuzz_wrong("%s\nfinds other things with two jobs:\n%s%s", did.line, did.out,
			twice.out);
}

static bool try_family(const struct fuzz_input *input, const struct family *family)
{
	struct trial trial = draw_trial(input, family);
	struct words words = words_of(&trial, NULL);
	struct did check = do_command(input, &command_check, &words);
	if (check.status == EXIT_INPUT)
		return false;
	if (!family->given || any_has_key(&trial, family->given))
		score_and_simulate(&trial, &words, false);
	if (draw_chance(input->random, 3))
		explore(&trial);
	return true;
}

static bool any_family(const struct fuzz_input *input)
{
	static const int shares[] = {0, 0, 0, 0, 0, 0, 1, 1, 2, 3, 3, 4, 4, 4};
	uint64_t which = random_below(input->random, sizeof shares / sizeof *shares);
	return try_family(input, &families[shares[which]]);
}

static void nothing_is_found(void **state)
{
	assert_int_equal(*(long *)*state, 0);
}

int main(void)
{
	long findings = fuzz_run("fuzz_commands", 300, any_family);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate(nothing_is_found, &findings),
	};
	return cmocka_run_group_tests_name("fuzz_commands", tests, NULL, NULL);
}
