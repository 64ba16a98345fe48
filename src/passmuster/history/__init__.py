"""History: every full run of a suite, kept in one SQLite file under the suite's root."""
