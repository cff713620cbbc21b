#include "model/machine/topology.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/number.h"
#include "model/machine/arch_draft.h"
#include "spec/field.h"
#include "spec/reader.h"

static bool topology_linked(const struct topology *t, int from, int to)
{
	int last = t->ranks - 1;
	if (from == to)
		return false;
	switch (t->kind) {
	case TOPOLOGY_FULL:
		return true;
	case TOPOLOGY_RING:
		return to == (from == last ? 0 : from + 1);
	case TOPOLOGY_BIDIRECTIONAL_RING:
		return to == (from == last ? 0 : from + 1) || from == (to == last ? 0 : to + 1);
	case TOPOLOGY_MESH: {
		int rows = from / t->columns - to / t->columns;
		int columns = from % t->columns - to % t->columns;
		return rows * rows + columns * columns == 1;
	}
	case TOPOLOGY_TREE:
		return (to > 0 && (to - 1) / 2 == from) || (from > 0 && (from - 1) / 2 == to);
	case TOPOLOGY_ROOT_ONLY:
		return from == t->root;
	case TOPOLOGY_COUNT:
		break;
	}
	return false;
}

/* Links by the rank that they leave, then by the one that they enter. */
static void list_links(struct arena *arena, struct topology *t)
{
	int ranks = t->ranks, *first = arena_array(arena, int, ranks + 1);
	for (int from = 0; from < ranks; from++)
		for (int to = 0; to < ranks; to++)
			first[from + 1] += topology_linked(t, from, to);
	for (int r = 0; r < ranks; r++)
		first[r + 1] += first[r];
	struct link *links = arena_array(arena, struct link, first[ranks]);
	for (int from = 0; from < ranks; from++)
		for (int to = 0; to < ranks; to++)
			if (topology_linked(t, from, to))
				links[t->link_count++] = (struct link){from, to};
	t->links = links;
	t->first = first;
}

static void list_back(struct arena *arena, struct topology *t)
{
	int *first = arena_array(arena, int, t->ranks + 1);
	int *next = arena_array(arena, int, t->ranks + 1);
	struct link *back = arena_array(arena, struct link, t->link_count);
	for (size_t l = 0; l < t->link_count; l++)
		first[t->links[l].to + 1]++;
	for (int r = 0; r < t->ranks; r++)
		next[r + 1] = first[r + 1] += first[r];
	for (size_t l = 0; l < t->link_count; l++)
		back[next[t->links[l].to]++] = (struct link){t->links[l].to, t->links[l].from};
	t->back = back;
	t->back_first = first;
}

const struct topology *topology_make(struct arena *arena, enum topology_kind kind,
	enum port_count ports, int ranks, int root, int columns)
{
	struct topology *t = arena_new(arena, struct topology);
	*t = (struct topology){
		.kind = kind, .ports = ports, .ranks = ranks, .root = root, .channels = 1};
	t->columns = kind == TOPOLOGY_MESH ? columns : ranks;
	t->rows = ranks / t->columns;
	list_links(arena, t);
	list_back(arena, t);
	return t;
}

const struct topology *topology_of(
	struct arena *arena, const struct copying *copying, int ranks, int root, int columns)
{
	const struct topology *one =
		topology_make(arena, copying->topology, copying->ports, ranks, root, columns);
	struct topology *t = arena_copy(arena, one, sizeof *t);
	t->channels = copying->channels > 1 ? copying->channels : 1;
	return t;
}

const struct topology *topology_reverse(struct arena *arena, const struct topology *topology)
{
	struct topology *t = arena_copy(arena, topology, sizeof *t);
	t->links = topology->back;
	t->first = topology->back_first;
	t->back = topology->links;
	t->back_first = topology->first;
	return t;
}

int topology_link(const struct topology *topology, int from, int to)
{
	size_t at;
	int end = topology->first[from + 1];
	bisect(at, topology->first[from], end, topology->links[at].to < to);
	return (int)at < end && topology->links[at].to == to ? (int)at : -1;
}

/* Nearest first. */
static void link_spread(
	const struct link *links, const int *first, const struct topology *t, int start, int *out)
{
	int queue[RANKS_MOST], count = 1;
	for (int r = 0; r < t->ranks; r++)
		out[r] = -1;
	queue[0] = start;
	out[start] = 0;
	for (int at = 0; at < count; at++)
		for (int l = first[queue[at]]; l < first[queue[at] + 1]; l++) {
			int to = links[l].to;
			if (out[to] >= 0)
				continue;
			out[to] = out[queue[at]] + 1;
			queue[count++] = to;
		}
}

void topology_distances(const struct topology *topology, int from, int *out)
{
	link_spread(topology->links, topology->first, topology, from, out);
}

void topology_distances_to(const struct topology *topology, int to, int *out)
{
	link_spread(topology->back, topology->back_first, topology, to, out);
}

int topology_before(const struct topology *topology, const int *distances, int to)
{
	for (int l = topology->back_first[to]; l < topology->back_first[to + 1]; l++) {
		int before = topology->back[l].to;
		if (distances[to] > 0 && distances[before] == distances[to] - 1)
			return before;
	}
	return -1;
}

struct routes routes_open(const struct topology *topology, struct arena *arena)
{
	return (struct routes){topology, arena, arena_array(arena, int *, topology->ranks)};
}

static const int *distances_from(struct routes *routes, int rank)
{
	int **distances = &routes->distances[rank];
	if (!*distances) {
		*distances = arena_array(routes->arena, int, routes->topology->ranks);
		topology_distances(routes->topology, rank, *distances);
	}
	return *distances;
}

int routes_hops(struct routes *routes, int from, int to)
{
	if (from == to)
		return 0;
	if (topology_link(routes->topology, from, to) >= 0)
		return 1;
	return distances_from(routes, from)[to];
}

int routes_last(struct routes *routes, int from, int *to)
{
	if (from == *to)
		return -1;
	int before = routes_hops(routes, from, *to) == 1
			     ? from
			     : topology_before(routes->topology, distances_from(routes, from), *to);
	int link = before < 0 ? -1 : topology_link(routes->topology, before, *to);
	*to = before;
	return link;
}

int topology_ways(const struct topology *topology, int rank, bool entering)
{
	const int *first = entering ? &topology->back_first[rank] : &topology->first[rank];
	int count = first[1] - first[0];
	if (topology->ports == PORTS_ONE)
		return count > 1 ? 1 : count;
	return count * topology->channels;
}

const char *const topology_names[] = {
	"full", "ring", "bidirectional_ring", "mesh", "tree", "root_only", NULL};
const char *const port_count_names[] = {"one", "all", NULL};

/* Joins the ticks of a cycle with those that a time or a rate needs; 0: none. */
static int64_t ticks_multiple(int64_t ticks, int64_t needed)
{
	return needed ? number_lcm(ticks, needed, COPY_TICKS_MOST) : ticks;
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
	int64_t ticks = ticks_multiple(1, copying->sync.den);
	for (int s = 0; s < 4; s++) {
		ticks = ticks_multiple(ticks, speeds[s]->latency.den);
		ticks = ticks_multiple(ticks, speeds[s]->rate.num);
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

bool copying_takes_time(const struct copying *copying)
{
	const struct copy_speed *speeds[] = {&copying->in, &copying->out, &copying->link};
	for (size_t i = 0; i < sizeof speeds / sizeof *speeds; i++)
		if (speeds[i]->rate.num || speeds[i]->latency.num)
			return true;
	return false;
}

/* A time with its unit, or a bare number of cycles. */
static void read_latency(
	struct reader *map, const struct field *field, void *whole, const void *clock_hz)
{
	const struct ratio *clock = clock_hz;
	struct ratio nanoseconds, *cycles = field_place(field, whole);
	const struct node *node = read_node(map, field->key, OPTIONAL);
	if (!node)
		return;
	if (!attributes_has_unit(map, node, field->key))
		read_ratio(map, field->key, OPTIONAL, cycles);
	else if (read_nanoseconds(map, field->key, OPTIONAL, &nanoseconds))
		attributes_cycles(map, field->key, nanoseconds, *clock, cycles);
}

static void read_rate_of_copy(
	struct reader *map, const struct field *field, void *whole, const void *clock_hz)
{
	const struct ratio *clock = clock_hz;
	attributes_bandwidth(map, field->key, *clock, 8, field_place(field, whole));
}

static const struct field speed_fields[] = {
	{"latency", FIELD_TIME, "of one copy, bare in cycles", .usual = "0", .read = read_latency,
		INTO(struct copy_speed, latency)},
	{"bandwidth", FIELD_RATE, "bare in bytes per cycle", .usual = "unlimited",
		.read = read_rate_of_copy, INTO(struct copy_speed, rate)},
	{0},
};
static const struct noun speed_noun = {.name = "speed", .fields = speed_fields};

static const struct field pipe_fields[] = {
	{"copy_in", FIELD_MAP, "speed of copies from global memory, for broadcasts",
		.when = "scratchpad", .noun = &speed_noun, INTO(struct copying, in)},
	{"copy_out", FIELD_MAP, "speed of copies to global memory", .when = "scratchpad",
		.noun = &speed_noun, INTO(struct copying, out)},
	{"combine", FIELD_MAP, "speed of reducing one tile into another", .when = "scratchpad",
		.noun = &speed_noun, INTO(struct copying, combine)},
	{"copy_sync", FIELD_TIME, "time until one queue sees a flag of the other, bare in cycles",
		.when = "scratchpad", .usual = "0", .read = read_latency,
		INTO(struct copying, sync)},
	{0},
};
const struct noun pipes_noun = {.name = "pipes", .fields = pipe_fields};

static const struct field link_fields[] = {
	{"topology", FIELD_CHOICE, "links between ranks", .usual = "`full`",
		.words = topology_names, INTO(struct copying, topology)},
	{"ports", FIELD_CHOICE, "sends, and as many receipts, of a rank at a time",
		.usual = "`one`", .words = port_count_names, INTO(struct copying, ports)},
	{"channels", FIELD_WHOLE, "messages that a link takes at a time in rounds", .usual = "1",
		.omit = "0", .least = 1, .most = 1024, INTO(struct copying, channels)},
	{"latency", FIELD_TIME, "of one copy, bare in cycles", .usual = "0", .read = read_latency,
		INTO(struct copying, link.latency)},
	{"bandwidth", FIELD_RATE, "bare in bytes per cycle", .usual = "unlimited",
		.read = read_rate_of_copy, INTO(struct copying, link.rate)},
	{0},
};

struct sides_form {
	const struct node *dims;
};

static const struct field side_fields[] = {
	{"dims", FIELD_WHOLE, "sides of a mesh", .shape = SHAPE_LIST,
		KEEP(struct sides_form, dims)},
	{0},
};
static const struct noun sides_noun = {.name = "sides", .fields = side_fields};
static const struct noun *const link_parts[] = {&sides_noun, NULL};
const struct noun links_noun = {.name = "links", .fields = link_fields, .parts = link_parts};

const struct node *copying_read_links(const struct reading *reading, const struct node *node,
	struct ratio clock_hz, struct copying *copying)
{
	struct sides_form sides = {0};
	struct reader map;
	size_t errors = diag_errors(reading->diag);
	if (!node || !noun_open(&map, reading, node, "links", &links_noun))
		return NULL;
	fields_read(&map, &links_noun, copying, &clock_hz);
	fields_read(&map, &sides_noun, &sides, NULL);
	bool good = diag_errors(reading->diag) == errors;
	reader_done(&map);
	return good ? sides.dims : NULL;
}
