"""Reports on runs: documents, result tables, audits, comparisons."""
