#include "solvers/joint/ilp_program.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"
#include "search/engine/milp.h"

#include <math.h>

struct making {
	struct ilp_program *program;
	const struct joint_space *space;
	struct milp *milp;
	struct arena *arena;
	struct array(struct ilp_slot) slots;
};

/* With a name of three numbers at most; -1: none. */
static int column(struct making *making, bool whole, double cost, char kind, int a, int b, int c)
{
	int made = milp_column(making->milp, 0, 1, whole, cost);
	const char *name = b < 0   ? arena_format(making->arena, "%c_%d", kind, a)
			   : c < 0 ? arena_format(making->arena, "%c_%d_%d", kind, a, b)
				   : arena_format(making->arena, "%c_%d_%d_%d", kind, a, b, c);
	milp_name(making->milp, made, name);
	return made;
}

/* --- columns */

static void make_tensor(struct making *making, int t)
{
	const struct joint_tensor *tensor = &making->space->tensors[t];
	struct ilp_tensor *columns = &making->program->tensors[t];
	int ops = making->space->op_count;
	columns->from = tensor->producer < 0 ? 1 : tensor->producer + 1;
	columns->to = tensor->output ? ops : tensor->last;
	int cuts = columns->to - columns->from + 1;
	int count = cuts > 0 ? cuts * tensor->view_count : 0;
	columns->held = arena_array(making->arena, int, count);
	columns->kept = arena_array(making->arena, int, count);
	for (int i = 0; i < count; i++) {
		int view = i % tensor->view_count, cut = columns->from + i / tensor->view_count;
		columns->held[i] = column(making, false, 0, 'h', t, view, cut);
		columns->kept[i] = column(making, false, 0, 'k', t, view, cut);
	}
	if (tensor->producer < 0)
		return;
	columns->valid = arena_array(making->arena, int, ops + 1);
	for (int c = 0; c <= ops; c++)
		columns->valid[c] =
			c > tensor->producer ? column(making, false, 0, 'z', t, c, -1) : -1;
}

static int column_at(
	const struct ilp_program *program, const int *columns, int t, int view, int cut)
{
	const struct ilp_tensor *tensor = &program->tensors[t];
	if (cut < tensor->from || cut > tensor->to)
		return -1;
	return columns[(cut - tensor->from) * program->space->tensors[t].view_count + view];
}

int ilp_held(const struct ilp_program *program, int tensor, int view, int cut)
{
	return column_at(program, program->tensors[tensor].held, tensor, view, cut);
}

int ilp_kept(const struct ilp_program *program, int tensor, int view, int cut)
{
	return column_at(program, program->tensors[tensor].kept, tensor, view, cut);
}

static bool can_evict(const struct making *making, int t, int view, int cut)
{
	const struct joint_tensor *tensor = &making->space->tensors[t];
	return tensor->producer >= 0 && tensor->evict[view] != JOINT_NEVER &&
	       ilp_held(making->program, t, view, cut) >= 0;
}

static int evictable(const struct making *making, int cut)
{
	int count = 0;
	for (int t = 0; t < making->space->tensor_count; t++) {
		bool can = false;
		for (int v = 0; v < making->space->tensors[t].view_count; v++)
			can |= can_evict(making, t, v, cut);
		count += can;
	}
	return count;
}

static void add_slot(struct making *making, int op, int cut)
{
	const struct joint_space *space = making->space;
	struct ilp_program *program = making->program;
	int s = (int)making->slots.count;
	struct ilp_slot *slot = array_add(making->arena, &making->slots);
	int views = program->first_view[space->tensor_count];
	*slot = (struct ilp_slot){.op = op, .cut = cut};
	slot->begins = column(making, true, (double)space->bundle_value, 'b', s, -1, -1);
	slot->wide = arena_array(making->arena, int, program->width_count);
	for (int l = 0; l < program->width_count; l++)
		slot->wide[l] = column(making, false, 0, 'w', program->widths[l], s, -1);
	if (space->bundle_most) {
		slot->used = arena_array(making->arena, int, space->tensor_count);
		for (int t = 0; t < space->tensor_count; t++)
			slot->used[t] = column(making, false, 0, 'n', t, s, -1);
	}
	if (cut < 0)
		return;
	slot->evicts = arena_array(making->arena, int, views);
	for (int t = 0; t < space->tensor_count; t++)
		for (int v = 0; v < space->tensors[t].view_count; v++)
			slot->evicts[program->first_view[t] + v] =
				can_evict(making, t, v, cut)
					? column(making, true, (double)space->tensors[t].evict[v],
						  'e', t, v, s)
					: -1;
}

static void make_slots(struct making *making)
{
	const struct joint_space *space = making->space;
	for (int c = 0; c <= space->op_count; c++) {
		int count = evictable(making, c), size = space->bundle_most;
		int slots = count ? 2 + (size ? (count + size - 1) / size : 1) : 0;
		for (int k = 0; k < slots; k++)
			add_slot(making, -1, c);
		if (c < space->op_count)
			add_slot(making, c, -1);
	}
	making->program->slots = making->slots.at;
	making->program->slot_count = (int)making->slots.count;
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

static void find_widths(struct making *making)
{
	const struct joint_space *space = making->space;
	struct ilp_program *program = making->program;
	int views = program->first_view[space->tensor_count];
	program->widths = arena_array(making->arena, int, space->option_count + (size_t)views);
	for (size_t o = 0; space->core_value && o < space->option_count; o++)
		add_width(program, space->options[o].cores);
	for (int t = 0; space->core_value && t < space->tensor_count; t++)
		for (int v = 0; v < space->tensors[t].view_count; v++)
			add_width(program, space->tensors[t].cores[v]);
}

struct ilp_program *ilp_program_make(const struct joint_space *space, struct arena *arena)
{
	struct ilp_program *program = arena_new(arena, struct ilp_program);
	struct making making = {
		.program = program, .space = space, .milp = milp_make(arena), .arena = arena};
	size_t tensors = (size_t)space->tensor_count;
	program->space = space;
	program->milp = making.milp;
	program->options = arena_array(arena, int, space->option_count);
	program->tensors = arena_array(arena, struct ilp_tensor, tensors);
	program->first_view = arena_array(arena, int, tensors + 1);
	for (size_t o = 0; o < space->option_count; o++)
		program->options[o] =
			column(&making, true, (double)space->options[o].value, 'x', (int)o, -1, -1);
	for (int t = 0; t < space->tensor_count; t++) {
		program->first_view[t + 1] = program->first_view[t] + space->tensors[t].view_count;
		make_tensor(&making, t);
	}
	find_widths(&making);
	make_slots(&making);
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

/* A bundle that begins where nothing is done begins with the next step. */
struct joint_answer ilp_program_read(
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

void ilp_add_evicts(const struct ilp_program *program, int t, int view, int cut, double factor)
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

void ilp_program_forbid(const struct ilp_program *program, const struct joint_answer *answer)
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

const char *ilp_program_text(const struct ilp_program *program, struct arena *arena)
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
