/* A small language model: it learns to continue a text, byte by byte, and then writes on by itself.
 *
 *     examples/gpt FILE [STEPS] [--llama] [--devices LIST]
 *
 *   FILE            the text, such as a book; where it is not there, it is made, with sentences that are made up
 *   STEPS           default 150
 *   --llama         RMS normalization, rotary positions and SwiGLU in place of GPT-2's layers
 *   --devices LIST  such as cpu:2 (default cpu:1)
 *
 * The learning rate rises over the first tenth of the steps, and then falls along a cosine.
 */
#include <muster/muster.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POSITIONS = 32, BYTES = 256, BATCH = 16, WRITTEN = 60, MADE_UP = 400 };

static void check(mst_status status) {
    if (status == MST_OK) return;
    fprintf(stderr, "error: %s\n", mst_error()->message);
    exit(1);
}

/* The next number below BOUND of a linear congruential generator (Numerical Recipes). */
static unsigned next_number(unsigned *state, unsigned bound) {
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % bound;
}

static void make_up(const char *path) {
    static const char *const who[] = {"the cat", "the dog", "a bird"}, *const does[] = {"sees", "likes"};
    unsigned state = 1;
    FILE *file = fopen(path, "w");
    if (!file) {
        perror(path);
        exit(1);
    }
    for (int i = 0; i < MADE_UP; i++)
        fprintf(file, "%s %s %s. ", who[next_number(&state, 3)], does[next_number(&state, 2)],
                who[next_number(&state, 3)]);
    if (fclose(file)) {
        perror(path);
        exit(1);
    }
}

/* Writes on after the first bytes of the text. */
static void write_on(mst_model *model, const char *path) {
    int32_t prompt[POSITIONS / 4];
    int64_t length = 0;
    mst_token_ids text = {.count = 0};
    FILE *file = fopen(path, "r");
    for (int c; file && length < POSITIONS / 4 && (c = fgetc(file)) != EOF;) prompt[length++] = c;
    if (file) fclose(file);
    if (length == 0) return;
    check(mst_generate(model, prompt, length,
                       &(mst_generate_options){.max_tokens = WRITTEN, .temperature = 0.5, .seed = 7}, &text));
    for (int64_t i = 0; i < length + text.count; i++) {
        const int32_t byte = i < length ? prompt[i] : text.id[i - length];
        putchar(byte >= ' ' && byte < 127 ? byte : '?');
    }
    putchar('\n');
    free(text.id);
}

int main(int argc, char **argv) {
    const char *path = NULL, *devices = "cpu:1";
    int64_t steps = 150;
    bool llama = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--llama") == 0)
            llama = true;
        else if (strcmp(argv[i], "--devices") == 0 && i + 1 < argc)
            devices = argv[++i];
        else if (strspn(argv[i], "0123456789") == strlen(argv[i]))
            steps = atoll(argv[i]);
        else
            path = argv[i];
    }
    if (!path) {
        fprintf(stderr, "usage: gpt FILE [STEPS] [--llama] [--devices LIST]\n");
        return 2;
    }
    FILE *file = fopen(path, "r");
    if (file)
        fclose(file);
    else
        make_up(path);
    mst_dataset *data = mst_data_from_tokens(path, &(mst_tokens_options){.positions = POSITIONS, .vocabulary = BYTES});
    check(mst_dataset_check(data));
    mst_model *model;
    mst_result result;
    check(mst_model_create(&model));
    mst_gpt(model, .layers = 2, .width = 64, .heads = 4, .vocabulary_size = BYTES, .positions = POSITIONS,
            .llama = llama);
    const mst_schedule schedule = {
        .kind = MST_SCHEDULE_COSINE, .rate = 0.005, .decay_steps = steps, .warmup_steps = steps / 10};
    check(mst_compile(model, .optimizer = mst_adamw(.schedule = schedule, .weight_decay = 0.01),
                      .loss = MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY, .metric = {MST_METRIC_PERPLEXITY},
                      .session = {.devices = devices}, .seed = 1));
    check(mst_fit_with(model, &(mst_fit_options){.data = data, .batch_size = BATCH, .steps = steps}, &result));
    printf("loss %.3f, perplexity %.2f\n", result.loss, result.metric[0]);
    write_on(model, path);
    mst_model_destroy(model);
    mst_dataset_release(data);
    return 0;
}
