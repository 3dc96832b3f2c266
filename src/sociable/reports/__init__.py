"""What is shown of runs: documents, result tables, audits, comparisons."""
