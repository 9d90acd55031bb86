"""A memory in many languages, and questions about it whose answers are known: `LINES`, and `ASKED` of (query, line).

All lines are one memory: each answer is to be found among all others. The questions are worded as people ask, not as
the lines are: other inflections, a part of a compound, no accents, another script's form, a typo.
"""

from __future__ import annotations

KNOWN: tuple[tuple[str, tuple[str, ...]], ...] = (
    # Chinese, simplified
    ("我妹妹下个月在成都举行婚礼。", ("妹妹的婚礼在哪里", "成都")),
    ("早上只喝黑咖啡,不加糖。", ("他喝什么咖啡", "糖")),
    ("服务器的备份每天凌晨三点开始运行。", ("备份什么时候运行?", "服務器備份")),
    ("我家的猫叫豆豆,今年六岁了。", ("猫叫什么名字", "豆豆几岁")),
    ("护照在书桌左边的抽屉里。", ("护照放在哪里了", "抽屉")),
    ("对花生过敏,外出吃饭要提醒餐厅。", ("什么食物过敏", "花生")),
    ("项目的数据库从 MySQL 迁移到了 PostgreSQL。", ("数据库迁移", "postgresql 迁移")),
    ("周末喜欢和爸爸去河边钓鱼。", ("钓鱼", "周末跟谁去河边")),
    # Chinese, traditional
    ("下週三要帶奶奶去醫院做檢查。", ("奶奶的检查", "哪天去醫院")),
    ("租約到期以後打算搬到臺南。", ("租约什么时候到期", "搬到台南")),
    ("圖書館的書要在月底以前還。", ("图书馆 还书",)),
    ("他的電話號碼換了,新的記在通訊錄裡。", ("电话号码", "通訊錄")),
    # Japanese
    ("来週の金曜日に京都へ出張します。", ("京都への出張はいつですか", "出張")),
    ("母の誕生日は四月十二日です。", ("お母さんの誕生日", "誕生日はいつ")),
    ("リンゴアレルギーがあるので、りんごジュースは飲めません。", ("りんご アレルギー", "リンゴジュース")),
    ("新しい自転車を駅前の店で買いました。", ("自転車をどこで買った", "自転車")),
    ("毎朝、犬を公園まで散歩に連れて行く。", ("犬の散歩", "公園")),
    ("テストはデプロイの前に必ず実行すること。", ("デプロイ前のテスト", "テスト 実行")),
    ("寿司よりラーメンのほうが好きだ。", ("ラーメンと寿司どっちが好き?", "ﾗｰﾒﾝ")),
    # Korean
    ("지난주에 부산으로 이사했어요.", ("언제 부산에 이사했나요", "이사")),
    ("우리 강아지는 닭고기를 먹으면 안 된다.", ("강아지가 먹으면 안 되는 것", "닭고기")),
    ("회의는 매주 화요일 오전 열 시에 시작합니다.", ("화요일 회의", "회의가 언제 시작하나요?")),
    ("할머니가 만드신 김치찌개가 제일 맛있다.", ("김치찌개", "할머니의 요리 김치")),
    ("서버 비밀번호는 석 달마다 바꿔야 한다.", ("비밀번호를 얼마나 자주 바꾸나", "비밀번호")),
    ("새 집은 학교에서 가깝다.", ("집", "학교 가까운 집")),
    # German
    (
        "Die Haftpflichtversicherung läuft Ende März aus.",
        ("Versicherung März", "wann endet die Haftpflicht?"),
    ),
    (
        "Der Wohnungsschlüssel liegt bei Frau Özdemir im Erdgeschoss.",
        ("Schlüssel Wohnung", "wo sind die Schlüssel"),
    ),
    (
        "Meine Tochter hat eine Milcheiweißallergie.",
        ("Allergie Tochter", "Allergien", "milcheiweissallergie"),
    ),
    ("Wir haben den Arbeitsvertrag am Freitag unterschrieben.", ("Vertrag unterschreiben", "Verträge")),
    ("In München wohnen die Großeltern in einem alten Reihenhaus.", ("Muenchen", "Häuser der Grosseltern")),
    ("Zum Frühstück gibt es Vollkornbrot mit Käse.", ("Brot Frühstück", "Fruehstueck")),
    ("Die Datenbankverbindung bricht nach dreißig Sekunden ab.", ("Datenbank Verbindung", "Verbindungen")),
    ("Der Zahnarzttermin wurde auf Montag verschoben.", ("Termin beim Zahnarzt", "Zahnärzte")),
    ("Unsere Waschmaschine ist seit Tagen kaputt.", ("Waschmaschinenreparatur", "kaputte Waschmaschinen")),
    ("Das Kündigungsschreiben ging per Einschreiben raus.", ("Kündigung", "Kuendigungsschreiben")),
    # French
    (
        "L'été dernier, nous avons loué une maison en Bretagne.",
        ("maisons louées en bretagne", "location ete bretagne"),
    ),
    (
        "Mon médecin m'a prescrit des antibiotiques pour dix jours.",
        ("quel antibiotique", "medecin prescription"),
    ),
    (
        "Les enfants préfèrent dîner chez leurs grands-parents.",
        ("enfant grand-parent dîner", "grands parents"),
    ),
    ("J'ai oublié mes clés au bureau de poste.", ("où sont les cles oubliées", "cle poste")),
    (
        "La réunion avec l'équipe d'ingénierie est reportée à jeudi.",
        ("réunions équipe", "quand est la reunion"),
    ),
    ("Elle travaille comme bibliothécaire à Lyon.", ("bibliothécaires", "bibliothecaire lyon")),
    # Spanish
    ("Mi hermano trabaja de cocinero en Sevilla.", ("hermanos cocineros", "¿dónde cocina su hermano?")),
    ("La reunión con los proveedores será el próximo martes.", ("reuniones proveedor", "reunion martes")),
    ("Compramos un coche eléctrico de segunda mano.", ("coches eléctricos", "coche electrico")),
    ("El niño es alérgico a los cacahuetes.", ("alergicos cacahuete", "nino alérgico")),
    ("Las facturas vencidas se pagan el último día del mes.", ("factura vencida", "ultimo dia facturas")),
    # Portuguese
    ("A declaração de imposto foi entregue em abril.", ("declarações de impostos", "declaracao imposto")),
    ("Minha avó mora perto da estação de trem.", ("onde mora a avo", "estacoes de trem")),
    (
        "Troquei as lâmpadas da cozinha por modelos mais econômicos.",
        ("lampada cozinha", "lâmpadas econômicas"),
    ),
    # Italian
    ("Il treno per Bologna parte alle sette e mezza.", ("treni per bologna", "quando parte il treno")),
    ("Mia nonna prepara le lasagne ogni domenica.", ("lasagna della nonna", "domeniche lasagne")),
    (
        "L'università ha accettato la mia domanda d'iscrizione.",
        ("iscrizioni universita", "domande università"),
    ),
    # Dutch
    ("De zorgverzekering wordt elk jaar duurder.", ("verzekeringen", "zorgverzekeringen duur")),
    ("Mijn fietssleutel zit in de blauwe rugzak.", ("sleutel van de fiets", "rugzakken")),
    ("Op zaterdag zwemmen de kinderen in het buitenbad.", ("kind zwemmen zaterdag", "buitenbaden")),
    # Swedish, Danish, Norwegian, Finnish
    ("Barnens skola har sommarlov från mitten av juni.", ("sommarlovet", "skolan")),
    ("Jag lämnade in körkortsansökan i tisdags.", ("ansökan om körkort", "korkort")),
    ("Vi købte en brugt rødgrøn ladcykel i Aarhus.", ("ladcykler", "brugte cykler århus aarhus")),
    ("Hytta på fjellet har verken strøm eller innlagt vann.", ("hytter strøm", "strom pa hytta")),
    ("Mökillä on uusi puulämmitteinen sauna.", ("saunat mökki", "saunassa")),
    ("Kissamme nukkuu aina keittiön ikkunalaudalla.", ("kissa keittiö", "keittiössä")),
    # Polish, Czech, Hungarian, Romanian
    ("Zostawiłem książki u siostry w Krakowie.", ("książka siostra", "ksiazki")),
    ("Żona jest uczulona na orzechy laskowe.", ("żony orzech", "zona orzechy")),
    ("Klíče od sklepa má soused v přízemí.", ("klíč sklep", "klice soused")),
    ("A nagymamám minden vasárnap húslevest főz.", ("húsleves vasárnap", "nagymama husleves")),
    ("Contractul de închiriere expiră în septembrie.", ("contracte închiriere", "inchiriere septembrie")),
    # Russian, Ukrainian, Greek
    ("Моя сестра переехала в Новосибирск прошлой осенью.", ("куда переехали сёстры", "сестре новосибирске")),
    ("Ёлка стоит на балконе, игрушки в коробке.", ("елки балкон", "игрушка коробка")),
    ("Пароль от роутера записан в синем блокноте.", ("пароли роутер", "синий блокнот")),
    ("Врач назначил таблетки от давления.", ("какую таблетку назначили врачи", "давление")),
    ("Зустріч із бухгалтером перенесли на четвер.", ("зустріч бухгалтер",)),
    (
        "Το διαμέρισμα στη Θεσσαλονίκη έχει μεγάλο μπαλκόνι.",
        ("διαμερισμα θεσσαλονικη", "μπαλκόνια διαμερίσματος"),
    ),
    # Arabic, Persian, Hebrew
    ("أختي تدرس الطب في جامعة القاهرة.", ("جامعة القاهره", "دراسة الطب")),
    ("موعد الطبيب يوم الأحد الساعة العاشرة.", ("مواعيد الطبيب الاحد", "الطبيب")),
    ("نَسِيتُ مِفْتَاحَ السَّيَّارَةِ فِي الْمَكْتَبِ.", ("مفتاح السيارة", "سيارة مكتب")),
    ("كلمة السر محفوظة في الدفتر الأزرق.", ("كلمة سر", "دفتر ازرق")),
    ("کتاب‌های درسی در کمد اتاق خواب هستند.", ("کتابهای درسی", "كمد اتاق")),
    ("הפגישה עם רואה החשבון נדחתה לשבוע הבא.", ("פגישה רואה חשבון", "הפגישה")),
    # Turkish
    ("Ayşe'nin doğum günü İstanbul'da kutlanacak.", ("Ayşe doğum günü", "istanbul")),
    ("Kitapları çalışma odasındaki rafa koydum.", ("kitap raf", "kitaplar calisma odasi")),
    ("Kedimiz sadece balıklı mama yiyor.", ("kedi maması balık", "kediler")),
    # Hindi, Bengali, Tamil
    ("मेरी किताबें अलमारी में रखी हैं।", ("किताब कहाँ है", "अलमारियों")),
    ("डॉक्टर ने रोज़ सुबह टहलने की सलाह दी।", ("डाक्टर की सलाह सुबह", "रोज टहलना सलाह")),
    ("আমার ভাই কলকাতায় থাকে।", ("ভাই কলকাতায়",)),
    ("என் தங்கை சென்னையில் வேலை செய்கிறாள்.", ("தங்கை வேலை",)),
    # Thai, Vietnamese
    ("ที่บ้านเลี้ยงแมวสองตัวชื่อส้มกับดำ", ("แมวชื่ออะไร", "เลี้ยงแมว")),
    ("ฉันแพ้กุ้งและปู", ("แพ้กุ้ง", "แพ้อาหารอะไร กุ้ง")),
    ("พรุ่งนี้มีประชุมกับลูกค้าตอนบ่ายสามโมง", ("ประชุมลูกค้า", "ประชุม")),
    ("Tôi thích uống cà phê sữa đá vào buổi sáng.", ("ca phe sua da", "cà phê buổi sáng")),
    # emoji
    ("Dinner at Marco's was 🍕🍕 and far too much wine", ("🍕", "wines dinner Marco")),
    ("She reacted with 👍🏽 to the launch plan", ("👍", "👍🏿 launch")),
    ("Team offsite booked 🇵🇹 ✈️ second week", ("🇵🇹", "✈ offsite")),
    ("Grandma sent ❤️ for the garden photos 🌻", ("❤", "🌻 photo")),
    ("👩‍💻 pairing with Noor every Wednesday", ("👩🏾‍💻 noor", "💻 pairing")),
    # identifiers, paths, versions
    ("Renamed `parse_config` to load_settings in the loader", ("parseConfig", "load settings rename")),
    ("HTTPServerError is raised when the upstream pool is empty", ("http server error", "httpservererror")),
    (
        "The flaky one is tests/unit/test_scheduler.py::test_retry_backoff",
        ("test_scheduler.py", "retry backoff flaky"),
    ),
    ("Pinned numpy to 1.26.4 because of the ABI break", ("numpy 1.26", "which version of NumPy is pinned")),
    ("CI runs on Python 3.11.7 and on 3.13", ("python 3.11", "3.11.7")),
    (
        "Invoices go to billing.team@northwind.example, not to sales",
        ("northwind", "billing team e-mail invoice"),
    ),
    (
        "Docs live at https://docs.internal.example/runbooks/on-call",
        ("on call runbook", "docs.internal.example"),
    ),
    ("com.acme.payments.RefundJob fails on leap days", ("RefundJob", "acme payments refund job")),
    ("The C++ port is twice as fast as the C# one", ("c++", "C# port")),
    ("Set MAX_RETRY_COUNT=5 in the staging .env file", ("max retry count", "MAX_RETRY_COUNT staging")),
    (
        "kubectl rollout restart deploy/api-gateway fixed the outage",
        ("api gateway outage", "apigateway restart"),
    ),
    ("useEffect in CartSummary.tsx fires twice", ("cart summary", "CartSummary.tsx use effect")),
    ("Commit 9f3c2ab17d broke the Windows build", ("9f3c2ab17d", "windows builds broken")),
    ("std::vector::reserve before the loop saved 40ms", ("vector reserve", "std::vector")),
    # English: inflection, irregular forms, joined words, numbers, dates, typos
    (
        "I bought a second-hand cello from the conservatory",
        ("buying a cello", "secondhand cellos", "what did I buy"),
    ),
    (
        "We went kayaking near the lighthouse with the children",
        ("child kayak", "light house", "when did we go kayaking"),
    ),
    ("The accountant moved our appointment to the 14th", ("acountant apointment", "14th appointments")),
    (
        "Priya's mother taught chemistry for thirty years",
        ("who teaches chemistry", "Priya mother", "chemsitry"),
    ),
    ("The deposit was 1,250 euros, paid on 2024-03-05", ("1250 deposit", "paid 2024-03-05", "2024-03")),
    ("Our naïve café budget doubled, Zoë’s fiancé says", ("naive cafe", "zoe fiance budget")),
    ("Ｆｕｌｌｗｉｄｔｈ labels broke the ﬁle parser", ("fullwidth label", "file parsers")),
    (
        "Don't schedule anything in May, Will is on parental leave",
        ("who is on leave in may", "Is Will on parental leave?"),
    ),
    ("The IT department wants a new laptop policy", ("IT policy", "laptops")),
    (
        "Their database migration stalled at the foreign keys",
        ("data base migrations", "databse migration stall"),
    ),
    ("Quarterly reviews happen in the greenhouse, oddly enough", ("quaterly review", "green house")),
    ("The Who", ("the who",)),
    ("to be or not to be", ("to be or not to be",)),
    ("Leonora's physiotherapist recommended swimming", ("phisiotherapist", "leonora swim")),
    ("He is vegetarian but eats oysters", ("vegitarian", "oyster eaten")),
    # English words that are stop words elsewhere
    ("Sold car for 5000 euros.", ("car", "What happened to my car?")),
    ("Car: Honda Jazz", ("honda", "which car is it")),
    ("Pet: Tom", ("Tom", "our pet")),
    ("Front door code 4711", ("door", "What is the code of the door?")),
    ("Garage sale Saturday", ("sale", "When is the sale?")),
    ("Flower pot broke", ("pot", "what happened to the pots")),
    ("Recycling bin collected Thursday", ("bin", "When is the bin collected?")),
    ("War diary finished", ("war", "war diaries")),
    ("A word of advice: sleep early", ("word", "any words of advice")),
    ("Coach Sue moved to Los Angeles", ("Los Angeles", "Who is Sue?")),
    # German: a compound known by its middle, and little but stop words
    (
        "Das Donaudampfschifffahrtsmuseum ist zu",
        ("Wann öffnet das Museum der Dampfschifffahrt?", "Dampfschifffahrt"),
    ),
    ("Ludwig war ein König", ("Wer war Ludwig?", "Könige")),
)

LINES: tuple[str, ...] = tuple(line for line, _ in KNOWN)
ASKED: tuple[tuple[str, str], ...] = tuple((query, line) for line, queries in KNOWN for query in queries)
