/* What text_test.py asks of Muster, one JSON line for each element:
 *
 *      parity_text lines CYCLE BLOCK FILE...              the bytes of each line
 *      parity_text padded SIZE DROP GIVEN FILE            [shape, values] of each component of each padded batch of the
 *                                                         features that text_test.py writes; GIVEN: to given shapes
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "muster/dataset.h"

static void print_string(mst_string string) {
    printf("[");
    for (size_t i = 0; i < string.length; i++) printf("%s%d", i ? ", " : "", (unsigned char)string.data[i]);
    printf("]");
}

static mst_status print_line(const mst_batch *batch) {
    mst_string line;
    MST_TRY(mst_batch_copy(batch, 0, 0, 1, &line));
    print_string(line);
    printf("\n");
    return MST_OK;
}

static mst_status print_component(const mst_batch *batch, int c) {
    mst_tensor *tensor;
    MST_TRY(mst_batch_tensor(batch, c, &tensor));
    const mst_shape shape = mst_tensor_shape(tensor);
    printf("%s[[", c ? ", " : "");
    for (int i = 0; i < shape.ndim; i++) printf("%s%" PRId64, i ? ", " : "", shape.dim[i]);
    printf("], [");
    for (int64_t i = 0; i < mst_tensor_count(tensor); i++) {
        printf("%s", i ? ", " : "");
        if (mst_tensor_dtype(tensor) == MST_STRING)
            print_string(mst_tensor_get_string(tensor, i));
        else
            printf("%.17g", mst_tensor_get(tensor, i));
    }
    printf("]]");
    mst_tensor_release(tensor);
    return MST_OK;
}

enum { COMPONENTS = 7 };

static mst_status print_batch(const mst_batch *batch) {
    printf("[");
    for (int c = 0; c < COMPONENTS; c++) MST_TRY(print_component(batch, c));
    printf("]\n");
    return MST_OK;
}

static mst_status each(mst_dataset *dataset, mst_status (*print)(const mst_batch *batch)) {
    mst_iterator *it;
    const mst_batch *batch;
    MST_TRY(mst_iterator_create(dataset, 0, &it));
    mst_status status = MST_OK;
    while (!(status = mst_iterator_next(it, &batch)) && batch && !(status = print(batch))) continue;
    mst_iterator_destroy(it);
    return status;
}

static mst_status run_lines(int argc, char **argv) {
    mst_dataset *dataset;
    const mst_lines_options options = {.cycle = atoi(argv[2]), .block = atoi(argv[3])};
    MST_TRY(mst_dataset_from_lines((const char *const *)argv + 4, argc - 4, &options, &dataset));
    mst_status status = each(dataset, print_line);
    mst_dataset_release(dataset);
    return status;
}

static mst_status open_padded(char **argv, mst_dataset **out) {
    const mst_feature features[] = {
        {.name = "name", .dtype = MST_STRING},
        {.name = "tokens", .dtype = MST_I64, .shape = MST_SHAPE(-1), .variable = true, .has_default = true},
        {.name = "words", .dtype = MST_STRING, .shape = MST_SHAPE(-1), .variable = true, .has_default = true},
        {.name = "frames", .dtype = MST_F32, .shape = MST_SHAPE(-1, 2), .sequence = true},
    };
    const mst_padding padding[COMPONENTS] = {[1] = {.value = -1}, [3] = {.text = mst_string_of("-")}},
                      given[COMPONENTS] = {[1] = {.shape = MST_SHAPE(12), .value = -1},
                                           [3] = {.text = mst_string_of("-")},
                                           [5] = {.shape = MST_SHAPE(-1, 3), .value = 0.5}};
    const char *path = argv[5];
    mst_dataset *records, *rows;
    MST_TRY(mst_dataset_from_tfrecord(&path, 1, NULL, &records));
    mst_status status = mst_dataset_parse_example(records, features, 4, &rows);
    mst_dataset_release(records);
    MST_TRY(status);
    status = mst_dataset_padded_batch(rows, atoi(argv[2]), atoi(argv[3]), atoi(argv[4]) ? given : padding, out);
    mst_dataset_release(rows);
    return status;
}

static mst_status run(int argc, char **argv) {
    mst_dataset *dataset;
    if (strcmp(argv[1], "lines") == 0) return run_lines(argc, argv);
    MST_TRY(open_padded(argv, &dataset));
    mst_status status = each(dataset, print_batch);
    mst_dataset_release(dataset);
    return status;
}

int main(int argc, char **argv) {
    const bool enough = argc > 4 && (argc > 5 || strcmp(argv[1], "lines") == 0);
    if (enough && run(argc, argv) == MST_OK) return 0;
    fprintf(stderr, "%s\n", enough ? mst_error()->message : "usage: parity_text lines|padded ...");
    return 1;
}
