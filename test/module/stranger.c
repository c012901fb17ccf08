/* A shared library that is not a module: it has no mst_module_query. */
extern __attribute__((visibility("default"))) int stranger_answer(void);

int stranger_answer(void) {
    return 42;
}
