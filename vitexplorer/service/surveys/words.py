"""Texts of the room Folder, apart from those of questions and models."""

from __future__ import annotations

from vitexplorer.core.text import Language, Text

SURVEY_WORDS: dict[str, Text] = {
    "survey_close": Text("Close", "关闭"),
    # before a survey
    "survey_question": Text("What does the model do with all of my images?", "面对我的全部图像，模型是怎么做的？"),
    "survey_reading": Text(
        "The same questions are asked of every image; then choose a part of a chart and look at the images in it.",
        "对每张图像提出同样的问题；然后在图表上圈选一部分，查看其中的图像。",
    ),
    "survey_model": Text(
        "{model} on the screen is asked. Choose another above.", "将使用当前模型 {model}，可在上方更换。"
    ),
    "survey_closed": Text(
        "No survey can be begun in this installation. Earlier ones can be opened.",
        "此处不能开始新的普查；可以打开已有的普查。",
    ),
    "survey_try": Text("Try it now", "立即试用"),
    "survey_begin_scenes": Text("Survey {count} drawn scenes", "普查 {count} 张绘制场景"),
    "survey_begin_scenes_of": Text(
        "With {model}, a bundled classifier that has never seen them.", "使用内置分类模型 {model}，它从未见过这些场景。"
    ),
    "survey_own": Text("Your own images", "您自己的图像"),
    "survey_zip": Text("Choose a zip", "选择 zip 文件"),
    "survey_zip_hint": Text("Folders in it are labels. Or drop it here.", "其中的文件夹即为标注。也可以拖放到这里。"),
    "survey_path": Text(
        "Path of a folder, of a table of images, or of a survey",
        "文件夹、图像表格或已有普查的路径",
    ),
    "survey_read": Text("Look", "查看"),
    "survey_ask": Text("What is asked", "提哪些问题"),
    "ask_views": Text("Views as questions", "将视图作为问题"),
    "ask_views_hint": Text(
        "The map of each image is kept in its row, for scripts and for saved rows, but not in CSV.",
        "每张图像的图都保存在其数据行中，可供脚本使用，也可随数据一同保存（CSV 除外）。",
    ),
    "ask_nothing": Text("Costs next to nothing.", "几乎不增加计算量。"),
    "ask_once": Text("Costs one pass there and back for each image.", "每张图像需再做一次前向与反向计算。"),
    "ask_many": Text("Costs very many passes for each image: slow.", "每张图像需做许多次前向计算，很慢。"),
    "survey_start": Text("Begin the survey", "开始普查"),
    "survey_chosen": Text(
        "{title}: {images} images in {folders} folders.", "{title}：{images} 张图像，{folders} 个文件夹。"
    ),
    "survey_chosen_flat": Text("{title}: {images} images.", "{title}：{images} 张图像。"),
    "survey_chosen_table": Text("{title}: a table of images.", "{title}：图像表格。"),
    "survey_none_asked": Text("Tick at least one question.", "请至少勾选一个问题。"),
    "survey_no_data": Text("Choose images first.", "请先选择图像。"),
    "survey_no_folder": Text("There is no folder {path}. Check the path.", "找不到文件夹 {path}。请检查路径。"),
    "survey_no_images": Text("There is no image in it.", "其中没有图像。"),
    "survey_own_file": Text(
        "The model on the screen comes from a file that only this page can load. Choose a model of the list above.",
        "当前模型来自只有本页面能加载的文件。请在上方选择列表中的模型。",
    ),
    "survey_hosted": Text(
        "Folders of this machine cannot be named here; send a zip.", "此处不能指定本机文件夹；请发送 zip。"
    ),
    "survey_sending": Text("Sending: {share}", "正在发送：{share}"),
    "survey_unpacking": Text("Unpacking the images ...", "正在解压图像……"),
    "survey_drawing": Text("Drawing the scenes ...", "正在绘制场景……"),
    "survey_looking": Text("Looking at the folder ...", "正在查看文件夹……"),
    "survey_lost": Text("The server did not answer. Try again.", "服务器没有回应，请重试。"),
    "survey_wrong": Text("What was asked is not possible.", "所提的问题无效。"),
    # earlier ones
    "survey_earlier": Text("Earlier surveys", "已有的普查"),
    "survey_earlier_none": Text("There is no survey yet.", "暂无普查。"),
    "survey_open": Text("Open", "打开"),
    "survey_delete": Text("Delete", "删除"),
    "survey_sure": Text("Really delete?", "确认删除？"),
    "survey_back": Text("All surveys", "全部普查"),
    "survey_gone": Text("This survey is no longer here.", "该普查已不存在。"),
    "survey_runs": Text("This survey is running. Stop it first.", "该普查正在进行，请先停止。"),
    "survey_many": Text(
        "As many surveys run as may at once ({most}). Wait for one of them, or stop it.",
        "同时进行的普查已达上限（{most}）。请等待其中一个结束，或将其停止。",
    ),
    "survey_scenes": Text("Drawn scenes", "绘制场景"),
    "survey_line": Text("{count} of {total} images · {model}", "{count} / {total} 张图像 · {model}"),
    # while it runs
    "survey_starting": Text("Loading the model and listing the images ...", "正在加载模型并列出图像……"),
    "survey_going": Text("{done} of {total} images", "{done} / {total} 张图像"),
    "survey_rate": Text("{rate} images a second", "每秒 {rate} 张"),
    "survey_left": Text("{left} left", "还需 {left}"),
    "survey_done": Text("All {total} images were asked.", "全部 {total} 张图像已完成。"),
    "survey_stopped": Text("Stopped after {done} of {total} images.", "已停止：完成 {done} / {total} 张图像。"),
    "survey_page_again": Text(
        "What this page had noted of the survey was damaged and has been made again from the survey itself.",
        "本页面对该普查的记录已损坏，现已根据普查本身重新生成。",
    ),
    "survey_stands": Text(
        "{done} of {total} images; its process stands still. Another goes on, or stop it.",
        "{done} / {total} 张图像；其进程已停滞。可由另一个进程继续，或将其停止。",
    ),
    "survey_ended": Text("It ended before it had begun: {why}", "尚未开始就已结束：{why}"),
    "survey_failed": Text("{failed} could not be read.", "{failed} 张无法读取。"),
    "survey_stop": Text("Stop", "停止"),
    "survey_resume": Text("Go on", "继续"),
    "survey_left_out": Text("Not asked: {why}", "未提的问题：{why}"),
    "survey_right": Text("{share} are taken for what their label says.", "其中 {share} 的预测与标注一致。"),
    # charts
    "survey_charts": Text("Charts", "图表"),
    "chart_histogram": Text("One number", "单个数值"),
    "chart_scatter": Text("Two numbers", "两个数值"),
    "chart_map": Text("Map", "分布图"),
    "chart_heads": Text("Heads", "注意力头"),
    "chart_maps": Text("Heat map", "热图"),
    "chart_classes": Text("Classes", "类别"),
    "chart_beside": Text("Two surveys", "两次普查"),
    "chart_of": Text("Number", "数值"),
    "chart_x": Text("Across", "横轴"),
    "chart_y": Text("Up", "纵轴"),
    "chart_colour": Text("Colour", "颜色"),
    "chart_feature": Text("Feature", "特征"),
    "chart_metric": Text("Quantity", "量"),
    "chart_order": Text("Order", "排序"),
    "chart_none": Text("nothing", "无"),
    "chart_label": Text("Label", "标注"),
    "chart_predicted": Text("Prediction", "预测"),
    "chart_correct": Text("Right or wrong", "对或错"),
    "chart_images": Text("Images", "图像数"),
    "chart_other": Text("others", "其他"),
    "chart_yes": Text("right", "正确"),
    "chart_no": Text("wrong", "错误"),
    "chart_unlabelled": Text("without a label", "无标注"),
    "chart_empty": Text("No image has this number here.", "此处没有图像具有该数值。"),
    "chart_wait": Text("This is drawn as soon as the first images are done.", "第一批图像完成后即可显示。"),
    "chart_working": Text("Counting ...", "正在统计……"),
    "chart_drawing_map": Text("Laying out the map ...", "正在计算分布图……"),
    "chart_no_features": Text(
        "Without the question about features there is no map. Ask it in another survey.",
        "未提取特征，因此没有分布图。请在新的普查中勾选“特征”。",
    ),
    "chart_no_prediction": Text(
        "Nothing was predicted in this survey: the model has no classifier, or it was not asked.",
        "本次普查没有预测结果：模型没有分类头，或未提该问题。",
    ),
    "chart_no_heads": Text("The heads were not asked about in this survey.", "本次普查没有询问注意力头。"),
    "chart_brush": Text(
        "Drag over the chart to choose images. With the keyboard: arrow keys move the choice, with Shift they "
        "widen it, Escape lets go.",
        "在图上拖动即可选择图像。键盘操作：方向键移动选区，按住 ⇧ 扩大选区，Esc 取消。",
    ),
    "chart_cell": Text("Press a cell for the histogram of its head.", "点按单元格可查看该头的直方图。"),
    "chart_histogram_of": Text(
        "Histogram of {title} over {count} images, from {low} to {high}.",
        "{title}的直方图：{count} 张图像，从 {low} 到 {high}。",
    ),
    "chart_scatter_of": Text("{y} against {x} for {count} images.", "{count} 张图像的{x}（横轴）与{y}（纵轴）。"),
    "chart_map_of": Text(
        "{count} images by {feature}, laid out by {method}. {explained}",
        "{count} 张图像按{feature}排布（{method}）。{explained}",
    ),
    "chart_pca": Text("principal components", "主成分分析"),
    "chart_explained": Text("The two axes hold {share} of the variance.", "两个轴保留了 {share} 的方差。"),
    "chart_map_all": Text("A part of it chooses from {count} images.", "圈选时在 {count} 张图像中选择。"),
    "chart_map_trap": Text(
        "Near in the map is not always near in the features: two dimensions cannot hold them all.",
        "图上相邻不一定在特征空间相邻：二维无法保留全部距离。",
    ),
    "chart_heads_of": Text(
        "Mean of {title} over {count} images; the intervals hold 95 %.",
        "{title}在 {count} 张图像上的均值；区间为 95 %。",
    ),
    "chart_view": Text("View", "视图"),
    "chart_maps_of": Text(
        "Mean of {title} over {count} images, cell by cell.", "{title}在 {count} 张图像上的逐格均值。"
    ),
    "chart_maps_own": Text("Beside it the one of {path}.", "另一幅为 {path} 的热图。"),
    "chart_maps_mean": Text("mean of the images", "各图像的均值"),
    "chart_maps_image": Text("the pressed image", "所点图像"),
    "chart_maps_alone": Text("The mean alone", "只看均值"),
    "chart_maps_says": Text("{axis} {row}, {other} {col}: {numbers}.", "{axis} {row}，{other} {col}：{numbers}。"),
    "chart_maps_keys": Text("Arrow keys go from cell to cell.", "方向键可在各格之间移动。"),
    "chart_axis_rows": Text("row", "行"),
    "chart_axis_cols": Text("column", "列"),
    "chart_axis_blocks": Text("block", "块"),
    "chart_axis_heads": Text("head", "头"),
    "chart_axis_tokens": Text("token", "标记"),
    "chart_head": Text("block {block}, head {head}", "第 {block} 块，头 {head}"),
    "chart_head_says": Text(
        "Block {block}, head {head}: {mean} ({low} to {high}).", "第 {block} 块，头 {head}：{mean}（{low} 至 {high}）。"
    ),
    "chart_block": Text("block", "块"),
    "chart_heads_axis": Text("head", "头"),
    "chart_bin": Text("{low} to {high}: {count} images", "{low} 至 {high}：{count} 张图像"),
    "class_name": Text("Class", "类别"),
    "class_count": Text("Images", "图像数"),
    "class_right": Text("Right", "正确"),
    "class_taken": Text("Most often taken for", "最常被误认为"),
    "class_of": Text("Of {count} classes, those with the most errors first.", "共 {count} 个类别，错误最多的在前。"),
    "class_low_high": Text("{low} to {high}", "{low} 至 {high}"),
    # the choice
    "where_all": Text("All images", "全部图像"),
    "where_count": Text("{count} of {total} images", "{count} / {total} 张图像"),
    "where_within": Text("{title}: {low} to {high}", "{title}：{low} 至 {high}"),
    "where_equals": Text("{title}: {value}", "{title}：{value}"),
    "where_remove": Text("Take away: {what}", "去掉：{what}"),
    "where_clear": Text("Choose all", "选择全部"),
    "where_low": Text("from", "从"),
    "where_high": Text("to", "到"),
    "keep_rows": Text("Save their rows:", "保存这些图像的数据："),
    "keep_working": Text("Writing the rows ...", "正在写入数据……"),
    "keep_part": Text("chosen", "所选"),
    # gallery
    "gallery_title": Text("Images", "图像"),
    "gallery_more": Text("More images", "更多图像"),
    "gallery_none": Text("No image is in this choice.", "此选区中没有图像。"),
    "gallery_open": Text("Open {path} in every room", "在各页中打开 {path}"),
    "gallery_hint": Text("Press an image to open it in every room.", "点按图像即可在各页中打开。"),
    "gallery_maps_hint": Text(
        "Press an image for its own map, and once more to open it in every room.",
        "点按图像可查看其热图，再次点按可在各页中打开。",
    ),
    "gallery_lost": Text("This image is no longer where it was.", "该图像已不在原处。"),
    "gallery_gone": Text("no longer there", "已不在原处"),
    "gallery_unread": Text("could not be read", "无法读取"),
    "gallery_came": Text("From the folder {title}: {label}", "来自图像集 {title}：{label}"),
    "gallery_back": Text("Back to the folder", "返回图像集"),
    "gallery_taken": Text("{label}, taken for {said}, {share}", "{label}，判为{said}，{share}"),
    "gallery_said": Text("{said}, {share}", "{said}，{share}"),
    "gallery_output": Text("{label}, output {value}", "{label}，输出值 {value}"),
    "gallery_pair": Text("alike: {share}", "相似度 {share}"),
    "gallery_other": Text("there {said}, {share}", "另一次为{said}，{share}"),
    "order_lost": Text("right in this survey alone", "仅本次判对"),
    "order_won": Text("right in the other survey alone", "仅另一次判对"),
    "order_path": Text("as they lie", "按文件顺序"),
    "order_worst": Text("surest mistakes", "最有把握的错误"),
    "order_unsure": Text("least sure", "最没把握"),
    "order_sure": Text("surest", "最有把握"),
    "order_low_label": Text("worst: label least probable", "最差：标注类别概率最低"),
    "order_typical": Text("most typical", "最典型"),
    "order_odd": Text("most unusual", "最不寻常"),
    "order_alike": Text("near duplicates", "近似重复"),
    "order_low": Text("smallest {title}", "{title}最小"),
    "order_high": Text("largest {title}", "{title}最大"),
    # two surveys
    "beside_choose": Text("Compare with", "对比"),
    "beside_none": Text("no other survey", "无其他普查"),
    "beside_first": Text(
        "Survey the same images with another model, then choose it here.",
        "先用另一个模型普查同一批图像，再在此处选择。",
    ),
    "beside_left": Text("this survey", "本次普查"),
    "beside_right": Text("the other one", "另一次普查"),
    "beside_same": Text("{count} images are in both.", "两次普查共有 {count} 张相同图像。"),
    "beside_gained": Text("Only {model} is right: {count}", "仅{model}判对：{count} 张"),
    "beside_agree": Text("Both say the same: {share}", "两者回答相同：{share}"),
    "beside_difference": Text(
        "Of them {left} gets {a} right, {right} {b}: a difference of {difference} ({low} to {high}).",
        "其中{left}判对 {a}，{right}判对 {b}：相差 {difference}（{low} 至 {high}）。",
    ),
    "beside_heads": Text("Where the heads moved: {title}", "注意力头的变化：{title}"),
    "beside_no_heads": Text("Their heads cannot be laid one on the other.", "两者的注意力头无法一一对应。"),
    "beside_more": Text("second minus first", "第二次减第一次"),
    "beside_moved": Text(
        "Block {block}, head {head}: {difference} ({low} to {high}).",
        "第 {block} 块，头 {head}：{difference}（{low} 至 {high}）。",
    ),
    "caption_model": Text("Model", "模型"),
}


def say(key: str, language: Language, **values: object) -> str:
    """Return a text of the room, with its {names} filled in."""
    text = SURVEY_WORDS[key]
    return (text.format(**values) if values else text).in_(language)


def words_of(language: Language) -> dict[str, str]:
    """Return all texts, for a browser that fills them in itself."""
    return {key: text.in_(language) for key, text in SURVEY_WORDS.items()}
