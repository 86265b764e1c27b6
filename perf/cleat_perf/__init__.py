"""What the measurements of perf/ share: charts, tables, recorded results, facts of the machine."""
