"""Image loading for a model: shrunk while decoding, upright, in order."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from tests.helpers.image_folders import encoded, fill, pets, picture
from vitexplorer.finetune.data import (
    Dataset,
    Item,
    Pictures,
    read_folder,
)
from vitexplorer.models.images import ImageError, open_image, open_shrunk


@pytest.mark.parametrize("kind", ["jpeg", "png", "webp"])
def test_shrinking_while_decoding_gives_the_same_picture(tmp_path, kind):
    path = tmp_path / f"a.{kind}"
    picture(1, 1203, 902).save(path, kind, quality=95)
    shrunk = open_shrunk(path, 100)
    assert (shrunk.width, shrunk.height, shrunk.pixels.shape) == (1203, 902, (100, 133, 3))
    whole = Image.fromarray(open_image(path)).resize((133, 100), Image.Resampling.BICUBIC)
    assert np.abs(shrunk.pixels.astype(int) - np.asarray(whole)).max() <= 6
    assert np.array_equal(open_shrunk(path, 5000).pixels, open_image(path))


def test_a_jpeg_is_shrunk_before_it_is_decoded(tmp_path, monkeypatch):
    picture(1, 1600, 1200).save(tmp_path / "a.jpg")
    sizes, really = [], Image.Image.resize

    def resize(self, size, *arguments, **options):
        sizes.append(self.size)
        return really(self, size, *arguments, **options)

    monkeypatch.setattr(Image.Image, "resize", resize)
    open_shrunk(tmp_path / "a.jpg", 140)
    assert sizes == [(200, 150)]


def test_pictures_come_in_order_upright_and_shrunk(tmp_path):
    turned = Image.Exif()
    turned[274] = 6
    fill(tmp_path, {**pets(2), "cats/turned.jpg": encoded(picture(9, 300, 200), "jpeg", exif=turned)})
    dataset = read_folder(tmp_path)
    pictures = Pictures(dataset, short_side=60)
    assert [target for _, target in (pictures[i] for i in range(len(pictures)))] == [0, 0, 0, 1, 1]
    assert [pixels.shape for pixels, _ in (pictures[i] for i in range(3))] == [(60, 67, 3), (60, 67, 3), (90, 60, 3)]
    some = Pictures(dataset, (4, 0), short_side=60, transform=lambda pixels: pixels.mean())
    assert [some[0], some[1]] == [(pictures[4][0].mean(), 1), (pictures[0][0].mean(), 0)]
    dataset.path(0).unlink()
    with pytest.raises(ImageError, match="no file"):
        pictures[0]


def test_pictures_are_what_a_data_loader_takes(tmp_path):
    from torch.utils.data import DataLoader

    dataset = read_folder(fill(tmp_path, pets(2)))
    ((pixels, targets),) = DataLoader(Pictures(dataset, short_side=72), batch_size=4)
    assert tuple(pixels.shape) == (4, 72, 80, 3)
    assert targets.tolist() == [0, 0, 1, 1]
    numbers = Dataset(dataset.root, tuple(Item(i.path, 0.5) for i in dataset.items), "regression")
    ((_, targets),) = DataLoader(Pictures(numbers, short_side=72), batch_size=4)
    assert targets.tolist() == [0.5] * 4
