"""What is shown: tables, grids, series and notes, with no colors and no widths."""
