"""The endpoints as tools of agents (MCP), where the installation says so: gradio serves them at `/gradio_api/mcp/`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gradio.mcp import GradioMCPServer


def answer_in_json(server: GradioMCPServer) -> None:
    """Give agents an answer as JSON, and a picture as one; gradio would write both as Python does."""
    contents = server.postprocess_output_data

    def answered(data: list[Any], root_url: str) -> list[Any]:
        (answer,) = data
        picture = answer.pop("picture", None) if isinstance(answer, dict) else None
        return contents([json.dumps(answer, ensure_ascii=False), *([picture] if picture else [])], root_url)

    server.postprocess_output_data = answered
