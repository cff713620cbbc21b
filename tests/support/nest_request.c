#include "tests/support/nest_request.h"

#include "base/arena.h"
#include "constraints/constraints.h"
#include "model/machine/arch_read.h"
#include "model/machine/ert.h"
#include "spec/sheet.h"

#include <string.h>

static bool read_problem(
	struct sheet *sheet, const struct reading *reading, struct nest_search *out)
{
	const struct node *energies = sheet_find(sheet, "ERT");
	out->arch = arch_read(reading, sheet_find(sheet, "architecture"));
	out->shape = shape_read(reading, sheet_find(sheet, "problem"));
	if (out->arch && energies)
		out->arch = ert_read(reading, energies, out->arch);
	return out->arch && out->shape;
}

bool nest_request_read(struct arena *arena, struct diag *diag, const char *const *paths,
	size_t count, const char *text, struct nest_search *out)
{
	struct sheet *sheet = sheet_open(arena, diag);
	for (size_t i = 0; i < count; i++)
		sheet_add_file(sheet, paths[i]);
	if (text)
		sheet_add(sheet, node_read_text(arena, "text", text, strlen(text), diag));
	struct reading reading = sheet_reading(sheet);
	if (diag_failed(diag) || !read_problem(sheet, &reading, out))
		return false;
	struct hierarchy *hierarchy = hierarchy_make(arena, out->arch, out->shape, diag);
	if (!hierarchy)
		return false;
	hierarchy_price(hierarchy, arena, out->arch, out->counting);
	struct constraint_context context = {.reading = &reading,
		.arch = out->arch,
		.shape = out->shape,
		.timeloop = out->counting == COUNTING_TIMELOOP};
	struct constraints *constraints = arena_new(arena, struct constraints);
	*constraints = constraints_read(&context, constraints_lists(sheet, arena));
	constraints_flag(constraints, hierarchy);
	struct domain *domain = domain_make(arena, out->arch, out->shape, hierarchy);
	if (!constraints_narrow(constraints, domain, diag))
		return false;
	out->hierarchy = hierarchy;
	out->constraints = constraints;
	out->domain = domain;
	out->space = space_make(arena, domain);
	out->model = nest_model_make(arena, hierarchy, out->shape, out->counting);
	return !diag_failed(diag);
}
