"""Sentence by which a visitor finds images of a survey, read by the survey's own model."""

from __future__ import annotations

from vitexplorer.service.answer_threads import in_thread
from vitexplorer.service.surveys.facts import opens
from vitexplorer.service.surveys.request import SENTENCE, SurveyRequest


async def read_sentence(request: SurveyRequest) -> None:
    """Compute the vector of the request's sentence, if it has one.

    Raises:
        ExplainedError: the model is not here any more, reads no texts, or refuses the sentence.
    """
    sentence = request.text(SENTENCE)
    if not sentence:
        return
    from vitexplorer.models.texts.text_tower import embed_text

    state = opens(request.survey, request.opened)
    model = await request.engine.model(state["model"], "random" if state["weights"] == "random" else "trained")
    request.vector = (await in_thread(embed_text, model, [sentence]))[0]
