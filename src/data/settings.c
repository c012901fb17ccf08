#include "data/settings.h"

void mst_dataset_visit_stages(const mst_dataset *dataset, mst_stage_visit visit, void *context) {
    char settings[MST_SETTINGS_TEXT] = "";
    int num_parts = 0;
    mst_dataset *const *part = dataset->type->parts ? dataset->type->parts(dataset, &num_parts) : NULL;
    if (dataset->upstream) mst_dataset_visit_stages(dataset->upstream, visit, context);
    for (int p = 0; p < num_parts; p++) mst_dataset_visit_stages(part[p], visit, context);
    if (dataset->type->keeps_rows) return;
    if (dataset->type->settings) dataset->type->settings(dataset, settings, sizeof settings);
    visit(context, dataset, settings);
}
