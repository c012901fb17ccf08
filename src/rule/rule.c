#include "muster/optimizer.h"

#include <string.h>

#include "rule/accumulate.h"
#include "rule/fields.h"
#include "rule/gradient_clip.h"
#include "rule/rule.h"

const char *const mst_epsilon_kinds[] = {"hat", "corrected", NULL};
const char *const mst_sparse_kinds[] = {"keras", "tensorflow", NULL};

#define ROW(member, type, initial, low, high, names, help) \
    { #member, MST_FIELD_TYPE_##type, offsetof(mst_optimizer, member), initial, low, high, help, names, NULL }
const mst_field mst_optimizer_fields[] = {MST_OPTIMIZER_FIELDS(ROW), MST_FIELD_END};

const mst_rule *mst_rule_find(const char *name) {
    for (int i = 0; name && mst_rule_table[i]; i++)
        if (strcmp(mst_rule_table[i]->name, name) == 0) return mst_rule_table[i];
    return NULL;
}

mst_row_steps mst_rule_row_steps(const mst_optimizer *optimizer, bool has_penalty) {
    if (optimizer->sparse != MST_SPARSE_KERAS || has_penalty || mst_accumulates(optimizer))
        return (mst_row_steps){.squares = false};
    return (mst_row_steps){.squares = mst_rule_find(optimizer->rule)->squares || mst_clips_by_norm(optimizer),
                           .clip = optimizer->clip_value};
}

const char *mst_optimizer_name(int i) {
    for (int k = 0; mst_rule_table[k]; k++)
        if (k == i) return mst_rule_table[k]->name;
    return NULL;
}
