#include "report/packing/unfit_yaml.h"

#include "base/text.h"
#include "report/run/json_text.h"

#include <inttypes.h>
#include <stdlib.h>

enum { LINE_MOST = 90 };

static void add_buffer(struct text *text, const struct buffer *buffer)
{
	const char *word = json_dump(text->arena, json_string(buffer->name), JSON_ENCODE_ANY);
	text_add(text, "  - {id: %s, lower: %" PRId64 ", upper: %" PRId64 ", size: %" PRId64 "}\n",
		word, buffer->start, buffer->end, buffer->size);
}

static void add_tree(struct text *text, const struct unfit_proof *proof)
{
	size_t line = 0;
	text_add(text, "  proof:");
	for (size_t i = 0; i < proof->count; i++) {
		const struct unfit_node *node = &proof->nodes[i];
		if (i == 0 || text->length - line > LINE_MOST) {
			text_add(text, "\n  -");
			line = text->length;
		}
		if (node->a < 0)
			text_add(text, " x");
		else
			text_add(text, " %d/%d", node->a, node->b);
	}
	text_add(text, "\n");
}

const char *unfit_yaml(
	struct arena *arena, const struct packing *packing, const struct unfit_proof *proof)
{
	struct text text = text_open(arena);
	size_t leaves = 0;
	for (size_t i = 0; i < proof->count; i++)
		leaves += proof->nodes[i].a < 0;
	text_add(&text,
		"certificate:\n  version: 1\n  claim: does not fit\n  capacity: %" PRId64
		"\n  alignment: %" PRId64 "\n  reserved: [",
		packing->capacity, packing->alignment);
	for (size_t i = 0; i < packing->reserved_count; i++)
		text_add(&text, "%s[%" PRId64 ", %" PRId64 "]", i ? ", " : "",
			packing->reserved[i].from, packing->reserved[i].to);
	text_add(&text, "]\n  buffers:\n");
	for (size_t i = 0; i < packing->count; i++)
		add_buffer(&text, &packing->buffers[i]);
	text_add(&text, "  forks: %zu\n  leaves: %zu\n", proof->count - leaves, leaves);
	add_tree(&text, proof);
	return text_read(&text);
}
