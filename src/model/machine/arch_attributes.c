#include "model/machine/arch_attributes.h"

#include "base/arena.h"
#include "base/text.h"
#include "model/machine/arch_read.h"
#include "model/machine/topology.h"

/* A cycle time with more digits than a fraction has: the clock to the nearest hertz. */
static bool nearest_clock(double seconds, struct ratio *hertz)
{
	double most = 1e15, clock = seconds > 0 ? 1 / seconds : 0;
	return clock >= 1 && clock <= most && ratio_make((int64_t)(clock + 0.5), 1, hertz);
}

bool attributes_clock(struct reader *attributes, struct ratio *hertz)
{
	double seconds = 0;
	struct value value;
	struct ratio period;
	if (node_find(attributes->map, "clock") &&
		node_find(attributes->map, "global_cycle_seconds"))
		diag_error(attributes->reading->diag, attributes->map->span,
			"%s has a 'clock' and 'global_cycle_seconds'; give one of them",
			attributes->what);
	if (read_hertz(attributes, "clock", OPTIONAL, hertz))
		return true;
	const struct node *node = read_node(attributes, "global_cycle_seconds", OPTIONAL);
	if (!node || !read_number(attributes, "global_cycle_seconds", OPTIONAL, &seconds))
		return false;
	if (seconds < 0) {
		diag_warning(attributes->reading->diag, node->span,
			"'global_cycle_seconds' in %s is no cycle time and is left out",
			attributes->what);
		return false;
	}
	bool exact = expr_read(attributes->reading->diag, attributes->reading->variables, node,
			     "global_cycle_seconds", &value) &&
		     value.exact && value.num > 0;
	if (exact && ratio_make(value.num, value.den, &period) &&
		ratio_div((struct ratio){1, 1}, period, hertz))
		return true;
	if (!exact && nearest_clock(seconds, hertz))
		return true;
	return reader_refuse(attributes, "global_cycle_seconds", "is no cycle time");
}

bool attributes_has_unit(struct reader *attributes, const struct node *node, const char *key)
{
	struct value value;
	return node->kind == NODE_SCALAR &&
	       expr_read(attributes->reading->diag, attributes->reading->variables, node, key,
		       &value) &&
	       value_quantity(value) != QUANTITY_BARE;
}

/* Whether the clock is known, which what is per second needs; complains. */
static bool is_timed(struct reader *attributes, const char *key, struct ratio clock_hz)
{
	return clock_hz.num > 0 ||
	       reader_refuse(attributes, key,
		       "counts seconds, and no container says how fast the machine runs; one needs "
		       "'clock', such as 'clock: 1.5GHz'");
}

bool attributes_cycles(struct reader *attributes, const char *key, struct ratio nanoseconds,
	struct ratio clock_hz, struct ratio *cycles)
{
	struct ratio per_nanosecond;
	if (!is_timed(attributes, key, clock_hz))
		return false;
	return (ratio_div(clock_hz, (struct ratio){1000000000, 1}, &per_nanosecond) &&
		       ratio_mul(nanoseconds, per_nanosecond, cycles)) ||
	       reader_refuse(attributes, key, "is too large");
}

bool attributes_bandwidth(struct reader *attributes, const char *key, struct ratio clock_hz,
	int64_t word_bits, struct ratio *out)
{
	const struct node *node = read_node(attributes, key, OPTIONAL);
	struct ratio rate, word;
	if (!node)
		return false;
	if (attributes_has_unit(attributes, node, key)) {
		if (!read_rate(attributes, key, OPTIONAL, &rate) ||
			!is_timed(attributes, key, clock_hz))
			return false;
		return ratio_div(rate, clock_hz, out) ||
		       reader_refuse(attributes, key, "is too large");
	}
	if (!read_ratio(attributes, key, OPTIONAL, &rate))
		return false;
	if (!rate.num)
		return reader_refuse(attributes, key, "is 0; leave it out where nothing limits it");
	return (ratio_make(word_bits, 8, &word) && ratio_mul(rate, word, out)) ||
	       reader_refuse(attributes, key, "is too large");
}

/* A time, in cycles of the clock, rounded up. */
static void read_cycles(
	struct reader *attributes, const char *key, struct ratio clock_hz, int64_t *out)
{
	struct ratio nanoseconds, cycles;
	if (read_nanoseconds(attributes, key, OPTIONAL, &nanoseconds) &&
		attributes_cycles(attributes, key, nanoseconds, clock_hz, &cycles))
		*out = number_ceil_div(cycles.num, cycles.den);
}

/* "'sum', 'max' and 'min'": the reductions that join what they have made. */
static const char *list_reductions(struct arena *arena)
{
	struct text text = text_open(arena);
	const struct primitive *last = NULL;
	int count = 0;
	for (int i = 0; primitives[i]; i++) {
		if (!primitive_joins(primitives[i]))
			continue;
		if (last)
			text_add(&text, "%s'%s'", count++ ? ", " : "", last->name);
		last = primitives[i];
	}
	text_add(&text, "%s'%s'", count ? " and " : "", last->name);
	return text_read(&text);
}

static void read_reductions(struct reader *map, struct ring *ring)
{
	struct arena *arena = map->reading->arena;
	const char *const *names;
	size_t count, known = 0;
	if (!read_texts(map, "reductions", REQUIRED, &names, &count))
		return;
	const struct primitive **reductions =
		arena_array(arena, const struct primitive *, count + 1);
	for (size_t i = 0; i < count; i++) {
		const struct primitive *reduction = primitive_find(names[i]);
		if (reduction && primitive_joins(reduction))
			reductions[known++] = reduction;
		else
			diag_error(map->reading->diag,
				node_item(read_node(map, "reductions", REQUIRED), i)->span,
				"a ring can do %s, not '%s'", list_reductions(arena), names[i]);
	}
	ring->reductions = reductions;
}

/* Times by the number of parts, from RING_PARTS_LEAST on; the last holds for more. */
static void read_runs(struct reader *map, struct ratio clock_hz, struct ring *ring)
{
	const struct node *list = read_list(map, "run_overhead", OPTIONAL);
	int most = RING_PARTS_MOST - RING_PARTS_LEAST + 1;
	struct ratio nanoseconds, cycles = {0, 1};
	if (!list || !is_timed(map, "run_overhead", clock_hz))
		return;
	if (list->count < 1 || list->count > (size_t)most)
		diag_error(map->reading->diag, list->span,
			"'run_overhead' has 1 to %d times, for slices cut into %d, %d, ... parts, not %zu",
			most, RING_PARTS_LEAST, RING_PARTS_LEAST + 1, list->count);
	for (int i = 0; i < most; i++) {
		if ((size_t)i < list->count && (!node_nanoseconds(map->reading, list->items[i],
							"a time of 'run_overhead'", &nanoseconds) ||
						       !attributes_cycles(map, "run_overhead",
							       nanoseconds, clock_hz, &cycles)))
			return;
		ring->run_cycles[i] = cycles;
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
	attributes_bandwidth(&map, "bandwidth", clock_hz, 8, &ring->rate);
	read_picojoules(&map, "energy_per_byte", OPTIONAL, &ring->pj);
	read_text(&map, "energy_source", OPTIONAL, &ring->energy_source);
	if (reduces)
		read_reductions(&map, ring);
	else
		read_runs(&map, clock_hz, ring);
	reader_done(&map);
}

/* How many ranks there are, or how long the sides of what they form. */
static void read_ranks(struct reader *attributes, const struct node *dims, struct arch *arch)
{
	const struct reading *reading = attributes->reading;
	const struct node *links = node_find(attributes->map, "links");
	bool mesh = links && arch->copying.topology == TOPOLOGY_MESH;
	int64_t extent = 1, product = 1;
	bool given = read_integer(attributes, "ranks", OPTIONAL, 1, RANKS_MOST, &arch->ranks);
	if (dims && dims->count != (mesh ? 2U : 1U)) {
		diag_error(reading->diag, dims->span, "a %s has %d dimension%s, not %zu",
			topology_names[arch->copying.topology], mesh ? 2 : 1, mesh ? "s" : "",
			dims->count);
		return;
	}
	for (size_t i = 0; dims && i < dims->count; i++) {
		if (!node_integer(reading, dims->items[i], "an extent of the links", 1, RANKS_MOST,
			    &extent))
			return;
		product *= extent;
	}
	if (dims && product > RANKS_MOST)
		diag_error(reading->diag, dims->span, "there are at most %d ranks", RANKS_MOST);
	else if (dims && given && product != arch->ranks)
		diag_error(reading->diag, dims->span, "the links join %lld ranks, there are %lld",
			(long long)product, (long long)arch->ranks);
	else if (dims)
		arch->ranks = product;
	else if (mesh)
		diag_error(
			reading->diag, links->span, "a mesh needs 'dims', such as 'dims: [2, 4]'");
	if (dims && mesh)
		arch->rank_columns = (int)extent;
}

void attributes_machine(struct reader *attributes, struct arch *arch)
{
	read_node(attributes, "clock", OPTIONAL); /* these two are read before all others */
	read_node(attributes, "global_cycle_seconds", OPTIONAL);
	read_size(attributes, "span_limit", OPTIONAL, 1, INT64_MAX, &arch->span_limit);
	read_integer(attributes, "bundle_tensors", OPTIONAL, 1, INT32_MAX, &arch->bundle_tensors);
	read_cycles(attributes, "bundle_overhead", arch->clock_hz, &arch->bundle_cycles);
	read_cycles(attributes, "core_overhead", arch->clock_hz, &arch->core_cycles);
	bool lanes = attributes_bandwidth(
		attributes, "lane_bandwidth", arch->clock_hz, 16, &arch->lane_rate);
	if (lanes != read_integer(attributes, "lane_cores", OPTIONAL, 1, ARCH_CORES_MOST,
			     &arch->lane_cores))
		reader_refuse(attributes, lanes ? "lane_bandwidth" : "lane_cores",
			"says nothing without '%s'", lanes ? "lane_cores" : "lane_bandwidth");
	read_ring(attributes, "data_ring", arch->clock_hz, false, &arch->data_ring);
	read_ring(attributes, "reduce_ring", arch->clock_hz, true, &arch->reduce_ring);
	const struct node *dims = NULL;
	copying_read_links(attributes, arch->clock_hz, &arch->copying, &dims);
	read_picojoules(attributes, "link_energy_per_byte", OPTIONAL, &arch->link_pj);
	read_ranks(attributes, dims, arch);
}

bool arch_read_reserve(struct reader *reader, const char *key, int64_t capacity, int64_t *bytes)
{
	const struct node *node = read_node(reader, key, OPTIONAL);
	struct ratio fraction;
	if (!node)
		return false;
	if (attributes_has_unit(reader, node, key))
		return read_size(reader, key, OPTIONAL, 0, capacity, bytes);
	if (!read_ratio(reader, key, OPTIONAL, &fraction))
		return false;
	if (fraction.num > fraction.den)
		return reader_refuse(reader, key,
			"is %.10g; a fraction up to 1 is expected, or a size with a unit",
			ratio_double(fraction));
	*bytes = arch_reserve(capacity, fraction);
	return true;
}
