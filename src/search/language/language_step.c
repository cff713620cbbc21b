#include "base/arena.h"
#include "base/text.h"
#include "search/language/language.h"

#include <string.h>

enum { LATER_MOST = sizeof((struct step_use *)0)->later / sizeof(int), EARLY_MOST = 2 };

/* An op while its step is chosen. */
struct choosing_step {
	const struct language *language;
	struct choices *choices;
	struct language_step *step;
	const struct op *op;
};

static const struct tensor *language_tensor_at(const struct language *language, int t)
{
	return &language->workload->tensors[t];
}

/* --- what later ops ask */

/* Chooses what each later op asks of a tensor that lies under a view, of what the view serves.  Leaving an op out
 * asks for less than having it in. */
static int choose_later(
	const struct choosing_step *choosing, int t, const struct view *view, int *later)
{
	const struct language_tensor *tensor = &choosing->language->tensors[t];
	const struct layout *layout = &language_tensor_at(choosing->language, t)->layout;
	int count = 0;
	for (size_t first = 0, end; first < tensor->asked.count; first = end) {
		int served[1024], many = 0, op = tensor->asked.at[first].op;
		for (end = first; end < tensor->asked.count && tensor->asked.at[end].op == op;
			end++)
			if (op > choosing->step->op && many < 1024 &&
				tensor->asked.at[end].is_even &&
				view_serves_asked(layout, view, &tensor->asked.at[end]))
				served[many++] = (int)end;
		if (many && count < LATER_MOST)
			later[count++] = served[choose_below(choosing->choices, many)];
	}
	return count;
}

/* --- where operands are */

/* True if a tensor may be made in LX: an output of the graph if an evict sends it. */
static bool may_write_back(const struct language *language, int t)
{
	return language_tensor_at(language, t)->role != TENSOR_OUTPUT ||
	       (language->kinds.both && language->kinds.evict &&
		       language->tensors[t].stay != STAY_LX &&
		       workload_copy_in_hbm(language->workload, t) < 0);
}

/* True if plans may bring a tensor into LX before the op. */
static bool may_move(const struct choosing_step *choosing, int t)
{
	const struct language *language = choosing->language;
	int producer = language_tensor_at(language, t)->producer;
	return language->tensors[t].may_lie && producer < choosing->step->op &&
	       (producer < 0 ? language->kinds.clone : language->kinds.reload);
}

/* True if an op may have left a tensor where another finds what it asks for. */
static bool is_left(const struct language *language, int t, const struct asked *asked)
{
	int producer = language_tensor_at(language, t)->producer;
	const struct op *op = producer < 0 ? NULL : &language->workload->ops[producer];
	if (!op || !op_is_tiled(op) || !may_write_back(language, t))
		return false;
	for (size_t d = 0; d < language->ops[producer].division_count; d++) {
		const struct division *division = &language->ops[producer].divisions[d];
		const struct touched *made = division->touches[op->read_count];
		if (made->is_view && (!division->partial || language->kinds.owners) &&
			view_serves_asked(
				&language_tensor_at(language, t)->layout, &made->view, asked))
			return true;
	}
	return false;
}

/* True if a move for an op before may have brought it there. */
static bool is_brought(const struct choosing_step *choosing, int t, const struct asked *asked)
{
	const struct language *language = choosing->language;
	const struct language_tensor *tensor = &language->tensors[t];
	const struct layout *layout = &language_tensor_at(language, t)->layout;
	bool input = language_tensor_at(language, t)->producer < 0;
	if (!(input ? language->kinds.clone : language->kinds.reload))
		return false;
	for (size_t a = 0; a < tensor->asked.count; a++) {
		const struct asked *other = &tensor->asked.at[a];
		for (int i = 0; other->op < asked->op && i < other->touch_count; i++)
			if (other->touches[i]->is_view &&
				view_serves_asked(layout, &other->touches[i]->view, other) &&
				view_serves_asked(layout, &other->touches[i]->view, asked))
				return true;
	}
	return false;
}

static bool choose_view(const struct choosing_step *choosing, struct step_use *use)
{
	const struct language_tensor *tensor = &choosing->language->tensors[use->tensor];
	if (!tensor->view_count)
		return false;
	use->view = &tensor->views[choose_below(choosing->choices, (int64_t)tensor->view_count)];
	if (use->asked >= 0 &&
		!view_serves_asked(&language_tensor_at(choosing->language, use->tensor)->layout,
			use->view, &tensor->asked.at[use->asked]))
		return false;
	use->later_count = choose_later(choosing, use->tensor, use->view, use->later);
	return use->asked >= 0 || use->later_count > 0;
}

static bool choose_use(const struct choosing_step *choosing, struct step_use *use)
{
	const struct language_tensor *tensor = &choosing->language->tensors[use->tensor];
	use->place = (enum place_of_use)choose_below(choosing->choices, 3);
	if (use->place == USE_HBM)
		return tensor->stay != STAY_LX;
	if (!tensor->may_lie || !tensor->asked.at[use->asked].is_even)
		return false;
	if (use->place == USE_MOVED)
		return may_move(choosing, use->tensor) && choose_view(choosing, use);
	const struct asked *asked = &tensor->asked.at[use->asked];
	return is_left(choosing->language, use->tensor, asked) ||
	       is_brought(choosing, use->tensor, asked);
}

static bool language_op_reads(const struct op *op, int t)
{
	for (int i = 0; i < op->read_count; i++)
		if (op->reads[i].tensor == t)
			return true;
	return false;
}

/* Moves before the op of what only later ops read, in the order of tensors. */
static bool choose_early(const struct choosing_step *choosing)
{
	const struct language *language = choosing->language;
	struct language_step *step = choosing->step;
	int count = 0;
	for (int t = 0; language->kinds.early && t < (int)language->workload->tensor_count; t++) {
		const struct language_tensor *tensor = &language->tensors[t];
		if (!may_move(choosing, t) || tensor->last <= step->op || count == EARLY_MOST ||
			language_op_reads(choosing->op, t) || tensor->stay == STAY_LX ||
			!choose_below(choosing->choices, 2))
			continue;
		struct step_use *use = &step->uses[step->use_count++];
		*use = (struct step_use){.tensor = t, .place = USE_MOVED, .asked = -1};
		if (!choose_view(choosing, use))
			return false;
		count++;
	}
	return true;
}

/* --- where the output is */

/* True if the output may take over the bytes of a use, element by element. */
static bool may_take_over(const struct choosing_step *choosing, const struct step_use *use)
{
	const struct language *language = choosing->language;
	const struct op *op = choosing->op;
	const struct touched *made = choosing->step->division->touches[op->read_count];
	const struct layout *own = &language_tensor_at(language, op->writes[0].tensor)->layout;
	if (use->place == USE_HBM || !use->operands || op->primitive->kind != OP_MAP ||
		!name_list_has(&language->planning->in_place, op->type) ||
		!layout_equal(own, &language_tensor_at(language, use->tensor)->layout))
		return false;
	for (int i = 0; i < op->read_count; i++)
		if (use->operands >> i & 1 &&
			!access_equal(op, &op->reads[i], &op->writes[0], own->host_rank))
			return false;
	return use->place == USE_RESIDENT || view_equal(use->view, &made->view);
}

static bool choose_out(const struct choosing_step *choosing)
{
	const struct language *language = choosing->language;
	struct language_step *step = choosing->step;
	int t = choosing->op->writes[0].tensor;
	const struct touched *made = step->division->touches[choosing->op->read_count];
	step->out_in_lx = choose_below(choosing->choices, 2);
	step->in_place_of = -1;
	if (!step->out_in_lx)
		return language->tensors[t].stay != STAY_LX ||
		       language_tensor_at(language, t)->role == TENSOR_OUTPUT;
	if (!language->tensors[t].may_lie || !made->is_view ||
		(step->division->partial && !language->kinds.owners) ||
		!may_write_back(language, t))
		return false;
	bool is_needed = language->tensors[t].last > step->op ||
			 language_tensor_at(language, t)->role == TENSOR_OUTPUT;
	step->out_later_count = choose_later(choosing, t, &made->view, step->out_later);
	int taken = (int)choose_below(choosing->choices, step->use_count + 1);
	step->in_place_of = taken - 1;
	return (step->out_later_count > 0 || !is_needed) &&
	       (taken == 0 || may_take_over(choosing, &step->uses[taken - 1]));
}

bool language_choose(const struct language *language, int op, struct choices *choices,
	struct language_step *step)
{
	const struct language_op *at = &language->ops[op];
	struct choosing_step choosing = {language, choices, step, at->op};
	*step = (struct language_step){.op = op};
	step->division = &at->divisions[choose_below(choices, (int64_t)at->division_count)];
	step->mapping = step->division->mapping;
	for (int i = 0; i < at->op->read_count; i++) {
		int u = 0;
		while (u < step->use_count && step->uses[u].tensor != at->op->reads[i].tensor)
			u++;
		step->uses[u].operands |= 1u << i;
		if (u < step->use_count)
			continue;
		step->use_count++;
		step->uses[u].tensor = at->op->reads[i].tensor;
		step->uses[u].asked = step->division->asked[i];
	}
	for (int u = 0; u < step->use_count; u++)
		if (!choose_use(&choosing, &step->uses[u]))
			return false;
	return choose_early(&choosing) && choose_out(&choosing);
}

/* --- tiles */

void language_tile(const struct arch *arch, const struct workload *workload, const struct op *op,
	struct choices *choices, struct mapping *mapping)
{
	struct mapping_row *row = &mapping->rows[arch->lx];
	int at = 0;
	for (int l = 0; l < op->loop_count; l++)
		row->temporal[l] = (uint32_t)choose_divisor(
			choices, op_units(workload, op, l) / mapping_split(arch, mapping, l));
	/* Innermost first: reductions, each time any that is left; whole loops where they do not matter. */
	for (int kind = 0; kind < 4; kind++) {
		uint8_t left[OP_LOOPS_MOST];
		int count = 0;
		for (int l = 0; l < op->loop_count; l++)
			if (op->loops[l].reduction == (kind < 2) &&
				(row->temporal[l] > 1) == (kind % 2 == 0))
				left[count++] = (uint8_t)l;
		for (; count; count--) {
			int next = kind % 2 ? count - 1 : (int)choose_below(choices, count);
			row->temporal_order[at++] = left[next];
			left[next] = left[count - 1];
		}
	}
}

/* --- words */

const char *language_print(
	const struct language *language, const struct language_step *step, struct arena *arena)
{
	static const char *const places[] = {"in HBM", "in LX", "moved into LX"};
	const struct op *op = language->ops[step->op].op;
	struct text text = text_open(arena);
	text_add(&text, "op '%s', %s", op->name,
		mapping_print(arena, language->arch, op, &step->mapping));
	for (int u = 0; u < step->use_count; u++) {
		const struct step_use *use = &step->uses[u];
		text_add(&text, ", '%s' %s%s", language_tensor_at(language, use->tensor)->name,
			places[use->place], use->operands ? "" : " for later ops");
		if (use->view)
			text_add(&text, " under %s", view_print(arena, use->view));
	}
	text_add(&text, ", its output in %s", step->out_in_lx ? "LX" : "HBM");
	if (step->in_place_of >= 0)
		text_add(&text, " in place of '%s'",
			language_tensor_at(language, step->uses[step->in_place_of].tensor)->name);
	return text_read(&text);
}
