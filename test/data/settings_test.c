/* The stages of a dataset, by which workers compare their data: each stage is listed with all settings that decide
 * its rows. */
#include "data/settings.h"

#include <stdio.h>
#include <string.h>

#include "muster/data.h"
#include "muster/transforms.h"
#include "support/test.h"

enum { TEXT = 1024, ROWS = 12 };

static void visit(void *context, const mst_dataset *stage, const char *settings) {
    char *text = context;
    const size_t used = strlen(text);
    snprintf(text + used, TEXT - used, "%s%s(%s)", used ? " > " : "", stage->type->name, settings);
}

static void settings_of(const mst_dataset *dataset, char text[TEXT]) {
    text[0] = '\0';
    mst_dataset_visit_stages(dataset, visit, text);
}

static mst_dataset *pictures(void) {
    mst_tensor *component[2];
    mst_dataset *d;
    EXPECT_OK(mst_tensor_create(MST_F32, MST_SHAPE(ROWS, 4, 4, 1), &component[0]));
    EXPECT_OK(mst_tensor_create(MST_I64, MST_SHAPE(ROWS), &component[1]));
    EXPECT_OK(mst_dataset_from_tensors(component, 2, &d));
    for (int i = 0; i < 2; i++) mst_tensor_release(component[i]);
    return d;
}

/* Pipeline number WHICH. Pipelines of one stage come in pairs that differ in one setting; NULL after the last. */
static mst_dataset *stage_of(mst_dataset *from, int which, mst_dataset *pair[2]) {
    mst_dataset *out = NULL, **to = &out;
    switch (which) {
        case 0: EXPECT_OK(mst_dataset_scale(from, 0, MST_F32, 0.5, to)); break;
        case 1: EXPECT_OK(mst_dataset_scale(from, 0, MST_F32, 0.25, to)); break;
        case 2: EXPECT_OK(mst_dataset_random_flip(from, 0, MST_FLIP_LEFT_RIGHT, 1, to)); break;
        case 3: EXPECT_OK(mst_dataset_random_flip(from, 0, MST_FLIP_UP_DOWN, 1, to)); break;
        case 4: EXPECT_OK(mst_dataset_random_flip(from, 0, MST_FLIP_BOTH, 2, to)); break;
        case 5: EXPECT_OK(mst_dataset_random_flip(from, 0, MST_FLIP_BOTH, 3, to)); break;
        case 6: EXPECT_OK(mst_dataset_random_crop(from, 0, 4, 4, 1, 1, to)); break;
        case 7: EXPECT_OK(mst_dataset_random_crop(from, 0, 4, 4, 2, 1, to)); break;
        case 8: EXPECT_OK(mst_dataset_random_brightness(from, 0, 0.5, 1, to)); break;
        case 9: EXPECT_OK(mst_dataset_random_brightness(from, 0, 0.25, 1, to)); break;
        case 10: EXPECT_OK(mst_dataset_random_contrast(from, 0, 0.5, 1, 1, to)); break;
        case 11: EXPECT_OK(mst_dataset_random_contrast(from, 0, 0.5, 2, 1, to)); break;
        case 12: EXPECT_OK(mst_dataset_crop(from, 0, 0, 0, 2, 2, to)); break;
        case 13: EXPECT_OK(mst_dataset_crop(from, 0, 1, 0, 2, 2, to)); break;
        case 14: EXPECT_OK(mst_dataset_take(from, 3, to)); break;
        case 15: EXPECT_OK(mst_dataset_take(from, 4, to)); break;
        case 16: EXPECT_OK(mst_dataset_skip(from, 3, to)); break;
        case 17: EXPECT_OK(mst_dataset_skip(from, 4, to)); break;
        case 18: EXPECT_OK(mst_dataset_shard(from, 2, 0, to)); break;
        case 19: EXPECT_OK(mst_dataset_shard(from, 2, 1, to)); break;
        case 20: EXPECT_OK(mst_dataset_repeat(from, 2, to)); break;
        case 21: EXPECT_OK(mst_dataset_repeat(from, 3, to)); break;
        case 22: EXPECT_OK(mst_dataset_shuffle(from, &(mst_shuffle_options){.seed = 1}, to)); break;
        case 23: EXPECT_OK(mst_dataset_shuffle(from, &(mst_shuffle_options){.seed = 2}, to)); break;
        case 24: EXPECT_OK(mst_dataset_batch(from, 4, false, to)); break;
        case 25: EXPECT_OK(mst_dataset_batch(from, 4, true, to)); break;
        case 26: EXPECT_OK(mst_dataset_padded_batch(from, 4, false, NULL, to)); break;
        case 27:
            EXPECT_OK(mst_dataset_padded_batch(from, 4, false, (mst_padding[]){{.value = 1}, {.value = 0}}, to));
            break;
        case 28:
            EXPECT_OK(mst_dataset_interleave((mst_dataset *[]){from, from}, 2,
                                             &(mst_interleave_options){.block_length = 1}, to));
            break;
        case 29:
            EXPECT_OK(mst_dataset_interleave((mst_dataset *[]){from, from}, 2,
                                             &(mst_interleave_options){.block_length = 2}, to));
            break;
        case 30:
        case 31:
            EXPECT_OK(
                mst_dataset_split(from, &(mst_split_options){.fraction = 0.5, .seed = 1}, &pair[0], &pair[1], NULL));
            out = pair[which - 30];
            mst_dataset_release(pair[31 - which]);
            break;
        default: break;
    }
    return out;
}

static void another_setting_is_another_text(void **state) {
    (void)state;
    mst_dataset *from = pictures(), *d, *pair[2];
    char text[2][TEXT];
    int n = 0;
    for (; (d = stage_of(from, n, pair)); n++) {
        settings_of(d, text[n % 2]);
        mst_dataset_release(d);
        if (n % 2 && strcmp(text[0], text[1]) == 0) fail_msg("'%s' of two stages that differ", text[0]);
    }
    assert_int_equal(n, 32);
    mst_dataset_release(from);
}

static void stages_are_listed_from_the_source_on(void **state) {
    (void)state;
    mst_dataset *from = pictures(), *scaled, *kept, *ahead, *zipped;
    char text[TEXT];
    EXPECT_OK(mst_dataset_scale(from, 0, MST_F32, 0.5, &scaled));
    EXPECT_OK(mst_dataset_zip((mst_dataset *[]){scaled, from}, 2, &zipped));
    EXPECT_OK(mst_dataset_take(zipped, 5, &kept));
    settings_of(kept, text);
    assert_string_equal(text, "from_tensors() > scale(component 0 by 0.5) > from_tensors() > zip() > take(5)");
    mst_dataset_release(kept);
    EXPECT_OK(mst_dataset_batch(scaled, 4, false, &kept));
    EXPECT_OK(mst_dataset_prefetch(kept, 2, &ahead));
    settings_of(ahead, text);
    assert_string_equal(text, "from_tensors() > scale(component 0 by 0.5) > batch(size 4)");
    mst_dataset_release(ahead);
    mst_dataset_release(kept);
    mst_dataset_release(zipped);
    mst_dataset_release(scaled);
    mst_dataset_release(from);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(another_setting_is_another_text),
                                       cmocka_unit_test(stages_are_listed_from_the_source_on)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
