#include "base/text.h"
#include "model/nest/network.h"
#include "spec/quote.h"

#include <inttypes.h>

const char *network_plan_write(struct arena *arena, const char *network, const char *architecture,
	const struct layer_choice *choices, size_t count)
{
	struct text text = text_open(arena);
	text_add(&text, "plan:\n  version: 1\n  network: ");
	quote_yaml(&text, network);
	text_add(&text, "\n  architecture: ");
	quote_yaml(&text, architecture);
	text_add(&text, "\n  layers:\n");
	for (size_t i = 0; i < count; i++) {
		text_add(&text, "  - {layer: ");
		quote_yaml(&text, choices[i].layer);
		text_add(&text, ", count: %" PRId64 ", point: %zu, file: ", choices[i].count,
			choices[i].point);
		quote_yaml(&text, choices[i].file);
		text_add(&text, ", mapping: ");
		quote_yaml(&text, choices[i].mapping);
		text_add(&text, "}\n");
	}
	return text_read(&text);
}
