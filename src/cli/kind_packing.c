#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/inputs.h"
#include "cli/kind.h"
#include "cli/listener.h"
#include "cli/place_captures.h"
#include "cli/settings.h"
#include "cli/spec_files.h"
#include "model/packing/packing_file.h"
#include "report/packing/place_report.h"
#include "report/run/folder.h"
#include "search/drive/solver.h"
#include "search/engine/parallel.h"
#include "search/packing/packing_search.h"
#include "search/packing/unfit.h"
#include "spec/field.h"
#include "spec/file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/*
 * Packing of buffers: the request of `lxplore place` (a table of buffers, and options), the search, and checks of
 * offsets and certificates.
 */
struct place_request {
	struct packing_file file; /* the packing with capacity, goal and reserved ranges */
	bool has_capacity;        /* else the capacity is as good as none */
	bool check;               /* the offsets of the table, instead of finding some */
	const struct solver *solver;
	uint64_t budget; /* nodes; 0: no limit */
	int64_t seconds; /* 0: no limit */
	int jobs;        /* threads */
	uint64_t seed;
	bool quiet;
	enum format format;
	const char *output, *svg, *certificate,
		*check_certificate; /* files; NULL: none asked for */
};

/*
 * A certificate that buffers do not fit, read against the table at hand.
 */
struct unfit_file {
	int64_t capacity; /* that it is about: no less than that of the request */
	size_t count;
	const int *buffers; /* of the table */
	struct unfit_proof proof;
	struct span proof_span;
};

enum unfit_reading {
	UNFIT_READ,
	UNFIT_REJECTED, /* it is about other buffers, or another capacity */
	UNFIT_WRONG,    /* not a certificate */
};

/* Complains unless it is UNFIT_READ. */
static enum unfit_reading unfit_file_read(struct arena *arena, const struct place_request *request,
	struct diag *diag, struct unfit_file *out);

/* The picture, if one was asked for. */
static void packing_write_picture(
	struct arena *arena, const struct place_request *request, const struct place_report *report)
{
	struct place_svg_words words = {
		report->file->source->name, place_report_line(arena, report), NULL, false};
	if (request->svg)
		command_write(arena, request->svg, place_svg(arena, report, &words));
}

static bool option_is_given(const struct arguments *arguments, const char *name)
{
	return option_find(arguments, name) != NULL;
}

static const char *text_of(const struct arguments *arguments, const char *name)
{
	const struct option_value *value = option_find(arguments, name);
	return value ? value->text : NULL;
}

static void read_bytes(const struct reading *reading, const struct arguments *arguments,
	const char *name, int64_t least, int64_t *out)
{
	const struct option_value *value = option_find(arguments, name);
	if (value)
		node_size(reading, node_scalar(reading->arena, value->text, value->span),
			arena_format(reading->arena, "'--%s'", name), least, PACKING_BYTES_MOST,
			out);
}

/* FROM-TO, both with units. */
static bool read_range(
	const struct reading *reading, const struct option_value *value, struct byte_range *out)
{
	const char *dash = strchr(value->text, '-');
	if (!dash) {
		diag_error(reading->diag, value->span, "'--reserve' needs FROM-TO, not '%s'",
			value->text);
		return false;
	}
	const char *from =
		arena_format(reading->arena, "%.*s", (int)(dash - value->text), value->text);
	if (!node_size(reading, node_scalar(reading->arena, from, value->span),
		    "the begin of '--reserve'", 0, PACKING_BYTES_MOST, &out->from) ||
		!node_size(reading, node_scalar(reading->arena, dash + 1, value->span),
			"the end of '--reserve'", 0, PACKING_BYTES_MOST, &out->to))
		return false;
	if (out->from >= out->to)
		diag_error(reading->diag, value->span, "the range '%s' to reserve is empty",
			value->text);
	return out->from < out->to;
}

static void read_reserved(
	const struct reading *reading, const struct arguments *arguments, struct packing *packing)
{
	struct array(struct byte_range) ranges = {0};
	struct byte_range range;
	for (size_t i = 0; i < arguments->option_count; i++)
		if (text_equal(arguments->options[i].option->name, "reserve") &&
			read_range(reading, &arguments->options[i], &range))
			*array_add(reading->arena, &ranges) = range;
	packing->reserved = ranges.at;
	packing->reserved_count = ranges.count;
}

/* `place=exact` is accepted, as other commands write it. */
static void read_solver(
	const struct arguments *arguments, struct diag *diag, struct place_request *out)
{
	const struct option_value *value = option_find(arguments, "solver");
	if (!value)
		return;
	const char *name = value->text;
	if (strncmp(name, "place=", 6) == 0)
		name += 6;
	out->solver = inputs_solver(STAGE_PLACE, name, value->span, diag);
	for (size_t i = 0; i < arguments->option_count; i++)
		if (arguments->options[i].option == value->option &&
			!text_equal(arguments->options[i].text, value->text))
			diag_error(diag, value->span, "one solver places a table: '%s' or '%s'",
				arguments->options[i].text, value->text);
}

static bool arguments_excludes(
	const struct arguments *arguments, const char *a, const char *b, struct diag *diag)
{
	const struct option_value *second = option_find(arguments, b);
	if (!option_is_given(arguments, a) || !second)
		return true;
	diag_error(diag, second->span, "'--%s' and '--%s' exclude each other", a, b);
	return false;
}

static void arguments_check_options(const struct arguments *arguments, struct diag *diag)
{
	static const char *const pairs[][2] = {{"minimize", "spill"}, {"check", "minimize"},
		{"check", "spill"}, {"check", "solver"}, {"check", "budget"},
		{"check", "time-limit"}, {"check", "output"}, {"check", "check-certificate"},
		{"check", "certificate"}, {"certificate", "minimize"}, {"certificate", "spill"},
		{"certificate", "check-certificate"}, {"minimize", "check-certificate"},
		{"spill", "check-certificate"}, {"solver", "check-certificate"},
		{"output", "check-certificate"}, {"svg", "check-certificate"}};
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
		arguments_excludes(arguments, pairs[i][0], pairs[i][1], diag);
	if (!option_is_given(arguments, "capacity") && !option_is_given(arguments, "minimize") &&
		!option_is_given(arguments, "check"))
		diag_error(diag, (struct span){0},
			"place needs '--capacity N', or '--minimize' for the least that is enough");
	if (arguments->count != 1)
		diag_error(diag, arguments->count ? arguments->spans[1] : (struct span){0},
			"place needs one CSV of buffers, '-' for standard input");
}

/* False after complaining. */
static bool place_request_read(struct arena *arena, const struct arguments *arguments,
	struct diag *diag, struct place_request *out)
{
	struct reading reading = {.arena = arena, .diag = diag};
	int64_t budget = 0, seed = 1, alignment = 1, capacity = PACKING_BYTES_MOST;
	int64_t jobs = parallel_cores();
	struct packing wishes = {0};
	arguments_check_options(arguments, diag);
	read_bytes(&reading, arguments, "capacity", 0, &capacity);
	read_bytes(&reading, arguments, "alignment", 1, &alignment);
	read_reserved(&reading, arguments, &wishes);
	*out = (struct place_request){
		.format = FORMAT_CSV,
		.has_capacity = option_is_given(arguments, "capacity"),
		.check = option_is_given(arguments, "check"),
		.quiet = option_is_given(arguments, "quiet"),
		.output = text_of(arguments, "output"),
		.svg = text_of(arguments, "svg"),
		.certificate = text_of(arguments, "certificate"),
		.check_certificate = text_of(arguments, "check-certificate"),
	};
	option_integer(arguments, "jobs", 0, diag, &jobs);
	option_integer(arguments, "budget", 0, diag, &budget);
	option_integer(arguments, "time-limit", 0, diag, &out->seconds);
	option_integer(arguments, "seed", 0, diag, &seed);
	command_format(arguments, diag, &out->format);
	read_solver(arguments, diag, out);
	out->jobs = (int)jobs;
	out->budget = (uint64_t)budget;
	out->seed = (uint64_t)seed;
	if (diag_failed(diag))
		return false;
	const struct source *source =
		file_read_table(arena, spec_path(arena, arguments->at[0]), diag);
	if (!source || !packing_read(arena, source, alignment, out->check, diag, &out->file))
		return false;
	out->file.packing.capacity = capacity;
	out->file.packing.reserved = wishes.reserved;
	out->file.packing.reserved_count = wishes.reserved_count;
	out->file.packing.goal = option_is_given(arguments, "minimize") ? PACKING_PEAK
				 : option_is_given(arguments, "spill")  ? PACKING_SPILL
									: PACKING_FIT;
	if (!out->solver)
		out->solver = solver_for(STAGE_PLACE,
			out->file.packing.count > PACKING_MANY ? FOR_LARGE_PACKINGS : FOR_PACKINGS);
	if (out->check && !out->file.has_offsets)
		diag_error(diag, (struct span){.source = source},
			"it has no column 'offset' to check");
	return !diag_failed(diag);
}

enum { FORKS = 5000 };

/* Forks of each try to do with one buffer less: the work of one grows with their number. */
static size_t forks_to_shrink(size_t buffers)
{
	return buffers <= 24 ? 200 : buffers <= 48 ? 20 : 0;
}

static void tell_fault(
	const struct place_request *request, struct packing_fault fault, struct diag *diag)
{
	const struct packing_file *file = &request->file;
	const struct buffer *buffers = file->packing.buffers;
	struct span span = packing_span(file, (size_t)fault.a);
	if (fault.b < 0) {
		diag_error(diag, span, "'%s': %s", buffers[fault.a].name, fault.why);
		return;
	}
	diag_error(diag, span, "'%s' and '%s': %s", buffers[fault.a].name, buffers[fault.b].name,
		fault.why);
	diag_note(diag, packing_span(file, (size_t)fault.b), "the other is here");
}

/* Checks that `lxplore place` makes instead of a search; they return the exit status. */
static int packing_check_offsets(
	struct arena *arena, const struct place_request *request, struct diag *diag)
{
	const struct packing *packing = &request->file.packing;
	const struct placement *placement = request->file.placement;
	struct packing_fault fault = packing_check(packing, placement);
	if (fault.a >= 0) {
		tell_fault(request, fault, diag);
		diag_print(diag, stderr);
		return EXIT_IMPOSSIBLE;
	}
	struct place_report report = {.file = &request->file,
		.packing = packing,
		.has_capacity = request->has_capacity,
		.outcome = VERDICT_YES,
		.placement = placement,
		.load = load_curve(arena, packing, NULL),
		.method = "check"};
	packing_write_picture(arena, request, &report);
	if (request->format == FORMAT_JSON) {
		command_print(json_text(arena, place_report_json(&report)));
		return EXIT_FOUND;
	}
	command_print(arena_format(arena,
		"the layout is right: %zu of %zu buffers have a place, peak %" PRId64
		", saved %" PRId64 " of %" PRId64 "\n",
		placement_count(placement), packing->count, placement_peak(packing, placement),
		placement_saved(packing, placement), packing_weights(packing)));
	return EXIT_FOUND;
}

static int tell_undecided(const struct listener *listener)
{
	const char *limit = listener_limit(listener);
	utf8_print(stderr, "lxplore: not decided whether the certificate holds: %s\n",
		limit ? limit : "budget");
	return listener_status(VERDICT_OPEN);
}

static int packing_check_certificate(
	struct arena *arena, const struct place_request *request, struct diag *diag)
{
	struct unfit_file file;
	enum unfit_reading reading = unfit_file_read(arena, request, diag, &file);
	if (reading == UNFIT_WRONG)
		return command_refuse(diag);
	if (reading == UNFIT_READ) {
		const struct packing *packing = &request->file.packing;
		struct packing some = packing_of_some(arena, packing, file.count, file.buffers);
		some.capacity = file.capacity; /* what holds there holds of less */
		struct listener listener = listener_open(request->seconds, request->quiet, "forks");
		struct unfit_limits limits = {
			request->budget ? request->budget : SIZE_MAX, {&listener, listener_wait}};
		struct unfit_checked checked = unfit_check(&some, &file.proof, &limits);
		listener_clear(&listener);
		if (!checked.decided)
			return tell_undecided(&listener);
		if (checked.why)
			diag_error(diag, file.proof_span, "rejected: node %zu of the proof: %s",
				checked.at + 1, checked.why);
	}
	diag_print(diag, stderr);
	if (diag_failed(diag))
		return EXIT_IMPOSSIBLE;
	command_print(arena_format(arena,
		"the certificate holds: %zu of %zu buffers do not fit into %" PRId64
		" bytes, by %zu cases\n",
		file.count, request->file.packing.count, request->file.packing.capacity,
		file.proof.count));
	return EXIT_FOUND;
}

/* For buffers that do not fit: fewer of them that do not either, as far as a proof of that is
 * soon found. */
static void packing_proof_core(
	struct arena *arena, struct listener *listener, struct place_report *report)
{
	const struct packing *packing = report->packing;
	size_t count = report->core_count ? report->core_count : packing->count;
	struct unfit_limits limits = {forks_to_shrink(count), {listener, listener_stop}};
	int *buffers = arena_array(arena, int, count);
	for (size_t i = 0; i < count; i++)
		buffers[i] = report->core_count ? report->core[i] : (int)i;
	if (count + packing->reserved_count <= UNFIT_BUFFERS_MOST)
		count = unfit_shrink(packing, count, buffers, &limits);
	report->core_count = count;
	report->core = buffers;
}

/*
 * A proof that some buffers do not fit, as a file:
 *
 *	certificate:
 *	  version: 1
 *	  claim: does not fit
 *	  capacity: 100
 *	  alignment: 1
 *	  forks: 1
 *	  leaves: 2
 *	  reserved: [[0, 8]]
 *	  buffers:                                   # those that do not fit, numbered from 0
 *	  - {id: a, lower: 0, upper: 4, size: 60}
 *	  proof:                                     # 0/1: a fork between those two; x: a leaf
 *	  - 0/1 x x
 *
 * `packing` is of those buffers alone (packing_of_some).
 */
struct unfit_form {
	int64_t capacity, alignment, forks, leaves;
	int version, claim;
	const struct node *reserved, *buffers, *proof; /* lists, when it is read */
};

#define UNFIT(member) .required = true, INTO(struct unfit_form, member)
#define UNFIT_LIST(member) .required = true, KEEP(struct unfit_form, member)
#define BUFFER(member) .required = true, INTO(struct buffer, member)

static const char *const unfit_claims[] = {"does not fit", NULL};

static const struct field unfit_fields[] = {
	{"version", FIELD_WHOLE, .least = 1, .most = 1, UNFIT(version)},
	{"claim", FIELD_CHOICE, .words = unfit_claims, UNFIT(claim)},
	{"capacity", FIELD_WHOLE, .most = PACKING_BYTES_MOST, UNFIT(capacity)},
	{"alignment", FIELD_WHOLE, .least = 1, .most = PACKING_BYTES_MOST, UNFIT(alignment)},
	{"forks", FIELD_WHOLE, .most = INT64_MAX, UNFIT(forks)},
	{"leaves", FIELD_WHOLE, .most = INT64_MAX, UNFIT(leaves)},
	{"reserved", FIELD_ANY, .shape = SHAPE_LIST, UNFIT_LIST(reserved)},
	{"buffers", FIELD_MAP, .shape = SHAPE_LIST, UNFIT_LIST(buffers)},
	{"proof", FIELD_TEXT, .shape = SHAPE_LIST, UNFIT_LIST(proof)},
	{0},
};
static const struct noun unfit_noun = {.name = "unfit", .fields = unfit_fields};

static const struct field buffer_fields[] = {
	{"id", FIELD_TEXT, BUFFER(name)},
	{"lower", FIELD_WHOLE, .least = INT64_MIN, .most = INT64_MAX, BUFFER(start)},
	{"upper", FIELD_WHOLE, .least = INT64_MIN, .most = INT64_MAX, BUFFER(end)},
	{"size", FIELD_WHOLE, .most = PACKING_BYTES_MOST, BUFFER(size)},
	{0},
};
static const struct noun buffer_noun = {.name = "buffer", .fields = buffer_fields};

enum { LINE_MOST = 90 };

static void add_tree(struct text *text, const struct unfit_proof *proof)
{
	size_t line = 0;
	text_add(text, "  proof:");
	for (size_t i = 0; i < proof->count; i++) {
		const struct unfit_node *node = &proof->nodes[i];
		if (i == 0 || text->length - line > LINE_MOST) {
			text_add(text, "\n  -");
			line = text->length;
		}
		if (node->a < 0)
			text_add(text, " x");
		else
			text_add(text, " %d/%d", node->a, node->b);
	}
	text_add(text, "\n");
}

static const char *unfit_write(
	struct arena *arena, const struct packing *packing, const struct unfit_proof *proof)
{
	struct text text = text_open(arena);
	struct unfit_form form = {
		.version = 1, .capacity = packing->capacity, .alignment = packing->alignment};
	for (size_t i = 0; i < proof->count; i++)
		form.leaves += proof->nodes[i].a < 0;
	form.forks = (int64_t)proof->count - form.leaves;
	text_add(&text, "certificate:\n  ");
	fields_write(&text, &unfit_noun, &form, "\n  ");
	text_add(&text, "\n  reserved: [");
	for (size_t i = 0; i < packing->reserved_count; i++)
		text_add(&text, "%s[%" PRId64 ", %" PRId64 "]", i ? ", " : "",
			packing->reserved[i].from, packing->reserved[i].to);
	text_add(&text, "]\n  buffers:\n");
	for (size_t i = 0; i < packing->count; i++) {
		text_add(&text, "  - {");
		fields_write(&text, &buffer_noun, &packing->buffers[i], ", ");
		text_add(&text, "}\n");
	}
	add_tree(&text, proof);
	return text_read(&text);
}

/* For buffers that do not fit: the certificate that was asked for.  A reason on stderr, if there is
 * none to be had. */
static void packing_proof_write(struct arena *arena, const struct place_request *request,
	struct listener *listener, const struct place_report *report)
{
	struct place_report least = *report;
	packing_proof_core(arena, listener, &least);
	size_t count = least.core_count;
	struct packing some = packing_of_some(arena, report->packing, count, least.core);
	size_t forks = request->budget && request->budget < FORKS ? request->budget : FORKS;
	struct unfit_limits limits = {forks, {listener, listener_stop}};
	struct unfit_proof proof;
	if (!unfit_prove(&some, &limits, arena, &proof)) {
		if (listener_limit(listener))
			utf8_print(
				stderr, "lxplore: no certificate: %s\n", listener_limit(listener));
		else
			fprintf(stderr,
				"lxplore: no certificate: no proof of at most %zu forks was found "
				"for %zu buffers\n",
				forks, count);
		return;
	}
	command_write(arena, request->certificate, unfit_write(arena, &some, &proof));
}

struct unfit_reader {
	struct reading reading;
	struct reader map;
	const struct packing *packing;
	struct names ids;
	bool rejected;
	struct unfit_form form;
	struct array(int) buffers;
	struct array(struct unfit_node) nodes;
	size_t leaves;
};

static void unfit_reader_reject(struct unfit_reader *r, struct span span, const char *why)
{
	r->rejected = true;
	diag_error(r->reading.diag, span, "rejected: %s", why);
}

static struct span unfit_reader_span(const struct unfit_reader *r, const char *key)
{
	const struct node *node = node_find(r->map.map, key);
	return node ? node->span : r->map.map->span;
}

static bool is_same_range(
	const struct unfit_reader *r, const struct node *range, const struct byte_range *reserved)
{
	int64_t from, to;
	return node_integer(&r->reading, node_item(range, 0), "the begin of a reserved range", 0,
		       INT64_MAX, &from) &&
	       node_integer(&r->reading, node_item(range, 1), "the end of a reserved range", 0,
		       INT64_MAX, &to) &&
	       from == reserved->from && to == reserved->to;
}

/* A proof for a capacity holds for every smaller one; the other keys must be equal. */
static void read_room(struct unfit_reader *r)
{
	struct arena *arena = r->reading.arena;
	const struct packing *packing = r->packing;
	const struct unfit_form *form = &r->form;
	if (form->capacity >= 0 && form->capacity < packing->capacity)
		unfit_reader_reject(r, unfit_reader_span(r, "capacity"),
			arena_format(arena, "it is about %" PRId64 " bytes, and there are %" PRId64,
				form->capacity, packing->capacity));
	if (form->alignment && form->alignment != packing->alignment)
		unfit_reader_reject(r, unfit_reader_span(r, "alignment"),
			arena_format(arena,
				"it is about an alignment of %" PRId64 " and not of %" PRId64,
				form->alignment, packing->alignment));
	const struct node *reserved = form->reserved;
	bool same = reserved && reserved->count == packing->reserved_count;
	for (size_t i = 0; same && i < reserved->count; i++) {
		const struct node *range = reserved->items[i];
		same = range->kind == NODE_LIST && range->count == 2 &&
		       is_same_range(r, range, &packing->reserved[i]);
	}
	if (reserved && !same && !diag_failed(r->reading.diag))
		unfit_reader_reject(r, reserved->span, "it is about other reserved ranges");
}

static void read_buffer(struct unfit_reader *r, const struct node *node, bool *taken)
{
	struct reader map;
	struct buffer given = {0};
	size_t errors = diag_errors(r->reading.diag);
	if (!noun_open(&map, &r->reading, node, "buffer", &buffer_noun))
		return;
	fields_read(&map, &buffer_noun, &given, NULL);
	bool good = diag_errors(r->reading.diag) == errors;
	reader_done(&map);
	const char *id = given.name;
	int i = good ? names_find(&r->ids, id) : -1;
	if (good && i < 0) {
		unfit_reader_reject(r, node->span,
			arena_format(r->reading.arena, "the table has no buffer '%s'", id));
	} else if (good && taken[i]) {
		unfit_reader_reject(r, node->span,
			arena_format(r->reading.arena, "buffer '%s' is listed twice", id));
	} else if (good) {
		const struct buffer *buffer = &r->packing->buffers[i];
		taken[i] = true;
		if (buffer->start != given.start || buffer->end != given.end ||
			buffer->size != given.size)
			unfit_reader_reject(r, node->span,
				arena_format(r->reading.arena,
					"in the table, buffer '%s' has %" PRId64
					" bytes and lives in [%" PRId64 ", %" PRId64 ")",
					id, buffer->size, buffer->start, buffer->end));
	}
	*array_add(r->reading.arena, &r->buffers) = i;
}

static void read_buffers(struct unfit_reader *r)
{
	bool *taken = arena_array(r->reading.arena, bool, r->packing->count);
	const struct node *list = r->form.buffers;
	for (size_t i = 0; i < r->packing->count; i++)
		names_add(r->reading.arena, &r->ids, r->packing->buffers[i].name, (int)i);
	for (size_t i = 0; list && i < list->count; i++)
		read_buffer(r, list->items[i], taken);
}

/* `0/1 x x`; false at what is none. */
static bool read_nodes(struct unfit_reader *r, const char *line)
{
	while (!scan_end(&line)) {
		struct unfit_node node = {-1, -1};
		int64_t a = 0, b = 0;
		if (scan_text(&line, "x")) {
			r->leaves++;
		} else {
			if (!scan_integer(&line, &a) || !scan_text(&line, "/") ||
				!scan_integer(&line, &b) || a > INT32_MAX || b > INT32_MAX)
				return false;
			node = (struct unfit_node){(int)a, (int)b};
		}
		*array_add(r->reading.arena, &r->nodes) = node;
	}
	return true;
}

static void read_proof(struct unfit_reader *r)
{
	int64_t forks = r->form.forks, leaves = r->form.leaves;
	size_t errors = diag_errors(r->reading.diag);
	const struct node *list = r->form.proof;
	for (size_t i = 0; list && i < list->count; i++)
		if (list->items[i]->kind != NODE_SCALAR || !read_nodes(r, list->items[i]->text))
			reading_refuse(&r->reading, list->items[i],
				"a line of the proof has forks such as 0/1, and leaves x");
	if (forks >= 0 && leaves >= 0 && diag_errors(r->reading.diag) == errors &&
		((size_t)leaves != r->leaves || (size_t)(forks + leaves) != r->nodes.count))
		unfit_reader_reject(r, unfit_reader_span(r, "proof"),
			arena_format(r->reading.arena,
				"it has %zu forks and %zu leaves, not as many as it says",
				r->nodes.count - r->leaves, r->leaves));
}

static enum unfit_reading unfit_file_read(struct arena *arena, const struct place_request *request,
	struct diag *diag, struct unfit_file *out)
{
	struct unfit_reader r = {.reading = {.arena = arena, .diag = diag},
		.packing = &request->file.packing,
		.form = {.capacity = -1, .forks = -1, .leaves = -1}};
	const struct node *root = node_read_file(arena, request->check_certificate, diag);
	const struct node *certificate = root ? node_find(root, "certificate") : NULL;
	if (root && !certificate)
		diag_error(diag, root->span, "a key 'certificate' is expected");
	if (!certificate || !noun_open(&r.map, &r.reading, certificate, "certificate", &unfit_noun))
		return UNFIT_WRONG;
	fields_read(&r.map, &unfit_noun, &r.form, NULL);
	read_room(&r);
	read_buffers(&r);
	read_proof(&r);
	reader_done(&r.map);
	*out = (struct unfit_file){.capacity = r.form.capacity,
		.count = r.buffers.count,
		.buffers = r.buffers.at,
		.proof = {r.nodes.count, r.nodes.at},
		.proof_span = unfit_reader_span(&r, "proof")};
	if (!diag_failed(diag))
		return UNFIT_READ;
	return r.rejected ? UNFIT_REJECTED : UNFIT_WRONG;
}

/* More bytes live at once than there are: no search is needed. */
static bool find_overload(struct arena *arena, struct place_report *report)
{
	const struct packing *packing = report->packing;
	const struct load_curve *load = &report->load;
	if (packing->goal == PACKING_SPILL ||
		place_report_load(report) <= packing_room(arena, packing))
		return false;
	report->outcome = VERDICT_NO;
	report->method = "load";
	report->core_by_load = true;
	report->core_from = load->steps[load->most].from;
	report->core_to = load->steps[load->most + 1].from;
	int *core = arena_array(arena, int, packing->count);
	for (size_t i = 0; i < packing->count; i++)
		if (packing_counts_at(packing, i, report->core_from))
			core[report->core_count++] = (int)i;
	report->core = core;
	return true;
}

/* Enters the layout that was found, and the bound of the reported objective: the peak, or the bytes saved. */
static void take_layout(struct place_report *report, const struct packing_found *found)
{
	int64_t bound = (int64_t)found->common.bound;
	report->outcome = VERDICT_YES;
	report->placement = found->placement;
	if (report->packing->goal == PACKING_FIT)
		return;
	report->proof = found->common.proof;
	report->bound = report->packing->goal == PACKING_SPILL
				? packing_weights(report->packing) - bound
				: bound;
}

static void take_core(struct arena *arena, struct listener *listener, struct place_report *report,
	const struct answer *answer)
{
	report->outcome = VERDICT_NO;
	report->core_count = answer->core_count;
	report->core = answer->core;
	packing_proof_core(arena, listener, report);
}

/* A solver that proves nothing ends by itself: says so where the answer is open, with the lever. */
static void tell_open(const struct place_request *request, const struct place_report *report)
{
	bool is_open = report->packing->goal == PACKING_FIT ? !report->placement
							    : report->proof != PROOF_OPTIMAL;
	if (is_open && !report->limit && report->outcome != VERDICT_NO && request->solver &&
		!request->solver->proves)
		utf8_print(stderr,
			"lxplore: the search ends here: place/%s proves nothing; take '--solver exact'\n",
			request->solver->name);
}

/* False after telling why the solver would not. */
static bool place_request_search(struct arena *arena, const struct place_request *request,
	struct listener *listener, struct place_report *report)
{
	struct packing_search search = {.wishes = {.budget = request->budget,
						.seed = request->seed,
						.asker = listener_asker(listener, request->jobs)},
		.packing = report->packing,
		.solver = request->solver};
	search.wishes.asker.stopper.stop = listener_wait;
	search.wishes.asker.progress = NULL;
	struct explored explored = packing_explore(&search, arena);
	const struct answer *answer = explored.more;
	bool found = explored.frontier.count > 0, refused = false;
	listener_clear(listener);
	for (size_t i = 0; i < answer->complaint_count; i++) {
		utf8_print(stderr, "lxplore: %s\n", answer->complaints[i].text);
		refused |= answer->complaints[i].error && !answer->candidate_count;
	}
	if (explored.complaint)
		utf8_print(stderr, "lxplore: %s\n", explored.complaint);
	report->nodes = explored.effort.ticks;
	report->outcome = VERDICT_OPEN;
	if (found)
		take_layout(report, explored.frontier.points[0].payload);
	else if (answer->status == PROOF_INFEASIBLE)
		take_core(arena, listener, report, answer);
	report->limit = listener_limit(listener);
	if (!report->limit && answer->cut)
		report->limit = "budget";
	if (!refused)
		tell_open(request, report);
	return !refused;
}

static void write_layout(
	struct arena *arena, const struct place_request *request, const struct place_report *report)
{
	if (request->format == FORMAT_CSV && !report->placement)
		return;
	json_t *tree = place_report_json(report);
	const char *text = request->format == FORMAT_CSV
				   ? packing_write(arena, report->file, report->placement)
			   : request->format == FORMAT_TEXT ? place_report_text(arena, report, tree)
							    : json_text(arena, json_incref(tree));
	json_decref(tree);
	if (request->output)
		command_write(arena, request->output, text);
	else
		command_print(text);
}

static int tell_end(
	struct arena *arena, const struct place_request *request, const struct place_report *report)
{
	if (request->format != FORMAT_TEXT)
		utf8_print(stderr, "%s", place_report_core(arena, report));
	if (!request->quiet && request->format != FORMAT_TEXT)
		utf8_print(stderr, "%s\n", place_report_line(arena, report));
	return listener_interrupted() ? EXIT_INTERRUPTED : listener_status(report->outcome);
}

static int place_request_run(struct arena *arena, const struct place_request *request)
{
	struct place_report report = {.file = &request->file,
		.packing = &request->file.packing,
		.has_capacity = request->has_capacity,
		.load = load_curve(arena, &request->file.packing, NULL),
		.method = arena_format(arena, "place/%s", request->solver->name)};
	struct listener listener = listener_open(request->seconds, request->quiet, "nodes");
	if (!find_overload(arena, &report) &&
		!place_request_search(arena, request, &listener, &report))
		return EXIT_INPUT;
	write_layout(arena, request, &report);
	packing_write_picture(arena, request, &report);
	if (request->certificate && report.outcome == VERDICT_NO)
		packing_proof_write(arena, request, &listener, &report);
	else if (request->certificate)
		utf8_print(stderr, "lxplore: no certificate: %s\n",
			report.outcome == VERDICT_YES ? "they fit" : "it is not decided");
	return tell_end(arena, request, &report);
}

static int run(struct arena *arena, const struct arguments *arguments, struct diag *diag)
{
	struct place_request request;
	if (place_is_capture(arguments))
		return place_captures(arena, arguments, diag);
	if (!place_request_read(arena, arguments, diag, &request))
		return command_refuse(diag);
	diag_print(diag, stderr);
	if (request.check)
		return packing_check_offsets(arena, &request, diag);
	if (request.check_certificate)
		return packing_check_certificate(arena, &request, diag);
	return place_request_run(arena, &request);
}

static const struct command command_place = {
	.name = "place",
	.usage = "BUFFERS.csv|CAPTURE.json --capacity N",
	.summary = "places buffers with lifetimes in a scratchpad",
	.manual =
		"The table has a row for each buffer, with columns in any order: id, lower,\n"
		"upper, size as minimalloc reads them (a lifetime is [lower, upper)); alignment;\n"
		"in_place_parents (a;b: buffers whose place it may take, if they end in its\n"
		"first step) and in_place (may, must); weight (gain of keeping it; default: its\n"
		"size); uses (w3;r5;r9: it may be spilled between them, and each transfer costs\n"
		"the weight); address (fixed); hint (a suggested address: the exact solver begins\n"
		"with the layout of the hints). Prints the table with its offsets, and\n"
		"FROM-TO@OFFSET;.. for a buffer that is kept in parts. A separate checker\n"
		"verifies every layout.\n"
		"\n"
		"A file whose name ends in .json is a capture of a compiler's joint problem:\n"
		"each buffer has a menu of divisions over cores, and readers find it in LX\n"
		"under listed pairs of divisions. Each case gets divisions, residency and\n"
		"addresses with the fewest bytes through HBM, then the most cores, with a\n"
		"proof; --format json or -o writes them in the compiler's format, --check\n"
		"verifies the answers of the file.\n"
		"\n"
		"Exit status: 0 if all fit or, with --spill, a layout was found; 1 if they are\n"
		"proven not to fit, or a layout is wrong; 2 wrong input; 3 not decided within the\n"
		"budget; 130 interrupted.\n",
	.bit = OF_PLACE,
	.run = run,
};

const struct input_kind packing_kind = {
	.name = "packing",
	.noun = "a packing",
	.plural = "packings",
	.summary = "buffers with lifetimes in a CSV: lxplore place gives them addresses",
	.stages = 1 << STAGE_PLACE,
	.command = &command_place,
};
