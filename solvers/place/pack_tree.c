#include "solvers/place/pack_tree.h"

#include <math.h>
#include <string.h>

/* Nodes of which a row is made up anew. */
struct row {
	const struct tree **at;
	int count;
};

static uint64_t mix(uint64_t z)
{
	z = (z ^ (z >> 32)) * UINT64_C(0xd6e8feb86659fd93);
	z = (z ^ (z >> 29)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 32);
}

const struct tree *tree_leaf(struct arena *arena, int leaf, uint64_t hash)
{
	struct tree *tree = arena_new(arena, struct tree);
	*tree = (struct tree){
		TREE_LEAF, leaf, 0, 1, UINT64_C(1) << (leaf % 64), mix(hash), 0, NULL};
	return tree;
}

static struct tree *make(
	struct arena *arena, enum tree_kind kind, const struct tree *const *children, int count)
{
	struct tree *tree = arena_new(arena, struct tree);
	*tree = (struct tree){.kind = kind,
		.count = count,
		.children = arena_copy(arena, children, (size_t)count * sizeof *children)};
	for (int k = 0; k < count; k++) {
		tree->leaves += children[k]->leaves;
		tree->some |= children[k]->some;
		tree->freedom += children[k]->freedom;
	}
	return tree;
}

const struct tree *tree_any(struct arena *arena, const struct tree *const *children, int count)
{
	if (count == 1)
		return children[0];
	struct tree *tree = make(arena, TREE_ANY, children, count);
	tree->freedom += lgamma(count + 1);
	for (int k = 0; k < count; k++)
		tree->hash += mix(children[k]->hash);
	tree->hash = mix(tree->hash + 1);
	return tree;
}

static const struct tree *make_row(
	struct arena *arena, const struct tree *const *children, int count)
{
	if (count < 3)
		return tree_any(arena, children, count);
	struct tree *tree = make(arena, TREE_ROW, children, count);
	uint64_t there = 0, back = 0;
	tree->freedom += log(2);
	for (int k = 0; k < count; k++) {
		there = mix(there + children[k]->hash);
		back = mix(back + children[count - 1 - k]->hash);
	}
	tree->hash = mix((there < back ? there : back) + 2);
	return tree;
}

static int count_in(const struct tree *tree, const struct tree_set *set)
{
	if (!(tree->some & set->some))
		return 0;
	if (tree->kind == TREE_LEAF)
		return set->has[tree->leaf];
	int count = 0;
	for (int k = 0; k < tree->count; k++)
		count += count_in(tree->children[k], set);
	return count;
}

/* The children of a node by how much of them is in a set. */
struct parting {
	struct row none, all;
	const struct tree *some[2];
	int some_count;
};

static struct row open_row(struct arena *arena, int most)
{
	return (struct row){arena_array(arena, const struct tree *, most), 0};
}

static void add(struct row *row, const struct tree *tree)
{
	row->at[row->count++] = tree;
}

/* False if more than `most` are in it in part. */
static bool part(struct arena *arena, const struct tree *tree, const struct tree_set *set, int most,
	struct parting *parting)
{
	*parting = (struct parting){
		open_row(arena, tree->count), open_row(arena, tree->count), {NULL, NULL}, 0};
	for (int k = 0; k < tree->count; k++) {
		const struct tree *child = tree->children[k];
		int count = count_in(child, set);
		if (count == 0)
			add(&parting->none, child);
		else if (count == child->leaves)
			add(&parting->all, child);
		else if (parting->some_count == most)
			return false;
		else
			parting->some[parting->some_count++] = child;
	}
	return true;
}

static void turn(struct row *row, int from)
{
	for (int a = from, b = row->count - 1; a < b; a++, b--) {
		const struct tree *moved = row->at[a];
		row->at[a] = row->at[b];
		row->at[b] = moved;
	}
}

/* Appends to the row what the tree, part of which is in the set, must look like for the set to
 * lie at its end; what is in the set goes to `inside`. */
static bool line_up(struct arena *arena, const struct tree *tree, const struct tree_set *set,
	struct row *row, struct row *inside, double *freedom)
{
	if (tree->kind == TREE_ANY) {
		struct parting parting;
		if (!part(arena, tree, set, 1, &parting))
			return false;
		if (parting.none.count)
			add(row, tree_any(arena, parting.none.at, parting.none.count));
		if (parting.some_count &&
			!line_up(arena, parting.some[0], set, row, inside, freedom))
			return false;
		if (parting.all.count) {
			add(inside, tree_any(arena, parting.all.at, parting.all.count));
			*freedom += inside->at[inside->count - 1]->freedom;
		}
		return true;
	}
	int first = count_in(tree->children[0], set);
	int last = count_in(tree->children[tree->count - 1], set);
	bool turned = first == tree->children[0]->leaves || (first && !last);
	bool begun = false;
	for (int k = 0; k < tree->count; k++) {
		const struct tree *child = tree->children[turned ? tree->count - 1 - k : k];
		int count = count_in(child, set);
		if (count == child->leaves) {
			begun = true;
			add(inside, child);
			*freedom += child->freedom;
		} else if (begun) {
			return false;
		} else if (count == 0) {
			add(row, child);
		} else {
			begun = true;
			if (!line_up(arena, child, set, row, inside, freedom))
				return false;
		}
	}
	return true;
}

/* Appends the right end: as line_up, the other way round. */
static bool line_down(struct arena *arena, const struct tree *tree, const struct tree_set *set,
	struct row *row, struct row *inside, double *freedom)
{
	struct row rest = open_row(arena, tree->leaves), in = open_row(arena, tree->leaves);
	if (!line_up(arena, tree, set, &rest, &in, freedom))
		return false;
	turn(&rest, 0);
	turn(&in, 0);
	for (int k = 0; k < in.count; k++)
		add(inside, in.at[k]);
	for (int k = 0; k < rest.count; k++)
		add(row, rest.at[k]);
	return true;
}

static void finish(struct row *row, const struct row *inside, const struct tree *instead)
{
	if (instead)
		add(row, instead);
	for (int k = 0; !instead && k < inside->count; k++)
		add(row, inside->at[k]);
}

static const struct tree *gather_any(struct arena *arena, const struct tree *tree,
	const struct tree_set *set, const struct tree *instead, double *freedom)
{
	struct parting parting;
	if (!part(arena, tree, set, 2, &parting))
		return NULL;
	struct row row = open_row(arena, tree->leaves + 1), left = open_row(arena, tree->leaves);
	struct row inside = open_row(arena, tree->leaves), right = open_row(arena, tree->leaves);
	if (parting.some_count > 0 &&
		!line_up(arena, parting.some[0], set, &left, &inside, freedom))
		return NULL;
	if (parting.all.count) {
		add(&inside, tree_any(arena, parting.all.at, parting.all.count));
		*freedom += inside.at[inside.count - 1]->freedom;
	}
	if (parting.some_count > 1 &&
		!line_down(arena, parting.some[1], set, &right, &inside, freedom))
		return NULL;
	for (int k = 0; k < left.count; k++)
		add(&row, left.at[k]);
	finish(&row, &inside, instead);
	for (int k = 0; k < right.count; k++)
		add(&row, right.at[k]);
	const struct tree *gathered = make_row(arena, row.at, row.count);
	add(&parting.none, gathered);
	return tree_any(arena, parting.none.at, parting.none.count);
}

static const struct tree *gather_row(struct arena *arena, const struct tree *tree,
	const struct tree_set *set, const struct tree *instead, double *freedom)
{
	struct row row = open_row(arena, tree->leaves + 1), inside = open_row(arena, tree->leaves);
	int left = set->count;
	for (int k = 0; k < tree->count; k++) {
		const struct tree *child = tree->children[k];
		int count = count_in(child, set);
		bool begins = left == set->count && count, ends = left && left == count;
		left -= count;
		if (count == 0 && left && left < set->count)
			return NULL;
		if (count == 0) {
			add(&row, child);
		} else if (count == child->leaves) {
			add(&inside, child);
			*freedom += child->freedom;
		} else if (begins) {
			if (!line_up(arena, child, set, &row, &inside, freedom))
				return NULL;
		} else if (!ends) {
			return NULL;
		} else {
			struct row after = open_row(arena, child->leaves);
			if (!line_down(arena, child, set, &after, &inside, freedom))
				return NULL;
			finish(&row, &inside, instead);
			for (int j = 0; j < after.count; j++)
				add(&row, after.at[j]);
			continue;
		}
		if (ends)
			finish(&row, &inside, instead);
	}
	return make_row(arena, row.at, row.count);
}

const struct tree *tree_together(struct arena *arena, const struct tree *tree,
	const struct tree_set *set, const struct tree *instead, double *inside)
{
	if (set->count == tree->leaves) {
		*inside = tree->freedom;
		return instead ? instead : tree;
	}
	for (int k = 0; k < tree->count; k++) {
		const struct tree *child = tree->children[k];
		if (!(child->some & set->some) || count_in(child, set) < set->count)
			continue;
		const struct tree *other = tree_together(arena, child, set, instead, inside);
		if (!other)
			return NULL;
		const struct tree **children = arena_array(arena, const struct tree *, tree->count);
		memcpy(children, tree->children, (size_t)tree->count * sizeof *children);
		children[k] = other;
		return tree->kind == TREE_ROW ? make_row(arena, children, tree->count)
					      : tree_any(arena, children, tree->count);
	}
	*inside = 0;
	return tree->kind == TREE_ROW ? gather_row(arena, tree, set, instead, inside)
				      : gather_any(arena, tree, set, instead, inside);
}

/* The rank of some leaf. */
static int rank_of(const struct tree *tree, const int *ranks)
{
	while (tree->kind != TREE_LEAF)
		tree = tree->children[0];
	return ranks[tree->leaf];
}

int tree_order(const struct tree *tree, const int *ranks, int *leaves)
{
	int count = 0;
	if (tree->kind == TREE_LEAF) {
		leaves[0] = tree->leaf;
		return 1;
	}
	if (tree->kind == TREE_ROW) {
		bool turned = rank_of(tree->children[0], ranks) >
			      rank_of(tree->children[tree->count - 1], ranks);
		for (int k = 0; k < tree->count; k++)
			count += tree_order(tree->children[turned ? tree->count - 1 - k : k], ranks,
				leaves + count);
		return count;
	}
	for (int before = -1;;) { /* in ascending order of ranks */
		int next = INT32_MAX;
		for (int k = 0; k < tree->count; k++) {
			int rank = rank_of(tree->children[k], ranks);
			next = rank > before && rank < next ? rank : next;
		}
		if (next == INT32_MAX)
			return count;
		for (int k = 0; k < tree->count; k++)
			if (rank_of(tree->children[k], ranks) == next)
				count += tree_order(tree->children[k], ranks, leaves + count);
		before = next;
	}
}

const struct tree *tree_copy(struct arena *arena, const struct tree *tree)
{
	struct tree *copy = arena_copy(arena, tree, sizeof *tree);
	if (tree->kind == TREE_LEAF)
		return copy;
	const struct tree **children = arena_array(arena, const struct tree *, tree->count);
	for (int k = 0; k < tree->count; k++)
		children[k] = tree_copy(arena, tree->children[k]);
	copy->children = children;
	return copy;
}
