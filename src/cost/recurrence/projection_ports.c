#include "base/arena.h"
#include "base/number.h"
#include "cost/recurrence/projection.h"

/* PEs by stream and by dependence that have a port for it. */
struct array_ports {
	const struct recurrence *recurrence;
	int64_t cells, pe, count;
	uint64_t *seen; /* by port kind, then PE */
	const int64_t *point;
};

enum { CELLS_MOST = 1 << 28 };

static void open_port(struct array_ports *ports, int kind)
{
	int64_t at = kind * ports->cells + ports->pe;
	ports->count += !(ports->seen[at / 64] >> (at % 64) & 1);
	ports->seen[at / 64] |= UINT64_C(1) << (at % 64);
}

/* The inputs that a term reads at the point: of a select only the part that is taken. */
static void visit_inputs(struct array_ports *ports, const struct term *term)
{
	if (!term)
		return;
	if (term->kind == TERM_STREAM) {
		if (ports->recurrence->streams[term->index].kind == STREAM_INPUT)
			open_port(ports, term->index);
		return;
	}
	if (term->kind == TERM_SELECT) {
		visit_inputs(
			ports, term_holds(term->of[0], ports->point) ? term->of[1] : term->of[2]);
		return;
	}
	for (int i = 0; i < 3; i++)
		visit_inputs(ports, term->of[i]);
}

static void visit_point(struct array_ports *ports)
{
	const struct recurrence *recurrence = ports->recurrence;
	int64_t producer[RECURRENCE_LOOPS_MOST];
	for (int s = 0; s < recurrence->stream_count; s++) {
		const struct stream *stream = &recurrence->streams[s];
		if (stream->kind == STREAM_INPUT)
			continue;
		if (stream->kind == STREAM_OUTPUT && !recurrence_writes(stream, ports->point))
			continue;
		if (stream->kind == STREAM_OUTPUT)
			open_port(ports, s);
		if (recurrence->has_bodies)
			visit_inputs(ports, stream->body);
	}
	for (int d = 0; d < recurrence->dependence_count; d++) {
		const struct dependence *dependence = &recurrence->dependences[d];
		for (int i = 0; i < recurrence->loop_count; i++)
			producer[i] = ports->point[i] - dependence->vector[i];
		if (term_holds(dependence->when, ports->point) &&
			!recurrence_holds(recurrence, producer))
			open_port(ports, recurrence->stream_count + d);
	}
}

int64_t projection_ports(const struct recurrence *recurrence, const struct projection *projection,
	const struct projection_facts *facts)
{
	struct array_ports ports = {.recurrence = recurrence, .cells = 1};
	int64_t kinds = recurrence->stream_count + recurrence->dependence_count, all;
	for (int r = 0; r < projection->space_count; r++)
		if (!number_mul(ports.cells, facts->space[r].extent, &ports.cells))
			return -1;
	if (facts->fault == PROJECTION_UNKNOWN ||
		recurrence_box(recurrence) > PROJECTION_PORT_POINTS_MOST ||
		!number_mul(ports.cells, kinds, &all) || all > CELLS_MOST)
		return -1;
	struct arena *arena = arena_open();
	int64_t point[RECURRENCE_LOOPS_MOST];
	ports.seen = arena_array(arena, uint64_t, all / 64 + 1);
	ports.point = point;
	for (bool more = recurrence_first(recurrence, point); more;
		more = recurrence_next(recurrence, point)) {
		ports.pe = 0;
		for (int r = 0; r < projection->space_count; r++) {
			int64_t at = 0;
			number_dot(projection->space[r], point, recurrence->loop_count, &at);
			ports.pe = ports.pe * facts->space[r].extent + at - facts->space[r].least;
		}
		visit_point(&ports);
	}
	arena_close(arena);
	return ports.count;
}
