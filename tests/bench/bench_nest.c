#include "base/arena.h"
#include "base/random.h"
#include "cost/nest/nest.h"
#include "cost/nest/nest_count.h"
#include "tests/support/naive_timeloop.h"
#include "tests/support/nest_interpreter.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/*
 * Mappings that the loop-nest model evaluates in a second on one thread: random, distinct, all
 * valid, each with all checks, all counts, time and energy, nothing reused from one to the next.
 * They are drawn in batches, and drawing is not timed.  MAPPINGS= their number (default 200,000).
 * Timeloop's counting is compared with its naive execution on a sample.
 */
struct machine {
	const char *name;
	struct shape shape;
	struct hierarchy hierarchy;
	/* by dimension: bit of every row that may have a temporal, a spatial factor */
	uint32_t temporal[SHAPE_DIMENSIONS_MOST], spatial[SHAPE_DIMENSIONS_MOST];
	uint32_t kept[SHAPE_SPACES_MOST]; /* rows; 0: any, the outermost always */
	uint32_t y;                       /* rows whose spatial factors run along Y */
};

static void add_rank(struct dataspace *space, int a, int64_t by, int b)
{
	struct affine *rank = &space->ranks[space->rank_count++];
	rank->coefficient[a] = by;
	if (b >= 0)
		rank->coefficient[b] = 1;
}

static struct nest_level *add_level(
	struct hierarchy *hierarchy, const char *name, int row, int64_t size, int64_t x, int64_t y)
{
	struct nest_level *level = &hierarchy->levels[hierarchy->level_count];
	*level = (struct nest_level){.name = name,
		.row = row,
		.block_row = row + 1,
		.storage = true,
		.fanout = {.x = x, .y = y},
		.size = size,
		.store = storage_unlimited,
		.energies = {.pj = {1.5, 1.75, 2}, .leak_pj = 0.25},
		.gated_at = hierarchy->level_count};
	level->store.entries = size;
	for (int t = 0; t < SHAPE_SPACES_MOST; t++)
		level->rate_scale[t] = 1;
	hierarchy->level_count++;
	return level;
}

static void finish(struct machine *machine)
{
	struct hierarchy *hierarchy = &machine->hierarchy;
	int64_t x = 1, y = 1;
	for (int i = hierarchy->level_count - 1; i >= 0; i--) {
		hierarchy->levels[i].mesh_x = x;
		hierarchy->levels[i].mesh_y = y;
		x *= hierarchy->levels[i].fanout.x;
		y *= hierarchy->levels[i].fanout.y;
	}
	hierarchy->compute_name = "MAC";
	hierarchy->compute_row = hierarchy->level_count;
	hierarchy->compute_mesh_x = x;
	hierarchy->compute_mesh_y = y;
	hierarchy->compute_pj = 0.5;
	hierarchy->clock_ns = 1;
	hierarchy->energy_source = "made up";
	shape_finish(&machine->shape);
}

/* DRAM, a buffer, 4 register files; C = A B, 512 x 512 x 512; anything may be kept anywhere. */
static void make_gemm(struct machine *machine)
{
	struct shape *shape = &machine->shape;
	static const char *const names[] = {"M", "N", "K"};
	machine->name = "GEMM 512^3 on 4 PEs";
	shape->dimension_count = shape->space_count = 3;
	for (int d = 0; d < 3; d++) {
		shape->dimensions[d].name = names[d];
		shape->dimensions[d].extent = 512;
		machine->temporal[d] = 7;
		machine->spatial[d] = 1 << 2;
	}
	shape->spaces[0].name = "A";
	add_rank(&shape->spaces[0], 0, 1, -1);
	add_rank(&shape->spaces[0], 2, 1, -1);
	shape->spaces[1].name = "B";
	add_rank(&shape->spaces[1], 2, 1, -1);
	add_rank(&shape->spaces[1], 1, 1, -1);
	shape->spaces[2].name = "C";
	add_rank(&shape->spaces[2], 0, 1, -1);
	add_rank(&shape->spaces[2], 1, 1, -1);
	shape->spaces[2].written = true;
	add_level(&machine->hierarchy, "RF", 2, 256, 1, 1);
	add_level(&machine->hierarchy, "GLB", 1, 65536, 4, 1);
	add_level(&machine->hierarchy, "DRAM", 0, 0, 1, 1);
	finish(machine);
}

/* A 3x3 layer of ResNet-50 on a machine like Eyeriss, with the limits that are usual there. */
static void make_eyeriss(struct machine *machine)
{
	enum { C, M, R, S, N, P, Q };
	static const char *const names[] = {"C", "M", "R", "S", "N", "P", "Q"};
	static const int64_t extents[] = {128, 128, 3, 3, 1, 28, 28};
	struct shape *shape = &machine->shape;
	machine->name = "ResNet-50 3x3, C=M=128, 28x28, on 14x12 PEs";
	shape->dimension_count = 7;
	shape->space_count = 3;
	for (int d = 0; d < 7; d++) {
		shape->dimensions[d].name = names[d];
		shape->dimensions[d].extent = extents[d];
		machine->temporal[d] = 1 << 0 | 1 << 1;
	}
	struct dataspace *weights = &shape->spaces[0], *inputs = &shape->spaces[1];
	struct dataspace *outputs = &shape->spaces[2];
	weights->name = "Weights";
	add_rank(weights, C, 1, -1);
	add_rank(weights, M, 1, -1);
	add_rank(weights, R, 1, -1);
	add_rank(weights, S, 1, -1);
	inputs->name = "Inputs";
	add_rank(inputs, N, 1, -1);
	add_rank(inputs, C, 1, -1);
	add_rank(inputs, R, 1, P);
	add_rank(inputs, S, 1, Q);
	outputs->name = "Outputs";
	outputs->written = true;
	add_rank(outputs, N, 1, -1);
	add_rank(outputs, M, 1, -1);
	add_rank(outputs, Q, 1, -1);
	add_rank(outputs, P, 1, -1);
	/* rows: DRAM, buffer, columns, rows, inputs, weights, sums, multiplier */
	struct hierarchy *hierarchy = &machine->hierarchy;
	struct nest_level *level = add_level(hierarchy, "psum_spad", 6, 16, 1, 1);
	level->store.read_rate = level->store.write_rate = (struct ratio){2, 1};
	level = add_level(hierarchy, "weights_spad", 5, 384, 1, 1);
	level->store.block_words = 2;
	level->store.read_rate = level->store.write_rate = (struct ratio){2, 1};
	level = add_level(hierarchy, "ifmap_spad", 4, 24, 1, 1);
	level->store.block_words = 2;
	level->store.read_rate = level->store.write_rate = (struct ratio){2, 1};
	level = add_level(hierarchy, "inter_PE", 3, 0, 1, 12);
	level->storage = false;
	level->block_row = 3;
	level = add_level(hierarchy, "inter_PE_column", 2, 0, 14, 1);
	level->storage = false;
	level->block_row = 2;
	level = add_level(hierarchy, "shared_glb", 1, 131072, 1, 1);
	level->store.block_words = 8;
	level->store.read_rate = level->store.write_rate = (struct ratio){16, 1};
	level->block_row = 1;
	level = add_level(hierarchy, "DRAM", 0, 0, 1, 1);
	level->store.block_words = 8;
	level->block_row = 0;
	for (int i = 0; i < 3; i++)
		hierarchy->levels[i].block_row = hierarchy->levels[i].row + 1;
	machine->y = 1 << 3;
	machine->temporal[M] |= 1 << 6;
	machine->temporal[C] |= 1 << 5;
	machine->temporal[R] |= 1 << 5;
	machine->spatial[Q] |= 1 << 2;
	machine->spatial[M] |= 1 << 2 | 1 << 3;
	machine->spatial[C] |= 1 << 3;
	machine->spatial[S] |= 1 << 3;
	machine->kept[0] = 1 << 0 | 1 << 5;
	machine->kept[1] = 1 << 0 | 1 << 1 | 1 << 4;
	machine->kept[2] = 1 << 0 | 1 << 1 | 1 << 6;
	finish(machine);
}

static int64_t least_prime(int64_t n)
{
	for (int64_t p = 2; p * p <= n; p++)
		if (n % p == 0)
			return p;
	return n;
}

static void draw_order(struct random *random, uint8_t *order, int count)
{
	for (int i = 0; i < count; i++) {
		int at = (int)random_below(random, (uint64_t)i + 1);
		order[i] = order[at];
		order[at] = (uint8_t)i;
	}
}

/* Prime factors, each in a row of its own choice among those that the machine allows. */
static void draw_mapping(struct random *random, const struct machine *machine, struct mapping *out)
{
	const struct shape *shape = &machine->shape;
	int rows = machine->hierarchy.level_count + 1;
	out->loop_count = (uint8_t)shape->dimension_count;
	out->level_count = (uint8_t)rows;
	for (int r = 0; r < rows; r++) {
		for (int d = 0; d < shape->dimension_count; d++)
			out->rows[r].spatial[d] = out->rows[r].temporal[d] = 1;
		draw_order(random, out->rows[r].temporal_order, shape->dimension_count);
		draw_order(random, out->rows[r].spatial_order, shape->dimension_count);
		out->rows[r].spatial_y = machine->y >> r & 1 ? 0xffff : 0;
	}
	for (int d = 0; d < shape->dimension_count; d++) {
		uint32_t temporal = machine->temporal[d], spatial = machine->spatial[d];
		uint64_t places = (uint64_t)__builtin_popcount(temporal) +
				  (uint64_t)__builtin_popcount(spatial);
		for (int64_t left = shape->dimensions[d].extent, p; left > 1; left /= p) {
			p = least_prime(left);
			uint64_t place = random_below(random, places);
			for (int bit = 0; bit < 2 * rows; bit++) {
				bool is_spatial = bit >= rows;
				uint32_t rows_of = is_spatial ? spatial : temporal;
				int row = is_spatial ? bit - rows : bit;
				if (!(rows_of >> row & 1) || place-- > 0)
					continue;
				if (is_spatial)
					out->rows[row].spatial[d] *= (uint32_t)p;
				else
					out->rows[row].temporal[d] *= (uint32_t)p;
				break;
			}
		}
	}
	for (int t = 0; t < shape->space_count; t++)
		out->residency[t] =
			machine->kept[t] ? machine->kept[t] : 1 | (uint32_t)random_below(random, 8);
}

static double seconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Everything counted, in one number; sums may wrap. */
static uint64_t digest(const struct machine *machine, const struct nest_counts *counts)
{
	uint64_t sum = (uint64_t)counts->compute_cycles;
	for (int i = 0; i < machine->hierarchy.level_count; i++)
		for (int t = 0; t < machine->shape.space_count; t++) {
			const struct nest_count *count = &counts->at[i][t];
			sum = sum * 31 + (uint64_t)count->reads;
			sum = sum * 31 + (uint64_t)count->fills;
			sum = sum * 31 + (uint64_t)count->updates;
			sum = sum * 31 + (uint64_t)count->capacity;
		}
	return sum;
}

enum { BATCH = 32 };

/* A new batch of valid mappings; how many draws it took. */
static long draw_batch(struct random *random, const struct machine *machine,
	const struct nest_model *model, struct mapping *batch)
{
	long draws = 0;
	struct nest_counts counts;
	struct nest_score score;
	for (int k = 0; k < BATCH; draws++) {
		draw_mapping(random, machine, &batch[k]);
		k += nest_evaluate(model, &batch[k], &counts, &score) == NEST_FITS;
	}
	return draws;
}

static uint64_t naive_digest(
	const struct machine *machine, enum counting counting, const struct mapping *mapping)
{
	static struct nest_counts counts;
	naive_timeloop(&machine->hierarchy, &machine->shape, mapping, &counts);
	return digest(machine, &counts);
}

static void measure(const struct machine *machine, enum counting counting, long mappings)
{
	struct arena *arena = arena_open();
	const struct nest_model *model =
		nest_model_make(arena, &machine->hierarchy, &machine->shape, counting);
	struct mapping *batch = arena_array(arena, struct mapping, BATCH);
	static struct nest_counts counts;
	static struct nest_score score;
	struct random random = random_open(1, (uint64_t)counting);
	long evaluated = 0, draws = 0, checked = 0, twice = 0;
	uint64_t sum = 0, fast = 0, slow = 0;
	double time = 0, energy = 0;
	while (evaluated < mappings) {
		draws += draw_batch(&random, machine, model, batch);
		double start = seconds();
		for (int k = 0; k < BATCH; k++) {
			nest_evaluate(model, &batch[k], &counts, &score);
			energy += score.energy_pj;
		}
		time += seconds() - start;
		evaluated += BATCH;
		for (int k = 0; k < BATCH; k++) {
			struct nest_quick quick;
			twice += !nest_quick_counts(model, &batch[k], &counts, &score, &quick) ||
				 quick.left;
			nest_evaluate(model, &batch[k], &counts, &score);
			sum += digest(machine, &counts);
			if (k == 0 && checked < 100 && counting == COUNTING_TIMELOOP) {
				fast += digest(machine, &counts);
				slow += naive_digest(machine, counting, &batch[k]);
				checked++;
			}
		}
	}
	printf("  %-8s %8.2f million/s  %6.0f ns each  %ld mappings of %ld draws  "
	       "mean energy %.6g pJ  checksum %016" PRIx64 "\n",
		counting_names[counting], (double)evaluated / time / 1e6,
		time / (double)evaluated * 1e9, evaluated, draws, energy / (double)evaluated, sum);
	printf("           %ld of them not by the quick count alone (%.1f%%)\n", twice,
		100 * (double)twice / (double)evaluated);
	if (checked)
		printf("           %ld executed naively: %s\n", checked,
			fast == slow ? "the same counts" : "OTHER COUNTS");
	arena_close(arena);
}

int main(void)
{
	const char *asked = getenv("MAPPINGS");
	long mappings = asked ? strtol(asked, NULL, 10) : 200000;
	void (*const makers[])(struct machine *) = {make_gemm, make_eyeriss};
	printf("loop-nest model, one thread, evaluation alone (drawing is not timed)\n");
	for (size_t m = 0; m < sizeof makers / sizeof *makers; m++) {
		static struct machine machine;
		memset(&machine, 0, sizeof machine);
		makers[m](&machine);
		printf("%s\n", machine.name);
		measure(&machine, COUNTING_EXACT, mappings);
		measure(&machine, COUNTING_TIMELOOP, mappings);
	}
	return 0;
}
