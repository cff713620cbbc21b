#include "model/machine/arch.h"

#include "base/wide.h"

#include "base/arena.h"
#include "base/fatal.h"
#include "base/text.h"

#include <string.h>

const struct storage storage_unlimited = {.reduces = true,
	.multiple_buffering = 1,
	.word_bits = 16,
	.block_words = 1,
	.cluster_size = 1,
	.read_rate = {0, 1},
	.write_rate = {0, 1},
	.shared_rate = {0, 1},
	.row_cycles = {0, 1},
	.round_cycles = {0, 1}};

void level_set_kind(struct level *level, enum level_class kind)
{
	level->kind = kind;
	if (kind == LEVEL_STORAGE)
		level->storage = (struct storage_level){.store = storage_unlimited, .alignment = 1};
	else if (kind == LEVEL_COMPUTE)
		level->compute = (struct compute_level){.word_bits = 16};
}

int64_t arch_cores(const struct arch *arch)
{
	return arch->core < 0 ? 1 : arch->levels[arch->core].instances;
}

const struct level *arch_home(const struct arch *arch)
{
	return arch->hbm < 0 ? NULL : &arch->levels[arch->hbm];
}

bool arch_moves_boxes(const struct arch *arch)
{
	return arch->lx >= 0 && arch_lx(arch)->boxes;
}

bool arch_array_is_ideal(const struct arch *arch, int compute)
{
	const struct level *unit = &arch->levels[compute];
	struct ratio rate = compute == arch->compute ? level_compute(unit)->mac_rate
						     : level_compute(unit)->vector_rate;
	bool right = arch->lx >= 0, fans = fanout_count(&unit->fanout) > 1;
	for (int r = arch->lx + 1; r < compute; r++) {
		right &= arch->levels[r].kind != LEVEL_STORAGE;
		fans |= arch->levels[r].kind == LEVEL_CONTAINER &&
			arch->levels[r].fanout.x * arch->levels[r].fanout.y > 1;
	}
	return right && (!fans || rate.num > rate.den);
}

int64_t arch_lanes(const struct arch *arch, int64_t cores)
{
	return arch->lane_cores ? number_ceil_div(cores, arch->lane_cores) : 0;
}

/* Returns the whole doublings from `span` to `bytes`; 0 if `span` is 0. */
static int64_t count_doublings(int64_t span, int64_t bytes)
{
	int64_t count = 0;
	for (; span && bytes / 2 >= span; bytes /= 2)
		count++;
	return count;
}

int64_t arch_plane_doublings(const struct arch *arch, int64_t stride)
{
	return count_doublings(arch_hbm(arch)->plane_span, stride);
}

int64_t arch_misses(const struct arch *arch, int64_t planes, int64_t runs)
{
	int64_t open = arch_hbm(arch)->open_planes;
	return planes <= open ? 0 : (int64_t)((wide)runs * (planes - open) / planes);
}

int64_t arch_block_misses(const struct arch *arch, int64_t planes, int64_t blocks)
{
	int64_t open = arch_hbm(arch)->open_planes;
	return (int64_t)((wide)blocks * planes / (planes + open));
}

int64_t arch_write_doublings(const struct arch *arch, int64_t bytes)
{
	return count_doublings(arch_hbm(arch)->write_span, bytes);
}

int64_t arch_lx_capacity(const struct arch *arch)
{
	const struct storage_level *lx = arch_lx(arch);
	return lx->capacity - lx->reserve;
}

int64_t arch_stream_address(const struct arch *arch)
{
	return number_align_up(arch_lx_capacity(arch), arch_lx(arch)->alignment);
}

int64_t arch_stream_capacity(const struct arch *arch)
{
	return number_max(0, arch_lx(arch)->capacity - arch_stream_address(arch));
}

int64_t arch_reserve(int64_t capacity, struct ratio fraction)
{
	int64_t kept = 0;
	if (fraction.num &&
		!ratio_time(capacity, (struct ratio){fraction.den, fraction.num}, &kept))
		BUG("a reserve that is larger than its memory");
	return kept;
}

const struct arch *arch_with_reserve(struct arena *arena, const struct arch *arch, int64_t reserve)
{
	struct arch *other = arena_copy(arena, arch, sizeof *arch);
	if (reserve < 0 || reserve > arch_lx(arch)->capacity)
		BUG("a reserve of %lld bytes does not fit LX", (long long)reserve);
	other->levels[arch->lx].storage.reserve = reserve;
	return other;
}

bool ring_reduces(const struct ring *ring, const struct primitive *reduction)
{
	for (int i = 0; ring->reductions && ring->reductions[i]; i++)
		if (ring->reductions[i] == reduction)
			return true;
	return false;
}

struct ratio ring_run(const struct ring *ring, int64_t parts)
{
	int64_t clamped = number_min(number_max(parts, RING_PARTS_LEAST), RING_PARTS_MOST);
	return ring->run_cycles[clamped - RING_PARTS_LEAST];
}

/* Returns a rate of words in bytes; it was read in bytes, so it fits.  Prices ask for it often: words of 8, 16, 32 bits
 * need no common divisor. */
static struct ratio storage_bytes(const struct storage *store, struct ratio words)
{
	int64_t bytes = store->word_bits / 8;
	struct ratio rate = words;
	if (!words.num)
		return (struct ratio){0, 1};
	if (bytes < 1 || store->word_bits % 8 || bytes & (bytes - 1) ||
		words.num > INT64_MAX / bytes) {
		if (!ratio_mul(words, (struct ratio){store->word_bits, 8}, &rate))
			BUG("a rate does not fit in bytes");
		return rate;
	}
	for (; bytes > 1 && rate.den % 2 == 0; bytes /= 2)
		rate.den /= 2;
	rate.num *= bytes;
	return rate;
}

struct storage_ports storage_ports(const struct storage *store)
{
	return (struct storage_ports){
		.read = storage_bytes(store, store->shared ? store->shared_rate : store->read_rate),
		.write = storage_bytes(
			store, store->shared ? store->shared_rate : store->write_rate),
		.shared = store->shared};
}

int arch_level(const struct arch *arch, const char *name)
{
	for (int i = 0; i < arch->level_count; i++) {
		if (text_equal(arch->levels[i].name, name))
			return i;
	}
	return -1;
}

double arch_nanoseconds(const struct arch *arch, int64_t cycles)
{
	return (double)cycles * 1e9 / ratio_double(arch->clock_hz);
}

bool arch_is_assumed(const char *source)
{
	return source && strncmp(source, "assumed", strlen("assumed")) == 0;
}

const char *arch_energy_source(const struct arch *arch, const char *level)
{
	static const char *const keys[] = {
		"read_energy_per_byte", "write_energy_per_byte", "mac_energy", "vector_energy"};
	for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
		for (size_t i = 0; i < arch->note_count; i++) {
			const struct source_note *note = &arch->notes[i];
			if (text_equal(note->level, level) && text_equal(note->key, keys[k]) &&
				note->given)
				return note->source;
		}
	return NULL;
}

const char *arch_assumed_energies(struct arena *arena, const struct arch *arch)
{
	struct text text = text_open(arena);
	const char *comma = "";
	for (int r = 0; r < arch->level_count; r++)
		if (arch_is_assumed(arch_energy_source(arch, arch->levels[r].name))) {
			text_add(&text, "%s%s", comma, arch->levels[r].name);
			comma = ", ";
		}
	const struct ring *rings[] = {&arch->reduce_ring, &arch->data_ring};
	static const char *const names[] = {"reduce ring", "data ring"};
	for (int i = 0; i < 2; i++)
		if (rings[i]->present && arch_is_assumed(rings[i]->energy_source)) {
			text_add(&text, "%s%s", comma, names[i]);
			comma = ", ";
		}
	return text_read(&text);
}
