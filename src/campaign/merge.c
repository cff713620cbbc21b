#include "base/arena.h"
#include "base/text.h"
#include "campaign/outputs.h"

struct merging {
	struct store *into;
	size_t *differ;
	const char *why;
};

static const char *copy_task(void *context, const struct store_task *task)
{
	struct merging *merging = context;
	return store_add_task(merging->into, task);
}

static void copy_point(
	void *context, const struct store_point *point, const struct task_result *result)
{
	struct merging *merging = context;
	if (!merging->why)
		merging->why = store_add_point(merging->into, point);
}

static const char *copy_result(void *context, const struct task_result *result)
{
	struct merging *merging = context;
	return store_add_result(merging->into, result, merging->differ);
}

static const char *merge(
	struct merging *merging, struct store *from, const struct store_head *head, bool empty)
{
	const char *why = empty ? store_clear(merging->into, head) : NULL;
	if (!why && empty)
		why = store_each_task(from, copy_task, merging);
	if (!why && empty)
		why = store_each_point(from, copy_point, merging);
	if (!why)
		why = merging->why;
	return why ? why : store_each_result(from, copy_result, merging);
}

const char *campaign_merge(
	struct arena *arena, struct store *into, struct store *from, size_t *differ)
{
	struct merging merging = {into, differ, NULL};
	struct store_head ours, theirs;
	const char *why = store_head(from, &theirs);
	if (!why && !theirs.fingerprint)
		why = arena_format(arena, "store '%s' has no points", store_path(from));
	if (!why)
		why = store_begin(into);
	if (why)
		return why;
	why = store_head(into, &ours);
	if (!why && ours.fingerprint && !text_equal(ours.fingerprint, theirs.fingerprint))
		why = arena_format(arena,
			"'%s' and '%s' are of different campaigns: specs or options differ",
			store_path(into), store_path(from));
	if (!why)
		why = merge(&merging, from, &theirs, !ours.fingerprint);
	if (why) {
		store_rollback(into);
		return why;
	}
	return store_commit(into);
}
