#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"
#include "search/drive/solver.h"
#include "search/engine/milp.h"
#include "search/joint/joint_graph.h"
#include "search/joint/joint_plan.h"
#include "search/joint/joint_space.h"

#include <math.h>

struct arena;

struct milp;

struct ilp_tensor {
	int from, to;     /* cuts at which it can be in LX */
	int *held, *kept; /* columns: [(cut - from) * views + view] */
	int *valid;       /* columns: [cut]; NULL: an input */
};

struct ilp_slot {
	int op, cut; /* one of them; -1 */
	int begins;  /* column */
	int *evicts; /* columns, by first_view of a tensor + view; -1: none. NULL: of an op */
	int *used;   /* columns by tensor; NULL: any number may be used */
	int *wide;   /* columns by width */
};

struct ilp_program {
	const struct joint_space *space;
	struct milp *milp;
	int *options; /* columns */
	struct ilp_tensor *tensors;
	int slot_count;
	struct ilp_slot *slots;
	int *first_view; /* by tensor: its views in lists of all */
	int width_count;
	int *widths; /* of steps, ascending */
	double mass; /* the columns of a point add up to no more */
};

/* The rows of the program, in the order of its description. */
enum at { BEGINS, ENDS };

struct ilp_rows {
	const struct ilp_program *program;
	const struct joint_space *space;
	struct milp *milp;
	struct arena *arena;
	size_t *ending;       /* options by end */
	size_t *first_ending; /* by cut */
};

static void at_most(struct ilp_rows *rows, double most)
{
	milp_row(rows->milp, -INFINITY, most);
}

static void ilp_row_term(struct ilp_rows *rows, int column, double factor)
{
	if (column >= 0)
		milp_entry(rows->milp, column, factor);
}

/* --- what options do */

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
	const struct joint_use *use = joint_use_of(option, t);
	return use && use->mode == JOINT_RESIDENT && use->view == view;
}

static bool reads(const struct joint_option *option, int t, int view)
{
	const struct joint_use *use = joint_use_of(option, t);
	return use && use->mode != JOINT_RESIDENT;
}

static bool joint_option_moves(const struct joint_option *option, int t, int view)
{
	const struct joint_use *use = joint_use_of(option, t);
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
	return joint_option_moves(option, t, view);
}

/* Nothing of it may be in LX before. */
static bool clears(const struct joint_option *option, int t, int view)
{
	const struct joint_use *use = joint_use_of(option, t);
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
	struct ilp_rows *rows, enum at at, int cut, does *does_it, int t, int view, double factor)
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
		ilp_row_term(rows, rows->program->options[o], factor);
		count++;
	}
	return count;
}

static bool ilp_rows_any(const struct ilp_rows *rows, int cut, does *does_it, int t, int view)
{
	const struct joint_space *space = rows->space;
	for (size_t o = space->first_option[cut]; o < space->first_option[cut + 1]; o++)
		if (does_it(&space->options[o], t, view))
			return true;
	return false;
}

static void index_ends(struct ilp_rows *rows)
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

static void make_path(struct ilp_rows *rows)
{
	for (int c = 0; c < rows->space->op_count; c++) {
		milp_row(rows->milp, c == 0, c == 0);
		add_options(rows, BEGINS, c, exists, 0, 0, 1);
		add_options(rows, ENDS, c, exists, 0, 0, -1);
	}
}

static int column_at(
	const struct ilp_program *program, const int *columns, int t, int view, int cut)
{
	const struct ilp_tensor *tensor = &program->tensors[t];
	if (cut < tensor->from || cut > tensor->to)
		return -1;
	return columns[(cut - tensor->from) * program->space->tensors[t].view_count + view];
}

static int ilp_kept(const struct ilp_program *program, int tensor, int view, int cut)
{
	return column_at(program, program->tensors[tensor].kept, tensor, view, cut);
}

/* It needs LX empty and not, or reads what is not made yet. */
static bool cannot_be(const struct ilp_rows *rows, const struct joint_option *option)
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

static void ilp_rows_exclude(struct ilp_rows *rows)
{
	for (size_t o = 0; o < rows->space->option_count; o++)
		if (cannot_be(rows, &rows->space->options[o]))
			milp_fix(rows->milp, rows->program->options[o], 0);
}

/* --- where tensors are */

/* Columns of a tensor at a cut; -1: it cannot be there. */
static int ilp_held(const struct ilp_program *program, int tensor, int view, int cut)
{
	return column_at(program, program->tensors[tensor].held, tensor, view, cut);
}

static void make_views(struct ilp_rows *rows, int t, int cut)
{
	const struct ilp_program *program = rows->program;
	const struct joint_tensor *tensor = &rows->space->tensors[t];
	for (int v = 0; v < tensor->view_count; v++) {
		int held = ilp_held(program, t, v, cut), kept = ilp_kept(program, t, v, cut);
		if (held < 0)
			continue;
		at_most(rows, 0);
		ilp_row_term(rows, held, 1);
		ilp_row_term(rows, ilp_kept(program, t, v, cut - 1), -1);
		add_options(rows, ENDS, cut, leaves, t, v, -1);
		at_most(rows, 0);
		ilp_row_term(rows, kept, 1);
		ilp_row_term(rows, held, -1);
		if (cut < rows->space->op_count && ilp_rows_any(rows, cut, resides, t, v)) {
			at_most(rows, 0);
			add_options(rows, BEGINS, cut, resides, t, v, 1);
			for (int w = 0; w < tensor->view_count; w++)
				if (tensor->serves[w * tensor->view_count + v])
					ilp_row_term(rows, ilp_kept(program, t, w, cut), -1);
		}
	}
	if (cut == rows->space->op_count)
		return;
	at_most(rows, 1);
	for (int v = 0; v < tensor->view_count; v++)
		ilp_row_term(rows, ilp_kept(program, t, v, cut), 1);
	add_options(rows, BEGINS, cut, clears, t, 0, 1);
}

/* Adds the columns that evict a tensor at a cut, from one view or all (-1), to the last row: one of them is 1, or
 * none. */
static void ilp_add_evicts(
	const struct ilp_program *program, int t, int view, int cut, double factor)
{
	for (int s = 0; s < program->slot_count; s++)
		for (int v = 0;
			program->slots[s].cut == cut && v < program->space->tensors[t].view_count;
			v++) {
			int column = program->slots[s].evicts[program->first_view[t] + v];
			if (column >= 0 && (view < 0 || v == view))
				milp_entry(program->milp, column, factor);
		}
}

static void make_valid(struct ilp_rows *rows, int t, int cut)
{
	const struct joint_space *space = rows->space;
	const int *valid = rows->program->tensors[t].valid;
	if (!valid || cut <= space->tensors[t].producer)
		return;
	at_most(rows, 0);
	ilp_row_term(rows, valid[cut], 1);
	ilp_row_term(rows, valid[cut - 1], -1);
	add_options(rows, ENDS, cut, writes, t, 0, -1);
	ilp_add_evicts(rows->program, t, -1, cut, -1);
	for (int v = 0; v < space->tensors[t].view_count; v++) {
		int held = ilp_held(rows->program, t, v, cut);
		if (held < 0)
			continue;
		at_most(rows, 0);
		ilp_add_evicts(rows->program, t, v, cut, 1);
		ilp_row_term(rows, held, -1);
	}
	at_most(rows, 0);
	ilp_add_evicts(rows->program, t, -1, cut, 1);
	add_options(rows, ENDS, cut, exists, 0, 0, -1);
	if (cut < space->op_count && ilp_rows_any(rows, cut, reads, t, 0)) {
		at_most(rows, 0);
		add_options(rows, BEGINS, cut, reads, t, 0, 1);
		ilp_row_term(rows, valid[cut], -1);
	}
	if (cut == space->op_count && space->tensors[t].output)
		milp_fix(rows->milp, valid[cut], 1);
}

/* --- room */

/* The bytes that options save whose out takes over the bytes of a use that is
 * dropped with the step: one saving for all options that have these in common. */
struct saving {
	int first, end, tensor, view, out, out_view;
	enum joint_mode mode;
};

static bool joint_option_saves(const struct joint_option *option, int k, struct saving *saving)
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
		if (joint_option_saves(option, k, &other) && other.end == saving->end &&
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

static struct saved make_saved(struct ilp_rows *rows, const struct saving *saving)
{
	const struct joint_space *space = rows->space;
	const struct joint_tensor *tensor = &space->tensors[saving->tensor];
	int64_t made = space->tensors[saving->out].bytes[saving->out_view];
	bool resident = saving->mode == JOINT_RESIDENT;
	struct saved saved = {milp_column(rows->milp, 0, 1, false, 0), tensor->bytes[saving->view]};
	if (made < saved.bytes)
		saved.bytes = made;
	at_most(rows, 0);
	ilp_row_term(rows, saved.column, 1);
	for (size_t o = space->first_option[saving->first];
		o < space->first_option[saving->first + 1]; o++)
		if (is_saving(&space->options[o], saving))
			ilp_row_term(rows, rows->program->options[o], -1);
	if (resident) {
		at_most(rows, 0);
		ilp_row_term(rows, saved.column, 1);
		ilp_row_term(rows,
			ilp_kept(rows->program, saving->tensor, saving->view, saving->first), -1);
	}
	for (int cut = resident ? saving->first + 1 : saving->end; cut <= saving->end; cut++) {
		at_most(rows, 1);
		ilp_row_term(rows, saved.column, 1);
		for (int v = 0; v < tensor->view_count; v++)
			ilp_row_term(rows, ilp_held(rows->program, saving->tensor, v, cut), 1);
	}
	return saved;
}

/* The first option that saves so stands for all. */
static bool is_first(const struct ilp_rows *rows, size_t o, const struct saving *saving)
{
	for (size_t i = rows->space->first_option[saving->first]; i < o; i++)
		if (is_saving(&rows->space->options[i], saving))
			return false;
	return true;
}

struct saved_list array(struct saved);

static void add_saving(struct ilp_rows *rows, const struct saving *saving, struct saved_list *list)
{
	if (saving->mode == JOINT_MOVED ||
		ilp_kept(rows->program, saving->tensor, saving->view, saving->first) >= 0)
		*array_add(rows->arena, list) = make_saved(rows, saving);
}

/* The room of what an option makes or moves, and needs beside it. */
static double joint_space_room(const struct joint_space *space, const struct joint_option *option)
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

static void make_room(struct ilp_rows *rows, int op)
{
	const struct joint_space *space = rows->space;
	struct saved_list list = {0};
	struct saving saving;
	for (size_t o = space->first_option[op]; o < space->first_option[op + 1]; o++)
		for (int k = 0; k < space->options[o].out_count; k++)
			if (joint_option_saves(&space->options[o], k, &saving) &&
				is_first(rows, o, &saving))
				add_saving(rows, &saving, &list);
	double scale = 1 / fmax(1, (double)space->capacity);
	at_most(rows, 1);
	for (size_t i = 0; i < list.count; i++)
		ilp_row_term(rows, list.at[i].column, -(double)list.at[i].bytes * scale);
	for (int t = 0; t < space->tensor_count; t++)
		for (int v = 0; v < space->tensors[t].view_count; v++)
			ilp_row_term(rows, ilp_kept(rows->program, t, v, op),
				(double)space->tensors[t].bytes[v] * scale);
	for (size_t o = space->first_option[op]; o < space->first_option[op + 1]; o++)
		ilp_row_term(rows, rows->program->options[o],
			joint_space_room(space, &space->options[o]) * scale);
}

/* --- bundles */

static void add_slot_evicts(
	struct ilp_rows *rows, const struct ilp_slot *slot, int t, int width, double factor)
{
	const struct joint_tensor *tensor = &rows->space->tensors[t];
	for (int v = 0; v < tensor->view_count; v++)
		if (tensor->cores[v] >= width)
			ilp_row_term(rows, slot->evicts[rows->program->first_view[t] + v], factor);
}

/* `column` is at least what it was in the slot before, but where a bundle begins. */
static void goes_on_rows(struct ilp_rows *rows, int column, int before, int begins)
{
	if (before < 0)
		return;
	at_most(rows, 0);
	ilp_row_term(rows, before, 1);
	ilp_row_term(rows, column, -1);
	ilp_row_term(rows, begins, -1);
}

static void make_used(
	struct ilp_rows *rows, const struct ilp_slot *slot, const struct ilp_slot *before)
{
	const struct joint_space *space = rows->space;
	for (int t = 0; t < space->tensor_count; t++) {
		goes_on_rows(rows, slot->used[t], before ? before->used[t] : -1, slot->begins);
		at_most(rows, 0);
		ilp_row_term(rows, slot->used[t], -1);
		if (slot->op >= 0)
			add_options(rows, BEGINS, slot->op, uses, t, 0, 1);
		else
			add_slot_evicts(rows, slot, t, 0, 1);
	}
	at_most(rows, space->bundle_most);
	for (int t = 0; t < space->tensor_count; t++)
		ilp_row_term(rows, slot->used[t], 1);
}

static void make_wide(
	struct ilp_rows *rows, const struct ilp_slot *slot, const struct ilp_slot *before, int l)
{
	const struct ilp_program *program = rows->program;
	int width = program->widths[l], less = l ? program->widths[l - 1] : 0;
	int paid = milp_column(
		rows->milp, 0, 1, false, (double)rows->space->core_value * (width - less));
	goes_on_rows(rows, slot->wide[l], before ? before->wide[l] : -1, slot->begins);
	for (int t = 0; t < (slot->op >= 0 ? 1 : rows->space->tensor_count); t++) {
		at_most(rows, 0);
		ilp_row_term(rows, slot->wide[l], -1);
		if (slot->op >= 0)
			add_options(rows, BEGINS, slot->op, is_wide, 0, width, 1);
		else
			add_slot_evicts(rows, slot, t, width, 1);
	}
	at_most(rows, 0);
	ilp_row_term(rows, slot->wide[l], 1);
	ilp_row_term(rows, before ? before->wide[l] : -1, -1);
	ilp_row_term(rows, paid, -1);
	at_most(rows, 1);
	ilp_row_term(rows, slot->wide[l], 1);
	ilp_row_term(rows, slot->begins, 1);
	ilp_row_term(rows, paid, -1);
}

/* Behind an option that ends its bundle one begins with an eviction or before it, or with the op. */
static void make_ends(struct ilp_rows *rows, int s)
{
	const struct ilp_slot *slot = &rows->program->slots[s];
	int cut = slot->op >= 0 ? slot->op : slot->cut;
	for (int t = 0; t < (slot->op >= 0 ? 1 : rows->space->tensor_count); t++) {
		at_most(rows, slot->op >= 0 ? 0 : 1);
		int count = add_options(rows, ENDS, cut, ends_bundle, 0, 0, 1);
		if (slot->op < 0 && count)
			add_slot_evicts(rows, slot, t, 0, 1);
		for (int k = s; k == s || (k >= 0 && rows->program->slots[k].cut == cut); k--)
			ilp_row_term(rows, rows->program->slots[k].begins, -1);
	}
	if (slot->op < 0)
		return;
	at_most(rows, 0);
	add_options(rows, BEGINS, slot->op, is_alone, 0, 0, 1);
	ilp_row_term(rows, slot->begins, -1);
}

static void make_slot(struct ilp_rows *rows, int s)
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

/* All rows, in ilp_rows.c. */
static void ilp_rows_make(const struct ilp_program *program, struct arena *arena)
{
	const struct joint_space *space = program->space;
	struct ilp_rows rows = {
		.program = program, .space = space, .milp = program->milp, .arena = arena};
	index_ends(&rows);
	make_path(&rows);
	ilp_rows_exclude(&rows);
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

struct ilp_build {
	struct ilp_program *program;
	const struct joint_space *space;
	struct milp *milp;
	struct arena *arena;
	struct array(struct ilp_slot) slots;
};

/* With a name of three numbers at most; -1: none. */
static int column(struct ilp_build *build, bool whole, double cost, char kind, int a, int b, int c)
{
	int made = milp_column(build->milp, 0, 1, whole, cost);
	const char *name = b < 0   ? arena_format(build->arena, "%c_%d", kind, a)
			   : c < 0 ? arena_format(build->arena, "%c_%d_%d", kind, a, b)
				   : arena_format(build->arena, "%c_%d_%d_%d", kind, a, b, c);
	milp_name(build->milp, made, name);
	return made;
}

/* --- columns */

static void make_tensor(struct ilp_build *build, int t)
{
	const struct joint_tensor *tensor = &build->space->tensors[t];
	struct ilp_tensor *columns = &build->program->tensors[t];
	int ops = build->space->op_count;
	columns->from = tensor->producer < 0 ? 1 : tensor->producer + 1;
	columns->to = tensor->output ? ops : tensor->last;
	int cuts = columns->to - columns->from + 1;
	int count = cuts > 0 ? cuts * tensor->view_count : 0;
	columns->held = arena_array(build->arena, int, count);
	columns->kept = arena_array(build->arena, int, count);
	for (int i = 0; i < count; i++) {
		int view = i % tensor->view_count, cut = columns->from + i / tensor->view_count;
		columns->held[i] = column(build, false, 0, 'h', t, view, cut);
		columns->kept[i] = column(build, false, 0, 'k', t, view, cut);
	}
	if (tensor->producer < 0)
		return;
	columns->valid = arena_array(build->arena, int, ops + 1);
	for (int c = 0; c <= ops; c++)
		columns->valid[c] =
			c > tensor->producer ? column(build, false, 0, 'z', t, c, -1) : -1;
}

static bool can_evict(const struct ilp_build *build, int t, int view, int cut)
{
	const struct joint_tensor *tensor = &build->space->tensors[t];
	return tensor->producer >= 0 && tensor->evict[view] != JOINT_NEVER &&
	       ilp_held(build->program, t, view, cut) >= 0;
}

static int ilp_build_evictable(const struct ilp_build *build, int cut)
{
	int count = 0;
	for (int t = 0; t < build->space->tensor_count; t++) {
		bool can = false;
		for (int v = 0; v < build->space->tensors[t].view_count; v++)
			can |= can_evict(build, t, v, cut);
		count += can;
	}
	return count;
}

static void add_slot(struct ilp_build *build, int op, int cut)
{
	const struct joint_space *space = build->space;
	struct ilp_program *program = build->program;
	int s = (int)build->slots.count;
	struct ilp_slot *slot = array_add(build->arena, &build->slots);
	int views = program->first_view[space->tensor_count];
	*slot = (struct ilp_slot){.op = op, .cut = cut};
	slot->begins = column(build, true, (double)space->bundle_value, 'b', s, -1, -1);
	slot->wide = arena_array(build->arena, int, program->width_count);
	for (int l = 0; l < program->width_count; l++)
		slot->wide[l] = column(build, false, 0, 'w', program->widths[l], s, -1);
	if (space->bundle_most) {
		slot->used = arena_array(build->arena, int, space->tensor_count);
		for (int t = 0; t < space->tensor_count; t++)
			slot->used[t] = column(build, false, 0, 'n', t, s, -1);
	}
	if (cut < 0)
		return;
	slot->evicts = arena_array(build->arena, int, views);
	for (int t = 0; t < space->tensor_count; t++)
		for (int v = 0; v < space->tensors[t].view_count; v++)
			slot->evicts[program->first_view[t] + v] =
				can_evict(build, t, v, cut)
					? column(build, true, (double)space->tensors[t].evict[v],
						  'e', t, v, s)
					: -1;
}

static void make_slots(struct ilp_build *build)
{
	const struct joint_space *space = build->space;
	for (int c = 0; c <= space->op_count; c++) {
		int count = ilp_build_evictable(build, c), size = space->bundle_most;
		int slots = count ? 2 + (size ? (count + size - 1) / size : 1) : 0;
		for (int k = 0; k < slots; k++)
			add_slot(build, -1, c);
		if (c < space->op_count)
			add_slot(build, c, -1);
	}
	build->program->slots = build->slots.at;
	build->program->slot_count = (int)build->slots.count;
}

static void add_width(struct ilp_program *program, int width)
{
	int at = 0;
	while (at < program->width_count && program->widths[at] < width)
		at++;
	if (width <= 0 || (at < program->width_count && program->widths[at] == width))
		return;
	for (int l = program->width_count++; l > at; l--)
		program->widths[l] = program->widths[l - 1];
	program->widths[at] = width;
}

static void find_widths(struct ilp_build *build)
{
	const struct joint_space *space = build->space;
	struct ilp_program *program = build->program;
	int views = program->first_view[space->tensor_count];
	program->widths = arena_array(build->arena, int, space->option_count + (size_t)views);
	for (size_t o = 0; space->core_value && o < space->option_count; o++)
		add_width(program, space->options[o].cores);
	for (int t = 0; space->core_value && t < space->tensor_count; t++)
		for (int v = 0; v < space->tensors[t].view_count; v++)
			add_width(program, space->tensors[t].cores[v]);
}

static struct ilp_program *ilp_program_make(const struct joint_space *space, struct arena *arena)
{
	struct ilp_program *program = arena_new(arena, struct ilp_program);
	struct ilp_build build = {
		.program = program, .space = space, .milp = milp_make(arena), .arena = arena};
	size_t tensors = (size_t)space->tensor_count;
	program->space = space;
	program->milp = build.milp;
	program->options = arena_array(arena, int, space->option_count);
	program->tensors = arena_array(arena, struct ilp_tensor, tensors);
	program->first_view = arena_array(arena, int, tensors + 1);
	for (size_t o = 0; o < space->option_count; o++)
		program->options[o] =
			column(&build, true, (double)space->options[o].value, 'x', (int)o, -1, -1);
	for (int t = 0; t < space->tensor_count; t++) {
		program->first_view[t + 1] = program->first_view[t] + space->tensors[t].view_count;
		make_tensor(&build, t);
	}
	find_widths(&build);
	make_slots(&build);
	ilp_rows_make(program, arena);
	program->mass = milp_size(program->milp).columns;
	return program;
}

/* --- what a point says */

static bool is_set(const double *values, int column)
{
	return column >= 0 && values[column] > 0.5;
}

static void read_slot(const struct ilp_program *program, const struct ilp_slot *slot,
	const double *values, bool *valid, struct joint_step *steps, size_t *count)
{
	const struct joint_space *space = program->space;
	if (slot->op >= 0)
		for (size_t o = space->first_option[slot->op];
			o < space->first_option[slot->op + 1]; o++)
			if (is_set(values, program->options[o])) {
				const struct joint_option *option = &space->options[o];
				for (int k = 0; k < option->out_count; k++)
					valid[option->outs[k].tensor] |= option->outs[k].view < 0;
				steps[(*count)++] =
					(struct joint_step){.kind = JOINT_OPTION, .option = o};
			}
	for (int t = 0; slot->evicts && t < space->tensor_count; t++)
		for (int v = 0; v < space->tensors[t].view_count && !valid[t]; v++)
			if (is_set(values, slot->evicts[program->first_view[t] + v])) {
				valid[t] = true;
				steps[(*count)++] =
					(struct joint_step){.kind = JOINT_EVICT, .tensor = t};
			}
}

/* The steps that a point stands for. */
/* A bundle that begins where nothing is done begins with the next step. */
static struct joint_answer ilp_program_read(
	const struct ilp_program *program, const double *values, struct arena *arena)
{
	const struct joint_space *space = program->space;
	size_t most = (size_t)(space->op_count + space->tensor_count), count = 0;
	struct joint_step *steps = arena_array(arena, struct joint_step, most);
	bool *valid = arena_array(arena, bool, space->tensor_count);
	bool begins = false;
	for (int t = 0; t < space->tensor_count; t++)
		valid[t] = space->tensors[t].producer < 0;
	for (int s = 0; s < program->slot_count; s++) {
		size_t first = count;
		begins |= is_set(values, program->slots[s].begins);
		read_slot(program, &program->slots[s], values, valid, steps, &count);
		if (count == first)
			continue;
		steps[first].begins_bundle = begins;
		begins = false;
	}
	return (struct joint_answer){.count = count, .steps = steps};
}

/* Excludes these options with these evictions at these cuts, in any bundles. */
static void ilp_program_forbid(const struct ilp_program *program, const struct joint_answer *answer)
{
	int cut = 0;
	milp_row(program->milp, -INFINITY, (double)answer->count - 1);
	for (size_t i = 0; i < answer->count; i++) {
		const struct joint_step *step = &answer->steps[i];
		if (step->kind == JOINT_EVICT) {
			ilp_add_evicts(program, step->tensor, -1, cut, 1);
			continue;
		}
		milp_entry(program->milp, program->options[step->option], 1);
		cut = program->space->options[step->option].end;
	}
}

/* In the LP format. */
static const char *ilp_program_text(const struct ilp_program *program, struct arena *arena)
{
	const struct joint_space *space = program->space;
	struct text comment = text_open(arena);
	text_add(&comment,
		"\\ The joint space of %d ops, but for relayouts.  x_o: option o is taken;\n"
		"\\ h_t_v_c, k_t_v_c: tensor t is in LX under view v at cut c, before and after evictions;\n"
		"\\ z_t_c: t is valid in HBM; e_t_v_s: t is evicted in slot s; b_s: a bundle begins;\n"
		"\\ n_t_s: it uses t in HBM; w_l_s: it is l cores wide.\n",
		space->op_count);
	for (int t = 0; t < space->tensor_count; t++)
		text_add(&comment, "\\ tensor %d: %s, %d views\n", t, space->tensors[t].name,
			space->tensors[t].view_count);
	for (int op = 0; op < space->op_count; op++)
		text_add(&comment, "\\ options of op %d: from x_%zu to x_%zu\n", op,
			space->first_option[op], space->first_option[op + 1] - 1);
	return milp_text(program->milp, text_read(&comment), arena);
}

/*
 * The integer program of a joint space (above), given to GLPK.  What a point says is followed step by
 * step before it counts.  Larger spaces are refused: cut_dp takes them.
 */
enum { OPTIONS_MOST = 5000, COLUMNS_MOST = 60000, ROWS_OF_A_TICK = 64, ROUNDS_MOST = 20 };

struct ilp_callback {
	struct run *run;
	const struct ilp_program *program;
	struct joint_answer best;
	bool found;
};

static bool go_on(void *user, uint64_t iterations, int rows)
{
	struct ilp_callback *callback = user;
	return run_spend(callback->run, 1 + iterations * (uint64_t)rows / ROWS_OF_A_TICK);
}

static void joint_ilp_found(void *user, const double *values)
{
	struct ilp_callback *callback = user;
	struct arena *arena = run_arena(callback->run);
	struct joint_answer answer = ilp_program_read(callback->program, values, arena);
	answer.value = joint_value(callback->program->space, &answer, arena, NULL);
	run_evaluated(callback->run, 1);
	if (answer.value == JOINT_NEVER ||
		(callback->found && answer.value >= callback->best.value))
		return;
	callback->best = answer;
	callback->found = true;
}

/* NULL, or why not. */
static const char *joint_space_refusal(const struct joint_space *space, struct arena *arena)
{
	for (int t = 0; t < space->tensor_count; t++)
		if (joint_is_relayed(&space->tensors[t]))
			return "ilp knows no relayouts; cut_dp does";
	if (space->option_count > OPTIONS_MOST)
		return arena_format(arena,
			"ilp takes at most %d options, here are %zu; cut_dp takes them",
			OPTIONS_MOST, space->option_count);
	return NULL;
}

/* NULL, and *why. */
static const struct ilp_program *make_program(
	const struct joint_space *space, struct arena *arena, const char **why)
{
	*why = joint_space_refusal(space, arena);
	if (*why)
		return NULL;
	const struct ilp_program *program = ilp_program_make(space, arena);
	int columns = milp_size(program->milp).columns;
	if (columns > COLUMNS_MOST)
		*why = arena_format(arena,
			"ilp takes programs of at most %d columns, this has %d; cut_dp takes it",
			COLUMNS_MOST, columns);
	return *why ? NULL : program;
}

static const char *ilp_text(const struct problem *problem, struct arena *arena, const char **why)
{
	const struct joint_space *space = problem->joint;
	if (!space) {
		struct joint_question question = {.arch = problem->arch,
			.workload = problem->workload,
			.planning = problem->planning,
			.aim = *problem->aim};
		question.aim.fixed |= KIND_RELAY;
		space = joint_graph_make(&question, arena, why);
	}
	const struct ilp_program *program = space ? make_program(space, arena, why) : NULL;
	return program ? ilp_program_text(program, arena) : NULL;
}

static double ilp_tree_bound(const struct ilp_callback *callback, const struct milp_answer *answer)
{
	double bound = answer->status == PROOF_NONE ? 0 : answer->bound;
	return fmax(0, ceil(bound - milp_margin(callback->program->mass, bound)));
}

/* The best point with addresses.  What has none is forbidden, and the rest looked through again: no
 * bound before is too high for it. */
static void ilp_callback_solve_all(struct ilp_callback *callback)
{
	struct run *run = callback->run;
	struct milp_wishes wishes = {
		.user = callback, .go_on = go_on, .found = joint_ilp_found, .covers = true};
	for (int round = 0; round < ROUNDS_MOST; round++) {
		callback->found = false;
		struct milp_answer answer =
			milp_solve(callback->program->milp, &wishes, run_arena(run));
		if (answer.values)
			joint_ilp_found(callback, answer.values);
		if (answer.status == PROOF_NONE)
			run_complain(run, false, -1, "ilp: GLPK gave up: %s", answer.fault);
		if (answer.status == PROOF_INFEASIBLE && !callback->found)
			run_prove(run, PROOF_INFEASIBLE, 0);
		if (!callback->found)
			return;
		double value = (double)callback->best.value,
		       bound = fmin(ilp_tree_bound(callback, &answer), value);
		if (joint_plan_offer(run, callback->program->space, &callback->best)) {
			joint_plan_prove(run, callback->program->space,
				value <= bound ? PROOF_OPTIMAL : PROOF_BOUND, bound);
			return;
		}
		ilp_program_forbid(callback->program, &callback->best);
	}
	run_complain(run, false, -1, "ilp: %d solutions could not be placed, and it tries no more",
		ROUNDS_MOST);
}

static void ilp_run(struct run *run, const struct problem *problem)
{
	/* A space that is made here has no relayouts. */
	struct joint_aim aim = problem->aim ? *problem->aim : (struct joint_aim){0};
	struct problem without = *problem;
	aim.fixed |= KIND_RELAY;
	without.aim = &aim;
	const struct joint_space *space = joint_plan_space(run, &without);
	const char *why = NULL;
	if (!space)
		return;
	struct ilp_callback callback = {
		.run = run, .program = make_program(space, run_arena(run), &why)};
	if (why)
		run_complain(run, true, -1, "%s", why);
	else
		ilp_callback_solve_all(&callback);
}

const struct solver joint_ilp_solver = {
	.stage = STAGE_JOINT,
	.name = "ilp",
	.summary = "an integer program of all decisions but relayouts; proves, for small graphs",
	.proves = true,
	.plans_all = true,
	.run = ilp_run,
	.program = ilp_text,
};
