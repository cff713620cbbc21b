#include "model/nest/shape_named.h"

#include "base/arena.h"
#include "base/text.h"
#include "spec/reader.h"

#include <string.h>

const char *const shape_named_names[] = {"cnn-layer", "gemm-ABZ", "gemm", NULL};
const char *const shape_named_default = "cnn-layer";

/* In the order of shape_named_names. */
static const char *const texts[] = {
	"name: CNN-Layer\n"
	"dimensions: [R, S, P, Q, C, K, N]\n"
	"coefficients:\n"
	"- {name: Wstride, default: 1}\n"
	"- {name: Hstride, default: 1}\n"
	"- {name: Wdilation, default: 1}\n"
	"- {name: Hdilation, default: 1}\n"
	"data_spaces:\n"
	"- {name: Weights, projection: [C, K, R, S]}\n"
	"- {name: Inputs, projection: [N, C, R*Wdilation + P*Wstride, S*Hdilation + Q*Hstride]}\n"
	"- {name: Outputs, projection: [N, K, Q, P], read_write: true}\n",

	"name: gemm-ABZ\n"
	"dimensions: [M, N, K]\n"
	"data_spaces:\n"
	"- {name: A, projection: [M, K]}\n"
	"- {name: B, projection: [N, K]}\n"
	"- {name: Z, projection: [M, N], read_write: true}\n",

	"name: gemm\n"
	"dimensions: [M, N, K]\n"
	"data_spaces:\n"
	"- {name: A, projection: [M, K]}\n"
	"- {name: B, projection: [N, K]}\n"
	"- {name: C, projection: [M, N]}\n"
	"- {name: D, projection: [M, N], read_write: true}\n",
};

/* The name of the file without its ending, '-' for '_'. */
static const char *plain_name(struct arena *arena, const char *name)
{
	static const char *const endings[] = {".yaml", ".yml", ".cfg"};
	char *plain = arena_text(arena, name);
	size_t length = strlen(plain);
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
		size_t ending = strlen(endings[i]);
		if (length > ending && text_equal(plain + length - ending, endings[i])) {
			plain[length - ending] = '\0';
			break;
		}
	}
	for (char *at = plain; *at; at++)
		if (*at == '_')
			*at = '-';
	return plain;
}

const struct node *shape_named(const struct reading *reading, const char *name)
{
	const char *plain = plain_name(reading->arena, name);
	for (int i = 0; shape_named_names[i]; i++)
		if (text_equal(shape_named_names[i], plain))
			return node_read_text(reading->arena,
				arena_format(reading->arena, "shape %s", shape_named_names[i]),
				texts[i], strlen(texts[i]), reading->diag);
	return NULL;
}

/* A word for a shape that is neither a key of `shapes` nor shipped with Timeloop. */
static void refuse_shape(
	const struct reading *reading, const struct node *written, const struct node *shapes)
{
	struct text list = text_open(reading->arena);
	const char **names =
		arena_array(reading->arena, const char *, 8 + (shapes ? shapes->count : 0));
	size_t count = 0;
	for (size_t i = 0; shapes && i < shapes->count; i++)
		names[count++] = shapes->entries[i].key;
	for (int i = 0; shape_named_names[i]; i++) {
		names[count++] = shape_named_names[i];
		text_add(&list, "%s%s", i ? ", " : "", shape_named_names[i]);
	}
	const char *near = diag_full(reading->diag) ? NULL : suggest(written->text, names);
	reading_refuse(reading, written, "unknown shape '%s'; %s%s%s", written->text,
		near ? "did you mean '"
		     : "write its dimensions and data_spaces here, or name one of ",
		near ? near : text_read(&list), near ? "'?" : "");
}

const struct node *shape_named_find(
	const struct reading *reading, const struct node *written, const struct node *shapes)
{
	if (written->kind != NODE_SCALAR)
		return written;
	const struct node *found = node_find(shapes, written->text);
	if (!found)
		found = shape_named(reading, written->text);
	if (!found)
		refuse_shape(reading, written, shapes);
	return found;
}
