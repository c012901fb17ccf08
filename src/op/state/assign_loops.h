/* Elements BEGIN to END - 1 of variable = CHANGE(variable, value); included once for each type. Integers wrap. */
static mst_status MST_NAME(change)(void *context, int64_t begin, int64_t end, int thread) {
    const mst_kernel_args *a = context;
    MODULAR *variable = a->src[0].data;
    const MODULAR *value = a->src[1].data;
    (void)thread;
    for (int64_t i = begin; i < end; i++) variable[i] = (MODULAR)CHANGE(variable[i], value[i]);
    return MST_OK;
}
