#include "model/layout.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

/*
 * Family division-and-lx: the device layouts of encoding.json and those of every
 * buffer of the other files.
 */
struct tally {
	int passed, failed;
};

static int read_numbers(const json_t *list, int64_t *out)
{
	size_t i;
	const json_t *item;
	json_array_foreach(list, i, item)
		out[i] = json_integer_value(item);
	return (int)json_array_size(list);
}

static bool equal_numbers(const json_t *list, const int64_t *numbers, int count)
{
	int64_t expected[16] = {0};
	if (json_array_size(list) != (size_t)count)
		return false;
	read_numbers(list, expected);
	return !memcmp(expected, numbers, (size_t)count * sizeof *numbers);
}

static bool check_layout(const json_t *buffer, const char *size_key)
{
	const json_t *order_list = json_object_get(buffer, "dim_order");
	int64_t host[16] = {0}, order_numbers[16] = {0};
	int order[16] = {0};
	int host_rank = read_numbers(json_object_get(buffer, size_key), host);
	int order_count = read_numbers(order_list, order_numbers);
	for (int i = 0; i < order_count; i++)
		order[i] = (int)order_numbers[i];
	enum dtype dtype;
	struct layout layout;
	if (!dtype_parse(json_string_value(json_object_get(buffer, "dtype")), &dtype) ||
		!layout_make(dtype, host, host_rank, json_is_array(order_list) ? order : NULL,
			order_count, &layout))
		return false;
	const json_t *bytes = json_object_get(buffer, "device_bytes");
	const json_t *itemsize = json_object_get(buffer, "itemsize");
	const json_t *per_stick = json_object_get(buffer, "elems_per_stick");
	const json_t *strides = json_object_get(buffer, "host_stride");
	return equal_numbers(json_object_get(buffer, "device_size"), layout.size, layout.rank) &&
	       equal_numbers(
		       json_object_get(buffer, "stride_map"), layout.stride_map, layout.rank) &&
	       json_integer_value(per_stick) == layout.per_stick &&
	       (!bytes || json_integer_value(bytes) == layout.bytes) &&
	       (!itemsize || json_integer_value(itemsize) == dtype_host_bytes(dtype)) &&
	       (!strides || equal_numbers(strides, layout.host_stride, layout.host_rank));
}

static void check_list(
	const json_t *list, const char *size_key, const char *where, struct tally *tally)
{
	size_t i;
	const json_t *buffer;
	json_array_foreach(list, i, buffer) {
		if (check_layout(buffer, size_key)) {
			tally->passed++;
			continue;
		}
		tally->failed++;
		char *text = json_dumps(buffer, JSON_COMPACT);
		printf("division-and-lx/layouts: %s: expected %s, another layout came\n", where,
			text);
		free(text);
	}
}

static json_t *load(const char *root, const char *file)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/division-and-lx/%s", root, file);
	return json_load_file(path, 0, NULL);
}

static void check_buffers(const char *root, const char *file, struct tally *tally)
{
	json_t *document = load(root, file);
	size_t i;
	const json_t *test;
	json_array_foreach(json_object_get(document, "cases"), i, test)
		check_list(json_object_get(test, "buffers"), "host_size",
			json_string_value(json_object_get(test, "name")), tally);
	json_decref(document);
}

int main(int argc, char **argv)
{
	const char *root = argc > 1 ? argv[1] : "../shared/cases";
	struct tally tally = {0};
	json_t *encoding = load(root, "encoding.json");
	if (!encoding) {
		printf("division-and-lx/layouts: skipped, no %s/division-and-lx\n", root);
		return 0;
	}
	check_list(json_object_get(encoding, "device_layouts"), "size", "encoding.json", &tally);
	json_decref(encoding);
	check_buffers(root, "span_reduction.json", &tally);
	check_buffers(root, "work_division_ops.json", &tally);
	check_buffers(root, "graphs.json", &tally);
	printf("division-and-lx/layouts: %d passed, %d failed\n", tally.passed, tally.failed);
	return tally.failed > 0;
}
