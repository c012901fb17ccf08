/* The interpreter of StableHLO (support/hlo_interpreter.h): the lexer, which reads white space, words, numbers,
 * types and constants. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/hlo_inside.h"

enum { SHOWN = 24 };

bool hlo_bad(hlo_parser *p, const char *format, ...) {
    va_list list;
    const int n = snprintf(p->error, p->error_size, "line %d: ", p->line);
    if (n < 0 || (size_t)n >= p->error_size) return false;
    va_start(list, format);
    vsnprintf(p->error + n, p->error_size - (size_t)n, format, list);
    va_end(list);
    return false;
}

static bool is_word(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '$';
}

void hlo_skip(hlo_parser *p) {
    for (;; p->at++) {
        if (p->at[0] == '/' && p->at[1] == '/')
            while (p->at[1] && p->at[1] != '\n') p->at++;
        else if (*p->at == '\n')
            p->line++;
        else if (*p->at != ' ' && *p->at != '\t' && *p->at != '\r')
            return;
    }
}

bool hlo_accept(hlo_parser *p, const char *text) {
    const size_t length = strlen(text);
    hlo_skip(p);
    if (strncmp(p->at, text, length) != 0 || (is_word(text[length - 1]) && is_word(p->at[length]))) return false;
    p->at += length;
    return true;
}

const char *hlo_next(hlo_parser *p, char *text, size_t size) {
    size_t n = 0;
    hlo_skip(p);
    if (!*p->at) {
        snprintf(text, size, "the end of the text");
        return text;
    }
    if (size) text[n++] = '\'';
    while (n + 2 < size && n < SHOWN && isprint((unsigned char)p->at[n - 1])) {
        text[n] = p->at[n - 1];
        n++;
    }
    snprintf(text + n, size - n, "'");
    return text;
}

bool hlo_expect(hlo_parser *p, const char *text) {
    char next[2 * SHOWN];
    if (hlo_accept(p, text)) return true;
    return hlo_bad(p, "expected '%s', found %s", text, hlo_next(p, next, sizeof next));
}

bool hlo_word(hlo_parser *p, const char **word, int *length) {
    char next[2 * SHOWN];
    hlo_skip(p);
    *word = p->at;
    while (is_word(*p->at)) p->at++;
    if (p->at == *word) return hlo_bad(p, "expected a word, found %s", hlo_next(p, next, sizeof next));
    if (p->at - *word > HLO_MOST_WORD) return hlo_bad(p, "a word is longer than %d characters", HLO_MOST_WORD);
    *length = (int)(p->at - *word);
    return true;
}

bool hlo_integer(hlo_parser *p, int64_t *value) {
    char next[2 * SHOWN];
    const bool minus = hlo_accept(p, "-");
    int64_t number = 0;
    if (!isdigit((unsigned char)*p->at))
        return hlo_bad(p, "expected an integer, found %s", hlo_next(p, next, sizeof next));
    for (; isdigit((unsigned char)*p->at); p->at++) {
        if (__builtin_mul_overflow(number, 10, &number) || __builtin_add_overflow(number, *p->at - '0', &number))
            return hlo_bad(p, "the integer is too large");
    }
    *value = minus ? -number : number;
    return true;
}

bool hlo_tensor_type(hlo_parser *p, hlo_array *type) {
    const char *word;
    int length;
    memset(type, 0, sizeof *type);
    if (!hlo_expect(p, "tensor") || !hlo_expect(p, "<")) return false;
    for (hlo_skip(p); isdigit((unsigned char)*p->at); type->ndim++) {
        if (type->ndim == HLO_MOST_DIMS) return hlo_bad(p, "a tensor has more than %d dimensions", HLO_MOST_DIMS);
        if (!hlo_integer(p, &type->dim[type->ndim])) return false;
        if (*p->at != 'x') return hlo_bad(p, "expected 'x' after a dimension");
        p->at++;
    }
    if (*p->at == '?') return hlo_bad(p, "a dimension is '?': shapes must be known");
    if (!hlo_word(p, &word, &length)) return false;
    if (!hlo_type_find(word, length, &type->type)) return hlo_bad(p, "unknown element type '%.*s'", length, word);
    if (!hlo_count(type)) return hlo_bad(p, "a tensor has more than %lld bytes", (long long)HLO_MOST_BYTES);
    return hlo_expect(p, ">");
}

/* ---- constants ---- */

static void put_bits(hlo_array *array, int64_t i, uint64_t bits) {
    const size_t size = hlo_type_size(array->type);
    const uint32_t bits_32 = (uint32_t)bits;
    const uint16_t bits_16 = (uint16_t)bits;
    const uint8_t bits_8 = (uint8_t)bits;
    const void *from = size == 1   ? (const void *)&bits_8
                       : size == 2 ? (const void *)&bits_16
                       : size == 4 ? (const void *)&bits_32
                                   : (const void *)&bits;
    memcpy((char *)array->data + (size_t)i * size, from, size);
}

/* Reads "0x" and hexadecimal digits, or decimal digits. */
static bool read_unsigned(hlo_parser *p, uint64_t *value) {
    const bool hex = p->at[0] == '0' && p->at[1] == 'x';
    const uint64_t base = hex ? 16 : 10;
    int digits = 0;
    if (hex) p->at += 2;
    for (*value = 0; hex ? isxdigit((unsigned char)*p->at) : isdigit((unsigned char)*p->at); p->at++, digits++) {
        const int digit = isdigit((unsigned char)*p->at) ? *p->at - '0' : tolower((unsigned char)*p->at) - 'a' + 10;
        if (__builtin_mul_overflow(*value, base, value) || __builtin_add_overflow(*value, (uint64_t)digit, value))
            return hlo_bad(p, "a number of the constant is too large");
    }
    if (!digits || is_word(*p->at)) return hlo_bad(p, "a number of the constant is no integer");
    return true;
}

static bool read_integer_element(hlo_parser *p, hlo_array *array, int64_t i) {
    const hlo_type type = array->type;
    const int bits = hlo_type_bits(type);
    const bool minus = *p->at == '-';
    const uint64_t most = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
    uint64_t value;
    if (minus) p->at++;
    if (!read_unsigned(p, &value)) return false;
    if (minus && !value) return hlo_bad(p, "an integer of the constant is -0");
    if (minus ? hlo_type_class(type) == HLO_IS_UNSIGNED || value > (uint64_t)1 << (bits - 1) : value > most)
        return hlo_bad(p, "a number of the constant is out of the range of %s", hlo_type_name(type));
    put_bits(array, i, minus ? -value : value);
    return true;
}

/* Reads a decimal number with a point, or the bits of a number in hexadecimal. */
static bool read_float_element(hlo_parser *p, hlo_array *array, int64_t i) {
    const hlo_type type = array->type;
    const char *at = p->at;
    char *end;
    hlo_block block;
    if (at[0] == '0' && at[1] == 'x') {
        uint64_t bits;
        if (!read_unsigned(p, &bits)) return false;
        if (type != HLO_F64 && bits >> hlo_type_bits(type))
            return hlo_bad(p, "the bits of a number of the constant are more than those of %s", hlo_type_name(type));
        put_bits(array, i, bits);
        return true;
    }
    if (*at == '-') at++;
    while (isdigit((unsigned char)*at)) at++;
    if (at == p->at || at[-1] == '-' || *at != '.')
        return hlo_bad(p, "a number of the constant is not written as %s, like 1.0 or 0x7FC0", hlo_type_name(type));
    block.f64[0] = strtod_l(p->at, &end, p->locale);
    if (is_word(*end)) return hlo_bad(p, "a number of the constant does not end");
    hlo_convert(&block, HLO_F64, type, 1);
    hlo_store(&block, type, array->data, i, 1);
    if (type == HLO_F64 ? __builtin_isinf(block.f64[0]) : __builtin_isinf(block.f32[0]))
        return hlo_bad(p, "a number of the constant is out of the range of %s", hlo_type_name(type));
    p->at = end;
    return true;
}

static bool read_element(hlo_parser *p, hlo_array *array, int64_t i) {
    char next[2 * SHOWN];
    hlo_skip(p);
    if (array->type == HLO_I1) {
        const bool yes = hlo_accept(p, "true");
        if (!yes && !hlo_accept(p, "false"))
            return hlo_bad(p, "expected 'true' or 'false', found %s", hlo_next(p, next, sizeof next));
        ((uint8_t *)array->data)[i] = yes;
        return true;
    }
    return hlo_type_class(array->type) == HLO_IS_FLOAT ? read_float_element(p, array, i)
                                                       : read_integer_element(p, array, i);
}

/* Reads the nested list of dimension D. Its first element has index *I; *I is then the index after its last one. */
static bool read_nested(hlo_parser *p, hlo_array *array, int d, int64_t *i) {
    if (d == array->ndim) return read_element(p, array, (*i)++);
    if (!hlo_expect(p, "[")) return false;
    for (int64_t k = 0; k < array->dim[d]; k++) {
        if (k && !hlo_expect(p, ",")) return false;
        if (!read_nested(p, array, d + 1, i)) return false;
    }
    return hlo_expect(p, "]");
}

/* Reads the elements between the angle brackets of dense<...>. */
static bool read_elements(hlo_parser *p, hlo_array *array) {
    const size_t size = hlo_type_size(array->type);
    int64_t i = 0;
    hlo_skip(p);
    if (*p->at == '>') {
        if (array->count)
            return hlo_bad(p, "the constant has no elements, but %lld in its type", (long long)array->count);
        return true;
    }
    if (*p->at == '[') return read_nested(p, array, 0, &i);
    if (!read_element(p, array, 0)) return false; /* the array has room for one element, even if its type has none */
    for (i = 1; i < array->count; i++) memcpy((char *)array->data + (size_t)i * size, array->data, size);
    return true;
}

bool hlo_dense(hlo_parser *p, hlo_array *array) {
    if (!hlo_expect(p, "dense") || !hlo_expect(p, "<")) return false;
    const hlo_parser begin = *p;
    /* The type comes after the elements, so skip these, read the type, and then go back. */
    while (*p->at && *p->at != '>') {
        if (*p->at == '\n') p->line++;
        p->at++;
    }
    if (!hlo_expect(p, ">") || !hlo_expect(p, ":") || !hlo_tensor_type(p, array)) return false;
    const hlo_parser end = *p;
    array->data = malloc((size_t)(array->count + 1) * hlo_type_size(array->type));
    if (!array->data) return hlo_bad(p, "there is no memory for the constant");
    *p = begin;
    if (!read_elements(p, array) || !hlo_expect(p, ">")) {
        hlo_array_free(array);
        return false;
    }
    *p = end;
    return true;
}
