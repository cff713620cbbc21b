#include "sim/graph/demand.h"

#include "base/arena.h"
#include "base/wide.h"
#include "model/machine/topology.h"

#include <inttypes.h>
#include <stdlib.h>

static int clamp_step(const struct program *program, int step)
{
	return step < 0 ? 0 : step > program->step_count ? program->step_count : step;
}

static bool is_inside(const struct program *program, const struct allotment *allotment)
{
	const struct arch *arch = program->arch;
	int64_t capacity = arch->lx < 0 ? 0 : arch->levels[arch->lx].capacity;
	return allotment->size >= 0 && allotment->address >= 0 && allotment->size <= capacity &&
	       allotment->address <= capacity - allotment->size;
}

/* Counts, or with `at` lists, the allotments of every tensor and step; first[i + 1] is list i's
 * cursor. */
static void visit(struct allotment_index *index, const struct program *program)
{
	for (size_t a = 0; a < program->allotment_count; a++) {
		const struct allotment *allotment = &program->allotments[a];
		size_t list = (size_t)allotment->tensor, end = list + 1;
		if (!is_inside(program, allotment) || allotment->tensor >= (int)index->tensor_count)
			continue;
		if (allotment->tensor < 0) {
			list = index->tensor_count + (size_t)clamp_step(program, allotment->from);
			end = index->tensor_count + (size_t)clamp_step(program, allotment->to);
		}
		for (; list < end; list++) {
			if (index->at)
				index->at[index->first[list + 1]++] = allotment;
			else
				index->first[list + 2]++;
		}
	}
}

struct allotment_index allotment_index_make(const struct program *program, struct arena *arena)
{
	struct allotment_index index = {
		program->workload->tensor_count, (size_t)program->step_count, NULL, NULL};
	size_t lists = index.tensor_count + index.step_count;
	index.first = arena_array(arena, size_t, lists + 2);
	visit(&index, program);
	for (size_t i = 0; i < lists; i++)
		index.first[i + 2] += index.first[i + 1];
	index.at = arena_array(arena, const struct allotment *, index.first[lists + 1]);
	visit(&index, program);
	return index;
}

static const char *name_of(const struct program *program, const struct allotment *allotment)
{
	if (allotment->tensor < 0)
		return "tile buffers";
	return program->workload->tensors[allotment->tensor].name;
}

static bool takes_over(const struct allotment *child, const struct allotment *parent)
{
	return parent->tensor >= 0 && child->in_place_of == parent->tensor &&
	       child->address == parent->address && child->size <= parent->size &&
	       parent->to == child->from + 1;
}

static bool share(const struct allotment *a, const struct allotment *b)
{
	bool in_time = a->from < b->to && b->from < a->to;
	bool in_space = a->address - b->address < b->size && b->address - a->address < a->size;
	return (a->cores & b->cores) && in_time && in_space && !takes_over(a, b) &&
	       !takes_over(b, a);
}

static int by_start(const void *left, const void *right)
{
	const struct allotment *a = *(const struct allotment *const *)left;
	const struct allotment *b = *(const struct allotment *const *)right;
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return (a > b) - (a < b);
}

static void complain_share(
	struct faults *faults, const struct allotment *before, const struct allotment *after)
{
	bool in_order = before < after; /* as the program lists them */
	fault_add_step(faults, FAULT_OVERLAP, after->from,
		__builtin_ctzll(before->cores & after->cores),
		number_max(before->address, after->address),
		"'%s' and '%s' share bytes and live together",
		name_of(faults->program, in_order ? before : after),
		name_of(faults->program, in_order ? after : before));
}

/* By their starts: whoever begins while another lives is compared with that. */
void allotment_check(const struct program *program, struct faults *faults, struct arena *arena)
{
	size_t count = 0;
	const struct allotment **order =
		arena_array(arena, const struct allotment *, program->allotment_count);
	for (size_t i = 0; i < program->allotment_count; i++) {
		const struct allotment *allotment = &program->allotments[i];
		if (is_inside(program, allotment))
			order[count++] = allotment;
		else
			fault_add_step(faults, FAULT_BOUNDS, allotment->from,
				allotment->cores ? __builtin_ctzll(allotment->cores) : 0,
				allotment->address, "the %" PRId64 " bytes of '%s' leave LX",
				allotment->size, name_of(program, allotment));
	}
	qsort(order, count, sizeof *order, by_start);
	for (size_t i = 0; i < count; i++)
		for (size_t j = i + 1; j < count && order[j]->from < order[i]->to; j++)
			if (share(order[i], order[j]))
				complain_share(faults, order[i], order[j]);
}

/* The first of a list that has the bytes then and there. */
static const struct allotment *find_in(const struct allotment_index *index, size_t list, int step,
	int core, int64_t low, int64_t high)
{
	for (size_t k = index->first[list]; k < index->first[list + 1]; k++) {
		const struct allotment *allotment = index->at[k];
		if (allotment->from <= step && step < allotment->to &&
			allotment->cores >> core & 1 && low >= allotment->address &&
			high - allotment->address <= allotment->size)
			return allotment;
	}
	return NULL;
}

const struct allotment *allotment_find(const struct allotment_index *index, int step, int core,
	int tensor, int64_t low, int64_t high)
{
	bool known = tensor >= 0 && (size_t)tensor < index->tensor_count;
	const struct allotment *own =
		known ? find_in(index, (size_t)tensor, step, core, low, high) : NULL;
	const struct allotment *tiles =
		find_in(index, index->tensor_count + (size_t)step, step, core, low, high);
	return !own || (tiles && tiles < own) ? tiles : own;
}

static int64_t ticks_of(const struct paces *paces, struct ratio cycles)
{
	int64_t most = paces->longest / RANKS_MOST;
	if (!cycles.num)
		return 0;
	wide ticks = ((wide)paces->ticks * cycles.num + cycles.den - 1) / cycles.den;
	return ticks < most ? (int64_t)ticks : most;
}

static int64_t find_time(const struct paces *paces, struct pace pace, int64_t work)
{
	return pace_time(pace, work, paces->longest);
}

/* Arithmetic of one core: the units below it work side by side. */
static struct ratio core_rate(const struct arch *arch, struct ratio rate)
{
	struct ratio sum;
	int64_t units = arch->levels[arch->compute].instances / arch_cores(arch);
	if (units > 1 && ratio_mul(rate, (struct ratio){units, 1}, &sum))
		return sum;
	return rate;
}

static int64_t refine_copying(int64_t ticks, const struct copying *copying)
{
	ticks = pace_refine(ticks, STICK_BYTES, copying->in.rate);
	ticks = pace_refine(ticks, STICK_BYTES, copying->out.rate);
	ticks = pace_refine(ticks, STICK_BYTES, copying->link.rate);
	ticks = pace_refine_time(ticks, copying->in.latency);
	ticks = pace_refine_time(ticks, copying->out.latency);
	ticks = pace_refine_time(ticks, copying->link.latency);
	return pace_refine_time(ticks, copying->sync);
}

static void open_copying(struct paces *paces, const struct copying *copying, struct arena *arena)
{
	int64_t ticks = paces->ticks;
	paces->hops = hops_open(paces->program, arena);
	paces->copy_in = pace_find(ticks, STICK_BYTES, copying->in.rate);
	paces->copy_out = pace_find(ticks, STICK_BYTES, copying->out.rate);
	paces->copy_link = copying->link.rate.num
				   ? pace_find(ticks, STICK_BYTES, copying->link.rate)
				   : paces->copy_out;
	paces->in_latency = ticks_of(paces, copying->in.latency);
	paces->out_latency = ticks_of(paces, copying->out.latency);
	paces->link_latency = ticks_of(paces, copying->link.latency);
	paces->sync = ticks_of(paces, copying->sync);
}

/* Ticks of a stick on a bus that turns round, if a cycle has so many. */
static struct pace turn_pace(int64_t ticks, struct ratio turn)
{
	struct ratio rate;
	if (!turn.num || !ratio_make(turn.den, turn.num, &rate))
		return (struct pace){0, 1};
	return pace_find(ticks, STICK_BYTES, rate);
}

/* Ticks of a cycle, and of what measured machines need time for. */
static void open_measured(struct paces *paces, const struct arch *arch, int64_t ticks)
{
	struct ratio turn = {0, 1}, repeated = {0, 1}, far = {0, 1};
	if (arch->hbm >= 0)
		far = arch->levels[arch->hbm].write_far;
	if (arch->hbm >= 0 && paces->hbm_shared) {
		turn = arch->levels[arch->hbm].turn;
		repeated = arch->levels[arch->hbm].turn_repeated;
	}
	if (arch->lane_cores)
		ticks = pace_refine(ticks, STICK_BYTES, arch->lane_rate);
	if (turn.num)
		ticks = pace_refine(ticks, STICK_BYTES, (struct ratio){turn.den, turn.num});
	if (far.num)
		ticks = pace_refine(ticks, STICK_BYTES, (struct ratio){far.den, far.num});
	if (repeated.num)
		ticks = pace_refine(ticks, STICK_BYTES, (struct ratio){repeated.den, repeated.num});
	paces->ticks = ticks;
	if (arch->hbm >= 0 && arch->levels[arch->hbm].run.num) {
		struct ratio run = arch->levels[arch->hbm].run;
		ticks = pace_refine(ticks, 1, (struct ratio){run.den, run.num});
	}
	paces->ticks = ticks;
	if (arch->hbm >= 0 && arch->levels[arch->hbm].run.num) {
		struct ratio run = arch->levels[arch->hbm].run;
		paces->run = pace_find(ticks, 1, (struct ratio){run.den, run.num});
	}
	if (arch->hbm >= 0 && arch->levels[arch->hbm].page.num) {
		struct ratio page = arch->levels[arch->hbm].page;
		paces->page = pace_find(ticks, 1, (struct ratio){page.den, page.num});
	}
	if (arch->hbm >= 0)
		paces->plane = turn_pace(ticks, arch->levels[arch->hbm].plane);
	paces->turn[0] = turn_pace(ticks, turn);
	paces->turn[1] = turn_pace(ticks, repeated);
	paces->write_far = turn_pace(ticks, far);
	if (arch->lane_cores)
		paces->lane = pace_find(ticks, STICK_BYTES, arch->lane_rate);
	if (arch->compute >= 0)
		paces->tile = ticks * arch->levels[arch->compute].tile_cycles;
}

/* Returns the number of cores that compute, by step. */
static int64_t *count_cores(const struct program *program, struct arena *arena)
{
	uint64_t *masks = arena_array(arena, uint64_t, program->step_count + 1);
	int64_t *cores = arena_array(arena, int64_t, program->step_count + 1);
	for (size_t i = 0; i < program->instruction_count; i++) {
		const struct instruction *instruction = &program->instructions[i];
		if (instruction->engine == ENGINE_COMPUTE)
			masks[instruction->step] |= instruction->mask;
	}
	for (int s = 0; s < program->step_count; s++)
		cores[s] = __builtin_popcountll(masks[s]);
	return cores;
}

struct paces *paces_open(
	const struct program *program, const struct nests *nests, struct arena *arena)
{
	static const struct level unlimited;
	const struct arch *arch = program->arch;
	const struct level *hbm = arch->hbm < 0 ? &unlimited : &arch->levels[arch->hbm];
	const struct level *lx = arch->lx < 0 ? &unlimited : &arch->levels[arch->lx];
	struct ratio hbm_write = hbm->shared_rate ? hbm->read_rate : hbm->write_rate;
	struct ratio lx_write = lx->shared_rate ? lx->read_rate : lx->write_rate;
	struct ratio mac = {0, 1}, strided = {0, 1}, vector = {0, 1}, reduction = {0, 1},
		     restickify = {0, 1};
	if (arch->compute >= 0) {
		mac = core_rate(arch, arch->levels[arch->compute].mac_rate);
		strided = core_rate(arch, arch->levels[arch->compute].strided_mac_rate);
		vector = core_rate(arch, arch->levels[arch->compute].vector_rate);
		reduction = core_rate(arch, arch->levels[arch->compute].reduction_rate);
		restickify = core_rate(arch, arch->levels[arch->compute].restickify_rate);
	}

	struct paces *paces = arena_new(arena, struct paces);
	paces->program = program;
	paces->step_cores = count_cores(program, arena);
	paces->nests = nests;
	paces->hbm_shared = hbm->shared_rate;
	paces->lx_shared = lx->shared_rate;
	paces->longest = INT64_MAX / 4 / (int64_t)(program->instruction_count + 1);
	int64_t ticks = pace_refine(1, STICK_BYTES, hbm->read_rate);
	ticks = pace_refine(ticks, STICK_BYTES, hbm_write);
	ticks = pace_refine(ticks, STICK_BYTES, lx->fill_rate);
	ticks = pace_refine(ticks, STICK_BYTES, lx->read_rate);
	ticks = pace_refine(ticks, STICK_BYTES, lx_write);
	ticks = pace_refine(ticks, STICK_BYTES, arch->reduce_ring.rate);
	if (program_has_relayouts(program))
		ticks = pace_refine(ticks, STICK_BYTES, arch->data_ring.rate);
	if (program->ranks > 1)
		ticks = refine_copying(ticks, &arch->copying);
	open_measured(paces, arch, ticks);
	ticks = paces->ticks;
	paces->hbm_read = pace_find(ticks, STICK_BYTES, hbm->read_rate);
	paces->hbm_write = pace_find(ticks, STICK_BYTES, hbm_write);
	paces->port = pace_find(ticks, STICK_BYTES, lx->fill_rate);
	paces->lx_read = pace_find(ticks, STICK_BYTES, lx->read_rate);
	paces->lx_write = pace_find(ticks, STICK_BYTES, lx_write);
	paces->link = pace_find(ticks, STICK_BYTES, arch->reduce_ring.rate);
	paces->ring = pace_find(ticks, STICK_BYTES, arch->data_ring.rate);
	for (int bytes = 1; bytes <= FP32_BYTES; bytes++) {
		struct ratio rate;
		bool known = ratio_mul(mac, (struct ratio){2, bytes}, &rate);
		paces->mac[bytes] = pace_find(ticks, 1, known ? rate : mac);
	}
	paces->mac_rate = mac;
	paces->strided_rate = strided;
	paces->vector = pace_find(ticks, 1, vector);
	paces->reduction = reduction.num ? pace_find(ticks, 1, reduction) : paces->vector;
	paces->restickify = restickify.num ? pace_find(ticks, 1, restickify) : paces->vector;
	paces->link_stick = find_time(paces, paces->link, 1);
	paces->ring_stick = find_time(paces, paces->ring, 1);
	if (program->ranks > 1)
		open_copying(paces, &arch->copying, arena);
	return paces;
}
/* Adds the demands of a broadcast's root.  HBM of another rank is not among the servers. */
static void add_copying(struct paces *paces, const struct op *op,
	const struct instruction *instruction, struct service_demand *demand)
{
	const struct transfer *transfer = instruction->transfer;
	int64_t sticks = transfer->box->region.sticks;
	demand->delay = paces->sync;
	demand->lane = demand->bus = 0;
	if (instruction->engine == ENGINE_DMA_IN) {
		demand->latency = paces->in_latency;
		demand->stream = find_time(paces, paces->copy_in, sticks);
		return;
	}
	demand->latency = paces->out_latency;
	demand->stream = find_time(paces, paces->copy_out, sticks);
	int hops = hops_find(&paces->hops, op->root, transfer->rank);
	if (hops == 0)
		return;
	demand->latency = number_min(demand->latency + hops * paces->link_latency, paces->longest);
	demand->stream = number_max(demand->hbm, find_time(paces, paces->copy_link, sticks));
	demand->hbm = 0;
}

/* Returns the time of `count` waits, num / den of the pace each, of which the cores of a step wait their shares together. */
static int64_t wait_time(const struct paces *paces, struct pace pace, int step, int64_t count,
	int64_t num, int64_t den)
{
	if (!number_mul(count, num, &count) || !number_mul(pace.den, den, &pace.den) ||
		!number_mul(pace.den, number_max(1, paces->step_cores[step]), &pace.den))
		return paces->longest;
	return find_time(paces, pace, count);
}

/* Returns the least stride of a loop in sticks of a tensor; 0: the loop stays in one stick. */
static int64_t place_of(const struct layout *layout, const struct access *access, int loop)
{
	int64_t place = 1;
	for (int d = layout->rank - 2; d >= 0; place *= layout->size[d--])
		if (layout->size[d] > 1 && layout->host_dim[d] >= 0 &&
			access->host[layout->host_dim[d]].loop[loop])
			return place;
	return 0;
}

/* Returns the mask of loops that step from one stick of an operand to the next in memory. */
static uint32_t first_loops(
	const struct program *program, const struct op *op, const struct access *access)
{
	const struct layout *layout = &program->workload->tensors[access->tensor].layout;
	uint32_t loops = 0;
	for (int l = 0; l < op->loop_count; l++)
		loops |= (uint32_t)(place_of(layout, access, l) == 1) << l;
	return loops;
}

/* Blocks of a map whose result lies in another order than all operands. */
struct shuffle {
	uint32_t inside; /* loops within a block of the result */
	int64_t sticks;  /* of the result in a block; 0: it is in order */
	int64_t between; /* blocks to the next stick of an operand */
};

static struct shuffle find_shuffle(const struct program *program, const struct op *op)
{
	const struct level *hbm = &program->arch->levels[program->arch->hbm];
	const struct access *result = &op->writes[0];
	const struct layout *layout = &program->workload->tensors[result->tensor].layout;
	struct shuffle shuffle = {.inside = first_loops(program, op, result)};
	int64_t next = 0, whole = 1;
	uint32_t reads = 0;
	for (int i = 0; i < op->read_count; i++)
		reads |= first_loops(program, op, &op->reads[i]);
	if (!reads || !shuffle.inside || reads & shuffle.inside)
		return shuffle;
	/* Places of the result below those of the operands' loops, all of them if they have none. */
	for (int l = 0; l < op->loop_count; l++) {
		int64_t place = reads >> l & 1 ? place_of(layout, result, l) : 0;
		if (place && (!next || place < next))
			next = place;
	}
	for (int d = 0; d < layout->rank - 1; d++)
		whole *= layout->size[d];
	for (int d = layout->rank - 2; d >= 0 && !shuffle.sticks; d--)
		if (layout->size[d] > 1)
			shuffle.sticks = layout->size[d];
	shuffle.between = (next ? next : whole) / shuffle.sticks;
	if (hbm->run_bytes)
		shuffle.sticks =
			number_min(shuffle.sticks, number_max(1, hbm->run_bytes / STICK_BYTES));
	return shuffle;
}

/* Returns the time of closed pages: each block opens one when it is read, and one when it is written. */
static int64_t shuffle_time(const struct paces *paces, const struct instruction *instruction,
	const struct op *op, const struct shuffle *shuffle)
{
	const struct level *hbm = &paces->program->arch->levels[paces->program->arch->hbm];
	const struct region *box = &instruction->transfer->box->region;
	bool along = instruction->engine == ENGINE_DMA_OUT;
	for (int i = 0; i < op->read_count; i++)
		for (int l = 0; l < op->loop_count && op->reads[i].tensor == box->tensor; l++)
			for (int d = 0; d < LAYOUT_HOST_RANK_MOST && shuffle->inside >> l & 1; d++)
				along |= op->reads[i].host[d].loop[l] != 0;
	int64_t sticks = along ? shuffle->sticks : 1, den;
	if (!number_mul(sticks, shuffle->between + hbm->open_planes, &den))
		return paces->longest;
	return wait_time(paces, paces->page, instruction->step, box->sticks, shuffle->between, den);
}

/* Runs of sticks that follow each other in HBM begin one by one, but for what moves. */
static int64_t run_time(const struct paces *paces, const struct instruction *instruction)
{
	const struct program *program = paces->program;
	const struct region *box = &instruction->transfer->box->region;
	const struct layout *layout = &program->workload->tensors[box->tensor].layout;
	int64_t runs = 1, longest = program->arch->levels[program->arch->hbm].run_bytes;
	int64_t page = program->arch->levels[program->arch->hbm].page_bytes;
	int64_t open = program->arch->levels[program->arch->hbm].open_planes;
	int64_t places = 1; /* of the tensor where such a run may lie */
	bool apart = false; /* what lies outside the dimensions that the box has whole */
	const struct op *op = &program->workload->ops[program->step_ops[instruction->step]];
	if (op->move != MOVE_NONE || op->primitive->kind != OP_MAP || paces->run.num == 0)
		return 0;
	if (paces->page.num) {
		struct shuffle shuffle = find_shuffle(program, op);
		if (shuffle.sticks)
			return shuffle_time(paces, instruction, op, &shuffle);
	}
	for (int d = box->rank - 1; d >= 0; d--) {
		if (apart) {
			runs *= box->count[d];
			places *= layout->size[d];
		}
		apart |= box->count[d] < layout->size[d];
	}
	if (longest && box->sticks / runs * STICK_BYTES >= longest)
		return paces->page.num && box->sticks / runs * STICK_BYTES < page && places > open
			       ? wait_time(paces, paces->page, instruction->step, runs,
					 places - open, places)
			       : 0;
	return wait_time(paces, paces->run, instruction->step, runs, 1, 1);
}

/* Returns the additional time of reads from banks in which planes meet; moves and restickify have none. */
static int64_t bank_time(const struct paces *paces, const struct instruction *instruction)
{
	const struct program *program = paces->program;
	const struct op *op = &program->workload->ops[program->step_ops[instruction->step]];
	const struct region *box = &instruction->transfer->box->region;
	const struct layout *layout = &program->workload->tensors[box->tensor].layout;
	int64_t span = program->arch->levels[program->arch->hbm].plane_span, apart = STICK_BYTES;
	if (paces->plane.num == 0 || op->move != MOVE_NONE ||
		op->primitive->kind == OP_RESTICKIFY || op->primitive->kind == OP_MAP)
		return 0;
	if (layout->rank > 1)
		apart *= layout->size[layout->rank - 2];
	if (apart <= span)
		return 0;
	struct pace pace = paces->plane;
	int64_t sticks;
	if (!number_mul(box->sticks, apart - span, &sticks) ||
		!number_mul(pace.den, apart, &pace.den))
		return paces->longest;
	return find_time(paces, pace, sticks);
}

/* Returns the additional time of writes to large tensors, for each doubling of their size. */
static int64_t far_time(const struct paces *paces, const struct instruction *instruction)
{
	const struct program *program = paces->program;
	const struct op *op = &program->workload->ops[program->step_ops[instruction->step]];
	const struct region *box = &instruction->transfer->box->region;
	const struct layout *layout = &program->workload->tensors[box->tensor].layout;
	int64_t size = layout->stick_bytes, time = 0;
	if (paces->write_far.num == 0 || op->move != MOVE_NONE)
		return 0;
	for (int d = 0; d < layout->rank - 1; d++)
		size *= layout->size[d];
	for (size /= 2; size >= program->arch->levels[program->arch->hbm].write_span; size /= 2)
		time = number_min(
			paces->longest, time + find_time(paces, paces->write_far, box->sticks));
	return time;
}

static struct service_demand transfer_demand(
	struct paces *paces, const struct instruction *instruction)
{
	bool in = instruction->engine == ENGINE_DMA_IN;
	int64_t sticks = instruction->transfer->box->region.sticks;
	struct service_demand demand = {
		.hbm = find_time(paces, in ? paces->hbm_read : paces->hbm_write, sticks),
		.port = find_time(paces, paces->port, sticks),
		.lane = in && paces->lane.num ? find_time(paces, paces->lane, sticks) : 0,
		.bus = paces->hbm_shared ? sticks : 0,
	};
	const struct op *broadcast = program_broadcast(paces->program, instruction);
	if (!broadcast)
		demand.hbm += run_time(paces, instruction);
	if (in && !broadcast)
		demand.hbm += bank_time(paces, instruction);
	if (!in && !broadcast)
		demand.hbm = number_min(demand.hbm, paces->longest) + far_time(paces, instruction);
	demand.hbm = number_min(demand.hbm, paces->longest);
	if (broadcast)
		add_copying(paces, broadcast, instruction, &demand);
	return demand;
}

/* An accumulator of a box has fp32 elements where the box has its own. */
static int64_t accumulator_sticks(const struct paces *paces, const struct region *region)
{
	int64_t sticks;
	enum dtype dtype = paces->program->workload->tensors[region->tensor].layout.dtype;
	if (!number_mul(region->sticks, FP32_BYTES / dtype_stored_bytes(dtype), &sticks))
		return paces->longest;
	return sticks;
}

/* True if a loop moves an operand. */
static bool goes_on(const struct workload *workload, const struct access *access, int loop)
{
	const struct layout *layout = &workload->tensors[access->tensor].layout;
	for (int d = 0; d < layout->host_rank; d++)
		if (access->host[d].loop[loop])
			return true;
	return false;
}

/* True if the next stick of an operand in memory is not of its next row.  Rows are the longest loop that moves the
 * operand, but neither its stick nor every operand. */
static bool jumps_rows(
	const struct workload *workload, const struct op *op, const struct access *access)
{
	const struct layout *layout = &workload->tensors[access->tensor].layout;
	int beside = layout->rank > 1 ? layout->host_dim[layout->rank - 2] : -1;
	int64_t most = 0;
	bool jumps = false;
	for (int l = 0; l < op->loop_count; l++) {
		bool along = layout->stick_dim >= 0 && access->host[layout->stick_dim].loop[l];
		int moved = 0;
		for (int i = 0; i < op_operands(op); i++)
			moved += goes_on(workload, op_operand(op, i), l);
		if (along || moved == op_operands(op) || !goes_on(workload, access, l) ||
			op->loops[l].extent <= most)
			continue;
		most = op->loops[l].extent;
		jumps = beside < 0 || !access->host[beside].loop[l];
	}
	return jumps;
}

/* Returns the pace of a multiply-add: each operand with rows apart slows the array by the same factor. */
static struct pace array_pace(const struct paces *paces, const struct op *op, int bytes)
{
	struct ratio rate = paces->mac_rate, slower;
	int apart = 0;
	for (int i = 0; i < op->read_count && paces->strided_rate.num; i++)
		apart += jumps_rows(paces->program->workload, op, &op->reads[i]);
	if (!apart)
		return paces->mac[bytes];
	if (!rate.num)
		rate = paces->strided_rate;
	else if (ratio_div(paces->strided_rate, rate, &slower))
		for (; apart > 0; apart--)
			ratio_mul(rate, slower, &rate);
	ratio_mul(rate, (struct ratio){2, bytes}, &rate);
	return pace_find(paces->ticks, 1, rate);
}

static struct pace work_pace(
	const struct paces *paces, const struct op *op, const struct compute *compute)
{
	int bytes = 1;
	if (op->primitive->kind == OP_REDUCE)
		return paces->reduction;
	if (op->primitive->kind == OP_RESTICKIFY)
		return paces->restickify;
	if (op->primitive->unit == UNIT_VECTOR)
		return paces->vector;
	for (int i = 0; i < compute->read_count; i++) {
		int tensor = compute->reads[i]->region.tensor;
		enum dtype dtype = paces->program->workload->tensors[tensor].layout.dtype;
		int stored = dtype_stored_bytes(dtype);
		bytes = stored > bytes ? stored : bytes;
	}
	return array_pace(paces, op, bytes);
}

/* The time of as many bytes as need not be whole sticks, at the pace of a stick. */
static int64_t find_byte_time(const struct paces *paces, struct pace pace, int64_t bytes)
{
	if (!number_mul(pace.den, STICK_BYTES, &pace.den))
		return paces->longest;
	return find_time(paces, pace, bytes);
}

/* Nothing else is at work beside an opaque op, of which nobody knows more than its bytes of HBM. */
static struct service_demand opaque_demand(
	const struct paces *paces, const struct op *op, const struct compute *compute)
{
	int64_t read = 0, written = 0;
	for (int i = 0; i < op_operands(op); i++) {
		int64_t *bytes = i < op->read_count || paces->hbm_shared ? &read : &written;
		*bytes += compute->whole[i].bytes;
	}
	return (struct service_demand){
		.work = number_max(find_byte_time(paces, paces->hbm_read, read),
			find_byte_time(paces, paces->hbm_write, written)),
	};
}

/* A whole op's nest has the ports of all levels in it. */
static struct service_demand nest_demand(
	const struct paces *paces, int step, const struct compute *compute)
{
	const struct op *op = &paces->program->workload->ops[compute->op];
	const struct executed_nest *nest = nests_of(paces->nests, step, compute);
	if (!nest)
		return opaque_demand(paces, op, compute);
	struct service_demand demand = {
		.work = find_time(paces, (struct pace){paces->ticks, 1}, nest->sim.cycles)};
	if (compute->whole)
		return demand;
	struct nest_bytes bytes = nests_bytes(paces->nests, step, compute);
	demand.lx_reads = find_byte_time(paces, paces->lx_read, bytes.read);
	demand.lx_writes = find_byte_time(paces, paces->lx_write, bytes.written);
	return demand;
}

static struct service_demand compute_demand(
	const struct paces *paces, const struct compute *compute)
{
	const struct op *op = &paces->program->workload->ops[compute->op];
	int64_t reads = 0, writes = 0, work = op->primitive->work;
	for (int i = 0; i < compute->read_count; i++)
		reads += compute->reads[i]->region.sticks;
	if (compute->accumulator_read)
		reads += accumulator_sticks(paces, &compute->write->region);
	if (compute->accumulator_write)
		writes += accumulator_sticks(paces, &compute->write->region);
	if (compute->finish)
		writes += compute->write->region.sticks;
	for (int l = 0; l < op->loop_count; l++) {
		if (!number_mul(work, compute->count[l], &work))
			work = paces->longest;
	}
	int64_t fill = op->primitive->unit == UNIT_VECTOR ? 0 : paces->tile;
	work = find_time(paces, work_pace(paces, op, compute), work);
	return (struct service_demand){
		.lx_reads = find_time(paces, paces->lx_read, reads),
		.lx_writes = find_time(paces, paces->lx_write, writes),
		.work = number_min(work + fill, paces->longest),
	};
}

static bool are_cores_right(const struct combine *combine)
{
	for (int k = 0; k < combine->core_count; k++) {
		if (combine->cores[k] < 0 || combine->cores[k] >= PROGRAM_CORES_MOST)
			return false;
	}
	return combine->core_count > 0;
}

static struct service_demand combine_demand(
	const struct paces *paces, const struct combine *combine)
{
	int64_t sticks = accumulator_sticks(paces, &combine->region);
	if (!are_cores_right(combine))
		return (struct service_demand){.idle = true};
	return (struct service_demand){
		.lx_reads = find_time(paces, paces->lx_read, sticks),
		.lx_writes = find_time(paces, paces->lx_write, combine->region.sticks),
		.link = find_time(paces, paces->link, sticks),
	};
}

static struct service_demand send_demand(const struct paces *paces, const struct send *send)
{
	struct ratio time = ring_run(&paces->program->arch->data_ring, send->parts);
	if (send->from) {
		int64_t sticks = send->from->region.sticks;
		return (struct service_demand){
			.lx_reads = find_time(paces, paces->lx_read, sticks),
			.lx_writes = find_time(paces, paces->lx_write, sticks),
			.link = find_time(paces, paces->ring, sticks),
		};
	}
	if (time.num > 0 && !ratio_mul(time, (struct ratio){send->runs, 1}, &time))
		return (struct service_demand){.stream = paces->longest};
	return (struct service_demand){.stream = ticks_of(paces, time)};
}

struct service_demand demand_find(struct paces *paces, const struct instruction *instruction)
{
	if (instruction->mask == 0 && instruction->engine != ENGINE_SYNC)
		return (struct service_demand){.idle = true};
	switch (instruction->engine) {
	case ENGINE_DMA_IN:
	case ENGINE_DMA_OUT:
		return transfer_demand(paces, instruction);
	case ENGINE_COMPUTE:
		return instruction->compute->nest || instruction->compute->whole
			       ? nest_demand(paces, instruction->step, instruction->compute)
			       : compute_demand(paces, instruction->compute);
	case ENGINE_RING:
		return combine_demand(paces, instruction->combine);
	case ENGINE_UP:
	case ENGINE_DOWN:
		return send_demand(paces, instruction->send);
	case ENGINE_SYNC:
	case ENGINE_COUNT:
		break;
	}
	return (struct service_demand){0};
}
