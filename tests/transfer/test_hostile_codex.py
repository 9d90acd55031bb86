"""Of a message with items of several kinds, only those of the user are the user's."""

from __future__ import annotations

import json

from looseleaf.transfer.formats.agent_dialects import read_dialect


def test_an_item_of_another_kind_beside_the_users_is_not_the_users() -> None:
    about = {"turn_id": "t1", "content_item_kinds": ["environments.environment_context", "user.text"]}
    item = {
        "type": "message",
        "role": "user",
        "content": [
            {"type": "input_text", "text": "I live in Perth."},
            {"type": "input_text", "text": "Hello."},
        ],
        "internal_chat_message_metadata_passthrough": about,
    }
    found = read_dialect(json.dumps({"type": "response_item", "payload": item}).encode())
    assert found is not None
    assert {"user": "Hello."} in found.asked
    assert not any("Perth" in str(each.get("user")) for each in found.asked)
