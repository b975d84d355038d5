"""Models, the only package that knows timm: `load_model` loads a model, `models()` lists the catalog."""

from vitexplorer.models.catalog import CatalogEntry
from vitexplorer.models.catalog import catalog as whole_catalog


def models() -> tuple[CatalogEntry, ...]:
    """Return the catalog, bundled models first; any other timm name of a supported family loads as well."""
    return whole_catalog()
