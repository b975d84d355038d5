"""Images of a training: upright, shrunk, in the order of their split."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PIL import Image

from tests.helpers.image_folders import encoded, fill, pets, picture
from tests.helpers.small_models import load_small
from vitexplorer.finetune.data import read_folder
from vitexplorer.finetune.training.pixels import PixelFeed
from vitexplorer.models.images import ImageError


def test_pictures_come_in_order_upright_and_shrunk(tmp_path):
    turned = Image.Exif()
    turned[274] = 6
    fill(tmp_path, {**pets(2), "cats/turned.jpg": encoded(picture(9, 300, 200), "jpeg", exif=turned)})
    dataset = read_folder(tmp_path)
    facts = replace(load_small("vit").preprocessing, input_size=(48, 48), crop_pct=1.0)
    feed = PixelFeed(dataset, range(5), facts, "none", 0)
    assert [feed.picture(i).shape for i in range(3)] == [(60, 67, 3), (60, 67, 3), (90, 60, 3)]
    some = PixelFeed(dataset, (4, 0), facts, "none", 0)
    assert len(some) == 2
    assert [some.picture(i).mean() for i in (0, 1)] == [feed.picture(i).mean() for i in (4, 0)]
    dataset.path(0).unlink()
    with pytest.raises(ImageError, match="no file"):
        feed.picture(0)
