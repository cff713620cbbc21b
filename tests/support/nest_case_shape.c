#include "tests/support/nest_case.h"

#include "base/number.h"
#include "tests/support/draws.h"

#include <string.h>

/*
 * Einsums as texts: the written dataspace first, ranks apart by commas.  A rank adds dimensions,
 * each with a coefficient before it: s is a stride, t a dilation, drawn once for each case.
 */
static const struct {
	const char *text;
	bool sliding;
} einsums[] = {
	{"Z:m,n A:m,k B:k,n", false},             /* GEMM */
	{"Z:b,m,n A:b,m,k B:k,n", false},         /* one operand for the whole batch */
	{"Z:b,m,n A:b,m,k B:b,k,n", false},       /* batches */
	{"Z:m A:m,k B:k", false},                 /* matrix times vector */
	{"Z:p I:p+r W:r", true},                  /* convolutions */
	{"Z:p I:sp+tr W:r", true},                /* stride and dilation */
	{"Z:k,p I:c,sp+tr W:k,c,r", true},        /* channels */
	{"Z:p,q I:sp+tr,sq+ts W:r,s", true},      /* in two dimensions */
	{"Z:k,p,q I:c,p+r,q+s W:k,c,r,s", true},  /* and channels */
	{"Z:n,k,p I:n,c,sp+r W:k,c,r", true},     /* batches */
	{"Z:c,p I:c,sp+tr W:c,r", true},          /* depthwise */
	{"Z:c,p,q I:c,p+tr,sq+s W:c,r,s", true},  /* and in two dimensions */
	{"Z:i,j A:i,k,l B:k,j C:l,j", false},     /* MTTKRP */
	{"Z:i,j A:i,k B:k,l C:l,j", false},       /* a chain */
	{"Z:i,j A:i,k B:k,j C:i,j D:j", false},   /* with elementwise factors */
	{"Z:a,b A:a,c B:c,d C:d,b D:a,d", false}, /* 4 operands */
	{"Z:a A:a,b B:b,c C:c D:a,c", false},     /* the same */
	{"Z:m,n A:m,n", false},                   /* a copy */
	{"Z:m,n A:m,n B:n", false},               /* elementwise with a broadcast */
	{"Z:n,m A:m,n B:m,n C:n,m", false},       /* elementwise, transposed */
	{"Z:m A:m,k", false},                     /* a sum */
	{"Z:m A:m,m,k B:k", false},               /* a diagonal */
	{"Z:m,m A:m,k B:k", false},               /* a diagonal written */
	{"Z:sm,n A:m,tk B:k,n", true},            /* gaps, some of them written */
	{"Z:p,k I:p+r+k W:r,k", true},            /* three in a rank */
	{"Z:n,k,p I:p+r W:n,k,r", true},          /* many outputs of one window */
	{"Z:p I:sp+tr J:tp+sr W:r", true},        /* two windows */
	{"Z:m A:m+k B:m,k", true},
};
enum { EINSUMS = sizeof einsums / sizeof *einsums };

static int find_dimension(struct shape *shape, char letter)
{
	static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k",
		"l", "m", "n", "o", "p", "q", "r", "s"};
	const char *name = names[letter - 'a'];
	for (int d = 0; d < shape->dimension_count; d++)
		if (shape->dimensions[d].name == name)
			return d;
	shape->dimensions[shape->dimension_count].name = name;
	return shape->dimension_count++;
}

static void read_einsum(struct shape *shape, const char *text, int64_t stride, int64_t dilation)
{
	static const char *const names[] = {"A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K",
		"L", "M", "N", "O", "P", "Q", "R", "S", "T", "U", "V", "W", "X", "Y", "Z"};
	while (*text) {
		struct dataspace *space = &shape->spaces[shape->space_count];
		space->written = shape->space_count++ == 0;
		space->name = names[*text - 'A'];
		space->rank_count = 1;
		for (text += 2; *text && *text != ' '; text++) {
			struct affine *rank = &space->ranks[space->rank_count - 1];
			if (*text == ',') {
				space->rank_count++;
			} else if (*text != '+') {
				bool prefix = text[1] >= 'a' && text[1] <= 'z';
				int64_t coefficient = !prefix          ? 1
						      : *text++ == 's' ? stride
								       : dilation;
				int d = find_dimension(shape, *text);
				rank->coefficient[d] += coefficient;
				space->relevant |= 1u << d;
			}
		}
		text += *text == ' ';
	}
}

/* Small ones, primes among them; at times a longer one. */
static int64_t draw_extent(struct random *random, int64_t room)
{
	static const int64_t extents[] = {1, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8, 9, 12};
	int64_t extent = extents[draw_below(random, 13)];
	return extent > room ? 1 + draw_below(random, room) : extent;
}

void nest_case_shape(
	struct random *random, const struct nest_case_options *options, struct shape *shape)
{
	int e;
	do
		e = (int)draw_below(random, EINSUMS);
	while (einsums[e].sliding && !options->sliding);
	*shape = (struct shape){.name = "case"};
	read_einsum(shape, einsums[e].text, 1 + draw_below(random, 3), 1 + draw_below(random, 3));
	if (!draw_chance(random, 4)) { /* the written one last, as most write it */
		struct dataspace written = shape->spaces[0];
		memmove(shape->spaces, shape->spaces + 1,
			(size_t)(shape->space_count - 1) * sizeof written);
		shape->spaces[shape->space_count - 1] = written;
	}
	uint8_t order[SHAPE_DIMENSIONS_MOST];
	for (int d = 0; d < shape->dimension_count; d++)
		order[d] = (uint8_t)d;
	draw_shuffle(random, order, shape->dimension_count);
	int64_t room = options->steps_most / (1 + draw_below(random, 8)) + 1;
	room = number_min(room, options->steps_most);
	bool one_long = draw_chance(random, 5); /* with many loops */
	for (int i = 0; i < shape->dimension_count; i++) {
		struct loop *dimension = &shape->dimensions[order[i]];
		bool is_long = one_long && i == 0 && room > 40;
		dimension->extent =
			is_long ? 10 + draw_below(random, 30) : draw_extent(random, room);
		room /= dimension->extent;
	}
}
