#include "search/language/language.h"

#include "base/arena.h"
#include "base/fatal.h"
#include "base/text.h"

int64_t choose_below(struct choices *choices, int64_t count)
{
	if (choices->random)
		return (int64_t)random_below(choices->random, (uint64_t)count);
	if (choices->depth == CHOICES_MOST)
		BUG("a step of more than %d choices", CHOICES_MOST);
	if (choices->depth == choices->length) {
		choices->at[choices->length] = 0;
		choices->count[choices->length++] = count;
	}
	return choices->at[choices->depth++];
}

int64_t choose_divisor(struct choices *choices, int64_t number)
{
	int64_t count = 0, divisor = 1;
	for (int64_t d = 1; d <= number; d++)
		count += number % d == 0;
	for (int64_t chosen = choose_below(choices, count); number % divisor || chosen--; divisor++)
		;
	return divisor;
}

bool choices_next(struct choices *choices)
{
	/* Later entries are of sequences that went on with other choices. */
	choices->length = choices->depth;
	choices->depth = 0;
	while (choices->length &&
		++choices->at[choices->length - 1] == choices->count[choices->length - 1])
		choices->length--;
	return choices->length > 0;
}

/* True if plans of these settings may have a tensor in LX. */
static bool may_lie(const struct language *language, int t)
{
	const struct planning *planning = language->planning;
	const struct tensor *tensor = &language->workload->tensors[t];
	if (!planning->lx_planning || language->tensors[t].stay == STAY_HBM)
		return false;
	if (tensor->producer >= 0)
		return name_list_has(
			&planning->eligible, language->workload->ops[tensor->producer].type);
	return planning->clones != CLONE_OFF && language->kinds.clone &&
	       name_list_has(&planning->eligible, primitive_clone.name) &&
	       users_root(language->workload, &language->users, t) < 0;
}

static const struct arch *make_roomy(const struct arch *arch, struct arena *arena)
{
	struct arch *roomy = arena_copy(arena, arch, sizeof *arch);
	roomy->levels[arch->lx].storage.capacity = INT64_C(1) << 50;
	roomy->levels[arch->lx].storage.reserve = INT64_C(1) << 49;
	return roomy;
}

/* The move of a tensor, as an op of its own. */
static struct op make_clone(struct language *language, int t)
{
	struct tensor given = language->workload->tensors[t];
	struct workload alone = {.name = "clone", .tensor_count = 1, .tensors = &given};
	given.producer = -1;
	struct growing growing = growing_open(language->arena, &alone, 1);
	growing_move(&growing, MOVE_RELOAD, 0, 1, growing_name(&growing, MOVE_RELOAD, 0));
	return growing.workload->ops[0];
}

bool language_open(struct language *language, struct arena *arena, const char **why)
{
	const struct workload *workload = language->workload;
	const enum stay *stays = graph_stays(arena, language->planning->constraints, workload);
	language->arena = arena;
	language->roomy = make_roomy(language->arch, arena);
	language->users = users_make(arena, workload);
	language->ops = arena_array(arena, struct language_op, workload->op_count);
	language->tensors = arena_array(arena, struct language_tensor, workload->tensor_count);
	for (int t = 0; t < (int)workload->tensor_count; t++) {
		struct language_tensor *tensor = &language->tensors[t];
		int end;
		tensor->stay = stays[t];
		tensor->may_lie = may_lie(language, t);
		tensor->clone = make_clone(language, t);
		users_life(&language->users, t, &tensor->first, &end);
		tensor->last = end - 1;
	}
	for (int o = 0; o < (int)workload->op_count; o++)
		if (op_is_tiled(&workload->ops[o]) && !language_divide(language, o, why))
			return false;
	for (int t = 0; t < (int)workload->tensor_count; t++)
		if (language->tensors[t].may_lie)
			language_list_views(language, t);
	return true;
}
