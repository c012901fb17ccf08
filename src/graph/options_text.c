/* Options as text, "axis=1, keep_dims, name='x'": what is printed reads back as the same values.
 *
 *      bool     keep_dims            or keep_dims=true, keep_dims=false
 *      number   axis=-1              integers in decimal; floats with the fewest digits that read back, also inf and
 *                                    nan
 *      dtype    dtype=f32
 *      enum     join=mean
 *      shape    shape=[2, ?]         ? or -1: not known
 *      axes     axes=[0, -1]
 *      string   container='it\'s'    also in "", or bare where it is one word; \\ \' \" \n \t \r \xHH
 *      tensor   value=f32[2](1, 2)   with one element: value=f32(1); with more than 8, elements are not printed
 *               value=string('a b')  strings as above, and they may have the byte \x00; together at most 256 bytes
 *      value    initial=w/fill:1     output 1 of the node w/fill
 *
 * Options that are 0 stand for their defaults and are left out. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bf16.h"
#include "base/did_you_mean.h"
#include "base/escape.h"
#include "base/no_memory.h"
#include "base/number.h"
#include "graph/field.h"
#include "graph/graph.h"
#include "graph/options.h"
#include "tensor/string.h"
#include "tensor/tensor_check.h"

enum { MOST_ELEMENTS = 8, MOST_BYTES = 256 }; /* limits for tensors whose elements are printed */

/* ---- printing ---- */

/* A text buffer that counts all characters, and keeps those that fit. */
typedef struct sink {
    char *text;
    size_t size, used;
} sink;

static void options_text_add(sink *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void options_text_add(sink *s, const char *format, ...) {
    va_list list;
    va_start(list, format);
    bool fits = s->used < s->size;
    int length = vsnprintf(fits ? s->text + s->used : NULL, fits ? s->size - s->used : 0, format, list);
    va_end(list);
    if (length > 0) s->used += (size_t)length;
}

static void add_bytes(sink *s, mst_string string) {
    char text[MST_ESCAPE_TEXT];
    options_text_add(s, "'");
    for (size_t i = 0; i < string.length;) {
        i += mst_escape(string.data + i, string.length - i, text);
        options_text_add(s, "%s", text);
    }
    options_text_add(s, "'");
}

static void add_quoted(sink *s, const char *text) {
    add_bytes(s, mst_string_of(text));
}

static void add_shape(sink *s, const mst_shape *shape) {
    options_text_add(s, "[");
    for (int i = 0; i < shape->ndim; i++)
        if (shape->dim[i] == -1)
            options_text_add(s, "%s?", i ? ", " : "");
        else
            options_text_add(s, "%s%" PRId64, i ? ", " : "", shape->dim[i]);
    options_text_add(s, "]");
}

static void add_element(sink *s, const mst_tensor *tensor, int64_t i) {
    const void *data = mst_tensor_data(tensor);
    char text[MST_NUMBER_TEXT];
    switch (mst_tensor_dtype(tensor)) {
        case MST_F32: options_text_add(s, "%s", mst_number_print_f32(((const float *)data)[i], text)); break;
        case MST_F64: options_text_add(s, "%s", mst_number_print_f64(((const double *)data)[i], text)); break;
        case MST_I32: options_text_add(s, "%" PRId32, ((const int32_t *)data)[i]); break;
        case MST_I64: options_text_add(s, "%" PRId64, ((const int64_t *)data)[i]); break;
        case MST_BF16:
            options_text_add(s, "%s", mst_number_print_f32(mst_bf16_value(((const uint16_t *)data)[i]), text));
            break;
        case MST_STRING: add_bytes(s, mst_tensor_get_string(tensor, i)); break;
        default: options_text_add(s, "%d", ((const uint8_t *)data)[i]); break;
    }
}

static void add_tensor(sink *s, const mst_tensor *tensor) {
    const mst_shape shape = mst_tensor_shape(tensor);
    const int64_t count = mst_tensor_count(tensor);
    const bool whole = count <= MOST_ELEMENTS && mst_tensor_all_bytes(tensor) - mst_tensor_bytes(tensor) <= MOST_BYTES;
    options_text_add(s, "%s", mst_dtype_name(mst_tensor_dtype(tensor)));
    if (shape.ndim) add_shape(s, &shape);
    options_text_add(s, "(");
    for (int64_t i = 0; i < count && whole; i++) {
        if (i) options_text_add(s, ", ");
        add_element(s, tensor, i);
    }
    options_text_add(s, whole ? ")" : "...)");
}

static bool is_left_out(const mst_field *field, const void *at) {
    switch (field->type) {
        case MST_FIELD_TYPE_BOOL: return !*(const bool *)at;
        case MST_FIELD_TYPE_I32: return *(const int32_t *)at == 0;
        case MST_FIELD_TYPE_I64: return *(const int64_t *)at == 0;
        case MST_FIELD_TYPE_U64: return *(const uint64_t *)at == 0;
        case MST_FIELD_TYPE_F32: return *(const float *)at == 0 && !signbit(*(const float *)at); /* print -0 */
        case MST_FIELD_TYPE_F64: return *(const double *)at == 0 && !signbit(*(const double *)at);
        case MST_FIELD_TYPE_DTYPE: return *(const mst_dtype *)at == MST_NO_DTYPE;
        case MST_FIELD_TYPE_SHAPE: return false;
        case MST_FIELD_TYPE_AXES: return ((const mst_axes *)at)->count == 0;
        case MST_FIELD_TYPE_STRING: return !*(const char *const *)at;
        case MST_FIELD_TYPE_TENSOR: return !*(mst_tensor *const *)at;
        case MST_FIELD_TYPE_GRAPH: return !*(mst_graph *const *)at;
        case MST_FIELD_TYPE_ENUM: return *(const int *)at == 0;
        case MST_FIELD_TYPE_VALUE: return mst_value_is_none(*(const mst_value *)at);
        default: return true; /* a pointer has no text */
    }
}

static void add_value(sink *s, const mst_field *field, const void *at) {
    char text[MST_NUMBER_TEXT];
    switch (field->type) {
        case MST_FIELD_TYPE_I32: options_text_add(s, "%" PRId32, *(const int32_t *)at); break;
        case MST_FIELD_TYPE_I64: options_text_add(s, "%" PRId64, *(const int64_t *)at); break;
        case MST_FIELD_TYPE_U64: options_text_add(s, "%" PRIu64, *(const uint64_t *)at); break;
        case MST_FIELD_TYPE_F32: options_text_add(s, "%s", mst_number_print_f32(*(const float *)at, text)); break;
        case MST_FIELD_TYPE_F64: options_text_add(s, "%s", mst_number_print_f64(*(const double *)at, text)); break;
        case MST_FIELD_TYPE_DTYPE: options_text_add(s, "%s", mst_dtype_name(*(const mst_dtype *)at)); break;
        case MST_FIELD_TYPE_SHAPE: add_shape(s, at); break;
        case MST_FIELD_TYPE_AXES:
            for (int i = 0; i < ((const mst_axes *)at)->count; i++)
                options_text_add(s, "%s%" PRId32, i ? ", " : "[", ((const mst_axes *)at)->axis[i]);
            options_text_add(s, "]");
            break;
        case MST_FIELD_TYPE_STRING: add_quoted(s, *(const char *const *)at); break;
        case MST_FIELD_TYPE_TENSOR: add_tensor(s, *(mst_tensor *const *)at); break;
        case MST_FIELD_TYPE_GRAPH:
            options_text_add(s, "graph(%" PRId64 " nodes)", mst_graph_num_nodes(*(mst_graph *const *)at));
            break;
        case MST_FIELD_TYPE_ENUM: options_text_add(s, "%s", field->names[*(const int *)at]); break;
        case MST_FIELD_TYPE_VALUE: {
            const mst_value *value = at;
            options_text_add(s, "%s", value->node->name);
            if (value->index) options_text_add(s, ":%" PRId32, value->index);
            break;
        }
        default: break;
    }
}

size_t mst_options_print(const mst_field *fields, const void *options, char *text, size_t size) {
    sink s = {.text = text, .size = size};
    if (size) *text = '\0';
    for (const mst_field *field = fields; field && field->name; field++) {
        const void *at = (const char *)options + field->offset;
        if (is_left_out(field, at)) continue;
        options_text_add(&s, "%s%s", s.used ? ", " : "", field->name);
        if (field->type == MST_FIELD_TYPE_BOOL) continue;
        options_text_add(&s, "=");
        add_value(&s, field, at);
    }
    return s.used;
}

/* ---- reading ---- */

typedef struct reader {
    const mst_graph *graph;
    const char *owner;
    const mst_field *fields;
    const char *text, *at;
    mst_option_memory *memory;
} reader;

static mst_status wrong(const reader *r, const char *at, const char *format, ...) __attribute__((format(printf, 3, 4)));

static mst_status wrong(const reader *r, const char *at, const char *format, ...) {
    char reason[400];
    va_list list;
    va_start(list, format);
    vsnprintf(reason, sizeof reason, format, list);
    va_end(list);
    char shown[200]; /* the text quoted, so on one line */
    add_quoted(&(sink){.text = shown, .size = sizeof shown}, r->text);
    return MST_FAIL(MST_INVALID, "%s: %s, at character %td of the options %s", r->owner, reason, at - r->text + 1,
                    shown);
}

static void skip_space(reader *r) {
    while (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r') r->at++;
}

/* Moves to the beginning of the next word, and returns it. */
static const char *options_text_next(reader *r) {
    skip_space(r);
    return r->at;
}

static bool options_text_take(reader *r, char c) {
    if (*options_text_next(r) != c) return false;
    r->at++;
    return true;
}

/* Takes the characters up to the next one that ends a word, into memory; "" if there are none. */
static mst_status take_word(reader *r, const char **out) {
    const size_t length = strcspn(options_text_next(r), " \t\n\r,=[](){}'\"");
    char *word = mst_arena_alloc(&r->memory->arena, length + 1);
    if (!word) return MST_NO_MEMORY("for options");
    memcpy(word, r->at, length);
    r->at += length;
    *out = word;
    return MST_OK;
}

static bool is_digits(const char *word) {
    if (*word == '-' || *word == '+') word++;
    return *word && word[strspn(word, "0123456789")] == '\0';
}

static mst_status take_integer(reader *r, const char *name, int64_t low, int64_t high, int64_t *out) {
    const char *word, *begin = options_text_next(r);
    MST_TRY(take_word(r, &word));
    if (!is_digits(word)) return wrong(r, begin, "'%.40s' is no whole number, as %s wants", word, name);
    errno = 0;
    *out = strtoll(word, NULL, 10);
    if (errno == ERANGE || *out < low || *out > high)
        return wrong(r, begin, "'%.40s' is out of the range of %s, %" PRId64 " to %" PRId64, word, name, low, high);
    return MST_OK;
}

static mst_status take_unsigned(reader *r, const char *name, uint64_t *out) {
    const char *word, *begin = options_text_next(r);
    MST_TRY(take_word(r, &word));
    if (!is_digits(word) || *word == '-')
        return wrong(r, begin, "'%.40s' is no whole number from 0 on, as %s wants", word, name);
    errno = 0;
    *out = strtoull(word, NULL, 10);
    if (errno == ERANGE) return wrong(r, begin, "'%.40s' is out of the range of %s, 0 to 2^64 - 1", word, name);
    return MST_OK;
}

static mst_status take_float(reader *r, const char *name, mst_dtype dtype, void *out) {
    const char *word, *begin = options_text_next(r);
    MST_TRY(take_word(r, &word));
    if (dtype == MST_F32 ? mst_number_parse_f32(word, out) : mst_number_parse_f64(word, out)) return MST_OK;
    return wrong(r, begin, "'%.40s' is no number of %s, as %s wants", word, mst_dtype_name(dtype), name);
}

/* Takes up to 8 whole numbers in brackets. With UNKNOWN, '?' stands for -1. */
static mst_status take_list(reader *r, const char *name, bool unknown, int64_t low, int64_t high, mst_shape *out) {
    *out = MST_SCALAR;
    const char *begin = options_text_next(r);
    if (!options_text_take(r, '[')) return wrong(r, begin, "%s wants a list, like [0, 1]", name);
    if (options_text_take(r, ']')) return MST_OK;
    do {
        if (out->ndim == MST_MAX_NDIM) return wrong(r, begin, "%s has more than %d numbers", name, MST_MAX_NDIM);
        int64_t *dim = &out->dim[out->ndim++];
        if (unknown && options_text_take(r, '?'))
            *dim = -1;
        else
            MST_TRY(take_integer(r, name, low, high, dim));
    } while (options_text_take(r, ','));
    if (!options_text_take(r, ']')) return wrong(r, r->at, "the list of %s goes on with ',' or ends with ']'", name);
    return MST_OK;
}

static int digit(char c) {
    return isdigit((unsigned char)c) ? c - '0' : isxdigit((unsigned char)c) ? tolower((unsigned char)c) - 'a' + 10 : -1;
}

/* The character for which an escape stands; the reader is after the backslash. -1: none. */
static int take_escape(reader *r) {
    const char c = *r->at;
    if (c) r->at++;
    switch (c) {
        case 'n': return '\n';
        case 't': return '\t';
        case 'r': return '\r';
        case '\\':
        case '\'':
        case '"': return c;
        case 'x': {
            const int high = digit(r->at[0]), low = high < 0 ? -1 : digit(r->at[1]);
            if (low < 0) return -1;
            r->at += 2;
            return 16 * high + low;
        }
        default: return -1;
    }
}

/* Takes a string in quotes, or bare if it is one word. */
static mst_status take_bytes(reader *r, const char *name, mst_string *out) {
    const char *begin = options_text_next(r), quote = *begin;
    if (quote != '\'' && quote != '"') {
        MST_TRY(take_word(r, &out->data));
        out->length = strlen(out->data);
        return out->length ? MST_OK : wrong(r, begin, "%s wants text, like 'a b'", name);
    }
    char *text = mst_arena_alloc(&r->memory->arena, strlen(begin) + 1), *to = text;
    if (!text) return MST_NO_MEMORY("for options");
    for (r->at++; *r->at != quote;) {
        if (!*r->at) return wrong(r, begin, "the text of %s has no end", name);
        int c = (unsigned char)*r->at++;
        if (c == '\\' && (c = take_escape(r)) < 0)
            return wrong(r, r->at, "there is no such escape: \\\\ \\' \\\" \\n \\t \\r and \\xHH are known");
        *to++ = (char)c;
    }
    r->at++;
    *out = (mst_string){.data = text, .length = (size_t)(to - text)};
    return MST_OK;
}

static mst_status take_string(reader *r, const char *name, const char **out) {
    const char *begin = options_text_next(r);
    mst_string string = {NULL, 0};
    MST_TRY(take_bytes(r, name, &string));
    if (string.length && memchr(string.data, '\0', string.length))
        return wrong(r, begin, "the text of %s has the byte \\x00", name);
    *out = string.data;
    return MST_OK;
}

static mst_status take_dtype(reader *r, const char *name, mst_dtype *out) {
    const char *word, *begin = options_text_next(r);
    MST_TRY(take_word(r, &word));
    *out = mst_dtype_from_name(word);
    if (*out) return MST_OK;
    return wrong(r, begin, "'%.40s' is no dtype, as %s wants: there are f32, f64, i32, i64, u8, bool, bf16 and string",
                 word, name);
}

static mst_status take_enum(reader *r, const mst_field *field, int *out) {
    const char *word, *begin = options_text_next(r);
    char list[200] = "";
    MST_TRY(take_word(r, &word));
    for (int i = 0; field->names[i]; i++) {
        *out = i;
        if (strcmp(field->names[i], word) == 0) return MST_OK;
        const size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", field->names[i]);
    }
    return wrong(r, begin, "'%.40s' is no %s: there are %s", word, field->name, list);
}

static mst_status take_element(reader *r, const char *name, mst_tensor *tensor, int64_t i) {
    void *at = (char *)mst_tensor_data(tensor) + (size_t)i * mst_dtype_size(mst_tensor_dtype(tensor));
    int64_t number = 0;
    float value = 0;
    mst_string string;
    switch (mst_tensor_dtype(tensor)) {
        case MST_STRING: MST_TRY(take_bytes(r, name, &string)); return mst_tensor_set_string(tensor, i, string);
        case MST_F32:
        case MST_F64: return take_float(r, name, mst_tensor_dtype(tensor), at);
        case MST_BF16:
            MST_TRY(take_float(r, name, MST_F32, &value));
            *(uint16_t *)at = mst_bf16_of(value);
            break;
        case MST_I32:
            MST_TRY(take_integer(r, name, INT32_MIN, INT32_MAX, &number));
            *(int32_t *)at = (int32_t)number;
            break;
        case MST_I64: return take_integer(r, name, INT64_MIN, INT64_MAX, at);
        case MST_U8:
            MST_TRY(take_integer(r, name, 0, UINT8_MAX, &number));
            *(uint8_t *)at = (uint8_t)number;
            break;
        default:
            MST_TRY(take_integer(r, name, 0, 1, &number));
            *(uint8_t *)at = (uint8_t)number;
            break;
    }
    return MST_OK;
}

static mst_status take_tensor(reader *r, const char *name, mst_tensor **out) {
    const char *begin = options_text_next(r);
    mst_dtype dtype;
    mst_shape shape = MST_SCALAR;
    int64_t count;
    MST_TRY(take_dtype(r, name, &dtype));
    if (*options_text_next(r) == '[') MST_TRY(take_list(r, name, false, 0, INT64_MAX, &shape));
    if (mst_tensor_check(dtype, shape, &count)) return wrong(r, begin, "%s: %s", name, mst_error()->message);
    if (!options_text_take(r, '(')) return wrong(r, r->at, "%s wants its numbers, like f32[2](1, 2)", name);
    if (strncmp(options_text_next(r), "...", 3) == 0) return wrong(r, r->at, "the numbers of %s are left out", name);
    /* A number takes at least one character. So no memory is allocated for a shape that the text cannot fill. */
    if (count > (int64_t)strlen(r->at)) return wrong(r, begin, "%s wants %" PRId64 " numbers", name, count);
    mst_tensor *tensor;
    MST_TRY(mst_tensor_create(dtype, shape, &tensor));
    MST_TRY(mst_option_memory_keep(r->memory, tensor));
    for (int64_t i = 0; i < count; i++) {
        if (i && !options_text_take(r, ',')) return wrong(r, r->at, "%s wants %" PRId64 " numbers", name, count);
        MST_TRY(take_element(r, name, tensor, i));
    }
    if (!options_text_take(r, ')')) return wrong(r, r->at, "%s wants %" PRId64 " numbers and then ')'", name, count);
    *out = tensor;
    return MST_OK;
}

static mst_status take_value(reader *r, const char *name, mst_value *out) {
    const char *word, *begin = options_text_next(r);
    MST_TRY(take_word(r, &word));
    if (!r->graph || !mst_graph_find_value(r->graph, word, out))
        return wrong(r, begin, "%s: there is no value '%.100s'", name, word);
    return MST_OK;
}

static mst_status take_bool(reader *r, const char *name, bool *out) {
    const char *word, *begin = options_text_next(r);
    MST_TRY(take_word(r, &word));
    *out = strcmp(word, "true") == 0;
    if (*out || strcmp(word, "false") == 0) return MST_OK;
    return wrong(r, begin, "'%.40s' is neither true nor false, as %s wants", word, name);
}

static mst_status take_field(reader *r, const mst_field *field, void *at) {
    const char *name = field->name;
    int64_t number = 0;
    mst_shape list;
    if (field->type == MST_FIELD_TYPE_BOOL && !options_text_take(r, '=')) {
        *(bool *)at = true;
        return MST_OK;
    }
    if (field->type != MST_FIELD_TYPE_BOOL && !options_text_take(r, '='))
        return wrong(r, r->at, "%s wants '=' and a value", name);
    switch (field->type) {
        case MST_FIELD_TYPE_BOOL: return take_bool(r, name, at);
        case MST_FIELD_TYPE_I32:
            MST_TRY(take_integer(r, name, INT32_MIN, INT32_MAX, &number));
            *(int32_t *)at = (int32_t)number;
            return MST_OK;
        case MST_FIELD_TYPE_I64: return take_integer(r, name, INT64_MIN, INT64_MAX, at);
        case MST_FIELD_TYPE_U64: return take_unsigned(r, name, at);
        case MST_FIELD_TYPE_F32: return take_float(r, name, MST_F32, at);
        case MST_FIELD_TYPE_F64: return take_float(r, name, MST_F64, at);
        case MST_FIELD_TYPE_DTYPE: return take_dtype(r, name, at);
        case MST_FIELD_TYPE_SHAPE: return take_list(r, name, true, INT64_MIN, INT64_MAX, at);
        case MST_FIELD_TYPE_AXES:
            MST_TRY(take_list(r, name, false, INT32_MIN, INT32_MAX, &list));
            *(mst_axes *)at = (mst_axes){.count = list.ndim};
            for (int i = 0; i < list.ndim; i++) ((mst_axes *)at)->axis[i] = (int32_t)list.dim[i];
            return MST_OK;
        case MST_FIELD_TYPE_STRING: return take_string(r, name, at);
        case MST_FIELD_TYPE_TENSOR: return take_tensor(r, name, at);
        case MST_FIELD_TYPE_ENUM: return take_enum(r, field, at);
        case MST_FIELD_TYPE_VALUE: return take_value(r, name, at);
        case MST_FIELD_TYPE_GRAPH: return wrong(r, r->at, "%s is a graph, which cannot be given as text", name);
        default: return wrong(r, r->at, "%s is a pointer, which cannot be given as text", name);
    }
}

static mst_status options_text_unknown(const reader *r, const char *at, const char *name) {
    int count = 0;
    while (r->fields && r->fields[count].name) count++;
    if (!count) return wrong(r, at, "there is no option '%.60s', nor any other", name);
    const char **names = mst_arena_alloc(&r->memory->arena, ((size_t)count + 1) * sizeof *names);
    if (!names) return MST_NO_MEMORY("for options");
    char list[250] = "";
    for (int i = 0; i < count; i++) {
        const size_t used = strlen(list);
        names[i] = r->fields[i].name;
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", names[i]);
    }
    char guess[MST_DID_YOU_MEAN_TEXT];
    if (*mst_did_you_mean(name, names, guess, sizeof guess))
        return wrong(r, at, "there is no option '%.60s'%s", name, guess);
    return wrong(r, at, "there is no option '%.60s': there are %s", name, list);
}

static mst_status take_option(reader *r, void *options, bool *given) {
    const char *name, *begin = options_text_next(r);
    MST_TRY(take_word(r, &name));
    if (!*name) return wrong(r, begin, "the name of an option is due");
    for (const mst_field *field = r->fields; field && field->name; field++) {
        if (strcmp(field->name, name) != 0) continue;
        bool *twice = &given[field - r->fields];
        if (*twice) return wrong(r, begin, "%s is given twice", name);
        *twice = true;
        MST_TRY(take_field(r, field, (char *)options + field->offset));
        if (mst_field_given(field, (char *)options + field->offset)) return wrong(r, begin, "%s", mst_error()->message);
        return MST_OK;
    }
    return options_text_unknown(r, begin, name);
}

mst_status mst_options_parse(const mst_graph *graph, const char *owner, const mst_field *fields, const char *text,
                             mst_option_memory *memory, void *options) {
    reader r = {.graph = graph, .owner = owner, .fields = fields, .text = text, .at = text, .memory = memory};
    size_t count = 0;
    while (fields && fields[count].name) count++;
    bool *given = mst_arena_alloc(&memory->arena, count + 1);
    if (!given) return MST_NO_MEMORY("for options");
    while (*options_text_next(&r)) {
        MST_TRY(take_option(&r, options, given));
        if (options_text_take(&r, ',')) {
            if (!*options_text_next(&r)) return wrong(&r, r.at, "another option is due after ','");
        } else if (*r.at) {
            return wrong(&r, r.at, "',' or the end is due");
        }
    }
    return MST_OK;
}

mst_status mst_option_memory_keep(mst_option_memory *memory, mst_tensor *tensor) {
    mst_status status = mst_grow(&memory->tensor, sizeof tensor, memory->num_tensors + 1, &memory->capacity);
    if (status)
        mst_tensor_release(tensor);
    else
        memory->tensor[memory->num_tensors++] = tensor;
    return status;
}

mst_status mst_option_memory_keep_body(mst_option_memory *memory, mst_graph *body) {
    mst_status status = mst_grow(&memory->body, sizeof body, memory->num_bodies + 1, &memory->body_capacity);
    if (status)
        mst_graph_destroy(body);
    else
        memory->body[memory->num_bodies++] = body;
    return status;
}

void mst_option_memory_free(mst_option_memory *memory) {
    for (int64_t i = 0; i < memory->num_bodies; i++) mst_graph_destroy(memory->body[i]);
    free(memory->body);
    for (int64_t i = 0; i < memory->num_tensors; i++) mst_tensor_release(memory->tensor[i]);
    free(memory->tensor);
    mst_arena_free(&memory->arena);
    *memory = (mst_option_memory){0};
}
