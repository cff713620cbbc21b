#include "tests/support/workload_text.h"

#include "base/arena.h"
#include "base/fatal.h"
#include "model/graph/workload_read.h"
#include "spec/sheet.h"
#include "tests/support/complaints.h"

#include <string.h>

const char softmax_yaml[] = "workload:\n"
			    "  name: softmax\n"
			    "  dimensions: {m: 512, n: 1024}\n"
			    "  ops:\n"
			    "    - mx[n] = max(m) x[m,n]\n"
			    "    - s[m,n] = x[m,n] - mx[n]\n"
			    "    - e[m,n] = exp(s[m,n])\n"
			    "    - d[n] = sum(m) e[m,n]\n"
			    "    - y[m,n] = e[m,n] / d[n]\n";

static const struct workload *read_sheet(struct arena *arena, struct sheet *sheet,
	const struct level *home, struct diag *diag, const char **complaints)
{
	struct reading reading = sheet_reading(sheet);
	const struct node *node = sheet_find(sheet, "workload");
	const struct workload *workload = node ? workload_read(&reading, node, home) : NULL;
	if (complaints)
		*complaints = complaints_text(arena, diag);
	return diag_failed(diag) ? NULL : workload;
}

const struct workload *workload_of_text(
	struct arena *arena, const char *yaml, const char **complaints)
{
	return workload_at_home(arena, yaml, NULL, complaints);
}

const struct workload *workload_at_home(
	struct arena *arena, const char *yaml, const struct level *home, const char **complaints)
{
	struct diag *diag = diag_open(arena);
	struct sheet *sheet = sheet_open(arena, diag);
	const struct node *root = node_read_text(arena, "w.yaml", yaml, strlen(yaml), diag);
	if (root)
		sheet_add(sheet, root);
	return read_sheet(arena, sheet, home, diag, complaints);
}

const struct workload *workload_of_file(
	struct arena *arena, const char *path, const char **complaints)
{
	struct diag *diag = diag_open(arena);
	struct sheet *sheet = sheet_open(arena, diag);
	sheet_add_file(sheet, path);
	return read_sheet(arena, sheet, NULL, diag, complaints);
}

const struct workload *workload_given(struct arena *arena, const char *yaml)
{
	const char *complaints;
	const struct workload *workload = workload_of_text(arena, yaml, &complaints);
	if (!workload)
		BUG("%s\n%s", yaml, complaints);
	return workload;
}
