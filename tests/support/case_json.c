#include "tests/support/case_json.h"

#include "base/fatal.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

json_t *case_file(const char *root, const char *family, const char *name)
{
	char path[1024];
	snprintf(path, sizeof path, "%s/%s/%s", root, family, name);
	if (access(path, R_OK))
		return NULL;
	json_error_t error;
	json_t *file = json_load_file(path, 0, &error);
	if (!file)
		BUG("%s:%d: %s", path, error.line, error.text);
	return file;
}

int64_t case_integer(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

const char *case_text(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));
	if (!text)
		BUG("case without a text '%s'", key);
	return text;
}

json_t *case_keyed(const struct keyed_split *list, int count)
{
	json_t *object = json_object();
	for (int i = 0; i < count; i++) {
		char key[32];
		snprintf(key, sizeof key, "%" PRId64, list[i].coefficient);
		json_object_set_new(object, key, json_integer(list[i].split));
	}
	return object;
}
