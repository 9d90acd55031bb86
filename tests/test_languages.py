"""What sentences in five languages state about the one who says them, and what they do not."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from importlib import import_module

import pytest
from hypothesis import given
from hypothesis import strategies as st

from growth import LINEAR, growth
from looseleaf.core.relations import BY_LABEL
from looseleaf.distill.languages import tongues
from looseleaf.distill.languages.forms import LONGEST, read
from looseleaf.talk import Proposal

NOW = datetime(2026, 2, 26, 12, tzinfo=UTC).timestamp()
"""A Thursday."""

# A sentence, and what it states; several facts stand between bars, several sentences between strokes.
FACTS = {
    "german": """
Ich spreche Deutsch, Englisch und ein bisschen Polnisch. -> Speaks: Deutsch | Speaks: Englisch | Speaks: Polnisch
Ich habe morgen um 10 Uhr einen Zahnarzttermin. -> Appointment: Zahnarzttermin am 2026-02-27 um 10 Uhr
Ich arbeite bei Siemens als Softwareentwickler. -> Employer: Siemens | Role: Softwareentwickler
Mein Name ist Anna von Stein und ich bin 34 Jahre alt. -> Name: Anna von Stein | Age: 34
Wir sind von GitHub zu GitLab gewechselt. -> Decision: GitLab statt GitHub (was GitHub)
Mein Bruder heißt Jonas und wohnt in Zürich. -> Sibling: Jonas | Brother's home: Zürich
Nächsten Freitag fliege ich nach Lissabon. -> Plan: am 2026-03-06 nach Lissabon fliegen
Gestern habe ich eine Katze adoptiert. -> Event: am 2026-02-25 eine Katze adoptiert
Lass uns lieber Vue statt React verwenden. -> Framework: Vue (was React)
Hallo, ich bin Lena, 28, aus Hamburg. -> Name: Lena | Age: 28 | Hometown: Hamburg
Meine Schwester Julia wohnt in Bremen. -> Sibling: Julia | Sister's home: Bremen
Ich arbeite als Krankenschwester in einem Krankenhaus. -> Role: Krankenschwester
Ich bin letzten Monat von Köln nach München gezogen. -> Home: München (was Köln)
Ich mag Jazz und lange Spaziergänge. -> Likes: Jazz | Likes: lange Spaziergänge
Die Abgabefrist für den Antrag ist der 1. Mai. -> Deadline: 2026-05-01, Antrag / Ich spiele Klavier. -> Skill: Klavier
Wir nehmen Postgres statt MySQL. -> Database: Postgres (was MySQL)
Ich bin allergisch gegen Nüsse und Gluten. -> Allergy: Nüsse | Allergy: Gluten
Statt Jira nutzen wir jetzt Linear. -> Decision: Linear statt Jira (was Jira)
Wir benutzen jetzt uv statt poetry. -> Package manager: uv (was poetry)
Mein Ziel ist es, einen Roman zu schreiben. -> Goal: einen Roman zu schreiben
Ich studiere Physik an der TU Dresden. -> Education: Physik an der TU Dresden
Ich arbeite an einem Compiler für Lua. -> Works on: einem Compiler für Lua
Meine Frau Sabine ist Ärztin. -> Partner: Sabine | Wife's role: Ärztin / Wir setzen auf FastAPI. -> Framework: FastAPI
Ich benutze Neovim und Arch Linux. -> Uses: Neovim | Uses: Arch Linux / Meine Schwester heißt Julia. -> Sibling: Julia
Meine Tochter Mia ist 4 Jahre alt. -> Child: Mia | Daughter's age: 4 / Der Server läuft auf Port 8080. -> Port: 8080
Wir verwenden pnpm statt npm. -> Package manager: pnpm (was npm) / Ich mag keinen Koriander. -> Dislikes: Koriander
wohne jetzt in Graz, nicht mehr in Wien -> Home: Graz (was Wien) / Unser Hauptbranch heißt develop. -> Branch: develop
Bitte antworte immer auf Deutsch. -> Language: Deutsch / Ich bin verheiratet. -> Marital status: verheiratet
Nie direkt auf main pushen. -> Rule: Nie direkt auf main pushen / Mein Mann arbeitet als Koch. -> Husband's role: Koch
Wir verwenden PostgreSQL als Datenbank. -> Database: PostgreSQL / Ich habe am 3. Mai Geburtstag. -> Birthday: 3. Mai
Ich heiße nicht Peter, sondern Paul. -> Name: Paul (was Peter) / Ich habe Heuschnupfen. -> Condition: Heuschnupfen
Ich arbeite nicht mehr bei Bosch. -> Employer: Bosch (no more) / Ich wohne seit 2019 in Leipzig. -> Home: Leipzig
Ich trinke lieber Tee als Kaffee. -> Prefers: Tee als Kaffee / Mein Chef heißt Thomas Meier. -> Manager: Thomas Meier
Nein, ich heiße Anna, nicht Anne. -> Name: Anna (was Anne) / Ich benutze kein Windows mehr. -> Uses: Windows (no more)
Unser Projekt steht unter der MIT-Lizenz. -> Licence: MIT / Ich wohne nicht mehr in Berlin. -> Home: Berlin (no more)
Meine Lieblingsfarbe ist Grün. -> Favourite: farbe: Grün / In meiner Freizeit spiele ich Schach. -> Hobby: Schach
Ich bin Österreicherin. -> Nationality: Österreicherin / Wir hosten auf Hetzner. -> Hosting: Hetzner
Ich bin Vegetarierin. -> Diet: Vegetarierin / Ich habe drei Kinder. -> Child: drei Kinder
Mein Hund heißt Bello. -> Pet: Bello (Hund) / Ich heiße Jürgen Weiß. -> Name: Jürgen Weiß
Ich bin Linkshänder. -> Trait: Linkshänder
""",
    "french": """
J'ai rendez-vous chez le dentiste demain à 10h. -> Appointment: rendez-vous chez le dentiste le 2026-02-27 à 10h
Je parle français, anglais et un peu d'espagnol. -> Speaks: français | Speaks: anglais | Speaks: espagnol
Bonjour, je suis Marc, j'ai 42 ans et j'habite à Lyon. -> Name: Marc | Age: 42 | Home: Lyon
On utilise maintenant uv au lieu de poetry. -> Package manager: uv (was poetry)
Mon frère s'appelle Jonas et habite à Genève. -> Sibling: Jonas | Brother's home: Genève
Je suis allergique aux arachides et au lactose. -> Allergy: arachides | Allergy: lactose
Utilisons Postgres au lieu de MySQL. -> Database: Postgres (was MySQL)
On est passés de GitHub à GitLab. -> Decision: GitLab au lieu de GitHub (was GitHub)
Je suis née le 3 mars 1991 à Toulouse. -> Birthday: 3 mars 1991 | Hometown: Toulouse
Au lieu de Jira, on utilise Linear. -> Decision: Linear au lieu de Jira (was Jira)
La date limite pour le dossier est le 1er mai. -> Deadline: 2026-05-01, dossier / Je joue du piano. -> Skill: du piano
Je travaille sur un compilateur pour Lua. -> Works on: un compilateur pour Lua / J'ai une fille, Emma. -> Child: Emma
Vendredi prochain je pars à Lisbonne. -> Plan: partir à Lisbonne le 2026-02-27 / Je suis gaucher. -> Trait: gaucher
J'ai déménagé de Paris à Nantes le mois dernier. -> Home: Nantes (was Paris)
Je vis en Belgique avec ma femme Claire. -> Home: Belgique | Partner: Claire
Notre repo est sur github.com/acme/app. -> Repository: github.com/acme/app / Je suis mariée. -> Marital status: mariée
On utilise pnpm au lieu de npm. -> Package manager: pnpm (was npm) / Ma sœur s'appelle Inès. -> Sibling: Inès
Nous utilisons PostgreSQL comme base de données. -> Database: PostgreSQL / Je suis végétarienne. -> Diet: végétarienne
J'adore le jazz et la randonnée. -> Likes: le jazz | Likes: la randonnée
J'habite maintenant à Bordeaux, plus à Pau -> Home: Bordeaux (was Pau) / Je travaille chez Airbus. -> Employer: Airbus
J'étudie le droit à la Sorbonne. -> Education: le droit à la Sorbonne / Je suis canadienne. -> Nationality: canadienne
Ma sœur Inès habite à Lille. -> Sibling: Inès | Sister's home: Lille / Le projet est sous licence MIT. -> Licence: MIT
Je ne m'appelle pas Paul, mais Pierre. -> Name: Pierre (was Paul) / Nous hébergeons le projet sur OVH. -> Hosting: OVH
Hier, j'ai adopté un chat. -> Event: adopté un chat le 2026-02-25 / Je déteste les réunions. -> Dislikes: les réunions
Je ne travaille plus chez Renault. -> Employer: Renault (no more) / Je ne suis plus végane. -> Diet: végane (no more)
Réponds-moi toujours en français. -> Language: français / Le serveur tourne sur le port 8080. -> Port: 8080
Mon objectif est de publier un livre. -> Goal: publier un livre / Mon fils Hugo a 7 ans. -> Child: Hugo | Son's age: 7
Ma couleur préférée est le vert. -> Favourite: couleur: le vert / Mon mari est médecin. -> Husband's role: médecin
Notre branche principale s'appelle develop. -> Branch: develop / Mon chef s'appelle Luc Martin. -> Manager: Luc Martin
Je travaille comme infirmière à l'hôpital. -> Role: infirmière / Je n'utilise plus Windows. -> Uses: Windows (no more)
Ne pousse jamais sur main. -> Rule: Ne pousse jamais sur main / Je m'appelle Zoé Lefèvre. -> Name: Zoé Lefèvre
Je préfère le thé au café. -> Prefers: le thé plutôt que café / Je suis diabétique. -> Condition: diabétique
Mon anniversaire est le 14 juillet. -> Birthday: 14 juillet / Ma fille Léa a 4 ans. -> Child: Léa | Daughter's age: 4
J'ai démissionné de chez Lidl. -> Employer: Lidl (no more) / Mon chien s'appelle Rex. -> Pet: Rex (chien)
Non, je m'appelle Anna, pas Anne. -> Name: Anna (was Anne)
J'utilise Neovim et Fedora. -> Uses: Neovim | Uses: Fedora
Je n'habite plus à Marseille. -> Home: Marseille (no more)
""",
    "spanish": """
Tengo cita con el dentista mañana a las 10. -> Appointment: cita con el dentista el 2026-02-27 a las 10
Hablo español, inglés y un poco de francés. -> Speaks: español | Speaks: inglés | Speaks: francés
Hola, soy Marta, tengo 31 años y vivo en Sevilla. -> Name: Marta | Age: 31 | Home: Sevilla
Mi hermano se llama Jonás y vive en Ginebra. -> Sibling: Jonás | Brother's home: Ginebra / Llámame Pepe. -> Name: Pepe
Nací el 3 de marzo de 1991 en Bogotá. -> Birthday: 3 de marzo de 1991 | Hometown: Bogotá / Soy zurdo. -> Trait: zurdo
La fecha límite para la solicitud es el 1 de mayo. -> Deadline: 2026-05-01, solicitud
Soy alérgico a los cacahuetes y al marisco. -> Allergy: cacahuetes | Allergy: marisco
Hemos pasado de GitHub a GitLab. -> Decision: GitLab en vez de GitHub (was GitHub) / Toco el piano. -> Skill: el piano
Usemos Postgres en vez de MySQL. -> Database: Postgres (was MySQL)
Ahora usamos uv en vez de poetry. -> Package manager: uv (was poetry) / Tengo una hija, Emma. -> Child: Emma
Estoy trabajando en un compilador para Lua. -> Works on: un compilador para Lua
En vez de Jira usamos Linear. -> Decision: Linear en vez de Jira (was Jira) / Soy argentina. -> Nationality: argentina
Estudio Derecho en la Complutense. -> Education: Derecho en la Complutense / Estoy casada. -> Marital status: casada
El próximo viernes viajo a Lisboa. -> Plan: viajar a Lisboa el 2026-02-27 / Mi hermana se llama Inés. -> Sibling: Inés
Vivo en Valencia con mi mujer Clara. -> Home: Valencia | Partner: Clara / Mi perro se llama Toby. -> Pet: Toby (perro)
Usamos pnpm en lugar de npm. -> Package manager: pnpm (was npm) / Ya no uso Windows. -> Uses: Windows (no more)
Me encanta el jazz y la montaña. -> Likes: el jazz | Likes: la montaña / Alojamos todo en Hetzner. -> Hosting: Hetzner
Me mudé de Madrid a Bilbao el mes pasado. -> Home: Bilbao (was Madrid) / Ya no soy vegana. -> Diet: vegana (no more)
Mi hermana Inés vive en Vigo. -> Sibling: Inés | Sister's home: Vigo / Odio las reuniones. -> Dislikes: las reuniones
Ahora vivo en Málaga, ya no en Cádiz -> Home: Málaga (was Cádiz) / El proyecto está bajo licencia MIT. -> Licence: MIT
He renunciado a mi trabajo en Lidl. -> Employer: Lidl (no more) / El servidor escucha en el puerto 8080. -> Port: 8080
Respóndeme siempre en español. -> Language: español / Mi jefe se llama Luis Martín. -> Manager: Luis Martín
Mi hija Lola tiene 4 años. -> Child: Lola | Daughter's age: 4 / Ya no trabajo en Repsol. -> Employer: Repsol (no more)
Usamos PostgreSQL como base de datos. -> Database: PostgreSQL / Ya no vivo en Barcelona. -> Home: Barcelona (no more)
Mi objetivo es publicar un libro. -> Goal: publicar un libro / No me llamo Paco, sino Pedro. -> Name: Pedro (was Paco)
Mi color favorito es el verde. -> Favourite: color: el verde / Uso Neovim y Fedora. -> Uses: Neovim | Uses: Fedora
Nuestra rama principal se llama develop. -> Branch: develop / Mi hijo Hugo tiene 7 años. -> Child: Hugo | Son's age: 7
Ayer adopté un gato. -> Event: adopté un gato el 2026-02-25 / Prefiero el té al café. -> Prefers: el té antes que café
Nunca hagas push a main. -> Rule: Nunca hagas push a main / Trabajo como enfermera en un hospital. -> Role: enfermera
Mi cumpleaños es el 14 de julio. -> Birthday: 14 de julio / No, me llamo Ana, no Anna. -> Name: Ana (was Anna)
Mi marido es médico. -> Husband's role: médico / Trabajo en Telefónica. -> Employer: Telefónica
Me llamo Íñigo Álvarez. -> Name: Íñigo Álvarez / Soy diabética. -> Condition: diabética
Soy vegetariana. -> Diet: vegetariana
""",
    "chinese": """
我是张三，用中文讨论，但写代码用英文。 -> Name: 张三 | Language: prefers Chinese discussion, English code
我是李雷，今年30岁，住在杭州，是一名软件工程师。 -> Name: 李雷 | Age: 30 | Home: 杭州 | Role: 软件工程师
我们改用 Postgres，不用 MySQL 了。 -> Database: Postgres (was MySQL) / 我的生日是5月3日。 -> Birthday: 5月3日
我会说中文、英语和一点日语。 -> Speaks: 中文 | Speaks: 英语 | Speaks: 日语 / 我们的项目部署在阿里云 -> Hosting: 阿里云
我们从 GitHub 换到了 GitLab -> Decision: GitLab代替GitHub (was GitHub) / 我不叫李明，我叫李鸣 -> Name: 李鸣 (was 李明)
我妹妹是护士，住在广州。 -> Sister's role: 护士 | Sister's home: 广州 / 我不再用 Windows 了 -> Uses: Windows (no more)
我弟弟叫小杰，住在日内瓦 -> Sibling: 小杰 | Brother's home: 日内瓦 / 不，我叫王芳，不是王方。 -> Name: 王芳 (was 王方)
我明天下午三点要看牙医。 -> Appointment: 2026-02-27 下午三点看牙医 / 我在清华大学读物理。 -> Education: 清华大学读物理
我们现在用 uv 代替 poetry -> Package manager: uv (was poetry) / 我喜欢爵士乐和爬山。 -> Likes: 爵士乐 | Likes: 爬山
我用 Neovim 和 Arch Linux。 -> Uses: Neovim | Uses: Arch Linux / 下周五我要去上海出差。 -> Plan: 2026-03-06 去上海出差
不要直接推送到 main 分支。 -> Rule: 不要直接推送到 main 分支 / 我们用 pnpm 代替 npm -> Package manager: pnpm (was npm)
我现在住在深圳南山，不在广州了 -> Home: 深圳南山 (was 广州) / 我昨天领养了一只猫。 -> Event: 2026-02-25 领养了一只猫
论文的截止日期是5月1日。 -> Deadline: 2026-05-01, 论文 / 我们用 PostgreSQL 作为数据库。 -> Database: PostgreSQL
我对花生和海鲜过敏。 -> Allergy: 花生 | Allergy: 海鲜 / 我上个月从北京搬到了成都。 -> Home: 成都 (was 北京)
我已经不在百度工作了。 -> Employer: 百度 (no more) / 我最喜欢的颜色是绿色。 -> Favourite: 颜色: 绿色
比起咖啡，我更喜欢茶。 -> Prefers: 茶而不是咖啡 / 我在写一个 Lua 编译器 -> Works on: Lua 编译器
我不用 Windows 了 -> Uses: Windows (no more) / 我有一辆大众高尔夫 -> Owns: 一辆大众高尔夫
我的目标是出版一本书。 -> Goal: 出版一本书 / 我不住在上海了。 -> Home: 上海 (no more)
我妹妹住在广州。 -> Sister's home: 广州 / 我不再吃素了 -> Diet: 吃素 (no more)
我老公是厨师 -> Husband's role: 厨师 / 主分支叫 develop -> Branch: develop
我们项目用 MIT 协议 -> Licence: MIT / 我妈妈是老师 -> Mother's role: 老师
我老婆是医生。 -> Wife's role: 医生 / 我是中国人。 -> Nationality: 中国人
我女儿今年4岁 -> Daughter's age: 4 / 我有糖尿病。 -> Condition: 糖尿病
我有两个孩子。 -> Child: 两个孩子 / 后端跑在 8080 端口 -> Port: 8080
我已婚。 -> Marital status: 已婚 / 我的狗叫旺财。 -> Pet: 旺财 (狗)
我在腾讯工作。 -> Employer: 腾讯 / 我妹妹叫小红。 -> Sibling: 小红
我讨厌开会。 -> Dislikes: 开会 / 我来自四川。 -> Hometown: 四川
我老板叫王磊 -> Manager: 王磊 / 我是夜猫子。 -> Trait: 夜猫子
我会弹钢琴。 -> Skill: 弹钢琴 / 我叫张三。 -> Name: 张三
我今年28岁。 -> Age: 28 / 我吃素。 -> Diet: 吃素
""",
    "japanese": """
MySQLではなくPostgresを使うことにしました。 -> Database: Postgres (was MySQL) / 28歳です。 -> Age: 28
日本語と英語と少し中国語が話せます。 -> Speaks: 日本語 | Speaks: 英語 | Speaks: 中国語 / 夜型です。 -> Trait: 夜型
MySQLの代わりにPostgresを使います。 -> Database: Postgres (was MySQL) / 息子は7歳です。 -> Son's age: 7
GitHubからGitLabに移行しました。 -> Decision: GitHubの代わりにGitLab (was GitHub) / 娘は4歳です。 -> Daughter's age: 4
明日の午後3時に歯医者の予約があります。 -> Appointment: 2026-02-27 午後3時歯医者 / ピアノが弾けます。 -> Skill: ピアノ
poetryの代わりにuvを使っています。 -> Package manager: uv (was poetry) / 妻は医者です。 -> Wife's role: 医者
弟の健はジュネーブに住んでいます。 -> Sibling: 健 | Brother's home: ジュネーブ / ライセンスはMITです。 -> Licence: MIT
npmの代わりにpnpmを使っています。 -> Package manager: pnpm (was npm) / ベジタリアンです。 -> Diet: ベジタリアン
絶対にmainに直接pushしないでください。 -> Rule: 絶対にmainに直接pushしない / 誕生日は5月3日です。 -> Birthday: 5月3日
NeovimとArch Linuxを使っています。 -> Uses: Neovim | Uses: Arch Linux / 夫は料理人です。 -> Husband's role: 料理人
妹の花子は大阪に住んでいます。 -> Sibling: 花子 | Sister's home: 大阪 / トヨタで働いています。 -> Employer: トヨタ
来週の金曜日に大阪へ出張します。 -> Plan: 2026-03-06 大阪へ出張する / メインブランチはdevelopです。 -> Branch: develop
昨日、猫を引き取りました。 -> Event: 2026-02-25 猫を引き取りました / サービスはAWSで運用しています。 -> Hosting: AWS
データベースにはPostgreSQLを使っています。 -> Database: PostgreSQL / 私の名前は田中太郎です。 -> Name: 田中太郎
もうベジタリアンではありません。 -> Diet: ベジタリアン (no more) / 趣味は読書と料理です。 -> Hobby: 読書 | Hobby: 料理
Lua用のコンパイラを作っています。 -> Works on: Lua用のコンパイラ / 大学で物理学を専攻しています。 -> Education: 物理学
コーヒーより紅茶の方が好きです。 -> Prefers: コーヒーより紅茶 / 目標は本を出版することです。 -> Goal: 本を出版すること
先月、東京から福岡に引っ越しました。 -> Home: 福岡 (was 東京) / サーバーは8080番ポートで動いています。 -> Port: 8080
もうソニーでは働いていません。 -> Employer: ソニー (no more) / もう大阪には住んでいません。 -> Home: 大阪 (no more)
ジャズと山登りが好きです。 -> Likes: ジャズ | Likes: 山登り / もうWindowsは使っていません。 -> Uses: Windows (no more)
妹は看護師で、大阪に住んでいます。 -> Sister's role: 看護師 / 私は30歳で、東京に住んでいます。 -> Age: 30 | Home: 東京
論文の締め切りは5月1日です。 -> Deadline: 2026-05-01, 論文 / 日本語で答えてください。 -> Language: 日本語
結婚しています。 -> Marital status: 結婚しています / 上司の名前は佐藤です。 -> Manager: 佐藤
糖尿病があります。 -> Condition: 糖尿病 / 好きな色は緑です。 -> Favourite: 色: 緑
私は日本人です。 -> Nationality: 日本人 / ゴルフに乗っています。 -> Owns: ゴルフ
犬の名前はポチです。 -> Pet: ポチ (犬) / 出身は北海道です。 -> Hometown: 北海道
母は教師です。 -> Mother's role: 教師 / そばアレルギーです。 -> Allergy: そば
子供が二人います。 -> Child: 子供二人 / 妹の名前は花子です。 -> Sibling: 花子
会議が嫌いです。 -> Dislikes: 会議 / 私は看護師です。 -> Role: 看護師
""",
}

NO_FACTS = {
    "german": """
Ich bin müde. / Ich bin gleich wieder da. / Wohnst du in Berlin?
Wenn ich in Berlin wohnen würde, wäre ich glücklich. / Stell dir vor, ich bin Pilot.
Mein Bruder sagt, ich bin Pilot. / Du bist ein Pirat. / Ich bin der König von Preußen, haha.
Bitte übersetze diesen Satz: Ich wohne in Rom. / Ich habe Hunger. / Ich suche ein Hotel in Paris. / Ich bin kein Arzt.
Ich wohne nicht in Berlin. / Ich habe keine Kinder. / Ich habe keinen Hund.
Schreib mir bitte ein Gedicht über den Herbst. / Kannst du mir helfen? / Das mag ich. / Ich liebe es!
Ich mag deine Antwort. / Ich habe eine Frage. / Ich arbeite gerade an einem Fehler. / Ich brauche Hilfe bei Python.
Immer noch der gleiche Fehler. / Sie wohnt in Berlin. / Ich war in Paris. / Ich bin in Paris. / Ich bin fertig, danke.
Ich bin gespannt. / Er heißt Klaus. / Ich habe heute viel gemacht. / Nenn mich nicht Schatz.
Ich bin der neue Kollege. / Ich bin ein großer Fan von dir. / Ich bin schon 30 Minuten hier.
Ich wohne gleich um die Ecke. / Ich arbeite heute von zu Hause. / Ich mag, wie du das erklärst. / Ich liebe dich.
Ich esse gerade Pizza. / Ich komme gleich. / Ich komme aus dem Urlaub zurück. / Ich komme nicht weiter.
Ich habe einen Fehler in der Datei. / Ich bin mir nicht sicher. / Ich bin Kunde bei der Telekom.
Wenn ich groß bin, werde ich Pilot. / „Ich wohne in Paris und bin Pilot“, steht auf dem Plakat.
Mein Chef meint, ich sei zu langsam. / Schreib einen Brief: Ich heiße Hans und wohne in Ulm. / Ich verwende das nicht.
Ich nutze die Gelegenheit. / Danke, das ist nett. / Warum mag ich keinen Käse / Das darf nie passieren.
Das passiert immer wieder. / Ich habe das nie verstanden. / Immer wenn ich starte, stürzt es ab.
Lösche die Datei bitte nicht. / Bitte nicht so lang. / Ich habe einen Bug in meinem Python-Skript gefunden.
Ich verwende diese Funktion, um Daten zu laden. / Ich nutze folgenden Code.
Ich bin auf der Suche nach einem Restaurant. / Ich brauche bis morgen eine Zusammenfassung.
Ich habe gestern mit dem Support telefoniert. / Die Tests laufen nicht durch.
Der Server antwortet nicht auf Port 80. / Mach bitte weiter. / Nimm die zweite Variante.
Ich hätte gern mehr Details. / Fass den Text zusammen. / Ich mag diesen Vorschlag nicht.
Bitte lösche die letzte Zeile. / Wir treffen uns gleich.
""",
    "french": """
Je suis fatigué. / Je suis de retour. / Tu habites où ? / Si j'habitais à Rome, je serais heureux.
Imagine que je suis pilote. / Mon frère dit que je suis pilote. / Tu es un pirate. / Je suis le roi de France, mdr.
Traduis cette phrase : j'habite à Rome. / J'ai faim. / Je cherche un hôtel à Paris. / Je ne suis pas médecin.
Je n'habite pas à Berlin. / Je n'ai pas d'enfants. / Écris-moi un poème. / J'aime bien ta réponse.
J'ai une question. / Je travaille sur un bug. / J'ai besoin d'aide. / Elle habite à Lille. / J'étais à Paris.
Je suis à Paris. / Je suis désolé. / J'aimerais vivre au Japon. / Je suis prêt. / J'ai terminé.
J'ai fini le rapport hier. / Je suis en train de lire. / Je suis un grand fan de toi. / Je suis là depuis 30 minutes.
J'habite à côté. / Je travaille à la maison aujourd'hui. / J'aime comment tu expliques. / Je t'aime.
Je mange une pizza. / J'arrive. / Je viens de finir. / Je viens de Paris en train ce matin. / Je n'y arrive pas.
J'ai une erreur dans le fichier. / Je ne suis pas sûr. / Je suis client chez Orange.
Quand je serai grand, je serai pilote. / « J'habite à Paris et je suis pilote », dit l'affiche.
Mon chef dit que je suis lent. / Écris une lettre : je m'appelle Hans et j'habite à Ulm. / Je n'utilise pas ça.
J'ai toujours le même problème. / Ça marche jamais. / Je n'ai jamais compris. / Ne supprime pas ce fichier.
Merci beaucoup. / Je voudrais une réponse courte. / Je suis au bureau. / C'est toujours pareil. / Je préfère attendre.
J'ai trouvé un bug dans mon script Python. / J'utilise cette fonction pour charger les données.
J'utilise le code suivant. / Je suis à la recherche d'un restaurant. / J'ai besoin d'un résumé pour demain.
Hier j'ai appelé le support. / Les tests ne passent pas. / Continue s'il te plaît. / Prends la deuxième option.
J'aime bien cette idée. / Je n'aime pas cette proposition. / Supprime la dernière ligne. / On est lundi.
Ma question est simple. / Mon code est cassé. / Je suis ravi du résultat. / Je suis d'accord. / Je suis pressé.
Je suis dans le train pour Lyon.
""",
    "spanish": """
Estoy cansado. / Ya volví. / ¿Dónde vives? / Si viviera en Roma, sería feliz. / Imagina que soy piloto.
Mi hermano dice que soy piloto. / Eres un pirata. / Soy el rey de España, jajaja. / Traduce esta frase: vivo en Roma.
Tengo hambre. / Busco un hotel en París. / No soy médico. / No vivo en Berlín. / No tengo hijos. / Escríbeme un poema.
Me gusta tu respuesta. / Tengo una pregunta. / Estoy trabajando en un bug. / Necesito ayuda. / Ella vive en Vigo.
Estuve en París. / Estoy en París. / Lo siento. / Me gustaría vivir en Japón. / Estoy listo.
Siempre me pasa lo mismo. / Nunca he estado en Roma. / Soy yo otra vez. / Soy muy fan tuyo. / No estoy casada.
Llevo aquí 30 minutos. / Vivo al lado. / Hoy trabajo desde casa. / Me gusta cómo lo explicas. / Te quiero.
Estoy comiendo pizza. / Ya voy. / Vengo de la oficina. / No me sale. / Tengo un error en el archivo.
No estoy seguro. / Soy cliente de Movistar. / Cuando sea mayor seré piloto.
«Vivo en París y soy piloto», dice el cartel. / Mi jefe dice que soy lento.
Escribe una carta: me llamo Hans y vivo en Ulm. / No uso eso. / Siempre tengo el mismo problema. / Nunca funciona.
Nunca lo he entendido. / No borres este archivo. / Muchas gracias. / Quiero una respuesta corta.
Estoy en la oficina. / Soy nuevo aquí. / Soy consciente del problema. / Tengo 20 años de experiencia. / Soy el mejor.
He encontrado un error en mi script de Python. / Uso esta función para cargar los datos. / Uso el siguiente código.
Estoy buscando un restaurante. / Necesito un resumen para mañana. / Ayer llamé al soporte. / Las pruebas no pasan.
Continúa por favor. / Elige la segunda opción. / Me gusta esta idea. / No me gusta esta propuesta.
Borra la última línea. / Hoy es lunes. / Mi pregunta es sencilla. / Mi código está roto.
Estoy encantado con el resultado. / Estoy de acuerdo.
""",
    "chinese": """
我累了。 / 我回来了。 / 你住在哪里？ / 如果我住在北京就好了。 / 想象一下我是飞行员。 / 我哥哥说我是飞行员。
你是一个海盗。 / 我是秦始皇，哈哈。 / 请翻译这句话：我住在罗马。 / 我饿了。 / 我在找酒店。 / 我不是医生。
我不住在北京。 / 我没有孩子。 / 给我写一首诗。 / 我喜欢你的回答。 / 我有一个问题。 / 我在修一个bug。 / 我需要帮助。
她住在广州。 / 我在巴黎。 / 我去过巴黎。 / 对不起。 / 我想住在日本。 / 不要担心。 / 我是来问问题的。
我用了你的方法。 / 我是你的忠实粉丝 / 我没结婚 / 我在这里等了30分钟 / 我住得很近 / 我今天在家工作 / 我喜欢你这样解释
我爱你 / 我在吃披萨 / 我马上来 / 我做不到 / 我的文件里有个错误 / 我不确定 / 我是客户 / 等我长大了我要当飞行员
“我住在巴黎，我是飞行员”，海报上写着 / 老板说我太慢 / 写一封信：我叫汉斯，住在乌尔姆 / 我不用那个 / 总是出现同样的错误
我从来没懂过 / 不要删除这个文件 / 谢谢 / 我想要一个简短的回答 / 我在公司 / 我是新来的 / 我有20年经验 / 我是最棒的
我用一下这个 / 请帮我写一段代码 / 我要订一张票 / 我在Python脚本里发现了一个bug / 我用这个函数加载数据 / 我用下面的代码
我在找一家餐厅 / 我明天之前需要一个总结 / 我昨天给客服打了电话 / 测试没通过 / 请继续 / 选第二个方案 / 我喜欢这个想法
我不喜欢这个提案 / 删除最后一行 / 今天是星期一 / 我的问题很简单 / 我的代码坏了 / 我对结果很满意 / 我同意 / 我赶时间
""",
    "japanese": """
疲れました。 / ただいま戻りました。 / どこに住んでいますか？ / もし東京に住んでいたら楽しいのに。
私がパイロットだと想像してください。 / 兄は私がパイロットだと言っていました。 / あなたは海賊です。
私は王様です（笑） / この文を翻訳してください：私はローマに住んでいます。 / お腹が空きました。
ホテルを探しています。 / 私は医者ではありません。 / 東京には住んでいません。 / 子供はいません。 / 詩を書いてください。
質問があります。 / バグを直しています。 / 助けてください。 / パリにいます。 / パリに行ったことがあります。
すみません。 / 日本に住みたいです。 / 心配しないでください。 / ありがとうございます。 / これが好きです。
要約してください。 / 私はあなたのファンです。 / 結婚していません。 / 30分待っています。 / 近くに住んでいます。
今日は家で働いています。 / あなたの説明が好きです。 / ピザを食べています。 / すぐ行きます。 / 未来から来ました。
できません。 / ファイルにエラーがあります。 / よくわかりません。 / 大人になったらパイロットになりたい。
「パリに住んでいます。パイロットです」とポスターに書いてある。 / 上司に遅いと言われました。
手紙を書いてください：私はハンスで、ウルムに住んでいます。 / それは使っていません。 / いつも同じエラーが出ます。
このファイルを削除しないでください。 / 会社にいます。 / 新人です。 / 20年の経験があります。 / コードを書いてください。
チケットを予約したいです。 / とても助かります。 / 学生の頃、京都に住んでいました。
Pythonスクリプトにバグを見つけました。 / この関数を使っています。 / 次のコードを使っています。
レストランを探しています。 / 明日までに要約が必要です。 / 昨日サポートに電話しました。 / テストが通りません。
続けてください。 / 二番目の案にしてください。 / このアイデアが好きです。 / この提案は好きではありません。
最後の行を削除してください。 / 今日は月曜日です。 / 質問は簡単です。 / コードが壊れています。 / 結果に満足です。
賛成です。 / 急いでいます。 / 北京行きの電車に乗っています。 / 明日は北京に行きません。 / 彼はピザが好きです。
ローマに引っ越すかもしれません。 / 質問が二つあります。
""",
}

LANGUAGES = tuple(FACTS)


def entries(table: dict[str, str]) -> list[tuple[str, str]]:
    return [
        (name, entry)
        for name in LANGUAGES
        for line in table[name].strip().splitlines()
        for entry in line.split(" / ")
    ]


STATED = [(name, *entry.split(" -> ")) for name, entry in entries(FACTS)]
SAID_IN_VAIN = entries(NO_FACTS)


def propose(language: str, sentence: str) -> list[Proposal]:
    said: Callable[[str, float], list[Proposal]] = import_module(
        f"looseleaf.distill.languages.{language}"
    ).propose
    return said(sentence, NOW)


def shown(proposal: Proposal) -> str:
    was = f" (was {proposal.was})" if proposal.was else ""
    return f"{proposal.relation}: {proposal.object}{was}{' (no more)' if proposal.ended else ''}"


def only(language: str, sentence: str) -> Proposal:
    (proposal,) = propose(language, sentence)
    return proposal


@pytest.mark.parametrize(("language", "sentence", "facts"), STATED)
def test_a_sentence_states_these_facts_and_no_others(language: str, sentence: str, facts: str) -> None:
    assert [shown(each) for each in propose(language, sentence)] == facts.split(" | ")


@pytest.mark.parametrize(("language", "sentence"), SAID_IN_VAIN)
def test_a_sentence_that_states_no_fact_gives_none(language: str, sentence: str) -> None:
    assert propose(language, sentence) == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_there_are_examples_enough_of_both_kinds(language: str) -> None:
    assert sum(name == language for name, *_ in STATED) >= 40
    assert sum(name == language for name, _ in SAID_IN_VAIN) >= 20


def is_sound(proposal: Proposal, sentence: str) -> bool:
    known = BY_LABEL.get(proposal.relation.casefold())
    return (
        proposal.quote != ""
        and proposal.quote in sentence
        and proposal.object.strip() == proposal.object != ""
        and "\n" not in proposal.object
        and (proposal.kind == known.kind if known else "'s " in proposal.relation)
        and proposal.topic in ("user", "project")
        and (proposal.was is None or proposal.correction)
    )


@pytest.mark.parametrize(("language", "sentence", "facts"), STATED)
def test_a_quote_is_a_stretch_of_the_sentence_and_the_relation_is_a_known_one(
    language: str, sentence: str, facts: str
) -> None:
    assert all(is_sound(each, sentence) for each in propose(language, sentence))


WORDS = sorted(
    {word for _, sentence, _ in STATED for word in sentence.split()} | set("，。、？!?.,:;()«»「」\n\x00 ")
)


@given(st.sampled_from(LANGUAGES), st.lists(st.sampled_from(WORDS) | st.text(max_size=6), max_size=20))
def test_no_text_makes_it_fail_and_every_quote_is_in_the_text(language: str, words: list[str]) -> None:
    for sentence in (" ".join(words), "".join(words)):
        assert all(each.quote in sentence for each in propose(language, sentence))


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_question_of_the_same_words_states_nothing(language: str) -> None:
    for name, sentence, _ in STATED:
        if name == language:
            assert propose(language, sentence.rstrip("。.!") + "?") == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_needles_only_save_work(language: str) -> None:
    """A form that is skipped for want of its needles would not have been found."""
    made: tongues.Tongue = import_module(f"looseleaf.distill.languages.{language}")._tongue()
    members: tuple[str, ...] = tongues.Tongue.__match_args__
    forms = tuple(tongues.Form(f.relation, f.shape, f.marks, f.words, frozenset()) for f in made.forms)
    thorough = tongues.Tongue(**({name: getattr(made, name) for name in members} | {"forms": forms}))
    assert any(form.needles for form in made.forms)
    for name, sentence, _ in STATED:
        if name == language:
            assert read(thorough, sentence, NOW) == read(made, sentence, NOW)


def test_a_text_too_long_for_a_sentence_is_not_looked_at() -> None:
    sentence = "Ich wohne in Köln" + " und so weiter" * LONGEST
    assert propose("german", sentence[:LONGEST]) != []
    assert propose("german", sentence) == []


@pytest.mark.parametrize(
    ("language", "unit"),
    [
        ("german", "und ich bin "),
        ("german", "nie immer "),
        ("german", "Aa "),
        ("french", ", je ne "),
        ("french", "j'ai le "),
        ("spanish", "y no siempre "),
        ("chinese", "我在我用"),
        ("chinese", "，他 "),
        ("japanese", "私はAと"),
        ("japanese", "「、"),
    ],
)
def test_time_is_linear_in_the_sentence(language: str, unit: str) -> None:
    def work(size: int) -> Callable[[], object]:
        sentence = unit * (size // len(unit))
        return lambda: propose(language, sentence)

    propose(language, unit * (LONGEST // len(unit)))  # what is compiled on first use is not what is measured
    assert growth(work, LONGEST // 16) < LINEAR


def test_a_rule_matters_most_and_lasts_unless_it_is_for_today() -> None:
    rule = only("german", "Ab jetzt bitte immer in Stichpunkten antworten.")
    assert (rule.kind, rule.salience, rule.time_span) == ("constraint", 0.95, "long_term")
    assert (
        only("german", "Ab jetzt bitte immer kurz antworten, nur für diese Aufgabe.").time_span
        == "short_term"
    )


@pytest.mark.parametrize(
    ("language", "sentence", "kind", "span", "salience"),
    [
        ("german", "Ich heiße Anna.", "identity", "long_term", 0.9),
        ("german", "Ich wohne momentan in Rom.", "identity", "current", 0.9),
        ("french", "J'adore le jazz.", "preference", "long_term", 0.6),
        ("french", "Je suis végétarienne.", "preference", "long_term", 0.8),
        ("spanish", "Toco el piano.", "trait", "long_term", 0.6),
        ("spanish", "Ayer adopté un gato.", "event", "short_term", 0.5),
        ("spanish", "Me gradué en 2015.", "event", "long_term", 0.5),
        ("french", "Je me suis cassé le poignet le mois dernier.", "event", "medium_term", 0.5),
        ("chinese", "下周五我要去上海出差。", "commitment", "future", 0.85),
        ("japanese", "Rustを採用することにしました。", "decision", "long_term", 0.8),
        ("chinese", "我妹妹住在广州。", "identity", "long_term", 0.9),
    ],
)
def test_kind_span_and_salience_follow_from_the_relation(
    language: str, sentence: str, kind: str, span: str, salience: float
) -> None:
    found = only(language, sentence)
    assert (found.kind, found.time_span, found.salience) == (kind, span, salience)


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("german", "Eigentlich bin ich 35."),
        ("french", "En fait j'ai 35 ans."),
        ("spanish", "En realidad tengo 35 años."),
        ("chinese", "其实我今年35岁。"),
        ("japanese", "実は35歳です。"),
    ],
)
def test_a_correction_is_known_by_its_words(language: str, sentence: str) -> None:
    assert only(language, sentence).correction
    assert shown(only(language, sentence)) == "Age: 35"


@pytest.mark.parametrize(
    ("language", "sentence", "planned"),
    [
        ("german", "Nächste Woche fliege ich nach Oslo.", "in der Woche vom 2026-03-02 nach Oslo fliegen"),
        ("german", "Ich werde im Sommer 2027 nach Peru reisen.", "im Sommer 2027 nach Peru reisen"),
        ("french", "Cet été je vais voyager au Pérou.", "voyager au Pérou Cet été 2026"),
        ("french", "Ce week-end je vais courir un trail.", "courir un trail le 2026-02-28"),
        ("spanish", "Voy a correr el maratón en abril.", "correr el maratón en abril de 2026"),
        ("chinese", "我打算9月跑马拉松。", "2026年9月跑马拉松"),
        ("japanese", "今週末、大阪に行きます。", "2026-02-28 大阪に行く"),
        ("japanese", "来年の夏にペルーに行きます。", "2027年の夏ペルーに行く"),
    ],
)
def test_relative_dates_are_written_out_as_the_language_does(
    language: str, sentence: str, planned: str
) -> None:
    assert shown(only(language, sentence)) == f"Plan: {planned}"
