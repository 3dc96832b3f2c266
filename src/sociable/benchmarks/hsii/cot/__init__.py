"""HSII: cycles of thought and reflection."""
