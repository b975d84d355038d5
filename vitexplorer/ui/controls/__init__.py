"""Controls on the page: their data for the browser, and one JavaScript module for each kind, named like the kind."""

from vitexplorer.ui.controls.field import Field as Field
from vitexplorer.ui.controls.field import Option as Option
from vitexplorer.ui.controls.field import field_of as field_of
