#include "pjrt/executable_bytes.h"

#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"

mst_status mst_pjrt_executable_load(const mst_pjrt_client *client, const void *data, size_t size,
                                    PJRT_LoadedExecutable **out) {
    const PJRT_Api *api = client->api;
    char message[MST_PJRT_MESSAGE];
    PJRT_Executable_DeserializeAndLoad_Args args = {.struct_size = PJRT_Executable_DeserializeAndLoad_Args_STRUCT_SIZE,
                                                    .client = client->client,
                                                    .serialized_executable = data,
                                                    .serialized_executable_size = size};
    *out = NULL;
    if (!api->PJRT_Executable_DeserializeAndLoad)
        return MST_FAIL(MST_CORRUPT, "this plugin cannot load compiled programs");
    PJRT_Error *error = api->PJRT_Executable_DeserializeAndLoad(&args);
    if (error) {
        (void)!mst_pjrt_error_take(api, error, message);
        return MST_FAIL(MST_CORRUPT, "cannot be loaded: the plugin says: %s", message);
    }
    *out = args.loaded_executable;
    return MST_OK;
}

static mst_status copy_bytes(const PJRT_Api *api, PJRT_Executable *executable, void **data, size_t *size) {
    PJRT_Executable_Serialize_Args args = {.struct_size = PJRT_Executable_Serialize_Args_STRUCT_SIZE,
                                           .executable = executable};
    PJRT_Error *error = api->PJRT_Executable_Serialize(&args);
    mst_pjrt_error_drop(api, error);
    if (error) return MST_OK; /* the executable can still be run */
    *size = args.serialized_bytes_size;
    *data = malloc(*size + 1);
    if (*data) memcpy(*data, args.serialized_bytes, *size);
    args.serialized_executable_deleter(args.serialized_executable);
    return *data ? MST_OK : MST_NO_MEMORY("for a compiled program, %zu bytes", *size);
}

mst_status mst_pjrt_executable_save(const mst_pjrt_client *client, PJRT_LoadedExecutable *executable, void **data,
                                    size_t *size) {
    const PJRT_Api *api = client->api;
    *data = NULL;
    *size = 0;
    if (!api->PJRT_Executable_Serialize || !api->PJRT_Executable_DeserializeAndLoad) return MST_OK;
    PJRT_LoadedExecutable_GetExecutable_Args args = {
        .struct_size = PJRT_LoadedExecutable_GetExecutable_Args_STRUCT_SIZE, .loaded_executable = executable};
    PJRT_Error *error = api->PJRT_LoadedExecutable_GetExecutable(&args);
    mst_pjrt_error_drop(api, error);
    if (error) return MST_OK;
    const mst_status status = copy_bytes(api, args.executable, data, size);
    PJRT_Executable_Destroy_Args destroy = {.struct_size = PJRT_Executable_Destroy_Args_STRUCT_SIZE,
                                            .executable = args.executable};
    mst_pjrt_error_drop(api, api->PJRT_Executable_Destroy(&destroy));
    return status;
}
