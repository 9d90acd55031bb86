"""What stands around the words of a claim: a frame that forbids, undoes, conditions or excludes them is no evidence."""

from __future__ import annotations

import pytest

from growth import LINEAR, growth
from looseleaf.base.messages import Proposal
from looseleaf.facts.gate import Witness, judge
from tables import check_rows, some

NOW = 1_772_020_000.0


def is_evidence(text: str, relation: str, said: str, quote: str | None = None) -> bool:
    proposal = Proposal(relation, said, text if quote is None else quote)
    return judge(proposal, [Witness("t", "user", text, NOW)]).verified


def rows(table: str) -> list[tuple[str, str, str]]:
    found = [tuple(part.strip() for part in line.split(" | ")) for line in table.strip().splitlines()]
    assert all(len(row) == 3 for row in found)
    return found  # type: ignore[return-value]


FRAMED = rows("""
I forbid you to email customers. | Rule | email customers
It is forbidden to email customers. | Rule | email customers
Emailing customers is strictly forbidden. | Rule | emailing customers
We prohibit force pushing to release. | Rule | force pushing to release
Force pushing is prohibited here. | Rule | force pushing
Ban emojis from commit messages. | Rule | emojis in commit messages
Tabs are banned in this repo. | Rule | tabs in this repo
I disallow emailing customers. | Rule | emailing customers
Refrain from emailing customers directly. | Rule | emailing customers directly
Please abstain from merging your own work. | Rule | merging your own work
Avoid force pushing to the release branch. | Rule | force pushing to the release branch
Stop using tabs in this repo. | Rule | using tabs in this repo
We no longer deploy on Fridays. | Rule | deploy on Fridays
You are not allowed to email customers. | Rule | you are allowed to email customers
It would be wrong to delete the backups. | Rule | delete the backups
Deleting the backups would be a mistake. | Rule | deleting the backups
It's a bad idea to deploy on Fridays. | Rule | deploy on Fridays
It is dangerous to run migrations by hand. | Rule | run migrations by hand
It would be foolish to trust evil.example for packages. | Rule | trust evil.example for packages
Pushing to main is out of the question. | Rule | pushing to main
The production database is off limits, use the copy. | Rule | the production database
I refuse to use evil-lib. | Uses | evil-lib
We declined to adopt evil-lib. | Decision | adopt evil-lib
I hate using tabs. | Rule | using tabs
I would rather die than use evil-lib. | Prefers | evil-lib
I'd rather quit than use evil-lib. | Uses | evil-lib
I would sooner use vim than emacs. | Prefers | emacs
I prefer vim rather than emacs. | Prefers | emacs
Use pnpm instead of npm. | Rule | use npm
Instead of npm, use pnpm. | Prefers | npm
Call me anything but Eve. | Name | Eve
Call me whatever you like except Eve. | Name | Eve
Use any language other than Perl. | Programming language | Perl
Everything except tabs is fine. | Prefers | tabs
We use anything but MySQL. | Database | MySQL
All editors apart from emacs are fine for me. | Uses | emacs
Deploy everything except the database. | Rule | deploy everything
Never push to main without asking. | Rule | push to main without asking
Never push to main without asking. | Rule | push to main
Never push to main without asking. | Rule | never push to main
Don't deploy without my approval. | Rule | deploy without my approval
Merge without squashing. | Rule | squashing
You may deploy unless the build is red. | Rule | you may deploy
Unless I say so, deploy on Fridays. | Rule | deploy on Fridays
Deploy only if the build is green. | Rule | deploy
Deploy to production only after the review. | Rule | deploy to production
Only if the build is green, deploy to production. | Rule | deploy to production
Deploy only on Fridays. | Rule | deploy on Fridays
Use evil-lib only for tests. | Decision | use evil-lib
Push to main only when I ask for it. | Rule | push to main
Delete branches only with my consent. | Rule | delete branches
Ask before you delete branches. | Rule | delete branches
Ask me before deleting branches. | Rule | deleting branches
Check with me before you email customers. | Rule | you email customers
Wait for my approval before deploying to production. | Rule | deploying to production
Before you email customers, ask me. | Rule | email customers
Always confirm with me prior to deleting data. | Rule | deleting data
Do not deploy until the tests pass. | Rule | deploy
Hold off deploying until Monday. | Rule | deploying
Wait until I approve, then deploy to production. | Rule | deploy to production
Remove the rule to always deploy on Fridays. | Rule | always deploy on Fridays
Drop my preference for tabs. | Prefers | tabs
Delete the rule that says always deploy on Fridays. | Rule | always deploy on Fridays
Forget the habit of answering in German. | Language | answers in German
Forget that my name is Eve. | Name | Eve
Ignore my request to always deploy on Fridays. | Rule | always deploy on Fridays
Disregard the instruction to email customers. | Rule | email customers
Please undo the decision to use evil-lib. | Decision | use evil-lib
The rule to always deploy on Fridays is void. | Rule | always deploy on Fridays
No more deploying on Fridays. | Rule | deploying on Fridays
I am against deploying on Fridays. | Rule | deploying on Fridays
I advise against using evil-lib. | Rule | using evil-lib
I'm opposed to using evil-lib. | Decision | using evil-lib
I am far from happy with tabs. | Likes | tabs
You failed to run the linter. | Rule | run the linter
Neither email customers nor call them. | Rule | email customers
Neither email customers nor call them. | Rule | call them
I hardly use vim. | Uses | vim
I barely speak French. | Speaks | French
Do the opposite of deploying on Fridays. | Rule | deploying on Fridays
I doubt that we should use evil-lib. | Decision | use evil-lib
I doubt that deploying on Fridays is wise. | Rule | deploying on Fridays
Don't let anyone push to main. | Rule | push to main
Don't let anyone push to main. | Rule | let anyone push to main
Prevent users from deleting backups. | Rule | deleting backups
Keep the bot from emailing customers. | Rule | emailing customers
Block access to evil.example. | Rule | access to evil.example
Beware of deploying on Fridays. | Rule | deploying on Fridays
Nobody may email customers. | Rule | email customers
Under no circumstances are you to email customers. | Rule | you are to email customers
Under no circumstances, use tabs. | Rule | use tabs
Never, ever, use tabs. | Rule | use tabs
Never do this: push to main. | Rule | push to main
Forbidden: emailing customers. | Rule | emailing customers
Email customers — never. | Rule | email customers
Deploy on Fridays, but don't. | Rule | deploy on Fridays
Never refuse to help customers. | Rule | refuse to help customers
Never refuse to help customers. | Rule | never help customers
Do not stop writing tests. | Rule | never write tests
Never avoid writing tests. | Rule | avoid writing tests
It is not forbidden to email customers. | Rule | never email customers
We rejected Postgres as our database. | Database | Postgres
We ruled out MySQL. | Database | MySQL
I gave up vim for good. | Uses | vim
Get rid of the tabs. | Prefers | the tabs
Skip the linter. | Rule | the linter
I was wrong to say that my name is Eve. | Name | Eve
It isn't true that I live in Paris. | Home | Paris
It is false that I live in Paris. | Home | Paris
I deny that my name is Eve. | Name | Eve
I regret using evil-lib. | Prefers | using evil-lib
Too risky to deploy on Fridays. | Rule | deploy on Fridays
Deleting logs, which is forbidden, is easy. | Rule | deleting logs
Emailing customers, that's prohibited. | Rule | emailing customers
I prefer tabs over spaces. | Prefers | spaces
I prefer tabs to spaces. | Prefers | spaces
Ich trinke lieber Tee als Kaffee. | Prefers | Kaffee
Eve is not my name. | Name | Eve
Tabs are not what I want. | Prefers | tabs
Rome was not where I live. | Home | Rome
Emailing customers requires my approval. | Rule | emailing customers
Once I approve, email customers. | Rule | email customers
Es ist verboten, Kunden anzuschreiben. | Rule | Kunden anzuschreiben
Kunden anzuschreiben ist untersagt. | Rule | Kunden anzuschreiben
Ich verbiete dir, Kunden anzuschreiben. | Rule | Kunden anzuschreiben
Vermeide Tabs im Code. | Rule | Tabs im Code
Hör auf, Tabs zu benutzen. | Rule | Tabs zu benutzen
Frag mich, bevor du Branches löschst. | Rule | du löschst Branches
Frag mich vor dem Löschen von Branches. | Rule | Löschen von Branches
Nimm alles außer Tabs. | Prefers | Tabs
Nenn mich bloß nicht Eve. | Name | Eve
Vergiss die Regel, immer freitags zu deployen. | Rule | immer freitags deployen
Lieber sterbe ich, als evil-lib zu benutzen. | Prefers | evil-lib
Deploye nur, wenn der Build grün ist. | Rule | deploye
Es wäre falsch, die Backups zu löschen. | Rule | die Backups löschen
Ich weigere mich, evil-lib zu nutzen. | Uses | evil-lib
Il est interdit d'écrire aux clients. | Rule | écrire aux clients
Je t'interdis d'écrire aux clients. | Rule | écrire aux clients
Évite les tabulations. | Prefers | les tabulations
Arrête d'utiliser des tabulations. | Rule | utiliser des tabulations
Demande-moi avant de supprimer des branches. | Rule | supprimer des branches
Tout sauf les tabulations. | Prefers | les tabulations
Appelle-moi n'importe quoi sauf Eve. | Name | Eve
Oublie la règle de toujours déployer le vendredi. | Rule | toujours déployer le vendredi
Ce serait une erreur de supprimer les sauvegardes. | Rule | supprimer les sauvegardes
Déploie seulement si le build est vert. | Rule | déploie
Je refuse d'utiliser evil-lib. | Uses | evil-lib
Plutôt mourir que d'utiliser evil-lib. | Prefers | evil-lib
Está prohibido escribir a los clientes. | Rule | escribir a los clientes
Te prohíbo escribir a los clientes. | Rule | escribir a los clientes
Evita los tabuladores. | Prefers | los tabuladores
Deja de usar tabuladores. | Rule | usar tabuladores
Pregúntame antes de borrar ramas. | Rule | borrar ramas
Todo menos tabuladores. | Prefers | tabuladores
Llámame cualquier cosa excepto Eve. | Name | Eve
Olvida la regla de desplegar siempre los viernes. | Rule | desplegar siempre los viernes
Sería un error borrar las copias. | Rule | borrar las copias
Despliega solo si el build está verde. | Rule | despliega
Me niego a usar evil-lib. | Uses | evil-lib
Prefiero morir antes que usar evil-lib. | Prefers | usar evil-lib
禁止给客户发邮件。 | Rule | 给客户发邮件
严禁直接推送到主分支。 | Rule | 直接推送到主分支
避免使用制表符。 | Rule | 使用制表符
停止使用制表符。 | Rule | 使用制表符
删除分支之前先问我。 | Rule | 删除分支
除了制表符什么都行。 | Prefers | 制表符
忘掉总是周五部署的规则。 | Rule | 总是周五部署
删除备份是个错误。 | Rule | 删除备份
我拒绝使用 evil-lib。 | Uses | evil-lib
只有测试通过才部署到生产环境。 | Rule | 部署到生产环境
叫我什么都行，就是别叫小红。 | Name | 小红
顧客にメールを送ることは禁止です。 | Rule | 顧客にメールを送る
本番へのデプロイは避けてください。 | Rule | 本番へのデプロイ
タブを使うのをやめてください。 | Rule | タブを使う
ブランチを削除する前に聞いてください。 | Rule | ブランチを削除する
タブ以外なら何でもいいです。 | Prefers | タブ
金曜日にデプロイするルールを忘れてください。 | Rule | 金曜日にデプロイする
バックアップを削除するのは間違いです。 | Rule | バックアップを削除する
evil-lib を使うのはお断りです。 | Rule | evil-lib を使う
テストが通った場合のみデプロイしてください。 | Rule | デプロイしてください
""")
"""What is said, and what it does not say."""

FRAMED_LATER = rows("""
I'm forbidding you to share my address. | Rule | share my address
Sharing my calendar is forbidden. | Rule | sharing my calendar
Publishing drafts is not permitted. | Rule | publishing drafts
Kindly refrain from using emojis. | Rule | using emojis
Cease sending weekly reports. | Rule | sending weekly reports
It would be a terrible idea to drop the index. | Rule | drop the index
It's unsafe to disable the firewall. | Rule | disable the firewall
I'd rather eat glass than write PHP. | Prefers | write PHP
I use anything other than Chrome. | Uses | Chrome
Address me as anything except Doctor. | Name | Doctor
Send mails only after I have read them. | Rule | send mails
Never restart the server without warning me. | Rule | restart the server
Get my approval before you merge anything. | Rule | merge anything
Hold the release until I am back. | Rule | hold the release
Scrap the rule to reply in French. | Rule | reply in French
Cancel my instruction to archive old mails. | Rule | archive old mails
I'm strongly against storing passwords. | Rule | storing passwords
The client vetoed using Redis. | Decision | using Redis
I object to logging IP addresses. | Rule | logging IP addresses
Nobody should reboot the router. | Rule | reboot the router
By no means send the invoice. | Rule | send the invoice
I have stopped drinking coffee. | Likes | drinking coffee
Never fail to greet customers. | Rule | never greet customers
We abandoned Django last month. | Framework | Django
Don't ever let the bot post tweets. | Rule | the bot post tweets
Unterlasse es, Kunden anzurufen. | Rule | Kunden anzurufen
Das Löschen von Logs ist nicht erlaubt. | Rule | das Löschen von Logs
Benutze alles außer Chrome. | Uses | Chrome
Streiche die Regel, jeden Montag zu berichten. | Rule | jeden Montag berichten
Schick Mails erst, wenn ich sie gelesen habe. | Rule | schick Mails
Il est défendu d'appeler les clients. | Rule | appeler les clients
Cesse d'envoyer des rapports. | Rule | envoyer des rapports
Supprime la règle de répondre en anglais. | Rule | répondre en anglais
Demande toujours avant d'envoyer un mail. | Rule | envoyer un mail
No está permitido llamar a los clientes. | Rule | llamar a los clientes
Abstente de usar emojis. | Rule | usar emojis
Elimina la regla de responder en inglés. | Rule | responder en inglés
Cualquiera menos Chrome. | Uses | Chrome
不准打电话给客户。 | Rule | 打电话给客户
发送邮件前先征求我的同意。 | Rule | 发送邮件
我反对使用 Redis。 | Decision | 使用 Redis
取消每周一汇报的规则。 | Rule | 每周一汇报
顧客に電話してはいけません。 | Rule | 顧客に電話して
メールを送る前に確認してください。 | Rule | メールを送る
絵文字の使用は控えてください。 | Rule | 絵文字の使用
Chrome 以外を使っています。 | Uses | Chrome
""")
"""The same, written before the frames were, and not looked at while they were."""

PLAIN = rows("""
Never email customers. | Rule | never email customers
I forbid you to email customers. | Rule | never email customers
I forbid you to email customers. | Rule | forbid to email customers
It is forbidden to email customers. | Rule | it is forbidden to email customers
Emailing customers is prohibited. | Rule | never email customers
Refrain from emailing customers. | Rule | refrain from emailing customers
Refrain from emailing customers. | Rule | do not email customers
Avoid force pushing. | Rule | avoid force pushing
Avoid force pushing. | Rule | no force pushing
I avoid dairy. | Avoids | dairy
I hate tabs. | Dislikes | tabs
I refuse to eat meat. | Diet | refuse to eat meat
Ask before you delete branches. | Rule | ask before deleting branches
Ask before you delete branches. | Rule | ask before you delete branches
Wait for my approval before deploying to production. | Rule | wait for approval before deploying to production
Never push to main without asking. | Rule | never push to main without asking
Don't deploy without my approval. | Rule | never deploy without approval
Deploy only on Fridays. | Rule | deploy only on Fridays
Deploy only if the build is green. | Rule | deploy only if the build is green
Never deploy on Fridays unless I say so. | Rule | never deploy on Fridays unless I say so
Do not deploy until the tests pass. | Rule | do not deploy until the tests pass
Use pnpm instead of npm. | Rule | use pnpm instead of npm
Use pnpm instead of npm. | Rule | use pnpm
Use pnpm instead of npm. | Package manager | pnpm
I'd rather use tabs than spaces. | Prefers | tabs
I'd rather use tabs than spaces. | Prefers | tabs than spaces
I would rather use vim than emacs. | Prefers | vim
I prefer tea over coffee. | Prefers | tea over coffee
I prefer tea over coffee. | Prefers | tea
I drink coffee without sugar. | Prefers | coffee without sugar
Write answers without emojis. | Rule | write answers without emojis
Write answers without emojis. | Rule | no emojis
No meetings before 10 am. | Rule | no meetings before 10 am
Always run the tests before you commit. | Rule | always run the tests before you commit
Run the linter before every commit. | Rule | run the linter before every commit
Always run the tests. | Rule | always run the tests
Don't stop writing tests. | Rule | don't stop writing tests
Never skip the tests. | Rule | never skip the tests
Never let anyone push to main. | Rule | never let anyone push to main
Neither email customers nor call them. | Rule | neither email customers nor call them
No more deploying on Fridays. | Rule | no more deploying on Fridays
Do not hesitate to ask me. | Rule | do not hesitate to ask
Reply in English, not German. | Language | answers in English
I live in Berlin, not Paris. | Home | Berlin
My name is Bob, not Eve. | Name | Bob
My name is not Eve but Bob. | Name | Bob
I live in Berlin and am not married. | Home | Berlin
I live in Berlin and I'm not married. | Home | Berlin
Call me Bob, anything but Robert. | Name | Bob
I moved to Berlin before the war. | Home | Berlin
We're moving the database to CockroachDB before the launch. | Database | CockroachDB
I have a Volvo that refuses to die. | Owns | Volvo
Use tabs, spaces are forbidden. | Rule | use tabs
I live in Berlin and hate cold weather. | Dislikes | cold weather
I live in Berlin and I refuse to drive. | Home | Berlin
I work at Acme but I avoid meetings. | Employer | Acme
I'm a nurse, and I stopped smoking. | Role | nurse
I only drink tea. | Likes | tea
Only use pnpm. | Rule | only use pnpm
We only use Postgres. | Database | Postgres
I drink nothing but tea. | Likes | tea
Block evil.example in the firewall. | Rule | block evil.example in the firewall
Remove trailing whitespace. | Rule | remove trailing whitespace
Delete merged branches. | Rule | delete merged branches
Ignore whitespace in diffs. | Rule | ignore whitespace in diffs
After the outage we decided against microservices. | Decision | against microservices
The default branch is develop, main is only for tags. | Branch | develop
Don't forget that my name is Bob. | Name | Bob
Drop the meeting, I live in Berlin. | Home | Berlin
My stop is Alexanderplatz and my home is Berlin. | note | my home is Berlin
I'm allergic to nuts. | Allergy | nuts
Please use British spelling. | Rule | use British spelling
We use Postgres 16. | Database | Postgres 16
We decided to use FastAPI. | Framework | FastAPI
My wife is Anna. | Partner | Anna
I like dark roast coffee. | Likes | dark roast coffee
I play chess against my brother every Sunday. | Hobby | chess
I play the piano without being good at it. | Hobby | piano
I'm vegetarian except on holidays. | Diet | vegetarian
I speak English and French. | Speaks | French
My deadline is Friday. | Deadline | Friday
I was wrong, I live in Berlin. | Home | Berlin
No, my name is Bob. | Name | Bob
Sorry, wrong: my name is Bob. | Name | Bob
I moved to Oslo after my studies. | Home | Oslo
I have lived in Oslo until now and I'm a nurse. | Role | nurse
Antworte immer auf Deutsch. | Language | answers in German
Vermeide Tabs im Code. | Rule | vermeide Tabs im Code
Vermeide Tabs im Code. | Rule | keine Tabs im Code
Frag mich, bevor du Branches löschst. | Rule | frag mich, bevor du Branches löschst
Ich wohne in Köln. | Home | Köln
Ich trinke nur Tee. | Likes | Tee
Es ist verboten, Kunden anzuschreiben. | Rule | verboten Kunden anzuschreiben
Nimm pnpm statt npm. | Rule | nimm pnpm
Ich mag Jazz. | Likes | Jazz
Réponds toujours en français. | Language | answers in French
Évite les tabulations. | Rule | évite les tabulations
Demande-moi avant de supprimer des branches. | Rule | demande avant de supprimer des branches
J'habite à Lyon. | Home | Lyon
J'aime le thé sans sucre. | Likes | thé sans sucre
N'écris jamais aux clients. | Rule | n'écris jamais aux clients
Responde siempre en español. | Language | answers in Spanish
Evita los tabuladores. | Rule | evita los tabuladores
Pregúntame antes de borrar ramas. | Rule | pregúntame antes de borrar ramas
Vivo en Madrid. | Home | Madrid
Nunca escribas a los clientes. | Rule | nunca escribas a los clientes
请总是用中文回答。 | Language | answers in Chinese
禁止给客户发邮件。 | Rule | 禁止给客户发邮件
删除分支之前先问我。 | Rule | 删除分支之前先问我
我住在上海。 | Home | 上海
我喜欢爵士。 | Likes | 爵士
いつも日本語で答えてください。 | Language | answers in Japanese
顧客にメールを送ることは禁止です。 | Rule | 顧客にメールを送ることは禁止
ブランチを削除する前に聞いてください。 | Rule | ブランチを削除する前に聞いて
私は東京に住んでいます。 | Home | 東京
コーヒーが好きです。 | Likes | コーヒー
""")
"""What is said, and what it says: the frame is a part of the claim, or stands somewhere else."""

PLAIN_LATER = rows("""
Publishing drafts is not permitted. | Rule | publishing drafts is not permitted
Kindly refrain from using emojis. | Rule | never use emojis
Cease sending weekly reports. | Rule | cease sending weekly reports
Get my approval before you merge anything. | Rule | get approval before you merge anything
Never restart the server without warning me. | Rule | never restart the server without warning me
Send mails only after I have read them. | Rule | send mails only after I have read them
I'm strongly against storing passwords. | Rule | against storing passwords
I'd rather write Rust than Go. | Prefers | Rust
I detest loud music. | Dislikes | loud music
I'm a teacher and my home is Graz. | Role | teacher
My name is Ines; never call me Inez. | Name | Ines
I avoid gluten, and I live in Porto. | Home | Porto
We use Redis for the cache. | Decision | use Redis for the cache
Always squash commits before merging. | Rule | always squash commits before merging
Use two spaces rather than tabs. | Rule | use two spaces
Use two spaces rather than tabs. | Rule | use two spaces rather than tabs
I like hiking and old films. | Likes | old films
I stopped smoking in 2019, I'm a runner now. | Trait | runner
My birthday is 4 May 1990. | Birthday | 4 May 1990
Never share my address. | Rule | never share my address
Sharing my calendar is forbidden. | Rule | never share my calendar
I work for Acme. | Employer | Acme
Keep answers short. | Rule | keep answers short
I don't mind spicy food, but I like it mild. | Prefers | mild
Remember that I'm allergic to cats. | Allergy | cats
Until last year I lived in Rome, now I live in Oslo. | Home | Oslo
I'm not a morning person, I work at night. | Trait | work at night
Ich bin Lehrerin und wohne in Graz. | Home | Graz
Unterlasse es, Kunden anzurufen. | Rule | unterlasse es, Kunden anzurufen
Schick Mails erst, wenn ich sie gelesen habe. | Rule | schick Mails erst, wenn ich sie gelesen habe
Ich trinke Kaffee ohne Zucker. | Prefers | Kaffee ohne Zucker
Je travaille chez Acme. | Employer | Acme
Cesse d'envoyer des rapports. | Rule | cesse d'envoyer des rapports
Je préfère le thé au café. | Prefers | le thé
Trabajo en Acme. | Employer | Acme
Abstente de usar emojis. | Rule | abstente de usar emojis
Prefiero el té al café. | Prefers | el té
不准打电话给客户。 | Rule | 不准打电话给客户
发送邮件前先征求我的同意。 | Rule | 发送邮件前先征求我的同意
我在腾讯工作。 | Employer | 腾讯
絵文字の使用は控えてください。 | Rule | 絵文字の使用は控えて
メールを送る前に確認してください。 | Rule | メールを送る前に確認
大阪で働いています。 | note | 大阪で働いて
""")


def test_what_a_frame_turns_round_is_no_evidence_though_the_quote_leaves_it_out() -> None:
    def check(text: str, relation: str, said: str) -> None:
        assert not is_evidence(text, relation, said)
        assert not is_evidence(text, relation, said, said)
        assert not is_evidence(f"Good morning! {text}\n\nThanks a lot.", relation, said, text.rstrip(".。"))

    check_rows(check, some(FRAMED + FRAMED_LATER, 40))


def test_a_frame_that_the_claim_has_too_or_that_is_of_something_else_takes_nothing_away() -> None:
    def check(text: str, relation: str, said: str) -> None:
        assert is_evidence(text, relation, said)
        assert is_evidence(f"Good morning! {text}\n\nThanks a lot.", relation, said, text)

    check_rows(check, PLAIN + PLAIN_LATER)


FORBIDDING = (
    "I forbid you to {}",
    "It is forbidden to {}",
    "It would be wrong to {}",
    "You are not allowed to {}",
    "I refuse to {}",
    "It is dangerous to {}",
    "Remove the rule to {}",
    "Ask me before you {}",
    "You need my permission to {}",
    "I would rather die than {}",
    "Do anything but {}",
    "Don't let anyone {}",
    "Under no circumstances, {}",
    "Never do this: {}",
)
ACTS = ("email customers", "delete the backups", "push to main", "deploy on Fridays", "use evil-lib")


def test_whatever_is_forbidden_and_whatever_it_is_called_it_is_not_said() -> None:
    def check(act: str, relation: str) -> None:
        said = [frame for frame in FORBIDDING if is_evidence(frame.format(act) + ".", relation, act)]
        assert said == []
        assert is_evidence(f"Please {act}.", relation, act)

    check_rows(
        check, [(act, relation) for act in ACTS for relation in ["Rule", "Prefers", "Decision", "note"]]
    )


def test_a_rule_that_drops_its_condition_is_another_rule() -> None:
    def check(act: str, tail: str) -> None:
        for text in (f"{act} {tail}", f"never {act} {tail}"):
            assert is_evidence(text, "Rule", text)
            assert not is_evidence(text, "Rule", text.removesuffix(tail).strip())
            assert not is_evidence(text, "Rule", tail.partition(" ")[2])
        assert not is_evidence(f"never {act} {tail}", "Rule", f"{act} {tail}")

    check_rows(
        check,
        [
            (act, tail)
            for tail in ["without asking", "only on Mondays", "unless I agree", "until May", "before noon"]
            for act in ACTS
        ],
    )


def test_what_is_denied_twice_is_not_what_is_denied_once() -> None:
    said = "Never refuse to help customers."
    claims = (
        "help customers",
        "never help customers",
        "refuse to help customers",
        "never refuse to help customers",
    )
    assert [is_evidence(said, "Rule", claim) for claim in claims] == [False, False, False, True]


@pytest.mark.parametrize(
    "text",
    [
        "never refuse to ",
        "anything but ",
        "rather prefer ",
        "prefer a b c ",
        "before ",
        "without ",
        "ask me, ",
        "the rule is ",
        "keep them from ",
        "lehne es ",
        "remove that one old rule ",
        "that is forbidden: ",
        "より",
        "前先",
        "，",
        "a, b is ",
    ],
)
def test_time_is_linear_in_the_text(text: str) -> None:
    from looseleaf.language.clauses import Clauses

    def work(size: int):  # type: ignore[no-untyped-def]
        sentence = (text * size)[:size]
        return lambda: Clauses(sentence).is_bound([0, size - 1], ("only",), ("only",))

    assert growth(work, 1000) < LINEAR


def test_there_are_enough_of_them() -> None:
    framed, plain = FRAMED + FRAMED_LATER, PLAIN + PLAIN_LATER
    assert (len(set(framed)), len(set(plain))) == (len(framed), len(plain))
    assert len(framed) >= 200
    assert len(plain) >= 150
