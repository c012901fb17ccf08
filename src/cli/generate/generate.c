/** muster generate: lets a language model write on after a text. */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/standard_input.h"
#include "cli/accelerators.h"
#include "cli/command.h"
#include "cli/generate/language_model.h"
#include "cli/generate/text_stream.h"
#include "cli/json_events.h"
#include "cli/signals.h"
#include "muster/generate.h"
#include "tokenizer/token_ids.h"

typedef struct generate_options {
    language_model_options model;
    const char *text;
    int64_t max_new_tokens, top_k;
    double temperature, top_p;
    uint64_t seed;
    const char *devices;
    bool json;
} generate_options;

#define AT(member) offsetof(generate_options, member)

static const option text_options[] = {
    {"load", OPTION_FILE, AT(model.load), "FILE",
     .help = "a language model: FILE.keras, FILE.h5, or a folder of Hugging Face"},
    {"checkpoint-dir", OPTION_FILE, AT(model.checkpoint_dir), "DIR",
     .help = "or the newest checkpoint of DIR, of muster train --model gpt:...", .excludes = "load"},
    {"tokenizer", OPTION_FILE, AT(model.tokenizer), "PATH",
     .help = "tokenizer.json, vocab.json, FILE.model or their folder (default: the one of the training or of the "
             "folder, else "
             "bytes)"},
    {"text", OPTION_TEXT, AT(text), "TEXT",
     .help = "what the model goes on with; -: standard input (default: the token that begins a text, if there is one)"},
    {0}};

static const option token_options[] = {
    {"max-new-tokens", OPTION_INTEGER, AT(max_new_tokens), "N", "100", 1, 1e9, .help = "the text ends after so many"},
    {"temperature", OPTION_NUMBER, AT(temperature), "X", "1", 0, 1e6,
     .help = "divides the logits: below 1 likely tokens become likelier; 0: always the likeliest token"},
    {"top-k", OPTION_INTEGER, AT(top_k), "K", NULL, 1, 1e9, .help = "draws from the K likeliest tokens only"},
    {"top-p", OPTION_NUMBER, AT(top_p), "P", "1", 1e-6, 1,
     .help = "draws from the fewest likeliest tokens whose probabilities add up to P"},
    {"seed", OPTION_UNSIGNED, AT(seed), "N", "0", .help = "of what is drawn: the same seed gives the same text"},
    {"devices", OPTION_TEXT, AT(devices), "SPEC", .help = "as of muster train; one is used"},
    {"json", OPTION_FLAG, AT(json),
     .help = "one JSON object with text and tokens on standard output, and nothing else"},
    {0}};

static const option_section sections[] = {
    {.title = "Model and text", .options = text_options}, {.title = "Tokens", .options = token_options}, {0}};

/* ---- the prompt ---- */

/* The vocabulary of a model of bytes may end with the largest byte of its training text. */
static mst_status check_byte(const language_model *m, int64_t place, unsigned char byte) {
    if (byte < m->vocabulary || m->vocabulary <= 0) return MST_OK;
    return MST_FAIL(
        MST_INVALID,
        "generate: byte %lld of the text is %d, and the model's bytes are 0 to %lld, as its training text "
        "had no larger one: leave it out, or train the model with --max-tokens 256; or say --tokenizer PATH if its "
        "tokens are ids",
        (long long)place, byte, (long long)m->vocabulary - 1);
}

static mst_status encode_prompt(const language_model *m, const char *text, size_t size, mst_token_ids *ids) {
    if (m->tokenizer) {
        const mst_encode_options around = {.add_special = m->is_foreign};
        return mst_tokenizer_encode(m->tokenizer, text, size, &around, ids);
    }
    for (size_t i = 0; i < size; i++) {
        const int32_t id = (unsigned char)text[i];
        MST_TRY(check_byte(m, (int64_t)i, (unsigned char)text[i]));
        MST_TRY(mst_token_ids_append(ids, &id, 1));
    }
    return MST_OK;
}

/* The token that stands before a text; that which ends one where the tokenizer has no other, as in GPT-2. */
static mst_status add_begin(const language_model *m, mst_token_ids *ids) {
    int32_t id = m->tokenizer ? (int32_t)mst_tokenizer_special(m->tokenizer, MST_SPECIAL_BEGIN) : -1;
    if (id < 0 && m->tokenizer) id = (int32_t)mst_tokenizer_special(m->tokenizer, MST_SPECIAL_END);
    if (id < 0)
        return MST_FAIL(MST_INVALID,
                        "generate: with what does the text begin? say --text TEXT, as the model has no "
                        "token that begins a text");
    return mst_token_ids_append(ids, &id, 1);
}

static mst_status read_prompt(const generate_options *o, const language_model *m, mst_token_ids *ids) {
    void *data = NULL;
    size_t size = 0;
    mst_status status;
    if (o->text && mst_standard_input_is(o->text)) {
        MST_TRY(mst_standard_input_read(&data, &size));
        while (size > 0 && ((const char *)data)[size - 1] == '\n') size--; /* the end of the last line */
        status = encode_prompt(m, data, size, ids);
    } else {
        status = encode_prompt(m, o->text ? o->text : "", o->text ? strlen(o->text) : 0, ids);
    }
    free(data);
    return status || ids->count ? status : add_begin(m, ids);
}

/* ---- writing ---- */

typedef struct writing {
    const generate_options *o;
    text_stream stream;
    mst_status status; /* of the stream */
} writing;

static bool each_token(void *context, int32_t token) {
    writing *w = context;
    if (!w->o->json) w->status = text_stream_add(&w->stream, token);
    if (ferror(stdout) && !signals_reader_left()) return false; /* an error that the end of the command reports */
    return !w->status && !signals_caught();
}

static mst_status write_event(const writing *w, const mst_token_ids *prompt, const mst_token_ids *out, double seconds,
                              double prompt_seconds) {
    char *text;
    MST_TRY(text_stream_text(&w->stream, prompt, out, &text));
    json_t *event = json_event("generated"), *tokens = json_array();
    for (int64_t i = 0; i < out->count; i++) json_array_append_new(tokens, json_integer(out->id[i]));
    json_add(&event, "", "text", json_text(text));
    json_add(&event, "", "tokens", tokens);
    json_add(&event, "", "prompt_tokens", json_integer(prompt->count));
    json_add(&event, "", "prompt_seconds", json_number(prompt_seconds));
    json_add(&event, "", "seconds", json_number(seconds));
    free(text);
    return json_write(event);
}

/* Tells on standard error how fast it went. The first token comes with the prompt. */
static void tell_speed(const mst_token_ids *prompt, const mst_token_ids *out, double seconds, double prompt_seconds) {
    const double rest = seconds - prompt_seconds;
    fprintf(stderr, "%" PRId64 " tokens after %" PRId64, out->count, prompt->count);
    if (out->count > 1 && rest > 0) fprintf(stderr, ", %.1f a second", (double)(out->count - 1) / rest);
    fprintf(stderr, "; the first after %.2f s\n", prompt_seconds);
}

static mst_status write_on(const generate_options *o, language_model *m, const char *devices) {
    mst_token_ids prompt = {.count = 0}, out = {.count = 0};
    writing w = {.o = o, .stream = {.tokenizer = m->tokenizer}};
    double prompt_seconds = 0;
    const int32_t end = m->tokenizer ? (int32_t)mst_tokenizer_special(m->tokenizer, MST_SPECIAL_END) : -1;
    const mst_generate_options options = {.max_tokens = o->max_new_tokens,
                                          .temperature = o->temperature > 0 ? o->temperature : MST_ZERO,
                                          .top_k = o->top_k,
                                          .top_p = o->top_p,
                                          .seed = o->seed,
                                          .vocabulary = m->tokenizer ? mst_tokenizer_num_ids(m->tokenizer) : 0,
                                          .end = &end,
                                          .num_ends = end >= 0,
                                          .devices = devices,
                                          .each = each_token,
                                          .context = &w,
                                          .prompt_seconds = &prompt_seconds};
    mst_status status = read_prompt(o, m, &prompt);
    if (!status) status = signals_catch();
    if (!status && !o->json) status = text_stream_begin(&w.stream, &prompt);
    const double began = mst_clock_seconds();
    if (!status) status = mst_generate(m->model, prompt.id, prompt.count, &options, &out);
    const double seconds = mst_clock_seconds() - began;
    if (!status) status = w.status;
    if (!o->json) text_stream_end(&w.stream);
    if (!status && o->json) status = write_event(&w, &prompt, &out, seconds, prompt_seconds);
    if (!status && !o->json) tell_speed(&prompt, &out, seconds, prompt_seconds);
    text_stream_free(&w.stream);
    free(prompt.id);
    free(out.id);
    return status;
}

static int generate_run(const command_call *call) {
    const generate_options *o = call->options;
    language_model m;
    char found[32], *problem = NULL;
    if (!o->model.load && !o->model.checkpoint_dir)
        return command_fail(EXIT_USAGE, "generate: which model? give --load FILE or --checkpoint-dir DIR");
    if (!o->devices) accelerators_default(found, &problem);
    mst_status status = language_model_open(&o->model, &m);
    if (!status) status = write_on(o, &m, o->devices ? o->devices : found);
    language_model_close(&m);
    free(problem);
    if (status) return command_fail_library(EXIT_FAILED, NULL);
    return signals_caught() ? EXIT_SIGNAL + signals_caught() : EXIT_DONE;
}

const command command_generate = {
    .name = "generate",
    .summary = "lets a language model write on after a text",
    .usage = "--load FILE | --checkpoint-dir DIR [--text TEXT] [options]",
    .notes = "muster generate --load m.keras --text \"Once upon a time\" --temperature 0.8 --top-k 50",
    .sections = sections,
    .options_size = sizeof(generate_options),
    .run = generate_run,
};
