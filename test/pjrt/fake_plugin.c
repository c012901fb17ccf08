/* A plugin of PJRT that cannot be used. The environment variable FAKE_PLUGIN says why:
 *
 *   older, newer  by its version
 *   nothing       it gives no table
 *   lacking       it has only the functions for errors
 *   refusing      it does not want to begin, and says so in two lines
 *   hlo           it knows an old StableHLO */
#include <pjrt_c_api.h>
#include <stdlib.h>
#include <string.h>

struct PJRT_Error {
    const char *message;
};

static void destroy_error(PJRT_Error_Destroy_Args *args) {
    (void)args;
}

static void give_message(PJRT_Error_Message_Args *args) {
    args->message = args->error->message;
    args->message_size = strlen(args->message);
}

static PJRT_Error *give_code(PJRT_Error_GetCode_Args *args) {
    args->code = PJRT_Error_Code_RESOURCE_EXHAUSTED;
    return NULL;
}

static PJRT_Error *begin(PJRT_Plugin_Initialize_Args *args) {
    static PJRT_Error error = {"no room:\n  all of it is taken\n"};
    (void)args;
    return &error;
}

static PJRT_Error *give_versions(PJRT_Plugin_Attributes_Args *args) {
    static const int64_t version[] = {0, 19, 3};
    static const PJRT_NamedValue attribute[] = {{.struct_size = PJRT_NamedValue_STRUCT_SIZE,
                                                 .name = "stablehlo_current_version",
                                                 .name_size = sizeof "stablehlo_current_version" - 1,
                                                 .type = PJRT_NamedValue_kInt64List,
                                                 .int64_array_value = version,
                                                 .value_size = 3}};
    args->attributes = attribute;
    args->num_attributes = 1;
    return NULL;
}

/* Has all functions: those that are never called are one function of another type. */
static void fill(PJRT_Api *api) {
    for (size_t at = offsetof(PJRT_Api, PJRT_Error_Destroy); at < sizeof *api; at += sizeof(void (*)(void)))
        memcpy((char *)api + at, &(PJRT_Error_Destroy *){destroy_error}, sizeof(PJRT_Error_Destroy *));
    api->PJRT_Error_Message = give_message;
    api->PJRT_Error_GetCode = give_code;
    api->PJRT_Plugin_Initialize = NULL;
    api->PJRT_Plugin_Attributes = give_versions;
}

extern __attribute__((visibility("default"))) const PJRT_Api *GetPjrtApi(void);

const PJRT_Api *GetPjrtApi(void) {
    static PJRT_Api api;
    const char *fault = getenv("FAKE_PLUGIN");
    if (!fault || strcmp(fault, "nothing") == 0) return NULL;
    memset(&api, 0, sizeof api);
    fill(&api);
    api.struct_size = PJRT_Api_STRUCT_SIZE;
    api.pjrt_api_version = (PJRT_Api_Version){.struct_size = PJRT_Api_Version_STRUCT_SIZE, .minor_version = 70};
    if (strcmp(fault, "older") == 0) api.pjrt_api_version.minor_version = 69;
    if (strcmp(fault, "newer") == 0) api.pjrt_api_version.major_version = 1;
    if (strcmp(fault, "lacking") == 0) api.struct_size = offsetof(PJRT_Api, PJRT_Event_Destroy);
    if (strcmp(fault, "refusing") == 0) api.PJRT_Plugin_Initialize = begin;
    return &api;
}
