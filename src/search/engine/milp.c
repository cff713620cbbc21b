#include "search/engine/milp.h"

#include "base/fatal.h"
#include "base/text.h"

#include <glpk.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>

/* Entries of one row, from 1 as GLPK wants them; those of one column added up. */
struct milp_packed {
	int *columns;
	double *coefficients;
	int *place; /* by column: where in the row; 0: not there */
};

/* Terms in a line: readers of the format have limits of a few hundred characters. */
enum { TERMS_IN_A_LINE = 6 };

static const char *milp_column_name(const struct milp *milp, int c, char *room, size_t size)
{
	if (milp->columns.at[c].name)
		return milp->columns.at[c].name;
	snprintf(room, size, "c%d", c);
	return room;
}

static void write_term(
	struct text *text, const struct milp *milp, size_t i, int column, double factor)
{
	char room[16];
	if (i && i % TERMS_IN_A_LINE == 0)
		text_add(text, "\n  ");
	text_add(text, " %s %.17g %s", factor < 0 ? "-" : "+", fabs(factor),
		milp_column_name(milp, column, room, sizeof room));
}

static void write_goal(struct text *text, const struct milp *milp)
{
	size_t count = 0;
	text_add(text, "Minimize\n goal:");
	for (size_t c = 0; c < milp->columns.count; c++)
		if (milp->columns.at[c].cost != 0)
			write_term(text, milp, count++, (int)c, milp->columns.at[c].cost);
	if (!count && milp->columns.count)
		write_term(text, milp, 0, 0, 0);
	text_add(text, "\n");
}

static void write_row(struct text *text, const struct milp *milp, size_t r, const char *relation,
	double value, const struct milp_packed *packed, int count)
{
	text_add(text, " r%zu%s:", r, relation[0] == '>' ? "_" : "");
	for (int k = 1; k <= count; k++)
		write_term(
			text, milp, (size_t)k - 1, packed->columns[k] - 1, packed->coefficients[k]);
	text_add(text, " %s %.17g\n", relation, value);
}

/* how many */
static int milp_pack(const struct milp *milp, size_t r, struct milp_packed *packed)
{
	size_t end = r + 1 < milp->rows.count ? milp->rows.at[r + 1].first : milp->entries.count;
	int count = 0;
	for (size_t k = milp->rows.at[r].first; k < end; k++) {
		const struct milp_entry *entry = &milp->entries.at[k];
		int *place = &packed->place[entry->column];
		if (!*place) {
			*place = ++count;
			packed->columns[count] = entry->column + 1;
			packed->coefficients[count] = 0;
		}
		packed->coefficients[*place] += entry->coefficient;
	}
	for (int k = 1; k <= count; k++)
		packed->place[packed->columns[k] - 1] = 0;
	return count;
}

static void write_rows(struct text *text, const struct milp *milp, struct milp_packed *packed)
{
	text_add(text, "Subject To\n");
	for (size_t r = 0; r < milp->rows.count; r++) {
		const struct milp_row *row = &milp->rows.at[r];
		int count = milp_pack(milp, r, packed);
		if (!count) {
			packed->columns[1] = 1;
			packed->coefficients[1] = 0;
			count = 1;
		}
		if (row->least == row->most) {
			write_row(text, milp, r, "=", row->most, packed, count);
			continue;
		}
		if (!isinf(row->most))
			write_row(text, milp, r, "<=", row->most, packed, count);
		if (!isinf(row->least))
			write_row(text, milp, r, ">=", row->least, packed, count);
	}
}

static void write_bounds(struct text *text, const struct milp *milp)
{
	char room[16];
	text_add(text, "Bounds\n");
	for (size_t c = 0; c < milp->columns.count; c++) {
		const struct milp_column *column = &milp->columns.at[c];
		const char *name = milp_column_name(milp, (int)c, room, sizeof room);
		if (column->least == column->most)
			text_add(text, " %s = %.17g\n", name, column->least);
		else if (isinf(column->least) && isinf(column->most))
			text_add(text, " %s free\n", name);
		else if (isinf(column->most))
			text_add(text, " %s >= %.17g\n", name, column->least);
		else if (isinf(column->least))
			text_add(text, " -inf <= %s <= %.17g\n", name, column->most);
		else
			text_add(
				text, " %.17g <= %s <= %.17g\n", column->least, name, column->most);
	}
}

static struct milp_packed milp_open_packed(const struct milp *milp, struct arena *arena)
{
	size_t count = milp->columns.count + 1;
	return (struct milp_packed){arena_array(arena, int, count),
		arena_array(arena, double, count), arena_array(arena, int, count)};
}

const char *milp_text(const struct milp *milp, const char *comment, struct arena *arena)
{
	struct text text = text_open(arena);
	struct milp_packed packed = milp_open_packed(milp, arena);
	char room[16];
	text_add(&text, "%s", comment);
	write_goal(&text, milp);
	write_rows(&text, milp, &packed);
	write_bounds(&text, milp);
	text_add(&text, "General\n");
	for (size_t c = 0; c < milp->columns.count; c++)
		if (milp->columns.at[c].integer)
			text_add(&text, " %s\n", milp_column_name(milp, (int)c, room, sizeof room));
	text_add(&text, "End\n");
	return text_read(&text);
}

/* Megabytes that GLPK gets, and simplex iterations between two questions. */
enum { MEGABYTES = 1024, ITERATIONS_AT_ONCE = 200 };

/* Relative tolerance of the bounds of a row without columns. */
#define ROW_TOLERANCE 1e-7

struct milp *milp_make(struct arena *arena)
{
	struct milp *milp = arena_new(arena, struct milp);
	milp->arena = arena;
	return milp;
}

int milp_column(struct milp *milp, double least, double most, bool integer, double cost)
{
	*array_add(milp->arena, &milp->columns) =
		(struct milp_column){least, most, cost, integer, NULL};
	return (int)milp->columns.count - 1;
}

int milp_row(struct milp *milp, double least, double most)
{
	*array_add(milp->arena, &milp->rows) = (struct milp_row){least, most, milp->entries.count};
	return (int)milp->rows.count - 1;
}

void milp_entry(struct milp *milp, int column, double coefficient)
{
	if (!milp->rows.count || column < 0 || (size_t)column >= milp->columns.count)
		BUG("no such row or column");
	*array_add(milp->arena, &milp->entries) = (struct milp_entry){column, coefficient};
}

void milp_name(struct milp *milp, int column, const char *name)
{
	milp->columns.at[column].name = name;
}

void milp_cost(struct milp *milp, int column, double cost)
{
	milp->columns.at[column].cost += cost;
}

void milp_fix(struct milp *milp, int column, double value)
{
	milp->columns.at[column].least = milp->columns.at[column].most = value;
}

struct milp_size milp_size(const struct milp *milp)
{
	struct arena_mark mark = arena_mark(milp->arena);
	struct milp_packed packed = milp_open_packed(milp, milp->arena);
	struct milp_size size = {
		.rows = (int)milp->rows.count, .columns = (int)milp->columns.count};
	for (size_t c = 0; c < milp->columns.count; c++)
		size.integers += milp->columns.at[c].integer;
	for (size_t r = 0; r < milp->rows.count; r++)
		size.entries += (size_t)milp_pack(milp, r, &packed);
	arena_release(milp->arena, mark);
	return size;
}

double milp_margin(double mass, double value)
{
	return 2e-7 * (1 + mass + fabs(value));
}

/* --- GLPK */

/* One call of milp_solve. */
struct solving {
	const struct milp *milp;
	const struct milp_wishes *wishes;
	struct arena *arena;
	glp_prob *problem;
	double *values;
	int *number;       /* GLPK's of each column, from 1; 0: none */
	double best;       /* of the points found */
	uint64_t asked_at; /* iterations */
	int rows;          /* that GLPK has */
	bool point, ended; /* some point is known; go_on said no */
	struct milp_answer answer;
	struct array(char) said;
	jmp_buf failed;
};

static bool milp_goes_on(struct solving *solving, uint64_t count)
{
	const struct milp_wishes *wishes = solving->wishes;
	if (!solving->ended && wishes->go_on)
		solving->ended =
			!wishes->go_on(wishes->user, count - solving->asked_at, solving->rows);
	solving->asked_at = count;
	return !solving->ended;
}

/* GLPK prints through this, complaints before an error as well, and MiniSat what it did up to a restart. */
static int milp_collect_output(void *user, const char *text)
{
	struct solving *solving = user;
	uint64_t conflicts;
	if (solving->wishes->clauses && sscanf(text, "| %" SCNu64 " |", &conflicts) == 1 &&
		!milp_goes_on(solving, conflicts))
		longjmp(solving->failed, 1);
	for (; *text && solving->said.count < 400; text++)
		*array_add(solving->arena, &solving->said) = *text == '\n' ? ' ' : *text;
	return 1;
}

static void milp_fail(void *user)
{
	struct solving *solving = user;
	longjmp(solving->failed, 1);
}

static int milp_kind(double least, double most)
{
	if (least == most)
		return GLP_FX;
	if (isinf(least))
		return isinf(most) ? GLP_FR : GLP_UP;
	return isinf(most) ? GLP_LO : GLP_DB;
}

/* Columns of one value are not GLPK's: it gets a number for each other. */
static void load_columns(struct solving *solving)
{
	const struct milp *milp = solving->milp;
	glp_prob *problem = solving->problem;
	double constant = 0;
	int count = 0;
	for (size_t c = 0; c < milp->columns.count; c++) {
		const struct milp_column *column = &milp->columns.at[c];
		if (column->least == column->most)
			constant += column->cost * column->least;
		else
			solving->number[c] = ++count;
	}
	if (count)
		glp_add_cols(problem, count);
	glp_set_obj_coef(problem, 0, constant);
	for (size_t c = 0; c < milp->columns.count; c++) {
		const struct milp_column *column = &milp->columns.at[c];
		int number = solving->number[c];
		if (!number)
			continue;
		glp_set_col_bnds(problem, number, milp_kind(column->least, column->most),
			column->least, column->most);
		glp_set_obj_coef(problem, number, column->cost);
		if (column->integer)
			glp_set_col_kind(problem, number, GLP_IV);
	}
}

/* False if a row without such columns does not hold. */
static bool load_row(struct solving *solving, size_t r, struct milp_packed *packed)
{
	const struct milp_row *row = &solving->milp->rows.at[r];
	int count = milp_pack(solving->milp, r, packed), kept = 0;
	double constant = 0, size = 1;
	for (int k = 1; k <= count; k++) {
		int c = packed->columns[k] - 1;
		double coefficient = packed->coefficients[k];
		if (solving->number[c]) {
			packed->columns[++kept] = solving->number[c];
			packed->coefficients[kept] = coefficient;
			continue;
		}
		constant += coefficient * solving->milp->columns.at[c].least;
		size = fmax(size, fabs(coefficient * solving->milp->columns.at[c].least));
	}
	double least = row->least - constant, most = row->most - constant;
	if (!kept)
		return least <= ROW_TOLERANCE * size && most >= -ROW_TOLERANCE * size;
	int number = glp_add_rows(solving->problem, 1);
	solving->rows = number;
	glp_set_row_bnds(solving->problem, number, milp_kind(least, most), least, most);
	glp_set_mat_row(solving->problem, number, kept, packed->columns, packed->coefficients);
	return true;
}

/* False if some row cannot hold. */
static bool milp_load(struct solving *solving)
{
	const struct milp *milp = solving->milp;
	struct milp_packed packed = milp_open_packed(milp, solving->arena);
	bool holds = true;
	solving->problem = glp_create_prob();
	solving->number = arena_array(solving->arena, int, milp->columns.count);
	load_columns(solving);
	for (size_t r = 0; r < milp->rows.count && holds; r++)
		holds = load_row(solving, r, &packed);
	if (!holds)
		solving->answer.status = PROOF_INFEASIBLE;
	return holds;
}

static void milp_read_values(struct solving *solving)
{
	for (size_t c = 0; c < solving->milp->columns.count; c++)
		solving->values[c] = solving->number[c]
					     ? glp_mip_col_val(solving->problem, solving->number[c])
					     : solving->milp->columns.at[c].least;
}

static uint64_t iterations_of(glp_prob *problem)
{
	return (uint64_t)glp_get_it_cnt(problem);
}

/* The linear relaxation; false when the answer is known without a search. */
static bool milp_relax(struct solving *solving)
{
	glp_smcp options;
	glp_init_smcp(&options);
	options.msg_lev = GLP_MSG_ERR;
	options.meth = GLP_DUALP;
	options.it_lim = ITERATIONS_AT_ONCE;
	glp_adv_basis(solving->problem, 0);
	int end = GLP_EITLIM;
	while (end == GLP_EITLIM) {
		end = glp_simplex(solving->problem, &options);
		if (!milp_goes_on(solving, iterations_of(solving->problem))) {
			solving->answer.status = PROOF_BUDGET;
			return false;
		}
	}
	int status = glp_get_status(solving->problem);
	if (end == 0 && status == GLP_OPT) {
		solving->answer.bound = glp_get_obj_val(solving->problem);
		return true;
	}
	solving->answer.status = end == 0 && status == GLP_NOFEAS ? PROOF_INFEASIBLE : PROOF_NONE;
	if (solving->answer.status == PROOF_NONE)
		milp_collect_output(solving, "the linear relaxation has no optimum");
	return false;
}

static void milp_look(glp_tree *tree, void *user)
{
	struct solving *solving = user;
	if (glp_ios_reason(tree) == GLP_ISELECT) {
		int node = glp_ios_best_node(tree);
		if (node)
			solving->answer.bound =
				fmax(solving->answer.bound, glp_ios_node_bound(tree, node));
	}
	double value = glp_mip_obj_val(solving->problem);
	bool point = glp_mip_status(solving->problem) == GLP_FEAS;
	if (point && (!solving->point || value < solving->best)) {
		solving->point = true;
		solving->best = value;
		milp_read_values(solving);
		if (solving->wishes->found)
			solving->wishes->found(solving->wishes->user, solving->values);
	}
	if (!milp_goes_on(solving, iterations_of(glp_ios_get_prob(tree))))
		glp_ios_terminate(tree);
	int total;
	glp_ios_tree_size(tree, NULL, NULL, &total);
	solving->answer.nodes = (uint64_t)total;
}

static void milp_search(struct solving *solving)
{
	struct milp_answer *answer = &solving->answer;
	glp_iocp options;
	glp_init_iocp(&options);
	options.msg_lev = GLP_MSG_ERR;
	options.mip_gap = solving->wishes->gap;
	options.cov_cuts = solving->wishes->covers ? GLP_ON : GLP_OFF;
	if (solving->wishes->covers)
		options.br_tech = GLP_BR_PCH;
	options.cb_func = milp_look;
	options.cb_info = solving;
	int end = glp_intopt(solving->problem, &options);
	int status = glp_mip_status(solving->problem);
	bool point = status == GLP_OPT || status == GLP_FEAS;
	if (end == 0 && status == GLP_NOFEAS) {
		answer->status = PROOF_INFEASIBLE;
	} else if ((end == 0 && status == GLP_OPT) || (end == GLP_EMIPGAP && point)) {
		answer->status = PROOF_OPTIMAL;
	} else if (end == GLP_ESTOP) {
		answer->status = point ? PROOF_BOUND : PROOF_BUDGET;
	} else {
		answer->status = PROOF_NONE;
		milp_collect_output(solving, "a node of the search could not be solved");
	}
	if (!point)
		return;
	answer->value = glp_mip_obj_val(solving->problem);
	milp_read_values(solving);
	answer->values = solving->values;
	if (end == 0 && status == GLP_OPT)
		answer->bound = answer->value;
}

static void meet_clauses(struct solving *solving)
{
	struct milp_answer *answer = &solving->answer;
	int end = glp_intfeas1(solving->problem, 0, 0), status = glp_mip_status(solving->problem);
	answer->status = PROOF_NONE;
	if (end == 0 && status == GLP_NOFEAS)
		answer->status = PROOF_INFEASIBLE;
	if (end != 0 || (status != GLP_OPT && status != GLP_FEAS))
		return;
	answer->status = PROOF_OPTIMAL;
	milp_read_values(solving);
	answer->values = solving->values;
}

/* Every column has one value. */
static void milp_is_known(struct solving *solving)
{
	struct milp_answer *answer = &solving->answer;
	answer->status = PROOF_OPTIMAL;
	answer->value = answer->bound = glp_get_obj_coef(solving->problem, 0);
	milp_read_values(solving);
	answer->values = solving->values;
}

static void milp_solve_all(struct solving *solving)
{
	int megabytes = solving->wishes->megabytes;
	glp_mem_limit(megabytes ? megabytes : MEGABYTES);
	if (milp_load(solving)) {
		if (!glp_get_num_cols(solving->problem))
			milp_is_known(solving);
		else if (solving->wishes->clauses)
			meet_clauses(solving);
		else if (milp_relax(solving))
			milp_search(solving);
	}
	solving->answer.iterations = solving->asked_at;
	glp_delete_prob(solving->problem);
}

/* GLPK built without thread-local storage has one environment for all threads. */
static pthread_mutex_t alone = PTHREAD_MUTEX_INITIALIZER;

struct milp_answer milp_solve(
	const struct milp *milp, const struct milp_wishes *wishes, struct arena *arena)
{
	struct solving *solving = arena_new(arena, struct solving);
	bool shared = !glp_config("TLS");
	solving->milp = milp;
	solving->wishes = wishes;
	solving->arena = arena;
	solving->answer.bound = -INFINITY;
	solving->values = arena_array(arena, double, milp->columns.count);
	if (shared)
		pthread_mutex_lock(&alone);
	glp_init_env();
	glp_term_hook(milp_collect_output, solving);
	glp_error_hook(milp_fail, solving);
	if (!setjmp(solving->failed))
		milp_solve_all(solving);
	else
		solving->answer = (struct milp_answer){
			.status = solving->ended ? PROOF_BUDGET : PROOF_NONE, .bound = -INFINITY};
	glp_free_env();
	if (shared)
		pthread_mutex_unlock(&alone);
	if (solving->answer.status == PROOF_NONE) {
		*array_add(arena, &solving->said) = 0;
		solving->answer.fault = solving->said.at;
	}
	return solving->answer;
}
