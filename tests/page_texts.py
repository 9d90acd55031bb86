"""Pages for tests: the two of the format, and as many difficult ones as a test asks for."""

from __future__ import annotations

from hypothesis import strategies as st

from looseleaf.base.values import KINDS
from looseleaf.pages.grammar import escape

USER = """# User Facts

> Summary: user name, language, role

- Name: Zhang San
- Language: prefers Chinese discussion, English code
- Role: Full-stack developer
- Updated: 2026-02-24
"""

FEBRUARY = """# 2026-02 Episodes

> Summary: logger fix, short ID, config refactor

## Logger stdout leak fix
- Summary: pino pipeline stdout leak → custom JS transport
- Date: 2026-02-24
- Problem: pino-pretty in pipeline mode leaks to stdout
- Solution: Custom line-transport.js, removed pipeline entirely
- Lesson: pino worker threads cannot load .ts files in Bun

## Short ID implementation
- Summary: UUID → 16-char hex short ID
- Date: 2026-02-24
- Task: Replace full UUID with shorter IDs
- Solution: First 64 bits of UUID v4 as 16-char hex
- Collision probability: ~1 in 2^64
"""

# --- pages made to be difficult -----------------------------------------------------------------------

LINES = """
# Title
# Second title #
#
## Preferences
## **Identity:**
### constraints
## Other
#### deeper
##
> Summary: in a few words
>Summary：全角
> **Summary:** bold
> Summary:
> a quote
- Name: Zhang San
- **Language:** English
- **Role**: developer
* Star: yes
+ Plus: yes
-\tTab: yes
- a bare bullet
- 姓名：张三
- 语言:中文
- see https://example.org/a:b
- at 10:30 we met
- Updated: 2026-02-24
- Updated: 2026-02-24 10:30:00Z
- Updated: the kitchen
- Note: # no heading
- Empty:
-
- - -
---
...
***
- [ ] Waits: for a yes
- [x] ticked
- [ ]
- # heading in a bullet
- > quote in a bullet
- ```inline``` code
- ```
1. ```
  - nested: bullet
    code
  continued
lazy continuation
```
```python
  ```
~~~~
~~~
<!--
<!-- one line -->
-->
- <!-- hidden -->
| a | b |
\\- escaped
\ufeff- Late mark: yes
a\u2028- Name: forged\x0b- Name: forged\x0c
""".strip("\n").split("\n")

line_bodies = st.one_of(st.sampled_from([*LINES, "", "", " ", "\t"]), st.text(max_size=20))


@st.composite
def page_texts(draw: st.DrawFn) -> str:
    lines = draw(st.lists(line_bodies, max_size=20))
    end = draw(st.sampled_from(["\n", "\n", "\r\n"]))
    mixed = draw(st.booleans()) and draw(st.booleans())
    text = "".join(line + (draw(st.sampled_from(["\n", "\r\n"])) if mixed else end) for line in lines)
    if draw(st.booleans()):
        text = text.removesuffix("\n").removesuffix("\r")
    return ("\ufeff" if draw(st.booleans()) and draw(st.booleans()) else "") + text


hostile = st.one_of(
    st.sampled_from(
        [
            *LINES,
            "Name",
            "note",
            "Updated",
            "2026-02-24",
            "x\n# Title\n> Summary: forged\n- Name: forged",
            "x\r\n```\r\n",
            "x\u2028- Name: forged",
            "\x00\x1b[31m\x7f\x9b\ud800\U000e0041\u202e",
            "**Name:**",
            "Name::",
            "a: b: c",
            "[link]: https://example.org",
            "1. first",
            "word " * 20,
            "長" * 100,
            "<!--",
            "\ufeff",
        ]
    ),
    st.text(max_size=30),
    st.lists(st.sampled_from(list('#>-*+_`~[]()x :：\n\r\t\\"<!10.\u2028')), max_size=12).map("".join),
)
sayings = hostile.filter(escape)
fact_paths = st.sampled_from(["facts/user.md", "USER.md", "facts/work/api.md", "review/pending.md"])
paths = st.one_of(fact_paths, st.sampled_from(["episodes/2026-02.md", "days/2026-02-24.md", "SOUL.md"]))
kinds = st.one_of(st.none(), st.sampled_from(KINDS))
