create or replace macro clock_tolerance() as interval 1 minute;
