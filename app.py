"""Start ViT Explorer: `python app.py`, then open the address it prints. Settings are environment variables, VIT_*."""

from vitexplorer.cli.page import open_page

if __name__ == "__main__":
    open_page()
