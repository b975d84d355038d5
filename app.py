"""Starts ViT Explorer: `python app.py`, then open the address it prints. Settings are environment variables, VIT_*."""

from vitexplorer.settings import settings
from vitexplorer.ui import serve

if __name__ == "__main__":
    serve(settings())
