"""Endpoint that checks up a model on several images: `vx.diagnose` in the page's own engine."""

# Annotations are read by gradio as they stand here: no `from __future__ import annotations`.
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from gradio import FileData
from pydantic import Field

from vitexplorer.core.settings import Settings
from vitexplorer.core.text import Language
from vitexplorer.service.answer_threads import in_thread
from vitexplorer.service.check_ups import checked_up
from vitexplorer.service.engine import Engine
from vitexplorer.service.image_store import open_image
from vitexplorer.service.jobs import Report
from vitexplorer.ui.server.api.answering import answering
from vitexplorer.ui.server.api.explaining import Trained
from vitexplorer.ui.server.api.images import image_id
from vitexplorer.ui.shell.address import Address

if TYPE_CHECKING:
    from vitexplorer.models.loading import LoadedModel

MOST = 64
"""Images of a call; candidates are tried on no more"""


@dataclass(eq=False)
class Checking:
    """The endpoint."""

    settings: Settings
    engine: Engine

    @answering
    async def diagnose(
        self,
        images: Annotated[list[FileData | str], Field(max_length=MOST)],
        labels: list[str] | None = None,
        model: str = "",
        weights: Trained = "trained",
        language: Language = "en",
    ) -> dict[str, Any]:
        """Find out why a model does not work on some images: how they are fed, labels, weights, conversion, copies.

        Args:
            images: up to 64, each as in `explain`; none to check the weights alone
            labels: the class of each image as you believe it, a name or a number
            model: a name from `models`; the installation's own where none is given
            weights: trained or random
            language: of what is said, en or zh

        Returns:
            verdict, findings (surest first, with evidence and the measure before and after), what cannot be told
        """
        picture = Address.exactly(model=model, weights=weights).picture
        self.engine.check_allowed(picture)
        opened = [await in_thread(open_image, await image_id(image, self.settings)) for image in images]
        numbers = labels and ([int(label) for label in labels] if all(map(str.isdecimal, labels)) else labels)

        def work(loaded: "LoadedModel", report: Report) -> dict[str, Any]:
            pictures = [image.pixels for image in opened] or None
            return checked_up(report, loaded, pictures, numbers).record(language)

        return await self.engine.with_model(object(), picture, work, is_long=True)
