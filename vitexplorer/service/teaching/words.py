"""Texts of the part of Fine-tune in which a visitor teaches by examples."""

from __future__ import annotations

from vitexplorer.core.text import Text

TEACH_WORDS: dict[str, Text] = {
    # the head
    "teach_title": Text("Teach it yourself in a minute", "一分钟亲手教会它"),
    "teach_begin": Text(
        "Give each class a few pictures, then show the model a new one. It answers while you teach.",
        "给每个类别放入几幅图像，再给模型看一幅新的：边教边答。",
    ),
    "teach_says": Text(
        "A linear probe on the frozen features of {model}, taught with {count:example}.",
        "在 {model} 的冻结特征上做线性探测，已学习 {count} 个示例。",
    ),
    "teach_random": Text("Random weights: these features were never trained", "随机权重：这些特征未经训练"),
    "teach_fill": Text("Fill with drawn examples", "填入合成示例"),
    "teach_save": Text("Save as zip", "保存为 zip"),
    "teach_forget": Text("Delete all", "全部删除"),
    "teach_sure": Text("Really delete?", "确认删除？"),
    "teach_compare": Text("Compare methods on these pictures", "用这些图像比较各种方法"),
    "teach_compare_own": Text("Compare methods on a folder", "用图像文件夹比较各种方法"),
    "teach_data": Text("pictures that you taught with", "您教学用的图像"),
    "teach_back": Text("Teach it yourself", "亲手教会它"),
    "teach_kept": Text(
        "Pictures stay on the machine that runs this page, for a day after they were last used.",
        "图像只保存在运行本页面的机器上，最后一次使用后满一天即删除。",
    ),
    # boxes
    "teach_class": Text("Class {number}", "类别 {number}"),
    "teach_name": Text("Name of the class", "类别名称"),
    "teach_count": Text("Pictures: {count}", "图像：{count} 幅"),
    "teach_examples": Text(
        "cup, plant, book, shoe, key, lamp, hand, chair", "杯子、植物、书、鞋、钥匙、台灯、手、椅子"
    ),
    "teach_placeholder": Text("{title}, for example: {example}", "{title}，例如：{example}"),
    "teach_hint": Text(
        "Drop about five pictures of one kind here: {name}. One is enough to begin.",
        "把大约五幅同类图像拖放到这里：{name}。一幅即可开始。",
    ),
    "teach_hold": Text("Hold for webcam", "按住拍摄"),
    "teach_files": Text("Add pictures", "添加图像"),
    "teach_more": Text("Add a class", "添加类别"),
    "teach_remove": Text("Remove {name}", "删除：{name}"),
    "teach_drop": Text("Delete picture {number} of {name}", "删除 {name} 的第 {number} 幅图像"),
    "teach_no_box": Text(
        "This class is no longer here. Please load the page again.", "该类别已不存在，请重新加载页面。"
    ),
    "teach_no_picture": Text("This picture is no longer here.", "该图像已不存在。"),
    "teach_most_boxes": Text("There may be {most} classes.", "最多可有 {most} 个类别。"),
    "teach_most_pictures": Text("A class may have {most} pictures.", "每个类别最多可有 {most} 幅图像。"),
    "teach_broken": Text("Delete all and start again.", "请全部删除后重新开始。"),
    "teach_drawing": Text("Drawing examples ...", "正在生成示例……"),
    "teach_sending": Text("Sending picture {done} of {total} ...", "正在发送第 {done} 幅，共 {total} 幅……"),
    # the answer
    "teach_live": Text("Ask the webcam", "用摄像头提问"),
    "teach_stop": Text("Stop the webcam", "关闭摄像头"),
    "teach_ask": Text("Choose a picture", "选择一幅图像"),
    "teach_ask_hint": Text("Or drop or paste one here.", "也可以拖放或粘贴到这里。"),
    "teach_asked": Text("What it is asked about", "提问的图像"),
    "teach_looks": Text("Where it looks: {reading}", "它看向哪里：{reading}"),
    "teach_about": Text(
        "Attention: {query} → patches, block {block}, mean of the heads. {model}, {rows} × {cols} patches.",
        "注意力：{query} → 图块，块 {block}，各头均值。{model}，{rows} × {cols} 个图块。",
    ),
    "teach_two": Text("Add a picture to at least two classes.", "请至少给两个类别各放入一幅图像。"),
    "teach_none": Text("Now show the model a picture that it has not seen.", "现在给模型看一幅它没见过的图像。"),
    "teach_learning": Text("Looking at the examples: {done} of {total}", "正在查看示例：{done} / {total}"),
    "teach_correct": Text("It is: {name}", "应为：{name}"),
    "teach_only": Text(
        "It always chooses one of these classes, whatever the picture shows.",
        "无论图像是什么，它只能从这些类别中选择。",
    ),
    "teach_others": Text("Try one of these", "试试这些"),
    "teach_closer": Text("Look closer", "仔细看看"),
    "teach_came": Text("Taught by you: {label}", "您教的：{label}"),
    "teach_taken": Text("true {true}, said {said}", "实为 {true}，判为 {said}"),
    "teach_answered": Text("said {said} with {share}", "判为 {said}，概率 {share}"),
    # how good it is
    "teach_need": Text(
        "To measure its accuracy, give every class at least two pictures.",
        "想测量准确率，请给每个类别至少放入两幅图像。",
    ),
    "teach_score": Text(
        "Leave-one-out: {right} of {total:example} {right:~is/are} classified correctly after training on all the "
        "others.",
        "留一法：用其余示例训练后，{total} 个示例中判对 {right} 个。",
    ),
    "teach_scoring": Text("Leaving out one example after the other ...", "正在逐个留出示例……"),
    "teach_why": Text("Why are these wrong? Click one to look closer.", "这些为什么判错？点击即可仔细查看。"),
}
