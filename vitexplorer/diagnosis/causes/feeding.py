"""Causes in how pictures and labels reach the model."""

from __future__ import annotations

from vitexplorer.core.text import Text
from vitexplorer.diagnosis.causes.cause import COSTS_LITTLE, Cause

CAUSES: dict[str, Cause] = {
    "wrong_normalisation": Cause(
        "pictures",
        Text("Wrong mean and standard deviation", "均值与标准差有误"),
        Text(
            "The values of the tensors show which mean and standard deviation were used; others are tried.",
            "由张量的数值读出所用的均值与标准差，并尝试其他取值。",
        ),
        Text(
            "Answers are right for many pictures and unsure for the rest, as if contrast or brightness were off.",
            "许多图像答对，其余没有把握，像是对比度或亮度有偏差。",
        ),
        Text(
            "Use the mean and standard deviation that belong to the weights, in training and afterwards.",
            "训练与使用时都采用与权重相配的均值和标准差。",
        ),
        "patch_grid",
    ),
    "scaled_twice": Cause(
        "pictures",
        Text("Pixels scaled twice", "像素被缩放两次"),
        Text("All values lie within one two-hundredth of the usual range.", "所有数值都落在通常范围的约二百分之一内。"),
        Text(
            "Every picture is nearly black to the model, and gets the same answer.",
            "每幅图像在模型看来几乎全黑，回答都相同。",
        ),
        Text(
            "Divide the pixels by 255 once: either in the transform or in the processor, not in both.",
            "像素只除以一次 255：在变换或处理器中，不要两处都做。",
        ),
        "patch_grid",
    ),
    "not_scaled": Cause(
        "pictures",
        Text("Pixels not scaled", "像素未缩放"),
        Text("The values run from 0 to 255.", "数值从 0 到 255。"),
        Text(
            "Every picture is nearly white to the model, and one class gets almost all answers.",
            "每幅图像在模型看来几乎全白，几乎所有回答都是同一类别。",
        ),
        Text("Divide the pixels by 255 before they are normalised.", "归一化之前先把像素除以 255。"),
        "patch_grid",
    ),
    "channels_swapped": Cause(
        "pictures",
        Text("Colour channels swapped", "颜色通道顺序颠倒"),
        Text("Blue, green, red is tried as red, green, blue.", "把蓝、绿、红当作红、绿、蓝试一次。"),
        Text(
            "Objects whose colour matters are mistaken for others; shapes are still recognised.",
            "靠颜色区分的物体认错，形状仍能认出。",
        ),
        Text(
            "Turn blue, green, red into red, green, blue after reading, as with cv2.cvtColor.",
            "读取后把蓝、绿、红转换为红、绿、蓝。",
        ),
        "patch_grid",
    ),
    "axes_swapped": Cause(
        "pictures",
        Text("Axes swapped", "轴的次序有误"),
        Text(
            "Pictures are transposed, and read as if their channels came last.", "将图像转置，并按通道在后的方式读取。"
        ),
        Text("Pictures are mirrored along the diagonal, or fall apart into stripes.", "图像沿对角线翻转，或碎成条纹。"),
        Text(
            "Reorder axes with permute or transpose; reshape only reads the same numbers in another shape.",
            "应交换各轴；改变形状只是按另一种形状读取同样的数。",
        ),
        "patch_grid",
        COSTS_LITTLE,
    ),
    "rotated": Cause(
        "pictures",
        Text("Pictures rotated", "图像被旋转"),
        Text("Pictures are turned by 90, 180 and 270 degrees.", "将图像旋转 90、180、270 度。"),
        Text("Answers are worse for everything that has an upright position.", "凡是有上下之分的物体，回答都变差。"),
        Text(
            "Apply the orientation that the file stores, as PIL.ImageOps.exif_transpose does.",
            "按文件记录的拍摄方向转正。",
        ),
        "patch_grid",
        COSTS_LITTLE,
    ),
    "flipped": Cause(
        "pictures",
        Text("Pictures mirrored", "图像被镜像"),
        Text("Pictures are mirrored from left to right and upside down.", "将图像左右、上下镜像。"),
        Text("Letters and other things with a left and a right are mistaken.", "文字等有左右之分的内容认错。"),
        Text(
            "Take the flip out of the transform for checking; it belongs to training alone.",
            "验证时去掉翻转；翻转只用于训练。",
        ),
        "patch_grid",
        COSTS_LITTLE,
    ),
    "wrong_size_or_crop": Cause(
        "pictures",
        Text("Wrong size or crop", "尺寸或裁剪有误"),
        Text("Other crops of the original pictures are tried.", "对原图尝试其他裁剪。"),
        Text("Objects are cut off, or smaller than in training.", "物体被裁掉，或比训练时小。"),
        Text(
            "Resize and crop as the checkpoint states: its input size, its share of the crop, its interpolation.",
            "按权重说明缩放与裁剪：输入尺寸、裁剪比例、插值方式。",
        ),
        "patch_grid",
        Text(
            "Where objects look alike when transposed, swapped axes may be named before it.",
            "若物体转置后看起来相似，轴的次序有误可能排在它之前。",
        ),
    ),
    "labels_permuted": Cause(
        "labels",
        Text("Labels permuted", "标签被置换"),
        Text(
            "The answers agree with the labels once these are assigned to other classes.",
            "把标签重新对应到类别后，回答与标签一致。",
        ),
        Text(
            "Accuracy is near zero or chance, and the mistakes are always the same.",
            "准确率接近零或随机，而且错误总是相同的。",
        ),
        Text(
            "Number the classes as the model does, and map old labels by the table of the finding.",
            "按模型的顺序给类别编号，旧标签按结论中的对应表转换。",
        ),
        "pooling",
    ),
    "labels_shifted": Cause(
        "labels",
        Text("Labels shifted by one", "标签错位一个"),
        Text("The answers agree with each label plus or minus one.", "标签加一或减一后与回答一致。"),
        Text("Nearly every answer is the neighbour of its label.", "几乎每个回答都与标签相差一。"),
        Text(
            "Add or remove the class for the background, which one of the two lists has.",
            "两份列表中有一份含背景类：请补上或去掉它。",
        ),
        "pooling",
    ),
    "labels_sorted_as_text": Cause(
        "labels",
        Text("Labels sorted as text", "标签按文本排序"),
        Text(
            "The answers agree with the labels in the order 0, 1, 10, 11, 2, or in that of the names.",
            "按 0、1、10、11、2 或名称的顺序排列后，标签与回答一致。",
        ),
        Text(
            "The first classes are right, and later ones are mistaken in a fixed way.",
            "前几个类别正确，后面的总以固定方式认错。",
        ),
        Text(
            "Sort numbers as numbers, or read the names of the classes from the model.",
            "按数值排序，或从模型读取类别名称。",
        ),
        "pooling",
    ),
}
