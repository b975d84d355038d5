"""Causes in the weights, and in how they were converted."""

from __future__ import annotations

from vitexplorer.core.text import Text
from vitexplorer.diagnosis.causes.cause import COSTS_LITTLE, TRIED_LATE, Cause

CAUSES: dict[str, Cause] = {
    "weights_not_loaded": Cause(
        "weights",
        Text("Weights not loaded", "权重未加载"),
        Text("Nearly all tensors of the blocks are those of a fresh initialisation.", "各块几乎所有张量都是初始值。"),
        Text(
            "Answers are chance, and every picture gets nearly the same one.",
            "回答等同随机，每幅图像几乎得到同一个回答。",
        ),
        Text(
            "Load the weights, and look at what load_state_dict returns: it lists the names that did not fit.",
            "加载权重，并查看 load_state_dict 的返回值：其中列出不相符的名称。",
        ),
        "parameters",
    ),
    "half_loaded": Cause(
        "weights",
        Text("Weights partly loaded", "权重只加载了一部分"),
        Text("Some tensors of the blocks are those of a fresh initialisation.", "各块中有一些张量是初始值。"),
        Text("Answers are poor although the first blocks look sensible.", "前几块看似正常，回答却很差。"),
        Text(
            "Rename the tensors that load_state_dict reports as missing, and load with strict=True.",
            "按 load_state_dict 报告的缺失项改名，并用 strict=True 加载。",
        ),
        "logit_lens",
    ),
    "head_not_loaded": Cause(
        "weights",
        Text("Classifier not loaded", "分类头未加载"),
        Text(
            "The answers are chance, and a probe on the features that the classifier reads is not.",
            "回答等同随机，而分类头所读特征上的探针并非如此。",
        ),
        Text(
            "Answers are chance, while a linear probe on the features is good.",
            "回答等同随机，而特征上的线性探针很好。",
        ),
        Text(
            "Load the classifier too, or train a new one on the frozen features.",
            "同时加载分类头，或在冻结的特征上训练一个新的。",
        ),
        "pooling",
        TRIED_LATE,
    ),
    "positions_transposed": Cause(
        "weights",
        Text("Positions transposed", "位置编码行列互换"),
        Text("The position embedding is tried transposed.", "将位置编码转置后再试。"),
        Text(
            "Objects are recognised where they are symmetric, and mistaken elsewhere.", "对称的物体能认出，其余认错。"
        ),
        Text("Store the table of positions row by row: rows first, then columns.", "位置编码按行存放：先行后列。"),
        "position_similarity",
        COSTS_LITTLE,
    ),
    "positions_shuffled": Cause(
        "weights",
        Text("Positions shuffled", "位置编码被打乱"),
        Text(
            "The places whose embeddings are most alike are no neighbours, or answers are better without positions.",
            "编码最相似的位置并不相邻，或去掉位置编码后回答更好。",
        ),
        Text("The model answers as if the patches were a puzzle.", "模型的回答像是面对打乱的拼图。"),
        Text(
            "Restore the order of the table, or load it again from the source of the weights.",
            "恢复位置编码的顺序，或从权重来源重新加载。",
        ),
        "position_similarity",
        Text(
            "The order cannot be restored, and leaving positions out does not bring the accuracy back.",
            "无法恢复原来的顺序；去掉位置编码也不能使准确率回升。",
        ),
    ),
    "positions_badly_resampled": Cause(
        "weights",
        Text("Positions badly resampled", "位置编码重采样有误"),
        Text("A resampling as a sequence is undone, and done as a grid.", "撤销按序列的重采样，改为按网格重采样。"),
        Text("Answers are good at the old size and poor at the new one.", "在原尺寸回答良好，在新尺寸变差。"),
        Text(
            "Resample the table as a grid with bicubic interpolation, and leave the prefix tokens out.",
            "把位置编码按网格做双三次插值，前缀标记不参与。",
        ),
        "position_similarity",
        COSTS_LITTLE,
    ),
    "positions_missing": Cause(
        "weights",
        Text("Positions missing", "缺少位置编码"),
        Text("The position embedding is the same for every patch.", "所有图块的位置编码都相同。"),
        Text("Shuffling the patches of a picture changes nothing.", "打乱图像的图块，结果毫无变化。"),
        Text(
            "Load the position embedding; it must differ from patch to patch.",
            "加载位置编码；各图块的位置编码应当互不相同。",
        ),
        "position_similarity",
    ),
    "prefix_token_missing": Cause(
        "architecture",
        Text("Prefix token missing", "缺少前缀标记"),
        Text(
            "A token before the patches changes with the picture, or the classifier reads a patch as its first token.",
            "图块之前的标记随图像变化，或分类头把图块当作第一个标记读取。",
        ),
        Text(
            "The first patch is treated as the class token, and the answer is read from it.",
            "第一个图块被当作类别标记，回答由它读出。",
        ),
        Text(
            "Put class token and registers before the patches, as in the training.",
            "像训练时那样把类别标记与寄存器放在图块之前。",
        ),
        "token_norms",
        Text(
            "Shuffled positions may be named before it, since every patch then has the position of its neighbour.",
            "此时每个图块都带着相邻图块的位置编码，因此位置编码被打乱可能排在它之前。",
        ),
    ),
    "prefix_tokens_among_patches": Cause(
        "architecture",
        Text("Prefix tokens among patches", "前缀标记混入图块"),
        Text(
            "A token among the patches is the same for every picture, or positions moved by some places answer better.",
            "图块中有标记对每幅图像都相同，或将位置编码移动几个位置后回答更好。",
        ),
        Text(
            "Maps are shifted by one patch and wrap around at the end of a row.", "图整体错开一个图块，并在行末换行。"
        ),
        Text(
            "Give positions to the patches alone, or to all tokens in the order of the table.",
            "位置编码只加给图块，或按表中的顺序加给所有标记。",
        ),
        "position_similarity",
    ),
    "heads_miscounted": Cause(
        "architecture",
        Text("Wrong number of heads", "注意力头数有误"),
        Text("Other numbers of heads are tried.", "尝试其他头数。"),
        Text(
            "Shapes fit and the answers are poor, since heads are cut in the wrong places.",
            "形状相符但回答很差，因为头的切分位置不对。",
        ),
        Text(
            "Take the number of heads from the config of the weights: their width is often 64.",
            "从权重的配置读取头数：每个头的宽度通常为 64。",
        ),
        "head_gallery",
    ),
    "qkv_misordered": Cause(
        "architecture",
        Text("Queries, keys, values misordered", "查询、键、值顺序有误"),
        Text(
            "Other orders of the three are tried, and those stored head by head.",
            "尝试三者的其他顺序，以及逐头存放的方式。",
        ),
        Text("Attention is nearly even, or always on the same tokens.", "注意力几乎均匀，或总落在同样的标记上。"),
        Text(
            "Split the joined matrix in the order of the checkpoint, and by head where it is stored by head.",
            "按权重的顺序拆分合并的矩阵；若逐头存放，则逐头拆分。",
        ),
        "head_gallery",
        TRIED_LATE,
    ),
    "scale_missing": Cause(
        "architecture",
        Text("Attention not scaled", "注意力未缩放"),
        Text(
            "The scores are divided by the root of the head's width, and multiplied by it.",
            "将分数除以或乘以头宽度的平方根。",
        ),
        Text("Every head looks at one token only, or at all alike.", "每个头只看一个标记，或对所有标记一视同仁。"),
        Text(
            "Divide queries times keys by the root of a head's width, once.",
            "把查询与键之积除以头宽度的平方根，只除一次。",
        ),
        "scaled_dot_product",
    ),
    "dead_heads": Cause(
        "weights",
        Text("Dead heads", "失效的注意力头"),
        Text(
            "The values of a head times its output weights are nothing beside those of other heads.",
            "某个头的值与其输出权重之积远小于其他头。",
        ),
        Text("Nothing looks wrong; the model is smaller than it seems.", "看不出异常，只是模型比看上去小。"),
        Text(
            "Nothing has to be mended; such heads can be removed. Many of them point to a failed training.",
            "无需修复，可以删去这些头；若数量很多，说明训练失败。",
        ),
        "head_atlas",
    ),
    "collapsed": Cause(
        "weights",
        Text("Collapsed", "输出塌缩"),
        Text("All pictures get nearly one feature or one class.", "所有图像得到几乎相同的特征或类别。"),
        Text(
            "One answer for every picture, and features that point in one direction.",
            "每幅图像回答相同，特征都指向同一方向。",
        ),
        Text(
            "Lower the learning rate and check the normalisation; without labels, also centring and temperature.",
            "降低学习率并检查归一化；无标签训练时还要检查中心化与温度。",
        ),
        "token_pca",
    ),
}
