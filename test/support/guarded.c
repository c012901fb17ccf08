#include "support/guarded.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST_BLOCKS = 16, PAGE = 1 << 16, GUARD = 1 << 20, NEAR = 4096, TEXT = 1024 };

/*  | guard: NaN, not to be touched | room, NaN near the block | block | room likewise | guard |
 *  ^ memory                        ^ low                                             ^ high       */
struct guarded {
    const char *name;
    char *memory, *low, *high, *data;
    size_t bytes;
    bool is_placed;
    volatile char *volatile touched; /* first address in a guard; NULL: none */
};

static guarded blocks[MOST_BLOCKS];
static int num_blocks;
static char running[TEXT] = "before the first\n";

void guarded_describe(const char *what_runs) {
    snprintf(running, sizeof running, "%s\n", what_runs);
}

/* NaN, in f32 and in bf16. */
static char nan_byte(const char *at) {
    return (char)((uintptr_t)at % 2 ? 0x7f : 0xc0);
}

static void fill(char *from, const char *to) {
    for (char *p = from; p < to; p++) *p = nan_byte(p);
}

static bool is_in_guard(const guarded *g, const char *at) {
    return (at >= g->memory && at < g->low) || (at >= g->high && at < g->high + GUARD);
}

static void allow(const guarded *g, int protection) {
    if (mprotect(g->memory, GUARD, protection) || mprotect(g->high, GUARD, protection)) abort();
}

static void handle_fault(int number, siginfo_t *info, void *context) {
    char *at = info->si_addr;
    (void)context;
    for (int i = 0; i < num_blocks && number == SIGSEGV; i++) {
        if (!is_in_guard(&blocks[i], at)) continue;
        if (!blocks[i].touched) blocks[i].touched = at;
        allow(&blocks[i], PROT_READ | PROT_WRITE);
        return;
    }
    static const char text[] = "it died in ";
    if (write(STDOUT_FILENO, text, sizeof text - 1) < 0 || write(STDOUT_FILENO, running, strlen(running)) < 0) _exit(3);
    _exit(2);
}

guarded *guarded_create(const char *name, size_t most) {
    if (num_blocks == MOST_BLOCKS) abort();
    guarded *g = &blocks[num_blocks];
    const size_t room = (most + 2 * (size_t)NEAR + PAGE - 1) / PAGE * PAGE;
    g->name = name;
    g->memory = mmap(NULL, room + 2 * (size_t)GUARD, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (g->memory == MAP_FAILED) abort();
    g->low = g->data = g->memory + GUARD;
    g->high = g->low + room;
    fill(g->memory, g->low);
    fill(g->high, g->high + GUARD);
    allow(g, PROT_NONE);
    num_blocks++;
    return g;
}

void *guarded_place(guarded *g, size_t bytes, bool at_end) {
    if (bytes + 2 * (size_t)NEAR > (size_t)(g->high - g->low)) return NULL;
    if (g->touched) {
        fill(g->memory, g->low);
        fill(g->high, g->high + GUARD);
        allow(g, PROT_NONE);
        g->touched = NULL;
    }
    g->bytes = bytes;
    g->is_placed = true;
    g->data = at_end ? g->high - bytes : g->low;
    char *end = g->data + bytes;
    fill(g->data - g->low < NEAR ? g->low : g->data - NEAR, g->high - end < NEAR ? g->high : end + NEAR);
    return g->data;
}

void *guarded_data(const guarded *g) {
    return g->data;
}

void guarded_begin(void) {
    static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
    struct sigaction action = {.sa_sigaction = handle_fault, .sa_flags = SA_SIGINFO};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        if (sigaction(faults[i], &action, NULL)) abort();
    for (int i = 0; i < num_blocks; i++) blocks[i].is_placed = false;
}

/* Bytes from FROM to TO that are not NaN any more. */
static size_t count_written(const char *from, const char *to) {
    size_t count = 0;
    for (const char *p = from; p < to; p++) count += *p != nan_byte(p);
    return count;
}

bool guarded_was_left(guarded *g, char *text, size_t size) {
    const char *const end = g->data + g->bytes;
    const char *const low = g->touched ? g->memory : g->low, *const high = g->touched ? g->high + GUARD : g->high;
    const char *const from = g->data - g->low < NEAR ? low : g->data - NEAR;
    const char *const to = g->high - end < NEAR ? high : end + NEAR;
    const long touched = g->touched ? (long)(g->touched < g->data ? g->touched - g->data : g->touched - end) : 0;
    const size_t before = count_written(from, g->data), behind = count_written(end, to);
    const size_t length = strlen(text);
    if (!g->is_placed || (!g->touched && !before && !behind)) return false;
    snprintf(text + length, size - length, " %s of %zu bytes left: %zu bytes written before it, %zu after it", g->name,
             g->bytes, before, behind);
    if (g->touched) {
        const size_t so_far = strlen(text);
        snprintf(text + so_far, size - so_far, ", first touched %ld bytes %s;", touched < 0 ? -touched : touched,
                 g->touched < g->data ? "before" : "after");
    }
    return true;
}
