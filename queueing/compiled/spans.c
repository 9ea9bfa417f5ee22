/* Spans in the order of protobuf's fields, in JSON: headway.models.measured.spans.layout. */
#include <string.h>

#include "kernels.h"

/* The contents of a span: where its texts begin and end, and its numbers. */
enum {
    BEGIN, END, TRACE, TRACE_END, STATE, STATE_END, KEY, PARENT, NAME, NAME_END, KIND, START, STOP,
    ATTRIBUTES, ATTRIBUTES_END, CODE, WIDTH
};

typedef struct {
    const char *text, *at, *end;
} Reader;

static int next_is(const Reader *reader, char letter)
{
    return reader->at < reader->end && *reader->at == letter;
}

static int took(Reader *reader, const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(reader->end - reader->at) < length || memcmp(reader->at, word, length))
        return 0;
    reader->at += length;
    return 1;
}

static int took_with_blanks(Reader *reader, const char *word)
{
    if (!took(reader, word))
        return 0;
    while (next_is(reader, ' '))
        reader->at++;
    return 1;
}

/* The name of a member and its colon; with the comma before it, except for the first member. */
static int took_name(Reader *reader, const char *before, const char *name)
{
    Reader ahead = *reader;
    if (!took_with_blanks(&ahead, before) || !took(&ahead, "\"") || !took(&ahead, name) ||
        !took_with_blanks(&ahead, "\":"))
        return 0;
    *reader = ahead;
    return 1;
}

/* A text without escapes; stores where it begins and ends if asked to. */
static int took_text(Reader *reader, int64_t *place)
{
    if (!took(reader, "\""))
        return 0;
    const char *begin = reader->at;
    while (reader->at < reader->end && (unsigned char)*reader->at >= ' ' && *reader->at != '"' &&
           *reader->at != '\\')
        reader->at++;
    if (place) {
        place[0] = begin - reader->text;
        place[1] = reader->at - reader->text;
    }
    return took(reader, "\"");
}

static int hexadecimal(char letter)
{
    if (letter >= '0' && letter <= '9')
        return letter - '0';
    letter |= ' ';
    return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

/* An identifier of 64 bits at most. */
static int took_identifier(Reader *reader, int64_t *result)
{
    uint64_t value = 0;
    int digits = 0, digit;
    if (!took(reader, "\""))
        return 0;
    while (reader->at < reader->end && digits <= 16 && (digit = hexadecimal(*reader->at)) >= 0) {
        value = value << 4 | (uint64_t)digit;
        reader->at++;
        digits++;
    }
    memcpy(result, &value, sizeof value);
    return digits <= 16 && took(reader, "\"");
}

static int took_digits(Reader *reader)
{
    const char *begin = reader->at;
    while (reader->at < reader->end && *reader->at >= '0' && *reader->at <= '9')
        reader->at++;
    return (int)(reader->at - begin < 1000 ? reader->at - begin : 1000);
}

/* A time below 4e18 ns. */
static int took_time(Reader *reader, int64_t *result)
{
    if (!took(reader, "\""))
        return 0;
    const char *begin = reader->at;
    int digits = took_digits(reader);
    if (digits < 1 || digits > 19 || (digits == 19 && (*begin < '1' || *begin > '3')))
        return 0;
    *result = 0;
    for (const char *at = begin; at < reader->at; at++)
        *result = 10 * *result + (*at - '0');
    return took(reader, "\"");
}

/* One digit, up to a given one. */
static int took_choice(Reader *reader, char most, int64_t *result)
{
    if (reader->at == reader->end || *reader->at < '0' || *reader->at > most)
        return 0;
    *result = *reader->at++ - '0';
    return 1;
}

static int took_number(Reader *reader)
{
    if (next_is(reader, '-'))
        reader->at++;
    if (!took_digits(reader))
        return 0;
    return !took(reader, ".") || took_digits(reader);
}

static int took_plain(Reader *reader)
{
    if (next_is(reader, '"'))
        return took_text(reader, NULL);
    return took(reader, "true") || took(reader, "false") || took_number(reader);
}

static int took_attribute(Reader *reader)
{
    if (!took(reader, "{") || !took_name(reader, "", "key") || !took_text(reader, NULL) ||
        !took_name(reader, ",", "value") || !took(reader, "{") || !took_text(reader, NULL) ||
        !took_with_blanks(reader, ":"))
        return 0;
    return took_plain(reader) && took(reader, "}}");
}

static int took_attributes(Reader *reader)
{
    if (!took(reader, "["))
        return 0;
    if (took(reader, "]"))
        return 1;
    do {
        if (!took_attribute(reader))
            return 0;
    } while (took_with_blanks(reader, ","));
    return took(reader, "]");
}

static int took_status(Reader *reader, int64_t *code)
{
    if (!took(reader, "{"))
        return 0;
    if (took_name(reader, "", "code") && !took_choice(reader, '2', code))
        return 0;
    return took(reader, "}");
}

static int took_span(Reader *reader, int64_t *row)
{
    memset(row, 0, WIDTH * sizeof *row);
    row[BEGIN] = reader->at - reader->text;
    if (!took(reader, "{") || !took_name(reader, "", "traceId") ||
        !took_text(reader, row + TRACE) || row[TRACE] == row[TRACE_END] ||
        !took_name(reader, ",", "spanId"))
        return 0;
    const char *key = reader->at;
    if (!took_identifier(reader, row + KEY) || reader->at - key < 3)
        return 0;
    if (took_name(reader, ",", "traceState") && !took_text(reader, row + STATE))
        return 0;
    if (took_name(reader, ",", "parentSpanId") && !took_identifier(reader, row + PARENT))
        return 0;
    if (took_name(reader, ",", "flags") && !took_digits(reader))
        return 0;
    if (!took_name(reader, ",", "name") || !took_text(reader, row + NAME) ||
        !took_name(reader, ",", "kind") || !took_choice(reader, '5', row + KIND) ||
        !took_name(reader, ",", "startTimeUnixNano") || !took_time(reader, row + START) ||
        !took_name(reader, ",", "endTimeUnixNano") || !took_time(reader, row + STOP) ||
        row[STOP] < row[START])
        return 0;
    if (took_name(reader, ",", "attributes")) {
        row[ATTRIBUTES] = reader->at - reader->text;
        if (!took_attributes(reader))
            return 0;
        row[ATTRIBUTES_END] = reader->at - reader->text;
    }
    if (took_name(reader, ",", "status") && !took_status(reader, row + CODE))
        return 0;
    row[END] = reader->at + 1 - reader->text;
    return took(reader, "}");
}

/* text and its size in bytes; number of spans, and a row for each. */
const char *spans_laid_out(const Argument *given)
{
    Reader reader = {(const char *)given[0].counts.at, NULL, NULL};
    int64_t size = given[1].count, *found = given[2].counts.at;
    ptrdiff_t room = (given[2].counts.size - 1) / WIDTH, count = 0;
    if (size < 0 || size > 8 * (int64_t)given[0].counts.size || given[2].counts.size < 1)
        return "spans_laid_out: as many bytes as the text has, and room for how many spans it has";
    reader.at = reader.text;
    reader.end = reader.text + size;
    while (reader.at < reader.end &&
           (reader.at = memchr(reader.at, '{', (size_t)(reader.end - reader.at))) != NULL) {
        int64_t row[WIDTH];
        const char *begin = reader.at;
        if (!took_span(&reader, row)) {
            reader.at = begin + 1;
            continue;
        }
        if (count == room)
            return "spans_laid_out: room for each span";
        memcpy(found + 1 + WIDTH * count++, row, sizeof row);
    }
    found[0] = count;
    return NULL;
}
