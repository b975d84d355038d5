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
            "A square of pixels that the image is cut into; the transformer reads patches as a text model reads words.",
            "图像被切成的正方形小块；Transformer 读取图块，就像语言模型读取词。",
        ),
        "P × P × 3",
    ),
    Entry(
        ("patch grid", "grid of patches"),
        ("图块网格",),
        Text(
            "The rows and columns of patches that an image is cut into; a patch keeps its place in it through all "
            "blocks.",
            "图像切成的图块的行与列；图块在所有块中都保持自己的位置。",
        ),
        "N = (H/P) · (W/P)",
    ),
    Entry(
        ("patch embedding",),
        ("图块嵌入",),
        Text("The one matrix that turns the pixels of a patch into a token.", "把一个图块的像素变成标记的那个矩阵。"),
        "z = W x + b",
    ),
    Entry(
        ("token", "patch token"),
        ("标记", "图块标记"),
        Text(
            "One row of numbers of the sequence that a transformer works on: one for each patch, and a few more.",
            "Transformer 所处理序列中的一行数：每个图块一个，另有少数几个。",
        ),
        "x ∈ ℝᴰ",
    ),
    Entry(
        ("class token", "CLS"),
        ("类别标记",),
        Text(
            "A learned token without a place in the image that gathers what the classifier then reads.",
            "一个可学习、在图像中没有位置的标记，它汇集信息供分类头读取。",
        ),
    ),
    Entry(
        ("distillation token",),
        ("蒸馏标记",),
        Text(
            "DeiT's second learned token, trained to say what a teacher network says.",
            "DeiT 的第二个可学习标记，训练时让它给出教师网络的答案。",
        ),
    ),
    Entry(
        ("register", "register token"),
        ("寄存器标记",),
        Text(
            "A learned token that nobody reads out; models keep global notes in it that would otherwise take over "
            "background patches.",
            "不被读出的可学习标记；模型把全局信息记在其中，否则这些信息会占用背景图块。",
        ),
    ),
    Entry(
        ("prefix token",),
        ("前缀标记",),
        Text(
            "Every token without a place in the image: class token, distillation token, registers.",
            "所有在图像中没有位置的标记：类别标记、蒸馏标记、寄存器标记。",
        ),
    ),
    Entry(
        ("position embedding",),
        ("位置编码",),
        Text(
            "A vector for each place that is added to the token there; without it a transformer does not know where a "
            "patch lies.",
            "为每个位置加到标记上的向量；没有它，Transformer 不知道图块在哪里。",
        ),
        "x = z + e",
    ),
    Entry(
        ("rotary", "rotary position", "RoPE"),
        ("旋转位置编码",),
        Text(
            "Queries and keys are turned by angles that grow with their place, so that their product depends on how "
            "far apart they lie.",
            "把查询与键按随位置增长的角度旋转，使其内积取决于两者相距多远。",
        ),
        "(R_i q) · (R_j k) = q · R_{j−i} k",
    ),
    Entry(
        ("relative position bias",),
        ("相对位置偏置",),
        Text(
            "A learned number for each offset between two patches, added to their score before the softmax.",
            "为两个图块之间的每种偏移学到的一个数，在 softmax 之前加到分数上。",
        ),
        "softmax(q·kᵀ/√d + B)",
    ),
    # ------------------------------------------------------------------------------------------ attention
    Entry(
        ("attention", "self-attention", "attention weight"),
        ("注意力", "自注意力", "注意力权重"),
        Text(
            "How much each token takes from every other one: shares that add up to 1 for each query.",
            "每个标记从其他各标记取多少：对每个查询，这些份额之和为 1。",
        ),
        "softmax(q·kᵀ/√d) v",
    ),
    Entry(
        ("head", "attention head"),
        ("注意力头", "头"),
        Text(
            "One of several attentions side by side in a block, each with queries, keys and values of its own.",
            "一个块中并行的多个注意力之一，各有自己的查询、键与值。",
        ),
        "d = D / h",
    ),
    Entry(
        ("query", "queries"),
        ("查询",),
        Text("The vector with which a token asks; the token that looks.", "标记用来发问的向量；也指正在看的那个标记。"),
        "q = W_Q x",
    ),
    Entry(
        ("key",),
        ("键",),
        Text(
            "The vector with which a token answers queries; the token that is looked at.",
            "标记用来回应查询的向量；也指被看的那个标记。",
        ),
        "k = W_K x",
    ),
    Entry(
        ("value vector",),
        ("值向量", "值"),
        Text("What a token hands over to those that look at it.", "标记交给关注它的标记的内容。"),
        "v = W_V x",
    ),
    Entry(
        ("score", "attention score"),
        ("注意力分数",),
        Text(
            "How well a query and a key fit, before the softmax makes shares of it.",
            "查询与键的匹配程度，随后由 softmax 变成份额。",
        ),
        "q·k / √d",
    ),
    Entry(
        ("softmax",),
        ("softmax",),
        Text(
            "Turns any numbers into positive shares that add up to 1; the largest number gets most.",
            "把任意一组数变成和为 1 的正份额；最大的数得到最多。",
        ),
        "e^{s_i} / Σ_j e^{s_j}",
    ),
    Entry(
        ("attention distance",),
        ("注意力距离",),
        Text(
            "How far a head looks on average, each patch weighted by the attention that it gets.",
            "一个头平均看得有多远，按各图块得到的注意力加权。",
        ),
        "Σ_j A_ij D_ij",
    ),
    Entry(
        ("entropy",),
        ("熵",),
        Text(
            "How evenly attention is spread: 0 where one key gets all, ln N where all get the same.",
            "注意力分布得有多均匀：全部给一个键时为 0，平均分配时为 ln N。",
        ),
        "−Σ_j A_j ln A_j",
    ),
    Entry(
        ("window", "window attention"),
        ("窗口", "窗口注意力"),
        Text(
            "A square of neighbouring patches; in Swin a token attends only to those in its own window.",
            "相邻图块组成的方块；在 Swin 中，标记只关注自己窗口内的标记。",
        ),
        "O(N · w²)",
    ),
    Entry(
        ("shifted window",),
        ("移位窗口",),
        Text(
            "In every other block Swin moves its windows by half their side, so that neighbours across a border meet.",
            "Swin 每隔一个块把窗口移动半个边长，使边界两侧的邻居能够相遇。",
        ),
    ),
    # ------------------------------------------------------------------------------------------ the network
    Entry(
        ("block",),
        ("块",),
        Text(
            "Attention and an MLP, each of which adds to the tokens; a transformer is a stack of equal blocks.",
            "注意力加一个 MLP，二者依次把结果加到标记上；Transformer 由相同的块堆叠而成。",
        ),
        "x ← x + attn(x);  x ← x + mlp(x)",
    ),
    Entry(
        ("stage",),
        ("阶段",),
        Text(
            "A group of Swin's blocks with one size of patch grid; between two stages 2 × 2 tokens become one.",
            "Swin 中图块网格大小相同的一组块；阶段之间每 2 × 2 个标记合并为一个。",
        ),
    ),
    Entry(
        ("residual stream", "residual connection"),
        ("残差流", "残差连接"),
        Text(
            "The tokens on their way through the network: every block reads them and adds to them.",
            "标记在网络中一路传递的内容：每个块读取它并往上加。",
        ),
        "x_{l+1} = x_l + f_l(x_l)",
    ),
    Entry(
        ("MLP", "multilayer perceptron"),
        ("MLP", "多层感知机"),
        Text(
            "Two matrices with a bend between them that work on each token for itself.",
            "两个矩阵夹一个非线性函数，对每个标记单独作用。",
        ),
        "W₂ gelu(W₁ x)",
    ),
    Entry(
        ("LayerNorm", "layer norm", "norm", "final norm"),
        ("层归一化", "归一化"),
        Text(
            "Brings the numbers of each token to mean 0 and deviation 1, then scales and shifts them as learned.",
            "把每个标记的数变成均值 0、标准差 1，再按学到的参数缩放与平移。",
        ),
        "γ (x − μ)/σ + β",
    ),
    Entry(
        ("mean pooling", "mean over patches", "average pooling"),
        ("平均池化", "图块平均"),
        Text(
            "The classifier reads the mean of all patch tokens instead of a class token.",
            "分类头读取所有图块标记的平均，而不是类别标记。",
        ),
        "1/N Σ_i x_i",
    ),
    Entry(
        ("classifier",),
        ("分类头",),
        Text(
            "The last matrix: it turns the token that is read into one number for each class.",
            "最后的矩阵：把被读取的标记变成每个类别一个数。",
        ),
        "W x + b",
    ),
    Entry(
        ("logit",),
        ("logit", "logits"),
        Text(
            "The classifier's number for a class before the softmax makes probabilities of all of them.",
            "分类头对某个类别给出的数，经 softmax 后变成概率。",
        ),
    ),
    Entry(
        ("probability", "probabilities"),
        ("概率",),
        Text(
            "What the softmax makes of the logits: between 0 and 1, adding up to 1 over all classes.",
            "softmax 由 logits 得到的数：在 0 与 1 之间，对所有类别之和为 1。",
        ),
        "p = softmax(logits)",
    ),
    Entry(
        ("parameter",),
        ("参数", "参数量"),
        Text(
            "One of the numbers that training sets; together they are the model.",
            "训练所确定的数之一；全部参数合起来就是模型。",
        ),
        "≈ 12 L D²",
    ),
    Entry(
        ("MACs", "MAC", "multiply-accumulate"),
        ("MACs", "MAC", "乘加", "乘加运算"),
        Text(
            "A multiplication and an addition, the unit in which the work of a network is counted.",
            "一次乘法加一次加法，用来计量网络的计算量。",
        ),
        "1 MAC = 2 FLOPs",
    ),
    # ------------------------------------------------------------------------------------------ explaining
    Entry(
        ("rollout", "attention rollout"),
        ("注意力展开", "rollout"),
        Text(
            "Attention multiplied through all blocks, half of every token kept for the residual connection: from where "
            "a token gathered.",
            "把各块的注意力依次相乘，并为残差连接保留一半：标记的信息从何处汇集而来。",
        ),
        "∏ rownorm(½ A + ½ I)",
    ),
    Entry(
        ("relevance",),
        ("相关性",),
        Text(
            "How much a patch speaks for or against one class; unlike attention it belongs to an answer.",
            "图块在多大程度上支持或反对某个类别；与注意力不同，它针对一个答案。",
        ),
        "R ← R + mean_h relu(∇A · A) R",
    ),
    Entry(
        ("target", "target class"),
        ("目标类别",),
        Text(
            "The class whose logit is explained; by default the one that the model answers.",
            "被解释的类别；默认是模型给出的答案。",
        ),
    ),
    Entry(
        ("gradient",),
        ("梯度",),
        Text(
            "How much the logit of a class would change for a small change of each number it was computed from.",
            "计算所用的每个数稍有变化时，类别的 logit 会变化多少。",
        ),
        "∂L/∂x",
    ),
    Entry(
        ("Grad-CAM",),
        ("Grad-CAM",),
        Text(
            "Channels weighted by the mean gradient of a class; what is positive shows where its features lie.",
            "按类别梯度的平均给各通道加权；取正的部分显示该类别的特征所在。",
        ),
        "relu(Σ_c mean(∇x_c) x_c)",
    ),
    Entry(
        ("integrated gradients",),
        ("积分梯度",),
        Text(
            "The gradient averaged on the straight way from a baseline to the image, times their difference: the parts "
            "add up to the change of the logit.",
            "从基线到图像的直线上梯度的平均，乘以二者之差：各部分之和等于 logit 的变化。",
        ),
        "(x − x₀) ∫₀¹ ∇L(x₀ + t (x − x₀)) dt",
    ),
    Entry(
        ("baseline",),
        ("基线",),
        Text(
            "The picture that stands for nothing, such as the mean colour, which an explanation is measured from.",
            "代表“什么都没有”的图像，例如平均颜色；解释以它为起点。",
        ),
    ),
    Entry(
        ("occlusion",),
        ("遮挡",),
        Text(
            "One patch is covered and the network runs again: what the logit loses is the patch's part.",
            "遮住一个图块再运行网络：logit 减少的量就是该图块的作用。",
        ),
        "L(x) − L(x without patch)",
    ),
    Entry(
        ("faithfulness",),
        ("忠实度",),
        Text(
            "Whether a map names the patches that the model uses: remove them in its order and see how fast the "
            "probability falls.",
            "图是否指出了模型真正用到的图块：按它的顺序移除图块，看概率下降得多快。",
        ),
        "area(insertion) − area(deletion)",
    ),
    Entry(
        ("logit lens",),
        ("logit lens", "逐块读出"),
        Text(
            "The final norm and classifier applied after every block, as if the network ended there.",
            "在每个块之后就使用最后的归一化与分类头，仿佛网络到此为止。",
        ),
        "head(norm(x_l))",
    ),
    Entry(
        ("cosine", "cosine similarity"),
        ("余弦", "余弦相似度"),
        Text(
            "How alike the directions of two vectors are: 1 the same, 0 unrelated, −1 opposite.",
            "两个向量方向的相似程度：1 为相同，0 为无关，−1 为相反。",
        ),
        "x·y / (|x| |y|)",
    ),
    Entry(
        ("principal component", "PCA"),
        ("主成分", "PCA"),
        Text(
            "The direction in which tokens differ most; then the one at right angles to it, and so on.",
            "标记差别最大的方向；随后是与之垂直、差别次大的方向，依此类推。",
        ),
        "max_w Var(w · x), |w| = 1",
    ),
    Entry(
        ("outlier",),
        ("离群者", "离群图块"),
        Text(
            "A patch whose token is far longer than the others; large models put global notes there.",
            "标记长度远大于其他的图块；大模型会把全局信息放在那里。",
        ),
        "|x| > Q₃ + 3 (Q₃ − Q₁)",
    ),
    Entry(
        ("equivariant", "equivariance", "translation equivariance"),
        ("等变", "等变性", "平移等变性"),
        Text(
            "Shift the image and the features shift with it, otherwise unchanged.",
            "图像平移，特征也随之平移，此外不变。",
        ),
        "f(T x) = T f(x)",
    ),
    # ------------------------------------------------------------------------------------------ training
    Entry(
        ("masked autoencoder", "MAE"),
        ("掩码自编码器", "MAE"),
        Text(
            "Training without labels: most patches are hidden, and the model learns to draw them from the rest.",
            "无标签训练：遮住大部分图块，让模型根据其余部分把它们画出来。",
        ),
        "mean over hidden |x − x̂|²",
    ),
    Entry(
        ("self-distillation", "DINO"),
        ("自蒸馏", "DINO"),
        Text(
            "Training without labels: a student learns to say of a part of the image what a slow copy of itself says "
            "of the whole.",
            "无标签训练：学生网络看局部，学习给出与自身缓慢更新的副本看整幅图像时相同的输出。",
        ),
        "−Σ p_teacher ln p_student",
    ),
    Entry(
        ("fine-tuning", "fine-tune"),
        ("微调",),
        Text(
            "Training a model that already knows much on further on images of one's own.",
            "在自己的图像上继续训练一个已有知识的模型。",
        ),
    ),
    Entry(
        ("backbone",),
        ("骨干", "骨干网络"),
        Text(
            "The trained model without its classifier, whose features a new task builds on.",
            "去掉分类头的已训练模型，新任务建立在它的特征之上。",
        ),
    ),
    Entry(
        ("linear probe",),
        ("线性探测",),
        Text(
            "Only a new classifier is trained on frozen features: it shows what they already hold.",
            "在冻结的特征上只训练一个新的分类头：显示特征中已经含有什么。",
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
            "A frozen matrix gets a trained change of low rank beside it, which can be added into it afterwards.",
            "在冻结的矩阵旁加一个可训练的低秩改变量，训练后可并入原矩阵。",
        ),
        "W + (α/r) B A,  2 r D parameters a matrix",
    ),
    Entry(
        ("adapter",),
        ("适配器",),
        Text(
            "A small trained bottleneck inside every block of an otherwise frozen model.",
            "在其余部分冻结的模型的每个块中插入的可训练小瓶颈层。",
        ),
        "x + W_up f(W_down x)",
    ),
    Entry(
        ("visual prompt", "prompt token", "prompt", "VPT"),
        ("视觉提示", "提示标记", "VPT"),
        Text(
            "Learned tokens put into the sequence of a frozen model to steer it.",
            "放进冻结模型序列中的可学习标记，用来引导模型。",
        ),
        "[cls; prompts; patches]",
    ),
    Entry(
        ("PETL", "parameter-efficient"),
        ("PETL", "参数高效"),
        Text(
            "Fitting a large model to a task by training a small share of its parameters, or a few new ones.",
            "只训练大模型的一小部分参数，或少量新参数，使其适应任务。",
        ),
    ),
)
