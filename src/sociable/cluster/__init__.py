"""Runs on a cluster: workers elsewhere do the work on episodes, and the machine where a run was begun keeps its folder."""
