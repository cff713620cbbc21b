#include "tests/support/space_time_text.h"

#include "base/arena.h"
#include "model/graph/workload_read.h"
#include "model/nest/shape.h"
#include "spec/node.h"
#include "tests/support/complaints.h"

#include <string.h>

#include "tests/test.h"

static const struct node *parse(
	struct arena *arena, struct diag *diag, const char *name, const char *text)
{
	return text ? node_read_text(arena, name, text, strlen(text), diag) : NULL;
}

bool space_time_of_text(struct arena *arena, struct diag *diag, const struct space_time_text *text,
	struct space_time *out)
{
	struct reading reading = {.arena = arena, .diag = diag};
	const struct node *spec = parse(arena, diag, "spec.yaml", text->spec);
	const struct node *plan = parse(arena, diag, "plan.yaml", text->plan);
	const struct node *list = parse(arena, diag, "constraints.yaml", text->constraints);
	if (diag_failed(diag) || !spec)
		return false;
	size_t count = list ? list->count : 0;
	const struct node **targets = arena_array(arena, const struct node *, count + 1);
	for (size_t i = 0; i < count; i++)
		targets[i] = list->items[i];
	const struct node *problem = node_find(spec, "problem");
	const struct node *workload = node_find(spec, "workload");
	const struct space_time_beside beside = {
		.plan = plan ? node_find(plan, "projection") : NULL,
		.problem = problem ? shape_read(&reading, problem) : NULL,
		.workload = workload ? workload_read(&reading, workload, NULL) : NULL,
		.targets = targets,
	};
	return !diag_failed(diag) &&
	       space_time_read(&reading, node_find(spec, "space_time"), &beside, out);
}

struct space_time space_time_given(struct arena *arena, const struct space_time_text *text)
{
	struct diag *diag = diag_open(arena);
	struct space_time spec;
	if (!space_time_of_text(arena, diag, text, &spec))
		fail_msg("%s", complaints_text(arena, diag));
	return spec;
}

struct space_time space_time_alone(struct arena *arena, const char *spec)
{
	return space_time_given(arena, &(struct space_time_text){.spec = spec});
}
