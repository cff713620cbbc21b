#include "base/arena.h"
#include "base/number.h"
#include "base/text.h"
#include "cost/nest/nest_home.h"

#include <inttypes.h>

/*
 * Formulas of plain tiles, with the symbols of nest_exact.c: words entering a child =
 * move steps x tile x instances; a parent serves each group of its children once.
 * Where windows overlap or last rounds are shorter the count is less than that; the
 * line says by how much.
 */
struct explanation {
	struct text text;
	const struct nest_model *model;
	const struct nest_loops *loops;
	const struct nest_counts *counts;
	const struct dataspace *space;
	int t; /* its number */
};

/* One way that its words go, from a level to the next one inwards that keeps them. */
struct explained_passage {
	int child, parent; /* child -1: the multipliers */
	int pace;          /* innermost loop whose iterations are moves; loops->count: none */
	int64_t moves, words, groups;
	int64_t entering;  /* words that one instance enters over all moves */
	bool fits, window; /* window: told by find_window */
};

/* A window that slides: `steps` moves in a row keep `kept` words each. */
struct explained_window {
	int64_t steps, kept;
};

static const char *level_name(const struct explanation *x, int level)
{
	const struct hierarchy *hierarchy = x->model->hierarchy;
	return level < 0 ? hierarchy->compute_name : hierarchy->levels[level].name;
}

static bool passes(const struct explanation *x, int level)
{
	return nest_passes(x->model, x->loops, level, x->t);
}

static int parent_of(const struct explanation *x, int child)
{
	int level = child + 1;
	while (!nest_holds(x->model, x->loops, level, x->t))
		level++;
	return level;
}

static bool is_relevant(const struct explanation *x, const struct nest_loop *loop)
{
	return x->space->relevant >> loop->dimension & 1;
}

static struct explained_passage find_passage(const struct explanation *x, int child)
{
	const struct nest_loops *loops = x->loops;
	struct explained_passage passage = {.child = child,
		.parent = parent_of(x, child),
		.moves = 1,
		.words = 1,
		.groups = 1,
		.fits = true};
	passage.pace = nest_pace(x->model, loops, child, x->t);
	for (int k = passage.pace; k < loops->count; k++)
		if (!loops->at[k].spatial)
			passage.moves =
				checked_mul(&passage.fits, passage.moves, loops->at[k].bound);
	for (int k = loops->block[child + 1]; k < loops->own[passage.parent]; k++) {
		const struct nest_loop *loop = &loops->at[k];
		bool apart = x->model->hierarchy->levels[loop->level].no_spatial_reuse >> x->t & 1;
		if (loop->spatial && (apart || is_relevant(x, loop)))
			passage.groups *= loop->bound;
	}
	if (child >= 0)
		passage.fits &= nest_words(x->space, x->model->shape->dimension_count,
			loops->tile[child], &passage.words);
	passage.entering = checked_mul(&passage.fits, passage.moves, passage.words);
	return passage;
}

/* "1 word", "8 words" */
static const char *amount(struct explanation *x, int64_t count, const char *thing)
{
	return arena_format(x->text.arena, "%" PRId64 " %s%s", count, thing, count == 1 ? "" : "s");
}

static void add_rank(struct explanation *x, const struct shape_rank *rank)
{
	int terms = 0;
	for (int d = 0; d < x->model->shape->dimension_count; d++) {
		int64_t coefficient = rank->coefficient[d];
		if (!coefficient)
			continue;
		text_add(&x->text, terms++ ? " + " : "");
		if (coefficient > 1)
			text_add(&x->text, "%" PRId64 "*", coefficient);
		text_add(&x->text, "%s", x->model->shape->dimensions[d].name);
	}
	if (!terms)
		text_add(&x->text, "0");
}

static void add_head(struct explanation *x)
{
	text_add(&x->text, "%s[", x->space->name);
	for (int k = 0; k < x->space->rank_count; k++) {
		text_add(&x->text, k ? ", " : "");
		add_rank(x, &x->space->ranks[k]);
	}
	text_add(&x->text, "], %s; its home is %s\n", x->space->written ? "written" : "read",
		level_name(x, x->loops->home[x->t]));
}

/* "tile 4 x 6 = 24 words" */
static void add_tile(struct explanation *x, const struct explained_passage *passage)
{
	if (passage->child < 0) {
		text_add(&x->text, "    each multiplier uses one word at every step\n");
		return;
	}
	text_add(&x->text, "    tile ");
	for (int k = 0; k < x->space->rank_count; k++) {
		struct dataspace alone = {.rank_count = 1, .ranks = {x->space->ranks[k]}};
		int64_t extent = 0;
		nest_words(&alone, x->model->shape->dimension_count, x->loops->tile[passage->child],
			&extent);
		text_add(&x->text, "%s%" PRId64, k ? " x " : "", extent);
	}
	text_add(&x->text, "%s%s\n", x->space->rank_count ? " = " : "",
		amount(x, passage->words, "word"));
}

static void add_loop(struct explanation *x, const struct nest_loop *loop, int *count)
{
	text_add(&x->text, "%s%s%" PRId64, (*count)++ ? " " : "",
		x->model->shape->dimensions[loop->dimension].name, loop->bound);
}

/* Temporal loops around a child that leave its tile as it is, and those that move it. */
static void add_moves(struct explanation *x, const struct explained_passage *passage)
{
	const struct nest_loops *loops = x->loops;
	int count = 0;
	for (int k = loops->block[passage->child + 1]; k < passage->pace; k++) {
		if (loops->at[k].spatial)
			continue;
		text_add(&x->text, count ? "" : "    stays in place through ");
		add_loop(x, &loops->at[k], &count);
	}
	text_add(&x->text, count ? ", which do not index it\n" : "");
	count = 0;
	for (int k = passage->pace; k < loops->count; k++) {
		if (loops->at[k].spatial)
			continue;
		text_add(&x->text, count ? "" : "    moves with ");
		add_loop(x, &loops->at[k], &count);
	}
	if (count)
		text_add(&x->text, ", innermost first: %s\n", amount(x, passage->moves, "time"));
	else
		text_add(&x->text, "    moves once, at the start\n");
}

/* Children of one parent: which of them have words of their own. */
static void add_sharing(struct explanation *x, const struct explained_passage *passage)
{
	const struct nest_loops *loops = x->loops;
	int64_t children = nest_instances(x->loops, passage->child) /
			   nest_instances(x->loops, passage->parent);
	if (children == 1)
		return;
	text_add(&x->text, "    %" PRId64 " children at once:", children);
	for (int k = loops->block[passage->child + 1]; k < loops->own[passage->parent]; k++)
		if (loops->at[k].spatial)
			text_add(&x->text, " %s%" PRId64 "%s",
				x->model->shape->dimensions[loops->at[k].dimension].name,
				loops->at[k].bound,
				is_relevant(x, &loops->at[k]) ? "" : " (the same words)");
	text_add(&x->text, "; %s of %" PRId64 "\n", amount(x, passage->groups, "group"),
		children / passage->groups);
}

/* Why a count is not the product. */
static const char *reason(const struct explanation *x, int64_t less)
{
	for (int i = 0; less > 0 && i < x->model->hierarchy->level_count; i++)
		if (x->counts->at[i][x->t].links == less)
			return "neighbours hand on the others";
	if (!x->loops->perfect)
		return "last rounds are shorter";
	if (dataspace_slides(x->space))
		return "tiles overlap, and what is there stays";
	return x->model->counting == COUNTING_TIMELOOP ? "Timeloop's rules differ"
						       : "flags change who serves whom";
}

static void add_sum(struct explanation *x, int64_t product, bool fits, int64_t counted)
{
	if (fits && product == counted)
		text_add(&x->text, " = %" PRId64 "\n", counted);
	else if (fits)
		text_add(&x->text, " = %" PRId64 "; counted are %" PRId64 ": %s\n", product,
			counted, reason(x, product - counted));
	else
		text_add(&x->text, "; counted are %" PRId64 ": %s\n", counted, reason(x, 0));
}

/* Words that the children hand on among themselves. */
static int64_t links_of(const struct explanation *x, const struct explained_passage *passage)
{
	return passage->child < 0 ? 0 : x->counts->at[passage->child][x->t].links;
}

/* "fills at GLB = 8 moves x 4 words x 1 instance = 32" */
static void add_product(struct explanation *x, const struct explained_passage *passage,
	const char *what, int level, int64_t groups, int64_t counted)
{
	bool fits = passage->fits;
	int64_t instances = nest_instances(x->loops, level);
	int64_t product =
		checked_mul(&fits, passage->entering, checked_mul(&fits, groups, instances));
	bool plain = !passage->window;
	text_add(&x->text, "    %s at %s = ", what, level_name(x, level));
	if (plain)
		text_add(&x->text, "%s x %s", amount(x, passage->moves, "move"),
			amount(x, passage->words, "word"));
	else
		text_add(&x->text, "%s", amount(x, passage->entering, "word"));
	if (level == passage->parent)
		text_add(&x->text, " x %s", amount(x, groups, "group"));
	text_add(&x->text, " x %s", amount(x, instances, "instance"));
	if (level == passage->parent && x->loops->perfect && fits && product > counted &&
		!links_of(x, passage) && counted % (passage->entering * instances) == 0)
		text_add(&x->text,
			" = %" PRId64 "; counted are %" PRId64
			", %s: those with the same tile share\n",
			product, counted,
			amount(x, counted / (passage->entering * instances), "group"));
	else
		add_sum(x, product, fits, counted);
}

/* Words of a tile that are still in it one step of a loop later. */
static int64_t kept_words(const struct explanation *x, const struct explained_passage *passage,
	const struct nest_loop *loop)
{
	const struct shape *shape = x->model->shape;
	int64_t kept = 1;
	for (int k = 0; k < x->space->rank_count; k++) {
		struct dataspace alone = {.rank_count = 1, .ranks = {x->space->ranks[k]}};
		int64_t extent = 0;
		nest_words(&alone, shape->dimension_count, x->loops->tile[passage->child], &extent);
		kept *= number_max(
			0, extent - alone.ranks[0].coefficient[loop->dimension] * loop->stride);
	}
	return kept;
}

/*
 * n steps in a row of a window of S words that keeps O of them enter S + (n - 1) (S - O) words.
 * The run is the pace and the loops of its dimension around it, as many as explain the count.
 */
static bool find_window(const struct explanation *x, struct explained_passage *passage,
	int64_t counted, struct explained_window *window)
{
	const struct nest_loops *loops = x->loops;
	const struct nest_loop *pace = &loops->at[passage->pace];
	if (!x->loops->perfect || passage->pace == loops->count || !passage->fits ||
		nest_resets(x->model, passage->child, x->t))
		return false;
	*window = (struct explained_window){1, kept_words(x, passage, pace)};
	for (int k = passage->pace; window->kept && k < loops->count; k++) {
		if (loops->at[k].spatial || loops->at[k].dimension != pace->dimension)
			continue;
		window->steps *= loops->at[k].bound;
		int64_t run =
			passage->words + (window->steps - 1) * (passage->words - window->kept);
		int64_t entering = passage->moves / window->steps * run;
		bool fits = true;
		int64_t all =
			checked_mul(&fits, entering, nest_instances(x->loops, passage->child));
		if (!fits || all != counted)
			continue;
		passage->entering = entering;
		passage->window = true;
		return true;
	}
	return false;
}

static void explain_window(
	struct explanation *x, struct explained_passage *passage, int64_t counted)
{
	struct explained_window window;
	if (!find_window(x, passage, counted, &window))
		return;
	text_add(&x->text, "    a step of %s keeps %" PRId64 " of its words: ",
		x->model->shape->dimensions[x->loops->at[passage->pace].dimension].name,
		window.kept);
	text_add(&x->text,
		"%" PRId64 " x (%" PRId64 " + %" PRId64 " x %" PRId64 ") = %" PRId64
		" words enter an instance\n",
		passage->moves / window.steps, passage->words, window.steps - 1,
		passage->words - window.kept, passage->entering);
}

static void add_links(struct explanation *x, const struct explained_passage *passage)
{
	int64_t links = links_of(x, passage);
	if (links)
		text_add(&x->text,
			"    neighbours at %s hand on %" PRId64
			" words: reads and fills there, no reads at %s\n",
			level_name(x, passage->child), links, level_name(x, passage->parent));
}

static void explain_reads(struct explanation *x, struct explained_passage *passage)
{
	if (passage->child >= 0) {
		int64_t fills = x->counts->at[passage->child][x->t].fills;
		explain_window(x, passage, fills);
		add_product(x, passage, "fills", passage->child, 1, fills);
	}
	/* Reads that neighbours serve are no words for the level inside. */
	const struct nest_count *count = &x->counts->at[passage->parent][x->t];
	add_product(
		x, passage, "reads", passage->parent, passage->groups, count->reads - count->links);
	add_links(x, passage);
}

/*
 * Every group drains by one update.  A sum comes back by one read, unless this is
 * the first visit: the rest of the updates.  Exactly, those that drain are read there, too.
 */
static void explain_updates(struct explanation *x, const struct explained_passage *passage)
{
	const struct nest_count *count = &x->counts->at[passage->parent][x->t];
	const char *parent = level_name(x, passage->parent);
	int64_t returned = count->reads - count->drains;
	add_product(x, passage, "updates", passage->parent, passage->groups, count->updates);
	text_add(&x->text,
		"    reads at %s = %" PRId64 " updates - %" PRId64
		" that found no partial sum = %" PRId64 "\n",
		parent, count->updates, count->updates - returned, returned);
	if (passage->child >= 0)
		text_add(&x->text,
			"    fills at %s = %" PRId64
			" sums that come back, one for each read at %s\n",
			level_name(x, passage->child), x->counts->at[passage->child][x->t].fills,
			parent);
	if (count->drains)
		text_add(&x->text,
			"    sums that drain are read at %s, too: %" PRId64 " + %" PRId64
			" = %" PRId64 "\n",
			parent, returned, count->drains, count->reads);
}

static void add_passed(struct explanation *x, const struct explained_passage *passage)
{
	for (int i = passage->child + 1; i < passage->parent; i++)
		if (passes(x, i))
			text_add(&x->text,
				"    no_coalesce at %s: what passes counts there as well\n",
				level_name(x, i));
		else if (x->model->hierarchy->levels[i].storage)
			text_add(&x->text, "    %s is bypassed\n", level_name(x, i));
}

static void explain_passage(struct explanation *x, struct explained_passage *passage)
{
	text_add(&x->text, "  %s %s %s\n", level_name(x, passage->child),
		x->space->written ? "<->" : "<-", level_name(x, passage->parent));
	add_tile(x, passage);
	add_moves(x, passage);
	add_passed(x, passage);
	add_sharing(x, passage);
	if (x->space->written)
		explain_updates(x, passage);
	else
		explain_reads(x, passage);
}

static void explain_space(struct explanation *x)
{
	add_head(x);
	int home = x->loops->home[x->t];
	for (int child = -1; child < home;) {
		struct explained_passage passage = find_passage(x, child);
		explain_passage(x, &passage);
		child = passage.parent;
	}
	text_add(&x->text, "\n");
}

static void add_time(struct explanation *x, const struct nest_score *score)
{
	const struct hierarchy *hierarchy = x->model->hierarchy;
	text_add(&x->text, "cycles: %" PRId64 " of compute", x->counts->compute_cycles);
	if (x->counts->array_cycles)
		text_add(&x->text, " and %" PRId64 " to load, fill and drain the array",
			x->counts->array_cycles);
	for (int i = 0; i < hierarchy->level_count; i++)
		if (score->level_cycles[i] > x->counts->compute_cycles)
			text_add(&x->text, ", %" PRId64 " for the words of %s",
				score->level_cycles[i], level_name(x, i));
	text_add(&x->text, ": %" PRId64 " in all\n", score->cycles);
}

const char *nest_explain(
	const struct nest_model *model, const struct mapping *mapping, struct arena *arena)
{
	struct nest_loops *loops = arena_new(arena, struct nest_loops);
	struct nest_counts *counts = arena_new(arena, struct nest_counts);
	struct nest_score *score = arena_new(arena, struct nest_score);
	enum nest_verdict verdict = nest_evaluate(model, mapping, counts, score);
	if (!nest_verdict_counts(verdict) ||
		nest_loops_make(model, mapping, loops, score) != NEST_FITS)
		return nest_verdict_text(arena, model->hierarchy, model->shape, score);
	struct explanation x = {
		.text = text_open(arena), .model = model, .loops = loops, .counts = counts};
	for (x.t = 0; x.t < model->shape->space_count; x.t++) {
		x.space = &model->shape->spaces[x.t];
		explain_space(&x);
	}
	add_time(&x, score);
	return text_read(&x.text);
}
