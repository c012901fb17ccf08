/** Parses each record, a tf.train.Example or SequenceExample, into the components of FEATURES (muster/example.h), in
 *  that order. Runs where a map does. Fails as mst_example_parser_create does, and with MST_INVALID if the elements are
 *  not records. Copying a record fails as mst_example_parse does, naming file and byte. */
#ifdef MST_DATASET_HEADER
MST_API MST_CHECKED mst_status mst_dataset_parse_example(mst_dataset *dataset, const mst_feature *features,
                                                         int num_features, mst_dataset **out);
#endif
#include "data/dataset.h"

#include <string.h>

#include "base/argument.h"
#include "data/nested.h"

enum { MOST_COMPONENTS = 2048 };

typedef struct parse_example {
    mst_dataset base;
    mst_row_stage stage;
    mst_example_parser *parser;
    bool any_open; /* some component has a length that differs from record to record */
} parse_example;

static bool is_open(const mst_array *array) {
    return mst_shape_count(array->shape) < 0;
}

/* Finds the lengths of the components whose length differs from record to record, and allocates memory for them. The
 * component after each of these has its length (muster/example.h). */
static mst_status find_lengths(const mst_example_parser *parser, const mst_array *in, mst_array *out) {
    void *dst[MOST_COMPONENTS];
    int64_t length[MOST_COMPONENTS];
    const int n = mst_example_parser_components(parser);
    for (int i = 0; i < n; i++) {
        length[i] = 0;
        dst[i] = i > 0 && is_open(&out[i - 1]) ? &length[i - 1] : NULL;
    }
    MST_TRY(mst_example_parse(parser, in[0].data, (size_t)in[0].count, dst));
    for (int i = 0; i < n; i++) {
        if (!is_open(&out[i])) continue;
        out[i].shape.dim[0] = length[i];
        out[i].count = mst_shape_count(out[i].shape);
        out[i].data = mst_map_alloc((size_t)out[i].count * mst_dtype_size(out[i].dtype));
        if (!out[i].data) return mst_error()->code;
    }
    return MST_OK;
}

static mst_status parse_example_row(const mst_array *in, mst_array *out, void *context) {
    const parse_example *d = context;
    const mst_example_parser *parser = d->parser;
    void *dst[MOST_COMPONENTS];
    const int n = d->base.num_components;
    if (d->any_open) MST_TRY(find_lengths(parser, in, out));
    for (int i = 0; i < n; i++) dst[i] = out[i].data;
    return mst_example_parse(parser, in[0].data, (size_t)in[0].count, dst);
}

static void parse_example_destroy(mst_dataset *dataset) {
    mst_example_parser_destroy(((parse_example *)dataset)->parser);
}

static const mst_dataset_type type = {.name = "parse_example", .destroy = parse_example_destroy};

mst_status mst_dataset_parse_example(mst_dataset *dataset, const mst_feature *features, int num_features,
                                     mst_dataset **out) {
    if (MST_IS_NULL(dataset) || (num_features > 0 && MST_IS_NULL(features)) || MST_IS_NULL(out)) return MST_INVALID;
    mst_example_parser *parser;
    parse_example *d = NULL;
    *out = NULL;
    if (dataset->num_components != 1 || dataset->row[0].dtype != MST_U8 || dataset->row[0].shape.ndim != 1)
        return MST_FAIL(MST_INVALID, "parse_example: the elements of this dataset are no records");
    MST_TRY(mst_example_parser_create(features, num_features, &parser));
    const int n = mst_example_parser_components(parser);
    mst_spec row[MOST_COMPONENTS];
    for (int i = 0; i < n; i++) row[i] = mst_example_parser_spec(parser, i);
    const mst_status status = mst_dataset_derive_rows(&type, sizeof *d, dataset, row, n, &d);
    if (status) {
        mst_example_parser_destroy(parser);
        return status;
    }
    for (int i = 0; i < n; i++) d->any_open |= mst_shape_count(row[i].shape) < 0;
    d->parser = parser;
    d->stage = (mst_row_stage){.map = parse_example_row, .context = d};
    d->base.stage = &d->stage;
    *out = &d->base;
    return MST_OK;
}

mst_dataset *mst_data_parse_example(mst_dataset *dataset, const mst_feature *features, int num_features) {
    MST_DATASET_NEST(dataset, mst_dataset_parse_example(dataset, features, num_features, &out));
}
