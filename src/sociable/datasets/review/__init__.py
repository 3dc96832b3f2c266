"""People keep, fix or drop what was made."""
