create or replace macro coalesced_code(event_kind, event_code) as
    case event_kind when 'bus_loss' then 'xid 79' else concat(event_kind, ' ', event_code) end;
