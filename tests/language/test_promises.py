"""Words that ask for memory and words that claim it, against sentences that were labelled by hand.

The forms were tuned on `TUNED` and `SEEN`. The sentences of `HELD_OUT` were written after that, and judged as they are:
no form was changed for what they showed. All were written by the hand that wrote the forms, so others will do worse.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from growth import LINEAR, growth
from looseleaf.language.promises import (
    asks_to_forget,
    bare,
    bears,
    claims_in,
    is_claim,
    is_request,
    requests_in,
    tells_of_waiting,
    things_of,
    wanted,
)
from tables import check_rows


class Labelled(NamedTuple):
    requests: Sequence[str]
    no_requests: Sequence[str]
    claims: Sequence[str]
    no_claims: Sequence[str]


TUNED = Labelled(
    requests=(
        "Remember that I'm allergic to peanuts.",
        "Please remember my birthday is on the 3rd of May.",
        "please note: the staging server moved to port 8443",
        "Don't forget that we deploy on Thursdays.",
        "Keep in mind that I prefer tabs over spaces.",
        "Could you please remember that I work from Lisbon?",
        "Make a note of my new address: 5 Elm Street.",
        "I want you to remember this: never push to main.",
        "Add to your memory that my dog is called Otto.",
        "For future reference, our fiscal year starts in April.",
        "Save this for later: the invoice number is 4711.",
        "Okay, and remember to always answer in Spanish.",
        "Forget that I like jazz.",
        "Please delete my old phone number from your memory.",
        "Merk dir bitte, dass ich Vegetarier bin.",
        "Vergiss nicht, dass wir freitags nicht deployen.",
        "Kannst du dir merken, dass ich in Köln wohne?",
        "Souviens-toi que je suis allergique aux noix.",
        "Note que mon bureau est à Lyon.",
        "N'oublie pas que la réunion est à 9 heures.",
        "Recuerda que mi hija se llama Lucía.",
        "Por favor, anota que prefiero el café sin azúcar.",
        "Ten en cuenta que no trabajo los lunes.",
        "记住我对花生过敏。",
        "请记住，我的生日是五月三日。",
        "别忘了我们周四部署。",
        "覚えておいて、私は卵アレルギーです。",
        "私の誕生日は5月3日です。覚えておいてください。",
    ),
    no_requests=(
        "Do you remember what I told you about my dog?",
        "Remember that I said never to save.",
        "Tell Bob to remember that the gate is closed.",
        "I want the app to remember that the user logged in.",
        "I remember when we used SVN for everything.",
        "Can you remember my name?",
        "Remember when we broke production?",
        "Just remember to breathe.",
        "Forget it, let's try something else.",
        "I can't remember the password.",
        "How do I make the form remember the last value?",
        "The login page should remember the user for 30 days.",
        "She asked me to remember the milk.",
        "Write a function called remember(topic, content).",
        "Save the file as report.csv.",
        "Note that the API returns 404 here.",
        'Translate this: "Please remember to water the plants."',
        "What did you save about me?",
        "I forgot my keys again.",
        "You never forget anything, do you?",
        "Let's store the sessions in Redis.",
        "I don't mind if you use tabs.",
        "Erinnerst du dich an unser Gespräch?",
        "Ich habe vergessen, die Tests laufen zu lassen.",
        "Tu te souviens de mon adresse ?",
        "Je me souviens de ce bug.",
        "¿Recuerdas cómo se llama mi hija?",
        "No recuerdo la contraseña.",
        "你还记得我的生日吗？",
        "我记得这个错误。",
        "私の名前を覚えていますか？",
    ),
    claims=(
        "I've saved that to your profile.",
        "Noted.",
        "Got it, I'll remember that you prefer tabs.",
        "I've noted that you're allergic to peanuts.",
        "I have updated your profile with the new address.",
        "I'll keep that in mind.",
        "Saved!",
        "Done — I've added it to memory.",
        "Your birthday is now saved.",
        "I won't forget that.",
        "I've made a note of your new office.",
        "I stored this in facts/deploy.md.",
        "Memory updated.",
        "I've removed your old phone number from my notes.",
        "Das habe ich mir gemerkt.",
        "Ist notiert!",
        "Ich werde mir merken, dass du Vegetarier bist.",
        "C'est noté !",
        "J'ai bien enregistré votre préférence.",
        "Je m'en souviendrai.",
        "Anotado.",
        "He guardado tu preferencia.",
        "Lo tendré en cuenta.",
        "好的，我记住了。",
        "我会记住你对花生过敏。",
        "覚えました。",
        "メモしておきますね。",
        "All right, I've put your address into my notes.",
        "Your preference has been recorded.",
        "It's been saved to your profile.",
        "I just saved your favourite colour.",
        "Okay, remembered.",
        "I've logged your deadline in memory.",
        "I will remember to use metric units.",
        "I'll store that for our next conversation.",
        "I have now memorised your schedule.",
        "I've written down your dietary needs.",
        "I've got that noted.",
        "I made a note of it.",
        "I'm saving this to memory now.",
        "Alles klar, ich merke mir das.",
        "Dein Geburtstag wurde gespeichert.",
        "J'ai mis à jour votre profil.",
        "He añadido eso a tu perfil.",
        "已更新你的个人资料。",
        "你的偏好已保存。",
        "記録しておきました。",
    ),
    no_claims=(
        "I can save that for you if you like.",
        "Should I save this to your profile?",
        "You saved 20 % on this order.",
        "I've saved the file to src/x.py.",
        "Saved the report to output.csv.",
        "As noted above, the loop is quadratic.",
        "I haven't saved anything yet.",
        "Would you like me to remember this?",
        "I couldn't save that to memory.",
        "I've added a test for the parser.",
        "This change saves about 3 minutes per run.",
        "I updated the README and the config.",
        "I remember that you mentioned a dog.",
        "Once you confirm, I'll save it.",
        "The function stores its results in a cache.",
        "I've written the function to utils.py.",
        "It is worth noting that the API is slow.",
        "I have recorded the benchmark results in a table.",
        "Nothing was written to memory.",
        "Soll ich mir das merken?",
        "Ich habe die Datei gespeichert.",
        "Je peux le noter si vous voulez.",
        "J'ai enregistré le fichier.",
        "¿Quieres que lo anote?",
        "He guardado el archivo en la carpeta.",
        "需要我记住这个吗？",
        "文件已保存到 src 目录。",
        "ファイルを保存しました。",
        "I've made the parser remember its state.",
        "I've saved you some time here.",
        "I recorded a short video of the bug.",
        "I'll save the changes to the branch.",
        "Remember to run the tests.",
        "I'll note that this is only an approximation.",
        "I wrote down the steps in README.md.",
        "I've stored the results in a dictionary.",
    ),
)

SEEN = Labelled(
    requests=(
        "From here on, please bear in mind that I'm colour-blind.",
        "Oh, and remember: the client's name is Acme GmbH.",
        "Would you make a note that my flight leaves on Tuesday?",
        "Write this down: the Wi-Fi password changes every month.",
        "Never forget that the production database is read-only.",
        "Store in your memory that I use a Dvorak keyboard.",
        "I need you to remember our release schedule.",
        "Forget what I told you about my salary.",
        "Notiere dir, dass meine Schwester Anna heißt.",
        "Retiens que je ne mange pas de porc.",
        "No olvides que la entrega es el viernes.",
        "帮我记一下：会议改到周五了。",
        "これからは敬語でお願いします。忘れないでください。",
        "以后请记得用英文写注释。",
    ),
    no_requests=(
        "Did you forget to close the file?",
        "What do you remember about the deploy process?",
        "My grandmother always told us to remember the poor.",
        "Store the results in a dictionary and return it.",
        "I'll make a note of that myself.",
        "Remember that movie with the talking dog?",
        "Is it possible to save my settings in the app?",
        "The docs say to keep the cache in mind when tuning.",
        "Ich merke, dass der Test langsam ist.",
        "J'ai oublié de committer.",
        "Mi abuela siempre recuerda que llovía.",
        "我忘了带钥匙。",
        "忘れ物をしました。",
        "Add a note to the README about Windows.",
    ),
    claims=(
        "Thanks for telling me; I've stored your timezone.",
        "Understood, noted for next time.",
        "I will make sure to remember your daughter's name.",
        "That's been added to your profile.",
        "I've jotted that down in my notes.",
        "Okay, I'll bear that in mind going forward.",
        "Sure! I've recorded your preference for dark mode.",
        "Ich habe dein Profil aktualisiert.",
        "Ich habe mir deinen Namen notiert.",
        "J'ai pris note de votre allergie.",
        "He actualizado tu perfil.",
        "已经帮你记下来了。",
        "記憶しておきます。",
        "No lo olvidaré.",
    ),
    no_claims=(
        "Do you want me to keep this in mind for later?",
        "I've stored the credentials in the .env file.",
        "I noted two failures in the log output.",
        "That would have saved us an hour.",
        "You can add it to your profile yourself.",
        "I was unable to update your profile.",
        "The cache is now stored on disk.",
        "Let me know if I should remember this.",
        "Dieser Ansatz spart Zeit.",
        "Ich konnte das nicht speichern.",
        "Je n'ai pas pu enregistrer cela.",
        "No he guardado nada.",
        "我可以帮你记住这个。",
        "まだ保存していません。",
    ),
)


HELD_OUT = Labelled(
    requests=(
        "My landlord is Mrs Okafor, please keep that in your notes.",
        "Before we go on: remember I only have until noon.",
        "Hey, can you make a note that the budget is 12k?",
        "Record that I passed my driving test.",
        "Put it in your memory: no meetings before ten.",
        "Try to remember that Joe is left-handed.",
        "You should know and remember that we never use Docker.",
        "Please forget my ex's name.",
        "Don't let me forget the dentist on Monday.",
        "Denk daran, dass meine Mutter im Juni Geburtstag hat.",
        "Bitte speichere, dass ich nachts arbeite.",
        "Garde en tête que le client est daltonien.",
        "Apunta mi nuevo número: 600 123 123.",
        "请把我的地址存到你的记忆里。",
        "我不吃香菜，帮我记住。",
        "会議は毎週火曜です。メモしておいて。",
    ),
    no_requests=(
        "Why does the app forget my login every day?",
        "I always forget how awk works.",
        "It helps to remember that floats are not exact.",
        "Remember the Alamo was a siege, right?",
        "The save button does nothing.",
        "Keep the tests green while you refactor.",
        "Could you store the token in an environment variable?",
        "He kept in mind what she had said.",
        "Which notes did you take yesterday?",
        "I'd forget my head if it weren't attached.",
        "Wer hat die Notizen gespeichert?",
        "Ich denke, dass es am Cache liegt.",
        "On garde la version 2 pour le moment.",
        "El servidor no recuerda las sesiones.",
        "这个函数记录日志。",
        "パスワードを忘れました。",
    ),
    claims=(
        "Perfect, your new email address is stored.",
        "I've just added that to your preferences.",
        "Okay! I'll remember it for our future chats.",
        "Consider it noted.",
        "I have it written down now.",
        "I've put a note about your allergy in USER.md.",
        "Your profile now says that you live in Lisbon.",
        "Alright, that's saved for next time.",
        "I'll hold on to that.",
        "Habe ich mir aufgeschrieben.",
        "Alles klar, das ist jetzt in deinem Profil gespeichert.",
        "Entendu, je retiens que vous êtes végétarien.",
        "Perfecto, lo recordaré.",
        "好的，已为您保存。",
        "我已经把它记下来了。",
        "承知しました。覚えておきます。",
    ),
    no_claims=(
        "Saving the model takes a while.",
        "I saved the plot as figure.png.",
        "Please note that the job is still running.",
        "I keep a list of open files here.",
        "I'd be happy to remember that for you.",
        "The previous developer noted this in a comment.",
        "I don't have a way to save this.",
        "Your changes have been saved to the branch.",
        "You might want to note the port.",
        "I've recorded the error in the log file.",
        "Ich kann mir das leider nicht merken.",
        "Die Einstellungen werden in einer Datei gespeichert.",
        "Le résultat est enregistré dans le fichier.",
        "El programa guarda los datos en disco.",
        "代码已更新。",
        "テストを追加しました。",
    ),
)


def judged(
    is_promise: Callable[[str], bool], yes: Sequence[str], no: Sequence[str]
) -> tuple[float, float, list[str]]:
    """Precision, recall, and what was judged wrongly."""
    found = [each for each in yes if is_promise(each)]
    taken = [each for each in no if is_promise(each)]
    wrong = [*(f"missed: {each}" for each in yes if each not in found), *(f"taken: {each}" for each in taken)]
    return len(found) / max(1, len(found) + len(taken)), len(found) / len(yes), wrong


@pytest.mark.parametrize("kind", ["requests", "claims"])
def test_promises_are_told_from_what_only_sounds_like_one(kind: str) -> None:
    is_promise = is_request if kind == "requests" else is_claim
    yes = (*getattr(TUNED, kind), *getattr(SEEN, kind))
    no = (*getattr(TUNED, f"no_{kind}"), *getattr(SEEN, f"no_{kind}"))
    precision, recall, wrong = judged(is_promise, yes, no)
    print(f"{kind}, tuned: precision {precision:.2f}, recall {recall:.2f}")
    assert wrong == []


@pytest.mark.parametrize("kind", ["requests", "claims"])
def test_so_are_sentences_that_nothing_was_tuned_on(kind: str) -> None:
    is_promise = is_request if kind == "requests" else is_claim
    precision, recall, _ = judged(is_promise, getattr(HELD_OUT, kind), getattr(HELD_OUT, f"no_{kind}"))
    print(f"{kind}, held out: precision {precision:.2f}, recall {recall:.2f}")
    assert precision >= 0.9
    assert recall >= 0.6


def test_no_sentence_is_passed_over_for_want_of_a_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    """The quick look at a sentence's pieces changes no judgement."""
    every = [text for each in (TUNED, SEEN, HELD_OUT) for group in each for text in group]
    judgements = [(is_request(text), is_claim(text)) for text in every]
    monkeypatch.setattr("looseleaf.language.promises.HINTS", [""])
    assert [(is_request(text), is_claim(text)) for text in every] == judgements


@pytest.mark.parametrize(
    "text",
    [
        "Look at this:\n```\n# Remember that I like tea.\n```\nWhat is wrong?",
        "> Remember that I like tea.\n\nWho said that?",
        "He wrote “Remember that I like tea.” on the wall.",
        "Please translate this text:\n\nRemember that I like tea. Don't forget the milk.",
    ],
)
def test_what_is_quoted_pasted_or_code_is_no_request(text: str) -> None:
    assert requests_in(text) == []


def test_the_sentences_of_a_message_are_told_apart() -> None:
    text = "The build is red again. Remember that I use zsh. Why is it red? Don't forget: no force pushes."
    assert requests_in(text) == ["Remember that I use zsh.", "Don't forget: no force pushes."]
    answer = "It was stale. I've noted that you use zsh.\n\n```\nsaved = True  # Noted.\n```\nI'll keep that in mind."
    assert claims_in(answer) == ["I've noted that you use zsh.", "I'll keep that in mind."]


def test_both_ends_of_a_long_message_are_read() -> None:
    filling = "All is well with the parser today.\n" * 4000
    assert requests_in(f"Remember my cat Tom.\n{filling}Remember my dog Rex.") == [
        "Remember my cat Tom.",
        "Remember my dog Rex.",
    ]


def test_what_is_to_go_is_told_from_what_is_to_stay() -> None:
    def check(request_: str, forgets: bool) -> None:
        assert is_request(request_)
        assert asks_to_forget(request_) == forgets

    check_rows(
        check,
        [
            ("Forget that I like jazz.", True),
            ("Please delete my address from your memory.", True),
            ("Don't forget that I like jazz.", False),
            ("Remember that I like jazz.", False),
            ("Vergiss, dass ich Jazz mag.", True),
            ("N'oublie pas que j'aime le jazz.", False),
            ("别忘了我喜欢爵士。", False),
            ("请忘掉我的地址。", True),
        ],
    )


def test_lines_bear_on_a_promise_by_its_own_words() -> None:
    def check(promise: str, line: str, expected: bool) -> None:
        assert bears(promise, line) == expected

    check_rows(
        check,
        [
            ("Remember that I'm allergic to peanuts.", "- Allergy: peanuts", True),
            ("Remember that I like coffee.", "- Likes: green tea", False),
            ("Noted.", "- Likes: green tea", True),
            ("I've saved that to your profile.", "- Likes: green tea", True),
            ("I've noted your allergy to nuts.", "- Likes: green tea", False),
            ("记住我对花生过敏。", "- 过敏: 花生", True),
            ("我会记住你对花生过敏。", "- 喜欢: 茶", False),
            ("覚えておいて、私は卵アレルギーです。", "- アレルギー: 卵", True),
            ("记住我对花生过敏。", "- Allergy: peanuts", True),
            ("Merk dir bitte, dass ich keine Zwiebeln mag.", "- Dislikes: onions", True),
        ],
    )


def test_where_words_cannot_be_compared_nothing_is_sure() -> None:
    assert not bears("Noted.", "- Likes: tea", sure=True)
    assert not bears("记住我对花生过敏。", "- Allergy: peanuts", sure=True)
    assert bears("Remember that I like green tea.", "- Likes: green tea", sure=True)


def test_what_is_to_be_remembered_is_cut_out_of_the_request() -> None:
    def check(request_: str, words: str) -> None:
        assert wanted(request_) == words

    check_rows(
        check,
        [
            (
                "Please fetch https://x.example/y and remember that my desk is in room 12.",
                "my desk is in room 12",
            ),
            ("Remember this, please: the door is blue, thanks!", "the door is blue"),
            ("Add my locker number 42 to your memory.", "my locker number 42"),
            ("The door is blue, so please don't forget that.", "The door is blue"),
            ("Kannst du dir bitte merken, dass ich in Köln wohne?", "ich in Köln wohne"),
            ("N'oublie pas qu'il pleut à Brest.", "qu'il pleut à Brest"),
            ("Por favor, anota que prefiero el té.", "prefiero el té"),
            ("请帮我记一下：合同编号是A-17。", "合同编号是A-17"),
            ("会議室は12番だと覚えておいてください。", "会議室は12番だ"),
            ("Remember: — the door is blue.", "the door is blue"),
            ("Remember: ...", ""),
            (f"Remember that the door is {'very ' * 200}blue.", ""),
            ("Remember that.", ""),
            ("The door is blue.", ""),
        ],
    )


def test_the_things_of_a_claim_are_told_apart_where_it_names_several() -> None:
    def check(claim: str, things: list[str]) -> None:
        assert things_of(claim) == things

    check_rows(
        check,
        [
            ("I've saved your desk and the deploy step.", ["desk", "the deploy step"]),
            ("Got it, I've noted your desk, your tea and the key.", ["desk", "your tea", "the key"]),
            ("Ich habe deinen Tisch und deinen Tee notiert.", ["deinen tisch", "deinen Tee notiert"]),
            ("I've saved your desk, so next time I'll know.", []),
            ("I've saved your desk and will fix the bug.", []),
            ("I've saved that you like tea and coffee.", []),
            ("Noted.", []),
        ],
    )


def test_a_bare_promise_has_no_words_of_its_own() -> None:
    assert [bare(text) for text in ("Noted.", "I'll keep that in mind.", "好的，我记住了。")] == ["", "", ""]
    assert bare("I've saved that you own a parrot.") == "own parrot"


def test_an_answer_that_tells_of_review_is_heard() -> None:
    assert tells_of_waiting("It waits in review/pending.md for your yes.")
    assert tells_of_waiting("Das wartet auf deine Bestätigung.")
    assert not tells_of_waiting("I've saved that.")


@given(st.text(max_size=300))
def test_any_text_is_read_and_what_is_found_stands_in_it(text: str) -> None:
    for found in (*requests_in(text), *claims_in(text)):
        assert set(found.split()) <= set(text.split())
    assert not bare(text) or bears(text, text)


def test_long_texts_take_time_in_proportion() -> None:
    def check(piece: str) -> None:
        def work(size: int) -> Callable[[], object]:
            text = piece * (size // len(piece))
            return lambda: (requests_in(text), claims_in(text))

        assert growth(work, 1000) < LINEAR

    check_rows(check, ["remember that ", "i've saved ", "note ", "ich habe ", "your a ", "don't ", "[,;"])
