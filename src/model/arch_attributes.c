#include "model/arch_attributes.h"

#include "base/arena.h"
#include "base/text.h"
#include "model/arch_read.h"

bool attributes_clock(struct reader *attributes, struct ratio *hertz)
{
	struct ratio seconds = {0};
	if (read_hertz(attributes, "clock", OPTIONAL, hertz))
		return true;
	if (!read_ratio(attributes, "global_cycle_seconds", OPTIONAL, &seconds))
		return false;
	const struct node *node = read_node(attributes, "global_cycle_seconds", OPTIONAL);
	if (seconds.num > 0 && ratio_div((struct ratio){1, 1}, seconds, hertz))
		return true;
	diag_error(attributes->reading->diag, node->span,
		"'global_cycle_seconds' in %s is no cycle time", attributes->what);
	return false;
}

static bool has_unit(struct reader *attributes, const struct node *node, const char *key)
{
	struct value value;
	return expr_read(attributes->reading->diag, attributes->reading->variables, node, key,
		       &value) &&
	       value_quantity(value) != QUANTITY_BARE;
}

static bool complain_too_large(struct reader *attributes, const char *key)
{
	diag_error(attributes->reading->diag, read_node(attributes, key, OPTIONAL)->span,
		"'%s' in %s is too large", key, attributes->what);
	return false;
}

/* A rate in bytes per second, or a bare number of words per cycle. */
static bool read_bandwidth(struct reader *attributes, const char *key, struct ratio clock_hz,
	int64_t word_bits, struct ratio *out)
{
	const struct node *node = read_node(attributes, key, OPTIONAL);
	struct ratio rate, word;
	if (!node)
		return false;
	if (node->kind == NODE_SCALAR && has_unit(attributes, node, key)) {
		if (!read_rate(attributes, key, OPTIONAL, &rate))
			return false;
		return ratio_div(rate, clock_hz, out) || complain_too_large(attributes, key);
	}
	if (!read_ratio(attributes, key, OPTIONAL, &rate))
		return false;
	if (!rate.num) {
		diag_error(attributes->reading->diag, node->span,
			"'%s' in %s is 0; leave it out where nothing limits it", key,
			attributes->what);
		return false;
	}
	return (ratio_make(word_bits, 8, &word) && ratio_mul(rate, word, out)) ||
	       complain_too_large(attributes, key);
}

/* A time, in cycles of the clock, rounded up. */
static void read_cycles(
	struct reader *attributes, const char *key, struct ratio clock_hz, int64_t *out)
{
	struct ratio nanoseconds, per_nanosecond, cycles;
	if (!read_nanoseconds(attributes, key, OPTIONAL, &nanoseconds))
		return;
	if (!ratio_div(clock_hz, (struct ratio){1000000000, 1}, &per_nanosecond) ||
		!ratio_mul(nanoseconds, per_nanosecond, &cycles))
		complain_too_large(attributes, key);
	else
		*out = number_ceil_div(cycles.num, cycles.den);
}

static void read_reductions(struct reader *map, struct ring *ring)
{
	const char *const *names;
	size_t count;
	if (!read_texts(map, "reductions", REQUIRED, &names, &count))
		return;
	for (size_t i = 0; i < count; i++) {
		if (text_equal(names[i], "sum"))
			ring->sum = true;
		else if (text_equal(names[i], "max"))
			ring->max = true;
		else if (text_equal(names[i], "min"))
			ring->min = true;
		else
			diag_error(map->reading->diag,
				node_item(read_node(map, "reductions", REQUIRED), i)->span,
				"a ring can do 'sum', 'max' and 'min', not '%s'", names[i]);
	}
}

static void read_ring(struct reader *attributes, const char *key, struct ratio clock_hz,
	bool reduces, struct ring *ring)
{
	const struct node *node = read_map(attributes, key, OPTIONAL);
	struct reader map;
	if (!node || !reader_open(&map, attributes->reading, node, key))
		return;
	ring->present = true;
	read_node(&map, "bandwidth", REQUIRED);
	read_bandwidth(&map, "bandwidth", clock_hz, 8, &ring->rate);
	read_picojoules(&map, "energy_per_byte", OPTIONAL, &ring->pj);
	if (reduces)
		read_reductions(&map, ring);
	reader_done(&map);
}

static void read_container(struct reader *attributes, struct arch *arch)
{
	read_size(attributes, "span_limit", OPTIONAL, 1, INT64_MAX, &arch->span_limit);
	read_integer(attributes, "bundle_tensors", OPTIONAL, 1, INT32_MAX, &arch->bundle_tensors);
	read_cycles(attributes, "bundle_overhead", arch->clock_hz, &arch->bundle_cycles);
	read_cycles(attributes, "core_overhead", arch->clock_hz, &arch->core_cycles);
	read_ring(attributes, "data_ring", arch->clock_hz, false, &arch->data_ring);
	read_ring(attributes, "reduce_ring", arch->clock_hz, true, &arch->reduce_ring);
}

bool arch_read_reserve(struct reader *reader, const char *key, int64_t capacity, int64_t *bytes)
{
	const struct node *node = read_node(reader, key, OPTIONAL);
	struct ratio fraction;
	if (!node)
		return false;
	if (node->kind == NODE_SCALAR && has_unit(reader, node, key))
		return read_size(reader, key, OPTIONAL, 0, capacity, bytes);
	if (!read_ratio(reader, key, OPTIONAL, &fraction))
		return false;
	if (fraction.num > fraction.den) {
		diag_error(reader->reading->diag, node->span,
			"'%s' in %s is %.10g; a fraction up to 1 is expected, or a size with a "
			"unit",
			key, reader->what, ratio_double(fraction));
		return false;
	}
	*bytes = arch_reserve(capacity, fraction);
	return true;
}

/* `size` in bytes, or `depth` rows of `width` bits, or `entries` words. */
static void read_capacity(struct reader *attributes, struct level *level)
{
	int64_t depth, entries, width = level->word_bits * level->block_words, bits = 0;
	bool by_size = read_size(attributes, "size", OPTIONAL, 1, INT64_MAX, &level->capacity);
	bool by_depth = read_integer(attributes, "depth", OPTIONAL, 1, INT64_MAX, &depth);
	bool by_entries = read_integer(attributes, "entries", OPTIONAL, 1, INT64_MAX, &entries);
	read_integer(attributes, "width", OPTIONAL, 1, INT32_MAX, &width);
	if (by_size + by_depth + by_entries > 1)
		diag_error(attributes->reading->diag, attributes->map->span,
			"%s has its capacity twice; give 'size', or 'depth' and 'width', or "
			"'entries'",
			attributes->what);
	else if (by_depth && !number_mul(depth, width, &bits))
		complain_too_large(attributes, "depth");
	else if (by_entries && !number_mul(entries, level->word_bits, &bits))
		complain_too_large(attributes, "entries");
	if (bits)
		level->capacity = bits / 8;
}

static void read_alignment(struct reader *attributes, struct level *level)
{
	int64_t alignment = 1;
	if (!read_size(attributes, "alignment", OPTIONAL, 1, INT32_MAX, &alignment))
		return;
	if (alignment & (alignment - 1))
		diag_error(attributes->reading->diag,
			read_node(attributes, "alignment", OPTIONAL)->span,
			"'alignment' in %s is %lld bytes; it must be a power of two",
			attributes->what, (long long)alignment);
	else
		level->alignment = alignment;
}

static void read_storage(struct reader *attributes, const struct arch *arch, struct level *level)
{
	struct ratio hz = arch->clock_hz;
	read_integer(attributes, "datawidth", OPTIONAL, 1, 4096, &level->word_bits);
	read_integer(attributes, "block_size", OPTIONAL, 1, 1 << 20, &level->block_words);
	read_capacity(attributes, level);
	level->scratchpad =
		arch_read_reserve(attributes, "reserve", level->capacity, &level->reserve);
	read_bool(attributes, "scratchpad", OPTIONAL, &level->scratchpad);
	read_alignment(attributes, level);
	read_bandwidth(attributes, "read_bandwidth", hz, level->word_bits, &level->read_rate);
	read_bandwidth(attributes, "write_bandwidth", hz, level->word_bits, &level->write_rate);
	read_bandwidth(attributes, "fill_bandwidth", hz, level->word_bits, &level->fill_rate);
	struct ratio shared = {0};
	if (read_bandwidth(attributes, "shared_bandwidth", hz, level->word_bits, &shared)) {
		if (level->read_rate.num || level->write_rate.num)
			diag_error(attributes->reading->diag,
				read_node(attributes, "shared_bandwidth", OPTIONAL)->span,
				"%s has a 'shared_bandwidth' of reads and writes, and one of "
				"either",
				attributes->what);
		level->shared_rate = true;
		level->read_rate = level->write_rate = shared;
	}
	read_picojoules(attributes, "read_energy_per_byte", OPTIONAL, &level->read_pj);
	read_picojoules(attributes, "write_energy_per_byte", OPTIONAL, &level->write_pj);
}

static void read_compute(struct reader *attributes, struct level *level)
{
	read_integer(attributes, "datawidth", OPTIONAL, 1, 4096, &level->word_bits);
	read_ratio(attributes, "mac_rate", OPTIONAL, &level->mac_rate);
	read_ratio(attributes, "vector_rate", OPTIONAL, &level->vector_rate);
	read_picojoules(attributes, "mac_energy", OPTIONAL, &level->mac_pj);
	read_picojoules(attributes, "vector_energy", OPTIONAL, &level->vector_pj);
}

void attributes_read(struct reader *attributes, struct arch *arch, struct level *level)
{
	switch (level->kind) {
	case LEVEL_CONTAINER:
		read_container(attributes, arch);
		break;
	case LEVEL_STORAGE:
		read_storage(attributes, arch, level);
		break;
	case LEVEL_COMPUTE:
		read_compute(attributes, level);
		break;
	}
}
