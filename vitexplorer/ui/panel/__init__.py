"""Panel for any registered view: its question, controls and figure, made from the view's record at run time."""
