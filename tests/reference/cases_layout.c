#include "model/machine/layout.h"
#include "tests/support/case_graph.h"
#include "tests/support/lookups.h"
#include "tests/support/tally.h"

#include <stdlib.h>
#include <string.h>

/*
 * Family division-and-lx: the device layouts of encoding.json and those of every
 * buffer of the other files.
 */
enum { NUMBERS_MOST = 16 };

/* Reads as many numbers as fit and returns the count, which shows if those were all. */
static int read_numbers(const json_t *list, int64_t *out)
{
	size_t i;
	const json_t *item;
	json_array_foreach(list, i, item)
		if (i < NUMBERS_MOST)
			out[i] = json_integer_value(item);
	return (int)json_array_size(list);
}

static bool equal_numbers(const json_t *list, const int64_t *numbers, int count)
{
	int64_t expected[NUMBERS_MOST] = {0};
	if (json_array_size(list) != (size_t)count)
		return false;
	read_numbers(list, expected);
	return !memcmp(expected, numbers, (size_t)count * sizeof *numbers);
}

static bool check_layout(const json_t *buffer, const char *size_key)
{
	const json_t *order_list = json_object_get(buffer, "dim_order");
	int64_t host[NUMBERS_MOST] = {0}, order_numbers[NUMBERS_MOST] = {0};
	int order[NUMBERS_MOST] = {0};
	int host_rank = read_numbers(json_object_get(buffer, size_key), host);
	int order_count = read_numbers(order_list, order_numbers);
	for (int i = 0; i < NUMBERS_MOST; i++)
		order[i] = (int)order_numbers[i];
	const char *name = json_string_value(json_object_get(buffer, "dtype"));
	enum dtype dtype;
	struct layout layout;
	if (!name || !dtype_parse(name, &dtype) || order_count > NUMBERS_MOST ||
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
	       (!per_stick || json_integer_value(per_stick) == layout.per_stick) &&
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
			tally_pass(tally);
			continue;
		}
		char *text = json_dumps(buffer, JSON_COMPACT | JSON_ENCODE_ANY);
		tally_fail(tally, where, "expected %s, another layout came", text);
		free(text);
	}
}

static bool check_encoding(const char *root, struct tally *tally)
{
	json_t *file = case_file(root, "division-and-lx", "encoding.json", tally);
	check_list(json_object_get(file, "device_layouts"), "size", "encoding.json", tally);
	bool found = file != NULL;
	json_decref(file);
	return found;
}

static bool check_buffers(const char *root, const char *name, struct tally *tally)
{
	json_t *file = case_file(root, "division-and-lx", name, tally);
	size_t i;
	const json_t *test;
	json_array_foreach(json_object_get(file, "cases"), i, test) {
		const char *where = json_string_value(json_object_get(test, "name"));
		check_list(
			json_object_get(test, "buffers"), "host_size", where ? where : name, tally);
	}
	bool found = file != NULL;
	json_decref(file);
	return found;
}

int main(int argc, char **argv)
{
	const char *root = argc > 1 ? argv[1] : "../shared/cases";
	struct tally tally = {.family = "division-and-lx/layouts"};
	bool found = check_encoding(root, &tally);
	found |= check_buffers(root, "span_reduction.json", &tally);
	found |= check_buffers(root, "work_division_ops.json", &tally);
	found |= check_buffers(root, "graphs.json", &tally);
	return found || tally.failed ? tally_end(&tally) : tally_skip(&tally);
}
