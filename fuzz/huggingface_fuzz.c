/* clang -fsanitize=fuzzer,address,undefined: config.json of folders of Hugging Face. What is taken is written, and read
 * again as the same network. */
#include "memory.h"
#include "model_file/huggingface/tensors.h"
#include "model_file/huggingface/token_config.h"
#include "tensor/tensor_check.h"

#include <string.h>

static void list_tensors(const mst_gpt_network *config) {
    mst_huggingface_tensor *list;
    int64_t count;
    if (mst_huggingface_tensors(config, &list, &count)) __builtin_trap();
    for (int64_t i = 0; i < count; i++) {
        int64_t elements;
        const mst_shape shape = mst_huggingface_tensor_shape(&list[i]);
        if (mst_shape_count(shape) < 1 || list[i].rows * list[i].columns != mst_shape_count(list[i].shape))
            __builtin_trap();
        (void)!mst_tensor_check(MST_F32, shape, &elements);
    }
    free(list);
}

static void read_input(const uint8_t *data, size_t size) {
    enum { MOST_LAYERS = 8 };
    mst_gpt_network config, again;
    char *text;
    if (mst_huggingface_config_parse("input", (const char *)data, size, &config)) return;
    char *base = strndup((const char *)data, size);
    if (mst_huggingface_config_print(&config, base, &text)) __builtin_trap();
    if (mst_huggingface_config_parse("again", text, strlen(text), &again)) __builtin_trap();
    if (again.layers != config.layers || again.width != config.width || again.inner != config.inner ||
        again.head_length != config.head_length || again.positions != config.positions ||
        again.epsilon != config.epsilon || again.is_untied != config.is_untied)
        __builtin_trap();
    if (config.layers <= MOST_LAYERS) list_tensors(&config);
    free(base);
    free(text);
}

FUZZ(read_input, 400, 1 << 20)
