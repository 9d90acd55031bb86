"""Scripts that put no space between words: Chinese, Japanese, Korean (few spaces), Thai, Lao, Burmese, Khmer.

A run of such characters becomes its single characters (syllables, where a character is less than one) and its pairs. A
question becomes pairs, and a character where it stands alone, so both `猫` and `咖啡` are found in any sentence. Kana
alone say too little and are only found in pairs. Traditional characters become simplified ones, katakana hiragana.
"""

from __future__ import annotations

import re
from functools import lru_cache

from looseleaf.language import stopwords
from looseleaf.language.stems import fold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_KANA = "\u3040-\u30ff\u31f0-\u31ff"
_HANGUL = "\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff"
_SYLLABIC = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"

_PAIR, _SINGLE, _GRAMMAR = 0.7, 0.5, 0.25
"""What a pair of characters weighs in a question, a character alone, and a pair that touches grammar."""

_SIMPLER = """
    們们 個个 來来 這这 國国 時时 說说 為为 會会 對对 學学 過过 還还 後后 裡里 裏里 麼么 沒没 點点 當当 開开
    關关 長长 問问 間间 門门 東东 車车 電电 話话 書书 買买 賣卖 錢钱 飯饭 飲饮 館馆 雞鸡 鴨鸭 魚鱼 貓猫 鳥鸟
    馬马 龍龙 頭头 臉脸 腦脑 體体 愛爱 見见 親亲 覺觉 觀观 聽听 讀读 寫写 語语 詞词 誰谁 請请 謝谢 識识 認认
    記记 計计 訂订 討讨 論论 設设 許许 試试 該该 詳详 談谈 調调 課课 證证 護护 變变 讓让 議议 譯译 貴贵 費费
    資资 質质 購购 賬账 貨货 貸贷 貼贴 賽赛 贏赢 運运 動动 務务 勝胜 勞劳 勢势 區区 醫医 藥药 療疗 發发 髮发
    經经 結结 給给 絕绝 統统 線线 練练 組组 細细 終终 紅红 綠绿 紙纸 級级 約约 納纳 純纯 緊紧 緒绪 維维 網网
    緩缓 編编 織织 續续 總总 縣县 績绩 繼继 繪绘 纖纤 歲岁 歡欢 歷历 曆历 氣气 気气 漢汉 湯汤 溫温 準准 滿满
    漁渔 潔洁 濕湿 濟济 燈灯 燒烧 熱热 煙烟 爾尔 爺爷 牆墙 獎奖 獨独 獲获 環环 現现 產产 畫画 異异 盡尽 監监
    盤盘 眾众 睏困 碼码 確确 禮礼 種种 稱称 積积 穩稳 窮穷 競竞 筆笔 節节 範范 築筑 簡简 簽签 籃篮 類类 糧粮
    罷罢 義义 習习 聖圣 聞闻 聯联 聲声 職职 肅肃 腳脚 腸肠 膚肤 膽胆 興兴 舉举 舊旧 艙舱 艱艰 藝艺 莊庄 葉叶
    蓋盖 蘇苏 蘋苹 蘭兰 處处 號号 蟲虫 術术 衛卫 衝冲 補补 裝装 複复 復复 規规 視视 覽览 觸触 訊讯 訓训 託托
    訪访 評评 詢询 誤误 諾诺 謀谋 講讲 豐丰 負负 財财 責责 販贩 貿贸 賀贺 賓宾 賴赖 趕赶 跡迹 踐践 輕轻 輛辆
    輩辈 輪轮 輸输 轉转 辦办 辭辞 農农 連连 進进 遊游 達达 違违 遠远 適适 選选 遲迟 遷迁 邊边 郵邮 鄉乡 鄰邻
    醬酱 釋释 鐘钟 鐵铁 銀银 銷销 鋼钢 錄录 錯错 鍋锅 鍵键 鎖锁 鏡镜 閉闭 閱阅 陳陈 陽阳 陰阴 際际 隊队 階阶
    隨随 險险 隱隐 雖虽 雙双 雜杂 離离 難难 雲云 靈灵 靜静 響响 頁页 頂顶 項项 順顺 須须 預预 領领 頻频 題题
    額额 顏颜 願愿 顧顾 顯显 風风 飛飞 飽饱 養养 餓饿 餘余 駕驾 騎骑 驗验 験验 驚惊 鬆松 鬥斗 鬧闹 鮮鲜 鹽盐
    麗丽 麥麦 麵面 黃黄 齊齐 齒齿 歯齿 齡龄 萬万 與与 業业 嚴严 喪丧 臨临 樂乐 楽乐 喬乔 亞亚 傳传 傷伤 債债
    價价 儀仪 億亿 優优 償偿 兒儿 內内 兩两 冊册 凍冻 劃划 劇剧 劉刘 則则 剛刚 創创 協协 單单 卻却 廠厂 廳厅
    參参 叢丛 員员 啟启 喚唤 嗎吗 嘆叹 嘗尝 嚇吓 園园 圍围 圖图 図图 團团 報报 場场 塊块 塵尘 墊垫 壓压 壞坏
    壇坛 夢梦 夥伙 奪夺 奮奋 妝妆 婦妇 媽妈 嬰婴 孫孙 寧宁 寶宝 実实 實实 審审 寬宽 將将 專专 尋寻 導导 層层
    屬属 島岛 嶺岭 幣币 帶带 帥帅 師师 幫帮 幹干 幾几 庫库 廣广 広广 廚厨 廟庙 張张 強强 彈弹 彙汇 匯汇 徑径
    從从 徵征 應应 応应 懷怀 態态 憂忧 憶忆 懶懒 戀恋 戰战 戲戏 戶户 戸户 拋抛 掃扫 掛挂 採采 換换 揮挥 損损
    搖摇 搶抢 擁拥 擇择 擊击 擔担 據据 擠挤 擴扩 攜携 攝摄 敗败 敵敌 數数 斷断 無无 旣既 晝昼 暫暂 暈晕 曉晓
    朧胧 殺杀 條条 棄弃 極极 構构 榮荣 樣样 様样 樓楼 標标 樹树 橋桥 機机 檔档 檢检 櫃柜 欄栏 權权 歐欧 殘残
    毀毁 氈毡 決决 況况 淚泪 淨净 淺浅 測测 渾浑 滅灭 滾滚 漲涨 澤泽 濃浓 灣湾 災灾 牽牵 狀状 狹狭 獅狮 獵猎
    瑪玛 畢毕 癢痒 癥症 皺皱 盜盗 礎础 祕秘 禍祸 筍笋 籤签 糾纠 紀纪 紹绍 綁绑 綜综 緣缘 縮缩 繳缴 罰罚 聰聪
    脫脱 臺台 菸烟 薦荐 薩萨 虧亏 蝦虾 螢萤 蠟蜡 衆众 襪袜 襯衬 訴诉 誌志 誠诚 誕诞 諮咨 謊谎 譜谱 豬猪 貝贝
    貧贫 貫贯 賞赏 贈赠 躍跃 軍军 軟软 軸轴 載载 輔辅 輯辑 辯辩 迴回 逕径 週周 遙遥 遞递 鄭郑 釣钓 鈴铃 銅铜
    鋪铺 鍛锻 鎮镇 閃闪 閒闲 闆板 闊阔 陸陆 隻只 雛雏 霧雾 韓韩 頓顿 頸颈 飾饰 餅饼 駐驻 騙骗 髒脏 鯨鲸 鵝鹅
    鷹鹰 鹹咸 麽么 黨党 龜龟 亀龟 円圆 圓圆 経经 売卖 読读 斎斋 沢泽 浜滨 濱滨 渋涩 澀涩 県县 桜樱 櫻樱 鉄铁
    転转 検检 権权 歩步 毎每 薬药 帰归 歸归 戻戾 辺边 変变 対对
"""


@lru_cache(maxsize=1)
def _same() -> dict[int, int]:
    pairs = {ord(pair[0]): ord(pair[1]) for pair in _SIMPLER.split()}
    return pairs | {code: code - 0x60 for code in range(0x30A1, 0x30F7)}


@lru_cache(maxsize=1)
def runs() -> re.Pattern[str]:
    """Splits a text so that every second piece is a run of one such script."""
    return re.compile(f"([{_HAN}{_KANA}]+|[{_HANGUL}]+|[{_SYLLABIC}]+)")


@lru_cache(maxsize=1)
def _syllables() -> re.Pattern[str]:
    """Roughly: a vowel that is written before, a letter, what stands above, below or behind it."""
    behind = "\u0e30-\u0e3a\u0e47-\u0e4e\u0eb0-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u17b4-\u17d3"
    return re.compile(f"[เแโใไເແໂໃໄ]?[^{behind}][{behind}]{{0,6}}|.")


def _units(run: str) -> list[str]:
    if "\u0e00" <= run[0] <= "\u17ff" and not "\u1100" <= run[0] <= "\u11ff":
        return [unit for found in _syllables().findall(run) if (unit := _folded(found))]
    return list(run.translate(_same()))


@lru_cache(maxsize=4096)
def _folded(unit: str) -> str:
    return fold(unit)


def _stands_alone(unit: str) -> bool:
    return not "\u3040" <= unit <= "\u30ff"


def terms(run: str) -> Iterator[str]:
    """The terms of a run of a text."""
    units = _units(run)
    if len(units) == 1:
        yield units[0]
        return
    stops, _ = stopwords.unspaced()
    for at, unit in enumerate(units):
        if _stands_alone(unit) and unit not in stops:
            yield unit
        if at + 1 < len(units):
            yield unit + units[at + 1]


def asked(run: str) -> Iterator[tuple[str, float]]:
    """The terms of a run of a question, with their weights."""
    units = _units(run)
    last = len(units) - 1
    if last == 0:
        yield units[0], 1.0
        return
    grammar = _grammar(run) if len(units) == len(run) else [0] * len(units)
    if all(mark > 1 for mark in grammar):
        grammar = [0] * len(units)  # a question of nothing but such words asks for them
    for at, unit in enumerate(units):
        cut_off = (at == 0 or grammar[at - 1]) and (at == last or grammar[at + 1])
        if cut_off and not grammar[at] and _stands_alone(unit):
            yield unit, _SINGLE
        if at < last and not grammar[at] > 1 < grammar[at + 1]:
            touched = grammar[at] or grammar[at + 1]
            yield unit + units[at + 1], _GRAMMAR if touched else 1.0 if last == 1 else _PAIR


def _grammar(run: str) -> list[int]:
    """For each character: 2 if it is part of a stop word, 1 if it is a particle perhaps."""
    stops, longest = stopwords.unspaced()
    marks = [1 if char in stopwords.PARTICLES else 0 for char in run]
    at = 0
    while at < len(run):
        size = next((size for size in range(longest, 0, -1) if run[at : at + size] in stops), 0)
        marks[at : at + size] = [2] * len(run[at : at + size])
        at += size or 1
    return marks
