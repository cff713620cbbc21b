#include "base/arena.h"
#include "base/text.h"
#include "cli/kind.h"
#include "cli/report_data.h"
#include "report/run/csv_rows.h"
#include "spec/node.h"

#include <ctype.h>
#include <string.h>
#include <unistd.h>

/* Files of layers that are scored for a page: a second or two. */
enum { LAYERS_MOST = 400 };

bool report_has_layers(struct arena *arena, const char *folder)
{
	return !access(arena_format(arena, "%s/layers.csv", folder), R_OK);
}

/* --- energies */

/* NULL, and why not. */
static json_t *levels_of(struct arena *arena, const struct report_plan *plan, const char **why)
{
	struct inputs inputs;
	if (!report_inputs(arena, plan, diag_open(arena), &inputs, why) || !inputs.kind->details) {
		*why = *why ? *why : arena_format(arena, "'%s' cannot be read", plan->path);
		return NULL;
	}
	json_t *details = inputs.kind->details(&inputs), *list = json_array(), *level;
	size_t i;
	json_array_foreach(json_object_get(json_object_get(details, "score"), "levels"), i, level)
		json_array_append_new(list, json_pack("[O, O]", json_object_get(level, "name"),
						    json_object_get(level, "energy_pj")));
	json_decref(details);
	return list;
}

json_t *report_layers(struct arena *arena, const json_t *run, const char *folder,
	const char *layers_csv, json_t *notes)
{
	json_t *rows = csv_rows(arena, layers_csv), *energies = json_object(), *row;
	struct arena *scratch = arena_open();
	const char *why = NULL;
	size_t i;
	json_array_foreach(rows, i, row) {
		const char *file = json_string_value(json_object_get(row, "plan"));
		if (why || !file || json_object_get(energies, file))
			continue;
		if (json_object_size(energies) == LAYERS_MOST) {
			report_note(notes,
				arena_format(arena,
					"energies of levels are those of the first %d points of "
					"layers",
					LAYERS_MOST));
			break;
		}
		struct arena_mark mark = arena_mark(scratch);
		struct report_plan plan = {
			run, folder, arena_format(scratch, "%s/%s", folder, file), NULL, true};
		json_t *levels = levels_of(scratch, &plan, &why);
		if (levels)
			json_object_set_new(energies, file, levels);
		if (why)
			report_note(notes,
				arena_format(arena, "%s: there are no energies of levels", why));
		arena_release(scratch, mark);
	}
	arena_close(scratch);
	json_decref(rows);
	return energies;
}

/* --- commands */

/* A word as a shell reads it. */
static void add_word(struct text *text, const char *word)
{
	bool plain = *word != '\0';
	for (const char *at = word; *at; at++)
		plain = plain && (isalnum((unsigned char)*at) || strchr("_-+=./,:@%", *at));
	text_add(text, plain ? " " : " '");
	for (const char *at = word; *at; at++)
		if (*at == '\'')
			text_add(text, "'\\''");
		else
			text_bytes(text, at, 1);
	text_add(text, plain ? "" : "'");
}

static const char *text_of(const struct node *layer, const char *key)
{
	const struct node *node = node_find(layer, key);
	return node && node->kind == NODE_SCALAR ? node->text : NULL;
}

/* False, and why not. */
static bool add_layer(struct text *text, const struct report_plan *point, const struct node *layer,
	const char **why)
{
	int count;
	struct arena *arena = text->arena;
	const char *name = text_of(layer, "layer"), *file = text_of(layer, "file");
	const char *times = text_of(layer, "count");
	if (!name || !file || !times)
		return false;
	struct report_plan plan = *point;
	plan.path = arena_format(arena, "%s/%s", point->folder, file);
	plan.layer = true;
	char **line = report_line(arena, &plan, &count, why);
	if (!line)
		return false;
	text_add(text, "# layer '%s', %s\nlxplore score", utf8_shown(arena, name),
		text_equal(times, "1") ? "once" : arena_format(arena, "%s times", times));
	for (int i = 0; i < count; i++)
		add_word(text, line[i]);
	text_add(text, "\n");
	return true;
}

const char *report_layer_commands(
	struct arena *arena, const struct report_plan *plan, struct diag *diag)
{
	const struct node *root = node_read_file(arena, plan->path, diag);
	const struct node *layers = node_find(node_find(root, "plan"), "layers");
	const char *why = NULL;
	struct text text = text_open(arena);
	text_add(&text, "# every layer has a mapping of its own; these commands print them\n");
	if (!root)
		return NULL;
	for (size_t i = 0; layers && i < layers->count && !why; i++)
		if (!add_layer(&text, plan, node_item(layers, i), &why) && !why)
			why = arena_format(arena, "'%s' is not the plan of a network", plan->path);
	if (!layers)
		why = arena_format(arena, "'%s' is not the plan of a network", plan->path);
	if (why)
		diag_error(diag, root->span, "%s", why);
	return why ? NULL : text_read(&text);
}
