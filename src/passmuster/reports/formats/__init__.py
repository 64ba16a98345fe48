"""Report formats, one module each: `write(report) -> bytes`."""
