#include "solvers/place/pack_strand.h"

/* Trees made for each thing that happens at a wall, and candidates of one strand and one choice of
 * wastes, at most; fewer where the choice is odd.  That counts as so much less freedom: a further
 * waste brings some that nobody needs. */
enum { TRIES = 25, ODD_TRIES = 6, COVERS_MOST = 40, ODD_COVERS_MOST = 5, LATER_MOST = 8 };
static const double change_less = 3, split_less = 6;

/* One strand at one wall. */
struct cross {
	struct weave *weave;
	const struct strand *strand;
	int parent;
	double freedom;
	struct crossing crossing;
	int64_t in_sizes[CHANGES_MOST];
	struct leaves leaves;
	const struct pairs *pairs;
	/* One before that is just like it, as bits. */
	uint64_t end_twins[SIDE_MOST], begin_twins[SIDE_MOST];
	bool is_coarse; /* large groups first */
	int tries, covers, covers_most, chosen_count;
	struct pair chosen[GROUPS_MOST];
	struct arena *arena;
};

/* Is one taken and another that is alike, before it, not? */
static bool skips(const uint64_t *twins, uint64_t taken, uint64_t left)
{
	for (uint64_t rest = taken; rest; rest &= rest - 1)
		if (twins[__builtin_ctzll(rest)] & left & ~taken)
			return true;
	return false;
}

/* Ends of one size that are children of one node that may come in any order. */
static void find_end_twins(struct cross *cross, const struct tree *tree)
{
	int twins[SIDE_MOST], count = 0;
	for (int k = 0; k < tree->count; k++) {
		const struct tree *child = tree->children[k];
		if (child->kind != TREE_LEAF) {
			find_end_twins(cross, child);
			continue;
		}
		for (int e = 0; tree->kind == TREE_ANY && e < cross->leaves.end_count; e++)
			if (cross->leaves.ends[e] == child->leaf)
				twins[count++] = e;
	}
	const int64_t *sizes = cross->weave->sizes.at;
	for (int a = 0; a < count; a++)
		for (int b = 0; b < count; b++)
			if (twins[b] < twins[a] && sizes[cross->leaves.ends[twins[a]]] ==
							   sizes[cross->leaves.ends[twins[b]]])
				cross->end_twins[twins[a]] |= UINT64_C(1) << twins[b];
}

static void find_twins(struct cross *cross)
{
	const struct weave *weave = cross->weave;
	const int *begins = cross->leaves.begins;
	memset(cross->end_twins, 0, sizeof cross->end_twins);
	memset(cross->begin_twins, 0, sizeof cross->begin_twins);
	find_end_twins(cross, cross->strand->tree);
	int blocks = weave->walls[cross->crossing.wall].begin_count;
	for (int a = 0; a < blocks; a++)
		for (int b = 0; b < a; b++)
			if (weave->sizes.at[begins[a]] == weave->sizes.at[begins[b]] &&
				weave->last[begins[a]] == weave->last[begins[b]])
				cross->begin_twins[a] |= UINT64_C(1) << b;
}

static void add_candidate(struct cross *cross, const struct tree *tree, double freedom)
{
	struct weave *weave = cross->weave;
	struct candidate_strand *candidate = array_add(weave->known_arena, &weave->candidates);
	*candidate = (struct candidate_strand){.score = tree->freedom + freedom,
		.freedom = freedom,
		.hash = tree->hash,
		.parent = cross->parent,
		.crossing = cross->crossing};
	memcpy(candidate->in_sizes, cross->in_sizes, sizeof cross->in_sizes);
	candidate->crossing.group_count = cross->chosen_count;
	candidate->crossing.groups = arena_copy(weave->known_arena, cross->chosen,
		(size_t)cross->chosen_count * sizeof *cross->chosen);
	cross->covers++;
}

/* Parts what is left into groups, the one with the first of the ends next. */
static void cover(struct cross *cross, const struct tree *tree, double freedom, uint64_t ends,
	uint64_t begins)
{
	if (!ends || !begins) {
		if (!ends && !begins)
			add_candidate(cross, tree, freedom);
		return;
	}
	int low = __builtin_ctzll(ends);
	int first = cross->pairs->first[low], end = cross->pairs->first[low + 1];
	for (int k = 0; k < end - first && cross->chosen_count < GROUPS_MOST; k++) {
		struct pair pair = cross->pairs->at[cross->is_coarse ? end - 1 - k : first + k];
		if ((pair.ends & ~ends) || (pair.begins & ~begins) ||
			(pair.ends == ends) != (pair.begins == begins) ||
			skips(cross->end_twins, pair.ends, ends) ||
			skips(cross->begin_twins, pair.begins, begins))
			continue;
		if (cross->tries <= 0 || cross->covers >= cross->covers_most ||
			!weave_spend(cross->weave))
			return;
		cross->tries--;
		int outs[SIDE_MOST], ins[SIDE_MOST];
		int out_count = weave_part(cross->leaves.ends, pair.ends, outs);
		int in_count = weave_part(cross->leaves.begins, pair.begins, ins);
		double more;
		const struct tree *after = weave_join(
			cross->weave, cross->arena, tree, outs, out_count, ins, in_count, &more);
		if (!after)
			continue;
		cross->chosen[cross->chosen_count++] = pair;
		cover(cross, after, freedom + more, ends & ~pair.ends, begins & ~pair.begins);
		cross->chosen_count--;
	}
}

/* The first so many bits. */
static uint64_t bits(int count)
{
	return (UINT64_C(1) << count) - 1;
}

/* Crosses it while these wastes end and wastes of these sizes begin. */
static void change_wastes(struct cross *cross, const int *outs, int out_count,
	const int64_t *in_sizes, int in_count, double less)
{
	struct weave *weave = cross->weave;
	struct crossing *crossing = &cross->crossing;
	const struct wall *wall = &weave->walls[crossing->wall];
	if (wall->end_count + out_count > SIDE_MOST || wall->begin_count + in_count > SIDE_MOST ||
		cross->strand->waste_count + in_count > WASTES_MOST || !weave_spend(weave))
		return;
	size_t leaf_count = weave->sizes.count;
	struct arena_mark mark = arena_mark(cross->arena);
	crossing->out_count = out_count;
	crossing->in_count = in_count;
	for (int k = 0; k < out_count; k++)
		crossing->outs[k] = outs[k];
	for (int k = 0; k < in_count; k++) {
		cross->in_sizes[k] = in_sizes[k];
		crossing->ins[k] = weave_waste(weave, in_sizes[k]);
	}
	weave_leaves(weave, crossing, &cross->leaves);
	cross->pairs = weave_pairs(weave, crossing, &cross->leaves);
	find_twins(cross);
	for (int pass = 0; pass < 2; pass++) {
		int happens = cross->leaves.end_count + cross->leaves.begin_count;
		cross->tries = (less > 0 ? ODD_TRIES : TRIES) * happens;
		cross->covers = 0;
		cross->covers_most = less > 0 ? ODD_COVERS_MOST : COVERS_MOST;
		cross->is_coarse = pass == 1;
		cover(cross, cross->strand->tree, cross->freedom - less,
			bits(cross->leaves.end_count), bits(cross->leaves.begin_count));
		if (cross->tries > 0 && cross->covers < cross->covers_most)
			break;
	}
	arena_release(cross->arena, mark);
	weave->sizes.count = leaf_count; /* they begin if the candidate goes on */
}

/* These end, and wastes of so many bytes together begin. */
struct begun {
	struct cross *cross;
	const int *outs;
	int out_count;
	double less;
};

static void begin_wastes(void *context, const int64_t *sizes, int count, double less)
{
	struct begun *begun = context;
	change_wastes(
		begun->cross, begun->outs, begun->out_count, sizes, count, begun->less + less);
}

void weave_split(const struct weave *weave, int wall, int64_t size, weave_split_listener *listener,
	void *context)
{
	int64_t later[LATER_MOST], sizes[CHANGES_MOST] = {size};
	int count = 0;
	listener(context, sizes, 1, 0);
	if (!weave->is_bold || !weave->walls[wall].change)
		return;
	for (int t = wall + 1; t < weave->merged.section_count && count < LATER_MOST; t++)
		if (weave->walls[t].change < 0 && -weave->walls[t].change < size)
			later[count++] = -weave->walls[t].change;
	for (int a = 0; a < count; a++) {
		sizes[0] = later[a], sizes[1] = size - later[a];
		listener(context, sizes, 2, split_less);
		for (int b = 0; b < a; b++)
			if (later[a] + later[b] < size) {
				sizes[1] = later[b], sizes[2] = size - later[a] - later[b];
				listener(context, sizes, 3, 2 * split_less);
				sizes[1] = size - later[a];
			}
	}
}

/* As the change asks: some begin, one ends or others take its bytes, two end. */
static void change_all(struct cross *cross, int64_t change)
{
	const struct strand *strand = cross->strand;
	int wall = cross->crossing.wall;
	struct begun begun = {.cross = cross};
	if (change > 0)
		weave_split(cross->weave, wall, change, begin_wastes, &begun);
	for (int w = 0; w < strand->waste_count; w++) {
		int outs[2] = {strand->wastes[w]};
		int64_t rest = change + cross->weave->sizes.at[outs[0]];
		begun = (struct begun){cross, outs, 1, change_less};
		if (rest == 0)
			change_wastes(cross, outs, 1, NULL, 0, 0);
		if (rest > 0)
			weave_split(cross->weave, wall, rest, begin_wastes, &begun);
		for (int v = 0; v < w; v++) {
			outs[1] = strand->wastes[v];
			if (rest + cross->weave->sizes.at[outs[1]] == 0)
				change_wastes(cross, outs, 2, NULL, 0, change_less);
		}
	}
}

void weave_cross(struct weave *weave, const struct strand *strand, int parent, int wall)
{
	struct cross cross = {.weave = weave,
		.strand = strand,
		.parent = parent,
		.freedom = strand->freedom,
		.crossing = {.before = strand->last, .wall = wall},
		.arena = arena_open()};
	int64_t change = weave->walls[wall].change;
	if (change == 0)
		change_wastes(&cross, NULL, 0, NULL, 0, 0);
	if (change != 0 || weave->is_bold)
		change_all(&cross, change);
	arena_close(cross.arena);
}
