#include "cli/graph_inputs.h"

#include "base/arena.h"
#include "base/text.h"
#include "sim/machine/kernel.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static char *tensor_element(const struct tensor *tensor, void *array, int64_t i)
{
	return (char *)array + i * dtype_stored_bytes(tensor->layout.dtype);
}

/* Reads all numbers of one line; false: they are too few, too many or no numbers. */
static bool tensor_read_numbers(const struct tensor *tensor, const char *text, void *array)
{
	int64_t count = layout_elements(&tensor->layout), read = 0;
	for (;; read++) {
		char *end;
		double number = strtod(text, &end);
		if (end == text)
			break;
		if (read < count)
			kernel_store(tensor->layout.dtype, tensor_element(tensor, array, read),
				(float)number);
		text = end;
	}
	return read == count && !text[strspn(text, " \t\r")];
}

static bool values_read_line(struct arena *arena, const struct workload *workload, char *line,
	struct span span, void **arrays, struct diag *diag)
{
	char *colon = strchr(line, ':');
	if (!colon) {
		diag_error(diag, span, "the line is not 'name: numbers'");
		return false;
	}
	*colon = '\0';
	int t = workload_tensor(workload, line);
	if (t < 0 || workload->tensors[t].role != TENSOR_INPUT) {
		diag_error(diag, span, "'%s' is not an input of the workload", line);
		return false;
	}
	const struct tensor *tensor = &workload->tensors[t];
	int64_t count = layout_elements(&tensor->layout);
	arrays[t] = arena_alloc_array(
		arena, (size_t)count, (size_t)dtype_stored_bytes(tensor->layout.dtype));
	if (tensor_read_numbers(tensor, colon + 1, arrays[t]))
		return true;
	diag_error(diag, span, "'%s' needs %" PRId64 " numbers, one for each element", line, count);
	return false;
}

void **graph_values_read(
	struct arena *arena, const struct workload *workload, const char *path, struct diag *diag)
{
	struct source *source = arena_new(arena, struct source);
	const char *bytes = text_of_file(arena, path);
	*source = (struct source){.name = path, .bytes = bytes ? bytes : ""};
	source->length = strlen(source->bytes);
	struct span span = {
		.source = source, .line = 1, .column = 1, .end_line = 1, .end_column = 1};
	if (!bytes) {
		diag_error(diag, (struct span){.source = source}, "cannot read '%s': %s", path,
			strerror(errno));
		return NULL;
	}
	void **arrays = arena_array(arena, void *, workload->tensor_count + 1);
	char *rest = arena_text(arena, bytes);
	for (char *line; (line = strsep(&rest, "\n")); span.line = ++span.end_line)
		if (line[strspn(line, " \t\r")] &&
			!values_read_line(arena, workload, line, span, arrays, diag))
			return NULL;
	return arrays;
}

const char *graph_values_text(
	struct arena *arena, const struct workload *workload, void *const *arrays)
{
	struct text text = text_open(arena);
	for (size_t t = 0; t < workload->tensor_count; t++) {
		const struct tensor *tensor = &workload->tensors[t];
		if (tensor->role != TENSOR_OUTPUT || !arrays[t])
			continue;
		text_add(&text, "%s:", tensor->name);
		int64_t count = layout_elements(&tensor->layout);
		for (int64_t i = 0; i < count; i++)
			text_add(&text, " %.9g",
				(double)kernel_load(tensor->layout.dtype,
					tensor_element(tensor, arrays[t], i)));
		text_add(&text, "\n");
	}
	return text_read(&text);
}
