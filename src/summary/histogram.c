/* Counts numbers in 1551 buckets whose limits grow by 10%, without a search for most numbers.
 *
 * For f32, a table maps the upper 16 bits of a number (sign, exponent, 7 bits of the fraction) to a bucket. Numbers
 * with the same upper 16 bits differ by less than 1%, so each is in that bucket or the next; its lower 16 bits decide.
 * Chunks of numbers are counted with vector instructions. A chunk that has a NaN or an infinity is counted number by
 * number, and so are all other dtypes. */
#include "summary/histogram.h"

#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/simd.h"

enum {
    POSITIVE = 775, /* number of positive limits, and of negative limits; also the index of limit 0 */
    PREFIXES = 1 << 16,
    RANK_BITS = 17,
    CHUNK = 1024,
    LANES = 16,
    TABLES = 4
};

/* Vectors of LANES numbers, which the compiler splits into those of the processor. In a mask, all bits of an element
 * are set if it is true. */
typedef float narrow __attribute__((vector_size(LANES * sizeof(float))));
typedef int32_t mask __attribute__((vector_size(LANES * sizeof(float))));
typedef double wide __attribute__((vector_size(LANES * sizeof(double))));

/* ---- limits ---- */

static double limits[MST_HISTOGRAM_BUCKETS];
/* Indexed by the upper 16 bits of an f32. The upper bits of an element are the bucket of the smallest number that
 * begins with these 16 bits. Its lower RANK_BITS bits are the number of numbers with these 16 bits that are in this
 * bucket; the larger ones are in the next bucket. */
static uint32_t place[PREFIXES];

static int bucket_of(double x) {
    int low = 0, high = MST_HISTOGRAM_BUCKETS - 1; /* range of the first limit that is larger than x */
    while (low < high) {
        const int middle = (low + high) / 2;
        if (limits[middle] > x)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static float from_bits(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* The number with rank RANK among all numbers whose upper 16 bits are PREFIX; rank 0 is the smallest. */
static double number_of(uint32_t prefix, uint32_t rank) {
    const bool negative = prefix >> 15;
    return (double)from_bits(prefix << 16 | (negative ? rank ^ 0xffff : rank));
}

static uint32_t place_of(uint32_t prefix) {
    if (!isfinite(number_of(prefix, 0))) return 0;
    const int first = bucket_of(number_of(prefix, 0));
    uint32_t low = 0, high = PREFIXES; /* range of the first rank that is not in this bucket */
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (number_of(prefix, middle) >= limits[first])
            high = middle;
        else
            low = middle + 1;
    }
    return (uint32_t)first << RANK_BITS | low;
}

static void make_tables(void) {
    double *zero = limits + POSITIVE, limit = 1e-12;
    for (int i = 1; i < POSITIVE; i++, limit *= 1.1) {
        zero[i] = limit;
        zero[-i] = -limit;
    }
    zero[POSITIVE] = DBL_MAX;
    zero[-POSITIVE] = -DBL_MAX;
    for (uint32_t prefix = 0; prefix < PREFIXES; prefix++) place[prefix] = place_of(prefix);
}

static void histogram_prepare(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_tables);
}

const double *mst_histogram_limits(void) {
    histogram_prepare();
    return limits;
}

/* ---- counting ---- */

static void count_one(mst_histogram *h, double x) {
    if (!isfinite(x)) return;
    if (x < h->min) h->min = x;
    if (x > h->max) h->max = x;
    h->num++;
    h->sum += x;
    h->sum_squares += x * x;
    h->bucket[bucket_of(x)]++;
}

static void add_lanes(mst_histogram *h, const double *sum, const double *squares, const float *min, const float *max) {
    for (int k = 0; k < LANES; k++) {
        h->sum += sum[k];
        h->sum_squares += squares[k];
        if ((double)min[k] < h->min) h->min = (double)min[k];
        if ((double)max[k] > h->max) h->max = (double)max[k];
    }
    h->num += CHUNK;
}

/* Adds the sums and extremes of a chunk. If it has a NaN or an infinity, adds nothing and returns false. */
MST_SIMD static bool add_sums(mst_histogram *h, const float *x) {
    wide sum = {0}, squares = {0};
    narrow min, max, zero = {0}; /* x * 0 is 0 for numbers, NaN for NaN and Inf */
    memcpy(&min, x, sizeof min);
    max = min;
    for (int i = 0; i < CHUNK; i += LANES) {
        narrow part;
        memcpy(&part, x + i, sizeof part);
        const wide number = __builtin_convertvector(part, wide);
        sum += number;
        squares += number * number;
        zero += part * 0;
        const mask below = part < min;
        const mask above = part > max;
        min = (narrow)((below & (mask)part) | (~below & (mask)min));
        max = (narrow)((above & (mask)part) | (~above & (mask)max));
    }
    for (int k = 0; k < LANES; k++)
        if (zero[k] != 0) return false;
    add_lanes(h, (const double *)&sum, (const double *)&squares, (const float *)&min, (const float *)&max);
    return true;
}

/* Finds the buckets of the numbers of a chunk, given as BITS. */
MST_SIMD static void find_buckets(const uint32_t *restrict bits, int32_t *restrict bucket) {
    const uint32_t ranks = (1u << RANK_BITS) - 1;
    for (int i = 0; i < CHUNK; i++) {
        const uint32_t first = place[bits[i] >> 16], negative = (uint32_t)((int32_t)bits[i] >> 31);
        const int32_t rank = (int32_t)((bits[i] ^ negative) & 0xffff);
        bucket[i] = (int32_t)(first >> RANK_BITS) + (rank >= (int32_t)(first & ranks));
    }
}

/* Counts the numbers of a chunk in several tables in turn, so that an increment need not wait for the one before. */
static void add_buckets(uint32_t table[TABLES][MST_HISTOGRAM_BUCKETS], const float *x) {
    uint32_t bits[CHUNK];
    int32_t bucket[CHUNK];
    memcpy(bits, x, sizeof bits);
    find_buckets(bits, bucket);
    for (int i = 0; i < CHUNK; i += TABLES)
        for (int k = 0; k < TABLES; k++) table[k][bucket[i + k]]++;
}

static void count_f32(mst_histogram *h, const float *x, int64_t count) {
    static const int64_t MOST = INT64_C(1) << 30; /* as many as the tables can count */
    uint32_t table[TABLES][MST_HISTOGRAM_BUCKETS];
    int64_t i = 0;
    while (i + CHUNK <= count) {
        const int64_t end = count - i > MOST ? i + MOST : count;
        memset(table, 0, sizeof table);
        for (; i + CHUNK <= end; i += CHUNK) {
            if (add_sums(h, x + i)) {
                add_buckets(table, x + i);
            } else {
                for (int k = 0; k < CHUNK; k++) count_one(h, (double)x[i + k]);
            }
        }
        for (int b = 0; b < MST_HISTOGRAM_BUCKETS; b++)
            for (int k = 0; k < TABLES; k++) h->bucket[b] += table[k][b];
    }
    for (; i < count; i++) count_one(h, (double)x[i]);
}

void mst_histogram_count(const mst_tensor *values, mst_histogram *out) {
    histogram_prepare();
    memset(out, 0, sizeof *out);
    out->min = DBL_MAX;
    out->max = -DBL_MAX;
    const int64_t count = mst_tensor_count(values);
    if (mst_tensor_dtype(values) == MST_F32) {
        count_f32(out, mst_tensor_data(values), count);
    } else {
        for (int64_t i = 0; i < count; i++) count_one(out, mst_tensor_get(values, i));
    }
}

int mst_histogram_compress(const mst_histogram *histogram, double *limit, double *count) {
    int n = 0;
    histogram_prepare();
    for (int b = 0; b < MST_HISTOGRAM_BUCKETS; n++) {
        count[n] = histogram->bucket[b];
        if (count[n] == 0)
            while (b + 1 < MST_HISTOGRAM_BUCKETS && histogram->bucket[b + 1] == 0) b++;
        limit[n] = limits[b++];
    }
    return n;
}
