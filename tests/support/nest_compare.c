#include "tests/support/nest_compare.h"

#include "base/arena.h"
#include "base/text.h"
#include "cost/nest/nest.h"

#include <inttypes.h>

struct comparison {
	struct text text;
	const char *a_name, *b_name;
};

static void compare(
	struct comparison *comparison, const char *place, const char *what, int64_t a, int64_t b)
{
	if (a != b)
		text_add(&comparison->text, "%s %s: %s %" PRId64 ", %s %" PRId64 "\n", place, what,
			comparison->a_name, a, comparison->b_name, b);
}

const char *nest_counts_differ(struct arena *arena, const struct nest_case *nest,
	const char *a_name, const struct nest_counts *a, const char *b_name,
	const struct nest_counts *b)
{
	struct comparison all = {text_open(arena), a_name, b_name};
	compare(&all, "all", "computes", a->computes, b->computes);
	compare(&all, "all", "compute_cycles", a->compute_cycles, b->compute_cycles);
	compare(&all, "all", "array_cycles", a->array_cycles, b->array_cycles);
	compare(&all, "all", "utilized_computes", a->utilized_computes, b->utilized_computes);
	for (int i = 0; i < nest->hierarchy.level_count; i++) {
		const char *level = nest->hierarchy.levels[i].name;
		compare(&all, level, "utilized", a->utilized[i], b->utilized[i]);
		for (int t = 0; t < nest->shape.space_count; t++) {
			const struct nest_count *x = &a->at[i][t], *y = &b->at[i][t];
			const char *place =
				arena_format(arena, "%s %s", level, nest->shape.spaces[t].name);
			compare(&all, place, "capacity", x->capacity, y->capacity);
			compare(&all, place, "reads", x->reads, y->reads);
			compare(&all, place, "fills", x->fills, y->fills);
			compare(&all, place, "updates", x->updates, y->updates);
			compare(&all, place, "links", x->links, y->links);
			compare(&all, place, "drains", x->drains, y->drains);
		}
	}
	return all.text.length ? text_read(&all.text) : NULL;
}

enum nest_verdict nest_model_verdict(const struct nest_case *nest, struct nest_counts *out)
{
	struct arena *arena = arena_open();
	struct nest_score score;
	const struct nest_model *model =
		nest_model_make(arena, &nest->hierarchy, &nest->shape, COUNTING_EXACT);
	*out = (struct nest_counts){0};
	enum nest_verdict verdict = nest_evaluate(model, &nest->mapping, out, &score);
	arena_close(arena);
	return verdict;
}

bool nest_model_counts(const struct nest_case *nest, struct nest_counts *out)
{
	return nest_verdict_counts(nest_model_verdict(nest, out));
}
