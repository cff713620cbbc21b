#include "base/arena.h"
#include "base/number.h"
#include "base/text.h"
#include "report/nest/nest_report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* What one utilized instance has of a dataspace; an average where instances differ. */
struct share {
	double reads, fills, updates, accesses, cycles, clusters, instances;
};

static double part_of(int64_t total, double instances)
{
	return floor((double)total / instances + 0.5);
}

static struct share share_of(const struct nest_report *report, int i, int t)
{
	const struct nest_count *count = &report->counts->at[i][t];
	const struct nest_level *level = &report->hierarchy->levels[i];
	double instances = (double)number_max(1, report->counts->utilized[i]);
	struct share share = {.reads = part_of(count->reads, instances),
		.fills = part_of(count->fills, instances),
		.updates = part_of(count->updates, instances),
		.cycles = (double)number_max(1, report->score->level_cycles[i]),
		.clusters = ceil(instances / (double)number_max(1, level->cluster_size)),
		.instances = instances};
	share.accesses = share.reads + share.fills + share.updates;
	return share;
}

static const char *size_text(struct arena *arena, int64_t words)
{
	return words ? arena_format(arena, "%" PRId64, words) : "-";
}

static const char *rate_text(struct arena *arena, const struct ratio *rate)
{
	return rate->num ? arena_format(arena, "%.2f", ratio_double(*rate)) : "-";
}

static const char *instances_text(struct arena *arena, int64_t x, int64_t y)
{
	return arena_format(arena, "%" PRId64 " (%" PRId64 "*%" PRId64 ")", x * y, x, y);
}

/* --- levels */

static void add_title(struct text *text, int number, const char *name)
{
	const char *level = arena_format(text->arena, "Level %d", number);
	text_add(text, "%s\n%.*s\n=== %s ===\n\n    SPECS\n    -----\n", level, (int)strlen(level),
		"--------------------", name);
}

static void add_multipliers(struct text *text, const struct nest_report *report)
{
	const struct hierarchy *hierarchy = report->hierarchy;
	const struct level *row = &report->arch->levels[hierarchy->compute_row];
	add_title(text, 0, hierarchy->compute_name);
	text_add(text, "    Word bits             : %" PRId64 "\n", row->word_bits);
	text_add(text, "    Instances             : %s\n",
		instances_text(text->arena, hierarchy->compute_mesh_x, hierarchy->compute_mesh_y));
	text_add(text, "    Compute energy        : %.2f pJ\n", hierarchy->compute_pj);
	text_add(text, "\n    STATS\n    -----\n");
	text_add(text, "    Utilized instances      : %" PRId64 "\n",
		report->counts->utilized_computes);
	text_add(text, "    Computes (total)        : %" PRId64 "\n", report->counts->computes);
	text_add(text, "    Cycles                  : %" PRId64 "\n",
		report->counts->compute_cycles);
	text_add(text, "    Energy (total)          : %.2f pJ\n", report->score->compute_pj);
	text_add(text, "    Area (total)            : 0.00 um^2\n\n");
}

static void add_specs(struct text *text, const struct nest_report *report, int i)
{
	const struct nest_level *level = &report->hierarchy->levels[i];
	const struct nest_level *gate = &report->hierarchy->levels[level->gated_at];
	struct arena *arena = text->arena;
	int64_t instances = level->mesh_x * level->mesh_y, gates = gate->mesh_x * gate->mesh_y;
	bool endless = !level->entries && !level->no_room;
	double most =
		fmax(level->pj[NEST_READ], fmax(level->pj[NEST_FILL], level->pj[NEST_UPDATE]));
	const char *const lines[][2] = {
		{"Technology", endless ? "DRAM" : "SRAM"},
		{"Size", endless ? "-" : arena_format(arena, "%" PRId64, level->entries)},
		{"Word bits", arena_format(arena, "%" PRId64, level->word_bits)},
		{"Block size", arena_format(arena, "%" PRId64, level->block_size)},
		{"Cluster size", arena_format(arena, "%" PRId64, level->cluster_size)},
		{"Instances", instances_text(arena, level->mesh_x, level->mesh_y)},
		{"Shared bandwidth", rate_text(arena, &level->shared_rate)},
		{"Read bandwidth", rate_text(arena, &level->read_rate)},
		{"Write bandwidth", rate_text(arena, &level->write_rate)},
		{"Multiple buffering", arena_format(arena, "%.2f", level->multiple_buffering)},
		{"Effective size", size_text(arena, level->size)},
		{"Min utilization", arena_format(arena, "%.2f", level->least_utilization)},
		{"Vector access energy",
			arena_format(arena, "%.2f pJ",
				most / (double)number_max(1, level->cluster_size))},
		{"Vector access energy source", level->energy_source ? level->energy_source : "-"},
		{"Per-instance-cycle leakage", arena_format(arena, "%.2f pJ", level->leak_pj)},
		{"Instances sharing power gating",
			arena_format(
				arena, "%.2f", (double)instances / (double)number_max(1, gates))},
		{"Non-power-gated utilization",
			arena_format(arena, "%.2f%%",
				level->gated_at == i
					? 100
					: 100 * (double)report->counts->utilized[level->gated_at] /
						  (double)number_max(1, gates))},
		{"Leakage energy (total)",
			arena_format(arena, "%.2f pJ", report->score->leak_pj[i])},
		{"Area", "0.00 um^2"},
	};
	for (size_t k = 0; k < sizeof lines / sizeof *lines; k++)
		text_add(text, "        %-31s : %s\n", lines[k][0], lines[k][1]);
}

static void add_count(struct text *text, const char *name, double count)
{
	text_add(text, "        %-40s : %.0f\n", name, count);
}

static void add_energy(struct text *text, const char *name, double pj)
{
	text_add(text, "        %-40s : %.2f pJ\n", name, pj);
}

/* Words each cycle of one instance and of all. */
static void add_rate(struct text *text, const char *name, double words, const struct share *share)
{
	double rate = words / share->cycles;
	text_add(text, "        %-40s : %.2f words/cycle\n",
		arena_format(text->arena, "%s (per-instance)", name), rate);
	text_add(text, "        %-40s : %.2f words/cycle\n",
		arena_format(text->arena, "%s (total)", name), rate * share->instances);
}

static void add_space(struct text *text, const struct nest_report *report, int i, int t)
{
	const struct dataspace *space = &report->shape->spaces[t];
	struct share share = share_of(report, i, t);
	double pj = report->score->space_pj[i][t];
	text_add(text, "    %s:\n", space->name);
	add_count(text, "Utilized capacity", (double)report->counts->at[i][t].capacity);
	add_count(text, "Utilized instances (max)", share.instances);
	add_count(text, "Utilized clusters (max)", share.clusters);
	add_count(text, "Scalar reads (per-instance)", share.reads);
	add_count(text, "Scalar fills (per-instance)", share.fills);
	add_count(text, "Scalar updates (per-instance)", share.updates);
	add_count(text, "Temporal reductions (per-instance)", space->written ? share.reads : 0);
	add_count(text, "Address generations (per-cluster)",
		share.fills + (space->written ? share.updates : share.reads));
	add_energy(text, "Energy (per-scalar-access)",
		share.accesses > 0 ? pj / share.instances / share.accesses : 0);
	add_energy(text, "Energy (per-instance)", pj / share.instances);
	add_energy(text, "Energy (total)", pj);
	add_energy(text, "Temporal Reduction Energy (per-instance)", 0);
	add_energy(text, "Temporal Reduction Energy (total)", 0);
	add_energy(text, "Address Generation Energy (per-cluster)", 0);
	add_energy(text, "Address Generation Energy (total)", 0);
	text_add(text, "        %-40s : %.2f\n", "Bandwidth Consumption Scale",
		report->hierarchy->levels[i].rate_scale[t]);
	add_rate(text, "Shared Bandwidth", share.accesses, &share);
	add_rate(text, "Read Bandwidth", share.reads, &share);
	add_rate(text, "Write Bandwidth", share.fills + share.updates, &share);
}

static void add_level(struct text *text, const struct nest_report *report, int i, int number)
{
	const struct nest_score *score = report->score;
	const struct nest_level *level = &report->hierarchy->levels[i];
	add_title(text, number, level->name);
	add_specs(text, report, i);
	text_add(text, "\n    STATS\n    -----\n");
	text_add(text, "    Cycles               : %" PRId64 "\n", score->level_cycles[i]);
	text_add(text, "    Bandwidth throttling : %.2f\n",
		fmin(1, (double)report->counts->compute_cycles /
				(double)number_max(1, score->level_cycles[i])));
	for (int t = 0; t < report->shape->space_count; t++)
		if (report->mapping->residency[t] >> level->row & 1)
			add_space(text, report, i, t);
	text_add(text, "\n");
}

/* --- networks and sums */

static const char *network_name(struct arena *arena, const struct nest_report *report, int i)
{
	const struct hierarchy *hierarchy = report->hierarchy;
	return arena_format(arena, "%s <==> %s",
		i ? hierarchy->levels[i - 1].name : hierarchy->compute_name,
		hierarchy->levels[i].name);
}

static void add_networks(struct text *text, const struct nest_report *report)
{
	int number = 0;
	text_add(text, "Networks\n--------\n");
	for (int i = 0; i < report->hierarchy->level_count; i++)
		if (report->score->network_pj[i] != 0)
			text_add(text,
				"Network %d\n---------\n%s\n\n    STATS\n    -----\n"
				"    Energy (total) : %.2f pJ\n\n",
				number++, network_name(text->arena, report, i),
				report->score->network_pj[i]);
	text_add(text, "\n");
}

/* Elements of a dataspace: ranks are independent of each other here, as in Timeloop. */
static double words_of(const struct shape *shape, int t)
{
	double words = 1;
	for (int r = 0; r < shape->spaces[t].rank_count; r++) {
		double extent = 1;
		for (int d = 0; d < shape->dimension_count; d++)
			extent += (double)shape->spaces[t].ranks[r].coefficient[d] *
				  (double)(shape->dimensions[d].extent - 1);
		words *= extent;
	}
	return words;
}

/* Operations a byte as Timeloop has them: in single precision, of whole bytes.  0.155 prints 0.16. */
static double per_byte(double ops, double words, const struct nest_level *level)
{
	return (double)((float)ops / (float)floor(words * (double)level->word_bits / 8));
}

/* Additions of products, without the first of each sum; the answer is all operations. */
static double add_operations(struct text *text, const struct nest_report *report)
{
	const struct hierarchy *hierarchy = report->hierarchy;
	const struct nest_level *outer = &hierarchy->levels[hierarchy->level_count - 1];
	double computes = (double)report->counts->computes, reductions = computes, words = 0;
	for (int t = 0; t < report->shape->space_count; t++) {
		words += words_of(report->shape, t);
		reductions -= report->shape->spaces[t].written ? words_of(report->shape, t) : 0;
	}
	text_add(text, "Operational Intensity Stats\n---------------------------\n");
	text_add(text, "    Total elementwise ops                   : %.0f\n", computes);
	text_add(text, "    Total reduction ops                     : %.0f\n", reductions);
	text_add(text, "    Total ops                               : %.0f\n",
		computes + reductions);
	text_add(text, "    Total memory accesses required          : %.0f\n", words);
	text_add(text, "    Optimal Op per Byte                     : %.2f\n\n",
		per_byte(computes + reductions, words, outer));
	return computes + reductions;
}

static void add_intensity(struct text *text, const struct nest_report *report, int i, double ops)
{
	const struct nest_level *level = &report->hierarchy->levels[i];
	double accesses = 0;
	text_add(text, "=== %s ===\n", level->name);
	for (int t = 0; t < report->shape->space_count; t++)
		if (report->mapping->residency[t] >> level->row & 1) {
			const struct nest_count *count = &report->counts->at[i][t];
			accesses += (double)count->reads + (double)count->fills +
				    (double)count->updates;
		}
	if (accesses <= 0)
		return;
	text_add(text, "    Total scalar accesses                   : %.0f\n", accesses);
	text_add(text, "    Op per Byte                             : %.2f\n",
		per_byte(ops, accesses, level));
}

/* Energies of a compute, of each part and together; names stand in a column as wide as the longest of a network. */
static void add_energies(struct text *text, const struct nest_report *report)
{
	const struct hierarchy *hierarchy = report->hierarchy;
	const struct nest_score *score = report->score;
	double computes = (double)number_max(1, report->counts->computes) / 1e3;
	int wide = (int)strlen(hierarchy->compute_name);
	for (int i = 0; i < hierarchy->level_count; i++)
		wide = (int)number_max(wide, (int64_t)strlen(network_name(text->arena, report, i)));
	text_add(text, "Computes = %" PRId64 "\nfJ/Compute\n", report->counts->computes);
	text_add(text, "    %-*s = %.2f\n", wide, hierarchy->compute_name,
		score->compute_pj / computes);
	for (int i = 0; i < hierarchy->level_count; i++)
		if (nest_report_shows(report, i))
			text_add(text, "    %-*s = %.2f\n", wide, hierarchy->levels[i].name,
				score->level_pj[i] / computes);
	for (int i = 0; i < hierarchy->level_count; i++)
		if (score->network_pj[i] != 0)
			text_add(text, "    %-*s = %.2f\n", wide,
				network_name(text->arena, report, i),
				score->network_pj[i] / computes);
	text_add(text, "    %-*s = %.2f\n\n", wide, "Total", score->energy_pj / computes);
}

const char *nest_timeloop(struct arena *arena, const struct nest_report *report)
{
	struct text text = text_open(arena);
	const struct nest_score *score = report->score;
	text_add(&text, "Buffer and Arithmetic Levels\n----------------------------\n");
	add_multipliers(&text, report);
	for (int i = 0, number = 0; i < report->hierarchy->level_count; i++) {
		number++;
		if (nest_report_shows(report, i))
			add_level(&text, report, i, number);
	}
	add_networks(&text, report);
	double ops = add_operations(&text, report);
	for (int i = 0; i < report->hierarchy->level_count; i++)
		add_intensity(&text, report, i, ops);
	text_add(&text, "\n\nSummary Stats\n-------------\n");
	text_add(&text, "GFLOPs (@1GHz): %.2f\n",
		(double)((float)ops / (float)number_max(1, score->cycles)));
	text_add(&text, "Utilization: %.2f%%\n", 100 * score->utilization);
	text_add(&text, "Cycles: %" PRId64 "\n", score->cycles);
	text_add(&text, "Energy: %.2f uJ\n", score->energy_pj / 1e6);
	text_add(&text, "EDP(J*cycle): %.2e\n",
		(double)(float)score->cycles * score->energy_pj / 1e12);
	text_add(&text, "Area: 0.00 mm^2\n\n");
	add_energies(&text, report);
	return text_read(&text);
}
