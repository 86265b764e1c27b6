"""Shared by the measurements of perf/: charts, tables, recorded results, facts of the machine."""
