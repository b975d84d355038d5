"""Words of the service in both languages: loading and running models, images for training, amounts of time."""

from __future__ import annotations

from vitexplorer.core.text import Text

SERVICE_WORDS: dict[str, Text] = {
    "status_engine": Text("Starting the engine ...", "正在启动计算引擎……"),
    "status_load": Text("Loading {model} ...", "正在加载 {model}……"),
    "status_download": Text(
        "Downloading {model}: {done:.0f} of {total:.0f} MB", "正在下载 {model}：{done:.0f} / {total:.0f} MB"
    ),
    "status_run": Text("Running {model} on the image ...", "正在用 {model} 处理图像……"),
    "runs_gone": Text("This training is no longer here.", "该训练已不存在。"),
    "runs_too_many": Text(
        "{most:training runs/trainings run} here already, the most this installation allows. Wait until one has ended.",
        "此处已有 {most} 个训练在运行，达到上限。请等待其中一个结束。",
    ),
    "data_scenes": Text("drawn scenes, {count} of each class", "合成场景，每类 {count} 幅"),
    "data_expect": Text(
        "What to expect: the bundled models were trained on these shapes, so their frozen features largely separate "
        "the classes, and LoRA has little to add to a linear probe (on the DINO model, which saw no labels, LoRA "
        "gets 35 of 48 images right, the linear probe 40, a regression 34). With so few images ten points are "
        "hardly more than chance: read the intervals below, and try it on images of your own.",
        "预期结果：内置模型正是用这些形状训练的，其冻结特征大体上已能区分各类，因此 LoRA "
        "相比线性探测难有提升（在没有见过标签的 DINO 模型上，48 幅中 LoRA 判对 35 幅，线性探测 40 幅，回归 34 幅）。"
        "图像这么少，十个百分点的差别几乎只是偶然：请看下方的区间，并换上自己的图像试试。",
    ),
    "data_hosted": Text(
        "Folders of this machine cannot be named here; upload a zip.", "此处不能指定本机文件夹；请上传 zip。"
    ),
    "data_no_folder": Text("There is no folder {path}. Check the path.", "找不到文件夹 {path}。请检查路径。"),
    "time_seconds": Text("{seconds} s", "{seconds} 秒"),
    "time_minutes": Text("{minutes} min {seconds} s", "{minutes} 分 {seconds} 秒"),
    "time_hours": Text("{hours} h {minutes} min", "{hours} 小时 {minutes} 分"),
}
