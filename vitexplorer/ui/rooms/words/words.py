"""Texts of the room Words that do not come with its views and methods."""

from __future__ import annotations

from vitexplorer.controls.texts import EMPTY
from vitexplorer.core.text import Text

TEXT_WORDS: dict[str, Text] = {
    "texts": Text("Texts", "文字"),
    "text": Text("Text {number}", "文字 {number}"),
    "type": Text("a word or a sentence, then Enter", "输入词或句子，按回车"),
    "empty": EMPTY,
    "add": Text("Add a text", "添加文字"),
    "apart": Text("Word by word", "逐词查看"),
    "apart_help": Text(
        "Take text {number} apart: each word, its denial, and the text in a template.",
        "拆开文字 {number}：逐个词、它的否定，以及套用模板的句子。",
    ),
    "drop": Text("Remove text {number}", "删除文字 {number}"),
    "pick": Text("Show the map of text {number}: {text}", "显示文字 {number} 的图：{text}"),
    "all": Text("All: the best text of each patch", "全部：每个图块最相符的文字"),
    "all_one": Text("Add a second text to compare them patch by patch.", "再添加一条文字，即可逐图块比较。"),
    "examples": Text("Try", "试一试"),
    "file": Text("Open text vectors (.safetensors)", "打开文字向量（.safetensors）"),
    "sending": Text("Uploading: {share}", "正在上传：{share}"),
    "lost": Text("The server did not answer. Try again.", "服务器没有回应，请重试。"),
    "too_long": Text(
        "This text has {count} characters; {most} at most.", "这条文字有 {count} 个字符，最多 {most} 个。"
    ),
    "control": Text(
        "A text must not hold control characters or halves of characters. Type it again.",
        "文字中不能有控制字符或残缺的字符，请重新输入。",
    ),
    "first_of_file": Text(
        "The file has {count:text}; the first {most} are used.", "文件中有 {count} 条文字；使用前 {most} 条。"
    ),
    "cosine": Text("cosine {cosine}", "余弦 {cosine}"),
    "cosine_share": Text("cosine {cosine} ({share})", "余弦 {cosine}（{share}）"),
    "named": Text("{name}:", "{name}："),
    "image": Text("Image, with a map of a text over it", "图像，上面是文字的图"),
    "at_patch": Text("At row {row}, column {col}", "在第 {row} 行第 {col} 列"),
    "point": Text(
        "Point at a patch: its numbers for all texts stand here.", "指向一个图块，这里显示它对各条文字的数值。"
    ),
    "reading": Text(
        "“{text}” points most at row {row}, column {col} ({most}), least at row {low_row}, column {low_col} ({least}).",
        "“{text}”最指向第 {row} 行第 {col} 列（{most}），最不指向第 {low_row} 行第 {low_col} 列（{least}）。",
    ),
    "like_first": Text(
        "The maps of “{text}” and “{first}” have a correlation of {number}.",
        "“{text}”与“{first}”的图的相关系数为 {number}。",
    ),
    "denied": Text("The map does not follow the denial.", "图没有理会否定。"),
    "alike": Text("All patches are alike for “{text}”.", "对“{text}”而言，所有图块都一样。"),
    "of_patches": Text("Of the patches: {shares}.", "各占图块：{shares}。"),
    "quoted": Text("“{text}” {share}", "“{text}”{share}"),
    "scale": Text("Scale", "标度"),
    "stretch": Text("Stretch to this map alone", "拉伸到本图自身的范围"),
    "scale_all": Text(
        "One scale for all texts of this method: from their smallest number to their largest.",
        "该方法的各条文字共用一个标度：从最小值到最大值。",
    ),
    "scale_one": Text(
        "With one text the scale is this map's own range, and noise becomes a picture too. Add a text to compare with.",
        "只有一条文字时，标度就是本图自身的范围，噪声也会变成图像。请添加一条文字作对照。",
    ),
    "scale_own": Text(
        "Stretched: each map fills the whole scale, so noise becomes a picture too. Compare the printed numbers.",
        "已拉伸：每幅图都占满整个标度，噪声也会变成图像。请比较标出的数值。",
    ),
    "methods": Text("Methods", "方法"),
    "slope": Text("compute", "计算"),
    "slope_help": Text("{method}: takes one more pass, with gradients", "{method}：需要再运行一次并求梯度"),
    "working": Text("Computing {method} ...", "正在计算 {method}……"),
    "hit": Text(
        "Against the truth: its highest patch lies on what the text means.",
        "对照真实答案：最高的图块落在文字所指的物体上。",
    ),
    "miss": Text(
        "Against the truth: its highest patch lies beside what the text means.",
        "对照真实答案：最高的图块没有落在文字所指的物体上。",
    ),
    "senseless": Text("{count:method has/methods have} no meaning for this model", "有 {count} 种方法对该模型没有意义"),
    "needs_other": Text(
        "It takes a second model, which only Python can give.", "它需要第二个模型，只能在 Python 中给出。"
    ),
    "figures": Text("Figures to save and compare", "可保存与比较的图"),
    "reads_none": Text(
        "{model} reads no texts: it was trained on images alone.", "{model} 不能读取文字：它只用图像训练过。"
    ),
    "lost_half": Text(
        "{model} is here without its text half. Open its folder, tokenizer included, to type texts.",
        "{model} 在此没有文字部分。要输入文字，请打开包含分词器的模型文件夹。",
    ),
    "open_for_texts": Text("Type texts: open {model}", "输入文字：打开 {model}"),
    "open_for_caption": Text("Let {model} describe the image", "让“{model}”描述这幅图像"),
    "vectors": Text(
        "Text vectors made elsewhere work too, if they have {width} numbers each and come from the same training.",
        "也可使用在别处算好的文字向量：每条 {width} 维，且来自同一次训练。",
    ),
}
EXAMPLE = Text("a {name}", "一个{name}")
"""Example text of a class name"""
OBJECT, BACKGROUND = Text("an object", "一个物体"), Text("the background", "背景")
"""Texts to begin with, in English the defaults of the views"""
NO_THING = Text("only the background", "只有背景")
"""The same in the words of the bundled models"""
CAPTION_WORDS: dict[str, Text] = {
    "sentence": Text("Caption, word by word", "逐词的图像描述"),
    "language": Text("Language of the caption", "描述的语言"),
    "from_here": Text(
        "“{word}” ({share}): where it comes from, by three readings.", "“{word}”（{share}）：三种读法各自给出的来源。"
    ),
    "no_place": Text(
        "“{word}” ({share}) names nothing in the picture: it follows from the words before it, and has no patches.",
        "“{word}”（{share}）不指画面中的任何东西：它由前面的词决定，没有对应的图块。",
    ),
    "at_patch_number": Text("row {row}, column {col}: {number}", "第 {row} 行第 {col} 列：{number}"),
    "word": Text("Word", "词"),
    "share": Text("Probability", "概率"),
    "reading": Text("Reading", "读法"),
    "most": Text("Most", "最大处"),
}
