#include "model/graph/plan_check.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/number.h"
#include "base/text.h"
#include "model/graph/box_nest.h"
#include "model/graph/run.h"
#include "model/packing/buffer.h"

struct users users_make(struct arena *arena, const struct workload *workload)
{
	size_t tensors = workload->tensor_count, count = 0;
	size_t *first = arena_array(arena, size_t, tensors + 2);
	/* first[t + 1] is where the next user of tensor t goes. */
	for (size_t o = 0; o < workload->op_count; o++)
		for (int i = 0; i < op_operands(&workload->ops[o]); i++, count++)
			first[op_operand(&workload->ops[o], i)->tensor + 2]++;
	for (size_t t = 2; t < tensors + 2; t++)
		first[t] += first[t - 1];
	struct user *at = arena_array(arena, struct user, count);
	for (size_t o = 0; o < workload->op_count; o++)
		for (int i = 0; i < op_operands(&workload->ops[o]); i++)
			at[first[op_operand(&workload->ops[o], i)->tensor + 1]++] =
				(struct user){(int)o, i};
	return (struct users){first, at};
}

void users_life(const struct users *users, int tensor, int *from, int *to)
{
	size_t first = users->first[tensor], end = users->first[tensor + 1];
	*from = first < end ? users->at[first].op : 0;
	*to = first < end ? users->at[end - 1].op + 1 : 0;
}

int users_root(const struct workload *workload, const struct users *users, int tensor)
{
	if (workload->tensors[tensor].producer >= 0)
		return -1;
	for (size_t i = users->first[tensor]; i < users->first[tensor + 1]; i++) {
		const struct op *op = &workload->ops[users->at[i].op];
		if (op->primitive->kind == OP_BROADCAST)
			return op->root;
	}
	return -1;
}

/* Checks a run without its ops. */
static const char *check_shape(struct arena *arena, const struct plan *plan, int r)
{
	const struct tile_run *run = &plan->runs[r];
	int64_t iterations = 1;
	if (run->first < 0 || run->first >= run->end || run->end > plan->step_count)
		return "a run of steps has no steps";
	if (r > 0 && run->first < plan->runs[r - 1].end)
		return "two runs have steps in common, or follow each other in the wrong order";
	if (run->loop_count < 1 || run->loop_count > RUN_LOOPS_MOST)
		return arena_format(arena, "the steps of a run share 1 to %d loops, not %d",
			RUN_LOOPS_MOST, run->loop_count);
	for (int k = 0; k < run->loop_count; k++) {
		for (int other = 0; other < k; other++)
			if (text_equal(run->loops[k].name, run->loops[other].name))
				return arena_format(
					arena, "the run has loop '%s' twice", run->loops[k].name);
		if (run->loops[k].tiles < 1 ||
			!number_mul(iterations, run->loops[k].tiles, &iterations))
			return "the run has no iterations, or more than can be counted";
	}
	return NULL;
}

/* Loop k of the run is a loop of the op that can be cut so, and as in the op before. */
static const char *check_loop(struct arena *arena, const struct plan *plan,
	const struct tile_run *run, const struct op *op, int k)
{
	const struct workload *workload = plan->workload;
	const struct run_loop *shared = &run->loops[k];
	const struct op *first = &workload->ops[run->first];
	int l = run_loop(op, run, k), other = run_loop(first, run, k);
	if (l < 0)
		return arena_format(
			arena, "it has no loop '%s', which its run shares", shared->name);
	if (op->loops[l].reduction && arch_moves_boxes(plan->arch))
		return arena_format(arena,
			"it reduces over '%s', which its run shares: its output would not be whole "
			"before the last iteration, and machines whose tiles move in boxes keep no "
			"sums so long",
			shared->name);
	int64_t units = op_units(workload, op, l);
	if (units % shared->tiles)
		return arena_format(arena,
			"the %lld tiles of '%s' that its run shares do not divide its %lld units",
			(long long)shared->tiles, shared->name, (long long)units);
	int64_t own = run_part(workload, op, run, 0, l).count;
	int64_t theirs = run_part(workload, first, run, 0, other).count;
	if (own != theirs || op->loops[l].extent != first->loops[other].extent)
		return arena_format(arena,
			"its run cuts '%s' into parts of %lld of its %lld elements, but of %lld of "
			"%lld in '%s'",
			shared->name, (long long)own, (long long)op->loops[l].extent,
			(long long)theirs, (long long)first->loops[other].extent, first->name);
	return NULL;
}

/* The host dimension of an operand that the op's loop l alone walks; -1. */
static int walked_dimension(
	const struct workload *workload, const struct op *op, int operand, int l)
{
	const struct layout *layout = &workload->tensors[op_operand(op, operand)->tensor].layout;
	for (int h = 0; h < layout->host_rank; h++)
		if (run_walks(workload, op, operand, h) == l)
			return h;
	return -1;
}

/* An iteration writes its part of the output and nothing else, or adds to it. */
static const char *check_output(struct arena *arena, const struct plan *plan,
	const struct tile_run *run, const struct op *op)
{
	const struct workload *workload = plan->workload;
	for (int k = 0; k < run->loop_count; k++)
		if (!op->loops[run_loop(op, run, k)].reduction &&
			walked_dimension(workload, op, op->read_count, run_loop(op, run, k)) < 0)
			return arena_format(arena,
				"'%s', which its run shares, does not walk a dimension of '%s' "
				"alone",
				run->loops[k].name, workload->tensors[op->writes[0].tensor].name);
	return NULL;
}

/* Checks that a tensor of the run is read part by part. */
static const char *check_read(struct arena *arena, const struct plan *plan,
	const struct tile_run *run, const struct op *op, int i)
{
	const struct workload *workload = plan->workload;
	const struct tensor *tensor = &workload->tensors[op->reads[i].tensor];
	if (tensor->producer < run->first || tensor->producer >= run->end)
		return NULL;
	const struct op *writer = &workload->ops[tensor->producer];
	if (run_adds_up(writer, run))
		return arena_format(arena,
			"it reads '%s', to which '%s' adds up to the last iteration: end the run "
			"before it",
			tensor->name, writer->name);
	for (int k = 0; k < run->loop_count; k++) {
		int h = walked_dimension(
			workload, writer, writer->read_count, run_loop(writer, run, k));
		if (h < 0 || run_walks(workload, op, i, h) != run_loop(op, run, k))
			return arena_format(arena,
				"it does not read '%s' in the parts in which '%s' makes it: end "
				"the run of '%s' before it",
				tensor->name, writer->name, run->loops[k].name);
	}
	return NULL;
}

static const char *check_run_step(
	struct arena *arena, const struct plan *plan, const struct tile_run *run, int step)
{
	const struct op *op = &plan->workload->ops[step];
	const char *why = NULL;
	if (op->move)
		return "a run has no moves";
	if (!op_is_tiled(op))
		return "it has no loops that a run can share";
	if (plan->steps[step].bundle != plan->steps[run->first].bundle)
		return "all steps of a run are of one bundle";
	for (int k = 0; !why && k < run->loop_count; k++)
		why = check_loop(arena, plan, run, op, k);
	if (!why)
		why = check_output(arena, plan, run, op);
	for (int i = 0; !why && i < op->read_count; i++)
		why = check_read(arena, plan, run, op, i);
	return why;
}

const char *plan_run_misfit(struct arena *arena, const struct plan *plan, int r, int *step)
{
	const struct tile_run *run = &plan->runs[r];
	const char *why = check_shape(arena, plan, r);
	*step = -1;
	for (int s = run->first; !why && s < run->end; s++) {
		why = check_run_step(arena, plan, run, s);
		*step = s;
	}
	return why;
}

struct plan_checking {
	const struct plan *plan;
	struct arena *arena;
	struct users users;
	struct array(struct plan_fault) faults;
	bool broken_staging; /* of some broadcast: nothing can be said about its place */
};

static void add_fault(struct plan_checking *check, int step, int residency, const char *why)
{
	if (why)
		*array_add(check->arena, &check->faults) =
			(struct plan_fault){step, residency, why};
}

static const char *checked_tensor_name(const struct plan_checking *check, int tensor)
{
	return check->plan->workload->tensors[tensor].name;
}

/* Steps divide over cores and tile at LX, where tiles move in boxes, and have loops inside where a tile
 * is a nest of its own; a mapping that asks for more promises too much. */
static const char *check_rows(
	const struct plan_checking *check, const struct op *op, const struct mapping *mapping)
{
	const struct arch *arch = check->plan->arch;
	if (!arch_moves_boxes(arch))
		return NULL;
	bool nest = op_has_inner_nest(arch, op); /* the home's loops are those inside a tile */
	for (int r = 0; r < mapping->level_count; r++) {
		const struct mapping_row *row = &mapping->rows[r];
		if (nest && r > arch->lx)
			continue;
		for (int l = 0; l < mapping->loop_count; l++) {
			if ((r == arch->core || row->spatial[l] == 1) &&
				(r == arch->lx || (nest && r == arch->hbm) ||
					row->temporal[l] == 1))
				continue;
			return arena_format(check->arena,
				"loop '%s' has a factor at '%s'; a plan divides loops over the "
				"cores and tiles them at '%s'",
				op->loops[l].name, arch->levels[r].name,
				arch->lx < 0 ? "LX" : arch->levels[arch->lx].name);
		}
	}
	return NULL;
}

static const char *check_slice(const struct plan_checking *check, const struct residency *stay)
{
	struct layout layout = plan_stay_layout(check->plan, stay);
	const char *why = view_check(check->arena, &layout, &stay->view);
	if (why)
		return why;
	if (stay->view.cores > arch_cores(check->plan->arch))
		return arena_format(check->arena, "its view has %lld cores, the machine %lld",
			(long long)stay->view.cores, (long long)arch_cores(check->plan->arch));
	if (stay->view.cores > check->plan->cores)
		return arena_format(check->arena, "its view has %lld cores, the plan %d",
			(long long)stay->view.cores, check->plan->cores);
	if (stay->size != view_bytes(&layout, &stay->view))
		return arena_format(check->arena, "its slice has %lld bytes, not %lld",
			(long long)view_bytes(&layout, &stay->view), (long long)stay->size);
	return NULL;
}

/* From LX to LX, over a ring, and every core finds what it needs. */
static const char *check_relayout(const struct plan_checking *check, int i, const struct op *op)
{
	const struct plan *plan = check->plan;
	const char *from = checked_tensor_name(check, op->reads[0].tensor);
	if (!plan_is_relayout(plan, i))
		return arena_format(check->arena,
			"it changes the layout of '%s', which is not in LX or continues in HBM",
			from);
	if (!plan->arch->data_ring.present)
		return "the machine has no data ring";
	const struct residency *old = plan_lx(plan, op->reads[0].tensor, i);
	const struct view *to = &plan_lx(plan, op->writes[0].tensor, i)->view;
	if (check_slice(check, old) || check_slice(check, plan_lx(plan, op->writes[0].tensor, i)))
		return NULL; /* the stay is complained about */
	if (!view_is_whole(&old->view))
		return arena_format(check->arena, "no core holds some of the slices of '%s'", from);
	struct mapping mapping = move_mapping(plan->arch, plan->workload, op, to);
	if (!mapping_equal(&mapping, &plan->steps[i].mapping))
		return arena_format(check->arena,
			"it is divided as '%s'; its new view is that of '%s'",
			mapping_print(check->arena, plan->arch, op, &plan->steps[i].mapping),
			mapping_print(check->arena, plan->arch, op, &mapping));
	return NULL;
}

/* A move is what it is called. */
static const char *check_move(const struct plan_checking *check, int i, const struct op *op)
{
	const struct plan *plan = check->plan;
	const char *from = checked_tensor_name(check, op->reads[0].tensor);
	if (op->move == MOVE_RELAYOUT)
		return check_relayout(check, i, op);
	if (op->move == MOVE_EVICT && !plan_is_evict(plan, i))
		return arena_format(check->arena,
			"it evicts '%s', which does not lie in LX or goes on there", from);
	if (op->move == MOVE_RELOAD && !plan_is_move(plan, i))
		return arena_format(check->arena,
			"it reloads '%s', which does not lie in HBM or goes on there", from);
	return NULL;
}

/* Its ranks, its tiles; their addresses are checked with those of tensors. */
static const char *check_broadcast(
	const struct plan_checking *check, const struct op *op, const struct step *step)
{
	const struct plan *plan = check->plan;
	const struct layout *layout = &plan->workload->tensors[op->reads[0].tensor].layout;
	const char *why = broadcast_misfit(check->arena, plan->arch, op);
	int from = plan->workload->tensors[op->reads[0].tensor].producer;
	if (!why && !step->staging)
		why = "a broadcast needs staging tiles";
	if (!why && from >= 0 && plan->workload->ops[from].move)
		why = "a broadcast reads its tensor itself, no copy of it";
	if (!why && plan->arch->lx < 0)
		why = "the machine has no LX";
	return why ? why : staging_check(check->arena, layout, step->staging);
}

static void check_step(struct plan_checking *check, int i)
{
	const struct plan *plan = check->plan;
	const struct step *step = &plan->steps[i];
	const struct op *op = &plan->workload->ops[i];
	int before = i ? plan->steps[i - 1].bundle : 0;
	if (step->op != i) {
		add_fault(check, i, -1,
			arena_format(check->arena, "op '%s' is out of order", op->name));
		return;
	}
	if (step->bundle != before && (i == 0 || step->bundle != before + 1))
		add_fault(check, i, -1,
			arena_format(check->arena, "after bundle %d comes %d, not %d", before,
				before + 1, step->bundle));
	const char *why =
		op->primitive->kind == OP_BROADCAST ? check_broadcast(check, op, step) : NULL;
	check->broken_staging |= why != NULL;
	add_fault(check, i, -1, why);
	if (!op_is_tiled(op))
		return;
	why = mapping_check(check->arena, plan->arch, plan->workload,
		plan_step_op(check->arena, plan, i), &step->mapping);
	if (!why)
		why = check_rows(check, op, &step->mapping);
	if (!why && op->move)
		why = check_move(check, i, op);
	int64_t cores = why ? 1 : mapping_cores(plan->arch, &step->mapping);
	if (cores > plan->cores && arch_moves_boxes(plan->arch))
		why = arena_format(
			check->arena, "it uses %lld cores of %d", (long long)cores, plan->cores);
	add_fault(check, i, -1, why);
}

static bool has_all_steps(struct plan_checking *check)
{
	const struct plan *plan = check->plan;
	if (plan->step_count == (int)plan->workload->op_count)
		return true;
	add_fault(check, -1, -1,
		arena_format(check->arena, "it has %d steps for %zu ops", plan->step_count,
			plan->workload->op_count));
	return false;
}

static void check_steps(struct plan_checking *check)
{
	const struct plan *plan = check->plan;
	if (plan->cores < 1 || plan->cores > arch_cores(plan->arch))
		add_fault(check, -1, -1,
			arena_format(check->arena, "the machine has %lld cores, not %d",
				(long long)arch_cores(plan->arch), plan->cores));
	if (!has_all_steps(check))
		return;
	for (int i = 0; i < plan->step_count; i++)
		check_step(check, i);
}

/* The first op that uses a tensor in HBM in any case; NULL. */
static const struct op *find_hbm_user(
	const struct workload *workload, const struct users *users, int tensor)
{
	for (size_t i = users->first[tensor]; i < users->first[tensor + 1]; i++) {
		const struct op *op = &workload->ops[users->at[i].op];
		if (!op_is_tiled(op))
			return op;
	}
	return NULL;
}

/* The first opaque op at which a stay goes on; it leaves nothing in LX.  NULL. */
static const struct op *find_wiper(const struct plan *plan, const struct residency *stay)
{
	for (int step = stay->from; step < stay->to; step++) {
		const struct op *op = &plan->workload->ops[plan->steps[step].op];
		if (op->primitive->kind == OP_OPAQUE)
			return op;
	}
	return NULL;
}

/* A tensor stays where it is for all of its life. */
static const char *check_steps_of(const struct plan_checking *check, const struct residency *stay)
{
	int from, to;
	plan_life(check->plan, &check->users, stay->tensor, &from, &to);
	if (stay->from == from && stay->to == to)
		return NULL;
	return arena_format(check->arena,
		"it lives in steps %d to %d, and stays in %s for %d to %d", from, to,
		stay->place == PLACE_LX ? "LX" : "HBM", stay->from, stay->to);
}

/* The tensor before all relayouts that lead to this one. */
static int before_relayouts(const struct workload *workload, int tensor)
{
	int producer = workload->tensors[tensor].producer;
	while (producer >= 0 && workload->ops[producer].move == MOVE_RELAYOUT) {
		tensor = workload->ops[producer].reads[0].tensor;
		producer = workload->tensors[tensor].producer;
	}
	return tensor;
}

/* An evict of it, or of what relayouts made of it, has sticks of its own in HBM. */
static bool is_written_back(const struct workload *workload, int tensor)
{
	for (size_t o = 0; o < workload->op_count; o++) {
		const struct op *op = &workload->ops[o];
		if (op->move == MOVE_EVICT && !workload->tensors[op->writes[0].tensor].copy_of &&
			before_relayouts(workload, op->reads[0].tensor) == tensor)
			return true;
	}
	return false;
}

const char *plan_stay_misfit(struct arena *arena, const struct plan *plan,
	const struct users *users, const struct residency *stay)
{
	const struct workload *workload = plan->workload;
	if (workload->tensors[stay->tensor].role == TENSOR_INPUT)
		return "it is an input, and lies in HBM";
	if (workload->tensors[stay->tensor].role == TENSOR_OUTPUT &&
		!is_written_back(workload, stay->tensor))
		return "it is an output, and must end up in HBM";
	const struct op *user = find_hbm_user(workload, users, stay->tensor);
	if (user)
		return arena_format(arena, "the %s '%s' uses it in HBM",
			user->primitive->kind == OP_OPAQUE ? "opaque op" : "broadcast", user->name);
	user = find_wiper(plan, stay);
	if (user)
		return arena_format(arena,
			"the opaque op '%s' runs while it stays, and leaves nothing in LX",
			user->name);
	return NULL;
}

static const char *check_life(const struct plan_checking *check, const struct residency *stay)
{
	const char *why = plan_stay_misfit(check->arena, check->plan, &check->users, stay);
	return why ? why : check_steps_of(check, stay);
}

/* Later iterations of a run read again what lies whole in LX. */
static bool takes_part_for_part(
	const struct plan *plan, const struct users *users, int child, int parent)
{
	const struct tile_run *run = plan_run(plan, plan->workload->tensors[child].producer);
	return !run ||
	       (plan_inside(plan, users, child) == run && plan_inside(plan, users, parent) == run);
}

const char *plan_in_place_misfit(struct arena *arena, const struct plan *plan,
	const struct users *users, int child, int parent)
{
	const struct workload *workload = plan->workload;
	const struct tensor *ours = &workload->tensors[child];
	const struct tensor *theirs = &workload->tensors[parent];
	const struct op *op = &workload->ops[ours->producer];
	bool reads = false;
	for (int i = 0; i < op->read_count; i++) {
		if (op->reads[i].tensor != parent)
			continue;
		reads = true;
		if (!access_equal(op, &op->reads[i], &op->writes[0], ours->layout.host_rank))
			return arena_format(arena, "op '%s' reads '%s' elsewhere than it writes",
				op->name, theirs->name);
	}
	if (!reads || op->primitive->kind != OP_MAP)
		return arena_format(arena, "op '%s' does not map '%s' to it element by element",
			op->name, theirs->name);
	if (!takes_part_for_part(plan, users, child, parent))
		return arena_format(arena, "'%s' and it do not both live inside the run of op '%s'",
			theirs->name, op->name);
	return layout_equal(&ours->layout, &theirs->layout)
		       ? NULL
		       : arena_format(arena, "'%s' has another layout", theirs->name);
}

static bool is_stay_of_plan(const struct plan_checking *check, const struct residency *stay)
{
	int tensors = (int)check->plan->workload->tensor_count;
	return stay->tensor >= 0 && stay->tensor < tensors && stay->in_place_of >= -1 &&
	       stay->in_place_of < tensors && stay->from >= 0 && stay->from < stay->to &&
	       stay->to <= check->plan->step_count;
}

/* True if it can take part in the packing. */
static bool check_stay(struct plan_checking *check, int i)
{
	const struct residency *stay = &check->plan->residencies[i], *before = stay - 1;
	const char *why = NULL;
	if (!is_stay_of_plan(check, stay))
		why = "it is of no tensor, or of no steps";
	else if (i > 0 && (before->tensor > stay->tensor ||
				  (before->tensor == stay->tensor && before->to > stay->from)))
		why = "it begins before the stay that stands before it ends";
	else if (stay->place == PLACE_LX && check->plan->arch->lx < 0)
		why = "the machine has no LX";
	if (!why)
		why = stay->place == PLACE_LX ? check_life(check, stay)
					      : check_steps_of(check, stay);
	if (!why && stay->place == PLACE_LX)
		why = check_slice(check, stay);
	if (!why && stay->place == PLACE_LX && stay->in_place_of >= 0)
		why = plan_in_place_misfit(
			check->arena, check->plan, &check->users, stay->tensor, stay->in_place_of);
	add_fault(check, -1, i, why);
	return !why && stay->place == PLACE_LX;
}

/* The buffer of a tensor: its stays in LX cover its life, so there is one at most.  Stays are by
 * tensor. */
static int buffer_of(const struct plan *plan, const int *stays, size_t count, int tensor)
{
	size_t at;
	bisect(at, 0, count, plan->residencies[stays[at]].tensor < tensor);
	return at < count && plan->residencies[stays[at]].tensor == tensor ? (int)at : -1;
}

/* Tenants of LX: stays, and behind them the staging tiles of broadcasts. */
struct tenants {
	size_t stay_count, count;
	const int *stays; /* numbers of residencies */
	struct buffer *buffers;
	int *steps; /* of tiles */
	struct placement placement;
};

static void add_stays(struct plan_checking *check, struct tenants *tenants)
{
	const struct plan *plan = check->plan;
	int *in_place_of = tenants->placement.in_place_of;
	for (size_t b = 0; b < tenants->stay_count; b++) {
		const struct residency *stay = &plan->residencies[tenants->stays[b]];
		struct buffer *buffer = &tenants->buffers[tenants->count++];
		tenants->placement.addresses[b] = stay->address;
		in_place_of[b] = -1;
		*buffer = (struct buffer){.size = stay->size, .start = stay->from, .end = stay->to};
		if (stay->in_place_of < 0)
			continue;
		in_place_of[b] =
			buffer_of(plan, tenants->stays, tenants->stay_count, stay->in_place_of);
		buffer->parents = &in_place_of[b];
		buffer->parent_count = 1;
		if (in_place_of[b] < 0)
			add_fault(check, -1, tenants->stays[b],
				arena_format(check->arena, "'%s' does not stay in LX",
					checked_tensor_name(check, stay->in_place_of)));
	}
}

static void plan_checking_add_tiles(const struct plan_checking *check, struct tenants *tenants)
{
	for (int step = 0; step < check->plan->step_count; step++) {
		const struct staging *staging = check->plan->steps[step].staging;
		for (int k = 0; staging && k < staging->count; k++) {
			size_t b = tenants->count++;
			tenants->buffers[b] = (struct buffer){
				.size = staging_bytes(staging), .start = step, .end = step + 1};
			tenants->placement.addresses[b] = staging->addresses[k];
			tenants->placement.in_place_of[b] = -1;
			tenants->steps[b] = step;
		}
	}
}

static int plan_count_tiles(const struct plan *plan)
{
	int count = 0;
	for (int step = 0; step < plan->step_count; step++)
		if (plan->steps[step].staging)
			count += plan->steps[step].staging->count;
	return count;
}

static const char *name_tenant(
	const struct plan_checking *check, const struct tenants *tenants, size_t b, bool other)
{
	const struct plan *plan = check->plan;
	if (b < tenants->stay_count)
		return arena_format(check->arena, "'%s'",
			checked_tensor_name(check, plan->residencies[tenants->stays[b]].tensor));
	int step = tenants->steps[b];
	size_t first = b;
	while (first > tenants->stay_count && tenants->steps[first - 1] == step)
		first--;
	return arena_format(check->arena, "%sstaging tile %zu%s%s%s", other ? "" : "its ",
		b - first, other ? " of '" : "", other ? plan->workload->ops[step].name : "",
		other ? "'" : "");
}

static void check_packing(struct plan_checking *check, const int *stays, size_t count)
{
	const struct plan *plan = check->plan;
	size_t most = count + (size_t)plan_count_tiles(plan);
	struct tenants tenants = {
		.stay_count = count,
		.stays = stays,
		.buffers = arena_array(check->arena, struct buffer, most),
		.steps = arena_array(check->arena, int, most),
		.placement = {.count = most,
			.addresses = arena_array(check->arena, int64_t, most),
			.in_place_of = arena_array(check->arena, int, most)},
	};
	if (!most)
		return;
	add_stays(check, &tenants);
	plan_checking_add_tiles(check, &tenants);
	struct packing packing = {
		.capacity = arch_lx_capacity(plan->arch),
		.alignment = arch_lx(plan->arch)->alignment,
		.count = tenants.count,
		.buffers = tenants.buffers,
	};
	struct packing_fault fault = packing_check(&packing, &tenants.placement);
	if (fault.a < 0)
		return;
	const char *why = fault.why;
	bool is_stay = (size_t)fault.a < count;
	if (fault.b >= 0)
		why = arena_format(check->arena, "%sand %s: %s",
			is_stay ? "" : name_tenant(check, &tenants, (size_t)fault.a, false),
			name_tenant(check, &tenants, (size_t)fault.b, true), fault.why);
	else if (!is_stay)
		why = arena_format(check->arena, "%s: %s",
			name_tenant(check, &tenants, (size_t)fault.a, false), fault.why);
	add_fault(check, is_stay ? -1 : tenants.steps[fault.a], is_stay ? stays[fault.a] : -1, why);
}

static void check_stays(struct plan_checking *check)
{
	int *stays = arena_array(check->arena, int, check->plan->residency_count);
	size_t count = 0;
	for (int i = 0; i < check->plan->residency_count; i++) {
		if (check_stay(check, i))
			stays[count++] = i;
	}
	if (check->plan->arch->lx >= 0 && !check->broken_staging)
		check_packing(check, stays, count);
}

/* Checks runs first: other checks need steps that share the loops that their run lists. */
static bool check_runs(struct plan_checking *check)
{
	if (check->plan->run_count && !has_all_steps(check))
		return false;
	for (int r = 0; r < check->plan->run_count; r++) {
		int step;
		const char *why = plan_run_misfit(check->arena, check->plan, r, &step);
		add_fault(check, step, -1, why);
	}
	return check->faults.count == 0;
}

static void check_bundles(struct plan_checking *check)
{
	int step;
	const char *why = plan_bundle_misfit(check->arena, check->plan, &step);
	add_fault(check, step, -1, why);
}

struct plan_faults plan_check(const struct plan *plan, struct arena *arena)
{
	struct plan_checking check = {
		.plan = plan, .arena = arena, .users = users_make(arena, plan->workload)};
	if (check_runs(&check)) {
		check_steps(&check);
		check_stays(&check);
	}
	if (!check.faults.count)
		check_bundles(&check);
	return (struct plan_faults){check.faults.count, check.faults.at};
}
