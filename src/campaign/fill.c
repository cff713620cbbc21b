#include "base/arena.h"
#include "base/text.h"
#include "campaign/runner.h"
#include "report/run/json_text.h"

static const char *list_columns(struct arena *arena, const struct sweep_spec *sweep)
{
	json_t *list = json_array();
	for (size_t t = 0; t < sweep->target_count; t++)
		json_array_append_new(list, json_string(sweep->targets[t].path.text));
	return json_dump(arena, list, JSON_COMPACT);
}

static const char *list_labels(
	struct arena *arena, const struct sweep_spec *sweep, const struct sweep_point *point)
{
	json_t *list = json_array();
	for (size_t t = 0; t < sweep->target_count; t++)
		json_array_append_new(
			list, point->labels[t] ? json_string(point->labels[t]) : json_null());
	return json_dump(arena, list, JSON_COMPACT);
}

static void add_all(struct arena *arena, const struct sweep_spec *sweep,
	const struct sweep_expansion *expansion, struct store *store)
{
	char spec[DIGEST_TEXT];
	for (size_t r = 0; r < expansion->task_count; r++) {
		digest_print(expansion->tasks[r].spec, spec);
		struct store_task task = {spec, r, expansion->tasks[r].estimate};
		store_add_task(store, &task);
	}
	struct arena *scratch = arena_open();
	struct expander *expander = expander_open(arena, sweep);
	for (size_t p = 0; p < expansion->point_count; p++) {
		struct arena_mark mark = arena_mark(scratch);
		struct sweep_point point;
		expander_point(expander, expansion->combinations[p], scratch, sweep->diag, &point);
		digest_print(expansion->tasks[expansion->task_of[p]].spec, spec);
		struct store_point row = {
			p + 1, point.name, list_labels(scratch, sweep, &point), spec};
		store_add_point(store, &row);
		arena_release(scratch, mark);
	}
	arena_close(scratch);
}

/* Whether a store has the points of an expansion, or of none. */
static bool is_filled(struct store *store, const struct sweep_expansion *expansion, bool *empty)
{
	struct store_head head;
	char fingerprint[DIGEST_TEXT];
	store_head(store, &head);
	digest_print(expansion->fingerprint, fingerprint);
	*empty = !head.fingerprint;
	return head.fingerprint && text_equal(head.fingerprint, fingerprint);
}

const char *campaign_join(struct arena *arena, const struct sweep_spec *sweep,
	const struct sweep_expansion *expansion, const char *version, struct store *store)
{
	char fingerprint[DIGEST_TEXT];
	bool empty;
	digest_print(expansion->fingerprint, fingerprint);
	store_begin(store);
	bool filled = is_filled(store, expansion, &empty);
	store_join(store, !filled && !empty);
	if (!filled) {
		struct store_head head = {
			sweep->name, fingerprint, version, list_columns(arena, sweep)};
		store_clear(store, &head);
		add_all(arena, sweep, expansion, store);
	}
	return store_commit(store);
}
