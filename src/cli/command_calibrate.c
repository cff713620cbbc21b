#include "base/arena.h"
#include "base/text.h"
#include "calibrate/fit.h"
#include "cli/command.h"
#include "cli/settings.h"
#include "spec/file.h"

#include <math.h>
#include <string.h>

/* Comment lines behind the file: values, intervals, what determines them, errors. */
static const char *write_report(struct arena *arena, const struct machine_file *file,
	const struct fit *fit, const char *table, const char *measured, const char *before)
{
	struct text text = text_open(arena);
	text_add(&text, "%scalibrated against %s; intervals of 95 %% confidence\n", before,
		measured);
	for (size_t a = 0; a < file->count; a++) {
		const struct free_attribute *free = &file->free[a];
		const struct fitted *fitted = &fit->attributes[a];
		text_add(&text, "%s%s.%s: ", before, free->level, free->key);
		if (fitted->determined)
			text_add(&text, "%.4g +- %.2g%s, by rows of %s\n", fitted->value,
				fitted->half, free->unit, fitted->rows);
		else if (fitted->at_end)
			text_add(&text,
				"these rows move it to the end of its range, %.6g%s; left at %.6g%s\n",
				fitted->end, free->unit, fitted->value, free->unit);
		else
			text_add(&text, "not determined by these rows, left at %.6g%s\n",
				free->value, free->unit);
	}
	for (const char *at = table; *at;) {
		size_t length = strcspn(at, "\n");
		text_add(&text, "%s%.*s\n", before, (int)length, at);
		at += length + (at[length] == '\n');
	}
	return text_read(&text);
}

static const char *machine_file_find_table(const struct machine_file *file,
	const struct measured_set *set, const double *values, struct arena *arena,
	struct diag *diag, double *us)
{
	const struct arch *arch = machine_file_make(arena, file, values, diag);
	const struct accuracy *table;
	if (!arch)
		return NULL;
	accuracy_predict(set, arch, us, diag);
	size_t count = accuracy_table(set, us, arena, &table);
	return accuracy_text(arena, table, count, false);
}

static void add_rows(struct text *text, const struct measured_set *set, const double *us)
{
	text_add(text, "line,op,measured_us,predicted_us,peer_us\n");
	for (size_t i = 0; i < set->count; i++) {
		const struct measured *row = &set->rows[i];
		text_add(text, "%d,%s,%.6g,%.6g,%.6g\n", row->line, row->category, row->us, us[i],
			row->peer_us);
	}
}

static bool read_files(struct arena *arena, const struct arguments *arguments, struct diag *diag,
	struct machine_file *file, struct measured_set *set)
{
	if (arguments->count != 2) {
		diag_error(diag, (struct span){0},
			"calibrate takes an architecture and a table: ARCH MEASURED.csv");
		return false;
	}
	const struct source *machine = file_read(arena, arguments->at[0], diag);
	const struct source *table = file_read_table(arena, arguments->at[1], diag);
	return machine && table && machine_file_read(arena, machine, diag, file) &&
	       measured_read(arena, table, diag, set);
}

/* Prints the numbers of rows that count and of others; the lines of skipped ones, if there are more than warnings. */
static void print_counts(struct arena *arena, const struct measured_set *set, const double *us)
{
	size_t unknown = 0;
	for (size_t i = 0; i < set->count; i++)
		unknown += isnan(us[i]);
	if (set->skipped > DIAG_MOST)
		fprintf(command_people(), "skipped lines:%s\n", set->skipped_lines);
	fprintf(command_people(),
		"%zu rows; %zu skipped, %zu left out for a faster division of the same product%s\n",
		set->count - unknown, set->skipped, set->slower,
		unknown ? arena_format(arena, ", %zu without a prediction", unknown) : "");
}

/* Prints the errors of predicted times. */
static int print_errors(struct arena *arena, const struct arguments *arguments, struct diag *diag,
	const struct measured_set *set, const double *us)
{
	enum format format = FORMAT_TEXT;
	const struct option_value *svg = option_find(arguments, "svg");
	const struct accuracy *table;
	if (!command_format(arguments, diag, &format))
		return command_refuse(diag);
	size_t count = accuracy_table(set, us, arena, &table);
	diag_print(diag, command_people());
	struct text text = text_open(arena);
	if (format == FORMAT_CSV)
		add_rows(&text, set, us);
	else
		text_add(&text, "%s",
			accuracy_text(
				arena, table, count, option_find(arguments, "markdown") != NULL));
	if (svg)
		command_write(arena, svg->text, accuracy_svg(arena, set, us));
	command_print(text_read(&text));
	print_counts(arena, set, us);
	return EXIT_FOUND;
}

static bool predict_unfitted(struct arena *arena, const struct machine_file *file,
	const struct measured_set *set, struct diag *diag, double *us)
{
	double values[FREE_MOST];
	for (size_t a = 0; a < file->count; a++)
		values[a] = file->free[a].value;
	const struct arch *arch = machine_file_make(arena, file, values, diag);
	if (arch)
		accuracy_predict(set, arch, us, diag);
	return arch;
}

static int run(struct arena *arena, const struct arguments *arguments, struct diag *diag)
{
	struct machine_file file;
	struct measured_set set;
	struct fit fit;
	const struct option_value *leave = option_find(arguments, "leave-out");
	const char *left_out = leave ? leave->text : NULL;
	int64_t folds = 0;
	if (!option_integer(arguments, "cross-validate", 0, diag, &folds) ||
		!read_files(arena, arguments, diag, &file, &set))
		return command_refuse(diag);
	double *us = arena_array(arena, double, set.count);
	if (option_find(arguments, "check"))
		return predict_unfitted(arena, &file, &set, diag, us)
			       ? print_errors(arena, arguments, diag, &set, us)
			       : command_refuse(diag);
	if (!file.count)
		diag_error(diag, arguments->spans[0],
			"no attribute is free; mark some: 'free: {shared_bandwidth: [120GB/s, "
			"180GB/s]}' beside 'attributes:'");
	if (diag_failed(diag))
		return command_refuse(diag);
	if (folds)
		return fit_folds(&file, &set, (size_t)folds, left_out, arena, diag, us)
			       ? print_errors(arena, arguments, diag, &set, us)
			       : command_refuse(diag);
	if (!fit_machine(&file, &set, left_out, arena, diag, &fit))
		return command_refuse(diag);
	const char *table = machine_file_find_table(&file, &set, fit.values, arena, diag, us);
	const struct option_value *output = option_find(arguments, "output");
	if (!table)
		return command_refuse(diag);
	diag_print(diag, command_people());
	const char *text =
		arena_format(arena, "%s\n%s", machine_file_text(arena, &file, fit.values),
			write_report(arena, &file, &fit, table, arguments->at[1], "# "));
	if (output)
		command_write(arena, output->text, text);
	command_print(
		output ? write_report(arena, &file, &fit, table, arguments->at[1], "") : text);
	print_counts(arena, &set, us);
	return EXIT_FOUND;
}

const struct command command_calibrate = {
	.name = "calibrate",
	.usage = "ARCH MEASURED.csv [-o FILE] [OPTION...]",
	.summary = "fits a machine to measured times, or says how far off it is",
	.manual =
		"Each row of the table is a kernel with its measured time.  It is planned by the\n"
		"published passes on the machine, and the estimate of the plan is compared with\n"
		"the time.  Attributes that the architecture marks as free, within a range,\n"
		"\n"
		"    attributes: {shared_bandwidth: 150GB/s}\n"
		"    free: {shared_bandwidth: [120GB/s, 180GB/s]}\n"
		"\n"
		"are fitted by least squares of the logarithms; the architecture is written with\n"
		"the values found, their intervals of 95 % confidence, the rows that determine\n"
		"each, and the errors that are left.  An attribute that the rows do not determine\n"
		"is named and left as it is.  Rows that cannot be used are named by line.\n"
		"\n"
		"Columns of the table: op (neg, add, sumrow, softmax, mm, ..) with rows and cols,\n"
		"or workload, a file; kernel_us_median or time_us; if wanted cores, lx, tiles, N,\n"
		"batch, io_hbm_bytes and pred_us, another model's prediction.  A row may have a\n"
		"problem and a mapping instead.  specs/measured/README.md describes them.\n"
		"\n"
		"With --check nothing is fitted: the errors of the machine as it is, for each op.\n"
		"With --cross-validate K the errors are those of K machines, each of the shapes\n"
		"that it was not fitted to.\n",
	.reads_specs = false,
	.bit = OF_CALIBRATE,
	.run = run,
};
