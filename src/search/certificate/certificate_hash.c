#include "search/certificate/certificate.h"

#include <string.h>

/* FNV-1a over everything that the answer depends on, number by number. */
struct hash {
	uint64_t value;
};

static void add_bytes(struct hash *hash, const void *bytes, size_t count)
{
	const unsigned char *at = bytes;
	for (size_t i = 0; i < count; i++)
		hash->value = (hash->value ^ at[i]) * UINT64_C(0x100000001b3);
}

static void add(struct hash *hash, int64_t number)
{
	unsigned char bytes[8]; /* the same on every machine */
	for (int i = 0; i < 8; i++)
		bytes[i] = (unsigned char)((uint64_t)number >> 8 * i);
	add_bytes(hash, bytes, sizeof bytes);
}

static void add_real(struct hash *hash, double number)
{
	int64_t bits;
	memcpy(&bits, &number, sizeof bits);
	add(hash, bits);
}

static void add_text(struct hash *hash, const char *text)
{
	add(hash, text ? (int64_t)strlen(text) : -1);
	if (text)
		add_bytes(hash, text, strlen(text));
}

static void add_rate(struct hash *hash, struct ratio rate)
{
	add(hash, rate.num);
	add(hash, rate.den);
}

static void add_shape(struct hash *hash, const struct shape *shape)
{
	add(hash, shape->dimension_count);
	add(hash, shape->space_count);
	for (int d = 0; d < shape->dimension_count; d++) {
		add_text(hash, shape->dimensions[d].name);
		add(hash, shape->dimensions[d].extent);
	}
	for (int t = 0; t < shape->space_count; t++) {
		const struct dataspace *space = &shape->spaces[t];
		add_text(hash, space->name);
		add(hash, space->written);
		add(hash, space->word_bits);
		add(hash, space->rank_count);
		for (int r = 0; r < space->rank_count; r++)
			for (int d = 0; d < shape->dimension_count; d++)
				add(hash, space->ranks[r].coefficient[d]);
	}
}

static void add_level(struct hash *hash, const struct nest_level *level, int space_count)
{
	const int64_t numbers[] = {level->row, level->block_row,
		level->storage + 2 * level->no_room, level->mesh_x, level->mesh_y, level->fanout_x,
		level->fanout_y, level->size, level->entries, level->word_bits, level->block_size,
		level->cluster_size, level->gated_at, level->fill_cycles, level->drain_cycles,
		level->systolic, level->no_temporal_reuse, level->rmw_first_update,
		level->no_coalesce, level->no_spatial_reuse, level->no_link_transfer,
		level->reduces};
	const double reals[] = {level->multiple_buffering, level->least_utilization,
		level->pj[NEST_READ], level->pj[NEST_FILL], level->pj[NEST_UPDATE], level->leak_pj,
		level->hop_pj, level->router_pj};
	add_text(hash, level->name);
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		add(hash, numbers[i]);
	for (size_t i = 0; i < sizeof reals / sizeof *reals; i++)
		add_real(hash, reals[i]);
	add_rate(hash, level->read_rate);
	add_rate(hash, level->write_rate);
	add_rate(hash, level->shared_rate);
	for (int t = 0; t < space_count; t++)
		add_real(hash, level->rate_scale[t]);
	if (level->free)
		add(hash, level->free);
	if (level->least_usage > 0)
		add_real(hash, level->least_usage);
	if (level->ring) /* where there is none hashes are as they were */
		add(hash, level->ring);
}

static void add_hierarchy(struct hash *hash, const struct hierarchy *hierarchy, int space_count)
{
	add(hash, hierarchy->level_count);
	for (int i = 0; i < hierarchy->level_count; i++)
		add_level(hash, &hierarchy->levels[i], space_count);
	add(hash, hierarchy->compute_row);
	add(hash, hierarchy->compute_mesh_x);
	add(hash, hierarchy->compute_mesh_y);
	add_real(hash, hierarchy->compute_pj);
	if (hierarchy_rate(hierarchy).num != hierarchy_rate(hierarchy).den)
		add_rate(hash, hierarchy_rate(hierarchy));
	add_real(hash, hierarchy->least_parallelism);
}

static void add_order(
	struct hash *hash, int inner, int outer, const uint8_t *order, const uint8_t *last)
{
	add(hash, inner);
	add(hash, outer);
	for (int i = 0; i < inner; i++)
		add(hash, order[i]);
	for (int i = 0; i < outer; i++)
		add(hash, last[i]);
}

static void add_domain(struct hash *hash, const struct domain *domain)
{
	add(hash, domain->imperfect);
	add_real(hash, domain->least_parallelism);
	for (int r = 0; r < domain->arch->level_count; r++) {
		const struct row_domain *row = &domain->rows[r];
		for (int d = 0; d < domain->shape->dimension_count; d++) {
			add(hash, row->spatial[d].least);
			add(hash, row->spatial[d].most);
			add(hash, row->temporal[d].least);
			add(hash, row->temporal[d].most);
		}
		add_order(hash, row->spatial_inner, row->spatial_outer, row->spatial_order,
			row->spatial_last);
		add_order(hash, row->temporal_inner, row->temporal_outer, row->temporal_order,
			row->temporal_last);
		add(hash, row->spatial_over);
		add(hash, row->temporal_over);
		add(hash, row->split);
		add(hash, row->keep);
		add(hash, row->bypass);
	}
}

/* As they are stated: some are only in what is checked of whole mappings. */
static void add_constraint(struct hash *hash, const struct constraint *constraint)
{
	add_text(hash, constraint->kind->key);
	add(hash, constraint->part);
	add(hash, constraint->row);
	add(hash, constraint->spaces);
	add(hash, constraint->number);
	add_real(hash, constraint->least);
	for (int i = 0; i < constraint->factor_count; i++) {
		add(hash, constraint->factors[i].dimension);
		add(hash, constraint->factors[i].relation);
		add(hash, constraint->factors[i].bound);
		add(hash, constraint->factors[i].tail);
	}
	for (int i = 0; i < constraint->order_count; i++)
		add(hash, constraint->order[i]);
	for (int i = 0; i < constraint->suffix_count; i++)
		add(hash, constraint->suffix[i]);
	for (int i = 0; i < constraint->group_count; i++)
		add(hash, constraint->groups[i]);
}

uint64_t certificate_problem_hash(const struct nest_search *search)
{
	struct hash hash = {UINT64_C(0xcbf29ce484222325)};
	add(&hash, search->counting);
	add_shape(&hash, search->shape);
	add_hierarchy(&hash, search->hierarchy, search->shape->space_count);
	add_domain(&hash, search->domain);
	add(&hash, (int64_t)search->constraints->count);
	for (size_t i = 0; i < search->constraints->count; i++)
		add_constraint(&hash, &search->constraints->at[i]);
	return hash.value;
}
