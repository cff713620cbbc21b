#include "tests/support/joint_draw.h"

#include "base/arena.h"
#include "base/array.h"
#include "tests/support/draws.h"

enum { READS = 2, INPUTS = 2, RUN_MOST = 3 };

struct options array(struct joint_option);

/*
 * A block of ops: tensor 0 is what it is given, then its inputs, then what op i makes as
 * 1 + INPUTS + i.  The block behind it is given what its last op makes.
 */
struct block {
	struct random *random;
	struct arena *arena;
	const struct joint_draw *draw;
	int tensor_count;
	struct joint_tensor *tensors;
	int (*reads)[READS]; /* by op; the same twice: one read */
	struct options options;
};

static int64_t pick(struct random *random, int64_t least, int64_t most)
{
	return least + draw_below(random, most - least + 1);
}

static int made_by(int op)
{
	return 1 + INPUTS + op;
}

static void draw_views(struct block *block, struct joint_tensor *tensor)
{
	struct random *random = block->random;
	int n = draw_chance(random, 6) ? 0 : (int)pick(random, 1, block->draw->views);
	int64_t *bytes = arena_array(block->arena, int64_t, n + 1);
	int *cores = arena_array(block->arena, int, n + 1);
	bool *serves = arena_array(block->arena, bool, n *n + 1);
	int64_t *relay = arena_array(block->arena, int64_t, n * n + 1);
	int64_t *evict = arena_array(block->arena, int64_t, n + 1);
	for (int v = 0; v < n; v++) {
		bytes[v] = pick(random, 1, 6);
		cores[v] = (int)pick(random, 1, 4);
		evict[v] = draw_chance(random, 4) ? JOINT_NEVER : pick(random, 0, 8);
		for (int w = 0; w < n; w++) {
			serves[v * n + w] = v == w || draw_chance(random, 5);
			relay[v * n + w] = block->draw->without_relays || draw_chance(random, 3)
						   ? JOINT_NEVER
						   : pick(random, 0, 6);
		}
	}
	tensor->view_count = n;
	tensor->bytes = bytes;
	tensor->cores = cores;
	tensor->serves = serves;
	tensor->relay = relay;
	tensor->evict = evict;
}

static void draw_block(struct block *block)
{
	int ops = block->draw->ops;
	block->tensor_count = made_by(ops);
	block->tensors = arena_array(block->arena, struct joint_tensor, block->tensor_count);
	block->reads = arena_alloc_array(block->arena, (size_t)ops, sizeof *block->reads);
	for (int t = 0; t < block->tensor_count; t++) {
		struct joint_tensor *tensor = &block->tensors[t];
		tensor->producer = t - made_by(0) < 0 ? -1 : t - made_by(0);
		tensor->output = tensor->producer >= 0 && draw_chance(block->random, 5);
		draw_views(block, tensor);
	}
	for (int op = 0; op < ops; op++)
		for (int r = 0; r < READS; r++)
			block->reads[op][r] = op && !draw_chance(block->random, 3)
						      ? made_by((int)pick(block->random,
								op > 2 ? op - 3 : 0, op - 1))
						      : (int)pick(block->random, 0, INPUTS);
	if (ops)
		block->reads[0][0] = 0;
}

static bool reads(const struct block *block, int first, int end, int tensor)
{
	for (int op = first; op < end; op++)
		for (int r = 0; r < READS; r++)
			if (block->reads[op][r] == tensor)
				return true;
	return false;
}

/* Read behind the run, an output, or given to the next block. */
static bool is_left(const struct block *block, int end, int tensor)
{
	return tensor == block->tensor_count - 1 || block->tensors[tensor].output ||
	       reads(block, end, block->draw->ops, tensor);
}

static void draw_use(
	struct block *block, int t, bool plain, struct joint_option *option, struct joint_use *use)
{
	const struct joint_tensor *tensor = &block->tensors[t];
	*use = (struct joint_use){.tensor = t, .mode = JOINT_HBM, .view = -1};
	if (!plain && tensor->view_count && !draw_chance(block->random, 3)) {
		use->mode = draw_chance(block->random, 3) ? JOINT_MOVED : JOINT_RESIDENT;
		use->view = (int)pick(block->random, 0, tensor->view_count - 1);
	}
	option->value += use->mode == JOINT_RESIDENT ? 0 : pick(block->random, 0, 9);
}

static void draw_out(struct block *block, int t, bool plain, struct joint_option *option,
	const struct joint_use *uses, struct joint_out *outs)
{
	struct random *random = block->random;
	const struct joint_tensor *tensor = &block->tensors[t];
	bool stays = !plain && tensor->view_count && !draw_chance(random, 3);
	if (!stays || draw_chance(random, 6)) {
		outs[option->out_count++] =
			(struct joint_out){.tensor = t, .view = -1, .in_place = -1};
		option->value += pick(random, 0, 9);
	}
	if (!stays)
		return;
	struct joint_out *out = &outs[option->out_count++];
	*out = (struct joint_out){.tensor = t, .in_place = -1};
	out->view = (int)pick(random, 0, tensor->view_count - 1);
	int taken = (int)draw_below(random, option->use_count + 1) - 1;
	for (int i = 0; i < option->out_count - 1 && taken >= 0; i++)
		if (outs[i].in_place == taken)
			taken = -1;
	if (taken >= 0 && uses[taken].mode != JOINT_HBM)
		out->in_place = taken;
}

/* An option of ops [first, end); a plain one has everything in HBM, so that most spaces have an answer. */
static void draw_option(struct block *block, int first, int end, bool plain)
{
	struct random *random = block->random;
	struct joint_option *option = array_add(block->arena, &block->options);
	*option = (struct joint_option){.first = first,
		.end = end,
		.value = pick(random, 0, plain ? 20 : 10),
		.room = plain ? 0 : pick(random, 0, 2),
		.cores = (int)pick(random, 1, 4),
		.empties = plain && draw_chance(random, 8)};
	option->alone = !option->empties && draw_chance(random, 6);
	option->ends_bundle = option->empties || option->alone || draw_chance(random, 12);
	struct joint_use *uses = arena_array(block->arena, struct joint_use, made_by(end));
	struct joint_out *outs = arena_array(block->arena, struct joint_out, 2 * RUN_MOST);
	int *arguments = arena_array(block->arena, int, block->tensor_count);
	for (int t = 0; t < made_by(first); t++)
		if (reads(block, first, end, t))
			draw_use(block, t, plain, option, &uses[option->use_count++]);
		else if (block->tensors[t].producer < 0 && draw_chance(random, 30))
			arguments[option->argument_count++] = t;
	for (int op = first; op < end; op++)
		if (is_left(block, end, made_by(op)))
			draw_out(block, made_by(op), plain, option, uses, outs);
		else if (draw_chance(random, 4))
			arguments[option->argument_count++] = made_by(op);
	option->uses = uses;
	option->outs = outs;
	option->arguments = arguments;
}

static void draw_options(struct block *block)
{
	const struct joint_draw *draw = block->draw;
	for (int op = 0; op < draw->ops; op++) {
		if (!draw_chance(block->random, 20))
			draw_option(block, op, op + 1, true);
		int left = (int)pick(block->random, draw->options / 2, draw->options);
		for (int end = op + 1; end <= draw->ops && end <= op + RUN_MOST; end++)
			for (int k = (left + 1) / 2; k > 0 && left > 0; k--, left--)
				draw_option(block, op, end, false);
	}
}

/* In the b-th copy of the block. */
static int tensor_of(const struct block *block, int b, int tensor)
{
	return b * (block->tensor_count - 1) + tensor;
}

static struct joint_option copy_option(
	const struct block *block, int b, const struct joint_option *one)
{
	struct joint_option option = *one;
	option.first += b * block->draw->ops;
	option.end += b * block->draw->ops;
	struct joint_use *uses = arena_array(block->arena, struct joint_use, one->use_count + 1);
	struct joint_out *outs = arena_array(block->arena, struct joint_out, one->out_count + 1);
	int *arguments = arena_array(block->arena, int, one->argument_count + 1);
	for (int i = 0; i < one->use_count; i++) {
		uses[i] = one->uses[i];
		uses[i].tensor = tensor_of(block, b, one->uses[i].tensor);
	}
	for (int i = 0; i < one->out_count; i++) {
		outs[i] = one->outs[i];
		outs[i].tensor = tensor_of(block, b, one->outs[i].tensor);
	}
	for (int i = 0; i < one->argument_count; i++)
		arguments[i] = tensor_of(block, b, one->arguments[i]);
	option.uses = uses;
	option.outs = outs;
	option.arguments = arguments;
	return option;
}

static int last_read(const struct block *block, int tensor, int otherwise)
{
	for (int op = block->draw->ops - 1; op >= 0; op--)
		if (reads(block, op, op + 1, tensor))
			return op;
	return otherwise;
}

static void copy_tensors(struct block *block, int b, struct joint_tensor *tensors)
{
	int ops = block->draw->ops, last = block->tensor_count - 1;
	for (int t = b ? 1 : 0; t <= last; t++) {
		struct joint_tensor *tensor = &tensors[tensor_of(block, b, t)];
		*tensor = block->tensors[t];
		tensor->name = arena_format(block->arena, "t%d", tensor_of(block, b, t));
		if (tensor->producer >= 0)
			tensor->producer += b * ops;
		tensor->last = last_read(block, t, block->tensors[t].producer) + b * ops;
		if (t < last)
			continue;
		tensor->output |= b == block->draw->blocks - 1;
		if (b < block->draw->blocks - 1) /* op 0 of the next block reads it */
			tensor->last = last_read(block, 0, 0) + (b + 1) * ops;
	}
}

/* Makes the result of the last block an output; the result of a middle block has the views of
 * tensor 0. */
static void tie_ends(struct block *block)
{
	struct joint_tensor *given = &block->tensors[0],
			    *made = &block->tensors[block->tensor_count - 1];
	int producer = made->producer;
	*made = *given;
	made->producer = producer;
}

const struct joint_space *joint_draw(
	struct random *random, const struct joint_draw *draw, struct arena *arena)
{
	struct block block = {.random = random, .arena = arena, .draw = draw};
	draw_block(&block);
	tie_ends(&block);
	draw_options(&block);
	struct joint_space *space = arena_new(arena, struct joint_space);
	space->op_count = draw->ops * draw->blocks;
	space->tensor_count = tensor_of(&block, draw->blocks - 1, block.tensor_count);
	struct joint_tensor *tensors = arena_array(arena, struct joint_tensor, space->tensor_count);
	struct joint_option *options =
		arena_array(arena, struct joint_option, block.options.count * (size_t)draw->blocks);
	size_t *first_option = arena_array(arena, size_t, space->op_count + 1);
	for (int b = 0; b < draw->blocks; b++) {
		copy_tensors(&block, b, tensors);
		for (size_t i = 0; i < block.options.count; i++) {
			struct joint_option *option = &options[space->option_count++];
			*option = copy_option(&block, b, &block.options.at[i]);
			first_option[option->first + 1] = space->option_count;
		}
	}
	for (int op = 1; op <= space->op_count; op++)
		if (first_option[op] < first_option[op - 1])
			first_option[op] = first_option[op - 1];
	space->tensors = tensors;
	space->options = options;
	space->first_option = first_option;
	space->capacity = pick(random, 4, 16);
	space->alignment = 1;
	space->bundle_most = draw_chance(random, 4) ? 0 : (int)pick(random, 3, 5);
	space->bundle_value = pick(random, 0, 12);
	space->core_value = pick(random, 0, 3);
	return space;
}
