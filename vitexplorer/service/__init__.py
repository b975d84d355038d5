"""Everything that a page or an API needs and no web framework: engine, scheduler, user storage, uploads, surveys."""
