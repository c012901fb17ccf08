/* Replaces the weights by their moving averages. */
#include <stdio.h>
#include <stdlib.h>

#include "base/argument.h"
#include "base/no_memory.h"
#include "muster/minimize.h"
#include "muster/op.h"
#include "strategy/weight_copies.h"
#include "train/trainer.h"

/* The name of the entry with the average of VARIABLE. With parameter servers it is not a variable of this graph. */
static mst_status name_average(mst_value variable, char **name) {
    const mst_value average = mst_moving_average(variable);
    const int length = mst_value_is_none(average) ? asprintf(name, "%s/" MST_COPY_AVERAGE, mst_value_name(variable))
                                                  : asprintf(name, "%s", mst_value_name(average));
    if (length < 0) *name = NULL;
    return *name ? MST_OK : MST_NO_MEMORY("for the name of a moving average");
}

static mst_status take_average(const mst_trainer *trainer, mst_value variable) {
    mst_tensor *average = NULL;
    char *name;
    MST_TRY(name_average(variable, &name));
    mst_status status = mst_store_get(trainer->model->store, NULL, name, &average);
    if (!status) status = mst_session_set_variable(trainer->session, variable, average);
    if (status == MST_NOT_FOUND)
        status =
            MST_FAIL(MST_NOT_FOUND, "moving averages: there is no '%s': train with .ema_decay of the optimizer", name);
    mst_tensor_release(average);
    free(name);
    return status;
}

mst_status mst_model_use_averages(mst_model *model) {
    mst_trainer *trainer;
    if (MST_IS_NULL(model)) return MST_INVALID;
    MST_TRY(mst_trainer_of(model, &trainer));
    const int count = mst_collection(trainer->graph, MST_TRAINABLE, NULL, NULL, 0);
    mst_value *variable = calloc((size_t)count + 1, sizeof *variable);
    if (!variable) return MST_NO_MEMORY("for the moving averages");
    mst_collection(trainer->graph, MST_TRAINABLE, NULL, variable, count);
    mst_status status = MST_OK;
    for (int i = 0; i < count && !status; i++) status = take_average(trainer, variable[i]);
    free(variable);
    return status;
}
