"""The API against its own description: made-up requests, right and wrong, to a real server."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from resting import ALL, Api, filled

ROOT = Path(__file__).parent.parent.parent
LEFT_OUT = ("remove_memory", "follow_events", "export")
"""Operations that end what the others need, end never, or answer at length."""
SETTINGS = """\
continue-on-failure = true
[parameters]
"path.memory" = "mira"
"path.fact" = "{fact}"
[checks]
# A value can be of the right kind and still make no sense: a cursor of another list, a time that has passed.
positive_data_acceptance.expected-statuses = ["2xx", "304", "401", "403", "404", "409", "412", "422", "428"]
negative_data_rejection.expected-statuses = ["401", "403", "404", "405", "409", "412", "413", "415", "422", "428"]
missing_required_header.expected-statuses = ["401", "403", "404", "422", "428"]
"""


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    made = Api(tmp_path_factory.mktemp("schema"))
    made.start()
    yield made
    made.stop()


@pytest.mark.parametrize(
    ("phases", "examples"),
    [
        ("examples", 1),
        pytest.param("examples,coverage", 1, marks=pytest.mark.long),
        pytest.param("fuzzing,stateful", 60, marks=pytest.mark.long),
    ],
)
def test_every_answer_is_one_of_the_description(
    phases: str, examples: int, api: Api, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    person = api.asker(voice="user")
    if "mira" not in api.serving.pool.names():
        filled(person, "mira")
    fact = person.listed("/memories/mira/facts?topic=user")[0]["id"]
    (tmp_path / "schemathesis.toml").write_text(SETTINGS.format(fact=fact), "utf-8")
    secret = api.token("*", scopes=ALL, voice="user")
    left_out = [each for name in LEFT_OUT for each in ("--exclude-operation-id", name)]
    done = subprocess.run(
        [
            *(sys.executable, "-m", "schemathesis.cli", "run", str(ROOT / "docs/openapi.json")),
            *("--url", f"{api.address}/v1", "--header", f"Authorization: Bearer {secret}"),
            *(
                "--phases",
                phases,
                "--max-examples",
                str(examples),
                "--checks",
                "all",
                "--no-color",
                *left_out,
            ),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    with capsys.disabled():
        print(f"\n{phases}: {''.join(re.findall('.* generated.*', done.stdout)).strip()}")
    assert done.returncode == 0, done.stdout[-20_000:]
    assert not [line for line in api.audit if line.get("status") == 500]
