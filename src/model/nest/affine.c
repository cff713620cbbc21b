#include "model/nest/affine.h"

#include "base/arena.h"
#include "base/number.h"
#include "base/text.h"

#include <string.h>

int loop_named(const struct loop *loops, int count, const char *name)
{
	for (int l = 0; l < count; l++)
		if (text_equal(loops[l].name, name))
			return l;
	return -1;
}

void loop_names(const struct loop *loops, int count, const char **out)
{
	for (int l = 0; l < count; l++)
		out[l] = loops[l].name;
	out[count] = NULL;
}

const char *loop_near(const struct loop *loops, int count, const char *name)
{
	const char *known[OP_LOOPS_MOST + 1];
	loop_names(loops, count, known);
	return suggest(name, known);
}

bool loops_points(const struct loop *loops, int count, int64_t *out)
{
	*out = 1;
	for (int l = 0; l < count; l++)
		if (!number_mul(*out, loops[l].extent, out))
			return false;
	return true;
}

int64_t affine_value(const struct affine *affine, int loop_count, const int64_t *point)
{
	int64_t sum = affine->offset;
	for (int l = 0; l < loop_count; l++)
		if (affine->coefficient[l])
			sum += affine->coefficient[l] * point[l];
	return sum;
}

uint32_t affine_loops(const struct affine *affine)
{
	uint32_t loops = 0;
	for (int l = 0; l < OP_LOOPS_MOST; l++)
		loops |= (uint32_t)(affine->coefficient[l] != 0) << l;
	return loops;
}

uint32_t affines_loops(const struct affine *indices, int count)
{
	uint32_t loops = 0;
	for (int k = 0; k < count; k++)
		loops |= affine_loops(&indices[k]);
	return loops;
}

int affine_loop(const struct affine *affine, int loop_count)
{
	int found = NO_LOOP;
	for (int l = 0; l < loop_count; l++) {
		if (affine->coefficient[l] == 0)
			continue;
		if (found != NO_LOOP)
			return SEVERAL_LOOPS;
		found = l;
	}
	return found;
}

int affine_walker(const struct affine *affine, int loop_count)
{
	int loop = affine_loop(affine, loop_count);
	return loop >= 0 && affine->coefficient[loop] == 1 ? loop : NO_LOOP;
}

int affine_weights(struct affine ranks[3][2], int loop_count)
{
	uint32_t loops[3];
	for (int t = 0; t < 3; t++) {
		for (int h = 0; h < 2; h++) {
			int loop = affine_loop(&ranks[t][h], loop_count);
			if (loop < 0 || ranks[t][h].coefficient[loop] != 1)
				return -1;
		}
		loops[t] = affine_loops(&ranks[t][0]) | affine_loops(&ranks[t][1]);
		if (affine_loops(&ranks[t][0]) == affine_loops(&ranks[t][1]))
			return -1;
	}
	if (loop_count != 3 || loops[0] == loops[1] || loops[0] == loops[2] || loops[1] == loops[2])
		return -1;
	return loops[0] & affine_loops(&ranks[2][0]) ? 1 : 0;
}

bool affine_equal(const struct affine *a, const struct affine *b, int loop_count)
{
	for (int l = 0; l < loop_count; l++) {
		if (a->coefficient[l] != b->coefficient[l])
			return false;
	}
	return a->offset == b->offset;
}

const char *affine_text(
	struct arena *arena, const struct affine *affine, int loop_count, const char *const *names)
{
	struct text text = text_open(arena);
	for (int l = 0; l < loop_count; l++) {
		int64_t c = affine->coefficient[l];
		if (!c)
			continue;
		text_add(&text, "%s", text.length ? (c < 0 ? " - " : " + ") : (c < 0 ? "-" : ""));
		if (c != 1 && c != -1)
			text_add(&text, "%lld*", (long long)(c < 0 ? -c : c));
		text_add(&text, "%s", names[l]);
	}
	int64_t c = affine->offset;
	if (!text.length)
		text_add(&text, "%lld", (long long)c);
	else if (c)
		text_add(&text, " %c %lld", c < 0 ? '-' : '+', (long long)(c < 0 ? -c : c));
	return text_read(&text);
}

static bool too_large(struct scan *scan, size_t from, size_t to)
{
	return scan_fail(scan, from, to, "the number is too large");
}

static bool add_term(struct scan *scan, struct affine_sum *sum, const struct affine_term *term)
{
	if (sum->term_count == AFFINE_TERMS_MOST)
		return scan_fail(scan, sum->at, scan->at,
			arena_format(
				scan->arena, "an index has at most %d terms", AFFINE_TERMS_MOST));
	sum->terms[sum->term_count++] = *term;
	return true;
}

/* The first term with a dimension; NULL: there is none. */
static const struct affine_term *find_named(const struct affine_sum *sum)
{
	for (int i = 0; i < sum->term_count; i++)
		if (sum->terms[i].name.text)
			return &sum->terms[i];
	return NULL;
}

/* Multiplies each term; false: one does not fit into 64 bits. */
static bool scale(struct affine_sum *sum, int64_t by)
{
	for (int i = 0; i < sum->term_count; i++)
		if (!number_mul(sum->terms[i].factor, by, &sum->terms[i].factor))
			return false;
	return true;
}

bool affine_sum_times(struct scan *scan, struct affine_sum *sum, const struct affine_sum *by)
{
	const struct affine_term *a = find_named(sum), *b = find_named(by);
	if (a && b)
		return scan_fail(scan, by->at, by->end,
			arena_format(scan->arena,
				"an index adds dimensions times whole numbers; it cannot multiply '%s' by '%s'",
				a->name.text, b->name.text));
	const struct affine_sum plain = b ? *sum : *by;
	size_t at = sum->at;
	int64_t factor = 0;
	bool fits = true;
	for (int i = 0; i < plain.term_count; i++)
		fits &= number_add(factor, plain.terms[i].factor, &factor);
	if (b)
		*sum = *by;
	sum->at = at;
	sum->end = by->end;
	return (fits && scale(sum, factor)) || too_large(scan, by->at, by->end);
}

bool affine_add(struct scan *scan, const struct affine_sum *sum, struct affine *to)
{
	for (int i = 0; i < sum->term_count; i++) {
		const struct affine_term *term = &sum->terms[i];
		int64_t *at = term->name.text ? &to->coefficient[term->loop] : &to->offset;
		if (!number_add(*at, term->factor, at))
			return too_large(scan, sum->at, sum->end);
	}
	return true;
}

static bool scan_number(struct scan *scan, struct affine_sum *out)
{
	const char *at = scan->text + scan->at;
	size_t from = scan->at, length = strspn(at, "0123456789");
	int64_t number;
	scan->at += length;
	if (!scan_integer(&at, &number))
		return too_large(scan, from, scan->at);
	out->end = scan->at;
	return add_term(scan, out, &(struct affine_term){.factor = number, .loop = -1});
}

static bool scan_name(struct scan *scan, const struct affine_names *names, struct affine_sum *out)
{
	struct affine_term term = {.factor = 1};
	const char *text = scan_word(scan, ".");
	term.name = (struct word){text, scan->at - strlen(text), scan->at};
	out->end = scan->at;
	if (names && !names->find(scan, names->of, &term.name, &term.loop, &term.factor))
		return false;
	if (term.loop < 0)
		term.name.text = NULL;
	return add_term(scan, out, &term);
}

enum { BRACKETS_MOST = 16 };

static bool scan_sum(
	struct scan *scan, const struct affine_names *names, int depth, struct affine_sum *out);

static bool scan_factor(
	struct scan *scan, const struct affine_names *names, int depth, struct affine_sum *out)
{
	char next = scan_next(scan);
	*out = (struct affine_sum){.at = scan->at};
	if (depth > BRACKETS_MOST)
		return scan_fail(scan, scan->at, scan->at + 1, "nested too deeply");
	if (next == '-' || next == '+') {
		size_t at = scan->at++;
		bool good = scan_factor(scan, names, depth + 1, out);
		out->at = at;
		return good && (next == '+' || scale(out, -1) || too_large(scan, at, out->end));
	}
	if (scan_take(scan, '(')) {
		size_t at = out->at;
		bool good = scan_sum(scan, names, depth + 1, out) &&
			    (scan_take(scan, ')') || scan_fail_next(scan, "')'"));
		out->at = at;
		out->end = scan->at;
		return good;
	}
	if (scan_is_letter(next))
		return scan_name(scan, names, out);
	if (!scan_is_digit(next))
		return scan_fail_next(scan, "a dimension or a number");
	if (!scan_number(scan, out) || !scan_is_letter(scan_next(scan)))
		return out->term_count > 0;
	struct affine_sum name = {.at = scan->at};
	return scan_name(scan, names, &name) && affine_sum_times(scan, out, &name);
}

static bool scan_product(
	struct scan *scan, const struct affine_names *names, int depth, struct affine_sum *out)
{
	struct affine_sum factor;
	if (!scan_factor(scan, names, depth, out))
		return false;
	while (scan_take(scan, '*'))
		if (!scan_factor(scan, names, depth, &factor) ||
			!affine_sum_times(scan, out, &factor))
			return false;
	return true;
}

static bool scan_sum(
	struct scan *scan, const struct affine_names *names, int depth, struct affine_sum *out)
{
	struct affine_sum product;
	if (!scan_product(scan, names, depth, out))
		return false;
	for (char next; (next = scan_next(scan)) == '+' || next == '-';) {
		scan->at++;
		if (!scan_product(scan, names, depth, &product))
			return false;
		if (next == '-' && !scale(&product, -1))
			return too_large(scan, product.at, product.end);
		for (int i = 0; i < product.term_count; i++)
			if (!add_term(scan, out, &product.terms[i]))
				return false;
		out->end = product.end;
	}
	return true;
}

bool affine_scan(struct scan *scan, const struct affine_names *names, struct affine_sum *out)
{
	return scan_sum(scan, names, 0, out);
}
