#include "spec/file.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"
#include "spec/node.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TAG_DIRECTIVES_MOST = 64 };

/* Kinds of files, for messages. */
struct kind {
	const char *name;   /* "a spec" */
	const char *folder; /* what to do with a folder */
	size_t most;        /* bytes */
	const char *most_text;
};

static const struct kind spec = {"a spec", "name the YAML files in it", SPEC_BYTES_MOST, "1 MiB"};
static const struct kind plan = {"a plan", "name the YAML files in it", PLAN_BYTES_MOST, "16 MiB"};
static const struct kind json = {"a JSON file", "name a JSON file", PLAN_BYTES_MOST, "16 MiB"};
static const struct kind table = {"a table", "name a CSV file", TABLE_BYTES_MOST, "64 MiB"};

static void file_complain(
	const struct source *source, const struct kind *kind, int error, struct diag *diag)
{
	struct span file = {.source = source};
	switch (error) {
	case ENOENT:
		diag_error(diag, file, "no such file");
		break;
	case EISDIR:
		diag_error(diag, file, "is a folder; %s", kind->folder);
		break;
	case EACCES:
		diag_error(diag, file, "no permission to read it");
		break;
	default:
		diag_error(diag, file, "cannot be read: %s", strerror(error));
	}
}

static void complain_size(
	const struct source *source, const struct kind *kind, int64_t bytes, struct diag *diag)
{
	struct span file = {.source = source};
	if (bytes > 0)
		diag_error(diag, file, "has %lld bytes; %s has at most %zu (%s)", (long long)bytes,
			kind->name, kind->most, kind->most_text);
	else
		diag_error(diag, file, "is longer than %zu bytes (%s), the most of %s", kind->most,
			kind->most_text, kind->name);
}

static void set_bytes(struct arena *arena, struct source *source, const char *bytes, size_t length)
{
	static const char mark[] = "\xef\xbb\xbf";
	size_t skip = length >= 3 && memcmp(bytes, mark, 3) == 0 ? 3 : 0;
	source->bytes = arena_copy(arena, bytes + skip, length - skip);
	source->length = length - skip;
	source->hash = hash_bytes(bytes, length);
	source_mark(arena, source);
}

/* 0, or the error of the system.  At least one byte more than allowed shows the excess. */
static int read_all(int file, size_t most, struct text *bytes)
{
	char piece[1 << 14];
	while (bytes->length <= most) {
		ssize_t got = read(file, piece, sizeof piece);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return errno;
		if (got == 0)
			return 0;
		text_bytes(bytes, piece, (size_t)got);
	}
	return 0;
}

static const char plan_key[] = "plan:";

/* A plan as lxplore writes it: its key is the first thing in the file. */
static bool is_plan(const char *bytes, size_t length)
{
	return length >= sizeof plan_key && memcmp(bytes, plan_key, sizeof plan_key - 1) == 0;
}

static int read_open(int file, const struct kind *kind, struct source *source, struct arena *arena,
	struct diag *diag)
{
	struct stat facts;
	if (fstat(file, &facts) < 0)
		return errno;
	if (S_ISDIR(facts.st_mode))
		return EISDIR;
	struct arena *scratch = arena_open();
	struct text bytes = text_open(scratch);
	int error = read_all(file, sizeof plan_key - 1, &bytes);
	if (kind == &spec && is_plan(text_read(&bytes), bytes.length))
		kind = &plan;
	bool large = S_ISREG(facts.st_mode) && facts.st_size > (off_t)kind->most;
	if (!error && !large)
		error = read_all(file, kind->most, &bytes);
	if (!error && (large || bytes.length > kind->most))
		complain_size(source, kind, large ? facts.st_size : 0, diag);
	else if (!error)
		set_bytes(arena, source, text_read(&bytes), bytes.length);
	arena_close(scratch);
	return error;
}

static const struct source *read_kind(
	struct arena *arena, const char *path, const struct kind *kind, struct diag *diag)
{
	bool standard = text_equal(path, "-");
	struct source *source = arena_new(arena, struct source);
	source->name = standard ? "standard input" : arena_text(arena, path);
	int file = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	int error = file < 0 ? errno : read_open(file, kind, source, arena, diag);
	if (file >= 0 && !standard)
		close(file);
	if (error)
		file_complain(source, kind, error, diag);
	return source->bytes ? source : NULL;
}

const struct source *file_read(struct arena *arena, const char *path, struct diag *diag)
{
	return read_kind(arena, path, &spec, diag);
}

const struct source *file_read_table(struct arena *arena, const char *path, struct diag *diag)
{
	return read_kind(arena, path, &table, diag);
}

const struct source *file_of_text(
	struct arena *arena, const char *name, const char *text, size_t length, struct diag *diag)
{
	struct source *source = arena_new(arena, struct source);
	source->name = arena_text(arena, name);
	const struct kind *kind = is_plan(text, length)    ? &plan
				  : length && *text == '{' ? &json
							   : &spec;
	if (length > kind->most) {
		complain_size(source, kind, (int64_t)length, diag);
		return NULL;
	}
	set_bytes(arena, source, text, length);
	return source;
}

bool file_check_characters(const struct source *source, struct diag *diag)
{
	for (size_t at = 0; at < source->length;) {
		uint32_t c = 0;
		size_t size = utf8_read(source->bytes + at, source->length - at, &c);
		struct span span = {0};
		bool control = c == 0x7f || (c < ' ' && c != '\t' && c != '\n' && c != '\r') ||
			       (c >= 0x80 && c < 0xa0 && c != 0x85) || c == 0xfffe || c == 0xffff;
		if (!size || control)
			span = source_span(source, at, at + (size ? size : 1));
		bool wide = at == 0 && source->length > 1 && !size &&
			    (memcmp(source->bytes, "\xff\xfe", 2) == 0 ||
				    memcmp(source->bytes, "\xfe\xff", 2) == 0);
		if (wide) {
			diag_error(diag, (struct span){.source = source},
				"is UTF-16; save the file as UTF-8 text");
			return false;
		}
		if (!size) {
			diag_error(diag, span,
				"byte 0x%02x is not UTF-8; save the file as UTF-8 text",
				(unsigned char)source->bytes[at]);
			return false;
		}
		if (control) {
			diag_error(diag, span,
				c ? "control character U+%04X in a text file"
				  : "NUL byte: this is not a text file",
				(unsigned)c);
			return false;
		}
		at += size;
	}
	return true;
}

/* Returns the offset of a Jinja expression or statement in a line, outside of comments; -1 if it has none. */
static ptrdiff_t find_template(const char *line, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (line[i] == '#' && (i == 0 || line[i - 1] == ' ' || line[i - 1] == '\t'))
			return -1;
		if (line[i] == '{' && i + 1 < length &&
			(line[i + 1] == '{' || line[i + 1] == '%' || line[i + 1] == '#'))
			return (ptrdiff_t)i;
	}
	return -1;
}

static size_t template_length(const char *at, size_t left)
{
	const char closing[] = {at[1] == '{' ? '}' : at[1], '}'};
	const char *end = memmem(at, left, closing, sizeof closing);
	return end ? (size_t)(end - at) + 2 : 2;
}

/* --- {{include_text('FILE')}} */

/* A text that is being put together. */
struct including {
	struct arena *arena;
	struct diag *diag;
	const char *const *folders;
	struct text text;
	struct array(struct source_piece) pieces;
	int depth;
};

static size_t skip_blanks(const char *at, size_t i, size_t length)
{
	while (i < length && (at[i] == ' ' || at[i] == '\t'))
		i++;
	return i;
}

/* The file of a macro that begins at `at`; NULL if it is something else. */
static const char *included_file(struct arena *arena, const char *at, size_t length)
{
	static const char name[] = "include_text";
	size_t i = skip_blanks(at, 2, length), from;
	if (length < i + sizeof name || memcmp(at, "{{", 2) != 0 ||
		memcmp(at + i, name, sizeof name - 1) != 0)
		return NULL;
	i = skip_blanks(at, i + sizeof name - 1, length);
	if (i >= length || at[i] != '(')
		return NULL;
	i = skip_blanks(at, i + 1, length);
	char quote = i < length ? at[i] : 0;
	const char *end =
		quote == '\'' || quote == '"' ? memchr(at + i + 1, quote, length - i - 1) : NULL;
	if (!end)
		return NULL;
	from = i + 1;
	i = skip_blanks(at, (size_t)(end - at) + 1, length);
	if (i >= length || at[i] != ')')
		return NULL;
	i = skip_blanks(at, i + 1, length);
	if (length < i + 2 || memcmp(at + i, "}}", 2) != 0)
		return NULL;
	return arena_format(arena, "%.*s", (int)(end - at - (ptrdiff_t)from), at + from);
}

/* Beside the file that includes it, else in one of the folders; NULL after complaining. */
static const struct source *find_included(
	struct including *x, const char *file, const struct source *by, struct span span)
{
	const char *slash = strrchr(by->name, '/');
	const char *beside =
		slash && *file != '/'
			? arena_format(x->arena, "%.*s/%s", (int)(slash - by->name), by->name, file)
			: file;
	const char *path = access(beside, F_OK) == 0 ? beside : NULL;
	for (size_t i = 0; !path && x->folders && x->folders[i] && *file != '/'; i++) {
		const char *there = arena_format(x->arena, "%s/%s", x->folders[i], file);
		path = access(there, F_OK) == 0 ? there : NULL;
	}
	if (!path)
		diag_error(x->diag, span,
			"no file '%s' to include, neither beside this file nor in the "
			"folders of the command line",
			file);
	return path ? file_read(x->arena, path, x->diag) : NULL;
}

static void add_piece(struct including *x, const struct source *source, size_t from, size_t to)
{
	if (to <= from)
		return;
	*array_add(x->arena, &x->pieces) = (struct source_piece){x->text.length, from, source};
	text_bytes(&x->text, source->bytes + from, to - from);
}

static bool include_file(struct including *x, const struct source *source)
{
	size_t begun = 0;
	for (size_t at = 0; at < source->length;) {
		const char *line = source->bytes + at,
			   *end = memchr(line, '\n', source->length - at);
		size_t length = end ? (size_t)(end - line) : source->length - at;
		ptrdiff_t found = find_template(line, length);
		const char *file =
			found >= 0 ? included_file(x->arena, line + found, length - (size_t)found)
				   : NULL;
		if (!file) {
			at += length + 1;
			continue;
		}
		size_t from = at + (size_t)found,
		       size = template_length(line + found, length - (size_t)found);
		struct span span = source_span(source, from, from + size);
		const struct source *other = NULL;
		if (x->depth >= INCLUDES_MOST)
			diag_error(x->diag, span, "files include files more than %d deep",
				INCLUDES_MOST);
		else
			other = find_included(x, file, source, span);
		if (!other)
			return false;
		add_piece(x, source, begun, from);
		x->depth++;
		bool good = include_file(x, other);
		x->depth--;
		at = begun = from + size;
		if (good && x->text.length > SPEC_BYTES_MOST)
			diag_error(x->diag, span, "more than %s with what is included",
				spec.most_text);
		if (!good || x->text.length > SPEC_BYTES_MOST)
			return false;
	}
	add_piece(x, source, begun, source->length);
	return true;
}

const struct source *file_include(struct arena *arena, const struct source *source,
	const char *const *folders, struct diag *diag)
{
	struct including x = {
		.arena = arena, .diag = diag, .folders = folders, .text = text_open(arena)};
	if (!memmem(source->bytes, source->length, "include_text", 12))
		return source;
	if (!include_file(&x, source))
		return NULL;
	struct source *whole = arena_copy(arena, source, sizeof *source);
	whole->bytes = text_read(&x.text);
	whole->length = x.text.length;
	whole->pieces = x.pieces.at;
	whole->piece_count = x.pieces.count;
	source_mark(arena, whole);
	return x.pieces.count ? whole : source;
}

static bool check_lines(const struct source *source, struct diag *diag)
{
	int directives = 0;
	for (size_t at = 0; at < source->length;) {
		const char *line = source->bytes + at;
		size_t length = 0, left = source->length - at;
		while (length < left && !utf8_break(line + length, left - length))
			length++;
		ptrdiff_t template = find_template(line, length);
		if (template >= 0) {
			size_t from = at + (size_t) template;
			size_t size = template_length(line + template, length - (size_t) template);
			diag_error(diag, source_span(source, from, from + size),
				"a Jinja template; render it with Jinja first: of Jinja only "
				"{{include_text('FILE')}} is read");
			return false;
		}
		if (length > 8 && memcmp(line, "!include", 8) == 0) {
			diag_error(diag, source_span(source, at, at + length),
				"'!include' is not followed; give that file as an argument too");
			return false;
		}
		if (length > 4 && memcmp(line, "%TAG", 4) == 0 &&
			++directives > TAG_DIRECTIVES_MOST) {
			diag_error(diag, source_span(source, at, at + length),
				"more than %d %%TAG directives", TAG_DIRECTIVES_MOST);
			return false;
		}
		at += length;
		if (at < source->length)
			at += utf8_break(source->bytes + at, source->length - at);
	}
	return true;
}

bool file_says_nothing(const struct source *source)
{
	bool comment = false;
	for (size_t at = 0; at < source->length; at++) {
		char c = source->bytes[at];
		if (c == '\n' || c == '\r')
			comment = false;
		else if (c == '#')
			comment = true;
		else if (!comment && c != ' ' && c != '\t')
			return false;
	}
	return true;
}

bool file_check(const struct source *source, struct diag *diag)
{
	return file_check_characters(source, diag) && check_lines(source, diag);
}
