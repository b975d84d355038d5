"""Endpoints as tools of agents (MCP), if enabled; gradio serves them at `/gradio_api/mcp/`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gradio.mcp import GradioMCPServer


def answer_in_json(server: GradioMCPServer) -> None:
    """Send agents results as JSON and pictures as images; gradio would send the `repr` of both."""
    postprocess = server.postprocess_output_data

    def postprocess_as_json(data: list[Any], root_url: str) -> list[Any]:
        (result,) = data
        picture = result.pop("picture", None) if isinstance(result, dict) else None
        return postprocess([json.dumps(result, ensure_ascii=False), *([picture] if picture else [])], root_url)

    server.postprocess_output_data = postprocess_as_json
