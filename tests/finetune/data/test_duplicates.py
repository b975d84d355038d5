"""Near duplicates against comparing all pairs; the difference hash by hand."""

from __future__ import annotations

import numpy as np

from vitexplorer.finetune.data.duplicates import components, difference_hash, exact_groups, near_groups


def test_near_groups_are_what_comparing_all_pairs_finds():
    random = np.random.default_rng(0)
    bits = np.repeat(random.integers(0, 2, (60, 128)), 5, 0)
    for row in bits:
        row[random.integers(0, 128, random.integers(0, 9))] ^= 1
    random.shuffle(bits)
    hashes = [b"" if i % 17 == 0 else np.packbits(row.astype(np.uint8)).tobytes() for i, row in enumerate(bits)]
    near = [
        (i, j)
        for i in range(len(bits))
        for j in range(i)
        if hashes[i] and hashes[j] and int((bits[i] != bits[j]).sum()) <= 8
    ]
    twin = exact_groups(components(len(bits), near))
    assert near_groups(hashes) == twin
    assert len(twin) > 20
    assert [len(group) for group in near_groups([bytes(15) + bytes([i % 2]) for i in range(3000)])] == [3000]
    assert near_groups([]) == near_groups([b"", b""]) == ()


def test_the_difference_hash_by_hand():
    ramp = np.broadcast_to(np.arange(90, dtype=np.uint8)[None, :, None] * 2, (80, 90, 3))
    assert difference_hash(np.ascontiguousarray(ramp)) == b"\xff" * 8 + b"\0" * 8
    assert difference_hash(np.ascontiguousarray(ramp.transpose(1, 0, 2))) == b"\0" * 8 + b"\xff" * 8
    assert difference_hash(np.full((9, 9, 3), 7, np.uint8)) == b""
