#include "model/machine/arch_draft.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/number.h"
#include "base/text.h"
#include "model/machine/arch.h"
#include "model/machine/arch_read.h"
#include "model/machine/layout.h"
#include "model/machine/topology.h"
#include "spec/reader.h"

#include <string.h>

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
			"'global_cycle_seconds' in %s is not a cycle time and is left out",
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
	return reader_refuse(attributes, "global_cycle_seconds", "is not a cycle time");
}

bool attributes_has_unit(struct reader *attributes, const struct node *node, const char *key)
{
	struct value value;
	/* the reader of the value complains about it */
	return node->kind == NODE_SCALAR &&
	       expr_read(diag_open(attributes->reading->arena), attributes->reading->variables,
		       node, key, &value) &&
	       value_quantity(value) != QUANTITY_BARE;
}

/* True if the clock is known, which what is per second needs; complains. */
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

/* Reads the number of ranks, or the sides of the mesh that they form. */
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

static bool need(bool good, struct span span, struct diag *diag, const char *what)
{
	if (!good)
		diag_error(diag, span, "graphs cannot run on this machine: %s", what);
	return good;
}

/* The outermost storage, where every tensor can be. */
static bool fits_home(const struct arch *arch, struct diag *diag)
{
	const struct level *levels = arch->levels, *home = &levels[arch->hbm];
	for (int r = arch->hbm + 1; home->parallel && r < arch->level_count; r++) {
		if (levels[r].parallel != home->parallel || levels[r].branch == home->branch ||
			levels[r].kind != LEVEL_STORAGE)
			continue;
		diag_error(diag, levels[r].span,
			"graphs cannot run on this machine: '%s' and '%s' stand side by side "
			"outermost, and tensors have one home; put one around the other",
			home->name, levels[r].name);
		return false;
	}
	return need(home->instances == 1, home->span, diag,
		"its outermost storage is in several parts");
}

static bool fits_lx(const struct level *lx, bool boxes, struct diag *diag)
{
	bool size = need(lx->capacity > 0, lx->span, diag, "its scratchpad has no 'size'");
	size &= need(lx->capacity <= ARCH_LX_MOST / lx->instances, lx->span, diag,
		"its scratchpads have more than 16 GiB together");
	bool reserve = need(lx->reserve <= lx->capacity, lx->span, diag,
		"its scratchpad is smaller than its 'reserve'");
	bool aligned = need(!boxes || lx->alignment % STICK_BYTES == 0, lx->span, diag,
		"its scratchpad must align buffers to sticks, 'alignment: 128'");
	return size && reserve && aligned;
}

/* Boxes go straight from the home to the scratchpad of a core. */
static bool fits_boxes(const struct arch *arch, struct diag *diag)
{
	const struct level *core = &arch->levels[arch->core], *lx = &arch->levels[arch->lx];
	if (core->instances > ARCH_CORES_MOST) {
		diag_error(diag, core->span,
			"graphs cannot run on this machine: it has %lld cores, %d are the most",
			(long long)core->instances, ARCH_CORES_MOST);
		return false;
	}
	bool path = true, ideal = arch_array_is_ideal(arch, arch->compute);
	for (int r = 0; r < arch->level_count; r++) {
		const struct level *level = &arch->levels[r];
		bool around = r >= arch->lx || r == arch->hbm || level->kind != LEVEL_STORAGE;
		path &= need(!level->parallel || r > arch->lx, level->span, diag,
			"boxes do not go through a !Parallel; it must stand inside the scratchpad");
		path &= need(!level->constraints || (r > arch->lx && !ideal), level->span, diag,
			"the constraints beside its attributes are of nests; plans take those of a "
			"'constraints' file");
		path &= need(around || level->parallel, level->span, diag,
			"boxes go straight from the home to the scratchpad, and this storage stands "
			"between them");
	}
	return need(lx->instances == core->instances, lx->span, diag,
		       "each core needs one scratchpad") &&
	       path;
}

static bool fits_scratchpad(const struct arch *arch, struct diag *diag)
{
	const struct level *lx = &arch->levels[arch->lx];
	bool boxes = arch_moves_boxes(arch);
	bool home = need(arch->hbm < arch->lx, lx->span, diag,
		"its scratchpad is the outermost storage, and tensors need a home outside it");
	bool inside = need(arch->compute > arch->lx && arch->vector > arch->lx, lx->span, diag,
		"a compute is not inside the scratchpad");
	return fits_lx(lx, boxes, diag) && home && inside && (!boxes || fits_boxes(arch, diag));
}

bool arch_fits_graphs(const struct arch *arch, struct diag *diag)
{
	bool compute = need(arch->compute >= 0, arch->span, diag, "no level computes");
	bool home = need(arch->hbm >= 0, arch->span, diag, "no level stores");
	if (!compute || !home || !fits_home(arch, diag))
		return false;
	return arch->lx < 0 || fits_scratchpad(arch, diag);
}

enum { KEY_MOST = 64 };

/* Every spelling, '-' read as '_', and its name in 0.4; of several that mean the same, the one
 * that Timeloop asks for first is first (buffer.cpp, BufferLevel::ParseSpecs). */
static const struct {
	const char *written, *meant;
} spellings[] = {
	{"block_size", "block_size"},
	{"n_words", "block_size"},
	{"cluster_size", "cluster_size"},
	{"word_bits", "datawidth"},
	{"word_width", "datawidth"},
	{"datawidth", "datawidth"},
	{"data_width", "datawidth"},
	{"depth", "depth"},
	{"memory_depth", "depth"},
	{"data_storage_depth", "depth"},
	{"energy_per_hop", "energy_per_hop"},
	{"mac_energy", "mac_energy"},
	{"energy", "mac_energy"},
	{"min_utilization", "min_utilization"},
	{"multiple_buffering", "multiple_buffering"},
	{"network_drain_latency", "network_drain_latency"},
	{"network_fill_latency", "network_fill_latency"},
	{"power_gated_at", "power_gated_at"},
	{"read_bandwidth", "read_bandwidth"},
	{"router_energy", "router_energy"},
	{"rw_bandwidth", "shared_bandwidth"},
	{"shared_bandwidth", "shared_bandwidth"},
	{"sizekb", "sizeKB"},
	{"vector_access_energy", "vector_access_energy"},
	{"width", "width"},
	{"memory_width", "width"},
	{"data_storage_width", "width"},
	{"write_bandwidth", "write_bandwidth"},
};
enum { SPELLINGS = sizeof spellings / sizeof *spellings };

/* These change no count here: they choose among Accelergy's plug-ins, whose answers come as an
 * ERT, or are read elsewhere. */
static const char *const accepted[] = {"adder_width", "area_share", "global_cycle_seconds",
	"has_power_gating", "n_banks", "n_ports", "nports", "num_banks", "num_ports", "num-banks",
	"num-ports", "technology", "type", "version", NULL};

/* Timeloop prices wires, routers' tiles and address generators with these. */
static const char *const unpriced[] = {
	"adder_energy", "addr_gen_energy", "network_word_bits", "tile_width", "wire_energy", NULL};

/* Storages have these as they are; to what does not store they mean nothing. */
static const char *const of_storages[] = {
	"bandwidth", "entries", "per_dataspace_bandwidth_consumption_scale", "size", NULL};

/* A container says these of itself, not for what is inside; */
static const char *const own_keys[] = {"global_cycle_seconds", "has_power_gating", "instances",
	"meshX", "meshY", "power_gated_at", "systolic", "version", NULL};

/* and these of the machine. */
static const char *const machine_keys[] = {"bundle_overhead", "bundle_tensors", "clock",
	"core_overhead", "data_ring", "lane_bandwidth", "lane_cores", "link_energy_per_byte",
	"links", "ranks", "reduce_ring", "span_limit", NULL};

static bool is_among(const char *key, const char *const *keys)
{
	for (; *keys; keys++)
		if (text_equal(*keys, key))
			return true;
	return false;
}

static bool is_of_storages(const char *key)
{
	for (size_t i = 0; i < SPELLINGS; i++)
		if (text_equal(spellings[i].meant, key))
			return true;
	return is_among(key, of_storages);
}

bool arch_key_of_machine(const char *key)
{
	return is_among(key, machine_keys);
}

/* '-' read as '_'; false if it is too long to be a key of ours. */
static bool with_underscores(const char *key, char plain[KEY_MOST])
{
	size_t length = strlen(key);
	for (size_t i = 0; length < KEY_MOST && i <= length; i++)
		plain[i] = key[i] == '-' ? '_' : key[i];
	return length < KEY_MOST;
}

/* The row of a spelling; -1: not one of them. */
static int spelling_of(const char *key)
{
	char plain[KEY_MOST];
	if (!with_underscores(key, plain))
		return -1;
	for (size_t i = 0; i < SPELLINGS; i++)
		if (text_equal(plain, spellings[i].written))
			return (int)i;
	return -1;
}

static const char *name_of(const char *key)
{
	int spelling = spelling_of(key);
	return spelling < 0 ? key : spellings[spelling].meant;
}

static bool is_same_value(const struct node *a, const struct node *b)
{
	return a->kind == NODE_SCALAR && b->kind == NODE_SCALAR && text_equal(a->text, b->text);
}

/* `written` as the map of the spec has it. */
static const char *written_at(const struct node *map, struct span span)
{
	for (size_t i = 0; i < map->count; i++)
		if (map->entries[i].key_span.line == span.line &&
			map->entries[i].key_span.column == span.column)
			return map->entries[i].key;
	return "";
}

/* Chooses between two spellings of one key: Timeloop takes the one that it reads first. */
static void choose(struct arch_draft *draft, const struct node *own, struct node_entry *first,
	const struct node_entry *second, const char *what)
{
	struct diag *diag = draft->reading->diag;
	const char *word = written_at(own, first->key_span);
	const char *other = written_at(own, second->key_span);
	bool swap = spelling_of(other) < spelling_of(word);
	if (!is_same_value(first->value, second->value)) {
		diag_warning(diag, second->key_span,
			"'%s' in %s is another word for '%s', and they differ: '%s' counts, as in "
			"Timeloop",
			other, what, word, swap ? other : word);
		diag_note(diag, first->key_span, "first given here");
	}
	if (swap)
		*first = *second;
}

/* True if a value is the key's own word: `datawidth: datawidth`. */
static bool is_own_word(const struct node *value, const char *meant)
{
	return value->kind == NODE_SCALAR && !value->quoted &&
	       text_equal(name_of(value->text), meant);
}

/* The innermost value of a key that containers around give, other than its own word; NULL. */
static const struct node *outer_value(const struct arch_draft *draft, const char *meant)
{
	for (size_t c = draft->scope.count; c-- > 0;) {
		const struct node *outer = draft->scope.at[c];
		for (size_t i = 0; i < outer->count; i++)
			if (text_equal(name_of(outer->entries[i].key), meant) &&
				!is_own_word(outer->entries[i].value, meant))
				return outer->entries[i].value;
	}
	return NULL;
}

static const struct node *gather(
	struct arch_draft *draft, const struct node *own, const char *what, struct span span)
{
	struct arena *arena = draft->reading->arena;
	size_t most = own ? own->count : 0, count = 0;
	for (size_t c = 0; c < draft->scope.count; c++)
		most += draft->scope.at[c]->count;
	struct node *map = arena_new(arena, struct node);
	struct node_entry *entries = arena_array(arena, struct node_entry, most);
	struct names *index = arena_new(arena, struct names);
	for (size_t i = 0; own && i < own->count; i++) {
		struct node_entry entry = own->entries[i];
		entry.key = name_of(entry.key);
		const struct node *value =
			is_own_word(entry.value, entry.key) ? outer_value(draft, entry.key) : NULL;
		entry.value = value ? value : entry.value;
		int twin = names_find(index, entry.key);
		if (twin >= 0) {
			choose(draft, own, &entries[twin], &entry, what);
			continue;
		}
		names_add(arena, index, entry.key, (int)count);
		entries[count++] = entry;
	}
	for (size_t c = draft->scope.count; c-- > 0;) {
		const struct node *outer = draft->scope.at[c];
		for (size_t i = 0; i < outer->count; i++) {
			struct node_entry entry = outer->entries[i];
			entry.key = name_of(entry.key);
			const struct node *value = is_own_word(entry.value, entry.key)
							   ? outer_value(draft, entry.key)
							   : NULL;
			entry.value = value ? value : entry.value;
			if (is_among(entry.key, own_keys) || arch_key_of_machine(entry.key) ||
				names_find(index, entry.key) >= 0)
				continue;
			names_add(arena, index, entry.key, (int)count);
			entries[count++] = entry;
		}
	}
	*map = (struct node){.kind = NODE_MAP,
		.span = own ? own->span : span,
		.entries = entries,
		.count = count,
		.index = index};
	return map;
}

void arch_keys_open(struct arch_draft *draft, const struct node *own, const char *what,
	struct span span, struct reader *attributes)
{
	struct arena *arena = draft->reading->arena;
	struct reading *reading = arena_copy(arena, draft->reading, sizeof *reading);
	const struct node *map = gather(draft, own, what, span);
	reading->variables = variables_with(arena, draft->reading->variables, map);
	reader_open(attributes, reading, map, what);
	attributes->what = what;
}

/* True if one of the levels that inherit a key has settled it. */
static bool is_settled(const struct arch_draft *draft, struct span span)
{
	for (size_t i = 0; i < draft->settled.count; i++)
		if (draft->settled.at[i].source == span.source &&
			draft->settled.at[i].line == span.line &&
			draft->settled.at[i].column == span.column)
			return true;
	return false;
}

void arch_keys_settle(struct arch_draft *draft, const struct reader *attributes)
{
	for (size_t i = 0; i < attributes->map->count; i++) {
		const struct node_entry *entry = &attributes->map->entries[i];
		if (variables_used(attributes->reading->variables, entry->key))
			*array_add(draft->reading->arena, &draft->settled) = entry->key_span;
	}
}

/* Lists the keys that a strange key may misspell: those read that are missing, in all their spellings. */
static const char *const *missing_words(const struct reader *attributes)
{
	size_t count = 0, most = attributes->known_count + SPELLINGS;
	const char **missing = arena_array(attributes->reading->arena, const char *, most + 1);
	for (size_t i = 0; i < attributes->known_count; i++) {
		const char *name = attributes->known[i];
		if (node_find(attributes->map, name))
			continue;
		missing[count++] = name;
		for (size_t s = 0; s < SPELLINGS && count < most; s++)
			if (text_equal(spellings[s].meant, name) &&
				!text_equal(spellings[s].written, name))
				missing[count++] = spellings[s].written;
	}
	missing[count] = NULL;
	return missing;
}

/* True if an entry stands in the node's own map, and is not inherited. */
static bool is_own(const struct node *own, const struct node_entry *entry)
{
	for (size_t i = 0; own && i < own->count; i++)
		if (own->entries[i].value == entry->value)
			return true;
	return false;
}

/* True if a key that nothing reads here may be read elsewhere. */
static bool is_read_elsewhere(
	const struct arch_draft *draft, const struct node_entry *entry, bool own)
{
	bool known = is_among(entry->key, accepted) || is_of_storages(entry->key);
	return is_settled(draft, entry->key_span) || (known && !own);
}

void arch_keys_done(struct arch_draft *draft, struct reader *attributes, const struct node *own)
{
	struct arena *arena = draft->reading->arena;
	struct diag *diag = draft->reading->diag;
	const char *const *missing = missing_words(attributes);
	arch_keys_settle(draft, attributes);
	for (size_t i = 0; i < attributes->map->count; i++) {
		const struct node_entry *entry = &attributes->map->entries[i];
		bool asked = reader_asked(attributes, entry->key), mine = is_own(own, entry);
		if (asked && !mine)
			*array_add(arena, &draft->settled) = entry->key_span;
		if (asked || is_read_elsewhere(draft, entry, mine))
			continue;
		bool known = is_among(entry->key, accepted) || is_of_storages(entry->key);
		const char *near =
			known || diag_full(diag) ? NULL : suggest_misspelt(entry->key, missing);
		if (!near && !arch_key_of_machine(entry->key)) {
			*array_add(arena, &draft->strangers) =
				(struct stranger){*entry, attributes->what};
			continue;
		}
		if (near)
			diag_error(diag, entry->key_span,
				"unknown key '%s' in %s; did you mean '%s'?", entry->key,
				attributes->what, near);
		else
			diag_error(diag, entry->key_span,
				"'%s' in %s is a machine attribute; move it to a !Container",
				entry->key, attributes->what);
		*array_add(arena, &draft->settled) = entry->key_span;
	}
}

static bool is_unpriced(const char *key)
{
	char plain[KEY_MOST];
	return with_underscores(key, plain) && is_among(plain, unpriced);
}

void arch_keys_note(const struct arch_draft *draft)
{
	struct unread *unread = draft->reading->unread;
	for (size_t i = 0; unread && i < draft->strangers.count; i++) {
		const struct stranger *stranger = &draft->strangers.at[i];
		if (is_settled(draft, stranger->entry.key_span))
			continue;
		if (is_unpriced(stranger->entry.key)) {
			diag_warning(draft->reading->diag, stranger->entry.key_span,
				"'%s' in %s has no effect here: what Timeloop charges for it is in "
				"no energy",
				stranger->entry.key, stranger->what);
			continue;
		}
		unread_add(draft->reading->arena, unread, &stranger->entry, stranger->what);
		unread->for_components = true;
	}
}

bool arch_keys_known(const char *key)
{
	return spelling_of(key) >= 0 || is_of_storages(key) || is_among(key, own_keys) ||
	       is_among(key, accepted);
}

const char *arch_keys_at(size_t i)
{
	static const char *const *const lists[] = {
		of_storages, own_keys, machine_keys, accepted, unpriced};
	if (i < 2 * (size_t)SPELLINGS)
		return i % 2 ? spellings[i / 2].meant : spellings[i / 2].written;
	i -= 2 * (size_t)SPELLINGS;
	for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
		for (const char *const *at = lists[k]; *at; at++)
			if (i-- == 0)
				return *at;
	return NULL;
}

const struct node *arch_keys_own(struct reader *node)
{
	const struct node *own = node_find(node->map, "attributes");
	bool empty = own && own->kind == NODE_SCALAR && !*own->text && !own->quoted;
	if (!empty)
		return read_map(node, "attributes", OPTIONAL);
	read_node(node, "attributes", OPTIONAL);
	return NULL;
}
