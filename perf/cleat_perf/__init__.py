"""What the measurements of perf/ share: charts, tables, recorded results, and the machine's facts."""
