#include "sim/graph/machine.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/wide.h"
#include "model/machine/topology.h"
#include "sim/graph/pace.h"
#include "sim/transfer/hops.h"

enum {
	HBM_READS,
	HBM_WRITES,
	CORES, /* the first core's servers */
};
enum { PORT, LX_READS, LX_WRITES, UNIT, LINK, LINK_UP, LINK_DOWN, SERVERS_PER_CORE };

enum { FP32_BYTES = 4 };

/* The ticks that an instruction asks of each kind of server. */
struct demand {
	enum engine engine;
	int step;
	bool idle; /* of nobody, and it ends as it starts */
	int64_t hbm, port, lx_reads, lx_writes, work, link;
	/* of a broadcast: beside the servers; behind them; until the other queue sees its end */
	int64_t stream, latency, delay;
};

/* All that running an instruction needs; many have one demand. */
struct job {
	uint64_t mask;
	uint32_t demand;
};

struct machine {
	const struct program *program;
	const struct nests *nests;
	const struct workload *workload;
	const struct instruction *instructions;
	struct arena *arena;
	struct job *jobs; /* by instruction */
	size_t job_count;
	struct array(struct demand) demands;
	uint32_t latest[ENGINE_COUNT]; /* demand by engine */
	int64_t *step_ends;
	int64_t ticks;
	int64_t longest;            /* an instruction takes no more: sums stay far from overflow */
	bool hbm_shared, lx_shared; /* one server for reads and writes */
	struct pace hbm_read, hbm_write, port, lx_read, lx_write, link; /* of a stick */
	struct pace mac[FP32_BYTES + 1]; /* of a multiply-add, by bytes of an element */
	struct pace vector;
	struct pace ring;                         /* of a stick, the data ring's links */
	int64_t link_stick, ring_stick;           /* ticks of a stick on a link */
	struct pace copy_in, copy_out, copy_link; /* of a stick, for roots of broadcasts */
	int64_t in_latency, out_latency, link_latency, sync;
	struct hops hops;
	int64_t free[CORES + PROGRAM_CORES_MOST * SERVERS_PER_CORE]; /* when a server's work ends */
};

static int64_t ticks_of(const struct machine *machine, struct ratio cycles)
{
	int64_t most = machine->longest / RANKS_MOST;
	if (!cycles.num)
		return 0;
	wide ticks = ((wide)machine->ticks * cycles.num + cycles.den - 1) / cycles.den;
	return ticks < most ? (int64_t)ticks : most;
}

static int64_t find_time(const struct machine *machine, struct pace pace, int64_t work)
{
	return pace_time(pace, work, machine->longest);
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

static void open_copying(struct machine *machine, const struct copying *copying)
{
	int64_t ticks = machine->ticks;
	machine->hops = hops_open(machine->program, machine->arena);
	machine->copy_in = pace_find(ticks, STICK_BYTES, copying->in.rate);
	machine->copy_out = pace_find(ticks, STICK_BYTES, copying->out.rate);
	machine->copy_link = copying->link.rate.num
				     ? pace_find(ticks, STICK_BYTES, copying->link.rate)
				     : machine->copy_out;
	machine->in_latency = ticks_of(machine, copying->in.latency);
	machine->out_latency = ticks_of(machine, copying->out.latency);
	machine->link_latency = ticks_of(machine, copying->link.latency);
	machine->sync = ticks_of(machine, copying->sync);
}

struct machine *machine_open(
	const struct program *program, const struct nests *nests, struct arena *arena)
{
	static const struct level unlimited;
	const struct arch *arch = program->arch;
	const struct level *hbm = arch->hbm < 0 ? &unlimited : &arch->levels[arch->hbm];
	const struct level *lx = arch->lx < 0 ? &unlimited : &arch->levels[arch->lx];
	struct ratio hbm_write = hbm->shared_rate ? hbm->read_rate : hbm->write_rate;
	struct ratio lx_write = lx->shared_rate ? lx->read_rate : lx->write_rate;
	struct ratio mac = {0, 1}, vector = {0, 1};
	if (arch->compute >= 0) {
		mac = core_rate(arch, arch->levels[arch->compute].mac_rate);
		vector = core_rate(arch, arch->levels[arch->compute].vector_rate);
	}

	struct machine *machine = arena_new(arena, struct machine);
	machine->program = program;
	machine->nests = nests;
	machine->workload = program->workload;
	machine->instructions = program->instructions;
	machine->arena = arena;
	machine->jobs = arena_array(arena, struct job, program->instruction_count);
	machine->step_ends = arena_array(arena, int64_t, program->step_count);
	machine->hbm_shared = hbm->shared_rate;
	machine->lx_shared = lx->shared_rate;
	machine->longest = INT64_MAX / 4 / (int64_t)(program->instruction_count + 1);
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
	machine->ticks = ticks;
	machine->hbm_read = pace_find(ticks, STICK_BYTES, hbm->read_rate);
	machine->hbm_write = pace_find(ticks, STICK_BYTES, hbm_write);
	machine->port = pace_find(ticks, STICK_BYTES, lx->fill_rate);
	machine->lx_read = pace_find(ticks, STICK_BYTES, lx->read_rate);
	machine->lx_write = pace_find(ticks, STICK_BYTES, lx_write);
	machine->link = pace_find(ticks, STICK_BYTES, arch->reduce_ring.rate);
	machine->ring = pace_find(ticks, STICK_BYTES, arch->data_ring.rate);
	for (int bytes = 1; bytes <= FP32_BYTES; bytes++) {
		struct ratio rate;
		bool known = ratio_mul(mac, (struct ratio){2, bytes}, &rate);
		machine->mac[bytes] = pace_find(ticks, 1, known ? rate : mac);
	}
	machine->vector = pace_find(ticks, 1, vector);
	machine->link_stick = find_time(machine, machine->link, 1);
	machine->ring_stick = find_time(machine, machine->ring, 1);
	if (program->ranks > 1)
		open_copying(machine, &arch->copying);
	return machine;
}

/* What a broadcast's root needs besides.  HBM of another rank is not among the servers. */
static void add_copying(struct machine *machine, const struct op *op,
	const struct instruction *instruction, struct demand *demand)
{
	const struct transfer *transfer = instruction->transfer;
	int64_t sticks = transfer->box->region.sticks;
	demand->delay = machine->sync;
	if (instruction->engine == ENGINE_DMA_IN) {
		demand->latency = machine->in_latency;
		demand->stream = find_time(machine, machine->copy_in, sticks);
		return;
	}
	demand->latency = machine->out_latency;
	demand->stream = find_time(machine, machine->copy_out, sticks);
	int hops = hops_find(&machine->hops, op->root, transfer->rank);
	if (hops == 0)
		return;
	demand->latency =
		number_min(demand->latency + hops * machine->link_latency, machine->longest);
	demand->stream = number_max(demand->hbm, find_time(machine, machine->copy_link, sticks));
	demand->hbm = 0;
}

static struct demand transfer_demand(struct machine *machine, const struct instruction *instruction)
{
	bool in = instruction->engine == ENGINE_DMA_IN;
	int64_t sticks = instruction->transfer->box->region.sticks;
	struct demand demand = {
		.hbm = find_time(machine, in ? machine->hbm_read : machine->hbm_write, sticks),
		.port = find_time(machine, machine->port, sticks),
	};
	const struct op *broadcast = program_broadcast(machine->program, instruction);
	if (broadcast)
		add_copying(machine, broadcast, instruction, &demand);
	return demand;
}

/* An accumulator of a box has fp32 elements where the box has its own. */
static int64_t accumulator_sticks(const struct machine *machine, const struct region *region)
{
	int64_t sticks;
	enum dtype dtype = machine->workload->tensors[region->tensor].layout.dtype;
	if (!number_mul(region->sticks, FP32_BYTES / dtype_stored_bytes(dtype), &sticks))
		return machine->longest;
	return sticks;
}

static struct pace work_pace(
	const struct machine *machine, const struct op *op, const struct compute *compute)
{
	int bytes = 1;
	if (op->primitive->unit == UNIT_VECTOR)
		return machine->vector;
	for (int i = 0; i < compute->read_count; i++) {
		int tensor = compute->reads[i]->region.tensor;
		enum dtype dtype = machine->workload->tensors[tensor].layout.dtype;
		int stored = dtype_stored_bytes(dtype);
		bytes = stored > bytes ? stored : bytes;
	}
	return machine->mac[bytes];
}

/* The time of as many bytes as need not be whole sticks, at the pace of a stick. */
static int64_t find_byte_time(const struct machine *machine, struct pace pace, int64_t bytes)
{
	if (!number_mul(pace.den, STICK_BYTES, &pace.den))
		return machine->longest;
	return find_time(machine, pace, bytes);
}

/* Nothing else is at work beside an opaque op, of which nobody knows more than its bytes of HBM. */
static struct demand opaque_demand(
	const struct machine *machine, const struct op *op, const struct compute *compute)
{
	int64_t read = 0, written = 0;
	for (int i = 0; i < op_operands(op); i++) {
		int64_t *bytes = i < op->read_count || machine->hbm_shared ? &read : &written;
		*bytes += compute->whole[i].bytes;
	}
	return (struct demand){
		.work = number_max(find_byte_time(machine, machine->hbm_read, read),
			find_byte_time(machine, machine->hbm_write, written)),
	};
}

/* A whole op's nest has the ports of all levels in it. */
static struct demand nest_demand(
	const struct machine *machine, int step, const struct compute *compute)
{
	const struct op *op = &machine->workload->ops[compute->op];
	const struct executed_nest *nest = nests_of(machine->nests, step, compute);
	if (!nest)
		return opaque_demand(machine, op, compute);
	struct demand demand = {
		.work = find_time(machine, (struct pace){machine->ticks, 1}, nest->sim.cycles)};
	if (compute->whole)
		return demand;
	struct nest_bytes bytes = nests_bytes(machine->nests, step, compute);
	demand.lx_reads = find_byte_time(machine, machine->lx_read, bytes.read);
	demand.lx_writes = find_byte_time(machine, machine->lx_write, bytes.written);
	return demand;
}

static struct demand compute_demand(const struct machine *machine, const struct compute *compute)
{
	const struct op *op = &machine->workload->ops[compute->op];
	int64_t reads = 0, writes = 0, work = op->primitive->work;
	for (int i = 0; i < compute->read_count; i++)
		reads += compute->reads[i]->region.sticks;
	if (compute->accumulator_read)
		reads += accumulator_sticks(machine, &compute->write->region);
	if (compute->accumulator_write)
		writes += accumulator_sticks(machine, &compute->write->region);
	if (compute->finish)
		writes += compute->write->region.sticks;
	for (int l = 0; l < op->loop_count; l++) {
		if (!number_mul(work, compute->count[l], &work))
			work = machine->longest;
	}
	return (struct demand){
		.lx_reads = find_time(machine, machine->lx_read, reads),
		.lx_writes = find_time(machine, machine->lx_write, writes),
		.work = find_time(machine, work_pace(machine, op, compute), work),
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

static struct demand combine_demand(const struct machine *machine, const struct combine *combine)
{
	int64_t sticks = accumulator_sticks(machine, &combine->region);
	if (!are_cores_right(combine))
		return (struct demand){.idle = true};
	return (struct demand){
		.lx_reads = find_time(machine, machine->lx_read, sticks),
		.lx_writes = find_time(machine, machine->lx_write, combine->region.sticks),
		.link = find_time(machine, machine->link, sticks),
	};
}

static struct demand send_demand(const struct machine *machine, const struct send *send)
{
	struct ratio time = ring_run(&machine->program->arch->data_ring, send->parts);
	if (send->from) {
		int64_t sticks = send->from->region.sticks;
		return (struct demand){
			.lx_reads = find_time(machine, machine->lx_read, sticks),
			.lx_writes = find_time(machine, machine->lx_write, sticks),
			.link = find_time(machine, machine->ring, sticks),
		};
	}
	if (time.num > 0 && !ratio_mul(time, (struct ratio){send->runs, 1}, &time))
		return (struct demand){.stream = machine->longest};
	return (struct demand){.stream = ticks_of(machine, time)};
}

static struct demand find_demand(struct machine *machine, const struct instruction *instruction)
{
	if (instruction->mask == 0 && instruction->engine != ENGINE_SYNC)
		return (struct demand){.idle = true};
	switch (instruction->engine) {
	case ENGINE_DMA_IN:
	case ENGINE_DMA_OUT:
		return transfer_demand(machine, instruction);
	case ENGINE_COMPUTE:
		return instruction->compute->nest || instruction->compute->whole
			       ? nest_demand(machine, instruction->step, instruction->compute)
			       : compute_demand(machine, instruction->compute);
	case ENGINE_RING:
		return combine_demand(machine, instruction->combine);
	case ENGINE_UP:
	case ENGINE_DOWN:
		return send_demand(machine, instruction->send);
	case ENGINE_SYNC:
	case ENGINE_COUNT:
		break;
	}
	return (struct demand){0};
}

static bool demands_equal(const struct demand *a, const struct demand *b)
{
	return a->step == b->step && a->idle == b->idle && a->hbm == b->hbm && a->port == b->port &&
	       a->lx_reads == b->lx_reads && a->lx_writes == b->lx_writes && a->work == b->work &&
	       a->link == b->link && a->stream == b->stream && a->latency == b->latency &&
	       a->delay == b->delay;
}

void machine_add(struct machine *machine, const struct instruction *instruction)
{
	struct demand demand = find_demand(machine, instruction);
	uint32_t *latest = &machine->latest[instruction->engine];
	demand.engine = instruction->engine;
	demand.step = instruction->step;
	if (machine->demands.count == 0 || machine->demands.at[*latest].engine != demand.engine ||
		!demands_equal(&demand, &machine->demands.at[*latest])) {
		*latest = (uint32_t)machine->demands.count;
		*array_add(machine->arena, &machine->demands) = demand;
	}
	machine->jobs[machine->job_count++] = (struct job){instruction->mask, *latest};
}

int64_t machine_ticks(const struct machine *machine)
{
	return machine->ticks;
}

const int64_t *machine_step_ends(const struct machine *machine)
{
	return machine->step_ends;
}

/* One server takes work that came at `ready`; answers when it is through. */
static int64_t serve(struct machine *machine, int server, int64_t ready, int64_t time)
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
	return core_server(core, machine->lx_shared ? LX_READS : LX_WRITES);
}

static int64_t run_transfer(
	struct machine *machine, const struct demand *demand, uint64_t mask, int64_t ready)
{
	bool in = demand->engine == ENGINE_DMA_IN;
	int hbm = in || machine->hbm_shared ? HBM_READS : HBM_WRITES;
	int64_t end = number_max(ready + demand->stream, serve(machine, hbm, ready, demand->hbm));
	for (; mask; mask &= mask - 1) {
		int port = core_server(__builtin_ctzll(mask), PORT);
		end = number_max(end, serve(machine, port, ready, demand->port));
	}
	return end + demand->latency;
}

static int64_t run_compute(
	struct machine *machine, const struct demand *demand, int core, int64_t ready)
{
	int64_t read = serve(machine, core_server(core, LX_READS), ready, demand->lx_reads);
	int64_t written = serve(machine, lx_writes(machine, core), ready, demand->lx_writes);
	int64_t worked = serve(machine, core_server(core, UNIT), ready, demand->work);
	return number_max(worked, number_max(read, written));
}

static int64_t run_combine(struct machine *machine, const struct demand *demand,
	const struct combine *combine, int64_t ready)
{
	int64_t end = ready, first = ready, arrived = ready;
	for (int k = 0; k < combine->core_count; k++) {
		int core = combine->cores[k];
		int64_t read = serve(machine, core_server(core, LX_READS), ready, demand->lx_reads);
		end = number_max(end, read);
		if (k + 1 == combine->core_count)
			break;
		/* The next link starts when this one has brought its first stick. */
		arrived = serve(machine, core_server(core, LINK), first, demand->link);
		first = arrived - demand->link + machine->link_stick;
	}
	int owner = combine->cores[combine->core_count - 1];
	int64_t written = serve(machine, lx_writes(machine, owner), ready, demand->lx_writes);
	return number_max(number_max(end, arrived), written);
}

/* From core to core, a stick behind the link before at least, while a receiver writes what passes.  A link that
 * waits for a box carries others meanwhile: it takes its work in the order in which boxes set out. */
static int64_t run_send(struct machine *machine, const struct demand *demand, int core,
	const struct send *send, int64_t ready)
{
	bool up = demand->engine == ENGINE_UP;
	int cores = (int)arch_cores(machine->program->arch);
	int64_t end = serve(machine, core_server(core, LX_READS), ready, demand->lx_reads);
	int64_t asked = ready, arrived = ready;
	uint64_t left = send->receivers;
	if (!send->from)
		return ready + demand->stream;
	for (int i = 0; left && i < cores; i++) {
		if (left >> core & 1) {
			int64_t written =
				serve(machine, lx_writes(machine, core), ready, demand->lx_writes);
			end = number_max(end, written);
			left &= ~(UINT64_C(1) << core);
		}
		int next = up ? (core + 1) % cores : (core + cores - 1) % cores;
		if (left) {
			int64_t served = serve(machine, core_server(core, up ? LINK_UP : LINK_DOWN),
				asked, demand->link);
			arrived = number_max(arrived + machine->ring_stick, served);
			asked += machine->ring_stick;
		}
		core = next;
	}
	return number_max(end, arrived);
}

static int64_t run(struct machine *machine, const struct demand *demand, uint32_t i, int64_t ready)
{
	uint64_t mask = machine->jobs[i].mask;
	if (demand->idle)
		return ready;
	switch (demand->engine) {
	case ENGINE_DMA_IN:
	case ENGINE_DMA_OUT:
		return run_transfer(machine, demand, mask, ready);
	case ENGINE_COMPUTE:
		return run_compute(machine, demand, __builtin_ctzll(mask), ready);
	case ENGINE_RING:
		return run_combine(machine, demand, machine->instructions[i].combine, ready);
	case ENGINE_UP:
	case ENGINE_DOWN:
		return run_send(machine, demand, __builtin_ctzll(mask),
			machine->instructions[i].send, ready);
	case ENGINE_SYNC:
	case ENGINE_COUNT:
		break;
	}
	return number_align_up(ready, machine->ticks); /* the next cycle */
}

int64_t machine_delay(const struct machine *machine, uint32_t i)
{
	return machine->demands.at[machine->jobs[i].demand].delay;
}

int64_t machine_run(struct machine *machine, uint32_t i, int64_t ready)
{
	const struct demand *demand = &machine->demands.at[machine->jobs[i].demand];
	int64_t end = run(machine, demand, i, ready);
	int64_t *step_end = &machine->step_ends[demand->step];
	*step_end = number_max(*step_end, end);
	return end;
}
