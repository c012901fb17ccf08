#include "support/program_texts.h"

#include <stdio.h>

#include "base/arena.h"
#include "plan/compiled.h"
#include "run/session.h"
#include "support/test.h"

static int64_t find(const program_texts *texts, const char *text) {
    int64_t i = 0;
    while (i < texts->count && strcmp(texts->text[i], text) != 0) i++;
    return i;
}

static void add(program_texts *texts, const char *text, const char *name) {
    if (find(texts, text) < texts->count) return;
    EXPECT_OK(mst_grow(&texts->text, sizeof *texts->text, texts->count + 1, &texts->text_capacity));
    EXPECT_OK(mst_grow(&texts->name, sizeof *texts->name, texts->count + 1, &texts->name_capacity));
    texts->text[texts->count] = strdup(text);
    texts->name[texts->count] = strdup(name);
    assert_non_null(texts->text[texts->count]);
    assert_non_null(texts->name[texts->count]);
    texts->count++;
}

void program_texts_add(program_texts *texts, mst_session *session) {
    for (int64_t p = 0; p < session->num_plans; p++) {
        const mst_plan *plan = session->plans[p]->plan;
        for (int64_t n = 0; n < plan->num_nodes; n++) {
            const mst_plan_node *node = &plan->node[n];
            if (node->dead || node->op != &mst_op_compiled) continue;
            add(texts, ((const mst_compiled_options *)node->options)->text, node->name);
        }
    }
}

void program_texts_join(program_texts *texts, const program_texts *more) {
    for (int64_t i = 0; i < more->count; i++) add(texts, more->text[i], more->name[i]);
}

/* Prints the texts that A has and B has not, and returns their number. */
static int print_missing(const char *whose, const program_texts *a, const program_texts *b) {
    int missing = 0;
    for (int64_t i = 0; i < a->count; i++) {
        if (find(b, a->text[i]) < b->count) continue;
        fprintf(stderr, "only %s: %s\n%s", whose, a->name[i], a->text[i]); /* longer than cmocka prints */
        missing++;
    }
    return missing;
}

void program_texts_expect_same(const char *what, const program_texts *got, const program_texts *wanted) {
    const int more = print_missing("got", got, wanted), less = print_missing("wanted", wanted, got);
    if (more || less) fail_msg("%s: %d programs more, %d less", what, more, less);
}

/* Whether TEXT does nothing whose bits could depend on what else is in the program. */
static bool only_adds(const char *text) {
    static const char *const exact[] = {"add",         "divide",  "constant", "reshape", "broadcast_in_dim",
                                        "concatenate", "convert", "slice"};
    static const char prefix[] = "\"stablehlo.";
    for (const char *at = strstr(text, prefix); at; at = strstr(at, prefix)) {
        at += sizeof prefix - 1;
        bool found = false;
        for (size_t i = 0; i < sizeof exact / sizeof *exact; i++) {
            const size_t length = strlen(exact[i]);
            found |= strncmp(at, exact[i], length) == 0 && at[length] == '"';
        }
        if (!found) return false;
    }
    return true;
}

void program_texts_expect_part(const char *what, const program_texts *got, const program_texts *wanted) {
    program_texts compute = {0};
    for (int64_t i = 0; i < got->count; i++)
        if (!only_adds(got->text[i])) add(&compute, got->text[i], got->name[i]);
    const int more = print_missing("got", &compute, wanted);
    program_texts_free(&compute);
    if (more) fail_msg("%s: %d programs more", what, more);
}

void program_texts_free(program_texts *texts) {
    for (int64_t i = 0; i < texts->count; i++) {
        free(texts->text[i]);
        free(texts->name[i]);
    }
    free(texts->text);
    free(texts->name);
    *texts = (program_texts){0};
}
