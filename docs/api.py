"""openapi.json, made of the routes of the API.

.venv/bin/python docs/api.py            writes docs/openapi.json
.venv/bin/python docs/api.py --print    prints it
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from looseleaf.serve.rest import document

PAGE = Path(__file__).parent / "openapi.json"


def page() -> str:
    return json.dumps(document(), indent=1, ensure_ascii=False) + "\n"


def main(arguments: list[str]) -> None:
    if arguments == ["--print"]:
        sys.stdout.write(page())
    else:
        PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
