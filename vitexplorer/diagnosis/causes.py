"""Causes that a check-up knows: their names and their signs.

The keys are stable; `docs/check_up.md` lists them.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from vitexplorer.core.text import Text

Group = Literal["pictures", "labels", "weights", "architecture", "data", "training"]


class Cause(NamedTuple):
    """One cause."""

    group: Group
    title: Text
    sign: Text
    """One sentence that says what shows it"""


CAUSES: dict[str, Cause] = {
    "wrong_normalisation": Cause(
        "pictures",
        Text("Wrong mean and standard deviation", "均值与标准差有误"),
        Text(
            "The values of the tensors show which mean and standard deviation were used; others are tried.",
            "由张量的数值读出所用的均值与标准差，并尝试其他取值。",
        ),
    ),
    "scaled_twice": Cause(
        "pictures",
        Text("Pixels scaled twice", "像素被缩放两次"),
        Text(
            "All values lie within one two-hundredth of the usual range.",
            "所有数值都落在通常范围的约二百分之一内。",
        ),
    ),
    "not_scaled": Cause(
        "pictures",
        Text("Pixels not scaled", "像素未缩放"),
        Text(
            "The values run from 0 to 255.",
            "数值从 0 到 255。",
        ),
    ),
    "channels_swapped": Cause(
        "pictures",
        Text("Colour channels swapped", "颜色通道顺序颠倒"),
        Text(
            "Blue, green, red is tried as red, green, blue.",
            "把蓝、绿、红当作红、绿、蓝试一次。",
        ),
    ),
    "axes_swapped": Cause(
        "pictures",
        Text("Rows and columns swapped", "行列互换"),
        Text(
            "Pictures are transposed, and read as if their channels came last.",
            "将图像转置，并按通道在后的方式读取。",
        ),
    ),
    "rotated": Cause(
        "pictures",
        Text("Pictures rotated", "图像被旋转"),
        Text(
            "Pictures are turned by 90, 180 and 270 degrees.",
            "将图像旋转 90、180、270 度。",
        ),
    ),
    "flipped": Cause(
        "pictures",
        Text("Pictures mirrored", "图像被镜像"),
        Text(
            "Pictures are mirrored from left to right and upside down.",
            "将图像左右、上下镜像。",
        ),
    ),
    "wrong_size_or_crop": Cause(
        "pictures",
        Text("Wrong size or crop", "尺寸或裁剪有误"),
        Text(
            "Other crops of the original pictures are tried.",
            "对原图尝试其他裁剪。",
        ),
    ),
    "labels_permuted": Cause(
        "labels",
        Text("Labels permuted", "标签被置换"),
        Text(
            "The answers agree with the labels once these are assigned to other classes.",
            "把标签重新对应到类别后，回答与标签一致。",
        ),
    ),
    "labels_shifted": Cause(
        "labels",
        Text("Labels shifted by one", "标签错位一个"),
        Text(
            "The answers agree with each label plus or minus one.",
            "标签加一或减一后与回答一致。",
        ),
    ),
    "labels_sorted_as_text": Cause(
        "labels",
        Text("Labels sorted as text", "标签按文本排序"),
        Text(
            "The answers agree with the labels in the order 0, 1, 10, 11, 2, or in that of the names.",
            "按 0、1、10、11、2 或名称的顺序排列后，标签与回答一致。",
        ),
    ),
    "weights_not_loaded": Cause(
        "weights",
        Text("Weights not loaded", "权重未加载"),
        Text(
            "Nearly all tensors of the blocks are those of a fresh initialisation.",
            "各块几乎所有张量都是初始值。",
        ),
    ),
    "half_loaded": Cause(
        "weights",
        Text("Weights partly loaded", "权重只加载了一部分"),
        Text(
            "Some tensors of the blocks are those of a fresh initialisation.",
            "各块中有一些张量是初始值。",
        ),
    ),
    "head_not_loaded": Cause(
        "weights",
        Text("Classifier not loaded", "分类头未加载"),
        Text(
            "The answers are chance, and a probe on the features that the classifier reads is not.",
            "回答等同随机，而分类头所读特征上的探针并非如此。",
        ),
    ),
    "positions_transposed": Cause(
        "weights",
        Text("Positions transposed", "位置编码行列互换"),
        Text(
            "The position embedding is tried transposed.",
            "将位置编码转置后再试。",
        ),
    ),
    "positions_shuffled": Cause(
        "weights",
        Text("Positions shuffled", "位置编码被打乱"),
        Text(
            "The answers are better without the position embedding.",
            "去掉位置编码后回答更好。",
        ),
    ),
    "positions_badly_resampled": Cause(
        "weights",
        Text("Positions badly resampled", "位置编码重采样有误"),
        Text(
            "A resampling as a sequence is undone, and done as a grid.",
            "撤销按序列的重采样，改为按网格重采样。",
        ),
    ),
    "positions_missing": Cause(
        "weights",
        Text("Positions missing", "缺少位置编码"),
        Text(
            "The position embedding is the same for every patch.",
            "所有图块的位置编码都相同。",
        ),
    ),
    "prefix_token_missing": Cause(
        "architecture",
        Text("Prefix token missing", "缺少前缀标记"),
        Text(
            "The first tokens have the norms of patches.",
            "最前面的标记具有图块的范数。",
        ),
    ),
    "prefix_tokens_among_patches": Cause(
        "architecture",
        Text("Prefix tokens among patches", "前缀标记混入图块"),
        Text(
            "The position embedding is tried moved by the number of prefix tokens.",
            "将位置编码移动前缀标记数个位置后再试。",
        ),
    ),
    "heads_miscounted": Cause(
        "architecture",
        Text("Wrong number of heads", "注意力头数有误"),
        Text(
            "Other numbers of heads are tried.",
            "尝试其他头数。",
        ),
    ),
    "qkv_misordered": Cause(
        "architecture",
        Text("Queries, keys, values misordered", "查询、键、值顺序有误"),
        Text(
            "Other orders of the three are tried, and those stored head by head.",
            "尝试三者的其他顺序，以及逐头存放的方式。",
        ),
    ),
    "scale_missing": Cause(
        "architecture",
        Text("Attention not scaled", "注意力未缩放"),
        Text(
            "The scores are divided by the root of the head's width, and multiplied by it.",
            "将分数除以或乘以头宽度的平方根。",
        ),
    ),
    "dead_heads": Cause(
        "weights",
        Text("Dead heads", "失效的注意力头"),
        Text(
            "The values of a head times its output weights are nothing beside those of other heads.",
            "某个头的值与其输出权重之积远小于其他头。",
        ),
    ),
    "collapsed": Cause(
        "weights",
        Text("Collapsed", "输出塌缩"),
        Text(
            "All pictures get nearly one feature or one class.",
            "所有图像得到几乎相同的特征或类别。",
        ),
    ),
    "rate_too_high": Cause(
        "training",
        Text("Learning rate too high", "学习率过高"),
        Text(
            "A step changes the weights by more than a twentieth of their norm.",
            "每一步使权重改变其范数的二十分之一以上。",
        ),
    ),
    "nothing_trains": Cause(
        "training",
        Text("Nothing trains", "参数没有更新"),
        Text(
            "Parameters have an update of exactly zero in every step.",
            "参数在每一步的更新恰为零。",
        ),
    ),
    "leak_between_splits": Cause(
        "data",
        Text("Leak between splits", "划分之间泄漏"),
        Text(
            "The same picture, exactly or nearly, is in two splits.",
            "同一图像（相同或近似）出现在两个划分中。",
        ),
    ),
    "duplicates": Cause(
        "data",
        Text("Duplicates", "重复图像"),
        Text(
            "The same picture, exactly or nearly, is there more than once.",
            "同一图像（相同或近似）出现多次。",
        ),
    ),
    "imbalanced": Cause(
        "data",
        Text("Imbalanced classes", "类别不平衡"),
        Text(
            "The commonest class has ten times the pictures of the rarest, or more.",
            "最多的类别的图像数达到最少的十倍以上。",
        ),
    ),
    "labels_doubtful": Cause(
        "data",
        Text("Doubtful labels", "可疑标签"),
        Text(
            "A probe, the nearest pictures and the model agree on another class.",
            "探针、最相近的图像与模型都给出另一个类别。",
        ),
    ),
    "unlike_training_data": Cause(
        "data",
        Text("Unlike the training data", "与训练数据不同"),
        Text(
            "The features lie far from those of the data that the model is known for.",
            "特征远离模型已知数据的特征。",
        ),
    ),
}
