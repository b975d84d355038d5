"""Texts of the room Check-up that do not come with the diagnosis."""

from __future__ import annotations

from functools import partial

from vitexplorer.core.text import Language, Text, in_language, text_of
from vitexplorer.ui.shell.frame import frame_words

CHECK_UP_WORDS: dict[str, Text] = {
    "question": Text("Why does this model not work on my pictures?", "模型在我的图像上为什么不好用？"),
    "lead": Text(
        "Pictures, labels and weights are checked one after the other, and every repair is tried before it is named.",
        "依次检查图像、标签与权重；每项修复都先试过，再给出结论。",
    ),
    "pitfall": Text(
        "Only what changes the answers to these pictures can be seen. Healthy means that nothing here contradicts it.",
        "只能看出对这些图像的回答有影响的问题。“健康”是指此处没有发现反证。",
    ),
    "examples": Text("Try one whose fault is known", "试试故障已知的例子"),
    "labelled": Text("as the model gets it; label: {label}", "模型收到的样子；标签：{label}"),
    "try": Text("Check it", "开始体检"),
    "own": Text("Your own", "您自己的"),
    "model": Text("Model: {model}. Choose another, or open a file, above.", "模型：{model}。可在上方更换或打开文件。"),
    "zip": Text("Check on pictures (zip)", "用图像体检（zip）"),
    "hint": Text(
        "Or drop it here. A folder for each class, so that labels can be checked too.",
        "也可拖放到这里。每个类别一个文件夹，以便同时检查标签。",
    ),
    "folder": Text("or a folder of this machine", "或本机文件夹"),
    "read": Text("Check", "体检"),
    "alone": Text("Check the weights alone", "只检查权重"),
    "sending": Text("Uploading: {share}", "正在上传：{share}"),
    "lost": Text("The server did not answer. Try again.", "服务器没有回应，请重试。"),
    "waiting": Text("Number {place} in the queue for the model ...", "正在等待模型，排在第 {place} 位……"),
    "getting": Text("Getting pictures and model ready ...", "正在准备图像与模型……"),
    "nothing": Text("Choose an example, or pictures of your own.", "请选择一个例子，或您自己的图像。"),
    "stop": Text("Stop", "停止"),
    "stopped": Text("The check-up was stopped.", "体检已停止。"),
    "again": Text("Another check-up", "再做一次体检"),
    "sure": Text("certainty {share}", "确信度 {share}"),
    "repair": Text("Repair", "修复"),
    "change": Text("{measure}: {before} → {after}", "{measure}：{before} → {after}"),
    "no_proof": Text("There is no picture of this.", "这一项没有图。"),
    "undecided": Text("Cannot be told here: {count}", "此处无法判断：{count} 项"),
    "checked": Text(
        "{count:cause} checked on {pictures:picture} in {seconds} s.",
        "检查了 {count} 种原因，{pictures} 幅图像，用时 {seconds} 秒。",
    ),
    "repair_labels": Text("the repaired labels, one for each picture", "修复后的标签，每幅图像一个"),
    "repair_weights": Text("a state dict for load_state_dict", "供 load_state_dict 使用的参数"),
    "repair_model": Text("the repaired model", "修复后的模型"),
    "repair_pictures": Text("call it on a batch before the model", "在送入模型之前对一批图像调用它"),
}


say = partial(text_of, CHECK_UP_WORDS)
"""Return a text of this room in one language, see `text_of`"""


def words(language: Language) -> dict[str, str]:
    """Return all texts, for a browser that fills in the values, and those of the frame."""
    return frame_words(language) | in_language(CHECK_UP_WORDS, language)
