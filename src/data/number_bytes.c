#include "data/number_bytes.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Numbers given to networks usually have a magnitude in this range. */
static const double least = 1e-6, most = 1e6;
enum { FEWEST = 16, FEWEST_HALVES = 32 };

/* POSSIBLE: there are too few numbers to decide. */
typedef enum verdict { IMPOSSIBLE, POSSIBLE, LIKELY } verdict;

/* Judges by COUNT numbers that are not 0. APART of them have bytes that differ in a way that neighbouring pixels of a
 * picture do not. */
static verdict judge(size_t count, size_t apart) {
    if (count < FEWEST) return POSSIBLE;
    return apart >= count / 2 ? LIKELY : IMPOSSIBLE;
}

static bool is_usual(double value) {
    return isfinite(value) && fabs(value) >= least && fabs(value) <= most;
}

/* Whether the four bytes may come from a picture with stripes. */
static bool are_stripes(const uint8_t *word) {
    return word[2] == word[3] || (word[0] == word[2] && word[1] == word[3]);
}

/* Looks for floats of EACH bytes. Every number that is not 0 must be usual. Neighbouring pixels of a picture are alike,
 * so in at least half of the numbers, the lowest byte must lie outside the range of the highest bytes, without
 * stripes. */
static verdict look_for_floats(const uint8_t *data, size_t size, size_t each) {
    size_t count = 0, apart = 0;
    uint8_t low = 255, high = 0;
    if (size % each != 0) return IMPOSSIBLE;
    for (size_t i = 0; i < size; i += each) {
        float single;
        double value;
        memcpy(&single, data + i, sizeof single);
        value = single;
        if (each == sizeof value) memcpy(&value, data + i, sizeof value);
        if (value == 0) continue;
        if (!is_usual(value)) return IMPOSSIBLE;
        const uint8_t top = data[i + each - 1] & 0x7f;
        if (top < low) low = top;
        if (top > high) high = top;
        count++;
    }
    for (size_t i = 0; i < size; i += each) {
        const uint8_t bottom = data[i] & 0x7f, *word = &data[i + each - sizeof(float)];
        apart += word[3] != 0 && (bottom < low || bottom > high) && !are_stripes(word);
    }
    return judge(count, apart);
}

/* Looks for integers that fit in two bytes, stored in four or eight: the upper bytes are all 0, or 255 if it is
 * negative. The lower two bytes mostly differ, and the lowest one has several values, unlike in stripes, lines and
 * masks. */
static verdict look_for_integers(const uint8_t *data, size_t size) {
    enum { EACH = 4, FEWEST_VALUES = 4, MINUS = 255 };
    bool seen[MINUS + 1] = {false};
    size_t count = 0, apart = 0, values = 0;
    if (size % EACH != 0) return IMPOSSIBLE;
    for (size_t i = 0; i < size; i += EACH) {
        const uint8_t bottom = data[i], next = data[i + 1], sign = data[i + 2];
        if (data[i + 3] != sign || (sign && (sign != MINUS || next < 128))) return IMPOSSIBLE;
        if (bottom == sign && next == sign) continue; /* 0, -1, or the upper half of an integer of eight bytes */
        count++;
        apart += bottom != next;
        values += bottom != 0 && bottom != MINUS && !seen[bottom];
        seen[bottom] = true;
    }
    const verdict found = judge(count, apart);
    return found == LIKELY && values < FEWEST_VALUES ? IMPOSSIBLE : found;
}

/* Looks for numbers from 2^-10 to 2^8 whose lowest bytes are spread over all values. In a picture they would be close
 * together, since neighbouring pixels are alike. */
static verdict look_for_halves(const uint8_t *data, size_t size) {
    /* The highest bytes are from LEAST_TOP to MOST_TOP, and differ by WIDEST at most. Of the lowest ones some are below
     * LOW, and some not below HIGH. */
    enum { LEAST_TOP = 0x14, MOST_TOP = 0x5c, WIDEST = 0x30, LOW = 16, HIGH = 240 };
    size_t count = 0;
    uint8_t low = 255, high = 0, bottom_low = 255, bottom_high = 0;
    if (size % 2 != 0) return IMPOSSIBLE;
    for (size_t i = 0; i < size; i += 2) {
        const uint8_t bottom = data[i], top = data[i + 1] & 0x7f;
        if (!bottom && !top) continue;
        if (top < LEAST_TOP || top > MOST_TOP) return IMPOSSIBLE;
        if (top < low) low = top;
        if (top > high) high = top;
        if (bottom < bottom_low) bottom_low = bottom;
        if (bottom > bottom_high) bottom_high = bottom;
        count++;
    }
    if (count < FEWEST_HALVES) return POSSIBLE;
    return high - low <= WIDEST && bottom_low < LOW && bottom_high >= HIGH ? LIKELY : IMPOSSIBLE;
}

static const char *const kinds[] = {"float32 or float64", "float32 or float64", "int32 or int64", "float16"};
enum { NUM_KINDS = sizeof kinds / sizeof *kinds };

void mst_number_look_at(mst_number_look *look, const void *data, size_t size) {
    const verdict found[NUM_KINDS] = {look_for_floats(data, size, sizeof(float)),
                                      look_for_floats(data, size, sizeof(double)), look_for_integers(data, size),
                                      look_for_halves(data, size)};
    for (int i = 0; i < NUM_KINDS; i++) {
        look->likely |= (unsigned)(found[i] == LIKELY) << i;
        look->impossible |= (unsigned)(found[i] == IMPOSSIBLE) << i;
    }
}

bool mst_number_look_is_open(const mst_number_look *look) {
    return look->impossible != (1U << NUM_KINDS) - 1;
}

const char *mst_number_look_kind(const mst_number_look *look) {
    for (int i = 0; i < NUM_KINDS; i++)
        if (look->likely & ~look->impossible & (1U << i)) return kinds[i];
    return NULL;
}
