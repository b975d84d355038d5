"""Texts of the room Fine-tune that do not come with the data, the methods or the results."""

from __future__ import annotations

from functools import partial

from vitexplorer.core.text import Text, text_of
from vitexplorer.ui.kit.words import UI_WORDS

TRAINING_WORDS: dict[str, Text] = {
    # the head of the room
    "steps_question": Text("What does the model become on my images?", "用我的图像微调后，模型会变成什么样？"),
    "steps_reading": Text(
        "Choose images, tick methods, compare them on one split, then open the tuned model in any room.",
        "选择图像，勾选方法，在同一划分上比较，再到各页查看微调后的模型。",
    ),
    "steps_name": Text("Steps", "步骤"),
    "step_images": Text("Images", "图像"),
    "step_methods": Text("Methods", "方法"),
    "step_training": Text("Training", "训练"),
    "step_results": Text("Results", "结果"),
    # data
    "report_zip": Text("Upload a zip", "上传 zip"),
    "report_scenes": Text("Try drawn scenes", "试用合成场景"),
    "report_folder": Text("or a folder of this machine", "或本机文件夹"),
    "report_read": Text("Read it", "读取"),
    "report_sending": Text("Uploading: {share}", "正在上传：{share}"),
    "report_lost": Text("The server did not answer. Try again.", "服务器没有回应，请重试。"),
    "report_reading": Text("Reading the images ...", "正在读取图像……"),
    "report_progress": Text("Looking at the images: {done} of {total}", "正在检查图像：{done} / {total}"),
    "report_drawing": Text("Drawing the example scenes ...", "正在生成示例场景……"),
    "report_classes": Text(
        "{images:image}, {classes:class}: {train} to train on, {validation} to check with.",
        "{images} 幅图像，{classes} 个类别：{train} 幅用于训练，{validation} 幅用于验证。",
    ),
    "report_numbers": Text(
        "{images:image}, a number to predict ({target}): {train} to train on, {validation} to check with.",
        "{images} 幅图像，预测一个数值（{target}）：{train} 幅用于训练，{validation} 幅用于验证。",
    ),
    "report_none": Text(
        "A zip with one folder per class, or with images and a .csv of labels or numbers.",
        "请上传 zip：每个类别一个文件夹，或者图像加一个含标签或数值的 .csv。",
    ),
    "report_stopped": Text("Cannot be trained on as it is", "目前无法用于训练"),
    "report_counts": Text("Images of each class", "各类别的图像数"),
    "report_histogram": Text("How the numbers are spread", "数值分布"),
    "report_more": Text("and {count:more class/more classes}", "另有 {count} 个类别"),
    "report_found": Text("Findings", "检查结果"),
    "report_nothing": Text("Nothing that needs attention.", "没有需要注意的问题。"),
    "report_level_stops": Text("stops", "无法继续"),
    "report_level_warning": Text("warning", "警告"),
    "report_level_note": Text("note", "提示"),
    "report_sample": Text("example", "示例"),
    "report_image_column": Text("Column of the images", "图像所在列"),
    "report_target_column": Text("Column to learn", "要学习的列"),
    "report_task": Text("Learn it as", "学习方式"),
    "report_classification": Text("a label (classes)", "标签（分类）"),
    "report_regression": Text("a number (regression)", "数值（回归）"),
    # measured: example_folder(data, 20), then `finetune data --model scenes_dino_patch16_192 --method linear,lora` with
    # 10 epochs and seed 0: regression 34, linear probe 40, LoRA 35 of 48
    "data_first": Text("Choose images first.", "请先选择图像。"),
    # amounts
    # choice of methods
    "methods_title": Text("Methods to compare", "要比较的方法"),
    "methods_backbone": Text("{model}: {weights}. Choose another above.", "{model}：{weights}。可在上方更换。"),
    "methods_own_file": Text(
        "The current model comes from your file: it can be explored but not fine-tuned here. To fine-tune, choose a "
        "model from the list above.",
        "当前模型来自您的文件：可以查看，但不能在此微调。如需微调，请在上方选择列表中的模型。",
    ),
    "methods_convolutional": Text(
        "{model}, {weights}, is a convolutional network: it can be trained and compared here, but has no attention "
        "for the other rooms.",
        "{model}（权重：{weights}）是卷积网络：可在此训练和比较，但没有注意力可供其他页面显示。",
    ),
    "methods_base": Text("Backbone", "骨干网络"),
    "methods_left": Text("the model above", "上方的模型"),
    "methods_counts": Text(
        "{trainable} of {total} parameters train ({share})", "训练 {total} 个参数中的 {trainable} 个（{share}）"
    ),
    "methods_settings": Text("Settings", "设置"),
    "methods_rate": Text("Learning rate", "学习率"),
    "methods_epochs": Text("Epochs", "训练轮数"),
    "methods_seed": Text("Seed", "随机种子"),
    "methods_augmentation": Text("Augmentation", "数据增强"),
    "methods_augmentation_none": Text("none", "无"),
    "methods_augmentation_crop_flip": Text("crop and flip", "裁剪与翻转"),
    "methods_augmentation_crop_flip_colour": Text("crop, flip and colour", "裁剪、翻转与颜色"),
    "methods_class_weights": Text("Class weights", "类别权重"),
    "methods_class_weights_none": Text("none", "无"),
    "methods_class_weights_balanced": Text("balanced", "均衡"),
    "methods_head": Text("The head begins", "分类头的初始值"),
    "methods_head_baseline": Text("as the linear probe", "线性探测的结果"),
    "methods_head_fresh": Text("fresh", "随机初始化"),
    "methods_estimate": Text("Estimate time and memory", "估计时间与内存"),
    "methods_estimating": Text(
        "Running two batches of each method: {done} of {total}", "每种方法试跑两个批次：{done} / {total}"
    ),
    "methods_estimated": Text("about {time}, {memory} of memory", "约 {time}，内存 {memory}"),
    "methods_waiting": Text("Number {place} in the queue for the model ...", "正在等待模型，排在第 {place} 位……"),
    "methods_start": Text("Train and compare", "开始训练并比较"),
    "methods_starting": Text("Starting ...", "正在启动……"),
    "methods_none": Text("Tick at least one method.", "请至少勾选一种方法。"),
    "methods_too_long": Text("This installation trains for at most {most:epoch}.", "此处最多训练 {most} 轮。"),
    # the run
    "run_waiting": Text("waiting", "等待中"),
    "run_running": Text("training", "训练中"),
    "run_interrupted": Text("interrupted", "已中断"),
    "run_finished": Text("finished", "已完成"),
    "run_stopped": Text("stopped", "已停止"),
    "run_failed": Text("failed", "失败"),
    "run_broken": Text("broken", "已损坏"),
    "run_doing_started": Text("Starting ...", "正在启动……"),
    "run_doing_reading": Text("Looking at the images ...", "正在检查图像……"),
    "run_doing_data": Text("Loading the model ...", "正在加载模型……"),
    "run_doing_extracting": Text("Running the frozen part once ...", "正在运行冻结的部分（只需一次）……"),
    "run_doing_baseline": Text("Measuring two batches of each method ...", "每种方法正在试跑两个批次……"),
    "run_doing_estimate": Text("Measuring two batches of each method ...", "每种方法正在试跑两个批次……"),
    "run_doing_training": Text("Training", "正在训练"),
    "run_left": Text("about {time} left", "约剩 {time}"),
    "run_epoch": Text("epoch {epoch} of {epochs}", "第 {epoch} / {epochs} 轮"),
    "run_best": Text("best {metric} {value}", "最佳 {metric} {value}"),
    "run_stop": Text("Stop and keep the best", "停止并保留最佳结果"),
    "run_stopping": Text("Stopping ...", "正在停止……"),
    "run_resume": Text("Resume", "继续训练"),
    "run_loss": Text("training loss", "训练损失"),
    "run_axis": Text("epoch", "轮次"),
    "run_method": Text("Method", "方法"),
    "run_table": UI_WORDS["table"],
    "run_baseline": Text("baseline: linear on frozen features", "基线：冻结特征上的线性模型"),
    "run_on_validation": Text("{metric} on the validation set", "验证集上的 {metric}"),
    "metric_accuracy": Text("accuracy", "准确率"),
    "metric_rmse": Text("RMSE", "均方根误差（RMSE）"),
    # results
    "board_question": Text("Which method is best?", "哪种方法最好？"),
    "board_question_one": Text("How good is it?", "效果如何？"),
    "board_chance": Text("No method is clearly better than guessing.", "没有方法明显优于猜测。"),
    "board_check": Text("Check model and pictures", "检查模型与图像"),
    "board_title": Text("Leaderboard", "排行榜"),
    "board_bars": Text(
        "Dot: {metric} on the validation set. Bar: its 95 % interval for other images of the same kind.",
        "圆点：验证集上的{metric}。横条：换用同类图像时的 95 % 区间。",
    ),
    "board_paired": Text(
        "Methods are compared image by image, so one may be ahead although the bars overlap.",
        "各方法逐幅图像比较，横条重叠时也可能分出高下。",
    ),
    "board_dashed": Text("Dashed line: {name}, {value}.", "虚线：{name}，{value}。"),
    "board_interval": Text("{low} to {high}", "{low} 至 {high}"),
    "board_spread": Text("95 % interval", "95 % 区间"),
    "board_describe": Text("{title}: {value} ({interval})", "{title}：{value}（{interval}）"),
    "board_method": Text("Method", "方法"),
    "board_trainable": Text("Trainable", "可训练参数"),
    "board_time": Text("Time", "时间"),
    "board_file": Text("File", "文件"),
    "board_baseline": Text("Baseline (linear on frozen features)", "基线（冻结特征上的线性模型）"),
    "board_constant": Text("Without looking at the image", "不看图像时的最佳猜测"),
    "board_early": Text("stopped early", "提前停止"),
    "board_chosen": Text("Results of {run}", "“{run}”的结果"),
    "board_open": Text("Open in the rooms", "在各页中打开"),
    "board_wrong": Text("Misclassified images: {count} of {total}.", "判错的图像：{total} 幅中有 {count} 幅。"),
    "board_worst": Text("Images with the largest error.", "误差最大的图像。"),
    "board_press": Text("Click one to see where the tuned model looks.", "点击可查看微调模型关注的位置。"),
    "board_all_right": Text("It gets every validation image right.", "验证集的图像全部判对。"),
    "board_taken": Text("{true} taken for {said} ({share})", "{true} 被判为 {said}（{share}）"),
    "board_came": Text("From Fine-tune, {run}: {label}", "来自微调，{run}：{label}"),
    "board_back": Text("Back to Fine-tune", "返回微调"),
    "board_close": Text("Close", "关闭"),
    "board_off": Text("true {true}, predicted {said}", "真实值 {true}，预测值 {said}"),
    "board_really": Text("Is the difference real?", "差异是否真实？"),
    "board_only_one": Text("Only one method has a result so far.", "目前只有一种方法有结果。"),
    "board_downloads": Text("Take it home", "下载"),
    "board_predicting": Text("Predicting: {done} of {total:image}", "正在预测：{done} / {total} 幅图像"),
    "board_predict": Text("Predict test images, a zip or files (.csv)", "预测测试图像：zip 或图像文件（.csv）"),
    "board_sending": Text("Uploading: {share}", "正在上传：{share}"),
    "board_lost": Text("The server did not answer. Try again.", "服务器没有回应，请重试。"),
    "board_preparing": Text("Preparing the file ...", "正在准备文件……"),
    "board_tuned": Text("Tuned model (.safetensors)", "微调模型（.safetensors）"),
    "board_merged": Text("Merged timm checkpoint", "合并后的 timm 检查点"),
    "board_peft": Text("Hugging Face peft (.zip)", "Hugging Face peft (.zip)"),
    "board_card": Text("Model card", "模型卡"),
    "figures_pareto": Text("Is it worth its cost?", "是否物有所值？"),
    "figures_confusion": Text("Confusion", "混淆矩阵"),
    "figures_residuals": Text("Residuals", "残差"),
    "figures_classes": Text("Each class", "各类别"),
    "figures_epochs": Text("Epochs", "训练过程"),
    "figures_images": Text("More images?", "增加图像？"),
    "figures_question_pareto": Text(
        "Which methods are not beaten in both metric and cost?", "哪些方法在指标和代价上都不被其他方法超越？"
    ),
    "figures_question_confusion": Text("Which classes are taken for each other?", "哪些类别容易混淆？"),
    "figures_question_residuals": Text(
        "How far off is each prediction, and in which direction?", "每个预测偏差多大，偏向哪边？"
    ),
    "figures_question_classes": Text(
        "Which classes are found, and which are predicted too often?", "哪些类别找得到，哪些类别误报过多？"
    ),
    "figures_question_epochs": Text("Was it still improving when it ended?", "训练结束时是否还在提高？"),
    "figures_question_images": Text("Would more images help?", "更多图像会有帮助吗？"),
    "figures_misleads_pareto": Text(
        "This is one split and one seed: with another, neighbours in the plot may swap places.",
        "这里只有一次划分和一个种子：换用其他划分或种子，图上相邻的点就可能互换位置。",
    ),
    "figures_misleads_confusion": Text(
        "Few validation images make every cell a rough guess.", "验证图像少时，每一格都只是粗略估计。"
    ),
    "figures_misleads_residuals": Text(
        "Extreme predictions are drawn towards the mean: that is regression to the mean, not a fault of one image.",
        "偏离均值较远的预测会被拉向均值：这是均值回归，并非某幅图像的问题。",
    ),
    "figures_misleads_classes": Text(
        "The accuracy of a class with few validation images changes in large steps.",
        "类别的验证图像少时，其准确率会大幅跳动。",
    ),
    "figures_misleads_epochs": Text(
        "The best epoch was chosen on the same validation set, so its value is slightly too good.",
        "最佳轮次是在同一验证集上选出的，因此其数值略偏乐观。",
    ),
    "figures_misleads_images": Text(
        "The curve is that of the baseline; a tuned model may need more or fewer images.",
        "这是基线的曲线；微调模型需要的图像可能更多，也可能更少。",
    ),
    "figures_run": Text("Run", "训练"),
    "figures_cost": Text("Cost", "代价"),
    "figures_what": Text("Show", "显示"),
    # what changed
    "board_compare": Text("Compare with its base", "与基础模型对比"),
    "board_changed": Text("What changed?", "改变了什么？"),
    "changed_size": Text("Size of the change", "改变量大小"),
    "changed_rank": Text("Rank of the change", "改变量的秩"),
    "changed_token": Text("The token that is read", "分类头读取的标记"),
    "changed_prompts": Text("Attention to prompts", "对提示标记的注意力"),
    "changed_question_size": Text("In which blocks did the weights change most?", "哪些块的权重改变最大？"),
    "changed_question_rank": Text(
        "Does the change lie in a few directions or in all of them?", "改变只集中在少数方向，还是分散在所有方向？"
    ),
    "changed_question_token": Text(
        "From which block on does the tuned model represent this picture differently?",
        "从哪一块起，微调后的模型对这幅图像的表示开始不同？",
    ),
    "changed_question_prompts": Text("Are the learned prompts looked at?", "学到的提示标记得到关注了吗？"),
    "changed_misleads_size": Text(
        "A large change of a weight may not matter, and a small one may be decisive.",
        "权重改变大不一定重要，改变小也可能起决定作用。",
    ),
    "changed_misleads_rank": Text(
        "The rank says nothing about the size of a change: noise has a high rank.",
        "秩与改变的大小无关：噪声的秩也很高。",
    ),
    "changed_misleads_token": Text(
        "A token that turned far may still give the same class: only the directions that the classifier reads count.",
        "标记的方向改变很大，仍可能被读成同一类别：只有分类头读取的方向才起作用。",
    ),
    "changed_misleads_prompts": Text(
        "Attention to a prompt is not yet an effect: its value may be small.",
        "关注提示标记不等于受它影响：它的值向量可能很小。",
    ),
    "changed_open": Text("What {run} changed in {model}", "“{run}”对“{model}”改变了什么"),
    "changed_beside": Text(
        "The maps of both stand side by side under “Compare with its base”.", "两者的图在“与基础模型对比”中并排显示。"
    ),
    # runs that were made before
    "runs_title": Text("Earlier trainings", "以往的训练"),
    "runs_none": Text("None yet.", "暂无。"),
    "runs_open": Text("Open", "打开"),
    "runs_delete": Text("Delete", "删除"),
    "runs_sure": Text("Really delete?", "确认删除？"),
    "runs_broken": Text("broken: {why}", "已损坏：{why}"),
    "runs_line": Text("{methods} on {data} · {model} · {state}", "{methods}，数据 {data} · {model} · {state}"),
}


say = partial(text_of, TRAINING_WORDS)
"""Return a text of this room in one language, see `text_of`"""
