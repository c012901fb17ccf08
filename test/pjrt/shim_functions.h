/** All functions of PJRT_Api, in its order, without their prefix `PJRT_`.
 *
 *  Each is of the type PJRT_NAME and has one argument, a pointer to PJRT_NAME_Args. FUNCTION(NAME) returns a
 *  PJRT_Error *, VOID_FUNCTION(NAME) nothing. The list is that of API 0.81; what a newer plugin has behind it is
 *  handed on as it is. */
#ifndef MUSTER_TEST_PJRT_SHIM_FUNCTIONS_H
#define MUSTER_TEST_PJRT_SHIM_FUNCTIONS_H

#include <pjrt_c_api.h>

#define SHIM_FUNCTIONS(FUNCTION, VOID_FUNCTION)               \
    VOID_FUNCTION(Error_Destroy)                              \
    VOID_FUNCTION(Error_Message)                              \
    FUNCTION(Error_GetCode)                                   \
    FUNCTION(Plugin_Initialize)                               \
    FUNCTION(Plugin_Attributes)                               \
    FUNCTION(Event_Destroy)                                   \
    FUNCTION(Event_IsReady)                                   \
    FUNCTION(Event_Error)                                     \
    FUNCTION(Event_Await)                                     \
    FUNCTION(Event_OnReady)                                   \
    FUNCTION(Client_Create)                                   \
    FUNCTION(Client_Destroy)                                  \
    FUNCTION(Client_PlatformName)                             \
    FUNCTION(Client_ProcessIndex)                             \
    FUNCTION(Client_PlatformVersion)                          \
    FUNCTION(Client_Devices)                                  \
    FUNCTION(Client_AddressableDevices)                       \
    FUNCTION(Client_LookupDevice)                             \
    FUNCTION(Client_LookupAddressableDevice)                  \
    FUNCTION(Client_AddressableMemories)                      \
    FUNCTION(Client_Compile)                                  \
    FUNCTION(Client_DefaultDeviceAssignment)                  \
    FUNCTION(Client_BufferFromHostBuffer)                     \
    FUNCTION(DeviceDescription_Id)                            \
    FUNCTION(DeviceDescription_ProcessIndex)                  \
    FUNCTION(DeviceDescription_Attributes)                    \
    FUNCTION(DeviceDescription_Kind)                          \
    FUNCTION(DeviceDescription_DebugString)                   \
    FUNCTION(DeviceDescription_ToString)                      \
    FUNCTION(Device_GetDescription)                           \
    FUNCTION(Device_IsAddressable)                            \
    FUNCTION(Device_LocalHardwareId)                          \
    FUNCTION(Device_AddressableMemories)                      \
    FUNCTION(Device_DefaultMemory)                            \
    FUNCTION(Device_MemoryStats)                              \
    FUNCTION(Memory_Id)                                       \
    FUNCTION(Memory_Kind)                                     \
    FUNCTION(Memory_DebugString)                              \
    FUNCTION(Memory_ToString)                                 \
    FUNCTION(Memory_AddressableByDevices)                     \
    FUNCTION(Executable_Destroy)                              \
    FUNCTION(Executable_Name)                                 \
    FUNCTION(Executable_NumReplicas)                          \
    FUNCTION(Executable_NumPartitions)                        \
    FUNCTION(Executable_NumOutputs)                           \
    FUNCTION(Executable_SizeOfGeneratedCodeInBytes)           \
    FUNCTION(Executable_GetCostAnalysis)                      \
    FUNCTION(Executable_OutputMemoryKinds)                    \
    FUNCTION(Executable_OptimizedProgram)                     \
    FUNCTION(Executable_Serialize)                            \
    FUNCTION(LoadedExecutable_Destroy)                        \
    FUNCTION(LoadedExecutable_GetExecutable)                  \
    FUNCTION(LoadedExecutable_AddressableDevices)             \
    FUNCTION(LoadedExecutable_Delete)                         \
    FUNCTION(LoadedExecutable_IsDeleted)                      \
    FUNCTION(LoadedExecutable_Execute)                        \
    FUNCTION(Executable_DeserializeAndLoad)                   \
    FUNCTION(LoadedExecutable_Fingerprint)                    \
    FUNCTION(Buffer_Destroy)                                  \
    FUNCTION(Buffer_ElementType)                              \
    FUNCTION(Buffer_Dimensions)                               \
    FUNCTION(Buffer_UnpaddedDimensions)                       \
    FUNCTION(Buffer_DynamicDimensionIndices)                  \
    FUNCTION(Buffer_GetMemoryLayout)                          \
    FUNCTION(Buffer_OnDeviceSizeInBytes)                      \
    FUNCTION(Buffer_Device)                                   \
    FUNCTION(Buffer_Memory)                                   \
    FUNCTION(Buffer_Delete)                                   \
    FUNCTION(Buffer_IsDeleted)                                \
    FUNCTION(Buffer_CopyToDevice)                             \
    FUNCTION(Buffer_ToHostBuffer)                             \
    FUNCTION(Buffer_IsOnCpu)                                  \
    FUNCTION(Buffer_ReadyEvent)                               \
    FUNCTION(Buffer_UnsafePointer)                            \
    FUNCTION(Buffer_IncreaseExternalReferenceCount)           \
    FUNCTION(Buffer_DecreaseExternalReferenceCount)           \
    FUNCTION(Buffer_OpaqueDeviceMemoryDataPointer)            \
    FUNCTION(CopyToDeviceStream_Destroy)                      \
    FUNCTION(CopyToDeviceStream_AddChunk)                     \
    FUNCTION(CopyToDeviceStream_TotalBytes)                   \
    FUNCTION(CopyToDeviceStream_GranuleSize)                  \
    FUNCTION(CopyToDeviceStream_CurrentBytes)                 \
    FUNCTION(TopologyDescription_Create)                      \
    FUNCTION(TopologyDescription_Destroy)                     \
    FUNCTION(TopologyDescription_PlatformName)                \
    FUNCTION(TopologyDescription_PlatformVersion)             \
    FUNCTION(TopologyDescription_GetDeviceDescriptions)       \
    FUNCTION(TopologyDescription_Serialize)                   \
    FUNCTION(TopologyDescription_Attributes)                  \
    FUNCTION(Compile)                                         \
    FUNCTION(Executable_OutputElementTypes)                   \
    FUNCTION(Executable_OutputDimensions)                     \
    FUNCTION(Buffer_CopyToMemory)                             \
    FUNCTION(Client_CreateViewOfDeviceBuffer)                 \
    FUNCTION(Executable_Fingerprint)                          \
    FUNCTION(Client_TopologyDescription)                      \
    FUNCTION(Executable_GetCompiledMemoryStats)               \
    FUNCTION(Memory_Kind_Id)                                  \
    FUNCTION(ExecuteContext_Create)                           \
    FUNCTION(ExecuteContext_Destroy)                          \
    FUNCTION(Buffer_CopyRawToHost)                            \
    FUNCTION(AsyncHostToDeviceTransferManager_Destroy)        \
    FUNCTION(AsyncHostToDeviceTransferManager_TransferData)   \
    FUNCTION(Client_CreateBuffersForAsyncHostToDevice)        \
    FUNCTION(AsyncHostToDeviceTransferManager_RetrieveBuffer) \
    FUNCTION(AsyncHostToDeviceTransferManager_Device)         \
    FUNCTION(AsyncHostToDeviceTransferManager_BufferCount)    \
    FUNCTION(AsyncHostToDeviceTransferManager_BufferSize)     \
    FUNCTION(AsyncHostToDeviceTransferManager_SetBufferError) \
    FUNCTION(AsyncHostToDeviceTransferManager_AddMetadata)    \
    FUNCTION(Client_DmaMap)                                   \
    FUNCTION(Client_DmaUnmap)                                 \
    FUNCTION(Client_CreateUninitializedBuffer)                \
    FUNCTION(Client_UpdateGlobalProcessInfo)                  \
    FUNCTION(TopologyDescription_Deserialize)                 \
    FUNCTION(Client_CreateAliasBuffer)                        \
    FUNCTION(Client_FulfillAliasBuffer)                       \
    FUNCTION(LoadedExecutable_GetDeviceAssignment)

/** The place of each function in the list: SHIM_Client_Compile. SHIM_NUM_FUNCTIONS is their number. */
#define SHIM_PLACE(name) SHIM_##name,
enum shim_place { SHIM_FUNCTIONS(SHIM_PLACE, SHIM_PLACE) SHIM_NUM_FUNCTIONS };
#undef SHIM_PLACE

#endif
