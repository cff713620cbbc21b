#include "campaign/expand.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/names.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

/* --- what a point may cost */

static double extents(const struct node *problem)
{
	const struct node *instance = node_find(problem, "instance");
	double product = 1;
	for (size_t i = 0; instance && instance->kind == NODE_MAP && i < instance->count; i++) {
		const struct node *value = instance->entries[i].value;
		double extent = value->kind == NODE_SCALAR ? strtod(value->text, NULL) : 0;
		product *= extent > 1 ? extent : 1;
	}
	return product;
}

static double estimate(const struct sweep_point *point)
{
	double sum = 0, nodes = 0;
	for (size_t i = 0; i < point->file_count; i++) {
		const struct node *problem = node_find(point->files[i], "problem");
		const struct node *network = node_find(point->files[i], "network");
		const struct node *layers = node_find(network, "layers");
		if (problem)
			sum += extents(problem);
		for (size_t l = 0; layers && layers->kind == NODE_LIST && l < layers->count; l++)
			sum += extents(layers->items[l]);
		for (size_t k = 0; k < point->files[i]->count; k++)
			nodes += (double)point->files[i]->entries[k].value->weight;
	}
	return sum > 0 ? sum : nodes;
}

/* --- equal points */

struct task_table {
	struct arena *arena;
	struct array(struct expanded_task) tasks;
	struct names specs; /* tasks by their digests */
};

static size_t add_task(struct task_table *table, const struct expanded_task *task, const char *spec)
{
	int known = names_find(&table->specs, spec);
	if (known >= 0) {
		int *level = &table->tasks.at[known].level;
		*level = task->level < *level ? task->level : *level;
		return (size_t)known;
	}
	names_add(table->arena, &table->specs, arena_text(table->arena, spec),
		(int)table->tasks.count);
	*array_add(table->arena, &table->tasks) = *task;
	return table->tasks.count - 1;
}

static int compare_ranks(const void *a, const void *b)
{
	const struct expanded_task *x = a, *y = b;
	if (x->level != y->level)
		return x->level < y->level ? -1 : 1;
	if (x->estimate < y->estimate || x->estimate > y->estimate)
		return x->estimate < y->estimate ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

/* --- all points */

struct points_draft {
	struct array(uint64_t) combinations;
	struct array(size_t) tasks;
};

static bool collect(struct arena *arena, const struct sweep_spec *sweep, const char *settings,
	struct task_table *table, struct points_draft *draft, digest *fingerprint)
{
	struct arena *scratch = arena_open();
	struct canon *canon = canon_open(arena);
	struct expander *expander = expander_open(arena, sweep);
	digest seed = digest_text(0, settings);
	uint64_t combinations = expand_combinations(sweep);
	*fingerprint = seed;
	for (uint64_t c = 0; c < combinations && !diag_full(sweep->diag); c++) {
		struct arena_mark mark = arena_mark(scratch);
		struct sweep_point point;
		enum point_fate fate = expander_point(expander, c, scratch, sweep->diag, &point);
		if (fate == POINT_THERE && draft->combinations.count == POINTS_MOST) {
			diag_error(sweep->diag, sweep->map->span,
				"the sweep has more than %d points", POINTS_MOST);
			break;
		}
		if (fate == POINT_THERE) {
			struct expanded_task task = {
				.spec = seed ^
					canon_digest_files(canon, point.files, point.file_count),
				.level = point.level,
				.estimate = estimate(&point),
				.first = draft->combinations.count};
			char text[DIGEST_TEXT];
			digest_print(task.spec, text);
			*fingerprint = digest_text(digest_text(*fingerprint, text), point.name);
			for (size_t t = 0; t < sweep->target_count; t++)
				*fingerprint = digest_text(
					*fingerprint, point.labels[t] ? point.labels[t] : "\n");
			*array_add(arena, &draft->combinations) = c;
			*array_add(arena, &draft->tasks) = add_task(table, &task, text);
		}
		arena_release(scratch, mark);
	}
	arena_close(scratch);
	return !diag_failed(sweep->diag);
}

bool expand(struct arena *arena, const struct sweep_spec *sweep, const char *settings,
	struct sweep_expansion *out)
{
	struct task_table table = {.arena = arena};
	struct points_draft draft = {0};
	*out = (struct sweep_expansion){0};
	if (!collect(arena, sweep, settings, &table, &draft, &out->fingerprint))
		return false;
	if (!draft.combinations.count) {
		diag_error(sweep->diag, sweep->when ? sweep->when->span : sweep->map->span,
			"no point is left: 'when' never holds");
		return false;
	}
	for (size_t t = 0; t < sweep->target_count; t++)
		out->fingerprint = digest_text(out->fingerprint, sweep->targets[t].path.text);
	size_t *rank_of_point = arena_array(arena, size_t, draft.combinations.count);
	size_t *ranks = arena_array(arena, size_t, draft.combinations.count);
	size_t *first = arena_array(arena, size_t, table.tasks.count);
	for (size_t t = 0; t < table.tasks.count; t++)
		first[t] = table.tasks.at[t].first;
	qsort(table.tasks.at, table.tasks.count, sizeof *table.tasks.at, compare_ranks);
	for (size_t r = 0; r < table.tasks.count; r++)
		ranks[table.tasks.at[r].first] = r; /* each task is known by its first point */
	for (size_t p = 0; p < draft.combinations.count; p++)
		rank_of_point[p] = ranks[first[draft.tasks.at[p]]];
	out->point_count = draft.combinations.count;
	out->combinations = draft.combinations.at;
	out->task_of = rank_of_point;
	out->task_count = table.tasks.count;
	out->tasks = table.tasks.at;
	return true;
}
