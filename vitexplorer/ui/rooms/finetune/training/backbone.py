"""Backbone to fine-tune: the model on the screen, the base of a tuned model, or a convolutional network.

Convolutional networks have no attention for the other rooms, so this room lists them in a menu of its own. Their
parameters and time are measured with random weights; the training itself fetches the pretrained weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vitexplorer.core.settings import settings
from vitexplorer.core.text import ExplainedError, Text, same
from vitexplorer.models.catalog import convolutional
from vitexplorer.service.answer_threads import in_thread
from vitexplorer.service.engine import Engine, Picture
from vitexplorer.service.user_storage import MODEL
from vitexplorer.ui.rooms.finetune.words import TRAINING_WORDS
from vitexplorer.ui.shell.address import Address
from vitexplorer.ui.shell.chips.model_chip import model_state

if TYPE_CHECKING:
    from vitexplorer.models.loading import LoadedModel


@dataclass(frozen=True)
class Backbone:
    """The model that a training starts from."""

    model: LoadedModel
    """Loaded model, to count and time"""
    picture: Picture
    """Name and weights of the model"""
    text: Text
    """Name and weights in words"""

    @property
    def weights(self) -> str:
        """Weights as a job's configuration names them."""
        return "random" if self.picture.weights == "random" else "auto"


async def backbone_of(engine: Engine, address: Address, convolutional_name: str) -> Backbone:
    """Return the backbone for the model on the screen, or a convolutional network.

    Any text but the name of a convolutional network chooses the model on the screen.

    Raises:
        ExplainedError: for a model that cannot be loaded or that this installation does not allow, and for a model
            from a file that does not name its base.
    """
    entry = next((entry for entry in convolutional() if entry.name == convolutional_name), None)
    if entry is None:
        picture = await in_thread(engine.base_of, address.picture)
        if picture.model.startswith(MODEL):
            raise ExplainedError(TRAINING_WORDS["methods_own_file"])
        model = await engine.model(picture.model, picture.weights)
        text = TRAINING_WORDS["methods_backbone"]
        return Backbone(model, picture, text.format(model=model.title, weights=model.provenance.weights_text))
    picture = Picture("", entry.name, address.weights)
    engine.check_allowed(picture)
    model = await engine.model(entry.name, "random")
    weights = model.provenance.weights_text if address.weights == "random" else model_state(entry, settings())
    return Backbone(model, picture, TRAINING_WORDS["methods_convolutional"].format(model=entry.title, weights=weights))


def backbones() -> tuple[tuple[str, Text], ...]:
    """Return the names and labels of the menu; the empty name is the model on the screen."""
    label = same("{title} · {state}")
    return (
        ("", TRAINING_WORDS["methods_left"]),
        *(
            (entry.name, label.format(title=entry.title, state=model_state(entry, settings())))
            for entry in convolutional()
        ),
    )
