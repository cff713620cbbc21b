#include "model/machine/copying.h"

#include "model/machine/arch_attributes.h"
#include "spec/reader.h"

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
