"""Checks what is released: `make release-check`.

Builds the wheel and the sdist twice and compares them, looks into them, installs the wheel in a clean environment of
every Python from 3.11 on that there is, runs the example there, resolves all extras, and writes an SBOM (CycloneDX).
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import uuid
import zipfile
from email.parser import Parser
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
FORBIDDEN = re.compile(r"(^|/)(tests?|bench|docs|examples|\.ci)(/|$)")


def main() -> None:
    """Exit with 1 and the reason where something is not fit to be released."""
    shutil.rmtree(DIST, ignore_errors=True)
    with tempfile.TemporaryDirectory() as scratch:
        first, second = (_built(Path(scratch) / name) for name in ("first", "second"))
        _require(first == second, f"two builds differ: {first} and {second}")
        shutil.copytree(Path(scratch) / "first", DIST)
    (wheel,) = DIST.glob("*.whl")
    (sdist,) = DIST.glob("*.tar.gz")
    _look_into_wheel(wheel)
    _look_into_sdist(sdist)
    found = [python for version in PYTHONS if (python := _python(version))]
    _require(bool(found), "no Python from 3.11 on is here")
    for version, python in found:
        packages = _install(python, wheel)
        _say(f"Python {version}: installed, and the example ran")
    sbom = DIST / f"{wheel.name.split('-')[0]}.cdx.json"
    sbom.write_text(json.dumps(_sbom(packages, wheel), indent=2) + "\n", encoding="utf-8")
    _say(f"SBOM: {sbom.relative_to(ROOT)}, {len(packages) - 1} dependencies")
    with tempfile.TemporaryDirectory() as scratch:
        _resolve_extras(found[0][1], wheel, Path(scratch))
    missing = ", ".join(sorted(set(PYTHONS) - {version for version, _ in found}))
    _say("ready to be released" + (f"; not tried with Python {missing}, for it is not here" if missing else ""))


def _built(folder: Path) -> dict[str, str]:
    """The digest of each file that a build makes, dated by the last commit."""
    date = _run(["git", "log", "-1", "--format=%ct"]).strip()
    _run([sys.executable, "-m", "build", "--outdir", str(folder)], SOURCE_DATE_EPOCH=date)
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


def _look_into_wheel(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = Parser().parsestr(
            archive.read(next(name for name in names if name.endswith(".dist-info/METADATA"))).decode()
        )
    strange = [name for name in names if not re.match(r"passmuster(/|-[^/]+\.dist-info/)", name)]
    _require(not strange, f"the wheel holds {strange[:5]}")
    _require(not [name for name in names if FORBIDDEN.search(name)], "the wheel holds tests, benchmarks or documents")
    _require("passmuster/py.typed" in names, "the wheel has no py.typed, so its types are not seen")
    _require(any(name.endswith(".dist-info/licenses/LICENSE") for name in names), "the wheel has no licence file")
    for field, pattern in {
        "Name": "passmuster",
        "Version": r"\d+\.\d+\.\d+.*",
        "Requires-Python": ">=3.11",
        "License-Expression": "Apache-2.0",
        "Summary": ".+",
        "Description-Content-Type": "text/markdown.*",
    }.items():
        _require(bool(re.fullmatch(pattern, metadata[field] or "")), f"{field} of the wheel is {metadata[field]!r}")
    _say(f"{wheel.name}: {len(names)} files, metadata and licence are right")


def _look_into_sdist(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    needed = {"LICENSE", "README.md", "pyproject.toml", "CHANGELOG.md", "src/passmuster/__init__.py"}
    _require(needed <= names, f"the sdist has no {sorted(needed - names)}")
    _require(not [name for name in names if "/.venv" in name or "__pycache__" in name], "the sdist holds built files")


def _python(version: str) -> tuple[str, str] | None:
    """A Python of this version, on the path or among those of pyenv."""
    candidates = [
        shutil.which(f"python{version}"),
        *map(str, Path.home().glob(f".pyenv/versions/{version}.*/bin/python")),
    ]
    for candidate in filter(None, candidates):
        told = subprocess.run([candidate, "-V"], capture_output=True, text=True, check=False).stdout
        if told.startswith(f"Python {version}."):
            return version, candidate
    return None


def _install(python: str, wheel: Path) -> list[dict[str, str]]:
    """The packages in a clean environment with the wheel, in which the example was run."""
    with tempfile.TemporaryDirectory() as scratch:
        inside = _environment(python, Path(scratch))
        _run([inside, "-m", "pip", "install", "--quiet", "--constraint", str(ROOT / "constraints.txt"), str(wheel)])
        example = ROOT / "examples/support-agent"
        traces = str(example / "traces/good.jsonl")
        _run([inside, "-m", "passmuster", "run", str(example), "--traces", traces, "--quiet", "--no-history"])
        listed = json.loads(_run([inside, "-m", "pip", "inspect", "--local"]))["installed"]
    return [
        {
            "name": one["metadata"]["name"],
            "version": one["metadata"]["version"],
            "license": one["metadata"].get("license_expression") or one["metadata"].get("license") or "",
        }
        for one in listed
        if one["metadata"]["name"] not in ("pip", "setuptools")
    ]


def _resolve_extras(python: str, wheel: Path, scratch: Path) -> None:
    inside = _environment(python, scratch)
    _run([inside, "-m", "pip", "install", "--quiet", "--dry-run", f"{wheel}[all]"])
    _say("passmuster[all] resolves")


def _environment(python: str, folder: Path) -> str:
    _run([python, "-m", "venv", str(folder)])
    return str(folder / "bin/python")


def _sbom(packages: list[dict[str, str]], wheel: Path) -> dict[str, object]:
    """The packages that come with the wheel, as CycloneDX 1.6."""
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    components = [_component(one) for one in packages if one["name"] != "passmuster"]
    own = next(one for one in packages if one["name"] == "passmuster")
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, digest)}",
        "version": 1,
        "metadata": {"component": {**_component(own), "type": "application"}},
        "components": sorted(components, key=lambda one: str(one["name"])),
    }


def _component(package: dict[str, str]) -> dict[str, object]:
    name, version = package["name"], package["version"]
    purl = f"pkg:pypi/{re.sub(r'[-_.]+', '-', name).lower()}@{version}"
    found: dict[str, object] = {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl}
    stated = package["license"].strip().partition("\n")[0][:100]
    if stated:
        found["licenses"] = [{"license": {"name": stated}}]
    return found


def _run(command: list[str], **variables: str) -> str:
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, env={**os.environ, **variables}, timeout=900
    )
    if done.returncode != 0:
        sys.exit(f"release-check: {' '.join(command)} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def _require(holds: bool, why: str) -> None:
    if not holds:
        sys.exit(f"release-check: {why}")


def _say(text: str) -> None:
    print(f"release-check: {text}", flush=True)


if __name__ == "__main__":
    main()
