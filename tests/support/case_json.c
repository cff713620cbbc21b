#include "tests/support/case_json.h"

int64_t case_integer(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

int64_t case_integer_or(const json_t *object, const char *key, int64_t otherwise)
{
	const json_t *value = json_object_get(object, key);
	return value ? json_integer_value(value) : otherwise;
}

const char *case_text(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));
	return text ? text : "";
}
