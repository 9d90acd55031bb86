"""What a message states: facts that were said, none that were not, each with the words that say it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from growth import LINEAR, growth
from looseleaf.core.relations import BY_LABEL
from looseleaf.distill.english.propose import propose
from looseleaf.distill.pasted import own_words
from looseleaf.distill.shape import made, tidy
from looseleaf.distill.statements import language, statements
from looseleaf.talk import Proposal

TS = datetime(2026, 2, 25, 12, tzinfo=UTC).timestamp()
"""A Wednesday."""


def told(proposal: Proposal) -> str:
    text = f"{proposal.relation}: {proposal.object}"
    text = f"{proposal.topic} {text}" if proposal.topic != "user" else text
    text += f" (was {proposal.was})" if proposal.was else ""
    return text + " (ended)" * proposal.ended


def facts(text: str, before: tuple[Proposal, ...] = ()) -> list[str]:
    return [told(each) for each in statements(text, TS, "t1", before)]


FACTS = """
Hey there, Marcus here. I run a small bakery in Leeds. => Name: Marcus | Works on: small bakery in Leeds
You can call me Jo. => Name: Jo
I go by they/them. => Pronouns: they/them
My pronouns are she/her. => Pronouns: she/her
I'm 27 and live in Porto. => Age: 27 | Home: Porto
I was born on 3 March 1990 in Riga. => Birthday: 3 March 1990
I'm German but I live in Spain. => Nationality: German | Home: Spain
I'm half Japanese. => Nationality: Japanese
I grew up in a tiny town in Saskatchewan. => Hometown: tiny town in Saskatchewan
I moved from Madrid to Valencia last year. => Home: Valencia (was Madrid)
We just moved to Leipzig! => Home: Leipzig
My address is 14 Elm Street, Springfield. => Address: 14 Elm Street, Springfield
I'm in the Pacific time zone. => Time zone: Pacific
My timezone is UTC+2 => Time zone: UTC+2
I work for the Red Cross as a logistics coordinator. => Employer: Red Cross | Role: logistics coordinator
I'm a freelance illustrator. => Role: freelance illustrator
I'm the CTO of a small startup called Brightleaf. => Role: CTO | Employer: Brightleaf
I just started a new job at Siemens. => Employer: Siemens
I recently got promoted to senior engineer. => Role: senior engineer
I'm retired. => Role: retired
I'm a first-year medical student at Charité. => Role: first-year medical student | Education: Charité
I have a PhD in linguistics from Edinburgh. => Education: PhD in linguistics from Edinburgh
My email is tom@example.org => Email: tom@example.org
I'm married with two kids. => Marital status: married
My wife Mei is a vegetarian. => Partner: Mei | Wife's diet: vegetarian
My husband is called Jorge. => Partner: Jorge
My boss is Katrin Vogel. => Manager: Katrin Vogel
I have two daughters, Lina and Maja. => Child: Lina | Child: Maja
I've got a cat named Miso. => Pet: Miso (cat)
We have a dog, Rex. => Pet: Rex (dog)
My brother works at Nokia. => Brother's employer: Nokia
My mother is a retired judge. => Mother's role: retired judge
My sister's birthday is on 4 May. => Sister's birthday: 4 May
I speak Polish, English and a little German. => Speaks: Polish | Speaks: English | Speaks: German
I'm Catholic. => Religion: Catholic
I'm a practising Muslim. => Religion: Muslim
I'm vegan => Diet: vegan
I don't eat pork. => Diet: no pork
I don't drink alcohol. => Diet: no alcohol
I'm lactose intolerant => Condition: lactose intolerant
I'm allergic to shellfish and pollen. => Allergy: shellfish | Allergy: pollen
I have type 1 diabetes. => Condition: type 1 diabetes
I'm colour-blind, so please don't rely on red and green. => Condition: colour-blind
I love hiking in the Alps. => Likes: hiking in the Alps
I hate mushrooms. => Dislikes: mushrooms
I can't stand small talk. => Dislikes: small talk
I'm a huge fan of Terry Pratchett. => Likes: Terry Pratchett
I prefer tea over coffee. => Prefers: tea over coffee
I prefer dark mode. => Prefers: dark mode
My favourite food is ramen. => Favourite: food: ramen
I play the cello. => Skill: plays the cello
I'm good at chess. => Skill: chess
I collect vintage postcards. => Hobby: collecting vintage postcards
My hobbies are gardening, sewing and astronomy. => Hobby: gardening | Hobby: sewing | Hobby: astronomy
I'm an early bird. => Trait: early bird
I'm terrible at remembering birthdays. => Trait: terrible at remembering birthdays
I'm left-handed. => Trait: left-handed
I own an old sailing boat. => Owns: old sailing boat
I drive a Fiat Panda. => Owns: Fiat Panda
I use Emacs. => Uses: Emacs
I'm on Windows 11. => Uses: Windows 11
I switched from Vim to Zed. => Uses: Zed (was Vim)
I'm writing a novel about lighthouse keepers. => Works on: novel about lighthouse keepers
I'm building a compiler in Rust. => Works on: compiler in Rust
We're planning a trip to Iceland in June. => Plan: trip to Iceland in June 2026
I'm flying to Oslo next Friday. => Plan: fly to Oslo on 2026-03-06
I plan to quit my job in the summer. => Plan: quit job in the summer
I'm getting married on 12 September 2026. => Plan: get married on 12 September 2026
I want to run a marathon this year. => Goal: run a marathon in 2026
I have a dentist appointment next Tuesday at 10. => Appointment: dentist on 2026-03-03 at 10
My interview with Google is on Thursday. => Appointment: interview with Google on 2026-02-26
The grant proposal is due on May 1st. => Deadline: 2026-05-01, grant proposal
The deadline for the thesis is 30 June. => Deadline: 2026-06-30, thesis
I have to submit my tax return by 31 July. => Deadline: 2026-07-31, tax return
I adopted a cat last Saturday. => Event: adopted a cat on 2026-02-21
I passed my driving test yesterday! => Event: passed driving test on 2026-02-24
I lost my job in March. => Event: lost job in March 2025
My grandmother passed away last week. => Event: grandmother passed away in the week of 2026-02-16
Let's use Postgres instead of MySQL. => project Database: Postgres (was MySQL)
We use pnpm, not npm. => project Package manager: pnpm (was npm)
We decided to go with React. => project Framework: React
Our main branch is called trunk. => project Branch: trunk
We deploy on Fly.io. => project Hosting: Fly.io
The project is licensed under Apache-2.0. => project Licence: Apache-2.0
We're on Python 3.12. => project Programming language: Python 3.12
The API runs on port 3000. => project Port: 3000
Never push directly to main. => Rule: never push directly to main
Always write tests first. => Rule: always write tests first
Please don't ever use emojis. => Rule: don't ever use emojis
From now on, call me Captain. => Name: Captain
In future, reply in German. => Language: answers in German
Whenever I paste code, review it for security problems. => Rule: whenever I paste code, review it for security problems
Every time you change the schema, bump the version. => Rule: every time you change the schema, bump the version
Make sure you never commit secrets. => Rule: never commit secrets
Please answer in French. => Language: answers in French
Write all code comments in English. => Rule: write all code comments in English
Keep your answers under 100 words. => Rule: keep your answers under 100 words
Don't apologise so much. => Rule: don't apologise so much
Stop asking me follow-up questions. => Rule: stop asking me follow-up questions
No emojis please. => Rule: no emojis
When I say "wrap up", summarise the session. => Rule: when I say "wrap up", summarise the session
You should always double-check my numbers. => Rule: always double-check my numbers
Could you please always use metric units? => Rule: always use metric units
I'd like you to never mention my ex. => Rule: never mention my ex
Actually, I'm 35. => Age: 35
I no longer work at Acme. => Employer: Acme (ended)
I don't live in Rome any more. => Home: Rome (ended)
I stopped drinking coffee. => Diet: no coffee
We no longer use Jenkins. => project Uses: Jenkins (ended)
I sold my car. => Owns: car (ended)
I broke up with Dana. => Event: broke up with Dana
I'm not vegetarian any more. => Diet: vegetarian (ended)
I have ADHD => Condition: ADHD
I have three siblings. => Sibling: three siblings
My son Leo is 5 years old. => Child: Leo | Son's age: 5
My cat's name is Biscuit. => Cat's name: Biscuit
I'm learning Italian. => Goal: learn Italian
I teach physics at a high school. => Role: teaches physics
I studied law at Oxford. => Education: law at Oxford
I'm scared of flying. => Trait: scared of flying
I'm self-employed. => Role: self-employed
I run a podcast about urban planning. => Works on: podcast about urban planning
My phone is a Pixel 8. => Uses: Pixel 8
I have a Kindle. => Owns: Kindle
I'm pregnant. => Condition: pregnant
Our wedding is on 5 June 2027. => Appointment: wedding on 2027-06-05
I'm moving to Canada next year. => Plan: move to Canada in 2027
the repo lives at github.com/acme/tidepool => project Repository: github.com/acme/tidepool
we host everything on Hetzner => project Hosting: Hetzner
for tests we use vitest => project Test runner: vitest
Use uv instead of pip in this repo => project Package manager: uv (was pip)
Switch from yarn to pnpm please => project Package manager: pnpm (was yarn)
We went with Kotlin for the app => project Programming language: Kotlin
our api is written in Go => project Programming language: Go
we're sticking with SQLite for now => project Database: SQLite
The team agreed on trunk-based development => project Decision: trunk-based development
Decision: no ORM. => project Decision: no ORM
We release under the MIT license => project Licence: MIT
We are at version 2.4.1 => project Version: 2.4.1
the staging server listens on 8443 => project Port: 8443
the default branch is develop => project Branch: develop
tests are run with pytest => project Test runner: pytest
we manage dependencies with poetry => project Package manager: poetry
the frontend uses Svelte => project Framework: Svelte
we chose Rust over C++ => project Programming language: Rust (was C++)
let's switch the database to MariaDB => project Database: MariaDB
We'll deploy to Vercel => project Hosting: Vercel
We've migrated from Heroku to Render => project Hosting: Render (was Heroku)
prod runs on AWS => project Hosting: AWS
the service runs on port 9000 in dev => project Port: 9000
I'm a backend dev, mostly Go => Role: backend dev
i'm a mum of two, Ada and Finn => Child: Ada | Child: Finn
i've been a vegetarian since 2012 => Diet: vegetarian
got two cats, Pixel and Byte => Pet: Pixel (cat) | Pet: Byte (cat)
my cat Luna is 12 => Pet: Luna (cat) | Cat's age: 12
my dog is called Bruno => Pet: Bruno (dog)
my partner and i live in Ghent => Home: Ghent
my daughter's name is Zoe => Daughter's name: Zoe
My son is called Emil and he's 4 => Child: Emil
My brother Kofi lives in Accra => Sibling: Kofi | Brother's home: Accra
My mum is from Goa => Mother's hometown: Goa
Our dog Waffles is a beagle => Pet: Waffles (dog)
my manager is Dolores => Manager: Dolores
my best friend Aisha lives in Dubai => Friend: Aisha | Friend's home: Dubai
my colleague Jens handles the billing => Colleague: Jens
My girlfriend's birthday is 9 August => Girlfriend's birthday: 9 August
i don't eat gluten => Diet: no gluten
I keep kosher => Diet: kosher
im lactose intolerant => Condition: lactose intolerant
i'm on a low-carb diet => Diet: low-carb
i have a nut allergy => Allergy: nut
I'm deaf in one ear => Condition: deaf in one ear
I get migraines => Condition: migraines
I have asthma => Condition: asthma
i was diagnosed with celiac disease last year => Condition: celiac disease
I love spicy food => Likes: spicy food
I adore brutal techno => Likes: brutal techno
i'm really into mechanical keyboards => Likes: mechanical keyboards
I'm obsessed with sourdough => Likes: sourdough
can't stand cilantro => Dislikes: cilantro
I don't like phone calls => Dislikes: phone calls
I dislike long meetings => Dislikes: long meetings
not a fan of horror movies => Dislikes: horror movies
I'd rather get bullet points than prose => Prefers: bullet points over prose
I like concise answers => Prefers: concise answers
I like tabs better than spaces => Prefers: tabs over spaces
My favourite book is Middlemarch => Favourite: book: Middlemarch
favourite editor: Helix => Favourite: editor: Helix
green is my favourite colour => Favourite: colour: green
I play chess on weekends => Hobby: chess
I go bouldering twice a week => Hobby: bouldering
I bake bread every Sunday => Hobby: baking bread
I'm into birdwatching => Likes: birdwatching
I paint watercolours => Hobby: painting watercolours
I can code in Haskell => Skill: Haskell
I've been programming in C++ for 15 years => Skill: C++
I'm fluent in Portuguese => Speaks: Portuguese
My native language is Tamil => Speaks: Tamil
I tend to procrastinate => Trait: tends to procrastinate
I run Arch btw => Uses: Arch
My main machine is a MacBook Air M2 => Uses: MacBook Air M2
I drive an old Volvo => Owns: old Volvo
I bought a Steam Deck last week => Event: bought a Steam Deck in the week of 2026-02-16
I'm working on my master's thesis about coral reefs => Works on: master's thesis about coral reefs
I maintain an open source library called tidepool => Works on: open source library called tidepool
I'm writing a cookbook => Works on: cookbook
I'm restoring a 1970s motorbike => Works on: 1970s motorbike
As a 52-year-old teacher I find this confusing => Age: 52 | Role: teacher
I live with my partner Sam in a flat in Dublin. => Partner: Sam | Home: Dublin
I'm head of maintenance at Bosch => Role: head of maintenance | Employer: Bosch
I work at Nokia as a tester => Employer: Nokia | Role: tester
I adopted a cat named Miso on Saturday => Event: adopted a cat named Miso on 2026-02-21 | Pet: Miso (cat)
I use Neovim on a Mac => Uses: Neovim | Uses: Mac
you can forget the bullet point rule => Rule: bullet point rule (ended)
I want you to never mention my ex => Rule: never mention my ex
I don't want any ads in what you recommend, ever => Rule: no ads in what you recommend
I don't want you to use emojis => Rule: never use emojis
We went with Kotlin instead of Java => project Programming language: Kotlin (was Java)
We settled on MIT as the license => project Licence: MIT
I hold dual citizenship, Irish and Canadian => Nationality: Irish and Canadian
I can read music => Skill: read music
I speak in German with my kids, but please answer in French => Language: answers in French
call me Robin from now on => Name: Robin
Our licence is MIT => project Licence: MIT
we moved from GitHub to GitLab => project Decision: use GitLab instead of GitHub (was GitHub)
We use Bazel => project Uses: Bazel
the plan is to move to Norway in 2027 => Plan: move to Norway in 2027
ive got two cats, Miso and Tofu => Pet: Miso (cat) | Pet: Tofu (cat)
im a nurse and i cant stand jazz => Role: nurse | Dislikes: jazz
dont ever use emojis => Rule: don't ever use emojis
I prefer answers in English => Language: answers in English
I write code in English => Language: English code
please write all code in English => Language: English code
forget the rule about bullet points => Rule: bullet points (ended)
I'm a 34-year-old nurse from Leeds => Age: 34 | Role: nurse
our stack is Django and Postgres => project Framework: Django | project Database: Postgres
it's all hosted on Scaleway => project Hosting: Scaleway
The site is built with Hugo => project Framework: Hugo
We chose Kotlin over Java => project Programming language: Kotlin (was Java)
I like my answers short => Prefers: answers short
I prefer tabs, if you ask me => Prefers: tabs
I work for myself as a potter => Role: potter
As a nurse I see this a lot => Role: nurse
I love cats for ten years now => Likes: cats
I'm vegan most of the time => Diet: vegan
I'm a night owl, always have been => Trait: night owl
I prefer English => Language: answers in English
please stop using the word "delve" => Rule: stop using the word "delve"
Don't call me sir. => Rule: don't call me sir
I never want to see you use exclamation marks => Rule: never use exclamation marks
no tables in your answers, ever => Rule: no tables in your answers
when you write SQL, use uppercase keywords => Rule: when you write SQL, use uppercase keywords
if you're unsure, ask before you act => Rule: if you're unsure, ask before you act
answer in one sentence unless I ask for more => Rule: answer in one sentence unless I ask for more
always give me the source => Rule: always give me the source
Give me code without comments, always. => Rule: give me code without comments
ask me before deleting anything => Rule: ask me before deleting anything
Ask before you install packages. => Rule: ask before you install packages
check with me before you email anyone => Rule: check with me before you email anyone
you must never share my phone number => Rule: never share my phone number
please be brief from now on => Rule: be brief
Be blunt with me, no sugarcoating => Rule: be blunt with me, no sugarcoating
all dates in ISO format please => Rule: all dates in ISO format
Use British spelling in everything you write for me. => Rule: use British spelling in everything you write for me
use tabs, not spaces => project Decision: use tabs instead of spaces (was spaces)
every commit message must reference a ticket => Rule: every commit message must reference a ticket
our rule is: no merges on Fridays => Rule: no merges on Fridays
We never deploy on Fridays => project Rule: never deploy on Fridays
we always squash before merging => project Rule: always squash before merging
PRs need two approvals => Rule: PRs need two approvals
Tests must pass before merging => Rule: tests must pass before merging
Never ever log personal data => Rule: never ever log personal data
remember to always cc Laura on invoices => Rule: always cc Laura on invoices
It's important that you never use my real name => Rule: never use my real name
for all future reports, use the blue template => Rule: for all future reports, use the blue template
In future please round to two decimals => Rule: round to two decimals
going forward let's keep meetings under 30 minutes => Rule: keep meetings under 30 minutes
by default answer in Spanish => Language: answers in Spanish
Please reply to me in Dutch => Language: answers in Dutch
let's speak French from now on => Language: answers in French
Write your commit messages in English => Rule: write your commit messages in English
Until further notice, send reports to Nadia => Rule: send reports to Nadia
Under no circumstances touch the production database => Rule: under no circumstances touch the production database
If I write "tl;dr", give me a two-line summary => Rule: if I write "tl;dr", give me a two-line summary
When I say lunch, I mean 12:30 => Rule: when I say lunch, I mean 12:30
I'd rather you didn't use bullet points => Rule: don't use bullet points
The thesis has to be handed in by 15 April => Deadline: 2026-04-15, thesis
exam on 12 March => Appointment: exam on 2026-03-12
I've got a job interview on Monday => Appointment: job interview on 2026-03-02
I'm seeing the doctor tomorrow at 9 => Appointment: doctor on 2026-02-26 at 9
we're meeting the architect on 10 March => Appointment: architect on 2026-03-10
Flight to Lisbon on 4 April => Appointment: Flight to Lisbon on 2026-04-04
I'm off to Greece next week => Plan: go to Greece in the week of 2026-03-02
next month we're moving to a bigger flat => Plan: move to a bigger flat in March 2026
I'm starting a new job in April => Plan: start a new job in April 2026
In June I'll be defending my thesis => Plan: defend my thesis in June 2026
this summer I'm cycling to Santiago => Plan: cycle to Santiago in summer 2026
I'm going to learn to swim this year => Plan: learn to swim in 2026
my aim is to ship v2 by June => Goal: ship v2 by June 2026
I hope to finish my novel this year => Goal: finish novel in 2026
we got married in 2015 => Event: got married in 2015
I had my gallbladder out last month => Event: had gallbladder out in January 2026
I moved house in December => Event: moved house in December 2025
Our son was born on 2 February => Son's birthday: 2 February
I finished my PhD last week => Event: finished PhD in the week of 2026-02-16
last year I ran my first marathon => Event: ran my first marathon in 2025
I was laid off in January => Event: was laid off in January 2026
my car got stolen yesterday => Event: car got stolen on 2026-02-24
I had a car accident last week => Event: had a car accident in the week of 2026-02-16
my sister had a baby yesterday => Event: sister had a baby on 2026-02-24
I'm Polish-American => Nationality: Polish-American
home is Bristol => Home: Bristol
I work in IT support => Trait: works in IT support
I'm in marketing => Trait: works in marketing
I'm an engineer by training but I run a café now => Role: engineer | Works on: café
I teach maths => Role: teaches maths
I'm studying computer science at TU Delft => Education: computer science at TU Delft
I'm a widow => Marital status: widow
I'm single => Marital status: single
I'm engaged to Farid => Partner: Farid | Marital status: engaged
my grandma Rosa is 91 => Grandmother's age: 91
my uncle Bob is a plumber => Uncle's role: plumber
my neighbour's name is Klaus => Neighbour's name: Klaus
My therapist is called Dr. Weiss => Therapist's name: Dr. Weiss
my landlord is Mr Okafor => Landlord's name: Mr Okafor
our cat is called Pickle => Pet: Pickle (cat)
I have a horse called Storm => Pet: Storm (horse)
we've got three kids: Ana, Ben and Cleo => Child: Ana | Child: Ben | Child: Cleo
my twins are called Max and Mia => Child: Max | Child: Mia
My dad's name is Ernesto => Father's name: Ernesto
We use Kubernetes for orchestration => project Uses: Kubernetes
we're using Terraform, not Pulumi => project Uses: Terraform
the mobile app is built with Flutter => project Framework: Flutter
Let's go with Tailwind => project Decision: go with Tailwind
We decided against microservices => project Decision: against microservices
we agreed to ship without dark mode => project Decision: ship without dark mode
the team decided that Fridays are meeting-free => project Decision: Fridays are meeting-free
we're dropping IE11 support => project Decision: drop IE11 support
Let's stick with REST rather than GraphQL => project Decision: use REST instead of GraphQL (was GraphQL)
we replaced Redux with Zustand => project Decision: use Zustand instead of Redux (was Redux)
our repo is at gitlab.com/kite/kite => project Repository: gitlab.com/kite/kite
version is 3.1 now => project Version: 3.1
licence: Apache 2.0 => project Licence: Apache 2.0
main branch is trunk => project Branch: trunk
use ruff instead of flake8 => project Decision: use ruff instead of flake8 (was flake8)
please use pnpm, not npm => project Package manager: pnpm (was npm)
switch to Postgres => project Database: Postgres
let's write it in Go => project Programming language: Go
Our database is Postgres 16 => project Database: Postgres 16
the package manager is uv => project Package manager: uv
we test with jest => project Test runner: jest
we run our tests with vitest => project Test runner: vitest
We picked FastAPI over Flask => project Framework: FastAPI (was Flask)
i'm vegetarian now, used to eat everything => Diet: vegetarian
I don't have a car any more => Owns: car (ended)
My new number is 0151 2345678 => Phone: 0151 2345678
I changed my name to Robin => Name: Robin
I'm no longer vegan => Diet: vegan (ended)
I left Google in March => Employer: Google (ended)
I don't work at Siemens any more, I'm at Bosch now => Employer: Siemens (ended)
I have three cats => Pet: three cats
My sister is 32 and works as a vet => Sister's age: 32 | Sister's role: vet
My husband is allergic to cats => Husband's allergy: cats
my wife's birthday is on 3 June => Wife's birthday: 3 June
my son's email is leo@example.org => Son's email: leo@example.org
My dog is 4 years old => Dog's age: 4
I report to Ingrid => Manager: Ingrid
I'm experienced with Kubernetes => Skill: Kubernetes
I have a bad back => Condition: bad back
I'm dyslexic so please use short paragraphs => Condition: dyslexic
I'm hard of hearing => Condition: hard of hearing
I can't eat gluten => Diet: no gluten
I only eat halal => Diet: halal
I hate being called buddy => Dislikes: being called buddy
I prefer being addressed by my first name => Prefers: being addressed by my first name
I prefer email to phone calls => Prefers: email over phone calls
I prefer it when you show code first => Prefers: show code first
I'd rather you asked before editing files => Rule: ask before editing files
I love cats => Likes: cats
I really enjoy long train rides => Likes: long train rides
I'm crazy about opera => Likes: opera
I'm a light sleeper => Trait: light sleeper
I'm always late => Trait: always late
I live at 5 Baker Street => Address: 5 Baker Street
I'm on Eastern time => Time zone: Eastern
My time zone is Europe/Paris => Time zone: Europe/Paris
I turned 30 last week => Age: 30
I was born in 1988 => Birthday: 1988
My birthday is the 2nd of October => Birthday: 2nd of October
I identify as non-binary => Gender: non-binary
I'm a woman => Gender: woman
I'm Jewish => Religion: Jewish
I'm British, living in Spain => Nationality: British | Home: Spain
"""
NO_FACTS = """
Do you think I'm a good writer?
What if I lived in Paris?
Imagine I'm a pirate captain.
Let's pretend I work at NASA.
You are a helpful nurse.
Act as a lawyer who lives in Texas.
My boss said "I love working on weekends".
He told me I'm allergic to criticism.
She says she lives in Rome.
I'm not a doctor.
I don't have a dog.
I'm tired.
I'm back!
I'm sorry about that.
I'm looking for a new laptop.
I'm confused about this error.
I'm on the train right now.
I'm in a meeting.
I'm getting a 404.
I'm trying to fix the build.
I'm using the wrong branch.
Translate "I live in Berlin" into French.
Translate into German: I am a teacher and I live in Madrid.
Write a short bio: I'm Anna, I'm 30 and live in Oslo.
For example, my name is John Doe and I live in Springfield.
If I were vegetarian I'd eat tofu.
I might move to Spain next year.
Maybe I'll adopt a cat.
I wish I could play the piano.
I think I'm coming down with something.
Never mind.
Don't forget to add a test here.
Please fix the typo in line 3.
Don't touch that file.
Make sure the build passes before you go.
I'd like a table of contents.
I like it.
I love this idea!
I hate this bug.
I prefer the second option.
I want to know how this works.
I have a question.
I have a problem with my printer.
I have a meeting now.
I'm done.
I'm fine, thanks.
I'm afraid I don't understand.
I'm sure it's fine.
I use the function below.
I'm the queen of England lol
I'm a banana, just kidding.
In my novel, the hero says I am a wizard from Prague.
My character is called Drax and he is a dwarf.
Can you recommend a dentist?
I have to go now.
I'm going to bed.
I'm going to try that.
I'll check it later.
Let's use the second approach here.
Let's take a break.
We could use Redis.
Should we use Postgres?
I was a teacher once in a dream.
Say "I'm from Mars".
The docs say never to use eval.
I always forget how this works.
I never got your email.
It always crashes on startup.
I'm a bit lost.
I'm a big fan of this approach.
I'm a little worried.
I'm an idiot.
I'm a user of your service.
My name is not Bob.
My computer is slow.
My code is broken.
My sister is visiting.
My dog is sick.
I bought milk.
I had lunch.
I got an error yesterday.
I met a bug yesterday.
I started the server today.
I updated the file yesterday.
I ran the tests yesterday.
I went to the store.
How do I say "my name is Tom" in Spanish?
I read that vegans live longer.
They use MongoDB at my friend's company.
Google uses Bazel.
The user lives in Tokyo.
Assume the customer is 40 years old.
John lives in Paris and works at Renault.
I'm 90% sure.
I'm 5 minutes late.
I'm 100 lines in.
I was in Berlin last week for a conference.
I'd love to visit Japan someday.
I'm reading a book about France.
I use it every day.
I'm writing a test for the parser.
I'm working on the login bug.
I need a name for my cat.
Thanks, I love you!
I live for Fridays.
I'm dying to know.
I'm married to my job.
I'm allergic to bad code.
I'm drowning in emails.
Call me tomorrow.
Call me crazy, but this works.
I'm Batman.
No, that's wrong.
No, it's broken.
Actually, it's fine.
Remember the milk.
Always a pleasure!
Never in my life have I seen this.
I've never been to Japan.
You never listen.
Why do you always do that?
Stop it.
Stop the server.
Use a smaller font.
Keep going.
Keep it up!
Avoid the bug by restarting.
Don't worry about it.
Don't you think so?
Only two tests fail.
No problem.
No errors in the log.
When I click save, nothing happens.
Whenever I click save, it crashes.
Every time I run it, I get an error.
If I say yes, what happens?
I'm gonna grab a coffee.
I have a date in the wrong format.
I have a class that extends Foo.
I have a call to the API that fails.
The deadline is unclear.
We have a test review tomorrow?
I would like to book a flight from Paris to Rome on May 3rd.
I want to fly from New York to Seattle on May 20.
I need to change my flight to May 27.
My reservation is 4WQ150.
My user id is mia_li_3668.
I live in constant fear of deadlines.
All tests should pass now.
The tests need to be fixed.
The docs should be updated.
All files are in the folder.
Ask your mother.
Tell me a joke before you go.
Be careful.
Be right back.
Be honest, is this good?
When you are done, send me the file.
Treat yourself!
Check the log before you restart.
Every test fails.
Every file gets copied twice, that's the bug.
All commits are on main.
Reply with yes or no.
Answer with one word: what is the capital of France?
Write a commit message in English for this diff.
Write me a poem in German.
Say hello in French.
Speak of the devil.
Use Python for this script.
Use the new API.
use a dict instead of a list here
Let's move on.
Let's go with the first one.
Let's keep the old name for now.
We use it in the tests.
We used to use Jenkins.
The server runs on my laptop.
The app is on fire.
Our database is slow.
The frontend is broken.
They switched from Java to Kotlin.
My friend moved from Paris to Rome.
She plays the piano.
My brother said he lives in Rome.
My sister thinks I'm a nurse.
I was told never to do that.
I'm meeting so many cool people.
I had a great time.
I'm going to the store.
I'm leaving now.
I'm off to bed.
The exam was hard.
The meeting on Monday was cancelled.
The interview on Friday went well.
I'd like to learn how to do this.
I'd love to travel more.
I'd like to become familiar with the code.
I'm in trouble.
I'm in love.
I'm in the office.
I'm in Berlin this week.
My doctor is great.
My landlord is evil.
My editor is crashing.
My teacher is mean.
The word "never" is misspelled.
It's my cat.
I have two questions, one about Java and one about Rust.
I have a friend who lives in Peru.
I've got a dog barking next door.
Is it true that I'm allergic to cats?
As a user, I want to log in so that I can see my data.
As a large language model, you should know.
Like a nurse, I work nights.
Hello Anna, how are you?
Thanks Bob.
Sincerely, Tom
I'm fluent in sarcasm
I speak fluent sarcasm
I have a PhD in overthinking
I'm the CEO of bad decisions
I live in my pyjamas
From now on you are a pirate.
Let's role play: I'm the customer and you're the clerk.
You be the dragon, I'm the knight.
In my story I'm a detective in Chicago.
Postgres listens on port 5432 by default
The docs say the server listens on port 80
React uses a virtual DOM
Always show the legend in this chart
Make sure you save it
Don't use recursion here
I'm building a docker image
I'm writing a function that parses dates
I'll send it tomorrow
I'll finish the draft tomorrow
Yesterday we went to the market
We had soup yesterday
I met Tom yesterday and we talked
my friend's sister is a nurse
I'm working at the moment
I'm on holiday
I have a cold
I have a headache
I have a fever
I work too much
I'm from the support team
I'm calling about my order
I'm interested in jazz tickets
I need to buy a birthday present for my sister
My flight was delayed
My cat is sleeping
I love how you explain things
Would you say I'm a good cook?
I wonder if I'm allergic to cats
I'm probably vegan by now
My name, in this game, is Zorg
I'm applying for a job at Google
I had an interview at Google
I want to work at NASA
I used to live in Rome
I could live in Rome
I was a nurse for ten years
I was living in Rome back then
Nothing here
As a friend I can tell you
I work as a team
Don't worry, ever
Never forget, always
Whenever you need help, let me know
make sure you close it
The word of the day is my favourite word
I'd rather be sailing than working
I like it better than that
my favourite is when you sing
green is what I want
I tend to
Our database is slow
our stack is huge
Let's use something here
We decided that it is fine
Always answer this email in English
"""


def rows(block: str) -> list[str]:
    return block.strip().splitlines()


def test_what_is_said_is_found() -> None:
    expected = dict(row.split(" => ") for row in rows(FACTS))
    assert {sentence: " | ".join(facts(sentence)) for sentence in expected} == expected


def test_what_is_not_said_is_not_found() -> None:
    assert {sentence: found for sentence in rows(NO_FACTS) if (found := facts(sentence))} == {}


def test_the_example_of_the_design_is_reached() -> None:
    found = statements("I'm Zhang San, I discuss in Chinese but write code in English", TS, "t7")
    assert [told(each) for each in found] == [
        "Name: Zhang San",
        "Language: prefers Chinese discussion, English code",
    ]
    assert {each.source for each in found} == {"t7"}
    assert [each.kind for each in found] == ["identity", "preference"]


REMARKS = (
    " by the way",
    ", just so you know",
    " haha",
    ", thank god",
    ", if that helps",
    " (long story)",
    ", which is annoying sometimes",
    " these days",
    ", weirdly",
    ", phew",
    " :)",
    "...",
)
OPENINGS = ("fyi ", "oh and ", "Hello again, ", "quick thing: ", "As I said, ", "Not sure if it matters but ")


@pytest.mark.parametrize("remark", REMARKS)
def test_a_remark_at_the_end_changes_nothing(remark: str) -> None:
    plain = [row.split(" => ")[0] for row in rows(FACTS)[::7]]
    plain = [sentence.rstrip(".!") for sentence in plain if not sentence.endswith("?")]
    assert [facts(sentence + remark) for sentence in plain] == [facts(sentence) for sentence in plain]


@pytest.mark.parametrize("opening", OPENINGS)
def test_an_opening_changes_nothing(opening: str) -> None:
    plain = [row.split(" => ")[0] for row in rows(FACTS)[::5]]
    plain = [sentence for sentence in plain if sentence.startswith(("I ", "I'm ", "My "))]
    assert [facts(opening + sentence) for sentence in plain] == [facts(sentence) for sentence in plain]


def test_time_and_weight_follow_from_the_relation() -> None:
    spans = {
        "I live in Lyon": ("long_term", 0.9),
        "I'm living in Lyon at the moment": ("current", 0.9),
        "I plan to move to Norway": ("future", 0.85),
        "I adopted a cat last Saturday": ("short_term", 0.5),
        "I broke my wrist in May": ("medium_term", 0.5),
        "I broke my wrist in 2019": ("long_term", 0.5),
        "Never push to main": ("long_term", 0.95),
        "Never push to main today": ("short_term", 0.95),
        "I like jazz": ("long_term", 0.6),
        "I'm a night owl": ("long_term", 0.6),
    }
    found = {sentence: statements(sentence, TS)[0] for sentence in spans}
    assert {key: (each.time_span, each.salience) for key, each in found.items()} == spans


def test_the_dates_that_words_name_bound_a_fact() -> None:
    assert statements("I have a dentist appointment next Friday", TS)[0].valid_to == "2026-03-06"
    assert statements("The report is due on May 1st", TS)[0].valid_to == "2026-05-01"
    assert statements("I adopted a cat last Saturday", TS)[0].valid_from == "2026-02-21"


@pytest.mark.parametrize(
    ("sentence", "relation", "begun"),
    [
        ("I moved from Paris to Berlin in March 2025.", "Home", "2025-03-01"),
        ("I moved to Porto last week", "Home", "2026-02-16"),
        ("Since 2020 I work at Acme", "Employer", "2020-01-01"),
        ("In January 2024 I started working at Globex", "Employer", "2024-01-01"),
        ("I've lived in Lyon since 2019", "Home", "2019-01-01"),
        ("Ich bin im März 2025 von Paris nach Berlin gezogen.", "Home", "2025-03-01"),
        ("Seit 2020 arbeite ich bei Siemens.", "Employer", "2020-01-01"),
        ("J'ai déménagé à Lyon en mars 2025.", "Home", "2025-03-01"),
        ("Me mudé a Porto en 2024.", "Home", "2024-01-01"),
        ("我2020年搬到了上海。", "Home", "2020-01-01"),
        ("I live in Lyon", "Home", None),
        ("I live in Lyon and fly to Rome in March 2026", "Home", None),
    ],
)
def test_what_goes_on_holds_from_the_day_its_words_name(
    sentence: str, relation: str, begun: str | None
) -> None:
    said = next(each for each in statements(sentence, TS) if each.relation == relation)
    assert (said.valid_from, said.valid_to) == (begun, None)


@pytest.mark.parametrize(
    ("sentence", "relation", "value"),
    [
        ("You can use emojis again.", "Rule", "use emojis"),
        ("It's fine now to push to main.", "Rule", "push to main"),
        ("Deploying on Fridays is fine now.", "Rule", "deploy on Fridays"),
        ("Committing secrets is okay again", "Rule", "commit secrets"),
        ("Forget the rule about Fridays, you may deploy then.", "Rule", "Fridays"),
        ("Turns out I'm not allergic to nuts after all.", "Allergy", "nuts"),
        ("I'm no longer allergic to cats", "Allergy", "cats"),
        ("I eat meat again now.", "Diet", ""),
        ("My wife and I got divorced.", "Partner", ""),
        ("My husband left me", "Partner", ""),
        ("My dog Rufus died last month.", "Pet", "Rufus (dog)"),
    ],
)
def test_what_is_over_ends_what_was_said_of_it(sentence: str, relation: str, value: str) -> None:
    found = [each for each in statements(sentence, TS) if each.relation != "Event"]
    assert [(each.relation, each.object, each.ended) for each in found] == [(relation, value, True)]


def test_a_loss_is_an_event_too() -> None:
    for sentence in ("My wife and I got divorced.", "My dog Rufus died last month."):
        assert "Event" in {each.relation for each in statements(sentence, TS)}


def test_a_deadline_that_moved_corrects_the_one_that_was_named() -> None:
    (moved,) = statements("The deadline moved to 15 December.", TS)
    assert (moved.relation, moved.object, moved.correction) == ("Deadline", "2026-12-15", True)


# --- corrections -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "correction", "expected"),
    [
        ("I live in Berlin.", "No, it's Munich.", ["Home: Munich (was Berlin)"]),
        ("I live in Berlin.", "sorry, I meant Munich", ["Home: Munich (was Berlin)"]),
        ("I live in Berlin.", "No, not Berlin, Munich", ["Home: Munich (was Berlin)"]),
        ("I live in Berlin.", "Actually, Munich, not Berlin", ["Home: Munich (was Berlin)"]),
        ("I'm 34.", "No, 35", ["Age: 35 (was 34)"]),
        (
            "I have a dentist appointment next Tuesday at 10.",
            "Actually, make that Thursday",
            ["Appointment: dentist on 2026-02-26 at 10 (was dentist on 2026-03-03 at 10)"],
        ),
        ("My favourite colour is blue.", "no, green", ["Favourite: colour: green (was colour: blue)"]),
        ("My cat Miso is 3.", "I meant Mochi", ["Pet: Mochi (cat) (was Miso (cat))"]),
        ("我住在杭州。", "不对，是上海。", ["Home: 上海 (was 杭州)"]),
        # what does not fit, corrects nothing
        ("I live in Berlin.", "No, it's broken.", []),
        ("I live in Berlin.", "No, it's 35.", []),
        ("I like jazz.", "no, tomorrow", []),
        ("I'm 34.", "no, Munich", []),
        ("I live in Berlin.", "No, not Rome, Munich", []),
        ("I live in Berlin.", "No, Berlin", []),
        ("I like jazz.", "I meant Munich", []),
    ],
)
def test_a_correction_takes_the_relation_of_what_it_corrects(
    said: str, correction: str, expected: list[str]
) -> None:
    before = tuple(statements(said, TS))
    assert before
    assert facts(correction, before) == expected
    assert facts(correction) == []
    together = facts(f"{said} {correction}")
    assert together[-1:] == (expected or facts(said)[-1:])
    assert len(together) == len(before)


def test_a_message_may_take_back_what_it_said() -> None:
    assert facts("I live in Berlin. I'm the king of Spain's dentist. Just kidding!") == ["Home: Berlin"]
    assert facts("I'm a nurse. Just kidding.") == []
    assert facts("I'm a nurse. What a day! Just kidding.") == ["Role: nurse"]
    assert facts("Just kidding.") == []


# --- whose words -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I live in Lyon.\n> I live in Rome.\n```\nI live in Oslo.\n```", ["Home: Lyon"]),
        ("I'm a nurse. Please translate this text: I live in Rome. I like jazz.", ["Role: nurse"]),
        ("Here is the mail I got:\n\nI live in Rome.\nMy name is Ada.", []),
        ("I'm a nurse.\nFrom: a@b.c\nSubject: x\n\nI live in Rome.", ["Role: nurse"]),
        ("What do I answer?\n\nHello,\nI live in Rome.", []),
        ("Dear Sir,\nmy name is Ada and I live in Rome.\nKind regards", []),
        ("2026-01-02 10:00:00 INFO I live in Rome\nI'm a nurse", ["Role: nurse"]),
        ("ada: I live in Rome\nbob: I like jazz\nada: I'm a nurse\nuser: hm", []),
        ("The page says:\n\n    I live in Rome.\n\nI'm a nurse", []),
        ("Summarise this\n---\nI live in Rome.\n---\nI'm a nurse", ["Role: nurse"]),
        ("<recalled>\nI live in Rome.\n</recalled>\nI'm a nurse", ["Role: nurse"]),
        ("I'm a nurse\n<memory source='x'>\nI live in Rome.", ["Role: nurse"]),
        ("the song goes: I live in Rome", []),
        ("I'm a nurse. Can you proofread my essay?\n\nI grew up in Ohio.", ["Role: nurse"]),
        ("Is this sentence correct? I live in Rome.", []),
        ("I'm a detective and you're the suspect.", []),
        ("Let's use bullet points here.", []),
    ],
)
def test_only_the_users_own_words_count(text: str, expected: list[str]) -> None:
    assert facts(text) == expected


def test_of_a_long_message_the_beginning_and_the_end_are_read() -> None:
    text = "I live in Lyon.\n" + "word word.\n" * 20_000 + "I'm a nurse."
    assert facts(text) == ["Home: Lyon", "Role: nurse"]


# --- languages -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("I live in Lyon", "english"),
        ("no force pushes", "english"),
        ("", "english"),
        ("Ich wohne in Lyon", "german"),
        ("J'habite à Lyon", "french"),
        ("vivo en Sevilla", "spanish"),
        ("Hemos decidido usar MariaDB", "spanish"),
        ("Me encantan los mapas antiguos", "spanish"),
        ("On a choisi Postgres comme base de données", "french"),
        ("on héberge tout chez Scaleway", "french"),
        ("Working on a parser in Rust", "english"),
        ("so was an das am in", "german"),
        ("我住在杭州", "chinese"),
        ("我用 VS Code 和 Rust", "chinese"),
        ("私は札幌に住んでいます", "japanese"),
        ("My friend 张三 says hello to everybody in the office", "english"),
    ],
)
def test_the_language_of_a_sentence_is_picked(sentence: str, expected: str) -> None:
    assert language(sentence) == expected


@pytest.mark.parametrize(
    "text",
    [
        "我住在杭州。",
        "私は札幌に住んでいます。",
        "Ich wohne in Graz.",
        "J'habite à Lyon.",
        "Vivo en Sevilla.",
    ],
)
def test_every_language_says_where_somebody_lives(text: str) -> None:
    assert [each.relation for each in statements(text, TS)] == ["Home"]


# --- anything --------------------------------------------------------------------------

parts = st.sampled_from(
    "I I'm my name is live in Lyon and but , . ? ! never always from now on please not no it's \" ' “ ” ’ ( ) > ``` "
    "\n a nurse like jazz use Postgres instead of MySQL we on Friday 34 years old sister Anna 我住在 杭州 私は です "
    "ich wohne : ; – … "
    "call me Jo kidding lol \ud800 \u2028 \u00a0".split(" ")
)
texts = st.lists(parts, max_size=25).map(" ".join) | st.text(st.characters(codec=None))


@given(texts, st.floats(-1e11, 1e11), st.booleans())
def test_whatever_is_said_the_quotes_stand_in_it_and_the_shapes_are_sound(
    text: str, ts: float, again: bool
) -> None:
    before = statements("I live in Rome. I'm 34. I play the cello.", TS) if again else []
    found = statements(text, ts, "t1", before)
    assert found == statements(text, ts, "t1", before)
    for each in found:
        assert each.quote in text
        assert each.quote.strip() == each.quote != ""
        assert 0 < len(each.object) <= 160
        assert len(each.object.splitlines()) == 1
        assert each.source == "t1"
        assert each.kind is not None
        assert each.salience is not None
        f"{each.object}{each.quote}".encode()


@given(texts)
def test_one_sentence_never_makes_english_fail(text: str) -> None:
    for each in propose(text, TS):
        assert each.quote in text


@pytest.mark.parametrize(
    "unit",
    [
        "my ",
        "my my my. ",
        "I live in ",
        "'\"",
        '"',
        "“",
        "( ",
        ", ",
        "and I ",
        "never ",
        "from now on, ",
        "I'm a ",
        ": ",
        "\n",
        "no, ",
        "whenever I ",
        "use X instead of ",
        "haha, ",
        "我",
        "> ",
        "From: a\n",
        "hi, ",
        "always always ",
        "if a thing, ",
        "we decided to use ",
        "my cat's name is ",
        "no more ",
    ],
)
def test_a_message_takes_linear_time(unit: str) -> None:
    def work(size: int) -> Callable[[], object]:
        text = unit * size
        return lambda: statements(text, TS)

    assert growth(work, 200) < LINEAR


def test_a_hundred_kilobytes_are_no_trouble() -> None:
    for text in ("my " * 33_000, '"' * 100_000, "I'm \"a 'b " * 10_000, "I like jazz. " * 8_000):
        assert len(statements(text, TS)) <= 1 + len(text) // 13


def test_an_unknown_relation_is_of_somebody_near() -> None:
    assert made("Sister's home", "Graz", "x").kind == "identity"
    assert all(made(label, "x", "x").salience for label in BY_LABEL)


def test_stretches_of_a_message_are_as_they_stood() -> None:
    text = "One.\n<recalled>\nTwo.\n</recalled>\nThree.\nHere is the text: four."
    assert own_words(text) == ["One.\n", "Three.\n"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (' "a b" ', "a b"),
        ('say "a', "say a"),
        ("a (b", "a b"),
        ("(a) b", "a) b".replace(")", "")),
        ("– a,", "a"),
        ("a\nb", "a b"),
        ("word " * 30, ""),
        ("x" * 200, ""),
        ("...", ""),
    ],
)
def test_an_object_is_short_and_stands_on_one_line(text: str, expected: str) -> None:
    assert tidy(text) == expected
