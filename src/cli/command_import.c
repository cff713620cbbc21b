#include "base/arena.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/model_file.h"
#include "cli/settings.h"

#include <stdio.h>

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

static int run(struct arena *arena, const struct arguments *arguments, struct diag *diag)
{
	struct import_wishes wishes = {0};
	struct import_summary summary;
	const struct option_value *output = option_find(arguments, "output");
	if (arguments->count != 1)
		diag_error(diag, arguments->count ? arguments->spans[1] : (struct span){0},
			"import reads one model, a .onnx or .mlir file");
	else if (!import_is_model(arguments->at[0]))
		diag_error(diag, arguments->spans[0],
			"'%s' is no model; its name must end in .onnx or .mlir", arguments->at[0]);
	if (diag_failed(diag) || !model_wishes(arena, arguments, diag, &wishes))
		return command_refuse(diag);
	const char *text = import_file(arena, arguments->at[0], &wishes, diag, &summary);
	if (!text)
		return command_refuse(diag);
	diag_print(diag, command_people());
	if (output)
		command_write(arena, output->text, text);
	else
		command_print(text);
	print_summary(arguments->at[0], &summary);
	return EXIT_FOUND;
}

const struct command command_import = {
	.name = "import",
	.usage = "MODEL [-o FILE]",
	.summary = "writes an ONNX or MLIR model as a workload graph",
	.manual = "Reads a .onnx file, or a .mlir file of StableHLO or TTIR, and writes its graph\n"
		  "to FILE or to stdout. Weights are not loaded. The summary goes to stderr:\n"
		  "ops, multiply-adds, bytes of weights, what was folded and what became opaque.\n"
		  "All commands that read specs take the model itself in place of a workload.\n"
		  "\n"
		  "example: lxplore import resnet18.onnx -o resnet18.yaml\n",
	.bit = OF_IMPORT,
	.run = run,
};
