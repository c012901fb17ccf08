/** Each record, a tf.train.Example or SequenceExample, as the components of its FEATURES (muster/example.h), in their
 *  order. Runs where map does. Fails as mst_example_parser_create does, and with MST_INVALID where elements are no
 *  records; when a record is copied, as mst_example_parse does, naming file and byte. */
#include "data/dataset.h"

#include <string.h>

#include "base/argument.h"

#ifdef MST_DATASET_HEADER
MST_API MST_CHECKED mst_status mst_dataset_parse_example(mst_dataset *dataset, const mst_feature *features,
                                                         int num_features, mst_dataset **out);
#endif

enum { MOST_COMPONENTS = 2048 };

typedef struct parse_example {
    mst_dataset base;
    mst_row_stage stage;
    mst_example_parser *parser;
} parse_example;

static mst_status parse(const mst_array *in, mst_array *out, void *context) {
    const mst_example_parser *parser = context;
    void *dst[MOST_COMPONENTS];
    const int n = mst_example_parser_components(parser);
    for (int i = 0; i < n; i++) dst[i] = out[i].data;
    return mst_example_parse(parser, in[0].data, (size_t)in[0].count, dst);
}

static void destroy(mst_dataset *dataset) {
    mst_example_parser_destroy(((parse_example *)dataset)->parser);
}

static const mst_dataset_type type = {.name = "parse_example", .destroy = destroy};

mst_status mst_dataset_parse_example(mst_dataset *dataset, const mst_feature *features, int num_features,
                                     mst_dataset **out) {
    if (MST_IS_NULL(dataset) || (num_features > 0 && MST_IS_NULL(features)) || MST_IS_NULL(out)) return MST_INVALID;
    mst_example_parser *parser;
    parse_example *d = NULL;
    *out = NULL;
    if (dataset->num_components != 1 || mst_shape_count(dataset->row[0].shape) >= 0)
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
    d->parser = parser;
    d->stage = (mst_row_stage){.map = parse, .context = parser};
    d->base.stage = &d->stage;
    *out = &d->base;
    return MST_OK;
}
