#include "sim/graph/machine.h"

#include "base/arena.h"
#include "base/array.h"
#include "sim/graph/demand.h"

#include <string.h>

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
	return core_server(core, machine->paces->lx_shared ? LX_READS : LX_WRITES);
}

/* True if an operand of the op stays while another one goes on, or comes out along another stick. */
static bool uses_again(const struct workload *workload, const struct op *op)
{
	bool again = op->primitive->kind == OP_RESTICKIFY;
	if (op->primitive->kind != OP_MAP)
		return again;
	for (int l = 0; l < op->loop_count; l++) {
		int going = 0;
		for (int i = 0; i < op->read_count; i++) {
			const struct access *read = &op->reads[i];
			bool found = false;
			for (int d = 0; d < workload->tensors[read->tensor].layout.host_rank; d++)
				found |= read->host[d].loop[l] != 0;
			going += found;
		}
		again |= going > 0 && going < op->read_count;
	}
	return again;
}

/* Ticks in which the bus turns round: for each stick one way that now has one the other way beside it. */
static int64_t turn_bus(struct machine *machine, bool in, int64_t sticks)
{
	const struct program *program = machine->program;
	int op = program->step_ops[machine->last_steps[machine->phase]];
	struct pace pace =
		machine->paces->turn[uses_again(program->workload, &program->workload->ops[op])];
	if (sticks == 0 || pace.num == 0)
		return 0;
	*(in ? &machine->bus.in : &machine->bus.out) += sticks;
	int64_t pairs = number_min(machine->bus.in, machine->bus.out) - machine->bus.turned;
	machine->bus.turned += pairs;
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
		end = number_max(end, serve(machine, LANES + __builtin_ctzll(lanes), ready, time));
	return end;
}

static int64_t run_transfer(
	struct machine *machine, const struct service_demand *demand, uint64_t mask, int64_t ready)
{
	bool in = demand->engine == ENGINE_DMA_IN;
	int hbm = in || machine->paces->hbm_shared ? HBM_READS : HBM_WRITES;
	int64_t time = demand->hbm + turn_bus(machine, in, demand->bus);
	int64_t end = number_max(ready + demand->stream, serve(machine, hbm, ready, time));
	if (demand->lane)
		end = number_max(end, run_lanes(machine, mask, demand->lane, ready));
	for (; mask; mask &= mask - 1) {
		int port = core_server(__builtin_ctzll(mask), PORT);
		end = number_max(end, serve(machine, port, ready, demand->port));
	}
	return end + demand->latency;
}

static int64_t run_compute(
	struct machine *machine, const struct service_demand *demand, int core, int64_t ready)
{
	int64_t read = serve(machine, core_server(core, LX_READS), ready, demand->lx_reads);
	int64_t written = serve(machine, lx_writes(machine, core), ready, demand->lx_writes);
	int64_t worked = serve(machine, core_server(core, UNIT), ready, demand->work);
	return number_max(worked, number_max(read, written));
}

static int64_t run_combine(struct machine *machine, const struct service_demand *demand,
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
		first = arrived - demand->link + machine->paces->link_stick;
	}
	int owner = combine->cores[combine->core_count - 1];
	int64_t written = serve(machine, lx_writes(machine, owner), ready, demand->lx_writes);
	return number_max(number_max(end, arrived), written);
}

/* From core to core, a stick behind the link before at least, while a receiver writes what passes.  A link that
 * waits for a box carries others meanwhile: it takes its work in the order in which boxes set out. */
static int64_t run_send(struct machine *machine, const struct service_demand *demand, int core,
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
			arrived = number_max(arrived + machine->paces->ring_stick, served);
			asked += machine->paces->ring_stick;
		}
		core = next;
	}
	return number_max(end, arrived);
}

static int64_t run(
	struct machine *machine, const struct service_demand *demand, uint32_t i, int64_t ready)
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
		return run_combine(
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
	int64_t end = run(machine, demand, i, ready);
	int64_t *step_end = &machine->step_ends[demand->step];
	*step_end = number_max(*step_end, end);
	return end;
}
