#include "cli/data_options.h"

#include <string.h>

#include "cli/standard_output.h"
#include "data/spec/spec_options.h"

/* Whether the user gave the option. A flag that was switched off is not given, nor is --text -, texts on standard
 * input. */
static bool user_gave(const option_list *list, const char *name) {
    bool on;
    if (!option_given(list, name)) return false;
    for (int i = 0; i < list->count; i++) {
        const option_entry *entry = &list->entry[i];
        if (strcmp(entry->option.name, name) != 0) continue;
        if (standard_output_is(entry->text)) return false;
        if (entry->from_file && !entry->config_line) return false; /* it was taken from a model's note */
        if (entry->option.type == OPTION_FLAG && option_flag_word(entry->text, &on) && !on) return false;
    }
    return true;
}

/* NAMED is what the message calls the data. */
static mst_status check(const option_list *list, const char *spec, bool has_texts, const char *named) {
    const char *option;
    char why[MST_SPEC_REASON];
    for (int i = 0; (option = mst_spec_option(i)); i++)
        if (user_gave(list, option) && mst_spec_lacks(spec, option, has_texts, "--", why))
            return MST_FAIL(MST_INVALID, "'%s' %s: leave it out", named, why);
    return MST_OK;
}

mst_status data_options_check(const option_list *list, const char *spec, bool has_texts) {
    return check(list, spec, has_texts, spec);
}

mst_status data_options_check_pictures(const option_list *list, const char *path) {
    return check(list, "images:", false, path);
}

mst_status data_options_check_pixels(const option_list *list, const char *spec, const mst_dtype *stored, int n) {
    const char *option = user_gave(list, "pixels") ? "pixels" : user_gave(list, "raw-pixels") ? "raw-pixels" : NULL;
    if (!option) return MST_OK;
    for (int i = 0; i < n; i++)
        if (stored[i] == MST_U8) return MST_OK;
    return MST_FAIL(MST_INVALID,
                    "'%s' has inputs of %s: --%s is for u8 pixels from 0 to 255, others stay as they are: leave it out",
                    spec, mst_dtype_name(stored[0]), option);
}
