"""Private names of gradio and uvicorn, in this folder only; `names.py` lists each with its reason."""
