"""What English words mean to the rules: kin and pets, trades, languages, tools. Modest on purpose: a word that is not
here costs a fact, a word that should not be here makes one up."""

from __future__ import annotations

import re

from looseleaf.core.lazy import one_of

LANGUAGES = frozenset(
    "english german french spanish chinese mandarin cantonese japanese korean italian portuguese dutch "
    "russian polish "
    "swedish norwegian danish finnish turkish arabic hindi bengali urdu hebrew greek czech hungarian "
    "romanian thai "
    "vietnamese ukrainian welsh irish catalan basque swahili latin persian farsi tamil indonesian malay".split()
)
LANGUAGE = one_of(LANGUAGES)
DEMONYMS = (
    LANGUAGES - {"mandarin", "cantonese", "latin", "hindi", "farsi", "arabic", "swahili"}
) | frozenset(
    "american british canadian australian mexican brazilian argentinian colombian chilean peruvian indian "
    "pakistani "
    "nigerian kenyan ghanaian ethiopian egyptian moroccan algerian tunisian israeli iranian iraqi syrian "
    "lebanese "
    "austrian swiss belgian scottish croatian serbian bosnian slovenian slovak bulgarian albanian estonian "
    "latvian "
    "lithuanian icelandic georgian armenian filipino taiwanese singaporean malaysian kiwi south-african "
    "cuban".split()
)
RELIGIONS = frozenset(
    "catholic protestant christian muslim jewish hindu buddhist sikh atheist agnostic orthodox lutheran "
    "baptist mormon quaker anglican".split()
)
DIETS = frozenset(
    "vegetarian vegan pescatarian flexitarian keto ketogenic halal kosher gluten-free lactose-free "
    "dairy-free "
    "plant-based low-carb paleo fruitarian".split()
)
CONDITIONS = (
    r"(?:adhd|add|autism|asthma|diabetes|type [12] diabetes|epilepsy|migraines?|chronic \w+(?: \w+)?|"
    r"arthritis|ibs|"
    r"crohn's(?: disease)?|celiac disease|coeliac disease|dyslexia|dyscalculia|tinnitus|anxiety|depression|"
    r"ptsd|ocd|"
    r"bipolar disorder|high blood pressure|hypertension|psoriasis|eczema|rsi|carpal tunnel(?: syndrome)?|"
    r"insomnia|"
    r"narcolepsy|multiple sclerosis|ms|endometriosis|pcos|lupus|a bad (?:back|knee)|a heart condition|"
    r"sleep apn(?:o)?ea|scoliosis|long covid|aphantasia|vertigo)"
)
ILL = (
    r"(?:diabetic|type [12] diabetic|dyslexic|colou?r[- ]?blind|deaf|hard of hearing|blind|visually "
    r"impaired|autistic|"
    r"epileptic|asthmatic|pregnant|lactose[- ]intolerant|gluten[- ]intolerant|celiac|coeliac|"
    r"short-?sighted|"
    r"near-?sighted|bipolar|anemic|anaemic)"
)
TRAITS = (
    r"(?:(?:not )?(?:an? )?(?:\w+ )?(?:night owl|early bird|early riser|morning person|evening person|"
    r"night person|introvert|"
    r"extrovert|ambivert|perfectionist|procrastinator|optimist|pessimist|minimalist|homebody|workaholic|"
    r"visual learner|slow reader|fast reader|light sleeper|heavy sleeper|people person|cat person|"
    r"dog person|"
    r"neat freak|coffee addict)|left-?handed|right-?handed|ambidextrous|introverted|extroverted|"
    r"(?:really |very |quite |pretty |terribly |so )?(?:bad|terrible|awful|hopeless) (?:with|at) [\w' "
    r"-]{3,40}|"
    r"(?:always|usually) (?:late|early|on time)|(?:really |very |quite |a bit )?(?:shy|impatient|forgetful|"
    r"disorganised|disorganized|superstitious|claustrophobic)|(?:afraid|scared|terrified) of "
    r"(?:heights|spiders|flying|dogs|snakes|the dark|needles|water|clowns|public speaking))"
)

_PETS = (
    "dog cat puppy kitten parrot rabbit hamster horse tortoise turtle goldfish budgie guinea-pig snake "
    "lizard ferret dachshund labrador retriever terrier poodle beagle corgi husky collie spaniel bulldog pug greyhound "
    "canary cockatiel gecko axolotl chinchilla pony hedgehog"
)
PETS = frozenset(_PETS.split())
KIN: dict[str, str] = {
    word: relation
    for relation, words in {
        "Sibling": "bro sis sibling sister brother twin stepsister stepbrother",
        "Parent": "mother mom mum father dad stepmother stepfather",
        "Child": "daughter son kid child stepdaughter stepson baby",
        "Partner": "hubby gf bf wife husband partner girlfriend boyfriend fiancé fiancée fiance fiancee spouse",
        "Friend": "friend roommate flatmate buddy",
        "Colleague": "colleague coworker co-worker teammate",
        "Manager": "manager boss supervisor",
        "Pet": _PETS,
    }.items()
    for word in words.split()
}
OTHER_KIN = (
    "youngest eldest oldest sister-in-law brother-in-law mother-in-law father-in-law "
    "grandmother grandma gran grandfather grandpa aunt uncle cousin niece nephew"
)
KIN_WORD = one_of({*KIN, *OTHER_KIN.split()})
OLDER = (
    r"(?:(?:older|younger|little|big|elder|twin|eldest|youngest|oldest|best|good|old|new|close|first|"
    r"second) )"
)

GIVEN = frozenset(
    "aaron adam alan alex alice amanda amy ana anders andrea andrew andy angela anna anne anton ben brian carlos "
    "carla carol chloe chris clara claire dan daniel dave david diana dmitri dylan ed elena eli elena ella emily emma "
    "eric eva felix fiona fred george greg hannah harry helen henry ian igor ivan jack jacob jake james jamie "
    "jan jane jason jeff jen jenny jess jessica jim joe john johnny jon jonas jose josh juan julia julie karen karl "
    "kate katie kevin kim kyle laura lena leo lily linda lisa liz louis lucas lucy luis luke maria marco marie mario "
    "martin mary matt max megan mia michael miguel mike mohamed nadia nathan nick nina noah nora oliver olivia omar "
    "oscar pablo patrick paul pedro peter phil priya rachel ravi rob robert robin ryan sam samantha sara sarah scott "
    "sean simon sofia sophie stefan steve steven susan tara ted tim tom tony tyler victor vera yuki zoe".split()
)
"""Given names that people type without a capital."""

_HEADS = frozenset(
    "nurse doctor chef cook student pilot architect midwife vet dentist monk judge surgeon mechanic coach "
    "dev sre ceo "
    "cto cfo coo vp gp postdoc freelancer intern apprentice nun priest pastor guide clerk barista "
    "paramedic pensioner "
    "retiree homemaker professor tutor au-pair undergrad undergraduate graduate phd apprentice secretary "
    "diplomat "
    "athlete pharmacist police officer detective soldier sailor trainee nanny waitress actress hostess "
    "scientist "
    "chemist physicist economist psychologist therapist receptionist florist cellist pianist violinist "
    "artist "
    "journalist cyclist columnist activist dietitian statistician mathematician historian musician "
    "technician "
    "electrician physician librarian optician politician comedian magician beautician accountant "
    "consultant assistant "
    "civil-servant merchant sergeant lieutenant engineer analyst postman fireman policeman salesman "
    "salesperson "
    "tradesman businessman businesswoman chairwoman chairman playwright blacksmith locksmith goldsmith "
    "teacher "
    "developer programmer designer writer editor lawyer baker butcher farmer driver painter photographer "
    "carpenter "
    "plumber gardener translator interpreter researcher lecturer trainer manager banker broker trader "
    "cashier waiter "
    "bartender hairdresser barber tailor dancer singer actor director producer composer conductor author "
    "reporter "
    "presenter firefighter lifeguard bricklayer roofer welder builder plasterer surveyor inspector auditor "
    "advisor "
    "adviser planner marketer recruiter bookkeeper caretaker janitor cleaner porter courier shepherd "
    "fisherman "
    "zookeeper beekeeper potter sculptor illustrator animator filmmaker cinematographer dj geologist "
    "biologist "
    "neuroscientist astronomer archaeologist anthropologist sociologist linguist philosopher theologian "
    "radiologist "
    "cardiologist oncologist anaesthetist anesthetist veterinarian paralegal solicitor barrister notary "
    "actuary "
    "underwriter contractor subcontractor landlord entrepreneur founder cofounder co-founder owner "
    "owner-operator "
    "administrator sysadmin admin tester operator machinist dispatcher controller coordinator supervisor "
    "foreman "
    "superintendent principal headteacher dean registrar curator archivist seamstress dressmaker stylist "
    "model "
    "optometrist physiotherapist physio osteopath chiropractor podiatrist acupuncturist psychiatrist "
    "pediatrician "
    "paediatrician obstetrician gynaecologist dermatologist urologist orthodontist hygienist carer caregiver "
    "social-worker youth-worker case-worker teenager parent".split()
) - {"parent", "teenager", "owner", "graduate"}
_TWO_WORDS = (
    "civil servant",
    "social worker",
    "police officer",
    "stay-at-home mom",
    "stay-at-home dad",
    "product owner",
)
_NO_TRADE = frozenset("bad terrible good great lousy horrible decent slow fast poor better".split())


def is_trade(phrase: str) -> bool:
    """Whether the words name what somebody is by trade: by their last word, which says what it is."""
    words = phrase.lower().split()
    if not words or words[0] in _NO_TRADE:
        return False
    last = words[-1]
    if (
        len(words) > 2
        and words[1] == "of"
        and words[0] in ("head", "director", "vp", "professor", "chief", "student")
    ):
        return True
    return last in _HEADS or last.rsplit("-", 1)[-1] in _HEADS or phrase.lower().endswith(_TWO_WORDS)


_TOOLS = {
    "Database": "postgres postgresql mysql mariadb sqlite mongodb mongo redis cassandra dynamodb duckdb "
    "cockroachdb oracle "
    "clickhouse elasticsearch neo4j firestore couchdb mssql timescaledb influxdb supabase scylladb surrealdb "
    "snowflake bigquery redshift valkey rocksdb leveldb lmdb memcached opensearch",
    "Test runner": "vitest jest pytest unittest mocha rspec junit playwright cypress nose karma ava "
    "testng xunit nunit phpunit minitest nextest jasmine testcafe googletest catch2 exunit kotest bats doctest",
    "Package manager": "pnpm npm yarn uv pip poetry bun cargo pipenv conda composer bundler "
    "pdm hatch rye mamba pixi nuget homebrew vcpkg conan cocoapods",
    "Framework": "react vue angular svelte django flask fastapi rails laravel spring next.js nextjs nuxt "
    "solidjs express flutter electron tauri nestjs gatsby ember jquery streamlit quarkus axum actix "
    "tailwind-ui "
    "starlette phoenix symfony remix astro qwik htmx sveltekit preact lit gin ktor micronaut sinatra hono fastify koa "
    "nest litestar tornado sanic swiftui pytorch tensorflow godot bevy",
    "Hosting": "aws gcp azure heroku hetzner vercel netlify fly.io digitalocean cloudflare render railway "
    "linode ovh ionos scaleway vultr",
    "Programming language": "go golang rust python typescript javascript java kotlin swift c c++ c# ruby "
    "elixir scala zig "
    "haskell ocaml clojure erlang php lua julia r dart f#",
    "Licence": "mit apache-2.0 gplv3 gpl agpl bsd mpl lgpl unlicense",
}
TOOLS = {word: relation for relation, words in _TOOLS.items() for word in words.split()}
ROLES_OF_TOOLS = {
    "database": "Database",
    "db": "Database",
    "datastore": "Database",
    "test runner": "Test runner",
    "testing framework": "Test runner",
    "test framework": "Test runner",
    "package manager": "Package manager",
    "framework": "Framework",
    "web framework": "Framework",
    "frontend framework": "Framework",
    "backend framework": "Framework",
    "hosting": "Hosting",
    "hosting provider": "Hosting",
    "licence": "Licence",
    "license": "Licence",
    "programming language": "Programming language",
    "repository": "Repository",
    "repo": "Repository",
    "port": "Port",
    "version": "Version",
    "main branch": "Branch",
    "default branch": "Branch",
}


def tool(words: str) -> str:
    """The relation that a tool is the value of: `Database` of Postgres; nothing, for one that is not known."""
    plain = re.sub(r"\s+(?:database|db|[0-9.]+)\Z", "", words.strip().lower().rstrip(".!"))
    return TOOLS.get(plain, "") or TOOLS.get(plain.split()[0] if plain else "", "") * (len(plain.split()) < 3)
