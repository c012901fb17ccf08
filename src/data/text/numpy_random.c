#include "data/text/numpy_random.h"

enum { WORDS = MST_MT19937_WORDS, SHIFT = 397 };

void mst_numpy_random_seed(mst_numpy_random *random, uint32_t seed) {
    uint32_t *word = random->word;
    word[0] = seed;
    for (uint32_t i = 1; i < WORDS; i++) word[i] = 1812433253u * (word[i - 1] ^ word[i - 1] >> 30) + i;
    random->next = WORDS;
}

static void renew(uint32_t *word) {
    for (int i = 0; i < WORDS; i++) {
        const uint32_t y = (word[i] & 0x80000000u) | (word[(i + 1) % WORDS] & 0x7fffffffu);
        word[i] = word[(i + SHIFT) % WORDS] ^ y >> 1 ^ (y & 1 ? 0x9908b0dfu : 0);
    }
}

static uint32_t draw(mst_numpy_random *random) {
    if (random->next == WORDS) {
        renew(random->word);
        random->next = 0;
    }
    uint32_t y = random->word[random->next++];
    y ^= y >> 11;
    y ^= y << 7 & 0x9d2c5680u;
    y ^= y << 15 & 0xefc60000u;
    return y ^ y >> 18;
}

/* Draws a number from 0 to MOST: masks the bits of a draw, and draws again if the result is larger. */
static uint32_t draw_to(mst_numpy_random *random, uint32_t most) {
    uint32_t mask = most, value;
    for (int shift = 1; shift < 32; shift *= 2) mask |= mask >> shift;
    do value = draw(random) & mask;
    while (value > most);
    return value;
}

void mst_numpy_random_shuffle(mst_numpy_random *random, int64_t *items, int64_t n) {
    for (int64_t i = n - 1; i > 0; i--) {
        const uint32_t j = draw_to(random, (uint32_t)i);
        const int64_t item = items[i];
        items[i] = items[j];
        items[j] = item;
    }
}
