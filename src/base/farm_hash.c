#include "base/farm_hash.h"

#include <string.h>

/* The numbers in this file are those of FarmHash. It has four ways to hash: for up to 16, 32 and 64 bytes, and for
 * more. */
static const uint64_t k0 = 0xc3a5c85c97cb3127, k1 = 0xb492b66fbe98f273, k2 = 0x9ae16a3b2f90404f;

typedef struct pair {
    uint64_t first, second;
} pair;

static uint64_t little_endian(const uint8_t *s, int size) {
    uint64_t value = 0;
    for (int i = size - 1; i >= 0; i--) value = value << 8 | s[i];
    return value;
}

static uint64_t fetch(const uint8_t *s) {
    return little_endian(s, 8);
}

static uint64_t rotate(uint64_t value, int bits) {
    return value >> bits | value << (64 - bits);
}

static uint64_t shift_mix(uint64_t value) {
    return value ^ value >> 47;
}

static uint64_t of_two(uint64_t u, uint64_t v, uint64_t factor) {
    const uint64_t a = shift_mix((u ^ v) * factor);
    return shift_mix((v ^ a) * factor) * factor;
}

static uint64_t of_at_most_16(const uint8_t *s, size_t size) {
    const uint64_t factor = k2 + size * 2;
    if (size >= 8) {
        const uint64_t a = fetch(s) + k2, b = fetch(s + size - 8);
        return of_two(rotate(b, 37) * factor + a, (rotate(a, 25) + b) * factor, factor);
    }
    if (size >= 4) return of_two(size + (little_endian(s, 4) << 3), little_endian(s + size - 4, 4), factor);
    if (size == 0) return k2;
    const uint64_t y = s[0] + ((uint64_t)s[size >> 1] << 8), z = size + ((uint64_t)s[size - 1] << 2);
    return shift_mix(y * k2 ^ z * k0) * k2;
}

static uint64_t of_at_most_32(const uint8_t *s, size_t size) {
    const uint64_t factor = k2 + size * 2;
    const uint64_t a = fetch(s) * k1, b = fetch(s + 8), c = fetch(s + size - 8) * factor, d = fetch(s + size - 16) * k2;
    return of_two(rotate(a + b, 43) + rotate(c, 30) + d, a + rotate(b + k2, 18) + c, factor);
}

static uint64_t of_at_most_64(const uint8_t *s, size_t size) {
    const uint64_t factor = k2 + size * 2;
    const uint64_t a = fetch(s) * k2, b = fetch(s + 8), c = fetch(s + size - 8) * factor, d = fetch(s + size - 16) * k2;
    const uint64_t y = rotate(a + b, 43) + rotate(c, 30) + d, z = of_two(y, a + rotate(b + k2, 18) + c, factor);
    const uint64_t e = fetch(s + 16) * factor, f = fetch(s + 24);
    const uint64_t g = (y + fetch(s + size - 32)) * factor, h = (z + fetch(s + size - 24)) * factor;
    return of_two(rotate(e + f, 43) + rotate(g, 30) + h, e + rotate(f + a, 18) + g, factor);
}

/* The weak hash of the 32 bytes at S, beginning with A and B. */
static pair weak(const uint8_t *s, uint64_t a, uint64_t b) {
    const uint64_t z = fetch(s + 24);
    a += fetch(s);
    b = rotate(b + a + z, 21);
    const uint64_t c = a;
    a += fetch(s + 8) + fetch(s + 16);
    return (pair){a + z, b + rotate(a, 44) + c};
}

typedef struct farm_hash_state {
    uint64_t x, y, z;
    pair v, w;
} farm_hash_state;

/* Mixes in the 64 bytes at S. LAST is 9 for the last 64 bytes, 1 before them. */
static void mix(farm_hash_state *t, const uint8_t *s, uint64_t factor, uint64_t last) {
    t->x = rotate(t->x + t->y + t->v.first + fetch(s + 8), 37) * factor;
    t->y = rotate(t->y + t->v.second + fetch(s + 48), 42) * factor;
    t->x ^= t->w.second * last;
    t->y += t->v.first * last + fetch(s + 40);
    t->z = rotate(t->z + t->w.first, 33) * factor;
    t->v = weak(s, t->v.second * factor, t->x + t->w.first);
    t->w = weak(s + 32, t->z + t->w.second, t->y + fetch(s + 16));
    const uint64_t z = t->z;
    t->z = t->x;
    t->x = z;
}

static uint64_t of_more(const uint8_t *s, size_t size) {
    enum { SEED = 81, BLOCK = 64 };
    const uint64_t rest = (size - 1) % BLOCK, y = SEED * k1 + 113;
    farm_hash_state t = {.x = SEED * k2 + fetch(s), .y = y, .z = shift_mix(y * k2 + 113) * k2};
    const uint8_t *end = s + (size - 1) / BLOCK * BLOCK;
    for (; s != end; s += BLOCK) mix(&t, s, k1, 1);
    const uint64_t factor = k1 + ((t.z & 0xff) << 1);
    t.w.first += rest;
    t.v.first += t.w.first;
    t.w.first += t.v.first;
    mix(&t, end + rest + 1 - BLOCK, factor, 9);
    return of_two(of_two(t.v.first, t.w.first, factor) + shift_mix(t.y) * k0 + t.z,
                  of_two(t.v.second, t.w.second, factor) + t.x, factor);
}

uint64_t mst_farm_hash(const void *data, size_t size) {
    const uint8_t *s = data;
    if (size <= 16) return of_at_most_16(s, size);
    if (size <= 32) return of_at_most_32(s, size);
    return size <= 64 ? of_at_most_64(s, size) : of_more(s, size);
}
