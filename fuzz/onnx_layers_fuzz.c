/* clang -fsanitize=fuzzer,address,undefined: models of ONNX, whose operators become layers. */
#include <string.h>

#include "memory.h"
#include "model_file/onnx/onnx_layers.h"

static void read_input(const uint8_t *data, size_t size) {
    mst_onnx_file file;
    mst_model *model;
    if (mst_model_create(&model)) return;
    mst_status status = mst_onnx_file_parse("input", NULL, data, size, &file);
    if (!status) status = mst_onnx_add_layers(&file, false, model);
    if (status ? !*mst_error()->message || strchr(mst_error()->message, '\n') != NULL
               : mst_model_check(model) != MST_OK)
        __builtin_trap();
    mst_onnx_file_free(&file);
    mst_model_destroy(model);
}

FUZZ(read_input, 512, 1 << 20)
