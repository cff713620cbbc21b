#include "model/nest/hierarchy.h"

#include "base/arena.h"
#include "base/text.h"
#include "model/nest/constraint.h"
#include "model/nest/nest_mapping.h"
#include "spec/reader.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A hierarchy in the making, outermost level first; it is turned round at the end. */
struct hierarchy_making {
	struct arena *arena;
	struct diag *diag;
	const struct arch *arch;
	const struct shape *shape;
	struct hierarchy *hierarchy;
	int compute, trivial; /* rows: the multipliers', and one without a fan-out */
	int64_t mesh_x, mesh_y;
	size_t errors;
};

#define WRONG(making, span, ...) diag_error((making)->diag, span, __VA_ARGS__)

/* A compute level, nothing inside the last of them, and a storage. */
static bool find_compute(struct hierarchy_making *making)
{
	const struct arch *arch = making->arch;
	int storages = 0, last = -1;
	making->trivial = -1;
	for (int r = 0; r < arch->level_count; r++) {
		const struct level *level = &arch->levels[r];
		storages += level->kind == LEVEL_STORAGE;
		if (fanout_count(&level->fanout) == 1)
			making->trivial = r;
		if (level->kind == LEVEL_COMPUTE)
			last = r;
	}
	if (last >= 0 && last < arch->level_count - 1) {
		WRONG(making, arch->levels[last + 1].span,
			"'%s' stands inside '%s', which computes", arch->levels[last + 1].name,
			arch->levels[last].name);
		return false;
	}
	if (making->compute < 0)
		WRONG(making, arch->span, "no level of the machine computes");
	if (!storages)
		WRONG(making, arch->span, "no level of the machine stores");
	int outermost = domain_outermost(arch);
	if (outermost >= 0 && level_storage(&arch->levels[outermost])->store.no_room)
		WRONG(making, arch->levels[outermost].span,
			"level '%s' is the outermost that stores, and it has no room",
			arch->levels[outermost].name);
	if (making->trivial < 0)
		WRONG(making, arch->span,
			"every level fans out; put a container that does not around the outermost");
	return making->compute >= 0 && storages && making->trivial >= 0;
}

/* The dataspace that a value of a level is for; -1 if the problem has none, after complaining unless others do. */
static int space_of(struct hierarchy_making *making, const struct space_value *value)
{
	const struct shape *shape = making->shape;
	const char *names[SHAPE_SPACES_MOST + 1] = {NULL};
	int found = shape_space(shape, value->space);
	for (int t = 0; t < shape->space_count; t++)
		names[t] = shape->spaces[t].name;
	if (found < 0 && !shape_lacks(shape, value->space))
		WRONG(making, value->span, "the problem has no dataspace '%s'%s", value->space,
			suggestion(making->arena, suggest(value->space, names), ""));
	return found;
}

static void take_scales(struct hierarchy_making *making, const struct storage_level *memory,
	struct nest_level *nest)
{
	for (int t = 0; t < making->shape->space_count; t++)
		nest->rate_scale[t] = 1;
	for (size_t i = 0; i < memory->scales.count; i++) {
		int t = space_of(making, &memory->scales.at[i]);
		if (t >= 0)
			nest->rate_scale[t] = memory->scales.at[i].scale;
	}
}

/* The rank of a dataspace that has a dimension; the last one if none has. */
static int rank_along(const struct shape *shape, int t, const char *dimension)
{
	const struct dataspace *space = &shape->spaces[t];
	int d = shape_dimension(shape, dimension), rank = space->rank_count - 1;
	for (int r = 0; d >= 0 && r < space->rank_count; r++)
		if (space->ranks[r].coefficient[d])
			rank = r;
	return rank;
}

static void take_rows(struct hierarchy_making *making, const struct storage_level *memory,
	struct nest_level *nest)
{
	const struct shape *shape = making->shape;
	for (int t = 0; t < shape->space_count; t++)
		nest->row_rank[t] = shape->spaces[t].rank_count - 1;
	for (size_t i = 0; i < memory->rows.count; i++) {
		int t = space_of(making, &memory->rows.at[i]);
		if (t >= 0)
			nest->row_rank[t] = rank_along(shape, t, memory->rows.at[i].dimension);
	}
}

/* The next level inwards; it keeps nothing and has no limits. */
static struct nest_level *add_level(struct hierarchy_making *making, const char *name, int row)
{
	struct hierarchy *hierarchy = making->hierarchy;
	if (hierarchy->level_count == ARCH_LEVELS_MOST) {
		if (diag_errors(making->diag) == making->errors)
			WRONG(making, making->arch->span,
				"the machine has more than %d levels, fan-outs of components "
				"counted",
				ARCH_LEVELS_MOST);
		return NULL;
	}
	struct nest_level *nest = &hierarchy->levels[hierarchy->level_count++];
	/* Member by member, so that padding stays zero: nests_alike in sim/graph compares bytes. */
	nest->name = name;
	nest->row = row;
	nest->block_row = making->trivial;
	nest->mesh_x = making->mesh_x;
	nest->mesh_y = making->mesh_y;
	nest->fanout.x = nest->fanout.y = 1;
	nest->store = storage_unlimited;
	for (int t = 0; t < making->shape->space_count; t++)
		nest->rate_scale[t] = 1;
	return nest;
}

static void take_storage(
	struct hierarchy_making *making, const struct level *level, struct nest_level *nest)
{
	const struct storage_level *memory = level_storage(level);
	const struct storage *store = &memory->store;
	nest->storage = true;
	nest->network = level->network;
	nest->store = *store;
	take_scales(making, memory, nest);
	take_rows(making, memory, nest);
	if (!store->entries)
		return;
	nest->size = store->entries;
	if (store->multiple_buffering != 1)
		nest->size = (int64_t)floor((double)store->entries / store->multiple_buffering);
	if (!nest->size)
		WRONG(making, level->span,
			"level '%s' has no room for its %lld words, buffered %.10g times",
			level->name, (long long)store->entries, store->multiple_buffering);
}

static void fan_out(struct hierarchy_making *making, const struct level *level)
{
	if (!number_mul(making->mesh_x, level->fanout.x, &making->mesh_x) ||
		!number_mul(making->mesh_y, level->fanout.y, &making->mesh_y))
		WRONG(making, level->span, "level '%s' has too many instances", level->name);
}

/* In the older form the block below a level is what the next one inwards is more. */
static void fill_block(struct hierarchy_making *making, int row)
{
	const struct level *level = &making->arch->levels[row];
	struct hierarchy *hierarchy = making->hierarchy;
	fan_out(making, level);
	if (!hierarchy->level_count) {
		if (fanout_count(&level->fanout) > 1)
			WRONG(making, level->span,
				"level '%s' is the outermost and there are %lld of it; the nest "
				"begins in one",
				level->name, (long long)level->instances);
		return;
	}
	struct nest_level *around = &hierarchy->levels[hierarchy->level_count - 1];
	around->block_row = row;
	around->fanout = level->fanout;
}

/* In v0.4 what fans out has a level of its own around it, which keeps nothing. */
static void add_fanout(struct hierarchy_making *making, int row)
{
	const struct level *level = &making->arch->levels[row];
	if (fanout_count(&level->fanout) == 1)
		return;
	/* A component's own temporal loops run inside: the multipliers' row has none. */
	struct nest_level *nest =
		add_level(making, arena_format(making->arena, "inter_%s_spatial", level->name),
			level->kind == LEVEL_CONTAINER && !level->device ? row : making->compute);
	if (!nest)
		return;
	nest->block_row = row;
	nest->fanout = level->fanout;
	nest->network = level->network;
	fan_out(making, level);
}

/* Adds the level of an ideal array: the loops of the storage around it run inside. */
static void add_free_level(struct hierarchy_making *making, const struct level *compute)
{
	struct hierarchy *hierarchy = making->hierarchy;
	struct nest_level *around = NULL;
	for (int i = hierarchy->level_count - 1; i >= 0 && !around; i--)
		if (hierarchy->levels[i].storage)
			around = &hierarchy->levels[i];
	if (!around)
		return;
	if (making->arch->levels[around->row].parallel)
		WRONG(making, compute->span,
			"'%s' computes %.10g at a time, with all of a tile of the storage around it, "
			"and '%s' is only a branch of a !Parallel; put one storage around it",
			compute->name, ratio_double(hierarchy->compute_rate),
			making->arch->levels[around->row].name);
	struct nest_level *nest = add_level(
		making, arena_format(making->arena, "inside %s", compute->name), around->row);
	if (!nest)
		return;
	nest->storage = nest->free = true;
	around->emptied = true;
}

static void add_compute(struct hierarchy_making *making, const struct machine_part *part)
{
	const struct level *level = &making->arch->levels[part->compute];
	struct hierarchy *hierarchy = making->hierarchy;
	hierarchy->compute_name = level->name;
	hierarchy->compute_row = part->compute;
	hierarchy->compute_mesh_x = making->mesh_x;
	hierarchy->compute_mesh_y = making->mesh_y;
	hierarchy->vector = part->vector;
	hierarchy->compute_rate =
		part->vector ? level_compute(level)->vector_rate : level_compute(level)->mac_rate;
	if (hierarchy->compute_rate.num > hierarchy->compute_rate.den)
		add_free_level(making, level);
}

static void add_row(struct hierarchy_making *making, int row, const struct machine_part *part)
{
	const struct level *level = &making->arch->levels[row];
	if (row == part->from && row > 0)
		; /* one instance of it */
	else if (making->arch->tree)
		fill_block(making, row);
	else
		add_fanout(making, row);
	if (row == part->compute) {
		add_compute(making, part);
	} else if (level->kind == LEVEL_STORAGE || level->device) {
		struct nest_level *nest = add_level(making, level->name, row);
		if (nest && level->kind == LEVEL_STORAGE)
			take_storage(making, level, nest);
	}
}

/* True if a row is around the compute of a part. */
static bool leads_to(const struct arch *arch, int row, int compute)
{
	const struct level *level = &arch->levels[row], *to = &arch->levels[compute];
	if (row == compute)
		return true;
	return level->kind != LEVEL_COMPUTE &&
	       (!to->parallel || level->parallel != to->parallel || level->branch == to->branch);
}

static void turn_round(struct hierarchy *hierarchy)
{
	for (int i = 0, j = hierarchy->level_count - 1; i < j; i++, j--) {
		struct nest_level level = hierarchy->levels[i];
		hierarchy->levels[i] = hierarchy->levels[j];
		hierarchy->levels[j] = level;
	}
}

/* A reduce ring joins the instances of the core level. */
static void find_rings(struct hierarchy_making *making)
{
	const struct arch *arch = making->arch;
	struct hierarchy *hierarchy = making->hierarchy;
	for (int i = 0; i < hierarchy->level_count; i++)
		hierarchy->levels[i].ring = ring_reduces(&arch->reduce_ring, &primitive_sum) &&
					    arch->core >= 0 &&
					    hierarchy->levels[i].block_row == arch->core;
}

static void find_gates(struct hierarchy_making *making)
{
	struct hierarchy *hierarchy = making->hierarchy;
	const char *names[ARCH_LEVELS_MOST + 1] = {NULL};
	for (int i = 0; i < hierarchy->level_count; i++)
		names[i] = hierarchy->levels[i].name;
	for (int i = 0; i < hierarchy->level_count; i++) {
		struct nest_level *nest = &hierarchy->levels[i];
		const struct level *level = &making->arch->levels[nest->row];
		nest->gated_at = i;
		if (!nest->storage || nest->free || !level->gated_at)
			continue;
		for (int g = 0; g < hierarchy->level_count; g++)
			if (text_equal(names[g], level->gated_at))
				nest->gated_at = g;
		if (nest->gated_at != i || text_equal(nest->name, level->gated_at))
			continue;
		WRONG(making, level->span,
			"level '%s' is power gated at '%s', which is not a level%s", level->name,
			level->gated_at,
			suggestion(making->arena, suggest(level->gated_at, names), ""));
	}
}

static const char *block_name(const struct hierarchy_making *making, const struct nest_level *nest)
{
	return making->arch->levels[nest->block_row].name;
}

/* The blocks of the array, from the innermost level outwards; what stores or fans out otherwise
 * must not lie between them. */
static void find_array(struct hierarchy_making *making)
{
	struct hierarchy *hierarchy = making->hierarchy;
	const char *between = NULL;
	for (int i = 0; i < hierarchy->level_count; i++) {
		const struct nest_level *nest = &hierarchy->levels[i];
		bool begun = hierarchy->array_end > 0;
		if (nest->fanout.systolic && between) {
			WRONG(making, making->arch->levels[nest->block_row].span,
				"'%s' and '%s' are both systolic, and '%s' lies between them; a "
				"machine has one systolic array",
				block_name(making, nest),
				block_name(making, &hierarchy->levels[hierarchy->array_inner]),
				between);
			return;
		}
		if (nest->fanout.systolic) {
			hierarchy->array_inner = begun ? hierarchy->array_inner : i;
			hierarchy->array_end = i + 1;
		} else if (begun && !between && fanout_count(&nest->fanout) > 1) {
			between = block_name(making, nest);
		}
		if ((begun || nest->fanout.systolic) && !between && nest->storage)
			between = nest->name;
	}
	struct ratio rate = hierarchy->compute_rate;
	if (hierarchy->array_end && rate.num != rate.den)
		WRONG(making, making->arch->levels[hierarchy->compute_row].span,
			"'%s' is in a systolic array, and its rate is %.10g; its PEs do one "
			"multiply-add a cycle",
			hierarchy->compute_name, ratio_double(rate));
	for (int i = 0; i < hierarchy->array_inner; i++)
		hierarchy->array_overlaps |= hierarchy->levels[i].storage;
	for (int i = 0; i < hierarchy->array_inner; i++)
		hierarchy->array_overlaps &= !hierarchy->levels[i].storage ||
					     hierarchy->levels[i].store.multiple_buffering >= 2;
}

/* The rows outside a storage do not count, and neither do computes but one. */
struct hierarchy *hierarchy_make_part(struct arena *arena, const struct arch *arch,
	struct machine_part part, const struct shape *shape, struct diag *diag)
{
	struct hierarchy *hierarchy = arena_new(arena, struct hierarchy);
	struct hierarchy_making making = {.arena = arena,
		.diag = diag,
		.arch = arch,
		.shape = shape,
		.hierarchy = hierarchy,
		.mesh_x = 1,
		.mesh_y = 1,
		.errors = diag_errors(diag)};
	making.compute = part.compute;
	if (!find_compute(&making))
		return NULL;
	for (int r = part.from; r <= part.compute; r++)
		if (leads_to(arch, r, part.compute))
			add_row(&making, r, &part);
	assert(hierarchy->level_count <= ARCH_LEVELS_MOST);
	turn_round(hierarchy);
	find_gates(&making);
	find_rings(&making);
	find_array(&making);
	hierarchy->clock_ns = 1e9 / ratio_double(arch->clock_hz);
	hierarchy_price(hierarchy, arena, arch, COUNTING_EXACT);
	return diag_errors(diag) == making.errors ? hierarchy : NULL;
}

struct hierarchy *hierarchy_make(
	struct arena *arena, const struct arch *arch, const struct shape *shape, struct diag *diag)
{
	struct machine_part whole = {.from = 0, .compute = arch->compute};
	if (!shape_multiplies(shape) && arch->vector >= 0)
		whole = (struct machine_part){.from = 0, .compute = arch->vector, .vector = true};
	return hierarchy_make_part(arena, arch, whole, shape, diag);
}

int hierarchy_level(const struct hierarchy *hierarchy, int row)
{
	for (int i = 0; i < hierarchy->level_count; i++)
		if (hierarchy->levels[i].row == row && row != hierarchy->compute_row &&
			!hierarchy->levels[i].free)
			return i;
	return -1;
}

struct ratio hierarchy_rate(const struct hierarchy *hierarchy)
{
	return hierarchy->compute_rate.num ? hierarchy->compute_rate : (struct ratio){1, 1};
}

int64_t hierarchy_cycles(const struct hierarchy *hierarchy, int64_t steps)
{
	struct ratio rate = hierarchy_rate(hierarchy);
	int64_t cycles = INT64_MAX;
	if (rate.num == rate.den)
		return steps;
	ratio_time(steps, rate, &cycles);
	return cycles;
}

double hierarchy_cycles_least(const struct hierarchy *hierarchy, double steps)
{
	struct ratio rate = hierarchy_rate(hierarchy);
	return rate.num == rate.den
		       ? steps
		       : ceil(steps * (double)rate.den / (double)rate.num * (1 - 0x1p-40));
}

unsigned hierarchy_update_flags(const struct hierarchy *hierarchy)
{
	unsigned flags = 0;
	for (int i = 0; i < hierarchy->level_count; i++)
		flags |= hierarchy->levels[i].rmw_first_update | hierarchy->levels[i].no_coalesce |
			 hierarchy->levels[i].no_temporal_reuse;
	return flags;
}

int64_t hierarchy_row_most(const struct nest_level *level, const struct shape *shape, int space)
{
	const struct dataspace *dataspace = &shape->spaces[space];
	int rank = level->row_rank[space];
	if (!level->store.row_cycles.num || dataspace->written)
		return 0;
	if (rank < 0)
		return 1;
	uint32_t own = affine_loops(&dataspace->ranks[rank]), others = 0;
	for (int r = 0; r < dataspace->rank_count; r++)
		others |= r == rank ? 0 : affine_loops(&dataspace->ranks[r]);
	if (own & (own - 1) || own & others)
		return 0;
	if (!own)
		return 1;
	int d = __builtin_ctz(own);
	return 1 + dataspace->ranks[rank].coefficient[d] * (shape->dimensions[d].extent - 1);
}

bool hierarchy_flagged(const struct hierarchy *hierarchy)
{
	unsigned flags = 0;
	for (int i = 0; i < hierarchy->level_count; i++) {
		const struct nest_level *level = &hierarchy->levels[i];
		flags |= level->no_temporal_reuse | level->rmw_first_update | level->no_coalesce |
			 level->no_spatial_reuse | level->no_link_transfer;
	}
	return flags;
}

void hierarchy_copy_flags(struct hierarchy *to, const struct hierarchy *from)
{
	for (int i = 0; i < to->level_count; i++) {
		struct nest_level *level = &to->levels[i];
		const struct nest_level *flagged = &from->levels[i];
		level->no_temporal_reuse = flagged->no_temporal_reuse;
		level->rmw_first_update = flagged->rmw_first_update;
		level->no_coalesce = flagged->no_coalesce;
		level->no_spatial_reuse = flagged->no_spatial_reuse;
		level->no_link_transfer = flagged->no_link_transfer;
	}
}

static const char *source_of(
	const struct level *level, enum counting counting, enum energy_origin origin)
{
	switch (origin) {
	case ENERGY_ERT:
		return "ERT";
	case ENERGY_ERT_PARTLY:
		return "ERT, what it lacks built-in as Timeloop's";
	case ENERGY_OF_LEVEL:
		return "the architecture";
	case ENERGY_BUILT_IN:
		break;
	}
	if (counting == COUNTING_TIMELOOP || level->kind == LEVEL_STORAGE)
		return "built-in, as Timeloop's";
	return "built-in, of Horowitz 2014";
}

/* Adds the levels whose energies come from one source to the text. */
static void add_source(
	struct text *text, const struct hierarchy *hierarchy, const char *source, const char *own)
{
	const char *between = ": ";
	text_add(text, "%s%s", text->length ? "; " : "", source);
	for (int i = 0; i < hierarchy->level_count; i++) {
		const struct nest_level *level = &hierarchy->levels[i];
		if (!level->energy_source || !text_equal(level->energy_source, source))
			continue;
		text_add(text, "%s%s", between, level->name);
		between = ", ";
	}
	if (own)
		text_add(text, "%s%s", between, own);
}

/* One source alone, or each with its levels, in the order of the levels. */
static const char *all_sources(const struct hierarchy *hierarchy, struct arena *arena)
{
	struct text text = text_open(arena);
	const char *told[ARCH_LEVELS_MOST + 1];
	int count = 0;
	for (int i = 0; i <= hierarchy->level_count; i++) {
		const char *source = i < hierarchy->level_count ? hierarchy->levels[i].energy_source
								: hierarchy->compute_energy_source;
		bool is_told = !source;
		for (int k = 0; k < count && !is_told; k++)
			is_told = text_equal(told[k], source);
		if (!is_told)
			told[count++] = source;
	}
	if (count == 1)
		return told[0];
	for (int k = 0; k < count; k++) {
		bool own = text_equal(told[k], hierarchy->compute_energy_source);
		add_source(&text, hierarchy, told[k], own ? hierarchy->compute_name : NULL);
	}
	return text_read(&text);
}

void hierarchy_price(struct hierarchy *hierarchy, struct arena *arena, const struct arch *arch,
	enum counting counting)
{
	const struct level *compute = &arch->levels[hierarchy->compute_row];
	struct compute_energy energy = level_compute(compute)->energies[counting];
	if (hierarchy->vector && level_compute(compute)->vector_priced)
		energy =
			(struct compute_energy){level_compute(compute)->vector_pj, ENERGY_OF_LEVEL};
	hierarchy->compute_pj = energy.pj;
	hierarchy->compute_energy_source = source_of(compute, counting, energy.origin);
	for (int i = 0; i < hierarchy->level_count; i++) {
		struct nest_level *nest = &hierarchy->levels[i];
		const struct level *level = &arch->levels[nest->row];
		if (!nest->storage || nest->free)
			continue;
		nest->energies = level_storage(level)->energies[counting];
		nest->energy_source = source_of(level, counting, nest->energies.origin);
	}
	hierarchy->energy_source = all_sources(hierarchy, arena);
}

/* True if the older form can name the level: a storage, or a stand-in that its front end adds. */
static bool is_parent(const struct level *level)
{
	return level->kind == LEVEL_STORAGE || (level->device && level->device[0]);
}

/* The block below a level of the older form; a container with a fan-out stands for its own. */
static int block_below(const struct arch *arch, int r)
{
	if (!is_parent(&arch->levels[r]))
		return domain_fanout(arch, r) > 1 ? r : -1;
	for (int i = r + 1; i < arch->level_count; i++) {
		if (domain_fanout(arch, i) > 1)
			return i;
		if (is_parent(&arch->levels[i]))
			return -1;
	}
	return -1;
}

const char *nest_target_name(const struct arch *arch, int block_row)
{
	if (arch->tree)
		for (int r = block_row - 1; r >= 0; r--)
			if (block_below(arch, r) == block_row)
				return arch->levels[r].name;
	return arch->levels[block_row].name;
}

/* NAME of inter_NAME_spatial, or NULL. */
static const char *alias_of(struct arena *arena, const char *name)
{
	static const char before[] = "inter_", after[] = "_spatial";
	size_t length = strlen(name), extra = sizeof before + sizeof after - 2;
	if (length <= extra || strncmp(name, before, sizeof before - 1) ||
		!text_equal(name + length - (sizeof after - 1), after))
		return NULL;
	return arena_format(arena, "%.*s", (int)(length - extra), name + sizeof before - 1);
}

static void aim_at_row(const struct arch *arch, int row, struct nest_target *out)
{
	out->row = row;
	out->name = arch->levels[row].name;
	out->block_row = arch->tree                     ? block_below(arch, row)
			 : domain_fanout(arch, row) > 1 ? row
							: -1;
}

/* Timeloop's level number `left` from the innermost storage outwards; its front end gives what fans
 * out in v0.4 a level around it. */
static bool aim_at_number(
	struct arena *arena, const struct arch *arch, int64_t left, struct nest_target *out)
{
	for (int r = arch->level_count - 1; r >= 0; r--) {
		const struct level *level = &arch->levels[r];
		if (domain_iterates(arch, r) && left-- == 0) {
			aim_at_row(arch, r, out);
			return true;
		}
		if (!arch->tree && domain_fanout(arch, r) > 1 && left-- == 0) {
			*out = (struct nest_target){level->kind == LEVEL_CONTAINER ? r : -1, r,
				arena_format(arena, "inter_%s_spatial", level->name)};
			return true;
		}
	}
	return false;
}

static bool is_number(const char *text)
{
	return *text && !text[strspn(text, "0123456789")] && strlen(text) < 10;
}

bool nest_target_read(const struct reading *reading, const struct node *node,
	const struct arch *arch, struct nest_target *out)
{
	const char *name;
	*out = (struct nest_target){.row = -1, .block_row = -1};
	if (!node_text(reading, node, "a target", &name))
		return false;
	int row = arch_level(arch, name);
	if (row >= 0) {
		aim_at_row(arch, row, out);
		return true;
	}
	if (is_number(name)) {
		if (aim_at_number(reading->arena, arch, atoi(name), out))
			return true;
		return reading_refuse(reading, node,
			"level %s does not exist; levels are counted from the innermost storage, 0",
			name);
	}
	out->name = name;
	const char *inner = alias_of(reading->arena, name);
	int r = inner ? arch_level(arch, inner) : -1;
	if (r >= 0) {
		out->block_row = domain_fanout(arch, r) > 1 ? r : -1;
		return true;
	}
	const char *known[ARCH_LEVELS_MOST + 1] = {0};
	for (int i = 0; i < arch->level_count; i++)
		known[i] = arch->levels[i].name;
	return directive_refuse(reading, node->span, "level", name, known);
}
