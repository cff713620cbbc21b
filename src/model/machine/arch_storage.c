#include "model/machine/topology.h"

#include "base/arena.h"
#include "base/number.h"
#include "base/text.h"
#include "model/machine/arch_draft.h"
#include "model/machine/arch_read.h"
#include "model/machine/ert.h"
#include "model/machine/layout.h"
#include "spec/reader.h"

#include <string.h>
#include <strings.h>

static bool fans_out(const struct level *level)
{
	return level->fanout_x * level->fanout_y > 1;
}

/* A unit for maps and reductions says so by its rates or by its class. */
static bool is_vector_unit(const struct level *level)
{
	return !level->mac_rate.num &&
	       (level->vector_rate.num || strcasestr(level->device, "vector") ||
		       strcasestr(level->device, "scalar"));
}

/* The place of a key of a level. */
static struct span span_of(const struct arch_draft *draft, int r, const char *key)
{
	const struct node *own = draft->entries[r].own;
	int i = own ? node_index(own, key) : -1;
	return i < 0 ? draft->arch->levels[r].span : own->entries[i].key_span;
}

static void refuse_twin(struct arch_draft *draft, int r, int other, const char *rate)
{
	const struct level *levels = draft->arch->levels;
	WRONG(draft, levels[r].span,
		"'%s' and '%s' both compute; the array alone has a 'mac_rate', the unit for maps "
		"and reductions a 'vector_rate' alone, and there is one of each%s",
		levels[other].name, levels[r].name, rate);
}

/* The array: the compute with a 'mac_rate', else the innermost that is not a vector unit. */
static void find_computes(struct arch_draft *draft)
{
	struct arch *arch = draft->arch;
	arch->compute = arch->vector = -1;
	for (int r = 0; r < arch->level_count; r++) {
		const struct level *level = &arch->levels[r];
		if (level->kind != LEVEL_COMPUTE)
			continue;
		int *role = is_vector_unit(level) ? &arch->vector : &arch->compute;
		if (*role >= 0)
			refuse_twin(draft, r, *role, "");
		*role = r;
	}
	if (arch->compute < 0)
		arch->compute = arch->vector;
	if (arch->vector < 0)
		arch->vector = arch->compute;
	if (arch->compute < 0)
		return;
	struct level *array = &arch->levels[arch->compute], *unit = &arch->levels[arch->vector];
	if (array != unit && array->vector_rate.num)
		refuse_twin(draft, arch->compute, arch->vector, "; both have a 'vector_rate'");
	if (!array->mac_rate.num)
		array->mac_rate = (struct ratio){1, 1};
	if (!unit->vector_rate.num)
		unit->vector_rate = array == unit ? array->mac_rate : (struct ratio){1, 1};
}

/* The outermost storage, and the outermost that is marked as scratchpad. */
static void find_storages(struct arch_draft *draft)
{
	struct arch *arch = draft->arch;
	arch->hbm = arch->lx = -1;
	for (int r = 0; r < arch->level_count; r++) {
		const struct level *level = &arch->levels[r];
		if (level->kind != LEVEL_STORAGE)
			continue;
		if (arch->hbm < 0)
			arch->hbm = r;
		if (!level->scratchpad)
			continue;
		if (arch->lx < 0)
			arch->lx = r;
		else if (level->parallel && level->parallel == arch->levels[arch->lx].parallel)
			WRONG(draft, level->span,
				"'%s' and '%s' stand side by side, and both are marked as "
				"scratchpads; tensors stay in one",
				arch->levels[arch->lx].name, level->name);
		else
			diag_remark(draft->reading->diag, level->span,
				"tensors stay in '%s', the outermost scratchpad; in '%s' they are "
				"as long as the mapping of one op keeps them",
				arch->levels[arch->lx].name, level->name);
	}
}

/* Cores are the innermost level with a fan-out from the home down to the scratchpad; without any they are the
 * level around it, of one instance. */
static void find_cores(struct arch_draft *draft)
{
	struct arch *arch = draft->arch;
	int inside = arch->lx;
	arch->core = -1;
	for (int r = arch->lx; r > arch->hbm && arch->core < 0; r--) {
		const struct level *level = &arch->levels[r];
		if (level->kind == LEVEL_COMPUTE)
			continue;
		if (fans_out(level))
			arch->core = r;
		else if (level->kind == LEVEL_CONTAINER && inside == arch->lx)
			inside = r;
	}
	if (arch->core < 0)
		arch->core = inside;
}

/* Checks that attributes of cores come with a scratchpad, which marks the level of cores. */
static void check_cores(struct arch_draft *draft)
{
	static const char *const keys[] = {
		"core_overhead", "data_ring", "lane_bandwidth", "reduce_ring", "span_limit", NULL};
	const struct arch *arch = draft->arch;
	bool fans = false;
	for (int r = 0; r < arch->level_count; r++)
		fans |= fans_out(&arch->levels[r]);
	for (int r = 0; arch->lx < 0 && fans && r < arch->level_count; r++)
		for (int k = 0; keys[k]; k++)
			if (draft->entries[r].own && node_find(draft->entries[r].own, keys[k]))
				WRONG(draft, span_of(draft, r, keys[k]),
					"'%s' is an attribute of cores, and no level is marked as one; "
					"mark the storage of each with 'scratchpad: true'",
					keys[k]);
}

/* Boxes of sticks go between the home and the scratchpad. */
static void check_transfers(struct arch_draft *draft)
{
	const struct arch *arch = draft->arch;
	const char *pad = arch->lx < 0 ? NULL : arch->levels[arch->lx].name;
	for (int r = 0; r < arch->level_count; r++) {
		const struct level *level = &arch->levels[r];
		if (level->boxes && !pad)
			WRONG(draft, span_of(draft, r, "transfer"),
				"boxes go into a scratchpad, which '%s' is not; it needs "
				"'scratchpad: true'",
				level->name);
		else if (level->boxes && r != arch->lx)
			WRONG(draft, span_of(draft, r, "transfer"),
				"boxes go into the outermost scratchpad, '%s', not into '%s'", pad,
				level->name);
		if (level->stick && r != arch->hbm)
			WRONG(draft, span_of(draft, r, "stick"),
				"tensors have the layout of their home, '%s'; 'stick' is said there",
				arch->levels[arch->hbm].name);
		else if (level->stick && !arch_moves_boxes(arch))
			WRONG(draft, span_of(draft, r, "stick"),
				"sticks move in boxes; the scratchpad needs 'transfer: box'");
	}
	if (arch_moves_boxes(arch) && arch->hbm != arch->lx && !arch->levels[arch->hbm].stick)
		WRONG(draft, span_of(draft, arch->lx, "transfer"),
			"boxes are of sticks; '%s' needs 'stick: 128B'",
			arch->levels[arch->hbm].name);
}

void arch_roles_find(struct arch_draft *draft, size_t errors)
{
	find_computes(draft);
	find_storages(draft);
	find_cores(draft);
	if (diag_errors(draft->reading->diag) > errors)
		return;
	check_cores(draft);
	check_transfers(draft);
}

const char *const topology_names[] = {
	"full", "ring", "bidirectional_ring", "mesh", "tree", "root_only", NULL};
const char *const port_count_names[] = {"one", "all", NULL};

/* The least common multiple, or COPY_TICKS_MOST + 1 when it is more. */
static int64_t common(int64_t a, int64_t b)
{
	int64_t out = 0;
	if (b == 0)
		return a;
	if (a > COPY_TICKS_MOST || !number_mul(a / number_gcd(a, b), b, &out) ||
		out > COPY_TICKS_MOST)
		return COPY_TICKS_MOST + 1;
	return out;
}

static int64_t to_ticks(struct ratio cycles, int64_t per_cycle)
{
	struct ratio ticks;
	if (!cycles.num || !ratio_mul(cycles, (struct ratio){per_cycle, 1}, &ticks))
		return 0;
	return number_ceil_div(ticks.num, ticks.den);
}

static struct ratio per_tick(struct ratio rate, int64_t per_cycle)
{
	struct ratio out = {0, 1};
	if (rate.num && !ratio_div(rate, (struct ratio){per_cycle, 1}, &out))
		out = rate;
	return out;
}

struct copy_ticks copying_ticks(const struct copying *copying)
{
	const struct copy_speed *speeds[] = {
		&copying->in, &copying->out, &copying->link, &copying->combine};
	int64_t ticks = common(1, copying->sync.den);
	for (int s = 0; s < 4; s++) {
		ticks = common(ticks, speeds[s]->latency.den);
		ticks = common(ticks, speeds[s]->rate.num);
	}
	if (ticks > COPY_TICKS_MOST)
		ticks = COPY_TICKS_MOST;
	return (struct copy_ticks){
		.per_cycle = ticks,
		.in_latency = to_ticks(copying->in.latency, ticks),
		.out_latency = to_ticks(copying->out.latency, ticks),
		.link_latency = to_ticks(copying->link.latency, ticks),
		.combine_latency = to_ticks(copying->combine.latency, ticks),
		.sync = to_ticks(copying->sync, ticks),
		.in_rate = per_tick(copying->in.rate, ticks),
		.out_rate = per_tick(copying->out.rate, ticks),
		.link_rate = per_tick(copying->link.rate, ticks),
		.combine_rate = per_tick(copying->combine.rate, ticks),
	};
}

/* A time with its unit, or a bare number of cycles. */
static void read_latency(
	struct reader *reader, const char *key, struct ratio clock_hz, struct ratio *cycles)
{
	struct ratio nanoseconds;
	const struct node *node = read_node(reader, key, OPTIONAL);
	if (!node)
		return;
	if (!attributes_has_unit(reader, node, key))
		read_ratio(reader, key, OPTIONAL, cycles);
	else if (read_nanoseconds(reader, key, OPTIONAL, &nanoseconds))
		attributes_cycles(reader, key, nanoseconds, clock_hz, cycles);
}

static void read_speed(struct reader *map, struct ratio clock_hz, struct copy_speed *speed)
{
	read_latency(map, "latency", clock_hz, &speed->latency);
	attributes_bandwidth(map, "bandwidth", clock_hz, 8, &speed->rate);
}

void copying_read_pipes(struct reader *reader, struct ratio clock_hz, struct copying *copying)
{
	static const char *const keys[] = {"copy_in", "copy_out", "combine"};
	struct copy_speed *speeds[] = {&copying->in, &copying->out, &copying->combine};
	for (int k = 0; k < 3; k++) {
		const struct node *node = read_map(reader, keys[k], OPTIONAL);
		struct reader map;
		if (!node || !reader_open(&map, reader->reading, node, keys[k]))
			continue;
		read_speed(&map, clock_hz, speeds[k]);
		reader_done(&map);
	}
	read_latency(reader, "copy_sync", clock_hz, &copying->sync);
}

bool copying_read_links(struct reader *reader, struct ratio clock_hz, struct copying *copying,
	const struct node **dims)
{
	const struct node *node = read_map(reader, "links", OPTIONAL);
	struct reader map;
	int kind = (int)copying->topology, ports = (int)copying->ports;
	int64_t channels = copying->channels;
	if (!node || !reader_open(&map, reader->reading, node, "links"))
		return false;
	bool known = read_word(&map, "topology", OPTIONAL, topology_names, &kind) ||
		     !node_find(node, "topology");
	read_word(&map, "ports", OPTIONAL, port_count_names, &ports);
	read_integer(&map, "channels", OPTIONAL, 1, 1024, &channels);
	read_speed(&map, clock_hz, &copying->link);
	const struct node *sides = read_list(&map, "dims", OPTIONAL);
	if (dims && known) /* how many there are is the topology's */
		*dims = sides;
	reader_done(&map);
	copying->topology = (enum topology_kind)kind;
	copying->ports = (enum port_count)ports;
	copying->channels = (int)channels;
	return true;
}

/*
 * The block of a row of `width` bits that serves the instances of a cluster, rounded down as
 * Timeloop does.  Where a row has less than a word for each it gets blocks of no words there, and
 * divides by them; here such a row is the one of each instance: blocks of a word.
 */
static void read_cluster_row(struct reader *attributes, int64_t width, struct level *level)
{
	int64_t cluster = level->word_bits * level->cluster_size;
	level->block_words = number_max(width / cluster, 1);
	if (width % cluster)
		diag_warning(attributes->reading->diag, node_find(attributes->map, "width")->span,
			"'width' in %s is %lld bits, no multiple of the %lld of a cluster's words: "
			"blocks of %lld word%s are taken",
			attributes->what, (long long)width, (long long)cluster,
			(long long)level->block_words, level->block_words == 1 ? "" : "s");
}

/*
 * The words of a row: `width` is word * block * cluster, so that the third follows
 * from two of them.  A width alone is one block.
 */
static void read_row(struct reader *attributes, struct level *level)
{
	int64_t width = 0, word = level->word_bits;
	bool by_width = read_integer(attributes, "width", OPTIONAL, 1, INT32_MAX, &width);
	bool by_block =
		read_integer(attributes, "block_size", OPTIONAL, 1, 1 << 20, &level->block_words);
	bool by_cluster = read_integer(
		attributes, "cluster_size", OPTIONAL, 1, 1 << 20, &level->cluster_size);
	int64_t block = word * level->block_words;
	if (!by_width)
		return;
	if (!by_block && width % word == 0 && by_cluster)
		read_cluster_row(attributes, width, level);
	else if (!by_block && width % word == 0)
		level->block_words = width / word;
	else if (!by_block)
		reader_refuse(attributes, "width",
			"is %lld bits, no multiple of the %lld of a word", (long long)width,
			(long long)word);
	else if (by_block && !by_cluster && width % block == 0)
		level->cluster_size = width / block;
	else if (width != block * level->cluster_size)
		reader_refuse(attributes, "width",
			"is %lld bits; 'datawidth', 'block_size' and 'cluster_size' make %lld",
			(long long)width, (long long)(block * level->cluster_size));
}

static void set_capacity(struct level *level, int64_t bytes)
{
	int64_t word = level->word_bits;
	level->capacity = bytes;
	level->entries = bytes / word * 8 + bytes % word * 8 / word;
}

/* Words per instance; none at all is a buffer that stores nothing. */
static void set_entries(struct level *level, int64_t words)
{
	level->entries = words;
	level->no_room = words == 0;
}

/* Which of several amounts counts: Timeloop asks for `entries` first and then for `depth`. */
static int choose_amount(struct reader *attributes, const char *const *keys, const bool *given)
{
	int first = given[2] ? 2 : given[1] ? 1 : given[0] ? 0 : 3;
	int count = given[0] + given[1] + given[2] + given[3];
	if (count > 1 && (given[0] || given[3]))
		diag_error(attributes->reading->diag, attributes->map->span,
			"%s has its capacity twice; give 'size', or 'depth' and 'width', or "
			"'entries'",
			attributes->what);
	else if (count > 1)
		diag_remark(attributes->reading->diag,
			read_node(attributes, keys[1], OPTIONAL)->span,
			"%s has 'entries' and 'depth': 'entries' counts, as in Timeloop",
			attributes->what);
	return count ? first : -1;
}

/* `size` in bytes, or `depth` rows, or `entries` words, or `sizeKB`. */
static void read_capacity(struct reader *attributes, struct level *level)
{
	static const char *const keys[] = {"size", "depth", "entries", "sizeKB"};
	int64_t amounts[4], width = level->word_bits * level->block_words, bits = 0;
	bool given[4] = {false};
	for (int k = 0; k < 4; k++)
		given[k] =
			k == 0 ? read_size(attributes, keys[k], OPTIONAL, 1, INT64_MAX, &amounts[k])
			       : read_integer(
					 attributes, keys[k], OPTIONAL, 0, INT64_MAX, &amounts[k]);
	int k = choose_amount(attributes, keys, given);
	if (k < 0)
		return;
	const int64_t units[] = {8, width, level->word_bits, 8 * 1024};
	if (k == 0) {
		set_capacity(level, amounts[0]);
	} else if (!number_mul(amounts[k], units[k], &bits)) {
		reader_refuse(attributes, keys[k], "is too large");
	} else {
		level->capacity = bits / 8;
		set_entries(level, bits / level->word_bits);
	}
}

static void read_alignment(struct reader *attributes, struct level *level)
{
	int64_t alignment = 1;
	if (!read_size(attributes, "alignment", OPTIONAL, 1, INT32_MAX, &alignment))
		return;
	if (alignment & (alignment - 1))
		reader_refuse(attributes, "alignment", "is %lld bytes; it must be a power of two",
			(long long)alignment);
	else
		level->alignment = alignment;
}

/* A bandwidth in bytes per cycle, and the same in words. */
static bool read_rates(struct reader *attributes, const char *key, struct ratio hz,
	const struct level *level, struct ratio *bytes, struct ratio *words)
{
	struct ratio word;
	if (!attributes_bandwidth(attributes, key, hz, level->word_bits, bytes))
		return false;
	return (ratio_make(level->word_bits, 8, &word) && ratio_div(*bytes, word, words)) ||
	       reader_refuse(attributes, key, "is too large");
}

/* The older `bandwidth`: half of it is for reads, half for writes. */
static void read_halves(struct reader *attributes, struct ratio hz, struct level *level)
{
	struct ratio bytes, words;
	if (!read_rates(attributes, "bandwidth", hz, level, &bytes, &words))
		return;
	struct diag *diag = attributes->reading->diag;
	struct span span = read_node(attributes, "bandwidth", OPTIONAL)->span;
	if (level->read_rate.num || level->write_rate.num)
		diag_error(diag, span,
			"%s has a 'bandwidth', half of it for reads and half for writes, and one of "
			"either",
			attributes->what);
	else
		diag_warning(diag, span,
			"'bandwidth' is an old key: half of it is taken for reads, half for writes");
	if (!ratio_div(bytes, (struct ratio){2, 1}, &level->read_rate) ||
		!ratio_div(words, (struct ratio){2, 1}, &level->read_words))
		reader_refuse(attributes, "bandwidth", "is too large");
	level->write_rate = level->read_rate;
	level->write_words = level->read_words;
}

static void read_bandwidths(struct reader *attributes, struct ratio hz, struct level *level)
{
	struct ratio shared;
	read_rates(attributes, "read_bandwidth", hz, level, &level->read_rate, &level->read_words);
	read_rates(
		attributes, "write_bandwidth", hz, level, &level->write_rate, &level->write_words);
	read_halves(attributes, hz, level);
	if (!read_rates(attributes, "shared_bandwidth", hz, level, &shared, &level->shared_words))
		return;
	level->shared_rate = true;
	level->read_rate = level->write_rate = shared;
}

/* In what tensors move: whole boxes of tiles or what is new, sticks or words. */
static void read_transfers(struct reader *attributes, struct level *level)
{
	static const char *const words[] = {"delta", "box", NULL};
	int transfer = 0;
	if (read_word(attributes, "transfer", OPTIONAL, words, &transfer))
		level->boxes = transfer == 1;
	if (read_size(attributes, "stick", OPTIONAL, 1, INT32_MAX, &level->stick) &&
		level->stick != STICK_BYTES)
		reader_refuse(attributes, "stick", "is %lld bytes; sticks have %d, 'stick: %dB'",
			(long long)level->stick, STICK_BYTES, STICK_BYTES);
}

/* Cycles for each byte of a burst behind which a bus turns round. */
static void read_turn(struct reader *attributes, const char *key, struct ratio hz, int64_t burst,
	struct ratio *out)
{
	struct ratio time;
	if (read_nanoseconds(attributes, key, OPTIONAL, &time) &&
		attributes_cycles(attributes, key, time, hz, out) &&
		!ratio_div(*out, (struct ratio){burst, 1}, out))
		reader_refuse(attributes, key, "is too large");
}

/* The time in which a bus that reads and writes share turns round. */
static void read_turns(struct reader *attributes, struct ratio hz, struct level *level)
{
	int64_t burst = STICK_BYTES;
	bool given = read_size(attributes, "turn_bytes", OPTIONAL, 1, INT32_MAX, &burst);
	level->turn.den = level->turn_repeated.den = level->run.den = 1;
	read_turn(attributes, "turn_time", hz, burst, &level->turn);
	level->turn_repeated = level->turn;
	read_turn(attributes, "turn_time_repeated", hz, burst, &level->turn_repeated);
	bool turns = level->turn.num || level->turn_repeated.num;
	if (turns && !level->shared_rate)
		reader_refuse(attributes, level->turn.num ? "turn_time" : "turn_time_repeated",
			"is of a bus that reads and writes share; give its 'shared_bandwidth'");
	else if (given && !turns)
		reader_refuse(attributes, "turn_bytes", "is of a 'turn_time', which is not given");
}

/* Time that writes of large tensors take besides. */
static void read_write_span(struct reader *attributes, struct ratio hz, struct level *level)
{
	bool spans =
		read_size(attributes, "write_span", OPTIONAL, 1, INT64_MAX, &level->write_span);
	level->write_far.den = 1;
	read_turn(attributes, "write_span_time", hz, STICK_BYTES, &level->write_far);
	if (spans != (level->write_far.num > 0))
		reader_refuse(attributes, spans ? "write_span" : "write_span_time",
			"says nothing without '%s'", spans ? "write_span_time" : "write_span");
}

/* Reads the cost of a run in a page that is not open. */
static void read_pages(struct reader *attributes, struct ratio hz, struct level *level)
{
	bool pages =
		read_size(attributes, "page_bytes", OPTIONAL, 1, INT32_MAX, &level->page_bytes);
	level->page.den = 1;
	read_turn(attributes, "page_time", hz, 1, &level->page);
	bool open = read_integer(
		attributes, "open_planes", OPTIONAL, 1, INT32_MAX, &level->open_planes);
	if (pages != (level->page.num > 0) || pages != open)
		reader_refuse(attributes,
			pages  ? "page_bytes"
			: open ? "open_planes"
			       : "page_time",
			"says nothing without the others of 'page_bytes', 'page_time' and 'open_planes'");
}

/* Reads the attributes of a storage that plans need. */
static void read_for_plans(struct reader *attributes, struct ratio hz, struct level *level)
{
	level->scratchpad =
		arch_read_reserve(attributes, "reserve", level->capacity, &level->reserve);
	read_bool(attributes, "scratchpad", OPTIONAL, &level->scratchpad);
	read_alignment(attributes, level);
	read_transfers(attributes, level);
	attributes_bandwidth(attributes, "fill_bandwidth", hz, level->word_bits, &level->fill_rate);
	read_turns(attributes, hz, level);
	read_write_span(attributes, hz, level);
	read_turn(attributes, "run_time", hz, 1, &level->run);
	if (read_size(attributes, "run_bytes", OPTIONAL, 1, INT32_MAX, &level->run_bytes) &&
		!level->run.num)
		reader_refuse(attributes, "run_bytes", "is of a 'run_time', which is not given");
	bool far = read_size(attributes, "plane_span", OPTIONAL, 1, INT64_MAX, &level->plane_span);
	level->plane.den = 1;
	read_turn(attributes, "plane_time", hz, STICK_BYTES, &level->plane);
	if (far != (level->plane.num > 0))
		reader_refuse(attributes, far ? "plane_span" : "plane_time",
			"says nothing without '%s'", far ? "plane_time" : "plane_span");
	read_pages(attributes, hz, level);
}

static void read_scales(struct reader *attributes, struct level *level)
{
	const struct reading *reading = attributes->reading;
	const struct node *map =
		read_map(attributes, "per_dataspace_bandwidth_consumption_scale", OPTIONAL);
	if (!map || !map->count)
		return;
	struct space_scale *scales = arena_array(reading->arena, struct space_scale, map->count);
	for (size_t i = 0; i < map->count; i++) {
		const struct node_entry *entry = &map->entries[i];
		scales[i] = (struct space_scale){entry->key, 1, entry->key_span};
		if (node_number(reading, entry->value,
			    arena_format(reading->arena, "the scale of '%s'", entry->key),
			    &scales[i].scale) &&
			scales[i].scale < 0)
			diag_error(reading->diag, entry->value->span,
				"the scale of '%s' is %.10g; it must be at least 0", entry->key,
				scales[i].scale);
	}
	level->scales = scales;
	level->scale_count = map->count;
}

/* `technology` names a process to Accelergy; to Timeloop it may be that of DRAM. */
static void read_technology(struct reader *attributes, struct level *level)
{
	const struct node *node = node_find(attributes->map, "technology");
	level->dram = node && node->kind == NODE_SCALAR && text_equal(node->text, "DRAM");
	if (level->dram)
		read_node(attributes, "technology", OPTIONAL);
	level->reduces = !level->dram && !strstr(level->device, "DRAM");
	read_bool(attributes, "reduction_supported", OPTIONAL, &level->reduces);
}

/* A switch of what no model here does; Timeloop's front end writes it out as it is unset. */
static void check_switch(struct reader *attributes)
{
	bool overbooked = false;
	read_bool(attributes, "allow_overbooking", OPTIONAL, &overbooked);
	if (overbooked)
		reader_refuse(attributes, "allow_overbooking", "is not modelled: tiles must fit");
}

/* Checks prices that Timeloop charges besides, 0 by default. */
static void check_prices(struct reader *attributes)
{
	static const char *const keys[] = {"addr_gen_energy", "addr-gen-energy", "wire_energy",
		"wire-energy", "energy_per_ingress", "energy-per-ingress", "ingress_energy",
		"ingress-energy", NULL};
	for (int k = 0; keys[k]; k++) {
		const struct node *node = read_node(attributes, keys[k], OPTIONAL);
		if (node)
			diag_warning(attributes->reading->diag, node->span,
				"'%s' in %s is not modelled: energies lack what it adds", keys[k],
				attributes->what);
	}
}

static void read_rows(struct reader *attributes, struct level *level)
{
	const struct reading *reading = attributes->reading;
	const struct node *map = read_map(attributes, "rows_along", OPTIONAL);
	if (!map || !map->count)
		return;
	struct space_row *rows = arena_array(reading->arena, struct space_row, map->count);
	for (size_t i = 0; i < map->count; i++) {
		const struct node_entry *entry = &map->entries[i];
		rows[i] = (struct space_row){entry->key, "", entry->key_span};
		node_text(reading, entry->value,
			arena_format(reading->arena, "the dimension of '%s'", entry->key),
			&rows[i].dimension);
	}
	level->rows = rows;
	level->row_count = map->count;
	if (!level->row_cycles.num)
		reader_refuse(attributes, "rows_along", "is of a 'row_time', which is not given");
}

/* Reads the time of a row, and of a round of tiles. */
static void read_paces(struct reader *attributes, struct ratio hz, struct level *level)
{
	level->row_cycles.den = level->round_cycles.den = 1;
	read_turn(attributes, "row_time", hz, 1, &level->row_cycles);
	read_turn(attributes, "round_time", hz, 1, &level->round_cycles);
	if (level->row_cycles.num && !level->read_words.num && !level->shared_words.num)
		reader_refuse(attributes, "row_time",
			"is of a port; give its 'read_bandwidth' or 'shared_bandwidth'");
	read_rows(attributes, level);
}

/* Reads Timeloop's attributes of a storage. */
static void read_for_nests(struct reader *attributes, struct ratio hz, struct level *level)
{
	double *buffers = &level->multiple_buffering, *least = &level->least_utilization;
	check_switch(attributes);
	check_prices(attributes);
	read_technology(attributes, level);
	if (read_number(attributes, "multiple_buffering", OPTIONAL, buffers) && *buffers <= 0)
		reader_refuse(attributes, "multiple_buffering", "is %.10g; it must be more than 0",
			*buffers);
	if (read_number(attributes, "min_utilization", OPTIONAL, least) &&
		(*least < 0 || *least > 1))
		reader_refuse(attributes, "min_utilization",
			"is %.10g; it must be a part from 0 to 1", *least);
	if (*least > 0 && !level->entries)
		reader_refuse(
			attributes, "min_utilization", "is a part of its size, and it has none");
	read_integer(
		attributes, "network_fill_latency", OPTIONAL, 0, INT32_MAX, &level->fill_cycles);
	read_integer(
		attributes, "network_drain_latency", OPTIONAL, 0, INT32_MAX, &level->drain_cycles);
	read_picojoules(attributes, "energy_per_hop", OPTIONAL, &level->hop_pj);
	read_picojoules(attributes, "router_energy", OPTIONAL, &level->router_pj);
	read_text(attributes, "power_gated_at", OPTIONAL, &level->gated_at);
	read_scales(attributes, level);
	read_paces(attributes, hz, level);
}

/* Per byte, or per access of a block; built in where nothing is said. */
static void read_energies(struct reader *attributes, struct level *level)
{
	struct action_energies *pj = &level->pj, *timeloop = &level->timeloop_pj;
	double bytes = (double)level->word_bits * (double)level->block_words / 8, access = 0;
	bool reads = read_picojoules(attributes, "read_energy_per_byte", OPTIONAL, &level->read_pj);
	bool writes =
		read_picojoules(attributes, "write_energy_per_byte", OPTIONAL, &level->write_pj);
	bool whole = read_picojoules(attributes, "vector_access_energy", OPTIONAL, &access);
	if (whole && (reads || writes))
		diag_error(attributes->reading->diag,
			read_node(attributes, "vector_access_energy", OPTIONAL)->span,
			"%s has energies per byte, and one of an access", attributes->what);
	if (whole)
		level->read_pj = level->write_pj = access / bytes;
	if (whole || reads || writes) {
		pj->origin = ENERGY_OF_LEVEL;
		pj->read = whole ? access : level->read_pj * bytes;
		pj->fill = pj->update = whole ? access : level->write_pj * bytes;
		*timeloop = *pj;
		return;
	}
	pj->read = pj->fill = pj->update = energy_of_access(level);
	timeloop->read = timeloop->fill = timeloop->update = energy_of_access_timeloop(level);
}

void attributes_storage(struct reader *attributes, const struct arch *arch, struct level *level)
{
	read_integer(attributes, "datawidth", OPTIONAL, 1, 4096, &level->word_bits);
	read_row(attributes, level);
	read_capacity(attributes, level);
	read_bandwidths(attributes, arch->clock_hz, level);
	read_for_plans(attributes, arch->clock_hz, level);
	read_for_nests(attributes, arch->clock_hz, level);
	read_energies(attributes, level);
}

/* A rate of operations per cycle. */
static void read_pace(struct reader *attributes, const char *key, struct ratio *rate)
{
	if (read_ratio(attributes, key, OPTIONAL, rate) && !rate->num)
		reader_refuse(attributes, key, "is 0; operations per cycle and instance are more");
}

void attributes_compute(struct reader *attributes, struct level *level)
{
	struct action_energies *pj = &level->pj, *timeloop = &level->timeloop_pj;
	read_integer(attributes, "datawidth", OPTIONAL, 1, 4096, &level->word_bits);
	int64_t bits = level->word_bits; /* of the factors, as Accelergy's multipliers call them */
	read_integer(attributes, "width", OPTIONAL, 1, 4096, &bits);
	read_integer(attributes, "multiplier_width", OPTIONAL, 1, 4096, &bits);
	read_text(attributes, "power_gated_at", OPTIONAL, &level->gated_at);
	read_pace(attributes, "mac_rate", &level->mac_rate);
	read_pace(attributes, "strided_mac_rate", &level->strided_mac_rate);
	read_pace(attributes, "vector_rate", &level->vector_rate);
	read_pace(attributes, "reduction_rate", &level->reduction_rate);
	read_pace(attributes, "restickify_rate", &level->restickify_rate);
	read_integer(attributes, "tile_cycles", OPTIONAL, 0, INT32_MAX, &level->tile_cycles);
	bool given = read_picojoules(attributes, "mac_energy", OPTIONAL, &level->mac_pj);
	level->vector_priced =
		read_picojoules(attributes, "vector_energy", OPTIONAL, &level->vector_pj);
	pj->origin = given ? ENERGY_OF_LEVEL : ENERGY_BUILT_IN;
	*timeloop = *pj;
	pj->compute = given ? level->mac_pj : energy_of_mac(level->device, bits);
	timeloop->compute = given ? level->mac_pj : energy_of_mac_timeloop(level->word_bits);
}
