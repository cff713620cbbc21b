#include "solvers/place/spill/master.h"

#include "base/arena.h"

#include <math.h>

static void add_columns(struct milp *milp, const struct spill_model *model)
{
	for (int i = 0; i < model->item_count; i++) {
		const struct spill_item *item = &model->items[i];
		bool never = item->tied && !item->parent_count;
		milp_column(milp, 0, never ? 0 : 1, true, -(double)item->gain);
	}
	for (int v = 0; v < model->version_count; v++)
		milp_column(milp, 0, 1, true, -(double)model->versions[v].gain);
	for (int p = 0; p < model->pair_count; p++)
		milp_column(milp, 0, model->pairs[p].row < 0 ? 0 : 1, false, 0);
}

static int version_column(const struct spill_model *model, int version)
{
	return model->item_count + version;
}

static int pair_column(const struct spill_model *model, int pair)
{
	return version_column(model, model->version_count) + pair;
}

static void add_room(struct milp *milp, const struct spill_model *model)
{
	for (int r = 0; r < model->row_count; r++) {
		const struct spill_row *row = &model->rows[r];
		milp_row(milp, -INFINITY, (double)model->room);
		for (int k = 0; k < row->item_count; k++)
			milp_entry(milp, row->items[k], (double)model->items[row->items[k]].size);
		for (int k = 0; k < row->pair_count; k++)
			milp_entry(milp, pair_column(model, row->pairs[k]),
				-(double)model->pairs[row->pairs[k]].size);
	}
}

/* An item shares with one neighbour on each side: of its buffer, or of its family. */
static void add_sharing(struct milp *milp, const struct spill_model *model, int i)
{
	const struct spill_item *item = &model->items[i];
	for (int side = 0; side < 2; side++) {
		bool open = false;
		for (int k = 0; k < item->pair_count; k++) {
			const struct spill_pair *pair = &model->pairs[item->pairs[k]];
			if ((side ? pair->second : pair->first) != i)
				continue;
			if (!open) {
				milp_row(milp, -INFINITY, 0);
				milp_entry(milp, i, -1);
			}
			open = true;
			milp_entry(milp, pair_column(model, item->pairs[k]), 1);
		}
	}
	for (int k = item->rival; k < item->rival_end && item->whole; k++) {
		milp_row(milp, -INFINITY, 1);
		milp_entry(milp, i, 1);
		milp_entry(milp, k, 1);
	}
	if (!item->tied || !item->parent_count)
		return;
	milp_row(milp, -INFINITY, 0);
	milp_entry(milp, i, 1);
	for (int k = 0; k < item->parent_count; k++)
		milp_entry(milp, item->parents[k], -1);
}

static void add_versions(struct milp *milp, const struct spill_model *model)
{
	for (int v = 0; v < model->version_count; v++)
		for (int i = model->versions[v].item; i < model->versions[v].item_end; i++) {
			milp_row(milp, -INFINITY, 0);
			milp_entry(milp, version_column(model, v), 1);
			milp_entry(milp, i, -1);
		}
}

static void add_cut(struct milp *milp, const struct spill_cut *cut)
{
	milp_row(milp, -INFINITY, cut->item_count - 1);
	for (int k = 0; k < cut->item_count; k++)
		milp_entry(milp, cut->items[k], 1);
	for (int k = 0; k < cut->parent_count; k++)
		milp_entry(milp, cut->parents[k], -1);
}

struct milp *spill_master_make(struct arena *arena, const struct spill_model *model,
	const struct spill_cut *cuts, size_t cut_count)
{
	struct milp *milp = milp_make(arena);
	add_columns(milp, model);
	add_room(milp, model);
	for (int i = 0; i < model->item_count; i++)
		add_sharing(milp, model, i);
	add_versions(milp, model);
	for (size_t c = 0; c < cut_count; c++)
		add_cut(milp, &cuts[c]);
	return milp;
}
