"""A cluster of Ray on this machine, for all tests of a module: a head without processors, and nodes of one each."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from typing import Any

import pytest

psutil = pytest.importorskip("psutil")


class SmallCluster:
    """Nodes that can be added and, as if their power failed, be lost."""

    def __init__(self, cluster: Any, client_port: int) -> None:
        self.address: str = cluster.address
        self.client = f"ray://127.0.0.1:{client_port}"
        """The address for drivers that are no part of the cluster."""
        self._cluster = cluster
        self.nodes = [self.add_node(), self.add_node()]

    def add_node(self) -> Any:
        return self._cluster.add_node(num_cpus=1)

    def lose_node(self) -> None:
        node = self.nodes.pop()
        workers = psutil.Process(node.all_processes["raylet"][0].process.pid).children(recursive=True)
        self._cluster.remove_node(node, allow_graceful=False)
        # Without their raylet they would live for a second longer: for a short run to the end.
        for each in workers:
            each.kill()

    def refill(self) -> None:
        """Two nodes again, for the next test."""
        while len(self.nodes) < 2:
            self.nodes.append(self.add_node())


@pytest.fixture(scope="module")
def running_cluster() -> Iterator[SmallCluster]:
    utilities = pytest.importorskip("ray.cluster_utils")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("RAY_USAGE_STATS_ENABLED", "0")
        # Or the head's process for a driver from outside would now and then die in the moment in which it is begun.
        environment.setenv("GRPC_ENABLE_FORK_SUPPORT", "false")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        cluster = utilities.Cluster(
            initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False, "ray_client_server_port": port}
        )
        environment.setenv("RAY_ADDRESS", cluster.address)
        yield SmallCluster(cluster, port)
        cluster.shutdown()
        assert not _list_raylets(os.getpid())


def _list_raylets(parent: int) -> list[int]:
    """The raylets that this process began and that are still there."""
    return [each.pid for each in psutil.Process(parent).children(recursive=True) if each.name() == "raylet" and each.is_running()]


@pytest.fixture
def cluster(running_cluster: SmallCluster) -> SmallCluster:
    running_cluster.refill()
    return running_cluster
