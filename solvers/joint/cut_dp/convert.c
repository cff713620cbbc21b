#include "solvers/joint/cut_dp/convert.h"

#include "base/arena.h"
#include "base/number.h"

#include <stdlib.h>
#include <string.h>

struct reads {
	int cut;
	int64_t *worst;     /* by view */
	struct reads *next; /* an earlier one */
};

struct converter {
	const struct frame *frame;
	struct reads **reads; /* by tensor: cuts with options that read it in LX, latest first */
	const bool **covers;  /* by tensor: [v * view_count + w]: v is as good as w in all */
};

/* --- options that differ in one use */

struct entry {
	uint64_t hash; /* of all but the mode and view of use `use` */
	uint32_t option;
	int use;
};

static uint64_t mix(uint64_t hash, int64_t value)
{
	hash = (hash ^ (uint64_t)value) * UINT64_C(0xd6e8feb86659fd93);
	return hash ^ hash >> 32;
}

static uint64_t hash_but(const struct joint_option *option, int use)
{
	uint64_t hash = mix(UINT64_C(0x9e3779b97f4a7c15), option->end);
	hash = mix(hash, use);
	for (int u = 0; u < option->use_count; u++) {
		hash = mix(hash, option->uses[u].tensor);
		if (u != use)
			hash = mix(hash, option->uses[u].mode * 65536 + option->uses[u].view);
	}
	for (int o = 0; o < option->out_count; o++)
		hash = mix(hash, option->outs[o].view);
	return hash;
}

/* Are they the same, but for this use, value, room and cores? */
static bool same_but(const struct joint_option *a, const struct joint_option *b, int use)
{
	if (a->end != b->end || a->ends_bundle != b->ends_bundle || a->use_count != b->use_count ||
		a->out_count != b->out_count || a->argument_count != b->argument_count)
		return false;
	for (int u = 0; u < a->use_count; u++)
		if (a->uses[u].tensor != b->uses[u].tensor ||
			(u != use && (a->uses[u].mode != b->uses[u].mode ||
					     a->uses[u].view != b->uses[u].view)))
			return false;
	for (int o = 0; o < a->out_count; o++)
		if (a->outs[o].tensor != b->outs[o].tensor || a->outs[o].view != b->outs[o].view ||
			a->outs[o].in_place != b->outs[o].in_place)
			return false;
	for (int i = 0; i < a->argument_count; i++)
		if (a->arguments[i] != b->arguments[i])
			return false;
	return true;
}

static int compare_entries(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;
	if (a->hash != b->hash)
		return a->hash < b->hash ? -1 : 1;
	if (a->option != b->option)
		return a->option < b->option ? -1 : 1;
	return a->use < b->use ? -1 : a->use > b->use;
}

/*
 * What one tensor more in HBM costs at most beside its step: the bundle ends before that step and behind it, and
 * those that begin are as wide as they can be.
 */
static int64_t apart(const struct frame *frame)
{
	return cut_add(frame->over[frame->width_most], frame->over[frame->width_most]);
}

static bool is_taken_over(const struct joint_option *option, int use)
{
	for (int o = 0; o < option->out_count; o++)
		if (option->outs[o].view >= 0 && option->outs[o].in_place == use)
			return true;
	return false;
}

/* How much more the cheapest option costs that brings by itself what this one finds in LX. */
static int64_t find_substitute(const struct frame *frame, const struct entry *entries, size_t count,
	const struct joint_option *option, int use)
{
	const struct joint_tensor *tensor = &frame->space->tensors[option->uses[use].tensor];
	int asked = option->uses[use].view;
	int64_t least_held = INT64_MAX, best = JOINT_NEVER;
	for (int v = 0; v < tensor->view_count; v++)
		if (tensor->serves[v * tensor->view_count + asked] && tensor->bytes[v] < least_held)
			least_held = tensor->bytes[v];
	if (least_held == INT64_MAX)
		return 0; /* nobody can take it */
	for (size_t i = 0; i < count; i++) {
		const struct joint_option *other = &frame->space->options[entries[i].option];
		if (entries[i].use != use || !same_but(option, other, use))
			continue;
		const struct joint_use *by = &other->uses[use];
		if (by->mode == JOINT_RESIDENT || (by->mode == JOINT_MOVED && by->view != asked))
			continue;
		if (by->mode == JOINT_HBM && is_taken_over(option, use))
			continue;
		int64_t needs = by->mode == JOINT_MOVED ? tensor->bytes[asked] : 0;
		if (cut_add(needs, other->room) > cut_add(option->room, least_held) ||
			(frame->args_most &&
				other->use_count + other->out_count + other->argument_count >
					frame->args_most))
			continue;
		int64_t more = number_max(other->value - option->value, 0);
		best = number_min(best, cut_add(more, apart(frame)));
	}
	return best;
}

static void note_worst(struct converter *converter, struct arena *arena,
	const struct joint_option *option, int use, int64_t more)
{
	int t = option->uses[use].tensor, asked = option->uses[use].view;
	const struct joint_tensor *tensor = &converter->frame->space->tensors[t];
	struct reads *reads = converter->reads[t];
	if (!reads || reads->cut != option->first) {
		reads = arena_new(arena, struct reads);
		reads->cut = option->first;
		reads->worst = arena_array(arena, int64_t, tensor->view_count);
		reads->next = converter->reads[t];
		converter->reads[t] = reads;
	}
	for (int v = 0; v < tensor->view_count; v++)
		if (tensor->serves[v * tensor->view_count + asked] && reads->worst[v] < more)
			reads->worst[v] = more;
}

static void find_reloads(struct converter *converter, int cut, struct arena *arena)
{
	const struct joint_space *space = converter->frame->space;
	struct arena *scratch = arena_open();
	size_t first = space->first_option[cut], end = space->first_option[cut + 1], count = 0;
	for (size_t i = first; i < end; i++)
		count += (size_t)space->options[i].use_count;
	struct entry *entries = arena_array(scratch, struct entry, count);
	count = 0;
	for (size_t i = first; i < end; i++)
		for (int u = 0; u < space->options[i].use_count; u++)
			entries[count++] =
				(struct entry){hash_but(&space->options[i], u), (uint32_t)i, u};
	qsort(entries, count, sizeof *entries, compare_entries);
	for (size_t i = 0, group = 0; i < count; i++) {
		if (entries[i].hash != entries[group].hash)
			group = i;
		const struct joint_option *option = &space->options[entries[i].option];
		if (option->uses[entries[i].use].mode != JOINT_RESIDENT)
			continue;
		size_t behind = i + 1;
		while (behind < count && entries[behind].hash == entries[i].hash)
			behind++;
		note_worst(converter, arena, option, entries[i].use,
			find_substitute(converter->frame, entries + group, behind - group, option,
				entries[i].use));
	}
	arena_close(scratch);
}

/* --- views */

static bool covers(const struct joint_tensor *tensor, int v, int w)
{
	int n = tensor->view_count;
	if (tensor->bytes[v] > tensor->bytes[w] || tensor->evict[v] > tensor->evict[w] ||
		tensor->cores[v] > tensor->cores[w])
		return false;
	for (int x = 0; x < n; x++)
		if ((tensor->serves[w * n + x] && !tensor->serves[v * n + x]) ||
			(x != v && x != w && tensor->relay[v * n + x] > tensor->relay[w * n + x]))
			return false;
	return true;
}

/* By tensor and view: bytes that lie so may be taken over. */
static bool **find_passed_on(const struct joint_space *space, struct arena *arena)
{
	bool **passed_on = arena_array(arena, bool *, space->tensor_count);
	for (int t = 0; t < space->tensor_count; t++)
		passed_on[t] = arena_array(arena, bool, space->tensors[t].view_count + 1);
	for (size_t i = 0; i < space->option_count; i++) {
		const struct joint_option *option = &space->options[i];
		for (int u = 0; u < option->use_count; u++)
			if (option->uses[u].mode == JOINT_RESIDENT && is_taken_over(option, u))
				passed_on[option->uses[u].tensor][option->uses[u].view] = true;
	}
	return passed_on;
}

struct converter *converter_open(const struct frame *frame, struct arena *arena)
{
	const struct joint_space *space = frame->space;
	struct converter *converter = arena_new(arena, struct converter);
	converter->frame = frame;
	converter->reads = arena_array(arena, struct reads *, space->tensor_count);
	converter->covers = arena_array(arena, const bool *, space->tensor_count);
	bool **passed_on = find_passed_on(space, arena);
	for (int t = 0; t < space->tensor_count; t++) {
		const struct joint_tensor *tensor = &space->tensors[t];
		int n = tensor->view_count;
		bool *table = arena_array(arena, bool, n *n + 1);
		for (int v = 0; v < n; v++)
			for (int w = 0; w < n; w++)
				table[v * n + w] =
					v == w || (!passed_on[t][w] && covers(tensor, v, w));
		converter->covers[t] = table;
	}
	for (int c = 0; c < space->op_count; c++)
		find_reloads(converter, c, arena);
	for (int t = 0; t < space->tensor_count; t++)
		for (struct reads *r = converter->reads[t]; r; r = r->next)
			frame_follow_relays(&space->tensors[t], r->worst);
	return converter;
}

static int64_t reload(const struct converter *converter, int cut, int tensor, int view)
{
	int64_t sum = 0;
	for (const struct reads *r = converter->reads[tensor]; r && r->cut >= cut; r = r->next)
		sum = cut_add(sum, r->worst[view]);
	return sum;
}

static int64_t convert_one(
	const struct converter *converter, int cut, int t, uint16_t from, uint16_t to)
{
	const struct joint_tensor *tensor = &converter->frame->space->tensors[t];
	int n = tensor->view_count, held = cut_view(from), asked = cut_view(to);
	bool valid = from & CUT_VALID, wants_valid = to & CUT_VALID;
	int64_t stored = valid      ? 0
			 : held < 0 ? JOINT_NEVER
				    : cut_add(tensor->evict[held], apart(converter->frame));
	if (asked < 0) /* what is not valid cannot be dropped */
		return held < 0 && !wants_valid ? 0 : stored;
	int64_t best = cut_add(stored, reload(converter, cut, t, asked));
	if (held < 0)
		return best;
	int64_t kept = wants_valid ? stored : 0;
	if (converter->covers[t][held * n + asked])
		return kept;
	int64_t relay = tensor->relay[held * n + asked];
	if (relay == JOINT_NEVER)
		return best;
	return number_min(best, cut_add(kept, relay));
}

int64_t convert(const struct converter *converter, int cut, const uint16_t *from,
	const uint16_t *to, int64_t limit)
{
	const struct cut *at = &converter->frame->cuts[cut];
	int64_t sum = 0;
	for (int s = 0; s < at->slot_count && sum <= limit; s++)
		if (from[s] != to[s])
			sum = cut_add(
				sum, convert_one(converter, cut, at->tensors[s], from[s], to[s]));
	return sum;
}
