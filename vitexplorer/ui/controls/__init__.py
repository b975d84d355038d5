"""Controls on the page: their data for the browser, and one JavaScript module for each kind, named like the kind."""
