"""Starts ViT Explorer: `python app.py`, then open the address it prints. Settings are environment variables, VIT_*."""

import gc

gc.disable()  # until the page is open: nothing that is imported is garbage, and looking for some slows the start

from vitexplorer.ui import main  # noqa: E402

if __name__ == "__main__":
    main()
