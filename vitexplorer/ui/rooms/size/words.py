"""Texts of the size board that do not come with the counts."""

from __future__ import annotations

from vitexplorer.core.text import Text, same

CALCULATOR_WORDS: dict[str, Text] = {
    "figures": Text(
        "Figures: parameter tree, cost of each block, growth with the image size",
        "更多图：参数量矩形树图、逐块计算量、随图像尺寸的增长",
    ),
    # the question and its answer
    "question": Text("How large is the model, and what does an image cost?", "模型有多大，处理一幅图像要算多少？"),
    "reading_size": Text(
        "{total} parameters ({compact}), {share} of them {part}.",
        "共 {total} 个参数（{compact}），其中 {share} {part}。",
    ),
    "reading_less": Text(
        "The rough formula of lecture notes gives {rough}, {off} less.", "讲义中的粗略公式得 {rough}，少算 {off}。"
    ),
    "reading_more": Text(
        "The rough formula of lecture notes gives {rough}, {off} more.", "讲义中的粗略公式得 {rough}，多算 {off}。"
    ),
    "reading_cost": Text(
        "A picture of {height} × {width} px costs {macs} multiply-accumulates, {share} of them {part}.",
        "一幅 {height} × {width} 像素的图像需要 {macs} 次乘加，其中 {share} {part}。",
    ),
    # the parts
    "part_embedding": Text("Embedding", "嵌入"),
    "part_attention": Text("Attention", "注意力"),
    "part_mlp": same("MLP"),
    "part_norms": Text("Norms and scales", "归一化与缩放"),
    "part_merging": Text("Patch merging", "图块合并"),
    "part_head": Text("Classifier", "分类头"),
    "part_other": Text("Everything else", "其余部分"),
    "hint_embedding": Text("patches, positions, prefix tokens", "图块、位置、前缀标记"),
    "hint_attention": Text("queries, keys, values, output", "查询、键、值、输出"),
    "hint_mlp": Text("two matrices in every block", "每个块两个矩阵"),
    "hint_norms": Text("LayerNorm, LayerScale", "层归一化与 LayerScale"),
    "hint_merging": Text("between stages", "阶段之间"),
    "hint_head": Text("from the width to the classes", "从宽度到类别"),
    "hint_other": Text("none of these parts", "不属于以上各项"),
    "in_embedding": Text("in the embedding", "在嵌入层"),
    "in_attention": Text("in attention", "在注意力部分"),
    "in_mlp": Text("in the MLPs", "在 MLP"),
    "in_norms": Text("in norms", "在归一化"),
    "in_merging": Text("in patch merging", "在图块合并"),
    "in_head": Text("in the classifier", "在分类头"),
    "in_other": Text("elsewhere", "在其余部分"),
    # the countings
    "part": Text("Part", "部分"),
    "counted": Text("Counted", "实际统计"),
    "exact": Text("Exact formula", "精确公式"),
    "rough": Text("Rough formula", "粗略公式"),
    "difference": Text("Difference", "相差"),
    "macs": Text("MACs", "乘加（MACs）"),
    "parameters": Text("Parameters", "参数量"),
    "cost": Text("Cost of a picture (MACs)", "每幅图像的计算量（MACs）"),
    "formula_none": Text(
        "No closed formula is known for this family; the counts are read from the module.",
        "该家族没有已知的闭式公式，参数量直接从模块读取。",
    ),
    "formula_equals": Text("The formula gives exactly the count of the module.", "公式结果与模块的参数量完全一致。"),
    "twelve": Text(
        "The rough counts of attention and MLP add up to the 12 · L · D² of lecture notes.",
        "粗略公式中注意力与 MLP 之和即讲义中的 12 · L · D²。",
    ),
    "cost_none": Text("The cost of this family is not counted.", "该家族的计算量未统计。"),
    # the design
    "design": Text("Design your own", "自己设计一个"),
    "preset": Text("Start from", "起点"),
    "on_screen": Text("the model on the screen", "屏幕上的模型"),
    "your_design": Text("Your design", "您的设计"),
    "image_size": Text("Image (px)", "图像（像素）"),
    "patch_size": Text("Patch P (px)", "图块 P（像素）"),
    "dim": Text("Width D", "宽度 D"),
    "depth": Text("Blocks L", "块数 L"),
    "num_heads": Text("Heads", "头数"),
    "mlp_ratio": Text("MLP ratio M / D", "MLP 倍率 M / D"),
    "classes": Text("Classes K", "类别数 K"),
    "heads_note": Text(
        "The number of heads does not change any count, because heads share the width D. It must divide D.",
        "头数不改变参数量：各头平分宽度 D，且头数必须整除 D。",
    ),
    "heads_uneven": Text("{heads} heads do not divide the width {dim}.", "{heads} 个头不能整除宽度 {dim}。"),
    "cut_patches": Text(
        "The last {left:pixel} of each side {left:~does/do} not fill a patch and {left:~is/are} ignored.",
        "每边最后 {left} 个像素不足一个图块，被舍去。",
    ),
    "no_patches": Text("A patch is larger than the image: there are no tokens.", "图块比图像还大：没有标记。"),
    # tables on demand
    "tables": Text("Every number, term by term", "逐项的全部数字"),
    "open_parts": Text("Block by block", "逐块"),
    "open_exact": Text("Exact formula", "精确公式"),
    "open_rough": Text("Rough formula", "粗略公式"),
    "open_left_out": Text("What it leaves out", "它漏掉的部分"),
    "open_cost": Text("Cost", "计算量"),
    "open_tools": Text("What tools count", "各工具的统计"),
    "open_declared": Text("Sizes in papers", "论文中的规模"),
    "title_parts": Text("Parameters of {model}", "{model} 的参数量"),
    "title_exact": Text("Closed formula, term by term", "闭式公式（逐项）"),
    "title_rough": Text("The rough formula of lecture notes", "讲义中的粗略公式"),
    "title_left_out": Text("What the rough formula leaves out", "粗略公式漏掉的部分"),
    "title_cost": Text("Cost of one image", "处理一幅图像的计算量"),
    "title_tools": Text("Why tools print different numbers for this model", "为何各工具对同一模型给出不同的数字"),
    "title_declared": Text("Sizes stated in papers, and counts of the formula", "论文所述的规模与公式统计的参数量"),
    "rough_note": Text(
        "P²CD + (N + 1)D + L(4D² + 2DM) + KD: weights and positions alone.",
        "P²CD + (N + 1)D + L(4D² + 2DM) + KD：只计权重与位置编码。",
    ),
    "rough_note_stages": Text(
        "Weights alone: no biases, no position tables, no LayerNorms.", "只计权重：不含偏置、位置偏置表与层归一化。"
    ),
    "left_out_note": Text("{exact} − {rough} = {difference}", "{exact} − {rough} = {difference}"),
    "windows_note": Text(
        "Projections and MLP grow with the number of patches, attention with its square. With windows of {window} × "
        "{window} patches, as in Swin, attention would cost {macs} and grow linearly too.",
        "投影与 MLP 的计算量随图块数线性增长，注意力随其平方增长。若像 Swin 那样分成 {window} × {window} "
        "个图块的窗口，注意力只需 {macs}，也只随图块数线性增长。",
    ),
    "term": Text("Term", "项"),
    "symbols": Text("Formula", "公式"),
    "numbers": Text("With numbers", "代入数值"),
    "share": Text("Share", "占比"),
    "total": Text("Total", "合计"),
    "tools": Text("What is counted", "统计内容"),
    "compact": Text("In short", "约"),
    "model": Text("Model", "模型"),
    "declared": Text("Declared in the paper", "论文所述"),
    "grew": Text("more than before", "比之前多"),
    "fell": Text("less than before", "比之前少"),
}
