/* What records_test.py asks of Muster, one JSON line for each record or batch:
 *
 *      parity_records records FILE...                  {"size": 3, "crc": ...}: masked CRC of each record
 *      parity_records interleave CYCLE BLOCK FILE...   {"text": "..."}: the records, which are texts
 *      parity_records examples FILE...                 the features that records_test.py writes
 *      parity_records ranges CYCLE BLOCK SIZE...       1000 * i + n: an interleave of datasets, row n of dataset i
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/tfrecord.h"
#include "muster/dataset.h"

static mst_status each(mst_dataset *dataset, mst_status (*print)(const mst_batch *batch)) {
    mst_iterator *it;
    const mst_batch *batch;
    MST_TRY(mst_iterator_create(dataset, 0, &it));
    mst_status status = MST_OK;
    while (!(status = mst_iterator_next(it, &batch)) && batch && !(status = print(batch))) continue;
    mst_iterator_destroy(it);
    return status;
}

static mst_status print_record(const mst_batch *batch) {
    mst_record record;
    MST_TRY(mst_batch_record(batch, 0, &record));
    printf("{\"size\": %zu, \"crc\": %" PRIu32 "}\n", record.size, mst_masked_crc(record.data, record.size));
    return MST_OK;
}

static mst_status print_text(const mst_batch *batch) {
    mst_record record;
    MST_TRY(mst_batch_record(batch, 0, &record));
    printf("{\"text\": \"%.*s\"}\n", (int)record.size, (const char *)record.data);
    return MST_OK;
}

enum { COMPONENTS = 9 };

static mst_status print_features(const mst_batch *batch) {
    for (int c = 0; c < COMPONENTS; c++) {
        mst_tensor *tensor;
        MST_TRY(mst_batch_tensor(batch, c, &tensor));
        printf("%s", c ? ", [" : "[[");
        for (int64_t i = 0; i < mst_tensor_count(tensor); i++)
            printf("%s%.17g", i ? ", " : "", mst_tensor_get(tensor, i));
        printf("]");
        mst_tensor_release(tensor);
    }
    printf("]\n");
    return MST_OK;
}

static mst_status print_examples(mst_dataset *records) {
    const mst_feature features[] = {
        {.name = "image", .dtype = MST_U8, .shape = MST_SHAPE(5)},
        {.name = "label", .dtype = MST_I64},
        {.name = "weights", .dtype = MST_F32, .shape = MST_SHAPE(2, 2), .has_default = true, .default_value = 0.25},
        {.name = "tokens", .dtype = MST_I64, .shape = MST_SHAPE(8), .variable = true, .default_value = -1},
        {.name = "frames", .dtype = MST_F32, .shape = MST_SHAPE(4, 2), .sequence = true},
        {.name = "marks", .dtype = MST_I64, .shape = MST_SHAPE(4), .sequence = true, .has_default = true},
    };
    mst_dataset *rows;
    MST_TRY(mst_dataset_parse_example(records, features, 6, &rows));
    mst_status status = each(rows, print_features);
    mst_dataset_release(rows);
    return status;
}

static mst_status print_number(const mst_batch *batch) {
    int64_t number;
    MST_TRY(mst_batch_copy(batch, 0, 0, 1, &number));
    printf("%" PRId64 "\n", number);
    return MST_OK;
}

/* N rows with the numbers from FIRST on. A tensor has at least one row: it has one more, which is not taken. */
static mst_status range(int64_t first, int64_t n, mst_dataset **out) {
    mst_tensor *tensor;
    mst_dataset *rows;
    MST_TRY(mst_tensor_create(MST_I64, MST_SHAPE(n + 1), &tensor));
    for (int64_t i = 0; i <= n; i++) ((int64_t *)mst_tensor_data(tensor))[i] = first + i;
    mst_status status = mst_dataset_from_tensors(&tensor, 1, &rows);
    mst_tensor_release(tensor);
    MST_TRY(status);
    status = mst_dataset_take(rows, n, out);
    mst_dataset_release(rows);
    return status;
}

static mst_status print_ranges(int cycle, int block, int n, char **sizes) {
    enum { MOST = 100 };
    mst_dataset *part[MOST] = {NULL}, *dataset = NULL;
    mst_status status = n > MOST ? MST_FAIL(MST_INVALID, "too many datasets") : MST_OK;
    for (int i = 0; i < n && !status; i++) status = range(1000 * i, atoi(sizes[i]), &part[i]);
    const mst_interleave_options options = {.cycle_length = cycle, .block_length = block};
    if (!status) status = mst_dataset_interleave(part, n, &options, &dataset);
    if (!status) status = each(dataset, print_number);
    for (int i = 0; i < n && i < MOST; i++) mst_dataset_release(part[i]);
    mst_dataset_release(dataset);
    return status;
}

static mst_status run(int argc, char **argv) {
    mst_dataset *dataset;
    mst_tfrecord_options options = {0};
    if (strcmp(argv[1], "ranges") == 0 && argc > 4)
        return print_ranges(atoi(argv[2]), atoi(argv[3]), argc - 4, argv + 4);
    const bool interleave = strcmp(argv[1], "interleave") == 0;
    const int first = interleave ? 4 : 2;
    if (argc <= first) return MST_FAIL(MST_INVALID, "too few arguments");
    if (interleave) options = (mst_tfrecord_options){.cycle = atoi(argv[2]), .block = atoi(argv[3])};
    MST_TRY(mst_dataset_from_tfrecord((const char *const *)argv + first, argc - first, &options, &dataset));
    mst_status status = strcmp(argv[1], "examples") == 0 ? print_examples(dataset)
                                                         : each(dataset, interleave ? print_text : print_record);
    mst_dataset_release(dataset);
    return status;
}

int main(int argc, char **argv) {
    if (argc > 2 && run(argc, argv) == MST_OK) return 0;
    fprintf(stderr, "%s\n",
            argc > 2 ? mst_error()->message : "usage: parity_records records|interleave|examples|ranges ...");
    return 1;
}
