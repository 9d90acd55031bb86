"""Conflict copies: files that a program put beside a page are not read as topics, and people's own pages are.

The table was written before the rule.
"""

from __future__ import annotations

from looseleaf.pages.held import find_original

CARS = "# Cars\n\n> Summary: What we drive.\n\n- Color: red\n- Brand: Saab\n- Wheels: four\n"
CARS_CHANGED = CARS.replace("red", "blue")
CARS_LONGER = CARS + "- Seats: five\n- Garage: yes\n"
ONE_LINE = "# Cars\n\n- Color: red\n"
ONE_LINE_CHANGED = "# Cars\n\n- Color: blue\n"
BARE = "- Color: red\n- Brand: Saab\n- Wheels: four\n"
BARE_CHANGED = "- Color: red\n- Brand: Volvo\n- Wheels: four\n"
OTHER = "# Boats\n\n- Sail: white\n- Length: nine meters\n"
PYTHON = "# Python\n\n- Version: 2.7\n- Style: tabs\n- Tests: nose\n"
PYTHON_3 = "# Python 3\n\n- Version: 3.13\n- Style: black\n- Tests: pytest\n"
PHASE = "# Phase\n\n- Goal: survey the roof\n- Owner: Ann\n"
PHASE_2 = "# Phase 2\n\n- Goal: build the roof\n- Owner: Ann\n"
BARE_PYTHON_3 = "- Version: 3.13\n- Style: black\n- Tests: pytest\n"
PROSE = "# Garden\n\nThe garden lies behind the house.\nIt has two apple trees.\n"
PROSE_CHANGED = "# Garden\n\nThe garden lies behind the house.\nIt has three apple trees.\n"

COPIES: list[tuple[str, str, dict[str, str], str | None]] = [
    # Dropbox
    ("USER (conflicted copy 2026-01-02).md", CARS_CHANGED, {"USER.md": CARS}, "USER.md"),
    ("USER (Ann's conflicted copy 2026-01-02).md", CARS_CHANGED, {"USER.md": CARS}, "USER.md"),
    ("USER (Ann’s conflicted copy 2026-01-02 1).md", OTHER, {"USER.md": CARS}, "USER.md"),
    ("USER (conflicted copy 2026-01-02).md", CARS_CHANGED, {}, "USER.md"),
    ("cars (In Konflikt stehende Kopie von Ann 2026-01-02).md", OTHER, {"cars.md": CARS}, "cars.md"),
    ("cars (Copie en conflit de Ann 2026-01-02).md", OTHER, {"cars.md": CARS}, "cars.md"),
    ("cars (Copia en conflicto de Ann 2026-01-02).md", OTHER, {"cars.md": CARS}, "cars.md"),
    ("cars (Case Conflict).md", CARS_CHANGED, {"cars.md": CARS}, "cars.md"),
    # Nextcloud, ownCloud, Obsidian, Seafile, pCloud
    ("cars (conflicted copy 2026-01-02 101010).md", CARS_CHANGED, {"cars.md": CARS}, "cars.md"),
    ("cars_conflict-20260102-101010.md", CARS_CHANGED, {"cars.md": CARS}, "cars.md"),
    ("cars (Conflicted copy phone 202601021010).md", CARS_CHANGED, {"cars.md": CARS}, "cars.md"),
    ("cars (SFConflict ann@example.org 2026-01-02-10-10-10).md", CARS_CHANGED, {"cars.md": CARS}, "cars.md"),
    ("cars [conflicted].md", CARS_CHANGED, {"cars.md": CARS}, "cars.md"),
    # Syncthing
    ("USER.sync-conflict-20260102-101010-ABCDEFG.md", CARS_CHANGED, {"USER.md": CARS}, "USER.md"),
    ("USER.sync-conflict-20260102-101010-ABCDEFG.md", "", {"USER.md": CARS}, "USER.md"),
    ("2026-01-02.sync-conflict-20260102-101010-ABCDEFG.md", OTHER, {}, "2026-01-02.md"),
    # Git's mergetool
    ("cars_BACKUP_123.md", CARS_CHANGED, {"cars.md": CARS}, "cars.md"),
    ("cars_BASE_123.md", CARS, {"cars.md": CARS}, "cars.md"),
    ("cars_LOCAL_4711.md", CARS_CHANGED, {"cars.md": CARS}, "cars.md"),
    ("cars_REMOTE_4711.md", OTHER, {}, "cars.md"),
    # other languages, brackets and programs
    ("cars (Unicode Encoding Conflict).md", OTHER, {"cars.md": CARS}, "cars.md"),
    ("cars (Selective Sync Conflict).md", OTHER, {"cars.md": CARS}, "cars.md"),
    ("cars (Whitespace Conflict).md", OTHER, {"cars.md": CARS}, "cars.md"),
    ("cars (Case Conflict 1).md", OTHER, {"cars.md": CARS}, "cars.md"),
    ("cars_DESKTOP-AB1_Jan-02-101010-2026_Conflict.md", OTHER, {"cars.md": CARS}, "cars.md"),
    ("cars (Anna의 충돌된 사본 2026-01-02).md", OTHER, {"cars.md": CARS}, "cars.md"),
    ("cars (Annas modstridende kopi 2026-01-02).md", OTHER, {"cars.md": CARS}, "cars.md"),
    ("cars (Annas motstridende kopi 2026-01-02).md", OTHER, {"cars.md": CARS}, "cars.md"),
    ("cars (Ayşe'nin çakışan kopyası 2026-01-02).md", OTHER, {"cars.md": CARS}, "cars.md"),
    ("cars (Salinan berkonflik Ann 2026-01-02).md", OTHER, {"cars.md": CARS}, "cars.md"),
    ("cars (конфліктна копія Ann 2026-01-02).md", OTHER, {"cars.md": CARS}, "cars.md"),
    ("cars （Ann 的冲突副本 2026-01-02）.md", OTHER, {"cars.md": CARS}, "cars.md"),
    ("cars（冲突副本）.md", OTHER, {"cars.md": CARS}, "cars.md"),
    ("cars (Ann (work)'s conflicted copy 2026-01-02).md", OTHER, {"cars.md": CARS}, "cars.md"),
    ("cars - Kopie.md", CARS_CHANGED, {"cars.md": CARS}, "cars.md"),
    ("cars - Copie (2).md", CARS_CHANGED, {"cars.md": CARS}, "cars.md"),
    ("cars - 副本.md", CARS_CHANGED, {"cars.md": CARS}, "cars.md"),
    ("carsのコピー.md", CARS_CHANGED, {"cars.md": CARS}, "cars.md"),
    ("Kopie von cars.md", CARS_CHANGED, {"cars.md": CARS}, "cars.md"),
    # any name with the page's in it, if nearly all lines are the page's
    ("cars_old~7.md", CARS, {"cars.md": CARS}, "cars.md"),
    ("backup cars.md", CARS, {"cars.md": CARS}, "cars.md"),
    ("Q1 (draft).md", CARS, {"Q1.md": CARS}, "Q1.md"),
    ("cars-old.md", CARS_LONGER, {"cars.md": CARS}, None),
    ("cars-old.md", ONE_LINE, {"cars.md": CARS}, None),
    ("cars-old.md", CARS.replace("# Cars", "# Old cars"), {"cars.md": CARS}, None),
    ("carsharing.md", CARS, {"cars.md": CARS}, None),
    # iCloud, Google Drive, browsers, file managers: the content decides
    ("cars 2.md", CARS_CHANGED, {"cars.md": CARS}, "cars.md"),
    ("cars 2.md", CARS, {"cars.md": CARS}, "cars.md"),
    ("cars 3.md", ONE_LINE_CHANGED, {"cars.md": ONE_LINE}, "cars.md"),
    ("cars 2.md", BARE_CHANGED, {"cars.md": BARE}, "cars.md"),
    ("cars (1).md", CARS_LONGER, {"cars.md": CARS}, "cars.md"),
    ("cars (1).md", CARS, {"cars.md": CARS_LONGER}, "cars.md"),
    ("cars(1).md", CARS_CHANGED, {"cars.md": CARS}, "cars.md"),
    ("cars copy.md", CARS_CHANGED, {"cars.md": CARS}, "cars.md"),
    ("cars - Copy.md", CARS_CHANGED, {"cars.md": CARS}, "cars.md"),
    ("Copy of cars.md", CARS_CHANGED, {"cars.md": CARS}, "cars.md"),
    ("garden 2.md", PROSE_CHANGED, {"garden.md": PROSE}, "garden.md"),
    ("cars (conflict).md", CARS_CHANGED, {"cars.md": CARS}, "cars.md"),
    ("cars 2.md", CARS_CHANGED.replace("\n", "\r\n"), {"cars.md": CARS}, "cars.md"),
    # OneDrive: the name of the computer
    ("cars-LAPTOP-7F3K.md", CARS_CHANGED, {"cars.md": CARS}, "cars.md"),
    ("cars-DESKTOP-AB12CD3.md", ONE_LINE_CHANGED, {"cars.md": ONE_LINE}, "cars.md"),
    ("cars-Anns-MacBook-Pro.md", CARS_LONGER, {"cars.md": CARS}, "cars.md"),
    # people's own pages
    ("cars 2.md", CARS, {}, None),
    ("cars 2.md", OTHER, {"cars.md": CARS}, None),
    ("cars 2.md", "", {"cars.md": CARS}, None),
    ("cars 2.md", "- Tires: worn\n", {"cars.md": BARE}, None),
    ("python 3.md", PYTHON_3, {"python.md": PYTHON}, None),
    ("python 3.md", BARE_PYTHON_3, {"python.md": PYTHON}, None),
    ("python-3.md", PYTHON_3, {"python.md": PYTHON}, None),
    ("phase-2.md", PHASE_2, {"phase.md": PHASE}, None),
    ("phase-2.md", PHASE_2, {}, None),
    ("phase 2.md", PHASE_2, {"phase 1.md": PHASE, "phase.md": OTHER}, None),
    ("Q1 (draft).md", CARS_CHANGED, {"Q1.md": CARS}, None),
    ("Q1 (2026).md", PHASE_2, {"Q1.md": PHASE}, None),
    ("middle east (conflict).md", OTHER, {"middle east.md": CARS}, None),
    ("conflicts at work.md", OTHER, {"conflicts.md": CARS}, None),
    ("conflict-resolution.md", CARS_CHANGED, {"conflict.md": CARS}, None),
    ("sync-conflict.md", OTHER, {}, None),
    ("merge conflicts (2026-01-02).md", OTHER, {"merge conflicts.md": CARS}, None),
    ("user-archive.md", CARS_CHANGED, {"user.md": CARS}, None),
    ("cars-electric.md", CARS_CHANGED, {"cars.md": CARS}, None),
    ("cars-BMW.md", "# Cars of BMW\n\n- Color: red\n- Brand: BMW\n", {"cars.md": CARS}, None),
    ("notes-2026.md", "# Notes of 2026\n\n- Color: red\n", {"notes.md": CARS}, None),
    ("copy of mine.md", OTHER, {}, None),
    ("copywriting.md", CARS, {"cars.md": CARS}, None),
    ("PROJECT.local.md", CARS, {"PROJECT.md": CARS}, None),
    ("2026-01-02.md", CARS_CHANGED, {"2026-01.md": CARS, "2026.md": CARS}, None),
    ("2026-01.md", CARS, {"2026-02.md": CARS}, None),
    ("iphone 15.md", "# iPhone 15\n\n- Color: black\n", {"iphone.md": "# iPhone\n\n- Color: red\n"}, None),
    ("local_remote_work.md", CARS_CHANGED, {"local.md": CARS}, None),
    ("BASE_jumping_7.md", CARS_CHANGED, {"BASE.md": CARS}, None),
    ("area 51.md", OTHER, {"area.md": CARS}, None),
    (
        "windows (11).md",
        "# Windows 11\n\n- Color: blue\n",
        {"windows.md": "# Windows\n\n- Color: gray\n"},
        None,
    ),
]


def test_a_copy_is_told_from_a_persons_own_page_by_its_name_and_what_is_in_it() -> None:
    wrong = []
    for name, text, others, original in COPIES:
        texts = {each: [other] for each, other in others.items()}
        found = find_original(name, text, others.keys() | {name}, texts.__getitem__)
        if found != original:
            wrong.append((name, text, list(others), found))
    assert wrong == []
    assert len({name for name, *_ in COPIES}) >= 40
