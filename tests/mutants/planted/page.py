"""Faults in the scripts of the page."""

from tests.mutants.mutant import JAVASCRIPT, Mutant

IN_NODE = "test_the_arithmetic_of_the_modules_is_right"

MUTANTS = (
    Mutant(
        "a head of the strip that waits for its block",
        JAVASCRIPT,
        "strip.rowOf(to);\n    if (!row) return;",
        "strip.rowOf(to);\n    if (row) return;",
        "test_the_strip_brings_a_head_onto_the_stage_before_its_block_is_there",
    ),
    Mutant(
        "strip of the patch with the same number, not at the same place",
        "placed",
        "* wide // (2 * long * grid.patch_size))",
        "// (2 * side))",
        "test_the_strip_has_a_row_of_every_head_of_every_block",
    ),
    Mutant(
        "a patch beside the one whose corner, not whose middle, it covers",
        "placed",
        "(at * side + min(long, (at + 1) * side)) * wide",
        "2 * at * side * wide",
        "test_a_patch_stands_beside_the_one_at_its_place",
    ),
    Mutant(
        "blocks beside each other by their numbers",
        "matched",
        "round(block * (other - 1) / (depth - 1)) if",
        "min(block, other - 1) if",
        "test_blocks_of_unequal_depth_stand_at_the_same_share",
    ),
    Mutant(
        "the right side that takes the left one's weights",
        "Address.other",
        "self.other_weights or self.weights,",
        "self.weights,",
        "test_what_was_chosen_stays_when_the_left_side_is_another",
    ),
    Mutant(
        "a stale question asked",
        JAVASCRIPT,
        "return (kind, data) => {\n    const kept = latest[kind];",
        "return (kind, data) => {\n    const kept = latest[kind] && {};",
        IN_NODE,
    ),
    Mutant(
        "a stale answer painted",
        JAVASCRIPT,
        "if (mine !== sequence) return;\n      if (isShown(next))",
        "if (isShown(next))",
        "test_an_answer_that_comes_too_late_is_not_painted",
    ),
    Mutant(
        "address bar that is not written",
        JAVASCRIPT,
        "else url.searchParams.set(name, String(value));",
        "else url.searchParams.get(name);",
        IN_NODE,
    ),
    Mutant(
        "name of a class read as markup",
        JAVASCRIPT,
        "make('span', {className: 'name', textContent: name,",
        "make('span', {className: 'name', innerHTML: name,",
        "test_no_script_reads_markup_or_code",
    ),
    Mutant(
        "patch under the mouse half a gap off",
        JAVASCRIPT,
        "Math.floor((x - left + half) / step)",
        "Math.floor((x - left) / step)",
        IN_NODE,
    ),
    Mutant(
        "patch under the mouse counted column by column",
        JAVASCRIPT,
        "row < grid.rows && col < grid.cols ? row * grid.cols + col : null",
        "row < grid.rows && col < grid.cols ? col * grid.rows + row : null",
        "test_hover_reads_the_packed_numbers",
    ),
    Mutant(
        "packed row of the head before",
        JAVASCRIPT,
        "row = (w * payload.heads + h) * payload.queries + q;",
        "row = (w * payload.heads + Math.max(h - 1, 0)) * payload.queries + q;",
        "test_hover_reads_the_packed_numbers",
    ),
    Mutant(
        "maximum over heads that is the minimum",
        JAVASCRIPT,
        "out[i] = values[i] > out[i] ? values[i] : out[i];",
        "out[i] = values[i] < out[i] ? values[i] : out[i];",
        "test_fusion_and_the_mean_query_agree_with_numpy",
    ),
    Mutant(
        "mass mask that keeps the lowest",
        JAVASCRIPT,
        "mask[i] = value > edge ||",
        "mask[i] = value < edge ||",
        "test_keep_mass_agrees_with_its_twin",
    ),
    Mutant(
        "window cut where it wraps around the picture",
        JAVASCRIPT,
        "return wraps ? [...sorted.slice(gap), ...sorted.slice(0, gap)] : sorted;",
        "return sorted;",
        IN_NODE,
    ),
    Mutant(
        "zero of signed weights at the end of the scale",
        JAVASCRIPT,
        "const low = colormap === SIGNED ? -top : 0;",
        "const low = 0;",
        IN_NODE,
    ),
    Mutant(
        "a tiny share written as nothing",
        JAVASCRIPT,
        "Math.abs(share) < 0.0005",
        "Math.abs(share) < 0",
        IN_NODE,
    ),
)
