#include "base/arena.h"
#include "base/number.h"
#include "base/text.h"
#include "model/machine/arch_draft.h"
#include "model/machine/arch_read.h"
#include "model/machine/ert.h"
#include "model/machine/layout.h"
#include "model/machine/topology.h"
#include "spec/field.h"
#include "spec/reader.h"

#include <string.h>

/*
 * The attributes of levels: one row each, with the functions that read those of more than a number.  The context of
 * all reads is the clock in Hz, a struct ratio.
 */

/* A time, in cycles of the clock, rounded up. */
static void read_cycles(
	struct reader *attributes, const struct field *field, void *whole, const void *clock_hz)
{
	const struct ratio *clock = clock_hz;
	struct ratio nanoseconds, cycles;
	if (read_nanoseconds(attributes, field->key, OPTIONAL, &nanoseconds) &&
		attributes_cycles(attributes, field->key, nanoseconds, *clock, &cycles))
		*(int64_t *)field_place(field, whole) = number_ceil_div(cycles.num, cycles.den);
}

/* A rate, or a bare number of 16-bit words per cycle, as bytes per cycle. */
static void read_halfwords(
	struct reader *attributes, const struct field *field, void *whole, const void *clock_hz)
{
	const struct ratio *clock = clock_hz;
	attributes_bandwidth(attributes, field->key, *clock, 16, field_place(field, whole));
}

/* The same of bytes. */
static void read_bytes(
	struct reader *attributes, const struct field *field, void *whole, const void *clock_hz)
{
	const struct ratio *clock = clock_hz;
	attributes_bandwidth(attributes, field->key, *clock, 8, field_place(field, whole));
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

static void read_reductions(
	struct reader *map, const struct field *field, void *whole, const void *clock_hz)
{
	struct ring *ring = whole;
	struct arena *arena = map->reading->arena;
	const char *const *names;
	size_t count, known = 0;
	if (!read_texts(map, field->key, REQUIRED, &names, &count))
		return;
	const struct primitive **reductions =
		arena_array(arena, const struct primitive *, count + 1);
	for (size_t i = 0; i < count; i++) {
		const struct primitive *reduction = primitive_find(names[i]);
		if (reduction && primitive_joins(reduction))
			reductions[known++] = reduction;
		else
			diag_error(map->reading->diag,
				node_item(read_node(map, field->key, REQUIRED), i)->span,
				"a ring reduces by %s, not by '%s'", list_reductions(arena),
				names[i]);
	}
	ring->reductions = reductions;
}

/* Times by the number of parts, from RING_PARTS_LEAST on; the last holds for more. */
static void read_runs(
	struct reader *map, const struct field *field, void *whole, const void *clock_hz)
{
	const struct ratio *clock = clock_hz;
	struct ring *ring = whole;
	const struct node *list = read_list(map, field->key, OPTIONAL);
	int most = RING_PARTS_MOST - RING_PARTS_LEAST + 1;
	struct ratio nanoseconds, cycles = {0, 1};
	if (!list || !attributes_timed(map, field->key, *clock))
		return;
	if (list->count < 1 || list->count > (size_t)most)
		diag_error(map->reading->diag, list->span,
			"'run_overhead' has 1 to %d times, for slices cut into %d, %d, ... parts, not %zu",
			most, RING_PARTS_LEAST, RING_PARTS_LEAST + 1, list->count);
	for (int i = 0; i < most; i++) {
		if ((size_t)i < list->count &&
			(!node_nanoseconds(map->reading, list->items[i], "a time of 'run_overhead'",
				 &nanoseconds) ||
				!attributes_cycles(map, field->key, nanoseconds, *clock, &cycles)))
			return;
		ring->run_cycles[i] = cycles;
	}
}

#define RING                                                                                       \
	{"bandwidth", FIELD_RATE, "of a link, each direction", .required = true,                   \
		.read = read_bytes, INTO(struct ring, rate)},                                      \
		{"energy_per_byte", FIELD_ENERGY, "of a byte over one link", .usual = "0",         \
			INTO(struct ring, pj)},                                                    \
	{                                                                                          \
		"energy_source", FIELD_TEXT, "where that comes from, in a sentence",               \
			INTO(struct ring, energy_source)                                           \
	}

static const struct field data_ring_fields[] = {
	RING,
	{"run_overhead", FIELD_TIME,
		"times to set up one contiguous run of a slice that is cut into 2, 3, .. up to 8 "
		"parts",
		.shape = SHAPE_LIST, .usual = "0", .read = read_runs},
	{0},
};
static const struct noun data_ring_noun = {.name = "data_ring", .fields = data_ring_fields};

static const struct field reduce_ring_fields[] = {
	RING,
	{"reductions", FIELD_TEXT, "those that it can do: sum, max, min", .shape = SHAPE_SOME,
		.required = true, .read = read_reductions},
	{0},
};
static const struct noun reduce_ring_noun = {.name = "reduce_ring", .fields = reduce_ring_fields};

static void read_ring(
	struct reader *attributes, const struct field *field, void *whole, const void *clock_hz)
{
	const struct node *node = read_map(attributes, field->key, OPTIONAL);
	struct ring *ring = field_place(field, whole);
	struct reader map;
	if (!node || !noun_open(&map, attributes->reading, node, field->key, field->noun))
		return;
	ring->present = true;
	fields_read(&map, field->noun, ring, clock_hz);
	reader_done(&map);
}

struct ranks_form {
	int64_t ranks; /* 0: not given */
	const struct node *links;
};

static const struct field group_fields[] = {
	{"links", FIELD_MAP, "links between ranks, as those of a broadcast", .usual = "none",
		.noun = &links_noun, KEEP(struct ranks_form, links)},
	{"ranks", FIELD_WHOLE, "machines like this one that run a graph together", .usual = "1",
		INTO(struct ranks_form, ranks), .least = 1, .most = RANKS_MOST},
	{0},
};
static const struct noun group_noun = {.name = "group", .fields = group_fields};

/* Takes the number of ranks, or the sides of the mesh that they form. */
static void set_ranks(const struct reading *reading, const struct ranks_form *form,
	const struct node *dims, struct arch *arch)
{
	const struct node *links = form->links;
	bool mesh = links && arch->copying.topology == TOPOLOGY_MESH;
	int64_t extent = 1, product = 1;
	arch->ranks = form->ranks ? form->ranks : arch->ranks;
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
	else if (dims && form->ranks && product != arch->ranks)
		diag_error(reading->diag, dims->span,
			"the links join %lld ranks, and the machine has %lld", (long long)product,
			(long long)arch->ranks);
	else if (dims)
		arch->ranks = product;
	else if (mesh)
		diag_error(
			reading->diag, links->span, "a mesh needs 'dims', such as 'dims: [2, 4]'");
	if (dims && mesh)
		arch->rank_columns = (int)extent;
}

static const struct field shared_fields[] = {
	{"span_limit", FIELD_SIZE, "bytes of one tensor that a core can address",
		.usual = "no limit", INTO(struct arch, span_limit), .least = 1, .most = INT64_MAX},
	{"bundle_tensors", FIELD_WHOLE, "HBM tensors that a bundle can have as arguments",
		.usual = "no limit", INTO(struct arch, bundle_tensors), .least = 1,
		.most = INT32_MAX},
	{"bundle_overhead", FIELD_TIME, "time of each bundle", .usual = "0", .read = read_cycles,
		INTO(struct arch, bundle_cycles)},
	{"core_overhead", FIELD_TIME, "time of each core that a bundle uses", .usual = "0",
		.read = read_cycles, INTO(struct arch, core_cycles)},
	{"lane_bandwidth", FIELD_RATE,
		"of one lane between the home and `lane_cores` cores, in equal parts over the lanes "
		"if cores of several get the same",
		.usual = "no lanes", .needs = "lane_cores", .read = read_halfwords,
		INTO(struct arch, lane_rate)},
	{"lane_cores", FIELD_WHOLE, "cores next to each other that one lane serves",
		.needs = "lane_bandwidth", INTO(struct arch, lane_cores), .least = 1,
		.most = ARCH_CORES_MOST},
	{"data_ring", FIELD_MAP, "links between neighbouring cores, for relayouts", .usual = "none",
		.noun = &data_ring_noun, .read = read_ring, INTO(struct arch, data_ring)},
	{"reduce_ring", FIELD_MAP, "links between neighbouring cores that reduce on the way",
		.usual = "none", .noun = &reduce_ring_noun, .read = read_ring,
		INTO(struct arch, reduce_ring)},
	{"link_energy_per_byte", FIELD_ENERGY, "of a byte over one link between ranks",
		.usual = "0", INTO(struct arch, link_pj)},
	{0},
};
static const struct noun shared_noun = {.name = "shared", .fields = shared_fields};
static const struct noun *const machine_parts[] = {&clock_noun, &shared_noun, &group_noun, NULL};
const struct noun machine_noun = {.name = "machine", .parts = machine_parts};

void attributes_machine(struct reader *attributes, struct arch *arch)
{
	fields_mark(attributes, &seconds_noun); /* the clock is read first */
	fields_mark(attributes, &clock_noun);
	fields_read(attributes, &shared_noun, arch, &arch->clock_hz);
	struct ranks_form form = {0};
	fields_read(attributes, &group_noun, &form, NULL);
	set_ranks(attributes->reading, &form,
		copying_read_links(attributes->reading, form.links, arch->clock_hz, &arch->copying),
		arch);
}

/* The bits of the words of a level, or of the factors that it multiplies. */
struct word_form {
	int64_t bits;
};

static const struct field word_fields[] = {
	{"datawidth", FIELD_WHOLE, "bits of a word", .usual = "16", INTO(struct word_form, bits),
		.least = 1, .most = 4096, .spellings = "word_bits word_width datawidth data_width"},
	{0},
};
static const struct noun word_noun = {.name = "word", .fields = word_fields};

/* The rows of a storage and its capacity, in one of several ways each. */
struct amounts {
	int64_t width, block, cluster;           /* 0: not given */
	int64_t size, depth, entries, kilobytes; /* -1: not given */
};

static const struct field amount_fields[] = {
	{"width", FIELD_WHOLE,
		"bits of a row, `datawidth` x `block_size` x `cluster_size`: two of the three give "
		"the third, `width` alone one block; blocks beside a `cluster_size` are rounded "
		"down, to a word at least",
		.spellings = "width memory_width data_storage_width", INTO(struct amounts, width),
		.least = 1, .most = INT32_MAX},
	{"block_size", FIELD_WHOLE, "words that one access takes", .usual = "1",
		.spellings = "block_size n_words", INTO(struct amounts, block), .least = 1,
		.most = 1 << 20},
	{"cluster_size", FIELD_WHOLE, "instances that one access serves", .usual = "1",
		.spellings = "cluster_size", INTO(struct amounts, cluster), .least = 1,
		.most = 1 << 20},
	{"size", FIELD_SIZE, "capacity in bytes", .usual = "unlimited", INTO(struct amounts, size),
		.least = 1, .most = INT64_MAX},
	{"depth", FIELD_WHOLE,
		"capacity in rows; 0 is a buffer without room, which mappings bypass",
		.spellings = "depth memory_depth data_storage_depth", INTO(struct amounts, depth),
		.most = INT64_MAX},
	{"entries", FIELD_WHOLE, "capacity in words; it counts before `depth`",
		.usual = "unlimited", INTO(struct amounts, entries), .most = INT64_MAX},
	{"sizeKB", FIELD_WHOLE, "capacity in units of 1024 bytes", .spellings = "sizeKB sizekb",
		INTO(struct amounts, kilobytes), .most = INT64_MAX},
	{0},
};
static const struct noun amount_noun = {.name = "amounts", .fields = amount_fields};

/*
 * The block of a row of `width` bits that serves the instances of a cluster, rounded down as
 * Timeloop does.  Where a row has less than a word for each it gets blocks of no words there, and
 * divides by them; here such a row is the one of each instance: blocks of a word.
 */
static void read_cluster_row(struct reader *attributes, int64_t width, struct level *level)
{
	int64_t cluster = level->storage.store.word_bits * level->storage.store.cluster_size;
	level->storage.store.block_words = number_max(width / cluster, 1);
	if (width % cluster)
		diag_warning(attributes->reading->diag, node_find(attributes->map, "width")->span,
			"'width' in %s is %lld bits, not a multiple of the %lld of a cluster's words: "
			"blocks of %lld word%s are taken",
			attributes->what, (long long)width, (long long)cluster,
			(long long)level->storage.store.block_words,
			level->storage.store.block_words == 1 ? "" : "s");
}

/*
 * The words of a row: `width` is word * block * cluster, so that the third follows
 * from two of them.  A width alone is one block.
 */
static void set_row(struct reader *attributes, const struct amounts *amounts, struct level *level)
{
	int64_t width = amounts->width, word = level->storage.store.word_bits;
	bool by_width = width, by_block = amounts->block, by_cluster = amounts->cluster;
	if (by_block)
		level->storage.store.block_words = amounts->block;
	if (by_cluster)
		level->storage.store.cluster_size = amounts->cluster;
	int64_t block = word * level->storage.store.block_words;
	if (!by_width)
		return;
	if (!by_block && width % word == 0 && by_cluster)
		read_cluster_row(attributes, width, level);
	else if (!by_block && width % word == 0)
		level->storage.store.block_words = width / word;
	else if (!by_block)
		reader_refuse(attributes, "width",
			"is %lld bits, not a multiple of the %lld of a word", (long long)width,
			(long long)word);
	else if (by_block && !by_cluster && width % block == 0)
		level->storage.store.cluster_size = width / block;
	else if (width != block * level->storage.store.cluster_size)
		reader_refuse(attributes, "width",
			"is %lld bits; 'datawidth', 'block_size' and 'cluster_size' make %lld",
			(long long)width, (long long)(block * level->storage.store.cluster_size));
}

static void set_capacity(struct level *level, int64_t bytes)
{
	int64_t word = level->storage.store.word_bits;
	level->storage.capacity = bytes;
	level->storage.store.entries = bytes / word * 8 + bytes % word * 8 / word;
}

/* Words per instance; none at all is a buffer that stores nothing. */
static void set_entries(struct level *level, int64_t words)
{
	level->storage.store.entries = words;
	level->storage.store.no_room = words == 0;
}

/* Chooses the amount that counts: as in Timeloop, `entries` first, then `depth`. */
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
		diag_remark(attributes->reading->diag, node_find(attributes->map, keys[1])->span,
			"%s has 'entries' and 'depth': 'entries' counts, as in Timeloop",
			attributes->what);
	return count ? first : -1;
}

/* `size` in bytes, or `depth` rows, or `entries` words, or `sizeKB`. */
static void find_capacity(
	struct reader *attributes, const struct amounts *read, struct level *level)
{
	static const char *const keys[] = {"size", "depth", "entries", "sizeKB"};
	const int64_t amounts[] = {read->size, read->depth, read->entries, read->kilobytes};
	int64_t width = level->storage.store.word_bits * level->storage.store.block_words, bits = 0;
	bool given[4] = {false};
	for (int k = 0; k < 4; k++)
		given[k] = amounts[k] >= 0;
	int k = choose_amount(attributes, keys, given);
	if (k < 0)
		return;
	const int64_t units[] = {8, width, level->storage.store.word_bits, 8 * 1024};
	if (k == 0) {
		set_capacity(level, amounts[0]);
	} else if (!number_mul(amounts[k], units[k], &bits)) {
		reader_refuse(attributes, keys[k], "is too large");
	} else {
		level->storage.capacity = bits / 8;
		set_entries(level, bits / level->storage.store.word_bits);
	}
}

static void read_alignment(
	struct reader *attributes, const struct field *field, void *whole, const void *clock_hz)
{
	struct level *level = whole;
	int64_t alignment = 1;
	if (!read_size(attributes, field->key, OPTIONAL, 1, INT32_MAX, &alignment))
		return;
	if (alignment & (alignment - 1))
		reader_refuse(attributes, field->key, "is %lld bytes; it must be a power of two",
			(long long)alignment);
	else
		level->storage.alignment = alignment;
}

/* A bandwidth, or a bare number of words per cycle, as bytes per cycle. */
static void read_words(
	struct reader *attributes, const struct field *field, void *whole, const void *clock_hz)
{
	const struct ratio *clock = clock_hz;
	const struct level *level = whole;
	attributes_bandwidth(attributes, field->key, *clock, level->storage.store.word_bits,
		field_place(field, whole));
}

/* Reads one of so many equal parts of a bandwidth as words per cycle; it fits in bytes, too. */
static bool read_word_rate(struct reader *attributes, const char *key, struct ratio hz,
	const struct level *level, int64_t parts, struct ratio *words)
{
	struct ratio bytes, word;
	if (!attributes_bandwidth(attributes, key, hz, level->storage.store.word_bits, &bytes))
		return false;
	return (ratio_div(bytes, (struct ratio){parts, 1}, &bytes) &&
		       ratio_make(level->storage.store.word_bits, 8, &word) &&
		       ratio_div(bytes, word, words)) ||
	       reader_refuse(attributes, key, "is too large");
}

/* Reads the bandwidth of a port. */
static void read_port(
	struct reader *attributes, const struct field *field, void *whole, const void *clock_hz)
{
	const struct ratio *clock = clock_hz;
	read_word_rate(attributes, field->key, *clock, whole, 1, field_place(field, whole));
}

/* Reads the bandwidth of one port for reads and writes. */
static void read_shared(
	struct reader *attributes, const struct field *field, void *whole, const void *clock_hz)
{
	const struct ratio *clock = clock_hz;
	struct storage *store = &((struct level *)whole)->storage.store;
	store->shared =
		read_word_rate(attributes, field->key, *clock, whole, 1, field_place(field, whole));
}

/* The older `bandwidth`: half of it is for reads, half for writes. */
static void read_halves(
	struct reader *attributes, const struct field *field, void *whole, const void *clock_hz)
{
	const struct ratio *clock = clock_hz;
	struct storage *store = &((struct level *)whole)->storage.store;
	struct ratio words;
	if (!read_word_rate(attributes, field->key, *clock, whole, 2, &words))
		return;
	struct diag *diag = attributes->reading->diag;
	struct span span = read_node(attributes, field->key, OPTIONAL)->span;
	if (store->read_rate.num || store->write_rate.num)
		diag_error(diag, span,
			"%s has a 'bandwidth', half of it for reads and half for writes, and one of "
			"either",
			attributes->what);
	else
		diag_warning(diag, span,
			"'bandwidth' is an old key: half of it is taken for reads, half for writes");
	store->read_rate = store->write_rate = words;
}

static void read_reserve(
	struct reader *attributes, const struct field *field, void *whole, const void *clock_hz)
{
	struct level *level = whole;
	level->storage.scratchpad = arch_read_reserve(
		attributes, field->key, level->storage.capacity, &level->storage.reserve);
}

static void read_transfer(
	struct reader *attributes, const struct field *field, void *whole, const void *clock_hz)
{
	struct level *level = whole;
	int transfer = 0;
	if (read_word(attributes, field->key, OPTIONAL, field->words, &transfer))
		level->storage.boxes = transfer == 1;
}

static void read_stick(
	struct reader *attributes, const struct field *field, void *whole, const void *clock_hz)
{
	struct level *level = whole;
	if (read_size(attributes, field->key, OPTIONAL, 1, INT32_MAX, &level->storage.stick) &&
		level->storage.stick != STICK_BYTES)
		reader_refuse(attributes, field->key, "is %lld bytes; sticks have %d, 'stick: %dB'",
			(long long)level->storage.stick, STICK_BYTES, STICK_BYTES);
}

/* A time in cycles, as the part of each of so many bytes. */
static void read_share(struct reader *attributes, const struct field *field, void *whole,
	const struct ratio *clock, int64_t bytes)
{
	struct ratio *out = field_place(field, whole), time;
	out->den = 1;
	if (read_nanoseconds(attributes, field->key, OPTIONAL, &time) &&
		attributes_cycles(attributes, field->key, time, *clock, out) &&
		!ratio_div(*out, (struct ratio){bytes, 1}, out))
		reader_refuse(attributes, field->key, "is too large");
}

static void read_wait(
	struct reader *attributes, const struct field *field, void *whole, const void *clock_hz)
{
	read_share(attributes, field, whole, clock_hz, 1);
}

/* A time of each stick, for a byte. */
static void read_by_stick(
	struct reader *attributes, const struct field *field, void *whole, const void *clock_hz)
{
	read_share(attributes, field, whole, clock_hz, STICK_BYTES);
}

/* The time in which a bus turns round, for a byte of a burst. */
static void read_turn(
	struct reader *attributes, const struct field *field, void *whole, const void *clock_hz)
{
	struct level *level = whole;
	read_share(attributes, field, whole, clock_hz, level->storage.turn_bytes);
}

/* The same, which is `turn_time` if it is missing. */
static void read_other_turn(
	struct reader *attributes, const struct field *field, void *whole, const void *clock_hz)
{
	const struct level *level = whole;
	*(struct ratio *)field_place(field, whole) = level->storage.turn;
	if (reader_given(attributes, field->key))
		read_turn(attributes, field, whole, clock_hz);
}

/* A number of 0 or more, or a word, for each of some dataspaces. */
static void read_by_space(
	struct reader *attributes, const struct field *field, void *whole, const void *clock_hz)
{
	const struct reading *reading = attributes->reading;
	bool scales = field->type == FIELD_NUMBER;
	const struct node *map = read_map(attributes, field->key, OPTIONAL);
	if (!map)
		return;
	struct space_value *values = arena_array(reading->arena, struct space_value, map->count);
	for (size_t i = 0; i < map->count; i++) {
		const struct node_entry *entry = &map->entries[i];
		const char *what = arena_format(reading->arena, "the %s of '%s'",
			scales ? "scale" : "dimension", entry->key);
		struct space_value *value = &values[i];
		*value = (struct space_value){entry->key, "", 1, entry->key_span};
		if (!scales)
			node_text(reading, entry->value, what, &value->dimension);
		else if (node_number(reading, entry->value, what, &value->scale) &&
			 value->scale < 0)
			diag_error(reading->diag, entry->value->span,
				"%s is %.10g; it must be at least 0", what, value->scale);
	}
	*(struct space_values *)field_place(field, whole) =
		(struct space_values){values, map->count};
}

/* `technology` names a process to Accelergy; to Timeloop it may be that of DRAM. */
static void read_technology(
	struct reader *attributes, const struct field *field, void *whole, const void *clock_hz)
{
	struct level *level = whole;
	const struct node *node = node_find(attributes->map, field->key);
	level->storage.dram = node && node->kind == NODE_SCALAR && text_equal(node->text, "DRAM");
	if (level->storage.dram)
		read_node(attributes, field->key, OPTIONAL);
	level->storage.store.reduces = !level->storage.dram && !strstr(level->device, "DRAM");
}

/* A switch of what no model here does; Timeloop's front end writes it out as it is unset. */
static void refuse_switch(
	struct reader *attributes, const struct field *field, void *whole, const void *clock_hz)
{
	bool on = false;
	if (read_bool(attributes, field->key, OPTIONAL, &on) && on)
		reader_refuse(attributes, field->key, "is not modelled: tiles must fit");
}

/* A price that Timeloop charges besides, 0 by default; its files write '-' for '_'. */
static void warn_of_price(
	struct reader *attributes, const struct field *field, void *whole, const void *clock_hz)
{
	struct arena *arena = attributes->reading->arena;
	char *key = arena_text(arena, field->key);
	for (int form = 0; form < 2; form++) {
		const struct node *node = read_node(attributes, key, OPTIONAL);
		if (node)
			diag_warning(attributes->reading->diag, node->span,
				"'%s' in %s is not modelled: energies lack what it adds", key,
				attributes->what);
		key = arena_text(arena, key);
		for (char *at = key; (at = strchr(at, '_'));)
			*at = '-';
	}
}

/* Timeloop's "part of its size". */
static void read_part(
	struct reader *attributes, const struct field *field, void *whole, const void *clock_hz)
{
	struct level *level = whole;
	double *least = field_place(field, whole);
	if (read_number(attributes, field->key, OPTIONAL, least) && (*least < 0 || *least > 1))
		reader_refuse(
			attributes, field->key, "is %.10g; it must be a part from 0 to 1", *least);
	if (*least > 0 && !level->storage.store.entries)
		reader_refuse(
			attributes, field->key, "is a fraction of the size, which is not given");
}

static void read_buffering(
	struct reader *attributes, const struct field *field, void *whole, const void *clock_hz)
{
	double *buffers = field_place(field, whole);
	if (read_number(attributes, field->key, OPTIONAL, buffers) && *buffers <= 0)
		reader_refuse(attributes, field->key, "is %.10g; it must be more than 0", *buffers);
}

/* Of the network below a level. */
static const struct field network_fields[] = {
	{"energy_per_hop", FIELD_ENERGY, "of the network below, per word; see specs/counting.md",
		.usual = "0", .spellings = "energy_per_hop", INTO(struct level, network.hop_pj)},
	{"router_energy", FIELD_ENERGY, "of a router of that network, per word", .usual = "0",
		.spellings = "router_energy", INTO(struct level, network.router_pj)},
	{0},
};
const struct noun network_energies_noun = {.name = "network_energies", .fields = network_fields};

/* Reads the energies per byte, or per access of a block; they are built in if neither is given. */
static void read_energies(
	struct reader *attributes, const struct field *field, void *whole, const void *clock_hz)
{
	struct level *level = whole;
	struct storage_energies *energies = level->storage.energies;
	double *exact = energies[COUNTING_EXACT].pj, *timeloop = energies[COUNTING_TIMELOOP].pj;
	double bytes = (double)level->storage.store.word_bits *
		       (double)level->storage.store.block_words / 8,
	       access = 0;
	bool reads = reader_given(attributes, "read_energy_per_byte");
	bool writes = reader_given(attributes, "write_energy_per_byte");
	bool by_access = read_picojoules(attributes, field->key, OPTIONAL, &access);
	if (by_access && (reads || writes))
		diag_error(attributes->reading->diag, node_find(attributes->map, field->key)->span,
			"%s has energies per byte and per access; give one of them",
			attributes->what);
	if (by_access)
		level->storage.read_pj = level->storage.write_pj = access / bytes;
	if (by_access || reads || writes) {
		energies[COUNTING_EXACT].origin = ENERGY_OF_LEVEL;
		exact[NEST_READ] = by_access ? access : level->storage.read_pj * bytes;
		exact[NEST_FILL] = by_access ? access : level->storage.write_pj * bytes;
		exact[NEST_UPDATE] = exact[NEST_FILL];
		energies[COUNTING_TIMELOOP] = energies[COUNTING_EXACT];
		return;
	}
	for (int a = 0; a < NEST_ACTIONS; a++) {
		exact[a] = energy_of_access(level);
		timeloop[a] = energy_of_access_timeloop(level);
	}
}

static const struct field gated_fields[] = {
	{"power_gated_at", FIELD_TEXT, "level with which this one is switched off",
		.usual = "itself", .spellings = "power_gated_at", INTO(struct level, gated_at),
		.marks = ATTRIBUTE_OWN},
	{0},
};
const struct noun gated_noun = {.name = "gated", .fields = gated_fields};

static const char *const transfer_names[] = {"delta", "box", NULL};

/* They need the words, the rows and the capacity. */
static const struct field memory_fields[] = {
	{"read_bandwidth", FIELD_RATE, "of a port for reads", .usual = "unlimited",
		.spellings = "read_bandwidth", .read = read_port,
		INTO(struct level, storage.store.read_rate)},
	{"write_bandwidth", FIELD_RATE, "of a port for writes", .usual = "unlimited",
		.spellings = "write_bandwidth", .read = read_port,
		INTO(struct level, storage.store.write_rate)},
	{"bandwidth", FIELD_RATE, "an old key: half of it is for reads, half for writes",
		.read = read_halves},
	{"shared_bandwidth", FIELD_RATE, "of one port for both",
		.spellings = "rw_bandwidth shared_bandwidth", .read = read_shared,
		INTO(struct level, storage.store.shared_rate)},
	{"reserve", FIELD_SIZE,
		"bytes that planners leave to streaming tiles: a fraction, or a size with a unit",
		.usual = "0", .read = read_reserve},
	{"scratchpad", FIELD_FLAG, "plans may keep tensors here; a `reserve` says so too",
		.usual = "false", INTO(struct level, storage.scratchpad)},
	{"alignment", FIELD_SIZE, "of buffers, a power of two", .usual = "1",
		.read = read_alignment},
	{"transfer", FIELD_CHOICE,
		"`box`: a tile moves whole whenever it changes; `delta`: only what is new does",
		.when = "scratchpad", .usual = "`delta`", .words = transfer_names,
		.read = read_transfer},
	{"stick", FIELD_SIZE,
		"unit in which tensors are laid out, where tiles move in boxes: `128B`",
		.when = "home", .usual = "words", .read = read_stick},
	{"fill_bandwidth", FIELD_RATE, "of the port of transfers from and to the level outside",
		.usual = "unlimited", .read = read_words, INTO(struct level, storage.fill_rate)},
	{"turn_bytes", FIELD_SIZE, "bytes of a burst", .when = "home", .usual = "128",
		INTO(struct level, storage.turn_bytes), .least = 1, .most = INT32_MAX},
	{"turn_time", FIELD_TIME,
		"time in which a bus that reads and writes share turns round, for each burst read "
		"that one written stands beside in a phase. The share of the machine's lanes that "
		"serve no core of the op adds to it: turns hide in part behind other lanes",
		.when = "home", .usual = "0", .needs = "shared_bandwidth", .read = read_turn,
		INTO(struct level, storage.turn)},
	{"turn_time_repeated", FIELD_TIME,
		"the same for maps with a broadcast operand; one value for all elements is one "
		"where the planes of the result lie at least `plane_span` apart",
		.when = "home", .usual = "`turn_time`", .needs = "shared_bandwidth",
		.read = read_other_turn, INTO(struct level, storage.turn_repeated)},
	{"turn_time_restickify", FIELD_TIME, "the same for restickify, on any number of lanes",
		.when = "home", .usual = "`turn_time`", .needs = "shared_bandwidth",
		.read = read_other_turn, INTO(struct level, storage.turn_restickify)},
	{"write_span", FIELD_SIZE,
		"size of a written tensor from which each whole doubling adds `write_span_time`, "
		"unless a restickify writes it",
		.when = "home", .needs = "write_span_time", INTO(struct level, storage.write_span),
		.least = 1, .most = INT64_MAX},
	{"write_span_time", FIELD_TIME, "time that a doubling adds to each stick written",
		.when = "home", .needs = "write_span", .read = read_by_stick,
		INTO(struct level, storage.write_far)},
	{"run_time", FIELD_TIME,
		"time that a core waits at the start of each contiguous run of sticks that a tile "
		"has in the home and that is shorter than `run_bytes`. The cores of an op wait "
		"together, and the home with them: n runs on c cores take n / c times as long",
		.when = "home", .usual = "0", .read = read_wait, INTO(struct level, storage.run)},
	{"run_bytes", FIELD_SIZE, "length of runs that begin in no time", .when = "home",
		.usual = "every run waits", .needs = "run_time",
		INTO(struct level, storage.run_bytes), .least = 1, .most = INT32_MAX},
	{"plane_span", FIELD_SIZE,
		"distance between planes of a tensor (runs of sticks along its innermost device "
		"dimension) from which each whole doubling adds `plane_time`",
		.when = "home", .needs = "plane_time", INTO(struct level, storage.plane_span),
		.least = 1, .most = INT64_MAX},
	{"plane_time", FIELD_TIME,
		"time that such a doubling adds to each stick that an op reads row by row, over all "
		"planes; in a map, which writes between, half of it. Reductions and products read "
		"row by row, and maps of several operands, unless one is the same for all rows of a "
		"plane. Restickify, maps of one operand and moves do not",
		.when = "home", .needs = "plane_span", .read = read_by_stick,
		INTO(struct level, storage.plane)},
	{"page_bytes", FIELD_SIZE,
		"length of runs of maps that find their page open, if they are not below "
		"`run_bytes`; shorter ones of maps that read several operands over all planes of "
		"the result find it closed in 1 - `open_planes` / P of all cases if the tensor has "
		"P > `open_planes` planes. A map that writes in another order than "
		"it reads moves in blocks: sticks that follow each other in the result, at most "
		"`run_bytes`. Reading and writing one each find a page closed in P / (P + "
		"`open_planes`) of all cases, where P is the number of blocks from one stick of an "
		"operand to its next",
		.when = "home", .needs = "page_time", INTO(struct level, storage.page_bytes),
		.least = 1, .most = INT32_MAX},
	{"page_time", FIELD_TIME, "time that a core waits for a closed page", .when = "home",
		.usual = "0", .needs = "open_planes", .read = read_wait,
		INTO(struct level, storage.page)},
	{"open_planes", FIELD_WHOLE, "planes whose pages are open at a time", .when = "home",
		.needs = "page_bytes", INTO(struct level, storage.open_planes), .least = 1,
		.most = INT32_MAX},
	{"allow_overbooking", FIELD_FLAG, NULL, .read = refuse_switch},
	{"addr_gen_energy", FIELD_ENERGY, NULL, .read = warn_of_price, .marks = ATTRIBUTE_UNPRICED},
	{"wire_energy", FIELD_ENERGY, NULL, .read = warn_of_price, .marks = ATTRIBUTE_UNPRICED},
	{"energy_per_ingress", FIELD_ENERGY, NULL, .read = warn_of_price},
	{"ingress_energy", FIELD_ENERGY, NULL, .read = warn_of_price},
	{"technology", FIELD_TEXT, "`DRAM` has the built-in energy of DRAM, with any class",
		.read = read_technology, .marks = ATTRIBUTE_ACCEPTED},
	{"reduction_supported", FIELD_FLAG, "partial sums can be added here; see specs/counting.md",
		.usual = "all but DRAM", INTO(struct level, storage.store.reduces)},
	{"multiple_buffering", FIELD_NUMBER, "tiles may fill this part of the words: 2 halves them",
		.usual = "1", .spellings = "multiple_buffering", .read = read_buffering,
		INTO(struct level, storage.store.multiple_buffering)},
	{"min_utilization", FIELD_NUMBER, "part that tiles must fill at least", .usual = "0",
		.spellings = "min_utilization", .read = read_part,
		INTO(struct level, storage.store.least_utilization)},
	{"network_fill_latency", FIELD_WHOLE,
		"cycles that a mapping takes longer, on every level, the outermost and those that "
		"it bypasses, too",
		.usual = "0", .spellings = "network_fill_latency",
		INTO(struct level, storage.store.fill_cycles), .most = INT32_MAX},
	{"network_drain_latency", FIELD_WHOLE, "the same at the end", .usual = "0",
		.spellings = "network_drain_latency",
		INTO(struct level, storage.store.drain_cycles), .most = INT32_MAX},
	{"per_dataspace_bandwidth_consumption_scale", FIELD_NUMBER,
		"`{Weights: 0.5}`: part of a word that each of theirs takes of the bandwidth",
		.usual = "1", .shape = SHAPE_NAMED, .read = read_by_space,
		INTO(struct level, storage.scales)},
	{"row_time", FIELD_TIME,
		"time that the read port takes for each row of a tile, besides its words; see "
		"specs/counting.md",
		.usual = "0", .read = read_wait, INTO(struct level, storage.store.row_cycles)},
	{"rows_along", FIELD_TEXT,
		"`{Inputs: C}`: dimension along which the words of a row of Inputs lie",
		.usual = "the last rank", .needs = "row_time", .shape = SHAPE_NAMED,
		.read = read_by_space, INTO(struct level, storage.rows)},
	{"round_time", FIELD_TIME,
		"least time of a round: an iteration of the temporal loops outside the level, "
		"which brings new tiles",
		.usual = "0", .read = read_wait, INTO(struct level, storage.store.round_cycles)},
	{"read_energy_per_byte", FIELD_ENERGY, "as all energies, at most 10^30 pJ",
		.usual = "built in", INTO(struct level, storage.read_pj)},
	{"write_energy_per_byte", FIELD_ENERGY, "the same of writes", .usual = "built in",
		INTO(struct level, storage.write_pj)},
	{"vector_access_energy", FIELD_ENERGY, "of one access, instead of those per byte",
		.spellings = "vector_access_energy", .read = read_energies},
	{0},
};
static const struct noun memory_noun = {.name = "memory", .fields = memory_fields};
static const struct noun *const storage_parts[] = {&word_noun, &amount_noun, &memory_noun,
	&gated_noun, &network_energies_noun, &pipes_noun, NULL};
const struct noun storage_noun = {.name = "storage", .parts = storage_parts};

void attributes_storage(struct reader *attributes, const struct arch *arch, struct level *level)
{
	struct amounts amounts = {.size = -1, .depth = -1, .entries = -1, .kilobytes = -1};
	struct word_form word = {level->storage.store.word_bits};
	level->storage.turn_bytes = STICK_BYTES;
	fields_read(attributes, &word_noun, &word, NULL);
	level->storage.store.word_bits = word.bits;
	fields_read(attributes, &amount_noun, &amounts, NULL);
	set_row(attributes, &amounts, level);
	find_capacity(attributes, &amounts, level);
	fields_read(attributes, &memory_noun, level, &arch->clock_hz);
	fields_read(attributes, &gated_noun, level, NULL);
	fields_read(attributes, &network_energies_noun, level, NULL);
	if (reader_given(attributes, "turn_bytes") && !level->storage.turn.num &&
		!level->storage.turn_repeated.num)
		reader_refuse(attributes, "turn_bytes", "has no effect without 'turn_time'");
	if (level->storage.store.row_cycles.num && !level->storage.store.read_rate.num &&
		!level->storage.store.shared_rate.num)
		reader_refuse(attributes, "row_time",
			"needs a port; give its 'read_bandwidth' or 'shared_bandwidth'");
}

/* Operations per cycle. */
static void read_pace(
	struct reader *attributes, const struct field *field, void *whole, const void *clock_hz)
{
	struct ratio *rate = field_place(field, whole);
	if (read_ratio(attributes, field->key, OPTIONAL, rate) && !rate->num)
		reader_refuse(attributes, field->key,
			"is 0; operations per cycle and instance must be more than 0");
}

static const struct field factor_fields[] = {
	{"width", FIELD_WHOLE, "bits of the factors", .usual = "`datawidth`",
		.spellings = "width memory_width data_storage_width", INTO(struct word_form, bits),
		.least = 1, .most = 4096},
	{"multiplier_width", FIELD_WHOLE, "the same, as Accelergy's multipliers call it",
		.usual = "`datawidth`", INTO(struct word_form, bits), .least = 1, .most = 4096},
	{0},
};
static const struct noun factor_noun = {.name = "factors", .fields = factor_fields};

static const struct field rate_fields[] = {
	{"mac_rate", FIELD_RATIO,
		"multiply-adds per cycle; on machines with boxes at 16 bits. Above 1 it is that of "
		"an ideal array: it reads a tile of the storage around it once, as if its "
		"registers had no end, and that storage keeps everything",
		.usual = "1", .read = read_pace, INTO(struct level, compute.mac_rate)},
	{"strided_mac_rate", FIELD_RATIO,
		"multiply-adds per cycle of products with one operand whose rows lie in strides: "
		"the dimension right outside its sticks is not its longest one of those that are "
		"neither along the stick nor of a batch. Two such operands slow the array by the "
		"same factor each",
		.usual = "`mac_rate`", .read = read_pace,
		INTO(struct level, compute.strided_mac_rate)},
	{"vector_rate", FIELD_RATIO, "elements per cycle of maps and reductions",
		.usual = "`mac_rate`", .read = read_pace, INTO(struct level, compute.vector_rate)},
	{"operand_rate", FIELD_RATIO,
		"elements per cycle that maps take from their operands, one of each that changes "
		"from element to element, and put into the result",
		.usual = "unlimited", .read = read_pace, INTO(struct level, compute.operand_rate)},
	{"reduction_rate", FIELD_RATIO, "elements per cycle of reductions",
		.usual = "`vector_rate`", .read = read_pace,
		INTO(struct level, compute.reduction_rate)},
	{"restickify_rate", FIELD_RATIO, "elements per cycle of restickify",
		.usual = "`vector_rate`", .read = read_pace,
		INTO(struct level, compute.restickify_rate)},
	{"tile_cycles", FIELD_WHOLE,
		"cycles that fill and drain the array for each tile of an einsum", .usual = "0",
		INTO(struct level, compute.tile_cycles), .most = INT32_MAX},
	{"mac_energy", FIELD_ENERGY, "of a multiply-add", .usual = "built in",
		.spellings = "mac_energy energy", INTO(struct level, compute.mac_pj)},
	{"vector_energy", FIELD_ENERGY, "of an element of a map or reduction",
		.usual = "0, of problems `mac_energy`", INTO(struct level, compute.vector_pj)},
	{0},
};
static const struct noun rate_noun = {.name = "rates", .fields = rate_fields};
static const struct noun *const compute_parts[] = {
	&word_noun, &factor_noun, &gated_noun, &rate_noun, NULL};
const struct noun compute_noun = {.name = "compute", .parts = compute_parts};

void attributes_compute(struct reader *attributes, struct level *level)
{
	struct compute_level *compute = &level->compute;
	struct word_form word = {compute->word_bits}, factors;
	fields_read(attributes, &word_noun, &word, NULL);
	compute->word_bits = word.bits;
	factors = word;
	fields_read(attributes, &factor_noun, &factors, NULL);
	fields_read(attributes, &gated_noun, level, NULL);
	fields_read(attributes, &rate_noun, level, NULL);
	bool given = reader_given(attributes, "mac_energy");
	compute->vector_priced = reader_given(attributes, "vector_energy");
	enum energy_origin origin = given ? ENERGY_OF_LEVEL : ENERGY_BUILT_IN;
	compute->energies[COUNTING_EXACT] = (struct compute_energy){
		given ? compute->mac_pj : energy_of_mac(level->device, factors.bits), origin};
	compute->energies[COUNTING_TIMELOOP] = (struct compute_energy){
		given ? compute->mac_pj : energy_of_mac_timeloop(word.bits), origin};
}

/* Attributes of nodes of any kind, and of Accelergy's plug-ins: these change no count here, but choose the
 * energies that come back as an ERT. */
static const struct field any_level_fields[] = {
	{"systolic", FIELD_FLAG, "the instances are the PEs of a systolic array", .usual = "false",
		INTO(struct level, fanout.systolic), .marks = ATTRIBUTE_OWN},
	{"version", FIELD_TEXT, NULL, .marks = ATTRIBUTE_OWN | ATTRIBUTE_ACCEPTED},
	{"adder_width", FIELD_WHOLE, NULL, .marks = ATTRIBUTE_ACCEPTED},
	{"area_share", FIELD_NUMBER, NULL, .marks = ATTRIBUTE_ACCEPTED},
	{"n_banks", FIELD_WHOLE, NULL, .marks = ATTRIBUTE_ACCEPTED},
	{"n_ports", FIELD_WHOLE, NULL, .marks = ATTRIBUTE_ACCEPTED},
	{"nports", FIELD_WHOLE, NULL, .marks = ATTRIBUTE_ACCEPTED},
	{"num_banks", FIELD_WHOLE, NULL, .spellings = "num_banks", .marks = ATTRIBUTE_ACCEPTED},
	{"num_ports", FIELD_WHOLE, NULL, .spellings = "num_ports", .marks = ATTRIBUTE_ACCEPTED},
	{"type", FIELD_TEXT, NULL, .marks = ATTRIBUTE_ACCEPTED},
	{"adder_energy", FIELD_ENERGY, NULL, .marks = ATTRIBUTE_UNPRICED},
	{"network_word_bits", FIELD_WHOLE, NULL, .marks = ATTRIBUTE_UNPRICED},
	{"tile_width", FIELD_NUMBER, NULL, .marks = ATTRIBUTE_UNPRICED},
	{0},
};
static const struct noun *const any_level_parts[] = {&gating_noun, &seconds_noun, &mesh_noun, NULL};
const struct noun any_level_noun = {
	.name = "level", .fields = any_level_fields, .parts = any_level_parts};

static const struct noun *const attribute_parts[] = {
	&machine_noun, &storage_noun, &compute_noun, &any_level_noun, NULL};
const struct noun attributes_noun = {
	.name = "attributes", .parts = attribute_parts, .also = "null"};
