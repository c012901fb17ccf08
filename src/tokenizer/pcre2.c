/* The module `pcre2`: patterns by PCRE2. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/no_memory.h"
#include "module/module.h"
#include "tokenizer/pattern.h"

/* Limit of the steps of one search: a constant for short texts, and some steps for each byte of a long text, which may
 * be one run of white space. */
enum { LEAST_STEPS = 10000000, STEPS_OF_BYTE = 8 };

struct mst_pattern {
    pcre2_code *code;
};

struct mst_pattern_search {
    const mst_pattern *pattern;
    pcre2_match_data *match;
    pcre2_match_context *context;
};

static void pattern_free(mst_pattern *pattern) {
    if (pattern) pcre2_code_free(pattern->code);
    free(pattern);
}

static mst_status pattern_compile(const char *text, size_t size, mst_pattern **out) {
    int error;
    PCRE2_SIZE at;
    *out = NULL;
    mst_pattern *pattern = calloc(1, sizeof *pattern);
    pcre2_compile_context *context = pcre2_compile_context_create(NULL);
    if (pattern && context) {
        pcre2_set_newline(context, PCRE2_NEWLINE_LF); /* what '.' does not match */
        pattern->code = pcre2_compile((PCRE2_SPTR)text, size, PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C, &error,
                                      &at, context);
    }
    const bool no_memory = !pattern || !context;
    pcre2_compile_context_free(context);
    if (pattern && pattern->code) {
        /* If this fails, for example because memory may not be executable, matches are the same but slower. */
        (void)pcre2_jit_compile(pattern->code, PCRE2_JIT_COMPLETE);
        *out = pattern;
        return MST_OK;
    }
    pattern_free(pattern);
    if (no_memory) return MST_NO_MEMORY("for a pattern");
    PCRE2_UCHAR message[128] = "";
    pcre2_get_error_message(error, message, sizeof message);
    return MST_FAIL(MST_INVALID, "the pattern is wrong at byte %zu: %s", (size_t)at, (const char *)message);
}

static void search_end(mst_pattern_search *search) {
    if (!search) return;
    pcre2_match_data_free(search->match);
    pcre2_match_context_free(search->context);
    free(search);
}

static mst_status search_begin(const mst_pattern *pattern, mst_pattern_search **out) {
    mst_pattern_search *search = calloc(1, sizeof *search);
    *out = NULL;
    if (!search) return MST_NO_MEMORY("for a pattern");
    search->pattern = pattern;
    search->match = pcre2_match_data_create_from_pattern(pattern->code, NULL);
    search->context = pcre2_match_context_create(NULL);
    if (!search->match || !search->context) {
        search_end(search);
        return MST_NO_MEMORY("for a pattern");
    }
    *out = search;
    return MST_OK;
}

static mst_status search_next(mst_pattern_search *search, const char *text, size_t size, size_t at, bool *found,
                              size_t *first, size_t *end) {
    const uint64_t steps = LEAST_STEPS + STEPS_OF_BYTE * (uint64_t)size;
    pcre2_set_match_limit(search->context, steps < UINT32_MAX ? (uint32_t)steps : UINT32_MAX);
    const int got = pcre2_match(search->pattern->code, (PCRE2_SPTR)text, size, at, PCRE2_NO_UTF_CHECK, search->match,
                                search->context);
    *found = got >= 0;
    if (got == PCRE2_ERROR_NOMATCH) return MST_OK;
    if (got < 0) {
        PCRE2_UCHAR message[128] = "";
        pcre2_get_error_message(got, message, sizeof message);
        return MST_FAIL(got == PCRE2_ERROR_NOMEMORY ? MST_OUT_OF_MEMORY : MST_INVALID,
                        "the pattern cannot be looked for at byte %zu of %zu: %s", at, size, (const char *)message);
    }
    const PCRE2_SIZE *range = pcre2_get_ovector_pointer(search->match);
    *first = range[0];
    *end = range[1];
    /* \K can move the beginning of the match to another place. */
    if (*first < at || *end < *first || *end > size)
        return MST_FAIL(MST_INVALID, "the pattern has a match that does not follow the one before it");
    return MST_OK;
}

static const mst_pattern_library library = {
    .compile = pattern_compile, .free = pattern_free, .begin = search_begin, .next = search_next, .end = search_end};

extern const mst_module mst_module_pcre2;
const mst_module mst_module_pcre2 = {
    .abi = MST_MODULE_ABI, .size = sizeof(mst_module), .name = "pcre2", .version = MST_VERSION, .interface = &library};
