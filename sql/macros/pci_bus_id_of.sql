create or replace macro pci_bus_id_of(bus_text) as
    nullif(lower(regexp_extract(bus_text, '([0-9A-Fa-f]{4}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2})(\.[0-9])?$', 1)), '');
