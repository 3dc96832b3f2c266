"""Data sets are made here, and reviewed by people."""
