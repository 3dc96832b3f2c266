"""STSS: social tasks in a sandbox town."""
