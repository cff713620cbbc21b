#include "base/arena.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/command_network.h"
#include "report/nest/mapspace_check_report.h"

#include <inttypes.h>
#include <stdio.h>

/* The worse of two: impossible, then undecided. */
static enum exit_status worse(enum exit_status a, enum exit_status b)
{
	if (a == EXIT_IMPOSSIBLE || b == EXIT_IMPOSSIBLE)
		return EXIT_IMPOSSIBLE;
	return a == EXIT_NOTHING || b == EXIT_NOTHING ? EXIT_NOTHING : EXIT_FOUND;
}

int command_network_check(struct arena *arena, const struct arguments *arguments,
	const struct network_inputs *inputs, struct diag *diag)
{
	const struct network *network = inputs->network;
	enum exit_status status = EXIT_FOUND;
	struct text text = text_open(arena);
	const struct option_value *format = option_find(arguments, "format");
	if (format) {
		diag_error(diag, format->span,
			"'--format' is for a single problem; this is a network");
		return command_refuse(diag);
	}
	for (size_t l = 0; l < network->layer_count; l++) {
		const struct layer *layer = &network->layers[l];
		if (layer->same_as != l) {
			text_add(&text, "%s: as %s\n", layer->name,
				network->layers[layer->same_as].name);
			continue;
		}
		size_t errors = diag_errors(diag);
		struct mapspace_check check = mapspace_check(inputs->layers[l]->domain,
			inputs->layers[l]->constraints, NULL, diag, arena);
		struct mapspace_check_report report = {.check = &check};
		if (diag_errors(diag) != errors)
			diag_note(diag, layer->span, "for layer '%s'", layer->name);
		if (!check.contradictory && check.feasible.verdict == VERDICT_YES) {
			text_add(&text, "%s: fits, %s mappings\n", layer->name, check.narrowed.all);
			continue;
		}
		text_add(&text, "%s: %s", layer->name, mapspace_check_text(arena, &report));
		status = worse(status, mapspace_check_status(&check));
	}
	text_add(&text, "%s: %zu layers, %zu of them different, %" PRId64 " with their counts\n",
		network->name, network->layer_count, network->distinct,
		network_occurrences(network));
	diag_print(diag, stderr);
	command_print(text_read(&text));
	return status;
}
