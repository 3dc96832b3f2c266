"""The published benchmarks, all of one shape; formats of others stand in a folder ``interop`` of their own."""
