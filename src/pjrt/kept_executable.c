#include "pjrt/kept_executable.h"

#include <stdlib.h>

#include "run/backend.h"

PJRT_LoadedExecutable *mst_pjrt_kept_find(const mst_pjrt_client *client, const mst_executable_key *key) {
    const PJRT_Api *api = client->api;
    void *data;
    size_t size;
    if (!api->PJRT_Executable_DeserializeAndLoad) return NULL;
    if (!mst_pjrt_host->services->executable_find(key, &data, &size)) return NULL;
    PJRT_Executable_DeserializeAndLoad_Args args = {.struct_size = PJRT_Executable_DeserializeAndLoad_Args_STRUCT_SIZE,
                                                    .client = client->client,
                                                    .serialized_executable = data,
                                                    .serialized_executable_size = size};
    PJRT_Error *error = api->PJRT_Executable_DeserializeAndLoad(&args);
    free(data);
    mst_pjrt_error_drop(api, error);
    return error ? NULL : args.loaded_executable;
}

static void keep_bytes(const PJRT_Api *api, const mst_executable_key *key, PJRT_Executable *executable) {
    PJRT_Executable_Serialize_Args args = {.struct_size = PJRT_Executable_Serialize_Args_STRUCT_SIZE,
                                           .executable = executable};
    PJRT_Error *error = api->PJRT_Executable_Serialize(&args);
    mst_pjrt_error_drop(api, error);
    if (error) return;
    mst_pjrt_host->services->executable_keep(key, args.serialized_bytes, args.serialized_bytes_size);
    args.serialized_executable_deleter(args.serialized_executable);
}

void mst_pjrt_kept_add(const mst_pjrt_client *client, const mst_executable_key *key,
                       PJRT_LoadedExecutable *executable) {
    const PJRT_Api *api = client->api;
    if (!api->PJRT_Executable_Serialize || !api->PJRT_Executable_DeserializeAndLoad) return;
    PJRT_LoadedExecutable_GetExecutable_Args args = {
        .struct_size = PJRT_LoadedExecutable_GetExecutable_Args_STRUCT_SIZE, .loaded_executable = executable};
    PJRT_Error *error = api->PJRT_LoadedExecutable_GetExecutable(&args);
    mst_pjrt_error_drop(api, error);
    if (error) return;
    keep_bytes(api, key, args.executable);
    PJRT_Executable_Destroy_Args destroy = {.struct_size = PJRT_Executable_Destroy_Args_STRUCT_SIZE,
                                            .executable = args.executable};
    mst_pjrt_error_drop(api, api->PJRT_Executable_Destroy(&destroy));
}
