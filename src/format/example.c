/* Reads tf.train.Example straight from its bytes in the wire format, without protobuf's objects.
 *
 *      parse:  walk over the entries, finding for each name its slot  ->  parse_feature for each slot  ->  dst
 *
 * If a name occurs twice, the last entry counts, as in protobuf's maps. So values are converted only after the walk. A
 * slot is a requested feature, with the index of the first component that it fills. The Examples of a file mostly have
 * their features in the same order. So for each entry, the walk first tries the slot after the last one found. */
#include "format/example.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/no_memory.h"
#include "base/saturate.h"

enum { MOST_FEATURES = 1024, MOST_ELEMENTS = INT32_MAX };

/* ---- walking ---- */

static bool next_entry(mst_wire *entries, mst_wire *entry) {
    uint64_t tag;
    *entry = (mst_wire){0};
    while (mst_wire_size(entries)) {
        if (!mst_wire_varint(entries, &tag)) return false;
        if (tag == MST_WIRE_TAG(1, MST_WIRE_BYTES)) return mst_wire_bytes(entries, entry);
        if (!mst_wire_skip(entries, tag)) return false;
    }
    return true;
}

static bool split_entry(mst_wire wire, mst_example_entry *entry) {
    uint64_t tag;
    entry->name = entry->value = (mst_wire){wire.at, wire.at};
    while (mst_wire_size(&wire)) {
        if (!mst_wire_varint(&wire, &tag)) return false;
        bool good;
        if (tag == MST_WIRE_TAG(1, MST_WIRE_BYTES))
            good = mst_wire_bytes(&wire, &entry->name);
        else if (tag == MST_WIRE_TAG(2, MST_WIRE_BYTES))
            good = mst_wire_bytes(&wire, &entry->value);
        else
            good = mst_wire_skip(&wire, tag);
        if (!good) return false;
    }
    return true;
}

bool mst_example_next(mst_example_walk *walk, mst_example_entry *entry) {
    mst_wire wire;
    for (;;) {
        if (!next_entry(&walk->entries, &wire)) return false;
        if (wire.at) {
            entry->sequence = walk->sequence;
            return split_entry(wire, entry);
        }
        uint64_t tag;
        if (!mst_wire_size(&walk->example)) break;
        if (!mst_wire_varint(&walk->example, &tag)) return false;
        const bool context = tag == MST_WIRE_TAG(1, MST_WIRE_BYTES), lists = tag == MST_WIRE_TAG(2, MST_WIRE_BYTES);
        if (context || lists ? !mst_wire_bytes(&walk->example, &walk->entries) : !mst_wire_skip(&walk->example, tag))
            return false;
        walk->sequence = lists;
    }
    *entry = (mst_example_entry){0};
    return true;
}

bool mst_feature_find(mst_wire feature, mst_feature_kind *kind, mst_wire *lists) {
    uint64_t tag;
    *kind = MST_FEATURE_MISSING;
    *lists = feature;
    while (mst_wire_size(&feature)) {
        const uint8_t *start = feature.at;
        if (!mst_wire_varint(&feature, &tag) || !mst_wire_skip(&feature, tag)) return false;
        if ((tag & 7) != MST_WIRE_BYTES || tag >> 3 > MST_FEATURE_INTEGERS) continue;
        const mst_feature_kind found = (mst_feature_kind)(tag >> 3);
        if (found != *kind) lists->at = start;
        *kind = found;
    }
    return true;
}

/* ---- lists of values ---- */

/* Reads the next BytesList, FloatList or Int64List, as KIND says; *LIST is zero at the end. False: LISTS is damaged. */
static bool next_list(mst_wire *lists, mst_feature_kind kind, mst_wire *list) {
    uint64_t tag;
    *list = (mst_wire){0};
    while (mst_wire_size(lists)) {
        if (!mst_wire_varint(lists, &tag)) return false;
        if (tag == MST_WIRE_TAG(kind, MST_WIRE_BYTES)) return mst_wire_bytes(lists, list);
        if (!mst_wire_skip(lists, tag)) return false;
    }
    return true;
}

/* Where the values of a list go, one after the other. If `dst` is NULL, they are only counted. */
typedef struct sink {
    mst_dtype dtype;
    uint8_t *dst;
    int64_t most;  /* elements that fit in DST */
    int64_t count; /* elements found; bytes, if the list is a BytesList and the dtype is not MST_STRING */
    bool out_of_range;
} sink;

static void put_integer(sink *s, uint64_t value) {
    const int64_t i = s->count++, number = (int64_t)value;
    if (!s->dst || i >= s->most) return;
    switch (s->dtype) {
        case MST_I64: memcpy(s->dst + 8 * i, &number, 8); break;
        case MST_I32: {
            const int32_t small = (int32_t)number;
            s->out_of_range |= small != number;
            memcpy(s->dst + 4 * i, &small, 4);
            break;
        }
        case MST_U8:
            s->out_of_range |= number < 0 || number > UINT8_MAX;
            s->dst[i] = (uint8_t)number;
            break;
        default: s->dst[i] = number != 0;
    }
}

static float float_at(const uint8_t *bytes) {
    uint32_t bits;
    float value;
    memcpy(&bits, bytes, sizeof bits);
    bits = le32toh(bits);
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void put_floats(sink *s, const uint8_t *bytes, int64_t n) {
    const int64_t first = s->count, room = s->most - first < n ? s->most - first : n;
    s->count += n;
    if (!s->dst || room <= 0) return;
    if (s->dtype == MST_F32 && BYTE_ORDER == LITTLE_ENDIAN) {
        memcpy(s->dst + 4 * first, bytes, (size_t)room * 4);
        return;
    }
    for (int64_t i = 0; i < room; i++) {
        const float value = float_at(bytes + 4 * i);
        const double wide = value;
        if (s->dtype == MST_F32)
            memcpy(s->dst + 4 * (first + i), &value, 4);
        else
            memcpy(s->dst + 8 * (first + i), &wide, 8);
    }
}

/* Puts one value of a BytesList. For MST_STRING it is one element; for other dtypes s->count counts its bytes. */
static void put_bytes(sink *s, mst_wire bytes) {
    const int64_t n = (int64_t)mst_wire_size(&bytes), most = s->most * (int64_t)mst_dtype_size(s->dtype);
    if (s->dtype == MST_STRING) {
        const mst_string string = {(const char *)bytes.at, (size_t)n};
        if (s->dst && s->count < s->most) memcpy(s->dst + s->count * (int64_t)sizeof string, &string, sizeof string);
        s->count++;
        return;
    }
    if (s->dst && n && n <= most - s->count) memcpy(s->dst + s->count, bytes.at, (size_t)n);
    s->count += n;
}

static bool put_packed(sink *s, mst_feature_kind kind, mst_wire packed) {
    uint64_t value;
    if (kind == MST_FEATURE_FLOATS) {
        if (mst_wire_size(&packed) % 4) return false;
        put_floats(s, packed.at, (int64_t)mst_wire_size(&packed) / 4);
        return true;
    }
    while (mst_wire_size(&packed)) {
        if (!mst_wire_varint(&packed, &value)) return false;
        put_integer(s, value);
    }
    return true;
}

static bool take_list(sink *s, mst_feature_kind kind, mst_wire list, int64_t *num_values) {
    while (mst_wire_size(&list)) {
        uint64_t tag, value;
        mst_wire bytes;
        if (!mst_wire_varint(&list, &tag)) return false;
        if (tag == MST_WIRE_TAG(1, MST_WIRE_BYTES)) {
            if (!mst_wire_bytes(&list, &bytes)) return false;
            ++*num_values;
            if (kind == MST_FEATURE_BYTES)
                put_bytes(s, bytes);
            else if (!put_packed(s, kind, bytes))
                return false;
        } else if (tag == MST_WIRE_TAG(1, MST_WIRE_VARINT) && kind == MST_FEATURE_INTEGERS) {
            if (!mst_wire_varint(&list, &value)) return false;
            put_integer(s, value);
        } else if (tag == MST_WIRE_TAG(1, MST_WIRE_FIXED32) && kind == MST_FEATURE_FLOATS) {
            if (!mst_wire_pass(&list, 4)) return false;
            put_floats(s, list.at - 4, 1);
        } else if (!mst_wire_skip(&list, tag)) {
            return false;
        }
    }
    return true;
}

/* Puts all values of a Feature, whose lists are LISTS. If KIND is MST_FEATURE_BYTES, *NUM_VALUES is their number.
 * False: the lists are damaged. */
static bool take_feature(sink *s, mst_feature_kind kind, mst_wire lists, int64_t *num_values) {
    mst_wire list;
    *num_values = 0;
    for (;;) {
        if (!next_list(&lists, kind, &list)) return false;
        if (!list.at) return true;
        if (!take_list(s, kind, list, num_values)) return false;
    }
}

/* ---- parsing into rows ---- */

typedef struct slot {
    mst_feature feature; /* its name belongs to the parser */
    size_t name_size;
    int component; /* the first component that it fills */
    int64_t inner; /* elements per index of dimension 0; for a fixed length, elements of the row */
    int64_t most;  /* limit of dimension 0; 1 for a fixed length */
    bool open;     /* dimension 0 has no limit in the shape, and is not padded */
} slot;

struct mst_example_parser {
    int num_features, num_components;
    slot *slot;
    mst_spec *spec; /* [num_components] */
};

int mst_feature_components(const mst_feature *feature) {
    return feature->variable || feature->sequence ? 2 : 1;
}

static mst_status example_damaged(void) {
    return MST_FAIL(MST_CORRUPT, "these bytes are no tf.train.Example");
}

static const char *const kind_names[] = {"no values", "bytes", "floats", "integers"};

/* Writes VALUE to COUNT elements. */
static void example_fill(mst_dtype dtype, uint8_t *dst, int64_t count, double value) {
    const size_t size = mst_dtype_size(dtype);
    const float f32 = (float)value;
    const int64_t i64 = mst_saturate_i64(value);
    const int32_t i32 = mst_saturate_i32(value);
    const uint8_t u8 = dtype == MST_BOOL ? value != 0 : mst_saturate_u8(value);
    if (value == 0) {
        memset(dst, 0, (size_t)count * size);
        return;
    }
    for (int64_t i = 0; i < count; i++, dst += size) switch (dtype) {
            case MST_F32: memcpy(dst, &f32, 4); break;
            case MST_F64: memcpy(dst, &value, 8); break;
            case MST_I64: memcpy(dst, &i64, 8); break;
            case MST_I32: memcpy(dst, &i32, 4); break;
            default: *dst = u8;
        }
}

static bool fits(mst_feature_kind kind, mst_dtype dtype) {
    if (dtype == MST_STRING) return kind == MST_FEATURE_BYTES;
    if (kind == MST_FEATURE_FLOATS) return mst_dtype_is_float(dtype);
    return kind == MST_FEATURE_BYTES || !mst_dtype_is_float(dtype);
}

/* Writes the elements of one Feature to DST; if DST is NULL, only counts them. More than MOST * s->inner elements are
 * an error. *COUNT is their number, a multiple of s->inner. *MISSING: the Feature has no list of values. */
static mst_status parse_values(const slot *s, mst_wire feature, int64_t most, uint8_t *dst, int64_t *count,
                               bool *missing) {
    const char *name = s->feature.name;
    const int64_t element = (int64_t)mst_dtype_size(s->feature.dtype);
    mst_feature_kind kind;
    mst_wire lists;
    int64_t num_values;
    *count = 0;
    if (!mst_feature_find(feature, &kind, &lists)) return example_damaged();
    *missing = kind == MST_FEATURE_MISSING;
    if (*missing) return MST_OK;
    if (!fits(kind, s->feature.dtype))
        return MST_FAIL(MST_INVALID, "feature '%s' holds %s, which cannot become %s", name, kind_names[kind],
                        mst_dtype_name(s->feature.dtype));
    sink sink = {s->feature.dtype, dst, most * s->inner, 0, false};
    if (!take_feature(&sink, kind, lists, &num_values)) return example_damaged();
    if (kind == MST_FEATURE_BYTES && s->feature.dtype != MST_STRING) {
        if (sink.count % element)
            return MST_FAIL(MST_INVALID, "feature '%s' has %lld bytes, no whole number of %s", name,
                            (long long)sink.count, mst_dtype_name(s->feature.dtype));
        sink.count /= element;
        if (s->feature.dtype == MST_BOOL && dst)
            for (int64_t i = 0; i < sink.count && i < sink.most; i++) dst[i] = dst[i] != 0;
    }
    if (sink.out_of_range)
        return MST_FAIL(MST_INVALID, "feature '%s' has an integer that is out of the range of %s", name,
                        mst_dtype_name(s->feature.dtype));
    if (sink.count > sink.most || (s->inner && sink.count % s->inner) ||
        (!s->feature.variable && sink.count != s->inner))
        return MST_FAIL(MST_INVALID, "feature '%s' has %lld values, %s%lld%s asked for", name, (long long)sink.count,
                        s->feature.variable ? "at most " : "", (long long)sink.most, sink.most == 1 ? " is" : " are");
    *count = sink.count;
    return MST_OK;
}

static mst_status parse_sequence(const slot *s, mst_wire list, uint8_t *dst, int64_t *steps) {
    const size_t bytes = (size_t)s->inner * mst_dtype_size(s->feature.dtype);
    for (*steps = 0;; ++*steps) {
        mst_wire feature;
        int64_t count;
        bool missing;
        if (!next_entry(&list, &feature)) return example_damaged();
        if (!feature.at) return MST_OK;
        if (*steps == s->most)
            return MST_FAIL(MST_INVALID, "feature list '%s' has more than %lld steps", s->feature.name,
                            (long long)s->most);
        if (parse_values(s, feature, 1, dst ? dst + (size_t)*steps * bytes : NULL, &count, &missing))
            return mst_error_prefix("step %lld", (long long)*steps);
        if (missing)
            return MST_FAIL(MST_INVALID, "feature list '%s': step %lld has no values", s->feature.name,
                            (long long)*steps);
    }
}

static mst_status parse_feature(const slot *s, mst_wire value, void *const *dst) {
    uint8_t *values = dst[s->component];
    const mst_feature *f = &s->feature;
    const bool padded = f->variable || f->sequence;
    int64_t *length = padded ? dst[s->component + 1] : NULL, found = 0, count = 0;
    bool missing = !value.at;
    if (!values && !length) return MST_OK;
    if (!missing && f->sequence) {
        MST_TRY(parse_sequence(s, value, values, &found));
        count = found * s->inner;
    } else if (!missing) {
        MST_TRY(parse_values(s, value, s->most, values, &count, &missing));
        found = s->inner ? count / s->inner : 0;
    }
    if (missing && !f->has_default)
        return MST_FAIL(MST_NOT_FOUND, "feature '%s' is missing, and has no default", f->name);
    const int64_t all = s->most * s->inner;
    if (values && count < all && !s->open)
        example_fill(f->dtype, values + (size_t)count * mst_dtype_size(f->dtype), all - count, f->default_value);
    if (length) memcpy(length, &found, sizeof found);
    return MST_OK;
}

/* The index of the slot of the feature that ENTRY names; -1: none. The search begins at slot *NEXT. If a slot is found,
 * *NEXT becomes the slot after it. */
static int find_slot(const mst_example_parser *p, const mst_example_entry *entry, int *next) {
    const size_t size = mst_wire_size(&entry->name);
    for (int n = 0, i = *next; n < p->num_features; n++, i = i + 1 < p->num_features ? i + 1 : 0) {
        const slot *s = &p->slot[i];
        if (s->name_size != size || s->feature.sequence != entry->sequence) continue;
        if (size && memcmp(s->feature.name, entry->name.at, size) != 0) continue;
        *next = i + 1 < p->num_features ? i + 1 : 0;
        return i;
    }
    return -1;
}

mst_status mst_example_parse(const mst_example_parser *parser, const void *data, size_t size, void *const *dst) {
    if (MST_IS_NULL(parser) || (size && MST_IS_NULL(data)) || MST_IS_NULL(dst)) return MST_INVALID;
    mst_wire value[MOST_FEATURES];
    const uint8_t *bytes = data;
    mst_example_walk walk = {.example = {bytes, size ? bytes + size : bytes}};
    mst_example_entry entry;
    int next = 0;
    memset(value, 0, (size_t)parser->num_features * sizeof *value);
    for (;;) {
        if (!mst_example_next(&walk, &entry)) return example_damaged();
        if (!entry.name.at) break;
        const int i = find_slot(parser, &entry, &next);
        if (i >= 0) value[i] = entry.value;
    }
    for (int i = 0; i < parser->num_features; i++) MST_TRY(parse_feature(&parser->slot[i], value[i], dst));
    return MST_OK;
}

/* ---- the parser ---- */

static mst_status check_feature(const mst_feature *f, int i) {
    if (!f->name || !*f->name) return MST_FAIL(MST_INVALID, "example: feature %d has no name", i);
    if (f->dtype <= MST_NO_DTYPE || f->dtype >= MST_NUM_DTYPES || f->dtype == MST_BF16)
        return MST_FAIL(MST_INVALID, "example: feature '%s' has no dtype that an Example can hold", f->name);
    int64_t count = 1;
    bool bad = f->shape.ndim < 0 || f->shape.ndim > MST_MAX_NDIM;
    for (int j = 0; !bad && j < f->shape.ndim; j++) {
        if (j == 0 && f->shape.dim[0] == -1 && (f->variable || f->sequence)) continue;
        bad = f->shape.dim[j] < ((f->variable || f->sequence) ? 1 : 0) ||
              __builtin_mul_overflow(count, f->shape.dim[j], &count) || count > MOST_ELEMENTS;
    }
    if (bad)
        return MST_FAIL(MST_INVALID, "example: feature '%s': each dimension must be known and of a possible size",
                        f->name);
    if ((f->variable || f->sequence) && f->shape.ndim == 0)
        return MST_FAIL(MST_INVALID,
                        "example: feature '%s' is %s: give it a shape whose dimension 0 is the most there "
                        "can be",
                        f->name, f->sequence ? "a sequence" : "variable");
    if (f->dtype == MST_STRING && (f->default_value < 0 || f->default_value > 0))
        return MST_FAIL(MST_INVALID, "example: feature '%s' is string: the default is empty strings", f->name);
    return MST_OK;
}

static void fill_slot(mst_example_parser *p, int i, const mst_feature *feature) {
    slot *s = &p->slot[i];
    const bool padded = feature->variable || feature->sequence;
    s->feature.dtype = feature->dtype;
    s->name_size = strlen(feature->name);
    s->component = p->num_components;
    s->open = padded && feature->shape.dim[0] < 0;
    s->inner = 1;
    for (int j = padded; j < feature->shape.ndim; j++) s->inner *= feature->shape.dim[j];
    s->most = s->open ? MOST_ELEMENTS / s->inner : padded ? feature->shape.dim[0] : 1;
    p->spec[p->num_components++] = (mst_spec){feature->dtype, feature->shape};
    if (padded) p->spec[p->num_components++] = (mst_spec){MST_I64, MST_SCALAR};
}

static mst_status fill_parser(mst_example_parser *p, const mst_feature *features, int n) {
    for (int i = 0; i < n; i++) {
        MST_TRY(check_feature(&features[i], i));
        for (int j = 0; j < i; j++)
            if (strcmp(features[i].name, features[j].name) == 0 && features[i].sequence == features[j].sequence)
                return MST_FAIL(MST_INVALID, "example: there are two features '%s'", features[i].name);
        p->slot[i].feature = features[i];
        if (!(p->slot[i].feature.name = strdup(features[i].name))) return MST_NO_MEMORY("for the features");
        p->num_features++;
        fill_slot(p, i, &features[i]);
    }
    return MST_OK;
}

mst_status mst_example_parser_create(const mst_feature *features, int num_features, mst_example_parser **out) {
    if ((num_features > 0 && MST_IS_NULL(features)) || MST_IS_NULL(out)) return MST_INVALID;
    *out = NULL;
    if (num_features < 1 || num_features > MOST_FEATURES)
        return MST_FAIL(MST_INVALID, "example: %d features, 1 to %d are possible", num_features, MOST_FEATURES);
    mst_example_parser *p = calloc(1, sizeof *p);
    if (!p) return MST_NO_MEMORY("for the features");
    p->slot = calloc((size_t)num_features, sizeof *p->slot);
    p->spec = calloc(2 * (size_t)num_features, sizeof *p->spec);
    mst_status status = p->slot && p->spec ? fill_parser(p, features, num_features) : MST_NO_MEMORY("for the features");
    if (status)
        mst_example_parser_destroy(p);
    else
        *out = p;
    return status;
}

void mst_example_parser_destroy(mst_example_parser *parser) {
    if (!parser) return;
    for (int i = 0; i < parser->num_features; i++) free((char *)(uintptr_t)parser->slot[i].feature.name);
    free(parser->slot);
    free(parser->spec);
    free(parser);
}

int mst_example_parser_components(const mst_example_parser *parser) {
    return MST_IS_NULL(parser) ? 0 : parser->num_components;
}

mst_spec mst_example_parser_spec(const mst_example_parser *parser, int i) {
    if (MST_IS_NULL(parser) || i < 0 || i >= parser->num_components) return (mst_spec){.dtype = MST_NO_DTYPE};
    return parser->spec[i];
}

/* ---- what an Example has ---- */

int64_t mst_feature_numbers(mst_feature_kind kind, mst_wire lists, void *dst, int64_t most) {
    sink numbers = {.dtype = kind == MST_FEATURE_FLOATS ? MST_F32 : MST_I64, .dst = dst, .most = most};
    int64_t num_values;
    return take_feature(&numbers, kind, lists, &num_values) ? numbers.count : -1;
}

static bool example_describe(const mst_example_entry *entry, mst_feature_value *out) {
    sink counter = {.dtype = MST_U8};
    mst_wire feature = entry->value, first, lists;
    int64_t num_values = 0;
    *out = (mst_feature_value){
        .name = (const char *)entry->name.at, .name_size = mst_wire_size(&entry->name), .sequence = entry->sequence};
    if (entry->sequence) {
        mst_wire list = entry->value;
        for (feature = (mst_wire){0};; out->count++) {
            if (!next_entry(&list, &first)) return false;
            if (!first.at) break;
            if (!feature.at) feature = first;
        }
    }
    if (feature.at && !mst_feature_find(feature, &out->kind, &lists)) return false;
    if (out->kind == MST_FEATURE_MISSING) return true;
    if (!take_feature(&counter, out->kind, lists, &num_values)) return false;
    if (out->kind == MST_FEATURE_BYTES) out->num_bytes = counter.count;
    if (!entry->sequence) out->count = out->kind == MST_FEATURE_BYTES ? num_values : counter.count;
    return true;
}

mst_status mst_example_describe(const void *data, size_t size, mst_feature_value *values, int most, int *count) {
    if ((size && MST_IS_NULL(data)) || (most > 0 && MST_IS_NULL(values)) || MST_IS_NULL(count)) return MST_INVALID;
    const uint8_t *bytes = data;
    mst_example_walk walk = {.example = {bytes, size ? bytes + size : bytes}};
    mst_example_entry entry;
    for (*count = 0;; ++*count) {
        mst_feature_value value;
        if (!mst_example_next(&walk, &entry)) return example_damaged();
        if (!entry.name.at) return MST_OK;
        if (!example_describe(&entry, &value)) return example_damaged();
        if (*count < most) values[*count] = value;
    }
}
