"""The metrics of a whole suite, one file per family; a file declares its metrics in `METRICS`."""
