"""Models: the only place that knows timm. `load_model` gives one, `models()` says what there is."""

from vitexplorer.models.catalog import CatalogEntry
from vitexplorer.models.catalog import catalog as whole_catalog


def models() -> tuple[CatalogEntry, ...]:
    """The curated models, bundled ones first. Any other timm name of a supported family loads as well."""
    return whole_catalog()
