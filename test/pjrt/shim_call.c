#include "pjrt/shim_call.h"

#include <stdatomic.h>
#include <string.h>

#include "pjrt/shim_late.h"

static const PJRT_Api *real;

void shim_call_begin(const PJRT_Api *plugin) {
    real = plugin;
}

/* ---- what calls give and take ---- */

const char *const shim_object_names[SHIM_NUM_OBJECTS] = {"PJRT_Client", "PJRT_Executable", "PJRT_LoadedExecutable",
                                                         "PJRT_Buffer", "PJRT_Event"};

static _Atomic int64_t alive[SHIM_NUM_OBJECTS];

/* Names the arguments of a call. */
#define ARGS(name) const PJRT_##name##_Args *a = args

void shim_destroy_real(PJRT_Error *error) {
    SHIM_MAKE_ARGS(Error_Destroy, d);
    d.error = error;
    if (error) real->PJRT_Error_Destroy(&d);
}

static size_t num_outputs(PJRT_LoadedExecutable *loaded) {
    SHIM_MAKE_ARGS(LoadedExecutable_GetExecutable, get);
    SHIM_MAKE_ARGS(Executable_NumOutputs, count);
    SHIM_MAKE_ARGS(Executable_Destroy, destroy);
    get.loaded_executable = loaded;
    PJRT_Error *error = real->PJRT_LoadedExecutable_GetExecutable(&get);
    shim_destroy_real(error);
    if (error) return 0;
    count.executable = destroy.executable = get.executable;
    shim_destroy_real(real->PJRT_Executable_NumOutputs(&count));
    shim_destroy_real(real->PJRT_Executable_Destroy(&destroy));
    return count.num_outputs;
}

/* VISIT is called for each new object that a call has given. */
typedef void visitor(shim_object type, const void *object, const shim_fault *fault);

static void visit_execution(const void *args, visitor *visit, const shim_fault *fault) {
    ARGS(LoadedExecutable_Execute);
    const size_t outputs = num_outputs(a->executable);
    for (size_t d = 0; d < a->num_devices; d++) {
        for (size_t i = 0; i < outputs; i++) visit(SHIM_OBJECT_BUFFER, a->output_lists[d][i], fault);
        if (a->device_complete_events) visit(SHIM_OBJECT_EVENT, a->device_complete_events[d], fault);
    }
}

#define GIVES(name, type, member) \
    case SHIM_##name: visit(type, ((const PJRT_##name##_Args *)args)->member, fault); break

static void visit_results(int place, const void *args, visitor *visit, const shim_fault *fault) {
    switch (place) {
        GIVES(Client_Create, SHIM_OBJECT_CLIENT, client);
        GIVES(Client_Compile, SHIM_OBJECT_LOADED_EXECUTABLE, executable);
        GIVES(Executable_DeserializeAndLoad, SHIM_OBJECT_LOADED_EXECUTABLE, loaded_executable);
        GIVES(LoadedExecutable_GetExecutable, SHIM_OBJECT_EXECUTABLE, executable);
        GIVES(Compile, SHIM_OBJECT_EXECUTABLE, executable);
        GIVES(Client_CreateUninitializedBuffer, SHIM_OBJECT_BUFFER, buffer);
        GIVES(Client_CreateViewOfDeviceBuffer, SHIM_OBJECT_BUFFER, buffer);
        GIVES(Client_CreateAliasBuffer, SHIM_OBJECT_BUFFER, alias_buffer);
        GIVES(AsyncHostToDeviceTransferManager_RetrieveBuffer, SHIM_OBJECT_BUFFER, buffer_out);
        GIVES(Buffer_CopyToDevice, SHIM_OBJECT_BUFFER, dst_buffer);
        GIVES(Buffer_CopyToMemory, SHIM_OBJECT_BUFFER, dst_buffer);
        GIVES(Buffer_ReadyEvent, SHIM_OBJECT_EVENT, event);
        GIVES(Buffer_CopyRawToHost, SHIM_OBJECT_EVENT, event);
        GIVES(AsyncHostToDeviceTransferManager_TransferData, SHIM_OBJECT_EVENT, done_with_h2d_transfer);
        GIVES(CopyToDeviceStream_AddChunk, SHIM_OBJECT_EVENT, transfer_complete);
        case SHIM_Buffer_ToHostBuffer: {
            ARGS(Buffer_ToHostBuffer);
            if (a->dst) visit(SHIM_OBJECT_EVENT, a->event, fault); /* else only the size was asked for */
            break;
        }
        case SHIM_Client_BufferFromHostBuffer: {
            ARGS(Client_BufferFromHostBuffer);
            visit(SHIM_OBJECT_EVENT, a->done_with_host_buffer, fault);
            visit(SHIM_OBJECT_BUFFER, a->buffer, fault);
            break;
        }
        case SHIM_LoadedExecutable_Execute: visit_execution(args, visit, fault); break;
        default: break;
    }
}

static void count_object(shim_object type, const void *object, const shim_fault *fault) {
    (void)fault;
    if (object) atomic_fetch_add(&alive[type], 1);
}

static void put_outcome(shim_object type, const void *object, const shim_fault *fault) {
    if (object && (type == SHIM_OBJECT_EVENT || type == SHIM_OBJECT_BUFFER)) shim_outcome_put(object, fault);
}

void shim_call_gave(int place, const void *args, const shim_fault *fault) {
    visit_results(place, args, count_object, NULL);
    if (fault) visit_results(place, args, put_outcome, fault);
}

int64_t shim_objects_alive(shim_object type) {
    return atomic_load(&alive[type]);
}

bool shim_call_source_outcome(int place, const void *args, shim_fault *out) {
    const PJRT_Buffer *source = NULL;
    switch (place) {
        case SHIM_Buffer_CopyToDevice: source = ((const PJRT_Buffer_CopyToDevice_Args *)args)->buffer; break;
        case SHIM_Buffer_CopyToMemory: source = ((const PJRT_Buffer_CopyToMemory_Args *)args)->buffer; break;
        case SHIM_Buffer_ReadyEvent: source = ((const PJRT_Buffer_ReadyEvent_Args *)args)->buffer; break;
        case SHIM_Buffer_CopyRawToHost: source = ((const PJRT_Buffer_CopyRawToHost_Args *)args)->buffer; break;
        case SHIM_Buffer_ToHostBuffer: source = ((const PJRT_Buffer_ToHostBuffer_Args *)args)->src; break;
        case SHIM_LoadedExecutable_Execute: {
            ARGS(LoadedExecutable_Execute);
            bool found = false;
            for (size_t d = 0; d < a->num_devices; d++)
                for (size_t i = 0; i < a->num_args; i++)
                    if (!(found && out->code) && shim_outcome_get(a->argument_lists[d][i], out)) found = true;
            return found;
        }
        default: break;
    }
    return source && shim_outcome_get(source, out);
}

#define FREES(name, type, member)                                                                         \
    case SHIM_##name: {                                                                                   \
        const void *freed = ((const PJRT_##name##_Args *)args)->member;                                   \
        if (freed && (type == SHIM_OBJECT_EVENT || type == SHIM_OBJECT_BUFFER)) shim_outcome_drop(freed); \
        if (freed) atomic_fetch_sub(&alive[type], 1);                                                     \
        break;                                                                                            \
    }

void shim_call_destroys(int place, const void *args) {
    switch (place) {
        FREES(Client_Destroy, SHIM_OBJECT_CLIENT, client)
        FREES(Executable_Destroy, SHIM_OBJECT_EXECUTABLE, executable)
        FREES(LoadedExecutable_Destroy, SHIM_OBJECT_LOADED_EXECUTABLE, executable)
        FREES(Buffer_Destroy, SHIM_OBJECT_BUFFER, buffer)
        FREES(Event_Destroy, SHIM_OBJECT_EVENT, event)
        default: break;
    }
}

bool shim_call_frees(int place) {
    const char *name = shim_function_name(place), *last = strrchr(name, '_');
    return !strcmp(last, "_Destroy") || !strcmp(last, "_Delete");
}

/* ---- devices of calls ---- */

int shim_device_identity(PJRT_Device *device) {
    SHIM_MAKE_ARGS(Device_GetDescription, get);
    SHIM_MAKE_ARGS(DeviceDescription_Id, id);
    get.device = device;
    PJRT_Error *error = real->PJRT_Device_GetDescription(&get);
    id.device_description = get.device_description;
    if (!error) error = real->PJRT_DeviceDescription_Id(&id);
    shim_destroy_real(error);
    return error ? -1 : id.id;
}

static PJRT_Device *device_of_memory(PJRT_Memory *memory) {
    SHIM_MAKE_ARGS(Memory_AddressableByDevices, by);
    by.memory = memory;
    PJRT_Error *error = memory ? real->PJRT_Memory_AddressableByDevices(&by) : NULL;
    shim_destroy_real(error);
    return !error && by.num_devices > 0 ? by.devices[0] : NULL;
}

static PJRT_Device *device_of_buffer(PJRT_Buffer *buffer) {
    SHIM_MAKE_ARGS(Buffer_Device, of);
    of.buffer = buffer;
    shim_destroy_real(real->PJRT_Buffer_Device(&of));
    return of.device;
}

static PJRT_Device *device_of_execution(const PJRT_LoadedExecutable_Execute_Args *a) {
    if (a->struct_size >= PJRT_LoadedExecutable_Execute_Args_STRUCT_SIZE && a->execute_device) return a->execute_device;
    if (a->num_devices > 0 && a->num_args > 0) return device_of_buffer(a->argument_lists[0][0]);
    SHIM_MAKE_ARGS(LoadedExecutable_AddressableDevices, of);
    of.executable = a->executable;
    PJRT_Error *error = real->PJRT_LoadedExecutable_AddressableDevices(&of);
    shim_destroy_real(error);
    return !error && of.num_addressable_devices > 0 ? of.addressable_devices[0] : NULL;
}

#define ON_DEVICE(name, expression)         \
    case SHIM_##name: {                     \
        const PJRT_##name##_Args *a = args; \
        device = (expression);              \
        break;                              \
    }
#define ON_MEMORY(name) ON_DEVICE(name, a->memory ? device_of_memory(a->memory) : a->device)

static PJRT_Device *device_of_call(int place, const void *args, PJRT_Device **second) {
    PJRT_Device *device = NULL;
    switch (place) {
        ON_MEMORY(Client_BufferFromHostBuffer)
        ON_MEMORY(Client_CreateUninitializedBuffer)
        ON_MEMORY(Client_CreateViewOfDeviceBuffer)
        ON_DEVICE(Client_CreateBuffersForAsyncHostToDevice, device_of_memory(a->memory))
        ON_DEVICE(LoadedExecutable_Execute, device_of_execution(a))
        ON_DEVICE(Buffer_CopyToDevice, (*second = a->dst_device, device_of_buffer(a->buffer)))
        ON_DEVICE(Buffer_CopyToMemory, (*second = device_of_memory(a->dst_memory), device_of_buffer(a->buffer)))
        ON_DEVICE(Buffer_ToHostBuffer, device_of_buffer(a->src))
        ON_DEVICE(Buffer_CopyRawToHost, device_of_buffer(a->buffer))
        ON_DEVICE(Buffer_ReadyEvent, device_of_buffer(a->buffer))
        ON_DEVICE(Device_MemoryStats, a->device)
        default: break;
    }
    return device;
}

int shim_call_devices(int place, const void *args, int *id) {
    PJRT_Device *second = NULL, *device = device_of_call(place, args, &second);
    int count = 0;
    if (device) id[count++] = shim_device_identity(device);
    if (second) id[count++] = shim_device_identity(second);
    return count;
}

/* ---- what may be asked of a call ---- */

static const bool works_on_device[SHIM_NUM_FUNCTIONS] = {
    [SHIM_Client_BufferFromHostBuffer] = true,
    [SHIM_Client_CreateUninitializedBuffer] = true,
    [SHIM_Client_CreateViewOfDeviceBuffer] = true,
    [SHIM_Client_CreateBuffersForAsyncHostToDevice] = true,
    [SHIM_LoadedExecutable_Execute] = true,
    [SHIM_Buffer_CopyToDevice] = true,
    [SHIM_Buffer_CopyToMemory] = true,
    [SHIM_Buffer_ToHostBuffer] = true,
    [SHIM_Buffer_CopyRawToHost] = true,
    [SHIM_Buffer_ReadyEvent] = true,
    [SHIM_Device_MemoryStats] = true,
};

static const bool gives_events[SHIM_NUM_FUNCTIONS] = {
    [SHIM_Client_BufferFromHostBuffer] = true,
    [SHIM_Client_CreateUninitializedBuffer] = true,
    [SHIM_Client_CreateViewOfDeviceBuffer] = true,
    [SHIM_Client_CreateAliasBuffer] = true,
    [SHIM_AsyncHostToDeviceTransferManager_RetrieveBuffer] = true,
    [SHIM_AsyncHostToDeviceTransferManager_TransferData] = true,
    [SHIM_CopyToDeviceStream_AddChunk] = true,
    [SHIM_LoadedExecutable_Execute] = true,
    [SHIM_Buffer_CopyToDevice] = true,
    [SHIM_Buffer_CopyToMemory] = true,
    [SHIM_Buffer_ToHostBuffer] = true,
    [SHIM_Buffer_CopyRawToHost] = true,
    [SHIM_Buffer_ReadyEvent] = true,
};

shim_abilities shim_abilities_of(int place) {
    return (shim_abilities){
        .fails = place != SHIM_Error_Destroy && place != SHIM_Error_Message,
        .gives_events = gives_events[place],
        .is_of_device = works_on_device[place],
        .copies_out = place == SHIM_Buffer_ToHostBuffer,
    };
}
