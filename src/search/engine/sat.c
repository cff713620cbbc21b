#include "search/engine/sat.h"

#include "base/array.h"

#include <string.h>

enum { NO_REASON = -1 };

/* Literals stand in one array; a clause is where it begins and how long it is. */
struct clause {
	size_t first, count;
};

struct watchers array(int);

struct sat {
	struct arena *arena;
	struct array(int) literals;
	struct array(struct clause) clauses;
	struct array(struct watchers) watchers; /* by literal: clauses that watch it */
	struct array(signed char) values;       /* by variable: 1, -1, 0 not set */
	struct array(signed char) phases;       /* the value it had last */
	struct array(int) levels, reasons;      /* by variable */
	struct array(double) activity;
	struct array(bool) seen;
	struct array(int) heap, places; /* variables by activity; places: -1, not in it */
	struct array(int) open;         /* of the clause that is added */
	struct array(int) trail, marks; /* literals in the order set; where levels begin */
	size_t head;                    /* of the trail, up to which all is passed on */
	double bump;
	bool broken;
};

struct sat *sat_make(struct arena *arena)
{
	struct sat *sat = arena_new(arena, struct sat);
	sat->arena = arena;
	sat->bump = 1;
	return sat;
}

static bool above(const struct sat *sat, int a, int b)
{
	double x = sat->activity.at[a], y = sat->activity.at[b];
	return x > y || (x == y && a < b);
}

static void put(struct sat *sat, size_t place, int variable)
{
	sat->heap.at[place] = variable;
	sat->places.at[variable] = (int)place;
}

static void rise(struct sat *sat, size_t at)
{
	int variable = sat->heap.at[at];
	for (; at > 0 && above(sat, variable, sat->heap.at[(at - 1) / 2]); at = (at - 1) / 2)
		put(sat, at, sat->heap.at[(at - 1) / 2]);
	put(sat, at, variable);
}

static void sink(struct sat *sat, size_t at)
{
	int variable = sat->heap.at[at];
	for (;;) {
		size_t child = 2 * at + 1;
		if (child >= sat->heap.count)
			break;
		if (child + 1 < sat->heap.count &&
			above(sat, sat->heap.at[child + 1], sat->heap.at[child]))
			child++;
		if (!above(sat, sat->heap.at[child], variable))
			break;
		put(sat, at, sat->heap.at[child]);
		at = child;
	}
	put(sat, at, variable);
}

static void add_to_heap(struct sat *sat, int variable)
{
	if (sat->places.at[variable] >= 0)
		return;
	*array_add(sat->arena, &sat->heap) = variable;
	put(sat, sat->heap.count - 1, variable);
	rise(sat, sat->heap.count - 1);
}

static int take_top(struct sat *sat)
{
	int top = sat->heap.at[0], last = sat->heap.at[--sat->heap.count];
	sat->places.at[top] = -1;
	if (sat->heap.count) {
		put(sat, 0, last);
		sink(sat, 0);
	}
	return top;
}

int sat_variable(struct sat *sat)
{
	int variable = (int)sat->values.count;
	*array_add(sat->arena, &sat->values) = 0;
	*array_add(sat->arena, &sat->phases) = -1;
	*array_add(sat->arena, &sat->levels) = 0;
	*array_add(sat->arena, &sat->reasons) = NO_REASON;
	*array_add(sat->arena, &sat->activity) = 0;
	*array_add(sat->arena, &sat->seen) = false;
	*array_add(sat->arena, &sat->places) = -1;
	array_add(sat->arena, &sat->watchers);
	array_add(sat->arena, &sat->watchers);
	add_to_heap(sat, variable);
	return 2 * variable;
}

static int value(const struct sat *sat, int literal)
{
	int of_variable = sat->values.at[literal / 2];
	return literal & 1 ? -of_variable : of_variable;
}

static void set(struct sat *sat, int literal, int reason)
{
	int variable = literal / 2;
	sat->values.at[variable] = literal & 1 ? -1 : 1;
	sat->levels.at[variable] = (int)sat->marks.count;
	sat->reasons.at[variable] = reason;
	*array_add(sat->arena, &sat->trail) = literal;
}

static void watch(struct sat *sat, int literal, int clause)
{
	*array_add(sat->arena, &sat->watchers.at[literal]) = clause;
}

/* The first two literals are watched. */
static int keep(struct sat *sat, const int *literals, size_t count)
{
	int number = (int)sat->clauses.count;
	*array_add(sat->arena, &sat->clauses) = (struct clause){sat->literals.count, count};
	for (size_t i = 0; i < count; i++)
		*array_add(sat->arena, &sat->literals) = literals[i];
	watch(sat, literals[0], number);
	watch(sat, literals[1], number);
	return number;
}

void sat_clause(struct sat *sat, const int *literals, size_t count)
{
	sat->open.count = 0;
	for (size_t i = 0; i < count; i++) {
		if (value(sat, literals[i]) > 0)
			return;
		if (value(sat, literals[i]) == 0)
			*array_add(sat->arena, &sat->open) = literals[i];
	}
	size_t left = sat->open.count;
	if (left == 0)
		sat->broken = true;
	else if (left == 1)
		set(sat, sat->open.at[0], NO_REASON);
	else
		keep(sat, sat->open.at, left);
}

/* Each further literal excludes all before it through a chain of "one so far". */
void sat_at_most_one(struct sat *sat, const int *literals, size_t count)
{
	if (count <= 5) {
		for (size_t i = 0; i < count; i++)
			for (size_t j = i + 1; j < count; j++)
				sat_clause(sat, (int[]){sat_not(literals[i]), sat_not(literals[j])},
					2);
		return;
	}
	int before = literals[0];
	for (size_t i = 1; i < count; i++) {
		sat_clause(sat, (int[]){sat_not(before), sat_not(literals[i])}, 2);
		if (i + 1 == count)
			return;
		int some = sat_variable(sat);
		sat_clause(sat, (int[]){sat_not(before), some}, 2);
		sat_clause(sat, (int[]){sat_not(literals[i]), some}, 2);
		before = some;
	}
}

/* Looks for another literal to watch; true if there is one. */
static bool rewatch(struct sat *sat, int number, int *literals, size_t count)
{
	for (size_t i = 2; i < count; i++)
		if (value(sat, literals[i]) >= 0) {
			int other = literals[i];
			literals[i] = literals[1];
			literals[1] = other;
			watch(sat, other, number);
			return true;
		}
	return false;
}

/* Passes on all that was set; the number of a clause that is broken, or -1. */
static int propagate(struct sat *sat)
{
	while (sat->head < sat->trail.count) {
		int gone = sat_not(sat->trail.at[sat->head++]);
		struct watchers *watchers = &sat->watchers.at[gone];
		size_t kept = 0;
		for (size_t i = 0; i < watchers->count; i++) {
			int number = watchers->at[i];
			struct clause *clause = &sat->clauses.at[number];
			int *literals = &sat->literals.at[clause->first];
			if (literals[0] == gone) {
				literals[0] = literals[1];
				literals[1] = gone;
			}
			if (value(sat, literals[0]) <= 0 &&
				rewatch(sat, number, literals, clause->count)) {
				watchers = &sat->watchers.at[gone];
				continue;
			}
			watchers->at[kept++] = number;
			if (value(sat, literals[0]) > 0)
				continue;
			if (value(sat, literals[0]) < 0) {
				while (++i < watchers->count)
					watchers->at[kept++] = watchers->at[i];
				watchers->count = kept;
				return number;
			}
			set(sat, literals[0], number);
		}
		watchers->count = kept;
	}
	return -1;
}

static void undo(struct sat *sat, size_t level)
{
	if (sat->marks.count <= level)
		return;
	size_t from = (size_t)sat->marks.at[level];
	for (size_t i = sat->trail.count; i-- > from;) {
		int variable = sat->trail.at[i] / 2;
		sat->phases.at[variable] = sat->values.at[variable];
		sat->values.at[variable] = 0;
		add_to_heap(sat, variable);
	}
	sat->trail.count = sat->head = from;
	sat->marks.count = level;
}

static void stir(struct sat *sat, int variable)
{
	sat->activity.at[variable] += sat->bump;
	if (sat->activity.at[variable] > 1e100) {
		for (size_t v = 0; v < sat->activity.count; v++)
			sat->activity.at[v] *= 1e-100;
		sat->bump *= 1e-100;
	}
	if (sat->places.at[variable] >= 0)
		rise(sat, (size_t)sat->places.at[variable]);
}

/* The clause that the conflict teaches, its one literal of this level first. */
struct lesson array(int);

static size_t learn(struct sat *sat, int number, struct lesson *lesson)
{
	int open = 0, literal = -1;
	size_t at = sat->trail.count, level = 0;
	lesson->count = 0;
	*array_add(sat->arena, lesson) = 0;
	do {
		const struct clause *clause = &sat->clauses.at[number];
		for (size_t i = 0; i < clause->count; i++) {
			int other = sat->literals.at[clause->first + i], variable = other / 2;
			if (other == literal || sat->seen.at[variable] ||
				sat->levels.at[variable] == 0)
				continue;
			sat->seen.at[variable] = true;
			stir(sat, variable);
			if (sat->levels.at[variable] == (int)sat->marks.count)
				open++;
			else
				*array_add(sat->arena, lesson) = other;
		}
		while (!sat->seen.at[sat->trail.at[--at] / 2])
			;
		literal = sat->trail.at[at];
		number = sat->reasons.at[literal / 2];
		sat->seen.at[literal / 2] = false;
	} while (--open > 0);
	lesson->at[0] = sat_not(literal);
	for (size_t i = 1; i < lesson->count; i++) {
		int variable = lesson->at[i] / 2;
		sat->seen.at[variable] = false;
		if ((size_t)sat->levels.at[variable] > level) {
			int first = lesson->at[1];
			lesson->at[1] = lesson->at[i];
			lesson->at[i] = first;
			level = (size_t)sat->levels.at[variable];
		}
	}
	return level;
}

/* Luby's sequence: 1 1 2 1 1 2 4 .. */
static uint64_t luby(uint64_t i)
{
	uint64_t k = 1;
	while ((UINT64_C(1) << k) - 1 < i + 1)
		k++;
	while ((UINT64_C(1) << k) - 1 != i + 1) {
		i -= (UINT64_C(1) << (k - 1)) - 1;
		for (k = 1; (UINT64_C(1) << k) - 1 < i + 1;)
			k++;
	}
	return UINT64_C(1) << (k - 1);
}

/* False when nothing is left to set. */
static bool decide(struct sat *sat)
{
	while (sat->heap.count) {
		int variable = take_top(sat);
		if (sat->values.at[variable])
			continue;
		*array_add(sat->arena, &sat->marks) = (int)sat->trail.count;
		set(sat, 2 * variable + (sat->phases.at[variable] < 0), NO_REASON);
		return true;
	}
	return false;
}

enum verdict sat_solve(struct sat *sat, bool (*go_on)(void *user, uint64_t ticks), void *user)
{
	enum { RESTART_CONFLICTS = 100 };
	struct lesson lesson = {0};
	uint64_t restarts = 0, left = RESTART_CONFLICTS;
	while (!sat->broken) {
		int number = propagate(sat);
		if (number < 0) {
			if (left == 0) {
				left = RESTART_CONFLICTS * luby(++restarts);
				undo(sat, 0);
			}
			if (!decide(sat))
				return VERDICT_YES;
			continue;
		}
		if (!sat->marks.count)
			break;
		size_t level = learn(sat, number, &lesson);
		left -= left > 0;
		sat->bump *= 1.05;
		undo(sat, level);
		int reason = lesson.count > 1 ? keep(sat, lesson.at, lesson.count) : NO_REASON;
		set(sat, lesson.at[0], reason);
		if (go_on && !go_on(user, lesson.count))
			return VERDICT_OPEN;
	}
	return VERDICT_NO;
}

bool sat_value(const struct sat *sat, int literal)
{
	return value(sat, literal) > 0;
}
