#include "cli/model_file.h"

#include "base/arena.h"
#include "base/text.h"
#include "spec/step.h"

#include <stdlib.h>
#include <string.h>

/* "batch=1,sequence=512" */
static bool read_dims(struct arena *arena, const struct option_value *value, struct diag *diag,
	struct dim_settings *out)
{
	for (const char *at = value->text; *at;) {
		size_t length = strcspn(at, ",");
		const char *part = arena_format(arena, "%.*s", (int)length, at);
		const char *equals = strrchr(part, '=');
		char *end = NULL;
		long long extent = equals ? strtoll(equals + 1, &end, 10) : 0;
		if (!equals || equals == part || *end || extent < 1 || extent >> DIM_MOST_LOG2) {
			diag_error(diag, value->span,
				"'%s' is no 'name=extent' with an extent from 1 to 2^31 - 1", part);
			return false;
		}
		*array_add(arena, out) = (struct dim_setting){
			arena_format(arena, "%.*s", (int)(equals - part), part), extent,
			value->span, false};
		at += length + (at[length] == ',');
	}
	return true;
}

bool model_wishes(struct arena *arena, const struct arguments *arguments, struct diag *diag,
	struct import_wishes *out)
{
	*out = (struct import_wishes){.strict = option_find(arguments, "strict") != NULL};
	for (size_t i = 0; i < arguments->option_count; i++)
		if (text_equal(arguments->options[i].option->name, "dim") &&
			!read_dims(arena, &arguments->options[i], diag, &out->dims))
			return false;
	return true;
}

const struct node *model_or_spec(struct arena *arena, const struct arguments *arguments,
	const char *path, const char *const *folders, struct diag *diag)
{
	struct import_wishes wishes;
	struct import_summary summary;
	if (!import_is_model(path))
		return node_read_file_within(arena, path, folders, diag);
	if (!model_wishes(arena, arguments, diag, &wishes))
		return NULL;
	const char *text = import_file(arena, path, &wishes, diag, &summary);
	return text ? node_read_text(arena, path, text, strlen(text), diag) : NULL;
}
