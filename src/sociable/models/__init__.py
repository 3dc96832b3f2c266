"""Models: endpoints, functions, scripts; journal, limits, prices."""
