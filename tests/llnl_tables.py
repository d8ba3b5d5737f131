"""How many rows and measured numbers the tables of LLNL have."""

ROWS_AND_NUMBERS = {
    "lbw": (8, 30),
    "lbw_sizes": (104, 195),
    "ata": (105, 210),
    "sts": (61, 240),
    "ata_per_node": (16, 32),
    "sts_per_node": (16, 32),
    "summary_lbw": (8, 30),
    "summary_ata": (8, 8),
    "summary_sts": (8, 14),
}
"""For each table: the number of the source's rows, and of its measured numbers."""

GIVEN = ("machine", "processes", "processes_per_node", "size_bytes")
"""Columns that the source did not measure."""
