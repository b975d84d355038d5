"""Files of texts with their vectors: what was written is read, and anything else gets a sentence."""

from __future__ import annotations

import numpy as np
import pytest
from safetensors.numpy import save_file

import vitexplorer as vx
from tests.helpers.small_models import capture_small
from vitexplorer.core.text import ExplainedError, SettingError

VECTORS = np.random.default_rng(0).standard_normal((2, 48)).astype(np.float32)


def test_what_was_written_is_read_and_compared_with(tmp_path):
    vx.save_texts(tmp_path / "a.safetensors", ["a red gear", "一只猫"], VECTORS)
    texts = vx.load_texts(tmp_path / "a.safetensors")
    assert [text.text for text in texts] == ["a red gear", "一只猫"]
    captured = capture_small("vit")
    result = vx.compute("text_scores", captured, texts=texts)
    assert result.texts == ("a red gear", "一只猫")
    np.testing.assert_array_equal(result.values, vx.compute("text_scores", captured, texts=list(VECTORS)).values)
    assert vx.compute("text_map", captured, text=next(iter(texts))).settings["text"].text == "a red gear"


@pytest.mark.parametrize(
    ("tensors", "metadata"),
    [
        ({"other": VECTORS}, {"texts": '["a", "b"]'}),
        ({"vectors": VECTORS[0]}, {"texts": '["a", "b"]'}),
        ({"vectors": VECTORS}, None),
        ({"vectors": VECTORS}, {"texts": "["}),
        ({"vectors": VECTORS}, {"texts": '["a"]'}),
        ({"vectors": VECTORS}, {"texts": '["a", 3]'}),
        ({"vectors": VECTORS}, {"texts": '{"a": 1}'}),
    ],
)
def test_another_file_gets_a_sentence(tmp_path, tensors, metadata):
    save_file(tensors, tmp_path / "a.safetensors", metadata=metadata)
    with pytest.raises(ExplainedError, match="cannot be read"):
        vx.load_texts(tmp_path / "a.safetensors")


def test_each_text_has_its_vector(tmp_path):
    with pytest.raises(SettingError, match="There are 3 texts and 2 vectors"):
        vx.save_texts(tmp_path / "a.safetensors", ["a", "b", "c"], VECTORS)
    (tmp_path / "b.safetensors").write_bytes(b"nothing")
    with pytest.raises(ExplainedError):
        vx.load_texts(tmp_path / "b.safetensors")
