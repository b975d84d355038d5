"""Records, text in two languages, errors, registries and settings. Imports nothing else of the package."""
