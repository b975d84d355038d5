"""Gradio app and its server. Nothing outside this folder knows gradio; importing it loads neither torch nor timm."""

from __future__ import annotations

import gc
import os
import sys
import threading
import warnings

import vitexplorer.ui.gradio_adapter.no_stub_files  # noqa: F401 - before gradio

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")  # nothing leaves the machine
# Gradio keeps ten thousand past events and summarises them after each one; nothing reads the summary.
os.environ.setdefault("GRADIO_ANALYTICS_MAX_EVENTS", "1")
os.environ.setdefault("GRADIO_ANALYTICS_CACHE_FREQUENCY", str(2**31))
# Idle threads of torch sleep instead of spinning: spinning threads slow down all other requests, and make one visitor's
# forward pass cost three times its work.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

from starlette.applications import Starlette
from starlette.middleware import Middleware

from vitexplorer.core.settings import PREFIX, Settings, settings
from vitexplorer.core.text import ExplainedError, normalise_language
from vitexplorer.service.cache_folder import CacheFolder
from vitexplorer.service.engine import Engine
from vitexplorer.service.first_picture import fetch_first
from vitexplorer.service.start_checks import check
from vitexplorer.service.storage_limits import StorageLimits
from vitexplorer.service.upload_budgets import UploadBudgets
from vitexplorer.ui.canvas.files import BLOCKS
from vitexplorer.ui.canvas.sharpening import sharpened_route
from vitexplorer.ui.gradio_adapter.mounting import mount
from vitexplorer.ui.gradio_adapter.page_sessions import Visitors
from vitexplorer.ui.kit.words import UI_WORDS
from vitexplorer.ui.page import build_page
from vitexplorer.ui.rooms.finetune.teach.teach_routes import teach_routes
from vitexplorer.ui.rooms.folder.routes import survey_routes
from vitexplorer.ui.server.api.endpoints import DESCRIBED, answer_in_json
from vitexplorer.ui.server.gradio_uploads import UPLOAD
from vitexplorer.ui.server.guards import Guards
from vitexplorer.ui.server.image_upload import PICTURE
from vitexplorer.ui.server.listening import address_of, listen, uvicorn_server
from vitexplorer.ui.server.metrics import Watched, watched, watching_routes
from vitexplorer.ui.server.model_upload import model_route
from vitexplorer.ui.server.static_files import SERVING
from vitexplorer.ui.server.sweeping import swept
from vitexplorer.ui.server.zero_gpu import join_zero_gpu
from vitexplorer.ui.shell.theme import theme

SWITCH_SECONDS = 0.0001
"""Switch interval between Python threads. With Python's default of 5 ms, a thread that answers many small requests
waits that long after each while any model runs"""


def main() -> None:
    """Serve with the environment's settings until the process is stopped; print a user's error and exit with code 2."""
    try:
        serve(settings())
    except ExplainedError as error:
        print(error.text.in_(normalise_language(os.environ.get(f"{PREFIX}LANGUAGE"))), file=sys.stderr)
        sys.exit(2)


def serve(settings: Settings) -> None:
    """Serve until the process is stopped.

    Raises:
        WrongSettingError: the server cannot start with these settings.
    """
    with listen(settings) as listening:
        check(settings)
        join_zero_gpu()
        engine = Engine(settings)

        def warm_up() -> None:
            try:
                engine.warm()
            finally:
                gc.freeze()  # loaded modules stay to the end; the garbage collector need not search them again
                gc.enable()
            fetch_first()

        def on_start() -> None:
            sys.setswitchinterval(SWITCH_SECONDS)
            print(f"ViT Explorer: {address_of(listening)}", flush=True)
            print_running_trainings(engine)
            threading.Thread(target=warm_up, name="warm-up", daemon=True).start()

        uvicorn_server(application(settings, engine), settings, on_start).run(sockets=[listening])


def print_running_trainings(engine: Engine) -> None:
    """Print the number of trainings that run without this server: an earlier server's, or its own after it stops."""
    if running := engine.places.running():
        message = UI_WORDS["runs_go_on"].format(count=running, folder=engine.places.root)
        print(message.in_(settings().language), flush=True)


def application(settings: Settings, engine: Engine) -> Starlette:
    """Build the app: our own routes, and gradio mounted behind them."""
    folder = CacheFolder.of_settings(settings)
    os.environ["GRADIO_TEMP_DIR"] = str(folder.make() / "files")  # read again whenever gradio writes a file
    page, translations = build_page(settings, engine)
    guards = Guards(
        settings,
        folder,
        StorageLimits(engine.places, settings),
        UploadBudgets(settings.sent_megabytes * 10**6),
        page,
        Visitors(page, settings.sessions),
        engine.memory,
    )
    engine.has_company = lambda: guards.visitors.counts["open"] > 1
    teaching = teach_routes(engine) if settings.trainings else []
    metrics = watched(settings, engine, page, guards)
    warnings.filterwarnings("ignore", "SSR mode is not supported")  # not needed: the API endpoints are a separate page
    app = Starlette(
        routes=[
            *(*SERVING["routes"], BLOCKS, sharpened_route(engine), PICTURE, model_route(engine), UPLOAD, DESCRIBED),
            *(*teaching, *survey_routes(engine), *watching_routes(engine, metrics)),
        ],
        middleware=[Middleware(Watched, metrics=metrics), *guards.middleware, *SERVING["middleware"]],
        lifespan=swept(folder.sweep, guards.stored.sweep, at_end=lambda: print_running_trainings(engine)),
    )
    mount(
        app,
        page,
        guards.visitors,
        i18n=translations.i18n,
        theme=theme(),
        footer_links=[],
        run_history=False,
        enable_monitoring=False,
        ssr_mode=False,
        show_error=False,
        max_file_size=f"{settings.max_upload_megabytes}mb",
        mcp_server=settings.mcp,
    )
    if page.mcp_server_obj:
        answer_in_json(page.mcp_server_obj)
    return app
