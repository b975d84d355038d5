"""Words of the sentences about worded scenes, in English and Chinese: names of what is drawn, and what joins them."""

from __future__ import annotations

import re

from vitexplorer.core.text import Text, same

Words = tuple[tuple[str, ...], tuple[str, ...]]
"""Words for one thing in English and in Chinese; the first of each is the usual one"""
SHAPE_WORDS: dict[str, Words] = {
    "ring": (("ring", "hoop"), ("圆环", "圆圈")),
    "triangle": (("triangle",), ("三角形", "三角")),
    "square": (("square", "box"), ("方形", "方块")),
    "star": (("star",), ("星形", "星星")),
    "cross": (("cross", "plus"), ("十字", "十字形")),
    "heart": (("heart",), ("爱心", "心形")),
    "crescent": (("crescent", "moon"), ("月牙", "月亮")),
    "arrow": (("arrow",), ("箭头",)),
    "gear": (("gear", "cog"), ("齿轮",)),
    "flower": (("flower", "blossom"), ("花", "花朵")),
    "fish": (("fish",), ("鱼",)),
    "mug": (("mug", "cup"), ("杯子", "马克杯")),
}
COLOUR_WORDS: dict[str, Words] = {
    "red": (("red", "scarlet"), ("红色", "红")),
    "orange": (("orange",), ("橙色", "橙")),
    "yellow": (("yellow", "golden"), ("黄色", "黄")),
    "green": (("green",), ("绿色", "绿")),
    "blue": (("blue",), ("蓝色", "蓝")),
    "purple": (("purple", "violet"), ("紫色", "紫")),
    "pink": (("pink", "rosy"), ("粉色", "粉红色")),
    "brown": (("brown",), ("棕色", "褐色")),
    "black": (("black",), ("黑色", "黑")),
    "grey": (("grey", "gray"), ("灰色", "灰")),
    "white": (("white",), ("白色", "白")),
}
PATTERN_WORDS: dict[str, Words] = {
    "plain": (("plain", "solid"), ("纯色",)),
    "striped": (("striped", "stripy"), ("条纹",)),
    "dotted": (("dotted", "spotted"), ("圆点", "波点")),
}
SIZE_WORDS: dict[str, Words] = {
    "small": (("small", "little", "tiny"), ("小",)),
    "big": (("big", "large", "huge"), ("大",)),
}
TABLES = {"shape": SHAPE_WORDS, "colour": COLOUR_WORDS, "pattern": PATTERN_WORDS, "size": SIZE_WORDS}
MEASURES = {"star": "颗", "heart": "颗", "flower": "朵", "fish": "条", "arrow": "支"}
"""Chinese measure words; all other nouns take 个"""
NUMBERS = (Text("no", "没有"), Text("one", "一个"), Text("two", "两个"), Text("three", "三个"), Text("four", "四个"))
THINGS = (("things", "objects", "shapes"), ("物体", "东西", "图形"))
PLACES = {
    "left": (Text("on the left", "左边"), Text("at the left side", "左侧")),
    "right": (Text("on the right", "右边"), Text("at the right side", "右侧")),
    "top": (Text("at the top", "上方"), Text("in the upper part", "上半部分")),
    "bottom": (Text("at the bottom", "下方"), Text("in the lower part", "下半部分")),
    "top left": (Text("at the top left", "左上角"), Text("in the upper left corner", "左上方")),
    "top right": (Text("at the top right", "右上角"), Text("in the upper right corner", "右上方")),
    "bottom left": (Text("at the bottom left", "左下角"), Text("in the lower left corner", "左下方")),
    "bottom right": (Text("at the bottom right", "右下角"), Text("in the lower right corner", "右下方")),
    "middle": (Text("in the middle", "中间"), Text("in the centre", "中央"), Text("in the center", "中心")),
}
RELATIONS = {
    "left": (Text("left of", "左边"), Text("to the left of", "左侧")),
    "right": (Text("right of", "右边"), Text("to the right of", "右侧")),
    "above": (Text("above", "上面"), Text("over", "上方")),
    "below": (Text("below", "下面"), Text("under", "下方")),
    "near": (Text("near", "附近"), Text("next to", "旁边"), Text("beside", "边上")),
}
EMPTY = (
    Text("nothing", "什么都没有"),
    Text("an empty ground", "空的背景"),
    Text("only the background", "只有背景"),
    Text("paper without anything on it", "空白的纸"),
)
FRAMES = (
    same("{}"),
    same("{}"),
    same("{}"),
    Text("a photo of {}", "一张照片：{}"),
    Text("a picture of {}", "图片里有{}"),
    Text("an image of {}", "图像里有{}"),
    Text("a drawing of {}", "画着{}"),
    Text("a scene with {}", "场景中有{}"),
    Text("there is {} in the picture", "图中有{}"),
    Text("this is {}", "这是{}"),
    Text("here we see {}", "这里能看到{}"),
    Text("the image shows {}", "画面上是{}"),
    Text("{} made from paper", "用纸剪成的{}"),
    Text("{} that lies on paper", "纸上放着{}"),
)
ABSENCES = (Text("and no {}", "没有{}"), Text("but no {}", "但没有{}"), Text("without a {}", "不带{}"))
_BETWEEN = (
    "的 和 有 一张 照片 图片 图像 图中 里 画着 场景 中 这是 这里 能 看到 "
    "画面 上 是 用 纸 剪成 放着 什么都 空的 空白的 背景 只有 但 不带"
)
"""Chinese words that stand between others, separated by spaces"""


def vocabulary() -> tuple[str, ...]:
    """Return every word of the sentences, English ones first."""
    where = [text for texts in (*PLACES.values(), *RELATIONS.values()) for text in texts]
    texts = [*where, *EMPTY, *FRAMES, *ABSENCES, *NUMBERS]
    english = [word for text in texts for word in re.findall("[a-z]+", text.en)]
    tables = [words for table in TABLES.values() for words in table.values()]
    english += [word for words, _ in (*tables, THINGS) for word in words] + [word[:-1] for word in THINGS[0]]
    chinese = [word for _, words in (*tables, THINGS) for word in words] + [text.zh for text in (*where, *NUMBERS)]
    chinese += [f"一{measure}" for measure in MEASURES.values()]
    return tuple(dict.fromkeys([*english, "and", *chinese, *_BETWEEN.split()]))
