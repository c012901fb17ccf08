/* clang -fsanitize=fuzzer,address,undefined: CSV files, and their columns as numbers. The first byte chooses the
 * delimiter and what is asked for of columns. */
#include "data/sources/csv_column.h"
#include "format/csv.h"
#include "memory.h"

#include <stdlib.h>
#include <string.h>

static void read_column(const mst_csv *csv, int column, uint8_t choice) {
    const mst_csv_reading as = {.categories = choice & 1,
                                .part = choice & 4 ? MST_CSV_SECONDS : MST_CSV_NO_DATE,
                                .notation = {.decimal = choice & 8 ? ',' : 0, .thousands = choice & 16 ? ' ' : 0}};
    const size_t rows = (size_t)mst_csv_num_rows(csv);
    mst_csv_column form = {.missing = rows % 2 ? MST_MISSING_NAN : MST_MISSING_REFUSE};
    if (mst_csv_column_find(csv, column, &as, &form) == MST_OK) {
        int64_t *integers = malloc(rows * sizeof *integers);
        float *floats = malloc(rows * sizeof *floats);
        const mst_status status = mst_csv_column_read_i64(csv, column, &form, integers);
        if (status && form.type == MST_CSV_CATEGORIES) __builtin_trap();
        if (!status && form.type == MST_CSV_FLOATS) __builtin_trap();
        if (mst_csv_column_read_f32(csv, column, &form, floats, 1) && form.type != MST_CSV_FLOATS) __builtin_trap();
        free(integers);
        free(floats);
    }
    mst_csv_column_free(&form);
}

static void read_input(const uint8_t *data, size_t size) {
    mst_csv *csv;
    if (size < 1) return;
    const mst_csv_format format = {.delimiter = data[0] & 2 ? '\t' : ',',
                                   .comment = data[0] & 32 ? '#' : 0,
                                   .no_header = data[0] & 64,
                                   .encoding = data[0] & 128 ? "latin1" : NULL};
    const mst_status status = mst_csv_parse("input", data + 1, size - 1, &format, &csv);
    if ((status == MST_OK) != (csv != NULL)) __builtin_trap();
    if (csv) {
        for (int i = 0; i < mst_csv_num_columns(csv); i++) {
            int found;
            if (mst_csv_find(csv, mst_csv_header(csv, i), &found)) __builtin_trap();
            for (int64_t row = 0; row < mst_csv_num_rows(csv); row++)
                if (strlen(mst_csv_cell(csv, row, i)) >= 4 * size) __builtin_trap(); /* UTF-8 can be longer */
            read_column(csv, i, data[0]);
        }
    }
    mst_csv_close(csv);
}

FUZZ(read_input, 64, 64 << 10)
