#include "base/arena.h"
#include "base/number.h"
#include "model/graph/inner_nest.h"
#include "model/graph/op_mapping.h"
#include "model/machine/mapping_notation.h"

/* Operands go by their numbers. */
static struct mapping_notation notation_of(
	struct arena *arena, const struct arch *arch, const struct op *op)
{
	static const char *const numbers[] = {"0", "1", "2", "3", "4", "5", "6", "7"};
	struct mapping_notation notation = {
		.arch = arch,
		.owner = arena_format(arena, "op '%s'", op->name),
		.loop_word = "loop",
		.operand_word = "operand",
		.factor_wanted = "'n8' divides loop n by 8",
		.operands_wanted = "numbers of operands",
		.loop_count = op->loop_count,
		.operand_count = (int)number_min(op_operands(op), OP_READS_MOST + 1),
		.kept_by_default = mapping_kept_by_default(arch),
		.inner = arch_moves_boxes(arch) && op_has_inner_nest(arch, op),
	};
	for (int l = 0; l < op->loop_count; l++) {
		notation.loops[l] = op->loops[l].name;
		notation.extents[l] = arch_moves_boxes(arch) ? 0 : op->loops[l].extent;
	}
	for (int i = 0; i < notation.operand_count; i++)
		notation.operands[i] = numbers[i];
	return notation;
}

const char *mapping_print(struct arena *arena, const struct arch *arch, const struct op *op,
	const struct mapping *mapping)
{
	struct mapping_notation notation = notation_of(arena, arch, op);
	return notation_print(arena, &notation, mapping);
}

const char *mapping_parse(struct arena *arena, const struct arch *arch, const struct op *op,
	const char *text, struct mapping *out)
{
	struct mapping_notation notation = notation_of(arena, arch, op);
	struct mapping mapping = mapping_make(arch, op);
	const char *why = notation_parse(arena, &notation, text, &mapping);
	if (!why)
		*out = mapping;
	return why;
}
