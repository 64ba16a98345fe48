"""Report formats, one module each; the module's name is the format's name. See `FORMATS` in `reports`."""
