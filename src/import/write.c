#include "base/number.h"
#include "import/statements.h"
#include "import/writing.h"

#include <string.h>

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
	if (statement->form != FORM_PRODUCT)
		return;
	for (int l = 0; l < statement->loop_count; l++)
		if (!number_mul(
			    product, axes_find(&w->b->axes, statement->loops[l])->extent, &product))
			product = INT64_MAX;
	const char *op = statement->call->op;
	int64_t *sum =
		strstr(op, "onv") ? &w->summary->convolution_macs : &w->summary->product_macs;
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
			"the reshape '%s' copies: no split of its dimensions fits both sides",
			statement->call->name);
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
	writing_align(b);
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
