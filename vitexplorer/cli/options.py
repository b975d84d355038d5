"""Help texts of options that several commands share."""

from vitexplorer.core.text import Text

MODEL = Text(
    "A name listed by `models`, any timm model, or the path of a weight file or folder.",
    "`models` 列出的或 timm 的模型名称，或权重文件、文件夹的路径。",
)
BACKBONE = Text("A name from `models`, or any of timm's.", "`models` 列出的或 timm 的模型名称。")
WEIGHTS = Text("auto, pretrained, bundled, random, or a weight file.", "auto、pretrained、bundled、random 或权重文件。")
WEIGHTS_SEED = Text("Seed of random weights.", "随机权重的种子。")
IMAGE = Text("A picture; an example when none is given.", "图像文件；未指定时使用示例图像。")
FIT = Text("How the picture becomes the model's size.", "图像如何适配模型的输入尺寸。")
RESULT = Text("Language of the result.", "结果的语言。")
PRINTED = Text("Language of what is printed.", "输出的语言。")
