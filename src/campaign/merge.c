#include "base/arena.h"
#include "base/text.h"
#include "campaign/outputs.h"

struct merging {
	struct store *into;
	size_t *differ;
};

static void copy_task(void *context, const struct store_task *task)
{
	struct merging *merging = context;
	store_add_task(merging->into, task);
}

static void copy_point(
	void *context, const struct store_point *point, const struct task_result *result)
{
	struct merging *merging = context;
	store_add_point(merging->into, point);
}

static void copy_result(void *context, const struct task_result *result)
{
	struct merging *merging = context;
	store_add_result(merging->into, result, merging->differ);
}

const char *campaign_merge(
	struct arena *arena, struct store *into, struct store *from, size_t *differ)
{
	struct merging merging = {into, differ};
	struct store_head ours, theirs;
	const char *why = store_filled_head(from, &theirs);
	if (why)
		return why;
	store_begin(into);
	store_head(into, &ours);
	if (ours.fingerprint && !text_equal(ours.fingerprint, theirs.fingerprint))
		store_fail(into,
			arena_format(arena,
				"'%s' and '%s' are of different campaigns: specs or options differ",
				store_path(into), store_path(from)));
	if (!ours.fingerprint) {
		store_clear(into, &theirs);
		store_each_task(from, copy_task, &merging);
		store_each_point(from, copy_point, &merging);
	}
	store_fail(into, store_each_result(from, copy_result, &merging));
	return store_commit(into);
}
