"""Words of the page about models from files, in both languages."""

from __future__ import annotations

from vitexplorer.core.text import Text

FILE_WORDS: dict[str, Text] = {
    "file_open": Text("Open a file", "打开文件"),
    "file_kinds": Text(
        "Weights of timm, transformers, torchvision or open_clip, or a model tuned here. Of a folder: all its files or "
        "a zip. Drop them on the page, or type a path below.",
        "timm、transformers、torchvision、open_clip 的权重，或在此微调的模型。文件夹请选中全部文件，或打包为 zip。"
        "也可拖放到页面上，或在下方输入路径。",
    ),
    "file_kinds_hosted": Text(
        "A .safetensors file of timm, transformers, torchvision or open_clip, or a zip of a folder with some, up to "
        "{most} MB. Nobody finds it without your link; it is removed after some days.",
        "timm、transformers、torchvision、open_clip 的 .safetensors 文件，或含此类文件的文件夹的 zip，不超过 {most} "
        "MB。没有您的链接，他人无法找到；数日后删除。",
    ),
    "file_named": Text("Open from this machine", "从本机打开"),
    "file_unknown": Text("{file} is not a weight file: expected {kinds}.", "{file} 不是权重文件：应为 {kinds}。"),
    "file_unsafe": Text(
        "{file} is not opened here: a file of this kind can hold code. Save the tensors as .safetensors, or run "
        "this page on your own machine.",
        "此处不打开 {file}：这类文件可能包含代码。请将张量另存为 .safetensors，或在您自己的电脑上运行本页面。",
    ),
    "file_large": Text("{file} is larger than {most} MB, the limit here.", "{file} 超过此处允许的 {most} MB。"),
    "file_lost": Text(
        "The file did not arrive. Please try again; the model that was chosen stays.",
        "文件未能上传，请重试；先前选择的模型保持不变。",
    ),
    "file_path": Text(
        "A hosted page cannot open paths on its machine; choose the file itself.",
        "托管的页面不能打开服务器上的路径；请直接选择文件。",
    ),
    "file_sending": Text("Sending {file}: {share} %", "正在上传 {file}：{share} %"),
    "file_opened": Text("{file} is open. Does it answer as it should?", "已打开 {file}。它的回答正常吗？"),
    "file_check": Text("Check it", "给它体检"),
    "file_stop": Text("Stop", "停止"),
    "file_told": Text("{name}, as its tensors say", "{name}（按张量判断）"),
    "file_screen": Text("{name}, as on the screen", "{name}（当前屏幕上的模型）"),
    "file_also": Text(
        "{file} also fits the model on the screen, {other}, and would then be shown with the preprocessing and "
        "classes of that model. Which one is it?",
        "{file} 也符合当前屏幕上的模型 {other}；若选后者，将沿用该模型的预处理和类别。它是哪一种？",
    ),
    "status_read": Text("Reading {file} and trying it once ...", "正在读取 {file} 并试运行一次……"),
    "status_unpack": Text(
        "Unpacking {file}: {done:.0f} of {total:.0f} MB", "正在解压 {file}：{done:.0f} / {total:.0f} MB"
    ),
}
