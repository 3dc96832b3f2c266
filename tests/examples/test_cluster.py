"""The files for Kubernetes and Slurm, as far as they can be checked without either: their shape, their shell, our options."""

from __future__ import annotations

import re
import shlex
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from sociable.cli.main import app

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "cluster"


def check_shell(script: str) -> None:
    done = subprocess.run(["bash", "-n"], input=script, capture_output=True, text=True, timeout=10, check=False)
    assert done.returncode == 0, done.stderr


def list_options(script: str) -> set[str]:
    """The options given to sociable in a script."""
    return {
        option
        for command in re.findall(r"sociable (?:run|resume) [^;)]*", script)
        for option in re.findall(r"--[a-z-]+", command)
    }


def list_known_options() -> set[str]:
    group = get_command(app)
    run = group.commands["run"].get_command(None, "hsii")  # type: ignore[attr-defined]
    commands = (run, group.commands["resume"])  # type: ignore[attr-defined]
    return {option for command in commands for parameter in command.params for option in parameter.opts}


def test_the_job_of_kubernetes_has_what_kuberay_requires() -> None:
    yaml = pytest.importorskip("yaml")
    claim, job = yaml.safe_load_all((EXAMPLE / "rayjob.yaml").read_text())
    assert (job["apiVersion"], job["kind"]) == ("ray.io/v1", "RayJob")
    cluster = job["spec"]["rayClusterSpec"]
    groups: list[Any] = [cluster["headGroupSpec"], *cluster["workerGroupSpecs"]]
    for group in groups:
        (container,) = group["template"]["spec"]["containers"]
        assert container["name"] and container["image"] and isinstance(group["rayStartParams"], dict)
        # Ray's parameters are texts, also where they are numbers.
        assert all(isinstance(value, str) for value in group["rayStartParams"].values())
    for group in cluster["workerGroupSpecs"]:
        assert group["groupName"] and group["minReplicas"] <= group["replicas"] <= group["maxReplicas"]
    (volume,) = groups[0]["template"]["spec"]["volumes"]
    assert volume["persistentVolumeClaim"]["claimName"] == claim["metadata"]["name"]
    assert volume["name"] in {mount["name"] for mount in groups[0]["template"]["spec"]["containers"][0]["volumeMounts"]}
    shell, flag, script = shlex.split(job["spec"]["entrypoint"])
    assert (shell, flag) == ("sh", "-c")
    check_shell(script)
    assert {"--cluster", "--max-cost"} <= list_options(script) <= list_known_options()


def test_the_script_for_slurm_is_a_script() -> None:
    script = (EXAMPLE / "slurm.sh").read_text()
    check_shell(script)
    assert {"--cluster", "--out"} <= list_options(script) <= list_known_options()


def test_all_files_name_the_version_of_ray_that_is_tested() -> None:
    (version,) = re.findall(r"^ray==(.+)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE)
    assert f'rayVersion: "{version}"' in (EXAMPLE / "rayjob.yaml").read_text()
    assert f"rayproject/ray:{version}-" in (EXAMPLE / "Dockerfile").read_text()
    assert "ray" in tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
