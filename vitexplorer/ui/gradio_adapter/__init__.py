"""The only folder that knows private names of gradio, each with its reason."""
