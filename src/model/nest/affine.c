#include "model/nest/affine.h"

#include "base/text.h"

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
