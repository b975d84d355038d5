"""Components, scripts and words that everything on the page shares."""
