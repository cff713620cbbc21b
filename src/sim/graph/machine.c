#include "sim/graph/chip.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/number.h"
#include "base/wide.h"
#include "model/machine/topology.h"
#include "sim/graph/paces.h"
#include "sim/transfer/schedule.h"

#include <assert.h>
#include <string.h>

/* The ticks that an instruction asks of each kind of server. */
struct service_demand {
	enum engine engine;
	int step;
	bool idle; /* needs no server, and ends as it starts */
	int64_t hbm, port, lx_reads, lx_writes, work, link, lane;
	int64_t bus; /* sticks on the bus of reads and writes, which turns round; 0: on none */
	/* of a broadcast: beside the servers; behind them; until the other queue sees its end */
	int64_t stream, latency, delay;
};

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
		demand->stream = paces_time(paces, paces->copy_in, sticks);
		return;
	}
	demand->latency = paces->out_latency;
	demand->stream = paces_time(paces, paces->copy_out, sticks);
	int hops = hops_find(&paces->hops, op->root, transfer->rank);
	if (hops == 0)
		return;
	demand->latency = number_min(demand->latency + hops * paces->link_latency, paces->longest);
	demand->stream = number_max(demand->hbm, paces_time(paces, paces->copy_link, sticks));
	demand->hbm = 0;
}

/* Returns the time of `count` waits, num / den of the pace each, of which the cores of a step wait their shares together. */
static int64_t wait_time(const struct paces *paces, struct pace pace, int step, int64_t count,
	int64_t num, int64_t den)
{
	if (!number_mul(count, num, &count) || !number_mul(pace.den, den, &pace.den) ||
		!number_mul(pace.den, number_max(1, paces->step_cores[step]), &pace.den))
		return paces->longest;
	return paces_time(paces, pace, count);
}

/* Returns the least stride of a loop in sticks of a tensor; 0: the loop stays in one stick. */
static int64_t loop_stick_stride(const struct layout *layout, const struct access *access, int loop)
{
	int64_t place = 1;
	for (int d = layout->rank - 2; d >= 0; place *= layout->size[d--])
		if (layout->size[d] > 1 && layout->host_dim[d] >= 0 &&
			access->host[layout->host_dim[d]].coefficient[loop])
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
		loops |= (uint32_t)(loop_stick_stride(layout, access, l) == 1) << l;
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
	const struct storage_level *hbm = arch_hbm(program->arch);
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
		int64_t place = reads >> l & 1 ? loop_stick_stride(layout, result, l) : 0;
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
	const struct storage_level *hbm = arch_hbm(paces->program->arch);
	const struct region *box = &instruction->transfer->box->region;
	bool along = instruction->engine == ENGINE_DMA_OUT;
	for (int i = 0; i < op->read_count; i++)
		along |=
			op->reads[i].tensor == box->tensor &&
			access_loops(paces->program->workload, op, &op->reads[i]) & shuffle->inside;
	int64_t sticks = along ? shuffle->sticks : 1, den;
	if (!number_mul(sticks, shuffle->between + hbm->open_planes, &den))
		return paces->longest;
	return wait_time(paces, paces->page, instruction->step, box->sticks, shuffle->between, den);
}

/* True if several operands come plane by plane, and take each other's pages: those that a loop moves which takes the
 * result to another plane. */
static bool shares_pages(const struct workload *workload, const struct op *op)
{
	const struct access *result = &op->writes[0];
	uint32_t planes = access_loops(workload, op, result) & ~access_row_loops(workload, result);
	int coming = 0;
	for (int i = 0; i < op->read_count; i++)
		coming += (access_loops(workload, op, &op->reads[i]) & planes) != 0;
	return coming > 1;
}

/* Runs of sticks that follow each other in HBM begin one by one, but for what moves: steps that a plan adds, and clones
 * of its graph without computes (point 7 of plan.h). */
static int64_t run_time(const struct paces *paces, const struct instruction *instruction)
{
	const struct program *program = paces->program;
	const struct region *box = &instruction->transfer->box->region;
	const struct layout *layout = &program->workload->tensors[box->tensor].layout;
	int64_t runs = 1, longest = arch_hbm(program->arch)->run_bytes;
	int64_t page = arch_hbm(program->arch)->page_bytes;
	int64_t open = arch_hbm(program->arch)->open_planes;
	int64_t places = 1; /* of the tensor where such a run may lie */
	bool apart = false; /* what lies outside the dimensions that the box has whole */
	const struct op *op = &program->workload->ops[program->step_ops[instruction->step]];
	if (op->move != MOVE_NONE || !paces->step_cores[instruction->step] ||
		op->primitive->kind != OP_MAP || paces->run.num == 0)
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
		return paces->page.num && box->sticks / runs * STICK_BYTES < page &&
				       places > open && shares_pages(program->workload, op)
			       ? wait_time(paces, paces->page, instruction->step, runs,
					 places - open, places)
			       : 0;
	return wait_time(paces, paces->run, instruction->step, runs, 1, 1);
}

/* True if an op goes from plane to plane before it goes on along one: a reduction or a product; a map of several
 * operands each of which follows the rows of the result, or is one value. */
static bool takes_rows(const struct workload *workload, const struct op *op)
{
	uint32_t rows = access_row_loops(workload, &op->writes[0]);
	if (op->primitive->kind != OP_MAP)
		return op->primitive->kind != OP_RESTICKIFY;
	for (int i = 0; i < op->read_count; i++) {
		uint32_t loops = access_loops(workload, op, &op->reads[i]);
		if (loops && !(loops & rows))
			return false;
	}
	return op->read_count > 1;
}

/* Returns the additional time of reads from distant planes, half of it in maps, which write between. */
static int64_t bank_time(const struct paces *paces, const struct instruction *instruction)
{
	const struct program *program = paces->program;
	const struct op *op = &program->workload->ops[program->step_ops[instruction->step]];
	const struct region *box = &instruction->transfer->box->region;
	const struct layout *layout = &program->workload->tensors[box->tensor].layout;
	struct pace pace = paces->plane;
	int64_t time = 0, apart = layout->rank > 2 ? layout->size[layout->rank - 2] : 0;
	if (pace.num == 0 || !takes_rows(program->workload, op) ||
		(op->primitive->kind == OP_MAP && !number_mul(pace.den, 2, &pace.den)))
		return 0;
	for (apart *= STICK_BYTES / 2; apart >= arch_hbm(program->arch)->plane_span; apart /= 2)
		time = number_min(paces->longest, time + paces_time(paces, pace, box->sticks));
	return time;
}

/* Returns the additional time of writes to large tensors, for each doubling of their size. */
static int64_t far_time(const struct paces *paces, const struct instruction *instruction)
{
	const struct program *program = paces->program;
	const struct op *op = &program->workload->ops[program->step_ops[instruction->step]];
	const struct region *box = &instruction->transfer->box->region;
	const struct layout *layout = &program->workload->tensors[box->tensor].layout;
	int64_t size = layout->stick_bytes, time = 0;
	if (paces->write_far.num == 0 || op->move != MOVE_NONE ||
		op->primitive->kind == OP_RESTICKIFY)
		return 0;
	for (int d = 0; d < layout->rank - 1; d++)
		size *= layout->size[d];
	for (size /= 2; size >= arch_hbm(program->arch)->write_span; size /= 2)
		time = number_min(
			paces->longest, time + paces_time(paces, paces->write_far, box->sticks));
	return time;
}

static struct service_demand transfer_demand(
	struct paces *paces, const struct instruction *instruction)
{
	bool in = instruction->engine == ENGINE_DMA_IN;
	int64_t sticks = instruction->transfer->box->region.sticks;
	struct service_demand demand = {
		.hbm = paces_time(paces, in ? paces->hbm_read : paces->hbm_write, sticks),
		.port = paces_time(paces, paces->port, sticks),
		.lane = in && paces->lane.num ? paces_time(paces, paces->lane, sticks) : 0,
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

/* True if the next stick of an operand in memory is not of its next row.  Rows are the longest loop that moves the
 * operand, but neither its stick nor every operand. */
static bool jumps_rows(
	const struct workload *workload, const struct op *op, const struct access *access)
{
	int stick = workload->tensors[access->tensor].layout.stick_dim;
	uint32_t along = stick < 0 ? 0 : affine_loops(&access->host[stick]), all = UINT32_MAX;
	int64_t most = 0;
	bool jumps = false;
	for (int i = 0; i < op_operands(op); i++)
		all &= access_loops(workload, op, op_operand(op, i));
	uint32_t rows = access_loops(workload, op, access) & ~along & ~all;
	uint32_t beside = access_row_loops(workload, access);
	for (int l = 0; l < op->loop_count; l++) {
		if (!(rows >> l & 1) || op->loops[l].extent <= most)
			continue;
		most = op->loops[l].extent;
		jumps = !(beside >> l & 1);
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

/* Returns the pace of an element of a map: in it comes one of each operand that goes on, and out goes one. */
static struct pace map_pace(const struct paces *paces, const struct op *op)
{
	struct pace pace = paces->stream;
	int64_t elements = 1;
	for (int i = 0; i < op->read_count; i++)
		elements += access_loops(paces->program->workload, op, &op->reads[i]) != 0;
	if (op->primitive->kind != OP_MAP || !number_mul(pace.num, elements, &pace.num))
		return paces->vector;
	bool faster = (wide)pace.num * paces->vector.den < (wide)paces->vector.num * pace.den;
	return faster ? paces->vector : pace;
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
		return map_pace(paces, op);
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
	return paces_time(paces, pace, bytes);
}

/* Nothing else is at work beside an opaque op, of which only the bytes of HBM are known. */
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
		.work = paces_time(paces, (struct pace){paces->ticks, 1}, nest->sim.cycles)};
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
	work = paces_time(paces, work_pace(paces, op, compute), work);
	return (struct service_demand){
		.lx_reads = paces_time(paces, paces->lx_read, reads),
		.lx_writes = paces_time(paces, paces->lx_write, writes),
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
		.lx_reads = paces_time(paces, paces->lx_read, sticks),
		.lx_writes = paces_time(paces, paces->lx_write, combine->region.sticks),
		.link = paces_time(paces, paces->link, sticks),
	};
}

static struct service_demand send_demand(const struct paces *paces, const struct send *send)
{
	struct ratio time = ring_run(&paces->program->arch->data_ring, send->parts);
	if (send->from) {
		int64_t sticks = send->from->region.sticks;
		return (struct service_demand){
			.lx_reads = paces_time(paces, paces->lx_read, sticks),
			.lx_writes = paces_time(paces, paces->lx_write, sticks),
			.link = paces_time(paces, paces->ring, sticks),
		};
	}
	if (time.num > 0 && !ratio_mul(time, (struct ratio){send->runs, 1}, &time))
		return (struct service_demand){.stream = paces->longest};
	return (struct service_demand){.stream = paces_ticks(paces, time)};
}

static struct service_demand demand_find(struct paces *paces, const struct instruction *instruction)
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

enum {
	HBM_READS,
	HBM_WRITES,
	LANES,                              /* the first lane */
	CORES = LANES + PROGRAM_CORES_MOST, /* the first core's servers */
};
enum { PORT, LX_READS, LX_WRITES, UNIT, LINK, LINK_UP, LINK_DOWN, SERVERS_PER_CORE };

/* All that running an instruction needs; many have one demand. */
struct job {
	uint64_t mask;
	uint32_t demand;
};

struct machine {
	const struct program *program;
	struct paces *paces;
	struct arena *arena;
	struct job *jobs; /* by instruction */
	size_t job_count;
	struct array(struct service_demand) demands;
	uint32_t latest[ENGINE_COUNT]; /* demand by engine */
	int64_t *step_ends;
	int *last_steps; /* by phase: the step of its op */
	int phase_count, phase;
	struct {
		int64_t in, out,
			turned; /* sticks of the phase so far; pairs of them that the bus turned for */
	} bus;
	int64_t free[CORES + PROGRAM_CORES_MOST * SERVERS_PER_CORE]; /* when a server's work ends */
};

struct machine *machine_open(
	const struct program *program, const struct nests *nests, struct arena *arena)
{
	struct machine *machine = arena_new(arena, struct machine);
	machine->program = program;
	machine->paces = paces_open(program, nests, arena);
	machine->arena = arena;
	machine->jobs = arena_array(arena, struct job, program->instruction_count);
	machine->step_ends = arena_array(arena, int64_t, program->step_count);
	machine->last_steps = arena_array(arena, int, program->instruction_count + 1);
	return machine;
}

static bool demands_equal(const struct service_demand *a, const struct service_demand *b)
{
	return a->step == b->step && a->idle == b->idle && a->hbm == b->hbm && a->port == b->port &&
	       a->lx_reads == b->lx_reads && a->lx_writes == b->lx_writes && a->work == b->work &&
	       a->link == b->link && a->lane == b->lane && a->bus == b->bus &&
	       a->stream == b->stream && a->latency == b->latency && a->delay == b->delay;
}

void machine_add(struct machine *machine, const struct instruction *instruction)
{
	struct service_demand demand = demand_find(machine->paces, instruction);
	uint32_t *latest = &machine->latest[instruction->engine];
	demand.engine = instruction->engine;
	demand.step = instruction->step;
	if (machine->demands.count == 0 || machine->demands.at[*latest].engine != demand.engine ||
		!demands_equal(&demand, &machine->demands.at[*latest])) {
		*latest = (uint32_t)machine->demands.count;
		*array_add(machine->arena, &machine->demands) = demand;
	}
	machine->jobs[machine->job_count++] = (struct job){instruction->mask, *latest};
	if (instruction->engine == ENGINE_SYNC)
		machine->phase_count++;
	else
		machine->last_steps[machine->phase_count] = instruction->step;
}

int64_t machine_ticks(const struct machine *machine)
{
	return machine->paces->ticks;
}

const int64_t *machine_step_ends(const struct machine *machine)
{
	return machine->step_ends;
}

/* One server takes work that came at `ready`; returns when it is through. */
static int64_t server_take(struct machine *machine, int server, int64_t ready, int64_t time)
{
	if (time == 0)
		return ready;
	int64_t begin = number_max(ready, machine->free[server]);
	machine->free[server] = begin + time;
	return machine->free[server];
}

static int core_server(int core, int which)
{
	return CORES + core * SERVERS_PER_CORE + which;
}

static int lx_writes(const struct machine *machine, int core)
{
	return core_server(core, machine->paces->lx_shared ? LX_READS : LX_WRITES);
}

/* True if an operand of a map stays while another one goes on.  One that never goes on counts only if the result's
 * next plane begins plane_span further on, or later. */
static bool uses_again(const struct program *program, const struct op *op)
{
	const struct workload *workload = program->workload;
	const struct layout *result = &workload->tensors[op->writes[0].tensor].layout;
	int64_t span = arch_hbm(program->arch)->plane_span;
	int64_t plane = result->rank > 2 ? STICK_BYTES * result->size[result->rank - 2] : 0;
	uint32_t loops[OP_READS_MOST];
	int moving = 0;
	for (int i = 0; i < op->read_count && op->primitive->kind == OP_MAP; i++)
		moving += (loops[i] = access_loops(workload, op, &op->reads[i])) != 0;
	bool again = moving > 0 && moving < op->read_count && plane >= span;
	for (int l = 0; l < op->loop_count && moving > 0; l++) {
		int going = 0;
		for (int i = 0; i < op->read_count; i++)
			going += loops[i] >> l & 1;
		again |= going > 0 && going < moving;
	}
	return again;
}

/* Ticks in which the bus turns round: for each stick one way that now has one the other way beside it.  Each lane
 * without a core of the step takes part of it as well, because nothing comes over it meanwhile; a restickify turns the
 * bus alike on all cores and on few. */
static int64_t turn_bus(struct machine *machine, bool in, int64_t sticks)
{
	const struct program *program = machine->program;
	int step = machine->last_steps[machine->phase];
	const struct op *op = &program->workload->ops[program->step_ops[step]];
	bool moved = op->primitive->kind == OP_RESTICKIFY;
	enum turn turn = moved                     ? TURN_RESTICKIFY
			 : uses_again(program, op) ? TURN_REPEATED
						   : TURN_ONCE;
	struct pace pace = machine->paces->turn[turn];
	if (sticks == 0 || pace.num == 0)
		return 0;
	*(in ? &machine->bus.in : &machine->bus.out) += sticks;
	int64_t pairs = number_min(machine->bus.in, machine->bus.out) - machine->bus.turned;
	machine->bus.turned += pairs;
	int64_t each = program->arch->lane_cores;
	if (each && !moved) {
		int64_t all = number_ceil_div(arch_cores(program->arch), each);
		int64_t used = number_ceil_div(machine->paces->step_cores[step], each);
		if (!number_mul(pairs, all + all - used, &pairs) ||
			!number_mul(pace.den, all, &pace.den))
			return machine->paces->longest;
	}
	return pace_time(pace, pairs, machine->paces->longest);
}

/* A box for cores of several lanes comes over them in equal parts. */
static int64_t run_lanes(struct machine *machine, uint64_t mask, int64_t time, int64_t ready)
{
	int64_t lane_cores = machine->program->arch->lane_cores, end = ready;
	uint64_t lanes = 0;
	for (; mask; mask &= mask - 1)
		lanes |= UINT64_C(1) << __builtin_ctzll(mask) / lane_cores;
	time = number_ceil_div(time, __builtin_popcountll(lanes));
	for (; lanes; lanes &= lanes - 1)
		end = number_max(
			end, server_take(machine, LANES + __builtin_ctzll(lanes), ready, time));
	return end;
}

static int64_t machine_run_transfer(
	struct machine *machine, const struct service_demand *demand, uint64_t mask, int64_t ready)
{
	bool in = demand->engine == ENGINE_DMA_IN;
	int hbm = in || machine->paces->hbm_shared ? HBM_READS : HBM_WRITES;
	int64_t time = demand->hbm + turn_bus(machine, in, demand->bus);
	int64_t end = number_max(ready + demand->stream, server_take(machine, hbm, ready, time));
	if (demand->lane)
		end = number_max(end, run_lanes(machine, mask, demand->lane, ready));
	for (; mask; mask &= mask - 1) {
		int port = core_server(__builtin_ctzll(mask), PORT);
		end = number_max(end, server_take(machine, port, ready, demand->port));
	}
	return end + demand->latency;
}

static int64_t machine_run_compute(
	struct machine *machine, const struct service_demand *demand, int core, int64_t ready)
{
	int64_t read = server_take(machine, core_server(core, LX_READS), ready, demand->lx_reads);
	int64_t written = server_take(machine, lx_writes(machine, core), ready, demand->lx_writes);
	int64_t worked = server_take(machine, core_server(core, UNIT), ready, demand->work);
	return number_max(worked, number_max(read, written));
}

static int64_t machine_run_combine(struct machine *machine, const struct service_demand *demand,
	const struct combine *combine, int64_t ready)
{
	int64_t end = ready, first = ready, arrived = ready;
	for (int k = 0; k < combine->core_count; k++) {
		int core = combine->cores[k];
		int64_t read =
			server_take(machine, core_server(core, LX_READS), ready, demand->lx_reads);
		end = number_max(end, read);
		if (k + 1 == combine->core_count)
			break;
		/* The next link starts when this one has brought its first stick. */
		arrived = server_take(machine, core_server(core, LINK), first, demand->link);
		first = arrived - demand->link + machine->paces->link_stick;
	}
	int owner = combine->cores[combine->core_count - 1];
	int64_t written = server_take(machine, lx_writes(machine, owner), ready, demand->lx_writes);
	return number_max(number_max(end, arrived), written);
}

/* From core to core, a stick behind the link before at least, while a receiver writes what passes.  A link that
 * waits for a box carries others meanwhile: it takes its work in the order in which boxes set out. */
static int64_t run_send(struct machine *machine, const struct service_demand *demand, int core,
	const struct send *send, int64_t ready)
{
	bool up = demand->engine == ENGINE_UP;
	int cores = (int)arch_cores(machine->program->arch);
	int64_t end = server_take(machine, core_server(core, LX_READS), ready, demand->lx_reads);
	int64_t asked = ready, arrived = ready;
	uint64_t left = send->receivers;
	if (!send->from)
		return ready + demand->stream;
	for (int i = 0; left && i < cores; i++) {
		if (left >> core & 1) {
			int64_t written = server_take(
				machine, lx_writes(machine, core), ready, demand->lx_writes);
			end = number_max(end, written);
			left &= ~(UINT64_C(1) << core);
		}
		int next = up ? (core + 1) % cores : (core + cores - 1) % cores;
		if (left) {
			int64_t served = server_take(machine,
				core_server(core, up ? LINK_UP : LINK_DOWN), asked, demand->link);
			arrived = number_max(arrived + machine->paces->ring_stick, served);
			asked += machine->paces->ring_stick;
		}
		core = next;
	}
	return number_max(end, arrived);
}

static int64_t machine_serve(
	struct machine *machine, const struct service_demand *demand, uint32_t i, int64_t ready)
{
	uint64_t mask = machine->jobs[i].mask;
	if (demand->idle)
		return ready;
	switch (demand->engine) {
	case ENGINE_DMA_IN:
	case ENGINE_DMA_OUT:
		return machine_run_transfer(machine, demand, mask, ready);
	case ENGINE_COMPUTE:
		return machine_run_compute(machine, demand, __builtin_ctzll(mask), ready);
	case ENGINE_RING:
		return machine_run_combine(
			machine, demand, machine->program->instructions[i].combine, ready);
	case ENGINE_UP:
	case ENGINE_DOWN:
		return run_send(machine, demand, __builtin_ctzll(mask),
			machine->program->instructions[i].send, ready);
	case ENGINE_SYNC:
		machine->phase++;
		memset(&machine->bus, 0, sizeof machine->bus);
		break;
	case ENGINE_COUNT:
		break;
	}
	return number_align_up(ready, machine->paces->ticks); /* the next cycle */
}

int64_t machine_delay(const struct machine *machine, uint32_t i)
{
	return machine->demands.at[machine->jobs[i].demand].delay;
}

int64_t machine_run(struct machine *machine, uint32_t i, int64_t ready)
{
	const struct service_demand *demand = &machine->demands.at[machine->jobs[i].demand];
	int64_t end = machine_serve(machine, demand, i, ready);
	assert(end >= ready);
	int64_t *step_end = &machine->step_ends[demand->step];
	*step_end = number_max(*step_end, end);
	return end;
}
