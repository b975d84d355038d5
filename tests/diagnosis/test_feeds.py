"""Scalings that are read from tensors, and feeds that undo them."""

from __future__ import annotations

import pytest
import torch

from vitexplorer.diagnosis.feeds import AS_FED, STATED, TURNS, UNIT, Feed, Scaling, possible_encodings


def pixels(seed: int = 0) -> torch.Tensor:
    """Return pictures of whole bytes, from 0 to 1."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(0, 256, (4, 3, 24, 24), generator=generator) / 255


def as_given(clean: torch.Tensor, scaling: Scaling) -> torch.Tensor:
    return (clean - torch.tensor(scaling.mean).view(3, 1, 1)) / torch.tensor(scaling.std).view(3, 1, 1)


HALF = STATED["0.5"]
MISTAKES = {
    "wrong_normalisation": as_given(pixels(), STATED["CLIP"]),
    "not_scaled": as_given(255 * pixels(), UNIT),
    "scaled_twice": as_given(pixels() / 255, STATED["ImageNet"]),
}


@pytest.mark.parametrize("cause", MISTAKES)
def test_the_scaling_of_a_mistake_is_read_from_its_tensors(cause: str) -> None:
    encodings = possible_encodings(MISTAKES[cause], HALF)
    assert [encoding.cause for encoding in encodings] == [cause]
    mended = Feed(encodings[0].scaling, HALF)(MISTAKES[cause])
    torch.testing.assert_close(mended, as_given(pixels(), HALF), atol=1e-4, rtol=0)


def test_the_scaling_of_nobody_is_measured() -> None:
    odd = Scaling((0.1, 0.2, 0.3), (0.7, 0.15, 0.33))
    (encoding,) = possible_encodings(as_given(pixels(), odd), HALF)
    assert encoding.scaling.std == pytest.approx(odd.std, rel=1e-3)
    assert encoding.scaling.mean == pytest.approx(odd.mean, abs=1e-3)


def test_right_tensors_have_the_scaling_that_is_stated() -> None:
    for own in STATED.values():
        assert [encoding.scaling for encoding in possible_encodings(as_given(pixels(), own), own)] == [own]


def test_interpolated_pixels_leave_several_scalings_open() -> None:
    smooth = torch.nn.functional.avg_pool2d(pixels(), 3, 1)
    assert HALF in [encoding.scaling for encoding in possible_encodings(as_given(smooth, HALF), HALF)]


@pytest.mark.parametrize("turn", TURNS)
def test_every_turn_is_undone_by_one(turn: str) -> None:
    clean = pixels()
    undone = [Feed(turn=other)(Feed(turn=turn)(clean)) for other in TURNS]
    last = clean.permute(0, 2, 3, 1).reshape(clean.shape)
    assert any(torch.equal(each, clean) for each in undone) or torch.equal(Feed(turn=turn)(last), clean)


def test_a_feed_of_nothing_changes_nothing() -> None:
    assert torch.equal(AS_FED(pixels()), pixels())
    assert torch.equal(Feed(swap=True)(pixels()), pixels().flip(1))
