#include "solvers/place/pack_strand.h"

/* Ends get the rank of what took their place. */
static void rank_ends(const struct weave *weave, const struct crossing *crossing, int *ranks)
{
	struct leaves leaves;
	weave_leaves(weave, crossing, &leaves);
	for (int g = 0; g < crossing->group_count; g++) {
		int outs[SIDE_MOST];
		int out_count = weave_part(leaves.ends, crossing->groups[g].ends, outs);
		int begin = leaves.begins[__builtin_ctzll(crossing->groups[g].begins)];
		for (int k = 0; k < out_count; k++)
			ranks[outs[k]] = ranks[begin];
	}
}

void weave_lay_out(struct weave *weave, const struct crossing *last)
{
	struct arena *arena = arena_open();
	int m = weave->merged.section_count, blocks = weave->merged.block_count;
	const struct crossing **crossings = arena_array(arena, const struct crossing *, m);
	const struct tree **trees = arena_array(arena, const struct tree *, m);
	int *ranks = arena_array(arena, int, weave->sizes.count);
	int *order = arena_array(arena, int, weave->sizes.count);
	for (const struct crossing *crossing = last; crossing; crossing = crossing->before)
		crossings[crossing->wall] = crossing;
	const struct tree *tree =
		weave_begin(weave, arena, crossings[0]->ins, crossings[0]->in_count);
	for (int t = 1; t < m; t++) {
		trees[t] = weave_join_groups(weave, arena, tree, crossings[t], false);
		tree = weave_join_groups(weave, arena, tree, crossings[t], true);
	}
	for (int t = m; t-- > 0;) {
		int count = tree_order(t + 1 < m ? trees[t + 1] : tree, ranks, order);
		int64_t address = 0;
		for (int k = 0; k < count; k++) {
			if (order[k] < blocks)
				merged_lay(&weave->merged, order[k], address, weave->addresses);
			ranks[order[k]] = k;
			address += weave->sizes.at[order[k]];
		}
		if (t > 0)
			rank_ends(weave, crossings[t], ranks);
	}
	arena_close(arena);
}
