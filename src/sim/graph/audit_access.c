#include "sim/graph/audit_access.h"

#include <inttypes.h>

const char *audit_name(const struct audit *audit, int tensor)
{
	return audit->program->workload->tensors[tensor].name;
}

static bool make_box(struct audit *audit, const struct region *region,
	const struct location *location, int core, int64_t unit, struct box *box)
{
	int64_t at;
	int64_t size = core == FAULT_IN_HBM ? audit->program->hbm_bytes : audit->lx_bytes;
	const char *why =
		box_make(audit->program->workload, region, location, unit, size, box, &at);
	if (why)
		fault_add(audit->faults, FAULT_BOUNDS, audit->current, core, at, "%s", why);
	return !why;
}

bool audit_hbm_box(struct audit *audit, const struct region *region,
	const struct location *location, struct box *box)
{
	return make_box(audit, region, location, FAULT_IN_HBM, STICK_BYTES, box);
}

bool audit_lx_box(struct audit *audit, const struct region *region, const struct location *location,
	int core, int tensor, int64_t unit, struct box *box)
{
	if (!make_box(audit, region, location, core, unit, box))
		return false;
	const struct allotment *allotment = allotment_find(
		&audit->allotments, audit->instruction->step, core, tensor, box->low, box->high);
	if (allotment)
		box->since = allotment->from;
	else
		fault_add(audit->faults, FAULT_BOUNDS, audit->current, core, box->low,
			"bytes %" PRId64 " to %" PRId64
			" of LX are neither allotted to '%s' nor to tile buffers",
			box->low, box->high, audit_name(audit, tensor));
	return true;
}

void audit_read(struct audit *audit, const struct box *box, int core, int tensor)
{
	struct box_walk walk = box_first(box);
	uint64_t part;
	if (core == FAULT_IN_HBM)
		tensor = tensor_home(audit->program->workload, tensor);
	do {
		struct content expected = {.tensor = tensor, .stick = walk.stick};
		shadow_read(audit->shadow, core, walk.address, box->since, &expected, &part);
	} while (box_next(box, &walk));
}

void audit_write(struct audit *audit, const struct box *box, int core, int tensor)
{
	struct box_walk walk = box_first(box);
	do {
		struct content content = {.tensor = tensor, .stick = walk.stick};
		shadow_write(audit->shadow, core, walk.address, &content);
	} while (box_next(box, &walk));
}

uint64_t audit_read_accumulator(struct audit *audit, const struct box *box, int core)
{
	struct box_walk walk = box_first(box);
	uint64_t all = 0, part;
	bool first = true, known = true;
	do {
		for (int64_t at = 0; at < box->unit; at += STICK_BYTES) {
			struct content expected = {.tensor = box->tensor,
				.piece = 1 + (int)(at / STICK_BYTES),
				.stick = walk.stick};
			known &= shadow_read(audit->shadow, core, walk.address + at, box->since,
				&expected, &part);
			all = first ? part : all;
			first = false;
			if (known && part != all)
				fault_add(audit->faults, FAULT_STALE, audit->current, core,
					walk.address + at,
					"the accumulator of stick %" PRId64
					" of '%s' holds another part of the reduction than "
					"those before it",
					walk.stick, audit_name(audit, box->tensor));
		}
	} while (box_next(box, &walk));
	return all;
}

void audit_write_accumulator(struct audit *audit, const struct box *box, int core, uint64_t part)
{
	struct box_walk walk = box_first(box);
	do {
		for (int64_t at = 0; at < box->unit; at += STICK_BYTES) {
			struct content content = {.tensor = box->tensor,
				.piece = 1 + (int)(at / STICK_BYTES),
				.stick = walk.stick,
				.part = part};
			shadow_write(audit->shadow, core, walk.address + at, &content);
		}
	} while (box_next(box, &walk));
}

void audit_check_whole(struct audit *audit, int op, const struct box *box, int core, uint64_t part)
{
	if (part == cover_whole(audit->cover, op))
		return;
	fault_add(audit->faults, FAULT_STALE, audit->current, core, box->address,
		"stick %" PRId64 " of '%s' is finished with a part of its reduction missing or "
		"taken twice",
		box->stick, audit_name(audit, box->tensor));
}
