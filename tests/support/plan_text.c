#include "tests/support/plan_text.h"

#include "base/arena.h"
#include "base/fatal.h"
#include "model/graph/workload_read.h"
#include "spec/sheet.h"
#include "tests/support/spyre.h"

#include <stdlib.h>
#include <string.h>

static const struct workload *read_workload(struct arena *arena, const char *text)
{
	struct diag *diag = diag_open(arena);
	struct sheet *sheet = sheet_open(arena, diag);
	const struct node *node = node_read_text(arena, "text", text, strlen(text), diag);
	struct reading reading = sheet_reading(sheet);
	const struct workload *workload = node ? workload_read(&reading, node, NULL) : NULL;
	if (!workload || diag_failed(diag)) {
		diag_print(diag, stderr);
		BUG("no workload");
	}
	return workload;
}

static void read_step(
	struct arena *arena, const struct plan *plan, struct step *step, const char *text)
{
	const struct op *op = &plan->workload->ops[step->op];
	char *mapping = arena_text(arena, text), *slash = strrchr(mapping, '/');
	if (slash) {
		step->bundle = atoi(slash + 1);
		*slash = '\0';
	}
	step->mapping = mapping_make(plan->arch, op);
	if (mapping[strspn(mapping, " ")] == '\0')
		return;
	const char *why = mapping_parse(arena, plan->arch, op, mapping, &step->mapping);
	if (why)
		BUG("mapping '%s' of op '%s': %s", mapping, op->name, why);
}

static void read_stay(const struct plan *plan, struct residency *stay, const char *text)
{
	char tensor[64], parent[64] = "";
	long long address;
	const char *view = strchr(text, ',');
	int fields = sscanf(text, "%63s at %lld steps %d %d in place of %63[^,]", tensor, &address,
		&stay->from, &stay->to, parent);
	stay->tensor = workload_tensor(plan->workload, tensor);
	if (fields < 4 || !view || stay->tensor < 0 || view_parse(view + 1, &stay->view))
		BUG("stay '%s'", text);
	stay->place = PLACE_LX;
	stay->address = address;
	stay->size = view_bytes(&plan->workload->tensors[stay->tensor].layout, &stay->view);
	stay->in_place_of = workload_tensor(plan->workload, parent);
}

static int count_texts(const char *const *texts)
{
	int count = 0;
	while (texts[count])
		count++;
	return count;
}

struct plan *plan_of(struct arena *arena, int cores, const struct workload *workload,
	const char *const *mappings, const char *const *stays)
{
	struct plan *plan = arena_new(arena, struct plan);
	*plan = (struct plan){
		.arch = spyre_arch(arena, cores),
		.workload = workload,
		.cores = cores,
		.step_count = (int)workload->op_count,
		.steps = arena_array(arena, struct step, workload->op_count),
		.residency_count = count_texts(stays),
		.residencies = arena_array(arena, struct residency, count_texts(stays)),
	};
	if (count_texts(mappings) != plan->step_count)
		BUG("%d mappings for %d ops", count_texts(mappings), plan->step_count);
	for (int s = 0; s < plan->step_count; s++) {
		plan->steps[s].op = s;
		read_step(arena, plan, &plan->steps[s], mappings[s]);
	}
	for (int i = 0; i < plan->residency_count; i++)
		read_stay(plan, &plan->residencies[i], stays[i]);
	return plan;
}

struct plan *plan_text(struct arena *arena, int cores, const char *workload,
	const char *const *mappings, const char *const *stays)
{
	return plan_of(arena, cores, read_workload(arena, workload), mappings, stays);
}
