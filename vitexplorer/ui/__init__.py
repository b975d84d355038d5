"""The page: the only place that knows gradio. Importing it loads neither torch nor timm."""

from __future__ import annotations

import gc
import os
import sys
import threading
import warnings

import vitexplorer.ui.gradio_adapter.no_stub_files  # noqa: F401 - before gradio

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")  # nothing leaves the machine
# Of past events gradio keeps ten thousand and sums them up after each one; nobody reads that.
os.environ.setdefault("GRADIO_ANALYTICS_MAX_EVENTS", "1")
os.environ.setdefault("GRADIO_ANALYTICS_CACHE_FREQUENCY", str(2**31))
# Threads of torch that wait for one another give way: else they take the processor from everybody's answers, and one
# visitor's pass through a model costs three times what it computes.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

from starlette.applications import Starlette

from vitexplorer.core.settings import PREFIX, Settings, settings
from vitexplorer.core.text import ExplainedError, normalise_language
from vitexplorer.service.cache_folder import CacheFolder
from vitexplorer.service.engine import Engine
from vitexplorer.service.start_checks import check
from vitexplorer.service.storage_limits import StorageLimits
from vitexplorer.service.upload_budgets import UploadBudgets
from vitexplorer.ui.canvas.files import BLOCKS
from vitexplorer.ui.gradio_adapter.mounting import mount
from vitexplorer.ui.gradio_adapter.page_sessions import Visitors
from vitexplorer.ui.kit.words import UI_WORDS
from vitexplorer.ui.page import build_page
from vitexplorer.ui.rooms.finetune.teach_routes import teach_routes
from vitexplorer.ui.rooms.folder.routes import survey_routes
from vitexplorer.ui.server.api.endpoints import DESCRIBED
from vitexplorer.ui.server.api.tools import answer_in_json
from vitexplorer.ui.server.gradio_uploads import UPLOAD
from vitexplorer.ui.server.guards import Guards
from vitexplorer.ui.server.image_upload import PICTURE
from vitexplorer.ui.server.listening import address_of, listen, uvicorn_server
from vitexplorer.ui.server.metrics.watch import watch
from vitexplorer.ui.server.model_upload import model_route
from vitexplorer.ui.server.static_files import SERVING
from vitexplorer.ui.server.sweeping import swept
from vitexplorer.ui.server.zero_gpu import join_zero_gpu
from vitexplorer.ui.shell.theme import theme

SWITCH_SECONDS = 0.0005
"""after which a thread that computes in Python lets another go on. With Python's own 5 ms whoever answers many small
requests waits that long after each, as long as anybody's model runs"""


def main() -> None:
    """Serve as the environment says until the process is stopped; what cannot be is a sentence and exit code 2."""
    try:
        serve(settings())
    except ExplainedError as error:
        print(error.text.in_(normalise_language(os.environ.get(f"{PREFIX}LANGUAGE"))), file=sys.stderr)
        sys.exit(2)


def serve(settings: Settings) -> None:
    """Serve until the process is stopped. Raises WrongSettingError where that cannot begin."""
    with listen(settings) as listening:
        check(settings)
        join_zero_gpu()
        engine = Engine(settings)

        def opened() -> None:
            gc.freeze()  # what has been loaded stays to the end, and need not be looked through again
            gc.enable()
            sys.setswitchinterval(SWITCH_SECONDS)
            print(f"ViT Explorer: {address_of(listening)}", flush=True)
            say_what_goes_on(engine)
            threading.Thread(target=engine.warm, name="warm-up", daemon=True).start()

        uvicorn_server(application(settings, engine), settings, opened).run(sockets=[listening])


def say_what_goes_on(engine: Engine) -> None:
    """Trainings that are at work without this server: those of one before it, and those that it leaves behind."""
    if running := engine.places.running():
        said = UI_WORDS["runs_go_on"].format(count=running, folder=engine.places.root)
        print(said.in_(settings().language), flush=True)


def application(settings: Settings, engine: Engine) -> Starlette:
    """Everything that is served: our own addresses, and gradio's behind them."""
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
    taught = teach_routes(engine) if settings.trainings else []
    watching = watch(settings, engine, page, guards)
    warnings.filterwarnings("ignore", "SSR mode is not supported")  # nor wanted: the endpoints are a page of their own
    app = Starlette(
        routes=[
            *(*SERVING["routes"], BLOCKS, PICTURE, model_route(engine), UPLOAD, DESCRIBED),
            *(*taught, *survey_routes(engine), *watching.routes),
        ],
        middleware=[watching.middleware, *guards.middleware, *SERVING["middleware"]],
        lifespan=swept(
            folder.sweep,
            guards.stored.sweep,
            at_end=lambda: say_what_goes_on(engine),
        ),
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
