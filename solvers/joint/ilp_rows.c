#include "base/arena.h"
#include "base/array.h"
#include "search/engine/milp.h"
#include "solvers/joint/ilp_program.h"

#include <math.h>

/* The rows of the program, in the order of ilp_program.h. */
enum at { BEGINS, ENDS };

struct rows {
	const struct ilp_program *program;
	const struct joint_space *space;
	struct milp *milp;
	struct arena *arena;
	size_t *ending;       /* options by end */
	size_t *first_ending; /* by cut */
};

static void at_most(struct rows *rows, double most)
{
	milp_row(rows->milp, -INFINITY, most);
}

static void add(struct rows *rows, int column, double factor)
{
	if (column >= 0)
		milp_entry(rows->milp, column, factor);
}

/* --- what options do */

static const struct joint_use *find_use(const struct joint_option *option, int t)
{
	for (int u = 0; u < option->use_count; u++)
		if (option->uses[u].tensor == t)
			return &option->uses[u];
	return NULL;
}

static bool exists(const struct joint_option *option, int t, int view)
{
	return true;
}

static bool ends_bundle(const struct joint_option *option, int t, int view)
{
	return option->ends_bundle;
}

static bool is_alone(const struct joint_option *option, int t, int view)
{
	return option->alone;
}

static bool resides(const struct joint_option *option, int t, int view)
{
	const struct joint_use *use = find_use(option, t);
	return use && use->mode == JOINT_RESIDENT && use->view == view;
}

static bool reads(const struct joint_option *option, int t, int view)
{
	const struct joint_use *use = find_use(option, t);
	return use && use->mode != JOINT_RESIDENT;
}

static bool moves(const struct joint_option *option, int t, int view)
{
	const struct joint_use *use = find_use(option, t);
	return use && use->mode == JOINT_MOVED && use->view == view;
}

static bool writes(const struct joint_option *option, int t, int view)
{
	for (int o = 0; o < option->out_count; o++)
		if (option->outs[o].tensor == t && option->outs[o].view < 0)
			return true;
	return false;
}

static bool leaves(const struct joint_option *option, int t, int view)
{
	for (int o = 0; o < option->out_count; o++)
		if (option->outs[o].tensor == t && option->outs[o].view == view)
			return true;
	return moves(option, t, view);
}

/* Nothing of it may be in LX before. */
static bool clears(const struct joint_option *option, int t, int view)
{
	const struct joint_use *use = find_use(option, t);
	return option->empties || (use && use->mode == JOINT_MOVED);
}

static bool uses(const struct joint_option *option, int t, int view)
{
	if (option->alone)
		return false;
	for (int a = 0; a < option->argument_count; a++)
		if (option->arguments[a] == t)
			return true;
	return reads(option, t, view) || writes(option, t, view);
}

static bool is_wide(const struct joint_option *option, int t, int width)
{
	return option->cores >= width;
}

typedef bool does(const struct joint_option *option, int t, int view);

/* Adds x(o) of all options that begin or end at a cut and do something; how many there are. */
static int add_options(
	struct rows *rows, enum at at, int cut, does *does_it, int t, int view, double factor)
{
	const struct joint_space *space = rows->space;
	const size_t *first = at == BEGINS ? space->first_option : rows->first_ending;
	int count = 0;
	if (cut >= space->op_count + (at == ENDS))
		return 0;
	for (size_t i = first[cut]; i < first[cut + 1]; i++) {
		size_t o = at == BEGINS ? i : rows->ending[i];
		if (!does_it(&space->options[o], t, view))
			continue;
		add(rows, rows->program->options[o], factor);
		count++;
	}
	return count;
}

static bool any(const struct rows *rows, int cut, does *does_it, int t, int view)
{
	const struct joint_space *space = rows->space;
	for (size_t o = space->first_option[cut]; o < space->first_option[cut + 1]; o++)
		if (does_it(&space->options[o], t, view))
			return true;
	return false;
}

static void index_ends(struct rows *rows)
{
	const struct joint_space *space = rows->space;
	rows->ending = arena_array(rows->arena, size_t, space->option_count);
	rows->first_ending = arena_array(rows->arena, size_t, space->op_count + 2);
	size_t count = 0;
	for (int c = 0; c <= space->op_count; c++) {
		rows->first_ending[c] = count;
		for (size_t o = 0; o < space->option_count; o++)
			if (space->options[o].end == c)
				rows->ending[count++] = o;
	}
	rows->first_ending[space->op_count + 1] = count;
}

/* --- the steps */

static void make_path(struct rows *rows)
{
	for (int c = 0; c < rows->space->op_count; c++) {
		milp_row(rows->milp, c == 0, c == 0);
		add_options(rows, BEGINS, c, exists, 0, 0, 1);
		add_options(rows, ENDS, c, exists, 0, 0, -1);
	}
}

/* It needs LX empty and not, or reads what is not made yet. */
static bool cannot_be(const struct rows *rows, const struct joint_option *option)
{
	bool in_lx = false, early = false;
	for (int u = 0; u < option->use_count; u++) {
		const struct joint_use *use = &option->uses[u];
		bool resident = use->mode == JOINT_RESIDENT;
		in_lx |= use->mode != JOINT_HBM;
		early |= rows->space->tensors[use->tensor].producer >= option->first ||
			 (resident && ilp_kept(rows->program, use->tensor, use->view,
					      option->first) < 0);
	}
	for (int k = 0; k < option->out_count; k++)
		in_lx |= option->outs[k].view >= 0;
	return early || (option->empties && in_lx);
}

static void exclude(struct rows *rows)
{
	for (size_t o = 0; o < rows->space->option_count; o++)
		if (cannot_be(rows, &rows->space->options[o]))
			milp_fix(rows->milp, rows->program->options[o], 0);
}

/* --- where tensors are */

static void make_views(struct rows *rows, int t, int cut)
{
	const struct ilp_program *program = rows->program;
	const struct joint_tensor *tensor = &rows->space->tensors[t];
	for (int v = 0; v < tensor->view_count; v++) {
		int held = ilp_held(program, t, v, cut), kept = ilp_kept(program, t, v, cut);
		if (held < 0)
			continue;
		at_most(rows, 0);
		add(rows, held, 1);
		add(rows, ilp_kept(program, t, v, cut - 1), -1);
		add_options(rows, ENDS, cut, leaves, t, v, -1);
		at_most(rows, 0);
		add(rows, kept, 1);
		add(rows, held, -1);
		if (cut < rows->space->op_count && any(rows, cut, resides, t, v)) {
			at_most(rows, 0);
			add_options(rows, BEGINS, cut, resides, t, v, 1);
			for (int w = 0; w < tensor->view_count; w++)
				if (tensor->serves[w * tensor->view_count + v])
					add(rows, ilp_kept(program, t, w, cut), -1);
		}
	}
	if (cut == rows->space->op_count)
		return;
	at_most(rows, 1);
	for (int v = 0; v < tensor->view_count; v++)
		add(rows, ilp_kept(program, t, v, cut), 1);
	add_options(rows, BEGINS, cut, clears, t, 0, 1);
}

static void make_valid(struct rows *rows, int t, int cut)
{
	const struct joint_space *space = rows->space;
	const int *valid = rows->program->tensors[t].valid;
	if (!valid || cut <= space->tensors[t].producer)
		return;
	at_most(rows, 0);
	add(rows, valid[cut], 1);
	add(rows, valid[cut - 1], -1);
	add_options(rows, ENDS, cut, writes, t, 0, -1);
	ilp_add_evicts(rows->program, t, -1, cut, -1);
	for (int v = 0; v < space->tensors[t].view_count; v++) {
		int held = ilp_held(rows->program, t, v, cut);
		if (held < 0)
			continue;
		at_most(rows, 0);
		ilp_add_evicts(rows->program, t, v, cut, 1);
		add(rows, held, -1);
	}
	at_most(rows, 0);
	ilp_add_evicts(rows->program, t, -1, cut, 1);
	add_options(rows, ENDS, cut, exists, 0, 0, -1);
	if (cut < space->op_count && any(rows, cut, reads, t, 0)) {
		at_most(rows, 0);
		add_options(rows, BEGINS, cut, reads, t, 0, 1);
		add(rows, valid[cut], -1);
	}
	if (cut == space->op_count && space->tensors[t].output)
		milp_fix(rows->milp, valid[cut], 1);
}

/* --- room */

/* What options save whose out takes over the bytes of a use that is dropped with the step: all that
 * have these in common. */
struct saving {
	int first, end, tensor, view, out, out_view;
	enum joint_mode mode;
};

static bool saves(const struct joint_option *option, int k, struct saving *saving)
{
	const struct joint_out *out = &option->outs[k];
	if (out->view < 0 || out->in_place < 0)
		return false;
	const struct joint_use *use = &option->uses[out->in_place];
	*saving = (struct saving){option->first, option->end, use->tensor, use->view, out->tensor,
		out->view, use->mode};
	return use->mode != JOINT_HBM;
}

static bool is_saving(const struct joint_option *option, const struct saving *saving)
{
	struct saving other;
	for (int k = 0; k < option->out_count; k++)
		if (saves(option, k, &other) && other.end == saving->end &&
			other.tensor == saving->tensor && other.view == saving->view &&
			other.out == saving->out && other.out_view == saving->out_view &&
			other.mode == saving->mode)
			return true;
	return false;
}

/* Bytes that are saved if the tensor is held under the view of its use, as the factor of the column in the
 * row of room. */
struct saved {
	int column;
	int64_t bytes;
};

static struct saved make_saved(struct rows *rows, const struct saving *saving)
{
	const struct joint_space *space = rows->space;
	const struct joint_tensor *tensor = &space->tensors[saving->tensor];
	int64_t made = space->tensors[saving->out].bytes[saving->out_view];
	bool resident = saving->mode == JOINT_RESIDENT;
	struct saved saved = {milp_column(rows->milp, 0, 1, false, 0), tensor->bytes[saving->view]};
	if (made < saved.bytes)
		saved.bytes = made;
	at_most(rows, 0);
	add(rows, saved.column, 1);
	for (size_t o = space->first_option[saving->first];
		o < space->first_option[saving->first + 1]; o++)
		if (is_saving(&space->options[o], saving))
			add(rows, rows->program->options[o], -1);
	if (resident) {
		at_most(rows, 0);
		add(rows, saved.column, 1);
		add(rows, ilp_kept(rows->program, saving->tensor, saving->view, saving->first), -1);
	}
	for (int cut = resident ? saving->first + 1 : saving->end; cut <= saving->end; cut++) {
		at_most(rows, 1);
		add(rows, saved.column, 1);
		for (int v = 0; v < tensor->view_count; v++)
			add(rows, ilp_held(rows->program, saving->tensor, v, cut), 1);
	}
	return saved;
}

/* The first option that saves so stands for all. */
static bool is_first(const struct rows *rows, size_t o, const struct saving *saving)
{
	for (size_t i = rows->space->first_option[saving->first]; i < o; i++)
		if (is_saving(&rows->space->options[i], saving))
			return false;
	return true;
}

struct saved_list array(struct saved);

static void add_saving(struct rows *rows, const struct saving *saving, struct saved_list *list)
{
	if (saving->mode == JOINT_MOVED ||
		ilp_kept(rows->program, saving->tensor, saving->view, saving->first) >= 0)
		*array_add(rows->arena, list) = make_saved(rows, saving);
}

/* The room of what an option makes or moves, and needs beside it. */
static double room_of(const struct joint_space *space, const struct joint_option *option)
{
	double room = (double)option->room;
	for (int u = 0; u < option->use_count; u++)
		if (option->uses[u].mode == JOINT_MOVED)
			room += (double)space->tensors[option->uses[u].tensor]
					.bytes[option->uses[u].view];
	for (int k = 0; k < option->out_count; k++)
		if (option->outs[k].view >= 0)
			room += (double)space->tensors[option->outs[k].tensor]
					.bytes[option->outs[k].view];
	return room;
}

static void make_room(struct rows *rows, int op)
{
	const struct joint_space *space = rows->space;
	struct saved_list list = {0};
	struct saving saving;
	for (size_t o = space->first_option[op]; o < space->first_option[op + 1]; o++)
		for (int k = 0; k < space->options[o].out_count; k++)
			if (saves(&space->options[o], k, &saving) && is_first(rows, o, &saving))
				add_saving(rows, &saving, &list);
	double scale = 1 / fmax(1, (double)space->capacity);
	at_most(rows, 1);
	for (size_t i = 0; i < list.count; i++)
		add(rows, list.at[i].column, -(double)list.at[i].bytes * scale);
	for (int t = 0; t < space->tensor_count; t++)
		for (int v = 0; v < space->tensors[t].view_count; v++)
			add(rows, ilp_kept(rows->program, t, v, op),
				(double)space->tensors[t].bytes[v] * scale);
	for (size_t o = space->first_option[op]; o < space->first_option[op + 1]; o++)
		add(rows, rows->program->options[o], room_of(space, &space->options[o]) * scale);
}

/* --- bundles */

static void add_slot_evicts(
	struct rows *rows, const struct ilp_slot *slot, int t, int width, double factor)
{
	const struct joint_tensor *tensor = &rows->space->tensors[t];
	for (int v = 0; v < tensor->view_count; v++)
		if (tensor->cores[v] >= width)
			add(rows, slot->evicts[rows->program->first_view[t] + v], factor);
}

/* `column` is at least what it was in the slot before, but where a bundle begins. */
static void go_on(struct rows *rows, int column, int before, int begins)
{
	if (before < 0)
		return;
	at_most(rows, 0);
	add(rows, before, 1);
	add(rows, column, -1);
	add(rows, begins, -1);
}

static void make_used(struct rows *rows, const struct ilp_slot *slot, const struct ilp_slot *before)
{
	const struct joint_space *space = rows->space;
	for (int t = 0; t < space->tensor_count; t++) {
		go_on(rows, slot->used[t], before ? before->used[t] : -1, slot->begins);
		at_most(rows, 0);
		add(rows, slot->used[t], -1);
		if (slot->op >= 0)
			add_options(rows, BEGINS, slot->op, uses, t, 0, 1);
		else
			add_slot_evicts(rows, slot, t, 0, 1);
	}
	at_most(rows, space->bundle_most);
	for (int t = 0; t < space->tensor_count; t++)
		add(rows, slot->used[t], 1);
}

static void make_wide(
	struct rows *rows, const struct ilp_slot *slot, const struct ilp_slot *before, int l)
{
	const struct ilp_program *program = rows->program;
	int width = program->widths[l], less = l ? program->widths[l - 1] : 0;
	int paid = milp_column(
		rows->milp, 0, 1, false, (double)rows->space->core_value * (width - less));
	go_on(rows, slot->wide[l], before ? before->wide[l] : -1, slot->begins);
	for (int t = 0; t < (slot->op >= 0 ? 1 : rows->space->tensor_count); t++) {
		at_most(rows, 0);
		add(rows, slot->wide[l], -1);
		if (slot->op >= 0)
			add_options(rows, BEGINS, slot->op, is_wide, 0, width, 1);
		else
			add_slot_evicts(rows, slot, t, width, 1);
	}
	at_most(rows, 0);
	add(rows, slot->wide[l], 1);
	add(rows, before ? before->wide[l] : -1, -1);
	add(rows, paid, -1);
	at_most(rows, 1);
	add(rows, slot->wide[l], 1);
	add(rows, slot->begins, 1);
	add(rows, paid, -1);
}

/* Behind an option that ends its bundle one begins with an eviction or before it, or with the op. */
static void make_ends(struct rows *rows, int s)
{
	const struct ilp_slot *slot = &rows->program->slots[s];
	int cut = slot->op >= 0 ? slot->op : slot->cut;
	for (int t = 0; t < (slot->op >= 0 ? 1 : rows->space->tensor_count); t++) {
		at_most(rows, slot->op >= 0 ? 0 : 1);
		int count = add_options(rows, ENDS, cut, ends_bundle, 0, 0, 1);
		if (slot->op < 0 && count)
			add_slot_evicts(rows, slot, t, 0, 1);
		for (int k = s; k == s || (k >= 0 && rows->program->slots[k].cut == cut); k--)
			add(rows, rows->program->slots[k].begins, -1);
	}
	if (slot->op < 0)
		return;
	at_most(rows, 0);
	add_options(rows, BEGINS, slot->op, is_alone, 0, 0, 1);
	add(rows, slot->begins, -1);
}

static void make_slot(struct rows *rows, int s)
{
	const struct ilp_program *program = rows->program;
	const struct ilp_slot *slot = &program->slots[s], *before = s ? slot - 1 : NULL;
	if (!s)
		milp_fix(rows->milp, slot->begins, 1);
	make_ends(rows, s);
	if (rows->space->bundle_most)
		make_used(rows, slot, before);
	for (int l = 0; l < program->width_count; l++)
		make_wide(rows, slot, before, l);
}

void ilp_rows_make(const struct ilp_program *program, struct arena *arena)
{
	const struct joint_space *space = program->space;
	struct rows rows = {
		.program = program, .space = space, .milp = program->milp, .arena = arena};
	index_ends(&rows);
	make_path(&rows);
	exclude(&rows);
	for (int t = 0; t < space->tensor_count; t++)
		for (int c = 0; c <= space->op_count; c++) {
			make_views(&rows, t, c);
			make_valid(&rows, t, c);
		}
	for (int op = 0; op < space->op_count; op++)
		make_room(&rows, op);
	for (int s = 0; s < program->slot_count; s++)
		make_slot(&rows, s);
}
