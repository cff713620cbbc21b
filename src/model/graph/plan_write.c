#include "base/arena.h"
#include "model/graph/plan_check.h"
#include "model/graph/plan_file.h"
#include "model/graph/run.h"
#include "spec/step.h"

#include <inttypes.h>
#include <string.h>

const char *const proof_names[] = {
	[PROOF_NONE] = "none",
	[PROOF_OPTIMAL] = "optimal",
	[PROOF_BOUND] = "bound",
	[PROOF_INFEASIBLE] = "infeasible",
	[PROOF_BUDGET] = "budget",
	NULL,
};

struct plan_arguments plan_arguments_open(const struct plan *plan, struct arena *arena)
{
	size_t tensors = plan->workload->tensor_count;
	return (struct plan_arguments){.plan = plan,
		.tensors = arena_array(arena, int, tensors),
		.lists = arena_array(arena, int, tensors),
		.list = 1};
}

void plan_arguments_clear(struct plan_arguments *arguments)
{
	arguments->count = 0;
	arguments->list++;
}

void plan_arguments_add(struct plan_arguments *arguments, int first, int end)
{
	const struct plan *plan = arguments->plan;
	for (int step = first; step < end; step++) {
		const struct op *op = &plan->workload->ops[plan->steps[step].op];
		for (int i = 0; i < op_operands(op); i++) {
			int home = tensor_home(plan->workload, op_operand(op, i)->tensor);
			if (arguments->lists[home] == arguments->list ||
				!plan_is_argument(plan, step, i))
				continue;
			arguments->lists[home] = arguments->list;
			arguments->tensors[arguments->count++] = home;
		}
	}
}

/* What is written, and what is needed to write it. */
struct writing {
	struct text *text;
	const struct plan *plan;
	const int *origins; /* by tensor */
	int *first, *at;    /* residencies by origin: at[first[t]] .. at[first[t + 1] - 1] */
	struct users users;
};

static struct writing writing_open(struct text *text, const struct plan *plan)
{
	struct arena *arena = text->arena;
	size_t tensors = plan->workload->tensor_count;
	struct writing writing = {.text = text,
		.plan = plan,
		.origins = tensor_origins(arena, plan->workload),
		.first = arena_array(arena, int, tensors + 2),
		.at = arena_array(arena, int, plan->residency_count),
		.users = users_make(arena, plan->workload)};
	for (int i = 0; i < plan->residency_count; i++)
		writing.first[writing.origins[plan->residencies[i].tensor] + 2]++;
	for (size_t t = 2; t < tensors + 2; t++)
		writing.first[t] += writing.first[t - 1];
	for (int i = 0; i < plan->residency_count; i++)
		writing.at[writing.first[writing.origins[plan->residencies[i].tensor] + 1]++] = i;
	return writing;
}

/* What a plan calls a tensor. */
static const char *name_of(const struct writing *writing, int tensor)
{
	return writing->plan->workload->tensors[writing->origins[tensor]].name;
}

static void write_word(struct text *text, const char *key, const char *word)
{
	text_add(text, "%s: ", key);
	quote_yaml(text, word);
}

static void write_staging(struct text *text, const struct staging *staging)
{
	text_add(text,
		", staging: {rows: %" PRId64 ", sticks: %" PRId64 ", size: %" PRId64
		", addresses: [",
		staging->rows, staging->sticks, staging_bytes(staging));
	for (int k = 0; k < staging->count; k++)
		text_add(text, "%s%" PRId64, k ? ", " : "", staging->addresses[k]);
	text_add(text, "]}");
}

/* Ops of the workload behind `step` that use a tensor, or what moves behind it make of that, but for those of
 * the move at `except`; writes their names behind so many others, and answers how many there are then. */
static int list_readers(const struct writing *writing, int tensor, int step, int except,
	struct text *text, int count)
{
	const struct workload *workload = writing->plan->workload;
	size_t first = writing->users.first[tensor], end = writing->users.first[tensor + 1];
	for (size_t i = first; i < end; i++) {
		int user = writing->users.at[i].op;
		const struct op *op = &workload->ops[user];
		if (user <= step || user == except ||
			writing->users.at[i].operand >= op->read_count ||
			(i > first && writing->users.at[i - 1].op == user))
			continue;
		if (op->move) {
			int made = op->writes[0].tensor;
			count = list_readers(writing, made, step, except, text, count);
			continue;
		}
		if (text) {
			text_add(text, "%s", count ? ", " : "");
			quote_yaml(text, op->name);
		}
		count++;
	}
	return count;
}

/* All ops behind a move use what it makes, or `readers` lists those that do. */
static void write_readers(const struct writing *writing, int step)
{
	const struct op *op = &writing->plan->workload->ops[writing->plan->steps[step].op];
	if (!list_readers(writing, op->reads[0].tensor, step, step, NULL, 0))
		return;
	text_add(writing->text, ", readers: [");
	list_readers(writing, op->writes[0].tensor, step, step, writing->text, 0);
	text_add(writing->text, "]");
}

static void write_step(const struct writing *writing, const struct step *step)
{
	struct text *text = writing->text;
	const struct plan *plan = writing->plan;
	const struct op *op = &plan->workload->ops[step->op];
	text_add(text, "- {");
	if (op->move) {
		write_word(text, "move", op->type);
		write_word(text, ", tensor", name_of(writing, op->reads[0].tensor));
		if (op->move == MOVE_CLONE || op->move == MOVE_RELAYOUT)
			write_word(text, ", as", op->name);
		write_readers(writing, (int)(step - plan->steps));
	} else {
		write_word(text, "op", op->name);
	}
	text_add(text, ", bundle: %d, ", step->bundle);
	write_word(text, "mapping", mapping_print(text->arena, plan->arch, op, &step->mapping));
	if (step->staging)
		write_staging(text, step->staging);
	text_add(text, "}\n");
}

/* What stands before a step: the loops of a run before its first one. */
static void write_indent(const struct writing *writing, int step)
{
	struct text *text = writing->text;
	const struct tile_run *run = plan_run(writing->plan, step);
	text_add(text, "  ");
	if (run && step == run->first) {
		text_add(text, "- loop: {");
		for (int k = 0; k < run->loop_count; k++) {
			text_add(text, "%s", k ? ", " : "");
			quote_yaml(text, run->loops[k].name);
			text_add(text, ": %" PRId64, run->loops[k].tiles);
		}
		text_add(text, "}\n    steps:\n  ");
	}
	text_add(text, "%s", run ? "  " : "");
}

static void write_bundles(const struct writing *writing)
{
	struct text *text = writing->text;
	const struct plan *plan = writing->plan;
	struct plan_arguments arguments = plan_arguments_open(plan, text->arena);
	text_add(text, "  bundles:\n");
	for (int first = 0, end; first < plan->step_count; first = end) {
		int bundle = plan->steps[first].bundle;
		for (end = first; end < plan->step_count && plan->steps[end].bundle == bundle;)
			end++;
		plan_arguments_clear(&arguments);
		plan_arguments_add(&arguments, first, end);
		text_add(text, "  - {bundle: %d, arguments: [", bundle);
		for (int i = 0; i < arguments.count; i++) {
			text_add(text, "%s", i ? ", " : "");
			quote_yaml(text, name_of(writing, arguments.tensors[i]));
		}
		text_add(text, "]}\n");
	}
}

static void write_stay(const struct writing *writing, const struct residency *stay)
{
	struct text *text = writing->text;
	text_add(text, "    - {where: %s, ", stay->place == PLACE_LX ? "LX" : "HBM");
	if (stay->place == PLACE_LX) {
		write_word(text, "view", view_print(text->arena, &stay->view));
		text_add(text, ", address: %" PRId64 ", size: %" PRId64 ", ", stay->address,
			stay->size);
	}
	text_add(text, "from: %d, to: %d", stay->from, stay->to);
	if (stay->place == PLACE_LX && stay->in_place_of >= 0)
		write_word(text, ", in_place_of", name_of(writing, stay->in_place_of));
	text_add(text, "}\n");
}

/* The stays of a tensor, and of what came of it. */
static void write_tensor(const struct writing *writing, int tensor)
{
	struct text *text = writing->text;
	int first = writing->first[tensor], end = writing->first[tensor + 1];
	if (first == end)
		return;
	/* libyaml takes keys of up to 1024 characters without a '?' */
	const char *name = writing->plan->workload->tensors[tensor].name;
	bool is_long = strlen(name) > 160;
	text_add(text, is_long ? "    ? " : "    ");
	quote_yaml(text, name);
	text_add(text, is_long ? "\n    :\n" : ":\n");
	for (int i = first; i < end; i++)
		write_stay(writing, &writing->plan->residencies[writing->at[i]]);
}

static bool is_inserted(const struct workload *workload, int tensor)
{
	int producer = workload->tensors[tensor].producer;
	return producer >= 0 && workload->ops[producer].move != MOVE_NONE;
}

/* The workload's own tensors by number; then those of moves by step, whose
 * numbers depend on who inserted them first. */
static void write_tensors(const struct writing *writing)
{
	struct text *text = writing->text;
	const struct plan *plan = writing->plan;
	const struct workload *workload = plan->workload;
	text_add(text, plan->residency_count ? "  tensors:\n" : "  tensors: {}\n");
	for (int t = 0; t < (int)workload->tensor_count; t++) {
		if (!is_inserted(workload, t))
			write_tensor(writing, t);
	}
	for (int step = 0; step < plan->step_count; step++) {
		const struct op *op = &workload->ops[plan->steps[step].op];
		bool named = op->move == MOVE_CLONE || op->move == MOVE_RELAYOUT;
		for (int i = 0; named && i < op->write_count; i++)
			write_tensor(writing, op->writes[i].tensor);
	}
}

static void write_proof(struct text *text, const struct proof *proof)
{
	text_add(text, "  proof: {status: %s", proof_names[proof->status]);
	if (proof->method)
		write_word(text, ", method", proof->method);
	if (proof->space)
		write_word(text, ", space", proof->space);
	if (proof->status != PROOF_NONE)
		text_add(text, ", value: %.17g, bound: %.17g", proof->value, proof->bound);
	text_add(text, "}\n");
}

void plan_write(const struct plan *plan, struct text *text)
{
	struct writing writing = writing_open(text, plan);
	text_add(text, "plan:\n  version: 1\n");
	if (plan->workload->name)
		write_word(text, "  workload", plan->workload->name);
	if (plan->workload->name)
		text_add(text, "\n");
	write_word(text, "  architecture", plan->arch->name);
	text_add(text, "\n  cores: %d\n  steps:%s\n", plan->cores, plan->step_count ? "" : " []");
	for (int i = 0; i < plan->step_count; i++) {
		write_indent(&writing, i);
		write_step(&writing, &plan->steps[i]);
	}
	write_bundles(&writing);
	write_tensors(&writing);
	write_proof(text, &plan->proof);
}
