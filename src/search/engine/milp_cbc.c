#include "search/engine/milp_program.h"

#include <math.h>

#ifndef HAVE_CBC

bool milp_has_cbc(void)
{
	return false;
}

struct milp_answer milp_solve_cbc(
	const struct milp *milp, const struct milp_wishes *wishes, struct arena *arena)
{
	return (struct milp_answer){.status = PROOF_NONE,
		.bound = -INFINITY,
		.fault = "this lxplore was built without CBC"};
}

#else

#include "base/number.h"

#include <Cbc_C_Interface.h>
#include <float.h>
#include <pthread.h>
#include <signal.h>

/*
 * CBC's C interface cannot end a search before its node limit, and cannot go on after: it is
 * solved anew with more nodes, as many times more as keeps the whole near the last.  Time limits
 * are never set; one thread.
 */
enum { FIRST_NODES = 200, MORE_NODES = 4, NODES_MOST = 1 << 30 };

struct asking {
	const struct milp *milp;
	const struct milp_wishes *wishes;
	struct arena *arena;
	struct milp_answer answer;
	double *values;
	int rows; /* that CBC has */
	bool has_point;
};

bool milp_has_cbc(void)
{
	return true;
}

/* Of columns. */
static bool bounds_cross(const struct milp *milp)
{
	for (size_t c = 0; c < milp->columns.count; c++)
		if (milp->columns.at[c].least > milp->columns.at[c].most)
			return true;
	return false;
}

/* False if an empty row cannot hold. */
static bool load_row(struct asking *asking, Cbc_Model *model, size_t r, struct milp_packed *packed)
{
	const struct row *row = &asking->milp->rows.at[r];
	int count = milp_pack(asking->milp, r, packed);
	if (!count)
		return row->least <= MILP_ROW_TOLERANCE && row->most >= -MILP_ROW_TOLERANCE;
	for (int k = 1; k <= count; k++)
		packed->columns[k]--;
	Cbc_addRow(model, "", count, packed->columns + 1, packed->coefficients + 1, 'L', 0);
	Cbc_setRowLower(model, asking->rows, isinf(row->least) ? -DBL_MAX : row->least);
	Cbc_setRowUpper(model, asking->rows, isinf(row->most) ? DBL_MAX : row->most);
	asking->rows++;
	return true;
}

static bool load(struct asking *asking, Cbc_Model *model)
{
	const struct milp *milp = asking->milp;
	struct milp_packed packed = milp_packed_make(milp, asking->arena);
	bool holds = true;
	asking->rows = 0;
	for (size_t c = 0; c < milp->columns.count; c++) {
		const struct column *column = &milp->columns.at[c];
		Cbc_addCol(model, "", isinf(column->least) ? -DBL_MAX : column->least,
			isinf(column->most) ? DBL_MAX : column->most, column->cost, column->integer,
			0, NULL, NULL);
	}
	for (size_t r = 0; r < milp->rows.count && holds; r++)
		holds = load_row(asking, model, r, &packed);
	return holds;
}

/* What is known, or the best point so far, whichever costs less. */
static void start_from(struct asking *asking, Cbc_Model *model)
{
	const struct milp_wishes *wishes = asking->wishes;
	const double *known = wishes->known ? wishes->known(wishes->user) : NULL;
	double cost = 0;
	for (size_t c = 0; c < asking->milp->columns.count && known; c++)
		cost += asking->milp->columns.at[c].cost * known[c];
	if (asking->has_point && (!known || asking->answer.value < cost))
		known = asking->values;
	if (!known)
		return;
	int count = (int)asking->milp->columns.count;
	int *columns = arena_array(asking->arena, int, count);
	for (int c = 0; c < count; c++)
		columns[c] = c;
	Cbc_setMIPStartI(model, count, columns, known);
}

static void take_point(struct asking *asking, Cbc_Model *model)
{
	const double *values = Cbc_bestSolution(model); /* none without integers */
	const struct milp_wishes *wishes = asking->wishes;
	double cost = 0;
	if (!values && Cbc_isProvenOptimal(model))
		values = Cbc_getColSolution(model);
	if (!values)
		return;
	for (size_t c = 0; c < asking->milp->columns.count; c++) {
		const struct column *column = &asking->milp->columns.at[c];
		cost += column->cost * (column->integer ? round(values[c]) : values[c]);
	}
	if (asking->has_point && cost >= asking->answer.value)
		return;
	asking->has_point = true;
	asking->answer.value = cost;
	for (size_t c = 0; c < asking->milp->columns.count; c++)
		asking->values[c] =
			asking->milp->columns.at[c].integer ? round(values[c]) : values[c];
	asking->answer.values = asking->values;
	if (wishes->found)
		wishes->found(wishes->user, asking->values);
}

/* CBC has state of the process's. */
static pthread_mutex_t alone = PTHREAD_MUTEX_INITIALIZER;

/* It takes interrupts for itself while it solves; they are the process's. */
static void solve(Cbc_Model *model)
{
	struct sigaction before;
	pthread_mutex_lock(&alone);
	sigaction(SIGINT, NULL, &before);
	Cbc_solve(model);
	sigaction(SIGINT, &before, NULL);
	pthread_mutex_unlock(&alone);
	if (Cbc_status(model) == 5)
		raise(SIGINT);
}

static void take_answer(struct asking *asking, Cbc_Model *model)
{
	struct milp_answer *answer = &asking->answer;
	bool optimal = Cbc_isProvenOptimal(model);
	answer->status = asking->has_point ? PROOF_BOUND : PROOF_BUDGET;
	if (optimal && asking->has_point) {
		answer->status = PROOF_OPTIMAL;
		answer->bound = fmax(
			answer->bound, fmin(Cbc_getBestPossibleObjValue(model), answer->value));
	} else if (Cbc_isProvenInfeasible(model) && !asking->has_point) {
		answer->status = PROOF_INFEASIBLE;
	} else if (Cbc_isAbandoned(model) || Cbc_isContinuousUnbounded(model)) {
		answer->status = PROOF_NONE;
		answer->fault =
			"CBC finds the linear relaxation unbounded, or is numerically stuck";
	} else if (Cbc_getBestPossibleObjValue(model) > -1e49) {
		answer->bound = fmax(answer->bound, Cbc_getBestPossibleObjValue(model));
	}
}

/* One solve of so many nodes; true when it was to the end. */
static bool ask(struct asking *asking, int nodes)
{
	Cbc_Model *model = Cbc_newModel();
	Cbc_setLogLevel(model, 0);
	bool ended = !load(asking, model);
	if (ended) {
		asking->answer.status = PROOF_INFEASIBLE;
	} else {
		start_from(asking, model);
		/* Preprocessed, some programs lose their optimum (CBC 2.10). */
		Cbc_setParameter(model, "preprocess", "off");
		Cbc_setMaximumNodes(model, nodes);
		Cbc_setAllowableGap(model, 0);
		Cbc_setAllowableFractionGap(model, asking->wishes->gap);
		solve(model);
		asking->answer.iterations += (uint64_t)number_max(Cbc_getIterationCount(model), 0);
		asking->answer.nodes += (uint64_t)number_max(Cbc_getNodeCount(model), 0);
		take_point(asking, model);
		take_answer(asking, model);
		ended = asking->answer.status != PROOF_BOUND &&
			asking->answer.status != PROOF_BUDGET;
	}
	Cbc_deleteModel(model);
	return ended;
}

struct milp_answer milp_solve_cbc(
	const struct milp *milp, const struct milp_wishes *wishes, struct arena *arena)
{
	struct asking asking = {.milp = milp,
		.wishes = wishes,
		.arena = arena,
		.answer = {.status = PROOF_BUDGET, .bound = -INFINITY},
		.values = arena_array(arena, double, milp->columns.count)};
	if (bounds_cross(milp)) {
		asking.answer.status = PROOF_NONE;
		asking.answer.fault = "the bounds of a column cross";
		return asking.answer;
	}
	uint64_t before = 0;
	int64_t nodes = FIRST_NODES;
	while (!wishes->go_on ||
		wishes->go_on(wishes->user, asking.answer.iterations - before, asking.rows)) {
		before = asking.answer.iterations;
		if (ask(&asking, (int)nodes) || nodes == NODES_MOST)
			break;
		nodes = number_min(nodes * MORE_NODES, NODES_MOST);
	}
	return asking.answer;
}

#endif
