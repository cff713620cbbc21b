#include "base/arena.h"
#include "base/fatal.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/settings.h"
#include "cli/spec_files.h"
#include "model/nest/network_graph.h"
#include "report/run/folder.h"
#include "spec/sheet.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

EMBED(starter_arch, "specs/starter/arch.yaml");
EMBED(starter_workload, "specs/starter/workload.yaml");
EMBED(starter_constraints, "specs/starter/constraints.yaml");
EMBED(starter_search, "specs/starter/search.yaml");
EMBED(starter_sweep, "specs/starter/sweep/sweep.yaml");

extern const char starter_arch[], starter_workload[], starter_constraints[], starter_search[],
	starter_sweep[];

static const struct starter_file {
	const char *name, *text;
} starter_files[] = {
	{"arch.yaml", starter_arch},
	{"workload.yaml", starter_workload},
	{"constraints.yaml", starter_constraints},
	{"search.yaml", starter_search},
	{"sweep/sweep.yaml", starter_sweep},
};
enum { FILES = sizeof starter_files / sizeof *starter_files };

/* Complains of the first file that is there already. */
static void refuse_present(struct diag *diag, struct span span, const char *const *paths)
{
	struct stat facts;
	for (size_t i = 0; i < FILES && !diag_failed(diag); i++)
		if (lstat(paths[i], &facts) == 0)
			diag_error(diag, span,
				"'%s' exists already, and init overwrites nothing; name another folder",
				paths[i]);
}

static void write_new(struct arena *arena, const char *path, const char *text)
{
	fatal_if(folder_parents(arena, path));
	if (!file_create(path, text, strlen(text), false))
		fatal("cannot write '%s': %s", path, strerror(errno));
}

static int run_init(struct arena *arena, const struct arguments *arguments, struct diag *diag)
{
	const char *folder = arguments->count ? arguments->at[0] : ".";
	struct span span = arguments->count ? arguments->spans[0] : (struct span){0};
	size_t length = strlen(folder);
	const char *paths[FILES];
	struct text text = text_open(arena);
	if (arguments->count > 1)
		diag_error(diag, arguments->spans[1], "init needs one folder");
	if (!length)
		diag_error(diag, span, "the name of the folder is empty");
	while (length > 1 && folder[length - 1] == '/')
		length--;
	for (size_t i = 0; i < FILES; i++)
		paths[i] =
			arena_format(arena, "%.*s/%s", (int)length, folder, starter_files[i].name);
	refuse_present(diag, span, paths);
	if (diag_failed(diag))
		return command_refuse(diag);
	for (size_t i = 0; i < FILES; i++) {
		write_new(arena, paths[i], starter_files[i].text);
		text_add(&text, "%s\n", paths[i]);
	}
	command_print(text_read(&text));
	fprintf(stderr, "next: lxplore explore %.*s\n", (int)length, folder);
	return EXIT_FOUND;
}

const struct command command_init = {
	.name = "init",
	.usage = "[FOLDER]",
	.summary = "writes a commented set of specs to begin with",
	.manual =
		"Writes arch.yaml, workload.yaml, constraints.yaml, search.yaml and\n"
		"sweep/sweep.yaml into the folder (default: the current one), and prints their\n"
		"paths.  A file that is there already is not overwritten: then nothing is written\n"
		"at all.\n"
		"\n"
		"example: lxplore init mine && lxplore explore mine\n"
		"         lxplore campaign run mine/sweep\n",
	.run = run_init,
};

static void print_summary(const char *path, const struct import_summary *summary)
{
	FILE *people = command_people();
	utf8_print(people, "%s: %d ops of the model, %d ops of the workload\n", path,
		summary->calls, summary->ops);
	utf8_print(people, "  multiply-adds: %lld of convolutions, %lld of products\n",
		(long long)summary->convolution_macs, (long long)summary->product_macs);
	utf8_print(people, "  weights: %lld bytes\n", (long long)summary->weight_bytes);
	utf8_print(people, "  folded: %d ops became views or constants; %d reshapes copy\n",
		summary->folded, summary->copies);
	utf8_print(people, "  opaque: %d", summary->opaque);
	for (size_t i = 0; i < summary->opaque_names.count; i++)
		utf8_print(people, "%s%s", i ? ", " : ": ", summary->opaque_names.at[i]);
	utf8_print(people, "\n");
	for (size_t i = 0; i < summary->notes.count; i++)
		utf8_print(people, "  note: %s\n", summary->notes.at[i]);
}

/* The graph of a network's layers; NULL after complaining. */
static const char *import_network(
	struct arena *arena, const struct arguments *arguments, struct diag *diag)
{
	static const char key[] = "network";
	const char *path = arguments->at[0];
	const struct option_value *as = option_find(arguments, "as");
	if (as && text_equal(as->text, "network"))
		diag_error(diag, as->span, "a network is imported as a graph; leave '--as' out");
	struct sheet *sheet = sheet_open(arena, diag);
	sheet_know(sheet, key);
	sheet_add_file(sheet, path);
	struct reading reading = sheet_reading(sheet);
	const struct node *node = sheet_find(sheet, key);
	if (!node && !diag_failed(diag))
		diag_error(diag, (struct span){0},
			"'%s' has no 'network', and the name of a model ends in .onnx or .mlir",
			path);
	const struct network *network = node ? network_read(&reading, node) : NULL;
	return network ? network_graph(&reading, network) : NULL;
}

static int run(struct arena *arena, const struct arguments *arguments, struct diag *diag)
{
	struct import_wishes wishes = {0};
	struct import_summary summary;
	const struct option_value *output = option_find(arguments, "output");
	if (arguments->count != 1)
		diag_error(diag, arguments->count ? arguments->spans[1] : (struct span){0},
			"import reads one model, a .onnx or .mlir file, or one network");
	if (diag_failed(diag) || !model_wishes(arena, arguments, diag, &wishes))
		return command_refuse(diag);
	const char *path = arguments->at[0];
	bool is_model = import_is_model(path);
	const char *text = is_model ? import_file(arena, path, &wishes, diag, &summary)
				    : import_network(arena, arguments, diag);
	if (!text)
		return command_refuse(diag);
	diag_print(diag, command_people());
	if (output)
		command_write(arena, output->text, text);
	else
		command_print(text);
	if (is_model)
		print_summary(path, &summary);
	return EXIT_FOUND;
}

const struct command command_import = {
	.name = "import",
	.usage = "MODEL [-o FILE]",
	.summary = "writes an ONNX or MLIR model, or a network, as a workload graph",
	.manual = "Reads a .onnx file, or a .mlir file of StableHLO or TTIR, and writes its graph\n"
		  "to FILE or to stdout. Weights are not loaded. The summary goes to stderr:\n"
		  "ops, multiply-adds, bytes of weights, what was folded and what became opaque.\n"
		  "All commands that read specs take the model itself in place of a workload.\n"
		  "Of a .yaml file with a network it writes the graph of the layers.\n"
		  "\n"
		  "example: lxplore import resnet18.onnx -o resnet18.yaml\n",
	.bit = OF_IMPORT,
	.run = run,
};
