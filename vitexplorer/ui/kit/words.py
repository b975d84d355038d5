"""Texts of the page itself, in both languages. Rooms, views, results and errors have their own."""

from __future__ import annotations

from vitexplorer.core.text import Text
from vitexplorer.service.model_file_words import FILE_WORDS
from vitexplorer.service.words import SERVICE_WORDS

UI_WORDS: dict[str, Text] = {
    # frame
    "module_failed": Text(
        "This part of the page could not be loaded. Please reload the page.", "页面的这一部分未能加载。请重新加载页面。"
    ),
    "other_language": Text("中文", "English"),
    "dark_mode": Text("Dark", "深色"),
    "light_mode": Text("Light", "浅色"),
    "lecture_mode": Text("Lecture", "讲课"),
    "lecture_keys": Text(
        "Keys in lecture mode: digits rooms; , and . block; [ and ] head; arrows query; page up and down kept views; "
        "Escape leaves.",
        "讲课模式的按键：数字键切换页面；, 和 . 切换块；[ 和 ] 切换头；方向键移动查询；PageUp 与 PageDown "
        "翻看已保存的视图；Esc 退出。",
    ),
    "link": Text("Link", "链接"),
    "skip": Text("Skip to the picture", "跳转到图"),
    "link_copied": Text("Copied", "已复制"),
    "open_whole": Text("Open in ViT Explorer", "打开完整页面"),
    "embed": Text("Show this in another page", "嵌入其他网页"),
    "embed_help": Text(
        "Paste these lines into a course page or a blog to show the figure as it is now.",
        "以下代码可在课程网页或博客中显示当前的图。",
    ),
    "embed_copy": Text("Copy the lines", "复制代码"),
    "embed_allowed": Text(
        "Other sites may show it if this server allows them: {frames}.", "其他网站须经本服务器允许才能显示：{frames}。"
    ),
    "embed_own_alone": Text("at present only its own pages", "目前仅限本站网页"),
    "link_own": Text(
        "The image is your own: the link works until nobody has opened it for {hours} hours. For slides, keep the view "
        "and save it as a page under Views.",
        "这是您自己的图像：{hours} 小时内无人打开，链接就会失效。用于幻灯片时，请保存视图，再在“视图”中导出为网页。",
    ),
    "link_not_copied": Text("Copy it from the address bar", "请从地址栏复制"),
    "kept": Text("Views", "视图"),
    "kept_none": Text("keep this one", "保存当前视图"),
    "kept_count": Text("{count} kept", "已保存 {count} 个"),
    "kept_keep": Text("Keep this view", "保存当前视图"),
    "kept_export": Text("Save the list", "导出列表"),
    "kept_import": Text("Open a list", "导入列表"),
    "kept_page": Text("Save as a page (HTML)", "导出为网页（HTML）"),
    "kept_note": Text(
        "In lecture mode, the keys of a presenter (page down, page up) step through these saved views. The list is "
        "saved in this browser only.",
        "在讲课模式下，用翻页键（PageDown、PageUp）依次展示这些视图。列表只保存在本浏览器中。",
    ),
    "kept_up": Text("Move up", "上移"),
    "kept_drop": Text("Remove from the list", "从列表中删除"),
    "kept_unread": Text("This file contains no list of saved views.", "该文件中没有视图列表。"),
    "rooms": Text("Rooms", "各个页面"),
    # the guided path
    "learn": Text("Learn", "学习"),
    "notice_close": Text("Close this notice", "关闭此通知"),
    "learn_close": Text("Close the guided path", "关闭导览"),
    "learn_borrows": Text(
        "This step uses {model}; yours comes back when you close.", "这一步使用 {model}；关闭导览后恢复您的模型。"
    ),
    "learn_before": Text("Back", "上一步"),
    "learn_next": Text("Next", "下一步"),
    "learn_of": Text("Step {step} of {steps}", "第 {step} 步，共 {steps} 步"),
    "learn_question": Text("What do you think?", "您认为呢？"),
    "learn_right": Text("Right.", "正确。"),
    "learn_wrong": Text("Not quite.", "不完全对。"),
    "learn_to_do": Text("Try it", "动手试试"),
    "learn_done": Text("Done", "已完成"),
    "learn_lead": Text("Show me where", "带我去那里"),
    "learn_wait": Text("The numbers are on their way …", "正在准备数据……"),
    "learn_handout": Text("Handout", "讲义"),
    "learn_handout_title": Text(
        "The whole path with the numbers of this image, as a page to print or keep",
        "整个导览的讲义，含这幅图像的数据：一个可打印或保存的网页",
    ),
    "learn_handout_wait": Text("The handout is being written …", "正在生成讲义……"),
    # top bar: image
    "image": Text("Image", "图像"),
    "image_own": Text("Your picture", "您的图像"),
    "image_change": Text("change image", "更换图像"),
    "image_upload": Text("Choose a file", "选择文件"),
    "image_webcam": Text("Webcam", "摄像头"),
    "image_take": Text("Take the picture", "拍照"),
    "image_drop": Text(
        "Or drop a picture anywhere on this page, or paste one.", "也可以把图像拖放到页面任意位置，或直接粘贴。"
    ),
    "image_none": Text("There was no picture in it.", "其中没有图像。"),
    "image_lost": Text(
        "The picture could not be uploaded. Please try again; the last one is still on the screen.",
        "图像未能上传，请重试；上一幅图像仍在显示。",
    ),
    "image_large": Text("The file is larger than {most} MB.", "文件超过 {most} MB。"),
    "paste_none": Text("There is no picture in the clipboard.", "剪贴板中没有图像。"),
    "webcam_none": Text("No camera was found on this machine.", "未在本机找到摄像头。"),
    "webcam_insecure": Text(
        "Browsers allow the camera only on https pages and on pages from this machine.",
        "浏览器只允许 https 页面和来自本机的页面使用摄像头。",
    ),
    "webcam_refused": Text(
        "The browser blocked the camera: allow it for this page and try again.",
        "浏览器阻止了摄像头：请允许本页面使用摄像头，然后重试。",
    ),
    "examples_drawn": Text("Drawn scenes, whose objects are known", "合成场景（物体已知）"),
    "examples_photographs": Text("Photographs", "照片"),
    # top bar: model
    "model": Text("Model", "模型"),
    "model_search": Text("Search a model", "搜索模型"),
    "model_typed": Text("Load {name}", "加载 {name}"),
    "model_not_found": Text("No model of the list has these words.", "列表中没有符合的模型。"),
    "models_bundled": Text("Bundled: no network needed", "内置：无需联网"),
    "models_tuned": Text("Fine-tuned by you", "您微调的模型"),
    "models_file": Text("From your files", "来自您的文件"),
    "model_info": Text(
        "Any other timm model of a supported family can be loaded by name.",
        "受支持的模型家族中的其他 timm 模型，也可以按名称加载。",
    ),
    "model_info_closed": Text("Type to search.", "输入即可搜索。"),
    "weights_random_note": Text("random weights", "随机权重"),
    **SERVICE_WORDS,
    **FILE_WORDS,
    # top bar: size and fit
    "size": Text("Size of the input", "输入尺寸"),
    "size_free": Text("Another size, in pixels", "其他尺寸（像素）"),
    "size_apply": Text("Use it", "应用"),
    "size_one": Text("This model accepts only one image size.", "该模型只接受一种尺寸的图像。"),
    "size_instead": Text("{why} The model's own size is shown instead.", "{why}现按模型自身的尺寸显示。"),
    "size_cost": Text(
        "{tokens:,} tokens · time ×{times:.1f} · {megabytes:,.0f} MB",
        "{tokens:,} 个标记 · 时间 ×{times:.1f} · {megabytes:,.0f} MB",
    ),
    "size_patches": Text("{rows} × {cols} patches", "{rows} × {cols} 个图块"),
    "weights": Text("Weights", "权重"),
    "weights_trained": Text("trained", "已训练"),
    "weights_random": Text("random", "随机"),
    "fit": Text("Fit to the model's input", "适配模型输入"),
    "fit_crop": Text("crop", "裁剪"),
    "fit_squash": Text("squash", "拉伸"),
    "fit_pad": Text("pad", "填充"),
    "fit_native": Text("native size", "原始尺寸"),
    "state_bundled": Text("bundled", "内置"),
    "state_cached": Text("on this machine", "已在本机"),
    "state_download": Text("{megabytes:.0f} MB to download", "需下载 {megabytes:.0f} MB"),
    "state_tuned": Text("fine-tuned", "微调"),
    "state_file": Text("your file", "您的文件"),
    "state_offline": Text("not reachable here", "此处无法获取"),
    # status line
    "status_queue": Text("Number {place} in the queue for the model ...", "正在等待模型，排在第 {place} 位……"),
    "status_ready": Text(
        "{model} · {weights} · {height} × {width} px · {depth} blocks · forward pass {ms:.0f} ms",
        "{model} · {weights} · {height} × {width} 像素 · {depth} 个块 · 前向传播 {ms:.0f} 毫秒",
    ),
    "status_answer": Text("{name} {share}", "{name} {share}"),
    "status_companion": Text("{model} says: {answer}", "{model} 认为：{answer}"),
    "status_no_answer": Text("no classifier", "无分类头"),
    "status_maps": Text("maps only", "只给出图"),
    "status_first_failed": Text("Choose another model or image above.", "请在上方另选模型或图像。"),
    "status_way_out": Text("A bundled model needs no network.", "内置模型无需联网。"),
    "status_show_model": Text("Show {title}", "显示 {title}"),
    "status_show_bundled": Text("Show one", "显示内置模型"),
    "status_failed": Text(
        "Nothing was lost: the picture below is still the last good one.", "下方仍是上一次成功的结果。"
    ),
    "random_warning": Text(
        "Random weights: this model has learned nothing. Nothing here explains a trained model.",
        "随机权重：该模型未经训练，这里的任何图都不能解释训练好的模型。",
    ),
    "random_on_picture": Text("RANDOM WEIGHTS", "随机权重"),
    "unexpected": Text(
        "Something went wrong on our side. The details are in the server's log.", "程序内部出错，详情见服务器日志。"
    ),
    "not_possible": Text("This did not work", "操作未成功"),
    # button to the next room
    "next": Text("{why}: {room}", "{why}：{room}"),
    "more": Text("Save, numbers, Python", "保存、数据与 Python 代码"),
    "misleads": Text("When it misleads", "何时会误导"),
    "block": Text("Block", "块"),
    # panels
    "panel_views": Text("Views of this room", "本页的视图"),
    "panel_working": Text("Working ...", "计算中……"),
    "panel_waiting": Text(
        "{view}: number {place} in the queue for the model ...", "{view}：正在等待模型，排在第 {place} 位……"
    ),
    "panel_progress": Text(
        "{view}: {done} of {total:image} through the model", "{view}：模型已处理 {done} / {total} 幅图像"
    ),
    "panel_left": Text(", about {seconds} s left", "，约剩 {seconds} 秒"),
    "panel_needs_once": Text("one run", "运行一次"),
    "panel_needs_many": Text("many runs", "多次运行"),
    "panel_needs_other": Text("other model", "换模型"),
    "panel_needs_none": Text("not here", "不适用"),
    "panel_stop": Text("Stop", "停止"),
    "panel_begins": Text("Waiting for the forward pass on this image ...", "正在等待模型处理这幅图像……"),
    "panel_settings": Text("Settings", "设置"),
    "table": Text("Numbers as a table", "以表格显示数据"),
    "row_by_col": Text("row \\ column", "行 \\ 列"),
    "panel_rows": Text(
        "The first {shown} of {all:row}; the CSV contains all of them.",
        "前 {shown} 行，共 {all} 行；CSV 文件中有全部数据。",
    ),
    "standing": Text("How far to trust it", "可信程度"),
    "panel_instead": Text("{reason} This is what “{model}” shows.", "{reason}这里给出的是“{model}”的结果。"),
    "panel_change": Text("Change to it in all rooms", "所有页面都换成它"),
    "panel_elsewhere": Text("Show it with {model}", "改用“{model}”查看"),
    "panel_shown": Text("Shown with {model}, which can answer this.", "现在用的是“{model}”，它能回答这个问题。"),
    "panel_back": Text("Back to {model}", "回到“{model}”"),
    "next_room": Text("Next room: {room}", "下一页：{room}"),
    "save": Text("Save", "保存"),
    "save_as": Text("Save as {format}", "保存为 {format}"),
    # in the markup of rooms, which the page shows before any data
    "changes_question": Text("What if something were different?", "改变一处，结果会怎样？"),
    "changes_switches": Text("What is changed", "更改什么"),
    "compare_question": Text("How do the two differ?", "两者有何不同？"),
    # over a canvas
    "changed_on_picture": Text("CHANGED RUN", "更改后的运行"),
    # at the start of the server
    "runs_go_on": Text(
        "Trainings running in {folder}: {count}. They continue without a server; any server on that folder finds them.",
        "{folder} 中正在进行的训练：{count} 个。没有服务器时它们也会继续，在该文件夹上启动的任何服务器都能找到它们。",
    ),
}
