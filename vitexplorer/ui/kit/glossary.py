"""Glossary: each term of the field in one sentence with its formula, in both languages.

The first word of an entry is the term as the page uses it, the others are further spellings. English words match as
whole words, with or without an s. Chinese ones match anywhere, but a single character only where it is a word itself.
Letters in formulas: q, k, v a query, key, value; d the width of a head; N tokens or patches; D the width of a token.
"""

from __future__ import annotations

from dataclasses import dataclass

from vitexplorer.core.text import Language, Text


@dataclass(frozen=True)
class Entry:
    """A term with its spellings in each language, one sentence and a formula."""

    en: tuple[str, ...]
    zh: tuple[str, ...]
    says: Text
    formula: str = ""

    def spellings(self, language: Language) -> tuple[str, ...]:
        """Return the spellings in a language, the usual one first."""
        return self.zh if language == "zh" else self.en


def of_language(language: Language) -> list[dict[str, object]]:
    """Return the table as the page reads it: `spellings`, `says`, `formula` of every entry."""
    return [
        {"spellings": entry.spellings(language), "says": entry.says.in_(language), "formula": entry.formula}
        for entry in GLOSSARY
    ]


GLOSSARY = (
    # ------------------------------------------------------------------------------------------ the model's input
    Entry(
        ("patch",),
        ("图块",),
        Text(
            "A square of pixels cut from the image; the transformer reads patches as a text model reads words.",
            "从图像上切下的正方形小块；Transformer 读取图块，就像语言模型读取词。",
        ),
        "P × P × 3",
    ),
    Entry(
        ("patch grid", "grid of patches"),
        ("图块网格",),
        Text(
            "The rows and columns of patches that an image is cut into; a patch keeps its place in it through all "
            "blocks.",
            "图像切成图块后的行与列；图块经过所有块，位置都不变。",
        ),
        "N = (H/P) · (W/P)",
    ),
    Entry(
        ("patch embedding",),
        ("图块嵌入",),
        Text("The matrix that turns the pixels of a patch into a token.", "把图块的像素变成标记的矩阵。"),
        "z = W x + b",
    ),
    Entry(
        ("token", "patch token"),
        ("标记", "图块标记"),
        Text(
            "One vector of the sequence that a transformer works on: one for each patch, plus a few more.",
            "Transformer 所处理的序列中的一个向量：每个图块对应一个，另有少数几个。",
        ),
        "x ∈ ℝᴰ",
    ),
    Entry(
        ("class token", "CLS"),
        ("类别标记",),
        Text(
            "A learned token without a place in the image; it collects the information that the classifier reads.",
            "可学习的标记，在图像中没有位置；它汇集信息，供分类头读取。",
        ),
    ),
    Entry(
        ("distillation token",),
        ("蒸馏标记",),
        Text(
            "The second learned token of DeiT, trained to predict the answer of a teacher network.",
            "DeiT 的第二个可学习标记，训练它预测教师网络的答案。",
        ),
    ),
    Entry(
        ("register", "register token"),
        ("寄存器标记",),
        Text(
            "A learned token that no output is read from; it stores global information that would otherwise take "
            "over background patches.",
            "可学习的标记，任何输出都不读取它；模型把全局信息存于其中，否则这些信息会占用背景图块。",
        ),
    ),
    Entry(
        ("prefix token",),
        ("前缀标记",),
        Text(
            "All tokens without a place in the image: class token, distillation token, registers.",
            "所有在图像中没有位置的标记：类别标记、蒸馏标记、寄存器标记。",
        ),
    ),
    Entry(
        ("position embedding",),
        ("位置编码",),
        Text(
            "A vector for each position that is added to the token there; without it a transformer cannot tell where "
            "a patch is.",
            "每个位置各有一个向量，加到该处的标记上；没有它，Transformer 不知道图块在哪里。",
        ),
        "x = z + e",
    ),
    Entry(
        ("rotary", "rotary position", "RoPE"),
        ("旋转位置编码",),
        Text(
            "Queries and keys are rotated by angles proportional to their position, so that their product depends "
            "on their relative position.",
            "查询与键各旋转一个角度，角度与位置成正比，使二者的内积取决于相对位置。",
        ),
        "(R_i q) · (R_j k) = q · R_{j−i} k",
    ),
    Entry(
        ("relative position bias",),
        ("相对位置偏置",),
        Text(
            "A learned number for each offset between two patches, added to their score before the softmax.",
            "两个图块之间的每种相对位移各有一个学到的数，在 softmax 之前加到分数上。",
        ),
        "softmax(q·kᵀ/√d + B)",
    ),
    # ------------------------------------------------------------------------------------------ attention
    Entry(
        ("attention", "self-attention", "attention weight"),
        ("注意力", "自注意力", "注意力权重"),
        Text(
            "How much each token takes from every token, itself included: for each query, shares that add up to 1.",
            "每个标记从各个标记（包括自己）取多少：对每个查询，这些份额之和为 1。",
        ),
        "softmax(q·kᵀ/√d) v",
    ),
    Entry(
        ("head", "attention head"),
        ("注意力头", "头"),
        Text(
            "One of several parallel attentions in a block, each with its own queries, keys and values.",
            "一个块中并行的多个注意力之一，各有自己的查询、键与值。",
        ),
        "d = D / h",
    ),
    Entry(
        ("query", "queries"),
        ("查询",),
        Text(
            "The vector that a token compares with all keys; also the token that attends.",
            "标记用来与所有键比较的向量；也指发出注意力的那个标记。",
        ),
        "q = W_Q x",
    ),
    Entry(
        ("key",),
        ("键",),
        Text(
            "The vector that is compared with queries; also the token that is attended to.",
            "与查询比较的向量；也指被关注的那个标记。",
        ),
        "k = W_K x",
    ),
    Entry(
        ("value vector",),
        ("值向量", "值"),
        Text("The vector that a token passes on to the tokens that attend to it.", "标记传给关注它的各标记的向量。"),
        "v = W_V x",
    ),
    Entry(
        ("score", "attention score"),
        ("注意力分数",),
        Text(
            "How well a query and a key match, before the softmax turns scores into shares.",
            "查询与键的匹配程度；随后 softmax 把分数变成份额。",
        ),
        "q·k / √d",
    ),
    Entry(
        ("softmax",),
        ("softmax",),
        Text(
            "Turns any numbers into positive shares that add up to 1; the largest number gets the largest share.",
            "把任意一组数变成和为 1 的正份额；最大的数得到最大的份额。",
        ),
        "e^{s_i} / Σ_j e^{s_j}",
    ),
    Entry(
        ("attention distance",),
        ("注意力距离",),
        Text(
            "How far a head looks on average: the distance to each patch, weighted by its attention.",
            "一个头平均看得有多远：到各图块的距离，以注意力为权重求平均。",
        ),
        "Σ_j A_ij D_ij",
    ),
    Entry(
        ("entropy",),
        ("熵",),
        Text(
            "How evenly attention is spread: 0 if one key gets everything, ln N if all N keys get the same.",
            "注意力分布得有多均匀：全部给一个键时为 0，平均分给 N 个键时为 ln N。",
        ),
        "−Σ_j A_j ln A_j",
    ),
    Entry(
        ("window", "window attention"),
        ("窗口", "窗口注意力"),
        Text(
            "A square of neighbouring patches; in Swin a token attends only within its own window.",
            "相邻图块组成的方块；在 Swin 中，标记只关注自己窗口内的标记。",
        ),
        "O(N · w²)",
    ),
    Entry(
        ("shifted window",),
        ("移位窗口",),
        Text(
            "In every other block Swin shifts its windows by half their side, so that neighbours across a border "
            "attend to each other.",
            "Swin 每隔一个块把窗口移动半个边长，使边界两侧相邻的图块能够相互关注。",
        ),
    ),
    # ------------------------------------------------------------------------------------------ the network
    Entry(
        ("block",),
        ("块",),
        Text(
            "Attention followed by an MLP, each of which adds to the tokens; a transformer is a stack of such blocks.",
            "注意力之后接 MLP，二者依次把结果加到标记上；Transformer 由结构相同的块堆叠而成。",
        ),
        "x ← x + attn(x);  x ← x + mlp(x)",
    ),
    Entry(
        ("stage",),
        ("阶段",),
        Text(
            "A group of Swin blocks on the same patch grid; between two stages, 2 × 2 tokens are merged into one.",
            "Swin 中图块网格相同的一组块；两个阶段之间，每 2 × 2 个标记合并为一个。",
        ),
    ),
    Entry(
        ("residual stream", "residual connection"),
        ("残差流", "残差连接"),
        Text(
            "The tokens as they pass through the network: every block reads them and adds to them.",
            "在网络中逐块传递的标记：每个块读取它们，再把结果加上去。",
        ),
        "x_{l+1} = x_l + f_l(x_l)",
    ),
    Entry(
        ("MLP", "multilayer perceptron"),
        ("MLP", "多层感知机"),
        Text(
            "Two matrices with a non-linearity between them, applied to each token separately.",
            "两个矩阵，中间有一个非线性函数，对每个标记单独作用。",
        ),
        "W₂ gelu(W₁ x)",
    ),
    Entry(
        ("LayerNorm", "layer norm", "norm", "final norm"),
        ("层归一化", "归一化"),
        Text(
            "Scales the numbers of each token to mean 0 and standard deviation 1, then applies a learned scale and "
            "shift.",
            "把每个标记的数变成均值为 0、标准差为 1，再按学到的参数缩放与平移。",
        ),
        "γ (x − μ)/σ + β",
    ),
    Entry(
        ("mean pooling", "mean over patches", "average pooling"),
        ("平均池化", "图块平均"),
        Text(
            "The classifier reads the mean of all patch tokens instead of a class token.",
            "分类头读取所有图块标记的均值，而不是类别标记。",
        ),
        "1/N Σ_i x_i",
    ),
    Entry(
        ("classifier",),
        ("分类头",),
        Text(
            "The last matrix: it turns the final token into one number for each class.",
            "最后一个矩阵：由最终的标记算出每个类别的一个数。",
        ),
        "W x + b",
    ),
    Entry(
        ("logit",),
        ("logit", "logits"),
        Text(
            "The output of the classifier for a class, before the softmax turns all logits into probabilities.",
            "分类头对某个类别的输出；所有 logits 经 softmax 后变成概率。",
        ),
    ),
    Entry(
        ("probability", "probabilities"),
        ("概率",),
        Text(
            "The softmax of the logits: values from 0 to 1 that add up to 1 over all classes.",
            "对 logits 取 softmax 得到的数：在 0 与 1 之间，所有类别之和为 1。",
        ),
        "p = softmax(logits)",
    ),
    Entry(
        ("parameter",),
        ("参数", "参数量"),
        Text(
            "One of the numbers learned in training; all of them together are the model.",
            "训练中学到的一个数；全部参数合起来就是模型。",
        ),
        "≈ 12 L D²",
    ),
    Entry(
        ("MACs", "MAC", "multiply-accumulate"),
        ("MACs", "MAC", "乘加", "乘加运算"),
        Text(
            "One multiplication and one addition: the unit for counting the work of a network.",
            "一次乘法加一次加法，用来计量网络的计算量。",
        ),
        "1 MAC = 2 FLOPs",
    ),
    # ------------------------------------------------------------------------------------------ explaining
    Entry(
        ("rollout", "attention rollout"),
        ("注意力展开", "rollout"),
        Text(
            "Attention multiplied through all blocks, with half of every token kept for the residual connection: it "
            "shows where a token collected its information.",
            "把各块的注意力依次相乘，每一步都为残差连接保留标记的一半：显示标记的信息来自何处。",
        ),
        "∏ rownorm(½ A + ½ I)",
    ),
    Entry(
        ("relevance",),
        ("相关性",),
        Text(
            "How much a patch counts for or against one class; unlike attention, it explains an answer.",
            "图块在多大程度上支持或反对某个类别；与注意力不同，它解释一个答案。",
        ),
        "R ← R + mean_h relu(∇A · A) R",
    ),
    Entry(
        ("target", "target class"),
        ("目标类别",),
        Text(
            "The class whose logit is explained; by default the answer of the model.",
            "被解释的类别；默认是模型给出的答案。",
        ),
    ),
    Entry(
        ("gradient",),
        ("梯度",),
        Text(
            "How much the logit of a class changes for a small change of each number that it was computed from.",
            "计算所用的每个数稍有变化时，某个类别的 logit 会变化多少。",
        ),
        "∂L/∂x",
    ),
    Entry(
        ("Grad-CAM",),
        ("Grad-CAM",),
        Text(
            "The sum of the channels, each weighted by its mean gradient for a class; positive values show where "
            "the features of the class are.",
            "各通道以某个类别的梯度均值加权后求和；正值显示该类别的特征在哪里。",
        ),
        "relu(Σ_c mean(∇x_c) x_c)",
    ),
    Entry(
        ("integrated gradients",),
        ("积分梯度",),
        Text(
            "The gradient, averaged along the straight line from a baseline to the image, times their difference: "
            "the contributions add up to the change of the logit.",
            "沿基线到图像的直线对梯度求平均，再乘以二者之差：各处的贡献之和等于 logit 的变化。",
        ),
        "(x − x₀) ∫₀¹ ∇L(x₀ + t (x − x₀)) dt",
    ),
    Entry(
        ("baseline",),
        ("基线",),
        Text(
            "The picture without content, such as one of the mean colour, that an explanation is measured against.",
            "没有内容的图像，例如一片平均颜色；解释以它为参照。",
        ),
    ),
    Entry(
        ("occlusion",),
        ("遮挡",),
        Text(
            "Cover one patch and run the network again: the drop of the logit is the contribution of the patch.",
            "遮住一个图块，再运行一次网络：logit 下降的量就是该图块的贡献。",
        ),
        "L(x) − L(x without patch)",
    ),
    Entry(
        ("faithfulness",),
        ("忠实度",),
        Text(
            "Whether a map finds the patches that the model uses: remove patches in the order of the map and see how "
            "fast the probability falls.",
            "图是否找出了模型真正用到的图块：按图给出的顺序移除图块，看概率下降得多快。",
        ),
        "area(insertion) − area(deletion)",
    ),
    Entry(
        ("logit lens",),
        ("logit lens", "逐块读出"),
        Text(
            "The final norm and classifier applied after every block, as if the network ended there.",
            "在每个块之后都套用最后的归一化与分类头，仿佛网络到此为止。",
        ),
        "head(norm(x_l))",
    ),
    Entry(
        ("cosine", "cosine similarity"),
        ("余弦", "余弦相似度"),
        Text(
            "How similar the directions of two vectors are: 1 is the same, 0 unrelated, −1 opposite.",
            "两个向量方向的相似程度：1 为相同，0 为无关，−1 为相反。",
        ),
        "x·y / (|x| |y|)",
    ),
    Entry(
        ("principal component", "PCA"),
        ("主成分", "PCA"),
        Text(
            "The direction in which the tokens differ most; the next component is at right angles to it, and so on.",
            "各标记差别最大的方向；下一个主成分与它垂直，依此类推。",
        ),
        "max_w Var(w · x), |w| = 1",
    ),
    Entry(
        ("outlier",),
        ("离群图块", "离群标记"),
        Text(
            "A patch whose token is much longer than the others; large models store global information there.",
            "其标记的范数远大于其他标记的图块；大模型会把全局信息存放在那里。",
        ),
        "|x| > Q₃ + 3 (Q₃ − Q₁)",
    ),
    Entry(
        ("equivariant", "equivariance", "translation equivariance"),
        ("等变", "等变性", "平移等变性"),
        Text(
            "If the image shifts, the features shift with it and do not change otherwise.",
            "图像平移时，特征随之平移，除此之外不变。",
        ),
        "f(T x) = T f(x)",
    ),
    # ------------------------------------------------------------------------------------------ training
    Entry(
        ("masked autoencoder", "MAE"),
        ("掩码自编码器", "MAE"),
        Text(
            "Training without labels: most patches are hidden, and the model learns to reconstruct them from the rest.",
            "无标签训练：遮住大部分图块，让模型学习根据其余图块重建它们。",
        ),
        "mean over hidden |x − x̂|²",
    ),
    Entry(
        ("self-distillation", "DINO"),
        ("自蒸馏", "DINO"),
        Text(
            "Training without labels: from a part of the image, a student learns to predict the output of a slowly "
            "updated copy of itself for the whole image.",
            "无标签训练：学生网络只看图像的局部，学习预测自身的一个缓慢更新的副本看整幅图像时的输出。",
        ),
        "−Σ p_teacher ln p_student",
    ),
    Entry(
        ("fine-tuning", "fine-tune"),
        ("微调",),
        Text("Continuing the training of a pretrained model on your own images.", "在自己的图像上继续训练预训练模型。"),
    ),
    Entry(
        ("backbone",),
        ("骨干", "骨干网络"),
        Text(
            "The trained model without its classifier, whose features a new task builds on.",
            "去掉分类头的已训练模型；新任务建立在它的特征之上。",
        ),
    ),
    Entry(
        ("linear probe",),
        ("线性探测",),
        Text(
            "Only a new classifier is trained on frozen features; it shows what information they already contain.",
            "在冻结的特征上只训练一个新的分类头，由此看出特征中已有哪些信息。",
        ),
        "D · K + K",
    ),
    Entry(
        ("partial-k", "last blocks"),
        ("末尾若干块",),
        Text(
            "Only the last k blocks are trained; everything below them stays frozen.",
            "只训练最后 k 个块，其下的部分保持冻结。",
        ),
        "≈ 12 k D²",
    ),
    Entry(
        ("LoRA",),
        ("LoRA", "低秩适配"),
        Text(
            "A trainable low-rank change is added to a frozen matrix; it can be merged into the matrix after training.",
            "在冻结的矩阵旁加一个可训练的低秩改变量，训练后可并入原矩阵。",
        ),
        "W + (α/r) B A,  2 r D parameters a matrix",
    ),
    Entry(
        ("adapter",),
        ("适配器",),
        Text(
            "A small trained bottleneck inside every block of an otherwise frozen model.",
            "插入每个块中的可训练小瓶颈层；模型的其余部分保持冻结。",
        ),
        "x + W_up f(W_down x)",
    ),
    Entry(
        ("visual prompt", "prompt token", "prompt", "VPT"),
        ("视觉提示", "提示标记", "VPT"),
        Text(
            "Learned tokens inserted into the sequence of a frozen model to steer it.",
            "插入冻结模型的序列中的可学习标记，用来引导模型。",
        ),
        "[cls; prompts; patches]",
    ),
    Entry(
        ("PETL", "parameter-efficient"),
        ("PETL", "参数高效"),
        Text(
            "Adapting a large model to a task by training a small share of its parameters, or a few new ones.",
            "只训练大模型的一小部分参数或少量新参数，使模型适应某个任务。",
        ),
    ),
)
