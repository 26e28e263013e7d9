/* SPDX-License-Identifier: MIT */
/* Finds the PCI address of an OpenCL device, by which its energy counter is found. */
#include <stdio.h>
#include <string.h>

#include "bench/energy.h"
#include "runtime/context.h"

/* Queries of extensions, as numbers, because the headers of OpenCL 1.2 lack some of them. */
enum {
    DEVICE_PCI_BUS_INFO_KHR = 0x410F, /* cl_khr_pci_bus_info */
    DEVICE_PCI_BUS_ID_NV = 0x4008,    /* cl_nv_device_attribute_query */
    DEVICE_PCI_SLOT_ID_NV = 0x4009,
    DEVICE_PCI_DOMAIN_ID_NV = 0x400A,
    DEVICE_TOPOLOGY_AMD = 0x4037, /* cl_amd_device_attribute_query */
    TOPOLOGY_TYPE_PCIE_AMD = 1
};

typedef struct pci_info {
    cl_uint domain, bus, device, function;
} pci_info;

static bool query_khr(cl_device_id id, pci_info *out)
{
    return clGetDeviceInfo(id, DEVICE_PCI_BUS_INFO_KHR, sizeof *out, out, NULL) == CL_SUCCESS;
}

static bool query_nv(cl_device_id id, pci_info *out)
{
    cl_uint slot = 0;
    out->domain = out->function = 0;
    if (clGetDeviceInfo(id, DEVICE_PCI_BUS_ID_NV, sizeof out->bus, &out->bus, NULL) != CL_SUCCESS ||
        clGetDeviceInfo(id, DEVICE_PCI_SLOT_ID_NV, sizeof slot, &slot, NULL) != CL_SUCCESS)
        return false;
    if (clGetDeviceInfo(id, DEVICE_PCI_DOMAIN_ID_NV, sizeof out->domain, &out->domain, NULL) != CL_SUCCESS)
        out->domain = 0;
    out->device = slot >> 3; /* NVIDIA reports device and function in one number, as PCI encodes them */
    out->function = slot & 7;
    return true;
}

static bool query_amd(cl_device_id id, pci_info *out)
{
    struct {
        cl_uint type;
        unsigned char unused[17], bus, device, function;
    } topology;
    if (clGetDeviceInfo(id, DEVICE_TOPOLOGY_AMD, sizeof topology, &topology, NULL) != CL_SUCCESS || topology.type != TOPOLOGY_TYPE_PCIE_AMD)
        return false;
    *out = (pci_info){0, topology.bus, topology.device, topology.function};
    return true;
}

void clfi_energy_target_of(const clf_context *context, clfi_energy_target *out)
{
    const cl_device_id id = context->device.id;
    pci_info pci;
    out->is_cpu = context->device.info.type == CLF_DEVICE_TYPE_CPU;
    out->pci_address[0] = '\0';
    if (!out->is_cpu && (query_khr(id, &pci) || query_nv(id, &pci) || query_amd(id, &pci)))
        snprintf(out->pci_address, sizeof out->pci_address, "%04x:%02x:%02x.%x", pci.domain & 0xffff, pci.bus & 0xff, pci.device & 0xff,
                 pci.function & 0xf);
}
