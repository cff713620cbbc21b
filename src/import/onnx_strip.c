#include "import/onnx_strip.h"

enum onnx_message { MODEL, GRAPH, FUNCTION, NODE, TENSOR, ATTRIBUTE, VALUE_INFO, TYPE, OTHER };

enum { STRIP_DEPTH_MOST = 64 };

/* Treatment of a field: copied, copied if it is short, walked as a message.  All others are dropped. */
enum treatment { DROP, COPY, SHORT, WALK };

static const struct {
	enum onnx_message message;
	unsigned field;
	enum treatment treatment;
	enum onnx_message inside;
} rows[] = {
	{MODEL, 1, COPY, OTHER},
	{MODEL, 7, WALK, GRAPH},
	{MODEL, 8, SHORT, OTHER},
	{MODEL, 25, WALK, FUNCTION},
	{FUNCTION, 1, SHORT, OTHER},
	{FUNCTION, 4, SHORT, OTHER},
	{FUNCTION, 5, SHORT, OTHER},
	{FUNCTION, 7, WALK, NODE},
	{FUNCTION, 10, SHORT, OTHER},
	{GRAPH, 1, WALK, NODE},
	{GRAPH, 2, SHORT, OTHER},
	{GRAPH, 5, WALK, TENSOR},
	{GRAPH, 11, WALK, VALUE_INFO},
	{GRAPH, 12, WALK, VALUE_INFO},
	{GRAPH, 13, WALK, VALUE_INFO},
	{NODE, 1, SHORT, OTHER},
	{NODE, 2, SHORT, OTHER},
	{NODE, 3, SHORT, OTHER},
	{NODE, 4, SHORT, OTHER},
	{NODE, 5, WALK, ATTRIBUTE},
	{NODE, 7, SHORT, OTHER},
	{ATTRIBUTE, 1, SHORT, OTHER},
	{ATTRIBUTE, 2, COPY, OTHER},
	{ATTRIBUTE, 3, COPY, OTHER},
	{ATTRIBUTE, 4, SHORT, OTHER},
	{ATTRIBUTE, 5, WALK, TENSOR},
	{ATTRIBUTE, 6, WALK, GRAPH},
	{ATTRIBUTE, 21, SHORT, OTHER},
	{ATTRIBUTE, 7, SHORT, OTHER},
	{ATTRIBUTE, 8, SHORT, OTHER},
	{ATTRIBUTE, 9, SHORT, OTHER},
	{ATTRIBUTE, 20, COPY, OTHER},
	{TENSOR, 1, SHORT, OTHER},
	{TENSOR, 2, COPY, OTHER},
	{TENSOR, 4, SHORT, OTHER},
	{TENSOR, 5, SHORT, OTHER},
	{TENSOR, 7, SHORT, OTHER},
	{TENSOR, 8, SHORT, OTHER},
	{TENSOR, 9, SHORT, OTHER},
	{TENSOR, 10, SHORT, OTHER},
	{TENSOR, 11, SHORT, OTHER},
	{TENSOR, 14, COPY, OTHER},
	{VALUE_INFO, 1, SHORT, OTHER},
	{VALUE_INFO, 2, WALK, TYPE},
	{TYPE, 1, SHORT, OTHER},
};

static enum treatment onnx_strip_treat(
	enum onnx_message message, uint64_t field, enum onnx_message *inside)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (rows[i].message == message && rows[i].field == field) {
			*inside = rows[i].inside;
			return rows[i].treatment;
		}
	return DROP;
}

struct bytes {
	const uint8_t *at;
	size_t length, next;
};

static bool take_varint(struct bytes *bytes, uint64_t *out)
{
	*out = 0;
	for (int shift = 0; shift < 64 && bytes->next < bytes->length; shift += 7) {
		uint8_t byte = bytes->at[bytes->next++];
		*out |= (uint64_t)(byte & 127) << shift;
		if (!(byte & 128))
			return true;
	}
	return false;
}

static void put_varint(struct text *out, uint64_t value)
{
	char bytes[10];
	size_t count = 0;
	for (; value > 127; value >>= 7)
		bytes[count++] = (char)((value & 127) | 128);
	bytes[count++] = (char)value;
	text_bytes(out, bytes, count);
}

/* Measures the bytes of a field's value; false: they run past the end, or the type is unknown. */
static bool bytes_measure(struct bytes *bytes, unsigned type, uint64_t *length)
{
	size_t from = bytes->next;
	uint64_t value;
	switch (type) {
	case 0:
		if (!take_varint(bytes, &value))
			return false;
		*length = bytes->next - from;
		bytes->next = from;
		return true;
	case 2:
		if (!take_varint(bytes, length))
			return false;
		break;
	case 1:
		*length = 8;
		break;
	case 5:
		*length = 4;
		break;
	default:
		return false;
	}
	return *length <= bytes->length - bytes->next;
}

static bool bytes_strip(enum onnx_message message, struct bytes bytes, struct text *out,
	size_t base, size_t *at, int depth)
{
	if (depth > STRIP_DEPTH_MOST)
		return false;
	while (bytes.next < bytes.length) {
		size_t from = bytes.next;
		uint64_t key, length;
		enum onnx_message inside = OTHER;
		*at = base + from;
		if (!take_varint(&bytes, &key) || !bytes_measure(&bytes, key & 7, &length))
			return false;
		enum treatment treatment = onnx_strip_treat(message, key >> 3, &inside);
		if (treatment == WALK && (key & 7) == 2) {
			struct text part = text_open(out->arena);
			struct bytes within = {bytes.at + bytes.next, length, 0};
			if (!bytes_strip(inside, within, &part, base + bytes.next, at, depth + 1))
				return false;
			put_varint(out, key);
			put_varint(out, part.length);
			text_bytes(out, text_read(&part), part.length);
		} else if (treatment == COPY ||
			   (treatment == SHORT && length <= STRIP_BYTES_MOST)) {
			text_bytes(out, (const char *)bytes.at + from, bytes.next + length - from);
		}
		bytes.next += length;
	}
	return true;
}

bool onnx_strip(const uint8_t *bytes, size_t length, struct text *out, size_t *at)
{
	*at = 0;
	return bytes_strip(MODEL, (struct bytes){bytes, length, 0}, out, 0, at, 0);
}
