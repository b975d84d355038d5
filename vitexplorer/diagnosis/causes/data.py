"""Causes in the data and in the training."""

from __future__ import annotations

from vitexplorer.core.text import Text
from vitexplorer.diagnosis.causes.cause import Cause

CAUSES: dict[str, Cause] = {
    "rate_too_high": Cause(
        "training",
        Text("Learning rate too high", "学习率过高"),
        Text(
            "A step changes the weights by more than a twentieth of their norm.",
            "每一步使权重改变其范数的二十分之一以上。",
        ),
        Text("The loss jumps or becomes infinite in the first steps.", "损失在最初几步跳动或变为无穷大。"),
        Text("Lower the learning rate by ten, and warm it up.", "把学习率降为十分之一，并做预热。"),
        "token_norms",
    ),
    "nothing_trains": Cause(
        "training",
        Text("Nothing trains", "参数没有更新"),
        Text("Parameters have an update of exactly zero in every step.", "参数在每一步的更新恰为零。"),
        Text("The loss stays as it is from the first step on.", "损失从第一步起毫无变化。"),
        Text(
            "Give the parameters to the optimiser after they were unfrozen, and check requires_grad.",
            "解冻之后再把参数交给优化器，并检查 requires_grad。",
        ),
        "parameters",
    ),
    "leak_between_splits": Cause(
        "data",
        Text("Leak between splits", "划分之间泄漏"),
        Text("The same picture, exactly or nearly, is in two splits.", "同一图像（相同或近似）出现在两个划分中。"),
        Text("Accuracy on the validation set is too good to be true.", "验证集准确率好得不真实。"),
        Text(
            "Keep copies of a picture, and pictures of one source, in one split.",
            "同一图像的副本、同一来源的图像应放在同一划分中。",
        ),
        "patch_grid",
    ),
    "duplicates": Cause(
        "data",
        Text("Duplicates", "重复图像"),
        Text("The same picture, exactly or nearly, is there more than once.", "同一图像（相同或近似）出现多次。"),
        Text("Some pictures count several times.", "有些图像被重复计数。"),
        Text("Remove the copies, or keep each group in one split.", "删除副本，或让每组留在同一划分中。"),
        "patch_grid",
    ),
    "imbalanced": Cause(
        "data",
        Text("Imbalanced classes", "类别不平衡"),
        Text(
            "The commonest class has ten times the pictures of the rarest, or more.",
            "最多的类别的图像数达到最少的十倍以上。",
        ),
        Text(
            "Accuracy looks good, and the rare classes are never answered.",
            "准确率看似不错，但少数类别从不出现在回答中。",
        ),
        Text(
            "Weigh the classes in the loss, and judge by the mean accuracy over classes.",
            "在损失中给类别加权，并按各类别准确率的平均值评判。",
        ),
        "pooling",
    ),
    "labels_doubtful": Cause(
        "data",
        Text("Doubtful labels", "可疑标签"),
        Text(
            "A probe and the model agree on another class, and the model is sure of it.",
            "探针与模型都给出另一个类别，且模型很有把握。",
        ),
        Text("A few confident mistakes whose pictures look right.", "少数有把握的错误，而图像看起来并没有错。"),
        Text("Look at these pictures and correct their labels.", "查看这些图像并更正标签。"),
        "pooling",
    ),
    "unlike_training_data": Cause(
        "data",
        Text("Unlike the training data", "与训练数据不同"),
        Text(
            "The features lie farther from drawn pictures of the model's kind than such pictures lie from each other.",
            "特征与模型所属类型的合成图像相距较远，超过这些图像彼此之间的距离。",
        ),
        Text("Confident nonsense on pictures of another kind.", "对另一类图像给出自信却无意义的回答。"),
        Text(
            "Fine-tune on pictures of this kind, or choose a model that was trained on them.",
            "用这类图像微调，或选择以它们训练的模型。",
        ),
        "token_pca",
        Text(
            "Pictures that the model hardly tells apart may be called duplicates first.",
            "模型几乎无法区分的图像，可能先被指为重复。",
        ),
    ),
}
