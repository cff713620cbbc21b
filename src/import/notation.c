#include "import/writing.h"

#include <string.h>

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

const char *writing_tensor_name(struct workload_writing *w, int v)
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
				places->at[h][f] = place_of(w->loop_names[l][f]);
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
			places->at[h][f] = place_of(w->loop_names[h][f]);
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

const char *writing_statement(struct workload_writing *w, const struct statement *statement)
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

int writing_base(const struct build *b, int v)
{
	while (view_at(b, v)->kind != VIEW_STORED && view_at(b, v)->kind != VIEW_SPLAT &&
		!view_at(b, v)->copied)
		v = view_at(b, v)->source;
	return v;
}

const char *writing_opaque(struct workload_writing *w, const char *name, const int *reads,
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
