#include "format/npy.h"

#include <string.h>

typedef struct parser {
    const char *name;
    const char *text, *end;
    const char *at;
    bool takes_objects;
} parser;

static mst_status fail(const parser *p, const char *what) {
    return MST_FAIL(MST_CORRUPT, "'%s': %s at character %lld of the NPY header: the array is damaged, save it again",
                    p->name, what, (long long)(p->at - p->text));
}

mst_status mst_npy_prefix(const char *name, const unsigned char prefix[MST_NPY_PREFIX], int *length_size) {
    static const unsigned char magic[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};
    if (memcmp(prefix, magic, sizeof magic) != 0)
        return MST_FAIL(MST_CORRUPT,
                        "'%s': is not an NPY array: the first bytes are not \\x93NUMPY: save it with numpy.savez",
                        name);
    if (prefix[6] < 1 || prefix[6] > 3 || prefix[7] != 0)
        return MST_FAIL(MST_UNIMPLEMENTED, "'%s': NPY version %d.%d is not known: save it as 1.0", name, prefix[6],
                        prefix[7]);
    *length_size = prefix[6] == 1 ? 2 : 4;
    return MST_OK;
}

static void skip_space(parser *p) {
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\n' || *p->at == '\t' || *p->at == '\r')) p->at++;
}

static bool accept(parser *p, char c) {
    skip_space(p);
    if (p->at == p->end || *p->at != c) return false;
    p->at++;
    return true;
}

static bool accept_word(parser *p, const char *word) {
    size_t size = strlen(word);
    skip_space(p);
    if ((size_t)(p->end - p->at) < size || memcmp(p->at, word, size) != 0) return false;
    p->at += size;
    return true;
}

static mst_status parse_string(parser *p, const char **string, size_t *size) {
    skip_space(p);
    char quote = p->at < p->end ? *p->at : 0;
    if (quote != '\'' && quote != '"') return fail(p, "a quoted string is due");
    *string = ++p->at;
    while (p->at < p->end && *p->at != quote) p->at++;
    if (p->at == p->end) return fail(p, "a string has no end");
    *size = (size_t)(p->at++ - *string);
    return MST_OK;
}

static mst_status unsupported(const parser *p, const char *descr, int size) {
    return MST_FAIL(MST_UNIMPLEMENTED,
                    "'%s': elements of type '%.*s' are not supported: convert them with numpy's astype to float32, "
                    "float64, int32, int64, uint8 or bool",
                    p->name, size > 40 ? 40 : size, descr);
}

static mst_status parse_descr(parser *p, mst_npy *out) {
    static const struct {
        const char *code;
        mst_dtype dtype;
    } codes[] = {{"f4", MST_F32}, {"f8", MST_F64}, {"i4", MST_I32}, {"i8", MST_I64}, {"u1", MST_U8}, {"b1", MST_BOOL}};
    const char *descr;
    size_t size;
    skip_space(p);
    if (p->at < p->end && *p->at == '[') return unsupported(p, "[(...)], a record", 17);
    MST_TRY(parse_string(p, &descr, &size));
    if (p->takes_objects && size == 2 && memcmp(descr, "|O", 2) == 0) return MST_OK;
    if (size != 3 || !strchr("<>=|", descr[0])) return unsupported(p, descr, (int)size);
    out->big_endian = descr[0] == '>';
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (memcmp(descr + 1, codes[i].code, 2) == 0) out->dtype = codes[i].dtype;
    return out->dtype ? MST_OK : unsupported(p, descr, (int)size);
}

static mst_status parse_shape(parser *p, mst_npy *out) {
    if (!accept(p, '(')) return fail(p, "'(' is due");
    while (!accept(p, ')')) {
        int64_t value = 0;
        const char *digits = p->at;
        for (; p->at < p->end && *p->at >= '0' && *p->at <= '9'; p->at++)
            if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, *p->at - '0', &value))
                return fail(p, "a dimension is too large");
        if (p->at == digits) return fail(p, "a dimension is due");
        (void)accept(p, 'L'); /* Python 2 wrote long integers with an L */
        if (out->shape.ndim == MST_MAX_NDIM)
            return MST_FAIL(MST_UNIMPLEMENTED, "'%s': more than %d dimensions: reshape it", p->name, MST_MAX_NDIM);
        out->shape.dim[out->shape.ndim++] = value;
        if (!accept(p, ',') && (p->at == p->end || *p->at != ')')) return fail(p, "',' or ')' is due");
    }
    return MST_OK;
}

static mst_status npy_parse(const char *name, const char *text, size_t size, bool takes_objects, mst_npy *out) {
    parser p = {.name = name, .text = text, .at = text, .end = text + size, .takes_objects = takes_objects};
    bool has_descr = false, has_order = false, has_shape = false, fortran = false;
    *out = (mst_npy){0};
    if (!accept(&p, '{')) return fail(&p, "'{' is due");
    while (!accept(&p, '}')) {
        const char *key;
        size_t key_size;
        MST_TRY(parse_string(&p, &key, &key_size));
        if (!accept(&p, ':')) return fail(&p, "':' is due");
        if (key_size == 5 && memcmp(key, "descr", 5) == 0 && !has_descr) {
            has_descr = true;
            MST_TRY(parse_descr(&p, out));
        } else if (key_size == 13 && memcmp(key, "fortran_order", 13) == 0 && !has_order) {
            has_order = true;
            fortran = accept_word(&p, "True");
            if (!fortran && !accept_word(&p, "False")) return fail(&p, "True or False is due");
        } else if (key_size == 5 && memcmp(key, "shape", 5) == 0 && !has_shape) {
            has_shape = true;
            MST_TRY(parse_shape(&p, out));
        } else {
            return fail(&p, "an unknown or repeated key stands");
        }
        if (!accept(&p, ',') && (p.at == p.end || *p.at != '}')) return fail(&p, "',' or '}' is due");
    }
    if (!has_descr || !has_order || !has_shape) return fail(&p, "descr, fortran_order or shape is missing");
    if (fortran && out->shape.ndim > 1)
        return MST_FAIL(
            MST_UNIMPLEMENTED,
            "'%s': the array is stored column by column (fortran_order): save numpy.ascontiguousarray of it", name);
    return MST_OK;
}

mst_status mst_npy_parse(const char *name, const char *text, size_t size, mst_npy *out) {
    return npy_parse(name, text, size, false, out);
}

mst_status mst_npy_parse_any(const char *name, const char *text, size_t size, mst_npy *out) {
    return npy_parse(name, text, size, true, out);
}
