create or replace macro gpu_key_of(gpu_uuid, gpu_index, pci_bus_id) as
    coalesce(gpu_uuid, 'index ' || gpu_index::varchar, 'pci ' || pci_bus_id, '');
