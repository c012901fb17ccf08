#include "bench/bare_network.h"

#include <dnnl.h>
#include <omp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/simd.h"
#include "bench/table.h"

static float *zeros(size_t count) {
    float *array = aligned_alloc(64, (count * sizeof *array + 63) / 64 * 64);
    if (array)
        for (size_t i = 0; i < count; i++) array[i] = (float)(i % 17) * 0.01F;
    return array;
}

bool bare_make(bare_network *b) {
    *b = (bare_network){zeros(BATCH * INPUTS),   zeros(PARAMETERS),      zeros(BATCH * HIDDEN),
                        zeros(HIDDEN * CLASSES), zeros(BATCH * CLASSES), zeros(PARAMETERS),
                        zeros(HIDDEN * CLASSES), zeros(BATCH * HIDDEN),  zeros(PARAMETERS)};
    return b->x && b->w1 && b->h && b->w2 && b->y && b->dw1 && b->dw2 && b->dh && b->average;
}

void bare_free(bare_network *b) {
    float *all[] = {b->x, b->w1, b->h, b->w2, b->y, b->dw1, b->dw2, b->dh, b->average};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

MST_SIMD void bare_pass(float *restrict w, float *restrict average, const float *restrict gradient, int count) {
    for (int i = 0; i < count; i++) {
        w[i] -= 1e-9F * gradient[i];
        average[i] -= 0.1F * (average[i] - w[i]);
    }
}

static bool sgemm(char ta, char tb, int m, int n, int k, const float *a, int lda, const float *b, int ldb, float *c) {
    return dnnl_sgemm(ta, tb, m, n, k, 1, a, lda, b, ldb, 0, c, n) == dnnl_success;
}

bool bare_most_products(bare_network *b) {
    return sgemm('N', 'N', BATCH, HIDDEN, INPUTS, b->x, INPUTS, b->w1, HIDDEN, b->h) &&
           sgemm('N', 'N', BATCH, CLASSES, HIDDEN, b->h, HIDDEN, b->w2, CLASSES, b->y) &&
           sgemm('T', 'N', HIDDEN, CLASSES, BATCH, b->h, HIDDEN, b->y, CLASSES, b->dw2) &&
           sgemm('N', 'T', BATCH, HIDDEN, CLASSES, b->y, CLASSES, b->w2, CLASSES, b->dh);
}

bool bare_products(bare_network *b) {
    return bare_most_products(b) && sgemm('T', 'N', INPUTS, HIDDEN, BATCH, b->x, INPUTS, b->dh, HIDDEN, b->dw1);
}

bool bare_step(bare_network *b) {
    bool good = bare_products(b);
    bare_pass(b->w1, b->average, b->dw1, PARAMETERS);
    return good;
}

/* ---- two workers ---- */

typedef struct worker {
    bare_network network;
    bare_exchange exchange;
    double seconds, rate;
} worker;

MST_SIMD static void bare_update(float *restrict w, const float *restrict gradient, int count) {
    for (int i = 0; i < count; i++) w[i] -= 1e-9F * gradient[i];
}

/* A step of a worker. What it copies goes into AVERAGE. */
static bool worker_step(worker *w) {
    bare_network *b = &w->network;
    const size_t half = PARAMETERS / 2;
    const bool good = bare_products(b);
    if (w->exchange == BARE_SERVED) {
        memcpy(b->average, b->dw1, PARAMETERS * sizeof *b->average);
        __asm__ volatile("" : : "r"(b->average) : "memory");
        bare_update(b->w1, b->average, PARAMETERS);
        memcpy(b->average, b->w1, PARAMETERS * sizeof *b->average);
    } else if (w->exchange == BARE_HALVES) {
        memcpy(b->average, b->dw1, half * sizeof *b->average);
        memcpy(b->average + half, b->dw1 + half, half * sizeof *b->average);
    }
    __asm__ volatile("" : : "r"(b->average) : "memory"); /* every copy is made */
    return good;
}

static void *work(void *context) {
    worker *w = context;
    int64_t steps = 0;
    omp_set_num_threads(1);
    bool good = worker_step(w);
    const double began = bench_now();
    double now = began;
    for (; good && now - began < w->seconds; now = bench_now())
        for (int i = 0; i < 20; i++, steps++) good &= worker_step(w);
    w->rate = good ? (double)(steps * BATCH) / (now - began) : 0;
    return NULL;
}

double bare_two_workers(bare_exchange exchange, double seconds) {
    const worker one = {.exchange = exchange, .seconds = seconds};
    worker workers[2] = {one, one};
    const bool first = bare_make(&workers[0].network), second = bare_make(&workers[1].network);
    pthread_t thread;
    if (first && second && pthread_create(&thread, NULL, work, &workers[1]) == 0) {
        work(&workers[0]);
        pthread_join(thread, NULL);
    }
    for (int i = 0; i < 2; i++) bare_free(&workers[i].network);
    return workers[0].rate > 0 && workers[1].rate > 0 ? workers[0].rate + workers[1].rate : 0;
}
