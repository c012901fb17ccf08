/* absent_gpu PLUGIN TARGET: compiles programs for a GPU that is not here. TARGET is a file with its description, a
 * GpuTargetConfigProto of XLA as text. For each line of standard input, the path of a file with a program, it prints a
 * line: "taken SECONDS", or "refused: MESSAGE". The options are those of the module's type `gpu`. Without a GPU no
 * kernel can be tried out, so products are left to cuBLAS: deterministic programs with Triton's are refused. */
#include <dlfcn.h>
#include <pjrt_c_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pjrt/compile_options.h"

#define MAKE(name, variable) PJRT_##name##_Args variable = {.struct_size = PJRT_##name##_Args_STRUCT_SIZE}

enum { PATH_ROOM = 4096 };

static const mst_pjrt_flag flags[] = {{"xla_gpu_exclude_nondeterministic_ops", true},
                                      {"xla_allow_excess_precision", false},
                                      {"xla_gpu_enable_triton_gemm", false},
                                      {NULL, false}};

static const PJRT_Api *api;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Prints ERROR in one line behind WHAT, and frees it. False: there is none. */
static bool is_bad(PJRT_Error *error, const char *what) {
    MAKE(Error_Message, message);
    MAKE(Error_Destroy, destroy);
    if (!error) return false;
    message.error = destroy.error = error;
    api->PJRT_Error_Message(&message);
    fputs(what, stdout);
    for (size_t i = 0; i < message.message_size; i++) putchar(message.message[i] == '\n' ? ' ' : message.message[i]);
    putchar('\n');
    api->PJRT_Error_Destroy(&destroy);
    return true;
}

/* The bytes of the file, which the caller frees, and a 0. NULL, with a message, if it cannot be read. */
static char *read_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    long length = -1;
    if (file && !fseek(file, 0, SEEK_END) && (length = ftell(file)) >= 0 && !fseek(file, 0, SEEK_SET))
        text = malloc((size_t)length + 1);
    if (text && fread(text, 1, (size_t)length, file) == (size_t)length) {
        text[length] = 0;
        *size = (size_t)length;
    } else {
        fprintf(stderr, "absent_gpu: '%s' cannot be read\n", path);
        free(text);
        text = NULL;
    }
    if (file) fclose(file);
    return text;
}

static bool load(const char *path) {
    MAKE(Plugin_Initialize, initialize);
    const PJRT_Api *(*get)(void) = NULL;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library) *(void **)&get = dlsym(library, "GetPjrtApi");
    if (!get) fprintf(stderr, "absent_gpu: %s\n", dlerror());
    return get && (api = get()) && !is_bad(api->PJRT_Plugin_Initialize(&initialize), "loading: ");
}

static PJRT_NamedValue text_value(const char *name, const char *value, size_t size) {
    return (PJRT_NamedValue){.struct_size = PJRT_NamedValue_STRUCT_SIZE,
                             .name = name,
                             .name_size = strlen(name),
                             .type = PJRT_NamedValue_kString,
                             .string_value = value,
                             .value_size = size};
}

static PJRT_TopologyDescription *describe(const char *path) {
    size_t size;
    char *target = read_file(path, &size);
    if (!target) return NULL;
    const PJRT_NamedValue value[] = {text_value("target_config", target, size), text_value("topology", "1x1x1", 5)};
    MAKE(TopologyDescription_Create, args);
    args.topology_name = "";
    args.create_options = value;
    args.num_options = 2;
    const bool bad = is_bad(api->PJRT_TopologyDescription_Create(&args), "describing the GPU: ");
    free(target);
    return bad ? NULL : args.topology;
}

static bool compile(const PJRT_TopologyDescription *topology, const char *path) {
    static const char format[] = "mlir";
    char options[MST_PJRT_OPTIONS];
    size_t size;
    char *text = read_file(path, &size);
    if (!text) return false;
    PJRT_Program program = {.struct_size = PJRT_Program_STRUCT_SIZE,
                            .code = text,
                            .code_size = size,
                            .format = format,
                            .format_size = sizeof format - 1};
    MAKE(Compile, args);
    args.topology = topology;
    args.program = &program;
    args.compile_options = options;
    args.compile_options_size = mst_pjrt_compile_options(flags, options);
    const double began = now();
    if (!is_bad(api->PJRT_Compile(&args), "refused: ")) {
        MAKE(Executable_Destroy, destroy);
        destroy.executable = args.executable;
        if (!is_bad(api->PJRT_Executable_Destroy(&destroy), "refused: ")) printf("taken %.1f\n", now() - began);
    }
    fflush(stdout);
    free(text);
    return true;
}

int main(int argc, char **argv) {
    char path[PATH_ROOM];
    if (argc != 3) {
        fprintf(stderr, "usage: absent_gpu PLUGIN TARGET\n");
        return 2;
    }
    if (!load(argv[1])) return 1;
    const PJRT_TopologyDescription *topology = describe(argv[2]);
    if (!topology) return 1;
    while (fgets(path, sizeof path, stdin)) {
        path[strcspn(path, "\n")] = 0;
        if (!compile(topology, path)) return 1;
    }
    return 0;
}
