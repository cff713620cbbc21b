#include "base/number.h"
#include "base/text.h"
#include "import/build.h"
#include "import/import.h"
#include "import/statements.h"

#include <string.h>

/*
 * Reshapes are aligned until nothing changes; then every axis is a list of factors, and every operand's
 * index is followed through its views to the factors of the stored tensor.
 */
enum { FACTORS_MOST = AXIS_SPLITS_MOST + 1, PLACES_MOST = MODEL_RANK_MOST * FACTORS_MOST };
enum { STORED_RANK_MOST = 8 };

/* The index of one factor: a sum of multiples of dimensions. */
struct index_place {
	int term_count;
	struct {
		const char *dimension;
		int64_t factor;
	} terms[TERMS_MOST];
	int64_t offset;
};

/* By axis of a view, the indices of its factors. */
struct factor_places {
	int count[MODEL_RANK_MOST];
	struct index_place at[MODEL_RANK_MOST][FACTORS_MOST];
};

struct workload_writing {
	struct build *b;
	struct text text;
	struct array(struct named_size {
		const char *name;
		int64_t extent;
		bool used;
	}) dimensions;
	struct names dimension_names;
	struct array(struct text_row { const char *text; }) ops;
	const char *loop_names[LOOPS_MOST][FACTORS_MOST];
	int loop_factors[LOOPS_MOST];
	const char *why; /* the statement in work cannot be written */
	struct import_summary *summary;
};

/* Refines axes until all reshapes agree; one that none does is a copy. */
static void writing_align(struct build *b)
{
	bool changed = true;
	while (changed) {
		changed = false;
		for (size_t s = 0; s < b->statements.count; s++) {
			struct statement *statement = &b->statements.at[s];
			if (statement->form != FORM_RESHAPE)
				continue;
			struct model_view *view = &b->views.at[statement->writes[0]];
			const struct model_view *source = view_at(b, view->source);
			b->axes.aligning = (int)s;
			if (!view->copied && !axes_align(&b->axes, source->axis, source->shape.rank,
						     view->axis, view->shape.rank, &changed))
				view->copied = changed = true;
		}
	}
}

/* Factors of a list of axes; *most is the class that has most splits. */
static int count_factors(struct build *b, const int *axes, int count, struct axis_class **most)
{
	int64_t sizes[FACTORS_MOST];
	int total = 0;
	*most = NULL;
	for (int h = 0; h < count; h++) {
		struct axis_class *axis = axes_find(&b->axes, axes[h]);
		total += axes_factors(&b->axes, axes[h], sizes);
		if (!*most || axis->split_count > (*most)->split_count)
			*most = axis;
	}
	return total;
}

/* A tensor or a statement with more factors than can be written: the class to split less; NULL: there is none. */
static struct axis_class *find_crowded(struct build *b)
{
	struct axis_class *most;
	for (size_t v = 0; v < b->views.count; v++) {
		const struct model_view *view = &b->views.at[v];
		if ((view->kind == VIEW_STORED || view->copied) &&
			count_factors(b, view->axis, view->shape.rank, &most) + view->lead >
				STORED_RANK_MOST)
			return most;
	}
	for (size_t s = 0; s < b->statements.count; s++) {
		const struct statement *statement = &b->statements.at[s];
		if (count_factors(b, statement->loops, statement->loop_count, &most) > LOOPS_MOST)
			return most;
	}
	return NULL;
}

/* Aligns all reshapes; while a tensor has too many factors for it, the reshape that split it last copies. */
static void writing_settle(struct build *b)
{
	for (;;) {
		writing_align(b);
		const struct axis_class *crowded = find_crowded(b);
		if (!crowded || !crowded->split_count)
			return;
		struct model_view *view =
			&b->views.at[b->statements.at[crowded->split_by].writes[0]];
		view->copied = view->crowds = true;
		for (size_t a = 0; a < b->axes.at.count; a++)
			b->axes.at.at[a].split_count = 0;
	}
}

/* --- names of dimensions */

static bool workload_writing_taken(
	const struct workload_writing *w, const char *name, int loop, int factor)
{
	for (int l = 0; l <= loop; l++)
		for (int f = 0; f < (l == loop ? factor : w->loop_factors[l]); f++)
			if (text_equal(w->loop_names[l][f], name))
				return true;
	return false;
}

/* "d64", of a class that is not alike "d64_b", and where one op walks both "d64_c". */
static const char *workload_writing_name_dimension(
	struct workload_writing *w, int64_t extent, int loop, int factor)
{
	for (int i = 0;; i++) {
		const char *name =
			i == 0 ? arena_format(w->b->arena, "d%lld", (long long)extent)
			       : arena_format(w->b->arena, "d%lld_%d", (long long)extent, i + 1);
		if (workload_writing_taken(w, name, loop, factor))
			continue;
		if (names_find(&w->dimension_names, name) < 0) {
			names_add(w->b->arena, &w->dimension_names, name, 0);
			*array_add(w->b->arena, &w->dimensions) =
				(struct named_size){name, extent, true};
		}
		return name;
	}
}

/* Names the factors of a statement's loops. */
static void writing_name_loops(struct workload_writing *w, const struct statement *statement)
{
	int total = 0;
	for (int l = 0; l < statement->loop_count; l++) {
		int64_t sizes[FACTORS_MOST];
		w->loop_factors[l] = axes_factors(&w->b->axes, statement->loops[l], sizes);
		for (int f = 0; f < w->loop_factors[l]; f++) {
			w->loop_names[l][f] = NULL;
			if (sizes[f] == 1) {
				w->loop_names[l][f] = "";
				continue;
			}
			w->loop_names[l][f] = workload_writing_name_dimension(w, sizes[f], l, f);
			total++;
		}
	}
	if (total > LOOPS_MOST)
		w->why = "its loops are more than 16";
}

/* --- from views to stored tensors */

static struct index_place view_index_place(const char *dimension)
{
	struct index_place place = {0};
	if (dimension[0]) {
		place.term_count = 1;
		place.terms[0].dimension = dimension;
		place.terms[0].factor = 1;
	}
	return place;
}

static struct index_place place_scale(struct index_place place, int64_t step, int64_t offset)
{
	for (int i = 0; i < place.term_count; i++)
		place.terms[i].factor *= step;
	place.offset = place.offset * step + offset;
	return place;
}

/* The factors of an axis at a fixed index. */
static void place_constant(
	struct workload_writing *w, int axis, int64_t value, int *count, struct index_place *at)
{
	int64_t sizes[FACTORS_MOST];
	*count = axes_factors(&w->b->axes, axis, sizes);
	for (int f = *count - 1; f >= 0; f--) {
		at[f] = (struct index_place){.offset = value % sizes[f]};
		value /= sizes[f];
	}
}

static void workload_writing_regroup(struct workload_writing *w, const struct model_view *view,
	const struct factor_places *from, struct factor_places *to)
{
	const struct model_view *source = view_at(w->b, view->source);
	struct index_place flat[PLACES_MOST];
	int count = 0, next = 0;
	for (int h = 0; h < view->shape.rank; h++) {
		int64_t sizes[FACTORS_MOST];
		int factors = axes_factors(&w->b->axes, view->axis[h], sizes);
		for (int f = 0; f < factors; f++)
			if (sizes[f] > 1)
				flat[count++] = f < from->count[h] ? from->at[h][f]
								   : (struct index_place){0};
	}
	for (int h = 0; h < source->shape.rank; h++) {
		int64_t sizes[FACTORS_MOST];
		to->count[h] = axes_factors(&w->b->axes, source->axis[h], sizes);
		for (int f = 0; f < to->count[h]; f++)
			to->at[h][f] = sizes[f] > 1 && next < count ? flat[next++]
								    : (struct index_place){0};
	}
}

static void write_follow_view(struct workload_writing *w, const struct model_view *view,
	const struct factor_places *from, struct factor_places *to)
{
	const struct model_view *source = view_at(w->b, view->source);
	for (int h = 0; h < source->shape.rank; h++) {
		const struct view_source_axis *axis = &view->from[h];
		if (axis->axis < 0) {
			place_constant(w, source->axis[h], axis->offset, &to->count[h], to->at[h]);
			continue;
		}
		to->count[h] = from->count[axis->axis];
		for (int f = 0; f < to->count[h]; f++)
			to->at[h][f] = from->at[axis->axis][f];
		if (axis->step != 1 || axis->offset) {
			int64_t sizes[FACTORS_MOST];
			to->count[h] = axes_factors(&w->b->axes, source->axis[h], sizes);
			to->at[h][0] =
				place_scale(from->count[axis->axis] ? from->at[axis->axis][0]
								    : (struct index_place){0},
					axis->step, axis->offset);
		}
	}
}

/* The stored tensor that a view reads, a copy of a reshape among them. */
static int writing_stored(struct workload_writing *w, int v, struct factor_places *places)
{
	while (view_at(w->b, v)->kind != VIEW_STORED && !view_at(w->b, v)->copied) {
		const struct model_view *view = view_at(w->b, v);
		struct factor_places *next = arena_new(w->b->arena, struct factor_places);
		if (view->kind == VIEW_RESHAPED)
			workload_writing_regroup(w, view, places, next);
		else
			write_follow_view(w, view, places, next);
		*places = *next;
		v = view->source;
	}
	return v;
}

static void write_place(struct text *text, const struct index_place *place)
{
	bool any = false;
	for (int i = 0; i < place->term_count; i++) {
		text_add(text, any ? " + " : "");
		if (place->terms[i].factor != 1)
			text_add(text, "%lld*", (long long)place->terms[i].factor);
		text_add(text, "%s", place->terms[i].dimension);
		any = true;
	}
	if (any && place->offset)
		text_add(text, " %c %lld", place->offset < 0 ? '-' : '+',
			(long long)(place->offset < 0 ? -place->offset : place->offset));
	else if (!any)
		text_add(text, "%lld", (long long)place->offset);
}

static const char *writing_tensor_name(struct workload_writing *w, int v)
{
	struct model_view *view = &w->b->views.at[v];
	if (!view->name)
		view->name = arena_format(w->b->arena, "copy_%d", v);
	return view->name;
}

static void write_tensor(struct workload_writing *w, struct text *text, int v,
	const struct index_place *lead, const struct factor_places *places)
{
	const struct model_view *view = view_at(w->b, v);
	int rank = view->lead;
	text_add(text, "%s[", writing_tensor_name(w, v));
	if (view->lead)
		write_place(text, lead ? lead : &(struct index_place){0});
	for (int h = 0; h < view->shape.rank; h++)
		for (int f = 0; f < places->count[h]; f++) {
			text_add(text, rank++ ? ", " : "");
			write_place(text, &places->at[h][f]);
		}
	text_add(text, rank ? "]" : "0]");
	if (rank > STORED_RANK_MOST)
		w->why = "a tensor has more than 8 dimensions";
}

static struct index_place place_of_index(struct workload_writing *w, const struct view_index *index)
{
	struct index_place place = {.offset = index->offset};
	for (int i = 0; i < index->term_count; i++) {
		int l = index->terms[i].loop;
		if (w->loop_factors[l] == 0 || !w->loop_names[l][0][0])
			continue;
		place.terms[place.term_count].dimension = w->loop_names[l][0];
		place.terms[place.term_count++].factor = index->terms[i].factor;
	}
	return place;
}

static void read_places(
	struct workload_writing *w, const struct view_read *read, struct factor_places *places)
{
	const struct model_view *view = view_at(w->b, read->view);
	for (int h = 0; h < view->shape.rank; h++) {
		const struct view_index *index = &read->index[h];
		int64_t sizes[FACTORS_MOST];
		int factors = axes_factors(&w->b->axes, view->axis[h], sizes);
		places->count[h] = factors;
		bool alone =
			index->term_count == 1 && index->terms[0].factor == 1 && !index->offset;
		int l = alone ? index->terms[0].loop : -1;
		if (alone && w->loop_factors[l] == factors) {
			for (int f = 0; f < factors; f++)
				places->at[h][f] = view_index_place(w->loop_names[l][f]);
		} else {
			for (int f = 0; f < factors; f++)
				places->at[h][f] = (struct index_place){0};
			if (factors && (index->term_count || index->offset))
				places->at[h][0] = place_of_index(w, index);
		}
	}
}

static void write_read(struct workload_writing *w, struct text *text, const struct view_read *read)
{
	struct factor_places *places = arena_new(w->b->arena, struct factor_places);
	struct index_place lead =
		read->has_lead ? place_of_index(w, &read->lead) : (struct index_place){0};
	read_places(w, read, places);
	int stored = writing_stored(w, read->view, places);
	text_add(text, "%s", read->pad ? "pad " : "");
	write_tensor(w, text, stored, &lead, places);
}

static void output_places(
	struct workload_writing *w, const struct statement *statement, struct factor_places *places)
{
	for (int h = 0; h < statement->output_loops; h++) {
		places->count[h] = w->loop_factors[h];
		for (int f = 0; f < w->loop_factors[h]; f++)
			places->at[h][f] = view_index_place(w->loop_names[h][f]);
	}
}

static void write_reductions(
	struct workload_writing *w, struct text *text, const struct statement *statement)
{
	int count = 0;
	for (int l = statement->output_loops; l < statement->loop_count; l++)
		for (int f = 0; f < w->loop_factors[l]; f++)
			if (w->loop_names[l][f][0])
				text_add(text, "%s%s", count++ ? ", " : "", w->loop_names[l][f]);
}

static bool has_reductions(const struct workload_writing *w, const struct statement *statement)
{
	for (int l = statement->output_loops; l < statement->loop_count; l++)
		for (int f = 0; f < w->loop_factors[l]; f++)
			if (w->loop_names[l][f][0])
				return true;
	return false;
}

static char sign_of(const char *function)
{
	return text_equal(function, "add")   ? '+'
	       : text_equal(function, "sub") ? '-'
	       : text_equal(function, "mul") ? '*'
	       : text_equal(function, "div") ? '/'
					     : 0;
}

static void write_operand(
	struct workload_writing *w, struct text *text, const struct statement *statement, int i)
{
	if (i < statement->read_count)
		write_read(w, text, &statement->reads[i]);
	else
		text_add(text, "%.9g", statement->constant);
}

static void write_map(
	struct workload_writing *w, struct text *text, const struct statement *statement)
{
	int operands = statement->read_count + statement->has_constant;
	char sign = sign_of(statement->function);
	bool clone = text_equal(statement->function, "clone");
	if (!clone && !(sign && operands == 2))
		text_add(text, "%s(", statement->function);
	write_operand(w, text, statement, 0);
	if (operands == 2) {
		text_add(text, sign ? " %c " : ", ", sign);
		write_operand(w, text, statement, 1);
	}
	if (!clone && !(sign && operands == 2))
		text_add(text, ")");
}

/* Returns the notation of one op; where it cannot be written, w->why is set. */
static const char *writing_statement(struct workload_writing *w, const struct statement *statement)
{
	struct text text = text_open(w->b->arena);
	struct factor_places *places = arena_new(w->b->arena, struct factor_places);
	writing_name_loops(w, statement);
	output_places(w, statement, places);
	write_tensor(w, &text, statement->writes[0], NULL, places);
	text_add(&text, " = ");
	bool reduces = has_reductions(w, statement);
	if (statement->form == FORM_MAP) {
		write_map(w, &text, statement);
	} else {
		if (reduces) {
			text_add(&text, "%s(", statement->function);
			write_reductions(w, &text, statement);
			text_add(&text, ") ");
		}
		for (int i = 0; i < statement->read_count; i++) {
			text_add(&text, i ? " * " : "");
			write_read(w, &text, &statement->reads[i]);
		}
	}
	return text_read(&text);
}

/* A tensor with the dimensions of its factors, as an opaque op writes it. */
static const char *whole_text(struct workload_writing *w, int v)
{
	struct text text = text_open(w->b->arena);
	struct statement shape = {.loop_count = view_at(w->b, v)->shape.rank,
		.output_loops = view_at(w->b, v)->shape.rank};
	struct factor_places *places = arena_new(w->b->arena, struct factor_places);
	for (int h = 0; h < shape.loop_count; h++)
		shape.loops[h] = view_at(w->b, v)->axis[h];
	writing_name_loops(w, &shape);
	output_places(w, &shape, places);
	write_tensor(w, &text, v, NULL, places);
	return text_read(&text);
}

/* Returns the view whose bytes another one reads. */
static int writing_base(const struct build *b, int v)
{
	while (view_at(b, v)->kind != VIEW_STORED && view_at(b, v)->kind != VIEW_SPLAT &&
		!view_at(b, v)->copied)
		v = view_at(b, v)->source;
	return v;
}

static const char *writing_opaque(struct workload_writing *w, const char *name, const int *reads,
	int read_count, const int *writes, int write_count)
{
	struct text text = text_open(w->b->arena);
	int seen[READS_MOST], count = 0;
	text_add(&text, "{opaque: %s, reads: [", name);
	for (int i = 0; i < read_count; i++) {
		int base = writing_base(w->b, reads[i]);
		bool again = view_at(w->b, base)->kind == VIEW_SPLAT;
		for (int k = 0; k < count; k++)
			again |= seen[k] == base;
		if (again)
			continue;
		text_add(&text, "%s\"%s\"", count ? ", " : "", whole_text(w, base));
		seen[count++] = base;
	}
	text_add(&text, "], writes: [");
	for (int i = 0; i < write_count; i++)
		text_add(&text, "%s\"%s\"", i ? ", " : "", whole_text(w, writes[i]));
	text_add(&text, "]}");
	return text_read(&text);
}

static void mark_read(struct build *b, int v)
{
	for (;;) {
		struct model_view *view = &b->views.at[v];
		view->live = true;
		if (view->kind == VIEW_STORED || view->kind == VIEW_SPLAT || view->copied)
			return;
		v = view->source;
	}
}

static void mark_live(struct build *b)
{
	for (size_t i = 0; i < b->model->outputs.count; i++) {
		int v = b->of_value[b->model->outputs.at[i]];
		if (v < 0)
			continue;
		mark_read(b, v);
		b->views.at[writing_base(b, v)].output = true;
	}
	for (size_t v = 0; v < b->views.count; v++)
		b->views.at[v].live |= b->views.at[v].output;
	for (size_t s = b->statements.count; s-- > 0;) {
		struct statement *statement = &b->statements.at[s];
		for (int i = 0; i < statement->write_count; i++)
			statement->live |= b->views.at[statement->writes[i]].live;
		/* what else an opaque op writes has no other reader */
		for (int i = 0; statement->live && i < statement->write_count; i++)
			if (!b->views.at[statement->writes[i]].live)
				b->views.at[statement->writes[i]].live =
					b->views.at[statement->writes[i]].output = true;
		if (statement->form == FORM_RESHAPE) {
			statement->live &= b->views.at[statement->writes[0]].copied;
			if (statement->live)
				mark_read(b, b->views.at[statement->writes[0]].source);
		}
		for (int i = 0; statement->live && i < statement->read_count; i++)
			mark_read(b, statement->reads[i].view);
	}
}

/* --- the file */

static void count_macs(struct workload_writing *w, const struct statement *statement)
{
	int64_t product = 1;
	if (!statement_multiplies(statement))
		return;
	for (int l = 0; l < statement->loop_count; l++)
		if (!number_mul(
			    product, axes_find(&w->b->axes, statement->loops[l])->extent, &product))
			product = INT64_MAX;
	int64_t *sum = strstr(statement->call->op, "onv") ? &w->summary->convolution_macs
							  : &w->summary->product_macs;
	if (!number_add(*sum, product, sum))
		*sum = INT64_MAX;
}

static void write_statement(struct workload_writing *w, const struct statement *statement)
{
	const char *text;
	int reads[READS_MOST];
	w->why = NULL;
	if (!statement->live)
		return;
	if (statement->form == FORM_RESHAPE) {
		int v = statement->writes[0];
		text = writing_opaque(w, "reshape", &view_at(w->b, v)->source, 1, &v, 1);
		w->summary->copies++;
		*array_add(w->b->arena, &w->b->notes) = arena_format(w->b->arena,
			"the reshape '%s' copies: %s", statement->call->name,
			view_at(w->b, v)->crowds
				? "tensors would have more than 8 dimensions without it"
				: "no split of its dimensions fits both sides");
	} else if (statement->form == FORM_OPAQUE) {
		for (int i = 0; i < statement->read_count; i++)
			reads[i] = statement->reads[i].view;
		text = writing_opaque(w, statement->function, reads, statement->read_count,
			statement->writes, statement->write_count);
	} else {
		text = writing_statement(w, statement);
		text = arena_format(w->b->arena, "\"%s\"", text);
		count_macs(w, statement);
	}
	if (w->why) {
		for (int i = 0; i < statement->read_count; i++)
			reads[i] = statement->reads[i].view;
		*array_add(w->b->arena, &w->b->notes) = arena_format(w->b->arena,
			"'%s' is written as opaque: %s", statement->call->name, w->why);
		text = writing_opaque(w, statement->function, reads, statement->read_count,
			statement->writes, statement->write_count);
		w->summary->opaque++;
	}
	w->summary->ops++;
	(*array_add(w->b->arena, &w->ops)).text = text;
}

static void write_header(struct workload_writing *w)
{
	struct text *text = &w->text;
	struct build *b = w->b;
	text_add(text, "workload:\n  name: \"%s\"\n  layouts: auto\n", b->model->name);
	text_add(text, "  dimensions: {");
	for (size_t d = 0; d < w->dimensions.count; d++)
		text_add(text, "%s%s: %lld", d ? ", " : "", w->dimensions.at[d].name,
			(long long)w->dimensions.at[d].extent);
	text_add(text, "}\n  tensors:\n");
}

/* The shape in factors, for tensors that are read in part, and the type. */
static void write_tensors(struct workload_writing *w)
{
	struct build *b = w->b;
	for (size_t v = 0; v < b->views.count; v++) {
		const struct model_view *view = &b->views.at[v];
		if (!view->live || (view->kind != VIEW_STORED && !view->copied))
			continue;
		text_add(&w->text, "    %s: {dtype: %s, shape: [", writing_tensor_name(w, (int)v),
			view->dtype ? view->dtype : "fp32");
		int rank = 0;
		if (view->lead)
			text_add(&w->text, "%d", ++rank);
		for (int h = 0; h < view->shape.rank; h++) {
			int64_t sizes[FACTORS_MOST];
			int factors = axes_factors(&b->axes, view->axis[h], sizes);
			for (int f = 0; f < factors; f++)
				text_add(&w->text, "%s%lld", rank++ ? ", " : "",
					(long long)sizes[f]);
		}
		text_add(&w->text, rank ? "]}\n" : "1]}\n");
	}
}

static void write_outputs(struct workload_writing *w)
{
	int count = 0;
	for (size_t v = 0; v < w->b->views.count; v++) {
		const struct model_view *view = &w->b->views.at[v];
		if (view->output && (view->written || view->copied))
			text_add(&w->text, "%s%s", count++ ? ", " : "  outputs: [",
				writing_tensor_name(w, (int)v));
	}
	text_add(&w->text, count ? "]\n" : "");
}

/* Names may hold any byte; a comment holds those that are seen. */
static void write_comment(struct text *text, const struct model_call *call)
{
	char *words = arena_format(text->arena, "%.60s %.60s", call->op, call->name);
	for (char *c = words; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
	text_add(text, "    # %s\n", words);
}

/* A reshape copies a stored tensor: what is turned, sliced or broadcast is stored first. */
static void store_sources(struct build *b)
{
	struct statement *before = b->statements.at;
	size_t count = b->statements.count;
	memset(&b->statements, 0, sizeof b->statements);
	for (size_t s = 0; s < count; s++) {
		int copy = before[s].form == FORM_RESHAPE ? before[s].writes[0] : -1;
		int source = copy < 0 || !view_at(b, copy)->copied ? -1 : view_at(b, copy)->source;
		int at = source;
		while (at >= 0 && view_at(b, at)->kind == VIEW_RESHAPED && !view_at(b, at)->copied)
			at = view_at(b, at)->source;
		if (at >= 0 && view_at(b, at)->kind == VIEW_MAPPED) {
			b->call = before[s].call;
			int stored = statement_store(b, source);
			b->views.at[copy].source = stored < 0 ? source : stored;
		}
		*array_add(b->arena, &b->statements) = before[s];
	}
}

const char *build_write(struct build *b, struct import_summary *summary)
{
	struct workload_writing w = {.b = b, .text = text_open(b->arena), .summary = summary};
	writing_settle(b);
	store_sources(b);
	mark_live(b);
	for (size_t s = 0; s < b->statements.count; s++)
		write_statement(&w, &b->statements.at[s]);
	write_header(&w);
	write_tensors(&w);
	write_outputs(&w);
	text_add(&w.text, "  ops:\n");
	const struct model_call *call = NULL;
	size_t op = 0;
	for (size_t s = 0; s < b->statements.count; s++) {
		const struct statement *statement = &b->statements.at[s];
		if (!statement->live)
			continue;
		if (statement->call != call)
			write_comment(&w.text, statement->call);
		call = statement->call;
		text_add(&w.text, "    - %s\n", w.ops.at[op++].text);
	}
	return text_read(&w.text);
}
