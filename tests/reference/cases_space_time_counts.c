#include "base/arena.h"
#include "base/array.h"
#include "base/wide.h"
#include "search/drive/frontier.h"
#include "search/recurrence/projections.h"
#include "tests/support/case_json.h"
#include "tests/support/family.h"
#include "tests/support/projection_bounds.h"

#include <stdlib.h>
#include <string.h>

/* Family space-time: counts.json (numbers of legal designs in a range, optima, bounds). */
static int read_row(const json_t *list, int64_t *out)
{
	size_t i;
	const json_t *item;
	json_array_foreach(list, i, item)
		out[i] = json_integer_value(item);
	return (int)json_array_size(list);
}

static struct projection_range read_range(const json_t *record, const char *key)
{
	const json_t *list = json_object_get(record, key);
	return (struct projection_range){json_integer_value(json_array_get(list, 0)),
		json_integer_value(json_array_get(list, 1))};
}

/* Extents that no vector of a range leaves, where a case gives none. */
static struct space_time read_spec(const json_t *record)
{
	struct space_time spec = {0};
	struct recurrence *recurrence = &spec.recurrence;
	const char *name;
	json_t *vector;
	int64_t extents[RECURRENCE_LOOPS_MOST];
	static const char *const loops[] = {"i", "j", "k", "l", "m", "n", "o", "p"};
	recurrence->loop_count = read_row(json_object_get(record, "extents"), extents);
	json_object_foreach((json_t *)json_object_get(record, "dependences"), name, vector) {
		int s = recurrence->stream_count++;
		recurrence->streams[s].name = name;
		struct dependence *to = &recurrence->dependences[recurrence->dependence_count++];
		to->stream = s;
		int count = read_row(vector, to->vector);
		if (!recurrence->loop_count)
			for (; recurrence->loop_count < count; recurrence->loop_count++)
				extents[recurrence->loop_count] = 1000;
	}
	for (int i = 0; i < recurrence->loop_count; i++)
		recurrence->loops[i] = (struct loop){.name = loops[i], .extent = extents[i]};
	spec.time_range = read_range(record, "schedule_range");
	return spec;
}

struct pair {
	int64_t schedule[RECURRENCE_LOOPS_MOST], vector[RECURRENCE_LOOPS_MOST];
};

static bool is_primitive(const int64_t *vector, int count)
{
	int64_t divisor = 0;
	for (int i = 0; i < count; i++) {
		int64_t a = llabs(vector[i]);
		while (a) {
			int64_t rest = divisor % a;
			divisor = a;
			a = rest;
		}
	}
	return divisor == 1;
}

/* True if the loops in another order have the same dependences. */
static bool keeps_dependences(const struct recurrence *recurrence, const int *order)
{
	for (int d = 0; d < recurrence->dependence_count; d++) {
		bool found = false;
		for (int e = 0; e < recurrence->dependence_count && !found; e++) {
			found = true;
			for (int i = 0; i < recurrence->loop_count; i++)
				found &= recurrence->dependences[d].vector[order[i]] ==
					 recurrence->dependences[e].vector[i];
		}
		if (!found)
			return false;
	}
	return true;
}

static struct pair reorder(const struct pair *pair, const int *order, int count)
{
	struct pair to = {{0}, {0}};
	int64_t first = 0;
	for (int i = 0; i < count; i++) {
		to.schedule[i] = pair->schedule[order[i]];
		to.vector[i] = pair->vector[order[i]];
		first = first ? first : to.vector[i];
	}
	for (int i = 0; first < 0 && i < count; i++)
		to.vector[i] = -to.vector[i];
	return to;
}

struct least {
	const struct recurrence *recurrence;
	const struct pair *pair;
	struct pair least;
};

static void try_orders(struct least *least, int *order, int at)
{
	int count = least->recurrence->loop_count;
	if (at == count) {
		if (!keeps_dependences(least->recurrence, order))
			return;
		struct pair pair = reorder(least->pair, order, count);
		if (memcmp(&pair, &least->least, sizeof pair) < 0)
			least->least = pair;
		return;
	}
	for (int i = at; i < count; i++) {
		int kept = order[at];
		order[at] = order[i];
		order[i] = kept;
		try_orders(least, order, at + 1);
		order[i] = order[at];
		order[at] = kept;
	}
}

static int64_t count_classes(const struct recurrence *recurrence, const struct pair *pairs,
	size_t count, struct arena *arena)
{
	struct array(struct pair) classes = {0};
	for (size_t i = 0; i < count; i++) {
		int order[RECURRENCE_LOOPS_MOST] = {0, 1, 2, 3, 4, 5, 6, 7};
		struct least least = {recurrence, &pairs[i], pairs[i]};
		bool known = false;
		try_orders(&least, order, 0);
		for (size_t k = 0; k < classes.count; k++)
			known |= !memcmp(&classes.at[k], &least.least, sizeof least.least);
		if (!known)
			*array_add(arena, &classes) = least.least;
	}
	return (int64_t)classes.count;
}

static void check_pairs(struct family *family, const json_t *record, const json_t *expect)
{
	struct space_time spec = read_spec(record);
	spec.by_vectors = true;
	spec.vector_range = read_range(record, "projection_range");
	spec.space_rows = spec.recurrence.loop_count - 1;
	struct projections space = projections_list(&spec, NULL, family->arena);
	struct array(struct pair) primitive = {0};
	int64_t legal = 0;
	for (size_t s = 0; s < space.schedule_count; s++)
		for (size_t a = 0; a < space.allocation_count; a++) {
			const struct allocation *allocation = &space.allocations[a];
			bool known;
			if (!projections_apart(&space, allocation, &space.schedules[s], &known))
				continue;
			legal++;
			if (!is_primitive(space.schedules[s].vector, spec.recurrence.loop_count))
				continue;
			struct pair *pair = array_add(family->arena, &primitive);
			memcpy(pair->schedule, space.schedules[s].vector, sizeof pair->schedule);
			memcpy(pair->vector, allocation->kernel.rows[0], sizeof pair->vector);
		}
	family_expect(family, "projections", json_object_get(expect, "projections"),
		json_integer((json_int_t)space.allocation_count));
	family_expect(family, "legal_schedules", json_object_get(expect, "legal_schedules"),
		json_integer((json_int_t)space.schedule_count));
	family_expect(
		family, "legal_pairs", json_object_get(expect, "legal_pairs"), json_integer(legal));
	family_expect(family, "legal_pairs_primitive_schedule",
		json_object_get(expect, "legal_pairs_primitive_schedule"),
		json_integer((json_int_t)primitive.count));
	family_expect(family, "classes_under_loop_permutation",
		json_object_get(expect, "classes_under_loop_permutation"),
		json_integer(count_classes(
			&spec.recurrence, primitive.at, primitive.count, family->arena)));
}

/* Number of designs with exactly these PEs and cycles. */
struct cell {
	int64_t pes, cycles, designs;
};

static void check_search(struct family *family, const json_t *record, const json_t *expect)
{
	struct space_time spec = read_spec(record);
	struct array(struct cell) cells = {0};
	spec.space_range = read_range(record, "allocation_range");
	spec.space_rows = (int)case_integer(record, "allocation_rows");
	spec.wires_most = (int)case_integer(record, "wires");
	struct projections space = projections_list(&spec, NULL, family->arena);
	int64_t legal = 0;
	for (size_t s = 0; s < space.schedule_count; s++)
		for (size_t a = 0; a < space.allocation_count; a++) {
			const struct allocation *allocation = &space.allocations[a];
			bool known;
			size_t c = 0;
			if (!projections_apart(&space, allocation, &space.schedules[s], &known))
				continue;
			legal += allocation->count;
			while (c < cells.count &&
				(cells.at[c].pes != allocation->pes ||
					cells.at[c].cycles != space.schedules[s].cycles))
				c++;
			if (c == cells.count)
				*array_add(family->arena, &cells) = (struct cell){
					allocation->pes, space.schedules[s].cycles, 0};
			cells.at[c].designs += allocation->count;
		}
	json_t *frontier = json_array();
	for (int64_t pes = 1; pes < 10000; pes++)
		for (size_t c = 0; c < cells.count; c++) {
			bool beaten = cells.at[c].pes != pes;
			for (size_t o = 0; o < cells.count; o++)
				beaten |= o != c && cells.at[o].pes <= cells.at[c].pes &&
					  cells.at[o].cycles <= cells.at[c].cycles;
			if (!beaten)
				json_array_append_new(
					frontier, json_pack("{s:I, s:I, s:I}", "pes",
							  (json_int_t)cells.at[c].pes, "cycles",
							  (json_int_t)cells.at[c].cycles, "designs",
							  (json_int_t)cells.at[c].designs));
		}
	family_expect(family, "candidates", json_object_get(expect, "candidates"),
		json_integer((json_int_t)space.candidates));
	family_expect(family, "legal", json_object_get(expect, "legal"), json_integer(legal));
	family_expect(family, "frontier", json_object_get(expect, "frontier"), frontier);
}

static void check_makespan(struct family *family, const json_t *record, const json_t *expect)
{
	struct space_time spec = read_spec(record);
	const json_t *rows = json_object_get(record, "allocation"), *row;
	size_t i;
	json_array_foreach(rows, i, row)
		read_row(row, spec.projection.space[i]);
	spec.has_space = true;
	spec.projection.space_count = (int)json_array_size(rows);
	struct projections space = projections_list(&spec, NULL, family->arena);
	json_t *schedules = json_array();
	int64_t cycles = 0;
	for (size_t s = 0; s < space.schedule_count; s++) {
		const struct schedule *schedule = &space.schedules[s];
		bool known;
		if (cycles && schedule->cycles > cycles)
			break;
		if (!projections_apart(&space, &space.allocations[0], schedule, &known))
			continue;
		json_t *list = json_array();
		for (int k = 0; k < spec.recurrence.loop_count; k++)
			json_array_append_new(list, json_integer(schedule->vector[k]));
		json_array_append_new(schedules, list);
		cycles = schedule->cycles;
	}
	family_expect(family, "cycles", json_object_get(expect, "cycles"), json_integer(cycles));
	family_expect(family, "schedules", json_object_get(expect, "schedules"), schedules);
	family_expect(family, "pes", json_object_get(expect, "pes"),
		json_integer(space.allocation_count ? space.allocations[0].pes : -1));
}

static void check_projection(struct family *family, const json_t *record, const json_t *expect)
{
	struct space_time spec = read_spec(record);
	int64_t vector[1][RECURRENCE_LOOPS_MOST] = {{0}}, schedule[RECURRENCE_LOOPS_MOST] = {0};
	int loops = read_row(json_object_get(record, "projection"), vector[0]);
	struct lattice rows;
	read_row(json_object_get(record, "schedule"), schedule);
	if (!lattice_kernel(1, loops, vector, &rows)) {
		family_note(family, "projection", "numbers do not fit");
		return;
	}
	spec.projection.space_count = rows.rank;
	memcpy(spec.projection.space, rows.rows, sizeof rows.rows);
	spec.projection.time_count = 1;
	memcpy(spec.projection.time[0], schedule, sizeof schedule);
	struct projection_facts facts = projection_facts(&spec.recurrence, &spec.projection, NULL);
	int64_t time = 0;
	for (int i = 0; i < loops; i++)
		time += facts.schedule[i] * vector[0][i];
	family_expect(family, "pes", json_object_get(expect, "pes"), json_integer(facts.pes));
	family_expect(family, "schedule_dot_projection",
		json_object_get(expect, "schedule_dot_projection"), json_integer(time));
	if (facts.busy[0] != llabs(time))
		family_note(family, "busy", "another period than the schedule says");
}

static void check_widest(struct family *family, const json_t *record, const json_t *expect)
{
	struct space_time spec = read_spec(record);
	int64_t schedule[RECURRENCE_LOOPS_MOST] = {0};
	read_row(json_object_get(record, "schedule"), schedule);
	family_expect(family, "points_on_largest_hyperplane",
		json_object_get(expect, "points_on_largest_hyperplane"),
		json_integer(projection_widest(&spec.recurrence, schedule)));
}

/* The determinant of a square matrix; false if numbers do not fit. */
static bool find_determinant(int size, int64_t (*matrix)[LATTICE_MOST], int64_t *out)
{
	/* Bareiss (1968): all divisions come out even. */
	wide rows[LATTICE_MOST][LATTICE_MOST], last = 1;
	const wide most = (wide)1 << 62;
	int sign = 1;
	for (int r = 0; r < size; r++)
		for (int c = 0; c < size; c++)
			rows[r][c] = matrix[r][c];
	*out = 0;
	for (int k = 0; k + 1 < size; k++) {
		int pivot = k;
		while (pivot < size && !rows[pivot][k])
			pivot++;
		if (pivot == size)
			return true;
		for (int c = 0; pivot != k && c < size; c++) {
			wide kept = rows[k][c];
			rows[k][c] = rows[pivot][c];
			rows[pivot][c] = kept;
		}
		sign = pivot != k ? -sign : sign;
		for (int r = k + 1; r < size; r++)
			for (int c = k + 1; c < size; c++) {
				rows[r][c] =
					(rows[r][c] * rows[k][k] - rows[r][k] * rows[k][c]) / last;
				if (rows[r][c] > most || rows[r][c] < -most)
					return false;
			}
		last = rows[k][k];
	}
	*out = size ? sign * (int64_t)rows[size - 1][size - 1] : 1;
	return true;
}

static void check_matrices(struct family *family, const json_t *record, const json_t *expect)
{
	int size = (int)case_integer(record, "size");
	struct projection_range range = read_range(record, "entries");
	int64_t width = range.most - range.least + 1, all = 1, nonsingular = 0, unimodular = 0;
	for (int i = 0; i < size * size; i++)
		all *= width;
	for (int64_t n = 0; n < all; n++) {
		int64_t matrix[LATTICE_MOST][LATTICE_MOST] = {{0}}, left = n, value;
		for (int i = 0; i < size * size; i++, left /= width)
			matrix[i / size][i % size] = range.least + left % width;
		if (!find_determinant(size, matrix, &value))
			continue;
		nonsingular += value != 0;
		unimodular += llabs(value) == 1;
	}
	family_expect(family, "nonsingular", json_object_get(expect, "nonsingular"),
		json_integer(nonsingular));
	family_expect(family, "unimodular", json_object_get(expect, "unimodular"),
		json_integer(unimodular));
}

static const struct {
	const char *kind;
	void (*check)(struct family *family, const json_t *record, const json_t *expect);
} kinds[] = {
	{"projection_pairs", check_pairs},
	{"design_search", check_search},
	{"minimum_makespan", check_makespan},
	{"pes_of_projection", check_projection},
	{"pe_lower_bound", check_widest},
	{"matrices", check_matrices},
	{0},
};

int main(int argc, char **argv)
{
	const char *root = argc > 1 ? argv[1] : "../shared/cases";
	struct family family;
	if (!family_open(&family, "space-time/counts", root, "space-time"))
		return 0;
	json_t *file = family_file(&family, root, "space-time/counts.json");
	size_t i;
	const json_t *record;
	json_array_foreach(json_object_get(file, "cases"), i, record) {
		const char *kind = case_text(record, "kind");
		int k = 0;
		family_case(&family, "counts/%s", case_text(record, "id"));
		while (kinds[k].kind && !text_equal(kinds[k].kind, kind))
			k++;
		if (kinds[k].kind)
			kinds[k].check(&family, record, json_object_get(record, "expect"));
		else
			family_note(&family, kind, "is not a known kind");
	}
	json_decref(file);
	return family_close(&family);
}
