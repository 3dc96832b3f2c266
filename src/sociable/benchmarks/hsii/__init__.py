"""HSII: an assistant among many users."""
