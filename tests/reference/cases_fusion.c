#include "base/arena.h"
#include "tests/support/case_json.h"
#include "tests/support/draws.h"
#include "tests/support/family.h"
#include "tests/support/shell.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Family fusion: chains of products and GPT-3 blocks, unfused and fused, on four machines, beside the optima
 * of AccelForge's FFM (commit 1c1929c2).  Machines, workloads and plans are in tests/cases/fusion.
 * Each row holds the ratio of ours to what is published, and says why it is not 1; it fails when a
 * ratio changes, or the counts of a component where they are the same.  "explored" is our best, "fused" with
 * tensors between ops in the scratchpad, and runs that share one loop, as AccelForge's may;
 * "refetched" our best with `no_reuse` inside the fan-out; "published" AccelForge's own mapping.
 * Leakage is theirs: power x time.  With FUSION_TABLE=1, as scripts/fusion sets it, rows are printed.
 */
#define SPECS "tests/cases/fusion/"
#define GPT_PREFILL "BATCH_SIZE=1,DECODE=False,N_NEW_TOKENS=2048"
#define GPT_DECODE "BATCH_SIZE=1,DECODE=True,N_CACHED_TOKENS=2047,N_NEW_TOKENS=1"
#define MATMULS "KN=64,M=64,N_EINSUMS=2"

static const char same[] = "the same counts";
static const char cycles[] = "the same counts; time is in whole cycles here";
#define STAYS                                                                                      \
	"an inner buffer keeps a tile that does not change while loops of an outer buffer run; "   \
	"AccelForge has inner memories below outer ones in its tree and fetches it again "         \
	"(force_memory_hierarchy_order)"
#define RETURNS                                                                                    \
	"a sum that comes back is written in one of the elements that add it up, in AccelForge in all"
static const char stays[] = STAYS;
static const char returns[] = RETURNS;
static const char stays_returns[] = STAYS "; " RETURNS;
static const char idle[] =
	"elements may stand idle here; AccelForge has all in use (min_usage), which takes more words";
static const char stops[] = "stage map stops after 50,000 mappings of a step; its space holds the "
			    "published mappings that have rows";

static const char copies[] =
	"FFB shares the loop that it reduces over, as in AccelForge, and adds up in the global buffer; a "
	"copy brings it home, through the local buffers and in time of its own";
static const char faster[] =
	"another corner: less energy in more time, and times are in whole cycles here";

/* In place of a plan: tensors may stay in the scratchpad. */
static const char fused[] = "fused";
/* In place of a plan: inside the fan-out a buffer is emptied at every step, as in AccelForge's tree. */
static const char refetch[] = "";

enum { PARTS_MOST = 24, BITS_GPT = 16, BITS_CHAIN = 8 };

static const struct row {
	const char *machine, *workload, *file, *parameters, *plan;
	double energy, latency; /* ours to published, to four decimals */
	const char *reason;
} rows[] = {
	{"simple", "matmuls", "matmuls", MATMULS, NULL, 1, 1, same},
	{"simple", "three_matmuls_annotated", "three_matmuls_annotated", "", NULL, 1, 1, same},
	{"simple", "gpt3_175B", "gpt3_175B_prefill", GPT_PREFILL, NULL, 1, 1, same},
	{"simple", "gpt3_175B", "gpt3_175B_decode", GPT_DECODE, NULL, 1, 1, same},
	{"eyeriss", "matmuls", "matmuls", MATMULS, NULL, 0.9194, 1.0001, stays},
	{"eyeriss", "matmuls", "matmuls", MATMULS, refetch, 1, 1.0001, cycles},
	{"eyeriss", "matmuls", "matmuls", MATMULS, "eyeriss_matmuls", 1, 1.0001, cycles},
	{"eyeriss", "three_matmuls_annotated", "three_matmuls_annotated", "", NULL, 0.8997, 1,
		stays_returns},
	{"eyeriss", "three_matmuls_annotated", "three_matmuls_annotated", "", refetch, 0.9843, 1,
		returns},
	{"eyeriss", "three_matmuls_annotated", "three_matmuls_annotated", "",
		"eyeriss_three_matmuls", 0.9843, 1, returns},
	{"eyeriss", "gpt3_6.7B", "gpt3_6.7B_prefill", GPT_PREFILL, NULL, 0.8453, 1, stays_returns},
	{"eyeriss", "gpt3_6.7B", "gpt3_6.7B_prefill", GPT_PREFILL, refetch, 0.978, 1, stops},
	{"eyeriss", "gpt3_6.7B", "gpt3_6.7B_decode", GPT_DECODE, NULL, 0.9866, 0.9881,
		stays_returns},
	{"eyeriss", "gpt3_6.7B", "gpt3_6.7B_decode", GPT_DECODE, refetch, 0.9993, 1, returns},
	{"simba", "matmuls", "matmuls", MATMULS, NULL, 0.9993, 1, idle},
	{"simba", "matmuls", "matmuls", MATMULS, refetch, 0.9993, 1, idle},
	{"simba", "matmuls", "matmuls", MATMULS, "simba_matmuls", 1, 1, cycles},
	{"simba", "three_matmuls_annotated", "three_matmuls_annotated", "", NULL, 1, 1, cycles},
	{"simba", "three_matmuls_annotated", "three_matmuls_annotated", "", refetch, 1, 1, cycles},
	{"simba", "gpt3_6.7B", "gpt3_6.7B_prefill", GPT_PREFILL, NULL, 0.5015, 0.424,
		stays_returns},
	{"simba", "gpt3_6.7B", "gpt3_6.7B_prefill", GPT_PREFILL, refetch, 0.9913, 1, returns},
	{"simba", "gpt3_6.7B", "gpt3_6.7B_decode", GPT_DECODE, NULL, 1, 1, idle},
	{"simba", "gpt3_6.7B", "gpt3_6.7B_decode", GPT_DECODE, refetch, 1.0001, 1, stops},
	{"tpu_v4i", "matmuls", "matmuls", MATMULS, NULL, 1, 1.0469, cycles},
	{"tpu_v4i", "three_matmuls_annotated", "three_matmuls_annotated", "", NULL, 0.8874, 1.0112,
		idle},
	{"tpu_v4i", "three_matmuls_annotated", "three_matmuls_annotated", "",
		"tpu_v4i_three_matmuls", 1, 1.0112, cycles},
	{"tpu_v4i", "gpt3_175B", "gpt3_175B_prefill", GPT_PREFILL, NULL, 1.0422, 1, stops},
	{"tpu_v4i", "gpt3_175B", "gpt3_175B_prefill", GPT_PREFILL, "tpu_v4i_gpt3_prefill", 1, 1,
		cycles},
	{"tpu_v4i", "gpt3_175B", "gpt3_175B_decode", GPT_DECODE, NULL, 0.9999, 1, stops},
	{"eyeriss", "matmuls", "matmuls", MATMULS, fused, 0.8656, 1, stays},
	{"eyeriss", "three_matmuls_annotated", "three_matmuls_annotated", "", fused, 0.86, 1,
		stays_returns},
	{"eyeriss", "gpt3_6.7B", "gpt3_6.7B_prefill_copied", GPT_PREFILL, fused, 0.8459, 1.0022,
		stays_returns},
	{"eyeriss", "gpt3_6.7B", "gpt3_6.7B_decode_copied", GPT_DECODE, fused, 0.9865, 0.9881,
		stays_returns},
	{"simba", "matmuls", "matmuls", MATMULS, fused, 0.9989, 1, idle},
	{"simba", "three_matmuls_annotated", "three_matmuls_annotated", "", fused, 1, 1, cycles},
	{"simba", "gpt3_6.7B", "gpt3_6.7B_prefill_copied", GPT_PREFILL, fused, 0.5034, 0.4263,
		stays_returns},
	{"simba", "gpt3_6.7B", "gpt3_6.7B_decode_copied", GPT_DECODE, fused, 1, 1, idle},
	{"tpu_v4i", "matmuls", "matmuls", MATMULS, fused, 1, 1, cycles},
	{"tpu_v4i", "three_matmuls_annotated", "three_matmuls_annotated", "", fused, 0.9066, 1.1034,
		faster},
	{"tpu_v4i", "gpt3_175B", "gpt3_175B_prefill_copied", GPT_PREFILL, fused, 1.0046, 1.0015,
		copies},
	{"tpu_v4i", "gpt3_175B", "gpt3_175B_decode_copied", GPT_DECODE, fused, 1, 1, idle},
};

/* Bits that one component read and wrote, ours and published. */
struct part {
	char name[32];
	double ours[2], published[2];
};

struct parts {
	int count;
	struct part at[PARTS_MOST];
};

struct totals {
	double energy, latency; /* J and s; of `simple` in units of its file */
};

static struct part *part_of(struct parts *parts, const char *name)
{
	for (int i = 0; i < parts->count; i++)
		if (strcmp(parts->at[i].name, name) == 0)
			return &parts->at[i];
	if (parts->count == PARTS_MOST)
		return &parts->at[PARTS_MOST - 1];
	struct part *part = &parts->at[parts->count++];
	snprintf(part->name, sizeof part->name, "%s", name);
	return part;
}

static void add_published(const struct row *row, const json_t *record, struct parts *parts)
{
	const char *key;
	json_t *value;
	json_object_foreach(json_object_get(record, "actions"), key, value) {
		char name[32], action[32];
		if (sscanf(key, "('%*[^']', '%31[^']', '%*[^']', '%31[^']')", name, action) != 2 ||
			strcmp(action, "compute") == 0)
			continue;
		bool rows_of_64 =
			strcmp(row->machine, "eyeriss") == 0 && strcmp(name, "GlobalBuffer") == 0;
		part_of(parts, name)->published[strcmp(action, "write") == 0] +=
			json_number_value(value) * (rows_of_64 ? 64 : 1);
	}
}

static void add_ours(const struct row *row, const json_t *score, struct parts *parts)
{
	int bits = strncmp(row->workload, "gpt3", 4) == 0 ? BITS_GPT : BITS_CHAIN;
	size_t o, l;
	const json_t *op, *level;
	json_array_foreach(json_object_get(score, "ops"), o, op)
		json_array_foreach(
			json_object_get(json_object_get(op, "nest"), "levels"), l, level) {
			const char *name = case_text(level, "name"), *tensor;
			json_t *counts;
			if (strncmp(name, "inside ", 7) == 0)
				continue;
			int width = strcmp(name, "AccumulationBuffer") == 0 ? 3 * bits : bits;
			json_object_foreach(json_object_get(level, "dataspaces"), tensor, counts) {
				part_of(parts, name)->ours[0] +=
					(double)case_integer(counts, "total_reads") * width;
				part_of(parts, name)->ours[1] +=
					(double)(case_integer(counts, "total_fills") +
						 case_integer(counts, "total_updates")) *
					width;
			}
		}
}

/* Returns the energy of leakage, power x time; the power is a constant of the machine. */
static double leakage(const json_t *record)
{
	double energy = 0;
	const char *key;
	json_t *value;
	json_object_foreach(json_object_get(record, "energy_per_component"), key, value)
		energy += strstr(key, "'leak'") ? json_number_value(value) : 0;
	return energy;
}

static json_t *score(
	struct family *family, const struct row *row, const char *specs, const char *plan)
{
	struct ended ended =
		shell(family->arena, "$LXPLORE score %s '%s' --format json", specs, plan);
	json_t *json = json_loads(ended.out, 0, NULL);
	if (!json)
		family_note(family, row->machine, ended.err);
	return json;
}

/* The machine of a row, with the flag inside its fan-out where the row asks for it. */
static const char *machine_of(struct family *family, const struct row *row, const char *folder)
{
	if (row->plan != refetch)
		return arena_format(family->arena, SPECS "%s.yaml", row->machine);
	struct ended ended = shell(family->arena,
		"sed '/spatial: {meshX/,$ s/constraints: {dataspace/constraints: {temporal: {no_reuse: "
		"[\"*\"]}, dataspace/' " SPECS "%s.yaml > '%s/machine.yaml'",
		row->machine, folder);
	if (ended.status)
		family_note(family, row->machine, ended.err);
	return arena_format(family->arena, "%s/machine.yaml", folder);
}

/* The score of the best plan that is found, or of the row's own; NULL after a note. */
static json_t *run(struct family *family, const struct row *row)
{
	const char *folder = shell_folder(family->arena);
	const char *specs = arena_format(family->arena,
		"%s " SPECS "words_%d.yaml %s " SPECS "%s.yaml", machine_of(family, row, folder),
		strncmp(row->workload, "gpt3", 4) == 0 ? BITS_GPT : BITS_CHAIN,
		row->plan == fused ? "" : SPECS "home.yaml", row->file);
	bool found = !row->plan || row->plan == refetch || row->plan == fused;
	const char *plan = arena_format(family->arena,
		found ? "%s/plans/point-001.yaml" : SPECS "plans/%s.yaml",
		found ? folder : row->plan);
	struct ended ended = {0};
	if (found)
		ended = shell(family->arena,
			"$LXPLORE explore %s --objective edp --simulate none -q -o '%s'", specs,
			folder);
	if (ended.status)
		family_note(family, row->machine, ended.err);
	json_t *json = ended.status ? NULL : score(family, row, specs, plan);
	shell_remove(folder);
	return json;
}

static const char *differences(struct family *family, const struct parts *parts)
{
	struct text text = text_open(family->arena);
	for (int i = 0; i < parts->count; i++)
		for (int k = 0; k < 2; k++) {
			const struct part *part = &parts->at[i];
			if (fabs(part->ours[k] - part->published[k]) > 1e-9 * part->published[k])
				text_add(&text, "    %s %s: %.0f bits, published %.0f\n",
					part->name, k ? "write" : "read", part->ours[k],
					part->published[k]);
		}
	return text_read(&text);
}

/* Compares ratios; a search that stopped early may become better. */
static void expect_ratio(
	struct family *family, const char *what, double ratio, double expected, bool or_less)
{
	family->compared++;
	if (ratio > expected + 0.6e-4 || (!or_less && ratio < expected - 0.6e-4))
		family_note(family, what,
			arena_format(family->arena, "expected %.4f of what is published, came %.4f",
				expected, ratio));
}

/* Returns the origin of a row's mapping. */
static const char *origin(const struct row *row)
{
	return !row->plan             ? "explored"
	       : row->plan == refetch ? "refetched"
	       : row->plan == fused   ? "fused"
				      : "published";
}

static void check(struct family *family, const struct row *row, const json_t *record)
{
	json_t *json = run(family, row);
	if (!json)
		return;
	bool units = strcmp(row->machine, "simple") == 0;
	struct totals published = {json_number_value(json_object_get(record, "energy")),
		json_number_value(json_object_get(record, "latency"))};
	struct totals ours = {
		json_number_value(json_object_get(json, "energy_pj")) * (units ? 1 : 1e-12),
		json_number_value(json_object_get(json, "latency_ns")) * (units ? 1 : 1e-9)};
	ours.energy += leakage(record) / published.latency * ours.latency;
	double energy = ours.energy / published.energy, latency = ours.latency / published.latency;
	expect_ratio(family, "energy", energy, row->energy, row->reason == stops);
	expect_ratio(family, "latency", latency, row->latency, row->reason == stops);
	struct parts parts = {0};
	add_published(row, record, &parts);
	add_ours(row, json, &parts);
	const char *differ = differences(family, &parts);
	family->compared++;
	if ((row->reason == same || row->reason == cycles) && *differ)
		family_note(family, "counts", differ);
	if (getenv("FUSION_TABLE"))
		printf("%-8s %-23s %-9s %11.5g %11.5g %7.4f %11.5g %11.5g %7.4f %11.5g %11.5g %7.4f  %s\n%s",
			row->machine, row->file, origin(row), ours.energy, published.energy, energy,
			ours.latency, published.latency, latency, ours.energy * ours.latency,
			published.energy * published.latency, energy * latency, row->reason,
			differ);
	json_decref(json);
}

int main(int argc, char **argv)
{
	const char *root = argc > 1 ? argv[1] : "../shared/cases";
	struct family family;
	if (!family_open(&family, "fusion", root, "fusion"))
		return 0;
	json_t *published = family_file(&family, root, "fusion/published.json");
	if (getenv("FUSION_TABLE"))
		printf("%-8s %-23s %-9s %11s %11s %7s %11s %11s %7s %11s %11s %7s  %s\n", "machine",
			"case", "mapping", "energy", "published", "ratio", "latency", "published",
			"ratio", "EDP", "published", "ratio", "reason");
	for (size_t i = 0; published && i < sizeof rows / sizeof *rows;
		i += (size_t)draws_apart(1)) {
		const struct row *row = &rows[i];
		char key[160];
		snprintf(key, sizeof key, "%s|%s|%s|%s", row->machine, row->workload,
			row->parameters, row->plan == fused ? "fused" : "unfused");
		const json_t *record = json_object_get(published, key);
		if (!record)
			continue; /* a small set of the family */
		family_case(&family, "%s %s, %s", row->machine, row->file, origin(row));
		check(&family, row, record);
	}
	json_decref(published);
	return family_close(&family);
}
