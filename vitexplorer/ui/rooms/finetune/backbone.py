"""The model to fine-tune: the one on the screen, the base of a tuned one, or a CNN beside it.

Convolutional networks have no attention for the other rooms to show, so that they stand in a menu of this room. They
are counted and timed with random weights: those that count are fetched by the training itself.
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
from vitexplorer.ui.shell.model_menu import model_state

if TYPE_CHECKING:
    from vitexplorer.models.loading import LoadedModel


@dataclass(frozen=True)
class Backbone:
    """The model that a training starts from."""

    model: LoadedModel
    """to count and time"""
    picture: Picture
    """its name and weights"""
    text: Text
    """the same in words"""

    @property
    def weights(self) -> str:
        """As a job is told them."""
        return "random" if self.picture.weights == "random" else "auto"


async def backbone_of(engine: Engine, address: Address, wanted: str) -> Backbone:
    """The backbone for the model on the screen, or for a convolutional network of that name.

    Raises ExplainedError for a model that cannot be loaded, or that this installation does not allow, and for one of a
    file that does not say what it was made from.
    """
    entry = next((one for one in convolutional() if one.name == wanted), None)
    if entry is None:
        picture = await in_thread(engine.base_of, address.picture)
        if picture.model.startswith(MODEL):
            raise ExplainedError(TRAINING_WORDS["methods_own_file"])
        model = await engine.model(picture.model, picture.weights)
        text = TRAINING_WORDS["methods_backbone"]
        return Backbone(model, picture, text.format(model=model.name, weights=model.provenance.weights_text))
    picture = Picture("", entry.name, address.weights)
    engine.check_allowed(picture)
    model = await engine.model(entry.name, "random")
    weights = model.provenance.weights_text if address.weights == "random" else model_state(entry, settings())
    return Backbone(model, picture, TRAINING_WORDS["methods_convolutional"].format(model=entry.title, weights=weights))


def backbones() -> tuple[tuple[str, Text], ...]:
    """The menu, names and what they are called; the empty name is the model on the screen."""
    named = same("{title} · {state}")
    return (
        ("", TRAINING_WORDS["methods_left"]),
        *(
            (entry.name, named.format(title=entry.title, state=model_state(entry, settings())))
            for entry in convolutional()
        ),
    )
