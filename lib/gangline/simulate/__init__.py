"""A simulated cluster: a process model draws what happened, exporters write what real tools would have told of it."""
