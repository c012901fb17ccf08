#include "data/number_bytes.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Networks are usually given numbers of such a size. */
static const double least = 1e-6, most = 1e6;
enum { FEWEST = 16, FEWEST_HALVES = 32 };

static bool is_usual(double value) {
    return isfinite(value) && fabs(value) >= least && fabs(value) <= most;
}

/* Whether the four bytes are those of a picture with stripes. */
static bool are_stripes(const uint8_t *word) {
    return word[2] == word[3] || (word[0] == word[2] && word[1] == word[3]);
}

/* Every number that is not 0 has a usual size. Mostly the lowest byte has none of the values that the highest byte has,
 * and there are no stripes. This tells pictures apart, as their neighbouring pixels are alike. */
static bool are_floats(const uint8_t *data, size_t size, size_t each) {
    size_t count = 0, apart = 0;
    uint8_t low = 255, high = 0;
    if (size % each != 0) return false;
    for (size_t i = 0; i < size; i += each) {
        float single;
        double value;
        memcpy(&single, data + i, sizeof single);
        value = single;
        if (each == sizeof value) memcpy(&value, data + i, sizeof value);
        if (value == 0) continue;
        if (!is_usual(value)) return false;
        const uint8_t top = data[i + each - 1] & 0x7f;
        if (top < low) low = top;
        if (top > high) high = top;
        count++;
    }
    for (size_t i = 0; i < size; i += each) {
        const uint8_t bottom = data[i] & 0x7f, *word = &data[i + each - sizeof(float)];
        apart += word[3] != 0 && (bottom < low || bottom > high) && !are_stripes(word);
    }
    return count >= FEWEST && apart >= count / 2;
}

/* Integers that fill at most two bytes of four. Mostly they differ, unlike in stripes. */
static bool are_integers(const uint8_t *data, size_t size) {
    enum { EACH = 4 };
    size_t count = 0, apart = 0;
    if (size % EACH != 0) return false;
    for (size_t i = 0; i < size; i += EACH) {
        if (data[i + 2] || data[i + 3]) return false;
        count += data[i] || data[i + 1];
        apart += data[i] != data[i + 1];
    }
    return count >= FEWEST && apart >= count / 2;
}

/* Numbers from 2^-10 to 2^8 whose lowest bytes are spread over all values: neighbours in a picture are alike. */
static bool are_halves(const uint8_t *data, size_t size) {
    enum { LEAST_TOP = 0x14, MOST_TOP = 0x5c, WIDEST = 0x30, LOW = 16, HIGH = 240 };
    size_t count = 0;
    uint8_t low = 255, high = 0, bottom_low = 255, bottom_high = 0;
    if (size % 2 != 0) return false;
    for (size_t i = 0; i < size; i += 2) {
        const uint8_t bottom = data[i], top = data[i + 1] & 0x7f;
        if (!bottom && !top) continue;
        if (top < LEAST_TOP || top > MOST_TOP) return false;
        if (top < low) low = top;
        if (top > high) high = top;
        if (bottom < bottom_low) bottom_low = bottom;
        if (bottom > bottom_high) bottom_high = bottom;
        count++;
    }
    return count >= FEWEST_HALVES && high - low <= WIDEST && bottom_low < LOW && bottom_high >= HIGH;
}

const char *mst_number_bytes(const void *data, size_t size) {
    if (are_floats(data, size, sizeof(float)) || are_floats(data, size, sizeof(double))) return "float32 or float64";
    if (are_integers(data, size)) return "int32 or int64";
    return are_halves(data, size) ? "float16" : NULL;
}
