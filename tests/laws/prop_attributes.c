#include "base/arena.h"
#include "base/array.h"
#include "base/random.h"
#include "base/text.h"
#include "spec/node.h"
#include "tests/support/draws.h"
#include "tests/support/shell.h"

#include <glob.h>
#include <stdio.h>
#include <string.h>

#include "tests/test.h"

/*
 * Every attribute of every machine of specs/arch counts: another value of it changes what a problem, a
 * graph or a broadcast costs there, or a note names it as not read.  Values are doubled first; where
 * nothing changes then, as where a buffer is large enough, they are made small.
 */
enum { INPUTS_MOST = 8, PARTS_MOST = 8 };

struct spot {
	const char *file, *key, *bytes;
	size_t begin, end; /* of the value */
};

struct spots {
	struct arena *arena;
	struct array(struct spot) list;
};

static const char *const numbers[] = {
	"2 * (%s)", "(%s) / 2", "(%s) / 1024", "1", "1pJ", "1024 * (%s)", NULL};
static const struct {
	const char *word, *other;
} words[] = {{"true", "false"}, {"false", "true"}, {"box", "delta"}, {"full", "ring"},
	{"ring", "full"}, {"one", "all"}, {"all", "one"}};

static const char graph[] = "workload:\n"
			    "  dimensions: {m: 2, n: 64, k: 4096}\n"
			    "  ops: ['y[m,n] = sum(k) a[m,k] * b[k,n]', 'z[m,n] = gelu(y[m,n])']\n";

static bool is_number(const char *text)
{
	return (*text >= '0' && *text <= '9') || *text == '(';
}

static const char *other_word(const char *text)
{
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (text_equal(words[i].word, text))
			return words[i].other;
	return NULL;
}

static void add_value(
	struct spots *spots, const char *file, const char *key, const struct node *value)
{
	struct span span = value->span;
	if (!is_number(value->text) && !other_word(value->text))
		return;
	*array_add(spots->arena, &spots->list) = (struct spot){file, key, span.source->bytes,
		source_offset(span.source, span.line, span.column),
		source_offset(span.source, span.end_line, span.end_column)};
}

/* Values of a map, and of the maps and lists in it. */
static void add_values(struct spots *spots, const char *file, const struct node *map)
{
	for (size_t i = 0; map && map->kind == NODE_MAP && i < map->count; i++) {
		const struct node *value = map->entries[i].value;
		if (value->kind == NODE_MAP)
			add_values(spots, file, value);
		else if (value->kind == NODE_SCALAR)
			add_value(spots, file, map->entries[i].key, value);
		for (size_t k = 0; value->kind == NODE_LIST && k < value->count; k++)
			if (value->items[k]->kind == NODE_SCALAR)
				add_value(spots, file, map->entries[i].key, value->items[k]);
	}
}

static void add_levels(struct spots *spots, const char *file, const struct node *list)
{
	for (size_t i = 0; list && i < list->count; i++) {
		const struct node *item = list->items[i];
		add_values(spots, file, node_find(item, "attributes"));
		add_values(spots, file, node_find(item, "spatial"));
		add_levels(spots, file, node_find(item, "nodes"));
	}
}

static void gather(struct spots *spots)
{
	glob_t files;
	assert_int_equal(glob("specs/arch/*.yaml", 0, NULL, &files), 0);
	for (size_t i = 0; i < files.gl_pathc; i++) {
		const char *file = arena_text(spots->arena, files.gl_pathv[i]);
		const char *text = text_of_file(spots->arena, file);
		const struct node *root = node_read_text(
			spots->arena, file, text, strlen(text), diag_open(spots->arena));
		assert_non_null(root);
		add_levels(spots, file, node_find(node_find(root, "architecture"), "nodes"));
	}
	globfree(&files);
}

/* Chooses the commands for a machine: those whose inputs fit it. */
static int choose_inputs(const char *bytes, const char *tiny, const char *reduce, const char *ring,
	const char **commands)
{
	int count = 0;
	if (strstr(bytes, "copy_in")) {
		commands[count++] = "score %s specs/broadcasts/scatter_rows.yaml --format json";
		commands[count++] =
			"score %s specs/broadcasts/gather_activations.yaml --format json";
		commands[count++] = reduce;
		if (!strstr(bytes, "transfer: box"))
			return count;
	}
	if (strstr(bytes, "ranks:"))
		commands[count++] = "score %s specs/workloads/gpt_block_4ranks.yaml --format json";
	else if (strstr(bytes, "transfer: box"))
		commands[count++] = "score %s specs/workloads/softmax_4mb.yaml --format json";
	else
		commands[count++] = "explore %s specs/problems/gemm_512.yaml --solver map=anneal "
				    "--budget 300 --simulate-budget 1 -q --format csv";
	if (strstr(bytes, "data_ring"))
		commands[count++] = ring;
	commands[count++] = tiny;
	return count;
}

static void put_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

/* A plan with a relayout for every number of boxes that a slice may be cut into. */
static const char *relayouts(struct arena *arena)
{
	struct text ops = text_open(arena), steps = text_open(arena), stays = text_open(arena);
	struct text bundles = text_open(arena);
	for (int s = 2; s <= PARTS_MOST; s++) {
		int step = 3 * (s - 2);
		text_add(&ops,
			"  - a%d[m%d, n%d] = neg(x%d[m%d, n%d])\n  - b%d[m%d, n%d] = neg(a%d[m%d, n%d])\n",
			s, s, s, s, s, s, s, s, s, s, s, s);
		text_add(&steps,
			"  - {op: a%d, bundle: %d, mapping: \"core: m%d=%d\"}\n"
			"  - {move: relayout, tensor: a%d, as: r%d, bundle: %d, mapping: \"core: d1=%d\"}\n"
			"  - {op: b%d, bundle: %d, mapping: \"core: n%d=%d\"}\n",
			s, s - 2, s, s, s, s, s - 2, s, s, s - 2, s, s);
		text_add(&bundles, "  - {bundle: %d, arguments: [x%d, b%d]}\n", s - 2, s, s);
		text_add(&stays,
			"    a%d: [{where: LX, view: \"cores %d: dim 1 / %d by 1\", address: 0, size: %d, from: %d, to: %d}]\n"
			"    b%d: [{where: HBM, from: %d, to: %d}]\n"
			"    r%d: [{where: LX, view: \"cores %d: dim 0 / %d by 1\", address: 4096, size: %d, from: %d, to: %d}]\n",
			s, s, s, 128 * s, step, step + 2, s, step + 2, step + 3, s, s, s, 128 * s,
			step + 1, step + 3);
	}
	struct text text = text_open(arena);
	text_add(&text, "workload:\n  name: rings\n  dimensions: {");
	for (int s = 2; s <= PARTS_MOST; s++)
		text_add(&text, "%sm%d: %d, n%d: %d", s > 2 ? ", " : "", s, s, s, 64 * s);
	text_add(&text,
		"}\n  ops:\n%splan:\n  version: 1\n  cores: 8\n  steps:\n%s  bundles:\n%s"
		"  tensors:\n%s  proof: {status: none}\n",
		text_read(&ops), text_read(&steps), text_read(&bundles), text_read(&stays));
	return text_read(&text);
}

static const char *format_of(struct arena *arena, const char *format, const char *text)
{
	const char *at = strstr(format, "%s");
	return at ? arena_format(arena, "%.*s%s%s", (int)(at - format), format, text, at + 2)
		  : format;
}

static struct ended ask(
	struct arena *arena, const char *folder, const char *command, const char *machine)
{
	const char *words_of = format_of(arena, command, machine);
	bool explores = strncmp(command, "explore", 7) == 0;
	return shell(arena, "\"$LXPLORE\" %s -v%s%s", words_of, explores ? " -o " : "",
		explores ? folder : "");
}

/* True if a line of notes names a key as not read. */
static bool is_noted(struct arena *arena, const char *notes, const char *key)
{
	const char *quoted = arena_format(arena, "'%s'", key);
	for (const char *at = notes; (at = strstr(at, "note: ")); at++) {
		const char *line = arena_format(arena, "%.*s", (int)strcspn(at, "\n"), at);
		if ((strstr(line, "not read") || strstr(line, "is ignored")) &&
			strstr(line, quoted))
			return true;
	}
	return false;
}

/* True if some price of the machine is another one with this value; or a note says why not. */
static bool counts(
	struct arena *arena, const struct spot *spot, const char *value, const char *folder)
{
	const char *commands[INPUTS_MOST];
	const char *machine = arena_format(arena, "%s/machine.yaml", folder);
	const char *tiny = arena_format(arena, "score %%s %s/graph.yaml --format json", folder);
	const char *reduce = arena_format(arena, "score %%s %s/reduce.yaml --format json", folder);
	const char *ring = arena_format(arena, "score %%s %s/ring.yaml --format json", folder);
	int count = choose_inputs(spot->bytes, tiny, reduce, ring, commands);
	const char *changed = arena_format(
		arena, "%.*s%s%s", (int)spot->begin, spot->bytes, value, spot->bytes + spot->end);
	for (int c = 0; c < count; c++) {
		put_file(machine, spot->bytes);
		struct ended before = ask(arena, folder, commands[c], machine);
		put_file(machine, changed);
		struct ended after = ask(arena, folder, commands[c], machine);
		if (!text_equal(before.out, after.out) || is_noted(arena, after.err, spot->key))
			return true;
	}
	return false;
}

static bool any_counts(struct arena *arena, const struct spot *spot, const char *folder)
{
	const char *old = arena_format(
		arena, "%.*s", (int)(spot->end - spot->begin), spot->bytes + spot->begin);
	const char *word = other_word(old);
	if (word)
		return counts(arena, spot, word, folder);
	for (int n = 0; numbers[n]; n++)
		if (counts(arena, spot, format_of(arena, numbers[n], old), folder))
			return true;
	return false;
}

/* Attributes of nests at home and scratchpad, which no shipped machine of boxes gives, are named or
 * refused. */
TEST(what_is_of_nests_is_noted)
{
	static const char *const given[] = {"multiple_buffering: 2", "min_utilization: 0.5",
		"network_fill_latency: 3", "network_drain_latency: 3",
		"per_dataspace_bandwidth_consumption_scale: {Weights: 0.5}", "energy_per_hop: 1pJ",
		"router_energy: 1pJ", "row_time: 2ns", "round_time: 20ns"};
	const char *folder = shell_folder(arena);
	put_file(arena_format(arena, "%s/graph.yaml", folder), graph);
	for (size_t i = 0; i < 2 * sizeof given / sizeof *given; i++) {
		const char *entry = given[i / 2];
		const char *place = i % 2 ? "{size: 256KiB," : "{shared_bandwidth: 64GB/s,";
		struct ended ended = shell(arena,
			"sed 's#%s#%s %s,#' tests/bad/good/arch.yaml > %s/machine.yaml && "
			"\"$LXPLORE\" check -v %s/machine.yaml %s/graph.yaml",
			place, place, entry, folder, folder, folder);
		const char *key = arena_format(arena, "%.*s", (int)strcspn(entry, ":"), entry);
		const char *refused = arena_format(arena, "error: '%s'", key);
		if (!strstr(ended.err, refused) &&
			(ended.status || !is_noted(arena, ended.err, key)))
			fail_msg("%s: %s", entry, ended.err);
	}
	shell_remove(folder);
}

TEST(every_attribute_counts)
{
	uint64_t seed = draws_seed(1);
	const char *folder = shell_folder(arena);
	struct spots spots = {.arena = arena};
	gather(&spots);
	long count = draws(12), all = (long)spots.list.count;
	put_file(arena_format(arena, "%s/graph.yaml", folder), graph);
	put_file(arena_format(arena, "%s/ring.yaml", folder), relayouts(arena));
	struct ended scored = shell(arena,
		"\"$LXPLORE\" score specs/arch/spyre32.yaml %s/ring.yaml --format json", folder);
	if (scored.status)
		fail_msg("%s", scored.err);
	assert_int_equal(
		shell(arena,
			"sed 's/rows: 16/rows: 4/' specs/broadcasts/reduce_gradients.yaml > %s/reduce.yaml",
			folder)
			.status,
		0);
	for (long i = 0; i < count && i < all; i++) {
		struct arena *own = arena_open();
		struct random random = random_open(seed, (uint64_t)i);
		const struct spot *spot =
			&spots.list.at[count < all ? draw_below(&random, all) : i];
		if (!any_counts(own, spot, folder))
			fail_msg("%s: '%s', %.*s, changes no price", spot->file, spot->key,
				(int)(spot->end - spot->begin), spot->bytes + spot->begin);
		arena_close(own);
	}
	shell_remove(folder);
}
