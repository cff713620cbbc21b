#include "sim/graph/paces.h"

#include "base/arena.h"
#include "base/wide.h"
#include "lower/graph/program.h"
#include "model/machine/arch.h"

enum { TICKS_MOST = 1 << 16 }; /* to a cycle */

/* Joins the ticks so far with those that make a time of this many cycles whole, unless there would be too many. */
static int64_t pace_refine_time(int64_t ticks, struct ratio cycles)
{
	int64_t joined = cycles.num ? number_lcm(ticks, cycles.den, TICKS_MOST) : ticks;
	return joined > TICKS_MOST ? ticks : joined;
}

/* The same for the time work/rate. */
static int64_t pace_refine(int64_t ticks, int64_t work, struct ratio rate)
{
	struct ratio time;
	if (rate.num == 0 || !ratio_make(rate.den, rate.num, &time))
		return ticks;
	time.den /= number_gcd(time.den, work);
	return pace_refine_time(ticks, time);
}

struct pace pace_find(int64_t ticks, int64_t work, struct ratio rate)
{
	if (rate.num == 0)
		return (struct pace){0, 1};
	wide num = (wide)ticks * work * rate.den;
	int64_t whole = (int64_t)((num + rate.num - 1) / rate.num);
	if (num % rate.num == 0 || num > INT64_MAX)
		return (struct pace){whole, 1};
	return (struct pace){(int64_t)num, rate.num};
}

int64_t pace_time(struct pace pace, int64_t work, int64_t longest)
{
	int64_t time;
	if (work <= 0 || pace.num == 0)
		return 0;
	if (!number_mul(work, pace.num, &time))
		return longest;
	if (pace.den != 1)
		time = number_ceil_div(time, pace.den);
	return number_min(time, longest);
}

int64_t paces_ticks(const struct paces *paces, struct ratio cycles)
{
	int64_t most = paces->longest / RANKS_MOST;
	if (!cycles.num)
		return 0;
	wide ticks = ((wide)paces->ticks * cycles.num + cycles.den - 1) / cycles.den;
	return ticks < most ? (int64_t)ticks : most;
}

int64_t paces_time(const struct paces *paces, struct pace pace, int64_t work)
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
	paces->in_latency = paces_ticks(paces, copying->in.latency);
	paces->out_latency = paces_ticks(paces, copying->out.latency);
	paces->link_latency = paces_ticks(paces, copying->link.latency);
	paces->sync = paces_ticks(paces, copying->sync);
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
	struct ratio turn = {0, 1}, repeated = {0, 1}, moved = {0, 1}, far = {0, 1};
	const struct storage_level *hbm = arch->hbm < 0 ? NULL : arch_hbm(arch);
	if (hbm)
		far = hbm->write_far;
	if (hbm && paces->hbm_shared) {
		turn = hbm->turn;
		repeated = hbm->turn_repeated;
		moved = hbm->turn_restickify;
	}
	if (arch->lane_cores)
		ticks = pace_refine(ticks, STICK_BYTES, arch->lane_rate);
	if (turn.num)
		ticks = pace_refine(ticks, STICK_BYTES, (struct ratio){turn.den, turn.num});
	if (far.num)
		ticks = pace_refine(ticks, STICK_BYTES, (struct ratio){far.den, far.num});
	if (repeated.num)
		ticks = pace_refine(ticks, STICK_BYTES, (struct ratio){repeated.den, repeated.num});
	if (moved.num)
		ticks = pace_refine(ticks, STICK_BYTES, (struct ratio){moved.den, moved.num});
	if (hbm && hbm->run.num) {
		struct ratio run = hbm->run;
		ticks = pace_refine(ticks, 1, (struct ratio){run.den, run.num});
	}
	paces->ticks = ticks;
	if (hbm && hbm->run.num) {
		struct ratio run = hbm->run;
		paces->run = pace_find(ticks, 1, (struct ratio){run.den, run.num});
	}
	if (hbm && hbm->page.num) {
		struct ratio page = hbm->page;
		paces->page = pace_find(ticks, 1, (struct ratio){page.den, page.num});
	}
	if (hbm)
		paces->plane = turn_pace(ticks, hbm->plane);
	paces->turn[TURN_ONCE] = turn_pace(ticks, turn);
	paces->turn[TURN_REPEATED] = turn_pace(ticks, repeated);
	paces->turn[TURN_RESTICKIFY] = turn_pace(ticks, moved);
	paces->write_far = turn_pace(ticks, far);
	if (arch->lane_cores)
		paces->lane = pace_find(ticks, STICK_BYTES, arch->lane_rate);
	if (arch->compute >= 0)
		paces->tile = ticks * level_compute(&arch->levels[arch->compute])->tile_cycles;
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
	static const struct storage_level unlimited;
	const struct arch *arch = program->arch;
	const struct storage_level *hbm = arch->hbm < 0 ? &unlimited : arch_hbm(arch);
	const struct storage_level *lx = arch->lx < 0 ? &unlimited : arch_lx(arch);
	struct storage_ports home = storage_ports(&hbm->store), inner = storage_ports(&lx->store);
	struct ratio mac = {0, 1}, strided = {0, 1}, vector = {0, 1}, reduction = {0, 1},
		     restickify = {0, 1}, stream = {0, 1};
	if (arch->compute >= 0) {
		const struct compute_level *array = level_compute(&arch->levels[arch->compute]);
		mac = core_rate(arch, array->mac_rate);
		strided = core_rate(arch, array->strided_mac_rate);
		vector = core_rate(arch, array->vector_rate);
		reduction = core_rate(arch, array->reduction_rate);
		restickify = core_rate(arch, array->restickify_rate);
		stream = core_rate(arch, array->operand_rate);
	}

	struct paces *paces = arena_new(arena, struct paces);
	paces->program = program;
	paces->step_cores = count_cores(program, arena);
	paces->nests = nests;
	paces->hbm_shared = home.shared;
	paces->lx_shared = inner.shared;
	paces->longest = INT64_MAX / 4 / (int64_t)(program->instruction_count + 1);
	int64_t ticks = pace_refine(1, STICK_BYTES, home.read);
	ticks = pace_refine(ticks, STICK_BYTES, home.write);
	ticks = pace_refine(ticks, STICK_BYTES, lx->fill_rate);
	ticks = pace_refine(ticks, STICK_BYTES, inner.read);
	ticks = pace_refine(ticks, STICK_BYTES, inner.write);
	ticks = pace_refine(ticks, STICK_BYTES, arch->reduce_ring.rate);
	if (program_has_relayouts(program))
		ticks = pace_refine(ticks, STICK_BYTES, arch->data_ring.rate);
	if (program->ranks > 1)
		ticks = refine_copying(ticks, &arch->copying);
	open_measured(paces, arch, ticks);
	ticks = paces->ticks;
	paces->hbm_read = pace_find(ticks, STICK_BYTES, home.read);
	paces->hbm_write = pace_find(ticks, STICK_BYTES, home.write);
	paces->port = pace_find(ticks, STICK_BYTES, lx->fill_rate);
	paces->lx_read = pace_find(ticks, STICK_BYTES, inner.read);
	paces->lx_write = pace_find(ticks, STICK_BYTES, inner.write);
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
	paces->stream = pace_find(ticks, 1, stream);
	paces->restickify = restickify.num ? pace_find(ticks, 1, restickify) : paces->vector;
	paces->link_stick = paces_time(paces, paces->link, 1);
	paces->ring_stick = paces_time(paces, paces->ring, 1);
	if (program->ranks > 1)
		open_copying(paces, &arch->copying, arena);
	return paces;
}
